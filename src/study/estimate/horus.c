/*
 * Horus (Yeung et al., IEEE TPDS 2022), its memory formula: 4 * (A*b + P + b*P), where A is the number of elements
 * that all layers put out for one sample, P the trainable parameters, b the batch. Gradients are counted once per
 * sample (b*P), as its code does, which is why it is far too high for large models with large batches. A layer is a
 * call of a module that calls no other.
 */
#include "study/estimate/amount.h"
#include "study/estimate/description.h"
#include "study/estimate/method.h"

enum { ELEMENT = 4 }; /* it knows float32 alone */

/* What its authors add for what the formula leaves out. */
#define RESERVE 1000000000ull

static uint64_t output_elements(const struct plm_description *d)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < d->calls; i++)
        for (size_t k = 0; d->module[d->call[i].module].leaf && k < d->call[i].outputs; k++)
            sum = plm_plus(sum, d->call[i].output[k].elements);
    return sum;
}

static void horus_estimate(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct plm_description *d = evidence->description;
    const uint64_t batch = d->batch.size, parameters = d->model.trainable;
    uint64_t elements = output_elements(d); /* A*b: the outputs are those of the whole batch */
    char precision[PLM_DESCRIPTION_PRECISION_BYTES];
    if (!batch) {
        plm_answer_none(answer, "the inputs have no common first dimension, so there is no batch size");
        return;
    }
    if (!elements) {
        plm_answer_none(answer, "the description has no module calls");
        return;
    }
    elements = plm_plus(elements, plm_plus(parameters, plm_times(batch, parameters)));
    answer->bytes = plm_times(ELEMENT, elements);
    if (plm_dtype_bytes(d->model.dtype) != ELEMENT || plm_dtype_bytes(plm_description_activations(d)) != ELEMENT)
        plm_answer_outside(answer, "the job trains in %s; the formula assumes 4 bytes for everything",
                           plm_description_precision(d, precision));
}

static void horus_1000_estimate(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    horus_estimate(evidence, answer);
    if (answer->state != PLM_UNANSWERED)
        answer->bytes = plm_plus(answer->bytes, RESERVE);
}

const struct plm_method plm_method_horus = {
    .name = "horus",
    .paradigm = PLM_ANALYTICAL,
    .kind = PLM_ANSWER_ALLOCATED,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "training in float32",
    .leaves_out = "optimizer state, workspaces, the allocator",
    .estimate = horus_estimate,
};

const struct plm_method plm_method_horus_1000 = {
    .name = "horus-1000",
    .paradigm = PLM_ANALYTICAL,
    .kind = PLM_ANSWER_ALLOCATED,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "training in float32",
    .leaves_out = "what exceeds its flat 1000 MB for the rest",
    .estimate = horus_1000_estimate,
};
