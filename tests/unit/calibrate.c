/* Constants of the time model from figures of a card: what is read, what comes out, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/card.h"
#include "common/error.h"
#include "time/calibrate.h"
#include "time/cost.h"
#include "time/figures.h"
#include "unit.h"

static struct plm_card card;
static struct plm_speeds kept;

/* An A100: 1555 GB/s, 19.5 Tflops in fp32, 312 in fp16, 108 multiprocessors, 40 MiB of cache; and constants of our own. */
static int prepare(void **state)
{
    static const struct {
        int constant;
        double value;
    } values[] = {
        {PLM_SPEED_host_factor, 1},      {PLM_SPEED_host_factor_low, 0.5},
        {PLM_SPEED_host_factor_high, 2}, {PLM_SPEED_launch_us, 4},
        {PLM_SPEED_copy_call_us, 6},     {PLM_SPEED_wait_us, 5},
        {PLM_SPEED_latency_us, 3},       {PLM_SPEED_floor_us, 2},
        {PLM_SPEED_gap_us, 0.5},         {PLM_SPEED_memory_efficiency, 0.8},
        {PLM_SPEED_l2_ratio, 3},         {PLM_SPEED_l2_share, 0.5},
        {PLM_SPEED_thread_bytes, 32},    {PLM_SPEED_memory_latency_ns, 600},
        {PLM_SPEED_winograd_gain, 1.5},  {PLM_SPEED_turning_ops, 0},
        {PLM_SPEED_prologue_us, 1},      {PLM_SPEED_tile_step_ns, 100},
        {PLM_SPEED_pageable_gbs, 6},     {PLM_SPEED_collective_latency_us, 5},
        {PLM_SPEED_model_error, 0.2},
    };
    const char *source = getenv("PLM_SOURCE");
    char path[4096], capabilities[4096];
    struct plm_card cards[16];
    struct plm_error error;
    (void)state;
    snprintf(path, sizeof path, "%s/data/gpus/a100-40gb.ini", source);
    snprintf(capabilities, sizeof capabilities, "%s/data/compute-capabilities.ini", source);
    assert_true(plm_card_file(path, capabilities, cards, COUNT(cards), &error) > 0);
    card = cards[0];
    kept = (struct plm_speeds){.name = "before", .source = "a test"};
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        plm_speed_set(&kept, &plm_speed[i], fmin(fmax(0.7, plm_speed[i].least), plm_speed[i].most));
    for (size_t i = 0; i < COUNT(values); i++)
        plm_speed_set(&kept, &plm_speed[values[i].constant], values[i].value);
    return 0;
}

/* ---- reading ---- */

#define HEAD \
    "{\"plimsoll\": \"times/1\", \"gpu\": \"NVIDIA A100\", \"sms\": 108, \"memory\": 42, \"torch\": \"2.10.0\"}\n"
#define STREAM                                                                                                      \
    "{\"figure\": \"stream\", \"us\": 400.5, \"class\": \"elementwise\", \"type\": \"fp32\", \"read\": 268435456, " \
    "\"written\": 268435456}\n"
#define PERIOD "{\"figure\": \"period\", \"us\": 2.5}\n"

static int parse(const char *text, struct plm_figures *figures, struct plm_error *error)
{
    return plm_figures_parse("list", text, strlen(text), figures, error);
}

