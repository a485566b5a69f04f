/* Truth about time, figures of agreement by hand, the search for constants, the fit to MACs and activations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/evaluate/time_judge.h"
#include "unit.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static const char *file(const char *name, const char *text)
{
    const char *path = unit_path(name);
    unit_write(path, text, strlen(text));
    return path;
}

/* ---- agreement ---- */

/* Measured 1, 2, 3, 4: mean 2.5, squared deviations 5. Errors 0, 0, 0, 1: R2 = 1 - 1/5. */
static void test_agreement_by_hand(void **state)
{
    static const double predicted[] = {1, 2, 3, 5}, measured[] = {1, 2, 3, 4};
    struct plm_agreement a;
    (void)state;
    plm_agreement_make(predicted, measured, 4, 1, &a);
    assert_int_equal(a.count, 4);
    NEAR(a.value[PLM_AGREE_R2], 0.8);
    NEAR(a.value[PLM_AGREE_SPEARMAN], 1);
    NEAR(a.value[PLM_AGREE_MAE], 0.25);
    NEAR(a.value[PLM_AGREE_MEDIAN], 0);
    NEAR(a.value[PLM_AGREE_P90], 0.7 * 0.25); /* 0.9 * 3 = 2.7: seven tenths from 0 to 1/4 */
}

/* Ranks of 10, 20, 20, 30 are 1, 2.5, 2.5, 4 against 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5. */
static void test_spearman_ties(void **state)
{
    static const double predicted[] = {20, 10, 30, 20}, measured[] = {2, 1, 4, 3};
    static const double reversed[] = {-1, -2, -3}, ascending[] = {5, 6, 700};
    struct plm_agreement a;
    (void)state;
    plm_agreement_make(predicted, measured, 4, 1, &a);
    NEAR(a.value[PLM_AGREE_SPEARMAN], 4.5 / sqrt(4.5 * 5));
    plm_agreement_make(reversed, ascending, 3, 1, &a);
    NEAR(a.value[PLM_AGREE_SPEARMAN], -1);
}

/* What was not above 0 has no relative error; what is all alike has no R2 and no ranks. */
static void test_agreement_not_known(void **state)
{
    static const double predicted[] = {0.5, 1}, measured[] = {0, 2}, alike[] = {3, 3};
    struct plm_agreement a;
    (void)state;
    plm_agreement_make(predicted, measured, 2, 1, &a);
    assert_int_equal(a.relative, 1);
    NEAR(a.value[PLM_AGREE_MEDIAN], 0.5);
    NEAR(a.value[PLM_AGREE_MAE], 0.75);
    plm_agreement_make(predicted, alike, 2, 1, &a);
    assert_true(isnan(a.value[PLM_AGREE_R2]) && isnan(a.value[PLM_AGREE_SPEARMAN]));
    NEAR(a.value[PLM_AGREE_MAE], 2.25);
    plm_agreement_make(predicted, measured, 0, 1, &a);
    assert_true(a.count == 0 && isnan(a.value[PLM_AGREE_MAE]));
}

/* A constant error has no spread; else the interval holds the figure, and the seed decides. */
static void test_agreement_intervals(void **state)
{
    double predicted[200], measured[200];
    struct plm_agreement a, same, other;
    (void)state;
    for (int i = 0; i < 200; i++) {
        measured[i] = i + 1;
        predicted[i] = 1.1 * measured[i];
    }
    plm_agreement_make(predicted, measured, 200, 1, &a);
    NEAR(a.interval[PLM_AGREE_MEDIAN].low, 0.1);
    NEAR(a.interval[PLM_AGREE_P90].high, 0.1);
    NEAR(a.interval[PLM_AGREE_SPEARMAN].low, 1);
    for (int i = 0; i < 200; i++)
        predicted[i] += 10 * sin(i);
    plm_agreement_make(predicted, measured, 200, 1, &a);
    plm_agreement_make(predicted, measured, 200, 1, &same);
    plm_agreement_make(predicted, measured, 200, 2, &other);
    for (int i = 0; i < PLM_AGREE_FIGURES; i++) {
        assert_true(a.interval[i].low < a.value[i] && a.value[i] < a.interval[i].high);
        assert_true(a.interval[i].low == same.interval[i].low && a.interval[i].low != other.interval[i].low);
    }
    /* The standard error of a mean of 200: 1.96 of it to either side is what 2,000 resamples come to, within a sixth.
       */
    double mean = a.value[PLM_AGREE_MAE], squares = 0, half;
    for (int i = 0; i < 200; i++)
        squares += pow(fabs(predicted[i] - measured[i]) - mean, 2);
    half = 1.96 * sqrt(squares / 200 / 200);
    assert_true(fabs((a.interval[PLM_AGREE_MAE].high - a.interval[PLM_AGREE_MAE].low) / 2 / half - 1) < 1.0 / 6);
}

