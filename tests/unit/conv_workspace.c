/* The workspace of a convolution: the table of the stack file first, then the formula. */
#include "shim/cudnn/conv_workspace.h"

#include <stdlib.h>

#include "base/card.h"
#include "unit.h"

static struct plm_conv_shape parsed(const char *text)
{
    struct plm_conv_shape shape;
    assert_true(plm_conv_parse(text, &shape));
    return shape;
}

#define REST " dilation 1x1 groups 1 fp32 tf32 nchw"

static void formula(void **state)
{
    /* Bytes of one float times elements: x, y and w of each. */
    static const struct {
        const char *text;
        uint64_t bytes, most;
    } cases[] = {
        /* dense 3x3: x = y = 4*8*16*16, w = 8*8*9 */
        {"forward 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1" REST, 0, 4 * (8192 + 8192 + 576)},
        {"backward-data 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1" REST, 4 * (8192 + 8192 + 576), 4 * (8192 + 8192 + 576)},
        {"backward-filter 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1" REST, 4 * (8192 + 8192 + 576),
         4 * (8192 + 8192 + 15 * 576)},
        /* of x only what the filter touches: stride 2 without padding leaves the last row and column */
        {"backward-data 1x8x16x16 8x8x3x3 stride 2x2 pad 0x0" REST, 4 * (8 * 15 * 15 + 8 * 7 * 7 + 576),
         4 * (8 * 15 * 15 + 8 * 7 * 7 + 576)},
        /* thin 1x1: nothing, or a gradient for each image */
        {"forward 4x8x16x16 8x8x1x1 stride 1x1 pad 0x0" REST, 0, 4 * (8192 + 64)},
        {"backward-filter 4x8x16x16 8x8x1x1 stride 1x1 pad 0x0" REST, 0, 4 * (4 * 64 + (384 << 10)) + (31 << 19)},
        /* the same without tensor cores, and in half precision with channels last: no copies */
        {"backward-data 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 fp32 nchw", 0, 0},
        {"backward-filter 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 fp32 nchw", 0, 4 * 14 * 576},
        {"backward-data 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 fp16 nhwc", 0, 0},
        {"backward-data 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 bf16 nchw", 2 * (8192 + 8192 + 576),
         2 * (8192 + 8192 + 576)},
        {"backward-data 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 fp64 nchw", 0, 0},
        /* depthwise, channels last */
        {"backward-filter 4x8x16x16 8x1x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 8 fp32 tf32 nhwc", 4 * 8192,
         4 * (8192 + 14 * 72)},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct plm_conv_shape shape = parsed(cases[i].text);
        uint64_t bytes, most;
        plm_conv_model(&shape, &bytes, &most);
        if (bytes != cases[i].bytes || most != cases[i].most)
            fail_msg("%s: %llu and at most %llu", cases[i].text, (unsigned long long)bytes, (unsigned long long)most);
    }
}

/* Of single cards, and of these shapes only. */
static void measured(void **state)
{
    const struct plm_card rtx3060 = {.major = 8, .minor = 6, .sms = 28}, rtx4060 = {.major = 8, .minor = 9, .sms = 24};
    struct plm_conv_shape shape = parsed("backward-filter 128x32x43x43 16x32x1x1 stride 1x1 pad 0x0" REST);
    uint64_t bytes = 0;
    (void)state;
    assert_true(plm_conv_measured(&shape, &rtx3060, &bytes));
    assert_in_range(bytes, (uint64_t)(1.449 * 128 * MIB) + 100 * MIB, (uint64_t)(1.451 * 128 * MIB) + 100 * MIB);
    assert_false(plm_conv_measured(&shape, &rtx4060, &bytes));
    shape.n = 350;
    assert_false(plm_conv_measured(&shape, &rtx3060, &bytes));
    shape.n = 128;
    shape.channels_last = true;
    assert_false(plm_conv_measured(&shape, &rtx3060, &bytes));
    shape = parsed("forward 128x32x43x43 16x32x1x1 stride 1x1 pad 0x0" REST);
    assert_false(plm_conv_measured(&shape, &rtx3060, &bytes));
    /* 3 channels to 16: input and filter padded to 4 channels, and the output */
    shape = parsed("backward-filter 2x3x8x8 16x3x3x3 stride 2x2 pad 1x1" REST);
    assert_true(plm_conv_measured(&shape, &rtx4060, &bytes));
    assert_int_equal(bytes, 4 * (2 * 4 * 64 + 16 * 4 * 9 + 2 * 16 * 16));
}

/* Sizes that no tensor has do not overflow into small ones that look right. */
static void absurd(void **state)
{
    struct plm_conv_shape shape = parsed("backward-filter 2147483647x2147483647x2147483647x2147483647 "
                                         "2147483647x2147483647x3x3 stride 1x1 pad 1x1" REST);
    uint64_t bytes, most;
    (void)state;
    plm_conv_model(&shape, &bytes, &most);
    assert_true(bytes <= most && most < UINT64_MAX >> 8);
}

/* PLIMSOLL_STACK was set before the first question. */
static void table(void **state)
{
    struct plm_conv_shape known = parsed("forward 8x64x56x56 128x64x3x3 stride 1x1 pad 1x1" REST);
    struct plm_conv_shape unknown = parsed("backward-data 8x64x56x56 128x64x3x3 stride 1x1 pad 1x1" REST);
    struct plm_conv_answer a;
    (void)state;
    plm_conv_answer(&known, &a);
    assert_int_equal(a.source, PLM_CONV_SOURCE_TABLE);
    assert_true(a.plans == 3 && a.fastest == 2 && a.most == 0);
    assert_true(a.plan[0] == 8519681 && a.plan[1] == 0 && a.plan[2] == 134217729);
    plm_conv_answer(&unknown, &a);
    assert_int_equal(a.source, PLM_CONV_SOURCE_FORMULA);
    assert_true(a.plans == 2 && a.fastest < 0 && a.plan[0] > 0 && a.plan[1] == 0 && a.most >= a.plan[0]);
}

int main(void)
{
    static const char text[] = "[stack]\nname = x\nmade = measured\n[convolution]\n"
                               "forward 8x64x56x56 128x64x3x3 stride 1x1 pad 1x1" REST " = 8519681, 0, 134217729*\n";
    const struct CMUnitTest tests[] = {cmocka_unit_test(formula), cmocka_unit_test(measured), cmocka_unit_test(absurd),
                                       cmocka_unit_test(table)};
    unit_write(unit_path("table.ini"), text, sizeof text - 1);
    setenv("PLIMSOLL_STACK", unit_path("table.ini"), 1);
    return RUN(tests);
}
