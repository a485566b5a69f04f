/* Times of jobs that are made by hand, on a card whose figures are round: what each must come to can be worked out. */
#include "time/timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/card.h"
#include "base/error.h"
#include "base/install.h"
#include "record/create.h"
#include "record/pen.h"
#include "time/cost.h"
#include "time/kernels.h"
#include "time/speeds.h"
#include "time/table.h"
#include "unit.h"

#define US 1000.0
#define MS 1000000.0

/* ---- a card and its constants ---- */

/* 1000 bytes, 10,000 flops in fp32 and 100,000 in fp16 a ns; 100 bytes a ns to other cards. No cache. */
static const struct plm_card round_card = {.id = "round",
                                           .architecture = "round",
                                           .sms = 10,
                                           .tensor_cores = 40,
                                           .bandwidth_gbs = 1000,
                                           .fp32_tflops = 10,
                                           .fp16_tflops = 100,
                                           .max_threads_per_sm = 2048,
                                           .max_blocks_per_sm = 32,
                                           .pcie_generation = 4,
                                           .pcie_lanes = 16,
                                           .nvlink_gbs = 200};

/* Nothing is lost, and nothing takes time that is not asked for; kernels take at least 1 us. */
static struct plm_speeds plain_speeds(void)
{
    struct plm_speeds s = {.name = "plain", .source = "a test"};
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        plm_speed_set(&s, &plm_speed[i], fmin(fmax(1, plm_speed[i].least), plm_speed[i].most));
    s.launch_us = s.copy_call_us = s.wait_us = s.step_us = s.latency_us = s.tail_us = s.gap_us = 0;
    s.prologue_us = s.tile_step_ns = s.collective_latency_us = 0;
    s.thread_bytes = 1024;
    s.memory_latency_ns = 10;
    s.pageable_gbs = 4;
    s.queue_launches = 1024;
    s.host_factor_low = 0.5;
    s.host_factor_high = 2;
    s.model_error = 0.1;
    return s;
}

/* ---- writing ---- */

static struct plm_writer writer;
static struct plm_pen pen;
static double now; /* ns */

static void begin(const char *path)
{
    struct plm_record_file file;
    struct plm_error error;
    assert_int_equal(plm_record_create(path, true, &file, &error), 0);
    plm_record_close(&file);
    writer = (struct plm_writer){0};
    pen = (struct plm_pen){.writer = &writer};
    assert_int_equal(plm_writer_open(&writer, path), 0);
    plm_writer_past(&writer, 1);
    now = 1000;
    plm_pen_at(&pen, 1000);
    plm_pen_setting(&pen, "gpu", "round");
}

static void end(void)
{
    plm_pen_close(&pen);
    assert_int_equal(plm_writer_close(&writer), 0);
}

/* The host does something else for so long. */
static void pause_us(double us)
{
    now += us * US;
    plm_pen_at(&pen, (uint64_t)now);
}

static void step(uint32_t number)
{
    pause_us(0.001);
    plm_pen_step(&pen, 0, &(struct plm_ev_step){number, 1});
    pause_us(0.001);
}

static struct plm_ev_call call_on(uint32_t stream)
{
    return (struct plm_ev_call){.cuda_stream = stream};
}

/* Copies so many floats on the device: reads 4 bytes and writes 4 for each. 125,000 take 1 ms / 1000 = 1 us at 1000 bytes a ns. */
enum { FLOATS_PER_US = 125000 };
static void kernel_in(struct plm_ev_call call, double us)
{
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.call = call,
                                           .name = plm_pen_intern(&pen, "vectorized_elementwise_kernel"),
                                           .grid_x = 100000,
                                           .grid_y = 1,
                                           .grid_z = 1,
                                           .block_x = 256,
                                           .block_y = 1,
                                           .block_z = 1,
                                           .counts = PLM_COUNT_ELEMENTS,
                                           .count = (uint64_t)(us * FLOATS_PER_US)});
}

static void kernel_us(double us, uint32_t stream)
{
    kernel_in(call_on(stream), us);
}

static void gemm(uint32_t m, uint32_t n, uint32_t k, uint32_t batch)
{
    plm_pen_gemm(&pen, 0,
                 &(struct plm_ev_gemm){.call = call_on(0), .m = m, .n = n, .k = k, .batch = batch, .compute = 68});
}

static void copy(enum plm_copy_host host, uint64_t bytes)
{
    plm_pen_copy(&pen, 0,
                 &(struct plm_ev_copy){.call = call_on(0),
                                       .bytes = bytes,
                                       .operation = PLM_COPY_HOST_TO_DEVICE,
                                       .host = (uint8_t)host,
                                       .async = 1});
}

static void wait_for(enum plm_sync what, uint32_t stream, uint32_t other)
{
    plm_pen_sync(&pen, 0,
                 &(struct plm_ev_sync){.call = call_on(stream), .operation = (uint32_t)what, .event_stream = other});
}

/* ---- asking ---- */

static const struct plm_card *played = &round_card;
static struct plm_works works;
static struct plm_timing timing;

static void ask_as(const struct plm_card *card, const struct plm_speeds *speeds,
                   const struct plm_timing_options *options)
{
    struct plm_error error;
    if (plm_timing_make(&works, plm_works_main(&works), card, speeds, options, &timing, &error) < 0)
        fail_msg("%s", error.text);
}

static void ask(const struct plm_card *card, const struct plm_speeds *speeds, double host_factor)
{
    ask_as(card, speeds, &(struct plm_timing_options){.host_factor = host_factor, .shares = true});
}

/* The times of four equal steps, of which the first does not count. */
static void time_steps(void (*body)(void), const struct plm_speeds *speeds)
{
    struct plm_error error;
    begin(unit_path("time.plm"));
    for (uint32_t i = 1; i <= 4; i++) {
        body();
        step(i);
    }
    end();
    if (plm_works_read(unit_path("time.plm"), &works, &error) < 0)
        fail_msg("%s", error.text);
    ask(played, speeds, 0);
}

static void forget(void)
{
    plm_timing_free(&timing);
    plm_works_free(&works);
}

#define assert_near(a, b, share) assert_true(fabs((a) - (b)) <= (share) * fabs((double)(b)))

/* Whatever the job: parts add up, shares are shares. */
static void check_sums(void)
{
    double sum = 0, modules = 0, operators = 0;
    for (int i = 0; i < PLM_BOUNDS; i++)
        sum += timing.bound[i];
    assert_near(sum, timing.step, 1e-6);
    for (int i = 0; i < PLM_METRICS; i++)
        assert_true(timing.metric[i] >= 0 && timing.metric[i] <= 1);
    for (size_t i = 0; i < timing.modules.count; i++)
        modules += timing.modules.item[i].ns;
    for (size_t i = 0; i < timing.operators.count; i++)
        operators += timing.operators.item[i].ns;
    assert_near(modules, operators, 1e-6);
    assert_true(timing.low <= timing.step && timing.step <= timing.high);
    assert_true(timing.busy <= timing.step * (1 + 1e-9));
}

/* ---- who waits for whom ---- */

static void slow_host(void)
{
    for (int i = 0; i < 10; i++) {
        pause_us(100);
        kernel_us(10, 0);
    }
}

static void host_bound(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(slow_host, &speeds);
    assert_int_equal(timing.steps, 3);
    assert_near(timing.step, 1000 * US, 0.02);
    assert_near(timing.busy, 110 * US, 0.02); /* each kernel takes its 10 us and the least of 1 us */
    assert_near(timing.host, 1000 * US, 0.02);
    assert_true(plm_time_host_bound(&timing));
    assert_int_equal(plm_time_bound(&timing), PLM_BOUND_HOST);
    assert_near(timing.metric[PLM_METRIC_GPUTL], 0.11, 0.05);
    check_sums();
    forget();
}

static void slow_gpu(void)
{
    for (int i = 0; i < 10; i++) {
        pause_us(1);
        kernel_us(1000, 0);
    }
}

static void gpu_bound(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(slow_gpu, &speeds);
    assert_near(timing.step, 10 * MS, 0.02);
    assert_near(timing.busy, 10 * MS, 0.02);
    assert_near(timing.host, 10 * US, 0.02);
    assert_false(plm_time_host_bound(&timing));
    assert_int_equal(plm_time_bound(&timing), PLM_BOUND_BANDWIDTH);
    assert_near(timing.metric[PLM_METRIC_GPUTL], 1, 0.01);
    assert_true(timing.metric[PLM_METRIC_DRAMA] > 0.95);
    assert_near(timing.kernels, 10, 1e-9);
    assert_near(timing.unsized, 0, 1e-9);
    check_sums();
    forget();
}

