/*
 * The management library's view of the virtual cards.
 *
 * It lists every card of the machine, also those that CUDA_VISIBLE_DEVICES hides from CUDA. A handle
 * is the address of an entry of a fixed list and stays valid for the life of the process; it is only
 * accepted between initialisation and shutdown. Any thread. Functions return the library's own codes.
 */
#ifndef PLM_NVML_H
#define PLM_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"

enum plm_nvml_status {
    PLM_NVML_OK = 0,
    PLM_NVML_UNINITIALIZED = 1,
    PLM_NVML_INVALID_ARGUMENT = 2,
    PLM_NVML_NOT_SUPPORTED = 3,
    PLM_NVML_NOT_FOUND = 6,
    PLM_NVML_INSUFFICIENT_SIZE = 7,
    PLM_NVML_DRIVER_NOT_LOADED = 9,
    PLM_NVML_TIMEOUT = 10,
    PLM_NVML_VERSION_MISMATCH = 25,
};

struct plm_nvml_device {
    int index;    /* in this library's list */
    int ordinal;  /* CUDA's number of the card; hidden cards follow the visible ones */
    bool instance; /* the MIG instance of the card, not the card */
};

enum { PLM_NVML_UUID_CHARS = 96, PLM_NVML_BUS_ID_CHARS = 32 };

/* PLM_NVML_OK for a handle that may be used now. */
int plm_nvml_check(const struct plm_nvml_device *device);
int plm_nvml_initialized(void);
int plm_nvml_count(void);
struct plm_nvml_device *plm_nvml_at(int index, bool instance); /* NULL if there is none */

void plm_nvml_uuid(const struct plm_nvml_device *device, char text[PLM_NVML_UUID_CHARS]);
void plm_nvml_bus_id(const struct plm_nvml_device *device, char text[PLM_NVML_BUS_ID_CHARS]);

/* What rows of data/symbols/nvml.tsv read of a card, with `known:` where 0 says that its file does not give it. */
static inline const struct plm_card *plm_nvml_card(const struct plm_nvml_device *device)
{
    return plm_device_card(device->ordinal);
}
enum { PLM_NVML_IDLE_SHARE = 10 }; /* an idle card takes a tenth of its power */
unsigned plm_nvml_architecture(const struct plm_nvml_device *device);
unsigned plm_nvml_brand(const struct plm_nvml_device *device);
int plm_nvml_clock(const struct plm_nvml_device *device, int clock); /* MHz of nvmlClockType_t */
int plm_nvml_milliwatts(const struct plm_nvml_device *device, int share);
bool plm_nvml_ecc(const struct plm_nvml_device *device);

/* Copies a text into a caller's buffer, or says that it does not fit. */
int plm_nvml_text(char *out, unsigned length, const char *text);

/* Versioned structures begin with their size and version in one word. */
#define PLM_NVML_VERSION(type, version) ((unsigned)(sizeof(type) | (version) << 24))

#endif
