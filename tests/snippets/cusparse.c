/* cuSPARSE: one call per entry point with code of its own. */
#include "snippet.h"

enum { OK = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3 };
enum { R_32F = 0, R_64F = 1, C_64F = 5, INDEX_32I = 2, INDEX_64I = 3, ONE_BASED = 1, ORDER_ROW = 2 };
enum { CSR = 1, CSC = 2, COO = 3, BLOCKED_ELL = 5, BSR = 6, SLICED_ELL = 7 };
enum { ROWS = 1000, COLS = 2000, NNZ = 10000 };

#define P void *
#define I int64_t
#define Z size_t *
static char memory[3]; /* addresses that stand for device arrays */
#define A ((void *)&memory[0])
#define B ((void *)&memory[1])
#define C ((void *)&memory[2])

static void *lib(int pointer_mode)
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
    CHECK(CALL(int, cusparseSetStream, (P, P), (lib(0), A)) == OK);
    CALL(int, cusparseGetStream, (P, P *), (lib(0), &stream));
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
    CHECK(CALL(int, cusparseSetPointerMode, (P, int), (lib(0), 1)) == OK);
    CALL(int, cusparseGetPointerMode, (P, int *), (lib(1), &mode));
    CHECK(mode == 1);
}

SNIPPET(cusparseGetPointerMode)
{
    int mode = -1;
    CHECK(CALL(int, cusparseGetPointerMode, (P, int *), (lib(0), &mode)) == OK);
    CHECK(mode == 0);
}

SNIPPET(cusparseGetVersion)
{
    int version = -1;
    CHECK(CALL(int, cusparseGetVersion, (P, int *), (lib(0), &version)) == OK);
    CHECK(version / 1000 == 12);
}

