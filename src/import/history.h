/*
 * The history of PyTorch's caching allocator in a memory snapshot (torch.cuda.memory._dump_snapshot), as tables: per device its
 * events, and what it held before the first of them. That follows from what it held at the end, which a snapshot has
 * too, with the history undone.
 *
 * What is read is counted: each event, segment and block is a value of its own where PyTorch wrote it, so that more of
 * them than the pickle has values are the same ones over and over.
 *
 * Frames are values of the pickle. plm_history_free frees it. One thread.
 */
#ifndef PLM_HISTORY_H
#define PLM_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/heap.h"

struct plm_error;
struct plm_unpickled;

enum plm_history_action {
    PLM_HISTORY_ALLOC,
    PLM_HISTORY_FREE_REQUESTED,
    PLM_HISTORY_FREE_COMPLETED,
    PLM_HISTORY_SEGMENT_ALLOC,
    PLM_HISTORY_SEGMENT_FREE,
    PLM_HISTORY_SEGMENT_MAP,
    PLM_HISTORY_SEGMENT_UNMAP,
    PLM_HISTORY_OOM,
    PLM_HISTORY_ACTIONS
};

struct plm_history_event {
    uint64_t address, bytes, us, stream;
    uint64_t pool;             /* private pool, of a CUDA graph as a rule; 0: none */
    uint32_t frames;
    uint32_t number;           /* in the snapshot's list, which has events that are passed over here */
    uint8_t action;
};

struct plm_history_range {       /* memory of the card that was there before */
    uint64_t address, bytes, stream, pool;
    bool expandable, small;
};

struct plm_history_block {       /* a block that was there before */
    uint64_t address, bytes, stream, pool;
    size_t until;              /* the event that frees it; SIZE_MAX: none */
    uint32_t frames;
    bool pending;              /* freed before already, and waits for another stream */
    bool known;                /* its size is certain; otherwise it is what was asked for, rounded: it may be more */
};

struct plm_history_device {
    unsigned number;
    struct plm_history_event *event;
    struct plm_history_range *range;
    struct plm_history_block *block;
    size_t events, ranges, blocks, event_room, range_room, block_room;
    size_t of[PLM_HISTORY_ACTIONS];         /* how many events of each kind */
    uint64_t end_allocated, end_reserved; /* what the snapshot says of its end */
    bool unsure;                          /* the size of a block that was there before is not certain */
};

struct plm_history {
    struct plm_history_device *device;
    size_t devices, room;
    struct plm_allocator_settings settings;
    enum plm_torch torch;      /* the oldest release that writes such events */
    bool has_pools;            /* events tell their private pool; otherwise the segments of the end do */
    char allocator[512];       /* the user's setting, or "default" */
    uint64_t first_us;         /* of all events */
    size_t visits;             /* events, segments, blocks and annotations that were read */
    uint64_t pages;            /* of expandable segments that they are about */
    uint64_t *step_us;         /* ends of optimizer steps */
    size_t steps, step_room;
};

/* PLM_EFORMAT if it is no snapshot, or holds no history. */
int plm_history_read(const struct plm_unpickled *pickle, struct plm_history *trace, struct plm_error *error);
void plm_history_free(struct plm_history *trace);

/* The number of the block that begins at or before an address; SIZE_MAX: none. */
size_t plm_history_block_before(const struct plm_history_device *device, uint64_t address);

/* A pool_id of the snapshot: 0 for the allocator's own. */
uint64_t plm_history_pool(const struct plm_unpickled *pickle, uint32_t id);

#endif