/* ---- truth ---- */

static const char infer[] =
    "model,infer_img_size,infer_samples_per_sec,infer_step_time,infer_batch_size,infer_gmacs,infer_macts\n"
    "resnet18,224,8000,30.5,256,1.82,2.48\nvit,160,,,256,,\n";
static const char busy[] = "name,input,output,depth,arch,batch,gputl,gract,smact\nx,5,1,1,uniform,7,34.5,0.3,0\n";
static const char any[] =
    "family,model,batch_size,image_size,mode,gpu,step_time_ms,gputl\nMLP,a,8,,train,A100,1.5,0.5\n";

static void test_truth_layouts(void **state)
{
    struct plm_timed_truth t;
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_timed_truth_read(file("i.csv", infer), PLM_TIMED_STEP, &t, &error), 0);
    assert_true(t.rows == 1 && t.without == 1 && t.row[0].batch == 256 && t.row[0].image == 224 && t.row[0].line == 2);
    assert_string_equal(t.row[0].family, "timm");
    assert_string_equal(t.row[0].mode, "infer");
    NEAR(t.row[0].figure[PLM_FIGURE_STEP], 30.5);
    NEAR(t.row[0].macts, 2.48);
    plm_timed_truth_free(&t);
    assert_int_equal(plm_timed_truth_read(file("b.csv", busy), PLM_TIMED_UTILIZATION, &t, &error), 0);
    assert_string_equal(t.row[0].family, "mlp");
    assert_true(t.row[0].batch == 7 && t.row[0].known == 7u << PLM_FIGURE_METRIC);
    NEAR(t.row[0].figure[PLM_FIGURE_METRIC + PLM_METRIC_GPUTL], 0.345);
    assert_true(plm_timed_row_has(&t, &t.row[0], "X") && !plm_timed_row_has(&t, &t.row[0], "timm"));
    plm_timed_truth_free(&t);
    assert_int_equal(plm_timed_truth_read(file("a.csv", any), PLM_TIMED_STEP, &t, &error), 0);
    assert_string_equal(t.row[0].gpu, "A100");
    assert_string_equal(t.row[0].mode, "train");
    assert_true(t.row[0].known == (1u << PLM_FIGURE_STEP | 1u << PLM_FIGURE_METRIC));
    NEAR(t.row[0].figure[PLM_FIGURE_METRIC + PLM_METRIC_GPUTL], 0.5);
    plm_timed_truth_free(&t);
}

static bool recognized(const char *text, enum plm_timed_kind *kind)
{
    struct plm_csv table;
    bool is;
    assert_int_equal(plm_csv_read(file("r.csv", text), &table, NULL), 0);
    is = plm_timed_truth_recognize(&table, kind);
    plm_csv_free(&table);
    return is;
}

static void test_truth_recognized(void **state)
{
    enum plm_timed_kind kind;
    (void)state;
    assert_true(recognized(infer, &kind) && kind == PLM_TIMED_STEP);
    assert_true(recognized("train_step_time\n1\n", &kind) && kind == PLM_TIMED_STEP);
    assert_true(recognized(busy, &kind) && kind == PLM_TIMED_UTILIZATION);
    assert_true(recognized(any, &kind) && kind == PLM_TIMED_STEP);
    assert_false(recognized("family,model,batch_size,ground\na,b,1,2\n", &kind));
    assert_false(recognized("family,model,batch_size,device_used,step_time_ms\na,b,1,2,3\n",
                            &kind)); /* as `measure` writes it */
    assert_true(plm_timed_truth_measured("infer_step_time") && plm_timed_truth_measured("smact") &&
                !plm_timed_truth_measured("model"));
}

