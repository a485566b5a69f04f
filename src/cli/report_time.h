/*
 * Inside the sub-commands: how long a job's step takes, for those that mainly tell its memory. Owned by the caller; the options
 * point into it until plm_cli_report_time_free(). One thread.
 */
#ifndef PLM_CLI_REPORT_TIME_H
#define PLM_CLI_REPORT_TIME_H

#include "common/card.h"
#include "time/table.h"

struct plm_catalogue;
struct plm_install;
struct plm_error;
struct plm_job;
struct plm_report_options;
struct plm_timeline;

struct plm_cli_report_time {
    struct plm_works works;
    bool known;    /* the works were read; if not, `why` */
    bool launched; /* there are kernels to time */
    struct plm_time_table table;
    struct plm_card own; /* that was played */
    char why[512];
};

/* Reads a record once, as a job and as works. 0, or a negative PLM_E code with a sentence; free it in any case. */
int plm_cli_report_time_read(struct plm_cli_report_time *time, const char *record, struct plm_job **job,
                             struct plm_error *error);
/* On these cards, which must outlive it; `whole`: with shares and metrics, else only how long a step takes. Sets
   options->time, or options->no_time to a sentence. */
void plm_cli_report_time_make(struct plm_cli_report_time *time, const struct plm_card *card, size_t cards,
                              const struct plm_install *install, bool whole, struct plm_report_options *options);
/* The same on the card that was played, the whole of it. */
void plm_cli_report_time_own(struct plm_cli_report_time *time, const struct plm_job *job,
                             struct plm_catalogue *catalogue, struct plm_report_options *options);
/* The last step on the card of that name, NULL: the one that was played; takes the works. Fails with a sentence. */
int plm_cli_report_time_line(struct plm_cli_report_time *time, const char *gpu, struct plm_timeline *timeline,
                             struct plm_error *error);
void plm_cli_report_time_free(struct plm_cli_report_time *time);

#endif
