#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/catalogue.h"
#include "base/error.h"
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

static int page_write_to(FILE *file, const struct plm_job *job, const char *record, struct plm_error *error)
{
    struct plm_catalogue catalogue;
    int status = plm_report_html(file, job, load_cards(&catalogue), record, error);
    plm_catalogue_free(&catalogue);
    return status;
}

static int page_write_file(const char *text, size_t size, const char *out, struct plm_error *error)
{
    FILE *file = strcmp(out, "-") ? fopen(out, "we") : stdout;
    bool failed;
    if (!file)
        return plm_fail(error, PLM_EIO, "%.300s cannot be written: %s", out, strerror(errno));
    failed = fwrite(text, 1, size, file) != size;
    failed = (file == stdout ? fflush(file) : fclose(file)) || failed;
    return failed ? plm_fail(error, PLM_EIO, "%.300s cannot be written: %s", out, strerror(errno)) : 0;
}

/* The page is made in memory, so that what OUT held before is lost only to a whole page. */
static int page_make(const struct plm_job *job, const char *record, const char *out, struct plm_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    int status = memory ? page_write_to(memory, job, record, error) : PLM_EIO;
    if (!memory || (fclose(memory) && status == 0))
        status = plm_fail(error, PLM_EIO, "the page cannot be made: %s", strerror(errno));
    if (status == 0)
        status = page_write_file(text, size, out, error);
    free(text);
    return status;
}

int plm_report_page(const struct plm_job *job, const char *record, const char *out)
{
    struct plm_error error;
    return page_make(job, record, out, &error) < 0 ? plm_complain(PLM_EXIT_CANNOT, error.text) : PLM_EXIT_OK;
}
