/* The study: classes and their scores, rows that are held out, formulas on rows, the constant of the stack, demands; and
   the two methods of trees that learn from rows: extratrees and plimsoll-learned. */
#include "study/evaluate/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "fit/outcome.h"
#include "report/result.h"
#include "study/learn/label.h"
#include "study/learn/white_box.h"
#include "models.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* ---- scores ---- */

static void test_classes(void **state)
{
    (void)state;
    assert_int_equal(plm_study_class(0, 1000), 0);
    assert_int_equal(plm_study_class(1, 1000), 1);
    assert_int_equal(plm_study_class(1000, 1000), 1); /* an upper edge belongs to its class */
    assert_int_equal(plm_study_class(1000.5, 1000), 2);
    assert_int_equal(plm_study_class(3 * 0.1 * 1000, 100), 3); /* 300.00000000000006 */
    assert_int_equal(plm_study_class(1e30, 1000), 1023);
    assert_int_equal(plm_study_class(-5, 1000), 0);
}

/* By hand. Classes of 10: truth 1 1 2 2 3, answers 1 2 2 1 3, and one row without an answer.
   Accuracy 3/5. F1: class 1 one of two said, one of two there: 1/2; class 2 the same; class 3: 1; mean 2/3. One answer lies a
   class below. Errors 0 10 0 10 0. Mean of the truth 13, deviations squared 64 64 4 4 144: R2 = 1 - 200/280. */
static void test_scores(void **state)
{
    static const double truth[] = {5, 5, 15, 15, 25, 35}, answer[] = {5, 15, 15, 5, 25, NAN};
    struct plm_study_score s;
    (void)state;
    plm_study_score_make(answer, truth, 6, 10, true, true, 1, &s);
    assert_int_equal(s.asked, 6);
    assert_int_equal(s.answered, 5);
    NEAR(s.value[PLM_STUDY_ACCURACY], 0.6);
    NEAR(s.value[PLM_STUDY_F1], 2.0 / 3);
    NEAR(s.value[PLM_STUDY_UNDER], 0.2);
    NEAR(s.value[PLM_STUDY_BELOW], 0.2);
    NEAR(s.value[PLM_STUDY_EXACT], 0.6);
    NEAR(s.value[PLM_STUDY_MAE], 4);
    NEAR(s.value[PLM_STUDY_R2], 1 - 200.0 / 280);
    for (int i = 0; i < PLM_STUDY_FIGURES; i++)
        assert_true(s.interval[i].low <= s.value[i] && s.value[i] <= s.interval[i].high);
    plm_study_score_make(answer, truth, 6, 10, false, false, 1, &s);
    assert_true(isnan(s.value[PLM_STUDY_EXACT]) && isnan(s.interval[PLM_STUDY_MAE].low));
    plm_study_score_make(answer + 5, truth + 5, 1, 10, true, true, 1, &s);
    assert_int_equal(s.answered, 0);
    assert_true(isnan(s.value[PLM_STUDY_ACCURACY]));
}

/* Below is to the MiB, a class is not: 1,429.4 is 1,429 and not below it. */
static void test_below(void **state)
{
    static const double truth[] = {1429, 1429, 999, 1500}, answer[] = {1429.4, 1428.4, 1001, 1499};
    struct plm_study_score s;
    (void)state;
    plm_study_score_make(answer, truth, 4, 1000, true, false, 1, &s);
    NEAR(s.value[PLM_STUDY_BELOW], 0.5);
    NEAR(s.value[PLM_STUDY_EXACT], 0.25);
    NEAR(s.value[PLM_STUDY_UNDER], 0);
    NEAR(s.value[PLM_STUDY_ACCURACY], 0.75);
    NEAR(s.value[PLM_STUDY_F1], 3.0 / 7); /* class 1: none; class 2: 3 of 4 said, 3 of 3 there: 6/7 */
}

/* The interval of a share of 1000 rows is about that of the binomial distribution: 0.5 +- 1.96 * sqrt(0.25/1000). */
static void test_interval(void **state)
{
    enum { N = 1000 };
    static double truth[N], answer[N];
    struct plm_study_score s;
    (void)state;
    for (int i = 0; i < N; i++) {
        truth[i] = 1500;
        answer[i] = i % 2 ? 1500 : 2500;
    }
    plm_study_score_make(answer, truth, N, 1000, true, true, 3, &s);
    assert_true(fabs(s.interval[PLM_STUDY_ACCURACY].low - (0.5 - 0.031)) < 0.006);
    assert_true(fabs(s.interval[PLM_STUDY_ACCURACY].high - (0.5 + 0.031)) < 0.006);
}

