#include <stdlib.h>

#include "common/error.h"
#include "sweep/command.h"
#include "sweep/config.h"
#include "sweep/growth.h"
#include "sweep/parameters.h"
#include "sweep/search.h"
#include "unit.h"

/* ---- parameters ---- */

/* The values of one -P with blanks between them, or the sentence. */
static const char *values(const char *text)
{
    static char out[600];
    struct plm_sweep_parameters all = {0};
    struct plm_error error;
    out[0] = '\0';
    if (plm_sweep_parameters_add(&all, text, &error))
        strcpy(out, error.text);
    else
        for (size_t i = 0; i < all.item[0].values; i++) {
            strcat(out, i ? " " : "");
            strcat(out, all.item[0].value[i]);
        }
    plm_sweep_parameters_free(&all);
    return out;
}

static void lists_and_ranges(void **state)
{
    static const struct {
        const char *text, *values;
    } rows[] = {
        {"b=8..512", "8 16 32 64 128 256 512"},
        {"b=8..100", "8 16 32 64 100"}, /* the end was named */
        {"b=3..3", "3"},
        {"b=8..32:8", "8 16 24 32"},
        {"b=8..30:8", "8 16 24"},
        {"b=0..2:1", "0 1 2"},
        {"b=1..1000:x10", "1 10 100 1000"},
        {"b=1..500:x10", "1 10 100 500"},
        {"o=adam,sgd", "adam sgd"},
        {"lr=1e-4,0.5", "1e-4 0.5"},
        {"b=16", "16"},
        {"b=1..18446744073709551615",
         "-P b=1..18446744073709551615: a range has whole numbers, such as 8..512, 8..512:8 "
         "or 8..512:x4"},
        {"b=2..1", "-P b: the range 2..1 is empty"},
        {"b=0..8", "-P b: this step leads nowhere; write 0..8:1"},
        {"b=1..8:0", "-P b: this step leads nowhere; write 1..8:1"},
        {"b=1..8:x1", "-P b: this step leads nowhere; write 1..8:1"},
        {"b=1..2000:1", "-P b: more than 1000 values; take a larger step"},
        {"b=1,1", "-P b: 1 is there twice"},
        {"b=", "-P b: a value is missing"},
        {"b=1,", "-P b: a value is missing"},
        {"=1", "-P =1: a name and its values, such as batch=8..512"},
        {"b", "-P b: a name and its values, such as batch=8..512"},
        {"env:1=2", "-P env:1=2: '1' is not a name of a variable"},
        {"a.txt:b=2", "-P a.txt:b=2: before the colon stands env or a .yaml, .json or .toml file"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(values(rows[i].text), rows[i].values);
}

static void product_and_zip(void **state)
{
    struct plm_sweep_parameters all = {0};
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_sweep_parameters_add(&all, "a=1,2", &error), 0);
    assert_int_equal(plm_sweep_parameters_add(&all, "b=x,y,z", &error), 0);
    assert_int_equal(plm_sweep_parameters_check(&all, &error), 0);
    assert_int_equal(plm_sweep_points(&all), 6);
    assert_string_equal(plm_sweep_value(&all, 3, 0), "2");
    assert_string_equal(plm_sweep_value(&all, 3, 1), "x");
    assert_string_equal(plm_sweep_value(&all, 5, 1), "z");
    all.zip = true;
    assert_int_equal(plm_sweep_parameters_check(&all, &error), PLM_EINVAL);
    assert_int_equal(plm_sweep_parameters_add(&all, "b=x,y", &error), PLM_EINVAL); /* twice */
    plm_sweep_parameters_free(&all);
}

/* ---- the command ---- */

static void words_are_filled(void **state)
{
    static char *const words[] = {"run{b}", "--x={b},{a}", "{'k': 1}", "{c}", "{b", NULL};
    char value[PLM_SWEEP_PARAMETERS][PLM_SWEEP_TEXT] = {"{b}", "7", "on"};
    struct plm_sweep_parameters all = {0};
    struct plm_sweep_command command;
    struct plm_error error;
    (void)state;
    plm_sweep_parameters_add(&all, "a=1", &error);
    plm_sweep_parameters_add(&all, "b=1", &error);
    plm_sweep_parameters_add(&all, "env:V=1", &error);
    assert_int_equal(plm_sweep_command_check(&all, words, &error), 0);
    assert_int_equal(plm_sweep_command_make(&all, value, words, "/nowhere/", &command, &error), 0);
    assert_string_equal(command.words[0], "run7");
    assert_string_equal(command.words[1], "--x=7,{b}"); /* what a value holds is no slot */
    assert_string_equal(command.words[2], words[2]);
    assert_string_equal(command.words[3], "{c}");
    assert_string_equal(command.words[4], "{b");
    assert_null(command.words[5]);
    assert_string_equal(command.environment[0], "V=on");
    assert_null(command.environment[1]);
    plm_sweep_command_free(&command);
    plm_sweep_parameters_add(&all, "d=1", &error);
    assert_int_equal(plm_sweep_command_check(&all, words, &error), PLM_EINVAL);
    assert_string_equal(error.text, "{d} is nowhere in the command; write it where the value belongs");
    plm_sweep_parameters_free(&all);
}

/* ---- configs ---- */

static void config_becomes(const char *file, const char *text, const char *key, const char *value, const char *wanted)
{
    struct plm_error error;
    char *copy = NULL;
    size_t size;
    if (plm_sweep_config_edit(file, text, strlen(text), key, value, &copy, &size, &error))
        assert_string_equal(error.text, wanted);
    else
        assert_string_equal(copy, wanted);
    free(copy);
}

static void yaml(void **state)
{
    static const char text[] =
        "# top: 1\ntrainer:   # of it\n  batch_size: 8 # per GPU\n  \"name\": 'it''s # one'\n"
        "  steps:\n    - batch_size: 3\n  empty:\nmodel: {batch_size: 2}\nnote: |\n"
        "  batch_size: 9\nlong: one\n  batch_size: 4\na.b: 5\nlist:\n- x: 1\n  y: 2\ny: 6\nref: *z\n";
    char wanted[sizeof text + 32];
    (void)state;
    config_becomes("t.yaml", text, "trainer.batch_size", "64",
                   "# top: 1\ntrainer:   # of it\n  batch_size: 64 # per GPU\n  \"name\": 'it''s # one'\n"
                   "  steps:\n    - batch_size: 3\n  empty:\nmodel: {batch_size: 2}\nnote: |\n"
                   "  batch_size: 9\nlong: one\n  batch_size: 4\na.b: 5\nlist:\n- x: 1\n  y: 2\ny: 6\nref: *z\n");
    strcpy(wanted, text);
    memcpy(strstr(wanted, "y: 6"), "y: 7", 4);
    config_becomes("t.yml", text, "y", "7", wanted);
    memcpy(strstr(wanted, "y: 7"), "y: 6", 4);
    memcpy(strstr(wanted, "a.b: 5"), "a.b: 7", 6);
    config_becomes("t.yml", text, "a.b", "7", wanted);
    config_becomes("t.yaml", "n: 'a' # c\n", "n", "b\"c", "n: \"b\\\"c\" # c\n");
    config_becomes("t.yaml", "n: a", "n", "x: y", "n: \"x: y\"");
    config_becomes("t.yaml", "n: a\r\n", "n", "1e-4", "n: 1e-4\r\n");
    config_becomes("t.yaml", text, "batch_size", "1", "t.yaml has no key batch_size");
    config_becomes("t.yaml", text, "trainer.steps.batch_size", "1", "t.yaml has no key trainer.steps.batch_size");
    config_becomes("t.yaml", text, "trainer", "1",
                   "t.yaml: trainer cannot be changed: its value is a mapping or list, or nothing");
    config_becomes("t.yaml", text, "model", "1", "t.yaml: model cannot be changed: its value is a mapping");
    config_becomes("t.yaml", text, "note", "1", "t.yaml: note cannot be changed: its value is a text of several lines");
    config_becomes("t.yaml", text, "long", "1", "t.yaml: long cannot be changed: its value is a text of several lines");
    config_becomes("t.yaml", "n: one\n two\n", "n", "1",
                   "t.yaml: n cannot be changed: its value is a text of several lines");
    config_becomes("t.yaml", text, "ref", "1", "t.yaml: ref cannot be changed: its value is an anchor or alias");
    config_becomes("t.yaml", "a: 1\na: 2\n", "a", "1", "t.yaml has the key a more than once");
    config_becomes("t.yaml", "", "a", "1", "t.yaml has no key a");
}

static void json(void **state)
{
    static const char text[] = "{\"a\": {\"b\": [1, {\"c\": 2}], \"c\": 3.5, \"s\":\"x\\\"y\"}, \"c\": true}";
    (void)state;
    config_becomes("c.json", text, "a.c", "-1e3",
                   "{\"a\": {\"b\": [1, {\"c\": 2}], \"c\": -1e3, \"s\":\"x\\\"y\"}, \"c\": true}");
    config_becomes("c.json", text, "c", "yes",
                   "{\"a\": {\"b\": [1, {\"c\": 2}], \"c\": 3.5, \"s\":\"x\\\"y\"}, \"c\": \"yes\"}");
    config_becomes("c.json", text, "a.s", "8",
                   "{\"a\": {\"b\": [1, {\"c\": 2}], \"c\": 3.5, \"s\":\"8\"}, \"c\": true}");
    config_becomes("c.json", "{\"a\": 1}", "a", "1.", "{\"a\": \"1.\"}");
    config_becomes("c.json", text, "a.b.c", "1", "c.json has no key a.b.c");
    config_becomes("c.json", text, "a.b", "1", "c.json: a.b cannot be changed: its value is an array");
    config_becomes("c.json", text, "a", "1", "c.json: a cannot be changed: its value is an object");
    config_becomes("c.json", "{\"a\": 1, \"a\": 2}", "a", "1", "c.json has the key a more than once");
    config_becomes("c.json", "{\"a\": 1", "a", "1", "c.json has no key a"); /* it does not end */
    config_becomes("c.json", "{\"a\": 1} x", "a", "1", "c.json has no key a");
}

static void toml(void **state)
{
    static const char text[] = "b = 1 # top\n[a]\n\"c\" = 'x'\nd.e = 2\ns = \"\"\"\nc = 9\n\"\"\"\nl = [\n  # ] c = 4\n"
                               "  1,\n]\n[a.f]\nc=3\n[[runs]]\nb = 5\n";
    char wanted[sizeof text + 32];
    (void)state;
    strcpy(wanted, text);
    wanted[4] = '7';
    config_becomes("c.toml", text, "b", "7", wanted);
    strcpy(wanted, text);
    memcpy(strstr(wanted, "e = 2"), "e = 8", 5);
    config_becomes("c.toml", text, "a.d.e", "8", wanted);
    strcpy(wanted, text);
    memcpy(strstr(wanted, "c=3"), "c=6", 3);
    config_becomes("c.toml", text, "a.f.c", "6", wanted);
    strcpy(wanted, text);
    memcpy(strstr(wanted, "'x'"), "\"8\"", 3);
    config_becomes("c.toml", text, "a.c", "8", wanted);
    config_becomes("c.toml", text, "a.s", "1", "c.toml: a.s cannot be changed: its value is a text of several lines");
    config_becomes("c.toml", text, "a.l", "1", "c.toml: a.l cannot be changed: its value is an array");
    config_becomes("c.toml", text, "runs.b", "1", "c.toml has no key runs.b");
    config_becomes("c.toml", text, "c", "1", "c.toml has no key c");
}

/* ---- growth ---- */

static void growth(void **state)
{
    static const struct plm_sweep_sample line[] = {{2, 30}, {4, 50}, {16, 170}};
    static const struct plm_sweep_sample bent[] = {{1, 110}, {10, 200}, {20, 600}, {30, 1000}};
    struct plm_sweep_sample twice[] = {{4, 50}, {2, 30}, {4, 70}};
    struct plm_sweep_growth g = plm_sweep_growth(line, COUNT(line));
    (void)state;
    assert_true(g.known && g.linear && g.each == 10 && g.fixed == 10 && g.off == 0);
    g = plm_sweep_growth(bent, COUNT(bent));
    assert_true(g.known && !g.linear && g.bend == 10 && g.below == 10 && g.above == 40);
    assert_false(plm_sweep_growth(line, 1).known);
    assert_int_equal(plm_sweep_samples_sort(twice, COUNT(twice)), 2);
    assert_int_equal(twice[0].value, 2);
    assert_true(plm_sweep_memory_at(line, COUNT(line), 10) == 110);
    assert_true(plm_sweep_memory_at(line, COUNT(line), 20) == 210);
    assert_int_equal(plm_sweep_value_within(line, COUNT(line), 210, 100), 20);
    assert_int_equal(plm_sweep_value_within(line, COUNT(line), 219, 100), 20);
    assert_int_equal(plm_sweep_value_within(line, COUNT(line), 9, 100), 0);
    assert_int_equal(plm_sweep_value_within(line, COUNT(line), 5000, 100), 100);
}

/* ---- the search ---- */

enum { CARDS = 8, MOST = 200 };

struct world {
    uint64_t (*need)(uint64_t value);
    bool (*refused)(uint64_t value);
    struct plm_sweep_grid grid;
    uint64_t usable[CARDS];
    size_t cards;
    struct plm_sweep_run run[MOST];
    bool fits[MOST][CARDS];
    uint64_t needs[MOST][CARDS];
    size_t runs;
};

static void run_one(struct world *w, uint64_t at)
{
    const uint64_t value = plm_sweep_grid_value(&w->grid, at);
    const size_t r = w->runs++;
    assert_true(at < w->grid.count && r < MOST);
    for (size_t i = 0; i < r; i++)
        assert_true(w->run[i].at != at); /* nothing is run twice */
    for (size_t i = 0; i < w->cards; i++) {
        w->needs[r][i] = w->need(value);
        w->fits[r][i] = w->need(value) <= w->usable[i];
    }
    w->run[r] = (struct plm_sweep_run){at, w->refused && w->refused(value), w->fits[r], w->needs[r]};
}

/* Every card's answer is that of trying all values, one by one. */
static size_t search(struct world *w, size_t at_once)
{
    uint64_t next[16];
    size_t more;
    while ((more = plm_sweep_next(&w->grid, w->run, w->runs, w->usable, w->cards, next, at_once)) > 0)
        for (size_t i = 0; i < more; i++)
            run_one(w, next[i]);
    for (size_t i = 0; i < w->cards; i++) {
        const struct plm_sweep_bounds b = plm_sweep_bounds(&w->grid, w->run, w->runs, i);
        uint64_t fits = w->grid.count;
        for (uint64_t at = 0; at < w->grid.count; at++) {
            const uint64_t value = plm_sweep_grid_value(&w->grid, at);
            if (w->need(value) <= w->usable[i] && !(w->refused && w->refused(value)))
                fits = at;
        }
        assert_true(b.settled && b.some == (fits < w->grid.count));
        assert_true(!b.some || b.fits == fits);
    }
    return w->runs;
}

static uint64_t straight(uint64_t value)
{
    return 1000 + 70 * value;
}
static uint64_t squared(uint64_t value)
{
    return 1000 + value * value;
}
static uint64_t stepped(uint64_t value)
{
    return 1000 + 70 * value + (value > 300 ? 9000 : 0);
}
static bool odd(uint64_t value)
{
    return value % 2;
}

static void search_finds(void **state)
{
    static const struct {
        uint64_t (*need)(uint64_t);
        uint64_t usable[CARDS];
        size_t cards, at_once, most;
        bool (*refused)(uint64_t);
    } rows[] = {
        {straight, {20000}, 1, 1, 4, NULL},    /* two for the line, both sides of its boundary */
        {straight, {20000}, 1, 2, 6, NULL},
        {squared, {90000}, 1, 1, 12, NULL},
        {stepped, {22500}, 1, 1, 24, NULL},    /* the model has it elsewhere */
        {straight, {20000}, 1, 1, 12, odd},
        {straight, {500}, 1, 1, 4, NULL},      /* nothing fits */
        {straight, {1u << 30}, 1, 1, 3, NULL}, /* all do: the end is run */
        {straight, {5000, 9000, 20000, 21000, 30000}, 5, 2, 14, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct world w;
        w = (struct world){
            .need = rows[i].need, .refused = rows[i].refused, .grid = {.low = 1, .count = 512}, .cards = rows[i].cards};
        memcpy(w.usable, rows[i].usable, sizeof w.usable);
        assert_in_range(search(&w, rows[i].at_once), 1, rows[i].most);
    }
}

static void search_on_few_values(void **state)
{
    static const uint64_t values[] = {8, 16, 32, 64, 128};
    static struct world w;
    (void)state;
    for (size_t count = 1; count <= COUNT(values); count++) {
        w = (struct world){
            .need = straight, .grid = {.value = values, .count = count}, .usable = {2200, 6000}, .cards = 2};
        search(&w, 2);
    }
    assert_int_equal(plm_sweep_estimate(&w.grid, w.run, w.runs, 1, 6000,
                                        &(struct plm_sweep_bounds){.some = true, .none = true, .fits = 3, .fails = 4}),
                     71);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_ranges),
        cmocka_unit_test(product_and_zip),
        cmocka_unit_test(words_are_filled),
        cmocka_unit_test(yaml),
        cmocka_unit_test(json),
        cmocka_unit_test(toml),
        cmocka_unit_test(growth),
        cmocka_unit_test(search_finds),
        cmocka_unit_test(search_on_few_values),
    };
    return RUN(tests);
}
