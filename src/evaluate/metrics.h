/*
 * How good estimates are, over a set of runs. Pure functions; any thread. Memory is bytes everywhere.
 *
 * Quantiles interpolate between the two nearest values, as NumPy does by default.
 */
#ifndef PLM_EVALUATE_METRICS_H
#define PLM_EVALUATE_METRICS_H

#include <stdbool.h>
#include <stddef.h>

/* One estimate of one run, against the truth. */
struct plm_score {
    bool answered;      /* there is an estimate */
    bool compared;      /* neither truth nor estimate is out-of-memory: `error` counts */
    double estimate;
    double error;       /* (estimate - truth) / truth */
    bool judged;        /* it said whether the run fits */
    bool agrees;        /* as the real run did */
    bool capped_fails;  /* a second run that may take `estimate` runs out */
    double conserved;   /* bytes of the card that the estimate leaves free for others; negative for a failure */
    double width;       /* of the range, as a share of the truth; counts if `compared` */
};

enum { PLM_QUANTILES = 5 };
extern const double plm_quantile_of[PLM_QUANTILES]; /* 0.05, 0.25, 0.5, 0.75, 0.95 */

struct plm_metrics {
    size_t runs;        /* in the set */
    size_t answered, compared, judged;
    double median, mean, p95, worst;    /* of the absolute error, over `compared` */
    double quantile[PLM_QUANTILES];     /* of the signed error */
    double under;       /* share of compared runs with an estimate below the truth */
    double agreement;   /* share of judged runs whose verdict is right */
    double pef;         /* share of judged runs that are not accurate: wrong verdict, or the capped run fails */
    double mcp;         /* mean of `conserved` over judged runs */
    double width;       /* mean of `width` over `compared` */
};

/* Is the estimate a failure in the sense of PEF? */
bool plm_score_fails(const struct plm_score *score);

/* total: of the card; the term of MCP for a run. */
double plm_score_conserved(const struct plm_score *score, bool estimated_oom, double total);

/* Figures without runs behind them are 0. 0, or PLM_ENOMEM. */
int plm_metrics_make(const struct plm_score *score, size_t count, struct plm_metrics *metrics);

/* `value` ascending; 0 of none. */
double plm_quantile(const double *value, size_t count, double share);

#endif
