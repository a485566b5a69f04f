/*
 * Networks that were trained elsewhere and are asked here: their weights in a file (docs/network.md), and what they
 * answer. hook/plimsoll_learn trains them, with PyTorch; nothing here needs Python.
 *
 * plm_network_read() reads one, checks that it has every tensor of its method in the right shape, and plm_network_free()
 * ends it. Read-only after that; any thread may ask it. Fails with one sentence: PLM_EFORMAT.
 */
#ifndef PLM_LEARN_NETWORK_H
#define PLM_LEARN_NETWORK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "study/learn/learner.h"
#include "study/learn/family.h"

struct plm_network;

enum {
    PLM_NETWORK_TENSORS = 4096,
    PLM_NETWORK_VALUES = 1 << 22, /* of all tensors */
    PLM_NETWORK_NAME = 64,
    PLM_NETWORK_SCORES = 16,
    PLM_NETWORK_LENGTH = 1 << 12, /* positions of a sequence */
    PLM_NETWORK_MEMBERS = 64,
    PLM_NETWORK_WIDTH = 512, /* of a layer of a network */
};

/* Rows of one family of networks: what is counted of them differs. */

/* What the outputs mean. */
enum plm_network_answer {
    PLM_NETWORK_CLASSES, /* an output each; class i is above first + i * width, up to first + (i + 1) * width */
    PLM_NETWORK_NUMBER,  /* first + width * output */
    PLM_NETWORK_LOG,     /* exp(first + width * output) */
};

struct plm_network_tensor {
    char name[PLM_NETWORK_NAME];
    size_t rows, columns; /* columns 1: a vector */
    float *value;
};

struct plm_network_score {
    char name[PLM_TREE_NAME];
    double value;
};

struct plm_network {
    const struct plm_method *method; /* whose learner's `own` is its architecture */
    char target[PLM_TREE_NAME];
    enum plm_family family;
    uint64_t rows, seed;
    enum plm_network_answer kind;
    size_t outputs; /* of numbers 1 */
    double first, width;
    size_t length; /* positions of its sequences; 0: it has none */
    struct plm_tree_feature feature[PLM_TREE_FEATURES];
    size_t features;
    uint64_t folds;
    struct plm_network_score score[PLM_NETWORK_SCORES];
    size_t scores;
    struct plm_network_tensor *tensor;
    size_t tensors, tensor_room, values;
    size_t looked_at; /* where the last tensor was found: they are asked for in their order */
    void *parts;      /* the method's own view of the tensors */
};

/* As the payload of a file of models (study/estimate/model_file.h); `network` is a struct plm_network. */
int plm_network_read(const struct plm_method *method, struct plm_model_file *file, struct plm_network *network);
void plm_network_put(FILE *out, const void *network);
/* The lines before the scores, which are also the head of what training gets. */
void plm_network_put_head(FILE *out, const struct plm_network *network);
void plm_network_free(struct plm_network *network);

/* A tensor more, of zeros; NULL: there are too many, or too large ones. */
struct plm_network_tensor *plm_network_add(struct plm_network *network, const char *name, size_t rows, size_t columns);
/* NULL: there is none of that name. Not for several threads at once, unlike the rest: it is for binding. */
const struct plm_network_tensor *plm_network_find(struct plm_network *network, const char *name);
/* Its values; NULL, with a sentence in *error, if it is not there or has another shape. */
const float *plm_network_need(struct plm_network *network, const char *name, size_t rows, size_t columns,
                              struct plm_error *error);

/* Edges of class i, or the number, from the outputs of a network; and how sure it is. */
void plm_network_answer(const struct plm_network *network, const double *output, struct plm_learned_answer *answer);

/* ---- the methods ---- */

/* What a network sees of an example: numbers, a sequence of tokens, or a graph. Its arrays belong to the caller and are
   used again by the next example; plm_view_free() ends them. */
