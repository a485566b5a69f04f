/*
 * The formula: a tensor-core kernel works on copies of its two inputs in another layout and writes its result where it
 * belongs. So a workspace is a sum of the bytes of input (x), output (y) and filter (w): x+w forward, y+w for the
 * gradient of the data, x+y for that of the filter, which is summed up in parts of w bytes. Which kinds of convolution
 * run so is not known in general: `expected` has what does best over the measured networks, `most` the largest that a
 * trace shows of each kind. docs/workspaces.md has both, and how they were chosen.
 */
#include "shim/cudnn/conv_workspace.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "stack/stack_file.h"

enum kind { STEM, DEPTHWISE_LAST, GROUPED, POINTWISE_THIN, POINTWISE_STRIDED, POINTWISE, PATCHES, DENSE, KINDS };

/* Operands that are copied. XE: the part of x that the filter touches. X4, W4: padded to 4 channels. PARTS: partial
   sums of a filter's gradient. IMAGES: a filter's gradient for each image, with 384 KiB to sum it up, and 15.5 MiB.
   FIXED: 128 MiB whatever the shape, for large ones. */
enum { X = 1, Y = 2, W = 4, XE = 8, X4 = 16, W4 = 32, PARTS = 64, IMAGES = 128, FIXED = 256 };

static const unsigned short expected[KINDS][3] = {
    /*                       forward  backward data  backward filter */
    [STEM] = {0, 0, X4 | W4 | Y},
    [DEPTHWISE_LAST] = {0, 0, X},
    [GROUPED] = {X | W, Y | W, X | Y | W},
    [POINTWISE_THIN] = {0, 0, 0},
    [POINTWISE_STRIDED] = {X | W, Y | W, X | Y | W},
    [POINTWISE] = {X | W, Y | W, X | Y | W},
    [PATCHES] = {0, Y | W, X | Y | W},
    [DENSE] = {X | W, Y | W, X | Y | W},
};

static const unsigned short most[KINDS][3] = {
    [STEM] = {X4 | W4, X4 | W4 | Y, X4 | W4 | Y},
    [DEPTHWISE_LAST] = {0, 0, X | PARTS},
    [GROUPED] = {X | W, X | Y | W, X | Y | W | PARTS},
    [POINTWISE_THIN] = {X | W | FIXED, X | Y | W, X | Y | W | PARTS | IMAGES},
    [POINTWISE_STRIDED] = {X | W, X | Y | W, X | Y | W | PARTS},
    [POINTWISE] = {X | W | FIXED, X | Y | W, X | Y | W | PARTS | IMAGES},
    [PATCHES] = {X | Y | W, XE | Y | W, X | Y | W | PARTS},
    [DENSE] = {X | W, XE | Y | W, X | Y | W | PARTS},
};

/* What some cards do otherwise. Measured on 8.0; that the other cards of the data centre do alike is assumed. */
static const struct {
    int major, minor;
    enum kind kind;
    enum plm_conv_op op;
    unsigned short expected;
} by_card[] = {
    {8, 0, POINTWISE_STRIDED, PLM_CONV_FORWARD, 0},
    {9, 0, POINTWISE_STRIDED, PLM_CONV_FORWARD, 0},
    {10, 0, POINTWISE_STRIDED, PLM_CONV_FORWARD, 0},
};

enum { SPLITS = 14, STEM_CHANNELS = 3, THIN = 128 };
static const uint64_t image_scratch = 384 << 10, image_fixed = 31 << 19;
static const uint64_t fixed = 128 << 20, fixed_from = 32 << 20; /* seen where x and y have so many bytes together */

static bool all_equal(const int64_t *axis, int64_t value)
{
    for (int i = 0; i < PLM_CONV_AXES; i++)
        if (axis[i] != value)
            return false;
    return true;
}

static enum kind kind_of(const struct plm_conv_shape *s)
{
    if (s->groups > 1)
        return s->groups == s->c && s->channels_last ? DEPTHWISE_LAST : GROUPED;
    if (s->c == STEM_CHANNELS)
        return STEM;
    if (!all_equal(s->filter, 1))
        return memcmp(s->filter, s->stride, sizeof s->filter) ? DENSE : PATCHES;
    if (s->c < THIN || s->k < THIN)
        return POINTWISE_THIN;
    return all_equal(s->stride, 1) ? POINTWISE : POINTWISE_STRIDED;
}

/* Bytes of a tensor; a product that overflows is no real tensor and needs no copy. */
static uint64_t bytes_of(int element_bytes, int64_t outer, int64_t channels, const int64_t *axis)
{
    uint64_t bytes = (uint64_t)element_bytes;
    const int64_t factors[] = {outer, channels, axis[0], axis[1], axis[2]};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++)
        if (factors[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)factors[i], &bytes) || bytes > UINT64_MAX >> 16)
            return 0;
    return bytes;
}

static int64_t touched(const struct plm_conv_shape *s, int axis)
{
    int64_t last = (s->out[axis] - 1) * s->stride[axis] + (s->filter[axis] - 1) * s->dilation[axis] + 1 - s->pad[axis];
    return last < s->in[axis] ? last : s->in[axis];
}

