/* An allocator that begins with what was there, and gives back what it is told to. */
#include "allocator/allocator.h"

#include "common/error.h"
#include "unit.h"

#define BASE (0x302ull << 24) /* below what the simulator itself hands out */

static struct plm_allocator *make(const char *settings)
{
    struct plm_allocator_options o = {.torch = PLM_TORCH_2_10, .capacity = UINT64_MAX, .total = GIB};
    struct plm_allocator *a;
    struct plm_error error;
    assert_int_equal(plm_allocator_settings_parse(settings, o.torch, &o.settings, &error), 0);
    assert_int_equal(plm_allocator_new(&o, &a), 0);
    return a;
}

static uint64_t take(struct plm_allocator *a, uint64_t size, uint64_t pool)
{
    uint64_t address;
    if (pool)
        assert_int_equal(plm_allocator_pool_begin(a, pool), 0);
    assert_int_equal(plm_allocator_malloc(a, size, 0, pool, &address), 0);
    if (pool)
        assert_int_equal(plm_allocator_pool_end(a, pool), 0);
    assert_true(plm_allocator_is_valid(a));
    return address;
}

static void fixed_segments(void **state)
{
    const struct plm_allocator_part blocks[] = {{BASE + 512, 1024, false}, {BASE + 4096, 512, false}};
    const struct plm_allocator_segment small = {BASE, 2 * MIB, 0, 0, true, false, blocks, 2};
    const struct plm_allocator_segment large = {BASE + 4 * MIB, 20 * MIB, 0, 0, false, false, NULL, 0};
    struct plm_allocator *a = make("");
    uint64_t address, size, steps = 0;
    (void)state;
    assert_int_equal(plm_allocator_seed(a, &small), 0);
    assert_int_equal(plm_allocator_seed(a, &large), 0);
    assert_true(plm_allocator_is_valid(a));
    assert_int_equal(plm_allocator_seed(a, &large), PLM_EINVAL); /* the addresses are taken */
    assert_int_equal(take(a, 100, 0), BASE);                     /* best fit in the holes */
    assert_int_equal(take(a, 2000, 0), BASE + 1536);
    assert_int_equal(take(a, 3000, 0), BASE + 4608);
    assert_int_equal(plm_allocator_free(a, BASE + 512), 0); /* what was there can be freed */
    assert_int_equal(take(a, 600, 0), BASE + 512);
    assert_true(plm_allocator_gives_back(a, &address, &size));
    assert_int_equal(address, BASE + 4 * MIB);
    assert_int_equal(size, 20 * MIB);
    assert_int_equal(plm_allocator_give_back(a, BASE, 2 * MIB, 0, &steps), PLM_ALLOCATOR_ADDRESS); /* in use */
    assert_int_equal(plm_allocator_give_back(a, address, 22 * MIB, 0, &steps), PLM_ALLOCATOR_ADDRESS);
    assert_int_equal(plm_allocator_give_back(a, address, size, 7, &steps), PLM_ALLOCATOR_ADDRESS);
    assert_int_equal(plm_allocator_give_back(a, address, size, 0, &steps), 0);
    assert_true(plm_allocator_is_valid(a));
    assert_false(plm_allocator_gives_back(a, &address, &size));
    assert_int_equal(plm_allocator_seed(a, &large), 0); /* and its addresses are free again */
    plm_allocator_delete(a);
}

static void private_segments(void **state)
{
    const struct plm_allocator_segment segment = {BASE, 2 * MIB, 0, 9, true, false, NULL, 0};
    struct plm_allocator *a = make("");
    uint64_t address, size, steps = 0;
    (void)state;
    assert_int_equal(plm_allocator_seed(a, &segment), 0);
    assert_int_not_equal(take(a, 100, 0), BASE); /* not for everyone */
    assert_int_equal(take(a, 100, 9), BASE);
    assert_int_equal(plm_allocator_free(a, BASE), 0);
    assert_false(plm_allocator_gives_back(a, &address, &size));
    assert_int_equal(plm_allocator_give_back(a, BASE, 2 * MIB, 0, &steps), 0);
    plm_allocator_delete(a);
}

static void expandable_segments(void **state)
{
    const struct plm_allocator_part parts[] = {
        {BASE, 512, false}, {BASE + 20 * MIB, 40 * MIB, true}, {BASE + 80 * MIB, 920 * MIB, true}};
    const struct plm_allocator_segment segment = {BASE, 1000 * MIB, 0, 0, false, true, parts, 3};
    struct plm_allocator_part crooked = {BASE + 20 * MIB, 41 * MIB, true};
    const struct plm_allocator_segment bad = {BASE, 1000 * MIB, 0, 0, false, true, &crooked, 1};
    struct plm_allocator *a = make("expandable_segments:True");
    uint64_t steps = 0, address;
    (void)state;
    assert_int_equal(plm_allocator_seed(a, &bad), PLM_EINVAL); /* no whole pages */
    assert_int_equal(plm_allocator_seed(a, &segment), 0);
    assert_true(plm_allocator_is_valid(a));
    /* Two pages more, behind the first free one. */
    assert_int_equal(take(a, 50 * MIB, 0), BASE + 512);
    assert_int_equal(plm_allocator_free(a, BASE + 512), 0);
    /* The free part from the first block on has four pages, of which the first is not whole. */
    assert_int_equal(plm_allocator_give_back(a, BASE + 20 * MIB, 20 * MIB, 0, &steps), PLM_ALLOCATOR_ADDRESS);
    assert_int_equal(plm_allocator_give_back(a, BASE + 20 * MIB, 60 * MIB, 0, &steps), 0);
    assert_true(plm_allocator_is_valid(a));
    assert_false(plm_allocator_gives_back(a, &address, &steps));
    plm_allocator_delete(a);
}

static void what_cannot_be(void **state)
{
    const struct plm_allocator_part outside = {BASE + 2 * MIB - 512, 1024, false};
    const struct plm_allocator_part twice[] = {{BASE, 1024, false}, {BASE + 512, 512, false}};
    const struct plm_allocator_segment bad[] = {{BASE, 2 * MIB, 0, 0, true, false, &outside, 1},
                                                {BASE, 2 * MIB, 0, 0, true, false, twice, 2},
                                                {BASE, 0, 0, 0, true, false, NULL, 0},
                                                {0, 2 * MIB, 0, 0, true, false, NULL, 0},
                                                {BASE, 1000, 0, 0, true, false, NULL, 0},
                                                {UINT64_MAX - 511, 2 * MIB, 0, 0, true, false, NULL, 0},
                                                {BASE, UINT64_MAX - 511, 0, 0, true, false, NULL, 0}};
    struct plm_allocator *a = make("");
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(plm_allocator_seed(a, &bad[i]), PLM_EINVAL);
    assert_true(plm_allocator_is_valid(a));
    plm_allocator_delete(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_segments),
        cmocka_unit_test(private_segments),
        cmocka_unit_test(expandable_segments),
        cmocka_unit_test(what_cannot_be),
    };
    return RUN(tests);
}