struct plm_view {
    double x[PLM_TREE_FEATURES];
    double *token; /* tokens * token_width */
    size_t tokens, token_width, token_room;
    double *node; /* nodes * PLM_DNNPERF_NODE */
    size_t nodes, node_room;
    struct plm_view_edge {
        uint32_t from, to;
        double size; /* of the tensor */
    } *edge;
    size_t edges, edge_room;
};
void plm_view_free(struct plm_view *view);

/* What networks differ in: `own` of their learners. */
struct plm_architecture {
    /* Names of the features of a family, NULL after the last. */
    const char *const *(*features)(enum plm_family family);
    /* Fills the view; a sentence if the example lacks what is needed. */
    int (*view)(enum plm_family family, const struct plm_example *example, struct plm_view *view,
                struct plm_error *error);
    /* Checks all tensors and makes `parts` of the network. */
    int (*bind)(struct plm_network *network, struct plm_error *error);
    void (*run)(const struct plm_network *network, const struct plm_view *view, double *output);
    double oom; /* MiB that stand for a run that went out of memory; 0: such rows are left out */
    bool sequence, graph;
};
const struct plm_architecture *plm_architecture_of(const struct plm_method *method);

/* networks.c: the learner of such a method. `also`: options that not all of them take; `by_features`: whether numbers alone
   are enough for it, plm_network_ask_features or NULL. */
#define PLM_NETWORK_LEARNER(architecture, also, by_features)                     \
    {.noun = "the weights",                                                      \
     .takes = PLM_LESSON_TARGET | PLM_LESSON_FOLDS | PLM_LESSON_PYTHON | (also), \
     .own = &(architecture),                                                     \
     .train = plm_network_train,                                                 \
     .load = plm_network_load,                                                   \
     .put = plm_network_put,                                                     \
     .show = plm_network_show,                                                   \
     .describe = plm_network_describe,                                           \
     .features = plm_network_features,                                           \
     .free = plm_network_forget,                                                 \
     .ask = plm_network_ask,                                                     \
     .ask_features = by_features}
int plm_network_load(const struct plm_method *method, struct plm_model_file *file, void **model);
void plm_network_show(const void *model, const struct plm_page *page);
void plm_network_describe(const void *model, struct plm_json *json);
const struct plm_tree_feature *plm_network_features(const void *model, size_t *count);
void plm_network_forget(void *model);
int plm_network_ask(const void *model, const struct plm_example *example, struct plm_learned_answer *answer,
                    struct plm_error *error);
int plm_network_ask_features(const void *model, const double *x, struct plm_learned_answer *answer,
                             struct plm_error *error);
/* network_train.c: the lesson of every network. */
int plm_network_train(const struct plm_lesson *lesson, void **model, struct plm_error *error);

/* published.c: GPUMemNet's features and tokens with the defects of the published code; docs/methods.md names them. */
const char *const *plm_gpumemnet_mlp_features(enum plm_family family);
const char *const *plm_gpumemnet_transformer_features(enum plm_family family);
int plm_gpumemnet_mlp_view(enum plm_family family, const struct plm_example *example, struct plm_view *view,
                           struct plm_error *error);
int plm_gpumemnet_transformer_view(enum plm_family family, const struct plm_example *example, struct plm_view *view,
                                   struct plm_error *error);
/* Numbers of a token of a family. */
size_t plm_gpumemnet_token_width(enum plm_family family);

/* gpumemnet.c: a published checkpoint is for one of the two. */
extern const struct plm_method plm_method_gpumemnet_mlp, plm_method_gpumemnet_transformer;

/* dnnperf.c */
enum { PLM_DNNPERF_NODE = 16, PLM_DNNPERF_EDGE = 1 };

/* checkpoint.c: the weights of one of GPUMemNet's published checkpoints, of PyTorch Lightning. Nothing in it is executed.
   What it does not say comes from the published code: the family by its features, and classes of 1 GB from 1 GB on, of
   8 GB for CNNs and transformers; `bin` above 0 is another width. Ranges of the rows are not known. */
int plm_checkpoint_read(const char *path, int bin, struct plm_network *network, struct plm_error *error);

#endif
