/* The writers under the exports: output, pickles read back by Python, segments of lanes that are made up. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/job.h"
#include "common/error.h"
#include "export/values.h"
#include "analysis/layout.h"
#include "export/out.h"
#include "export/pickle.h"
#include "unit.h"

static struct plm_out out;
static int fd;

static void begin(const char *name)
{
    fd = open(unit_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    plm_out_open(&out, fd);
}

static void finish(void)
{
    assert_int_equal(plm_out_close(&out), 0);
    close(fd);
}

/* ---- output ---- */

static void numbers(void **state)
{
    static const uint64_t values[] = {0, 9, 10, 99, 100, 12345, 999999999, UINT32_MAX, UINT64_MAX};
    char expected[400] = "", *text;
    (void)state;
    begin("numbers");
    for (size_t i = 0; i < COUNT(values); i++) {
        plm_out_u64(&out, values[i]);
        plm_out_byte(&out, ' ');
        plm_out_hex(&out, values[i]);
        plm_out_byte(&out, '\n');
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%llu 0x%llx\n",
                 (unsigned long long)values[i], (unsigned long long)values[i]);
    }
    plm_out_us(&out, 1234056);
    finish();
    strcat(expected, "1234.056");
    text = unit_read(unit_path("numbers"), NULL);
    assert_string_equal(text, expected);
    free(text);
}

static void quoting(void **state)
{
    char *text;
    (void)state;
    begin("quoting");
    plm_out_json(&out, "a\"b\\c\n\t\x01\x7f\xff\xc3\xa9");
    plm_out_byte(&out, '\n');
    plm_out_csv(&out, "plain");
    plm_out_byte(&out, ' ');
    plm_out_csv(&out, "a,\"b\"\xff");
    plm_out_csv(&out, "c,d"); /* RFC 4180 */
    finish();
    text = unit_read(unit_path("quoting"), NULL);
    assert_string_equal(text,
                        "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\xef\xbf\xbd\xc3\xa9\"\nplain \"a,\"\"b\"\"\\xff\"\"c,d\"");
    free(text);
}

/* More than the buffer, in pieces that do not divide it, and at once. */
static void large(void **state)
{
    char *piece = malloc(3 * PLM_OUT_BYTES), *text;
    size_t size;
    (void)state;
    assert_non_null(piece);
    memset(piece, 'x', 3 * PLM_OUT_BYTES);
    begin("large");
    for (int i = 0; i < 3000; i++)
        plm_out_bytes(&out, piece, 997);
    plm_out_bytes(&out, piece, 3 * PLM_OUT_BYTES);
    plm_out_byte(&out, 'y');
    finish();
    text = unit_read(unit_path("large"), &size);
    assert_int_equal(size, 3000 * 997 + 3 * PLM_OUT_BYTES + 1);
    assert_int_equal(strspn(text, "x"), size - 1);
    free(text);
    free(piece);
}

static void full_disk(void **state)
{
    int full = open("/dev/full", O_WRONLY);
    (void)state;
    assert_true(full >= 0);
    plm_out_open(&out, full);
    plm_out_text(&out, "lost");
    assert_int_equal(plm_out_close(&out), PLM_EIO);
    close(full);
}

/* ---- pickles ---- */

/* Python reads the pickle and finds that `expression` of it, d, is true. */
static void python(const char *name, const char *expression)
{
    char command[8192];
    snprintf(command, sizeof command,
             "python3 -c \"import pickle, pickletools, sys; b = open(sys.argv[1], 'rb').read(); "
             "pickletools.dis(b, open('/dev/null', 'w')); d = pickle.loads(b); sys.exit(not (%s))\" '%s'",
             expression, unit_path(name));
    if (system(command))
        fail_msg("not so: %s", expression);
}

