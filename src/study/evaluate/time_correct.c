#include "study/evaluate/time_correct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/estimate/model_file.h"
#include "study/learn/correction.h"

#define KIND "time-correction"

/* ---- what a row looks like ---- */

enum { SINGLE = 8, FEATURES = PLM_METRICS + PLM_BOUNDS + SINGLE };
static const char *const singles[SINGLE] = {"log_step",  "log_busy",       "log_host",       "log_kernels",
                                            "log_batch", "smact_of_gract", "smocc_of_smact", "fp32a_of_smact"};
_Static_assert((int)FEATURES <= (int)PLM_TREE_FEATURES, "trees have room for the features");

static const char *feature_name(size_t feature)
{
    static const char *const shares[PLM_BOUNDS] = {
        [PLM_BOUND_HOST] = "host_share",           [PLM_BOUND_COMPUTE] = "compute_share",
        [PLM_BOUND_BANDWIDTH] = "bandwidth_share", [PLM_BOUND_LAUNCHES] = "launches_share",
        [PLM_BOUND_COPIES] = "copies_share",       [PLM_BOUND_COMMUNICATION] = "communication_share"};
    if (feature < PLM_METRICS)
        return plm_metric_name((enum plm_metric)feature);
    return feature < PLM_METRICS + PLM_BOUNDS ? shares[feature - PLM_METRICS]
                                              : singles[feature - PLM_METRICS - PLM_BOUNDS];
}

static struct plm_correction_frame frame_of(int figure)
{
    return (struct plm_correction_frame){plm_timed_figure_name(figure), FEATURES, feature_name};
}

static double metric_of(const struct plm_timed_forecast *f, enum plm_metric metric, enum plm_metric whole)
{
    const double all = f->figure[PLM_FIGURE_METRIC + whole];
    return all > 0 ? f->figure[PLM_FIGURE_METRIC + metric] / all : 0;
}

static void features_make(const struct plm_timed_row *row, const struct plm_timed_forecast *f, double x[FEATURES])
{
    const double single[SINGLE] = {log(f->step + 1),
                                   log(f->busy + 1),
                                   log(f->host + 1),
                                   log(f->kernels + 1),
                                   log((double)row->batch + 1),
                                   metric_of(f, PLM_METRIC_SMACT, PLM_METRIC_GRACT),
                                   metric_of(f, PLM_METRIC_SMOCC, PLM_METRIC_SMACT),
                                   metric_of(f, PLM_METRIC_FP32A, PLM_METRIC_SMACT)};
    memcpy(x, f->figure + PLM_FIGURE_METRIC, PLM_METRICS * sizeof *x);
    for (int i = 0; i < PLM_BOUNDS; i++)
        x[PLM_METRICS + i] = f->step > 0 ? f->bound[i] / f->step : 0;
    memcpy(x + PLM_METRICS + PLM_BOUNDS, single, sizeof single);
}

/* By how much a metric is off, by which factor a time is. */
static enum plm_correction_way way_of(int figure)
{
    return figure == PLM_FIGURE_STEP ? PLM_CORRECT_BY_FACTOR : PLM_CORRECT_BY_SUM;
}

/* Warps are resident on multiprocessors that are active. How many on each depends on the kernels, how long they are
   active on the host too, so that SMOCC is corrected beyond what SMACT is: a figure here stands on the other one. */
static const int stands_on[PLM_TIMED_FIGURES] = {[PLM_FIGURE_METRIC + PLM_METRIC_SMOCC] =
                                                     PLM_FIGURE_METRIC + PLM_METRIC_SMACT};
_Static_assert(PLM_FIGURE_STEP == 0, "0 is no figure that another one stands on");

/* The forecast of a figure, if the one that it stands on is `other`. */
static double forecast_with(const struct plm_timed_forecast *f, int figure, double other)
{
    const double was = f->figure[stands_on[figure]];
    return stands_on[figure] && was > 0 ? fmin(f->figure[figure] * other / was, 1) : f->figure[figure];
}

/* ---- learning ---- */

static double forecast_measured(const struct plm_timed_row *row, const struct plm_timed_forecast *f, int figure)
{
    const int other = stands_on[figure];
    return forecast_with(f, figure, row->known >> other & 1 ? row->figure[other] : f->figure[other]);
}

