#include "analysis/summary.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/events.h"
#include "record/told.h"

/* Bounds that no card and no job passes, so that a damaged record cannot make sums overflow. */
#define BYTES_MOST (1ull << 44)
enum { STEPS_MOST = 1 << 30 };

static void *items_grow(void *array, int count, int *room, size_t size)
{
    if (count < *room)
        return array;
    if (*room > INT_MAX / 2)
        plm_out_of_memory();
    *room = *room ? 2 * *room : 8;
    return plm_realloc(array, (size_t)*room, size);
}

/* Its place. A damaged record may hold as many different ones as it has events. */
static int count_add(struct plm_counts *c, const char *name, const char *detail, uint64_t bytes)
{
    char *text = plm_asprintf("%s\x1f%s", name, detail);
    const int at = (int)plm_names_add(&c->seen, text) - 1;
    free(text);
    if (at < c->count) {
        c->item[at].calls++;
        c->item[at].bytes += bytes;
        return at;
    }
    c->item = items_grow(c->item, c->count, &c->room, sizeof *c->item);
    c->item[c->count] = (struct plm_summary_count){plm_strdup(name), plm_strdup(detail), 1, bytes};
    return c->count++;
}

static struct plm_summary_device *device_at(struct plm_summary_work *w, uint32_t process, int device)
{
    struct plm_summary *s = w->summary;
    struct plm_summary_device *d;
    if (w->last_device < s->devices) {
        d = &s->device[w->last_device];
        if (d->process == process && d->device == device)
            return d;
    }
    for (int i = 0; i < s->devices; i++)
        if (s->device[i].process == process && s->device[i].device == device) {
            w->last_device = i;
            return &s->device[i];
        }
    s->device = items_grow(s->device, s->devices, &s->device_room, sizeof *d);
    d = &s->device[s->devices++];
    memset(d, 0, sizeof *d);
    d->process = process;
    d->rank = -1;
    d->device = device;
    return d;
}

static void raise_to(uint64_t *peak, uint64_t value)
{
    if (*peak < value)
        *peak = value;
}

static void set_allocated(struct plm_summary_device *d, struct plm_summary_level now)
{
    d->allocated = now.allocated;
    if (d->allocated > d->allocated_peak.bytes)
        d->allocated_peak = (struct plm_summary_peak){d->allocated, now.moment, (uint32_t)d->steps};
    raise_to(&d->current.allocated_peak, d->allocated);
}

static void raise_reserved(struct plm_summary_device *d)
{
    raise_to(&d->reserved_peak, d->reserved);
    raise_to(&d->current.reserved_peak, d->reserved);
}

static void step_add(struct plm_summary_device *d, struct plm_step step)
{
    d->step = items_grow(d->step, d->steps, &d->step_room, sizeof *d->step);
    d->step[d->steps++] = step;
}

/* A step ends on every device of its process at once. One that is used for the first time in a later step had nothing in
   those before; a damaged record may have any number, so no more of them are added than steps have ended. */
static void step_end(struct plm_summary *s, const struct plm_record_event *e)
{
    const uint32_t told = plm_get_step(e).step;
    const int number = told <= STEPS_MOST ? (int)told : 0;
    if (number > s->steps)
        s->steps = number;
    s->step_events++;
    for (int i = 0; i < s->devices; i++) {
        struct plm_summary_device *d = &s->device[i];
        if (d->process != e->process || number <= d->steps)
            continue;
        while (d->steps + 1 < number && d->steps + 1 < s->step_events)
            step_add(d, (struct plm_step){0});
        step_add(d, d->current);
        d->current = (struct plm_step){d->allocated, d->reserved, d->used};
    }
}

/* A damaged record may free more than it took. */
static uint64_t bytes_less(uint64_t value, uint64_t size)
{
    return value > size ? value - size : 0;
}

/* ---- who took memory outside of the caching allocator ---- */

