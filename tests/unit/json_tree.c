#include "base/json_tree.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "unit.h"

static struct plm_error error;

static struct plm_json_tree *tree_of(const char *text)
{
    struct plm_json_tree *t = NULL;
    if (plm_json_tree_read_memory("job.json", text, strlen(text), &t, &error))
        fail_msg("%s", error.text);
    return t;
}

static void walking(void **state)
{
    struct plm_json_tree *t = tree_of("{\"a\": [1, [2, 3], {\"x\": \"y\"}], \"b\": {}, \"a2\": null, \"b\": true}");
    const struct plm_json_node *root = plm_json_tree_root(t), *a = plm_json_tree_find(t, root, "a"), *n;
    int64_t number = 0;
    bool flag = false;
    (void)state;
    assert_int_equal(plm_json_tree_kind(root), PLM_JSON_OBJECT);
    assert_int_equal(plm_json_tree_count(root), 4);
    assert_int_equal(plm_json_tree_count(a), 3);
    n = plm_json_tree_first(a);
    assert_int_equal(plm_json_tree_signed(t, n, &number, &error), 0);
    assert_int_equal(number, 1);
    n = plm_json_tree_next(t, n);
    assert_int_equal(plm_json_tree_count(n), 2);
    n = plm_json_tree_next(t, n);
    assert_int_equal(plm_json_tree_kind(n), PLM_JSON_OBJECT);
    assert_null(plm_json_tree_next(t, n));
    assert_null(plm_json_tree_find(t, root, "absent"));
    assert_null(plm_json_tree_find(t, a, "x"));
    assert_int_equal(plm_json_tree_get_bool(t, root, "b", &flag, &error), 0); /* the last of two */
    assert_true(flag);
    assert_null(plm_json_tree_first(NULL));
    assert_null(plm_json_tree_find(t, NULL, "a"));
    plm_json_tree_free(t);
}

static void values(void **state)
{
    struct plm_json_tree *t =
        tree_of("{\"i\": -7, \"u\": 9223372036854775807, \"r\": 0.25, \"s\": \"t\\u00e4xt\", \"o\": {}}");
    const struct plm_json_node *root = plm_json_tree_root(t), *o;
    int64_t i = 0;
    uint64_t u = 0;
    double r = 0;
    const char *s = NULL;
    (void)state;
    assert_int_equal(plm_json_tree_get_signed(t, root, "i", &i, &error), 0);
    assert_int_equal(i, -7);
    assert_int_equal(plm_json_tree_get_unsigned(t, root, "u", &u, &error), 0);
    assert_int_equal(u, INT64_MAX);
    assert_int_equal(plm_json_tree_get_real(t, root, "r", &r, &error), 0);
    assert_true(r == 0.25);
    assert_int_equal(plm_json_tree_get_text(t, root, "s", &s, &error), 0);
    assert_string_equal(s, "t\xc3\xa4xt");
    assert_int_equal(plm_json_tree_get(t, root, "o", PLM_JSON_OBJECT, &o, &error), 0);
    assert_non_null(o);
    assert_int_equal(plm_json_tree_get(t, root, "absent", PLM_JSON_ARRAY, &o, &error), 0);
    assert_null(o);
    assert_int_equal(plm_json_tree_get_signed(t, root, "absent", &i, &error), 0);
    assert_int_equal(i, -7);
    assert_int_equal(plm_json_tree_need(t, root, "s", &o, &error), 0);
    plm_json_tree_free(t);
}

