/* What one piece of work costs on a card whose figures are round: each figure here is worked out by hand from
   docs/utilization.md. */
#include "time/cost.h"

#include <math.h>
#include <stdio.h>

#include "common/error.h"
#include "round_card.h"
#include "unit.h"

static struct plm_card card; /* begins as the round one */
static struct plm_speeds speeds;
static struct plm_machine machine;

#define assert_near(a, b)          assert_true(fabs((double)(a) - (double)(b)) <= 1e-6 * fabs((double)(b)))
#define assert_cost(cost, us, why) (assert_near((cost).ns, (us) * 1e3), assert_int_equal((cost).bound, (why)))
#define activity(cost, metric)     ((double)(cost).activity[PLM_METRIC_##metric])

static void machine_again(void)
{
    struct plm_error error;
    if (plm_machine_make(&card, &speeds, &machine, &error) < 0)
        fail_msg("%s", error.text);
}

/* Nothing is lost, and nothing takes time that is not asked for; kernels take at least 1 us. */
static int begin(void **state)
{
    (void)state;
    card = round_card;
    speeds = round_speeds();
    speeds.strided_ops = speeds.norm_ops = speeds.statistics_ops = speeds.softmax_ops = speeds.pooling_ops = 0;
    speeds.turning_ops = 0;
    machine_again();
    return 0;
}

/* ---- the card ---- */

static void machine_of_a_card(void **state)
{
    (void)state;
    assert_near(machine.threads, 2048);
    assert_near(machine.warps, 64);
    assert_near(machine.blocks, 32);
    assert_near(machine.shared, 65536); /* the card does not say */
    assert_near(machine.link, 100); /* NVLink's figure is of both directions */
    assert_near(machine.host_link, 16 * 1.969);
    card.shared_per_sm = 102400;
    card.max_threads_per_sm = card.max_blocks_per_sm = 0;
    card.l2_bytes = 8000000;
    speeds.l2_share = 0.5;
    speeds.l2_ratio = 4;
    speeds.memory_efficiency = 0.8;
    machine_again();
    assert_near(machine.shared, 102400);
    assert_near(machine.threads, 1024);
    assert_near(machine.blocks, 16);
    assert_near(machine.cache, 4e6);
    assert_near(machine.cache_bandwidth, 4000);
    assert_near(machine.bandwidth, 800);
}

/* A type that a card does not have is computed as fp32; tensor cores have neither fp64 nor fp32. */
static void peaks_of_a_card(void **state)
{
    (void)state;
    assert_near(machine.peak[PLM_WORK_FP64], 10000);
    assert_near(machine.peak[PLM_WORK_FP16], 100000);
    assert_near(machine.peak[PLM_WORK_TF32], 10000);
    assert_true(machine.tensor[PLM_WORK_FP16]);
    assert_false(machine.tensor[PLM_WORK_TF32] || machine.tensor[PLM_WORK_FP32] || machine.tensor[PLM_WORK_FP64]);
    card.fp64_tflops = 5;
    card.tf32_tflops = 50;
    card.bf16_tflops = 90;
    card.fp8_tflops = 200;
    machine_again();
    assert_near(machine.peak[PLM_WORK_FP64], 5000);
    assert_near(machine.peak[PLM_WORK_FP32], 10000);
    assert_near(machine.peak[PLM_WORK_TF32], 50000);
    assert_near(machine.peak[PLM_WORK_BF16], 90000);
    assert_near(machine.peak[PLM_WORK_FP8], 200000);
    assert_false(machine.tensor[PLM_WORK_FP64] || machine.tensor[PLM_WORK_FP32]);
    assert_true(machine.tensor[PLM_WORK_TF32] && machine.tensor[PLM_WORK_BF16] && machine.tensor[PLM_WORK_FP8]);
    card.tensor_cores = 0;
    machine_again();
    assert_false(machine.tensor[PLM_WORK_TF32] || machine.tensor[PLM_WORK_FP16]);
    assert_near(machine.peak[PLM_WORK_FP16], 10000);
    assert_near(machine.peak[PLM_WORK_FP64], 5000);
}

