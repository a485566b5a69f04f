/* cuBLAS: handles and settings, copies, results that belong on the host. */
#include "snippet.h"

#include <complex.h>

enum { INVALID_VALUE = 7, NOT_INITIALIZED = 1 };

static void *create(void)
{
    void *handle = NULL;
    CHECK(CALL(int, cublasCreate_v2, (void **), (&handle)) == 0);
    return handle;
}

static void destroy(void *handle)
{
    CHECK(CALL(int, cublasDestroy_v2, (void *), (handle)) == 0);
}

SNIPPET(cublasCreate_v2)
{
    void *one = create(), *other = create();
    CHECK(one && other && one != other);
    destroy(one);
    destroy(other);
    CHECK(CALL(int, cublasCreate_v2, (void **), (NULL)) == INVALID_VALUE);
}

static uint64_t free_memory(void)
{
    uint64_t free_bytes = 0, total = 0;
    CALL(void, plm_device_memory, (int, uint64_t *, uint64_t *), (0, &free_bytes, &total));
    return free_bytes;
}

/* The workspace of the library is taken by the first product, unless the program has set one: twice 4 MiB, and a page
   for its small buffers. */
SNIPPET(cublasSgemm_v2)
{
    void *handle = create();
    uint64_t before = free_memory();
    CHECK(CALL(int, cublasSetWorkspace_v2, (void *, void *, size_t), (handle, (void *)4096, 8519680)) == 0);
    CHECK(CALL(int, cublasSgemm_v2, (void *, int, int, int, int, int), (handle, 0, 0, 4, 4, 4)) == 0);
    CHECK(free_memory() == before);
    CHECK(CALL(int, cublasSetStream_v2, (void *, void *), (handle, NULL)) == 0);
    CHECK(CALL(int, cublasSgemm_v2, (void *, int, int, int, int, int), (handle, 0, 0, 4, 4, 4)) == 0);
    CHECK(CALL(int, cublasSgemm_v2, (void *, int, int, int, int, int), (handle, 0, 0, 4, 4, 4)) == 0);
    CHECK(free_memory() == before - (10 << 20));
    destroy(handle);
    CHECK(free_memory() == before);
}

SNIPPET(cublasDestroy_v2)
{
    destroy(create());
    CHECK(CALL(int, cublasDestroy_v2, (void *), (NULL)) == NOT_INITIALIZED);
}

SNIPPET(cublasGetVersion_v2)
{
    void *handle = create();
    int version = 0;
    CHECK(CALL(int, cublasGetVersion_v2, (void *, int *), (handle, &version)) == 0);
    CHECK(version / 10000 == snippet_cuda());
    destroy(handle);
}

SNIPPET(cublasGetVersion)
{
    int version = 0;
    CHECK(CALL(int, cublasGetVersion, (int *), (&version)) == 0);
    CHECK(version / 10000 == snippet_cuda());
}

SNIPPET(cublasGetProperty)
{
    int major = 0, minor = -1;
    CHECK(CALL(int, cublasGetProperty, (int, int *), (0, &major)) == 0);
    CHECK(major == snippet_cuda());
    CHECK(CALL(int, cublasGetProperty, (int, int *), (1, &minor)) == 0);
    CHECK(minor >= 0);
    CHECK(CALL(int, cublasGetProperty, (int, int *), (3, &minor)) == INVALID_VALUE);
}

SNIPPET(cublasGetCudartVersion)
{
    CHECK(CALL(size_t, cublasGetCudartVersion, (void), ()) >= 12000);
}

/* The codes that the manual lists ("cublasStatus_t"). */
static const struct {
    int code;
    const char *name;
} statuses[] = {
    {0, "CUBLAS_STATUS_SUCCESS"},           {1, "CUBLAS_STATUS_NOT_INITIALIZED"}, {3, "CUBLAS_STATUS_ALLOC_FAILED"},
    {7, "CUBLAS_STATUS_INVALID_VALUE"},     {8, "CUBLAS_STATUS_ARCH_MISMATCH"},   {11, "CUBLAS_STATUS_MAPPING_ERROR"},
    {13, "CUBLAS_STATUS_EXECUTION_FAILED"}, {14, "CUBLAS_STATUS_INTERNAL_ERROR"}, {15, "CUBLAS_STATUS_NOT_SUPPORTED"},
    {16, "CUBLAS_STATUS_LICENSE_ERROR"},
};

