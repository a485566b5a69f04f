/*
 * A map from 64-bit numbers to 64-bit numbers, made for addresses that come and go by the million: one
 * array, no allocation per entry. A map of zeros is empty and ready; plm_map_free gives its memory back.
 * Nothing fails. One thread at a time.
 */
#ifndef PLM_MAP_H
#define PLM_MAP_H

#include <stddef.h>
#include <stdint.h>

#define PLM_MAP_NONE UINT64_MAX /* no such key; cannot be a value */

struct plm_map_slot {
    uint64_t key, value;
};

struct plm_map {
    struct plm_map_slot *slot; /* value PLM_MAP_NONE: not taken */
    size_t slots, count;       /* slots: a power of 2, or 0 */
};

/* Replaces what the key had. */
void plm_map_put(struct plm_map *map, uint64_t key, uint64_t value);
uint64_t plm_map_get(const struct plm_map *map, uint64_t key);
/* Returns the value that the key had. */
uint64_t plm_map_remove(struct plm_map *map, uint64_t key);
void plm_map_free(struct plm_map *map);

#endif
