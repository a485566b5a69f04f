#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/html.h"

/* Stretches of moments; of each the page shows the moment at which most was allocated, so no peak is lost.
   They are finer in the window, which is the step of the peak. */
struct stretches {
    uint32_t from, to; /* the window */
    uint32_t inside, outside; /* moments in a stretch */
};

static size_t at_most(size_t whole, size_t lanes, size_t least, size_t most)
{
    size_t share = whole / (lanes ? lanes : 1);
    return share < least ? least : share > most ? most : share;
}

static uint32_t quotient_up(uint32_t a, size_t b)
{
    uint32_t result = (uint32_t)(((uint64_t)a + b - 1) / b);
    return result ? result : 1;
}

static size_t step_of(const struct plm_lane *lane, uint32_t moment)
{
    size_t step = 1;
    while (step <= lane->steps && lane->step[step - 1].at <= moment)
        step++;
    return step;
}

static struct stretches stretches_plan(const struct plm_lane *lane, size_t points)
{
    struct stretches s = {0, 0, 1, 1};
    uint32_t all = (uint32_t)lane->moments;
    if (lane->moments <= points)
        return s;
    plm_lane_step(lane, step_of(lane, lane->summary->allocated_peak.moment), &s.from, &s.to);
    s.inside = quotient_up(s.to - s.from, points / 2);
    s.outside = quotient_up(all - (s.to - s.from), points / 2);
    return s;
}

/* Where the stretch ends in which `m` lies first. */
static uint32_t stretch_end(const struct stretches *s, uint32_t m, uint32_t all)
{
    bool in = m >= s->from && m < s->to;
    uint64_t end = (uint64_t)m + (in ? s->inside : s->outside);
    uint32_t border = in ? s->to : m < s->from ? s->from : all;
    return end < border ? (uint32_t)end : border;
}

struct sweep {
    const struct plm_lane *lane;
    struct plm_html_moments *out;
    struct stretches s;
    uint32_t end, best; /* of the stretch */
    uint64_t best_bytes;
    size_t step;        /* index of the one that runs */
};

/* A step begins with what the one before it left. An entry that stands for several points to the highest. */
static void next_step(struct sweep *w, uint32_t moment, uint64_t before)
{
    struct plm_html_moments *o = w->out;
    while (w->step < w->lane->steps && w->lane->step[w->step].at <= moment) {
        w->step++;
        if (w->step % o->steps_each == 0 && w->step / o->steps_each < o->steps) {
            o->step_allocated[w->step / o->steps_each] = before;
            o->step_peak[w->step / o->steps_each] = moment ? moment - 1 : 0;
        }
    }
}

static void see(struct sweep *w, uint32_t moment, uint64_t bytes, uint64_t before)
{
    struct plm_html_moments *o = w->out;
    size_t entry;
    if (moment >= w->end) {
        if (moment)
            o->point[o->points++] = w->best;
        w->end = stretch_end(&w->s, moment, (uint32_t)w->lane->moments);
        w->best = moment;
        w->best_bytes = bytes;
    } else if (bytes > w->best_bytes) {
        w->best = moment;
        w->best_bytes = bytes;
    }
    next_step(w, moment, before);
    entry = w->step / o->steps_each;
    if (entry < o->steps && bytes > o->step_allocated[entry]) {
        o->step_allocated[entry] = bytes;
        o->step_peak[entry] = moment;
    }
}

static void moments_sweep(const struct plm_lane *lane, const struct stretches *s, struct plm_html_moments *o)
{
    struct sweep w = {.lane = lane, .out = o, .s = *s};
    uint64_t bytes = 0;
    for (size_t m = 0; m < lane->moments; m++) {
        const struct plm_block *b = &lane->block[lane->order[m] >> 1];
        uint64_t before = bytes;
        bytes += lane->order[m] & 1 ? -b->bytes : b->bytes;
        see(&w, (uint32_t)m, bytes, before);
    }
    if (lane->moments)
        o->point[o->points++] = w.best;
}

/* The figures are the summary's, so that all reports agree. */
static void step_figures(const struct plm_lane *lane, struct plm_html_moments *o)
{
    const struct plm_summary_device *d = lane->summary;
    memset(o->step_allocated, 0, o->steps * sizeof *o->step_allocated);
    for (size_t i = 0; i < (size_t)d->steps; i++) {
        size_t entry = i / o->steps_each;
        if (entry >= o->steps)
            break;
        if (o->step_allocated[entry] < d->step[i].allocated_peak)
            o->step_allocated[entry] = d->step[i].allocated_peak;
        if (o->step_reserved[entry] < d->step[i].reserved_peak)
            o->step_reserved[entry] = d->step[i].reserved_peak;
    }
}

/* ---- snapshots ---- */

struct picks {
    uint32_t *moment;
    size_t count, most;
    uint32_t all;
};

static void moment_pick(struct picks *p, uint32_t moment)
{
    if (p->count >= p->most || moment >= p->all)
        return;
    for (size_t i = 0; i < p->count; i++)
        if (p->moment[i] == moment)
            return;
    p->moment[p->count++] = moment;
}

