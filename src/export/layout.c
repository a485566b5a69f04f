#include "export/layout.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/array.h"
#include "base/error.h"

#define PAGE        (2ull << 20)
#define SMALL_BLOCK (1ull << 20)
#define NOBODY      UINT32_MAX

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
    uint64_t to_map, last_ns;
    bool unmapped;                    /* since the last event of the lane */
    bool no_memory;
};

/* ---- the sorted segments ---- */

/* The number of segments that begin at or before the address. */
static size_t rank_of(const struct plm_layout *l, uint64_t address)
{
    size_t low = 0, high = l->segments;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->segment[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct plm_layout_segment *segment_of(const struct plm_layout *l, uint64_t address)
{
    size_t rank = rank_of(l, address);
    struct plm_layout_segment *s = rank ? &l->segment[rank - 1] : NULL;
    return s && address - s->address < s->bytes ? s : NULL;
}

static struct plm_layout_segment *insert(struct work *w, size_t rank, struct plm_layout_segment s)
{
    struct plm_layout *l = w->layout;
    struct plm_layout_segment *more = plm_grow(l->segment, l->segments, &l->segment_room, sizeof *more);
    if (!more) {
        w->no_memory = true;
        return NULL;
    }
    l->segment = more;
    memmove(&more[rank + 1], &more[rank], (l->segments - rank) * sizeof *more);
    more[rank] = s;
    l->segments++;
    return &more[rank];
}

static void erase(struct plm_layout *l, size_t rank)
{
    l->segments--;
    memmove(&l->segment[rank], &l->segment[rank + 1], (l->segments - rank) * sizeof *l->segment);
}

static uint32_t stream_of(const struct plm_block *b)
{
    return b->stream == PLM_STREAM_UNKNOWN ? 0 : b->stream;
}

/* The stream is that of the segment's first block, which is not known when it is allocated: sift() adds it. */
static void note(struct work *w, enum plm_layout_action action, uint32_t at, const struct plm_layout_segment *s,
                 uint64_t address, uint64_t bytes)
{
    struct plm_layout *l = w->layout;
    struct plm_layout_event *more = plm_grow(l->event, l->events, &l->event_room, sizeof *more);
    if (!more) {
        w->no_memory = true;
        return;
    }
    l->event = more;
    l->event[l->events++] = (struct plm_layout_event){action, at, s->segment, s->stream, address, bytes, w->last_ns};
}

/* ---- allocations of the card's memory ---- */

static void take(struct work *w, uint32_t at, uint32_t number)
{
    const struct plm_segment *s = &w->lane->segment[number];
    struct plm_layout_segment *added;
    size_t rank = rank_of(w->layout, s->address);
    if (!s->bytes || s->address + s->bytes < s->address || (rank && segment_of(w->layout, s->address)) ||
        (rank < w->layout->segments && w->layout->segment[rank].address < s->address + s->bytes))
        return; /* a damaged record: in what is there already */
    added = insert(w, rank, (struct plm_layout_segment){.address = s->address, .bytes = s->bytes, .segment = number});
    if (added)
        note(w, PLM_SEGMENT_ALLOC, at, added, s->address, s->bytes);
}

static void give_back(struct work *w, uint32_t at, uint32_t number)
{
    const struct plm_segment *s = &w->lane->segment[number];
    size_t rank = rank_of(w->layout, s->address);
    if (!rank || w->layout->segment[rank - 1].segment != number)
        return;
    note(w, PLM_SEGMENT_FREE, at, &w->layout->segment[rank - 1], s->address, s->bytes);
    erase(w->layout, rank - 1);
}

static void apply(struct work *w, const struct operation *o, uint32_t at)
{
    const struct plm_segment *s = &w->lane->segment[o->segment];
    w->last_ns = o->ns;
    if (s->kind == PLM_RECORD_VMM && o->free)
        w->unmapped = true;
    else if (s->kind == PLM_RECORD_VMM)
        w->to_map += s->bytes;
    else if (s->kind != PLM_RECORD_LIBRARY && o->free)
        give_back(w, at, o->segment);
    else if (s->kind != PLM_RECORD_LIBRARY)
        take(w, at, o->segment);
}

/* ---- mapped memory ---- */

/* How far a range that starts below may reach without running into the segment of that rank. */
static uint64_t room_until(const struct plm_layout *l, size_t rank)
{
    return rank < l->segments ? l->segment[rank].address : UINT64_MAX - PAGE;
}

/* Maps what the block needs: the range that it begins in (or at the end of) grows. */
static struct plm_layout_segment *map_for(struct work *w, uint32_t at, const struct plm_block *b)
{
    struct plm_layout *l = w->layout;
    size_t rank = rank_of(l, b->address);
    struct plm_layout_segment *s = rank ? &l->segment[rank - 1] : NULL;
    uint64_t start, end, room = room_until(l, rank), least;
    const uint64_t block_end = b->bytes > UINT64_MAX - PAGE - b->address ? b->address : b->address + b->bytes;

    if (s && (s->segment != PLM_LAYOUT_MAPPED || b->address - s->address > s->bytes))
        s = NULL;
    start = s ? s->address + s->bytes : b->address & ~(PAGE - 1);
    if (!s && rank && start < l->segment[rank - 1].address + l->segment[rank - 1].bytes)
        start = b->address;
    least = (block_end + PAGE - 1) & ~(PAGE - 1);
    end = w->to_map < room - start ? start + w->to_map : room;
    if (end < least)
        end = least < room ? least : room;
    w->to_map = 0;
    if (end <= start)
        return s;
    if (s)
        s->bytes += end - start;
    else
        s = insert(w, rank,
                   (struct plm_layout_segment){
                       .address = start, .bytes = end - start, .segment = PLM_LAYOUT_MAPPED, .stream = stream_of(b)});
    if (s)
        note(w, PLM_SEGMENT_MAP, at, s, start, end - start);
    return s;
}

struct range {
    uint64_t start, end;
};

static int by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* The pages of live blocks, sorted and joined. */
static struct range *live_pages(struct work *w, size_t *count)
{
    const struct plm_lane *lane = w->lane;
    const uint32_t head = (uint32_t)lane->blocks;
    size_t n = 0, kept = 0;
    struct range *r;
    for (uint32_t i = w->next[head]; i != head; i = w->next[i])
        n++;
    r = calloc(n + 1, sizeof *r);
    if (!r) {
        w->no_memory = true;
        return NULL;
    }
    n = 0;
    for (uint32_t i = w->next[head]; i != head; i = w->next[i]) {
        const struct plm_block *b = &lane->block[i];
        r[n++] = (struct range){b->address & ~(PAGE - 1), (b->address + b->bytes + PAGE - 1) & ~(PAGE - 1)};
    }
    qsort(r, n, sizeof *r, by_start);
    for (size_t i = 0; i < n; i++)
        if (kept && r[i].start <= r[kept - 1].end) {
            if (r[i].end > r[kept - 1].end)
                r[kept - 1].end = r[i].end;
        } else
            r[kept++] = r[i];
    *count = kept;
    return r;
}

/* PyTorch unmaps all pages that no block is in, so what is left are the pages of live blocks. */
static void unmap(struct work *w, uint32_t at)
{
    struct plm_layout old = *w->layout;
    size_t count = 0;
    struct range *live = live_pages(w, &count), *r = live;
    w->unmapped = false;
    if (!live)
        return;
    w->layout->segment = NULL;
    w->layout->segments = w->layout->segment_room = 0;
    for (size_t i = 0; i < old.segments; i++) {
        const struct plm_layout_segment *s = &old.segment[i];
        const uint64_t end = s->address + s->bytes;
        uint64_t from = s->address;
        if (s->segment != PLM_LAYOUT_MAPPED) {
            insert(w, w->layout->segments, *s);
            continue;
        }
        while (r < live + count && r->end <= from)
            r++;
        for (struct range *q = r; from < end; q++) {
            uint64_t start = q < live + count && q->start < end ? q->start : end, stop;
            if (start > from)
                note(w, PLM_SEGMENT_UNMAP, at, s, from, start - from);
            if (start < from)
                start = from;
            stop = q < live + count && q->end < end ? q->end : end;
            if (start < end) {
                struct plm_layout_segment piece = *s;
                piece.address = start;
                piece.bytes = stop - start;
                insert(w, w->layout->segments, piece);
            }
            from = start < end ? stop : end;
        }
    }
    free(old.segment);
    free(live);
}

/* ---- the lane's events ---- */

static void place(struct work *w, uint32_t at, const struct plm_block *b)
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

static int prepare(struct work *w)
{
    const struct plm_lane *lane = w->lane;
    bool mapped = false;
    size_t blocks = lane->blocks + 1;
    w->operation = calloc(2 * lane->segments + 1, sizeof *w->operation);
    w->used = calloc(lane->segments + 1, sizeof *w->used);
    w->stream = calloc(lane->segments + 1, sizeof *w->stream);
    if (!w->operation || !w->used || !w->stream)
        return PLM_ENOMEM;
    for (uint32_t i = 0; i < lane->segments; i++) {
        const struct plm_segment *s = &lane->segment[i];
        mapped |= s->kind == PLM_RECORD_VMM;
        w->operation[w->operations++] = (struct operation){s->alloc_ns, s->alloc_at, i, false};
        if (s->free_at != PLM_MOMENT_NEVER)
            w->operation[w->operations++] = (struct operation){s->free_ns, s->free_at, i, true};
    }
    qsort(w->operation, w->operations, sizeof *w->operation, by_moment);
    if (!mapped)
        return 0;
    w->next = malloc(blocks * sizeof *w->next);
    w->previous = malloc(blocks * sizeof *w->previous);
    if (!w->next || !w->previous)
        return PLM_ENOMEM;
    memset(w->next, 0xff, blocks * sizeof *w->next);
    w->next[lane->blocks] = w->previous[lane->blocks] = (uint32_t)lane->blocks;
    return 0;
}

static void replay(struct work *w, uint32_t moment)
{
    const struct plm_lane *lane = w->lane;
    const struct operation *o = w->operation, *end = o + w->operations;
    const size_t moments = moment < lane->moments ? moment + 1u : lane->moments;
    for (uint32_t m = 0; m < moments && !w->no_memory; m++) {
        const uint32_t block = lane->order[m] >> 1;
        const bool freed = lane->order[m] & 1;
        for (; o < end && o->at <= m; o++)
            apply(w, o, m);
        if (w->unmapped)
            unmap(w, m);
        link_block(w, block, freed);
        if (!freed)
            place(w, m, &lane->block[block]);
    }
    if (moment != UINT32_MAX)
        return;
    for (; o < end; o++)
        apply(w, o, (uint32_t)moments);
    if (w->unmapped)
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

int plm_layout_make(const struct plm_lane *lane, uint32_t moment, struct plm_layout *layout)
{
    struct work w = {.lane = lane, .layout = layout};
    int status;
    memset(layout, 0, sizeof *layout);
    status = prepare(&w);
    if (status == 0) {
        replay(&w, moment);
        sift(&w);
    }
    if (w.no_memory)
        status = PLM_ENOMEM;
    free(w.operation);
    free(w.used);
    free(w.stream);
    free(w.next);
    free(w.previous);
    if (status < 0)
        plm_layout_free(layout);
    return status;
}

void plm_layout_free(struct plm_layout *layout)
{
    free(layout->event);
    free(layout->segment);
    memset(layout, 0, sizeof *layout);
}
