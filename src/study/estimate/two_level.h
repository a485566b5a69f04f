/*
 * xMem's allocator of two levels, as published. Inside src/study/estimate.
 *
 * Level 1 is PyTorch's caching allocator with one difference: requests of exactly 10 MiB share segments of 20 MiB
 * too. On failure every segment that is wholly free goes back to the card and the request is made again. Level 2 is
 * the card: one range, best fit, no alignment. A struct of zeros is begun with plm_two_level_start() and ended with
 * plm_two_level_end(). One thread at a time.
 */
#ifndef PLM_ESTIMATE_TWO_LEVEL_H
#define PLM_ESTIMATE_TWO_LEVEL_H

#include "base/map.h"
#include "study/estimate/pieces.h"

struct plm_two_level {
    struct plm_pieces card, pool[2]; /* small blocks, large blocks */
    struct plm_map segment;          /* address of a segment -> its piece of the card */
    uint64_t limit, reserved, allocated;
};

void plm_two_level_start(struct plm_two_level *t, uint64_t limit);
void plm_two_level_end(struct plm_two_level *t);
/* 0, or PLM_ENOTFOUND: the card is full. `block` names what was taken. */
int plm_two_level_malloc(struct plm_two_level *t, uint64_t bytes, uint64_t *block);
void plm_two_level_free(struct plm_two_level *t, uint64_t block);

#endif
