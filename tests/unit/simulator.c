/* The simulator of the CPU-side methods: each rule of the published allocator, and what PyTorch's does differently. */
#include "study/estimate/simulator.h"

#include <stdlib.h>

#include "unit.h"

#define ANY UINT64_MAX

static struct plm_simulation run_on(uint64_t limit, struct plm_lifetime *item, size_t count)
{
    struct plm_simulation out;
    plm_simulate(item, count, limit, &out);
    return out;
}

/* The peak of blocks that are all there at once. */
static uint64_t together(uint64_t a, uint64_t b, uint64_t c)
{
    struct plm_lifetime item[] = {{1, PLM_NEVER, a, 0}, {2, PLM_NEVER, b, 0}, {3, PLM_NEVER, c, 0}};
    return run_on(ANY, item, c ? 3 : b ? 2 : 1).peak;
}

static void sizes_of_segments(void **state)
{
    (void)state;
    assert_int_equal(together(1, 0, 0), 2 * MIB);
    assert_int_equal(together(MIB, MIB, 0), 2 * MIB);
    assert_int_equal(together(MIB, MIB, 1), 4 * MIB);
    assert_int_equal(together(MIB + 1, 0, 0), 20 * MIB);
    assert_int_equal(together(10 * MIB - 512, 10 * MIB - 512, 0), 20 * MIB);
    assert_int_equal(together(10 * MIB + 1, 0, 0), 12 * MIB);
    assert_int_equal(together(40 * MIB + 512, 0, 0), 42 * MIB);
}

/* The published allocator shares a segment of 20 MiB at exactly 10 MiB; PyTorch takes one of 10 MiB. */
static void ten_mebibytes(void **state)
{
    struct plm_lifetime item[] = {{1, PLM_NEVER, 10 * MIB, 0}};
    struct plm_simulation out;
    (void)state;
    assert_int_equal(run_on(ANY, item, 1).peak, 20 * MIB);
    plm_simulate_torch(item, 1, ANY, &out);
    assert_int_equal(out.peak, 10 * MIB);
}

/* A large block is cut if more than 1 MiB is left. */
static void cutting(void **state)
{
    struct plm_lifetime item[] = {{1, 2, 20 * MIB, 0}, {3, PLM_NEVER, 19 * MIB, 0}, {4, PLM_NEVER, MIB + 1, 0}};
    struct plm_simulation out;
    (void)state;
    out = run_on(ANY, item, 3);
    assert_int_equal(out.peak, 40 * MIB); /* 1 MiB is left in the first segment, and stays with the block */
    assert_int_equal(out.peak_allocated, 20 * MIB + MIB + 512);
    item[1].bytes = 19 * MIB - 1024;
    item[2].bytes = MIB + 512;
    assert_int_equal(run_on(ANY, item, 3).peak, 20 * MIB);
}

/* Of two free blocks the smaller that is large enough is taken, of equal ones that of the lower address. */
static void best_fit(void **state)
{
    struct plm_lifetime item[] = {
        {1, 10, 30 * MIB, 0}, {2, 10, 24 * MIB, 0}, {11, PLM_NEVER, 24 * MIB, 0}, {12, PLM_NEVER, 30 * MIB, 0}};
    (void)state;
    assert_int_equal(run_on(ANY, item, 4).peak, 54 * MIB);
}

static void joining(void **state)
{
    struct plm_lifetime item[] = {
        {1, 5, 6 * MIB, 0}, {2, 6, 6 * MIB, 0}, {3, 4, 6 * MIB, 0}, {7, 8, 20 * MIB, 0}, {9, PLM_NEVER, 20 * MIB, 0}};
    struct plm_simulation out;
    (void)state;
    out = run_on(ANY, item, 5);
    assert_int_equal(out.peak, 20 * MIB);
    assert_int_equal(out.peak_time, 1);
}

/* At equal times what is allocated comes first, so both are there at once. */
static void equal_times(void **state)
{
    struct plm_lifetime item[] = {{1, 5, 30 * MIB, 0}, {5, 9, 30 * MIB, 0}};
    (void)state;
    assert_int_equal(run_on(ANY, item, 2).peak, 60 * MIB);
    item[1].born = 6;
    assert_int_equal(run_on(ANY, item, 2).peak, 30 * MIB);
}

static void sorted_by_birth(void **state)
{
    struct plm_lifetime item[] = {{3, 4, 1, 7}, {1, 2, 2, 8}, {3, 4, 3, 9}, {-5, 4, 4, 6}};
    (void)state;
    run_on(ANY, item, 4);
    assert_int_equal(item[0].holder, 6);
    assert_int_equal(item[1].holder, 8);
    assert_int_equal(item[2].holder, 7); /* those of one time keep their order */
    assert_int_equal(item[3].holder, 9);
}

