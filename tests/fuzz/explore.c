/* Tables of runs, explored: what is accepted has places that are numbers, and is shown. */
#include <math.h>
#include <stdlib.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/csv.h"
#include "study/learn/explore.h"
#include "fuzz.h"

enum { ROWS = 200, ITERATIONS = 3 };

static void explore_check(const struct plm_explore *e)
{
    struct plm_page page = {.out = fopen("/dev/null", "w"), .width = 80};
    struct plm_error error;
    if (!page.out || plm_explore_text(&page, e, &error))
        abort();
    plm_explore_html(page.out, e, &error);
    fclose(page.out);
    for (size_t i = 0; i < 2 * e->mappeds && e->useds; i++)
        if (!isfinite(e->map[i]))
            abort();
    for (size_t i = 0; i < 2 * e->showns && e->useds; i++)
        if (!isfinite(e->component[i]))
            abort();
    for (size_t i = 0; i < e->givens * e->labels; i++)
        if (e->spearman[i] > 1 + 1e-9 || e->spearman[i] < -1 - 1e-9)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct plm_explore_settings settings = {.bin = size % 9, .iterations = ITERATIONS};
    struct plm_error error = {0};
    struct plm_explore explore;
    struct plm_csv table;
    if (plm_csv_read(fuzz_file(data, size), &table, &error))
        return 0;
    if (table.rows <= ROWS && plm_explore_make(&table, &settings, &explore, &error) == 0) {
        explore_check(&explore);
        plm_explore_free(&explore);
    } else if (table.rows <= ROWS && !error.text[0])
        abort();
    plm_csv_free(&table);
    return 0;
}
