/* What the caching allocator gives for a request, and what is left. */
#include "import/heap.h"

#include <stdlib.h>

#include "allocator/settings.h"
#include "unit.h"

static struct plm_heap fresh(void)
{
    return (struct plm_heap){.settings.max_split_size = UINT64_MAX};
}

/* The pieces of a heap are whole: each is found by both ends and neighbours know each other. */
static void check(const struct plm_heap *h)
{
    size_t found = 0;
    for (uint32_t i = 0; i < h->pieces; i++) {
        const struct plm_heap_piece *p = &h->piece[i];
        if (!p->size)
            continue; /* gone */
        found++;
        assert_int_equal(plm_map_get(&h->by_start, p->address), i);
        assert_int_equal(plm_map_get(&h->by_end, p->address + p->size), i);
        if (p->after != UINT32_MAX) {
            assert_int_equal(h->piece[p->after].before, i);
            assert_int_equal(h->piece[p->after].address, p->address + p->size);
            assert_true(p->taken || h->piece[p->after].taken);
        }
    }
    assert_int_equal(found, h->by_start.count);
    assert_int_equal(found, h->by_end.count);
}

static void rounding(void **state)
{
    struct plm_allocator_settings s = {.max_split_size = UINT64_MAX};
    (void)state;
    assert_int_equal(plm_allocator_size_round(&s, 0), 512);
    assert_int_equal(plm_allocator_size_round(&s, 512), 512);
    assert_int_equal(plm_allocator_size_round(&s, 513), 1024);
    assert_int_equal(plm_allocator_size_round(&s, 5 * MIB + 1), 5 * MIB + 512);
    for (int i = 0; i < 16; i++)
        s.roundup[i] = 4;
    assert_int_equal(plm_allocator_size_round(&s, 1200), 1536); /* not for the smallest */
    assert_int_equal(plm_allocator_size_round(&s, 1200 * KIB), 1280 * KIB);
    assert_int_equal(plm_allocator_size_round(&s, 4 * MIB), 4 * MIB);
    assert_int_equal(plm_allocator_size_round(&s, 5 * MIB + 1), 6 * MIB);
    assert_int_equal(plm_allocator_size_round(&s, 7 * MIB + 1), 8 * MIB);
}

static void splitting(void **state)
{
    struct plm_heap h = fresh();
    (void)state;
    plm_heap_add(&h, GIB, 2 * MIB, false);
    assert_int_equal(plm_heap_take(&h, GIB, 100), 512);
    assert_int_equal(plm_heap_take(&h, GIB + 512, MIB), MIB);
    /* A large request leaves no rest of 1 MiB or less. */
    plm_heap_add(&h, 2 * GIB, 20 * MIB, false);
    assert_int_equal(plm_heap_take(&h, 2 * GIB, 18 * MIB), 18 * MIB);
    plm_heap_give(&h, 2 * GIB);
    assert_int_equal(plm_heap_take(&h, 2 * GIB, 19 * MIB), 20 * MIB);
    check(&h);
    plm_heap_give(&h, 2 * GIB);
    h.settings.max_split_size = 10 * MIB;
    assert_int_equal(plm_heap_take(&h, 2 * GIB, 12 * MIB), 20 * MIB);
    check(&h);
    plm_heap_free(&h);
}

static void joining(void **state)
{
    struct plm_heap h = fresh();
    (void)state;
    plm_heap_add(&h, 0, 2 * MIB, false);
    plm_heap_add(&h, 2 * MIB, 2 * MIB, false); /* another segment: not joined */
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(plm_heap_take(&h, i * 1024, 1024), 1024);
    plm_heap_give(&h, 0);
    plm_heap_give(&h, 2048);
    plm_heap_give(&h, 1024);
    check(&h);
    assert_int_equal(plm_heap_take(&h, 0, 3072), 3072);
    plm_heap_give(&h, 0);
    plm_heap_give(&h, 3072);
    check(&h);
    assert_int_equal(h.by_start.count, 2);
    plm_heap_remove(&h, 0, 2 * MIB);
    assert_int_equal(h.by_start.count, 1);
    plm_heap_free(&h);
}

static void expandable(void **state)
{
    struct plm_heap h = fresh();
    (void)state;
    h.settings.expandable = true;
    plm_heap_add(&h, 0, 20 * MIB, true);
    plm_heap_add(&h, 20 * MIB, 20 * MIB, true);
    check(&h);
    assert_int_equal(h.by_start.count, 1);
    assert_int_equal(plm_heap_take(&h, 0, 39 * MIB + 1), 39 * MIB + 512);
    plm_heap_give(&h, 0);
    plm_heap_remove(&h, 10 * MIB, 2 * MIB); /* a hole */
    check(&h);
    assert_int_equal(h.by_start.count, 2);
    plm_heap_add(&h, 10 * MIB, 2 * MIB, true);
    assert_int_equal(h.by_start.count, 1);
    check(&h);
    plm_heap_free(&h);
}

/* What cannot be is answered with the rounded size and changes nothing. */
static void nonsense(void **state)
{
    struct plm_heap h = fresh();
    (void)state;
    assert_int_equal(plm_heap_take(&h, 5, 1000), 1024);
    plm_heap_give(&h, 5);
    plm_heap_remove(&h, 5, 5);
    plm_heap_add(&h, UINT64_MAX - 5, 1000, false);
    plm_heap_add(&h, GIB, 2 * MIB, false);
    plm_heap_add(&h, GIB, 2 * MIB, false);
    assert_int_equal(plm_heap_take(&h, GIB, 3 * MIB), 3 * MIB);
    assert_int_equal(plm_heap_take(&h, GIB, 1), 512);
    assert_int_equal(plm_heap_take(&h, GIB, 1000), 1024); /* twice */
    plm_heap_remove(&h, GIB, 2 * MIB);
    plm_heap_place(&h, GIB, GIB, 512);
    check(&h);
    assert_int_equal(h.by_start.count, 2);
    plm_heap_free(&h);
}

static void random_use(void **state)
{
    struct plm_heap h = fresh();
    uint64_t block[200] = {0};
    (void)state;
    srandom(3);
    for (uint64_t i = 0; i < 20; i++)
        plm_heap_add(&h, (i + 1) * GIB, 32 * MIB, false);
    for (int i = 0; i < 20000; i++) {
        uint64_t *b = &block[random() % 200];
        if (*b) {
            plm_heap_give(&h, *b);
            *b = 0;
        } else {
            const struct plm_heap_piece *p = &h.piece[(size_t)random() % h.pieces];
            if (p->size && !p->taken) {
                uint64_t bytes = (uint64_t)random() % p->size, address = p->address;
                assert_true(plm_heap_take(&h, address, bytes) >= bytes);
                *b = address;
            }
        }
        if (i % 100 == 0)
            check(&h);
    }
    for (int i = 0; i < 200; i++)
        if (block[i])
            plm_heap_give(&h, block[i]);
    check(&h);
    assert_int_equal(h.by_start.count, 20);
    plm_heap_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding),   cmocka_unit_test(splitting), cmocka_unit_test(joining),
        cmocka_unit_test(expandable), cmocka_unit_test(nonsense),  cmocka_unit_test(random_use),
    };
    return RUN(tests);
}
