/*
 * GPUMemNet's features and tokens, as its published code makes them of summaries of networks. What that code counts wrongly
 * is counted wrongly here too, so that its weights and its scores can be compared with:
 *
 * - parameters of PReLU do not count, nor those of LayerNorm in tokens;
 * - tokens of CNNs have the activations of the batch, their sum those of one sample;
 * - a Linear of a transformer has the activations of one position, an embedding those of all; LayerNorm and Dropout repeat
 *   what was before them, without the batch where the others have it; and their sum is multiplied by the batch again;
 * - an activation or a dropout that works on vectors does not count in a CNN, nor does a pool other than to one value;
 * - among the numbers that join a sequence, sine and cosine of the activation are cut to whole numbers.
 *
 * One thing differs: tokens of transformers stand in the order of a forward pass, not of the modules' registration.
 */
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/learn/example.h"
#include "study/learn/network.h"

enum { ACTIVATIONS = 11, ACTIVATION_IDENTITY = 2 }; /* the published list of MLPs; that of CNNs lacks Identity */

/* ---- what is counted ---- */

struct count {
    double depth, activations, parameters, convolutions, batchnorms, layernorms, dropouts, linears, projections;
};

/* One layer as the published code sees it. */
struct seen {
    bool counts;        /* in the depth */
    bool shaped;        /* in tokens and sums */
    double activations; /* in the sum */
    double token;       /* in its token */
    double parameters;
};

static bool is_vector(const struct plm_layer *l, double batch)
{
    return l->elements <= batch * l->width * (1 + 1e-9);
}

static struct seen see_mlp(const struct plm_layer *l, double batch)
{
    const double each = l->elements / batch;
    const bool owns = l->kind == PLM_LAYER_LINEAR || l->kind == PLM_LAYER_BATCHNORM;
    return (struct seen){l->kind == PLM_LAYER_LINEAR, true, each, each, owns ? l->parameters : 0};
}

static struct seen see_cnn(const struct plm_layer *l, double batch, bool last)
{
    const double each = l->elements / batch;
    const bool vector = is_vector(l, batch);
    struct seen s = {true, !vector, each, l->elements, 0};
    switch (l->kind) {
    case PLM_LAYER_CONVOLUTION:
    case PLM_LAYER_BATCHNORM:
        s.counts = s.shaped = !vector;
        s.parameters = l->parameters;
        break;
    case PLM_LAYER_LINEAR:
        s.shaped = true;
        s.parameters = l->parameters;
        break;
    case PLM_LAYER_ACTIVATION: /* at the end a softmax, which may be one of vectors */
        s.shaped = s.shaped || last;
        break;
    case PLM_LAYER_DROPOUT: break;
    case PLM_LAYER_POOL: s.counts = s.shaped = l->width == 1 || vector; break;
    default: s.counts = s.shaped = false;
    }
    return s;
}

/* `before`: activations of the layer before, without the batch. */
static struct seen see_transformer(const struct plm_layer *l, double batch, double before)
{
    struct seen s = {true, true, before, before, 0};
    switch (l->kind) {
    case PLM_LAYER_EMBEDDING:
        s.activations = l->elements / batch;
        s.token = l->elements;
        s.parameters = l->parameters;
        break;
    case PLM_LAYER_LINEAR:
    case PLM_LAYER_PROJECTION:
        s.activations = l->width;
        s.token = l->width * batch;
        s.parameters = l->parameters;
        break;
    case PLM_LAYER_LAYERNORM:
    case PLM_LAYER_DROPOUT: break;
    default: s.counts = s.shaped = false;
    }
    return s;
}

static struct seen see(enum plm_family family, const struct plm_example *e, size_t i, double before)
{
    const double batch = e->number[PLM_EXAMPLE_BATCH];
    switch (family) {
    case PLM_FAMILY_MLP: return see_mlp(&e->layer[i], batch);
    case PLM_FAMILY_CNN: return see_cnn(&e->layer[i], batch, i + 1 == e->layers);
    default: return see_transformer(&e->layer[i], batch, before);
    }
}

/* ---- tokens ---- */

enum { BITS = 4 };

