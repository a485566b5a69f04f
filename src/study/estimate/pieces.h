/*
 * Address ranges that are cut and joined: what the published simulator's two levels have in common. Inside src/study/estimate.
 *
 * A piece is part of a run of neighbouring pieces: a segment, or the whole card. Free pieces are ordered by size, then address; best fit is
 * the first that is large enough. Pieces are numbers, valid until they are given back or joined. A struct of zeros is empty and ready;
 * plm_pieces_free() ends it. One thread at a time. 0 or PLM_ENOMEM.
 */
#ifndef PLM_ESTIMATE_PIECES_H
#define PLM_ESTIMATE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLM_PIECE_NONE UINT32_MAX

struct plm_piece {
    uint64_t address, size;
    uint32_t before, after;   /* neighbours in its run */
    uint32_t left, right, up; /* among the free ones; `right` links spare entries too */
    uint32_t priority;
    uint32_t whole_before, whole_after; /* among the free ones that are a whole run */
    bool taken;
};

struct plm_pieces {
    struct plm_piece *piece;
    size_t count, room;
    uint32_t spare, root, whole; /* one more than the number of the first; 0: none */
    uint64_t random;             /* priorities only need to be without order */
};

void plm_pieces_free(struct plm_pieces *p);
/* A new run of one taken piece. */
int plm_pieces_add(struct plm_pieces *p, uint64_t address, uint64_t size, uint32_t *piece);
/* Takes the best free piece of at least `size` bytes; PLM_PIECE_NONE: there is none. */
uint32_t plm_pieces_take(struct plm_pieces *p, uint64_t size);
/* Leaves `size` bytes to a taken piece and makes the rest of it a free one. */
int plm_pieces_cut(struct plm_pieces *p, uint32_t piece, uint64_t size);
/* A taken piece becomes free and joins its free neighbours. */
void plm_pieces_give(struct plm_pieces *p, uint32_t piece);
/* Removes one run that is free as a whole: false if there is none. */
bool plm_pieces_drop(struct plm_pieces *p, uint64_t *address, uint64_t *size);

#endif
