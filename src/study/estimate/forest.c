#include "study/estimate/forest.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/error.h"

/* Values closer than this are one value, as in scikit-learn. */
#define SAME 1e-7F

/* ---- the generator: splitmix64, one stream for each tree ---- */

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* From 0 to n - 1, each as likely: the high half of a product of 64 bits by n, which must be below 2^32. */
static size_t random_below(uint64_t *state, size_t n)
{
    return (size_t)(((random_next(state) >> 32) * (uint64_t)n) >> 32);
}

/* ---- one tree ---- */

struct item {
    float x;
    uint32_t row;
};

/* A branch that is still to be made of rows[from..to). */
struct branch {
    size_t from, to;
    uint32_t parent; /* whose right branch it is; its own number: nobody's */
};

struct grower {
    const struct plm_forest_data *data;
    struct plm_forest *forest;
    float *x;          /* as scikit-learn has them: in single precision */
    uint32_t *weight;  /* how often the tree got each row */
    uint32_t *row;     /* those with a weight, in the order of the branches */
    struct item *item; /* scratch, one for each row */
    struct branch *open;
    size_t opens, open_room, node_room;
    double *gain;      /* of each feature, in this tree */
    double *oob_sum;
    uint32_t *oob_count;
    uint64_t random;
};

struct split {
    int feature; /* -1: none */
    double threshold, score, gain;
};

/* Weighted sums over a branch: how many, of y, of y^2. */
struct sums {
    double n, y, yy;
};

static void sums_add(struct sums *s, const struct grower *g, uint32_t row)
{
    double w = g->weight[row], y = g->data->y[row];
    s->n += w;
    s->y += w * y;
    s->yy += w * y * y;
}

static struct sums branch_sum(const struct grower *g, const struct branch *b)
{
    struct sums s = {0};
    for (size_t i = b->from; i < b->to; i++)
        sums_add(&s, g, g->row[i]);
    return s;
}

static double variance(const struct sums *s)
{
    double mean = s->y / s->n;
    return s->yy / s->n - mean * mean;
}

/* By value; among equals by row, so that sums are added up in one order. */
static int by_value(const void *a, const void *b)
{
    const struct item *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

/* Every place between two values of a feature; the best so far is only beaten, never equalled. */
static void try_feature(struct grower *g, const struct branch *b, const struct sums *all, int feature,
                        struct split *best)
{
    size_t count = b->to - b->from, features = g->data->features;
    struct sums left = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t row = g->row[b->from + i];
        g->item[i] = (struct item){g->x[row * features + (size_t)feature], row};
    }
    qsort(g->item, count, sizeof *g->item, by_value);
    for (size_t i = 0; i + 1 < count; i++) {
        double right_n, right_y, score;
        sums_add(&left, g, g->item[i].row);
        if (g->item[i + 1].x <= g->item[i].x + SAME)
            continue;
        right_n = all->n - left.n;
        right_y = all->y - left.y;
        score = left.y * left.y / left.n + right_y * right_y / right_n;
        if (score <= best->score)
            continue;
        best->feature = feature;
        best->score = score;
        best->gain = score - all->y * all->y / all->n;
        best->threshold = (double)g->item[i].x / 2 + (double)g->item[i + 1].x / 2;
        if (best->threshold >= (double)g->item[i + 1].x)
            best->threshold = g->item[i].x;
    }
}

/* Features are tried in an order that is drawn: among splits that are equally good, any may win. */
static struct split find_split(struct grower *g, const struct branch *b, const struct sums *all)
{
    struct split best = {.feature = -1, .score = -INFINITY};
    int order[PLM_FOREST_FEATURES];
    size_t features = g->data->features;
    for (size_t i = 0; i < features; i++)
        order[i] = (int)i;
    for (size_t i = features; i > 1; i--) {
        size_t other = random_below(&g->random, i);
        int kept = order[other];
        order[other] = order[i - 1];
        order[i - 1] = kept;
    }
    for (size_t i = 0; i < features; i++)
        try_feature(g, b, all, order[i], &best);
    return best;
}

/* Rows that go left to the front; both sides keep their order. Returns where the right side begins. */
static size_t rows_part(struct grower *g, const struct branch *b, const struct split *split)
{
    size_t to = b->from, others = 0;
    for (size_t i = b->from; i < b->to; i++) {
        uint32_t row = g->row[i];
        if ((double)g->x[row * g->data->features + (size_t)split->feature] <= split->threshold)
            g->row[to++] = row;
        else
            g->item[others++].row = row;
    }
    for (size_t i = 0; i < others; i++)
        g->row[to + i] = g->item[i].row;
    return to;
}

