#include "base/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static uint64_t text_hash(const char *text)
{
    uint64_t h = 14695981039346656037u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

static void name_append(struct plm_names *n, const char *text, uint64_t key)
{
    if (n->count >= UINT32_MAX)
        plm_out_of_memory();
    n->text = plm_grow(n->text, n->count, &n->room, sizeof *n->text);
    plm_map_put(&n->by_hash, key, n->count);
    n->text[n->count++] = plm_strdup(text);
}

uint32_t plm_names_add(struct plm_names *n, const char *text)
{
    uint64_t key = text_hash(text), at;
    if (!n->count)
        name_append(n, "", text_hash(""));
    /* Another string of the same hash has taken the key: the next one is tried. */
    while ((at = plm_map_get(&n->by_hash, key)) != PLM_MAP_NONE && strcmp(n->text[at], text))
        key++;
    if (at == PLM_MAP_NONE) {
        at = n->count;
        name_append(n, text, key);
    }
    return (uint32_t)at;
}

void plm_names_free(struct plm_names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free((char *)n->text[i]);
    free(n->text);
    plm_map_free(&n->by_hash);
    *n = (struct plm_names){0};
}
