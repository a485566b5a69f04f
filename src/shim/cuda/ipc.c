#include "device/ipc.h"

#include "shim/cuda/driver.h"

/* Memory and events of other processes. A handle travels by value. */

enum { LAZY_PEER_ACCESS = 1 };

/* A handle that cannot be opened is told apart from a bad argument. */
static int from_open(int status)
{
    return status == PLM_DEV_INVALID ? PLM_CU_INVALID_HANDLE : plm_cu_from_device(status);
}

PLM_API int cuIpcGetMemHandle(struct plm_ipc_handle *handle, uint64_t address)
{
    int device, status = plm_cu_device(&device);
    if (status)
        return status;
    return handle ? plm_cu_from_device(plm_ipc_export(address, handle)) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuIpcOpenMemHandle_v2(uint64_t *address, struct plm_ipc_handle handle, unsigned flags)
{
    int device, status = plm_cu_device(&device);
    if (status)
        return status;
    if (!address || flags != LAZY_PEER_ACCESS)
        return PLM_CU_INVALID_VALUE;
    return from_open(plm_ipc_open(&handle, address));
}
PLM_API int cuIpcOpenMemHandle(uint64_t *address, struct plm_ipc_handle handle, unsigned flags)
    __attribute__((alias("cuIpcOpenMemHandle_v2")));

PLM_API int cuIpcCloseMemHandle(uint64_t address)
{
    return plm_cu_from_device(plm_ipc_close(address));
}

PLM_API int cuIpcGetEventHandle(struct plm_ipc_handle *handle, struct plm_event *event)
{
    return handle ? from_open(plm_ipc_export_event(event, handle)) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuIpcOpenEventHandle(struct plm_event **event, struct plm_ipc_handle handle)
{
    int device, status = plm_cu_device(&device);
    if (status)
        return status;
    return event ? from_open(plm_ipc_open_event(&handle, event)) : PLM_CU_INVALID_VALUE;
}