static void test_truth_bad(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"model\nx\n", "no column batch_size"},
        {"batch_size,step_time_ms\n", "no rows"},
        {"batch_size,step_time_ms\n1,2\n", ":2: the row names no family"},
        {"family,batch_size,step_time_ms\na,1,soon\n", ":2: step_time_ms is \"soon\", which is not a number"},
        {"family,batch_size,step_time_ms\na,1,-2\n", ":2: step_time_ms is \"-2\", which is not a time in ms"},
        {"family,batch_size,step_time_ms\na,1.5,2\n", "batch_size is \"1.5\", which is not a whole number from 1"},
        {"family,batch_size,step_time_ms,gputl\na,1,2,34.5\n", "gputl is \"34.5\", which is not a share"},
        {"arch,batch,step_time_ms,gputl\na,1,2,101\n", "gputl is \"101\", which is not a percentage"},
        {"family,batch_size,step_time_ms,smact\na,1,2,1.5\n", "smact is \"1.5\", which is not a share"},
        {"family,batch_size,mode,step_time_ms\na,1,walk,2\n", "mode is \"walk\", which is not infer or train"},
        {"family,batch_size,step_time_ms\na,1,\n", "no row has a figure for --truth step-time"},
    };
    struct plm_timed_truth t;
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_true(plm_timed_truth_read(file("bad.csv", bad[i].text), PLM_TIMED_STEP, &t, &error) < 0);
        assert_contains(error.text, bad[i].part);
    }
}

/* ---- constants ---- */

static double valley(const double *x, void *context)
{
    ++*(size_t *)context;
    return pow(x[0] - 0.3, 2) + 10 * pow(x[1] - x[0] * x[0], 2) + fabs(x[2] - 0.9);
}

static double edge(const double *x, void *context)
{
    (void)context;
    return x[0];
}

/* A hole that only who is told finds. */
static double hole(const double *x, void *context)
{
    (void)context;
    return fabs(x[0] - 0.123) + fabs(x[1] - 0.456) > 1e-12;
}

static void test_minimum(void **state)
{
    double x[3] = {0.9, 0.9, 0.1}, least;
    size_t asked = 0;
    (void)state;
    assert_true(plm_minimum_find(valley, &asked, 3, x, &least) == asked && asked < 200);
    assert_true(least < 0.01 && fabs(x[0] - 0.3) < 0.05 && fabs(x[2] - 0.9) < 0.01);
    x[0] = 0.5;
    plm_minimum_find(edge, NULL, 1, x, &least);
    assert_true(x[0] == 0 && least == 0);
    /* Where it begins is one of those it tries. */
    x[0] = 0.123;
    x[1] = 0.456;
    plm_minimum_find(hole, NULL, 2, x, &least);
    NEAR(least, 0);
    NEAR(x[0], 0.123);
    NEAR(x[1], 0.456);
}

static void test_fit_names(void **state)
{
    struct plm_timed_fit fit;
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_timed_fit_parse("host_factor,floor_us", &fit, &error), 0);
    assert_true(fit.constants == 2 && fit.constant[1] == &plm_speed[PLM_SPEED_floor_us]);
    assert_true(plm_timed_fit_parse("host_factor,wind", &fit, &error) < 0);
    assert_contains(error.text, "no constant \"wind\"");
    assert_true(plm_timed_fit_parse("floor_us,floor_us", &fit, &error) < 0);
    assert_contains(error.text, "twice");
    assert_true(plm_timed_fit_parse("floor_us,gap_us,latency_us,launch_us", &fit, &error) < 0);
    assert_contains(error.text, "at most three");
}

/* ---- MACs and activations ---- */

