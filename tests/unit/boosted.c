/* Boosted trees: what they make of rows, that more of them come closer, draws, rows held out, their files, and the
   tables that Horus' model of utilization learns from. */
#include "study/estimate/boosted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/card.h"
#include "common/error.h"
#include "base/csv.h"
#include "study/estimate/description.h"
#include "study/methods/methods.h"
#include "models.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static struct plm_boosted trained(const struct plm_tree_data *data, const struct plm_boosted_settings *settings)
{
    struct plm_error error = {0};
    struct plm_boosted b;
    if (plm_boosted_train(data, settings, &b, &error))
        fail_msg("%s", error.text);
    for (size_t i = 0; i < b.features; i++)
        snprintf(b.feature[i].name, sizeof b.feature[i].name, "f%zu", i);
    snprintf(b.target, sizeof b.target, "y");
    return b;
}

/* ---- by hand ---- */

static const double step_x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
static const double step_y[] = {-4, -4, -4, -4, -4, 6, 6, 6, 6, 6};
static const struct plm_tree_data step = {step_x, step_y, 10, 1};

/* The mean is 1 and 5 is left over on both sides. A tree that goes half of the way leaves 2.5, the next 1.25. */
static void test_steps(void **state)
{
    struct plm_boosted_settings settings = {.trees = 1, .depth = 1, .least = 1, .rate = 0.5, .share = 1};
    struct plm_boosted b = trained(&step, &settings);
    (void)state;
    NEAR(b.base, 1);
    NEAR(b.low, -4);
    NEAR(b.high, 6);
    assert_int_equal(b.trees.nodes, 3);
    NEAR(b.trees.node[0].value, 4.5);
    NEAR(b.trees.node[1].value, -2.5);
    NEAR(b.trees.node[2].value, 2.5);
    NEAR(b.feature[0].importance, 1);
    NEAR(b.feature[0].high, 9);
    NEAR(plm_boosted_predict(&b, &step_x[0]), -1.5);
    NEAR(plm_boosted_predict(&b, &step_x[9]), 3.5);
    plm_boosted_free(&b);
    settings.trees = 2;
    b = trained(&step, &settings);
    NEAR(plm_boosted_predict(&b, &step_x[0]), -2.75);
    NEAR(plm_boosted_predict(&b, &step_x[9]), 4.75);
    plm_boosted_free(&b);
    settings.rate = 1;
    b = trained(&step, &settings);
    for (size_t i = 0; i < step.rows; i++)
        NEAR(plm_boosted_predict(&b, &step_x[i]), step_y[i]);
    plm_boosted_free(&b);
}

/* A single tree has no more splits in a row than it may, and no leaf with fewer rows. */
static void test_rules(void **state)
{
    static const double y[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    const struct plm_tree_data data = {step_x, y, 10, 1};
    struct plm_boosted_settings settings = {.trees = 1, .depth = 2, .least = 1, .rate = 1, .share = 1};
    struct plm_boosted b = trained(&data, &settings);
    (void)state;
    assert_int_equal(b.trees.nodes, 7); /* 3 splits, 4 leaves */
    /* sum^2/n of both sides: 255^2/8 + 768^2/2 = 303040 here, 511^2/9 + 512^2 = 291157 one row further */
    NEAR(b.trees.node[0].value, 7.5);
    plm_boosted_free(&b);
    settings.least = 5;
    b = trained(&data, &settings);
    assert_int_equal(b.trees.nodes, 3); /* 5 and 5: neither can be split again */
    NEAR(b.trees.node[0].value, 4.5);
    NEAR(plm_boosted_predict(&b, &step_x[0]), (1 + 2 + 4 + 8 + 16) / 5.0);
    plm_boosted_free(&b);
    settings.least = 6;
    b = trained(&data, &settings);
    assert_int_equal(b.trees.nodes, 1);
    NEAR(plm_boosted_predict(&b, &step_x[3]), 102.3); /* the mean */
    plm_boosted_free(&b);
}

/* ---- a known function ---- */

enum { ROWS = 600, FEATURES = 3 };
static double wave_x[ROWS * FEATURES], wave_y[ROWS];
static const struct plm_tree_data wave = {wave_x, wave_y, ROWS, FEATURES};

static double wave_at(const double *x)
{
    return 10 * sin(3 * x[0]) + 5 * x[1] * x[1] - (x[1] > 0.5 ? 8 * x[0] : 0); /* the third says nothing */
}

static void wave_point(uint64_t *random, double *x)
{
    for (int k = 0; k < FEATURES; k++)
        x[k] = (double)plm_splitmix_below(random, 1000) / 1000;
}

static int wave_set_up(void **state)
{
    uint64_t random = 7;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        wave_point(&random, &wave_x[i * FEATURES]);
        wave_y[i] = wave_at(&wave_x[i * FEATURES]);
    }
    return 0;
}

