#include "analysis/layout.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/memory.h"
#include "base/search.h"

#define PAGE        (2ull << 20)
#define SMALL_BLOCK (1ull << 20)
#define NOBODY      UINT32_MAX
#define FAR         (1ull << 62) /* no address of a device is so large, nor is a size; sums of two do not overflow */

/* An operation on the card's memory. */
struct operation {
    uint64_t ns;
    uint32_t at, segment;
    bool free;
};

struct work {
    const struct plm_lane *lane;
    struct plm_layout *layout;
    struct operation *operation;
    size_t operations;
    bool *used;                       /* per segment of the lane: the allocator's */
    uint32_t *stream;                 /* per segment of the lane */
    /* With mapped memory: the live blocks, linked. [blocks] is the head. */
    uint32_t *next, *previous;
    uint64_t to_map, page;            /* bytes mapped since the last event of the lane, in pieces of `page` */
    uint64_t last_ns;
    bool unmapped;                    /* since the last event of the lane */
};

/* ---- the sorted segments ---- */

/* The number of segments that begin at or before the address. */
static size_t rank_of(const struct plm_layout *l, uint64_t address)
{
    return PLM_SEARCH(i, l->segments, l->segment[i].address <= address);
}

static struct plm_layout_segment *segment_of(const struct plm_layout *l, uint64_t address)
{
    size_t rank = rank_of(l, address);
    struct plm_layout_segment *s = rank ? &l->segment[rank - 1] : NULL;
    return s && address - s->address < s->bytes ? s : NULL;
}

static struct plm_layout_segment *segment_insert(struct work *w, size_t rank, struct plm_layout_segment s)
{
    struct plm_layout *l = w->layout;
    l->segment = plm_grow(l->segment, l->segments, &l->segment_room, sizeof *l->segment);
    memmove(&l->segment[rank + 1], &l->segment[rank], (l->segments - rank) * sizeof *l->segment);
    l->segment[rank] = s;
    l->segments++;
    return &l->segment[rank];
}

static void segment_erase(struct plm_layout *l, size_t rank)
{
    l->segments--;
    memmove(&l->segment[rank], &l->segment[rank + 1], (l->segments - rank) * sizeof *l->segment);
}

static uint32_t stream_of(const struct plm_block *b)
{
    return b->stream == PLM_STREAM_UNKNOWN ? 0 : b->stream;
}

/* The stream is that of the segment's first block, which is not known when it is allocated: sift() adds it. */
static void event_note(struct work *w, enum plm_layout_action action, uint32_t at, const struct plm_layout_segment *s,
                       uint64_t address, uint64_t bytes)
{
    struct plm_layout *l = w->layout;
    l->event = plm_grow(l->event, l->events, &l->event_room, sizeof *l->event);
    l->event[l->events++] = (struct plm_layout_event){action, at, s->segment, s->stream, address, bytes, w->last_ns};
}

/* ---- allocations of the card's memory ---- */

static void segment_take(struct work *w, uint32_t at, uint32_t number)
{
    const struct plm_lane_segment *s = &w->lane->segment[number];
    struct plm_layout_segment *added;
    size_t rank = rank_of(w->layout, s->address);
    if (!s->bytes || s->bytes > FAR || s->address > FAR || (rank && segment_of(w->layout, s->address)) ||
        (rank < w->layout->segments && w->layout->segment[rank].address < s->address + s->bytes))
        return; /* a damaged record: in what is there already */
    added = segment_insert(w, rank,
                           (struct plm_layout_segment){.address = s->address, .bytes = s->bytes, .segment = number});
    event_note(w, PLM_LAYOUT_ALLOC, at, added, s->address, s->bytes);
}

static void segment_give_back(struct work *w, uint32_t at, uint32_t number)
{
    const struct plm_lane_segment *s = &w->lane->segment[number];
    size_t rank = rank_of(w->layout, s->address);
    if (!rank || w->layout->segment[rank - 1].segment != number)
        return;
    event_note(w, PLM_LAYOUT_FREE, at, &w->layout->segment[rank - 1], s->address, s->bytes);
    segment_erase(w->layout, rank - 1);
}

