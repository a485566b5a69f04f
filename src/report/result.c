#include "report/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/csv.h"

/* ---- documents ---- */

void plm_report_json_known(struct plm_json *j, const char *key, double value)
{
    if (isfinite(value))
        plm_json_real(j, key, value);
}

void plm_report_json_figure(struct plm_json *j, const char *key, double value, double low, double high)
{
    if (!isfinite(value))
        return;
    plm_json_object(j, key);
    plm_json_real(j, "value", value);
    plm_report_json_known(j, "low", low);
    plm_report_json_known(j, "high", high);
    plm_json_end_object(j);
}

/* ---- text ---- */

void plm_report_figures_show(const struct plm_page *p, const struct plm_report_figure_text *figure, size_t figures,
                             int columns, int indent)
{
    for (size_t i = 0; i < figures; i++)
        fprintf(p->out, " %*s", columns, figure[i].value);
    fprintf(p->out, "\n%s%*s", plm_ink(p, PLM_INK_DIM), indent, "");
    for (size_t i = 0; i < figures; i++)
        fprintf(p->out, " %*s", columns, figure[i].interval);
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
}

enum { MISSES_SHOWN = 10 };

static int larger_first(const void *a, const void *b)
{
    const double x = fabs(((const struct plm_miss *)a)->error), y = fabs(((const struct plm_miss *)b)->error);
    return (x < y) - (x > y);
}

void plm_misses_show(const struct plm_page *p, struct plm_miss *miss, size_t misses,
                     void (*line)(const struct plm_page *page, const void *what, const struct plm_miss *miss),
                     const void *what)
{
    if (!misses)
        return;
    qsort(miss, misses, sizeof *miss, larger_first);
    plm_page_title(p, "Missed by most");
    for (size_t i = 0; i < misses && i < MISSES_SHOWN; i++)
        line(p, what, &miss[i]);
}

/* ---- files ---- */

struct shown {
    const struct plm_result *result;
    const void *what;
};

static int written(FILE *out, const char *name, struct plm_error *error)
{
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the %s could not be written", name) : 0;
}

static void document_put(FILE *out, const struct shown *s, bool page)
{
    struct plm_json j;
    plm_json_start(&j, out);
    j.page = page;
    plm_json_object(&j, NULL);
    plm_json_string(&j, "schema", s->result->schema);
    plm_json_string(&j, "version", PLM_VERSION);
    s->result->document(&j, s->what);
    plm_json_end_object(&j);
}

static int json_write(FILE *out, const void *what, struct plm_error *error)
{
    document_put(out, what, false);
    fputc('\n', out);
    return written(out, "JSON document", error);
}

static int rows_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct shown *s = what;
    s->result->rows(&(struct plm_lines){out, false}, s->what);
    return written(out, "rows", error);
}

static int figures_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct shown *s = what;
    s->result->figures(&(struct plm_lines){out, false}, s->what);
    return written(out, "figures", error);
}

static int page_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_result *r = ((const struct shown *)what)->result;
    if (!*r->before_size)
        return plm_fail(error, PLM_EIO, "this build has no page: %s", plm_html_missing);
    fwrite(r->before, 1, *r->before_size, out);
    document_put(out, what, true);
    fwrite(r->after, 1, *r->after_size, out);
    return written(out, "page", error);
}

static plm_output_writer *const writers[PLM_RESULT_FILES] = {
    [PLM_RESULT_JSON] = json_write,
    [PLM_RESULT_ROWS] = rows_write,
    [PLM_RESULT_FIGURES] = figures_write,
    [PLM_RESULT_PAGE] = page_write,
};

int plm_result_check(const struct plm_result_files *files, struct plm_error *error)
{
    int status = 0;
    for (int i = 0; i < PLM_RESULT_FILES && status == 0; i++)
        if (files->path[i])
            status = plm_output_check(files->path[i], &files->rule, error);
    return status;
}

int plm_result_show(const struct plm_result *result, const void *what, const struct plm_result_files *files,
                    const struct plm_page *page, struct plm_error *error)
{
    const struct shown shown = {result, what};
    struct plm_output_part part[PLM_RESULT_FILES];
    bool quiet = false;
    int status;
    for (int i = 0; i < PLM_RESULT_FILES; i++) {
        part[i] = (struct plm_output_part){files->path[i], writers[i], &shown, files->rule};
        quiet |= files->path[i] && !strcmp(files->path[i], "-");
    }
    status = plm_output_write_all(part, PLM_RESULT_FILES, error);
    if (status || quiet)
        return status;
    result->text(page, what);
    return written(page->out, "text", error);
}
