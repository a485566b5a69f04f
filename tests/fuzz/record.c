/* Job records, from the bytes to the job and to its times: whatever a record says, it holds together. */
#include <math.h>

#include "analysis/job.h"
#include "common/card.h"
#include "common/error.h"
#include "fit/ladder.h"
#include "fuzz.h"
#include "record_input.h"
#include "time/speeds.h"
#include "time/timing.h"

static int check_sum(uint32_t moment, uint64_t ns, const uint64_t allocated[PLM_CATEGORIES], void *context)
{
    const struct plm_lane *lane = context;
    uint64_t sum = 0;
    (void)moment, (void)ns;
    for (int i = 0; i < PLM_CATEGORIES; i++)
        sum += allocated[i];
    MUST(sum <= lane->summary->allocated_peak.bytes);
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
    MUST(plm_lane_peak(lane, 0, (uint32_t)lane->moments) == lane->summary->allocated_peak.moment);
    for (int key = PLM_BY_MODULE; key < PLM_KEYS; key++) {
        holders = plm_holders_at(job, lane, lane->summary->allocated_peak.moment, (enum plm_key)key);
        sum = 0;
        for (size_t i = 0; i < holders.count; i++)
            sum += holders.item[i].bytes;
        MUST(sum == lane->summary->allocated_peak.bytes);
        plm_holders_free(&holders);
    }
}

/* ---- times ---- */

static const struct plm_card card = {.id = "fuzzed",
                                     .sms = 82,
                                     .bandwidth_gbs = 936,
                                     .l2_bytes = 6u << 20,
                                     .tensor_cores = 328,
                                     .fp32_tflops = 35.6,
                                     .tf32_tflops = 35.6,
                                     .fp16_tflops = 71,
                                     .bf16_tflops = 71,
                                     .max_threads_per_sm = 1536,
                                     .max_blocks_per_sm = 16,
                                     .shared_per_sm = 102400,
                                     .pcie_generation = 4,
                                     .pcie_lanes = 16};

/* Any that a file may have: 1, or what is next to it. */
static struct plm_speeds some_speeds(void)
{
    struct plm_speeds speeds = {0};
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        plm_speed_set(&speeds, &plm_speed[i], fmin(fmax(1, plm_speed[i].least), plm_speed[i].most));
    return speeds;
}

static void check_timing(const struct plm_timing *t)
{
    double sum = 0;
    MUST(isfinite(t->step) && t->step >= 0 && isfinite(t->low) && isfinite(t->high));
    MUST(t->low <= t->step * 1.000001 + 1 && t->step <= t->high * 1.000001 + 1);
    MUST(t->busy <= t->step * 1.000001 + 1 && t->host >= 0);
    for (int i = 0; i < PLM_BOUNDS; i++) {
        MUST(t->bound[i] >= 0);
        sum += t->bound[i];
    }
    MUST(fabs(sum - t->step) <= t->step * 1e-6 + 1);
    for (int i = 0; i < PLM_METRICS; i++)
        MUST(t->metric[i] >= 0 && t->metric[i] <= 1);
    for (size_t i = 0; i < t->modules.count; i++)
        MUST(t->modules.item[i].name && t->modules.item[i].ns >= 0);
}

/* As many as the timing counted. */
static void check_span(const struct plm_span *span, void *spans)
{
    MUST(span->end >= span->begin && (*(size_t *)spans)-- > 0);
}

static void check_host(const struct plm_host_span *span, void *spans)
{
    (void)spans;
    MUST(span->end >= span->begin && span->wait >= 0);
}

static void check_times(struct plm_record *record)
{
    const struct plm_speeds speeds = some_speeds();
    const struct plm_timing_options options = {.host.measured = true, .shares = true};
    struct plm_error error = {0};
    struct plm_works works;
    if (plm_works_read_record(record, "fuzz.plm", &works, &error)) {
        fuzz_sentence(&error);
        return;
    }
    for (size_t i = 0; i < works.lanes; i++) {
        struct plm_timing timing;
        MUST(plm_timing_make(&works, &works.lane[i], &card, &speeds, &options, &timing, &error) == 0);
        check_timing(&timing);
        MUST(plm_timing_each(&works, &works.lane[i], &card, &speeds, &options, check_host, check_span, &timing.spans,
                             &error) == 0);
        MUST(timing.spans == 0);
        plm_timing_free(&timing);
    }
    plm_works_free(&works);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_record r;
    if (!fuzz_record_open(data, size, &r))
        return 0;
    for (size_t i = 0; i < r.job->lanes; i++)
        check_lane(r.job, &r.job->lane[i]);
    check_times(r.record);
    fuzz_record_close(&r);
    return 0;
}
