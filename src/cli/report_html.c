#include <stdbool.h>
#include <stdio.h>

#include "analysis/job.h"
#include "base/catalogue.h"
#include "base/error.h"
#include "base/output.h"
#include "cli/cli.h"
#include "report/report.h"

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
    const char *record;
};

static int page_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct page *page = what;
    struct plm_catalogue catalogue;
    int status = plm_report_html(out, page->job, load_cards(&catalogue), page->record, error);
    plm_catalogue_free(&catalogue);
    return status;
}

int plm_report_page(const struct plm_job *job, const char *record, const char *out, bool force)
{
    const struct plm_output_rule rule = {.force = force, .input = {record}};
    struct plm_error error;
    if (plm_output_write(out, &rule, page_write, &(struct page){job, record}, &error) == 0)
        return PLM_EXIT_OK;
    return plm_not_written(&error);
}
