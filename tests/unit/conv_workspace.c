/* The workspace of a convolution: the table of the stack file first, then the formula. */
#include "shim/cudnn/conv_workspace.h"

#include <stdlib.h>

#include "common/card.h"
#include "unit.h"

static struct plm_conv_shape parsed(const char *text)
{
    struct plm_conv_shape shape;
    assert_true(plm_conv_parse(text, &shape));
    return shape;
}

#define REST " dilation 1x1 groups 1 fp32 tf32 nchw"

static const struct plm_card rtx3060 = {.major = 8, .minor = 6, .sms = 28}, a100 = {.major = 8, .minor = 0, .sms = 108};

static void check_model(const char *text, const struct plm_card *card, uint64_t bytes, uint64_t most)
{
    const struct plm_conv_shape shape = parsed(text);
    uint64_t got, got_most;
    plm_dnn_conv_model(&shape, card, &got, &got_most);
    if (got != bytes || got_most != most)
        fail_msg("%s: %llu and at most %llu", text, (unsigned long long)got, (unsigned long long)got_most);
}

static void formula(void **state)
{
    /* Bytes of one float times elements: x, y and w of each. */
    static const struct {
        const char *text;
        uint64_t bytes, most;
    } cases[] = {
        /* dense 3x3: x = 4*8*16*16, y = 4*16*16*16, w = 16*8*9; a kernel copies its two inputs */
        {"forward 4x8x16x16 16x8x3x3 stride 1x1 pad 1x1" REST, 4 * (8192 + 1152), 4 * (8192 + 1152)},
        {"backward-data 4x8x16x16 16x8x3x3 stride 1x1 pad 1x1" REST, 4 * (16384 + 1152), 4 * (8192 + 16384 + 1152)},
        {"backward-filter 4x8x16x16 16x8x3x3 stride 1x1 pad 1x1" REST, 4 * (8192 + 16384 + 1152),
         4 * (8192 + 16384 + 15 * 1152)},
        /* at most, of x only what the filter touches: stride 2 without padding leaves the last row and column */
        {"backward-data 1x8x16x16 8x8x3x3 stride 2x2 pad 0x0" REST, 4 * (8 * 7 * 7 + 576),
         4 * (8 * 15 * 15 + 8 * 7 * 7 + 576)},
        /* torch.nn.Conv2d: y has (16 + 2 * 0 - 2 * (3 - 1) - 1) / 1 + 1 = 12 rows and columns */
        {"backward-data 4x8x16x16 16x8x3x3 stride 1x1 pad 0x0 dilation 2x2 groups 1 fp32 tf32 nchw",
         4 * (4 * 16 * 12 * 12 + 1152), 4 * (8192 + 4 * 16 * 12 * 12 + 1152)},
        /* in groups: the same, with a filter of 4 channels */
        {"forward 4x8x16x16 16x4x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 2 fp32 tf32 nchw", 4 * (8192 + 576),
         4 * (8192 + 576)},
        {"backward-data 4x8x16x16 16x4x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 2 fp32 tf32 nchw", 4 * (16384 + 576),
         4 * (8192 + 16384 + 576)},
        /* patches that do not overlap: nothing is copied forward */
        {"forward 4x8x16x16 16x8x2x2 stride 2x2 pad 0x0" REST, 0, 4 * (8192 + 4096 + 512)},
        {"backward-data 4x8x16x16 16x8x2x2 stride 2x2 pad 0x0" REST, 4 * (4096 + 512), 4 * (8192 + 4096 + 512)},
        {"forward 4x8x16x16 16x8x2x2 stride 2x1 pad 0x0" REST, 4 * (8192 + 512), 4 * (8192 + 512)},
        /* thin 1x1: nothing, or a gradient for each image */
        {"forward 4x8x16x16 8x8x1x1 stride 1x1 pad 0x0" REST, 0, 4 * (8192 + 64)},
        {"backward-filter 4x8x16x16 8x8x1x1 stride 1x1 pad 0x0" REST, 0, 4 * (4 * 64 + (384 << 10)) + (31 << 19)},
        /* 1x1 of 128 channels; from 32 MiB of x and y on, it may be 128 MiB */
        {"forward 4x128x16x16 128x128x1x1 stride 1x1 pad 0x0" REST, 4 * (131072 + 16384), 4 * (131072 + 16384)},
        {"forward 127x128x16x16 128x128x1x1 stride 1x1 pad 0x0" REST, 4 * (127 * 32768 + 16384),
         4 * (127 * 32768 + 16384)},
        {"forward 128x128x16x16 128x128x1x1 stride 1x1 pad 0x0" REST, 4 * (128 * 32768 + 16384), 128 << 20},
        /* 3 channels: input and filter padded to 4, and the output, for the gradient of the filter alone */
        {"forward 2x3x8x8 16x3x3x3 stride 2x2 pad 1x1" REST, 0, 4 * (2 * 4 * 64 + 16 * 4 * 9)},
        {"backward-filter 2x3x8x8 16x3x3x3 stride 2x2 pad 1x1" REST, 4 * (2 * 4 * 64 + 16 * 4 * 9 + 2 * 16 * 16),
         4 * (2 * 4 * 64 + 16 * 4 * 9 + 2 * 16 * 16)},
        /* without tensor cores, and in half precision with channels last: no copies */
        {"backward-data 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 fp32 nchw", 0, 0},
        {"backward-filter 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 fp32 nchw", 0, 4 * 14 * 576},
        {"backward-data 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 fp16 nhwc", 0, 0},
        {"backward-data 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 bf16 nchw", 2 * (8192 + 576),
         2 * (8192 + 8192 + 576)},
        {"backward-data 4x8x16x16 8x8x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 1 fp64 nchw", 0, 0},
        /* 128 channels or more on both sides, or less on one: docs/workspaces.md */
        {"backward-data 2x128x8x8 127x128x1x1 stride 1x1 pad 0x0" REST, 0, 4 * (2 * 64 * (128 + 127) + 128 * 127)},
        {"backward-data 2x127x8x8 128x127x1x1 stride 1x1 pad 0x0" REST, 0, 4 * (2 * 64 * (128 + 127) + 128 * 127)},
        {"backward-data 2x128x8x8 128x128x1x1 stride 1x1 pad 0x0" REST, 4 * (2 * 64 * 128 + 128 * 128),
         4 * (2 * 64 * 256 + 128 * 128)},
        /* in groups with channels last, but not one for each channel */
        {"backward-filter 4x8x16x16 16x4x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 2 fp32 tf32 nhwc",
         4 * (8192 + 16384 + 576), 4 * (8192 + 16384 + 15 * 576)},
        /* depthwise, channels last */
        {"backward-filter 4x8x16x16 8x1x3x3 stride 1x1 pad 1x1 dilation 1x1 groups 8 fp32 tf32 nhwc", 4 * 8192,
         4 * (8192 + 14 * 72)},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        check_model(cases[i].text, &rtx3060, cases[i].bytes, cases[i].most);
}

/* No shape of one network on one card: where cards differ, they differ by their compute capability and for a whole kind. */
static void cards(void **state)
{
    static const char strided[] = "forward 2x128x16x16 128x128x1x1 stride 2x2 pad 0x0" REST;
    static const char thin[] = "backward-filter 128x32x43x43 16x32x1x1 stride 1x1 pad 0x0" REST;
    const uint64_t copied = 4 * (2 * 128 * 256 + 128 * 128), images = 128 * (4 * 512 + (384 << 10)) + (31 << 19);
    (void)state;
    check_model(strided, &rtx3060, copied, copied);
    check_model(strided, &a100, 0, copied);
    check_model(thin, &rtx3060, 0, images > 4 * 128 * 48 * 43 * 43 ? images : 4 * (128 * 48 * 43 * 43 + 15 * 512));
}

/* Sizes that no tensor has do not overflow into small ones that look right. */
static void absurd(void **state)
{
    struct plm_conv_shape shape = parsed("backward-filter 2147483647x2147483647x2147483647x2147483647 "
                                         "2147483647x2147483647x3x3 stride 1x1 pad 1x1" REST);
    uint64_t bytes, most;
    (void)state;
    plm_dnn_conv_model(&shape, &rtx3060, &bytes, &most);
    assert_true(bytes <= most && most < UINT64_MAX >> 8);
}

/* PLIMSOLL_STACK was set before the first question. */
static void table(void **state)
{
    struct plm_conv_shape known = parsed("forward 8x64x56x56 128x64x3x3 stride 1x1 pad 1x1" REST);
    struct plm_conv_shape unknown = parsed("backward-data 8x64x56x56 128x64x3x3 stride 1x1 pad 1x1" REST);
    struct plm_dnn_conv_answer a;
    (void)state;
    plm_dnn_conv_answer(&known, &a);
    assert_int_equal(a.source, PLM_CONV_SOURCE_TABLE);
    assert_true(a.plans == 3 && a.fastest == 2 && a.most == 0);
    assert_true(a.plan[0] == 8519681 && a.plan[1] == 0 && a.plan[2] == 134217729);
    plm_dnn_conv_answer(&unknown, &a);
    assert_int_equal(a.source, PLM_CONV_SOURCE_FORMULA);
    assert_true(a.plans == 2 && a.fastest < 0 && a.plan[0] > 0 && a.plan[1] == 0 && a.most >= a.plan[0]);
}

int main(void)
{
    static const char text[] = "[stack]\nname = x\nmade = measured\n[convolution]\n"
                               "forward 8x64x56x56 128x64x3x3 stride 1x1 pad 1x1" REST " = 8519681, 0, 134217729*\n";
    const struct CMUnitTest tests[] = {cmocka_unit_test(formula), cmocka_unit_test(cards), cmocka_unit_test(absurd),
                                       cmocka_unit_test(table)};
    unit_write(unit_path("table.ini"), text, sizeof text - 1);
    setenv("PLIMSOLL_STACK", unit_path("table.ini"), 1);
    return RUN(tests);
}
