/*
 * cuBLAS handles: what a program sets on them, it must get back.
 *
 * A handle is a small struct on the host heap, owned by the program until cublasDestroy. Like the real
 * one it is not meant for several threads at a time, so nothing is locked.
 */
#include "shim/cublas/handle.h"

#include <stdlib.h>

#include "device/calls.h"
#include "device/device.h"
#include "shim/cublas/pool.h"
#include "shim/cublas/releases.h"
#include "shim/cublas/status.h"
#include "device/shim.h"

#define HANDLE_MAGIC 0x63756273u /* tells a live handle from a destroyed or foreign one */

static void *logger_callback;

bool plm_cublas_handle_valid(const struct plm_cublas_handle *handle)
{
    return handle && handle->magic == HANDLE_MAGIC;
}

PLM_API int cublasCreate_v2(struct plm_cublas_handle **out)
{
    struct plm_cublas_handle *handle;
    if (!out)
        return PLM_CUBLAS_INVALID_VALUE;
    handle = calloc(1, sizeof *handle);
    if (!handle)
        return PLM_CUBLAS_ALLOC_FAILED;
    handle->magic = HANDLE_MAGIC;
    handle->special_values = 0xffff; /* documented default: all are honoured */
    plm_device_activate(plm_device_current());
    plm_cublas_pool_make(plm_device_current(), &handle->pool);
    *out = handle;
    return PLM_CUBLAS_SUCCESS;
}

PLM_API int cublasDestroy_v2(struct plm_cublas_handle *handle)
{
    if (!plm_cublas_handle_valid(handle))
        return PLM_CUBLAS_NOT_INITIALIZED;
    handle->magic = 0;
    plm_cublas_pool_give(&handle->pool);
    free(handle);
    return PLM_CUBLAS_SUCCESS;
}

static int version(void)
{
    const int *part = plm_releases()->cublas.part;
    return part[0] * 10000 + part[1] * 100 + part[2];
}

PLM_API int cublasGetVersion_v2(const struct plm_cublas_handle *handle, int *out)
{
    if (!plm_cublas_handle_valid(handle))
        return PLM_CUBLAS_NOT_INITIALIZED;
    if (!out)
        return PLM_CUBLAS_INVALID_VALUE;
    *out = version();
    return PLM_CUBLAS_SUCCESS;
}

/* The legacy one, which knows no handle. */
PLM_API int cublasGetVersion(int *out)
{
    if (!out)
        return PLM_CUBLAS_INVALID_VALUE;
    *out = version();
    return PLM_CUBLAS_SUCCESS;
}

PLM_API int cublasGetProperty(int type, int *value)
{
    return plm_library_version_property(&plm_releases()->cublas, type, value, PLM_CUBLAS_INVALID_VALUE);
}

PLM_API size_t cublasGetCudartVersion(void)
{
    return (size_t)plm_software()->cuda;
}

PLM_API const char *cublasGetStatusName(int status)
{
    return plm_cublas_status_name(status);
}

PLM_API const char *cublasGetStatusString(int status)
{
    return plm_cublas_status_text(status);
}

/* A value that is only kept: one function sets it, the other gets it. */
#define SETTER(name, type, field)                                  \
    PLM_API int name(struct plm_cublas_handle *handle, type value) \
    {                                                              \
        if (!plm_cublas_handle_valid(handle))                      \
            return PLM_CUBLAS_NOT_INITIALIZED;                     \
        handle->field = value;                                     \
        return PLM_CUBLAS_SUCCESS;                                 \
    }
#define GETTER(name, type, field)                                         \
    PLM_API int name(const struct plm_cublas_handle *handle, type *value) \
    {                                                                     \
        if (!plm_cublas_handle_valid(handle))                             \
            return PLM_CUBLAS_NOT_INITIALIZED;                            \
        if (!value)                                                       \
            return PLM_CUBLAS_INVALID_VALUE;                              \
        *value = handle->field;                                           \
        return PLM_CUBLAS_SUCCESS;                                        \
    }

SETTER(cublasSetPointerMode_v2, int, pointer_mode)
GETTER(cublasGetPointerMode_v2, int, pointer_mode)
SETTER(cublasSetAtomicsMode, int, atomics_mode)
GETTER(cublasGetAtomicsMode, int, atomics_mode)
SETTER(cublasSetMathMode, int, math_mode)
GETTER(cublasGetMathMode, int, math_mode)
SETTER(cublasSetSmCountTarget, int, sm_count_target)
GETTER(cublasGetSmCountTarget, int, sm_count_target)
GETTER(cublasGetStream_v2, void *, stream)
SETTER(cublasSetEmulationStrategy, int, emulation_strategy)
GETTER(cublasGetEmulationStrategy, int, emulation_strategy)
#if PLM_CUDA >= 13
SETTER(cublasSetEmulationSpecialValuesSupport, int, special_values)
GETTER(cublasGetEmulationSpecialValuesSupport, int, special_values)
SETTER(cublasSetFixedPointEmulationMantissaControl, int, mantissa_control)
GETTER(cublasGetFixedPointEmulationMantissaControl, int, mantissa_control)
SETTER(cublasSetFixedPointEmulationMaxMantissaBitCount, int, mantissa_bits_max)
GETTER(cublasGetFixedPointEmulationMaxMantissaBitCount, int, mantissa_bits_max)
SETTER(cublasSetFixedPointEmulationMantissaBitOffset, int, mantissa_bit_offset)
GETTER(cublasGetFixedPointEmulationMantissaBitOffset, int, mantissa_bit_offset)
SETTER(cublasSetFixedPointEmulationMantissaBitCountPointer, int *, mantissa_bit_count)
GETTER(cublasGetFixedPointEmulationMantissaBitCountPointer, int *, mantissa_bit_count)
#endif

PLM_API int cublasSetStream_v2(struct plm_cublas_handle *handle, void *stream)
{
    if (!plm_cublas_handle_valid(handle))
        return PLM_CUBLAS_NOT_INITIALIZED;
    handle->stream = stream;
    handle->workspace = NULL;
    handle->workspace_size = 0;
    handle->workspace_set = false;
    return PLM_CUBLAS_SUCCESS;
}

PLM_API int cublasSetWorkspace_v2(struct plm_cublas_handle *handle, void *workspace, size_t size)
{
    if (!plm_cublas_handle_valid(handle))
        return PLM_CUBLAS_NOT_INITIALIZED;
    if ((uintptr_t)workspace % 256)
        return PLM_CUBLAS_INVALID_VALUE;
    if (!size && plm_cublas_pool_take(&handle->pool))
        return PLM_CUBLAS_ALLOC_FAILED;
    handle->workspace = workspace;
    handle->workspace_size = size;
    handle->workspace_set = size > 0;
    plm_call_workspace(workspace);
    return PLM_CUBLAS_SUCCESS;
}

PLM_API int cublasSetLoggerCallback(void *callback)
{
    __atomic_store_n(&logger_callback, callback, __ATOMIC_RELAXED);
    return PLM_CUBLAS_SUCCESS;
}

PLM_API int cublasGetLoggerCallback(void **callback)
{
    if (!callback)
        return PLM_CUBLAS_INVALID_VALUE;
    *callback = __atomic_load_n(&logger_callback, __ATOMIC_RELAXED);
    return PLM_CUBLAS_SUCCESS;
}