static void test_read(void **state)
{
    static const char text[] = HEAD STREAM
        "{\"skipped\": \"attention\", \"why\": \"no memory\"}\n" PERIOD
        "{\"figure\": \"p\", \"us\": 7, \"class\": \"gemm\", \"type\": \"tf32\", \"m\": 3, \"n\": 4, \"k\": 5, "
        "\"batch\": 6}\n"
        "{\"figure\": \"c\", \"us\": 8, \"class\": \"copy\", \"operation\": \"device_to_host\", \"pinned\": true}\n"
        "{\"end\": 4}\n";
    struct plm_figures f;
    struct plm_error error;
    (void)state;
    assert_int_equal(parse(text, &f, &error), 0);
    assert_int_equal(f.count, 4);
    assert_int_equal(f.sms, 108);
    assert_string_equal(f.gpu, "NVIDIA A100");
    assert_string_equal(f.torch, "2.10.0");
    assert_true(f.item[0].sized && !f.item[1].sized);
    assert_float_equal(f.item[0].us, 400.5, 1e-9);
    assert_float_equal(f.item[0].work.read, 268435456, 0);
    assert_int_equal(f.item[2].work.type, PLM_WORK_TF32);
    assert_int_equal(f.item[2].work.m * 1000 + f.item[2].work.n * 100 + f.item[2].work.k * 10 + f.item[2].work.batch,
                     3456);
    assert_int_equal(f.item[3].work.operation, PLM_COPY_DEVICE_TO_HOST);
    assert_true(f.item[3].work.pinned);
    assert_ptr_equal(plm_figures_find(&f, "period", NULL), &f.item[1]);
    assert_null(plm_figures_find(&f, "period", &f.item[1]));
    plm_figures_free(&f);
}

