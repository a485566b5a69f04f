#include "import/heap.h"

#include <stdlib.h>

#include "allocator/sizes.h"
#include "base/memory.h"
#include "base/error.h"

enum { NOBODY = UINT32_MAX };

#define SEARCHED_MOST (1ull << 31)

/* ---- pieces ---- */

static uint32_t piece_at(const struct plm_heap *h, uint64_t address)
{
    uint64_t found = plm_map_get(&h->by_start, address);
    return found == PLM_MAP_NONE ? NOBODY : (uint32_t)found;
}

static int note_ends(struct plm_heap *h, uint32_t piece)
{
    const struct plm_piece *p = &h->piece[piece];
    if (plm_map_put(&h->by_start, p->address, piece) || plm_map_put(&h->by_end, p->address + p->size, piece))
        return PLM_ENOMEM;
    return 0;
}

static void forget_ends(struct plm_heap *h, uint32_t piece)
{
    const struct plm_piece *p = &h->piece[piece];
    plm_map_remove(&h->by_start, p->address);
    plm_map_remove(&h->by_end, p->address + p->size);
}

static int new_piece(struct plm_heap *h, struct plm_piece piece, uint32_t *number)
{
    if (h->unused) {
        *number = h->unused - 1;
        h->unused = h->piece[*number].after;
    } else {
        struct plm_piece *more = h->pieces < NOBODY - 1 ? plm_grow(h->piece, h->pieces, &h->room, sizeof *more) : NULL;
        if (!more)
            return PLM_ENOMEM;
        h->piece = more;
        *number = (uint32_t)h->pieces++;
    }
    h->piece[*number] = piece;
    return note_ends(h, *number);
}

static void drop_piece(struct plm_heap *h, uint32_t piece)
{
    struct plm_piece *p = &h->piece[piece];
    forget_ends(h, piece);
    if (p->before != NOBODY)
        h->piece[p->before].after = p->after;
    if (p->after != NOBODY)
        h->piece[p->after].before = p->before;
    *p = (struct plm_piece){.after = h->unused};
    h->unused = piece + 1;
}

/* Both are free and neighbours; the second one goes. */
static int join(struct plm_heap *h, uint32_t first, uint32_t second)
{
    uint64_t size = h->piece[first].size + h->piece[second].size;
    forget_ends(h, first);
    drop_piece(h, second);
    h->piece[first].size = size;
    return note_ends(h, first);
}

static int join_neighbours(struct plm_heap *h, uint32_t piece)
{
    uint32_t before = h->piece[piece].before, after = h->piece[piece].after;
    int status = 0;
    if (after != NOBODY && !h->piece[after].taken)
        status = join(h, piece, after);
    if (status == 0 && before != NOBODY && !h->piece[before].taken)
        status = join(h, before, piece);
    return status;
}

/* The piece keeps its first `bytes`; the rest becomes a free one behind it. */
static int split(struct plm_heap *h, uint32_t piece, uint64_t bytes)
{
    struct plm_piece rest = h->piece[piece];
    uint32_t number;
    int status;
    rest.address += bytes;
    rest.size -= bytes;
    rest.before = piece;
    rest.taken = false;
    forget_ends(h, piece);
    h->piece[piece].size = bytes;
    status = note_ends(h, piece);
    if (status == 0)
        status = new_piece(h, rest, &number);
    if (status < 0)
        return status;
    if (rest.after != NOBODY)
        h->piece[rest.after].before = number;
    h->piece[piece].after = number;
    return 0;
}

/* ---- what the allocator does ---- */

static bool overlaps(const struct plm_heap *h, uint64_t address, uint64_t bytes)
{
    return !bytes || address + bytes < address || piece_at(h, address) != NOBODY ||
           plm_map_get(&h->by_end, address + bytes) != PLM_MAP_NONE;
}