static void slow_gpu_then_host(void)
{
    slow_gpu();
    pause_us(5000);
}

/* The host is ahead by as many launches as the queue has places: its 5 ms begin when that many kernels of 1 ms are left of ten. */
static void run_ahead(void **state)
{
    static const struct {
        double places, step_ms;
    } queues[] = {{1, 14}, {3, 12}, {5, 10}, {1024, 10}};
    struct plm_speeds speeds = plain_speeds();
    (void)state;
    for (size_t i = 0; i < sizeof queues / sizeof queues[0]; i++) {
        speeds.queue_launches = queues[i].places;
        time_steps(slow_gpu_then_host, &speeds);
        assert_near(timing.step, queues[i].step_ms * MS, 0.01);
        assert_near(timing.host, 5 * MS, 0.01);
        forget();
    }
}

/* 4 MB to one block of 100 threads. */
static void reduction(const char *name)
{
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.name = plm_pen_intern(&pen, name),
                                           .grid_x = 1,
                                           .grid_y = 1,
                                           .grid_z = 1,
                                           .block_x = 100,
                                           .block_y = 1,
                                           .block_z = 1,
                                           .counts = PLM_COUNT_REDUCTION,
                                           .count = 1000000,
                                           .count_2 = 0});
}

static void reduction_of_one(void)
{
    reduction("_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEvT1_");
}

static void reduction_of_four(void)
{
    reduction("_ZN2at6native13reduce_kernelILi128ELi4ENS0_8ReduceOpIfEEvT1_");
}

/* 100 threads with 8 bytes each under way for 100 ns: 8 bytes a ns, 500 us for 4 MB. With four results side by side each
   has four times as many. */
static void reductions(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    (void)state;
    speeds.thread_bytes = 8;
    speeds.memory_latency_ns = 100;
    time_steps(reduction_of_one, &speeds);
    assert_near(timing.busy, (500 + 1) * US, 1e-6);
    forget();
    time_steps(reduction_of_four, &speeds);
    assert_near(timing.busy, (125 + 1) * US, 1e-6);
    forget();
}

static void strided(void)
{
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.name = plm_pen_intern(&pen, "_ZN2at6native18elementwise_kernelILi128E"),
                                           .grid_x = 100000,
                                           .block_x = 128,
                                           .counts = PLM_COUNT_ELEMENTS,
                                           .count = 1000000});
}

/* 100 instructions for each of 1,000,000 elements at 5,000 a ns: 20 us. Where a multiprocessor has 64 units for fp32, it
   still issues 128 instructions in a cycle: 10 us. Before Volta it does not. */
static void instructions(void **state)
{
    static const struct {
        int major, cores;
        double us;
    } cards[] = {{8, 1280, 20}, {8, 640, 10}, {6, 640, 20}};
    struct plm_speeds speeds = plain_speeds();
    (void)state;
    speeds.strided_ops = 100;
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        struct plm_card card = round_card;
        card.major = cards[i].major;
        card.cuda_cores = cards[i].cores;
        played = &card;
        time_steps(strided, &speeds);
        played = &round_card;
        assert_near(timing.busy, (cards[i].us + 1) * US, 1e-6);
        forget();
    }
}

/* The gradients of weight and bias: layer norm goes over x and dy for them, group norm over sums that it has already. */
static void norms(void **state)
{
    (void)state;
    assert_float_equal(plm_time_kernel_form("_ZN2at6native35GammaBetaBackwardCUDAKernelTemplateIffLj32E").reads, 2, 0);
    assert_float_equal(plm_time_kernel_form("_ZN2at6native28GammaBetaBackwardCUDAKernel1IfEEvlll").reads, 0, 0);
    assert_float_equal(plm_time_kernel_form("_ZN2at6native28GammaBetaBackwardCUDAKernel2IfEEvlll").reads, 0, 0);
}

static bool last;
static uint8_t number_type; /* cudnnDataType_t */

static void convolution(void)
{
    struct plm_ev_convolution c = {.data_type = number_type,
                                   .channels_last = last,
                                   .axes = 2,
                                   .groups = 1,
                                   .batch = 1,
                                   .in_channels = 64,
                                   .out_channels = 64};
    for (int i = 0; i < 2; i++)
        c.axis[i].in = c.axis[i].out = 1000, c.axis[i].filter = c.axis[i].stride = 1;
    plm_pen_convolution(&pen, 0, &c);
}

static double convolution_us(uint8_t type, bool channels_last)
{
    const struct plm_speeds speeds = plain_speeds();
    double us;
    number_type = type;
    last = channels_last;
    time_steps(convolution, &speeds);
    us = timing.busy / US;
    forget();
    return us;
}

/* x and y of 128 MB each are read and written once more at 1000 bytes a ns if tensor cores find the channels first;
   other units take them as they are. */
static void layouts(void **state)
{
    (void)state;
    assert_near(convolution_us(2, false) - convolution_us(2, true), 512, 1e-6);
    assert_near(convolution_us(0, false), convolution_us(0, true), 1e-9);
}

/* Twice the host's time is twice the step of a job that the host bounds, and the range has both ends. */
static void host_factor(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    double step;
    (void)state;
    time_steps(slow_host, &speeds);
    step = timing.step;
    assert_near(timing.low, step / 2, 0.05);
    assert_near(timing.high, step * 2, 0.05);
    plm_timing_free(&timing);
    ask(&round_card, &speeds, 2);
    assert_near(timing.step, 2 * step, 0.01);
    forget();
}

/* The host's time is that of its calls: 50 us each, 1 ns a byte and 3 us a sample, whatever was recorded. */
static void counted_body(void)
{
    plm_pen_pass(&pen, 0, &(struct plm_ev_pass){.module = plm_pen_intern(&pen, "net"), .samples = 20});
    copy(PLM_COPY_PAGEABLE, 40000);
    slow_host();
}

static void counted(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    (void)state;
    speeds.forward_call_us = 50;
    speeds.backward_call_us = speeds.optimizer_call_us = 7000;
    speeds.byte_ns = 1;
    speeds.sample_us = 3;
    time_steps(counted_body, &speeds);
    assert_near(timing.host, 1000 * US, 0.02);
    plm_timing_free(&timing);
    ask_as(&round_card, &speeds, &(struct plm_timing_options){.counted = true});
    assert_near(timing.host, (11 * 50 + 40 + 20 * 3) * US, 1e-6);
    plm_timing_free(&timing);
    ask_as(&round_card, &speeds, &(struct plm_timing_options){.counted = true, .host_factor = 2});
    assert_near(timing.host, 2 * (11 * 50 + 40 + 20 * 3) * US, 1e-6);
    forget();
}

static void some_use(void)
{
    for (int i = 0; i < 10; i++) {
        pause_us(100);
        kernel_us(30, 0); /* and the least of 1 us */
    }
}

/* Used for 0.11 of the time, the card has its lowest clock, which doubles that. Used for 0.31, it settles where
   0.31 s = 0.4 - 0.1 (s - 1): s = 0.5 / 0.41. Used all the time, it has its full clock. The step knows none of it. */
static void clock_lowered(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    (void)state;
    speeds.clock_full = 0.4;
    speeds.clock_least = 0.3;
    speeds.clock_low = 0.5;
    time_steps(slow_host, &speeds);
    assert_near(timing.slowdown, 2, 1e-9);
    assert_near(timing.metric[PLM_METRIC_GPUTL], 0.22, 0.01);
    assert_near(timing.metric[PLM_METRIC_SMACT], 0.22, 0.01);
    assert_near(timing.metric[PLM_METRIC_DRAMA], 0.1, 0.01);
    assert_near(timing.busy, 110 * US, 0.02);
    forget();
    time_steps(some_use, &speeds);
    assert_near(timing.slowdown, 0.5 / 0.41, 0.01);
    assert_near(timing.metric[PLM_METRIC_GPUTL], 0.31 * 0.5 / 0.41, 0.01);
    forget();
    time_steps(slow_gpu, &speeds);
    assert_near(timing.slowdown, 1, 1e-9);
    forget();
}

static void apart(void)
{
    pause_us(1000);
    kernel_us(999, 0);
}

static void together(void)
{
    apart();
    wait_for(PLM_SYNC_DEVICE, 0, PLM_STREAM_UNKNOWN);
}

/* 1 ms of the host and 1 ms of the GPU: beside each other, or after each other. */
static void waiting(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(apart, &speeds);
    assert_near(timing.step, 1 * MS, 0.02);
    forget();
    time_steps(together, &speeds);
    assert_near(timing.step, 2 * MS, 0.02);
    assert_near(timing.bound[PLM_BOUND_HOST], 1 * MS, 0.02);
    check_sums();
    forget();
}