SNIPPET(cublasGetStatusName)
{
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        CHECK(!strcmp(CALL(const char *, cublasGetStatusName, (int), (statuses[i].code)), statuses[i].name));
    CHECK(CALL(const char *, cublasGetStatusName, (int), (99)) != NULL);
}

/* Each has words of its own, and other ones than a code that there is not. */
SNIPPET(cublasGetStatusString)
{
    const char *none = CALL(const char *, cublasGetStatusString, (int), (99));
    CHECK(none != NULL);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        const char *text = CALL(const char *, cublasGetStatusString, (int), (statuses[i].code));
        CHECK(*text && strcmp(text, none) != 0);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(text, CALL(const char *, cublasGetStatusString, (int), (statuses[k].code))) != 0);
    }
}

/* What is set is what is got; `start` is the documented default. */
#define SETTING(set, get, type, start, other)                                          \
    SNIPPET(get)                                                                       \
    {                                                                                  \
        void *handle = create();                                                       \
        type value = (type)other;                                                      \
        CHECK(CALL(int, get, (void *, type *), (handle, &value)) == 0);                \
        CHECK(value == (type)start);                                                   \
        CHECK(CALL(int, get, (void *, type *), (handle, NULL)) == INVALID_VALUE);      \
        CHECK(CALL(int, get, (void *, type *), (NULL, &value)) == NOT_INITIALIZED);    \
        destroy(handle);                                                               \
    }                                                                                  \
    SNIPPET(set)                                                                       \
    {                                                                                  \
        void *handle = create();                                                       \
        type value = (type)start;                                                      \
        CHECK(CALL(int, set, (void *, type), (handle, (type)other)) == 0);             \
        CHECK(CALL(int, get, (void *, type *), (handle, &value)) == 0);                \
        CHECK(value == (type)other);                                                   \
        CHECK(CALL(int, set, (void *, type), (NULL, (type)other)) == NOT_INITIALIZED); \
        destroy(handle);                                                               \
    }

SETTING(cublasSetStream_v2, cublasGetStream_v2, void *, 0, 2)
SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2, int, 0, 1)
SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, int, 0, 1)
SETTING(cublasSetMathMode, cublasGetMathMode, int, 0, 3)
SETTING(cublasSetSmCountTarget, cublasGetSmCountTarget, int, 0, 12)
SETTING(cublasSetEmulationStrategy, cublasGetEmulationStrategy, int, 0, 2)
SETTING(cublasSetEmulationSpecialValuesSupport, cublasGetEmulationSpecialValuesSupport, int, 0xffff, 0)
SETTING(cublasSetFixedPointEmulationMantissaControl, cublasGetFixedPointEmulationMantissaControl, int, 0, 1)
SETTING(cublasSetFixedPointEmulationMaxMantissaBitCount, cublasGetFixedPointEmulationMaxMantissaBitCount, int, 0, 55)
SETTING(cublasSetFixedPointEmulationMantissaBitOffset, cublasGetFixedPointEmulationMantissaBitOffset, int, 0, -8)
SETTING(cublasSetFixedPointEmulationMantissaBitCountPointer, cublasGetFixedPointEmulationMantissaBitCountPointer, int *,
        0, 4096)

SNIPPET(cublasSetWorkspace_v2)
{
    void *handle = create();
    CHECK(CALL(int, cublasSetWorkspace_v2, (void *, void *, size_t), (handle, (void *)4096, 8519680)) == 0);
    CHECK(CALL(int, cublasSetWorkspace_v2, (void *, void *, size_t), (handle, (void *)4097, 1)) == INVALID_VALUE);
    CHECK(CALL(int, cublasSetWorkspace_v2, (void *, void *, size_t), (handle, NULL, 0)) == 0);
    destroy(handle);
}

