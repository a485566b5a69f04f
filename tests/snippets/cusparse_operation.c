/* cuSPARSE: operations of the generic interface. */
#include "cusparse.h"

/* ---- buffer sizes of the generic operations: written and plausible ---- */

#define SIZED(symbol, least, most, types, args)                                                 \
    SNIPPET(symbol)                                                                             \
    {                                                                                           \
        void *h = sparse_lib(0), *m = sparse_new_csr(ROWS, COLS, NNZ), *d = sparse_new_dnmat(); \
        void *x = sparse_new_dnvec(), *s = sparse_new_spvec(), *p = NULL;                       \
        size_t bytes = SIZE_MAX, *out = &bytes;                                                 \
        (void)p;                                                                                \
        CHECK(CALL(int, symbol, types, args) == OK);                                            \
        CHECK(bytes >= (least) && bytes <= (most));                                             \
        CALL(int, cusparseDestroySpMat, (P), (m));                                              \
        CALL(int, cusparseDestroyDnMat, (P), (d));                                              \
        CALL(int, cusparseDestroyDnVec, (P), (x));                                              \
        CALL(int, cusparseDestroySpVec, (P), (s));                                              \
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
    void *x = sparse_new_spvec(), *y = sparse_new_dnvec();
    double result[2] = {-1, -1};
    CHECK(CALL(int, cusparseSpVV, (P, int, P, P, P, int, P), (sparse_lib(0), 0, x, y, result, R_64F, NULL)) == OK);
    CHECK(result[0] == 0 && result[1] == -1);
    result[0] = -1;
    CHECK(CALL(int, cusparseSpVV, (P, int, P, P, P, int, P), (sparse_lib(1), 0, x, y, result, R_64F, NULL)) == OK);
    CHECK(result[0] == -1);
    CALL(int, cusparseDestroySpVec, (P), (x));
    CALL(int, cusparseDestroyDnVec, (P), (y));
}

SNIPPET(cusparseDenseToSparse_analysis)
{
    void *m = sparse_new_csr(ROWS, COLS, 0), *d = sparse_new_dnmat();
    CHECK(CALL(int, cusparseDenseToSparse_analysis, (P, P, P, int, P), (sparse_lib(0), d, m, 0, NULL)) == OK);
    sparse_check_size(m, CSR, ROWS, COLS, ROWS * COLS);
    CALL(int, cusparseDestroySpMat, (P), (m));
    CALL(int, cusparseDestroyDnMat, (P), (d));
}

/* ---- sparse times sparse, as PyTorch calls it ---- */

typedef int spgemm_step(P, int, int, P, P, P, P, P, int, int, P, size_t *, P);
enum { ALG1 = 3, ALG2 = 4 };

static void multiply(int alg, size_t *size1, size_t *size2)
{
    float one = 1, zero = 0;
    void *a = sparse_new_csr(1000, 500, 5000), *b = sparse_new_csr(500, 800, 1000), *c = sparse_new_csr(1000, 800, 0),
         *descr = NULL;
    spgemm_step *estimate = (spgemm_step *)snippet_symbol("cusparseSpGEMM_workEstimation");
    spgemm_step *compute = (spgemm_step *)snippet_symbol("cusparseSpGEMM_compute");
    int64_t products = -1;
    *size1 = *size2 = SIZE_MAX;
    CHECK(CALL(int, cusparseSpGEMM_createDescr, (P *), (&descr)) == OK);
    CHECK(descr != NULL);
    CHECK(estimate(sparse_lib(0), 0, 0, &one, a, b, &zero, c, R_32F, alg, descr, size1, NULL) == OK);
    CHECK(estimate(sparse_lib(0), 0, 0, &one, a, b, &zero, c, R_32F, alg, descr, size1, A) == OK);
    CHECK(compute(sparse_lib(0), 0, 0, &one, a, b, &zero, c, R_32F, alg, descr, size2, NULL) == OK);
    CHECK(compute(sparse_lib(0), 0, 0, &one, a, b, &zero, c, R_32F, alg, descr, size2, A) == OK);
    CHECK(CALL(int, cusparseSpGEMM_getNumProducts, (P, I *), (descr, &products)) == OK);
    CHECK(products == 10000); /* 5000 entries meet rows of 2 */
    sparse_check_size(c, CSR, 1000, 800, 5000);
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
    void *a = sparse_new_csr(1000, 500, 5000), *b = sparse_new_csr(500, 800, 1000), *c = sparse_new_csr(1000, 800, 0),
         *descr = NULL;
    CALL(int, cusparseSpGEMM_createDescr, (P *), (&descr));
    CALL(int, cusparseSpGEMM_workEstimation, (P, int, int, P, P, P, P, P, int, int, P, Z, P),
         (sparse_lib(0), 0, 0, &one, a, b, &zero, c, R_32F, ALG2, descr, &size1, NULL));
    CHECK(CALL(int, cusparseSpGEMM_estimateMemory, (P, int, int, P, P, P, P, P, int, int, P, float, Z, P, Z),
               (sparse_lib(0), 0, 0, &one, a, b, &zero, c, R_32F, ALG2, descr, 0.5f, &size3, NULL, &size2)) == OK);
    CHECK(size2 == 40000 && size3 < 1 << 20);
    CALL(int, cusparseSpGEMM_destroyDescr, (P), (descr));
    CALL(int, cusparseDestroySpMat, (P), (a));
    CALL(int, cusparseDestroySpMat, (P), (b));
    CALL(int, cusparseDestroySpMat, (P), (c));
}

