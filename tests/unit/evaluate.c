/* Truth files, figures over hand-made tables, and judging of outcomes that no run made. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/job.h"
#include "base/error.h"
#include "evaluate/judge.h"
#include "record/writer.h"
#include "unit.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static const char *file(const char *name, const char *text)
{
    const char *path = unit_path(name);
    unit_write(path, text, strlen(text));
    return path;
}

/* ---- tables ---- */

static void test_table_cells(void **state)
{
    const char *path = file("t.csv", "\xef\xbb\xbf"
                                     "a,\"b,c\",d\r\n1,\"x \"\"y\"\"\nz\",\r\n\r\n2,,3");
    struct plm_error error;
    struct plm_table t;
    (void)state;
    assert_int_equal(plm_table_read(path, &t, &error), 0);
    assert_int_equal(t.columns, 3);
    assert_int_equal(t.rows, 2);
    assert_int_equal(plm_table_column(&t, "b,c"), 1);
    assert_int_equal(plm_table_column(&t, "nothing"), -1);
    assert_string_equal(plm_table_cell(&t, 0, 1), "x \"y\"\nz");
    assert_string_equal(plm_table_cell(&t, 0, 2), "");
    assert_string_equal(plm_table_cell(&t, 1, 2), "3");
    assert_string_equal(plm_table_cell(&t, 1, -1), "");
    assert_int_equal(t.line[1], 2);
    assert_int_equal(t.line[2], 5);
    plm_table_free(&t);
}

static void test_table_bad(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "is empty"},
        {"a,b\n1\n", ":2: 1 cells, but the head line has 2"},
        {"a\n\"1\n", ":2: a quote is not closed"},
        {"a\n\"1\"x\n", ":2: text after a closing quote"},
    };
    struct plm_error error;
    struct plm_table t;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(plm_table_read(file("bad.csv", bad[i].text), &t, &error), PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
    }
    unit_write(unit_path("nul.csv"), "a\n\0\n", 4);
    assert_int_equal(plm_table_read(unit_path("nul.csv"), &t, &error), PLM_EFORMAT);
    assert_int_equal(plm_table_read(unit_path("not there"), &t, &error), PLM_EIO);
}

static void test_table_put(void **state)
{
    const char *path = unit_path("put.csv");
    FILE *out = fopen(path, "we");
    char *text;
    (void)state;
    plm_table_put(out, "plain");
    fputc(',', out);
    plm_table_put(out, "a \"b\", c");
    fclose(out);
    text = unit_read(path, NULL);
    assert_string_equal(text, "plain,\"a \"\"b\"\", c\"");
    free(text);
}

/* ---- truth ---- */

#define HEAD                                                                                                          \
    "run,family,model,optimizer,batch_size,gpu,total_gpu_memory,zero_grad_mode,ground,real_oom,a_memory,a_oom,a_2nd_" \
    "oom,b_memory,b_oom\n"

static void test_truth(void **state)
{
    const char *path = file("truth.csv", HEAD "r1,CNN,M,SGD,200,rtx3060,1000,,500,false,510.5,false,true,-1,true\n"
                                              "r2,CNN,N,,100,rtx3060,,2,0,true,,,,700,false\n");
    struct plm_error error;
    struct plm_truth t;
    (void)state;
    assert_int_equal(plm_truth_read(path, PLM_TRUTH_NEEDS_GROUND, &t, &error), 0);
    assert_int_equal(t.rows, 2);
    assert_int_equal(t.tools, 2); /* total_gpu_memory is no tool's: nothing says total_gpu_oom */
    assert_string_equal(t.tool[0], "a");
    assert_int_equal(t.row[0].zero_grad, PLM_TRUTH_ZERO_GRAD_UNKNOWN);
    assert_int_equal(t.row[1].zero_grad, 2);
    assert_int_equal(t.row[0].ground[PLM_TRUTH_LESS_FIRST], 500);
    assert_int_equal(t.row[0].ground[PLM_TRUTH_ALLOCATED],
                     500); /* there is one figure: of whatever kind it is said to be */
    NEAR(t.row[0].claim[0].memory, 510.5);
    assert_true(t.row[0].claim[0].second && t.row[0].claim[0].second_oom);
    assert_true(t.row[0].claim[1].oom);
    assert_false(t.row[1].claim[0].judged);
    assert_true(t.row[1].oom);
    plm_truth_free(&t);
}