/* Times that follow the rule give its constants back, though a tenth of them are three times as long. */
static void test_floor(void **state)
{
    enum { ROWS = 40 };
    struct plm_timed_row row[ROWS] = {{0}};
    struct plm_timed_run run[ROWS] = {{0}};
    struct plm_timed_bench bench = {.run = run, .runs = ROWS};
    struct plm_timed_floor floor;
    size_t chosen[ROWS];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        row[i] =
            (struct plm_timed_row){.gmacs = 0.5 + (double)i, .macts = 1 + (double)(i * 7 % 11), .batch = 8, .known = 1};
        row[i].figure[PLM_FIGURE_STEP] = 0.02 * row[i].gmacs * 8 + 0.1 * row[i].macts * 8 + 5;
        row[i].figure[PLM_FIGURE_STEP] *= i % 10 == 3 ? 3 : 1;
        run[i].row = &row[i];
        chosen[i] = i;
    }
    plm_timed_floor_fit(&bench, chosen, ROWS, &floor);
    assert_true(floor.known && floor.rows == ROWS);
    assert_true(fabs(floor.a - 0.02) < 1e-3 && fabs(floor.b - 0.1) < 1e-3 && fabs(floor.c - 5) < 0.05);
    row[0].macts = 0;
    assert_true(isnan(plm_timed_floor_ask(&floor, &row[0])));
    assert_true(fabs(plm_timed_floor_ask(&floor, &row[1]) / row[1].figure[0] - 1) < 0.01);
    plm_timed_floor_fit(&bench, chosen, 9, &floor);
    assert_false(floor.known);
}

/* ---- correction ---- */

enum { SMACT = PLM_FIGURE_METRIC + PLM_METRIC_SMACT, SMOCC = PLM_FIGURE_METRIC + PLM_METRIC_SMOCC };

/* Multiprocessors are active for longer than forecast by a sum that changes from row to row; each has the warps that
   were forecast. SMOCC then needs nothing of its own: it follows SMACT, whatever that is corrected to. */
static void test_correction_stands(void **state)
{
    enum { ROWS = 40 };
    struct plm_timed_row row[ROWS] = {{0}};
    struct plm_timed_run run[ROWS] = {{0}};
    struct plm_timed_forecast forecast[ROWS] = {{0}};
    const struct plm_timed_truth truth = {.kind = PLM_TIMED_UTILIZATION};
    const struct plm_timed_bench bench = {.run = run, .runs = ROWS, .truth = &truth};
    struct plm_timed_correct correct;
    struct plm_error error;
    size_t chosen[ROWS];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        const double active = 0.1 + 0.01 * (double)i, warps = 0.2 + 0.1 * (double)(i % 3);
        forecast[i] = (struct plm_timed_forecast){.known = true, .step = 1e6, .figure = {[SMACT] = active}};
        forecast[i].figure[SMOCC] = active * warps;
        row[i] = (struct plm_timed_row){.known = 1u << SMACT | 1u << SMOCC, .batch = 8};
        row[i].figure[SMACT] = active + 0.1 * sin((double)i / 5);
        row[i].figure[SMOCC] = row[i].figure[SMACT] * warps;
        run[i].row = &row[i];
        chosen[i] = i;
    }
    assert_int_equal(plm_timed_correct_learn(&bench, forecast, chosen, ROWS, &correct, &error), 0);
    for (size_t i = 0; i < ROWS; i++) {
        const double active = plm_timed_correct_figure(&correct, &row[i], &forecast[i], SMACT);
        assert_true(fabs(active - row[i].figure[SMACT]) < 0.02);
        NEAR(plm_timed_correct_figure(&correct, &row[i], &forecast[i], SMOCC),
             active * forecast[i].figure[SMOCC] / forecast[i].figure[SMACT]);
    }
    plm_timed_correct_free(&correct);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement_by_hand),   cmocka_unit_test(test_spearman_ties),
        cmocka_unit_test(test_agreement_not_known), cmocka_unit_test(test_agreement_intervals),
        cmocka_unit_test(test_truth_layouts),       cmocka_unit_test(test_truth_recognized),
        cmocka_unit_test(test_truth_bad),           cmocka_unit_test(test_minimum),
        cmocka_unit_test(test_fit_names),           cmocka_unit_test(test_floor),
        cmocka_unit_test(test_correction_stands),
    };
    return RUN(tests);
}
