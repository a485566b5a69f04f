/* Communicators: their making, their end, what they know and the device memory they hold. */
#include "shim/nccl/nccl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "device/device.h"
#include "device/footprint.h"
#include "device/groups.h"
#include "shim/nccl/buffers.h"
#include "shim/nccl/exchange.h"
#include "shim/nccl/rules.h"
#include "device/shim.h"

#define MAGIC 0x6c6d6d6fu

enum memory_stat { STAT_SUSPENDABLE, STAT_SUSPENDED, STAT_PERSISTENT, STAT_TOTAL };

struct plm_nccl_comm *plm_nccl_comm_check(struct plm_nccl_comm *comm)
{
    return comm && comm->magic == MAGIC ? comm : NULL;
}

int plm_nccl_job_rank(const struct plm_nccl_comm *comm, int place)
{
    return comm->group ? (int)comm->group->rank[place] : comm->first + place * comm->stride;
}

/* A communicator like `model`, which was split off `parent` if that is given. */
static int make(const struct plm_nccl_comm *model, const struct plm_nccl_comm *parent,
                const struct plm_nccl_config *config, struct plm_nccl_comm **out)
{
    struct plm_nccl_comm *comm;
    int status;
    if (!out || model->size < 1 || model->rank < 0 || model->rank >= model->size)
        return PLM_NCCL_INVALID_ARGUMENT;
    comm = malloc(sizeof *comm);
    if (!comm)
        return PLM_NCCL_SYSTEM_ERROR;
    *comm = *model;
    comm->magic = MAGIC;
    comm->suspended = false;
    comm->collectives = comm->splits = 0;
    comm->singles = NULL;
    plm_footprint_library(comm->device, PLM_LIBRARY_NCCL);
    status = plm_nccl_memory_open(comm, parent, config);
    if (status) {
        free(comm);
        return status;
    }
    *out = comm;
    return PLM_NCCL_OK;
}

/* `id` is the same for all members. PyTorch knows the group by where it keeps the `config`; NULL if there is none. */
static int make_world(int size, int rank, int device, const struct plm_nccl_id *id,
                      const struct plm_nccl_config *config, struct plm_nccl_comm **out)
{
    const struct plm_group *making = plm_group_making();
    const bool of_making = making && making->size == size && making->place == rank;
    const struct plm_nccl_comm model = {.size = size,
                                        .rank = rank,
                                        .device = device,
                                        .size_known = true,
                                        .group = of_making ? making : plm_group_find(config, size, rank),
                                        .stride = 1};
    int status = make(&model, NULL, config, out);
    if (!status)
        plm_nccl_exchange_begin(*out, id, sizeof *id);
    return status;
}

/* The same, of members that are made by one process each. */
static int make_member(int size, int rank, const struct plm_nccl_id *id, const struct plm_nccl_config *config,
                       struct plm_nccl_comm **out)
{
    int status = make_world(size, rank, plm_device_current(), id, config, out);
    if (!status)
        plm_nccl_exchange_meet(*out);
    return status;
}

PLM_API int ncclCommInitRank(struct plm_nccl_comm **out, int size, struct plm_nccl_id id, int rank)
{
    return make_member(size, rank, &id, NULL, out);
}

PLM_API int ncclCommInitRankConfig(struct plm_nccl_comm **out, int size, struct plm_nccl_id id, int rank,
                                   const struct plm_nccl_config *config)
{
    return make_member(size, rank, &id, config, out);
}

static const struct plm_nccl_id no_id;

/* Several ids share the work of the start; the first is as good as all. */
PLM_API int ncclCommInitRankScalable(struct plm_nccl_comm **out, int size, int rank, int ids,
                                     const struct plm_nccl_id *id, const struct plm_nccl_config *config)
{
    return make_member(size, rank, ids > 0 && id ? id : &no_id, config, out);
}

static void destroy(struct plm_nccl_comm *comm)
{
    plm_nccl_exchange_end(comm);
    plm_nccl_memory_close(comm);
    comm->magic = 0;
    free(comm);
}

PLM_API int ncclGetUniqueId(struct plm_nccl_id *id)
{
    if (!id)
        return PLM_NCCL_INVALID_ARGUMENT;
    return getrandom(id->bytes, sizeof id->bytes, 0) == (ssize_t)sizeof id->bytes ? PLM_NCCL_OK : PLM_NCCL_SYSTEM_ERROR;
}

PLM_API int ncclCommInitAll(struct plm_nccl_comm **out, int count, const int *devices)
{
    struct plm_nccl_id id;
    if (!out || count < 1)
        return PLM_NCCL_INVALID_ARGUMENT;
    if (ncclGetUniqueId(&id))
        return PLM_NCCL_SYSTEM_ERROR;
    for (int i = 0; i < count; i++) {
        int device = devices ? devices[i] : i;
        int status =
            device < plm_device_count() ? make_world(count, i, device, &id, NULL, &out[i]) : PLM_NCCL_INVALID_ARGUMENT;
        if (status) {
            while (i-- > 0)
                destroy(out[i]);
            return status;
        }
    }
    return PLM_NCCL_OK;
}

