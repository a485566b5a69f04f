/*
 * Sparse times sparse and sparse plus sparse, where the size of the result is an output.
 *
 * How many elements the product has only the data would tell. The shim says: as many as the larger
 * operand, which is what multiplying by a matrix with about one entry a row gives; a note in the symbol
 * table says so too. Buffers follow the documented strategy of keeping all intermediate products
 * (ALG1), or a fraction of them (ALG2, ALG3).
 */
#include <stdlib.h>

#include "shim/cusparse/cusparse.h"
#include "shim/cusparse/datatype.h"

enum { ALG2 = 4, ALG3 = 5 }; /* cusparseSpGEMMAlg_t; the others keep all products */

struct spgemm {
    int64_t products;
};

PLM_API int cusparseSpGEMM_createDescr(struct spgemm **out)
{
    if (!out)
        return SPARSE_INVALID_VALUE;
    *out = calloc(1, sizeof **out);
    return *out ? SPARSE_OK : SPARSE_ALLOC_FAILED;
}

PLM_API int cusparseSpGEMM_destroyDescr(struct spgemm *descr)
{
    free(descr);
    return SPARSE_OK;
}

/* Every entry of A meets one row of B; B's rows are taken to be equally full. */
static int64_t products_of(const struct plm_spmat *a, const struct plm_spmat *b)
{
    int64_t per_row = b->rows > 0 ? (b->nnz + b->rows - 1) / b->rows : 0;
    size_t products = plm_shim_size_mul(a->nnz, (size_t)per_row);
    return products > INT64_MAX / 64 ? INT64_MAX / 64 : (int64_t)products;
}

static size_t product_bytes(const struct plm_spmat *c, int type)
{
    return plm_datatype_bytes(type) + plm_sparse_index_bytes(c->inner_type);
}

/* No matrix has more entries than places. */
static int64_t at_most_full(int64_t rows, int64_t cols, size_t nnz)
{
    size_t all = plm_shim_size_mul(rows, (size_t)(cols > 0 ? cols : 0));
    return (int64_t)((nnz < all ? nnz : all) & INT64_MAX);
}

static void set_result(struct plm_spmat *c, const struct plm_spmat *a, const struct plm_spmat *b)
{
    c->nnz = at_most_full(c->rows, c->cols, (size_t)(a->nnz > b->nnz ? a->nnz : b->nnz));
}

/* Called twice: without a buffer it tells the size, with one it works. */
static int step(size_t *size, const void *buffer, size_t bytes)
{
    if (!size)
        return SPARSE_INVALID_VALUE;
    if (!buffer)
        *size = bytes;
    return SPARSE_OK;
}

PLM_API int cusparseSpGEMM_workEstimation(void *handle, int op_a, int op_b, const void *alpha,
                                          const struct plm_spmat *a, const struct plm_spmat *b, const void *beta,
                                          struct plm_spmat *c, int compute, int alg, struct spgemm *descr, size_t *size,
                                          void *buffer)
{
    if (!a || !b || !c || !descr)
        return SPARSE_INVALID_VALUE;
    descr->products = products_of(a, b);
    if (buffer)
        SPARSE_LAUNCH("cusparseSpGEMM_workEstimation");
    /* The number of products of each row of A, and its prefix sum. */
    return step(size, buffer, plm_shim_size_mul(a->rows + 1, 2 * sizeof(int64_t)));
}

PLM_API int cusparseSpGEMM_getNumProducts(const struct spgemm *descr, int64_t *products)
{
    if (!descr || !products)
        return SPARSE_INVALID_VALUE;
    *products = descr->products;
    return SPARSE_OK;
}

static size_t compute_bytes(const struct spgemm *descr, const struct plm_spmat *c, int compute, int alg, float fraction)
{
    size_t all = plm_shim_size_mul(descr->products, product_bytes(c, compute));
    if (alg != ALG2 && alg != ALG3)
        return all;
    if (!(fraction > 0 && fraction <= 1))
        fraction = 0.2f; /* assumed */
    return (size_t)((double)all * (double)fraction);
}

PLM_API int cusparseSpGEMM_estimateMemory(void *handle, int op_a, int op_b, const void *alpha,
                                          const struct plm_spmat *a, const struct plm_spmat *b, const void *beta,
                                          struct plm_spmat *c, int compute, int alg, struct spgemm *descr,
                                          float fraction, size_t *size3, void *buffer3, size_t *size2)
{
    if (!a || !b || !c || !descr)
        return SPARSE_INVALID_VALUE;
    if (buffer3)
        SPARSE_LAUNCH("cusparseSpGEMM_estimateMemory");
    SPARSE_PUT(size2, compute_bytes(descr, c, compute, alg, fraction));
    return step(size3, buffer3, plm_shim_size_mul(a->rows + 1, sizeof(int64_t)));
}

