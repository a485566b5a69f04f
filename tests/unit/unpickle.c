/* Pickles that Python made, read back; and such as must be refused. */
#include "base/unpickle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "unit.h"

static int pickles, hostile;

/* Has Python make them, in the test's folder. */
static int make(void **state)
{
    char command[8192];
    FILE *python;
    int found;
    (void)state;
    snprintf(command, sizeof command, "python3 '%s/tests/unit/pickles.py' '%s'", getenv("PLM_SOURCE"), unit_folder());
    python = popen(command, "r");
    found = python ? fscanf(python, "%d %d", &pickles, &hostile) : 0;
    return python && pclose(python) == 0 && found == 2 ? 0 : -1;
}

static void print(FILE *out, const struct plm_unpickled *p, uint32_t value, int depth);

static void print_items(FILE *out, const struct plm_unpickled *p, uint32_t value, bool pairs, int depth)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, value);
    size_t count = 0;
    for (uint32_t item; (item = plm_unpickle_next(p, &walk)) != PLM_PICKLED_ABSENT; count++) {
        if (count)
            fputc(pairs && count % 2 ? ':' : ' ', out);
        print(out, p, item, depth);
    }
}

static void print_number(FILE *out, const struct plm_unpickled *p, uint32_t value)
{
    uint64_t number;
    int64_t negative;
    if (plm_unpickle_unsigned(p, value, &number))
        fprintf(out, "%" PRIu64, number);
    else if (plm_unpickle_signed(p, value, &negative))
        fprintf(out, "%" PRId64, negative);
    else
        fputs("large", out);
}

/* As float.hex() of Python. */
static void print_real(FILE *out, const struct plm_unpickled *p, uint32_t value)
{
    char text[64];
    double real = 0;
    assert_true(plm_unpickle_real(p, value, &real));
    snprintf(text, sizeof text, "%.13a", real);
    if (real == 0)
        snprintf(text, sizeof text, "%s", text[0] == '-' ? "-0x0.0p+0" : "0x0.0p+0");
    fputs(text, out);
}

static void print_bytes(FILE *out, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(out, "%02x", (unsigned char)bytes[i]);
}

/* In the words of pickles.py. */
static void print(FILE *out, const struct plm_unpickled *p, uint32_t value, int depth)
{
    static const char brackets[][2] = {
        [PLM_PICKLED_TUPLE] = {'(', ')'}, [PLM_PICKLED_LIST] = {'[', ']'}, [PLM_PICKLED_DICT] = {'{', '}'}};
    enum plm_pickled type = plm_unpickle_type(p, value);
    const char *text;
    uint64_t truth = 0;
    size_t size = 0;
    assert_true(depth < 100);
    switch (type) {
    case PLM_PICKLED_NONE: fputs("None", out); break;
    case PLM_PICKLED_BOOL:
        assert_true(plm_unpickle_unsigned(p, value, &truth));
        fputs(truth ? "True" : "False", out);
        break;
    case PLM_PICKLED_INT: print_number(out, p, value); break;
    case PLM_PICKLED_REAL: print_real(out, p, value); break;
    case PLM_PICKLED_TEXT:
        fputc('t', out);
        text = plm_unpickle_text(p, value, &size);
        print_bytes(out, text, size);
        break;
    case PLM_PICKLED_BYTES: fputc('b', out); break;
    case PLM_PICKLED_TUPLE:
    case PLM_PICKLED_LIST:
    case PLM_PICKLED_DICT:
        fputc(brackets[type][0], out);
        print_items(out, p, value, type == PLM_PICKLED_DICT, depth + 1);
        fputc(brackets[type][1], out);
    }
}

static char *file(const char *format, int number, size_t *size)
{
    char name[64];
    snprintf(name, sizeof name, format, number);
    return unit_read(unit_path(name), size);
}

