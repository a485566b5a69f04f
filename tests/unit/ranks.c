/* Kinds of ranks: told by hand-written records and compared, their report as text and JSON. */
#include "analysis/kinds.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "record/create.h"
#include "record/pen.h"
#include "report/diff.h"
#include "report/ranks.h"
#include "report/report.h"
#include "unit.h"

/* ---- records: one writer for each process of the job ---- */

static struct plm_record_file file;
static const char *path;

static void record_begin(void)
{
    struct plm_error error;
    path = unit_path("ranks.plm");
    assert_int_equal(plm_record_create(path, true, &file, &error), 0);
}

static struct plm_job *record_end(void)
{
    struct plm_job *job;
    struct plm_error error;
    plm_record_close(&file);
    if (plm_job_read(path, &job, &error))
        fail_msg("%s", error.text);
    return job;
}

static void process_open(struct plm_writer *writer, struct plm_pen *pen, const char *rank)
{
    *writer = (struct plm_writer){0};
    *pen = (struct plm_pen){.writer = writer};
    assert_int_equal(plm_writer_open(writer, path), 0);
    if (rank)
        plm_pen_setting(pen, "rank", rank);
}

static void process_close(struct plm_writer *writer, struct plm_pen *pen)
{
    plm_pen_close(pen);
    assert_int_equal(plm_writer_close(writer), 0);
}

/* A segment with a block of parameters and one that nobody says more of. */
static void device_use(struct plm_pen *pen, int device, uint64_t parameters, uint64_t other, uint64_t reserved)
{
    const uint64_t at = (uint64_t)(device + 1) << 40;
    plm_pen_memory_alloc(pen, device, &(struct plm_ev_memory_alloc){at, reserved, PLM_RECORD_MALLOC, 0});
    plm_pen_reserved(pen, device, &(struct plm_ev_reserved){reserved});
    plm_pen_block_alloc(pen, device, &(struct plm_ev_block_alloc){.address = at, .bytes = parameters});
    plm_pen_tag(pen, device, &(struct plm_ev_tag){at, PLM_CATEGORY_PARAMETERS, plm_pen_intern(pen, "fc.weight"), 0});
    if (other)
        plm_pen_block_alloc(pen, device, &(struct plm_ev_block_alloc){.address = at + parameters, .bytes = other});
}

static void rank_run(unsigned rank, uint64_t parameters, uint64_t other, uint64_t reserved)
{
    struct plm_writer writer;
    struct plm_pen pen;
    char text[16];
    snprintf(text, sizeof text, "%u", rank);
    process_open(&writer, &pen, text);
    device_use(&pen, 0, parameters, other, reserved);
    process_close(&writer, &pen);
}

static void kind_tell(struct plm_pen *pen, uint32_t rank, uint32_t count, const char *ranks, const char *why)
{
    plm_pen_kind(pen, 0, &(struct plm_ev_kind){rank, count, plm_pen_intern(pen, ranks), plm_pen_intern(pen, why)});
}

static char *written(plm_report_write *write, const struct plm_job *job)
{
    const struct plm_report_options options = {.width = 80, .full = true};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(write(out, job, &options, NULL), 0);
    fclose(out);
    return text;
}

/* ---- kinds that are told ---- */

static struct plm_job *job_of_a_world(void)
{
    struct plm_writer writer;
    struct plm_pen pen;
    record_begin();
    process_open(&writer, &pen, NULL);
    plm_pen_setting(&pen, "world", "64");
    plm_pen_setting(&pen, "nodes", "8");
    plm_pen_setting(&pen, "gpus-per-node", "8");
    kind_tell(&pen, 0, 8, "0-7", "first stage, of 8");
    kind_tell(&pen, 8, 48, "8-55", "middle stages");
    kind_tell(&pen, 56, 8, "56-63", "last stage");
    process_close(&writer, &pen);
    rank_run(0, 4 * GIB, 2 * GIB, 8 * GIB);
    rank_run(8, 1 * GIB, 1 * GIB, 4 * GIB);
    rank_run(56, 2 * GIB, 8 * GIB, 16 * GIB);
    return record_end();
}

