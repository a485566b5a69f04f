/*
 * How well predicted numbers agree with measured ones: R², Spearman's rank correlation, the mean absolute error and
 * quantiles of the relative error, each with its 95 % interval by percentile bootstrap. Pure; any thread; the same for
 * the same seed.
 */
#ifndef PLM_EVALUATE_AGREEMENT_H
#define PLM_EVALUATE_AGREEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "study/evaluate/metrics.h"

enum plm_agreement_figure {
    PLM_AGREE_R2,       /* 1 - sum of squared errors / sum of squared deviations from the mean of what was measured */
    PLM_AGREE_SPEARMAN, /* correlation of ranks; equal values share the mean of their ranks */
    PLM_AGREE_MAE,      /* mean absolute error, in the unit of the values */
    PLM_AGREE_MEDIAN,   /* of |predicted - measured| / measured, over those that were measured above 0 */
    PLM_AGREE_P90,      /* the 90th percentile of the same */
    PLM_AGREE_FIGURES
};
const char *plm_agreement_name(enum plm_agreement_figure figure); /* "r2" */

struct plm_agreement {
    size_t count;
    size_t relative; /* of these: measured above 0 */
    /* NAN: not known, because there are too few values or they are all alike. */
    double value[PLM_AGREE_FIGURES];
    struct plm_interval interval[PLM_AGREE_FIGURES];
};

void plm_agreement_make(const double *predicted, const double *measured, size_t count, uint64_t seed,
                        struct plm_agreement *agreement);

#endif
