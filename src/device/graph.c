#include <stdatomic.h>
#include <stdlib.h>

#include "device/calls.h"
#include "device/capture.h"
#include "device/device.h"
#include "device/footprint.h"
#include "device/known.h"
#include "device/stream.h"

struct plm_graph_node {
    enum plm_node_type type;
};

struct plm_graph {
    struct plm_graph_node **node;
    size_t count, room, kernels;
    uint32_t number;
};

struct plm_graph_exec {
    size_t kernels, nodes;
    int device;
    uint32_t number; /* of the graph it was made from */
};

int plm_graph_create(struct plm_graph **out)
{
    static _Atomic uint32_t last_number;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return PLM_STREAM_NOMEM;
    (*out)->number = atomic_fetch_add(&last_number, 1) + 1;
    return 0;
}

uint32_t plm_graph_number(const struct plm_graph *graph)
{
    return graph->number;
}

int plm_graph_destroy(struct plm_graph *graph)
{
    if (!graph)
        return PLM_STREAM_INVALID;
    for (size_t i = 0; i < graph->count; i++)
        free(graph->node[i]);
    free(graph->node);
    free(graph);
    return 0;
}

int plm_graph_add(struct plm_graph *graph, enum plm_node_type type, struct plm_graph_node **out)
{
    struct plm_graph_node *node;
    if (!graph)
        return PLM_STREAM_INVALID;
    if (graph->count == graph->room) {
        size_t room = graph->room ? 2 * graph->room : 64;
        struct plm_graph_node **more = realloc(graph->node, room * sizeof(*more));
        if (!more)
            return PLM_STREAM_NOMEM;
        graph->node = more;
        graph->room = room;
    }
    node = malloc(sizeof *node);
    if (!node)
        return PLM_STREAM_NOMEM;
    node->type = type;
    graph->node[graph->count++] = node;
    graph->kernels += type == PLM_NODE_KERNEL;
    if (out)
        *out = node;
    return 0;
}

void plm_graph_count(struct plm_graph *graph, enum plm_node_type type)
{
    plm_graph_add(graph, type, NULL);
}

int plm_graph_clone(struct plm_graph *graph, struct plm_graph **out)
{
    int status = graph ? plm_graph_create(out) : PLM_STREAM_INVALID;
    for (size_t i = 0; status == 0 && i < graph->count; i++)
        status = plm_graph_add(*out, graph->node[i]->type, NULL);
    return status;
}

int plm_graph_nodes(struct plm_graph *graph, struct plm_graph_node **nodes, size_t *count)
{
    if (!graph || !count)
        return PLM_STREAM_INVALID;
    if (nodes) {
        for (size_t i = 0; i < *count; i++)
            nodes[i] = i < graph->count ? graph->node[i] : NULL;
        *count = *count < graph->count ? *count : graph->count;
    } else
        *count = graph->count;
    return 0;
}

int plm_graph_node_type(struct plm_graph_node *node, enum plm_node_type *type)
{
    if (!node || !type)
        return PLM_STREAM_INVALID;
    *type = node->type;
    return 0;
}

int plm_graph_instantiate(struct plm_graph *graph, struct plm_graph_exec **out)
{
    if (!graph || !out)
        return PLM_STREAM_INVALID;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return PLM_STREAM_NOMEM;
    (*out)->kernels = graph->kernels;
    (*out)->nodes = graph->count;
    (*out)->device = plm_device_current();
    (*out)->number = graph->number;
    plm_footprint_graph((*out)->device, (int64_t)graph->count);
    return 0;
}

int plm_graph_exec_destroy(struct plm_graph_exec *exec)
{
    if (!exec)
        return PLM_STREAM_INVALID;
    plm_footprint_graph(exec->device, -(int64_t)exec->nodes);
    free(exec);
    return 0;
}

int plm_graph_launch(struct plm_graph_exec *exec, struct plm_stream *stream)
{
    bool run;
    int status;
    if (!exec)
        return PLM_STREAM_INVALID;
    status = plm_stream_enqueue(stream, PLM_NODE_GRAPH, &run);
    if (status)
        return status;
    if (run)
        plm_known_forget(); /* what it writes is not told */
    for (size_t i = 0; run && i < exec->kernels; i++)
        plm_launch(NULL);
    plm_call_graph(exec->number, exec->kernels, stream, run);
    return 0;
}
