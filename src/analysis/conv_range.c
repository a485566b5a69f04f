#include "analysis/conv_range.h"

#include <stdlib.h>
#include <string.h>

#include "fit/replay.h"
#include "analysis/job.h"
#include "base/memory.h"
#include "base/error.h"

/* Three replays of more than that would keep the reader waiting, and the steps of a job repeat each other. */
enum { MOMENTS_MOST = 1000000 };
#define NO_BLOCK UINT32_MAX
#define MIB      (1ull << 20)

/* The workspace is what was taken just before; with a benchmark, one for all plans that are tried. */
static uint32_t workspace_block(const struct plm_lane *lane, uint64_t bytes)
{
    uint32_t entry = lane->moments ? lane->order[lane->moments - 1] : 1;
    if (!bytes || entry & 1 || lane->block[entry >> 1].bytes < bytes)
        return NO_BLOCK;
    return entry >> 1;
}

int plm_conv_range_visit(struct plm_conv_marks *m, const struct plm_lane *lane, const struct plm_record_event *e)
{
    struct plm_conv_mark mark, *more, *last = m->count ? &m->mark[m->count - 1] : NULL;
    if (e->count < 6 || (e->words[4] >> 32 & 0xff) != PLM_CONV_SOURCE_FORMULA)
        return 0;
    mark =
        (struct plm_conv_mark){(uint32_t)lane->moments, workspace_block(lane, e->words[5]), (e->words[4] >> 48) * MIB};
    if (last && last->at == mark.at) { /* tried one after another */
        last->block = last->block == NO_BLOCK ? mark.block : last->block;
        last->most = last->most > mark.most ? last->most : mark.most;
        return 0;
    }
    more = plm_grow(m->mark, m->count, &m->room, sizeof *more);
    if (!more)
        return PLM_ENOMEM;
    m->mark = more;
    m->mark[m->count++] = mark;
    return 0;
}

/* ---- a lane with other workspaces ---- */

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

static int make_room(struct changed *c, const struct plm_lane *lane, size_t marks)
{
    *c = (struct changed){.lane = {.blocks = lane->blocks, .segments = lane->segments}};
    c->lane.block = calloc(lane->blocks + marks + 1, sizeof *c->lane.block);
    c->lane.order = calloc(lane->moments + 2 * marks + 1, sizeof *c->lane.order);
    c->lane.segment = calloc(lane->segments + 1, sizeof *c->lane.segment);
    c->moved = calloc(lane->moments + 1, sizeof *c->moved);
    if (!c->lane.block || !c->lane.order || !c->lane.segment || !c->moved)
        return PLM_ENOMEM;
    if (lane->blocks)
        memcpy(c->lane.block, lane->block, lane->blocks * sizeof *lane->block);
    if (lane->segments)
        memcpy(c->lane.segment, lane->segment, lane->segments * sizeof *lane->segment);
    return 0;
}

/* Where there was no workspace, one comes and goes, in the stream of what was taken or freed before. */
static void insert(struct changed *c, uint64_t bytes)
{
    uint32_t index = (uint32_t)c->lane.blocks++;
    const struct plm_block *before =
        c->lane.moments ? &c->lane.block[c->lane.order[c->lane.moments - 1] >> 1] : &c->lane.block[index];
    c->lane.block[index] = (struct plm_block){.bytes = bytes, .stream = before->stream, .captured = before->captured};
    c->lane.order[c->lane.moments++] = index << 1;
    c->lane.order[c->lane.moments++] = index << 1 | 1;
}

static void resize(struct changed *c, const struct plm_conv_marks *marks, bool most)
{
    for (size_t i = 0; i < marks->count; i++) {
        const struct plm_conv_mark *m = &marks->mark[i];
        if (m->block == NO_BLOCK)
            continue;
        if (!most)
            c->lane.block[m->block].bytes = 0;
        else if (c->lane.block[m->block].bytes < m->most)
            c->lane.block[m->block].bytes = c->lane.block[m->block].asked = m->most;
    }
}

