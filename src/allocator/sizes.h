/*
 * How PyTorch's caching allocator rounds: what a request becomes, what segment it is taken from, and when the rest of a
 * block is split off. Plain arithmetic; any thread, nothing fails.
 */
#ifndef PLM_ALLOCATOR_SIZES_H
#define PLM_ALLOCATOR_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/settings.h"

#define PLM_BLOCK_LEAST   512u         /* sizes are multiples of it */
#define PLM_SMALL_MOST    (1u << 20)   /* the largest block of the small pool */
#define PLM_SMALL_SEGMENT (2u << 20)
#define PLM_LARGE_LEAST   (10u << 20)  /* requests from here on get segments of their own size */
#define PLM_LARGE_ROUND   (2u << 20)
#define PLM_SIZE_LIMIT    (1ull << 60) /* PyTorch refuses an exabyte before it looks at anything */

/* The size of the block for a request of less than PLM_SIZE_LIMIT. */
uint64_t plm_size_round(const struct plm_allocator_settings *settings, uint64_t size);
/* The segment that is taken from the card for a block of that size. */
uint64_t plm_size_segment(const struct plm_allocator_settings *settings, uint64_t rounded);
/* Whether a block of `size` leaves `rest` of a free one behind, rather than having it all. */
bool plm_size_splits(const struct plm_allocator_settings *settings, bool small, uint64_t size, uint64_t rest);

#endif
