/* What is read from the card: bytes that the host wrote, else zeros. */
#include <stdlib.h>
#include <sys/mman.h>

#include "common/error.h"
#include "device/device.h"
#include "device/internal.h"
#include "record/reader.h"
#include "unit.h"

static int start(void **state)
{
    (void)state;
    unit_record(unit_path("copy.plm"));
    assert_int_equal(plm_device_count(), 1);
    return 0;
}

static char *take(uint64_t size)
{
    uint64_t at = 0;
    assert_int_equal(plm_mem_alloc(0, size, &at), 0);
    return (char *)at;
}

static void give(char *at)
{
    assert_int_equal(plm_mem_free((uint64_t)at), 0);
}

/* `count` bytes from the card are these. */
static void expect(const char *at, const char *bytes, size_t count)
{
    char out[64];
    memset(out, 'p', sizeof out);
    plm_copy(out, at, count);
    assert_memory_equal(out, bytes, count);
    if (count < sizeof out)
        assert_int_equal(out[count], 'p');
}

static void written_bytes_come_back(void **state)
{
    static const uint64_t sizes[] = {16, 512, 4096, MIB, 2 * MIB};
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char *at = take(sizes[i]), *other = take(sizes[i]);
        plm_copy(at, "abcdefgh", 8);
        plm_copy(at + sizes[i] - 4, "tail", 4);
        expect(at, "abcdefgh", 8);
        expect(at + sizes[i] - 4, "tail", 4);
        plm_copy(other, at, sizes[i]); /* between two places on the card */
        expect(other, "abcdefgh", 8);
        give(at);
        give(other);
    }
}

/* Where operators are not followed, what the host wrote into a page is one range. */
static void writes_widen_a_range(void **state)
{
    char *page = take(2 * MIB);
    (void)state;
    plm_copy(page + 1000, "abcd", 4);
    plm_copy(page + 1008, "efgh", 4);
    assert_true(plm_memory_fresh((uint64_t)page + 1000, 12, 0));
    assert_false(plm_memory_fresh((uint64_t)page + 1008, 8, 0));
    plm_copy(page + 992, "0123", 4);
    assert_true(plm_memory_fresh((uint64_t)page + 992, 20, 0));
    assert_false(plm_memory_fresh((uint64_t)page + 988, 8, 0));
    give(page);
}

static void the_rest_is_zeros(void **state)
{
    static const char zeros[64];
    char *small = take(1000), *large = take(64 * MIB), *page = take(2 * MIB);
    (void)state;
    expect(small, zeros, 64);
    plm_copy(large, "abcdefgh", 8); /* swallowed */
    expect(large, zeros, 8);
    expect(large + 64 * MIB - 8, zeros, 8);
    plm_copy(small, "abcdefgh", 8);
    plm_copy(small, large, 4); /* unknown bytes over known ones */
    expect(small, "\0\0\0\0efgh", 8);
    plm_copy(large, small, 8);
    expect(large, zeros, 8);
    plm_copy(page + 2 * MIB - 4, "tail", 4);
    expect(page + 2 * MIB - 8, "\0\0\0\0tail", 8);
    give(small);
    give(large);
    give(page);
}

static void recycled_memory_is_clear(void **state)
{
    static const char zeros[64];
    char *first = take(600), *keep = take(600), *again;
    (void)state;
    plm_copy(first, "secret", 6);
    plm_copy(keep, "kept", 4);
    give(first);
    again = take(600);
    assert_ptr_equal(again, first);
    expect(again, zeros, 64);
    expect(keep, "kept", 4);
    /* The caching allocator hands a part out anew. */
    plm_copy(keep + 8, "abcdefgh", 8);
    plm_memory_recycle((uint64_t)keep + 8, 4);
    expect(keep, "kept\0\0\0\0\0\0\0\0efgh", 16);
    give(again);
    give(keep);
    first = take(2 * MIB);
    plm_copy(first + MIB, "secret", 6);
    give(first);
    again = take(2 * MIB);
    assert_ptr_equal(again, first);
    expect(again + MIB, zeros, 64);
    give(again);
}

static void fills_and_rows(void **state)
{
    static const char rows[] = "ab..cd..ef..";
    char *at = take(64);
    (void)state;
    plm_fill(at, 'x', 1, 5);
    expect(at, "xxxxx\0", 6);
    plm_fill(at, 0x4241, 2, 2);
    expect(at, "ABABx\0", 6);
    plm_fill(at, 0x44434241, 4, 2);
    expect(at, "ABCDABCD", 8);
    plm_copy_2d(at, 2, rows, 4, 2, 3);
    expect(at, "abcdefCD", 8);
    plm_copy_2d(at, 4, rows, 4, 4, 3);
    expect(at, rows, 12);
    plm_copy(at, rows, 0);
    plm_fill(at, 0, 1, 0);
    give(at);
    at = take(8 * MIB);
    plm_fill(at, 'x', 1, 8 * MIB); /* nothing is behind it */
    expect(at, "\0\0", 2);
    give(at);
}

