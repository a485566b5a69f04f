#include "study/estimate/two_level.h"

#include "base/error.h"

#define BLOCK         512u
#define SMALL         (1u << 20) /* up to here, small */
#define SMALL_SEGMENT (2u << 20)
#define LARGE         (10u << 20) /* up to and including: PyTorch itself has less than */
#define LARGE_SEGMENT (20u << 20)
#define ROUND         (2u << 20)
#define MOST          (UINT64_MAX - ROUND) /* what can be rounded up */

enum { SMALL_POOL, LARGE_POOL };

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static uint64_t segment_size(uint64_t bytes)
{
    return bytes <= SMALL ? SMALL_SEGMENT : bytes <= LARGE ? LARGE_SEGMENT : round_up(bytes, ROUND);
}

int plm_two_level_start(struct plm_two_level *t, uint64_t limit)
{
    uint32_t all;
    int status;

    *t = (struct plm_two_level){.limit = limit};
    status = plm_pieces_add(&t->card, 0, limit, &all);
    if (status == 0)
        plm_pieces_give(&t->card, all);
    return status;
}

void plm_two_level_end(struct plm_two_level *t)
{
    plm_pieces_free(&t->card);
    plm_pieces_free(&t->pool[SMALL_POOL]);
    plm_pieces_free(&t->pool[LARGE_POOL]);
    plm_map_free(&t->segment);
}

/* A segment of the card, as one taken piece of the pool. */
static int take_segment(struct plm_two_level *t, int pool, uint64_t size, uint32_t *piece)
{
    uint32_t place = plm_pieces_take(&t->card, size);
    uint64_t address;

    if (place == PLM_PIECE_NONE)
        return PLM_ENOTFOUND;
    if (t->card.piece[place].size > size && plm_pieces_cut(&t->card, place, size))
        return PLM_ENOMEM;
    address = t->card.piece[place].address;
    plm_map_put(&t->segment, address, place);
    if (plm_pieces_add(&t->pool[pool], address, size, piece))
        return PLM_ENOMEM;
    t->reserved += size;
    return 0;
}

static void release(struct plm_two_level *t)
{
    uint64_t address, size;
    for (int pool = LARGE_POOL; pool >= SMALL_POOL; pool--)
        while (plm_pieces_drop(&t->pool[pool], &address, &size)) {
            plm_pieces_give(&t->card, (uint32_t)plm_map_remove(&t->segment, address));
            t->reserved -= size;
        }
}

int plm_two_level_malloc(struct plm_two_level *t, uint64_t bytes, uint64_t *block)
{
    uint64_t size, rest;
    uint32_t piece;
    int pool, status = 0;

    if (bytes > MOST)
        return PLM_ENOTFOUND;
    size = bytes ? round_up(bytes, BLOCK) : BLOCK;
    pool = size <= SMALL ? SMALL_POOL : LARGE_POOL;
    piece = plm_pieces_take(&t->pool[pool], size);
    if (piece == PLM_PIECE_NONE) {
        status = take_segment(t, pool, segment_size(size), &piece);
        if (status == PLM_ENOTFOUND) {
            release(t);
            status = take_segment(t, pool, segment_size(size), &piece);
        }
    }
    if (status)
        return status;
    rest = t->pool[pool].piece[piece].size - size;
    if ((pool == SMALL_POOL ? rest >= BLOCK : rest > SMALL) && plm_pieces_cut(&t->pool[pool], piece, size))
        return PLM_ENOMEM;
    t->allocated += t->pool[pool].piece[piece].size;
    *block = (uint64_t)piece << 1 | (uint64_t)pool;
    return 0;
}

void plm_two_level_free(struct plm_two_level *t, uint64_t block)
{
    struct plm_pieces *pool = &t->pool[block & 1];
    uint32_t piece = (uint32_t)(block >> 1);
    t->allocated -= pool->piece[piece].size;
    plm_pieces_give(pool, piece);
}
