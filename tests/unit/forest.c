/* Forests: what one tree makes of rows, what many do, their files, and the tables that SchedTune learns from. */
#include "study/estimate/forest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/card.h"
#include "base/csv.h"
#include "study/estimate/description.h"
#include "models.h"
#include "study/methods/methods.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static const char *file(const char *name, const char *text)
{
    const char *path = unit_path(name);
    unit_write(path, text, strlen(text));
    return path;
}

static int forest_load(const char *path, struct plm_forest *f, struct plm_error *error)
{
    struct plm_model_file in;
    int status = plm_model_file_open(path, &in, error);
    *f = (struct plm_forest){0};
    if (status == 0)
        status = plm_forest_read(&in, f);
    plm_model_file_close(&in);
    return status;
}

static struct plm_forest trained(const double *x, const double *y, size_t rows, size_t features, size_t trees,
                                 uint64_t seed, bool all_rows)
{
    const struct plm_tree_data data = {x, y, rows, features};
    const struct plm_forest_settings settings = {.trees = trees, .seed = seed, .all_rows = all_rows};
    struct plm_error error;
    struct plm_forest f;
    assert_int_equal(plm_forest_train(&data, &settings, &f, &error), 0);
    for (size_t i = 0; i < f.features; i++)
        snprintf(f.feature[i].name, sizeof f.feature[i].name, "f%zu", i);
    snprintf(f.target, sizeof f.target, "y");
    return f;
}

/* ---- one tree ---- */

static void test_a_step(void **state)
{
    /* The second feature is the same everywhere and cannot split. */
    static const double x[] = {0, 7, 1, 7, 2, 7, 3, 7, 4, 7, 5, 7, 6, 7, 7, 7, 8, 7, 9, 7};
    static const double y[] = {1, 1, 1, 1, 1, 11, 11, 11, 11, 11};
    struct plm_forest f = trained(x, y, 10, 2, 1, 0, true);
    (void)state;
    assert_int_equal(f.trees.nodes, 3);
    assert_int_equal(f.trees.node[0].feature, 0);
    NEAR(f.trees.node[0].value, 4.5); /* the middle between 4 and 5 */
    assert_int_equal(f.trees.node[0].right, 2);
    assert_int_equal(f.trees.node[1].feature, -1);
    NEAR(f.trees.node[1].value, 1);
    NEAR(f.trees.node[2].value, 11);
    NEAR(f.feature[0].importance, 1);
    NEAR(f.feature[1].importance, 0);
    NEAR(f.low, 1);
    NEAR(f.high, 11);
    NEAR(f.feature[0].high, 9);
    assert_int_equal(f.oob_rows, 0); /* every tree saw every row */
    NEAR(plm_forest_predict(&f, (double[]){4.5, 7}), 1); /* on the threshold: left */
    NEAR(plm_forest_predict(&f, (double[]){4.6, 7}), 11);
    plm_forest_free(&f);
}

/* The split that lowers the squared error most comes first: here the one that parts 100 from the rest. */
static void test_the_best_split(void **state)
{
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const double y[] = {1, 1, 2, 2, 3, 3, 4, 4, 5, 100};
    struct plm_forest f = trained(x, y, 10, 1, 1, 3, true);
    (void)state;
    NEAR(f.trees.node[0].value, 8.5);
    for (size_t i = 0; i < 10; i++)
        NEAR(plm_forest_predict(&f, &x[i]), y[i]);
    plm_forest_free(&f);
}

/* scikit-learn takes values for one that are within 1e-7 of each other (its FEATURE_THRESHOLD), not those a thousandth apart. */
static void test_close_values(void **state)
{
    enum { N = 10 };
    double apart[N], same[N], y[N];
    struct plm_forest f;
    (void)state;
    for (int i = 0; i < N; i++) {
        apart[i] = i < N / 2 ? 0 : 0.001;
        same[i] = i < N / 2 ? 0 : 5e-8;
        y[i] = i < N / 2 ? 1 : 3;
    }
    f = trained(apart, y, N, 1, 1, 0, true);
    assert_int_equal(f.trees.nodes, 3);
    NEAR(plm_forest_predict(&f, &apart[0]), 1);
    NEAR(plm_forest_predict(&f, &apart[N - 1]), 3);
    plm_forest_free(&f);
    f = trained(same, y, N, 1, 1, 0, true);
    assert_int_equal(f.trees.nodes, 1);
    plm_forest_free(&f);
}

