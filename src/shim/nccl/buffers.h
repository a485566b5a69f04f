/*
 * The device memory of communicators: what it is taken to be, and taking it. One communicator is not used by two
 * threads at once. Returns an enum plm_nccl_status.
 */
#ifndef PLM_NCCL_BUFFERS_H
#define PLM_NCCL_BUFFERS_H

#include "shim/nccl/nccl.h"

struct plm_card;

struct plm_nccl_need {
    uint64_t bytes, low, high;
};
/* Of a communicator's collectives, and of what it exchanges with one peer. The environment is honoured:
   NCCL_BUFFSIZE, NCCL_LL_BUFFSIZE, NCCL_LL128_BUFFSIZE, NCCL_PROTO, NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS. */
struct plm_nccl_need plm_nccl_ring_need(const struct plm_card *card);
struct plm_nccl_need plm_nccl_peer_need(const struct plm_card *card);

/* Before a collective, before a transfer from or to one rank, before one among all. Once each. */
int plm_nccl_connect(struct plm_nccl_comm *comm);
int plm_nccl_connect_peer(struct plm_nccl_comm *comm, int peer);
int plm_nccl_connect_peers(struct plm_nccl_comm *comm);
bool plm_nccl_connects_at_once(void); /* with its making, not with its first collective */
void plm_nccl_disconnect(struct plm_nccl_comm *comm);

#endif
