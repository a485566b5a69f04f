/*
 * Construction of plane rotations: rotg and rotmg.
 *
 * Their operands are scalars. On the host these hold true values, so rotg is computed; on the device
 * nothing is. A modified rotation (rotmg) is answered with the flag that says "identity", which is what
 * the BLAS gives for y1 = 0; d1, d2 and x1 stay as they are.
 */
#include "shim/cublas/rotation.h"

#include <string.h>

#include "shim/cublas/scalar.h"
#include "shim/cublas/status.h"
#include "device/shim.h"

#define UNUSED       __attribute__((unused))
#define SYMBOL(name) static const struct plm_symbol symbol = {"cublas", #name};

enum { ROTMG_PARAMETERS = 5 };

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

/* The length of (x, y), without overflow on the way. By Newton's method: shims do not link libm. */
static double hypotenuse(double x, double y)
{
    double longer = magnitude(x), shorter = magnitude(y), square, root;
    if (longer < shorter) {
        longer = shorter;
        shorter = magnitude(x);
    }
    if (longer == 0)
        return 0;
    square = 1 + shorter / longer * (shorter / longer); /* 1 to 2: six steps are more than enough */
    root = (1 + square) / 2;
    for (int i = 0; i < 6; i++)
        root = (root + square / root) / 2;
    return longer * root;
}

void plm_rotation_real(double *a, double *b, double *c, double *s)
{
    bool a_larger = magnitude(*a) > magnitude(*b);
    double r = (a_larger ? *a : *b) < 0 ? -hypotenuse(*a, *b) : hypotenuse(*a, *b), z = 1;
    if (r == 0) {
        *a = *b = *s = 0;
        *c = 1;
        return;
    }
    *c = *a / r;
    *s = *b / r;
    if (a_larger)
        z = *s;
    else if (*c != 0)
        z = 1 / *c;
    *a = r;
    *b = z;
}

void plm_rotation_complex(double complex *a, double complex b, double *c, double complex *s)
{
    double length = hypotenuse(creal(*a), cimag(*a)), norm = hypotenuse(length, hypotenuse(creal(b), cimag(b)));
    if (length == 0) {
        *c = 0;
        *s = 1;
        *a = b;
        return;
    }
    *c = length / norm;
    *s = *a / length * conj(b) / norm;
    *a = *a / length * norm;
}

static bool host(const void *a, const void *b, const void *c, const void *s)
{
    return !plm_cublas_on_device(a) && !plm_cublas_on_device(b) && !plm_cublas_on_device(c) && !plm_cublas_on_device(s);
}

#define ROTG(name, real)                                                \
    PLM_API int name(void *handle, real *a, real *b, real *c, real *s)  \
    {                                                                   \
        SYMBOL(name)                                                    \
        if (!handle)                                                    \
            return PLM_CUBLAS_NOT_INITIALIZED;                          \
        if (host(a, b, c, s)) {                                         \
            double da = (double)*a, db = (double)*b, dc, ds;            \
            plm_rotation_real(&da, &db, &dc, &ds);                      \
            *a = (real)da, *b = (real)db, *c = (real)dc, *s = (real)ds; \
        } else                                                          \
            plm_call_launch(&symbol);                                   \
        return PLM_CUBLAS_SUCCESS;                                      \
    }
#define ROTG_COMPLEX(name, real)                                                               \
    PLM_API int name(void *handle, real complex *a, real complex *b, real *c, real complex *s) \
    {                                                                                          \
        SYMBOL(name)                                                                           \
        if (!handle)                                                                           \
            return PLM_CUBLAS_NOT_INITIALIZED;                                                 \
        if (host(a, b, c, s)) {                                                                \
            double complex za = (double complex) * a, zs;                                      \
            double dc;                                                                         \
            plm_rotation_complex(&za, (double complex) * b, &dc, &zs);                         \
            *a = (real complex)za, *c = (real)dc, *s = (real complex)zs;                       \
        } else                                                                                 \
            plm_call_launch(&symbol);                                                          \
        return PLM_CUBLAS_SUCCESS;                                                             \
    }
#define ROTMG(name, real)                                                                                    \
    PLM_API int name(void *handle, UNUSED real *d1, UNUSED real *d2, UNUSED real *x1, UNUSED const real *y1, \
                     real *parameters)                                                                       \
    {                                                                                                        \
        static const real identity[ROTMG_PARAMETERS] = {-2};                                                 \
        SYMBOL(name)                                                                                         \
        if (!handle)                                                                                         \
            return PLM_CUBLAS_NOT_INITIALIZED;                                                               \
        plm_call_launch(&symbol);                                                                            \
        plm_cublas_write(parameters, identity, sizeof identity);                                             \
        return PLM_CUBLAS_SUCCESS;                                                                           \
    }

ROTG(cublasSrotg_v2, float)
ROTG(cublasDrotg_v2, double)
ROTG_COMPLEX(cublasCrotg_v2, float)
ROTG_COMPLEX(cublasZrotg_v2, double)
ROTMG(cublasSrotmg_v2, float)
ROTMG(cublasDrotmg_v2, double)

/* Writes one real number in the representation of a cudaDataType; an imaginary part becomes 0. Only
   numbers whose half and bfloat16 forms are their first 16 bits are passed: 0, 1 and -2. */
static void write_number(void *to, int type, double number, size_t index)
{
    size_t bytes = plm_cublas_type_size(type);
    char element[16] = {0};
    float single = (float)number;
    uint32_t bits;
    uint16_t half = number == 1 ? 0x3c00 : number == -2 ? 0xc000 : 0, brain;

    if (!bytes || plm_cublas_on_device(to))
        return;
    memcpy(&bits, &single, sizeof bits);
    brain = (uint16_t)(bits >> 16);
    switch (type) {
    case 0:
    case 4: memcpy(element, &single, sizeof single); break;
    case 1:
    case 5: memcpy(element, &number, sizeof number); break;
    case 2:
    case 6: memcpy(element, &half, sizeof half); break;
    case 14:
    case 15: memcpy(element, &brain, sizeof brain); break;
    default: return;
    }
    plm_cublas_write((char *)to + index * bytes, element, bytes);
}

/* c = 1, s = 0: the rotation for b = 0. The values of a and b stay. */
PLM_API int cublasRotgEx(void *handle, UNUSED void *a, UNUSED void *b, UNUSED int ab_type, void *c, void *s,
                         int cs_type, UNUSED int execution)
{
    SYMBOL(cublasRotgEx)
    if (!handle)
        return PLM_CUBLAS_NOT_INITIALIZED;
    plm_call_launch(&symbol);
    write_number(c, cs_type, 1, 0);
    write_number(s, cs_type, 0, 0);
    return PLM_CUBLAS_SUCCESS;
}

PLM_API int cublasRotmgEx(void *handle, UNUSED void *d1, UNUSED int d1_type, UNUSED void *d2, UNUSED int d2_type,
                          UNUSED void *x1, UNUSED int x1_type, UNUSED const void *y1, UNUSED int y1_type,
                          void *parameters, int type, UNUSED int execution)
{
    SYMBOL(cublasRotmgEx)
    if (!handle)
        return PLM_CUBLAS_NOT_INITIALIZED;
    plm_call_launch(&symbol);
    for (size_t i = 0; i < ROTMG_PARAMETERS; i++)
        write_number(parameters, type, i ? 0 : -2, i);
    return PLM_CUBLAS_SUCCESS;
}
