/*
 * Collective communication without peers.
 *
 * A communicator knows its size, its rank and its device, and holds the device memory that NCCL would
 * take for its buffers. It belongs to the caller, who destroys it. A collective answers at once with
 * "every peer contributes what I do"; nothing is exchanged between processes. Any thread may call;
 * one communicator is not used by two threads at once, as with the real library.
 */
#ifndef PLM_NCCL_H
#define PLM_NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plm_nccl_status {
    PLM_NCCL_OK = 0,
    PLM_NCCL_CUDA_ERROR = 1,
    PLM_NCCL_SYSTEM_ERROR = 2,
    PLM_NCCL_INVALID_ARGUMENT = 4,
    PLM_NCCL_INVALID_USAGE = 5,
};

enum { PLM_NCCL_ID_BYTES = 128, PLM_NCCL_NO_COLOR = -1, PLM_NCCL_PEERS = 8 };

struct plm_nccl_id {
    char bytes[PLM_NCCL_ID_BYTES];
};

struct plm_nccl_comm {
    uint32_t magic;
    int size, rank, device;
    bool size_known;       /* false after a split whose group could not be told */
    int first, stride;     /* which ranks of the job these are: first + i * stride */
    /* device memory: see buffers.h */
    uint64_t buffers;                /* of collectives, 0 if none */
    uint64_t peer[PLM_NCCL_PEERS];   /* of what is exchanged with single peers of a node */
    uint64_t buffer_bytes;           /* all of it */
    bool suspended;
    uint64_t suspended_bytes;        /* what it was before */
};

/* NULL unless it is a live communicator. */
struct plm_nccl_comm *plm_nccl_comm_check(struct plm_nccl_comm *comm);

/* The group of a split, as far as it can be known: see split.c. Fills size, first and stride of `child`
   and returns true, or leaves them and returns false. */
bool plm_nccl_split_group(const struct plm_nccl_comm *parent, int color, int key, struct plm_nccl_comm *child);

/* Copies unless there is nothing to copy or nowhere to put it. */
void plm_nccl_move(void *to, const void *from, size_t bytes);

/* Transfers whose data depend on the rest of their group (group.c). This rank's own part is what every
   peer is taken to contribute; outside of a group, or without an own part, a peer's part is what the
   call says (`from`, NULL: nothing). */
enum plm_nccl_transfer { PLM_NCCL_BROADCAST, PLM_NCCL_POINT_TO_POINT, PLM_NCCL_TRANSFERS };
void plm_nccl_own_part(enum plm_nccl_transfer kind, const void *from, size_t bytes);
void plm_nccl_peer_part(enum plm_nccl_transfer kind, void *to, const void *from, size_t bytes);

#endif
