/*
 * How long a job's step takes on a card, and how busy that is: the host's and the GPU's clocks are run through the
 * calls of a lane (works.h). docs/utilization.md defines every figure.
 *
 *   struct plm_timing timing;
 *   if (plm_timing_make(&works, lane, card, &speeds, &options, &timing, &error) == 0) {
 *       ...
 *       plm_timing_free(&timing);
 *   }
 *
 * Fails with PLM_ENOTFOUND and a sentence if the catalogue lacks a figure of the card that is needed. Pure; any thread.
 */
#ifndef PLM_TIME_TIMING_H
#define PLM_TIME_TIMING_H

#include "time/host.h"
#include "time/works.h"

struct plm_card;
struct plm_error;
struct plm_speeds;

/* What a moment of a step is spent on; they add up to the step. */
enum plm_bound {
    PLM_BOUND_HOST,          /* the GPU waits for the host */
    PLM_BOUND_COMPUTE,       /* kernels, by what limits them */
    PLM_BOUND_BANDWIDTH,
    PLM_BOUND_LAUNCHES,      /* kernels too small to fill the card: what starting and ending them costs */
    PLM_BOUND_COPIES,
    PLM_BOUND_COMMUNICATION,
    PLM_BOUNDS
};
const char *plm_bound_name(enum plm_bound bound); /* "host" */

/* As DCGM defines them, 0 to 1, averaged over the steps. */
enum plm_metric {
    PLM_METRIC_GPUTL,  /* a kernel or copy is there (nvidia-smi's utilization) */
    PLM_METRIC_GRACT,  /* the graphics or compute engine is active */
    PLM_METRIC_SMACT,  /* multiprocessors with a warp */
    PLM_METRIC_SMOCC,  /* warps of the most that fit */
    PLM_METRIC_FP32A,  /* the fp32 pipe is active */
    PLM_METRIC_TENSO,  /* the tensor cores are */
    PLM_METRIC_DRAMA,  /* the memory interface is */
    PLM_METRICS
};
const char *plm_metric_name(enum plm_metric metric);  /* "gputl", as DCGM calls it */
const char *plm_metric_words(enum plm_metric metric); /* "GPU util", as people do */

struct plm_timing_options {
    struct plm_host_time host;
    bool bare;      /* without a range: for those who ask for many */
    bool unmetered; /* without metrics, which take longer than all the rest */
    bool shares;    /* add up by operator and by module */
};

/* One piece of work on the GPU's clock, in ns from the beginning of the step: when all of the step before was done. A
   stream that did not wait for the others may begin earlier. */
struct plm_span {
    double begin, end;
    uint32_t call; /* in the lane; UINT32_MAX - 1 - n: node n of a graph */
    uint32_t launch; /* the call of the host: of a node the launch of its graph */
    uint32_t work, site;
    uint32_t stream; /* that it runs in, also where the call did not tell */
    uint8_t bound; /* enum plm_bound */
    float activity[PLM_METRICS]; /* while it runs */
};
typedef void plm_span_visit(const struct plm_span *span, void *context);

/* The host at a call, on the same clock: from the end of the call before to that of this one. It may run ahead of the
   GPU, so that its part of the step begins before 0. */
struct plm_host_span {
    double begin, end;
    double wait; /* at the end, for the GPU */
    uint32_t call; /* in the lane */
};
typedef void plm_host_visit(const struct plm_host_span *span, void *context);

/* A part of a step's GPU time: of an operator, a module or a class of work. */
struct plm_time_share {
    const char *name; /* belongs to the works; "" is what nothing is known about */
    uint64_t calls;
    double ns, bound[PLM_BOUNDS];
    double flops;
};

/* Adds another one; the name stays. */
void plm_time_share_add(struct plm_time_share *to, const struct plm_time_share *from);

struct plm_time_shares {
    struct plm_time_share *item; /* the largest first */
    size_t count, room;
};

struct plm_timing {
    size_t steps; /* that were averaged */
    double step, low, high; /* ns; the range is explained in docs/utilization.md */
    double busy; /* ns of a step in which the GPU works, and */
    double host; /* that the host needs for its calls, without waiting */
    double bound[PLM_BOUNDS]; /* ns of a step */
    double metric[PLM_METRICS]; /* at the clock that the card has while it is used so little; all else at the highest */
    double slowdown; /* of that clock, from 1 on */
    double flops, mfu; /* of a step; as a fraction of the card's peak of the type most of them have. mfu 0: not known */
    enum plm_work_type mfu_type;
    double samples_per_second; /* 0: not known */
    double kernels, unsized; /* launched per step; those whose size nothing tells, which count as the shortest kernel */
    double generated; /* ns of kernels whose bytes are an upper bound and whose flops are not known */
    struct plm_time_shares operators, modules, classes;
    size_t spans; /* of the last step */
};

int plm_timing_make(const struct plm_works *works, const struct plm_work_lane *lane, const struct plm_card *card,
                    const struct plm_speeds *speeds, const struct plm_timing_options *options,
                    struct plm_timing *timing, struct plm_error *error);
void plm_timing_free(struct plm_timing *timing);
/* Runs the clocks again and tells the last step as they go: a step may have as many spans as the record has events, so
   nobody keeps them. `host` gets each call in order, `span` each span, those of one stream in the order of their time;
   either may be NULL. */
int plm_timing_each(const struct plm_works *works, const struct plm_work_lane *lane, const struct plm_card *card,
                    const struct plm_speeds *speeds, const struct plm_timing_options *options, plm_host_visit *host,
                    plm_span_visit *span, void *context, struct plm_error *error);

#endif
