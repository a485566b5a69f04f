/* Initialisation and the list of devices: which cards there are and how they are found. */
#include "shim/nvml/nvml.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "device/device.h"
#include "device/shim.h"

static struct {
    pthread_once_t once;
    atomic_int users; /* initialisations without their shutdown */
    int count;
    struct plm_nvml_device cards[PLM_DEVICES_MAX];
    struct plm_nvml_device instances[PLM_DEVICES_MAX];
    char *names[PLM_DEVICES_MAX]; /* what CUDA_VISIBLE_DEVICES calls the card, if it uses a name */
} machine = {.once = PTHREAD_ONCE_INIT};

/* The next entry of a comma-separated list; false at its end. */
static bool next_entry(const char **list, char *entry, size_t size)
{
    size_t length = strcspn(*list, ",");
    if (!**list)
        return false;
    snprintf(entry, size, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

/* Gives the cards that CUDA shows their CUDA numbers. A card named by a UUID of the user's own machine
   takes that name: PyTorch looks for it in this library's list and would find no device otherwise. */
static void number_visible(const char *list, int visible)
{
    char entry[PLM_NVML_UUID_CHARS];
    for (int ordinal = 0; ordinal < visible && next_entry(&list, entry, sizeof entry); ordinal++) {
        bool named = !strncmp(entry, "GPU-", 4);
        int index = named ? ordinal : atoi(entry);
        if (index < 0 || index >= machine.count)
            return;
        machine.cards[index].ordinal = ordinal;
        if (named)
            machine.names[index] = strdup(entry);
    }
}

/* PLIMSOLL_GPUS is the number of cards before CUDA_VISIBLE_DEVICES: see src/device/device.c. */
static void devices_start(void)
{
    const char *installed = getenv("PLIMSOLL_GPUS"), *list = getenv("CUDA_VISIBLE_DEVICES");
    int visible = plm_device_count(), hidden = visible;

    machine.count = installed ? atoi(installed) : 0;
    if (machine.count < visible || machine.count > PLM_DEVICES_MAX)
        machine.count = visible;
    for (int i = 0; i < machine.count; i++)
        machine.cards[i] = (struct plm_nvml_device){.index = i, .ordinal = list ? -1 : i};
    if (list)
        number_visible(list, visible);
    for (int i = 0; i < machine.count; i++) {
        if (machine.cards[i].ordinal < 0)
            machine.cards[i].ordinal = hidden < PLM_DEVICES_MAX ? hidden++ : i;
        machine.instances[i] = machine.cards[i];
        machine.instances[i].instance = true;
    }
}

int plm_nvml_initialized(void)
{
    return atomic_load(&machine.users) > 0 ? PLM_NVML_OK : PLM_NVML_UNINITIALIZED;
}

int plm_nvml_count(void)
{
    pthread_once(&machine.once, devices_start);
    return machine.count;
}

struct plm_nvml_device *plm_nvml_at(int index, bool instance)
{
    if (index < 0 || index >= plm_nvml_count())
        return NULL;
    if (instance && !plm_device_card(machine.cards[index].ordinal)->mig)
        return NULL;
    return instance ? &machine.instances[index] : &machine.cards[index];
}

int plm_nvml_check(const struct plm_nvml_device *device)
{
    if (plm_nvml_initialized())
        return PLM_NVML_UNINITIALIZED;
    for (int i = 0; device && i < plm_nvml_count(); i++)
        if (device == &machine.cards[i] || device == &machine.instances[i])
            return PLM_NVML_OK;
    return PLM_NVML_INVALID_ARGUMENT;
}

/* A machine without cards is one whose driver is not loaded. */
static int initialize(void)
{
    if (!plm_nvml_count())
        return PLM_NVML_DRIVER_NOT_LOADED;
    atomic_fetch_add(&machine.users, 1);
    return PLM_NVML_OK;
}

PLM_API int nvmlInit(void)
{
    return initialize();
}

PLM_API int nvmlInit_v2(void)
{
    return initialize();
}

PLM_API int nvmlInitWithFlags(unsigned flags)
{
    (void)flags;
    return initialize();
}

PLM_API int nvmlShutdown(void)
{
    if (plm_nvml_initialized())
        return PLM_NVML_UNINITIALIZED;
    atomic_fetch_sub(&machine.users, 1);
    return PLM_NVML_OK;
}

static int count(unsigned *out)
{
    if (plm_nvml_initialized())
        return PLM_NVML_UNINITIALIZED;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    plm_gpus_counted();
    *out = (unsigned)plm_nvml_count();
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetCount(unsigned *out)
{
    return count(out);
}

PLM_API int nvmlDeviceGetCount_v2(unsigned *out)
{
    return count(out);
}

static int by_index(unsigned index, struct plm_nvml_device **out)
{
    if (plm_nvml_initialized())
        return PLM_NVML_UNINITIALIZED;
    if (!out || index >= (unsigned)plm_nvml_count())
        return PLM_NVML_INVALID_ARGUMENT;
    *out = plm_nvml_at((int)index, false);
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetHandleByIndex(unsigned index, struct plm_nvml_device **out)
{
    return by_index(index, out);
}

PLM_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct plm_nvml_device **out)
{
    return by_index(index, out);
}

PLM_API int nvmlDeviceGetHandleByUUID(const char *uuid, struct plm_nvml_device **out)
{
    char text[PLM_NVML_UUID_CHARS];
    if (plm_nvml_initialized())
        return PLM_NVML_UNINITIALIZED;
    if (!uuid || !out)
        return PLM_NVML_INVALID_ARGUMENT;
    for (int i = 0; i < 2 * plm_nvml_count(); i++) {
        struct plm_nvml_device *device = plm_nvml_at(i / 2, i % 2);
        if (!device)
            continue;
        plm_nvml_uuid(device, text);
        if (!strcasecmp(text, uuid)) {
            *out = device;
            return PLM_NVML_OK;
        }
    }
    return PLM_NVML_NOT_FOUND;
}

/* Bus numbers follow CUDA's numbers, as in the driver and runtime. */
static int bus_of(const struct plm_nvml_device *device)
{
    return device->ordinal + 1;
}

static int by_bus(const char *text, struct plm_nvml_device **out)
{
    unsigned domain = 0, bus = 0, slot = 0;
    if (plm_nvml_initialized())
        return PLM_NVML_UNINITIALIZED;
    if (!text || !out)
        return PLM_NVML_INVALID_ARGUMENT;
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        domain = 0;
        if (sscanf(text, "%x:%x", &bus, &slot) != 2)
            return PLM_NVML_INVALID_ARGUMENT;
    }
    for (int i = 0; i < plm_nvml_count(); i++)
        if (!domain && !slot && bus == (unsigned)bus_of(&machine.cards[i])) {
            *out = &machine.cards[i];
            return PLM_NVML_OK;
        }
    return PLM_NVML_NOT_FOUND;
}

PLM_API int nvmlDeviceGetHandleByPciBusId(const char *text, struct plm_nvml_device **out)
{
    return by_bus(text, out);
}

PLM_API int nvmlDeviceGetHandleByPciBusId_v2(const char *text, struct plm_nvml_device **out)
{
    return by_bus(text, out);
}

void plm_nvml_bus_id(const struct plm_nvml_device *device, char text[PLM_NVML_BUS_ID_CHARS])
{
    snprintf(text, PLM_NVML_BUS_ID_CHARS, "00000000:%02X:00.0", (unsigned)bus_of(device));
}

/* Sixteen bytes from the card's model and CUDA number: the driver's UUID (src/shim/cuda/identity.c).
   Hidden cards, which the driver does not know, have numbers that no visible card and no name taken
   from an earlier run can have. */
void plm_nvml_uuid(const struct plm_nvml_device *device, char text[PLM_NVML_UUID_CHARS])
{
    uint64_t hash[2] = {0xcbf29ce484222325ull, 0x84222325cbf29ce4ull};
    unsigned char b[16];
    if (!device->instance && machine.names[device->index]) {
        snprintf(text, PLM_NVML_UUID_CHARS, "%s", machine.names[device->index]);
        return;
    }
    for (const char *p = plm_device_card(device->ordinal)->id; *p; p++)
        for (int i = 0; i < 2; i++)
            hash[i] = (hash[i] ^ (unsigned char)*p) * 0x100000001b3ull;
    memcpy(b, hash, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    b[15] = (unsigned char)(device->ordinal < plm_device_count() ? device->ordinal : 0x80 | device->index);
    snprintf(text, PLM_NVML_UUID_CHARS, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             device->instance ? "MIG" : "GPU", b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
             b[12], b[13], b[14], b[15]);
}

int plm_nvml_text(char *out, unsigned length, const char *text)
{
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    if (strlen(text) + 1 > length)
        return PLM_NVML_INSUFFICIENT_SIZE;
    strcpy(out, text);
    return PLM_NVML_OK;
}
