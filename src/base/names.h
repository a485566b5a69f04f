/*
 * Strings, each kept once and known by a number; 0 is "". A table of zeros is empty, its first
 * plm_names_add makes number 0. Owned by whoever made it; one thread at a time while it grows.
 */
#ifndef PLM_NAMES_H
#define PLM_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct plm_names {
    const char **text; /* heap copies */
    size_t count, room;
    struct plm_map by_hash;
};

/* The number of a string. */
uint32_t plm_names_add(struct plm_names *names, const char *text);
void plm_names_free(struct plm_names *names);

#endif
