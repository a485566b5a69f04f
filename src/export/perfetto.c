/*
 * Chrome's trace event format (JSON), which ui.perfetto.dev and chrome://tracing load: for each process a
 * track of its steps, for each thread its modules with the calls it made, one track of phases, and for
 * each device counters of what is allocated, by category, and of what is reserved. Where times are known, the
 * last step as the card would run it: a process of its own with the host's calls, the kernels of each stream and counters of
 * how busy the card is. It begins where that step began in the recording, and has a clock of its own from there on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/memory.h"
#include "common/error.h"
#include "export/export.h"
#include "export/out.h"
#include "export/values.h"
#include "record/reader.h"
#include "time/timeline.h"

/* Beyond any pid and tid of Linux: names for what has none. */
#define NO_PID     0x00400001u
#define STEPS_TID  0x20000000u
#define PHASES_TID 0x40000000u
/* Of a modelled step: one process for each lane, and its tracks. */
#define MODEL_PID 0x00800001u
enum { MODEL_STEP, MODEL_HOST, MODEL_STREAM, MODEL_TRACKS = 128 };
#define MODEL_TID(lane, track) (0x60000000u + (uint32_t)(lane) * MODEL_TRACKS + (uint32_t)(track))

struct process {
    uint32_t number, pid;
    uint64_t step_ns;    /* where the current step began */
    bool in_phase;
};

struct thread {
    bool seen;
    uint32_t tid;
    uint32_t process;    /* index of `process` */
    unsigned modules;    /* open slices */
};

struct trace {
    const struct plm_export *export;
    struct plm_out *out;
    struct plm_export_values values;
    struct process *process;
    size_t processes, process_room;
    struct thread *thread;
    size_t threads;
    bool begun;          /* something was written: a comma comes first */
    uint64_t last_ns;
};

/* ---- pieces of an event ---- */

static void begin_event(struct trace *t, char kind, uint32_t pid, uint32_t tid, uint64_t ns)
{
    const char head[] = {'"', kind, '"'};
    plm_out_text(t->out, t->begun ? ",\n{\"ph\":" : "{\"ph\":");
    plm_out_bytes(t->out, head, sizeof head);
    plm_out_text(t->out, ",\"pid\":");
    plm_out_u64(t->out, pid);
    plm_out_text(t->out, ",\"tid\":");
    plm_out_u64(t->out, tid);
    plm_out_text(t->out, ",\"ts\":");
    plm_out_us(t->out, ns);
    t->begun = true;
}

static void put_name(struct trace *t, const struct plm_text *text)
{
    plm_out_text(t->out, ",\"name\":");
    plm_text_json(t->out, text);
}

static void put_label(struct trace *t, const char *name)
{
    plm_out_text(t->out, ",\"name\":");
    plm_out_json(t->out, name);
}

static void end_event(struct trace *t)
{
    plm_out_byte(t->out, '}');
}

/* "process_name", "thread_name". */
static void put_metadata(struct trace *t, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
    begin_event(t, 'M', pid, tid, 0);
    put_label(t, what);
    plm_out_text(t->out, ",\"args\":{\"name\":");
    plm_out_json(t->out, name);
    plm_out_byte(t->out, '}');
    end_event(t);
}

/* ---- processes and threads ---- */

static void name_process(struct trace *t, const struct process *p)
{
    const struct plm_job *job = t->export->job;
    char name[64];
    snprintf(name, sizeof name, p->number ? "process %u" : "plimsoll run", p->number);
    for (size_t i = 0; i < job->lanes; i++)
        if (job->lane[i].process == p->number)
            snprintf(name, sizeof name, "rank %d", job->lane[i].summary->rank);
    put_metadata(t, "process_name", p->pid, p->pid, name);
    put_metadata(t, "thread_name", p->pid, STEPS_TID, "steps");
}

static struct process *add_process(struct trace *t, uint32_t number, uint32_t pid, uint64_t ns)
{
    struct process *p;
    t->process = plm_grow(t->process, t->processes, &t->process_room, sizeof *p);
    for (size_t i = 0; i < t->processes; i++)
        if (t->process[i].pid == pid)
            pid = NO_PID + number; /* the system used it twice */
    p = &t->process[t->processes++];
    *p = (struct process){.number = number, .pid = pid, .step_ns = ns};
    name_process(t, p);
    return p;
}

static struct process *find_process(struct trace *t, uint32_t number)
{
    for (size_t i = 0; i < t->processes; i++)
        if (t->process[i].number == number)
            return &t->process[i];
    return NULL;
}

