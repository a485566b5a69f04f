#include "import/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/settings.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/unpickle.h"
#include "torch/facts.h"

enum { DEVICES_MOST = 64, KEYS_MOST = 256 }; /* devices: as in a record */

#define BYTES_MOST (1ull << 48) /* no memory is larger */

static const char *const actions[PLM_HISTORY_ACTIONS] = {
    "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom",
};

static uint64_t key_number(const struct plm_unpickled *p, uint32_t dict, const char *key)
{
    uint64_t value = 0;
    plm_unpickle_unsigned(p, plm_unpickle_find(p, dict, key), &value);
    return value;
}

/* References to one value cost two bytes each, what is kept of it some hundred. */
static int visit_count(const struct plm_unpickled *p, struct plm_history *t, struct plm_error *error)
{
    if (++t->visits <= plm_unpickle_values(p))
        return 0;
    return plm_fail(error, PLM_EFORMAT,
                    "this is not a memory snapshot of PyTorch: it repeats the same events or blocks");
}

/* ---- events ---- */

uint64_t plm_history_pool(const struct plm_unpickled *p, uint32_t id)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, id);
    uint64_t pool = 0, half;
    for (uint32_t part; (part = plm_unpickle_next(p, &walk)) != PLM_PICKLED_ABSENT;)
        pool = plm_unpickle_unsigned(p, part, &half) ? pool << 32 | (half & UINT32_MAX) : pool;
    return pool;
}

static int action_of(const struct plm_unpickled *p, uint32_t dict)
{
    uint32_t action = plm_unpickle_find(p, dict, "action");
    for (int i = 0; i < PLM_HISTORY_ACTIONS; i++)
        if (plm_unpickle_is(p, action, actions[i]))
            return i;
    return -1; /* a snapshot was taken, or something that a later version has */
}

/* Keys that came with a release say that it, or a later one, wrote the snapshot. */
static void look_for_release(const struct plm_unpickled *p, uint32_t dict, struct plm_history *t)
{
    static const enum plm_torch_fact keys[] = {PLM_TORCH_TRACE_COMPILE, PLM_TORCH_TRACE_POOL};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct plm_torch_row *key = plm_torch_row(keys[i]);
        enum plm_torch torch = plm_torch_of(key->since);
        if (torch > t->torch && plm_unpickle_find(p, dict, key->name) != PLM_PICKLED_ABSENT)
            t->torch = torch;
    }
}

static int read_event(const struct plm_unpickled *p, uint32_t dict, uint32_t place, struct plm_history *t,
                      struct plm_history_device *d, struct plm_error *error)
{
    const uint32_t pool = plm_unpickle_find(p, dict, "pool_id");
    int action = action_of(p, dict);
    uint64_t any;
    struct plm_history_event e = {.address = key_number(p, dict, "addr"),
                                  .bytes = key_number(p, dict, "size"),
                                  .us = key_number(p, dict, "time_us"),
                                  .stream = key_number(p, dict, "stream"),
                                  .frames = plm_unpickle_find(p, dict, "frames"),
                                  .number = place,
                                  .action = (uint8_t)action,
                                  .pool = plm_history_pool(p, pool)};
    if (action < 0)
        return 0;
    if (action != PLM_HISTORY_OOM && (!plm_unpickle_unsigned(p, plm_unpickle_find(p, dict, "size"), &any) ||
                                      !plm_unpickle_unsigned(p, plm_unpickle_find(p, dict, "addr"), &any)))
        return plm_fail(error, PLM_EFORMAT, "event %u of device %u has no valid size or address", place, d->number);
    if (action != PLM_HISTORY_OOM && (e.bytes > BYTES_MOST || e.address > UINT64_MAX - BYTES_MOST))
        return plm_fail(error, PLM_EFORMAT, "event %u of device %u has an impossible size of %llu bytes", place,
                        d->number, (unsigned long long)e.bytes);
    t->has_pools |= pool != PLM_PICKLED_ABSENT;
    look_for_release(p, dict, t);
    /* Threads may record in another order than they read the clock; here time does not go back. */
    if (d->events && e.us < d->event[d->events - 1].us)
        e.us = d->event[d->events - 1].us;
    d->of[action]++;
    d->event = plm_grow(d->event, d->events, &d->event_room, sizeof *d->event);
    d->event[d->events++] = e;
    return 0;
}

