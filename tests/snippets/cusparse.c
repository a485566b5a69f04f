/* cuSPARSE: one call per entry point with code of its own; here the library and the older routines. */
#include "cusparse.h"

char sparse_memory[3];

void *sparse_lib(int pointer_mode)
{
    static void *handle;
    if (!handle)
        CALL(int, cusparseCreate, (P *), (&handle));
    CALL(int, cusparseSetPointerMode, (P, int), (handle, pointer_mode));
    return handle;
}

/* ---- library ---- */

SNIPPET(cusparseCreate)
{
    void *a = NULL, *b = NULL;
    CHECK(CALL(int, cusparseCreate, (P *), (&a)) == OK);
    CHECK(CALL(int, cusparseCreate, (P *), (&b)) == OK);
    CHECK(a && b && a != b);
    CALL(int, cusparseDestroy, (P), (a));
    CALL(int, cusparseDestroy, (P), (b));
}

SNIPPET(cusparseDestroy)
{
    void *a = NULL;
    CALL(int, cusparseCreate, (P *), (&a));
    CHECK(CALL(int, cusparseDestroy, (P), (a)) == OK);
    CHECK(CALL(int, cusparseDestroy, (P), (NULL)) == NOT_INITIALIZED);
}

SNIPPET(cusparseSetStream)
{
    void *stream = NULL;
    CHECK(CALL(int, cusparseSetStream, (P, P), (sparse_lib(0), A)) == OK);
    CALL(int, cusparseGetStream, (P, P *), (sparse_lib(0), &stream));
    CHECK(stream == A);
}

SNIPPET(cusparseGetStream)
{
    void *handle = NULL, *stream = A;
    CALL(int, cusparseCreate, (P *), (&handle));
    CHECK(CALL(int, cusparseGetStream, (P, P *), (handle, &stream)) == OK);
    CHECK(stream == NULL);
    CALL(int, cusparseDestroy, (P), (handle));
}

SNIPPET(cusparseSetPointerMode)
{
    int mode = -1;
    CHECK(CALL(int, cusparseSetPointerMode, (P, int), (sparse_lib(0), 1)) == OK);
    CALL(int, cusparseGetPointerMode, (P, int *), (sparse_lib(1), &mode));
    CHECK(mode == 1);
}

SNIPPET(cusparseGetPointerMode)
{
    int mode = -1;
    CHECK(CALL(int, cusparseGetPointerMode, (P, int *), (sparse_lib(0), &mode)) == OK);
    CHECK(mode == 0);
}

SNIPPET(cusparseGetVersion)
{
    int version = -1;
    CHECK(CALL(int, cusparseGetVersion, (P, int *), (sparse_lib(0), &version)) == OK);
    CHECK(version / 1000 == 12);
}

SNIPPET(cusparseGetProperty)
{
    int part[3] = {-1, -1, -1}, version = -1;
    for (int i = 0; i < 3; i++)
        CHECK(CALL(int, cusparseGetProperty, (int, int *), (i, &part[i])) == OK);
    CALL(int, cusparseGetVersion, (P, int *), (sparse_lib(0), &version));
    CHECK(version == part[0] * 1000 + part[1] * 100 + part[2]);
}

SNIPPET(cusparseGetErrorName)
{
    CHECK(!strcmp(CALL(const char *, cusparseGetErrorName, (int), (10)), "CUSPARSE_STATUS_NOT_SUPPORTED"));
    CHECK(CALL(const char *, cusparseGetErrorName, (int), (1000)) != NULL);
}

SNIPPET(cusparseGetErrorString)
{
    CHECK(CALL(const char *, cusparseGetErrorString, (int), (3)) != NULL);
    CHECK(CALL(const char *, cusparseGetErrorString, (int), (-1)) != NULL);
}

/* ---- matrix descriptor of the older routines ---- */

SNIPPET(cusparseCreateMatDescr)
{
    void *descr = NULL;
    CHECK(CALL(int, cusparseCreateMatDescr, (P *), (&descr)) == OK);
    CHECK(descr != NULL);
    CALL(int, cusparseDestroyMatDescr, (P), (descr));
}

