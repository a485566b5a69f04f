/* cuSPARSE: descriptors of the generic interface and sparse matrices. */
#include "cusparse.h"

/* ---- descriptors of the generic interface: what goes in comes out ---- */

void *sparse_new_dnvec(void)
{
    void *d = NULL;
    CALL(int, cusparseCreateDnVec, (P *, I, P, int), (&d, ROWS, A, R_64F));
    return d;
}

void *sparse_new_dnmat(void)
{
    void *d = NULL;
    CALL(int, cusparseCreateDnMat, (P *, I, I, I, P, int, int), (&d, ROWS, COLS, COLS, A, R_32F, ORDER_ROW));
    return d;
}

void *sparse_new_spvec(void)
{
    void *d = NULL;
    CALL(int, cusparseCreateSpVec, (P *, I, I, P, P, int, int, int),
         (&d, ROWS, NNZ, A, B, INDEX_32I, ONE_BASED, R_32F));
    return d;
}

void *sparse_new_csr(int64_t rows, int64_t cols, int64_t nnz)
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
DESTROY(DnVec, sparse_new_dnvec())
DESTROY(DnMat, sparse_new_dnmat())
DESTROY(SpVec, sparse_new_spvec())
DESTROY(SpMat, sparse_new_csr(ROWS, COLS, NNZ))

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
VALUES(DnVec, sparse_new_dnvec(), A, cusparseDestroyDnVec)
VALUES(DnMat, sparse_new_dnmat(), A, cusparseDestroyDnMat)
VALUES(SpVec, sparse_new_spvec(), B, cusparseDestroySpVec)
VALUES(SpMat, sparse_new_csr(ROWS, COLS, NNZ), C, cusparseDestroySpMat)

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
    void *d = sparse_new_dnmat();
    int batches = -1;
    int64_t stride = -1;
    CHECK(CALL(int, cusparseDnMatSetStridedBatch, (P, int, I), (d, 8, 4096)) == OK);
    CALL(int, cusparseDnMatGetStridedBatch, (P, int *, I *), (d, &batches, &stride));
    CHECK(batches == 8 && stride == 4096);
    CALL(int, cusparseDestroyDnMat, (P), (d));
}

SNIPPET(cusparseDnMatGetStridedBatch)
{
    void *d = sparse_new_dnmat();
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
    void *d = sparse_new_spvec();
    int base = -1;
    CHECK(CALL(int, cusparseSpVecGetIndexBase, (P, int *), (d, &base)) == OK);
    CHECK(base == ONE_BASED);
    CALL(int, cusparseDestroySpVec, (P), (d));
}

/* ---- sparse matrices ---- */

void sparse_check_size(void *d, int format, int64_t rows, int64_t cols, int64_t nnz)
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
        sparse_check_size(d, format, ROWS, COLS, NNZ);                                             \
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
        sparse_check_size(d, COO, ROWS, COLS, NNZ);                                      \
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

#define BLOCKED(Create, Get)                                                                                   \
    static void check_##Get(void)                                                                              \
    {                                                                                                          \
        void *d = NULL, *c = NULL, *v = NULL;                                                                  \
        int64_t rows = -1, cols = -1, block = -1, ell = -1;                                                    \
        int index = -1, base = -1, type = -1;                                                                  \
        CHECK(CALL(int, Create, (P *, I, I, I, I, P, P, int, int, int),                                        \
                   (&d, ROWS, COLS, 16, 64, A, B, INDEX_32I, ONE_BASED, R_64F)) == OK);                        \
        CHECK(CALL(int, Get, (P, I *, I *, I *, I *, P *, P *, int *, int *, int *),                           \
                   (d, &rows, &cols, &block, &ell, &c, &v, &index, &base, &type)) == OK);                      \
        CHECK(rows == ROWS && cols == COLS && block == 16 && ell == 64 && c == A && v == B);                   \
        CHECK(index == INDEX_32I && base == ONE_BASED && type == R_64F);                                       \
        sparse_check_size(d, BLOCKED_ELL, ROWS, COLS, ROWS * 64);                                              \
        CALL(int, cusparseDestroySpMat, (P), (d));                                                             \
        CHECK(CALL(int, Create, (P *, I, I, I, I, P, P, int, int, int),                                        \
                   (&d, INT64_MAX, COLS, 16, INT64_MAX, A, B, INDEX_32I, ONE_BASED, R_64F)) == INVALID_VALUE); \
    }                                                                                                          \
    SNIPPET(Create)                                                                                            \
    {                                                                                                          \
        check_##Get();                                                                                         \
    }                                                                                                          \
    SNIPPET(Get)                                                                                               \
    {                                                                                                          \
        check_##Get();                                                                                         \
    }
