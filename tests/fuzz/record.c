/* Job records, from the bytes to the job: whatever a record says, it holds together. */
#include "analysis/job.h"
#include "fit/ladder.h"
#include "fuzz.h"
#include "record_input.h"

static int check_sum(uint32_t moment, uint64_t ns, const uint64_t allocated[PLM_CATEGORIES], void *context)
{
    const struct plm_lane *lane = context;
    uint64_t sum = 0;
    (void)moment, (void)ns;
    for (int i = 0; i < PLM_CATEGORIES; i++)
        sum += allocated[i];
    MUST(sum <= lane->peak);
    return 0;
}

/* Peaks, categories and holders agree. */
static void check_ladder(const struct plm_job *job, const struct plm_lane *lane)
{
    struct plm_ladder l = plm_ladder(job, lane);
    uint64_t sum = 0;
    for (int i = 0; i < l.lines; i++)
        sum += l.line[i].bytes;
    MUST(sum == l.device_used);
}

static void check_lane(const struct plm_job *job, struct plm_lane *lane)
{
    struct plm_holders holders;
    uint64_t sum;
    plm_lane_sweep(lane, check_sum, lane);
    check_ladder(job, lane);
    if (!lane->moments)
        return;
    MUST(plm_lane_peak(lane, 0, (uint32_t)lane->moments) == lane->peak_at);
    for (int key = PLM_BY_MODULE; key <= PLM_BY_STACK; key++) {
        holders = plm_holders_at(job, lane, lane->peak_at, (enum plm_key)key);
        sum = 0;
        for (size_t i = 0; i < holders.count; i++)
            sum += holders.item[i].bytes;
        MUST(sum == lane->peak);
        plm_holders_free(&holders);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_record r;
    if (!fuzz_record_open(data, size, &r))
        return 0;
    for (size_t i = 0; i < r.job->lanes; i++)
        check_lane(r.job, &r.job->lane[i]);
    fuzz_record_close(&r);
    return 0;
}