/* ---- tables ---- */

#define HEAD                                                                                                       \
    "family,gpu,measured_device_mib,measured_gputl,allocated,reserved,reserved_low,reserved_high,gputl,x_batch,x_" \
    "layers,"                                                                                                      \
    "x_parameters,x_activations,x_convolutions\n"

/* Row i: parameters i + 1; what was measured, what the virtual GPU said. */
struct row {
    double measured, busy, reserved, low, high;
    int convolutions;
};

static const char *table(const char *name, const struct row *row, size_t rows)
{
    const char *path = unit_path(name);
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    fputs(HEAD, out);
    for (size_t i = 0; i < rows; i++)
        fprintf(out, "%s,%s,%g,%g,%.0f,%.0f,%.0f,%.0f,%g,4,3,%zu,%zu,%d\n", i % 2 ? "mlp" : "cnn",
                i % 4 < 2 ? "a" : "b", row[i].measured, row[i].busy, row[i].reserved * MIB / 2, row[i].reserved * MIB,
                row[i].low * MIB, row[i].high * MIB, row[i].busy / 100 / 2, i + 1, 10 * (i + 1), row[i].convolutions);
    fclose(out);
    return path;
}

static struct plm_study opened(const char *path, const char *methods, const char *unseen)
{
    const struct plm_study_options options = {.path = path,
                                              .methods = methods,
                                              .unseen = unseen,
                                              .targets = "measured_device_mib",
                                              .bin = 1,
                                              .folds = 5,
                                              .seed = 1};
    struct plm_study s;
    struct plm_error error;
    if (plm_study_open(&options, &s, &error))
        fail_msg("%s", error.text);
    return s;
}

enum { ROWS = 60 };

/* Targets that nothing tells: who has seen a row knows it by heart, who has not cannot. */
static void noise(struct row *row)
{
    uint64_t random = 5;
    for (int i = 0; i < ROWS; i++)
        row[i] = (struct row){.measured = 1000 + (double)plm_splitmix_below(&random, 1000), .busy = 50, .reserved = 10};
}

static void test_fresh_models(void **state)
{
    static struct row row[ROWS];
    struct plm_study s;
    const struct plm_study_result *r;
    (void)state;
    noise(row);
    s = opened(table("noise.csv", row, ROWS), "extratrees", NULL);
    plm_study_run(&s);
    r = plm_study_result(&s, 0, 0, 0);
    assert_true(r->asked);
    assert_int_equal(r->trainings, 5);
    assert_int_equal(r->score[s.families].answered, ROWS);
    assert_true(r->score[s.families].value[PLM_STUDY_R2] < 0.3); /* a model that saw its rows has 1 */
    assert_true(r->score[s.families].value[PLM_STUDY_EXACT] < 0.1);
    plm_study_close(&s);
}

