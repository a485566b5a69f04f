/*
 * Estimates against the truth: plimsoll's own, those of the methods that were asked, and those of the published tools
 * in the truth file, by the same rules, per family and in all.
 *
 * plm_judge() needs a bench whose runs are known and keeps nothing of it but pointers; plm_evaluation_free() ends it.
 * Nothing fails.
 */
#ifndef PLM_EVALUATE_JUDGE_H
#define PLM_EVALUATE_JUDGE_H

#include <stdint.h>
#include <stdio.h>

#include "report/result.h"
#include "study/evaluate/anova.h"
#include "study/evaluate/bench.h"
#include "study/evaluate/design.h"
#include "study/evaluate/metrics.h"

/* What the analysis of variance looks at. */
enum plm_response { PLM_RESPONSE_ABSOLUTE, PLM_RESPONSE_SIGNED, PLM_RESPONSE_NONE, PLM_RESPONSES };
const char *plm_response_name(enum plm_response response); /* "absolute" */

struct plm_judge_options {
    enum plm_truth_kind kind;
    bool late_sample; /* give back to the truth of families whose first sample was late what such a sample took off */
    uint64_t seed; /* of the bootstrap */
    enum plm_response response;
    const struct plm_design_made *design; /* what the rows came from; NULL: not told */
};

enum plm_origin {
    PLM_ORIGIN_VIRTUAL, /* the run on the virtual GPU */
    PLM_ORIGIN_METHOD, /* plimsoll's implementation of a published method */
    PLM_ORIGIN_PUBLISHED, /* what the truth file says that a tool said */
};
const char *plm_origin_name(enum plm_origin origin); /* "virtual", "method", "published" */

struct plm_estimator {
    char name[48]; /* "plimsoll", "plimsoll, upper end", "xmem", "xmem (published)" */
    enum plm_origin origin;
    bool upper;
    bool other_kind; /* what it estimates is not of the kind that was measured */
    struct plm_score *score; /* per row of the evaluation */
};

struct plm_evaluation_family {
    const char *name; /* NULL: all */
    size_t rows;
    struct plm_metrics *metrics; /* per estimator */
    struct plm_anova *anova; /* likewise; without observations if there was nothing to analyse */
};

/* What a row is held against. */
struct plm_yardstick {
    uint64_t bytes; /* 0: not known */
    uint64_t most; /* it may have been as much: with what a late first sample took off */
    bool oom;
    bool reference; /* the run on the virtual GPU, not a measurement */
};

struct plm_evaluation {
    const struct plm_bench *bench;
    struct plm_judge_options options;
    size_t *row; /* of the truth */
    struct plm_yardstick *yardstick;
    size_t rows, failed; /* failed: their workload did */
    size_t references; /* rows without a measurement */
    struct plm_estimator *estimator;
    size_t estimators;
    struct plm_evaluation_family *family; /* the last one is all, if there are two or more */
    size_t families;
};

void plm_judge(const struct plm_bench *bench, const struct plm_judge_options *options,
               struct plm_evaluation *evaluation);
void plm_evaluation_free(struct plm_evaluation *evaluation);

const struct plm_truth_row *plm_evaluation_row(const struct plm_evaluation *evaluation, size_t row);
const struct plm_bench_run *plm_evaluation_run(const struct plm_evaluation *evaluation, size_t row);

/* Of the kind that is compared: the estimate and the ends of its range. */
struct plm_evaluation_range {
    uint64_t low, bytes, high;
};
struct plm_evaluation_range plm_evaluation_range_of(const struct plm_outcome *outcome, enum plm_truth_kind kind);

/* What the xMem paper published about four tools, on its 5,209 runs; shown beside what the same tools come to here. */
enum { PLM_PUBLISHED = 4, PLM_PUBLISHED_RUNS = 5209 };
struct plm_published {
    const char *name;
    double median, pef, seconds; /* median: of the relative error, "MRE" there; as fractions. seconds: mean run time */
    const char *tool; /* its columns in a truth file */
    const char *method; /* plimsoll's implementation of what was compared */
};
extern const struct plm_published plm_published[PLM_PUBLISHED];

/* How it is shown: json.c, csv.c, text.c. */
extern const struct plm_result plm_evaluation_result;
void plm_evaluation_document(struct plm_json *json, const void *evaluation);
void plm_evaluation_rows(struct plm_lines *lines, const void *evaluation);
void plm_evaluation_figures(struct plm_lines *lines, const void *evaluation);

#endif
