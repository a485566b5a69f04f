#include "study/estimate/pieces.h"

#include <assert.h>

#include "base/memory.h"

static_assert(offsetof(struct plm_piece, node) == 0, "a piece is taken for its node");

struct piece_key {
    uint64_t size, address;
};

static bool piece_before(const struct plm_treap_node *member, const void *key)
{
    const struct plm_piece *a = (const struct plm_piece *)(const void *)member;
    const struct piece_key *b = key;
    return a->size != b->size ? a->size < b->size : a->address < b->address;
}

static bool piece_is_whole(const struct plm_piece *piece)
{
    return !piece->before && !piece->after;
}

static void piece_make_free(struct plm_pieces *p, struct plm_piece *piece)
{
    const struct piece_key key = {piece->size, piece->address};
    piece->taken = false;
    plm_treap_insert(&p->free, &piece->node, piece_before, &key);
    if (!piece_is_whole(piece))
        return;
    piece->whole_before = NULL;
    piece->whole_after = p->whole;
    if (p->whole)
        p->whole->whole_before = piece;
    p->whole = piece;
}

static void piece_make_taken(struct plm_pieces *p, struct plm_piece *piece)
{
    piece->taken = true;
    plm_treap_remove(&p->free, &piece->node);
    if (!piece_is_whole(piece))
        return;
    if (piece->whole_before)
        piece->whole_before->whole_after = piece->whole_after;
    else
        p->whole = piece->whole_after;
    if (piece->whole_after)
        piece->whole_after->whole_before = piece->whole_before;
}

static void piece_forget(struct plm_pieces *p, struct plm_piece *piece)
{
    piece->after = p->spare;
    p->spare = piece;
}

void plm_pieces_free(struct plm_pieces *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->made[i]);
    free(p->made);
    *p = (struct plm_pieces){0};
}

struct plm_piece *plm_pieces_add(struct plm_pieces *p, uint64_t address, uint64_t size)
{
    struct plm_piece *piece = p->spare;
    if (piece) {
        p->spare = piece->after;
    } else {
        p->made = plm_grow(p->made, p->count, &p->room, sizeof *p->made);
        piece = p->made[p->count++] = plm_calloc(1, sizeof *piece);
    }
    *piece = (struct plm_piece){.address = address, .size = size, .taken = true};
    return piece;
}

struct plm_piece *plm_pieces_take(struct plm_pieces *p, uint64_t size)
{
    const struct piece_key key = {size, 0};
    struct plm_piece *found = (struct plm_piece *)(void *)plm_treap_from(&p->free, piece_before, &key);
    if (found)
        piece_make_taken(p, found);
    return found;
}

void plm_pieces_cut(struct plm_pieces *p, struct plm_piece *piece, uint64_t size)
{
    struct plm_piece *rest = plm_pieces_add(p, piece->address + size, piece->size - size);
    rest->before = piece;
    rest->after = piece->after;
    if (rest->after)
        rest->after->before = rest;
    piece->after = rest;
    piece->size = size;
    piece_make_free(p, rest);
}

/* A piece takes the place of itself and its right neighbour. */
static void piece_join(struct plm_pieces *p, struct plm_piece *piece)
{
    struct plm_piece *after = piece->after;
    piece->size += after->size;
    piece->after = after->after;
    if (piece->after)
        piece->after->before = piece;
    piece_forget(p, after);
}

void plm_pieces_give(struct plm_pieces *p, struct plm_piece *piece)
{
    struct plm_piece *before = piece->before, *after = piece->after;
    if (after && !after->taken) {
        piece_make_taken(p, after);
        piece_join(p, piece);
    }
    if (before && !before->taken) {
        piece_make_taken(p, before);
        piece_join(p, before);
        piece = before;
    }
    piece_make_free(p, piece);
}

bool plm_pieces_drop(struct plm_pieces *p, uint64_t *address, uint64_t *size)
{
    struct plm_piece *piece = p->whole;
    if (!piece)
        return false;
    *address = piece->address;
    *size = piece->size;
    piece_make_taken(p, piece);
    piece_forget(p, piece);
    return true;
}
