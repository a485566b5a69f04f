#include "study/estimate/simulator.h"

#include <stdlib.h>

#include "allocator/allocator.h"
#include "base/error.h"
#include "study/estimate/two_level.h"

#define TORCH_MOST    (1ull << 60) /* more than any address space of the driver level holds */
#define TORCH_NO_CARD (1ull << 40) /* what a card without a limit says it has */
#define NOT_LIVE      UINT64_MAX

struct moment {
    int64_t time;
    size_t item;
};

/* One of the two allocators; `torch` is NULL for the published one. */
struct machine {
    struct plm_two_level two_level;
    struct plm_allocator *torch;
};

struct work {
    struct machine machine;
    struct moment *death; /* ascending; items without one are not in it */
    size_t deaths;
    uint64_t *block;      /* per item, while it lives */
    uint64_t events;
    plm_simulation_watch *watch;
    void *context;
    struct plm_simulation *out;
};

static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* Items of one time keep their order: it decides which of them gets which piece. */
static int sort_items(struct plm_lifetime *item, size_t count, struct moment *order)
{
    struct plm_lifetime *sorted;
    bool already = true;

    for (size_t i = 0; i < count; i++) {
        order[i] = (struct moment){item[i].born, i};
        already = already && (i == 0 || item[i - 1].born <= item[i].born);
    }
    if (already)
        return 0;
    sorted = reallocarray(NULL, count, sizeof *sorted);
    if (!sorted)
        return PLM_ENOMEM;
    qsort(order, count, sizeof *order, by_time);
    for (size_t i = 0; i < count; i++)
        sorted[i] = item[order[i].item];
    for (size_t i = 0; i < count; i++)
        item[i] = sorted[i];
    free(sorted);
    return 0;
}

/* Nothing dies before it was born. */
static size_t sort_deaths(const struct plm_lifetime *item, size_t count, struct moment *death)
{
    size_t deaths = 0;
    for (size_t i = 0; i < count; i++)
        if (item[i].dies != PLM_NEVER)
            death[deaths++] = (struct moment){item[i].dies > item[i].born ? item[i].dies : item[i].born, i};
    qsort(death, deaths, sizeof *death, by_time);
    return deaths;
}

static int start(struct machine *m, enum plm_simulation_rules rules, uint64_t limit)
{
    struct plm_allocator_options options = {.torch = (enum plm_torch)(PLM_TORCHES - 1), .capacity = limit};
    int status;

    *m = (struct machine){0};
    if (rules == PLM_RULES_XMEM) {
        plm_two_level_start(&m->two_level, limit);
        return 0;
    }
    options.total = limit < UINT64_MAX ? limit : TORCH_NO_CARD;
    status = plm_allocator_settings_parse(NULL, options.torch, &options.settings, NULL);
    return status ? status : plm_allocator_new(&options, &m->torch);
}

static void end(struct machine *m)
{
    plm_two_level_end(&m->two_level);
    if (m->torch)
        plm_allocator_delete(m->torch);
}

/* 0, or PLM_ENOTFOUND: the card is full. */
static int take(struct machine *m, uint64_t bytes, uint64_t *block)
{
    int status;
    if (!m->torch)
        return plm_two_level_malloc(&m->two_level, bytes, block);
    if (bytes > TORCH_MOST)
        return PLM_ENOTFOUND;
    status = plm_allocator_malloc(m->torch, bytes, 0, 0, block);
    return status == PLM_ALLOCATOR_OOM ? PLM_ENOTFOUND : status;
}

static int give(struct machine *m, uint64_t block)
{
    if (m->torch)
        return plm_allocator_free(m->torch, block);
    plm_two_level_free(&m->two_level, block);
    return 0;
}

static void tell(struct work *w, int64_t time, size_t item, bool freed)
{
    const struct plm_allocator_stats *stats = w->machine.torch ? plm_allocator_stats(w->machine.torch) : NULL;
    struct plm_simulation_event event = {.number = w->events++, .time = time, .item = item, .freed = freed};

    event.reserved = stats ? stats->stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].current : w->machine.two_level.reserved;
    event.allocated =
        stats ? stats->stat[PLM_STAT_ALLOCATED_BYTES][PLM_STAT_ALL].current : w->machine.two_level.allocated;
    if (event.reserved > w->out->peak) {
        w->out->peak = event.reserved;
        w->out->peak_time = time;
    }
    if (event.allocated > w->out->peak_allocated)
        w->out->peak_allocated = event.allocated;
    if (w->watch)
        w->watch(&event, w->context);
}

static int bear(struct work *w, const struct plm_lifetime *item, size_t i)
{
    int status = take(&w->machine, item[i].bytes, &w->block[i]);
    if (status == 0) {
        tell(w, item[i].born, i, false);
        return 0;
    }
    if (status != PLM_ENOTFOUND)
        return PLM_ENOMEM;
    w->block[i] = NOT_LIVE;
    w->out->oom = true;
    w->out->oom_time = item[i].born;
    return 0;
}

/* At equal times allocations come before frees, as published. */
static int play(struct work *w, const struct plm_lifetime *item, size_t count)
{
    size_t births = 0, deaths = 0;
    int status = 0;

    while (status == 0 && !w->out->oom && (births < count || deaths < w->deaths)) {
        if (births < count && (deaths == w->deaths || item[births].born <= w->death[deaths].time)) {
            status = bear(w, item, births++);
            continue;
        }
        status = give(&w->machine, w->block[w->death[deaths].item]);
        if (status == 0)
            tell(w, w->death[deaths].time, w->death[deaths].item, true);
        deaths++;
    }
    return status ? PLM_ENOMEM : 0;
}

int plm_simulate_watched(struct plm_lifetime *item, size_t count, enum plm_simulation_rules rules, uint64_t limit,
                         plm_simulation_watch *watch, void *context, struct plm_simulation *out)
{
    struct work w = {.watch = watch, .context = context, .out = out};
    int status = PLM_ENOMEM;

    *out = (struct plm_simulation){0};
    if (count == 0)
        return 0;
    w.death = reallocarray(NULL, count, sizeof *w.death);
    w.block = reallocarray(NULL, count, sizeof *w.block);
    if (w.death && w.block)
        status = sort_items(item, count, w.death);
    if (status == 0)
        status = start(&w.machine, rules, limit);
    if (status == 0) {
        w.deaths = sort_deaths(item, count, w.death);
        status = play(&w, item, count);
    }
    end(&w.machine);
    free(w.death);
    free(w.block);
    return status;
}

int plm_simulate(struct plm_lifetime *item, size_t count, uint64_t limit, struct plm_simulation *out)
{
    return plm_simulate_watched(item, count, PLM_RULES_XMEM, limit, NULL, NULL, out);
}

int plm_simulate_torch(struct plm_lifetime *item, size_t count, uint64_t limit, struct plm_simulation *out)
{
    return plm_simulate_watched(item, count, PLM_RULES_TORCH, limit, NULL, NULL, out);
}
