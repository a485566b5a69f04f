#include "study/estimate/tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"

/* Values closer than this are one value, as in scikit-learn. */
#define SAME 1e-7F

/* ---- the generator ---- */

uint64_t plm_splitmix_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The high half of a product of 32 bits by n. */
size_t plm_splitmix_below(uint64_t *state, size_t n)
{
    return (size_t)(((plm_splitmix_next(state) >> 32) * (uint64_t)n) >> 32);
}

double plm_splitmix_share(uint64_t *state)
{
    return (double)(plm_splitmix_next(state) >> 11) * 0x1p-53;
}

uint64_t plm_splitmix_stream(uint64_t seed, size_t number)
{
    return plm_splitmix_next(&seed) ^ (0xd1b54a32d192ed03u * ((uint64_t)number + 1));
}

/* ---- growing one ---- */

/* A branch that is still to be made of places [from..to) of every order. */
struct branch {
    size_t from, to, depth;
    uint32_t parent; /* whose right branch it is; its own number: nobody's */
};

/* An order is a list of rows. There is one by number, and one for each feature by its value; a branch has the same
   places in all of them. */
struct plm_tree_grower {
    struct plm_tree_rules rules;
    size_t rows, features;
    float *x;
    uint32_t *sorted; /* the orders of all rows by each feature, one after the other */
    uint32_t *order;  /* the orders of the rows of this tree: by number first, then by each feature */
    uint32_t *later;  /* scratch: one for each row */
    bool *left;       /* scratch: whether each row goes left */
    const uint32_t *weight;
    const double *y;
    struct branch *open;
    size_t opens, open_room;
    double gain[PLM_TREE_FEATURES];
    uint64_t *random;
};

struct split {
    int feature; /* -1: none */
    double threshold, score, gain;
};

/* Weighted sums over a branch: how many, of y, of y^2. */
struct sums {
    double n, y, yy;
};

static void sums_add(struct sums *s, const struct plm_tree_grower *g, uint32_t row)
{
    double w = g->weight[row], y = g->y[row];
    s->n += w;
    s->y += w * y;
    s->yy += w * y * y;
}

static struct sums branch_sum(const struct plm_tree_grower *g, const struct branch *b)
{
    struct sums s = {0};
    for (size_t i = b->from; i < b->to; i++)
        sums_add(&s, g, g->order[i]);
    return s;
}

static double variance(const struct sums *s)
{
    double mean = s->y / s->n;
    return s->yy / s->n - mean * mean;
}

static float value_of(const struct plm_tree_grower *g, uint32_t row, int feature)
{
    return g->x[row * g->features + (size_t)feature];
}

static double middle_of(float below, float above)
{
    double middle = (double)below / 2 + (double)above / 2;
    return middle >= (double)above ? (double)below : middle;
}

/* Every place between two values of a feature; the best so far is only beaten, never equalled. */
static void try_feature(const struct plm_tree_grower *g, const struct branch *b, const struct sums *all, int feature,
                        struct split *best)
{
    const uint32_t *order = g->order + ((size_t)feature + 1) * g->rows;
    const double least = (double)g->rules.least;
    struct sums left = {0};
    float here, next = value_of(g, order[b->from], feature);
    for (size_t i = b->from; i + 1 < b->to; i++) {
        double right_n, right_y, score;
        sums_add(&left, g, order[i]);
        here = next;
        next = value_of(g, order[i + 1], feature);
        right_n = all->n - left.n;
        if (next <= here + SAME || left.n < least || right_n < least)
            continue;
        right_y = all->y - left.y;
        score = left.y * left.y / left.n + right_y * right_y / right_n;
        if (score <= best->score)
            continue;
        *best = (struct split){.feature = feature,
                               .score = score,
                               .gain = score - all->y * all->y / all->n,
                               .threshold = middle_of(here, next)};
    }
}

/* As scikit-learn's ExtraTreeRegressor: never the largest value itself, which would leave the right side empty. */
static double threshold_draw(const struct plm_tree_grower *g, float low, float high)
{
    double threshold = (double)low + plm_splitmix_share(g->random) * ((double)high - (double)low);
    return threshold < (double)high ? threshold : (double)low;
}

