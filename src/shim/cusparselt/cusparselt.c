/*
 * cuSPARSELt: matrix products with a 2:4 sparse operand.
 *
 * Its objects are blobs in the caller's memory, copied by value as the caller likes, so what must be
 * remembered is kept inside them and nothing is allocated. A blob is 512 bytes in 0.7.1 to 0.8.1 and was
 * larger before. No more than 512 is ever written. Entry points return a cusparseStatus_t, never print,
 * and may be called from any thread on different objects.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shim/cusparse/datatype.h"
#include "shim/cusparse/release.h"
#include "shim/cusparse/status.h"
#include "device/shim.h"

/* An entry point has the arguments its library documents, used here or not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { OK = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3 };
enum { BLOB_MAX = 512 };

/* Tells an initialized blob from one that is not. */
enum magic { HANDLE = 0x504c4d01, MATRIX, MATMUL, ALGORITHM, PLAN };

struct lt_handle {
    uint32_t magic;
};

enum { NUM_BATCHES, BATCH_STRIDE };

struct lt_matrix {
    uint32_t magic;
    int32_t type, order;
    int32_t structured;
    int64_t rows, cols, ld;
    int64_t batches, stride;
};

/* Attributes are at most a pointer wide; 20 of them are documented, the rest is for later releases. */
enum { MATMUL_ATTRIBUTES = 32 };

struct lt_matmul {
    uint32_t magic;
    int32_t compute;
    struct lt_matrix sparse; /* the structured operand */
    int64_t rows, cols;      /* of the result */
    uint64_t attributes[MATMUL_ATTRIBUTES];
};

enum { CONFIG_ID, CONFIG_MAX_ID, SEARCH_ITERATIONS, SPLIT_K, SPLIT_K_MODE, SPLIT_K_BUFFERS, ALGORITHM_ATTRIBUTES };

struct lt_algorithm {
    uint32_t magic;
    int32_t attributes[ALGORITHM_ATTRIBUTES];
};

struct lt_plan {
    uint32_t magic;
    struct lt_matrix sparse;
    int64_t rows, cols;
    int32_t split_k;
};

_Static_assert(sizeof(struct lt_matmul) <= BLOB_MAX && sizeof(struct lt_plan) <= BLOB_MAX, "must fit the blob");

#define LAUNCH(name)                                                     \
    do {                                                                 \
        static const struct plm_symbol symbol_ = {"cusparselt", (name)}; \
        plm_call_launch(&symbol_);                                       \
    } while (0)

#define VALID(object, kind) ((object) && (object)->magic == (kind))

/* ---- library ---- */

PLM_API int cusparseLtInit(struct lt_handle *handle)
{
    if (!handle)
        return INVALID_VALUE;
    handle->magic = HANDLE;
    return OK;
}

PLM_API int cusparseLtDestroy(struct lt_handle *handle)
{
    if (!VALID(handle, HANDLE))
        return NOT_INITIALIZED;
    handle->magic = 0;
    return OK;
}

/* 12.4, 12.8 and 13.2 as PyTorch's packages require them; 13.0 is from memory. */
static const struct plm_release releases[] = {
    {12000, {0, 6, 2}}, {12080, {0, 7, 1}}, {13000, {0, 8, 0}}, {13020, {0, 8, 1}}};

static const struct plm_release *release_played(void)
{
    return plm_release_find(releases, sizeof releases / sizeof releases[0], 0);
}

