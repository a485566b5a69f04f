#include "device/pool.h"

#include <stdbool.h>
#include <stdlib.h>

#include "device/device.h"
#include "device/footprint.h"
#include "device/internal.h"
#include "device/lock.h"
#include "record/writer.h"

enum attribute {
    REUSE_FOLLOW_EVENTS = 1,
    REUSE_OPPORTUNISTIC = 2,
    REUSE_INTERNAL = 3,
    RELEASE_THRESHOLD = 4,
    RESERVED_CURRENT = 5,
    RESERVED_HIGH = 6,
    USED_CURRENT = 7,
    USED_HIGH = 8,
};

static const uint64_t chunk_unit = 32ull << 20;
enum { PIECE_ALIGN = 512 };

/* A pool is a list of chunks; a chunk is a list of pieces in address order, free or used. */
struct piece {
    uint64_t base, size;
    bool used;
    struct piece *next;
};

struct chunk {
    uint64_t base, size;
    struct piece *pieces;
    struct chunk *next;
};

struct plm_pool {
    int device;
    struct chunk *chunks;
    uint64_t threshold;
    uint64_t reserved, reserved_high, used, used_high;
    int reuse[REUSE_INTERNAL + 1]; /* by attribute */
    struct plm_pool *next;
};

/* One lock for all: memory is freed without naming its pool, so all of them are searched. */
static struct {
    struct plm_pool *all;
    struct plm_pool *standard[PLM_DEVICES_MAX], *current[PLM_DEVICES_MAX];
} pools;
static struct plm_lock pools_lock = PLM_LOCK_INIT(PLM_LOCK_POOLS);
PLM_LOCK_JOINS(pools_lock)

/* With the lock held. NULL: no memory. */
static struct plm_pool *new_pool(int device)
{
    struct plm_pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->device = device;
    for (int i = REUSE_FOLLOW_EVENTS; i <= REUSE_INTERNAL; i++)
        p->reuse[i] = 1;
    p->next = pools.all;
    pools.all = p;
    return p;
}

int plm_pool_create(int device, struct plm_pool **out)
{
    struct plm_pool *p;
    if (device < 0 || device >= plm_device_count())
        return PLM_DEV_INVALID;
    plm_lock_take(&pools_lock);
    p = new_pool(device);
    plm_lock_give(&pools_lock);
    if (!p)
        return PLM_DEV_NOHOST;
    *out = p;
    return 0;
}

struct plm_pool *plm_pool_default(int device)
{
    struct plm_pool *p;
    if (device < 0 || device >= plm_device_count())
        return NULL;
    plm_lock_take(&pools_lock);
    p = pools.standard[device];
    if (!p)
        p = pools.standard[device] = new_pool(device);
    plm_lock_give(&pools_lock);
    return p;
}

struct plm_pool *plm_pool_current(int device)
{
    struct plm_pool *p = NULL;
    if (device < 0 || device >= plm_device_count())
        return NULL;
    plm_lock_take(&pools_lock);
    p = pools.current[device];
    plm_lock_give(&pools_lock);
    return p ? p : plm_pool_default(device);
}

int plm_pool_set_current(int device, struct plm_pool *pool)
{
    if (device < 0 || device >= plm_device_count() || !pool || pool->device != device)
        return PLM_DEV_INVALID;
    plm_lock_take(&pools_lock);
    pools.current[device] = pool;
    plm_lock_give(&pools_lock);
    return 0;
}

/* In the record a pool is an allocator like PyTorch's own: blocks out of what it holds. */
static void record_block(const struct plm_pool *p, bool alloc, uint64_t address, uint64_t size)
{
    const struct plm_ev_block_alloc block = {.address = address, .bytes = size};
    if (alloc)
        plm_record(PLM_EV_BLOCK_ALLOC, p->device, &block, PLM_EV_BEFORE(block_alloc, context)); /* not known here */
    else
        plm_put_block_free(p->device, &(struct plm_ev_block_free){address, size});
}

static int grow(struct plm_pool *p, uint64_t size)
{
    struct chunk *c = calloc(1, sizeof *c);
    struct piece *whole = calloc(1, sizeof *whole);
    int status = PLM_DEV_NOHOST;

    if (!c || !whole)
        goto fail;
    c->size = (size + chunk_unit - 1) / chunk_unit * chunk_unit;
    status = plm_memory_pool_chunk(p->device, c->size, &c->base);
    if (status)
        goto fail;
    *whole = (struct piece){c->base, c->size, false, NULL};
    c->pieces = whole;
    c->next = p->chunks;
    p->chunks = c;
    p->reserved += c->size;
    p->reserved_high = p->reserved > p->reserved_high ? p->reserved : p->reserved_high;
    plm_put_reserved(p->device, &(struct plm_ev_reserved){p->reserved});
    return 0;
fail:
    free(c);
    free(whole);
    return status;
}

static struct piece *best_fit(struct plm_pool *p, uint64_t size)
{
    struct piece *best = NULL;
    for (struct chunk *c = p->chunks; c; c = c->next)
        for (struct piece *q = c->pieces; q; q = q->next)
            if (!q->used && q->size >= size && (!best || q->size < best->size))
                best = q;
    return best;
}