static void test_splits_made(void **state)
{
    static struct row row[ROWS];
    size_t count[5] = {0}, beyond = 0;
    struct plm_study s;
    char name[64];
    (void)state;
    noise(row);
    s = opened(table("splits.csv", row, ROWS), "virtual", "gpu"); /* gpu is there by itself: not a second time */
    assert_int_equal(s.splits, 4);
    assert_string_equal(plm_split_name(&s.split[0], name, sizeof name), "5 folds");
    assert_string_equal(plm_split_name(&s.split[1], name, sizeof name), "unseen family");
    assert_string_equal(plm_split_name(&s.split[2], name, sizeof name), "unseen gpu");
    assert_string_equal(plm_split_name(&s.split[3], name, sizeof name), "beyond the rows");
    for (size_t i = 0; i < ROWS; i++) {
        count[s.split[0].part[i]]++;
        assert_int_equal(s.split[1].part[i], i % 2);
        assert_int_equal(s.split[2].part[i], i % 4 >= 2);
        beyond += s.split[3].part[i] == 0;
        assert_int_equal(s.split[3].part[i] == 0, i >= ROWS - ROWS / 5); /* the most parameters */
    }
    assert_int_equal(beyond, ROWS / 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(count[i], ROWS / 5);
    assert_int_equal(s.families, 2);
    assert_string_equal(s.family[0].name, "cnn");
    plm_study_close(&s);
}

static size_t calls, promised;

/* Each part of each split is told before it begins, by how many are done; all of them are known from the first on. */
static void told(size_t done, size_t all, const char *what)
{
    (void)what;
    assert_int_equal(done, calls++);
    promised = promised ? promised : all;
    assert_int_equal(all, promised);
}

static void test_progress(void **state)
{
    static struct row row[ROWS];
    struct plm_study s;
    (void)state;
    noise(row);
    s = opened(table("progress.csv", row, ROWS), "virtual", "gpu");
    s.options.progress = told;
    calls = promised = 0;
    plm_study_run(&s);
    assert_true(promised >= 5 + 2 + 2); /* folds, families, cards */
    assert_int_equal(calls, promised + 1);
    plm_study_close(&s);
}

static void test_bad_splits(void **state)
{
    static struct row row[ROWS];
    struct plm_study_options options = {.methods = "virtual", .folds = 5, .bin = 1};
    struct plm_study s;
    struct plm_error error;
    (void)state;
    noise(row);
    options.path = table("bad.csv", row, ROWS);
    options.unseen = "colour";
    assert_int_equal(plm_study_open(&options, &s, &error), PLM_EINVAL);
    assert_contains(error.text, "no column colour");
    plm_study_close(&s);
    options.unseen = "x_layers";
    assert_int_equal(plm_study_open(&options, &s, &error), PLM_EINVAL);
    assert_contains(error.text, "one value");
    plm_study_close(&s);
    options.unseen = NULL;
    options.methods = "virtual,oracle";
    assert_int_equal(plm_study_open(&options, &s, &error), PLM_EINVAL);
    assert_contains(error.text, "unknown method \"oracle\"");
    plm_study_close(&s);
    options.methods = "virtual";
    options.targets = "beauty";
    assert_int_equal(plm_study_open(&options, &s, &error), PLM_EINVAL);
    assert_contains(error.text, "'beauty' cannot be learned");
    plm_study_close(&s);
    options.folds = 100;
    assert_int_equal(plm_study_open(&options, &s, &error), PLM_EINVAL);
    assert_contains(error.text, "fewer than folds");
    plm_study_close(&s);
}

/* ---- the virtual GPU and formulas ---- */

static char *study_text_of(const struct plm_study *s)
{
    static char *text;
    static size_t size;
    FILE *out = open_memstream(&text, &size);
    const struct plm_page page = {.out = out, .width = 100};
    plm_study_shown.text(&page, s);
    fclose(out);
    return text;
}

/* Reserved and 1,429; every tenth row has 2 MiB more: 90 % are exact, and the constant is what most have, not the mean. */
static void test_virtual(void **state)
{
    static struct row row[ROWS];
    const struct plm_study_result *r;
    struct plm_study s;
    char *text;
    (void)state;
    for (int i = 0; i < ROWS; i++)
        row[i] = (struct row){.measured = 1429 + 20 * i + (i % 10 ? 0 : 2), .busy = 40, .reserved = 20 * i};
    s = opened(table("virtual.csv", row, ROWS), "virtual,xmem", NULL);
    plm_study_run(&s);
    assert_string_equal(s.contestant[1].name, "virtual"); /* by paradigm */
    r = plm_study_result(&s, 1, 0, 0);
    NEAR(r->constant, 1429);
    NEAR(r->score[s.families].value[PLM_STUDY_EXACT], 0.9);
    NEAR(r->score[s.families].value[PLM_STUDY_BELOW], 0.1);
    assert_int_equal(r->trainings, 0);
    r = plm_study_result(&s, 0, 0, 0);
    assert_false(r->asked);
    assert_contains(r->why, "trace");
    text = study_text_of(&s);
    assert_contains(text, "\n  xmem, measured_device_mib: ");
    assert_contains(strstr(text, "\n  xmem, measured_device_mib: "), r->why);
    assert_null(strstr(text, "\n  virtual, ")); /* it answered */
    free(text);
    plm_study_close(&s);
}

/* Horus: 4 * (A*b + P + b*P) bytes. */
static void test_formula(void **state)
{
    struct plm_example example = {
        .number = {[PLM_EXAMPLE_BATCH] = 10, [PLM_EXAMPLE_PARAMETERS] = 262144, [PLM_EXAMPLE_ACTIVATIONS] = 262144}};
    char why[200] = "";
    (void)state;
    NEAR(plm_contestant_formula(plm_methods_find("horus"), &example, why, sizeof why), 12); /* 12 * 2^18 * 4 bytes */
    NEAR(plm_contestant_formula(plm_methods_find("accelerate"), &example, why, sizeof why), 4);
    NEAR(plm_contestant_formula(plm_methods_find("deepspeed-zero2"), &example, why, sizeof why), 5);
    example.number[PLM_EXAMPLE_BATCH] = -1;
    assert_true(isnan(plm_contestant_formula(plm_methods_find("horus"), &example, why, sizeof why)));
    assert_contains(why, "batch");
}

static void test_demands(void **state)
{
    (void)state;
    for (size_t i = 0; i < plm_demand_count; i++)
        for (size_t k = 0; k < i; k++) /* nothing is counted twice */
            assert_false(!strcmp(plm_demands[i].of, plm_demands[k].of) &&
                         !strcmp(plm_demands[i].text, plm_demands[k].text));
    assert_int_equal(plm_demand_times("virtual", PLM_VIRTUAL, PLM_DEMAND_EACH_JOB), 1);
    assert_int_equal(plm_demand_times("horus", PLM_ANALYTICAL, PLM_DEMAND_EACH_JOB), 1);
    assert_int_equal(plm_demand_times("extratrees", PLM_LEARNED, PLM_DEMAND_EACH_CARD), 2);
    assert_int_equal(plm_demand_times("plimsoll-learned", PLM_LEARNED, PLM_DEMAND_EACH_JOB), 2); /* its own lines */
    for (size_t i = 0; i < PLM_METHODS; i++)
        assert_true(plm_demand_times(plm_methods[i]->name, plm_methods[i]->paradigm, PLM_DEMAND_EACH_JOB) > 0);
}

/* ---- what a row tells ---- */

/* The second job ended with an error: the memory that it took is known, what share of a step the card was busy is not. */
static void test_known_targets(void **state)
{
    static const struct {
        const char *column;
        bool known[3];
    } expected[] = {{"measured_device_mib", {true, true, false}},
                    {"measured_gputl", {true, false, true}},
                    {"step_ms", {true, false, true}}};
    const char *path = unit_path("known.csv");
    struct plm_csv t;
    struct plm_error error;
    FILE *out = fopen(path, "we");
    (void)state;
    assert_non_null(out);
    fputs("measured_device_mib,measured_gputl,step_ms\n1500,40,3\n1500,40,\n,40,3\n", out);
    fclose(out);
    assert_int_equal(plm_csv_read(path, &t, &error), 0);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        for (size_t row = 0; row < 3; row++)
            assert_int_equal(plm_target_known(plm_target_find(expected[i].column), &t, row), expected[i].known[row]);
    plm_csv_free(&t);
}

/* ---- plimsoll-learned ---- */

static void *learn(const char *method, const char *path, const char *target, struct plm_csv *t)
{
    const struct plm_lesson lesson = {
        .method = plm_methods_find_learner(method), .path = path, .table = t, .target = target};
    struct plm_error error;
    void *model = NULL;
    assert_int_equal(plm_csv_read(path, t, &error), 0);
    if (lesson.method->learner->train(&lesson, &model, &error))
        fail_msg("%s", error.text);
    return model;
}

/* The white box has per cent, and labels shares; what lies below the context counts as nothing. */
static void test_white_box(void **state)
{
    const struct plm_outcome o = {.allocated = 5 << 20,
                                  .reserved = 8 << 20,
                                  .outside = 2 << 20,
                                  .low = 12 << 20,
                                  .high = 30 << 20,
                                  .context_low = 4 << 20,
                                  .context_high = 9 << 20};
    const struct plm_labels labels = {.step_ms = 3, .metric = {0.25, 0.5}};
    struct plm_white_box box;
    (void)state;
    plm_white_box_of(&o, &labels, &box);
    assert_true(box.allocated == 5 && box.reserved == 10 && box.low == 8 && box.high == 21 && box.step == 3);
    assert_true(box.metric[0] == 25 && box.metric[1] == 50);
    plm_white_box_of(&o, NULL, &box);
    assert_true(box.step == -1 && box.metric[0] == -1);
}

static void test_classes_have_an_end(void **state)
{
    const unsigned last = plm_study_class(1e12, 1);
    (void)state;
    for (unsigned i = 0; i < 4 * last; i++)
        assert_int_equal(plm_study_class(i, 1), i < last ? i : last);
    assert_int_equal(plm_study_class(-5, 1), 0);
}

static double corrected(const void *model, double reserved, double low, double high, int convolutions)
{
    const struct plm_white_box box = {
        .allocated = reserved / 2, .reserved = reserved, .low = low, .high = high, .step = -1};
    struct plm_example example = {.number = {[PLM_EXAMPLE_BATCH] = 4,
                                             [PLM_EXAMPLE_LAYERS] = 3,
                                             [PLM_EXAMPLE_PARAMETERS] = 10,
                                             [PLM_EXAMPLE_ACTIVATIONS] = 100,
                                             [PLM_EXAMPLE_CONVOLUTIONS] = convolutions}};
    struct plm_learned_answer answer;
    struct plm_error error;
    assert_int_equal(plm_methods_find("plimsoll-learned")->learner->ask_beside(model, &example, &box, &answer, &error),
                     0);
    assert_int_equal(answer.unit, PLM_LEARNED_MEMORY);
    return answer.figure;
}

/* Networks with convolutions take 100 MiB more than the white box says, all others 1,429 for the stack alone. */
static void test_correction(void **state)
{
    static struct row row[ROWS];
    const struct plm_learner *learner = plm_methods_find("plimsoll-learned")->learner;
    struct plm_csv t;
    struct plm_error error;
    struct plm_model again;
    void *model;
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const int convolutions = i % 3 == 0;
        row[i] = (struct row){.measured = 1429 + 500 + 10 * i + 100 * convolutions,
                              .busy = 40,
                              .reserved = 500 + 10 * i,
                              .low = 400 + 10 * i,
                              .high = 700 + 10 * i,
                              .convolutions = convolutions};
    }
    model = learn("plimsoll-learned", table("learned.csv", row, ROWS), NULL, &t);
    assert_true(fabs(corrected(model, 600, 500, 800, 1) - (1429 + 700)) < 3);
    assert_true(fabs(corrected(model, 600, 500, 800, 0) - (1429 + 600)) < 3);
    NEAR(corrected(model, 600, 500, 640, 1), 1429 + 640); /* never beyond the range of the white box */
    NEAR(corrected(model, 600, 600, 600, 1), 1429 + 600);
    assert_int_equal(
        plm_methods_model_open(model_write("correction", "plimsoll-learned", learner->put, model), &again, &error), 0);
    NEAR(corrected(again.model, 600, 500, 800, 1), corrected(model, 600, 500, 800, 1));
    plm_methods_model_close(&again);
    learner->free(model);
    plm_csv_free(&t);
}

