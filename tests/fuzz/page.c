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
#include "report/report.h"

static void check_data(const char *data, size_t size)
{
    struct plm_json_tree *tree;
    MUST(!memchr(data, '<', size) && !memchr(data, '\n', size));
    fuzz_plain(data, size);
    MUST(plm_json_tree_read_memory("page", data, size, &tree, NULL) == 0);
    MUST(plm_json_tree_find(tree, plm_json_tree_root(tree), "lanes"));
    plm_json_tree_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct plm_catalogue_entry entries[] = {
        {.card = {.id = "small", .name = "small </script>", .memory_total = 1 << 21, .memory_usable = 1 << 20}},
        {.card = {.id = "large", .name = "large", .memory_total = 3ull << 33, .memory_usable = 3ull << 33}},
    };
    static const struct plm_catalogue catalogue = {.entry = entries, .count = 2};
    struct plm_error error = {0};
    struct fuzz_record r;
    char *page = NULL;
    size_t length = 0;
    FILE *out;
    if (!fuzz_record_open(data, size, &r))
        return 0;
    out = open_memstream(&page, &length);
    MUST(out);
    if (plm_report_html(out, r.job, &catalogue, &(struct plm_report_step){.why = "not known"},
                        "</script>\xe2\x80\xae\x1b.plm", &error)) {
        fuzz_sentence(&error);
        fclose(out);
    } else {
        fclose(out);
        MUST(length > 2 && page[0] == '<' && page[length - 1] == '>'); /* record_input.c has these two */
        check_data(page + 1, length - 2);
    }
    free(page);
    fuzz_record_close(&r);
    return 0;
}
