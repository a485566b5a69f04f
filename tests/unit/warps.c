/* Resident warps of products, on a card of ten multiprocessors: waves that can be counted. */
#include <math.h>

#include "common/card.h"
#include "common/error.h"
#include "time/cost.h"
#include "time/speeds.h"
#include "unit.h"

static const struct plm_card card = {.id = "round",
                                     .sms = 10,
                                     .bandwidth_gbs = 1000,
                                     .fp32_tflops = 10,
                                     .max_threads_per_sm = 2048,
                                     .max_blocks_per_sm = 32};
static struct plm_speeds speeds;
static struct plm_machine machine;
#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-6)

/* Nothing is lost but by the choice of a kernel: `chosen` is the quickest by far. */
static void choose(int chosen)
{
    struct plm_error error;
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        plm_speed_set(&speeds, &plm_speed[i], fmin(fmax(1, plm_speed[i].least), plm_speed[i].most));
    for (int i = PLM_SPEED_simt_256x128; i <= PLM_SPEED_simt_32x32; i++)
        plm_speed_set(&speeds, &plm_speed[i], i == chosen ? 2 : 0.05);
    speeds.floor_us = speeds.prologue_us = 0;
    speeds.simt_spread = 0.01;
    assert_int_equal(plm_machine_make(&card, &speeds, &machine, &error), 0);
}

static double warps(double m, double n)
{
    const struct plm_product p = {m, n, 64, 1, PLM_WORK_FP32, 1, 0};
    return plm_cost_warps(&machine, &p);
}

/* Full waves: blocks that fit, times their warps. */
static void test_full(void **state)
{
    (void)state;
    choose(PLM_SPEED_simt_128x128);
    NEAR(warps(1280, 1280), 2 * 8); /* 100 blocks: five waves of 20 */
    choose(PLM_SPEED_simt_64x64);
    NEAR(warps(640, 768), 6 * 4); /* 120 blocks: two waves of 60 */
    choose(PLM_SPEED_simt_128x64);
    NEAR(warps(1280, 1280), 4 * 4); /* 200 blocks: five waves of 40 */
}

/* The model's kernels without tensor cores, each by its name's tile; warps and blocks that fit only notice changes. One
   block is on one of ten multiprocessors, and a row or a column more makes two. Where both ways of a tile have the same
   rate, as many blocks of the other way take as long, and each is half of what is expected. */
