#include "base/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/error.h"

static uint64_t hash(const char *text)
{
    uint64_t h = 14695981039346656037u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

static int append(struct plm_names *n, const char *text, uint64_t key)
{
    const char **more = plm_grow(n->text, n->count, &n->room, sizeof *more);
    char *copy;
    if (!more || n->count >= UINT32_MAX)
        return PLM_ENOMEM;
    n->text = more;
    copy = strdup(text);
    if (!copy || plm_map_put(&n->by_hash, key, n->count)) {
        free(copy);
        return PLM_ENOMEM;
    }
    n->text[n->count++] = copy;
    return 0;
}

int plm_names_add(struct plm_names *n, const char *text, uint32_t *number)
{
    uint64_t key = hash(text), at;
    if (!n->count && append(n, "", hash("")))
        return PLM_ENOMEM;
    /* Another string of the same hash has taken the key: the next one is tried. */
    while ((at = plm_map_get(&n->by_hash, key)) != PLM_MAP_NONE && strcmp(n->text[at], text))
        key++;
    if (at == PLM_MAP_NONE) {
        if (append(n, text, key))
            return PLM_ENOMEM;
        at = n->count - 1;
    }
    *number = (uint32_t)at;
    return 0;
}

void plm_names_free(struct plm_names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free((char *)n->text[i]);
    free(n->text);
    plm_map_free(&n->by_hash);
    *n = (struct plm_names){0};
}
