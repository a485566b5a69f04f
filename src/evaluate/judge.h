/*
 * Estimates against the truth: plimsoll's own and those of the published tools in the truth file, by the same rules, per family and in
 * all.
 *
 * plm_judge() needs a bench whose runs are known and keeps nothing of it but pointers; plm_evaluation_free() ends it. Fails
 * with PLM_ENOMEM only.
 */
#ifndef PLM_EVALUATE_JUDGE_H
#define PLM_EVALUATE_JUDGE_H

#include <stdint.h>
#include <stdio.h>

#include "evaluate/bench.h"
#include "evaluate/metrics.h"

/* What the measured figure is; the estimate of the same kind is held against it. */
enum plm_truth_kind {
    PLM_TRUTH_ALLOCATED,
    PLM_TRUTH_RESERVED,
    PLM_TRUTH_DEVICE,      /* device used, the context included */
    PLM_TRUTH_LESS_FIRST,  /* device used minus its first sample, which the context is part of */
    PLM_TRUTH_KINDS
};
const char *plm_truth_kind_name(enum plm_truth_kind kind); /* "device-less-first" */
int plm_truth_kind_parse(const char *text, enum plm_truth_kind *kind);

struct plm_judge_options {
    enum plm_truth_kind kind;
    bool
        late_sample; /* also hold the truth of families whose first sample was late against what such a sample leaves */
};

enum { PLM_ESTIMATORS = PLM_TRUTH_TOOLS + 4 };

struct plm_estimator {
    char name[48]; /* "plimsoll", "plimsoll, upper end", "xmem" */
    bool own, late, upper;
    struct plm_score *score; /* per row of the evaluation */
};

struct plm_family {
    const char *name; /* NULL: all */
    struct plm_metrics metrics[PLM_ESTIMATORS];
};

struct plm_evaluation {
    const struct plm_bench *bench;
    struct plm_judge_options options;
    size_t *row; /* of the truth */
    size_t rows, failed; /* failed: their workload did */
    struct plm_estimator estimator[PLM_ESTIMATORS];
    size_t estimators;
    struct plm_family *family; /* the last one is all, if there are two or more */
    size_t families;
};

int plm_judge(const struct plm_bench *bench, const struct plm_judge_options *options,
              struct plm_evaluation *evaluation);
void plm_evaluation_free(struct plm_evaluation *evaluation);

const struct plm_truth_row *plm_evaluation_row(const struct plm_evaluation *evaluation, size_t row);
const struct plm_bench_run *plm_evaluation_run(const struct plm_evaluation *evaluation, size_t row);

/* Of the kind that is compared: the estimate and the ends of its range. */
struct plm_estimate {
    uint64_t low, bytes, high;
};
struct plm_estimate plm_outcome_estimate(const struct plm_outcome *outcome, enum plm_truth_kind kind);

/* Ways to show an evaluation: 0, or PLM_EIO, PLM_ENOMEM or PLM_ENOTFOUND with a sentence. */
struct plm_report_options;
int plm_evaluation_text(FILE *out, const struct plm_evaluation *evaluation, const struct plm_report_options *options,
                        struct plm_error *error);
int plm_evaluation_json(FILE *out, const struct plm_evaluation *evaluation, struct plm_error *error);
/* json.c: the document alone, for the page. */
struct plm_json;
void plm_evaluation_document(struct plm_json *json, const struct plm_evaluation *evaluation);
int plm_evaluation_csv(FILE *out, const struct plm_evaluation *evaluation, struct plm_error *error);
int plm_evaluation_html(FILE *out, const struct plm_evaluation *evaluation, struct plm_error *error);

#endif
