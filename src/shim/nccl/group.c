/*
 * Groups. Most collectives are answered on the spot. But an all-gather may come as one broadcast per
 * root, and an all-to-all as sends and receives, all in one group; what a peer would contribute is then
 * known only when this rank's own part of the group has been seen. Such transfers wait for the end of
 * the group, of the inner one if groups are nested. A group belongs to its thread.
 */
#include <stdlib.h>

#include "shim/nccl/nccl.h"
#include "device/device.h"
#include "device/shim.h"

struct transfer {
    void *to;
    const void *from; /* if this rank contributes nothing: what the call itself says, or NULL */
    size_t bytes;
    enum plm_nccl_transfer kind;
};

static _Thread_local struct {
    int depth;
    uint64_t since; /* kernels that had been launched when it began */
    size_t count, room;
    struct transfer *waiting;
    struct {
        const void *from;
        size_t bytes;
    } own[PLM_NCCL_TRANSFERS];
} group;

static void complete(const struct transfer *t)
{
    const void *own = group.own[t->kind].from;
    size_t most = group.own[t->kind].bytes;
    plm_nccl_move(t->to, own ? own : t->from, own && most < t->bytes ? most : t->bytes);
}

bool plm_nccl_in_group(void)
{
    return group.depth != 0;
}

uint64_t plm_nccl_group_since(void)
{
    return group.depth ? group.since : plm_launch_count();
}

void plm_nccl_own_part(enum plm_nccl_transfer kind, const void *from, size_t bytes)
{
    if (!group.depth)
        return;
    group.own[kind].from = from;
    group.own[kind].bytes = bytes;
}

void plm_nccl_peer_part(enum plm_nccl_transfer kind, void *to, const void *from, size_t bytes)
{
    const struct transfer t = {to, from, bytes, kind};
    if (group.depth && group.count == group.room) {
        size_t room = group.room ? 2 * group.room : 64;
        struct transfer *more = realloc(group.waiting, room * sizeof *more);
        if (more) {
            group.waiting = more;
            group.room = room;
        }
    }
    if (group.depth && group.count < group.room)
        group.waiting[group.count++] = t;
    else
        complete(&t);
}

static void end(void)
{
    for (size_t i = 0; i < group.count; i++)
        complete(&group.waiting[i]);
    group.count = 0;
    for (int kind = 0; kind < PLM_NCCL_TRANSFERS; kind++)
        group.own[kind].from = NULL;
    if (--group.depth)
        return;
    free(group.waiting);
    group.waiting = NULL;
    group.room = 0;
}

PLM_API int ncclGroupStart(void)
{
    if (!group.depth++)
        group.since = plm_launch_count();
    return PLM_NCCL_OK;
}

PLM_API int ncclGroupEnd(void)
{
    if (!group.depth)
        return PLM_NCCL_INVALID_USAGE;
    end();
    return PLM_NCCL_OK;
}

/* The simulation's result, after three words that the caller fills in. */
struct plm_nccl_estimate {
    size_t size;
    unsigned magic, version;
    float microseconds;
};

/* Ends a group, and says how long its work would take: not known, 0. */
PLM_API int ncclGroupSimulateEnd(struct plm_nccl_estimate *estimate)
{
    if (!group.depth)
        return PLM_NCCL_INVALID_USAGE;
    end();
    if (estimate)
        estimate->microseconds = 0;
    return PLM_NCCL_OK;
}
