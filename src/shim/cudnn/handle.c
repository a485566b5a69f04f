/* Versions, errors, the handle and its stream. */
#include "shim/cudnn/dnn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/footprint.h"
#include "device/lock.h"

/* Initial-exec keeps the access free of allocation in a library that is preloaded anyway. */
static __thread const char *last_error __attribute__((tls_model("initial-exec")));

static const struct {
    int status;
    const char *name;
} status_names[] = {
    {0, "CUDNN_STATUS_SUCCESS"},
#if PLM_CUDA == 8
    {1, "CUDNN_STATUS_NOT_INITIALIZED"},
    {PLM_DNN_NOMEM, "CUDNN_STATUS_ALLOC_FAILED"},
    {PLM_DNN_BAD_PARAM, "CUDNN_STATUS_BAD_PARAM"},
    {4, "CUDNN_STATUS_INTERNAL_ERROR"},
    {5, "CUDNN_STATUS_INVALID_VALUE"},
    {6, "CUDNN_STATUS_ARCH_MISMATCH"},
    {7, "CUDNN_STATUS_MAPPING_ERROR"},
    {PLM_DNN_EXECUTION, "CUDNN_STATUS_EXECUTION_FAILED"},
    {PLM_DNN_NOT_SUPPORTED, "CUDNN_STATUS_NOT_SUPPORTED"},
    {10, "CUDNN_STATUS_LICENSE_ERROR"},
    {11, "CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING"},
    {12, "CUDNN_STATUS_RUNTIME_IN_PROGRESS"},
    {13, "CUDNN_STATUS_RUNTIME_FP_OVERFLOW"},
    {14, "CUDNN_STATUS_VERSION_MISMATCH"},
#else
    {1001, "CUDNN_STATUS_NOT_INITIALIZED"},
    {1002, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"},
    {PLM_DNN_BAD_PARAM, "CUDNN_STATUS_BAD_PARAM"},
    {PLM_DNN_WRONG_TYPE, "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE"},
    {PLM_DNN_NOT_SUPPORTED, "CUDNN_STATUS_NOT_SUPPORTED"},
    {4000, "CUDNN_STATUS_INTERNAL_ERROR"},
    {PLM_DNN_NOMEM, "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED"},
    {PLM_DNN_EXECUTION, "CUDNN_STATUS_EXECUTION_FAILED"},
#endif
};

int plm_dnn_fail(int status, const char *why)
{
    last_error = why;
    return status;
}

int plm_dnn_create(void *slot, size_t bytes)
{
    void *object;
    if (!slot)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the address for a new descriptor is NULL");
    object = calloc(1, bytes);
    if (!object)
        return plm_dnn_fail(PLM_DNN_NOMEM, "out of host memory");
    memcpy(slot, &object, sizeof object);
    return PLM_DNN_OK;
}

int plm_dnn_sms(void)
{
    const struct plm_card *card = plm_device_card(plm_device_current());
    return card && card->sms > 0 ? card->sms : 1;
}

int plm_dnn_threads(void)
{
    const struct plm_card *card = plm_device_card(plm_device_current());
    return plm_dnn_sms() * (card && card->max_threads_per_sm > 0 ? card->max_threads_per_sm : 2048);
}

bool plm_dnn_tf32(void)
{
    const struct plm_card *card = plm_device_card(plm_device_current());
    const char *override = getenv("NVIDIA_TF32_OVERRIDE");
    return card && card->major >= 8 && !(override && !strcmp(override, "0"));
}

/* As 90100 for 9.1.0; the newest of this library's own generation where PyTorch was built against another. */
static int release(void)
{
    const int version = plm_software()->cudnn, newest = PLM_CUDA == 8 ? 80907 : 92600;
    return version / 10000 == PLM_CUDA ? version : newest;
}

/* 8902 was 8.9.2; since the ninth generation the minor version has two digits. */
PLM_API size_t cudnnGetVersion(void)
{
    const int version = release();
    return (size_t)(PLM_CUDA == 8 ? version / 10000 * 1000 + version / 100 % 100 * 100 + version % 100 : version);
}

PLM_API size_t cudnnGetCudartVersion(void)
{
    return (size_t)plm_software()->cuda;
}

/* 100 * major + 10 * minor of the newest architecture: Hopper until 9.6, consumer Blackwell since 9.7. */
PLM_API size_t cudnnGetMaxDeviceVersion(void)
{
    return release() < 90700 ? 900 : 1200;
}

PLM_API const char *cudnnGetErrorString(int status)
{
    for (size_t i = 0; i < sizeof status_names / sizeof status_names[0]; i++)
        if (status_names[i].status == status)
            return status_names[i].name;
    return "CUDNN_UNKNOWN_STATUS";
}

/* The message is given once, as in the real library. */
PLM_API void cudnnGetLastErrorString(char *message, size_t max_size)
{
    if (message && max_size)
        snprintf(message, max_size, "%s", last_error ? last_error : "");
    last_error = NULL;
}

PLM_API int cudnnGetProperty(int property, int *value)
{
    const int version = release();
    const int parts[] = {version / 10000, version / 100 % 100, version % 100};
    if (!value || property < 0 || property > 2)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "no such library property");
    *value = parts[property];
    return PLM_DNN_OK;
}

PLM_API int cudnnCreate(struct plm_dnn_handle **out)
{
    int status = plm_dnn_create(out, sizeof **out);
    if (status == PLM_DNN_OK) {
        plm_device_activate(plm_device_current());
        plm_footprint_library(plm_device_current(), PLM_LIBRARY_CUDNN);
    }
    return status;
}

PLM_API int cudnnDestroy(struct plm_dnn_handle *handle)
{
    free(handle);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetStream(struct plm_dnn_handle *handle, void *stream)
{
    if (!handle)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the handle is NULL");
    handle->stream = stream;
    return PLM_DNN_OK;
}

PLM_API int cudnnGetStream(struct plm_dnn_handle *handle, void **stream)
{
    if (!handle || !stream)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the handle or the stream's address is NULL");
    *stream = handle->stream;
    return PLM_DNN_OK;
}

/* The log callback is remembered and never called: nothing here logs. */
static struct plm_lock callback_lock = PLM_LOCK_INIT(PLM_LOCK_SHIM);
PLM_LOCK_JOINS(callback_lock)
static struct {
    unsigned mask;
    void *data, *function;
} callback;

PLM_API int cudnnSetCallback(unsigned mask, void *data, void *function)
{
    plm_lock_take(&callback_lock);
    callback.mask = mask;
    callback.data = data;
    callback.function = function;
    plm_lock_give(&callback_lock);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetCallback(unsigned *mask, void **data, void **function)
{
    if (!mask || !data || !function)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "an address for the callback is NULL");
    plm_lock_take(&callback_lock);
    *mask = callback.mask;
    *data = callback.data;
    *function = callback.function;
    plm_lock_give(&callback_lock);
    return PLM_DNN_OK;
}