SNIPPET(cublasSetLoggerCallback)
{
    CHECK(CALL(int, cublasSetLoggerCallback, (void *), (NULL)) == 0);
}

SNIPPET(cublasGetLoggerCallback)
{
    void *callback = &callback;
    CHECK(CALL(int, cublasSetLoggerCallback, (void *), ((void *)64)) == 0);
    CHECK(CALL(int, cublasGetLoggerCallback, (void **), (&callback)) == 0);
    CHECK(callback == (void *)64);
    CHECK(CALL(int, cublasSetLoggerCallback, (void *), (NULL)) == 0);
}

/* Every second of four numbers to every number; host memory stands on both sides. */
#define VECTOR(symbol, integer)                                                             \
    SNIPPET(symbol)                                                                         \
    {                                                                                       \
        const int from[] = {1, 2, 3, 4};                                                    \
        int to[2] = {0};                                                                    \
        CHECK(CALL(int, symbol, (integer, integer, const void *, integer, void *, integer), \
                   (2, sizeof(int), from, 2, to, 1)) == 0);                                 \
        CHECK(to[0] == 1 && to[1] == 3);                                                    \
        CHECK(CALL(int, symbol, (integer, integer, const void *, integer, void *, integer), \
                   (2, sizeof(int), from, 0, to, 1)) == INVALID_VALUE);                     \
    }
#define VECTOR_ASYNC(symbol, integer)                                                               \
    SNIPPET(symbol)                                                                                 \
    {                                                                                               \
        const int from[] = {1, 2, 3, 4};                                                            \
        int to[4] = {0};                                                                            \
        CHECK(CALL(int, symbol, (integer, integer, const void *, integer, void *, integer, void *), \
                   (4, sizeof(int), from, 1, to, 1, NULL)) == 0);                                   \
        CHECK(!memcmp(from, to, sizeof to));                                                        \
    }
/* The upper two rows of a 3x2 matrix. */
#define MATRIX_CHECK(symbol, integer, types, arguments)              \
    SNIPPET(symbol)                                                  \
    {                                                                \
        const int from[] = {1, 2, 3, 4, 5, 6};                       \
        int to[4] = {0};                                             \
        CHECK(CALL(int, symbol, types, arguments) == 0);             \
        CHECK(to[0] == 1 && to[1] == 2 && to[2] == 4 && to[3] == 5); \
    }
#define MATRIX(symbol, integer)                                                                        \
    MATRIX_CHECK(symbol, integer, (integer, integer, integer, const void *, integer, void *, integer), \
                 (2, 2, sizeof(int), from, 3, to, 2))
#define MATRIX_ASYNC(symbol, integer)                                                                          \
    MATRIX_CHECK(symbol, integer, (integer, integer, integer, const void *, integer, void *, integer, void *), \
                 (2, 2, sizeof(int), from, 3, to, 2, NULL))

VECTOR(cublasSetVector, int)
VECTOR(cublasSetVector_64, int64_t)
VECTOR(cublasGetVector, int)
VECTOR(cublasGetVector_64, int64_t)
VECTOR_ASYNC(cublasSetVectorAsync, int)
VECTOR_ASYNC(cublasSetVectorAsync_64, int64_t)
VECTOR_ASYNC(cublasGetVectorAsync, int)
VECTOR_ASYNC(cublasGetVectorAsync_64, int64_t)
MATRIX(cublasSetMatrix, int)
MATRIX(cublasSetMatrix_64, int64_t)
MATRIX(cublasGetMatrix, int)
MATRIX(cublasGetMatrix_64, int64_t)
MATRIX_ASYNC(cublasSetMatrixAsync, int)
MATRIX_ASYNC(cublasSetMatrixAsync_64, int64_t)
MATRIX_ASYNC(cublasGetMatrixAsync, int)
MATRIX_ASYNC(cublasGetMatrixAsync_64, int64_t)

