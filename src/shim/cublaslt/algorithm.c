/*
 * Algorithms of cublasLtMatmul: what the heuristic proposes and what can be asked of it.
 *
 * There is one algorithm. It multiplies tiles of 128 by 128, splits nothing and needs no workspace;
 * a real heuristic may choose one that uses up to the preference's maximum.
 */
#include <string.h>

#include "device/device.h"
#include "shim/cublas/status.h"
#include "shim/cublaslt/bag.h"
#include "device/shim.h"

enum { ALGORITHM_ID = 1, TILE_SIDE = 128, TILE_128x128 = 20, ALGORITHM_MAGIC = 0x706c6d61 };

/* cublasLtMatmulAlgo_t: 64 opaque bytes. `config` is indexed by the attribute's number. */
enum { CONFIGS = 9 };
struct algorithm {
    uint32_t magic;
    uint32_t config[CONFIGS];
    uint32_t reserved[6];
};
_Static_assert(sizeof(struct algorithm) == 64, "documented size");

/* cublasLtMatmulHeuristicResult_t */
struct result {
    struct algorithm algorithm;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};
_Static_assert(sizeof(struct result) == 96, "documented size");

enum { CONFIG_ID = 0, CONFIG_TILE = 1, CONFIG_SPLIT_K = 2 };
/* id, tile, split-K, reduction scheme, swizzling, custom option, stages, inner shape, cluster shape */
static const uint8_t config_size[CONFIGS] = {4, 4, 4, 4, 4, 4, 4, 2, 2};

static void algorithm_start(struct algorithm *algorithm, int id)
{
    memset(algorithm, 0, sizeof *algorithm);
    algorithm->magic = ALGORITHM_MAGIC;
    algorithm->config[CONFIG_ID] = (uint32_t)id;
    algorithm->config[CONFIG_TILE] = TILE_128x128;
    algorithm->config[CONFIG_SPLIT_K] = 1;
}

/* How often the device is filled with tiles: 1 is one full wave. */
static float waves(const struct plm_bag *d)
{
    uint64_t rows = plm_bag_number(d, PLM_BAG_LAYOUT, PLM_LAYOUT_ROWS);
    uint64_t columns = plm_bag_number(d, PLM_BAG_LAYOUT, PLM_LAYOUT_COLUMNS);
    uint64_t batch = plm_bag_number(d, PLM_BAG_LAYOUT, PLM_LAYOUT_BATCH_COUNT);
    const struct plm_card *card = plm_device_card(plm_device_current());
    uint64_t tiles = ((rows + TILE_SIDE - 1) / TILE_SIDE) * ((columns + TILE_SIDE - 1) / TILE_SIDE) * batch;
    return card && card->sms > 0 ? (float)((double)tiles / card->sms) : 1.0f;
}

static void answer(struct result *result, const struct algorithm *algorithm, const struct plm_bag *d)
{
    struct algorithm copy = *algorithm; /* it may lie in the result itself */
    memset(result, 0, sizeof *result);
    result->algorithm = copy;
    result->waves = waves(d);
}

PLM_API int cublasLtMatmulAlgoGetHeuristic(void *handle, const struct plm_bag *operation, const struct plm_bag *a,
                                           const struct plm_bag *b, const struct plm_bag *c, const struct plm_bag *d,
                                           const struct plm_bag *preference, int requested, struct result *results,
                                           int *returned)
{
    struct algorithm algorithm;
    if (!handle)
        return PLM_CUBLAS_NOT_INITIALIZED;
    if (requested < 1 || !results || !returned || !operation || !a || !b || !c || !d || !preference)
        return PLM_CUBLAS_INVALID_VALUE;
    algorithm_start(&algorithm, ALGORITHM_ID);
    answer(&results[0], &algorithm, d);
    *returned = 1;
    return PLM_CUBLAS_SUCCESS;
}

#define UNUSED __attribute__((unused))

PLM_API int cublasLtMatmulAlgoGetIds(void *handle, UNUSED int compute_type, UNUSED int scale_type, UNUSED int a,
                                     UNUSED int b, UNUSED int c, UNUSED int d, int requested, int *ids, int *returned)
{
    if (!handle)
        return PLM_CUBLAS_NOT_INITIALIZED;
    if (requested < 1 || !ids)
        return PLM_CUBLAS_INVALID_VALUE;
    ids[0] = ALGORITHM_ID;
    if (returned)
        *returned = 1;
    return PLM_CUBLAS_SUCCESS;
}

