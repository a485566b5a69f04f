/* Device memory and who uses it. */
#include <unistd.h>

#include "device/device.h"
#include "shim/nvml/nvml.h"
#include "device/shim.h"

struct memory_info {
    uint64_t total, free, used;
};

struct memory_info_v2 {
    unsigned version;
    uint64_t total, reserved, free, used;
};

struct process_v1 {
    unsigned pid;
    uint64_t used;
};

struct process {
    unsigned pid;
    uint64_t used;
    unsigned gpu_instance, compute_instance;
};

#define NO_INSTANCE 0xffffffffu /* the process does not run on a MIG instance */
#define BAR1_BYTES  (256ull << 20) /* the usual window; nothing is mapped through it */

/* The driver keeps a part of the memory, which CUDA's total leaves out and this library's contains. */
static struct memory_info_v2 account(const struct plm_nvml_device *device)
{
    const struct plm_card *card = plm_device_card(device->ordinal);
    struct memory_info_v2 info = {0};
    uint64_t total = 0;
    plm_device_memory(device->ordinal, &info.free, &total);
    info.total = card->memory_nvml > total ? card->memory_nvml : total;
    info.reserved = info.total - total;
    info.used = total > info.free ? total - info.free : 0;
    return info;
}

/* The first edition has no line for the driver's part and counts it as used. */
PLM_API int nvmlDeviceGetMemoryInfo(struct plm_nvml_device *device, struct memory_info *out)
{
    struct memory_info_v2 info;
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    info = account(device);
    *out = (struct memory_info){info.total, info.free, info.used + info.reserved};
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetMemoryInfo_v2(struct plm_nvml_device *device, struct memory_info_v2 *out)
{
    int status = plm_nvml_check(device);
    unsigned version;
    if (status)
        return status;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    version = out->version;
    if (version != PLM_NVML_VERSION(*out, 2))
        return PLM_NVML_VERSION_MISMATCH;
    *out = account(device);
    out->version = version;
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetBAR1MemoryInfo(struct plm_nvml_device *device, struct memory_info *out)
{
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    *out = (struct memory_info){BAR1_BYTES, BAR1_BYTES, 0};
    return PLM_NVML_OK;
}

/* How many processes to list: this one, once it has a context. `out` NULL or too short asks for the
   number only. */
static int list(const struct plm_nvml_device *device, unsigned *count, const void *out, struct process *process)
{
    unsigned room, running;
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!count)
        return PLM_NVML_INVALID_ARGUMENT;
    room = out ? *count : 0;
    running = plm_device_active(device->ordinal) ? 1 : 0;
    *count = running;
    if (room < running)
        return PLM_NVML_INSUFFICIENT_SIZE;
    *process = (struct process){(unsigned)getpid(), account(device).used, NO_INSTANCE, NO_INSTANCE};
    if (device->instance) {
        process->gpu_instance = 1;
        process->compute_instance = 0;
    }
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetComputeRunningProcesses(struct plm_nvml_device *device, unsigned *count,
                                                 struct process_v1 *out)
{
    struct process process;
    int status = list(device, count, out, &process);
    if (!status && *count)
        *out = (struct process_v1){process.pid, process.used};
    return status;
}

PLM_API int nvmlDeviceGetComputeRunningProcesses_v3(struct plm_nvml_device *device, unsigned *count,
                                                    struct process *out)
{
    struct process process;
    int status = list(device, count, out, &process);
    if (!status && *count)
        *out = process;
    return status;
}

PLM_API int nvmlDeviceGetComputeRunningProcesses_v2(struct plm_nvml_device *device, unsigned *count,
                                                    struct process *out)
{
    return nvmlDeviceGetComputeRunningProcesses_v3(device, count, out);
}
