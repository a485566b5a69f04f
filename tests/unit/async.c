/* The cudaMallocAsync back end of the simulator: rule by rule, and step by step against the device's own pool. */
#include "allocator/allocator.h"

#include <stdlib.h>

#include "common/error.h"
#include "device/device.h"
#include "device/internal.h"
#include "device/pool.h"
#include "unit.h"

enum { RESERVED = 5, RESERVED_HIGH = 6, USED = 7, USED_HIGH = 8 };
enum { LIMIT = 512 };

static int start(void **state)
{
    (void)state;
    setenv("PLIMSOLL_LIMIT", "536870912", 1);
    return plm_device_count() == 1 ? 0 : -1;
}

static struct plm_allocator *make(enum plm_torch torch, uint64_t capacity)
{
    struct plm_allocator_options o = {.torch = torch, .capacity = capacity, .total = 4 * GIB};
    struct plm_allocator *a;
    assert_int_equal(plm_allocator_settings_parse("backend:cudaMallocAsync", torch, &o.settings, NULL), 0);
    assert_int_equal(plm_allocator_new(&o, &a), 0);
    return a;
}

static const struct plm_stat *stat_of(const struct plm_allocator *a, enum plm_allocator_stat which)
{
    return &plm_allocator_stats(a)->stat[which][PLM_STAT_ALL];
}

static uint64_t take(struct plm_allocator *a, uint64_t size)
{
    uint64_t address;
    assert_int_equal(plm_allocator_malloc(a, size, 7, 0, &address), 0);
    assert_true(plm_allocator_is_valid(a));
    return address;
}

static void give(struct plm_allocator *a, uint64_t address)
{
    assert_int_equal(plm_allocator_free(a, address), 0);
    assert_true(plm_allocator_is_valid(a));
}

static void statistics(void **state)
{
    struct plm_allocator *a = make(PLM_TORCH_2_6, UINT64_MAX);
    uint64_t one = take(a, 1000), two = take(a, 40 * MIB);
    (void)state;
    assert_int_equal(stat_of(a, PLM_STAT_ALLOCATED_BYTES)->current, 40 * MIB + 1024);
    assert_int_equal(stat_of(a, PLM_STAT_ACTIVE_BYTES)->current, 40 * MIB + 1024);
    assert_int_equal(stat_of(a, PLM_STAT_RESERVED_BYTES)->current, 96 * MIB);
    assert_int_equal(stat_of(a, PLM_STAT_ALLOCATED_BYTES)->allocated, 0);
    assert_int_equal(stat_of(a, PLM_STAT_SEGMENT)->peak, 0);
    assert_int_equal(plm_allocator_record_stream(a, one, 3), 0);
    give(a, one);
    give(a, two);
    assert_int_equal(take(a, 512), one); /* the other stream's use held nothing back */
    give(a, one);
    assert_int_equal(plm_allocator_empty_cache(a), 0);
    assert_int_equal(stat_of(a, PLM_STAT_RESERVED_BYTES)->current, 0);
    assert_int_equal(stat_of(a, PLM_STAT_RESERVED_BYTES)->peak, 96 * MIB);
    plm_allocator_delete(a);
}

/* 2.15 gives empty chunks back when the card is full, releases before it do not. */
static void full_card(void **state)
{
    (void)state;
    for (int torch = 0; torch < PLM_TORCHES; torch++) {
        struct plm_allocator *a = make((enum plm_torch)torch, 128 * MIB);
        uint64_t address = 1, kept = take(a, 100);
        int expected = torch == PLM_TORCH_2_15 ? 0 : PLM_ALLOCATOR_OOM;
        give(a, take(a, 60 * MIB));
        assert_int_equal(plm_allocator_malloc(a, 90 * MIB, 0, 0, &address), expected);
        if (expected) {
            assert_int_equal(address, 0);
            assert_int_equal(plm_allocator_oom(a)->tried, 90 * MIB);
            assert_int_equal(plm_allocator_oom(a)->free, 32 * MIB);
            assert_int_equal(plm_allocator_oom(a)->allocated, 100);
            assert_int_equal(plm_allocator_oom(a)->reserved, 96 * MIB);
        }
        assert_int_equal(plm_allocator_stats(a)->num_ooms, 0); /* this back end does not count */
        give(a, address);
        give(a, kept);
        plm_allocator_delete(a);
    }
}

/* The fraction limits what was asked for, without rounding, and does not care what is cached. */
static void memory_fraction(void **state)
{
    struct plm_allocator *a = make(PLM_TORCH_2_15, UINT64_MAX);
    uint64_t address;
    (void)state;
    assert_int_equal(plm_allocator_set_fraction(a, 100.0 / (4 * GIB)), 0);
    assert_int_equal(plm_allocator_malloc(a, 101, 0, 0, &address), PLM_ALLOCATOR_OOM);
    assert_int_equal(plm_allocator_oom(a)->allowed, 100);
    take(a, 60);
    take(a, 40);
    assert_int_equal(plm_allocator_malloc(a, 1, 0, 0, &address), PLM_ALLOCATOR_OOM);
    plm_allocator_delete(a);
}