static void test_kernels(void **state)
{
    static const struct {
        int rate;
        double m, n, warps, fit;
    } kernels[] = {
        {PLM_SPEED_simt_256x128, 256, 128, 8, 1}, {PLM_SPEED_simt_256x128, 128, 256, 8, 1},
        {PLM_SPEED_simt_128x128, 128, 128, 8, 2}, {PLM_SPEED_simt_128x64, 128, 64, 4, 4},
        {PLM_SPEED_simt_64x128, 64, 128, 4, 4},   {PLM_SPEED_simt_64x64, 64, 64, 4, 6},
        {PLM_SPEED_simt_128x32, 128, 32, 8, 4},   {PLM_SPEED_simt_128x32, 32, 128, 8, 4},
        {PLM_SPEED_simt_64x32, 64, 32, 4, 6},     {PLM_SPEED_simt_64x32, 32, 64, 4, 6},
        {PLM_SPEED_simt_32x32, 32, 32, 4, 5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        const double m = kernels[i].m, n = kernels[i].n, each = kernels[i].warps / 10;
        const bool pair = kernels[i].rate == PLM_SPEED_simt_256x128 || kernels[i].rate == PLM_SPEED_simt_128x32 ||
                          kernels[i].rate == PLM_SPEED_simt_64x32;
        choose(kernels[i].rate);
        for (int k = PLM_SPEED_simt_256x128; k <= PLM_SPEED_simt_32x32; k++)
            if (k != kernels[i].rate)
                plm_speed_set(&speeds, &plm_speed[k], 1e-3); /* also where they would have less to do */
        speeds.simt_spread = 0.1;
        for (int more = 0; more < 4; more++) {
            const double rows = m + (more & 1), columns = n + (more >> 1);
            const double one = ceil(rows / m) * ceil(columns / n), other = ceil(rows / n) * ceil(columns / m);
            NEAR(warps(rows, columns), each * (pair ? (one + other) / 2 : one));
        }
        NEAR(warps(m * n * 30, m * n * 30), kernels[i].warps * kernels[i].fit); /* full waves only */
    }
}

/* Cut along k: 2,048 in 2 to 16 parts, as long as a part has 128. The kernel of 32 x 32 at 2,000 flops a ns on each of
   ten takes 16 of k at a time; parts are added up through the memory, which is time without warps. */
static void test_parts(void **state)
{
    (void)state;
    for (int deep = 0; deep < 2; deep++) {
        const double k = deep ? 2048 : 256;
        const struct plm_product p = {32, 32, k, 1, PLM_WORK_FP32, 1, 0};
        double first = 0, weights = 0, sum = 0;
        choose(PLM_SPEED_simt_32x32);
        speeds.simt_spread = 1;
        for (int i = PLM_SPEED_simt_256x128; i < PLM_SPEED_simt_32x32; i++)
            plm_speed_set(&speeds, &plm_speed[i], 1e-9);
        speeds.thread_bytes = 1024;
        speeds.memory_latency_ns = 10;
        for (double parts = 1; parts <= (deep ? 16 : 2); parts *= 2) {
            const double block = 2 * 32 * 32 * ceil(k / parts / 16) * 16 / 2000, rounds = ceil(parts / 10);
            const double ns = rounds * block + (parts > 1 ? (parts + 1) * 32 * 32 * 4 / 1000 : 0);
            first = first > 0 ? first : ns;
            weights += first / ns;
            sum += first / ns * 4 * (rounds * block * parts / 10) / ns;
        }
        assert_true(fabs(plm_cost_warps(&machine, &p) - sum / weights) < 1e-4);
    }
}

/* The last wave has fewer: ten blocks after twenty, one on each multiprocessor, at half of the rate if a block alone
   gets no more than its share, so for as long as the full one. */
static void test_last(void **state)
{
    (void)state;
    choose(PLM_SPEED_simt_128x128);
    speeds.simt_alone = 0;
    NEAR(warps(1280, 384), (16 + 8) / 2.0);
    speeds.simt_alone = 1; /* half as long */
    NEAR(warps(1280, 384), (16 * 2 + 8) / 3.0);
    NEAR(warps(128 * 5, 128), 4); /* five of ten have a block */
}

/* Between kernels that are equally quick nothing tells which it is. */
static void test_between(void **state)
{
    (void)state;
    choose(PLM_SPEED_simt_128x128);
    speeds.simt_128x64 = speeds.simt_128x128;
    speeds.simt_128x32 = 0.05;
    NEAR(warps(2560, 2560), 16);
    choose(PLM_SPEED_simt_256x128); /* both ways of it: 1 block of 8 */
    speeds.simt_128x128 = speeds.simt_256x128;
    NEAR(warps(2560, 2560), (8 + 8 + 16) / 3.0);
}

/* What starts and ends a kernel is time without warps. */
static void test_start(void **state)
{
    const double full_ns = 2.0 * 1280 * 1280 * 64 / (10000 * 2);
    (void)state;
    choose(PLM_SPEED_simt_128x128);
    speeds.floor_us = full_ns / 1000;
    NEAR(warps(1280, 1280), 8);
}

/* Kernels that stream: blocks are spread over all multiprocessors, some of which have one more than others. */
static void test_spread(void **state)
{
    static const struct {
        uint32_t grid, block;
        double active, warps;
    } cases[] = {
        {5, 256, 0.5, 4}, /* five of ten have a block of eight warps */
        {15, 256, 1, 12}, /* five have two, five have one */
        {40, 256, 1, 32}, /* four each */
        {1000, 256, 1, 64}, /* more than fit: eight each */
        {1000, 1000, 1, 64}, /* 32 warps, of which the last is not full: two fit */
        {1000, 2048, 1, 64},
    };
    (void)state;
    choose(PLM_SPEED_simt_128x128);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plm_cost cost = {0};
        plm_cost_resident(&machine, cases[i].grid, cases[i].block, 0, &cost);
        NEAR(cost.activity[PLM_METRIC_SMACT], cases[i].active);
        NEAR(cost.activity[PLM_METRIC_SMOCC], cases[i].warps / 64);
    }
    speeds.occupancy_share = 0.5;
    struct plm_cost half = {0};
    plm_cost_resident(&machine, 40, 256, 0, &half);
    NEAR(half.activity[PLM_METRIC_SMOCC], 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full),   cmocka_unit_test(test_kernels), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_last),   cmocka_unit_test(test_between), cmocka_unit_test(test_start),
        cmocka_unit_test(test_spread),
    };
    return RUN(tests);
}
