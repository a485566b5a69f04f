#include "allocator/internal.h"
#include "common/error.h"

/* ---- what was there ---- */

static int pool_make(struct plm_allocator *a, uint64_t id, bool small, struct plm_cell_pool **pool)
{
    struct plm_private *p;
    int status;
    if (!id) {
        *pool = small ? &a->small : &a->large;
        return 0;
    }
    if (!plm_private_find(a, id)) {
        if ((status = plm_allocator_pool_begin(a, id)) != 0)
            return status;
        plm_allocator_pool_end(a, id);
    }
    p = plm_private_find(a, id);
    *pool = small ? &p->small : &p->large;
    return 0;
}

static bool segment_is_whole(const struct plm_allocator_segment *s, uint64_t page)
{
    uint64_t at = s->address, left = s->size;
    for (size_t i = 0; i < s->parts; i++) {
        const struct plm_allocator_part *part = &s->part[i];
        uint64_t gap = part->address - at;
        if (part->address < at || !part->size || part->size % PLM_BLOCK_LEAST || gap % PLM_BLOCK_LEAST || gap > left ||
            part->size > left - gap)
            return false;
        if (part->hole && (!s->expandable || part->size % page || (part->address - s->address) % page))
            return false;
        at = part->address + part->size;
        left -= gap + part->size;
    }
    return s->size && s->size % (s->expandable ? page : PLM_BLOCK_LEAST) == 0 && s->size < PLM_DRIVER_END &&
           s->address && s->address < PLM_DRIVER_END - s->size;
}

/* Links a new cell behind the last one. `part` NULL: it is free. */
static void cell_add(struct plm_allocator *a, struct plm_cell **last, struct plm_cell *cell,
                     const struct plm_allocator_part *part)
{
    struct plm_cell_pool *pool = cell->pool;
    plm_cell_splice(cell, *last, NULL);
    *last = cell;
    if (!part) {
        plm_cell_cache(cell);
    } else if (part->hole) {
        cell->mapped = false;
        plm_cells_insert(&pool->unmapped, cell);
        return;
    } else {
        plm_cell_allocate(a, cell, cell->size);
    }
    a->held += cell->size;
    a->driver.used += cell->range ? cell->size : 0; /* a fixed segment is charged as one */
    plm_stats_up(a, pool, PLM_STAT_RESERVED_BYTES, cell->size);
}

static void cells_add(struct plm_allocator *a, const struct plm_allocator_segment *s, struct plm_cell_pool *pool,
                      struct plm_expandable *range)
{
    uint64_t at = s->address, age = range ? range->age : plm_segment_age(a);
    struct plm_cell *last = NULL, *cell;
    for (size_t i = 0; i <= s->parts; i++) {
        const struct plm_allocator_part *part = i < s->parts ? &s->part[i] : NULL;
        uint64_t gap = (part ? part->address : s->address + s->size) - at;
        for (int k = !gap; k <= (part != NULL); k++) {
            cell = plm_cell_take(a, pool, s->stream, k ? part->address : at, k ? part->size : gap);
            cell->range = range;
            cell->age = age;
            cell_add(a, &last, cell, k ? part : NULL);
        }
        at = part ? part->address + part->size : at;
    }
    for (cell = last; cell && !range; cell = cell->prev)
        if (!cell->allocated && plm_cell_is_split(cell)) {
            plm_stats_up(a, pool, PLM_STAT_INACTIVE_SPLIT, 1);
            plm_stats_up(a, pool, PLM_STAT_INACTIVE_SPLIT_BYTES, cell->size);
        }
}

static int take_addresses(struct plm_allocator *a, const struct plm_allocator_segment *s)
{
    if (!s->expandable && !plm_driver_charge(&a->driver, s->size))
        return PLM_EINVAL;
    if (plm_driver_at(&a->driver, s->address, s->size))
        return 0;
    if (!s->expandable)
        plm_driver_discharge(&a->driver, s->size);
    return PLM_EINVAL;
}

int plm_allocator_seed(struct plm_allocator *a, const struct plm_allocator_segment *s)
{
    uint64_t page = s->small ? PLM_SMALL_SEGMENT : a->options.settings.large_segment;
    struct plm_expandable *range = NULL;
    struct plm_cell_pool *pool;
    int status = segment_is_whole(s, page) ? pool_make(a, s->pool, s->small, &pool) : PLM_EINVAL;
    if (status == 0)
        status = take_addresses(a, s);
    if (status)
        return status;
    if (s->expandable) {
        range = plm_expandable_add(
            a, (struct plm_expandable){.base = s->address, .size = s->size, .page = page, .age = plm_segment_age(a)});
    } else {
        plm_stats_up(a, pool, PLM_STAT_SEGMENT, 1);
        if (s->size >= a->options.settings.max_split_size)
            plm_stat_up(&a->stats.oversize_segments, 1);
    }
    if (pool->owner)
        pool->owner->segments++;
    cells_add(a, s, pool, range);
    return 0;
}

/* ---- what goes back ---- */

static struct plm_cell *cell_find_in(const struct plm_cell_pool *pool, uint64_t address, uint64_t size, uint64_t stream,
                                     uint64_t *steps)
{
    struct plm_cell *at = plm_cells_from(&pool->free, stream, size, 0);
    uint64_t from;
    for (; at && at->stream == stream; at = plm_cells_next(at)) {
        ++*steps;
        if (at->range ? plm_cell_pages(at, &from) == size && from == address
                      : at->address == address && at->size == size && !plm_cell_is_split(at))
            return at;
    }
    return NULL;
}

static struct plm_cell *cell_find_cached(const struct plm_allocator *a, uint64_t address, uint64_t size,
                                         uint64_t stream, uint64_t *steps)
{
    struct plm_cell *cell = cell_find_in(&a->large, address, size, stream, steps);
    if (!cell)
        cell = cell_find_in(&a->small, address, size, stream, steps);
    for (const struct plm_private *p = a->privates; p && !cell; p = p->next) {
        cell = cell_find_in(&p->large, address, size, stream, steps);
        if (!cell)
            cell = cell_find_in(&p->small, address, size, stream, steps);
    }
    return cell;
}

int plm_allocator_give_back(struct plm_allocator *a, uint64_t address, uint64_t size, uint64_t stream, uint64_t *steps)
{
    struct plm_cell *cell = cell_find_cached(a, address, size, stream, steps);
    if (!cell)
        return PLM_ALLOCATOR_ADDRESS;
    if (cell->range)
        plm_expandable_unmap(a, cell);
    else
        plm_segment_release(a, cell);
    return 0;
}

static bool pool_gives_back(const struct plm_cell_pool *pool, uint64_t *address, uint64_t *size)
{
    for (const struct plm_cell *at = plm_cells_first(&pool->free); at; at = plm_cells_next(at)) {
        *address = at->address;
        *size = at->range ? plm_cell_pages(at, address) : plm_cell_is_split(at) ? 0 : at->size;
        if (*size)
            return true;
    }
    return false;
}

bool plm_allocator_gives_back(const struct plm_allocator *a, uint64_t *address, uint64_t *size)
{
    return pool_gives_back(&a->large, address, size) || pool_gives_back(&a->small, address, size);
}

uint64_t plm_allocator_room(const struct plm_allocator *a, uint64_t address)
{
    const struct plm_cell *cell = plm_cell_live(a, address);
    uint64_t behind = cell && cell->next && !cell->next->allocated && cell->next->mapped ? cell->next->size : 0;
    return cell ? cell->size + behind : 0;
}
