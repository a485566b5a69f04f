#include "study/learn/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "common/card.h"
#include "common/error.h"
#include "base/memory.h"
#include "fit/bounded.h"
#include "fit/known.h"
#include "fit/ladder.h"
#include "time/speeds.h"

/* ---- the record ---- */

static void strings_read(struct plm_labeller *l)
{
    const char *torch = plm_summary_config(&l->job->summary, "torch"),
               *stack = plm_summary_config(&l->job->summary, "stack");
    snprintf(l->torch, sizeof l->torch, "%.31s", torch ? torch : "");
    snprintf(l->stack, sizeof l->stack, "%.63s", stack ? stack : "none");
}

int plm_labeller_open(struct plm_labeller *l, const char *path, const struct plm_card *card,
                      const struct plm_speeds *speeds, struct plm_error *error)
{
    struct plm_build *works;
    int status;
    *l = (struct plm_labeller){.card = card, .speeds = speeds};
    works = plm_works_begin(&l->works);
    status = plm_job_read_along(path, &(struct plm_job_guest){plm_works_open, plm_works_visit, works}, &l->job, error);
    l->timed = plm_works_end(works, status, path, NULL) == 0; /* a record without launches has none */
    if (status)
        return status;
    strings_read(l);
    return 0;
}

void plm_labeller_close(struct plm_labeller *l)
{
    if (l->timed)
        plm_works_free(&l->works);
    plm_job_free(l->job);
    *l = (struct plm_labeller){0};
}

/* ---- memory ---- */

static uint64_t usable_of(const struct plm_labeller *l)
{
    const uint64_t measured = l->job->summary.stack_usable;
    return measured ? measured : l->card->memory_usable;
}

/* A card that has room for the middle of the range fits; else a replay, which gives back cached memory first. */
static void memory_label(const struct plm_labeller *l, const struct plm_job *job, const struct plm_lane *lane,
                         struct plm_labels *labels)
{
    const struct plm_ladder ladder = plm_ladder(job, lane);
    const struct plm_ladder_context context = plm_ladder_context(&job->summary, lane->summary, NULL);
    const uint64_t usable = usable_of(l);
    struct plm_bounded bounded;
    labels->known = true;
    labels->allocated = ladder.allocated;
    labels->reserved = ladder.reserved;
    labels->device_used = ladder.device_used;
    labels->reserved_low = ladder.low > context.low ? ladder.low - context.low : 0;
    labels->reserved_high = ladder.high > context.high ? ladder.high - context.high : 0;
    labels->oom = ladder.device_used > usable;
    if (labels->oom && plm_bounded(job, l->card, usable, &bounded) == 0)
        labels->oom = !bounded.completes;
}

/* ---- time ---- */

/* The host's time is counted from its calls, so that the same seed gives the same file. */
static struct plm_timing_options timing_options(void)
{
    return (struct plm_timing_options){.bare = true};
}

/* Some steps of a lane, each as often as an epoch has it. */
struct steps {
    struct plm_work_step step[PLM_PLAN_STEPS];
    size_t count;
    double times;
};

static void time_add(const struct plm_labeller *l, const struct plm_work_lane *lane, const struct steps *steps,
                     struct plm_labels *labels, double *wall, double *times)
{
    const struct plm_timing_options options = timing_options();
    struct plm_work_lane view = *lane;
    struct plm_timing timing;
    if (!steps->count || steps->times <= 0)
        return;
    view.step = (struct plm_work_step *)steps->step;
    view.steps = steps->count;
    if (plm_timing_make(&l->works, &view, l->card, l->speeds, &options, &timing, NULL))
        return;
    *wall += steps->times * timing.step;
    *times += steps->times;
    for (int i = 0; i < PLM_LABEL_METRICS; i++)
        labels->metric[i] += steps->times * timing.step * timing.metric[i];
    plm_timing_free(&timing);
}

static void time_end(struct plm_labels *labels, double wall, double times)
{
    for (int i = 0; i < PLM_LABEL_METRICS; i++)
        labels->metric[i] = wall > 0 ? labels->metric[i] / wall : 0;
    labels->step_ms = times > 0 ? wall / times * 1e-6 : 0;
}

/* The first step has what a steady state does not: a lane is without it. A job that PyTorch ended with an error before
   the smaller batch was through does not train on: what an epoch takes on average is not known of it. */
static void time_label(const struct plm_labeller *l, const struct plm_work_lane *lane, const struct plm_plan *plan,
                       struct plm_labels *labels)
{
    struct steps full = {.times = (double)plan->full}, rest = {.times = plan->rest > 0};
    double wall = 0, times = 0;
    for (size_t i = 0; i < lane->steps && i < PLM_PLAN_STEPS; i++) {
        struct steps *of = lane->step[i].samples == plan->batch ? &full : &rest;
        of->step[of->count++] = lane->step[i];
    }
    if (plan->rest > 0 && !rest.count)
        return;
    time_add(l, lane, &full, labels, &wall, &times);
    time_add(l, lane, &rest, labels, &wall, &times);
    time_end(labels, wall, times);
}

/* ---- all of it ---- */

static const struct plm_work_lane *lane_of(const struct plm_labeller *l, uint64_t pid)
{
    const struct plm_work_lane *most = NULL;
    for (size_t i = 0; l->timed && i < l->works.lanes; i++)
        if (l->works.lane[i].pid == pid && (!most || l->works.lane[i].calls > most->calls))
            most = &l->works.lane[i];
    return most;
}

int plm_label_process(const struct plm_labeller *l, uint64_t pid, const struct plm_plan *plan,
                      struct plm_labels *labels, struct plm_error *error)
{
    const struct plm_work_lane *lane = lane_of(l, pid);
    *labels = (struct plm_labels){0};
    for (size_t i = 0; lane && i < l->job->lanes; i++)
        if (l->job->lane[i].process == lane->process && l->job->lane[i].summary->device == lane->device) {
            /* Other processes of the record are other networks. */
            struct plm_job alone = *l->job;
            alone.lane = &l->job->lane[i];
            alone.lanes = 1;
            memory_label(l, &alone, alone.lane, labels);
            time_label(l, lane, plan, labels);
            return 0;
        }
    return plm_fail(error, PLM_ENOTFOUND, "did not use the GPU");
}

int plm_label_job(const struct plm_labeller *l, struct plm_labels *labels, struct plm_error *error)
{
    const struct plm_fit_known known = plm_fit_known(l->job);
    const struct plm_timing_options options = timing_options();
    struct plm_timing timing;
    *labels = (struct plm_labels){0};
    if (!l->job->lanes)
        return plm_fail(error, PLM_ENOTFOUND, "did not use the GPU");
    if (known.what != PLM_KNOWN_PEAK)
        return plm_fail(error, PLM_EINVAL, "%s", known.why);
    memory_label(l, l->job, plm_job_largest(l->job), labels);
    if (!l->timed || plm_timing_make(&l->works, plm_works_main(&l->works), l->card, l->speeds, &options, &timing, NULL))
        return 0;
    labels->step_ms = timing.step * 1e-6;
    memcpy(labels->metric, timing.metric, sizeof labels->metric);
    plm_timing_free(&timing);
    return 0;
}
