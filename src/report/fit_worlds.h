/*
 * Which card, and how many of them: records of one job as worlds of different sizes, each with the cards that it fits on.
 * A card's verdict is that of the world's largest kind of rank. The caller owns all; read-only; any thread.
 */
#ifndef PLM_REPORT_FIT_WORLDS_H
#define PLM_REPORT_FIT_WORLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct plm_error;
struct plm_fit_table;
struct plm_report_options;

/* One record. Cards of all worlds are the same, but their tables may have them in another order. */
struct plm_report_fit_world {
    const char *record;
    const struct plm_fit_table *fits;
};

/* `worlds` from the smallest on. Returns 0, or PLM_EIO with a sentence. */
typedef int plm_report_worlds_write(FILE *out, const struct plm_report_fit_world *world, size_t worlds,
                                    const struct plm_report_options *options, bool all, struct plm_error *error);
plm_report_worlds_write plm_report_worlds_text, plm_report_worlds_json;

#endif
