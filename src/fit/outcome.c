#include "fit/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "common/error.h"
#include "fit/fit.h"
#include "fit/known.h"
#include "fit/ladder.h"

/* As `plimsoll fit` finds it; what was reserved, where the record cannot be asked. */
static uint64_t least_of(const struct plm_job *job, const struct plm_lane *lane)
{
    uint64_t least = lane->summary->reserved_peak, minimum;
    struct plm_fit fit;
    if (plm_fit_open(job, &fit, NULL))
        return least;
    for (size_t i = 0; i < fit.lanes; i++)
        if (fit.lane[i].lane == lane && plm_fit_minimum(&fit, &fit.settings, &minimum, NULL) == 0 &&
            (int64_t)minimum > fit.lane[i].outside)
            least = (uint64_t)((int64_t)minimum - fit.lane[i].outside);
    plm_fit_close(&fit);
    return least;
}

static void outcome_fill(const struct plm_job *job, struct plm_outcome *o)
{
    const struct plm_lane *lane = plm_job_largest(job);
    const struct plm_ladder ladder = plm_ladder(job, lane);
    const struct plm_ladder_context context = plm_ladder_context(&job->summary, lane->summary, NULL);
    const char *torch = plm_summary_config(&job->summary, "torch");
    char reasons[PLM_DOUBTS][256];
    int n;
    snprintf(o->torch, sizeof o->torch, "%s", torch ? torch : "");
    snprintf(o->confidence, sizeof o->confidence, "%s", plm_confidence(job, reasons, PLM_DOUBTS, &n));
    o->seconds = plm_summary_seconds(&job->summary);
    o->allocated = ladder.allocated;
    o->reserved = ladder.reserved;
    o->context = ladder.context;
    o->context_low = context.low;
    o->context_high = context.high;
    for (int i = 1; i < context.lines; i++) /* the first one is the context itself */
        o->later += context.line[i].high;
    o->outside = ladder.device_used - ladder.reserved - ladder.context;
    o->low = ladder.low;
    o->high = ladder.high;
    o->least = least_of(job, lane);
}

uint64_t plm_outcome_used(const struct plm_outcome *o)
{
    return o->reserved + o->outside + o->context;
}

void plm_outcome_of(const struct plm_job *job, struct plm_outcome *o)
{
    const struct plm_fit_known known = plm_fit_known(job);
    *o = (struct plm_outcome){0};
    if (known.what != PLM_KNOWN_PEAK)
        snprintf(o->why, sizeof o->why, "unknown: %s", known.why);
    else {
        outcome_fill(job, o);
        o->done = true;
    }
}
