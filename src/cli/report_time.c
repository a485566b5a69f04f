/* The times that reports and `fit` show beside memory. Whatever prevents them is a sentence in the answer, never a failure. */
#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "cli/cli.h"
#include "cli/report_time.h"
#include "report/report.h"

/* A record is read a second time only if something was launched at all. */
static int works_read(struct plm_cli_report_time *t, const struct plm_job *job, const char *record)
{
    struct plm_error error;
    int status = PLM_ENOTFOUND;
    if (job->summary.launches)
        status = plm_works_read(record, &t->works, &error);
    if (status == PLM_ENOTFOUND)
        snprintf(t->why, sizeof t->why,
                 "the record has no kernel launches; snapshots and records made with --detail low or off have none");
    else if (status < 0)
        snprintf(t->why, sizeof t->why, "%s", error.text);
    return status;
}

void plm_cli_report_time_make(struct plm_cli_report_time *t, const struct plm_job *job, const char *record,
                              const struct plm_card *card, size_t cards, const struct plm_install *install, bool whole,
                              struct plm_report_options *options)
{
    const struct plm_time_question question = {.install = install, .shares = whole, .unmetered = !whole};
    struct plm_error error;
    t->works = (struct plm_works){0};
    t->table = (struct plm_time_table){0};
    t->why[0] = '\0';
    options->no_time = t->why;
    if (works_read(t, job, record) < 0)
        return;
    if (plm_time_table_make(&t->works, plm_works_main(&t->works), card, cards, &question, &t->table, &error) < 0)
        snprintf(t->why, sizeof t->why, "%s", error.text);
    else
        options->time = &t->table;
}

void plm_cli_report_time_own(struct plm_cli_report_time *t, const struct plm_job *job, const char *record,
                             struct plm_catalogue *catalogue, struct plm_report_options *options)
{
    const char *gpu = plm_summary_config(&job->summary, "gpu");
    const struct plm_catalogue_entry *entry;
    *t = (struct plm_cli_report_time){0};
    if (!job->lanes)
        return;
    if (!gpu || plm_catalogue_find(catalogue, gpu, &entry, NULL) < 0) {
        options->no_time = "the record's GPU is not in the catalogue; choose one with `plimsoll time --gpu`";
        return;
    }
    t->own = entry->card;
    plm_cli_report_time_make(t, job, record, &t->own, 1, &catalogue->install, true, options);
}

void plm_cli_report_time_free(struct plm_cli_report_time *t)
{
    plm_time_table_free(&t->table);
    plm_works_free(&t->works);
}