static void test_truth_bad(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"family,model,batch_size\nCNN,M,1\n", "no column ground"},
        {HEAD, "no rows"},
        {HEAD "r,CNN,M,SGD,many,g,1,,1,false,,,,,\n", ":2: batch_size is \"many\", which is not a number"},
        {HEAD "r,CNN,M,SGD,0,g,1,,1,false,,,,,\n", "a number from 1"},
        {HEAD "r,CNN,M,SGD,1.5,g,1,,1,false,,,,,\n", "a whole number"},
        {HEAD "r,CNN,M,SGD,1,g,1,,,false,,,,,\n", "an amount of memory"},
        {HEAD "r,CNN,M,SGD,1,g,1,,nan,false,,,,,\n", "not a number"},
        {HEAD "r,CNN,M,SGD,1,g,1,,1,perhaps,,,,,\n", "real_oom is \"perhaps\", which is not true or false"},
        {HEAD "r,CNN,M,SGD,1,g,1,77,1,false,,,,,\n", "a mode"},
        {HEAD "r,,M,SGD,1,g,1,,1,false,,,,,\n", ":2: family is empty"},
        {HEAD "r,CNN,M,SGD,1,g,1,,1,false,x,,,,\n", "a_memory is \"x\""},
    };
    struct plm_error error;
    struct plm_truth t;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(plm_truth_read(file("truth.csv", bad[i].text), PLM_TRUTH_NEEDS_GROUND, &t, &error),
                         PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
    }
}

/* ---- figures ---- */

static void test_quantiles(void **state)
{
    const double list[] = {1, 2, 3, 4};
    (void)state;
    NEAR(plm_quantile(list, 4, 0.5), 2.5);
    NEAR(plm_quantile(list, 4, 0), 1);
    NEAR(plm_quantile(list, 4, 1), 4);
    NEAR(plm_quantile(list, 4, 0.95), 3.85);
    NEAR(plm_quantile(list, 1, 0.3), 1);
    NEAR(plm_quantile(list, 0, 0.3), 0);
}

/* Five runs of a card with 1000 bytes: errors of +10, -20 and +30 %, a right and a wrong verdict of out-of-memory. */
static void test_metrics(void **state)
{
    struct plm_score s[] = {
        {.answered = true,
         .compared = true,
         .judged = true,
         .estimate = 110,
         .error = 0.10,
         .agrees = true,
         .width = 0.2},
        {.answered = true,
         .compared = true,
         .judged = true,
         .estimate = 80,
         .error = -0.20,
         .agrees = true,
         .capped_fails = {true, true}},
        {.answered = true,
         .compared = true,
         .judged = true,
         .outside = true,
         .estimate = 130,
         .error = 0.30,
         .agrees = true,
         .capped_fails = {false, true},
         .seconds = 4,
         .width = 0.4},
        {.answered = true, .judged = true, .estimate = 1200, .agrees = true, .oom = true},
        {.answered = true, .judged = true, .estimate = 900, .agrees = false},
    };
    struct plm_metrics m;
    (void)state;
    for (size_t i = 0; i < COUNT(s); i++)
        plm_score_conserve(&s[i], 1000);
    assert_int_equal(plm_metrics_make(s, COUNT(s), 1, &m), 0);
    assert_int_equal(m.runs, 5);
    assert_int_equal(m.compared, 3);
    NEAR(m.median, 0.20);
    NEAR(m.mean, 0.20);
    NEAR(m.p95, 0.29);
    NEAR(m.worst, 0.30);
    NEAR(m.quantile[2], 0.10);
    NEAR(m.quantile[0], -0.17);
    NEAR(m.under, 1.0 / 3);
    NEAR(m.agreement, 0.8);
    NEAR(m.pef[PLM_CAP_TORCH], 0.4); /* one ran out when capped, one verdict was wrong */
    NEAR(m.pef[PLM_CAP_DEVICE], 0.6);
    NEAR(m.mcp[PLM_CAP_TORCH], (890.0 - 80 + 870 + 1000 - 900) / 5);
    NEAR(m.mcp[PLM_CAP_DEVICE], (890.0 - 80 - 130 + 1000 - 900) / 5);
    assert_int_equal(m.outside, 1);
    NEAR(m.inside, 0.15);
    NEAR(m.seconds, 4);
    NEAR(m.interval.low, 0.1);
    NEAR(m.interval.high, 0.3);
    NEAR(m.width, 0.2);
    assert_int_equal(plm_metrics_make(s, 0, 1, &m), 0);
    NEAR(m.median, 0);
    NEAR(m.pef[PLM_CAP_TORCH], 0);
}

