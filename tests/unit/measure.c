/* Measuring: which card is meant, samples that settle, how busy the card was, what the hook leaves, and rows of a truth file. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"
#include "study/evaluate/truth.h"
#include "fake_nvml.h"
#include "study/measure/dcgm.h"
#include "study/measure/meter.h"
#include "study/measure/row.h"
#include "study/measure/sampler.h"
#include "study/measure/watch.h"
#include "unit.h"

/* The library that dlopen("libnvidia-ml.so.1") gives: LD_LIBRARY_PATH of this test leads to ours. */
static struct fake_nvml *fake(void)
{
    static struct fake_nvml *(*get)(void);
    if (!get) {
        void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
        assert_non_null(library);
        get = (struct fake_nvml * (*)(void)) dlsym(library, "fake_nvml");
        assert_non_null(get);
    }
    return get();
}

static int fresh(void **state)
{
    struct fake_nvml *f = fake();
    (void)state;
    f->broken = f->users = 0;
    f->cards = 1;
    f->used = 5000;
    f->asked = f->restless = 0;
    f->failing = 0;
    f->busy = 40;
    f->gpm = f->gpm_refused = 0;
    return 0;
}

/* ---- which card ---- */

static void test_choose(void **state)
{
    static const struct {
        unsigned cards;
        const char *visible, *order, *uuid, *part;
        int status;
    } cases[] = {
        {1, NULL, NULL, "GPU-00000000", NULL, 0},
        {1, "0", NULL, "GPU-00000000", NULL, 0},
        {1, "GPU-00000000", NULL, "GPU-00000000", NULL, 0},
        {3, "GPU-00000002", NULL, "GPU-00000002", NULL, 0},
        {3, "gpu-0", NULL, "GPU-00000000", NULL, 0}, /* a beginning, as CUDA takes it */
        {3, "2", "PCI_BUS_ID", "GPU-00000002", NULL, 0},
        {3, "2", NULL, NULL, "CUDA_DEVICE_ORDER=PCI_BUS_ID", PLM_EINVAL},
        {3, "2", "FASTEST_FIRST", NULL, "CUDA_DEVICE_ORDER=PCI_BUS_ID", PLM_EINVAL},
        {2, "1", NULL, NULL, "CUDA_DEVICE_ORDER=PCI_BUS_ID", PLM_EINVAL},
        {3, NULL, NULL, NULL, "this machine has 3 GPUs, but a row describes one", PLM_EINVAL},
        {3, "0,1", NULL, NULL, "names several GPUs", PLM_EINVAL},
        {1, "", NULL, NULL, "is empty", PLM_EINVAL},
        {1, "1", NULL, NULL, "CUDA_VISIBLE_DEVICES is 1, but this machine has 1 GPU", PLM_EINVAL},
        {1, "-1", NULL, NULL, "CUDA_VISIBLE_DEVICES is -1", PLM_EINVAL},
        {1, "none", NULL, NULL, "CUDA_VISIBLE_DEVICES is none", PLM_EINVAL},
        {1, "GPU-7", NULL, NULL, "no such GPU", PLM_EINVAL},
    };
    struct plm_error error;
    struct plm_meter meter;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        fake()->cards = cases[i].cards;
        assert_int_equal(plm_meter_open(&meter, &error), 0);
        assert_string_equal(meter.driver, "999.01");
        assert_int_equal(plm_meter_choose(&meter, cases[i].visible, cases[i].order, &error), cases[i].status);
        if (cases[i].uuid)
            assert_string_equal(meter.uuid, cases[i].uuid);
        else
            assert_contains(error.text, cases[i].part);
        plm_meter_close(&meter);
        assert_int_equal(fake()->users, 0);
    }
}

static void test_no_driver(void **state)
{
    struct plm_error error;
    struct plm_meter meter;
    (void)state;
    fake()->broken = 9;
    assert_int_equal(plm_meter_open(&meter, &error), PLM_EIO);
    assert_contains(error.text, "NVML error 9");
    assert_null(meter.library);
    fake()->broken = 0;
    fake()->cards = 0;
    assert_int_equal(plm_meter_open(&meter, &error), PLM_EIO);
    assert_contains(error.text, "sees no GPU");
}

/* ---- samples ---- */

