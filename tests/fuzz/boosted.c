/* Boosted trees: files of foreign origin. */
#include <math.h>

#include "common/error.h"
#include "study/estimate/boosted.h"
#include "study/estimate/model_file.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double x[PLM_TREE_FEATURES] = {0};
    struct plm_error error = {0};
    struct plm_boosted boosted;
    struct plm_model_file file;
    int status = plm_model_file_open(fuzz_file(data, size), &file, &error);
    if (status == 0)
        status = plm_boosted_read(&file, &boosted);
    plm_model_file_close(&file);
    if (status) {
        fuzz_sentence(&error);
        return 0;
    }
    /* Asked at both ends of what it knows and beyond: it must end, with a number. */
    for (int end = 0; end < 3; end++) {
        for (size_t i = 0; i < boosted.features; i++)
            x[i] = end == 0 ? boosted.feature[i].low : end == 1 ? boosted.feature[i].high : 1e30;
        MUST(isfinite(plm_boosted_predict(&boosted, x)));
    }
    plm_boosted_free(&boosted);
    return 0;
}
