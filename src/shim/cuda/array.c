#include <stdlib.h>

#include "shim/cuda/driver.h"

/*
 * Arrays. The real layout is opaque and padded by an unknown amount; here an array is its elements,
 * row after row, in ordinary device memory, so that copies in and out agree.
 */

struct descriptor_2d {
    size_t width, height;
    int format;
    unsigned channels;
};

struct descriptor {
    size_t width, height, depth;
    int format;
    unsigned channels;
    unsigned flags;
};

struct plm_cu_array {
    struct descriptor what;
    uint64_t address;
    size_t pitch;
};

/* Bytes of one channel: 8, 16 and 32 bits, unsigned and signed, half and float. Others are for video. */
static size_t channel_bytes(int format)
{
    switch (format) {
    case 0x01:
    case 0x08: return 1;
    case 0x02:
    case 0x09:
    case 0x10: return 2;
    case 0x03:
    case 0x0a:
    case 0x20: return 4;
    default: return 0;
    }
}

static int array_create(struct plm_cu_array **out, const struct descriptor *what, const struct plm_symbol *symbol)
{
    size_t rows = what->height ? what->height : 1, slices = what->depth ? what->depth : 1, pitch, bytes;
    struct plm_cu_array *array;
    int device, status = plm_cu_blocking(&device);

    if (!what->width || (what->channels != 1 && what->channels != 2 && what->channels != 4))
        return PLM_CU_INVALID_VALUE;
    if (status)
        return status;
    if (!channel_bytes(what->format))
        return plm_cu_refuse(symbol);
    if (__builtin_mul_overflow(what->width, channel_bytes(what->format) * what->channels, &pitch) ||
        __builtin_mul_overflow(pitch, rows, &bytes) || __builtin_mul_overflow(bytes, slices, &bytes))
        return PLM_CU_OUT_OF_MEMORY;
    array = calloc(1, sizeof *array);
    if (!array)
        return PLM_CU_OUT_OF_MEMORY;
    array->what = *what;
    array->pitch = pitch;
    status = plm_mem_alloc(device, bytes, &array->address);
    if (status) {
        free(array);
        return plm_cu_from_device(status);
    }
    *out = array;
    return 0;
}

PLM_API int cuArrayCreate_v2(struct plm_cu_array **out, const struct descriptor_2d *what)
{
    static const struct plm_symbol symbol = {"cuda", "cuArrayCreate_v2"};
    struct descriptor full;
    if (!out || !what)
        return PLM_CU_INVALID_VALUE;
    full = (struct descriptor){what->width, what->height, 0, what->format, what->channels, 0};
    return array_create(out, &full, &symbol);
}

PLM_API int cuArray3DCreate_v2(struct plm_cu_array **out, const struct descriptor *what)
{
    static const struct plm_symbol symbol = {"cuda", "cuArray3DCreate_v2"};
    return out && what ? array_create(out, what, &symbol) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuArrayGetDescriptor_v2(struct descriptor_2d *out, const struct plm_cu_array *array)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    if (!array)
        return PLM_CU_INVALID_HANDLE;
    *out = (struct descriptor_2d){array->what.width, array->what.height, array->what.format, array->what.channels};
    return 0;
}

PLM_API int cuArray3DGetDescriptor_v2(struct descriptor *out, const struct plm_cu_array *array)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    if (!array)
        return PLM_CU_INVALID_HANDLE;
    *out = array->what;
    return 0;
}

PLM_API int cuArrayDestroy(struct plm_cu_array *array)
{
    if (!array)
        return PLM_CU_INVALID_HANDLE;
    plm_mem_free(array->address);
    free(array);
    return 0;
}

int plm_cu_array_place(const struct plm_cu_array *array, uint64_t *address, size_t *pitch, size_t *rows)
{
    if (!array)
        return PLM_CU_INVALID_HANDLE;
    *address = array->address;
    *pitch = array->pitch;
    *rows = array->what.height ? array->what.height : 1;
    return 0;
}

/* ---- copies of ranges in arrays ---- */

static int inside(const struct plm_cu_array *array, size_t offset, size_t bytes, uint64_t *address)
{
    size_t rows, slices, all;
    if (!array)
        return PLM_CU_INVALID_HANDLE;
    rows = array->what.height ? array->what.height : 1;
    slices = array->what.depth ? array->what.depth : 1;
    all = array->pitch * rows * slices;
    if (offset > all || bytes > all - offset)
        return PLM_CU_INVALID_VALUE;
    *address = array->address + offset;
    return 0;
}

static int array_copy(uint64_t dst, uint64_t src, size_t bytes)
{
    int device, status = plm_cu_blocking(&device);
    if (status == 0)
        plm_copy((void *)dst, (const void *)src, bytes);
    return status;
}

static int copy_in_stream(uint64_t dst, uint64_t src, size_t bytes, struct plm_stream *stream)
{
    bool run;
    int status = plm_cu_enqueue(stream, PLM_NODE_MEMCPY, &run);
    if (status == 0 && run)
        plm_copy((void *)dst, (const void *)src, bytes);
    return status;
}

PLM_API int cuMemcpyAtoH_v2(void *dst, const struct plm_cu_array *array, size_t offset, size_t bytes)
{
    uint64_t at;
    int status = inside(array, offset, bytes, &at);
    return status ? status : array_copy((uint64_t)dst, at, bytes);
}

PLM_API int cuMemcpyAtoHAsync_v2(void *dst, const struct plm_cu_array *array, size_t offset, size_t bytes,
                                 struct plm_stream *stream)
{
    uint64_t at;
    int status = inside(array, offset, bytes, &at);
    return status ? status : copy_in_stream((uint64_t)dst, at, bytes, stream);
}

PLM_API int cuMemcpyHtoA_v2(const struct plm_cu_array *array, size_t offset, const void *src, size_t bytes)
{
    uint64_t at;
    int status = inside(array, offset, bytes, &at);
    return status ? status : array_copy(at, (uint64_t)src, bytes);
}

PLM_API int cuMemcpyHtoAAsync_v2(const struct plm_cu_array *array, size_t offset, const void *src, size_t bytes,
                                 struct plm_stream *stream)
{
    uint64_t at;
    int status = inside(array, offset, bytes, &at);
    return status ? status : copy_in_stream(at, (uint64_t)src, bytes, stream);
}

PLM_API int cuMemcpyAtoD_v2(uint64_t dst, const struct plm_cu_array *array, size_t offset, size_t bytes)
{
    uint64_t at;
    int status = inside(array, offset, bytes, &at);
    return status ? status : array_copy(dst, at, bytes);
}

PLM_API int cuMemcpyDtoA_v2(const struct plm_cu_array *array, size_t offset, uint64_t src, size_t bytes)
{
    uint64_t at;
    int status = inside(array, offset, bytes, &at);
    return status ? status : array_copy(at, src, bytes);
}

PLM_API int cuMemcpyAtoA_v2(const struct plm_cu_array *dst, size_t dst_offset, const struct plm_cu_array *src,
                            size_t src_offset, size_t bytes)
{
    uint64_t to, from;
    int status = inside(dst, dst_offset, bytes, &to);
    if (status == 0)
        status = inside(src, src_offset, bytes, &from);
    return status ? status : array_copy(to, from, bytes);
}
