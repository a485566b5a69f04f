#include "import/import.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/settings.h"
#include "allocator/allocator.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/search.h"
#include "torch/facts.h"

/* Blocks that may be looked at in all to find what is given back, so that no trace takes for ever. */
#define STEPS_MOST (1ull << 26)

enum { TRIES = 64 }; /* to find sizes with which a history that begins late comes out */

#define CERTAIN UINT64_MAX /* in place of a stream: whatever is not known, this difference is one */

struct run {
    const struct plm_history *trace;
    const struct plm_history_device *d;
    struct plm_verify *out;
    struct plm_allocator *a;
    size_t at;          /* the event that is replayed */
    size_t op, ops;     /* operations on segments that belong to it: the next, and the end */
    size_t group;       /* the first operation since the last other event */
    uint64_t steps;
    const struct plm_history_event *asked; /* the allocation */
    bool done;          /* a difference was found */
    bool late;          /* something was there before */
    bool choice;        /* both have room for it, in different places */
    uint64_t replayed;  /* where the replay put what differs; 0: it is not about that */
};

/* ---- what cannot be told ---- */

/* Whether memory goes back to the card later on: with it goes the only hint at whose it was. */
static bool segment_goes_back(const struct run *r, uint64_t address)
{
    for (size_t i = r->at; i < r->d->events; i++) {
        const struct plm_history_event *e = &r->d->event[i];
        if (e->action == PLM_HISTORY_SEGMENT_FREE && address - e->address < e->bytes)
            return true;
    }
    return false;
}

static bool history_lacks_segments(const struct plm_history_device *d)
{
    return d->of[PLM_HISTORY_ALLOC] && !d->ranges && !d->of[PLM_HISTORY_SEGMENT_ALLOC] &&
           !d->of[PLM_HISTORY_SEGMENT_MAP];
}

static bool history_changed_kind(const struct plm_history_device *d)
{
    bool fixed = d->of[PLM_HISTORY_SEGMENT_ALLOC] != 0, growing = d->of[PLM_HISTORY_SEGMENT_MAP] != 0;
    for (size_t i = 0; i < d->ranges; i++) {
        fixed |= !d->range[i].expandable;
        growing |= d->range[i].expandable;
    }
    return fixed && growing;
}

/* Why a difference may be one of what is known rather than of what happened; NULL if it is none of these. */
static const char *verdict_doubt(const struct run *r, uint64_t stream, uint64_t replayed, uint64_t recorded)
{
    if (stream == CERTAIN)
        return NULL;
    if (history_lacks_segments(r->d))
        return "the history does not have the segments' addresses";
    if (history_changed_kind(r->d))
        return "expandable segments were switched on or off during the run, and the history does not say when";
    if (r->late && r->d->unsure)
        return "the history starts late, and the sizes of some earlier blocks are unknown";
    if (r->late && r->trace->settings.expandable)
        return "the history starts late, and the addresses of its expandable segments are unknown";
    if (r->late && r->choice && plm_torch_rule(r->out->torch, PLM_TORCH_BY_AGE))
        return "the history starts late, and the order of its first segments is unknown";
    if (!r->trace->has_pools && stream && (segment_goes_back(r, replayed) || segment_goes_back(r, recorded)))
        return "this memory may belong to a CUDA graph that was freed before the snapshot";
    return NULL;
}

static void verdict_unknown(struct run *r, const char *why)
{
    r->done = true;
    r->out->verdict = PLM_VERDICT_UNKNOWN;
    r->out->device = r->d->number;
    r->out->event = r->at < r->d->events ? r->d->event[r->at].number : 0;
    snprintf(r->out->sentence, sizeof r->out->sentence, "%s.", why);
}

/* The first difference counts. `format` is a sentence without its end. */
__attribute__((format(printf, 5, 6))) static void verdict_differs(struct run *r, uint64_t stream, uint64_t replayed,
                                                                  uint64_t recorded, const char *format, ...)
{
    const struct plm_history_event *e = &r->d->event[r->at];
    struct plm_verify *v = r->out;
    char what[256];
    const char *why;
    va_list list;
    if (r->done)
        return;
    r->done = true;
    r->replayed = replayed;
    why = verdict_doubt(r, stream, replayed, recorded);
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    v->verdict = why ? PLM_VERDICT_UNKNOWN : PLM_VERDICT_DIFFERS;
    v->device = r->d->number;
    v->event = e->number;
    if (why)
        snprintf(v->sentence, sizeof v->sentence, "Event %u of device %u, %s, cannot be decided: %s.", e->number,
                 r->d->number, what, why);
    else
        snprintf(v->sentence, sizeof v->sentence, "Event %u of device %u differs: %s.", e->number, r->d->number, what);
}