/* ---- judging ---- */

static struct plm_workload workloads[] = {{.family = "CNN", .script = "cnn.py", .first_sample = PLM_SAMPLE_LATE},
                                          {.family = "T", .script = "t.py"}};

/* 400 reserved, of which 350 are enough, 10 outside, a context of 50 (40 to 70), 20 of uncertainty beyond that. */
static struct plm_outcome outcome(void)
{
    return (struct plm_outcome){.done = true,
                                .allocated = 300,
                                .reserved = 400,
                                .outside = 10,
                                .context = 50,
                                .context_low = 40,
                                .context_high = 70,
                                .low = 445,
                                .high = 500,
                                .least = 350,
                                .early = 60};
}

struct made {
    struct plm_truth_row row[3];
    struct plm_bench_run run[3];
    size_t run_of_row[3];
    struct plm_truth truth;
    struct plm_bench bench;
};

static void make(struct made *m)
{
    *m = (struct made){.truth = {.rows = 3}, .bench = {.runs = 3}};
    m->truth.row = m->row;
    m->bench.truth = &m->truth;
    m->bench.run = m->run;
    m->bench.run_of_row = m->run_of_row;
    for (size_t i = 0; i < 3; i++) {
        m->row[i] = (struct plm_truth_row){.family = i < 2 ? "CNN" : "T",
                                           .model = "M",
                                           .optimizer = "",
                                           .run = "",
                                           .batch = 1,
                                           .ground = {410, 410, 410, 410},
                                           .total = 1000};
        m->run[i] = (struct plm_bench_run){.row = &m->row[i],
                                           .workload = &workloads[i < 2 ? 0 : 1],
                                           .usable = 900,
                                           .total = 1000,
                                           .outcome = outcome(),
                                           .known = true};
        m->run_of_row[i] = i;
    }
}

static void test_kinds(void **state)
{
    const struct plm_outcome o = outcome();
    static const struct {
        const char *name;
        uint64_t low, bytes, high;
    } want[] = {{"allocated", 295, 300, 320},
                {"reserved", 395, 400, 420},
                {"device", 445, 460, 500},
                {"device-less-first", 405, 410, 430}};
    enum plm_truth_kind kind;
    (void)state;
    for (size_t i = 0; i < COUNT(want); i++) {
        struct plm_estimate e;
        assert_int_equal(plm_truth_kind_parse(want[i].name, &kind), 0);
        assert_string_equal(plm_truth_kind_name(kind), want[i].name);
        e = plm_outcome_estimate(&o, kind);
        assert_int_equal(e.low, want[i].low);
        assert_int_equal(e.bytes, want[i].bytes);
        assert_int_equal(e.high, want[i].high);
    }
    assert_int_equal(plm_truth_kind_parse("used", &kind), PLM_EINVAL);
}

/* Of the 70 that the context may take, 25 may come after the first sample: they widen what is compared with such a truth, and it alone. */
static void test_later(void **state)
{
    const struct plm_judge_options options = {.kind = PLM_TRUTH_LESS_FIRST};
    struct plm_evaluation e;
    struct made m;
    (void)state;
    make(&m);
    for (size_t i = 0; i < 3; i++)
        m.run[i].outcome.later = 25;
    assert_int_equal(plm_outcome_estimate(&m.run[0].outcome, PLM_TRUTH_LESS_FIRST).high, 455);
    assert_int_equal(plm_outcome_estimate(&m.run[0].outcome, PLM_TRUTH_LESS_FIRST).bytes, 410);
    assert_int_equal(plm_outcome_estimate(&m.run[0].outcome, PLM_TRUTH_RESERVED).high, 420);
    assert_int_equal(plm_outcome_estimate(&m.run[0].outcome, PLM_TRUTH_DEVICE).high, 500);
    m.run[0].usable = 350 + 10 + 20 + 70; /* all that the upper end holds counts once */
    m.run[1].usable = m.run[0].usable - 1;
    m.row[1].oom = true;
    assert_int_equal(plm_judge(&m.bench, &options, &e), 0);
    assert_true(e.estimator[1].score[0].agrees && e.estimator[1].score[1].agrees);
    plm_evaluation_free(&e);
}