static void pick_evenly(struct picks *p, const uint32_t *moment, size_t count, size_t most)
{
    size_t wanted = count < most ? count : most;
    for (size_t i = 0; i < wanted; i++)
        moment_pick(p, moment[wanted == 1 ? 0 : i * (count - 1) / (wanted - 1)]);
}

/* The end of each phase of a step. */
static void pick_phases(struct picks *p, const struct plm_lane *lane, size_t step, size_t most)
{
    uint32_t from, to;
    plm_lane_step(lane, step, &from, &to);
    for (size_t i = 0; i < lane->phases && most; i++) {
        uint32_t at = lane->phase[i].at;
        if (at <= from || at > to || (i && lane->phase[i - 1].at == at))
            continue;
        moment_pick(p, at - 1);
        most--;
    }
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void choose_snapshots(const struct plm_lane *lane, size_t lanes, struct plm_html_moments *o)
{
    size_t most = at_most(2 * PLM_HTML_SNAPSHOTS, lanes, 24, PLM_HTML_SNAPSHOTS);
    size_t maps = at_most(2 * PLM_HTML_MAPS, lanes, 6, PLM_HTML_MAPS);
    struct picks p = {plm_calloc(most, sizeof *p.moment), 0, most, (uint32_t)lane->moments};
    size_t mapped = 0;
    o->snapshot = p.moment;
    o->mapped = plm_calloc(most, sizeof *o->mapped);
    if (!lane->moments)
        return;
    moment_pick(&p, lane->summary->allocated_peak.moment);
    moment_pick(&p, (uint32_t)lane->moments - 1);
    pick_evenly(&p, o->step_peak, o->steps, most / 3);
    pick_phases(&p, lane, step_of(lane, lane->summary->allocated_peak.moment), most / 6);
    pick_phases(&p, lane, 1, most / 6);
    pick_evenly(&p, o->point, o->points, most);
    o->snapshots = p.count;
    qsort(o->snapshot, o->snapshots, sizeof *o->snapshot, ascending);
    for (size_t i = 0; i < o->snapshots; i++) {
        bool due = (i + 1) * (maps - 1) / o->snapshots > mapped;
        mapped += due;
        o->mapped[i] = due || o->snapshot[i] == lane->summary->allocated_peak.moment;
    }
}

/* Every snapshot is a point too, so that its figures are those of the timeline; and so is the peak of every step, which
   shares its stretch with others where steps are many. */
static void merge_points(struct plm_html_moments *o)
{
    size_t kept = 0;
    if (!o->points) /* the job has no blocks */
        return;
    memcpy(o->point + o->points, o->snapshot, o->snapshots * sizeof *o->point);
    o->points += o->snapshots;
    memcpy(o->point + o->points, o->step_peak, o->steps * sizeof *o->point);
    o->points += o->steps;
    qsort(o->point, o->points, sizeof *o->point, ascending);
    for (size_t i = 0; i < o->points; i++)
        if (!kept || o->point[kept - 1] != o->point[i])
            o->point[kept++] = o->point[i];
    o->points = kept;
}

/* The largest power of 2 that divides all sizes and addresses: figures become short, and stay exact. */
static uint64_t unit_of(const struct plm_lane *lane)
{
    uint64_t bits = 1ull << 20;
    for (size_t i = 0; i < lane->blocks; i++)
        bits |= lane->block[i].address | lane->block[i].bytes;
    for (size_t i = 0; i < lane->segments; i++)
        bits |= lane->segment[i].address | lane->segment[i].bytes;
    for (size_t i = 0; i < lane->reserveds; i++)
        bits |= lane->reserved[i].bytes;
    return bits & -bits;
}

void plm_html_choose(const struct plm_lane *lane, size_t lanes, struct plm_html_moments *o)
{
    size_t points = at_most(2 * PLM_HTML_POINTS, lanes, 1000, PLM_HTML_POINTS);
    struct stretches s = stretches_plan(lane, points);
    size_t steps = lane->steps < (size_t)lane->summary->steps ? lane->steps : (size_t)lane->summary->steps;
    memset(o, 0, sizeof *o);
    o->unit = unit_of(lane);
    o->steps_each = quotient_up((uint32_t)steps, PLM_HTML_STEPS);
    o->steps = quotient_up((uint32_t)steps, o->steps_each) - (steps ? 0 : 1);
    /* Two borders of the window can each cut a stretch in two. */
    o->point = plm_calloc(points + 8 + PLM_HTML_SNAPSHOTS + o->steps, sizeof *o->point);
    o->step_peak = plm_calloc(o->steps, sizeof *o->step_peak);
    o->step_allocated = plm_calloc(o->steps, sizeof *o->step_allocated);
    o->step_reserved = plm_calloc(o->steps, sizeof *o->step_reserved);
    moments_sweep(lane, &s, o);
    step_figures(lane, o);
    choose_snapshots(lane, lanes, o);
    merge_points(o);
}

void plm_html_moments_free(struct plm_html_moments *o)
{
    free(o->point);
    free(o->snapshot);
    free(o->mapped);
    free(o->step_peak);
    free(o->step_allocated);
    free(o->step_reserved);
}
