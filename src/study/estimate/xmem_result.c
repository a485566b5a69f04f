/* Lifetimes through the simulator, and what is to be said of the peak. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "study/estimate/xmem_internal.h"

enum { POINTS = 240 };
#define NOT_YET UINT64_MAX

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
static void advance(struct watch *w, int part)
{
    while (w->part < part)
        w->point[++w->part] = (struct plm_xmem_point){.allocated = w->allocated, .reserved = w->reserved};
}

static void note(const struct plm_simulation_event *event, void *context)
{
    struct watch *w = context;
    struct plm_xmem_point *point;

    (event->freed ? w->died : w->born)[event->item] = event->number;
    advance(w, part_of(w, event->time));
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

static int unlimited(struct plm_xmem_run *run, enum plm_simulation_rules rules, struct watch *w,
                     struct plm_xmem_result *result)
{
    struct plm_simulation s;
    size_t count = run->list.count;
    int status;

    memset(w->born, 0xff, count * sizeof *w->born);
    memset(w->died, 0xff, count * sizeof *w->died);
    status = plm_simulate_watched(run->list.item, count, rules, UINT64_MAX, note, w, &s);
    if (status)
        return status;
    advance(w, POINTS - 1);
    result->reserved = s.peak;
    result->allocated = s.peak_allocated;
    result->reserved_time = since(w->start, s.peak_time);
    place_peak(run, w, result);
    add_up(run, w, result);
    return 0;
}

int plm_xmem_conclude(struct plm_xmem_run *run, uint64_t limit, struct plm_xmem_result *result)
{
    enum plm_simulation_rules rules = result->variant == PLM_XMEM_PLUS ? PLM_RULES_TORCH : PLM_RULES_XMEM;
    size_t count = run->list.count ? run->list.count : 1;
    struct watch w = {.start = run->step[0].start, .peak_time = INT64_MIN};
    struct plm_simulation s;
    int status = PLM_ENOMEM;

    w.duration = since(w.start, run->step[run->steps - 1].end);
    w.born = reallocarray(NULL, count, sizeof *w.born);
    w.died = reallocarray(NULL, count, sizeof *w.died);
    w.point = result->point = calloc(POINTS, sizeof *w.point);
    if (w.born && w.died && w.point)
        status = unlimited(run, rules, &w, result);
    if (status == 0 && result->reserved > limit) {
        status = plm_simulate_watched(run->list.item, run->list.count, rules, limit, NULL, NULL, &s);
        result->oom = s.oom;
        result->oom_reserved = s.peak;
    }
    for (int i = 0; status == 0 && i < POINTS; i++)
        w.point[i].time = (int64_t)((double)w.duration / POINTS * i);
    result->points = POINTS;
    result->duration = w.duration;
    result->steps = run->steps;
    result->blocks = run->list.count;
    result->left_out = run->left_out;
    free(w.born);
    free(w.died);
    return status;
}
