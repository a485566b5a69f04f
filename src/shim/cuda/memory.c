#include "device/pool.h"
#include "shim/cuda/driver.h"

/* Device, host and managed memory. */

enum { PITCH_UNIT = 512 };

PLM_API int cuMemAlloc_v2(uint64_t *address, size_t size)
{
    int device, status;
    if (!address || !size)
        return PLM_CU_INVALID_VALUE;
    status = plm_cu_blocking(&device);
    return status ? status : plm_cu_from_device(plm_mem_alloc(device, size, address));
}

PLM_API int cuMemAllocPitch_v2(uint64_t *address, size_t *pitch, size_t width, size_t height, unsigned element)
{
    size_t row = (width + PITCH_UNIT - 1) / PITCH_UNIT * PITCH_UNIT, bytes;
    int status;
    if (!address || !pitch || !width || !height || (element != 4 && element != 8 && element != 16))
        return PLM_CU_INVALID_VALUE;
    if (row < width || __builtin_mul_overflow(row, height, &bytes))
        return PLM_CU_OUT_OF_MEMORY;
    status = cuMemAlloc_v2(address, bytes);
    if (status == 0)
        *pitch = row;
    return status;
}

/* Memory of a pool may be freed here as well; its first piece starts where the pool's own block does. */
PLM_API int cuMemFree_v2(uint64_t address)
{
    int device, status = plm_cu_blocking(&device);
    if (status || !address)
        return status;
    if (plm_pool_free(address, NULL) == 0)
        return 0;
    return plm_cu_from_device(plm_mem_free(address));
}

PLM_API int cuMemAllocManaged(uint64_t *address, size_t size, unsigned flags)
{
    enum { GLOBAL = 1, HOST = 2 };
    int device, status;
    if (!address || !size || (flags != GLOBAL && flags != HOST))
        return PLM_CU_INVALID_VALUE;
    status = plm_cu_blocking(&device);
    return status ? status : plm_cu_from_device(plm_mem_managed(device, size, address));
}

PLM_API int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    uint64_t free_now, total;
    int device, status = plm_cu_device(&device);
    if (!free_bytes || !total_bytes)
        return PLM_CU_INVALID_VALUE;
    if (status)
        return status;
    plm_device_memory(device, &free_now, &total);
    *free_bytes = free_now;
    *total_bytes = total;
    return 0;
}

/* The first edition of the interface has 32 bits for each. */
PLM_API int cuMemGetInfo(unsigned *free_bytes, unsigned *total_bytes)
{
    size_t free_now, total;
    int status = free_bytes && total_bytes ? cuMemGetInfo_v2(&free_now, &total) : PLM_CU_INVALID_VALUE;
    if (status)
        return status;
    *free_bytes = free_now > UINT32_MAX ? UINT32_MAX : (unsigned)free_now;
    *total_bytes = total > UINT32_MAX ? UINT32_MAX : (unsigned)total;
    return 0;
}

PLM_API int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t address)
{
    struct plm_mem_info info = plm_mem_query((const void *)address);
    if (info.kind == PLM_MEM_NONE)
        return PLM_CU_NOT_FOUND;
    if (base)
        *base = info.base;
    if (size)
        *size = info.size;
    return 0;
}

/* ---- host memory ---- */

static int host_alloc(void **out, size_t size, unsigned flags)
{
    int device, status;
    if (!out || !size)
        return PLM_CU_INVALID_VALUE;
    status = plm_cu_blocking(&device);
    return status ? status : plm_cu_from_device(plm_mem_host_alloc(size, flags, out));
}

PLM_API int cuMemAllocHost_v2(void **out, size_t size)
{
    return host_alloc(out, size, 0);
}
PLM_API int cuMemAllocHost(void **out, size_t size) __attribute__((alias("cuMemAllocHost_v2")));

PLM_API int cuMemHostAlloc(void **out, size_t size, unsigned flags)
{
    enum { KNOWN = 1 | 2 | 4 }; /* portable, mapped, write-combined */
    return flags & ~(unsigned)KNOWN ? PLM_CU_INVALID_VALUE : host_alloc(out, size, flags);
}

PLM_API int cuMemFreeHost(void *address)
{
    int device, status = plm_cu_blocking(&device);
    return status ? status : plm_cu_from_device(plm_mem_host_free(address));
}

PLM_API int cuMemHostRegister_v2(void *address, size_t size, unsigned flags)
{
    int device, status;
    if (!address || !size)
        return PLM_CU_INVALID_VALUE;
    status = plm_cu_device(&device);
    if (status)
        return status;
    if (plm_mem_query(address).kind == PLM_MEM_HOST)
        return PLM_CU_HOST_ALREADY_REGISTERED;
    return plm_cu_from_device(plm_mem_host_register(address, size, flags));
}
PLM_API int cuMemHostRegister(void *address, size_t size, unsigned flags)
    __attribute__((alias("cuMemHostRegister_v2")));

PLM_API int cuMemHostUnregister(void *address)
{
    int device, status = plm_cu_device(&device);
    if (!address)
        return PLM_CU_INVALID_VALUE;
    if (status)
        return status;
    return plm_mem_host_unregister(address) ? PLM_CU_HOST_NOT_REGISTERED : 0;
}

/* Host memory has the same address on the device. */
PLM_API int cuMemHostGetDevicePointer_v2(uint64_t *out, void *address, unsigned flags)
{
    enum plm_mem_kind kind = plm_mem_query(address).kind;
    if (!out || flags || (kind != PLM_MEM_HOST && kind != PLM_MEM_MANAGED))
        return PLM_CU_INVALID_VALUE;
    *out = (uint64_t)address;
    return 0;
}

PLM_API int cuMemHostGetFlags(unsigned *flags, void *address)
{
    struct plm_mem_info info = plm_mem_query(address);
    if (!flags || info.kind != PLM_MEM_HOST)
        return PLM_CU_INVALID_VALUE;
    *flags = info.flags;
    return 0;
}
