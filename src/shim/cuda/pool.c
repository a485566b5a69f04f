#include "device/pool.h"

#include "shim/cuda/driver.h"

/* Stream-ordered allocation and its pools. */

enum { LOCATION_DEVICE = 1 };

struct location {
    int type, id;
};

struct pool_properties {
    int type;
    int handle_types;
    struct location location;
    void *windows;
    size_t max_size;
    uint16_t usage;
    unsigned char reserved[54];
};

static int allocate(struct plm_pool *pool, struct plm_stream *stream, size_t size, uint64_t *address)
{
    bool run;
    int status;
    if (!address || !size)
        return PLM_CU_INVALID_VALUE;
    if (!pool)
        return PLM_CU_INVALID_HANDLE;
    status = plm_cu_enqueue(stream, PLM_NODE_MEM_ALLOC, &run);
    return status ? status : plm_cu_from_device(plm_pool_alloc(pool, stream, size, address));
}

PLM_API int cuMemAllocAsync(uint64_t *address, size_t size, struct plm_stream *stream)
{
    int device, status = plm_cu_device(&device);
    if (status == 0)
        status = plm_cu_from_stream(plm_stream_device(stream, &device));
    return status ? status : allocate(plm_pool_current(device), stream, size, address);
}

PLM_API int cuMemAllocFromPoolAsync(uint64_t *address, size_t size, struct plm_pool *pool, struct plm_stream *stream)
{
    return allocate(pool, stream, size, address);
}

/* Memory that came from cuMemAlloc may be freed in stream order too. */
PLM_API int cuMemFreeAsync(uint64_t address, struct plm_stream *stream)
{
    bool run;
    int status = plm_cu_enqueue(stream, PLM_NODE_MEM_FREE, &run);
    if (status)
        return status;
    if (plm_pool_free(address, stream) == 0)
        return 0;
    return plm_cu_from_device(plm_mem_free(address));
}

static int hand_out(struct plm_pool **out, struct plm_pool *pool)
{
    *out = pool;
    return pool ? 0 : PLM_CU_OUT_OF_MEMORY;
}

PLM_API int cuDeviceGetDefaultMemPool(struct plm_pool **out, int device)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    return plm_cu_device_valid(device) ? hand_out(out, plm_pool_default(device)) : PLM_CU_INVALID_DEVICE;
}

PLM_API int cuDeviceGetMemPool(struct plm_pool **out, int device)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    return plm_cu_device_valid(device) ? hand_out(out, plm_pool_current(device)) : PLM_CU_INVALID_DEVICE;
}

PLM_API int cuDeviceSetMemPool(int device, struct plm_pool *pool)
{
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    return plm_cu_from_device(plm_pool_set_current(device, pool));
}

/* The same by location, as CUDA 13 has it. Only a device has pools here. */
PLM_API int cuMemGetDefaultMemPool(struct plm_pool **out, const struct location *location)
{
    static const struct plm_symbol symbol = {"cuda", "cuMemGetDefaultMemPool"};
    if (!location)
        return PLM_CU_INVALID_VALUE;
    if (location->type != LOCATION_DEVICE)
        return plm_cu_refuse(&symbol);
    return cuDeviceGetDefaultMemPool(out, location->id);
}

PLM_API int cuMemGetMemPool(struct plm_pool **out, const struct location *location)
{
    static const struct plm_symbol symbol = {"cuda", "cuMemGetMemPool"};
    if (!location)
        return PLM_CU_INVALID_VALUE;
    if (location->type != LOCATION_DEVICE)
        return plm_cu_refuse(&symbol);
    return cuDeviceGetMemPool(out, location->id);
}

PLM_API int cuMemSetMemPool(const struct location *location, int type, struct plm_pool *pool)
{
    static const struct plm_symbol symbol = {"cuda", "cuMemSetMemPool"};
    (void)type;
    if (!location)
        return PLM_CU_INVALID_VALUE;
    if (location->type != LOCATION_DEVICE)
        return plm_cu_refuse(&symbol);
    return cuDeviceSetMemPool(location->id, pool);
}

PLM_API int cuMemPoolCreate(struct plm_pool **out, const struct pool_properties *properties)
{
    static const struct plm_symbol symbol = {"cuda", "cuMemPoolCreate"};
    if (!out || !properties)
        return PLM_CU_INVALID_VALUE;
    if (properties->location.type != LOCATION_DEVICE || properties->handle_types)
        return plm_cu_refuse(&symbol); /* memory of the host, or shared between processes */
    if (!plm_cu_device_valid(properties->location.id))
        return PLM_CU_INVALID_DEVICE;
    return plm_cu_from_device(plm_pool_create(properties->location.id, out));
}

PLM_API int cuMemPoolDestroy(struct plm_pool *pool)
{
    return plm_cu_from_device(plm_pool_destroy(pool));
}

PLM_API int cuMemPoolTrimTo(struct plm_pool *pool, size_t keep)
{
    return plm_cu_from_device(plm_pool_trim(pool, keep));
}

PLM_API int cuMemPoolGetAttribute(struct plm_pool *pool, int attribute, void *value)
{
    return plm_cu_from_device(plm_pool_attribute_get(pool, attribute, value));
}

PLM_API int cuMemPoolSetAttribute(struct plm_pool *pool, int attribute, const void *value)
{
    return plm_cu_from_device(plm_pool_attribute_set(pool, attribute, value));
}
