/* Truth files, figures over hand-made tables, outcomes of records, workloads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/job.h"
#include "common/card.h"
#include "common/error.h"
#include "study/evaluate/judge.h"
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
    struct plm_csv t;
    (void)state;
    assert_int_equal(plm_csv_read(path, &t, &error), 0);
    assert_int_equal(t.columns, 3);
    assert_int_equal(t.rows, 2);
    assert_int_equal(plm_csv_column(&t, "b,c"), 1);
    assert_int_equal(plm_csv_column(&t, "nothing"), -1);
    assert_string_equal(plm_csv_cell(&t, 0, 1), "x \"y\"\nz");
    assert_string_equal(plm_csv_cell(&t, 0, 2), "");
    assert_string_equal(plm_csv_cell(&t, 1, 2), "3");
    assert_string_equal(plm_csv_cell(&t, 1, -1), "");
    assert_int_equal(t.line[1], 2);
    assert_int_equal(t.line[2], 5);
    plm_csv_free(&t);
}

static void test_table_reals(void **state)
{
    static const struct {
        const char *text;
        bool good;
        double value;
    } cells[] = {{"1e18", true, 1e18}, {"-1e18", true, -1e18}, {"", true, 0},     {"-2.5", true, -2.5},
                 {"1.1e18", false, 0}, {"-1e19", false, 0},    {"inf", false, 0}, {"nan", false, 0},
                 {"1x", false, 0},     {"1e999", false, 0}};
    struct plm_error error;
    struct plm_csv t;
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        double value = 7;
        snprintf(text, sizeof text, "a,b\nx,%s\n", cells[i].text);
        assert_int_equal(plm_csv_read(file("real.csv", text), &t, &error), 0);
        assert_int_equal(plm_csv_real(&t, 0, 1, &value, &error), cells[i].good ? 0 : PLM_EFORMAT);
        if (cells[i].good)
            assert_true(value == cells[i].value);
        else
            assert_non_null(strstr(error.text, ":2: b is "));
        plm_csv_free(&t);
    }
}

static void test_table_bad(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "is empty"},
        {"a,b\n1\n", ":2: 1 cells, but the header has 2"},
        {"a\n\"1\n", ":2: a quote is not closed"},
        {"a\n\"1\"x\n", ":2: text after a closing quote"},
    };
    struct plm_error error;
    struct plm_csv t;
    char *cell;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(plm_csv_read(file("bad.csv", bad[i].text), &t, &error), PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
    }
    unit_write(unit_path("nul.csv"), "a\n\0\n", 4);
    assert_int_equal(plm_csv_read(unit_path("nul.csv"), &t, &error), PLM_EFORMAT);
    /* A cell, and a table, have an end. */
    cell = malloc(65536 + 4);
    memset(cell, 'x', 65536 + 3);
    memcpy(cell, "a\n", 2);
    cell[65536 + 3] = '\0';
    assert_int_equal(plm_csv_read(file("long.csv", cell), &t, &error), PLM_EFORMAT);
    assert_contains(error.text, ":2: a cell of more than 64 KiB");
    cell[65536 + 2] = '\0';
    assert_int_equal(plm_csv_read(file("long.csv", cell), &t, &error), 0);
    plm_csv_free(&t);
    free(cell);
    assert_int_equal(truncate(file("large.csv", "a\n"), (64 << 20) + 1), 0);
    assert_int_equal(plm_csv_read(unit_path("large.csv"), &t, &error), PLM_EFORMAT);
    assert_contains(error.text, "more than 64 MiB");
    assert_int_equal(plm_csv_read(unit_path("not there"), &t, &error), PLM_ENOTFOUND);
}

static void test_table_put(void **state)
{
    const char *path = unit_path("put.csv");
    FILE *out = fopen(path, "we");
    char *text;
    (void)state;
    plm_csv_put(out, "plain");
    fputc(',', out);
    plm_csv_put(out, "a \"b\", c");
    fputc(',', out);
    plm_csv_put(out, "\x1b[2J\xe2\x80\xae\r\n");
    fclose(out);
    text = unit_read(path, NULL);
    assert_string_equal(text, "plain,\"a \"\"b\"\", c\",\\x1b[2J\\u202e\\x0d\\x0a");
    free(text);
}

static void test_table_lines(void **state)
{
    const char *path = unit_path("lines.csv");
    FILE *out = fopen(path, "we");
    struct plm_lines l = {out, false};
    char *text;
    (void)state;
    plm_lines_cell(&l, true, "a,b,c");
    plm_lines_text(&l, "=d");
    plm_lines_end(&l);
    plm_lines_cell(&l, false, "%d", 3);
    plm_lines_real(&l, 0.1234567891);
    plm_lines_real(&l, NAN);
    plm_lines_text(&l, "x, y");
    plm_lines_end(&l);
    fclose(out);
    text = unit_read(path, NULL);
    assert_string_equal(text, "a,b,c,\"'=d\"\n,0.123456789,,\"x, y\"\n");
    free(text);
}

