#include "allocator/internal.h"
#include "base/memory.h"

static bool uses_stream(const struct plm_uses *uses, uint64_t stream)
{
    for (size_t i = 0; i < uses->count; i++)
        if (uses->stream[i] == stream)
            return true;
    return false;
}

void plm_events_use(struct plm_allocator *a, struct plm_cell *cell, uint64_t stream)
{
    struct plm_uses *uses = cell->uses;

    if (stream == cell->stream)
        return;
    if (!uses)
        uses = cell->uses = plm_calloc(1, sizeof *uses);
    if (uses_stream(uses, stream))
        return;
    uses->stream = plm_grow(uses->stream, uses->count, &uses->room, sizeof *uses->stream);
    uses->stream[uses->count++] = stream;
    uses->captured += a->captures != 0;
}

static struct plm_queue *queue_of(struct plm_allocator *a, uint64_t stream)
{
    for (size_t i = 0; i < a->queues; i++)
        if (a->queue[i].stream == stream)
            return &a->queue[i];
    a->queue = plm_grow(a->queue, a->queues, &a->queue_room, sizeof *a->queue);
    a->queue[a->queues] = (struct plm_queue){.stream = stream};
    return &a->queue[a->queues++];
}

/* One event per stream that used the block. */
static void events_record(struct plm_allocator *a, struct plm_cell *cell)
{
    struct plm_uses *uses = cell->uses;
    for (size_t i = 0; i < uses->count; i++) {
        struct plm_queue *q = queue_of(a, uses->stream[i]);
        q->cell = plm_grow(q->cell, q->count, &q->room, sizeof *q->cell);
        q->cell[q->count++] = cell;
        cell->events++;
    }
    uses->count = uses->captured = 0;
}

void plm_events_free(struct plm_allocator *a, struct plm_cell *cell)
{
    if (a->captures)
        plm_events_defer(a, cell);
    else
        events_record(a, cell);
}

void plm_events_defer(struct plm_allocator *a, struct plm_cell *cell)
{
    a->deferred = plm_grow(a->deferred, a->deferreds, &a->deferred_room, sizeof *a->deferred);
    a->deferred[a->deferreds++] = cell;
    cell->deferred = true;
}

/* Streams that were recorded in a capture have completed when it has: only the others need events. */
static void events_record_deferred(struct plm_allocator *a)
{
    for (size_t i = 0; i < a->deferreds; i++) {
        struct plm_cell *cell = a->deferred[i];
        cell->deferred = false;
        cell->uses->count -= cell->uses->captured;
        cell->uses->captured = 0;
        events_record(a, cell);
        if (!cell->events)
            plm_cell_release(a, cell);
    }
    a->deferreds = 0;
}

static void events_complete(struct plm_allocator *a)
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
        events_record_deferred(a);
    if (!a->options.events_pending)
        events_complete(a);
}

void plm_events_wait(struct plm_allocator *a)
{
    a->stats.num_sync_all_streams++;
    events_record_deferred(a);
    events_complete(a);
}

void plm_events_delete(struct plm_allocator *a)
{
    for (size_t i = 0; i < a->queues; i++)
        free(a->queue[i].cell);
    free(a->queue);
    free(a->deferred);
}