/* By family: how many bits, and those of each kind of layer. */
static const struct {
    size_t bits;
    double bit[PLM_LAYER_KINDS][BITS];
} codes[PLM_FAMILIES] = {
    [PLM_FAMILY_MLP] = {2,
                        {[PLM_LAYER_LINEAR] = {0, 1},
                         [PLM_LAYER_CONVOLUTION] = {1, 0},
                         [PLM_LAYER_BATCHNORM] = {1, 0},
                         [PLM_LAYER_LAYERNORM] = {1, 0},
                         [PLM_LAYER_DROPOUT] = {1, 0},
                         [PLM_LAYER_ACTIVATION] = {1, 0},
                         [PLM_LAYER_POOL] = {1, 0},
                         [PLM_LAYER_EMBEDDING] = {1, 0},
                         [PLM_LAYER_PROJECTION] = {1, 0},
                         [PLM_LAYER_RECURRENT] = {1, 0},
                         [PLM_LAYER_OTHER] = {1, 0}}},
    [PLM_FAMILY_CNN] = {2,
                        {[PLM_LAYER_CONVOLUTION] = {0, 1},
                         [PLM_LAYER_LINEAR] = {1, 1},
                         [PLM_LAYER_ACTIVATION] = {1, 0},
                         [PLM_LAYER_POOL] = {1, 0}}},
    [PLM_FAMILY_TRANSFORMER] = {4,
                                {[PLM_LAYER_LAYERNORM] = {1, 0, 0, 0},
                                 [PLM_LAYER_EMBEDDING] = {0, 1, 0, 0},
                                 [PLM_LAYER_LINEAR] = {0, 0, 1, 0},
                                 [PLM_LAYER_PROJECTION] = {0, 0, 1, 0},
                                 [PLM_LAYER_DROPOUT] = {0, 0, 0, 1}}},
};

size_t plm_gpumemnet_token_width(enum plm_family family)
{
    return codes[family].bits + 2;
}

static void token_add(enum plm_family family, enum plm_layer_kind kind, const struct seen *s, struct plm_view *v)
{
    const size_t bits = codes[family].bits;
    double *token;
    v->token_width = bits + 2;
    /* Room for one token more: it grows by numbers. */
    for (size_t i = 0; i < v->token_width; i++)
        v->token = plm_grow(v->token, v->tokens * v->token_width + i, &v->token_room, sizeof *v->token);
    token = v->token + v->tokens++ * v->token_width;
    for (size_t i = 0; i < bits; i++)
        token[i] = codes[family].bit[kind][i];
    token[bits] = s->token;
    token[bits + 1] = s->parameters;
}

static void count_layer(const struct plm_layer *l, const struct seen *s, struct count *c)
{
    c->depth += s->counts;
    c->activations += s->shaped ? s->activations : 0;
    c->parameters += s->shaped ? s->parameters : 0;
    if (!s->counts && !s->shaped)
        return;
    c->convolutions += l->kind == PLM_LAYER_CONVOLUTION;
    c->batchnorms += l->kind == PLM_LAYER_BATCHNORM;
    c->layernorms += l->kind == PLM_LAYER_LAYERNORM;
    c->dropouts += l->kind == PLM_LAYER_DROPOUT;
    c->projections += l->kind == PLM_LAYER_PROJECTION;
    c->linears += l->kind == PLM_LAYER_LINEAR || l->kind == PLM_LAYER_PROJECTION;
}

/* Counts, and the tokens if they are wanted. */
static struct count count_layers(enum plm_family family, const struct plm_example *e, bool tokens,
                                 struct plm_view *view)
{
    struct count c = {0};
    double before = 0;
    view->tokens = 0;
    for (size_t i = 0; i < e->layers; i++) {
        const struct seen s = see(family, e, i, before);
        count_layer(&e->layer[i], &s, &c);
        if (s.shaped)
            before = s.activations;
        if (tokens && s.shaped)
            token_add(family, e->layer[i].kind, &s, view);
    }
    if (family == PLM_FAMILY_TRANSFORMER) /* from the summary's last line */
        c.parameters = e->number[PLM_EXAMPLE_PARAMETERS];
    return c;
}

/* Of an MLP the numbers say it all but for the parameters of PReLU. */
static struct count count_numbers(const struct plm_example *e)
{
    const double *n = e->number;
    return (struct count){.depth = n[PLM_EXAMPLE_LINEARS],
                          .activations = n[PLM_EXAMPLE_ACTIVATIONS] / n[PLM_EXAMPLE_BATCH],
                          .parameters = n[PLM_EXAMPLE_PARAMETERS],
                          .batchnorms = n[PLM_EXAMPLE_BATCHNORMS],
                          .dropouts = n[PLM_EXAMPLE_DROPOUTS]};
}

/* ---- features ---- */

#define DEPTH        "depth"
#define BATCH        "batch"
#define PARAMETERS   "parameters"
#define ACTIVATIONS_ "activations"
#define OF_BATCH     "activations_batch"
#define BATCHNORMS   "batchnorms"
#define DROPOUTS     "dropouts"
#define SINE         "activation_sin", "activation_cos"

