/*
 * Shows how long a job's step takes and how busy that keeps a card (time/table.h). Text for people, JSON ("plimsoll.time/1") for
 * programs. Functions only write to what they are given; read-only on the table.
 */
#ifndef PLM_REPORT_TIME_H
#define PLM_REPORT_TIME_H

#include <stdbool.h>
#include <stdio.h>

#include "time/table.h"

struct plm_error;
struct plm_json;
struct plm_page;
struct plm_report_options;

/* What the largest shares are of. */
enum plm_report_time_key {
    PLM_REPORT_TIME_OPERATORS,
    PLM_REPORT_TIME_MODULES,
    PLM_REPORT_TIME_CLASSES,
    PLM_REPORT_TIME_KEYS
};

struct plm_report_time_look {
    const struct plm_report_options *options;
    bool listed;            /* --by: all shares by `by` */
    enum plm_report_time_key by;
    bool many;              /* several cards were asked for, even if one is left */
};

/* What `plimsoll time` says. Returns 0, or PLM_EIO with a sentence in *error. */
typedef int plm_report_time_write(FILE *out, const struct plm_time_table *table,
                                  const struct plm_report_time_look *look, struct plm_error *error);
plm_report_time_write plm_report_time_text, plm_report_time_json;

/* The section of a report: of the first row of options->time, or in one line why there is none. */
void plm_report_time_section(const struct plm_page *page, const struct plm_report_options *options);
/* The same as the object "time" of a report. */
void plm_report_time_object(struct plm_json *json, const struct plm_report_options *options);

/* The row of a card that options->time was asked about; NULL: there is none, or its times are not known. */
const struct plm_time_row *plm_report_time_of(const struct plm_report_options *options, const struct plm_card *card);

/* "step 125 ms (106-144) on rtx4090, GPU-bound", or without range and bottleneck, or card: "step 125 ms". */
const char *plm_report_time_brief(char *out, size_t size, const struct plm_work_lane *lane,
                                  const struct plm_time_row *row, bool range, bool card);

/* "optimizer step", "call of the model", "command": what was counted as a step. */
const char *plm_report_time_unit(const struct plm_work_lane *lane);

#endif