static void a_card_without_multiprocessors(void **state)
{
    struct plm_error error;
    (void)state;
    card.sms = 0;
    assert_int_equal(plm_machine_make(&card, &speeds, &machine, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "its sms,");
}

/* ---- streaming ---- */

/* The part that the cache holds goes at the cache's rate, the rest at the memory's. */
static void bytes_through_the_cache(void **state)
{
    (void)state;
    assert_near(plm_cost_bytes(&machine, 4e6, 0, 1), 4000);
    assert_near(plm_cost_bytes(&machine, 4e6, 0, 0.5), 8000);
    card.l2_bytes = 1000000;
    speeds.l2_ratio = 4;
    machine_again();
    assert_near(plm_cost_bytes(&machine, 4e6, 0, 1), 1e6 / 4000 + 3e6 / 1000);
    assert_near(plm_cost_bytes(&machine, 4e5, 0, 1), 100);
    assert_true(plm_cost_bytes(&machine, 0, 0, 1) <= 0);
}

/* 8 bytes of each thread in 100 ns; 20,480 threads are all that the card has. */
static void bytes_that_threads_have_under_way(void **state)
{
    (void)state;
    speeds.thread_bytes = 8;
    speeds.memory_latency_ns = 100;
    card.bandwidth_gbs = 1e6;
    machine_again();
    assert_near(plm_cost_bytes(&machine, 1e6, 100, 1), 1e6 / 8);
    assert_near(plm_cost_bytes(&machine, 1e6, 1e9, 1), 1e6 / 1638.4);
    assert_near(plm_cost_bytes(&machine, 1e6, 0, 1), 1e6 / 1638.4);
}

static struct plm_work stream_work(uint8_t class, double bytes)
{
    return (struct plm_work){.class = class,
                             .bytes_per = 4,
                             .sized = true,
                             .grid = 100,
                             .block = 256,
                             .read = bytes / 2,
                             .written = bytes / 2};
}

static void streams(void **state)
{
    struct plm_work w = stream_work(PLM_WORK_OTHER, 8e6);
    struct plm_cost cost;
    (void)state;
    speeds.memory_efficiency = 0.8;
    machine_again();
    cost = plm_cost(&machine, &w);
    assert_cost(cost, 10 + 1, PLM_BOUND_BANDWIDTH);
    assert_true(cost.known);
    assert_near(activity(cost, DRAMA), 8.0 / 11); /* of the data sheet's bandwidth */
    assert_near(activity(cost, SMACT), 1);
    assert_near(activity(cost, SMOCC), 8.0 * 8 / 64);
    assert_near(activity(cost, GPUTL), 1);
    assert_near(activity(cost, GRACT), 1);
    w.read = w.written = 4e5; /* 1 us, as long as the shortest kernel */
    assert_cost(plm_cost(&machine, &w), 1 + 1, PLM_BOUND_LAUNCHES);
    w.sized = false;
    assert_false(plm_cost(&machine, &w).known);
    card.l2_bytes = 10000000;
    machine_again();
    w.read = w.written = 4e6;
    assert_true(activity(plm_cost(&machine, &w), DRAMA) <= 0); /* it stays in the cache */
}

/* Without a grid, blocks of 128 threads with 32 bytes each: 5 of them for 20 KiB, on half of the multiprocessors. */
static void a_grid_that_a_library_chooses(void **state)
{
    struct plm_work w = stream_work(PLM_WORK_OTHER, 20480);
    (void)state;
    w.grid = w.block = 0;
    assert_near(activity(plm_cost(&machine, &w), SMACT), 0.5);
    assert_near(activity(plm_cost(&machine, &w), SMOCC), 0.5 * 4 / 64);
    w.read++;
    assert_near(activity(plm_cost(&machine, &w), SMACT), 0.6);
}

/* A million elements at 5,000 instructions a ns: one each takes 0.2 us, reading and writing them 8 us. */
static void instructions_of_a_class(void **state)
{
    const struct {
        uint8_t class, operation;
        bool strided;
        double us;
        enum plm_bound bound;
    } expected[] = {
        {PLM_WORK_ELEMENTWISE, 0, false, 8, PLM_BOUND_BANDWIDTH},
        {PLM_WORK_ELEMENTWISE, 0, true, 20, PLM_BOUND_COMPUTE},
        {PLM_WORK_NORMALIZATION, 0, false, 40, PLM_BOUND_COMPUTE},
        {PLM_WORK_NORMALIZATION, 1, false, 60, PLM_BOUND_COMPUTE},
        {PLM_WORK_SOFTMAX, 0, false, 80, PLM_BOUND_COMPUTE},
        {PLM_WORK_POOLING, 0, false, 100, PLM_BOUND_COMPUTE},
        {PLM_WORK_REDUCTION, 0, false, 8, PLM_BOUND_BANDWIDTH},
        {PLM_WORK_OTHER, 0, true, 8, PLM_BOUND_BANDWIDTH},
        {PLM_WORK_GATHER, 0, false, 16, PLM_BOUND_BANDWIDTH}, /* at half of the rate */
        {PLM_WORK_SORT, 0, false, 16, PLM_BOUND_BANDWIDTH},
    };
    struct plm_work w;
    (void)state;
    speeds.strided_ops = 100;
    speeds.norm_ops = 200;
    speeds.statistics_ops = 300;
    speeds.softmax_ops = 400;
    speeds.pooling_ops = 500;
    speeds.gather_efficiency = 0.5;
    machine_again();
    for (size_t i = 0; i < COUNT(expected); i++) {
        w = stream_work(expected[i].class, 8e6);
        w.operation = expected[i].operation;
        w.strided = expected[i].strided;
        assert_cost(plm_cost(&machine, &w), expected[i].us + 1, expected[i].bound);
    }
    w = stream_work(PLM_WORK_SOFTMAX, 8e6);
    w.bytes_per = 2; /* twice as many */
    assert_cost(plm_cost(&machine, &w), 160 + 1, PLM_BOUND_COMPUTE);
    w.bytes_per = 0;
    assert_cost(plm_cost(&machine, &w), 80 + 1, PLM_BOUND_COMPUTE);
    w.read = w.written = 4e4; /* 0.8 us of instructions: less than the shortest kernel */
    assert_cost(plm_cost(&machine, &w), 0.8 + 1, PLM_BOUND_LAUNCHES);
}

/* ---- products ---- */

static struct plm_cost product(double m, double n, double k)
{
    const struct plm_product p = {m, n, k, 1, PLM_WORK_FP32, 1, 0};
    return plm_cost_product(&machine, &p);
}

/* Tiles of the model, by what share of the rate they reach: this notices changes only. Ten blocks (of square tiles
   nine) take one round of ten multiprocessors, one row or column more takes two. 64 along k are too few to be cut. */
static void tiles(void **state)
{
    static const struct {
        double m, n;
        int share;
    } tile[] = {{256, 128, 0}, {128, 256, 0}, {128, 128, 1}, {256, 64, 1}, {64, 256, 1},
                {128, 64, 2},  {64, 128, 2},  {64, 64, 3},   {256, 32, 3}, {32, 32, 4}};
    double *const share[] = {NULL, &speeds.tile_128, &speeds.tile_64, &speeds.tile_32, &speeds.tile_16};
    (void)state;
    speeds.floor_us = 0;
    for (size_t i = 0; i < COUNT(tile); i++) {
        const double m = tile[i].m * (tile[i].m > tile[i].n ? 10 : tile[i].m < tile[i].n ? 1 : 3);
        const double n = tile[i].n * (tile[i].n > tile[i].m ? 10 : tile[i].n < tile[i].m ? 1 : 3);
        const double rate = tile[i].share ? 1000 * 50 : 1000, ns = 2 * tile[i].m * tile[i].n * 64 / rate;
        for (int k = 1; k < 5; k++)
            *share[k] = k == tile[i].share ? 50 : 0.001;
        machine_again();
        assert_near(product(m, n, 64).ns, ns);
        assert_near(product(m + 1, n, 64).ns, 2 * ns);
        assert_near(product(m, n + 1, 64).ns, 2 * ns);
        assert_near(activity(product(m, n, 64), SMACT), tile[i].m != tile[i].n ? 1 : 0.9);
    }
}

/* Only tiles of 32 x 32: as fast as the rest would be a thousandth. */
static void small_tiles(void)
{
    speeds.tile_128 = speeds.tile_64 = speeds.tile_32 = 0.001;
    speeds.tile_16 = 1;
    speeds.floor_us = 0;
    machine_again();
}

/* One tile on P multiprocessors, 64 P along k: cut in P parts, of which each is 64 long; they are added up through the
   memory. */
static void products_in_parts(void **state)
{
    static const int parts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32};
    const struct plm_product p = {100, 50, 64, 3, PLM_WORK_FP32, 1, 0};
    (void)state;
    assert_near(plm_cost_parts(&machine, &p, 2), 1000 + 3.0 * 100 * 50 * 3 * 4 / 1000);
    card.fp32_tflops = 1;
    for (size_t i = 0; i < COUNT(parts); i++) {
        card.sms = parts[i];
        small_tiles();
        assert_near(product(32, 32, 64.0 * parts[i]).ns,
                    2.0 * 32 * 32 * 64 / (1000.0 / parts[i]) + (parts[i] + 1) * 32.0 * 32 * 4 / 1000);
    }
}

