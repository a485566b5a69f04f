#include "fit/bounded.h"

#include "analysis/job.h"
#include "common/card.h"
#include "common/error.h"
#include "fit/ladder.h"
#include "fit/replay.h"

static uint64_t peak_of(const struct plm_replay *r, enum plm_allocator_stat stat)
{
    return r->stats.stat[stat][PLM_STAT_ALL].peak;
}

/* With memory in plenty the replay must repeat the record, or it says nothing about less. */
static bool lane_repeats(const struct plm_lane *lane, struct plm_replay_options options)
{
    struct plm_replay r;
    options.capacity = UINT64_MAX;
    options.settings.fraction = -1;
    return plm_replay_lane(lane, &options, &r, NULL) == 0 &&
           peak_of(&r, PLM_STAT_RESERVED_BYTES) == lane->summary->reserved_peak;
}

static int lane_bound(const struct plm_lane *lane, const struct plm_ladder *l, struct plm_replay_options options,
                      uint64_t usable, struct plm_bounded *b)
{
    const uint64_t outside = l->device_used - l->reserved;
    struct plm_replay r;
    *b = (struct plm_bounded){.completes = true,
                              .takes = l->device_used,
                              .would = l->device_used,
                              .allocated = l->allocated,
                              .reserved = l->reserved};
    if (l->high <= usable && options.settings.fraction < 0)
        return 0;
    options.capacity = usable > outside ? usable - outside : 0;
    if (!lane_repeats(lane, options) || plm_replay_lane(lane, &options, &r, NULL))
        return PLM_EINVAL;
    b->completes = r.completed;
    b->allocated = peak_of(&r, PLM_STAT_ALLOCATED_BYTES);
    b->reserved = peak_of(&r, PLM_STAT_RESERVED_BYTES);
    b->takes = b->reserved + outside;
    b->fallbacks = r.fallbacks;
    return 0;
}

int plm_bounded(const struct plm_job *job, const struct plm_card *card, uint64_t usable, struct plm_bounded *bounded)
{
    struct plm_replay_options options = {.total = card->memory_total};
    int status = job->lanes ? plm_replay_settings(&job->summary, &options) : PLM_EINVAL;
    struct plm_ladders ladders = plm_ladders_make(job);
    bool completes = true;
    *bounded = (struct plm_bounded){0};
    for (size_t i = 0; i < job->lanes && status == 0; i++) {
        const struct plm_ladder l = plm_ladders_on(&ladders, &job->lane[i], card);
        struct plm_bounded b;
        status = job->lane[i].summary->out_of_memory ? PLM_EINVAL : lane_bound(&job->lane[i], &l, options, usable, &b);
        if (status)
            break;
        completes = completes && b.completes;
        if (b.takes > bounded->takes)
            *bounded = b;
    }
    bounded->completes = completes;
    plm_ladders_free(&ladders);
    return status;
}
