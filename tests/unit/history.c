/* What is read from memory snapshots: written here as Python shows them, with what PyTorch's allocator would have done. */
#include "import/history.h"

#include <stdio.h>
#include <stdlib.h>

#include "allocator/settings.h"
#include "common/error.h"
#include "base/unpickle.h"
#include "unit.h"

/* ---- pickles of what Python would print ---- */

static void put_text(FILE *out, const char *text, size_t n)
{
    const unsigned char head[] = {'X', (unsigned char)n, (unsigned char)(n >> 8), 0, 0};
    fwrite(head, 1, sizeof head, out);
    fwrite(text, 1, n, out);
}

static void put_number(FILE *out, uint64_t number)
{
    unsigned char bytes[] = {0x8a, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}; /* LONG1: nine bytes, the lowest first */
    for (int i = 0; i < 8; i++)
        bytes[2 + i] = (unsigned char)(number >> 8 * i);
    fwrite(bytes, 1, sizeof bytes, out);
}

/* Dicts, lists, tuples, texts in single quotes and numbers. */
static void pickle(FILE *out, const char *python)
{
    static const char *const codes[] = {['{'] = "}(", ['}'] = "u", ['['] = "](", [']'] = "e", ['('] = "(", [')'] = "t"};
    fputs("\x80\x02", out);
    for (const char *p = python; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        char *end;
        if (c < COUNT(codes) && codes[c])
            fputs(codes[c], out);
        else if (c == '\'') {
            const char *text = p + 1;
            p = strchr(text, '\'');
            put_text(out, text, (size_t)(p - text));
        } else if (c >= '0' && c <= '9') {
            put_number(out, strtoull(p, &end, 0));
            p = end - 1;
        }
    }
    fputc('.', out);
}

static struct plm_history history;

static int try(const char *python, struct plm_error *error)
{
    struct plm_unpickled *read;
    char *bytes = NULL;
    size_t size;
    FILE *out = open_memstream(&bytes, &size);
    int status;
    assert_non_null(out);
    pickle(out, python);
    fclose(out);
    if (plm_unpickle(bytes, size, &read, error))
        fail_msg("%s", error->text);
    status = plm_history_read(read, &history, error);
    plm_unpickle_free(read);
    free(bytes);
    return status;
}

/* Of one device. */
static const struct plm_history_device *read_parts(const char *settings, const char *segments, const char *events)
{
    struct plm_error error = {0};
    char python[8192];
    assert_true((size_t)snprintf(python, sizeof python,
                                 "{'segments': [%s], 'device_traces': [[%s]], 'allocator_settings': {%s}}", segments,
                                 events, settings) < sizeof python);
    if (try(python, &error))
        fail_msg("%s", error.text);
    assert_int_equal(history.devices, 1);
    return &history.device[0];
}

/* An event with the fields that all have. */
#define EVENT(action, address, bytes) \
    "{'action': '" action "', 'addr': " #address ", 'size': " #bytes ", 'stream': 0, 'time_us': 100, 'frames': []},"
#define SEGMENT(address, bytes, blocks)                                                                            \
    "{'device': 0, 'address': " #address ", 'total_size': " #bytes ", 'allocated_size': " #bytes ", 'stream': 0, " \
    "'segment_type': 'large', 'is_expandable': 0, 'blocks': [" blocks "]},"
#define BLOCK(address, bytes, state) \
    "{'address': " #address ", 'size': " #bytes ", 'state': '" state "', 'frames': []},"

static const struct plm_history_block *block_at(const struct plm_history_device *d, uint64_t address)
{
    const size_t k = plm_history_block_before(d, address);
    assert_true(k < d->blocks);
    assert_int_equal(d->block[k].address, address);
    return &d->block[k];
}

/* ---- sizes ---- */

/* PyTorch leaves a large block what is left of its segment unless that is more than 1 MiB (kSmallSize). A block that is
   only freed in the history tells what was asked for; that what is handed out behind it, up to 1 MiB further on, begins
   where it ends. In a segment of 20 MiB: 3 MiB freed at its start, what follows after `gap`. */
