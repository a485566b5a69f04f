#include "time/works.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "record/reader.h"
#include "time/build.h"

static const char *const class_names[PLM_WORK_CLASSES] = {
    [PLM_WORK_GEMM] = "gemm",
    [PLM_WORK_CONVOLUTION] = "convolution",
    [PLM_WORK_DEPTHWISE] = "depthwise",
    [PLM_WORK_ATTENTION] = "attention",
    [PLM_WORK_RNN] = "rnn",
    [PLM_WORK_NORMALIZATION] = "normalization",
    [PLM_WORK_SOFTMAX] = "softmax",
    [PLM_WORK_REDUCTION] = "reduction",
    [PLM_WORK_ELEMENTWISE] = "elementwise",
    [PLM_WORK_LISTS] = "multi-tensor",
    [PLM_WORK_GATHER] = "gather",
    [PLM_WORK_SORT] = "sort",
    [PLM_WORK_POOLING] = "pooling",
    [PLM_WORK_GENERATED] = "generated",
    [PLM_WORK_OTHER] = "other",
    [PLM_WORK_COPY] = "copy",
    [PLM_WORK_COLLECTIVE] = "collective",
    [PLM_WORK_WAIT] = "wait",
    [PLM_WORK_GRAPH] = "graph",
};

const char *plm_work_class_name(enum plm_work_class class)
{
    return class < PLM_WORK_CLASSES ? class_names[class] : "";
}

/* ---- processes, threads, lanes ---- */

static struct plm_build_process *process_of(struct plm_build *b, uint32_t number)
{
    while (b->processes <= number) {
        b->process = plm_grow(b->process, b->processes, &b->process_room, sizeof *b->process);
        b->process[b->processes++] = (struct plm_build_process){.rank = -1, .lane = SIZE_MAX};
    }
    return &b->process[number];
}

static struct plm_work_lane *lane_of(struct plm_build *b, const struct plm_record_event *e)
{
    struct plm_build_process *p = process_of(b, e->process);
    struct plm_works *w = b->works;
    if (p->lane < w->lanes && w->lane[p->lane].device == e->device)
        return &w->lane[p->lane];
    for (size_t i = 0; i < w->lanes; i++)
        if (w->lane[i].process == e->process && w->lane[i].device == e->device) {
            p->lane = i;
            return &w->lane[i];
        }
    w->lane = plm_grow(w->lane, w->lanes, &w->lane_room, sizeof *w->lane);
    w->lane[w->lanes] = (struct plm_work_lane){.process = e->process, .device = e->device};
    p->lane = w->lanes;
    return &w->lane[w->lanes++];
}

/* ---- sites ---- */

uint32_t plm_build_name(struct plm_build *b, uint32_t process, uint32_t text)
{
    const uint64_t key = plm_build_key(process, text);
    uint64_t known = plm_map_get(&b->name_of, key);
    if (known == PLM_MAP_NONE) {
        known = plm_names_add(&b->works->names, plm_record_string(b->record, process, text));
        plm_map_put(&b->name_of, key, known);
    }
    return (uint32_t)known;
}

static const char *text_of(struct plm_build *b, uint32_t process, uint32_t text)
{
    const uint32_t name = plm_build_name(b, process, text);
    return b->works->names.text[name]; /* in a statement of its own: adding may move the texts */
}

static void context_visit(struct plm_build *b, const struct plm_record_event *e)
{
    const struct plm_ev_context c = plm_get_context(e);
    struct plm_works *w = b->works;
    if (w->sites >= UINT32_MAX)
        plm_out_of_memory();
    w->site = plm_grow(w->site, w->sites, &w->site_room, sizeof *w->site);
    w->site[w->sites] = (struct plm_work_site){text_of(b, e->process, c.module), text_of(b, e->process, c.op),
                                               text_of(b, e->process, c.inner_op),
                                               c.phase < PLM_PHASES ? (enum plm_phase)c.phase : PLM_PHASE_OTHER};
    plm_map_put(&b->site_of, plm_build_key(e->process, c.context), w->sites++);
}

static uint32_t site_of(const struct plm_build *b, uint32_t process, uint32_t context)
{
    const uint64_t site = context ? plm_map_get(&b->site_of, plm_build_key(process, context)) : PLM_MAP_NONE;
    return site == PLM_MAP_NONE ? 0 : (uint32_t)site;
}