/* Every member of a figure by itself, and every word. */
static void test_members(void **state)
{
    static const char text[] =
        "{\"plimsoll\": \"times/1\", \"gpu\": \"A\\u0007B\", \"torch\": \"t\", \"cuda\": \"c\", \"driver\": \"d\", "
        "\"memory\": 42}\n\n"
        "{\"figure\": \"all\", \"us\": 86400e6, \"class\": \"convolution\", \"type\": \"fp64\", \"bytes_per\": 255, "
        "\"m\": 4294967295, \"n\": 2, \"k\": 3, \"batch\": 4, \"filter\": 5, \"stride\": 6, \"flops\": 1e18, "
        "\"read\": 8, \"written\": 9, \"input\": 10, \"output\": 11, \"channels_last\": true, "
        "\"operation\": \"backward_filter\"}\n"
        "{\"figure\": \"none\", \"us\": 0}\n"
        "{\"figure\": \"b\", \"us\": 1, \"class\": \"copy\", \"type\": \"fp16\", \"strided\": true, "
        "\"operation\": \"device_to_device\"}\n"
        "{\"figure\": \"b\", \"us\": 1, \"class\": \"attention\", \"type\": \"bf16\", \"operation\": \"backward\"}\n"
        "{\"figure\": \"b\", \"us\": 1, \"class\": \"copy\", \"type\": \"fp8\", \"operation\": \"host_to_device\"}\n"
        "{\"figure\": \"b\", \"us\": 1, \"class\": \"convolution\", \"operation\": \"backward_data\"}\n"
        "{\"end\": 6}"; /* without a last newline */
    static const struct {
        int type, operation;
    } words[] = {{PLM_WORK_FP64, PLM_CONVOLUTION_BACKWARD_FILTER}, {PLM_WORK_FP32, PLM_CONVOLUTION_FORWARD},
                 {PLM_WORK_FP16, PLM_COPY_DEVICE_TO_DEVICE},       {PLM_WORK_BF16, PLM_ATTENTION_BACKWARD},
                 {PLM_WORK_FP8, PLM_COPY_HOST_TO_DEVICE},          {PLM_WORK_FP32, PLM_CONVOLUTION_BACKWARD_DATA}};
    struct plm_error error = {0};
    const struct plm_work *w;
    struct plm_figures f;
    (void)state;
    if (parse(text, &f, &error))
        fail_msg("%s", error.text);
    assert_string_equal(f.gpu, "A?B"); /* no bell on the terminal */
    assert_string_equal(f.torch, "t");
    assert_string_equal(f.cuda, "c");
    assert_string_equal(f.driver, "d");
    assert_int_equal(f.memory, 42);
    assert_int_equal(f.sms, 0);
    w = &f.item[0].work;
    assert_true(f.item[0].sized && w->sized && !f.item[1].sized);
    assert_float_equal(f.item[0].us, 86400e6, 0);
    assert_int_equal(w->class, PLM_WORK_CONVOLUTION);
    assert_int_equal(w->bytes_per, 255);
    assert_true(w->m == 4294967295 && w->n == 2 && w->k == 3 && w->batch == 4 && w->filter == 5 && w->stride == 6);
    assert_true(w->flops >= 1e18 && w->flops <= 1e18);
    assert_int_equal((int)w->read * 1000000 + (int)w->written * 10000 + (int)w->input * 100 + (int)w->output, 8091011);
    assert_true(w->channels_last && !w->strided && !w->pinned);
    assert_true(f.item[2].work.strided && !f.item[2].work.channels_last);
    for (size_t i = 0; i < COUNT(words); i++) {
        assert_int_equal(f.item[i].work.type, words[i].type);
        assert_int_equal(f.item[i].work.operation, words[i].operation);
    }
    plm_figures_free(&f);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "ends too early"},
        {HEAD STREAM PERIOD, "ends too early"}, /* the script was killed */
        {HEAD STREAM "{\"figure\": \"per", "list:3"},
        {HEAD STREAM "{\"end\": 2}\n", "expected 2 figures, found 1"},
        {HEAD "{\"end\": 0}\n" PERIOD, "list:3: this is not a line"},
        {STREAM "{\"end\": 1}\n", "this does not start like"},
        {"{\"plimsoll\": \"times/2\", \"gpu\": \"x\"}\n{\"end\": 0}\n", "this does not start like"},
        {"Traceback (most recent call last):\n", "list:1"},
        {"[]\n", "this is not a line"},
        {HEAD "{\"us\": 3}\n{\"end\": 1}\n", "this is not a line"},
        {HEAD "{\"figure\": \"period\"}\n{\"end\": 1}\n", "not a possible duration"},
        {HEAD "{\"figure\": \"period\", \"us\": -1}\n{\"end\": 1}\n", "not a possible duration"},
        {HEAD "{\"figure\": \"period\", \"us\": 1e300}\n{\"end\": 1}\n", "not a possible duration"},
        {HEAD "{\"figure\": \"period\", \"us\": NaN}\n{\"end\": 1}\n", "list:2"},
        {HEAD "{\"figure\": \"period\", \"us\": \"3\"}\n{\"end\": 1}\n", "list:2"},
        {HEAD "{\"figure\": \"stream\", \"us\": 0, \"class\": \"elementwise\"}\n{\"end\": 1}\n",
         "not a possible duration"},
        {HEAD "{\"figure\": \"x\", \"us\": 1, \"class\": \"magic\"}\n{\"end\": 1}\n", "a class, type or operation"},
        {HEAD "{\"figure\": \"x\", \"us\": 1, \"class\": \"gemm\", \"m\": 5e9}\n{\"end\": 1}\n",
         "\"m\" is not a number from 0"},
        {HEAD "{\"figure\": \"x\", \"us\": 1, \"class\": \"gemm\", \"read\": -1}\n{\"end\": 1}\n",
         "\"read\" is not a number from 0"},
        {HEAD "{\"figure\": \"x\", \"us\": 1, \"class\": \"gemm\", \"bytes_per\": 256}\n{\"end\": 1}\n",
         "\"bytes_per\" is not a number from 0 to 255"},
        {HEAD "{\"figure\": \"x\", \"us\": 1, \"class\": \"gemm\", \"flops\": 1.1e18}\n{\"end\": 1}\n",
         "\"flops\" is not a number from 0 to 1e+18"},
        {HEAD "{\"figure\": \"x\", \"us\": 86401e6}\n{\"end\": 1}\n", "not a possible duration"},
        {HEAD "{\"figure\": \"x\", \"us\": 1, \"class\": \"gemm\", \"type\": \"int8\"}\n{\"end\": 1}\n",
         "a class, type or operation"},
        {HEAD "{\"figure\": \"x\", \"us\": 1, \"class\": \"gemm\", \"operation\": \"up\"}\n{\"end\": 1}\n",
         "a class, type or operation"},
        {"{\"plimsoll\": \"times/1\", \"gpu\": \"\"}\n{\"end\": 0}\n", "this does not start like"},
        {HEAD "\n\n" STREAM "[]\n", "list:5: this is not a line"}, /* blank lines count */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct plm_figures f;
        struct plm_error error = {0};
        assert_int_equal(parse(cases[i].text, &f, &error), PLM_EFORMAT);
        assert_contains(error.text, cases[i].part);
        plm_figures_free(&f);
    }
}

