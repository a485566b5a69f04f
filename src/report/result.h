/*
 * What a study found, as text, JSON, tables and a page: one way out for all sides of `plimsoll evaluate`.
 *
 * A side has one constant struct plm_result, whose functions put what it found and care for nothing else.
 * plm_result_show() opens, checks and commits: the files that are asked for, all or none, and after them the text.
 * Fails with a sentence: PLM_EIO, and PLM_EINVAL for a file that the command needs. The stream keeps what failed before.
 * One thread.
 */
#ifndef PLM_REPORT_RESULT_H
#define PLM_REPORT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/draw.h"
#include "base/json.h"
#include "base/output.h"
#include "base/csv.h"
#include "report/page.h"

struct plm_error;

/* ---- documents ---- */

/* What is not known is absent. */
void plm_report_json_known(struct plm_json *json, const char *key, double value);
/* {"value", "low", "high"}; nothing if the value is not known. */
void plm_report_json_figure(struct plm_json *json, const char *key, double value, double low, double high);

/* ---- text ---- */

/* A figure and its interval, as text; a line of them, and under each its interval, dim, after `indent` columns. */
struct plm_report_figure_text {
    char value[32], interval[64];
};
void plm_report_figures_show(const struct plm_page *page, const struct plm_report_figure_text *figure, size_t figures,
                             int columns, int indent);

/* What was missed by most: sorts the list, and lets `line` tell about the first ten. */
struct plm_miss {
    size_t at; /* a row or a run */
    double error;
};
void plm_misses_show(const struct plm_page *page, struct plm_miss *miss, size_t misses,
                     void (*line)(const struct plm_page *page, const void *what, const struct plm_miss *miss),
                     const void *what);

/* ---- all together ---- */

enum { PLM_RESULT_JSON, PLM_RESULT_ROWS, PLM_RESULT_FIGURES, PLM_RESULT_PAGE, PLM_RESULT_FILES };
struct plm_result {
    const char *schema; /* "plimsoll.evaluation/1" */
    void (*document)(struct plm_json *json, const void *what); /* what follows schema and version in it */
    void (*rows)(struct plm_lines *lines, const void *what);
    void (*figures)(struct plm_lines *lines, const void *what);
    void (*text)(const struct plm_page *page, const void *what);
    const unsigned char *before, *after; /* of the page, round the document */
    const size_t *before_size, *after_size;
};
/* The page that web/NAME.html is. */
#define PLM_RESULT_PAGE_OF(name)                                          \
    .before = plm_html_##name##_before, .after = plm_html_##name##_after, \
    .before_size = &plm_html_##name##_before_size, .after_size = &plm_html_##name##_after_size

/* The files that are asked for; NULL: not. "-" is standard output, and then there is no text. */
struct plm_result_files {
    const char *path[PLM_RESULT_FILES];
    struct plm_output_rule rule;
};
/* Would one of them be refused when all is done? */
int plm_result_check(const struct plm_result_files *files, struct plm_error *error);
int plm_result_show(const struct plm_result *result, const void *what, const struct plm_result_files *files,
                    const struct plm_page *page, struct plm_error *error);

#endif
