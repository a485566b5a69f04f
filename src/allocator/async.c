#include "allocator/internal.h"
#include "base/memory.h"
#include "torch/facts.h"

/*
 * The cudaMallocAsync back end. PyTorch keeps next to nothing itself: every block is an allocation of the driver's
 * pool, and the statistics are the pool's attributes. The pool below is that of the virtual device (src/device/pool.c):
 * chunks of multiples of 32 MiB, best fit over all of them, the newest chunk first among equals. Nothing is given back
 * before empty_cache(), or before the card is full: then PyTorch 2.15 trims the pool and tries once more.
 *
 * All work is complete at once there, so the pool may reuse a freed block for any stream, and record_stream changes
 * nothing. A block from before a capture that is freed in it stays in use until the first allocation after it.
 */

static const uint64_t chunk_unit = 32ull << 20;

/* These statistics have a current value and a peak, for all memory together; PyTorch leaves the others at 0. */
static void stats_show(struct plm_allocator *a, enum plm_allocator_stat which, uint64_t current)
{
    struct plm_stat *s = &a->stats.stat[which][PLM_STAT_ALL];
    s->current = current;
    s->peak = current > s->peak ? current : s->peak;
}

static void stats_show_used(struct plm_allocator *a, uint64_t used)
{
    stats_show(a, PLM_STAT_ALLOCATED_BYTES, used);
    stats_show(a, PLM_STAT_ACTIVE_BYTES, used);
}

static uint64_t bytes_used(const struct plm_allocator *a)
{
    return a->stats.stat[PLM_STAT_ALLOCATED_BYTES][PLM_STAT_ALL].current;
}

static void chunk_report(struct plm_allocator *a, enum plm_segment_action action, const struct plm_cell *cell,
                         uint64_t stream)
{
    stats_show(a, PLM_STAT_RESERVED_BYTES, a->held);
    if (a->options.visit)
        a->options.visit(action, cell->address, cell->size, stream, a->options.context);
}

/* The set of free cells orders by size, age, address: the age of newer chunks is the smaller one. */
static struct plm_cell *chunk_take(struct plm_allocator *a, uint64_t size, uint64_t stream)
{
    uint64_t bytes = (size + chunk_unit - 1) / chunk_unit * chunk_unit, address = plm_driver_take(&a->driver, bytes);
    struct plm_cell *cell;

    if (!address)
        return NULL;
    cell = plm_cell_take(a, &a->large, 0, address, bytes);
    cell->age = UINT64_MAX - ++a->segments;
    a->held += bytes;
    chunk_report(a, PLM_SEGMENT_ALLOC, cell, stream);
    return cell;
}

/* The front of the cell becomes the block; the rest is free. */
static void chunk_cut(struct plm_allocator *a, struct plm_cell *cell, uint64_t size)
{
    struct plm_cell *rest;

    if (cell->size == size)
        return;
    rest = plm_cell_take(a, &a->large, 0, cell->address + size, cell->size - size);
    rest->age = cell->age;
    plm_cell_splice(rest, cell, cell->next);
    cell->size = size;
    plm_cell_cache(rest);
}

static void block_release(struct plm_allocator *a, struct plm_cell *cell)
{
    a->requested -= cell->requested;
    stats_show_used(a, bytes_used(a) - cell->size);
    cell->allocated = cell->deferred = false;
    plm_cell_merge(a, cell, cell->next);
    plm_cell_merge(a, cell, cell->prev);
    plm_cell_cache(cell);
}

static void blocks_release_deferred(struct plm_allocator *a)
{
    for (size_t i = 0; i < a->deferreds; i++)
        block_release(a, a->deferred[i]);
    a->deferreds = 0;
}

static int newest_first(const void *a, const void *b)
{
    uint64_t x = (*(struct plm_cell *const *)a)->age, y = (*(struct plm_cell *const *)b)->age;
    return (x > y) - (x < y);
}

/* Chunks that hold nothing go back to the card. */
void plm_async_trim(struct plm_allocator *a)
{
    struct plm_cells *set = &a->large.free;
    struct plm_cell **chunk;
    size_t count = 0;

    chunk = plm_calloc(set->set.count, sizeof(struct plm_cell *));
    for (struct plm_cell *at = plm_cells_first(set); at; at = plm_cells_next(at))
        if (!plm_cell_is_split(at))
            chunk[count++] = at;
    if (count)
        qsort(chunk, count, sizeof(struct plm_cell *), newest_first);
    for (size_t i = 0; i < count; i++) {
        a->held -= chunk[i]->size;
        chunk_report(a, PLM_SEGMENT_FREE, chunk[i], 0);
        plm_driver_return(&a->driver, chunk[i]->address, chunk[i]->size);
        plm_cells_remove(set, chunk[i]);
        plm_cell_drop(a, chunk[i]);
    }
    free(chunk);
}

/* The memory fraction counts the bytes that were asked for, not what the pool made of them. */
int plm_async_malloc(struct plm_allocator *a, uint64_t size, uint64_t stream, uint64_t *address)
{
    uint64_t rounded = (size + PLM_BLOCK_LEAST - 1) / PLM_BLOCK_LEAST * PLM_BLOCK_LEAST;
    struct plm_cell *cell;

    if (!a->captures)
        blocks_release_deferred(a);
    if (a->limited && (a->requested > a->allowed || size > a->allowed - a->requested))
        return plm_allocator_refuse(a, size, a->requested);
    cell = plm_cells_from(&a->large.free, 0, rounded, 0);
    if (cell)
        plm_cells_remove(&a->large.free, cell);
    else
        cell = chunk_take(a, rounded, stream);
    if (!cell && plm_torch_rule(a->options.torch, PLM_TORCH_TRIMS) && !a->captures) {
        plm_async_trim(a);
        cell = chunk_take(a, rounded, stream);
    }
    if (!cell)
        return plm_allocator_refuse(a, size, a->requested);
    chunk_cut(a, cell, rounded);
    cell->allocated = true;
    cell->requested = size;
    cell->captured = a->captures != 0;
    a->requested += size;
    stats_show_used(a, bytes_used(a) + rounded);
    plm_map_put(&a->live, cell->address, (uintptr_t)cell);
    *address = cell->address;
    return 0;
}

void plm_async_free(struct plm_allocator *a, struct plm_cell *cell)
{
    if (!a->captures || cell->captured) {
        block_release(a, cell);
        return;
    }
    cell->allocated = false;
    plm_events_defer(a, cell);
}
