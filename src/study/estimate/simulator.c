#include "study/estimate/simulator.h"

#include <assert.h>

#include "allocator/allocator.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/treap.h"

/*
 * ---- pieces: address ranges that are cut and joined, on both levels of the published simulator ----
 *
 * A piece is part of a run of neighbouring pieces: a segment, or the whole card. Free pieces are ordered by size,
 * then address; best fit is the first that is large enough. Pieces belong to their struct pieces and are valid until
 * they are given back or joined. One of zeros is empty and ready.
 */

struct piece {
    struct plm_treap_node node; /* among the free ones */
    uint64_t address, size;
    struct piece *before, *after;             /* neighbours in its run; `after` links spare ones too */
    struct piece *whole_before, *whole_after; /* among the free ones that are a whole run */
    bool taken;
};

struct pieces {
    struct plm_treap free;
    struct piece *spare, *whole;
    struct piece **made; /* all there are, for the end */
    size_t count, room;
};

static_assert(offsetof(struct piece, node) == 0, "a piece is taken for its node");

struct piece_key {
    uint64_t size, address;
};

static bool piece_before(const struct plm_treap_node *member, const void *key)
{
    const struct piece *a = (const struct piece *)(const void *)member;
    const struct piece_key *b = key;
    return a->size != b->size ? a->size < b->size : a->address < b->address;
}

static bool piece_is_whole(const struct piece *piece)
{
    return !piece->before && !piece->after;
}

static void piece_make_free(struct pieces *p, struct piece *piece)
{
    const struct piece_key key = {piece->size, piece->address};
    piece->taken = false;
    plm_treap_insert(&p->free, &piece->node, piece_before, &key);
    if (!piece_is_whole(piece))
        return;
    piece->whole_before = NULL;
    piece->whole_after = p->whole;
    if (p->whole)
        p->whole->whole_before = piece;
    p->whole = piece;
}

static void piece_make_taken(struct pieces *p, struct piece *piece)
{
    piece->taken = true;
    plm_treap_remove(&p->free, &piece->node);
    if (!piece_is_whole(piece))
        return;
    if (piece->whole_before)
        piece->whole_before->whole_after = piece->whole_after;
    else
        p->whole = piece->whole_after;
    if (piece->whole_after)
        piece->whole_after->whole_before = piece->whole_before;
}

static void piece_forget(struct pieces *p, struct piece *piece)
{
    piece->after = p->spare;
    p->spare = piece;
}

static void pieces_free(struct pieces *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->made[i]);
    free(p->made);
    *p = (struct pieces){0};
}

/* A new run of one taken piece. */
static struct piece *piece_add(struct pieces *p, uint64_t address, uint64_t size)
{
    struct piece *piece = p->spare;
    if (piece) {
        p->spare = piece->after;
    } else {
        p->made = plm_grow(p->made, p->count, &p->room, sizeof *p->made);
        piece = p->made[p->count++] = plm_calloc(1, sizeof *piece);
    }
    *piece = (struct piece){.address = address, .size = size, .taken = true};
    return piece;
}

/* The best free piece of at least `size` bytes; NULL: there is none. */
static struct piece *piece_take(struct pieces *p, uint64_t size)
{
    const struct piece_key key = {size, 0};
    struct piece *found = (struct piece *)(void *)plm_treap_from(&p->free, piece_before, &key);
    if (found)
        piece_make_taken(p, found);
    return found;
}

/* Leaves `size` bytes to a taken piece and makes the rest of it a free one. */
static void piece_cut(struct pieces *p, struct piece *piece, uint64_t size)
{
    struct piece *rest = piece_add(p, piece->address + size, piece->size - size);
    rest->before = piece;
    rest->after = piece->after;
    if (rest->after)
        rest->after->before = rest;
    piece->after = rest;
    piece->size = size;
    piece_make_free(p, rest);
}

/* A piece takes the place of itself and its right neighbour. */
static void piece_join(struct pieces *p, struct piece *piece)
{
    struct piece *after = piece->after;
    piece->size += after->size;
    piece->after = after->after;
    if (piece->after)
        piece->after->before = piece;
    piece_forget(p, after);
}

/* A taken piece becomes free and joins its free neighbours. */
static void piece_give(struct pieces *p, struct piece *piece)
{
    struct piece *before = piece->before, *after = piece->after;
    if (after && !after->taken) {
        piece_make_taken(p, after);
        piece_join(p, piece);
    }
    if (before && !before->taken) {
        piece_make_taken(p, before);
        piece_join(p, before);
        piece = before;
    }
    piece_make_free(p, piece);
}

/* Removes one run that is free as a whole: false if there is none. */
static bool piece_drop(struct pieces *p, uint64_t *address, uint64_t *size)
{
    struct piece *piece = p->whole;
    if (!piece)
        return false;
    *address = piece->address;
    *size = piece->size;
    piece_make_taken(p, piece);
    piece_forget(p, piece);
    return true;
}

