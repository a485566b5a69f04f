/* Measuring: which card is meant, samples that settle, what the hook leaves, and rows of a truth file. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "study/evaluate/truth.h"
#include "fake_nvml.h"
#include "study/measure/meter.h"
#include "study/measure/row.h"
#include "study/measure/sampler.h"
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
        {3, NULL, NULL, NULL, "this machine has 3 GPUs and a row is of one", PLM_EINVAL},
        {3, "0,1", NULL, NULL, "names several GPUs", PLM_EINVAL},
        {1, "", NULL, NULL, "is empty", PLM_EINVAL},
        {1, "1", NULL, NULL, "CUDA_VISIBLE_DEVICES is 1, and this machine has 1 GPU", PLM_EINVAL},
        {1, "-1", NULL, NULL, "CUDA_VISIBLE_DEVICES is -1", PLM_EINVAL},
        {1, "none", NULL, NULL, "CUDA_VISIBLE_DEVICES is none", PLM_EINVAL},
        {1, "GPU-7", NULL, NULL, "no such card", PLM_ENOTFOUND},
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
    assert_int_equal(plm_meter_open(&meter, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "NVML error 9");
    assert_null(meter.library);
    fake()->broken = 0;
    fake()->cards = 0;
    assert_int_equal(plm_meter_open(&meter, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "knows no card");
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
    assert_contains(why, "runs already");
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
    assert_contains(why, "no card GPU-7");
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

/* A last line that an editor left without its end is not continued. */
static void test_unfinished_line(void **state)
{
    struct plm_measured m = measured();
    const char *path = unit_path("unfinished.csv");
    struct plm_error error;
    struct plm_table table;
    char *text;
    size_t size;
    (void)state;
    assert_int_equal(plm_measured_append(path, &m, &error), 0);
    text = unit_read(path, &size);
    unit_write(path, text, size - 1);
    free(text);
    assert_int_equal(plm_measured_append(path, &m, &error), 0);
    assert_int_equal(plm_table_read(path, &table, &error), 0);
    assert_int_equal(table.rows, 2);
    plm_table_free(&table);
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
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_unfinished_line),
        cmocka_unit_test(test_other_columns),
    };
    return RUN(tests);
}
