/* Judging of outcomes and answers that no run and no method made, and the files that keep them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"
#include "report/result.h"
#include "study/evaluate/judge.h"
#include "unit.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

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
        struct plm_evaluation_range e;
        assert_int_equal(plm_truth_kind_parse(want[i].name, &kind), 0);
        assert_string_equal(plm_truth_kind_name(kind), want[i].name);
        e = plm_evaluation_range_of(&o, kind);
        assert_int_equal(e.low, want[i].low);
        assert_int_equal(e.bytes, want[i].bytes);
        assert_int_equal(e.high, want[i].high);
    }
    assert_int_equal(plm_truth_kind_parse("used", &kind), PLM_EINVAL);
}

/* A card of 440 gives 360 to PyTorch instead of 400: 250 of the 300 are allocated then. It shows no more than it
   has. */
static void test_bounded(void **state)
{
    static const struct {
        enum plm_truth_kind kind;
        uint64_t low, bytes, high;
    } want[] = {{PLM_TRUTH_ALLOCATED, 250, 250, 320},
                {PLM_TRUTH_RESERVED, 360, 360, 400},
                {PLM_TRUTH_DEVICE, 420, 420, 440},
                {PLM_TRUTH_LESS_FIRST, 370, 370, 400}};
    struct plm_outcome o = outcome();
    (void)state;
    o.bounded_reserved = 360;
    o.bounded_allocated = 250;
    o.usable = 440;
    assert_int_equal(o.context_low, 40);
    for (size_t i = 0; i < COUNT(want); i++) {
        const struct plm_evaluation_range e = plm_evaluation_range_of(&o, want[i].kind);
        assert_int_equal(e.low, want[i].low);
        assert_int_equal(e.bytes, want[i].bytes);
        assert_int_equal(e.high, want[i].high);
    }
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
    assert_int_equal(plm_evaluation_range_of(&m.run[0].outcome, PLM_TRUTH_LESS_FIRST).high, 455);
    assert_int_equal(plm_evaluation_range_of(&m.run[0].outcome, PLM_TRUTH_LESS_FIRST).bytes, 410);
    assert_int_equal(plm_evaluation_range_of(&m.run[0].outcome, PLM_TRUTH_RESERVED).high, 420);
    assert_int_equal(plm_evaluation_range_of(&m.run[0].outcome, PLM_TRUTH_DEVICE).high, 500);
    m.run[0].usable = 350 + 10 + 20 + 70; /* all that the upper end holds counts once */
    m.run[1].usable = m.run[0].usable - 1;
    m.row[1].oom = true;
    plm_judge(&m.bench, &options, &e);
    assert_true(e.estimator[1].score[0].agrees && e.estimator[1].score[1].agrees);
    plm_evaluation_free(&e);
}

static void test_judge(void **state)
{
    const struct plm_judge_options options = {.kind = PLM_TRUTH_LESS_FIRST};
    const struct plm_judge_options late = {.kind = PLM_TRUTH_LESS_FIRST, .late_sample = true};
    struct plm_evaluation e;
    struct made m;
    (void)state;
    make(&m);
    m.row[1].ground[PLM_TRUTH_LESS_FIRST] =
        470; /* 60 more than estimated: 350 + 10 + 60 do not go into 410, 350 + 60 do */
    plm_judge(&m.bench, &options, &e);
    assert_int_equal(e.estimators, 2);
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
    NEAR(e.family[0].metrics[0].pef[PLM_CAP_DEVICE], 0.5);
    NEAR(e.family[2].metrics[0].pef[PLM_CAP_DEVICE], 1.0 / 3);
    NEAR(e.family[2].metrics[0].pef[PLM_CAP_TORCH], 0);
    NEAR(e.family[0].metrics[0].width, (25.0 / 410 + 25.0 / 470) / 2);
    assert_true(e.estimator[0].score[0].covers && !e.estimator[0].score[1].covers); /* 410 and 470, of 405 to 430 */
    assert_int_equal(e.family[0].metrics[0].covered, 1);
    plm_evaluation_free(&e);
    /* The sample that came late had seen 60 of it, for the family of which that is known. */
    plm_judge(&m.bench, &late, &e);
    NEAR(e.estimator[0].score[0].error, -60.0 / 470);
    assert_true(e.estimator[0].score[0].capped_fails[PLM_CAP_DEVICE]);
    NEAR(e.estimator[0].score[2].error, 0);
    plm_evaluation_free(&e);
}

