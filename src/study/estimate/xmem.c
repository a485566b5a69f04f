#include "study/estimate/xmem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "study/estimate/method.h"
#include "study/estimate/xmem_internal.h"

static enum plm_simulation_rules rules_of(const struct plm_xmem_result *result)
{
    return result->variant == PLM_XMEM_PLUS ? PLM_RULES_TORCH : PLM_RULES_XMEM;
}

/* ---- lifetimes through the simulator, and what is to be said of the peak ---- */

enum { POINTS = 240 };

struct watch {
    uint64_t *born, *died; /* per item, the number of the event */
    struct plm_xmem_point *point;
    int64_t start, duration;
    int part;              /* the part of the time that has begun */
    uint64_t allocated, reserved; /* after the last event */
    uint64_t peak, peak_event, peak_reserved; /* of allocated bytes */
    int64_t peak_time;
};

static int64_t since(int64_t start, int64_t time)
{
    int64_t passed;
    if (time <= start)
        return 0;
    return __builtin_sub_overflow(time, start, &passed) ? INT64_MAX : passed;
}

static int part_of(const struct watch *w, int64_t time)
{
    double part = w->duration > 0 ? (double)since(w->start, time) / (double)w->duration * POINTS : 0;
    return part < POINTS ? (int)part : POINTS - 1;
}

/* Parts in which nothing happens go on as the one before ended. */
static void points_advance(struct watch *w, int part)
{
    while (w->part < part)
        w->point[++w->part] = (struct plm_xmem_point){.allocated = w->allocated, .reserved = w->reserved};
}

static void event_note(const struct plm_simulation_event *event, void *context)
{
    struct watch *w = context;
    struct plm_xmem_point *point;

    (event->freed ? w->died : w->born)[event->item] = event->number;
    points_advance(w, part_of(w, event->time));
    w->allocated = event->allocated;
    w->reserved = event->reserved;
    point = &w->point[w->part];
    if (event->allocated > point->allocated)
        point->allocated = event->allocated;
    if (event->reserved > point->reserved)
        point->reserved = event->reserved;
    if (event->allocated > w->peak) {
        w->peak = event->allocated;
        w->peak_event = event->number;
        w->peak_reserved = event->reserved;
        w->peak_time = event->time;
    }
}

static uint64_t layer_bytes(const struct plm_xmem_layer *layer)
{
    return layer->parameters + layer->forward + layer->backward;
}

static int largest_first(const void *a, const void *b)
{
    const struct plm_xmem_layer *x = a, *y = b;
    uint64_t m = layer_bytes(x), n = layer_bytes(y);
    return m != n ? (m < n ? 1 : -1) : strcmp(x->name, y->name);
}

/* The layer of an item among those of the result; new ones are added. */
static struct plm_xmem_layer *layer_of(struct plm_xmem_result *result, const struct plm_trace *trace,
                                       struct plm_map *place, size_t *room, uint32_t holder)
{
    uint32_t layer = plm_xmem_layer(holder);
    uint64_t at = plm_map_get(place, layer);

    if (at == PLM_MAP_NONE) {
        result->layer = plm_grow(result->layer, result->layers, room, sizeof *result->layer);
        at = result->layers;
        plm_map_put(place, layer, at);
        result->layer[result->layers++] =
            (struct plm_xmem_layer){.name = layer < trace->names ? trace->name[layer] : ""};
    }
    return &result->layer[at];
}

/* What lives just after the event that reached the peak. */
static void add_up(const struct plm_xmem_run *run, const struct watch *w, struct plm_xmem_result *result)
{
    struct plm_map place = {0};
    size_t room = 0;

    for (size_t i = 0; i < run->list.count; i++) {
        const struct plm_lifetime *item = &run->list.item[i];
        struct plm_xmem_layer *layer;
        if (w->born[i] > w->peak_event || w->died[i] <= w->peak_event)
            continue;
        result->category[plm_xmem_category(item->holder)] += item->bytes;
        layer = layer_of(result, run->trace, &place, &room, item->holder);
        if (plm_xmem_backward(item->holder))
            layer->backward += item->bytes;
        else if (plm_xmem_category(item->holder) == PLM_CATEGORY_ACTIVATIONS ||
                 plm_xmem_category(item->holder) == PLM_CATEGORY_TEMPORARIES ||
                 plm_xmem_category(item->holder) == PLM_CATEGORY_INPUTS)
            layer->forward += item->bytes;
        else
            layer->parameters += item->bytes;
    }
    plm_map_free(&place);
    if (result->layers)
        qsort(result->layer, result->layers, sizeof *result->layer, largest_first);
}

static void place_peak(const struct plm_xmem_run *run, const struct watch *w, struct plm_xmem_result *result)
{
    result->peak_time = since(w->start, w->peak_time);
    result->peak_reserved = w->peak_reserved;
    for (int i = 0; i < run->steps; i++)
        if (w->peak_time >= run->step[i].start)
            result->step = i + 1;
}

