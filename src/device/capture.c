#include "device/capture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "device/internal.h"
#include "device/lock.h"
#include "device/stream.h"

/*
 * Captures are rare and short; one lock covers them all. The hot path, work on a stream while nothing
 * in the process captures, is one relaxed load.
 */

struct plm_capture_state {
    uint64_t id;
    enum plm_capture_mode mode;
    pthread_t owner;
    const struct plm_stream *origin; /* to compare: the stream of a thread ends with it */
    bool blocking;                   /* the origin synchronizes with the legacy stream */
    struct plm_graph *graph;
    bool ours;                       /* the graph is ours to destroy if nothing comes of the capture */
    bool invalidated, ended;
    int streams;                     /* that still point here */
    struct plm_capture_state *next;
};

enum { STREAM_NON_BLOCKING = 1 };

static struct plm_lock captures_lock = PLM_LOCK_INIT(PLM_LOCK_CAPTURES);
PLM_LOCK_JOINS(captures_lock)
static _Atomic int active;
static struct plm_capture_state *captures; /* never freed before their id can no longer be asked for */
static uint64_t next_id;
static __thread enum plm_capture_mode thread_mode;

bool plm_capture_active(void)
{
    return atomic_load_explicit(&active, memory_order_relaxed) > 0;
}

/* An event may outlive the capture it was recorded in. */
static struct plm_capture_state *still_active(uint64_t id)
{
    for (struct plm_capture_state *c = captures; c; c = c->next)
        if (c->id == id && !c->ended)
            return c;
    return NULL;
}

static void unlink_capture(struct plm_capture_state *capture)
{
    for (struct plm_capture_state **link = &captures; *link; link = &(*link)->next)
        if (*link == capture) {
            *link = capture->next;
            break;
        }
}

/* Streams that joined a capture leave it when it has ended. Called with the lock held. */
static void leave_if_ended(struct plm_stream *s)
{
    struct plm_capture_state *c = s->capture;
    if (!c || !c->ended)
        return;
    s->capture = NULL;
    if (--c->streams == 0) {
        unlink_capture(c);
        free(c);
    }
}

int plm_capture_unsafe_call(void)
{
    int status = 0;
    if (!plm_capture_active() || thread_mode == PLM_CAPTURE_RELAXED)
        return 0;
    plm_lock_take(&captures_lock);
    for (struct plm_capture_state *c = captures; c; c = c->next) {
        bool mine = pthread_equal(c->owner, pthread_self());
        if (c->ended || c->mode == PLM_CAPTURE_RELAXED)
            continue;
        if (mine || (c->mode == PLM_CAPTURE_GLOBAL && thread_mode == PLM_CAPTURE_GLOBAL)) {
            c->invalidated = true;
            status = PLM_STREAM_UNSUPPORTED;
        }
    }
    plm_lock_give(&captures_lock);
    return status;
}

/* The legacy stream synchronizes with every blocking stream, so it may not be used while one captures. */
static int legacy_used(struct plm_stream *stream)
{
    if (!plm_stream_is_legacy(stream))
        return 0;
    for (struct plm_capture_state *c = captures; c; c = c->next)
        if (!c->ended && c->blocking) {
            c->invalidated = true;
            return PLM_STREAM_IMPLICIT;
        }
    return 0;
}

int plm_capture_node(struct plm_stream *stream, enum plm_node_type type, bool *run)
{
    int status = 0;
    *run = true;
    if (!plm_capture_active())
        return 0;
    plm_lock_take(&captures_lock);
    leave_if_ended(stream);
    *run = !stream->capture;
    if (stream->capture && stream->capture->invalidated)
        status = PLM_STREAM_INVALIDATED;
    else if (stream->capture) {
        stream->collective = type == PLM_NODE_COLLECTIVE;
        plm_graph_count(stream->capture->graph, stream->collective ? PLM_NODE_KERNEL : type);
    } else
        status = legacy_used(stream);
    plm_lock_give(&captures_lock);
    return status;
}

int plm_capture_refuse_sync(struct plm_stream *stream)
{
    int status = 0;
    if (!plm_capture_active())
        return 0;
    plm_lock_take(&captures_lock);
    leave_if_ended(stream);
    if (stream->capture) {
        stream->capture->invalidated = true;
        status = PLM_STREAM_UNSUPPORTED;
    } else
        status = legacy_used(stream);
    plm_lock_give(&captures_lock);
    return status;
}

uint64_t plm_capture_mark(struct plm_stream *stream, bool *collective)
{
    uint64_t id;
    *collective = false;
    if (!plm_capture_active())
        return 0;
    plm_lock_take(&captures_lock);
    leave_if_ended(stream);
    id = stream->capture ? stream->capture->id : 0;
    *collective = id && stream->collective;
    plm_lock_give(&captures_lock);
    return id;
}

int plm_capture_fork(struct plm_stream *stream, uint64_t id)
{
    struct plm_capture_state *c;
    int status = 0;
    if (!plm_capture_active())
        return 0;
    plm_lock_take(&captures_lock);
    leave_if_ended(stream);
    c = id ? still_active(id) : NULL;
    if (c && c->invalidated)
        status = PLM_STREAM_INVALIDATED;
    else if (c && stream->capture && stream->capture != c) {
        c->invalidated = stream->capture->invalidated = true;
        status = PLM_STREAM_ISOLATION;
    } else if (c && plm_stream_is_legacy(stream)) {
        c->invalidated = true;
        status = PLM_STREAM_IMPLICIT;
    } else if (c && !stream->capture) {
        stream->capture = c;
        stream->collective = false;
        c->streams++;
    }
    plm_lock_give(&captures_lock);
    return status;
}