/* A late first sample took up to 60 off the truth, which so lies between 345 and 405, where the range begins. One less
   is outside of it; so is a truth of a family whose first sample was not late, or of another kind. */
static void test_range_of_late_sample(void **state)
{
    const struct plm_judge_options options = {.kind = PLM_TRUTH_LESS_FIRST}, device = {.kind = PLM_TRUTH_DEVICE};
    struct plm_evaluation e;
    struct made m;
    (void)state;
    make(&m); /* 410 of any kind; of the device, the range begins at 445 */
    plm_judge(&m.bench, &device, &e);
    assert_false(e.estimator[0].score[0].covers);
    plm_evaluation_free(&e);
    m.row[0].ground[PLM_TRUTH_LESS_FIRST] = 345;
    m.row[1].ground[PLM_TRUTH_LESS_FIRST] = 344;
    m.row[2].ground[PLM_TRUTH_LESS_FIRST] = 404;
    plm_judge(&m.bench, &options, &e);
    assert_true(e.estimator[0].score[0].covers);
    assert_false(e.estimator[0].score[1].covers);
    assert_false(e.estimator[0].score[2].covers);
    m.row[2].ground[PLM_TRUTH_LESS_FIRST] = 405;
    plm_evaluation_free(&e);
    plm_judge(&m.bench, &options, &e);
    assert_true(e.estimator[0].score[2].covers);
    NEAR(e.estimator[0].score[0].error, 65.0 / 345); /* the error is against what was measured */
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
    plm_judge(&m.bench, &options, &e);
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
    plm_judge(&m.bench, &options, &e);
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
    plm_judge(&m.bench, &options, &e);
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
    /* Of all runs the first method was compared in two and made for both; the second in one that it was not made for. */
    assert_true(e.family[2].metrics[2].compared == 2 && e.family[2].metrics[2].outside == 0);
    assert_true(e.family[2].metrics[3].compared == 1 && e.family[2].metrics[3].outside == 1);
    NEAR(e.family[2].metrics[2].inside, e.family[2].metrics[2].median);
    NEAR(e.family[2].metrics[3].inside, 0);
    plm_evaluation_free(&e);
    /* With the context in the truth, it comes on top of every answer. */
    options.kind = PLM_TRUTH_DEVICE;
    m.row[0].ground[PLM_TRUTH_DEVICE] = 419;
    plm_judge(&m.bench, &options, &e);
    NEAR(e.estimator[2].score[0].estimate, 419);
    NEAR(e.estimator[2].score[0].error, 0);
    plm_evaluation_free(&e);
}

/* ---- how it is shown ---- */

static const char *shown_cell(const struct plm_csv *t, size_t row, const char *column)
{
    const int at = plm_csv_column(t, column);
    if (at < 0)
        fail_msg("there is no column %s", column);
    return plm_csv_cell(t, row, at);
}

static void read_lines(void (*put)(struct plm_lines *lines, const void *what), const struct plm_evaluation *e,
                       struct plm_csv *table)
{
    struct plm_error error;
    FILE *out = fopen(unit_path("shown.csv"), "w");
    struct plm_lines lines = {.out = out};
    assert_non_null(out);
    put(&lines, e);
    fclose(out);
    if (plm_csv_read(unit_path("shown.csv"), table, &error))
        fail_msg("%s", error.text);
}

