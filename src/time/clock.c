#include "time/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "time/cost.h"
#include "time/speeds.h"

/* Streams that are told apart; more than these share the last one's clock. */
enum { STREAMS = 64 };

struct stream {
    uint32_t number;
    double free; /* when what it was given so far is done */
    double *done; /* when each of its last launches is, in a ring as long as its queue */
    size_t launches;
};

struct run {
    const struct plm_clock *clock;
    plm_clock_visit *visit;
    void *context;
    struct stream stream[STREAMS];
    int streams;
    size_t queue;     /* launches that a stream takes while they wait */
    uint32_t current; /* of the last call */
    uint32_t launch;  /* the call that the host is at */
    double host;     /* the host's clock */
    double used;     /* of it, without waiting */
    double begin;    /* of this step */
    double edge;     /* up to here the time in which the GPU is busy was counted */
    double busy;
    double active_edge, active; /* the same of the compute engine, which counts as active for a moment longer */
    double copied;
    bool counts, last;
};

/* Routines of libraries do not tell their stream: they run where the call before did. */
static struct stream *stream_of(struct run *r, uint32_t number)
{
    if (number == PLM_STREAM_UNKNOWN)
        number = r->current;
    r->current = number;
    for (int i = 0; i < r->streams; i++)
        if (r->stream[i].number == number)
            return &r->stream[i];
    if (r->streams == STREAMS)
        return &r->stream[STREAMS - 1];
    r->stream[r->streams] = (struct stream){.number = number, .done = plm_calloc(r->queue, sizeof(double))};
    return &r->stream[r->streams++];
}

static double all_done(const struct run *r)
{
    double done = 0;
    for (int i = 0; i < r->streams; i++)
        done = fmax(done, r->stream[i].free);
    return done;
}

/* ---- the GPU ---- */

/* The calls come in the order of the host, not of the spans: overlaps of streams are counted once as far as spans begin
   in order. */
static void cover(double begin, double end, double *edge, double *sum)
{
    const double from = fmax(begin, *edge);
    if (end > from) {
        *sum += end - from;
        *edge = end;
    }
}

static double span_run(struct run *r, const struct plm_work_call *call, uint32_t number, double earliest)
{
    const struct plm_cost *cost = &r->clock->cost[call->work];
    struct stream *stream = stream_of(r, call->stream);
    const bool kernel = cost->activity[PLM_METRIC_GRACT] > 0;
    const double slowdown = kernel ? r->clock->slowdown : 1, before = r->busy;
    const double begin = fmax(earliest, stream->free), end = begin + cost->ns * r->clock->gpu_factor * slowdown;
    stream->free = end + r->clock->speeds->gap_us * 1e3;
    if (!r->counts)
        return end;
    cover(begin, end, &r->edge, &r->busy);
    if (kernel)
        cover(begin, end + r->clock->speeds->tail_us * 1e3 * slowdown, &r->active_edge, &r->active);
    else
        r->copied += (r->busy - before) * cost->activity[PLM_METRIC_GPUTL];
    if (r->visit) {
        const struct plm_span span = {.begin = begin - r->begin,
                                      .end = end - r->begin,
                                      .call = number,
                                      .launch = r->launch,
                                      .work = call->work,
                                      .site = call->site,
                                      .stream = stream->number,
                                      .bound = cost->bound};
        r->visit(&span, r->last, r->context);
    }
    return end;
}

/* A launch finds a place in its stream's queue when the one that has it is done: until then the host waits. */
static void queue_enter(struct run *r, uint32_t number)
{
    const struct stream *s = stream_of(r, number);
    r->host = fmax(r->host, s->done[s->launches % r->queue]);
}

/* After the launch: its end is that of all that the stream was given. */
static void queue_note(struct run *r)
{
    struct stream *s = stream_of(r, r->current);
    s->done[s->launches++ % r->queue] = s->free;
}

/* All nodes of a graph follow each other on its stream: the host is not asked again. */
static void graph_run(struct run *r, const struct plm_work_call *call, const struct plm_work *work)
{
    const struct plm_work_lane *lane = r->clock->lane;
    const double earliest = r->host + r->clock->speeds->latency_us * 1e3;
    for (uint32_t i = 0; i < work->calls && work->first + i < lane->nodes; i++) {
        struct plm_work_call node = lane->node[work->first + i];
        const uint8_t class = r->clock->works->work[node.work].class;
        if (class == PLM_WORK_WAIT || class == PLM_WORK_GRAPH)
            continue;
        node.stream = call->stream;
        span_run(r, &node, UINT32_MAX - 1 - (work->first + i), earliest);
    }
}

/* ---- the host ---- */

static void wait(struct run *r, const struct plm_work_call *call, const struct plm_work *work)
{
    double until = 0;
    switch (work->operation) {
    case PLM_SYNC_STREAM_WAITS:
        stream_of(r, call->stream)->free = fmax(stream_of(r, call->stream)->free, stream_of(r, call->other)->free);
        return;
    case PLM_SYNC_DEVICE: until = all_done(r); break;
    case PLM_SYNC_STREAM: until = stream_of(r, call->stream)->free; break;
    default: until = stream_of(r, call->other)->free; break;
    }
    r->host = fmax(r->host, until) + r->clock->speeds->wait_us * 1e3;
}

