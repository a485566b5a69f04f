#include "allocator/internal.h"

/*
 * The walker behind plm_allocator_is_valid. Every cell is live, waits for events, or is in a set; from those without
 * a left neighbour the segments are walked.
 */

struct sums {
    uint64_t cells, mapped, allocated, active, split, split_bytes, segments;
};

/* A head of a segment: all cells from here on. */
static bool cells_walk(const struct plm_cell *cell, struct sums *sums)
{
    if (cell->prev)
        return true;
    sums->segments += !cell->range;
    for (; cell; cell = cell->next) {
        const struct plm_cell *next = cell->next;
        bool idle = plm_cell_is_idle(cell);
        if (!cell->size || (cell->size % PLM_BLOCK_LEAST) || (!cell->mapped && (!cell->range || !idle)))
            return false;
        if (next && (next->prev != cell || cell->address + cell->size != next->address || next->pool != cell->pool ||
                     next->range != cell->range))
            return false;
        if (next && idle && cell->mapped == next->mapped && plm_cell_is_idle(next))
            return false; /* two that should have been joined */
        sums->cells++;
        sums->mapped += cell->mapped ? cell->size : 0;
        sums->allocated += cell->allocated ? cell->size : 0;
        sums->active += idle ? 0 : cell->size;
        if (idle && !cell->range && plm_cell_is_split(cell)) {
            sums->split++;
            sums->split_bytes += cell->size;
        }
    }
    return true;
}

static bool in_order(const struct plm_cells *set, const struct plm_cell *x, const struct plm_cell *y)
{
    if (x->stream != y->stream)
        return x->stream < y->stream;
    if (!set->by_address && x->size != y->size)
        return x->size < y->size;
    if (!set->by_address && x->age != y->age)
        return x->age < y->age;
    return x->address < y->address;
}

static bool walk_set(const struct plm_cells *set, const struct plm_cell_pool *pool, bool mapped, struct sums *sums,
                     uint64_t *members)
{
    const struct plm_cell *before = NULL, *at;
    size_t count = 0;
    for (at = plm_cells_first(set); at; before = at, at = plm_cells_next(at), count++) {
        const bool ordered = !before || in_order(set, before, at);
        if (!ordered || at->pool != pool || at->mapped != mapped || at->allocated || at->events)
            return false;
        const struct plm_treap_node *node = &at->node;
        for (int side = 0; side < 2; side++)
            if (node->child[side] && node->child[side]->up != node)
                return false;
        if (!cells_walk(at, sums))
            return false;
    }
    *members += count;
    return count == set->set.count;
}

static bool walk_pool(const struct plm_cell_pool *pool, struct sums *sums, uint64_t *members)
{
    return walk_set(&pool->free, pool, true, sums, members) && walk_set(&pool->unmapped, pool, false, sums, members);
}

static bool walk_waiting(const struct plm_allocator *a, struct sums *sums, uint64_t *members)
{
    for (size_t i = 0; i < a->queues; i++)
        for (size_t k = 0; k < a->queue[i].count; k++) {
            const struct plm_cell *cell = a->queue[i].cell[k];
            bool first = true; /* a cell may wait in several queues, in each once */
            for (size_t j = 0; j < i && first; j++)
                for (size_t m = 0; m < a->queue[j].count && first; m++)
                    first = a->queue[j].cell[m] != cell;
            if (cell->allocated || !cell->events || (first && !cells_walk(cell, sums)))
                return false;
            *members += first;
        }
    for (size_t i = 0; i < a->deferreds; i++) {
        if (!a->deferred[i]->deferred || !cells_walk(a->deferred[i], sums))
            return false;
        ++*members;
    }
    return true;
}

bool plm_allocator_is_valid(const struct plm_allocator *a)
{
    const struct plm_stat(*stat)[PLM_STAT_POOLS] = a->stats.stat;
    struct sums sums = {0};
    uint64_t members = 0;

    if (!walk_pool(&a->small, &sums, &members) || !walk_pool(&a->large, &sums, &members))
        return false;
    for (const struct plm_private *p = a->privates; p; p = p->next)
        if (!walk_pool(&p->small, &sums, &members) || !walk_pool(&p->large, &sums, &members))
            return false;
    for (size_t i = 0; i < a->live.slots; i++) {
        const struct plm_cell *cell = (const struct plm_cell *)(uintptr_t)a->live.slot[i].value;
        if (a->live.slot[i].value == PLM_MAP_NONE)
            continue;
        if (cell->address != a->live.slot[i].key || !cell->allocated || !cells_walk(cell, &sums))
            return false;
        members++;
    }
    if (!walk_waiting(a, &sums, &members) || members != sums.cells)
        return false;
    if (sums.mapped != a->held || a->held != stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].current ||
        a->held > a->driver.used || a->driver.used > a->driver.capacity ||
        sums.active != stat[PLM_STAT_ACTIVE_BYTES][PLM_STAT_ALL].current)
        return false;
    if (a->options.settings.async) /* the pool knows no more */
        return sums.active == stat[PLM_STAT_ALLOCATED_BYTES][PLM_STAT_ALL].current;
    for (int i = 0; i < PLM_STATS; i++)
        if (stat[i][PLM_STAT_ALL].current != stat[i][PLM_STAT_SMALL].current + stat[i][PLM_STAT_LARGE].current)
            return false;
    return sums.allocated == stat[PLM_STAT_ALLOCATED_BYTES][PLM_STAT_ALL].current &&
           sums.segments == stat[PLM_STAT_SEGMENT][PLM_STAT_ALL].current &&
           sums.split == stat[PLM_STAT_INACTIVE_SPLIT][PLM_STAT_ALL].current &&
           sums.split_bytes == stat[PLM_STAT_INACTIVE_SPLIT_BYTES][PLM_STAT_ALL].current &&
           a->live.count == stat[PLM_STAT_ALLOCATION][PLM_STAT_ALL].current;
}