/* ---- works and calls ---- */

/* A work as words, its padding included: whoever makes one begins with memset(). Two that differ in their padding alone
   would be kept twice, which costs no more than that. */
enum { WORDS = sizeof(struct plm_work) / sizeof(uint64_t) };
_Static_assert(sizeof(struct plm_work) % sizeof(uint64_t) == 0, "a work is a whole number of words");

static uint64_t words_hash(const uint64_t word[WORDS])
{
    uint64_t hash = 0x9e3779b97f4a7c15ull;
    for (size_t i = 0; i < WORDS; i++) {
        hash = (hash ^ word[i]) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 32;
    }
    return hash;
}

uint32_t plm_build_work(struct plm_build *b, const struct plm_work *work)
{
    struct plm_works *w = b->works;
    uint64_t word[WORDS], other[WORDS], hash, known;
    memcpy(word, work, sizeof word);
    hash = words_hash(word);
    known = plm_map_get(&b->by_hash, hash);
    if (known != PLM_MAP_NONE) {
        memcpy(other, &w->work[known], sizeof other);
        if (!memcmp(word, other, sizeof word))
            return (uint32_t)known;
    }
    if (w->works >= UINT32_MAX)
        plm_out_of_memory();
    w->work = plm_grow(w->work, w->works, &w->work_room, sizeof *w->work);
    memcpy(&w->work[w->works], work, sizeof *work);
    plm_map_put(&b->by_hash, hash, w->works);
    return (uint32_t)w->works++;
}

/* A part of a captured graph is kept with the graph. */
static void node_add(struct plm_build *b, struct plm_work_lane *lane, uint32_t graph, struct plm_work_call call)
{
    const uint64_t key = plm_build_key(lane->process, graph);
    uint64_t at = plm_map_get(&b->graph_of, key);
    struct plm_build_graph *g;
    if (at == PLM_MAP_NONE) {
        b->graph = plm_grow(b->graph, b->graphs, &b->graph_room, sizeof *b->graph);
        b->graph[b->graphs] = (struct plm_build_graph){.first = (uint32_t)lane->nodes};
        at = b->graphs++;
        plm_map_put(&b->graph_of, key, at);
    }
    g = &b->graph[at];
    if (lane->nodes >= UINT32_MAX || g->first + g->calls != lane->nodes) /* two captures at a time: the first is kept */
        return;
    lane->node = plm_grow(lane->node, lane->nodes, &lane->node_room, sizeof *lane->node);
    lane->node[lane->nodes++] = call;
    g->calls++;
}

/* A thread does not compute all the time between two of its calls: the machine may be busy otherwise, or it waits for
   other threads. Its CPU time tells how long it did, over all calls since that was last read. */
static void gaps_close(struct plm_build *b, struct plm_build_thread *t, uint32_t cpu_ns)
{
    double wall = 0;
    for (size_t i = 0; i < t->opens; i++)
        wall += b->works->lane[t->open[i].lane].call[t->open[i].call].gap_ns;
    for (size_t i = 0; i < t->opens && wall > cpu_ns; i++) {
        uint32_t *gap = &b->works->lane[t->open[i].lane].call[t->open[i].call].gap_ns;
        *gap = (uint32_t)(*gap * (cpu_ns / wall));
    }
    t->opens = 0;
}

/* For the call that was just added to the lane. */
static void gap_add(struct plm_build *b, const struct plm_record_event *e, struct plm_work_lane *lane, uint32_t cpu_ns)
{
    struct plm_build_thread *t = &b->thread[e->thread];
    const size_t last = lane->calls - 1;
    if (last) {
        const uint64_t gap = lane->call[last].at_ns - lane->call[last - 1].at_ns;
        lane->call[last].gap_ns = gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX;
    }
    t->open = plm_grow(t->open, t->opens, &t->open_room, sizeof *t->open);
    t->open[t->opens++] = (struct plm_build_open){(uint32_t)(lane - b->works->lane), (uint32_t)last};
    if (cpu_ns)
        gaps_close(b, t, cpu_ns);
}