/* Rows that nothing tells apart are one leaf: their mean. */
static void test_equal_rows(void **state)
{
    static const double x[] = {1, 1, 1, 1, 1, 2, 2, 2, 2, 2};
    static const double y[] = {1, 2, 3, 4, 5, 10, 10, 10, 10, 60};
    struct plm_forest f = trained(x, y, 10, 1, 1, 0, true);
    (void)state;
    assert_int_equal(f.trees.nodes, 3);
    NEAR(plm_forest_predict(&f, (double[]){0}), 3);
    NEAR(plm_forest_predict(&f, (double[]){5}), 20);
    plm_forest_free(&f);
}

/* ---- many ---- */

enum { ROWS = 200 };

static void curve(double *x, double *y)
{
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = (double)i;
        x[2 * i + 1] = (double)(i * 7919 % 101); /* says nothing */
        y[i] = 100 + 3 * (double)i;
    }
}

static void test_many_trees(void **state)
{
    static double x[2 * ROWS], y[ROWS];
    struct plm_forest a, b, c;
    (void)state;
    curve(x, y);
    a = trained(x, y, ROWS, 2, 100, 1, false);
    b = trained(x, y, ROWS, 2, 100, 1, false);
    c = trained(x, y, ROWS, 2, 100, 2, false);
    assert_int_equal(a.trees.count, 100);
    assert_int_equal(a.trees.nodes, b.trees.nodes);
    assert_memory_equal(a.trees.node, b.trees.node,
                        a.trees.nodes * sizeof *a.trees.node); /* the same seed, the same forest */
    assert_true(a.trees.nodes != c.trees.nodes ||
                memcmp(a.trees.node, c.trees.node, a.trees.nodes * sizeof *a.trees.node) != 0);
    assert_int_equal(a.oob_rows, ROWS);
    assert_true(a.oob_r2 > 0.99 && a.oob_r2 < 1);
    assert_true(a.oob_error > 0 && a.oob_error < 0.02);
    assert_true(a.feature[0].importance > 0.99);
    NEAR(a.feature[0].importance + a.feature[1].importance, 1);
    /* It knows nothing beyond its rows. */
    assert_true(plm_forest_predict(&a, (double[]){1e6, 0}) <= a.high);
    assert_true(fabs(plm_forest_predict(&a, (double[]){100, 50}) - 400) < 10);
    plm_forest_free(&a);
    plm_forest_free(&b);
    plm_forest_free(&c);
}

/* A draw with replacement leaves out e^-1 of the rows: each is out of the bag of about 37 trees in 100. */
static void test_draws(void **state)
{
    static double x[2 * ROWS], y[ROWS];
    struct plm_forest one, all;
    (void)state;
    curve(x, y);
    one = trained(x, y, ROWS, 2, 1, 5, false);
    all = trained(x, y, ROWS, 2, 1, 5, true);
    assert_in_range(one.oob_rows, 55, 92);
    assert_true(one.trees.nodes < all.trees.nodes);
    assert_int_equal(all.trees.nodes, 2 * ROWS - 1);
    plm_forest_free(&one);
    plm_forest_free(&all);
}