/* ---- segments that the replay takes ---- */

static const struct plm_history_event *segment_op_next(const struct run *r)
{
    return r->op < r->ops ? &r->d->event[r->op] : NULL;
}

/* A segment lies where the driver put it. The range of an expandable one begins with the first that is mapped of it. */
static uint64_t segment_place(void *context, uint64_t size)
{
    const struct plm_history_event *e = segment_op_next(context);
    if (!e || (e->action == PLM_HISTORY_SEGMENT_ALLOC && e->bytes != size))
        return 0;
    return e->address;
}

static void segment_visit(enum plm_segment_action action, uint64_t address, uint64_t size, uint64_t stream,
                          void *context)
{
    struct run *r = context;
    const struct plm_history_event *e;
    if (action != PLM_SEGMENT_ALLOC && action != PLM_SEGMENT_MAP)
        return;
    e = segment_op_next(r);
    if (!e || (e->action == PLM_HISTORY_SEGMENT_MAP) != (action == PLM_SEGMENT_MAP)) {
        verdict_differs(r, stream, address, r->asked->address,
                        "for an allocation of %" PRIu64 " bytes at 0x%" PRIx64
                        " the GPU run took no %s, the replay one of %" PRIu64 " bytes",
                        r->asked->bytes, r->asked->address, action == PLM_SEGMENT_MAP ? "pages" : "segment", size);
    } else if (e->bytes != size) {
        verdict_differs(r, action == PLM_SEGMENT_ALLOC ? CERTAIN : stream, address, e->address,
                        "for an allocation of %" PRIu64 " bytes the GPU run took a segment of %" PRIu64
                        " bytes (event %u), the replay one of %" PRIu64 " bytes",
                        r->asked->bytes, e->bytes, e->number, size);
    } else if (e->address != address) {
        verdict_differs(r, stream, address, e->address,
                        "the GPU run has a segment of %" PRIu64 " bytes at 0x%" PRIx64
                        " (event %u), where the replay has something else",
                        size, e->address, e->number);
    } else {
        r->out->segments++;
    }
    r->op += e != NULL;
}

/* ---- events ---- */

/* One segment, or some pages, that the history gives back. */
static void segment_give_back(struct run *r, const struct plm_history_event *e)
{
    int status = plm_allocator_give_back(r->a, e->address, e->bytes, e->stream, &r->steps);
    if (status)
        verdict_differs(r, e->stream, e->address, e->address,
                        "the GPU run freed %" PRIu64 " bytes at 0x%" PRIx64
                        ", which the replay has not cached in one piece",
                        e->bytes, e->address);
    if (r->steps > STEPS_MOST && !r->done)
        verdict_unknown(r, "The replay of this history takes too long");
}

/* Whoever gives back the cache gives back all of it, unless a setting picks segments one by one. */
static void segments_check_cache(struct run *r, const struct plm_history_event *e)
{
    const struct plm_allocator_settings *s = &r->trace->settings;
    uint64_t address, size;
    if (s->max_split_size != UINT64_MAX || s->gc_threshold > 0 || r->done ||
        !plm_allocator_gives_back(r->a, &address, &size))
        return;
    verdict_differs(r, e->stream, address, address,
                    "the GPU run flushed its cache and kept %" PRIu64 " bytes at 0x%" PRIx64 ", which the replay frees",
                    size, address);
}

static bool event_takes_segment(const struct plm_history_event *e)
{
    return e->action == PLM_HISTORY_SEGMENT_ALLOC || e->action == PLM_HISTORY_SEGMENT_MAP;
}

