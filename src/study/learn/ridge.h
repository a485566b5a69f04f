/*
 * Kernel ridge regression: an answer is the mean of the targets and a sum over all rows that were learned from, each
 * weighed by how near it is (a Gaussian of the distance between standardized features). It is smooth where trees are
 * steps, which suits a few hundred rows of a quantity that changes slowly. How near counts as near and how closely the
 * rows are followed is chosen by the answers for rows that were left out, one by one, in closed form.
 *
 * plm_ridge_train() or plm_ridge_load() makes one, plm_ridge_free() ends it; read-only in between, any thread. The same
 * rows give the same answers. Training takes time with the cube of the rows, of which there is a most. Fails with one
 * sentence: PLM_EINVAL (too few rows or too many), PLM_EIO, PLM_EFORMAT (a file that is none).
 *
 * Its file is a table (CSV): a column for each feature and at last the weights, headed by the target; first the means and
 * the scales of the features, then the rows, standardized. In the last column of the first two lines stand the mean of
 * the targets and the width.
 */
#ifndef PLM_LEARN_RIDGE_H
#define PLM_LEARN_RIDGE_H

#include <stdio.h>

#include "study/estimate/tree.h"
#include "study/learn/correction.h"

enum { PLM_RIDGE_ROWS = 1000 }; /* at most */

struct plm_ridge {
    size_t rows, features;
    double base, width; /* the mean of the targets; of exp(-width x mean squared distance) */
    double *mean, *scale; /* per feature; scale 0: it does not vary, and is not looked at */
    double *point;        /* the rows, standardized */
    double *weight;       /* per row */
};

int plm_ridge_train(const struct plm_tree_data *data, struct plm_ridge *ridge, struct plm_error *error);
void plm_ridge_free(struct plm_ridge *ridge);

/* `x` has a number for each feature. */
double plm_ridge_predict(const struct plm_ridge *ridge, const double *x);

/* Room for it, all 0: for those who fill it. */
void plm_ridge_alloc(struct plm_ridge *ridge, size_t rows, size_t features);

/* ridge_file.c; the frame's method is not used: names of features and the target tell what a file is. */
int plm_ridge_save(FILE *out, const struct plm_correction_frame *frame, const struct plm_ridge *ridge);
int plm_ridge_load(const char *path, const struct plm_correction_frame *frame, struct plm_ridge *ridge,
                   struct plm_error *error);

#endif
