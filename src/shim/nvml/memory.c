/* Device memory and who uses it. */
#include <unistd.h>

#include "device/device.h"
#include "device/holdings.h"
#include "record/format.h"
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

/* Hidden cards have no number of CUDA's, and nothing of this process. */
static unsigned others(const struct plm_nvml_device *device, struct plm_holdings_row *out, unsigned room)
{
    const uint32_t number = plm_device_number(device->ordinal);
    return plm_holdings_others(number ? number : (uint32_t)device->index + 1, out, room);
}

static uint64_t held_by_others(const struct plm_nvml_device *device)
{
    struct plm_holdings_row holder[PLM_RECORD_HOLDERS];
    const unsigned count = others(device, holder, PLM_RECORD_HOLDERS);
    uint64_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += holder[i].bytes;
    return bytes;
}

/* The driver keeps a part of the memory, which CUDA's total leaves out and this library's contains. Unlike CUDA's, its
   figures are of all processes. */
static struct memory_info_v2 account(const struct plm_nvml_device *device)
{
    const struct plm_card *card = plm_device_card(device->ordinal);
    const uint64_t held = held_by_others(device);
    struct memory_info_v2 info = {0};
    uint64_t total = 0;
    plm_device_memory(device->ordinal, &info.free, &total);
    info.free = info.free > held ? info.free - held : 0;
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

static struct process process_of(const struct plm_nvml_device *device, uint32_t pid, uint64_t bytes)
{
    struct process process = {pid, bytes, NO_INSTANCE, NO_INSTANCE};
    if (device->instance) {
        process.gpu_instance = 1;
        process.compute_instance = 0;
    }
    return process;
}

/* The processes of the job that have a context on the card, this one first. `out` NULL or too short asks for their
   number only. */
static int list(const struct plm_nvml_device *device, unsigned *count, const void *out,
                struct process process[PLM_RECORD_HOLDERS + 1])
{
    struct plm_holdings_row holder[PLM_RECORD_HOLDERS];
    unsigned room, n = 0, held;
    uint64_t free_bytes, total;
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!count)
        return PLM_NVML_INVALID_ARGUMENT;
    room = out ? *count : 0;
    if (plm_device_active(device->ordinal)) {
        plm_device_memory(device->ordinal, &free_bytes, &total);
        process[n++] = process_of(device, (uint32_t)getpid(), total > free_bytes ? total - free_bytes : 0);
    }
    held = others(device, holder, PLM_RECORD_HOLDERS);
    for (unsigned i = 0; i < held; i++)
        process[n++] = process_of(device, holder[i].pid, holder[i].bytes);
    *count = n;
    return room < n ? PLM_NVML_INSUFFICIENT_SIZE : PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetComputeRunningProcesses(struct plm_nvml_device *device, unsigned *count,
                                                 struct process_v1 *out)
{
    struct process process[PLM_RECORD_HOLDERS + 1];
    int status = list(device, count, out, process);
    for (unsigned i = 0; !status && i < *count; i++)
        out[i] = (struct process_v1){process[i].pid, process[i].used};
    return status;
}

PLM_API int nvmlDeviceGetComputeRunningProcesses_v3(struct plm_nvml_device *device, unsigned *count,
                                                    struct process *out)
{
    struct process process[PLM_RECORD_HOLDERS + 1];
    int status = list(device, count, out, process);
    for (unsigned i = 0; !status && i < *count; i++)
        out[i] = process[i];
    return status;
}

PLM_API int nvmlDeviceGetComputeRunningProcesses_v2(struct plm_nvml_device *device, unsigned *count,
                                                    struct process *out)
{
    return nvmlDeviceGetComputeRunningProcesses_v3(device, count, out);
}
