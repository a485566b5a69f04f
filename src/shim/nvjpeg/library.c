/*
 * nvJPEG handles. A handle is a small struct on the host heap, owned by the program. The virtual device
 * has no JPEG engine, so the backends that need one answer as on a card without it; programs then use
 * the default one.
 */
#include <stdlib.h>

#include "device/device.h"
#include "shim/nvjpeg/status.h"
#include "device/shim.h"

#define UNUSED __attribute__((unused))

enum { BACKEND_HARDWARE = 3, BACKEND_HARDWARE_DEVICE = 5 };

struct handle {
    size_t device_padding, pinned_padding;
};

static int handle_create(int backend, struct handle **out)
{
    if (!out)
        return PLM_NVJPEG_INVALID_PARAMETER;
    if (backend == BACKEND_HARDWARE || backend == BACKEND_HARDWARE_DEVICE)
        return PLM_NVJPEG_ARCH_MISMATCH;
    *out = calloc(1, sizeof **out);
    plm_device_activate(plm_device_current());
    return *out ? PLM_NVJPEG_SUCCESS : PLM_NVJPEG_ALLOCATOR_FAILURE;
}

PLM_API int nvjpegCreateSimple(struct handle **out)
{
    return handle_create(0, out);
}

PLM_API int nvjpegCreate(int backend, UNUSED const void *device_allocator, struct handle **out)
{
    return handle_create(backend, out);
}

PLM_API int nvjpegCreateEx(int backend, UNUSED const void *device_allocator, UNUSED const void *pinned_allocator,
                           UNUSED unsigned flags, struct handle **out)
{
    return handle_create(backend, out);
}

PLM_API int nvjpegCreateExV2(int backend, UNUSED const void *device_allocator, UNUSED const void *pinned_allocator,
                             UNUSED unsigned flags, struct handle **out)
{
    return handle_create(backend, out);
}

PLM_API int nvjpegDestroy(struct handle *handle)
{
    free(handle);
    return handle ? PLM_NVJPEG_SUCCESS : PLM_NVJPEG_INVALID_PARAMETER;
}

#define PADDING(set, get, field)                                  \
    PLM_API int set(size_t padding, struct handle *handle)        \
    {                                                             \
        if (!handle)                                              \
            return PLM_NVJPEG_INVALID_PARAMETER;                  \
        handle->field = padding;                                  \
        return PLM_NVJPEG_SUCCESS;                                \
    }                                                             \
    PLM_API int get(size_t *padding, const struct handle *handle) \
    {                                                             \
        if (!padding || !handle)                                  \
            return PLM_NVJPEG_INVALID_PARAMETER;                  \
        *padding = handle->field;                                 \
        return PLM_NVJPEG_SUCCESS;                                \
    }
PADDING(nvjpegSetDeviceMemoryPadding, nvjpegGetDeviceMemoryPadding, device_padding)
PADDING(nvjpegSetPinnedMemoryPadding, nvjpegGetPinnedMemoryPadding, pinned_padding)

static int property(const int *part, int type, int *value)
{
    if (!value || type < 0 || type > 2)
        return PLM_NVJPEG_INVALID_PARAMETER;
    *value = part[type];
    return PLM_NVJPEG_SUCCESS;
}

PLM_API int nvjpegGetProperty(int type, int *value)
{
#if PLM_CUDA >= 13
    static const int part[3] = {13, 0, 0};
#else
    static const int part[3] = {12, 3, 1};
#endif
    return property(part, type, value);
}

PLM_API int nvjpegGetCudartProperty(int type, int *value)
{
    int cuda = plm_software()->cuda;
    return property((const int[]){cuda / 1000, cuda % 1000 / 10, cuda % 10}, type, value);
}