static void as_python_wrote(void **state)
{
    (void)state;
    assert_true(pickles > 200);
    for (int i = 0; i < pickles; i++) {
        size_t size, text_size, have_size = 0;
        char *data = file("%d.pickle", i, &size), *text = file("%d.text", i, &text_size), *have = NULL;
        struct plm_unpickled *p;
        struct plm_error error;
        FILE *out = open_memstream(&have, &have_size);
        if (plm_unpickle(data, size, &p, &error))
            fail_msg("%d: %s", i, error.text);
        print(out, p, plm_unpickle_root(p), 0);
        fclose(out);
        if (strcmp(have, text) != 0)
            fail_msg("%d: %.300s instead of %.300s", i, have, text);
        plm_unpickle_free(p);
        free(have);
        free(data);
        free(text);
    }
}

static void refusals(void **state)
{
    (void)state;
    assert_true(hostile > 40);
    for (int i = 0; i < hostile; i++) {
        size_t size, text_size;
        char *data = file("bad-%d.pickle", i, &size), *text = file("bad-%d.text", i, &text_size);
        struct plm_unpickled *p;
        struct plm_error error;
        assert_int_equal(plm_unpickle(data, size, &p, &error), PLM_EFORMAT);
        assert_null(p);
        if (!strstr(error.text, text))
            fail_msg("%d: '%s' does not say %s", i, error.text, text);
        free(data);
        free(text);
    }
}

/* Every pickle, cut at every length, is refused and leaves nothing behind. */
static void cut(void **state)
{
    (void)state;
    for (int i = 0; i < pickles; i++) {
        size_t size;
        char *data = file("%d.pickle", i, &size);
        for (size_t n = 0; n < size && n < 400; n++) {
            char *part = malloc(n + 1); /* so that a sanitizer sees what is read beyond it */
            struct plm_unpickled *p;
            memcpy(part, data, n);
            assert_int_equal(plm_unpickle(part, n, &p, NULL), PLM_EFORMAT);
            free(part);
        }
        free(data);
    }
}

static void dicts(void **state)
{
    /* {"a": 1, "b": [2], "a": 3}, and a list that holds itself */
    static const char dict[] = "\x80\x02}(X\1\0\0\0aK\1X\1\0\0\0b]K\2aX\1\0\0\0aK\3u.", self[] = "\x80\x02]q\0h\0a.";
    struct plm_unpickle_walk walk;
    struct plm_unpickled *p;
    uint64_t number = 0;
    uint32_t root;
    (void)state;
    assert_int_equal(plm_unpickle(dict, sizeof dict - 1, &p, NULL), 0);
    root = plm_unpickle_root(p);
    assert_true(plm_unpickle_unsigned(p, plm_unpickle_find(p, root, "a"), &number));
    assert_int_equal(number, 3);
    walk = plm_unpickle_begin(p, plm_unpickle_find(p, root, "b"));
    assert_int_not_equal(plm_unpickle_next(p, &walk), PLM_PICKLED_ABSENT);
    assert_int_equal(plm_unpickle_next(p, &walk), PLM_PICKLED_ABSENT);
    assert_int_equal(plm_unpickle_find(p, root, "c"), PLM_PICKLED_ABSENT);
    assert_int_equal(plm_unpickle_find(p, plm_unpickle_find(p, root, "b"), "a"), PLM_PICKLED_ABSENT);
    assert_int_equal(plm_unpickle_type(p, PLM_PICKLED_ABSENT), PLM_PICKLED_NONE);
    assert_false(plm_unpickle_unsigned(p, PLM_PICKLED_ABSENT, &number));
    plm_unpickle_free(p);
    assert_int_equal(plm_unpickle(self, sizeof self - 1, &p, NULL), 0);
    walk = plm_unpickle_begin(p, plm_unpickle_root(p));
    assert_int_equal(plm_unpickle_next(p, &walk), plm_unpickle_root(p));
    assert_int_equal(plm_unpickle_next(p, &walk), PLM_PICKLED_ABSENT);
    plm_unpickle_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_python_wrote),
        cmocka_unit_test(refusals),
        cmocka_unit_test(cut),
        cmocka_unit_test(dicts),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
