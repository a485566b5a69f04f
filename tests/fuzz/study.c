/* Tables that a study is made of: rows, families, targets, groups. What is answered there is tested elsewhere. */
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "study/evaluate/study.h"
#include "fuzz.h"

static void rows_check(const struct plm_study *s)
{
    char why[200];
    for (size_t row = 0; row < s->table.rows; row++) {
        plm_contestant_formula(plm_methods_find("horus"), &s->example[row], why, sizeof why);
        MUST(s->family_of[row] < s->families || !s->families);
        MUST(s->box[row].low <= s->box[row].reserved && s->box[row].reserved <= s->box[row].high);
        for (size_t i = 0; i < s->splits; i++)
            MUST(s->split[i].part[row] == PLM_SPLIT_KEPT || s->split[i].part[row] < s->split[i].parts);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct plm_study_options options = {
        .path = fuzz_file(data, size), .methods = "virtual,horus", .targets = "all", .folds = 2, .unseen = "row"};
    struct plm_error error = {0};
    struct plm_study s;
    if (plm_study_open(&options, &s, &error))
        fuzz_sentence(&error);
    else
        rows_check(&s);
    plm_study_close(&s);
    return 0;
}
