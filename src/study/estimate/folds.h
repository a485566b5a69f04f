/*
 * Rows that were not learned from: folds, and what models that learned from the other folds say about each row. Pure
 * functions, the same for the same seed; one thread. Fails with PLM_EINVAL and a sentence, and as the learner does.
 */
#ifndef PLM_ESTIMATE_FOLDS_H
#define PLM_ESTIMATE_FOLDS_H

#include <stddef.h>
#include <stdint.h>

struct plm_error;
struct plm_tree_data;

/* Who is in which of the folds 0 to folds - 1; they are equally large, but for one row. */
void plm_folds_draw(size_t *fold, size_t rows, size_t folds, uint64_t seed);

/* What learns: `learn` makes a model in the context, `ask` asks it, `forget` ends it. */
struct plm_fold_learner {
    int (*learn)(void *context, const struct plm_tree_data *data, struct plm_error *error);
    double (*ask)(const void *context, const double *x);
    void (*forget)(void *context);
    void *context;
};
/* For each row the answer of a model that learned from the other folds only; `folds` is 2 to the number of rows. */
int plm_folds_cross(const struct plm_tree_data *data, size_t folds, uint64_t seed,
                    const struct plm_fold_learner *learner, double *answer, struct plm_error *error);
/* 1 - sum of squared errors / sum of squared deviations from the mean; 0 if all targets are alike. */
double plm_folds_r2(const struct plm_tree_data *data, const double *answer);

#endif