static void test_nothing_to_learn(void **state)
{
    double x[20] = {0}, y[20];
    struct plm_tree_data data = {x, y, 20, 1};
    struct plm_forest_settings settings = {.trees = 3};
    struct plm_error error;
    struct plm_forest f;
    (void)state;
    for (size_t i = 0; i < 20; i++)
        y[i] = 5;
    assert_int_equal(plm_forest_train(&data, &settings, &f, &error), 0);
    assert_int_equal(f.trees.nodes, 3);
    NEAR(plm_forest_predict(&f, x), 5);
    plm_forest_free(&f);
    data.rows = 9;
    assert_int_equal(plm_forest_train(&data, &settings, &f, &error), PLM_EFORMAT);
    assert_contains(error.text, "9 rows are too few");
    data.rows = 20;
    y[3] = 0;
    assert_int_equal(plm_forest_train(&data, &settings, &f, &error), PLM_EFORMAT);
    assert_contains(error.text, "the target of row 4");
    y[3] = 5;
    x[7] = NAN;
    assert_int_equal(plm_forest_train(&data, &settings, &f, &error), PLM_EFORMAT);
    assert_contains(error.text, "a feature of row 8");
    x[7] = 0;
    settings.trees = 0;
    assert_int_equal(plm_forest_train(&data, &settings, &f, &error), PLM_EINVAL);
    assert_contains(error.text, "trees");
}

/* ---- extremely randomised trees ---- */

static struct plm_forest extra(const double *x, const double *y, size_t rows, size_t features, size_t trees,
                               uint64_t seed)
{
    const struct plm_tree_data data = {x, y, rows, features};
    struct plm_forest_settings settings = PLM_EXTRATREES_SETTINGS;
    struct plm_error error;
    struct plm_forest f;
    settings.trees = trees;
    settings.seed = seed;
    assert_int_equal(plm_forest_train(&data, &settings, &f, &error), 0);
    for (size_t i = 0; i < f.features; i++)
        snprintf(f.feature[i].name, sizeof f.feature[i].name, "f%zu", i);
    snprintf(f.target, sizeof f.target, "y");
    return f;
}

/* Two values of a feature: one split, anywhere from the lower to below the upper, each place as likely. Targets may be
   0 and below. */
static void test_drawn_thresholds(void **state)
{
    enum { TREES = 400, N = 10 };
    double x[N], y[N], sum = 0, square = 0;
    struct plm_forest f;
    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = i < N / 2 ? 2 : 6;
        y[i] = i < N / 2 ? -1 : 3;
    }
    f = extra(x, y, N, 1, TREES, 7);
    assert_int_equal(f.trees.nodes, 3 * TREES);
    assert_int_equal(f.oob_rows, 0);
    for (size_t i = 0; i < TREES; i++) {
        double threshold = f.trees.node[f.trees.root[i]].value;
        assert_true(threshold >= 2 && threshold < 6);
        sum += threshold;
        square += (threshold - 4) * (threshold - 4);
    }
    assert_true(fabs(sum / TREES - 4) < 0.2); /* uniform from 2 to 6: the mean is 4 */
    assert_true(fabs(square / TREES - 16.0 / 12) < 0.15); /* and the variance 4^2 / 12 */
    NEAR(plm_forest_predict(&f, (double[]){2}), -1);
    NEAR(plm_forest_predict(&f, (double[]){6}), 3);
    NEAR(f.low, -1);
    plm_forest_free(&f);
}

/* Of the draws of all features the best is taken: one that tells nothing about the target does not win. */
static void test_drawn_best(void **state)
{
    double x[2 * 40], y[40];
    struct plm_forest f;
    (void)state;
    for (int i = 0; i < 40; i++) {
        x[2 * i] = i < 20;
        x[2 * i + 1] = i % 2; /* as often in either half */
        y[i] = i < 20 ? 1 : 5;
    }
    f = extra(x, y, 40, 2, 50, 0);
    assert_int_equal(f.trees.nodes, 3 * 50);
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(f.trees.node[f.trees.root[i]].feature, 0);
    NEAR(f.feature[0].importance, 1);
    plm_forest_free(&f);
}

