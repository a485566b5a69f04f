/*
 * Shows what a job needed. Text for people on any width, JSON ("plimsoll.report/1") for programs.
 * Functions only write to the stream they are given.
 */
#ifndef PLM_REPORT_H
#define PLM_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct plm_summary;

struct plm_report_options {
    bool bytes;          /* exact bytes instead of GiB */
    bool color;
    int width;           /* columns */
    const char *record;  /* path, for the next command */
};

void plm_report_text(FILE *out, const struct plm_summary *summary, const struct plm_report_options *options);
/* Returns 0 or PLM_EIO. */
int plm_report_json(FILE *out, const struct plm_summary *summary);

/* How far the answer can be trusted, and why not further. Fills up to `most` reasons; returns
   "high", "medium" or "low". */
const char *plm_report_confidence(const struct plm_summary *summary, char reasons[][256], int most, int *count);

/* How many results were read back that decide the size of tensors. */
uint64_t plm_report_deciding(const struct plm_summary *summary);

#endif
