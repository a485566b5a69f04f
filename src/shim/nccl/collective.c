/*
 * Collectives and point-to-point: one launch each, and the data movement as far as this process holds
 * it. Peers are assumed to contribute what this rank does, so a reduction leaves this rank's data and
 * a gather repeats them; what is received from a peer is what this rank sends to itself in the same
 * group, or unknown and left alone. What peers of small calls really contribute comes later: exchange.h.
 */
#include "shim/nccl/nccl.h"

#include "device/calls.h"
#include "device/device.h"
#include "device/stream.h"
#include "shim/nccl/buffers.h"
#include "shim/nccl/exchange.h"
#include "device/shim.h"

/* Bytes of an element, by NCCL's data type number; 0 is unknown. */
static const unsigned char type_bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

struct call {
    struct plm_nccl_comm *comm;
    size_t bytes; /* of one rank's contribution */
    struct plm_nccl_part part;
    bool run;   /* now; otherwise it becomes a part of a graph */
    size_t known; /* of the bytes that this rank contributes */
};

enum { NONE = -1 }; /* no reduction, no root */

/* What is asked for, as far as it is recorded. */
struct asked {
    enum plm_collective kind;
    const void *from; /* NULL: none */
    void *to;
    size_t count;
    int type, op, root;
};

/* Buffers are often the same for send and receive, and often parts of one bucket. */
static void tag(const struct asked *a)
{
    if (a->from)
        plm_call_tag(a->from, PLM_CATEGORY_COMMUNICATION);
    if (a->to && a->to != a->from)
        plm_call_tag(a->to, PLM_CATEGORY_COMMUNICATION);
}

static int begin(struct call *call, struct plm_nccl_comm *comm, const struct asked *a, struct plm_stream *stream)
{
    bool run = true;
    if (!plm_nccl_comm_check(comm) || a->type < 0 || (size_t)a->type >= sizeof type_bytes)
        return PLM_NCCL_INVALID_ARGUMENT;
    call->comm = comm;
    if (__builtin_mul_overflow(a->count, (size_t)type_bytes[a->type], &call->bytes))
        return PLM_NCCL_INVALID_ARGUMENT;
    if (plm_nccl_connect(comm, a->kind, call->bytes, a->root))
        return PLM_NCCL_CUDA_ERROR;
    if (plm_stream_enqueue(stream, PLM_NODE_COLLECTIVE, &run))
        return PLM_NCCL_CUDA_ERROR;
    call->part = (struct plm_nccl_part){a->kind, a->from, a->to, call->bytes, a->type, a->op, a->root, 0};
    call->run = run;
    call->known = run ? plm_nccl_exchange_known(comm, &call->part) : 0;
    if (run)
        plm_launch(NULL);
    plm_call_collective(
        &(struct plm_call_collective){a->kind, a->type, a->op, comm->size, comm->rank, a->root, a->count}, stream, run);
    tag(a);
    return PLM_NCCL_OK;
}

/* The peers' part in it, once this rank has done its own; false if there is none. */
static bool exchange(const struct call *call)
{
    return call->run && plm_nccl_exchange(call->comm, &call->part, call->known);
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
    const struct asked asked = {PLM_COLLECTIVE_ALL_REDUCE, from, to, count, type, op, NONE};
    struct call call;
    int status = begin(&call, comm, &asked, stream);
    if (!status) {
        plm_nccl_move(to, from, call.bytes);
        exchange(&call);
    }
    return status;
}

PLM_API int ncclReduce(const void *from, void *to, size_t count, int type, int op, int root, struct plm_nccl_comm *comm,
                       struct plm_stream *stream)
{
    const struct asked asked = {PLM_COLLECTIVE_REDUCE, from, to, count, type, op, root};
    struct call call;
    int status = begin(&call, comm, &asked, stream);
    if (status)
        return status;
    if (root == comm->rank)
        plm_nccl_move(to, from, call.bytes);
    exchange(&call);
    return PLM_NCCL_OK;
}