static void pageable(void)
{
    copy(PLM_COPY_PAGEABLE, 8000000); /* 2 ms at 4 GB/s */
    pause_us(2000);
    kernel_us(1, 0);
}

static void pinned(void)
{
    copy(PLM_COPY_PINNED, 8000000); /* at most 31.5 GB/s: 0.25 ms */
    pause_us(2000);
    kernel_us(1, 0);
}

static void copies(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(pageable, &speeds);
    assert_near(timing.step, 4 * MS, 0.03);
    assert_near(timing.bound[PLM_BOUND_COPIES], 2 * MS, 0.03);
    assert_near(timing.kernels, 1, 1e-9); /* a copy is none */
    forget();
    time_steps(pinned, &speeds);
    assert_near(timing.step, 2 * MS, 0.03);
    assert_near(timing.bound[PLM_BOUND_COPIES], 0.255 * MS, 0.05);
    forget();
}

static void paused_between(void)
{
    kernel_us(999, 1);
    wait_for(PLM_SYNC_DEVICE, 0, PLM_STREAM_UNKNOWN);
    pause_us(1000);
    kernel_us(1, 0);
}

/* The first and the last span of the last step. */
struct span_ends {
    struct plm_span first, last;
    size_t count;
};

static void span_end(const struct plm_span *span, void *context)
{
    struct span_ends *ends = context;
    if (!ends->count++)
        ends->first = *span;
    ends->last = *span;
}

/* Who waits for the device waits for all its streams; a stream does not begin at once; spans count from where the step does. */
static void waiting_for_all(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    struct span_ends ends = {0};
    (void)state;
    time_steps(paused_between, &speeds);
    assert_near(timing.step, 2 * MS, 0.02);
    forget();
    speeds.gap_us = 5;
    time_steps(slow_gpu, &speeds);
    assert_near(timing.step, 10 * 1006 * US, 1e-3);
    assert_near(timing.busy, 10 * 1001 * US, 1e-3);
    assert_int_equal(plm_timing_each(&works, plm_works_main(&works), played, &speeds, &(struct plm_timing_options){0},
                                     NULL, span_end, &ends, NULL),
                     0);
    assert_int_equal(ends.count, timing.spans);
    assert_true(ends.first.begin < 10 * US); /* while the host is some steps ahead */
    assert_near(ends.last.end, 10 * 1006 * US, 2e-3);
    forget();
}

static void many_streams(void)
{
    for (uint32_t i = 0; i < 1000; i++)
        kernel_us(99, i);
}

/* Each has its own place, up to 64; the others share the last. 937 kernels of 100 us follow each other there. */
static void streams_without_end(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(many_streams, &speeds);
    assert_near(timing.step, 937 * 100 * US, 0.02);
    assert_near(timing.kernels, 1000, 1e-9);
    forget();
}

/* A call at the very time of a step belongs to the one that begins there: 100, 200 and 300 us, not 200, 300 and 400. */
static void edges_of_steps(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    struct plm_error error;
    (void)state;
    begin(unit_path("time.plm"));
    for (uint32_t i = 1; i <= 4; i++) {
        pause_us(10);
        plm_pen_step(&pen, 0, &(struct plm_ev_step){i, 1});
        kernel_us(100 * i - 1, 0);
    }
    end();
    assert_int_equal(plm_works_read(unit_path("time.plm"), &works, &error), 0);
    ask(&round_card, &speeds, 0);
    assert_near(timing.busy, 200 * US, 1e-3);
    forget();
}

static void half_computing(void)
{
    for (int i = 0; i < 2; i++) {
        pause_us(100);
        kernel_in((struct plm_ev_call){.cpu_ns = 50000}, 1);
    }
}

static double pauses[] = {500, 300, 100, 200};

static void unlike_pauses(void)
{
    static unsigned step;
    pause_us(pauses[step++ % COUNT(pauses)]);
    kernel_us(1, 0);
}

/* Of 100 us between two calls the thread computed 50, each time. Of steps that are alike the least pause is the program's. */
static void pauses_of_the_machine(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(half_computing, &speeds);
    assert_near(timing.host, 100 * US, 0.01);
    forget();
    time_steps(unlike_pauses, &speeds);
    assert_near(timing.host, 100 * US, 0.01);
    forget();
}

static void two_streams(void)
{
    for (int i = 0; i < 5; i++) {
        kernel_us(999, 1);
        kernel_us(999, 2);
    }
}

static void one_stream(void)
{
    for (int i = 0; i < 10; i++)
        kernel_us(999, 1);
}

static void ordered_streams(void)
{
    for (int i = 0; i < 5; i++) {
        kernel_us(999, 1);
        wait_for(PLM_SYNC_STREAM_WAITS, 2, 1);
        kernel_us(999, 2);
        wait_for(PLM_SYNC_STREAM_WAITS, 1, 2);
    }
}

static void streams(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(one_stream, &speeds);
    assert_near(timing.step, 10 * MS, 0.02);
    forget();
    time_steps(two_streams, &speeds);
    assert_near(timing.step, 5 * MS, 0.02);
    assert_near(timing.busy, 5 * MS, 0.02);
    check_sums();
    forget();
    time_steps(ordered_streams, &speeds);
    assert_near(timing.step, 10 * MS, 0.02);
    forget();
}

/* ---- what the driver takes ---- */

static void ten_kernels(void)
{
    for (int i = 0; i < 10; i++)
        kernel_us(1, 0);
    copy(PLM_COPY_PINNED, 8);
}

/* Ten launches of 50 us, a copy of 200, and 300 beyond all calls; a wait takes none of it. */
static void calls_of_the_driver(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    (void)state;
    speeds.launch_us = 50;
    speeds.copy_call_us = 200;
    time_steps(ten_kernels, &speeds);
    assert_near(timing.host, (10 * 50 + 200) * US, 1e-3);
    plm_timing_free(&timing);
    speeds.step_us = 300;
    ask(&round_card, &speeds, 0);
    assert_near(timing.host, (10 * 50 + 200 + 300) * US, 1e-3);
    plm_timing_free(&timing);
    ask_as(&round_card, &speeds, &(struct plm_timing_options){.counted = true});
    assert_near(timing.host, (11 * (1 + 0) + 10 * 50 + 200 + 300) * US, 1e-3); /* 1 us for each call of the program */
    forget();
}

static void wait_alone(void)
{
    apart();
    wait_for(PLM_SYNC_DEVICE, 0, PLM_STREAM_UNKNOWN);
}

/* 1 ms of the host, 0.1 until the kernel begins, 1 of the GPU, 0.5 until the host knows. */
static void latencies(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    (void)state;
    speeds.latency_us = 100;
    speeds.wait_us = 500;
    speeds.launch_us = 0;
    time_steps(wait_alone, &speeds);
    assert_near(timing.step, 2.6 * MS, 1e-3);
    assert_near(timing.host, 1 * MS, 1e-3);
    forget();
}

static enum plm_sync waited;
static uint32_t waiting_stream, event_stream;

static void wait_for_one(void)
{
    kernel_us(999, 1);
    kernel_us(0, 2);
    wait_for(waited, waiting_stream, event_stream);
    pause_us(1000);
    kernel_us(0, 3);
}

/* The host waits for the stream or the event that it names, and for no other: 1 ms beside or after the kernel's. */
static void waits_for_streams(void **state)
{
    static const struct {
        enum plm_sync what;
        uint32_t stream, event;
        double ms;
    } rows[] = {{PLM_SYNC_STREAM, 1, 2, 2}, {PLM_SYNC_STREAM, 2, 1, 1}, {PLM_SYNC_EVENT, 2, 1, 2},
                {PLM_SYNC_EVENT, 1, 2, 1},  {PLM_SYNC_DEVICE, 2, 2, 2}, {PLM_SYNC_STREAM_WAITS, 2, 1, 1}};
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        waited = rows[i].what;
        waiting_stream = rows[i].stream;
        event_stream = rows[i].event;
        time_steps(wait_for_one, &speeds);
        assert_near(timing.step, rows[i].ms * MS, 0.02);
        forget();
    }
}

static struct plm_ev_copy copied;

static void copy_then_pause(void)
{
    plm_pen_copy(&pen, 0, &copied);
    pause_us(2000);
    kernel_us(0, 0);
}

/* The host waits for what it copies from or to pageable memory, or does not copy asynchronously; within the card never.
   8 MB at 4 GB/s are 2 ms, at 31.5 GB/s 0.25 ms, within the card 16 us. */
