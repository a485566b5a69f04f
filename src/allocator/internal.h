/*
 * Inside the allocator simulator: its blocks, pools and segments. Only src/allocator includes this.
 *
 * A cell is a block in PyTorch's sense: a piece of a segment that is handed out, cached, or, in an expandable
 * segment, not backed by memory. Cells come from slabs of the allocator and return to its list of spare ones.
 */
#ifndef PLM_ALLOCATOR_INTERNAL_H
#define PLM_ALLOCATOR_INTERNAL_H

#include <assert.h>

#include "allocator/allocator.h"
#include "base/map.h"
#include "base/treap.h"

struct plm_uses {          /* streams other than its own that use a block */
    size_t count, room;
    uint64_t *stream;
    size_t captured;       /* how many of them, at the end, were added while a capture was under way */
};

struct plm_cell {
    struct plm_treap_node node;         /* in the set that it is in */
    uint64_t address, size, stream;
    uint64_t age;                       /* number of its segment, or 0: see plm_segment_age */
    uint32_t events;                    /* outstanding */
    bool allocated, mapped, deferred;   /* deferred: its events are to be made when no capture is under way */
    bool captured;                      /* cudaMallocAsync: allocated during a capture */
    struct plm_cell *prev, *next;       /* neighbours in the segment; `next` links spare cells too */
    struct plm_cell_pool *pool;
    struct plm_expandable *range;            /* the expandable segment, or NULL */
    struct plm_uses *uses;
    uint64_t requested;
    uint64_t born;                      /* the pool's count of searches when it became free */
};

/* Ordered by stream, size, age of the segment (where the version of PyTorch looks at it), address. */
struct plm_cells {
    struct plm_treap set;
    bool by_address;                    /* of unmapped cells: by stream, address */
};

struct plm_cell_pool {
    struct plm_cells free, unmapped;
    struct plm_private *owner;          /* NULL: the allocator's own */
    uint64_t searches;                  /* counted only for garbage collection */
    bool small;
};

struct plm_private {
    uint64_t id;
    uint64_t users;                     /* graphs that live */
    uint64_t segments;
    bool capturing;
    struct plm_cell_pool small, large;
    struct plm_private *next;           /* by id */
};

struct plm_expandable {                      /* an expandable segment */
    uint64_t base, size, page, age;
    struct plm_expandable *prev, *next;
};

struct plm_queue {                      /* events of one stream, in order */
    uint64_t stream;
    struct plm_cell **cell;
    size_t count, room;
};

struct plm_allocator {
    struct plm_allocator_options options;
    struct plm_driver driver;
    struct plm_cell_pool small, large;
    struct plm_private *privates;
    struct plm_expandable *ranges;
    struct plm_map live;                /* address of an allocated block -> its cell */
    struct plm_cell *spare;
    void *slabs;
    struct plm_queue *queue;
    size_t queues, queue_room;
    struct plm_cell **deferred;
    size_t deferreds, deferred_room;
    uint64_t segments;                  /* made so far */
    uint64_t captures;                  /* under way */
    uint64_t held;                      /* bytes of segments and mappings */
    uint64_t allowed;
    bool limited;                       /* a memory fraction is set */
    uint64_t requested;                 /* cudaMallocAsync: bytes of blocks as they were asked for */
    struct plm_allocator_stats stats;
    struct plm_allocator_oom oom;
};

struct plm_request {
    uint64_t size, segment, stream;     /* rounded size; size of a new segment */
    struct plm_cell_pool *pool;
};

/* ---- allocator.c ---- */

struct plm_private *plm_private_find(const struct plm_allocator *a, uint64_t id); /* or NULL */
struct plm_cell *plm_cell_live(const struct plm_allocator *a, uint64_t address); /* the block there, or NULL */
/* Takes the figures of an OutOfMemoryError down; returns PLM_ALLOCATOR_OOM. */
int plm_allocator_refuse(struct plm_allocator *a, uint64_t tried, uint64_t allocated);

/* ---- cells.c: sets of cells ---- */

static_assert(offsetof(struct plm_cell, node) == 0, "a cell is taken for its node");
static inline struct plm_cell *plm_cell_of(struct plm_treap_node *node)
{
    return (struct plm_cell *)(void *)node;
}

void plm_cells_insert(struct plm_cells *tree, struct plm_cell *cell);
/* The first that is not before the key; NULL if all are. */
struct plm_cell *plm_cells_from(const struct plm_cells *tree, uint64_t stream, uint64_t size, uint64_t address);

static inline void plm_cells_remove(struct plm_cells *tree, struct plm_cell *cell)
{
    plm_treap_remove(&tree->set, &cell->node);
}

static inline struct plm_cell *plm_cells_first(const struct plm_cells *tree)
{
    return plm_cell_of(plm_treap_first(&tree->set));
}

static inline struct plm_cell *plm_cells_next(const struct plm_cell *cell)
{
    return plm_cell_of(plm_treap_next(&cell->node));
}

