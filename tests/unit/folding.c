/* Layers that repeat read as one. */
#include "report/folding.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/job.h"
#include "base/json.h"
#include "time/timing.h"
#include "unit.h"

struct row {
    const char *name;
    double figure;
};

/* The labels in the order of the folds, with a blank behind each; the caller frees them. */
static char *folded(const struct row *row, size_t rows, bool ascii)
{
    const char **name = calloc(rows, sizeof *name);
    double *shape = calloc(rows, sizeof *shape);
    struct plm_repeats folds;
    char *text = NULL;
    size_t size = 0, members = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < rows; i++) {
        name[i] = row[i].name;
        shape[i] = row[i].figure;
    }
    folds = plm_repeats_make(&(struct plm_repeat_input){name, shape, rows, 1, ascii, false});
    for (size_t i = 0; i < folds.count; i++) {
        char *label = plm_repeat_label(&folds.item[i]);
        fprintf(out, "%s, ", label);
        free(label);
        assert_int_equal(folds.item[i].first, members); /* each is a member of one fold */
        members += folds.item[i].count;
    }
    assert_int_equal(members, rows);
    fclose(out);
    plm_repeats_free(&folds);
    free(name);
    free(shape);
    return text;
}

#define FOLDED(...) folded((const struct row[]){__VA_ARGS__}, COUNT(((const struct row[]){__VA_ARGS__})), false)

static void check_text(char *text, const char *wanted)
{
    assert_string_equal(text, wanted);
    free(text);
}

static char *unspaced(char *text)
{
    char *to = text;
    for (const char *c = text; *c; c++)
        if (*c != ' ' && *c != '\n')
            *to++ = *c;
    *to = '\0';
    return text;
}

/* In a document, with the names of what was folded in the order of their numbers. */
static void documents(void **state)
{
    const struct row row[] = {{"h.1.mlp", 5}, {"wte", 9}, {"h.0.mlp", 5}, {"h.2.mlp", 5}};
    const char *name[COUNT(row)];
    double shape[COUNT(row)];
    struct plm_repeats folds;
    struct plm_json j;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        name[i] = row[i].name;
        shape[i] = row[i].figure;
    }
    folds = plm_repeats_make(&(struct plm_repeat_input){name, shape, COUNT(row), 1, true, false});
    plm_json_start(&j, out);
    plm_json_array(&j, NULL);
    for (size_t i = 0; i < folds.count; i++) {
        plm_repeat_json_begin(&j, &folds.item[i]);
        plm_json_integer(&j, "place", i);
        plm_repeat_json_end(&j, &folds, &folds.item[i], row, sizeof row[0]);
    }
    plm_json_end_array(&j);
    plm_json_finish(&j);
    fclose(out);
    plm_repeats_free(&folds);
    check_text(unspaced(text), "[{\"name\":\"h.0-2.mlp\",\"count\":3,\"place\":0,\"modules\":[\"h.0.mlp\",\"h.1.mlp\","
                               "\"h.2.mlp\"]},{\"name\":\"wte\",\"count\":1,\"place\":1,\"modules\":[\"wte\"]}]");
}

static void layers(void **state)
{
    (void)state;
    check_text(FOLDED({"wte", 9}, {"h.0.mlp.0", 5}, {"h.1.mlp.0", 5}, {"h.2.mlp.0", 5}, {"h.0.mlp.2", 5},
                      {"h.1.mlp.2", 5}, {"h.2.mlp.2", 5}, {"(GPT2)", 3}),
               "h.0…2.mlp.0 x 3, h.0…2.mlp.2 x 3, wte, (GPT2), ");
    /* Whatever the order of the input; numbers are numbers. */
    check_text(FOLDED({"h.10", 5}, {"h.9", 5}, {"h.11", 5}), "h.9…11 x 3, ");
    /* The largest first. */
    check_text(FOLDED({"h.2.a", 5}, {"b", 4}, {"h.0.a", 5}, {"h.1.a", 5}, {"c", 1}), "h.0…2.a x 3, b, c, ");
    check_text(folded((const struct row[]){{"h.0", 1}, {"h.1", 1}, {"h.2", 1}}, 3, true), "h.0-2 x 3, ");
    check_text(folded(NULL, 0, false), "");
}