void plm_build_call(struct plm_build *b, const struct plm_record_event *e, const struct plm_ev_call *said,
                    const struct plm_work *work, uint32_t other)
{
    struct plm_work_lane *lane = lane_of(b, e);
    const struct plm_work_call call = {
        e->time_ns, plm_build_work(b, work), site_of(b, e->process, said->context), said->cuda_stream, 0, other};
    if (said->graph) {
        node_add(b, lane, said->graph, call);
        return;
    }
    if (lane->calls >= UINT32_MAX / 2)
        plm_out_of_memory();
    lane->call = plm_grow(lane->call, lane->calls, &lane->call_room, sizeof *lane->call);
    lane->call[lane->calls++] = call;
    gap_add(b, e, lane, said->cpu_ns);
}

static void graph_launch(struct plm_build *b, const struct plm_record_event *e, const struct plm_ev_launch *l)
{
    const uint64_t at = plm_map_get(&b->graph_of, plm_build_key(e->process, (uint32_t)l->count_2));
    struct plm_work work;
    memset(&work, 0, sizeof work);
    work.class = PLM_WORK_GRAPH;
    if (at != PLM_MAP_NONE) {
        work.first = b->graph[at].first;
        work.calls = b->graph[at].calls;
    }
    plm_build_call(b, e, &l->call, &work, 0);
}

/* ---- steps ---- */

static void mark_add(struct plm_marks *marks, uint64_t ns, uint32_t name, uint32_t samples)
{
    marks->item = plm_grow(marks->item, marks->count, &marks->room, sizeof *marks->item);
    marks->item[marks->count++] = (struct plm_build_mark){ns, name, samples, 1};
}

/* Optimizers are seen by the process, whatever device they are on: every lane of it has made the step. */
static void step_visit(struct plm_build *b, const struct plm_record_event *e)
{
    struct plm_build_process *p = process_of(b, e->process);
    mark_add(&p->steps, e->time_ns, 0, p->samples);
    p->backward = !plm_get_step(e).optimizers;
    p->samples = 0;
}

static void mark_part(struct plm_marks *marks)
{
    if (marks->count)
        marks->item[marks->count - 1].parts++;
}

static void pass_visit(struct plm_build *b, const struct plm_record_event *e)
{
    const struct plm_ev_pass pass = plm_get_pass(e);
    struct plm_build_process *p = process_of(b, e->process);
    mark_add(&p->passes, e->time_ns, plm_build_name(b, e->process, pass.module), pass.samples);
    p->samples += pass.samples;
}

static void module_visit(struct plm_build *b, const struct plm_record_event *e)
{
    const struct plm_ev_module m = plm_get_module(e);
    struct plm_build_thread *t = &b->thread[e->thread];
    struct plm_build_process *p = process_of(b, e->process);
    if (!m.module) {
        t->modules -= t->modules > 0;
        return;
    }
    if (t->modules++) {
        mark_part(&p->passes);
        mark_part(&p->outermost);
    } else if (m.phase == PLM_PHASE_FORWARD)
        mark_add(&p->outermost, e->time_ns, plm_build_name(b, e->process, m.module), 0);
}

/* The first call at or after a time. */
static size_t call_at(const struct plm_work_lane *lane, uint64_t ns)
{
    size_t low = 0, high = lane->calls;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lane->call[middle].at_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void step_add(struct plm_work_lane *lane, uint64_t begin, uint64_t end, uint32_t samples)
{
    const size_t first = call_at(lane, begin), last = call_at(lane, end);
    if (last <= first)
        return;
    lane->step = plm_grow(lane->step, lane->steps, &lane->step_room, sizeof *lane->step);
    lane->step[lane->steps++] = (struct plm_work_step){first, last - first, begin, end, samples};
}

/* Of the modules that are called on their own (the model, its loss, what prepares the data) the model is the one with
   most parts. */
static uint32_t model_name(const struct plm_marks *passes)
{
    struct plm_map parts = {0};
    uint32_t best = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < passes->count; i++) {
        const struct plm_build_mark *mark = &passes->item[i];
        const uint64_t before = plm_map_get(&parts, mark->name),
                       sum = (before == PLM_MAP_NONE ? 0 : before) + mark->parts;
        plm_map_put(&parts, mark->name, sum);
        if (sum > most) {
            most = sum;
            best = mark->name;
        }
    }
    plm_map_free(&parts);
    return best;
}

