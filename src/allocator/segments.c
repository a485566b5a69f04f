#include "allocator/internal.h"
#include "base/memory.h"
#include "torch/facts.h"

void plm_segment_report(struct plm_allocator *a, enum plm_segment_action action, uint64_t address, uint64_t size,
                        uint64_t stream)
{
    if (action == PLM_SEGMENT_ALLOC || action == PLM_SEGMENT_MAP)
        a->stats.num_device_alloc++;
    else
        a->stats.num_device_free++;
    if (a->options.visit)
        a->options.visit(action, address, size, stream, a->options.context);
}

uint64_t plm_segment_age(struct plm_allocator *a)
{
    return plm_torch_rule(a->options.torch, PLM_TORCH_BY_AGE) ? ++a->segments : 0;
}

static struct plm_cell *segment_take_whole(struct plm_allocator *a, const struct plm_request *r)
{
    uint64_t address = plm_driver_take(&a->driver, r->segment);
    struct plm_cell *cell;

    if (!address)
        return NULL;
    cell = plm_cell_take(a, r->pool, r->stream, address, r->segment);
    cell->age = plm_segment_age(a);
    a->held += r->segment;
    plm_stats_up(a, r->pool, PLM_STAT_SEGMENT, 1);
    plm_stats_up(a, r->pool, PLM_STAT_RESERVED_BYTES, r->segment);
    if (r->segment >= a->options.settings.max_split_size)
        plm_stat_up(&a->stats.oversize_segments, 1);
    plm_segment_report(a, PLM_SEGMENT_ALLOC, address, r->segment, r->stream);
    return cell;
}

bool plm_segment_take(struct plm_allocator *a, const struct plm_request *r, bool retry, struct plm_cell **cell)
{
    a->stats.num_alloc_retries += retry;
    if (a->limited && (a->held > a->allowed || r->segment > a->allowed - a->held))
        return false;
    *cell = a->options.settings.expandable ? plm_expandable_take(a, r) : segment_take_whole(a, r);
    if (*cell && r->pool->owner)
        r->pool->owner->segments++;
    return *cell != NULL;
}

void plm_segment_release(struct plm_allocator *a, struct plm_cell *cell)
{
    struct plm_cell_pool *pool = cell->pool;

    plm_segment_report(a, PLM_SEGMENT_FREE, cell->address, cell->size, cell->stream);
    plm_driver_return(&a->driver, cell->address, cell->size);
    a->held -= cell->size;
    if (pool->owner)
        pool->owner->segments--;
    plm_stats_down(a, pool, PLM_STAT_SEGMENT, 1);
    plm_stats_down(a, pool, PLM_STAT_RESERVED_BYTES, cell->size);
    if (cell->size >= a->options.settings.max_split_size)
        plm_stat_down(&a->stats.oversize_segments, 1);
    plm_cells_remove(&pool->free, cell);
    plm_cell_drop(a, cell);
}

static bool segment_is_releasable(const struct plm_cell *cell)
{
    return !cell->range && !plm_cell_is_split(cell);
}

/* With max_split_size: one oversize segment that is large enough, or several from the largest on. */
bool plm_segments_release_enough(struct plm_allocator *a, const struct plm_request *r)
{
    uint64_t most = a->options.settings.max_split_size, wanted = r->size < most ? most : r->size, released = 0;
    struct plm_cells *set = &r->pool->free;
    struct plm_cell *at, *before;

    if (most == UINT64_MAX)
        return false;
    at = plm_cells_from(set, r->stream, wanted, 0);
    if (at && at->stream == r->stream && segment_is_releasable(at)) {
        plm_segment_release(a, at);
        return true;
    }
    for (at = at ? plm_cells_before(at) : plm_cell_of(plm_treap_last(&set->set)); at && released < wanted;
         at = before) {
        if (at->size < most || at->stream != r->stream)
            break;
        before = plm_cells_before(at);
        if (segment_is_releasable(at)) {
            released += at->size;
            plm_segment_release(a, at);
        }
    }
    return released >= wanted;
}

/* Unmapping changes the set that is walked, so those cells are gathered first. */
static void pool_release(struct plm_allocator *a, struct plm_cell_pool *pool)
{
    struct plm_cell *at, *next, **unmap = plm_calloc(pool->free.set.count, sizeof *unmap);
    size_t count = 0;

    for (at = plm_cells_first(&pool->free); at; at = next) {
        next = plm_cells_next(at);
        if (at->range)
            unmap[count++] = at;
        else if (segment_is_releasable(at))
            plm_segment_release(a, at);
    }
    for (size_t i = 0; i < count; i++)
        plm_expandable_unmap(a, unmap[i]);
    free(unmap);
}

void plm_segments_release_all(struct plm_allocator *a)
{
    struct plm_private **link = &a->privates, *p;

    plm_events_wait(a);
    pool_release(a, &a->large);
    pool_release(a, &a->small);
    while ((p = *link) != NULL) {
        if (p->users == 0) {
            pool_release(a, &p->small);
            pool_release(a, &p->large);
        }
        if (p->users || p->segments) {
            link = &p->next;
        } else {
            *link = p->next;
            free(p);
        }
    }
}

/* Cached segments that were not used for longer than the average go, until the threshold is kept. */
void plm_segments_collect(struct plm_allocator *a)
{
    uint64_t threshold = (uint64_t)(a->options.settings.gc_threshold * (double)a->allowed), reclaimed = 0, age = 0;
    uint64_t target, count = 0;
    struct plm_cells *set = &a->large.free;
    struct plm_cell *at, *next;
    bool freed = true;

    if (a->held <= threshold)
        return;
    target = a->held - threshold;
    for (at = plm_cells_first(set); at; at = plm_cells_next(at)) {
        if (plm_cell_is_split(at))
            continue;
        age += a->large.searches - at->born;
        count++;
    }
    while (reclaimed < target && freed && count) {
        double limit = (double)age / (double)count;
        freed = false;
        for (at = plm_cells_first(set); at; at = next) {
            next = plm_cells_next(at);
            if (!segment_is_releasable(at) || (double)(a->large.searches - at->born) < limit)
                continue;
            freed = true;
            reclaimed += at->size;
            age -= a->large.searches - at->born;
            count--;
            plm_segment_release(a, at);
        }
    }
}
