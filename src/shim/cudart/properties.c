#include <stdio.h>
#include <string.h>

#include "shim/cudart/runtime.h"

/*
 * The answer of cudaGetDeviceProperties. Its size and the place of each figure are part of the
 * interface and differ between the two generations; tests compare what PyTorch reads with the card.
 */
struct properties {
    char name[256];
    unsigned char uuid[16];
    char luid[8];
    unsigned luid_mask;
    size_t total_memory, shared_per_block;
    int registers_per_block, warp_size;
    size_t pitch_limit;
    int threads_per_block, block_limit[3], grid_limit[3];
#if PLM_CUDA == 12
    int clock_khz;
#endif
    size_t constant_memory;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
#if PLM_CUDA == 12
    int overlap;
#endif
    int multiprocessors;
#if PLM_CUDA == 12
    int timeout;
#endif
    int integrated, maps_host_memory;
#if PLM_CUDA == 12
    int compute_mode;
#endif
    int texture_1d, texture_1d_mipmap;
#if PLM_CUDA == 12
    int texture_1d_linear;
#endif
    int texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3], texture_2d_gather[2], texture_3d[3];
    int texture_3d_alternate[3], texture_cube, texture_1d_layered[2], texture_2d_layered[3], texture_cube_layered[2];
    int surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2], surface_2d_layered[3], surface_cube;
    int surface_cube_layered[2];
    size_t surface_alignment;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
#if PLM_CUDA == 12
    int memory_clock_khz;
#endif
    int bus_bits, l2_bytes, persisting_l2_bytes, threads_per_multiprocessor, stream_priorities, global_l1, local_l1;
    size_t shared_per_multiprocessor;
    int registers_per_multiprocessor, managed_memory, multi_gpu_board, board_group, host_atomics;
#if PLM_CUDA == 12
    int double_ratio;
#endif
    int pageable_access, concurrent_managed, preemption, host_pointer_registered, cooperative;
#if PLM_CUDA == 12
    int cooperative_multi;
#endif
    size_t shared_per_block_optin;
    int pageable_page_tables, direct_managed, blocks_per_multiprocessor, access_window;
    size_t reserved_shared;
    int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools, rdma;
    unsigned rdma_flush;
    int rdma_ordering;
    unsigned pool_handles;
    int deferred_arrays, ipc_events, clusters, function_pointers;
#if PLM_CUDA == 12
    int unused[63];
#else
    int numa_config, numa_id, mps, host_numa;
    unsigned pci_device_id, pci_subsystem_id;
    int multinode_ipc;
    int unused[56];
#endif
};

_Static_assert(sizeof(struct properties) == (PLM_CUDA == 12 ? 1032 : 1008), "size of the documented structure");
_Static_assert(offsetof(struct properties, multiprocessors) == (PLM_CUDA == 12 ? 388 : 384), "place of the SM count");

static void fill_limits(struct properties *p, const struct plm_card *card)
{
    p->total_memory = card->memory_total;
    p->shared_per_block = (size_t)card->shared_per_block;
    p->registers_per_block = card->registers_per_block;
    p->warp_size = card->warp_size;
    p->pitch_limit = 2147483647;
    p->threads_per_block = card->max_threads_per_block;
    memcpy(p->block_limit, card->max_block, sizeof p->block_limit);
    memcpy(p->grid_limit, card->max_grid, sizeof p->grid_limit);
    p->constant_memory = 65536;
    p->major = card->major;
    p->minor = card->minor;
    p->texture_alignment = p->surface_alignment = 512;
    p->texture_pitch_alignment = 32;
    p->multiprocessors = card->sms;
    p->bus_bits = card->memory_bus_bits;
    p->l2_bytes = (int)card->l2_bytes;
    p->persisting_l2_bytes = card->major >= 8 ? (int)(card->l2_bytes / 4 * 3) : 0;
    p->threads_per_multiprocessor = card->max_threads_per_sm;
    p->shared_per_multiprocessor = (size_t)card->shared_per_sm;
    p->registers_per_multiprocessor = card->registers_per_sm;
    p->shared_per_block_optin = (size_t)card->shared_per_block_optin;
    p->blocks_per_multiprocessor = card->max_blocks_per_sm;
    p->reserved_shared = (size_t)card->shared_reserved_per_block;
    p->async_engines = card->async_engines;
}

static void fill_abilities(struct properties *p, const struct plm_card *card)
{
    p->integrated = !strcmp(card->class, "jetson");
    p->maps_host_memory = p->concurrent_kernels = p->unified_addressing = p->stream_priorities = 1;
    p->global_l1 = p->local_l1 = p->managed_memory = p->preemption = p->host_pointer_registered = 1;
    p->cooperative = p->memory_pools = p->host_register = p->concurrent_managed = p->ipc_events = 1;
    p->clusters = card->major >= 9;
#if PLM_CUDA == 12
    p->overlap = 1;
    p->clock_khz = card->clock_mhz * 1000;
    p->memory_clock_khz = card->memory_clock_mhz * 1000;
#endif
}

static int get_properties(struct properties *p, int device)
{
    const struct plm_card *card = plm_device_card(device);
    void (*uuid)(void *, int);

    if (!p)
        return plm_rt(PLM_RT_INVALID_VALUE);
    if (device < 0 || device >= plm_device_count())
        return plm_rt(PLM_RT_INVALID_DEVICE);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", card->name);
    *(void **)&uuid = plm_rt_driver("cuDeviceGetUuid_v2");
    uuid(p->uuid, device);
    p->pci_bus = 1 + device;
    fill_limits(p, card);
    fill_abilities(p, card);
    return PLM_RT_OK;
}

#if PLM_CUDA == 12
PLM_API int cudaGetDeviceProperties_v2(struct properties *p, int device)
{
    return get_properties(p, device);
}
#endif

PLM_API int cudaGetDeviceProperties(struct properties *p, int device)
{
    return get_properties(p, device);
}
