/*
 * What ranks of one job really tell each other: the bytes of small collectives, sends and receives, through
 * world/messages.h. A rank posts its part if its bytes are known and goes on; what it receives is promised to the memory
 * it is received into (device/promised.h), and looked for when that is read. So no rank waits for another one before somebody
 * wants the value, as the work of a stream would.
 *
 * Any thread; a communicator is not used by two at once. Nothing fails: what cannot be had is unknown.
 */
#ifndef PLM_NCCL_EXCHANGE_H
#define PLM_NCCL_EXCHANGE_H

#include "record/events.h"
#include "shim/nccl/nccl.h"

/* One call, as this rank makes it. */
struct plm_nccl_part {
    enum plm_collective kind;
    const void *from;
    void *to;
    size_t bytes; /* the unit: of one rank's contribution to a gather, of what it gets of a scatter */
    int type, op;
    int root; /* or the peer */
    size_t tail; /* if none of its first bytes are known, how many of the last ones are */
};

/* A communicator was made. `id`: what its members have in common and nobody else has. */
void plm_nccl_exchange_begin(struct plm_nccl_comm *comm, const void *id, size_t size);
/* One was split off `parent`, or, with NULL, this rank is in none of those that are. Before the former, without `id`. */
void plm_nccl_exchange_split(struct plm_nccl_comm *parent, struct plm_nccl_comm *child, int color);
/* Waits for the other members to have made it too, as the real library does; not inside a group. */
void plm_nccl_exchange_meet(const struct plm_nccl_comm *comm);
void plm_nccl_exchange_end(struct plm_nccl_comm *comm);

/* How many of the bytes that this rank contributes are known, and the tail. Before its kernel counts as launched. */
size_t plm_nccl_exchange_known(const struct plm_nccl_comm *comm, struct plm_nccl_part *part);
/* The part is sent, and what comes is promised. False: nothing will come, or what is too large to be told. */
bool plm_nccl_exchange(struct plm_nccl_comm *comm, const struct plm_nccl_part *part, size_t known);

/* sum.c: `of` is taken into `sum`, element by element. False if the type or the operator is not one that is computed. At the end
   with the number of contributions, for the mean. */
bool plm_nccl_sum(void *sum, const void *of, size_t bytes, int type, int op);
bool plm_nccl_mean(void *sum, size_t bytes, int type, int op, int count);

#endif