PLM_API int cublasLtMatmulAlgoInit(void *handle, UNUSED int compute_type, UNUSED int scale_type, UNUSED int a,
                                   UNUSED int b, UNUSED int c, UNUSED int d, int id, struct algorithm *algorithm)
{
    if (!handle)
        return PLM_CUBLAS_NOT_INITIALIZED;
    if (!algorithm || id < 0)
        return PLM_CUBLAS_INVALID_VALUE;
    algorithm_start(algorithm, id);
    return PLM_CUBLAS_SUCCESS;
}

static bool valid(const struct algorithm *algorithm)
{
    return algorithm && algorithm->magic == ALGORITHM_MAGIC;
}

PLM_API int cublasLtMatmulAlgoCheck(void *handle, const struct plm_bag *operation, const struct plm_bag *a,
                                    const struct plm_bag *b, const struct plm_bag *c, const struct plm_bag *d,
                                    const struct algorithm *algorithm, struct result *result)
{
    if (!handle)
        return PLM_CUBLAS_NOT_INITIALIZED;
    if (!operation || !a || !b || !c || !d || !result || !valid(algorithm))
        return PLM_CUBLAS_INVALID_VALUE;
    answer(result, algorithm, d);
    return PLM_CUBLAS_SUCCESS;
}

/* The rule all of cuBLASLt's getters share: a size of 0 asks for the size. */
static int give(const void *value, size_t need, void *buffer, size_t size, size_t *written)
{
    if (size ? !buffer || size != need : !written)
        return PLM_CUBLAS_INVALID_VALUE;
    if (size)
        memcpy(buffer, value, need);
    if (written)
        *written = need;
    return PLM_CUBLAS_SUCCESS;
}

PLM_API int cublasLtMatmulAlgoConfigSetAttribute(struct algorithm *algorithm, int id, const void *buffer, size_t size)
{
    if (!valid(algorithm) || !buffer || id < 0 || id >= CONFIGS || size != config_size[id])
        return PLM_CUBLAS_INVALID_VALUE;
    algorithm->config[id] = 0;
    memcpy(&algorithm->config[id], buffer, size);
    return PLM_CUBLAS_SUCCESS;
}

PLM_API int cublasLtMatmulAlgoConfigGetAttribute(const struct algorithm *algorithm, int id, void *buffer, size_t size,
                                                 size_t *written)
{
    if (!valid(algorithm) || id < 0 || id >= CONFIGS)
        return PLM_CUBLAS_INVALID_VALUE;
    return give(&algorithm->config[id], config_size[id], buffer, size, written);
}

/* What the algorithm can do. The lists of tiles and stages have one element each. */
static const struct {
    int id;
    uint8_t size;
    uint64_t value;
} capabilities[] = {
    {0, 4, 0},            /* split-K */
    {1, 4, 0},            /* reduction schemes */
    {2, 4, 0},            /* swizzling */
    {3, 4, 1},            /* strided batches */
    {4, 4, 1},            /* D other than C */
    {5, 4, 0},            /* triangular results */
    {6, 4, TILE_128x128}, /* tiles */
    {7, 4, 0},            /* custom options */
    {10, 4, 0},           /* other memory orders */
    {11, 4, 0x1f},        /* pointer modes: all */
    {12, 4, UINT32_MAX},  /* epilogues: all */
    {13, 4, 0},           /* stages: undefined */
    {14, 4, 0},           /* negative leading dimensions */
    {15, 8, 0},           /* numerical implementation */
    {16, 4, 16},          /* alignment of A, B, C, D */
    {17, 4, 16},
    {18, 4, 16},
    {19, 4, 16},
    {20, 4, 0},           /* atomic synchronization */
};

PLM_API int cublasLtMatmulAlgoCapGetAttribute(const struct algorithm *algorithm, int id, void *buffer, size_t size,
                                              size_t *written)
{
    if (!valid(algorithm))
        return PLM_CUBLAS_INVALID_VALUE;
    for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
        if (capabilities[i].id == id)
            return give(&capabilities[i].value, capabilities[i].size, buffer, size, written);
    return PLM_CUBLAS_INVALID_VALUE;
}
