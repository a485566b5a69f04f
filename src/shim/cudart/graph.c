#include <stdlib.h>

#include "shim/cudart/runtime.h"

/* ---- capture ---- */

PLM_API int cudaStreamBeginCapture(struct plm_stream *stream, int mode)
{
    return plm_rt_stream(plm_capture_begin(stream, (enum plm_capture_mode)mode));
}

PLM_API int cudaStreamBeginCaptureToGraph(struct plm_stream *stream, struct plm_graph *graph, const void *nodes,
                                          const void *edges, size_t count, int mode)
{
    (void)nodes, (void)edges, (void)count;
    return plm_rt_stream(plm_capture_begin_to_graph(stream, graph, (enum plm_capture_mode)mode));
}

PLM_API int cudaStreamEndCapture(struct plm_stream *stream, struct plm_graph **graph)
{
    return graph ? plm_rt_stream(plm_capture_end(stream, graph)) : plm_rt(PLM_RT_INVALID_VALUE);
}

PLM_API int cudaStreamIsCapturing(struct plm_stream *stream, int *status)
{
    enum plm_capture_status capture = PLM_CAPTURE_NONE;
    int result;
    if (!status)
        return plm_rt(PLM_RT_INVALID_VALUE);
    result = plm_rt_stream(plm_capture_info(stream, &capture, NULL, NULL, NULL, NULL));
    *status = (int)capture;
    return result;
}

static int capture_info(struct plm_stream *stream, int *status, unsigned long long *id, struct plm_graph **graph,
                        struct plm_graph_node *const **nodes, size_t *count)
{
    enum plm_capture_status capture = PLM_CAPTURE_NONE;
    uint64_t number = 0;
    int result;
    if (!status)
        return plm_rt(PLM_RT_INVALID_VALUE);
    result = plm_rt_stream(plm_capture_info(stream, &capture, &number, graph, nodes, count));
    *status = (int)capture;
    if (id)
        *id = number;
    return result;
}

#if PLM_CUDA == 12
PLM_API int cudaStreamGetCaptureInfo_v2(struct plm_stream *stream, int *status, unsigned long long *id,
                                        struct plm_graph **graph, struct plm_graph_node *const **nodes, size_t *count)
{
    return capture_info(stream, status, id, graph, nodes, count);
}

PLM_API int cudaStreamGetCaptureInfo_v3(struct plm_stream *stream, int *status, unsigned long long *id,
                                        struct plm_graph **graph, struct plm_graph_node *const **nodes,
                                        const void **edges, size_t *count)
{
    if (edges)
        *edges = NULL;
    return capture_info(stream, status, id, graph, nodes, count);
}

PLM_API int cudaStreamGetCaptureInfo(struct plm_stream *stream, int *status, unsigned long long *id)
{
    return capture_info(stream, status, id, NULL, NULL, NULL);
}
#else
PLM_API int cudaStreamGetCaptureInfo(struct plm_stream *stream, int *status, unsigned long long *id,
                                     struct plm_graph **graph, struct plm_graph_node *const **nodes, const void **edges,
                                     size_t *count)
{
    if (edges)
        *edges = NULL;
    return capture_info(stream, status, id, graph, nodes, count);
}
#endif

PLM_API int cudaThreadExchangeStreamCaptureMode(int *mode)
{
    if (!mode)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *mode = (int)plm_capture_exchange_mode((enum plm_capture_mode) * mode);
    return PLM_RT_OK;
}

/* ---- graphs ---- */

PLM_API int cudaGraphCreate(struct plm_graph **graph, unsigned flags)
{
    (void)flags;
    return graph ? plm_rt_stream(plm_graph_create(graph)) : plm_rt(PLM_RT_INVALID_VALUE);
}

PLM_API int cudaGraphClone(struct plm_graph **out, struct plm_graph *graph)
{
    return out ? plm_rt_stream(plm_graph_clone(graph, out)) : plm_rt(PLM_RT_INVALID_VALUE);
}

PLM_API int cudaGraphDestroy(struct plm_graph *graph)
{
    return plm_rt_stream(plm_graph_destroy(graph));
}

