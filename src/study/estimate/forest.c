#include "study/estimate/forest.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/error.h"

/* What a forest has while it grows. */
struct nursery {
    const struct plm_tree_data *data;
    const struct plm_forest_settings *settings;
    struct plm_forest *forest;
    struct plm_tree_grower *grower;
    uint32_t *weight; /* how often the tree got each row */
    double *oob_sum;
    uint32_t *oob_count;
};

static void draw_rows(struct nursery *n, uint64_t *random)
{
    size_t rows = n->data->rows;
    for (size_t i = 0; i < rows; i++)
        n->weight[i] = n->settings->all_rows;
    for (size_t i = 0; i < rows && !n->settings->all_rows; i++)
        n->weight[plm_splitmix_below(random, rows)]++;
}

static void tree_gain(struct nursery *n)
{
    const double *gain = plm_tree_gain(n->grower);
    double total = 0;
    for (size_t i = 0; i < n->data->features; i++)
        total += gain[i];
    for (size_t i = 0; i < n->data->features && total > 0; i++)
        n->forest->feature[i].importance += gain[i] / total;
}

static int grow_tree(struct nursery *n, size_t number)
{
    uint64_t random = plm_splitmix_stream(n->settings->seed, number);
    struct plm_trees *trees = &n->forest->trees;
    draw_rows(n, &random);
    if (plm_tree_grow(n->grower, n->weight, n->data->y, &random, trees))
        return PLM_EINVAL;
    tree_gain(n);
    for (size_t i = 0; i < n->data->rows; i++)
        if (!n->weight[i]) {
            n->oob_sum[i] += plm_tree_ask(trees, number, plm_tree_row(n->grower, i));
            n->oob_count[i]++;
        }
    return 0;
}

/* ---- what the rows say about the forest ---- */

/* The sums of answers become the errors of these; they are not needed after that. */
static void forest_judge(struct nursery *n)
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

static int forest_grow(struct nursery *n)
{
    static const struct plm_tree_rules rules = {.least = 1, .shuffled = true};
    const size_t rows = n->data->rows;
    int status = 0;
    n->grower = plm_tree_grower_open(n->data, &rules);
    n->weight = plm_calloc(rows, sizeof *n->weight);
    n->oob_sum = plm_calloc(rows, sizeof *n->oob_sum);
    n->oob_count = plm_calloc(rows, sizeof *n->oob_count);
    for (size_t i = 0; i < n->settings->trees && status == 0; i++)
        status = grow_tree(n, i);
    plm_tree_grower_close(n->grower);
    return status;
}

int plm_forest_train(const struct plm_tree_data *data, const struct plm_forest_settings *settings,
                     struct plm_forest *forest, struct plm_error *error)
{
    struct nursery n = {.data = data, .settings = settings, .forest = forest};
    int status;
    *forest = (struct plm_forest){.features = data->features, .rows = data->rows, .seed = settings->seed};
    status = plm_tree_data_check(data, settings->trees, 0, error);
    if (status)
        return status;
    status = forest_grow(&n);
    if (status == 0) {
        plm_tree_ranges(data, forest->feature, &forest->low, &forest->high);
        forest_judge(&n);
        plm_tree_importance(forest->feature, data->features);
    } else {
        plm_forest_free(forest);
        plm_fail(error, status, "%zu trees of %zu rows have more than %d nodes", settings->trees, data->rows,
                 PLM_TREE_NODES);
    }
    free(n.weight);
    free(n.oob_sum);
    free(n.oob_count);
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
