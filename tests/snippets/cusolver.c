/* cuSOLVER: one call per entry point with code of its own. */
#include "snippet.h"

enum { OK = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3, VECTORS = 1, R_32F = 0, C_64F = 5 };
enum { RANGE_ALL = 1001, RANGE_INDEX = 1002, RANGE_VALUES = 1003 };

static void *dn(void)
{
    static void *handle;
    if (!handle)
        CALL(int, cusolverDnCreate, (void **), (&handle));
    return handle;
}

/* ---- library and handles ---- */

SNIPPET(cusolverGetVersion)
{
    int version = -1;
    CHECK(CALL(int, cusolverGetVersion, (int *), (&version)) == OK);
    CHECK(version / 1000 == snippet_cuda() - 1);
    CHECK(CALL(int, cusolverGetVersion, (int *), (NULL)) == INVALID_VALUE);
}

SNIPPET(cusolverGetProperty)
{
    int part[3] = {-1, -1, -1}, version = -1;
    for (int i = 0; i < 3; i++)
        CHECK(CALL(int, cusolverGetProperty, (int, int *), (i, &part[i])) == OK);
    CALL(int, cusolverGetVersion, (int *), (&version));
    CHECK(version == part[0] * 1000 + part[1] * 100 + part[2]);
    CHECK(CALL(int, cusolverGetProperty, (int, int *), (3, &version)) == INVALID_VALUE);
}

