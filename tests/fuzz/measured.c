/* What the hook of `measure` left, and the table that a row is added to. A row that is written stands in a table that the
   next one may be added to, and that reads as a truth file. */
#include <string.h>

#include "common/error.h"
#include "study/evaluate/time_truth.h"
#include "study/evaluate/truth.h"
#include "study/measure/row.h"
#include "fuzz.h"

static void table_read(const char *path)
{
    struct plm_error error = {0};
    struct plm_truth truth;
    if (plm_truth_read(path, PLM_TRUTH_WITHOUT_GROUND, &truth, &error))
        fuzz_sentence(&error);
    else
        plm_truth_free(&truth);
}

static void row_write(const struct plm_measured *m, const char *path)
{
    struct plm_error error = {0};
    MUST(plm_measured_append(path, m, &error) == 0 && plm_measured_check(path, &error) == 0);
    MUST(plm_measured_append(path, m, &error) == 0 && plm_measured_check(path, &error) == 0);
    table_read(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_error error = {0};
    struct plm_measured measured;
    if (plm_measured_check(fuzz_file(data, size), &error))
        fuzz_sentence(&error);
    fuzz_ini("measured.ini", data, size);
    if (plm_measured_read("measured.ini", &measured, &error))
        fuzz_sentence(&error);
    else
        row_write(&measured, fuzz_file("", 0));
    return 0;
}
