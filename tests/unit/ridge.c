/* Kernel ridge regression: what it must find is a function that is known. */
#include "study/learn/ridge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "models.h"

enum { ROWS = 60, FEATURES = 3 };

static const char *name(size_t feature)
{
    static const char *const names[FEATURES] = {"a", "b", "same"};
    return names[feature];
}
static const struct plm_correction_frame frame = {"target", FEATURES, name};

static double wave(double a, double b)
{
    return 5 + sin(a / 300) + b;
}

/* A feature in hundreds, one in thousandths, one that does not vary. */
static void rows_make(double x[ROWS][FEATURES], double y[ROWS])
{
    for (int i = 0; i < ROWS; i++) {
        x[i][0] = 17.0 * (i * 7 % ROWS);
        x[i][1] = 0.001 * (i % 10);
        x[i][2] = 4;
        y[i] = wave(x[i][0], x[i][1]);
    }
}

static void train(struct plm_ridge *ridge)
{
    double x[ROWS][FEATURES], y[ROWS];
    struct plm_error error;
    rows_make(x, y);
    assert_int_equal(plm_ridge_train(&(struct plm_tree_data){x[0], y, ROWS, FEATURES}, ridge, &error), 0);
}

/* Between the rows, and near the mean far from all of them. */
static void test_function(void **state)
{
    struct plm_ridge ridge;
    (void)state;
    train(&ridge);
    for (int i = 0; i < 20; i++) {
        const double x[FEATURES] = {100 + 40.0 * i, 0.0045, 4};
        assert_true(fabs(plm_ridge_predict(&ridge, x) - wave(x[0], x[1])) < 0.03);
    }
    assert_true(fabs(plm_ridge_predict(&ridge, (double[]){1e6, 0, 4}) - ridge.base) < 1e-9);
    /* What did not vary tells nothing. */
    assert_true(plm_ridge_predict(&ridge, (double[]){500, 0, 4}) == plm_ridge_predict(&ridge, (double[]){500, 0, 9}));
    plm_ridge_free(&ridge);
}

/* Two rows, worked out: features -1 and 1 apart by a mean square of 4, targets 0 and 2. */
static void test_two(void **state)
{
    const double x[] = {10, 20}, y[] = {0, 2};
    struct plm_error error;
    struct plm_ridge r;
    (void)state;
    assert_int_equal(plm_ridge_train(&(struct plm_tree_data){x, y, 2, 1}, &r, &error), 0);
    assert_true(r.base == 1 && r.mean[0] == 15 && r.scale[0] == 5);
    assert_true(fabs(r.weight[0] + r.weight[1]) < 1e-12);
    assert_true(fabs(plm_ridge_predict(&r, x) - (1 + r.weight[0] * (1 - exp(-4 * r.width)))) < 1e-12);
    assert_true(plm_ridge_predict(&r, x + 1) > 1 && plm_ridge_predict(&r, x) < 1);
    plm_ridge_free(&r);
}

/* Targets that no feature tells anything about: an answer stays near the mean of all, because the rows that were left
   out say that following the others is worse. */
static void test_noise(void **state)
{
    enum { MANY = 60 };
    double x[MANY * FEATURES], y[MANY], followed = 0, all = 0;
    uint32_t random = 1;
    struct plm_error error;
    struct plm_ridge r;
    (void)state;
    for (int i = 0; i < MANY * (FEATURES + 1); i++) {
        random = random * 1664525 + 1013904223;
        *(i < MANY * FEATURES ? &x[i] : &y[i - MANY * FEATURES]) = (double)(random >> 8) / (1 << 24) - 0.5;
    }
    assert_int_equal(plm_ridge_train(&(struct plm_tree_data){x, y, MANY, FEATURES}, &r, &error), 0);
    for (int i = 0; i < MANY; i++) {
        followed += pow(plm_ridge_predict(&r, x + i * FEATURES) - r.base, 2);
        all += pow(y[i] - r.base, 2);
    }
    assert_true(followed < 0.1 * all);
    plm_ridge_free(&r);
}

/* What is learned of a forecast and a measured figure leads from the one to the other. */
static void test_corrections(void **state)
{
    static const enum plm_correction_way ways[] = {PLM_CORRECT_BY_SUM, PLM_CORRECT_BY_FACTOR};
    (void)state;
    for (size_t i = 0; i < 2; i++)
        assert_true(fabs(plm_correction_apply(ways[i], 5, plm_correction_target(ways[i], 5, 8)) - 8) < 1e-9);
    assert_true(fabs(plm_correction_apply(PLM_CORRECT_BY_SUM, 5, 2) - 7) < 1e-12);
    assert_true(fabs(plm_correction_apply(PLM_CORRECT_BY_FACTOR, 5, 0) - 5) < 1e-12);
}

static void frame_put(FILE *out, const void *ridge)
{
    plm_ridge_put(out, &frame, ridge);
}

static int ridge_load(const char *path, const struct plm_correction_frame *f, struct plm_ridge *r,
                      struct plm_error *error)
{
    struct plm_model_file file;
    int status = plm_model_file_open(path, &file, error);
    *r = (struct plm_ridge){0};
    if (status == 0)
        status = plm_ridge_read(&file, f, r);
    plm_model_file_close(&file);
    return status;
}

static void test_file(void **state)
{
    const double x[FEATURES] = {333, 0.002, 4};
    const struct plm_correction_frame other = {"another", FEATURES, name};
    struct plm_ridge ridge, again;
    struct plm_error error;
    const char *path;
    (void)state;
    train(&ridge);
    path = model_write("ridge", "test", frame_put, &ridge);
    assert_int_equal(ridge_load(path, &frame, &again, &error), 0);
    assert_true(again.rows == ROWS && plm_ridge_predict(&again, x) == plm_ridge_predict(&ridge, x));
    plm_ridge_free(&again);
    assert_int_equal(ridge_load(path, &other, &again, &error), PLM_EFORMAT);
    assert_non_null(strstr(error.text, "no correction of another"));
    plm_ridge_free(&ridge);
}

#define HEAD(width, features) "target target\nrows 1\nbase 0\nwidth " width "\nfeatures " features "\n"
#define TWO                   HEAD("1", "3") "feature a 0 1\nfeature b 0 1\n"
#define ALL                   TWO "feature same 0 1\n"

static void test_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"", ":2: the file ends too early"},
               {HEAD("1", "2"), "no correction of target"},
               {HEAD("0", "3"), ":5: a width is above 0"},
               {TWO "feature other 0 1\n", ":9: there should be another feature"},
               {TWO "feature same 0 -1\n", ":9: a scale is 0 or more"},
               {ALL "points\n0 0 x\n", ":11: expected a number"},
               {ALL "points\n0 0 1e19\n", ":11: a number is too large"},
               {ALL "points\n0 0\n", ":11: expected eight numbers"},
               {ALL "points\n0 0 0\nweights\n1\n2\n", ":13: something follows the end"}};
    const double x[FEATURES] = {0}, y = 1;
    struct plm_ridge ridge;
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(ridge_load(model_write("bad", "test", model_put_text, bad[i].text), &frame, &ridge, &error),
                         PLM_EFORMAT);
        assert_non_null(strstr(error.text, bad[i].says));
    }
    assert_int_equal(plm_ridge_train(&(struct plm_tree_data){x, &y, 1, FEATURES}, &ridge, &error), PLM_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_function),    cmocka_unit_test(test_two),  cmocka_unit_test(test_noise),
        cmocka_unit_test(test_corrections), cmocka_unit_test(test_file), cmocka_unit_test(test_refused),
    };
    return RUN(tests);
}
