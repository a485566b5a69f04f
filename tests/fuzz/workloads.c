/* workloads.ini, as the workloads of a bench and as the levels of a design. */
#include <string.h>

#include "common/error.h"
#include "study/evaluate/levels.h"
#include "study/evaluate/workload.h"
#include "fuzz.h"

static void workloads_check(const struct plm_workloads *w)
{
    MUST(w->count <= PLM_WORKLOADS);
    for (size_t i = 0; i < w->count; i++) {
        const struct plm_workload *item = &w->item[i];
        MUST(plm_workloads_find(w, item->family));
        MUST(item->script[0] && !strchr(item->script, '/')); /* nothing leads out of the folder */
        MUST(item->first_sample != PLM_SAMPLE_LATE || (item->sampler_ms > 0 && item->copy_gbs > 0));
        MUST(item->copy_call_us >= 0 && item->copy_call_us < 1e6);
    }
}

static void levels_check(bool only)
{
    struct plm_error error = {0};
    struct plm_levels levels;
    if (plm_levels_read("w/workloads.ini", only, &levels, &error)) {
        fuzz_sentence(&error);
        return;
    }
    for (size_t i = 0; i < levels.families; i++)
        for (int kind = 0; kind < PLM_LEVEL_LISTS; kind++)
            for (size_t k = 0; k < levels.family[i].list[kind].count; k++)
                MUST(levels.family[i].list[kind].level[k].text);
    plm_levels_free(&levels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct plm_workloads workloads;
    struct plm_error error = {0};
    fuzz_ini("w/workloads.ini", data, size);
    if (plm_workloads_read("w", NULL, &workloads, &error))
        fuzz_sentence(&error);
    else
        workloads_check(&workloads);
    levels_check(true);
    levels_check(false);
    return 0;
}