/* The first method says 369 and 349 where 410 were measured, errors of -10 % and -14.878 %, and of one run, wrongly, that
   it does not fit; the second says why it does not answer. */
static struct plm_reply shown_reply[6] = {
    {.known = true, .answer = {.bytes = 369, .seconds = 0.5}, .capture_seconds = 2},
    {.known = true, .answer = {.state = PLM_UNANSWERED, .note = "no trace"}},
    {.known = true, .answer = {.bytes = 820, .oom = true}},
    {.known = true, .answer = {.state = PLM_UNANSWERED, .note = "no layers"}},
    {.known = true, .answer = {.bytes = 349}},
    {.known = true, .answer = {.state = PLM_UNANSWERED, .note = "no trace"}},
};

static void judge_shown(struct made *m, struct plm_evaluation *e)
{
    static const struct plm_bench_settings settings = {.method = both_methods, .methods = 2};
    static const struct plm_judge_options options = {.kind = PLM_TRUTH_LESS_FIRST};
    make(m);
    m->bench.settings = &settings;
    for (size_t i = 0; i < 3; i++)
        m->run[i].reply = &shown_reply[2 * i];
    plm_judge(&m->bench, &options, e);
}

static void test_figures_shown(void **state)
{
    static const struct {
        const char *column, *all, *none; /* of the first method, of the second */
    } rows[] = {
        {"family", "all", "all"},
        {"estimator", "first", "second"},
        {"origin", "method", "method"},
        {"runs", "3", "3"},
        {"answered", "3", "0"},
        {"compared", "2", "0"},
        {"outside", "0", "0"},
        {"judged", "3", "0"},
        {"median", "0.12439024", ""}, /* of 10 and 14.878: the mean of both */
        {"mean", "0.12439024", ""},
        {"worst", "0.14878049", ""},
        {"signed_50", "-0.12439024", ""},
        {"under", "1.00000000", ""},
        {"oom_agreement", "0.66666667", ""},
        {"pef", "0.66666667", ""},
        {"seconds", "2.500", ""}, /* of the one whose time is known */
    };
    struct plm_evaluation e;
    struct plm_csv t;
    struct made m;
    (void)state;
    judge_shown(&m, &e);
    read_lines(plm_evaluation_figures, &e, &t);
    assert_int_equal(t.rows, 3 * 4); /* two families and both, each with four estimators */
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(shown_cell(&t, 10, rows[i].column), rows[i].all);
        assert_string_equal(shown_cell(&t, 11, rows[i].column), rows[i].none);
    }
    plm_csv_free(&t);
    plm_evaluation_free(&e);
}

static void test_rows_shown(void **state)
{
    static const struct {
        const char *column, *first, *second; /* of the first two rows */
    } rows[] = {
        {"family", "CNN", "CNN"},
        {"truth", "410", "410"},
        {"truth_is", "measured", "measured"},
        {"real_oom", "false", "false"},
        {"allocated", "300", "300"},
        {"reserved", "400", "400"},
        {"outside", "10", "10"},
        {"least", "350", "350"},
        {"early", "60", "60"},
        {"why", "", ""},
        {"first: bytes", "369", "820"},
        {"first: error", "-0.10000000", ""},
        {"first: verdict_right", "true", "false"},
        {"first: accurate", "true", "false"},
        {"first: seconds", "2.500", ""},
        {"first: state", "answered", "answered"},
        {"second: bytes", "", ""},
        {"second: verdict_right", "", ""},
        {"second: state", "", ""},
    };
    struct plm_evaluation e;
    struct plm_csv t;
    struct made m;
    (void)state;
    judge_shown(&m, &e);
    read_lines(plm_evaluation_rows, &e, &t);
    assert_int_equal(t.rows, 3);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(shown_cell(&t, 0, rows[i].column), rows[i].first);
        assert_string_equal(shown_cell(&t, 1, rows[i].column), rows[i].second);
    }
    plm_csv_free(&t);
    plm_evaluation_free(&e);
}