static void test_settle(void **state)
{
    struct plm_error error;
    struct plm_meter meter;
    uint64_t bytes;
    (void)state;
    assert_int_equal(plm_meter_open(&meter, &error), 0);
    assert_int_equal(plm_meter_choose(&meter, NULL, NULL, &error), 0);
    assert_int_equal(plm_meter_settle(&meter, 10, 20, 100, &bytes), 1);
    assert_int_equal(bytes, 5000);
    assert_int_equal(fake()->asked, 20);
    fake()->asked = 0;
    fake()->restless = 30;
    assert_int_equal(plm_meter_settle(&meter, 10, 20, 100, &bytes), 1);
    assert_int_equal(fake()->asked, 50); /* the restless ones and 20 that are equal */
    fake()->asked = 0;
    fake()->restless = 1 << 30;
    assert_int_equal(plm_meter_settle(&meter, 1000, 20, 50, &bytes), 0);
    fake()->restless = 0;
    fake()->failing = 15;
    assert_int_equal(plm_meter_settle(&meter, 10, 20, 100, &bytes), 0);
    plm_meter_close(&meter);
}

static void pause_ms(long ms)
{
    const struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

static void test_sampler(void **state)
{
    struct plm_samples s;
    uint64_t bytes = 0;
    char why[200] = "";
    (void)state;
    assert_int_equal(plm_sampler_start("GPU-00000000", 1000, why, sizeof why), 0);
    assert_int_equal(plm_sampler_start("GPU-00000000", 1000, why, sizeof why), -1); /* one is enough */
    assert_contains(why, "already running");
    assert_int_equal(plm_sampler_settle(20, 2000, &bytes), 1);
    assert_int_equal(bytes, 5000);
    fake()->used = 9000; /* a peak of some milliseconds */
    pause_ms(50);
    fake()->used = 7000;
    assert_int_equal(plm_sampler_settle(20, 2000, &bytes), 1);
    assert_int_equal(bytes, 7000);
    plm_sampler_read(&s);
    assert_int_equal(s.now, 7000);
    assert_int_equal(s.most, 9000);
    assert_true(s.count >= 40);
    assert_int_equal(s.failed, 0);
    fake()->used = 20000; /* between two samples, or not: reading takes one itself */
    plm_sampler_read(&s);
    assert_int_equal(s.most, 20000);
    fake()->restless = UINT64_MAX;
    assert_int_equal(plm_sampler_settle(20, 60, &bytes), 0);
    fake()->restless = 0;
    fake()->failing = 3;
    pause_ms(20);
    plm_sampler_read(&s);
    assert_true(s.failed > 0);
    fake()->failing = 0;
    plm_sampler_stop();
    plm_sampler_stop(); /* nothing to do */
    assert_int_equal(fake()->users, 0);
    assert_int_equal(plm_sampler_start("GPU-7", 1000, why, sizeof why), -1);
    assert_contains(why, "no GPU GPU-7");
}

/* ---- how busy ---- */

/* As NVIDIA's documentation prints them. */
static const char DISCOVERY[] = "2 GPUs found.\n"
                                "+--------+----------------------------------------------------------------------+\n"
                                "| GPU ID | Device Information                                                   |\n"
                                "+--------+----------------------------------------------------------------------+\n"
                                "| 0      | Name: NVIDIA A100-SXM4-40GB                                          |\n"
                                "|        | PCI Bus ID: 00000000:00:04.0                                         |\n"
                                "|        | Device UUID: GPU-00000001                                            |\n"
                                "+--------+----------------------------------------------------------------------+\n"
                                "| 3      | Name: NVIDIA A100-SXM4-40GB                                          |\n"
                                "|        | PCI Bus ID: 00000000:00:05.0                                         |\n"
                                "|        | Device UUID: GPU-00000000                                            |\n"
                                "+--------+----------------------------------------------------------------------+\n";

static void test_dcgm_card(void **state)
{
    (void)state;
    assert_int_equal(plm_dcgm_card(DISCOVERY, "GPU-00000001"), 0);
    assert_int_equal(plm_dcgm_card(DISCOVERY, "GPU-00000000"), 3);
    assert_int_equal(plm_dcgm_card(DISCOVERY, "GPU-0000000"), -1); /* a beginning is another card */
    assert_int_equal(plm_dcgm_card(DISCOVERY, ""), -1);
    assert_int_equal(plm_dcgm_card("", "GPU-00000000"), -1);
    assert_int_equal(plm_dcgm_card("| x | Device UUID: GPU-00000000", "GPU-00000000"), -1); /* no number before it */
}

static void test_dcgm_lines(void **state)
{
    struct plm_dcgm dcgm = {.card = 3};
    struct plm_reading r;
    (void)state;
    assert_false(plm_dcgm_line(&dcgm, "GPU 3  97  0.5", &r)); /* without a header nobody knows what they are */
    assert_false(plm_dcgm_line(&dcgm, "# Entity  GPUTL  GRACT  SMACT  TMPTR  DRAMA", &r));
    assert_false(plm_dcgm_line(&dcgm, "      ID", &r));
    assert_true(plm_dcgm_line(&dcgm, "   GPU 3     97  0.991    N/A  45  0.25  ", &r));
    assert_true(r.given[PLM_METRIC_GPUTL] && r.given[PLM_METRIC_GRACT] && r.given[PLM_METRIC_DRAMA]);
    assert_false(r.given[PLM_METRIC_SMACT] || r.given[PLM_METRIC_SMOCC] || r.given[PLM_METRIC_TENSO]);
    assert_float_equal(r.value[PLM_METRIC_GPUTL], 0.97, 1e-9);
    assert_float_equal(r.value[PLM_METRIC_GRACT], 0.991, 1e-9);
    assert_float_equal(r.value[PLM_METRIC_DRAMA], 0.25, 1e-9);
    assert_false(plm_dcgm_line(&dcgm, "GPU 0     97  0.991  0.5  45  0.25", &r)); /* another card */
    assert_false(plm_dcgm_line(&dcgm, "GPU-I 3   97  0.991  0.5  45  0.25", &r)); /* a part of one */
    assert_false(plm_dcgm_line(&dcgm, "GPU 3", &r));
    assert_false(plm_dcgm_line(&dcgm, "GPU 3 N/A nan -0.5 45 7", &r)); /* no fractions */
    /* Other releases write the head so, and other orders are other columns. */
    assert_false(plm_dcgm_line(&dcgm, "#Entity   SMOCC        FP32A        TENSO", &r));
    assert_true(plm_dcgm_line(&dcgm, "GPU 3     0.125        0.250        1.003\r", &r));
    assert_float_equal(r.value[PLM_METRIC_SMOCC], 0.125, 1e-9);
    assert_float_equal(r.value[PLM_METRIC_FP32A], 0.25, 1e-9);
    assert_float_equal(r.value[PLM_METRIC_TENSO], 1, 1e-9);
    assert_false(r.given[PLM_METRIC_GPUTL]);
}

static void open_meter(struct plm_meter *meter)
{
    struct plm_error error;
    assert_int_equal(plm_meter_open(meter, &error), 0);
    assert_int_equal(plm_meter_choose(meter, NULL, NULL, &error), 0);
}

static void test_activity(void **state)
{
    struct plm_activity a;
    struct plm_meter meter;
    struct plm_reading r;
    (void)state;
    open_meter(&meter);
    plm_activity_open(&a, &meter);
    assert_true(plm_activity_read(&a, &r));
    assert_float_equal(r.value[PLM_METRIC_GPUTL], 0.4, 1e-9);
    assert_false(r.given[PLM_METRIC_SMACT]);
    fake()->busy = 101; /* refused */
    assert_false(plm_activity_read(&a, &r));
    plm_activity_close(&a);
    fake()->gpm = 1;
    fake()->gpm_refused = 12;
    plm_activity_open(&a, &meter);
    assert_false(plm_activity_read(&a, &r)); /* it takes two samples */
    for (int i = 0; i < 3; i++) {
        assert_true(plm_activity_read(&a, &r));
        assert_false(r.given[PLM_METRIC_GPUTL] || r.given[PLM_METRIC_FP32A]);
        assert_float_equal(r.value[PLM_METRIC_GRACT], 0.02,
                           1e-9); /* by NVML's numbers of the metrics, from its documentation */
        assert_float_equal(r.value[PLM_METRIC_SMACT], 0.04, 1e-9);
        assert_float_equal(r.value[PLM_METRIC_SMOCC], 0.06, 1e-9);
        assert_float_equal(r.value[PLM_METRIC_TENSO], 0.10, 1e-9);
        assert_float_equal(r.value[PLM_METRIC_DRAMA], 0.20, 1e-9);
    }
    plm_activity_close(&a);
    assert_int_equal(fake()->samples, 0);
    plm_meter_close(&meter);
}

static void add_reading(struct plm_watch *w, enum plm_watch_source source, uint64_t begin, uint64_t end,
                        enum plm_metric metric, double value)
{
    struct plm_watch_reading one = {.begin = begin, .end = end};
    one.reading.given[metric] = true;
    one.reading.value[metric] = value;
    plm_watch_add(w, source, &one);
}

static void test_means(void **state)
{
    struct plm_watch w = {.pipe = -1};
    struct plm_reading mean;
    char source[24];
    (void)state;
    add_reading(&w, PLM_WATCH_DCGM, 0, 110, PLM_METRIC_SMACT, 0.9); /* begins before the steps */
    add_reading(&w, PLM_WATCH_DCGM, 110, 210, PLM_METRIC_SMACT, 0.5);
    add_reading(&w, PLM_WATCH_DCGM, 210, 510, PLM_METRIC_SMACT, 0.1); /* three times as long */
    add_reading(&w, PLM_WATCH_DCGM, 510, 610, PLM_METRIC_SMACT, 0.9); /* ends after them */
    add_reading(&w, PLM_WATCH_NVML, 110, 210, PLM_METRIC_SMACT, 0.7); /* DCGM tells it already */
    add_reading(&w, PLM_WATCH_NVML, 110, 210, PLM_METRIC_GPUTL, 0.0);
    assert_int_equal(plm_watch_mean(&w, 100, 600, &mean, source, sizeof source), 2);
    assert_float_equal(mean.value[PLM_METRIC_SMACT], 0.2, 1e-9);
    assert_true(mean.given[PLM_METRIC_GPUTL]); /* idle is known, too */
    assert_false(mean.given[PLM_METRIC_DRAMA]);
    assert_string_equal(source, "dcgm+nvml");
    assert_int_equal(plm_watch_mean(&w, 100, 109, &mean, source, sizeof source), 0);
    assert_string_equal(source, "");
    assert_int_equal(plm_watch_mean(&w, 210, 600, &mean, source, sizeof source), 1);
    assert_string_equal(source, "dcgm");
    plm_watch_free(&w);
}

/* A dcgmi of our own, first in PATH. */
static void fake_dcgmi(const char *text)
{
    const char *path = unit_path("dcgmi");
    char search[4096], *old = getenv("PATH");
    unit_write(path, text, strlen(text));
    assert_int_equal(chmod(path, 0755), 0);
    if (strncmp(old, unit_folder(), strlen(unit_folder())) != 0) {
        snprintf(search, sizeof search, "%s:%s", unit_folder(), old);
        setenv("PATH", search, 1);
    }
}

static void watch_for(struct plm_watch *w, long ms)
{
    struct plm_meter meter;
    open_meter(&meter);
    plm_watch_start(w, &meter);
    pause_ms(ms);
    plm_watch_stop(w);
    plm_meter_close(&meter);
}

static void test_watch(void **state)
{
    struct plm_watch w;
    struct plm_reading mean;
    char script[4096], source[24];
    (void)state;
    snprintf(script, sizeof script,
             "#!/bin/sh\n[ \"$1\" = discovery ] && { cat <<END\n%sEND\nexit 0; }\n"
             "[ \"$*\" = 'dmon -i 3 -e 203,1001,1002,1003,1007,1004,1005 -d 1000' ] || exit 9\n"
             "echo '# Entity  GPUTL  SMACT'; echo '     ID'\nprintf 'GPU 3  50'; sleep 0.1; echo '  0.625'\n"
             "while :; do sleep 0.1; echo 'GPU 3  50  0.625'; done\n",
             DISCOVERY);
    fake_dcgmi(script);
    watch_for(&w, 700);
    assert_string_equal(w.trouble, "");
    assert_true(w.of[PLM_WATCH_DCGM].count >= 2);
    assert_true(w.of[PLM_WATCH_NVML].count >= 3);
    assert_true(plm_watch_mean(&w, 0, UINT64_MAX, &mean, source, sizeof source) >= 2);
    assert_float_equal(mean.value[PLM_METRIC_GPUTL], 0.5, 1e-9);
    assert_float_equal(mean.value[PLM_METRIC_SMACT], 0.625, 1e-9);
    assert_string_equal(source, "dcgm");
    plm_watch_free(&w);
}

static void test_watch_without_dcgm(void **state)
{
    struct plm_watch w;
    struct plm_reading mean;
    char source[24];
    (void)state;
    fake_dcgmi("#!/bin/sh\necho 'Error: unable to connect to host engine'\nexit 255\n");
    watch_for(&w, 350);
    assert_contains(w.trouble, "does not answer");
    assert_true(plm_watch_mean(&w, 0, UINT64_MAX, &mean, source, sizeof source) >= 2);
    assert_float_equal(mean.value[PLM_METRIC_GPUTL], 0.4, 1e-9);
    assert_string_equal(source, "nvml");
    plm_watch_free(&w);
    fake_dcgmi("#!/bin/sh\necho '0 GPUs found.'\n");
    watch_for(&w, 1);
    assert_contains(w.trouble, "does not know the GPU GPU-00000000");
    plm_watch_free(&w);
    fake_dcgmi("#!/bin/sh\n[ $1 = discovery ] && echo '| 0 | Device UUID: GPU-00000000 |' && exit\necho no\nexit 1\n");
    watch_for(&w, 300); /* one that ends at once */
    assert_contains(w.trouble, "ended at once");
    assert_int_equal(w.of[PLM_WATCH_DCGM].count, 0);
    assert_true(w.of[PLM_WATCH_NVML].count > 0);
    plm_watch_free(&w);
}

/* ---- what the hook leaves ---- */

static const char *file(const char *name, const char *text)
{
    const char *path = unit_path(name);
    unit_write(path, text, strlen(text));
    return path;
}

#define REPORT                                                                                                         \
    "[process]\ntorch = 2.15.0\ncuda = 13.2\ngpu = A card, \"quoted\"\ntotal = 1000\nallocated = 300\nreserved = "     \
    "400\n"                                                                                                            \
    "first = 100\ncontext = 50\nmost = 700\nsamples = 9\nsettle = 50\nsettled = 1\nsteps = 4\nbatch = 8\nzero_grad = " \
    "2\n"                                                                                                              \
    "model = Net\noptimizer = AdamW\nooms = 1\nexception = OutOfMemoryError\nlater = something\n"

static struct plm_measured measured(void)
{
    struct plm_error error;
    struct plm_measured m;
    assert_int_equal(plm_measured_read(file("report.ini", REPORT), &m, &error), 0);
    return m;
}

static void test_report(void **state)
{
    struct plm_measured m = measured();
    struct plm_error error;
    (void)state;
    assert_true(m.watched && m.settled && !m.disturbed);
    assert_int_equal(m.batch, 8);
    assert_int_equal(m.zero_grad, 2);
    assert_int_equal(plm_measured_used(&m), 600);
    assert_string_equal(m.gpu, "A card, \"quoted\"");
    assert_int_equal(plm_measured_read(file("none.ini", "[process]\ntorch = 2.15.0\n"), &m, &error), 0);
    assert_false(m.watched);
    assert_int_equal(m.zero_grad, -1);
    assert_int_equal(plm_measured_read(file("t.ini", "[process]\nsamples = 3\ntrouble = no\n"), &m, &error), 0);
    assert_false(m.watched);
    assert_int_equal(plm_measured_read(file("bad.ini", "[process]\nmost = -3\n"), &m, &error), PLM_EFORMAT);
    assert_contains(error.text, "most is \"-3\"");
    assert_int_equal(plm_measured_read(file("bad.ini", "[process]\nzero_grad = 10\n"), &m, &error), PLM_EFORMAT);
}

/* ---- rows ---- */

static void test_rows(void **state)
{
    struct plm_measured m = measured();
    const char *path = unit_path("truth.csv");
    struct plm_error error;
    struct plm_truth truth;
    (void)state;
    snprintf(m.family, sizeof m.family, "mine");
    snprintf(m.run, sizeof m.run, "first");
    assert_int_equal(plm_measured_check(path, &error), 0); /* not there yet */
    assert_int_equal(plm_measured_append(path, &m, &error), 0);
    assert_int_equal(plm_measured_check(path, &error), 0);
    snprintf(m.run, sizeof m.run, "second");
    m.oom = true;
    m.zero_grad = -1;
    assert_int_equal(plm_measured_append(path, &m, &error), 0);
    assert_int_equal(plm_truth_read(path, PLM_TRUTH_NEEDS_GROUND, &truth, &error), 0);
    assert_int_equal(truth.rows, 2);
    assert_string_equal(truth.row[0].run, "first");
    assert_string_equal(truth.row[0].gpu, "A card, \"quoted\"");
    assert_int_equal(truth.row[0].ground[PLM_TRUTH_LESS_FIRST], 550); /* 700 - 100 - 50 */
    assert_int_equal(truth.row[0].ground[PLM_TRUTH_DEVICE], 600);
    assert_int_equal(truth.row[0].ground[PLM_TRUTH_RESERVED], 400);
    assert_int_equal(truth.row[0].ground[PLM_TRUTH_ALLOCATED], 300);
    assert_int_equal(truth.row[0].total, 1000);
    assert_int_equal(truth.row[0].zero_grad, 2);
    assert_false(truth.row[0].oom);
    assert_string_equal(truth.row[1].run, "second");
    assert_true(truth.row[1].oom);
    assert_int_equal(truth.row[1].zero_grad, PLM_TRUTH_ZERO_GRAD_UNKNOWN);
    plm_truth_free(&truth);
}

/* What is not known is an empty cell, and on the virtual device no time is known. */
static void test_times_in_rows(void **state)
{
    static const char times[] =
        "step_ns = 12345678\nstep_mean_ns = 13000000\nsteps_timed = 30\nsteps_begin = 5\nsteps_end = 9\n";
    static const struct {
        const char *more, *time, *mean, *steps;
    } cases[] = {{"virtual = 0\n", "12.3457", "13", "30"}, {"virtual = 1\n", "", "", ""}};
    const char *path = unit_path("times.csv");
    struct plm_measured m;
    struct plm_error error;
    struct plm_csv table;
    char text[1024];
    int at;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(text, sizeof text, "%s%s%s", REPORT, times, cases[i].more);
        assert_int_equal(plm_measured_read(file("times.ini", text), &m, &error), 0);
        assert_int_equal(plm_measured_timed(&m), i == 0);
        m.activity.given[PLM_METRIC_SMOCC] = i == 0;
        m.activity.value[PLM_METRIC_SMOCC] = 0.25;
        assert_int_equal(plm_measured_append(path, &m, &error), 0);
    }
    assert_int_equal(plm_csv_read(path, &table, &error), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        at = plm_csv_column(&table, "step_time_ms");
        assert_string_equal(plm_csv_cell(&table, i, at), cases[i].time);
        assert_string_equal(plm_csv_cell(&table, i, at + 1), cases[i].mean);
        assert_string_equal(plm_csv_cell(&table, i, at + 2), cases[i].steps);
        at = plm_csv_column(&table, "smocc");
        assert_string_equal(plm_csv_cell(&table, i, at), i ? "" : "0.2500");
        assert_string_equal(plm_csv_cell(&table, i, at + 1), "");
    }
    plm_csv_free(&table);
}