static void branch_open(struct grower *g, size_t from, size_t to, uint32_t parent)
{
    g->open = plm_grow(g->open, g->opens, &g->open_room, sizeof *g->open);
    g->open[g->opens++] = (struct branch){from, to, parent};
}

/* One node for the branch, and its two branches to be made: the left one next, so that it follows. PLM_EINVAL: there
   are too many nodes. */
static int make_node(struct grower *g, struct branch b)
{
    struct plm_forest *f = g->forest;
    uint32_t self = (uint32_t)f->nodes;
    struct sums all = branch_sum(g, &b);
    struct split split = {.feature = -1};
    size_t middle;
    if (f->nodes >= PLM_FOREST_NODES)
        return PLM_EINVAL;
    f->node = plm_grow(f->node, f->nodes, &g->node_room, sizeof *f->node);
    f->nodes++;
    if (b.parent != self)
        f->node[b.parent].right = self;
    if (b.to - b.from > 1 && variance(&all) > DBL_EPSILON)
        split = find_split(g, &b, &all);
    if (split.feature < 0) {
        f->node[self] = (struct plm_forest_node){.value = all.y / all.n, .feature = -1};
        return 0;
    }
    middle = rows_part(g, &b, &split);
    f->node[self] = (struct plm_forest_node){.value = split.threshold, .feature = split.feature};
    g->gain[split.feature] += split.gain;
    branch_open(g, middle, b.to, self);
    branch_open(g, b.from, middle, self + 1); /* its own number: it is the next node */
    return 0;
}

static void draw_rows(struct grower *g, const struct plm_forest_settings *settings, size_t *count)
{
    size_t rows = g->data->rows;
    *count = 0;
    for (size_t i = 0; i < rows; i++)
        g->weight[i] = settings->all_rows;
    for (size_t i = 0; i < rows && !settings->all_rows; i++)
        g->weight[random_below(&g->random, rows)]++;
    for (uint32_t i = 0; i < rows; i++)
        if (g->weight[i])
            g->row[(*count)++] = i;
}

static double ask_tree(const struct plm_forest *f, uint32_t node, const float *x)
{
    while (f->node[node].feature >= 0)
        node = (double)x[f->node[node].feature] <= f->node[node].value ? node + 1 : f->node[node].right;
    return f->node[node].value;
}

static int grow_tree(struct grower *g, const struct plm_forest_settings *settings, size_t number)
{
    struct plm_forest *f = g->forest;
    size_t features = g->data->features, count;
    double total = 0;
    g->random = settings->seed;
    g->random = random_next(&g->random) ^ (0xd1b54a32d192ed03u * ((uint64_t)number + 1));
    memset(g->gain, 0, features * sizeof *g->gain);
    draw_rows(g, settings, &count);
    f->tree[number] = (uint32_t)f->nodes;
    g->opens = 0;
    branch_open(g, 0, count, f->tree[number]);
    while (g->opens)
        if (make_node(g, g->open[--g->opens]))
            return PLM_EINVAL;
    for (size_t i = 0; i < features; i++)
        total += g->gain[i];
    for (size_t i = 0; i < features && total > 0; i++)
        f->feature[i].importance += g->gain[i] / total;
    for (size_t i = 0; i < g->data->rows; i++)
        if (!g->weight[i]) {
            g->oob_sum[i] += ask_tree(f, f->tree[number], g->x + i * features);
            g->oob_count[i]++;
        }
    return 0;
}

/* ---- what the rows say about the forest ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_of(double *value, size_t count)
{
    qsort(value, count, sizeof *value, by_size);
    return count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
}

/* The sums of answers become the errors of these; they are not needed after that. */
static void forest_judge(struct grower *g)
{
    struct plm_forest *f = g->forest;
    double mean = 0, residual = 0, spread = 0;
    size_t count = 0;
    for (size_t i = 0; i < g->data->rows; i++)
        if (g->oob_count[i]) {
            mean += g->data->y[i];
            count++;
        }
    f->oob_rows = count;
    if (!count)
        return;
    mean /= (double)count;
    count = 0;
    for (size_t i = 0; i < g->data->rows; i++)
        if (g->oob_count[i]) {
            double y = g->data->y[i], off = g->oob_sum[i] / g->oob_count[i] - y;
            residual += off * off;
            spread += (y - mean) * (y - mean);
            g->oob_sum[count++] = fabs(off) / y;
        }
    f->oob_r2 = spread > 0 ? 1 - residual / spread : 0;
    f->oob_error = median_of(g->oob_sum, count);
}

static void widen(double *low, double *high, double value)
{
    if (value < *low)
        *low = value;
    if (value > *high)
        *high = value;
}