static void nested(void **state)
{
    (void)state;
    check_text(FOLDED({"l.0.e.0.w", 5}, {"l.0.e.1.w", 5}, {"l.0.e.2.w", 5}, {"l.1.e.0.w", 5}, {"l.1.e.1.w", 5},
                      {"l.1.e.2.w", 5}, {"l.2.e.0.w", 5}, {"l.2.e.1.w", 5}, {"l.2.e.2.w", 5}),
               "l.0…2.e.0…2.w x 9, ");
    /* Two of a kind in each layer stay two: a Sequential is no list of layers. */
    check_text(FOLDED({"l.0.0", 5}, {"l.0.2", 5}, {"l.1.0", 5}, {"l.1.2", 5}, {"l.2.0", 5}, {"l.2.2", 5}),
               "l.0…2.0 x 3, l.0…2.2 x 3, ");
    /* Where the layers are not the same, experts are not either. */
    check_text(FOLDED({"l.0.0", 5}, {"l.1.0", 5}, {"l.2.0", 5}, {"l.1.1", 5}, {"l.2.1", 5}, {"l.3.1", 5}, {"l.0.2", 5},
                      {"l.1.2", 5}, {"l.2.2", 5}),
               "l.0…2.0 x 3, l.1…3.1 x 3, l.0…2.2 x 3, ");
    check_text(FOLDED({"0", 5}, {"1", 5}, {"2", 5}), "0…2 x 3, ");
    check_text(FOLDED({"a.1.2.3.4.5.6.7.8.9.1", 5}, {"a.1.2.3.4.5.6.7.8.9.2", 5}, {"a.1.2.3.4.5.6.7.8.9.3", 5}),
               "a.1.2.3.4.5.6.7.8.9.1, a.1.2.3.4.5.6.7.8.9.2, a.1.2.3.4.5.6.7.8.9.3, ");
}

static void shapes(void **state)
{
    (void)state;
    /* A tenth apart is alike, more is not: the layers whose activations are gone are other ones. */
    check_text(FOLDED({"h.0", 100}, {"h.1", 91}, {"h.2", 100}), "h.0…2 x 3, ");
    check_text(FOLDED({"h.0", 100}, {"h.1", 89}, {"h.2", 100}), "h.0, h.2, h.1, ");
    check_text(FOLDED({"h.0", 9}, {"h.1", 9}, {"h.2", 9}, {"h.3", 5}, {"h.4", 5}, {"h.5", 5}),
               "h.0…2 x 3, h.3…5 x 3, ");
    /* Every second one; and a set with gaps, which its number tells. */
    check_text(FOLDED({"h.0", 9}, {"h.1", 5}, {"h.2", 9}, {"h.3", 5}, {"h.4", 9}, {"h.5", 5}),
               "h.0…4/2 x 3, h.1…5/2 x 3, ");
    check_text(FOLDED({"h.0", 9}, {"h.1", 9}, {"h.7", 9}), "h.0…7 x 3, ");
    check_text(FOLDED({"h.0", 9}, {"h.2", 9}, {"h.7", 9}), "h.0…7 x 3, ");
    check_text(FOLDED({"h.0", 0}, {"h.1", 0}, {"h.2", 0}), "h.0…2 x 3, ");
}

static void not_folded(void **state)
{
    (void)state;
    check_text(FOLDED({"h.0", 1}), "h.0, ");
    check_text(FOLDED({"h.0", 1}, {"h.1", 1}), "h.0, h.1, ");
    check_text(FOLDED({"layer1", 1}, {"layer2", 1}, {"layer3", 1}), "layer1, layer2, layer3, ");
    check_text(FOLDED({"(0.a)", 1}, {"(1.a)", 1}, {"(2.a)", 1}), "(0.a), (1.a), (2.a), ");
    check_text(FOLDED({"h.00", 1}, {"h.01", 1}, {"h.02", 1}), "h.00, h.01, h.02, ");
    check_text(FOLDED({"h.1000000000", 1}, {"h.1000000001", 1}, {"h.1000000002", 1}),
               "h.1000000000, h.1000000001, h.1000000002, ");
    check_text(FOLDED({"", 1}, {".", 1}, {"..", 1}, {"a..b", 1}, {"*", 1}), ", ., .., a..b, *, ");
    check_text(FOLDED({"h.-1", 1}, {"h.-2", 1}, {"h.-3", 1}), "h.-1, h.-2, h.-3, ");
}

