#include "fit/fits.h"

#include "analysis/job.h"
#include "analysis/match.h"
#include "base/card.h"
#include "base/error.h"
#include "base/memory.h"

/* By the device that needs most; no allocator is asked. */
static struct plm_fits by_ladder(const struct plm_job *job, const struct plm_card *cards, size_t count)
{
    struct plm_fits fits = {.row = plm_calloc(count, sizeof *fits.row), .rows = job->lanes ? count : 0};
    const struct plm_lane *most = NULL;
    struct plm_ladder l;
    for (size_t i = 0; i < job->lanes; i++) {
        l = plm_ladder(job, &job->lane[i]);
        if (most && l.device_used <= fits.need)
            continue;
        most = &job->lane[i];
        fits.need = l.device_used;
    }
    for (size_t i = 0; i < fits.rows; i++) {
        bool assumed;
        const uint64_t usable = plm_stack_usable(&job->summary, &cards[i], &assumed);
        l = plm_ladder_on(job, most, &cards[i]);
        fits.row[i] = (struct plm_fit_row){.card = &cards[i],
                                           .usable = usable,
                                           .assumed = assumed,
                                           .need = l.device_used,
                                           .answer = {.verdict = plm_ladder_fit(&l, usable)}};
    }
    qsort(fits.row, fits.rows, sizeof *fits.row, plm_fit_by_memory);
    return fits;
}

struct plm_fits plm_fits_make(const struct plm_job *job, const struct plm_card *cards, size_t count)
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
        return by_ladder(job, cards, count);
    return (struct plm_fits){.row = table.row, .rows = table.rows, .need = table.need.need, .minimum = table.minimum};
}

void plm_fits_free(struct plm_fits *fits)
{
    free(fits->row);
    fits->row = NULL;
}
