/*
 * Buffer sizes of the generic operations, computed from the descriptors.
 *
 * NVIDIA documents the queries, not the sizes. The balanced kernels for CSR and COO keep one partial
 * sum with its row for each tile of work; triangular solves keep a copy of the matrix, which is why the
 * library offers to update its values after the analysis; reductions keep a partial sum per block.
 */
#include "shim/cusparse/cusparse.h"
#include "shim/cusparse/datatype.h"

enum { TILE = 2048, PARTIALS_MAX = 1024, THREADS = 256 };

static int put_size(size_t *out, size_t bytes)
{
    if (!out)
        return SPARSE_INVALID_VALUE;
    *out = bytes;
    return SPARSE_OK;
}

static size_t tile_bytes(const struct plm_spmat *mat, size_t per_tile)
{
    int64_t tiles = (mat->rows + mat->nnz) / TILE + 1;
    return plm_shim_size_mul(tiles, per_tile);
}

PLM_API int cusparseSpMV_bufferSize(void *handle, int op, const void *alpha, const struct plm_spmat *a,
                                    const struct plm_dnvec *x, const void *beta, struct plm_dnvec *y, int compute,
                                    int alg, size_t *bytes)
{
    if (!a)
        return SPARSE_INVALID_VALUE;
    return put_size(bytes, tile_bytes(a, sizeof(int64_t) + plm_datatype_bytes(compute)));
}

PLM_API int cusparseSpMM_bufferSize(void *handle, int op_a, int op_b, const void *alpha, const struct plm_spmat *a,
                                    const struct plm_dnmat *b, const void *beta, struct plm_dnmat *c, int compute,
                                    int alg, size_t *bytes)
{
    if (!a || !b || !c)
        return SPARSE_INVALID_VALUE;
    return put_size(bytes, tile_bytes(a, sizeof(int64_t) + plm_datatype_bytes(compute)));
}

static size_t solve_bytes(const struct plm_spmat *a)
{
    enum { ROW_STATE = 16 }; /* level, dependency count and order of a row */
    size_t entry = plm_datatype_bytes(a->value_type) + plm_sparse_index_bytes(a->inner_type);
    return plm_shim_size_add(plm_shim_size_mul(a->nnz, entry), plm_shim_size_mul(a->rows, ROW_STATE));
}

PLM_API int cusparseSpSV_bufferSize(void *handle, int op, const void *alpha, const struct plm_spmat *a,
                                    const struct plm_dnvec *x, struct plm_dnvec *y, int compute, int alg, void *descr,
                                    size_t *bytes)
{
    if (!a)
        return SPARSE_INVALID_VALUE;
    return put_size(bytes, solve_bytes(a));
}

/* The right-hand sides are kept too: they may be transposed, and may be the same memory as the result. */
PLM_API int cusparseSpSM_bufferSize(void *handle, int op_a, int op_b, const void *alpha, const struct plm_spmat *a,
                                    const struct plm_dnmat *b, struct plm_dnmat *c, int compute, int alg, void *descr,
                                    size_t *bytes)
{
    if (!a || !b || !c)
        return SPARSE_INVALID_VALUE;
    return put_size(
        bytes, plm_shim_size_add(solve_bytes(a),
                                 plm_shim_size_mul(c->rows, plm_shim_size_mul(c->cols, plm_datatype_bytes(compute)))));
}

PLM_API int cusparseSpVV_bufferSize(void *handle, int op, const struct plm_spvec *x, const struct plm_dnvec *y,
                                    const void *result, int compute, size_t *bytes)
{
    int64_t partials;
    if (!x)
        return SPARSE_INVALID_VALUE;
    partials = x->nnz / THREADS + 1;
    return put_size(bytes,
                    plm_shim_size_mul(partials < PARTIALS_MAX ? partials : PARTIALS_MAX, plm_datatype_bytes(compute)));
}

/* The dot product goes to the host in host pointer mode; nothing was computed, so it is 0. */
PLM_API int cusparseSpVV(const struct plm_sparse_handle *handle, int op, const struct plm_spvec *x,
                         const struct plm_dnvec *y, void *result, int compute, void *buffer)
{
    if (!handle)
        return SPARSE_NOT_INITIALIZED;
    if (!result)
        return SPARSE_INVALID_VALUE;
    if (handle->pointer_mode == SPARSE_POINTER_HOST)
        for (size_t i = 0; i < plm_datatype_bytes(compute); i++)
            ((unsigned char *)result)[i] = 0;
    SPARSE_LAUNCH("cusparseSpVV");
    return SPARSE_OK;
}

PLM_API int cusparseSparseToDense_bufferSize(void *handle, const struct plm_spmat *a, struct plm_dnmat *b, int alg,
                                             size_t *bytes)
{
    if (!a)
        return SPARSE_INVALID_VALUE;
    return put_size(bytes, tile_bytes(a, sizeof(int64_t)));
}

/* A count for each row or column, and its prefix sum. */
PLM_API int cusparseDenseToSparse_bufferSize(void *handle, const struct plm_dnmat *a, struct plm_spmat *b, int alg,
                                             size_t *bytes)
{
    if (!a || !b)
        return SPARSE_INVALID_VALUE;
    return put_size(bytes, plm_shim_size_mul((b->format == SPARSE_CSC ? a->cols : a->rows) + 1, 2 * sizeof(int64_t)));
}

/* How many elements are not zero only the data would tell: the matrix gets the upper bound, every
   element, unless the program has given a number (Blocked-ELL has its pattern already). */
PLM_API int cusparseDenseToSparse_analysis(void *handle, const struct plm_dnmat *a, struct plm_spmat *b, int alg,
                                           void *buffer)
{
    if (!a || !b)
        return SPARSE_INVALID_VALUE;
    if (b->nnz == 0)
        b->nnz = (int64_t)(plm_shim_size_mul(a->rows, plm_shim_size_mul(a->cols, 1)) & INT64_MAX);
    SPARSE_LAUNCH("cusparseDenseToSparse_analysis");
    return SPARSE_OK;
}
