#include "base/json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "common/error.h"
#include "unit.h"

static struct plm_error error;

/* The whole document in a few characters per token: {}[] as they are, k: a key, s: a string, n: a number, words by their first letter. */
static int walk(struct plm_json_reader *r, FILE *out)
{
    static const char *const sign[] = {".", "{", "}", "[", "]", "k:", "s:", "n:", "t", "f", "0"};
    struct plm_json_value v;
    int status;
    do {
        status = plm_json_next(r, &v, &error);
        if (status < 0)
            break;
        fputs(sign[v.token], out);
        if (v.text) {
            assert_int_equal(v.text[v.length], 0);
            fwrite(v.text, 1, v.length, out);
            fputc(' ', out);
        }
    } while (v.token != PLM_JSON_END);
    return status;
}

static int read_text(const void *text, size_t size, bool tolerant, char out[512])
{
    struct plm_json_reader *r;
    FILE *stream;
    int status;
    memset(out, 0, 512);
    error = (struct plm_error){0};
    status = plm_json_open_memory("test.json", text, size, &r, &error);
    if (status < 0)
        return status;
    if (tolerant)
        plm_json_tolerate(r);
    stream = fmemopen(out, 512, "w");
    status = walk(r, stream);
    fclose(stream);
    plm_json_close(r);
    return status;
}

/* Passed over, it is accepted and refused alike. */
static int skip_text(const void *text, size_t size, bool tolerant)
{
    struct plm_json_reader *r;
    struct plm_json_value v;
    int status = plm_json_open_memory("test.json", text, size, &r, NULL);
    if (status < 0)
        return status;
    if (tolerant)
        plm_json_tolerate(r);
    status = plm_json_skip(r, NULL);
    if (!status)
        status = plm_json_next(r, &v, NULL);
    plm_json_close(r);
    return status;
}

static void accepts(const char *text, const char *tokens)
{
    char out[512];
    if (read_text(text, strlen(text), false, out))
        fail_msg("%s: %s", text, error.text);
    assert_string_equal(out, tokens);
    assert_int_equal(skip_text(text, strlen(text), false), 0);
}

static void refuses(const char *text, size_t size, const char *sentence)
{
    char out[512];
    assert_int_equal(read_text(text, size, false, out), PLM_EFORMAT);
    assert_contains(error.text, sentence);
    assert_contains(error.text, "test.json: ");
    assert_int_equal(skip_text(text, size, false), PLM_EFORMAT);
}

static void documents(void **state)
{
    (void)state;
    accepts("{}", "{}.");
    accepts(" [ ] \n", "[].");
    accepts("[[],{},[{}]]", "[[]{}[{}]].");
    accepts("{\"a\":1,\"b\" : [true,false , null]}", "{k:a n:1 k:b [tf0]}.");
    accepts("\"x\"", "s:x .");
    accepts("12", "n:12 .");
    accepts("true", "t.");
    refuses("", 0, "it is empty");
    refuses(" ", 1, "ends too early");
    refuses("{\"a\" 1}", 7, "at byte 5: a colon was expected");
    refuses("{\"a\":1,}", 8, "a key was expected");
    refuses("{1:2}", 5, "a key was expected");
    refuses("{,}", 3, "a key was expected");
    refuses("[1,]", 4, "a value was expected");
    refuses("[,1]", 4, "a value was expected");
    refuses("[1 2]", 5, "a comma or the end");
    refuses("{\"a\":1 \"b\":2}", 13, "a comma or the end");
    refuses("[1}", 3, "an array ends with }");
    refuses("{\"a\":1]", 7, "an object ends with ]");
    refuses("{]", 2, "a key was expected");
    refuses("1 2", 3, "something follows");
    refuses("{}}", 3, "something follows");
    refuses("]", 1, "a value was expected");
    refuses("'a'", 3, "a value was expected");
    refuses("[1\0]", 4, "a comma or the end");
    refuses("\0", 1, "a value was expected");
    refuses("\xef\xbb\xbf{}", 5, "a value was expected");
}