static void operation_apply(struct work *w, const struct operation *o, uint32_t at)
{
    const struct plm_lane_segment *s = &w->lane->segment[o->segment];
    w->last_ns = o->ns;
    if (s->kind == PLM_RECORD_VMM && o->free)
        w->unmapped = true;
    else if (s->kind == PLM_RECORD_VMM && s->bytes && s->bytes <= FAR && w->to_map <= FAR) {
        w->to_map += s->bytes;
        w->page = s->bytes;
    } else if (s->kind == PLM_RECORD_VMM || s->kind == PLM_RECORD_LIBRARY)
        return;
    else if (o->free)
        segment_give_back(w, at, o->segment);
    else
        segment_take(w, at, o->segment);
}

/* ---- mapped memory ---- */

static uint64_t end_of(const struct plm_layout_segment *s)
{
    return s->address + s->bytes;
}

/* Two ranges that touch are one segment, unless they are of different reservations. */
static bool belong_together(const struct plm_layout_segment *s, const struct plm_layout_segment *next)
{
    return s->segment == PLM_LAYOUT_MAPPED && next->segment == PLM_LAYOUT_MAPPED && end_of(s) == next->address &&
           s->page == next->page && s->stream == next->stream && (next->origin - s->origin) % s->page == 0;
}

/* Maps behind the range of that rank, over what is mapped there, until all new memory is used and the block
   covered. PyTorch maps one hole after the other, too. */
static void range_extend(struct work *w, uint32_t at, size_t rank, uint64_t block_end)
{
    struct plm_layout *l = w->layout;
    for (;;) {
        struct plm_layout_segment *s = &l->segment[rank], *next = rank + 1 < l->segments ? s + 1 : NULL;
        const uint64_t end = end_of(s), room = (next ? next->address : 2 * FAR) - end;
        uint64_t more = w->to_map;
        if (next && belong_together(s, next)) {
            s->bytes += next->bytes;
            segment_erase(l, rank + 1);
            continue;
        }
        if (!more && end < block_end)
            more = ((block_end - end - 1) / s->page + 1) * s->page;
        more = more < room ? more : room;
        if (!more)
            break;
        event_note(w, PLM_LAYOUT_MAP, at, s, end, more);
        s->bytes += more;
        w->to_map -= more < w->to_map ? more : w->to_map;
    }
    w->to_map = 0;
}

/* Maps what the block needs: the range that it begins in, or at the end of, grows. */
static struct plm_layout_segment *map_for(struct work *w, uint32_t at, const struct plm_block *b)
{
    struct plm_layout *l = w->layout;
    size_t rank = rank_of(l, b->address);
    const struct plm_layout_segment *s = rank ? &l->segment[rank - 1] : NULL;
    if (!b->bytes || b->bytes > FAR || b->address > FAR)
        return segment_of(l, b->address); /* a damaged record */
    if (!s || s->segment != PLM_LAYOUT_MAPPED || b->address - s->address > s->bytes) {
        uint64_t start = b->address & ~(PAGE - 1);
        if (s && start < end_of(s))
            start = end_of(s);
        segment_insert(w, rank,
                       (struct plm_layout_segment){.address = start,
                                                   .segment = PLM_LAYOUT_MAPPED,
                                                   .stream = stream_of(b),
                                                   .origin = start,
                                                   .page = w->page});
        rank++;
    }
    range_extend(w, at, rank - 1, b->address + b->bytes);
    if (!l->segment[rank - 1].bytes)
        segment_erase(l, rank - 1); /* there was no room */
    return segment_of(l, b->address);
}

static const struct plm_block **live_blocks(struct work *w, size_t *count)
{
    const uint32_t head = (uint32_t)w->lane->blocks;
    const struct plm_block **block;
    size_t n = 0;
    for (uint32_t i = w->next[head]; i != head; i = w->next[i])
        n++;
    block = plm_calloc(n, sizeof *block);
    *count = 0;
    for (uint32_t i = w->next[head]; i != head; i = w->next[i])
        block[(*count)++] = &w->lane->block[i];
    qsort(block, n, sizeof *block, plm_block_by_address);
    return block;
}

