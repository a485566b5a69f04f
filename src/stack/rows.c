#include "stack/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *name;
    int type, bytes; /* cudnnDataType_t */
} types[] = {{"fp32", 0, 4}, {"fp64", 1, 8}, {"fp16", 2, 2}, {"bf16", 9, 2}};

static const char *const operations[] = {"forward", "backward-data", "backward-filter"};
static const char *const layouts[] = {"nchw", "nhwc"};
static const char *const cells[] = {"relu", "tanh", "lstm", "gru"};
static const char *const uses[] = {"inference", "training"};
static const char *const kinds[] = {"c2c", "r2c", "c2r"};

enum { SIZES_MOST = 5 };

/* ---- writing ---- */

struct out {
    char *at;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void put(struct out *o, const char *format, ...)
{
    va_list list;
    int n;
    if (o->used >= o->size)
        return;
    va_start(list, format);
    n = vsnprintf(o->at + o->used, o->size - o->used, format, list);
    va_end(list);
    o->used = n < 0 ? o->size : o->used + (size_t)n;
}

static void put_sizes(struct out *o, const int64_t *size, int count)
{
    for (int i = 0; i < count; i++)
        put(o, "%s%lld", i ? "x" : "", (long long)size[i]);
}

static const char *type_name(int type)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i].type == type)
            return types[i].name;
    return NULL;
}

bool plm_conv_text(const struct plm_conv_shape *s, char *text, size_t size)
{
    struct out o = {text, size, 0};
    const char *type = type_name(s->type);
    const int first = PLM_CONV_AXES - s->axes;
    if (!type || s->axes < 1 || s->axes > PLM_CONV_AXES || s->groups < 1 || (size_t)s->op >= COUNT(operations))
        return false;
    put(&o, "%s %lldx%lldx", operations[s->op], (long long)s->n, (long long)s->c);
    put_sizes(&o, s->in + first, s->axes);
    put(&o, " %lldx%lldx", (long long)s->k, (long long)(s->c / s->groups));
    put_sizes(&o, s->filter + first, s->axes);
    put(&o, " stride ");
    put_sizes(&o, s->stride + first, s->axes);
    put(&o, " pad ");
    put_sizes(&o, s->pad + first, s->axes);
    put(&o, " dilation ");
    put_sizes(&o, s->dilation + first, s->axes);
    put(&o, " groups %lld %s%s %s", (long long)s->groups, type, s->tf32 && s->type == 0 ? " tf32" : "",
        layouts[s->channels_last]);
    return o.used < size;
}

bool plm_rnn_text(const struct plm_rnn_shape *s, char *text, size_t size)
{
    struct out o = {text, size, 0};
    const char *type = type_name(s->type);
    if (!type || (size_t)s->cell >= COUNT(cells))
        return false;
    put(&o, "%s layers %lld directions %lld input %lld hidden %lld output %lld steps %lld batch %lld %s %s%s%s",
        cells[s->cell], (long long)s->layers, (long long)s->directions, (long long)s->input, (long long)s->hidden,
        (long long)s->output, (long long)s->steps, (long long)s->batch, type, uses[s->training],
        s->dropout ? " dropout" : "", s->bias ? "" : " no-bias");
    return o.used < size;
}

bool plm_fft_text(const struct plm_fft_shape *s, char *text, size_t size)
{
    struct out o = {text, size, 0};
    if (s->rank < 1 || s->rank > PLM_FFT_RANK || (size_t)s->kind >= COUNT(kinds))
        return false;
    put(&o, "%s ", kinds[s->kind]);
    put_sizes(&o, s->n, s->rank);
    put(&o, " batch %lld %s", (long long)s->batch,
        s->complex_bytes == 4   ? "fp16"
        : s->complex_bytes == 8 ? "fp32"
                                : "fp64");
    return o.used < size;
}

/* ---- reading ---- */

