/*
 * How large is the group of a split? The call does not say: real ranks find out by talking to each
 * other. There are two ways to know without peers:
 *
 * The hook tells. It names the group that PyTorch makes before the group's communicator is split off
 * (src/device/groups.h).
 *
 * Or the colour tells. In many releases of PyTorch it is a hash of the group's ranks, and groups of
 * training jobs are regular: neighbours, or every k-th rank. So the regular groups in which the caller
 * stands at place `key` are hashed until one gives the colour. An irregular group, and colours made in
 * another way (PyTorch 2.15 takes the group's first rank), are not recognised; the caller then assumes
 * the parent's size.
 */
#include "shim/nccl/nccl.h"

#include "device/groups.h"

/* A hash that is extended rank by rank and finished at any length. */
struct convention {
    uint64_t start;
    uint64_t (*extend)(uint64_t hash, uint64_t rank);
    int (*finish)(uint64_t hash, uint64_t count);
    bool job_ranks; /* ranks of the job, or places in the parent */
};

static uint64_t magnitude(uint64_t hash)
{
    return (int64_t)hash < 0 ? -hash : hash;
}

/* torch.distributed.new_group: Python's hash of a tuple of integers, modulo 2^31. */
#define TUPLE_1 11400714785074694791ull
#define TUPLE_2 14029467366897019727ull
#define TUPLE_5 2870177450012600261ull

static uint64_t tuple_extend(uint64_t hash, uint64_t rank)
{
    hash += rank * TUPLE_2;
    hash = hash << 31 | hash >> 33;
    return hash * TUPLE_1;
}

static int tuple_finish(uint64_t hash, uint64_t count)
{
    hash += count ^ (TUPLE_5 ^ 3527539ull);
    if (hash == UINT64_MAX)
        hash = 1546275796;
    return (int)(magnitude(hash) % (1ull << 31));
}

/* ProcessGroupNCCL::split: a fold over the places, modulo the largest int. */
static uint64_t fold_extend(uint64_t hash, uint64_t rank)
{
    return hash ^ (rank + 0x9e3779b9ull + (hash << 6) + (hash >> 2));
}

static int fold_finish(uint64_t hash, uint64_t count)
{
    (void)count;
    return (int)(magnitude(hash) % INT32_MAX);
}

static const struct convention conventions[] = {
    {TUPLE_5, tuple_extend, tuple_finish, true},
    {0, fold_extend, fold_finish, false},
};

/* The number of members of the group that starts at `start` of the parent, or 0 if none gives `color`. */
static int match(const struct convention *c, const struct plm_nccl_comm *parent, int start, int step, int color,
                 int key)
{
    uint64_t hash = c->start;
    for (int i = 0, place = start; place < parent->size; i++, place += step) {
        int rank = c->job_ranks ? plm_nccl_job_rank(parent, place) : place;
        hash = c->extend(hash, (uint64_t)rank);
        if (i >= key && c->finish(hash, (uint64_t)i + 1) == color)
            return i + 1;
    }
    return 0;
}

static bool recognise(const struct plm_nccl_comm *parent, int color, int key, struct plm_nccl_comm *child)
{
    if (!parent->size_known)
        return false;
    for (int step = 1; step <= parent->size; step++) {
        int64_t start = parent->rank - (int64_t)key * step;
        for (size_t c = 0; start >= 0 && c < sizeof conventions / sizeof conventions[0]; c++) {
            int size = match(&conventions[c], parent, (int)start, step, color, key);
            if (!size)
                continue;
            child->size = size;
            child->first = plm_nccl_job_rank(parent, (int)start);
            child->stride = size > 1 ? plm_nccl_job_rank(parent, (int)start + step) - child->first : 1;
            return true;
        }
    }
    return false;
}

bool plm_nccl_split_group(const struct plm_nccl_comm *parent, int color, int key, struct plm_nccl_comm *child)
{
    const struct plm_group *group = plm_group_making();
    child->group = NULL;
    if (key < 0)
        return false;
    if (!group || key >= group->size || group->size > parent->size)
        return recognise(parent, color, key, child);
    child->group = group;
    child->size = group->size;
    return true;
}