static void kinds_told(void **state)
{
    struct plm_job *job = job_of_a_world();
    struct plm_job_kinds r = plm_job_kinds_make(job);
    const struct plm_job_world world = plm_job_world(job);
    (void)state;
    assert_true(r.told);
    assert_int_equal(r.kinds, 3);
    assert_int_equal(r.count, 64);
    assert_int_equal(r.kind[0].rank, 56); /* the largest first */
    assert_ptr_equal(r.kind[0].lane, plm_job_largest(job));
    assert_string_equal(r.kind[0].ranks, "56-63");
    assert_int_equal(r.kind[1].rank, 0);
    assert_string_equal(r.kind[1].why, "first stage, of 8");
    assert_int_equal(r.kind[2].count, 48);
    assert_int_equal(world.ranks, 64);
    assert_int_equal(world.nodes, 8);
    assert_int_equal(world.gpus, 8);
    plm_job_kinds_free(&r);
    plm_job_free(job);
}

/* (8 x 16 + 8 x 8 + 48 x 4) / 64 = 6 GiB reserved; (8 x 10 + 8 x 6 + 48 x 2) / 64 = 3.5 GiB allocated. */
static void imbalance(void **state)
{
    struct plm_job *job = job_of_a_world();
    struct plm_report_kinds t = plm_report_kinds_make(job);
    (void)state;
    assert_int_equal(t.reserved.largest, 16 * GIB);
    assert_int_equal(t.reserved.mean, 6 * GIB);
    assert_true(t.reserved.ratio > 2.66 && t.reserved.ratio < 2.67);
    assert_int_equal(t.allocated.mean, 7 * GIB / 2);
    plm_report_kinds_free(&t);
    plm_job_free(job);
}

static void world_as_text(void **state)
{
    struct plm_job *job = job_of_a_world();
    char *t = written(plm_report_text, job), *end;
    (void)state;
    assert_contains(t, "\nRanks: 64, of 3 kinds (a job of 64 ranks: 8 nodes x 8 GPUs)\n");
    assert_contains(t, "\n  56-63       8    10.0 GiB    16.0 GiB ");
    assert_contains(t, "\n  8-55       48     2.0 GiB     4.0 GiB ");
    assert_contains(t, "\n      first stage, of 8; other -6.0 GiB, parameters +2.0 GiB\n");
    assert_contains(t, "The largest kind uses 2.53 times the mean: 16.5 GiB against 6.5 GiB.");
    assert_contains(t, "Peak: 10.0 GiB allocated, 16.0 GiB reserved   (rank 56, device 0, ?)");
    free(t);
    t = written(plm_report_json, job);
    assert_contains(t, "\"world\": 64");
    assert_contains(t, "\"gpus_per_node\": 8");
    assert_contains(t, "\"ranks\": \"8-55\"");
    assert_contains(t, "\"mean\": 6442450944");
    end = strstr(t, "\"kinds\"");
    assert_non_null(end);
    assert_null(strstr(end, "\"shards\"")); /* nobody told of any */
    free(t);
    plm_job_free(job);
}

/* A rank that used no device has no figures; one that nobody told of stands for itself. */
static void kinds_told_in_part(void **state)
{
    struct plm_writer writer;
    struct plm_pen pen;
    struct plm_job *job;
    struct plm_report_kinds t;
    char *text;
    (void)state;
    record_begin();
    process_open(&writer, &pen, NULL);
    kind_tell(&pen, 3, 2, "2,3", "");
    kind_tell(&pen, 1, 1, "1", "");
    kind_tell(&pen, 3, 9, "9", "told twice");
    process_close(&writer, &pen);
    rank_run(1, GIB, 0, 2 * GIB);
    rank_run(7, 2 * GIB, 0, 2 * GIB);
    job = record_end();
    t = plm_report_kinds_make(job);
    assert_int_equal(t.ranks.kinds, 3);
    assert_int_equal(t.ranks.count, 4);
    assert_int_equal(t.ranks.kind[0].rank, 1);
    assert_int_equal(t.ranks.kind[1].rank, 7);
    assert_string_equal(t.ranks.kind[1].ranks, "7");
    assert_null(t.ranks.kind[2].lane);
    assert_int_equal(t.allocated.mean, 3 * GIB / 2); /* of those that have figures */
    plm_report_kinds_free(&t);
    text = written(plm_report_text, job);
    assert_contains(text, "\n      used no GPU\n");
    free(text);
    plm_job_free(job);
}

