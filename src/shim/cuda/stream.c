#include <string.h>

#include "shim/cuda/driver.h"

/* Streams, and what is put into them that is neither kernel nor copy. */

int plm_cu_enqueue(struct plm_stream *stream, enum plm_node_type type, bool *run)
{
    return plm_cu_from_stream(plm_stream_enqueue(stream, type, run));
}

PLM_API int cuStreamCreateWithPriority(struct plm_stream **out, unsigned flags, int priority)
{
    int device, status = plm_cu_device(&device);
    if (!out || (flags & ~1u))
        return PLM_CU_INVALID_VALUE;
    if (status)
        return status;
    plm_device_select(device);
    return plm_cu_from_stream(plm_stream_create(flags, priority, out));
}

PLM_API int cuStreamCreate(struct plm_stream **out, unsigned flags)
{
    return cuStreamCreateWithPriority(out, flags, 0);
}

PLM_API int cuStreamDestroy_v2(struct plm_stream *stream)
{
    return plm_cu_from_stream(plm_stream_destroy(stream));
}
PLM_API int cuStreamDestroy(struct plm_stream *stream) __attribute__((alias("cuStreamDestroy_v2")));

PLM_API int cuStreamGetFlags(struct plm_stream *stream, unsigned *flags)
{
    return flags ? plm_cu_from_stream(plm_stream_flags(stream, flags)) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuStreamGetPriority(struct plm_stream *stream, int *priority)
{
    return priority ? plm_cu_from_stream(plm_stream_priority(stream, priority)) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuStreamGetId(struct plm_stream *stream, uint64_t *id)
{
    return id ? plm_cu_from_stream(plm_stream_id(stream, id)) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuStreamGetDevice(struct plm_stream *stream, int *device)
{
    return device ? plm_cu_from_stream(plm_stream_device(stream, device)) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuStreamGetCtx(struct plm_stream *stream, struct plm_cu_context **out)
{
    struct plm_cu_context *current = plm_cu_current();
    int device, status = plm_cu_from_stream(plm_stream_device(stream, &device));
    if (!out)
        return PLM_CU_INVALID_VALUE;
    if (status)
        return status;
    *out = current && current->device == device ? current : plm_cu_primary(device);
    return 0;
}

/* The second context is the green one, of which there are none. */
PLM_API int cuStreamGetCtx_v2(struct plm_stream *stream, struct plm_cu_context **out, void **green)
{
    if (green)
        *green = NULL;
    return cuStreamGetCtx(stream, out);
}

PLM_API int cuStreamSynchronize(struct plm_stream *stream)
{
    return plm_cu_from_stream(plm_stream_synchronize(stream));
}

PLM_API int cuStreamQuery(struct plm_stream *stream)
{
    return plm_cu_from_stream(plm_stream_query(stream));
}

PLM_API int cuStreamWaitEvent(struct plm_stream *stream, struct plm_event *event, unsigned flags)
{
    (void)flags;
    return plm_cu_from_stream(plm_stream_wait(stream, event));
}

/* ---- attributes ---- */

enum { SYNCHRONIZATION_POLICY = 3, PRIORITY = 8, POLICY_AUTO = 1, VALUE_BYTES = 64 };

PLM_API int cuStreamGetAttribute(struct plm_stream *stream, int attribute, void *value)
{
    int number = 0, status = 0;
    if (!value)
        return PLM_CU_INVALID_VALUE;
    if (attribute == PRIORITY)
        status = plm_stream_priority(stream, &number);
    else if (attribute == SYNCHRONIZATION_POLICY)
        number = POLICY_AUTO;
    memset(value, 0, VALUE_BYTES);
    memcpy(value, &number, sizeof number);
    return plm_cu_from_stream(status);
}

/* ---- functions of the host ---- */

PLM_API int cuLaunchHostFunc(struct plm_stream *stream, void (*function)(void *), void *data)
{
    bool run;
    int status;
    if (!function)
        return PLM_CU_INVALID_VALUE;
    status = plm_cu_enqueue(stream, PLM_NODE_HOST, &run);
    if (status == 0 && run)
        function(data);
    return status;
}
PLM_API int cuLaunchHostFunc_v2(struct plm_stream *stream, void (*function)(void *), void *data)
    __attribute__((alias("cuLaunchHostFunc")));

PLM_API int cuStreamAddCallback(struct plm_stream *stream,
                                void (*function)(struct plm_stream *stream, int status, void *data), void *data,
                                unsigned flags)
{
    bool run;
    int status;
    if (!function || flags)
        return PLM_CU_INVALID_VALUE;
    status = plm_cu_enqueue(stream, PLM_NODE_HOST, &run);
    if (status)
        return status;
    if (!run)
        return PLM_CU_CAPTURE_UNSUPPORTED;
    function(stream, PLM_CU_OK, data);
    return 0;
}

/* ---- words of memory as signals ---- */

static int write_value(struct plm_stream *stream, uint64_t address, uint64_t value, unsigned bytes)
{
    bool run;
    int status;
    if (plm_mem_query((const void *)address).kind == PLM_MEM_NONE || address % bytes)
        return PLM_CU_INVALID_VALUE;
    status = plm_cu_enqueue(stream, PLM_NODE_EMPTY, &run);
    if (status == 0 && run)
        plm_fill((void *)address, value, bytes, 1);
    return status;
}

PLM_API int cuStreamWriteValue32_v2(struct plm_stream *stream, uint64_t address, uint32_t value, unsigned flags)
{
    (void)flags;
    return write_value(stream, address, value, 4);
}
PLM_API int cuStreamWriteValue32(struct plm_stream *stream, uint64_t address, uint32_t value, unsigned flags)
    __attribute__((alias("cuStreamWriteValue32_v2")));

PLM_API int cuStreamWriteValue64_v2(struct plm_stream *stream, uint64_t address, uint64_t value, unsigned flags)
{
    (void)flags;
    return write_value(stream, address, value, 8);
}
PLM_API int cuStreamWriteValue64(struct plm_stream *stream, uint64_t address, uint64_t value, unsigned flags)
    __attribute__((alias("cuStreamWriteValue64_v2")));
