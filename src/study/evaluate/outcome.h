/*
 * What a run of a workload on the virtual GPU came to: the figures that judging it needs, so that the record need not be kept.
 *
 * plm_outcome_read() reads a record; a job with several devices stands for the one that needs most. Plain values, nothing to free.
 */
#ifndef PLM_EVALUATE_OUTCOME_H
#define PLM_EVALUATE_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

struct plm_error;
struct plm_workload;

struct plm_outcome {
    bool done;                    /* the workload ran to its end */
    char why[200];                /* if not: a sentence */
    char torch[32], confidence[16];
    uint64_t allocated, reserved; /* peaks */
    uint64_t outside;             /* libraries and other allocations: device_used without reserved and context */
    uint64_t context, context_low, context_high;
    uint64_t
        later; /* of context_high: what may come after a first sample, such as code that is loaded when it is used */
    uint64_t low, high; /* of device_used */
    uint64_t least; /* the least that PyTorch can do with instead of `reserved`: it gives cached memory back first */
    uint64_t early; /* reserved when the first batch came: the model, and what the optimizer made with it */
    double seconds, cpu_seconds; /* of the run: by the clock, and of all its processes */
};

/* With context. */
uint64_t plm_outcome_used(const struct plm_outcome *outcome);

/* Of a job that was read. `workload` may be NULL: then nothing is known of a first sample. */
struct plm_job;
void plm_outcome_of(const struct plm_job *job, const struct plm_workload *workload, struct plm_outcome *outcome);
int plm_outcome_read(const char *record, const struct plm_workload *workload, struct plm_outcome *outcome,
                     struct plm_error *error);

#endif
