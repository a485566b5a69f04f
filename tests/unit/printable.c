#include "common/printable.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/draw.h"
#include "base/json.h"
#include "unit.h"

/* U+202E, U+2066, U+061C, U+0085, a tag, U+FEFF. */
#define OVERRIDE "\xe2\x80\xae"
#define ISOLATE  "\xe2\x81\xa6"
#define ARABIC   "\xd8\x9c"
#define NEXT     "\xc2\x85"
#define TAG      "\xf3\xa0\x81\x81"
#define BOM      "\xef\xbb\xbf"

static const struct {
    const char *text, *shown, *json;
} cases[] = {
    {"plain: caf\xc3\xa9 \xe2\x94\x80 \xf0\x9f\x9a\x80", "plain: caf\xc3\xa9 \xe2\x94\x80 \xf0\x9f\x9a\x80",
     "plain: caf\xc3\xa9 \xe2\x94\x80 \xf0\x9f\x9a\x80"},
    {"\x1b]0;x\x07", "\\x1b]0;x\\x07", "\\u001b]0;x\\u0007"},
    {"a\nb\tc\r\x7f", "a\\x0ab\\x09c\\x0d\\x7f", "a\\nb\\tc\\r\\u007f"},
    {"x" OVERRIDE "y" ISOLATE ARABIC, "x\\u202ey\\u2066\\u061c", "x\\u202ey\\u2066\\u061c"},
    {NEXT BOM TAG, "\\x85\\ufeff\\U000e0041", "\\u0085\\ufeff\\udb40\\udc41"},
    {"\xff\xc3(\xe2\x80", "\\xff\\xc3(\\xe2\\x80", "\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xc0\x9b\xed\xa0\x80", "\\xc0\\x9b\\xed\\xa0\\x80",
     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"\"\\", "\"\\", "\\\"\\\\"},
    {"", "", ""},
};

static void texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char shown[100], json[100] = "", quoted[PLM_PRINTABLE_MOST];
        unsigned n;
        assert_string_equal(plm_printable(shown, sizeof shown, cases[i].text), cases[i].shown);
        for (const char *p = cases[i].text; (n = plm_printable_json(p, quoted)); p += n)
            strcat(json, quoted);
        assert_string_equal(json, cases[i].json);
    }
}

/* A text that does not fit ends with a whole character, in every room. */
static void room(void **state)
{
    const char *whole = "a\\x1b\xc3\xa9\\u202e\\U000e0041";
    char out[40];
    (void)state;
    for (size_t size = 1; size < sizeof out; size++) {
        const char *rest;
        memset(out, '#', sizeof out);
        plm_printable(out, size, "a\x1b\xc3\xa9" OVERRIDE TAG);
        assert_true(strlen(out) < size);
        assert_memory_equal(out, whole, strlen(out));
        rest = whole + strlen(out);
        assert_true(!*rest || strchr("a\\\xc3", *rest));
    }
    assert_string_equal(out, whole);
}

static char *written(void (*write)(FILE *out))
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    write(out);
    fclose(out);
    return text;
}

static void page_write(FILE *out)
{
    struct plm_json j;
    plm_json_start(&j, out);
    j.page = true;
    plm_json_object(&j, NULL);
    plm_json_string(&j, "s", "<a>\n\x1b" OVERRIDE "\\\"");
    plm_json_finish(&j);
}

/* What the page's program reads is already what it shows. */
static void page(void **state)
{
    char *text = written(page_write);
    (void)state;
    assert_string_equal(text, "{\"s\":\"\\u003ca>\\n\\\\x1b\\\\u202e\\\\\\\"\"}\n");
    free(text);
}

static void columns(void **state)
{
    struct plm_page p = {.utf8 = true, .width = 80};
    (void)state;
    assert_int_equal(plm_page_columns(&p, "caf\xc3\xa9\x1b" OVERRIDE), 4 + 4 + 6);
    p.utf8 = false;
    assert_int_equal(plm_page_columns(&p, "caf\xc3\xa9"), 3 + 4 + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(room),
        cmocka_unit_test(page),
        cmocka_unit_test(columns),
    };
    return RUN(tests);
}
