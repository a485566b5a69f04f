#include <string.h>

#include "shim/cuda/driver.h"

/* Graphs: nodes are counted and typed; what they would do is not kept. */

PLM_API int cuGraphCreate(struct plm_graph **out, unsigned flags)
{
    return out && !flags ? plm_cu_from_stream(plm_graph_create(out)) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuGraphClone(struct plm_graph **out, struct plm_graph *graph)
{
    return out ? plm_cu_from_stream(plm_graph_clone(graph, out)) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuGraphDestroy(struct plm_graph *graph)
{
    return plm_cu_from_stream(plm_graph_destroy(graph));
}

PLM_API int cuGraphGetNodes(struct plm_graph *graph, struct plm_graph_node **nodes, size_t *count)
{
    return count ? plm_cu_from_stream(plm_graph_nodes(graph, nodes, count)) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuGraphNodeGetType(struct plm_graph_node *node, int *type)
{
    enum plm_node_type found = PLM_NODE_EMPTY;
    int status;
    if (!type)
        return PLM_CU_INVALID_VALUE;
    status = plm_cu_from_stream(plm_graph_node_type(node, &found));
    *type = (int)found;
    return status;
}

/* ---- nodes: the arguments after the graph say what a node does and on what it waits ---- */

static int node_add(struct plm_graph_node **out, struct plm_graph *graph, int type)
{
    return out ? plm_cu_from_stream(plm_graph_add(graph, (enum plm_node_type)type, out)) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuGraphAddKernelNode_v2(struct plm_graph_node **out, struct plm_graph *graph)
{
    return node_add(out, graph, PLM_NODE_KERNEL);
}
PLM_API int cuGraphAddKernelNode(struct plm_graph_node **out, struct plm_graph *graph)
    __attribute__((alias("cuGraphAddKernelNode_v2")));

PLM_API int cuGraphAddMemcpyNode(struct plm_graph_node **out, struct plm_graph *graph)
{
    return node_add(out, graph, PLM_NODE_MEMCPY);
}

PLM_API int cuGraphAddMemsetNode(struct plm_graph_node **out, struct plm_graph *graph)
{
    return node_add(out, graph, PLM_NODE_MEMSET);
}

PLM_API int cuGraphAddHostNode(struct plm_graph_node **out, struct plm_graph *graph)
{
    return node_add(out, graph, PLM_NODE_HOST);
}

PLM_API int cuGraphAddChildGraphNode(struct plm_graph_node **out, struct plm_graph *graph)
{
    return node_add(out, graph, PLM_NODE_GRAPH);
}

PLM_API int cuGraphAddEmptyNode(struct plm_graph_node **out, struct plm_graph *graph)
{
    return node_add(out, graph, PLM_NODE_EMPTY);
}

PLM_API int cuGraphAddEventWaitNode(struct plm_graph_node **out, struct plm_graph *graph)
{
    return node_add(out, graph, PLM_NODE_WAIT_EVENT);
}

PLM_API int cuGraphAddEventRecordNode(struct plm_graph_node **out, struct plm_graph *graph)
{
    return node_add(out, graph, PLM_NODE_EVENT_RECORD);
}

enum { NODE_SEMAPHORE_SIGNAL = 8, NODE_SEMAPHORE_WAIT = 9, NODE_BATCH_MEMOP = 12, NODE_TYPES = 14 };

PLM_API int cuGraphAddBatchMemOpNode(struct plm_graph_node **out, struct plm_graph *graph)
{
    return node_add(out, graph, NODE_BATCH_MEMOP);
}

/* Of any type, which stands first in the parameters. Refused are those whose parameters carry results
   (allocation, conditional) and those that need a world outside. */
static int add_any(struct plm_graph_node **out, struct plm_graph *graph, const int *params,
                   const struct plm_symbol *symbol)
{
    if (!params || *params < 0 || *params >= NODE_TYPES)
        return PLM_CU_INVALID_VALUE;
    switch (*params) {
    case NODE_SEMAPHORE_SIGNAL:
    case NODE_SEMAPHORE_WAIT:
    case PLM_NODE_MEM_ALLOC:
    case PLM_NODE_MEM_FREE:
    case PLM_NODE_CONDITIONAL: return plm_cu_refuse(symbol);
    default: return node_add(out, graph, *params);
    }
}

PLM_API int cuGraphAddNode(struct plm_graph_node **out, struct plm_graph *graph, const void *dependencies, size_t count,
                           const int *params)
{
    static const struct plm_symbol symbol = {"cuda", "cuGraphAddNode"};
    (void)dependencies, (void)count;
    return add_any(out, graph, params, &symbol);
}

PLM_API int cuGraphAddNode_v2(struct plm_graph_node **out, struct plm_graph *graph, const void *dependencies,
                              const void *edges, size_t count, const int *params)
{
    static const struct plm_symbol symbol = {"cuda", "cuGraphAddNode_v2"};
    (void)dependencies, (void)edges, (void)count;
    return add_any(out, graph, params, &symbol);
}

/* ---- executable graphs ---- */

PLM_API int cuGraphInstantiateWithFlags(struct plm_graph_exec **out, struct plm_graph *graph, uint64_t flags)
{
    (void)flags;
    return out ? plm_cu_from_stream(plm_graph_instantiate(graph, out)) : PLM_CU_INVALID_VALUE;
}

PLM_API int cuGraphInstantiate_v2(struct plm_graph_exec **out, struct plm_graph *graph, struct plm_graph_node **culprit,
                                  char *log, size_t log_size)
{
    if (culprit)
        *culprit = NULL;
    if (log && log_size)
        *log = '\0';
    return cuGraphInstantiateWithFlags(out, graph, 0);
}
PLM_API int cuGraphInstantiate(struct plm_graph_exec **out, struct plm_graph *graph, struct plm_graph_node **culprit,
                               char *log, size_t log_size) __attribute__((alias("cuGraphInstantiate_v2")));

struct instantiate_params {
    uint64_t flags;
    struct plm_stream *upload_to;
    struct plm_graph_node *culprit;
    int result;
};

PLM_API int cuGraphInstantiateWithParams(struct plm_graph_exec **out, struct plm_graph *graph,
                                         struct instantiate_params *params)
{
    if (!params)
        return PLM_CU_INVALID_VALUE;
    params->culprit = NULL;
    params->result = 0;
    return cuGraphInstantiateWithFlags(out, graph, params->flags);
}

PLM_API int cuGraphExecDestroy(struct plm_graph_exec *exec)
{
    return plm_cu_from_stream(plm_graph_exec_destroy(exec));
}

PLM_API int cuGraphLaunch(struct plm_graph_exec *exec, struct plm_stream *stream)
{
    return plm_cu_from_stream(plm_graph_launch(exec, stream));
}

/* An update is what a program does when only parameters changed; those are not kept. */
PLM_API int cuGraphExecUpdate(struct plm_graph_exec *exec, struct plm_graph *graph, struct plm_graph_node **culprit,
                              int *result)
{
    if (!exec || !graph || !result)
        return PLM_CU_INVALID_VALUE;
    if (culprit)
        *culprit = NULL;
    *result = 0;
    return 0;
}

struct update_result {
    int result;
    struct plm_graph_node *culprit, *culprit_from;
};

PLM_API int cuGraphExecUpdate_v2(struct plm_graph_exec *exec, struct plm_graph *graph, struct update_result *result)
{
    if (!exec || !graph || !result)
        return PLM_CU_INVALID_VALUE;
    memset(result, 0, sizeof *result);
    return 0;
}
