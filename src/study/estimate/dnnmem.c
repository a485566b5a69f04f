/*
 * DNNMem (Gao et al., ESEC/FSE 2020), as its paper describes it, so "-style": a walk over the graph of operators,
 * forward and then backward. An operator owns its weights and their gradients, its output and that output's gradient.
 * Weights are there from the start and weight gradients stay to the end of the step; outputs and their gradients go
 * with the last operator that reads them. All of it passes through a simulated allocator. Ephemeral tensors, the
 * workspaces of the paper, are not known without a GPU and are left out; an optimizer's state is no part of it.
 *
 * Time is the index of the operator: node i of n runs at i and its backward pass at 2n-1-i.
 */
#include "base/memory.h"
#include "study/estimate/amount.h"
#include "study/estimate/description.h"
#include "study/estimate/method.h"
#include "study/estimate/graph.h"
#include "study/estimate/simulator.h"

struct work {
    const struct plm_description *d;
    int64_t n;
    int64_t *last_use, *gradient_born; /* per node; of the memory that holds its output */
    struct plm_lifetime *item;
    size_t items;
};

static int64_t backward(const struct work *w, size_t node)
{
    return 2 * w->n - 1 - (int64_t)node;
}

static void output_use(const struct work *w, size_t node, int64_t when)
{
    int64_t *last = &w->last_use[plm_described_node_holder(w->d, node)];
    *last = when > *last ? when : *last;
}

static void tensor_add(struct work *w, int64_t born, int64_t dies, uint64_t bytes)
{
    if (bytes)
        w->item[w->items++] = (struct plm_lifetime){.born = born, .dies = dies, .bytes = bytes};
}

/* Who reads what, and when the first gradient of each output comes. */
static void follow(struct work *w)
{
    for (size_t i = 0; i < w->d->nodes; i++) {
        const struct plm_described_node *node = &w->d->node[i];
        const enum plm_saved saved = plm_described_node_saves(w->d, node);
        w->last_use[i] = (int64_t)i;
        for (size_t k = 0; k < node->inputs; k++) {
            size_t from = plm_described_node_holder(w->d, node->input[k]);
            output_use(w, from, saved == PLM_SAVES_INPUTS && node->shares < 0 ? backward(w, i) : (int64_t)i);
            if (backward(w, i) < w->gradient_born[from])
                w->gradient_born[from] = backward(w, i);
        }
        if (saved == PLM_SAVES_OUTPUT)
            output_use(w, i, backward(w, i));
    }
}

static void place_weights(struct work *w)
{
    for (size_t i = 0; i < w->d->parameters; i++)
        tensor_add(w, -1, PLM_NEVER, w->d->parameter[i].bytes);
    for (size_t i = 0; i < w->d->buffers; i++)
        tensor_add(w, -1, PLM_NEVER, w->d->buffer[i].bytes);
}

/* A weight's gradient comes with the backward pass of the last call of its module, which is the first in time; a
   module that the graph has no call of has its weights used somewhere inside another: then it comes with the first
   backward operator. */
static void place_gradients(struct work *w)
{
    int64_t *when = plm_calloc(w->d->modules, sizeof *when);
    for (size_t i = 0; i < w->d->modules; i++)
        when[i] = w->n;
    for (size_t i = 0; i < w->d->nodes; i++)
        if (w->d->node[i].module >= 0)
            when[w->d->node[i].module] = backward(w, i);
    for (size_t i = 0; i < w->d->parameters; i++)
        if (w->d->parameter[i].trainable)
            tensor_add(w, when[w->d->parameter[i].module], PLM_NEVER, w->d->parameter[i].bytes);
    free(when);
}

static void place_outputs(struct work *w)
{
    for (size_t i = 0; i < w->d->nodes; i++) {
        const struct plm_described_node *node = &w->d->node[i];
        if (plm_described_node_is(node, "output") || plm_described_node_is(node, "get_attr") || node->shares >= 0)
            continue;
        if (plm_described_node_is(node, "placeholder")) { /* a batch stays for the step, and has no gradient */
            tensor_add(w, (int64_t)i, PLM_NEVER, node->bytes);
            continue;
        }
        tensor_add(w, (int64_t)i, w->last_use[i], node->bytes);
        if (w->gradient_born[i] != PLM_NEVER)
            tensor_add(w, w->gradient_born[i], backward(w, i), node->bytes);
    }
}

static uint64_t simulated_peak(struct work *w)
{
    struct plm_simulation simulation;
    for (size_t i = 0; i < w->d->nodes; i++)
        w->gradient_born[i] = PLM_NEVER;
    follow(w);
    place_weights(w);
    place_outputs(w);
    place_gradients(w);
    plm_simulate_torch(w->item, w->items, UINT64_MAX, &simulation);
    return simulation.peak;
}

static void dnnmem_estimate(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct plm_description *d = evidence->description;
    struct work w = {.d = d, .n = (int64_t)d->nodes};
    if (!d->nodes) {
        plm_answer_none(answer, "torch.fx cannot trace this model: %.120s",
                        d->graph_missing ? d->graph_missing : "the description does not say why");
        return;
    }
    w.last_use = plm_calloc(d->nodes, sizeof *w.last_use);
    w.gradient_born = plm_calloc(d->nodes, sizeof *w.gradient_born);
    w.item = plm_calloc(2 * (d->nodes + d->parameters) + d->buffers, sizeof *w.item);
    answer->bytes = simulated_peak(&w);
    free(w.last_use);
    free(w.gradient_born);
    free(w.item);
}

const struct plm_method plm_method_dnnmem = {
    .name = "dnnmem",
    .shown = "dnnmem-style",
    .paradigm = PLM_ANALYTICAL,
    .kind = PLM_ANSWER_RESERVED,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "models with a static graph",
    .leaves_out = "optimizer state, workspaces",
    .estimate = dnnmem_estimate,
};