static int read_events(const struct plm_unpickled *p, uint32_t list, struct plm_history *t,
                       struct plm_history_device *d, struct plm_error *error)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, list);
    uint32_t place = 0;
    int status = 0;
    for (uint32_t dict; status == 0 && (dict = plm_unpickle_next(p, &walk)) != PLM_PICKLED_ABSENT;) {
        if (plm_unpickle_type(p, dict) != PLM_PICKLED_DICT)
            return plm_fail(error, PLM_EFORMAT, "this is not a memory snapshot of PyTorch: an event is not a dict");
        status = visit_count(p, t, error);
        if (status == 0)
            status = read_event(p, dict, place++, t, d, error);
    }
    return status;
}

/* ---- what the allocator held before the history begins: what it held at the end, with the history undone ---- */

/* Pages of expandable segments that are mapped and unmapped in the whole history: 1 TiB, and one for each value. */
#define PAGES_MOST (1ull << 19)

struct work {
    const struct plm_unpickled *p;
    struct plm_history *trace;
    struct plm_history_device *d;
    struct plm_history_range *info; /* what is known of memory that was there at some time */
    size_t infos, info_room;
    struct plm_map segment; /* address -> its info */
    struct plm_map page; /* of expandable segments -> info */
    struct plm_map seen; /* addresses that the history hands out or takes back */
    struct plm_error *error;
};

static int set_pages(struct work *w, uint64_t address, uint64_t bytes, uint64_t info)
{
    for (uint64_t at = 0; at < bytes; at += PLM_HEAP_PAGE) {
        if (++w->trace->pages > PAGES_MOST + plm_unpickle_values(w->p))
            return plm_fail(w->error, PLM_EFORMAT, "this snapshot describes more memory than possible");
        if (info == PLM_MAP_NONE)
            plm_map_remove(&w->page, address + at);
        else
            plm_map_put(&w->page, address + at, info);
    }
    return 0;
}

static bool segment_mine(const struct work *w, uint32_t segment)
{
    return plm_unpickle_type(w->p, segment) == PLM_PICKLED_DICT && key_number(w->p, segment, "device") == w->d->number;
}

/* Memory that is there. */
static int range_put(struct work *w, struct plm_history_range range)
{
    w->info = plm_grow(w->info, w->infos, &w->info_room, sizeof *w->info);
    w->info[w->infos] = range;
    if (range.expandable)
        return set_pages(w, range.address, range.bytes, w->infos++);
    plm_map_put(&w->segment, range.address, w->infos++);
    return 0;
}

static int end_segment(struct work *w, uint32_t segment)
{
    struct plm_history_range range = {
        .address = key_number(w->p, segment, "address"),
        .bytes = key_number(w->p, segment, "total_size"),
        .stream = key_number(w->p, segment, "stream"),
        .pool = plm_history_pool(w->p, plm_unpickle_find(w->p, segment, "segment_pool_id")),
        .expandable = key_number(w->p, segment, "is_expandable") != 0,
        .small = plm_unpickle_is(w->p, plm_unpickle_find(w->p, segment, "segment_type"), "small")};
    if (range.bytes > 1ull << 48 || range.address > UINT64_MAX - range.bytes)
        return plm_fail(w->error, PLM_EFORMAT, "a segment cannot have %llu bytes", (unsigned long long)range.bytes);
    if (visit_count(w->p, w->trace, w->error) < 0)
        return PLM_EFORMAT;
    w->d->end_reserved += range.bytes;
    w->d->end_allocated += key_number(w->p, segment, "allocated_size");
    return range_put(w, range);
}

