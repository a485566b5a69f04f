/*
 * The study: methods of all paradigms on the rows of one table by `plimsoll dataset` (docs/dataset.md), as
 * classes and as numbers: formulas on the rows' numbers, models that learn (study/learn/learner.h; fresh for every part
 * that is held out), and the virtual GPU with one constant for the stack.
 *
 *   plm_study_open() reads the table and understands what is asked; plm_study_run() lets methods learn and answer;
 *   then the ways to show it; plm_study_close() ends it.
 *
 * The study belongs to the caller; strings of the options stay the caller's. One thread; methods may use all processors
 * and start children. Fails with one sentence: PLM_EINVAL, PLM_EFORMAT, PLM_EIO. That a method cannot answer is no
 * failure: its results say why.
 */
#ifndef PLM_EVALUATE_STUDY_H
#define PLM_EVALUATE_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/result.h"
#include "study/evaluate/metrics.h"
#include "study/learn/example.h"
#include "study/learn/white_box.h"
#include "study/methods/methods.h"

struct plm_error;
struct plm_workloads;

/* ---- what is asked for ---- */

struct plm_study_options {
    const char *path;
    const char *methods; /* with commas, or "all" */
    const char *targets; /* columns with commas, "all", or NULL: memory and GPUTL */
    const char *lessons; /* another table, which methods learn from instead; NULL: they learn from parts of this one */
    const char *unseen; /* columns with commas whose groups are left out one by one; NULL: family and gpu alone */
    int bin; /* GB of a class of memory, of 1000 MiB each; 0: 1 for MLPs alone, else 8 */
    int folds;
    uint64_t seed;
    const char *python, *scratch; /* as in struct plm_lesson */
    int sample; /* rows whose jobs are run by themselves, for methods that need a capture and to time the virtual GPU */
    const struct plm_workloads *workloads; /* with the scripts of these jobs */
    /* Before each training and each round of answers; NULL: nobody looks. */
    void (*progress)(size_t done, size_t all, const char *what);
};

/* ---- rows that were not learned from ---- */

enum plm_split_kind {
    PLM_SPLIT_FOLDS, /* drawn: rows like those that were learned from */
    PLM_SPLIT_UNSEEN, /* all of a group: another family, another card, ... */
    PLM_SPLIT_ELSEWHERE, /* all rows: the model learned from another table */
    PLM_SPLIT_BEYOND /* the largest fifth by parameters, asked of a model that learned from the others */
};

enum { PLM_SPLITS = 12, PLM_SPLIT_GROUPS = 64 };
#define PLM_SPLIT_KEPT SIZE_MAX /* a row that is never asked */
struct plm_split {
    enum plm_split_kind kind;
    const char *column; /* of the groups, else NULL */
    size_t *part; /* per row: asked of a model that learned from all other parts */
    size_t parts;
};

/* study_split.c. Rows that do not count are kept out everywhere. */
void plm_split_folds(size_t rows, size_t folds, uint64_t seed, struct plm_split *split);
/* By the cells of a column; PLM_EINVAL and a sentence if they are too many or all alike. */
int plm_split_column(const struct plm_csv *table, const char *column, struct plm_split *split, struct plm_error *error);
/* By a number of each row: the largest fifth. */
void plm_split_beyond(const double *size, size_t rows, struct plm_split *split);
void plm_split_elsewhere(size_t rows, struct plm_split *split);
void plm_split_free(struct plm_split *split);

/* ---- how good answers are ---- */

enum plm_study_figure {
    PLM_STUDY_ACCURACY, /* share of the answers in the class of the truth */
    PLM_STUDY_F1, /* of the classes that are there or were answered: their mean */
    PLM_STUDY_UNDER, /* share of the answers in a class below the truth's */
    PLM_STUDY_BELOW, /* share of the answers below the truth itself */
    PLM_STUDY_EXACT, /* of memory: to the MiB */
    PLM_STUDY_MAE,
    PLM_STUDY_R2,
    PLM_STUDY_FIGURES
};
const char *plm_study_figure_name(enum plm_study_figure figure); /* "accuracy" */

struct plm_study_score {
    size_t asked, answered;
    double value[PLM_STUDY_FIGURES]; /* NAN: not known */
    struct plm_interval interval[PLM_STUDY_FIGURES]; /* 95 %, by bootstrap; NAN likewise */
};

/* study_score.c. Class of a figure: 1 up to `width`, 2 up to twice that, ...; 0 of 0. */
unsigned plm_study_class(double figure, double width);
/* Of the answers that are not NAN. `intervals` false: they are left out. */
void plm_study_score_make(const double *answer, const double *truth, size_t count, double width, bool memory,
                          bool intervals, uint64_t seed, struct plm_study_score *score);

