/* Dense matrices and dense and sparse vectors of the generic interface. */
#include <stdlib.h>

#include "shim/cusparse/cusparse.h"

/* Each descriptor exists for writable and for constant data, under two names; inside they are one. */
#define DESTROY(Name, type)                               \
    PLM_API int cusparseDestroy##Name(struct type *descr) \
    {                                                     \
        free(descr);                                      \
        return SPARSE_OK;                                 \
    }
#define VALUES(Name, type)                                                              \
    static int type##_values(const struct type *descr, void **values)                   \
    {                                                                                   \
        if (!descr || !values)                                                          \
            return SPARSE_INVALID_VALUE;                                                \
        *values = descr->values;                                                        \
        return SPARSE_OK;                                                               \
    }                                                                                   \
    PLM_API int cusparse##Name##GetValues(const struct type *descr, void **values)      \
    {                                                                                   \
        return type##_values(descr, values);                                            \
    }                                                                                   \
    PLM_API int cusparseConst##Name##GetValues(const struct type *descr, void **values) \
    {                                                                                   \
        return type##_values(descr, values);                                            \
    }                                                                                   \
    PLM_API int cusparse##Name##SetValues(struct type *descr, void *values)             \
    {                                                                                   \
        if (!descr)                                                                     \
            return SPARSE_INVALID_VALUE;                                                \
        descr->values = values;                                                         \
        return SPARSE_OK;                                                               \
    }

DESTROY(DnMat, plm_dnmat)
DESTROY(DnVec, plm_dnvec)
DESTROY(SpVec, plm_spvec)
VALUES(DnMat, plm_dnmat)
VALUES(DnVec, plm_dnvec)
VALUES(SpVec, plm_spvec)

/* ---- dense matrices ---- */

static int dnmat_create(struct plm_dnmat **out, int64_t rows, int64_t cols, int64_t ld, void *values, int value_type,
                        int order)
{
    struct plm_dnmat *descr;
    if (!out || rows < 0 || cols < 0)
        return SPARSE_INVALID_VALUE;
    descr = calloc(1, sizeof *descr);
    if (!descr)
        return SPARSE_ALLOC_FAILED;
    *descr = (struct plm_dnmat){
        .rows = rows, .cols = cols, .ld = ld, .values = values, .value_type = value_type, .order = order, .batches = 1};
    *out = descr;
    return SPARSE_OK;
}

static int dnmat_get(const struct plm_dnmat *descr, int64_t *rows, int64_t *cols, int64_t *ld, void **values,
                     int *value_type, int *order)
{
    if (!descr)
        return SPARSE_INVALID_VALUE;
    SPARSE_PUT(rows, descr->rows);
    SPARSE_PUT(cols, descr->cols);
    SPARSE_PUT(ld, descr->ld);
    SPARSE_PUT(values, descr->values);
    SPARSE_PUT(value_type, descr->value_type);
    SPARSE_PUT(order, descr->order);
    return SPARSE_OK;
}

#define DNMAT(Create, Get)                                                                                           \
    PLM_API int Create(struct plm_dnmat **out, int64_t rows, int64_t cols, int64_t ld, void *values, int value_type, \
                       int order)                                                                                    \
    {                                                                                                                \
        return dnmat_create(out, rows, cols, ld, values, value_type, order);                                         \
    }                                                                                                                \
    PLM_API int Get(const struct plm_dnmat *descr, int64_t *rows, int64_t *cols, int64_t *ld, void **values,         \
                    int *value_type, int *order)                                                                     \
    {                                                                                                                \
        return dnmat_get(descr, rows, cols, ld, values, value_type, order);                                          \
    }
DNMAT(cusparseCreateDnMat, cusparseDnMatGet)
DNMAT(cusparseCreateConstDnMat, cusparseConstDnMatGet)

PLM_API int cusparseDnMatSetStridedBatch(struct plm_dnmat *descr, int batches, int64_t stride)
{
    if (!descr || batches < 1)
        return SPARSE_INVALID_VALUE;
    descr->batches = batches;
    descr->stride = stride;
    return SPARSE_OK;
}