static void test_extratrees(void **state)
{
    static double x[2 * ROWS], y[ROWS];
    struct plm_forest a, b, c;
    (void)state;
    curve(x, y);
    a = extra(x, y, ROWS, 2, 100, 1);
    b = extra(x, y, ROWS, 2, 100, 1);
    c = extra(x, y, ROWS, 2, 100, 2);
    assert_int_equal(a.trees.count, 100);
    assert_int_equal(a.trees.nodes, 100 * (2 * ROWS - 1)); /* every row has a leaf of its own */
    assert_memory_equal(a.trees.node, b.trees.node, a.trees.nodes * sizeof *a.trees.node);
    assert_true(memcmp(a.trees.node, c.trees.node, a.trees.nodes * sizeof *a.trees.node) != 0);
    for (size_t i = 0; i < ROWS; i++) /* without a bag it knows its rows by heart */
        NEAR(plm_forest_predict(&a, &x[2 * i]), y[i]);
    /* Between two rows thresholds are anywhere, so the mean of many trees is near the line; the middle would give 400
       or 403. */
    assert_true(fabs(plm_forest_predict(&a, (double[]){100.5, 0}) - 401.5) < 1);
    assert_true(a.feature[0].importance > 0.9);
    plm_forest_free(&a);
    plm_forest_free(&b);
    plm_forest_free(&c);
}

/* ---- files ---- */

static void save(const struct plm_forest *f, const char *path)
{
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    assert_int_equal(plm_model_file_save(out, "test", plm_forest_put, f), 0);
    fclose(out);
}

static void test_file(void **state)
{
    static double x[2 * ROWS], y[ROWS];
    const char *first = unit_path("first"), *second = unit_path("second");
    struct plm_error error;
    struct plm_forest a, b;
    char *one, *two;
    size_t size_one, size_two;
    (void)state;
    curve(x, y);
    a = trained(x, y, ROWS, 2, 20, 9, false);
    save(&a, first);
    assert_int_equal(forest_load(first, &b, &error), 0);
    assert_int_equal(b.trees.nodes, a.trees.nodes);
    assert_int_equal(b.trees.count, 20);
    assert_int_equal(b.rows, ROWS);
    assert_int_equal(b.seed, 9);
    assert_string_equal(b.feature[1].name, "f1");
    for (size_t i = 0; i < ROWS; i++) /* to the last bit */
        assert_true(plm_forest_predict(&a, &x[2 * i]) == plm_forest_predict(&b, &x[2 * i]));
    save(&b, second);
    one = unit_read(first, &size_one);
    two = unit_read(second, &size_two);
    assert_int_equal(size_one, size_two);
    assert_memory_equal(one, two, size_one);
    free(one);
    free(two);
    plm_forest_free(&a);
    plm_forest_free(&b);
}

/* A file of extremely randomised trees comes back whole, and a single figure that changed is noticed. */
static void test_extra_file(void **state)
{
    static double x[2 * ROWS], y[ROWS];
    const char *path = unit_path("extra");
    struct plm_error error;
    struct plm_forest a, b;
    char *text, *leaf;
    size_t size;
    (void)state;
    curve(x, y);
    y[3] = 0;
    a = extra(x, y, ROWS, 2, 5, 9);
    a.held_rows = ROWS;
    a.held_r2 = 0.5;
    a.held_error = 12;
    save(&a, path);
    assert_int_equal(forest_load(path, &b, &error), 0);
    assert_true(b.drawn);
    assert_int_equal(b.held_rows, ROWS);
    NEAR(b.held_error, 12);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(plm_forest_predict(&a, &x[2 * i]) == plm_forest_predict(&b, &x[2 * i]));
    text = unit_read(path, &size);
    leaf = strstr(text, "\nleaf 1");
    assert_non_null(leaf);
    leaf[6] = '2'; /* still in the range of the rows */
    unit_write(path, text, size);
    plm_forest_free(&a);
    plm_forest_free(&b);
    assert_int_equal(forest_load(path, &b, &error), PLM_EFORMAT);
    assert_contains(error.text, "is damaged");
    free(text);
}

#define HEAD "target y\nsplits best\nrows 20\nseed 0\nrange 1 9\nout-of-bag 0 0 0\nheld-out 0 0 0\n"
#define ONE  HEAD "features 1\nfeature a 0 9 1\n"