SNIPPET(cusparseDestroyMatDescr)
{
    void *descr = NULL;
    CALL(int, cusparseCreateMatDescr, (P *), (&descr));
    CHECK(CALL(int, cusparseDestroyMatDescr, (P), (descr)) == OK);
}

#define FIELD(Name, value)                                                      \
    SNIPPET(cusparseSetMat##Name)                                               \
    {                                                                           \
        void *descr = NULL;                                                     \
        CALL(int, cusparseCreateMatDescr, (P *), (&descr));                     \
        CHECK(CALL(int, cusparseSetMat##Name, (P, int), (descr, value)) == OK); \
        CHECK(CALL(int, cusparseGetMat##Name, (P), (descr)) == value);          \
        CALL(int, cusparseDestroyMatDescr, (P), (descr));                       \
    }                                                                           \
    SNIPPET(cusparseGetMat##Name)                                               \
    {                                                                           \
        void *descr = NULL;                                                     \
        CALL(int, cusparseCreateMatDescr, (P *), (&descr));                     \
        CHECK(CALL(int, cusparseGetMat##Name, (P), (descr)) == 0);              \
        CALL(int, cusparseDestroyMatDescr, (P), (descr));                       \
    }
FIELD(Type, 3)
FIELD(FillMode, 1)
FIELD(DiagType, 1)
FIELD(IndexBase, 1)

/* ---- older routines ---- */

#define ZERO_PIVOT(symbol)                                                               \
    SNIPPET(symbol)                                                                      \
    {                                                                                    \
        int position = 7;                                                                \
        CHECK(CALL(int, symbol, (P, P, int *), (sparse_lib(0), NULL, &position)) == OK); \
        CHECK(position == -1);                                                           \
        position = 7;                                                                    \
        CHECK(CALL(int, symbol, (P, P, int *), (sparse_lib(1), NULL, &position)) == OK); \
        CHECK(position == 7);                                                            \
    }
ZERO_PIVOT(cusparseXbsrsv2_zeroPivot)
ZERO_PIVOT(cusparseXbsrsm2_zeroPivot)
ZERO_PIVOT(cusparseXbsric02_zeroPivot)
ZERO_PIVOT(cusparseXbsrilu02_zeroPivot)
ZERO_PIVOT(cusparseXcsric02_zeroPivot)
ZERO_PIVOT(cusparseXcsrilu02_zeroPivot)

#define OLD(symbol, kind, types, args)                   \
    SNIPPET(symbol)                                      \
    {                                                    \
        void *h = sparse_lib(0), *p = NULL;              \
        kind bytes = -1, *out = &bytes;                  \
        (void)p;                                         \
        CHECK(CALL(int, symbol, types, args) == OK);     \
        CHECK(bytes >= 100 * 4 && bytes <= 1000 * 1000); \
    }
#define LIST(...) __VA_ARGS__
#define OLD_BOTH_TYPED(name, types, args)                             \
    OLD(cusparseS##name##_bufferSize, int, (LIST types, int *), args) \
    OLD(cusparseD##name##_bufferSize, int, (LIST types, int *), args) \
    OLD(cusparseC##name##_bufferSize, int, (LIST types, int *), args) \
    OLD(cusparseZ##name##_bufferSize, int, (LIST types, int *), args) \
    OLD_EXT_TYPED(name, types, args)
#define OLD_EXT_TYPED(name, types, args)                                       \
    OLD(cusparseS##name##_bufferSizeExt, size_t, (LIST types, size_t *), args) \
    OLD(cusparseD##name##_bufferSizeExt, size_t, (LIST types, size_t *), args) \
    OLD(cusparseC##name##_bufferSizeExt, size_t, (LIST types, size_t *), args) \
    OLD(cusparseZ##name##_bufferSizeExt, size_t, (LIST types, size_t *), args)

/* 100 rows or block rows, 500 entries or blocks. */
OLD_BOTH_TYPED(bsrsv2, (P, int, int, int, int, P, P, P, P, int, P), (h, 0, 0, 100, 500, p, p, p, p, 4, p, out))
OLD_BOTH_TYPED(bsrsm2, (P, int, int, int, int, int, int, P, P, P, P, int, P),
               (h, 0, 0, 0, 100, 10, 500, p, p, p, p, 4, p, out))
OLD_BOTH_TYPED(bsric02, (P, int, int, int, P, P, P, P, int, P), (h, 0, 100, 500, p, p, p, p, 4, p, out))
OLD_BOTH_TYPED(bsrilu02, (P, int, int, int, P, P, P, P, int, P), (h, 0, 100, 500, p, p, p, p, 4, p, out))
OLD_BOTH_TYPED(csric02, (P, int, int, P, P, P, P, P), (h, 100, 500, p, p, p, p, p, out))
OLD_BOTH_TYPED(csrilu02, (P, int, int, P, P, P, P, P), (h, 100, 500, p, p, p, p, p, out))
OLD_BOTH_TYPED(csr2gebsr, (P, int, int, int, P, P, P, P, int, int), (h, 0, 100, 100, p, p, p, p, 2, 2, out))
OLD_BOTH_TYPED(gebsr2gebsc, (P, int, int, int, P, P, P, int, int), (h, 100, 100, 500, p, p, p, 2, 2, out))
OLD_BOTH_TYPED(gebsr2gebsr, (P, int, int, int, int, P, P, P, P, int, int, int, int),
               (h, 0, 100, 100, 500, p, p, p, p, 2, 2, 4, 4, out))
OLD_EXT_TYPED(gtsv2, (P, int, int, P, P, P, P, int), (h, 100, 2, p, p, p, p, 100, out))
OLD_EXT_TYPED(gtsv2_nopivot, (P, int, int, P, P, P, P, int), (h, 100, 2, p, p, p, p, 100, out))
OLD_EXT_TYPED(gtsv2StridedBatch, (P, int, P, P, P, P, int, int), (h, 100, p, p, p, p, 3, 100, out))
OLD_EXT_TYPED(gtsvInterleavedBatch, (P, int, int, P, P, P, P, int), (h, 0, 100, p, p, p, p, 3, out))
OLD_EXT_TYPED(gpsvInterleavedBatch, (P, int, int, P, P, P, P, P, P, int), (h, 0, 100, p, p, p, p, p, p, 3, out))
OLD_EXT_TYPED(csrgeam2, (P, int, int, P, P, int, P, P, P, P, P, int, P, P, P, P, P, P, P),
              (h, 100, 100, p, p, 500, p, p, p, p, p, 500, p, p, p, p, p, p, p, out))
OLD_EXT_TYPED(csru2csr, (P, int, int, int, P, P, P, P), (h, 100, 100, 500, p, p, p, p, out))
OLD(cusparseSgemvi_bufferSize, int, (P, int, int, int, int, int *), (h, 0, 100, 200, 50, out))
OLD(cusparseDgemvi_bufferSize, int, (P, int, int, int, int, int *), (h, 0, 100, 200, 50, out))
OLD(cusparseCgemvi_bufferSize, int, (P, int, int, int, int, int *), (h, 0, 100, 200, 50, out))
OLD(cusparseZgemvi_bufferSize, int, (P, int, int, int, int, int *), (h, 0, 100, 200, 50, out))
OLD(cusparseXcoosort_bufferSizeExt, size_t, (P, int, int, int, P, P, Z), (h, 100, 100, 500, p, p, out))
OLD(cusparseXcsrsort_bufferSizeExt, size_t, (P, int, int, int, P, P, Z), (h, 100, 100, 500, p, p, out))
OLD(cusparseXcscsort_bufferSizeExt, size_t, (P, int, int, int, P, P, Z), (h, 100, 100, 500, p, p, out))
OLD(cusparseCsr2cscEx2_bufferSize, size_t, (P, int, int, int, P, P, P, P, P, P, int, int, int, int, Z),
    (h, 100, 100, 500, p, p, p, p, p, p, R_32F, 1, 0, 1, out))