SNIPPET(cusparseGetProperty)
{
    int part[3] = {-1, -1, -1}, version = -1;
    for (int i = 0; i < 3; i++)
        CHECK(CALL(int, cusparseGetProperty, (int, int *), (i, &part[i])) == OK);
    CALL(int, cusparseGetVersion, (P, int *), (lib(0), &version));
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

/* ---- descriptors of the generic interface: what goes in comes out ---- */

static void *new_dnvec(void)
{
    void *d = NULL;
    CALL(int, cusparseCreateDnVec, (P *, I, P, int), (&d, ROWS, A, R_64F));
    return d;
}

static void *new_dnmat(void)
{
    void *d = NULL;
    CALL(int, cusparseCreateDnMat, (P *, I, I, I, P, int, int), (&d, ROWS, COLS, COLS, A, R_32F, ORDER_ROW));
    return d;
}

static void *new_spvec(void)
{
    void *d = NULL;
    CALL(int, cusparseCreateSpVec, (P *, I, I, P, P, int, int, int),
         (&d, ROWS, NNZ, A, B, INDEX_32I, ONE_BASED, R_32F));
    return d;
}

static void *new_csr(int64_t rows, int64_t cols, int64_t nnz)
{
    void *d = NULL;
    CALL(int, cusparseCreateCsr, (P *, I, I, I, P, P, P, int, int, int, int),
         (&d, rows, cols, nnz, A, B, C, INDEX_64I, INDEX_32I, ONE_BASED, R_32F));
    return d;
}

#define DESTROY(Name, make)                                      \
    SNIPPET(cusparseDestroy##Name)                               \
    {                                                            \
        void *d = make;                                          \
        CHECK(d != NULL);                                        \
        CHECK(CALL(int, cusparseDestroy##Name, (P), (d)) == OK); \
    }
DESTROY(DnVec, new_dnvec())
DESTROY(DnMat, new_dnmat())
DESTROY(SpVec, new_spvec())
DESTROY(SpMat, new_csr(ROWS, COLS, NNZ))

#define VALUES(Name, make, values, Destroy)                                        \
    SNIPPET(cusparse##Name##GetValues)                                             \
    {                                                                              \
        void *d = make, *v = NULL;                                                 \
        CHECK(CALL(int, cusparse##Name##GetValues, (P, P *), (d, &v)) == OK);      \
        CHECK(v == values);                                                        \
        CALL(int, Destroy, (P), (d));                                              \
    }                                                                              \
    SNIPPET(cusparseConst##Name##GetValues)                                        \
    {                                                                              \
        void *d = make, *v = NULL;                                                 \
        CHECK(CALL(int, cusparseConst##Name##GetValues, (P, P *), (d, &v)) == OK); \
        CHECK(v == values);                                                        \
        CALL(int, Destroy, (P), (d));                                              \
    }                                                                              \
    SNIPPET(cusparse##Name##SetValues)                                             \
    {                                                                              \
        void *d = make, *v = NULL;                                                 \
        CHECK(CALL(int, cusparse##Name##SetValues, (P, P), (d, &v)) == OK);        \
        CALL(int, cusparse##Name##GetValues, (P, P *), (d, &v));                   \
        CHECK(v == &v);                                                            \
        CALL(int, Destroy, (P), (d));                                              \
    }
VALUES(DnVec, new_dnvec(), A, cusparseDestroyDnVec)
VALUES(DnMat, new_dnmat(), A, cusparseDestroyDnMat)
VALUES(SpVec, new_spvec(), B, cusparseDestroySpVec)
VALUES(SpMat, new_csr(ROWS, COLS, NNZ), C, cusparseDestroySpMat)

#define DNVEC(Create, Get)                                                        \
    static void check_##Get(void)                                                 \
    {                                                                             \
        void *d = NULL, *v = NULL;                                                \
        int64_t size = -1;                                                        \
        int type = -1;                                                            \
        CHECK(CALL(int, Create, (P *, I, P, int), (&d, 77, C, C_64F)) == OK);     \
        CHECK(CALL(int, Get, (P, I *, P *, int *), (d, &size, &v, &type)) == OK); \
        CHECK(size == 77 && v == C && type == C_64F);                             \
        CALL(int, cusparseDestroyDnVec, (P), (d));                                \
    }                                                                             \
    SNIPPET(Create)                                                               \
    {                                                                             \
        check_##Get();                                                            \
    }                                                                             \
    SNIPPET(Get)                                                                  \
    {                                                                             \
        check_##Get();                                                            \
    }
DNVEC(cusparseCreateDnVec, cusparseDnVecGet)
DNVEC(cusparseCreateConstDnVec, cusparseConstDnVecGet)

#define DNMAT(Create, Get)                                                                                             \
    static void check_##Get(void)                                                                                      \
    {                                                                                                                  \
        void *d = NULL, *v = NULL;                                                                                     \
        int64_t rows = -1, cols = -1, ld = -1;                                                                         \
        int type = -1, order = -1;                                                                                     \
        CHECK(CALL(int, Create, (P *, I, I, I, P, int, int), (&d, 3, 4, 5, B, R_64F, ORDER_ROW)) == OK);               \
        CHECK(CALL(int, Get, (P, I *, I *, I *, P *, int *, int *), (d, &rows, &cols, &ld, &v, &type, &order)) == OK); \
        CHECK(rows == 3 && cols == 4 && ld == 5 && v == B && type == R_64F && order == ORDER_ROW);                     \
        CALL(int, cusparseDestroyDnMat, (P), (d));                                                                     \
    }                                                                                                                  \
    SNIPPET(Create)                                                                                                    \
    {                                                                                                                  \
        check_##Get();                                                                                                 \
    }                                                                                                                  \
    SNIPPET(Get)                                                                                                       \
    {                                                                                                                  \
        check_##Get();                                                                                                 \
    }
DNMAT(cusparseCreateDnMat, cusparseDnMatGet)
DNMAT(cusparseCreateConstDnMat, cusparseConstDnMatGet)

SNIPPET(cusparseDnMatSetStridedBatch)
{
    void *d = new_dnmat();
    int batches = -1;
    int64_t stride = -1;
    CHECK(CALL(int, cusparseDnMatSetStridedBatch, (P, int, I), (d, 8, 4096)) == OK);
    CALL(int, cusparseDnMatGetStridedBatch, (P, int *, I *), (d, &batches, &stride));
    CHECK(batches == 8 && stride == 4096);
    CALL(int, cusparseDestroyDnMat, (P), (d));
}

SNIPPET(cusparseDnMatGetStridedBatch)
{
    void *d = new_dnmat();
    int batches = -1;
    int64_t stride = -1;
    CHECK(CALL(int, cusparseDnMatGetStridedBatch, (P, int *, I *), (d, &batches, &stride)) == OK);
    CHECK(batches == 1 && stride == 0);
    CALL(int, cusparseDestroyDnMat, (P), (d));
}

#define SPVEC(Create, Get)                                                                                           \
    static void check_##Get(void)                                                                                    \
    {                                                                                                                \
        void *d = NULL, *i = NULL, *v = NULL;                                                                        \
        int64_t size = -1, nnz = -1;                                                                                 \
        int index = -1, base = -1, type = -1;                                                                        \
        CHECK(CALL(int, Create, (P *, I, I, P, P, int, int, int), (&d, 90, 9, A, B, INDEX_64I, ONE_BASED, R_64F)) == \
              OK);                                                                                                   \
        CHECK(CALL(int, Get, (P, I *, I *, P *, P *, int *, int *, int *),                                           \
                   (d, &size, &nnz, &i, &v, &index, &base, &type)) == OK);                                           \
        CHECK(size == 90 && nnz == 9 && i == A && v == B && index == INDEX_64I && base == 1 && type == R_64F);       \
        CALL(int, cusparseDestroySpVec, (P), (d));                                                                   \
    }                                                                                                                \
    SNIPPET(Create)                                                                                                  \
    {                                                                                                                \
        check_##Get();                                                                                               \
    }                                                                                                                \
    SNIPPET(Get)                                                                                                     \
    {                                                                                                                \
        check_##Get();                                                                                               \
    }
SPVEC(cusparseCreateSpVec, cusparseSpVecGet)
SPVEC(cusparseCreateConstSpVec, cusparseConstSpVecGet)

SNIPPET(cusparseSpVecGetIndexBase)
{
    void *d = new_spvec();
    int base = -1;
    CHECK(CALL(int, cusparseSpVecGetIndexBase, (P, int *), (d, &base)) == OK);
    CHECK(base == ONE_BASED);
    CALL(int, cusparseDestroySpVec, (P), (d));
}

/* ---- sparse matrices ---- */

static void check_size(void *d, int format, int64_t rows, int64_t cols, int64_t nnz)
{
    int64_t r = -1, c = -1, z = -1;
    int f = -1;
    CHECK(CALL(int, cusparseSpMatGetSize, (P, I *, I *, I *), (d, &r, &c, &z)) == OK);
    CHECK(r == rows && c == cols && z == nnz);
    CHECK(CALL(int, cusparseSpMatGetFormat, (P, int *), (d, &f)) == OK);
    CHECK(f == format);
}

#define COMPRESSED(Create, Get, format)                                                            \
    static void check_##Get(void)                                                                  \
    {                                                                                              \
        void *d = NULL, *o = NULL, *i = NULL, *v = NULL;                                           \
        int64_t rows = -1, cols = -1, nnz = -1;                                                    \
        int offset = -1, index = -1, base = -1, type = -1;                                         \
        CHECK(CALL(int, Create, (P *, I, I, I, P, P, P, int, int, int, int),                       \
                   (&d, ROWS, COLS, NNZ, A, B, C, INDEX_64I, INDEX_32I, ONE_BASED, R_64F)) == OK); \
        CHECK(CALL(int, Get, (P, I *, I *, I *, P *, P *, P *, int *, int *, int *, int *),        \
                   (d, &rows, &cols, &nnz, &o, &i, &v, &offset, &index, &base, &type)) == OK);     \
        CHECK(rows == ROWS && cols == COLS && nnz == NNZ && o == A && i == B && v == C);           \
        CHECK(offset == INDEX_64I && index == INDEX_32I && base == ONE_BASED && type == R_64F);    \
        check_size(d, format, ROWS, COLS, NNZ);                                                    \
        CALL(int, cusparseDestroySpMat, (P), (d));                                                 \
    }                                                                                              \
    SNIPPET(Create)                                                                                \
    {                                                                                              \
        check_##Get();                                                                             \
    }                                                                                              \
    SNIPPET(Get)                                                                                   \
    {                                                                                              \
        check_##Get();                                                                             \
    }
COMPRESSED(cusparseCreateCsr, cusparseCsrGet, CSR)
COMPRESSED(cusparseCreateConstCsr, cusparseConstCsrGet, CSR)
COMPRESSED(cusparseCreateCsc, cusparseCscGet, CSC)
COMPRESSED(cusparseCreateConstCsc, cusparseConstCscGet, CSC)

#define COORDINATES(Create, Get)                                                         \
    static void check_##Get(void)                                                        \
    {                                                                                    \
        void *d = NULL, *r = NULL, *c = NULL, *v = NULL;                                 \
        int64_t rows = -1, cols = -1, nnz = -1;                                          \
        int index = -1, base = -1, type = -1;                                            \
        CHECK(CALL(int, Create, (P *, I, I, I, P, P, P, int, int, int),                  \
                   (&d, ROWS, COLS, NNZ, A, B, C, INDEX_64I, ONE_BASED, R_64F)) == OK);  \
        CHECK(CALL(int, Get, (P, I *, I *, I *, P *, P *, P *, int *, int *, int *),     \
                   (d, &rows, &cols, &nnz, &r, &c, &v, &index, &base, &type)) == OK);    \
        CHECK(rows == ROWS && cols == COLS && nnz == NNZ && r == A && c == B && v == C); \
        CHECK(index == INDEX_64I && base == ONE_BASED && type == R_64F);                 \
        check_size(d, COO, ROWS, COLS, NNZ);                                             \
        CALL(int, cusparseDestroySpMat, (P), (d));                                       \
    }                                                                                    \
    SNIPPET(Create)                                                                      \
    {                                                                                    \
        check_##Get();                                                                   \
    }                                                                                    \
    SNIPPET(Get)                                                                         \
    {                                                                                    \
        check_##Get();                                                                   \
    }
COORDINATES(cusparseCreateCoo, cusparseCooGet)
COORDINATES(cusparseCreateConstCoo, cusparseConstCooGet)

#define BLOCKED(Create, Get)                                                                 \
    static void check_##Get(void)                                                            \
    {                                                                                        \
        void *d = NULL, *c = NULL, *v = NULL;                                                \
        int64_t rows = -1, cols = -1, block = -1, ell = -1;                                  \
        int index = -1, base = -1, type = -1;                                                \
        CHECK(CALL(int, Create, (P *, I, I, I, I, P, P, int, int, int),                      \
                   (&d, ROWS, COLS, 16, 64, A, B, INDEX_32I, ONE_BASED, R_64F)) == OK);      \
        CHECK(CALL(int, Get, (P, I *, I *, I *, I *, P *, P *, int *, int *, int *),         \
                   (d, &rows, &cols, &block, &ell, &c, &v, &index, &base, &type)) == OK);    \
        CHECK(rows == ROWS && cols == COLS && block == 16 && ell == 64 && c == A && v == B); \
        CHECK(index == INDEX_32I && base == ONE_BASED && type == R_64F);                     \
        check_size(d, BLOCKED_ELL, ROWS, COLS, ROWS * 64);                                   \
        CALL(int, cusparseDestroySpMat, (P), (d));                                           \
    }                                                                                        \
    SNIPPET(Create)                                                                          \
    {                                                                                        \
        check_##Get();                                                                       \
    }                                                                                        \
    SNIPPET(Get)                                                                             \
    {                                                                                        \
        check_##Get();                                                                       \
    }
BLOCKED(cusparseCreateBlockedEll, cusparseBlockedEllGet)
BLOCKED(cusparseCreateConstBlockedEll, cusparseConstBlockedEllGet)

#define BLOCK_ROWS(Create)                                                                             \
    SNIPPET(Create)                                                                                    \
    {                                                                                                  \
        void *d = NULL;                                                                                \
        CHECK(CALL(int, Create, (P *, I, I, I, I, I, P, P, P, int, int, int, int, int),                \
                   (&d, 10, 20, 30, 4, 8, A, B, C, INDEX_32I, INDEX_32I, 0, R_32F, ORDER_ROW)) == OK); \
        check_size(d, BSR, 40, 160, 30 * 32);                                                          \
        CALL(int, cusparseDestroySpMat, (P), (d));                                                     \
    }
BLOCK_ROWS(cusparseCreateBsr)
BLOCK_ROWS(cusparseCreateConstBsr)

#define SLICED(Create)                                                                                   \
    SNIPPET(Create)                                                                                      \
    {                                                                                                    \
        void *d = NULL;                                                                                  \
        CHECK(CALL(int, Create, (P *, I, I, I, I, I, P, P, P, int, int, int, int),                       \
                   (&d, ROWS, COLS, NNZ, NNZ + 64, 32, A, B, C, INDEX_32I, INDEX_32I, 0, R_32F)) == OK); \
        check_size(d, SLICED_ELL, ROWS, COLS, NNZ);                                                      \
        CALL(int, cusparseDestroySpMat, (P), (d));                                                       \
    }
SLICED(cusparseCreateSlicedEll)
SLICED(cusparseCreateConstSlicedEll)

SNIPPET(cusparseSpMatGetSize)
{
    void *d = new_csr(ROWS, COLS, NNZ);
    check_size(d, CSR, ROWS, COLS, NNZ);
    CHECK(CALL(int, cusparseSpMatGetSize, (P, I *, I *, I *), (NULL, NULL, NULL, NULL)) == INVALID_VALUE);
    CALL(int, cusparseDestroySpMat, (P), (d));
}

SNIPPET(cusparseSpMatGetFormat)
{
    void *d = new_csr(ROWS, COLS, NNZ);
    check_size(d, CSR, ROWS, COLS, NNZ);
    CALL(int, cusparseDestroySpMat, (P), (d));
}

SNIPPET(cusparseSpMatGetIndexBase)
{
    void *d = new_csr(ROWS, COLS, NNZ);
    int base = -1;
    CHECK(CALL(int, cusparseSpMatGetIndexBase, (P, int *), (d, &base)) == OK);
    CHECK(base == ONE_BASED);
    CALL(int, cusparseDestroySpMat, (P), (d));
}

static void check_batches(void *d, int expected)
{
    int batches = -1;
    CHECK(CALL(int, cusparseSpMatGetStridedBatch, (P, int *), (d, &batches)) == OK);
    CHECK(batches == expected);
    CALL(int, cusparseDestroySpMat, (P), (d));
}

SNIPPET(cusparseSpMatGetStridedBatch)
{
    check_batches(new_csr(ROWS, COLS, NNZ), 1);
}

SNIPPET(cusparseCooSetStridedBatch)
{
    void *d = new_csr(ROWS, COLS, NNZ);
    CHECK(CALL(int, cusparseCooSetStridedBatch, (P, int, I), (d, 5, NNZ)) == OK);
    check_batches(d, 5);
}

SNIPPET(cusparseCsrSetStridedBatch)
{
    void *d = new_csr(ROWS, COLS, NNZ);
    CHECK(CALL(int, cusparseCsrSetStridedBatch, (P, int, I, I), (d, 6, ROWS + 1, NNZ)) == OK);
    check_batches(d, 6);
}

SNIPPET(cusparseBsrSetStridedBatch)
{
    void *d = new_csr(ROWS, COLS, NNZ);
    CHECK(CALL(int, cusparseBsrSetStridedBatch, (P, int, I, I, I), (d, 7, ROWS + 1, NNZ, NNZ)) == OK);
    check_batches(d, 7);
}

#define SET_POINTERS(Set)                                                                        \
    SNIPPET(Set)                                                                                 \
    {                                                                                            \
        void *d = new_csr(ROWS, COLS, NNZ), *o = NULL, *i = NULL, *v = NULL;                     \
        CHECK(CALL(int, Set, (P, P, P, P), (d, C, A, B)) == OK);                                 \
        CALL(int, cusparseCsrGet, (P, I *, I *, I *, P *, P *, P *, int *, int *, int *, int *), \
             (d, NULL, NULL, NULL, &o, &i, &v, NULL, NULL, NULL, NULL));                         \
        CHECK(o == C && i == A && v == B);                                                       \
        CALL(int, cusparseDestroySpMat, (P), (d));                                               \
    }
SET_POINTERS(cusparseCsrSetPointers)
SET_POINTERS(cusparseCscSetPointers)
SET_POINTERS(cusparseCooSetPointers)

SNIPPET(cusparseSpMatSetAttribute)
{
    void *d = new_csr(ROWS, COLS, NNZ);
    int value = 1, back = -1;
    CHECK(CALL(int, cusparseSpMatSetAttribute, (P, int, P, size_t), (d, 0, &value, sizeof value)) == OK);
    CALL(int, cusparseSpMatGetAttribute, (P, int, P, size_t), (d, 0, &back, sizeof back));
    CHECK(back == 1);
    CHECK(CALL(int, cusparseSpMatSetAttribute, (P, int, P, size_t), (d, 9, &value, sizeof value)) == INVALID_VALUE);
    CALL(int, cusparseDestroySpMat, (P), (d));
}

SNIPPET(cusparseSpMatGetAttribute)
{
    void *d = new_csr(ROWS, COLS, NNZ);
    int back = -1;
    CHECK(CALL(int, cusparseSpMatGetAttribute, (P, int, P, size_t), (d, 1, &back, sizeof back)) == OK);
    CHECK(back == 0);
    CALL(int, cusparseDestroySpMat, (P), (d));
}

/* ---- buffer sizes of the generic operations: written and plausible ---- */

#define SIZED(symbol, least, most, types, args)                            \
    SNIPPET(symbol)                                                        \
    {                                                                      \
        void *h = lib(0), *m = new_csr(ROWS, COLS, NNZ), *d = new_dnmat(); \
        void *x = new_dnvec(), *s = new_spvec(), *p = NULL;                \
        size_t bytes = SIZE_MAX, *out = &bytes;                            \
        (void)p;                                                           \
        CHECK(CALL(int, symbol, types, args) == OK);                       \
        CHECK(bytes >= (least) && bytes <= (most));                        \
        CALL(int, cusparseDestroySpMat, (P), (m));                         \
        CALL(int, cusparseDestroyDnMat, (P), (d));                         \
        CALL(int, cusparseDestroyDnVec, (P), (x));                         \
        CALL(int, cusparseDestroySpVec, (P), (s));                         \
    }
SIZED(cusparseSpMV_bufferSize, 8, 1 << 20, (P, int, P, P, P, P, P, int, int, Z), (h, 0, p, m, x, p, x, R_32F, 0, out))
SIZED(cusparseSpMM_bufferSize, 8, 1 << 20, (P, int, int, P, P, P, P, P, int, int, Z),
      (h, 0, 0, p, m, d, p, d, R_32F, 0, out))
SIZED(cusparseSpSV_bufferSize, NNZ * 8, 1 << 20, (P, int, P, P, P, P, int, int, P, Z),
      (h, 0, p, m, x, x, R_32F, 0, p, out))
SIZED(cusparseSpSM_bufferSize, NNZ * 8 + ROWS * COLS * 4, 16 << 20, (P, int, int, P, P, P, P, int, int, P, Z),
      (h, 0, 0, p, m, d, d, R_32F, 0, p, out))
SIZED(cusparseSpVV_bufferSize, 4, 1 << 16, (P, int, P, P, P, int, Z), (h, 0, s, x, p, R_32F, out))
SIZED(cusparseSparseToDense_bufferSize, 1, 1 << 20, (P, P, P, int, Z), (h, m, d, 0, out))
SIZED(cusparseDenseToSparse_bufferSize, ROWS * 4, 1 << 20, (P, P, P, int, Z), (h, d, m, 0, out))
SIZED(cusparseSpGEAM_bufferSize, ROWS * 4, 1 << 20, (P, int, int, P, P, P, P, P, int, int, P, Z),
      (h, 0, 0, p, m, p, m, m, R_32F, 0, p, out))

SNIPPET(cusparseSpVV)
{
    void *x = new_spvec(), *y = new_dnvec();
    double result[2] = {-1, -1};
    CHECK(CALL(int, cusparseSpVV, (P, int, P, P, P, int, P), (lib(0), 0, x, y, result, R_64F, NULL)) == OK);
    CHECK(result[0] == 0 && result[1] == -1);
    result[0] = -1;
    CHECK(CALL(int, cusparseSpVV, (P, int, P, P, P, int, P), (lib(1), 0, x, y, result, R_64F, NULL)) == OK);
    CHECK(result[0] == -1);
    CALL(int, cusparseDestroySpVec, (P), (x));
    CALL(int, cusparseDestroyDnVec, (P), (y));
}

SNIPPET(cusparseDenseToSparse_analysis)
{
    void *m = new_csr(ROWS, COLS, 0), *d = new_dnmat();
    CHECK(CALL(int, cusparseDenseToSparse_analysis, (P, P, P, int, P), (lib(0), d, m, 0, NULL)) == OK);
    check_size(m, CSR, ROWS, COLS, ROWS * COLS);
    CALL(int, cusparseDestroySpMat, (P), (m));
    CALL(int, cusparseDestroyDnMat, (P), (d));
}

/* ---- sparse times sparse, as PyTorch calls it ---- */

typedef int spgemm_step(P, int, int, P, P, P, P, P, int, int, P, size_t *, P);
enum { ALG1 = 3, ALG2 = 4 };

static void multiply(int alg, size_t *size1, size_t *size2)
{
    float one = 1, zero = 0;
    void *a = new_csr(1000, 500, 5000), *b = new_csr(500, 800, 1000), *c = new_csr(1000, 800, 0), *descr = NULL;
    spgemm_step *estimate = (spgemm_step *)snippet_symbol("cusparseSpGEMM_workEstimation");
    spgemm_step *compute = (spgemm_step *)snippet_symbol("cusparseSpGEMM_compute");
    int64_t products = -1;
    *size1 = *size2 = SIZE_MAX;
    CHECK(CALL(int, cusparseSpGEMM_createDescr, (P *), (&descr)) == OK);
    CHECK(descr != NULL);
    CHECK(estimate(lib(0), 0, 0, &one, a, b, &zero, c, R_32F, alg, descr, size1, NULL) == OK);
    CHECK(estimate(lib(0), 0, 0, &one, a, b, &zero, c, R_32F, alg, descr, size1, A) == OK);
    CHECK(compute(lib(0), 0, 0, &one, a, b, &zero, c, R_32F, alg, descr, size2, NULL) == OK);
    CHECK(compute(lib(0), 0, 0, &one, a, b, &zero, c, R_32F, alg, descr, size2, A) == OK);
    CHECK(CALL(int, cusparseSpGEMM_getNumProducts, (P, I *), (descr, &products)) == OK);
    CHECK(products == 10000); /* 5000 entries meet rows of 2 */
    check_size(c, CSR, 1000, 800, 5000);
    CHECK(CALL(int, cusparseSpGEMM_destroyDescr, (P), (descr)) == OK);
    CALL(int, cusparseDestroySpMat, (P), (a));
    CALL(int, cusparseDestroySpMat, (P), (b));
    CALL(int, cusparseDestroySpMat, (P), (c));
}

#define SPGEMM(symbol)                               \
    SNIPPET(symbol)                                  \
    {                                                \
        size_t size1, size2, chunked;                \
        multiply(ALG1, &size1, &size2);              \
        CHECK(size1 >= 1000 * 4 && size1 < 1 << 20); \
        CHECK(size2 == 10000 * 8);                   \
        multiply(ALG2, &size1, &chunked);            \
        CHECK(chunked > 0 && chunked < size2);       \
    }
SPGEMM(cusparseSpGEMM_createDescr)
SPGEMM(cusparseSpGEMM_destroyDescr)
SPGEMM(cusparseSpGEMM_workEstimation)
SPGEMM(cusparseSpGEMM_compute)
SPGEMM(cusparseSpGEMM_getNumProducts)

SNIPPET(cusparseSpGEMM_estimateMemory)
{
    float one = 1, zero = 0;
    size_t size1 = 0, size2 = SIZE_MAX, size3 = SIZE_MAX;
    void *a = new_csr(1000, 500, 5000), *b = new_csr(500, 800, 1000), *c = new_csr(1000, 800, 0), *descr = NULL;
    CALL(int, cusparseSpGEMM_createDescr, (P *), (&descr));
    CALL(int, cusparseSpGEMM_workEstimation, (P, int, int, P, P, P, P, P, int, int, P, Z, P),
         (lib(0), 0, 0, &one, a, b, &zero, c, R_32F, ALG2, descr, &size1, NULL));
    CHECK(CALL(int, cusparseSpGEMM_estimateMemory, (P, int, int, P, P, P, P, P, int, int, P, float, Z, P, Z),
               (lib(0), 0, 0, &one, a, b, &zero, c, R_32F, ALG2, descr, 0.5f, &size3, NULL, &size2)) == OK);
    CHECK(size2 == 40000 && size3 < 1 << 20);
    CALL(int, cusparseSpGEMM_destroyDescr, (P), (descr));
    CALL(int, cusparseDestroySpMat, (P), (a));
    CALL(int, cusparseDestroySpMat, (P), (b));
    CALL(int, cusparseDestroySpMat, (P), (c));
}

static void multiply_again(void)
{
    size_t size[6] = {0, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    void *a = new_csr(1000, 500, 5000), *b = new_csr(500, 800, 1000), *c = new_csr(1000, 800, 0), *descr = NULL;
    CALL(int, cusparseSpGEMM_createDescr, (P *), (&descr));
    CHECK(CALL(int, cusparseSpGEMMreuse_workEstimation, (P, int, int, P, P, P, int, P, Z, P),
               (lib(0), 0, 0, a, b, c, 0, descr, &size[1], NULL)) == OK);
    CHECK(CALL(int, cusparseSpGEMMreuse_nnz, (P, int, int, P, P, P, int, P, Z, P, Z, P, Z, P),
               (lib(0), 0, 0, a, b, c, 0, descr, &size[2], NULL, &size[3], NULL, &size[4], NULL)) == OK);
    CHECK(CALL(int, cusparseSpGEMMreuse_copy, (P, int, int, P, P, P, int, P, Z, P),
               (lib(0), 0, 0, a, b, c, 0, descr, &size[5], NULL)) == OK);
    for (int i = 1; i < 6; i++)
        CHECK(size[i] > 0 && size[i] < 1 << 20);
    check_size(c, CSR, 1000, 800, 5000);
    CALL(int, cusparseSpGEMM_destroyDescr, (P), (descr));
    CALL(int, cusparseDestroySpMat, (P), (a));
    CALL(int, cusparseDestroySpMat, (P), (b));
    CALL(int, cusparseDestroySpMat, (P), (c));
}

SNIPPET(cusparseSpGEMMreuse_workEstimation)
{
    multiply_again();
}
SNIPPET(cusparseSpGEMMreuse_nnz)
{
    multiply_again();
}
SNIPPET(cusparseSpGEMMreuse_copy)
{
    multiply_again();
}

SNIPPET(cusparseSpGEAM_nnz)
{
    void *a = new_csr(100, 50, 3000), *b = new_csr(100, 50, 4000), *c = new_csr(100, 50, 0);
    CHECK(CALL(int, cusparseSpGEAM_nnz, (P, int, int, P, P, P, P, P, int, int, P, P),
               (lib(0), 0, 0, NULL, a, NULL, b, c, R_32F, 0, NULL, NULL)) == OK);
    check_size(c, CSR, 100, 50, 5000); /* no more than fit */
    CALL(int, cusparseDestroySpMat, (P), (a));
    CALL(int, cusparseDestroySpMat, (P), (b));
    CALL(int, cusparseDestroySpMat, (P), (c));
}

SNIPPET(cusparseXcsrgeam2Nnz)
{
    int total = -1;
    CHECK(CALL(int, cusparseXcsrgeam2Nnz, (P, int, int, P, int, P, P, P, int, P, P, P, P, int *, P),
               (lib(0), ROWS, COLS, NULL, 70, NULL, NULL, NULL, 30, NULL, NULL, NULL, NULL, &total, NULL)) == OK);
    CHECK(total == 100);
    total = -1;
    CHECK(CALL(int, cusparseXcsrgeam2Nnz, (P, int, int, P, int, P, P, P, int, P, P, P, P, int *, P),
               (lib(1), ROWS, COLS, NULL, 70, NULL, NULL, NULL, 30, NULL, NULL, NULL, NULL, &total, NULL)) == OK);
    CHECK(total == -1); /* a device pointer then */
}

/* ---- older routines ---- */

#define ZERO_PIVOT(symbol)                                                        \
    SNIPPET(symbol)                                                               \
    {                                                                             \
        int position = 7;                                                         \
        CHECK(CALL(int, symbol, (P, P, int *), (lib(0), NULL, &position)) == OK); \
        CHECK(position == -1);                                                    \
        position = 7;                                                             \
        CHECK(CALL(int, symbol, (P, P, int *), (lib(1), NULL, &position)) == OK); \
        CHECK(position == 7);                                                     \
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
        void *h = lib(0), *p = NULL;                     \
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