static const char *forest_file(const char *name, const char *payload)
{
    return model_write(name, "test", model_put_text, payload);
}

static void test_good_file(void **state)
{
    struct plm_error error;
    struct plm_forest f;
    (void)state;
    assert_int_equal(forest_load(forest_file("good", ONE "trees 2\ntree 1\nleaf 3\ntree 5\nsplit 0 4.5\nleaf 1\n"
                                                         "split 0 6\nleaf 2\nleaf 9\nend\n"),
                                 &f, &error),
                     0);
    NEAR(plm_forest_predict(&f, (double[]){4}), 2); /* (3 + 1) / 2 */
    NEAR(plm_forest_predict(&f, (double[]){5}), 2.5);
    NEAR(plm_forest_predict(&f, (double[]){7}), 6);
    plm_forest_free(&f);
}

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", ":2: the file ends too early"},
        {"target  a\n", ":2: expected words"},
        {"target a \n", ":2: expected words"},
        {"target a b\n", ":2: expected \"target\" with 1 value"},
        {"target y\nsplits some\n", ":3: splits are"},
        {"target y\nsplits best\nrows 1x\n", ":4: expected a whole number from 1"},
        {"target y\nsplits best\nrows 20\nseed 0\nrange 0 9\n", ":6: the target is above 0"},
        {HEAD "features 65\n", ":9: expected a whole number from 1 to 64"},
        {HEAD "features 1\nfeature a 9 0 1\n", ":10: the lower end"},
        {HEAD "features 1\nfeature a 0 9 2\n", ":10: an importance"},
        {HEAD "features 1\nfeature a 0 inf 1\n", ":10: expected a number"},
        {ONE "trees 0\n", ":11: expected a whole number from 1"},
        {ONE "trees 10001\n", ":11: expected a whole number from 1 to 10000"},
        {ONE "trees 1\ntree 99999999999\n", ":12: expected a whole number from 1"},
        {ONE "trees 1\ntree 1\nleaf 10\nend\n", ":13: a leaf is outside"},
        {ONE "trees 1\ntree 1\nleaf nan\nend\n", ":13: expected a number"},
        {ONE "trees 1\ntree 1\nleaf 0x3\nend\n", ":13: expected a number"},
        {ONE "trees 1\ntree 1\ntwig 3\nend\n", ":13: expected \"leaf\""},
        {ONE "trees 1\ntree 3\nsplit 1 3\nleaf 1\nleaf 2\nend\n", ":13: expected a whole number from 0 to 0"},
        {ONE "trees 1\ntree 1\nsplit 0 3\nend\n", ":13: a split of the tree lacks"},
        {ONE "trees 1\ntree 2\nsplit 0 3\nleaf 1\nend\n", ":14: a split of the tree lacks"},
        {ONE "trees 1\ntree 2\nleaf 1\nleaf 1\nend\n", ":14: the tree was complete"},
        {ONE "trees 1\ntree 1\nleaf 1\n", ":14: the file ends too early"},
        {ONE "trees 1\ntree 1\nleaf 1", ":13: the file ends in the middle"},
        {ONE "trees 1\ntree 1\nleaf 1\nend\nmore\n", ":14: something follows the end"},
    };
    struct plm_error error;
    struct plm_forest f;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(forest_load(forest_file("bad", bad[i].text), &f, &error), PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
        assert_null(f.trees.node);
    }
    assert_int_equal(forest_load(unit_path("nowhere"), &f, &error), PLM_ENOTFOUND);
    assert_int_equal(forest_load(unit_folder(), &f, &error), PLM_EFORMAT);
}

