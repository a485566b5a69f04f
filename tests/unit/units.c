#include "base/units.h"

#include "common/error.h"
#include "unit.h"

static void parses(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {
        {"24GB", 24000000000ull},
        {"24GiB", 24 * GIB},
        {"24g", 24 * GIB},
        {"24G", 24 * GIB},
        {"512 MiB", 512 * MIB},
        {"1.5g", 3 * GIB / 2},
        {"1048576", MIB},
        {"1048576b", MIB},
        {"0", 0},
        {".5k", 512},
        {"1tb", 1000000000000ull},
        {"1T", 1ull << 40},
        {"7 KB", 7000},
        {"16777215 TiB", 16777215ull << 40},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t bytes = 99;
        assert_int_equal(plm_size_parse(rows[i].text, &bytes), 0);
        assert_int_equal(bytes, rows[i].bytes);
    }
}

static void refuses(void **state)
{
    static const char *const rows[] = {"",    " ",       "GB",    "-1",        "+1",
                                       "1x",  "24 GiBs", "1 G B", "1e400",     "0x10",
                                       "1e3", ".",       "1..2",  "16777216T", "99999999999999999999",
                                       "nan", "inf",     "1,5g"};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t bytes = 99;
        if (plm_size_parse(rows[i], &bytes) != PLM_EINVAL)
            fail_msg("'%s' was accepted", rows[i]);
        assert_int_equal(bytes, 99);
    }
}

/* Below a million a bare number was meant in another unit; from there on it can be bytes. */
static void units_missing(void **state)
{
    static const char *const lack[] = {"1", "22", "1000", "22.5", "999999"}, *const good[] = {"0",           "1000000",
                                                                                              "25769803776", "22g",
                                                                                              "22 GiB",      "1k",
                                                                                              "5e3",         "x"};
    (void)state;
    for (size_t i = 0; i < COUNT(lack); i++)
        assert_true(plm_size_lacks_unit(lack[i]));
    for (size_t i = 0; i < COUNT(good); i++)
        assert_false(plm_size_lacks_unit(good[i]));
}

static void counts(void **state)
{
    char text[32];
    (void)state;
    assert_string_equal(plm_count_text(text, sizeof text, 0), "0");
    assert_string_equal(plm_count_text(text, sizeof text, 999), "999");
    assert_string_equal(plm_count_text(text, sizeof text, 9643), "9,643");
    assert_string_equal(plm_count_text(text, sizeof text, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void durations(void **state)
{
    static const struct {
        double ns;
        const char *text;
    } rows[] = {{0, "0 ns"},        {999, "999 ns"},     {999.6, "1.00 us"}, {12345, "12.3 us"},  {99950, "100 us"},
                {999499, "999 us"}, {999600, "1.00 ms"}, {182e6, "182 ms"},  {999.6e6, "1.00 s"}, {3600e9, "3600 s"}};
    char text[32];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(plm_duration_text(text, sizeof text, rows[i].ns), rows[i].text);
}

static void operations(void **state)
{
    static const struct {
        double flops;
        const char *text;
    } rows[] = {{0, "0 FLOP"},           {999, "999 FLOP"},       {1e6, "1.00 MFLOP"},      {950e9, "950 GFLOP"},
                {999.6e9, "1.00 TFLOP"}, {7.15e12, "7.15 TFLOP"}, {31.44e12, "31.4 TFLOP"}, {1.074e15, "1.07 PFLOP"},
                {2.5e21, "2500 EFLOP"}};
    char text[32];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(plm_flops_text(text, sizeof text, rows[i].flops), rows[i].text);
}

static void shows(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},
        {96, "96 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {18 * KIB, "18.0 KiB"},
        {MIB - 1, "1.0 MiB"},
        {512 * MIB, "512.0 MiB"},
        {3887071232, "3.6 GiB"},
        {GIB - 1, "1.0 GiB"},
        {UINT64_MAX, "16777216.0 TiB"},
    };
    char text[32];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(plm_size_text(text, sizeof text, rows[i].bytes), rows[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parses),       cmocka_unit_test(refuses),
                                       cmocka_unit_test(shows),        cmocka_unit_test(counts),
                                       cmocka_unit_test(durations),    cmocka_unit_test(operations),
                                       cmocka_unit_test(units_missing)};
    return RUN(tests);
}
