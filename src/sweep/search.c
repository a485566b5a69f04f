#include "sweep/search.h"

#include <stdlib.h>

#include "base/memory.h"
#include "sweep/growth.h"

uint64_t plm_sweep_grid_value(const struct plm_sweep_grid *grid, uint64_t at)
{
    return grid->value ? grid->value[at] : grid->low + at;
}

static bool was_run(const struct plm_sweep_run *run, size_t runs, uint64_t at)
{
    for (size_t i = 0; i < runs; i++)
        if (run[i].at == at)
            return true;
    return false;
}

/* ---- a card ---- */

struct plm_sweep_bounds plm_sweep_bounds(const struct plm_sweep_grid *grid, const struct plm_sweep_run *run,
                                         size_t runs, size_t card)
{
    struct plm_sweep_bounds b = {.fails = grid->count};
    uint64_t unknown = 0, gap;
    for (size_t i = 0; i < runs; i++)
        if (!run[i].failed && run[i].fits[card] && (!b.some || run[i].at > b.fits)) {
            b.some = true;
            b.fits = run[i].at;
        }
    for (size_t i = 0; i < runs; i++)
        if (!run[i].failed && !run[i].fits[card] && (!b.some || run[i].at > b.fits) && run[i].at < b.fails) {
            b.none = true;
            b.fails = run[i].at;
        }
    for (size_t i = 0; i < runs; i++) /* what the script refuses lies in no gap */
        unknown += run[i].failed && (!b.some || run[i].at > b.fits) && run[i].at < b.fails;
    gap = b.fails - (b.some ? b.fits + 1 : 0);
    b.settled = runs && gap == unknown;
    return b;
}

static size_t samples_of(const struct plm_sweep_grid *grid, const struct plm_sweep_run *run, size_t runs, size_t card,
                         struct plm_sweep_sample *sample)
{
    size_t n = 0;
    for (size_t i = 0; i < runs; i++)
        if (!run[i].failed)
            sample[n++] = (struct plm_sweep_sample){plm_sweep_grid_value(grid, run[i].at), run[i].need[card]};
    return plm_sweep_samples_sort(sample, n);
}

uint64_t plm_sweep_estimate(const struct plm_sweep_grid *grid, const struct plm_sweep_run *run, size_t runs,
                            size_t card, uint64_t usable, const struct plm_sweep_bounds *b)
{
    struct plm_sweep_sample *sample = plm_calloc(runs, sizeof *sample);
    const size_t n = samples_of(grid, run, runs, card, sample);
    const uint64_t low = b->some ? plm_sweep_grid_value(grid, b->fits) : 0,
                   high = b->fails < grid->count ? plm_sweep_grid_value(grid, b->fails)
                                                 : plm_sweep_grid_value(grid, grid->count - 1) + 1;
    uint64_t value = n > 1 ? plm_sweep_value_within(sample, n, usable, high - 1) : 0;
    free(sample);
    return value && value < low ? low : value;
}

/* ---- what next ---- */

/* The last place on the grid whose value is no higher. */
static uint64_t place_of(const struct plm_sweep_grid *grid, uint64_t value)
{
    uint64_t low = 0, high = grid->count - 1;
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        if (plm_sweep_grid_value(grid, middle) <= value)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The nearest place in a gap that was not run; the end of the grid: there is none. */
static uint64_t place_free(const struct plm_sweep_grid *grid, const struct plm_sweep_run *run, size_t runs,
                           const struct plm_sweep_bounds *b, uint64_t at)
{
    const uint64_t first = b->some ? b->fits + 1 : 0, last = b->fails;
    for (uint64_t off = 0; off <= last - first; off++) {
        if (at + off < last && !was_run(run, runs, at + off))
            return at + off;
        if (at >= first + off && at - off < last && !was_run(run, runs, at - off))
            return at - off;
    }
    return grid->count;
}

/* How far the next run is beyond a side of the gap; 0: further than the gap is wide. The model said in vain that the
   boundary is at this side if runs crowd there: then steps away from it double. */
static uint64_t crowd(const struct plm_sweep_run *run, size_t runs, uint64_t side, bool above, uint64_t width)
{
    uint64_t nearest = width;
    for (size_t i = 0; i < runs; i++)
        if (above ? run[i].at > side : run[i].at < side) {
            const uint64_t off = above ? run[i].at - side : side - run[i].at;
            nearest = off < nearest ? off : nearest;
        }
    return nearest < width ? nearest : 0;
}

static uint64_t card_next(const struct plm_sweep_grid *grid, const struct plm_sweep_run *run, size_t runs, size_t card,
                          uint64_t usable, const struct plm_sweep_bounds *b)
{
    const uint64_t first = b->some ? b->fits + 1 : 0, last = b->fails - 1, half = (last - first) / 2;
    const uint64_t value = plm_sweep_estimate(grid, run, runs, card, usable, b);
    uint64_t at = value ? place_of(grid, value) : first + half, away;
    if (at <= first && b->some) {
        away = crowd(run, runs, b->fits, false, last - first);
        at = first + (away < half ? away : half);
    } else if (at >= last && b->none) {
        away = crowd(run, runs, b->fails, true, last - first);
        at = last - (away < half ? away : half);
    }
    at = at < first ? first : at > last ? last : at;
    return place_free(grid, run, runs, b, at);
}

struct gap {
    uint64_t at;
    double width; /* of the values, as a share */
};

static int by_width(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;
    return x->width != y->width ? (x->width > y->width ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

static double width_of(const struct plm_sweep_grid *grid, const struct plm_sweep_bounds *b)
{
    const uint64_t low = b->some ? plm_sweep_grid_value(grid, b->fits) : 0,
                   high = plm_sweep_grid_value(grid, b->fails < grid->count ? b->fails : grid->count - 1);
    return (double)(high + 1) / (double)(low + 1);
}

size_t plm_sweep_next(const struct plm_sweep_grid *grid, const struct plm_sweep_run *run, size_t runs,
                      const uint64_t *usable, size_t cards, uint64_t *next, size_t most)
{
    struct gap *gap = plm_calloc(cards + 2, sizeof *gap);
    size_t gaps = 0, chosen = 0, known = 0;
    for (size_t i = 0; i < runs; i++)
        known += !run[i].failed;
    if (known < 2 && grid->count) { /* a line needs two points, cheap ones first */
        const uint64_t low = place_of(grid, 2 * plm_sweep_grid_value(grid, 0));
        const struct plm_sweep_bounds all = {.fails = grid->count};
        gap[gaps++] = (struct gap){place_free(grid, run, runs, &all, 0), 2};
        gap[gaps++] = (struct gap){place_free(grid, run, runs, &all, low ? low : grid->count > 1), 1};
    } else
        for (size_t i = 0; i < cards; i++) {
            const struct plm_sweep_bounds b = plm_sweep_bounds(grid, run, runs, i);
            if (!b.settled)
                gap[gaps++] = (struct gap){card_next(grid, run, runs, i, usable[i], &b), width_of(grid, &b)};
        }
    qsort(gap, gaps, sizeof *gap, by_width);
    for (size_t i = 0; i < gaps && chosen < most; i++) {
        bool twice = gap[i].at >= grid->count;
        for (size_t k = 0; k < chosen && !twice; k++)
            twice = next[k] == gap[i].at;
        if (!twice)
            next[chosen++] = gap[i].at;
    }
    free(gap);
    return chosen;
}