static void numbers(void **state)
{
    static const char *const good[] = {"0",        "-0",   "10",   "1.5",
                                       "-1.25e10", "1E+2", "0e-1", "123456789012345678901234567890"};
    static const char *const bad[] = {"01",  "-",     "+1",    ".5",    "1.",   "1e",       "1e+",
                                      "--1", "1.5.5", "0x10",  "1e5e5", "NaN",  "Infinity", "-Infinity",
                                      "1a",  "1-",    "truee", "tru",   "True", "nul"};
    char text[128], out[128];
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        snprintf(text, sizeof text, "[%s,%s]", good[i], good[i]);
        snprintf(out, sizeof out, "[n:%s n:%s ].", good[i], good[i]);
        accepts(text, out);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        for (int array = 0; array < 2; array++) {
            snprintf(text, sizeof text, array ? "[%s]" : "%s", bad[i]);
            refuses(text, strlen(text), "not JSON");
        }
}

static void conversions(void **state)
{
    static const struct {
        const char *text;
        bool whole, real;
        int64_t integer;
        double number;
    } rows[] = {
        {"0", true, true, 0, 0},
        {"-9223372036854775808", true, true, INT64_MIN, -0x1p63},
        {"9223372036854775807", true, true, INT64_MAX, 0x1p63},
        {"9223372036854775808", false, true, 0, 0x1p63},
        {"1.0", false, true, 0, 1},
        {"1e3", false, true, 0, 1000},
        {"1e999", false, false, 0, 0},
        {"-1e999", false, false, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_json_value v = {PLM_JSON_NUMBER, rows[i].text, strlen(rows[i].text)};
        int64_t whole;
        double real;
        assert_int_equal(plm_json_to_signed(&v, &whole), rows[i].whole);
        assert_int_equal(plm_json_to_real(&v, &real), rows[i].real);
        if (rows[i].whole)
            assert_int_equal(whole, rows[i].integer);
        if (rows[i].real)
            assert_true(real == rows[i].number);
        v.token = PLM_JSON_STRING;
        assert_false(plm_json_to_signed(&v, &whole) || plm_json_to_real(&v, &real));
    }
}

static void strings(void **state)
{
    (void)state;
    accepts("[\"\"]", "[s: ].");
    accepts("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "s:\"\\/\b\f\n\r\t .");
    accepts("{\"k\\u0041\":\"\\u00e4\\u20AC\\ud83d\\ude00z\"}", "{k:kA s:\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z }.");
    accepts("\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"", "s:\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 .");
    accepts("\"a\\udcffb\"", "s:a\xef\xbf\xbd"
                             "b .");
    accepts("\"\\ud800\\u0041\"", "s:\xef\xbf\xbd"
                                  "A .");
    accepts("\"a sentence that is longer than sixteen bytes\\tand goes on\"",
            "s:a sentence that is longer than sixteen bytes\tand goes on .");
    refuses("\"\\x\"", 4, "unknown escape");
    refuses("\"\\u12\"", 6, "unknown escape");
    refuses("\"\\u12g4\"", 8, "unknown escape");
    refuses("\"a\nb\"", 5, "control character");
    refuses("\"a\0b\"", 5, "control character");
    refuses("\"\xff\"", 3, "not UTF-8");
    refuses("\"\xc0\xaf\"", 4, "not UTF-8");
    refuses("\"\xed\xa0\x80\"", 5, "not UTF-8");
    refuses("\"\xe2\x82\"", 4, "not UTF-8");
    refuses("\"abc", 4, "ends within a string");
    refuses("\"abc\\\"", 6, "ends within a string");
}

static void zero_byte_in_string(void **state)
{
    struct plm_json_reader *r;
    struct plm_json_value v;
    (void)state;
    assert_int_equal(plm_json_open_memory("x", "\"a\\u0000b\"", 10, &r, NULL), 0);
    assert_int_equal(plm_json_next(r, &v, NULL), 0);
    assert_int_equal(v.length, 3);
    assert_memory_equal(v.text, "a\0b", 4);
    plm_json_close(r);
}

static void tolerance(void **state)
{
    static const char text[] = "[\"a\tb\xff\xc3\xa4\\n\",NaN,-Infinity,Infinity]";
    char out[512];
    (void)state;
    assert_int_equal(read_text(text, strlen(text), true, out), 0);
    assert_string_equal(out, "[s:a\tb?\xc3\xa4\n n:NaN n:-Infinity n:Infinity ].");
    assert_int_equal(skip_text(text, strlen(text), true), 0);
    assert_int_equal(read_text("[nan]", 5, true, out), PLM_EFORMAT);
    assert_int_equal(read_text("[-Inf]", 6, true, out), PLM_EFORMAT);
    assert_int_equal(read_text("[\"\\q\"]", 6, true, out), PLM_EFORMAT);
}

static const char sample[] =
    "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": -12.50e1, \"n\\u00e4me\": \"a\\\\b \xf0\x9f\x98\x80\", \"args\": "
    "{\"a\": [true, false, null, {}, []]}}], \"e\": 0}\n";

/* Every beginning of a document but the whole is refused, without reading on behind it. */
static void truncation(void **state)
{
    size_t whole = strlen(sample) - 1; /* the line's end is white space */
    char out[512];
    (void)state;
    assert_int_equal(read_text(sample, whole, false, out), 0);
    for (size_t n = 0; n < whole; n++) {
        char *copy = malloc(n ? n : 1); /* its own: AddressSanitizer sees a byte too many */
        memcpy(copy, sample, n);
        assert_int_equal(read_text(copy, n, false, out), PLM_EFORMAT);
        assert_int_equal(skip_text(copy, n, false), PLM_EFORMAT);
        assert_true(strstr(error.text, "end") || strstr(error.text, "empty") || strstr(error.text, "number") ||
                    strstr(error.text, "value"));
        free(copy);
    }
}

static void after_a_failure(void **state)
{
    struct plm_json_reader *r;
    struct plm_json_value v;
    (void)state;
    assert_int_equal(plm_json_open_memory("x", "[?", 2, &r, NULL), 0);
    assert_int_equal(plm_json_next(r, &v, NULL), 0);
    assert_int_equal(plm_json_next(r, &v, NULL), PLM_EFORMAT);
    assert_int_equal(plm_json_next(r, &v, &error), PLM_EFORMAT);
    assert_int_equal(plm_json_skip(r, &error), PLM_EFORMAT);
    plm_json_close(r);
}

static void depth(void **state)
{
    char text[2 * PLM_JSON_DEPTH + 3], out[512];
    (void)state;
    for (unsigned n = PLM_JSON_DEPTH; n <= PLM_JSON_DEPTH + 1; n++) {
        memset(text, '[', n);
        memset(text + n, ']', n);
        assert_int_equal(read_text(text, 2 * (size_t)n, false, out), n > PLM_JSON_DEPTH ? PLM_EFORMAT : 0);
    }
    assert_contains(error.text, "64 levels");
}

/* Values that cross the reader's window, in all positions relative to its end, and one as long as is allowed. */
static void long_documents(void **state)
{
    const size_t window = 256 << 10, most = PLM_JSON_TEXT;
    char *text = malloc(most + 64);
    struct plm_json_reader *r;
    struct plm_json_value v;
    (void)state;
    for (size_t shift = 0; shift < 60; shift++) {
        char out[512];
        memset(text, ' ', window);
        memcpy(text + window - shift, sample, sizeof sample - 1);
        assert_int_equal(read_text(text, window - shift + sizeof sample - 1, false, out), 0);
        assert_string_equal(out, "{k:traceEvents [{k:ph s:X k:ts n:-12.50e1 k:n\xc3\xa4me s:a\\b \xf0\x9f\x98\x80 "
                                 "k:args {k:a [tf0{}[]]}}]k:e n:0 }.");
        assert_int_equal(skip_text(text, window - shift + sizeof sample - 1, false), 0);
    }
    for (size_t n = most - 1; n <= most + 1; n++) {
        text[0] = '"';
        memset(text + 1, 'x', n);
        text[1 + n] = '"';
        assert_int_equal(plm_json_open_memory("x", text, n + 2, &r, NULL), 0);
        if (n <= most) {
            assert_int_equal(plm_json_next(r, &v, NULL), 0);
            assert_int_equal(v.length, n);
        } else {
            assert_int_equal(plm_json_next(r, &v, &error), PLM_EFORMAT);
            assert_contains(error.text, "16 MiB");
        }
        plm_json_close(r);
    }
    free(text);
}

static void passing_over(void **state)
{
    static const char text[] = "{\"a\": {\"x\": [1, \"]}\\\"\", {\"y\": 2}]}, \"b\": 17, \"c\": [1, [2], 3], \"d\": 4}";
    struct plm_json_reader *r;
    struct plm_json_value v;
    const char *raw;
    size_t length;
    (void)state;
    assert_int_equal(plm_json_open_memory("x", text, strlen(text), &r, NULL), 0);
    assert_int_equal(plm_json_next(r, &v, NULL), 0);
    assert_int_equal(plm_json_next(r, &v, NULL), 0);
    assert_int_equal(plm_json_raw(r, &raw, &length, NULL), 0);
    assert_int_equal(length, 28);
    assert_memory_equal(raw, text + 6, 28);
    assert_int_equal(plm_json_next(r, &v, NULL), 0);
    assert_string_equal(v.text, "b");
    assert_int_equal(plm_json_skip(r, NULL), 0);
    assert_int_equal(plm_json_next(r, &v, NULL), 0);
    assert_string_equal(v.text, "c");
    assert_int_equal(plm_json_next(r, &v, NULL), 0);
    assert_int_equal(plm_json_next(r, &v, NULL), 0);
    assert_string_equal(v.text, "1");
    assert_int_equal(plm_json_leave(r, NULL), 0);
    assert_int_equal(plm_json_next(r, &v, NULL), 0);
    assert_string_equal(v.text, "d");
    assert_int_equal(plm_json_next(r, &v, NULL), 0);
    assert_int_equal(plm_json_next(r, &v, NULL), 0);
    assert_int_equal(v.token, PLM_JSON_END_OBJECT);
    assert_int_equal(plm_json_place(r), strlen(text));
    plm_json_close(r);
}

/* ---- gzip ---- */

static size_t pack(const void *text, size_t size, unsigned char *out, size_t room)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)text;
    z.avail_in = (uInt)size;
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static void gzip(void **state)
{
    unsigned char packed[1024], two[1024];
    size_t size = pack(sample, strlen(sample), packed, sizeof packed), first;
    const char *path = unit_path("sample.json.gz");
    char whole[512], out[512];
    struct plm_json_reader *r;
    FILE *stream;
    (void)state;
    assert_int_equal(read_text(sample, strlen(sample), false, whole), 0);
    assert_int_equal(read_text(packed, size, false, out), 0);
    assert_string_equal(out, whole);
    unit_write(path, packed, size);
    assert_int_equal(plm_json_open(path, &r, &error), 0);
    stream = fmemopen(out, sizeof out, "w");
    assert_int_equal(walk(r, stream), 0);
    fclose(stream);
    assert_string_equal(out, whole);
    plm_json_close(r);
    for (size_t n = 2; n < size; n++) {
        assert_int_equal(read_text(packed, n, false, out), PLM_EFORMAT);
        assert_contains(error.text, "end too early");
    }
    first = pack(sample, 40, two, sizeof two);
    first += pack(sample + 40, strlen(sample) - 40, two + first, sizeof two - first);
    assert_int_equal(read_text(two, first, false, out), 0);
    assert_string_equal(out, whole);
    two[first] = 'x';
    assert_int_equal(read_text(two, first + 1, false, out), PLM_EFORMAT);
    packed[size / 2] ^= 0x55;
    assert_int_equal(read_text(packed, size, false, out), PLM_EFORMAT);
}

static void gzip_bomb(void **state)
{
    const size_t size = 80 << 20;
    char *text = malloc(size), out[512];
    unsigned char *packed = malloc(1 << 20);
    (void)state;
    memset(text, ' ', size);
    text[size - 1] = '0';
    assert_int_equal(read_text(packed, pack(text, size, packed, 1 << 20), false, out), PLM_EFORMAT);
    assert_contains(error.text, "more than 200 times");
    free(text);
    free(packed);
}

static void files(void **state)
{
    struct plm_json_reader *r;
    (void)state;
    assert_int_equal(plm_json_open(unit_path("absent.json"), &r, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "cannot read ");
    assert_contains(error.text, "absent.json");
    assert_int_equal(plm_json_open(unit_folder(), &r, &error), PLM_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents),
        cmocka_unit_test(numbers),
        cmocka_unit_test(conversions),
        cmocka_unit_test(strings),
        cmocka_unit_test(zero_byte_in_string),
        cmocka_unit_test(tolerance),
        cmocka_unit_test(truncation),
        cmocka_unit_test(after_a_failure),
        cmocka_unit_test(depth),
        cmocka_unit_test(long_documents),
        cmocka_unit_test(passing_over),
        cmocka_unit_test(gzip),
        cmocka_unit_test(gzip_bomb),
        cmocka_unit_test(files),
    };
    return RUN(tests);
}
