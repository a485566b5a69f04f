#include <string.h>

#include "device/calls.h"
#include "device/footprint.h"
#include "shim/cuda/driver.h"
#include "shim/cuda/module.h"

/* Launches: checked against the card's limits as the driver does, then counted. Nothing runs. */

static bool fits_card(const struct plm_cu_launch *launch, const struct plm_card *card)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (!launch->grid[i] || launch->grid[i] > (unsigned)card->max_grid[i])
            return false;
        if (!launch->block[i] || launch->block[i] > (unsigned)card->max_block[i])
            return false;
        threads *= launch->block[i];
    }
    return threads <= (unsigned)card->max_threads_per_block;
}

unsigned plm_cu_cluster_blocks(const struct plm_cu_launch *launch, unsigned dims[3])
{
    const unsigned absurd = 1024; /* keeps the product in range */
    dims[0] = dims[1] = dims[2] = 1;
    for (unsigned i = 0; launch->attributes && i < launch->attribute_count; i++)
        if (launch->attributes[i].id == PLM_CU_LAUNCH_CLUSTER)
            for (int d = 0; d < 3; d++) {
                unsigned dim = launch->attributes[i].value.dims[d];
                dims[d] = dim == 0 ? 1 : dim > absurd ? absurd : dim;
            }
    return dims[0] * dims[1] * dims[2];
}

static bool is_cooperative(const struct plm_cu_launch *launch)
{
    for (unsigned i = 0; launch->attributes && i < launch->attribute_count; i++)
        if (launch->attributes[i].id == PLM_CU_LAUNCH_COOPERATIVE)
            return launch->attributes[i].value.flag != 0;
    return false;
}

static int check_cluster(const struct plm_cu_launch *launch, const struct plm_card *card)
{
    enum { LARGEST = 16 };
    unsigned dims[3], blocks = plm_cu_cluster_blocks(launch, dims);
    if (blocks == 1)
        return 0;
    if (card->major < 9 || blocks > LARGEST)
        return PLM_CU_INVALID_CLUSTER_SIZE;
    for (int i = 0; i < 3; i++)
        if (launch->grid[i] % dims[i])
            return PLM_CU_INVALID_VALUE;
    return 0;
}

/* All blocks of a cooperative launch must be on the card at the same time. */
static int check_cooperative(const struct plm_cu_launch *launch, const struct plm_card *card)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    int room = plm_cu_blocks_per_sm(card, threads, launch->shared) * card->sms;
    return blocks > (uint64_t)room ? PLM_CU_COOPERATIVE_TOO_LARGE : 0;
}

static void record(const struct plm_cu_launch *launch, struct plm_kernel *kernel, void **arguments, bool run)
{
    struct plm_call_shape shape = {.shared = launch->shared};
    memcpy(shape.grid, launch->grid, sizeof shape.grid);
    memcpy(shape.block, launch->block, sizeof shape.block);
    plm_call_kernel(kernel, &shape, arguments, launch->stream, run);
}

static int launch_kernel(const struct plm_cu_launch *launch, struct plm_kernel *kernel, void **arguments,
                         bool cooperative)
{
    const struct plm_card *card;
    int device, allowed, status = plm_cu_device(&device);
    bool run;

    if (status)
        return status;
    if (!kernel)
        return PLM_CU_INVALID_HANDLE;
    card = plm_device_card(device);
    allowed = kernel->max_dynamic_shared ? kernel->max_dynamic_shared : card->shared_per_block;
    if (!fits_card(launch, card) || launch->shared > (unsigned)allowed)
        return PLM_CU_INVALID_VALUE;
    if (!plm_module_runs_on(kernel->module, card))
        return PLM_CU_NO_BINARY;
    status = check_cluster(launch, card);
    if (status == 0 && cooperative)
        status = check_cooperative(launch, card);
    if (status == 0)
        status = plm_cu_enqueue(launch->stream, PLM_NODE_KERNEL, &run);
    if (status)
        return status;
    plm_footprint_kernel(device, kernel);
    if (run)
        plm_launch(kernel->name);
    record(launch, kernel, arguments, run);
    return 0;
}

PLM_API int cuLaunchKernel(struct plm_kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                           struct plm_stream *stream, void **arguments)
{
    const struct plm_cu_launch launch = {
        {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, NULL, 0};
    return launch_kernel(&launch, kernel, arguments, false);
}

PLM_API int cuLaunchCooperativeKernel(struct plm_kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                      struct plm_stream *stream, void **arguments)
{
    const struct plm_cu_launch launch = {
        {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, NULL, 0};
    return launch_kernel(&launch, kernel, arguments, true);
}

PLM_API int cuLaunchKernelEx(const struct plm_cu_launch *launch, struct plm_kernel *kernel, void **arguments)
{
    return launch ? launch_kernel(launch, kernel, arguments, is_cooperative(launch)) : PLM_CU_INVALID_VALUE;
}

/* The default stream of a program compiled for one default stream per thread. */
PLM_API int cuLaunchKernelEx_ptsz(const struct plm_cu_launch *launch, struct plm_kernel *kernel, void **arguments)
{
    struct plm_cu_launch copy;
    if (!launch)
        return PLM_CU_INVALID_VALUE;
    copy = *launch;
    if (!copy.stream)
        copy.stream = PLM_STREAM_PER_THREAD;
    return cuLaunchKernelEx(&copy, kernel, arguments);
}