static void test_judge(void **state)
{
    const struct plm_judge_options options = {.kind = PLM_TRUTH_LESS_FIRST, .late_sample = true};
    struct plm_evaluation e;
    struct made m;
    (void)state;
    make(&m);
    m.row[1].ground[PLM_TRUTH_LESS_FIRST] =
        470; /* 60 more than estimated: 350 + 10 + 60 do not go into 410, 350 + 60 do */
    assert_int_equal(plm_judge(&m.bench, &options, &e), 0);
    assert_int_equal(e.estimators, 4);
    assert_int_equal(e.families, 3);
    assert_null(e.family[2].name);
    NEAR(e.estimator[0].score[0].error, 0);
    NEAR(e.estimator[0].score[1].error, -60.0 / 470);
    assert_false(e.estimator[0].score[0].capped_fails[PLM_CAP_DEVICE]);
    assert_true(e.estimator[0].score[1].capped_fails[PLM_CAP_DEVICE]);
    assert_false(e.estimator[0].score[1].capped_fails[PLM_CAP_TORCH]);
    assert_string_equal(e.estimator[1].name, "plimsoll, upper end");
    assert_false(e.estimator[1].score[1].capped_fails[PLM_CAP_DEVICE]);
    NEAR(e.estimator[1].score[0].error, 20.0 / 410);
    /* The sample that came late had seen 60 of it, for the family of which that is known. */
    NEAR(e.estimator[2].score[0].error, -60.0 / 410);
    assert_true(e.estimator[2].score[0].capped_fails[PLM_CAP_DEVICE]);
    NEAR(e.estimator[2].score[2].error, 0);
    NEAR(e.family[0].metrics[0].pef[PLM_CAP_DEVICE], 0.5);
    NEAR(e.family[2].metrics[0].pef[PLM_CAP_DEVICE], 1.0 / 3);
    NEAR(e.family[2].metrics[0].pef[PLM_CAP_TORCH], 0);
    NEAR(e.family[0].metrics[0].width, (25.0 / 410 + 25.0 / 470) / 2);
    plm_evaluation_free(&e);
}

/* Does it fit? What PyTorch can do with counts, not what it takes when there is plenty. */
static void test_verdicts(void **state)
{
    const struct plm_judge_options options = {.kind = PLM_TRUTH_LESS_FIRST};
    struct plm_evaluation e;
    struct made m;
    (void)state;
    make(&m);
    m.run[0].usable = 410; /* 350 + 10 + 50 */
    m.run[1].usable = 409;
    m.row[1].oom = true;
    m.run[2].outcome = (struct plm_outcome){.why = "it failed"};
    assert_int_equal(plm_judge(&m.bench, &options, &e), 0);
    assert_int_equal(e.estimators, 2);
    assert_int_equal(e.failed, 1);
    assert_true(e.estimator[0].score[0].agrees);
    assert_true(e.estimator[0].score[0].compared);
    assert_true(e.estimator[0].score[1].agrees);
    assert_false(e.estimator[0].score[1].compared);
    assert_false(e.estimator[0].score[2].answered);
    assert_true(plm_score_fails(&e.estimator[0].score[2], PLM_CAP_TORCH));
    /* 350 + 30 + 70 do not fit: the upper end says no where the real run did fit. */
    assert_false(e.estimator[1].score[0].agrees);
    NEAR(e.estimator[0].score[0].conserved[PLM_CAP_DEVICE], 1000 - 410);
    NEAR(e.estimator[0].score[1].conserved[PLM_CAP_DEVICE], 1000);
    NEAR(e.estimator[1].score[0].conserved[PLM_CAP_DEVICE], -430);
    plm_evaluation_free(&e);
}

