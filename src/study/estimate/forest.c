#include "study/estimate/forest.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/crew.h"
#include "common/error.h"
#include "base/memory.h"
#include "study/estimate/folds.h"

/* What a forest has while it grows. Workers grow the trees; what adds up is added afterwards, tree by tree, so that
   the sums do not depend on who was quick. */
struct nursery {
    const struct plm_tree_data *data;
    const struct plm_forest_settings *settings;
    struct plm_forest *forest;
    struct {
        struct plm_tree_grower *grower; /* NULL: the worker has grown nothing yet */
        uint32_t *weight;               /* how often the tree got each row */
    } worker[PLM_CREW];
    struct plm_trees *grown; /* one each */
    double *gain;            /* of each tree, for each feature */
    atomic_size_t nodes;     /* of all */
    double *oob_sum;
    uint32_t *oob_count;
};

static void draw_rows(const struct nursery *n, uint64_t *random, uint32_t *weight)
{
    size_t rows = n->data->rows;
    for (size_t i = 0; i < rows; i++)
        weight[i] = n->settings->all_rows;
    for (size_t i = 0; i < rows && !n->settings->all_rows; i++)
        weight[plm_splitmix_below(random, rows)]++;
}

static void worker_ready(struct nursery *n, size_t worker)
{
    const struct plm_tree_rules rules = {.least = 1, .shuffled = true, .drawn = n->settings->drawn};
    if (n->worker[worker].grower)
        return;
    n->worker[worker].grower = plm_tree_grower_open(n->data, &rules);
    n->worker[worker].weight = plm_calloc(n->data->rows, sizeof *n->worker[worker].weight);
}

static void grow_tree(void *context, size_t number, size_t worker)
{
    struct nursery *n = context;
    const size_t features = n->data->features;
    uint64_t random = plm_splitmix_stream(n->settings->seed, number);
    if (atomic_load(&n->nodes) > PLM_TREE_NODES)
        return;
    worker_ready(n, worker);
    draw_rows(n, &random, n->worker[worker].weight);
    plm_tree_grow(n->worker[worker].grower, n->worker[worker].weight, n->data->y, &random, &n->grown[number]);
    memcpy(n->gain + number * features, plm_tree_gain(n->worker[worker].grower), features * sizeof *n->gain);
    atomic_fetch_add(&n->nodes, n->grown[number].nodes);
}

/* ---- what the trees say together ---- */

static void tree_gain(const struct nursery *n, size_t number)
{
    const double *gain = n->gain + number * n->data->features;
    double total = 0;
    for (size_t i = 0; i < n->data->features; i++)
        total += gain[i];
    for (size_t i = 0; i < n->data->features && total > 0; i++)
        n->forest->feature[i].importance += gain[i] / total;
}

/* The draw of a tree again: the rows that it did not get, as it sees them. */
static void tree_out_of_bag(struct nursery *n, size_t number)
{
    uint64_t random = plm_splitmix_stream(n->settings->seed, number);
    uint32_t *weight = n->worker[0].weight;
    draw_rows(n, &random, weight);
    for (size_t i = 0; i < n->data->rows; i++)
        if (!weight[i]) {
            n->oob_sum[i] += plm_tree_ask(&n->grown[number], 0, plm_tree_row(n->worker[0].grower, i));
            n->oob_count[i]++;
        }
}

static int trees_gather(struct nursery *n)
{
    int status = atomic_load(&n->nodes) > PLM_TREE_NODES ? PLM_EINVAL : 0;
    for (size_t i = 0; i < n->settings->trees && status == 0; i++) {
        tree_gain(n, i);
        if (!n->settings->all_rows)
            tree_out_of_bag(n, i);
        status = plm_trees_join(&n->forest->trees, &n->grown[i]);
    }
    return status;
}

/* ---- what the rows say about the forest ---- */

/* The sums of answers become the errors of these; they are not needed after that. */
static void bag_judge(struct nursery *n)
{
    struct plm_forest *f = n->forest;
    double mean = 0, residual = 0, spread = 0;
    size_t count = 0;
    for (size_t i = 0; i < n->data->rows; i++)
        if (n->oob_count[i]) {
            mean += n->data->y[i];
            count++;
        }
    f->oob_rows = count;
    if (!count)
        return;
    mean /= (double)count;
    count = 0;
    for (size_t i = 0; i < n->data->rows; i++)
        if (n->oob_count[i]) {
            double y = n->data->y[i], off = n->oob_sum[i] / n->oob_count[i] - y;
            residual += off * off;
            spread += (y - mean) * (y - mean);
            n->oob_sum[count++] = fabs(off) / y;
        }
    f->oob_r2 = spread > 0 ? 1 - residual / spread : 0;
    f->oob_error = plm_tree_median(n->oob_sum, count);
}

