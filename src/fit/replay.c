#include "fit/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/search.h"

/* ---- private pools ---- */

/* Segments by address. One that is gone stays until another takes its addresses: no block can lie in it. */
struct places {
    const struct plm_lane_segment **segment;
    size_t count, room;
    size_t next; /* of the lane's segments */
};

/* The first that begins after the address. */
static size_t segment_after(const struct places *p, uint64_t address)
{
    return PLM_SEARCH(i, p->count, p->segment[i]->address <= address);
}

static const struct plm_lane_segment *segment_find(const struct places *p, uint64_t address)
{
    size_t at = segment_after(p, address);
    const struct plm_lane_segment *s = at ? p->segment[at - 1] : NULL;
    return s && address - s->address < s->bytes ? s : NULL;
}

static void segment_add(struct places *p, const struct plm_lane_segment *s)
{
    size_t from = segment_after(p, s->address), to = from;

    if (from && s->address - p->segment[from - 1]->address < p->segment[from - 1]->bytes)
        from--;
    while (to < p->count && p->segment[to]->address - s->address < s->bytes)
        to++;
    if (to > from)
        memmove(p->segment + from, p->segment + to, (p->count - to) * sizeof *p->segment);
    p->count -= to - from;
    p->segment = plm_grow(p->segment, p->count, &p->room, sizeof *p->segment);
    memmove(p->segment + from + 1, p->segment + from, (p->count - from) * sizeof *p->segment);
    p->segment[from] = s;
    p->count++;
}

/* Segments that have appeared by then. */
static void advance(struct places *p, const struct plm_lane *lane, uint32_t moment)
{
    for (; p->next < lane->segments && lane->segment[p->next].alloc_at <= moment; p->next++)
        if (lane->segment[p->next].kind == PLM_RECORD_MALLOC)
            segment_add(p, &lane->segment[p->next]);
}

/* home[i]: the segment of block i, counted from 1; 0 if it is not known. */
static void find_homes(const struct plm_lane *lane, uint32_t *home, bool *private)
{
    struct places p = {0};

    p.segment = plm_grow(NULL, 0, &p.room, sizeof *p.segment);
    for (uint32_t m = 0; m < lane->moments; m++) {
        uint32_t index = lane->order[m] >> 1;
        const struct plm_lane_segment *s;
        if (lane->order[m] & 1)
            continue;
        advance(&p, lane, m);
        s = segment_find(&p, lane->block[index].address);
        if (!s)
            continue;
        home[index] = (uint32_t)(s - lane->segment) + 1;
        private[home[index]] |= lane->block[index].captured;
    }
    free(p.segment);
}

bool *plm_replay_private(const struct plm_lane *lane)
{
    uint32_t *home;
    bool *private, *block;
    size_t captured = 0;

    for (size_t i = 0; i < lane->blocks; i++)
        captured += lane->block[i].captured;
    if (!captured)
        return NULL;
    home = plm_calloc(lane->blocks, sizeof *home);
    block = plm_calloc(lane->blocks, sizeof *block);
    private = plm_calloc(lane->segments + 1, sizeof *private);
    find_homes(lane, home, private);
    for (size_t i = 0; i < lane->blocks; i++)
        block[i] = lane->block[i].captured || (home[i] && private[home[i]]);
    free(home);
    free(private);
    return block;
}

/* ---- the replay ---- */

enum { PRIVATE_POOL = 1 };

struct work {
    const struct plm_lane *lane;
    const struct plm_replay_options *options;
    struct plm_replay *replay;
    struct plm_allocator *a;
    uint64_t *address;   /* per block of the lane, where it is now */
    bool *private;       /* per block of the lane, or NULL: see plm_replay_private */
    uint32_t *emptied;   /* moments at which recorded segments went, ascending */
    size_t empties, next_empty;
    uint32_t moment;
    size_t next_segment; /* of the lane, in the order they were taken */
    uint64_t mapped;     /* expandable: bytes that were mapped at this moment */
    size_t next_mark;    /* of the lane's convolutions */
    bool *fallen;        /* per shape of a convolution: its plan is now one without a workspace */
};

static bool is_native(const struct plm_lane_segment *s)
{
    return s->kind == PLM_RECORD_MALLOC || s->kind == PLM_RECORD_VMM;
}

/* Of the allocator that is replayed. */
static bool is_cached(const struct work *w, const struct plm_lane_segment *s)
{
    return w->options->settings.async ? s->kind == PLM_RECORD_POOL : is_native(s);
}

/* With cudaMallocAsync all segments are chunks of a pool; beside others they belong to a pool of the program's own. */
static bool has_native(const struct plm_lane *lane)
{
    for (size_t i = 0; i < lane->segments; i++)
        if (is_native(&lane->segment[i]))
            return true;
    return false;
}

