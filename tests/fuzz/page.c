/*
 * The data of the page, of a record whose names are anything: one valid document on one line, in which nothing can end
 * the script element that holds it, and no control or mark of direction stands as itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "base/json_tree.h"
#include "fuzz.h"
#include "record_input.h"
#include "report/diff.h"
#include "report/report.h"

static void check_data(const char *data, size_t size, const char *field)
{
    struct plm_json_tree *tree;
    MUST(size > 2 && data[0] == '<' && data[size - 1] == '>'); /* record_input.c has these two */
    MUST(!memchr(data + 1, '<', size - 1) && !memchr(data, '\n', size));
    fuzz_plain(data + 1, size - 2);
    MUST(plm_json_tree_read_memory("page", data + 1, size - 2, &tree, NULL) == 0);
    MUST(plm_json_tree_find(tree, plm_json_tree_root(tree), field));
    plm_json_tree_free(tree);
}

/* The job over itself. */
static int diff_write(FILE *out, const struct plm_report_page *page, struct plm_error *error)
{
    const struct plm_report_page both[] = {*page, *page};
    struct plm_diff diff;
    int status;
    plm_diff_make(page->job, page->job, PLM_BY_MODULE, &diff);
    status = plm_report_html_diff(out, &diff, both, error);
    plm_diff_free(&diff);
    return status;
}

static void check_page(int (*write)(FILE *, const struct plm_report_page *, struct plm_error *),
                       const struct plm_report_page *page, const char *field)
{
    struct plm_error error = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    int status;
    MUST(out);
    status = write(out, page, &error);
    fclose(out);
    if (status)
        fuzz_sentence(&error);
    else
        check_data(text, length, field);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct plm_catalogue_entry entries[] = {
        {.card = {.id = "small", .name = "small </script>", .memory_total = 1 << 21, .memory_usable = 1 << 20}},
        {.card = {.id = "large", .name = "large", .memory_total = 3ull << 33, .memory_usable = 3ull << 33}},
    };
    static const struct plm_catalogue catalogue = {.entry = entries, .count = 2};
    static const struct plm_report_step time = {.why = "not known"};
    struct fuzz_record r;
    struct plm_report_page page;
    if (!fuzz_record_open(data, size, &r))
        return 0;
    page = (struct plm_report_page){r.job, &catalogue, &time, "</script>\xe2\x80\xae\x1b.plm"};
    check_page(plm_report_html, &page, "lanes");
    check_page(diff_write, &page, "jobs");
    fuzz_record_close(&r);
    return 0;
}
