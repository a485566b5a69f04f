#include <stdlib.h>

#include "device/calls.h"
#include "shim/cudart/runtime.h"

/* ---- launches ---- */

static bool fits(struct plm_dim3 size, const int limit[3])
{
    return size.x && size.y && size.z && size.x <= (unsigned)limit[0] && size.y <= (unsigned)limit[1] &&
           size.z <= (unsigned)limit[2];
}

static int launch_check(const struct plm_kernel *kernel, const struct plm_card *card, struct plm_dim3 grid,
                        struct plm_dim3 block, size_t shared)
{
    size_t most = kernel->max_dynamic_shared ? (size_t)kernel->max_dynamic_shared : (size_t)card->shared_per_block;
    if (!plm_module_runs_on(kernel->module, card))
        return PLM_RT_NO_KERNEL_IMAGE;
    if (!fits(grid, card->max_grid) || !fits(block, card->max_block) ||
        (uint64_t)block.x * block.y * block.z > (uint64_t)card->max_threads_per_block)
        return PLM_RT_INVALID_CONFIGURATION;
    return shared > most ? PLM_RT_INVALID_VALUE : PLM_RT_OK;
}

int plm_rt_launch(const void *function, struct plm_dim3 grid, struct plm_dim3 block, void **arguments, size_t shared,
                  struct plm_stream *stream)
{
    struct plm_kernel *kernel = plm_rt_kernel(function);
    int device = plm_device_current(), status;
    bool run;

    if (!plm_device_count())
        return plm_rt(PLM_RT_NO_DEVICE);
    if (!kernel)
        return plm_rt(PLM_RT_INVALID_DEVICE_FUNCTION);
    status = launch_check(kernel, plm_device_card(device), grid, block, shared);
    if (status)
        return plm_rt(status);
    status = plm_rt_stream(plm_stream_enqueue(stream, PLM_NODE_KERNEL, &run));
    if (status)
        return status;
    plm_device_activate(device);
    plm_footprint_kernel(device, kernel);
    if (run)
        plm_launch(kernel->name);
    plm_call_kernel(kernel,
                    &(struct plm_call_shape){{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, (uint32_t)shared},
                    arguments, stream, run);
    return PLM_RT_OK;
}

PLM_API int cudaLaunchKernel(const void *function, struct plm_dim3 grid, struct plm_dim3 block, void **arguments,
                             size_t shared, struct plm_stream *stream)
{
    return plm_rt_launch(function, grid, block, arguments, shared, stream);
}

PLM_API int __cudaLaunchKernel(struct plm_kernel *kernel, struct plm_dim3 grid, struct plm_dim3 block, void **arguments,
                               size_t shared, struct plm_stream *stream)
{
    return plm_rt_launch(kernel, grid, block, arguments, shared, stream);
}

/* The head of the documented launch configuration. */
struct launch_config {
    struct plm_dim3 grid, block;
    size_t shared;
    struct plm_stream *stream;
};

PLM_API int cudaLaunchKernelExC(const struct launch_config *config, const void *function, void **arguments)
{
    if (!config)
        return plm_rt(PLM_RT_INVALID_VALUE);
    return plm_rt_launch(function, config->grid, config->block, arguments, config->shared, config->stream);
}

/* Runs at once: the stream is always done. A capture only counts it. */
PLM_API int cudaLaunchHostFunc(struct plm_stream *stream, void (*function)(void *), void *data)
{
    bool run;
    int status;
    if (!function)
        return plm_rt(PLM_RT_INVALID_VALUE);
    status = plm_rt_stream(plm_stream_enqueue(stream, PLM_NODE_HOST, &run));
    if (!status && run)
        function(data);
    return status;
}

PLM_API int cudaStreamAddCallback(struct plm_stream *stream, void (*function)(struct plm_stream *, int, void *),
                                  void *data, unsigned flags)
{
    (void)flags;
    if (!function)
        return plm_rt(PLM_RT_INVALID_VALUE);
    function(stream, PLM_RT_OK, data);
    return PLM_RT_OK;
}

/* ---- the <<<>>> configuration, kept per thread between push and pop ---- */

enum { NESTING = 16 };
static __thread struct launch_config pushed[NESTING];
static __thread int depth;

PLM_API unsigned __cudaPushCallConfiguration(struct plm_dim3 grid, struct plm_dim3 block, size_t shared,
                                             struct plm_stream *stream)
{
    if (depth == NESTING)
        return 1;
    pushed[depth++] = (struct launch_config){grid, block, shared, stream};
    return 0;
}

PLM_API int __cudaPopCallConfiguration(struct plm_dim3 *grid, struct plm_dim3 *block, size_t *shared, void *stream)
{
    const struct launch_config *c;
    if (!depth)
        return plm_rt(PLM_RT_INVALID_VALUE);
    c = &pushed[--depth];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    *(struct plm_stream **)stream = c->stream;
    return PLM_RT_OK;
}

/* ---- attributes of a kernel ---- */

/* No image is disassembled, so registers and sizes are typical constants, not the kernel's own. */
struct function_attributes {
    size_t shared, constant, local;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout;
    int cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy, cluster_non_portable;
    int unused[16];
};
enum { TYPICAL_REGISTERS = 32 };

PLM_API int cudaFuncGetAttributes(struct function_attributes *out, const void *function)
{
    const struct plm_kernel *kernel = plm_rt_kernel(function);
    const struct plm_card *card = plm_device_card(plm_device_current());
    int code, binary;
    if (!out)
        return plm_rt(PLM_RT_INVALID_VALUE);
    if (!kernel)
        return plm_rt(PLM_RT_INVALID_DEVICE_FUNCTION);
    if (!plm_module_runs_on(kernel->module, card))
        return plm_rt(PLM_RT_NO_KERNEL_IMAGE);
    plm_module_version(kernel->module, card, &code, &binary);
    *out = (struct function_attributes){
        .max_threads = card->max_threads_per_block,
        .registers = TYPICAL_REGISTERS,
        .ptx_version = code,
        .binary_version = binary,
        .max_dynamic_shared = kernel->max_dynamic_shared ? kernel->max_dynamic_shared : card->shared_per_block,
        .carveout = kernel->preferred_carveout ? kernel->preferred_carveout : -1,
    };
    return PLM_RT_OK;
}

static int set_attribute(struct plm_kernel *kernel, int attribute, int value)
{
    enum { MAX_DYNAMIC_SHARED = 8, CARVEOUT = 9 };
    if (!kernel)
        return plm_rt(PLM_RT_INVALID_DEVICE_FUNCTION);
    if (attribute == MAX_DYNAMIC_SHARED) {
        if (value < 0 || value > plm_device_card(plm_device_current())->shared_per_block_optin)
            return plm_rt(PLM_RT_INVALID_VALUE);
        kernel->max_dynamic_shared = value;
    } else if (attribute == CARVEOUT)
        kernel->preferred_carveout = value;
    return PLM_RT_OK;
}

PLM_API int cudaFuncSetAttribute(const void *function, int attribute, int value)
{
    return set_attribute(plm_rt_kernel(function), attribute, value);
}

PLM_API int cudaKernelSetAttributeForDevice(struct plm_kernel *kernel, int attribute, int value, int device)
{
    (void)device;
    return set_attribute(kernel, attribute, value);
}

/* ---- occupancy, from the card's limits and the typical register count ---- */

PLM_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads,
                                                                   size_t shared, unsigned flags)
{
    const struct plm_card *card = plm_device_card(plm_device_current());
    int by_threads, by_registers, by_shared, most;
    (void)flags;
    if (!blocks || threads <= 0)
        return plm_rt(PLM_RT_INVALID_VALUE);
    if (!plm_rt_kernel(function))
        return plm_rt(PLM_RT_INVALID_DEVICE_FUNCTION);
    threads = (threads + card->warp_size - 1) / card->warp_size * card->warp_size;
    by_threads = card->max_threads_per_sm / threads;
    by_registers = card->registers_per_sm / (threads * TYPICAL_REGISTERS);
    by_shared =
        shared ? (int)((size_t)card->shared_per_sm / (shared + (size_t)card->shared_reserved_per_block)) : by_threads;
    most = by_threads < by_registers ? by_threads : by_registers;
    most = most < by_shared ? most : by_shared;
    *blocks = most < card->max_blocks_per_sm ? most : card->max_blocks_per_sm;
    return PLM_RT_OK;
}