/* ---- who is asked ---- */

/* What each method needs, one line each: study_demands.c. */
enum plm_demand_when { PLM_DEMAND_ONCE, PLM_DEMAND_EACH_CARD, PLM_DEMAND_EACH_JOB, PLM_DEMAND_TIMES };
const char *plm_demand_when_name(enum plm_demand_when when); /* "once" */
struct plm_demand {
    const char *of; /* method, or paradigm: of all its methods that have no lines of their own */
    enum plm_demand_when when;
    const char *text;
};
extern const struct plm_demand plm_demands[];
extern const size_t plm_demand_count;
/* The lines of a method, in their order; NULL: no more. Begin with NULL. */
const struct plm_demand *plm_demand_next(const char *method, enum plm_paradigm paradigm,
                                         const struct plm_demand *before);
size_t plm_demand_times(const char *method, enum plm_paradigm paradigm, enum plm_demand_when when);

struct plm_contestant {
    const char *name;
    enum plm_paradigm paradigm;
    const struct plm_method *method;
    const struct plm_learner *learner; /* of one that learns from these rows; NULL: a formula, or the virtual GPU */
    const char *why_not; /* rows do not have what it needs: nothing is asked; NULL: they do */
    /* Of a method that looks at a capture of the job: what it said of each row, MiB without the context, NAN where it
       was not asked; the first reason where it did not answer; what a capture and its answer took. */
    double *captured;
    char why[320];
    double seconds, cpu;
};

/* ---- what came of it ---- */

struct plm_study_target {
    const struct plm_target *target;
    double width; /* of a class, in the unit */
    double *truth; /* per row; NAN: none */
    size_t rows; /* that have one */
    const struct plm_target *lesson; /* what is learned for it: the same, or what another table has in its place */
};

struct plm_study_family {
    const char *name; /* NULL: all */
    size_t rows;
};

/* One contestant, one target, one split. */
struct plm_study_result {
    bool asked;
    char why[320]; /* if not, or if it failed */
    double *answer; /* per row; NAN: none */
    struct plm_study_score *score; /* per family; the last is all */
    bool classes; /* it answers with classes */
    double train_seconds; /* of all parts */
    size_t trainings;
    double seconds, cpu; /* per answer */
    double constant; /* MiB that were fitted for the stack, of the last part; NAN: none */
};

struct plm_study {
    struct plm_study_options options;
    struct plm_csv table;
    struct plm_csv lessons; /* empty: none */
    struct plm_example *example; /* per row */
    struct plm_white_box *box;
    size_t *family_of; /* per row */
    struct plm_study_family *family;
    size_t families; /* and one more, which is all */
    struct plm_contestant *contestant;
    size_t contestants, contestant_room;
    struct plm_study_target *target;
    size_t targets, target_room;
    struct plm_split split[PLM_SPLITS];
    size_t splits;
    struct plm_study_result *result;
    bool *sampled; /* per row: its job was run by itself */
    size_t samples, captures; /* of these rows, and of those that could be captured */
    double run_seconds, run_cpu; /* of a job on the virtual GPU by itself; 0: none was run */
};

int plm_study_open(const struct plm_study_options *options, struct plm_study *study, struct plm_error *error);
void plm_study_run(struct plm_study *study);
void plm_study_close(struct plm_study *study);

struct plm_study_result *plm_study_result(const struct plm_study *study, size_t contestant, size_t target,
                                          size_t split);
/* "5 folds", "unseen family", "beyond" */
const char *plm_split_name(const struct plm_split *split, char *buffer, size_t size);

/* study_contest.c: who answers, by name; -1 with a sentence. */
int plm_contestants_choose(struct plm_study *study, struct plm_error *error);
/* A formula's answer for a row, in MiB without the context; NAN and the reason in `why` if it has none. */
double plm_contestant_formula(const struct plm_method *method, const struct plm_example *example, char *why,
                              size_t size);
/* What the rows that are learned from have most often beside what PyTorch reserved, to the MiB; NAN: none tells. */
double plm_study_constant(const struct plm_study *study, const struct plm_study_target *target, const bool *left_out);

/* study_jobs.c: which rows are the sample; PLM_EINVAL and a sentence if none can be. */
int plm_study_sample(struct plm_study *study, struct plm_error *error);
/* Runs its jobs, and asks methods about what was captured. */
void plm_study_jobs(struct plm_study *study);

/* How it is shown: study_json.c, study_text.c. */
extern const struct plm_result plm_study_shown;
void plm_study_document(struct plm_json *json, const void *study);
void plm_study_rows(struct plm_lines *lines, const void *study); /* answer by answer */
void plm_study_figures(struct plm_lines *lines, const void *study); /* score by score */

#endif