PLM_API int cudaGraphGetNodes(struct plm_graph *graph, struct plm_graph_node **nodes, size_t *count)
{
    return plm_rt_stream(plm_graph_nodes(graph, nodes, count));
}

/* Edges are not kept, so every node is a root. */
PLM_API int cudaGraphGetRootNodes(struct plm_graph *graph, struct plm_graph_node **nodes, size_t *count)
{
    return plm_rt_stream(plm_graph_nodes(graph, nodes, count));
}

static int no_edges(size_t *count)
{
    if (!count)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *count = 0;
    return PLM_RT_OK;
}

#if PLM_CUDA == 12
PLM_API int cudaGraphGetEdges(struct plm_graph *graph, void *from, void *to, size_t *count)
{
    (void)graph, (void)from, (void)to;
    return no_edges(count);
}

PLM_API int cudaGraphNodeGetDependencies(struct plm_graph_node *node, void *nodes, size_t *count)
{
    (void)node, (void)nodes;
    return no_edges(count);
}

PLM_API int cudaGraphNodeGetDependentNodes(struct plm_graph_node *node, void *nodes, size_t *count)
{
    (void)node, (void)nodes;
    return no_edges(count);
}
#define EDGES_NAME        cudaGraphGetEdges_v2
#define DEPENDENCIES_NAME cudaGraphNodeGetDependencies_v2
#define DEPENDENTS_NAME   cudaGraphNodeGetDependentNodes_v2
#else
#define EDGES_NAME        cudaGraphGetEdges
#define DEPENDENCIES_NAME cudaGraphNodeGetDependencies
#define DEPENDENTS_NAME   cudaGraphNodeGetDependentNodes
#endif

PLM_API int EDGES_NAME(struct plm_graph *graph, void *from, void *to, void *edges, size_t *count)
{
    (void)graph, (void)from, (void)to, (void)edges;
    return no_edges(count);
}

PLM_API int DEPENDENCIES_NAME(struct plm_graph_node *node, void *nodes, void *edges, size_t *count)
{
    (void)node, (void)nodes, (void)edges;
    return no_edges(count);
}

PLM_API int DEPENDENTS_NAME(struct plm_graph_node *node, void *nodes, void *edges, size_t *count)
{
    (void)node, (void)nodes, (void)edges;
    return no_edges(count);
}

PLM_API int cudaGraphNodeGetType(struct plm_graph_node *node, int *type)
{
    enum plm_node_type value = PLM_NODE_EMPTY;
    int status;
    if (!type)
        return plm_rt(PLM_RT_INVALID_VALUE);
    status = plm_rt_stream(plm_graph_node_type(node, &value));
    *type = (int)value;
    return status;
}

/* ---- nodes: what they would do is not kept ---- */

#define ADD_NODE(function, type)                                                                      \
    PLM_API int function(struct plm_graph_node **node, struct plm_graph *graph)                       \
    {                                                                                                 \
        return node ? plm_rt_stream(plm_graph_add(graph, type, node)) : plm_rt(PLM_RT_INVALID_VALUE); \
    }

ADD_NODE(cudaGraphAddKernelNode, PLM_NODE_KERNEL)
ADD_NODE(cudaGraphAddMemcpyNode, PLM_NODE_MEMCPY)
ADD_NODE(cudaGraphAddMemcpyNode1D, PLM_NODE_MEMCPY)
ADD_NODE(cudaGraphAddMemcpyNodeToSymbol, PLM_NODE_MEMCPY)
ADD_NODE(cudaGraphAddMemcpyNodeFromSymbol, PLM_NODE_MEMCPY)
ADD_NODE(cudaGraphAddMemsetNode, PLM_NODE_MEMSET)
ADD_NODE(cudaGraphAddHostNode, PLM_NODE_HOST)
ADD_NODE(cudaGraphAddChildGraphNode, PLM_NODE_GRAPH)
ADD_NODE(cudaGraphAddEmptyNode, PLM_NODE_EMPTY)
ADD_NODE(cudaGraphAddEventRecordNode, PLM_NODE_EVENT_RECORD)
ADD_NODE(cudaGraphAddEventWaitNode, PLM_NODE_WAIT_EVENT)

