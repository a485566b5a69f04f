#include "study/estimate/simulator.h"

#include "allocator/allocator.h"
#include "base/memory.h"
#include "study/estimate/two_level.h"

#define TORCH_MOST    (1ull << 60) /* more than any address space of the driver level holds */
#define TORCH_NO_CARD (1ull << 40) /* what a card without a limit says it has */

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
static void sort_items(struct plm_lifetime *item, size_t count, struct moment *order)
{
    struct plm_lifetime *sorted;
    bool already = true;

    for (size_t i = 0; i < count; i++) {
        order[i] = (struct moment){item[i].born, i};
        already = already && (i == 0 || item[i - 1].born <= item[i].born);
    }
    if (already)
        return;
    sorted = plm_calloc(count, sizeof *sorted);
    qsort(order, count, sizeof *order, by_time);
    for (size_t i = 0; i < count; i++)
        sorted[i] = item[order[i].item];
    for (size_t i = 0; i < count; i++)
        item[i] = sorted[i];
    free(sorted);
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

static void machine_start(struct machine *m, enum plm_simulation_rules rules, uint64_t limit)
{
    struct plm_allocator_options options = {.torch = (enum plm_torch)(PLM_TORCHES - 1), .capacity = limit};

    *m = (struct machine){0};
    if (rules == PLM_RULES_XMEM) {
        plm_two_level_start(&m->two_level, limit);
        return;
    }
    options.total = limit < UINT64_MAX ? limit : TORCH_NO_CARD;
    plm_allocator_settings_parse(NULL, options.torch, &options.settings, NULL);
    plm_allocator_new(&options, &m->torch);
}

static void machine_end(struct machine *m)
{
    plm_two_level_end(&m->two_level);
    if (m->torch)
        plm_allocator_delete(m->torch);
}

/* False: the card is full. */
static bool block_take(struct machine *m, uint64_t bytes, uint64_t *block)
{
    if (!m->torch)
        return plm_two_level_malloc(&m->two_level, bytes, block) == 0;
    return bytes <= TORCH_MOST && plm_allocator_malloc(m->torch, bytes, 0, 0, block) == 0;
}

static void block_give(struct machine *m, uint64_t block)
{
    if (m->torch)
        plm_allocator_free(m->torch, block);
    else
        plm_two_level_free(&m->two_level, block);
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

static void bear(struct work *w, const struct plm_lifetime *item, size_t i)
{
    if (block_take(&w->machine, item[i].bytes, &w->block[i])) {
        tell(w, item[i].born, i, false);
        return;
    }
    w->out->oom = true;
    w->out->oom_time = item[i].born;
}

/* At equal times allocations come before frees, as published. */
static void play(struct work *w, const struct plm_lifetime *item, size_t count)
{
    size_t births = 0, deaths = 0;

    while (!w->out->oom && (births < count || deaths < w->deaths)) {
        if (births < count && (deaths == w->deaths || item[births].born <= w->death[deaths].time)) {
            bear(w, item, births++);
            continue;
        }
        block_give(&w->machine, w->block[w->death[deaths].item]);
        tell(w, w->death[deaths].time, w->death[deaths].item, true);
        deaths++;
    }
}

void plm_simulate_watched(struct plm_lifetime *item, size_t count, enum plm_simulation_rules rules, uint64_t limit,
                          plm_simulation_watch *watch, void *context, struct plm_simulation *out)
{
    struct work w = {.watch = watch, .context = context, .out = out};

    *out = (struct plm_simulation){0};
    if (count == 0)
        return;
    w.death = plm_calloc(count, sizeof *w.death);
    w.block = plm_calloc(count, sizeof *w.block);
    sort_items(item, count, w.death);
    machine_start(&w.machine, rules, limit);
    w.deaths = sort_deaths(item, count, w.death);
    play(&w, item, count);
    machine_end(&w.machine);
    free(w.death);
    free(w.block);
}

void plm_simulate(struct plm_lifetime *item, size_t count, uint64_t limit, struct plm_simulation *out)
{
    plm_simulate_watched(item, count, PLM_RULES_XMEM, limit, NULL, NULL, out);
}

void plm_simulate_torch(struct plm_lifetime *item, size_t count, uint64_t limit, struct plm_simulation *out)
{
    plm_simulate_watched(item, count, PLM_RULES_TORCH, limit, NULL, NULL, out);
}
