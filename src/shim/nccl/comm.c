/* Communicators: their making, their end, what they know and the device memory they hold. */
#include "shim/nccl/nccl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "device/device.h"
#include "device/footprint.h"
#include "shim/nccl/buffers.h"
#include "device/shim.h"

#define MAGIC 0x6c6d6d6fu

enum memory_stat { STAT_SUSPENDABLE, STAT_SUSPENDED, STAT_PERSISTENT, STAT_TOTAL };

struct plm_nccl_comm *plm_nccl_comm_check(struct plm_nccl_comm *comm)
{
    return comm && comm->magic == MAGIC ? comm : NULL;
}

/* A communicator like `model`. */
static int make(const struct plm_nccl_comm *model, struct plm_nccl_comm **out)
{
    struct plm_nccl_comm *comm;
    if (!out || model->size < 1 || model->rank < 0 || model->rank >= model->size)
        return PLM_NCCL_INVALID_ARGUMENT;
    comm = malloc(sizeof *comm);
    if (!comm)
        return PLM_NCCL_SYSTEM_ERROR;
    *comm = *model;
    comm->magic = MAGIC;
    comm->buffers = comm->buffer_bytes = comm->suspended_bytes = 0;
    comm->suspended = false;
    memset(comm->peer, 0, sizeof comm->peer);
    plm_footprint_library(comm->device, PLM_LIBRARY_NCCL);
    if (plm_nccl_connects_at_once() && plm_nccl_connect(comm)) {
        free(comm);
        return PLM_NCCL_CUDA_ERROR;
    }
    *out = comm;
    return PLM_NCCL_OK;
}

static int make_world(int size, int rank, int device, struct plm_nccl_comm **out)
{
    const struct plm_nccl_comm model = {.size = size, .rank = rank, .device = device, .size_known = true, .stride = 1};
    return make(&model, out);
}

PLM_API int ncclCommInitRank(struct plm_nccl_comm **out, int size, struct plm_nccl_id id, int rank)
{
    (void)id;
    return make_world(size, rank, plm_device_current(), out);
}

PLM_API int ncclCommInitRankConfig(struct plm_nccl_comm **out, int size, struct plm_nccl_id id, int rank)
{
    (void)id;
    return make_world(size, rank, plm_device_current(), out);
}

PLM_API int ncclCommInitRankScalable(struct plm_nccl_comm **out, int size, int rank)
{
    return make_world(size, rank, plm_device_current(), out);
}

static void destroy(struct plm_nccl_comm *comm)
{
    plm_nccl_disconnect(comm);
    comm->magic = 0;
    free(comm);
}

PLM_API int ncclCommInitAll(struct plm_nccl_comm **out, int count, const int *devices)
{
    if (!out || count < 1)
        return PLM_NCCL_INVALID_ARGUMENT;
    for (int i = 0; i < count; i++) {
        int device = devices ? devices[i] : i;
        int status = device < plm_device_count() ? make_world(count, i, device, &out[i]) : PLM_NCCL_INVALID_ARGUMENT;
        if (status) {
            while (i-- > 0)
                destroy(out[i]);
            return status;
        }
    }
    return PLM_NCCL_OK;
}

PLM_API int ncclCommSplit(struct plm_nccl_comm *parent, int color, int key, struct plm_nccl_comm **out)
{
    struct plm_nccl_comm child;
    if (!plm_nccl_comm_check(parent) || !out)
        return PLM_NCCL_INVALID_ARGUMENT;
    *out = NULL;
    if (color == PLM_NCCL_NO_COLOR)
        return PLM_NCCL_OK;
    child = *parent;
    child.size_known = plm_nccl_split_group(parent, color, key, &child);
    child.rank = key >= 0 && key < child.size ? key : parent->rank;
    return make(&child, out);
}

PLM_API int ncclCommShrink(struct plm_nccl_comm *parent, const int *excluded, int count, struct plm_nccl_comm **out)
{
    struct plm_nccl_comm child;
    if (!plm_nccl_comm_check(parent) || count < 0 || (count && !excluded))
        return PLM_NCCL_INVALID_ARGUMENT;
    child = *parent;
    child.size -= count;
    for (int i = 0; i < count; i++)
        child.rank -= excluded[i] < parent->rank;
    return make(&child, out);
}

/* An old member passes its communicator and no rank, a new one its rank and no communicator. */
PLM_API int ncclCommGrow(struct plm_nccl_comm *parent, int size, const struct plm_nccl_id *id, int rank,
                         struct plm_nccl_comm **out)
{
    (void)id;
    if (parent && !plm_nccl_comm_check(parent))
        return PLM_NCCL_INVALID_ARGUMENT;
    return make_world(size, parent ? parent->rank : rank, parent ? parent->device : plm_device_current(), out);
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
        comm->suspended_bytes = comm->buffer_bytes;
    comm->suspended = true;
    plm_nccl_disconnect(comm);
    return PLM_NCCL_OK;
}

PLM_API int ncclCommResume(struct plm_nccl_comm *comm)
{
    if (!plm_nccl_comm_check(comm))
        return PLM_NCCL_INVALID_ARGUMENT;
    comm->suspended = false;
    if (!comm->suspended_bytes)
        return PLM_NCCL_OK;
    comm->suspended_bytes = 0; /* connections with single peers come back with their next transfer */
    return plm_nccl_connect(comm);
}

PLM_API int ncclCommMemStats(struct plm_nccl_comm *comm, int stat, uint64_t *value)
{
    if (!plm_nccl_comm_check(comm) || !value || stat < STAT_SUSPENDABLE || stat > STAT_TOTAL)
        return PLM_NCCL_INVALID_ARGUMENT;
    const uint64_t values[] = {
        [STAT_SUSPENDABLE] = comm->buffer_bytes + comm->suspended_bytes,
        [STAT_SUSPENDED] = comm->suspended,
        [STAT_PERSISTENT] = 0,
        [STAT_TOTAL] = comm->buffer_bytes + comm->suspended_bytes,
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

PLM_API int ncclGetUniqueId(struct plm_nccl_id *id)
{
    if (!id)
        return PLM_NCCL_INVALID_ARGUMENT;
    return getrandom(id->bytes, sizeof id->bytes, 0) == (ssize_t)sizeof id->bytes ? PLM_NCCL_OK : PLM_NCCL_SYSTEM_ERROR;
}

PLM_API int ncclCommGetUniqueId(struct plm_nccl_comm *comm, struct plm_nccl_id *id)
{
    return plm_nccl_comm_check(comm) ? ncclGetUniqueId(id) : PLM_NCCL_INVALID_ARGUMENT;
}