/* ---- kinds that are compared ---- */

static void kinds_compared(void **state)
{
    struct plm_job *job;
    struct plm_job_kinds r;
    (void)state;
    record_begin();
    for (unsigned rank = 0; rank < 8; rank++)
        rank_run(rank,
                 rank == 2 || rank == 5 ? 3 * GIB
                 : rank == 6            ? GIB - 4096
                                        : GIB,
                 rank == 7   ? 0
                 : rank == 6 ? GIB + 4096
                             : GIB,
                 6 * GIB);
    job = record_end();
    r = plm_job_kinds_make(job);
    assert_false(r.told);
    assert_int_equal(r.count, 8);
    assert_int_equal(r.kinds, 3);
    assert_string_equal(r.kind[0].ranks, "0-1,3-4,6"); /* 6 is not equal, but near */
    assert_string_equal(r.kind[0].why, "within 0.1 %");
    assert_string_equal(r.kind[1].ranks, "2,5");
    assert_string_equal(r.kind[1].why, "identical to the byte");
    assert_string_equal(r.kind[2].ranks, "7");
    assert_string_equal(r.kind[2].why, "");
    assert_ptr_equal(r.kind[0].lane, plm_job_largest(job));
    plm_job_kinds_free(&r);
    plm_job_free(job);
}

/* As much in all, for something else. */
static void categories_decide(void **state)
{
    struct plm_job *job;
    struct plm_job_kinds r;
    (void)state;
    record_begin();
    rank_run(0, GIB, 2 * GIB, 4 * GIB);
    rank_run(1, 2 * GIB, GIB, 4 * GIB);
    job = record_end();
    r = plm_job_kinds_make(job);
    assert_int_equal(r.kinds, 2);
    plm_job_kinds_free(&r);
    plm_job_free(job);
}

static void devices_of_a_rank(void **state)
{
    struct plm_writer writer;
    struct plm_pen pen;
    struct plm_job *job;
    struct plm_job_kinds r;
    (void)state;
    record_begin();
    for (int rank = 0; rank < 2; rank++) {
        process_open(&writer, &pen, rank ? "1" : "0");
        for (int device = 0; device < 4; device++)
            device_use(&pen, device, device ? GIB : 2 * GIB, 0, device ? 2 * GIB : 4 * GIB);
        process_close(&writer, &pen);
    }
    job = record_end();
    r = plm_job_kinds_make(job);
    assert_int_equal(r.kinds, 4); /* ranks with several devices are not compared with each other */
    assert_int_equal(r.count, 8);
    assert_string_equal(r.kind[0].ranks, "0");
    assert_string_equal(r.kind[0].devices, "0");
    assert_string_equal(r.kind[3].ranks, "1");
    assert_string_equal(r.kind[3].devices, "1-3");
    assert_int_equal(r.kind[3].count, 3);
    plm_job_kinds_free(&r);
    plm_job_free(job);
}

/* ---- differences ---- */

/* A world of stages, `each` ranks in each; the largest is the last. */
static struct plm_job *job_of_stages(unsigned stages, unsigned each)
{
    struct plm_writer writer;
    struct plm_pen pen;
    char text[32];
    record_begin();
    process_open(&writer, &pen, NULL);
    snprintf(text, sizeof text, "%u", stages * each);
    plm_pen_setting(&pen, "world", text);
    for (unsigned i = 0; i < stages; i++) {
        snprintf(text, sizeof text, "%u-%u", i * each, (i + 1) * each - 1);
        kind_tell(&pen, i * each, each, text, "stage");
    }
    process_close(&writer, &pen);
    for (unsigned i = 0; i < stages; i++)
        rank_run(i * each, (i + 1) * GIB, 0, (i + 2) * GIB);
    return record_end();
}

