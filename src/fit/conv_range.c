#include "fit/ladder.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/job.h"
#include "base/memory.h"
#include "fit/replay.h"

/* Four replays of more than that would keep the reader waiting, and the steps of a job repeat each other. */
enum { MOMENTS_MOST = 1000000 };

/* Workspaces may be off by a little in number and size, and so may the order in which memory comes and goes; this share
   of the peak is always in doubt. docs/accuracy.md has what it is chosen by. */
enum { PER_CENT_ALWAYS = 1 };

/* ---- a lane with other workspaces ---- */

/* None; the most for every convolution; the most forward and none backward: what forward passes leave behind in the cache
   serves the gradients, so this reserves least of all. */
enum workspaces { NONE, MOST, MOST_FORWARD, VARIANTS };

struct changed {
    struct plm_lane lane;
    uint32_t *moved; /* per moment of the lane, how many moments of the changed one come before it */
};

static void free_changed(struct changed *c)
{
    free(c->lane.block);
    free(c->lane.order);
    free(c->lane.segment);
    free(c->moved);
}

static void make_room(struct changed *c, const struct plm_lane *lane, size_t marks)
{
    *c = (struct changed){.lane = {.blocks = lane->blocks, .segments = lane->segments}};
    c->lane.block = plm_calloc(lane->blocks + marks + 1, sizeof *c->lane.block);
    c->lane.order = plm_calloc(lane->moments + 2 * marks + 1, sizeof *c->lane.order);
    c->lane.segment = plm_calloc(lane->segments + 1, sizeof *c->lane.segment);
    c->moved = plm_calloc(lane->moments + 1, sizeof *c->moved);
    if (lane->blocks)
        memcpy(c->lane.block, lane->block, lane->blocks * sizeof *lane->block);
    if (lane->segments)
        memcpy(c->lane.segment, lane->segment, lane->segments * sizeof *lane->segment);
}

/* Where there was no workspace, one comes and goes, in the stream of what was taken or freed before. */
static void workspace_insert(struct changed *c, uint64_t bytes)
{
    uint32_t index = (uint32_t)c->lane.blocks++;
    const struct plm_block *before =
        c->lane.moments ? &c->lane.block[c->lane.order[c->lane.moments - 1] >> 1] : &c->lane.block[index];
    c->lane.block[index] = (struct plm_block){.bytes = bytes, .stream = before->stream, .captured = before->captured};
    c->lane.order[c->lane.moments++] = index << 1;
    c->lane.order[c->lane.moments++] = index << 1 | 1;
}

static bool has_most(const struct plm_job_conv_mark *mark, enum workspaces which)
{
    return which == MOST || (which == MOST_FORWARD && mark->forward);
}

static void workspaces_resize(struct changed *c, const struct plm_job_conv_marks *marks, enum workspaces which)
{
    for (size_t i = 0; i < marks->count; i++) {
        const struct plm_job_conv_mark *m = &marks->mark[i];
        if (!m->guessed || m->block == PLM_CONV_NO_BLOCK)
            continue;
        if (!has_most(m, which))
            c->lane.block[m->block].bytes = 0;
        else if (c->lane.block[m->block].bytes < m->most)
            c->lane.block[m->block].bytes = c->lane.block[m->block].asked = m->most;
    }
}

static void change(struct changed *c, const struct plm_lane *lane, const struct plm_job_conv_marks *marks,
                   enum workspaces which)
{
    size_t next = 0;
    make_room(c, lane, marks->count);
    workspaces_resize(c, marks, which);
    for (size_t m = 0; m <= lane->moments; m++) {
        for (; next < marks->count && marks->mark[next].at <= m; next++)
            if (has_most(&marks->mark[next], which) && marks->mark[next].block == PLM_CONV_NO_BLOCK &&
                marks->mark[next].most)
                workspace_insert(c, marks->mark[next].most);
        c->moved[m] = (uint32_t)c->lane.moments;
        if (m < lane->moments && c->lane.block[lane->order[m] >> 1].bytes)
            c->lane.order[c->lane.moments++] = lane->order[m];
    }
    for (size_t i = 0; i < c->lane.segments; i++) {
        struct plm_lane_segment *s = &c->lane.segment[i];
        s->alloc_at = s->alloc_at <= lane->moments ? c->moved[s->alloc_at] : s->alloc_at;
        s->free_at = s->free_at <= lane->moments ? c->moved[s->free_at] : s->free_at;
    }
}