/* The next segment that PyTorch took at this moment of the record; NULL if there is none. Those that went before there
   was a block are what came of an attempt that failed. */
static const struct plm_lane_segment *segment_recorded(struct work *w, bool take)
{
    const struct plm_lane *lane = w->lane;
    const struct plm_lane_segment *s;

    while (w->next_segment < lane->segments) {
        s = &lane->segment[w->next_segment];
        if (s->alloc_at > w->moment)
            return NULL;
        if (is_cached(w, s) && s->alloc_at == w->moment && s->free_at != s->alloc_at) {
            w->next_segment += take;
            return s;
        }
        w->next_segment++;
    }
    return NULL;
}

static void differs(struct work *w, const char *what, uint64_t replayed, uint64_t before)
{
    if (!w->replay->as_recorded)
        return;
    w->replay->as_recorded = false;
    w->replay->differs_at = w->moment;
    snprintf(w->replay->difference, sizeof w->replay->difference, "moment %u: %s %" PRIu64 ", in the record %" PRIu64,
             w->moment, what, replayed, before);
}

static uint64_t segment_place(void *context, uint64_t size)
{
    struct work *w = context;
    const struct plm_lane_segment *s = w->options->recorded_addresses ? segment_recorded(w, false) : NULL;
    return s && s->kind != PLM_RECORD_VMM && s->bytes == size ? s->address : 0;
}

static void segment_visit(enum plm_segment_action action, uint64_t address, uint64_t size, uint64_t stream,
                          void *context)
{
    struct work *w = context;
    const struct plm_lane_segment *s;

    (void)address;
    (void)stream;
    if (action == PLM_SEGMENT_MAP)
        w->mapped += size;
    if (action != PLM_SEGMENT_ALLOC || !(w->options->compare || w->options->recorded_addresses))
        return;
    s = segment_recorded(w, true);
    if (!s || s->bytes != size)
        differs(w, "a segment of", size, s ? s->bytes : 0);
}

/* After a moment: segments of the record that the replay did not take. The pages of a mapping are one event each. */
static void compare_rest(struct work *w)
{
    const struct plm_lane_segment *s;
    uint64_t bytes = 0;
    while ((s = segment_recorded(w, true)) != NULL)
        bytes += s->bytes;
    if (bytes != w->mapped)
        differs(w, "segments or pages of", w->mapped, bytes);
    w->mapped = 0;
}

static int allocate_block(struct work *w, const struct plm_block *block, uint64_t *address)
{
    uint64_t pool = w->private && w->private[block - w->lane->block] ? PRIVATE_POOL : 0;
    int status = 0;

    if (pool && (status = plm_allocator_pool_begin(w->a, pool)) != 0)
        return status;
    status = plm_allocator_malloc(w->a, block->asked ? block->asked : block->bytes, block->stream, pool, address);
    if (pool)
        plm_allocator_pool_end(w->a, pool);
    if (status == 0 && w->options->compare && w->options->recorded_addresses && !w->options->settings.expandable &&
        *address != block->address)
        differs(w, "a block at", *address, block->address);
    return status;
}

/* The convolution whose workspace is taken at this moment; NULL if it is none's. */
static const struct plm_job_conv_mark *workspace_mark(struct work *w, uint32_t index)
{
    const struct plm_job_conv_marks *marks = w->lane->convolutions;
    while (marks && w->next_mark < marks->count && marks->mark[w->next_mark].at <= w->moment)
        w->next_mark++;
    if (!marks || w->next_mark == marks->count || marks->mark[w->next_mark].at != w->moment + 1 ||
        marks->mark[w->next_mark].block != index)
        return NULL;
    return &marks->mark[w->next_mark];
}

/* A workspace that cannot be had is no end: the attempt has emptied the cache, PyTorch goes on with a plan that needs
   none and keeps that for this convolution. */
static int allocate(struct work *w, uint32_t index, uint64_t *address)
{
    const struct plm_job_conv_mark *mark = workspace_mark(w, index);
    int status;

    *address = 0; /* nothing, which can be freed */
    if (mark && w->fallen[mark->shape])
        return 0;
    status = allocate_block(w, &w->lane->block[index], address);
    if (!mark || status != PLM_ALLOCATOR_OOM)
        return status;
    w->fallen[mark->shape] = true;
    w->replay->fallbacks++;
    return 0;
}