static int event_undo(struct work *w, const struct plm_history_event *e)
{
    struct plm_history_range range = {e->address, e->bytes, e->stream, e->pool, false, e->bytes == PLM_SMALL_SEGMENT};
    switch ((enum plm_history_action)e->action) {
    case PLM_HISTORY_SEGMENT_ALLOC: plm_map_remove(&w->segment, e->address); return 0;
    case PLM_HISTORY_SEGMENT_FREE: return range_put(w, range);
    case PLM_HISTORY_SEGMENT_MAP: return set_pages(w, e->address, e->bytes, PLM_MAP_NONE);
    case PLM_HISTORY_SEGMENT_UNMAP:
        range.expandable = true;
        range.small = e->bytes % w->trace->settings.large_segment != 0;
        return range_put(w, range);
    default: return 0;
    }
}

static void range_add(struct work *w, uint64_t address, uint64_t bytes, const struct plm_history_range *info)
{
    struct plm_history_range *range;
    w->d->range = plm_grow(w->d->range, w->d->ranges, &w->d->range_room, sizeof *range);
    range = &w->d->range[w->d->ranges++];
    *range = *info;
    range->address = address;
    range->bytes = bytes;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct plm_history_range *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* Pages that follow each other are one range. */
static void join_ranges(struct plm_history_device *d)
{
    size_t kept = 0;
    if (!d->ranges)
        return;
    qsort(d->range, d->ranges, sizeof d->range[0], compare_ranges);
    for (size_t i = 1; i < d->ranges; i++) {
        struct plm_history_range *last = &d->range[kept];
        if (last->expandable && d->range[i].expandable && last->address + last->bytes == d->range[i].address &&
            last->stream == d->range[i].stream && last->pool == d->range[i].pool && last->small == d->range[i].small)
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
        status = event_undo(w, &w->d->event[i]);
    for (size_t i = 0; i < w->segment.slots; i++)
        if (w->segment.slot[i].value != PLM_MAP_NONE)
            range_add(w, w->segment.slot[i].key, w->info[w->segment.slot[i].value].bytes,
                      &w->info[w->segment.slot[i].value]);
    for (size_t i = 0; i < w->page.slots; i++)
        if (w->page.slot[i].value != PLM_MAP_NONE)
            range_add(w, w->page.slot[i].key, PLM_HEAP_PAGE, &w->info[w->page.slot[i].value]);
    join_ranges(w->d);
    return status;
}

/* ---- blocks ---- */

static void block_add(struct work *w, struct plm_history_block block)
{
    w->d->block = plm_grow(w->d->block, w->d->blocks, &w->d->block_room, sizeof *w->d->block);
    w->d->block[w->d->blocks++] = block;
}

/* What is taken back without having been handed out was there. Its size is what was asked for, rounded. */
static void find_freed(struct work *w)
{
    for (size_t i = 0; i < w->d->events; i++) {
        const struct plm_history_event *e = &w->d->event[i];
        if (e->action > PLM_HISTORY_FREE_COMPLETED || plm_map_get(&w->seen, e->address) != PLM_MAP_NONE)
            continue;
        plm_map_put(&w->seen, e->address, 0);
        if (e->action != PLM_HISTORY_ALLOC)
            block_add(w, (struct plm_history_block){.address = e->address,
                                                    .bytes = plm_allocator_size_round(&w->trace->settings, e->bytes),
                                                    .stream = e->stream,
                                                    .pool = e->pool,
                                                    .until = i,
                                                    .frames = PLM_PICKLED_ABSENT,
                                                    .pending = e->action == PLM_HISTORY_FREE_COMPLETED});
    }
}

/* What is there at the end and does not occur in the history was there all the time. */
static int find_kept(struct work *w, uint32_t segment)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(w->p, plm_unpickle_find(w->p, segment, "blocks"));
    const uint64_t pool = plm_history_pool(w->p, plm_unpickle_find(w->p, segment, "segment_pool_id"));
    uint64_t at = key_number(w->p, segment, "address");
    for (uint32_t b; (b = plm_unpickle_next(w->p, &walk)) != PLM_PICKLED_ABSENT;) {
        int status = visit_count(w->p, w->trace, w->error);
        struct plm_history_block block = {.address = key_number(w->p, b, "address"),
                                          .bytes = key_number(w->p, b, "size"),
                                          .stream = key_number(w->p, segment, "stream"),
                                          .pool = pool,
                                          .until = SIZE_MAX,
                                          .frames = plm_unpickle_find(w->p, b, "frames"),
                                          .known = true};
        const uint32_t state = plm_unpickle_find(w->p, b, "state");
        if (status < 0)
            return status;
        if (!block.address)
            block.address = at; /* before 2.1 only the order of the blocks tells */
        at = block.address + block.bytes;
        block.pending = !plm_unpickle_is(w->p, state, "active_allocated");
        if (!plm_unpickle_is(w->p, state, "inactive") && block.bytes <= 1ull << 48 &&
            plm_map_get(&w->seen, block.address) == PLM_MAP_NONE)
            block_add(w, block);
    }
    return 0;
}

static int compare_blocks(const void *a, const void *b)
{
    const struct plm_history_block *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* ---- the rest that a large block did not leave ---- */

size_t plm_history_block_before(const struct plm_history_device *d, uint64_t address)
{
    size_t after = PLM_SEARCH(i, d->blocks, d->block[i].address <= address);
    return after ? after - 1 : SIZE_MAX;
}

/* What is handed out first behind a block begins where it ends. */
static void ends_by_allocations(struct plm_history_device *d)
{
    for (size_t i = 0; i < d->events; i++) {
        const struct plm_history_event *e = &d->event[i];
        size_t k = e->action == PLM_HISTORY_ALLOC ? plm_history_block_before(d, e->address) : SIZE_MAX;
        struct plm_history_block *b = k == SIZE_MAX ? NULL : &d->block[k];
        if (!b || b->known || b->until < i || b->bytes <= PLM_SMALL_MOST || e->address < b->address + b->bytes ||
            e->address - b->address - b->bytes > PLM_SMALL_MOST)
            continue;
        b->bytes = e->address - b->address;
        b->known = true;
    }
}

/* Free memory in a segment of large blocks is always more than 1 MiB: less belongs to the block before it. */
static void settle_sizes(struct plm_history_device *d, const struct plm_allocator_settings *s)
{
    size_t k = 0;
    if (!s->expandable)
        ends_by_allocations(d);
    for (size_t i = 0; i < d->ranges; i++) {
        const struct plm_history_range *r = &d->range[i];
        const uint64_t end = r->address + r->bytes;
        for (; k < d->blocks && d->block[k].address < end; k++) {
            struct plm_history_block *b = &d->block[k];
            uint64_t next = k + 1 < d->blocks && d->block[k + 1].address < end ? d->block[k + 1].address : end, gap;
            if (b->address < r->address || r->expandable || b->bytes <= PLM_SMALL_MOST || b->known ||
                b->bytes > next - b->address)
                continue;
            gap = next - b->address - b->bytes;
            b->known = gap <= PLM_SMALL_MOST || b->bytes >= s->max_split_size;
            b->bytes += b->known ? gap : 0;
            d->unsure |= !b->known;
        }
    }
}

/* ---- private pools ---- */

struct owned {
    uint64_t address, bytes, pool, since; /* the event that made the segment; 0: none */
};

static int compare_owned(const void *a, const void *b)
{
    const struct owned *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static void find_owned(struct work *w, struct owned *owned, size_t *count)
{
    struct plm_map since = {0};
    for (size_t i = 0; i < w->d->events; i++)
        if (w->d->event[i].action == PLM_HISTORY_SEGMENT_ALLOC)
            plm_map_put(&since, w->d->event[i].address, i);
    for (size_t k = 0; k < w->infos; k++) {
        const struct plm_history_range *r = &w->info[k];
        uint64_t from = plm_map_get(&since, r->address);
        if (r->pool)
            owned[(*count)++] = (struct owned){r->address, r->bytes, r->pool, from == PLM_MAP_NONE ? 0 : from};
    }
    plm_map_free(&since);
}

/* Releases that do not tell the pool of an event: it is that of the segment, which the end of the snapshot tells. */
static void tell_pools(struct work *w)
{
    struct owned *owned = plm_calloc(w->infos + 1, sizeof *owned);
    size_t count = 0;
    find_owned(w, owned, &count);
    if (count)
        qsort(owned, count, sizeof *owned, compare_owned);
    for (size_t i = 0; i < w->d->events && count; i++) {
        struct plm_history_event *e = &w->d->event[i];
        const size_t after = PLM_SEARCH(k, count, owned[k].address <= e->address);
        const struct owned *in = after ? &owned[after - 1] : &owned[0];
        if (e->address - in->address < in->bytes && i >= in->since)
            e->pool = in->pool;
    }
    free(owned);
}

/* ---- all of it ---- */

static int each_segment(struct work *w, uint32_t segments, int (*visit)(struct work *w, uint32_t segment))
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(w->p, segments);
    int status = 0;
    for (uint32_t s; status == 0 && (s = plm_unpickle_next(w->p, &walk)) != PLM_PICKLED_ABSENT;)
        if (segment_mine(w, s))
            status = visit(w, s);
    return status;
}

static int find_start(const struct plm_unpickled *p, uint32_t segments, struct plm_history *trace,
                      struct plm_history_device *d, struct plm_error *error)
{
    struct work w = {.p = p, .trace = trace, .d = d, .error = error};
    int status = each_segment(&w, segments, end_segment);
    if (status == 0 && !trace->has_pools)
        tell_pools(&w);
    find_freed(&w);
    if (status == 0)
        status = each_segment(&w, segments, find_kept);
    if (status == 0)
        status = find_ranges(&w);
    if (d->blocks)
        qsort(d->block, d->blocks, sizeof d->block[0], compare_blocks);
    if (status == 0)
        settle_sizes(d, &trace->settings);
    free(w.info);
    plm_map_free(&w.segment);
    plm_map_free(&w.page);
    plm_map_free(&w.seen);
    return status;
}

static int read_devices(const struct plm_unpickled *p, uint32_t traces, uint32_t segments, struct plm_history *t,
                        struct plm_error *error)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, traces);
    int status = 0;
    for (uint32_t list; status == 0 && (list = plm_unpickle_next(p, &walk)) != PLM_PICKLED_ABSENT;) {
        struct plm_history_device *d;
        if (t->devices == DEVICES_MOST)
            return plm_fail(error, PLM_EFORMAT, "this snapshot has more than %d devices", DEVICES_MOST);
        t->device = plm_grow(t->device, t->devices, &t->room, sizeof *d);
        d = &t->device[t->devices];
        *d = (struct plm_history_device){.number = (unsigned)t->devices++};
        status = read_events(p, list, t, d, error);
        if (status == 0)
            status = find_start(p, segments, t, d, error);
        if (status == 0 && d->events && (!t->first_us || d->event[0].us < t->first_us))
            t->first_us = d->event[0].us;
    }
    return status;
}

