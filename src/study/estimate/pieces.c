#include "study/estimate/pieces.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/error.h"

/* Numbers in struct plm_pieces are one higher, so that a struct of zeros is empty. */
static uint32_t first(uint32_t stored)
{
    return stored - 1; /* 0 becomes PLM_PIECE_NONE */
}

static bool less(const struct plm_piece *a, uint64_t size, uint64_t address)
{
    return a->size != size ? a->size < size : a->address < address;
}

/* Puts `child` where `at` hangs. */
static void hang(struct plm_pieces *p, uint32_t at, uint32_t child)
{
    uint32_t up = p->piece[at].up;
    if (up == PLM_PIECE_NONE)
        p->root = child + 1;
    else if (p->piece[up].left == at)
        p->piece[up].left = child;
    else
        p->piece[up].right = child;
    if (child != PLM_PIECE_NONE)
        p->piece[child].up = up;
}

/* A child changes places with its parent; the order stays. */
static void rotate(struct plm_pieces *p, uint32_t at)
{
    struct plm_piece *piece = p->piece;
    uint32_t up = piece[at].up, inner;
    bool left = piece[up].left == at;

    inner = left ? piece[at].right : piece[at].left;
    hang(p, up, at);
    if (left) {
        piece[up].left = inner;
        piece[at].right = up;
    } else {
        piece[up].right = inner;
        piece[at].left = up;
    }
    piece[up].up = at;
    if (inner != PLM_PIECE_NONE)
        piece[inner].up = up;
}

static void insert(struct plm_pieces *p, uint32_t number)
{
    struct plm_piece *piece = p->piece, *new = &piece[number];
    uint32_t at = first(p->root), up = PLM_PIECE_NONE;
    bool after = false;

    while (at != PLM_PIECE_NONE) {
        up = at;
        after = less(&piece[at], new->size, new->address);
        at = after ? piece[at].right : piece[at].left;
    }
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    new->priority = (uint32_t)(p->random >> 32);
    new->left = new->right = PLM_PIECE_NONE;
    new->up = up;
    if (up == PLM_PIECE_NONE)
        p->root = number + 1;
    else if (after)
        piece[up].right = number;
    else
        piece[up].left = number;
    while (new->up != PLM_PIECE_NONE && piece[new->up].priority < new->priority)
        rotate(p, number);
}

static void withdraw(struct plm_pieces *p, uint32_t number)
{
    struct plm_piece *piece = p->piece;
    while (piece[number].left != PLM_PIECE_NONE && piece[number].right != PLM_PIECE_NONE) {
        uint32_t left = piece[number].left, right = piece[number].right;
        rotate(p, piece[left].priority > piece[right].priority ? left : right);
    }
    hang(p, number, piece[number].left != PLM_PIECE_NONE ? piece[number].left : piece[number].right);
}

static bool is_whole(const struct plm_piece *piece)
{
    return piece->before == PLM_PIECE_NONE && piece->after == PLM_PIECE_NONE;
}

static void make_free(struct plm_pieces *p, uint32_t number)
{
    struct plm_piece *piece = &p->piece[number];
    piece->taken = false;
    insert(p, number);
    if (!is_whole(piece))
        return;
    piece->whole_before = PLM_PIECE_NONE;
    piece->whole_after = first(p->whole);
    if (p->whole)
        p->piece[first(p->whole)].whole_before = number;
    p->whole = number + 1;
}

static void make_taken(struct plm_pieces *p, uint32_t number)
{
    struct plm_piece *piece = &p->piece[number];
    piece->taken = true;
    withdraw(p, number);
    if (!is_whole(piece))
        return;
    if (piece->whole_before == PLM_PIECE_NONE)
        p->whole = piece->whole_after + 1;
    else
        p->piece[piece->whole_before].whole_after = piece->whole_after;
    if (piece->whole_after != PLM_PIECE_NONE)
        p->piece[piece->whole_after].whole_before = piece->whole_before;
}

static void forget(struct plm_pieces *p, uint32_t number)
{
    p->piece[number].right = first(p->spare);
    p->spare = number + 1;
}

static int take_entry(struct plm_pieces *p, uint32_t *number)
{
    struct plm_piece *more;
    if (p->spare) {
        *number = first(p->spare);
        p->spare = p->piece[*number].right + 1;
        return 0;
    }
    more = p->count < PLM_PIECE_NONE - 1 ? plm_grow(p->piece, p->count, &p->room, sizeof *more) : NULL;
    if (!more)
        return PLM_ENOMEM;
    p->piece = more;
    *number = (uint32_t)p->count++;
    return 0;
}

void plm_pieces_free(struct plm_pieces *p)
{
    free(p->piece);
    *p = (struct plm_pieces){0};
}

int plm_pieces_add(struct plm_pieces *p, uint64_t address, uint64_t size, uint32_t *number)
{
    int status = take_entry(p, number);
    if (status == 0)
        p->piece[*number] = (struct plm_piece){
            .address = address, .size = size, .before = PLM_PIECE_NONE, .after = PLM_PIECE_NONE, .taken = true};
    return status;
}

uint32_t plm_pieces_take(struct plm_pieces *p, uint64_t size)
{
    uint32_t at = first(p->root), found = PLM_PIECE_NONE;
    while (at != PLM_PIECE_NONE) {
        if (less(&p->piece[at], size, 0)) {
            at = p->piece[at].right;
        } else {
            found = at;
            at = p->piece[at].left;
        }
    }
    if (found != PLM_PIECE_NONE)
        make_taken(p, found);
    return found;
}

int plm_pieces_cut(struct plm_pieces *p, uint32_t number, uint64_t size)
{
    struct plm_piece *piece;
    uint32_t rest;
    int status = plm_pieces_add(p, 0, 0, &rest);

    if (status)
        return status;
    piece = p->piece;
    piece[rest].address = piece[number].address + size;
    piece[rest].size = piece[number].size - size;
    piece[rest].before = number;
    piece[rest].after = piece[number].after;
    if (piece[rest].after != PLM_PIECE_NONE)
        piece[piece[rest].after].before = rest;
    piece[number].after = rest;
    piece[number].size = size;
    make_free(p, rest);
    return 0;
}

/* A piece takes the place of itself and its right neighbour. */
static void join(struct plm_pieces *p, uint32_t number)
{
    struct plm_piece *piece = p->piece;
    uint32_t after = piece[number].after;
    piece[number].size += piece[after].size;
    piece[number].after = piece[after].after;
    if (piece[number].after != PLM_PIECE_NONE)
        piece[piece[number].after].before = number;
    forget(p, after);
}

void plm_pieces_give(struct plm_pieces *p, uint32_t number)
{
    uint32_t before = p->piece[number].before, after = p->piece[number].after;
    if (after != PLM_PIECE_NONE && !p->piece[after].taken) {
        make_taken(p, after);
        join(p, number);
    }
    if (before != PLM_PIECE_NONE && !p->piece[before].taken) {
        make_taken(p, before);
        join(p, before);
        number = before;
    }
    make_free(p, number);
}

bool plm_pieces_drop(struct plm_pieces *p, uint64_t *address, uint64_t *size)
{
    uint32_t number = first(p->whole);
    if (number == PLM_PIECE_NONE)
        return false;
    *address = p->piece[number].address;
    *size = p->piece[number].size;
    make_taken(p, number);
    forget(p, number);
    return true;
}
