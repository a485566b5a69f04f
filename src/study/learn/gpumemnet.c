/* GPUMemNet's two ensembles, one question at a time. Tensors have single precision as in PyTorch, sums double. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/learn/network.h"

enum { LEVELS = 16, ENCODERS = 8, ENCODER_LAYERS = 8, ENCODER_WIDTH = 64, MLP_WIDTH = 64, INPUTS = 96 };
#define EPSILON 1e-5 /* of BatchNorm and LayerNorm */

/* ---- finding tensors ---- */

/* Remembers the first failure, so that a list of them needs no branches. */
struct binder {
    struct plm_network *network;
    struct plm_error *error;
    int status;
};

__attribute__((format(printf, 4, 5))) static const float *bind(struct binder *b, size_t rows, size_t columns,
                                                               const char *format, ...)
{
    char name[PLM_NETWORK_NAME];
    const float *value;
    va_list list;
    if (b->status)
        return NULL;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    value = plm_network_need(b->network, name, rows, columns, b->error);
    b->status = value ? 0 : PLM_EFORMAT;
    return value;
}

/* Rows of a matrix that is there, 0 if it is not. */
__attribute__((format(printf, 2, 3))) static size_t rows_of(struct binder *b, const char *format, ...)
{
    char name[PLM_NETWORK_NAME];
    const struct plm_network_tensor *tensor;
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    tensor = plm_network_find(b->network, name);
    return tensor ? tensor->rows : 0;
}

static int too_wide(struct binder *b, const char *what)
{
    if (!b->status)
        b->status = plm_fail(b->error, PLM_EFORMAT, "the weights of %s have %s than this plimsoll supports",
                             b->network->method->name, what);
    return b->status;
}

/* ---- parts ---- */

struct linear {
    const float *weight, *bias;
    size_t in, out;
};

struct norm {
    const float *scale, *shift, *mean, *variance; /* the latter two of BatchNorm alone */
};

static struct linear bind_linear(struct binder *b, size_t in, size_t out, const char *prefix)
{
    return (struct linear){bind(b, out, in, "%s.weight", prefix), bind(b, out, 1, "%s.bias", prefix), in, out};
}

static struct norm bind_norm(struct binder *b, size_t width, bool batch, const char *prefix)
{
    struct norm n = {bind(b, width, 1, "%s.scale", prefix), bind(b, width, 1, "%s.shift", prefix), NULL, NULL};
    if (batch) {
        n.mean = bind(b, width, 1, "%s.mean", prefix);
        n.variance = bind(b, width, 1, "%s.variance", prefix);
    }
    return n;
}

static void linear_run(const struct linear *l, const double *x, double *y)
{
    for (size_t o = 0; o < l->out; o++) {
        double sum = (double)l->bias[o];
        for (size_t i = 0; i < l->in; i++)
            sum += (double)l->weight[o * l->in + i] * x[i];
        y[o] = sum;
    }
}

static double norm_one(const struct norm *n, size_t at, double x)
{
    return (x - (double)n->mean[at]) / sqrt(fmax((double)n->variance[at], 0) + EPSILON) * (double)n->scale[at] +
           (double)n->shift[at];
}

