/* What the allocator held before the history begins: what it held at the end, with the history undone. */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/unpickle.h"
#include "import/trace.h"

/* Pages of expandable segments that all events together may be about. */
#define PAGES_MOST (1ull << 26)

struct work {
    const struct plm_unpickled *p;
    const struct plm_trace *trace;
    struct plm_trace_device *d;
    struct plm_map segment;     /* address -> bytes */
    struct plm_map page;        /* of expandable segments; value 0 */
    struct plm_map seen;        /* addresses that the history hands out or takes back */
    uint64_t pages;
    struct plm_error *error;
};

static int no_memory(const struct work *w)
{
    return plm_fail(w->error, PLM_ENOMEM, "out of memory");
}

static uint64_t number(const struct work *w, uint32_t dict, const char *key)
{
    uint64_t value = 0;
    plm_unpickle_unsigned(w->p, plm_unpickle_find(w->p, dict, key), &value);
    return value;
}

static int set_pages(struct work *w, uint64_t address, uint64_t bytes, bool there)
{
    for (uint64_t at = 0; at < bytes; at += PLM_HEAP_PAGE) {
        if (++w->pages > PAGES_MOST)
            return plm_fail(w->error, PLM_EFORMAT, "this snapshot is about more memory than there can be");
        if (!there)
            plm_map_remove(&w->page, address + at);
        else if (plm_map_put(&w->page, address + at, 0))
            return no_memory(w);
    }
    return 0;
}

/* ---- segments ---- */

static bool mine(const struct work *w, uint32_t segment)
{
    return plm_unpickle_type(w->p, segment) == PLM_PICKLED_DICT && number(w, segment, "device") == w->d->number;
}

static int end_segment(struct work *w, uint32_t segment)
{
    uint64_t address = number(w, segment, "address"), bytes = number(w, segment, "total_size");
    if (bytes > 1ull << 48 || address > UINT64_MAX - bytes)
        return plm_fail(w->error, PLM_EFORMAT, "a segment of %llu bytes cannot be", (unsigned long long)bytes);
    w->d->end_reserved += bytes;
    w->d->end_allocated += number(w, segment, "allocated_size");
    if (number(w, segment, "is_expandable"))
        return set_pages(w, address, bytes, true);
    return plm_map_put(&w->segment, address, bytes) ? no_memory(w) : 0;
}

static int undo(struct work *w, const struct plm_trace_event *e)
{
    switch ((enum plm_trace_action)e->action) {
    case PLM_TRACE_SEGMENT_ALLOC: plm_map_remove(&w->segment, e->address); return 0;
    case PLM_TRACE_SEGMENT_FREE: return plm_map_put(&w->segment, e->address, e->bytes) ? no_memory(w) : 0;
    case PLM_TRACE_SEGMENT_MAP: return set_pages(w, e->address, e->bytes, false);
    case PLM_TRACE_SEGMENT_UNMAP: return set_pages(w, e->address, e->bytes, true);
    default: return 0;
    }
}

