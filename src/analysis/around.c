#include "analysis/collect.h"

/* A block of at least 2^j bytes, but less than twice that, begins in a cell of 2^j bytes in which no other block of its
   level does, as blocks do not overlap; what it holds lies in this cell or in one of the next two. So an address is
   looked for in three cells of each level, however many blocks live. Of blocks that overlap in a damaged record one may
   be missed. */
enum { LEVEL_BITS = 6, CELLS = 3 };

static uint64_t cell_key(uint64_t cell, unsigned level)
{
    return cell << LEVEL_BITS | level;
}

static unsigned level_of(const struct plm_block *block)
{
    return 63u - (unsigned)__builtin_clzll(block->bytes | 1);
}

static void cell_take(struct plm_lane_work *w, uint32_t life)
{
    const struct plm_block *block = &w->lane.block[w->life[life].block];
    const unsigned level = level_of(block);
    plm_map_put(&w->cells, cell_key(block->address >> level, level), life);
    w->levels |= 1ull << level;
}

void plm_around_add(struct plm_lane_work *w, uint32_t life)
{
    if (w->levels)
        cell_take(w, life);
}

void plm_around_remove(struct plm_lane_work *w, uint32_t life)
{
    const struct plm_block *block = &w->lane.block[w->life[life].block];
    const unsigned level = level_of(block);
    const uint64_t key = cell_key(block->address >> level, level);
    if (w->levels && plm_map_get(&w->cells, key) == life)
        plm_map_remove(&w->cells, key);
}

static bool block_holds(const struct plm_block *block, uint64_t address)
{
    return address - block->address < block->bytes;
}

static void cells_make(struct plm_lane_work *w)
{
    for (size_t i = 0; i < w->live.slots; i++)
        if (w->live.slot[i].value != PLM_MAP_NONE)
            cell_take(w, (uint32_t)w->live.slot[i].value);
}

struct plm_block *plm_around_find(struct plm_lane_work *w, uint64_t address)
{
    if (!w->levels)
        cells_make(w);
    for (uint64_t left = w->levels; left; left &= left - 1) {
        const unsigned level = (unsigned)__builtin_ctzll(left);
        const uint64_t cell = address >> level;
        for (uint64_t back = 0; back < CELLS && back <= cell; back++) {
            const uint64_t life = plm_map_get(&w->cells, cell_key(cell - back, level));
            if (life != PLM_MAP_NONE && block_holds(&w->lane.block[w->life[life].block], address))
                return &w->lane.block[w->life[life].block];
        }
    }
    return NULL;
}
