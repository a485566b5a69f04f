/*
 * Principal components of the columns of a matrix: each column is centred and divided by its standard deviation, so the
 * components are those of the correlations. The eigenvalues come from Jacobi's rotations, and a component points to
 * where its largest weight is positive: the same on every machine.
 *
 * plm_pca_make() fills it, plm_pca_free() gives it back. Any thread; nothing fails. A column that is the same in all
 * rows weighs nothing.
 */
#ifndef PLM_LEARN_PCA_H
#define PLM_LEARN_PCA_H

#include <stddef.h>

struct plm_pca {
    size_t features;
    double *mean, *scale; /* per feature; scale 0: it does not vary */
    double *share;        /* per component, as many as features, descending: of all variance; 0 if there is none */
    double *weight;       /* per component, one for each feature; of length 1 */
};

/* `x`: a row after the other, all finite; at least one row. */
void plm_pca_make(const double *x, size_t rows, size_t features, struct plm_pca *pca);
void plm_pca_free(struct plm_pca *pca);

/* A row as components see it: centred and scaled. */
void plm_pca_standardize(const struct plm_pca *pca, const double *row, double *standard);
/* Where such a row lies on a component. */
double plm_pca_project(const struct plm_pca *pca, const double *standard, size_t component);

#endif