/* A block takes steps of 32 along k, one after another. */
static void steps_of_a_tile(void **state)
{
    (void)state;
    small_tiles();
    speeds.tile_step_ns = 1000;
    assert_near(product(32, 32, 64).ns, 2000);
    assert_near(product(32, 32, 65).ns, 3000);
    assert_near(product(32, 32, 96).ns, 3000);
    speeds.tile_step_ns = 0;
    assert_near(product(32, 32, 65).ns, 2.0 * 32 * 32 * 96 / 1000);
}

static void what_bounds_a_product(void **state)
{
    struct plm_product p = {96, 96, 64, 1, PLM_WORK_FP32, 1, 0};
    const double ns = 2.0 * 32 * 32 * 64 / 1000; /* nine tiles at once */
    struct plm_cost cost;
    (void)state;
    small_tiles();
    speeds.fma_ratio = 0.5;
    cost = plm_cost_product(&machine, &p);
    assert_cost(cost, ns / 1e3, PLM_BOUND_COMPUTE);
    assert_near(activity(cost, FP32A), 0.9 * 0.5);
    assert_true(activity(cost, TENSO) <= 0 && activity(cost, DRAMA) <= 0);
    p.efficiency = 0.5;
    assert_cost(plm_cost_product(&machine, &p), 2 * ns / 1e3, PLM_BOUND_COMPUTE);
    p.efficiency = 1;
    p.bytes = 1e6;
    assert_cost(plm_cost_product(&machine, &p), 1, PLM_BOUND_BANDWIDTH);
    assert_near(activity(plm_cost_product(&machine, &p), DRAMA), 1);
    speeds.floor_us = 0.5;
    speeds.prologue_us = 0.3;
    assert_cost(plm_cost_product(&machine, &p), 1.8, PLM_BOUND_BANDWIDTH);
    assert_near(activity(plm_cost_product(&machine, &p), DRAMA), 1 / 1.8);
    p.bytes = 0;
    assert_cost(plm_cost_product(&machine, &p), 0.8 + ns / 1e3, PLM_BOUND_LAUNCHES);
    card.l2_bytes = 2000000;
    machine_again();
    p.bytes = 1e6;
    assert_true(activity(plm_cost_product(&machine, &p), DRAMA) <= 0);
}