static void test_tools(void **state)
{
    const struct plm_judge_options options = {.kind = PLM_TRUTH_LESS_FIRST};
    struct plm_evaluation e;
    struct made m;
    (void)state;
    make(&m);
    m.truth.tools = 1;
    strcpy(m.truth.tool[0], "a");
    m.row[0].claim[0] = (struct plm_truth_claim){.memory = 451, .judged = true, .second = true};
    m.row[1].claim[0] = (struct plm_truth_claim){.memory = 369, .judged = true, .second = true, .second_oom = true};
    m.row[2].claim[0] = (struct plm_truth_claim){.memory = -1, .judged = true, .oom = true};
    assert_int_equal(plm_judge(&m.bench, &options, &e), 0);
    assert_string_equal(e.estimator[2].name, "a (published)");
    NEAR(e.estimator[2].score[0].error, 0.1);
    NEAR(e.estimator[2].score[1].error, -0.1);
    assert_false(e.estimator[2].score[2].compared);
    NEAR(e.family[2].metrics[2].pef[PLM_CAP_TORCH], 2.0 / 3);
    NEAR(e.family[2].metrics[2].agreement, 2.0 / 3);
    NEAR(e.family[2].metrics[2].mcp[PLM_CAP_TORCH], (549.0 - 369 - 0) / 3);
    plm_evaluation_free(&e);
}

/* ---- methods ---- */

/* Doubles: nothing is asked here, only what they said is judged. */
static const struct plm_method first_method = {.name = "first", .kind = PLM_ANSWER_DEVICE};
static const struct plm_method second_method = {.name = "second", .kind = PLM_ANSWER_ALLOCATED};
static const struct plm_method *const both_methods[] = {&first_method, &second_method};

static void test_methods(void **state)
{
    const struct plm_bench_settings settings = {.method = both_methods, .methods = 2};
    struct plm_judge_options options = {.kind = PLM_TRUTH_LESS_FIRST};
    struct plm_reply reply[6] = {
        {.known = true, .answer = {.bytes = 369, .seconds = 0.5}, .capture_seconds = 2},
        {.known = true, .answer = {.bytes = 355, .state = PLM_OUTSIDE, .note = "not for this"}},
        {.known = true, .answer = {.bytes = 820, .oom = true}},
        {.known = true, .answer = {.state = PLM_UNANSWERED, .note = "no trace"}},
        {.known = true, .answer = {.bytes = 349}},
    };
    struct plm_evaluation e;
    struct made m;
    (void)state;
    make(&m);
    m.bench.settings = &settings;
    for (size_t i = 0; i < 3; i++)
        m.run[i].reply = &reply[2 * i];
    assert_int_equal(plm_judge(&m.bench, &options, &e), 0);
    assert_int_equal(e.estimators, 4);
    assert_string_equal(e.estimator[2].name, "first");
    assert_int_equal(e.estimator[2].origin, PLM_ORIGIN_METHOD);
    assert_false(e.estimator[2].other_kind);
    assert_true(e.estimator[3].other_kind);
    /* 350 go into 369, with the 10 outside as well; 355 hold 350 but not 360. */
    NEAR(e.estimator[2].score[0].error, -0.1);
    NEAR(e.estimator[2].score[0].seconds, 2.5);
    assert_false(e.estimator[2].score[0].capped_fails[PLM_CAP_DEVICE]);
    assert_true(e.estimator[3].score[0].outside);
    assert_false(e.estimator[3].score[0].capped_fails[PLM_CAP_TORCH]);
    assert_true(e.estimator[3].score[0].capped_fails[PLM_CAP_DEVICE]);
    assert_string_equal(e.estimator[3].score[0].note, "not for this");
    /* Its own verdict counts, and it is wrong. */
    assert_false(e.estimator[2].score[1].compared || e.estimator[2].score[1].agrees);
    assert_false(e.estimator[3].score[1].answered || e.estimator[3].score[1].judged);
    assert_string_equal(e.estimator[3].score[1].note, "no trace");
    assert_true(e.estimator[2].score[2].capped_fails[PLM_CAP_TORCH]);
    assert_false(e.estimator[3].score[2].answered); /* was never asked */
    NEAR(e.family[2].metrics[2].pef[PLM_CAP_TORCH], 2.0 / 3);
    plm_evaluation_free(&e);
    /* With the context in the truth, it comes on top of every answer. */
    options.kind = PLM_TRUTH_DEVICE;
    m.row[0].ground[PLM_TRUTH_DEVICE] = 419;
    assert_int_equal(plm_judge(&m.bench, &options, &e), 0);
    NEAR(e.estimator[2].score[0].estimate, 419);
    NEAR(e.estimator[2].score[0].error, 0);
    plm_evaluation_free(&e);
}

