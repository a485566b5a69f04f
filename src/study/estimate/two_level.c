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

void plm_two_level_start(struct plm_two_level *t, uint64_t limit)
{
    *t = (struct plm_two_level){.limit = limit};
    plm_pieces_give(&t->card, plm_pieces_add(&t->card, 0, limit));
}

void plm_two_level_end(struct plm_two_level *t)
{
    plm_pieces_free(&t->card);
    plm_pieces_free(&t->pool[SMALL_POOL]);
    plm_pieces_free(&t->pool[LARGE_POOL]);
    plm_map_free(&t->segment);
}

/* A segment of the card, as one taken piece of the pool; NULL: the card is full. */
static struct plm_piece *segment_take(struct plm_two_level *t, int pool, uint64_t size)
{
    struct plm_piece *place = plm_pieces_take(&t->card, size);

    if (!place)
        return NULL;
    if (place->size > size)
        plm_pieces_cut(&t->card, place, size);
    plm_map_put(&t->segment, place->address, (uintptr_t)place);
    t->reserved += size;
    return plm_pieces_add(&t->pool[pool], place->address, size);
}

static void segments_release(struct plm_two_level *t)
{
    uint64_t address, size;
    for (int pool = LARGE_POOL; pool >= SMALL_POOL; pool--)
        while (plm_pieces_drop(&t->pool[pool], &address, &size)) {
            plm_pieces_give(&t->card, (struct plm_piece *)(uintptr_t)plm_map_remove(&t->segment, address));
            t->reserved -= size;
        }
}

int plm_two_level_malloc(struct plm_two_level *t, uint64_t bytes, uint64_t *block)
{
    uint64_t size, rest;
    struct plm_piece *piece;
    int pool;

    if (bytes > MOST)
        return PLM_ENOTFOUND;
    size = bytes ? round_up(bytes, BLOCK) : BLOCK;
    pool = size <= SMALL ? SMALL_POOL : LARGE_POOL;
    piece = plm_pieces_take(&t->pool[pool], size);
    if (!piece)
        piece = segment_take(t, pool, segment_size(size));
    if (!piece) {
        segments_release(t);
        piece = segment_take(t, pool, segment_size(size));
    }
    if (!piece)
        return PLM_ENOTFOUND;
    rest = piece->size - size;
    if (pool == SMALL_POOL ? rest >= BLOCK : rest > SMALL)
        plm_pieces_cut(&t->pool[pool], piece, size);
    t->allocated += piece->size;
    *block = (uintptr_t)piece | (uintptr_t)pool; /* a pointer is even */
    return 0;
}

void plm_two_level_free(struct plm_two_level *t, uint64_t block)
{
    struct plm_piece *piece = (struct plm_piece *)(uintptr_t)(block & ~1ull);
    t->allocated -= piece->size;
    plm_pieces_give(&t->pool[block & 1], piece);
}