static char *difference(const struct plm_diff *diff)
{
    const char *const names[] = {"before.plm", "after.plm"};
    const struct plm_report_options options = {.width = 80, .full = true};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(plm_diff_text(out, diff, names, &options, NULL), 0);
    fclose(out);
    return text;
}

static void pair_is(const struct plm_diff_lane *d, const char *before, const char *after)
{
    if (before)
        assert_string_equal(d->kind[0]->ranks, before);
    else
        assert_null(d->before);
    if (after)
        assert_string_equal(d->kind[1]->ranks, after);
    else
        assert_null(d->after);
}

/* Three stages of two ranks against five of four. */
static void different_worlds(void **state)
{
    struct plm_job *before = job_of_stages(3, 2), *after = job_of_stages(5, 4);
    struct plm_diff diff;
    char *text;
    (void)state;
    plm_diff_make(before, after, PLM_BY_MODULE, &diff);
    assert_true(diff.by_kind);
    assert_int_equal(diff.lanes, 5);
    pair_is(&diff.lane[0], "4-5", "16-19"); /* the largest */
    pair_is(&diff.lane[1], "0-1", "0-3");   /* the first that is left */
    pair_is(&diff.lane[2], "2-3", "12-15"); /* the last that is left */
    pair_is(&diff.lane[3], NULL, "4-7");
    pair_is(&diff.lane[4], NULL, "8-11");
    text = difference(&diff);
    assert_contains(text, "6 ranks, then 20: kinds of ranks are compared");
    assert_contains(text, "\nRanks 4-5, then 16-19 ");
    assert_contains(text, "\nRanks 4-7 are only in after.plm: ");
    free(text);
    plm_diff_free(&diff);
    plm_job_free(before);
    plm_job_free(after);
}

static void the_same_world(void **state)
{
    struct plm_job *before = job_of_stages(3, 2), *after = job_of_stages(3, 2);
    struct plm_diff diff;
    (void)state;
    plm_diff_make(before, after, PLM_BY_MODULE, &diff);
    assert_int_equal(diff.lanes, 3);
    for (int i = 0; i < 3; i++)
        pair_is(&diff.lane[i], diff.ranks[0].kind[i].ranks, diff.ranks[0].kind[i].ranks);
    assert_false(diff.changed);
    plm_diff_free(&diff);
    plm_job_free(before);
    plm_job_free(after);
}

/* ---- shards ---- */

static void shard_tell(struct plm_pen *pen, uint32_t category, uint64_t local, uint64_t whole)
{
    plm_pen_shard(pen, 0, &(struct plm_ev_shard){category, 0, local, whole});
}

static void shards(void **state)
{
    struct plm_writer writer;
    struct plm_pen pen;
    struct plm_job *job;
    const struct plm_shard *shard;
    char *text;
    (void)state;
    record_begin();
    process_open(&writer, &pen, "0");
    device_use(&pen, 0, GIB, 0, 2 * GIB);
    shard_tell(&pen, PLM_CATEGORY_PARAMETERS, 10, 640);
    shard_tell(&pen, PLM_CATEGORY_OPTIMIZER, 5, 5);
    shard_tell(&pen, PLM_CATEGORY_OPTIMIZER, 20, 1285); /* the last one counts: 64.25 */
    shard_tell(&pen, PLM_CATEGORY_GRADIENTS, 7, 0);     /* nonsense of damaged records */
    shard_tell(&pen, PLM_CATEGORY_BUFFERS, 7, 6);
    shard_tell(&pen, PLM_CATEGORIES, 7, 8);
    shard_tell(&pen, PLM_CATEGORY_ACTIVATIONS, 9, 9);
    process_close(&writer, &pen);
    job = record_end();
    shard = plm_lane_shard(job, &job->lane[0], PLM_CATEGORY_OPTIMIZER);
    assert_int_equal(shard->local, 20);
    assert_null(plm_lane_shard(job, &job->lane[0], PLM_CATEGORY_GRADIENTS));
    assert_null(plm_lane_shard(job, &job->lane[0], PLM_CATEGORY_BUFFERS));
    text = written(plm_report_text, job);
    assert_contains(text, "Rank 0's share of tensors: parameters 1/64, optimizer 1/64, activations whole.\n");
    free(text);
    text = written(plm_report_json, job);
    assert_contains(text, "\"local\": 20");
    assert_contains(text, "\"whole\": 1285");
    free(text);
    plm_job_free(job);
}