/* Tensor cores: blocks of eight warps, two at most on a multiprocessor that has 64. */
static void occupancy_of_tensor_cores(void **state)
{
    static const struct {
        double tiles, occupied, active;
    } expected[] = {{5, 0.5 * 8 / 64, 0.5}, {10, 8.0 / 64, 1}, {11, 16.0 / 64, 1}, {40, 16.0 / 64, 1}};
    (void)state;
    small_tiles();
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct plm_product p = {32 * expected[i].tiles, 32, 64, 1, PLM_WORK_FP16, 1, 0};
        const struct plm_cost cost = plm_cost_product(&machine, &p);
        assert_near(activity(cost, SMOCC), expected[i].occupied);
        assert_near(activity(cost, SMACT), expected[i].active);
        assert_true(activity(cost, FP32A) <= 0 && activity(cost, TENSO) > 0);
    }
}

static struct plm_work gemm_work(uint8_t type, uint8_t bytes_per, uint32_t m)
{
    return (struct plm_work){.class = PLM_WORK_GEMM,
                             .type = type,
                             .bytes_per = bytes_per,
                             .m = m,
                             .n = 32,
                             .k = 64,
                             .batch = 1,
                             .sized = true};
}

/* Rows of 16 bytes: eight numbers of two bytes, four of four. Where no size is known, eight. */
static void rows_of_tensor_cores(void **state)
{
    static const struct {
        uint8_t type, bytes_per;
        uint32_t m;
        double times;
    } expected[] = {{PLM_WORK_FP16, 2, 24, 1}, {PLM_WORK_FP16, 2, 20, 2}, {PLM_WORK_TF32, 4, 20, 1},
                    {PLM_WORK_TF32, 4, 18, 2}, {PLM_WORK_FP16, 0, 24, 1}, {PLM_WORK_FP16, 0, 20, 2},
                    {PLM_WORK_FP32, 4, 31, 10}};
    (void)state;
    card.tf32_tflops = 100;
    speeds.uneven_efficiency = 0.5;
    small_tiles();
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct plm_work w = gemm_work(expected[i].type, expected[i].bytes_per, expected[i].m);
        assert_near(plm_cost(&machine, &w).ns, expected[i].times * 2 * 32 * 32 * 64 / 10000);
    }
}

