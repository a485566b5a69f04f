#include "device/pool.h"
#include "shim/cudart/runtime.h"

/* ---- allocation ---- */

PLM_API int cudaMalloc(void **pointer, size_t size)
{
    uint64_t address = 0;
    int device, status = plm_rt_blocking(&device);
    if (status)
        return status;
    if (!pointer)
        return plm_rt(PLM_RT_INVALID_VALUE);
    status = plm_mem_alloc(device, size, &address);
    *pointer = (void *)address;
    return plm_rt_device(status);
}

PLM_API int cudaFree(void *pointer)
{
    int device, status = plm_rt_blocking(&device);
    if (status)
        return status;
    /* A pool's memory first: its first piece starts where the pool's own allocation does. */
    if (plm_pool_free((uint64_t)pointer, NULL) == 0)
        return PLM_RT_OK;
    return plm_rt_device(plm_mem_free((uint64_t)pointer));
}

PLM_API int cudaMallocManaged(void **pointer, size_t size, unsigned flags)
{
    uint64_t address = 0;
    int device, status = plm_rt_blocking(&device);
    (void)flags;
    if (status)
        return status;
    if (!pointer || !size)
        return plm_rt(PLM_RT_INVALID_VALUE);
    status = plm_mem_managed(device, size, &address);
    *pointer = (void *)address;
    return plm_rt_device(status);
}

/* Rows of `width` bytes, each at a multiple of 512. What no size can express is more than any card has. */
static int alloc_rows(void **pointer, size_t *pitch, size_t width, size_t rows)
{
    enum { PITCH_ALIGN = 512 };
    size_t row = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN, bytes;
    if (row < width || __builtin_mul_overflow(row, rows, &bytes))
        return plm_rt(PLM_RT_MEMORY_ALLOCATION);
    *pitch = row;
    return cudaMalloc(pointer, bytes);
}

PLM_API int cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    return pointer && pitch ? alloc_rows(pointer, pitch, width, height) : plm_rt(PLM_RT_INVALID_VALUE);
}

struct pitched {
    void *pointer;
    size_t pitch, width, height;
};
struct extent {
    size_t width, height, depth;
};

PLM_API int cudaMalloc3D(struct pitched *out, struct extent extent)
{
    size_t rows;
    if (!out)
        return plm_rt(PLM_RT_INVALID_VALUE);
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return plm_rt(PLM_RT_MEMORY_ALLOCATION);
    out->width = extent.width;
    out->height = extent.height;
    return alloc_rows(&out->pointer, &out->pitch, extent.width, rows);
}

/* ---- host memory ---- */

PLM_API int cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
    int device, status = plm_rt_blocking(&device);
    if (status)
        return status;
    if (!pointer)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *pointer = NULL;
    return size ? plm_rt_device(plm_mem_host_alloc(size, flags, pointer)) : PLM_RT_OK;
}

PLM_API int cudaMallocHost(void **pointer, size_t size)
{
    return cudaHostAlloc(pointer, size, 0);
}

PLM_API int cudaFreeHost(void *pointer)
{
    int device, status = plm_rt_blocking(&device);
    return status ? status : plm_rt_device(plm_mem_host_free(pointer));
}

PLM_API int cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
    int status = plm_mem_host_register(pointer, size, flags);
    if (status == PLM_DEV_INVALID && pointer && size)
        return plm_rt(PLM_RT_HOST_ALREADY_REGISTERED);
    return plm_rt_device(status);
}

PLM_API int cudaHostUnregister(void *pointer)
{
    return plm_mem_host_unregister(pointer) ? plm_rt(PLM_RT_HOST_NOT_REGISTERED) : PLM_RT_OK;
}

PLM_API int cudaHostGetDevicePointer(void **out, void *pointer, unsigned flags)
{
    (void)flags;
    if (!out || plm_mem_query(pointer).kind != PLM_MEM_HOST)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *out = pointer;
    return PLM_RT_OK;
}

PLM_API int cudaHostGetFlags(unsigned *flags, void *pointer)
{
    struct plm_mem_info info = plm_mem_query(pointer);
    if (!flags || info.kind != PLM_MEM_HOST)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *flags = info.flags;
    return PLM_RT_OK;
}

/* ---- what a pointer is ---- */

struct pointer_attributes {
    int type, device;
    void *on_device, *on_host;
#if PLM_CUDA >= 13
    long unused[8];
#endif
};
_Static_assert(sizeof(struct pointer_attributes) == (PLM_CUDA == 12 ? 24 : 88), "size of the documented structure");