/* ---- settings and steps ---- */

static void read_divisions(const struct plm_unpickled *p, uint32_t dict, struct plm_allocator_settings *s)
{
    char key[16];
    for (unsigned i = 0; i < PLM_ROUNDUP_INTERVALS; i++) {
        uint64_t value;
        snprintf(key, sizeof key, "%u", 1u << i);
        value = key_number(p, dict, key);
        s->roundup[i] = value < 1u << 20 && !(value & (value - 1)) ? value : 0;
    }
}

/* What the snapshot lists was in force at its end; the rest follows from the text of the setting. */
static void read_settings(const struct plm_unpickled *p, uint32_t dict, struct plm_history *t)
{
    /* The name is the setting's environment variable, which later versions call differently. */
    static const char *const names[] = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};
    struct plm_allocator_settings *s = &t->settings;
    const uint32_t expandable = plm_unpickle_find(p, dict, "expandable_segments");
    struct plm_error ignored;
    snprintf(t->allocator, sizeof t->allocator, "default");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = 0;
        const char *text = plm_unpickle_text(p, plm_unpickle_find(p, dict, names[i]), &n);
        if (n && n < sizeof t->allocator)
            snprintf(t->allocator, sizeof t->allocator, "%.*s", (int)n, text);
    }
    if (strcmp(t->allocator, "default") == 0 ||
        plm_allocator_settings_parse(t->allocator, PLM_TORCHES - 1, s, &ignored) < 0)
        plm_allocator_settings_parse("", PLM_TORCHES - 1, s, &ignored);
    s->fraction = -1;
    if (dict == PLM_PICKLED_ABSENT)
        return;
    if (!plm_unpickle_unsigned(p, plm_unpickle_find(p, dict, "max_split_size"), &s->max_split_size) ||
        !s->max_split_size)
        s->max_split_size = UINT64_MAX; /* -1 */
    if (!plm_unpickle_real(p, plm_unpickle_find(p, dict, "garbage_collection_threshold"), &s->gc_threshold))
        s->gc_threshold = 0;
    if (expandable != PLM_PICKLED_ABSENT)
        s->expandable = key_number(p, dict, "expandable_segments") != 0;
    read_divisions(p, plm_unpickle_find(p, dict, "roundup_power2_divisions"), s);
}