/* ---- arithmetic ---- */

static struct plm_figures list;

static struct plm_figure *figure(const char *name, double us)
{
    static struct plm_figure room[64];
    if (!list.item)
        list.item = room;
    assert_true(list.count < COUNT(room));
    list.item[list.count] = (struct plm_figure){.us = us};
    snprintf(list.item[list.count].name, sizeof list.item->name, "%s", name);
    return &list.item[list.count++];
}

static struct plm_work *work(const char *name, double us, enum plm_work_class class, enum plm_work_type type)
{
    struct plm_figure *f = figure(name, us);
    f->sized = true;
    f->work = (struct plm_work){
        .class = (uint8_t)class, .type = (uint8_t)type, .sized = true, .bytes_per = type > PLM_WORK_TF32 ? 2 : 4};
    return &f->work;
}

static void bytes(const char *name, double us, double each)
{
    struct plm_work *w = work(name, us, PLM_WORK_ELEMENTWISE, PLM_WORK_FP32);
    w->read = w->written = each;
}

static void product(const char *name, double us, enum plm_work_type type, unsigned size)
{
    struct plm_work *w = work(name, us, PLM_WORK_GEMM, type);
    w->m = w->n = w->k = size;
    w->batch = 1;
    w->flops = 2.0 * size * size * size;
    w->read = 2.0 * size * size * w->bytes_per;
    w->written = 1.0 * size * size * w->bytes_per;
}

/* The least that a list must have: 90 % of the bandwidth and, but for the last round of blocks, 80 % of the flops. */
static void needed(void)
{
    list = (struct plm_figures){.gpu = "card"};
    bytes("stream", 2 * 268435456.0 / (0.9 * 1555e3), 268435456);
    product("product_fp32", 2 * pow(8192, 3) / (0.8 * 19.5e6), PLM_WORK_FP32, 8192);
}

static struct plm_calibration calibrated(void)
{
    struct plm_calibration c;
    struct plm_error error = {0};
    if (plm_calibrate(&list, &card, &kept, &c, &error))
        fail_msg("%s", error.text);
    return c;
}

static void test_efficiencies(void **state)
{
    struct plm_calibration c;
    (void)state;
    needed();
    product("product_tensor", 2 * pow(8192, 3) / (0.7 * 312e6), PLM_WORK_FP16, 8192);
    bytes("strided", 2 * 268435456.0 / (0.45 * 1555e3), 268435456);
    list.item[list.count - 1].work.strided = true;
    c = calibrated();
    /* What a kernel takes to start is 2.5 us of some hundred; the last round of blocks is some per cent. */
    assert_float_equal(c.speeds.memory_efficiency, 0.9, 0.02);
    assert_float_equal(c.speeds.simt_efficiency, 0.8, 0.03);
    assert_float_equal(c.speeds.tensor_efficiency, 0.7, 0.03);
    /* 767 us for 67 million elements, by 19.5 instructions a picosecond: 108 x 4 x 32 in a cycle of 1.41 GHz. */
    assert_float_equal(c.speeds.strided_ops, 222, 3);
    assert_int_equal(c.how[PLM_SPEED_strided_ops], PLM_CALIBRATED_MEASURED);
    assert_int_equal(c.how[PLM_SPEED_model_error], PLM_CALIBRATED_KEPT);
    assert_int_equal(c.how[PLM_SPEED_gather_efficiency], PLM_CALIBRATED_KEPT);
    assert_float_equal(c.speeds.gather_efficiency, 0.7, 0);
    assert_float_equal(c.speeds.floor_us, 2, 0);
    assert_int_equal(c.measured, 4);
    assert_true(c.worst < 1e-6);
}

