/*
 * Which blocks of a recorded lane were in the private pool of a CUDA graph. The record tells it of those that were
 * allocated in a capture. Others are there too, from the warm-up before it; as pools share no segment, all blocks of a
 * segment that holds a captured one are. The lane is only read.
 */
#ifndef PLM_FIT_POOLS_H
#define PLM_FIT_POOLS_H

#include <stdbool.h>

struct plm_lane;

/* One flag per block, for the caller to free; NULL if no block is in one. */
bool *plm_lane_private(const struct plm_lane *lane);

#endif
