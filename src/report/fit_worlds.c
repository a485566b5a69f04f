#include "report/fit_worlds.h"

#include <string.h>

#include "common/card.h"
#include "base/draw.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "fit/fit.h"
#include "report/ranks.h"
#include "report/report.h"

enum { CARD = 22, COLUMN = 11 };

static const enum plm_ink inks[] = {
    [PLM_FITS] = PLM_INK_GREEN, [PLM_TIGHT] = PLM_INK_YELLOW, [PLM_NO_FIT] = PLM_INK_RED, [PLM_UNKNOWN] = PLM_INK_DIM};

/* A card in the table of another world. */
static const struct plm_fit_row *row_of(const struct plm_report_fit_world *world, const struct plm_card *card)
{
    for (size_t i = 0; i < world->fits->rows; i++)
        if (!strcmp(world->fits->row[i].card->id, card->id))
            return &world->fits->row[i];
    return NULL;
}

/* ---- for people ---- */

/* "8 ranks: 1 node x 8 GPUs" */
static const char *world_name(const struct plm_report_kinds *t, char out[64])
{
    if (!*plm_report_world_text(out, &t->world))
        snprintf(out, 64, "%llu rank%s", (unsigned long long)t->ranks.count, t->ranks.count == 1 ? "" : "s");
    return out;
}

/* "8 ranks: 1 node x 8 GPUs, 12.3 GiB each at the most (rank 7): a100-40gb" */
static void show_answer(const struct plm_page *p, const struct plm_report_fit_world *world,
                        const struct plm_report_kinds *t)
{
    const struct plm_fit_row *card = plm_fit_smallest(world->fits, false);
    char name[64], need[32], text[400];
    int n = snprintf(text, sizeof text, "%s. ", world_name(t, name));
    if (!world->fits->need.need)
        snprintf(text + n, sizeof text - (size_t)n, "Its peak is unknown: %s.", world->fits->known.why);
    else {
        n += snprintf(text + n, sizeof text - (size_t)n, "The largest%s, rank %u, needs %s: ",
                      plm_report_kinds_cards(t) > t->ranks.count ? " of those run" : "", t->ranks.kind[0].rank,
                      plm_page_amount(p, need, sizeof need, world->fits->need.need));
        if (card)
            snprintf(text + n, sizeof text - (size_t)n, "%llu x %s.", (unsigned long long)plm_report_kinds_cards(t),
                     card->card->id);
        else
            snprintf(text + n, sizeof text - (size_t)n, "none of these cards.");
    }
    plm_page_sentences(p, "  ", text);
}

/* A card whose verdicts are those of the smaller one says nothing new. */
static bool says_more(const struct plm_report_fit_world *world, size_t worlds, size_t at)
{
    const struct plm_card *card = world->fits->row[at].card, *before = at ? world->fits->row[at - 1].card : NULL;
    for (size_t i = 0; i < worlds; i++) {
        const struct plm_fit_row *row = row_of(&world[i], card), *last = before ? row_of(&world[i], before) : NULL;
        if (row == plm_fit_smallest(world[i].fits, false))
            return true;
        if (row && last && row->answer.verdict != last->answer.verdict)
            return true;
    }
    return false;
}

static void show_card(const struct plm_page *p, const struct plm_report_fit_world *world, size_t worlds, size_t at)
{
    const struct plm_fit_row *first = &world->fits->row[at];
    char usable[32], lacks[32];
    fputs("  ", p->out);
    plm_page_name(p, first->card->id, CARD, 1);
    fprintf(p->out, " %*s", plm_page_amount_columns(p), plm_page_amount(p, usable, sizeof usable, first->usable));
    for (size_t i = 0; i < worlds; i++) {
        const struct plm_fit_row *row = row_of(&world[i], first->card);
        const enum plm_verdict verdict = row ? row->answer.verdict : PLM_UNKNOWN;
        fprintf(p->out, " %s%*s%s", plm_ink(p, inks[verdict]), COLUMN, plm_verdict_name(verdict),
                plm_ink(p, PLM_INK_PLAIN));
    }
    if (first->lacks)
        fprintf(p->out, "  has no %s", plm_fit_lacks_text(first->lacks, lacks));
    else if (first->card->shared_memory)
        fputs("  shares memory with the system", p->out);
    fputc('\n', p->out);
}

