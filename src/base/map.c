#include "base/map.h"

#include <string.h>

#include "base/memory.h"

/* Addresses are multiples of 512: the multiplication brings their middle bits to the top. */
static size_t slot_home(const struct plm_map *m, uint64_t key)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (m->slots - 1);
}

/* The key's slot, or the free one where it would go. There is always a free one. */
static size_t slot_find(const struct plm_map *m, uint64_t key)
{
    size_t at = slot_home(m, key);
    while (m->slot[at].value != PLM_MAP_NONE && m->slot[at].key != key)
        at = (at + 1) & (m->slots - 1);
    return at;
}

static void map_enlarge(struct plm_map *m)
{
    struct plm_map old = *m;
    size_t slots = old.slots ? 2 * old.slots : 64;
    m->slot = plm_realloc(NULL, slots, sizeof *m->slot);
    m->slots = slots;
    memset(m->slot, 0xff, slots * sizeof *m->slot);
    for (size_t i = 0; i < old.slots; i++)
        if (old.slot[i].value != PLM_MAP_NONE)
            m->slot[slot_find(m, old.slot[i].key)] = old.slot[i];
    free(old.slot);
}

void plm_map_put(struct plm_map *m, uint64_t key, uint64_t value)
{
    size_t at;
    if (2 * (m->count + 1) > m->slots)
        map_enlarge(m);
    at = slot_find(m, key);
    m->count += m->slot[at].value == PLM_MAP_NONE;
    m->slot[at] = (struct plm_map_slot){key, value};
}

uint64_t plm_map_get(const struct plm_map *m, uint64_t key)
{
    return m->slots ? m->slot[slot_find(m, key)].value : PLM_MAP_NONE;
}

/* Entries behind the gap move up as long as that brings them nearer to their home. */
uint64_t plm_map_remove(struct plm_map *m, uint64_t key)
{
    size_t gap, mask = m->slots - 1;
    uint64_t value;
    if (!m->slots)
        return PLM_MAP_NONE;
    gap = slot_find(m, key);
    value = m->slot[gap].value;
    if (value == PLM_MAP_NONE)
        return PLM_MAP_NONE;
    for (size_t at = (gap + 1) & mask; m->slot[at].value != PLM_MAP_NONE; at = (at + 1) & mask)
        if (((at - slot_home(m, m->slot[at].key)) & mask) >= ((at - gap) & mask)) {
            m->slot[gap] = m->slot[at];
            gap = at;
        }
    m->slot[gap].value = PLM_MAP_NONE;
    m->count--;
    return value;
}

void plm_map_free(struct plm_map *m)
{
    free(m->slot);
    *m = (struct plm_map){0};
}