/*
 * ---- two levels, as published ----
 *
 * Level 1 is PyTorch's caching allocator with one difference: requests of exactly 10 MiB share segments of 20 MiB
 * too. On failure every segment that is wholly free goes back to the card and the request is made again. Level 2 is
 * the card: one range, best fit, no alignment.
 */

#define BLOCK         512u
#define SMALL         (1u << 20) /* up to here, small */
#define SMALL_SEGMENT (2u << 20)
#define LARGE         (10u << 20) /* up to and including: PyTorch itself has less than */
#define LARGE_SEGMENT (20u << 20)
#define ROUND         (2u << 20)
#define MOST          (UINT64_MAX - ROUND) /* what can be rounded up */

struct two_level {
    struct pieces card, pool[2]; /* small blocks, large blocks */
    struct plm_map segment;          /* address of a segment -> its piece of the card */
    uint64_t reserved, allocated;
};

enum { SMALL_POOL, LARGE_POOL };

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static uint64_t segment_size(uint64_t bytes)
{
    return bytes <= SMALL ? SMALL_SEGMENT : bytes <= LARGE ? LARGE_SEGMENT : round_up(bytes, ROUND);
}

static void two_level_start(struct two_level *t, uint64_t limit)
{
    piece_give(&t->card, piece_add(&t->card, 0, limit));
}

static void two_level_end(struct two_level *t)
{
    pieces_free(&t->card);
    pieces_free(&t->pool[SMALL_POOL]);
    pieces_free(&t->pool[LARGE_POOL]);
    plm_map_free(&t->segment);
}

/* A segment of the card, as one taken piece of the pool; NULL: the card is full. */
static struct piece *segment_take(struct two_level *t, int pool, uint64_t size)
{
    struct piece *place = piece_take(&t->card, size);

    if (!place)
        return NULL;
    if (place->size > size)
        piece_cut(&t->card, place, size);
    plm_map_put(&t->segment, place->address, (uintptr_t)place);
    t->reserved += size;
    return piece_add(&t->pool[pool], place->address, size);
}

static void segments_release(struct two_level *t)
{
    uint64_t address, size;
    for (int pool = LARGE_POOL; pool >= SMALL_POOL; pool--)
        while (piece_drop(&t->pool[pool], &address, &size)) {
            piece_give(&t->card, (struct piece *)(uintptr_t)plm_map_remove(&t->segment, address));
            t->reserved -= size;
        }
}

/* False: the card is full. `block` names what was taken. */
static bool two_level_malloc(struct two_level *t, uint64_t bytes, uint64_t *block)
{
    uint64_t size, rest;
    struct piece *piece;
    int pool;

    if (bytes > MOST)
        return false;
    size = bytes ? round_up(bytes, BLOCK) : BLOCK;
    pool = size <= SMALL ? SMALL_POOL : LARGE_POOL;
    piece = piece_take(&t->pool[pool], size);
    if (!piece)
        piece = segment_take(t, pool, segment_size(size));
    if (!piece) {
        segments_release(t);
        piece = segment_take(t, pool, segment_size(size));
    }
    if (!piece)
        return false;
    rest = piece->size - size;
    if (pool == SMALL_POOL ? rest >= BLOCK : rest > SMALL)
        piece_cut(&t->pool[pool], piece, size);
    t->allocated += piece->size;
    *block = (uintptr_t)piece | (uintptr_t)pool; /* a pointer is even */
    return true;
}

static void two_level_free(struct two_level *t, uint64_t block)
{
    struct piece *piece = (struct piece *)(uintptr_t)(block & ~1ull);
    t->allocated -= piece->size;
    piece_give(&t->pool[block & 1], piece);
}

/* ---- lifetimes through one of the two allocators ---- */

#define TORCH_MOST    (1ull << 60) /* more than any address space of the driver level holds */
#define TORCH_NO_CARD (1ull << 40) /* what a card without a limit says it has */

struct moment {
    int64_t time;
    size_t item;
};

/* One of the two allocators; `torch` is NULL for the published one. */
struct machine {
    struct two_level two_level;
    struct plm_allocator *torch;
};

struct work {
    struct machine machine;
    struct moment *death; /* ascending; items without one are not in it */
    size_t deaths;
    uint64_t *block;      /* per item, while it lives */
    uint64_t events;
    plm_simulation_watch *watch;
    void *context;
    struct plm_simulation *out;
};

static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* Items of one time keep their order: it decides which of them gets which piece. */
static void sort_items(struct plm_lifetime *item, size_t count, struct moment *order)
{
    struct plm_lifetime *sorted;
    bool already = true;

    for (size_t i = 0; i < count; i++) {
        order[i] = (struct moment){item[i].born, i};
        already = already && (i == 0 || item[i - 1].born <= item[i].born);
    }
    if (already)
        return;
    sorted = plm_calloc(count, sizeof *sorted);
    qsort(order, count, sizeof *order, by_time);
    for (size_t i = 0; i < count; i++)
        sorted[i] = item[order[i].item];
    for (size_t i = 0; i < count; i++)
        item[i] = sorted[i];
    free(sorted);
}