/* The result is written in full and nothing beyond it. */
static void check_zero(const unsigned char *result, size_t bytes, size_t all)
{
    for (size_t i = 0; i < all; i++)
        CHECK(result[i] == (i < bytes ? 0 : 0xff));
}

#define RESULT(symbol, bytes, types, arguments)                \
    SNIPPET(symbol)                                            \
    {                                                          \
        unsigned char result[32] __attribute__((aligned(16))); \
        void *handle = create();                               \
        memset(result, 0xff, sizeof result);                   \
        CHECK(CALL(int, symbol, types, arguments) == 0);       \
        check_zero(result, bytes, sizeof result);              \
        destroy(handle);                                       \
    }
#define DOT(symbol, bytes, integer)                                                    \
    RESULT(symbol, bytes, (void *, integer, void *, integer, void *, integer, void *), \
           (handle, 8, NULL, 1, NULL, 1, result))
#define NORM(symbol, bytes, integer) \
    RESULT(symbol, bytes, (void *, integer, void *, integer, void *), (handle, 8, NULL, 1, result))
#define INDEX(symbol, integer)                                                                                     \
    SNIPPET(symbol)                                                                                                \
    {                                                                                                              \
        integer index[2] = {-1, -1};                                                                               \
        void *handle = create();                                                                                   \
        CHECK(CALL(int, symbol, (void *, integer, void *, integer, integer *), (handle, 8, NULL, 1, index)) == 0); \
        CHECK(index[0] == 1 && index[1] == -1);                                                                    \
        CHECK(CALL(int, symbol, (void *, integer, void *, integer, integer *), (handle, 0, NULL, 1, index)) == 0); \
        CHECK(index[0] == 0);                                                                                      \
        destroy(handle);                                                                                           \
    }
#define BOTH_DOT(stem, bytes)  DOT(stem##_v2, bytes, int) DOT(stem##_v2_64, bytes, int64_t)
#define BOTH_NORM(stem, bytes) NORM(stem##_v2, bytes, int) NORM(stem##_v2_64, bytes, int64_t)
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

enum { R_16F = 2, R_32F = 0, C_64F = 5 };
#define DOT_EX(symbol, type, bytes, integer)                                                               \
    RESULT(symbol, bytes, (void *, integer, void *, int, integer, void *, int, integer, void *, int, int), \
           (handle, 8, NULL, type, 1, NULL, type, 1, result, type, R_32F))
#define NORM_EX(symbol, type, bytes, integer)                                        \
    RESULT(symbol, bytes, (void *, integer, void *, int, integer, void *, int, int), \
           (handle, 8, NULL, type, 1, result, type, R_32F))
#define INDEX_EX(symbol, integer)                                                   \
    SNIPPET(symbol)                                                                 \
    {                                                                               \
        integer index[2] = {-1, -1};                                                \
        void *handle = create();                                                    \
        CHECK(CALL(int, symbol, (void *, integer, void *, int, integer, integer *), \
                   (handle, 8, NULL, R_16F, 1, index)) == 0);                       \
        CHECK(index[0] == 1 && index[1] == -1);                                     \
        destroy(handle);                                                            \
    }
DOT_EX(cublasDotEx, R_16F, 2, int)
DOT_EX(cublasDotEx_64, R_32F, 4, int64_t)
DOT_EX(cublasDotcEx, C_64F, 16, int)
DOT_EX(cublasDotcEx_64, C_64F, 16, int64_t)
NORM_EX(cublasNrm2Ex, R_16F, 2, int)
NORM_EX(cublasNrm2Ex_64, R_32F, 4, int64_t)
NORM_EX(cublasAsumEx, R_16F, 2, int)
NORM_EX(cublasAsumEx_64, R_32F, 4, int64_t)
INDEX_EX(cublasIamaxEx, int)
INDEX_EX(cublasIamaxEx_64, int64_t)
INDEX_EX(cublasIaminEx, int)
INDEX_EX(cublasIaminEx_64, int64_t)

static int near(double a, double b)
{
    return a - b < 1e-6 && b - a < 1e-6;
}

