/*
 * Memory over the value of a parameter, as a line: the part that grows with it and the part that does not, and how far
 * the points are from that line. Also the model by which the largest value is looked for. Pure; any thread.
 */
#ifndef PLM_SWEEP_GROWTH_H
#define PLM_SWEEP_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_sweep_sample {
    uint64_t value, bytes;
};

struct plm_sweep_growth {
    bool known;        /* there are two values at least */
    double each, fixed; /* bytes for each unit of the value, and without any */
    double off;        /* of the point that is farthest from the line, as a share of its memory */
    uint64_t off_at;   /* the value where that is */
    bool linear;       /* no point is off by more than PLM_SWEEP_LINEAR */
    uint64_t bend; /* not linear: the value where the slope changes most, and what it is below and above; 0: none */
    double below, above;
};

#define PLM_SWEEP_LINEAR 0.02

/* In the order of their values, each value once; how many are left. */
size_t plm_sweep_samples_sort(struct plm_sweep_sample *sample, size_t samples);

/* Of sorted samples. The line is the median of the slopes between all of them. */
struct plm_sweep_growth plm_sweep_growth(const struct plm_sweep_sample *sample, size_t samples);

/* Memory at a value: between samples by the line from one to the next, beyond them by that of the last two. */
double plm_sweep_memory_at(const struct plm_sweep_sample *sample, size_t samples, double value);
/* The largest value up to `most` at which that is within `bytes`; 0: none. */
uint64_t plm_sweep_value_within(const struct plm_sweep_sample *sample, size_t samples, uint64_t bytes, uint64_t most);

#endif
