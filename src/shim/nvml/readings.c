/* Sensors and settings. A card that computes nothing is an idle card at its full clocks. */
#include <string.h>

#include "device/device.h"
#include "shim/nvml/nvml.h"
#include "device/shim.h"

enum { IDLE_CELSIUS = 30 };
enum clock { CLOCK_GRAPHICS, CLOCK_SM, CLOCK_MEMORY };

struct temperature {
    unsigned version, sensor;
    int celsius;
};

struct field {
    unsigned id, scope;
    int64_t timestamp, latency;
    unsigned value_type, status;
    uint64_t value;
};

/* Fabric of NVLink switches: there is none. The editions differ in what stands before and after. */
struct fabric {
    unsigned char cluster[16];
    unsigned status, clique;
    unsigned char state;
};

struct fabric_versioned {
    unsigned version;
    unsigned char cluster[16];
    unsigned status, clique;
    unsigned char state;
    unsigned health;
    unsigned char summary; /* since the third edition */
};

int plm_nvml_clock(const struct plm_nvml_device *device, int clock)
{
    const struct plm_card *card = plm_nvml_card(device);
    if (clock == CLOCK_MEMORY)
        return card->memory_clock_mhz;
    return clock == CLOCK_GRAPHICS || clock == CLOCK_SM ? card->clock_mhz : 0;
}

int plm_nvml_milliwatts(const struct plm_nvml_device *device, int share)
{
    return plm_nvml_card(device)->tdp_watts * 1000 / share;
}

PLM_API int nvmlDeviceGetTemperature(struct plm_nvml_device *device, int sensor, unsigned *out)
{
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!out || sensor)
        return PLM_NVML_INVALID_ARGUMENT;
    *out = IDLE_CELSIUS;
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetTemperatureV(struct plm_nvml_device *device, struct temperature *out)
{
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!out || out->sensor)
        return PLM_NVML_INVALID_ARGUMENT;
    if (out->version != PLM_NVML_VERSION(*out, 1))
        return PLM_NVML_VERSION_MISMATCH;
    out->celsius = IDLE_CELSIUS;
    return PLM_NVML_OK;
}

/* Cards for data centres have it switched on; for others it is not there or off. */
bool plm_nvml_ecc(const struct plm_nvml_device *device)
{
    return !strcmp(plm_nvml_card(device)->class, "datacenter");
}

PLM_API int nvmlDeviceGetTotalEccErrors(struct plm_nvml_device *device, int kind, int counter, uint64_t *out)
{
    int status = plm_nvml_check(device);
    (void)kind;
    (void)counter;
    if (status)
        return status;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    if (!plm_nvml_ecc(device))
        return PLM_NVML_NOT_SUPPORTED;
    *out = 0;
    return PLM_NVML_OK;
}

/* Each field has a status of its own: none is known. */
PLM_API int nvmlDeviceGetFieldValues(struct plm_nvml_device *device, int count, struct field *fields)
{
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (count < 0 || !fields)
        return PLM_NVML_INVALID_ARGUMENT;
    for (int i = 0; i < count; i++) {
        fields[i] = (struct field){.id = fields[i].id, .scope = fields[i].scope};
        fields[i].status = PLM_NVML_NOT_SUPPORTED;
    }
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetGpuFabricInfo(struct plm_nvml_device *device, struct fabric *out)
{
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    memset(out, 0, sizeof *out);
    return PLM_NVML_OK;
}

PLM_API int nvmlDeviceGetGpuFabricInfoV(struct plm_nvml_device *device, struct fabric_versioned *out)
{
    enum { SIZE_V2 = offsetof(struct fabric_versioned, summary) };
    unsigned version;
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    version = out->version;
    if (version != (SIZE_V2 | 2u << 24) && version != PLM_NVML_VERSION(*out, 3))
        return PLM_NVML_VERSION_MISMATCH;
    memset(out, 0, version >> 24 == 2 ? SIZE_V2 : sizeof *out);
    out->version = version;
    return PLM_NVML_OK;
}

/* nvmlGpmSupport_t. */
struct monitoring {
    unsigned version, supported;
};

PLM_API int nvmlGpmQueryDeviceSupport(const struct plm_nvml_device *device, struct monitoring *out)
{
    int status = plm_nvml_check(device);
    if (status)
        return status;
    if (!out)
        return PLM_NVML_INVALID_ARGUMENT;
    out->supported = 0;
    return PLM_NVML_OK;
}
