/*
 * The process groups of PyTorch that this process is in, as the hook tells them while they are made: name, members and
 * their order. A group belongs to the process, lives until it ends and does not change. Any thread; nothing fails, but
 * a group that there is no memory for is not kept.
 */
#ifndef PLM_GROUPS_H
#define PLM_GROUPS_H

#include <stdint.h>

#define PLM_GROUP_NOT_A_MEMBER UINT32_MAX /* the place of a process that is not in a group which is told */

struct plm_group {
    const char *name;     /* "mesh_tp" */
    const char *ranks;    /* "0-6/2": see GROUP of record/events.def */
    const uint32_t *rank; /* of the job, by place */
    int size, place;
    _Atomic uint64_t options; /* where PyTorch keeps what its communicators are made with; 0: not known */
    struct plm_group *next;
};

/* The group that the calling thread is making; NULL: none. */
const struct plm_group *plm_group_making(void);

/* The group that a communicator of this size belongs to, in which the process has this place: the one whose options these
   are, or, if they are nobody's, the only one that it can be. NULL: not known. */
const struct plm_group *plm_group_find(const void *options, int size, int place);

/* What the communicating library does when PyTorch's barrier was called: waits for those who have not come there. */
typedef void plm_barrier_function(void);
extern _Atomic(plm_barrier_function *) plm_group_barrier;

/* How many messages of ranks that ran before were received. */
extern _Atomic uint64_t plm_group_replayed;

#endif