/* What stands before a payload: whose it is, and that it has arrived whole. */
static void test_head(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *part;
    } bad[] = {
        {"", PLM_EFORMAT, "is not a model of `plimsoll train`"},
        {"hello\n", PLM_EFORMAT, "is not a model of `plimsoll train`"},
        {"\1\2\3", PLM_EFORMAT, "is not a model of `plimsoll train`"},
        {"plimsoll-model 2 test 00000000 0\n", PLM_EVERSION, "version 2, but this plimsoll reads 1"},
        {"plimsoll-model 1 test 00000000\n", PLM_EFORMAT, "header lacks"},
        {"plimsoll-model 1 test 00000000 9\nleaf 3\n", PLM_EFORMAT,
         "damaged: it has 7 bytes after its header, which says 9"},
        {"plimsoll-model 1 test 00000000 7\nleaf 3\n", PLM_EFORMAT, "damaged: its checksum is "},
        {"plimsoll-forest 2\nmethod schedtune\ntarget y\n", PLM_EVERSION,
         "older plimsoll; `plimsoll train --method schedtune rows.csv -o FILE` makes a new one"},
        {"plimsoll-boosted 1\nmethod horus-utilization\n", PLM_EVERSION, "--method horus-utilization rows.csv"},
        {"plimsoll-network 1\nmethod dnnperf\n", PLM_EVERSION, "--method dnnperf rows.csv"},
        {"plimsoll-record 1\nmethod dnnperf\n", PLM_EFORMAT, "is not a model"},
    };
    struct plm_error error;
    struct plm_forest f;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(forest_load(file("head", bad[i].text), &f, &error), bad[i].code);
        assert_contains(error.text, bad[i].part);
    }
}

/* ---- SchedTune's tables ---- */

#define COLUMNS \
    "SM Count,input,comment,Activations,parameters,Pipelines/CUDA cores,Memory bandwidth (GB/s),peak mem usage\n"

static const char *runs(const char *head, const char *last)
{
    static char text[4096];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", head);
    for (int i = 1; i < 12; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "30,%d,x,%d,44.5,2560,448,%d\n", i, 100 * i, 500 + 100 * i);
    snprintf(text + at, sizeof text - at, "%s", last);
    return text;
}

/* 0, or the code of what was told; to be closed. */
static int learn(const char *path, struct plm_model *learned, struct plm_error *error)
{
    struct plm_csv table;
    const struct plm_lesson lesson = {
        .method = plm_methods_find("schedtune"), .path = path, .table = &table, .trees = 20};
    int status = plm_csv_read(path, &table, error);
    *learned = (struct plm_model){.method = lesson.method};
    assert_int_equal(status, 0);
    status = lesson.method->learner->train(&lesson, &learned->model, error);
    plm_csv_free(&table);
    return status;
}

static void test_schedtune(void **state)
{
    const double row[] = {300, 44.5, 3, 448, 2560, 30};
    const struct plm_forest *f;
    struct plm_model learned, again;
    struct plm_error error;
    char *text, *name;
    size_t size;
    (void)state;
    assert_int_equal(learn(file("runs.csv", runs(COLUMNS, "")), &learned, &error), 0);
    f = learned.model;
    assert_int_equal(f->rows, 11);
    assert_int_equal(f->features, 6);
    assert_string_equal(f->feature[0].name, "activations");
    assert_string_equal(f->feature[5].name, "sms");
    NEAR(f->feature[0].high, 1100);
    NEAR(f->feature[3].low, 448);
    assert_true(fabs(plm_forest_predict(f, row) - 800) < 100);
    assert_int_equal(plm_methods_model_open(model_write("learned", "schedtune", plm_forest_put, f), &again, &error), 0);
    assert_true(again.method == learned.method && plm_forest_predict(again.model, row) == plm_forest_predict(f, row));
    plm_methods_model_close(&again);
    plm_methods_model_close(&learned);
    /* Features of something else would give numbers that mean nothing. */
    text = unit_read(unit_path("learned"), &size);
    name = strstr(text, "feature sms");
    memcpy(name, "feature sum", strlen("feature sum"));
    assert_int_equal(plm_methods_model_open(model_write("other", "schedtune", model_put_text, strchr(text, '\n') + 1),
                                            &again, &error),
                     PLM_EFORMAT);
    assert_contains(error.text, "other features");
    plm_methods_model_close(&again);
    free(text);
}

