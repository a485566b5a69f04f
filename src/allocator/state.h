/*
 * An allocator that is led along a history: it begins with what was there, and gives back the segments that were
 * given back, whatever the reason was. For histories that begin late and do not tell why memory went (imported ones).
 *
 * As in allocator.h: one thread, 0 or a negative code.
 */
#ifndef PLM_ALLOCATOR_STATE_H
#define PLM_ALLOCATOR_STATE_H

#include "allocator/allocator.h"

struct plm_allocator_part {
    uint64_t address, size;
    bool hole;                  /* of an expandable segment: not backed by memory. Otherwise a block in use */
};

/* The parts ascend; what lies between them is free. An expandable segment has its whole range of addresses as size. */
struct plm_allocator_segment {
    uint64_t address, size, stream;
    uint64_t pool;              /* 0, or a private one, which is made if it is new */
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

#endif
