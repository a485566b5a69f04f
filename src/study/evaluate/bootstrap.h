/*
 * How sure a median is: the middle 95 % of the medians of resamples with replacement (percentile bootstrap). Pure functions; any thread;
 * the same for the same seed. Does not fail.
 */
#ifndef PLM_EVALUATE_BOOTSTRAP_H
#define PLM_EVALUATE_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

enum { PLM_RESAMPLES = 2000 };

struct plm_interval {
    double low, high;
};

/* `value` ascending. Of one value both ends are that value; of none, 0. */
void plm_bootstrap_median(const double *value, size_t count, uint64_t seed, struct plm_interval *interval);

#endif
