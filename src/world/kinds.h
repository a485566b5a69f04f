/*
 * Which ranks of a world need the same memory? One of each kind is run, so 1,024 ranks take a handful of runs.
 *
 * Along each axis of the mesh the first and the last place are run, all else at its first place. If they need the same, the
 * axis makes no difference: tensor and data parallel ranks. If not, more of its places are run, and where several axes make
 * a difference, their combinations. A place that was not run counts with its neighbours if these are alike, else with the
 * one that needs more.
 *
 *   plm_kind_search_new(mesh)              after rank 0 was run, whose groups gave the mesh
 *   while (plm_kind_search_next(k, &rank)) run it, plm_kind_search_tell(k, &outcome);
 *   plm_kind_search_list(k)                what it came to, the largest first
 *
 * Belongs to the caller. One thread; nothing fails.
 */
#ifndef PLM_WORLD_KINDS_H
#define PLM_WORLD_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "world/mesh.h"

/* What a rank that was run needed. Ranks are alike if these differ by no more than a thousandth: shards of a tensor that does not
   come out even differ by a row. */
struct plm_world_need {
    uint32_t rank;
    uint64_t allocated, reserved, used;
};

/* Ranges in a text of ranks; what is left out is counted. */
enum { PLM_RANGES_SHOWN = 24 };

struct plm_world_kind {
    struct plm_world_need outcome; /* of the rank that was run */
    uint32_t count; /* ranks of the kind, with it */
    char *ranks, *why; /* "0-7"; a clause for people */
};

struct plm_world_kinds {
    struct plm_world_kind *item; /* the largest first */
    size_t count;
};

struct plm_kind_search;
struct plm_kind_search *plm_kind_search_new(const struct plm_mesh *mesh);
void plm_kind_search_free(struct plm_kind_search *kinds);

/* A rank that must be run before the kinds are known; false: there is none. */
bool plm_kind_search_next(const struct plm_kind_search *kinds, uint32_t *rank);
void plm_kind_search_tell(struct plm_kind_search *kinds, const struct plm_world_need *outcome);

/* When none is left to run. Freed by plm_world_kinds_free(). */
struct plm_world_kinds plm_kind_search_list(const struct plm_kind_search *kinds);
void plm_world_kinds_free(struct plm_world_kinds *list);

#endif