static void test_host(void **state)
{
    struct plm_calibration c;
    (void)state;
    needed();
    figure("host_launch", 9.5);
    figure("host_plain", 1.25);
    figure("host_copy", 12);
    figure("host_copy_plain", 2);
    figure("period", 2.75);
    figure("roundtrip", 25);
    c = calibrated();
    assert_float_equal(c.speeds.launch_us, 8.25, 1e-9);
    assert_float_equal(c.speeds.copy_call_us, 10, 1e-9);
    assert_float_equal(c.speeds.floor_us, 2.25, 1e-9); /* the gap is not known: 0.5 as before */
    assert_float_equal(c.speeds.gap_us, 0.5, 0);
    assert_int_equal(c.how[PLM_SPEED_gap_us], PLM_CALIBRATED_KEPT);
    assert_float_equal(c.speeds.wait_us, 25 - 9.5 - 3 - 2.25, 1e-9);
    figure("kernel", 1.5);
    figure("latency", 4);
    c = calibrated();
    assert_float_equal(c.speeds.floor_us, 1.5, 1e-9);
    assert_float_equal(c.speeds.gap_us, 1.25, 1e-9);
    assert_float_equal(c.speeds.latency_us, 4, 1e-9);
    assert_float_equal(c.speeds.wait_us, 25 - 9.5 - 4 - 1.5, 1e-9);
    list.item[3].us = 50; /* the plain call slower than the launch: nothing is left, and that is not below nothing */
    c = calibrated();
    assert_float_equal(c.speeds.launch_us, 0, 0);
    list.item[2].us = 5000; /* beyond the limits: kept, and said */
    c = calibrated();
    assert_float_equal(c.speeds.launch_us, 4, 0);
    assert_int_equal(c.how[PLM_SPEED_launch_us], PLM_CALIBRATED_BEYOND);
}

static void test_beyond(void **state)
{
    struct plm_calibration c;
    struct plm_error error = {0};
    (void)state;
    needed();
    product("product_tensor", 1, PLM_WORK_FP16, 8192); /* a thousand times the card's peak */
    c = calibrated();
    assert_int_equal(c.how[PLM_SPEED_tensor_efficiency], PLM_CALIBRATED_BEYOND);
    assert_float_equal(c.speeds.tensor_efficiency, 0.7, 0);
    list.item[0].us /= 10; /* ten times the bandwidth: this is another card */
    assert_int_equal(plm_calibrate(&list, &card, &kept, &c, &error), PLM_EFORMAT);
    assert_contains(error.text, "\"stream\"");
    assert_contains(error.text, "memory_efficiency would not be between 0.05 and 1");
    needed();
    list.count = 1;
    assert_int_equal(plm_calibrate(&list, &card, &kept, &c, &error), PLM_EFORMAT);
    assert_contains(error.text, "the figure \"product_fp32\" is missing");
}

/* A constant whose least means that there is none of it: copies that turn as fast as they stream do no more work. Of others
   what is too fast or too slow is beyond their limits. */
static void test_ends(void **state)
{
    struct plm_calibration c;
    (void)state;
    needed();
    bytes("strided", 1, 268435456);
    list.item[list.count - 1].work.strided = true;
    product("product_tensor", 1e9, PLM_WORK_FP16, 8192);
    c = calibrated();
    assert_int_equal(c.how[PLM_SPEED_strided_ops], PLM_CALIBRATED_MEASURED);
    assert_float_equal(c.speeds.strided_ops, plm_speed[PLM_SPEED_strided_ops].least, 0);
    assert_int_equal(c.how[PLM_SPEED_tensor_efficiency], PLM_CALIBRATED_BEYOND);
    list.item[2].us = 1e9; /* too slow for any value */
    c = calibrated();
    assert_int_equal(c.how[PLM_SPEED_strided_ops], PLM_CALIBRATED_BEYOND);
}

/* Two figures are met exactly. One took half as long as the model says and one twice as long: it is off by 100 % and by
   50 %. Half of the four are nearer than 50 %. What is in the cache does not count. */