/* A block from before a capture that is freed in it stays until the first allocation after it. */
static void captures(void **state)
{
    struct plm_allocator *a = make(PLM_TORCH_2_15, UINT64_MAX);
    uint64_t before = take(a, 2 * MIB), inside;
    (void)state;
    assert_int_equal(plm_allocator_pool_begin(a, 1), 0);
    assert_int_equal(plm_allocator_pool_begin(a, 2), PLM_ALLOCATOR_CAPTURE);
    assert_int_equal(plm_allocator_malloc(a, MIB, 0, 1, &inside), 0);
    give(a, before);
    assert_int_equal(plm_allocator_free(a, before), PLM_ALLOCATOR_ADDRESS);
    assert_int_equal(plm_allocator_empty_cache(a), PLM_ALLOCATOR_CAPTURE);
    give(a, inside);
    assert_int_equal(stat_of(a, PLM_STAT_ALLOCATED_BYTES)->current, 2 * MIB);
    assert_int_equal(plm_allocator_pool_end(a, 1), 0);
    assert_int_equal(stat_of(a, PLM_STAT_ALLOCATED_BYTES)->current, 2 * MIB);
    assert_int_equal(take(a, 512), before);
    assert_int_equal(stat_of(a, PLM_STAT_ALLOCATED_BYTES)->current, 512);
    assert_int_equal(plm_allocator_malloc(a, 1, 0, 1, &inside), PLM_ALLOCATOR_POOL);
    assert_int_equal(plm_allocator_pool_release(a, 1), 0);
    assert_int_equal(plm_allocator_pool_release(a, 1), PLM_ALLOCATOR_POOL);
    plm_allocator_delete(a);
}

/* ---- against src/device/pool.c ---- */

static uint64_t random_state = 1;

static uint64_t roll(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

static uint64_t attribute(struct plm_pool *pool, int which)
{
    uint64_t value = 0;
    assert_int_equal(plm_pool_attribute_get(pool, which, &value), 0);
    return value;
}

static void same(struct plm_pool *pool, const struct plm_allocator *a)
{
    assert_int_equal(attribute(pool, RESERVED), stat_of(a, PLM_STAT_RESERVED_BYTES)->current);
    assert_int_equal(attribute(pool, RESERVED_HIGH), stat_of(a, PLM_STAT_RESERVED_BYTES)->peak);
    assert_int_equal(attribute(pool, USED), stat_of(a, PLM_STAT_ALLOCATED_BYTES)->current);
    assert_int_equal(attribute(pool, USED_HIGH), stat_of(a, PLM_STAT_ALLOCATED_BYTES)->peak);
}

/* A block of both, or of neither; where it lies in the first chunk of both tells how far the addresses are apart. */
static void take_both(struct plm_pool *pool, struct plm_allocator *a, uint64_t size, uint64_t block[2], uint64_t *apart)
{
    int real = plm_pool_alloc(pool, NULL, size, &block[0]), simulated = plm_allocator_malloc(a, size, 0, 0, &block[1]);
    assert_int_equal(real == 0, simulated == 0);
    if (real) {
        block[0] = 0;
        return;
    }
    *apart = *apart ? *apart : block[0] - block[1];
    assert_int_equal(block[0] - block[1], *apart);
}

static void as_the_device(void **state)
{
    enum { BLOCKS = 80 };
    struct plm_allocator *a = make(PLM_TORCH_2_10, (uint64_t)LIMIT * MIB);
    uint64_t block[BLOCKS][2] = {{0}}, apart = 0, failed = 0;
    struct plm_pool *pool;

    (void)state;
    assert_int_equal(plm_pool_create(0, &pool), 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t *at = block[roll(BLOCKS)], size = 1 + roll(roll(4) ? 3 * MIB : 70 * MIB);
        if (roll(200) == 0) {
            assert_int_equal(plm_pool_trim(pool, 0), 0);
            assert_int_equal(plm_allocator_empty_cache(a), 0);
        } else if (at[0]) {
            assert_int_equal(plm_pool_free(at[0], NULL), 0);
            assert_int_equal(plm_allocator_free(a, at[1]), 0);
            at[0] = at[1] = 0;
        } else {
            take_both(pool, a, size, at, &apart);
            failed += !at[0];
        }
        same(pool, a);
    }
    assert_true(failed > 10 && plm_allocator_is_valid(a));
    plm_allocator_delete(a);
    assert_int_equal(plm_pool_destroy(pool), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics), cmocka_unit_test(full_card),     cmocka_unit_test(memory_fraction),
        cmocka_unit_test(captures),   cmocka_unit_test(as_the_device),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