/* ---- all together ---- */

static void nursery_free(struct nursery *n)
{
    for (size_t i = 0; i < PLM_CREW; i++)
        if (n->worker[i].grower) {
            plm_tree_grower_close(n->worker[i].grower);
            free(n->worker[i].weight);
        }
    for (size_t i = 0; i < n->settings->trees && n->grown; i++)
        plm_trees_free(&n->grown[i]);
    free(n->grown);
    free(n->gain);
    free(n->oob_sum);
    free(n->oob_count);
}

static int forest_grow(struct nursery *n)
{
    const size_t rows = n->data->rows, trees = n->settings->trees;
    n->grown = plm_calloc(trees, sizeof *n->grown);
    n->gain = plm_calloc(trees * n->data->features, sizeof *n->gain);
    n->oob_sum = plm_calloc(rows, sizeof *n->oob_sum);
    n->oob_count = plm_calloc(rows, sizeof *n->oob_count);
    worker_ready(n, 0);
    plm_crew_run(trees, grow_tree, n);
    return trees_gather(n);
}

int plm_forest_train(const struct plm_tree_data *data, const struct plm_forest_settings *settings,
                     struct plm_forest *forest, struct plm_error *error)
{
    struct nursery n = {.data = data, .settings = settings, .forest = forest};
    int status;
    *forest = (struct plm_forest){
        .features = data->features, .rows = data->rows, .seed = settings->seed, .drawn = settings->drawn};
    status = plm_tree_data_check(data, settings->trees, settings->any_target ? -FLT_MAX : 0, error);
    if (status)
        return status;
    status = forest_grow(&n);
    if (status == 0) {
        plm_tree_ranges(data, forest->feature, &forest->low, &forest->high);
        bag_judge(&n);
        plm_tree_importance(forest->feature, data->features);
    } else {
        plm_forest_free(forest);
        plm_fail(error, status, "%zu trees of %zu rows have more than %d nodes", settings->trees, data->rows,
                 PLM_TREE_NODES);
    }
    nursery_free(&n);
    return status;
}

void plm_forest_free(struct plm_forest *forest)
{
    plm_trees_free(&forest->trees);
    *forest = (struct plm_forest){0};
}

double plm_forest_predict(const struct plm_forest *forest, const double *x)
{
    float single[PLM_TREE_FEATURES];
    double total = 0;
    for (size_t i = 0; i < forest->features; i++)
        single[i] = (float)x[i];
    for (size_t i = 0; i < forest->trees.count; i++)
        total += plm_tree_ask(&forest->trees, i, single);
    return forest->trees.count ? total / (double)forest->trees.count : 0;
}

/* ---- rows that were not learned from ---- */

struct fold {
    const struct plm_forest_settings *settings;
    struct plm_forest forest;
};

static int fold_learn(void *context, const struct plm_tree_data *data, struct plm_error *error)
{
    struct fold *f = context;
    return plm_forest_train(data, f->settings, &f->forest, error);
}

static double fold_ask(const void *context, const double *x)
{
    return plm_forest_predict(&((const struct fold *)context)->forest, x);
}

static void fold_forget(void *context)
{
    plm_forest_free(&((struct fold *)context)->forest);
}

int plm_forest_cross(const struct plm_tree_data *data, const struct plm_forest_settings *settings, size_t folds,
                     double *answer, struct plm_error *error)
{
    struct fold fold = {.settings = settings};
    const struct plm_fold_learner learner = {fold_learn, fold_ask, fold_forget, &fold};
    return plm_folds_cross(data, folds, settings->seed, &learner, answer, error);
}

void plm_forest_judge(const struct plm_tree_data *data, const double *answer, struct plm_forest *forest)
{
    double sum = 0;
    for (size_t i = 0; i < data->rows; i++)
        sum += fabs(answer[i] - data->y[i]);
    forest->held_rows = data->rows;
    forest->held_r2 = plm_folds_r2(data, answer);
    forest->held_error = sum / (double)data->rows;
}
