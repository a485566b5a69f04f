/*
 * Shows what a job needed. Text for people on any width, JSON ("plimsoll.report/1") for programs.
 * Functions only write to the stream they are given. Read-only on the job.
 */
#ifndef PLM_REPORT_H
#define PLM_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/job.h"
#include "base/draw.h"

struct plm_card;
struct plm_catalogue;
struct plm_check;
struct plm_error;
struct plm_fit_row;
struct plm_fit_table;
struct plm_json;
struct plm_summary;
struct plm_time_table;
struct plm_tune;

enum { PLM_REPORT_CARDS = 16 };

struct plm_report_options {
    bool bytes;                 /* exact bytes instead of GiB */
    bool color;
    bool utf8;                  /* else plain ASCII */
    int width;                  /* columns */
    const char *record;         /* path, for the next command */
    bool unfold;                /* each layer that repeats by itself (report/folding.h) */
    bool listed;                /* --by: all holders by `by` instead of the overview */
    enum plm_key by;
    struct plm_at at;
    const struct plm_card *card; /* whether the job fits on these */
    int cards;
    const struct plm_fit_table *fits; /* that, where the caller has it already; NULL: what shows it finds out */
    uint32_t asked;             /* a bit for each of them that the user asked about: the answer is about these */
    bool full;                  /* all there is to say, not a screen */
    const struct plm_time_table *time; /* of one card; NULL: not known, and */
    const char *no_time;        /* why; NULL: times are not shown */
    const struct plm_check *check; /* of `check`: the verdict on a limit, for JSON; NULL: none was asked for */
};

/* Whether the user asked about the card of a row that is of options->card. */
bool plm_report_asks(const struct plm_report_options *options, const struct plm_fit_row *row);

/* Whether the job fits on options->card: the table of the options, or one that is made in *own. The caller frees *own with
   plm_fit_table_free() in any case. */
const struct plm_fit_table *plm_report_fits(const struct plm_job *job, const struct plm_report_options *options,
                                            struct plm_fit_table *own);

/* The page that the text formats draw on. */
struct plm_page plm_report_page_for(FILE *out, const struct plm_report_options *options);

/* A way to show a job. Returns 0, or PLM_EIO with a sentence in *error. */
typedef int plm_report_write(FILE *out, const struct plm_job *job, const struct plm_report_options *options,
                             struct plm_error *error);
plm_report_write plm_report_text, plm_report_json;

/* A step as a card runs it. Without a timeline times are not known, and `why` is the sentence that says so. */
struct plm_report_step {
    const struct plm_timeline *timeline;
    const char *why;
};

/* One HTML file that needs nothing else (web/, docs/page.md). `catalogue` may be NULL: then no cards are shown;
   `record` is the record's name. Fails with a sentence, also if this build has no page. */
struct plm_report_page {
    const struct plm_job *job;
    const struct plm_catalogue *catalogue;
    const struct plm_report_step *time;
    const char *record;
};
int plm_report_html(FILE *out, const struct plm_report_page *page, struct plm_error *error);
/* Two jobs over one another: each on the device that needs most. */
struct plm_diff;
int plm_report_html_diff(FILE *out, const struct plm_diff *diff, const struct plm_report_page page[2],
                         struct plm_error *error);

/* What `fit` and `tune` found. `all`: every row, also those that are far from deciding anything. */
typedef int plm_report_fit_write(FILE *out, const struct plm_fit_table *table, const struct plm_report_options *options,
                                 bool all, struct plm_error *error);
plm_report_fit_write plm_report_fit_text, plm_report_fit_json;

typedef int plm_report_tune_write(FILE *out, const struct plm_tune *tune, const struct plm_report_options *options,
                                  bool all, struct plm_error *error);
plm_report_tune_write plm_report_tune_text, plm_report_tune_json;

/* What documents share (json.c): the command and its versions, when it was started, and as `key` the confidence with its
   reasons and one more, `doubt`, which may be NULL or "". */
void plm_report_command(struct plm_json *json, const struct plm_summary *summary);
void plm_report_started(struct plm_json *json, const struct plm_summary *summary);
void plm_report_confidence(struct plm_json *json, const char *key, const struct plm_job *job, const char *doubt);
/* "known", and if the peak is not the job's, "why". */
void plm_report_known(struct plm_json *json, const struct plm_job *job);
/* The job's setting of PyTorch's allocator, or "default". */
const char *plm_report_allocator(const struct plm_job *job);
/* Why a card is not recommended even if the job fits: `shared_memory`, `lacks`. */
void plm_report_remarks(struct plm_json *json, const struct plm_fit_row *row);

/* takes.c: what a job takes of a card where it cannot have all it would. As fields of an object: `takes` (absent if the
   job does not complete, or nothing was replayed), `would_take`, `workspace_fallbacks`. As a remark on a row, "uses
   11.2 GiB"; "" if that is no less than it would take. Of the card that was played: "rtx3060: takes 11.2 GiB of
   11.6 GiB, would take 15.8 GiB if it could", where that differs. */
void plm_report_takes(struct plm_json *json, const struct plm_fit_row *row);
bool plm_takes_less(const struct plm_fit_row *row);
const char *plm_takes_text(const struct plm_page *page, const struct plm_fit_row *row, char out[48]);
void plm_takes_played(const struct plm_page *page, const struct plm_job *job, const struct plm_report_options *options);

#endif