/* ---- what it comes to ---- */

struct peaks {
    uint64_t allocated, reserved;
};

static struct peaks replayed(const struct plm_lane *lane, const struct plm_replay_options *options)
{
    struct plm_replay replay;
    struct peaks peaks = {0, 0};
    uint64_t now = 0;
    for (size_t m = 0; m < lane->moments; m++) {
        const uint64_t bytes = lane->block[lane->order[m] >> 1].bytes;
        now = lane->order[m] & 1 ? now - bytes : now + bytes;
        peaks.allocated = now > peaks.allocated ? now : peaks.allocated;
    }
    if (options && plm_replay_lane(lane, options, &replay, NULL) == 0 && replay.completed)
        peaks.reserved = replay.stats.stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].peak;
    return peaks;
}

static uint64_t beyond(uint64_t more, uint64_t less)
{
    return more > less ? more - less : 0;
}

/* The settings of the job; false if the replay does not know them. */
static bool settings_of(const struct plm_summary *job, struct plm_replay_options *options)
{
    *options = (struct plm_replay_options){.capacity = UINT64_MAX, .total = UINT64_MAX};
    return plm_replay_settings(job, options) == 0 && !options->settings.async && options->settings.fraction < 0;
}

/* More workspace does not always reserve more: what is cached then may serve what comes later. So every replay counts
   for both ends. */
static void set_range(struct plm_job_conv_kept *kept, uint64_t is, const uint64_t other[VARIANTS])
{
    const uint64_t always = is / 100 * PER_CENT_ALWAYS;
    kept->low = kept->high = 0;
    for (int i = 0; i < VARIANTS; i++) {
        const uint64_t low = beyond(is, other[i]), high = beyond(other[i], is);
        kept->low = low > kept->low ? low : kept->low;
        kept->high = high > kept->high ? high : kept->high;
    }
    kept->low += always;
    kept->high += always;
}

static void weigh(const struct plm_summary *job, const struct plm_lane *lane, struct plm_job_conv_kept *kept)
{
    const struct plm_job_conv_marks *marks = lane->convolutions;
    struct plm_replay_options options;
    const struct plm_replay_options *how = settings_of(job, &options) ? &options : NULL;
    struct plm_lane first = *lane;
    struct peaks is, other[VARIANTS];
    uint64_t reserved[VARIANTS], allocated[VARIANTS];
    bool all;
    if (lane->blocks + marks->count >= UINT32_MAX / 4)
        return;
    first.moments = lane->moments < MOMENTS_MOST ? lane->moments : MOMENTS_MOST;
    is = replayed(&first, how);
    all = is.reserved;
    for (int i = 0; i < VARIANTS; i++) {
        struct changed c;
        change(&c, &first, marks, (enum workspaces)i);
        other[i] = replayed(&c.lane, how);
        free_changed(&c);
        reserved[i] = other[i].reserved;
        allocated[i] = other[i].allocated;
        all = all && reserved[i];
    }
    set_range(kept, all ? is.reserved : is.allocated, all ? reserved : allocated);
}

struct plm_fit_conv_range plm_fit_conv_range(const struct plm_job *job, const struct plm_lane *lane)
{
    const struct plm_job_conv_marks *marks = lane->convolutions;
    struct plm_job_conv_kept *kept = lane->kept;
    if (!marks || !marks->guessed)
        return (struct plm_fit_conv_range){0};
    pthread_mutex_lock(&kept->lock);
    if (!kept->weighed)
        weigh(&job->summary, lane, kept);
    kept->weighed = true;
    pthread_mutex_unlock(&kept->lock);
    return (struct plm_fit_conv_range){marks->guessed, kept->low, kept->high};
}

struct plm_fit_conv_range plm_fit_conv_range_most(const struct plm_job *job)
{
    struct plm_fit_conv_range most = {0};
    for (size_t i = 0; i < job->lanes; i++) {
        const struct plm_fit_conv_range r = plm_fit_conv_range(job, &job->lane[i]);
        most.guessed += r.guessed;
        if (r.low + r.high >= most.low + most.high) {
            most.low = r.low;
            most.high = r.high;
        }
    }
    return most;
}
