/*
 * A file of truth about time: step times, or how busy the GPU was, of jobs on real cards.
 *
 * A CSV whose columns are known by name, in one of three layouts:
 *   timm's benchmark  model, infer_step_time (ms), infer_batch_size, infer_img_size, infer_gmacs, infer_macts; or
 *                     the same with train_
 *   synthetic MLPs    arch, input, output, depth, batch, ...
 *   any family        family, model, batch_size, image_size, mode (infer, train), step_time_ms
 * with the metrics in gputl, gract, smact, smocc, fp32a, tenso and drama (0 to 1; gputl of the first two in per cent),
 * and the card in gpu. Other columns are left to the workload, which gets all but those that were measured.
 * plm_timed_truth_read() reads it, plm_timed_truth_free() gives it back; strings belong to it. Read-only in between.
 * Fails with a sentence that names the line.
 */
#ifndef PLM_EVALUATE_TIME_TRUTH_H
#define PLM_EVALUATE_TIME_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/csv.h"
#include "time/timing.h"

/* What is measured and predicted: the step's time in ms, then the metrics from 0 to 1. */
enum { PLM_FIGURE_STEP, PLM_FIGURE_METRIC, PLM_TIMED_FIGURES = PLM_FIGURE_METRIC + PLM_METRICS };
const char *plm_timed_figure_name(int figure); /* "step_ms", "gputl" */

enum plm_timed_kind { PLM_TIMED_STEP, PLM_TIMED_UTILIZATION, PLM_TIMED_KINDS };
const char *plm_timed_kind_name(enum plm_timed_kind kind); /* "step-time" */
int plm_timed_kind_parse(const char *text, enum plm_timed_kind *kind);
/* The figures of a kind: from `first` on. */
int plm_timed_kind_figures(enum plm_timed_kind kind, int *first);

struct plm_timed_row {
    unsigned line;
    size_t at; /* in the table */
    const char *family, *model, *mode, *gpu, *layout, *precision; /* "" if not given */
    uint64_t batch, image;                                        /* 0: not given */
    double gmacs, macts;                                          /* of one sample; 0: not given */
    unsigned known;                                               /* bits of the figures that were measured */
    double figure[PLM_TIMED_FIGURES];
};

struct plm_timed_truth {
    struct plm_csv table;
    enum plm_timed_kind kind;
    struct plm_timed_row *row; /* those with a figure of the kind */
    size_t rows, room;
    size_t without; /* rows that have none */
};

/* What a table has truth of, by its header. False: neither step times nor metrics, or memory too: that is first, and
   *kind is what it has besides. */
bool plm_timed_truth_recognize(const struct plm_csv *table, enum plm_timed_kind *kind);

int plm_timed_truth_read(const char *path, enum plm_timed_kind kind, struct plm_timed_truth *truth,
                         struct plm_error *error);
void plm_timed_truth_free(struct plm_timed_truth *truth);

/* Is this a column of what was measured, which no workload is told? */
bool plm_timed_truth_measured(const char *column);
/* Does its family, model, mode or name contain this? NULL: always. */
bool plm_timed_row_has(const struct plm_timed_truth *truth, const struct plm_timed_row *row, const char *pattern);

#endif