static void test_judged(void **state)
{
    const double us = 2 * 268435456.0 / (0.9 * 1555e3);
    struct plm_calibration c;
    (void)state;
    needed();
    bytes("half", us / 2, 268435456);
    bytes("twice", us * 2, 268435456);
    bytes("cached", 1e6, 5 << 20);
    c = calibrated();
    assert_float_equal(c.worst, 1, 1e-6);
    assert_string_equal(c.worst_name, "half");
    assert_float_equal(c.median, 0.5, 1e-6);
}

/* What does not matter to a figure is not told by it, however wrong the figure is. */
static void test_not_told(void **state)
{
    struct plm_calibration c;
    struct plm_card old = card;
    (void)state;
    needed();
    product("product_tensor", 1e5, PLM_WORK_FP16, 8192);
    old.tensor_cores = 0;
    card.tensor_cores = 0;
    c = calibrated();
    assert_int_equal(c.how[PLM_SPEED_tensor_efficiency], PLM_CALIBRATED_KEPT);
    card = old;
    card.tensor_cores = 432;
    card.bandwidth_gbs = 0;
    {
        struct plm_error error = {0};
        assert_int_equal(plm_calibrate(&list, &card, &kept, &c, &error), PLM_ENOTFOUND);
        assert_contains(error.text, "bandwidth_gbs");
    }
    prepare(NULL);
}

/* ---- there and back: figures as the model makes them with other constants give these constants ---- */

static void convolution(const char *name, enum plm_work_type type, int operation, unsigned groups, bool last)
{
    struct plm_work *w = work(name, 1, groups == 128 ? PLM_WORK_DEPTHWISE : PLM_WORK_CONVOLUTION, type);
    const double positions = 32 * 56 * 56, each = 128 / groups;
    w->operation = (uint8_t)operation;
    w->m = (uint32_t)positions;
    w->n = (uint32_t)each;
    w->k = (uint32_t)(9 * each);
    if (operation == PLM_CONVOLUTION_BACKWARD_FILTER) {
        w->m = (uint32_t)each;
        w->n = (uint32_t)(9 * each);
        w->k = (uint32_t)positions;
    }
    w->batch = groups;
    w->filter = 9;
    w->stride = 1;
    w->channels_last = last;
    w->flops = 2 * positions * 128 * each * 9;
    w->input = w->output = w->read = w->written = positions * 128 * w->bytes_per;
}

static void attention(const char *name, int operation)
{
    struct plm_work *w = work(name, 1, PLM_WORK_ATTENTION, PLM_WORK_FP16);
    w->operation = (uint8_t)operation;
    w->m = w->n = 1024;
    w->k = 64;
    w->batch = 128;
    w->flops = 4.0 * 128 * 1024 * 1024 * 64;
    w->read = w->written = 3e7;
}

static void copy(const char *name, bool pinned)
{
    struct plm_work *w = work(name, 1, PLM_WORK_COPY, PLM_WORK_FP32);
    w->operation = PLM_COPY_HOST_TO_DEVICE;
    w->pinned = pinned;
    w->read = w->written = 256 << 20;
}

/* A tile for every second multiprocessor. */
static void tiles(const char *name, unsigned k)
{
    struct plm_work *w = work(name, 1, PLM_WORK_GEMM, PLM_WORK_FP16);
    w->m = w->n = 64;
    w->k = k;
    w->batch = 54;
    w->flops = 2.0 * 64 * 64 * k * 54;
    w->read = 2.0 * 2 * 64 * k * 54;
    w->written = 2.0 * 64 * 64 * 54;
}