static void who_waits_for_copies(void **state)
{
    static const struct {
        uint8_t operation, host, async;
        double ms;
    } rows[] = {
        {PLM_COPY_HOST_TO_DEVICE, PLM_COPY_PAGEABLE, 1, 4},   {PLM_COPY_DEVICE_TO_HOST, PLM_COPY_PAGEABLE, 1, 4},
        {PLM_COPY_HOST_TO_DEVICE, PLM_COPY_PINNED, 0, 2.255}, {PLM_COPY_DEVICE_TO_HOST, PLM_COPY_PINNED, 0, 2.255},
        {PLM_COPY_HOST_TO_DEVICE, PLM_COPY_PINNED, 1, 2},     {PLM_COPY_DEVICE_TO_HOST, PLM_COPY_PINNED, 1, 2},
        {PLM_COPY_DEVICE_TO_DEVICE, PLM_COPY_NO_HOST, 0, 2},
    };
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        copied = (struct plm_ev_copy){
            .bytes = 8000000, .operation = rows[i].operation, .host = rows[i].host, .async = rows[i].async};
        time_steps(copy_then_pause, &speeds);
        assert_near(timing.step, rows[i].ms * MS, 5e-3);
        forget();
    }
}

static void phases_body(void)
{
    for (uint32_t phase = 0; phase < PLM_PHASES; phase++) {
        plm_pen_context(&pen, 0, &(struct plm_ev_context){.context = phase + 1, .phase = phase});
        kernel_in((struct plm_ev_call){.context = phase + 1}, 0);
    }
    copy(PLM_COPY_PINNED, 1000); /* pinned memory is not gone through */
    wait_for(PLM_SYNC_DEVICE, 0, 0);
}

/* A call of the backward pass, of the optimizer and of all else. */
static void counted_by_phase(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    (void)state;
    speeds.forward_call_us = 1;
    speeds.backward_call_us = 100;
    speeds.optimizer_call_us = 10000;
    speeds.byte_ns = 100;
    time_steps(phases_body, &speeds);
    plm_timing_free(&timing);
    ask_as(&round_card, &speeds, &(struct plm_timing_options){.counted = true});
    assert_near(timing.host, (PLM_PHASES - 2 + 1 + 100 + 10000) * US, 1e-9);
    forget();
}

static void tail_body(void)
{
    slow_host();
    copy(PLM_COPY_PINNED, 31504000); /* 1 ms at 31.504 bytes a ns */
    pause_us(1000);
}

/* Ten kernels of 11 us in 2 ms count as active for 5 us longer each; the copy is use, and no engine computes. */
static void tails_and_copies(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    (void)state;
    speeds.tail_us = 5;
    speeds.clock_full = 0;
    time_steps(tail_body, &speeds);
    assert_near(timing.step, 2000 * US, 0.01);
    assert_near(timing.metric[PLM_METRIC_GRACT], 10 * 16.0 / 2000, 0.01);
    assert_near(timing.metric[PLM_METRIC_GPUTL], (10 * 16 + 1000) / 2000.0, 0.01);
    assert_near(timing.bound[PLM_BOUND_COPIES], 1001 * US, 0.01);
    assert_near(timing.bound[PLM_BOUND_BANDWIDTH], 110 * US, 0.01);
    check_sums();
    forget();
}

static void generated_body(void)
{
    plm_pen_operands(&pen, 0,
                     &(struct plm_ev_operands){
                         .context = 1, .tensors = 1, .elements = 1000000, .element_bytes = 4, .bytes = 4000000});
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.call = {.context = 1},
                                           .name = plm_pen_intern(&pen, "triton_poi_fused_add_0"),
                                           .grid_x = 100000,
                                           .block_x = 128});
    kernel_us(9, 0);
    gemm(512, 512, 512, 1);
}

/* What a compiler made is told apart, and each class of work has its share, the largest first. */
static void classes(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    double sum = 0;
    (void)state;
    time_steps(generated_body, &speeds);
    assert_near(timing.generated, 5 * US, 1e-6);
    assert_near(timing.flops, 2.0 * 512 * 512 * 512, 1e-9);
    assert_int_equal(timing.classes.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(!i || timing.classes.item[i].ns <= timing.classes.item[i - 1].ns);
        assert_int_equal(timing.classes.item[i].calls, 3);
        sum += timing.classes.item[i].flops;
    }
    assert_string_equal(timing.classes.item[0].name, "gemm");
    assert_string_equal(timing.classes.item[1].name, "elementwise");
    assert_string_equal(timing.classes.item[2].name, "generated");
    assert_near(timing.classes.item[2].ns, 5 * US, 1e-6);
    assert_near(sum, timing.flops, 1e-9);
    assert_near(timing.mfu, timing.flops / timing.step / 10000, 1e-9);
    assert_int_equal(timing.mfu_type, PLM_WORK_FP32);
    forget();
}

/* The ends of the range have the model's error on the GPU and the host's factors, 0.5 and 2 here. */
static void ranges(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(together, &speeds);
    assert_near(timing.low, (0.5 + 0.9) * MS, 1e-3);
    assert_near(timing.high, (2 + 1.1) * MS, 1e-3);
    plm_timing_free(&timing);
    ask_as(&round_card, &speeds, &(struct plm_timing_options){.bare = true, .unmetered = true});
    assert_true(timing.low <= 0 && timing.high <= 0 && timing.metric[PLM_METRIC_GPUTL] <= 0);
    assert_int_equal(timing.operators.count, 0);
    forget();
}

static double host_wait, host_end;
static size_t host_spans;

static void host_span(const struct plm_host_span *span, void *context)
{
    (void)context;
    assert_true(span->begin >= host_end - 1e-6 && span->end >= span->begin);
    assert_int_equal(span->call, works.lane[0].step[2].first + host_spans);
    host_end = span->end;
    host_wait += span->wait;
    host_spans++;
}

/* The last step's calls, one after another: of the wait 1 ms is spent on waiting. */
static void spans_of_the_host(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(together, &speeds);
    host_wait = host_end = 0;
    host_spans = 0;
    assert_int_equal(plm_timing_each(&works, plm_works_main(&works), played, &speeds, &(struct plm_timing_options){0},
                                     host_span, NULL, NULL, NULL),
                     0);
    assert_int_equal(host_spans, 2);
    assert_near(host_wait, 1 * MS, 1e-3);
    assert_near(host_end, 2 * MS, 1e-3);
    forget();
}

/* ---- graphs ---- */

static void graph_launched(void)
{
    pause_us(5);
    plm_pen_launch(&pen, 0, &(struct plm_ev_launch){.counts = PLM_COUNT_GRAPH, .count = 8, .count_2 = 7});
}

/* Eight nodes that were captured once: no host time between them. */
static void graphs(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    struct plm_error error;
    (void)state;
    begin(unit_path("graph.plm"));
    for (int i = 0; i < 8; i++) {
        pause_us(50);
        kernel_in((struct plm_ev_call){.graph = 7}, 99);
    }
    for (uint32_t i = 1; i <= 3; i++) {
        graph_launched();
        step(i);
    }
    end();
    assert_int_equal(plm_works_read(unit_path("graph.plm"), &works, &error), 0);
    ask(&round_card, &speeds, 0);
    assert_near(timing.kernels, 8, 1e-9);
    assert_near(timing.step, 800 * US, 0.02);
    assert_true(timing.host < 10 * US);
    assert_int_equal(timing.spans, 8);
    forget();
}

/* A capture that nobody launches, and a launch of a graph that nobody captured: nothing to do, and no crash. */
static void graphs_alone(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    struct plm_error error;
    (void)state;
    begin(unit_path("graph.plm"));
    kernel_in((struct plm_ev_call){.graph = 7}, 99);
    end();
    assert_int_equal(plm_works_read(unit_path("graph.plm"), &works, &error), 0);
    ask(&round_card, &speeds, 0);
    assert_true(timing.step <= 0 && timing.kernels <= 0);
    forget();
    begin(unit_path("graph.plm"));
    graph_launched();
    kernel_us(10, 0);
    end();
    assert_int_equal(plm_works_read(unit_path("graph.plm"), &works, &error), 0);
    ask(&round_card, &speeds, 0);
    assert_near(timing.kernels, 1, 1e-9);
    forget();
}

/* ---- products ---- */

static struct {
    uint32_t m, n, k, batch;
} product;

static void product_once(void)
{
    gemm(product.m, product.n, product.k, product.batch);
}

static double product_ns(uint32_t m, uint32_t n, uint32_t k, uint32_t batch, const struct plm_speeds *speeds)
{
    double busy;
    product.m = m, product.n = n, product.k = k, product.batch = batch;
    time_steps(product_once, speeds);
    busy = timing.busy;
    forget();
    return busy;
}

