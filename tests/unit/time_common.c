#include "time_common.h"

/* ---- the constants ---- */

struct plm_speeds plain_speeds(void)
{
    struct plm_speeds s = round_speeds();
    s.launch_us = s.copy_call_us = s.wait_us = s.step_us = s.latency_us = s.tail_us = s.gap_us = 0;
    s.queue_launches = 1024;
    s.host_factor_low = 0.5;
    s.host_factor_high = 2;
    s.model_error = 0.1;
    return s;
}

/* ---- writing ---- */

static struct plm_writer writer;
struct plm_pen pen;
static double now; /* ns */

void record_begin(const char *path)
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

void record_end(void)
{
    plm_pen_close(&pen);
    assert_int_equal(plm_writer_close(&writer), 0);
}

void pause_us(double us)
{
    now += us * US;
    plm_pen_at(&pen, (uint64_t)now);
}

void step(uint32_t number)
{
    pause_us(0.001);
    plm_pen_step(&pen, 0, &(struct plm_ev_step){number, 1});
    pause_us(0.001);
}

struct plm_ev_call call_on(uint32_t stream)
{
    return (struct plm_ev_call){.cuda_stream = stream};
}

/* Copies so many floats on the device: reads 4 bytes and writes 4 for each. 125,000 take 1 ms / 1000 = 1 us at 1000 bytes a ns. */
enum { FLOATS_PER_US = 125000 };
void kernel_in(struct plm_ev_call call, double us)
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

void kernel_us(double us, uint32_t stream)
{
    kernel_in(call_on(stream), us);
}

void copy(enum plm_copy_host host, uint64_t bytes)
{
    plm_pen_copy(&pen, 0,
                 &(struct plm_ev_copy){.call = call_on(0),
                                       .bytes = bytes,
                                       .operation = PLM_COPY_HOST_TO_DEVICE,
                                       .host = (uint8_t)host,
                                       .async = 1});
}

void wait_for(enum plm_sync what, uint32_t stream, uint32_t other)
{
    plm_pen_sync(&pen, 0,
                 &(struct plm_ev_sync){.call = call_on(stream), .operation = (uint32_t)what, .event_stream = other});
}

/* ---- asking ---- */

const struct plm_card *played = &round_card;
struct plm_works works;
struct plm_timing timing;

void ask_as(const struct plm_card *card, const struct plm_speeds *speeds, const struct plm_timing_options *options)
{
    struct plm_error error;
    if (plm_timing_make(&works, plm_works_main(&works), card, speeds, options, &timing, &error) < 0)
        fail_msg("%s", error.text);
}

void ask(const struct plm_card *card, const struct plm_speeds *speeds, double host_factor)
{
    ask_as(card, speeds, &(struct plm_timing_options){.host = {true, host_factor}, .shares = true});
}

void time_steps(void (*body)(void), const struct plm_speeds *speeds)
{
    struct plm_error error;
    record_begin(unit_path("time.plm"));
    for (uint32_t i = 1; i <= 4; i++) {
        body();
        step(i);
    }
    record_end();
    if (plm_works_read(unit_path("time.plm"), &works, &error) < 0)
        fail_msg("%s", error.text);
    ask(played, speeds, 0);
}

void forget(void)
{
    plm_timing_free(&timing);
    plm_works_free(&works);
}

/* ---- who waits for whom ---- */

void slow_gpu(void)
{
    for (int i = 0; i < 10; i++) {
        pause_us(1);
        kernel_us(1000, 0);
    }
}

void two_streams(void)
{
    for (int i = 0; i < 5; i++) {
        kernel_us(999, 1);
        kernel_us(999, 2);
    }
}

/* ---- products ---- */

void half(void)
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
