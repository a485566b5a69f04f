/*
 * One measured run, and the truth file that it is a row of: the columns that `plimsoll evaluate` reads, and more.
 *
 * plm_measured_read() reads what the hook left of a process, plm_measured_append() adds the row to a file, which it
 * makes with a header if it is not there. Plain values, nothing to free. Fails with one sentence: PLM_EIO,
 * PLM_EFORMAT (a file with other columns, an unusable report).
 */
#ifndef PLM_MEASURE_ROW_H
#define PLM_MEASURE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "study/measure/reading.h"

struct plm_error;

struct plm_measured {
    char run[128], family[64], model[64], optimizer[64];
    char gpu[96], uuid[96], torch[64], cuda[32], driver[96], measured[32];
    char exception[64];     /* that ended the program; "" */
    char trouble[200];      /* why the card was not watched; "" */
    uint64_t batch, steps;
    int zero_grad;          /* -1: not seen */
    uint64_t total;         /* bytes of the card, as CUDA tells them */
    uint64_t allocated, reserved; /* PyTorch's peaks */
    uint64_t first, context, most; /* samples: before the context; what the context added; the largest */
    uint64_t samples, failed_samples, interval_us, settle, ooms;
    bool watched;           /* the card was used, and these are of it */
    bool settled, oom, disturbed;
    /* Time: of the optimizer's steps, on the host's clock; the median and the mean of those after the warm-up. */
    uint64_t step_ns, step_mean_ns, steps_timed; /* no steps timed: the others say nothing */
    uint64_t steps_begin, steps_end;             /* the monotonic clock at the first of these and at the last */
    bool virtual;                                /* it ran on plimsoll's own device, where times mean nothing */
    struct plm_reading activity;                 /* between these two */
    char metrics_source[24];                     /* who gave them; "" */
};

/* Of the card, by this job, with its context. */
uint64_t plm_measured_used(const struct plm_measured *m);
/* Whether there is a step time: steps were timed, on a real card. */
bool plm_measured_timed(const struct plm_measured *m);

int plm_measured_read(const char *path, struct plm_measured *m, struct plm_error *error);

/* Can a row be added to this file? Also if it is not there yet. */
int plm_measured_check(const char *path, struct plm_error *error);
int plm_measured_append(const char *path, const struct plm_measured *m, struct plm_error *error);

#endif
