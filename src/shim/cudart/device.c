#include <stdio.h>
#include <string.h>

#include "device/calls.h"
#include "shim/cudart/runtime.h"

static _Atomic unsigned device_flags[PLM_DEVICES_MAX];
static _Atomic uint64_t peers[PLM_DEVICES_MAX]; /* bit per device whose memory may be used */
_Static_assert(PLM_DEVICES_MAX <= 64, "a bit for each");

static bool exists(int device)
{
    return device >= 0 && device < plm_device_count();
}

PLM_API int cudaGetDeviceCount(int *count)
{
    if (!count)
        return plm_rt(PLM_RT_INVALID_VALUE);
    plm_gpus_counted();
    *count = plm_device_count();
    return *count ? PLM_RT_OK : plm_rt(PLM_RT_NO_DEVICE);
}

PLM_API int cudaGetDevice(int *device)
{
    if (!device)
        return plm_rt(PLM_RT_INVALID_VALUE);
    if (!plm_device_count())
        return plm_rt(PLM_RT_NO_DEVICE);
    *device = plm_device_current();
    return PLM_RT_OK;
}

/* From CUDA 12 on, selecting a device initializes its primary context. */
PLM_API int cudaSetDevice(int device)
{
    if (plm_device_select(device))
        return plm_rt(plm_device_count() ? PLM_RT_INVALID_DEVICE : PLM_RT_NO_DEVICE);
    plm_device_activate(device);
    return PLM_RT_OK;
}

PLM_API int cudaInitDevice(int device, unsigned flags, unsigned set)
{
    if (!exists(device))
        return plm_rt(PLM_RT_INVALID_DEVICE);
    if (set)
        device_flags[device] = flags;
    plm_device_activate(device);
    return PLM_RT_OK;
}

PLM_API int cudaSetValidDevices(int *devices, int count)
{
    return devices && count > 0 ? cudaSetDevice(devices[0]) : PLM_RT_OK;
}

PLM_API int cudaChooseDevice(int *device, const void *properties)
{
    (void)properties; /* all are alike */
    return cudaGetDevice(device);
}

PLM_API int cudaGetDeviceFlags(unsigned *flags)
{
    if (!flags)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *flags = device_flags[plm_device_current()];
    return PLM_RT_OK;
}

PLM_API int cudaSetDeviceFlags(unsigned flags)
{
    device_flags[plm_device_current()] = flags;
    return PLM_RT_OK;
}

PLM_API int cudaDeviceSynchronize(void)
{
    int device, status = plm_rt_blocking(&device);
    if (!status)
        plm_call_sync(PLM_SYNC_DEVICE, NULL, PLM_STREAM_UNKNOWN);
    return status;
}

/* Memory of a reset device is not freed here: programs reset at their end. */
PLM_API int cudaDeviceReset(void)
{
    return PLM_RT_OK;
}

PLM_API int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    int (*get)(int *, int, int);
    if (!value)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *value = 0;
    if (!exists(device))
        return plm_rt(PLM_RT_INVALID_DEVICE);
    *(void **)&get = plm_rt_driver("cuDeviceGetAttribute");
    return plm_rt(get(value, attribute, device));
}

PLM_API int cudaDeviceGetP2PAttribute(int *value, int attribute, int source, int destination)
{
    enum { RANK = 1, ACCESS = 2 };
    if (!value || !exists(source) || !exists(destination) || source == destination)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *value = attribute == ACCESS;
    return PLM_RT_OK;
}

PLM_API int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can)
        return plm_rt(PLM_RT_INVALID_VALUE);
    if (!exists(device) || !exists(peer))
        return plm_rt(PLM_RT_INVALID_DEVICE);
    *can = device != peer;
    return PLM_RT_OK;
}

PLM_API int cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    uint64_t bit;
    (void)flags;
    if (!exists(peer) || peer == plm_device_current())
        return plm_rt(PLM_RT_INVALID_DEVICE);
    bit = 1ull << peer;
    if (__atomic_fetch_or((uint64_t *)&peers[plm_device_current()], bit, __ATOMIC_RELAXED) & bit)
        return plm_rt(PLM_RT_PEER_ALREADY_ENABLED);
    return PLM_RT_OK;
}

PLM_API int cudaDeviceDisablePeerAccess(int peer)
{
    uint64_t bit;
    if (!exists(peer))
        return plm_rt(PLM_RT_INVALID_DEVICE);
    bit = 1ull << peer;
    if (!(__atomic_fetch_and((uint64_t *)&peers[plm_device_current()], ~bit, __ATOMIC_RELAXED) & bit))
        return plm_rt(PLM_RT_PEER_NOT_ENABLED);
    return PLM_RT_OK;
}

PLM_API int cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    if (!text || size < 13)
        return plm_rt(PLM_RT_INVALID_VALUE);
    if (!exists(device))
        return plm_rt(PLM_RT_INVALID_DEVICE);
    snprintf(text, (size_t)size, "0000:%02X:00.0", 1 + device);
    return PLM_RT_OK;
}

PLM_API int cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    unsigned domain, bus;
    if (!device || !text)
        return plm_rt(PLM_RT_INVALID_VALUE);
    if (sscanf(text, "%x:%x:", &domain, &bus) != 2 || !exists((int)bus - 1))
        return plm_rt(PLM_RT_INVALID_DEVICE);
    *device = (int)bus - 1;
    return PLM_RT_OK;
}

PLM_API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return PLM_RT_OK;
}

/* Defaults of the documented limits: stack, printf buffer, malloc heap, sync depth, pending launches,
   L2 granularity, persisting L2. Written values are given back. */
static _Atomic size_t limits[] = {1024, 7 << 20, 8 << 20, 2, 2048, 64, 0};

PLM_API int cudaDeviceGetLimit(size_t *value, unsigned limit)
{
    if (!value || limit >= sizeof limits / sizeof limits[0])
        return plm_rt(PLM_RT_INVALID_VALUE);
    *value = limits[limit];
    return PLM_RT_OK;
}

PLM_API int cudaDeviceSetLimit(unsigned limit, size_t value)
{
    if (limit >= sizeof limits / sizeof limits[0])
        return plm_rt(PLM_RT_INVALID_VALUE);
    limits[limit] = value;
    plm_footprint_limit(plm_device_current(), limit, value);
    return PLM_RT_OK;
}

#if PLM_CUDA == 12
/* Deprecated names, which the documentation calls identical. */
PLM_API int cudaThreadGetLimit(size_t *value, unsigned limit)
{
    return cudaDeviceGetLimit(value, limit);
}
#endif

PLM_API int cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    uint64_t f, t;
    int device, status = plm_rt_blocking(&device);
    if (status)
        return status;
    if (!free_bytes || !total)
        return plm_rt(PLM_RT_INVALID_VALUE);
    plm_device_memory(device, &f, &t);
    *free_bytes = f;
    *total = t;
    return PLM_RT_OK;
}
