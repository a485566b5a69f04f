/*
 * Collectives and point-to-point: one launch each, and the data movement as far as this process holds
 * it. Peers are assumed to contribute what this rank does, so a reduction leaves this rank's data and
 * a gather repeats them; what is received from a peer is what this rank sends to itself in the same
 * group, or unknown and left alone.
 */
#include "shim/nccl/nccl.h"

#include "device/device.h"
#include "device/stream.h"
#include "shim/shim.h"

/* Bytes of an element, by NCCL's data type number; 0 is unknown. */
static const unsigned char type_bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

struct call {
    struct plm_nccl_comm *comm;
    size_t bytes; /* of one rank's contribution */
};

static int begin(struct call *call, struct plm_nccl_comm *comm, size_t count, int type, struct plm_stream *stream)
{
    if (!plm_nccl_comm_check(comm) || type < 0 || (size_t)type >= sizeof type_bytes)
        return PLM_NCCL_INVALID_ARGUMENT;
    call->comm = comm;
    if (__builtin_mul_overflow(count, (size_t)type_bytes[type], &call->bytes))
        return PLM_NCCL_INVALID_ARGUMENT;
    plm_launch(NULL);
    plm_stream_work(stream);
    return PLM_NCCL_OK;
}

void plm_nccl_move(void *to, const void *from, size_t bytes)
{
    if (to && from && to != from && bytes)
        plm_copy(to, from, bytes);
}

/* `from` into every slot of `to`. Where the group's size is only assumed, slots after this rank's may
   lie beyond the buffer and are left alone. */
static void repeat(const struct call *call, char *to, const void *from)
{
    int slots = call->comm->size_known ? call->comm->size : call->comm->rank + 1;
    for (int i = 0; to && i < slots; i++)
        plm_nccl_move(to + (size_t)i * call->bytes, from, call->bytes);
}

static const void *own_slot(const struct call *call, const char *from)
{
    return from ? from + (size_t)call->comm->rank * call->bytes : NULL;
}

PLM_API int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, struct plm_nccl_comm *comm,
                          struct plm_stream *stream)
{
    struct call call;
    int status = begin(&call, comm, count, type, stream);
    (void)op;
    if (!status)
        plm_nccl_move(to, from, call.bytes);
    return status;
}

PLM_API int ncclReduce(const void *from, void *to, size_t count, int type, int op, int root, struct plm_nccl_comm *comm,
                       struct plm_stream *stream)
{
    struct call call;
    int status = begin(&call, comm, count, type, stream);
    (void)op;
    if (!status && root == comm->rank)
        plm_nccl_move(to, from, call.bytes);
    return status;
}

PLM_API int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, struct plm_nccl_comm *comm,
                              struct plm_stream *stream)
{
    struct call call;
    int status = begin(&call, comm, count, type, stream);
    (void)op;
    if (!status)
        plm_nccl_move(to, own_slot(&call, from), call.bytes);
    return status;
}

PLM_API int ncclAllGather(const void *from, void *to, size_t count, int type, struct plm_nccl_comm *comm,
                          struct plm_stream *stream)
{
    struct call call;
    int status = begin(&call, comm, count, type, stream);
    if (!status)
        repeat(&call, to, from);
    return status;
}

/* One broadcast of each root in a group is an all-gather. */
PLM_API int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, struct plm_nccl_comm *comm,
                          struct plm_stream *stream)
{
    struct call call;
    int status = begin(&call, comm, count, type, stream);
    if (status)
        return status;
    if (root != comm->rank) {
        plm_nccl_peer_part(PLM_NCCL_BROADCAST, to, from, call.bytes);
        return status;
    }
    plm_nccl_own_part(PLM_NCCL_BROADCAST, from, call.bytes);
    plm_nccl_move(to, from, call.bytes);
    return status;
}

PLM_API int ncclBcast(void *buffer, size_t count, int type, int root, struct plm_nccl_comm *comm,
                      struct plm_stream *stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

PLM_API int ncclAlltoAll(const void *from, void *to, size_t count, int type, struct plm_nccl_comm *comm,
                         struct plm_stream *stream)
{
    struct call call;
    int status = begin(&call, comm, count, type, stream);
    if (!status)
        repeat(&call, to, own_slot(&call, from));
    return status;
}

PLM_API int ncclGather(const void *from, void *to, size_t count, int type, int root, struct plm_nccl_comm *comm,
                       struct plm_stream *stream)
{
    struct call call;
    int status = begin(&call, comm, count, type, stream);
    if (!status && root == comm->rank)
        repeat(&call, to, from);
    return status;
}

PLM_API int ncclScatter(const void *from, void *to, size_t count, int type, int root, struct plm_nccl_comm *comm,
                        struct plm_stream *stream)
{
    struct call call;
    int status = begin(&call, comm, count, type, stream);
    if (!status && root == comm->rank)
        plm_nccl_move(to, own_slot(&call, from), call.bytes);
    return status;
}

PLM_API int ncclSend(const void *from, size_t count, int type, int peer, struct plm_nccl_comm *comm,
                     struct plm_stream *stream)
{
    struct call call;
    int status = begin(&call, comm, count, type, stream);
    if (!status && peer == comm->rank)
        plm_nccl_own_part(PLM_NCCL_POINT_TO_POINT, from, call.bytes);
    return status;
}

PLM_API int ncclRecv(void *to, size_t count, int type, int peer, struct plm_nccl_comm *comm, struct plm_stream *stream)
{
    struct call call;
    int status = begin(&call, comm, count, type, stream);
    (void)peer;
    if (!status)
        plm_nccl_peer_part(PLM_NCCL_POINT_TO_POINT, to, NULL, call.bytes);
    return status;
}