static void bytes_of_a_product(void **state)
{
    struct plm_work w = gemm_work(PLM_WORK_FP32, 4, 32);
    (void)state;
    w.read = 2e6;
    w.written = 1e6;
    assert_cost(plm_cost(&machine, &w), 3 + 1, PLM_BOUND_BANDWIDTH);
    w.batch = 100000; /* 10,000 rounds of 131 ns */
    small_tiles();
    assert_cost(plm_cost(&machine, &w), 1310.72, PLM_BOUND_COMPUTE);
}

/* ---- convolutions ---- */

static struct plm_work convolution_work(uint8_t type, uint32_t batch, uint32_t filter, uint32_t stride)
{
    return (struct plm_work){.class = PLM_WORK_CONVOLUTION,
                             .type = type,
                             .bytes_per = type == PLM_WORK_FP16 ? 2 : 4,
                             .m = 320,
                             .n = 32,
                             .k = 64,
                             .batch = batch,
                             .filter = filter,
                             .stride = stride,
                             .sized = true,
                             .channels_last = true};
}

static double convolution_ns(uint8_t type, uint8_t operation, uint32_t batch, uint32_t filter, uint32_t stride)
{
    struct plm_work w = convolution_work(type, batch, filter, stride);
    w.operation = operation;
    return plm_cost(&machine, &w).ns;
}

/* Ten tiles take 131.072 ns without tensor cores. Winograd is for 3 x 3 filters that move by one, without groups. */
static void shares_of_convolutions(void **state)
{
    const double ns = 131.072;
    (void)state;
    speeds.conv_efficiency = 0.5;
    speeds.conv_gradient_efficiency = 0.25;
    speeds.group_efficiency = 0.1;
    speeds.winograd_gain = 4;
    small_tiles();
    assert_near(convolution_ns(PLM_WORK_FP32, PLM_CONVOLUTION_FORWARD, 1, 1, 1), ns / 0.5);
    assert_near(convolution_ns(PLM_WORK_FP32, PLM_CONVOLUTION_BACKWARD_DATA, 1, 1, 1), ns / 0.25);
    assert_near(convolution_ns(PLM_WORK_FP32, PLM_CONVOLUTION_BACKWARD_FILTER, 1, 1, 1), ns / 0.25);
    assert_near(convolution_ns(PLM_WORK_FP32, PLM_CONVOLUTION_FORWARD, 2, 1, 1), 2 * ns / 0.5 / 0.1);
    assert_near(convolution_ns(PLM_WORK_FP32, PLM_CONVOLUTION_FORWARD, 1, 9, 1), ns / 0.5 / 4);
    assert_near(convolution_ns(PLM_WORK_FP32, PLM_CONVOLUTION_FORWARD, 1, 9, 2), ns / 0.5);
    assert_near(convolution_ns(PLM_WORK_FP32, PLM_CONVOLUTION_FORWARD, 1, 8, 1), ns / 0.5);
    assert_near(convolution_ns(PLM_WORK_FP32, PLM_CONVOLUTION_FORWARD, 2, 9, 1), 2 * ns / 0.5 / 0.1);
    assert_near(convolution_ns(PLM_WORK_FP16, PLM_CONVOLUTION_FORWARD, 1, 9, 1), ns / 0.5 / 10);
}

/* x of 3 MB and y of 1 MB, channels first: each is read and written for tensor cores. */
static void turning_round(void **state)
{
    struct plm_work w = convolution_work(PLM_WORK_FP16, 1, 1, 1);
    double last;
    (void)state;
    small_tiles();
    w.input = 3e6;
    w.output = 1e6;
    last = plm_cost(&machine, &w).ns;
    w.channels_last = false;
    assert_near(plm_cost(&machine, &w).ns - last, 8000);
    speeds.conv_turning = 0.5;
    assert_near(plm_cost(&machine, &w).ns - last, 4000);
    speeds.turning_ops = 100; /* of 2,000,000 elements, at 5,000 a ns */
    assert_near(plm_cost(&machine, &w).ns - last, 20000);
    w.type = PLM_WORK_FP32;
    assert_near(plm_cost(&machine, &w).ns, 131.072);
}

