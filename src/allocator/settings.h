/*
 * The settings of PyTorch's caching allocator: what PYTORCH_CUDA_ALLOC_CONF (PYTORCH_ALLOC_CONF since 2.10)
 * holds, by version. Plain values, nothing to free; any thread. A string that this version of PyTorch would
 * refuse is refused with PLM_EINVAL and a sentence that names the key.
 */
#ifndef PLM_ALLOCATOR_SETTINGS_H
#define PLM_ALLOCATOR_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "torch/release.h"

struct plm_error;

#define PLM_ROUNDUP_INTERVALS 16 /* sizes below 2 MiB, 2 to 4 MiB, ... 32 GiB and more */

struct plm_allocator_settings {
    uint64_t max_split_size;               /* UINT64_MAX: every block may be split */
    uint64_t max_non_split_rounding;
    uint64_t large_segment;                /* of requests above 1 MiB and below 10 MiB */
    uint64_t roundup[PLM_ROUNDUP_INTERVALS]; /* divisions between two powers of 2; 0, 1: off */
    double gc_threshold;                   /* 0: off */
    double fraction;                       /* of the card's total memory; negative: no limit */
    double reserve; /* addresses of an expandable segment: GiB if `reserve_gib`, else of the total; */
    bool reserve_gib; /* 0: an eighth more than the total, which is also the most */
    bool expandable;
    bool capture_reuse; /* graph_capture_record_stream_reuse */
    bool async; /* backend:cudaMallocAsync */
};

/* `text` NULL or "" gives the defaults. */
int plm_allocator_settings_parse(const char *text, enum plm_torch torch, struct plm_allocator_settings *settings,
                                 struct plm_error *error);

/* How the allocator rounds: what a request becomes, what segment it is taken from, and when the rest of a block is split
   off. Plain arithmetic; nothing fails. */
#define PLM_BLOCK_LEAST   512u /* sizes are multiples of it */
#define PLM_SMALL_MOST    (1u << 20) /* the largest block of the small pool */
#define PLM_SMALL_SEGMENT (2u << 20)
#define PLM_LARGE_LEAST   (10u << 20) /* requests from here on get segments of their own size */
#define PLM_LARGE_ROUND   (2u << 20)
#define PLM_SIZE_LIMIT    (1ull << 60) /* PyTorch refuses an exabyte before it looks at anything */

/* The size of the block for a request of less than PLM_SIZE_LIMIT. */
uint64_t plm_allocator_size_round(const struct plm_allocator_settings *settings, uint64_t size);
/* The segment that is taken from the card for a block of that size. */
uint64_t plm_allocator_size_segment(const struct plm_allocator_settings *settings, uint64_t rounded);
/* Whether a block of `size` leaves `rest` of a free one behind, rather than having it all. */
bool plm_allocator_size_splits(const struct plm_allocator_settings *settings, bool small, uint64_t size, uint64_t rest);

#endif
