/* Sparse matrices of the generic interface, in every documented format. */
#include <stdlib.h>

#include "shim/cusparse/cusparse.h"

/* Takes over a filled-in descriptor; every create function ends here. */
static int spmat_create(struct plm_spmat **out, struct plm_spmat filled)
{
    struct plm_spmat *descr;
    if (!out || filled.rows < 0 || filled.cols < 0 || filled.nnz < 0)
        return SPARSE_INVALID_VALUE;
    descr = malloc(sizeof *descr);
    if (!descr)
        return SPARSE_ALLOC_FAILED;
    *descr = filled;
    descr->batches = 1;
    *out = descr;
    return SPARSE_OK;
}

PLM_API int cusparseDestroySpMat(struct plm_spmat *descr)
{
    free(descr);
    return SPARSE_OK;
}

/* ---- creation; the Const names differ only in the C type of the pointers ---- */

#define CREATE_COMPRESSED(Name, kind)                                                                               \
    PLM_API int Name(struct plm_spmat **out, int64_t rows, int64_t cols, int64_t nnz, void *offsets, void *indices, \
                     void *values, int offset_type, int index_type, int base, int value_type)                       \
    {                                                                                                               \
        return spmat_create(out, (struct plm_spmat){.format = kind,                                                 \
                                                    .rows = rows,                                                   \
                                                    .cols = cols,                                                   \
                                                    .nnz = nnz,                                                     \
                                                    .outer = offsets,                                               \
                                                    .inner = indices,                                               \
                                                    .values = values,                                               \
                                                    .outer_type = offset_type,                                      \
                                                    .inner_type = index_type,                                       \
                                                    .base = base,                                                   \
                                                    .value_type = value_type});                                     \
    }
CREATE_COMPRESSED(cusparseCreateCsr, SPARSE_CSR)
CREATE_COMPRESSED(cusparseCreateConstCsr, SPARSE_CSR)
CREATE_COMPRESSED(cusparseCreateCsc, SPARSE_CSC)
CREATE_COMPRESSED(cusparseCreateConstCsc, SPARSE_CSC)

#define CREATE_COO(Name)                                                                                 \
    PLM_API int Name(struct plm_spmat **out, int64_t rows, int64_t cols, int64_t nnz, void *row_indices, \
                     void *col_indices, void *values, int index_type, int base, int value_type)          \
    {                                                                                                    \
        return spmat_create(out, (struct plm_spmat){.format = SPARSE_COO,                                \
                                                    .rows = rows,                                        \
                                                    .cols = cols,                                        \
                                                    .nnz = nnz,                                          \
                                                    .outer = row_indices,                                \
                                                    .inner = col_indices,                                \
                                                    .values = values,                                    \
                                                    .outer_type = index_type,                            \
                                                    .inner_type = index_type,                            \
                                                    .base = base,                                        \
                                                    .value_type = value_type});                          \
    }
CREATE_COO(cusparseCreateCoo)
CREATE_COO(cusparseCreateConstCoo)

#define CREATE_BSR(Name)                                                                                              \
    PLM_API int Name(struct plm_spmat **out, int64_t block_rows, int64_t block_cols, int64_t blocks, int64_t row_dim, \
                     int64_t col_dim, void *offsets, void *indices, void *values, int offset_type, int index_type,    \
                     int base, int value_type, int order)                                                             \
    {                                                                                                                 \
        return spmat_create(out, (struct plm_spmat){.format = SPARSE_BSR,                                             \
                                                    .rows = block_rows * row_dim,                                     \
                                                    .cols = block_cols * col_dim,                                     \
                                                    .nnz = blocks * row_dim * col_dim,                                \
                                                    .block_rows = row_dim,                                            \
                                                    .block_cols = col_dim,                                            \
                                                    .outer = offsets,                                                 \
                                                    .inner = indices,                                                 \
                                                    .values = values,                                                 \
                                                    .outer_type = offset_type,                                        \
                                                    .inner_type = index_type,                                         \
                                                    .base = base,                                                     \
                                                    .value_type = value_type,                                         \
                                                    .order = order});                                                 \
    }
CREATE_BSR(cusparseCreateBsr)
CREATE_BSR(cusparseCreateConstBsr)

/* Negative, which no create function accepts, if a number cannot hold it. */
static int64_t ell_values(int64_t rows, int64_t ell_cols)
{
    int64_t values;
    return __builtin_mul_overflow(rows, ell_cols, &values) ? -1 : values;
}