/* Each reason once. */
static void test_silences_shown(void **state)
{
    struct plm_evaluation e;
    struct made m;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    assert_non_null(out);
    judge_shown(&m, &e);
    plm_evaluation_result.text(&(struct plm_page){.out = out, .width = 80}, &e);
    fclose(out);
    assert_contains(text, "Not answered\n  second: no trace\n  second: no layers\n\n");
    free(text);
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
    plm_judge(&m.bench, &options, &e);
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

/* Means of them would be none either. */
static const char *const times_bad[] = {"nan", "inf", "-1", "soon"};

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
    for (size_t i = 0; i < COUNT(times_bad); i++) {
        char text[128];
        snprintf(text, sizeof text, "key,method,state,bytes,seconds\nkey0,first,answered,1,%s\n", times_bad[i]);
        unit_write(path, text, strlen(text));
        assert_int_equal(plm_answers_read(&m.bench, path, &error), PLM_EFORMAT);
        assert_contains(error.text, ":2: seconds is \"");
    }
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
    plm_judge(&bench, &options, &e);
    assert_int_equal(e.family[0].anova[0].observations, 8);
    assert_string_equal(e.family[0].anova[0].effect[1].name, "model");
    assert_int_equal(e.family[0].anova[0].effect[0].state, PLM_EFFECT_CONSTANT);
    assert_true(e.family[0].anova[0].effect[1].eta > 0.95 && e.family[0].anova[0].effect[1].p < 1e-4);
    assert_true(e.family[0].anova[0].effect[3].p > 0.05);
    plm_evaluation_free(&e);
}

/* ---- results ---- */

static void test_results(void **state)
{
    static const char bad[] =
        "key,done,allocated,reserved,outside,context,context_low,context_high,low,high,later,least,"
        "early,bounded_allocated,bounded_reserved,usable\nkey0,true,1,x,1,1,1,1,1,1,1,1,1,1,1,1\n";
    struct plm_bench_settings settings = {.common.folder = unit_folder()};
    struct plm_error error;
    struct made m;
    (void)state;
    make(&m);
    m.bench.settings = &settings;
    unlink(unit_path("results.csv"));
    for (size_t i = 0; i < 3; i++)
        snprintf(m.run[i].key, sizeof m.run[i].key, "key%zu", i);
    m.run[0].outcome.bounded_allocated = 250;
    m.run[0].outcome.bounded_reserved = 360;
    m.run[0].outcome.usable = 440;
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
    assert_true(m.run[0].outcome.bounded_allocated == 250 && m.run[0].outcome.bounded_reserved == 360);
    assert_int_equal(m.run[0].outcome.usable, 440);
    unit_write(unit_path("results.csv"), bad, sizeof bad - 1);
    assert_int_equal(plm_results_read(&m.bench, &error), PLM_EFORMAT);
    assert_contains(error.text, ":2: reserved is \"x\"");
    for (size_t i = 0; i < COUNT(times_bad); i++) {
        char text[512];
        snprintf(text, sizeof text, "cpu_seconds,%.*s%s,%s", (int)(strchr(bad, '\n') + 1 - bad), bad, times_bad[i],
                 "key0,true,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n");
        unit_write(unit_path("results.csv"), text, strlen(text));
        assert_int_equal(plm_results_read(&m.bench, &error), PLM_EFORMAT);
        assert_contains(error.text, ":2: cpu_seconds is \"");
    }
    unit_write(unit_path("results.csv"), "key,done\nkey0,true\n", 19); /* of a release that knew less */
    assert_int_equal(plm_results_read(&m.bench, &error), PLM_EFORMAT);
    assert_contains(error.text, "no column allocated");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_later),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_judge),
        cmocka_unit_test(test_range_of_late_sample),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_tools),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_figures_shown),
        cmocka_unit_test(test_rows_shown),
        cmocka_unit_test(test_silences_shown),
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_results),
    };
    return RUN(tests);
}