BLOCKED(cusparseCreateBlockedEll, cusparseBlockedEllGet)
BLOCKED(cusparseCreateConstBlockedEll, cusparseConstBlockedEllGet)

#define BLOCK_ROWS(Create)                                                                             \
    SNIPPET(Create)                                                                                    \
    {                                                                                                  \
        void *d = NULL;                                                                                \
        CHECK(CALL(int, Create, (P *, I, I, I, I, I, P, P, P, int, int, int, int, int),                \
                   (&d, 10, 20, 30, 4, 8, A, B, C, INDEX_32I, INDEX_32I, 0, R_32F, ORDER_ROW)) == OK); \
        sparse_check_size(d, BSR, 40, 160, 30 * 32);                                                   \
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
        sparse_check_size(d, SLICED_ELL, ROWS, COLS, NNZ);                                               \
        CALL(int, cusparseDestroySpMat, (P), (d));                                                       \
    }
SLICED(cusparseCreateSlicedEll)
SLICED(cusparseCreateConstSlicedEll)

SNIPPET(cusparseSpMatGetSize)
{
    void *d = sparse_new_csr(ROWS, COLS, NNZ);
    sparse_check_size(d, CSR, ROWS, COLS, NNZ);
    CHECK(CALL(int, cusparseSpMatGetSize, (P, I *, I *, I *), (NULL, NULL, NULL, NULL)) == INVALID_VALUE);
    CALL(int, cusparseDestroySpMat, (P), (d));
}

SNIPPET(cusparseSpMatGetFormat)
{
    void *d = sparse_new_csr(ROWS, COLS, NNZ);
    sparse_check_size(d, CSR, ROWS, COLS, NNZ);
    CALL(int, cusparseDestroySpMat, (P), (d));
}

SNIPPET(cusparseSpMatGetIndexBase)
{
    void *d = sparse_new_csr(ROWS, COLS, NNZ);
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
    check_batches(sparse_new_csr(ROWS, COLS, NNZ), 1);
}

SNIPPET(cusparseCooSetStridedBatch)
{
    void *d = sparse_new_csr(ROWS, COLS, NNZ);
    CHECK(CALL(int, cusparseCooSetStridedBatch, (P, int, I), (d, 5, NNZ)) == OK);
    check_batches(d, 5);
}

SNIPPET(cusparseCsrSetStridedBatch)
{
    void *d = sparse_new_csr(ROWS, COLS, NNZ);
    CHECK(CALL(int, cusparseCsrSetStridedBatch, (P, int, I, I), (d, 6, ROWS + 1, NNZ)) == OK);
    check_batches(d, 6);
}

SNIPPET(cusparseBsrSetStridedBatch)
{
    void *d = sparse_new_csr(ROWS, COLS, NNZ);
    CHECK(CALL(int, cusparseBsrSetStridedBatch, (P, int, I, I, I), (d, 7, ROWS + 1, NNZ, NNZ)) == OK);
    check_batches(d, 7);
}

#define SET_POINTERS(Set)                                                                        \
    SNIPPET(Set)                                                                                 \
    {                                                                                            \
        void *d = sparse_new_csr(ROWS, COLS, NNZ), *o = NULL, *i = NULL, *v = NULL;              \
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
    void *d = sparse_new_csr(ROWS, COLS, NNZ);
    int value = 1, back = -1;
    CHECK(CALL(int, cusparseSpMatSetAttribute, (P, int, P, size_t), (d, 0, &value, sizeof value)) == OK);
    CALL(int, cusparseSpMatGetAttribute, (P, int, P, size_t), (d, 0, &back, sizeof back));
    CHECK(back == 1);
    CHECK(CALL(int, cusparseSpMatSetAttribute, (P, int, P, size_t), (d, 9, &value, sizeof value)) == INVALID_VALUE);
    CALL(int, cusparseDestroySpMat, (P), (d));
}

SNIPPET(cusparseSpMatGetAttribute)
{
    void *d = sparse_new_csr(ROWS, COLS, NNZ);
    int back = -1;
    CHECK(CALL(int, cusparseSpMatGetAttribute, (P, int, P, size_t), (d, 1, &back, sizeof back)) == OK);
    CHECK(back == 0);
    CALL(int, cusparseDestroySpMat, (P), (d));
}