PLM_API int cusparseDnMatGetStridedBatch(const struct plm_dnmat *descr, int *batches, int64_t *stride)
{
    if (!descr)
        return SPARSE_INVALID_VALUE;
    SPARSE_PUT(batches, descr->batches);
    SPARSE_PUT(stride, descr->stride);
    return SPARSE_OK;
}

/* ---- dense vectors ---- */

static int dnvec_create(struct plm_dnvec **out, int64_t size, void *values, int value_type)
{
    struct plm_dnvec *descr;
    if (!out || size < 0)
        return SPARSE_INVALID_VALUE;
    descr = calloc(1, sizeof *descr);
    if (!descr)
        return SPARSE_ALLOC_FAILED;
    *descr = (struct plm_dnvec){size, values, value_type};
    *out = descr;
    return SPARSE_OK;
}

static int dnvec_get(const struct plm_dnvec *descr, int64_t *size, void **values, int *value_type)
{
    if (!descr)
        return SPARSE_INVALID_VALUE;
    SPARSE_PUT(size, descr->size);
    SPARSE_PUT(values, descr->values);
    SPARSE_PUT(value_type, descr->value_type);
    return SPARSE_OK;
}

#define DNVEC(Create, Get)                                                                        \
    PLM_API int Create(struct plm_dnvec **out, int64_t size, void *values, int value_type)        \
    {                                                                                             \
        return dnvec_create(out, size, values, value_type);                                       \
    }                                                                                             \
    PLM_API int Get(const struct plm_dnvec *descr, int64_t *size, void **values, int *value_type) \
    {                                                                                             \
        return dnvec_get(descr, size, values, value_type);                                        \
    }
DNVEC(cusparseCreateDnVec, cusparseDnVecGet)
DNVEC(cusparseCreateConstDnVec, cusparseConstDnVecGet)

/* ---- sparse vectors ---- */

static int spvec_create(struct plm_spvec **out, int64_t size, int64_t nnz, void *indices, void *values, int index_type,
                        int base, int value_type)
{
    struct plm_spvec *descr;
    if (!out || size < 0 || nnz < 0)
        return SPARSE_INVALID_VALUE;
    descr = calloc(1, sizeof *descr);
    if (!descr)
        return SPARSE_ALLOC_FAILED;
    *descr = (struct plm_spvec){size, nnz, indices, values, index_type, base, value_type};
    *out = descr;
    return SPARSE_OK;
}

static int spvec_get(const struct plm_spvec *descr, int64_t *size, int64_t *nnz, void **indices, void **values,
                     int *index_type, int *base, int *value_type)
{
    if (!descr)
        return SPARSE_INVALID_VALUE;
    SPARSE_PUT(size, descr->size);
    SPARSE_PUT(nnz, descr->nnz);
    SPARSE_PUT(indices, descr->indices);
    SPARSE_PUT(values, descr->values);
    SPARSE_PUT(index_type, descr->index_type);
    SPARSE_PUT(base, descr->base);
    SPARSE_PUT(value_type, descr->value_type);
    return SPARSE_OK;
}

#define SPVEC(Create, Get)                                                                                             \
    PLM_API int Create(struct plm_spvec **out, int64_t size, int64_t nnz, void *indices, void *values, int index_type, \
                       int base, int value_type)                                                                       \
    {                                                                                                                  \
        return spvec_create(out, size, nnz, indices, values, index_type, base, value_type);                            \
    }                                                                                                                  \
    PLM_API int Get(const struct plm_spvec *descr, int64_t *size, int64_t *nnz, void **indices, void **values,         \
                    int *index_type, int *base, int *value_type)                                                       \
    {                                                                                                                  \
        return spvec_get(descr, size, nnz, indices, values, index_type, base, value_type);                             \
    }
SPVEC(cusparseCreateSpVec, cusparseSpVecGet)
SPVEC(cusparseCreateConstSpVec, cusparseConstSpVecGet)

PLM_API int cusparseSpVecGetIndexBase(const struct plm_spvec *descr, int *base)
{
    if (!descr || !base)
        return SPARSE_INVALID_VALUE;
    *base = descr->base;
    return SPARSE_OK;
}
