/*
 * DNNMem as it was re-implemented for the comparison in the paper of xMem (Middleware 2025). Two programs stand
 * behind it:
 *
 * Models that torch.fx can trace: a loss is put at the end of the graph; time is the index of the node, forward
 * 0..n-1, backward n..2n-1, and 3n for the optimizer. A node's weights come with its call and stay. Its output lives
 * from its call to the last use: by a consumer, or by a backward pass that saved it. In the backward pass each node
 * makes one gradient for each of its inputs, which lives until the producer's backward pass, and one for each of its
 * parameters, which lives until 3n. Tensors of nodes called relu are dropped, the gradients that these make included.
 * What is used only once is never freed.
 *
 * Others: each tensor that hooks on leaf modules saw in one step lives from the first to the last sight, and for ever
 * if it was seen once; the parameters, the buffers and the batch are there from the start.
 *
 * Neither has an optimizer's state or workspaces. Both go through xMem's allocator.
 *
 * Three points follow from its code, and the published figures agree with them (docs/methods.md): the producer is
 * looked up by module, so that for a module that is called several times the last call stands for all; a tensor that
 * an in-place operator changed is the tensor of the node before it, under that node's name; and saved tensors count
 * only if they are the very tensors that nodes put out, which a view of one is not.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "study/estimate/amount.h"
#include "study/estimate/description.h"
#include "study/estimate/method.h"
#include "study/estimate/graph.h"
#include "study/estimate/simulator.h"

enum { LOSS_BYTES = 4 };

struct work {
    const struct plm_description *d;
    int64_t n;               /* nodes, those of the loss and its target included */
    size_t loss;             /* before which node of the description these two stand; it takes two indices */
    int64_t *last;           /* per node: the last use of its output; the index of its call if there was none */
    bool *used;              /* anything but its own call used it */
    int64_t *backward_of;    /* per node: the backward index that stands for its producer */
    bool *flattens, *averages; /* per module: see find_views() */
    bool *placed; /* per module: its weights are there */
    size_t *parameter_of, *parameter; /* see find_parameters() */
    struct plm_lifetime *item;
    size_t items;
};

/* ---- the graph ---- */

static int64_t index_of(const struct work *w, size_t node)
{
    return (int64_t)(node + (node >= w->loss ? 2 : 0));
}

static int64_t backward_index(const struct work *w, size_t node)
{
    return 2 * w->n - 1 - index_of(w, node);
}

static void tensor_add(struct work *w, int64_t born, int64_t dies, uint64_t bytes)
{
    if (bytes)
        w->item[w->items++] = (struct plm_lifetime){.born = born, .dies = dies, .bytes = bytes};
}

/* Two uses, in whichever order they come: alive from the earlier to the later. */
static void add_between(struct work *w, int64_t one, int64_t other, uint64_t bytes)
{
    tensor_add(w, one < other ? one : other, one < other ? other : one, bytes);
}

static bool is_relu(const struct work *w, const struct plm_described_node *node)
{
    char kind[128];
    return strcasestr(plm_described_node_kind(w->d, node, kind, sizeof kind), "relu") != NULL;
}

static void output_use(struct work *w, size_t node, int64_t when)
{
    node = plm_described_node_holder(w->d, node);
    w->used[node] = true;
    w->last[node] = when > w->last[node] ? when : w->last[node];
}

/* Inputs that are attributes of the model, not results, are not followed. */
static bool is_result(const struct work *w, size_t node)
{
    return !plm_described_node_is(&w->d->node[node], "get_attr");
}

static void find_producers(struct work *w)
{
    int64_t *of_module = plm_calloc(w->d->modules + 1, sizeof *of_module);
    for (size_t i = 0; i < w->d->nodes; i++)
        if (w->d->node[i].module >= 0)
            of_module[w->d->node[i].module] = backward_index(w, i);
    for (size_t i = 0; i < w->d->nodes; i++)
        w->backward_of[i] = w->d->node[i].module >= 0 ? of_module[w->d->node[i].module] : backward_index(w, i);
    free(of_module);
}

/* A Linear of an input with more than two dimensions works on a flat view of it; pooling to a single pixel is a mean,
   which saves nothing. */
static void find_views(struct work *w)
{
    for (size_t i = 0; i < w->d->calls; i++) {
        const struct plm_described_call *c = &w->d->call[i];
        const char *class_name = w->d->module[c->module].class_name;
        const struct plm_described_tensor *out = c->output;
        const int n = c->outputs ? out->dimensions : 0;
        w->flattens[c->module] |= !strcmp(class_name, "Linear") && n > 2;
        w->averages[c->module] |=
            !strcmp(class_name, "AdaptiveAvgPool2d") && n > 2 && out->shape[n - 1] == 1 && out->shape[n - 2] == 1;
    }
}

