/*
 * Forests for regression, trees of squared error and any depth (tree.h), every feature tried at every split, in two
 * kinds: random forests, as scikit-learn's RandomForestRegressor makes them with its defaults (each tree on rows drawn
 * with replacement, thresholds in the middle between two rows), and extremely randomised trees, as its
 * ExtraTreesRegressor (every row in every tree, thresholds drawn).
 *
 * plm_forest_train() makes one from numbers on all processors, plm_forest_read() reads one from a file
 * (docs/models.md), plm_forest_put() writes it, plm_forest_free() ends it. A trained forest is read-only; any thread.
 * The same rows, trees and seed give the same forest on every machine and any number of processors: the generator is
 * our own, with a stream for each tree. Fails with one sentence: PLM_EINVAL (settings), PLM_EFORMAT (rows
 * that nothing can be learned from), PLM_EIO, PLM_EFORMAT (a file that is no forest, with its line, or one that was damaged), PLM_EVERSION.
 */
#ifndef PLM_ESTIMATE_FOREST_H
#define PLM_ESTIMATE_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "study/estimate/tree.h"

struct plm_error;
struct plm_model_file;

struct plm_forest {
    char target[PLM_TREE_NAME];
    struct plm_tree_feature feature[PLM_TREE_FEATURES];
    size_t features;
    double low, high;   /* of the target in the rows: no answer lies outside */
    uint64_t rows, seed;
    /* Each row as the trees see it that did not get it; rows that every tree got do not count. */
    uint64_t oob_rows;
    double oob_r2, oob_error; /* R^2; the median of |answer - truth| / truth */
    bool drawn;               /* thresholds are drawn: there is no bag, and the answer may be any number */
    /* Each row as a forest sees it that learned from the other folds: plm_forest_judge(); 0 rows: not known. */
    uint64_t held_rows;
    double held_r2, held_error; /* R^2; the mean of |answer - truth| */
    struct plm_trees trees;
};

struct plm_forest_settings {
    size_t trees;
    uint64_t seed;
    bool all_rows;   /* every tree gets every row once instead of a draw */
    bool drawn;      /* thresholds are drawn (struct plm_tree_rules) */
    bool any_target; /* targets may be any finite numbers; there are no relative errors then */
};
/* As ExtraTreesRegressor by its defaults; seed 0. */
#define PLM_EXTRATREES_SETTINGS \
    ((struct plm_forest_settings){.trees = 100, .all_rows = true, .drawn = true, .any_target = true})

/* Targets are above 0, unless they may be any. Fills what follows from the numbers; target and names of features are left to the caller. */
int plm_forest_train(const struct plm_tree_data *data, const struct plm_forest_settings *settings,
                     struct plm_forest *forest, struct plm_error *error);
void plm_forest_free(struct plm_forest *forest);

/* The mean of all trees. `x` has a number for each feature. */
double plm_forest_predict(const struct plm_forest *forest, const double *x);

/* Cross-validation: for each row the answer of a forest that learned from the other folds only (folds.h). */
int plm_forest_cross(const struct plm_tree_data *data, const struct plm_forest_settings *settings, size_t folds,
                     double *answer, struct plm_error *error);
/* The figures of held rows, from such answers. */
void plm_forest_judge(const struct plm_tree_data *data, const double *answer, struct plm_forest *forest);

/* forest_file.c: as the payload of a file of models (model_file.h); `forest` is a struct plm_forest. */
void plm_forest_put(FILE *out, const void *forest);
int plm_forest_read(struct plm_model_file *file, struct plm_forest *forest);

#endif
