/* The machine: versions, error texts, processes, processors, topology, events. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device/device.h"
#include "shim/nvml/nvml.h"
#include "device/shim.h"

/* A driver that serves CUDA up to 13.2. */
#define DRIVER_VERSION "595.00"
#define DRIVER_BRANCH  "r595_00"
#define NVML_VERSION   "13." DRIVER_VERSION

enum topology { SAME_BOARD = 0, SAME_NODE = 40 };

struct branch {
    unsigned version;
    char text[80];
};

PLM_API int nvmlSystemGetDriverVersion(char *out, unsigned length)
{
    return plm_nvml_initialized() ? PLM_NVML_UNINITIALIZED : plm_nvml_text(out, length, DRIVER_VERSION);
}

PLM_API int nvmlSystemGetNVMLVersion(char *out, unsigned length)
{
    return plm_nvml_text(out, length, NVML_VERSION);
}

PLM_API int nvmlSystemGetDriverBranch(struct branch *out, unsigned length)
{
    if (plm_nvml_initialized())
        return PLM_NVML_UNINITIALIZED;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    if (out->version != PLM_NVML_VERSION(*out, 1))
        return PLM_NVML_VERSION_MISMATCH;
    return plm_nvml_text(out->text, length < sizeof out->text ? length : sizeof out->text, DRIVER_BRANCH);
}

PLM_API const char *nvmlErrorString(int status)
{
    static const char *const texts[] = {
        "Success",
        "Uninitialized",
        "Invalid Argument",
        "Not Supported",
        "Insufficient Permissions",
        "Already Initialized",
        "Not Found",
        "Insufficient Size",
        "Insufficient External Power",
        "Driver Not Loaded",
        "Timeout",
        "Interrupt Request Issue",
        "NVML Shared Library Not Found",
        "Function Not Found",
        "Corrupted infoROM",
        "GPU is lost",
        "GPU requires restart",
        "The operating system has blocked the request.",
        "Driver/library version mismatch",
        "In use by another client",
        "Insufficient Memory",
        "No data",
        "ECC not supported by this virtual GPU",
        "Insufficient resources",
        "Frequency not supported",
        "Argument version mismatch",
        "Deprecated",
        "Not ready",
        "GPU not found",
        "Invalid state",
    };
    if (status < 0 || status >= (int)(sizeof texts / sizeof texts[0]))
        return "Unknown Error";
    return texts[status];
}

/* The first word of the command line, cut to the buffer. */
PLM_API int nvmlSystemGetProcessName(unsigned pid, char *out, unsigned length)
{
    char path[32];
    ssize_t n;
    int file;
    if (plm_nvml_initialized())
        return PLM_NVML_UNINITIALIZED;
    if (!out || !length)
        return PLM_NVML_INVALID_ARGUMENT;
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return PLM_NVML_NOT_FOUND;
    n = read(file, out, length - 1);
    close(file);
    out[n > 0 ? n : 0] = '\0';
    return PLM_NVML_OK;
}

/* Every processor is as near to a card as any other: those the process may run on. */
static int processors(const struct plm_nvml_device *device, unsigned words, unsigned long *out)
{
    cpu_set_t set;
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!words || !out)
        return PLM_NVML_INVALID_ARGUMENT;
    memset(out, 0, words * sizeof *out);
    if (sched_getaffinity(0, sizeof set, &set))
        CPU_ZERO(&set);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && cpu / (8 * sizeof *out) < words; cpu++)
        if (CPU_ISSET(cpu, &set))
            out[cpu / (8 * sizeof *out)] |= 1ul << cpu % (8 * sizeof *out);
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetCpuAffinity(struct plm_nvml_device *device, unsigned words, unsigned long *out)
{
    return processors(device, words, out);
}

PLM_API int nvmlDeviceGetCpuAffinityWithinScope(struct plm_nvml_device *device, unsigned words, unsigned long *out)
{
    return processors(device, words, out);
}

/* One node of memory. */
PLM_API int nvmlDeviceGetMemoryAffinity(struct plm_nvml_device *device, unsigned words, unsigned long *out)
{
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!words || !out)
        return PLM_NVML_INVALID_ARGUMENT;
    memset(out, 0, words * sizeof *out);
    out[0] = 1;
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetTopologyCommonAncestor(struct plm_nvml_device *a, struct plm_nvml_device *b, int *level)
{
    if (plm_nvml_check(a) || plm_nvml_check(b))
        return plm_nvml_check(a) ? plm_nvml_check(a) : plm_nvml_check(b);
    if (!level)
        return PLM_NVML_INVALID_ARGUMENT;
    *level = a->index == b->index ? SAME_BOARD : SAME_NODE;
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceOnSameBoard(struct plm_nvml_device *a, struct plm_nvml_device *b, int *same)
{
    int level = 0, status = nvmlDeviceGetTopologyCommonAncestor(a, b, &level);
    if (status)
        return status;
    if (!same)
        return PLM_NVML_INVALID_ARGUMENT;
    *same = level == SAME_BOARD;
    return PLM_NVML_OK;
}

/* All cards but `except`; `out` NULL asks for the number. */
static int others(const struct plm_nvml_device *except, unsigned *count, struct plm_nvml_device **out)
{
    unsigned room = out && count ? *count : 0, n = 0;
    if (!count)
        return PLM_NVML_INVALID_ARGUMENT;
    for (int i = 0; i < plm_nvml_count(); i++) {
        if (except && except->index == i)
            continue;
        if (out && n < room)
            out[n] = plm_nvml_at(i, false);
        n++;
    }
    *count = n;
    return out && room < n ? PLM_NVML_INSUFFICIENT_SIZE : PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetTopologyNearestGpus(struct plm_nvml_device *device, int level, unsigned *count,
                                             struct plm_nvml_device **out)
{
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (level == SAME_NODE)
        return others(device, count, out);
    if (!count)
        return PLM_NVML_INVALID_ARGUMENT;
    *count = 0;
    return PLM_NVML_OK;
}

PLM_API int nvmlSystemGetTopologyGpuSet(unsigned cpu, unsigned *count, struct plm_nvml_device **out)
{
    (void)cpu;
    return plm_nvml_initialized() ? PLM_NVML_UNINITIALIZED : others(NULL, count, out);
}

/* No event ever comes. The wait is real, so that a thread that watches for events does not spin. */
static int wait_in_vain(unsigned milliseconds)
{
    struct timespec left = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000l};
    nanosleep(&left, NULL);
    return PLM_NVML_TIMEOUT;
}

PLM_API int nvmlEventSetWait(void *set, void *event, unsigned milliseconds)
{
    (void)set;
    (void)event;
    return wait_in_vain(milliseconds);
}

PLM_API int nvmlEventSetWait_v2(void *set, void *event, unsigned milliseconds)
{
    (void)set;
    (void)event;
    return wait_in_vain(milliseconds);
}
