/*
 * What nvidia-smi asks of the management library, as its public reference declares it; the shim of src/shim/nvml answers.
 * Functions return enum plm_nvml_status. A handle is valid until the process ends. One thread.
 */
#ifndef PLM_NVML_CALLS_H
#define PLM_NVML_CALLS_H

#include <stdint.h>

#include "shim/nvml/nvml.h"

typedef struct plm_nvml_device *nvml_device;

struct nvml_memory {
    unsigned version;
    uint64_t total, reserved, free, used;
};

struct nvml_rates {
    unsigned gpu, memory;
};

struct nvml_process {
    unsigned pid;
    uint64_t used;
    unsigned gpu_instance, compute_instance;
};

struct nvml_pci {
    char legacy_bus_id[16];
    unsigned domain, bus, slot, device_id, subsystem_id;
    char bus_id[PLM_NVML_BUS_ID_CHARS];
};

int nvmlInit_v2(void);
int nvmlSystemGetDriverVersion(char *out, unsigned length);
int nvmlSystemGetNVMLVersion(char *out, unsigned length);
int nvmlSystemGetCudaDriverVersion(int *out);
int nvmlSystemGetProcessName(unsigned pid, char *out, unsigned length);
int nvmlDeviceGetCount_v2(unsigned *out);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *out);
int nvmlDeviceGetMigDeviceHandleByIndex(nvml_device device, unsigned index, nvml_device *out);
int nvmlDeviceGetName(nvml_device device, char *out, unsigned length);
int nvmlDeviceGetUUID(nvml_device device, char *out, unsigned length);
int nvmlDeviceGetPciInfo_v3(nvml_device device, struct nvml_pci *out);
int nvmlDeviceGetIndex(nvml_device device, unsigned *out);
int nvmlDeviceGetCudaComputeCapability(nvml_device device, int *major, int *minor);
int nvmlDeviceGetMemoryInfo_v2(nvml_device device, struct nvml_memory *out);
int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device device, unsigned *count, struct nvml_process *out);
int nvmlDeviceGetUtilizationRates(nvml_device device, struct nvml_rates *out);
int nvmlDeviceGetEncoderUtilization(nvml_device device, unsigned *out, unsigned *period);
int nvmlDeviceGetDecoderUtilization(nvml_device device, unsigned *out, unsigned *period);
int nvmlDeviceGetTemperature(nvml_device device, int sensor, unsigned *out);
int nvmlDeviceGetFanSpeed(nvml_device device, unsigned *out);
int nvmlDeviceGetPerformanceState(nvml_device device, unsigned *out);
int nvmlDeviceGetPowerUsage(nvml_device device, unsigned *out);
int nvmlDeviceGetPowerManagementLimit(nvml_device device, unsigned *out);
int nvmlDeviceGetEnforcedPowerLimit(nvml_device device, unsigned *out);
int nvmlDeviceGetPowerManagementDefaultLimit(nvml_device device, unsigned *out);
int nvmlDeviceGetPowerManagementLimitConstraints(nvml_device device, unsigned *least, unsigned *most);
int nvmlDeviceGetClockInfo(nvml_device device, int clock, unsigned *out);
int nvmlDeviceGetMaxClockInfo(nvml_device device, int clock, unsigned *out);
int nvmlDeviceGetApplicationsClock(nvml_device device, int clock, unsigned *out);
int nvmlDeviceGetDefaultApplicationsClock(nvml_device device, int clock, unsigned *out);
int nvmlDeviceGetPersistenceMode(nvml_device device, unsigned *out);
int nvmlDeviceGetDisplayMode(nvml_device device, unsigned *out);
int nvmlDeviceGetDisplayActive(nvml_device device, unsigned *out);
int nvmlDeviceGetAccountingMode(nvml_device device, unsigned *out);
int nvmlDeviceGetPowerManagementMode(nvml_device device, unsigned *out);
int nvmlDeviceGetComputeMode(nvml_device device, unsigned *out);
int nvmlDeviceGetEccMode(nvml_device device, unsigned *current, unsigned *pending);
int nvmlDeviceGetMigMode(nvml_device device, unsigned *current, unsigned *pending);
int nvmlDeviceGetTotalEccErrors(nvml_device device, int kind, int counter, uint64_t *out);
int nvmlDeviceGetCpuAffinity(nvml_device device, unsigned words, unsigned long *out);
int nvmlDeviceGetTopologyCommonAncestor(nvml_device a, nvml_device b, int *level);

#endif