#define CREATE_BLOCKED_ELL(Name)                                                                          \
    PLM_API int Name(struct plm_spmat **out, int64_t rows, int64_t cols, int64_t block, int64_t ell_cols, \
                     void *col_indices, void *values, int index_type, int base, int value_type)           \
    {                                                                                                     \
        return spmat_create(out, (struct plm_spmat){.format = SPARSE_BLOCKED_ELL,                         \
                                                    .rows = rows,                                         \
                                                    .cols = cols,                                         \
                                                    .nnz = ell_values(rows, ell_cols),                    \
                                                    .block_rows = block,                                  \
                                                    .block_cols = block,                                  \
                                                    .ell_cols = ell_cols,                                 \
                                                    .inner = col_indices,                                 \
                                                    .values = values,                                     \
                                                    .inner_type = index_type,                             \
                                                    .base = base,                                         \
                                                    .value_type = value_type});                           \
    }
CREATE_BLOCKED_ELL(cusparseCreateBlockedEll)
CREATE_BLOCKED_ELL(cusparseCreateConstBlockedEll)

#define CREATE_SLICED_ELL(Name)                                                                                      \
    PLM_API int Name(struct plm_spmat **out, int64_t rows, int64_t cols, int64_t nnz, int64_t values_size,           \
                     int64_t slice, void *offsets, void *col_indices, void *values, int offset_type, int index_type, \
                     int base, int value_type)                                                                       \
    {                                                                                                                \
        return spmat_create(out, (struct plm_spmat){.format = SPARSE_SLICED_ELL,                                     \
                                                    .rows = rows,                                                    \
                                                    .cols = cols,                                                    \
                                                    .nnz = nnz,                                                      \
                                                    .sell_values = values_size,                                      \
                                                    .slice = slice,                                                  \
                                                    .outer = offsets,                                                \
                                                    .inner = col_indices,                                            \
                                                    .values = values,                                                \
                                                    .outer_type = offset_type,                                       \
                                                    .inner_type = index_type,                                        \
                                                    .base = base,                                                    \
                                                    .value_type = value_type});                                      \
    }
CREATE_SLICED_ELL(cusparseCreateSlicedEll)
CREATE_SLICED_ELL(cusparseCreateConstSlicedEll)

/* ---- getters of one format ---- */

static int shape_get(const struct plm_spmat *descr, int64_t *rows, int64_t *cols, int64_t *nnz, void **outer,
                     void **inner, void **values)
{
    if (!descr)
        return SPARSE_INVALID_VALUE;
    SPARSE_PUT(rows, descr->rows);
    SPARSE_PUT(cols, descr->cols);
    SPARSE_PUT(nnz, descr->nnz);
    SPARSE_PUT(outer, descr->outer);
    SPARSE_PUT(inner, descr->inner);
    SPARSE_PUT(values, descr->values);
    return SPARSE_OK;
}

static void types_get(const struct plm_spmat *descr, int *outer_type, int *inner_type, int *base, int *value_type)
{
    SPARSE_PUT(outer_type, descr->outer_type);
    SPARSE_PUT(inner_type, descr->inner_type);
    SPARSE_PUT(base, descr->base);
    SPARSE_PUT(value_type, descr->value_type);
}

#define GET_COMPRESSED(Name)                                                                                       \
    PLM_API int Name(const struct plm_spmat *descr, int64_t *rows, int64_t *cols, int64_t *nnz, void **offsets,    \
                     void **indices, void **values, int *offset_type, int *index_type, int *base, int *value_type) \
    {                                                                                                              \
        int status = shape_get(descr, rows, cols, nnz, offsets, indices, values);                                  \
        if (status == SPARSE_OK)                                                                                   \
            types_get(descr, offset_type, index_type, base, value_type);                                           \
        return status;                                                                                             \
    }
GET_COMPRESSED(cusparseCsrGet)
GET_COMPRESSED(cusparseConstCsrGet)
GET_COMPRESSED(cusparseCscGet)
GET_COMPRESSED(cusparseConstCscGet)

#define GET_COO(Name)                                                                                               \
    PLM_API int Name(const struct plm_spmat *descr, int64_t *rows, int64_t *cols, int64_t *nnz, void **row_indices, \
                     void **col_indices, void **values, int *index_type, int *base, int *value_type)                \
    {                                                                                                               \
        int status = shape_get(descr, rows, cols, nnz, row_indices, col_indices, values);                           \
        if (status == SPARSE_OK)                                                                                    \
            types_get(descr, NULL, index_type, base, value_type);                                                   \
        return status;                                                                                              \
    }
GET_COO(cusparseCooGet)
GET_COO(cusparseConstCooGet)