static void all_figures(void)
{
    needed();
    bytes("cached", 1, 5 << 20);
    bytes("strided", 1, 64 << 20);
    list.item[list.count - 1].work.strided = true;
    bytes("norm", 1, 64 << 20);
    list.item[list.count - 1].work.class = PLM_WORK_NORMALIZATION;
    bytes("softmax", 1, 64 << 20);
    list.item[list.count - 1].work.class = PLM_WORK_SOFTMAX;
    bytes("gather", 1, 256 << 20);
    list.item[list.count - 1].work.class = PLM_WORK_GATHER;
    product("product_tensor", 1, PLM_WORK_FP16, 8192);
    convolution("convolution", PLM_WORK_FP16, PLM_CONVOLUTION_FORWARD, 1, true);
    convolution("convolution_turned", PLM_WORK_FP16, PLM_CONVOLUTION_FORWARD, 1, false);
    convolution("convolution_gradient", PLM_WORK_FP16, PLM_CONVOLUTION_BACKWARD_DATA, 1, true);
    convolution("convolution_gradient", PLM_WORK_FP16, PLM_CONVOLUTION_BACKWARD_FILTER, 1, true);
    convolution("convolution_fp32", PLM_WORK_FP32, PLM_CONVOLUTION_FORWARD, 1, false);
    convolution("convolution_groups", PLM_WORK_FP16, PLM_CONVOLUTION_FORWARD, 32, true);
    attention("attention", PLM_ATTENTION_FORWARD);
    attention("attention_gradient", PLM_ATTENTION_BACKWARD);
    bytes("pooling", 1, 64 << 20);
    list.item[list.count - 1].work.class = PLM_WORK_POOLING;
    product("product_uneven", 1, PLM_WORK_FP16, 4095);
    convolution("depthwise", PLM_WORK_FP16, PLM_CONVOLUTION_FORWARD, 128, false);
    convolution("depthwise_gradient", PLM_WORK_FP16, PLM_CONVOLUTION_BACKWARD_DATA, 128, false);
    tiles("product_short", 64);
    tiles("product_long", 1024);
    copy("pinned", true);
    copy("pageable", false);
}

static void test_there_and_back(void **state)
{
    static const struct {
        int constant;
        double value;
    } truth[] = {
        {PLM_SPEED_memory_efficiency, 0.91},
        {PLM_SPEED_l2_ratio, 2.2},
        {PLM_SPEED_strided_ops, 150},
        {PLM_SPEED_norm_ops, 170},
        {PLM_SPEED_softmax_ops, 190},
        {PLM_SPEED_gather_efficiency, 0.35},
        {PLM_SPEED_simt_efficiency, 0.88},
        {PLM_SPEED_tensor_efficiency, 0.78},
        {PLM_SPEED_conv_efficiency, 0.8},
        {PLM_SPEED_conv_turning, 1.3},
        {PLM_SPEED_conv_gradient_efficiency, 0.66},
        {PLM_SPEED_winograd_gain, 1.8},
        {PLM_SPEED_group_efficiency, 0.4},
        {PLM_SPEED_attention_efficiency, 0.72},
        {PLM_SPEED_attention_gradient_efficiency, 0.51},
        {PLM_SPEED_pooling_ops, 400},
        {PLM_SPEED_uneven_efficiency, 0.4},
        {PLM_SPEED_depthwise_efficiency, 0.1},
        {PLM_SPEED_depthwise_gradient_efficiency, 0.05},
        {PLM_SPEED_prologue_us, 3},
        {PLM_SPEED_tile_step_ns, 180},
        {PLM_SPEED_pcie_efficiency, 0.85},
        {PLM_SPEED_pageable_gbs, 5},
    };
    struct plm_speeds there = kept;
    struct plm_machine machine, cached;
    struct plm_calibration c;
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(truth); i++)
        plm_speed_set(&there, &plm_speed[truth[i].constant], truth[i].value);
    assert_int_equal(plm_machine_make(&card, &there, &machine, &error), 0);
    all_figures();
    cached = machine; /* all of that figure's data is in the cache */
    cached.cache = (double)card.l2_bytes;
    for (size_t i = 0; i < list.count; i++)
        list.item[i].us =
            plm_cost(strcmp(list.item[i].name, "cached") ? &machine : &cached, &list.item[i].work).ns / 1e3 +
            there.gap_us;
    c = calibrated();
    for (size_t i = 0; i < COUNT(truth); i++) {
        const double value = plm_speed_get(&c.speeds, &plm_speed[truth[i].constant]);
        if (fabs(value / truth[i].value - 1) > 0.01)
            fail_msg("%s is %g, and was %g", plm_speed[truth[i].constant].name, value, truth[i].value);
    }
    assert_true(c.worst < 0.01);
}

