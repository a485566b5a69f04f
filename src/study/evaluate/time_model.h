/*
 * What the time model says about the rows of a bench: constants for each card, forecasts for each row, and the choice
 * of a few constants by rows that were measured.
 *
 * A model belongs to the caller; plm_timed_model_free() ends it. Forecasts are plain values. One thread.
 */
#ifndef PLM_EVALUATE_TIME_MODEL_H
#define PLM_EVALUATE_TIME_MODEL_H

#include "study/evaluate/time_bench.h"
#include "time/speeds.h"

struct plm_install;

struct plm_timed_speeds {
    char card[48];
    struct plm_speeds speeds;
};

struct plm_timed_model {
    struct plm_timed_speeds *card; /* of the bench */
    size_t cards, room;
    struct plm_host_time host;
};

struct plm_timed_forecast {
    bool known;
    double figure[PLM_TIMED_FIGURES];
    double step, busy, host, kernels; /* ns; launched per step */
    double bound[PLM_BOUNDS];         /* ns */
};

/* `path` NULL: each card has the constants of its architecture. Fails with a sentence. */
int plm_timed_model_read(const struct plm_timed_bench *bench, const char *path, const struct plm_install *install,
                         struct plm_host_time host, struct plm_timed_model *model, struct plm_error *error);
void plm_timed_model_free(struct plm_timed_model *model);

/* Of one row; not known, with the reason in the run, if it has no work or the catalogue lacks a figure of its card. */
void plm_timed_model_ask(const struct plm_timed_model *model, struct plm_timed_run *run,
                         struct plm_timed_forecast *forecast);

/* ---- time_fit.c ---- */

enum { PLM_TIME_FIT_MOST = 3 }; /* constants */

struct plm_timed_fit {
    const struct plm_speed *constant[PLM_TIME_FIT_MOST];
    size_t constants;
    double before[PLM_TIME_FIT_MOST], value[PLM_TIME_FIT_MOST];
    size_t rows;              /* that chose them */
    size_t tries;
    double loss_before, loss; /* what was made small: plm_timed_loss() */
};

/* "host_factor,step_us": up to three different constants of time/speeds.def. */
int plm_timed_fit_parse(const char *text, struct plm_timed_fit *fit, struct plm_error *error);
/* Chooses the constants for these runs of the bench, by a search without derivatives (Nelder and Mead, within the
   bounds of each constant), and leaves them in the model, the same for all cards. */
void plm_timed_fit_make(struct plm_timed_bench *bench, const size_t *run, size_t runs, struct plm_timed_model *model,
                        struct plm_timed_fit *fit);
/* Step times: the mean of |log(forecast / measured)|. Utilization: the mean over the metrics of 1 - R². */
double plm_timed_loss(struct plm_timed_bench *bench, const size_t *run, size_t runs,
                      const struct plm_timed_model *model);

/* The least of `f` near `x`, in [0, 1] in each of up to PLM_TIME_FIT_MOST directions; how often f was asked. */
size_t plm_minimum_find(double (*f)(const double *x, void *context), void *context, size_t count, double *x,
                        double *least);

#endif