/* A larger product never takes less, and one that fills the card takes its flops over the peak. */
static void products_grow(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    double before = 0;
    (void)state;
    for (uint32_t m = 16; m <= 4096; m += m < 256 ? 16 : 240) {
        const double ns = product_ns(m, 512, 512, 1, &speeds);
        assert_true(ns >= before * (1 - 1e-9));
        before = ns;
    }
    assert_near(product_ns(5120, 5120, 5120, 1, &speeds), 2.0 * 5120 * 5120 * 5120 / 10000, 0.05);
}

/* Ten multiprocessors: eleven tiles take as long as twenty. They are too short along k to be split. */
static void products_in_waves(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    struct plm_card slow = round_card;
    double ten, eleven, twenty;
    (void)state;
    speeds.floor_us = 0;
    slow.fp32_tflops = 1; /* so that its memory does not bound it */
    played = &slow;
    ten = product_ns(32, 32, 64, 10, &speeds);
    eleven = product_ns(32, 32, 64, 11, &speeds);
    twenty = product_ns(32, 32, 64, 20, &speeds);
    played = &round_card;
    assert_near(ten, 2.0 * 32 * 32 * 64 / 100, 0.01); /* of one multiprocessor: 100 flops a ns */
    assert_near(eleven, 2 * ten, 0.01);
    assert_near(twenty, eleven, 1e-6);
}

static void product_split(void)
{
    gemm(32, 32, 1 << 20, 1);
}

/* One tile with very much to sum: splitting it keeps more than one multiprocessor busy. */
static void products_split(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    const double alone = 2.0 * 32 * 32 * (1 << 20) / 1000;
    (void)state;
    time_steps(product_split, &speeds);
    assert_true(timing.busy < alone / 4);
    assert_true(timing.busy > alone / 10);
    forget();
}

/* Half precision on tensor cores: ten times as fast here, and the tensor cores are what is active. */
static void half(void)
{
    plm_pen_gemm(&pen, 0,
                 &(struct plm_ev_gemm){.call = call_on(0),
                                       .m = 5120,
                                       .n = 5120,
                                       .k = 5120,
                                       .batch = 1,
                                       .type_a = 2,
                                       .type_b = 2,
                                       .type_c = 2,
                                       .type_d = 2,
                                       .compute = 68});
}

static struct plm_cost half_cost(const struct plm_speeds *speeds, uint32_t m, uint32_t n, uint32_t k)
{
    const struct plm_work w = {.class = PLM_WORK_GEMM,
                               .type = PLM_WORK_FP16,
                               .bytes_per = 2,
                               .m = m,
                               .n = n,
                               .k = k,
                               .batch = 1,
                               .sized = true};
    struct plm_machine machine;
    assert_int_equal(plm_machine_make(&round_card, speeds, &machine, NULL), 0);
    return plm_cost(&machine, &w);
}

/* Rows of m and of k are of 16 bytes, or the tensor cores take twice as long here. */
static void uneven_rows(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    const double even = half_cost(&speeds, 5120, 5120, 5120).ns;
    (void)state;
    speeds.uneven_efficiency = 0.5;
    assert_near(half_cost(&speeds, 5120, 5120, 5120).ns, even, 1e-9);
    assert_near(half_cost(&speeds, 5120, 5119, 5120).ns, even, 0.01); /* n does not matter */
    assert_near(half_cost(&speeds, 5112, 5120, 5112).ns, even, 0.01);
    assert_near(half_cost(&speeds, 5119, 5120, 5120).ns, 2 * even, 0.01);
    assert_near(half_cost(&speeds, 5120, 5120, 5119).ns, 2 * even, 0.01);
}

/* Blocks of 256 threads: 8 on a multiprocessor of 2048, 2 if each has half of its shared memory, and no more than there are. */
static void occupancy(void **state)
{
    static const struct {
        double grid, shared, active, occupied;
    } expected[] = {
        {1000, 0, 1, 1}, {1000, 32768, 1, 0.25}, {1000, 40000, 1, 0.125}, {1000, 1, 1, 1}, {5, 0, 0.5, 0.0625}};
    const struct plm_speeds speeds = plain_speeds();
    struct plm_machine machine;
    (void)state;
    assert_int_equal(plm_machine_make(&round_card, &speeds, &machine, NULL), 0);
    for (size_t i = 0; i < COUNT(expected); i++) {
        struct plm_cost cost = {0};
        plm_cost_resident(&machine, expected[i].grid, 256, expected[i].shared, &cost);
        assert_near(cost.activity[PLM_METRIC_SMACT], expected[i].active, 1e-6);
        assert_near(cost.activity[PLM_METRIC_SMOCC], expected[i].occupied, 1e-6);
    }
}

static void tensor_cores(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    struct plm_card old = round_card;
    double step;
    (void)state;
    time_steps(half, &speeds);
    step = timing.step;
    assert_near(step, 2.0 * 5120 * 5120 * 5120 / 100000, 0.1);
    assert_true(timing.metric[PLM_METRIC_TENSO] > 0.9 && timing.metric[PLM_METRIC_FP32A] < 0.1);
    assert_int_equal(timing.mfu_type, PLM_WORK_FP16);
    assert_near(timing.mfu, 1, 0.1);
    plm_timing_free(&timing);
    old.tensor_cores = 0;
    old.fp16_tflops = 0;
    ask(&old, &speeds, 0);
    assert_near(timing.step, 10 * step, 0.1);
    forget();
}

/* ---- collectives ---- */

static uint32_t ranks;

static void all_reduce(void)
{
    plm_pen_collective(&pen, 0,
                       &(struct plm_ev_collective){.call = call_on(0),
                                                   .operation = PLM_COLLECTIVE_ALL_REDUCE,
                                                   .data_type = 7,
                                                   .ranks = ranks,
                                                   .count = 100000000});
}

/* A ring of eight sends 7/8 of the 400 MB twice, at 100 bytes a ns; alone there is nobody to send to. */
static void collectives(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    struct plm_card lonely = round_card;
    (void)state;
    ranks = 1;
    time_steps(all_reduce, &speeds);
    assert_true(timing.step < 10 * US);
    forget();
    ranks = 8;
    time_steps(all_reduce, &speeds);
    assert_near(timing.step, 2 * 7 / 8.0 * 400e6 / 100, 0.02);
    assert_int_equal(plm_time_bound(&timing), PLM_BOUND_COMMUNICATION);
    plm_timing_free(&timing);
    lonely.nvlink_gbs = 0; /* by PCIe: 31.5 bytes a ns */
    ask(&lonely, &speeds, 0);
    assert_near(timing.step, 2 * 7 / 8.0 * 400e6 / 31.5, 0.02);
    plm_timing_free(&timing);
    speeds.collective_latency_us = 100;
    ask(&round_card, &speeds, 0);
    assert_near(timing.step, 2 * 7 / 8.0 * 400e6 / 100 + 14 * 100 * US, 0.02);
    forget();
}

/* ---- steps, samples, sites ---- */

/* No optimizer: a call of the model is a step, and the first does not count. */
static void passes(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    struct plm_error error;
    (void)state;
    begin(unit_path("pass.plm"));
    for (int i = 0; i < 4; i++) {
        plm_pen_pass(&pen, 0, &(struct plm_ev_pass){plm_pen_intern(&pen, "model"), 32});
        plm_pen_module(&pen, 0, &(struct plm_ev_module){plm_pen_intern(&pen, "model"), PLM_PHASE_FORWARD});
        pause_us(1);
        kernel_us(i ? 999 : 50000, 0);
        plm_pen_module(&pen, 0, &(struct plm_ev_module){0, PLM_PHASE_FORWARD});
        pause_us(1);
    }
    end();
    assert_int_equal(plm_works_read(unit_path("pass.plm"), &works, &error), 0);
    assert_int_equal(plm_works_main(&works)->unit, PLM_STEP_PASS);
    assert_string_equal(works.card, "round");
    ask(&round_card, &speeds, 0);
    assert_int_equal(timing.steps, 3);
    assert_near(timing.step, 1 * MS, 0.02);
    assert_near(timing.samples_per_second, 32000, 0.03);
    forget();
}

/* Neither: the whole command. */
static void whole(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    struct plm_error error;
    (void)state;
    begin(unit_path("whole.plm"));
    for (int i = 0; i < 4; i++)
        kernel_us(999, 0);
    end();
    assert_int_equal(plm_works_read(unit_path("whole.plm"), &works, &error), 0);
    assert_int_equal(plm_works_main(&works)->unit, PLM_STEP_WHOLE);
    ask(&round_card, &speeds, 0);
    assert_near(timing.step, 4 * MS, 0.02);
    assert_true(timing.samples_per_second <= 0);
    forget();
}