static void layer_norm(const struct norm *n, size_t width, double *x)
{
    double mean = 0, variance = 0;
    for (size_t i = 0; i < width; i++)
        mean += x[i] / (double)width;
    for (size_t i = 0; i < width; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (double)width;
    for (size_t i = 0; i < width; i++)
        x[i] = (x[i] - mean) / sqrt(variance + EPSILON) * (double)n->scale[i] + (double)n->shift[i];
}

/* ---- the ensemble of MLPs ---- */

struct member {
    size_t levels;
    struct {
        struct linear linear;
        struct norm norm;
    } level[LEVELS];
    struct linear out;
};

struct ensemble {
    size_t members;
    struct member member[PLM_NETWORK_MEMBERS];
};

static void bind_member(struct binder *b, struct member *m, size_t inputs, const char *prefix)
{
    size_t width = inputs, next;
    char name[PLM_NETWORK_NAME];
    m->levels = 0;
    while (!b->status && (next = rows_of(b, "%s.%zu.weight", prefix, m->levels))) {
        if (m->levels == LEVELS || next > MLP_WIDTH) {
            too_wide(b, "deeper or wider members");
            return;
        }
        snprintf(name, sizeof name, "%s.%zu", prefix, m->levels);
        m->level[m->levels].linear = bind_linear(b, width, next, name);
        m->level[m->levels++].norm = bind_norm(b, next, true, name);
        width = next;
    }
    snprintf(name, sizeof name, "%s.out", prefix);
    m->out = bind_linear(b, width, b->network->outputs, name);
}

static void bind_ensemble(struct binder *b, struct ensemble *e, size_t inputs, const char *prefix)
{
    char name[PLM_NETWORK_NAME];
    for (e->members = 0; !b->status && rows_of(b, "%smlp.%zu.out.weight", prefix, e->members); e->members++) {
        if (e->members == PLM_NETWORK_MEMBERS) {
            too_wide(b, "more members");
            return;
        }
        snprintf(name, sizeof name, "%smlp.%zu", prefix, e->members);
        bind_member(b, &e->member[e->members], inputs, name);
    }
    if (!b->status && !e->members)
        b->status = plm_fail(b->error, PLM_EFORMAT, "the weights of %s lack the tensor %smlp.0.out.weight",
                             b->network->method->name, prefix);
}

static void member_run(const struct member *m, const double *x, double *output)
{
    double a[INPUTS] = {0}, next[MLP_WIDTH] = {0};
    memcpy(a, x, (m->levels ? m->level[0].linear.in : m->out.in) * sizeof *a);
    for (size_t i = 0; i < m->levels; i++) {
        const struct linear *l = &m->level[i].linear;
        linear_run(l, a, next);
        for (size_t k = 0; k < l->out; k++)
            a[k] = fmax(norm_one(&m->level[i].norm, k, next[k]), 0);
    }
    linear_run(&m->out, a, output);
}

/* Adds the mean of the members' outputs, times `share`. */
static void ensemble_run(const struct ensemble *e, size_t outputs, const double *x, double share, double *output)
{
    double one[PLM_LEARNED_CLASSES] = {0};
    for (size_t i = 0; i < e->members; i++) {
        member_run(&e->member[i], x, one);
        for (size_t k = 0; k < outputs; k++)
            output[k] += share * one[k] / (double)e->members;
    }
}

static int mlp_bind(struct plm_network *n, struct plm_error *error)
{
    struct binder b = {n, error, 0};
    struct ensemble *e = n->parts = plm_calloc(1, sizeof *e);
    bind_ensemble(&b, e, n->features, "");
    return b.status;
}

/* Features reach a network with single precision, as PyTorch has them. */
static void single(const double *from, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (double)(float)from[i];
}

static void mlp_run(const struct plm_network *n, const struct plm_view *v, double *output)
{
    double x[INPUTS] = {0};
    single(v->x, n->features, x);
    memset(output, 0, n->outputs * sizeof *output);
    ensemble_run(n->parts, n->outputs, x, 1, output);
}

/* ---- the ensemble of encoders ---- */

struct encoder_layer {
    struct linear value, out, first, second; /* of one sample, attention is the identity on the values */
    struct norm norm1, norm2;
};

struct encoder {
    size_t width, layers;
    struct linear embed[2];
    struct norm norm[2]; /* over positions */
    const float *position;
    struct encoder_layer layer[ENCODER_LAYERS];
    struct ensemble ensemble;
};

struct encoders {
    size_t count;
    struct encoder encoder[ENCODERS];
};

static void bind_layer(struct binder *b, struct encoder_layer *l, size_t width, const char *prefix)
{
    const size_t hidden = rows_of(b, "%s.first.weight", prefix);
    const float *in = bind(b, 3 * width, width, "%s.in.weight", prefix),
                *bias = bind(b, 3 * width, 1, "%s.in.bias", prefix);
    char name[PLM_NETWORK_NAME];
    if (b->status || hidden > ENCODER_WIDTH) {
        too_wide(b, "wider encoders");
        return;
    }
    l->value = (struct linear){in + 2 * width * width, bias + 2 * width, width, width};
    snprintf(name, sizeof name, "%s.out", prefix);
    l->out = bind_linear(b, width, width, name);
    snprintf(name, sizeof name, "%s.first", prefix);
    l->first = bind_linear(b, width, hidden, name);
    snprintf(name, sizeof name, "%s.second", prefix);
    l->second = bind_linear(b, hidden, width, name);
    snprintf(name, sizeof name, "%s.norm1", prefix);
    l->norm1 = bind_norm(b, width, false, name);
    snprintf(name, sizeof name, "%s.norm2", prefix);
    l->norm2 = bind_norm(b, width, false, name);
}

static void bind_encoder(struct binder *b, struct encoder *e, size_t number)
{
    const size_t token = plm_gpumemnet_token_width(b->network->family), length = b->network->length;
    char name[PLM_NETWORK_NAME];
    e->width = rows_of(b, "%zu.embed.0.weight", number);
    if (e->width > ENCODER_WIDTH || e->width + b->network->features > INPUTS) {
        too_wide(b, "wider encoders");
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%zu.embed.%zu", number, i);
        e->embed[i] = bind_linear(b, i ? e->width : token, e->width, name);
        e->norm[i] = bind_norm(b, length, true, name);
    }
    e->position = bind(b, length, e->width, "%zu.position", number);
    for (e->layers = 0; !b->status && rows_of(b, "%zu.layer.%zu.in.weight", number, e->layers); e->layers++) {
        if (e->layers == ENCODER_LAYERS) {
            too_wide(b, "more layers");
            return;
        }
        snprintf(name, sizeof name, "%zu.layer.%zu", number, e->layers);
        bind_layer(b, &e->layer[e->layers], e->width, name);
    }
    snprintf(name, sizeof name, "%zu.", number);
    bind_ensemble(b, &e->ensemble, e->width + b->network->features, name);
}

static int transformer_bind(struct plm_network *n, struct plm_error *error)
{
    struct binder b = {n, error, 0};
    struct encoders *all = n->parts = plm_calloc(1, sizeof *all);
    for (; !b.status && rows_of(&b, "%zu.embed.0.weight", all->count); all->count++) {
        if (all->count == ENCODERS)
            return too_wide(&b, "more encoders");
        bind_encoder(&b, &all->encoder[all->count], all->count);
    }
    if (!b.status && !all->count)
        b.status = plm_fail(error, PLM_EFORMAT, "the weights of %s lack the tensor 0.embed.0.weight", n->method->name);
    return b.status;
}

static void layer_run(const struct encoder_layer *l, size_t width, double *x)
{
    double a[ENCODER_WIDTH] = {0}, c[ENCODER_WIDTH] = {0};
    linear_run(&l->value, x, a);
    linear_run(&l->out, a, c);
    for (size_t i = 0; i < width; i++)
        x[i] += c[i];
    layer_norm(&l->norm1, width, x);
    linear_run(&l->first, x, a);
    for (size_t i = 0; i < l->first.out; i++)
        a[i] = fmax(a[i], 0);
    linear_run(&l->second, a, c);
    for (size_t i = 0; i < width; i++)
        x[i] += c[i];
    layer_norm(&l->norm2, width, x);
}

/* One position: embedded twice, then through the layers; positions do not see each other. */
static void position_run(const struct encoder *e, size_t at, const double *token, double *sum)
{
    double x[ENCODER_WIDTH] = {0}, a[ENCODER_WIDTH] = {0};
    linear_run(&e->embed[0], token, a);
    for (size_t i = 0; i < e->width; i++)
        x[i] = fmax(norm_one(&e->norm[0], at, a[i]), 0);
    linear_run(&e->embed[1], x, a);
    for (size_t i = 0; i < e->width; i++)
        x[i] = fmax(norm_one(&e->norm[1], at, a[i]), 0) + (double)e->position[at * e->width + i];
    for (size_t i = 0; i < e->layers; i++)
        layer_run(&e->layer[i], e->width, x);
    for (size_t i = 0; i < e->width; i++)
        sum[i] += x[i];
}

static void transformer_run(const struct plm_network *n, const struct plm_view *v, double *output)
{
    const struct encoders *all = n->parts;
    const size_t width = plm_gpumemnet_token_width(n->family);
    memset(output, 0, n->outputs * sizeof *output);
    for (size_t i = 0; i < all->count; i++) {
        const struct encoder *e = &all->encoder[i];
        double x[INPUTS] = {0}, token[INPUTS] = {0};
        for (size_t at = 0; at < n->length; at++) {
            memset(token, 0, sizeof token); /* behind the last layer: zeros */
            if (at < v->tokens)
                single(v->token + at * width, width, token);
            position_run(e, at, token, x);
        }
        single(v->x, n->features, x + e->width);
        ensemble_run(&e->ensemble, n->outputs, x, 1 / (double)all->count, output);
    }
}

/* ---- their rows ---- */

static const struct plm_architecture mlp = {
    .features = plm_gpumemnet_mlp_features,
    .view = plm_gpumemnet_mlp_view,
    .bind = mlp_bind,
    .run = mlp_run,
    .oom = 42000,
};
static const struct plm_learner mlp_learner =
    PLM_NETWORK_LEARNER(mlp, PLM_LESSON_BIN | PLM_LESSON_REGRESSION, plm_network_ask_features);
const struct plm_method plm_method_gpumemnet_mlp = {
    .name = "gpumemnet-mlp",
    .paradigm = PLM_LEARNED,
    .kind = PLM_ANSWER_DEVICE,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "networks of its training rows' family, on their GPU",
    .leaves_out = "the optimizer, shapes of layers",
    .prepare = plm_learned_prepare,
    .judge = plm_learned_judge,
    .explain = plm_learned_explain,
    .learner = &mlp_learner,
};

static const struct plm_architecture transformer = {
    .features = plm_gpumemnet_transformer_features,
    .view = plm_gpumemnet_transformer_view,
    .bind = transformer_bind,
    .run = transformer_run,
    .oom = 45000,
    .sequence = true,
};
static const struct plm_learner transformer_learner =
    PLM_NETWORK_LEARNER(transformer, PLM_LESSON_BIN | PLM_LESSON_REGRESSION, NULL);
const struct plm_method plm_method_gpumemnet_transformer = {
    .name = "gpumemnet-transformer",
    .paradigm = PLM_LEARNED,
    .kind = PLM_ANSWER_DEVICE,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "networks of its training rows' family, on their GPU",
    .leaves_out = "the optimizer",
    .prepare = plm_learned_prepare,
    .judge = plm_learned_judge,
    .explain = plm_learned_explain,
    .learner = &transformer_learner,
};
