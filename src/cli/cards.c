/* The cards that a report compares the job with. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/cli.h"
#include "fit/fit.h"
#include "report/report.h"

/* What people have, from small to large. */
static const char *const common[] = {"rtx3060", "t4", "rtx4090", "a100-40gb", "h100-80gb"};

static bool card_is_among(const struct plm_card *cards, int count, const struct plm_card *card)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(cards[i].id, card->id))
            return true;
    return false;
}

static int by_memory(const void *a, const void *b)
{
    const struct plm_card *x = a, *y = b;
    return x->memory_usable != y->memory_usable ? (x->memory_usable < y->memory_usable ? -1 : 1) : strcmp(x->id, y->id);
}

static int card_add(struct plm_catalogue *catalogue, const char *name, struct plm_card *cards, int *count,
                    struct plm_error *error)
{
    const struct plm_catalogue_entry *entry;
    int status = plm_catalogue_find(catalogue, name, &entry, error);
    if (status < 0)
        return status;
    if (*count >= PLM_REPORT_CARDS)
        return plm_fail(error, PLM_EINVAL, "--gpu takes at most %d names", PLM_REPORT_CARDS);
    if (!card_is_among(cards, *count, &entry->card))
        cards[(*count)++] = entry->card;
    return 0;
}

int plm_cards_choose(struct plm_catalogue *catalogue, const char *list, const char *own, struct plm_card *cards,
                     struct plm_error *error)
{
    int count = 0, status = 0;
    if (list) {
        char *names = plm_strdup(list), *rest = names;
        for (char *name; status == 0 && (name = strsep(&rest, ","));)
            status = card_add(catalogue, name, cards, &count, error);
        free(names);
        return status ? status : count;
    }
    /* The job's card may be a file that is gone; then the others are shown. */
    if (own)
        card_add(catalogue, own, cards, &count, NULL);
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        card_add(catalogue, common[i], cards, &count, NULL);
    qsort(cards, (size_t)count, sizeof *cards, by_memory);
    return count;
}

int plm_cards_first(struct plm_catalogue *catalogue, const char *list, const struct plm_catalogue_entry **entry,
                    struct plm_error *error)
{
    struct plm_card cards[PLM_REPORT_CARDS];
    int status = plm_cards_choose(catalogue, list, NULL, cards, error);
    char *names = plm_strdup(list);
    names[strcspn(names, ",")] = '\0';
    if (status >= 0)
        status = plm_catalogue_find(catalogue, names, entry, error);
    free(names);
    return status < 0 ? status : 0;
}

uint32_t plm_cards_asked(const struct plm_report_options *options, const char *only)
{
    uint32_t asked = 0;
    for (int i = 0; i < options->cards; i++)
        if (!only || !strcmp(options->card[i].id, only))
            asked |= 1u << i;
    return asked;
}

uint32_t plm_cards_recorded(const struct plm_report_options *options, const struct plm_job *job)
{
    const char *gpu = plm_summary_config(&job->summary, "gpu"),
               *chosen = plm_summary_config(&job->summary, "gpu-chosen");
    return gpu && !(chosen && !strcmp(chosen, "default")) ? plm_cards_asked(options, gpu) : 0;
}

int plm_cli_margin_parse(const char *text, struct plm_margin *margin, struct plm_error *error)
{
    *margin = (struct plm_margin){0};
    if (text && plm_size_lacks_unit(text))
        return plm_fail(error, PLM_EINVAL, "--margin: %.20s of what? Write %.20sGiB or %.20s%%", text, text, text);
    if (text && plm_margin_parse(text, margin))
        return plm_fail(error, PLM_EINVAL, "--margin %.60s: use a size or a percentage, 1GiB or 5%%", text);
    return 0;
}

/* ---- prices ---- */

static int price_parse(const char *text, double *price, struct plm_error *error)
{
    char *end;
    errno = 0;
    *price = strtod(text, &end);
    if (end == text || *end || errno || !(*price > 0 && *price <= 1e6))
        return plm_fail(error, PLM_EINVAL, "--price %.60s: use a number above 0, such as 1.5", text);
    return 0;
}

static int price_set(struct plm_catalogue *catalogue, char *word, const struct plm_card *card, size_t cards,
                     double *price, struct plm_error *error)
{
    const struct plm_catalogue_entry *entry;
    char *equals = strchr(word, '=');
    double value;
    int status;
    if (!equals)
        return plm_fail(error, PLM_EINVAL, "--price %.60s: write the hourly price after the card, %.40s=2.5", word,
                        word);
    *equals = '\0';
    status = plm_catalogue_find(catalogue, word, &entry, error);
    if (status == 0)
        status = price_parse(equals + 1, &value, error);
    for (size_t i = 0; i < cards && status == 0; i++)
        if (!strcmp(card[i].id, entry->card.id))
            price[i] = value;
    return status;
}

int plm_cards_prices(struct plm_catalogue *catalogue, const char *list, const struct plm_card *card, size_t cards,
                     double *price, struct plm_error *error)
{
    char *words = plm_strdup(list ? list : ""), *rest = words;
    int status = 0;
    for (char *word; list && status == 0 && (word = strsep(&rest, ","));)
        status = price_set(catalogue, word, card, cards, price, error);
    free(words);
    return status;
}
