#include "allocator/allocator.h"

#include "allocator/internal.h"
#include "common/error.h"
#include "base/memory.h"
#include "torch/facts.h"

#ifdef PLM_CHECKED
#include <assert.h>
#define CHECK(a) assert(plm_allocator_is_valid(a))
#else
#define CHECK(a) ((void)0)
#endif

const char *plm_allocator_error_name(int code)
{
    switch (code) {
    case 0: return "no error";
    case PLM_ALLOCATOR_OOM: return "out of memory";
    case PLM_ALLOCATOR_ADDRESS: return "no live block at this address";
    case PLM_ALLOCATOR_POOL: return "the private pool is in the wrong state";
    case PLM_ALLOCATOR_UNMODELLED: return "not modelled: depends on the captured graph's nodes";
    case PLM_ALLOCATOR_CAPTURE: return "not allowed during a capture";
    case PLM_EINVAL: return "bad argument";
    default: return "unknown error";
    }
}

const char *plm_allocator_stat_name(enum plm_allocator_stat stat)
{
    static const char *const names[PLM_STATS] = {
        [PLM_STAT_ALLOCATION] = "allocation",
        [PLM_STAT_SEGMENT] = "segment",
        [PLM_STAT_ACTIVE] = "active",
        [PLM_STAT_INACTIVE_SPLIT] = "inactive_split",
        [PLM_STAT_ALLOCATED_BYTES] = "allocated_bytes",
        [PLM_STAT_RESERVED_BYTES] = "reserved_bytes",
        [PLM_STAT_ACTIVE_BYTES] = "active_bytes",
        [PLM_STAT_INACTIVE_SPLIT_BYTES] = "inactive_split_bytes",
        [PLM_STAT_REQUESTED_BYTES] = "requested_bytes",
    };
    return names[stat];
}

static void pool_init(struct plm_cell_pool *pool, bool small, struct plm_private *owner)
{
    *pool = (struct plm_cell_pool){.small = small, .owner = owner, .unmapped.by_address = true};
}

int plm_allocator_new(const struct plm_allocator_options *options, struct plm_allocator **out)
{
    struct plm_allocator *a;

    *out = NULL;
    if (options->settings.large_segment < PLM_LARGE_LEAST)
        return PLM_EINVAL;
    a = plm_calloc(1, sizeof *a);
    a->options = *options;
    plm_driver_init(&a->driver, options->capacity, options->total);
    a->driver.place = options->place;
    a->driver.context = options->context;
    pool_init(&a->small, true, NULL);
    pool_init(&a->large, false, NULL);
    if (options->settings.fraction >= 0 && !options->settings.async) /* PyTorch does not tell that back end */
        plm_allocator_set_fraction(a, options->settings.fraction);
    *out = a;
    return 0;
}

void plm_allocator_delete(struct plm_allocator *a)
{
    struct plm_private *pool;
    struct plm_expandable *range;

    if (!a)
        return;
    plm_cells_delete(a);
    plm_events_delete(a);
    plm_map_free(&a->live);
    plm_driver_free(&a->driver);
    while ((range = a->ranges) != NULL) {
        a->ranges = range->next;
        free(range);
    }
    while ((pool = a->privates) != NULL) {
        a->privates = pool->next;
        free(pool);
    }
    free(a);
}

/* ---- allocating ---- */

struct plm_private *plm_private_find(const struct plm_allocator *a, uint64_t id)
{
    struct plm_private *p = a->privates;
    while (p && p->id != id)
        p = p->next;
    return p;
}

static uint64_t cell_can_grow_to(const struct plm_cell *cell)
{
    return cell->size + (cell->next && !cell->next->mapped ? cell->next->size : 0);
}

/* The end of an expandable segment counts with what it can grow to, so a larger cell may fit better. */
static struct plm_cell *cell_prefer_fixed(struct plm_cell *cell)
{
    struct plm_cell *next = plm_cells_next(cell);
    while (cell->range && next && next->stream == cell->stream && cell_can_grow_to(next) < cell_can_grow_to(cell)) {
        cell = next;
        next = plm_cells_next(cell);
    }
    return cell;
}

static struct plm_cell *cell_best_fit(struct plm_allocator *a, const struct plm_request *r)
{
    const struct plm_allocator_settings *s = &a->options.settings;
    struct plm_cell *cell;

    r->pool->searches += a->limited && s->gc_threshold > 0;
    cell = plm_cells_from(&r->pool->free, r->stream, r->size, 0);
    if (!cell || cell->stream != r->stream)
        return NULL;
    if (cell->range)
        cell = cell_prefer_fixed(cell);
    if (r->size < s->max_split_size && cell->size >= s->max_split_size)
        return NULL;
    if (r->size >= s->max_split_size && cell->size >= r->size + s->max_non_split_rounding)
        return NULL;
    plm_cells_remove(&r->pool->free, cell);
    return cell;
}