/* A full card: segments that are free as a whole go back, and the request is made again. */
static void flush_and_retry(void **state)
{
    struct plm_lifetime item[] = {{1, PLM_NEVER, 1, 0}, {2, 3, 30 * MIB, 0}, {4, PLM_NEVER, 40 * MIB, 0}};
    struct plm_simulation out;
    (void)state;
    out = run_on(42 * MIB, item, 3);
    assert_false(out.oom);
    assert_int_equal(out.peak, 42 * MIB);
    assert_int_equal(run_on(ANY, item, 3).peak, 72 * MIB);
}

static void out_of_memory(void **state)
{
    struct plm_lifetime item[] = {{1, 9, 30 * MIB, 0}, {3, PLM_NEVER, 40 * MIB, 0}, {4, PLM_NEVER, 1, 0}};
    struct plm_simulation out;
    (void)state;
    out = run_on(60 * MIB, item, 3);
    assert_true(out.oom);
    assert_int_equal(out.oom_time, 3);
    assert_int_equal(out.peak, 30 * MIB);
    plm_simulate_torch(item, 3, 60 * MIB, &out);
    assert_true(out.oom);
    assert_int_equal(out.oom_time, 3);
}

/* The second level is one range: segments of other sizes must fit into its gaps. */
static void card_in_pieces(void **state)
{
    struct plm_lifetime item[] = {
        {1, 4, 30 * MIB, 0}, {2, PLM_NEVER, 20 * MIB, 0}, {3, 4, 30 * MIB, 0}, {5, PLM_NEVER, 50 * MIB, 0}};
    struct plm_simulation out;
    (void)state;
    out = run_on(80 * MIB, item, 4);
    assert_true(out.oom); /* 60 MiB are free, 30 on either side */
    out = run_on(100 * MIB, item, 4);
    assert_false(out.oom);
    assert_int_equal(out.peak, 80 * MIB);
}

static void hostile_lifetimes(void **state)
{
    struct plm_lifetime item[] = {
        {5, 1, 512, 0}, {INT64_MIN, INT64_MIN, UINT64_MAX, 0}, {INT64_MAX, INT64_MAX, UINT64_MAX - 1, 0}};
    struct plm_simulation out;
    (void)state;
    out = run_on(ANY, item, 1);
    assert_int_equal(out.peak, 2 * MIB); /* it dies when it is born */
    assert_true(run_on(ANY, item, 3).oom);
    plm_simulate_torch(item, 3, ANY, &out);
    assert_true(out.oom);
    plm_simulate(NULL, 0, ANY, &out);
    assert_int_equal(out.peak, 0);
}

struct seen {
    uint64_t events, reserved, allocated;
    bool ordered;
};

static void see(const struct plm_simulation_event *event, void *context)
{
    struct seen *s = context;
    s->ordered = s->ordered && event->number == s->events;
    s->events++;
    s->reserved = event->reserved;
    s->allocated = event->allocated;
    s->ordered = s->ordered && event->allocated <= event->reserved;
}

/* Many random blocks: what is left at the end is nothing, both allocators agree where their rules do. */
static void random_blocks(void **state)
{
    enum { COUNT_OF = 20000 };
    struct plm_lifetime *item = calloc(COUNT_OF, sizeof *item);
    uint64_t random = 1;
    (void)state;
    assert_non_null(item);
    for (int rules = PLM_RULES_XMEM; rules <= PLM_RULES_TORCH; rules++) {
        struct seen seen = {.ordered = true};
        struct plm_simulation out;
        for (int i = 0; i < COUNT_OF; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            item[i] = (struct plm_lifetime){i, i + 1 + (int64_t)(random >> 52), (random >> 30) % (30 * MIB) + 1, 0};
        }
        plm_simulate_watched(item, COUNT_OF, (enum plm_simulation_rules)rules, ANY, see, &seen, &out);
        assert_true(seen.ordered);
        assert_int_equal(seen.events, 2 * COUNT_OF);
        assert_int_equal(seen.allocated, 0);
        assert_int_equal(seen.reserved, out.peak); /* nothing goes back to a card that is large enough */
    }
    free(item);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_segments), cmocka_unit_test(ten_mebibytes),     cmocka_unit_test(cutting),
        cmocka_unit_test(best_fit),          cmocka_unit_test(joining),           cmocka_unit_test(equal_times),
        cmocka_unit_test(sorted_by_birth),   cmocka_unit_test(flush_and_retry),   cmocka_unit_test(out_of_memory),
        cmocka_unit_test(card_in_pieces),    cmocka_unit_test(hostile_lifetimes), cmocka_unit_test(random_blocks),
    };
    return RUN(tests);
}