/* No product: 1e9 flops at a share of 10,000 a ns, or the bytes. */
static void depthwise(void **state)
{
    struct plm_work w = stream_work(PLM_WORK_DEPTHWISE, 8e6);
    (void)state;
    speeds.depthwise_efficiency = 0.5;
    speeds.depthwise_gradient_efficiency = 0.25;
    w.flops = 1e9;
    assert_cost(plm_cost(&machine, &w), 200, PLM_BOUND_COMPUTE);
    w.operation = PLM_CONVOLUTION_BACKWARD_DATA;
    assert_cost(plm_cost(&machine, &w), 400, PLM_BOUND_COMPUTE);
    w.flops = 1e6;
    assert_cost(plm_cost(&machine, &w), 8 + 1, PLM_BOUND_BANDWIDTH);
}

/* ---- attention and recurrent networks ---- */

/* Five heads of 100 queries, 70 keys and 40 numbers: tiles of 64 x 64 x 32 make 128 x 128 x 64 of it. A block of 128
   queries is on one multiprocessor, so that half of ten have nothing to do. */
static void attention(void **state)
{
    struct plm_work w = {.class = PLM_WORK_ATTENTION,
                         .type = PLM_WORK_FP16,
                         .m = 100,
                         .n = 70,
                         .k = 40,
                         .batch = 5,
                         .flops = 4.0 * 100 * 70 * 40 * 5,
                         .read = 6e5,
                         .written = 4e5,
                         .sized = true};
    const double padded = 4.0 * 128 * 128 * 64 * 5;
    struct plm_cost cost;
    (void)state;
    speeds.tensor_efficiency = 0.5;
    speeds.attention_efficiency = 0.02;
    speeds.attention_gradient_efficiency = 0.01;
    machine_again();
    cost = plm_cost(&machine, &w);
    assert_cost(cost, 1 + padded / 100000 / 0.01 * 2 / 1e3, PLM_BOUND_COMPUTE);
    assert_true(cost.known);
    assert_near(activity(cost, SMACT), 0.5);
    assert_near(activity(cost, SMOCC), 0.5 * 8 / 64);
    assert_near(activity(cost, TENSO), padded / 100000 / cost.ns);
    assert_near(activity(cost, DRAMA), 1000 / cost.ns);
    w.operation = PLM_ATTENTION_BACKWARD;
    assert_cost(plm_cost(&machine, &w), 1 + padded / 100000 / 0.005 * 2 / 1e3, PLM_BOUND_COMPUTE);
    w.operation = PLM_ATTENTION_FORWARD;
    w.batch = 12; /* two rounds of ten for twelve */
    assert_cost(plm_cost(&machine, &w), 1 + padded / 100000 / 0.01 * 20 / 12 / 1e3, PLM_BOUND_COMPUTE);
    w.m = 129; /* two blocks a head: three rounds for 24 */
    w.flops = 4.0 * 129 * 70 * 40 * 12;
    assert_cost(plm_cost(&machine, &w), 1 + 4.0 * 192 * 128 * 64 * 12 / 100000 / 0.01 * 30 / 24 / 1e3,
                PLM_BOUND_COMPUTE);
    w.m = 100;
    w.flops = 4.0 * 100 * 70 * 40;
    w.batch = 1; /* alone it counts as eight at most: others run beside it */
    assert_cost(plm_cost(&machine, &w), 1 + 4.0 * 128 * 128 * 64 / 100000 / 0.01 * 8 / 1e3, PLM_BOUND_COMPUTE);
    speeds.attention_efficiency = 1.2;
    w.read = 2e6;
    assert_cost(plm_cost(&machine, &w), 1 + 2.4, PLM_BOUND_BANDWIDTH);
    w.read = 5e5;
    assert_cost(plm_cost(&machine, &w), 1 + 0.9, PLM_BOUND_LAUNCHES);
    w.sized = false;
    assert_false(plm_cost(&machine, &w).known);
}

/* A head without a size is counted as one of one number; without queries nothing is padded. */
static void attention_without_sizes(void **state)
{
    struct plm_work w = {.class = PLM_WORK_ATTENTION, .type = PLM_WORK_FP16, .m = 128, .n = 64, .k = 0, .batch = 10};
    (void)state;
    speeds.floor_us = 0;
    w.flops = 1e9;
    assert_true(plm_cost(&machine, &w).ns <= 0); /* 0 of its tiles' numbers */
    w.m = 0;
    w.k = 32;
    w.flops = 1e6;
    assert_true(isfinite(plm_cost(&machine, &w).ns));
}

/* Ten steps of one product each, with 1,000,000 flops beside them; gradients take a fifth longer, those of the weights
   are one product over all steps. */
