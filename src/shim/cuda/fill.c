#include "device/calls.h"
#include "shim/cuda/driver.h"

/* Setting memory: one function per element size, for ranges and for rectangles, with a stream and without. */

struct fill {
    uint64_t address;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
};

static int fill(const struct fill *f, bool in_stream, struct plm_stream *stream)
{
    size_t bytes;
    bool run = true;
    int device, status;

    if (__builtin_mul_overflow(f->width, f->element, &bytes) || __builtin_mul_overflow(bytes, f->height, &bytes))
        return PLM_CU_INVALID_VALUE;
    if (f->address % f->element || (f->height > 1 && f->pitch % f->element))
        return PLM_CU_INVALID_VALUE;
    if (f->width && f->height && plm_mem_query((const void *)f->address).kind == PLM_MEM_NONE)
        return PLM_CU_INVALID_VALUE;
    status = in_stream ? plm_cu_device(&device) : plm_cu_blocking(&device);
    if (status == 0 && in_stream)
        status = plm_cu_enqueue(stream, PLM_NODE_MEMSET, &run);
    if (status)
        return status;
    plm_call_fill((void *)f->address, bytes, in_stream, stream, run);
    for (size_t row = 0; run && f->width && row < f->height; row++)
        plm_fill((void *)(f->address + row * f->pitch), f->value, f->element, f->width);
    return 0;
}

static int fill_range(uint64_t address, unsigned value, unsigned element, size_t count, bool in_stream,
                      struct plm_stream *stream)
{
    const struct fill f = {address, 0, value, element, count, 1};
    return fill(&f, in_stream, stream);
}

PLM_API int cuMemsetD8_v2(uint64_t address, unsigned char value, size_t count)
{
    return fill_range(address, value, 1, count, false, NULL);
}

PLM_API int cuMemsetD16_v2(uint64_t address, unsigned short value, size_t count)
{
    return fill_range(address, value, 2, count, false, NULL);
}

PLM_API int cuMemsetD32_v2(uint64_t address, unsigned value, size_t count)
{
    return fill_range(address, value, 4, count, false, NULL);
}

PLM_API int cuMemsetD8Async(uint64_t address, unsigned char value, size_t count, struct plm_stream *stream)
{
    return fill_range(address, value, 1, count, true, stream);
}

PLM_API int cuMemsetD16Async(uint64_t address, unsigned short value, size_t count, struct plm_stream *stream)
{
    return fill_range(address, value, 2, count, true, stream);
}

PLM_API int cuMemsetD32Async(uint64_t address, unsigned value, size_t count, struct plm_stream *stream)
{
    return fill_range(address, value, 4, count, true, stream);
}

PLM_API int cuMemsetD2D8_v2(uint64_t address, size_t pitch, unsigned char value, size_t width, size_t height)
{
    const struct fill f = {address, pitch, value, 1, width, height};
    return fill(&f, false, NULL);
}

PLM_API int cuMemsetD2D16_v2(uint64_t address, size_t pitch, unsigned short value, size_t width, size_t height)
{
    const struct fill f = {address, pitch, value, 2, width, height};
    return fill(&f, false, NULL);
}

PLM_API int cuMemsetD2D32_v2(uint64_t address, size_t pitch, unsigned value, size_t width, size_t height)
{
    const struct fill f = {address, pitch, value, 4, width, height};
    return fill(&f, false, NULL);
}

PLM_API int cuMemsetD2D8Async(uint64_t address, size_t pitch, unsigned char value, size_t width, size_t height,
                              struct plm_stream *stream)
{
    const struct fill f = {address, pitch, value, 1, width, height};
    return fill(&f, true, stream);
}

PLM_API int cuMemsetD2D16Async(uint64_t address, size_t pitch, unsigned short value, size_t width, size_t height,
                               struct plm_stream *stream)
{
    const struct fill f = {address, pitch, value, 2, width, height};
    return fill(&f, true, stream);
}

PLM_API int cuMemsetD2D32Async(uint64_t address, size_t pitch, unsigned value, size_t width, size_t height,
                               struct plm_stream *stream)
{
    const struct fill f = {address, pitch, value, 4, width, height};
    return fill(&f, true, stream);
}
