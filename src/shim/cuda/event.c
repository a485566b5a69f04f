#include "shim/cuda/driver.h"

/* Events. */

PLM_API int cuEventCreate(struct plm_event **out, unsigned flags)
{
    int device, status = plm_cu_device(&device);
    if (!out)
        return PLM_CU_INVALID_VALUE;
    return status ? status : plm_cu_from_stream(plm_event_create(flags, out));
}

PLM_API int cuEventDestroy_v2(struct plm_event *event)
{
    return plm_cu_from_stream(plm_event_destroy(event));
}
PLM_API int cuEventDestroy(struct plm_event *event) __attribute__((alias("cuEventDestroy_v2")));

PLM_API int cuEventRecord(struct plm_event *event, struct plm_stream *stream)
{
    return plm_cu_from_stream(plm_event_record(event, stream));
}
PLM_API int cuEventRecordWithFlags(struct plm_event *event, struct plm_stream *stream)
    __attribute__((alias("cuEventRecord")));

PLM_API int cuEventQuery(struct plm_event *event)
{
    return plm_cu_from_stream(plm_event_query(event));
}

PLM_API int cuEventSynchronize(struct plm_event *event)
{
    return plm_cu_from_stream(plm_event_synchronize(event));
}

PLM_API int cuEventElapsedTime_v2(float *milliseconds, struct plm_event *start, struct plm_event *end)
{
    return milliseconds ? plm_cu_from_stream(plm_event_elapsed(start, end, milliseconds)) : PLM_CU_INVALID_VALUE;
}
PLM_API int cuEventElapsedTime(float *milliseconds, struct plm_event *start, struct plm_event *end)
    __attribute__((alias("cuEventElapsedTime_v2")));

/* Of a whole context: all of its work is done. */
PLM_API int cuCtxRecordEvent(struct plm_cu_context *context, struct plm_event *event)
{
    if (!plm_cu_context_valid(context))
        return PLM_CU_INVALID_CONTEXT;
    return plm_cu_from_stream(plm_event_record(event, NULL));
}

PLM_API int cuCtxWaitEvent(struct plm_cu_context *context, struct plm_event *event)
{
    if (!plm_cu_context_valid(context))
        return PLM_CU_INVALID_CONTEXT;
    return event ? 0 : PLM_CU_INVALID_HANDLE;
}