/* R^2 at points that were not learned from. */
static double wave_r2(const struct plm_boosted *b)
{
    uint64_t random = 99;
    double residual = 0, spread = 0, x[FEATURES];
    for (int i = 0; i < 500; i++) {
        wave_point(&random, x);
        residual += pow(plm_boosted_predict(b, x) - wave_at(x), 2);
        spread += pow(wave_at(x) - b->base, 2);
    }
    return 1 - residual / spread;
}

static double wave_error(const struct plm_boosted *b)
{
    double sum = 0;
    for (size_t i = 0; i < ROWS; i++)
        sum += pow(plm_boosted_predict(b, &wave_x[i * FEATURES]) - wave_y[i], 2);
    return sum;
}

static void test_fits(void **state)
{
    const struct plm_boosted_settings settings = PLM_BOOSTED_SETTINGS;
    struct plm_boosted b = trained(&wave, &settings);
    (void)state;
    assert_true(wave_r2(&b) > 0.97);
    assert_true(b.feature[2].importance < 0.02);
    NEAR(b.feature[0].importance + b.feature[1].importance + b.feature[2].importance, 1);
    plm_boosted_free(&b);
}

/* With all rows every tree lowers the squared error; with the same seed fewer trees are the beginning of more. */
static void test_more_is_closer(void **state)
{
    struct plm_boosted_settings settings = PLM_BOOSTED_SETTINGS;
    double before = INFINITY;
    (void)state;
    settings.share = 1;
    for (size_t trees = 1; trees <= 128; trees *= 2) {
        struct plm_boosted b;
        double error;
        settings.trees = trees;
        b = trained(&wave, &settings);
        error = wave_error(&b);
        assert_true(error < before);
        before = error;
        plm_boosted_free(&b);
    }
}

static void test_draws(void **state)
{
    struct plm_boosted_settings settings = PLM_BOOSTED_SETTINGS;
    struct plm_boosted a = trained(&wave, &settings), b = trained(&wave, &settings), c, all;
    (void)state;
    settings.seed = 1;
    c = trained(&wave, &settings);
    settings.share = 1;
    all = trained(&wave, &settings);
    assert_int_equal(a.trees.nodes, b.trees.nodes);
    assert_memory_equal(a.trees.node, b.trees.node, a.trees.nodes * sizeof *a.trees.node);
    assert_true(wave_error(&a) != wave_error(&c)); /* another seed, other rows */
    assert_true(wave_error(&all) < wave_error(&c));
    plm_boosted_free(&a);
    plm_boosted_free(&b);
    plm_boosted_free(&c);
    plm_boosted_free(&all);
}

/* Each row is answered by trees that have not seen it: a target that nothing tells cannot be met. */
static void test_held_out(void **state)
{
    static double answer[ROWS], noise[ROWS];
    const struct plm_boosted_settings settings = PLM_BOOSTED_SETTINGS;
    const struct plm_tree_data deaf = {wave_x, noise, ROWS, FEATURES};
    struct plm_boosted known = trained(&wave, &settings), unknown;
    struct plm_error error;
    uint64_t random = 3;
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        noise[i] = (double)plm_splitmix_below(&random, 100);
    assert_int_equal(plm_boosted_cross(&wave, &settings, 5, answer, &error), 0);
    plm_boosted_judge(&wave, answer, &known);
    assert_int_equal(known.held_rows, ROWS);
    assert_true(known.held_r2 > 0.96 && known.held_r2 < 1);
    assert_true(known.held_error > 0 && known.held_error < 0.5);
    unknown = trained(&deaf, &settings);
    assert_int_equal(plm_boosted_cross(&deaf, &settings, 5, answer, &error), 0);
    plm_boosted_judge(&deaf, answer, &unknown);
    assert_true(unknown.held_r2 < 0.1);
    assert_int_equal(plm_boosted_cross(&wave, &settings, 1, answer, &error), PLM_EINVAL);
    assert_contains(error.text, "folds");
    plm_boosted_free(&known);
    plm_boosted_free(&unknown);
}

