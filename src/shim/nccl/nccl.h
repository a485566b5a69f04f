/*
 * Collective communication.
 *
 * A communicator knows its size, its rank and its device, and holds the device memory that NCCL would
 * take for its buffers. It belongs to the caller, who destroys it. A collective answers at once with
 * "every peer contributes what I do"; the bytes of small ones come from the peers, if these run (exchange.h).
 * Any thread may call; one communicator is not used by two threads at once, as with the real library.
 */
#ifndef PLM_NCCL_H
#define PLM_NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "world/messages.h"

enum plm_nccl_status {
    PLM_NCCL_OK = 0,
    PLM_NCCL_CUDA_ERROR = 1,
    PLM_NCCL_SYSTEM_ERROR = 2,
    PLM_NCCL_INVALID_ARGUMENT = 4,
    PLM_NCCL_INVALID_USAGE = 5,
};

enum { PLM_NCCL_ID_BYTES = 128, PLM_NCCL_NO_COLOR = -1 };

struct plm_nccl_id {
    char bytes[PLM_NCCL_ID_BYTES];
};

struct plm_group;

struct plm_nccl_comm {
    uint32_t magic;
    int size, rank, device;
    bool size_known;                 /* false after a split whose group could not be told */
    const struct plm_group *group;   /* NULL: not known */
    int first, stride;               /* which ranks of the job these are, without a group: first + i * stride */
    /* messages: see exchange.h */
    struct plm_message_key key;      /* the same for all members */
    bool alone;                      /* some members are not run: they are taken to contribute what this one does */
    uint64_t collectives, splits;    /* that were called so far */
    uint64_t *singles;               /* sends and receives, by peer; NULL: none */
    struct plm_nccl_memory *memory;  /* device memory: see buffers.h */
    bool suspended;
};

/* NULL unless it is a live communicator. */
struct plm_nccl_comm *plm_nccl_comm_check(struct plm_nccl_comm *comm);

/* The rank in the job of a member. */
int plm_nccl_job_rank(const struct plm_nccl_comm *comm, int place);

/* The group of a split, as far as it can be known: see split.c. Fills size, group, first and stride of `child`
   and returns true, or leaves them and returns false. */
bool plm_nccl_split_group(const struct plm_nccl_comm *parent, int color, int key, struct plm_nccl_comm *child);

/* Copies unless there is nothing to copy or nowhere to put it. */
void plm_nccl_move(void *to, const void *from, size_t bytes);

/* Transfers whose data depend on the rest of their group (group.c). This rank's own part is what every
   peer is taken to contribute; outside of a group, or without an own part, a peer's part is what the
   call says (`from`, NULL: nothing). */
enum plm_nccl_transfer { PLM_NCCL_BROADCAST, PLM_NCCL_POINT_TO_POINT, PLM_NCCL_TRANSFERS };
bool plm_nccl_in_group(void); /* of the calling thread */
/* How many kernels had been launched when the calls of the group began, or this one: a group is one kernel, which reads what
   was there before it. */
uint64_t plm_nccl_group_since(void);
void plm_nccl_own_part(enum plm_nccl_transfer kind, const void *from, size_t bytes);
void plm_nccl_peer_part(enum plm_nccl_transfer kind, void *to, const void *from, size_t bytes);

#endif