static void recurrent(void **state)
{
    struct plm_work w = {.class = PLM_WORK_RNN,
                         .type = PLM_WORK_FP32,
                         .bytes_per = 4,
                         .m = 320,
                         .n = 32,
                         .k = 64,
                         .batch = 10,
                         .flops = 2.0 * 320 * 32 * 64 * 10 + 1e6,
                         .sized = true};
    const double step = 131.072, all = 2.0 * 320 * 32 * 64 * 10;
    (void)state;
    speeds.simt_efficiency = 0.5;
    speeds.tensor_efficiency = 0.25;
    small_tiles();
    w.operation = PLM_RNN_TRAINING;
    assert_near(plm_cost(&machine, &w).ns, 2 * step * 10 + 1e6 / 5000);
    w.operation = PLM_RNN_BACKWARD_DATA;
    assert_near(plm_cost(&machine, &w).ns, 1.2 * 2 * step * 10 + 1e6 / 5000);
    w.operation = PLM_RNN_BACKWARD_WEIGHTS;
    assert_near(plm_cost(&machine, &w).ns, 1.2 * (2 * step + all / 5000) + 1e6 / 5000);
    w.type = PLM_WORK_FP16;
    w.operation = PLM_RNN_INFERENCE;
    assert_near(plm_cost(&machine, &w).ns, 4 * step / 10 * 10 + 1e6 / 25000);
    w.flops = 1; /* less than its steps have: there is nothing beside them */
    assert_near(plm_cost(&machine, &w).ns, 4 * step / 10 * 10);
    w.bytes_per = 255; /* the states' weights are read in each step: 32 x 64 numbers */
    card.bandwidth_gbs = 1;
    machine_again();
    assert_near(plm_cost(&machine, &w).ns, 32.0 * 64 * 255 * 10);
}

/* ---- between memories and cards ---- */

static struct plm_cost copied(enum plm_copy_direction operation, bool pinned)
{
    const struct plm_work w = {.class = PLM_WORK_COPY,
                               .operation = (uint8_t)operation,
                               .pinned = pinned,
                               .read = operation == PLM_COPY_FILL ? 0 : 1e6,
                               .written = 1e6};
    return plm_cost(&machine, &w);
}

static void copies(void **state)
{
    (void)state;
    speeds.pcie_efficiency = 0.5;
    speeds.collective_efficiency = 0.8;
    machine_again();
    for (int i = 0; i < 2; i++) {
        const enum plm_copy_direction way = i ? PLM_COPY_DEVICE_TO_HOST : PLM_COPY_HOST_TO_DEVICE;
        assert_cost(copied(way, true), 1 + 1e3 / (16 * 1.969 * 0.5), PLM_BOUND_COPIES);
        assert_cost(copied(way, false), 1 + 1e3 / 4, PLM_BOUND_COPIES);
        assert_true(copied(way, true).known && copied(way, false).known);
    }
    assert_cost(copied(PLM_COPY_PEER, false), 1 + 1e3 / 80, PLM_BOUND_COPIES);
    assert_cost(copied(PLM_COPY_DEVICE_TO_DEVICE, false), 1 + 2, PLM_BOUND_COPIES);
    assert_cost(copied(PLM_COPY_FILL, false), 1 + 1, PLM_BOUND_COPIES);
    assert_true(copied(PLM_COPY_HOST_TO_HOST, false).ns <= 0);
    assert_near(activity(copied(PLM_COPY_PEER, false), GPUTL), 1);
    assert_true(activity(copied(PLM_COPY_PEER, false), GRACT) <= 0); /* no engine that computes */
}

/* Without NVLink by the host's link, which may be slower than pageable memory; without either that is said. */
static void copies_over_other_links(void **state)
{
    (void)state;
    card.nvlink_gbs = 0;
    machine_again();
    assert_cost(copied(PLM_COPY_PEER, false), 1 + 1e3 / (16 * 1.969), PLM_BOUND_COPIES);
    card.pcie_lanes = 1;
    card.pcie_generation = 1;
    machine_again();
    assert_cost(copied(PLM_COPY_HOST_TO_DEVICE, false), 1 + 1e3 / 0.25, PLM_BOUND_COPIES);
    card.pcie_lanes = 0;
    machine_again();
    assert_cost(copied(PLM_COPY_HOST_TO_DEVICE, false), 1 + 1e3 / 4, PLM_BOUND_COPIES);
    assert_cost(copied(PLM_COPY_HOST_TO_DEVICE, true), 1 + 1e3 / 4, PLM_BOUND_COPIES);
    assert_true(copied(PLM_COPY_HOST_TO_DEVICE, false).known);
    assert_false(copied(PLM_COPY_HOST_TO_DEVICE, true).known);
    assert_false(copied(PLM_COPY_PEER, true).known);
    assert_cost(copied(PLM_COPY_PEER, true), 1, PLM_BOUND_COPIES);
}

