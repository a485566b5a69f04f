/* Communicators: their making, their end, what they know and the device memory they hold. */
#include "shim/nccl/nccl.h"

#include <stdlib.h>
#include <sys/random.h>

#include "device/device.h"
#include "shim/shim.h"

#define MAGIC 0x6c6d6d6fu

/* Device memory of a communicator, modelled: buffers of the three protocols for each channel and
   connection. Real numbers of channels depend on the machine's topology, which is not known here; two
   channels and a ring's two neighbours are the low end. */
enum { CHANNELS = 2, RING_CONNECTIONS = 2 };
#define SIMPLE_BYTES (4096ull << 10)
#define LL_BYTES     (512ull << 10)
#define LL128_BYTES  (4800ull << 10)

enum memory_stat { STAT_SUSPENDABLE, STAT_SUSPENDED, STAT_PERSISTENT, STAT_TOTAL };

struct plm_nccl_comm *plm_nccl_comm_check(struct plm_nccl_comm *comm)
{
    return comm && comm->magic == MAGIC ? comm : NULL;
}

static int take_buffers(struct plm_nccl_comm *comm)
{
    if (!comm->buffer_bytes || comm->buffers)
        return PLM_NCCL_OK;
    if (plm_mem_library(comm->device, "nccl", comm->buffer_bytes, &comm->buffers))
        return PLM_NCCL_CUDA_ERROR;
    return PLM_NCCL_OK;
}

static void drop_buffers(struct plm_nccl_comm *comm)
{
    if (comm->buffers)
        plm_mem_free(comm->buffers);
    comm->buffers = 0;
}

/* A communicator like `model`, with the memory its size asks for. */
static int make(const struct plm_nccl_comm *model, struct plm_nccl_comm **out)
{
    struct plm_nccl_comm *comm;
    int connections = model->size > 1 ? RING_CONNECTIONS : 0;
    if (!out || model->size < 1 || model->rank < 0 || model->rank >= model->size)
        return PLM_NCCL_INVALID_ARGUMENT;
    comm = malloc(sizeof *comm);
    if (!comm)
        return PLM_NCCL_SYSTEM_ERROR;
    *comm = *model;
    comm->magic = MAGIC;
    comm->buffers = 0;
    comm->buffer_bytes = (uint64_t)CHANNELS * (uint64_t)connections * (SIMPLE_BYTES + LL_BYTES + LL128_BYTES);
    if (take_buffers(comm)) {
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
    drop_buffers(comm);
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
    drop_buffers(comm);
    return PLM_NCCL_OK;
}

PLM_API int ncclCommResume(struct plm_nccl_comm *comm)
{
    return plm_nccl_comm_check(comm) ? take_buffers(comm) : PLM_NCCL_INVALID_ARGUMENT;
}

PLM_API int ncclCommMemStats(struct plm_nccl_comm *comm, int stat, uint64_t *value)
{
    if (!plm_nccl_comm_check(comm) || !value || stat < STAT_SUSPENDABLE || stat > STAT_TOTAL)
        return PLM_NCCL_INVALID_ARGUMENT;
    const uint64_t values[] = {
        [STAT_SUSPENDABLE] = comm->buffer_bytes,
        [STAT_SUSPENDED] = comm->buffer_bytes && !comm->buffers,
        [STAT_PERSISTENT] = 0,
        [STAT_TOTAL] = comm->buffer_bytes,
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
