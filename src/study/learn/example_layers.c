/*
 * The layers of a description: calls of leaf modules in order, and whose outputs each works on.
 *
 * nn.MultiheadAttention computes with the weights of its projection and never calls it, so its own call is a layer: the
 * projection of attention to its output, with the parameters of all that is in it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/estimate/description.h"
#include "study/learn/example_parts.h"

struct layers {
    const struct plm_description *description;
    struct plm_layer *layer;
    uint32_t *call; /* of each layer */
    size_t count;
};

static bool is_attention(const struct plm_described_module *module)
{
    return !strcmp(module->class_name, "MultiheadAttention");
}

static bool is_layer(const struct plm_description *d, const struct plm_described_call *call)
{
    const struct plm_described_module *module = &d->module[call->module];
    return !call->again && (module->leaf || is_attention(module));
}

/* ---- one layer ---- */

static bool is_inside(const struct plm_description *d, int32_t module, uint32_t outer)
{
    while (module > (int32_t)outer) /* parents stand before their children */
        module = d->module[module].parent;
    return module == (int32_t)outer;
}

static double parameters_inside(const struct plm_description *d, uint32_t outer)
{
    double sum = 0;
    for (size_t i = outer; i < d->modules; i++)
        if (is_inside(d, (int32_t)i, outer))
            sum += (double)d->module[i].own_parameters;
    return sum;
}

static void layer_fill(const struct plm_description *d, const struct plm_described_call *call, struct plm_layer *layer)
{
    const struct plm_described_module *module = &d->module[call->module];
    const struct plm_described_tensor *first = call->outputs ? &call->output[0] : NULL;
    *layer = (struct plm_layer){.kind = plm_layer_kind(module), .flops = fmin(call->flops, PLM_LAYER_MOST)};
    for (size_t i = 0; i < call->outputs; i++)
        layer->elements += (double)call->output[i].elements;
    layer->elements = fmin(layer->elements, PLM_LAYER_MOST);
    if (first)
        layer->width = first->dimensions ? (double)first->shape[first->dimensions - 1] : 1;
    layer->parameters = module->leaf ? (double)module->own_parameters : parameters_inside(d, call->module);
    layer->parameters = fmin(layer->parameters, PLM_LAYER_MOST);
}

static void layers_fill(struct layers *l)
{
    const struct plm_description *d = l->description;
    for (size_t i = 0; i < d->calls; i++)
        if (is_layer(d, &d->call[i])) {
            layer_fill(d, &d->call[i], &l->layer[l->count]);
            l->call[l->count++] = (uint32_t)i;
        }
}

/* ---- what it works on ---- */

struct sources { /* of a value: the layers it was made of */
    uint32_t layer[PLM_LAYER_INPUTS];
    size_t count;
};

static void source_add(struct sources *sources, uint32_t layer)
{
    for (size_t i = 0; i < sources->count; i++)
        if (sources->layer[i] == layer)
            return;
    if (sources->count < PLM_LAYER_INPUTS)
        sources->layer[sources->count++] = layer;
}

static struct sources sources_join(const struct plm_described_node *node, const struct sources *known)
{
    struct sources joined = {0};
    for (size_t i = 0; i < node->inputs; i++)
        for (size_t k = 0; k < known[node->input[i]].count; k++)
            source_add(&joined, known[node->input[i]].layer[k]);
    return joined;
}

static void layer_follows(struct plm_layer *layer, size_t index)
{
    layer->inputs = index > 0;
    layer->input[0] = index ? (uint32_t)index - 1 : 0;
}

static void layer_takes(struct plm_layer *layer, const struct sources *sources)
{
    layer->inputs = sources->count;
    memcpy(layer->input, sources->layer, sizeof layer->input);
}

/* The call that this node is, from `from` on; the number of calls: there is none. */
static size_t call_of_node(const struct plm_description *d, const struct plm_described_node *node, size_t from)
{
    while (from < d->calls && (d->call[from].again || (int32_t)d->call[from].module != node->module))
        from++;
    return from;
}

/* The layers from *next up to a call are one node of the graph: the first has the inputs of the node, the others come
   after one another. False: the call has others in it than the module's own. */
static bool node_take(struct layers *l, const struct plm_described_node *node, size_t call, size_t *next,
                      struct sources *sources)
{
    const struct plm_description *d = l->description;
    const size_t first = *next;
    for (; *next < l->count && l->call[*next] <= call; ++*next) {
        if (!is_inside(d, (int32_t)d->call[l->call[*next]].module, (uint32_t)node->module))
            return false;
        if (*next == first)
            layer_takes(&l->layer[*next], sources);
        else
            layer_follows(&l->layer[*next], *next);
    }
    if (*next > first)
        *sources = (struct sources){.layer = {(uint32_t)*next - 1}, .count = 1};
    return true;
}

/* By the graph. False: it is not that of the calls. */
static bool graph_follow(struct layers *l, struct sources *known)
{
    const struct plm_description *d = l->description;
    size_t call = 0, next = 0;
    for (size_t i = 0; i < d->nodes; i++) {
        const struct plm_described_node *node = &d->node[i];
        known[i] = sources_join(node, known);
        if (node->module == PLM_GRAPH_NO_MODULE)
            continue;
        call = call_of_node(d, node, call);
        if (call == d->calls || !node_take(l, node, call, &next, &known[i]))
            return false;
        call++;
    }
    return next == l->count;
}

static void layers_join(struct layers *l)
{
    struct sources *known = plm_calloc(l->description->nodes, sizeof *known);
    if (!l->description->nodes || !graph_follow(l, known))
        for (size_t i = 0; i < l->count; i++)
            layer_follows(&l->layer[i], i);
    free(known);
}

int plm_example_layers(const struct plm_description *description, struct plm_example *example, struct plm_error *error)
{
    struct layers l = {.description = description};
    size_t count = 0;
    for (size_t i = 0; i < description->calls; i++)
        count += is_layer(description, &description->call[i]);
    if (count == 0)
        return plm_fail(error, PLM_EFORMAT, "the description has no module calls: `plimsoll describe` records them");
    if (count > PLM_LAYERS_MOST)
        return plm_fail(error, PLM_EFORMAT, "the network has %zu layers, but at most %d are supported", count,
                        PLM_LAYERS_MOST);
    l.layer = plm_calloc(count, sizeof *l.layer);
    l.call = plm_calloc(count, sizeof *l.call);
    layers_fill(&l);
    layers_join(&l);
    example->layer = l.layer;
    example->layers = count;
    free(l.call);
    return 0;
}