/* A run without truth is held against the virtual GPU, and what ran there is not judged by it. */
static void test_reference(void **state)
{
    const struct plm_bench_settings settings = {.method = both_methods, .methods = 1};
    const struct plm_judge_options options = {.kind = PLM_TRUTH_LESS_FIRST};
    struct plm_reply reply[3] = {{.known = true, .answer.bytes = 451},
                                 {.known = true, .answer.bytes = 451},
                                 {.known = true, .answer.bytes = 451}};
    struct plm_evaluation e;
    struct made m;
    (void)state;
    make(&m);
    m.bench.settings = &settings;
    for (size_t i = 0; i < 3; i++)
        m.run[i].reply = &reply[i];
    memset(m.row[0].ground, 0, sizeof m.row[0].ground);
    memset(m.row[1].ground, 0, sizeof m.row[1].ground);
    m.run[1].usable = 409; /* does not fit: 350 + 10 + 50 */
    assert_int_equal(plm_judge(&m.bench, &options, &e), 0);
    assert_int_equal(e.references, 2);
    assert_true(e.yardstick[0].reference && !e.yardstick[0].oom && e.yardstick[1].oom);
    assert_int_equal(e.yardstick[0].bytes, 410);
    assert_false(e.estimator[0].score[0].compared || e.estimator[0].score[0].judged);
    NEAR(e.estimator[2].score[0].error, 0.1);
    assert_false(e.estimator[2].score[1].compared || e.estimator[2].score[1].agrees);
    assert_true(e.estimator[0].score[2].compared);
    assert_int_equal(e.family[2].metrics[0].compared, 1);
    assert_int_equal(e.family[2].metrics[2].compared, 2);
    plm_evaluation_free(&e);
}