static void find_ranges(const struct plm_forest_data *data, struct plm_forest *f)
{
    f->low = INFINITY;
    f->high = -INFINITY;
    for (size_t i = 0; i < data->features; i++) {
        f->feature[i].low = INFINITY;
        f->feature[i].high = -INFINITY;
    }
    for (size_t row = 0; row < data->rows; row++) {
        widen(&f->low, &f->high, data->y[row]);
        for (size_t i = 0; i < data->features; i++)
            widen(&f->feature[i].low, &f->feature[i].high, data->x[row * data->features + i]);
    }
}

/* ---- all together ---- */

static int data_check(const struct plm_forest_data *data, const struct plm_forest_settings *settings,
                      struct plm_error *error)
{
    if (data->rows < PLM_FOREST_ROWS_LEAST)
        return plm_fail(error, PLM_EINVAL, "%zu rows are too few to learn from: %d is the least", data->rows,
                        PLM_FOREST_ROWS_LEAST);
    if (data->rows > PLM_FOREST_ROWS)
        return plm_fail(error, PLM_EINVAL, "%zu rows are too many: %d is the most", data->rows, PLM_FOREST_ROWS);
    if (!data->features || data->features > PLM_FOREST_FEATURES)
        return plm_fail(error, PLM_EINVAL, "a forest has 1 to %d features, not %zu", PLM_FOREST_FEATURES,
                        data->features);
    if (!settings->trees || settings->trees > PLM_FOREST_TREES)
        return plm_fail(error, PLM_EINVAL, "a forest has 1 to %d trees", PLM_FOREST_TREES);
    for (size_t i = 0; i < data->rows * data->features; i++)
        if (!(fabs(data->x[i]) < FLT_MAX))
            return plm_fail(error, PLM_EINVAL, "a feature of row %zu is not a number that can be used",
                            i / data->features + 1);
    for (size_t i = 0; i < data->rows; i++)
        if (!(data->y[i] > 0 && data->y[i] < FLT_MAX))
            return plm_fail(error, PLM_EINVAL, "the target of row %zu is not a number above 0", i + 1);
    return 0;
}

static int forest_grow(struct grower *g, const struct plm_forest_settings *settings)
{
    const struct plm_forest_data *data = g->data;
    struct plm_forest *f = g->forest;
    f->tree = plm_calloc(settings->trees, sizeof *f->tree);
    g->x = plm_calloc(data->rows * data->features, sizeof *g->x);
    g->weight = plm_calloc(data->rows, sizeof *g->weight);
    g->row = plm_calloc(data->rows, sizeof *g->row);
    g->item = plm_calloc(data->rows, sizeof *g->item);
    g->gain = plm_calloc(data->features, sizeof *g->gain);
    g->oob_sum = plm_calloc(data->rows, sizeof *g->oob_sum);
    g->oob_count = plm_calloc(data->rows, sizeof *g->oob_count);
    for (size_t i = 0; i < data->rows * data->features; i++)
        g->x[i] = (float)data->x[i];
    for (; f->trees < settings->trees; f->trees++)
        if (grow_tree(g, settings, f->trees))
            return PLM_EINVAL;
    return 0;
}

int plm_forest_train(const struct plm_forest_data *data, const struct plm_forest_settings *settings,
                     struct plm_forest *forest, struct plm_error *error)
{
    struct grower g = {.data = data, .forest = forest};
    double importance = 0;
    int status;
    *forest = (struct plm_forest){.features = data->features, .rows = data->rows, .seed = settings->seed};
    status = data_check(data, settings, error);
    if (status)
        return status;
    status = forest_grow(&g, settings);
    if (status == 0) {
        find_ranges(data, forest);
        forest_judge(&g);
        for (size_t i = 0; i < data->features; i++)
            importance += forest->feature[i].importance;
        for (size_t i = 0; i < data->features && importance > 0; i++)
            forest->feature[i].importance /= importance;
    } else {
        plm_forest_free(forest);
        plm_fail(error, status, "%zu trees of %zu rows have more than %d nodes", settings->trees, data->rows,
                 PLM_FOREST_NODES);
    }
    free(g.x);
    free(g.weight);
    free(g.row);
    free(g.item);
    free(g.open);
    free(g.gain);
    free(g.oob_sum);
    free(g.oob_count);
    return status;
}

void plm_forest_free(struct plm_forest *forest)
{
    free(forest->node);
    free(forest->tree);
    *forest = (struct plm_forest){0};
}

double plm_forest_predict(const struct plm_forest *forest, const double *x)
{
    float single[PLM_FOREST_FEATURES];
    double total = 0;
    for (size_t i = 0; i < forest->features; i++)
        single[i] = (float)x[i];
    for (size_t i = 0; i < forest->trees; i++)
        total += ask_tree(forest, forest->tree[i], single);
    return forest->trees ? total / (double)forest->trees : 0;
}