/* Where the n-th step begins: the first one has what a steady state does not, so it is left out if there are others. */
static void steps_of_passes(struct plm_work_lane *lane, const struct plm_marks *passes)
{
    const uint32_t model = model_name(passes);
    const struct plm_build_mark *last = NULL;
    size_t count = 0;
    for (size_t i = 0; i < passes->count; i++) {
        const struct plm_build_mark *mark = &passes->item[i];
        if (mark->name != model)
            continue;
        if (last && count > 1)
            step_add(lane, last->ns, mark->ns, last->samples);
        last = mark;
        count++;
    }
    if (last)
        step_add(lane, last->ns, UINT64_MAX, last->samples);
}

static void steps_of_lane(struct plm_work_lane *lane, const struct plm_build_process *p)
{
    const struct plm_marks *passes = p->passes.count ? &p->passes : &p->outermost;
    for (size_t i = 1; i < p->steps.count; i++)
        step_add(lane, p->steps.item[i - 1].ns, p->steps.item[i].ns, p->steps.item[i].samples);
    lane->unit = p->backward ? PLM_STEP_BACKWARD : PLM_STEP_OPTIMIZER;
    if (lane->steps)
        return;
    if (p->steps.count == 1 && passes->count)
        step_add(lane, passes->item[0].ns, p->steps.item[0].ns, p->steps.item[0].samples);
    if (lane->steps)
        return;
    steps_of_passes(lane, passes);
    lane->unit = lane->steps ? PLM_STEP_PASS : PLM_STEP_WHOLE;
    if (!lane->steps)
        step_add(lane, 0, UINT64_MAX, 0);
}

/* ---- the host's time between calls ---- */

/* Steps that are alike show what else the machine did meanwhile: of each call's gaps the least is the program's own. */
static void gaps_settle(struct plm_work_lane *lane)
{
    const struct plm_work_step *model = &lane->step[lane->steps - 1];
    struct plm_work_call *best = lane->call + model->first;
    for (int round = 0; round < 2; round++) /* first the least is found, then everyone gets it */
        for (size_t i = 0; i + 1 < lane->steps; i++) {
            struct plm_work_call *call = lane->call + lane->step[i].first;
            if (lane->step[i].calls != model->calls)
                continue;
            for (size_t k = 0; k < model->calls; k++)
                if (call[k].work == best[k].work) {
                    const uint32_t least = call[k].gap_ns < best[k].gap_ns ? call[k].gap_ns : best[k].gap_ns;
                    best[k].gap_ns = least;
                    if (round)
                        call[k].gap_ns = least;
                }
        }
}

/* ---- all events ---- */

static void config_visit(struct plm_build *b, const struct plm_record_event *e)
{
    const struct plm_ev_config c = plm_get_config(e);
    const char *key = plm_record_string(b->record, e->process, c.key);
    const char *value = plm_record_string(b->record, e->process, c.value);
    if (!strcmp(key, "rank"))
        process_of(b, e->process)->rank = atoi(value);
    else if (!strcmp(key, "world"))
        b->works->world.ranks = (uint32_t)strtoul(value, NULL, 10);
    else if (!strcmp(key, "gpu"))
        snprintf(b->works->card, sizeof b->works->card, "%s", value);
}

static void launch_visit(struct plm_build *b, const struct plm_record_event *e)
{
    const struct plm_ev_launch l = plm_get_launch(e);
    b->calls++;
    if (l.counts == PLM_COUNT_GRAPH)
        graph_launch(b, e, &l);
    else
        plm_build_launch(b, e, &l);
}

int plm_works_visit(const struct plm_record_event *e, void *context)
{
    struct plm_build *b = context;
    switch (e->type) {
    case PLM_EV_PROCESS: process_of(b, e->process)->pid = plm_get_process(e).pid; break;
    case PLM_EV_CONFIG: config_visit(b, e); break;
    case PLM_EV_CONTEXT: context_visit(b, e); break;
    case PLM_EV_STEP: step_visit(b, e); break;
    case PLM_EV_MODULE: module_visit(b, e); break;
    case PLM_EV_PASS: pass_visit(b, e); break;
    case PLM_EV_GROUP: plm_build_group(b, e); break;
    case PLM_EV_OPERANDS: plm_build_operands(b, e); break;
    case PLM_EV_BLOCK_ALLOC: plm_build_output(b, e); break;
    case PLM_EV_LAUNCH: launch_visit(b, e); break;
    default:
        if (!plm_record_event_is_call(e->type))
            break;
        b->calls += e->type != PLM_EV_SYNC && e->type != PLM_EV_COPY;
        plm_build_library(b, e);
    }
    return 0;
}