static void test_answers(void **state)
{
    const struct plm_bench_settings settings = {.method = both_methods, .methods = 2};
    const char *path = unit_path("answers.csv");
    struct plm_reply reply[6] = {
        {.known = true, .answer = {.bytes = 12345678901ull, .oom = true, .seconds = 0.25}, .capture_seconds = 7.5},
        {.known = true, .answer = {.state = PLM_OUTSIDE, .bytes = 7, .note = "a \"note\", with marks"}},
        {.known = true, .answer = {.state = PLM_UNANSWERED, .note = "none"}},
        {.known = true, .failed = true, .answer = {.state = PLM_UNANSWERED, .note = "it broke"}},
    };
    struct plm_error error;
    struct made m;
    (void)state;
    make(&m);
    m.bench.settings = &settings;
    for (size_t i = 0; i < 3; i++) {
        m.run[i].reply = &reply[2 * i];
        snprintf(m.run[i].ask_key, sizeof m.run[i].ask_key, "key%zu", i);
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(plm_answers_add(&m.bench, i, i == 0 ? 3 : 2, path, &error), 0);
    memset(reply, 0, sizeof reply);
    assert_int_equal(plm_answers_read(&m.bench, path, &error), 0);
    assert_true(reply[0].known && reply[0].answer.oom && m.run[0].asked);
    assert_int_equal(reply[0].answer.bytes, 12345678901ull);
    NEAR(reply[0].answer.seconds, 0.25);
    NEAR(reply[0].capture_seconds, 7.5);
    assert_int_equal(reply[1].answer.state, PLM_OUTSIDE);
    assert_string_equal(reply[1].answer.note, "a \"note\", with marks");
    assert_false(reply[2].known); /* was not among those to be written */
    assert_true(reply[3].known && reply[3].failed);
    assert_false(m.run[1].asked); /* what failed is tried again */
    assert_false(reply[4].known);
    unit_write(path, "key,method,state,bytes\nkey0,first,perhaps,1\n", 44);
    assert_int_equal(plm_answers_read(&m.bench, path, &error), PLM_EFORMAT);
    assert_contains(error.text, ":2: state is \"perhaps\"");
    unit_write(path, "key,method,state,bytes\nkey0,first,answered,-1\n", 46);
    assert_int_equal(plm_answers_read(&m.bench, path, &error), PLM_EFORMAT);
    assert_contains(error.text, "which is not an amount");
    assert_int_equal(plm_answers_read(&m.bench, unit_path("not there"), &error), 0);
}

/* Eight runs of two models and two batch sizes: the model makes the error. */
static void test_factors(void **state)
{
    const struct plm_judge_options options = {.kind = PLM_TRUTH_LESS_FIRST};
    struct plm_truth_row row[8];
    struct plm_bench_run run[8];
    size_t run_of_row[8];
    struct plm_truth truth = {.row = row, .rows = 8};
    struct plm_bench bench = {.truth = &truth, .run = run, .runs = 8, .run_of_row = run_of_row};
    struct plm_evaluation e;
    struct made m;
    (void)state;
    make(&m);
    for (size_t i = 0; i < 8; i++) {
        row[i] = m.row[0];
        row[i].model = i % 2 ? "N" : "M";
        row[i].batch = i / 2 % 2 + 1;
        row[i].ground[PLM_TRUTH_LESS_FIRST] = i % 2 ? 500 + i : 410 + i;
        run[i] = m.run[0];
        run_of_row[i] = i;
    }
    assert_int_equal(plm_judge(&bench, &options, &e), 0);
    assert_int_equal(e.family[0].anova[0].observations, 8);
    assert_string_equal(e.family[0].anova[0].effect[1].name, "model");
    assert_int_equal(e.family[0].anova[0].effect[0].state, PLM_EFFECT_CONSTANT);
    assert_true(e.family[0].anova[0].effect[1].eta > 0.95 && e.family[0].anova[0].effect[1].p < 1e-4);
    assert_true(e.family[0].anova[0].effect[3].p > 0.05);
    plm_evaluation_free(&e);
}

/* ---- a record ---- */

static void block(uint64_t at, uint64_t bytes, enum plm_category category, uint64_t reserved)
{
    uint64_t alloc[3] = {at, bytes, 0}, tag[3] = {at, plm_record_pair(category, 0), 0};
    uint64_t memory[3] = {at, reserved, plm_record_pair(PLM_RECORD_MALLOC, 0)};
    static uint64_t sum;
    if (reserved) {
        sum += reserved;
        plm_record(PLM_EV_MEMORY_ALLOC, 0, memory, 3);
        plm_record(PLM_EV_RESERVED, 0, &sum, 1);
    }
    plm_record(PLM_EV_BLOCK_ALLOC, 0, alloc, 3);
    plm_record(PLM_EV_TAG, 0, tag, 3);
}

/* Three parameters of 20 MiB, the optimizer's 20 MiB, a batch of 9 MiB, and activations. */
static void train(void)
{
    for (uint64_t i = 0; i < 3; i++)
        block((1 + i) * GIB, 20 * MIB, PLM_CATEGORY_PARAMETERS, 20 * MIB);
    block(4 * GIB, 20 * MIB, PLM_CATEGORY_OPTIMIZER, 20 * MIB);
    block(5 * GIB, 9 * MIB, PLM_CATEGORY_INPUTS, 20 * MIB);
    block(6 * GIB, 100 * MIB, PLM_CATEGORY_ACTIVATIONS, 100 * MIB);
}

static void test_early(void **state)
{
    static const struct {
        double ms;
        uint64_t early;
    } samples[] = {{1, 20}, {4, 40}, {8, 60}, {30, 80}}; /* each parameter takes 3.1 ms and 0.1 ms of the call */
    struct plm_workload w = {
        .first_sample = PLM_SAMPLE_LATE, .copy_gbs = 20.0 * MIB / 3.1e-3 / 1e9, .copy_call_us = 100};
    struct plm_outcome o;
    struct plm_error error;
    (void)state;
    plm_job_free(unit_job(train));
    for (size_t i = 0; i < COUNT(samples); i++) {
        w.sampler_ms = samples[i].ms;
        assert_int_equal(plm_outcome_read(unit_path("job.plm"), &w, &o, &error), 0);
        assert_true(o.done);
        assert_int_equal(o.reserved, 200 * MIB);
        assert_int_equal(o.allocated, 189 * MIB);
        assert_int_equal(o.early, samples[i].early * MIB);
    }
    /* Nothing is given back: the cached 11 MiB beside the batch are of no use to a block of 100 MiB. */
    assert_int_equal(o.least, 200 * MIB);
    w.first_sample = PLM_SAMPLE_BEFORE;
    assert_int_equal(plm_outcome_read(unit_path("job.plm"), &w, &o, &error), 0);
    assert_int_equal(o.early, 0);
}

/* ---- results ---- */

static void test_results(void **state)
{
    struct plm_bench_settings settings = {.folder = unit_folder()};
    struct plm_error error;
    struct made m;
    (void)state;
    make(&m);
    m.bench.settings = &settings;
    unlink(unit_path("results.csv"));
    for (size_t i = 0; i < 3; i++)
        snprintf(m.run[i].key, sizeof m.run[i].key, "key%zu", i);
    m.run[0].outcome.cpu_seconds = 6.25;
    snprintf(m.run[0].outcome.torch, sizeof m.run[0].outcome.torch, "2.6.0");
    m.run[1].outcome = (struct plm_outcome){.why = "no, \"it\" failed"};
    assert_int_equal(plm_results_add(&m.bench, &m.run[0], &error), 0);
    assert_int_equal(plm_results_add(&m.bench, &m.run[1], &error), 0);
    for (size_t i = 0; i < 3; i++) {
        m.run[i].outcome = (struct plm_outcome){0};
        m.run[i].known = false;
    }
    assert_int_equal(plm_results_read(&m.bench, &error), 0);
    assert_true(m.run[0].known && m.run[0].outcome.done);
    assert_int_equal(m.run[0].outcome.least, 350);
    assert_int_equal(m.run[0].outcome.early, 60);
    assert_string_equal(m.run[0].outcome.torch, "2.6.0");
    NEAR(m.run[0].outcome.cpu_seconds, 6.25);
    assert_false(m.run[1].known); /* what failed is tried again */
    assert_string_equal(m.run[1].outcome.why, "no, \"it\" failed");
    assert_false(m.run[2].known);
    unit_write(unit_path("results.csv"), "key,done\nkey0,true\n", 19);
    assert_int_equal(plm_results_read(&m.bench, &error), PLM_EFORMAT);
    assert_contains(error.text, ":2: allocated is \"\"");
}

/* ---- workloads ---- */

static void test_workloads(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"[cnn]\nscript = ../x.py\n", "script = ../x.py"},
        {"[cnn]\nfirst_sample = never\n", "first_sample = never"},
        {"[cnn]\nfirst_sample = late\n", "[cnn] names no script"},
        {"[cnn]\nscript = a.py\nfirst_sample = late\n", "say how late"},
        {"[cnn]\nsampler_ms = -1\n", "sampler_ms takes a positive number"},
        {"[cnn]\ncolor = red\n", "color = red"},
    };
    struct plm_workloads w;
    struct plm_error error;
    (void)state;
    file(
        "workloads.ini",
        "[cnn]\nscript = cnn.py\nfirst_sample = late\nsampler_ms = 40\ncopy_gbs = 6.5\n[transformer]\nscript = t.py\n");
    assert_int_equal(plm_workloads_read(unit_folder(), NULL, &w, &error), 0);
    assert_int_equal(w.count, 2);
    assert_string_equal(plm_workloads_find(&w, "CNN")->script, "cnn.py");
    assert_int_equal(plm_workloads_find(&w, "CNN")->first_sample, PLM_SAMPLE_LATE);
    NEAR(plm_workloads_find(&w, "CNN")->copy_gbs, 6.5);
    assert_int_equal(plm_workloads_find(&w, "Transformer")->first_sample, PLM_SAMPLE_BEFORE);
    assert_null(plm_workloads_find(&w, "RNN"));
    for (size_t i = 0; i < COUNT(bad); i++) {
        file("workloads.ini", bad[i].text);
        assert_int_equal(plm_workloads_read(unit_folder(), NULL, &w, &error), PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_cells), cmocka_unit_test(test_table_bad), cmocka_unit_test(test_table_put),
        cmocka_unit_test(test_truth),       cmocka_unit_test(test_truth_bad), cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_metrics),     cmocka_unit_test(test_kinds),     cmocka_unit_test(test_judge),
        cmocka_unit_test(test_verdicts),    cmocka_unit_test(test_tools),     cmocka_unit_test(test_methods),
        cmocka_unit_test(test_reference),   cmocka_unit_test(test_answers),   cmocka_unit_test(test_factors),
        cmocka_unit_test(test_early),       cmocka_unit_test(test_results),   cmocka_unit_test(test_workloads),
        cmocka_unit_test(test_later),
    };
    return RUN(tests);
}