static void sites_body(void)
{
    plm_pen_context(&pen, 0,
                    &(struct plm_ev_context){1, plm_pen_intern(&pen, "fc1"), plm_pen_intern(&pen, "aten::linear"),
                                             plm_pen_intern(&pen, "aten::addmm"), PLM_PHASE_FORWARD, 0});
    plm_pen_context(&pen, 0,
                    &(struct plm_ev_context){2, plm_pen_intern(&pen, "fc2"), plm_pen_intern(&pen, "aten::linear"),
                                             plm_pen_intern(&pen, "aten::addmm"), PLM_PHASE_FORWARD, 0});
    kernel_in((struct plm_ev_call){.context = 1}, 299);
    kernel_in((struct plm_ev_call){.context = 2}, 699);
}

static void sites(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(sites_body, &speeds);
    assert_int_equal(timing.operators.count, 1);
    assert_string_equal(timing.operators.item[0].name, "aten::linear");
    assert_near(timing.operators.item[0].ns, 1 * MS, 0.02);
    assert_int_equal(timing.modules.count, 2);
    assert_string_equal(timing.modules.item[0].name, "fc2");
    assert_near(timing.modules.item[0].ns, 700 * US, 0.02);
    assert_near(timing.modules.item[1].bound[PLM_BOUND_BANDWIDTH], 300 * US, 0.02);
    assert_string_equal(timing.classes.item[0].name, "elementwise");
    forget();
}

static void unknown_body(void)
{
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.name = plm_pen_intern(&pen, "nobody_knows"), .grid_x = 1, .block_x = 32});
    kernel_us(9, 0);
}

/* What has no size is said, and counts as the shortest kernel. */
static void unsized(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(unknown_body, &speeds);
    assert_near(timing.kernels, 2, 1e-9);
    assert_near(timing.unsized, 1, 1e-9);
    assert_near(timing.busy, 11 * US, 0.02);
    forget();
}

static struct plm_cost sent(uint32_t operation)
{
    const struct plm_speeds speeds = plain_speeds();
    const struct plm_work w = {.class = PLM_WORK_COLLECTIVE, .operation = (uint8_t)operation, .m = 4, .read = 1000000};
    struct plm_machine machine;
    assert_int_equal(plm_machine_make(&round_card, &speeds, &machine, NULL), 0);
    return plm_cost(&machine, &w);
}

/* 1 MB of each of four ranks at 100 bytes a ns, and the least of 1 us: what a rank sends in a ring. */
static void rings(void **state)
{
    static const struct {
        uint32_t operation;
        double us;
    } expected[] = {{PLM_COLLECTIVE_ALL_REDUCE, 15}, {PLM_COLLECTIVE_REDUCE_SCATTER, 30},
                    {PLM_COLLECTIVE_ALL_GATHER, 30}, {PLM_COLLECTIVE_ALL_TO_ALL, 30},
                    {PLM_COLLECTIVE_GATHER, 30},     {PLM_COLLECTIVE_SCATTER, 30},
                    {PLM_COLLECTIVE_REDUCE, 10},     {PLM_COLLECTIVE_BROADCAST, 10}};
    (void)state;
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_near(sent(expected[i].operation).ns, (expected[i].us + 1) * US, 1e-6);
}

static void list_launch(const char *name)
{
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.name = plm_pen_intern(&pen, name),
                                           .grid_x = 100,
                                           .block_x = 512,
                                           .counts = PLM_COUNT_TENSORS,
                                           .count = 1000000,
                                           .count_2 = 5ull << 32});
}

static void lists_both(void)
{
    list_launch("multi_tensor_apply_kernelINS1_28FusedOptimizerTensorListMetadataILi5EEE");
    list_launch("multi_tensor_apply_kernelINS1_18TensorListMetadataILi5EEENS1_21BinaryOpListAlphaFunctorIf");
}

/* Five lists of a million floats: an optimizer writes all but the gradients, others one. */
static void lists_of_tensors(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(lists_both, &speeds);
    assert_int_equal(works.works, 2);
    assert_near(works.work[0].read, 2e7, 1e-9);
    assert_near(works.work[0].written, 1.6e7, 1e-9);
    assert_near(works.work[1].read, 2e7, 1e-9);
    assert_near(works.work[1].written, 4e6, 1e-9);
    forget();
}

static void two_devices(void)
{
    kernel_us(1, 0);
    for (int i = 0; i < 3; i++)
        plm_pen_launch(&pen, 1,
                       &(struct plm_ev_launch){.name = plm_pen_intern(&pen, "vectorized_elementwise_kernel"),
                                               .grid_x = 1,
                                               .block_x = 256,
                                               .counts = PLM_COUNT_ELEMENTS,
                                               .count = 1});
}

/* Of several devices of a rank the one that it calls most. */
static void the_busiest_device(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(two_devices, &speeds);
    assert_int_equal(works.lanes, 2);
    assert_int_equal(plm_time_lane(&works, 0)->device, 1);
    assert_int_equal(plm_works_main(&works)->device, 1);
    forget();
}

/* ---- sizes of launches that show none ---- */

static void attention_launch(const char *name)
{
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){
                       .name = plm_pen_intern(&pen, name), .grid_x = 8, .grid_y = 2, .grid_z = 3, .block_x = 128});
}

static void attention_both(void)
{
    attention_launch("_Z16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi64ELi128ELi128ELi4EN7cutlass6half_tE");
    attention_launch("_Z16flash_bwd_kernelI23Flash_bwd_kernel_traitsILi64ELi128ELi128ELi4EN7cutlass6half_tE");
}

/* 8 blocks of 128 queries, 6 heads of 64: two products forward, five backward, of 2 * 1024 * 1024 * 64 flops a head. */
static void attention_sizes(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    const double flops = 2.0 * 1024 * 1024 * 64 * 6, row = 6 * 64 * 2;
    (void)state;
    time_steps(attention_both, &speeds);
    assert_int_equal(works.works, 2);
    assert_near(works.work[0].flops, 2 * flops, 1e-9);
    assert_near(works.work[1].flops, 5 * flops, 1e-9);
    assert_near(works.work[0].read, 3 * 1024 * row, 1e-9); /* queries, keys and values */
    assert_near(works.work[0].written, 1024 * row, 1e-9);
    assert_near(works.work[1].read, 5 * 1024 * row, 1e-9);
    assert_near(works.work[1].written, 3 * 1024 * row, 1e-9);
    forget();
}

static uint64_t gathered;

/* From a table of 4 MB. */
static void gather(void)
{
    plm_pen_operands(&pen, 0,
                     &(struct plm_ev_operands){.context = 1, .tensors = 2, .elements = 1000000, .element_bytes = 4});
    if (gathered)
        plm_pen_block_alloc(&pen, 0, &(struct plm_ev_block_alloc){.address = 4096, .bytes = gathered, .context = 1});
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.call = {.context = 1},
                                           .name = plm_pen_intern(&pen, "vectorized_gather_kernel"),
                                           .grid_x = 100,
                                           .block_x = 256});
}

/* What is gathered is as large as the result, or as the table, if that is smaller. */
static void gathers(void **state)
{
    static const uint64_t results[][2] = {{8192, 8192}, {0, 4000000}, {16000000, 4000000}};
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    for (size_t i = 0; i < COUNT(results); i++) {
        gathered = results[i][0];
        time_steps(gather, &speeds);
        assert_near(works.work[0].read, (double)results[i][1], 1e-9);
        assert_near(works.work[0].written, (double)results[i][1], 1e-9);
        forget();
    }
}

static void forms_of_filters(void **state)
{
    (void)state;
    assert_int_equal(plm_time_kernel_form("_ZN2at6native31conv_depthwise2d_forward_kernelILi3EfiEEv").taps, 9);
    assert_int_equal(plm_time_kernel_form("_ZN2at6native31conv_depthwise2d_forward_kernelILi5EfiEEv").taps, 25);
    assert_int_equal(plm_time_kernel_form("_ZN2at6native39conv_depthwise2d_forward_kernel_genericIfiEEv").taps, 0);
    assert_int_equal(plm_time_kernel_form("_ZN2at6native31conv_depthwise2d_forward_kernelILi300EfiEEv").taps, 0);
    assert_true(plm_time_kernel_form("_ZN2at6native32conv_depthwise2d_backward_kernelILi3ELi1EfiEEv").backward);
}

/* ---- cards ---- */