/* Annotations tell when optimizers stepped. Of several, the first one counts. */
static int read_steps(const struct plm_unpickled *p, uint32_t list, struct plm_history *t, struct plm_error *error)
{
    static const char prefix[] = "Optimizer.step#";
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, list);
    const char *first = NULL;
    size_t first_length = 0;
    for (uint32_t dict; (dict = plm_unpickle_next(p, &walk)) != PLM_PICKLED_ABSENT;) {
        size_t n = 0;
        const char *name = plm_unpickle_text(p, plm_unpickle_find(p, dict, "name"), &n);
        uint64_t us = key_number(p, dict, "time_us");
        if (visit_count(p, t, error) < 0)
            return PLM_EFORMAT;
        if (!name || n < sizeof prefix || memcmp(name, prefix, sizeof prefix - 1) != 0 || us < t->first_us ||
            !plm_unpickle_is(p, plm_unpickle_find(p, dict, "stage"), "END"))
            continue;
        if (!first) {
            first = name;
            first_length = n;
        }
        if (n != first_length || memcmp(name, first, n) != 0)
            continue;
        t->step_us = plm_grow(t->step_us, t->steps, &t->step_room, sizeof *t->step_us);
        t->step_us[t->steps] = t->steps && us < t->step_us[t->steps - 1] ? t->step_us[t->steps - 1] : us;
        t->steps++;
    }
    return 0;
}

