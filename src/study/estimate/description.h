/*
 * The model description (docs/description.md): what the analytical and learned methods know of a job.
 *
 * plm_description_read() reads a file, plm_description_parse() text that somebody else read, such as the one in a
 * trace; plm_description_free() ends it. Strings and lists belong to the description. Read-only in between; any
 * thread. Everything is checked once, here: indices are in range, sizes and counts bounded (PLM_DESCRIPTION_BYTES),
 * so methods need not check again. What is not such a document is refused with one sentence (PLM_EFORMAT).
 */
#ifndef PLM_ESTIMATE_DESCRIPTION_H
#define PLM_ESTIMATE_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_error;
struct plm_json_tree;

#define PLM_DESCRIPTION_BYTES (1ull << 46) /* no size or count is larger; sums of a few of them cannot overflow */
enum { PLM_DESCRIPTION_DIMENSIONS = 8 };

struct plm_described_tensor {
    uint64_t shape[PLM_DESCRIPTION_DIMENSIONS];
    int dimensions;
    char dtype[16]; /* "float32"; "" where it is not said */
    uint64_t elements, bytes;
};

struct plm_described_model {
    const char *class_name;
    char dtype[16], autocast[16]; /* of its parameters; what autocast computes in, "" without it */
    uint64_t parameters, trainable; /* elements; shared ones once */
    uint64_t parameter_bytes, buffer_bytes;
    uint64_t largest_module; /* the most parameters that one module owns itself */
    bool checkpointing;
};

struct plm_described_transformer {
    bool known; /* the model is one, as far as its configuration tells */
    uint64_t layers, hidden, heads, vocabulary, sequence;
    bool decoder, upcast_logits;
};

struct plm_described_batch {
    uint64_t size; /* 0: not known */
    struct plm_described_tensor *input, *target;
    size_t inputs, targets;
};

/* Where gradients are dropped. */
enum plm_zero_grad {
    PLM_ZERO_GRAD_UNKNOWN,
    PLM_ZERO_GRAD_BEFORE_FORWARD,
    PLM_ZERO_GRAD_BEFORE_BACKWARD,
    PLM_ZERO_GRAD_AFTER_STEP
};

struct plm_described_optimizer {
    bool known;
    const char *class_name;
    uint64_t state_bytes;
    enum plm_zero_grad zero_grad;
    bool foreach;
};

struct plm_described_module {
    const char *name, *class_name;
    bool leaf;
    int32_t parent; /* -1: the model itself; else smaller than the module's own index */
    uint64_t own_parameters, own_bytes;
};

struct plm_described_parameter { /* and buffers */
    uint32_t module;
    uint64_t elements, bytes;
    bool trainable;
};

struct plm_described_call {
    uint32_t module;
    bool again;   /* the backward pass made it, which computed something a second time */
    double flops; /* -1: not known */
    struct plm_described_tensor *output;
    size_t outputs;
};

enum { PLM_GRAPH_NO_MODULE = -1, PLM_GRAPH_NO_ALIAS = -1 };
struct plm_described_node { /* of torch.fx's graph */
    const char *op, *name;
    int32_t module;         /* of a call_module; else PLM_GRAPH_NO_MODULE */
    int32_t shares;         /* the earlier node whose memory holds this one's output, as in-place operators do */
    uint32_t *input;        /* earlier nodes */
    size_t inputs;
    uint64_t bytes;
};

struct plm_described_sighting {
    uint64_t bytes;
    int64_t first, last;
};

/* Births (bytes) and deaths (-k: of the k-th born, counted from 1) of storage, in order. Each dies at most once,
   after its birth. */
struct plm_described_storages {
    int64_t *event;
    size_t events, births;
};

/* One row of numbers for methods that learn; docs/description.md. Each is that of a forward pass of the batch. */
enum plm_described_feature {
    PLM_FEATURE_FLOPS,
    PLM_FEATURE_PARAMETERS,
    PLM_FEATURE_ACTIVATIONS, /* elements that all layers put out */
    PLM_FEATURE_BATCH,
    PLM_FEATURE_CONVOLUTIONS,
    PLM_FEATURE_LINEARS,
    PLM_FEATURE_BATCHNORMS,
    PLM_FEATURE_DEPTH,
    PLM_FEATURES
};
extern const char *const plm_described_features[PLM_FEATURES]; /* their names, in the document too */

struct plm_description {
    char torch[32];
    bool computed;
    double seconds; /* that the capture took; 0: not said */
    struct plm_described_model model;
    struct plm_described_transformer transformer;
    struct plm_described_batch batch;
    struct plm_described_optimizer optimizer;
    double feature[PLM_FEATURES]; /* from 0; -1: not known */
    struct plm_described_module *module;
    struct plm_described_parameter *parameter, *buffer;
    struct plm_described_call *call;
    struct plm_described_node *node;
    const char *graph_missing; /* why there are no nodes; NULL: not said */
    struct plm_described_sighting *sighting;
    struct plm_described_storages forward_backward, step;
    size_t modules, parameters, buffers, calls, nodes, sightings;
    struct plm_json_tree *tree; /* that was read: strings are in it */
};

int plm_description_read(const char *path, struct plm_description **description, struct plm_error *error);
/* `name` for its sentences. */
int plm_description_parse(const char *name, const char *text, size_t size, struct plm_description **description,
                          struct plm_error *error);
void plm_description_free(struct plm_description *description); /* NULL is fine */

uint64_t plm_description_input_bytes(const struct plm_description *description);
/* Bytes of an element of the model's data type; 0: not known. */
unsigned plm_dtype_bytes(const char *dtype);
/* The type that most of the model is computed in: its activations have it. */
const char *plm_description_activations(const struct plm_description *description);
/* "float32", "float32 with autocast to bfloat16"; written to `buffer`. */
enum { PLM_DESCRIPTION_PRECISION_BYTES = 64 };
const char *plm_description_precision(const struct plm_description *description,
                                      char buffer[PLM_DESCRIPTION_PRECISION_BYTES]);

#endif
