/* Which bytes of the card are known: a bit for each, whatever the page. */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "device/device.h"
#include "device/internal.h"
#include "device/ipc.h"
#include "device/known.h"
#include "unit.h"

static int start(void **state)
{
    (void)state;
    unit_record(unit_path("known_bytes.plm"));
    assert_int_equal(plm_device_count(), 1);
    return 0;
}

static uint64_t take(uint64_t size)
{
    uint64_t at = 0;
    assert_int_equal(plm_mem_alloc(0, size, &at), 0);
    return at;
}

static void each_byte_by_itself(void **state)
{
    const uint64_t at = take(2 * MIB);
    (void)state;
    assert_false(plm_known_any(at, 2 * MIB));
    plm_known_set(at + 61, 70); /* in three words */
    assert_true(plm_known(at + 61, 70));
    assert_false(plm_known(at + 60, 2));
    assert_false(plm_known(at + 130, 2));
    assert_int_equal(plm_known_first(at + 61, 100), 70);
    assert_int_equal(plm_known_first(at + 60, 100), 0);
    plm_known_clear(at + 100, 1);
    assert_false(plm_known(at + 61, 70));
    assert_int_equal(plm_known_first(at + 61, 70), 39);
    assert_true(plm_known(at + 101, 30));
    assert_true(plm_known_any(at, 62));
    assert_false(plm_known_any(at, 61));
    plm_mem_free(at);
}

/* ---- against an array with a byte for each ---- */

enum { FEW = 6, SPAN = 2 << 20, ROUNDS = 4000 };
static unsigned char plain[SPAN]; /* 1: known, 2: assumed too */

/* Ranges that begin and end near words, chunks and pages as often as anywhere. */
static uint64_t drawn(uint64_t below)
{
    static const uint64_t near[] = {64, 4096, 16384, 65536};
    const uint64_t any = (uint64_t)rand() * 31 + (uint64_t)rand(), grid = near[rand() % 4];
    const uint64_t at = rand() % 2 ? any : any / grid * grid + (uint64_t)(rand() % 3);
    return at % below;
}

static uint64_t plain_first(uint64_t from, uint64_t bytes, bool known)
{
    uint64_t n = 0;
    while (n < bytes && !plain[from + n] == !known)
        n++;
    return n;
}

static bool plain_assumed(uint64_t from, uint64_t bytes)
{
    return memchr(plain + from, 2, bytes) != NULL;
}

static void known_as_plain(uint64_t at, uint64_t from, uint64_t bytes)
{
    assert_int_equal(plm_known(at + from, bytes), plain_first(from, bytes, true) == bytes);
    assert_int_equal(plm_known_any(at + from, bytes), plain_first(from, bytes, false) < bytes);
    assert_int_equal(plm_known_first(at + from, bytes), plain_first(from, bytes, true));
    assert_int_equal(plm_known_assumed(at + from, bytes), plain_assumed(from, bytes));
}

static void any_order_is_as_with_plain_bytes(void **state)
{
    const uint64_t at = take(SPAN);
    (void)state;
    srand(7);
    memset(plain, 0, sizeof plain);
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t from = drawn(SPAN - 1), most = SPAN - from,
                       bytes = 1 + drawn(rand() % 4   ? most
                                         : most < 300 ? most
                                                      : 300);
        const int what = rand() % FEW;
        if (what < 2) {
            plm_known_set(at + from, bytes);
            memset(plain + from, 1, bytes);
        } else if (what < 4) {
            plm_known_clear(at + from, bytes);
            memset(plain + from, 0, bytes);
        } else if (what == 4) {
            plm_known_set(at + from, bytes);
            plm_known_assume(at + from, bytes);
            memset(plain + from, 2, bytes);
        }
        known_as_plain(at, from, bytes);
        known_as_plain(at, drawn(SPAN - 400), 1 + drawn(399));
    }
    plm_known_forget();
    assert_false(plm_known_any(at, SPAN));
    plm_mem_free(at);
}

