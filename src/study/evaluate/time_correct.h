/*
 * A learned correction of the time model's figures: for each figure a kernel ridge regression
 * (study/learn/ridge.h) that says how far a forecast will be off, from the forecast itself: its metrics, times, bounds,
 * kernels and the batch size. Names of models are no features. SMOCC is corrected on top of SMACT: where a folder has
 * the first alone, on top of the forecast. It lives in a folder, with a file for each figure.
 *
 * plm_timed_correct_learn() or plm_timed_correct_load() makes it, plm_timed_correct_free() ends it; read-only in
 * between. Fails with a sentence.
 */
#ifndef PLM_EVALUATE_TIME_CORRECT_H
#define PLM_EVALUATE_TIME_CORRECT_H

#include "study/evaluate/time_model.h"
#include "study/learn/ridge.h"

struct plm_timed_correct {
    unsigned known; /* bits of the figures that it knows */
    struct plm_ridge ridge[PLM_TIMED_FIGURES];
    size_t rows; /* that were learned from */
};

/* From these runs of the bench, whose forecasts are `forecast`, by number of the run. */
int plm_timed_correct_learn(const struct plm_timed_bench *bench, const struct plm_timed_forecast *forecast,
                            const size_t *run, size_t runs, struct plm_timed_correct *correct, struct plm_error *error);
/* The figure of a forecast, corrected; as it was if it does not know that. */
double plm_timed_correct_figure(const struct plm_timed_correct *correct, const struct plm_timed_row *row,
                                const struct plm_timed_forecast *forecast, int figure);
void plm_timed_correct_free(struct plm_timed_correct *correct);

/* The file of a figure in the folder of a correction. */
void plm_timed_correct_path(const char *folder, int figure, char *out, size_t size);
int plm_timed_correct_save(FILE *out, const struct plm_timed_correct *correct, int figure);
int plm_timed_correct_load(const char *folder, struct plm_timed_correct *correct, struct plm_error *error);

#endif