PLM_API int cusparseLtGetVersion(const struct lt_handle *handle, int *version)
{
    if (!VALID(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!version)
        return INVALID_VALUE;
    *version = plm_release_number(release_played());
    return OK;
}

PLM_API int cusparseLtGetProperty(int type, int *value)
{
    if (!value || type < 0 || type > 2)
        return INVALID_VALUE;
    *value = release_played()->part[type];
    return OK;
}

PLM_API const char *cusparseLtGetErrorName(int status)
{
    return plm_sparse_status_name(status);
}

PLM_API const char *cusparseLtGetErrorString(int status)
{
    return plm_sparse_status_text(status);
}

/* ---- matrices ---- */

static int matrix_init(const struct lt_handle *handle, struct lt_matrix *out, int64_t rows, int64_t cols, int64_t ld,
                       int type, int order, int structured)
{
    if (!VALID(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!out || rows <= 0 || cols <= 0)
        return INVALID_VALUE;
    *out = (struct lt_matrix){.magic = MATRIX,
                              .type = type,
                              .order = order,
                              .structured = structured,
                              .rows = rows,
                              .cols = cols,
                              .ld = ld,
                              .batches = 1};
    return OK;
}

PLM_API int cusparseLtDenseDescriptorInit(const struct lt_handle *handle, struct lt_matrix *out, int64_t rows,
                                          int64_t cols, int64_t ld, uint32_t alignment, int type, int order)
{
    return matrix_init(handle, out, rows, cols, ld, type, order, 0);
}

PLM_API int cusparseLtStructuredDescriptorInit(const struct lt_handle *handle, struct lt_matrix *out, int64_t rows,
                                               int64_t cols, int64_t ld, uint32_t alignment, int type, int order,
                                               int sparsity)
{
    return matrix_init(handle, out, rows, cols, ld, type, order, 1);
}

PLM_API int cusparseLtMatDescriptorDestroy(struct lt_matrix *matrix)
{
    if (!VALID(matrix, MATRIX))
        return INVALID_VALUE;
    matrix->magic = 0;
    return OK;
}

PLM_API int cusparseLtMatDescSetAttribute(const struct lt_handle *handle, struct lt_matrix *matrix, int attribute,
                                          const void *data, size_t size)
{
    if (!VALID(matrix, MATRIX) || !data)
        return INVALID_VALUE;
    if (attribute == NUM_BATCHES && size == sizeof(int32_t))
        matrix->batches = *(const int32_t *)data;
    else if (attribute == BATCH_STRIDE && size == sizeof(int64_t))
        matrix->stride = *(const int64_t *)data;
    else
        return INVALID_VALUE;
    return OK;
}

PLM_API int cusparseLtMatDescGetAttribute(const struct lt_handle *handle, const struct lt_matrix *matrix, int attribute,
                                          void *data, size_t size)
{
    if (!VALID(matrix, MATRIX) || !data)
        return INVALID_VALUE;
    if (attribute == NUM_BATCHES && size == sizeof(int32_t))
        *(int32_t *)data = (int32_t)matrix->batches;
    else if (attribute == BATCH_STRIDE && size == sizeof(int64_t))
        *(int64_t *)data = matrix->stride;
    else
        return INVALID_VALUE;
    return OK;
}

/* ---- products ---- */

PLM_API int cusparseLtMatmulDescriptorInit(const struct lt_handle *handle, struct lt_matmul *out, int op_a, int op_b,
                                           const struct lt_matrix *a, const struct lt_matrix *b,
                                           const struct lt_matrix *c, const struct lt_matrix *d, int compute)
{
    if (!VALID(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!out || !VALID(a, MATRIX) || !VALID(b, MATRIX) || !VALID(d, MATRIX))
        return INVALID_VALUE;
    *out = (struct lt_matmul){
        .magic = MATMUL, .compute = compute, .sparse = b->structured ? *b : *a, .rows = d->rows, .cols = d->cols};
    return OK;
}

PLM_API int cusparseLtMatmulDescSetAttribute(const struct lt_handle *handle, struct lt_matmul *matmul, int attribute,
                                             const void *data, size_t size)
{
    if (!VALID(matmul, MATMUL) || !data || attribute < 0 || attribute >= MATMUL_ATTRIBUTES ||
        size > sizeof matmul->attributes[0])
        return INVALID_VALUE;
    memcpy(&matmul->attributes[attribute], data, size);
    return OK;
}

PLM_API int cusparseLtMatmulDescGetAttribute(const struct lt_handle *handle, const struct lt_matmul *matmul,
                                             int attribute, void *data, size_t size)
{
    if (!VALID(matmul, MATMUL) || !data || attribute < 0 || attribute >= MATMUL_ATTRIBUTES ||
        size > sizeof matmul->attributes[0])
        return INVALID_VALUE;
    memcpy(data, &matmul->attributes[attribute], size);
    return OK;
}

PLM_API int cusparseLtMatmulAlgSelectionInit(const struct lt_handle *handle, struct lt_algorithm *out,
                                             const struct lt_matmul *matmul, int algorithm)
{
    if (!out || !VALID(matmul, MATMUL))
        return INVALID_VALUE;
    *out = (struct lt_algorithm){
        .magic = ALGORITHM,
        .attributes = {[CONFIG_MAX_ID] = 1, [SEARCH_ITERATIONS] = 5, [SPLIT_K] = 1, [SPLIT_K_MODE] = 1}};
    return OK;
}

PLM_API int cusparseLtMatmulAlgSelectionDestroy(struct lt_algorithm *algorithm)
{
    if (!VALID(algorithm, ALGORITHM))
        return INVALID_VALUE;
    algorithm->magic = 0;
    return OK;
}

/* One configuration exists here, number 0, so that programs which try them all try one. */
PLM_API int cusparseLtMatmulAlgSetAttribute(const struct lt_handle *handle, struct lt_algorithm *algorithm,
                                            int attribute, const void *data, size_t size)
{
    if (!VALID(algorithm, ALGORITHM) || !data || attribute < 0 || attribute >= ALGORITHM_ATTRIBUTES ||
        attribute == CONFIG_MAX_ID || size != sizeof(int32_t))
        return INVALID_VALUE;
    memcpy(&algorithm->attributes[attribute], data, size);
    return OK;
}

PLM_API int cusparseLtMatmulAlgGetAttribute(const struct lt_handle *handle, const struct lt_algorithm *algorithm,
                                            int attribute, void *data, size_t size)
{
    if (!VALID(algorithm, ALGORITHM) || !data || attribute < 0 || attribute >= ALGORITHM_ATTRIBUTES ||
        size != sizeof(int32_t))
        return INVALID_VALUE;
    memcpy(data, &algorithm->attributes[attribute], size);
    return OK;
}

PLM_API int cusparseLtMatmulPlanInit(const struct lt_handle *handle, struct lt_plan *out,
                                     const struct lt_matmul *matmul, const struct lt_algorithm *algorithm)
{
    if (!out || !VALID(matmul, MATMUL) || !VALID(algorithm, ALGORITHM))
        return INVALID_VALUE;
    *out = (struct lt_plan){.magic = PLAN,
                            .sparse = matmul->sparse,
                            .rows = matmul->rows,
                            .cols = matmul->cols,
                            .split_k = algorithm->attributes[SPLIT_K]};
    return OK;
}

PLM_API int cusparseLtMatmulPlanDestroy(struct lt_plan *plan)
{
    if (!VALID(plan, PLAN))
        return INVALID_VALUE;
    plan->magic = 0;
    return OK;
}

/* Without split-K an eighth of a byte for each element of the result, a quarter for fp32, and at least
   256, 1024 (int8) or 512 bytes: a third party reports these for square problems on sm_86; not checked
   here. With split-K the partial sums come on top, in fp32, which is assumed. */
PLM_API int cusparseLtMatmulGetWorkspace(const struct lt_handle *handle, const struct lt_plan *plan, size_t *bytes)
{
    size_t cells, size, least;
    if (!VALID(plan, PLAN) || !bytes)
        return INVALID_VALUE;
    cells = plm_shim_size_mul(plan->rows, plm_shim_size_mul(plan->cols, 1));
    size = plan->sparse.type == PLM_R_32F ? cells / 4 : cells / 8;
    least = plan->sparse.type == PLM_R_32F ? 512 : plm_datatype_bits(plan->sparse.type) == 8 ? 1024 : 256;
    if (size < least)
        size = least;
    if (plan->split_k > 1)
        size = plm_shim_size_add(
            size, plm_shim_size_mul(plan->split_k, plm_shim_size_mul(plan->rows, plm_shim_size_mul(plan->cols, 4))));
    *bytes = size;
    return OK;
}

static int product(const struct lt_handle *handle, const struct lt_plan *plan)
{
    if (!VALID(handle, HANDLE))
        return NOT_INITIALIZED;
    return VALID(plan, PLAN) ? OK : INVALID_VALUE;
}

PLM_API int cusparseLtMatmul(const struct lt_handle *handle, const struct lt_plan *plan, const void *alpha,
                             const void *a, const void *b, const void *beta, const void *c, void *d, void *work,
                             void *streams, int32_t count)
{
    int status = product(handle, plan);
    if (status == OK)
        LAUNCH("cusparseLtMatmul");
    return status;
}

PLM_API int cusparseLtMatmulSearch(const struct lt_handle *handle, struct lt_plan *plan, const void *alpha,
                                   const void *a, const void *b, const void *beta, const void *c, void *d, void *work,
                                   void *streams, int32_t count)
{
    int status = product(handle, plan);
    if (status == OK)
        LAUNCH("cusparseLtMatmulSearch");
    return status;
}

/* ---- compression ---- */

/* Half the values, and 4 bits that place them: for each 4 elements (2:4), for each 2 of fp32 (1:2), for
   each 8 of the 4-bit type (4:8 in pairs). The scratch buffer holds the metadata before it is put in
   order, or half of it for fp32 and int8: reported by a third party for sm_86, not checked here. */
static void compressed(const struct lt_matrix *matrix, size_t *size, size_t *buffer)
{
    unsigned bits = plm_datatype_bits(matrix->type);
    size_t group = bits == 32 ? 2 : bits == 4 ? 8 : 4;
    int64_t copies = matrix->stride ? matrix->batches : 1; /* stride 0: one matrix for every batch */
    size_t cells = plm_shim_size_mul(copies, plm_shim_size_mul(matrix->rows, plm_shim_size_mul(matrix->cols, 1)));
    size_t metadata = (cells / group + 1) / 2;
    *size = plm_shim_size_add(plm_shim_size_mul((int64_t)(cells / 16), bits), metadata);
    *buffer = bits == 16 ? metadata : metadata / 2;
}

PLM_API int cusparseLtSpMMACompressedSize(const struct lt_handle *handle, const struct lt_plan *plan, size_t *size,
                                          size_t *buffer)
{
    if (!VALID(plan, PLAN) || !size || !buffer)
        return INVALID_VALUE;
    compressed(&plan->sparse, size, buffer);
    return OK;
}

PLM_API int cusparseLtSpMMACompressedSize2(const struct lt_handle *handle, const struct lt_matrix *matrix, size_t *size,
                                           size_t *buffer)
{
    if (!VALID(matrix, MATRIX) || !size || !buffer)
        return INVALID_VALUE;
    compressed(matrix, size, buffer);
    return OK;
}