/* One place of a feature, which a draw chooses. */
static void draw_feature(const struct plm_tree_grower *g, const struct branch *b, const struct sums *all, int feature,
                         struct split *best)
{
    const double least = (double)g->rules.least;
    float low = INFINITY, high = -INFINITY;
    struct sums left = {0};
    double threshold, right_n, right_y, score;
    for (size_t i = b->from; i < b->to; i++) {
        float value = value_of(g, g->order[i], feature);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    if (high <= low + SAME)
        return;
    threshold = threshold_draw(g, low, high);
    for (size_t i = b->from; i < b->to; i++)
        if ((double)value_of(g, g->order[i], feature) <= threshold)
            sums_add(&left, g, g->order[i]);
    right_n = all->n - left.n;
    right_y = all->y - left.y;
    if (left.n < least || right_n < least)
        return;
    score = left.y * left.y / left.n + right_y * right_y / right_n;
    if (score > best->score)
        *best = (struct split){
            .feature = feature, .score = score, .gain = score - all->y * all->y / all->n, .threshold = threshold};
}

static void draw_order(const struct plm_tree_grower *g, int order[PLM_TREE_FEATURES])
{
    for (size_t i = 0; i < g->features; i++)
        order[i] = (int)i;
    for (size_t i = g->features; i > 1 && g->rules.shuffled; i--) {
        size_t other = plm_splitmix_below(g->random, i);
        int kept = order[other];
        order[other] = order[i - 1];
        order[i - 1] = kept;
    }
}

static struct split find_split(const struct plm_tree_grower *g, const struct branch *b, const struct sums *all)
{
    struct split best = {.feature = -1, .score = -INFINITY};
    int order[PLM_TREE_FEATURES];
    draw_order(g, order);
    for (size_t i = 0; i < g->features; i++)
        (g->rules.drawn ? draw_feature : try_feature)(g, b, all, order[i], &best);
    return best;
}

/* Rows that go left to the front; both sides keep their order. Returns where the right side begins. */
static size_t order_part(struct plm_tree_grower *g, const struct branch *b, uint32_t *order)
{
    size_t to = b->from, others = 0;
    for (size_t i = b->from; i < b->to; i++) {
        if (g->left[order[i]])
            order[to++] = order[i];
        else
            g->later[others++] = order[i];
    }
    memcpy(order + to, g->later, others * sizeof *order);
    return to;
}

static bool is_deepest(const struct plm_tree_grower *g, size_t depth)
{
    return g->rules.depth && depth >= g->rules.depth;
}

/* All orders alike; leaves and drawn thresholds need only the rows. */
static size_t rows_part(struct plm_tree_grower *g, const struct branch *b, const struct split *split)
{
    const bool rows_only = g->rules.drawn || is_deepest(g, b->depth + 1);
    for (size_t i = b->from; i < b->to; i++) {
        uint32_t row = g->order[i];
        g->left[row] = (double)value_of(g, row, split->feature) <= split->threshold;
    }
    for (size_t i = 1; i <= g->features && !rows_only; i++)
        order_part(g, b, g->order + i * g->rows);
    return order_part(g, b, g->order);
}

static void branch_open(struct plm_tree_grower *g, struct branch branch)
{
    g->open = plm_grow(g->open, g->opens, &g->open_room, sizeof *g->open);
    g->open[g->opens++] = branch;
}

/* One node for the branch, and its two branches to be made: the left one next, so that it follows. */
static int make_node(struct plm_tree_grower *g, struct plm_trees *t, struct branch b)
{
    const uint32_t self = (uint32_t)t->nodes;
    const struct sums all = branch_sum(g, &b);
    struct split split = {.feature = -1};
    size_t middle;
    if (t->nodes >= PLM_TREE_NODES)
        return PLM_EINVAL;
    t->node = plm_grow(t->node, t->nodes, &t->node_room, sizeof *t->node);
    t->nodes++;
    if (b.parent != self)
        t->node[b.parent].right = self;
    if (b.to - b.from > 1 && !is_deepest(g, b.depth) && variance(&all) > DBL_EPSILON)
        split = find_split(g, &b, &all);
    if (split.feature < 0) {
        t->node[self] = (struct plm_tree_node){.value = all.n > 0 ? all.y / all.n : 0, .feature = -1};
        return 0;
    }
    middle = rows_part(g, &b, &split);
    t->node[self] = (struct plm_tree_node){.value = split.threshold, .feature = split.feature};
    g->gain[split.feature] += split.gain;
    branch_open(g, (struct branch){middle, b.to, b.depth + 1, self});
    branch_open(g, (struct branch){b.from, middle, b.depth + 1, self + 1}); /* its own number: it is the next node */
    return 0;
}

/* The rows of a tree, in every order. */
static size_t rows_take(struct plm_tree_grower *g)
{
    size_t count = 0;
    for (uint32_t row = 0; row < g->rows; row++)
        if (g->weight[row])
            g->order[count++] = row;
    for (size_t i = 0; i < g->features && !g->rules.drawn; i++) {
        const uint32_t *from = g->sorted + i * g->rows;
        uint32_t *to = g->order + (i + 1) * g->rows;
        for (size_t k = 0; k < g->rows; k++)
            if (g->weight[from[k]])
                *to++ = from[k];
    }
    return count;
}

int plm_tree_grow(struct plm_tree_grower *g, const uint32_t *weight, const double *y, uint64_t *random,
                  struct plm_trees *t)
{
    g->weight = weight;
    g->y = y;
    g->random = random;
    g->opens = 0;
    memset(g->gain, 0, sizeof g->gain);
    t->root = plm_grow(t->root, t->count, &t->root_room, sizeof *t->root);
    t->root[t->count] = (uint32_t)t->nodes;
    branch_open(g, (struct branch){0, rows_take(g), 0, (uint32_t)t->nodes});
    while (g->opens)
        if (make_node(g, t, g->open[--g->opens]))
            return PLM_EINVAL;
    t->count++;
    return 0;
}

const double *plm_tree_gain(const struct plm_tree_grower *g)
{
    return g->gain;
}

const float *plm_tree_row(const struct plm_tree_grower *g, size_t row)
{
    return g->x + row * g->features;
}

/* ---- before and after ---- */

struct item {
    float x;
    uint32_t row;
};

/* By value; among equals by row, so that sums are added up in one order. */
static int by_value(const void *a, const void *b)
{
    const struct item *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

static void feature_sort(struct plm_tree_grower *g, size_t feature, struct item *item)
{
    for (uint32_t row = 0; row < g->rows; row++)
        item[row] = (struct item){value_of(g, row, (int)feature), row};
    qsort(item, g->rows, sizeof *item, by_value);
    for (size_t i = 0; i < g->rows; i++)
        g->sorted[feature * g->rows + i] = item[i].row;
}

struct plm_tree_grower *plm_tree_grower_open(const struct plm_tree_data *data, const struct plm_tree_rules *rules)
{
    struct plm_tree_grower *g = plm_calloc(1, sizeof *g);
    struct item *item = plm_calloc(data->rows, sizeof *item);
    g->rules = *rules;
    g->rows = data->rows;
    g->features = data->features;
    g->x = plm_calloc(data->rows * data->features, sizeof *g->x);
    g->sorted = plm_calloc(data->rows * data->features, sizeof *g->sorted);
    g->order = plm_calloc(data->rows * (data->features + 1), sizeof *g->order);
    g->later = plm_calloc(data->rows, sizeof *g->later);
    g->left = plm_calloc(data->rows, sizeof *g->left);
    for (size_t i = 0; i < data->rows * data->features; i++)
        g->x[i] = (float)data->x[i];
    for (size_t i = 0; i < data->features && !rules->drawn; i++)
        feature_sort(g, i, item);
    free(item);
    return g;
}

void plm_tree_grower_close(struct plm_tree_grower *g)
{
    free(g->x);
    free(g->sorted);
    free(g->order);
    free(g->later);
    free(g->left);
    free(g->open);
    free(g);
}

void plm_trees_free(struct plm_trees *trees)
{
    free(trees->node);
    free(trees->root);
    *trees = (struct plm_trees){0};
}

int plm_trees_join(struct plm_trees *t, struct plm_trees *more)
{
    const uint32_t base = (uint32_t)t->nodes;
    if (more->nodes > PLM_TREE_NODES - t->nodes)
        return PLM_EINVAL;
    for (size_t i = 0; i < more->nodes; i++) {
        t->node = plm_grow(t->node, t->nodes, &t->node_room, sizeof *t->node);
        t->node[t->nodes] = more->node[i];
        t->node[t->nodes++].right += more->node[i].feature >= 0 ? base : 0;
    }
    for (size_t i = 0; i < more->count; i++) {
        t->root = plm_grow(t->root, t->count, &t->root_room, sizeof *t->root);
        t->root[t->count++] = more->root[i] + base;
    }
    plm_trees_free(more);
    return 0;
}

double plm_tree_ask(const struct plm_trees *t, size_t number, const float *x)
{
    uint32_t node = t->root[number];
    while (t->node[node].feature >= 0)
        node = (double)x[t->node[node].feature] <= t->node[node].value ? node + 1 : t->node[node].right;
    return t->node[node].value;
}

/* ---- what there is to learn from ---- */

int plm_tree_data_check(const struct plm_tree_data *data, size_t trees, double least, struct plm_error *error)
{
    if (data->rows < PLM_TREE_ROWS_LEAST)
        return plm_fail(error, PLM_EFORMAT, "%zu rows are too few to learn from: at least %d are needed", data->rows,
                        PLM_TREE_ROWS_LEAST);
    if (data->rows > PLM_TREE_ROWS)
        return plm_fail(error, PLM_EFORMAT, "%zu rows are too many: at most %d are allowed", data->rows, PLM_TREE_ROWS);
    if (!data->features || data->features > PLM_TREE_FEATURES)
        return plm_fail(error, PLM_EINVAL, "trees have 1 to %d features, not %zu", PLM_TREE_FEATURES, data->features);
    if (!trees || trees > PLM_TREE_COUNT)
        return plm_fail(error, PLM_EINVAL, "there can be 1 to %d trees", PLM_TREE_COUNT);
    for (size_t i = 0; i < data->rows * data->features; i++)
        if (!(fabs(data->x[i]) < FLT_MAX))
            return plm_fail(error, PLM_EFORMAT, "a feature of row %zu is not a usable number", i / data->features + 1);
    for (size_t i = 0; i < data->rows; i++) {
        if (!(fabs(data->y[i]) < FLT_MAX))
            return plm_fail(error, PLM_EFORMAT, "the target of row %zu is not a usable number", i + 1);
        if (data->y[i] <= least)
            return plm_fail(error, PLM_EFORMAT, "the target of row %zu is not a number above %g", i + 1, least);
    }
    return 0;
}

static void widen(double *low, double *high, double value)
{
    if (value < *low)
        *low = value;
    if (value > *high)
        *high = value;
}

void plm_tree_ranges(const struct plm_tree_data *data, struct plm_tree_feature *feature, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < data->features; i++) {
        feature[i].low = INFINITY;
        feature[i].high = -INFINITY;
    }
    for (size_t row = 0; row < data->rows; row++) {
        widen(low, high, data->y[row]);
        for (size_t i = 0; i < data->features; i++)
            widen(&feature[i].low, &feature[i].high, data->x[row * data->features + i]);
    }
}

void plm_tree_importance(struct plm_tree_feature *feature, size_t features)
{
    double all = 0;
    for (size_t i = 0; i < features; i++)
        all += feature[i].importance;
    for (size_t i = 0; i < features && all > 0; i++)
        feature[i].importance /= all;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double plm_tree_median(double *value, size_t count)
{
    qsort(value, count, sizeof *value, by_size);
    return count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
}