/* Where trees do not help there are none: what is exact stays exact. */
static void test_no_correction(void **state)
{
    static struct row row[ROWS];
    struct plm_csv t;
    void *model;
    (void)state;
    for (int i = 0; i < ROWS; i++)
        row[i] = (struct row){.measured = 1429 + 500 + 10 * i + (i % 7 ? 0 : 2),
                              .busy = 40,
                              .reserved = 500 + 10 * i,
                              .low = 400,
                              .high = 2000};
    model = learn("plimsoll-learned", table("exact.csv", row, ROWS), NULL, &t);
    NEAR(corrected(model, 600, 400, 2000, 0), 1429 + 600);
    plm_methods_find("plimsoll-learned")->learner->free(model);
    plm_csv_free(&t);
}

/* All rows have 20 points more than the white box says: so does the answer, and it stays a share. */
static void test_correction_of_utilization(void **state)
{
    static const struct {
        double forecast, figure;
    } rows[] = {{50, 70}, {0, 20}, {95, 100}};
    static struct row row[ROWS];
    const struct plm_learner *learner = plm_methods_find("plimsoll-learned")->learner;
    struct plm_learned_answer answer;
    struct plm_error error;
    struct plm_csv t;
    void *model;
    (void)state;
    for (int i = 0; i < ROWS; i++)
        row[i] = (struct row){.measured = 1000, .busy = 40, .reserved = 500};
    model = learn("plimsoll-learned", table("busy.csv", row, ROWS), "measured_gputl", &t);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plm_white_box box = {.reserved = 500, .step = 1, .metric = {rows[i].forecast, 1, 1, 1, 1}};
        assert_int_equal(learner->ask_beside(model, &(struct plm_example){0}, &box, &answer, &error), 0);
        assert_int_equal(answer.unit, PLM_LEARNED_UTILIZATION);
        assert_string_equal(answer.target, "measured_gputl");
        NEAR(answer.figure, rows[i].figure);
    }
    assert_int_equal(learner->ask_beside(model, &(struct plm_example){0},
                                         &(struct plm_white_box){.reserved = 500, .metric = {-1, 1, 1, 1, 1}}, &answer,
                                         &error),
                     PLM_EFORMAT);
    assert_contains(error.text, "gputl");
    learner->free(model);
    plm_csv_free(&t);
}

