#include "study/measure/meter.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/error.h"

/* nvmlMemory_t of the first edition. */
struct memory_info {
    uint64_t total, free, used;
};

static const char NEEDED[] = "measure needs a machine with an NVIDIA GPU and its driver";

static void *function(const struct plm_meter *meter, const char *name, struct plm_error *error)
{
    void *found = dlsym(meter->library, name);
    if (!found)
        plm_fail(error, PLM_EIO, "NVIDIA's management library has no %s: the driver is too old", name);
    return found;
}

static int meter_start(struct plm_meter *meter, struct plm_error *error)
{
    int (*init)(void) = function(meter, "nvmlInit_v2", error);
    int (*count)(unsigned *) = function(meter, "nvmlDeviceGetCount_v2", error);
    int (*driver)(char *, unsigned) = function(meter, "nvmlSystemGetDriverVersion", error);
    int code;
    meter->get_memory = function(meter, "nvmlDeviceGetMemoryInfo", error);
    meter->shut_down = function(meter, "nvmlShutdown", error);
    if (!init || !count || !driver || !meter->get_memory || !meter->shut_down) {
        meter->shut_down = NULL;
        return PLM_EIO;
    }
    code = init();
    if (code) {
        meter->shut_down = NULL;
        return plm_fail(error, PLM_EIO, "NVIDIA's driver does not answer (NVML error %d): %s", code, NEEDED);
    }
    if (count(&meter->cards) || !meter->cards)
        return plm_fail(error, PLM_EIO, "NVIDIA's driver sees no GPU: %s", NEEDED);
    if (driver(meter->driver, sizeof meter->driver))
        meter->driver[0] = '\0';
    return 0;
}

int plm_meter_open(struct plm_meter *meter, struct plm_error *error)
{
    int status;
    *meter = (struct plm_meter){.library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)};
    if (!meter->library)
        return plm_fail(error, PLM_EIO, "there is no NVIDIA driver here (libnvidia-ml.so.1): %s", NEEDED);
    status = meter_start(meter, error);
    if (status)
        plm_meter_close(meter);
    return status;
}

void plm_meter_close(struct plm_meter *meter)
{
    if (meter->shut_down)
        meter->shut_down();
    if (meter->library)
        dlclose(meter->library);
    *meter = (struct plm_meter){0};
}

int plm_meter_take(struct plm_meter *meter, const char *uuid, struct plm_error *error)
{
    int (*by_uuid)(const char *, void **) = function(meter, "nvmlDeviceGetHandleByUUID", error);
    int code;
    if (!by_uuid)
        return PLM_EIO;
    code = by_uuid(uuid, &meter->card);
    if (code)
        return plm_fail(error, PLM_EIO, "the driver sees no GPU %.100s (NVML error %d)", uuid, code);
    snprintf(meter->uuid, sizeof meter->uuid, "%s", uuid);
    return 0;
}

static int take_index(struct plm_meter *meter, unsigned index, struct plm_error *error)
{
    int (*by_index)(unsigned, void **) = function(meter, "nvmlDeviceGetHandleByIndex_v2", error);
    int (*get_uuid)(void *, char *, unsigned) = function(meter, "nvmlDeviceGetUUID", error);
    if (!by_index || !get_uuid)
        return PLM_EIO;
    if (by_index(index, &meter->card) || get_uuid(meter->card, meter->uuid, sizeof meter->uuid))
        return plm_fail(error, PLM_EIO, "the driver does not return GPU %u of %u", index, meter->cards);
    return 0;
}

/* CUDA takes the beginning of a UUID for the whole, NVML does not. */
static int take_beginning(struct plm_meter *meter, const char *text, struct plm_error *error)
{
    if (!plm_meter_take(meter, text, error))
        return 0;
    for (unsigned i = 0; i < meter->cards; i++)
        if (!take_index(meter, i, error) && !strncasecmp(meter->uuid, text, strlen(text)))
            return 0;
    return plm_fail(error, PLM_EINVAL, "CUDA_VISIBLE_DEVICES names %.100s, but the driver sees no such GPU", text);
}

int plm_meter_choose(struct plm_meter *meter, const char *visible, const char *order, struct plm_error *error)
{
    char *end;
    unsigned long index;
    if (!visible) {
        if (meter->cards > 1)
            return plm_fail(error, PLM_EINVAL,
                            "this machine has %u GPUs, but a row describes one: set CUDA_VISIBLE_DEVICES to the UUID "
                            "of one (`nvidia-smi -L` lists them)",
                            meter->cards);
        return take_index(meter, 0, error);
    }
    if (!*visible)
        return plm_fail(error, PLM_EINVAL, "CUDA_VISIBLE_DEVICES is empty: the command would see no GPU");
    if (strchr(visible, ','))
        return plm_fail(error, PLM_EINVAL, "CUDA_VISIBLE_DEVICES names several GPUs, but a row describes one");
    if (!strncasecmp(visible, "GPU-", 4) || !strncasecmp(visible, "MIG-", 4))
        return take_beginning(meter, visible, error);
    index = strtoul(visible, &end, 10);
    if (end == visible || *end || index >= meter->cards)
        return plm_fail(error, PLM_EINVAL, "CUDA_VISIBLE_DEVICES is %.60s, but this machine has %u GPU%s", visible,
                        meter->cards, meter->cards == 1 ? "" : "s");
    if (meter->cards > 1 && (!order || strcmp(order, "PCI_BUS_ID") != 0))
        return plm_fail(error, PLM_EINVAL,
                        "CUDA may number GPUs differently from the driver: also set CUDA_DEVICE_ORDER=PCI_BUS_ID, or "
                        "set CUDA_VISIBLE_DEVICES to the UUID of a GPU (`nvidia-smi -L`)");
    return take_index(meter, (unsigned)index, error);
}

int plm_meter_used(const struct plm_meter *meter, uint64_t *bytes)
{
    struct memory_info info = {0};
    int code = meter->get_memory(meter->card, &info);
    *bytes = info.used;
    return code;
}

int plm_meter_settle(const struct plm_meter *meter, unsigned interval_us, unsigned settle, unsigned milliseconds,
                     uint64_t *bytes)
{
    const struct timespec pause = {interval_us / 1000000, (long)(interval_us % 1000000) * 1000};
    uint64_t tries = (uint64_t)milliseconds * 1000 / (interval_us ? interval_us : 1) + settle, last = 0;
    unsigned equal = 0;
    for (uint64_t i = 0; i < tries && equal < settle; i++) {
        if (plm_meter_used(meter, bytes))
            return 0;
        equal = equal && *bytes == last ? equal + 1 : 1;
        last = *bytes;
        nanosleep(&pause, NULL);
    }
    return equal >= settle;
}