/* Parameters by module: those of m are parameter[parameter_of[m]] to parameter[parameter_of[m + 1]]. */
static void find_parameters(struct work *w)
{
    size_t *start = w->parameter_of;
    for (size_t i = 0; i < w->d->parameters; i++)
        start[w->d->parameter[i].module + 1]++;
    for (size_t m = 0; m < w->d->modules; m++)
        start[m + 1] += start[m];
    for (size_t i = w->d->parameters; i > 0; i--)
        w->parameter[--start[w->d->parameter[i - 1].module + 1]] = i - 1;
    for (size_t m = 0; m < w->d->modules; m++)
        start[m] = start[m + 1];
    start[w->d->modules] = w->d->parameters;
}

/* The kind of its backward function. */
static const char *backward_kind(const struct work *w, size_t node, char *buffer, unsigned size)
{
    static const char *const views[] = {"view", "reshape", "flatten", "unflatten"};
    const struct plm_described_node *n = &w->d->node[node];
    const char *kind = plm_described_node_kind(w->d, n, buffer, size);
    if (n->module >= 0 && w->flattens[n->module])
        return "view";
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
        if (!strcasecmp(kind, views[i]))
            return "view";
    return kind;
}

/* What a node saved and which parameters it has is looked up from its backward function on, up to the first one of
   the kind that made an input. If that is its own kind, a convolution right after a convolution, nothing is found. */
static bool is_found(const struct work *w, size_t node)
{
    char own[64], other[64];
    const char *kind = backward_kind(w, node, own, sizeof own);
    for (size_t k = 0; k < w->d->node[node].inputs; k++) {
        const size_t input = w->d->node[node].input[k];
        if (is_result(w, input) && !plm_described_node_is(&w->d->node[input], "placeholder") &&
            !strcasecmp(kind, backward_kind(w, input, other, sizeof other)))
            return false;
    }
    return true;
}

static bool saves_inputs(const struct work *w, size_t node)
{
    const struct plm_described_node *n = &w->d->node[node];
    return plm_described_node_saves(w->d, n) == PLM_SAVES_INPUTS && n->shares < 0 &&
           !(n->module >= 0 && (w->flattens[n->module] || w->averages[n->module])) && is_found(w, node);
}

static void follow_uses(struct work *w)
{
    for (size_t i = 0; i < w->d->nodes; i++)
        w->last[i] = index_of(w, i);
    for (size_t i = 0; i < w->d->nodes; i++) {
        const struct plm_described_node *node = &w->d->node[i];
        const bool output = plm_described_node_is(node, "output");
        const bool saves = saves_inputs(w, i);
        for (size_t k = 0; k < node->inputs; k++) {
            if (!is_result(w, node->input[k]))
                continue;
            output_use(w, node->input[k],
                       output ? index_of(w, i) - 1 : index_of(w, i)); /* of the output: by the loss */
            if (saves)
                output_use(w, node->input[k], backward_index(w, i));
        }
    }
}

/* ---- lifetimes, in the order in which the original has them: it decides which piece of memory each gets ---- */

/* Weights come with the first call of their module. */
static void place_weights(struct work *w, size_t i)
{
    const int32_t m = w->d->node[i].module;
    if (m < 0 || w->placed[m])
        return;
    w->placed[m] = true;
    for (size_t k = w->parameter_of[m]; k < w->parameter_of[m + 1]; k++)
        tensor_add(w, index_of(w, i), PLM_NEVER, w->d->parameter[w->parameter[k]].bytes);
}

/* The loss and its target stand in front of the output. */
static void place_forward(struct work *w, size_t i)
{
    const struct plm_described_node *node = &w->d->node[i];
    const bool placeholder = plm_described_node_is(node, "placeholder");
    if (plm_described_node_is(node, "output")) {
        tensor_add(w, index_of(w, i) - 1, PLM_NEVER, LOSS_BYTES);
        return;
    }
    place_weights(w, i);
    if (node->shares < 0 && !is_relu(w, node))
        tensor_add(w, index_of(w, i), w->used[i] && !placeholder ? w->last[i] : PLM_NEVER, node->bytes);
}

/* The gradient of the model's output is the loss's work. */
static void place_backward(struct work *w, size_t i)
{
    const struct plm_described_node *node = &w->d->node[i];
    const bool output = plm_described_node_is(node, "output");
    const int64_t now = output ? backward_index(w, i) + 1 : backward_index(w, i);
    const int32_t m = node->module;
    for (size_t k = 0; k < node->inputs && (output || !is_relu(w, node)); k++)
        if (is_result(w, node->input[k]))
            add_between(w, now, w->backward_of[node->input[k]], w->d->node[node->input[k]].bytes);
    if (m < 0 || !is_found(w, i))
        return;
    for (size_t k = w->parameter_of[m]; k < w->parameter_of[m + 1]; k++)
        if (w->d->parameter[w->parameter[k]].trainable)
            tensor_add(w, now, 3 * w->n, w->d->parameter[w->parameter[k]].bytes);
}

