/* Labels of networks from records that are made by hand: memory, whether it fits, and what an epoch's steps take on
   average. */
#include "study/learn/label.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/job.h"
#include "common/card.h"
#include "common/error.h"
#include "record/create.h"
#include "record/pen.h"
#include "time/speeds.h"
#include "round_card.h"
#include "unit.h"

#define assert_near(a, b) assert_true(fabs((double)(a) - (double)(b)) <= 2e-3 * fabs((double)(b)))

static struct plm_card card;
static struct plm_speeds speeds;

static int begin(void **state)
{
    (void)state;
    card = round_card; /* 1000 bytes a ns */
    card.memory_total = card.memory_usable = 8 * GIB;
    speeds = round_speeds();
    speeds.launch_us = speeds.copy_call_us = speeds.wait_us = speeds.step_us = speeds.latency_us = speeds.tail_us = 0;
    speeds.gap_us = speeds.floor_us = speeds.clock_full = 0;
    speeds.forward_call_us = speeds.backward_call_us = speeds.optimizer_call_us = speeds.sample_us = 0;
    speeds.queue_launches = 1024;
    return 0;
}

/* ---- a record ---- */

static struct plm_writer writer;
static struct plm_pen pen;
static uint64_t now;

static void record_open(const char *torch)
{
    struct plm_record_file file;
    struct plm_error error;
    assert_int_equal(plm_record_create(unit_path("label.plm"), true, &file, &error), 0);
    plm_record_close(&file);
    writer = (struct plm_writer){0};
    pen = (struct plm_pen){.writer = &writer};
    assert_int_equal(plm_writer_open(&writer, unit_path("label.plm")), 0);
    plm_writer_past(&writer, 1);
    now = 1000;
    plm_pen_at(&pen, now);
    plm_pen_process(&pen, 0, &(struct plm_ev_process){(uint64_t)getpid(), 1});
    plm_pen_setting(&pen, "gpu", "round");
    if (torch)
        plm_pen_setting(&pen, "torch", torch);
}

static void record_close(void)
{
    plm_pen_end(&pen, 0, &(struct plm_ev_end){0});
    plm_pen_close(&pen);
    assert_int_equal(plm_writer_close(&writer), 0);
}

static void later(void)
{
    now += 10;
    plm_pen_at(&pen, now);
}

/* 3 GiB of 4 that are reserved. */
static void memory_take(void)
{
    const uint64_t at = 1ull << 40;
    plm_pen_footprint(&pen, 0, &(struct plm_ev_footprint){.sms = 10, .threads = 2048, .stack_bytes = 1024});
    plm_pen_memory_alloc(&pen, 0, &(struct plm_ev_memory_alloc){at, 4 * GIB, PLM_RECORD_MALLOC, 0});
    plm_pen_reserved(&pen, 0, &(struct plm_ev_reserved){4 * GIB});
    plm_pen_block_alloc(&pen, 0, &(struct plm_ev_block_alloc){.address = at, .bytes = 3 * GIB});
}

static bool fetches; /* a step brings its samples to the card */

/* A step of so many samples whose kernel takes so many ms: 125,000 floats, read and written, are 1 us. */
static void step(uint32_t samples, double ms)
{
    static uint32_t number;
    later();
    plm_pen_pass(&pen, 0, &(struct plm_ev_pass){plm_pen_intern(&pen, "net"), samples});
    later();
    if (fetches)
        plm_pen_copy(&pen, 0, &(struct plm_ev_copy){.bytes = 8, .operation = PLM_COPY_HOST_TO_DEVICE, .async = 1});
    later();
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.name = plm_pen_intern(&pen, "vectorized_elementwise_kernel"),
                                           .grid_x = 100000,
                                           .block_x = 256,
                                           .counts = PLM_COUNT_ELEMENTS,
                                           .count = (uint64_t)(ms * 125000 * 1000)});
    later();
    plm_pen_step(&pen, 0, &(struct plm_ev_step){++number, 1});
}