/* Nothing dies before it was born. */
static size_t sort_deaths(const struct plm_lifetime *item, size_t count, struct moment *death)
{
    size_t deaths = 0;
    for (size_t i = 0; i < count; i++)
        if (item[i].dies != PLM_NEVER)
            death[deaths++] = (struct moment){item[i].dies > item[i].born ? item[i].dies : item[i].born, i};
    qsort(death, deaths, sizeof *death, by_time);
    return deaths;
}

static void machine_start(struct machine *m, enum plm_simulation_rules rules, uint64_t limit)
{
    struct plm_allocator_options options = {.torch = (enum plm_torch)(PLM_TORCHES - 1), .capacity = limit};

    *m = (struct machine){0};
    if (rules == PLM_RULES_XMEM) {
        two_level_start(&m->two_level, limit);
        return;
    }
    options.total = limit < UINT64_MAX ? limit : TORCH_NO_CARD;
    plm_allocator_settings_parse(NULL, options.torch, &options.settings, NULL);
    plm_allocator_new(&options, &m->torch);
}

static void machine_end(struct machine *m)
{
    two_level_end(&m->two_level);
    if (m->torch)
        plm_allocator_delete(m->torch);
}

/* False: the card is full. */
static bool block_take(struct machine *m, uint64_t bytes, uint64_t *block)
{
    if (!m->torch)
        return two_level_malloc(&m->two_level, bytes, block);
    return bytes <= TORCH_MOST && plm_allocator_malloc(m->torch, bytes, 0, 0, block) == 0;
}

static void block_give(struct machine *m, uint64_t block)
{
    if (m->torch)
        plm_allocator_free(m->torch, block);
    else
        two_level_free(&m->two_level, block);
}

static void tell(struct work *w, int64_t time, size_t item, bool freed)
{
    const struct plm_allocator_stats *stats = w->machine.torch ? plm_allocator_stats(w->machine.torch) : NULL;
    struct plm_simulation_event event = {.number = w->events++, .time = time, .item = item, .freed = freed};

    event.reserved = stats ? stats->stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].current : w->machine.two_level.reserved;
    event.allocated =
        stats ? stats->stat[PLM_STAT_ALLOCATED_BYTES][PLM_STAT_ALL].current : w->machine.two_level.allocated;
    if (event.reserved > w->out->peak) {
        w->out->peak = event.reserved;
        w->out->peak_time = time;
    }
    if (event.allocated > w->out->peak_allocated)
        w->out->peak_allocated = event.allocated;
    if (w->watch)
        w->watch(&event, w->context);
}

static void bear(struct work *w, const struct plm_lifetime *item, size_t i)
{
    if (block_take(&w->machine, item[i].bytes, &w->block[i])) {
        tell(w, item[i].born, i, false);
        return;
    }
    w->out->oom = true;
    w->out->oom_time = item[i].born;
}

/* At equal times allocations come before frees, as published. */
static void play(struct work *w, const struct plm_lifetime *item, size_t count)
{
    size_t births = 0, deaths = 0;

    while (!w->out->oom && (births < count || deaths < w->deaths)) {
        if (births < count && (deaths == w->deaths || item[births].born <= w->death[deaths].time)) {
            bear(w, item, births++);
            continue;
        }
        block_give(&w->machine, w->block[w->death[deaths].item]);
        tell(w, w->death[deaths].time, w->death[deaths].item, true);
        deaths++;
    }
}

void plm_simulate_watched(struct plm_lifetime *item, size_t count, enum plm_simulation_rules rules, uint64_t limit,
                          plm_simulation_watch *watch, void *context, struct plm_simulation *out)
{
    struct work w = {.watch = watch, .context = context, .out = out};

    *out = (struct plm_simulation){0};
    if (count == 0)
        return;
    w.death = plm_calloc(count, sizeof *w.death);
    w.block = plm_calloc(count, sizeof *w.block);
    sort_items(item, count, w.death);
    machine_start(&w.machine, rules, limit);
    w.deaths = sort_deaths(item, count, w.death);
    play(&w, item, count);
    machine_end(&w.machine);
    free(w.death);
    free(w.block);
}

void plm_simulate(struct plm_lifetime *item, size_t count, uint64_t limit, struct plm_simulation *out)
{
    plm_simulate_watched(item, count, PLM_RULES_XMEM, limit, NULL, NULL, out);
}

void plm_simulate_torch(struct plm_lifetime *item, size_t count, uint64_t limit, struct plm_simulation *out)
{
    plm_simulate_watched(item, count, PLM_RULES_TORCH, limit, NULL, NULL, out);
}