/* A module that is called several times has gradients for each call. */
static size_t graph_items(const struct work *w)
{
    size_t items = 2 + w->d->parameters;
    for (size_t i = 0; i < w->d->nodes; i++) {
        const int32_t m = w->d->node[i].module;
        items += 1 + w->d->node[i].inputs + (m < 0 ? 0 : w->parameter_of[m + 1] - w->parameter_of[m]);
    }
    return items;
}

static void place_graph(struct work *w)
{
    uint64_t target = 0;
    find_producers(w);
    find_views(w);
    find_parameters(w);
    follow_uses(w);
    w->item = plm_calloc(graph_items(w), sizeof *w->item);
    for (size_t i = 0; i < w->d->batch.targets; i++)
        target = plm_plus(target, w->d->batch.target[i].bytes);
    tensor_add(w, 0, PLM_NEVER, target);
    for (size_t i = 0; i < w->d->nodes; i++)
        place_forward(w, i);
    for (size_t i = w->d->nodes; i > 0; i--)
        place_backward(w, i - 1);
}

static void by_graph(struct work *w)
{
    const struct plm_description *d = w->d;
    w->n = (int64_t)d->nodes + 2;
    w->loss = d->nodes;
    while (w->loss > 0 && plm_described_node_is(&d->node[w->loss - 1], "output"))
        w->loss--;
    w->last = plm_calloc(d->nodes, sizeof *w->last);
    w->used = plm_calloc(d->nodes, sizeof *w->used);
    w->backward_of = plm_calloc(d->nodes, sizeof *w->backward_of);
    w->flattens = plm_calloc(d->modules + 1, sizeof *w->flattens);
    w->averages = plm_calloc(d->modules + 1, sizeof *w->averages);
    w->placed = plm_calloc(d->modules + 1, sizeof *w->placed);
    w->parameter_of = plm_calloc(d->modules + 2, sizeof *w->parameter_of);
    w->parameter = plm_calloc(d->parameters + 1, sizeof *w->parameter);
    place_graph(w);
    free(w->last);
    free(w->used);
    free(w->backward_of);
    free(w->flattens);
    free(w->averages);
    free(w->placed);
    free(w->parameter_of);
    free(w->parameter);
}

/* ---- sightings ---- */

static void by_sight(struct work *w)
{
    const struct plm_description *d = w->d;
    w->item =
        plm_calloc(d->sightings + d->parameters + d->buffers + d->batch.inputs + d->batch.targets + 1, sizeof *w->item);
    for (size_t i = 0; i < d->parameters; i++)
        tensor_add(w, -1, PLM_NEVER, d->parameter[i].bytes);
    for (size_t i = 0; i < d->buffers; i++)
        tensor_add(w, -1, PLM_NEVER, d->buffer[i].bytes);
    for (size_t i = 0; i < d->batch.inputs; i++)
        tensor_add(w, -1, PLM_NEVER, d->batch.input[i].bytes);
    for (size_t i = 0; i < d->batch.targets; i++)
        tensor_add(w, -1, PLM_NEVER, d->batch.target[i].bytes);
    for (size_t i = 0; i < d->sightings; i++) {
        const struct plm_described_sighting *s = &d->sighting[i];
        tensor_add(w, s->first, s->last > s->first ? s->last : PLM_NEVER, s->bytes);
    }
}

/* ---- all together ---- */

/* What it has of the card: on a full one, free segments are given back before memory runs out. */
static uint64_t card_limit(const struct plm_question *q)
{
    return q->usable > q->context ? q->usable - q->context : q->usable;
}

struct prepared {
    struct plm_lifetime *item;
    size_t items;
};

static void *dnnmem_x_prepare(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct plm_description *d = evidence->description;
    const bool graph = !d->transformer.known && d->nodes;
    struct work w = {.d = d};
    struct prepared *p;
    if (!graph && !d->sightings) {
        plm_answer_none(answer, "the description has neither a graph nor observed tensors of this model");
        return NULL;
    }
    if (graph)
        by_graph(&w);
    else
        by_sight(&w);
    p = plm_calloc(1, sizeof *p);
    *p = (struct prepared){w.item, w.items};
    return p;
}

static void dnnmem_x_judge(void *prepared, const struct plm_question *question, struct plm_answer *answer)
{
    struct prepared *p = prepared;
    struct plm_simulation simulation;
    plm_simulate(p->item, p->items, card_limit(question), &simulation);
    answer->bytes = simulation.peak;
    answer->oom = simulation.oom;
}

static void dnnmem_x_forget(void *prepared)
{
    struct prepared *p = prepared;
    free(p->item);
    free(p);
}

const struct plm_method plm_method_dnnmem_x = {
    .name = "dnnmem-x",
    .paradigm = PLM_ANALYTICAL,
    .kind = PLM_ANSWER_RESERVED,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "the models xMem was compared on: CNNs, transformers",
    .leaves_out = "optimizer state, workspaces, ReLU tensors",
    .prepare = dnnmem_x_prepare,
    .judge = dnnmem_x_judge,
    .forget = dnnmem_x_forget,
};
