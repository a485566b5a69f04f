/*
 * The answer of a report in a line, its first and its last: does the job fit on the cards that were asked about, how long
 * is a step there, how certain is that. Where no card was asked about: what the job needs, and from which card on it fits.
 *
 *   FITS on rtx4090: 10.0 GiB of 23.3 GiB usable (10.0-10.3) · step 125 ms (106-144), GPU-bound · confidence high
 *
 * Functions only write to what they are given. Read-only on the job and the table.
 */
#ifndef PLM_REPORT_ANSWER_H
#define PLM_REPORT_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

struct plm_fit_table;
struct plm_job;
struct plm_page;
struct plm_report_options;

struct plm_report_asked {
    const struct plm_job *job;
    const struct plm_fit_table *fits; /* of options->card */
    const struct plm_report_options *options;
};

/* In lines of the page's width, one or two for each card that was asked about. `brief`: without ranges and advice, as the
   last line of a report. */
void plm_report_answer(const struct plm_page *page, const struct plm_report_asked *answer, bool brief);
/* The first of these in one line, however long; and the verdict it states, NULL if no card was asked about. */
const char *plm_report_answer_line(const struct plm_report_asked *answer, char *out, size_t size);
const char *plm_report_answer_verdict(const struct plm_report_asked *answer, const char **card);

#endif
