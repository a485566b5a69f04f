#include "shim/cublas/pool.h"

#include <stddef.h>
#include <stdlib.h>

#include "device/device.h"
#include "device/footprint.h"

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)

/* Its buffers: 32 MiB for compute capability 9.0 and 10.x, 12 MiB for 12.x, as documented with cublasSetWorkspace; before that
   the documented default of CUBLAS_WORKSPACE_CONFIG, ":4096:2:16:8": two of 4 MiB and eight of 16 KiB. The 4 MiB that
   cublasSetWorkspace names there are too few for published runs, which show both. */
static const struct {
    int major;
    uint64_t bytes[PLM_CUBLAS_BUFFERS];
} defaults[] = {{12, {12 * MIB}}, {9, {32 * MIB}}, {0, {4 * MIB, 4 * MIB, 128 * KIB}}};

/* ":4096:2:16:8" is two buffers of 4096 KiB and eight of 16 KiB. 0: not of that form. */
static uint64_t configured(const char *text)
{
    const uint64_t most = 1ull << 40;
    uint64_t sum = 0;
    while (*text == ':') {
        char *end;
        uint64_t kib = strtoull(text + 1, &end, 10), count, bytes;
        if (end == text + 1 || *end != ':')
            return 0;
        text = end;
        count = strtoull(text + 1, &end, 10);
        if (end == text + 1 || __builtin_mul_overflow(kib, count, &bytes) || bytes > most / KIB)
            return 0;
        sum += bytes * KIB;
        text = end;
    }
    return *text ? 0 : sum;
}

/* The buffers of a handle; returns their sum. A setting is taken as one. */
static uint64_t buffers(const struct plm_card *card, const char *setting, uint64_t bytes[PLM_CUBLAS_BUFFERS])
{
    uint64_t sum = setting ? configured(setting) : 0;
    size_t row = 0;
    for (size_t i = 0; i < PLM_CUBLAS_BUFFERS; i++)
        bytes[i] = i ? 0 : sum;
    if (sum)
        return sum;
    while (defaults[row].major > card->major)
        row++;
    for (size_t i = 0; i < PLM_CUBLAS_BUFFERS; i++)
        sum += bytes[i] = defaults[row].bytes[i];
    return sum;
}

uint64_t plm_cublas_pool_bytes(const struct plm_card *card, const char *setting)
{
    uint64_t bytes[PLM_CUBLAS_BUFFERS];
    return buffers(card, setting, bytes);
}

void plm_cublas_pool_make(int device, struct plm_cublas_pool *pool)
{
    pool->device = device;
    pool->bytes = plm_cublas_pool_bytes(plm_device_card(device), getenv("CUBLAS_WORKSPACE_CONFIG"));
    plm_footprint_library(device, PLM_LIBRARY_CUBLAS);
    plm_footprint_range(device, "cublas", 0, (int64_t)pool->bytes);
}

int plm_cublas_pool_take(struct plm_cublas_pool *pool)
{
    uint64_t bytes[PLM_CUBLAS_BUFFERS];
    if (pool->address[0])
        return 0;
    buffers(plm_device_card(pool->device), getenv("CUBLAS_WORKSPACE_CONFIG"), bytes);
    for (size_t i = 0; i < PLM_CUBLAS_BUFFERS && bytes[i]; i++)
        /* Small buffers of all handles share a page, as what cudaMalloc gives does. */
        if (bytes[i] < MIB ? plm_mem_alloc(pool->device, bytes[i], &pool->address[i])
                           : plm_mem_library(pool->device, "cublas", bytes[i], &pool->address[i]))
            return -1;
    return 0;
}

void plm_cublas_pool_give(struct plm_cublas_pool *pool)
{
    for (size_t i = 0; i < PLM_CUBLAS_BUFFERS; i++) {
        plm_mem_free(pool->address[i]);
        pool->address[i] = 0;
    }
    plm_footprint_range(pool->device, "cublas", 0, -(int64_t)pool->bytes);
}
