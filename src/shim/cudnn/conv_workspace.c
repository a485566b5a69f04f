/*
 * The formula has sizes decoded from real allocator traces: tensor-core kernels work on copies of their operands in
 * another layout, so a workspace is a sum of the bytes of input (x), output (y) and filter (w), and the gradient of a
 * filter may be summed up in parts. Which sum cuDNN picks for a shape is not known in general: `expected` has those that
 * did best on runs that were held out, `most` the largest that was seen of each kind.
 */
#include "shim/cudnn/conv_workspace.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "stack/stack_file.h"

enum kind { STEM, STEM_7X7, DEPTHWISE_LAST, GROUPED, POINTWISE_THIN, POINTWISE_STRIDED, POINTWISE, DENSE, KINDS };

/* Operands that are copied. XE: the part of x that the filter touches. X4, W4: padded to 4 channels. PARTS: partial
   sums of a filter's gradient. IMAGES: a filter's gradient for each image, with 384 KiB to sum it up, and 15.5 MiB. */
enum { X = 1, Y = 2, W = 4, XE = 8, X4 = 16, W4 = 32, PARTS = 64, IMAGES = 128 };

static const unsigned char expected[KINDS][3] = {
    /*                       forward  backward data  backward filter */
    [STEM] = {0, 0, 0},
    [STEM_7X7] = {0, 0, X4 | W4 | Y},
    [DEPTHWISE_LAST] = {0, 0, X},
    [GROUPED] = {0, 0, X | Y | W},
    [POINTWISE_THIN] = {0, 0, 0},
    [POINTWISE_STRIDED] = {X | W, X | Y | W, X | Y},
    [POINTWISE] = {X | W, X | Y | W, X | Y | W},
    [DENSE] = {0, XE | Y | W, X | Y | W},
};

static const unsigned char most[KINDS][3] = {
    [STEM] = {X4 | W4, X4 | W4 | Y, X4 | W4 | Y},
    [STEM_7X7] = {X4 | W4, X4 | W4 | Y, X4 | W4 | Y},
    [DEPTHWISE_LAST] = {0, 0, X | PARTS},
    [GROUPED] = {X | W, X | Y | W, X | Y | W | PARTS},
    [POINTWISE_THIN] = {X | W, X | Y | W, X | Y | W | PARTS | IMAGES},
    [POINTWISE_STRIDED] = {X | W, X | Y | W, X | Y | W | PARTS},
    [POINTWISE] = {X | W, X | Y | W, X | Y | W | PARTS | IMAGES},
    [DENSE] = {X | Y | W, XE | Y | W, X | Y | W | PARTS},
};

enum { SPLITS = 14, STEM_CHANNELS = 3, THIN = 128 };
static const uint64_t image_scratch = 384 << 10, image_fixed = 31 << 19;

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
        return s->filter[1] == 7 && s->filter[2] == 7 ? STEM_7X7 : STEM;
    if (!all_equal(s->filter, 1))
        return DENSE;
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
    uint64_t total = 0;
    for (size_t i = 0; i < sizeof operand / sizeof operand[0]; i++)
        if (wanted & operand[i].what)
            total += operand[i].bytes;
    return wanted & IMAGES && summed > total ? summed : total;
}

/* Without tensor cores nothing is converted; half precision in NHWC is in the right layout already. */
static bool converts(const struct plm_conv_shape *s)
{
    if (s->element_bytes > 4 || (s->element_bytes == 4 && !s->tf32))
        return false;
    return s->element_bytes > 2 || !s->channels_last;
}

void plm_conv_model(const struct plm_conv_shape *s, uint64_t *bytes, uint64_t *high)
{
    const enum kind kind = kind_of(s);
    const unsigned kept = converts(s) ? ~0u : PARTS | IMAGES;
    *bytes = sum(s, expected[kind][s->op] & kept);
    *high = sum(s, most[kind][s->op] & kept);
    *high = *high > *bytes ? *high : *bytes;
}

/*
 * Measured on single cards, far from the formula: operands as above and, for each image, so many bytes more. `less` is the
 * number of images up to which it was seen. Sizes of 0 are any.
 */
static const struct {
    int major, minor, sms;
    enum plm_conv_op op;
    int64_t c, k, side, filter, less;
    unsigned operands;
    uint64_t fixed, image;
} measured[] = {
    {8, 6, 28, PLM_CONV_BACKWARD_FILTER, 32, 16, 43, 1, 350, 0, 100 << 20, 1520435}, /* RTX 3060: 1.45 N + 100 MiB */
    {8, 9, 24, PLM_CONV_BACKWARD_FILTER, STEM_CHANNELS, 16, 0, 3, 0, X4 | W4 | Y, 0, 0}, /* RTX 4060 */
};

bool plm_conv_measured(const struct plm_conv_shape *s, const struct plm_card *card, uint64_t *bytes)
{
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
        if (card->major != measured[i].major || card->minor != measured[i].minor || card->sms != measured[i].sms ||
            s->op != measured[i].op || s->c != measured[i].c || s->k != measured[i].k || s->groups > 1)
            continue;
        if (s->axes != 2 || s->filter[1] != measured[i].filter || s->filter[2] != measured[i].filter)
            continue;
        if (measured[i].side && (s->in[1] != measured[i].side || s->in[2] != measured[i].side))
            continue;
        /* In single precision with tensor cores, channels first. */
        if (s->element_bytes != 4 || !s->tf32 || s->channels_last || (measured[i].less && s->n >= measured[i].less))
            continue;
        *bytes = sum(s, measured[i].operands) + measured[i].fixed + (uint64_t)s->n * measured[i].image;
        return true;
    }
    return false;
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

static bool look_up(const struct plm_conv_shape *s, struct plm_conv_answer *a)
{
    const struct plm_row_key key = plm_conv_key(s);
    const struct plm_stack_sizes found = plm_stack_file_find(plm_stack_in_use(), &key);
    if (!found.count)
        return false;
    a->source = PLM_CONV_SOURCE_TABLE;
    a->plans = found.count;
    a->fastest = found.fastest;
    memcpy(a->plan, found.bytes, (size_t)found.count * sizeof *found.bytes);
    return true;
}

void plm_conv_answer(const struct plm_conv_shape *s, struct plm_conv_answer *a)
{
    const enum plm_conv_source setting = chosen();
    *a = (struct plm_conv_answer){.source = setting, .plans = 1, .fastest = -1};
    if (setting == PLM_CONV_SOURCE_OFF || (setting == PLM_CONV_SOURCE_TABLE && look_up(s, a)))
        return;
    a->source = PLM_CONV_SOURCE_FORMULA;
    plm_conv_model(s, &a->plan[0], &a->most);
    if (plm_conv_measured(s, plm_device_card(plm_device_current()), &a->plan[0]) && a->most < a->plan[0])
        a->most = a->plan[0];
    a->plans = a->plan[0] ? 2 : 1; /* something always runs without a workspace, if more slowly */
}
