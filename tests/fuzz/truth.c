/* Truth files: tables of foreign origin. */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "study/evaluate/levels.h"
#include "study/evaluate/time_truth.h"
#include "study/evaluate/truth.h"
#include "fuzz.h"

static void times_read(const uint8_t *data, size_t size, enum plm_timed_kind kind)
{
    struct plm_error error = {0};
    struct plm_timed_truth truth;
    if (plm_timed_truth_read(fuzz_file(data, size), kind, &truth, &error)) {
        if (!error.text[0])
            abort();
        return;
    }
    for (size_t i = 0; i < truth.rows; i++)
        if (!*truth.row[i].family || !truth.row[i].known || truth.row[i].figure[PLM_FIGURE_STEP] < 0)
            abort();
    plm_timed_truth_free(&truth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_error error = {0};
    struct plm_levels levels;
    struct plm_truth truth;
    times_read(data, size, PLM_TIMED_STEP);
    times_read(data, size, PLM_TIMED_UTILIZATION);
    if (plm_truth_read(fuzz_file(data, size), PLM_TRUTH_NEEDS_GROUND, &truth, &error)) {
        if (!error.text[0])
            abort();
        return 0;
    }
    for (size_t i = 0; i < truth.rows; i++) {
        const struct plm_truth_row *row = &truth.row[i];
        uint64_t ground = 0;
        for (int k = 0; k < PLM_TRUTH_KINDS; k++)
            ground |= row->ground[k];
        if (!*row->family || !*row->model || !row->batch || (!ground && !row->oom) || strlen(row->gpu) > size)
            abort(); /* accepted, and not usable */
    }
    if (plm_levels_of_truth(&truth, &levels) == 0)
        plm_levels_free(&levels);
    plm_truth_free(&truth);
    return 0;
}