static void test_schedtune_bad(void **state)
{
    static const struct {
        const char *head, *last, *part;
    } bad[] = {
        {"SM count,input,parameters,activations,a,b,c,d\n", "", "no column \"Memory bandwidth (GB/s)\""},
        {COLUMNS, "30,1,x,many,44.5,2560,448,500\n", ":13: Activations is \"many\", which is not a number"},
        {COLUMNS, "30,1,x,100,,2560,448,500\n", ":13: parameters is \"\""},
        {COLUMNS, "30,1,x,100,44.5,2560,448,0\n", ":13: peak mem usage is 0"},
        {COLUMNS, "30,1,x,-1,44.5,2560,448,500\n", ":13: Activations is \"-1\""},
    };
    struct plm_model learned;
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(learn(file("bad.csv", runs(bad[i].head, bad[i].last)), &learned, &error), PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
        plm_methods_model_close(&learned);
    }
    assert_int_equal(learn(file("few.csv", COLUMNS "30,1,x,1,2,3,4,5\n"), &learned, &error), PLM_EFORMAT);
    assert_contains(error.text, "1 rows are too few");
    plm_methods_model_close(&learned);
}

/* ---- SchedTune's answer ---- */

/* Two layers put out 200 and 100 MiB; what the third passes on and the model's own output are not added. 44.5 MiB of parameters; 3 MiB of input. */
#define JOB(dtype, layer, outputs)                                                                                  \
    "{\"schema\": \"plimsoll.description/1\", \"torch\": \"2.15.0\", \"computed\": false,"                          \
    " \"model\": {\"class\": \"Net\", \"dtype\": \"" dtype "\", \"parameters\": 11665408, \"trainable\": 11665408," \
    "   \"parameter_bytes\": 46661632, \"buffer_bytes\": 0, \"largest_module\": 2000},"                             \
    " \"batch\": {\"size\": 8, \"inputs\": [{\"shape\": [8, 98304], \"dtype\": \"float32\", \"bytes\": 3145728}]}," \
    " \"optimizer\": {\"class\": \"SGD\", \"state_bytes\": 0, \"zero_grad\": \"after-step\"},"                      \
    " \"modules\": [{\"name\": \"\", \"class\": \"Net\", \"leaf\": false, \"parent\": -1},"                         \
    "   {\"name\": \"a\", \"class\": \"" layer "\", \"leaf\": true, \"parent\": 0},"                                \
    "   {\"name\": \"b\", \"class\": \"ReLU\", \"leaf\": true, \"parent\": 0},"                                     \
    "   {\"name\": \"c\", \"class\": \"Permute\", \"leaf\": true, \"parent\": 0}],"                                 \
    " \"calls\": [" outputs "]}"
#define TWO                                                                            \
    "{\"module\": 1, \"outputs\": [{\"shape\": [8, 6553600], \"bytes\": 209715200}]}," \
    "{\"module\": 2, \"outputs\": [{\"shape\": [8, 3276800], \"bytes\": 104857600}]}," \
    "{\"module\": 3, \"outputs\": [{\"shape\": [8, 3276800], \"bytes\": 104857600}]}," \
    "{\"module\": 0, \"outputs\": [{\"shape\": [8, 3276800], \"bytes\": 104857600}]}"

static const struct plm_card known_card = {.id = "known", .bandwidth_gbs = 448, .cuda_cores = 2560, .sms = 30};

static struct plm_answer schedtune(const struct plm_model *model, const char *text, const struct plm_card *card,
                                   uint64_t context)
{
    const struct plm_question question = {.card = card, .usable = 2 * GIB, .context = context};
    struct plm_description *d = NULL;
    struct plm_evidence capture = {.model = model};
    struct plm_inquiry inquiry;
    struct plm_error error;
    struct plm_answer answer;
    if (plm_description_parse("job.json", text, strlen(text), &d, &error))
        fail_msg("%s", error.text);
    capture.description = d;
    inquiry = plm_inquiry_open(plm_methods_find("schedtune"), &capture);
    answer = plm_inquiry_ask(&inquiry, &question);
    plm_inquiry_close(&inquiry);
    plm_description_free(d);
    return answer;
}