/* What a range keeps: the pages that a block is in. Adds them as segments; the rest is noted as unmapped. */
static void keep_pages(struct work *w, uint32_t at, const struct plm_layout_segment *s,
                       const struct plm_block *const *block, size_t count)
{
    uint64_t from = s->address; /* decided up to here */
    const uint64_t end = end_of(s);
    struct plm_layout_segment piece = *s;
    piece.bytes = 0;
    for (size_t i = 0; i < count && from < end; i++) {
        uint64_t start, stop;
        if (block[i]->bytes > FAR || block[i]->address + block[i]->bytes <= from || block[i]->address >= end)
            continue;
        start = block[i]->address <= from ? from : block[i]->address - (block[i]->address - s->origin) % s->page;
        start = start < from ? from : start;
        stop = block[i]->address + block[i]->bytes;
        stop += (s->page - (stop - s->origin) % s->page) % s->page;
        stop = stop < end ? stop : end;
        if (start > from) {
            if (piece.bytes)
                segment_insert(w, w->layout->segments, piece);
            event_note(w, PLM_LAYOUT_UNMAP, at, s, from, start - from);
            piece.bytes = 0;
        }
        if (!piece.bytes)
            piece.address = start;
        piece.bytes += stop - start;
        from = stop;
    }
    if (piece.bytes)
        segment_insert(w, w->layout->segments, piece);
    if (from < end)
        event_note(w, PLM_LAYOUT_UNMAP, at, s, from, end - from);
}

