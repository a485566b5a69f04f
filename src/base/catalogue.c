#include "base/catalogue.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "base/memory.h"
#include "base/words.h"

enum { CARDS_PER_FILE = 16, CHOICES = 8, GUESSES = 3 };

static int file_add(const char *path, bool own, void *context, struct plm_error *error)
{
    static struct plm_card cards[CARDS_PER_FILE];
    struct plm_catalogue *c = context;
    int n = plm_card_file(path, c->install.capabilities, cards, CARDS_PER_FILE, error);
    (void)own;
    for (int i = 0; i < n; i++) {
        c->entry = plm_grow(c->entry, (size_t)c->count, &c->room, sizeof *c->entry);
        c->entry[c->count].card = cards[i];
        snprintf(c->entry[c->count++].path, sizeof c->entry[0].path, "%s", path);
    }
    return n < 0 ? n : 0;
}

int plm_catalogue_load(struct plm_catalogue *c, const struct plm_install *install, struct plm_error *error)
{
    int status;
    *c = (struct plm_catalogue){.install = *install};
    status = plm_install_each(install->gpus, "gpus", file_add, c, error);
    if (status < 0)
        plm_catalogue_free(c);
    return status;
}

int plm_catalogue_open(struct plm_catalogue *c, struct plm_error *error)
{
    struct plm_install install;
    int status = plm_install_find(&install, error);
    return status < 0 ? status : plm_catalogue_load(c, &install, error);
}

void plm_catalogue_free(struct plm_catalogue *c)
{
    free(c->entry);
    *c = (struct plm_catalogue){0};
}

/* A slip, two in a long name; else letters in common, in order, from the start and then anywhere: enough to guess. */
static int name_likeness(const char *id, const char *name)
{
    const bool series = !strncmp(id, "rtx", 3) || !strncmp(id, "gtx", 3); /* which may be left out */
    const size_t whole = plm_words_distance(name, id), rest = series ? plm_words_distance(name, id + 3) : whole;
    const size_t slips = rest < whole ? rest : whole;
    int score = slips <= (strlen(name) < 5 ? 1 : 2) && slips < strlen(name) ? 1000 - 100 * (int)slips : 0;
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

/* How like a name must be to be asked for: more letters in common than any two words have. */
static int likeness_least(const char *name)
{
    const int letters = (int)strnlen(name, 64);
    return letters < 8 ? letters * 4 / 3 : 10;
}

/* The likest first, at most GUESSES. Returns their number. */
static int guesses_find(const struct plm_catalogue *c, const char *name, const char *best[GUESSES])
{
    int score[GUESSES] = {0}, count = 0;
    for (int i = 0; i < c->count; i++) {
        int s = name_likeness(c->entry[i].card.id, name) - (c->entry[i].card.mig && !strchr(name, ':') ? 4 : 0);
        for (int k = 0; k < GUESSES; k++)
            if (s > score[k]) {
                memmove(&best[k + 1], &best[k], (size_t)(GUESSES - 1 - k) * sizeof best[0]);
                memmove(&score[k + 1], &score[k], (size_t)(GUESSES - 1 - k) * sizeof score[0]);
                best[k] = c->entry[i].card.id;
                score[k] = s;
                break;
            }
    }
    while (count < GUESSES && score[count] > likeness_least(name))
        count++;
    return count;
}

/* "a, b or c" */
static const char *list_text(const char *const *id, int count, char *out, size_t size)
{
    size_t n = 0;
    for (int i = 0; i < count && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", !i ? "" : i + 1 < count ? ", " : " or ", id[i]);
    return out;
}

static int name_unknown(const struct plm_catalogue *c, const char *name, struct plm_error *error)
{
    const char *best[GUESSES] = {NULL};
    char list[400];
    const int count = guesses_find(c, name, best);
    if (plm_card_maker(name))
        return plm_fail(error, PLM_EINVAL,
                        "'%.60s' is %s; plimsoll simulates NVIDIA GPUs only (`plimsoll gpus` lists them)", name,
                        plm_card_maker(name));
    if (strchr(name, ','))
        return plm_fail(error, PLM_EINVAL, "'%.60s' is more than one GPU; give one", name);
    if (!count)
        return plm_fail(error, PLM_EINVAL, "unknown GPU '%s'; `plimsoll gpus` lists the known ones", name);
    return plm_fail(error, PLM_EINVAL, "unknown GPU '%s'; did you mean %s? `plimsoll gpus` lists all", name,
                    list_text(best, count, list, sizeof list));
}

/* The cards that a name may mean, each once: the last of an id. Returns their number, at most CHOICES. */
static int choices_find(const struct plm_catalogue *c, const char *name, const struct plm_catalogue_entry **choice)
{
    int count = 0;
    for (int i = 0; i < c->count && count < CHOICES; i++) {
        int same = 0;
        const enum plm_card_match match = plm_card_match(&c->entry[i].card, name);
        if (match != PLM_CARD_PERHAPS && match != PLM_CARD_SHORT)
            continue;
        while (same < count && strcmp(choice[same]->card.id, c->entry[i].card.id) != 0)
            same++;
        choice[same] = &c->entry[i];
        count += same == count;
    }
    return count;
}

static int name_ambiguous(const char *name, const struct plm_catalogue_entry **choice, int count,
                          struct plm_error *error)
{
    const char *id[CHOICES];
    char list[400];
    for (int i = 0; i < count; i++)
        id[i] = choice[i]->card.id;
    return plm_fail(error, PLM_EINVAL, "'%.60s' is not one GPU: write %s", name,
                    list_text(id, count, list, sizeof list));
}

int plm_catalogue_find(struct plm_catalogue *c, const char *name, const struct plm_catalogue_entry **out,
                       struct plm_error *error)
{
    const struct plm_catalogue_entry *choice[CHOICES];
    int count;
    if (strchr(name, '/')) {
        int at = c->count, status = file_add(name, true, c, error);
        if (status < 0)
            return status;
        *out = &c->entry[at];
        return 0;
    }
    /* The last match wins, so that a user's own file can replace one of ours. */
    for (int i = c->count - 1; i >= 0; i--)
        if (plm_card_match(&c->entry[i].card, name) == PLM_CARD_SAME) {
            *out = &c->entry[i];
            return 0;
        }
    count = choices_find(c, name, choice);
    if (count > 1)
        return name_ambiguous(name, choice, count, error);
    if (!count)
        return name_unknown(c, name, error);
    if (plm_card_match(&choice[0]->card, name) == PLM_CARD_SHORT)
        return plm_fail(error, PLM_EINVAL, "unknown GPU '%.60s'; did you mean %s? `plimsoll gpus` lists all", name,
                        choice[0]->card.id);
    *out = choice[0];
    return 0;
}