#define GET_BLOCKED_ELL(Name)                                                                                        \
    PLM_API int Name(const struct plm_spmat *descr, int64_t *rows, int64_t *cols, int64_t *block, int64_t *ell_cols, \
                     void **col_indices, void **values, int *index_type, int *base, int *value_type)                 \
    {                                                                                                                \
        int status = shape_get(descr, rows, cols, NULL, NULL, col_indices, values);                                  \
        if (status == SPARSE_OK) {                                                                                   \
            types_get(descr, NULL, index_type, base, value_type);                                                    \
            SPARSE_PUT(block, descr->block_rows);                                                                    \
            SPARSE_PUT(ell_cols, descr->ell_cols);                                                                   \
        }                                                                                                            \
        return status;                                                                                               \
    }
GET_BLOCKED_ELL(cusparseBlockedEllGet)
GET_BLOCKED_ELL(cusparseConstBlockedEllGet)

/* ---- getters and setters of any format ---- */

PLM_API int cusparseSpMatGetSize(const struct plm_spmat *descr, int64_t *rows, int64_t *cols, int64_t *nnz)
{
    return shape_get(descr, rows, cols, nnz, NULL, NULL, NULL);
}

#define GET_INT(Name, field)                                    \
    PLM_API int Name(const struct plm_spmat *descr, int *value) \
    {                                                           \
        if (!descr || !value)                                   \
            return SPARSE_INVALID_VALUE;                        \
        *value = descr->field;                                  \
        return SPARSE_OK;                                       \
    }
GET_INT(cusparseSpMatGetFormat, format)
GET_INT(cusparseSpMatGetIndexBase, base)
GET_INT(cusparseSpMatGetStridedBatch, batches)

#define GET_VALUES(Name)                                           \
    PLM_API int Name(const struct plm_spmat *descr, void **values) \
    {                                                              \
        if (!descr || !values)                                     \
            return SPARSE_INVALID_VALUE;                           \
        *values = descr->values;                                   \
        return SPARSE_OK;                                          \
    }
GET_VALUES(cusparseSpMatGetValues)
GET_VALUES(cusparseConstSpMatGetValues)

PLM_API int cusparseSpMatSetValues(struct plm_spmat *descr, void *values)
{
    if (!descr)
        return SPARSE_INVALID_VALUE;
    descr->values = values;
    return SPARSE_OK;
}

#define SET_POINTERS(Name)                                                            \
    PLM_API int Name(struct plm_spmat *descr, void *outer, void *inner, void *values) \
    {                                                                                 \
        if (!descr)                                                                   \
            return SPARSE_INVALID_VALUE;                                              \
        descr->outer = outer;                                                         \
        descr->inner = inner;                                                         \
        descr->values = values;                                                       \
        return SPARSE_OK;                                                             \
    }
SET_POINTERS(cusparseCsrSetPointers)
SET_POINTERS(cusparseCscSetPointers)
SET_POINTERS(cusparseCooSetPointers)

/* The strides are not kept: no getter returns them. */
static int set_batches(struct plm_spmat *descr, int batches)
{
    if (!descr || batches < 1)
        return SPARSE_INVALID_VALUE;
    descr->batches = batches;
    return SPARSE_OK;
}

PLM_API int cusparseCooSetStridedBatch(struct plm_spmat *descr, int batches, int64_t stride)
{
    return set_batches(descr, batches);
}

PLM_API int cusparseCsrSetStridedBatch(struct plm_spmat *descr, int batches, int64_t offsets, int64_t rest)
{
    return set_batches(descr, batches);
}

PLM_API int cusparseBsrSetStridedBatch(struct plm_spmat *descr, int batches, int64_t offsets, int64_t columns,
                                       int64_t values)
{
    return set_batches(descr, batches);
}

PLM_API int cusparseSpMatSetAttribute(struct plm_spmat *descr, int attribute, const void *data, size_t size)
{
    if (!descr || !data || attribute < 0 || attribute >= SPARSE_ATTRIBUTES || size != sizeof(int))
        return SPARSE_INVALID_VALUE;
    descr->attributes[attribute] = *(const int *)data;
    return SPARSE_OK;
}

PLM_API int cusparseSpMatGetAttribute(const struct plm_spmat *descr, int attribute, void *data, size_t size)
{
    if (!descr || !data || attribute < 0 || attribute >= SPARSE_ATTRIBUTES || size != sizeof(int))
        return SPARSE_INVALID_VALUE;
    *(int *)data = descr->attributes[attribute];
    return SPARSE_OK;
}
