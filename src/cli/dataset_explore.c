/* `plimsoll dataset --explore`: what is in a table of runs, as text and as a page. */
#include "cli/dataset_explore.h"

#include <stdio.h>
#include <string.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/output.h"
#include "base/csv.h"
#include "study/learn/explore.h"

#define EXPLORE_AT(field) offsetof(struct plm_cli_dataset_explore, field)

const struct plm_option plm_cli_dataset_explore_options[] = {
    {"explore", 0, PLM_OPTION_TEXT, EXPLORE_AT(table), "FILE", .help = "summarize an existing table, then exit",
     .complete = PLM_COMPLETE_FILE, .among = "csv"},
    {"html", 0, PLM_OPTION_TEXT, EXPLORE_AT(html), "FILE", .help = "with --explore: write an HTML page; - is stdout",
     .complete = PLM_COMPLETE_FILE, .among = "html"},
    {"bin", 0, PLM_OPTION_NUMBER, EXPLORE_AT(bin), "GB", .help = "with --explore: width of a memory class (default 1)",
     .least = 1, .most = 1000, .configurable = true},
    {"target", 0, PLM_OPTION_TEXT, EXPLORE_AT(target), "COLUMN",
     .help = "with --explore: the column to divide into classes"},
    {0},
};

int plm_cli_dataset_explore_check(const struct plm_cli_dataset_explore *r, struct plm_error *error)
{
    const char *option = r->html ? "html" : r->target ? "target" : NULL; /* the width of classes may be a setting */
    if (r->table || !option)
        return 0;
    return plm_fail(error, PLM_EINVAL, "--%s needs --explore FILE", option);
}

static int page_write(FILE *out, const void *what, struct plm_error *error)
{
    return plm_explore_html(out, what, error);
}

/* What to type for the page. */
static void next_show(const struct plm_page *page, const char *table)
{
    const size_t length = strlen(table);
    char html[4096];
    snprintf(html, sizeof html, "%.*s.html",
             (int)(length > 4 && !strcmp(table + length - 4, ".csv") ? length - 4 : length), table);
    fputs("\nNext: plimsoll dataset --explore ", page->out);
    plm_page_name(page, table, 0, 0);
    fputs(" --html ", page->out);
    plm_page_name(page, html, 0, 0);
    fputc('\n', page->out);
}

static int explore_show(const struct plm_cli_dataset_explore *r, const struct plm_output_rule *rule,
                        const struct plm_look *look, const struct plm_explore *e)
{
    const struct plm_page page = plm_look_page(look, stdout);
    const bool quiet = r->html && !strcmp(r->html, "-");
    struct plm_error error;
    if (r->html && plm_output_write(r->html, rule, page_write, e, &error))
        return plm_fault(&error);
    if (!quiet && plm_explore_text(&page, e, &error))
        return plm_fault(&error);
    if (!r->html)
        next_show(&page, r->table);
    return PLM_EXIT_OK;
}

int plm_cli_dataset_explore(const struct plm_cli_dataset_explore *r, uint64_t seed, bool force,
                            const struct plm_look *look)
{
    const struct plm_output_rule rule = {.force = force, .input = {r->table}};
    const struct plm_explore_settings settings = {.bin = r->bin, .target = r->target, .seed = seed};
    struct plm_csv table;
    struct plm_explore explore;
    struct plm_error error;
    int status;
    if (r->html && plm_output_check(r->html, &rule, &error))
        return plm_fault(&error);
    if (plm_csv_read(r->table, &table, &error))
        return plm_fault(&error);
    if (plm_explore_make(&table, &settings, &explore, &error)) {
        plm_csv_free(&table);
        return plm_fault(&error);
    }
    status = explore_show(r, &rule, look, &explore);
    plm_explore_free(&explore);
    plm_csv_free(&table);
    return status;
}