PLM_API int cudaPointerGetAttributes(struct pointer_attributes *out, const void *pointer)
{
    enum { UNREGISTERED = 0, HOST = 1, DEVICE = 2, MANAGED = 3 };
    struct plm_mem_info info = plm_mem_query(pointer);
    if (!out)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *out = (struct pointer_attributes){.type = UNREGISTERED, .device = -2, .on_host = (void *)pointer};
    switch (info.kind) {
    case PLM_MEM_DEVICE:
        *out = (struct pointer_attributes){.type = DEVICE, .device = info.device, .on_device = (void *)pointer};
        break;
    case PLM_MEM_HOST:
    case PLM_MEM_MANAGED:
        out->type = info.kind == PLM_MEM_HOST ? HOST : MANAGED;
        out->device = info.device;
        out->on_device = (void *)pointer;
        break;
    case PLM_MEM_NONE: break;
    }
    return PLM_RT_OK;
}

/* ---- stream-ordered memory ---- */

static int pool_alloc(void **pointer, size_t size, struct plm_pool *pool, struct plm_stream *stream)
{
    uint64_t address = 0;
    bool run;
    int status;
    if (!pointer || !pool)
        return plm_rt(PLM_RT_INVALID_VALUE);
    plm_device_activate(plm_device_current());
    status = plm_rt_stream(plm_stream_enqueue(stream, PLM_NODE_MEM_ALLOC, &run));
    if (status)
        return status;
    status = plm_pool_alloc(pool, stream, size, &address);
    *pointer = (void *)address;
    return plm_rt_device(status);
}

PLM_API int cudaMallocAsync(void **pointer, size_t size, struct plm_stream *stream)
{
    int device = plm_device_current();
    plm_stream_device(stream, &device);
    return pool_alloc(pointer, size, plm_pool_current(device), stream);
}

PLM_API int cudaMallocFromPoolAsync(void **pointer, size_t size, struct plm_pool *pool, struct plm_stream *stream)
{
    return pool_alloc(pointer, size, pool, stream);
}

PLM_API int cudaFreeAsync(void *pointer, struct plm_stream *stream)
{
    bool run;
    int status = plm_rt_stream(plm_stream_enqueue(stream, PLM_NODE_MEM_FREE, &run));
    if (status || plm_pool_free((uint64_t)pointer, stream) == 0)
        return status;
    return plm_rt_device(plm_mem_free((uint64_t)pointer)); /* memory of cudaMalloc may be freed in stream order too */
}

PLM_API int cudaDeviceGetDefaultMemPool(struct plm_pool **pool, int device)
{
    if (!pool)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *pool = plm_pool_default(device);
    return *pool ? PLM_RT_OK : plm_rt(PLM_RT_INVALID_DEVICE);
}

PLM_API int cudaDeviceGetMemPool(struct plm_pool **pool, int device)
{
    if (!pool)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *pool = plm_pool_current(device);
    return *pool ? PLM_RT_OK : plm_rt(PLM_RT_INVALID_DEVICE);
}

PLM_API int cudaDeviceSetMemPool(int device, struct plm_pool *pool)
{
    return plm_rt_device(plm_pool_set_current(device, pool));
}

/* The head of the documented pool properties: what kind of memory, and where. */
struct pool_properties {
    int type, handle_types, location_type, location_id;
};

PLM_API int cudaMemPoolCreate(struct plm_pool **pool, const struct pool_properties *properties)
{
    if (!pool || !properties)
        return plm_rt(PLM_RT_INVALID_VALUE);
    return plm_rt_device(plm_pool_create(properties->location_id, pool));
}

PLM_API int cudaMemPoolDestroy(struct plm_pool *pool)
{
    return plm_rt_device(plm_pool_destroy(pool));
}

PLM_API int cudaMemPoolTrimTo(struct plm_pool *pool, size_t keep)
{
    return plm_rt_device(plm_pool_trim(pool, keep));
}

PLM_API int cudaMemPoolGetAttribute(struct plm_pool *pool, int attribute, void *value)
{
    return plm_rt_device(plm_pool_attribute_get(pool, attribute, value));
}

PLM_API int cudaMemPoolSetAttribute(struct plm_pool *pool, int attribute, void *value)
{
    return plm_rt_device(plm_pool_attribute_set(pool, attribute, value));
}

PLM_API int cudaMemPoolGetAccess(int *flags, struct plm_pool *pool, const void *location)
{
    enum { READ_WRITE = 3 };
    if (!flags || !pool || !location)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *flags = READ_WRITE;
    return PLM_RT_OK;
}

/* ---- memory of captured graphs: none is ever taken by them here ---- */

PLM_API int cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value)
{
    (void)attribute;
    if (!value || device < 0 || device >= plm_device_count())
        return plm_rt(PLM_RT_INVALID_VALUE);
    *(uint64_t *)value = 0;
    return PLM_RT_OK;
}
