#include <stdlib.h>

#include "base/error.h"
#include "base/card.h"
#include "fit/fit.h"
#include "report/report.h"
#include "stack/match.h"

/* By the device that needs most; no allocator is asked. */
static int by_ladder(const struct plm_job *job, const struct plm_card *cards, size_t count,
                     struct plm_report_fits *fits, struct plm_error *error)
{
    const struct plm_device_summary *most = NULL;
    struct plm_ladder l;
    *fits = (struct plm_report_fits){.row = calloc(count + 1, sizeof *fits->row), .rows = job->lanes ? count : 0};
    for (size_t i = 0; i < job->lanes; i++) {
        l = plm_ladder(&job->summary, job->lane[i].summary);
        if (most && l.device_used <= fits->need)
            continue;
        most = job->lane[i].summary;
        fits->need = l.device_used;
    }
    if (!fits->row)
        return plm_fail(error, PLM_ENOMEM, "out of memory");
    for (size_t i = 0; i < fits->rows; i++) {
        bool assumed;
        const uint64_t usable = plm_stack_usable(&job->summary, &cards[i], &assumed);
        l = plm_ladder_on(&job->summary, most, &cards[i]);
        fits->row[i] = (struct plm_fit_row){.card = &cards[i],
                                            .usable = usable,
                                            .assumed = assumed,
                                            .need = l.device_used,
                                            .answer = {.verdict = plm_ladder_fit(&l, usable)}};
    }
    qsort(fits->row, fits->rows, sizeof *fits->row, plm_fit_by_memory);
    return 0;
}

int plm_report_fits(const struct plm_job *job, const struct plm_card *cards, size_t count, struct plm_report_fits *fits,
                    struct plm_error *error)
{
    const struct plm_margin none = {0};
    struct plm_fit_table table;
    struct plm_fit fit;
    int status = plm_fit_is_quick(job) ? plm_fit_open(job, &fit, NULL) : PLM_EINVAL;
    if (status == 0) {
        status = fit.repeats ? plm_fit_table(&fit, cards, count, &none, &table, NULL) : PLM_EINVAL;
        plm_fit_close(&fit);
    }
    if (status)
        return by_ladder(job, cards, count, fits, error);
    *fits = (struct plm_report_fits){
        .row = table.row, .rows = table.rows, .need = table.need.need, .minimum = table.minimum};
    return 0;
}

void plm_report_fits_free(struct plm_report_fits *fits)
{
    free(fits->row);
    fits->row = NULL;
}