static void sentences(void **state)
{
    struct plm_json_tree *t =
        tree_of("{\"modules\": [1, 2, 3, {\"parent\": \"x\", \"n\": -1, \"deep\": [[0], [1.5, null]], "
                "\"z\": \"a\\u0000b\"}]}");
    const struct plm_json_node *root = plm_json_tree_root(t), *m = plm_json_tree_find(t, root, "modules"), *last = m,
                               *out;
    int64_t i;
    uint64_t u;
    double r;
    bool b;
    const char *s;
    (void)state;
    for (const struct plm_json_node *n = plm_json_tree_first(m); n; n = plm_json_tree_next(t, n))
        last = n;
    assert_int_equal(plm_json_tree_get_signed(t, last, "parent", &i, &error), PLM_EFORMAT);
    assert_string_equal(error.text, "job.json: modules[3].parent: expected a whole number");
    assert_int_equal(plm_json_tree_get_unsigned(t, last, "n", &u, &error), PLM_EFORMAT);
    assert_string_equal(error.text, "job.json: modules[3].n: expected a whole number of 0 or more");
    assert_int_equal(plm_json_tree_get_real(t, last, "deep", &r, &error), PLM_EFORMAT);
    assert_string_equal(error.text, "job.json: modules[3].deep: expected a number");
    out = plm_json_tree_first(plm_json_tree_next(t, plm_json_tree_first(plm_json_tree_find(t, last, "deep"))));
    assert_int_equal(plm_json_tree_bool(t, out, &b, &error), PLM_EFORMAT);
    assert_string_equal(error.text, "job.json: modules[3].deep[1][0]: expected true or false");
    assert_int_equal(plm_json_tree_signed(t, out, &i, &error), PLM_EFORMAT);
    assert_int_equal(plm_json_tree_text(t, root, &s, &error), PLM_EFORMAT);
    assert_string_equal(error.text, "job.json: expected a string");
    assert_int_equal(plm_json_tree_get_text(t, last, "z", &s, &error), PLM_EFORMAT);
    assert_contains(error.text, "without a 0 byte");
    assert_int_equal(plm_json_tree_get(t, root, "modules", PLM_JSON_OBJECT, &out, &error), PLM_EFORMAT);
    assert_string_equal(error.text, "job.json: modules: expected an object");
    assert_int_equal(plm_json_tree_need(t, last, "class", &out, &error), PLM_EFORMAT);
    assert_string_equal(error.text, "job.json: modules[3].class is missing");
    assert_int_equal(plm_json_tree_need(t, root, "torch", &out, &error), PLM_EFORMAT);
    assert_string_equal(error.text, "job.json: torch is missing");
    plm_json_tree_free(t);
}

/* More values than are allowed; a path too long for a sentence. */
static void limits(void **state)
{
    const size_t size = 2 * ((size_t)PLM_JSON_TREE_NODES + 1) + 1;
    char *text = malloc(size), deep[PLM_JSON_DEPTH * 80];
    struct plm_json_tree *t;
    const struct plm_json_node *n;
    size_t used = 0;
    int64_t i;
    (void)state;
    for (size_t k = 0; k < size; k++)
        text[k] = k % 2 ? ',' : '1';
    text[0] = '[';
    text[1] = ' ';
    text[size - 2] = ']';
    assert_int_equal(plm_json_tree_read_memory("job.json", text, size - 1, &t, &error), PLM_EFORMAT);
    assert_contains(error.text, "more than 4194304 values");
    free(text);
    for (int k = 0; k < PLM_JSON_DEPTH; k++)
        used += (size_t)snprintf(deep + used, sizeof deep - used, "{\"a key that is rather long, number %d\":", k);
    used += (size_t)snprintf(deep + used, sizeof deep - used, "null");
    memset(deep + used, '}', PLM_JSON_DEPTH);
    assert_int_equal(plm_json_tree_read_memory("job.json", deep, used + PLM_JSON_DEPTH, &t, &error), 0);
    n = plm_json_tree_root(t);
    while (plm_json_tree_first(n))
        n = plm_json_tree_first(n);
    assert_int_equal(plm_json_tree_signed(t, n, &i, &error), PLM_EFORMAT);
    assert_contains(error.text, "number 63: expected a whole number");
    plm_json_tree_free(t);
    assert_int_equal(plm_json_tree_read_memory("job.json", "[1", 2, &t, &error), PLM_EFORMAT);
    assert_contains(error.text, "job.json: not JSON");
    assert_int_equal(plm_json_tree_read(unit_path("absent"), &t, &error), PLM_ENOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walking),
        cmocka_unit_test(values),
        cmocka_unit_test(sentences),
        cmocka_unit_test(limits),
    };
    return RUN(tests);
}
