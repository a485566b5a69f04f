/*
 * Horus (Yeung et al., IEEE TPDS 2022), its model of utilization: boosted trees over what is known of a network before
 * it runs: operations of a forward pass, parameters, activations, batch, how many convolutions, linear layers and batch
 * normalizations, depth. By the text of the paper, which says neither how large the trees are nor how they are
 * regularized: ours are small with small steps (PLM_BOOSTED_SETTINGS). Nothing of the card is among the features, so
 * the answer holds for the card of the rows.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/csv.h"
#include "study/estimate/boosted.h"
#include "study/estimate/description.h"
#include "study/estimate/model_file.h"
#include "study/learn/learner.h"
#include "study/learn/numbers.h"

#define MOST_PERCENT 100

static const char target[] = "gputl";
enum { FOLDS = 5 };

/* ---- learning ---- */

/* The numbers of the table: x has room for all features of all rows, y for all targets. */
static int read_numbers(const struct plm_csv *table, double *x, double *y, struct plm_error *error)
{
    const struct plm_learn_target answer = {.column = target, .most = MOST_PERCENT};
    return plm_learn_numbers(table, plm_described_features, PLM_FEATURES, &answer, x, y, error);
}

/* How good it is on rows that it has not seen, if there are enough of them to leave some out. */
static int rows_hold_out(const struct plm_tree_data *data, const struct plm_boosted_settings *settings,
                         struct plm_boosted *boosted, struct plm_error *error)
{
    double *answer;
    int status;
    if (data->rows - data->rows / FOLDS - 1 < PLM_TREE_ROWS_LEAST)
        return 0;
    answer = plm_calloc(data->rows, sizeof *answer);
    status = plm_boosted_cross(data, settings, FOLDS, answer, error);
    if (status == 0)
        plm_boosted_judge(data, answer, boosted);
    free(answer);
    return status;
}

static int train(const struct plm_lesson *l, void **model, struct plm_error *error)
{
    struct plm_boosted_settings settings = PLM_BOOSTED_SETTINGS;
    struct plm_boosted *boosted = plm_calloc(1, sizeof *boosted);
    double *x = plm_calloc(l->table->rows, PLM_FEATURES * sizeof *x);
    double *y = plm_calloc(l->table->rows, sizeof *y);
    const struct plm_tree_data data = {x, y, l->table->rows, PLM_FEATURES};
    struct plm_error why = {0};
    int status = read_numbers(l->table, x, y, error);
    *model = boosted;
    settings.trees = l->trees ? l->trees : settings.trees;
    settings.seed = l->seed;
    if (status == 0) {
        status = plm_boosted_train(&data, &settings, boosted, &why);
        if (status == 0)
            status = rows_hold_out(&data, &settings, boosted, &why);
        if (status)
            plm_fail(error, status, "%.200s: %.250s", l->table->path, why.text);
    }
    snprintf(boosted->target, sizeof boosted->target, "gputl-percent");
    for (size_t i = 0; i < PLM_FEATURES; i++)
        snprintf(boosted->feature[i].name, sizeof boosted->feature[i].name, "%s", plm_described_features[i]);
    free(x);
    free(y);
    return status;
}

/* ---- in a file ---- */

static int load(const struct plm_method *method, struct plm_model_file *file, void **model)
{
    struct plm_boosted *boosted = plm_calloc(1, sizeof *boosted);
    int status = plm_boosted_read(file, boosted);
    *model = boosted;
    if (status)
        return status;
    if (boosted->low < 0 || boosted->high > MOST_PERCENT)
        return plm_fail(file->error, PLM_EFORMAT, "%.300s: the trees predict %g to %g, which are not percentages",
                        file->path, boosted->low, boosted->high);
    for (size_t i = 0; i < PLM_FEATURES; i++)
        if (boosted->features != PLM_FEATURES || strcmp(boosted->feature[i].name, plm_described_features[i]) != 0)
            return plm_fail(file->error, PLM_EFORMAT, "%.300s: the trees have other features than %s", file->path,
                            method->name);
    return 0;
}

static void forget(void *model)
{
    if (model)
        plm_boosted_free(model);
    free(model);
}

/* ---- what was learned ---- */

static const struct plm_tree_feature *features(const void *model, size_t *count)
{
    const struct plm_boosted *b = model;
    *count = b->features;
    return b->feature;
}

static void show(const void *model, const struct plm_page *p)
{
    const struct plm_boosted *b = model;
    plm_learned_trees_show(p, "horus-utilization", &b->trees, b->rows, b->seed);
    fprintf(p->out, "The rows kept the GPU busy for %.1f to %.1f %% of the time.\n", b->low, b->high);
    if (b->held_rows)
        fprintf(p->out, "On held-out rows (%" PRIu64 ", five folds): R%s %.3f, median error %.1f points.\n",
                b->held_rows, plm_squared(p), b->held_r2, b->held_error);
    plm_features_show(b->feature, b->features, p);
}

static void describe(const void *model, struct plm_json *json)
{
    const struct plm_boosted *b = model;
    plm_learned_trees_describe(json, &b->trees, b->rows, b->seed);
    plm_json_real(json, "lowest_percent", b->low);
    plm_json_real(json, "highest_percent", b->high);
    if (b->held_rows) {
        plm_json_object(json, "held_out");
        plm_json_integer(json, "rows", b->held_rows);
        plm_json_real(json, "r2", b->held_r2);
        plm_json_real(json, "median_error_points", b->held_error);
        plm_json_end_object(json);
    }
    plm_features_describe(b->feature, b->features, json);
}

/* ---- asking ---- */

/* The first feature that lies outside is told. */
static void check_domain(const struct plm_boosted *boosted, const double x[PLM_FEATURES], struct plm_answer *answer)
{
    for (size_t i = 0; i < PLM_FEATURES; i++) {
        const struct plm_tree_feature *known = &boosted->feature[i];
        if (x[i] < known->low || x[i] > known->high)
            plm_answer_outside(answer, "%s is %.6g to %.6g in its rows, but %.6g in this job", known->name, known->low,
                               known->high, x[i]);
    }
}

static void estimate(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const double *x = evidence->description->feature;
    const struct plm_boosted *boosted = evidence->model->model;
    for (size_t i = 0; i < PLM_FEATURES; i++)
        if (x[i] < 0) {
            plm_answer_none(answer, "the description has no feature \"%s\": make a new one with `plimsoll describe`",
                            plm_described_features[i]);
            return;
        }
    /* Steps may lead a little beyond the rows; a share of time cannot. */
    answer->percent = fmin(fmax(plm_boosted_predict(boosted, x), boosted->low), boosted->high);
    check_domain(boosted, x, answer);
}

/* ---- its row ---- */

static const struct plm_learner learner = {
    .noun = "the trees",
    .takes = PLM_LESSON_TREES,
    .train = train,
    .load = load,
    .put = plm_boosted_put,
    .show = show,
    .describe = describe,
    .features = features,
    .free = forget,
};
const struct plm_method plm_method_horus_utilization = {
    .name = "horus-utilization",
    .paradigm = PLM_LEARNED,
    .kind = PLM_ANSWER_UTILIZATION,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "networks like its training rows, on their GPU",
    .leaves_out = "the GPU, the optimizer, the host",
    .estimate = estimate,
    .learner = &learner,
};