static int change(struct changed *c, const struct plm_lane *lane, const struct plm_conv_marks *marks, bool most)
{
    size_t next = 0;
    if (make_room(c, lane, marks->count))
        return PLM_ENOMEM;
    resize(c, marks, most);
    for (size_t m = 0; m <= lane->moments; m++) {
        for (; next < marks->count && marks->mark[next].at <= m; next++)
            if (most && marks->mark[next].block == NO_BLOCK && marks->mark[next].most)
                insert(c, marks->mark[next].most);
        c->moved[m] = (uint32_t)c->lane.moments;
        if (m < lane->moments && c->lane.block[lane->order[m] >> 1].bytes)
            c->lane.order[c->lane.moments++] = lane->order[m];
    }
    for (size_t i = 0; i < c->lane.segments; i++) {
        struct plm_segment *s = &c->lane.segment[i];
        s->alloc_at = s->alloc_at <= lane->moments ? c->moved[s->alloc_at] : s->alloc_at;
        s->free_at = s->free_at <= lane->moments ? c->moved[s->free_at] : s->free_at;
    }
    return 0;
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

/* The settings of the job; false if the simulator does not know them. */
static bool settings_of(const struct plm_summary *job, struct plm_replay_options *options)
{
    const char *torch = plm_summary_config(job, "torch"), *allocator = plm_summary_config(job, "allocator");
    *options = (struct plm_replay_options){
        .torch = plm_torch_version(torch ? torch : ""), .capacity = UINT64_MAX, .total = UINT64_MAX};
    if (allocator && !strcmp(allocator, "default"))
        allocator = NULL;
    return plm_allocator_settings_parse(allocator, options->torch, &options->settings, NULL) == 0 &&
           !options->settings.async && options->settings.fraction < 0;
}

/* More workspace does not always reserve more: what is cached then may serve what comes later. So both replays count for
   both ends. */
static void set_range(struct plm_device_summary *summary, uint64_t is, uint64_t without, uint64_t with)
{
    summary->conv_low = beyond(is, without < with ? without : with);
    summary->conv_high = beyond(without > with ? without : with, is);
}

void plm_conv_range_lane(const struct plm_summary *job, const struct plm_lane *lane, struct plm_conv_marks *marks,
                         struct plm_device_summary *summary)
{
    struct plm_replay_options options;
    const struct plm_replay_options *how = settings_of(job, &options) ? &options : NULL;
    struct changed none = {0}, most = {0};
    struct plm_lane first = *lane;
    first.moments = lane->moments < MOMENTS_MOST ? lane->moments : MOMENTS_MOST;
    if (marks->count && lane->blocks + marks->count < UINT32_MAX / 4 && !change(&none, &first, marks, false) &&
        !change(&most, &first, marks, true)) {
        struct peaks is = replayed(&first, how), low = replayed(&none.lane, how), high = replayed(&most.lane, how);
        bool all = is.reserved && low.reserved && high.reserved;
        set_range(summary, all ? is.reserved : is.allocated, all ? low.reserved : low.allocated,
                  all ? high.reserved : high.allocated);
    }
    summary->conv_guessed = marks->count;
    free_changed(&none);
    free_changed(&most);
    free(marks->mark);
    *marks = (struct plm_conv_marks){0};
}

void plm_conv_range_widen(const struct plm_device_summary *summary, uint64_t *low, uint64_t *high)
{
    *low = beyond(*low, summary->conv_low);
    *high += summary->conv_high;
}

bool plm_conv_range_most(const struct plm_summary *job, uint64_t *guessed, uint64_t *low, uint64_t *high)
{
    *guessed = *low = *high = 0;
    for (int i = 0; i < job->devices; i++) {
        const struct plm_device_summary *d = &job->device[i];
        *guessed += d->conv_guessed;
        if (d->conv_low + d->conv_high >= *low + *high) {
            *low = d->conv_low;
            *high = d->conv_high;
        }
    }
    return *guessed > 0;
}
