#include "device/calls.h"
#include "shim/cuda/driver.h"

/* Copies of rectangles and boxes, between host, device and arrays. */

enum memory_type { TYPE_HOST = 1, TYPE_DEVICE = 2, TYPE_ARRAY = 3, TYPE_UNIFIED = 4 };

struct copy_2d_side {
    size_t x, y;
    int type;
    const void *host;
    uint64_t device;
    const struct plm_cu_array *array;
    size_t pitch;
};

struct copy_2d {
    struct copy_2d_side src, dst;
    size_t width, height;
};

struct copy_3d_side {
    size_t x, y, z, level;
    int type;
    const void *host;
    uint64_t device;
    const struct plm_cu_array *array;
    void *context; /* of the copies between peers; else unused */
    size_t pitch, rows;
};

struct copy_3d {
    struct copy_3d_side src, dst;
    size_t width, height, depth;
};

/* Where a copy starts, and the distance of rows and of slices. */
struct place {
    uint64_t start;
    size_t pitch, slice;
};

static int place_of(const struct copy_3d_side *side, size_t width, struct place *out)
{
    size_t pitch = side->pitch, rows = side->rows;
    uint64_t base = 0;
    int status = 0;

    switch ((enum memory_type)side->type) {
    case TYPE_HOST: base = (uint64_t)side->host; break;
    case TYPE_DEVICE:
    case TYPE_UNIFIED: base = side->device; break;
    case TYPE_ARRAY: status = plm_cu_array_place(side->array, &base, &pitch, &rows); break;
    default: status = PLM_CU_INVALID_VALUE;
    }
    if (!pitch)
        pitch = side->x + width; /* allowed for a single row */
    out->pitch = pitch;
    out->slice = pitch * rows;
    out->start = base + side->z * out->slice + side->y * pitch + side->x;
    return status ? status : base ? 0 : PLM_CU_INVALID_VALUE;
}

static int copy_check(const struct copy_3d *copy, struct place *src, struct place *dst)
{
    int status = place_of(&copy->src, copy->width, src);
    if (status == 0)
        status = place_of(&copy->dst, copy->width, dst);
    if (status == 0 && copy->height > 1 && (src->pitch < copy->width || dst->pitch < copy->width))
        status = PLM_CU_INVALID_VALUE;
    return status;
}

static int copy_box(const struct copy_3d *copy, bool in_stream, struct plm_stream *stream)
{
    struct place src, dst;
    size_t bytes;
    bool run = true;
    int device, status;

    if (!copy->width || !copy->height || !copy->depth)
        return 0;
    if (__builtin_mul_overflow(copy->width, copy->height, &bytes) || __builtin_mul_overflow(bytes, copy->depth, &bytes))
        return PLM_CU_INVALID_VALUE;
    status = copy_check(copy, &src, &dst);
    if (status == 0)
        status = in_stream ? plm_cu_device(&device) : plm_cu_blocking(&device);
    if (status == 0 && in_stream)
        status = plm_cu_enqueue(stream, PLM_NODE_MEMCPY, &run);
    if (status)
        return status;
    plm_call_copy((void *)dst.start, (const void *)src.start, bytes, in_stream, stream, run);
    for (size_t z = 0; run && z < copy->depth; z++)
        plm_copy_2d((void *)(dst.start + z * dst.slice), dst.pitch, (const void *)(src.start + z * src.slice),
                    src.pitch, copy->width, copy->height);
    return 0;
}

static struct copy_3d_side deepen(const struct copy_2d_side *side)
{
    return (struct copy_3d_side){.x = side->x,
                                 .y = side->y,
                                 .type = side->type,
                                 .host = side->host,
                                 .device = side->device,
                                 .array = side->array,
                                 .pitch = side->pitch};
}

static int copy_rectangle(const struct copy_2d *copy, bool in_stream, struct plm_stream *stream)
{
    struct copy_3d box;
    if (!copy)
        return PLM_CU_INVALID_VALUE;
    box = (struct copy_3d){deepen(&copy->src), deepen(&copy->dst), copy->width, copy->height, 1};
    return copy_box(&box, in_stream, stream);
}

PLM_API int cuMemcpy2D_v2(const struct copy_2d *copy)
{
    return copy_rectangle(copy, false, NULL);
}
PLM_API int cuMemcpy2DUnaligned_v2(const struct copy_2d *copy) __attribute__((alias("cuMemcpy2D_v2")));

PLM_API int cuMemcpy2DAsync_v2(const struct copy_2d *copy, struct plm_stream *stream)
{
    return copy_rectangle(copy, true, stream);
}

PLM_API int cuMemcpy3D_v2(const struct copy_3d *copy)
{
    return copy ? copy_box(copy, false, NULL) : PLM_CU_INVALID_VALUE;
}
PLM_API int cuMemcpy3DPeer(const struct copy_3d *copy) __attribute__((alias("cuMemcpy3D_v2")));

PLM_API int cuMemcpy3DAsync_v2(const struct copy_3d *copy, struct plm_stream *stream)
{
    return copy ? copy_box(copy, true, stream) : PLM_CU_INVALID_VALUE;
}
PLM_API int cuMemcpy3DPeerAsync(const struct copy_3d *copy, struct plm_stream *stream)
    __attribute__((alias("cuMemcpy3DAsync_v2")));
