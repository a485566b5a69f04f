/*
 * The device memory of communicators: taken as model.h says it is needed, told to the record, given back. Each
 * communicator has a `memory` of its own from its making to its end. One communicator is not used by two threads at
 * once. Functions that can fail return an enum plm_nccl_status.
 */
#ifndef PLM_NCCL_BUFFERS_H
#define PLM_NCCL_BUFFERS_H

#include "record/format.h"
#include "shim/nccl/nccl.h"

struct plm_nccl_config;

/* With the communicator; its size, ranks and device are set. `parent`, of a split, and `config` may be NULL. */
int plm_nccl_memory_open(struct plm_nccl_comm *comm, const struct plm_nccl_comm *parent,
                         const struct plm_nccl_config *config);
void plm_nccl_memory_close(struct plm_nccl_comm *comm);

/* Before a collective, or a transfer from or to `peer`: what it needs and has not got yet. `bytes` are those that the
   collective moves, by which NCCL chooses how. */
int plm_nccl_connect(struct plm_nccl_comm *comm, enum plm_collective kind, uint64_t bytes, int peer);

/* Gives all back until it is resumed. */
void plm_nccl_memory_suspend(struct plm_nccl_comm *comm);
int plm_nccl_memory_resume(struct plm_nccl_comm *comm);

uint64_t plm_nccl_memory_bytes(const struct plm_nccl_comm *comm); /* held, or held again once it is resumed */

#endif