static int add_range(struct work *w, uint64_t address, uint64_t bytes, bool expandable)
{
    struct plm_trace_range *more = plm_grow(w->d->range, w->d->ranges, &w->d->range_room, sizeof *more);
    if (!more)
        return no_memory(w);
    w->d->range = more;
    w->d->range[w->d->ranges++] = (struct plm_trace_range){address, bytes, expandable};
    return 0;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct plm_trace_range *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* Pages that follow each other are one range. */
static void join_ranges(struct plm_trace_device *d)
{
    size_t kept = 0;
    if (!d->ranges)
        return;
    qsort(d->range, d->ranges, sizeof d->range[0], compare_ranges);
    for (size_t i = 1; i < d->ranges; i++) {
        struct plm_trace_range *last = &d->range[kept];
        if (last->expandable && d->range[i].expandable && last->address + last->bytes == d->range[i].address)
            last->bytes += d->range[i].bytes;
        else
            d->range[++kept] = d->range[i];
    }
    d->ranges = kept + 1;
}

static int find_ranges(struct work *w)
{
    int status = 0;
    for (size_t i = w->d->events; i-- > 0 && status == 0;)
        status = undo(w, &w->d->event[i]);
    for (size_t i = 0; i < w->segment.slots && status == 0; i++)
        if (w->segment.slot[i].value != PLM_MAP_NONE)
            status = add_range(w, w->segment.slot[i].key, w->segment.slot[i].value, false);
    for (size_t i = 0; i < w->page.slots && status == 0; i++)
        if (w->page.slot[i].value != PLM_MAP_NONE)
            status = add_range(w, w->page.slot[i].key, PLM_HEAP_PAGE, true);
    join_ranges(w->d);
    return status;
}

/* ---- blocks ---- */

static int add_block(struct work *w, struct plm_trace_block block)
{
    struct plm_trace_block *more = plm_grow(w->d->block, w->d->blocks, &w->d->block_room, sizeof *more);
    if (!more)
        return no_memory(w);
    w->d->block = more;
    w->d->block[w->d->blocks++] = block;
    return 0;
}

/* What is taken back without having been handed out was there. Its size is what was asked for, rounded. */
static int find_freed(struct work *w)
{
    int status = 0;
    for (size_t i = 0; i < w->d->events && status == 0; i++) {
        const struct plm_trace_event *e = &w->d->event[i];
        if (e->action > PLM_TRACE_FREE_COMPLETED || plm_map_get(&w->seen, e->address) != PLM_MAP_NONE)
            continue;
        if (plm_map_put(&w->seen, e->address, 0))
            return no_memory(w);
        if (e->action != PLM_TRACE_ALLOC)
            status = add_block(w, (struct plm_trace_block){e->address, plm_heap_round(&w->trace->settings, e->bytes),
                                                           e->stream, PLM_PICKLED_ABSENT, e->captured});
    }
    return status;
}

/* What is there at the end and does not occur in the history was there all the time. */
static int find_kept(struct work *w, uint32_t segment)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(w->p, plm_unpickle_find(w->p, segment, "blocks"));
    uint64_t at = number(w, segment, "address");
    int status = 0;
    for (uint32_t b; status == 0 && (b = plm_unpickle_next(w->p, &walk)) != PLM_PICKLED_ABSENT;) {
        uint64_t address = number(w, b, "address"), bytes = number(w, b, "size");
        if (!address)
            address = at; /* before 2.1 only the order of the blocks tells */
        at = address + bytes;
        if (plm_unpickle_is(w->p, plm_unpickle_find(w->p, b, "state"), "active_allocated") && bytes <= 1ull << 48 &&
            plm_map_get(&w->seen, address) == PLM_MAP_NONE)
            status = add_block(w, (struct plm_trace_block){address, bytes, number(w, segment, "stream"),
                                                           plm_unpickle_find(w->p, b, "frames"), false});
    }
    return status;
}

static int compare_blocks(const void *a, const void *b)
{
    const struct plm_trace_block *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

int plm_trace_start(const struct plm_unpickled *p, uint32_t segments, const struct plm_trace *trace,
                    struct plm_trace_device *d, struct plm_error *error)
{
    struct work w = {.p = p, .trace = trace, .d = d, .error = error};
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, segments);
    int status = find_freed(&w);
    for (uint32_t s; status == 0 && (s = plm_unpickle_next(p, &walk)) != PLM_PICKLED_ABSENT;)
        if (mine(&w, s)) {
            status = end_segment(&w, s);
            if (status == 0)
                status = find_kept(&w, s);
        }
    if (status == 0)
        status = find_ranges(&w);
    if (d->blocks)
        qsort(d->block, d->blocks, sizeof d->block[0], compare_blocks);
    plm_map_free(&w.segment);
    plm_map_free(&w.page);
    plm_map_free(&w.seen);
    return status;
}
