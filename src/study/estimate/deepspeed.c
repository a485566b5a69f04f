/*
 * DeepSpeed's estimators of what the state of a model takes under ZeRO (deepspeed.runtime.zero:
 * estimate_zero2_model_states_mem_needs, estimate_zero3_model_states_mem_needs). P parameters, shared ones once; L
 * the most parameters that one module owns; g GPUs on n nodes, k = g/n of them on each. 2 bytes a parameter for fp16
 * weights, 18 for gradients, the fp32 copy, the moments and fp32 gradients; the buffer factor 1.5 is for the host.
 * What the host needs is in the note.
 */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "study/estimate/amount.h"
#include "study/estimate/description.h"
#include "study/estimate/method.h"

struct zero {
    uint64_t parameters, largest; /* P; 4*L: fp16 parameters and gradients of the layer at work */
    uint64_t gpus, nodes, per_node;
};

static struct zero zero(const struct plm_evidence *evidence)
{
    const struct plm_described_model *model = &evidence->description->model;
    const uint64_t gpus = evidence->gpus > 0 ? (uint64_t)evidence->gpus : 1,
                   nodes = evidence->nodes > 0 ? (uint64_t)evidence->nodes : 1;
    return (struct zero){.parameters = model->parameters,
                         .largest = plm_times(4, model->largest_module),
                         .gpus = gpus,
                         .nodes = nodes,
                         .per_node = gpus > nodes ? gpus / nodes : 1};
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void answer_with(const struct plm_evidence *evidence, uint64_t card, uint64_t host, struct plm_answer *answer)
{
    const struct plm_description *d = evidence->description;
    char text[32], precision[PLM_DESCRIPTION_PRECISION_BYTES];
    answer->bytes = card;
    if (plm_dtype_bytes(d->model.dtype) != 2)
        plm_answer_outside(answer, "the job trains in %s; the formula is for 2-byte weights with a float32 copy",
                           plm_description_precision(d, precision));
    if (d->optimizer.known && strncmp(d->optimizer.class_name, "Adam", 4) != 0)
        plm_answer_outside(answer, "the optimizer is %.60s; the formula is for Adam", d->optimizer.class_name);
    if (answer->state == PLM_ANSWERED)
        snprintf(answer->note, sizeof answer->note, "each node needs %s of host memory as well",
                 plm_size_text(text, sizeof text, host + host / 2));
}

static void zero2(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct zero z = zero(evidence);
    const uint64_t card = plm_plus(plm_times(2, z.parameters), plm_times(18, z.parameters) / z.gpus);
    answer_with(evidence, card, plm_times(plm_times(4, z.parameters), z.per_node), answer);
}

static void zero2_offload(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct zero z = zero(evidence);
    answer_with(evidence, plm_times(2, z.parameters), plm_times(z.parameters, most(4 * z.gpus, 16)), answer);
}

static void zero3(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct zero z = zero(evidence);
    const uint64_t card = plm_plus(z.largest, plm_times(18, z.parameters) / z.gpus);
    answer_with(evidence, card, plm_times(z.largest, z.per_node), answer);
}

static void zero3_offload_optimizer(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct zero z = zero(evidence);
    const uint64_t card = plm_plus(z.largest, plm_times(2, z.parameters) / z.gpus);
    answer_with(evidence, card, plm_times(16, z.parameters) / z.nodes, answer);
}

static void zero3_offload(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct zero z = zero(evidence);
    answer_with(evidence, z.largest, plm_times(18, z.parameters) / z.nodes, answer);
}

/* All answer with the same kind, from the same evidence, and leave the same out. */
#define ZERO(title, made_for, function)       \
    {.name = title,                           \
     .paradigm = PLM_ANALYTICAL,              \
     .kind = PLM_ANSWER_ALLOCATED,            \
     .needs = PLM_NEEDS_DESCRIPTION,          \
     .domain = made_for,                      \
     .leaves_out = "activations, workspaces", \
     .estimate = function}

const struct plm_method plm_method_deepspeed_zero2 =
    ZERO("deepspeed-zero2", "mixed precision with Adam under ZeRO-2", zero2);
const struct plm_method plm_method_deepspeed_zero2_offload =
    ZERO("deepspeed-zero2-offload", "the same, optimizer on the host", zero2_offload);
const struct plm_method plm_method_deepspeed_zero3 =
    ZERO("deepspeed-zero3", "mixed precision with Adam under ZeRO-3", zero3);
const struct plm_method plm_method_deepspeed_zero3_offload_optimizer =
    ZERO("deepspeed-zero3-offload-optimizer", "the same, optimizer on the host", zero3_offload_optimizer);
const struct plm_method plm_method_deepspeed_zero3_offload =
    ZERO("deepspeed-zero3-offload", "the same, optimizer and parameters on the host", zero3_offload);
