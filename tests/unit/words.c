#include "base/words.h"

#include <stdlib.h>

#include "unit.h"

static void distances(void **state)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } rows[] = {
        {"run", "run", 0},        {"runn", "run", 1},      {"gup", "gpu", 1}, {"RUN", "run", 0},
        {"", "run", 3},           {"reprot", "report", 1}, {"ca", "abc", 3}, /* a swapped pair is not changed again */
        {"kitten", "sitting", 3},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(plm_words_distance(rows[i].a, rows[i].b), rows[i].distance);
        assert_int_equal(plm_words_distance(rows[i].b, rows[i].a), rows[i].distance);
    }
}

static const char *nearest(const char *typed)
{
    static const char *const known[] = {"run", "report", "fit", "tune", "export", "import", "symbols"};
    struct plm_nearest n = {.typed = typed};
    for (size_t i = 0; i < COUNT(known); i++)
        plm_nearest_see(&n, known[i]);
    return n.best;
}

static void offers(void **state)
{
    (void)state;
    assert_string_equal(nearest("runn"), "run");
    assert_string_equal(nearest("reprot"), "report");
    assert_string_equal(nearest("sym"), "symbols"); /* not typed to its end */
    assert_string_equal(nearest("inport"), "import");
    assert_null(nearest("frobnicate"));
    assert_null(nearest("x"));
    assert_null(nearest(""));
}

static void quotes(void **state)
{
    static const char *const words[] = {"python", "my train.py", "--lr=1e-3", "", "it's", "$HOME", "a;b"};
    char *text = plm_words_quote(words, COUNT(words));
    (void)state;
    assert_string_equal(text, "python 'my train.py' --lr=1e-3 '' 'it'\\''s' '$HOME' 'a;b'");
    free(text);
    text = plm_words_quote(words, 0);
    assert_string_equal(text, "");
    free(text);
}

/* Every byte of it at its longest, so that the room for them is enough. */
static void quotes_what_cannot_be_shown(void **state)
{
    static const char *const words[] = {"a\x1b'\\\xe2\x80\xae\xff", "\x1b\x1b\x1b"};
    char *text = plm_words_quote(words, COUNT(words));
    (void)state;
    assert_string_equal(text, "$'a\\x1b\\'\\\\\\xe2\\x80\\xae\\xff' $'\\x1b\\x1b\\x1b'");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(offers),
        cmocka_unit_test(quotes),
        cmocka_unit_test(quotes_what_cannot_be_shown),
    };
    return RUN(tests);
}
