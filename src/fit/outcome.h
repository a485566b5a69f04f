/*
 * What a run on the virtual GPU took: the figures that judging it needs, so that the record need not be kept. A job
 * with several devices stands for the one that needs most. Plain values, nothing to free.
 */
#ifndef PLM_FIT_OUTCOME_H
#define PLM_FIT_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

struct plm_job;

struct plm_outcome {
    bool done;                    /* the job ran to its end */
    char why[200];                /* if not: a sentence */
    char torch[32], confidence[16];
    uint64_t allocated, reserved; /* peaks */
    uint64_t outside;             /* libraries and other allocations: device_used without reserved and context */
    uint64_t context, context_low, context_high;
    uint64_t
        later; /* of context_high: what may come after a first sample, such as code that is loaded when it is used */
    uint64_t low, high; /* of device_used */
    uint64_t least; /* the least that PyTorch can do with instead of `reserved`: it gives cached memory back first */
    /* Where the card is the limit and the job completes: what it then allocates and reserves, and what the card has.
       All 0 where it has room. study/evaluate/workload.h sets them. */
    uint64_t bounded_allocated, bounded_reserved, usable;
    uint64_t early; /* reserved when a late first sample was taken; study/evaluate/workload.h sets it */
    double seconds, cpu_seconds; /* of the run: by the clock, and of all its processes */
};

/* With context. */
uint64_t plm_outcome_used(const struct plm_outcome *outcome);

void plm_outcome_of(const struct plm_job *job, struct plm_outcome *outcome);

#endif
