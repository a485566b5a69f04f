#include "analysis/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "common/alike.h"
#include "base/memory.h"
#include "base/ranges.h"

/* ---- comparing lanes ---- */

/* A lane with what decides about its kind. */
struct candidate {
    const struct plm_lane *lane;
    uint64_t category[PLM_CATEGORIES]; /* at its peak */
    bool alone;                        /* no other device has its rank */
    size_t kind;
};

static bool lanes_equal(const struct candidate *a, const struct candidate *b)
{
    const struct plm_summary_device *x = a->lane->summary, *y = b->lane->summary;
    return x->allocated_peak.bytes == y->allocated_peak.bytes && x->reserved_peak == y->reserved_peak &&
           x->used_peak == y->used_peak && !memcmp(a->category, b->category, sizeof a->category);
}

/* `a` is the larger one. Figures that are close mean little if they are for something else. */
static bool lanes_alike(const struct candidate *a, const struct candidate *b)
{
    const struct plm_summary_device *x = a->lane->summary, *y = b->lane->summary;
    if (!plm_alike(x->allocated_peak.bytes, y->allocated_peak.bytes, x->allocated_peak.bytes) ||
        !plm_alike(x->reserved_peak, y->reserved_peak, x->reserved_peak) ||
        !plm_alike(x->used_peak, y->used_peak, x->used_peak))
        return false;
    for (int i = 0; i < PLM_CATEGORIES; i++)
        if (!plm_alike(a->category[i], b->category[i], x->allocated_peak.bytes))
            return false;
    return true;
}

/* Ranks with one device each are compared with each other, those of a rank with several among themselves. */
static bool lanes_comparable(const struct candidate *a, const struct candidate *b)
{
    return (a->alone && b->alone) || a->lane->summary->rank == b->lane->summary->rank;
}

/* By what they take of the card, as plm_job_largest(); then as they stand in the job. */
static int by_use(const void *a, const void *b)
{
    const struct plm_lane *x = ((const struct candidate *)a)->lane, *y = ((const struct candidate *)b)->lane;
    if (x->summary->used_peak != y->summary->used_peak)
        return x->summary->used_peak < y->summary->used_peak ? 1 : -1;
    return x < y ? -1 : x > y;
}

static struct candidate *candidates_make(const struct plm_job *job)
{
    struct candidate *c = plm_calloc(job->lanes, sizeof *c);
    for (size_t i = 0; i < job->lanes; i++) {
        const struct plm_lane *lane = &job->lane[i];
        const struct plm_place place = plm_place_at(job, lane, (struct plm_at){PLM_AT_PEAK, 0});
        const int rank = lane->summary->rank; /* lanes stand by rank */
        c[i].lane = lane;
        c[i].alone = (!i || job->lane[i - 1].summary->rank != rank) &&
                     (i + 1 == job->lanes || job->lane[i + 1].summary->rank != rank);
        memcpy(c[i].category, place.category, sizeof c[i].category);
    }
    qsort(c, job->lanes, sizeof *c, by_use);
    return c;
}

/* ---- kinds that were compared ---- */

static void kind_add(struct plm_job_kinds *r, size_t *room, struct plm_job_kind kind)
{
    r->kind = plm_grow(r->kind, r->kinds, room, sizeof *r->kind);
    r->kind[r->kinds++] = kind;
}

