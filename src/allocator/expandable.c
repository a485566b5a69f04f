#include "allocator/internal.h"
#include "base/memory.h"

/*
 * Expandable segments: a range of addresses, mapped in pages of 2 MiB (small pool) or of a large segment's size as far
 * as it is needed. A block lies in one range.
 */

/* As large as the card and an eighth more, or what the settings say if that is less; in whole pages. */
static uint64_t range_size(const struct plm_allocator *a, uint64_t page)
{
    const struct plm_allocator_settings *s = &a->options.settings;
    uint64_t size = a->driver.total + a->driver.total / 8;
    double wanted = s->reserve * (s->reserve_gib ? (double)(1ull << 30) : (double)a->driver.total);

    if (wanted > 0 && wanted < (double)size)
        size = (uint64_t)wanted;
    return (size + page - 1) / page * page;
}

static uint64_t page_size(const struct plm_allocator *a, const struct plm_cell_pool *pool)
{
    return pool->small ? PLM_SMALL_SEGMENT : a->options.settings.large_segment;
}

static bool place_has_room(const struct plm_cell *cell, uint64_t size)
{
    uint64_t bytes = 0;
    for (; bytes < size && cell && plm_cell_is_idle(cell); cell = cell->next)
        bytes += cell->size;
    return bytes >= size;
}

struct plm_expandable *plm_expandable_add(struct plm_allocator *a, struct plm_expandable range)
{
    struct plm_expandable *added = plm_calloc(1, sizeof *added);
    *added = range;
    added->next = a->ranges;
    if (a->ranges)
        a->ranges->prev = added;
    a->ranges = added;
    return added;
}

static struct plm_cell *range_take(struct plm_allocator *a, const struct plm_request *r)
{
    uint64_t page = page_size(a, r->pool), size = range_size(a, page);
    uint64_t age = plm_segment_age(a), base = plm_driver_range(&a->driver, size);
    struct plm_expandable *range;
    struct plm_cell *cell;

    if (!base)
        return NULL;
    range = plm_expandable_add(a, (struct plm_expandable){.base = base, .size = size, .page = page, .age = age});
    cell = plm_cell_take(a, r->pool, r->stream, range->base, size);
    cell->mapped = false;
    cell->range = range;
    cell->age = range->age;
    plm_cells_insert(&r->pool->unmapped, cell);
    return cell;
}

/* The lowest place of the pool and stream where a block fits, made of free and of unmapped cells. */
static struct plm_cell *place_find(struct plm_allocator *a, const struct plm_request *r)
{
    struct plm_cell *at = plm_cells_from(&r->pool->unmapped, r->stream, 0, 0), *start;
    for (; at && at->stream == r->stream; at = plm_cells_next(at)) {
        start = at->prev && plm_cell_is_idle(at->prev) ? at->prev : at;
        if (place_has_room(start, r->size))
            return start;
    }
    return range_take(a, r);
}

/* Maps at least `size` bytes of an unmapped cell from its start, in whole pages. */
static bool cell_map(struct plm_allocator *a, struct plm_cell *cell, uint64_t size)
{
    struct plm_expandable *range = cell->range;
    struct plm_cell_pool *pool = cell->pool;
    uint64_t bytes = (size + range->page - 1) / range->page * range->page, address = cell->address;
    struct plm_cell *rest;

    if (!plm_driver_charge(&a->driver, bytes))
        return false;
    plm_cells_remove(&pool->unmapped, cell);
    cell->mapped = true;
    if (bytes < cell->size) {
        rest = plm_cell_take(a, pool, cell->stream, address + bytes, cell->size - bytes);
        rest->mapped = false;
        rest->range = range;
        rest->age = range->age;
        plm_cell_splice(rest, cell, cell->next);
        plm_cells_insert(&pool->unmapped, rest);
        cell->size = bytes;
    }
    plm_cell_merge(a, cell, cell->prev);
    plm_cell_merge(a, cell, cell->next);
    plm_cell_cache(cell);
    a->held += bytes;
    plm_stats_up(a, pool, PLM_STAT_RESERVED_BYTES, bytes);
    plm_segment_report(a, PLM_SEGMENT_MAP, address, bytes, cell->stream);
    return true;
}

static uint64_t bytes_least(uint64_t x, uint64_t y)
{
    return x < y ? x : y;
}

struct plm_cell *plm_expandable_take(struct plm_allocator *a, const struct plm_request *r)
{
    struct plm_cell *cell = r->size <= range_size(a, page_size(a, r->pool)) ? place_find(a, r) : NULL;

    if (!cell || (!cell->mapped && !cell_map(a, cell, bytes_least(cell->size, r->size))))
        return NULL;
    while (cell->size < r->size) { /* free, then unmapped: what is mapped joins the free cell */
        struct plm_cell *more = cell->next;
        if (!cell_map(a, more, bytes_least(r->size - cell->size, more->size)))
            return NULL;
        cell = more;
    }
    plm_cells_remove(&r->pool->free, cell);
    return cell;
}

static void range_drop(struct plm_allocator *a, struct plm_cell *cell)
{
    struct plm_expandable *range = cell->range;
    plm_cells_remove(&cell->pool->unmapped, cell);
    plm_driver_give(&a->driver, range->base, range->size);
    if (range->prev)
        range->prev->next = range->next;
    else
        a->ranges = range->next;
    if (range->next)
        range->next->prev = range->prev;
    free(range);
    plm_cell_drop(a, cell);
}

/* What is left of a free cell beside its whole pages stays mapped and free. */
static void cell_keep_edge(struct plm_allocator *a, struct plm_cell *cell, bool before, uint64_t address, uint64_t size)
{
    struct plm_cell *edge;
    if (!size)
        return;
    edge = plm_cell_take(a, cell->pool, cell->stream, address, size);
    edge->range = cell->range;
    edge->age = cell->age;
    if (before)
        plm_cell_splice(edge, cell->prev, cell);
    else
        plm_cell_splice(edge, cell, cell->next);
    plm_cell_cache(edge);
}

uint64_t plm_cell_pages(const struct plm_cell *cell, uint64_t *from)
{
    const struct plm_expandable *range = cell->range;
    uint64_t to = (cell->address + cell->size - range->base) / range->page * range->page + range->base;
    *from = (cell->address - range->base + range->page - 1) / range->page * range->page + range->base;
    return *from < to ? to - *from : 0;
}

void plm_expandable_unmap(struct plm_allocator *a, struct plm_cell *cell)
{
    struct plm_cell_pool *pool = cell->pool;
    uint64_t from, size = plm_cell_pages(cell, &from), to = from + size, end = cell->address + cell->size;

    if (!size)
        return;
    plm_cells_remove(&pool->free, cell);
    cell_keep_edge(a, cell, true, cell->address, from - cell->address);
    cell_keep_edge(a, cell, false, to, end - to);
    cell->address = from;
    cell->size = size;
    cell->mapped = false;
    plm_cell_merge(a, cell, cell->prev);
    plm_cell_merge(a, cell, cell->next);
    plm_cells_insert(&pool->unmapped, cell);
    a->held -= size;
    plm_driver_discharge(&a->driver, size);
    plm_stats_down(a, pool, PLM_STAT_RESERVED_BYTES, size);
    if (pool->owner && pool->owner->segments)
        pool->owner->segments--;
    plm_segment_report(a, PLM_SEGMENT_UNMAP, from, size, cell->stream);
    if (!plm_cell_is_split(cell))
        range_drop(a, cell);
}
