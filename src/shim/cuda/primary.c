#include <stdatomic.h>

#include "shim/cuda/driver.h"

/* Primary contexts: one for each device, shared with the runtime, made on first use. */

static _Atomic int retained[PLM_DEVICES_MAX];

PLM_API int cuDevicePrimaryCtxRetain(struct plm_cu_context **out, int device)
{
    if (!out)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    plm_device_activate(device);
    atomic_fetch_add(&retained[device], 1);
    *out = plm_cu_primary(device);
    return 0;
}

/* The context stays: the runtime may be using it. */
PLM_API int cuDevicePrimaryCtxRelease_v2(int device)
{
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    for (int have = atomic_load(&retained[device]); have > 0;)
        if (atomic_compare_exchange_weak(&retained[device], &have, have - 1))
            return 0;
    return PLM_CU_INVALID_CONTEXT;
}
PLM_API int cuDevicePrimaryCtxRelease(int device) __attribute__((alias("cuDevicePrimaryCtxRelease_v2")));

PLM_API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    plm_cu_primary(device)->flags = flags;
    return 0;
}
PLM_API int cuDevicePrimaryCtxSetFlags(int device, unsigned flags)
    __attribute__((alias("cuDevicePrimaryCtxSetFlags_v2")));

PLM_API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    if (!flags || !active)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    *flags = plm_cu_primary(device)->flags;
    *active = plm_device_active(device);
    return 0;
}

PLM_API int cuDevicePrimaryCtxReset_v2(int device)
{
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    plm_cu_primary(device)->flags = 0;
    return 0;
}
PLM_API int cuDevicePrimaryCtxReset(int device) __attribute__((alias("cuDevicePrimaryCtxReset_v2")));
