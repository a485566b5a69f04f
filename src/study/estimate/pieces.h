/*
 * Address ranges that are cut and joined: what the published simulator's two levels have in common. Inside
 * src/study/estimate.
 *
 * A piece is part of a run of neighbouring pieces: a segment, or the whole card. Free pieces are ordered by size,
 * then address; best fit is the first that is large enough. Pieces belong to their struct plm_pieces and are valid
 * until they are given back or joined. One of zeros is empty and ready; plm_pieces_free() ends it. Nothing fails. One
 * thread at a time.
 */
#ifndef PLM_ESTIMATE_PIECES_H
#define PLM_ESTIMATE_PIECES_H

#include "base/treap.h"

struct plm_piece {
    struct plm_treap_node node; /* among the free ones */
    uint64_t address, size;
    struct plm_piece *before, *after;             /* neighbours in its run; `after` links spare ones too */
    struct plm_piece *whole_before, *whole_after; /* among the free ones that are a whole run */
    bool taken;
};

struct plm_pieces {
    struct plm_treap free;
    struct plm_piece *spare, *whole;
    struct plm_piece **made; /* all there are, for the end */
    size_t count, room;
};

void plm_pieces_free(struct plm_pieces *p);
/* A new run of one taken piece. */
struct plm_piece *plm_pieces_add(struct plm_pieces *p, uint64_t address, uint64_t size);
/* Takes the best free piece of at least `size` bytes; NULL: there is none. */
struct plm_piece *plm_pieces_take(struct plm_pieces *p, uint64_t size);
/* Leaves `size` bytes to a taken piece and makes the rest of it a free one. */
void plm_pieces_cut(struct plm_pieces *p, struct plm_piece *piece, uint64_t size);
/* A taken piece becomes free and joins its free neighbours. */
void plm_pieces_give(struct plm_pieces *p, struct plm_piece *piece);
/* Removes one run that is free as a whole: false if there is none. */
bool plm_pieces_drop(struct plm_pieces *p, uint64_t *address, uint64_t *size);

#endif
