#include "analysis/job.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/collect.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/search.h"

struct work {
    struct plm_summary_work summary;
    struct plm_collect collect;
    const struct plm_job_guest *guest; /* NULL: none */
};

static int event_visit(const struct plm_record_event *e, void *context)
{
    struct work *w = context;
    int status = plm_collect_visit(&w->collect, e);
    plm_summary_visit(&w->summary, e, &w->collect.level);
    if (status == 0 && w->guest)
        status = w->guest->visit(e, w->guest->context);
    return status;
}

static void marks_hand_over(struct plm_lane *lane, struct plm_job_conv_marks *collected)
{
    struct plm_job_conv_marks *marks;
    if (!collected->count)
        return;
    marks = plm_calloc(1, sizeof *marks);
    *marks = *collected;
    collected->mark = NULL;
    lane->convolutions = marks;
    lane->kept = plm_calloc(1, sizeof *lane->kept);
    pthread_mutex_init(&lane->kept->lock, NULL);
}

static void marks_free(struct plm_lane *lane)
{
    if (lane->convolutions)
        free(lane->convolutions->mark);
    free((struct plm_job_conv_marks *)lane->convolutions);
    free(lane->kept);
}

/* Gives the job what was collected, lanes in the order of the summary's devices. */
static void hand_over(struct plm_job *job, struct plm_collect *c)
{
    job->lane = plm_calloc((size_t)job->summary.devices, sizeof *job->lane);
    for (int i = 0; i < job->summary.devices; i++) {
        const struct plm_summary_device *d = &job->summary.device[i];
        struct plm_lane *lane = &job->lane[job->lanes++];
        for (size_t k = 0; k < c->lanes; k++)
            if (c->lane[k].lane.process == d->process && c->lane[k].device == d->device) {
                *lane = c->lane[k].lane;
                marks_hand_over(lane, &c->lane[k].convolutions);
                memset(&c->lane[k].lane, 0, sizeof c->lane[k].lane); /* its arrays have a new owner */
                c->lane[k].device = -1;
                break;
            }
        lane->summary = d;
        lane->process = d->process;
    }
    job->context = c->context;
    job->contexts = c->contexts;
    job->owner = c->names.text;
    job->owners = c->names.count;
    job->attributed = c->attributed;
    job->line = c->lines.line;
    job->lines = c->lines.lines;
    job->call = c->lines.call;
    job->calls = c->lines.calls;
    c->lines.line = NULL;
    c->lines.call = NULL;
    c->context = NULL;
    c->names.text = NULL;
    c->names.count = 0;
}

static int read_all(struct plm_job *job, struct plm_record *record, const char *name, const struct plm_job_guest *guest,
                    struct plm_error *error)
{
    struct work w = {.guest = guest};
    int status;
    if (guest)
        guest->open(record, guest->context);
    plm_collect_begin(&w.collect, record);
    plm_summary_begin(&w.summary, &job->summary, record);
    status = plm_record_each(record, event_visit, &w, error);
    plm_summary_finish(&w.summary);
    if (status == 0) {
        plm_collect_end(&w.collect);
        hand_over(job, &w.collect);
        plm_job_share(job);
    } else if (status == PLM_EFORMAT && w.collect.lanes && !error->text[0])
        plm_fail(error, status, "%s has too many blocks", name);
    plm_collect_free(&w.collect);
    return status;
}

static int record_read(struct plm_record *record, const char *name, const struct plm_job_guest *guest,
                       struct plm_job **out, struct plm_error *error)
{
    struct plm_job *job = plm_calloc(1, sizeof *job);
    struct plm_error unused;
    int status;

    error = error ? error : &unused;
    *error = (struct plm_error){0};
    status = read_all(job, record, name, guest, error);
    if (status == 0)
        *out = job;
    else
        plm_job_free(job);
    return status;
}

int plm_job_read_record(struct plm_record *record, const char *name, struct plm_job **out, struct plm_error *error)
{
    return record_read(record, name, NULL, out, error);
}

int plm_job_read_along(const char *path, const struct plm_job_guest *guest, struct plm_job **out,
                       struct plm_error *error)
{
    struct plm_record *record;
    int status = plm_record_open(path, &record, error);
    if (status < 0)
        return status;
    status = record_read(record, path, guest, out, error);
    plm_record_free(record);
    return status;
}

int plm_job_read(const char *path, struct plm_job **out, struct plm_error *error)
{
    return plm_job_read_along(path, NULL, out, error);
}

void plm_job_free(struct plm_job *job)
{
    if (!job)
        return;
    for (size_t i = 0; i < job->lanes; i++) {
        plm_lane_free(&job->lane[i]);
        marks_free(&job->lane[i]);
    }
    for (size_t i = 0; i < job->owners; i++)
        free((char *)job->owner[i]);
    free(job->owner);
    free(job->line);
    free(job->call);
    free(job->context);
    free(job->lane);
    plm_summary_free(&job->summary);
    free(job);
}

int plm_lane_sweep(const struct plm_lane *lane, plm_moment_visit *see, void *context)
{
    uint64_t allocated[PLM_CATEGORIES] = {0};
    for (size_t m = 0; m < lane->moments; m++) {
        const struct plm_block *b = &lane->block[lane->order[m] >> 1];
        bool freed = lane->order[m] & 1;
        int status;
        allocated[b->category] += freed ? -b->bytes : b->bytes;
        status = see((uint32_t)m, freed ? b->free_ns : b->alloc_ns, allocated, context);
        if (status)
            return status;
    }
    return 0;
}

uint32_t plm_lane_peak(const struct plm_lane *lane, uint32_t from, uint32_t to)
{
    uint64_t now = 0, most = 0;
    uint32_t at = from;
    for (uint32_t m = 0; m < to && m < lane->moments; m++) {
        const struct plm_block *b = &lane->block[lane->order[m] >> 1];
        now += lane->order[m] & 1 ? -b->bytes : b->bytes;
        if (m >= from && now > most) {
            most = now;
            at = m;
        }
    }
    return at;
}

uint64_t plm_lane_reserved(const struct plm_lane *lane, uint32_t moment)
{
    size_t low =
        PLM_SEARCH(i, lane->reserveds, lane->reserved[i].at <= moment); /* the last one whose moment is not later */
    return low ? lane->reserved[low - 1].bytes : 0;
}

void plm_lane_step(const struct plm_lane *lane, size_t step, uint32_t *from, uint32_t *to)
{
    *from = step > 1 && step - 2 < lane->steps ? lane->step[step - 2].at : 0;
    *to = step && step - 1 < lane->steps ? lane->step[step - 1].at : (uint32_t)lane->moments;
}

int plm_block_by_address(const void *a, const void *b)
{
    const struct plm_block *x = *(const struct plm_block *const *)a, *y = *(const struct plm_block *const *)b;
    return x->address < y->address ? -1 : x->address > y->address;
}

const struct plm_lane *plm_job_largest(const struct plm_job *job)
{
    const struct plm_lane *largest = &job->lane[0];
    for (size_t i = 1; i < job->lanes; i++)
        if (job->lane[i].summary->used_peak > largest->summary->used_peak)
            largest = &job->lane[i];
    return largest;
}