static inline struct plm_cell *plm_cells_before(const struct plm_cell *cell)
{
    return plm_cell_of(plm_treap_previous(&cell->node));
}

/* ---- cells.c: cells themselves, and how they split, merge and become free ---- */

struct plm_cell *plm_cell_take(struct plm_allocator *a, struct plm_cell_pool *pool, uint64_t stream, uint64_t address,
                               uint64_t size);
void plm_cells_delete(struct plm_allocator *a);
void plm_cell_drop(struct plm_allocator *a, struct plm_cell *cell);
void plm_cell_splice(struct plm_cell *cell, struct plm_cell *before, struct plm_cell *after);
void plm_cell_cache(struct plm_cell *cell); /* into its pool's free set */
/* Joins a neighbour that is idle and of the same kind to the cell; returns its size, or 0. */
uint64_t plm_cell_merge(struct plm_allocator *a, struct plm_cell *cell, struct plm_cell *neighbour);
/* A cell, in no set any more, becomes a block for so many bytes; and free again. */
void plm_cell_allocate(struct plm_allocator *a, struct plm_cell *cell, uint64_t requested);
void plm_cell_release(struct plm_allocator *a, struct plm_cell *cell);

/* ---- segments.c: from and to the card ---- */

bool plm_segment_take(struct plm_allocator *a, const struct plm_request *request, bool retry, struct plm_cell **cell);
void plm_segment_release(struct plm_allocator *a, struct plm_cell *cell); /* a cached one, whole */
bool plm_segments_release_enough(struct plm_allocator *a, const struct plm_request *request);
void plm_segments_release_all(struct plm_allocator *a);
void plm_segments_collect(struct plm_allocator *a);
/* Of two free blocks of one size, releases before 2.15 take that of the lower address; 2.15 that of the older segment. */
uint64_t plm_segment_age(struct plm_allocator *a);
void plm_segment_report(struct plm_allocator *a, enum plm_segment_action action, uint64_t address, uint64_t size,
                        uint64_t stream);

/* ---- expandable.c ---- */

struct plm_expandable *plm_expandable_add(struct plm_allocator *a,
                                          struct plm_expandable range); /* a copy, at the front */
struct plm_cell *plm_expandable_take(struct plm_allocator *a, const struct plm_request *request);
void plm_expandable_unmap(struct plm_allocator *a, struct plm_cell *cell);
/* The whole pages inside a free cell: their bytes, and where they begin. */
uint64_t plm_cell_pages(const struct plm_cell *cell, uint64_t *from);

/* ---- events.c: blocks that other streams used ---- */

void plm_events_use(struct plm_allocator *a, struct plm_cell *cell, uint64_t stream);
void plm_events_free(struct plm_allocator *a, struct plm_cell *cell); /* a used block is freed */
void plm_events_defer(struct plm_allocator *a, struct plm_cell *cell); /* until no capture is under way */
void plm_events_poll(struct plm_allocator *a); /* frees what is complete */
void plm_events_wait(struct plm_allocator *a); /* waits for all */
void plm_events_delete(struct plm_allocator *a);
static inline bool plm_cell_used(const struct plm_cell *cell)
{
    return cell->uses && cell->uses->count;
}

static inline bool plm_cell_is_idle(const struct plm_cell *cell)
{
    return !cell->allocated && !cell->events && !cell->deferred && !plm_cell_used(cell);
}

/* ---- async.c: the cudaMallocAsync back end ---- */

int plm_async_malloc(struct plm_allocator *a, uint64_t size, uint64_t stream, uint64_t *address);
void plm_async_free(struct plm_allocator *a, struct plm_cell *cell); /* no longer live */
void plm_async_trim(struct plm_allocator *a);

/* ---- statistics ---- */

static inline void plm_stat_up(struct plm_stat *s, uint64_t amount)
{
    s->current += amount;
    s->allocated += amount;
    if (s->current > s->peak)
        s->peak = s->current;
}

static inline void plm_stat_down(struct plm_stat *s, uint64_t amount)
{
    s->current -= amount;
    s->freed += amount;
}

static inline void plm_stats_up(struct plm_allocator *a, const struct plm_cell_pool *pool,
                                enum plm_allocator_stat which, uint64_t amount)
{
    plm_stat_up(&a->stats.stat[which][PLM_STAT_ALL], amount);
    plm_stat_up(&a->stats.stat[which][pool->small ? PLM_STAT_SMALL : PLM_STAT_LARGE], amount);
}

static inline void plm_stats_down(struct plm_allocator *a, const struct plm_cell_pool *pool,
                                  enum plm_allocator_stat which, uint64_t amount)
{
    plm_stat_down(&a->stats.stat[which][PLM_STAT_ALL], amount);
    plm_stat_down(&a->stats.stat[which][pool->small ? PLM_STAT_SMALL : PLM_STAT_LARGE], amount);
}

static inline bool plm_cell_is_split(const struct plm_cell *cell)
{
    return cell->prev || cell->next;
}

#endif
