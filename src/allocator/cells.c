#include "allocator/internal.h"
#include "base/memory.h"

struct cell_key {
    uint64_t stream, size, age, address;
};

static bool cell_before_address(const struct plm_treap_node *member, const void *key)
{
    const struct plm_cell *a = (const struct plm_cell *)(const void *)member;
    const struct cell_key *b = key;
    return a->stream != b->stream ? a->stream < b->stream : a->address < b->address;
}

static bool cell_before(const struct plm_treap_node *member, const void *key)
{
    const struct plm_cell *a = (const struct plm_cell *)(const void *)member;
    const struct cell_key *b = key;
    if (a->stream != b->stream)
        return a->stream < b->stream;
    if (a->size != b->size)
        return a->size < b->size;
    if (a->age != b->age)
        return a->age < b->age;
    return a->address < b->address;
}

void plm_cells_insert(struct plm_cells *t, struct plm_cell *cell)
{
    const struct cell_key key = {cell->stream, cell->size, cell->age, cell->address};
    if (t->by_address)
        plm_treap_insert(&t->set, &cell->node, cell_before_address, &key);
    else
        plm_treap_insert(&t->set, &cell->node, cell_before, &key);
}

struct plm_cell *plm_cells_from(const struct plm_cells *t, uint64_t stream, uint64_t size, uint64_t address)
{
    const struct cell_key key = {stream, size, 0, address};
    return plm_cell_of(t->by_address ? plm_treap_from(&t->set, cell_before_address, &key)
                                     : plm_treap_from(&t->set, cell_before, &key));
}

enum { SLAB_CELLS = 256 };

struct slab {
    struct slab *next;
    struct plm_cell cell[SLAB_CELLS];
};

static void slab_add(struct plm_allocator *a)
{
    struct slab *slab = plm_calloc(1, sizeof *slab);
    slab->next = a->slabs;
    a->slabs = slab;
    for (size_t i = SLAB_CELLS; i-- > 0;) {
        slab->cell[i].next = a->spare;
        a->spare = &slab->cell[i];
    }
}

struct plm_cell *plm_cell_take(struct plm_allocator *a, struct plm_cell_pool *pool, uint64_t stream, uint64_t address,
                               uint64_t size)
{
    struct plm_cell *cell;
    if (!a->spare)
        slab_add(a);
    cell = a->spare;
    a->spare = cell->next;
    *cell = (struct plm_cell){.address = address, .size = size, .stream = stream, .pool = pool, .mapped = true};
    return cell;
}

static void cell_forget_uses(struct plm_cell *cell)
{
    if (cell->uses)
        free(cell->uses->stream);
    free(cell->uses);
    cell->uses = NULL;
}

void plm_cells_delete(struct plm_allocator *a)
{
    struct slab *slab, *next;
    for (slab = a->slabs; slab; slab = next) {
        next = slab->next;
        for (int i = 0; i < SLAB_CELLS; i++)
            cell_forget_uses(&slab->cell[i]);
        free(slab);
    }
}

void plm_cell_drop(struct plm_allocator *a, struct plm_cell *cell)
{
    cell_forget_uses(cell);
    cell->next = a->spare;
    a->spare = cell;
}

void plm_cell_splice(struct plm_cell *cell, struct plm_cell *before, struct plm_cell *after)
{
    cell->prev = before;
    cell->next = after;
    if (before)
        before->next = cell;
    if (after)
        after->prev = cell;
}

void plm_cell_cache(struct plm_cell *cell)
{
    cell->born = cell->pool->searches;
    plm_cells_insert(&cell->pool->free, cell);
}

uint64_t plm_cell_merge(struct plm_allocator *a, struct plm_cell *cell, struct plm_cell *neighbour)
{
    uint64_t size;

    if (!neighbour || !plm_cell_is_idle(neighbour) || cell->mapped != neighbour->mapped)
        return 0;
    plm_cells_remove(neighbour->mapped ? &cell->pool->free : &cell->pool->unmapped, neighbour);
    if (cell->prev == neighbour) {
        cell->address = neighbour->address;
        cell->prev = neighbour->prev;
        if (cell->prev)
            cell->prev->next = cell;
    } else {
        cell->next = neighbour->next;
        if (cell->next)
            cell->next->prev = cell;
    }
    size = neighbour->size;
    cell->size += size;
    plm_cell_drop(a, neighbour);
    return size;
}

/* The change of a statistic that may go either way counts as one. */
static void stats_change(struct plm_allocator *a, const struct plm_cell_pool *pool, enum plm_allocator_stat which,
                         int64_t amount)
{
    if (amount > 0)
        plm_stats_up(a, pool, which, (uint64_t)amount);
    else if (amount < 0)
        plm_stats_down(a, pool, which, (uint64_t)-amount);
}

void plm_cell_allocate(struct plm_allocator *a, struct plm_cell *cell, uint64_t requested)
{
    cell->allocated = true;
    cell->requested = requested;
    plm_stats_up(a, cell->pool, PLM_STAT_ALLOCATION, 1);
    plm_stats_up(a, cell->pool, PLM_STAT_ALLOCATED_BYTES, cell->size);
    plm_stats_up(a, cell->pool, PLM_STAT_ACTIVE, 1);
    plm_stats_up(a, cell->pool, PLM_STAT_ACTIVE_BYTES, cell->size);
    plm_stats_up(a, cell->pool, PLM_STAT_REQUESTED_BYTES, requested);
    if (cell->size >= a->options.settings.max_split_size)
        plm_stat_up(&a->stats.oversize_allocations, 1);
    plm_map_put(&a->live, cell->address, (uintptr_t)cell);
}

void plm_cell_release(struct plm_allocator *a, struct plm_cell *cell)
{
    struct plm_cell *neighbour[2] = {cell->prev, cell->next};
    struct plm_cell_pool *pool = cell->pool;
    uint64_t size = cell->size, merged;
    int64_t blocks = 0, bytes = 0;

    cell_forget_uses(cell);
    for (int i = 0; i < 2; i++) {
        merged = plm_cell_merge(a, cell, neighbour[i]);
        blocks -= merged != 0;
        bytes -= (int64_t)merged;
    }
    plm_cell_cache(cell);
    if (plm_cell_is_split(cell)) {
        blocks++;
        bytes += (int64_t)cell->size;
    }
    if (!cell->range) { /* pages of expandable segments can always be given back: they do not count as split */
        stats_change(a, pool, PLM_STAT_INACTIVE_SPLIT, blocks);
        stats_change(a, pool, PLM_STAT_INACTIVE_SPLIT_BYTES, bytes);
    }
    plm_stats_down(a, pool, PLM_STAT_ACTIVE, 1);
    plm_stats_down(a, pool, PLM_STAT_ACTIVE_BYTES, size);
    plm_stats_down(a, pool, PLM_STAT_REQUESTED_BYTES, cell->requested);
}
