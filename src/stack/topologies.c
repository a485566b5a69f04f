/* The topologies at hand, and the choice among them: what runs in the user's process reads only one. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/card.h"
#include "common/error.h"
#include "base/install.h"
#include "base/memory.h"
#include "stack/topology.h"

#define OTHERS "pcie" /* cards that are sold on no board of these */

static int topology_add(const char *path, bool own, void *context, struct plm_error *error)
{
    struct plm_topology_list *list = context;
    struct plm_topology topology;
    int status = plm_topology_read(path, &topology, error);
    (void)own;
    if (status < 0)
        return status;
    list->entry = plm_grow(list->entry, (size_t)list->count, &list->room, sizeof *list->entry);
    list->entry[list->count].topology = topology;
    snprintf(list->entry[list->count++].path, sizeof list->entry[0].path, "%s", path);
    return 0;
}

int plm_topology_list_load(struct plm_topology_list *list, const struct plm_install *install, struct plm_error *error)
{
    *list = (struct plm_topology_list){0};
    return plm_install_each(install->topologies, "topologies", topology_add, list, error);
}

void plm_topology_list_free(struct plm_topology_list *list)
{
    free(list->entry);
    *list = (struct plm_topology_list){0};
}

/* Whether the comma-separated `cards` have this id. */
static bool sold_on(const char *cards, const char *id)
{
    for (const size_t length = strlen(id); *cards;) {
        const size_t word = strcspn(cards, ", ");
        if (word == length && !strncmp(cards, id, length))
            return true;
        cards += word;
        cards += strspn(cards, ", ");
    }
    return false;
}

/* The last match wins, so that a user's own file can replace one of ours. */
static const struct plm_topology_entry *topology_named(const struct plm_topology_list *list, const char *name)
{
    for (int i = list->count - 1; i >= 0; i--)
        if (!strcmp(list->entry[i].topology.id, name))
            return &list->entry[i];
    return NULL;
}

static const struct plm_topology_entry *topology_of_card(const struct plm_topology_list *list,
                                                         const struct plm_card *card)
{
    for (int i = list->count - 1; i >= 0; i--)
        if (sold_on(list->entry[i].topology.cards, card->id))
            return &list->entry[i];
    return topology_named(list, OTHERS);
}

static int topology_unknown(const struct plm_topology_list *list, const char *name, struct plm_error *error)
{
    char known[512] = "";
    for (int i = 0; i < list->count; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", list->entry[i].topology.id);
    }
    return plm_fail(error, PLM_EINVAL, "unknown topology '%.100s'; use one of %s", name, known);
}

int plm_topology_choose(struct plm_topology_list *list, const char *name, const struct plm_card *card,
                        const struct plm_topology_entry **out, struct plm_error *error)
{
    const bool chosen = name && *name && strcmp(name, "auto") != 0;
    if (chosen && strchr(name, '/')) {
        char path[PATH_MAX]; /* the command may work in another folder */
        int status = topology_add(realpath(name, path) ? path : name, true, list, error);
        *out = status < 0 ? NULL : &list->entry[list->count - 1];
        return status;
    }
    *out = chosen ? topology_named(list, name) : topology_of_card(list, card);
    return *out ? 0 : topology_unknown(list, chosen ? name : OTHERS, error);
}
