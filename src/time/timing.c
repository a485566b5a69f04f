#include "time/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/card.h"
#include "base/memory.h"
#include "time/clock.h"
#include "time/cost.h"
#include "time/speeds.h"

const char *plm_bound_name(enum plm_bound bound)
{
    static const char *const names[PLM_BOUNDS] = {"host",     "compute", "bandwidth",
                                                  "launches", "copies",  "communication"};
    return bound < PLM_BOUNDS ? names[bound] : "";
}

const char *plm_metric_name(enum plm_metric metric)
{
    static const char *const names[PLM_METRICS] = {"gputl", "gract", "smact", "smocc", "fp32a", "tenso", "drama"};
    return metric < PLM_METRICS ? names[metric] : "";
}

const char *plm_metric_words(enum plm_metric metric)
{
    static const char *const words[PLM_METRICS] = {"GPU util",    "graphics engine", "SM active",  "SM occupancy",
                                                   "FP32 active", "tensor active",   "DRAM active"};
    return metric < PLM_METRICS ? words[metric] : "";
}

/* ---- costs: each different piece of a lane's work once for a card ---- */

static void cost_of(const struct plm_machine *machine, const struct plm_works *works, uint32_t work,
                    struct plm_cost *cost)
{
    const uint8_t class = works->work[work].class;
    if (!cost[work].made && class != PLM_WORK_WAIT && class != PLM_WORK_GRAPH)
        cost[work] = plm_cost(machine, &works->work[work]);
    cost[work].made = true;
}

static struct plm_cost *costs_make(const struct plm_works *works, const struct plm_work_lane *lane,
                                   const struct plm_machine *machine)
{
    struct plm_cost *cost = plm_calloc(works->works, sizeof *cost);
    for (size_t i = 0; i < lane->steps; i++)
        for (size_t k = 0; k < lane->step[i].calls; k++)
            cost_of(machine, works, lane->call[lane->step[i].first + k].work, cost);
    for (size_t i = 0; i < lane->nodes; i++)
        cost_of(machine, works, lane->node[i].work, cost);
    return cost;
}

/* ---- what spans add up to ---- */

static void add_span(struct plm_timing *t, const struct plm_works *works, const struct plm_cost *cost,
                     const struct plm_span *span)
{
    const struct plm_work *work = &works->work[span->work];
    const double ns = span->end - span->begin;
    t->bound[span->bound] += ns;
    t->flops += work->flops;
    if (work->class != PLM_WORK_COPY) {
        t->kernels++;
        t->unsized += !cost->known;
        t->generated += work->class == PLM_WORK_GENERATED ? ns : 0;
    }
}

/* The first two are the clock's. What a kernel moves does not grow with the time that it takes at a lower clock. */
static void metrics_add(struct plm_timing *t, const struct plm_cost *cost, const struct plm_span *span)
{
    const double ns = span->end - span->begin;
    for (int i = PLM_METRIC_SMACT; i < PLM_METRICS; i++)
        t->metric[i] += cost->activity[i] * (i == PLM_METRIC_DRAMA ? ns / t->slowdown : ns);
}

/* Where streams overlap, a moment counts once: what is longer than the time that the GPU is busy is taken off in
   proportion. */
static void settle(struct plm_timing *t, double steps, double wall)
{
    double sum = 0;
    for (int i = PLM_BOUND_HOST + 1; i < PLM_BOUNDS; i++)
        sum += t->bound[i];
    t->step = wall / steps;
    t->busy = fmin(t->busy, wall) / steps;
    for (int i = PLM_BOUND_HOST + 1; i < PLM_BOUNDS; i++)
        t->bound[i] *= sum > 0 ? t->busy / sum : 0;
    t->bound[PLM_BOUND_HOST] = fmax(0, t->step - t->busy);
    t->host /= steps;
    t->flops /= steps;
    t->kernels /= steps;
    t->unsized /= steps;
    t->generated /= steps;
}

/* Model flops utilization: of the peak of the type that most of the flops have. */
static void set_mfu(struct plm_timing *t, const struct plm_machine *m, const double flops[PLM_WORK_TYPES])
{
    int best = PLM_WORK_FP32;
    for (int i = 0; i < PLM_WORK_TYPES; i++)
        if (flops[i] > flops[best])
            best = i;
    t->mfu_type = (enum plm_work_type)best;
    if (flops[best] > 0 && t->step > 0)
        t->mfu = t->flops / t->step / m->peak[best];
}

/* ---- shares ---- */

static struct plm_time_share *share_of(struct plm_time_shares *shares, struct plm_map *by_name, const char *name)
{
    const uint64_t key = (uint64_t)(uintptr_t)name;
    uint64_t at = plm_map_get(by_name, key);
    if (at == PLM_MAP_NONE) {
        shares->item = plm_grow(shares->item, shares->count, &shares->room, sizeof *shares->item);
        shares->item[shares->count] = (struct plm_time_share){.name = name};
        at = shares->count++;
        plm_map_put(by_name, key, at);
    }
    return &shares->item[at];
}

