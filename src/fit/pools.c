#include "fit/pools.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/memory.h"
#include "base/error.h"

/* Segments by address. One that is gone stays until another takes its addresses: no block can lie in it. */
struct places {
    const struct plm_segment **segment;
    size_t count, room;
    size_t next; /* of the lane's segments */
};

/* The first that begins after the address. */
static size_t after(const struct places *p, uint64_t address)
{
    size_t low = 0, high = p->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->segment[middle]->address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct plm_segment *find(const struct places *p, uint64_t address)
{
    size_t at = after(p, address);
    const struct plm_segment *s = at ? p->segment[at - 1] : NULL;
    return s && address - s->address < s->bytes ? s : NULL;
}

static int add(struct places *p, const struct plm_segment *s)
{
    size_t from = after(p, s->address), to = from;
    const struct plm_segment **more;

    if (from && s->address - p->segment[from - 1]->address < p->segment[from - 1]->bytes)
        from--;
    while (to < p->count && p->segment[to]->address - s->address < s->bytes)
        to++;
    memmove(p->segment + from, p->segment + to, (p->count - to) * sizeof *p->segment);
    p->count -= to - from;
    more = plm_grow(p->segment, p->count, &p->room, sizeof *more);
    if (!more)
        return PLM_ENOMEM;
    p->segment = more;
    memmove(more + from + 1, more + from, (p->count - from) * sizeof *more);
    more[from] = s;
    p->count++;
    return 0;
}

/* Segments that have appeared by then. */
static int advance(struct places *p, const struct plm_lane *lane, uint32_t moment)
{
    int status = 0;
    for (; status == 0 && p->next < lane->segments && lane->segment[p->next].alloc_at <= moment; p->next++)
        if (lane->segment[p->next].kind == PLM_RECORD_MALLOC)
            status = add(p, &lane->segment[p->next]);
    return status;
}

/* home[i]: the segment of block i, counted from 1; 0 if it is not known. */
static int find_homes(const struct plm_lane *lane, uint32_t *home, bool *private)
{
    struct places p = {0};
    int status = (p.segment = plm_grow(NULL, 0, &p.room, sizeof *p.segment)) ? 0 : PLM_ENOMEM;

    for (uint32_t m = 0; m < lane->moments && status == 0; m++) {
        uint32_t index = lane->order[m] >> 1;
        const struct plm_segment *s;
        if (lane->order[m] & 1)
            continue;
        status = advance(&p, lane, m);
        s = status ? NULL : find(&p, lane->block[index].address);
        if (!s)
            continue;
        home[index] = (uint32_t)(s - lane->segment) + 1;
        private[home[index]] |= lane->block[index].captured;
    }
    free(p.segment);
    return status;
}

int plm_lane_private(const struct plm_lane *lane, bool **out)
{
    uint32_t *home = NULL;
    bool *private = NULL, *block = NULL;
    size_t captured = 0;
    int status = PLM_ENOMEM;

    *out = NULL;
    for (size_t i = 0; i < lane->blocks; i++)
        captured += lane->block[i].captured;
    if (!captured)
        return 0;
    home = calloc(lane->blocks, sizeof *home);
    block = calloc(lane->blocks, sizeof *block);
    private = calloc(lane->segments + 1, sizeof *private);
    if (home && block && private)
        status = find_homes(lane, home, private);
    for (size_t i = 0; i < lane->blocks && status == 0; i++)
        block[i] = lane->block[i].captured || (home[i] && private[home[i]]);
    free(home);
    free(private);
    if (status)
        free(block);
    else
        *out = block;
    return status;
}