static struct plm_cost sent(enum plm_collective operation, uint32_t ranks)
{
    const struct plm_work w = {.class = PLM_WORK_COLLECTIVE, .operation = (uint8_t)operation, .m = ranks, .read = 1e6};
    return plm_cost(&machine, &w);
}

/* 1 MB of each of four ranks at 50 bytes a ns: parts of it that a rank sends, and steps of 100 us each. As NCCL's rings
   have it. */
static void steps_of_rings(void **state)
{
    static const struct {
        enum plm_collective operation;
        double parts, steps;
    } expected[] = {{PLM_COLLECTIVE_ALL_REDUCE, 1.5, 6}, {PLM_COLLECTIVE_REDUCE_SCATTER, 3, 3},
                    {PLM_COLLECTIVE_ALL_GATHER, 3, 3},   {PLM_COLLECTIVE_ALL_TO_ALL, 3, 3},
                    {PLM_COLLECTIVE_GATHER, 3, 1},       {PLM_COLLECTIVE_SCATTER, 3, 1},
                    {PLM_COLLECTIVE_REDUCE, 1, 3},       {PLM_COLLECTIVE_BROADCAST, 1, 3},
                    {PLM_COLLECTIVE_SEND, 1, 1},         {PLM_COLLECTIVE_RECEIVE, 1, 1}};
    (void)state;
    speeds.collective_latency_us = 100;
    speeds.collective_efficiency = 0.5;
    card.sms = 32;
    machine_again();
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct plm_cost cost = sent(expected[i].operation, 4);
        assert_cost(cost, 1 + expected[i].steps * 100 + expected[i].parts * 20, PLM_BOUND_COMMUNICATION);
        assert_true(cost.known);
        assert_near(activity(cost, SMACT), 0.5); /* 16 blocks on 32 multiprocessors */
        assert_near(activity(cost, GPUTL), 1);
        assert_near(activity(cost, GRACT), 1);
        assert_cost(sent(expected[i].operation, 1), 1, PLM_BOUND_COMMUNICATION);
    }
    assert_cost(sent(PLM_COLLECTIVE_ALL_REDUCE, 2), 1 + 200 + 20, PLM_BOUND_COMMUNICATION);
    card.nvlink_gbs = 0;
    machine_again();
    assert_cost(sent(PLM_COLLECTIVE_SEND, 2), 1 + 100 + 1e3 / (16 * 1.969 * 0.5), PLM_BOUND_COMMUNICATION);
    card.pcie_lanes = 0;
    machine_again();
    assert_false(sent(PLM_COLLECTIVE_SEND, 2).known);
    assert_cost(sent(PLM_COLLECTIVE_SEND, 2), 1, PLM_BOUND_COMMUNICATION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(machine_of_a_card, begin),
        cmocka_unit_test_setup(peaks_of_a_card, begin),
        cmocka_unit_test_setup(a_card_without_multiprocessors, begin),
        cmocka_unit_test_setup(bytes_through_the_cache, begin),
        cmocka_unit_test_setup(bytes_that_threads_have_under_way, begin),
        cmocka_unit_test_setup(streams, begin),
        cmocka_unit_test_setup(a_grid_that_a_library_chooses, begin),
        cmocka_unit_test_setup(instructions_of_a_class, begin),
        cmocka_unit_test_setup(tiles, begin),
        cmocka_unit_test_setup(products_in_parts, begin),
        cmocka_unit_test_setup(steps_of_a_tile, begin),
        cmocka_unit_test_setup(what_bounds_a_product, begin),
        cmocka_unit_test_setup(occupancy_of_tensor_cores, begin),
        cmocka_unit_test_setup(rows_of_tensor_cores, begin),
        cmocka_unit_test_setup(bytes_of_a_product, begin),
        cmocka_unit_test_setup(shares_of_convolutions, begin),
        cmocka_unit_test_setup(turning_round, begin),
        cmocka_unit_test_setup(depthwise, begin),
        cmocka_unit_test_setup(attention, begin),
        cmocka_unit_test_setup(attention_without_sizes, begin),
        cmocka_unit_test_setup(recurrent, begin),
        cmocka_unit_test_setup(copies, begin),
        cmocka_unit_test_setup(copies_over_other_links, begin),
        cmocka_unit_test_setup(steps_of_rings, begin),
    };
    return RUN(tests);
}