static void test_correction_refused(void **state)
{
    static struct row row[ROWS];
    const struct plm_learner *learner = plm_methods_find("plimsoll-learned")->learner;
    struct plm_lesson lesson = {.method = plm_methods_find("plimsoll-learned"), .target = "reserved"};
    struct plm_csv t;
    struct plm_error error;
    void *model = NULL;
    (void)state;
    noise(row);
    lesson.path = table("refused.csv", row, ROWS);
    assert_int_equal(plm_csv_read(lesson.path, &t, &error), 0);
    lesson.table = &t;
    assert_int_equal(learner->train(&lesson, &model, &error), PLM_EINVAL);
    assert_contains(error.text, "measured rows");
    learner->free(model);
    plm_csv_free(&t);
}

/* ---- extratrees ---- */

static void test_extratrees(void **state)
{
    static struct row row[ROWS];
    const struct plm_learner *learner = plm_methods_find("extratrees")->learner;
    const double x[] = {31, 310, 3, 4}; /* parameters, activations, layers, batch of row 30 */
    struct plm_learned_answer answer;
    struct plm_csv t;
    struct plm_error error;
    struct plm_model again;
    void *model;
    size_t features;
    (void)state;
    noise(row);
    model = learn("extratrees", table("trees.csv", row, ROWS), NULL, &t);
    learner->features(model, &features);
    assert_int_equal(features, 4);
    assert_string_equal(learner->features(model, &features)[0].name, "parameters");
    assert_int_equal(learner->ask_features(model, x, &answer, &error), 0);
    NEAR(answer.figure, row[30].measured); /* it knows its rows */
    NEAR(answer.outside, 0);
    assert_true(answer.with_context);
    /* 59 parameters are the width of the range: 119 lies one width beyond. */
    assert_int_equal(learner->ask_features(model, (double[]){119, 310, 3, 4}, &answer, &error), 0);
    NEAR(answer.outside, 1);
    assert_string_equal(answer.feature, "parameters");
    /* What four features have taught says nothing about all of them. */
    assert_int_equal(
        plm_methods_model_open(model_write("extratrees", "extratrees+", learner->put, model), &again, &error),
        PLM_EFORMAT);
    assert_contains(error.text, "other features than this release of extratrees+");
    plm_methods_model_close(&again);
    learner->free(model);
    plm_csv_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_fresh_models),
        cmocka_unit_test(test_splits_made),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_bad_splits),
        cmocka_unit_test(test_virtual),
        cmocka_unit_test(test_formula),
        cmocka_unit_test(test_demands),
        cmocka_unit_test(test_known_targets),
        cmocka_unit_test(test_correction),
        cmocka_unit_test(test_white_box),
        cmocka_unit_test(test_classes_have_an_end),
        cmocka_unit_test(test_no_correction),
        cmocka_unit_test(test_extratrees),
        cmocka_unit_test(test_correction_refused),
        cmocka_unit_test(test_correction_of_utilization),
    };
    return RUN(tests);
}