/* ---- all of it ---- */

int plm_history_read(const struct plm_unpickled *p, struct plm_history *t, struct plm_error *error)
{
    const uint32_t root = plm_unpickle_root(p), traces = plm_unpickle_find(p, root, "device_traces"),
                   segments = plm_unpickle_find(p, root, "segments");
    size_t events = 0;
    int status;
    *t = (struct plm_history){0};
    if (traces == PLM_PICKLED_ABSENT || segments == PLM_PICKLED_ABSENT)
        return plm_fail(error, PLM_EFORMAT, "this is not a memory snapshot of PyTorch: it has no %s",
                        traces == PLM_PICKLED_ABSENT ? "device_traces" : "segments");
    if (plm_unpickle_keys(p) > KEYS_MOST)
        return plm_fail(error, PLM_EFORMAT,
                        "this is not a memory snapshot of PyTorch: a dict in it has more than %d keys", KEYS_MOST);
    read_settings(p, plm_unpickle_find(p, root, "allocator_settings"), t);
    status = read_devices(p, traces, segments, t, error);
    for (size_t i = 0; i < t->devices; i++)
        events += t->device[i].events;
    if (status == 0 && !events)
        status = plm_fail(error, PLM_EFORMAT,
                          "this snapshot has no history: call torch.cuda.memory._record_memory_history() before the "
                          "training starts");
    if (status == 0)
        status = read_steps(p, plm_unpickle_find(p, root, "external_annotations"), t, error);
    if (status < 0)
        plm_history_free(t);
    return status;
}

void plm_history_free(struct plm_history *t)
{
    for (size_t i = 0; i < t->devices; i++) {
        free(t->device[i].event);
        free(t->device[i].range);
        free(t->device[i].block);
    }
    free(t->device);
    free(t->step_us);
    *t = (struct plm_history){0};
}
