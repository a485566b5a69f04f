/* Version, clock, numbers of devices, contexts and streams, callback domains and error texts. */
#include "shim/cupti/cupti.h"

#include <stdint.h>
#include <time.h>

#include "device/device.h"
#include "device/stream.h"
#include "device/shim.h"

/* Until CUDA 12 the interface was numbered by itself. */
#if PLM_CUDA < 13
static const struct {
    int cuda;
    uint32_t version;
} versions[] = {{12090, 28}, {12080, 26}, {12060, 24}, {12050, 23}, {12040, 22}, {12030, 21}, {12020, 20}, {0, 19}};
#endif

static uint32_t api_version(void)
{
    int cuda = plm_software()->cuda;
#if PLM_CUDA < 13
    size_t i = 0;
    while (cuda < versions[i].cuda)
        i++;
    return versions[i].version;
#else
    /* From 13 on it is the release: 130200 for 13.2. */
    return cuda >= 13000 ? (uint32_t)(cuda / 1000 * 10000 + cuda % 1000 * 10) : 130000u;
#endif
}

PLM_API int cuptiGetVersion(uint32_t *version)
{
    if (!version)
        return PLM_CUPTI_INVALID_PARAMETER;
    *version = api_version();
    return PLM_CUPTI_OK;
}

static int wall_clock(uint64_t *nanoseconds)
{
    struct timespec now;
    if (!nanoseconds)
        return PLM_CUPTI_INVALID_PARAMETER;
    clock_gettime(CLOCK_REALTIME, &now);
    *nanoseconds = (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
    return PLM_CUPTI_OK;
}

PLM_API int cuptiGetTimestamp(uint64_t *timestamp)
{
    return wall_clock(timestamp);
}

PLM_API int cuptiDeviceGetTimestamp(void *context, uint64_t *timestamp)
{
    (void)context;
    return wall_clock(timestamp);
}

/* A thread's context is that of its current device. */
PLM_API int cuptiGetDeviceId(void *context, uint32_t *device)
{
    (void)context;
    if (!device)
        return PLM_CUPTI_INVALID_PARAMETER;
    *device = (uint32_t)plm_device_current();
    return PLM_CUPTI_OK;
}

PLM_API int cuptiGetContextId(void *context, uint32_t *id)
{
    (void)context;
    if (!id)
        return PLM_CUPTI_INVALID_PARAMETER;
    *id = (uint32_t)plm_device_current() + 1;
    return PLM_CUPTI_OK;
}

static int stream_id(struct plm_stream *stream, uint32_t *id)
{
    uint64_t known = 0;
    if (!id || plm_stream_id(stream, &known))
        return PLM_CUPTI_INVALID_PARAMETER;
    *id = (uint32_t)known;
    return PLM_CUPTI_OK;
}

PLM_API int cuptiGetStreamId(void *context, struct plm_stream *stream, uint32_t *id)
{
    (void)context;
    return stream_id(stream, id);
}

PLM_API int cuptiGetStreamIdEx(void *context, struct plm_stream *stream, uint8_t per_thread, uint32_t *id)
{
    (void)context;
    return stream_id(!stream && per_thread ? PLM_STREAM_PER_THREAD : stream, id);
}

/* Driver, runtime, resource, synchronize, NVTX, state. */
PLM_API int cuptiSupportedDomains(size_t *count, const int **domains)
{
    static const int known[] = {1, 2, 3, 4, 5, 6};
    if (!count || !domains)
        return PLM_CUPTI_INVALID_PARAMETER;
    *count = sizeof known / sizeof known[0];
    *domains = known;
    return PLM_CUPTI_OK;
}

/* A caller may walk the numbers until one fails, so every number fails; the text is there for those
   who do not look. */
PLM_API int cuptiGetCallbackName(int domain, uint32_t id, const char **name)
{
    (void)domain;
    (void)id;
    if (name)
        *name = "<unknown>";
    return PLM_CUPTI_INVALID_PARAMETER;
}

static const char *text_of(int status)
{
    static const char *const texts[] = {
        "CUPTI_SUCCESS",
        "CUPTI_ERROR_INVALID_PARAMETER",
        "CUPTI_ERROR_INVALID_DEVICE",
        "CUPTI_ERROR_INVALID_CONTEXT",
        [7] = "CUPTI_ERROR_INVALID_OPERATION",
        "CUPTI_ERROR_OUT_OF_MEMORY",
        "CUPTI_ERROR_HARDWARE",
        "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT",
        "CUPTI_ERROR_API_NOT_IMPLEMENTED",
        "CUPTI_ERROR_MAX_LIMIT_REACHED",
        "CUPTI_ERROR_NOT_READY",
        "CUPTI_ERROR_NOT_COMPATIBLE",
        "CUPTI_ERROR_NOT_INITIALIZED",
        [18] = "CUPTI_ERROR_QUEUE_EMPTY",
        "CUPTI_ERROR_INVALID_HANDLE",
        "CUPTI_ERROR_INVALID_STREAM",
        "CUPTI_ERROR_INVALID_KIND",
        [23] = "CUPTI_ERROR_DISABLED",
        [27] = "CUPTI_ERROR_NOT_SUPPORTED",
    };
    int count = (int)(sizeof texts / sizeof texts[0]);
    return status >= 0 && status < count && texts[status] ? texts[status] : "CUPTI_ERROR_UNKNOWN";
}

PLM_API int cuptiGetResultString(int status, const char **text)
{
    if (!text)
        return PLM_CUPTI_INVALID_PARAMETER;
    *text = text_of(status);
    return PLM_CUPTI_OK;
}

PLM_API int cuptiGetErrorMessage(int status, const char **text)
{
    return cuptiGetResultString(status, text);
}
