#include "shim/cuda/driver.h"
#include "shim/cuda/module.h"

/* Occupancy from the card's limits on threads, blocks and shared memory; registers are not known. */

enum { CLUSTER_PORTABLE = 8 };

typedef size_t shared_of_block(int block);

int plm_cu_blocks_per_sm(const struct plm_card *card, int block, size_t dynamic_shared)
{
    int warp = card->warp_size ? card->warp_size : 32, rounded, blocks;
    size_t shared = dynamic_shared + (size_t)card->shared_reserved_per_block;

    if (block <= 0 || block > card->max_threads_per_block || dynamic_shared > (size_t)card->shared_per_block_optin)
        return 0;
    rounded = (block + warp - 1) / warp * warp;
    blocks = card->max_threads_per_sm / rounded;
    if (blocks > card->max_blocks_per_sm)
        blocks = card->max_blocks_per_sm;
    if (shared && (size_t)blocks > (size_t)card->shared_per_sm / shared)
        blocks = (int)((size_t)card->shared_per_sm / shared);
    return blocks;
}

static int current_card(const struct plm_kernel *kernel, const struct plm_card **card)
{
    int device, status = plm_cu_device(&device);
    if (status)
        return status;
    *card = plm_device_card(device);
    return kernel ? 0 : PLM_CU_INVALID_HANDLE;
}

PLM_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const struct plm_kernel *kernel, int block,
                                                        size_t shared)
{
    const struct plm_card *card;
    int status = current_card(kernel, &card);
    if (!blocks || block <= 0)
        return PLM_CU_INVALID_VALUE;
    if (status == 0)
        *blocks = plm_cu_blocks_per_sm(card, block, shared);
    return status;
}
PLM_API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const struct plm_kernel *kernel,
                                                                 int block, size_t shared)
    __attribute__((alias("cuOccupancyMaxActiveBlocksPerMultiprocessor")));

/* The largest block that keeps most threads on an SM. */
PLM_API int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, const struct plm_kernel *kernel,
                                             shared_of_block *shared_of, size_t shared, int limit)
{
    const struct plm_card *card;
    int best_threads = 0, best_block = 0, best_blocks = 0, status = current_card(kernel, &card);

    if (!grid || !block)
        return PLM_CU_INVALID_VALUE;
    if (status)
        return status;
    if (limit <= 0 || limit > card->max_threads_per_block)
        limit = card->max_threads_per_block;
    for (int size = limit; size > 0; size = (size - 1) / card->warp_size * card->warp_size) {
        int blocks = plm_cu_blocks_per_sm(card, size, shared_of ? shared_of(size) : shared);
        if (blocks * size > best_threads) {
            best_threads = blocks * size;
            best_block = size;
            best_blocks = blocks;
        }
    }
    if (!best_block)
        return PLM_CU_INVALID_VALUE;
    *block = best_block;
    *grid = best_blocks * card->sms;
    return 0;
}
PLM_API int cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, const struct plm_kernel *kernel,
                                                      shared_of_block *shared_of, size_t shared, int limit)
    __attribute__((alias("cuOccupancyMaxPotentialBlockSize")));

PLM_API int cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const struct plm_kernel *kernel, int blocks,
                                                    int block)
{
    const struct plm_card *card;
    int status = current_card(kernel, &card), share;

    if (!bytes || blocks <= 0 || block <= 0)
        return PLM_CU_INVALID_VALUE;
    if (status)
        return status;
    if (blocks > plm_cu_blocks_per_sm(card, block, 0))
        return PLM_CU_INVALID_VALUE;
    share = card->shared_per_sm / blocks - card->shared_reserved_per_block;
    if (share > card->shared_per_block_optin)
        share = card->shared_per_block_optin;
    *bytes = share > 0 ? (size_t)share : 0;
    return 0;
}

PLM_API int cuOccupancyMaxPotentialClusterSize(int *size, const struct plm_kernel *kernel,
                                               const struct plm_cu_launch *launch)
{
    const struct plm_card *card;
    int status = current_card(kernel, &card);
    if (!size || !launch)
        return PLM_CU_INVALID_VALUE;
    if (status)
        return status;
    if (card->major < 9)
        return PLM_CU_NOT_SUPPORTED;
    *size = CLUSTER_PORTABLE;
    return 0;
}

PLM_API int cuOccupancyMaxActiveClusters(int *clusters, const struct plm_kernel *kernel,
                                         const struct plm_cu_launch *launch)
{
    const struct plm_card *card;
    unsigned dims[3], blocks;
    int threads, status = current_card(kernel, &card);

    if (!clusters || !launch)
        return PLM_CU_INVALID_VALUE;
    if (status)
        return status;
    if (card->major < 9)
        return PLM_CU_NOT_SUPPORTED;
    blocks = plm_cu_cluster_blocks(launch, dims);
    threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    *clusters = plm_cu_blocks_per_sm(card, threads, launch->shared) * card->sms / (int)blocks;
    return 0;
}