static uint64_t sum(const struct plm_conv_shape *s, unsigned wanted)
{
    const int64_t extent[PLM_CONV_AXES] = {touched(s, 0), touched(s, 1), touched(s, 2)};
    const int64_t group_channels = s->groups > 0 ? s->c / s->groups : s->c;
    /* Partial sums are single precision whatever the filter is. */
    const uint64_t partial = bytes_of(s->element_bytes < 4 ? 4 : s->element_bytes, s->k, group_channels, s->filter);
    const uint64_t images = s->n > 0 && s->n < INT32_MAX ? (uint64_t)s->n : 0;
    const struct {
        unsigned what;
        uint64_t bytes;
    } operand[] = {
        {X, bytes_of(s->element_bytes, s->n, s->c, s->in)},
        {Y, bytes_of(s->element_bytes, s->n, s->k, s->out)},
        {W, bytes_of(s->element_bytes, s->k, group_channels, s->filter)},
        {XE, bytes_of(s->element_bytes, s->n, s->c, extent)},
        {X4, bytes_of(s->element_bytes, s->n, STEM_CHANNELS + 1, s->in)},
        {W4, bytes_of(s->element_bytes, s->k, STEM_CHANNELS + 1, s->filter)},
        {PARTS, SPLITS * partial},
    };
    const uint64_t summed = images * ((partial < UINT32_MAX ? partial : 0) + image_scratch) + image_fixed;
    const bool large = operand[0].bytes + operand[1].bytes >= fixed_from;
    uint64_t total = 0;
    for (size_t i = 0; i < sizeof operand / sizeof operand[0]; i++)
        if (wanted & operand[i].what)
            total += operand[i].bytes;
    if (wanted & IMAGES && summed > total)
        total = summed;
    return wanted & FIXED && large && fixed > total ? fixed : total;
}

/* Without tensor cores nothing is converted; half precision in NHWC is in the right layout already. */
static bool converts(const struct plm_conv_shape *s)
{
    if (s->element_bytes > 4 || (s->element_bytes == 4 && !s->tf32))
        return false;
    return s->element_bytes > 2 || !s->channels_last;
}

static unsigned expected_of(const struct plm_conv_shape *s, enum kind kind, const struct plm_card *card)
{
    for (size_t i = 0; i < sizeof by_card / sizeof by_card[0]; i++)
        if (by_card[i].kind == kind && by_card[i].op == s->op && by_card[i].major == card->major &&
            by_card[i].minor == card->minor)
            return by_card[i].expected;
    return expected[kind][s->op];
}

void plm_dnn_conv_model(const struct plm_conv_shape *s, const struct plm_card *card, uint64_t *bytes, uint64_t *high)
{
    const enum kind kind = kind_of(s);
    const unsigned kept = converts(s) ? ~0u : PARTS | IMAGES;
    *bytes = sum(s, expected_of(s, kind, card) & kept);
    *high = sum(s, most[kind][s->op] & kept);
    *high = *high > *bytes ? *high : *bytes;
}

static enum plm_conv_source chosen(void)
{
    static const struct {
        const char *name;
        enum plm_conv_source most;
    } settings[] = {{"none", PLM_CONV_SOURCE_OFF}, {"model", PLM_CONV_SOURCE_FORMULA}};
    static atomic_int setting = -1; /* threads that race read the same environment */
    int now = atomic_load_explicit(&setting, memory_order_relaxed);
    if (now < 0) {
        const char *text = getenv("PLIMSOLL_CONV_WORKSPACE");
        now = PLM_CONV_SOURCE_TABLE;
        for (size_t i = 0; text && i < sizeof settings / sizeof settings[0]; i++)
            now = strcmp(text, settings[i].name) ? now : (int)settings[i].most;
        atomic_store_explicit(&setting, now, memory_order_relaxed);
    }
    return (enum plm_conv_source)now;
}

/* A plan is the choice of one cuDNN. Rows that were measured count for others too, and the report says so; what was only
   written down does not. */
static bool holds(const struct plm_stack_file *stack)
{
    const int version = plm_software()->cudnn;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    return !stack || stack->made != PLM_STACK_WRITTEN || !stack->cudnn[0] || !strcmp(stack->cudnn, text);
}

static bool look_up(const struct plm_conv_shape *s, struct plm_dnn_conv_answer *a)
{
    const struct plm_stack_row_key key = plm_conv_key(s);
    const struct plm_stack_sizes found = plm_stack_file_find(plm_stack_in_use(), &key);
    if (!found.count || !holds(plm_stack_in_use()))
        return false;
    a->source = PLM_CONV_SOURCE_TABLE;
    a->plans = found.count;
    a->fastest = found.fastest;
    memcpy(a->plan, found.bytes, (size_t)found.count * sizeof *found.bytes);
    return true;
}

void plm_dnn_conv_answer(const struct plm_conv_shape *s, struct plm_dnn_conv_answer *a)
{
    const enum plm_conv_source setting = chosen();
    *a = (struct plm_dnn_conv_answer){.source = setting, .plans = 1, .fastest = -1};
    if (setting == PLM_CONV_SOURCE_OFF || (setting == PLM_CONV_SOURCE_TABLE && look_up(s, a)))
        return;
    a->source = PLM_CONV_SOURCE_FORMULA;
    plm_dnn_conv_model(s, plm_device_card(plm_device_current()), &a->plan[0], &a->most);
    a->plans = a->plan[0] ? 2 : 1; /* something always runs without a workspace, if more slowly */
}