static void pickle_values(void **state)
{
    static const uint64_t values[] = {0,          255,        256,        65535,      65536,
                                      INT32_MAX,  1ull << 31, 1ull << 32, 1ull << 39, (1ull << 47) - 1,
                                      1ull << 62, 1ull << 63, UINT64_MAX};
    struct plm_pickle p;
    (void)state;
    begin("values");
    plm_pickle_start(&p, &out);
    plm_pickle_list(&p);
    for (size_t i = 0; i < COUNT(values); i++) {
        plm_pickle_item(&p);
        plm_pickle_unsigned(&p, values[i]);
    }
    plm_pickle_item(&p);
    plm_pickle_bool(&p, true);
    plm_pickle_item(&p);
    plm_pickle_unsigned(&p, 1);
    plm_pickle_unsigned(&p, 2);
    plm_pickle_pair(&p);
    plm_pickle_end_list(&p);
    plm_pickle_finish(&p);
    finish();
    python("values",
           "b[:2] == b'\\x80\\x04' and d == [0, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**39, 2**47 - 1, "
           "2**62, 2**63, 2**64 - 1, True, (1, 2)]");
}

/* Strings of all lengths, each written once; 300 kept objects need the long reference. */
static void pickle_strings(void **state)
{
    struct plm_pickle p;
    char text[400];
    (void)state;
    begin("strings");
    plm_pickle_start(&p, &out);
    plm_pickle_list(&p);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 300; i++) {
            memset(text, 'a' + i % 26, (size_t)i);
            text[i] = '\0';
            plm_pickle_item(&p);
            plm_pickle_text(&p, text);
        }
    plm_pickle_item(&p);
    plm_pickle_text(&p, "\xff\xc3\xa9\xed\xa0\x80");
    plm_pickle_end_list(&p);
    plm_pickle_finish(&p);
    finish();
    python("strings", "d[:300] == d[300:600] == [chr(97 + i % 26) * i for i in range(300)] and "
                      "all(x is y for x, y in zip(d[2:300], d[302:600])) and "
                      "d[600] == '@xff\\u00e9@xed@xa0@x80'.replace('@', chr(92)) and len(b) < 50000");
}

/* Batches of a long list, lists and dicts in each other, an object that is shared. */
static void pickle_groups(void **state)
{
    struct plm_pickle p;
    uint32_t shared;
    (void)state;
    begin("groups");
    plm_pickle_start(&p, &out);
    plm_pickle_dict(&p);
    plm_pickle_text(&p, "shared");
    plm_pickle_list(&p);
    plm_pickle_end_list(&p);
    shared = plm_pickle_keep(&p);
    plm_pickle_text(&p, "long");
    plm_pickle_list(&p);
    for (unsigned i = 0; i < 2500; i++) {
        plm_pickle_item(&p);
        plm_pickle_dict(&p);
        plm_pickle_text(&p, "i");
        plm_pickle_unsigned(&p, i);
        plm_pickle_text(&p, "list");
        if (i % 2) {
            plm_pickle_list(&p);
            plm_pickle_item(&p);
            plm_pickle_unsigned(&p, i);
            plm_pickle_end_list(&p);
        } else
            plm_pickle_again(&p, shared);
        plm_pickle_end_dict(&p);
    }
    plm_pickle_end_list(&p);
    plm_pickle_text(&p, "empty");
    plm_pickle_dict(&p);
    plm_pickle_end_dict(&p);
    plm_pickle_end_dict(&p);
    plm_pickle_finish(&p);
    finish();
    python("groups",
           "d['empty'] == {} and d['long'] == [dict(i=i, list=[i] if i % 2 else []) for i in range(2500)] and "
           "all(x['list'] is d['shared'] for x in d['long'][::2])");
}

/* ---- the table of events ---- */

/* Each type has a name and its fields lie within what the least payload or its longest one can hold. */
static void shapes(void **state)
{
    (void)state;
    for (int type = 1; type < PLM_EV_TYPES; type++) {
        const struct plm_export_event_shape *shape = plm_export_event_shape((enum plm_record_event_type)type);
        assert_non_null(shape->name);
        for (int other = 1; other < type; other++)
            assert_string_not_equal(shape->name, plm_export_event_shape((enum plm_record_event_type)other)->name);
        for (const struct plm_column *c = shape->column; c->kind; c++) {
            assert_true(*plm_column_type(c));
            for (const struct plm_column *before = shape->column; before < c; before++)
                assert_string_not_equal(c->name, before->name);
        }
        for (const struct plm_field *f = plm_record_event_row((enum plm_record_event_type)type)->field; f->kind; f++) {
            assert_int_equal(f->bit / 64, (f->bit + f->bits - 1) / 64); /* within a word */
            assert_true((f->kind == PLM_FIELD_NAME) == (f->values != NULL));
        }
    }
}

