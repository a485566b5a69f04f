/*
 * The spreadsheet: parameters + gradients + optimizer state + activations, where the activations of a transformer are
 * s*b*h*(34 + 5*a*s/h) bytes per layer (Korthikanti et al., "Reducing Activation Recomputation in Large Transformer
 * Models", 2022): s the length of the sequence, b the batch, h the width, a the heads. The other parts are as the
 * description has them: bytes of the parameters, as much again for the gradients of those that are trained, and the
 * optimizer's state.
 */
#include <string.h>

#include "study/estimate/amount.h"
#include "study/estimate/description.h"
#include "study/estimate/method.h"

static uint64_t gradients(const struct plm_description *d)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < d->parameters; i++)
        if (d->parameter[i].trainable)
            sum = plm_plus(sum, d->parameter[i].bytes);
    return sum;
}

/* s*b*h*(34 + 5*a*s/h) = s*b*(34*h + 5*a*s), which needs no division. */
static uint64_t activations(const struct plm_described_transformer *t, uint64_t batch)
{
    const uint64_t inner = plm_plus(plm_times(34, t->hidden), plm_times(plm_times(5, t->heads), t->sequence));
    return plm_times(t->layers, plm_times(plm_times(t->sequence, batch), inner));
}

static void activations_estimate(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct plm_description *d = evidence->description;
    if (!d->transformer.known) {
        plm_answer_none(answer, "the model has no transformer configuration");
        return;
    }
    if (!d->batch.size) {
        plm_answer_none(answer, "the inputs have no common first dimension, so there is no batch size");
        return;
    }
    answer->bytes = plm_plus(plm_plus(d->model.parameter_bytes, gradients(d)),
                             plm_plus(d->optimizer.state_bytes, activations(&d->transformer, d->batch.size)));
    if (plm_dtype_bytes(plm_description_activations(d)) != 2)
        plm_answer_outside(answer, "the model's data type is %s; the formula assumes 2 bytes per activation",
                           d->model.dtype);
    if (d->model.checkpointing)
        plm_answer_outside(answer, "the model checkpoints its activations; the formula keeps them all");
}

const struct plm_method plm_method_activations = {
    .name = "activations",
    .paradigm = PLM_ANALYTICAL,
    .kind = PLM_ANSWER_ALLOCATED,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "transformers in fp16 without checkpointing",
    .leaves_out = "embeddings, logits, workspaces, the allocator",
    .estimate = activations_estimate,
};
