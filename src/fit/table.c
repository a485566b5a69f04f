#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "base/card.h"
#include "base/error.h"
#include "base/memory.h"
#include "fit/tune.h"

/* The settings that may change a verdict, each replayed once for all cards. */
struct others {
    struct plm_candidate candidate[PLM_CANDIDATES];
    struct plm_need need[PLM_CANDIDATES];
    size_t count;
};

static int by_memory(const void *a, const void *b)
{
    const struct plm_fit_row *x = a, *y = b;
    return x->usable != y->usable ? (x->usable < y->usable ? -1 : 1) : strcmp(x->card->id, y->card->id);
}

static int make_others(const struct plm_fit *fit, struct others *others, struct plm_error *error)
{
    others->count = plm_candidates_quick(fit->torch, others->candidate);
    for (size_t i = 0; i < others->count; i++) {
        int status = plm_fit_need(fit, &others->candidate[i].settings, &others->need[i], error);
        if (status)
            return status;
    }
    return 0;
}

/* The first setting that is best on this card. */
static int improve(const struct plm_fit *fit, const struct others *others, struct plm_fit_row *row,
                   struct plm_error *error)
{
    struct plm_fit_answer answer;
    enum plm_verdict best = row->answer.verdict;
    for (size_t i = 0; i < others->count && best != PLM_FITS; i++) {
        int status =
            plm_fit_card(fit, &others->candidate[i].settings, &others->need[i], row->card, row->usable, &answer, error);
        if (status)
            return status;
        if (answer.verdict >= best)
            continue;
        best = answer.verdict;
        snprintf(row->better, sizeof row->better, "%s",
                 *others->candidate[i].text ? others->candidate[i].text : "default");
        row->then = answer;
        row->better_need = plm_fit_need_on(fit, &others->need[i], row->card).need;
    }
    return 0;
}

/* Cards with the same memory and context have the same answer, unless a share of it is a limit. */
static bool repeats(const struct plm_fit *fit, const struct plm_fit_row *row, const struct plm_fit_row *before)
{
    return fit->settings.fraction < 0 && row->usable == before->usable && row->need == before->need;
}

static int table_fill(struct plm_fit_table *t, struct others *others, struct plm_error *error)
{
    const struct plm_fit *fit = t->fit;
    bool made = false;
    int status = plm_fit_need(fit, &fit->settings, &t->need, error);
    if (status == 0)
        status = plm_fit_minimum(fit, &fit->settings, &t->minimum, error);
    for (size_t i = 0; i < t->rows && status == 0; i++) {
        struct plm_fit_row *row = &t->row[i];
        row->need = plm_fit_need_on(fit, &t->need, row->card).need;
        row->minimum = row->need - (t->need.need - t->minimum);
        if (i && repeats(fit, row, row - 1)) {
            const struct plm_card *card = row->card;
            const bool assumed = row->assumed;
            *row = row[-1];
            row->card = card;
            row->assumed = assumed;
            continue;
        }
        status = plm_fit_card(fit, &fit->settings, &t->need, row->card, row->usable, &row->answer, error);
        /* No setting makes room for more tensors than there is memory. */
        if (status || row->answer.verdict == PLM_FITS || row->usable < fit->least)
            continue;
        if (!made)
            status = make_others(fit, others, error);
        made = true;
        if (status == 0)
            status = improve(fit, others, row, error);
    }
    return status;
}

int plm_fit_table(const struct plm_fit *fit, const struct plm_card *cards, size_t count,
                  const struct plm_margin *margin, struct plm_fit_table *table, struct plm_error *error)
{
    struct others *others = plm_calloc(1, sizeof *others);
    struct plm_fit_row *row = plm_calloc(count, sizeof *row);
    int status;
    *table = (struct plm_fit_table){.fit = fit, .row = row, .rows = count};
    for (size_t i = 0; i < count; i++) {
        row[i].card = &cards[i];
        row[i].usable = plm_margin_usable(margin, plm_stack_usable(&fit->job->summary, &cards[i], &row[i].assumed));
    }
    qsort(row, count, sizeof *row, by_memory);
    status = table_fill(table, others, error);
    free(others);
    if (status)
        plm_fit_table_free(table);
    return status;
}

void plm_fit_table_free(struct plm_fit_table *table)
{
    free(table->row);
    table->row = NULL;
}

/* ---- in a report ---- */

/* Some twenty replays of so many events take less than a second. */
enum { QUICK = 300000 };

static bool job_is_quick(const struct plm_job *job)
{
    size_t moments = 0;
    for (size_t i = 0; i < job->lanes; i++)
        moments += job->lane[i].moments;
    return moments <= QUICK;
}

/* By the device that needs most; no allocator is asked. */
static struct plm_fit_table table_by_ladder(const struct plm_job *job, const struct plm_card *cards, size_t count)
{
    struct plm_fit_table t = {.row = plm_calloc(count, sizeof *t.row), .rows = job->lanes ? count : 0};
    const struct plm_lane *most = NULL;
    struct plm_ladder l;
    for (size_t i = 0; i < job->lanes; i++) {
        l = plm_ladder(job, &job->lane[i]);
        if (most && l.device_used <= t.need.need)
            continue;
        most = &job->lane[i];
        t.need.need = l.device_used;
    }
    for (size_t i = 0; i < t.rows; i++) {
        struct plm_fit_row *row = &t.row[i];
        row->card = &cards[i];
        row->usable = plm_stack_usable(&job->summary, &cards[i], &row->assumed);
        l = plm_ladder_on(job, most, &cards[i]);
        row->need = l.device_used;
        row->answer.verdict = plm_ladder_fit(&l, row->usable);
    }
    qsort(t.row, t.rows, sizeof *t.row, by_memory);
    return t;
}

struct plm_fit_table plm_fit_report(const struct plm_job *job, const struct plm_card *cards, size_t count)
{
    const struct plm_margin none = {0};
    struct plm_fit_table table;
    struct plm_fit fit;
    int status = job_is_quick(job) ? plm_fit_open(job, &fit, NULL) : PLM_EINVAL;
    if (status == 0) {
        status = fit.repeats ? plm_fit_table(&fit, cards, count, &none, &table, NULL) : PLM_EINVAL;
        plm_fit_close(&fit);
    }
    if (status)
        return table_by_ladder(job, cards, count);
    table.fit = NULL;
    return table;
}
