/*
 * Inside xMem: blocks, steps, layers and the list of lifetimes that they become.
 *
 * Traces come from anywhere. What is published as a search over all operators for each layer is bounded here by a
 * budget of looks, which honest traces do not come near; beyond it the trace is refused: PLM_EFORMAT with a sentence.
 */
#ifndef PLM_ESTIMATE_XMEM_INTERNAL_H
#define PLM_ESTIMATE_XMEM_INTERNAL_H

#include "study/estimate/xmem.h"
#include "study/trace/trace.h"

/* ---- xmem_analyzer.c ---- */

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
void plm_xmem_blocks(const struct plm_trace *trace, int64_t until, struct plm_xmem_blocks *out);
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
void plm_xmem_add(struct plm_xmem_list *list, int64_t born, int64_t dies, uint64_t bytes, uint32_t holder);
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

/* The batches that a step brings to the GPU: its aten::to with the arguments of Tensor.to(device). Calls `found` for
   each. */
typedef void plm_xmem_batch_found(void *context, const struct plm_trace_op *op, const struct plm_trace_to *to);
void plm_xmem_batches(const struct plm_trace *trace, const struct plm_xmem_step *step, bool all,
                      plm_xmem_batch_found *found, void *context);

#endif