static enum plm_export_value_type type_of(const struct plm_ev_collective *said, const char *name)
{
    const struct plm_record_event e = {
        .type = PLM_EV_COLLECTIVE, .words = (const uint64_t *)(const void *)said, .count = sizeof *said / 8};
    const struct plm_column *c = plm_export_event_shape(PLM_EV_COLLECTIVE)->column;
    struct plm_export_values v;
    enum plm_export_value_type type;
    while (c->kind && strcmp(c->name, name))
        c++;
    assert_true(c->kind);
    plm_export_values_begin(&v, NULL);
    type = plm_export_values_get(&v, c, &e).type;
    plm_export_values_free(&v);
    return type;
}

/* docs/record.md: of a collective that does not reduce the operation is 255, of one without a root that is 0xffffffff. */
static void numbers_that_are_absent(void **state)
{
    const _Alignas(8) struct plm_ev_collective none = {.reduction = 255, .root = UINT32_MAX},
                                               sum = {.reduction = 0, .root = 0};
    (void)state;
    assert_int_equal(type_of(&none, "reduction"), PLM_VALUE_ABSENT);
    assert_int_equal(type_of(&none, "root"), PLM_VALUE_ABSENT);
    assert_int_equal(type_of(&sum, "reduction"), PLM_VALUE_NUMBER);
    assert_int_equal(type_of(&sum, "root"), PLM_VALUE_NUMBER);
}

/* ---- segments ---- */

enum { BLOCKS = 16 };
static struct plm_block block[BLOCKS];
static struct plm_lane_segment segment[BLOCKS];
static uint32_t order[2 * BLOCKS];
static struct plm_lane lane;

static void new_lane(void)
{
    lane = (struct plm_lane){.block = block, .order = order, .segment = segment};
}

static void add_segment(uint64_t address, uint64_t bytes, enum plm_record_memory kind)
{
    segment[lane.segments++] = (struct plm_lane_segment){.address = address,
                                                         .bytes = bytes,
                                                         .alloc_at = (uint32_t)lane.moments,
                                                         .free_at = PLM_MOMENT_NEVER,
                                                         .kind = kind};
}

static void add_block(uint64_t address, uint64_t bytes)
{
    block[lane.blocks] = (struct plm_block){
        .address = address, .bytes = bytes, .alloc_at = (uint32_t)lane.moments, .free_at = PLM_MOMENT_NEVER};
    order[lane.moments++] = (uint32_t)lane.blocks++ << 1;
}

static void free_block(uint32_t number)
{
    block[number].free_at = (uint32_t)lane.moments;
    order[lane.moments++] = number << 1 | 1;
}

static struct plm_layout made(uint32_t moment)
{
    struct plm_layout layout;
    plm_layout_make(&lane, moment, &layout);
    for (size_t i = 0; i < layout.segments; i++) {
        const struct plm_layout_segment *s = &layout.segment[i];
        assert_true(s->bytes && s->address + s->bytes > s->address);
        assert_true(!i || s[-1].address + s[-1].bytes <= s->address);
    }
    return layout;
}

static void assert_segment(const struct plm_layout *layout, size_t number, uint64_t address, uint64_t bytes)
{
    assert_true(number < layout->segments);
    assert_int_equal(layout->segment[number].address, address);
    assert_int_equal(layout->segment[number].bytes, bytes);
}

/* Memory of libraries and what no block was ever in is not the allocator's. */
static void segments_of_the_allocator(void **state)
{
    struct plm_layout layout;
    (void)state;
    new_lane();
    add_segment(100 * MIB, 20 * MIB, PLM_RECORD_MALLOC);
    add_block(100 * MIB, 4 * MIB);
    add_segment(200 * MIB, 6 * MIB, PLM_RECORD_LIBRARY);
    add_segment(300 * MIB, 6 * MIB, PLM_RECORD_MALLOC); /* the user's own */
    add_segment(400 * MIB, 2 * MIB, PLM_RECORD_MALLOC);
    add_block(400 * MIB, 512);
    free_block(1);
    segment[3].free_at = (uint32_t)lane.moments;
    add_block(110 * MIB, 4 * MIB);

    layout = made(0);
    assert_int_equal(layout.segments, 1);
    assert_int_equal(layout.events, 1);
    plm_layout_free(&layout);
    layout = made(1);
    assert_int_equal(layout.segments, 2);
    assert_segment(&layout, 1, 400 * MIB, 2 * MIB);
    assert_true(layout.segment[1].small && !layout.segment[0].small);
    plm_layout_free(&layout);
    layout = made(UINT32_MAX);
    assert_int_equal(layout.segments, 1);
    assert_segment(&layout, 0, 100 * MIB, 20 * MIB);
    assert_int_equal(layout.events, 3);
    assert_int_equal(layout.event[2].action, PLM_LAYOUT_FREE);
    plm_layout_free(&layout);
}

