/* Stream-ordered pools on a card of 256 MiB. */
#include "device/pool.h"

#include <stdlib.h>

#include "device/device.h"
#include "device/internal.h"
#include "unit.h"

enum { REUSE = 1, THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH = 6, USED = 7, USED_HIGH = 8 };

static struct plm_pool *pool;

static int start(void **state)
{
    (void)state;
    setenv("PLIMSOLL_LIMIT", "268435456", 1);
    assert_int_equal(plm_device_count(), 1);
    return 0;
}

static int make(void **state)
{
    (void)state;
    return plm_pool_create(0, &pool);
}

static int drop(void **state)
{
    (void)state;
    return plm_pool_destroy(pool) || plm_memory_used(0) ? -1 : 0;
}

static uint64_t get(int attribute)
{
    uint64_t value = 0;
    assert_int_equal(plm_pool_attribute_get(pool, attribute, &value), 0);
    return value;
}

static uint64_t take(uint64_t size)
{
    uint64_t at = 0;
    assert_int_equal(plm_pool_alloc(pool, NULL, size, &at), 0);
    return at;
}

static void give(uint64_t at)
{
    assert_int_equal(plm_pool_free(at, NULL), 0);
}

static void grows_and_keeps(void **state)
{
    uint64_t one = take(1000), two = take(20 * MIB), three;
    (void)state;
    assert_int_equal(get(USED), 1024 + 20 * MIB);
    assert_int_equal(get(RESERVED), 32 * MIB);
    assert_int_equal(plm_memory_used(0), 32 * MIB);
    three = take(33 * MIB); /* does not fit in the first chunk, and is larger than one */
    assert_int_equal(get(RESERVED), 96 * MIB);
    give(two);
    give(one);
    give(three);
    assert_int_equal(get(USED), 0);
    assert_int_equal(get(USED_HIGH), 1024 + 53 * MIB);
    assert_int_equal(take(32 * MIB) % 512, 0); /* the free pieces of a chunk were joined */
    assert_int_equal(get(RESERVED), 96 * MIB);
}

static void best_fit(void **state)
{
    uint64_t a = take(4 * MIB), b = take(1 * MIB), c = take(2 * MIB), d = take(1 * MIB);
    (void)state;
    give(a);
    give(c);
    assert_int_equal(take(2 * MIB), c); /* not the larger hole before it */
    assert_int_equal(take(3 * MIB), a);
    give(b);
    give(d);
}

static void trims(void **state)
{
    uint64_t one = take(MIB), two = take(32 * MIB);
    (void)state;
    assert_int_equal(get(RESERVED), 64 * MIB);
    give(two);
    assert_int_equal(plm_pool_trim(pool, 64 * MIB), 0);
    assert_int_equal(get(RESERVED), 64 * MIB);
    assert_int_equal(plm_pool_trim(pool, 0), 0); /* what is in use stays */
    assert_int_equal(get(RESERVED), 32 * MIB);
    assert_int_equal(plm_memory_used(0), 32 * MIB);
    assert_int_equal(get(RESERVED_HIGH), 64 * MIB);
    give(one);
    assert_int_equal(plm_pool_trim(pool, 0), 0);
    assert_int_equal(plm_memory_used(0), 0);
    assert_int_equal(plm_pool_trim(NULL, 0), PLM_DEV_INVALID);
}

static void full_card(void **state)
{
    uint64_t at = 0, all = take(256 * MIB);
    (void)state;
    assert_int_equal(plm_pool_alloc(pool, NULL, 1, &at), PLM_DEV_NOMEM);
    give(all);
    assert_int_equal(plm_pool_alloc(pool, NULL, 257 * MIB, &at), PLM_DEV_NOMEM);
    for (uint64_t less = 0; less < 64 * MIB; less += 511 * KIB) /* rounded up, some would be small */
        assert_int_equal(plm_pool_alloc(pool, NULL, UINT64_MAX - less, &at), PLM_DEV_NOMEM);
    give(take(256 * MIB));
}