/* A word of the text; advances. Words are separated by one or more blanks. */
static bool read_word(const char **at, char *out, size_t size)
{
    size_t n;
    *at += strspn(*at, " \t");
    n = strcspn(*at, " \t");
    if (!n || n >= size)
        return false;
    memcpy(out, *at, n);
    out[n] = '\0';
    *at += n;
    return true;
}

/* The index of the next word among `names`; -1, and nothing is consumed, if it is none of them. */
static int read_one_of(const char **at, const char *const *names, size_t count)
{
    const char *from = *at;
    char text[32];
    if (read_word(at, text, sizeof text))
        for (size_t i = 0; i < count; i++)
            if (!strcmp(text, names[i]))
                return (int)i;
    *at = from;
    return -1;
}

static bool read_literal(const char **at, const char *name)
{
    return read_one_of(at, &name, 1) == 0;
}

static bool read_number(const char **at, int64_t least, int64_t *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return *out >= least && *out <= INT32_MAX;
}

/* "3x224x224"; the number of its parts, 0 if it is nothing of the kind. */
static int read_sizes(const char **at, int64_t least, int64_t *out, int most)
{
    int n = 0;
    *at += strspn(*at, " \t");
    do {
        if (n == most || !read_number(at, least, &out[n]))
            return 0;
        n++;
    } while (*(*at)++ == 'x');
    --*at;
    return **at == '\0' || **at == ' ' || **at == '\t' ? n : 0;
}

static bool read_named(const char **at, const char *name, int64_t least, int64_t *out)
{
    return read_literal(at, name) && read_sizes(at, least, out, 1) == 1;
}

static bool read_type(const char **at, int *type, int *bytes)
{
    char text[32];
    if (!read_word(at, text, sizeof text))
        return false;
    for (size_t i = 0; i < COUNT(types); i++)
        if (!strcmp(text, types[i].name)) {
            *type = types[i].type;
            *bytes = types[i].bytes;
            return true;
        }
    return false;
}

static bool at_end(const char *at)
{
    return at[strspn(at, " \t")] == '\0';
}

static bool read_axes(const char **at, const char *name, int64_t least, int64_t *axis, int axes)
{
    return read_literal(at, name) && read_sizes(at, least, axis + PLM_CONV_AXES - axes, axes) == axes;
}

/* The size of y follows from the rest. False if nothing is left of it. */
static bool set_out(struct plm_conv_shape *s)
{
    for (int i = 0; i < PLM_CONV_AXES; i++) {
        int64_t room = s->in[i] + 2 * s->pad[i] - s->dilation[i] * (s->filter[i] - 1) - 1;
        if (room < 0)
            return false;
        s->out[i] = room / s->stride[i] + 1;
    }
    return true;
}

bool plm_conv_parse(const char *text, struct plm_conv_shape *s)
{
    int64_t x[SIZES_MOST], w[SIZES_MOST];
    int dims, op = read_one_of(&text, operations, COUNT(operations)), layout;
    *s = (struct plm_conv_shape){
        .in = {1, 1, 1}, .filter = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .pad = {0, 0, 0}};
    if (op < 0)
        return false;
    dims = read_sizes(&text, 1, x, SIZES_MOST);
    if (dims < 3 || read_sizes(&text, 1, w, SIZES_MOST) != dims)
        return false;
    s->op = (enum plm_conv_op)op;
    s->axes = dims - 2;
    memcpy(s->in + PLM_CONV_AXES - s->axes, x + 2, (size_t)s->axes * sizeof *x);
    memcpy(s->filter + PLM_CONV_AXES - s->axes, w + 2, (size_t)s->axes * sizeof *w);
    if (!read_axes(&text, "stride", 1, s->stride, s->axes) || !read_axes(&text, "pad", 0, s->pad, s->axes) ||
        !read_axes(&text, "dilation", 1, s->dilation, s->axes) || !read_named(&text, "groups", 1, &s->groups) ||
        !read_type(&text, &s->type, &s->element_bytes))
        return false;
    s->tf32 = read_literal(&text, "tf32");
    layout = read_one_of(&text, layouts, COUNT(layouts));
    s->channels_last = layout == 1;
    s->n = x[0];
    s->c = x[1];
    s->k = w[0];
    return layout >= 0 && at_end(text) && (!s->tf32 || s->type == 0) && s->c == w[1] * s->groups &&
           s->k % s->groups == 0 && set_out(s);
}

