/*
 * Running the workloads of a truth file: which rows share a run, the runs themselves, side by side, and the file of results
 * that makes it possible to go on later.
 *
 * plm_bench_make() lists the runs, plm_bench_run() makes those that have no result yet, plm_bench_free() ends it. The truth, the
 * workloads and the strings of the settings must outlive the bench. One thread; child processes do the work. Fails with a sentence; a workload that
 * fails is no failure of the bench: its outcome says so.
 */
#ifndef PLM_EVALUATE_BENCH_H
#define PLM_EVALUATE_BENCH_H

#include <stddef.h>

#include "evaluate/outcome.h"
#include "evaluate/truth.h"
#include "evaluate/workload.h"

struct plm_catalogue;
struct plm_install;

struct plm_bench_settings {
    const struct plm_install *install;
    struct plm_catalogue *catalogue;
    const struct plm_workloads *workloads;
    const char *python;       /* the interpreter that has PyTorch */
    const char *gpu;          /* instead of the row's own; NULL: the row's */
    const char *stack;        /* for `plimsoll run --stack`; NULL: as it chooses */
    const char *pattern;      /* only rows whose run, family, model or optimizer contains it; NULL: all */
    const char *folder;       /* for records and results */
    int jobs;
};

/* A run that one or more rows ask for. */
struct plm_bench_run {
    const struct plm_truth_row *row;        /* the first of them */
    const struct plm_workload *workload;
    char card[48];            /* id */
    uint64_t usable, total;   /* of the card */
    char key[64];             /* of what decides the outcome, as hexadecimal digits */
    struct plm_outcome outcome;
    bool known;               /* there is an outcome */
};

struct plm_bench {
    const struct plm_bench_settings *settings;
    const struct plm_truth *truth;
    struct plm_bench_run *run;
    size_t runs;
    size_t *run_of_row;       /* SIZE_MAX: the row is not wanted */
};

int plm_bench_make(const struct plm_bench_settings *settings, const struct plm_truth *truth, struct plm_bench *bench,
                   struct plm_error *error);
void plm_bench_free(struct plm_bench *bench);

/* Called when there is something new to show, and now and then between. */
typedef void plm_bench_progress(size_t done, size_t failed, size_t all, double seconds, size_t made, void *context);
int plm_bench_run(struct plm_bench *bench, plm_bench_progress *progress, void *context, struct plm_error *error);

/* results.c: outcomes that `folder`/results.csv has, for runs with the same key. */
int plm_results_read(struct plm_bench *bench, struct plm_error *error);
/* Adds one; begins the file if it is not there. */
int plm_results_add(const struct plm_bench *bench, const struct plm_bench_run *run, struct plm_error *error);

#endif