/* The process of an event, known and named from its first one on. */
static struct process *process_of(struct trace *t, const struct plm_record_event *e)
{
    struct thread *thread = &t->thread[e->thread];
    struct process *p;
    char name[32];
    if (thread->seen)
        return &t->process[thread->process];
    p = find_process(t, e->process);
    if (!p) {
        uint64_t pid = e->type == PLM_EV_PROCESS ? plm_get_process(e).pid : 0;
        p = add_process(t, e->process, pid && pid < NO_PID ? (uint32_t)pid : NO_PID + e->process, e->time_ns);
    }
    thread->seen = true;
    thread->tid = e->tid;
    thread->process = (uint32_t)(p - t->process);
    snprintf(name, sizeof name, "thread %u", e->tid);
    put_metadata(t, "thread_name", p->pid, e->tid, name);
    return p;
}

/* ---- slices ---- */

static void begin_slice(struct trace *t, uint32_t pid, uint32_t tid, uint64_t ns, const struct plm_text *name)
{
    begin_event(t, 'B', pid, tid, ns);
    put_name(t, name);
    end_event(t);
}

static void end_slice(struct trace *t, uint32_t pid, uint32_t tid, uint64_t ns)
{
    begin_event(t, 'E', pid, tid, ns);
    end_event(t);
}

static void put_module(struct trace *t, const struct plm_record_event *e, const struct process *p)
{
    struct thread *thread = &t->thread[e->thread];
    const uint32_t module = plm_get_module(e).module;
    struct plm_text name = plm_export_values_text(&t->values, e->process, module);
    if (module) {
        if (!name.length)
            name = (struct plm_text){"(model)", 7, true}; /* the outermost module has no name */
        begin_slice(t, p->pid, e->tid, e->time_ns, &name);
        thread->modules++;
    } else if (thread->modules) {
        end_slice(t, p->pid, e->tid, e->time_ns);
        thread->modules--;
    }
}

/* A process passes from phase to phase, whichever thread says so. */
static void put_phase(struct trace *t, const struct plm_record_event *e, struct process *p)
{
    const uint32_t tid = PHASES_TID;
    struct plm_export_value value = plm_export_values_get(&t->values, plm_export_event_shape(PLM_EV_PHASE)->column, e);
    if (value.type != PLM_VALUE_TEXT)
        return;
    if (p->in_phase)
        end_slice(t, p->pid, tid, e->time_ns);
    else
        put_metadata(t, "thread_name", p->pid, tid, "phases");
    begin_slice(t, p->pid, tid, e->time_ns, &value.text);
    p->in_phase = true;
}

/* Nothing of a module lasts longer than a step: what is open then was left by an exception. */
static void close_modules(struct trace *t, const struct process *p, uint64_t ns)
{
    for (size_t i = 0; i < t->threads; i++) {
        struct thread *thread = &t->thread[i];
        for (; thread->modules && &t->process[thread->process] == p; thread->modules--)
            end_slice(t, p->pid, thread->tid, ns);
    }
}

static void put_step(struct trace *t, const struct plm_record_event *e, struct process *p)
{
    char name[32];
    snprintf(name, sizeof name, "step %u", plm_get_step(e).step);
    close_modules(t, p, e->time_ns);
    begin_event(t, 'X', p->pid, STEPS_TID, p->step_ns);
    plm_out_text(t->out, ",\"dur\":");
    plm_out_us(t->out, e->time_ns > p->step_ns ? e->time_ns - p->step_ns : 0);
    put_label(t, name);
    end_event(t);
    p->step_ns = e->time_ns;
}

/* ---- calls ---- */

static void put_arguments(struct trace *t, const struct plm_record_event *e)
{
    const char *comma = "";
    plm_out_text(t->out, ",\"args\":{");
    for (const struct plm_column *c = plm_export_event_shape(e->type)->column; c->kind; c++) {
        struct plm_export_value value = plm_export_values_get(&t->values, c, e);
        if (value.type == PLM_VALUE_ABSENT)
            continue;
        plm_out_text(t->out, comma);
        plm_out_json(t->out, c->name);
        plm_out_byte(t->out, ':');
        plm_export_value_json(t->out, &value);
        comma = ",";
    }
    plm_out_byte(t->out, '}');
}

/* An event that has no length, on the track of its thread. It is called by the text it begins with, or by what it
   is: "copy host_to_device". */
