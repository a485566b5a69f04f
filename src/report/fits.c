#include <stdlib.h>

#include "base/error.h"
#include "device/card.h"
#include "fit/fit.h"
#include "report/report.h"

/* By the device that needs most; no allocator is asked. */
static int by_ladder(const struct plm_job *job, const struct plm_card *cards, size_t count,
                     struct plm_report_fits *fits, struct plm_error *error)
{
    struct plm_ladder most = {0};
    for (size_t i = 0; i < job->lanes; i++) {
        struct plm_ladder l = plm_ladder(&job->summary, job->lane[i].summary);
        if (l.device_used > most.device_used)
            most = l;
    }
    *fits =
        (struct plm_report_fits){.row = calloc(count + 1, sizeof *fits->row), .rows = count, .need = most.device_used};
    if (!fits->row)
        return plm_fail(error, PLM_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++)
        fits->row[i] = (struct plm_fit_row){.card = &cards[i],
                                            .usable = cards[i].memory_usable,
                                            .answer = {.verdict = plm_ladder_fit(&most, cards[i].memory_usable)}};
    qsort(fits->row, count, sizeof *fits->row, plm_fit_by_memory);
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