PLM_API int cusparseSpGEMM_compute(void *handle, int op_a, int op_b, const void *alpha, const struct plm_spmat *a,
                                   const struct plm_spmat *b, const void *beta, struct plm_spmat *c, int compute,
                                   int alg, struct spgemm *descr, size_t *size, void *buffer)
{
    if (!a || !b || !c || !descr)
        return SPARSE_INVALID_VALUE;
    set_result(c, a, b);
    if (buffer)
        SPARSE_LAUNCH("cusparseSpGEMM_compute");
    return step(size, buffer, compute_bytes(descr, c, compute, alg, 0));
}

/* ---- the same product again with new values ---- */

PLM_API int cusparseSpGEMMreuse_workEstimation(void *handle, int op_a, int op_b, const struct plm_spmat *a,
                                               const struct plm_spmat *b, struct plm_spmat *c, int alg,
                                               struct spgemm *descr, size_t *size, void *buffer)
{
    if (!a || !b || !c || !descr)
        return SPARSE_INVALID_VALUE;
    descr->products = products_of(a, b);
    if (buffer)
        SPARSE_LAUNCH("cusparseSpGEMMreuse_workEstimation");
    return step(size, buffer, plm_shim_size_mul(a->rows + 1, 2 * sizeof(int64_t)));
}

/* Buffer 2 holds the products' columns while they are counted, 3 the result's offsets, 4 where each
   product goes; 3 and 4 live on for the numeric phase. */
PLM_API int cusparseSpGEMMreuse_nnz(void *handle, int op_a, int op_b, const struct plm_spmat *a,
                                    const struct plm_spmat *b, struct plm_spmat *c, int alg, struct spgemm *descr,
                                    size_t *size2, void *buffer2, size_t *size3, void *buffer3, size_t *size4,
                                    void *buffer4)
{
    size_t columns;
    int status;
    if (!a || !b || !c || !descr)
        return SPARSE_INVALID_VALUE;
    columns = plm_shim_size_mul(descr->products, plm_sparse_index_bytes(c->inner_type));
    set_result(c, a, b);
    if (buffer2)
        SPARSE_LAUNCH("cusparseSpGEMMreuse_nnz");
    status = step(size2, buffer2, columns);
    if (status == SPARSE_OK)
        status = step(size3, buffer3, plm_shim_size_mul(a->rows + 1, sizeof(int64_t)));
    if (status == SPARSE_OK)
        status = step(size4, buffer4, columns);
    return status;
}

PLM_API int cusparseSpGEMMreuse_copy(void *handle, int op_a, int op_b, const struct plm_spmat *a,
                                     const struct plm_spmat *b, struct plm_spmat *c, int alg, struct spgemm *descr,
                                     size_t *size, void *buffer)
{
    if (!a || !b || !c || !descr)
        return SPARSE_INVALID_VALUE;
    if (buffer)
        SPARSE_LAUNCH("cusparseSpGEMMreuse_copy");
    return step(size, buffer, plm_shim_size_mul(descr->products, plm_sparse_index_bytes(c->inner_type)));
}

/* ---- sums: the result has at most the entries of both ---- */

PLM_API int cusparseSpGEAM_bufferSize(void *handle, int op_a, int op_b, const void *alpha, const struct plm_spmat *a,
                                      const void *beta, const struct plm_spmat *b, struct plm_spmat *c, int compute,
                                      int alg, void *descr, size_t *size)
{
    if (!a || !b || !c || !size)
        return SPARSE_INVALID_VALUE;
    *size = plm_shim_size_mul(a->rows + 1, sizeof(int64_t));
    return SPARSE_OK;
}

PLM_API int cusparseSpGEAM_nnz(void *handle, int op_a, int op_b, const void *alpha, const struct plm_spmat *a,
                               const void *beta, const struct plm_spmat *b, struct plm_spmat *c, int compute, int alg,
                               void *descr, void *buffer)
{
    if (!a || !b || !c)
        return SPARSE_INVALID_VALUE;
    c->nnz = at_most_full(c->rows, c->cols, plm_shim_size_add((size_t)a->nnz, (size_t)b->nnz));
    SPARSE_LAUNCH("cusparseSpGEAM_nnz");
    return SPARSE_OK;
}

PLM_API int cusparseXcsrgeam2Nnz(const struct plm_sparse_handle *handle, int m, int n, const void *descr_a, int nnz_a,
                                 const int *rows_a, const int *cols_a, const void *descr_b, int nnz_b,
                                 const int *rows_b, const int *cols_b, const void *descr_c, int *rows_c, int *total,
                                 void *work)
{
    int64_t nnz;
    if (!handle)
        return SPARSE_NOT_INITIALIZED;
    if (!total || nnz_a < 0 || nnz_b < 0)
        return SPARSE_INVALID_VALUE;
    nnz = at_most_full(m, n, (size_t)nnz_a + (size_t)nnz_b);
    if (handle->pointer_mode == SPARSE_POINTER_HOST)
        *total = nnz > INT32_MAX ? INT32_MAX : (int)nnz;
    SPARSE_LAUNCH("cusparseXcsrgeam2Nnz");
    return SPARSE_OK;
}