static const char *const mlp_features[PLM_FAMILIES][11] = {
    [PLM_FAMILY_MLP] = {"layers", BATCH, PARAMETERS, ACTIVATIONS_, BATCHNORMS, DROPOUTS, SINE},
    [PLM_FAMILY_CNN] = {DEPTH, ACTIVATIONS_, OF_BATCH, PARAMETERS, BATCH, "convolutions", BATCHNORMS, DROPOUTS, SINE},
    [PLM_FAMILY_TRANSFORMER] = {DEPTH, ACTIVATIONS_, OF_BATCH, PARAMETERS, BATCH, "projections", "linears",
                                "layernorms", DROPOUTS},
};
static const char *const transformer_features[PLM_FAMILIES][11] = {
    [PLM_FAMILY_MLP] = {BATCH, PARAMETERS, ACTIVATIONS_, OF_BATCH},
    [PLM_FAMILY_CNN] = {BATCH, PARAMETERS, ACTIVATIONS_, OF_BATCH, "convolutions", BATCHNORMS, DROPOUTS, SINE},
    [PLM_FAMILY_TRANSFORMER] = {DEPTH, ACTIVATIONS_, PARAMETERS, BATCH, "projections", "linears", OF_BATCH,
                                "layernorms", DROPOUTS},
};

const char *const *plm_gpumemnet_mlp_features(enum plm_family family)
{
    return mlp_features[family];
}

const char *const *plm_gpumemnet_transformer_features(enum plm_family family)
{
    return transformer_features[family];
}

/* An activation that is none of the list has neither. */
static double activation_angle(enum plm_family family, double index)
{
    if (family == PLM_FAMILY_CNN)
        return (index - (index > ACTIVATION_IDENTITY)) * M_PI / (ACTIVATIONS - 1);
    return index * M_PI / ACTIVATIONS;
}

static void features_put(const char *const *name, enum plm_family family, const struct plm_example *e,
                         const struct count *c, double *x)
{
    const double batch = e->number[PLM_EXAMPLE_BATCH], index = e->number[PLM_EXAMPLE_ACTIVATION];
    const double angle = activation_angle(family, index);
    const struct {
        const char *name;
        double value;
    } known[] = {
        {"layers", c->depth},
        {DEPTH, c->depth},
        {BATCH, batch},
        {PARAMETERS, c->parameters},
        {ACTIVATIONS_, c->activations},
        {OF_BATCH, c->activations * batch},
        {"convolutions", c->convolutions},
        {BATCHNORMS, c->batchnorms},
        {"layernorms", c->layernorms},
        {DROPOUTS, c->dropouts},
        {"linears", c->linears},
        {"projections", c->projections},
        {"activation_sin", index < 0 ? 0 : sin(angle)},
        {"activation_cos", index < 0 ? 0 : cos(angle)},
    };
    for (size_t i = 0; name[i]; i++)
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            if (!strcmp(known[k].name, name[i]))
                x[i] = known[k].value;
}

static int example_check(enum plm_family family, const struct plm_example *e, bool layers, struct plm_error *error)
{
    if (e->number[PLM_EXAMPLE_BATCH] < 1)
        return plm_fail(error, PLM_EFORMAT, "the batch size is unknown");
    if (!e->layers && (layers || family != PLM_FAMILY_MLP))
        return plm_fail(error, PLM_EFORMAT, "the network's layers are unknown");
    if (!e->layers && (e->number[PLM_EXAMPLE_ACTIVATIONS] < 0 || e->number[PLM_EXAMPLE_PARAMETERS] < 0 ||
                       e->number[PLM_EXAMPLE_LINEARS] < 0))
        return plm_fail(error, PLM_EFORMAT, "neither layers nor activations, parameters and linears are known");
    return 0;
}

int plm_gpumemnet_mlp_view(enum plm_family family, const struct plm_example *e, struct plm_view *v,
                           struct plm_error *error)
{
    int status = example_check(family, e, false, error);
    struct count c;
    if (status)
        return status;
    c = e->layers ? count_layers(family, e, false, v) : count_numbers(e);
    features_put(mlp_features[family], family, e, &c, v->x);
    return 0;
}

int plm_gpumemnet_transformer_view(enum plm_family family, const struct plm_example *e, struct plm_view *v,
                                   struct plm_error *error)
{
    int status = example_check(family, e, true, error);
    struct count c;
    if (status)
        return status;
    c = count_layers(family, e, true, v);
    features_put(transformer_features[family], family, e, &c, v->x);
    for (size_t i = 0; transformer_features[family][i]; i++)
        v->x[i] = trunc(v->x[i]);
    return 0;
}

void plm_view_free(struct plm_view *v)
{
    free(v->token);
    free(v->node);
    free(v->edge);
    *v = (struct plm_view){0};
}
