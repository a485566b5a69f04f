#include <stdlib.h>

#include "allocator/sizes.h"
#include "allocator/state.h"
#include "base/array.h"
#include "base/error.h"
#include "import/verify.h"

#define TOTAL_MOST (1ull << 40)

/* ---- ranges of expandable segments ---- */

struct stretch {
    uint64_t address, bytes;
    bool expandable;
};

struct stretches {
    struct stretch *item;
    size_t count, room;
};

static int note(struct stretches *s, uint64_t address, uint64_t bytes, bool expandable)
{
    struct stretch *more = plm_grow(s->item, s->count, &s->room, sizeof *more);
    if (!more)
        return PLM_ENOMEM;
    s->item = more;
    s->item[s->count++] = (struct stretch){address, bytes, expandable};
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* All memory that the device ever had, ascending; what touches or overlaps, one piece. */
static int gather(const struct plm_trace_device *d, struct stretches *s)
{
    size_t kept = 0;
    int status = 0;
    for (size_t i = 0; i < d->ranges && status == 0; i++)
        status = note(s, d->range[i].address, d->range[i].bytes, d->range[i].expandable);
    for (size_t i = 0; i < d->events && status == 0; i++)
        if (d->event[i].action == PLM_TRACE_SEGMENT_ALLOC || d->event[i].action == PLM_TRACE_SEGMENT_MAP)
            status = note(s, d->event[i].address, d->event[i].bytes, d->event[i].action == PLM_TRACE_SEGMENT_MAP);
    if (status || !s->count)
        return status;
    qsort(s->item, s->count, sizeof s->item[0], compare);
    for (size_t i = 1; i < s->count; i++) {
        struct stretch *last = &s->item[kept], *next = &s->item[i];
        if (last->expandable == next->expandable && next->address - last->address <= last->bytes) {
            uint64_t end = next->address + next->bytes - last->address;
            last->bytes = end > last->bytes ? end : last->bytes;
        } else {
            s->item[++kept] = *next;
        }
    }
    s->count = kept + 1;
    return 0;
}

/* A snapshot does not tell the size of the card. The range of an expandable segment is an eighth more than that and
   ends before the next one begins. */
int plm_verify_total(const struct plm_trace_device *d, uint64_t large_segment, uint64_t *total)
{
    struct stretches s = {0};
    uint64_t room = TOTAL_MOST;
    int status = gather(d, &s);
    for (size_t i = 1; i < s.count; i++)
        if (s.item[i - 1].expandable && s.item[i].address - s.item[i - 1].address < room)
            room = s.item[i].address - s.item[i - 1].address;
    *total = room > 2 * large_segment ? (room - large_segment) / 9 * 8 : room;
    free(s.item);
    return status;
}

/* ---- the segments ---- */

struct parts {
    struct plm_allocator_part *item;
    size_t count, room;
};

static int add_part(struct parts *p, uint64_t address, uint64_t size, bool hole)
{
    struct plm_allocator_part *more = plm_grow(p->item, p->count, &p->room, sizeof *more);
    if (!more)
        return PLM_ENOMEM;
    p->item = more;
    p->item[p->count++] = (struct plm_allocator_part){address, size, hole};
    return 0;
}

/* Blocks of [address, end) from the k-th on. */
static int add_blocks(struct parts *p, const struct plm_trace_device *d, size_t *k, uint64_t address, uint64_t end)
{
    int status = 0;
    while (*k < d->blocks && d->block[*k].address < address)
        ++*k;
    for (; *k < d->blocks && d->block[*k].address < end && status == 0; ++*k)
        status = add_part(p, d->block[*k].address, d->block[*k].bytes, false);
    return status;
}

/* An expandable segment from its first range on: those that follow within its addresses are parts of it too. */
static int seed_expandable(const struct plm_trace_device *d, size_t *i, size_t *k, uint64_t size, struct parts *parts,
                           struct plm_allocator *a)
{
    const struct plm_trace_range *first = &d->range[*i];
    struct plm_allocator_segment segment = {first->address, size, first->stream, first->pool,
                                            first->small,   true, NULL,          0};
    uint64_t at = first->address;
    int status = 0;
    for (; *i < d->ranges && d->range[*i].expandable && d->range[*i].address - first->address < size && status == 0;
         ++*i) {
        const struct plm_trace_range *r = &d->range[*i];
        if (r->address > at)
            status = add_part(parts, at, r->address - at, true);
        at = r->address + r->bytes;
        if (status == 0)
            status = add_blocks(parts, d, k, r->address, at);
    }
    --*i;
    if (status == 0 && at - first->address < size)
        status = add_part(parts, at, first->address + size - at, true);
    segment.part = parts->item;
    segment.parts = parts->count;
    return status ? status : plm_allocator_seed(a, &segment);
}

int plm_verify_seed(const struct plm_trace_device *d, uint64_t large_segment, uint64_t total, struct plm_allocator *a)
{
    struct parts parts = {0};
    size_t k = 0;
    int status = 0;
    for (size_t i = 0; i < d->ranges && status == 0; i++) {
        const struct plm_trace_range *r = &d->range[i];
        const uint64_t page = r->small ? PLM_SMALL_SEGMENT : large_segment;
        parts.count = 0;
        if (r->expandable) {
            status = seed_expandable(d, &i, &k, (total + total / 8 + page - 1) / page * page, &parts, a);
        } else if ((status = add_blocks(&parts, d, &k, r->address, r->address + r->bytes)) == 0) {
            struct plm_allocator_segment segment = {r->address, r->bytes, r->stream,  r->pool,
                                                    r->small,   false,    parts.item, parts.count};
            status = plm_allocator_seed(a, &segment);
        }
    }
    free(parts.item);
    return status;
}