static void share_add(struct plm_time_share *share, const struct plm_work *work, const struct plm_span *span)
{
    const double ns = span->end - span->begin;
    share->calls++;
    share->ns += ns;
    share->bound[span->bound] += ns;
    share->flops += work->flops;
}

static int by_time(const void *a, const void *b)
{
    const struct plm_time_share *x = a, *y = b;
    return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->name, y->name);
}

static void shares_end(struct plm_time_shares *shares, double steps)
{
    for (size_t i = 0; i < shares->count; i++) {
        struct plm_time_share *s = &shares->item[i];
        s->ns /= steps;
        s->flops /= steps;
        for (int k = 0; k < PLM_BOUNDS; k++)
            s->bound[k] /= steps;
    }
    if (shares->count)
        qsort(shares->item, shares->count, sizeof *shares->item, by_time);
}

/* ---- the visitor of the clock ---- */

struct making {
    struct plm_timing *timing;
    const struct plm_works *works;
    const struct plm_cost *cost;
    const struct plm_timing_options *options;
    struct plm_map operators, modules, classes;
    double flops[PLM_WORK_TYPES];
};

static void visit_span(const struct plm_span *span, bool last, void *context)
{
    struct making *m = context;
    struct plm_timing *t = m->timing;
    const struct plm_work *work = &m->works->work[span->work];
    const struct plm_work_site *site = &m->works->site[span->site];
    add_span(t, m->works, &m->cost[span->work], span);
    if (work->type < PLM_WORK_TYPES)
        m->flops[work->type] += work->flops;
    if (m->options->shares) {
        share_add(share_of(&t->operators, &m->operators, site->outer), work, span);
        share_add(share_of(&t->modules, &m->modules, site->module), work, span);
        share_add(share_of(&t->classes, &m->classes, plm_work_class_name((enum plm_work_class)work->class)), work,
                  span);
    }
    t->spans += last;
}

/* ---- utilization, at the clock that a card has while it is used so little ---- */

static double in_use(const struct plm_clock_result *result)
{
    return result->wall > 0 ? (result->active + result->copied) / result->wall : 0;
}

/* Is a card that goes slower by this much in use for longer than it takes to keep that clock? */
static bool clock_rises(const struct plm_clock *clock, double slowdown)
{
    const struct plm_speeds *s = clock->speeds;
    const double most = 1 / s->clock_low, part = most > 1 ? (slowdown - 1) / (most - 1) : 0;
    struct plm_clock slower = *clock;
    struct plm_clock_result result;
    slower.slowdown = slowdown;
    result = plm_clock_run(&slower, NULL, NULL);
    return in_use(&result) > s->clock_full + (s->clock_least - s->clock_full) * part;
}

/* A card that is little used lowers its clock, which makes it look busier than the same work at full clock: the two
   settle where the clock is that of the use. */
static double slowdown_find(const struct plm_clock *clock, const struct plm_clock_result *full)
{
    enum { HALVINGS = 7 };
    double low = 1, high = 1 / clock->speeds->clock_low;
    if (in_use(full) >= clock->speeds->clock_full)
        return 1;
    if (!clock_rises(clock, high))
        return high;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        *(clock_rises(clock, middle) ? &high : &low) = middle;
    }
    return (low + high) / 2;
}

static void visit_metrics(const struct plm_span *span, bool last, void *context)
{
    struct making *m = context;
    (void)last;
    metrics_add(m->timing, &m->cost[span->work], span);
}

static void metrics_make(struct making *m, const struct plm_clock *clock, const struct plm_clock_result *full)
{
    struct plm_timing *t = m->timing;
    struct plm_clock slower = *clock;
    struct plm_clock_result result;
    slower.slowdown = t->slowdown = slowdown_find(clock, full);
    result = plm_clock_run(&slower, visit_metrics, m);
    t->metric[PLM_METRIC_GRACT] = result.active;
    t->metric[PLM_METRIC_GPUTL] = result.active + result.copied;
    for (int i = 0; i < PLM_METRICS; i++)
        t->metric[i] = result.wall > 0 ? fmin(1, t->metric[i] / result.wall) : 0;
}