/* (3, 4) turns into (5, 0). */
#define ROTG(symbol, real)                                                                                 \
    SNIPPET(symbol)                                                                                        \
    {                                                                                                      \
        real a = 3, b = 4, c = -1, s = -1;                                                                 \
        void *handle = create();                                                                           \
        CHECK(CALL(int, symbol, (void *, real *, real *, real *, real *), (handle, &a, &b, &c, &s)) == 0); \
        CHECK(near(a, 5) && near(c, 0.6) && near(s, 0.8) && near(b, 1 / 0.6));                             \
        destroy(handle);                                                                                   \
    }
#define ROTG_COMPLEX(symbol, real)                                                                \
    SNIPPET(symbol)                                                                               \
    {                                                                                             \
        real complex a = 3 * (real complex)I, b = 4, s = -1;                                      \
        real c = -1;                                                                              \
        void *handle = create();                                                                  \
        CHECK(CALL(int, symbol, (void *, real complex *, real complex *, real *, real complex *), \
                   (handle, &a, &b, &c, &s)) == 0);                                               \
        CHECK(near(cimag(a), 5) && near(creal(a), 0) && near(c, 0.6) && near(cimag(s), 0.8));     \
        destroy(handle);                                                                          \
    }
#define ROTMG(symbol, real)                                                                                           \
    SNIPPET(symbol)                                                                                                   \
    {                                                                                                                 \
        real d1 = 1, d2 = 1, x1 = 1, y1 = 0, p[6] = {9, 9, 9, 9, 9, 9};                                               \
        void *handle = create();                                                                                      \
        CHECK(CALL(int, symbol, (void *, real *, real *, real *, real *, real *), (handle, &d1, &d2, &x1, &y1, p)) == \
              0);                                                                                                     \
        CHECK(p[0] == -2 && p[4] == 0 && p[5] == 9);                                                                  \
        destroy(handle);                                                                                              \
    }
ROTG(cublasSrotg_v2, float)
ROTG(cublasDrotg_v2, double)
ROTG_COMPLEX(cublasCrotg_v2, float)
ROTG_COMPLEX(cublasZrotg_v2, double)
ROTMG(cublasSrotmg_v2, float)
ROTMG(cublasDrotmg_v2, double)

SNIPPET(cublasRotgEx)
{
    void *handle = create();
    float a = 1, b = 0, c = 9, s = 9;
    uint16_t half_c = 9, half_s = 9;
    CHECK(CALL(int, cublasRotgEx, (void *, void *, void *, int, void *, void *, int, int),
               (handle, &a, &b, R_32F, &c, &s, R_32F, R_32F)) == 0);
    CHECK(c == 1 && s == 0);
    CHECK(CALL(int, cublasRotgEx, (void *, void *, void *, int, void *, void *, int, int),
               (handle, &a, &b, R_32F, &half_c, &half_s, R_16F, R_32F)) == 0);
    CHECK(half_c == 0x3c00 && half_s == 0);
    destroy(handle);
}

SNIPPET(cublasRotmgEx)
{
    void *handle = create();
    float d1 = 1, d2 = 1, x1 = 1, y1 = 0, p[6] = {9, 9, 9, 9, 9, 9};
    CHECK(CALL(int, cublasRotmgEx, (void *, void *, int, void *, int, void *, int, void *, int, void *, int, int),
               (handle, &d1, R_32F, &d2, R_32F, &x1, R_32F, &y1, R_32F, p, R_32F, R_32F)) == 0);
    CHECK(p[0] == -2 && p[4] == 0 && p[5] == 9);
    destroy(handle);
}

/* ---- the legacy interface ---- */
SNIPPET(cublasAlloc)
{
    void *address = NULL;
    CHECK(CALL(int, cublasAlloc, (int, int, void **), (1024, 4, &address)) == 0);
    CHECK(address != NULL);
    CHECK(CALL(int, cublasFree, (void *), (address)) == 0);
    CHECK(CALL(int, cublasAlloc, (int, int, void **), (0, 4, &address)) == INVALID_VALUE);
}

SNIPPET(cublasFree)
{
    CHECK(CALL(int, cublasFree, (void *), (NULL)) == 0);
}