/* ---- the whole ---- */

/* A lane that only captured graphs has no call of its own, and one step nevertheless. */
static void step_all(struct plm_work_lane *lane)
{
    lane->step = plm_grow(lane->step, lane->steps, &lane->step_room, sizeof *lane->step);
    lane->step[lane->steps++] = (struct plm_work_step){.calls = lane->calls};
}

static void lanes_end(struct plm_build *b)
{
    for (size_t i = 0; i < b->works->lanes; i++) {
        struct plm_work_lane *lane = &b->works->lane[i];
        const struct plm_build_process *p = process_of(b, lane->process);
        lane->pid = p->pid;
        lane->rank = p->rank;
        steps_of_lane(lane, p);
        if (!lane->steps)
            step_all(lane);
        if (lane->calls)
            gaps_settle(lane);
    }
}

static void build_free(struct plm_build *b)
{
    for (size_t i = 0; i < b->processes; i++) {
        free(b->process[i].steps.item);
        free(b->process[i].passes.item);
        free(b->process[i].outermost.item);
    }
    free(b->process);
    for (size_t i = 0; i < b->threads; i++)
        free(b->thread[i].open);
    free(b->thread);
    free(b->graph);
    free(b->group);
    free(b->form);
    free(b->operands);
    plm_map_free(&b->operands_of);
    plm_map_free(&b->site_of);
    plm_map_free(&b->by_hash);
    plm_map_free(&b->graph_of);
    plm_map_free(&b->name_of);
    free(b);
}

struct plm_build *plm_works_begin(struct plm_works *works)
{
    struct plm_build *b = plm_calloc(1, sizeof *b);
    b->works = works;
    memset(works, 0, sizeof *works);
    plm_names_add(&works->names, "");
    works->site = plm_grow(NULL, 0, &works->site_room, sizeof *works->site);
    works->site[works->sites++] = (struct plm_work_site){"", "", "", PLM_PHASE_OTHER};
    return b;
}

void plm_works_open(struct plm_record *record, void *build)
{
    struct plm_build *b = build;
    b->record = record;
    b->threads = plm_record_threads(record);
    b->thread = plm_calloc(b->threads, sizeof *b->thread);
}

int plm_works_end(struct plm_build *b, int status, const char *name, struct plm_error *error)
{
    struct plm_works *works = b->works;
    if (!status) {
        lanes_end(b);
        plm_build_world(b);
    }
    if (!status && !b->calls)
        status = plm_fail(error, PLM_ENOTFOUND,
                          "%s has no kernel launches, so times are unknown; record the job again with `plimsoll run` "
                          "at full detail (snapshots and records made with --detail low or off have none)",
                          name);
    build_free(b);
    if (status < 0)
        plm_works_free(works);
    return status;
}

int plm_works_read_record(struct plm_record *record, const char *name, struct plm_works *works, struct plm_error *error)
{
    struct plm_build *b = plm_works_begin(works);
    plm_works_open(record, b);
    return plm_works_end(b, plm_record_each(record, plm_works_visit, b, error), name, error);
}

int plm_works_read(const char *path, struct plm_works *works, struct plm_error *error)
{
    struct plm_record *record;
    int status = plm_record_open(path, &record, error);
    if (status < 0)
        return status;
    status = plm_works_read_record(record, path, works, error);
    plm_record_free(record);
    return status;
}

void plm_works_free(struct plm_works *works)
{
    for (size_t i = 0; i < works->lanes; i++) {
        free(works->lane[i].call);
        free(works->lane[i].node);
        free(works->lane[i].step);
    }
    free(works->lane);
    free(works->work);
    free(works->site);
    plm_names_free(&works->names);
    memset(works, 0, sizeof *works);
}

const struct plm_work_lane *plm_works_main(const struct plm_works *works)
{
    const struct plm_work_lane *best = NULL;
    for (size_t i = 0; i < works->lanes; i++)
        if (!best || works->lane[i].calls > best->calls)
            best = &works->lane[i];
    return best;
}
