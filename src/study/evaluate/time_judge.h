/*
 * Step times or utilization, as the time model says them, against what was measured: per family, mode and card, and in
 * all.
 *
 * Rows that chose constants or were learned from are drawn with the seed, and are left out of every figure.
 * plm_timed_judge() needs a bench whose records are loaded and keeps pointers into it; plm_timed_evaluation_free() ends
 * the evaluation. Fails with a sentence.
 */
#ifndef PLM_EVALUATE_TIME_JUDGE_H
#define PLM_EVALUATE_TIME_JUDGE_H

#include <stdio.h>

#include "report/result.h"
#include "study/evaluate/agreement.h"
#include "study/evaluate/time_bench.h"
#include "study/evaluate/time_correct.h"
#include "study/evaluate/time_model.h"

struct plm_timed_judge_options {
    size_t fit_rows;            /* that choose constants; 0: none are fitted */
    const struct plm_timed_fit *fit; /* which ones */
    size_t learn_rows;          /* that a correction learns from; 0: none is learned */
    const struct plm_timed_correct *correct; /* that was learned before; NULL: none */
    uint64_t seed;
};

enum { PLM_TIMED_ESTIMATORS = 4 };
struct plm_timed_estimator {
    char name[64];
    double *value; /* runs * PLM_TIMED_FIGURES; NAN: none */
};

/* t = a gmacs batch + b macts batch + c, by the least mean relative error: what tables of networks allow without
   looking inside. */
struct plm_timed_floor {
    bool known;
    double a, b, c; /* ms */
    size_t rows;
};

struct plm_timed_group {
    const char *family, *mode, *card; /* NULL: all */
    size_t rows;
    struct plm_agreement *agreement; /* estimators * PLM_TIMED_FIGURES */
};

struct plm_timed_evaluation {
    struct plm_timed_bench *bench;
    struct plm_timed_judge_options options;
    unsigned figures; /* bits of those that are judged */
    struct plm_timed_forecast *forecast; /* per run, with the constants as they were given */
    struct plm_timed_forecast *fitted; /* with those that were fitted; else the same */
    bool *trained; /* per run: it chose constants or was learned from */
    size_t rows, failed, trained_rows; /* rows: that are judged */
    struct plm_timed_estimator estimator[PLM_TIMED_ESTIMATORS];
    size_t estimators;
    struct plm_timed_fit fit;
    struct plm_timed_correct correct;
    struct plm_timed_floor floor;
    struct plm_timed_group *group; /* the last is all, if there are two or more */
    size_t groups, group_room;
};

/* The model has the fitted constants afterwards. */
int plm_timed_judge(struct plm_timed_bench *bench, const struct plm_timed_judge_options *options,
                    struct plm_timed_model *model, struct plm_timed_evaluation *evaluation, struct plm_error *error);
void plm_timed_evaluation_free(struct plm_timed_evaluation *evaluation);

/* Is this run judged: has it a forecast, and did it choose nothing? */
bool plm_timed_evaluation_judged(const struct plm_timed_evaluation *evaluation, size_t run);
const struct plm_agreement *plm_timed_agreement(const struct plm_timed_evaluation *evaluation,
                                                const struct plm_timed_group *group, size_t estimator, int figure);

/* time_floor.c: from these rows; not known where fewer than ten of them have MACs and activations. */
void plm_timed_floor_fit(const struct plm_timed_bench *bench, const size_t *run, size_t runs,
                         struct plm_timed_floor *floor);
/* ms; NAN if the row lacks them. */
double plm_timed_floor_ask(const struct plm_timed_floor *floor, const struct plm_timed_row *row);

/* How it is shown: time_json.c, time_csv.c, time_text.c. */
extern const struct plm_result plm_timed_evaluation_result;
void plm_timed_evaluation_document(struct plm_json *json, const void *evaluation);
void plm_timed_evaluation_rows(struct plm_lines *lines, const void *evaluation);
void plm_timed_evaluation_figures(struct plm_lines *lines, const void *evaluation);

#endif