/* Products of many sizes tell together what smaller tiles reach; one that does not need them tells nothing of them. */
static void test_tiles(void **state)
{
    static const unsigned sizes[] = {256, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 3072, 4096};
    struct plm_speeds there = kept;
    struct plm_machine machine;
    struct plm_calibration c;
    struct plm_error error;
    double before = 0, after = 0;
    (void)state;
    there.tensor_efficiency = 0.9;
    there.tile_128 = 0.95;
    there.tile_64 = 0.8;
    there.tile_32 = 0.6;
    there.tile_16 = 0.3;
    assert_int_equal(plm_machine_make(&card, &there, &machine, &error), 0);
    needed();
    product("product_tensor", 1, PLM_WORK_FP16, 8192);
    for (size_t i = 0; i < COUNT(sizes); i++)
        product("product", 1, PLM_WORK_FP16, sizes[i]);
    for (size_t i = 2; i < list.count; i++)
        list.item[i].us = plm_cost(&machine, &list.item[i].work).ns / 1e3 + there.gap_us;
    c = calibrated();
    assert_float_equal(c.speeds.tensor_efficiency, 0.9, 0.01);
    assert_int_equal(c.how[PLM_SPEED_tile_128], PLM_CALIBRATED_MEASURED);
    assert_true(c.median < 0.01); /* and with what was kept: */
    assert_int_equal(plm_machine_make(&card, &kept, &machine, &error), 0);
    for (size_t i = 2; i < list.count; i++)
        before += fabs(log(list.item[i].us / (plm_cost(&machine, &list.item[i].work).ns / 1e3 + kept.gap_us)));
    assert_int_equal(plm_machine_make(&card, &c.speeds, &machine, &error), 0);
    for (size_t i = 2; i < list.count; i++)
        after += fabs(log(list.item[i].us / (plm_cost(&machine, &list.item[i].work).ns / 1e3 + kept.gap_us)));
    assert_true(after < before / 5);
    list.count = 3; /* without them: as they were */
    c = calibrated();
    assert_int_equal(c.how[PLM_SPEED_tile_32], PLM_CALIBRATED_KEPT);
    assert_float_equal(c.speeds.tile_32, 0.7, 0);
}

/* ---- the file ---- */

static void test_file(void **state)
{
    const char *path = unit_path("speeds.ini");
    struct plm_calibration c;
    struct plm_speeds again;
    struct plm_error error;
    FILE *out;
    char *text;
    size_t size;
    (void)state;
    needed();
    product("product_tensor", 1, PLM_WORK_FP16, 8192);
    c = calibrated();
    out = fopen(path, "w");
    assert_non_null(out);
    plm_calibration_write(out, &c);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(plm_speeds_read(path, NULL, &card, &again, &error), 0);
    for (size_t i = 0; i < PLM_SPEEDS; i++) {
        const double was = plm_speed_get(&c.speeds, &plm_speed[i]);
        assert_float_equal(plm_speed_get(&again, &plm_speed[i]), was, (float)(fabs(was) * 1e-5));
    }
    text = unit_read(path, &size);
    assert_contains(text, "# of the data sheet's bandwidth, for kernels that stream: measured\nmemory_efficiency = 0.");
    assert_contains(text, ": kept from before\nmodel_error = 0.2\n");
    assert_contains(text, ": kept from before, as the measured value is out of range\ntensor_efficiency = 0.7\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),           cmocka_unit_test(test_members), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_ends),           cmocka_unit_test(test_judged),  cmocka_unit_test(test_efficiencies),
        cmocka_unit_test(test_host),           cmocka_unit_test(test_beyond),  cmocka_unit_test(test_not_told),
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_tiles),   cmocka_unit_test(test_file),
    };
    prepare(NULL);
    return RUN(tests);
}