/* 3,000 rows of 20 features and 300 trees in seconds; sanitizers take longer. */
static void test_quick(void **state)
{
    enum { MANY = 3000, WIDE = 20 };
    const struct plm_boosted_settings settings = PLM_BOOSTED_SETTINGS;
    double *x = calloc(MANY * WIDE, sizeof *x), *y = calloc(MANY, sizeof *y);
    const struct plm_tree_data data = {x, y, MANY, WIDE};
    struct plm_boosted b;
    clock_t start;
    uint64_t random = 11;
    (void)state;
    assert_non_null(x);
    assert_non_null(y);
    for (size_t i = 0; i < MANY * WIDE; i++)
        x[i] = (double)plm_splitmix_below(&random, 1 << 20);
    for (size_t i = 0; i < MANY; i++)
        y[i] = x[i * WIDE] * x[i * WIDE + 1] / (1 << 20) - x[i * WIDE + 7];
    start = clock();
    b = trained(&data, &settings);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 20);
    assert_int_equal(b.trees.count, 300);
    plm_boosted_free(&b);
    free(x);
    free(y);
}

static void refused(const struct plm_tree_data *data, const struct plm_boosted_settings *settings, int code,
                    const char *part)
{
    struct plm_error error = {0};
    struct plm_boosted b;
    assert_int_equal(plm_boosted_train(data, settings, &b, &error), code);
    assert_contains(error.text, part);
    assert_null(b.trees.node);
}

static void test_nothing_to_learn(void **state)
{
    double x[20] = {0}, y[20];
    struct plm_tree_data data = {x, y, 20, 1};
    struct plm_boosted_settings settings = PLM_BOOSTED_SETTINGS;
    struct plm_boosted b;
    (void)state;
    for (size_t i = 0; i < 20; i++)
        y[i] = 0.1;
    b = trained(&data, &settings);
    NEAR(plm_boosted_predict(&b, x), 0.1);
    assert_int_equal(b.trees.nodes, 300);
    plm_boosted_free(&b);
    settings.rate = 0;
    refused(&data, &settings, PLM_EINVAL, "the learning rate");
    settings.rate = NAN;
    refused(&data, &settings, PLM_EINVAL, "the learning rate");
    settings.rate = 1;
    settings.share = 1.5;
    refused(&data, &settings, PLM_EINVAL, "the share of rows");
    settings.share = 1;
    settings.trees = 0;
    refused(&data, &settings, PLM_EINVAL, "1 to 10000 trees");
    settings.trees = 1;
    data.rows = 9;
    refused(&data, &settings, PLM_EFORMAT, "9 rows are too few");
    data.rows = 20;
    y[3] = INFINITY;
    refused(&data, &settings, PLM_EFORMAT, "the target of row 4");
    y[3] = -5; /* any number will do */
    x[7] = NAN;
    refused(&data, &settings, PLM_EFORMAT, "a feature of row 8");
    data.features = 65;
    refused(&data, &settings, PLM_EINVAL, "1 to 64 features");
}

/* ---- files ---- */

static const char *file(const char *name, const char *text, size_t size)
{
    const char *path = unit_path(name);
    unit_write(path, text, size);
    return path;
}

static int boosted_load(const char *path, struct plm_boosted *b, struct plm_error *error)
{
    struct plm_model_file in;
    int status = plm_model_file_open(path, &in, error);
    *b = (struct plm_boosted){0};
    if (status == 0)
        status = plm_boosted_read(&in, b);
    plm_model_file_close(&in);
    return status;
}

