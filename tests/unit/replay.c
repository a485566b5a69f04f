/* What a replay makes of records in which captures, flushes and failed attempts only show indirectly. */
#include "fit/replay.h"

#include <stdlib.h>

#include "analysis/job.h"
#include "common/error.h"
#include "unit.h"

enum { TAKEN = 0, FREED = 1 };

static struct plm_replay replay(const struct plm_lane *lane, const char *settings)
{
    struct plm_replay_options o = {.torch = PLM_TORCH_2_15,
                                   .capacity = UINT64_MAX,
                                   .total = 12 * GIB,
                                   .recorded_addresses = true,
                                   .compare = true};
    struct plm_replay r;
    assert_int_equal(plm_allocator_settings_parse(settings, o.torch, &o.settings, NULL), 0);
    assert_int_equal(plm_replay_lane(lane, &o, &r, NULL), 0);
    assert_true(r.completed);
    return r;
}

/* The warm-up of a graph: block 0 is not captured, but lies in the segment of block 1; block 2 lies in another. */
static void warm_up_of_a_graph(void **state)
{
    struct plm_block block[] = {
        {.address = 0x20000000, .bytes = 4 * MIB, .alloc_at = 0, .free_at = PLM_MOMENT_NEVER},
        {.address = 0x20400000, .bytes = 4 * MIB, .alloc_at = 1, .free_at = PLM_MOMENT_NEVER, .captured = true},
        {.address = 0x40000000, .bytes = 4 * MIB, .alloc_at = 2, .free_at = PLM_MOMENT_NEVER},
    };
    struct plm_lane_segment segment[] = {
        {.address = 0x20000000, .bytes = 20 * MIB, .alloc_at = 0, .free_at = PLM_MOMENT_NEVER},
        {.address = 0x40000000, .bytes = 20 * MIB, .alloc_at = 2, .free_at = PLM_MOMENT_NEVER},
    };
    uint32_t order[] = {0 << 1 | TAKEN, 1 << 1 | TAKEN, 2 << 1 | TAKEN};
    struct plm_lane lane = {
        .block = block, .blocks = 3, .order = order, .moments = 3, .segment = segment, .segments = 2};
    struct plm_replay r;
    bool *private;

    (void)state;
    private = plm_replay_private(&lane);
    assert_true(private[0] && private[1] && !private[2]);
    free(private);
    r = replay(&lane, "");
    assert_true(r.as_recorded);
    assert_int_equal(r.stats.stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].peak, 40 * MIB);
    block[1].captured = false;
    private = plm_replay_private(&lane);
    assert_null(private);
    r = replay(&lane, "");
    assert_false(r.as_recorded);
    assert_int_equal(r.differs_at, 2);
}

/* Addresses are used again: a captured block's segment is not that of a later one at the same place. */
static void addresses_come_back(void **state)
{
    struct plm_block block[] = {
        {.address = 0x20000000, .bytes = 20 * MIB, .alloc_at = 0, .free_at = 1},
        {.address = 0x20a00000, .bytes = 40 * MIB, .alloc_at = 2, .free_at = PLM_MOMENT_NEVER, .captured = true},
    };
    struct plm_lane_segment segment[] = {
        {.address = 0x20000000, .bytes = 20 * MIB, .alloc_at = 0, .free_at = 2},
        {.address = 0x20a00000, .bytes = 40 * MIB, .alloc_at = 2, .free_at = PLM_MOMENT_NEVER},
    };
    uint32_t order[] = {0 << 1 | TAKEN, 0 << 1 | FREED, 1 << 1 | TAKEN};
    struct plm_lane lane = {
        .block = block, .blocks = 2, .order = order, .moments = 3, .segment = segment, .segments = 2};
    bool *private;

    (void)state;
    private = plm_replay_private(&lane);
    assert_true(!private[0] && private[1]);
    free(private);
    assert_true(replay(&lane, "").as_recorded); /* and the cache is emptied where the first segment went */
}

/* A large segment lies where two small ones were: what lies in it is of none of them. */
static void addresses_are_covered(void **state)
{
    struct plm_block block[] = {
        {.address = 0x20000000, .bytes = 20 * MIB, .alloc_at = 0, .free_at = 2},
        {.address = 0x21400000, .bytes = 20 * MIB, .alloc_at = 1, .free_at = 3, .captured = true},
        {.address = 0x21800000, .bytes = 4 * MIB, .alloc_at = 4, .free_at = PLM_MOMENT_NEVER},
    };
    struct plm_lane_segment segment[] = {
        {.address = 0x20000000, .bytes = 20 * MIB, .alloc_at = 0, .free_at = 4},
        {.address = 0x21400000, .bytes = 20 * MIB, .alloc_at = 1, .free_at = 4},
        {.address = 0x20000000, .bytes = 80 * MIB, .alloc_at = 4, .free_at = PLM_MOMENT_NEVER},
    };
    uint32_t order[] = {0 << 1 | TAKEN, 1 << 1 | TAKEN, 0 << 1 | FREED, 1 << 1 | FREED, 2 << 1 | TAKEN};
    struct plm_lane lane = {
        .block = block, .blocks = 3, .order = order, .moments = 5, .segment = segment, .segments = 3};
    bool *private = plm_replay_private(&lane);

    (void)state;
    assert_true(!private[0] && private[1] && !private[2]);
    free(private);
}

