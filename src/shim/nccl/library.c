/* What does not need a communicator: version, error texts, memory, windows, operators. */
#include "shim/nccl/nccl.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "device/device.h"
#include "device/shim.h"

struct plm_nccl_window {
    void *user;
};

enum { BUILT_IN_OPERATORS = 5 };

PLM_API int ncclGetVersion(int *version)
{
    if (!version)
        return PLM_NCCL_INVALID_ARGUMENT;
    *version = plm_software()->nccl;
    return PLM_NCCL_OK;
}

PLM_API const char *ncclGetErrorString(int status)
{
    static const char *const texts[] = {
        "no error",
        "unhandled cuda error",
        "unhandled system error",
        "internal error",
        "invalid argument",
        "invalid usage, or not supported",
        "remote process exited or there was a network error",
        "NCCL operation in progress",
    };
    if (status < 0 || status >= (int)(sizeof texts / sizeof texts[0]))
        return "unknown result code";
    return texts[status];
}

PLM_API const char *ncclGetLastError(const struct plm_nccl_comm *comm)
{
    (void)comm;
    return "";
}

PLM_API int ncclMemAlloc(void **out, size_t size)
{
    uint64_t address = 0;
    if (!out || !size)
        return PLM_NCCL_INVALID_ARGUMENT;
    if (plm_mem_alloc(plm_device_current(), size, &address))
        return PLM_NCCL_CUDA_ERROR;
    *out = (void *)(uintptr_t)address;
    return PLM_NCCL_OK;
}

PLM_API int ncclMemFree(void *address)
{
    if (!address)
        return PLM_NCCL_OK;
    return plm_mem_free((uintptr_t)address) ? PLM_NCCL_INVALID_ARGUMENT : PLM_NCCL_OK;
}

PLM_API int ncclCommWindowRegister(struct plm_nccl_comm *comm, void *buffer, size_t size, struct plm_nccl_window **out)
{
    (void)size;
    if (!plm_nccl_comm_check(comm) || !out)
        return PLM_NCCL_INVALID_ARGUMENT;
    *out = malloc(sizeof **out);
    if (!*out)
        return PLM_NCCL_SYSTEM_ERROR;
    (*out)->user = buffer;
    return PLM_NCCL_OK;
}

PLM_API int ncclCommWindowDeregister(struct plm_nccl_comm *comm, struct plm_nccl_window *window)
{
    (void)comm;
    free(window);
    return PLM_NCCL_OK;
}

PLM_API int ncclWinGetUserPtr(struct plm_nccl_comm *comm, struct plm_nccl_window *window, void **out)
{
    (void)comm;
    if (!window || !out)
        return PLM_NCCL_INVALID_ARGUMENT;
    *out = window->user;
    return PLM_NCCL_OK;
}

PLM_API int ncclRedOpCreatePreMulSum(int *op)
{
    static atomic_int next = BUILT_IN_OPERATORS;
    if (!op)
        return PLM_NCCL_INVALID_ARGUMENT;
    *op = atomic_fetch_add(&next, 1);
    return PLM_NCCL_OK;
}