static void put_instant(struct trace *t, const struct plm_record_event *e, const struct process *p)
{
    const struct plm_export_event_shape *shape = plm_export_event_shape(e->type);
    const enum plm_field_kind first = shape->columns ? shape->column[0].field->kind : PLM_FIELD_NONE;
    struct plm_export_value value = {0};
    char name[64];
    if (first == PLM_FIELD_TEXT || first == PLM_FIELD_NAME)
        value = plm_export_values_get(&t->values, shape->column, e);
    snprintf(name, sizeof name, "%s%s%s", shape->name, value.type == PLM_VALUE_TEXT ? " " : "",
             value.type == PLM_VALUE_TEXT ? value.text.bytes : "");
    begin_event(t, 'i', p->pid, e->tid, e->time_ns);
    plm_out_text(t->out, ",\"s\":\"t\",\"cat\":");
    plm_out_json(t->out, shape->name);
    if (value.type == PLM_VALUE_TEXT && first == PLM_FIELD_TEXT)
        put_name(t, &value.text);
    else
        put_label(t, name);
    put_arguments(t, e);
    end_event(t);
}

static int put_event(const struct plm_record_event *e, void *context)
{
    struct trace *t = context;
    struct process *p;
    plm_export_values_see(&t->values, e);
    p = process_of(t, e);
    if (e->time_ns > t->last_ns)
        t->last_ns = e->time_ns;
    switch (e->type) {
    case PLM_EV_MODULE: put_module(t, e, p); break;
    case PLM_EV_PHASE: put_phase(t, e, p); break;
    case PLM_EV_STEP: put_step(t, e, p); break;
    case PLM_EV_REFUSED:
    case PLM_EV_READBACK:
    case PLM_EV_OOM: put_instant(t, e, p); break;
    default:
        if (plm_record_event_is_call(e->type))
            put_instant(t, e, p);
    }
    return t->out->failure ? PLM_EIO : 0;
}

/* ---- counters ---- */

struct counters {
    struct trace *trace;
    uint32_t pid;
    int device;
    uint64_t last[PLM_CATEGORIES];
};

static void put_counter(struct counters *c, const char *name, uint64_t ns, uint64_t bytes)
{
    struct plm_out *out = c->trace->out;
    begin_event(c->trace, 'C', c->pid, c->pid, ns);
    plm_out_text(out, ",\"name\":\"device ");
    plm_out_u64(out, (uint64_t)c->device);
    plm_out_byte(out, ' ');
    plm_out_text(out, name);
    plm_out_text(out, "\",\"args\":{\"bytes\":");
    plm_out_u64(out, bytes);
    plm_out_byte(out, '}');
    end_event(c->trace);
}

static int put_moment(uint32_t moment, uint64_t ns, const uint64_t allocated[PLM_CATEGORIES], void *context)
{
    struct counters *c = context;
    uint64_t total = 0;
    (void)moment;
    for (int i = 0; i < PLM_CATEGORIES; i++) {
        total += allocated[i];
        if (allocated[i] == c->last[i])
            continue;
        c->last[i] = allocated[i];
        put_counter(c, plm_category_name((enum plm_category)i), ns, allocated[i]);
    }
    put_counter(c, "allocated", ns, total);
    return c->trace->out->failure ? PLM_EIO : 0;
}

static int put_counters(struct trace *t, const struct plm_lane *lane)
{
    const struct process *p = find_process(t, lane->process);
    struct counters c = {.trace = t, .pid = p ? p->pid : NO_PID + lane->process, .device = lane->summary->device};
    for (size_t i = 0; i < lane->reserveds; i++)
        put_counter(&c, "reserved", lane->reserved[i].ns, lane->reserved[i].bytes);
    return plm_lane_sweep(lane, put_moment, &c);
}

/* ---- the modelled step ---- */

struct model {
    struct trace *trace;
    const struct plm_timeline_lane *lane;
    uint32_t number, pid;
    uint64_t base_ns;                /* where the step begins in the trace */
    uint32_t stream[MODEL_TRACKS];   /* of the tracks from MODEL_STREAM on */
    uint32_t streams;
};

/* Nanoseconds of the step on the clock of the trace; rounded one way, so that what does not overlap stays so. */
static uint64_t model_ns(const struct model *m, double ns)
{
    return ns < 0 ? m->base_ns - (uint64_t)-ns : m->base_ns + (uint64_t)ns;
}

static void model_slice(const struct model *m, uint32_t track, double begin, double end, const char *name)
{
    const uint64_t from = model_ns(m, begin);
    begin_event(m->trace, 'X', m->pid, MODEL_TID(m->number, track), from);
    plm_out_text(m->trace->out, ",\"dur\":");
    plm_out_us(m->trace->out, model_ns(m, end) - from);
    put_label(m->trace, name);
}