static void parts(void **state)
{
    static const struct {
        uint64_t local, whole;
        const char *text;
    } cases[] = {
        {8, 8, "whole"}, {1, 2, "1/2"},   {101, 800, "1/8"},   {2, 5, "1/2.5"},
        {3, 4, "75 %"},  {0, 100, "0 %"}, {1, 1024, "1/1024"},
    };
    char out[24];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(
            plm_report_shard_text(out, &(struct plm_shard){.local = cases[i].local, .whole = cases[i].whole}),
            cases[i].text);
}

/* ---- cards ---- */

static void card_tell(struct plm_pen *pen)
{
    plm_pen_footprint(pen, 0, &(struct plm_ev_footprint){.sms = 100, .threads = 2048, .card = 1});
}

static uint64_t together(bool world)
{
    struct plm_writer writer[2];
    struct plm_pen pen[2];
    struct plm_job *job;
    uint64_t bytes;
    record_begin();
    for (int i = 0; i < 2; i++) {
        process_open(&writer[i], &pen[i], i ? "1" : "0");
        card_tell(&pen[i]);
        device_use(&pen[i], 0, GIB, 0, 2 * GIB);
    }
    if (world)
        plm_pen_setting(&pen[0], "world", "8");
    for (int i = 0; i < 2; i++)
        device_use(&pen[i], 0, GIB, 0, 2 * GIB);
    for (int i = 0; i < 2; i++)
        process_close(&writer[i], &pen[i]);
    job = record_end();
    bytes = job->lane[0].together;
    plm_job_free(job);
    return bytes;
}

/* Ranks of a world are run one by one; each has its card to itself on its node. */
static void ranks_of_a_world_share_no_card(void **state)
{
    (void)state;
    assert_int_equal(together(false), 6 * GIB); /* the first one says no more when the second takes its last 2 GiB */
    assert_int_equal(together(true), 0);
}

static void a_thousand_ranks(void **state)
{
    struct plm_job *job;
    struct plm_job_kinds r;
    (void)state;
    record_begin();
    for (unsigned rank = 0; rank < 1024; rank++)
        rank_run(rank, rank % 8 ? GIB : 2 * GIB, GIB, rank % 8 ? 3 * GIB : 4 * GIB);
    job = record_end();
    r = plm_job_kinds_make(job);
    assert_int_equal(r.kinds, 2);
    assert_string_equal(r.kind[0].ranks, "0-1016/8");
    assert_int_equal(r.kind[0].count, 128);
    assert_int_equal(r.kind[1].count, 896);
    plm_job_kinds_free(&r);
    plm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_told),
        cmocka_unit_test(imbalance),
        cmocka_unit_test(world_as_text),
        cmocka_unit_test(kinds_told_in_part),
        cmocka_unit_test(kinds_compared),
        cmocka_unit_test(categories_decide),
        cmocka_unit_test(devices_of_a_rank),
        cmocka_unit_test(different_worlds),
        cmocka_unit_test(the_same_world),
        cmocka_unit_test(shards),
        cmocka_unit_test(parts),
        cmocka_unit_test(ranks_of_a_world_share_no_card),
        cmocka_unit_test(a_thousand_ranks),
    };
    return RUN(tests);
}