#define HANDLE(Part)                                                                             \
    SNIPPET(cusolver##Part##Create)                                                              \
    {                                                                                            \
        void *a = NULL, *b = NULL;                                                               \
        CHECK(CALL(int, cusolver##Part##Create, (void **), (&a)) == OK);                         \
        CHECK(CALL(int, cusolver##Part##Create, (void **), (&b)) == OK);                         \
        CHECK(a &&b &&a != b);                                                                   \
        CHECK(CALL(int, cusolver##Part##Destroy, (void *), (a)) == OK);                          \
        CHECK(CALL(int, cusolver##Part##Destroy, (void *), (b)) == OK);                          \
    }                                                                                            \
    SNIPPET(cusolver##Part##Destroy)                                                             \
    {                                                                                            \
        CHECK(CALL(int, cusolver##Part##Destroy, (void *), (NULL)) == NOT_INITIALIZED);          \
    }                                                                                            \
    SNIPPET(cusolver##Part##GetStream)                                                           \
    {                                                                                            \
        void *handle = NULL, *stream = &handle;                                                  \
        CALL(int, cusolver##Part##Create, (void **), (&handle));                                 \
        CHECK(CALL(int, cusolver##Part##GetStream, (void *, void **), (handle, &stream)) == OK); \
        CHECK(stream == NULL);                                                                   \
        CALL(int, cusolver##Part##Destroy, (void *), (handle));                                  \
    }                                                                                            \
    SNIPPET(cusolver##Part##SetStream)                                                           \
    {                                                                                            \
        void *handle = NULL, *stream = NULL;                                                     \
        CALL(int, cusolver##Part##Create, (void **), (&handle));                                 \
        CHECK(CALL(int, cusolver##Part##SetStream, (void *, void *), (handle, &handle)) == OK);  \
        CALL(int, cusolver##Part##GetStream, (void *, void **), (handle, &stream));              \
        CHECK(stream == &handle);                                                                \
        CALL(int, cusolver##Part##Destroy, (void *), (handle));                                  \
    }
HANDLE(Dn)
HANDLE(Sp)

#define SETTING(Name, initial)                                                          \
    SNIPPET(cusolverDnGet##Name)                                                        \
    {                                                                                   \
        void *handle = NULL;                                                            \
        int value = -7;                                                                 \
        CALL(int, cusolverDnCreate, (void **), (&handle));                              \
        CHECK(CALL(int, cusolverDnGet##Name, (void *, int *), (handle, &value)) == OK); \
        CHECK(value == initial);                                                        \
        CALL(int, cusolverDnDestroy, (void *), (handle));                               \
    }                                                                                   \
    SNIPPET(cusolverDnSet##Name)                                                        \
    {                                                                                   \
        void *handle = NULL;                                                            \
        int value = -7;                                                                 \
        CALL(int, cusolverDnCreate, (void **), (&handle));                              \
        CHECK(CALL(int, cusolverDnSet##Name, (void *, int), (handle, 2)) == OK);        \
        CALL(int, cusolverDnGet##Name, (void *, int *), (handle, &value));              \
        CHECK(value == 2);                                                              \
        CALL(int, cusolverDnDestroy, (void *), (handle));                               \
    }
SETTING(DeterministicMode, 1)
SETTING(MathMode, 1)
SETTING(EmulationStrategy, 0)
SETTING(EmulationSpecialValuesSupport, 0xffff)
SETTING(FixedPointEmulationMantissaControl, 0)
SETTING(FixedPointEmulationMaxMantissaBitCount, 0)
SETTING(FixedPointEmulationMantissaBitOffset, 0)

/* ---- routines by type: the size is written, plausible, and grows with the matrix ---- */

enum { SMALL = 100, LARGE = 1000 };

static void check_growth(int small, int large, int least)
{
    CHECK(small > 0 && small < 1000 * 1000);
    CHECK(large > small && large >= least && large < 10 * 1000 * 1000);
}

/* `types` and `args` describe one call with the dimension `n`, which writes `out`. */
#define SIZE(symbol, least, types, args)                 \
    SNIPPET(symbol)                                      \
    {                                                    \
        int size[2] = {-1, -1};                          \
        void *h = dn(), *p = NULL;                       \
        (void)p;                                         \
        for (int i = 0; i < 2; i++) {                    \
            int n = i ? LARGE : SMALL, *out = &size[i];  \
            CHECK(CALL(int, symbol, types, args) == OK); \
        }                                                \
        check_growth(size[0], size[1], least);           \
    }
#define SIZE_ALL(name, least, types, args)                   \
    SIZE(cusolverDnS##name##_bufferSize, least, types, args) \
    SIZE(cusolverDnD##name##_bufferSize, least, types, args) \
    SIZE(cusolverDnC##name##_bufferSize, least, types, args) SIZE(cusolverDnZ##name##_bufferSize, least, types, args)
#define SIZE_TWO(real, complex, least, types, args)             \
    SIZE(cusolverDnS##real##_bufferSize, least, types, args)    \
    SIZE(cusolverDnD##real##_bufferSize, least, types, args)    \
    SIZE(cusolverDnC##complex##_bufferSize, least, types, args) \
    SIZE(cusolverDnZ##complex##_bufferSize, least, types, args)

#define H void *
#define V void *
SIZE_ALL(potrf, LARGE, (H, int, int, V, int, int *), (h, 0, n, p, n, out))
SIZE_ALL(potri, LARGE, (H, int, int, V, int, int *), (h, 0, n, p, n, out))
SIZE_ALL(lauum, LARGE, (H, int, int, V, int, int *), (h, 0, n, p, n, out))
SIZE_ALL(getrf, LARGE, (H, int, int, V, int, int *), (h, n, n, p, n, out))
SIZE_ALL(geqrf, LARGE * 32, (H, int, int, V, int, int *), (h, n, n, p, n, out))
SIZE_ALL(gebrd, LARGE, (H, int, int, int *), (h, n, n, out))
SIZE_ALL(gesvd, LARGE * 5, (H, int, int, int *), (h, n, n, out))
SIZE_ALL(sytrf, LARGE, (H, int, V, int, int *), (h, n, p, n, out))
SIZE_ALL(sytri, LARGE, (H, int, int, V, int, V, int *), (h, 0, n, p, n, p, out))
SIZE_TWO(orgqr, ungqr, LARGE * 32, (H, int, int, int, V, int, V, int *), (h, n, n, n, p, n, p, out))
SIZE_TWO(ormqr, unmqr, LARGE * 32, (H, int, int, int, int, int, V, int, V, V, int, int *),
         (h, 0, 0, n, n, n, p, n, p, p, n, out))
SIZE_TWO(orgbr, ungbr, LARGE, (H, int, int, int, int, V, int, V, int *), (h, 0, n, n, n, p, n, p, out))
SIZE_TWO(sytrd, hetrd, LARGE, (H, int, int, V, int, V, V, V, int *), (h, 0, n, p, n, p, p, p, out))
SIZE_TWO(orgtr, ungtr, LARGE, (H, int, int, V, int, V, int *), (h, 0, n, p, n, p, out))
SIZE_TWO(ormtr, unmtr, LARGE, (H, int, int, int, int, int, V, int, V, V, int, int *),
         (h, 0, 0, 0, n, n, p, n, p, p, n, out))
SIZE_TWO(syevd, heevd, 2 * LARGE * LARGE, (H, int, int, int, V, int, V, int *), (h, VECTORS, 0, n, p, n, p, out))
SIZE_TWO(syevj, heevj, LARGE *LARGE, (H, int, int, int, V, int, V, int *, V), (h, VECTORS, 0, n, p, n, p, out, p))
SIZE_TWO(sygvd, hegvd, 2 * LARGE * LARGE, (H, int, int, int, int, V, int, V, int, V, int *),
         (h, 1, VECTORS, 0, n, p, n, p, n, p, out))
SIZE_TWO(sygvj, hegvj, LARGE *LARGE, (H, int, int, int, int, V, int, V, int, V, int *, V),
         (h, 1, VECTORS, 0, n, p, n, p, n, p, out, p))
SIZE_ALL(gesvdj, LARGE *LARGE, (H, int, int, int, int, V, int, V, V, int, V, int, int *, V),
         (h, VECTORS, 0, n, n, p, n, p, p, n, p, n, out, p))
SIZE_ALL(gesvdjBatched, LARGE, (H, int, int, int, V, int, V, V, int, V, int, int *, V, int),
         (h, VECTORS, 32, 32, p, 32, p, p, 32, p, 32, out, p, n))
SIZE_ALL(gesvdaStridedBatched, LARGE,
         (H, int, int, int, int, V, int, long long, V, long long, V, int, long long, V, int, long long, int *, int),
         (h, VECTORS, 8, 16, 16, p, 16, 256LL, p, 16LL, p, 16, 256LL, p, 16, 256LL, out, n))

/* Sizes that cupy issue 7261 lists for complex 4 x 4 matrices; the other types are taken to be the same. */
#define BATCHED(symbol)                                                                                             \
    SNIPPET(symbol)                                                                                                 \
    {                                                                                                               \
        static const int known[][2] = {{1, 2077}, {2, 3126}, {4, 5224}, {16, 17812}, {128, 135300}, {256, 269572}}; \
        for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {                                             \
            int lwork = -1;                                                                                         \
            CHECK(CALL(int, symbol, (H, int, int, int, V, int, V, int *, V, int),                                   \
                       (dn(), VECTORS, 0, 4, NULL, 4, NULL, &lwork, NULL, known[i][0])) == OK);                     \
            CHECK(lwork == known[i][1]);                                                                            \
        }                                                                                                           \
    }
BATCHED(cusolverDnSsyevjBatched_bufferSize)
BATCHED(cusolverDnDsyevjBatched_bufferSize)
BATCHED(cusolverDnCheevjBatched_bufferSize)
BATCHED(cusolverDnZheevjBatched_bufferSize)

/* ---- part of the spectrum: the number of eigenvalues comes back to the host ---- */

#define RANGE(name, real)                                                                                          \
    SNIPPET(cusolverDn##name##_bufferSize)                                                                         \
    {                                                                                                              \
        int lwork = -1, count = -1;                                                                                \
        CHECK(CALL(int, cusolverDn##name##_bufferSize,                                                             \
                   (H, int, int, int, int, V, int, real, real, int, int, int *, V, int *),                         \
                   (dn(), VECTORS, RANGE_ALL, 0, 50, NULL, 50, 0, 1, 1, 2, &count, NULL, &lwork)) == OK);          \
        CHECK(count == 50 && lwork >= 2 * 50 * 50);                                                                \
    }                                                                                                              \
    SNIPPET(cusolverDn##name)                                                                                      \
    {                                                                                                              \
        int count = -1;                                                                                            \
        CHECK(CALL(int, cusolverDn##name,                                                                          \
                   (H, int, int, int, int, V, int, real, real, int, int, int *, V, V, int, int *),                 \
                   (dn(), VECTORS, RANGE_INDEX, 0, 50, NULL, 50, 0, 1, 3, 7, &count, NULL, NULL, 0, NULL)) == OK); \
        CHECK(count == 5);                                                                                         \
    }
RANGE(Ssyevdx, float)
RANGE(Dsyevdx, double)
RANGE(Cheevdx, float)
RANGE(Zheevdx, double)

#define PENCIL_RANGE(name, real)                                                                                    \
    SNIPPET(cusolverDn##name##_bufferSize)                                                                          \
    {                                                                                                               \
        int lwork = -1, count = -1;                                                                                 \
        CHECK(CALL(int, cusolverDn##name##_bufferSize,                                                              \
                   (H, int, int, int, int, int, V, int, V, int, real, real, int, int, int *, V, int *),             \
                   (dn(), 1, VECTORS, RANGE_INDEX, 0, 50, NULL, 50, NULL, 50, 0, 1, 1, 2, &count, NULL, &lwork)) == \
              OK);                                                                                                  \
        CHECK(count == 2 && lwork >= 2 * 50 * 50);                                                                  \
    }                                                                                                               \
    SNIPPET(cusolverDn##name)                                                                                       \
    {                                                                                                               \
        int count = -1;                                                                                             \
        CHECK(CALL(int, cusolverDn##name,                                                                           \
                   (H, int, int, int, int, int, V, int, V, int, real, real, int, int, int *, V, V, int, int *),     \
                   (dn(), 1, VECTORS, RANGE_VALUES, 0, 50, NULL, 50, NULL, 50, 0, 1, 3, 7, &count, NULL, NULL, 0,   \
                    NULL)) == OK);                                                                                  \
        CHECK(count == 50);                                                                                         \
    }
PENCIL_RANGE(Ssygvdx, float)
PENCIL_RANGE(Dsygvdx, double)
PENCIL_RANGE(Chegvdx, float)
PENCIL_RANGE(Zhegvdx, double)

#define SVD_APPROXIMATE(symbol)                                                                                      \
    SNIPPET(symbol)                                                                                                  \
    {                                                                                                                \
        double residuals[3] = {-1, -1, -1};                                                                          \
        CHECK(CALL(int, symbol,                                                                                      \
                   (H, int, int, int, int, V, int, long long, V, long long, V, int, long long, V, int, long long, V, \
                    int, int *, double *, int),                                                                      \
                   (dn(), VECTORS, 4, 8, 8, NULL, 8, 64LL, NULL, 8LL, NULL, 8, 64LL, NULL, 8, 64LL, NULL, 0, NULL,   \
                    residuals, 2)) == OK);                                                                           \
        CHECK(residuals[0] == 0 && residuals[1] == 0 && residuals[2] == -1);                                         \
    }
SVD_APPROXIMATE(cusolverDnSgesvdaStridedBatched)
SVD_APPROXIMATE(cusolverDnDgesvdaStridedBatched)
SVD_APPROXIMATE(cusolverDnCgesvdaStridedBatched)
SVD_APPROXIMATE(cusolverDnZgesvdaStridedBatched)

/* ---- iterative refinement ---- */

SNIPPET(cusolverDnIRSParamsCreate)
{
    void *params = NULL;
    CHECK(CALL(int, cusolverDnIRSParamsCreate, (void **), (&params)) == OK);
    CHECK(params != NULL);
    CALL(int, cusolverDnIRSParamsDestroy, (void *), (params));
}

SNIPPET(cusolverDnIRSParamsDestroy)
{
    void *params = NULL;
    CALL(int, cusolverDnIRSParamsCreate, (void **), (&params));
    CHECK(CALL(int, cusolverDnIRSParamsDestroy, (void *), (params)) == OK);
}

SNIPPET(cusolverDnIRSParamsGetMaxIters)
{
    void *params = NULL;
    int iterations = -1;
    CALL(int, cusolverDnIRSParamsCreate, (void **), (&params));
    CHECK(CALL(int, cusolverDnIRSParamsGetMaxIters, (void *, int *), (params, &iterations)) == OK);
    CHECK(iterations == 50);
    CALL(int, cusolverDnIRSParamsDestroy, (void *), (params));
}

SNIPPET(cusolverDnIRSParamsSetMaxIters)
{
    void *params = NULL;
    int iterations = -1;
    CALL(int, cusolverDnIRSParamsCreate, (void **), (&params));
    CHECK(CALL(int, cusolverDnIRSParamsSetMaxIters, (void *, int), (params, 7)) == OK);
    CALL(int, cusolverDnIRSParamsGetMaxIters, (void *, int *), (params, &iterations));
    CHECK(iterations == 7);
    CALL(int, cusolverDnIRSParamsDestroy, (void *), (params));
}

#define PAIR(pair, low)                                                                                             \
    SNIPPET(cusolverDn##pair##gesv_bufferSize)                                                                      \
    {                                                                                                               \
        size_t bytes = 0;                                                                                           \
        CHECK(CALL(int, cusolverDn##pair##gesv_bufferSize, (H, int, int, V, int, V, V, int, V, int, V, size_t *),   \
                   (dn(), 100, 1, NULL, 100, NULL, NULL, 100, NULL, 100, NULL, &bytes)) == OK);                     \
        CHECK(bytes > 100 * 100 * low && bytes < 100 * 100 * low + 100 * 100);                                      \
    }                                                                                                               \
    SNIPPET(cusolverDn##pair##gels_bufferSize)                                                                      \
    {                                                                                                               \
        size_t bytes = 0;                                                                                           \
        CHECK(CALL(int, cusolverDn##pair##gels_bufferSize, (H, int, int, int, V, int, V, int, V, int, V, size_t *), \
                   (dn(), 200, 100, 1, NULL, 200, NULL, 200, NULL, 200, NULL, &bytes)) == OK);                      \
        CHECK(bytes > 200 * 100 * low && bytes < 200 * 100 * low + 200 * 100);                                      \
    }
/* clang-format off */
PAIR(ZZ, 16) PAIR(ZC, 8) PAIR(ZK, 4) PAIR(ZE, 4) PAIR(ZY, 8) PAIR(CC, 8)
PAIR(CK, 4) PAIR(CE, 4) PAIR(CY, 8) PAIR(DD, 8) PAIR(DS, 4) PAIR(DH, 2)
PAIR(DB, 2) PAIR(DX, 4) PAIR(SS, 4) PAIR(SH, 2) PAIR(SB, 2) PAIR(SX, 4)
/* clang-format on */

    SNIPPET(cusolverDnIRSXgesv_bufferSize)
{
    size_t bytes = 0;
    CHECK(CALL(int, cusolverDnIRSXgesv_bufferSize, (H, V, int, int, size_t *), (dn(), NULL, 100, 1, &bytes)) == OK);
    CHECK(bytes > 100 * 100 * 2 && bytes < 1 << 20);
}

SNIPPET(cusolverDnIRSXgels_bufferSize)
{
    size_t bytes = 0;
    CHECK(CALL(int, cusolverDnIRSXgels_bufferSize, (H, V, int, int, int, size_t *),
               (dn(), NULL, 200, 100, 1, &bytes)) == OK);
    CHECK(bytes > 200 * 100 * 2 && bytes < 1 << 20);
}

/* ---- the 64-bit interface writes both sizes; they scale with the type ---- */

#define SIZE64(name, least, types, args)                                        \
    SNIPPET(cusolverDn##name##_bufferSize)                                      \
    {                                                                           \
        size_t device[2] = {0, 0}, host[2] = {SIZE_MAX, SIZE_MAX};              \
        void *h = dn(), *p = NULL;                                              \
        int64_t n = 100;                                                        \
        (void)p;                                                                \
        for (int i = 0; i < 2; i++) {                                           \
            int t = i ? C_64F : R_32F;                                          \
            size_t *d = &device[i], *o = &host[i];                              \
            CHECK(CALL(int, cusolverDn##name##_bufferSize, types, args) == OK); \
        }                                                                       \
        CHECK(device[0] >= (least) * 4 && device[0] < 1 << 20);                 \
        CHECK(device[1] == 4 * device[0]);                                      \
        CHECK(host[0] < 1 << 20 && host[1] < 1 << 20);                          \
    }
#define I int64_t
#define Z size_t *
SIZE64(Xpotrf, 100, (H, V, int, I, int, V, I, int, Z, Z), (h, p, 0, n, t, p, n, t, d, o))
SIZE64(Xgetrf, 100, (H, V, I, I, int, V, I, int, Z, Z), (h, p, n, n, t, p, n, t, d, o))
SIZE64(Xgeqrf, 3200, (H, V, I, I, int, V, I, int, V, int, Z, Z), (h, p, n, n, t, p, n, t, p, t, d, o))
SIZE64(Xtrtri, 100, (H, int, int, I, int, V, I, Z, Z), (h, 0, 0, n, t, p, n, d, o))
SIZE64(Xlarft, 100, (H, V, int, int, I, I, int, V, I, int, V, int, V, I, int, Z, Z),
       (h, p, 0, 0, n, n, t, p, n, t, p, t, p, n, t, d, o))
SIZE64(Xsytrs, 100, (H, int, I, I, int, V, I, V, int, V, I, Z, Z), (h, 0, n, n, t, p, n, p, t, p, n, d, o))
SIZE64(Xsytrf, 100, (H, V, int, I, int, V, I, V, int, Z, Z), (h, p, 0, n, t, p, n, p, t, d, o))
SIZE64(Xhetrf, 100, (H, V, int, I, int, V, I, V, int, Z, Z), (h, p, 0, n, t, p, n, p, t, d, o))
SIZE64(Xsyevd, 2 * 100 * 100, (H, V, int, int, I, int, V, I, int, V, int, Z, Z),
       (h, p, VECTORS, 0, n, t, p, n, t, p, t, d, o))
SIZE64(XsyevBatched, 3 * 100 * 100, (H, V, int, int, I, int, V, I, int, V, int, Z, Z, I),
       (h, p, VECTORS, 0, n, t, p, n, t, p, t, d, o, 3))
SIZE64(Xsygvd, 2 * 100 * 100, (H, V, int, int, int, I, int, V, I, int, V, I, int, V, int, Z, Z),
       (h, p, 1, VECTORS, 0, n, t, p, n, t, p, n, t, p, t, d, o))
SIZE64(Xstedc, 2 * 100 * 100, (H, V, int, I, int, V, V, int, V, I, int, Z, Z), (h, p, 1, n, t, p, p, t, h, n, t, d, o))
SIZE64(Xgeev, 100 * 100, (H, V, int, int, I, int, V, I, int, V, int, V, I, int, V, I, int, Z, Z),
       (h, p, 0, VECTORS, n, t, p, n, t, p, t, p, n, t, p, n, t, d, o))
SIZE64(Xgesvd, 100 * 100, (H, V, signed char, signed char, I, I, int, V, I, int, V, int, V, I, int, V, I, int, Z, Z),
       (h, p, 'A', 'A', n, n, t, p, n, t, p, t, p, n, t, p, n, t, d, o))
SIZE64(Xgesvdp, 100 * 100, (H, V, int, int, I, I, int, V, I, int, V, int, V, I, int, V, I, int, Z, Z),
       (h, p, VECTORS, 0, n, n, t, p, n, t, p, t, p, n, t, p, n, t, d, o))
SIZE64(Xgesvdr, 100 * 20,
       (H, V, signed char, signed char, I, I, I, I, I, int, V, I, int, V, int, V, I, int, V, I, int, Z, Z),
       (h, p, 'S', 'S', n, n, 10, 10, 2, t, p, n, t, p, t, p, n, t, p, n, t, d, o))
SIZE64(Xpolar, 2 * 100 * 100, (H, V, int, I, I, int, V, I, int, V, I, int, Z, Z),
       (h, p, 0, n, n, t, p, n, t, p, n, t, d, o))

SNIPPET(cusolverDnXsyevdx_bufferSize)
{
    size_t device = 0, host = SIZE_MAX;
    int64_t count = -1;
    CHECK(CALL(int, cusolverDnXsyevdx_bufferSize,
               (H, V, int, int, int, I, int, V, I, V, V, I, I, I *, int, V, int, Z, Z),
               (dn(), NULL, VECTORS, RANGE_ALL, 0, 100, R_32F, NULL, 100, NULL, NULL, 1, 2, &count, R_32F, NULL, R_32F,
                &device, &host)) == OK);
    CHECK(count == 100 && device >= 2 * 100 * 100 * 4 && device < 1 << 20 && host < 1 << 20);
}

SNIPPET(cusolverDnXsyevdx)
{
    int64_t count = -1;
    CHECK(CALL(int, cusolverDnXsyevdx,
               (H, V, int, int, int, I, int, V, I, V, V, I, I, I *, int, V, int, V, size_t, V, size_t, V),
               (dn(), NULL, VECTORS, RANGE_INDEX, 0, 100, R_32F, NULL, 100, NULL, NULL, 11, 20, &count, R_32F, NULL,
                R_32F, NULL, 0, NULL, 0, NULL)) == OK);
    CHECK(count == 10);
}

/* ---- the first 64-bit interface, one size ---- */

#define FIRST(name, types, args)                                            \
    SNIPPET(cusolverDn##name##_bufferSize)                                  \
    {                                                                       \
        size_t bytes = 0, *d = &bytes;                                      \
        void *h = dn(), *p = NULL;                                          \
        int64_t n = 100;                                                    \
        int t = R_32F;                                                      \
        CHECK(CALL(int, cusolverDn##name##_bufferSize, types, args) == OK); \
        CHECK(bytes >= 400 && bytes < 1 << 20);                             \
    }
FIRST(Potrf, (H, V, int, I, int, V, I, int, Z), (h, p, 0, n, t, p, n, t, d))
FIRST(Getrf, (H, V, I, I, int, V, I, int, Z), (h, p, n, n, t, p, n, t, d))
FIRST(Geqrf, (H, V, I, I, int, V, I, int, V, int, Z), (h, p, n, n, t, p, n, t, p, t, d))
FIRST(Gesvd, (H, V, signed char, signed char, I, I, int, V, I, int, V, int, V, I, int, V, I, int, Z),
      (h, p, 'A', 'A', n, n, t, p, n, t, p, t, p, n, t, p, n, t, d))
FIRST(Syevd, (H, V, int, int, I, int, V, I, int, V, int, Z), (h, p, VECTORS, 0, n, t, p, n, t, p, t, d))

SNIPPET(cusolverDnSyevdx_bufferSize)
{
    size_t bytes = 0;
    int64_t count = -1;
    CHECK(CALL(int, cusolverDnSyevdx_bufferSize, (H, V, int, int, int, I, int, V, I, V, V, I, I, I *, int, V, int, Z),
               (dn(), NULL, VECTORS, RANGE_ALL, 0, 100, R_32F, NULL, 100, NULL, NULL, 1, 2, &count, R_32F, NULL, R_32F,
                &bytes)) == OK);
    CHECK(count == 100 && bytes >= 2 * 100 * 100 * 4 && bytes < 1 << 20);
}

SNIPPET(cusolverDnSyevdx)
{
    int64_t count = -1;
    CHECK(CALL(int, cusolverDnSyevdx, (H, V, int, int, int, I, int, V, I, V, V, I, I, I *, int, V, int, V, size_t, V),
               (dn(), NULL, VECTORS, RANGE_INDEX, 0, 100, R_32F, NULL, 100, NULL, NULL, 11, 20, &count, R_32F, NULL,
                R_32F, NULL, 0, NULL)) == OK);
    CHECK(count == 10);
}
