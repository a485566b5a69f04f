/*
 * What a job asked its GPUs to do, from its record: every kernel, library call, copy, collective and wait, with the
 * size of its work, in the order in which the host called. Nothing here depends on a card.
 *
 * plm_works_read() reads a record once; about 32 bytes a call, and one struct plm_work per different piece of work.
 * Owned by the caller, plm_works_free() ends it. Read-only afterwards: any thread. It fails with a sentence, among
 * others if the record holds no launches at all (--detail low, off, imported snapshots).
 */
#ifndef PLM_TIME_WORKS_H
#define PLM_TIME_WORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/names.h"
#include "record/format.h"

struct plm_error;
struct plm_build;
struct plm_record;
struct plm_record_event;

enum plm_work_class {
    PLM_WORK_GEMM,          /* matrix product */
    PLM_WORK_CONVOLUTION,   /* with more than one channel per group */
    PLM_WORK_DEPTHWISE,     /* with one */
    PLM_WORK_ATTENTION,
    PLM_WORK_RNN,
    PLM_WORK_NORMALIZATION,
    PLM_WORK_SOFTMAX,
    PLM_WORK_REDUCTION,
    PLM_WORK_ELEMENTWISE,
    PLM_WORK_LISTS,         /* multi-tensor kernels */
    PLM_WORK_GATHER,        /* embedding, indexing, scatter */
    PLM_WORK_SORT,
    PLM_WORK_POOLING,       /* and interpolation */
    PLM_WORK_GENERATED,     /* of Triton or inductor */
    PLM_WORK_OTHER,
    PLM_WORK_COPY,          /* between memories; fills too */
    PLM_WORK_COLLECTIVE,
    PLM_WORK_WAIT,          /* of the host or of a stream */
    PLM_WORK_GRAPH,         /* launch of a captured graph */
    PLM_WORK_CLASSES
};
const char *plm_work_class_name(enum plm_work_class class); /* "gemm" */

/* How numbers are computed with; the card has a peak for each. */
enum plm_work_type {
    PLM_WORK_FP64,
    PLM_WORK_FP32,
    PLM_WORK_TF32,
    PLM_WORK_FP16,
    PLM_WORK_BF16,
    PLM_WORK_FP8,
    PLM_WORK_TYPES
};

/* One piece of work, and all that its duration is computed from. */
struct plm_work {
    uint8_t class;        /* enum plm_work_class */
    uint8_t type;         /* enum plm_work_type */
    uint8_t operation;    /* of a convolution, attention, collective, copy or wait: its enum in the record */
    uint8_t bytes_per;    /* of one element */
    bool sized;           /* false: nothing tells its size; bytes are 0 */
    bool pinned, async;   /* copies: the host's side; the host does not wait */
    bool channels_last;
    bool strided;         /* goes through its tensors by strides */
    uint8_t columns;      /* a reduction's results that a thread computes side by side; 0: one */
    uint32_t grid, block; /* blocks, threads per block; 0: a library's choice */
    uint32_t shared;      /* bytes per block */
    uint32_t m, n, k,
        batch;       /* products, also those that stand for a convolution or attention; ranks of a collective in m */
    uint32_t filter;               /* of a convolution: taps of the filter */
    uint32_t stride;
    double flops;         /* multiply and add count as two */
    double read, written; /* bytes */
    double input, output; /* of a convolution: bytes of x and of y */
    uint32_t name;        /* kernel or routine, in plm_works.names; 0: none */
    uint32_t first, calls;/* GRAPH: what a launch runs, in lane->node[] */
};

struct plm_work_call {
    uint64_t at_ns;       /* when the host called, since the record was made */
    uint32_t work;        /* in plm_works.work */
    uint32_t site;        /* in plm_works.site; 0: not known */
    uint32_t stream;      /* PLM_STREAM_UNKNOWN: not known */
    uint32_t gap_ns;      /* that the host computed since the call before; of equal calls in equal steps the least */
    uint32_t other;       /* waits for an event: the stream that it was recorded in */
};

/* A step: the calls from `first` on. */
struct plm_work_step {
    size_t first, calls;
    uint64_t begin_ns, end_ns;
    uint32_t samples;     /* 0: not known */
};

/* What made the steps that are counted. */
enum plm_work_step_unit {
    PLM_STEP_OPTIMIZER,   /* the optimizer */
    PLM_STEP_BACKWARD,    /* there is none: a backward pass each */
    PLM_STEP_PASS,        /* none stepped: a call of the outermost module each */
    PLM_STEP_WHOLE,       /* neither: the whole command */
};

/* One process on one device. */
struct plm_work_lane {
    uint32_t process;
    uint64_t pid;
    int rank, device;
    struct plm_work_call *call;
    size_t calls, call_room;
    struct plm_work_call *node; /* of graphs */
    size_t nodes, node_room;
    struct plm_work_step *step; /* those that a steady state is taken from; at least one */
    size_t steps, step_room;
    enum plm_work_step_unit unit;
};

struct plm_work_site {
    const char *module, *outer, *inner;
    enum plm_phase phase;
};

/* The ranks of the job, also those that were not run, and how many of them have a batch of their own. */
struct plm_work_world {
    uint32_t ranks;    /* 1: no other was told of */
    uint32_t replicas; /* ranks, less those that share their samples with another */
    bool told;         /* the groups' names say which ranks share; else each counts with a batch of its own */
    char shared[96];   /* "tp, pp": along which they do; empty: none */
};

struct plm_works {
    struct plm_work *work;
    size_t works, work_room;
    struct plm_work_site *site;
    size_t sites, site_room;
    struct plm_work_lane *lane; /* those that were asked for anything */
    size_t lanes, lane_room;
    struct plm_names names;
    char card[48];              /* that the record was made on */
    struct plm_work_world world;
};

int plm_works_read(const char *path, struct plm_works *works, struct plm_error *error);
/* Of a record that is open already and stays the caller's; `name` is for sentences. */
int plm_works_read_record(struct plm_record *record, const char *name, struct plm_works *works,
                          struct plm_error *error);
/* In a reading that somebody else makes: begin, `open` once, `visit` with each event, and end in any case, with how the
   reading went; it returns that or how it went here. Visits return 0. */
struct plm_build *plm_works_begin(struct plm_works *works);
void plm_works_open(struct plm_record *record, void *build);
int plm_works_visit(const struct plm_record_event *event, void *build);
int plm_works_end(struct plm_build *build, int status, const char *name, struct plm_error *error);
void plm_works_free(struct plm_works *works);
/* The lane with the most calls: what a job is judged by if nobody says which. */
const struct plm_work_lane *plm_works_main(const struct plm_works *works);

#endif