static int figure_learn(const struct plm_timed_bench *bench, const struct plm_timed_forecast *forecast,
                        const size_t *run, size_t runs, int figure, struct plm_timed_correct *c,
                        struct plm_error *error)
{
    double *x = plm_calloc(runs, FEATURES * sizeof *x), *y = plm_calloc(runs, sizeof *y);
    struct plm_tree_data data = {.x = x, .y = y, .features = FEATURES};
    int status = 0;
    for (size_t i = 0; i < runs; i++) {
        const struct plm_timed_row *row = bench->run[run[i]].row;
        if (!(row->known >> figure & 1) || !forecast[run[i]].known)
            continue;
        features_make(row, &forecast[run[i]], x + data.rows * FEATURES);
        y[data.rows++] = plm_correction_target(way_of(figure), forecast_measured(row, &forecast[run[i]], figure),
                                               row->figure[figure]);
    }
    if (data.rows)
        status = plm_ridge_train(&data, &c->ridge[figure], error);
    if (data.rows && status == 0)
        c->known |= 1u << figure;
    free(x);
    free(y);
    return status;
}

int plm_timed_correct_learn(const struct plm_timed_bench *bench, const struct plm_timed_forecast *forecast,
                            const size_t *run, size_t runs, struct plm_timed_correct *c, struct plm_error *error)
{
    int first, status = 0;
    const int figures = plm_timed_kind_figures(bench->truth->kind, &first);
    *c = (struct plm_timed_correct){.rows = runs};
    for (int i = first; i < first + figures && status == 0; i++)
        status = figure_learn(bench, forecast, run, runs, i, c, error);
    if (status)
        plm_timed_correct_free(c);
    return status;
}

double plm_timed_correct_figure(const struct plm_timed_correct *c, const struct plm_timed_row *row,
                                const struct plm_timed_forecast *f, int figure)
{
    double x[FEATURES], figured;
    if (!(c->known >> figure & 1))
        return f->figure[figure];
    features_make(row, f, x);
    figured = f->figure[figure];
    if (stands_on[figure])
        figured = forecast_with(f, figure, plm_timed_correct_figure(c, row, f, stands_on[figure]));
    figured = plm_correction_apply(way_of(figure), figured, plm_ridge_predict(&c->ridge[figure], x));
    return figure == PLM_FIGURE_STEP ? figured : fmin(fmax(figured, 0), 1);
}

void plm_timed_correct_free(struct plm_timed_correct *c)
{
    for (int i = 0; i < PLM_TIMED_FIGURES; i++)
        if (c->known >> i & 1)
            plm_ridge_free(&c->ridge[i]);
    *c = (struct plm_timed_correct){0};
}

/* ---- in a folder ---- */

void plm_timed_correct_path(const char *folder, int figure, char *out, size_t size)
{
    snprintf(out, size, "%.3900s/%s.model", folder, plm_timed_figure_name(figure));
}

struct one_figure {
    struct plm_correction_frame frame;
    const struct plm_ridge *ridge;
};

static void figure_put(FILE *out, const void *what)
{
    const struct one_figure *one = what;
    plm_ridge_put(out, &one->frame, one->ridge);
}

int plm_timed_correct_save(FILE *out, const struct plm_timed_correct *c, int figure)
{
    return plm_model_file_save(out, KIND, figure_put, &(struct one_figure){frame_of(figure), &c->ridge[figure]});
}

static int figure_load(const char *path, int figure, struct plm_ridge *ridge, struct plm_error *error)
{
    const struct plm_correction_frame frame = frame_of(figure);
    struct plm_model_file file;
    int status = plm_model_file_open(path, &file, error);
    if (status == 0 && strcmp(file.kind, KIND) != 0)
        status = plm_fail(error, PLM_EFORMAT, "%.300s is a model for %s, and no correction of time", path, file.kind);
    if (status == 0)
        status = plm_ridge_read(&file, &frame, ridge);
    plm_model_file_close(&file);
    return status;
}

int plm_timed_correct_load(const char *folder, struct plm_timed_correct *c, struct plm_error *error)
{
    char path[4096];
    int status = 0;
    *c = (struct plm_timed_correct){0};
    for (int i = 0; i < PLM_TIMED_FIGURES && status == 0; i++) {
        plm_timed_correct_path(folder, i, path, sizeof path);
        if (access(path, F_OK))
            continue;
        status = figure_load(path, i, &c->ridge[i], error);
        if (status)
            break;
        c->known |= 1u << i;
        c->rows = c->ridge[i].rows;
    }
    if (status == 0 && !c->known)
        status = plm_fail(error, PLM_ENOTFOUND,
                          "no correction in %.300s; `plimsoll evaluate time TRUTH.csv --learn N --correction %.300s` "
                          "makes one",
                          folder, folder);
    if (status)
        plm_timed_correct_free(c);
    return status;
}
