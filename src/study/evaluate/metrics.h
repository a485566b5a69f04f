/*
 * How good estimates are, over a set of runs. Pure functions; any thread. Memory is bytes everywhere.
 *
 * Quantiles interpolate between the two nearest values, as NumPy does by default.
 */
#ifndef PLM_EVALUATE_METRICS_H
#define PLM_EVALUATE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How sure a median is: the middle 95 % of the medians of resamples with replacement (percentile bootstrap), the same
   for the same seed. */
enum { PLM_RESAMPLES = 2000 };

struct plm_interval {
    double low, high;
};

/* `value` ascending. Of one value both ends are that value; of none, 0. */
void plm_bootstrap_median(const double *value, size_t count, uint64_t seed, struct plm_interval *interval);
/* The middle 95 % of a figure's resamples; those of which it is not known (NAN) do not count. Sorts the values. */
struct plm_interval plm_interval_known(double *value, size_t count);

/* What the second run, which may take no more than the estimate, is held to. */
enum plm_cap {
    /* What PyTorch may reserve, as the published comparisons did; libraries' own memory and the context come on top. */
    PLM_CAP_TORCH,
    PLM_CAP_DEVICE, /* all that the process takes beyond its context, libraries' memory included */
    PLM_CAPS
};

/* One estimate of one run, against the truth. */
struct plm_score {
    bool answered; /* there is an estimate */
    bool outside; /* the job is outside of what the method was made for */
    bool compared; /* neither truth nor estimate is out-of-memory: `error` counts */
    double estimate;
    double error; /* (estimate - truth) / truth */
    bool judged; /* it said whether the run fits */
    bool oom; /* it said that the run does not */
    bool agrees; /* as the real run did */
    bool capped_fails[PLM_CAPS]; /* a second run that may take `estimate` runs out */
    double conserved[PLM_CAPS]; /* bytes of the card that the estimate leaves free for others; negative for a failure */
    double width; /* of the range, as a share of the truth; counts if `compared` */
    bool covers; /* the truth is in the range; likewise */
    double seconds; /* that the answer took, what it needs included; 0: not known */
    const char *note; /* why it is outside or not answered; NULL: nothing to say */
};

enum { PLM_QUANTILES = 5 };
extern const double plm_quantile_of[PLM_QUANTILES]; /* 0.05, 0.25, 0.5, 0.75, 0.95 */

struct plm_metrics {
    size_t runs; /* in the set */
    size_t answered, compared, judged;
    size_t outside; /* of those compared: outside of what the method was made for */
    double median, mean, p95, worst; /* of the absolute error, over `compared` */
    struct plm_interval interval; /* of the median: 95 %, by bootstrap */
    double inside; /* the median over those compared that are not outside; counts if there are some of both */
    double quantile[PLM_QUANTILES]; /* of the signed error */
    double under; /* share of compared runs with an estimate below the truth */
    double agreement; /* share of judged runs whose verdict is right */
    double pef[PLM_CAPS]; /* share of judged runs that are not accurate: wrong verdict, or the capped run fails */
    double mcp[PLM_CAPS]; /* mean of `conserved` over judged runs */
    double width; /* mean of `width` over `compared` */
    size_t covered; /* of those compared */
    size_t timed;
    double seconds; /* mean over `timed` */
};

/* Is the estimate a failure in the sense of PEF? */
bool plm_score_fails(const struct plm_score *score, enum plm_cap cap);

/* Fills in `conserved`, the terms of MCP for a run. total: of the card. */
void plm_score_conserve(struct plm_score *score, double total);

/* Figures without runs behind them are 0. The seed is that of the resamples. */
void plm_metrics_make(const struct plm_score *score, size_t count, uint64_t seed, struct plm_metrics *metrics);

/* `value` ascending; 0 of none. */
double plm_quantile(const double *value, size_t count, double share);

#endif