static void figures_missing(void **state)
{
    static const struct {
        size_t at;
        const char *name;
    } needed[] = {{offsetof(struct plm_card, bandwidth_gbs), "bandwidth_gbs"},
                  {offsetof(struct plm_card, fp32_tflops), "fp32_tflops"}};
    const struct plm_speeds speeds = plain_speeds();
    const struct plm_timing_options options = {0};
    struct plm_error error;
    (void)state;
    time_steps(slow_gpu, &speeds);
    plm_timing_free(&timing);
    for (size_t i = 0; i < COUNT(needed); i++) {
        struct plm_card card = round_card;
        memset((char *)&card + needed[i].at, 0, sizeof(double));
        assert_int_equal(plm_timing_make(&works, plm_works_main(&works), &card, &speeds, &options, &timing, &error),
                         PLM_ENOTFOUND);
        assert_contains(error.text, needed[i].name);
        assert_contains(error.text, "round");
    }
    plm_works_free(&works);
}

static const char *speeds_file(const struct plm_speeds *speeds)
{
    const char *path = unit_path("speeds.ini");
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    plm_speeds_write(out, speeds);
    assert_int_equal(fclose(out), 0);
    return path;
}

/* Known cards by what is asked for, those that lack a figure at the end; types that a card does not have. */
static void tables(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    struct plm_card card[3] = {round_card, round_card, round_card};
    const struct plm_install install = {0};
    const struct plm_time_question question = {.install = &install, .speeds = speeds_file(&speeds)};
    struct plm_time_table table;
    struct plm_error error;
    (void)state;
    time_steps(half, &speeds);
    snprintf(card[0].id, sizeof card[0].id, "nothing");
    card[0].bandwidth_gbs = 0;
    snprintf(card[1].id, sizeof card[1].id, "old");
    card[1].fp16_tflops = 0;
    snprintf(card[2].id, sizeof card[2].id, "quick");
    card[2].fp32_tflops = card[2].fp16_tflops = 200;
    assert_int_equal(plm_time_table_make(&works, plm_works_main(&works), card, 3, &question, &table, &error), 0);
    table.row[1].price = 0.01;
    table.row[2].price = 1;
    plm_time_table_sort(&table, PLM_TIME_BY_STEP);
    assert_string_equal(table.row[0].card->id, "quick");
    assert_string_equal(table.row[2].card->id, "nothing");
    assert_false(table.row[2].known);
    assert_contains(table.row[2].why, "bandwidth_gbs");
    assert_int_equal(table.row[1].lacks, 1u << PLM_WORK_FP16);
    assert_int_equal(table.row[0].lacks, 0);
    plm_time_table_sort(&table, PLM_TIME_BY_DOLLAR);
    assert_string_equal(table.row[0].card->id, "old");
    assert_near(plm_time_per_dollar(&table.row[1]), 3600e9 / table.row[1].timing.step, 1e-9);
    plm_time_table_sort(&table, PLM_TIME_BY_NAME);
    assert_string_equal(table.row[0].card->id, "old");
    plm_time_table_free(&table);
    assert_non_null(plm_time_lane(&works, 0));
    assert_null(plm_time_lane(&works, 1));
    forget();
}

static struct plm_time_row row_of(const struct plm_card *card, double step, double mfu, double price, bool known)
{
    return (struct plm_time_row){.card = card, .known = known, .price = price, .timing = {.step = step, .mfu = mfu}};
}

/* Known ones first, then the larger figure, then the shorter step, then the name. */
static void orders_of_tables(void **state)
{
    static const struct plm_card card[] = {{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}, {.id = "e"}};
    static const struct {
        enum plm_time_order order;
        const char *ids;
    } rows[] = {{PLM_TIME_BY_STEP, "dbcae"},
                {PLM_TIME_BY_DOLLAR, "cdbae"},
                {PLM_TIME_BY_MFU, "acdbe"},
                {PLM_TIME_BY_NAME, "abcde"}};
    struct plm_time_row row[] = {row_of(&card[4], 0, 0.9, 1, false), row_of(&card[0], 4e9, 0.5, 0, true),
                                 row_of(&card[2], 3e9, 0.4, 1, true), row_of(&card[3], 1e9, 0.1, 6, true),
                                 row_of(&card[1], 3e9, 0.1, 6, true)};
    struct plm_time_table table = {.row = row, .rows = COUNT(row)};
    (void)state;
    assert_near(plm_time_per_dollar(&row[2]), 1200, 1e-9); /* steps of 3 s in an hour that costs 1 */
    assert_true(plm_time_per_dollar(&row[1]) <= 0 && plm_time_per_dollar(&row[0]) <= 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        plm_time_table_sort(&table, rows[i].order);
        for (size_t k = 0; k < COUNT(row); k++)
            assert_int_equal(row[k].card->id[0], rows[i].ids[k]);
    }
}

static struct plm_works lanes(struct plm_work_lane *lane, size_t count)
{
    return (struct plm_works){.lane = lane, .lanes = count};
}

/* Of a rank the lane with most calls; a process that tells none is rank 0; whoever asks for none gets the busiest of
   all. */
static void lanes_of_ranks(void **state)
{
    struct plm_work_lane lane[] = {{.rank = -1, .calls = 5},
                                   {.rank = 0, .calls = 7},
                                   {.rank = 1, .calls = 9},
                                   {.rank = 1, .calls = 9, .device = 1}};
    const struct plm_works some = lanes(lane, COUNT(lane)), none = lanes(NULL, 0);
    (void)state;
    assert_ptr_equal(plm_time_lane(&some, 0), &lane[1]);
    assert_ptr_equal(plm_time_lane(&some, 1), &lane[2]);
    assert_ptr_equal(plm_time_lane(&some, -1), &lane[2]);
    assert_null(plm_time_lane(&some, 2));
    assert_null(plm_time_lane(&none, 0));
    assert_null(plm_time_lane(&none, -1));
    assert_ptr_equal(plm_time_lane(&(struct plm_works){.lane = lane, .lanes = 1}, 0), &lane[0]);
}

/* What most of a step is spent on; the first of equals. */
static void bounds_of_steps(void **state)
{
    static const char *const bounds[] = {"host", "compute", "bandwidth", "launches", "copies", "communication", ""},
                             *const metrics[] = {"gputl", "gract", "smact", "smocc", "fp32a", "tenso", "drama", ""},
                             *const types[] = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", ""};
    struct plm_timing t = {.bound = {3, 2, 4, 4, 0, 1}, .host = 5, .busy = 5};
    (void)state;
    assert_int_equal(plm_time_bound(&t), PLM_BOUND_BANDWIDTH);
    t.bound[PLM_BOUND_COMMUNICATION] = 9;
    assert_int_equal(plm_time_bound(&t), PLM_BOUND_COMMUNICATION);
    assert_false(plm_time_host_bound(&t));
    t.host = 6;
    assert_true(plm_time_host_bound(&t));
    for (int i = 0; i <= PLM_BOUNDS; i++)
        assert_string_equal(plm_bound_name((enum plm_bound)i), bounds[i]);
    for (int i = 0; i <= PLM_METRICS; i++)
        assert_string_equal(plm_metric_name((enum plm_metric)i), metrics[i]);
    for (int i = 0; i <= PLM_WORK_TYPES; i++)
        assert_string_equal(plm_work_type_name((enum plm_work_type)i), types[i]);
}

static uint8_t gemm_type;

static void typed(void)
{
    plm_pen_gemm(&pen, 0,
                 &(struct plm_ev_gemm){.m = 512, .n = 512, .k = 512, .batch = 1, .type_a = gemm_type, .compute = 68});
}

/* Of fp16, bf16 and fp8 a card must have what is used; fp32 all have. The host's range follows from what was asked. */
static void types_of_cards(void **state)
{
    static const struct {
        uint8_t type;
        unsigned lacks;
    } rows[] = {{0, 0}, {2, 1u << PLM_WORK_FP16}, {14, 1u << PLM_WORK_BF16}, {28, 1u << PLM_WORK_FP8}};
    const struct plm_speeds speeds = plain_speeds();
    const struct plm_install install = {0};
    char file[512];
    const struct plm_time_question question = {.install = &install, .speeds = file, .host_factor = 3, .shares = true};
    struct plm_card card[] = {round_card, round_card};
    struct plm_error error;
    (void)state;
    snprintf(file, sizeof file, "%s", speeds_file(&speeds));
    card[0].fp16_tflops = 0;
    card[1].bf16_tflops = card[1].fp8_tflops = 100;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_time_table table;
        gemm_type = rows[i].type;
        time_steps(typed, &speeds);
        assert_int_equal(plm_time_table_make(&works, plm_works_main(&works), card, 2, &question, &table, &error), 0);
        assert_int_equal(table.rows, 2);
        assert_int_equal(table.row[0].lacks, rows[i].lacks);
        assert_int_equal(table.row[1].lacks, 0);
        assert_near(table.row[0].host_factor, 3, 1e-9);
        assert_near(table.row[0].host_low, 1.5, 1e-9);
        assert_near(table.row[0].host_high, 6, 1e-9);
        assert_string_equal(table.row[0].speeds, "plain");
        assert_true(table.row[0].timing.operators.count > 0);
        plm_time_table_free(&table);
        forget();
    }
}