/* Pages of 20 MiB: mapped behind each other, unmapped where no block is left, mapped again over the hole. */
static void mapped_segments(void **state)
{
    struct plm_layout layout;
    (void)state;
    new_lane();
    add_segment(1, 20 * MIB, PLM_RECORD_VMM);
    add_segment(2, 20 * MIB, PLM_RECORD_VMM);
    add_block(GIB, 30 * MIB);
    add_segment(3, 20 * MIB, PLM_RECORD_VMM);
    add_block(GIB + 30 * MIB, 20 * MIB);
    layout = made(UINT32_MAX);
    assert_int_equal(layout.segments, 1);
    assert_segment(&layout, 0, GIB, 60 * MIB);
    plm_layout_free(&layout);

    free_block(0);
    segment[0].free_at = (uint32_t)lane.moments; /* the first page goes; the block is in the others */
    layout = made(UINT32_MAX);
    assert_int_equal(layout.segments, 1);
    assert_segment(&layout, 0, GIB + 20 * MIB, 40 * MIB);
    plm_layout_free(&layout);

    add_segment(4, 20 * MIB, PLM_RECORD_VMM);
    add_block(GIB, 25 * MIB);
    layout = made(UINT32_MAX);
    assert_int_equal(layout.segments, 1);
    assert_segment(&layout, 0, GIB, 60 * MIB);
    assert_int_equal(layout.event[layout.events - 1].action, PLM_LAYOUT_MAP);
    assert_int_equal(layout.event[layout.events - 1].bytes, 20 * MIB);
    plm_layout_free(&layout);
}

/* Whatever the addresses and sizes are, segments do not overlap. made() looks. */
static void odd_segments(void **state)
{
    static const uint64_t addresses[] = {
        0, 1, MIB, 3 * MIB, 100 * MIB, 101 * MIB, GIB - 1, 1ull << 63, UINT64_MAX / 2, UINT64_MAX - 7, UINT64_MAX};
    static const uint64_t sizes[] = {0, 1, 512, 2 * MIB, 20 * MIB, 1ull << 40, UINT64_MAX - 5, UINT64_MAX};
    unsigned seed = 1;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct plm_layout layout;
        new_lane();
        for (int i = 0; i < 8; i++) {
            uint64_t address = addresses[rand_r(&seed) % COUNT(addresses)] + (uint64_t)(rand_r(&seed) % 3) * MIB;
            uint64_t bytes = sizes[rand_r(&seed) % COUNT(sizes)];
            int what = rand_r(&seed) % 4;
            if (what < 2)
                add_segment(address, bytes, (enum plm_record_memory)(rand_r(&seed) % 3));
            else if (what == 2)
                add_block(address, bytes);
            else if (lane.blocks && block[lane.blocks - 1].free_at == PLM_MOMENT_NEVER)
                free_block((uint32_t)lane.blocks - 1);
            if (lane.segments && rand_r(&seed) % 4 == 0)
                segment[rand_r(&seed) % lane.segments].free_at = (uint32_t)lane.moments;
        }
        layout = made(rand_r(&seed) % 2 ? UINT32_MAX : 3);
        plm_layout_free(&layout);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),         cmocka_unit_test(quoting),
        cmocka_unit_test(large),           cmocka_unit_test(full_disk),
        cmocka_unit_test(pickle_values),   cmocka_unit_test(pickle_strings),
        cmocka_unit_test(pickle_groups),   cmocka_unit_test(shapes),
        cmocka_unit_test(mapped_segments), cmocka_unit_test(segments_of_the_allocator),
        cmocka_unit_test(odd_segments),    cmocka_unit_test(numbers_that_are_absent),
    };
    return RUN(tests);
}