static int event_by_stream(const void *a, const void *b)
{
    const struct plm_layout_event *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* PyTorch unmaps every page that no block is in, stream by stream. */
static void unmap(struct work *w, uint32_t at)
{
    struct plm_layout_segment *old = w->layout->segment;
    const size_t segments = w->layout->segments, noted = w->layout->events;
    size_t count, first = 0;
    const struct plm_block **block = live_blocks(w, &count);
    w->unmapped = false;
    w->layout->segment = NULL;
    w->layout->segments = w->layout->segment_room = 0;
    for (size_t i = 0; i < segments; i++) {
        size_t last;
        while (first < count && block[first]->address < old[i].address)
            first++;
        for (last = first; last < count && block[last]->address < end_of(&old[i]);)
            last++;
        if (old[i].segment == PLM_LAYOUT_MAPPED)
            keep_pages(w, at, &old[i], block + first, last - first);
        else
            segment_insert(w, w->layout->segments, old[i]);
        first = last;
    }
    if (w->layout->events > noted)
        qsort(w->layout->event + noted, w->layout->events - noted, sizeof *w->layout->event, event_by_stream);
    free(old);
    free(block);
}

/* ---- the lane's events ---- */

static void block_place(struct work *w, uint32_t at, const struct plm_block *b)
{
    struct plm_layout_segment *s = segment_of(w->layout, b->address);
    w->last_ns = b->alloc_ns;
    if (!s || (s->segment == PLM_LAYOUT_MAPPED && (w->to_map || b->address + b->bytes > s->address + s->bytes)))
        s = map_for(w, at, b);
    if (!s)
        return;
    if (!s->used) {
        s->used = true;
        s->stream = stream_of(b);
        s->captured = b->captured;
        s->small = b->bytes <= SMALL_BLOCK && (s->bytes == PAGE || s->segment == PLM_LAYOUT_MAPPED);
    }
    if (s->segment != PLM_LAYOUT_MAPPED && !w->used[s->segment]) {
        w->used[s->segment] = true;
        w->stream[s->segment] = s->stream;
    }
}

static void link_block(struct work *w, uint32_t block, bool freed)
{
    const uint32_t head = (uint32_t)w->lane->blocks;
    if (!w->next)
        return;
    if (!freed) {
        w->next[block] = w->next[head];
        w->previous[block] = head;
        w->previous[w->next[block]] = block;
        w->next[head] = block;
    } else if (w->next[block] != NOBODY) {
        w->next[w->previous[block]] = w->next[block];
        w->previous[w->next[block]] = w->previous[block];
        w->next[block] = NOBODY;
    }
}

static int by_moment(const void *a, const void *b)
{
    const struct operation *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    if (x->segment == y->segment)
        return x->free - y->free;
    return x->free != y->free ? y->free - x->free : (x->segment > y->segment) - (x->segment < y->segment);
}

static void work_begin(struct work *w)
{
    const struct plm_lane *lane = w->lane;
    bool mapped = false;
    size_t blocks = lane->blocks + 1;
    w->operation = plm_calloc(2 * lane->segments, sizeof *w->operation);
    w->used = plm_calloc(lane->segments, sizeof *w->used);
    w->stream = plm_calloc(lane->segments, sizeof *w->stream);
    for (uint32_t i = 0; i < lane->segments; i++) {
        const struct plm_lane_segment *s = &lane->segment[i];
        mapped |= s->kind == PLM_RECORD_VMM;
        w->operation[w->operations++] = (struct operation){s->alloc_ns, s->alloc_at, i, false};
        if (s->free_at != PLM_MOMENT_NEVER)
            w->operation[w->operations++] = (struct operation){s->free_ns, s->free_at, i, true};
    }
    qsort(w->operation, w->operations, sizeof *w->operation, by_moment);
    if (!mapped)
        return;
    w->next = plm_calloc(blocks, sizeof *w->next);
    w->previous = plm_calloc(blocks, sizeof *w->previous);
    memset(w->next, 0xff, blocks * sizeof *w->next);
    w->next[lane->blocks] = w->previous[lane->blocks] = (uint32_t)lane->blocks;
}

static void follow(struct work *w, uint32_t moment)
{
    const struct plm_lane *lane = w->lane;
    const struct operation *o = w->operation, *end = o + w->operations;
    const size_t moments = moment < lane->moments ? moment + 1u : lane->moments;
    for (uint32_t m = 0; m < moments; m++) {
        const uint32_t block = lane->order[m] >> 1;
        const bool freed = lane->order[m] & 1;
        for (; o < end && o->at <= m; o++)
            operation_apply(w, o, m);
        if (w->unmapped && w->next)
            unmap(w, m);
        link_block(w, block, freed);
        if (!freed)
            block_place(w, m, &lane->block[block]);
    }
    if (moment != UINT32_MAX)
        return;
    for (; o < end; o++)
        operation_apply(w, o, (uint32_t)moments);
    if (w->unmapped && w->next)
        unmap(w, (uint32_t)moments);
}

/* Forgets what the allocator never used. */
static void sift(struct work *w)
{
    struct plm_layout *l = w->layout;
    size_t kept = 0;
    for (size_t i = 0; i < l->events; i++) {
        struct plm_layout_event e = l->event[i];
        if (e.segment != PLM_LAYOUT_MAPPED) {
            if (!w->used[e.segment])
                continue;
            e.stream = w->stream[e.segment];
        }
        l->event[kept++] = e;
    }
    l->events = kept;
    kept = 0;
    for (size_t i = 0; i < l->segments; i++)
        if (l->segment[i].used || l->segment[i].segment == PLM_LAYOUT_MAPPED)
            l->segment[kept++] = l->segment[i];
    l->segments = kept;
}

void plm_layout_make(const struct plm_lane *lane, uint32_t moment, struct plm_layout *layout)
{
    struct work w = {.lane = lane, .layout = layout, .page = PAGE};
    memset(layout, 0, sizeof *layout);
    work_begin(&w);
    follow(&w, moment);
    sift(&w);
    free(w.operation);
    free(w.used);
    free(w.stream);
    free(w.next);
    free(w.previous);
}

void plm_layout_free(struct plm_layout *layout)
{
    free(layout->event);
    free(layout->segment);
    memset(layout, 0, sizeof *layout);
}
