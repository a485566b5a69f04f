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

struct plm_card;
struct plm_catalogue;
struct plm_error;

enum { PLM_REPORT_CARDS = 16 };

/* Which moment of each device is looked at. */
struct plm_report_at {
    enum { PLM_AT_PEAK, PLM_AT_STEP, PLM_AT_END } kind;
    uint32_t step;              /* from 1; its own peak is meant */
};

struct plm_report_options {
    bool bytes;                 /* exact bytes instead of GiB */
    bool color;
    bool utf8;                  /* else plain ASCII */
    int width;                  /* columns */
    const char *record;         /* path, for the next command */
    bool listed;                /* --by: all holders by `by` instead of the overview */
    enum plm_key by;
    struct plm_report_at at;
    const struct plm_card *card; /* whether the job fits on these */
    int cards;
};

/* A way to show a job. Returns 0, or PLM_EIO or PLM_ENOMEM with a sentence in *error. */
typedef int plm_report_write(FILE *out, const struct plm_job *job, const struct plm_report_options *options,
                             struct plm_error *error);
plm_report_write plm_report_text, plm_report_json;

/* "peak", "end", "3", "step 3", "step:3"; "module", "op", ... PLM_EINVAL for anything else. */
int plm_report_at_parse(const char *text, struct plm_report_at *at);
int plm_report_by_parse(const char *text, enum plm_key *by);
const char *plm_report_by_name(enum plm_key by);
/* PLM_EINVAL with a sentence if no device of the job has that step. */
int plm_report_at_check(const struct plm_job *job, struct plm_report_at at, struct plm_error *error);

/* A moment of a lane, and what is known of it. */
struct plm_place {
    bool known;                           /* blocks were seen at all */
    uint32_t moment;
    uint32_t step;                        /* from 1; 0: no step ended */
    const struct plm_context *context;    /* of the allocation that made this moment; NULL: none, or not known */
    uint64_t allocated, reserved;
    uint64_t category[PLM_CATEGORIES];
    uint64_t casts;                       /* activations and temporaries that are copies in another precision */
    uint64_t captured;                    /* in private pools of CUDA graphs */
};
struct plm_place plm_report_place(const struct plm_job *job, const struct plm_lane *lane, struct plm_report_at at);
/* What the allocator holds beyond the blocks. */
uint64_t plm_place_free(const struct plm_place *place);

/* Whether the job fits on each of the cards, in the order of their memory: by replay where that is quick and the
   record allows it, else by the ladder; then `minimum` is 0. */
struct plm_report_fits {
    struct plm_fit_row *row;
    size_t rows;
    uint64_t need, minimum;
};
int plm_report_fits(const struct plm_job *job, const struct plm_card *cards, size_t count, struct plm_report_fits *fits,
                    struct plm_error *error);
void plm_report_fits_free(struct plm_report_fits *fits);

/* One HTML file that needs nothing else (web/, docs/page.md). `catalogue` may be NULL: then no cards are shown;
   `record` is the record's name. Fails with a sentence, also if this build has no page. */
int plm_report_html(FILE *out, const struct plm_job *job, const struct plm_catalogue *catalogue, const char *record,
                    struct plm_error *error);

/* How far the answer can be trusted, and why not further. Fills up to `most` reasons; returns
   "high", "medium" or "low". */
const char *plm_report_confidence(const struct plm_summary *summary, char reasons[][256], int most, int *count);

/* How many results were read back that decide the size of tensors. */
uint64_t plm_report_deciding(const struct plm_summary *summary);

#endif
