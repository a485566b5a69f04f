/* Who waits for whom: host, streams, copies and graphs, on a card whose figures are round. */
#include "time_common.h"

/* ---- asking ---- */

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
    ask_as(&round_card, &speeds, &(struct plm_timing_options){0});
    assert_near(timing.host, (11 * 50 + 40 + 20 * 3) * US, 1e-6);
    plm_timing_free(&timing);
    ask_as(&round_card, &speeds, &(struct plm_timing_options){.host.factor = 2});
    assert_near(timing.host, 2 * (11 * 50 + 40 + 20 * 3) * US, 1e-6);
    forget();
}

/* What --host takes, for all commands. */
static void host_words(void **state)
{
    static const struct {
        const char *text;
        struct plm_host_time wanted;
    } rows[] = {{NULL, {false, 0}},
                {"counted", {false, 0}},
                {"measured", {true, 0}},
                {"2", {false, 2}},
                {"measured,1.5", {true, 1.5}},
                {"1.5,measured", {true, 1.5}},
                {"counted,0.01", {false, 0.01}}};
    static const char *const wrong[] = {"",    "fast", "measured,", ",2",      "0",        "101",
                                        "nan", "-1",   "2x",        "measure", "counted 2"};
    struct plm_host_time host;
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(plm_host_time_parse(rows[i].text, &host, &error), 0);
        assert_int_equal(host.measured, rows[i].wanted.measured);
        assert_near(host.factor, rows[i].wanted.factor, 1e-12);
    }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(plm_host_time_parse(wrong[i], &host, &error), PLM_EINVAL);
        assert_non_null(strstr(error.text, "--host takes counted or measured, and a factor from 0.01 to 100, not '"));
    }
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
    assert_int_equal(plm_timing_each(&works, plm_works_main(&works), played, &speeds,
                                     &(struct plm_timing_options){.host.measured = true}, NULL, span_end, &ends, NULL),
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
    record_begin(unit_path("time.plm"));
    for (uint32_t i = 1; i <= 4; i++) {
        pause_us(10);
        plm_pen_step(&pen, 0, &(struct plm_ev_step){i, 1});
        kernel_us(100 * i - 1, 0);
    }
    record_end();
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

/* Two of 1 ms each in turn: who does not tell its stream runs where the call before did. */
static void streams_untold_body(void)
{
    for (int i = 0; i < 5; i++) {
        kernel_us(999, 1);
        kernel_us(999, PLM_STREAM_UNKNOWN);
    }
}

static void streams_untold(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(streams_untold_body, &speeds);
    assert_near(timing.step, 10 * MS, 0.02); /* one stream of ten kernels: nothing is side by side */
    assert_near(timing.busy, 10 * MS, 0.02);
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
    ask_as(&round_card, &speeds, &(struct plm_timing_options){0});
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
    ask_as(&round_card, &speeds, &(struct plm_timing_options){0});
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

/* The ends of the range have the model's error on the GPU and the host's factors, 0.5 and 2 here. */
static void ranges(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(together, &speeds);
    assert_near(timing.low, (0.5 + 0.9) * MS, 1e-3);
    assert_near(timing.high, (2 + 1.1) * MS, 1e-3);
    plm_timing_free(&timing);
    ask_as(&round_card, &speeds, &(struct plm_timing_options){.host.measured = true, .bare = true, .unmetered = true});
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
    assert_int_equal(plm_timing_each(&works, plm_works_main(&works), played, &speeds,
                                     &(struct plm_timing_options){.host.measured = true}, host_span, NULL, NULL, NULL),
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
    record_begin(unit_path("graph.plm"));
    for (int i = 0; i < 8; i++) {
        pause_us(50);
        kernel_in((struct plm_ev_call){.graph = 7}, 99);
    }
    for (uint32_t i = 1; i <= 3; i++) {
        graph_launched();
        step(i);
    }
    record_end();
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
    record_begin(unit_path("graph.plm"));
    kernel_in((struct plm_ev_call){.graph = 7}, 99);
    record_end();
    assert_int_equal(plm_works_read(unit_path("graph.plm"), &works, &error), 0);
    ask(&round_card, &speeds, 0);
    assert_true(timing.step <= 0 && timing.kernels <= 0);
    forget();
    record_begin(unit_path("graph.plm"));
    graph_launched();
    kernel_us(10, 0);
    record_end();
    assert_int_equal(plm_works_read(unit_path("graph.plm"), &works, &error), 0);
    ask(&round_card, &speeds, 0);
    assert_near(timing.kernels, 1, 1e-9);
    forget();
}

/* ---- cards ---- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_bound),
        cmocka_unit_test(gpu_bound),
        cmocka_unit_test(run_ahead),
        cmocka_unit_test(host_factor),
        cmocka_unit_test(counted),
        cmocka_unit_test(host_words),
        cmocka_unit_test(clock_lowered),
        cmocka_unit_test(waiting),
        cmocka_unit_test(copies),
        cmocka_unit_test(waiting_for_all),
        cmocka_unit_test(pauses_of_the_machine),
        cmocka_unit_test(streams_without_end),
        cmocka_unit_test(streams_untold),
        cmocka_unit_test(edges_of_steps),
        cmocka_unit_test(streams),
        cmocka_unit_test(calls_of_the_driver),
        cmocka_unit_test(latencies),
        cmocka_unit_test(waits_for_streams),
        cmocka_unit_test(who_waits_for_copies),
        cmocka_unit_test(counted_by_phase),
        cmocka_unit_test(tails_and_copies),
        cmocka_unit_test(ranges),
        cmocka_unit_test(spans_of_the_host),
        cmocka_unit_test(graphs),
        cmocka_unit_test(graphs_alone),
        cmocka_unit_test(bounds_of_steps),
    };
    return RUN(tests);
}