static void test_file(void **state)
{
    struct plm_boosted_settings settings = PLM_BOOSTED_SETTINGS;
    const char *path;
    struct plm_error error;
    struct plm_boosted a, b;
    char *text;
    size_t size;
    (void)state;
    settings.trees = 10;
    settings.seed = UINT64_MAX;
    a = trained(&wave, &settings);
    path = model_write("boosted", "test", plm_boosted_put, &a);
    assert_int_equal(boosted_load(path, &b, &error), 0);
    assert_int_equal(b.trees.count, 10);
    assert_int_equal(b.rows, ROWS);
    assert_true(b.seed == UINT64_MAX);
    assert_string_equal(b.feature[1].name, "f1");
    for (size_t i = 0; i < ROWS; i++) /* to the last bit */
        assert_true(plm_boosted_predict(&a, &wave_x[i * FEATURES]) == plm_boosted_predict(&b, &wave_x[i * FEATURES]));
    plm_boosted_free(&a);
    plm_boosted_free(&b);
    /* Wherever it is cut off, it is refused. */
    text = unit_read(path, &size);
    for (size_t cut = 0; cut < size; cut += cut < 600 ? 1 : 97) {
        assert_int_equal(boosted_load(file("cut", text, cut), &b, &error), PLM_EFORMAT);
        assert_null(b.trees.node);
    }
    free(text);
}

#define HEAD "target y\nrows 20\nseed 0\nrange -1 9\n"
#define ONE  HEAD "base 2\nheld-out 0 0 0\nfeatures 1\nfeature a 0 9 1\n"

static void test_good_file(void **state)
{
    static const char text[] =
        ONE "trees 2\ntree 1\nleaf 0.5\ntree 5\nsplit 0 4.5\nleaf -1\nsplit 0 6\nleaf 1\nleaf 3\nend\n";
    struct plm_error error;
    struct plm_boosted b;
    (void)state;
    assert_int_equal(boosted_load(model_write("good", "test", model_put_text, text), &b, &error), 0);
    NEAR(plm_boosted_predict(&b, (double[]){4}), 1.5); /* 2 + 0.5 - 1 */
    NEAR(plm_boosted_predict(&b, (double[]){5}), 3.5);
    NEAR(plm_boosted_predict(&b, (double[]){7}), 5.5);
    plm_boosted_free(&b);
}

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", ":2: the file ends too early"},
        {HEAD "base 10\n", ":6: the base is outside"},
        {HEAD "base nan\n", ":6: expected a number"},
        {HEAD "base 2\nheld-out 21 0 0\n", ":7: expected a whole number from 0 to 20"},
        {HEAD "base 2\nheld-out 0 0\n", ":7: expected \"held-out\" with 3 values"},
        {ONE "trees 1\ntree 3\nsplit 1 3\nleaf 1\nleaf 2\nend\n", ":12: expected a whole number from 0 to 0"},
        {ONE "trees 1\ntree 2\nsplit 0 3\nleaf 1\nend\n", ":13: a split of the tree lacks"},
        {ONE "trees 1\ntree 1\nleaf 1e40\nend\n", ":12: expected a number"},
        {ONE "trees 1\ntree 1\nleaf 1\nend\nmore\n", ":13: something follows the end"},
    };
    struct plm_error error;
    struct plm_boosted b;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(boosted_load(model_write("bad", "test", model_put_text, bad[i].text), &b, &error),
                         PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
        assert_null(b.trees.node);
    }
    assert_int_equal(boosted_load(unit_path("nowhere"), &b, &error), PLM_ENOTFOUND);
}

/* ---- Horus' tables ---- */

#define COLUMNS "notes,GPUTL,flops,parameters,Activations,batch,convolutions,linears,batchnorms,depth\n"

/* Busy for 10 % and 5 % more with every 1000 operations; 12 rows. */
static const char *runs(const char *head, const char *last)
{
    static char text[4096];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", head);
    for (int i = 0; i < 12; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "x,%d,%d,500,600,8,0,2,0,3\n", 10 + 5 * i, 1000 * i);
    snprintf(text + at, sizeof text - at, "%s", last);
    return file("runs.csv", text, strlen(text));
}

