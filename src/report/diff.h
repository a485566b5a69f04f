/*
 * What grew between two jobs: the ladder, and at the peak of each device the categories and modules. Devices are
 * matched by rank and number. Ranks of different worlds are not the same because their number is: there kinds are matched,
 * the largest with the largest, then the first with the first, the last with the last and those between in their order.
 *
 * plm_diff_make() fills a struct that the caller frees with plm_diff_free(), before the two jobs: names and lanes
 * belong to these. One thread. The writers only write to the stream they are given.
 */
#ifndef PLM_DIFF_H
#define PLM_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/kinds.h"
#include "report/folding.h"

struct plm_error;
struct plm_report_options;

struct plm_change {
    const char *name;
    uint64_t before, after;
};

/* Rungs of the ladder, in its order. */
enum plm_rung { PLM_RUNG_ALLOCATED, PLM_RUNG_RESERVED, PLM_RUNG_LIBRARIES, PLM_RUNG_OTHER, PLM_RUNG_USED, PLM_RUNGS };

struct plm_diff_lane {
    const struct plm_job_kind *kind[2]; /* before and after; NULL: not matched by kind, or not there */
    const struct plm_lane *before, *after; /* one of them is NULL if only the other job has it */
    struct plm_change rung[PLM_RUNGS];
    bool attributed; /* both records tell where blocks come from; else no modules */
    struct plm_change category[PLM_CATEGORIES + 1]; /* the last one of the ladder is "free_in_segments" */
    struct plm_change *module; /* those that changed only; or lines, as `by` says */
    size_t categories, modules; /* largest change first; no categories: one does not tell */
    struct plm_holders holders[2]; /* own the names of the modules */
    bool changed;
};

struct plm_diff {
    const struct plm_job *before, *after;
    struct plm_job_kinds ranks[2]; /* of each */
    bool by_kind;
    enum plm_key by; /* PLM_BY_MODULE or PLM_BY_LINE */
    struct plm_diff_lane *lane;
    size_t lanes;
    bool changed;
};

/* Lines are named by their file, from the folder on that all files of the program have in common, and by their place in
   their function: "model.py Net.forward+3". So they are found again in another folder, and where code above them changed. */
void plm_diff_make(const struct plm_job *before, const struct plm_job *after, enum plm_key by, struct plm_diff *diff);
void plm_diff_free(struct plm_diff *diff);

/* The modules of a device that changed, layers that repeat as one (report/folding.h), the largest change first. The labels
   belong to the rows; these are freed before the difference. */
struct plm_diff_rows {
    struct plm_diff_row {
        struct plm_change change; /* its name is the label: "blocks.0…11.mlp.0 x 12" */
        const struct plm_repeat *fold; /* of `folds`; its members are places in lane->module */
    } *item;
    size_t count;
    struct plm_repeats folds;
};
/* `single`: each by itself. */
struct plm_diff_rows plm_diff_rows(const struct plm_diff_lane *lane, bool single, bool ascii);
void plm_diff_rows_free(struct plm_diff_rows *rows);

/* By how much, without its sign. */
uint64_t plm_change_size(const struct plm_change *change);
/* "+1.2 GiB", "-512", and "0 B" for nothing; "+88 %", "+0.3 %", "12.5 x", "new", "gone", "same". Return `buffer`. */
const char *plm_change_amount(const struct plm_change *change, bool bytes, char *buffer, size_t size);
const char *plm_change_percent(const struct plm_change *change, char *buffer, size_t size);

/* diff_growth.c: the one line that answers "did it grow, and what did?". */
struct plm_diff_growth {
    struct plm_change used; /* device memory of the device that needs most in each job */
    const struct plm_diff_lane *lane; /* the one that needs most afterwards */
    char cause[160]; /* what grew (or shrank) most with it: "activations of blocks.*"; "": not known */
    struct plm_change by; /* by how much that did */
};
struct plm_diff_growth plm_diff_growth(const struct plm_diff *diff);
/* "+8.9 GiB (+88 %) at the peak: activations of blocks.* +8.1 GiB". Returns `buffer`. */
const char *plm_diff_growth_text(const struct plm_diff_growth *growth, bool bytes, char *buffer, size_t size);

/* `names` are the two records as the user wrote them. Returns 0, or PLM_EIO with a sentence. */
typedef int plm_diff_write(FILE *out, const struct plm_diff *diff, const char *const names[2],
                           const struct plm_report_options *options, struct plm_error *error);
plm_diff_write plm_diff_text, plm_diff_json, plm_diff_markdown;
/* What of that JSON does not depend on the records' names, inside an object. */
struct plm_json;
void plm_diff_fields(struct plm_json *json, const struct plm_diff *diff);

#endif
