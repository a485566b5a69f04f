#include <stdio.h>
#include <string.h>

#include "shim/cuda/driver.h"

/* Who the devices are: count, name, place, memory. */

bool plm_cu_device_valid(int device)
{
    return device >= 0 && device < plm_device_count();
}

PLM_API int cuInit(unsigned flags)
{
    if (flags)
        return PLM_CU_INVALID_VALUE;
    return plm_device_count() > 0 ? 0 : PLM_CU_NO_DEVICE;
}

PLM_API int cuDriverGetVersion(int *version)
{
    if (!version)
        return PLM_CU_INVALID_VALUE;
    *version = PLM_CU_DRIVER_VERSION;
    return 0;
}

PLM_API int cuDeviceGetCount(int *count)
{
    if (!count)
        return PLM_CU_INVALID_VALUE;
    plm_gpus_counted();
    *count = plm_device_count();
    return 0;
}

PLM_API int cuDeviceGet(int *device, int ordinal)
{
    if (!device)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(ordinal))
        return PLM_CU_INVALID_DEVICE;
    *device = ordinal;
    return 0;
}

PLM_API int cuDeviceGetName(char *name, int length, int device)
{
    if (!name || length <= 0)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    snprintf(name, (size_t)length, "%s", plm_device_card(device)->name);
    return 0;
}

/* Made from the model and the index, so that two runs of one job see the same cards. */
PLM_API int cuDeviceGetUuid_v2(struct plm_cu_uuid *uuid, int device)
{
    uint64_t hash[2] = {0xcbf29ce484222325ull, 0x84222325cbf29ce4ull};
    if (!uuid)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    for (const char *p = plm_device_card(device)->id; *p; p++)
        for (int i = 0; i < 2; i++)
            hash[i] = (hash[i] ^ (unsigned char)*p) * 0x100000001b3ull;
    memcpy(uuid->bytes, hash, sizeof uuid->bytes);
    uuid->bytes[6] = (unsigned char)((uuid->bytes[6] & 0x0f) | 0x40); /* version and variant of a UUID */
    uuid->bytes[8] = (unsigned char)((uuid->bytes[8] & 0x3f) | 0x80);
    uuid->bytes[15] = (unsigned char)device;
    return 0;
}
PLM_API int cuDeviceGetUuid(struct plm_cu_uuid *uuid, int device) __attribute__((alias("cuDeviceGetUuid_v2")));

/* A LUID is a thing of Windows: elsewhere the driver reports this error too. */
PLM_API int cuDeviceGetLuid(char *luid, unsigned *node_mask, int device)
{
    if (!luid || !node_mask)
        return PLM_CU_INVALID_VALUE;
    memset(luid, 0, 8);
    *node_mask = 0;
    return plm_cu_device_valid(device) ? PLM_CU_NOT_SUPPORTED : PLM_CU_INVALID_DEVICE;
}

PLM_API int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    if (!bytes)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    *bytes = plm_device_card(device)->memory_total;
    return 0;
}

/* The first edition of the interface has 32 bits for it. */
PLM_API int cuDeviceTotalMem(unsigned *bytes, int device)
{
    size_t all = 0;
    int status = bytes ? cuDeviceTotalMem_v2(&all, device) : PLM_CU_INVALID_VALUE;
    if (status == 0)
        *bytes = all > UINT32_MAX ? UINT32_MAX : (unsigned)all;
    return status;
}

int plm_cu_bus_of(int device)
{
    return device + 1;
}

PLM_API int cuDeviceGetPCIBusId(char *text, int length, int device)
{
    if (!text || length <= 0)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    snprintf(text, (size_t)length, "%04X:%02X:%02X.0", 0u, (unsigned)plm_cu_bus_of(device), 0u);
    return 0;
}

/* "0000:01:00.0", "01:00.0" and "0000:01:00" are all in use. */
PLM_API int cuDeviceGetByPCIBusId(int *device, const char *text)
{
    unsigned domain = 0, bus = 0, slot = 0;
    if (!device || !text)
        return PLM_CU_INVALID_VALUE;
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        domain = 0;
        if (sscanf(text, "%x:%x", &bus, &slot) != 2)
            return PLM_CU_INVALID_VALUE;
    }
    for (int i = 0; i < plm_device_count(); i++)
        if (domain == 0 && slot == 0 && bus == (unsigned)plm_cu_bus_of(i)) {
            *device = i;
            return 0;
        }
    return PLM_CU_INVALID_DEVICE;
}

PLM_API int cuDeviceComputeCapability(int *major, int *minor, int device)
{
    if (!major || !minor)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    *major = plm_device_card(device)->major;
    *minor = plm_device_card(device)->minor;
    return 0;
}

struct properties {
    int max_threads_per_block, max_block[3], max_grid[3];
    int shared_per_block, constant_memory, warp_size, max_pitch, registers_per_block, clock_khz, texture_alignment;
};

PLM_API int cuDeviceGetProperties(struct properties *out, int device)
{
    const struct plm_card *card;
    if (!out)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    card = plm_device_card(device);
    *out = (struct properties){
        .max_threads_per_block = card->max_threads_per_block,
        .max_block = {card->max_block[0], card->max_block[1], card->max_block[2]},
        .max_grid = {card->max_grid[0], card->max_grid[1], card->max_grid[2]},
        .shared_per_block = card->shared_per_block,
        .constant_memory = 64 * 1024,
        .warp_size = card->warp_size,
        .max_pitch = INT32_MAX,
        .registers_per_block = card->registers_per_block,
        .clock_khz = card->clock_mhz * 1000,
        .texture_alignment = 512,
    };
    return 0;
}