/* 0, or the code of what was told; to be closed. */
static int learn(const char *path, struct plm_model *learned, struct plm_error *error)
{
    struct plm_csv table;
    const struct plm_lesson lesson = {.method = plm_methods_find("horus-utilization"), .path = path, .table = &table};
    int status = plm_csv_read(path, &table, error);
    *learned = (struct plm_model){.method = lesson.method};
    assert_int_equal(status, 0);
    status = lesson.method->learner->train(&lesson, &learned->model, error);
    plm_csv_free(&table);
    return status;
}

static void test_horus(void **state)
{
    const double row[PLM_FEATURES] = {3000, 500, 600, 8, 0, 2, 0, 3};
    struct plm_model learned;
    struct plm_error error;
    const struct plm_boosted *b;
    (void)state;
    assert_int_equal(learn(runs(COLUMNS, ""), &learned, &error), 0);
    b = learned.model;
    assert_int_equal(b->rows, 12);
    assert_int_equal(b->held_rows, 0); /* too few to leave some out */
    assert_string_equal(b->feature[PLM_FEATURE_FLOPS].name, "flops");
    assert_string_equal(b->feature[PLM_FEATURE_DEPTH].name, "depth");
    NEAR(b->feature[PLM_FEATURE_FLOPS].high, 11000);
    NEAR(b->feature[PLM_FEATURE_BATCH].low, 8);
    assert_true(fabs(plm_boosted_predict(b, row) - 25) < 15);
    plm_methods_model_close(&learned);
    assert_int_equal(learn(runs(COLUMNS, "x,1,2,3,4,5,6,7,8,9\nx,1,2,3,4,5,6,7,8,9\n"), &learned, &error), 0);
    assert_int_equal(((const struct plm_boosted *)learned.model)->held_rows, 14); /* 11 are left in each fold */
    plm_methods_model_close(&learned);
}

/* 25 % from 2,500 operations to 3,500, 10 below and 65 above; `range` of the rows, and where it starts. */
#define TREES(range, base, depth)                                                                                 \
    "target gputl-percent\nrows 12\nseed 0\nrange " range "\nbase " base "\nheld-out 0 0 0\nfeatures 8\n"         \
    "feature flops 0 11000 1\nfeature parameters 500 500 0\nfeature activations 600 600 0\nfeature batch 8 8 0\n" \
    "feature convolutions 0 0 0\nfeature linears 2 2 0\nfeature batchnorms 0 0 0\nfeature " depth " 3 3 0\n"      \
    "trees 1\ntree 5\nsplit 0 2500\nleaf -20\nsplit 0 3500\nleaf -5\nleaf 35\nend\n"

static struct plm_model horus_of(const char *payload)
{
    struct plm_model learned;
    struct plm_error error;
    if (plm_methods_model_open(model_write("trees", "horus-utilization", model_put_text, payload), &learned, &error))
        fail_msg("%s", error.text);
    return learned;
}

static void test_horus_files(void **state)
{
    static const struct {
        const char *payload, *part;
    } bad[] = {{TREES("10 101", "30", "depth"), "predict 10 to 101, which are not percentages"},
               {TREES("10 65", "30", "height"), "other features than horus-utilization"}};
    struct plm_model learned;
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(plm_methods_model_open(model_write("no", "horus-utilization", model_put_text, bad[i].payload),
                                                &learned, &error),
                         PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
        plm_methods_model_close(&learned);
    }
}

static void test_horus_bad(void **state)
{
    static const struct {
        const char *head, *last, *part;
    } bad[] = {
        {"gputl,flops,parameters,activations,batch,convolutions,linears,batchnorm,depth,a\n", "",
         "no column \"batchnorms\""},
        {"flops,parameters,activations,batch,convolutions,linears,batchnorms,depth,a,b\n", "", "no column \"gputl\""},
        {COLUMNS, "x,50,many,1,1,1,1,1,1,1\n", ":14: flops is \"many\", which is not a number"},
        {COLUMNS, "x,,1,1,1,1,1,1,1,1\n", ":14: GPUTL is \"\""},
        {COLUMNS, "x,-5,1,1,1,1,1,1,1,1\n", ":14: GPUTL is \"-5\""},
        {COLUMNS, "x,100.5,1,1,1,1,1,1,1,1\n", ":14: gputl is 100.5, but at most 100 is allowed"},
    };
    struct plm_model learned;
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(learn(runs(bad[i].head, bad[i].last), &learned, &error), PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
        plm_methods_model_close(&learned);
    }
    assert_int_equal(learn(file("few.csv", COLUMNS, strlen(COLUMNS)), &learned, &error), PLM_EFORMAT);
    assert_contains(error.text, "0 rows are too few");
    plm_methods_model_close(&learned);
}