/* On a card that has room for all. */
static void run_simulate(const struct plm_xmem_run *run, struct plm_xmem_result *result)
{
    const size_t count = run->list.count;
    struct watch w = {.start = run->step[0].start, .peak_time = INT64_MIN};
    struct plm_simulation s;

    w.duration = since(w.start, run->step[run->steps - 1].end);
    w.born = plm_calloc(count, sizeof *w.born);
    w.died = plm_calloc(count, sizeof *w.died);
    w.point = result->point = plm_calloc(POINTS, sizeof *w.point);
    memset(w.born, 0xff, count * sizeof *w.born);
    memset(w.died, 0xff, count * sizeof *w.died);
    plm_simulate_watched(run->list.item, count, rules_of(result), UINT64_MAX, event_note, &w, &s);
    points_advance(&w, POINTS - 1);
    for (int i = 0; i < POINTS; i++)
        w.point[i].time = (int64_t)((double)w.duration / POINTS * i);
    result->points = POINTS;
    result->duration = w.duration;
    result->reserved = s.peak;
    result->allocated = s.peak_allocated;
    result->reserved_time = since(w.start, s.peak_time);
    place_peak(run, &w, result);
    add_up(run, &w, result);
    free(w.born);
    free(w.died);
}

/* ---- all together ---- */

static void result_doubt(struct plm_xmem_run *run, struct plm_xmem_result *result)
{
    const struct plm_xmem_step *last = &run->step[run->steps - 1];
    const char *text = "";

    if (!run->list.parameters)
        text = "no gradients are created in the recorded steps, so parameters cannot be identified";
    else if (!last->optimizer)
        text = "no optimizer step is recorded, so its state is not counted";
    else if (run->steps < PLM_XMEM_STEPS)
        text = "the trace has one step; the method needs two";
    snprintf(result->note, sizeof result->note, "%s", text);
}

int plm_xmem_estimate(const struct plm_trace *trace, enum plm_xmem_variant variant, struct plm_xmem_result *result,
                      struct plm_error *error)
{
    struct plm_xmem_run run = {.trace = trace};
    int status;

    *result = (struct plm_xmem_result){.variant = variant};
    if (!trace->steps || !trace->memories)
        return plm_fail(error, PLM_EFORMAT, "the trace has no %s", trace->steps ? "memory events" : "steps");
    run.steps = trace->steps < PLM_XMEM_STEPS ? (int)trace->steps : PLM_XMEM_STEPS;
    for (int i = 0; i < run.steps; i++)
        plm_xmem_step(trace, (size_t)i, &run.step[i]);
    plm_xmem_blocks(trace, run.step[run.steps - 1].end, &run.blocks);
    status = variant == PLM_XMEM_PLUS ? plm_xmem_correct(&run, error) : plm_xmem_orchestrate(&run, error);
    result->item = run.list.item;
    result->blocks = run.list.count;
    result->steps = run.steps;
    result->left_out = run.left_out;
    if (status == 0) {
        result_doubt(&run, result);
        run_simulate(&run, result);
    }
    free(run.blocks.block);
    if (status)
        plm_xmem_result_free(result);
    return status;
}

void plm_xmem_limit(struct plm_xmem_result *result, uint64_t limit)
{
    struct plm_simulation s = {0};
    if (result->reserved > limit)
        plm_simulate_watched(result->item, result->blocks, rules_of(result), limit, NULL, NULL, &s);
    result->oom = s.oom;
    result->oom_reserved = s.peak;
}

void plm_xmem_result_free(struct plm_xmem_result *result)
{
    free(result->item);
    free(result->layer);
    free(result->point);
    *result = (struct plm_xmem_result){0};
}

/* ---- as methods ---- */

static void *result_prepare(enum plm_xmem_variant variant, const struct plm_evidence *evidence,
                            struct plm_answer *answer)
{
    struct plm_xmem_result *result = plm_calloc(1, sizeof *result);
    struct plm_error error;
    if (plm_xmem_estimate(evidence->trace, variant, result, &error)) {
        plm_answer_none(answer, "%.199s", error.text);
        return result;
    }
    answer->bytes = result->reserved;
    if (result->note[0])
        plm_answer_outside(answer, "%s", result->note);
    return result;
}

static void *xmem_prepare(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    return result_prepare(PLM_XMEM_PUBLISHED, evidence, answer);
}

static void *xmem_plus_prepare(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    return result_prepare(PLM_XMEM_PLUS, evidence, answer);
}

/* The card has room for segments where the context leaves it. */
static void xmem_judge(void *prepared, const struct plm_question *question, struct plm_answer *answer)
{
    struct plm_xmem_result *result = prepared;
    plm_xmem_limit(result, question->usable > question->context ? question->usable - question->context : 0);
    answer->oom = result->oom;
}

static void xmem_explain(const void *prepared, const struct plm_page *page, struct plm_json *json)
{
    if (page)
        plm_xmem_text(page, prepared);
    else
        plm_xmem_json(json, prepared);
}

static void xmem_forget(void *prepared)
{
    plm_xmem_result_free(prepared);
    free(prepared);
}

const struct plm_method plm_method_xmem = {
    .name = "xmem",
    .paradigm = PLM_CPU_SIDE,
    .kind = PLM_ANSWER_RESERVED,
    .needs = PLM_NEEDS_TRACE,
    .domain = "fp32 training on one GPU, models built from modules",
    .leaves_out = "parents' own tensors, temporaries, workspaces",
    .prepare = xmem_prepare,
    .judge = xmem_judge,
    .explain = xmem_explain,
    .forget = xmem_forget,
};

const struct plm_method plm_method_xmem_plus = {
    .name = "xmem+",
    .paradigm = PLM_CPU_SIDE,
    .kind = PLM_ANSWER_RESERVED,
    .needs = PLM_NEEDS_TRACE,
    .domain = "training on one GPU",
    .leaves_out = "workspaces, what only GPU kernels keep",
    .prepare = xmem_plus_prepare,
    .judge = xmem_judge,
    .explain = xmem_explain,
    .forget = xmem_forget,
};
