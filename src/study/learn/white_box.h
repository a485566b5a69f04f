/*
 * What the run on the virtual GPU said about a job, as a correction of it sees it: a row of a table by `plimsoll
 * dataset`, or the outcome of a record. Plain values; pure functions, any thread. Fails with PLM_EFORMAT and a sentence.
 */
#ifndef PLM_LEARN_WHITE_BOX_H
#define PLM_LEARN_WHITE_BOX_H

#include <stdbool.h>
#include <stddef.h>

struct plm_error;
struct plm_labels;
struct plm_outcome;
struct plm_csv;

enum { PLM_WHITE_METRICS = 5 };
extern const char *const plm_white_metric[PLM_WHITE_METRICS]; /* columns: "gputl" to "fp32a" */

/* MiB, ms, per cent; a figure that is not known is -1. */
struct plm_white_box {
    double allocated;
    double reserved;  /* and what libraries took outside of it: all but the context */
    double low, high; /* of the same; both as `reserved` where nothing is said */
    double step;
    double metric[PLM_WHITE_METRICS];
};

int plm_white_box_read(const struct plm_csv *table, size_t row, struct plm_white_box *box, struct plm_error *error);
/* Memory, and time where there are labels that have it; they may be NULL. */
void plm_white_box_of(const struct plm_outcome *outcome, const struct plm_labels *labels, struct plm_white_box *box);

#endif
