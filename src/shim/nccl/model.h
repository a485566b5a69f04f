/*
 * The device memory of one communicator, by the formulas of docs/nccl.md: buffers for each channel and connection
 * that is made, buffers of NVLink SHARP, pools for the network, and what NCCL keeps its books in. Pure functions; any
 * thread.
 */
#ifndef PLM_NCCL_MODEL_H
#define PLM_NCCL_MODEL_H

#include "record/format.h"
#include "shim/nccl/rules.h"

/* Where a communicator's ranks are. A node's ranks are taken to follow each other, as launchers number them. */
struct plm_nccl_place {
    int ranks, rank; /* of the communicator */
    int nodes;
    int local; /* ranks of this node */
    int first; /* of these, its rank in the communicator */
};

/* On nodes with `per_node` processes each. `job_rank` says which rank of the job is at a place of the communicator. */
typedef int plm_nccl_rank_at(const void *communicator, int place);
struct plm_nccl_place plm_nccl_place(int ranks, int rank, int per_node, plm_nccl_rank_at *job_rank,
                                     const void *communicator);

/* Ways to connect ranks; bits. */
enum plm_nccl_algorithm {
    PLM_NCCL_RING = 1,
    PLM_NCCL_TREE = 2,
    PLM_NCCL_NVLS = 4,      /* of a node */
    PLM_NCCL_NVLS_TREE = 8, /* the same, and trees between nodes */
    PLM_NCCL_PAT = 16,      /* between nodes with one rank each */
};

struct plm_nccl_choice {
    unsigned used;     /* what NCCL's published tuning prefers */
    unsigned possible; /* what it may take as well */
};
/* For a collective of so many bytes; not for transfers between pairs. The environment's NCCL_ALGO is honoured. */
struct plm_nccl_choice plm_nccl_choose(const struct plm_nccl_rules *rules, const struct plm_nccl_place *place,
                                       enum plm_collective kind, uint64_t bytes);
/* What is connected with the making of a communicator, if that is not left to its first use. */
unsigned plm_nccl_all(const struct plm_nccl_rules *rules, const struct plm_nccl_place *place);

/* What a communicator has connected. */
struct plm_nccl_use {
    struct plm_nccl_choice algorithms;
    bool pool;           /* of the network, made with the communicator */
    uint64_t out, in;    /* ranks of the node that it sends to and receives from, by their place in it; bits */
    bool far_out, far_in; /* ranks of other nodes */
};

struct plm_nccl_need {
    uint64_t bytes, low, high;
};
struct plm_nccl_need plm_nccl_need(const struct plm_nccl_rules *rules, const struct plm_nccl_place *place,
                                   const struct plm_nccl_use *use);

/* "ring, NVLS, 24 channels, 7 peers": what a communicator has its memory for. */
void plm_nccl_describe(const struct plm_nccl_rules *rules, const struct plm_nccl_place *place,
                       const struct plm_nccl_use *use, char *out, size_t size);

#endif
