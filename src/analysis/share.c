/*
 * Processes that use one card at the same time: ranks that forgot to choose their device, actors beside a learner. Each has
 * an allocator and a context of its own, and the card holds all of them.
 */
#include <stdlib.h>

#include "analysis/job.h"
#include "base/memory.h"

/* Whether two lanes are of one card. Ranks of a world that are run one by one have it to themselves, whenever they ran. */
static bool on_one_card(const struct plm_lane *a, const struct plm_lane *b)
{
    const struct plm_summary_device *x = a->summary, *y = b->summary;
    return x->card && x->card == y->card && (x->rank == y->rank || !x->solo);
}

bool plm_lanes_share(const struct plm_lane *a, const struct plm_lane *b)
{
    const struct plm_summary_device *x = a->summary, *y = b->summary;
    return on_one_card(a, b) && x->process != y->process && x->first_ns < y->last_ns && y->first_ns < x->last_ns;
}

/* Memory of the card that is taken or given back. */
struct change {
    uint64_t ns, bytes;
    bool taken;
};

static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (int)x->taken - (int)y->taken; /* what ends just then makes room first */
}

/* A process that has ended holds nothing. */
static size_t lane_changes(const struct plm_lane *lane, struct change *change)
{
    const uint64_t end = lane->summary->last_ns;
    for (size_t i = 0; i < lane->segments; i++) {
        const struct plm_lane_segment *s = &lane->segment[i];
        change[2 * i] = (struct change){s->alloc_ns, s->bytes, true};
        change[2 * i + 1] = (struct change){s->free_ns < end ? s->free_ns : end, s->bytes, false};
    }
    return 2 * lane->segments;
}

static uint64_t changes_peak(struct change *change, size_t count)
{
    uint64_t now = 0, most = 0;
    qsort(change, count, sizeof *change, by_time);
    for (size_t i = 0; i < count; i++) {
        now = change[i].taken ? now + change[i].bytes : now - (change[i].bytes < now ? change[i].bytes : now);
        most = now > most ? now : most;
    }
    return most;
}

static uint64_t card_peak(const struct plm_job *job, const struct plm_lane *lane)
{
    struct change *change;
    size_t count = 0;
    uint64_t most;
    for (size_t i = 0; i < job->lanes; i++)
        count += on_one_card(lane, &job->lane[i]) ? 2 * job->lane[i].segments : 0;
    change = plm_calloc(count + 1, sizeof *change);
    count = 0;
    for (size_t i = 0; i < job->lanes; i++)
        if (on_one_card(lane, &job->lane[i]))
            count += lane_changes(&job->lane[i], change + count);
    most = changes_peak(change, count);
    free(change);
    return most;
}

static bool lane_shares(const struct plm_job *job, const struct plm_lane *lane)
{
    for (size_t i = 0; i < job->lanes; i++)
        if (plm_lanes_share(lane, &job->lane[i]))
            return true;
    return false;
}

void plm_job_share(struct plm_job *job)
{
    for (size_t i = 0; i < job->lanes; i++) {
        struct plm_lane *lane = &job->lane[i];
        if (!lane_shares(job, lane))
            continue;
        for (size_t k = 0; k < i && !lane->together; k++)
            if (on_one_card(lane, &job->lane[k]))
                lane->together = job->lane[k].together;
        if (!lane->together)
            lane->together = card_peak(job, lane);
    }
}
