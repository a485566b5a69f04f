/* What a card is: name, numbers, place on the bus, family. */
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "shim/nvml/nvml.h"
#include "device/shim.h"

enum { LEGACY_BUS_ID = 16, PCI_VENDOR = 0x10de };

/* The three editions share their beginning; the device's own PCI number is not known. */
struct pci_info {
    char legacy_bus_id[LEGACY_BUS_ID];
    unsigned domain, bus, slot, device_id, subsystem_id;
    char bus_id[PLM_NVML_BUS_ID_CHARS];
};

struct pci_info_v2 {
    char bus_id[LEGACY_BUS_ID];
    unsigned domain, bus, slot, device_id, subsystem_id, reserved[4];
};

struct pci_info_v1 {
    char bus_id[LEGACY_BUS_ID];
    unsigned domain, bus, slot, device_id;
};

struct pci_info_extended {
    unsigned version, domain, bus, slot, device_id, subsystem_id, base_class, sub_class;
    char bus_id[PLM_NVML_BUS_ID_CHARS];
};

/* The card a MIG instance is cut from has the instance's name up to " MIG". */
PLM_API int nvmlDeviceGetName(struct plm_nvml_device *device, char *out, unsigned length)
{
    char name[sizeof plm_nvml_card(device)->name];
    char *cut;
    int status = plm_nvml_check(device);
    if (status)
        return status;
    snprintf(name, sizeof name, "%s", plm_nvml_card(device)->name);
    cut = strstr(name, " MIG ");
    if (cut && !device->instance)
        *cut = '\0';
    return plm_nvml_text(out, length, name);
}

PLM_API int nvmlDeviceGetUUID(struct plm_nvml_device *device, char *out, unsigned length)
{
    char text[PLM_NVML_UUID_CHARS];
    int status = plm_nvml_check(device);
    if (status)
        return status;
    plm_nvml_uuid(device, text);
    return plm_nvml_text(out, length, text);
}

/* From the compute capability, newest first. */
unsigned plm_nvml_architecture(const struct plm_nvml_device *device)
{
    static const struct {
        int capability;
        unsigned architecture;
    } families[] = {{100, 10}, {90, 9}, {89, 8}, {80, 7}, {75, 6},
                    {70, 5},   {60, 4}, {50, 3}, {30, 2}, {0, 0xffffffffu}};
    size_t i = 0;
    while (plm_nvml_card(device)->major * 10 + plm_nvml_card(device)->minor < families[i].capability)
        i++;
    return families[i].architecture;
}

/* From the name; the first that fits. */
unsigned plm_nvml_brand(const struct plm_nvml_device *device)
{
    static const struct {
        const char *part;
        unsigned brand;
    } brands[] = {{"GeForce", 5}, {"TITAN", 6}, {"Quadro RTX", 12}, {"Quadro", 1}, {"Tesla", 2}, {"RTX", 13}, {"", 14}};
    size_t i = 0;
    while (!strstr(plm_nvml_card(device)->name, brands[i].part))
        i++;
    return brands[i].brand;
}

static int pci(const struct plm_nvml_device *device, const void *out, struct pci_info *info)
{
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    memset(info, 0, sizeof *info);
    plm_nvml_bus_id(device, info->bus_id);
    snprintf(info->legacy_bus_id, sizeof info->legacy_bus_id, "%s", info->bus_id + 4); /* a domain of four digits */
    info->bus = (unsigned)device->ordinal + 1;
    info->device_id = PCI_VENDOR;
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetPciInfo_v3(struct plm_nvml_device *device, struct pci_info *out)
{
    struct pci_info info;
    int status = pci(device, out, &info);
    if (!status)
        *out = info;
    return status;
}

/* The first two forms of the answer are heads of one structure. */
static int short_pci(const struct plm_nvml_device *device, void *out, size_t size)
{
    struct pci_info info;
    struct pci_info_v2 answer = {0};
    int status = pci(device, out, &info);
    if (status)
        return status;
    memcpy(answer.bus_id, info.legacy_bus_id, sizeof answer.bus_id);
    answer.bus = info.bus;
    answer.device_id = info.device_id;
    memcpy(out, &answer, size);
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetPciInfo_v2(struct plm_nvml_device *device, struct pci_info_v2 *out)
{
    return short_pci(device, out, sizeof *out);
}

PLM_API int nvmlDeviceGetPciInfo(struct plm_nvml_device *device, struct pci_info_v1 *out)
{
    return short_pci(device, out, sizeof *out);
}

PLM_API int nvmlDeviceGetPciInfoExt(struct plm_nvml_device *device, struct pci_info_extended *out)
{
    struct pci_info info;
    int status = pci(device, out, &info);
    if (status)
        return status;
    if (out->version != PLM_NVML_VERSION(*out, 1))
        return PLM_NVML_VERSION_MISMATCH;
    *out = (struct pci_info_extended){.version = out->version,
                                      .bus = info.bus,
                                      .device_id = info.device_id,
                                      .base_class = 3 /* display */,
                                      .sub_class = 2 /* 3D */};
    memcpy(out->bus_id, info.bus_id, sizeof out->bus_id);
    return PLM_NVML_OK;
}