/* Pages of the host behind device memory. */
static size_t pages_behind(char *at, size_t bytes)
{
    static unsigned char there[2 * MIB / 4096];
    size_t count = 0;
    assert_int_equal(mincore(at, bytes, there), 0);
    for (size_t i = 0; i < bytes / 4096; i++)
        count += there[i] & 1;
    return count;
}

/* Zeros over zeros are known to be written, and take no memory of the host. */
static void zeros_take_no_memory(void **state)
{
    static const char zeros[64];
    char *at = take(2 * MIB);
    size_t pages;
    (void)state;
    plm_fill(at, 0, 4, 2 * MIB / 4);
    assert_int_equal(pages_behind(at, 2 * MIB), 0);
    assert_int_equal(plm_bytes_known(at, 2 * MIB, plm_launch_count()), 2 * MIB);
    plm_copy(at, "first", 5);
    plm_copy(at + MIB - 4, "secrets", 8);
    pages = pages_behind(at, 2 * MIB);
    assert_int_equal(pages, 3);
    plm_fill(at + 2, 0, 1, MIB);
    expect(at, "fi\0\0\0", 5);
    expect(at + MIB - 4, "\0\0\0\0\0\0s", 7); /* zeros up to MIB + 2 */
    plm_memory_recycle((uint64_t)at, 2 * MIB);
    expect(at, zeros, 64);
    expect(at + MIB, zeros, 64);
    plm_fill(at + 100, 'x', 1, 4);
    plm_memory_recycle((uint64_t)at + 102, 2);
    plm_memory_recycle((uint64_t)at + 100, 1);
    expect(at + 99, "\0\0x\0\0", 5);
    give(at);
}

static void mapped_memory(void **state)
{
    uint64_t range = 0, small = 0, large = 0;
    (void)state;
    assert_int_equal(plm_vmm_reserve(6 * MIB, 0, 0, &range), 0);
    assert_int_equal(plm_vmm_create(0, 2 * MIB, &small), 0);
    assert_int_equal(plm_vmm_create(0, 4 * MIB, &large), 0);
    assert_int_equal(plm_vmm_map(range, 2 * MIB, 0, small), 0);
    assert_int_equal(plm_vmm_map(range + 2 * MIB, 4 * MIB, 0, large), 0);
    plm_copy((char *)range, "abcd", 4);
    plm_copy((char *)range + 2 * MIB, "abcd", 4);
    expect((char *)range, "abcd", 4);
    expect((char *)range + 2 * MIB, "\0\0\0\0", 4);
    plm_copy((char *)range + 2 * MIB - 2, "over", 4); /* half of it has nothing behind it: all or nothing */
    expect((char *)range + 2 * MIB - 2, "\0\0\0\0", 4);
    assert_int_equal(plm_vmm_unmap(range, 6 * MIB), 0);
    expect((char *)range, "\0\0\0\0", 4); /* not mapped: reads as zeros, and nothing breaks */
    plm_copy((char *)range, "abcd", 4);
    assert_int_equal(plm_vmm_release(small), 0);
    assert_int_equal(plm_vmm_release(large), 0);
    assert_int_equal(plm_vmm_release_range(range, 6 * MIB), 0);
}

/* ---- reads of what a kernel may have written are recorded ---- */

struct readbacks {
    int count;
    uint64_t bytes;
};

static int visit(const struct plm_record_event *e, void *context)
{
    struct readbacks *r = context;
    if (e->type == PLM_EV_READBACK) {
        r->count++;
        r->bytes = plm_get_readback(e).bytes;
    }
    return 0;
}

static struct readbacks seen(void)
{
    struct readbacks r = {0};
    struct plm_record *record;
    assert_int_equal(plm_record_open(unit_path("copy.plm"), &record, NULL), 0);
    assert_int_equal(plm_record_each(record, visit, &r, NULL), 0);
    plm_record_free(record);
    return r;
}

static void readbacks_are_recorded(void **state)
{
    char *at = take(1000), *other = take(1000), *large = take(4 * MIB), out[16];
    int before = seen().count;
    (void)state;
    plm_copy(at, "abcd", 4);
    plm_copy(out, at, 4);
    assert_int_equal(seen().count, before); /* nothing ran in between */
    plm_launch("kernel");
    plm_copy(out, at, 4);
    assert_int_equal(seen().count, before + 1);
    assert_int_equal(seen().bytes, 4);
    plm_copy(at, "abcd", 4);
    plm_copy(out, other, 8); /* a neighbour that the host never wrote */
    assert_int_equal(seen().count, before + 2);
    plm_copy(out, large, 16);
    assert_int_equal(seen().count, before + 3);
    plm_copy(other, large, 16); /* stays on the card */
    assert_int_equal(seen().count, before + 3);
    give(at);
    give(other);
    give(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_bytes_come_back), cmocka_unit_test(writes_widen_a_range),
        cmocka_unit_test(the_rest_is_zeros),       cmocka_unit_test(recycled_memory_is_clear),
        cmocka_unit_test(fills_and_rows),          cmocka_unit_test(zeros_take_no_memory),
        cmocka_unit_test(mapped_memory),           cmocka_unit_test(readbacks_are_recorded),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
