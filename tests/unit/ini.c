#include "common/ini.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "unit.h"

/* Pairs as "line:section/key=value;". */
static int collect(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    char *out = context;
    size_t n = strlen(out);
    (void)error;
    snprintf(out + n, 512 - n, "%d:%s/%s=%s;", pair->line, pair->section, pair->key, pair->value);
    return 0;
}

static int parse(const char *text, char *out, struct plm_error *error)
{
    out[0] = '\0';
    return plm_ini_parse("f.ini", text, strlen(text), collect, out, error);
}

static void reads_pairs(void **state)
{
    static const struct {
        const char *text, *pairs;
    } rows[] = {
        {"", ""},
        {"\n\n# c\n; c\n  # c\n", ""},
        {"a=1", "1:/a=1;"},
        {"[s]\na = 1\n", "2:s/a=1;"},
        {"[s]\r\n  a\t=  b c  \r\n", "2:s/a=b c;"},
        {"[mig 1g.5gb]\na=1\n[t]\na=2", "2:mig 1g.5gb/a=1;4:t/a=2;"},
        {"a = b = c # d\n", "1:/a=b = c # d;"},
    };
    char out[512];
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(parse(rows[i].text, out, &error), 0);
        assert_string_equal(out, rows[i].pairs);
    }
}

static void refuses_the_rest(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"word\n", "f.ini:1: expected 'key = value'"},  {"a=1\n= 2\n", "f.ini:2: expected 'key = value'"},
        {"\na =\n", "f.ini:2: 'a' has no value"},       {"[s\n", "f.ini:1: write a section as [name]"},
        {"[]\n", "f.ini:1: write a section as [name]"},
    };
    char out[512];
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(parse(rows[i].text, out, &error), PLM_EFORMAT);
        assert_contains(error.text, rows[i].message);
    }
    assert_int_equal(parse("word", out, NULL), PLM_EFORMAT); /* the sentence is not wanted */
}

static void refuses_what_is_no_text(void **state)
{
    struct plm_error error;
    char out[512] = "", *line = malloc(6000);
    (void)state;
    assert_int_equal(plm_ini_parse("f.ini", "a=\0b", 4, collect, out, &error), PLM_EFORMAT);
    assert_contains(error.text, "f.ini:1: this is not a text file");
    memset(line, 'a', 6000);
    line[1] = '=';
    assert_int_equal(plm_ini_parse("f.ini", line, 6000, collect, out, &error), PLM_EFORMAT);
    assert_contains(error.text, "f.ini:1: the line is too long");
    free(line);
}

static int stop(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    (void)context;
    return plm_fail(error, PLM_EINVAL, "stopped at line %d", pair->line);
}

static void visitor_stops(void **state)
{
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_ini_parse("f.ini", "a=1\nb=2", 7, stop, NULL, &error), PLM_EINVAL);
    assert_string_equal(error.text, "stopped at line 1");
}

static void reads_files(void **state)
{
    struct plm_error error;
    char out[512] = "";
    (void)state;
    unit_write(unit_path("good.ini"), "[s]\na=1\n", 8);
    assert_int_equal(plm_ini_read(unit_path("good.ini"), collect, out, &error), 0);
    assert_string_equal(out, "2:s/a=1;");
    assert_int_equal(plm_ini_read(unit_path("absent.ini"), collect, out, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "absent.ini");
    assert_int_equal(plm_ini_read(unit_folder(), collect, out, &error), PLM_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_pairs),   cmocka_unit_test(refuses_the_rest), cmocka_unit_test(refuses_what_is_no_text),
        cmocka_unit_test(visitor_stops), cmocka_unit_test(reads_files),
    };
    return RUN(tests);
}
