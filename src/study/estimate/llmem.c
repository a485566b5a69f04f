/*
 * LLMem (Kim et al., IJCAI 2024), for fine-tuning decoders with fp16 weights, AdamW, gradient checkpointing and
 * Gemini's chunks. Every tensor is rounded up to 2 MiB. The base, which is measured on a GPU there, is the fp16 model
 * here; the context is shown apart.
 *
 * Which tensors count follows from a walk over the modules in the order of the model, and the walk is the method,
 * with its limits: a block is a module whose class is called ...Block or ...DecoderLayer; only modules of the classes
 * Embedding and Linear change the width of the hidden tensor and have parameters that count; of a ...Block the first
 * Linear is passed over. So in GPT-2, whose blocks have Conv1D instead of Linear, the weights of the blocks have no
 * optimizer state, and the output layer, being the first Linear after a block, is passed over: the head is as wide as
 * the hidden tensor then. The figures that were published for it in the comparison of xMem show exactly this
 * (docs/methods.md).
 */
#include <string.h>

#include "base/memory.h"
#include "study/estimate/amount.h"
#include "study/estimate/description.h"
#include "study/estimate/method.h"

enum { HALF = 2, SINGLE = 4, TOKEN = 8 };

/* To the next multiple of 2 MiB. */
static uint64_t rounded(uint64_t bytes)
{
    const uint64_t unit = 2 << 20;
    return bytes % unit ? plm_plus(bytes, unit - bytes % unit) : bytes;
}

static uint64_t bytes_share(uint64_t bytes, uint64_t parts, uint64_t of)
{
    return plm_plus(plm_times(bytes, parts), of - 1) / of;
}

/* ---- parameters ---- */

/* Of one tensor of s elements that is not the last: its share that other GPUs hold is gathered; the moments are
   spread over all. */
static uint64_t parameter(uint64_t s, const struct plm_evidence *c)
{
    const uint64_t g = c->gpus > 0 ? (uint64_t)c->gpus : 1;
    const uint64_t tp = c->tensor_parallel > 1 ? (uint64_t)c->tensor_parallel : 0;
    const uint64_t whole = rounded(plm_times(HALF, s));
    uint64_t bytes = plm_times(2, rounded(bytes_share(plm_times(SINGLE, s), 1, g)));
    if (g > 1 && !tp)
        bytes = plm_plus(bytes, rounded(bytes_share(whole, g - 1, g)));
    else if (g > 1 && tp < g)
        bytes = plm_plus(bytes, rounded(bytes_share(whole, g - tp - 1, g)));
    return bytes;
}

static bool counts(const struct plm_described_module *m)
{
    return strstr(m->class_name, "Embedding") || !strcmp(m->class_name, "Linear");
}

/* A tensor that two modules share counts with the second one too, as it does there: the output layer is the last of
   the walk although its weight is mostly that of the embedding. The description has each tensor once; `tied` is the
   output layer's, if it has none of its own. */
static uint64_t parameters(const struct plm_evidence *c, uint64_t tied)
{
    const struct plm_description *d = c->description;
    uint64_t sum = 0, last = tied;
    size_t end = d->parameters;
    if (!tied)
        while (end > 0)
            if (counts(&d->module[d->parameter[--end].module])) {
                last = d->parameter[end].elements;
                break;
            }
    for (size_t i = 0; i < end; i++)
        if (counts(&d->module[d->parameter[i].module]))
            sum = plm_plus(sum, parameter(d->parameter[i].elements, c));
    return plm_plus(sum, rounded(plm_times(HALF, last)));
}

/* ---- activations ---- */

/* The width of what each module puts out in the run: the last dimension of its last call; 0: it was not called. */
static uint64_t *widths(const struct plm_description *d)
{
    uint64_t *width = plm_calloc(d->modules + 1, sizeof *width);
    for (size_t i = 0; i < d->calls; i++) {
        const struct plm_described_call *c = &d->call[i];
        if (c->outputs && c->output[0].dimensions)
            width[c->module] = c->output[0].shape[c->output[0].dimensions - 1];
    }
    return width;
}

struct walk {
    uint64_t tokens; /* B*S */
    uint64_t width; /* of the hidden tensor at this point */
    uint64_t sum, last; /* of all outputs so far; the last one, which does not count when it is the head */
    uint64_t gathered, gathered_last; /* what tensor parallelism gathers in the backward pass */
    size_t blocks;
};

static uint64_t half(const struct walk *w)
{
    return rounded(plm_times(plm_times(w->tokens, w->width), HALF));
}

static void add_output(struct walk *w)
{
    w->sum = plm_plus(w->sum, w->last);
    w->last = half(w);
}

static void add_gathered(struct walk *w, uint64_t tp)
{
    const uint64_t bytes = plm_times(plm_times(w->tokens, w->width), HALF);
    w->gathered = plm_plus(w->gathered, w->gathered_last);
    w->gathered_last = tp > 1 ? rounded(bytes_share(bytes, tp - 1, tp)) : 0;
}

