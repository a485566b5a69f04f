/*
 * How a method learns: `train` makes a model of a table, `estimate` and `evaluate` ask it. A part of the method's row
 * (study/estimate/method.h); docs/HOWTO_ADD_ESTIMATOR.md has the steps.
 *
 * A model belongs to who trained or loaded it and is ended with free(); it is read-only, so any thread may ask
 * it. What a lesson points to stays the caller's. Training of networks starts a child process and waits for it: one
 * thread. Everything fails with one sentence: PLM_EINVAL (an option that the method does not take), PLM_EIO,
 * PLM_EFORMAT (rows that nothing can be learned from), PLM_EVERSION, PLM_ENOTFOUND.
 */
#ifndef PLM_LEARN_LEARNER_H
#define PLM_LEARN_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "study/estimate/method.h"
#include "study/estimate/tree.h"

struct plm_error;
struct plm_example;
struct plm_json;
struct plm_model_file;
struct plm_page;
struct plm_csv;
struct plm_white_box;

/* ---- what is learned ---- */

/* Memory is learned in MiB, utilization in per cent, time in milliseconds. */
enum plm_learned_unit { PLM_LEARNED_MEMORY, PLM_LEARNED_UTILIZATION, PLM_LEARNED_TIME };

struct plm_target {
    const char *column;
    enum plm_learned_unit unit;
    double scale;     /* the column's number times this is in the unit */
    bool with_context; /* of memory: what the process takes beside its allocations is in it */
};
/* NULL: no column of that name can be learned. */
const struct plm_target *plm_target_find(const char *column);
/* The one that is meant: `wanted`, or, if that is NULL, what was measured, or what the virtual GPU says. A sentence if
   the table does not have it. */
const struct plm_target *plm_target_choose(const struct plm_csv *table, const char *wanted, struct plm_error *error);
/* Whether a row tells it. A job that PyTorch ends with an error has neither a time of a step nor a share of it: the
   virtual GPU says none (no step_ms), and what was measured is that of a moment. */
bool plm_target_known(const struct plm_target *target, const struct plm_csv *table, size_t row);
/* "MiB", "%", "ms" */
const char *plm_learned_unit_name(enum plm_learned_unit unit);

/* ---- learning ---- */

/* Options that not every method takes. */
enum plm_lesson_option {
    PLM_LESSON_TREES = 1,
    PLM_LESSON_TARGET = 2,
    PLM_LESSON_BIN = 4,
    PLM_LESSON_FOLDS = 8,
    PLM_LESSON_REGRESSION = 16,
    PLM_LESSON_PYTHON = 32,
};

/* Waits for a child that trains, and may show the last line of `status`, a file that it writes; its wait status. */
typedef int plm_lesson_wait(pid_t child, const char *status, void *context);

struct plm_lesson {
    const struct plm_method *method; /* that learns */
    const char *path;              /* of the table, as it was named */
    const struct plm_csv *table;
    const bool *left_out;          /* for each row: learn nothing from it; NULL: all rows */
    const char *target;            /* a column; NULL: see plm_target_choose() */
    uint64_t seed;
    size_t trees;                  /* 0: as many as the method has by itself */
    int bin;                       /* GB of a class, of 1000 MiB each; 0: as the method has it */
    int folds;                     /* scores by so many folds, each with a model of its own; 0: none */
    bool regression;               /* a number instead of classes */
    bool judged_elsewhere;         /* no row is put aside to be asked at the end: the caller has others */
    const char *python;            /* the interpreter that has PyTorch; NULL: python3 */
    const char *scratch;           /* a folder for files in between */
    plm_lesson_wait *wait;         /* NULL: in silence */
    void *context;
};

/* ---- answers ---- */

enum { PLM_LEARNED_CLASSES = 256 };

