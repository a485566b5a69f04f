#include "study/estimate/boosted.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/estimate/folds.h"

/* ---- learning ---- */

static int settings_check(const struct plm_tree_data *data, const struct plm_boosted_settings *s,
                          struct plm_error *error)
{
    int status = plm_tree_data_check(data, s->trees, -FLT_MAX, error);
    if (status == 0 && !(s->rate > 0 && s->rate <= 1))
        status = plm_fail(error, PLM_EINVAL, "the learning rate must be above 0 and at most 1, not %g", s->rate);
    if (status == 0 && !(s->share > 0 && s->share <= 1))
        status =
            plm_fail(error, PLM_EINVAL, "the share of rows per tree must be above 0 and at most 1, not %g", s->share);
    return status;
}

/* How many rows a tree gets: at least one. */
static size_t rows_taken(const struct plm_tree_data *data, const struct plm_boosted_settings *s)
{
    size_t taken = (size_t)(s->share * (double)data->rows + 0.5);
    return taken ? taken : 1;
}

/* Every set of so many rows is as likely: of those that are left, each is taken with the share that is still wanted. */
static void draw_rows(uint32_t *weight, size_t rows, size_t wanted, uint64_t *random)
{
    for (size_t i = 0; i < rows; i++) {
        weight[i] = plm_splitmix_below(random, rows - i) < wanted;
        wanted -= weight[i];
    }
}

static double mean_of(const double *value, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += value[i];
    return sum / (double)count;
}

/* The leaves of the last tree become steps. */
static void tree_shrink(struct plm_trees *trees, double rate)
{
    for (size_t i = trees->root[trees->count - 1]; i < trees->nodes; i++)
        if (trees->node[i].feature < 0)
            trees->node[i].value *= rate;
}

static int boosted_grow(struct plm_boosted *b, const struct plm_tree_data *data, const struct plm_boosted_settings *s)
{
    const struct plm_tree_rules rules = {.depth = s->depth, .least = s->least ? s->least : 1};
    struct plm_tree_grower *grower = plm_tree_grower_open(data, &rules);
    uint32_t *weight = plm_calloc(data->rows, sizeof *weight);
    double *left_over = plm_calloc(data->rows, sizeof *left_over);
    int status = 0;
    for (size_t i = 0; i < data->rows; i++)
        left_over[i] = data->y[i] - b->base;
    for (size_t tree = 0; tree < s->trees && status == 0; tree++) {
        uint64_t random = plm_splitmix_stream(s->seed, tree);
        draw_rows(weight, data->rows, rows_taken(data, s), &random);
        status = plm_tree_grow(grower, weight, left_over, &random, &b->trees);
        if (status)
            break;
        tree_shrink(&b->trees, s->rate);
        for (size_t i = 0; i < data->rows; i++)
            left_over[i] -= plm_tree_ask(&b->trees, tree, plm_tree_row(grower, i));
        for (size_t i = 0; i < data->features; i++)
            b->feature[i].importance += plm_tree_gain(grower)[i];
    }
    plm_tree_grower_close(grower);
    free(weight);
    free(left_over);
    return status;
}

int plm_boosted_train(const struct plm_tree_data *data, const struct plm_boosted_settings *settings,
                      struct plm_boosted *boosted, struct plm_error *error)
{
    int status;
    *boosted = (struct plm_boosted){.features = data->features, .rows = data->rows, .seed = settings->seed};
    status = settings_check(data, settings, error);
    if (status)
        return status;
    plm_tree_ranges(data, boosted->feature, &boosted->low, &boosted->high);
    boosted->base = fmin(fmax(mean_of(data->y, data->rows), boosted->low), boosted->high); /* but for rounding */
    status = boosted_grow(boosted, data, settings);
    if (status) {
        plm_boosted_free(boosted);
        return plm_fail(error, status, "%zu trees of %zu rows have more than %d nodes", settings->trees, data->rows,
                        PLM_TREE_NODES);
    }
    plm_tree_importance(boosted->feature, data->features);
    return 0;
}

void plm_boosted_free(struct plm_boosted *boosted)
{
    plm_trees_free(&boosted->trees);
    *boosted = (struct plm_boosted){0};
}

double plm_boosted_predict(const struct plm_boosted *boosted, const double *x)
{
    float single[PLM_TREE_FEATURES];
    double answer = boosted->base;
    for (size_t i = 0; i < boosted->features; i++)
        single[i] = (float)x[i];
    for (size_t i = 0; i < boosted->trees.count; i++)
        answer += plm_tree_ask(&boosted->trees, i, single);
    return answer;
}

/* ---- rows that were not learned from ---- */

struct fold {
    const struct plm_boosted_settings *settings;
    struct plm_boosted boosted;
};

static int fold_learn(void *context, const struct plm_tree_data *data, struct plm_error *error)
{
    struct fold *f = context;
    return plm_boosted_train(data, f->settings, &f->boosted, error);
}

static double fold_ask(const void *context, const double *x)
{
    return plm_boosted_predict(&((const struct fold *)context)->boosted, x);
}

static void fold_forget(void *context)
{
    plm_boosted_free(&((struct fold *)context)->boosted);
}

int plm_boosted_cross(const struct plm_tree_data *data, const struct plm_boosted_settings *settings, size_t folds,
                      double *answer, struct plm_error *error)
{
    struct fold fold = {.settings = settings};
    const struct plm_fold_learner learner = {fold_learn, fold_ask, fold_forget, &fold};
    int status = settings_check(data, settings, error);
    return status ? status : plm_folds_cross(data, folds, settings->seed, &learner, answer, error);
}

void plm_boosted_judge(const struct plm_tree_data *data, const double *answer, struct plm_boosted *boosted)
{
    double *off = plm_calloc(data->rows, sizeof *off);
    for (size_t i = 0; i < data->rows; i++)
        off[i] = fabs(answer[i] - data->y[i]);
    boosted->held_rows = data->rows;
    boosted->held_r2 = plm_folds_r2(data, answer);
    boosted->held_error = plm_tree_median(off, data->rows);
    free(off);
}
