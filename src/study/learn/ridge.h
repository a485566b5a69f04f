/*
 * Kernel ridge regression: an answer is the mean of the targets and a sum over all rows that were learned from, each
 * weighed by how near it is (a Gaussian of the distance between standardized features). It is smooth where trees are
 * steps, which suits a few hundred rows of a quantity that changes slowly. How near counts as near and how closely the
 * rows are followed is chosen by the answers for rows that were left out, one by one, in closed form.
 *
 * plm_ridge_train() or plm_ridge_read() makes one, plm_ridge_free() ends it; read-only in between, any thread. The same
 * rows give the same answers. Training takes time with the cube of the rows, of which there is a most. Fails with one
 * sentence: PLM_EFORMAT (too few rows or too many, a file that is none).
 */
#ifndef PLM_LEARN_RIDGE_H
#define PLM_LEARN_RIDGE_H

#include <stdio.h>

#include "study/estimate/tree.h"
#include "study/learn/correction.h"

struct plm_model_file;

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

/* ridge_file.c: as the payload of a file of models (study/estimate/model_file.h). Names of features and the target tell
   what it corrects. */
void plm_ridge_put(FILE *out, const struct plm_correction_frame *frame, const struct plm_ridge *ridge);
int plm_ridge_read(struct plm_model_file *file, const struct plm_correction_frame *frame, struct plm_ridge *ridge);

#endif
