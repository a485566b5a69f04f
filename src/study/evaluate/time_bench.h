/*
 * Running the rows of a truth about time on the virtual GPU, and their work afterwards.
 *
 * Rows are run in chunks: one `plimsoll run` of a script that forks a process for each row. Records stay in the folder,
 * and rows.csv there says which process of which record a row is, so that constants can be tried without running
 * anything again.
 *
 *   plm_timed_bench_make()   which rows, on which cards
 *   plm_timed_bench_resume() rows that the folder has already
 *   plm_timed_bench_run()    runs the others
 *   plm_timed_bench_load()   reads the records
 *   plm_timed_bench_free()
 *
 * The truth, the workloads and the strings of the settings must outlive the bench. One thread; child processes do the
 * work. Fails with a sentence; a row whose workload fails is no failure of the bench: it says why.
 */
#ifndef PLM_EVALUATE_TIME_BENCH_H
#define PLM_EVALUATE_TIME_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/card.h"
#include "study/evaluate/bench.h"
#include "study/evaluate/time_truth.h"
#include "time/works.h"

struct plm_timed_settings {
    struct plm_bench_common common;
    const char *layout, *precision; /* of the workload; NULL: as the row says */
};

/* A row and what became of it. */
struct plm_timed_run {
    const struct plm_timed_row *row;
    const struct plm_workload *workload;
    struct plm_card card;
    char key[24]; /* of what decides its record */
    bool known;   /* it was run, or cannot be */
    char why[200]; /* it failed; "": it did not */
    char record[24]; /* file in the folder, without .plm */
    uint64_t pid;
    const struct plm_works *works; /* NULL: not loaded, or failed */
    const struct plm_work_lane *lane;
};

struct plm_timed_record {
    char name[24];
    struct plm_works works;
};

struct plm_timed_bench {
    const struct plm_timed_settings *settings;
    const struct plm_timed_truth *truth;
    struct plm_timed_run *run;
    size_t runs;
    struct plm_timed_record *record;
    size_t records, record_room;
};

int plm_timed_bench_make(const struct plm_timed_settings *settings, const struct plm_timed_truth *truth,
                         struct plm_timed_bench *bench, struct plm_error *error);
int plm_timed_bench_resume(struct plm_timed_bench *bench, struct plm_error *error);
/* Counts rows. */
int plm_timed_bench_run(struct plm_timed_bench *bench, plm_bench_progress *progress, void *context,
                        struct plm_error *error);
int plm_timed_bench_load(struct plm_timed_bench *bench, struct plm_error *error);
void plm_timed_bench_free(struct plm_timed_bench *bench);

/* The row as its workload gets it: all columns but the measured ones, then mode, batch_size, image_size, layout and
   precision. */
void plm_timed_run_put_head(FILE *out, const struct plm_timed_bench *bench);
void plm_timed_run_put(FILE *out, const struct plm_timed_bench *bench, const struct plm_timed_run *run);
/* FOLDER/RECORD.plm */
void plm_timed_record_path(const struct plm_timed_bench *bench, const char *record, char *out, size_t size);
/* FOLDER/rows.csv: how it begins; adds rows that are known. */
extern const char plm_timed_rows_head[];
int plm_timed_bench_note(const struct plm_timed_bench *bench, const size_t *run, size_t runs, struct plm_error *error);

#endif