#define LEGACY_DOT(symbol, type)                                                                \
    SNIPPET(symbol)                                                                             \
    {                                                                                           \
        CHECK(CALL(type, symbol, (int, void *, int, void *, int), (8, NULL, 1, NULL, 1)) == 0); \
    }
#define LEGACY_NORM(symbol, type)                                         \
    SNIPPET(symbol)                                                       \
    {                                                                     \
        CHECK(CALL(type, symbol, (int, void *, int), (8, NULL, 1)) == 0); \
    }
#define LEGACY_INDEX(symbol)                                             \
    SNIPPET(symbol)                                                      \
    {                                                                    \
        CHECK(CALL(int, symbol, (int, void *, int), (8, NULL, 1)) == 1); \
        CHECK(CALL(int, symbol, (int, void *, int), (0, NULL, 1)) == 0); \
    }
#define LEGACY_ROTG(symbol, real)                                               \
    SNIPPET(symbol)                                                             \
    {                                                                           \
        real a = 0, b = -4, c = 9, s = 9;                                       \
        CALL(void, symbol, (real *, real *, real *, real *), (&a, &b, &c, &s)); \
        CHECK(near(a, -4) && near(b, 1) && near(c, 0) && near(s, 1));           \
        a = b = 0;                                                              \
        CALL(void, symbol, (real *, real *, real *, real *), (&a, &b, &c, &s)); \
        CHECK(a == 0 && b == 0 && c == 1 && s == 0);                            \
    }
#define LEGACY_ROTG_COMPLEX(symbol, real)                                                            \
    SNIPPET(symbol)                                                                                  \
    {                                                                                                \
        real complex a = 0, b = 4, s = 9;                                                            \
        real c = 9;                                                                                  \
        CALL(void, symbol, (real complex *, real complex, real *, real complex *), (&a, b, &c, &s)); \
        CHECK(near(creal(a), 4) && c == 0 && near(creal(s), 1));                                     \
    }
#define LEGACY_ROTMG(symbol, real)                                                             \
    SNIPPET(symbol)                                                                            \
    {                                                                                          \
        real d1 = 1, d2 = 1, x1 = 1, y1 = 0, p[6] = {9, 9, 9, 9, 9, 9};                        \
        CALL(void, symbol, (real *, real *, real *, real *, real *), (&d1, &d2, &x1, &y1, p)); \
        CHECK(p[0] == -2 && p[4] == 0 && p[5] == 9);                                           \
    }
LEGACY_DOT(cublasSdot, float)
LEGACY_DOT(cublasDdot, double)
LEGACY_DOT(cublasCdotu, float complex)
LEGACY_DOT(cublasCdotc, float complex)
LEGACY_DOT(cublasZdotu, double complex)
LEGACY_DOT(cublasZdotc, double complex)
LEGACY_NORM(cublasSnrm2, float)
LEGACY_NORM(cublasDnrm2, double)
LEGACY_NORM(cublasScnrm2, float)
LEGACY_NORM(cublasDznrm2, double)
LEGACY_NORM(cublasSasum, float)
LEGACY_NORM(cublasDasum, double)
LEGACY_NORM(cublasScasum, float)
LEGACY_NORM(cublasDzasum, double)
LEGACY_INDEX(cublasIsamax)
LEGACY_INDEX(cublasIdamax)
LEGACY_INDEX(cublasIcamax)
LEGACY_INDEX(cublasIzamax)
LEGACY_INDEX(cublasIsamin)
LEGACY_INDEX(cublasIdamin)
LEGACY_INDEX(cublasIcamin)
LEGACY_INDEX(cublasIzamin)
LEGACY_ROTG(cublasSrotg, float)
LEGACY_ROTG(cublasDrotg, double)
LEGACY_ROTG_COMPLEX(cublasCrotg, float)
LEGACY_ROTG_COMPLEX(cublasZrotg, double)
LEGACY_ROTMG(cublasSrotmg, float)
LEGACY_ROTMG(cublasDrotmg, double)