/* The front of the cell becomes a block; what remains is cached. */
static struct plm_cell *cell_split(struct plm_allocator *a, struct plm_cell *rest, uint64_t size)
{
    bool was_split = plm_cell_is_split(rest);
    struct plm_cell *cell = plm_cell_take(a, rest->pool, rest->stream, rest->address, size);

    cell->range = rest->range;
    cell->age = rest->age;
    plm_cell_splice(cell, rest->prev, rest);
    rest->address += size;
    rest->size -= size;
    plm_cell_cache(rest);
    if (rest->range)
        return cell;
    if (was_split) {
        plm_stats_down(a, rest->pool, PLM_STAT_INACTIVE_SPLIT_BYTES, size);
    } else {
        plm_stats_up(a, rest->pool, PLM_STAT_INACTIVE_SPLIT_BYTES, rest->size);
        plm_stats_up(a, rest->pool, PLM_STAT_INACTIVE_SPLIT, 1);
    }
    return cell;
}

static struct plm_cell *cell_hand_out(struct plm_allocator *a, struct plm_cell *cell, uint64_t size, uint64_t requested)
{
    if (plm_allocator_size_splits(&a->options.settings, cell->pool->small, size, cell->size - size)) {
        cell = cell_split(a, cell, size);
    } else if (plm_cell_is_split(cell) && !cell->range) {
        plm_stats_down(a, cell->pool, PLM_STAT_INACTIVE_SPLIT_BYTES, cell->size);
        plm_stats_down(a, cell->pool, PLM_STAT_INACTIVE_SPLIT, 1);
    }
    plm_cell_allocate(a, cell, requested);
    return cell;
}

static uint64_t pool_cached_bytes(const struct plm_cell_pool *pool)
{
    uint64_t bytes = 0;
    for (struct plm_cell *at = plm_cells_first(&pool->free); at; at = plm_cells_next(at))
        bytes += at->size;
    return bytes;
}

int plm_allocator_refuse(struct plm_allocator *a, uint64_t tried, uint64_t allocated)
{
    uint64_t room = a->driver.capacity < a->driver.total ? a->driver.capacity : a->driver.total;

    a->oom = (struct plm_allocator_oom){
        .tried = tried,
        .total = a->driver.total,
        .free = room > a->driver.used ? room - a->driver.used : 0,
        .allowed = a->limited ? a->allowed : 0,
        .allocated = allocated,
        .reserved = a->held,
    };
    for (struct plm_private *p = a->privates; p; p = p->next)
        a->oom.private_pools += pool_cached_bytes(&p->small) + pool_cached_bytes(&p->large);
    return PLM_ALLOCATOR_OOM;
}

/* From the cache, from the card, from the card after oversize segments or the whole cache went back. */
static int cell_find(struct plm_allocator *a, const struct plm_request *r, struct plm_cell **cell)
{
    *cell = cell_best_fit(a, r);
    if (*cell)
        return 0;
    if (a->limited && a->options.settings.gc_threshold > 0)
        plm_segments_collect(a);
    if (plm_segment_take(a, r, false, cell))
        return 0;
    if (plm_segments_release_enough(a, r) && plm_segment_take(a, r, false, cell))
        return 0;
    if (!a->captures) {
        plm_segments_release_all(a);
        if (plm_segment_take(a, r, true, cell))
            return 0;
    }
    a->stats.num_ooms++;
    return plm_allocator_refuse(a, r->segment, a->stats.stat[PLM_STAT_ALLOCATED_BYTES][PLM_STAT_ALL].current);
}

static int request_make(struct plm_allocator *a, uint64_t size, uint64_t stream, uint64_t pool, struct plm_request *r)
{
    struct plm_private *p = NULL;

    if (pool && (!(p = plm_private_find(a, pool)) || !p->capturing))
        return PLM_ALLOCATOR_POOL;
    r->size = plm_allocator_size_round(&a->options.settings, size);
    r->segment = plm_allocator_size_segment(&a->options.settings, r->size);
    r->stream = stream;
    if (r->size <= PLM_SMALL_MOST)
        r->pool = p ? &p->small : &a->small;
    else
        r->pool = p ? &p->large : &a->large;
    return 0;
}

int plm_allocator_malloc(struct plm_allocator *a, uint64_t size, uint64_t stream, uint64_t pool, uint64_t *address)
{
    struct plm_request r;
    struct plm_cell *cell;
    int status;

    *address = 0;
    if (!size)
        return 0;
    if (size >= PLM_SIZE_LIMIT) {
        a->oom = (struct plm_allocator_oom){.tried = size};
        return PLM_ALLOCATOR_OOM;
    }
    status = request_make(a, size, stream, pool, &r);
    if (status == 0 && a->options.settings.async) {
        status = plm_async_malloc(a, size, stream, address);
        CHECK(a);
        return status;
    }
    if (status)
        return status;
    if (!a->captures)
        plm_events_poll(a);
    status = cell_find(a, &r, &cell);
    if (status == 0) {
        cell = cell_hand_out(a, cell, r.size, size);
        *address = cell->address;
    }
    CHECK(a);
    return status;
}