/* A last line that an editor left without its end is not continued. */
static void test_unfinished_line(void **state)
{
    struct plm_measured m = measured();
    const char *path = unit_path("unfinished.csv");
    struct plm_error error;
    struct plm_csv table;
    char *text;
    size_t size;
    (void)state;
    assert_int_equal(plm_measured_append(path, &m, &error), 0);
    text = unit_read(path, &size);
    unit_write(path, text, size - 1);
    free(text);
    assert_int_equal(plm_measured_append(path, &m, &error), 0);
    assert_int_equal(plm_csv_read(path, &table, &error), 0);
    assert_int_equal(table.rows, 2);
    plm_csv_free(&table);
}

/* A full disk takes no half of a row. */
static void test_full_disk(void **state)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    const char *path = unit_path("full.csv");
    struct plm_measured m = {.batch = 1};
    struct plm_error error;
    struct stat before, after;
    struct rlimit little = all;
    (void)state;
    assert_int_equal(plm_measured_append(path, &m, &error), 0);
    assert_int_equal(stat(path, &before), 0);
    little.rlim_cur = (rlim_t)before.st_size + 10;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    assert_int_equal(plm_measured_append(path, &m, &error), PLM_EIO);
    setrlimit(RLIMIT_FSIZE, &all);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
}

static void test_other_columns(void **state)
{
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_measured_check(file("other.csv", "run,model\n1,2\n"), &error), PLM_EFORMAT);
    assert_contains(error.text, "column 2 is not family");
    assert_int_equal(plm_measured_check(file("empty.csv", ""), &error), 0);
    assert_int_equal(plm_measured_check(unit_folder(), &error), PLM_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test_setup(test_choose, fresh),
        cmocka_unit_test_setup(test_no_driver, fresh),
        cmocka_unit_test_setup(test_settle, fresh),
        cmocka_unit_test_setup(test_sampler, fresh),
        cmocka_unit_test(test_dcgm_card),
        cmocka_unit_test(test_dcgm_lines),
        cmocka_unit_test_setup(test_activity, fresh),
        cmocka_unit_test(test_means),
        cmocka_unit_test_setup(test_watch, fresh),
        cmocka_unit_test_setup(test_watch_without_dcgm, fresh),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_times_in_rows),
        cmocka_unit_test(test_unfinished_line),
        cmocka_unit_test(test_other_columns),
    };
    return RUN(tests);
}
