#include "base/catalogue.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/install.h"

enum { CARDS_PER_FILE = 16 };

static int add_file(struct plm_catalogue *c, const struct plm_install *install, const char *path,
                    struct plm_error *error)
{
    static struct plm_card cards[CARDS_PER_FILE];
    int n = plm_card_file(path, install->capabilities, cards, CARDS_PER_FILE, error);
    for (int i = 0; i < n; i++) {
        if (c->count == c->room) {
            int room = c->room ? 2 * c->room : 128;
            struct plm_catalogue_entry *more = realloc(c->entry, (size_t)room * sizeof *more);
            if (!more)
                return plm_fail(error, PLM_ENOMEM, "out of memory");
            c->entry = more;
            c->room = room;
        }
        c->entry[c->count].card = cards[i];
        snprintf(c->entry[c->count++].path, sizeof c->entry[0].path, "%s", path);
    }
    return n < 0 ? n : 0;
}

static int is_gpu_file(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && !strcmp(entry->d_name + n - 4, ".ini");
}

static int add_folder(struct plm_catalogue *c, const struct plm_install *install, const char *folder,
                      struct plm_error *error)
{
    struct dirent **names = NULL;
    int n = scandir(folder, &names, is_gpu_file, alphasort), status = 0;
    if (n < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : plm_fail(error, PLM_EIO, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (status == 0)
            status = add_file(c, install, path, error);
        free(names[i]);
    }
    free(names);
    return status;
}

int plm_catalogue_load(struct plm_catalogue *c, const struct plm_install *install, struct plm_error *error)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char folder[4096];
    int status;

    memset(c, 0, sizeof *c);
    status = add_folder(c, install, install->gpus, error);
    if (config && *config)
        snprintf(folder, sizeof folder, "%s/plimsoll/gpus", config);
    else
        snprintf(folder, sizeof folder, "%s/.config/plimsoll/gpus", home ? home : "");
    if (status == 0)
        status = add_folder(c, install, folder, error);
    if (status < 0)
        plm_catalogue_free(c);
    return status;
}

void plm_catalogue_free(struct plm_catalogue *c)
{
    free(c->entry);
    memset(c, 0, sizeof *c);
}

/* Letters in common, in order, from the start and then anywhere: enough to guess what was meant. */
static int likeness(const char *id, const char *name)
{
    int score = 0;
    const char *p = id;
    for (; *name; name++) {
        const char *found = p;
        while (*found && strncasecmp(found, name, 1))
            found++;
        if (*found) {
            score += found == p ? 3 : 1;
            p = found + 1;
        }
    }
    return score;
}

static int unknown(const struct plm_catalogue *c, const char *name, struct plm_error *error)
{
    const char *best[3] = {"", "", ""};
    int score[3] = {0, 0, 0};
    for (int i = 0; i < c->count; i++) {
        int s = likeness(c->entry[i].card.id, name) - (c->entry[i].card.mig && !strchr(name, ':') ? 4 : 0);
        for (int k = 0; k < 3; k++)
            if (s > score[k]) {
                memmove(&best[k + 1], &best[k], (size_t)(2 - k) * sizeof best[0]);
                memmove(&score[k + 1], &score[k], (size_t)(2 - k) * sizeof score[0]);
                best[k] = c->entry[i].card.id;
                score[k] = s;
                break;
            }
    }
    if (!score[2])
        return plm_fail(error, PLM_ENOTFOUND, "unknown GPU '%s'; `plimsoll gpus` lists the known ones", name);
    return plm_fail(error, PLM_ENOTFOUND, "unknown GPU '%s'; did you mean %s, %s or %s? `plimsoll gpus` lists all",
                    name, best[0], best[1], best[2]);
}

int plm_catalogue_find(struct plm_catalogue *c, const struct plm_install *install, const char *name,
                       const struct plm_catalogue_entry **out, struct plm_error *error)
{
    if (strchr(name, '/')) {
        int at = c->count, status = add_file(c, install, name, error);
        if (status < 0)
            return status;
        *out = &c->entry[at];
        return 0;
    }
    /* The last match wins, so that a user's own file can replace one of ours. */
    for (int i = c->count - 1; i >= 0; i--)
        if (plm_card_matches(&c->entry[i].card, name)) {
            *out = &c->entry[i];
            return 0;
        }
    return unknown(c, name, error);
}
