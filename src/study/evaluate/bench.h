/*
 * Running the workloads of a truth file: which rows share a run, the runs themselves, side by side, and the files of
 * results that make it possible to go on later.
 *
 * A run has two parts: its record on the virtual GPU, and, if methods are to be asked, a capture for them and their
 * answers. plm_bench_make() lists the runs, plm_bench_run() makes the parts that have no result yet, plm_bench_free()
 * ends it. The truth, the workloads and the strings of the settings must outlive the bench. One thread; child
 * processes do the work. Fails with a sentence; a workload that fails is no failure of the bench: its outcome says
 * so.
 */
#ifndef PLM_EVALUATE_BENCH_H
#define PLM_EVALUATE_BENCH_H

#include <stddef.h>
#include <sys/types.h>

#include "common/card.h"
#include "study/estimate/method.h"
#include "fit/outcome.h"
#include "study/evaluate/truth.h"
#include "study/evaluate/workload.h"

struct plm_bench;
struct plm_catalogue;

/* How the jobs of rows are run, whatever is judged of them. */
struct plm_bench_common {
    struct plm_catalogue *catalogue;
    const struct plm_workloads *workloads;
    const char *python;       /* the interpreter that has PyTorch */
    const char *gpu;          /* instead of the row's own; NULL: the row's */
    const char *stack;        /* for `plimsoll run --stack`; NULL: as it chooses */
    const char *pattern;      /* only rows whose run, family, model or optimizer contains it; NULL: all */
    const char *folder;       /* for results, logs of what failed, and captures that are kept */
    const char *scratch;      /* a temporary one, for all else; may be the same */
    int jobs;                 /* children at the same time, of both parts */
};

struct plm_bench_settings {
    struct plm_bench_common common;
    bool keep;                /* leave captures where they are */
    const struct plm_method *const *method; /* to ask; plimsoll's own figures come from the record in any case */
    size_t methods;
    const char *model_path;   /* of `plimsoll train`, for the method that it is for; NULL: none */
    const struct plm_model *model; /* what is in it */
};

/* What a method said about a run. */
struct plm_reply {
    bool known, failed; /* failed: the capture did; it is tried again later */
    struct plm_answer answer;
    double capture_seconds; /* that the capture took, by the clock */
};

/* A run that one or more rows ask for. */
struct plm_bench_run {
    const struct plm_truth_row *row; /* the first of them */
    const struct plm_workload *workload;
    char card[48]; /* id */
    struct plm_card device;
    uint64_t usable, total; /* of the card */
    char key[64]; /* of what decides the outcome, as hexadecimal digits */
    char ask_key[64]; /* of what decides the answers of methods in addition */
    struct plm_outcome outcome;
    bool known; /* there is an outcome */
    struct plm_reply *reply; /* per method */
    bool asked; /* all have answered, or cannot */
};

struct plm_bench {
    const struct plm_bench_settings *settings;
    const struct plm_truth *truth;
    struct plm_bench_run *run;
    size_t runs;
    size_t *run_of_row; /* SIZE_MAX: the row is not wanted */
    struct plm_reply *reply; /* of all runs */
};

int plm_bench_make(const struct plm_bench_settings *settings, const struct plm_truth *truth, struct plm_bench *bench,
                   struct plm_error *error);
void plm_bench_free(struct plm_bench *bench);

/* KEY.END of a run in the temporary folder. */
void plm_bench_path(const struct plm_bench *bench, size_t run, const char *end, char *out, size_t size);

/* Starts `plimsoll` with these words, which NULL ends, for the workload's command, with its output in a log; as
   plm_child_start(). */
pid_t plm_bench_start(const struct plm_bench *bench, size_t run, const char *const *first, const char *log,
                      int *failure);

/* The methods that have not answered about the run, as bits: the first 64 can be asked. */
uint64_t plm_bench_missing(const struct plm_bench *bench, size_t run);

/* ask.c, in a child: captures the run with `plimsoll trace`, asks the methods that have not answered and leaves their
   replies in a file, as plm_answers_add() writes it. Returns the exit status. */
int plm_bench_ask(const struct plm_bench *bench, size_t run);

/* Called when there is something new to show, and now and then between. Counts parts of runs. */
typedef void plm_bench_progress(size_t done, size_t failed, size_t all, double seconds, size_t made, void *context);
int plm_bench_run(struct plm_bench *bench, plm_bench_progress *progress, void *context, struct plm_error *error);

/* results.c: outcomes that `folder`/results.csv has, for runs with the same key. */
int plm_results_read(struct plm_bench *bench, struct plm_error *error);
/* How its first line begins, and that of answers: no other file is theirs. */
extern const char plm_results_head[], plm_answers_head[];
/* Adds one; begins the file if it is not there. */
int plm_results_add(const struct plm_bench *bench, const struct plm_bench_run *run, struct plm_error *error);

/* What methods said, for runs with the same key, that a file has; one that is not there has none. */
int plm_answers_read(struct plm_bench *bench, const char *path, struct plm_error *error);
/* Adds the replies of a run that are known to `path`; `only`: those that this bit mask of methods has. Begins the
   file if it is not there. */
int plm_answers_add(const struct plm_bench *bench, size_t run, uint64_t only, const char *path,
                    struct plm_error *error);

#endif