int plm_pool_alloc(struct plm_pool *p, struct plm_stream *stream, uint64_t size, uint64_t *address)
{
    uint64_t rounded = (size + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN;
    struct piece *at, *rest;
    int status = 0;

    (void)stream;
    if (!p)
        return PLM_DEV_INVALID;
    if (size > UINT64_MAX - chunk_unit)
        return PLM_DEV_NOMEM; /* it could not be rounded up */
    if (!size)
        rounded = PIECE_ALIGN;
    plm_footprint_start(p->device);
    plm_lock_take(&pools_lock);
    at = best_fit(p, rounded);
    if (!at) {
        status = grow(p, rounded);
        at = status ? NULL : best_fit(p, rounded);
    }
    if (at && at->size > rounded && (rest = calloc(1, sizeof *rest))) {
        *rest = (struct piece){at->base + rounded, at->size - rounded, false, at->next};
        at->size = rounded;
        at->next = rest;
    }
    if (at) {
        at->used = true;
        p->used += at->size;
        p->used_high = p->used > p->used_high ? p->used : p->used_high;
        *address = at->base;
        record_block(p, true, at->base, at->size);
        if (at->size <= PLM_BACKED_MAX)
            plm_memory_recycle(at->base, at->size);
    }
    plm_lock_give(&pools_lock);
    return status;
}

static bool is_empty(const struct chunk *c)
{
    return !c->pieces->used && !c->pieces->next;
}

/* Returns chunks that hold nothing to the card until at most `keep` bytes stay reserved. */
static void chunks_release(struct plm_pool *p, uint64_t keep)
{
    for (struct chunk **link = &p->chunks; *link && p->reserved > keep;) {
        struct chunk *c = *link;
        if (!is_empty(c)) {
            link = &c->next;
            continue;
        }
        *link = c->next;
        p->reserved -= c->size;
        plm_mem_free(c->base);
        free(c->pieces);
        free(c);
        plm_put_reserved(p->device, &(struct plm_ev_reserved){p->reserved});
    }
}

static bool free_in(struct plm_pool *p, uint64_t address)
{
    for (struct chunk *c = p->chunks; c; c = c->next) {
        struct piece *before = NULL;
        if (address < c->base || address >= c->base + c->size)
            continue;
        for (struct piece *q = c->pieces; q; before = q, q = q->next) {
            if (q->base != address || !q->used)
                continue;
            q->used = false;
            p->used -= q->size;
            record_block(p, false, q->base, q->size);
            if (q->next && !q->next->used) {
                struct piece *gone = q->next;
                q->size += gone->size;
                q->next = gone->next;
                free(gone);
            }
            if (before && !before->used) {
                before->size += q->size;
                before->next = q->next;
                free(q);
            }
            return true;
        }
    }
    return false;
}

int plm_pool_free(uint64_t address, struct plm_stream *stream)
{
    bool found = false;
    (void)stream;
    if (!address)
        return 0;
    plm_lock_take(&pools_lock);
    for (struct plm_pool *p = pools.all; p && !found; p = p->next)
        found = free_in(p, address);
    plm_lock_give(&pools_lock);
    return found ? 0 : PLM_DEV_INVALID;
}

int plm_pool_trim(struct plm_pool *p, uint64_t keep)
{
    if (!p)
        return PLM_DEV_INVALID;
    plm_lock_take(&pools_lock);
    chunks_release(p, keep);
    plm_lock_give(&pools_lock);
    return 0;
}

int plm_pool_destroy(struct plm_pool *p)
{
    if (!p)
        return PLM_DEV_INVALID;
    plm_lock_take(&pools_lock);
    for (int i = 0; i < PLM_DEVICES_MAX; i++) {
        if (pools.standard[i] == p) {
            plm_lock_give(&pools_lock);
            return PLM_DEV_INVALID;
        }
        if (pools.current[i] == p)
            pools.current[i] = NULL;
    }
    for (struct plm_pool **link = &pools.all; *link; link = &(*link)->next)
        if (*link == p) {
            *link = p->next;
            break;
        }
    plm_lock_give(&pools_lock);
    while (p->chunks) {
        struct chunk *c = p->chunks;
        p->chunks = c->next;
        plm_mem_free(c->base);
        while (c->pieces) {
            struct piece *q = c->pieces;
            c->pieces = q->next;
            free(q);
        }
        free(c);
    }
    free(p);
    return 0;
}

int plm_pool_attribute_get(struct plm_pool *p, int attribute, void *value)
{
    int status = 0;
    if (!p || !value)
        return PLM_DEV_INVALID;
    plm_lock_take(&pools_lock);
    switch (attribute) {
    case REUSE_FOLLOW_EVENTS:
    case REUSE_OPPORTUNISTIC:
    case REUSE_INTERNAL: *(int *)value = p->reuse[attribute]; break;
    case RELEASE_THRESHOLD: *(uint64_t *)value = p->threshold; break;
    case RESERVED_CURRENT: *(uint64_t *)value = p->reserved; break;
    case RESERVED_HIGH: *(uint64_t *)value = p->reserved_high; break;
    case USED_CURRENT: *(uint64_t *)value = p->used; break;
    case USED_HIGH: *(uint64_t *)value = p->used_high; break;
    default: status = PLM_DEV_INVALID;
    }
    plm_lock_give(&pools_lock);
    return status;
}

int plm_pool_attribute_set(struct plm_pool *p, int attribute, const void *value)
{
    int status = 0;
    if (!p || !value)
        return PLM_DEV_INVALID;
    plm_lock_take(&pools_lock);
    switch (attribute) {
    case REUSE_FOLLOW_EVENTS:
    case REUSE_OPPORTUNISTIC:
    case REUSE_INTERNAL: p->reuse[attribute] = *(const int *)value; break;
    case RELEASE_THRESHOLD: p->threshold = *(const uint64_t *)value; break;
    case RESERVED_HIGH: p->reserved_high = p->reserved; break;
    case USED_HIGH: p->used_high = p->used; break;
    default: status = PLM_DEV_INVALID;
    }
    plm_lock_give(&pools_lock);
    return status;
}
