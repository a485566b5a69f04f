/*
 * Gradient boosted regression trees: from the mean of the targets on, each tree is grown for what those before it left
 * over, on rows drawn without replacement, and moves the answer a part of the way (squared error; tree.h).
 *
 * plm_boosted_train() makes them from numbers, plm_boosted_read() reads them from a file (docs/models.md),
 * plm_boosted_put() writes it, plm_boosted_free() ends them. Trained trees are read-only; any thread. The same rows
 * and settings give the same trees on every machine. Fails with one sentence: PLM_EINVAL (settings), PLM_EIO, PLM_EFORMAT (rows
 * that nothing can be learned from) and PLM_EVERSION (a file that is none, with its line).
 */
#ifndef PLM_ESTIMATE_BOOSTED_H
#define PLM_ESTIMATE_BOOSTED_H

#include <stdint.h>
#include <stdio.h>

#include "study/estimate/tree.h"

struct plm_model_file;

struct plm_boosted_settings {
    size_t trees;
    size_t depth, least; /* of each tree: splits from the root to a leaf at most; rows of a leaf */
    double rate;         /* how much of the way each tree goes, above 0 and up to 1 */
    double share;        /* of the rows that each tree gets, above 0 and up to 1 */
    uint64_t seed;
};
/* Small trees and small steps; seed 0. */
#define PLM_BOOSTED_SETTINGS \
    ((struct plm_boosted_settings){.trees = 300, .depth = 4, .least = 5, .rate = 0.1, .share = 0.7})

struct plm_boosted {
    char target[PLM_TREE_NAME];
    struct plm_tree_feature feature[PLM_TREE_FEATURES];
    size_t features;
    double low, high; /* of the target in the rows; answers may lie a little outside */
    double base;      /* where the answer starts: the mean of the targets */
    uint64_t rows, seed;
    /* Each row as trees see it that learned from the others: plm_boosted_judge(); 0 rows: not known. */
    uint64_t held_rows;
    double held_r2, held_error; /* R^2; the median of |answer - truth| */
    struct plm_trees trees;     /* their leaves are steps, with the rate in them */
};

/* Fills what follows from the numbers; target, names of features and the figures of held rows are left to the
   caller. Targets may be any finite numbers. */
int plm_boosted_train(const struct plm_tree_data *data, const struct plm_boosted_settings *settings,
                      struct plm_boosted *boosted, struct plm_error *error);
void plm_boosted_free(struct plm_boosted *boosted);

/* `x` has a number for each feature. */
double plm_boosted_predict(const struct plm_boosted *boosted, const double *x);

/* Cross-validation: for each row the answer of trees that learned from the other folds only; `folds` is 2 to the number
   of rows, who is in which is drawn from the seed. */
int plm_boosted_cross(const struct plm_tree_data *data, const struct plm_boosted_settings *settings, size_t folds,
                      double *answer, struct plm_error *error);
/* The figures of held rows, from such answers. */
void plm_boosted_judge(const struct plm_tree_data *data, const double *answer, struct plm_boosted *boosted);

/* boosted_file.c: as the payload of a file of models (model_file.h); `boosted` is a struct plm_boosted. */
void plm_boosted_put(FILE *out, const void *boosted);
int plm_boosted_read(struct plm_model_file *file, struct plm_boosted *boosted);

#endif