static void modules_walk(const struct plm_description *d, const uint64_t *width, uint64_t tp, struct walk *w)
{
    size_t embeddings = 0;
    bool block_first = false;
    for (size_t i = 1; i < d->modules; i++) {
        const struct plm_described_module *m = &d->module[i];
        const bool block = strstr(m->class_name, "Block"), decoder = strstr(m->class_name, "DecoderLayer");
        if (block || decoder) {
            if (w->blocks++) {
                add_output(w);
                add_gathered(w, tp);
            }
            block_first |= block && !decoder;
        }
        if (!strcmp(m->class_name, "Embedding")) {
            if (embeddings++)
                continue;
            w->width = width[i] ? width[i] : w->width;
            add_output(w); /* of tokens and of positions */
            add_output(w);
        } else if (!strcmp(m->class_name, "Linear")) {
            if (block_first) {
                block_first = false;
                continue;
            }
            w->width = width[i] ? width[i] : w->width;
            if (i + 1 == d->modules) {
                w->sum = plm_plus(w->sum, w->last); /* the last block's output is as large as what came before it */
                add_output(w);
                add_gathered(w, tp);
            }
        }
    }
}

/* ---- all together ---- */

static uint64_t input_bytes(const struct plm_description *d)
{
    return rounded(plm_times(d->batch.input[0].elements, TOKEN));
}

/* The logits, and twice those without the last token for the loss. */
static uint64_t head_bytes(const struct plm_description *d, const struct walk *w)
{
    const uint64_t element = d->transformer.upcast_logits ? 2 * HALF : HALF;
    const uint64_t batch = d->batch.size, fewer = d->transformer.sequence - 1;
    const uint64_t short_one = plm_times(plm_times(plm_times(batch, fewer), w->width), element);
    return plm_plus(rounded(plm_times(plm_times(w->tokens, w->width), element)), plm_times(2, rounded(short_one)));
}

/* An output layer without parameters in the list has those of another module. */
static uint64_t tied_weight(const struct plm_description *d, const uint64_t *width)
{
    const size_t last = d->modules - 1;
    if (d->modules < 2 || strcmp(d->module[last].class_name, "Linear") != 0)
        return 0;
    for (size_t i = 0; i < d->parameters; i++)
        if (d->parameter[i].module == last)
            return 0;
    return plm_times(d->transformer.hidden, width[last] ? width[last] : d->transformer.vocabulary);
}

static void check_domain(const struct plm_description *d, struct plm_answer *answer)
{
    if (!d->transformer.decoder)
        plm_answer_outside(answer, "the model is not a decoder-only language model");
    if (plm_dtype_bytes(d->model.dtype) != HALF)
        plm_answer_outside(answer, "the weights are %s; the method is made for fp16", d->model.dtype);
    if (!d->model.checkpointing)
        plm_answer_outside(answer, "the model keeps its activations; the method is made for gradient checkpointing");
    if (d->optimizer.known && strncmp(d->optimizer.class_name, "Adam", 4) != 0)
        plm_answer_outside(answer, "the optimizer is %.60s; the method is made for AdamW", d->optimizer.class_name);
}

static void llmem_estimate(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct plm_description *d = evidence->description;
    const uint64_t tp = evidence->tensor_parallel > 1 ? (uint64_t)evidence->tensor_parallel : 1;
    struct walk w = {0};
    uint64_t *width;
    if (!d->transformer.known || !d->transformer.sequence || !d->transformer.hidden) {
        plm_answer_none(answer, "the model has no transformer configuration");
        return;
    }
    if (!d->batch.size || !d->batch.inputs || !d->calls) {
        plm_answer_none(answer, "the description has no batch or no module calls");
        return;
    }
    width = widths(d);
    w.tokens = plm_times(d->batch.size, d->transformer.sequence);
    w.width = d->transformer.hidden;
    modules_walk(d, width, tp, &w);
    answer->bytes = plm_plus(rounded(plm_times(HALF, d->model.parameters)),
                             plm_plus(parameters(evidence, tied_weight(d, width)), input_bytes(d)));
    answer->bytes = plm_plus(answer->bytes, plm_plus(plm_plus(w.sum, w.gathered), head_bytes(d, &w)));
    free(width);
    if (!w.blocks) {
        plm_answer_none(answer, "no module is named ...Block or ...DecoderLayer, which the method looks for");
        return;
    }
    check_domain(d, answer);
}

const struct plm_method plm_method_llmem = {
    .name = "llmem",
    .paradigm = PLM_ANALYTICAL,
    .kind = PLM_ANSWER_RESERVED,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "decoders in fp16 with AdamW and gradient checkpointing",
    .leaves_out = "activations inside blocks, gradients",
    .estimate = llmem_estimate,
};