/* The entry of that name; the last one stands for all that there is no room for. */
static struct plm_taker *taker_of(struct plm_summary_device *d, const char *name)
{
    struct plm_taker *t;
    name = *name ? name : "unnamed";
    for (int i = 0; i < d->takers; i++)
        if (!strncmp(d->taker[i].name, name, sizeof d->taker[i].name - 1))
            return &d->taker[i];
    if (d->takers == PLM_TAKERS)
        return &d->taker[PLM_TAKERS - 1];
    t = &d->taker[d->takers++];
    snprintf(t->name, sizeof t->name, "%s", d->takers == PLM_TAKERS ? "others" : name);
    return t;
}

/* More of the card is taken now than ever before. */
static void takers_at_peak(struct plm_summary_device *d)
{
    for (int i = 0; i < d->takers; i++)
        d->taker[i].at_peak = d->taker[i].now;
    d->peaks++;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/* How certain a library's memory is, as the process told. */
static void taker_range(struct plm_summary_device *d, const char *name, uint64_t low, uint64_t high)
{
    struct plm_taker *t;
    if (!*name)
        return;
    t = taker_of(d, name);
    t->low = at_most(low, BYTES_MOST);
    t->high = at_most(high, BYTES_MOST);
}

/* What the process told that decides about the size of its context. */
static void taker_footprint(struct plm_summary_device *d, const struct plm_ev_footprint *f)
{
    d->overhead = (struct plm_overhead){.sms = (unsigned)at_most(f->sms, 4096),
                                        .threads = (unsigned)at_most(f->threads, 65536),
                                        .eager = f->eager != 0,
                                        .code = at_most(f->code, BYTES_MOST),
                                        .kernels = at_most(f->kernels, BYTES_MOST),
                                        .guessed = at_most(f->guessed, BYTES_MOST),
                                        .stack = at_most(f->stack_bytes, 1u << 20),
                                        .printf_bytes = at_most(f->printf_bytes, BYTES_MOST),
                                        .heap = at_most(f->heap_bytes, BYTES_MOST),
                                        .graph_nodes = at_most(f->graph_nodes, 1u << 30),
                                        .libraries = f->libraries};
}

/* A MEMORY_FREE has the fields of a MEMORY_ALLOC. */
static void memory_visit(struct plm_summary_work *w, struct plm_summary_device *d, const struct plm_record_event *e,
                         bool alloc)
{
    const struct plm_ev_memory_alloc said = plm_get_memory_alloc(e);
    const uint64_t size = said.bytes;
    d->used = alloc ? d->used + size : bytes_less(d->used, size);
    d->oom_open &= !alloc;
    if (said.kind == PLM_RECORD_LIBRARY) {
        struct plm_taker *t = taker_of(d, plm_record_string(w->record, e->process, said.owner));
        d->libraries = alloc ? d->libraries + size : bytes_less(d->libraries, size);
        t->now = alloc ? t->now + size : bytes_less(t->now, size);
    }
    if (d->used > d->used_peak)
        takers_at_peak(d);
    raise_to(&d->used_peak, d->used);
    raise_to(&d->current.used_peak, d->used);
    raise_to(&d->libraries_peak, d->libraries);
}

static void on_device(struct plm_summary_work *w, const struct plm_record_event *e,
                      const struct plm_summary_level *level)
{
    struct plm_summary_device *d = device_at(w, e->process, e->device);
    struct plm_ev_readback readback;
    d->first_ns = d->last_ns ? d->first_ns : e->time_ns;
    d->last_ns = e->time_ns;
    switch (e->type) {
    case PLM_EV_BLOCK_ALLOC:
        w->summary->blocks++;
        d->caching = true;
        d->oom_open = false;
        set_allocated(d, level ? *level : (struct plm_summary_level){d->allocated + plm_get_block_alloc(e).bytes, 0});
        break;
    case PLM_EV_BLOCK_FREE:
        w->summary->blocks++;
        d->caching = true;
        d->allocated = level ? level->allocated : bytes_less(d->allocated, plm_get_block_free(e).bytes);
        break;
    case PLM_EV_RESERVED:
        d->reserved = plm_get_reserved(e).bytes;
        raise_reserved(d);
        break;
    case PLM_EV_MEMORY_ALLOC: memory_visit(w, d, e, true); break;
    case PLM_EV_MEMORY_FREE: memory_visit(w, d, e, false); break;
    case PLM_EV_OOM:
        d->out_of_memory = true;
        d->oom_asked = plm_get_oom(e).bytes;
        d->oom_steps = d->steps;
        d->oom_open = true;
        break;
    case PLM_EV_READBACK:
        readback = plm_get_readback(e);
        count_add(&d->readbacks, plm_record_string(w->record, e->process, readback.op), "", readback.bytes);
        break;
    default: break;
    }
}

/* Until then it held what it had not given back. */
static void process_end(struct plm_summary *s, const struct plm_record_event *e)
{
    for (int i = 0; i < s->devices; i++)
        if (s->device[i].process == e->process) {
            s->device[i].last_ns = e->time_ns;
            s->device[i].status = (int)(plm_get_end(e).status & 0xff);
        }
}

static void count_texts(struct plm_summary_work *w, struct plm_counts *counts, const struct plm_record_event *e,
                        uint32_t name, uint32_t detail)
{
    count_add(counts, plm_record_string(w->record, e->process, name), plm_record_string(w->record, e->process, detail),
              0);
}

static void group_visit(struct plm_summary *s, const struct plm_record_event *e)
{
    const uint32_t ranks = plm_get_group(e).size;
    s->groups++;
    s->group_ranks = ranks > s->group_ranks ? ranks : s->group_ranks;
}

static void note_visit(struct plm_summary_work *w, const struct plm_record_event *e)
{
    const struct plm_ev_note said = plm_get_note(e);
    count_texts(w, &w->summary->notes, e, said.key, said.value);
}

static void refused_visit(struct plm_summary_work *w, const struct plm_record_event *e)
{
    const struct plm_ev_refused said = plm_get_refused(e);
    count_texts(w, &w->summary->unmodelled, e, said.symbol, said.library);
}

/* Ranks come as a configuration event of each process, which may stand before its first device event. */
static void keep_rank(struct plm_summary_work *w, uint32_t process, const char *value)
{
    w->rank = items_grow(w->rank, w->ranks, &w->rank_room, sizeof *w->rank);
    w->rank[w->ranks++] = (struct plm_summary_rank){process, atoi(value)};
}

/* Words are asked for one by one, and there may be many. What was said first counts. */
static void keep_word(struct plm_summary *s, const char *key, int place)
{
    unsigned number;
    int end = 0;
    if (sscanf(key, "argv[%9u]%n", &number, &end) == 1 && end && !key[end] &&
        plm_map_get(&s->words, number) == PLM_MAP_NONE)
        plm_map_put(&s->words, number, (uint64_t)place);
}

static void config_visit(struct plm_summary_work *w, const struct plm_record_event *e)
{
    const struct plm_ev_config said = plm_get_config(e);
    const char *key = plm_record_string(w->record, e->process, said.key);
    const char *value = plm_record_string(w->record, e->process, said.value);
    if (!strcmp(key, "rank"))
        keep_rank(w, e->process, value);
    keep_word(w->summary, key, count_add(&w->summary->config, key, value, 0));
}

/* Of devices it is said again as it grows; of the job, what was said first counts. */
static void told_visit(struct plm_summary_work *w, uint32_t process, const struct plm_told *t)
{
    struct plm_summary *s = w->summary;
    struct plm_summary_device *d;
    switch (t->type) {
    case PLM_EV_FOOTPRINT:
    case PLM_EV_LIBRARY_RANGE:
        d = device_at(w, process, t->device);
        if (t->type == PLM_EV_FOOTPRINT) {
            taker_footprint(d, &t->footprint);
            d->card = t->footprint.card;
        } else
            taker_range(d, t->text, t->range.low, t->range.high);
        break;
    case PLM_EV_CONTEXT_MEMORY:
        if (s->context.known)
            break;
        s->context =
            (struct plm_summary_context){true, at_most(t->context.bytes, BYTES_MOST),
                                         at_most(t->context.low, BYTES_MOST), at_most(t->context.high, BYTES_MOST), ""};
        memcpy(s->context.source, t->text, sizeof t->text);
        break;
    case PLM_EV_STACK_MEMORY:
        if (t->stack.figure == PLM_STACK_USABLE && !s->stack_usable)
            s->stack_usable = at_most(t->stack.low, BYTES_MOST);
        break;
    default:
        w->end = plm_grow(w->end, w->ends, &w->end_room, sizeof *w->end);
        w->end[w->ends++] =
            (struct plm_summary_end){t->other_end.rank, t->device, at_most(t->other_end.reserved, BYTES_MOST)};
    }
}

/* ---- many ranks ---- */

static void communicator_visit(struct plm_summary_work *w, const struct plm_record_event *e)
{
    struct plm_summary_device *d = device_at(w, e->process, e->device);
    plm_communicators_visit(&d->communicators, w->record, e, d->peaks);
}

static void kind_visit(struct plm_summary_work *w, const struct plm_record_event *e)
{
    const struct plm_ev_kind said = plm_get_kind(e);
    struct plm_summary *s = w->summary;
    s->kind = plm_grow(s->kind, s->kinds, &s->kind_room, sizeof *s->kind);
    s->kind[s->kinds++] = (struct plm_summary_kind){said.rank, said.count ? said.count : 1,
                                                    plm_strdup(plm_record_string(w->record, e->process, said.ranks)),
                                                    plm_strdup(plm_record_string(w->record, e->process, said.why))};
}

static void shard_visit(struct plm_summary *s, const struct plm_record_event *e)
{
    const struct plm_ev_shard said = plm_get_shard(e);
    if (said.category >= PLM_CATEGORIES || !said.whole || said.local > said.whole)
        return;
    s->shard = plm_grow(s->shard, s->shards, &s->shard_room, sizeof *s->shard);
    s->shard[s->shards++] = (struct plm_shard){e->process, (enum plm_category)said.category, said.local, said.whole};
}

/* ---- types of numbers ---- */

/* As the documentation of CUDA and cuDNN numbers them; 8 bits: e4m3 and e5m2. */
static unsigned cuda_type(unsigned type)
{
    return type == 14 ? 1u << PLM_TYPE_BF16 : type == 28 || type == 29 ? 1u << PLM_TYPE_FP8 : 0;
}

static unsigned cudnn_type(unsigned type)
{
    return type == 9 ? 1u << PLM_TYPE_BF16 : type == 12 || type == 13 ? 1u << PLM_TYPE_FP8 : 0;
}

static unsigned types_of(const struct plm_record_event *e)
{
    struct plm_ev_gemm gemm;
    switch (e->type) {
    case PLM_EV_GEMM: gemm = plm_get_gemm(e); return cuda_type(gemm.type_a) | cuda_type(gemm.type_b);
    case PLM_EV_CONVOLUTION: return cudnn_type(plm_get_convolution(e).data_type);
    default: return cudnn_type(plm_get_attention(e).data_type);
    }
}

void plm_summary_visit(struct plm_summary_work *w, const struct plm_record_event *e,
                       const struct plm_summary_level *level)
{
    struct plm_told t;
    w->last_ns = e->time_ns;
    switch (e->type) {
    case PLM_EV_STEP: step_end(w->summary, e); break;
    case PLM_EV_FOOTPRINT:
    case PLM_EV_LIBRARY_RANGE:
    case PLM_EV_CONTEXT_MEMORY:
    case PLM_EV_STACK_MEMORY:
    case PLM_EV_OTHER_END:
    case PLM_EV_CONFIG:
        if (plm_record_told(w->record, e, &t))
            told_visit(w, e->process, &t);
        else
            config_visit(w, e);
        break;
    case PLM_EV_NOTE: note_visit(w, e); break;
    case PLM_EV_COMMUNICATOR: communicator_visit(w, e); break;
    case PLM_EV_GROUP: group_visit(w->summary, e); break;
    case PLM_EV_KIND: kind_visit(w, e); break;
    case PLM_EV_SHARD: shard_visit(w->summary, e); break;
    case PLM_EV_REFUSED: refused_visit(w, e); break;
    case PLM_EV_LAUNCHES: w->summary->launches += plm_get_launches(e).launches; break;
    case PLM_EV_PROCESS: w->summary->processes++; break;
    case PLM_EV_END: process_end(w->summary, e); break;
    case PLM_EV_GEMM:
    case PLM_EV_CONVOLUTION:
    case PLM_EV_ATTENTION: w->summary->types |= types_of(e); break;
    case PLM_EV_BLOCK_ALLOC:
    case PLM_EV_BLOCK_FREE:
    case PLM_EV_RESERVED:
    case PLM_EV_MEMORY_ALLOC:
    case PLM_EV_MEMORY_FREE:
    case PLM_EV_OOM:
    case PLM_EV_READBACK: on_device(w, e, level); break;
    default: break;
    }
}

static void set_ranks(const struct plm_summary_work *w)
{
    for (int i = 0; i < w->summary->devices; i++)
        for (int k = 0; k < w->ranks; k++)
            if (w->rank[k].process == w->summary->device[i].process)
                w->summary->device[i].rank = w->rank[k].rank;
}

/* Without an allocator that reports blocks (PYTORCH_NO_CUDA_MEMORY_CACHING), every tensor is an allocation
   of the card's. */
static void without_blocks(struct plm_summary_device *d)
{
    if (d->caching)
        return;
    d->allocated_peak.bytes = d->reserved_peak = d->used_peak;
    for (int i = 0; i < d->steps; i++)
        d->step[i].allocated_peak = d->step[i].reserved_peak = d->step[i].used_peak;
}

/* Devices that were only looked at are left out. Processes that say no rank are numbered as they came. */
static void tidy(struct plm_summary *s)
{
    int kept = 0, rank = -1;
    uint32_t last = UINT32_MAX;
    for (int i = 0; i < s->devices; i++) {
        struct plm_summary_device *d = &s->device[i];
        if (d->used_peak || d->allocated_peak.bytes || d->readbacks.count || d->out_of_memory)
            s->device[kept++] = *d;
        else {
            free(d->step);
            plm_communicators_free(&d->communicators);
        }
    }
    for (int i = 0; i < kept; i++) {
        without_blocks(&s->device[i]);
        plm_communicators_finish(&s->device[i].communicators, s->device[i].peaks);
        rank += s->device[i].process != last;
        last = s->device[i].process;
        if (s->device[i].rank < 0)
            s->device[i].rank = rank;
    }
    s->devices = kept;
}

static void set_other_ends(const struct plm_summary_work *w)
{
    for (int i = 0; i < w->summary->devices; i++)
        for (size_t k = w->ends; k-- > 0;) {
            struct plm_summary_device *d = &w->summary->device[i];
            if (w->end[k].rank == (uint32_t)d->rank && w->end[k].device == d->device)
                d->other_end = w->end[k].reserved;
        }
}

static void set_solo(struct plm_summary *s)
{
    const bool solo = plm_summary_config(s, "world") != NULL;
    for (int i = 0; i < s->devices; i++)
        s->device[i].solo = solo;
}

static int by_rank(const void *a, const void *b)
{
    const struct plm_summary_device *x = a, *y = b;
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->device - y->device;
}

void plm_summary_begin(struct plm_summary_work *w, struct plm_summary *s, struct plm_record *record)
{
    struct plm_record_info info = plm_record_info(record);
    memset(s, 0, sizeof *s);
    *w = (struct plm_summary_work){.summary = s, .record = record};
    s->created_ns = info.created_ns;
    s->ended = info.ended;
    s->missing = plm_record_missing(record);
}

void plm_summary_finish(struct plm_summary_work *w)
{
    struct plm_summary *s = w->summary;
    const uint64_t shown = plm_record_info(w->record).launches;
    s->seconds = (double)w->last_ns * 1e-9;
    s->launches = shown > s->launches ? shown : s->launches; /* a process that was killed left no sum */
    set_ranks(w);
    tidy(s);
    set_other_ends(w);
    set_solo(s);
    if (s->devices)
        qsort(s->device, (size_t)s->devices, sizeof *s->device, by_rank);
    free(w->rank);
    free(w->end);
    w->rank = NULL;
    w->end = NULL;
}

static int event_visit(const struct plm_record_event *e, void *context)
{
    plm_summary_visit(context, e, NULL);
    return 0;
}

int plm_summary_read(const char *path, struct plm_summary *s, struct plm_error *error)
{
    struct plm_summary_work w;
    struct plm_record *record;
    int status = plm_record_open(path, &record, error);
    if (status < 0)
        return status;
    plm_summary_begin(&w, s, record);
    status = plm_record_each(record, event_visit, &w, error);
    plm_summary_finish(&w);
    plm_record_free(record);
    if (status < 0)
        plm_summary_free(s);
    return status;
}

static void counts_free(struct plm_counts *c)
{
    for (int i = 0; i < c->count; i++) {
        free(c->item[i].name);
        free(c->item[i].detail);
    }
    free(c->item);
    plm_names_free(&c->seen);
}

void plm_summary_free(struct plm_summary *s)
{
    for (int i = 0; i < s->devices; i++) {
        free(s->device[i].step);
        plm_communicators_free(&s->device[i].communicators);
        counts_free(&s->device[i].readbacks);
    }
    free(s->device);
    for (size_t i = 0; i < s->kinds; i++) {
        free(s->kind[i].ranks);
        free(s->kind[i].why);
    }
    free(s->kind);
    free(s->shard);
    counts_free(&s->unmodelled);
    counts_free(&s->notes);
    counts_free(&s->config);
    plm_map_free(&s->words);
    memset(s, 0, sizeof *s);
}

const char *plm_summary_config(const struct plm_summary *s, const char *key)
{
    for (int i = 0; i < s->config.count; i++)
        if (!strcmp(s->config.item[i].name, key))
            return s->config.item[i].detail;
    return NULL;
}

const char *plm_summary_word(const struct plm_summary *s, int i)
{
    const uint64_t at = plm_map_get(&s->words, (uint64_t)i);
    char key[24];
    if (s->words.count)
        return at == PLM_MAP_NONE ? NULL : s->config.item[at].detail;
    snprintf(key, sizeof key, "argv[%d]", i); /* a summary that was not made from a record */
    return plm_summary_config(s, key);
}

double plm_summary_seconds(const struct plm_summary *s)
{
    const char *text = plm_summary_config(s, "seconds");
    return text ? strtod(text, NULL) : s->seconds;
}

int plm_summary_notes(const struct plm_summary *s, const char *kind, const char **first)
{
    int count = 0;
    for (int i = 0; i < s->notes.count; i++)
        if (!strcmp(s->notes.item[i].name, kind) && !count++)
            *first = s->notes.item[i].detail;
    return count;
}

bool plm_summary_has_note(const struct plm_summary *s, const char *kind)
{
    const char *first;
    return plm_summary_notes(s, kind, &first) > 0;
}
