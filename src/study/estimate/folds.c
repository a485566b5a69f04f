#include "study/estimate/folds.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/estimate/tree.h"

void plm_folds_draw(size_t *fold, size_t rows, size_t folds, uint64_t seed)
{
    uint64_t random = plm_splitmix_stream(seed, SIZE_MAX - 1);
    for (size_t i = 0; i < rows; i++) {
        size_t other = plm_splitmix_below(&random, i + 1);
        fold[i] = fold[other];
        fold[other] = i % folds;
    }
}

/* The rows of all folds but one. */
static size_t rows_beside(const struct plm_tree_data *data, const size_t *fold, size_t out, double *x, double *y)
{
    size_t count = 0;
    for (size_t i = 0; i < data->rows; i++)
        if (fold[i] != out) {
            memcpy(x + count * data->features, data->x + i * data->features, data->features * sizeof *x);
            y[count++] = data->y[i];
        }
    return count;
}

static int fold_answer(const struct plm_tree_data *data, const size_t *fold, size_t out,
                       const struct plm_tree_data *rest, const struct plm_fold_learner *learner, double *answer,
                       struct plm_error *error)
{
    int status = learner->learn(learner->context, rest, error);
    if (status)
        return status;
    for (size_t i = 0; i < data->rows; i++)
        if (fold[i] == out)
            answer[i] = learner->ask(learner->context, data->x + i * data->features);
    learner->forget(learner->context);
    return 0;
}

int plm_folds_cross(const struct plm_tree_data *data, size_t folds, uint64_t seed,
                    const struct plm_fold_learner *learner, double *answer, struct plm_error *error)
{
    double *x, *y;
    size_t *fold;
    int status = 0;
    if (folds < 2 || folds > data->rows)
        return plm_fail(error, PLM_EINVAL, "%zu rows allow 2 to %zu folds, not %zu", data->rows, data->rows, folds);
    x = plm_calloc(data->rows * data->features, sizeof *x);
    y = plm_calloc(data->rows, sizeof *y);
    fold = plm_calloc(data->rows, sizeof *fold);
    plm_folds_draw(fold, data->rows, folds, seed);
    for (size_t out = 0; out < folds && status == 0; out++) {
        const struct plm_tree_data rest = {x, y, rows_beside(data, fold, out, x, y), data->features};
        status = fold_answer(data, fold, out, &rest, learner, answer, error);
    }
    free(x);
    free(y);
    free(fold);
    return status;
}

double plm_folds_r2(const struct plm_tree_data *data, const double *answer)
{
    double mean = 0, residual = 0, spread = 0;
    for (size_t i = 0; i < data->rows; i++)
        mean += data->y[i] / (double)data->rows;
    for (size_t i = 0; i < data->rows; i++) {
        residual += (answer[i] - data->y[i]) * (answer[i] - data->y[i]);
        spread += (data->y[i] - mean) * (data->y[i] - mean);
    }
    return spread > 0 ? 1 - residual / spread : 0;
}
