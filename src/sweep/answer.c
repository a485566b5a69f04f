/* What follows from the points of a sweep: nothing here is kept or read from a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sweep/sweep.h"

bool plm_sweep_fits(const struct plm_sweep *s, const struct plm_sweep_cell *cell)
{
    return cell->verdict == PLM_FITS || (s->allow_tight && cell->verdict == PLM_TIGHT);
}

int plm_sweep_along(const struct plm_sweep *s)
{
    return s->largest >= 0 ? s->largest : plm_sweep_axis(&s->parameters);
}

struct plm_sweep_growth plm_sweep_grows(const struct plm_sweep *s)
{
    const int along = plm_sweep_along(s);
    struct plm_sweep_sample *sample = plm_calloc(s->points, sizeof *sample);
    struct plm_sweep_growth growth = {0};
    size_t n = 0;
    for (size_t i = 0; i < s->points && along >= 0; i++)
        if (s->point[i].state == PLM_SWEEP_DONE && plm_sweep_whole(s->point[i].value[along], &sample[n].value))
            sample[n++].bytes = s->point[i].allocated;
    growth = plm_sweep_growth(sample, plm_sweep_samples_sort(sample, n));
    free(sample);
    return growth;
}

double plm_sweep_per_dollar(const struct plm_sweep_card *card, const struct plm_sweep_point *point, size_t at)
{
    return card->price > 0 ? point->cell[at].samples * 3600 / (card->price * point->gpus) : 0;
}

/* ---- the points as runs on a grid ---- */

struct runs {
    struct plm_sweep_grid grid;
    uint64_t *values;
    struct plm_sweep_run *run;
    const struct plm_sweep_point **point;
    size_t runs;
    bool *fits;
    uint64_t *need, *usable;
};

static void grid_make(const struct plm_sweep_parameter *p, struct runs *r)
{
    r->values = plm_calloc(p->values, sizeof *r->values);
    for (size_t i = 0; i < p->values; i++)
        plm_sweep_whole(p->value[i], &r->values[i]);
    r->grid = (struct plm_sweep_grid){.value = r->values, .count = p->values};
}

/* A range without a step is searched in whole numbers. */
static void grid_make_whole(const struct plm_sweep_parameter *p, struct runs *r)
{
    r->grid = (struct plm_sweep_grid){.low = p->low, .count = p->high - p->low + 1};
}

/* False: the value is not on the grid. */
static bool grid_find(const struct plm_sweep_grid *grid, const char *text, uint64_t *at)
{
    uint64_t value;
    if (!plm_sweep_whole(text, &value))
        return false;
    if (!grid->value) {
        *at = value - grid->low;
        return value >= grid->low && *at < grid->count;
    }
    for (*at = 0; *at < grid->count; ++*at)
        if (grid->value[*at] == value)
            return true;
    return false;
}

static void run_add(const struct plm_sweep *s, struct runs *r, const struct plm_sweep_point *point, uint64_t at)
{
    const size_t first = r->runs * s->cards;
    for (size_t k = 0; k < s->cards && point->state == PLM_SWEEP_DONE; k++) {
        r->fits[first + k] = plm_sweep_fits(s, &point->cell[k]);
        r->need[first + k] = s->allow_tight ? point->cell[k].need : point->cell[k].high;
    }
    r->point[r->runs] = point;
    r->run[r->runs++] = (struct plm_sweep_run){at, point->state == PLM_SWEEP_FAILED, &r->fits[first], &r->need[first]};
}

static struct runs runs_make(const struct plm_sweep *s)
{
    const int along = plm_sweep_along(s);
    const struct plm_sweep_parameter *p = &s->parameters.item[along];
    struct runs r = {.run = plm_calloc(s->points, sizeof *r.run),
                     .point = plm_calloc(s->points, sizeof(struct plm_sweep_point *)),
                     .fits = plm_calloc(s->points * s->cards, sizeof *r.fits),
                     .need = plm_calloc(s->points * s->cards, sizeof *r.need),
                     .usable = plm_calloc(s->cards, sizeof *r.usable)};
    uint64_t at;
    (s->largest >= 0 && p->range && !p->stepped ? grid_make_whole : grid_make)(p, &r);
    for (size_t i = 0; i < s->points; i++)
        if (s->point[i].state != PLM_SWEEP_WAITS && grid_find(&r.grid, s->point[i].value[along], &at))
            run_add(s, &r, &s->point[i], at);
    for (size_t k = 0; k < s->cards; k++)
        r.usable[k] = s->card[k].usable;
    return r;
}

static void runs_free(struct runs *r)
{
    free(r->values);
    free(r->run);
    free(r->point);
    free(r->fits);
    free(r->need);
    free(r->usable);
}

static const struct plm_sweep_point *run_at(const struct runs *r, uint64_t at)
{
    for (size_t i = 0; i < r->runs; i++)
        if (r->run[i].at == at)
            return r->point[i];
    return NULL;
}

struct plm_sweep_largest plm_sweep_largest_on(const struct plm_sweep *s, size_t card)
{
    struct plm_sweep_largest largest = {0};
    struct plm_sweep_bounds b;
    struct runs r;
    uint64_t fits = 0;
    if (plm_sweep_along(s) < 0)
        return largest;
    r = runs_make(s);
    b = plm_sweep_bounds(&r.grid, r.run, r.runs, card);
    largest.settled = b.settled;
    largest.fits = b.some ? run_at(&r, b.fits) : NULL;
    largest.fails = b.none ? run_at(&r, b.fails) : NULL;
    if (largest.fits)
        fits = plm_sweep_grid_value(&r.grid, b.fits);
    largest.estimate = plm_sweep_estimate(&r.grid, r.run, r.runs, card, s->card[card].usable, &b);
    if (largest.estimate == fits)
        largest.estimate = 0;
    runs_free(&r);
    return largest;
}

size_t plm_sweep_more(const struct plm_sweep *s, uint64_t *value, size_t most)
{
    struct runs r = runs_make(s);
    const size_t more = plm_sweep_next(&r.grid, r.run, r.runs, r.usable, s->cards, value, most);
    for (size_t i = 0; i < more; i++)
        value[i] = plm_sweep_grid_value(&r.grid, value[i]);
    runs_free(&r);
    return more;
}
