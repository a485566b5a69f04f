/*
 * Level 1 routines with one scalar result: dot products, norms, sums, index of the largest or smallest
 * element. A program that has the result written to the host reads it at once, so it must be there: it
 * is what the routine gives for vectors of zeros, which is what device memory reads as.
 */
#include "shim/cublas/scalar.h"
#include "shim/cublas/status.h"
#include "device/shim.h"

static const char zeros[16];

static int reduce(const struct plm_symbol *symbol, void *handle, void *result, size_t bytes)
{
    if (!handle)
        return PLM_CUBLAS_NOT_INITIALIZED;
    if (!result || !bytes || bytes > sizeof zeros)
        return PLM_CUBLAS_INVALID_VALUE;
    plm_call_launch(symbol);
    plm_cublas_write(result, zeros, bytes);
    return PLM_CUBLAS_SUCCESS;
}

/* Indices count from 1; 0 says that there is no element. */
static int locate(const struct plm_symbol *symbol, void *handle, int64_t n, int64_t step, void *result, size_t bytes)
{
    int64_t index = n > 0 && step > 0;
    if (!handle)
        return PLM_CUBLAS_NOT_INITIALIZED;
    if (!result)
        return PLM_CUBLAS_INVALID_VALUE;
    plm_call_launch(symbol);
    plm_cublas_write(result, &index, bytes); /* little-endian: the low 4 bytes are the int */
    return PLM_CUBLAS_SUCCESS;
}

#define UNUSED       __attribute__((unused))
#define SYMBOL(name) static const struct plm_symbol symbol = {"cublas", #name};

/* `integer` is int, or int64_t in the variants for large sizes; `bytes` is the size of the result. */
#define DOT(name, integer, bytes)                                                                                     \
    PLM_API int name(void *handle, UNUSED integer n, UNUSED const void *x, UNUSED integer incx, UNUSED const void *y, \
                     UNUSED integer incy, void *result)                                                               \
    {                                                                                                                 \
        SYMBOL(name)                                                                                                  \
        return reduce(&symbol, handle, result, bytes);                                                                \
    }
#define NORM(name, integer, bytes)                                                                            \
    PLM_API int name(void *handle, UNUSED integer n, UNUSED const void *x, UNUSED integer incx, void *result) \
    {                                                                                                         \
        SYMBOL(name)                                                                                          \
        return reduce(&symbol, handle, result, bytes);                                                        \
    }
#define INDEX(name, integer)                                                                       \
    PLM_API int name(void *handle, integer n, UNUSED const void *x, integer incx, integer *result) \
    {                                                                                              \
        SYMBOL(name)                                                                               \
        return locate(&symbol, handle, n, incx, result, sizeof(integer));                          \
    }
#define DOT_EX(name, integer)                                                                                     \
    PLM_API int name(void *handle, UNUSED integer n, UNUSED const void *x, UNUSED int xtype, UNUSED integer incx, \
                     UNUSED const void *y, UNUSED int ytype, UNUSED integer incy, void *result, int type,         \
                     UNUSED int execution)                                                                        \
    {                                                                                                             \
        SYMBOL(name)                                                                                              \
        return reduce(&symbol, handle, result, plm_cublas_type_size(type));                                       \
    }
#define NORM_EX(name, integer)                                                                                    \
    PLM_API int name(void *handle, UNUSED integer n, UNUSED const void *x, UNUSED int xtype, UNUSED integer incx, \
                     void *result, int type, UNUSED int execution)                                                \
    {                                                                                                             \
        SYMBOL(name)                                                                                              \
        return reduce(&symbol, handle, result, plm_cublas_type_size(type));                                       \
    }
#define INDEX_EX(name, integer)                                                                                      \
    PLM_API int name(void *handle, integer n, UNUSED const void *x, UNUSED int xtype, integer incx, integer *result) \
    {                                                                                                                \
        SYMBOL(name)                                                                                                 \
        return locate(&symbol, handle, n, incx, result, sizeof(integer));                                            \
    }

#define BOTH_DOT(stem, bytes)  DOT(stem##_v2, int, bytes) DOT(stem##_v2_64, int64_t, bytes)
#define BOTH_NORM(stem, bytes) NORM(stem##_v2, int, bytes) NORM(stem##_v2_64, int64_t, bytes)
#define BOTH_INDEX(stem)       INDEX(stem##_v2, int) INDEX(stem##_v2_64, int64_t)

BOTH_DOT(cublasSdot, 4)
BOTH_DOT(cublasDdot, 8)
BOTH_DOT(cublasCdotu, 8)
BOTH_DOT(cublasCdotc, 8)
BOTH_DOT(cublasZdotu, 16)
BOTH_DOT(cublasZdotc, 16)

BOTH_NORM(cublasSnrm2, 4)
BOTH_NORM(cublasDnrm2, 8)
BOTH_NORM(cublasScnrm2, 4)
BOTH_NORM(cublasDznrm2, 8)
BOTH_NORM(cublasSasum, 4)
BOTH_NORM(cublasDasum, 8)
BOTH_NORM(cublasScasum, 4)
BOTH_NORM(cublasDzasum, 8)

BOTH_INDEX(cublasIsamax)
BOTH_INDEX(cublasIdamax)
BOTH_INDEX(cublasIcamax)
BOTH_INDEX(cublasIzamax)
BOTH_INDEX(cublasIsamin)
BOTH_INDEX(cublasIdamin)
BOTH_INDEX(cublasIcamin)
BOTH_INDEX(cublasIzamin)

DOT_EX(cublasDotEx, int)
DOT_EX(cublasDotEx_64, int64_t)
DOT_EX(cublasDotcEx, int)
DOT_EX(cublasDotcEx_64, int64_t)
NORM_EX(cublasNrm2Ex, int)
NORM_EX(cublasNrm2Ex_64, int64_t)
NORM_EX(cublasAsumEx, int)
NORM_EX(cublasAsumEx_64, int64_t)
INDEX_EX(cublasIamaxEx, int)
INDEX_EX(cublasIamaxEx_64, int64_t)
INDEX_EX(cublasIaminEx, int)
INDEX_EX(cublasIaminEx_64, int64_t)
