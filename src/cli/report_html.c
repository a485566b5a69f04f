#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/report_time.h"
#include "report/diff.h"
#include "report/report.h"
#include "time/timeline.h"

/* Without a catalogue the page is still worth having; it shows no cards then. */
static const struct plm_catalogue *load_cards(struct plm_catalogue *catalogue)
{
    struct plm_error error;
    *catalogue = (struct plm_catalogue){0};
    if (plm_catalogue_open(catalogue, &error) < 0) {
        plm_complain(0, error.text);
        return NULL;
    }
    return catalogue;
}

struct page {
    const struct plm_job *job;
    const char *record, *gpu;
    struct plm_cli_report_time *time;
};

/* The path stays out of the page, which goes to others; a sentence may begin with it. */
static void reason(const struct page *page, const struct plm_error *error, char *why, size_t size)
{
    const size_t length = strlen(page->record);
    const bool named = !strncmp(error->text, page->record, length);
    snprintf(why, size, "%s%s", named ? "this record" : "", error->text + (named ? length : 0));
}

static int page_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct page *page = what;
    struct plm_report_step time = {0};
    struct plm_timeline timeline;
    struct plm_catalogue catalogue;
    struct plm_error unknown;
    char why[sizeof unknown.text + 16];
    int status = plm_cli_report_time_line(page->time, page->gpu, &timeline, &unknown);
    if (status == 0)
        time.timeline = &timeline;
    else {
        reason(page, &unknown, why, sizeof why);
        time.why = why;
    }
    status =
        plm_report_html(out, &(struct plm_report_page){page->job, load_cards(&catalogue), &time, page->record}, error);
    plm_catalogue_free(&catalogue);
    if (time.timeline)
        plm_timeline_free(&timeline);
    return status;
}

int plm_cli_report_page(const struct plm_job *job, struct plm_cli_report_time *time, const char *record,
                        const char *gpu, const char *out, bool force)
{
    const struct plm_output_rule rule = {.force = force, .input = {record}};
    struct plm_error error;
    if (plm_output_write(out, &rule, page_write, &(struct page){job, record, gpu, time}, &error) == 0)
        return PLM_EXIT_OK;
    return plm_fault(&error);
}

struct diff_page {
    const struct plm_diff *diff;
    const char *const *record;
};

static int diff_page_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct diff_page *page = what;
    const struct plm_report_step none = {.why = "times are not compared"};
    struct plm_catalogue catalogue;
    const struct plm_catalogue *cards = load_cards(&catalogue);
    const struct plm_report_page jobs[2] = {{page->diff->before, cards, &none, page->record[0]},
                                            {page->diff->after, cards, &none, page->record[1]}};
    const int status = plm_report_html_diff(out, page->diff, jobs, error);
    plm_catalogue_free(&catalogue);
    return status;
}

int plm_cli_diff_page(const struct plm_diff *diff, const char *const record[2], const char *out, bool force)
{
    const struct plm_output_rule rule = {.force = force, .input = {record[0], record[1]}};
    struct plm_error error;
    if (plm_output_write(out, &rule, diff_page_write, &(struct diff_page){diff, record}, &error) == 0)
        return PLM_EXIT_OK;
    return plm_fault(&error);
}
