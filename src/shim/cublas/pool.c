#include "shim/cublas/pool.h"

#include <stddef.h>
#include <stdlib.h>

#include "device/device.h"
#include "device/footprint.h"

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)

/* As documented with cublasSetWorkspace: 32 MiB for compute capability 9.0 and 10.x, 12 MiB for 12.x, 4 MiB before. */
static const struct {
    int major;
    uint64_t bytes;
} defaults[] = {{12, 12 * MIB}, {9, 32 * MIB}, {0, 4 * MIB}};

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

uint64_t plm_cublas_pool_bytes(const struct plm_card *card, const char *setting)
{
    uint64_t set = setting ? configured(setting) : 0;
    size_t row = 0;
    if (set)
        return set;
    while (defaults[row].major > card->major)
        row++;
    return defaults[row].bytes;
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
    if (pool->address)
        return 0;
    return plm_mem_library(pool->device, "cublas", pool->bytes, &pool->address) ? -1 : 0;
}

void plm_cublas_pool_give(struct plm_cublas_pool *pool)
{
    plm_mem_free(pool->address);
    plm_footprint_range(pool->device, "cublas", 0, -(int64_t)pool->bytes);
    pool->address = 0;
}