static void odd_names(void **state)
{
    (void)state;
    /* What looks like a key, or like a fold, is neither. */
    check_text(FOLDED({"h.*", 1}, {"h.0", 1}, {"h.1", 1}, {"h.2", 1}), "h.0…2 x 3, h.*, ");
    check_text(FOLDED({"h.0…2", 1}, {"h.0", 1}, {"h.1", 1}, {"h.2", 1}), "h.0…2 x 3, h.0…2, ");
    check_text(FOLDED({"h.0.", 1}, {"h.1.", 1}, {"h.2.", 1}), "h.0…2. x 3, ");
}

/* Time grows with the number of modules, also where none of them is like another. */
static double seconds_of(size_t rows, bool alike)
{
    struct row *row = calloc(rows, sizeof *row);
    struct timespec from, to;
    char name[64];
    for (size_t i = 0; i < rows; i++) {
        snprintf(name, sizeof name, "model.layers.%zu.experts.%zu.w", i / 64, i % 64);
        row[i] = (struct row){strdup(name), alike ? 1 : (double)(i * i)};
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    free(folded(row, rows, false));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    for (size_t i = 0; i < rows; i++)
        free((char *)row[i].name);
    free(row);
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

static void thousands(void **state)
{
    (void)state;
    for (int alike = 0; alike < 2; alike++) {
        const double some = seconds_of(4096, alike), many = seconds_of(65536, alike);
        assert_true(many < 64 * (some + 1e-3)); /* sixteen times as many; the square would be 256 */
    }
}

static void holders(void **state)
{
    static const char *const names[] = {"h.0", "big", "h.1", "h.2"};
    struct plm_holders h = {calloc(4, sizeof *h.item), 4};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        h.item[i] = (struct plm_holder){.name = strdup(names[i]), .bytes = i == 1 ? 25 : 10, .blocks = 2};
        h.item[i].category[PLM_CATEGORY_ACTIVATIONS] = h.item[i].bytes;
    }
    plm_repeats_merge_holders(&h, false);
    assert_int_equal(h.count, 2);
    assert_string_equal(h.item[0].name, "h.0…2 x 3");
    assert_int_equal(h.item[0].bytes, 30);
    assert_int_equal(h.item[0].blocks, 6);
    assert_int_equal(h.item[0].category[PLM_CATEGORY_ACTIVATIONS], 30);
    assert_string_equal(h.item[1].name, "big");
    plm_holders_free(&h);
}

static void shares(void **state)
{
    struct plm_time_share item[] = {{.name = "big", .ns = 25},
                                    {.name = "h.0", .ns = 10, .calls = 1, .flops = 2},
                                    {.name = "h.1", .ns = 10, .calls = 1, .flops = 2},
                                    {.name = "h.2", .ns = 10, .calls = 1, .flops = 2},
                                    {.name = "h.3", .ns = 10, .calls = 1, .flops = 2}};
    struct plm_time_shares merged;
    (void)state;
    for (size_t i = 0; i < COUNT(item); i++) /* the last one waits for memory, which is another matter */
        item[i].bound[i == 4 ? PLM_BOUND_BANDWIDTH : PLM_BOUND_COMPUTE] = item[i].ns;
    merged = plm_repeats_merge_shares(&(struct plm_time_shares){.item = item, .count = COUNT(item)}, true, false);
    assert_int_equal(merged.count, 3);
    assert_string_equal(merged.item[0].name, "h.0-2 x 3");
    assert_true(merged.item[0].ns == 30 && merged.item[0].flops == 6 && merged.item[0].calls == 3);
    assert_true(merged.item[0].bound[PLM_BOUND_COMPUTE] == 30);
    assert_string_equal(merged.item[2].name, "h.3");
    plm_repeats_free_shares(&merged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents), cmocka_unit_test(layers),     cmocka_unit_test(nested),
        cmocka_unit_test(shapes),    cmocka_unit_test(not_folded), cmocka_unit_test(odd_names),
        cmocka_unit_test(thousands), cmocka_unit_test(holders),    cmocka_unit_test(shares),
    };
    return RUN(tests);
}