PLM_API int ncclCommSplit(struct plm_nccl_comm *parent, int color, int key, struct plm_nccl_comm **out,
                          const struct plm_nccl_config *config)
{
    struct plm_nccl_comm child;
    int status = PLM_NCCL_OK;
    if (!plm_nccl_comm_check(parent) || !out)
        return PLM_NCCL_INVALID_ARGUMENT;
    *out = NULL;
    if (color != PLM_NCCL_NO_COLOR) {
        child = *parent;
        child.size_known = plm_nccl_split_group(parent, color, key, &child);
        child.rank = key >= 0 && key < child.size ? key : parent->rank;
        status = make(&child, parent, config, out);
    }
    plm_nccl_exchange_split(parent, *out, color);
    if (*out)
        plm_nccl_exchange_meet(*out);
    return status;
}

PLM_API int ncclCommShrink(struct plm_nccl_comm *parent, const int *excluded, int count, struct plm_nccl_comm **out,
                           const struct plm_nccl_config *config)
{
    struct plm_nccl_comm child;
    int status;
    if (!plm_nccl_comm_check(parent) || count < 0 || (count && !excluded))
        return PLM_NCCL_INVALID_ARGUMENT;
    child = *parent;
    child.group = NULL;
    child.size -= count;
    for (int i = 0; i < count; i++)
        child.rank -= excluded[i] < parent->rank;
    status = make(&child, NULL, config, out);
    if (!status)
        plm_nccl_exchange_split(parent, *out, count);
    return status;
}

/* An old member passes its communicator and no rank, a new one its rank and no communicator. */
PLM_API int ncclCommGrow(struct plm_nccl_comm *parent, int size, const struct plm_nccl_id *id, int rank,
                         struct plm_nccl_comm **out, const struct plm_nccl_config *config)
{
    if (parent && !plm_nccl_comm_check(parent))
        return PLM_NCCL_INVALID_ARGUMENT;
    return make_world(size, parent ? parent->rank : rank, parent ? parent->device : plm_device_current(),
                      id ? id : &no_id, config, out);
}

PLM_API int ncclCommDestroy(struct plm_nccl_comm *comm)
{
    if (!comm)
        return PLM_NCCL_OK;
    if (!plm_nccl_comm_check(comm))
        return PLM_NCCL_INVALID_ARGUMENT;
    destroy(comm);
    return PLM_NCCL_OK;
}

PLM_API int ncclCommAbort(struct plm_nccl_comm *comm)
{
    return ncclCommDestroy(comm);
}

PLM_API int ncclCommSuspend(struct plm_nccl_comm *comm, int flags)
{
    (void)flags; /* memory is the only thing that can be suspended */
    if (!plm_nccl_comm_check(comm))
        return PLM_NCCL_INVALID_ARGUMENT;
    if (!comm->suspended)
        plm_nccl_memory_suspend(comm);
    comm->suspended = true;
    return PLM_NCCL_OK;
}

PLM_API int ncclCommResume(struct plm_nccl_comm *comm)
{
    if (!plm_nccl_comm_check(comm))
        return PLM_NCCL_INVALID_ARGUMENT;
    if (!comm->suspended)
        return PLM_NCCL_OK;
    comm->suspended = false;
    return plm_nccl_memory_resume(comm);
}

PLM_API int ncclCommMemStats(struct plm_nccl_comm *comm, int stat, uint64_t *value)
{
    if (!plm_nccl_comm_check(comm) || !value || stat < STAT_SUSPENDABLE || stat > STAT_TOTAL)
        return PLM_NCCL_INVALID_ARGUMENT;
    const uint64_t values[] = {
        [STAT_SUSPENDABLE] = plm_nccl_memory_bytes(comm),
        [STAT_SUSPENDED] = comm->suspended,
        [STAT_PERSISTENT] = 0,
        [STAT_TOTAL] = plm_nccl_memory_bytes(comm),
    };
    *value = values[stat];
    return PLM_NCCL_OK;
}

PLM_API int ncclCommCount(struct plm_nccl_comm *comm, int *count)
{
    if (!plm_nccl_comm_check(comm) || !count)
        return PLM_NCCL_INVALID_ARGUMENT;
    *count = comm->size;
    return PLM_NCCL_OK;
}

PLM_API int ncclCommCuDevice(struct plm_nccl_comm *comm, int *device)
{
    if (!plm_nccl_comm_check(comm) || !device)
        return PLM_NCCL_INVALID_ARGUMENT;
    *device = comm->device;
    return PLM_NCCL_OK;
}

PLM_API int ncclCommUserRank(struct plm_nccl_comm *comm, int *rank)
{
    if (!plm_nccl_comm_check(comm) || !rank)
        return PLM_NCCL_INVALID_ARGUMENT;
    *rank = comm->rank;
    return PLM_NCCL_OK;
}

PLM_API int ncclCommGetUniqueId(struct plm_nccl_comm *comm, struct plm_nccl_id *id)
{
    return plm_nccl_comm_check(comm) ? ncclGetUniqueId(id) : PLM_NCCL_INVALID_ARGUMENT;
}