int plm_heap_add(struct plm_heap *h, uint64_t address, uint64_t bytes, bool expandable)
{
    struct plm_piece piece = {address, bytes, NOBODY, NOBODY, false};
    uint64_t before;
    uint32_t number;
    int status;
    if (overlaps(h, address, bytes))
        return 0;
    before = plm_map_get(&h->by_end, address);
    status = new_piece(h, piece, &number);
    if (status < 0 || !expandable)
        return status;
    if (before != PLM_MAP_NONE) {
        h->piece[number].before = (uint32_t)before;
        h->piece[before].after = number;
    }
    h->piece[number].after = piece_at(h, address + bytes);
    if (h->piece[number].after != NOBODY)
        h->piece[h->piece[number].after].before = number;
    return join_neighbours(h, number);
}

/* The free piece in which a range lies. A segment that goes is one; of an expandable one, pages of it go, which has
   to be looked for. How long in all has an end, so that no trace takes for ever. */
static uint32_t free_around(struct plm_heap *h, uint64_t address, uint64_t bytes)
{
    uint32_t piece = piece_at(h, address);
    for (size_t i = 0; piece == NOBODY && i < h->pieces && h->searched < SEARCHED_MOST; i++, h->searched++)
        if (h->piece[i].size && h->piece[i].address <= address && address - h->piece[i].address < h->piece[i].size)
            piece = (uint32_t)i;
    if (piece == NOBODY || h->piece[piece].taken || bytes > h->piece[piece].size - (address - h->piece[piece].address))
        return NOBODY;
    return piece;
}

int plm_heap_remove(struct plm_heap *h, uint64_t address, uint64_t bytes)
{
    uint32_t piece = free_around(h, address, bytes), rest;
    int status = 0;
    if (piece == NOBODY || !bytes)
        return 0;
    if (address > h->piece[piece].address) {
        status = split(h, piece, address - h->piece[piece].address);
        piece = h->piece[piece].after;
    }
    if (status == 0 && bytes < h->piece[piece].size)
        status = split(h, piece, bytes);
    if (status < 0)
        return status;
    /* What is left on both sides are no neighbours any more. */
    rest = h->piece[piece].after;
    if (rest != NOBODY)
        h->piece[rest].before = NOBODY;
    if (h->piece[piece].before != NOBODY)
        h->piece[h->piece[piece].before].after = NOBODY;
    h->piece[piece].before = h->piece[piece].after = NOBODY;
    drop_piece(h, piece);
    return 0;
}

int plm_heap_take(struct plm_heap *h, uint64_t address, uint64_t bytes, uint64_t *given)
{
    uint64_t rounded = plm_size_round(&h->settings, bytes);
    uint32_t piece = piece_at(h, address);
    int status = 0;
    *given = rounded;
    if (piece == NOBODY || h->piece[piece].taken || h->piece[piece].size < rounded)
        return 0;
    if (plm_size_splits(&h->settings, rounded <= PLM_SMALL_MOST, rounded, h->piece[piece].size - rounded))
        status = split(h, piece, rounded);
    h->piece[piece].taken = true;
    *given = h->piece[piece].size;
    return status;
}

int plm_heap_place(struct plm_heap *h, uint64_t from, uint64_t address, uint64_t bytes)
{
    uint32_t piece = piece_at(h, from);
    int status = 0;
    if (piece == NOBODY || h->piece[piece].taken || !bytes || address < from || bytes > h->piece[piece].size ||
        address - from > h->piece[piece].size - bytes)
        return 0;
    if (address > from) {
        status = split(h, piece, address - from);
        piece = h->piece[piece].after;
    }
    if (status == 0 && h->piece[piece].size > bytes)
        status = split(h, piece, bytes);
    if (status == 0)
        h->piece[piece].taken = true;
    return status;
}

int plm_heap_give(struct plm_heap *h, uint64_t address)
{
    uint32_t piece = piece_at(h, address);
    if (piece == NOBODY || !h->piece[piece].taken)
        return 0;
    h->piece[piece].taken = false;
    return join_neighbours(h, piece);
}

void plm_heap_free(struct plm_heap *h)
{
    free(h->piece);
    plm_map_free(&h->by_start);
    plm_map_free(&h->by_end);
    *h = (struct plm_heap){0};
}