struct plm_learned_answer {
    char target[PLM_TREE_NAME]; /* the column that was learned */
    enum plm_learned_unit unit;
    bool with_context; /* as in the target */
    double figure;     /* in that unit; of classes the upper edge of the likeliest one */
    size_t classes;    /* 0: the answer is a number */
    double edge[PLM_LEARNED_CLASSES + 1]; /* class i is above edge[i] and up to edge[i + 1] */
    double probability[PLM_LEARNED_CLASSES];
    /* How far the job lies outside of what was learned from: of the worst feature, in widths of its range. 0: inside. */
    double outside;
    char feature[PLM_TREE_NAME];
};

struct plm_learner {
    const char *noun; /* what is written: "the trees", "the weights" */
    unsigned takes; /* enum plm_lesson_option */
    const void *own; /* in what methods differ that share the functions below */
    int (*train)(const struct plm_lesson *lesson, void **model, struct plm_error *error);
    /* The payload of a file of models (study/estimate/model_file.h). */
    int (*load)(const struct plm_method *method, struct plm_model_file *file, void **model);
    void (*put)(FILE *out, const void *model);
    /* What was learned: a few lines, and the members of an object that is open. */
    void (*show)(const void *model, const struct plm_page *page);
    void (*describe)(const void *model, struct plm_json *json);
    /* The numbers that it looks at, with the range of the rows. */
    const struct plm_tree_feature *(*features)(const void *model, size_t *count);
    void (*free)(void *model); /* NULL is nothing */
    /* Its answer about a network. NULL: it is asked by `plimsoll estimate` alone, with a description and a card. */
    int (*ask)(const void *model, const struct plm_example *example, struct plm_learned_answer *answer,
               struct plm_error *error);
    /* The same with its own features as numbers; NULL: it needs the layers of the network. */
    int (*ask_features)(const void *model, const double *x, struct plm_learned_answer *answer, struct plm_error *error);
    /* Of a method that corrects what a run on the virtual GPU says: it has this instead of the two above. */
    int (*ask_beside)(const void *model, const struct plm_example *example, const struct plm_white_box *box,
                      struct plm_learned_answer *answer, struct plm_error *error);
};
/* Whether it can be asked about a row of a table. */
bool plm_learner_answers(const struct plm_learner *learner);
/* An option of the lesson that the method does not take is a sentence; 0 if there is none. */
int plm_lesson_check(const struct plm_lesson *lesson, struct plm_error *error);

/* method.c: how such a method answers `plimsoll estimate`. */
plm_method_prepare plm_learned_prepare;
plm_method_judge plm_learned_judge;
plm_method_explain plm_learned_explain;
/* An answer for people, and as members of an object that is open. */
void plm_learned_show(const struct plm_learned_answer *answer, const struct plm_page *page);
void plm_learned_describe(const struct plm_learned_answer *answer, struct plm_json *json);
/* By features that were given, else by a description; a sentence if there is neither, or it does not do. */
int plm_learned_ask(const struct plm_model *learned, const struct plm_evidence *evidence,
                    struct plm_learned_answer *answer, struct plm_error *error);

/* How far numbers lie outside of the rows' ranges, into outside and feature of the answer. */
void plm_learned_range(const struct plm_tree_feature *feature, size_t features, const double *x,
                       struct plm_learned_answer *answer);
/* "layers=4,batch=64,activation=relu": every feature of the model once. `activation` stands for activation_sin and
   activation_cos. `x` has PLM_TREE_FEATURES numbers. */
int plm_features_parse(const struct plm_model *learned, const char *text, double *x, struct plm_error *error);

/* For show() and describe(): the features by their importance, or, where that is nothing, with their ranges. */
void plm_features_show(const struct plm_tree_feature *feature, size_t features, const struct plm_page *page);
void plm_features_describe(const struct plm_tree_feature *feature, size_t features, struct plm_json *json);
/* Of trees: how many they are and what they learned from. */
void plm_learned_trees_show(const struct plm_page *page, const char *method, const struct plm_trees *trees,
                            uint64_t rows, uint64_t seed);
void plm_learned_trees_describe(struct plm_json *json, const struct plm_trees *trees, uint64_t rows, uint64_t seed);
const char *plm_squared(const struct plm_page *page); /* the two of R^2 */

#endif