/* Operations on segments up to `end` that belong to no allocation. */
static void segments_settle(struct run *r, size_t end)
{
    const size_t now = r->at;
    const struct plm_history_event *last = NULL;
    for (size_t i = r->group; i < end && !r->done; i++) {
        const struct plm_history_event *e = &r->d->event[i];
        r->at = i;
        if (!event_takes_segment(e)) {
            segment_give_back(r, e);
            last = e->pool ? last : e;
        } else if (e->action == PLM_HISTORY_SEGMENT_MAP) {
            verdict_unknown(
                r, "Memory ran out while an expandable segment grew, and the history has too little about that");
        } else {
            verdict_differs(r, e->stream, e->address, e->address,
                            "the GPU run took a segment of %" PRIu64 " bytes at 0x%" PRIx64
                            " and put nothing into it, the replay takes none",
                            e->bytes, e->address);
        }
    }
    if (last)
        segments_check_cache(r, last);
    r->at = now;
    r->group = end;
}

static void block_allocate(struct run *r, const struct plm_history_event *e)
{
    uint64_t address = 0;
    int status = e->pool ? plm_allocator_pool_begin(r->a, e->pool) : 0;
    r->asked = e;
    if (status == 0)
        status = plm_allocator_malloc(r->a, e->bytes, e->stream, e->pool, &address);
    if (e->pool)
        plm_allocator_pool_end(r->a, e->pool);
    if (r->done)
        return;
    if (status) {
        verdict_differs(r, e->stream, e->address, e->address,
                        "%" PRIu64 " bytes at 0x%" PRIx64 " cannot be replayed: %s", e->bytes, e->address,
                        plm_allocator_error_name(status));
    } else if (r->op < r->ops) {
        const struct plm_history_event *op = &r->d->event[r->op];
        verdict_differs(r, e->stream, address, e->address,
                        "for an allocation of %" PRIu64 " bytes the GPU run took a segment of %" PRIu64
                        " bytes (event %u), the replay found room at 0x%" PRIx64,
                        e->bytes, op->bytes, op->number, address);
    } else if (address != e->address) {
        r->choice = true;
        verdict_differs(r, e->stream, address, e->address,
                        "the GPU run put %" PRIu64 " bytes at 0x%" PRIx64 ", the replay at 0x%" PRIx64, e->bytes,
                        e->address, address);
    } else {
        r->out->allocations++;
    }
}

/* Of the operations before an allocation, those behind the last that gave something back are its own. */
static void replay_alloc(struct run *r)
{
    size_t own = r->at;
    while (own > r->group && event_takes_segment(&r->d->event[own - 1]))
        own--;
    segments_settle(r, own);
    r->op = own;
    r->ops = r->at;
    if (!r->done)
        block_allocate(r, &r->d->event[r->at]);
    r->group = r->at + 1;
}

/* A block becomes free when its free is complete: other streams may have used it until then. */
static void replay_free(struct run *r)
{
    const struct plm_history_event *e = &r->d->event[r->at];
    const bool completes = r->d->of[PLM_HISTORY_FREE_COMPLETED] != 0;
    segments_settle(r, r->at);
    r->group = r->at + 1;
    if (r->done || (e->action == PLM_HISTORY_FREE_REQUESTED && completes))
        return;
    if (plm_allocator_free(r->a, e->address))
        verdict_differs(r, e->stream, e->address, e->address,
                        "the GPU run freed %" PRIu64 " bytes at 0x%" PRIx64 ", where the replay has no block", e->bytes,
                        e->address);
}

static void replay_events(struct run *r)
{
    for (r->at = 0; r->at < r->d->events && !r->done; r->at++) {
        switch ((enum plm_history_action)r->d->event[r->at].action) {
        case PLM_HISTORY_ALLOC: replay_alloc(r); break;
        case PLM_HISTORY_FREE_REQUESTED:
        case PLM_HISTORY_FREE_COMPLETED: replay_free(r); break;
        case PLM_HISTORY_OOM:
            segments_settle(r, r->at);
            r->group = r->at + 1;
            break;
        default: break;
        }
    }
    if (!r->done && r->group < r->d->events) {
        r->at = r->d->events - 1;
        segments_settle(r, r->d->events);
    }
}

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
static uint64_t card_total(const struct plm_history_device *d, uint64_t large_segment)
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

static int allocator_seed(const struct plm_history_device *d, uint64_t large_segment, uint64_t total,
                          struct plm_allocator *a)
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

/* ---- a device, and all of them ---- */

