#include "device/stream.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "device/calls.h"
#include "device/capture.h"
#include "device/device.h"

struct plm_event {
    unsigned flags;
    int device;
    /* One thread may record what another asks about. `recorded` is written last. */
    _Atomic uint32_t stream;  /* number of the stream it was recorded in */
    _Atomic uint64_t when;    /* launches at the record */
    _Atomic uint64_t capture; /* number of the capture it was recorded in, else 0 */
    _Atomic bool collective;  /* in a capture, and right behind a collective */
    _Atomic bool recorded;
};

enum { EVENT_DISABLE_TIMING = 2 };

enum { FIRST_STREAM_ID = 8 };
static _Atomic uint64_t next_stream_id = FIRST_STREAM_ID;
static struct plm_stream legacy_stream = {.id = 1};
static __thread struct plm_stream per_thread_stream;

struct plm_stream *plm_stream_resolve(struct plm_stream *stream)
{
    if (!stream || stream == PLM_STREAM_LEGACY)
        return &legacy_stream;
    if (stream == PLM_STREAM_PER_THREAD) {
        per_thread_stream.id = 2;
        return &per_thread_stream;
    }
    return stream;
}

bool plm_stream_is_legacy(const struct plm_stream *stream)
{
    return stream == &legacy_stream;
}

int plm_stream_create(unsigned flags, int priority, struct plm_stream **out)
{
    struct plm_stream *s;
    if (!out)
        return PLM_STREAM_INVALID;
    s = calloc(1, sizeof *s);
    if (!s)
        return PLM_STREAM_NOMEM;
    s->flags = flags;
    s->priority = priority;
    s->device = plm_device_current();
    s->id = atomic_fetch_add(&next_stream_id, 1);
    plm_device_activate(s->device);
    *out = s;
    return 0;
}

int plm_stream_destroy(struct plm_stream *stream)
{
    if (!stream || stream == PLM_STREAM_LEGACY || stream == PLM_STREAM_PER_THREAD)
        return PLM_STREAM_INVALID;
    plm_capture_forget(stream);
    free(stream);
    return 0;
}

int plm_stream_flags(struct plm_stream *stream, unsigned *flags)
{
    *flags = plm_stream_resolve(stream)->flags;
    return 0;
}

int plm_stream_priority(struct plm_stream *stream, int *priority)
{
    *priority = plm_stream_resolve(stream)->priority;
    return 0;
}

int plm_stream_device(struct plm_stream *stream, int *device)
{
    struct plm_stream *s = plm_stream_resolve(stream);
    *device = s == stream ? s->device : plm_device_current();
    return 0;
}

int plm_stream_id(struct plm_stream *stream, uint64_t *id)
{
    *id = plm_stream_resolve(stream)->id;
    return 0;
}

uint32_t plm_stream_number(struct plm_stream *stream)
{
    if (!stream || stream == PLM_STREAM_LEGACY)
        return 0;
    if (stream == PLM_STREAM_PER_THREAD)
        return 1;
    return (uint32_t)(stream->id - FIRST_STREAM_ID) + 2;
}

int plm_stream_synchronize(struct plm_stream *stream)
{
    int status = plm_stream_query(stream);
    if (!status)
        plm_call_sync(PLM_SYNC_STREAM, stream, PLM_STREAM_UNKNOWN);
    return status;
}

int plm_stream_query(struct plm_stream *stream)
{
    return plm_capture_refuse_sync(plm_stream_resolve(stream));
}

int plm_stream_enqueue(struct plm_stream *stream, enum plm_node_type type, bool *run)
{
    return plm_capture_node(plm_stream_resolve(stream), type, run);
}

int plm_stream_work(struct plm_stream *stream)
{
    bool run;
    return plm_stream_enqueue(stream, PLM_NODE_KERNEL, &run);
}

int plm_stream_wait(struct plm_stream *stream, struct plm_event *event)
{
    int status;
    if (!event)
        return PLM_STREAM_INVALID;
    status = plm_capture_fork(plm_stream_resolve(stream), atomic_load(&event->capture));
    if (!status && atomic_load(&event->recorded))
        plm_call_sync(PLM_SYNC_STREAM_WAITS, stream, atomic_load(&event->stream));
    return status;
}

/* ---- events ---- */

int plm_event_create(unsigned flags, struct plm_event **out)
{
    struct plm_event *e;
    if (!out)
        return PLM_STREAM_INVALID;
    e = calloc(1, sizeof *e);
    if (!e)
        return PLM_STREAM_NOMEM;
    e->flags = flags;
    e->device = plm_device_current();
    *out = e;
    return 0;
}

int plm_event_destroy(struct plm_event *event)
{
    if (!event)
        return PLM_STREAM_INVALID;
    free(event);
    return 0;
}

unsigned plm_event_flags(const struct plm_event *event)
{
    return event->flags;
}

int plm_event_record(struct plm_event *event, struct plm_stream *stream)
{
    struct plm_stream *s = plm_stream_resolve(stream);
    bool collective;
    if (!event)
        return PLM_STREAM_INVALID;
    atomic_store_explicit(&event->when, plm_launch_count(), memory_order_relaxed);
    atomic_store_explicit(&event->stream, plm_stream_number(stream), memory_order_relaxed);
    atomic_store_explicit(&event->capture, plm_capture_mark(s, &collective), memory_order_relaxed);
    atomic_store_explicit(&event->collective, collective, memory_order_relaxed);
    atomic_store_explicit(&event->recorded, true, memory_order_release);
    return 0;
}

static int refuse_captured(struct plm_event *event)
{
    return event ? plm_capture_refuse_event(atomic_load(&event->capture)) : PLM_STREAM_INVALID;
}

/* The end of a captured collective may be asked for: ProcessGroupNCCL does if it has no watchdog, which is our doing
   (leave_out_watchdog in ranks/groups.py), not the program's. */
int plm_event_query(struct plm_event *event)
{
    return event && atomic_load(&event->collective) ? 0 : refuse_captured(event);
}

int plm_event_synchronize(struct plm_event *event)
{
    int status = refuse_captured(event);
    if (!status)
        plm_call_sync(PLM_SYNC_EVENT, NULL,
                      atomic_load(&event->recorded) ? atomic_load(&event->stream) : PLM_STREAM_UNKNOWN);
    return status;
}

int plm_event_elapsed(struct plm_event *start, struct plm_event *end, float *milliseconds)
{
    const float launch_ms = 0.005f, least_ms = 0.001f;
    float elapsed;
    if (!start || !end || !milliseconds || !atomic_load(&start->recorded) || !atomic_load(&end->recorded) ||
        (start->flags & EVENT_DISABLE_TIMING) || (end->flags & EVENT_DISABLE_TIMING))
        return PLM_STREAM_INVALID;
    elapsed = (float)((int64_t)atomic_load(&end->when) - (int64_t)atomic_load(&start->when)) *
              launch_ms; /* given the wrong way round, too */
    *milliseconds = elapsed > least_ms ? elapsed : least_ms;
    return 0;
}