/* ---- files of constants ---- */

static void speeds_again(void **state)
{
    struct plm_speeds s = plain_speeds(), again;
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < PLM_SPEEDS; i++) /* each another one */
        plm_speed_set(&s, &plm_speed[i],
                      plm_speed[i].least +
                          (plm_speed[i].most - plm_speed[i].least) * (double)(i + 1) / (PLM_SPEEDS + 1));
    assert_int_equal(plm_speeds_read(speeds_file(&s), NULL, NULL, &again, &error), 0);
    assert_string_equal(again.name, "plain");
    assert_string_equal(again.source, "a test");
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        assert_near(plm_speed_get(&again, &plm_speed[i]), plm_speed_get(&s, &plm_speed[i]), 1e-5);
}

/* Each may be the least and the most that it can be. */
static void speeds_at_their_limits(void **state)
{
    struct plm_speeds s = plain_speeds(), again;
    struct plm_error error;
    (void)state;
    for (int most = 0; most < 2; most++) {
        for (size_t i = 0; i < PLM_SPEEDS; i++)
            plm_speed_set(&s, &plm_speed[i], most ? plm_speed[i].most : plm_speed[i].least);
        if (plm_speeds_read(speeds_file(&s), NULL, NULL, &again, &error))
            fail_msg("%s", error.text);
    }
}

/* Those that come with plimsoll are whole. */
static void speeds_own(void **state)
{
    struct plm_install install = {0};
    struct plm_card card = {.architecture = "ampere"};
    struct plm_speeds s;
    struct plm_error error;
    (void)state;
    snprintf(install.timing, sizeof install.timing, "%s/data/timing", getenv("PLM_SOURCE"));
    assert_int_equal(plm_speeds_read(NULL, &install, &card, &s, &error), 0);
    assert_string_equal(s.name, "ampere");
    snprintf(card.architecture, sizeof card.architecture, "of tomorrow");
    assert_int_equal(plm_speeds_read(NULL, &install, &card, &s, &error), 0);
}

static void speeds_wrong(void **state)
{
    const struct plm_speeds s = plain_speeds();
    size_t size;
    char *text = unit_read(speeds_file(&s), &size), *line = strstr(text, "floor_us = "), *next;
    struct plm_speeds read;
    struct plm_error error;
    const struct {
        const char *instead;
        const char *says;
    } wrong[] = {
        {"", "lacks floor_us in [kernel]"},
        {"floor_us = -1\n", "not a number from"},
        {"floor_us = 1e9\n", "not a number from"},
        {"floor_us = fast\n", "fast"},
        {"floor_us = nan\n", "not a number from"},
        {"floor_us = 1 2\n", "not a number from"},
        {"floor_us =\n", "floor_us"},
        {"floor_us = 1\nceiling_us = 1\n", "no constant ceiling_us"},
        {"gibberish\n", "speeds.ini:"},
    };
    (void)state;
    assert_non_null(line);
    next = strchr(line, '\n') + 1;
    *line = '\0';
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char *changed;
        const int length = asprintf(&changed, "%s%s%s", text, wrong[i].instead, next);
        assert_true(length > 0);
        unit_write(unit_path("speeds.ini"), changed, (size_t)length);
        assert_int_equal(plm_speeds_read(unit_path("speeds.ini"), NULL, NULL, &read, &error), PLM_EFORMAT);
        assert_contains(error.text, wrong[i].says);
        free(changed);
    }
    unit_write(unit_path("speeds.ini"), "", 0);
    assert_true(plm_speeds_read(unit_path("speeds.ini"), NULL, NULL, &read, &error) < 0);
    assert_true(plm_speeds_read(unit_path("none.ini"), NULL, NULL, &read, &error) < 0);
    free(text);
}

/* ---- records ---- */

static void records_without_launches(void **state)
{
    struct plm_error error;
    (void)state;
    begin(unit_path("none.plm"));
    copy(PLM_COPY_PINNED, 100);
    wait_for(PLM_SYNC_DEVICE, 0, 0);
    step(1);
    end();
    assert_int_equal(plm_works_read(unit_path("none.plm"), &works, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "no kernel launches");
    assert_true(plm_works_read(unit_path("not-there.plm"), &works, &error) < 0);
    unit_write(unit_path("none.plm"), "", 0);
    assert_true(plm_works_read(unit_path("none.plm"), &works, &error) < 0);
    unit_write(unit_path("none.plm"), "plimsoll?", 9);
    assert_true(plm_works_read(unit_path("none.plm"), &works, &error) < 0);
}

/* A record that is cut or damaged somewhere: an answer or a sentence. */
static void records_damaged(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    const struct plm_timing_options options = {.shares = true};
    size_t size;
    char *bytes;
    (void)state;
    time_steps(two_streams, &speeds);
    forget();
    bytes = unit_read(unit_path("time.plm"), &size);
    for (size_t i = 0; i < 200; i++) {
        const size_t at = 4096 + i * 24; /* the first events */
        const char before = at < size ? bytes[at] : 0;
        struct plm_error error = {0};
        if (at >= size)
            break;
        bytes[at] = (char)(before ^ 0x41);
        unit_write(unit_path("damaged.plm"), bytes, i % 5 ? size : at);
        if (plm_works_read(unit_path("damaged.plm"), &works, &error) == 0) {
            assert_int_equal(
                plm_timing_make(&works, plm_works_main(&works), &round_card, &speeds, &options, &timing, &error), 0);
            assert_true(isfinite(timing.step));
            forget();
        } else
            assert_true(*error.text);
        bytes[at] = before;
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_bound),
        cmocka_unit_test(gpu_bound),
        cmocka_unit_test(run_ahead),
        cmocka_unit_test(reductions),
        cmocka_unit_test(instructions),
        cmocka_unit_test(layouts),
        cmocka_unit_test(norms),
        cmocka_unit_test(host_factor),
        cmocka_unit_test(counted),
        cmocka_unit_test(clock_lowered),
        cmocka_unit_test(waiting),
        cmocka_unit_test(copies),
        cmocka_unit_test(waiting_for_all),
        cmocka_unit_test(pauses_of_the_machine),
        cmocka_unit_test(streams_without_end),
        cmocka_unit_test(edges_of_steps),
        cmocka_unit_test(streams),
        cmocka_unit_test(calls_of_the_driver),
        cmocka_unit_test(latencies),
        cmocka_unit_test(waits_for_streams),
        cmocka_unit_test(who_waits_for_copies),
        cmocka_unit_test(counted_by_phase),
        cmocka_unit_test(tails_and_copies),
        cmocka_unit_test(classes),
        cmocka_unit_test(ranges),
        cmocka_unit_test(spans_of_the_host),
        cmocka_unit_test(graphs),
        cmocka_unit_test(graphs_alone),
        cmocka_unit_test(products_grow),
        cmocka_unit_test(products_in_waves),
        cmocka_unit_test(products_split),
        cmocka_unit_test(tensor_cores),
        cmocka_unit_test(uneven_rows),
        cmocka_unit_test(occupancy),
        cmocka_unit_test(collectives),
        cmocka_unit_test(passes),
        cmocka_unit_test(whole),
        cmocka_unit_test(sites),
        cmocka_unit_test(unsized),
        cmocka_unit_test(attention_sizes),
        cmocka_unit_test(rings),
        cmocka_unit_test(lists_of_tensors),
        cmocka_unit_test(the_busiest_device),
        cmocka_unit_test(gathers),
        cmocka_unit_test(forms_of_filters),
        cmocka_unit_test(figures_missing),
        cmocka_unit_test(tables),
        cmocka_unit_test(orders_of_tables),
        cmocka_unit_test(lanes_of_ranks),
        cmocka_unit_test(bounds_of_steps),
        cmocka_unit_test(types_of_cards),
        cmocka_unit_test(speeds_again),
        cmocka_unit_test(speeds_at_their_limits),
        cmocka_unit_test(speeds_own),
        cmocka_unit_test(speeds_wrong),
        cmocka_unit_test(records_without_launches),
        cmocka_unit_test(records_damaged),
    };
    return RUN(tests);
}
