/* Shows what `fit` and `tune` found: text for people, JSON for programs. Functions only write to the stream they are
   given and return 0, or PLM_EIO with a sentence. */
#ifndef PLM_REPORT_FIT_H
#define PLM_REPORT_FIT_H

#include <stdbool.h>
#include <stdio.h>

struct plm_error;
struct plm_fit_table;
struct plm_report_options;
struct plm_tune;

/* `all`: every row, also those that are far from deciding anything. */
typedef int plm_fit_write(FILE *out, const struct plm_fit_table *table, const struct plm_report_options *options,
                          bool all, struct plm_error *error);
plm_fit_write plm_fit_text, plm_fit_json;

typedef int plm_tune_write(FILE *out, const struct plm_tune *tune, const struct plm_report_options *options, bool all,
                           struct plm_error *error);
plm_tune_write plm_tune_text, plm_tune_json;

#endif
