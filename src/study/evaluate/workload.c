#include "study/evaluate/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "analysis/job.h"
#include "common/card.h"
#include "common/error.h"
#include "common/ini.h"
#include "base/install.h"
#include "fit/bounded.h"
#include "fit/outcome.h"
#include "study/evaluate/levels.h"

static struct plm_workload *workload_section(struct plm_workloads *w, const char *name)
{
    struct plm_workload *item = w->count ? &w->item[w->count - 1] : NULL;
    if (item && !strcasecmp(item->family, name))
        return item;
    if (w->count == PLM_WORKLOADS || strlen(name) >= sizeof item->family)
        return NULL;
    item = &w->item[w->count++];
    *item = (struct plm_workload){0};
    strcpy(item->family, name);
    return item;
}

/* 1 if the pair is one of the figures. */
static int take_figure(const struct plm_ini_pair *pair, struct plm_workload *item, struct plm_error *error)
{
    const struct {
        const char *key;
        double *value;
    } figures[] = {
        {"sampler_ms", &item->sampler_ms},
        {"copy_gbs", &item->copy_gbs},
        {"copy_call_us", &item->copy_call_us},
    };
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        if (!strcmp(pair->key, figures[i].key)) {
            char *end;
            *figures[i].value = strtod(pair->value, &end);
            if (end == pair->value || *end || !(*figures[i].value > 0 && *figures[i].value < 1e6))
                return plm_fail(error, PLM_EFORMAT, "%.300s:%d: %s takes a positive number", pair->path, pair->line,
                                pair->key);
            return 1;
        }
    return 0;
}

static int pair_take(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    struct plm_workload *item = workload_section(context, pair->section);
    int status;
    if (!item)
        return plm_fail(error, PLM_EFORMAT, "%.300s:%d: too many families, or too long a name", pair->path, pair->line);
    status = take_figure(pair, item, error);
    if (status)
        return status < 0 ? status : 0;
    if (plm_levels_key(pair->key)) /* for designs, which read them when they are made */
        return 0;
    if (!strcmp(pair->key, "script") && strlen(pair->value) < sizeof item->script && !strchr(pair->value, '/'))
        strcpy(item->script, pair->value);
    else if (!strcmp(pair->key, "rows") && (!strcmp(pair->value, "true") || !strcmp(pair->value, "false")))
        item->rows = pair->value[0] == 't';
    else if (!strcmp(pair->key, "first_sample") && !strcmp(pair->value, "late"))
        item->first_sample = PLM_SAMPLE_LATE;
    else if (strcmp(pair->key, "first_sample") != 0 || strcmp(pair->value, "before") != 0)
        return plm_fail(
            error, PLM_EFORMAT,
            "%.300s:%d: %.60s = %.60s: there are script = FILE, rows = true or false, first_sample = before or late, "
            "the figures "
            "sampler_ms, copy_gbs and copy_call_us, and the lists models, optimizers, batches, gpus and zero_grad",
            pair->path, pair->line, pair->key, pair->value);
    return 0;
}

/* In a source tree the GPU files are in data/gpus and the workloads in bench; installed they lie side by side. */
static int find_own(const struct plm_install *install, struct plm_workloads *w, struct plm_error *error)
{
    static const char *const places[] = {"../workloads", "../../bench/workloads"};
    char path[4096];
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int n = snprintf(path, sizeof path, "%.3700s/%s/workloads.ini", install->gpus, places[i]);
        if (n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0) {
            snprintf(w->folder, sizeof w->folder, "%.3700s/%s", install->gpus, places[i]);
            return 0;
        }
    }
    return plm_fail(error, PLM_EIO, "the workloads are not installed; use --workloads FOLDER");
}

int plm_workloads_read(const char *folder, const struct plm_install *install, struct plm_workloads *w,
                       struct plm_error *error)
{
    char path[4096];
    int status = 0;
    *w = (struct plm_workloads){0};
    if (!folder)
        status = find_own(install, w, error);
    else if (strlen(folder) >= sizeof w->folder)
        status = plm_fail(error, PLM_EINVAL, "--workloads: the path is too long");
    else
        strcpy(w->folder, folder);
    if (status)
        return status;
    snprintf(path, sizeof path, "%s/workloads.ini", w->folder);
    status = plm_ini_read(path, pair_take, w, error);
    for (size_t i = 0; status == 0 && i < w->count; i++) {
        const struct plm_workload *item = &w->item[i];
        if (!item->script[0])
            status = plm_fail(error, PLM_EFORMAT, "%.300s: [%s] names no script", path, item->family);
        else if (item->first_sample == PLM_SAMPLE_LATE && !(item->sampler_ms > 0 && item->copy_gbs > 0))
            status = plm_fail(error, PLM_EFORMAT,
                              "%.300s: [%s] has a late first sample: sampler_ms and copy_gbs say how late", path,
                              item->family);
    }
    return status;
}

const struct plm_workload *plm_workloads_find(const struct plm_workloads *w, const char *family)
{
    for (size_t i = 0; i < w->count; i++)
        if (!strcasecmp(w->item[i].family, family))
            return &w->item[i];
    return NULL;
}

/* ---- what a run of one took ---- */

/*
 * What was reserved when a sampler looked that was started as the model set out for the card: parameters and buffers
 * go there one after the other, each at the cost of a call and its bytes. If the model arrives first, what the
 * optimizer made for it is there as well, but no batch yet: loading the first one takes longer than anything before
 * it.
 */
static uint64_t early_of(const struct plm_lane *lane, const struct plm_workload *w)
{
    double left;
    if (w->first_sample != PLM_SAMPLE_LATE)
        return 0;
    left = w->sampler_ms * 1e-3;
    for (size_t i = 0; i < lane->blocks; i++) {
        const struct plm_block *b = &lane->block[i];
        if (b->category == PLM_CATEGORY_INPUTS)
            return b->alloc_at ? plm_lane_reserved(lane, b->alloc_at - 1) : 0;
        if (b->category != PLM_CATEGORY_PARAMETERS && b->category != PLM_CATEGORY_BUFFERS)
            continue;
        left -= w->copy_call_us * 1e-6 + (double)b->bytes / (w->copy_gbs * 1e9);
        if (left < 0)
            return plm_lane_reserved(lane, b->alloc_at);
    }
    return 0;
}

/* What the card shows is the run that it bounds. */
static void outcome_bound(const struct plm_job *job, const struct plm_card *card, struct plm_outcome *o)
{
    struct plm_bounded b;
    if (plm_bounded(job, card, card->memory_usable, &b) || !b.completes || b.takes >= b.would)
        return;
    o->bounded_allocated = b.allocated;
    o->bounded_reserved = b.reserved;
    o->usable = card->memory_usable;
}

int plm_workload_outcome(const struct plm_workload *workload, const char *record, const struct plm_card *card,
                         struct plm_outcome *o, struct plm_error *error)
{
    struct plm_job *job;
    int status = plm_job_read(record, &job, error);
    *o = (struct plm_outcome){0};
    if (status)
        return status;
    plm_outcome_of(job, o);
    if (o->done) {
        o->early = early_of(plm_job_largest(job), workload);
        outcome_bound(job, card, o);
    }
    plm_job_free(job);
    return 0;
}
