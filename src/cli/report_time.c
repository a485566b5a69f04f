/* The times that reports and `fit` show beside memory. Whatever prevents them is a sentence in the answer, never a failure. */
#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "cli/cli.h"
#include "cli/report_time.h"
#include "report/report.h"
#include "time/timeline.h"

int plm_cli_report_time_read(struct plm_cli_report_time *t, const char *record, struct plm_job **job,
                             struct plm_error *error)
{
    struct plm_build *works = plm_works_begin(&t->works);
    const int status =
        plm_job_read_along(record, &(struct plm_job_guest){plm_works_open, plm_works_visit, works}, job, error);
    struct plm_error unknown = {0};
    t->table = (struct plm_time_table){0};
    t->known = plm_works_end(works, status, record, &unknown) == 0;
    t->launched = t->known && (*job)->summary.launches;
    snprintf(t->why, sizeof t->why, "%s", unknown.text);
    return status;
}

int plm_cli_report_time_line(struct plm_cli_report_time *t, const char *gpu, struct plm_timeline *timeline,
                             struct plm_error *error)
{
    return t->known ? plm_timeline_of(&t->works, gpu, timeline, error) : plm_fail(error, PLM_ENOTFOUND, "%s", t->why);
}

void plm_cli_report_time_make(struct plm_cli_report_time *t, const struct plm_card *card, size_t cards,
                              const struct plm_install *install, bool whole, struct plm_report_options *options)
{
    const struct plm_time_question question = {.install = install, .shares = whole, .unmetered = !whole};
    struct plm_error error;
    if (!t->launched) {
        options->no_time =
            "the record has no kernel launches; snapshots and records made with --detail low or off have none";
        return;
    }
    t->why[0] = '\0';
    options->no_time = t->why;
    if (plm_time_table_make(&t->works, plm_works_main(&t->works), card, cards, &question, &t->table, &error) < 0)
        snprintf(t->why, sizeof t->why, "%s", error.text);
    else
        options->time = &t->table;
}

void plm_cli_report_time_own(struct plm_cli_report_time *t, const struct plm_job *job, struct plm_catalogue *catalogue,
                             struct plm_report_options *options)
{
    const char *gpu = plm_summary_config(&job->summary, "gpu");
    const struct plm_catalogue_entry *entry;
    if (!job->lanes)
        return;
    if (!gpu || plm_catalogue_find(catalogue, gpu, &entry, NULL) < 0) {
        options->no_time = "the record's GPU is not in the catalogue; choose one with `plimsoll time --gpu`";
        return;
    }
    t->own = entry->card;
    plm_cli_report_time_make(t, &t->own, 1, &catalogue->install, true, options);
}

void plm_cli_report_time_free(struct plm_cli_report_time *t)
{
    plm_time_table_free(&t->table);
    plm_works_free(&t->works);
}
