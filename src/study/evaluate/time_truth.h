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
 * plm_time_truth_read() reads it, plm_time_truth_free() gives it back; strings belong to it. Read-only in between.
 * Fails with a sentence that names the line.
 */
#ifndef PLM_EVALUATE_TIME_TRUTH_H
#define PLM_EVALUATE_TIME_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "time/timing.h"

/* What is measured and predicted: the step's time in ms, then the metrics from 0 to 1. */
enum { PLM_FIGURE_STEP, PLM_FIGURE_METRIC, PLM_TIME_FIGURES = PLM_FIGURE_METRIC + PLM_METRICS };
const char *plm_time_figure_name(int figure); /* "step_ms", "gputl" */

enum plm_time_kind { PLM_TIME_STEP, PLM_TIME_UTILIZATION, PLM_TIME_KINDS };
const char *plm_time_kind_name(enum plm_time_kind kind); /* "step-time" */
int plm_time_kind_parse(const char *text, enum plm_time_kind *kind);
/* The figures of a kind: from `first` on. */
int plm_time_kind_figures(enum plm_time_kind kind, int *first);

struct plm_time_row {
    unsigned line;
    size_t at; /* in the table */
    const char *family, *model, *mode, *gpu, *layout, *precision; /* "" if not given */
    uint64_t batch, image;                                        /* 0: not given */
    double gmacs, macts;                                          /* of one sample; 0: not given */
    unsigned known;                                               /* bits of the figures that were measured */
    double figure[PLM_TIME_FIGURES];
};

struct plm_time_truth {
    struct plm_table table;
    enum plm_time_kind kind;
    struct plm_time_row *row; /* those with a figure of the kind */
    size_t rows, room;
    size_t without; /* rows that have none */
};

/* What a table has truth of, by its head line. False: neither step times nor metrics, or memory too: that is first, and
   *kind is what it has besides. */
bool plm_time_truth_recognize(const struct plm_table *table, enum plm_time_kind *kind);

int plm_time_truth_read(const char *path, enum plm_time_kind kind, struct plm_time_truth *truth,
                        struct plm_error *error);
void plm_time_truth_free(struct plm_time_truth *truth);

/* Is this a column of what was measured, which no workload is told? */
bool plm_time_truth_measured(const char *column);
/* Does its family, model, mode or name contain this? NULL: always. */
bool plm_time_row_has(const struct plm_time_truth *truth, const struct plm_time_row *row, const char *pattern);

#endif
