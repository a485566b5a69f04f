#include "shim/cudart/runtime.h"

static __thread int last_error;

struct message {
    int code;
    const char *name, *text;
};

static const struct message messages[] = {
    {PLM_RT_OK, "cudaSuccess", "no error"},
    {PLM_RT_INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
    {PLM_RT_MEMORY_ALLOCATION, "cudaErrorMemoryAllocation", "out of memory"},
    {PLM_RT_INITIALIZATION, "cudaErrorInitializationError", "initialization error"},
    {4, "cudaErrorCudartUnloading", "driver shutting down"},
    {PLM_RT_INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {PLM_RT_INVALID_SYMBOL, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {34, "cudaErrorStubLibrary", "CUDA driver is a stub library"},
    {35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {36, "cudaErrorCallRequiresNewerDriver", "API call is not supported in the installed CUDA driver"},
    {46, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    {PLM_RT_INVALID_DEVICE_FUNCTION, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {PLM_RT_NO_DEVICE, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {PLM_RT_INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {201, "cudaErrorDeviceUninitialized", "invalid device context"},
    {PLM_RT_NO_KERNEL_IMAGE, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {217, "cudaErrorPeerAccessUnsupported", "peer access is not supported between these two devices"},
    {222, "cudaErrorUnsupportedPtxVersion", "the provided PTX was compiled with an unsupported toolchain."},
    {301, "cudaErrorFileNotFound", "file not found"},
    {304, "cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS"},
    {PLM_RT_INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {PLM_RT_ILLEGAL_STATE, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {PLM_RT_SYMBOL_NOT_FOUND, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {PLM_RT_PEER_ALREADY_ENABLED, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {PLM_RT_PEER_NOT_ENABLED, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {708, "cudaErrorSetOnActiveProcess", "cannot set while device is active in this process"},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {PLM_RT_HOST_ALREADY_REGISTERED, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {PLM_RT_HOST_NOT_REGISTERED, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {PLM_RT_COOPERATIVE_TOO_LARGE, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {800, "cudaErrorNotPermitted", "operation not permitted"},
    {PLM_RT_NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported"},
    {802, "cudaErrorSystemNotReady", "system not yet initialized"},
    {PLM_RT_CAPTURE_UNSUPPORTED, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {PLM_RT_CAPTURE_INVALIDATED, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {902, "cudaErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences"},
    {903, "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"},
    {PLM_RT_CAPTURE_UNJOINED, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {PLM_RT_CAPTURE_ISOLATION, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {PLM_RT_CAPTURE_IMPLICIT, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "cudaErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"},
    {PLM_RT_CAPTURE_WRONG_THREAD, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {909, "cudaErrorTimeout", "wait operation timed out"},
    {910, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints specific to "
     "instantiated graph update"},
    {999, "cudaErrorUnknown", "unknown error"},
};

static const struct message *message_find(int code)
{
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        if (messages[i].code == code)
            return &messages[i];
    return NULL;
}

int plm_rt(int code)
{
    if (code)
        last_error = code;
    return code;
}

int plm_rt_device(int status)
{
    switch (status) {
    case PLM_DEV_OK: return PLM_RT_OK;
    case PLM_DEV_NOMEM:
    case PLM_DEV_NOHOST: return plm_rt(PLM_RT_MEMORY_ALLOCATION);
    case PLM_DEV_CAPTURE: return plm_rt(PLM_RT_CAPTURE_UNSUPPORTED);
    default: return plm_rt(PLM_RT_INVALID_VALUE);
    }
}

int plm_rt_stream(int status)
{
    static const int code[] = {
        [-PLM_STREAM_INVALID] = PLM_RT_INVALID_HANDLE,
        [-PLM_STREAM_UNSUPPORTED] = PLM_RT_CAPTURE_UNSUPPORTED,
        [-PLM_STREAM_INVALIDATED] = PLM_RT_CAPTURE_INVALIDATED,
        [-PLM_STREAM_NOT_CAPTURING] = PLM_RT_ILLEGAL_STATE,
        [-PLM_STREAM_UNJOINED] = PLM_RT_CAPTURE_UNJOINED,
        [-PLM_STREAM_WRONG_THREAD] = PLM_RT_CAPTURE_WRONG_THREAD,
        [-PLM_STREAM_IMPLICIT] = PLM_RT_CAPTURE_IMPLICIT,
        [-PLM_STREAM_ISOLATION] = PLM_RT_CAPTURE_ISOLATION,
        [-PLM_STREAM_NOMEM] = PLM_RT_MEMORY_ALLOCATION,
    };
    return status ? plm_rt(code[-status]) : PLM_RT_OK;
}

int plm_rt_blocking(int *device)
{
    if (plm_device_count() == 0)
        return plm_rt(PLM_RT_NO_DEVICE);
    *device = plm_device_current();
    plm_device_activate(*device);
    return plm_rt_stream(plm_capture_unsafe_call());
}

PLM_API int cudaGetLastError(void)
{
    int code = last_error;
    last_error = PLM_RT_OK;
    return code;
}

PLM_API int cudaPeekAtLastError(void)
{
    return last_error;
}

PLM_API const char *cudaGetErrorName(int code)
{
    const struct message *m = message_find(code);
    return m ? m->name : "unrecognized error code";
}

PLM_API const char *cudaGetErrorString(int code)
{
    const struct message *m = message_find(code);
    return m ? m->text : "unrecognized error code";
}
