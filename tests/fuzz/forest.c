/* Forests: files of foreign origin. */
#include <math.h>
#include <stdlib.h>

#include "common/error.h"
#include "study/estimate/forest.h"
#include "study/estimate/model_file.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double x[PLM_TREE_FEATURES] = {0};
    struct plm_error error = {0};
    struct plm_forest forest;
    struct plm_model_file file;
    int status = plm_model_file_open(fuzz_file(data, size), &file, &error);
    if (status == 0)
        status = plm_forest_read(&file, &forest);
    plm_model_file_close(&file);
    if (status) {
        fuzz_sentence(&error);
        return 0;
    }
    /* Asked at both ends of what it knows and beyond: it must end, and answer from its range. */
    for (int end = 0; end < 3; end++) {
        double answer;
        for (size_t i = 0; i < forest.features; i++)
            x[i] = end == 0 ? forest.feature[i].low : end == 1 ? forest.feature[i].high : 1e30;
        answer = plm_forest_predict(&forest, x);
        if (!(answer >= forest.low - 1e-6 * fabs(forest.low) && answer <= forest.high + 1e-6 * fabs(forest.high)))
            abort();
    }
    plm_forest_free(&forest);
    return 0;
}
