/*
 * `accelerate estimate-memory` (Hugging Face): what a model takes to be trained with Adam is four times its own
 * bytes, parameters and buffers: the model, its gradients, two moments. The batch plays no part.
 */
#include <string.h>

#include "study/estimate/amount.h"
#include "study/estimate/description.h"
#include "study/estimate/method.h"

static void accelerate_estimate(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct plm_description *d = evidence->description;
    answer->bytes = plm_times(4, plm_plus(d->model.parameter_bytes, d->model.buffer_bytes));
    if (d->optimizer.known && strncmp(d->optimizer.class_name, "Adam", 4) != 0)
        plm_answer_outside(answer, "the optimizer is %.60s; the factor is for Adam", d->optimizer.class_name);
    if (d->model.trainable < d->model.parameters)
        plm_answer_outside(answer,
                           "some parameters are frozen; the factor counts gradients and moments for all of them");
}

const struct plm_method plm_method_accelerate = {
    .name = "accelerate",
    .paradigm = PLM_ANALYTICAL,
    .kind = PLM_ANSWER_ALLOCATED,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "training all parameters with Adam",
    .leaves_out = "activations, workspaces, the allocator",
    .estimate = accelerate_estimate,
};
