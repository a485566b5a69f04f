/*
 * The legacy interface of cuBLAS: functions without a handle that return their result or write it to
 * the host. The result is what the routine gives for vectors of zeros. Its routines on matrices need no
 * code: they return nothing and their results live on the device.
 */
#include <complex.h>
#include <string.h>

#include "device/device.h"
#include "shim/cublas/rotation.h"
#include "shim/cublas/status.h"
#include "device/shim.h"

#define UNUSED       __attribute__((unused))
#define SYMBOL(name) static const struct plm_symbol symbol = {"cublas", #name};

PLM_API int cublasAlloc(int n, int size, void **out)
{
    uint64_t address;
    if (n <= 0 || size <= 0 || !out)
        return PLM_CUBLAS_INVALID_VALUE;
    if (plm_mem_alloc(plm_device_current(), (uint64_t)n * (uint64_t)size, &address))
        return PLM_CUBLAS_ALLOC_FAILED;
    *out = (void *)(uintptr_t)address;
    return PLM_CUBLAS_SUCCESS;
}

PLM_API int cublasFree(void *address)
{
    if (address && plm_mem_free((uint64_t)(uintptr_t)address))
        return PLM_CUBLAS_INVALID_VALUE;
    return PLM_CUBLAS_SUCCESS;
}

#define DOT(name, type)                                                                                           \
    PLM_API type name(UNUSED int n, UNUSED const void *x, UNUSED int incx, UNUSED const void *y, UNUSED int incy) \
    {                                                                                                             \
        SYMBOL(name)                                                                                              \
        plm_call_launch(&symbol);                                                                                 \
        return 0;                                                                                                 \
    }
#define NORM(name, type)                                                   \
    PLM_API type name(UNUSED int n, UNUSED const void *x, UNUSED int incx) \
    {                                                                      \
        SYMBOL(name)                                                       \
        plm_call_launch(&symbol);                                          \
        return 0;                                                          \
    }
#define INDEX(name)                                         \
    PLM_API int name(int n, UNUSED const void *x, int incx) \
    {                                                       \
        SYMBOL(name)                                        \
        plm_call_launch(&symbol);                           \
        return n > 0 && incx > 0;                           \
    }
#define ROTG(name, real)                                            \
    PLM_API void name(real *a, real *b, real *c, real *s)           \
    {                                                               \
        double da = (double)*a, db = (double)*b, dc, ds;            \
        plm_rotation_real(&da, &db, &dc, &ds);                      \
        *a = (real)da, *b = (real)db, *c = (real)dc, *s = (real)ds; \
    }
#define ROTG_COMPLEX(name, real)                                                 \
    PLM_API void name(real complex *a, real complex b, real *c, real complex *s) \
    {                                                                            \
        double complex za = (double complex) * a, zs;                            \
        double dc;                                                               \
        plm_rotation_complex(&za, (double complex)b, &dc, &zs);                  \
        *a = (real complex)za, *c = (real)dc, *s = (real complex)zs;             \
    }
#define ROTMG(name, real)                                                                                         \
    PLM_API void name(UNUSED real *d1, UNUSED real *d2, UNUSED real *x1, UNUSED const real *y1, real *parameters) \
    {                                                                                                             \
        static const real identity[5] = {-2};                                                                     \
        memcpy(parameters, identity, sizeof identity);                                                            \
    }

/* A complex number by value travels like C's own complex types, which have the same two members. */
DOT(cublasSdot, float)
DOT(cublasDdot, double)
DOT(cublasCdotu, float complex)
DOT(cublasCdotc, float complex)
DOT(cublasZdotu, double complex)
DOT(cublasZdotc, double complex)
NORM(cublasSnrm2, float)
NORM(cublasDnrm2, double)
NORM(cublasScnrm2, float)
NORM(cublasDznrm2, double)
NORM(cublasSasum, float)
NORM(cublasDasum, double)
NORM(cublasScasum, float)
NORM(cublasDzasum, double)
INDEX(cublasIsamax)
INDEX(cublasIdamax)
INDEX(cublasIcamax)
INDEX(cublasIzamax)
INDEX(cublasIsamin)
INDEX(cublasIdamin)
INDEX(cublasIcamin)
INDEX(cublasIzamin)
ROTG(cublasSrotg, float)
ROTG(cublasDrotg, double)
ROTG_COMPLEX(cublasCrotg, float)
ROTG_COMPLEX(cublasZrotg, double)
ROTMG(cublasSrotmg, float)
ROTMG(cublasDrotmg, double)