PLM_API int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, struct plm_nccl_comm *comm,
                              struct plm_stream *stream)
{
    const struct asked asked = {PLM_COLLECTIVE_REDUCE_SCATTER, from, to, count, type, op, NONE};
    struct call call;
    int status = begin(&call, comm, &asked, stream);
    if (!status) {
        plm_nccl_move(to, own_slot(&call, from), call.bytes);
        exchange(&call);
    }
    return status;
}

PLM_API int ncclAllGather(const void *from, void *to, size_t count, int type, struct plm_nccl_comm *comm,
                          struct plm_stream *stream)
{
    const struct asked asked = {PLM_COLLECTIVE_ALL_GATHER, from, to, count, type, NONE, NONE};
    struct call call;
    int status = begin(&call, comm, &asked, stream);
    if (!status) {
        repeat(&call, to, from);
        exchange(&call);
    }
    return status;
}

/* One broadcast of each root in a group is an all-gather. */
PLM_API int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, struct plm_nccl_comm *comm,
                          struct plm_stream *stream)
{
    const struct asked asked = {PLM_COLLECTIVE_BROADCAST, from, to, count, type, NONE, root};
    struct call call;
    int status = begin(&call, comm, &asked, stream);
    if (status)
        return status;
    if (root == comm->rank) {
        plm_nccl_own_part(PLM_NCCL_BROADCAST, from, call.bytes);
        plm_nccl_move(to, from, call.bytes);
    }
    if (!exchange(&call) && root != comm->rank)
        plm_nccl_peer_part(PLM_NCCL_BROADCAST, to, from, call.bytes);
    return PLM_NCCL_OK;
}

PLM_API int ncclBcast(void *buffer, size_t count, int type, int root, struct plm_nccl_comm *comm,
                      struct plm_stream *stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

PLM_API int ncclAlltoAll(const void *from, void *to, size_t count, int type, struct plm_nccl_comm *comm,
                         struct plm_stream *stream)
{
    const struct asked asked = {PLM_COLLECTIVE_ALL_TO_ALL, from, to, count, type, NONE, NONE};
    struct call call;
    int status = begin(&call, comm, &asked, stream);
    if (!status) {
        repeat(&call, to, own_slot(&call, from));
        exchange(&call);
    }
    return status;
}

PLM_API int ncclGather(const void *from, void *to, size_t count, int type, int root, struct plm_nccl_comm *comm,
                       struct plm_stream *stream)
{
    const struct asked asked = {PLM_COLLECTIVE_GATHER, from, to, count, type, NONE, root};
    struct call call;
    int status = begin(&call, comm, &asked, stream);
    if (status)
        return status;
    if (root == comm->rank)
        repeat(&call, to, from);
    exchange(&call);
    return PLM_NCCL_OK;
}

PLM_API int ncclScatter(const void *from, void *to, size_t count, int type, int root, struct plm_nccl_comm *comm,
                        struct plm_stream *stream)
{
    const struct asked asked = {PLM_COLLECTIVE_SCATTER, from, to, count, type, NONE, root};
    struct call call;
    int status = begin(&call, comm, &asked, stream);
    if (status)
        return status;
    if (root == comm->rank)
        plm_nccl_move(to, own_slot(&call, from), call.bytes);
    exchange(&call);
    return PLM_NCCL_OK;
}

PLM_API int ncclSend(const void *from, size_t count, int type, int peer, struct plm_nccl_comm *comm,
                     struct plm_stream *stream)
{
    const struct asked asked = {PLM_COLLECTIVE_SEND, from, NULL, count, type, NONE, peer};
    struct call call;
    int status = begin(&call, comm, &asked, stream);
    if (status)
        return status;
    if (peer == comm->rank)
        plm_nccl_own_part(PLM_NCCL_POINT_TO_POINT, from, call.bytes);
    exchange(&call);
    return PLM_NCCL_OK;
}

PLM_API int ncclRecv(void *to, size_t count, int type, int peer, struct plm_nccl_comm *comm, struct plm_stream *stream)
{
    const struct asked asked = {PLM_COLLECTIVE_RECEIVE, NULL, to, count, type, NONE, peer};
    struct call call;
    int status = begin(&call, comm, &asked, stream);
    if (!status && !exchange(&call))
        plm_nccl_peer_part(PLM_NCCL_POINT_TO_POINT, to, NULL, call.bytes);
    return status;
}