struct plm_cell *plm_cell_live(const struct plm_allocator *a, uint64_t address)
{
    uint64_t value = plm_map_get(&a->live, address);
    return value == PLM_MAP_NONE ? NULL : (struct plm_cell *)(uintptr_t)value;
}

int plm_allocator_free(struct plm_allocator *a, uint64_t address)
{
    uint64_t value;
    struct plm_cell *cell;

    if (!address)
        return 0;
    if (a->captures && a->options.settings.capture_reuse && (cell = plm_cell_live(a, address)) != NULL &&
        plm_cell_used(cell))
        return PLM_ALLOCATOR_UNMODELLED;
    value = plm_map_remove(&a->live, address);
    if (value == PLM_MAP_NONE)
        return PLM_ALLOCATOR_ADDRESS;
    cell = (struct plm_cell *)(uintptr_t)value;
    if (a->options.settings.async) {
        plm_async_free(a, cell);
        CHECK(a);
        return 0;
    }
    cell->allocated = false;
    plm_stats_down(a, cell->pool, PLM_STAT_ALLOCATION, 1);
    plm_stats_down(a, cell->pool, PLM_STAT_ALLOCATED_BYTES, cell->size);
    if (cell->size >= a->options.settings.max_split_size)
        plm_stat_down(&a->stats.oversize_allocations, 1);
    if (plm_cell_used(cell))
        plm_events_free(a, cell);
    else
        plm_cell_release(a, cell);
    CHECK(a);
    return 0;
}

int plm_allocator_record_stream(struct plm_allocator *a, uint64_t address, uint64_t stream)
{
    struct plm_cell *cell = plm_cell_live(a, address);
    if (!cell)
        return PLM_ALLOCATOR_ADDRESS;
    if (!a->options.settings.async)
        plm_events_use(a, cell, stream);
    return 0;
}

int plm_allocator_empty_cache(struct plm_allocator *a)
{
    if (a->captures)
        return PLM_ALLOCATOR_CAPTURE;
    if (a->options.settings.async)
        plm_async_trim(a);
    else
        plm_segments_release_all(a);
    CHECK(a);
    return 0;
}

int plm_allocator_set_fraction(struct plm_allocator *a, double fraction)
{
    if (!(fraction >= 0 && fraction <= 1))
        return PLM_EINVAL;
    a->allowed = (uint64_t)(fraction * (double)a->driver.total);
    /* All of the card is no limit, which matters to garbage collection; cudaMallocAsync and some releases do not see it
       like that. */
    a->limited =
        fraction < 1 || plm_torch_rule(a->options.torch, PLM_TORCH_WHOLE_IS_LIMIT) || a->options.settings.async;
    return 0;
}

/* ---- private pools ---- */

int plm_allocator_pool_begin(struct plm_allocator *a, uint64_t id)
{
    struct plm_private *p = plm_private_find(a, id), **link = &a->privates;

    if (!id || (p && (p->capturing || !p->users)))
        return PLM_ALLOCATOR_POOL;
    if (a->captures && a->options.settings.async) /* allows one at a time */
        return PLM_ALLOCATOR_CAPTURE;
    if (!p) {
        p = plm_calloc(1, sizeof *p);
        p->id = id;
        pool_init(&p->small, true, p);
        pool_init(&p->large, false, p);
        while (*link && (*link)->id < id)
            link = &(*link)->next;
        p->next = *link;
        *link = p;
    }
    p->users++;
    p->capturing = true;
    a->captures++;
    return 0;
}

int plm_allocator_pool_end(struct plm_allocator *a, uint64_t id)
{
    struct plm_private *p = plm_private_find(a, id);
    if (!p || !p->capturing)
        return PLM_ALLOCATOR_POOL;
    p->capturing = false;
    a->captures--;
    return 0;
}

int plm_allocator_pool_release(struct plm_allocator *a, uint64_t id)
{
    struct plm_private *p = plm_private_find(a, id), **link = &a->privates;
    if (!p || !p->users || p->capturing)
        return PLM_ALLOCATOR_POOL;
    p->users--;
    if (!p->users && a->options.settings.async) { /* its memory is that of the one pool */
        while (*link != p)
            link = &(*link)->next;
        *link = p->next;
        free(p);
    }
    return 0;
}

const struct plm_allocator_stats *plm_allocator_stats(const struct plm_allocator *a)
{
    return &a->stats;
}

const struct plm_allocator_oom *plm_allocator_oom(const struct plm_allocator *a)
{
    return &a->oom;
}
