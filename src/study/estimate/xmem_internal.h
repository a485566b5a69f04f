/*
 * Inside xMem: blocks, steps, layers and the list of lifetimes that they become.
 *
 * Traces come from anywhere. What is published as a search over all operators for each layer is bounded here by a budget of looks, which honest
 * traces do not come near; beyond it the trace is refused. 0, PLM_ENOMEM, or PLM_EFORMAT with a sentence.
 */
#ifndef PLM_ESTIMATE_XMEM_INTERNAL_H
#define PLM_ESTIMATE_XMEM_INTERNAL_H

#include "study/estimate/xmem.h"
#include "study/trace/trace.h"

/* ---- xmem_blocks.c ---- */

struct plm_xmem_block {
    int64_t born, dies; /* PLM_NEVER: not within the steps that are looked at */
    uint64_t bytes;
};

struct plm_xmem_blocks {
    struct plm_xmem_block *block; /* by birth */
    size_t count;
    size_t orphans; /* frees of what was allocated before the trace began, or is not known */
};

/* Blocks of the memory events up to a time, both included. */
int plm_xmem_blocks(const struct plm_trace *trace, int64_t until, struct plm_xmem_blocks *out);
/* The first block that was born at this time or later; after it. */
size_t plm_xmem_block_from(const struct plm_xmem_blocks *blocks, int64_t time);
size_t plm_xmem_block_after(const struct plm_xmem_blocks *blocks, int64_t time);

/* One step of the trace. */
struct plm_xmem_step {
    int64_t start, end;
    const struct plm_trace_mark *optimizer, *zero_grad; /* the last ones in it; NULL: none */
    size_t first_op, end_op;                            /* operators that start in it */
};
void plm_xmem_step(const struct plm_trace *trace, size_t number, struct plm_xmem_step *step);
/* Gradients are dropped after the optimizer's step, not in the next iteration. */
bool plm_xmem_drops_after(const struct plm_xmem_step *step);

/* ---- xmem_layers.c ---- */

struct plm_xmem_part { /* a block that a layer holds on to */
    uint32_t block, layer; /* layer: its name in the trace */
    bool backward;
};

struct plm_xmem_parts {
    struct plm_xmem_part *part; /* by birth of the blocks */
    size_t count, room;
};

int plm_xmem_layers(const struct plm_trace *trace, const struct plm_xmem_step *step,
                    const struct plm_xmem_blocks *blocks, struct plm_xmem_parts *parts, struct plm_error *error);

/* ---- xmem_owner.c: xmem+ asks of every block where it was born ---- */

struct plm_xmem_owner {
    uint32_t layer; /* the innermost module, by its name in the trace; UINT32_MAX: none */
    bool backward;  /* born in a node of autograd; the layer is that of the node's operator */
    int64_t kernel_end; /* when the operator ends that it was made for */
    bool mask;      /* of dropout: floats on a CPU */
};
/* One for each block; the caller frees it. */
int plm_xmem_owners(const struct plm_trace *trace, const struct plm_xmem_blocks *blocks, struct plm_xmem_owner **owner);

/* ---- xmem_model.c: what the trace's description says of the model ---- */

struct plm_xmem_tensor {
    uint64_t bytes;
    bool trained, buffer;
};
struct plm_xmem_model {
    struct plm_xmem_tensor *tensor; /* parameters and buffers, module by module; none without a description */
    size_t tensors;
    uint64_t state_bytes;           /* of the optimizer */
    bool state_known;
    bool loops;                     /* the optimizer goes through parameters one by one, also on a GPU */
};
/* Nothing is read of a trace without a description. PLM_EFORMAT: it is not one. */
int plm_xmem_model_read(const struct plm_trace *trace, struct plm_xmem_model *model, struct plm_error *error);
void plm_xmem_model_free(struct plm_xmem_model *model);

/* ---- lifetimes ---- */

/* What plm_lifetime.holder says. */
#define PLM_XMEM_NO_LAYER ((1u << 27) - 1)
static inline uint32_t plm_xmem_holder(enum plm_category category, bool backward, uint32_t layer)
{
    return (layer < PLM_XMEM_NO_LAYER ? layer : PLM_XMEM_NO_LAYER) << 5 | (uint32_t)backward << 4 | (uint32_t)category;
}
static inline enum plm_category plm_xmem_category(uint32_t holder)
{
    return (enum plm_category)(holder & 15);
}
static inline bool plm_xmem_backward(uint32_t holder)
{
    return holder >> 4 & 1;
}
static inline uint32_t plm_xmem_layer(uint32_t holder)
{
    return holder >> 5;
}

struct plm_xmem_list {
    struct plm_lifetime *item;
    size_t count, room;
    size_t parameters; /* of the items */
};
int plm_xmem_add(struct plm_xmem_list *list, int64_t born, int64_t dies, uint64_t bytes, uint32_t holder);
/* The n-th of what exists before everything else is born then. */
int64_t plm_xmem_before_all(size_t n);

/* Steps that are looked at: the first and the second of the trace, or the only one. */
enum { PLM_XMEM_STEPS = 2 };
struct plm_xmem_run {
    const struct plm_trace *trace;
    struct plm_xmem_step step[PLM_XMEM_STEPS];
    int steps;
    struct plm_xmem_blocks blocks;
    struct plm_xmem_list list;
    uint64_t left_out;
};
/* Each fills run->list. xmem_orchestrate.c, xmem_plus.c. */
int plm_xmem_orchestrate(struct plm_xmem_run *run, struct plm_error *error);
int plm_xmem_correct(struct plm_xmem_run *run, struct plm_error *error);

/* The batches that a step brings to the GPU: its aten::to with the arguments of Tensor.to(device). Calls `found` for each. */
typedef int plm_xmem_batch_found(void *context, const struct plm_trace_op *op, const struct plm_trace_to *to);
int plm_xmem_batches(const struct plm_trace *trace, const struct plm_xmem_step *step, bool all,
                     plm_xmem_batch_found *found, void *context);

/* ---- xmem_result.c: from lifetimes to the result ---- */

int plm_xmem_conclude(struct plm_xmem_run *run, uint64_t limit, struct plm_xmem_result *result);

#endif
