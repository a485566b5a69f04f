#include "device/calls.h"
#include "shim/cuda/driver.h"

/*
 * Copies of plain ranges. Those without a stream wait for the device; a capture may forbid that.
 * Those with one do nothing while it captures: a graph is recorded, not run.
 */

static bool is_device(uint64_t address)
{
    return plm_mem_query((const void *)address).kind != PLM_MEM_NONE;
}

static int copy_now(void *dst, const void *src, size_t bytes)
{
    int device, status = plm_cu_blocking(&device);
    if (status)
        return status;
    plm_call_copy(dst, src, bytes, false, NULL, true);
    plm_copy(dst, src, bytes);
    return 0;
}

static int copy_in_stream(void *dst, const void *src, size_t bytes, struct plm_stream *stream)
{
    bool run;
    int device, status = plm_cu_device(&device);
    if (status == 0)
        status = plm_cu_enqueue(stream, PLM_NODE_MEMCPY, &run);
    if (status)
        return status;
    plm_call_copy(dst, src, bytes, true, stream, run);
    if (run)
        plm_copy(dst, src, bytes);
    return 0;
}

PLM_API int cuMemcpy(uint64_t dst, uint64_t src, size_t bytes)
{
    return copy_now((void *)dst, (const void *)src, bytes);
}

PLM_API int cuMemcpyAsync(uint64_t dst, uint64_t src, size_t bytes, struct plm_stream *stream)
{
    return copy_in_stream((void *)dst, (const void *)src, bytes, stream);
}

PLM_API int cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t bytes)
{
    if (bytes && (!src || !is_device(dst)))
        return PLM_CU_INVALID_VALUE;
    return copy_now((void *)dst, src, bytes);
}

PLM_API int cuMemcpyHtoDAsync_v2(uint64_t dst, const void *src, size_t bytes, struct plm_stream *stream)
{
    if (bytes && (!src || !is_device(dst)))
        return PLM_CU_INVALID_VALUE;
    return copy_in_stream((void *)dst, src, bytes, stream);
}

PLM_API int cuMemcpyDtoH_v2(void *dst, uint64_t src, size_t bytes)
{
    if (bytes && (!dst || !is_device(src)))
        return PLM_CU_INVALID_VALUE;
    return copy_now(dst, (const void *)src, bytes);
}

PLM_API int cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t bytes, struct plm_stream *stream)
{
    if (bytes && (!dst || !is_device(src)))
        return PLM_CU_INVALID_VALUE;
    return copy_in_stream(dst, (const void *)src, bytes, stream);
}

PLM_API int cuMemcpyDtoD_v2(uint64_t dst, uint64_t src, size_t bytes)
{
    if (bytes && (!is_device(dst) || !is_device(src)))
        return PLM_CU_INVALID_VALUE;
    return copy_now((void *)dst, (const void *)src, bytes);
}

PLM_API int cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t bytes, struct plm_stream *stream)
{
    if (bytes && (!is_device(dst) || !is_device(src)))
        return PLM_CU_INVALID_VALUE;
    return copy_in_stream((void *)dst, (const void *)src, bytes, stream);
}

/* An address says which device it is on, so the contexts are not needed. */
PLM_API int cuMemcpyPeer(uint64_t dst, const struct plm_cu_context *to, uint64_t src, const struct plm_cu_context *from,
                         size_t bytes)
{
    if (!plm_cu_context_valid(to) || !plm_cu_context_valid(from))
        return PLM_CU_INVALID_CONTEXT;
    return cuMemcpyDtoD_v2(dst, src, bytes);
}

PLM_API int cuMemcpyPeerAsync(uint64_t dst, const struct plm_cu_context *to, uint64_t src,
                              const struct plm_cu_context *from, size_t bytes, struct plm_stream *stream)
{
    if (!plm_cu_context_valid(to) || !plm_cu_context_valid(from))
        return PLM_CU_INVALID_CONTEXT;
    return cuMemcpyDtoDAsync_v2(dst, src, bytes, stream);
}

PLM_API int cuMemcpyWithAttributesAsync(uint64_t dst, uint64_t src, size_t bytes, const void *attributes,
                                        struct plm_stream *stream)
{
    (void)attributes;
    return cuMemcpyAsync(dst, src, bytes, stream);
}

/* ---- many copies in one call ---- */

PLM_API int cuMemcpyBatchAsync_v2(const uint64_t *dst, const uint64_t *src, const size_t *bytes, size_t count,
                                  const void *attributes, const size_t *starts, size_t attribute_count,
                                  struct plm_stream *stream)
{
    int status = 0;
    (void)attributes, (void)starts, (void)attribute_count;
    if (!dst || !src || !bytes || !count)
        return PLM_CU_INVALID_VALUE;
    for (size_t i = 0; i < count && status == 0; i++)
        status = cuMemcpyAsync(dst[i], src[i], bytes[i], stream);
    return status;
}

PLM_API int cuMemcpyBatchAsync(const uint64_t *dst, const uint64_t *src, const size_t *bytes, size_t count,
                               const void *attributes, const size_t *starts, size_t attribute_count, size_t *failed,
                               struct plm_stream *stream)
{
    int status = cuMemcpyBatchAsync_v2(dst, src, bytes, count, attributes, starts, attribute_count, stream);
    if (failed)
        *failed = SIZE_MAX; /* "not one copy in particular" */
    return status;
}