/* The kind whose largest a candidate is like; `first` has that of each. */
static size_t kind_of(const struct plm_job_kinds *r, const struct candidate *c, const size_t *first, size_t at)
{
    size_t k = 0;
    while (k < r->kinds && !(lanes_comparable(&c[first[k]], &c[at]) && lanes_alike(&c[first[k]], &c[at])))
        k++;
    return k;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The ranks or devices of a kind, in order. */
static char *members_text(const struct candidate *c, size_t count, size_t kind, bool devices)
{
    uint32_t *number = plm_calloc(count, sizeof *number);
    char *text;
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        if (c[i].kind == kind)
            number[n++] = (uint32_t)(devices ? c[i].lane->summary->device : c[i].lane->summary->rank);
    qsort(number, n, sizeof *number, by_number);
    for (size_t i = 0; i < n; i++) /* processes of one rank may use the same device */
        if (!i || number[i] != number[i - 1])
            number[kept++] = number[i];
    text = plm_ranges_text(number, kept, SIZE_MAX);
    free(number);
    return text;
}

static void kinds_describe(struct plm_job_kinds *r, const struct candidate *c, size_t count, const size_t *first,
                           const bool *exact)
{
    for (size_t k = 0; k < r->kinds; k++) {
        struct plm_job_kind *kind = &r->kind[k];
        kind->ranks = members_text(c, count, k, false);
        kind->devices = c[first[k]].alone ? NULL : members_text(c, count, k, true);
        kind->why = plm_strdup(kind->count < 2 ? "" : exact[k] ? "identical to the byte" : "within 0.1 %");
    }
}

static void kinds_compare(const struct plm_job *job, struct plm_job_kinds *r)
{
    struct candidate *c = candidates_make(job);
    size_t *first = plm_calloc(job->lanes, sizeof *first), room = 0;
    bool *exact = plm_calloc(job->lanes, sizeof *exact);
    for (size_t i = 0; i < job->lanes; i++) {
        const size_t k = c[i].kind = kind_of(r, c, first, i);
        if (k == r->kinds) {
            kind_add(r, &room, (struct plm_job_kind){.lane = c[i].lane, .rank = (uint32_t)c[i].lane->summary->rank});
            first[k] = i;
            exact[k] = true;
        }
        r->kind[k].count++;
        exact[k] &= lanes_equal(&c[first[k]], &c[i]);
    }
    kinds_describe(r, c, job->lanes, first, exact);
    free(first);
    free(exact);
    free(c);
}

/* ---- kinds that the record tells ---- */

/* The largest device of a rank; NULL: it has none. */
static const struct plm_lane *rank_lane(const struct plm_job *job, uint32_t rank)
{
    const struct plm_lane *largest = NULL;
    for (size_t i = 0; i < job->lanes; i++)
        if ((uint32_t)job->lane[i].summary->rank == rank &&
            (!largest || job->lane[i].summary->used_peak > largest->summary->used_peak))
            largest = &job->lane[i];
    return largest;
}

/* Whether a rank has no kind yet; it has one from then on. */
static bool rank_is_new(struct plm_map *seen, uint32_t rank)
{
    const bool new = plm_map_get(seen, rank) == PLM_MAP_NONE;
    if (new)
        plm_map_put(seen, rank, 0);
    return new;
}

static int by_kind_use(const void *a, const void *b)
{
    const struct plm_job_kind *x = a, *y = b;
    const uint64_t of_x = x->lane ? x->lane->summary->used_peak : 0, of_y = y->lane ? y->lane->summary->used_peak : 0;
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Whether the kinds are the whole world: what else ran was run to find them. */
static bool kinds_complete(const struct plm_job *job, const struct plm_job_kinds *r)
{
    const uint32_t world = plm_job_world(job).ranks;
    uint64_t count = 0;
    for (size_t k = 0; k < r->kinds; k++)
        count += r->kind[k].count;
    return world && count >= world;
}

/* In a world that is not complete, a rank that ran without being told of stands for itself. */
static void kinds_told(const struct plm_job *job, struct plm_job_kinds *r)
{
    const struct plm_summary *s = &job->summary;
    struct plm_map seen = {0};
    size_t room = 0;
    for (size_t i = 0; i < s->kinds; i++)
        if (rank_is_new(&seen, s->kind[i].rank))
            kind_add(r, &room,
                     (struct plm_job_kind){.lane = rank_lane(job, s->kind[i].rank),
                                           .rank = s->kind[i].rank,
                                           .count = s->kind[i].count,
                                           .ranks = plm_strdup(s->kind[i].ranks),
                                           .why = plm_strdup(s->kind[i].why)});
    for (size_t i = kinds_complete(job, r) ? job->lanes : 0; i < job->lanes; i++) {
        const uint32_t rank = (uint32_t)job->lane[i].summary->rank;
        if (rank_is_new(&seen, rank))
            kind_add(r, &room,
                     (struct plm_job_kind){.lane = rank_lane(job, rank),
                                           .rank = rank,
                                           .count = 1,
                                           .ranks = plm_ranges_text(&rank, 1, 1),
                                           .why = plm_strdup("")});
    }
    plm_map_free(&seen);
    if (r->kinds)
        qsort(r->kind, r->kinds, sizeof *r->kind, by_kind_use);
}

struct plm_job_kinds plm_job_kinds_make(const struct plm_job *job)
{
    struct plm_job_kinds r = {.told = job->summary.kinds > 0};
    (r.told ? kinds_told : kinds_compare)(job, &r);
    for (size_t k = 0; k < r.kinds; k++)
        r.count += r.kind[k].count;
    return r;
}

void plm_job_kinds_free(struct plm_job_kinds *r)
{
    for (size_t k = 0; k < r->kinds; k++) {
        free(r->kind[k].ranks);
        free(r->kind[k].devices);
        free(r->kind[k].why);
    }
    free(r->kind);
    *r = (struct plm_job_kinds){0};
}

/* ---- what the record tells of ranks ---- */

const struct plm_shard *plm_lane_shard(const struct plm_job *job, const struct plm_lane *lane,
                                       enum plm_category category)
{
    for (size_t i = job->summary.shards; i-- > 0;)
        if (job->summary.shard[i].process == lane->process && job->summary.shard[i].category == category)
            return &job->summary.shard[i];
    return NULL;
}

static uint32_t config_number(const struct plm_summary *s, const char *key)
{
    const char *text = plm_summary_config(s, key);
    const long number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 && number <= INT32_MAX ? (uint32_t)number : 0;
}

struct plm_job_world plm_job_world(const struct plm_job *job)
{
    const struct plm_summary *s = &job->summary;
    return (struct plm_job_world){config_number(s, "world"), config_number(s, "nodes"),
                                  config_number(s, "gpus-per-node")};
}
