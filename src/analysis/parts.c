#include <stdlib.h>

#include "analysis/collect.h"
#include "base/memory.h"
#include "base/search.h"

void plm_parts_add(struct plm_lane_work *w, struct plm_job_part part)
{
    w->lane.part = plm_grow(w->lane.part, w->lane.parts, &w->part_room, sizeof *w->lane.part);
    w->lane.part[w->lane.parts++] = part;
}

static int by_place(const void *a, const void *b)
{
    const struct plm_job_part *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

/* Of the parts of one block, from `first` on, keeps those of its category where another owner begins, if there are several
   owners. They go to `kept`; returns how many are there then. */
static size_t block_keep(struct plm_lane *lane, size_t first, size_t end, size_t kept)
{
    struct plm_block *block = &lane->block[lane->part[first].block];
    const size_t before = kept;
    for (size_t i = first; i < end; i++) {
        const struct plm_job_part part = lane->part[i];
        if (part.category != block->category)
            continue;
        if (kept == before || lane->part[kept - 1].owner != part.owner)
            lane->part[kept++] = part;
    }
    block->shared = kept - before > 1;
    return block->shared ? kept : before;
}

void plm_parts_sort(struct plm_lane *lane)
{
    size_t kept = 0;
    if (lane->parts)
        qsort(lane->part, lane->parts, sizeof *lane->part, by_place);
    for (size_t first = 0, end; first < lane->parts; first = end) {
        for (end = first; end < lane->parts && lane->part[end].block == lane->part[first].block;)
            end++;
        kept = block_keep(lane, first, end, kept);
    }
    lane->parts = kept;
}

size_t plm_block_first_part(const struct plm_lane *lane, const struct plm_block *block)
{
    const uint32_t index = (uint32_t)(block - lane->block);
    return PLM_SEARCH(i, lane->parts, lane->part[i].block < index);
}

/* Part `at` of the lane, if it is the block's. What is in front of the first has no other owner, so that begins with its
   block. */
static bool part_take(const struct plm_lane *lane, size_t at, bool first, struct plm_block *block, uint32_t index)
{
    const struct plm_job_part *p = &lane->part[at];
    uint64_t from, to;
    if (at >= lane->parts || p->block != index)
        return false;
    from = first ? 0 : p->from;
    to = at + 1 < lane->parts && p[1].block == index ? p[1].from : block->bytes;
    block->owner = p->owner;
    block->address += from;
    block->bytes = to - from;
    return true;
}

bool plm_block_part(const struct plm_lane *lane, const struct plm_block *block, size_t number, struct plm_block *part)
{
    *part = *block;
    if (!block->shared)
        return number == 0;
    return part_take(lane, plm_block_first_part(lane, block) + number, !number, part, (uint32_t)(block - lane->block));
}
