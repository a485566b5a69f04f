#include "study/evaluate/time_correct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "study/learn/correction.h"

#define METHOD "time-correction"

/* ---- what a row looks like ---- */

enum { SINGLE = 5, FEATURES = PLM_METRICS + PLM_BOUNDS + SINGLE };
static const char *const singles[SINGLE] = {"log_step", "log_busy", "log_host", "log_kernels", "log_batch"};
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
    return (struct plm_correction_frame){METHOD, plm_time_figure_name(figure), FEATURES, feature_name};
}

static void features_make(const struct plm_time_row *row, const struct plm_time_forecast *f, double x[FEATURES])
{
    const double single[SINGLE] = {log(f->step + 1), log(f->busy + 1), log(f->host + 1), log(f->kernels + 1),
                                   log((double)row->batch + 1)};
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

/* ---- learning ---- */

static int figure_learn(const struct plm_time_bench *bench, const struct plm_time_forecast *forecast, const size_t *run,
                        size_t runs, int figure, uint64_t seed, struct plm_time_correct *c, struct plm_error *error)
{
    const struct plm_correction_frame frame = frame_of(figure);
    struct plm_boosted_settings settings = PLM_CORRECTION_SETTINGS;
    double *x = plm_calloc(runs, FEATURES * sizeof *x), *y = plm_calloc(runs, sizeof *y);
    struct plm_tree_data data = {.x = x, .y = y, .features = FEATURES};
    int status = 0;
    settings.seed = seed;
    for (size_t i = 0; i < runs; i++) {
        const struct plm_time_row *row = bench->run[run[i]].row;
        if (!(row->known >> figure & 1) || !forecast[run[i]].known)
            continue;
        features_make(row, &forecast[run[i]], x + data.rows * FEATURES);
        y[data.rows++] = plm_correction_target(way_of(figure), forecast[run[i]].figure[figure], row->figure[figure]);
    }
    if (data.rows)
        status = plm_correction_learn(&frame, &data, &settings, &c->trees[figure], error);
    if (data.rows && status == 0)
        c->known |= 1u << figure;
    free(x);
    free(y);
    return status;
}

int plm_time_correct_learn(const struct plm_time_bench *bench, const struct plm_time_forecast *forecast,
                           const size_t *run, size_t runs, uint64_t seed, struct plm_time_correct *c,
                           struct plm_error *error)
{
    int first, status = 0;
    const int figures = plm_time_kind_figures(bench->truth->kind, &first);
    *c = (struct plm_time_correct){.rows = runs};
    for (int i = first; i < first + figures && status == 0; i++)
        status = figure_learn(bench, forecast, run, runs, i, seed, c, error);
    if (status)
        plm_time_correct_free(c);
    return status;
}

double plm_time_correct_figure(const struct plm_time_correct *c, const struct plm_time_row *row,
                               const struct plm_time_forecast *f, int figure)
{
    double x[FEATURES], figured;
    if (!(c->known >> figure & 1))
        return f->figure[figure];
    features_make(row, f, x);
    figured = plm_correction_apply(way_of(figure), f->figure[figure], plm_boosted_predict(&c->trees[figure], x));
    return figure == PLM_FIGURE_STEP ? figured : fmin(fmax(figured, 0), 1);
}

void plm_time_correct_free(struct plm_time_correct *c)
{
    for (int i = 0; i < PLM_TIME_FIGURES; i++)
        if (c->known >> i & 1)
            plm_boosted_free(&c->trees[i]);
    *c = (struct plm_time_correct){0};
}

/* ---- in a folder ---- */

void plm_time_correct_path(const char *folder, int figure, char *out, size_t size)
{
    snprintf(out, size, "%.3900s/%s.trees", folder, plm_time_figure_name(figure));
}

static int trees_check(const struct plm_boosted *trees, int figure, const char *path, struct plm_error *error)
{
    const struct plm_correction_frame frame = frame_of(figure);
    return plm_correction_fits(&frame, trees)
               ? 0
               : plm_fail(error, PLM_EFORMAT, "%.300s holds no correction of %s that this release can use", path,
                          plm_time_figure_name(figure));
}

int plm_time_correct_load(const char *folder, struct plm_time_correct *c, struct plm_error *error)
{
    char path[4096];
    int status = 0;
    *c = (struct plm_time_correct){0};
    for (int i = 0; i < PLM_TIME_FIGURES && status == 0; i++) {
        plm_time_correct_path(folder, i, path, sizeof path);
        if (access(path, F_OK))
            continue;
        status = plm_boosted_load(path, &c->trees[i], error);
        if (status)
            break;
        c->known |= 1u << i;
        c->rows = c->trees[i].rows;
        status = trees_check(&c->trees[i], i, path, error);
    }
    if (status == 0 && !c->known)
        status =
            plm_fail(error, PLM_ENOTFOUND, "there is no correction in %.300s: no file there ends in .trees", folder);
    if (status)
        plm_time_correct_free(c);
    return status;
}
