/*
 * PyTorch's CUDA allocator as a simulator, the native back end and cudaMallocAsync: it places blocks, takes segments
 * from the card and gives them back as the real one would, in the same order and at the same moments. With
 * cudaMallocAsync the segments are the chunks of the driver's pool, the statistics are those that PyTorch then has
 * (current values and peaks of allocated, active and reserved bytes, nothing else), private pools only mark captures,
 * of which there is one at a time, and record_stream has no effect.
 *
 * plm_allocator_new() makes one, plm_allocator_delete() ends it and all it holds. One thread at a time for each. Functions return
 * 0, a negative PLM_E..., or one of the negative codes below; then nothing has changed beyond what PyTorch itself does
 * before it fails (flushing the cache, for one). Addresses are those of the driver level, driver.h.
 *
 * Streams are numbers; when cached memory is released, lower ones go first, as pointers do in PyTorch. Not
 * reproducible, because PyTorch iterates over hash tables of pointers there: in which order blocks that wait for
 * events of several streams become free (their moment is the same), and in which order the private pools of several
 * destroyed graphs are released. Here the stream that was used first, and the lower number, come first.
 */
#ifndef PLM_ALLOCATOR_H
#define PLM_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/driver.h"
#include "allocator/settings.h"

struct plm_allocator;

enum plm_allocator_error {
    PLM_ALLOCATOR_OOM = -32,      /* PyTorch raises OutOfMemoryError; plm_allocator_oom() has its figures */
    PLM_ALLOCATOR_ADDRESS = -33,  /* no live block is there: freed twice, or never allocated */
    PLM_ALLOCATOR_POOL = -34,     /* the private pool is not in the state that this needs */
    PLM_ALLOCATOR_CAPTURE = -35,  /* not while a capture is under way */
    PLM_ALLOCATOR_UNMODELLED = -36, /* what PyTorch does here depends on the nodes of the captured graph */
};
const char *plm_allocator_error_name(int code); /* "out of memory" */

/* What the allocator does with the card, in order. */
enum plm_segment_action { PLM_SEGMENT_ALLOC, PLM_SEGMENT_FREE, PLM_SEGMENT_MAP, PLM_SEGMENT_UNMAP };
typedef void plm_segment_visit(enum plm_segment_action action, uint64_t address, uint64_t size, uint64_t stream,
                               void *context);

/* The statistics of torch.cuda.memory_stats(), each for all, small-pool and large-pool memory. */
enum plm_allocator_stat {
    PLM_STAT_ALLOCATION,
    PLM_STAT_SEGMENT,
    PLM_STAT_ACTIVE,
    PLM_STAT_INACTIVE_SPLIT,
    PLM_STAT_ALLOCATED_BYTES,
    PLM_STAT_RESERVED_BYTES,
    PLM_STAT_ACTIVE_BYTES,
    PLM_STAT_INACTIVE_SPLIT_BYTES,
    PLM_STAT_REQUESTED_BYTES,
    PLM_STATS
};
enum plm_stat_pool { PLM_STAT_ALL, PLM_STAT_SMALL, PLM_STAT_LARGE, PLM_STAT_POOLS };

struct plm_stat {
    uint64_t current, peak, allocated, freed;
};

struct plm_allocator_stats {
    struct plm_stat stat[PLM_STATS][PLM_STAT_POOLS];
    struct plm_stat oversize_allocations, oversize_segments;
    uint64_t num_alloc_retries, num_ooms, num_sync_all_streams, num_device_alloc, num_device_free;
};
const char *plm_allocator_stat_name(enum plm_allocator_stat stat); /* "allocated_bytes" */

/* What an OutOfMemoryError says. */
struct plm_allocator_oom {
    uint64_t tried;          /* the size of the segment that could not be had; cudaMallocAsync: of the block */
    uint64_t total, free;    /* of the card */
    uint64_t allowed;        /* by the memory fraction; 0: no limit */
    uint64_t allocated, reserved, private_pools; /* cudaMallocAsync: `allocated` as blocks were asked for, unrounded */
};

struct plm_allocator_options {
    enum plm_torch torch;
    struct plm_allocator_settings settings;
    uint64_t capacity, total; /* of the card, see driver.h */
    uint64_t (*place)(void *context, uint64_t size); /* see driver.h; may be NULL */
    plm_segment_visit *visit; /* may be NULL */
    void *context; /* of place and visit */
    bool events_pending; /* events of other streams complete only when the allocator waits for them, not at once */
};

int plm_allocator_new(const struct plm_allocator_options *options, struct plm_allocator **out);
void plm_allocator_delete(struct plm_allocator *a);

/* `pool` 0, or a private pool between begin and end. A size of 0 succeeds with address 0, which free accepts. */
int plm_allocator_malloc(struct plm_allocator *a, uint64_t size, uint64_t stream, uint64_t pool, uint64_t *address);
int plm_allocator_free(struct plm_allocator *a, uint64_t address);
/* The block is in use on another stream: when it is freed, it waits for that stream's event. */
int plm_allocator_record_stream(struct plm_allocator *a, uint64_t address, uint64_t stream);
int plm_allocator_empty_cache(struct plm_allocator *a);
/* set_per_process_memory_fraction(). */
int plm_allocator_set_fraction(struct plm_allocator *a, double fraction);

/* The private pool of a CUDA graph: a capture into it begins and ends; a graph that used it is destroyed. */
int plm_allocator_pool_begin(struct plm_allocator *a, uint64_t pool);
int plm_allocator_pool_end(struct plm_allocator *a, uint64_t pool);
int plm_allocator_pool_release(struct plm_allocator *a, uint64_t pool);

const struct plm_allocator_stats *plm_allocator_stats(const struct plm_allocator *a);
const struct plm_allocator_oom *plm_allocator_oom(const struct plm_allocator *a); /* of the last one */

/* Walks everything and compares: order and membership of the free lists, neighbours, sums against statistics.
   Checked builds (PLM_CHECKED) do that after every operation. */
bool plm_allocator_is_valid(const struct plm_allocator *a);

/*
 * state.c: an allocator that is led along a history. It begins with what was there, and gives back the segments that were
 * given back, whatever the reason was. For histories that begin late and do not tell why memory went (imported ones).
 */
struct plm_allocator_part {
    uint64_t address, size;
    bool hole; /* of an expandable segment: not backed by memory. Otherwise a block in use */
};

/* The parts ascend; what lies between them is free. An expandable segment has its whole range of addresses as size. */
struct plm_allocator_segment {
    uint64_t address, size, stream;
    uint64_t pool; /* 0, or a private one, which is made if it is new */
    bool small, expandable;
    const struct plm_allocator_part *part;
    size_t parts;
};

/* PLM_EINVAL if the parts are not such, or the addresses are taken already. Older segments come first. */
int plm_allocator_seed(struct plm_allocator *a, const struct plm_allocator_segment *segment);

/* Gives back a cached segment, or the pages of a free part of an expandable one. PLM_ALLOCATOR_ADDRESS if those are
   not what could be given back there. `*steps` counts the blocks that were looked at. */
int plm_allocator_give_back(struct plm_allocator *a, uint64_t address, uint64_t size, uint64_t stream, uint64_t *steps);

/* The first thing, outside of private pools, that empty_cache() would give back. */
bool plm_allocator_gives_back(const struct plm_allocator *a, uint64_t *address, uint64_t *size);

/* Bytes from the start of a live block to the next one, or to the end of the segment; 0 if there is none. */
uint64_t plm_allocator_room(const struct plm_allocator *a, uint64_t address);

#endif