static void labeller_open(struct plm_labeller *l)
{
    struct plm_error error;
    if (plm_labeller_open(l, unit_path("label.plm"), &card, &speeds, &error))
        fail_msg("%s", error.text);
}

static struct plm_labels label(const struct plm_plan *plan)
{
    struct plm_labeller l;
    struct plm_labels labels;
    struct plm_error error;
    labeller_open(&l);
    if (plan ? plm_label_process(&l, (uint64_t)getpid(), plan, &labels, &error) : plm_label_job(&l, &labels, &error))
        fail_msg("%s", error.text);
    plm_labeller_close(&l);
    return labels;
}

/* ---- what it says ---- */

/* The context is 2 KiB for each of 10 x 2048 threads, 40 MiB; nothing else has a range. */
static void memory(void **state)
{
    const uint64_t used = 4 * GIB + 40 * MIB;
    struct plm_labels labels;
    (void)state;
    record_open(NULL);
    memory_take();
    step(8, 1);
    record_close();
    labels = label(NULL);
    assert_true(labels.known && !labels.oom);
    assert_int_equal(labels.allocated, 3 * GIB);
    assert_int_equal(labels.reserved, 4 * GIB);
    assert_int_equal(labels.device_used, used);
    assert_int_equal(labels.reserved_low, 4 * GIB);
    assert_int_equal(labels.reserved_high, 4 * GIB);
    card.memory_usable = used;
    assert_false(label(NULL).oom);
    card.memory_usable = 2 * GIB; /* less than its tensors */
    assert_true(label(NULL).oom);
}

/* 3 GiB that are cached when 4 more are asked for: with 7 GiB both stay, with less the cache is given back first. */
static void memory_by_replay(void **state)
{
    (void)state;
    record_open("2.15.0");
    plm_pen_footprint(&pen, 0, &(struct plm_ev_footprint){.sms = 10, .threads = 2048, .stack_bytes = 1024});
    for (uint64_t i = 0; i < 2; i++) { /* the second one does not fit beside the first, which is cached */
        const uint64_t at = (i + 1) << 40, size = (i + 3) * GIB;
        later();
        plm_pen_memory_alloc(&pen, 0, &(struct plm_ev_memory_alloc){at, size, PLM_RECORD_MALLOC, 0});
        plm_pen_reserved(&pen, 0, &(struct plm_ev_reserved){i ? 7 * GIB : 3 * GIB});
        plm_pen_block_alloc(&pen, 0, &(struct plm_ev_block_alloc){.address = at, .bytes = size, .asked = size});
        plm_pen_block_free(&pen, 0, &(struct plm_ev_block_free){at, size});
    }
    step(8, 1);
    record_close();
    assert_int_equal(label(NULL).reserved, 7 * GIB);
    card.memory_usable = 5 * GIB;
    assert_false(label(NULL).oom);
    card.memory_usable = 4 * GIB;
    assert_true(label(NULL).oom);
    record_open("2.15.0"); /* 4 GiB that are all in use: without room for the context it does not fit */
    memory_take();
    plm_pen_block_alloc(&pen, 0, &(struct plm_ev_block_alloc){.address = (1ull << 40) + 3 * GIB, .bytes = GIB});
    step(8, 1);
    record_close();
    card.memory_usable = 4 * GIB + 39 * MIB;
    assert_true(label(NULL).oom);
    card.memory_usable = 4 * GIB + 40 * MIB;
    assert_false(label(NULL).oom);
}

/* The first step does not count. 3 full steps of 1 ms and one with the rest of 4 ms are an epoch: 1.75 ms on average.
   */