static int replay_moment(struct work *w)
{
    uint32_t entry = w->lane->order[w->moment], index = entry >> 1;
    int status;

    while (w->next_empty < w->empties && w->emptied[w->next_empty] <= w->moment) {
        plm_allocator_empty_cache(w->a);
        w->next_empty++;
    }
    if (entry & 1)
        status = plm_allocator_free(w->a, w->address[index]);
    else
        status = allocate(w, index, &w->address[index]);
    if (w->options->compare && status == 0)
        compare_rest(w);
    w->replay->events++;
    return status;
}

static int by_moment(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The record does not have empty_cache(), but the segments that went with it. */
static void find_empties(struct work *w)
{
    const struct plm_lane *lane = w->lane;
    bool native = has_native(lane);
    size_t count = 0;

    w->emptied = plm_calloc(lane->segments, sizeof *w->emptied);
    w->address = plm_calloc(lane->blocks, sizeof *w->address);
    for (size_t i = 0; i < lane->segments; i++)
        if ((native ? is_native(&lane->segment[i]) : lane->segment[i].kind == PLM_RECORD_POOL) &&
            lane->segment[i].free_at < lane->moments)
            w->emptied[count++] = lane->segment[i].free_at;
    qsort(w->emptied, count, sizeof *w->emptied, by_moment);
    for (size_t i = 0; i < count; i++)
        if (!w->empties || w->emptied[w->empties - 1] != w->emptied[i])
            w->emptied[w->empties++] = w->emptied[i];
}

static int replay_run(struct work *w, struct plm_error *error)
{
    int status = 0;
    for (w->moment = 0; w->moment < w->lane->moments && status == 0; w->moment++)
        status = replay_moment(w);
    if (status == PLM_ALLOCATOR_OOM) {
        w->replay->completed = false;
        w->replay->at = w->moment - 1;
        w->replay->oom = *plm_allocator_oom(w->a);
        status = 0;
    }
    w->replay->stats = *plm_allocator_stats(w->a);
    if (status)
        return plm_fail(error, PLM_EFORMAT, "Moment %u cannot be replayed: %s.", w->moment - 1,
                        plm_allocator_error_name(status));
    return 0;
}

int plm_replay_settings(const struct plm_summary *job, struct plm_replay_options *options)
{
    const char *torch = plm_summary_config(job, "torch"), *allocator = plm_summary_config(job, "allocator");
    options->torch = plm_torch_version(torch ? torch : "");
    if (allocator && !strcmp(allocator, "default"))
        allocator = NULL;
    return plm_allocator_settings_parse(allocator, options->torch, &options->settings, NULL);
}

/* Per shape of a convolution. */
static bool *shapes_fallen(const struct plm_job_conv_marks *marks, bool without_guessed)
{
    bool *fallen = plm_calloc(marks ? marks->shapes : 0, sizeof *fallen);
    for (size_t i = 0; marks && without_guessed && i < marks->count; i++)
        fallen[marks->mark[i].shape] |= marks->mark[i].guessed;
    return fallen;
}

int plm_replay_lane(const struct plm_lane *lane, const struct plm_replay_options *options, struct plm_replay *replay,
                    struct plm_error *error)
{
    struct work w = {.lane = lane, .options = options, .replay = replay};
    struct plm_allocator_options o = {.torch = options->torch,
                                      .settings = options->settings,
                                      .capacity = options->capacity,
                                      .total = options->total,
                                      .place = segment_place,
                                      .visit = segment_visit,
                                      .context = &w};
    int status;

    *replay = (struct plm_replay){.completed = true, .as_recorded = options->compare};
    find_empties(&w);
    w.private = plm_replay_private(lane);
    w.fallen = shapes_fallen(lane->convolutions, options->without_guessed);
    status = plm_allocator_new(&o, &w.a);
    if (status)
        plm_fail(error, status, "The replay cannot start: %s.", plm_allocator_error_name(status));
    else
        status = replay_run(&w, error);
    plm_allocator_delete(w.a);
    free(w.private);
    free(w.fallen);
    free(w.emptied);
    free(w.address);
    return status;
}

uint64_t plm_replay_least(const struct plm_lane *lane)
{
    bool *workspace = plm_calloc(lane->blocks, sizeof *workspace);
    uint64_t now = 0, most = 0;
    for (size_t i = 0; lane->convolutions && i < lane->convolutions->count; i++)
        if (lane->convolutions->mark[i].block != PLM_CONV_NO_BLOCK)
            workspace[lane->convolutions->mark[i].block] = true;
    for (size_t i = 0; i < lane->moments; i++) {
        const struct plm_block *b = &lane->block[lane->order[i] >> 1];
        uint64_t bytes = b->asked ? (b->asked + 511) & ~511ull : b->bytes;
        if (workspace[lane->order[i] >> 1])
            continue;
        now = lane->order[i] & 1 ? now - bytes : now + bytes;
        most = now > most ? now : most;
    }
    free(workspace);
    return most;
}
