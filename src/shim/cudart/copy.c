#include "device/calls.h"
#include "shim/cudart/runtime.h"

/*
 * Copies and fills. Where the bytes are decides what happens, not the stated direction: under unified
 * addressing the direction is only a hint.
 */

static int synchronous(void)
{
    int device;
    return plm_rt_blocking(&device);
}

/* *run: the copy or fill may happen now, which it does not while the stream captures. */
static int queue(struct plm_stream *stream, enum plm_node_type type, bool *run)
{
    return plm_rt_stream(plm_stream_enqueue(stream, type, run));
}

/* Bytes of a rectangle; more than a size can express is no rectangle in memory. */
static int area(size_t width, size_t height, size_t *bytes)
{
    return __builtin_mul_overflow(width, height, bytes) ? plm_rt(PLM_RT_INVALID_VALUE) : PLM_RT_OK;
}

PLM_API int cudaMemcpy(void *dst, const void *src, size_t bytes, int kind)
{
    int status = synchronous();
    (void)kind;
    if (status)
        return status;
    plm_call_copy(dst, src, bytes, false, NULL, true);
    plm_copy(dst, src, bytes);
    return PLM_RT_OK;
}

PLM_API int cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, struct plm_stream *stream)
{
    bool run;
    int status = queue(stream, PLM_NODE_MEMCPY, &run);
    (void)kind;
    if (status)
        return status;
    plm_call_copy(dst, src, bytes, true, stream, run);
    if (run)
        plm_copy(dst, src, bytes);
    return PLM_RT_OK;
}

PLM_API int cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
    (void)dst_device, (void)src_device;
    return cudaMemcpy(dst, src, bytes, 0);
}

PLM_API int cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
                                struct plm_stream *stream)
{
    (void)dst_device, (void)src_device;
    return cudaMemcpyAsync(dst, src, bytes, 0, stream);
}

PLM_API int cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
                         int kind)
{
    size_t bytes;
    int status = area(width, height, &bytes);
    (void)kind;
    if (!status)
        status = synchronous();
    if (status)
        return status;
    plm_call_copy(dst, src, bytes, false, NULL, true);
    plm_copy_2d(dst, dst_pitch, src, src_pitch, width, height);
    return PLM_RT_OK;
}

PLM_API int cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                              size_t height, int kind, struct plm_stream *stream)
{
    size_t bytes;
    bool run;
    int status = area(width, height, &bytes);
    (void)kind;
    if (!status)
        status = queue(stream, PLM_NODE_MEMCPY, &run);
    if (status)
        return status;
    plm_call_copy(dst, src, bytes, true, stream, run);
    if (run)
        plm_copy_2d(dst, dst_pitch, src, src_pitch, width, height);
    return PLM_RT_OK;
}

/* A list of copies: arrays of destinations, sources and sizes. The arguments behind the size differ
   between releases and only describe hints. */
PLM_API int cudaMemcpyBatchAsync(void *const *dsts, void *const *srcs, const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        plm_call_copy(dsts[i], srcs[i], sizes[i], true, NULL, true);
        plm_copy(dsts[i], srcs[i], sizes[i]);
    }
    return PLM_RT_OK;
}

/* ---- symbols ---- */

static int symbol_range(const void *symbol, size_t bytes, size_t offset, uint64_t *address)
{
    size_t size;
    int status = plm_rt_symbol(symbol, address, &size);
    if (status)
        return plm_rt(status);
    if (offset > size || bytes > size - offset)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *address += offset;
    return PLM_RT_OK;
}

PLM_API int cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind)
{
    uint64_t at;
    int status = symbol_range(symbol, bytes, offset, &at);
    return status ? status : cudaMemcpy((void *)at, src, bytes, kind);
}

PLM_API int cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes, size_t offset, int kind,
                                    struct plm_stream *stream)
{
    uint64_t at;
    int status = symbol_range(symbol, bytes, offset, &at);
    return status ? status : cudaMemcpyAsync((void *)at, src, bytes, kind, stream);
}

PLM_API int cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind)
{
    uint64_t at;
    int status = symbol_range(symbol, bytes, offset, &at);
    return status ? status : cudaMemcpy(dst, (void *)at, bytes, kind);
}

PLM_API int cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
                                      struct plm_stream *stream)
{
    uint64_t at;
    int status = symbol_range(symbol, bytes, offset, &at);
    return status ? status : cudaMemcpyAsync(dst, (void *)at, bytes, kind, stream);
}

PLM_API int cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    uint64_t at = 0;
    size_t size;
    int status = pointer ? plm_rt_symbol(symbol, &at, &size) : PLM_RT_INVALID_VALUE;
    if (!status)
        *pointer = (void *)at;
    return plm_rt(status);
}

PLM_API int cudaGetSymbolSize(size_t *size, const void *symbol)
{
    uint64_t at;
    return plm_rt(size ? plm_rt_symbol(symbol, &at, size) : PLM_RT_INVALID_VALUE);
}

/* ---- fills ---- */

static void fill_rows(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    for (size_t row = 0; row < height; row++)
        plm_fill((char *)dst + row * pitch, (uint64_t)(unsigned char)value, 1, width);
}

PLM_API int cudaMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    size_t bytes;
    int status = area(width, height, &bytes);
    if (!status)
        status = synchronous();
    if (status)
        return status;
    plm_call_fill(dst, bytes, false, NULL, true);
    fill_rows(dst, pitch, value, width, height);
    return PLM_RT_OK;
}

PLM_API int cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height,
                              struct plm_stream *stream)
{
    size_t bytes;
    bool run;
    int status = area(width, height, &bytes);
    if (!status)
        status = queue(stream, PLM_NODE_MEMSET, &run);
    if (status)
        return status;
    plm_call_fill(dst, bytes, true, stream, run);
    if (run)
        fill_rows(dst, pitch, value, width, height);
    return PLM_RT_OK;
}

PLM_API int cudaMemset(void *dst, int value, size_t count)
{
    return cudaMemset2D(dst, 0, value, count, 1);
}

PLM_API int cudaMemsetAsync(void *dst, int value, size_t count, struct plm_stream *stream)
{
    return cudaMemset2DAsync(dst, 0, value, count, 1, stream);
}