static void making_end(struct making *m, const struct plm_machine *machine, const struct plm_work_lane *lane,
                       double wall)
{
    struct plm_timing *t = m->timing;
    double samples = 0;
    settle(t, (double)lane->steps, wall);
    set_mfu(t, machine, m->flops);
    for (size_t i = 0; i < lane->steps; i++)
        samples += lane->step[i].samples;
    if (samples > 0 && t->step > 0)
        t->samples_per_second = samples / (double)lane->steps / t->step * 1e9;
    shares_end(&t->operators, (double)lane->steps);
    shares_end(&t->modules, (double)lane->steps);
    shares_end(&t->classes, (double)lane->steps);
    plm_map_free(&m->operators);
    plm_map_free(&m->modules);
    plm_map_free(&m->classes);
}

/* The ends of the host's factor and of the model's error, each together. */
static void range_of(const struct plm_clock *middle, struct plm_timing *t)
{
    const struct plm_speeds *s = middle->speeds;
    const double steps = (double)middle->lane->steps;
    struct plm_clock end = *middle;
    end.host_factor = middle->host_factor * s->host_factor_low / s->host_factor;
    end.gpu_factor = 1 - s->model_error;
    t->low = plm_clock_run(&end, NULL, NULL).wall / steps;
    end.host_factor = middle->host_factor * s->host_factor_high / s->host_factor;
    end.gpu_factor = 1 + s->model_error;
    t->high = plm_clock_run(&end, NULL, NULL).wall / steps;
}

/* The clock at the middle of its range; its `cost` is for the caller to free. */
static int clock_make(const struct plm_works *works, const struct plm_work_lane *lane, const struct plm_card *card,
                      const struct plm_speeds *speeds, const struct plm_timing_options *options,
                      struct plm_machine *machine, struct plm_clock *clock, struct plm_error *error)
{
    const int status = plm_machine_make(card, speeds, machine, error);
    if (status < 0)
        return status;
    *clock = (struct plm_clock){.works = works,
                                .lane = lane,
                                .speeds = speeds,
                                .cost = costs_make(works, lane, machine),
                                .host_factor = options->host.factor > 0 ? options->host.factor : speeds->host_factor,
                                .gpu_factor = 1,
                                .slowdown = 1,
                                .measured = options->host.measured};
    return 0;
}

int plm_timing_make(const struct plm_works *works, const struct plm_work_lane *lane, const struct plm_card *card,
                    const struct plm_speeds *speeds, const struct plm_timing_options *options,
                    struct plm_timing *timing, struct plm_error *error)
{
    struct plm_machine machine;
    struct making making = {.timing = timing, .works = works, .options = options};
    struct plm_clock clock;
    struct plm_clock_result result;
    int status = clock_make(works, lane, card, speeds, options, &machine, &clock, error);
    memset(timing, 0, sizeof *timing);
    if (status < 0)
        return status;
    making.cost = clock.cost;
    result = plm_clock_run(&clock, visit_span, &making);
    timing->steps = lane->steps;
    timing->busy = result.busy;
    timing->host = result.host;
    making_end(&making, &machine, lane, result.wall);
    if (!options->unmetered)
        metrics_make(&making, &clock, &result);
    if (!options->bare)
        range_of(&clock, timing);
    free((void *)clock.cost);
    return 0;
}

/* ---- the last step, for those who draw it ---- */

struct telling {
    const struct plm_cost *cost;
    plm_host_visit *host;
    plm_span_visit *span;
    void *context;
};

static void last_host(const struct plm_host_span *span, void *context)
{
    const struct telling *t = context;
    t->host(span, t->context);
}

static void last_span(const struct plm_span *span, bool last, void *context)
{
    const struct telling *t = context;
    struct plm_span told = *span;
    if (!last)
        return;
    memcpy(told.activity, t->cost[span->work].activity, sizeof told.activity);
    t->span(&told, t->context);
}

int plm_timing_each(const struct plm_works *works, const struct plm_work_lane *lane, const struct plm_card *card,
                    const struct plm_speeds *speeds, const struct plm_timing_options *options, plm_host_visit *host,
                    plm_span_visit *span, void *context, struct plm_error *error)
{
    struct plm_machine machine;
    struct plm_clock clock;
    struct telling telling = {.host = host, .span = span, .context = context};
    const int status = clock_make(works, lane, card, speeds, options, &machine, &clock, error);
    if (status < 0)
        return status;
    telling.cost = clock.cost;
    clock.host = host ? last_host : NULL;
    plm_clock_run(&clock, span ? last_span : NULL, &telling);
    free((void *)clock.cost);
    return 0;
}

void plm_time_share_add(struct plm_time_share *to, const struct plm_time_share *from)
{
    to->calls += from->calls;
    to->ns += from->ns;
    to->flops += from->flops;
    for (size_t b = 0; b < PLM_BOUNDS; b++)
        to->bound[b] += from->bound[b];
}

void plm_timing_free(struct plm_timing *timing)
{
    free(timing->operators.item);
    free(timing->modules.item);
    free(timing->classes.item);
    memset(timing, 0, sizeof *timing);
}
