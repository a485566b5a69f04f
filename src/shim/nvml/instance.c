/* MIG: a card whose file describes an instance is a card with that one instance on it. */
#include <string.h>

#include "device/device.h"
#include "shim/nvml/nvml.h"
#include "device/shim.h"

enum { GPU_INSTANCE = 1, COMPUTE_INSTANCE = 0 };

struct attributes {
    unsigned multiprocessors, copy_engines, decoders, encoders, jpeg, ofa, gpu_slices, compute_slices;
    uint64_t memory_mib;
};

PLM_API int nvmlDeviceGetMigDeviceHandleByIndex(struct plm_nvml_device *device, unsigned index,
                                                struct plm_nvml_device **out)
{
    struct plm_nvml_device *instance;
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!out || device->instance)
        return PLM_NVML_INVALID_ARGUMENT;
    instance = index ? NULL : plm_nvml_at(device->index, true);
    if (!instance)
        return PLM_NVML_NOT_FOUND;
    *out = instance;
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct plm_nvml_device *device, struct plm_nvml_device **out)
{
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!out || !device->instance)
        return PLM_NVML_INVALID_ARGUMENT;
    *out = plm_nvml_at(device->index, false);
    return PLM_NVML_OK;
}

static int instance_number(const struct plm_nvml_device *device, unsigned *out, unsigned value)
{
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!device->instance)
        return PLM_NVML_NOT_SUPPORTED;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    *out = value;
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetGpuInstanceId(struct plm_nvml_device *device, unsigned *out)
{
    return instance_number(device, out, GPU_INSTANCE);
}

PLM_API int nvmlDeviceGetComputeInstanceId(struct plm_nvml_device *device, unsigned *out)
{
    return instance_number(device, out, COMPUTE_INSTANCE);
}

/* Slices are in the profile's name, "1g.5gb"; engines are not known. */
static int attributes(const struct plm_nvml_device *device, struct attributes *out)
{
    const struct plm_card *card;
    const char *profile;
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    if (!device->instance)
        return PLM_NVML_NOT_SUPPORTED;
    card = plm_device_card(device->ordinal);
    profile = strrchr(card->id, ':');
    *out = (struct attributes){.multiprocessors = (unsigned)card->sms, .memory_mib = card->memory_total >> 20};
    if (profile && profile[1] >= '1' && profile[1] <= '9')
        out->gpu_slices = out->compute_slices = (unsigned)(profile[1] - '0');
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetAttributes(struct plm_nvml_device *device, struct attributes *out)
{
    return attributes(device, out);
}

PLM_API int nvmlDeviceGetAttributes_v2(struct plm_nvml_device *device, struct attributes *out)
{
    return attributes(device, out);
}