static void put_text_argument(struct trace *t, const char *key, const char *text)
{
    if (!*text)
        return;
    plm_out_text(t->out, ",");
    plm_out_json(t->out, key);
    plm_out_byte(t->out, ':');
    plm_out_json(t->out, text);
}

static void put_real_argument(struct trace *t, const char *key, double value)
{
    char text[64];
    snprintf(text, sizeof text, ",\"%s\":%.6g", key, value);
    plm_out_text(t->out, text);
}

/* Nothing for 0: not known. */
static void put_count_argument(struct trace *t, const char *key, double value)
{
    char text[64];
    if (value > 0) {
        snprintf(text, sizeof text, ",\"%s\":%.0f", key, value);
        plm_out_text(t->out, text);
    }
}

/* "class" is what every one of them begins with. */
static void model_arguments(const struct model *m, const struct plm_work_call *call, uint32_t work, uint32_t site)
{
    struct trace *t = m->trace;
    const struct plm_works *works = &t->export->time->works;
    const struct plm_work *w = &works->work[work];
    const struct plm_work_site *s = &works->site[site];
    char kernel[256];
    plm_out_text(t->out, ",\"args\":{\"class\":");
    plm_out_json(t->out, plm_work_class_name((enum plm_work_class)w->class));
    put_text_argument(t, "phase", plm_phase_name(s->phase));
    put_text_argument(t, "module", s->module);
    put_text_argument(t, "operator", s->outer);
    put_text_argument(t, "inner_operator", s->inner);
    if (w->name)
        put_text_argument(t, "kernel", plm_time_kernel_short(works->names.text[w->name], kernel, sizeof kernel));
    plm_out_text(t->out, ",\"recorded_us\":");
    plm_out_us(t->out, call->at_ns);
}

static uint32_t model_track(struct model *m, uint32_t stream)
{
    char name[64];
    uint32_t i = 0;
    while (i < m->streams && m->stream[i] != stream)
        i++;
    if (i == m->streams && i < MODEL_TRACKS - MODEL_STREAM) {
        m->stream[m->streams++] = stream;
        snprintf(name, sizeof name, "GPU stream %u (modelled)", stream);
        put_metadata(m->trace, "thread_name", m->pid, MODEL_TID(m->number, MODEL_STREAM + i), name);
    }
    return MODEL_STREAM + (i < MODEL_TRACKS - MODEL_STREAM ? i : MODEL_TRACKS - MODEL_STREAM - 1);
}

static void model_put_span(const struct plm_span *span, void *context)
{
    struct model *m = context;
    struct trace *t = m->trace;
    const struct plm_work *work = &t->export->time->works.work[span->work];
    char name[256];
    model_slice(m, model_track(m, span->stream), span->begin, span->end,
                plm_span_name(t->export->time, span->work, span->site, name, sizeof name));
    model_arguments(m, &m->lane->work->call[span->launch], span->work, span->site);
    put_text_argument(t, "bound", plm_bound_name((enum plm_bound)span->bound));
    put_count_argument(t, "bytes", work->read + work->written);
    put_count_argument(t, "flops", work->flops);
    plm_out_byte(t->out, '}');
    end_event(t);
}

static void model_put_call(const struct plm_host_span *span, void *context)
{
    const struct model *m = context;
    struct trace *t = m->trace;
    const struct plm_work_call *call = &m->lane->work->call[span->call];
    char name[256];
    model_slice(m, MODEL_HOST, span->begin, span->end,
                plm_span_name(t->export->time, call->work, call->site, name, sizeof name));
    model_arguments(m, call, call->work, call->site);
    plm_out_byte(t->out, '}');
    end_event(t);
    if (span->wait < 1)
        return;
    model_slice(m, MODEL_HOST, span->end - span->wait, span->end, "waits for the GPU");
    end_event(t);
}

/* ---- its counters ---- */

struct edge {
    double ns;
    float change;
};

struct edges {
    struct edge *edge;
    size_t count;
    enum plm_metric metric;
};

static void edges_add(const struct plm_span *span, void *context)
{
    struct edges *e = context;
    e->edge[e->count++] = (struct edge){span->begin, span->activity[e->metric]};
    e->edge[e->count++] = (struct edge){span->end, -span->activity[e->metric]};
}

