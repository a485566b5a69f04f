#include "time/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/catalogue.h"
#include "common/error.h"
#include "base/memory.h"

/* ---- names ---- */

static size_t number_at(const char **at)
{
    size_t value = 0;
    for (; **at >= '0' && **at <= '9' && value < 10000; (*at)++)
        value = value * 10 + (size_t)(**at - '0');
    return value;
}

/* "_ZN2at6native18elementwise_kernelILi128E...": the parts of the name stand one after another, each behind its length,
   up to the parameters of the template. The last one is the kernel's. */
const char *plm_time_kernel_short(const char *name, char *buffer, size_t size)
{
    const char *at = name, *last = name;
    size_t length = strlen(name);
    if (!strncmp(at, "_Z", 2)) {
        at += 2 + (at[2] == 'N');
        for (size_t n; (n = number_at(&at)) && n <= strlen(at); at += n) {
            last = at;
            length = n;
        }
    }
    snprintf(buffer, size, "%.*s", length < size ? (int)length : (int)size - 1, last);
    return buffer;
}

const char *plm_span_name(const struct plm_timeline *timeline, uint32_t work, uint32_t site, char *buffer, size_t size)
{
    const struct plm_work_site *s = &timeline->works.site[site];
    const struct plm_work *w = &timeline->works.work[work];
    if (*s->inner || *s->outer)
        snprintf(buffer, size, "%s", *s->inner ? s->inner : s->outer);
    else if (w->name)
        plm_time_kernel_short(timeline->works.names.text[w->name], buffer, size);
    else
        snprintf(buffer, size, "%s", plm_work_class_name((enum plm_work_class)w->class));
    return buffer;
}

/* ---- lanes ---- */

#define LONGEST_NS 1e17 /* three years: a figure of a card's file is wrong, and whole numbers of ns end soon */

static const struct plm_timing_options options;

/* It was asked of this card before, and knew an answer. */
void plm_timeline_each(const struct plm_timeline *t, const struct plm_timeline_lane *lane, plm_host_visit *host,
                       plm_span_visit *span, void *context)
{
    (void)plm_timing_each(&t->works, lane->work, &t->card, &t->speeds, &options, host, span, context, NULL);
}

static void extent_add(struct plm_timeline_lane *lane, double begin, double end)
{
    lane->begin = fmin(lane->begin, begin);
    lane->end = fmax(lane->end, end);
}

static void extent_host(const struct plm_host_span *span, void *context)
{
    extent_add(context, span->begin, span->end);
}

static void extent_span(const struct plm_span *span, void *context)
{
    extent_add(context, span->begin, span->end);
}

static void lane_extent(const struct plm_timeline *t, struct plm_timeline_lane *lane)
{
    const struct plm_work_step *step = &lane->work->step[lane->work->steps - 1];
    const uint64_t last_ns = step->calls ? lane->work->call[step->first + step->calls - 1].at_ns : step->begin_ns;
    plm_timeline_each(t, lane, extent_host, extent_span, lane);
    lane->calls = step->calls;
    lane->from_ns = step->begin_ns;
    lane->to_ns = step->end_ns != UINT64_MAX ? step->end_ns : last_ns; /* the last pass has no end */
}

static int lanes_make(struct plm_timeline *t, struct plm_error *error)
{
    int status = 0;
    t->lane = plm_calloc(t->works.lanes, sizeof *t->lane);
    for (size_t i = 0; i < t->works.lanes && status == 0; i++) {
        struct plm_timeline_lane *lane = &t->lane[t->lanes];
        lane->work = &t->works.lane[i];
        if (!lane->work->steps)
            continue;
        status = plm_timing_make(&t->works, lane->work, &t->card, &t->speeds, &options, &lane->timing, error);
        if (status < 0)
            break;
        t->lanes++;
        lane_extent(t, lane);
        if (!isfinite(lane->end - lane->begin) || lane->end - lane->begin > LONGEST_NS)
            status = plm_fail(error, PLM_ENOTFOUND, "no plausible step time on %s", t->card.id);
    }
    if (status == 0 && !t->lanes)
        status = plm_fail(error, PLM_ENOTFOUND, "this record has no complete step, so times are unknown");
    return status;
}

/* ---- the whole ---- */

static int card_choose(struct plm_timeline *t, const char *gpu, struct plm_error *error)
{
    const struct plm_catalogue_entry *entry;
    struct plm_catalogue catalogue = {0};
    int status = plm_catalogue_open(&catalogue, error);
    if (status < 0)
        return status;
    status = plm_catalogue_find(&catalogue, gpu ? gpu : t->works.card, &entry, error);
    if (status < 0 && gpu)
        status = PLM_EINVAL;
    if (status == 0) {
        t->card = entry->card;
        status = plm_speeds_read(NULL, &catalogue.install, &t->card, &t->speeds, error);
    }
    plm_catalogue_free(&catalogue);
    return status;
}

int plm_timeline_of(struct plm_works *works, const char *gpu, struct plm_timeline *timeline, struct plm_error *error)
{
    int status;
    *timeline = (struct plm_timeline){.works = *works};
    *works = (struct plm_works){0};
    status = card_choose(timeline, gpu, error);
    if (status == 0)
        status = lanes_make(timeline, error);
    if (status < 0)
        plm_timeline_free(timeline);
    return status;
}

int plm_timeline_make(const char *record, const char *gpu, struct plm_timeline *timeline, struct plm_error *error)
{
    struct plm_works works;
    const int status = plm_works_read(record, &works, error);
    return status < 0 ? status : plm_timeline_of(&works, gpu, timeline, error);
}

void plm_timeline_free(struct plm_timeline *timeline)
{
    for (size_t i = 0; i < timeline->lanes; i++)
        plm_timing_free(&timeline->lane[i].timing);
    free(timeline->lane);
    plm_works_free(&timeline->works);
    memset(timeline, 0, sizeof *timeline);
}

const struct plm_timeline_lane *plm_timeline_find(const struct plm_timeline *timeline, uint32_t process, int device)
{
    for (size_t i = 0; i < timeline->lanes; i++)
        if (timeline->lane[i].work->process == process && timeline->lane[i].work->device == device)
            return &timeline->lane[i];
    return NULL;
}
