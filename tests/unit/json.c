#include "base/json.h"

#include <math.h>
#include <stdlib.h>

#include "common/error.h"
#include "unit.h"

static void document(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct plm_json j;
    (void)state;
    plm_json_start(&j, out);
    plm_json_object(&j, NULL);
    plm_json_string(&j, "s", "a\"b\\c\nd\te\x7f");
    plm_json_integer(&j, "u", UINT64_MAX);
    plm_json_signed(&j, "i", INT64_MIN);
    plm_json_real(&j, "r", 0.25);
    plm_json_real(&j, "n", NAN);
    plm_json_bool(&j, "b", true);
    plm_json_array(&j, "a");
    plm_json_integer(&j, NULL, 1);
    plm_json_object(&j, NULL);
    plm_json_end_object(&j);
    plm_json_end_array(&j);
    plm_json_array(&j, "empty");
    plm_json_end_array(&j);
    plm_json_end_object(&j);
    assert_int_equal(plm_json_finish(&j), 0);
    fclose(out);
    assert_string_equal(text, "{\n"
                              "  \"s\": \"a\\\"b\\\\c\\nd\\te\\u007f\",\n"
                              "  \"u\": 18446744073709551615,\n"
                              "  \"i\": -9223372036854775808,\n"
                              "  \"r\": 0.25,\n"
                              "  \"n\": null,\n"
                              "  \"b\": true,\n"
                              "  \"a\": [\n"
                              "    1,\n"
                              "    {}\n"
                              "  ],\n"
                              "  \"empty\": []\n"
                              "}\n");
    free(text);
}

static char *quoted(const char *value)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct plm_json j;
    plm_json_start(&j, out);
    plm_json_string(&j, NULL, value);
    plm_json_finish(&j);
    fclose(out);
    return text;
}

#define NOT_A_CHARACTER "\xef\xbf\xbd"

/* Names of files and operators can hold any byte; the document is UTF-8 all the same. */
static void strings_are_utf8(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", "\"\"\n"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\xa2", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\xa2\"\n"},
        {"\x80", "\"" NOT_A_CHARACTER "\"\n"},
        {"\xff"
         "a",
         "\"" NOT_A_CHARACTER "a\"\n"},
        {"\xc3", "\"" NOT_A_CHARACTER "\"\n"},                                              /* cut */
        {"\xc0\xaf", "\"" NOT_A_CHARACTER NOT_A_CHARACTER "\"\n"},                          /* longer than needed */
        {"\xe0\x80\xaf", "\"" NOT_A_CHARACTER NOT_A_CHARACTER NOT_A_CHARACTER "\"\n"},
        {"\xed\xa0\x80", "\"" NOT_A_CHARACTER NOT_A_CHARACTER NOT_A_CHARACTER "\"\n"},      /* a surrogate */
        {"\xf4\x90\x80\x80", "\"" NOT_A_CHARACTER NOT_A_CHARACTER NOT_A_CHARACTER NOT_A_CHARACTER "\"\n"},
        {"\x01\x1f", "\"\\u0001\\u001f\"\n"},
        {"\xc2\x9b", "\"\\u009b\"\n"}, /* begins a sequence of a terminal */
        {"\xd8\x9c\xe2\x80\x8f\xe2\x80\xae\xe2\x81\xa9",
         "\"\\u061c\\u200f\\u202e\\u2069\"\n"}, /* turn what follows around */
        {"\xc2\xa0\xe2\x80\xa7\xe2\x80\xaf", "\"\xc2\xa0\xe2\x80\xa7\xe2\x80\xaf\"\n"}, /* beside these */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = quoted(rows[i].in);
        assert_string_equal(text, rows[i].out);
        free(text);
    }
}

static void full_disk_shows(void **state)
{
    struct plm_json j;
    FILE *out = fopen("/dev/full", "w");
    (void)state;
    assert_non_null(out);
    plm_json_start(&j, out);
    plm_json_string(&j, NULL, "text");
    assert_int_equal(plm_json_finish(&j), PLM_EIO);
    fclose(out);
}

/* What stands in a <script> of a page: no white space, and no way to end the element. */
static void page(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct plm_json j;
    (void)state;
    plm_json_start(&j, out);
    j.page = true;
    plm_json_object(&j, NULL);
    plm_json_string(&j, "<k", "</script><!--");
    plm_json_array(&j, "a");
    plm_json_integer(&j, NULL, 1);
    plm_json_signed(&j, NULL, -2);
    plm_json_array(&j, NULL);
    plm_json_end_array(&j);
    plm_json_end_array(&j);
    plm_json_bool(&j, "b", false);
    plm_json_end_object(&j);
    assert_int_equal(plm_json_finish(&j), 0);
    fclose(out);
    assert_string_equal(text, "{\"\\u003ck\":\"\\u003c/script>\\u003c!--\",\"a\":[1,-2,[]],\"b\":false}\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(document), cmocka_unit_test(page),
                                       cmocka_unit_test(strings_are_utf8), cmocka_unit_test(full_disk_shows)};
    return RUN(tests);
}