/* A segment that came and went before a block was handed out: the program ran out of memory there. */
static void failed_attempts(void **state)
{
    struct plm_block block[] = {{.address = 0x20000000, .bytes = 30 * MIB, .free_at = PLM_MOMENT_NEVER}};
    struct plm_lane_segment segment[] = {
        {.address = 0x80000000, .bytes = 80 * MIB, .alloc_at = 0, .free_at = 0},
        {.address = 0x20000000, .bytes = 30 * MIB, .alloc_at = 0, .free_at = PLM_MOMENT_NEVER},
    };
    uint32_t order[] = {0 << 1 | TAKEN};
    struct plm_lane lane = {
        .block = block, .blocks = 1, .order = order, .moments = 1, .segment = segment, .segments = 2};
    (void)state;
    assert_true(replay(&lane, "").as_recorded);
    segment[0].free_at = PLM_MOMENT_NEVER;
    assert_false(replay(&lane, "").as_recorded);
}

/* A record of the cudaMallocAsync back end: its segments are chunks of the pool. */
static void chunks_of_a_pool(void **state)
{
    struct plm_block block[] = {
        {.address = 0x20000000, .bytes = 4 * MIB, .alloc_at = 0, .free_at = 1},
        {.address = 0x20000000, .bytes = 40 * MIB, .alloc_at = 2, .free_at = PLM_MOMENT_NEVER},
    };
    struct plm_lane_segment segment[] = {
        {.address = 0x20000000, .bytes = 32 * MIB, .alloc_at = 0, .free_at = 2, .kind = PLM_RECORD_POOL},
        {.address = 0x20000000, .bytes = 64 * MIB, .alloc_at = 2, .free_at = PLM_MOMENT_NEVER, .kind = PLM_RECORD_POOL},
    };
    uint32_t order[] = {0 << 1 | TAKEN, 0 << 1 | FREED, 1 << 1 | TAKEN};
    struct plm_lane lane = {
        .block = block, .blocks = 2, .order = order, .moments = 3, .segment = segment, .segments = 2};
    struct plm_replay r = replay(&lane, "backend:cudaMallocAsync");
    (void)state;
    assert_true(r.as_recorded);
    assert_int_equal(r.stats.stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].peak, 64 * MIB);
    r = replay(&lane, ""); /* the same job with the native back end */
    assert_int_equal(r.stats.stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].peak, 40 * MIB);
}

/*
 * 60 MiB are held; twice a convolution of the same shape takes 30 MiB of workspace, then another one 20 MiB. On a card
 * with 80 MiB the first does not get it, and the second does not ask again: PyTorch has kept the plan. The third has room.
 */
static void workspaces_fall_back(void **state)
{
    enum { HELD, FIRST, AGAIN, OTHER, BLOCKS };
    struct plm_block block[BLOCKS] = {[HELD] = {.bytes = 60 * MIB, .asked = 60 * MIB},
                                      [FIRST] = {.bytes = 30 * MIB, .asked = 30 * MIB},
                                      [AGAIN] = {.bytes = 30 * MIB, .asked = 30 * MIB},
                                      [OTHER] = {.bytes = 20 * MIB, .asked = 20 * MIB}};
    uint32_t order[] = {HELD << 1,          FIRST << 1, FIRST << 1 | FREED, AGAIN << 1,
                        AGAIN << 1 | FREED, OTHER << 1, OTHER << 1 | FREED};
    struct plm_job_conv_mark mark[] = {{.at = 2, .block = FIRST, .shape = 0},
                                       {.at = 4, .block = AGAIN, .shape = 0},
                                       {.at = 6, .block = OTHER, .shape = 1}};
    struct plm_job_conv_marks marks = {.mark = mark, .count = COUNT(mark), .shapes = 2};
    struct plm_lane lane = {
        .block = block, .blocks = BLOCKS, .order = order, .moments = COUNT(order), .convolutions = &marks};
    struct plm_replay_options o = {.torch = PLM_TORCH_2_15, .capacity = UINT64_MAX, .total = 12 * GIB};
    struct plm_replay r;

    (void)state;
    assert_int_equal(plm_allocator_settings_parse("", o.torch, &o.settings, NULL), 0);
    assert_int_equal(plm_replay_least(&lane), 60 * MIB);
    assert_int_equal(plm_replay_lane(&lane, &o, &r, NULL), 0);
    assert_true(r.completed && r.fallbacks == 0);
    assert_int_equal(r.stats.stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].peak, 90 * MIB);

    o.capacity = 80 * MIB;
    assert_int_equal(plm_replay_lane(&lane, &o, &r, NULL), 0);
    assert_true(r.completed);
    assert_int_equal(r.fallbacks, 1);
    assert_int_equal(r.stats.num_ooms, 1);
    assert_int_equal(r.stats.stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].peak, 80 * MIB);

    o.capacity = 60 * MIB;
    assert_int_equal(plm_replay_lane(&lane, &o, &r, NULL), 0);
    assert_true(r.completed && r.fallbacks == 2);
    assert_int_equal(r.stats.stat[PLM_STAT_RESERVED_BYTES][PLM_STAT_ALL].peak, 60 * MIB);
    o.capacity = 58 * MIB; /* what is no workspace has no other plan */
    assert_int_equal(plm_replay_lane(&lane, &o, &r, NULL), 0);
    assert_true(!r.completed && r.at == 0);
    lane.convolutions = NULL;
    o.capacity = 80 * MIB;
    assert_int_equal(plm_replay_lane(&lane, &o, &r, NULL), 0);
    assert_true(!r.completed && r.at == 1);
    assert_int_equal(plm_replay_least(&lane), 90 * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warm_up_of_a_graph),    cmocka_unit_test(addresses_come_back),
        cmocka_unit_test(addresses_are_covered), cmocka_unit_test(failed_attempts),
        cmocka_unit_test(chunks_of_a_pool),      cmocka_unit_test(workspaces_fall_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
