#include "import/heap.h"

#include <stdlib.h>

#include "allocator/settings.h"
#include "base/memory.h"

enum { NOBODY = UINT32_MAX };

#define SEARCHED_MOST (1ull << 31)

/* ---- pieces ---- */

static uint32_t piece_at(const struct plm_heap *h, uint64_t address)
{
    uint64_t found = plm_map_get(&h->by_start, address);
    return found == PLM_MAP_NONE ? NOBODY : (uint32_t)found;
}

static void piece_note(struct plm_heap *h, uint32_t piece)
{
    const struct plm_heap_piece *p = &h->piece[piece];
    plm_map_put(&h->by_start, p->address, piece);
    plm_map_put(&h->by_end, p->address + p->size, piece);
}

static void piece_forget(struct plm_heap *h, uint32_t piece)
{
    const struct plm_heap_piece *p = &h->piece[piece];
    plm_map_remove(&h->by_start, p->address);
    plm_map_remove(&h->by_end, p->address + p->size);
}

static uint32_t piece_new(struct plm_heap *h, struct plm_heap_piece piece)
{
    uint32_t number;
    if (h->unused) {
        number = h->unused - 1;
        h->unused = h->piece[number].after;
    } else {
        if (h->pieces >= NOBODY - 1)
            plm_out_of_memory();
        h->piece = plm_grow(h->piece, h->pieces, &h->room, sizeof *h->piece);
        number = (uint32_t)h->pieces++;
    }
    h->piece[number] = piece;
    piece_note(h, number);
    return number;
}

static void piece_drop(struct plm_heap *h, uint32_t piece)
{
    struct plm_heap_piece *p = &h->piece[piece];
    piece_forget(h, piece);
    if (p->before != NOBODY)
        h->piece[p->before].after = p->after;
    if (p->after != NOBODY)
        h->piece[p->after].before = p->before;
    *p = (struct plm_heap_piece){.after = h->unused};
    h->unused = piece + 1;
}

/* Both are free and neighbours; the second one goes. */
static void piece_join(struct plm_heap *h, uint32_t first, uint32_t second)
{
    uint64_t size = h->piece[first].size + h->piece[second].size;
    piece_forget(h, first);
    piece_drop(h, second);
    h->piece[first].size = size;
    piece_note(h, first);
}

static void piece_join_neighbours(struct plm_heap *h, uint32_t piece)
{
    uint32_t before = h->piece[piece].before, after = h->piece[piece].after;
    if (after != NOBODY && !h->piece[after].taken)
        piece_join(h, piece, after);
    if (before != NOBODY && !h->piece[before].taken)
        piece_join(h, before, piece);
}

/* The piece keeps its first `bytes`; the rest becomes a free one behind it. */
static void piece_split(struct plm_heap *h, uint32_t piece, uint64_t bytes)
{
    struct plm_heap_piece rest = h->piece[piece];
    uint32_t number;
    rest.address += bytes;
    rest.size -= bytes;
    rest.before = piece;
    rest.taken = false;
    piece_forget(h, piece);
    h->piece[piece].size = bytes;
    piece_note(h, piece);
    number = piece_new(h, rest);
    if (rest.after != NOBODY)
        h->piece[rest.after].before = number;
    h->piece[piece].after = number;
}

/* ---- what the allocator does ---- */

static bool range_overlaps(const struct plm_heap *h, uint64_t address, uint64_t bytes)
{
    return !bytes || address + bytes < address || piece_at(h, address) != NOBODY ||
           plm_map_get(&h->by_end, address + bytes) != PLM_MAP_NONE;
}

void plm_heap_add(struct plm_heap *h, uint64_t address, uint64_t bytes, bool expandable)
{
    struct plm_heap_piece piece = {address, bytes, NOBODY, NOBODY, false};
    uint64_t before;
    uint32_t number;
    if (range_overlaps(h, address, bytes))
        return;
    before = plm_map_get(&h->by_end, address);
    number = piece_new(h, piece);
    if (!expandable)
        return;
    if (before != PLM_MAP_NONE) {
        h->piece[number].before = (uint32_t)before;
        h->piece[before].after = number;
    }
    h->piece[number].after = piece_at(h, address + bytes);
    if (h->piece[number].after != NOBODY)
        h->piece[h->piece[number].after].before = number;
    piece_join_neighbours(h, number);
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

void plm_heap_remove(struct plm_heap *h, uint64_t address, uint64_t bytes)
{
    uint32_t piece = free_around(h, address, bytes), rest;
    if (piece == NOBODY || !bytes)
        return;
    if (address > h->piece[piece].address) {
        piece_split(h, piece, address - h->piece[piece].address);
        piece = h->piece[piece].after;
    }
    if (bytes < h->piece[piece].size)
        piece_split(h, piece, bytes);
    /* What is left on both sides are no neighbours any more. */
    rest = h->piece[piece].after;
    if (rest != NOBODY)
        h->piece[rest].before = NOBODY;
    if (h->piece[piece].before != NOBODY)
        h->piece[h->piece[piece].before].after = NOBODY;
    h->piece[piece].before = h->piece[piece].after = NOBODY;
    piece_drop(h, piece);
}

uint64_t plm_heap_take(struct plm_heap *h, uint64_t address, uint64_t bytes)
{
    uint64_t rounded = plm_allocator_size_round(&h->settings, bytes);
    uint32_t piece = piece_at(h, address);
    if (piece == NOBODY || h->piece[piece].taken || h->piece[piece].size < rounded)
        return rounded;
    if (plm_allocator_size_splits(&h->settings, rounded <= PLM_SMALL_MOST, rounded, h->piece[piece].size - rounded))
        piece_split(h, piece, rounded);
    h->piece[piece].taken = true;
    return h->piece[piece].size;
}

void plm_heap_place(struct plm_heap *h, uint64_t from, uint64_t address, uint64_t bytes)
{
    uint32_t piece = piece_at(h, from);
    if (piece == NOBODY || h->piece[piece].taken || !bytes || address < from || bytes > h->piece[piece].size ||
        address - from > h->piece[piece].size - bytes)
        return;
    if (address > from) {
        piece_split(h, piece, address - from);
        piece = h->piece[piece].after;
    }
    if (h->piece[piece].size > bytes)
        piece_split(h, piece, bytes);
    h->piece[piece].taken = true;
}

void plm_heap_give(struct plm_heap *h, uint64_t address)
{
    uint32_t piece = piece_at(h, address);
    if (piece == NOBODY || !h->piece[piece].taken)
        return;
    h->piece[piece].taken = false;
    piece_join_neighbours(h, piece);
}

void plm_heap_free(struct plm_heap *h)
{
    free(h->piece);
    plm_map_free(&h->by_start);
    plm_map_free(&h->by_end);
    *h = (struct plm_heap){0};
}
