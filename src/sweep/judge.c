#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "common/card.h"
#include "common/error.h"
#include "base/memory.h"
#include "fit/fit.h"
#include "sweep/sweep.h"
#include "time/table.h"

static int cells_judge(const struct plm_sweep_question *q, const struct plm_fit *fit, struct plm_sweep_point *point,
                       uint64_t *usable, struct plm_error *error)
{
    struct plm_need need;
    bool assumed;
    int status = plm_fit_need(fit, &fit->settings, &need, error);
    for (size_t i = 0; i < q->cards && status == 0; i++) {
        const struct plm_need there = plm_fit_need_on(fit, &need, &q->card[i]);
        struct plm_fit_answer answer;
        usable[i] = plm_margin_usable(q->margin, plm_summary_usable(&fit->job->summary, &q->card[i], &assumed));
        status = plm_fit_card(fit, &fit->settings, &need, &q->card[i], usable[i], &answer, error);
        point->cell[i] = (struct plm_sweep_cell){.verdict = answer.verdict, .need = there.need, .high = there.high};
    }
    return status;
}

/* What cannot be timed has no times; memory is told all the same. */
static void cells_time(const struct plm_sweep_question *q, const struct plm_works *works, struct plm_sweep_point *point)
{
    const struct plm_time_question question = {.install = q->install, .unmetered = true};
    struct plm_time_table table;
    if (!works || plm_time_table_make(works, plm_works_main(works), q->card, q->cards, &question, &table, NULL) < 0)
        return;
    for (size_t i = 0; i < table.rows; i++)
        if (table.row[i].known) {
            point->cell[i].step = table.row[i].timing.step / 1e9;
            point->cell[i].samples = table.row[i].together;
            point->gpus = table.row[i].gpus;
        }
    plm_time_table_free(&table);
}

static void peaks_take(const struct plm_job *job, struct plm_sweep_point *point)
{
    for (size_t i = 0; i < job->lanes; i++) {
        const struct plm_summary_device *d = job->lane[i].summary;
        point->allocated = d->allocated_peak.bytes > point->allocated ? d->allocated_peak.bytes : point->allocated;
        point->reserved = d->reserved_peak > point->reserved ? d->reserved_peak : point->reserved;
    }
}

int plm_sweep_judge(const struct plm_sweep_question *q, const struct plm_job *job, const struct plm_works *works,
                    struct plm_sweep_point *point, uint64_t *usable, struct plm_error *error)
{
    struct plm_fit fit;
    int status = plm_fit_open(job, &fit, error);
    if (status)
        return status;
    status = cells_judge(q, &fit, point, usable, error);
    plm_fit_close(&fit);
    if (status)
        return status;
    point->gpus = 1;
    peaks_take(job, point);
    cells_time(q, works, point);
    return 0;
}