static void show_cards(const struct plm_page *p, const struct plm_report_fit_world *world,
                       const struct plm_report_kinds *table, size_t worlds, bool all)
{
    size_t left = 0;
    fprintf(p->out, "\n  %s%-*s %*s", plm_ink(p, PLM_INK_DIM), CARD, "card", plm_page_amount_columns(p), "usable");
    for (size_t i = 0; i < worlds; i++) {
        char ranks[24];
        snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)plm_report_kinds_cards(&table[i]));
        fprintf(p->out, " %*s", COLUMN, ranks);
    }
    fprintf(p->out, "  ranks%s\n", plm_ink(p, PLM_INK_PLAIN));
    for (size_t at = 0; at < world->fits->rows; at++)
        if (all || says_more(world, worlds, at))
            show_card(p, world, worlds, at);
        else
            left++;
    if (left)
        fprintf(p->out, "  %s%zu more, each like the one above  (--all shows them)%s\n", plm_ink(p, PLM_INK_DIM), left,
                plm_ink(p, PLM_INK_PLAIN));
}

static struct plm_report_kinds *tables_make(const struct plm_report_fit_world *world, size_t worlds)
{
    struct plm_report_kinds *table = plm_calloc(worlds, sizeof *table);
    for (size_t i = 0; i < worlds; i++)
        table[i] = plm_report_kinds_make(world[i].fits->job);
    return table;
}

static void tables_free(struct plm_report_kinds *table, size_t worlds)
{
    for (size_t i = 0; i < worlds; i++)
        plm_report_kinds_free(&table[i]);
    free(table);
}

int plm_report_worlds_text(FILE *out, const struct plm_report_fit_world *world, size_t worlds,
                           const struct plm_report_options *options, bool all, struct plm_error *error)
{
    const struct plm_page p = plm_report_page_for(out, options);
    struct plm_report_kinds *table = tables_make(world, worlds);
    fprintf(out, "%sSmallest card and how many%s\n", plm_ink(&p, PLM_INK_BOLD), plm_ink(&p, PLM_INK_PLAIN));
    for (size_t i = 0; i < worlds; i++)
        show_answer(&p, &world[i], &table[i]);
    show_cards(&p, world, table, worlds, all || world->fits->rows <= PLM_REPORT_CARDS);
    tables_free(table, worlds);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}

/* ---- for programs ---- */

static void write_row(struct plm_json *j, const struct plm_fit_row *row)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "gpu", row->card->id);
    plm_json_integer(j, "usable", row->usable);
    plm_report_remarks(j, row);
    if (row->need)
        plm_json_integer(j, "need", row->need);
    plm_json_string(j, "verdict", plm_verdict_name(row->answer.verdict));
    plm_json_end_object(j);
}

static void write_world(struct plm_json *j, const struct plm_report_fit_world *world, const struct plm_report_kinds *t)
{
    const struct plm_fit_row *smallest = plm_fit_smallest(world->fits, false);
    plm_json_object(j, NULL);
    plm_json_string(j, "record", world->record);
    plm_json_integer(j, "count", plm_report_kinds_cards(t));
    plm_report_kinds_write(j, t);
    plm_report_known(j, world->fits->job);
    if (world->fits->need.need)
        plm_json_integer(j, "need", world->fits->need.need);
    if (smallest)
        plm_json_string(j, "smallest", smallest->card->id);
    plm_json_array(j, "fits");
    for (size_t i = 0; i < world->fits->rows; i++)
        write_row(j, &world->fits->row[i]);
    plm_json_end_array(j);
    plm_json_end_object(j);
}

int plm_report_worlds_json(FILE *out, const struct plm_report_fit_world *world, size_t worlds,
                           const struct plm_report_options *options, bool all, struct plm_error *error)
{
    struct plm_report_kinds *table = tables_make(world, worlds);
    struct plm_json j;
    (void)options;
    (void)all;
    plm_json_document(&j, out, "plimsoll.fit-worlds/1");
    plm_json_array(&j, "worlds");
    for (size_t i = 0; i < worlds; i++)
        write_world(&j, &world[i], &table[i]);
    plm_json_end_array(&j);
    tables_free(table, worlds);
    return plm_json_finish(&j) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}
