#include "fit/pools.h"

#include <string.h>

#include "analysis/job.h"
#include "base/memory.h"
#include "base/search.h"

/* Segments by address. One that is gone stays until another takes its addresses: no block can lie in it. */
struct places {
    const struct plm_segment **segment;
    size_t count, room;
    size_t next; /* of the lane's segments */
};

/* The first that begins after the address. */
static size_t segment_after(const struct places *p, uint64_t address)
{
    return PLM_SEARCH(i, p->count, p->segment[i]->address <= address);
}

static const struct plm_segment *segment_find(const struct places *p, uint64_t address)
{
    size_t at = segment_after(p, address);
    const struct plm_segment *s = at ? p->segment[at - 1] : NULL;
    return s && address - s->address < s->bytes ? s : NULL;
}

static void segment_add(struct places *p, const struct plm_segment *s)
{
    size_t from = segment_after(p, s->address), to = from;

    if (from && s->address - p->segment[from - 1]->address < p->segment[from - 1]->bytes)
        from--;
    while (to < p->count && p->segment[to]->address - s->address < s->bytes)
        to++;
    if (to > from)
        memmove(p->segment + from, p->segment + to, (p->count - to) * sizeof *p->segment);
    p->count -= to - from;
    p->segment = plm_grow(p->segment, p->count, &p->room, sizeof *p->segment);
    memmove(p->segment + from + 1, p->segment + from, (p->count - from) * sizeof *p->segment);
    p->segment[from] = s;
    p->count++;
}

/* Segments that have appeared by then. */
static void advance(struct places *p, const struct plm_lane *lane, uint32_t moment)
{
    for (; p->next < lane->segments && lane->segment[p->next].alloc_at <= moment; p->next++)
        if (lane->segment[p->next].kind == PLM_RECORD_MALLOC)
            segment_add(p, &lane->segment[p->next]);
}

/* home[i]: the segment of block i, counted from 1; 0 if it is not known. */
static void find_homes(const struct plm_lane *lane, uint32_t *home, bool *private)
{
    struct places p = {0};

    p.segment = plm_grow(NULL, 0, &p.room, sizeof *p.segment);
    for (uint32_t m = 0; m < lane->moments; m++) {
        uint32_t index = lane->order[m] >> 1;
        const struct plm_segment *s;
        if (lane->order[m] & 1)
            continue;
        advance(&p, lane, m);
        s = segment_find(&p, lane->block[index].address);
        if (!s)
            continue;
        home[index] = (uint32_t)(s - lane->segment) + 1;
        private[home[index]] |= lane->block[index].captured;
    }
    free(p.segment);
}

bool *plm_lane_private(const struct plm_lane *lane)
{
    uint32_t *home;
    bool *private, *block;
    size_t captured = 0;

    for (size_t i = 0; i < lane->blocks; i++)
        captured += lane->block[i].captured;
    if (!captured)
        return NULL;
    home = plm_calloc(lane->blocks, sizeof *home);
    block = plm_calloc(lane->blocks, sizeof *block);
    private = plm_calloc(lane->segments + 1, sizeof *private);
    find_homes(lane, home, private);
    for (size_t i = 0; i < lane->blocks; i++)
        block[i] = lane->block[i].captured || (home[i] && private[home[i]]);
    free(home);
    free(private);
    return block;
}
