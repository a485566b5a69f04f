#include "fit/known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/units.h"
#include "fit/ladder.h"

enum { SIGNALED = 128, SIGNALS = 64 }; /* an exit status of 128 + signal, as shells have it */

/* "in step 2", or that none began. */
static const char *step_text(char out[32], const struct plm_job *job, int steps)
{
    bool began = steps > 0;
    for (size_t i = 0; i < job->lanes; i++)
        began |= job->lane[i].phases > 0;
    if (began)
        snprintf(out, 32, "in step %d", steps + 1);
    else
        snprintf(out, 32, "before its first step");
    return out;
}

/* The device that was full last; NULL: none was. */
static const struct plm_lane *lane_full(const struct plm_job *job)
{
    const struct plm_lane *full = NULL;
    for (size_t i = 0; i < job->lanes; i++)
        if (job->lane[i].summary->out_of_memory &&
            (!full || job->lane[i].summary->oom_steps > full->summary->oom_steps))
            full = &job->lane[i];
    return full;
}

static bool job_is_open(const struct plm_job *job)
{
    for (size_t i = 0; i < job->lanes; i++)
        if (job->lane[i].summary->oom_open)
            return true;
    return false;
}

static void known_full(const struct plm_job *job, const struct plm_lane *lane, bool well, struct plm_fit_known *k)
{
    const char *bounded = plm_summary_config(&job->summary, "bounded");
    const char *needs = plm_summary_config(&job->summary, "unbounded-need");
    const struct plm_summary_device *d = lane->summary;
    const bool on_card = bounded && !strcmp(bounded, "yes");
    char at[32], step[32];
    plm_size_text(at, sizeof at, plm_ladder(job, lane).device_used);
    step_text(step, job, d->oom_steps);
    k->failed = true;
    if (on_card && well && lane->together) { /* each process had the card for itself */
        k->what = PLM_KNOWN_NOTHING;
        snprintf(k->why, sizeof k->why, "its GPU was full at %s %s, and several processes share it", at, step);
    } else if (on_card && well && !job_is_open(job)) {
        k->what = PLM_KNOWN_ENOUGH;
        k->failed = false;
        snprintf(k->why, sizeof k->why, "its GPU was full at %s %s, and it continued with less", at, step);
    } else if (well && on_card) { /* a shell script may hide that its program failed */
        k->what = PLM_KNOWN_NOTHING;
        snprintf(k->why, sizeof k->why, "its GPU was full at %s %s, and nothing shows that it continued", at, step);
    } else {
        k->what = on_card ? PLM_KNOWN_TOO_LITTLE : PLM_KNOWN_NOTHING;
        snprintf(k->why, sizeof k->why, "it ran out of memory at %s %s", at, step);
        k->needs = on_card && needs ? strtoull(needs, NULL, 10) : 0;
    }
}

static void known_failed(const struct plm_job *job, const char *code, struct plm_fit_known *k)
{
    const int status = code ? atoi(code) : 0;
    char step[32];
    step_text(step, job, job->summary.steps);
    k->what = PLM_KNOWN_NOTHING;
    k->failed = true;
    if (!job->summary.ended)
        snprintf(k->why, sizeof k->why, "the record ends %s: the job is still running, or plimsoll was killed", step);
    else if (status > SIGNALED && status <= SIGNALED + SIGNALS)
        snprintf(k->why, sizeof k->why, "the job was killed by signal %d %s", status - SIGNALED, step);
    else
        snprintf(k->why, sizeof k->why, "the job failed with status %d %s", status, step);
}

/* A later process did the same work, or more: it was started again, or was not what the job is about. A rank beside it
   does not stand for it. */
static bool device_made_up(const struct plm_summary *s, const struct plm_summary_device *d)
{
    for (int i = 0; i < s->devices; i++) {
        const struct plm_summary_device *other = &s->device[i];
        if (!other->status && other->first_ns >= d->last_ns && other->steps >= d->steps &&
            (other->steps || other->used_peak >= d->used_peak))
            return true;
    }
    return false;
}

/* The command ended well although a process of it failed: a script may go on after its program. */
static void known_hidden(const struct plm_job *job, struct plm_fit_known *k)
{
    const struct plm_summary *s = &job->summary;
    char step[32];
    for (int i = 0; i < s->devices; i++)
        if (s->device[i].status && !device_made_up(s, &s->device[i])) {
            k->what = PLM_KNOWN_NOTHING;
            k->failed = true;
            snprintf(k->why, sizeof k->why, "one of its programs failed with status %d %s", s->device[i].status,
                     step_text(step, job, s->device[i].steps));
            return;
        }
}

struct plm_fit_known plm_fit_known(const struct plm_job *job)
{
    const struct plm_summary *s = &job->summary;
    const char *code = plm_summary_config(s, "exit"); /* of imported records there is none */
    const bool well = s->ended && (!code || !strcmp(code, "0"));
    const struct plm_lane *full = lane_full(job);
    struct plm_fit_known k = {.what = PLM_KNOWN_PEAK};

    for (int i = 0; i < s->devices; i++)
        k.used = s->device[i].used_peak > k.used ? s->device[i].used_peak : k.used;
    if (full && s->ended)
        known_full(job, full, well, &k);
    else if (!well)
        known_failed(job, code, &k);
    else if (!s->devices) {
        k.what = PLM_KNOWN_NOTHING;
        snprintf(k.why, sizeof k.why, "the job put nothing on the GPU");
    } else if (s->missing.why[0]) {
        k.what = PLM_KNOWN_NOTHING;
        snprintf(k.why, sizeof k.why, "%s: the record is incomplete", s->missing.why);
    } else if (code && !s->steps && !plm_summary_config(s, "until-exit")) {
        k.what = PLM_KNOWN_NOTHING;
        snprintf(k.why, sizeof k.why, "it made no step; for programs that do not train, use --until-exit");
    }
    if (well && (k.what == PLM_KNOWN_PEAK || k.what == PLM_KNOWN_ENOUGH))
        known_hidden(job, &k);
    return k;
}