/* 800 MiB from 250 to 350 MiB of activations, 500 below and 1000 above. */
static const char schedtune_trees[] =
    "target peak-mib\nsplits best\nrows 11\nseed 0\nrange 500 1600\nout-of-bag 0 0 0\nheld-out 0 0 0\nfeatures 6\n"
    "feature activations 100 1100 1\nfeature parameters 44.5 44.5 0\nfeature input 1 11 0\n"
    "feature bandwidth 448 448 0\nfeature cores 2560 2560 0\nfeature sms 30 30 0\n"
    "trees 1\ntree 5\nsplit 0 250\nleaf 500\nsplit 0 350\nleaf 800\nleaf 1000\nend\n";

static void test_schedtune_answer(void **state)
{
    struct plm_model other = {.method = plm_methods_find("extratrees")}, f;
    struct plm_card card = known_card;
    struct plm_error error;
    struct plm_answer a;
    (void)state;
    assert_int_equal(
        plm_methods_model_open(model_write("trees", "schedtune", model_put_text, schedtune_trees), &f, &error), 0);
    /* A job with 300 MiB of activations took 800; the context is a part of that. */
    a = schedtune(&f, JOB("float32", "Conv2d", TWO), &card, 100 * MIB);
    assert_int_equal(a.state, PLM_ANSWERED);
    assert_int_equal(a.bytes, 700 * MIB);
    assert_false(a.oom);
    assert_int_equal(schedtune(&f, JOB("float32", "Conv2d", TWO), &card, 900 * MIB).bytes, 0);
    a = schedtune(&f, JOB("float32", "Linear", TWO), &card, 0);
    assert_int_equal(a.state, PLM_OUTSIDE);
    assert_int_equal(a.bytes, 800 * MIB);
    assert_contains(a.note, "CNNs");
    a = schedtune(&f, JOB("bfloat16", "Conv2d", TWO), &card, 0);
    assert_int_equal(a.state, PLM_OUTSIDE);
    assert_contains(a.note, "bfloat16");
    card.sms = 108;
    a = schedtune(&f, JOB("float32", "Conv2d", TWO), &card, 0);
    assert_int_equal(a.state, PLM_OUTSIDE);
    assert_contains(a.note, "108 SMs: its rows have 30 to 30");
    card.bandwidth_gbs = 0;
    a = schedtune(&f, JOB("float32", "Conv2d", TWO), &card, 0);
    assert_int_equal(a.state, PLM_UNANSWERED);
    assert_contains(a.note, "bandwidth");
    assert_int_equal(schedtune(&f, JOB("float32", "Conv2d", ""), &known_card, 0).state, PLM_UNANSWERED);
    a = schedtune(NULL, JOB("float32", "Conv2d", TWO), &known_card, 0);
    assert_int_equal(a.state, PLM_UNANSWERED);
    assert_contains(a.note, "(--model FILE, from `plimsoll train --method schedtune`)");
    a = schedtune(&other, JOB("float32", "Conv2d", TWO), &known_card, 0);
    assert_int_equal(a.state, PLM_UNANSWERED);
    assert_contains(a.note, "a model of its own: this one was trained for extratrees");
    plm_methods_model_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step),           cmocka_unit_test(test_the_best_split),
        cmocka_unit_test(test_equal_rows),       cmocka_unit_test(test_close_values),
        cmocka_unit_test(test_many_trees),       cmocka_unit_test(test_draws),
        cmocka_unit_test(test_nothing_to_learn), cmocka_unit_test(test_file),
        cmocka_unit_test(test_good_file),        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_schedtune),        cmocka_unit_test(test_schedtune_bad),
        cmocka_unit_test(test_schedtune_answer), cmocka_unit_test(test_drawn_thresholds),
        cmocka_unit_test(test_drawn_best),       cmocka_unit_test(test_extratrees),
        cmocka_unit_test(test_extra_file),       cmocka_unit_test(test_head),
    };
    return RUN(tests);
}
