/*
 * Replays every lane of a job record and compares it with what was recorded.
 *
 * usage: lane RECORD [TURNS]
 * Prints for each lane what came out; exits with 1 if a segment, a block or the peak differs. With TURNS the replay is
 * repeated, and the last line has events per second.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fit/replay.h"
#include "analysis/job.h"
#include "common/error.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* machines that run tests are shared */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int check(const struct plm_lane *lane, const struct plm_replay_options *options)
{
    struct plm_replay r;
    struct plm_error error;
    uint64_t reserved;

    if (plm_replay_lane(lane, options, &r, &error)) {
        printf("%s\n", error.text);
        return 1;
    }
    reserved = r.stats.stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].peak;
    printf("%" PRIu64 " events, %" PRIu64 " segments, reserved %" PRIu64 ", recorded %" PRIu64 "%s%s\n", r.events,
           r.stats.num_device_alloc, reserved, lane->summary->reserved_peak, r.as_recorded ? "" : "; ", r.difference);
    return !r.completed || !r.as_recorded || !r.events || reserved != lane->summary->reserved_peak;
}

static int turn(const struct plm_lane *lane, struct plm_replay_options options, long turns)
{
    struct plm_replay r = {0};
    double start = now();
    uint64_t events = 0;

    options.compare = options.recorded_addresses = false;
    for (long i = 0; i < turns; i++) {
        if (plm_replay_lane(lane, &options, &r, NULL))
            return 1;
        events += r.events;
    }
    printf("%.2f million events per second of CPU time\n", (double)events / (now() - start) * 1e-6);
    return 0;
}

int main(int argc, char **argv)
{
    struct plm_replay_options options = {.capacity = UINT64_MAX, .total = 85ull << 30, .compare = true};
    struct plm_error error;
    struct plm_job *job;
    const char *text;
    int bad;

    if (argc < 2 || plm_job_read(argv[1], &job, &error))
        return 2;
    options.torch = plm_torch_version(plm_summary_config(&job->summary, "torch"));
    text = plm_summary_config(&job->summary, "allocator");
    if (text && strcmp(text, "default") == 0)
        text = NULL;
    if (plm_allocator_settings_parse(text, options.torch, &options.settings, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    options.recorded_addresses = !options.settings.expandable;
    bad = job->lanes == 0;
    for (size_t i = 0; i < job->lanes; i++) {
        bad |= check(&job->lane[i], &options);
        if (argc > 2)
            bad |= turn(&job->lane[i], options, strtol(argv[2], NULL, 10));
    }
    plm_job_free(job);
    return bad;
}
