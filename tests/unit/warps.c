/* Resident warps of products, on a card of ten multiprocessors: waves that can be counted. */
#include <math.h>

#include "base/card.h"
#include "base/error.h"
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
        {5, 256, 0.5, 4},     /* five of ten have a block of eight warps */
        {15, 256, 1, 12},     /* five have two, five have one */
        {40, 256, 1, 32},     /* four each */
        {1000, 256, 1, 64},   /* more than fit: eight each */
        {1000, 1000, 1, 64},  /* 32 warps, of which the last is not full: two fit */
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
        cmocka_unit_test(test_full),  cmocka_unit_test(test_last),   cmocka_unit_test(test_between),
        cmocka_unit_test(test_start), cmocka_unit_test(test_spread),
    };
    return RUN(tests);
}
