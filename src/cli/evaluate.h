/* What the sides of `plimsoll evaluate` share: memory (evaluate.c), time (evaluate_time.c), the study of rows
   (evaluate_study.c). */
#ifndef PLM_CLI_EVALUATE_H
#define PLM_CLI_EVALUATE_H

#include <limits.h>
#include <stdbool.h>

#include "base/output.h"
#include "cli/cli.h"
#include "study/evaluate/time_truth.h"

struct plm_workloads;

/* What the time side is asked for. Strings belong to the command line and the environment. */
struct plm_evaluate_time {
    const char *layout, *precision;            /* of the workload; NULL: as the row says */
    const char *speeds, *save_speeds;          /* files of constants; NULL: the architecture's, none */
    const char *constants;                     /* that --fit chooses; NULL: the usual ones */
    const char *correction, *save_correction;  /* folders of models; NULL: none */
    const char *host_factor;                   /* NULL: that of the constants */
    const char *host;                          /* "measured", "counted"; NULL: counted */
    int fit, learn;                            /* rows */
};

enum { PLM_EVALUATE_FILES = 4 };
/* How the result of one side is shown, and written to the files. */
struct plm_evaluate_sink {
    int (*text)(const struct plm_page *page, const void *what, struct plm_error *error);
    plm_output_writer *write[PLM_EVALUATE_FILES]; /* JSON, rows, figures, page */
};
/* The files that the options name; NULL: not asked for. */
struct plm_evaluate_show {
    const char *path[PLM_EVALUATE_FILES]; /* in the same order */
    struct plm_look look;
    struct plm_output_rule rule;
};
/* The text, unless a file is standard output, and the files. */
int plm_evaluate_show(const struct plm_evaluate_show *show, const struct plm_evaluate_sink *sink, const void *what,
                      struct plm_error *error);
/* On standard error. */
void plm_evaluate_progress(size_t done, size_t failed, size_t all, double seconds, size_t made, void *what);

/* All that the time side needs beside its own options. */
struct plm_evaluate_job {
    struct plm_catalogue *catalogue;
    const struct plm_workloads *workloads;
    const char *truth, *python, *gpu, *stack, *pattern, *folder, *scratch;
    enum plm_time_kind kind;
    int jobs, seed;
    bool resume;
    struct plm_evaluate_show show;
};
/* Do the options make sense together? A sentence if not. */
int plm_evaluate_time_check(const struct plm_evaluate_time *time, enum plm_time_kind kind, struct plm_error *error);
/* Would what it keeps be refused? Makes the folder of a correction. */
int plm_evaluate_time_outputs(const struct plm_evaluate_time *time, enum plm_time_kind kind,
                              const struct plm_output_rule *rule, struct plm_error *error);
/* Runs and judges; returns the exit status. */
int plm_evaluate_time(const struct plm_evaluate_job *job, const struct plm_evaluate_time *time);

/* ---- the study of a table of rows ---- */

/* Strings belong to the command line. */
struct plm_evaluate_study {
    const char *targets, *unseen, *lessons; /* NULL: as the study has them by itself */
    int bin, folds, sample;       /* 0: likewise */
};
/* Methods NULL: the usual ones. Learns, asks and shows; returns the exit status. */
int plm_evaluate_study(const struct plm_evaluate_study *study, const char *table, const char *methods,
                       const char *python, int seed, const struct plm_workloads *workloads,
                       const struct plm_evaluate_show *show);

#endif