/* Conditional nodes return the graphs of their bodies through the parameters. */
struct node_parameters {
    int type, unused[3];
    unsigned long long handle;
    int condition_type;
    unsigned size;
    struct plm_graph **bodies;
};

static int add_node(struct plm_graph_node **node, struct plm_graph *graph, struct node_parameters *parameters)
{
    int status;
    if (!node || !parameters)
        return plm_rt(PLM_RT_INVALID_VALUE);
    status = plm_rt_stream(plm_graph_add(graph, (enum plm_node_type)parameters->type, node));
    if (status || parameters->type != PLM_NODE_CONDITIONAL)
        return status;
    /* The array belongs to the node, which lives as long as the process's graph. */
    parameters->bodies = calloc(parameters->size ? parameters->size : 1, sizeof(struct plm_graph *));
    for (unsigned i = 0; parameters->bodies && i < parameters->size; i++)
        plm_graph_create(&parameters->bodies[i]);
    return parameters->bodies ? PLM_RT_OK : plm_rt(PLM_RT_MEMORY_ALLOCATION);
}

#if PLM_CUDA == 12
PLM_API int cudaGraphAddNode(struct plm_graph_node **node, struct plm_graph *graph, const void *dependencies,
                             size_t count, struct node_parameters *parameters)
{
    (void)dependencies, (void)count;
    return add_node(node, graph, parameters);
}

PLM_API int cudaGraphAddNode_v2(struct plm_graph_node **node, struct plm_graph *graph, const void *dependencies,
                                const void *edges, size_t count, struct node_parameters *parameters)
{
    (void)dependencies, (void)edges, (void)count;
    return add_node(node, graph, parameters);
}
#else
PLM_API int cudaGraphAddNode(struct plm_graph_node **node, struct plm_graph *graph, const void *dependencies,
                             const void *edges, size_t count, struct node_parameters *parameters)
{
    (void)dependencies, (void)edges, (void)count;
    return add_node(node, graph, parameters);
}
#endif

/* ---- execution ---- */

static int instantiate(struct plm_graph_exec **exec, struct plm_graph *graph)
{
    return exec ? plm_rt_stream(plm_graph_instantiate(graph, exec)) : plm_rt(PLM_RT_INVALID_VALUE);
}

PLM_API int cudaGraphInstantiate(struct plm_graph_exec **exec, struct plm_graph *graph, unsigned long long flags)
{
    (void)flags;
    return instantiate(exec, graph);
}

PLM_API int cudaGraphInstantiateWithFlags(struct plm_graph_exec **exec, struct plm_graph *graph,
                                          unsigned long long flags)
{
    (void)flags;
    return instantiate(exec, graph);
}

struct instantiate_parameters {
    unsigned long long flags;
    struct plm_stream *upload;
    struct plm_graph_node *failed;
    int result;
};

PLM_API int cudaGraphInstantiateWithParams(struct plm_graph_exec **exec, struct plm_graph *graph,
                                           struct instantiate_parameters *parameters)
{
    if (!parameters)
        return plm_rt(PLM_RT_INVALID_VALUE);
    parameters->failed = NULL;
    parameters->result = 0;
    return instantiate(exec, graph);
}

PLM_API int cudaGraphExecDestroy(struct plm_graph_exec *exec)
{
    return plm_rt_stream(plm_graph_exec_destroy(exec));
}

PLM_API int cudaGraphLaunch(struct plm_graph_exec *exec, struct plm_stream *stream)
{
    return plm_rt_stream(plm_graph_launch(exec, stream));
}

/* Success with no node that differs. */
struct update_result {
    int result;
    struct plm_graph_node *node, *from;
};

PLM_API int cudaGraphExecUpdate(struct plm_graph_exec *exec, struct plm_graph *graph, struct update_result *result)
{
    if (!exec || !graph || !result)
        return plm_rt(PLM_RT_INVALID_VALUE);
    *result = (struct update_result){0, NULL, NULL};
    return PLM_RT_OK;
}