static int by_ns(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static void model_put_level(const struct model *m, const char *name, double ns, double share)
{
    char text[64];
    begin_event(m->trace, 'C', m->pid, m->pid, model_ns(m, ns));
    put_label(m->trace, name);
    snprintf(text, sizeof text, ",\"args\":{\"percent\":%.1f}", share < 0 ? 0 : share > 1 ? 100 : 100 * share);
    plm_out_text(m->trace->out, text);
    end_event(m->trace);
}

/* Spans of several streams add up. */
static void model_put_counter(const struct model *m, enum plm_metric metric, const char *name)
{
    struct edge *edge = plm_calloc(2 * m->lane->timing.spans + 1, sizeof *edge);
    struct edges edges = {.edge = edge, .metric = metric};
    double level = 0;
    plm_timeline_each(m->trace->export->time, m->lane, NULL, edges_add, &edges);
    qsort(edge, edges.count, sizeof *edge, by_ns);
    for (size_t i = 0; i < edges.count; i++) {
        level += (double)edge[i].change;
        if (i + 1 == edges.count || model_ns(m, edge[i + 1].ns) != model_ns(m, edge[i].ns))
            model_put_level(m, name, edge[i].ns, level);
    }
    free(edge);
}

/* ---- and all of it ---- */

static void model_put_step(const struct model *m)
{
    const struct plm_timing *timing = &m->lane->timing;
    struct trace *t = m->trace;
    char name[160];
    snprintf(name, sizeof name, "last step, modelled on %s", t->export->time->card.name);
    model_slice(m, MODEL_STEP, m->lane->begin, m->lane->end, name);
    plm_out_text(t->out, ",\"args\":{\"card\":");
    plm_out_json(t->out, t->export->time->card.id);
    put_real_argument(t, "step_us", timing->step / 1e3);
    put_real_argument(t, "step_low_us", timing->low / 1e3);
    put_real_argument(t, "step_high_us", timing->high / 1e3);
    put_real_argument(t, "busy_us", timing->busy / 1e3);
    put_real_argument(t, "host_us", timing->host / 1e3);
    for (int i = 0; i < PLM_METRICS; i++)
        put_real_argument(t, plm_metric_name((enum plm_metric)i), timing->metric[i]);
    plm_out_byte(t->out, '}');
    end_event(t);
}

static void model_put(struct trace *t, uint32_t number)
{
    const struct plm_timeline_lane *lane = &t->export->time->lane[number];
    struct model m = {.trace = t, .lane = lane, .number = number, .pid = MODEL_PID + number, .base_ns = lane->from_ns};
    const uint64_t ahead = (uint64_t)-lane->begin;
    char name[192];
    if (m.base_ns < ahead) /* the host runs ahead of the GPU; nothing is before the record */
        m.base_ns = ahead;
    snprintf(name, sizeof name, "modelled on %s: last step of rank %d device %d", t->export->time->card.name,
             lane->work->rank < 0 ? 0 : lane->work->rank, lane->work->device);
    put_metadata(t, "process_name", m.pid, m.pid, name);
    put_metadata(t, "thread_name", m.pid, MODEL_TID(number, MODEL_STEP), "step (modelled)");
    put_metadata(t, "thread_name", m.pid, MODEL_TID(number, MODEL_HOST), "host calls (modelled)");
    model_put_step(&m);
    plm_timeline_each(t->export->time, lane, model_put_call, NULL, &m);
    plm_timeline_each(t->export->time, lane, NULL, model_put_span, &m);
    model_put_counter(&m, PLM_METRIC_SMACT, "SM activity (modelled)");
    model_put_counter(&m, PLM_METRIC_DRAMA, "DRAM activity (modelled)");
}

/* ---- the document ---- */

/* What a cut record leaves open ends with it. */
static void close_all(struct trace *t)
{
    for (size_t i = 0; i < t->processes; i++) {
        close_modules(t, &t->process[i], t->last_ns);
        if (t->process[i].in_phase)
            end_slice(t, t->process[i].pid, PHASES_TID, t->last_ns);
    }
}

int plm_export_perfetto(const struct plm_export *export, struct plm_error *error)
{
    struct trace t = {.export = export, .out = export->out, .threads = plm_record_threads(export->record)};
    int status;
    t.thread = plm_calloc(t.threads, sizeof *t.thread);
    plm_export_values_begin(&t.values, export->record);
    plm_out_text(t.out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"exporter\":\"plimsoll " PLM_VERSION
                        "\"},\n\"traceEvents\":[\n");
    status = plm_record_each(export->record, put_event, &t, error);
    close_all(&t);
    for (size_t i = 0; i < export->job->lanes && status == 0; i++)
        status = put_counters(&t, &export->job->lane[i]);
    for (uint32_t i = 0; export->time && i < export->time->lanes && status == 0; i++)
        model_put(&t, i);
    plm_out_text(t.out, "\n]}\n");
    plm_export_values_free(&t.values);
    free(t.process);
    free(t.thread);
    return status;
}