/* A spreadsheet runs what begins with = + - or @: as OWASP's page on CSV injection has it, an apostrophe goes before it,
   inside quotes. Numbers stay numbers. What was written so is read back as it was. */
static void test_table_formulas(void **state)
{
    static const char *const cell[][2] = {
        {"=1+1", "\"'=1+1\""},
        {"=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\""},
        {"@SUM(A1)", "\"'@SUM(A1)\""},
        {"+cmd|' /C calc'!A0", "\"'+cmd|' /C calc'!A0\""},
        {"-", "\"'-\""},
        {"--lr", "\"'--lr\""},
        {"-1-1", "\"'-1-1\""},
        {"-inf", "\"'-inf\""},
        {"'=1", "\"''=1\""},
        {"''-3", "\"'''-3\""},
        {"-3.5", "-3.5"},
        {"+2e-7", "+2e-7"},
        {"'quoted'", "'quoted'"},
        {"'", "'"},
        {"a=b", "a=b"},
        {"", ""},
    };
    struct plm_error error;
    struct plm_csv t;
    char *text;
    (void)state;
    for (size_t i = 0; i < COUNT(cell); i++) {
        const char *path = unit_path("formula.csv");
        FILE *out = fopen(path, "we");
        fputs("a,b\n1,", out);
        plm_csv_put(out, cell[i][0]);
        fputc('\n', out);
        fclose(out);
        text = unit_read(path, NULL);
        assert_int_equal(strncmp(text, "a,b\n1,", 6), 0);
        text[strlen(text) - 1] = '\0';
        assert_string_equal(text + 6, cell[i][1]);
        free(text);
        assert_int_equal(plm_csv_read(path, &t, &error), 0);
        assert_string_equal(plm_csv_cell(&t, 0, 1), cell[i][0]);
        plm_csv_free(&t);
    }
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
         .covers = true,
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
        {.answered = true, .judged = true, .estimate = 1200, .agrees = true, .oom = true, .covers = true},
        {.answered = true, .judged = true, .estimate = 900, .agrees = false},
    };
    struct plm_metrics m;
    (void)state;
    for (size_t i = 0; i < COUNT(s); i++)
        plm_score_conserve(&s[i], 1000);
    plm_metrics_make(s, COUNT(s), 1, &m);
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
    assert_int_equal(m.covered, 1); /* of those compared */
    assert_int_equal(m.answered, 5);
    assert_int_equal(m.judged, 5);
    assert_int_equal(m.timed, 1);
    NEAR(m.quantile[1], -0.05);
    NEAR(m.quantile[3], 0.20);
    NEAR(m.quantile[4], 0.28);
    plm_metrics_make(s, 0, 1, &m);
    NEAR(m.median, 0);
    NEAR(m.pef[PLM_CAP_TORCH], 0);
}

/* Who does not say whether a run fits has no verdict that could be wrong; who says nothing is not compared. */
static void test_metrics_in_part(void **state)
{
    struct plm_score s[] = {
        {.answered = true, .compared = true, .estimate = 50, .error = -0.5, .seconds = 1, .outside = true},
        {.answered = true, .judged = true, .agrees = true, .compared = true, .estimate = 200, .error = 0, .seconds = 5},
        {.seconds = 0, .error = 9, .width = 9, .covers = true, .conserved = {9, 9}},
    };
    struct plm_metrics m;
    (void)state;
    plm_score_conserve(&s[1], 1000);
    plm_metrics_make(s, COUNT(s), 1, &m);
    assert_int_equal(m.runs, 3);
    assert_int_equal(m.answered, 2);
    assert_int_equal(m.compared, 2);
    assert_int_equal(m.judged, 1);
    assert_int_equal(m.timed, 2);
    NEAR(m.seconds, 3);
    NEAR(m.agreement, 1);
    NEAR(m.pef[PLM_CAP_TORCH], 0);
    NEAR(m.mcp[PLM_CAP_TORCH], 800);
    NEAR(m.under, 0.5); /* an estimate that is right is not below */
    NEAR(m.median, 0.25);
    NEAR(m.mean, 0.25);
    NEAR(m.width, 0);
    assert_int_equal(m.covered, 0);
    assert_int_equal(m.outside, 1);
    NEAR(m.inside, 0);
    plm_metrics_make(s, 1, 1, &m); /* none has a verdict */
    NEAR(m.agreement, 0);
    NEAR(m.pef[PLM_CAP_DEVICE], 0);
    assert_int_equal(m.outside, 1);
    NEAR(m.inside, 0);
    NEAR(m.worst, 0.5);
}

/* Estimates that fail cost what they promised; those that say rightly that a run does not fit leave all of the card
   free. */
