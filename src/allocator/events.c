#include <stdlib.h>
#include <string.h>

#include "allocator/internal.h"
#include "base/memory.h"
#include "base/error.h"

static bool uses_stream(const struct plm_uses *uses, uint64_t stream)
{
    for (size_t i = 0; i < uses->count; i++)
        if (uses->stream[i] == stream)
            return true;
    return false;
}

int plm_events_use(struct plm_allocator *a, struct plm_cell *cell, uint64_t stream)
{
    uint64_t *more;

    if (stream == cell->stream)
        return 0;
    if (!cell->uses && !(cell->uses = calloc(1, sizeof *cell->uses)))
        return PLM_ENOMEM;
    if (uses_stream(cell->uses, stream))
        return 0;
    more = plm_grow(cell->uses->stream, cell->uses->count, &cell->uses->room, sizeof *more);
    if (!more)
        return PLM_ENOMEM;
    cell->uses->stream = more;
    more[cell->uses->count++] = stream;
    cell->uses->captured += a->captures != 0;
    return 0;
}

static struct plm_queue *queue_of(struct plm_allocator *a, uint64_t stream)
{
    struct plm_queue *more;
    for (size_t i = 0; i < a->queues; i++)
        if (a->queue[i].stream == stream)
            return &a->queue[i];
    more = plm_grow(a->queue, a->queues, &a->queue_room, sizeof *more);
    if (!more)
        return NULL;
    a->queue = more;
    a->queue[a->queues] = (struct plm_queue){.stream = stream};
    return &a->queue[a->queues++];
}

/* One event per stream that used the block. */
static int record(struct plm_allocator *a, struct plm_cell *cell)
{
    struct plm_uses *uses = cell->uses;
    for (size_t i = 0; i < uses->count; i++) {
        struct plm_queue *q = queue_of(a, uses->stream[i]);
        struct plm_cell **more = q ? plm_grow(q->cell, q->count, &q->room, sizeof *more) : NULL;
        if (!more)
            return PLM_ENOMEM;
        q->cell = more;
        q->cell[q->count++] = cell;
        cell->events++;
    }
    uses->count = uses->captured = 0;
    return 0;
}

int plm_events_free(struct plm_allocator *a, struct plm_cell *cell)
{
    struct plm_cell **more;

    if (!a->captures)
        return record(a, cell);
    more = plm_grow(a->deferred, a->deferreds, &a->deferred_room, sizeof *more);
    if (!more)
        return PLM_ENOMEM;
    a->deferred = more;
    a->deferred[a->deferreds++] = cell;
    cell->deferred = true;
    return 0;
}

/* Streams that were recorded in a capture have completed when it has: only the others need events. */
static void record_deferred(struct plm_allocator *a)
{
    for (size_t i = 0; i < a->deferreds; i++) {
        struct plm_cell *cell = a->deferred[i];
        cell->deferred = false;
        cell->uses->count -= cell->uses->captured;
        cell->uses->captured = 0;
        record(a, cell);
        if (!cell->events)
            plm_cell_release(a, cell);
    }
    a->deferreds = 0;
}

static void complete(struct plm_allocator *a)
{
    for (size_t i = 0; i < a->queues; i++) {
        struct plm_queue *q = &a->queue[i];
        for (size_t k = 0; k < q->count; k++)
            if (--q->cell[k]->events == 0)
                plm_cell_release(a, q->cell[k]);
        q->count = 0;
    }
}

void plm_events_poll(struct plm_allocator *a)
{
    if (a->deferreds)
        record_deferred(a);
    if (!a->options.events_pending)
        complete(a);
}

void plm_events_wait(struct plm_allocator *a)
{
    a->stats.num_sync_all_streams++;
    record_deferred(a);
    complete(a);
}

void plm_events_delete(struct plm_allocator *a)
{
    for (size_t i = 0; i < a->queues; i++)
        free(a->queue[i].cell);
    free(a->queue);
    free(a->deferred);
}
