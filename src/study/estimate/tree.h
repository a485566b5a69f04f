/*
 * Regression trees of squared error: what forests (forest.h) and boosted trees (boosted.h) share. A tree splits at the
 * place that lowers the squared error most, in the middle between two values of a feature; or, if thresholds are drawn
 * (Geurts, Ernst and Wehenkel 2006), at the best of one place per feature that a draw chose.
 *
 * A grower sorts the features of some rows once and then makes trees of them, for whatever targets and weights; it
 * belongs to the caller, and so do the trees. Features have single precision. One thread for each grower; grown trees
 * are read-only, any thread. The same input gives the same trees on every machine. Fails with PLM_EFORMAT, for rows that nothing can be learned
 * from, and PLM_EINVAL.
 */
#ifndef PLM_ESTIMATE_TREE_H
#define PLM_ESTIMATE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_error;

enum {
    PLM_TREE_FEATURES = 64,
    PLM_TREE_NAME = 32,
    PLM_TREE_COUNT = 10000,   /* at most */
    PLM_TREE_ROWS = 1 << 20,  /* to learn from, at most */
    PLM_TREE_NODES = 1 << 24, /* of all trees, at most */
    PLM_TREE_ROWS_LEAST = 10,
};

struct plm_tree_feature {
    char name[PLM_TREE_NAME];
    double low, high;  /* in the rows that were learned from */
    double importance; /* its share in how much all splits lowered the squared error; all add up to 1 */
};

/* In preorder: the left branch of a split follows it. */
struct plm_tree_node {
    double value;    /* of a leaf: the answer; of a split: rows up to and including it go left */
    uint32_t right;  /* of a split: index of the right branch */
    int32_t feature; /* of a split; -1: a leaf */
};

struct plm_trees {
    struct plm_tree_node *node;
    uint32_t *root; /* index of each tree's first node */
    size_t nodes, node_room, count, root_room;
};
void plm_trees_free(struct plm_trees *trees);
/* Moves the trees of `more` behind the others and leaves it empty. PLM_EINVAL: there would be too many nodes. */
int plm_trees_join(struct plm_trees *trees, struct plm_trees *more);
double plm_tree_ask(const struct plm_trees *trees, size_t number, const float *x);

/* What to learn from: rows * features numbers, a row after the other, and one target for each row. */
struct plm_tree_data {
    const double *x, *y;
    size_t rows, features;
};
/* Can something be learned from it? `least`: every target is above it. A sentence if not. */
int plm_tree_data_check(const struct plm_tree_data *data, size_t trees, double least, struct plm_error *error);
/* The least and the largest of each feature and of the target. */
void plm_tree_ranges(const struct plm_tree_data *data, struct plm_tree_feature *feature, double *low, double *high);
/* Makes the importances add up to 1. */
void plm_tree_importance(struct plm_tree_feature *feature, size_t features);
/* Sorts the values; there is at least one. */
double plm_tree_median(double *value, size_t count);

struct plm_tree_rules {
    size_t depth;  /* splits from the root to a leaf at most; 0: any number */
    size_t least;  /* weight of the rows of a leaf */
    bool shuffled; /* features are tried in an order that is drawn: among equally good splits any may win */
    bool drawn;    /* one threshold per feature, anywhere between its least and its largest value in the branch */
};

struct plm_tree_grower;
struct plm_tree_grower *plm_tree_grower_open(const struct plm_tree_data *data, const struct plm_tree_rules *rules);
void plm_tree_grower_close(struct plm_tree_grower *grower);
/* One more tree: of the rows with a weight, for these targets. PLM_EINVAL: there are too many nodes; the trees are
   still to be freed. */
int plm_tree_grow(struct plm_tree_grower *grower, const uint32_t *weight, const double *y, uint64_t *random,
                  struct plm_trees *trees);
/* How much the splits of the tree before lowered the squared error, for each feature. */
const double *plm_tree_gain(const struct plm_tree_grower *grower);
/* A row as trees see it. */
const float *plm_tree_row(const struct plm_tree_grower *grower, size_t row);

/* splitmix64, our own: the same numbers on every machine. */
uint64_t plm_splitmix_next(uint64_t *state);
/* From 0 to n - 1, each as likely; n is below 2^32. */
size_t plm_splitmix_below(uint64_t *state, size_t n);
/* From 0 to below 1. */
double plm_splitmix_share(uint64_t *state);
/* A stream for each of several trees. */
uint64_t plm_splitmix_stream(uint64_t seed, size_t number);

#endif
