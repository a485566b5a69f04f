/*
 * A network as an estimator that learns sees it before it runs: a row of numbers, and its layers in the order of a
 * forward pass. It comes from a model description (docs/description.md) or from a row of a table that `plimsoll
 * dataset` wrote (docs/dataset.md); both give the same numbers. What the published methods count wrongly is made of
 * these by the methods themselves.
 *
 * plm_example_describe() and plm_example_read() make one, plm_example_free() ends it; it belongs to the caller and
 * nothing in it points elsewhere. Pure functions; any thread. Fails with one sentence: PLM_EFORMAT.
 */
#ifndef PLM_LEARN_EXAMPLE_H
#define PLM_LEARN_EXAMPLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct plm_description;
struct plm_error;
struct plm_csv;

/* Columns of a table have these names. All are of one forward pass; -1: not known. */
#define PLM_EXAMPLE_NUMBERS(X)                                                                       \
    X(BATCH, "x_batch")                   /* samples */                                                                \
    X(LAYERS, "x_layers")                 /* calls of leaf modules */                                                \
    X(PARAMETERS, "x_parameters")         /* elements; shared ones once */                                   \
    X(ACTIVATIONS, "x_activations")       /* elements that all leaf modules put out, of the whole batch */ \
    X(FLOPS, "x_flops")                   /* of the whole batch */                                                     \
    X(LARGEST, "x_largest")               /* elements of the largest output, of the whole batch */                 \
    X(INPUT, "x_input")                   /* elements of the inputs, of the whole batch */                             \
    X(CONVOLUTIONS, "x_convolutions")     /* calls of each kind, to the end */                           \
    X(LINEARS, "x_linears")                                                                          \
    X(BATCHNORMS, "x_batchnorms")                                                                    \
    X(LAYERNORMS, "x_layernorms")                                                                    \
    X(DROPOUTS, "x_dropouts")                                                                        \
    X(EMBEDDINGS, "x_embeddings")                                                                    \
    X(PROJECTIONS, "x_projections")       /* of attention to its output */                                 \
    X(STATE, "x_state")                   /* bytes of the optimizer's state */                                         \
    X(ACTIVATION, "x_activation") /* which activation function: its index in the published list; -1: none of it */

enum plm_example_number {
#define X(name, column) PLM_EXAMPLE_##name,
    PLM_EXAMPLE_NUMBERS(X)
#undef X
        PLM_EXAMPLE_NUMBER_COUNT
};
extern const char *const plm_example_column[PLM_EXAMPLE_NUMBER_COUNT];

enum plm_layer_kind {
    PLM_LAYER_LINEAR,
    PLM_LAYER_CONVOLUTION,
    PLM_LAYER_BATCHNORM,
    PLM_LAYER_LAYERNORM,
    PLM_LAYER_DROPOUT,
    PLM_LAYER_ACTIVATION, /* softmax and sigmoid too */
    PLM_LAYER_POOL,
    PLM_LAYER_EMBEDDING,
    PLM_LAYER_PROJECTION, /* of attention to its output */
    PLM_LAYER_RECURRENT,
    PLM_LAYER_OTHER,
    PLM_LAYER_KINDS
};
extern const char *const plm_layer_name[PLM_LAYER_KINDS]; /* "linear" */

enum { PLM_LAYERS_MOST = 1 << 16, PLM_LAYER_INPUTS = 8 };

struct plm_layer {
    enum plm_layer_kind kind;
    double elements; /* of its outputs, of the whole batch */
    double width; /* last dimension of its first output */
    double parameters; /* its own */
    double flops; /* of the whole batch; -1: not known */
    uint32_t input[PLM_LAYER_INPUTS]; /* earlier layers whose outputs it works on; those beyond the room are left out */
    size_t inputs; /* 0: the batch itself */
};

struct plm_example {
    double number[PLM_EXAMPLE_NUMBER_COUNT];
    struct plm_layer *layer;
    size_t layers;
};

int plm_example_describe(const struct plm_description *description, struct plm_example *example,
                         struct plm_error *error);
/* A row of a table with the columns above and, if it is there, "layers". Columns that are not there are -1. */
int plm_example_read(const struct plm_csv *table, size_t row, struct plm_example *example, struct plm_error *error);
void plm_example_free(struct plm_example *example);

/* The cell "layers": one word a layer, "linear:ELEMENTS:WIDTH:PARAMETERS:FLOPS:INPUT+INPUT", blanks between them. */
void plm_layers_put(FILE *out, const struct plm_layer *layer, size_t layers);

#endif
