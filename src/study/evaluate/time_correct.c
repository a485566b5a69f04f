#include "study/evaluate/time_correct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

#define METHOD "time-correction"

/* ---- what a row looks like ---- */

enum { SINGLE = 5, FEATURES = PLM_METRICS + PLM_BOUNDS + SINGLE };
static const char *const singles[SINGLE] = {"log_step", "log_busy", "log_host", "log_kernels", "log_batch"};
_Static_assert((int)FEATURES <= (int)PLM_TREE_FEATURES, "trees have room for the features");

static void feature_name(int feature, char out[PLM_TREE_NAME])
{
    if (feature < PLM_METRICS)
        snprintf(out, PLM_TREE_NAME, "%s", plm_metric_name((enum plm_metric)feature));
    else if (feature < PLM_METRICS + PLM_BOUNDS)
        snprintf(out, PLM_TREE_NAME, "%s_share", plm_bound_name((enum plm_bound)(feature - PLM_METRICS)));
    else
        snprintf(out, PLM_TREE_NAME, "%s", singles[feature - PLM_METRICS - PLM_BOUNDS]);
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

/* What is learned: by how much a metric is off, by which factor a time is. */
static double target_of(int figure, double forecast, double measured)
{
    return figure == PLM_FIGURE_STEP ? log(measured / forecast) : measured - forecast;
}

static double target_applied(int figure, double forecast, double target)
{
    return figure == PLM_FIGURE_STEP ? forecast * exp(target) : fmin(fmax(forecast + target, 0), 1);
}

/* ---- learning ---- */

static int figure_learn(const struct plm_time_bench *bench, const struct plm_time_forecast *forecast, const size_t *run,
                        size_t runs, int figure, uint64_t seed, struct plm_time_correct *c, struct plm_error *error)
{
    const struct plm_boosted_settings settings = {
        .trees = 400, .depth = 4, .least = 5, .rate = 0.05, .share = 0.7, .seed = seed};
    double *x = plm_calloc(runs, FEATURES * sizeof *x), *y = plm_calloc(runs, sizeof *y);
    struct plm_boosted *trees = &c->trees[figure];
    struct plm_tree_data data = {.x = x, .y = y, .features = FEATURES};
    int status = 0;
    for (size_t i = 0; i < runs; i++) {
        const struct plm_time_row *row = bench->run[run[i]].row;
        if (!(row->known >> figure & 1) || !forecast[run[i]].known)
            continue;
        features_make(row, &forecast[run[i]], x + data.rows * FEATURES);
        y[data.rows++] = target_of(figure, forecast[run[i]].figure[figure], row->figure[figure]);
    }
    if (data.rows)
        status = plm_boosted_train(&data, &settings, trees, error);
    if (data.rows && status == 0) {
        c->known |= 1u << figure;
        snprintf(trees->method, sizeof trees->method, METHOD);
        snprintf(trees->target, sizeof trees->target, "%s", plm_time_figure_name(figure));
        for (int i = 0; i < FEATURES; i++)
            feature_name(i, trees->feature[i].name);
    }
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
    double x[FEATURES];
    if (!(c->known >> figure & 1))
        return f->figure[figure];
    features_make(row, f, x);
    return target_applied(figure, f->figure[figure], plm_boosted_predict(&c->trees[figure], x));
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

/* Trees of something else, or of other features, would give numbers that mean nothing. */
static int trees_check(const struct plm_boosted *trees, int figure, const char *path, struct plm_error *error)
{
    bool fits = !strcmp(trees->method, METHOD) && !strcmp(trees->target, plm_time_figure_name(figure)) &&
                trees->features == FEATURES;
    for (int i = 0; i < FEATURES && fits; i++) {
        char name[PLM_TREE_NAME];
        feature_name(i, name);
        fits = !strcmp(name, trees->feature[i].name);
    }
    return fits ? 0
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
