#include <stdlib.h>

#include "allocator/sizes.h"
#include "allocator/state.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/error.h"
#include "import/verify.h"

#define TOTAL_MOST (1ull << 40)

/* ---- ranges of expandable segments ---- */

struct stretch {
    uint64_t address, bytes, stream, pool;
    bool expandable, small;
};

struct stretches {
    struct stretch *item;
    size_t count, room;
};

static void stretch_add(struct stretches *s, struct stretch stretch)
{
    s->item = plm_grow(s->item, s->count, &s->room, sizeof *s->item);
    s->item[s->count++] = stretch;
}

static int stretch_compare(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* A pool has one range of addresses on each stream, unless it is used up. */
static bool same_range(const struct stretch *x, const struct stretch *y)
{
    return x->expandable && y->expandable && x->stream == y->stream && x->pool == y->pool && x->small == y->small;
}

/* All memory that the device ever had, ascending; what lies in the range of one expandable segment is one piece. */
static void stretches_gather(const struct plm_history_device *d, struct stretches *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->ranges; i++) {
        const struct plm_history_range *r = &d->range[i];
        stretch_add(s, (struct stretch){r->address, r->bytes, r->stream, r->pool, r->expandable, r->small});
    }
    for (size_t i = 0; i < d->events; i++) {
        const struct plm_history_event *e = &d->event[i];
        const bool small = e->bytes == PLM_SMALL_SEGMENT; /* what small blocks grow by is one page, always */
        if (e->action == PLM_HISTORY_SEGMENT_ALLOC || e->action == PLM_HISTORY_SEGMENT_MAP)
            stretch_add(s, (struct stretch){e->address, e->bytes, e->stream, e->pool,
                                            e->action == PLM_HISTORY_SEGMENT_MAP, small});
    }
    if (!s->count)
        return;
    qsort(s->item, s->count, sizeof s->item[0], stretch_compare);
    for (size_t i = 1; i < s->count; i++) {
        struct stretch *last = &s->item[kept], *next = &s->item[i];
        if (same_range(last, next)) {
            uint64_t end = next->address + next->bytes - last->address;
            last->bytes = end > last->bytes ? end : last->bytes;
        } else {
            s->item[++kept] = *next;
        }
    }
    s->count = kept + 1;
}

/* Where the range begins that holds an address. */
static uint64_t range_start(const struct stretches *s, uint64_t address)
{
    size_t after = PLM_SEARCH(i, s->count, s->item[i].address <= address);
    return after ? s->item[after - 1].address : address;
}

/* A snapshot does not tell the size of the card. The range of an expandable segment is an eighth more than that and
   ends before the next one begins. */
uint64_t plm_verify_total(const struct plm_history_device *d, uint64_t large_segment)
{
    struct stretches s = {0};
    uint64_t room = TOTAL_MOST;
    stretches_gather(d, &s);
    for (size_t i = 1; i < s.count; i++)
        if (s.item[i - 1].expandable && s.item[i].address - s.item[i - 1].address < room)
            room = s.item[i].address - s.item[i - 1].address;
    free(s.item);
    return room > 2 * large_segment ? (room - large_segment) / 9 * 8 : room;
}

/* ---- the segments ---- */

struct parts {
    struct plm_allocator_part *item;
    size_t count, room;
};

static void part_add(struct parts *p, uint64_t address, uint64_t size, bool hole)
{
    p->item = plm_grow(p->item, p->count, &p->room, sizeof *p->item);
    p->item[p->count++] = (struct plm_allocator_part){address, size, hole};
}

/* Blocks of [address, end) from the k-th on. */
static void parts_add(struct parts *p, const struct plm_history_device *d, size_t *k, uint64_t address, uint64_t end)
{
    while (*k < d->blocks && d->block[*k].address < address)
        ++*k;
    for (; *k < d->blocks && d->block[*k].address < end; ++*k)
        part_add(p, d->block[*k].address, d->block[*k].bytes, false);
}

/* An expandable segment from its first range on: those of its kind that follow are parts of it too. */
static int seed_expandable(const struct plm_history_device *d, size_t *i, size_t *k,
                           const struct plm_allocator_segment *range, struct parts *parts, struct plm_allocator *a)
{
    struct plm_allocator_segment segment = *range;
    const size_t first = *i;
    uint64_t at = segment.address;
    for (; *i < d->ranges && d->range[*i].address - segment.address < segment.size; ++*i) {
        const struct plm_history_range *r = &d->range[*i];
        if (!r->expandable || r->stream != segment.stream || r->pool != segment.pool || r->small != segment.small)
            break;
        if (r->address > at)
            part_add(parts, at, r->address - at, true);
        at = r->address + r->bytes;
        parts_add(parts, d, k, r->address, at);
    }
    if (*i == first)
        return PLM_EINVAL; /* it lies outside of what is taken for its range */
    --*i;
    if (at - segment.address < segment.size)
        part_add(parts, at, segment.address + segment.size - at, true);
    segment.part = parts->item;
    segment.parts = parts->count;
    return plm_allocator_seed(a, &segment);
}

int plm_verify_seed(const struct plm_history_device *d, uint64_t large_segment, uint64_t total, struct plm_allocator *a)
{
    struct parts parts = {0};
    struct stretches all = {0};
    size_t k = 0;
    int status = 0;
    stretches_gather(d, &all);
    for (size_t i = 0; i < d->ranges && status == 0; i++) {
        const struct plm_history_range *r = &d->range[i];
        const uint64_t page = r->small ? PLM_SMALL_SEGMENT : large_segment;
        struct plm_allocator_segment segment = {r->address, r->bytes,      r->stream, r->pool,
                                                r->small,   r->expandable, NULL,      0};
        parts.count = 0;
        if (r->expandable) {
            segment.address = range_start(&all, r->address);
            segment.size = (total + total / 8 + page - 1) / page * page;
            status = seed_expandable(d, &i, &k, &segment, &parts, a);
        } else {
            parts_add(&parts, d, &k, r->address, r->address + r->bytes);
            segment.part = parts.item;
            segment.parts = parts.count;
            status = plm_allocator_seed(a, &segment);
        }
    }
    free(all.item);
    free(parts.item);
    return status;
}
