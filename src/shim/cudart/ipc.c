/* Memory and events of other processes. A handle travels by value. */
#include "device/ipc.h"

#include "shim/cudart/runtime.h"

enum { LAZY_PEER_ACCESS = 1 };

/* What cannot be opened is told apart from a bad argument, and from what this process has itself. */
static int from_open(int status)
{
    switch (status) {
    case PLM_DEV_INVALID: return plm_rt(PLM_RT_INVALID_HANDLE);
    case PLM_DEV_OWN: return plm_rt(PLM_RT_DEVICE_UNINITIALIZED);
    default: return plm_rt_device(status);
    }
}

PLM_API int cudaIpcGetMemHandle(struct plm_ipc_handle *handle, void *pointer)
{
    int device, status = plm_rt_blocking(&device);
    if (status)
        return status;
    return handle ? plm_rt_device(plm_ipc_export((uint64_t)pointer, handle)) : plm_rt(PLM_RT_INVALID_VALUE);
}

PLM_API int cudaIpcOpenMemHandle(void **pointer, struct plm_ipc_handle handle, unsigned flags)
{
    uint64_t address = 0;
    int device, status = plm_rt_blocking(&device);
    if (status)
        return status;
    if (!pointer || flags != LAZY_PEER_ACCESS)
        return plm_rt(PLM_RT_INVALID_VALUE);
    status = plm_ipc_open(&handle, &address);
    *pointer = (void *)address;
    return from_open(status);
}

PLM_API int cudaIpcCloseMemHandle(void *pointer)
{
    return plm_rt_device(plm_ipc_close((uint64_t)pointer));
}

PLM_API int cudaIpcGetEventHandle(struct plm_ipc_handle *handle, struct plm_event *event)
{
    return handle ? from_open(plm_ipc_export_event(event, handle)) : plm_rt(PLM_RT_INVALID_VALUE);
}

PLM_API int cudaIpcOpenEventHandle(struct plm_event **event, struct plm_ipc_handle handle)
{
    int device, status = plm_rt_blocking(&device);
    if (status)
        return status;
    return event ? from_open(plm_ipc_open_event(&handle, event)) : plm_rt(PLM_RT_INVALID_VALUE);
}