int plm_capture_refuse_event(uint64_t id)
{
    struct plm_capture_state *capture;
    int status = 0;
    if (!plm_capture_active() || !id)
        return 0;
    plm_lock_take(&captures_lock);
    capture = still_active(id);
    if (capture) {
        capture->invalidated = true;
        status = PLM_STREAM_UNSUPPORTED;
    }
    plm_lock_give(&captures_lock);
    return status;
}

static int begin(struct plm_stream *stream, struct plm_graph *graph, bool ours, enum plm_capture_mode mode)
{
    struct plm_stream *s = plm_stream_resolve(stream);
    struct plm_capture_state *c;
    int status = 0;

    if (plm_stream_is_legacy(s))
        return PLM_STREAM_UNSUPPORTED;
    c = calloc(1, sizeof *c);
    if (!c)
        return PLM_STREAM_NOMEM;
    plm_lock_take(&captures_lock);
    leave_if_ended(s);
    if (s->capture) {
        status = PLM_STREAM_NOT_CAPTURING;
        free(c);
    } else {
        *c = (struct plm_capture_state){.id = ++next_id,
                                        .mode = mode,
                                        .owner = pthread_self(),
                                        .origin = s,
                                        .blocking = !(s->flags & STREAM_NON_BLOCKING),
                                        .graph = graph,
                                        .ours = ours,
                                        .streams = 1,
                                        .next = captures};
        captures = c;
        s->capture = c;
        s->collective = false;
        atomic_fetch_add(&active, 1);
    }
    plm_lock_give(&captures_lock);
    return status;
}

int plm_capture_begin_to_graph(struct plm_stream *stream, struct plm_graph *graph, enum plm_capture_mode mode)
{
    return graph ? begin(stream, graph, false, mode) : PLM_STREAM_INVALID;
}

int plm_capture_begin(struct plm_stream *stream, enum plm_capture_mode mode)
{
    struct plm_graph *graph;
    int status = plm_graph_create(&graph);
    if (status)
        return status;
    status = begin(stream, graph, true, mode);
    if (status)
        plm_graph_destroy(graph);
    return status;
}

int plm_capture_end(struct plm_stream *stream, struct plm_graph **out)
{
    struct plm_stream *s = plm_stream_resolve(stream);
    struct plm_capture_state *c;
    int status = 0;

    *out = NULL;
    plm_lock_take(&captures_lock);
    c = s->capture;
    if (!c)
        status = PLM_STREAM_NOT_CAPTURING;
    else if (c->origin != s)
        status = PLM_STREAM_UNSUPPORTED;
    else if (c->mode != PLM_CAPTURE_RELAXED && !pthread_equal(c->owner, pthread_self()))
        status = PLM_STREAM_WRONG_THREAD;
    else {
        status = c->invalidated ? PLM_STREAM_INVALIDATED : 0;
        c->ended = true;
        s->capture = NULL;
        c->streams--;
        atomic_fetch_sub(&active, 1);
        if (!status)
            *out = c->graph;
        else if (c->ours)
            plm_graph_destroy(c->graph);
        if (!c->streams) {
            unlink_capture(c);
            free(c);
        }
    }
    plm_lock_give(&captures_lock);
    return status;
}

void plm_capture_forget(struct plm_stream *stream)
{
    struct plm_capture_state *c;
    plm_lock_take(&captures_lock);
    leave_if_ended(stream);
    c = stream->capture;
    if (c) {
        c->invalidated = true;
        /* Nobody can end a capture whose first stream is gone; the others leave it when they are next used. */
        if (c->origin == stream) {
            c->ended = true;
            atomic_fetch_sub(&active, 1);
            if (c->ours)
                plm_graph_destroy(c->graph);
        }
        stream->capture = NULL;
        if (--c->streams == 0 && c->ended) {
            unlink_capture(c);
            free(c);
        }
    }
    plm_lock_give(&captures_lock);
}

int plm_capture_info(struct plm_stream *stream, enum plm_capture_status *status, uint64_t *id, struct plm_graph **graph,
                     struct plm_graph_node *const **last_nodes, size_t *last_count)
{
    struct plm_stream *s = plm_stream_resolve(stream);
    struct plm_capture_state *c;
    int result = 0;

    plm_lock_take(&captures_lock);
    leave_if_ended(s);
    c = s->capture;
    if (!c && plm_stream_is_legacy(s))
        result = legacy_used(s);
    *status = !c ? PLM_CAPTURE_NONE : c->invalidated ? PLM_CAPTURE_INVALIDATED : PLM_CAPTURE_ACTIVE;
    if (id)
        *id = c ? c->id : 0;
    if (graph)
        *graph = c ? c->graph : NULL;
    if (last_nodes)
        *last_nodes = NULL;
    if (last_count)
        *last_count = 0;
    plm_lock_give(&captures_lock);
    return result;
}

uint32_t plm_capture_graph(struct plm_stream *stream)
{
    struct plm_stream *s = plm_stream_resolve(stream);
    uint32_t number;
    plm_lock_take(&captures_lock);
    number = s->capture && !s->capture->ended ? plm_graph_number(s->capture->graph) : 0;
    plm_lock_give(&captures_lock);
    return number;
}

enum plm_capture_mode plm_capture_exchange_mode(enum plm_capture_mode mode)
{
    enum plm_capture_mode before = thread_mode;
    thread_mode = mode;
    return before;
}