/* A block from before the history may be up to 1 MiB larger than what was asked for; then what is free behind it
   is less. Where the replay puts something there that the GPU run did not, it was too little for that: whether it was
   says the rest of the history. */
static bool block_enlarge(const struct run *r, struct plm_history_device *d, const struct plm_history_device *given)
{
    const struct plm_allocator_settings *s = &r->trace->settings;
    size_t k = r->replayed ? plm_history_block_before(d, r->replayed - 1) : SIZE_MAX;
    struct plm_history_block *b = k == SIZE_MAX ? NULL : &d->block[k];
    uint64_t room = plm_allocator_room(r->a, r->replayed), rounded;
    if (!b || !r->asked || b->known || b->bytes <= PLM_SMALL_MOST || b->address + b->bytes != r->replayed)
        return false;
    rounded = plm_allocator_size_round(s, r->asked->bytes);
    if (room < rounded)
        return false;
    b->bytes += room - rounded + PLM_BLOCK_LEAST;
    return b->bytes - given->block[k].bytes <= PLM_SMALL_MOST;
}

static void replay_once(struct run *r)
{
    struct plm_allocator_options o = {.torch = r->out->torch,
                                      .settings = r->trace->settings,
                                      .capacity = UINT64_MAX,
                                      .place = segment_place,
                                      .visit = segment_visit,
                                      .context = r};
    int status;
    o.total = card_total(r->d, o.settings.large_segment);
    o.settings.gc_threshold = 0; /* the history says what was collected */
    status = plm_allocator_new(&o, &r->a);
    if (status == 0)
        status = allocator_seed(r->d, o.settings.large_segment, o.total, r->a);
    if (status == PLM_EINVAL) {
        verdict_unknown(r, "The history does not match the snapshot's final state, so what came before it is unknown");
    } else if (status == 0) {
        replay_events(r);
    }
}

static void replay_device(const struct plm_history *t, const struct plm_history_device *given, struct plm_verify *out)
{
    struct plm_history_device d = *given;
    const struct plm_verify before = *out;
    struct plm_verify first = before;
    bool again = true;
    if (given->blocks) {
        d.block = plm_calloc(given->blocks, sizeof d.block[0]);
        memcpy(d.block, given->block, given->blocks * sizeof d.block[0]);
    }
    for (int i = 0; i < TRIES && again; i++) {
        struct run r = {.trace = t, .d = &d, .out = out, .late = d.ranges != 0};
        *out = before;
        replay_once(&r);
        if (i == 0)
            first = *out;
        again = out->verdict == PLM_VERDICT_UNKNOWN && given->unsure && block_enlarge(&r, &d, given);
        plm_allocator_delete(r.a);
    }
    if (out->verdict != PLM_VERDICT_SAME)
        *out = first;
    if (given->blocks)
        free(d.block);
}

static void replay_all(const struct plm_history *t, enum plm_torch torch, struct plm_verify *out)
{
    *out = (struct plm_verify){.torch = torch};
    for (size_t i = 0; i < t->devices && out->verdict == PLM_VERDICT_SAME; i++)
        if (t->device[i].events)
            replay_device(t, &t->device[i], out);
}

/* The first verdict stands unless the rules of another release reproduce it all: there is no saying which one it was. */
static void try_releases(const struct plm_history *t, struct plm_verify *out)
{
    struct plm_verify other;
    replay_all(t, t->torch, out);
    for (int i = 0; i < PLM_TORCHES && out->verdict != PLM_VERDICT_SAME; i++) {
        if (i == (int)t->torch)
            continue;
        replay_all(t, (enum plm_torch)i, &other);
        if (other.verdict == PLM_VERDICT_SAME)
            *out = other;
    }
}

void plm_verify_trace(const struct plm_history *t, const enum plm_torch *torch, struct plm_verify *out)
{
    *out = (struct plm_verify){.torch = torch ? *torch : t->torch};
    if (t->settings.async) {
        out->verdict = PLM_VERDICT_UNKNOWN;
        snprintf(out->sentence, sizeof out->sentence,
                 "The history is from the cudaMallocAsync backend, where the driver decides.");
    } else if (torch) {
        replay_all(t, *torch, out);
    } else {
        try_releases(t, out);
    }
}