static void multiply_again(void)
{
    size_t size[6] = {0, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    void *a = sparse_new_csr(1000, 500, 5000), *b = sparse_new_csr(500, 800, 1000), *c = sparse_new_csr(1000, 800, 0),
         *descr = NULL;
    CALL(int, cusparseSpGEMM_createDescr, (P *), (&descr));
    CHECK(CALL(int, cusparseSpGEMMreuse_workEstimation, (P, int, int, P, P, P, int, P, Z, P),
               (sparse_lib(0), 0, 0, a, b, c, 0, descr, &size[1], NULL)) == OK);
    CHECK(CALL(int, cusparseSpGEMMreuse_nnz, (P, int, int, P, P, P, int, P, Z, P, Z, P, Z, P),
               (sparse_lib(0), 0, 0, a, b, c, 0, descr, &size[2], NULL, &size[3], NULL, &size[4], NULL)) == OK);
    CHECK(CALL(int, cusparseSpGEMMreuse_copy, (P, int, int, P, P, P, int, P, Z, P),
               (sparse_lib(0), 0, 0, a, b, c, 0, descr, &size[5], NULL)) == OK);
    for (int i = 1; i < 6; i++)
        CHECK(size[i] > 0 && size[i] < 1 << 20);
    sparse_check_size(c, CSR, 1000, 800, 5000);
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
    void *a = sparse_new_csr(100, 50, 3000), *b = sparse_new_csr(100, 50, 4000), *c = sparse_new_csr(100, 50, 0);
    CHECK(CALL(int, cusparseSpGEAM_nnz, (P, int, int, P, P, P, P, P, int, int, P, P),
               (sparse_lib(0), 0, 0, NULL, a, NULL, b, c, R_32F, 0, NULL, NULL)) == OK);
    sparse_check_size(c, CSR, 100, 50, 5000); /* no more than fit */
    CALL(int, cusparseDestroySpMat, (P), (a));
    CALL(int, cusparseDestroySpMat, (P), (b));
    CALL(int, cusparseDestroySpMat, (P), (c));
}

SNIPPET(cusparseXcsrgeam2Nnz)
{
    int total = -1;
    CHECK(CALL(int, cusparseXcsrgeam2Nnz, (P, int, int, P, int, P, P, P, int, P, P, P, P, int *, P),
               (sparse_lib(0), ROWS, COLS, NULL, 70, NULL, NULL, NULL, 30, NULL, NULL, NULL, NULL, &total, NULL)) ==
          OK);
    CHECK(total == 100);
    total = -1;
    CHECK(CALL(int, cusparseXcsrgeam2Nnz, (P, int, int, P, int, P, P, P, int, P, P, P, P, int *, P),
               (sparse_lib(1), ROWS, COLS, NULL, 70, NULL, NULL, NULL, 30, NULL, NULL, NULL, NULL, &total, NULL)) ==
          OK);
    CHECK(total == -1); /* a device pointer then */
}