static void time_of_an_epoch(void **state)
{
    struct plm_plan plan = {.batch = 8, .full = 3, .rest = 2};
    struct plm_labels labels;
    (void)state;
    record_open(NULL);
    memory_take();
    step(8, 100);
    step(8, 1);
    step(2, 4);
    step(8, 1);
    record_close();
    labels = label(&plan);
    assert_near(labels.step_ms, 1.75);
    assert_near(labels.metric[PLM_METRIC_GPUTL], 1);
    assert_int_equal(labels.allocated, 3 * GIB);
    plan.rest = 0; /* all batches are whole: the smaller one was a part of the plan alone */
    assert_near(label(&plan).step_ms, 1);
    plan.full = 0;
    plan.rest = 2;
    assert_near(label(&plan).step_ms, 4);
    assert_near(label(NULL).step_ms, 2); /* of the job: the mean of its three steps */
}

static void three_steps(void)
{
    record_open(NULL);
    memory_take();
    step(8, 1);
    step(8, 5);
    step(2, 1);
    record_close();
}

/* Fetching takes 8 ms for a whole batch and 2 ms for the rest; the GPU works for 5 ms and 1 ms of it. A batch that stays on
   the card is not fetched. */
static void utilization_of_an_epoch(void **state)
{
    const struct plm_plan plan = {.batch = 8, .full = 3, .rest = 2};
    struct plm_labels labels;
    (void)state;
    speeds.sample_us = 1000; /* 8 ms for 8 samples, 2 ms for 2 */
    three_steps();
    assert_near(label(&plan).step_ms, (3 * 5 + 1) / 4.0);
    fetches = true;
    three_steps();
    fetches = false;
    labels = label(&plan);
    assert_near(labels.step_ms, (3 * 8 + 2) / 4.0);
    assert_near(labels.metric[PLM_METRIC_GPUTL], (3 * 5.0 + 1) / (3 * 8 + 2)); /* by time, not by step */
    assert_near(labels.metric[PLM_METRIC_GRACT], labels.metric[PLM_METRIC_GPUTL]);
}

/* A job that ended before the smaller batch does not tell what an epoch takes. */
static void an_epoch_without_its_end(void **state)
{
    const struct plm_plan plan = {.batch = 8, .full = 3, .rest = 2};
    struct plm_labels labels;
    (void)state;
    record_open(NULL);
    memory_take();
    step(8, 1);
    step(8, 1);
    record_close();
    labels = label(&plan);
    assert_true(labels.known && labels.step_ms <= 0 && labels.metric[PLM_METRIC_GPUTL] <= 0);
}

static void strings_and_strangers(void **state)
{
    const struct plm_plan plan = {.batch = 8, .full = 3};
    struct plm_labeller l;
    struct plm_labels labels;
    struct plm_error error;
    (void)state;
    record_open("2.15.0");
    plm_pen_setting(&pen, "stack", "cu128");
    memory_take();
    step(8, 1);
    record_close();
    labeller_open(&l);
    assert_string_equal(l.torch, "2.15.0");
    assert_string_equal(l.stack, "cu128");
    assert_true(l.timed);
    assert_int_equal(plm_label_process(&l, (uint64_t)getpid() + 1, &plan, &labels, &error), PLM_ENOTFOUND);
    assert_false(labels.known);
    plm_labeller_close(&l);
    record_open(NULL);
    memory_take();
    record_close();
    labeller_open(&l); /* no launches, so no times */
    assert_string_equal(l.torch, "");
    assert_string_equal(l.stack, "none");
    assert_false(l.timed);
    assert_int_equal(plm_label_job(&l, &labels, &error), 0);
    assert_true(labels.known && labels.step_ms <= 0);
    assert_int_equal(plm_label_process(&l, (uint64_t)getpid(), &plan, &labels, &error), PLM_ENOTFOUND);
    plm_labeller_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(memory, begin),
        cmocka_unit_test_setup(memory_by_replay, begin),
        cmocka_unit_test_setup(time_of_an_epoch, begin),
        cmocka_unit_test_setup(utilization_of_an_epoch, begin),
        cmocka_unit_test_setup(an_epoch_without_its_end, begin),
        cmocka_unit_test_setup(strings_and_strangers, begin),
    };
    return RUN(tests);
}