/* ---- Horus' answer ---- */

#define JOB(features)                                                                                              \
    "{\"schema\": \"plimsoll.description/1\", \"torch\": \"2.15.0\", \"computed\": false, \"model\": {\"class\": " \
    "\"Net\"}" features "}"
#define FEATURES(flops)                                                               \
    ", \"features\": {\"flops\": " flops                                              \
    ", \"parameters\": 500, \"activations\": 600, \"batch\": 8, \"convolutions\": 0," \
    " \"linears\": 2, \"batchnorms\": 0, \"depth\": 3}"

static struct plm_answer horus(const struct plm_model *model, const char *job)
{
    static const struct plm_card card = {.id = "small"};
    const struct plm_question question = {.card = &card, .usable = 1, .context = 2}; /* where no memory fits */
    struct plm_evidence evidence = {.model = model};
    struct plm_description *d;
    struct plm_inquiry inquiry;
    struct plm_answer answer;
    struct plm_error error;
    if (plm_description_parse("job", job, strlen(job), &d, &error))
        fail_msg("%s", error.text);
    evidence.description = d;
    inquiry = plm_inquiry_open(plm_methods_find("horus-utilization"), &evidence);
    answer = plm_inquiry_ask(&inquiry, &question);
    plm_inquiry_close(&inquiry);
    plm_description_free(d);
    return answer;
}

static void test_horus_answer(void **state)
{
    struct plm_model b = horus_of(TREES("10 65", "30", "depth"));
    struct plm_answer a;
    (void)state;
    a = horus(&b, JOB(FEATURES("3000")));
    assert_int_equal(a.state, PLM_ANSWERED);
    NEAR(a.percent, 25);
    assert_int_equal(a.bytes, 0);
    assert_false(a.oom); /* a share of time fits everywhere */
    a = horus(&b, JOB(FEATURES("1e15")));
    assert_int_equal(a.state, PLM_OUTSIDE);
    NEAR(a.percent, 65);
    assert_contains(a.note, "flops is 0 to 11000 in its rows, but 1e+15 in this job");
    a = horus(&b, JOB(", \"features\": {\"flops\": 1}"));
    assert_int_equal(a.state, PLM_UNANSWERED);
    assert_contains(a.note, "no feature \"parameters\"");
    a = horus(&b, JOB(""));
    assert_int_equal(a.state, PLM_UNANSWERED);
    assert_contains(a.note, "no feature \"flops\"");
    a = horus(NULL, JOB(FEATURES("3000")));
    assert_int_equal(a.state, PLM_UNANSWERED);
    assert_contains(a.note, "(--model FILE, from `plimsoll train --method horus-utilization`)");
    plm_methods_model_close(&b);
    b = horus_of(TREES("10 65", "12", "depth")); /* beyond the rows, a share of time stops at their ends */
    NEAR(horus(&b, JOB(FEATURES("1000"))).percent, 10);
    plm_methods_model_close(&b);
    b = horus_of(TREES("10 65", "60", "depth"));
    NEAR(horus(&b, JOB(FEATURES("5000"))).percent, 65);
    plm_methods_model_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_rules),
        cmocka_unit_test_setup(test_fits, wave_set_up),
        cmocka_unit_test_setup(test_more_is_closer, wave_set_up),
        cmocka_unit_test_setup(test_draws, wave_set_up),
        cmocka_unit_test_setup(test_held_out, wave_set_up),
        cmocka_unit_test(test_quick),
        cmocka_unit_test(test_nothing_to_learn),
        cmocka_unit_test_setup(test_file, wave_set_up),
        cmocka_unit_test(test_good_file),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_horus),
        cmocka_unit_test(test_horus_files),
        cmocka_unit_test(test_horus_bad),
        cmocka_unit_test(test_horus_answer),
    };
    return RUN(tests);
}