static void ends_of_blocks(void **state)
{
    static const struct {
        const char *events;
        uint64_t bytes;
        bool known, unsure;
    } rows[] = {
        /* 1 MiB behind its end: a rest that is not split off */
        {EVENT("alloc", 0x20400000, 0x200000) EVENT("free_requested", 0x20000000, 0x300000), 4 * MIB, true, false},
        /* 512 bytes more: a free block may be between them */
        {EVENT("alloc", 0x20400200, 0x200000) EVENT("free_requested", 0x20000000, 0x300000), 3 * MIB, false, true},
        /* at its end */
        {EVENT("alloc", 0x20300000, 0x200000) EVENT("free_requested", 0x20000000, 0x300000), 3 * MIB, true, false},
        /* handed out only after it was freed, of what it was: nothing is told */
        {EVENT("free_requested", 0x20000000, 0x300000) EVENT("free_completed", 0x20000000, 0x300000)
             EVENT("alloc", 0x20380000, 0x200000),
         3 * MIB, false, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plm_history_device *d = read_parts("", SEGMENT(0x20000000, 0x1400000, ""), rows[i].events);
        const struct plm_history_block *b = block_at(d, 0x20000000);
        assert_int_equal(b->bytes, rows[i].bytes);
        assert_int_equal(b->known, rows[i].known);
        assert_int_equal(d->unsure, rows[i].unsure);
        plm_history_free(&history);
    }
}

/* What is left at the end of the segment: of 4 MiB 1 MiB, which is part of the block, and of a byte more it is not known.
   Blocks of max_split_size or more are never split. */
static void rests_of_segments(void **state)
{
    static const struct {
        const char *settings, *segment;
        uint64_t bytes;
        bool known;
    } rows[] = {
        {"", SEGMENT(0x20000000, 0x400000, ""), 4 * MIB, true},
        {"", SEGMENT(0x20000000, 0x400200, ""), 3 * MIB, false},
        {"'max_split_size': 0x300000", SEGMENT(0x20000000, 0x1400000, ""), 20 * MIB, true},
        {"'max_split_size': 0x300200", SEGMENT(0x20000000, 0x1400000, ""), 3 * MIB, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plm_history_device *d =
            read_parts(rows[i].settings, rows[i].segment, EVENT("free_requested", 0x20000000, 0x300000));
        const struct plm_history_block *b = block_at(d, 0x20000000);
        assert_int_equal(b->bytes, rows[i].bytes);
        assert_int_equal(b->known, rows[i].known);
        assert_int_equal(d->unsure, !rows[i].known);
        plm_history_free(&history);
    }
}

/* A block of the end that the history does not name was there all the time; so was one that is only taken back. One that
   is handed out was not, and free memory is none. */
static void blocks_before(void **state)
{
    const struct plm_history_device *d = read_parts(
        "",
        SEGMENT(0x20000000, 0x1400000,
                BLOCK(0x20000000, 0x200000, "active_allocated") BLOCK(0x20200000, 0x200000, "active_pending_free")
                    BLOCK(0x20400000, 0x200000, "active_allocated") BLOCK(0x20600000, 0xe00000, "inactive")),
        EVENT("alloc", 0x20400000, 0x200000) EVENT("free_completed", 0x20600000, 0x100200)
            EVENT("free_completed", 0x20800000, 700));
    (void)state;
    assert_int_equal(d->blocks, 4);
    assert_int_equal(block_at(d, 0x20000000)->until, SIZE_MAX);
    assert_true(block_at(d, 0x20000000)->known && !block_at(d, 0x20000000)->pending);
    assert_true(block_at(d, 0x20200000)->pending);
    assert_int_equal(block_at(d, 0x20600000)->until, 1);
    assert_true(block_at(d, 0x20600000)->pending);
    assert_int_equal(block_at(d, 0x20800000)->bytes, 1024); /* kMinBlockSize: a multiple of 512 */
    assert_int_equal(plm_history_block_before(d, 0x1fffffff), SIZE_MAX);
    assert_int_equal(d->end_reserved, 20 * MIB);
    plm_history_free(&history);
}

/* ---- memory of the card ---- */

/* The end, undone: a segment that was made was not there, one that was given back was. Of expandable segments pages of 2
   MiB come and go, and what is left of them next to each other is one range. */
static void ranges_before(void **state)
{
#define EXPANDABLE                                                                                                    \
    "{'device': 0, 'address': 0x40000000, 'total_size': 0x800000, 'allocated_size': 0, 'stream': 0, 'segment_type': " \
    "'large', 'is_expandable': 1, 'blocks': []},"
    const struct plm_history_device *d =
        read_parts("", SEGMENT(0x20000000, 0x200000, "") SEGMENT(0x30000000, 0x1400000, "") EXPANDABLE,
                   EVENT("segment_free", 0x10000000, 0x200000) EVENT("segment_alloc", 0x30000000, 0x1400000)
                       EVENT("segment_map", 0x40600000, 0x200000) EVENT("segment_unmap", 0x40800000, 0x200000)
                           EVENT("segment_unmap", 0x40a00000, 0x1400000));
    static const struct {
        uint64_t address, bytes;
        bool expandable, small;
    } rows[] = {{0x10000000, 2 * MIB, false, true}, /* kSmallBuffer: of small blocks */
                {0x20000000, 2 * MIB, false, false},
                {0x40000000, 6 * MIB, true, false},
                {0x40800000, 2 * MIB, true, true}, /* kSmallBuffer again */
                {0x40a00000, 20 * MIB, true, false}};
    (void)state;
    assert_int_equal(d->ranges, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(d->range[i].address, rows[i].address);
        assert_int_equal(d->range[i].bytes, rows[i].bytes);
        assert_int_equal(d->range[i].expandable, rows[i].expandable);
        assert_int_equal(d->range[i].small, rows[i].small);
    }
    assert_int_equal(d->end_reserved, (2 + 20 + 8) * MIB);
    assert_int_equal(d->of[PLM_HISTORY_SEGMENT_ALLOC], 1);
    plm_history_free(&history);
}

/* Up to 2.10 no event tells its private pool: the segment does, from the event on that made it. */
static void pools(void **state)
{
    static const char segment[] = "{'device': 0, 'address': 0x20000000, 'total_size': 0x200000, 'allocated_size': 0, "
                                  "'stream': 0, 'segment_pool_id': "
                                  "(0, 7), 'blocks': []},";
    const struct plm_history_device *d =
        read_parts("", segment,
                   EVENT("alloc", 0x20000000, 512) EVENT("segment_alloc", 0x20000000, 0x200000)
                       EVENT("alloc", 0x201ffe00, 512) EVENT("alloc", 0x20200000, 512));
    (void)state;
    assert_false(history.has_pools);
    assert_int_equal(d->event[0].pool, 0);
    assert_int_equal(d->event[1].pool, 7);
    assert_int_equal(d->event[2].pool, 7);
    assert_int_equal(d->event[3].pool, 0); /* the first byte behind it */
    plm_history_free(&history);
    d = read_parts("", segment,
                   "{'action': 'alloc', 'addr': 0x20000000, 'size': 512, 'time_us': 3, 'pool_id': (1, 2)}");
    assert_true(history.has_pools);
    assert_int_equal(d->event[0].pool, 1ull << 32 | 2);
    plm_history_free(&history);
}

/* ---- settings ---- */

/* As torch.cuda.memory_snapshot() lists them: divisions by MiB from 1 to 65536 in powers of two, each a power of two. */
static void settings(void **state)
{
    const struct plm_allocator_settings *s = &history.settings;
    (void)state;
    read_parts(
        "'PYTORCH_CUDA_ALLOC_CONF': 'max_split_size_mb:200', 'max_split_size': 209715200, "
        "'garbage_collection_threshold': 0, 'expandable_segments': 0, 'roundup_power2_divisions': {'1': 2, '2': 4, "
        "'4': 1, '16': 3, '32': 8, '64': 0x100000, '32768': 16, '65536': 32}",
        "", EVENT("oom", 0, 0));
    assert_string_equal(history.allocator, "max_split_size_mb:200");
    assert_int_equal(s->max_split_size, 200 * MIB);
    assert_false(s->expandable);
    assert_int_equal(s->roundup[0], 2);
    assert_int_equal(s->roundup[1], 4);
    assert_int_equal(s->roundup[2], 1);
    assert_int_equal(s->roundup[3], 0);
    assert_int_equal(s->roundup[4], 0); /* 3 is no power of two */
    assert_int_equal(s->roundup[5], 8);
    assert_int_equal(s->roundup[6], 0); /* too many */
    assert_int_equal(s->roundup[15], 16);
    assert_int_equal(PLM_ROUNDUP_INTERVALS, 16); /* kRoundUpPowerOfTwoIntervals */
    plm_history_free(&history);
    /* Nothing is listed of the settings: those of the text; the newer name of the variable counts too. */
    read_parts("'PYTORCH_ALLOC_CONF': 'expandable_segments:True'", "", EVENT("oom", 0, 0));
    assert_string_equal(history.allocator, "expandable_segments:True");
    assert_true(s->expandable);
    assert_int_equal(s->max_split_size, UINT64_MAX);
    plm_history_free(&history);
    read_parts("'PYTORCH_ALLOC_CONF': 'expandable_segments:True', 'expandable_segments': 0", "", EVENT("oom", 0, 0));
    assert_false(s->expandable);
    plm_history_free(&history);
    read_parts("", "", EVENT("oom", 0, 0));
    assert_string_equal(history.allocator, "default");
    plm_history_free(&history);
}

/* ---- refusals ---- */

static void refused(void **state)
{
#define OF(events, segments) "{'segments': [" segments "], 'device_traces': [[" events "]]}"
    static const struct {
        const char *python, *why;
    } rows[] = {
        {OF("{'action': 'alloc', 'addr': 512, 'time_us': 1}", ""), "event 0 of device 0 has no valid size or address"},
        {OF(EVENT("alloc", 512, 512) "{'action': 'alloc', 'size': 512}", ""),
         "event 1 of device 0 has no valid size or address"},
        {OF(EVENT("alloc", 512, 0x1000000000001), ""), "has an impossible size of 281474976710657 bytes"},
        {OF("3", ""), "an event is not a dict"},
        {OF(EVENT("alloc", 512, 512), SEGMENT(0x200, 0x1000000000001, "")),
         "a segment cannot have 281474976710657 bytes"},
        {OF(EVENT("segment_map", 0x40000000, 0x1000000000000), ""), "describes more memory than possible"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_error error = {0};
        assert_int_equal(try(rows[i].python, &error), PLM_EFORMAT);
        assert_contains(error.text, rows[i].why);
        plm_history_free(&history);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_blocks), cmocka_unit_test(rests_of_segments),
        cmocka_unit_test(blocks_before),  cmocka_unit_test(ranges_before),
        cmocka_unit_test(pools),          cmocka_unit_test(settings),
        cmocka_unit_test(refused),
    };
    return RUN(tests);
}