/* To and from pageable memory the host waits, whatever the call says. */
static void copy_run(struct run *r, const struct plm_work_call *call, const struct plm_work *work, uint32_t number)
{
    const bool with_host = work->operation == PLM_COPY_HOST_TO_DEVICE || work->operation == PLM_COPY_DEVICE_TO_HOST;
    const double end = span_run(r, call, number, r->host + r->clock->speeds->latency_us * 1e3);
    if (with_host && (!work->pinned || !work->async))
        r->host = fmax(r->host, end) + r->clock->speeds->wait_us * 1e3;
}

static void spend(struct run *r, double ns)
{
    r->host += ns;
    if (r->counts)
        r->used += ns;
}

static void tell_host(const struct run *r, double begin, double called)
{
    const struct plm_host_span span = {begin - r->begin, r->host - r->begin, r->host - called, r->launch};
    if (r->clock->host && r->last)
        r->clock->host(&span, r->context);
}

/* What the host took before a call. Measured, it is the CPU time of the thread on the machine that recorded; counted,
   it depends on nothing but the calls. */
static double host_gap(const struct run *r, const struct plm_work_call *call, const struct plm_work *work)
{
    const struct plm_speeds *s = r->clock->speeds;
    const double byte_ns =
        work->class == PLM_WORK_COPY && work->operation == PLM_COPY_HOST_TO_DEVICE && !work->pinned ? s->byte_ns : 0;
    if (r->clock->measured)
        return call->gap_ns;
    if (work->class == PLM_WORK_WAIT)
        return 0;
    switch (r->clock->works->site[call->site].phase) {
    case PLM_PHASE_BACKWARD: return s->backward_call_us * 1e3;
    case PLM_PHASE_OPTIMIZER: return s->optimizer_call_us * 1e3;
    default: return s->forward_call_us * 1e3 + byte_ns * work->read;
    }
}

static void call_run(struct run *r, size_t number)
{
    const struct plm_work_call *call = &r->clock->lane->call[number];
    const struct plm_work *work = &r->clock->works->work[call->work];
    const struct plm_speeds *s = r->clock->speeds;
    const bool copy = work->class == PLM_WORK_COPY, waits = work->class == PLM_WORK_WAIT;
    const double begin = r->host, driver_us = copy ? s->copy_call_us : waits ? 0 : s->launch_us;
    double called;
    r->launch = (uint32_t)number;
    spend(r, host_gap(r, call, work) * r->clock->host_factor + driver_us * 1e3);
    called = r->host;
    if (waits)
        wait(r, call, work);
    else {
        queue_enter(r, call->stream);
        if (work->class == PLM_WORK_GRAPH)
            graph_run(r, call, work);
        else if (copy)
            copy_run(r, call, work, (uint32_t)number);
        else
            span_run(r, call, (uint32_t)number, r->host + s->latency_us * 1e3);
        queue_note(r);
    }
    tell_host(r, begin, called);
}

/* Where the host computes longest between two calls of a step: there it gets the next batch, or waits for the step
   before. */
static size_t longest_gap(const struct plm_work_lane *lane, const struct plm_work_step *step)
{
    size_t longest = step->first;
    for (size_t i = 1; i < step->calls; i++)
        if (lane->call[step->first + i].gap_ns > lane->call[longest].gap_ns)
            longest = step->first + i;
    return longest;
}

/* Does the host bring a batch to the card in this step? One that stays there, as of a benchmark, is not fetched. */
static bool step_fetches(const struct run *r, const struct plm_work_step *step)
{
    for (size_t i = step->first; i < step->first + step->calls; i++) {
        const struct plm_work *work = &r->clock->works->work[r->clock->lane->call[i].work];
        if (work->class == PLM_WORK_COPY && work->operation == PLM_COPY_HOST_TO_DEVICE)
            return true;
    }
    return false;
}

static void step_run(struct run *r, const struct plm_work_step *step)
{
    const bool fitted = r->clock->speeds->step_us > 0;
    const size_t between = !fitted ? SIZE_MAX : r->clock->measured ? longest_gap(r->clock->lane, step) : step->first;
    r->begin = fmax(r->host, all_done(r));
    if (!r->clock->measured && step_fetches(r, step))
        spend(r, step->samples * r->clock->speeds->sample_us * 1e3 * r->clock->host_factor);
    for (size_t i = step->first; i < step->first + step->calls; i++) {
        if (i == between)
            spend(r, r->clock->speeds->step_us * 1e3);
        call_run(r, i);
    }
}

/* The first step is gone through once before time counts, so that host and GPU are as far apart as in the long run. */
struct plm_clock_result plm_clock_run(const struct plm_clock *clock, plm_clock_visit *visit, void *context)
{
    const struct plm_work_lane *lane = clock->lane;
    struct run r = {.clock = clock, .visit = visit, .context = context};
    double from;
    r.queue = (size_t)clock->speeds->queue_launches;
    step_run(&r, &lane->step[0]);
    from = r.edge = r.active_edge = fmax(r.host, all_done(&r));
    r.counts = true;
    for (size_t i = 0; i < lane->steps; i++) {
        r.last = i + 1 == lane->steps;
        step_run(&r, &lane->step[i]);
    }
    for (int i = 0; i < r.streams; i++)
        free(r.stream[i].done);
    return (struct plm_clock_result){fmax(r.host, all_done(&r)) - from, r.busy, r.used, r.active, r.copied};
}