static void frees(void **state)
{
    uint64_t at = take(MIB), zero = take(0);
    (void)state;
    assert_int_not_equal(zero, 0);
    assert_int_not_equal(take(0), zero); /* what is in use has an address of its own */
    assert_int_equal(plm_pool_free(at + 512, NULL), PLM_DEV_INVALID);
    give(at);
    assert_int_equal(plm_pool_free(at, NULL), PLM_DEV_INVALID);
    assert_int_equal(plm_pool_free(0, NULL), 0);
    assert_int_equal(plm_pool_free(64, NULL), PLM_DEV_INVALID);
}

static void attributes(void **state)
{
    uint64_t value = 7 * MIB, at;
    int reuse = -1;
    (void)state;
    assert_int_equal(get(THRESHOLD), 0);
    assert_int_equal(plm_pool_attribute_set(pool, THRESHOLD, &value), 0);
    assert_int_equal(get(THRESHOLD), 7 * MIB);
    assert_int_equal(plm_pool_attribute_get(pool, REUSE, &reuse), 0);
    assert_int_equal(reuse, 1);
    reuse = 0;
    assert_int_equal(plm_pool_attribute_set(pool, REUSE, &reuse), 0);
    at = take(MIB);
    give(at);
    assert_int_equal(get(USED_HIGH), MIB);
    value = 0;
    assert_int_equal(plm_pool_attribute_set(pool, USED_HIGH, &value), 0);
    assert_int_equal(get(USED_HIGH), 0);
    assert_int_equal(plm_pool_attribute_set(pool, USED, &value), PLM_DEV_INVALID);
    assert_int_equal(plm_pool_attribute_get(pool, 99, &value), PLM_DEV_INVALID);
    assert_int_equal(plm_pool_attribute_get(NULL, USED, &value), PLM_DEV_INVALID);
    assert_int_equal(plm_pool_attribute_get(pool, USED, NULL), PLM_DEV_INVALID);
}

static void small_pieces_hold_bytes(void **state)
{
    char out[8] = "pppp";
    uint64_t at = take(1000);
    (void)state;
    plm_copy((void *)at, "abcd", 4);
    plm_copy(out, (void *)at, 4);
    assert_memory_equal(out, "abcd", 4);
    give(at);
    assert_int_equal(take(1000), at);
    plm_copy(out, (void *)at, 4);
    assert_memory_equal(out, "\0\0\0\0", 4);
}

static void which_pool(void **state)
{
    struct plm_pool *standard = plm_pool_default(0), *other;
    (void)state;
    assert_non_null(standard);
    assert_ptr_equal(plm_pool_default(0), standard);
    assert_ptr_equal(plm_pool_current(0), standard);
    assert_int_equal(plm_pool_set_current(0, pool), 0);
    assert_ptr_equal(plm_pool_current(0), pool);
    assert_int_equal(plm_pool_set_current(0, NULL), PLM_DEV_INVALID);
    assert_int_equal(plm_pool_set_current(3, pool), PLM_DEV_INVALID);
    assert_int_equal(plm_pool_destroy(standard), PLM_DEV_INVALID);
    assert_int_equal(plm_pool_create(0, &other), 0);
    assert_int_equal(plm_pool_set_current(0, other), 0);
    assert_int_equal(plm_pool_destroy(other), 0);
    assert_ptr_equal(plm_pool_current(0), standard); /* not one that is gone */
    assert_null(plm_pool_default(3));
    assert_null(plm_pool_current(-1));
    assert_int_equal(plm_pool_create(3, &other), PLM_DEV_INVALID);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(grows_and_keeps),         TEST(best_fit),   TEST(trims), TEST(full_card), TEST(frees), TEST(attributes),
        TEST(small_pieces_hold_bytes), TEST(which_pool),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
