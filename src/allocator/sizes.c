#include "allocator/sizes.h"

static uint64_t roundup_divisions(const struct plm_allocator_settings *s, uint64_t size)
{
    int index = 63 - __builtin_clzll(size) - 20;
    index = index < 0 ? 0 : index;
    return s->roundup[index < PLM_ROUNDUP_INTERVALS ? index : PLM_ROUNDUP_INTERVALS - 1];
}

uint64_t plm_size_round(const struct plm_allocator_settings *s, uint64_t size)
{
    uint64_t divisions, floor, step;

    if (size < PLM_BLOCK_LEAST)
        return PLM_BLOCK_LEAST;
    divisions = roundup_divisions(s, size);
    if (divisions <= 1 || size <= PLM_BLOCK_LEAST * divisions)
        return (size + PLM_BLOCK_LEAST - 1) / PLM_BLOCK_LEAST * PLM_BLOCK_LEAST;
    floor = 1ull << (63 - __builtin_clzll(size));
    step = floor / divisions;
    return (size + step - 1) / step * step;
}

uint64_t plm_size_segment(const struct plm_allocator_settings *s, uint64_t rounded)
{
    if (rounded <= PLM_SMALL_MOST)
        return PLM_SMALL_SEGMENT;
    if (rounded < PLM_LARGE_LEAST)
        return s->large_segment;
    return (rounded + PLM_LARGE_ROUND - 1) / PLM_LARGE_ROUND * PLM_LARGE_ROUND;
}

bool plm_size_splits(const struct plm_allocator_settings *s, bool small, uint64_t size, uint64_t rest)
{
    if (small || s->expandable)
        return rest >= PLM_BLOCK_LEAST;
    return size < s->max_split_size && rest > PLM_SMALL_MOST;
}