static void test_conserved(void **state)
{
    static const struct {
        bool agrees, capped, oom;
        double conserved;
    } rows[] = {{true, false, false, 700},   {true, false, true, 1000},  {true, true, false, -300},
                {false, false, false, -300}, {false, false, true, -300}, {true, true, true, -300}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_score s = {.estimate = 300, .agrees = rows[i].agrees, .oom = rows[i].oom};
        s.capped_fails[PLM_CAP_DEVICE] = rows[i].capped;
        plm_score_conserve(&s, 1000);
        NEAR(s.conserved[PLM_CAP_DEVICE], rows[i].conserved);
        NEAR(s.conserved[PLM_CAP_TORCH], !rows[i].agrees ? -300 : rows[i].oom ? 1000 : 700);
        assert_int_equal(plm_score_fails(&s, PLM_CAP_DEVICE), !rows[i].agrees || rows[i].capped);
    }
}

/* Of 0 to 40, as numpy.quantile() has it: 0.025 x 40 = 1, 0.975 x 40 = 39; those that are not known are left out. */
static void test_interval_of_known(void **state)
{
    double value[45];
    struct plm_interval interval;
    (void)state;
    for (size_t i = 0; i < COUNT(value); i++)
        value[i] = i < 41 ? (double)((i * 7) % 41) : NAN;
    interval = plm_interval_known(value, COUNT(value));
    NEAR(interval.low, 1);
    NEAR(interval.high, 39);
    value[0] = NAN;
    interval = plm_interval_known(value, 1);
    assert_true(isnan(interval.low) && isnan(interval.high));
}

/* ---- a record ---- */

static void block(uint64_t at, uint64_t bytes, enum plm_category category, uint64_t reserved)
{
    static uint64_t sum;
    if (reserved) {
        sum += reserved;
        plm_put_memory_alloc(0, &(struct plm_ev_memory_alloc){at, reserved, PLM_RECORD_MALLOC, 0});
        plm_put_reserved(0, &(struct plm_ev_reserved){sum});
    }
    plm_put_block_alloc(0, &(struct plm_ev_block_alloc){.address = at, .bytes = bytes});
    plm_put_tag(0, &(struct plm_ev_tag){.address = at, .category = category});
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
    const struct plm_card card = {.memory_usable = 12 * GIB, .memory_total = 12 * GIB};
    struct plm_outcome o;
    struct plm_error error;
    (void)state;
    plm_job_free(unit_job(train));
    for (size_t i = 0; i < COUNT(samples); i++) {
        w.sampler_ms = samples[i].ms;
        assert_int_equal(plm_workload_outcome(&w, unit_path("job.plm"), &card, &o, &error), 0);
        assert_true(o.done);
        assert_int_equal(o.reserved, 200 * MIB);
        assert_int_equal(o.allocated, 189 * MIB);
        assert_int_equal(o.early, samples[i].early * MIB);
    }
    /* Nothing is given back: the cached 11 MiB beside the batch are of no use to a block of 100 MiB. */
    assert_int_equal(o.least, 200 * MIB);
    w.first_sample = PLM_SAMPLE_BEFORE;
    assert_int_equal(plm_workload_outcome(&w, unit_path("job.plm"), &card, &o, &error), 0);
    assert_int_equal(o.early, 0);
}

/* The activations are given back before 104 MiB are asked for: with memory in plenty both are held. */
static void train_again(void)
{
    train();
    plm_put_block_free(0, &(struct plm_ev_block_free){6 * GIB, 100 * MIB});
    block(7 * GIB, 104 * MIB, PLM_CATEGORY_ACTIVATIONS, 104 * MIB);
}

static void test_bounded(void **state)
{
    static const struct {
        uint64_t room, allocated, reserved; /* beside the context; what the card then shows, 0: nothing else */
    } cards[] = {{2048, 0, 0}, {250, 193, 204}, {203, 0, 0}};
    const struct plm_workload w = {.first_sample = PLM_SAMPLE_BEFORE};
    struct plm_outcome o;
    struct plm_error error;
    (void)state;
    plm_job_free(unit_job(train_again));
    for (size_t i = 0; i < COUNT(cards); i++) {
        struct plm_card card = {.memory_total = 12 * GIB};
        assert_int_equal(plm_workload_outcome(&w, unit_path("job.plm"), &card, &o, &error), 0);
        card.memory_usable = o.outside + o.context + cards[i].room * MIB;
        assert_int_equal(plm_workload_outcome(&w, unit_path("job.plm"), &card, &o, &error), 0);
        assert_int_equal(o.reserved, 304 * MIB);
        assert_int_equal(o.bounded_allocated, cards[i].allocated * MIB);
        assert_int_equal(o.bounded_reserved, cards[i].reserved * MIB);
        assert_int_equal(o.usable, cards[i].reserved ? card.memory_usable : 0);
    }
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
        cmocka_unit_test(test_table_cells),
        cmocka_unit_test(test_table_bad),
        cmocka_unit_test(test_table_reals),
        cmocka_unit_test(test_table_put),
        cmocka_unit_test(test_table_lines),
        cmocka_unit_test(test_table_formulas),
        cmocka_unit_test(test_truth),
        cmocka_unit_test(test_truth_bad),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_metrics_in_part),
        cmocka_unit_test(test_conserved),
        cmocka_unit_test(test_interval_of_known),
        cmocka_unit_test(test_early),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_workloads),
    };
    return RUN(tests);
}