PLM_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

PLM_API int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks, int threads)
{
    const struct plm_card *card = plm_device_card(plm_device_current());
    int each;
    (void)function, (void)threads;
    if (!bytes || blocks <= 0)
        return plm_rt(PLM_RT_INVALID_VALUE);
    each = card->shared_per_sm / blocks - card->shared_reserved_per_block;
    each = each < 0 ? 0 : each;
    *bytes = (size_t)(each < card->shared_per_block ? each : card->shared_per_block);
    return PLM_RT_OK;
}

/* A cluster has at most 8 blocks unless a kernel asks for more; one per 16 SMs at a time is typical. */
PLM_API int cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const struct launch_config *config)
{
    (void)function, (void)config;
    if (!size)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *size = plm_device_card(plm_device_current())->major >= 9 ? 8 : 1;
    return PLM_RT_OK;
}

PLM_API int cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const struct launch_config *config)
{
    (void)function, (void)config;
    if (!clusters)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *clusters = plm_device_card(plm_device_current())->sms / 16 + 1;
    return PLM_RT_OK;
}

/* More blocks than can be resident at once cannot synchronize with each other. */
PLM_API int cudaLaunchCooperativeKernel(const void *function, struct plm_dim3 grid, struct plm_dim3 block,
                                        void **arguments, size_t shared, struct plm_stream *stream)
{
    int resident = 0, status;
    status =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function, (int)(block.x * block.y * block.z), shared);
    if (status)
        return status;
    if ((uint64_t)grid.x * grid.y * grid.z > (uint64_t)resident * (uint64_t)plm_device_card(0)->sms)
        return plm_rt(PLM_RT_COOPERATIVE_TOO_LARGE);
    return plm_rt_launch(function, grid, block, arguments, shared, stream);
}