static void a_copy_carries_it(void **state)
{
    const uint64_t from = take(MIB), to = take(MIB);
    (void)state;
    plm_known_set(from + 10, 5);
    plm_known_set(from + 200, 1000);
    plm_known_set(to, 4096);
    plm_known_copy(to + 3, from, 1100);
    assert_true(plm_known(to, 3));
    assert_int_equal(plm_known_first(to + 3, 100), 0);
    assert_int_equal(plm_known_first(to + 13, 100), 5);
    assert_int_equal(plm_known_first(to + 203, 8000), 900 + 4096 - 1103);
    plm_mem_free(from);
    plm_mem_free(to);
}

static void memory_that_was_given_back_is_not_known(void **state)
{
    uint64_t at = take(2 * MIB), again;
    (void)state;
    plm_known_set(at, 2 * MIB);
    assert_true(plm_known(at, 2 * MIB));
    plm_mem_free(at);
    assert_false(plm_known(at, 8));
    again = take(2 * MIB);
    assert_false(plm_known_any(again, 2 * MIB));
    plm_known_set(again, 100);
    plm_memory_recycle(again, 64);
    assert_int_equal(plm_known_first(again + 64, 100), 36);
    assert_false(plm_known_any(again, 64));
    plm_known_forget();
    assert_false(plm_known_any(again, 2 * MIB));
    plm_mem_free(again);
}

static void what_follows_from_an_assumption_is_marked(void **state)
{
    const uint64_t at = take(MIB), to = take(MIB);
    (void)state;
    plm_known_set(at, 200);
    assert_false(plm_known_assumed(at, 200));
    plm_known_assume(at + 100, 8);
    assert_true(plm_known(at, 200));
    assert_true(plm_known_assumed(at, 101));
    assert_false(plm_known_assumed(at, 100));
    plm_known_copy(to, at, 200); /* the mark goes along, and stays where nothing was copied from */
    assert_true(plm_known_assumed(to + 96, 16));
    assert_false(plm_known_assumed(to + 192, 8));
    plm_known_set(at + 100, 8); /* the host wrote it after all */
    assert_false(plm_known_assumed(at, 200));
    plm_known_clear(to + 64, 64); /* what is not known is not assumed either */
    assert_false(plm_known_assumed(to, 200));
    plm_mem_free(at);
    plm_mem_free(to);
}

static void what_has_no_bytes_is_never_known(void **state)
{
    const uint64_t large = take(64 * MIB);
    char host[8];
    (void)state;
    plm_known_set(large, 8);
    plm_known_set((uint64_t)host, 8);
    assert_false(plm_known(large, 8));
    assert_false(plm_known((uint64_t)host, 8));
    plm_known_clear((uint64_t)host, 8);
    plm_known_clear(large, 64 * MIB);
    plm_mem_free(large);
}

/* Another process may write it, unseen: what the host writes later is not known either. */
static void what_was_exported_is_never_known(void **state)
{
    const uint64_t at = take(2 * MIB), other = take(2 * MIB);
    struct plm_ipc_handle handle;
    (void)state;
    plm_known_set(at, 100);
    plm_known_set(other, 100);
    assert_int_equal(plm_ipc_export(at + 4096, &handle), 0);
    assert_int_equal(handle.base, at);
    assert_false(plm_known_any(at, 2 * MIB));
    plm_known_set(at, 100);
    plm_known_copy(at, other, 100);
    assert_false(plm_known_any(at, 2 * MIB));
    assert_true(plm_known(other, 100));
    assert_int_equal(plm_mem_free(at), 0);
    assert_int_equal(plm_ipc_export(at, &handle), PLM_DEV_INVALID);
    assert_int_equal(plm_mem_free(other), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_by_itself),
        cmocka_unit_test(any_order_is_as_with_plain_bytes),
        cmocka_unit_test(a_copy_carries_it),
        cmocka_unit_test(memory_that_was_given_back_is_not_known),
        cmocka_unit_test(what_follows_from_an_assumption_is_marked),
        cmocka_unit_test(what_has_no_bytes_is_never_known),
        cmocka_unit_test(what_was_exported_is_never_known),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