bool plm_rnn_parse(const char *text, struct plm_rnn_shape *s)
{
    int cell = read_one_of(&text, cells, COUNT(cells)), use, bytes;
    *s = (struct plm_rnn_shape){.cell = cell};
    if (cell < 0 || !read_named(&text, "layers", 1, &s->layers) ||
        !read_named(&text, "directions", 1, &s->directions) || !read_named(&text, "input", 1, &s->input) ||
        !read_named(&text, "hidden", 1, &s->hidden) || !read_named(&text, "output", 1, &s->output) ||
        !read_named(&text, "steps", 1, &s->steps) || !read_named(&text, "batch", 1, &s->batch) ||
        !read_type(&text, &s->type, &bytes))
        return false;
    use = read_one_of(&text, uses, COUNT(uses));
    s->training = use == 1;
    s->dropout = read_literal(&text, "dropout");
    s->bias = !read_literal(&text, "no-bias");
    return use >= 0 && s->directions <= 2 && at_end(text);
}

bool plm_fft_parse(const char *text, struct plm_fft_shape *s)
{
    int kind = read_one_of(&text, kinds, COUNT(kinds)), type, bytes;
    *s = (struct plm_fft_shape){.kind = (enum plm_fft_kind)kind};
    if (kind < 0)
        return false;
    s->rank = read_sizes(&text, 1, s->n, PLM_FFT_RANK);
    if (!s->rank || !read_named(&text, "batch", 1, &s->batch) || !read_type(&text, &type, &bytes))
        return false;
    s->complex_bytes = 2 * bytes;
    return type != 9 && at_end(text);
}

/* ---- keys ---- */

enum { CONVOLUTION = 1, RNN, FFT };

static uint64_t key_pair(int64_t low, int64_t high)
{
    return (uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

static uint64_t key_bytes(int a, int b, int c, int d)
{
    return (uint64_t)(uint8_t)a | (uint64_t)(uint8_t)b << 8 | (uint64_t)(uint8_t)c << 16 | (uint64_t)(uint8_t)d << 24;
}

struct plm_stack_row_key plm_conv_key(const struct plm_conv_shape *s)
{
    const int flags = s->axes | s->channels_last << 2 | (s->tf32 && s->type == 0) << 3;
    struct plm_stack_row_key key = {{key_bytes(CONVOLUTION, (int)s->op, s->type, flags) | key_pair(0, s->groups),
                                     key_pair(s->n, s->c), key_pair(s->k, s->pad[0]), key_pair(s->pad[1], s->pad[2])}};
    for (int i = 0; i < PLM_CONV_AXES; i++) {
        key.word[4 + 2 * i] = key_pair(s->in[i], s->filter[i]);
        key.word[5 + 2 * i] = key_pair(s->stride[i], s->dilation[i]);
    }
    return key;
}

struct plm_stack_row_key plm_rnn_key(const struct plm_rnn_shape *s)
{
    const int flags = s->training | s->bias << 1 | s->dropout << 2;
    return (struct plm_stack_row_key){{key_bytes(RNN, s->cell, s->type, flags), key_pair(s->layers, s->directions),
                                       key_pair(s->input, s->hidden), key_pair(s->output, s->steps),
                                       key_pair(s->batch, 0)}};
}

struct plm_stack_row_key plm_fft_key(const struct plm_fft_shape *s)
{
    struct plm_stack_row_key key = {{key_bytes(FFT, (int)s->kind, s->complex_bytes, s->rank), (uint64_t)s->batch}};
    for (int i = 0; i < s->rank && i < PLM_FFT_RANK; i++)
        key.word[2 + i] = (uint64_t)s->n[i];
    return key;
}
