#include "shim/cudart/runtime.h"

PLM_API int cudaStreamCreateWithPriority(struct plm_stream **stream, unsigned flags, int priority)
{
    int device, status = plm_rt_blocking(&device);
    return status ? status : plm_rt_stream(plm_stream_create(flags, priority, stream));
}

PLM_API int cudaStreamCreateWithFlags(struct plm_stream **stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

PLM_API int cudaStreamCreate(struct plm_stream **stream)
{
    return cudaStreamCreateWithPriority(stream, 0, 0);
}

PLM_API int cudaStreamDestroy(struct plm_stream *stream)
{
    return plm_rt_stream(plm_stream_destroy(stream));
}

PLM_API int cudaStreamGetFlags(struct plm_stream *stream, unsigned *flags)
{
    return flags ? plm_rt_stream(plm_stream_flags(stream, flags)) : plm_rt(PLM_RT_INVALID_VALUE);
}

PLM_API int cudaStreamGetPriority(struct plm_stream *stream, int *priority)
{
    return priority ? plm_rt_stream(plm_stream_priority(stream, priority)) : plm_rt(PLM_RT_INVALID_VALUE);
}

PLM_API int cudaStreamGetDevice(struct plm_stream *stream, int *device)
{
    return device ? plm_rt_stream(plm_stream_device(stream, device)) : plm_rt(PLM_RT_INVALID_VALUE);
}

PLM_API int cudaStreamGetId(struct plm_stream *stream, unsigned long long *id)
{
    uint64_t value = 0;
    int status;
    if (!id)
        return plm_rt(PLM_RT_INVALID_VALUE);
    status = plm_rt_stream(plm_stream_id(stream, &value));
    *id = value;
    return status;
}

PLM_API int cudaStreamSynchronize(struct plm_stream *stream)
{
    return plm_rt_stream(plm_stream_synchronize(stream));
}

PLM_API int cudaStreamQuery(struct plm_stream *stream)
{
    return plm_rt_stream(plm_stream_query(stream));
}

PLM_API int cudaStreamWaitEvent(struct plm_stream *stream, struct plm_event *event, unsigned flags)
{
    (void)flags;
    return plm_rt_stream(plm_stream_wait(stream, event));
}

/* An attribute value is a union of 64 bytes; what was never set reads as zeros. */
PLM_API int cudaStreamGetAttribute(struct plm_stream *stream, int attribute, void *value)
{
    (void)stream, (void)attribute;
    if (!value)
        return plm_rt(PLM_RT_INVALID_VALUE);
    for (int i = 0; i < 64; i++)
        ((char *)value)[i] = 0;
    return PLM_RT_OK;
}

/* ---- events ---- */

PLM_API int cudaEventCreateWithFlags(struct plm_event **event, unsigned flags)
{
    return plm_rt_stream(plm_event_create(flags, event));
}

PLM_API int cudaEventCreate(struct plm_event **event)
{
    return cudaEventCreateWithFlags(event, 0);
}

PLM_API int cudaEventDestroy(struct plm_event *event)
{
    return plm_rt_stream(plm_event_destroy(event));
}

PLM_API int cudaEventRecord(struct plm_event *event, struct plm_stream *stream)
{
    return plm_rt_stream(plm_event_record(event, stream));
}

PLM_API int cudaEventRecordWithFlags(struct plm_event *event, struct plm_stream *stream, unsigned flags)
{
    (void)flags;
    return cudaEventRecord(event, stream);
}

PLM_API int cudaEventQuery(struct plm_event *event)
{
    return plm_rt_stream(plm_event_query(event));
}

PLM_API int cudaEventSynchronize(struct plm_event *event)
{
    return plm_rt_stream(plm_event_synchronize(event));
}

PLM_API int cudaEventElapsedTime(float *milliseconds, struct plm_event *start, struct plm_event *end)
{
    return plm_rt_stream(plm_event_elapsed(start, end, milliseconds));
}

PLM_API int cudaEventElapsedTime_v2(float *milliseconds, struct plm_event *start, struct plm_event *end)
{
    return cudaEventElapsedTime(milliseconds, start, end);
}
