/* The runtime: capture and graphs. */
#include "cudart.h"

enum { KERNEL = 0, MEMCPY = 1, MEMSET = 2, HOST = 3, CHILD = 4, EMPTY = 5, WAIT = 6, RECORD = 7, CONDITIONAL = 13 };
enum { GLOBAL = 0, THREAD_LOCAL = 1, RELAXED = 2 };

static void *graph(void)
{
    void *g = NULL;
    CHECK(RT(cudaGraphCreate, (void **, unsigned), (&g, 0)) == 0 && g);
    return g;
}

static void drop(void *g)
{
    CHECK(RT(cudaGraphDestroy, (void *), (g)) == 0);
}

static void *begin(void)
{
    void *stream = rt_stream();
    CHECK(RT(cudaStreamBeginCapture, (void *, int), (stream, THREAD_LOCAL)) == 0);
    return stream;
}

/* Ends the capture and drops its graph. */
static void end(void *stream)
{
    void *g = NULL;
    CHECK(RT(cudaStreamEndCapture, (void *, void **), (stream, &g)) == 0 && g);
    drop(g);
    rt_stream_destroy(stream);
}

static size_t count_nodes(void *g)
{
    size_t count = 99;
    CHECK(RT(cudaGraphGetNodes, (void *, void **, size_t *), (g, NULL, &count)) == 0);
    return count;
}

static int type_of(void *node)
{
    int type = -1;
    CHECK(RT(cudaGraphNodeGetType, (void *, int *), (node, &type)) == 0);
    return type;
}

/* ---- capture ---- */

SNIPPET(cudaStreamBeginCapture)
{
    void *stream = begin();
    CHECK(rt_launch(stream) == 0);
    CHECK(RT(cudaStreamBeginCapture, (void *, int), (stream, RELAXED)) == ILLEGAL_STATE);
    CHECK(RT(cudaStreamBeginCapture, (void *, int), (NULL, RELAXED)) == CAPTURE_UNSUPPORTED);
    end(stream);
}

SNIPPET(cudaStreamBeginCaptureToGraph)
{
    void *stream = rt_stream(), *mine = graph(), *out = NULL;
    CHECK(RT(cudaStreamBeginCaptureToGraph, (void *, void *, const void *, const void *, size_t, int),
             (stream, mine, NULL, NULL, 0, RELAXED)) == 0);
    CHECK(rt_launch(stream) == 0);
    CHECK(RT(cudaStreamEndCapture, (void *, void **), (stream, &out)) == 0 && out == mine);
    CHECK(count_nodes(mine) == 1);
    drop(mine);
    rt_stream_destroy(stream);
}

SNIPPET(cudaStreamEndCapture)
{
    void *stream = begin(), *g = NULL, *memory = NULL;
    CHECK(rt_launch(stream) == 0 && rt_launch(stream) == 0);
    CHECK(RT(cudaStreamEndCapture, (void *, void **), (stream, &g)) == 0 && count_nodes(g) == 2);
    drop(g);
    CHECK(RT(cudaStreamEndCapture, (void *, void **), (stream, &g)) == ILLEGAL_STATE && !g);
    /* What a capture does not permit invalidates it. */
    CHECK(RT(cudaStreamBeginCapture, (void *, int), (stream, GLOBAL)) == 0);
    CHECK(RT(cudaMalloc, (void **, size_t), (&memory, 100)) == CAPTURE_UNSUPPORTED);
    CHECK(rt_launch(stream) == CAPTURE_INVALIDATED);
    CHECK(RT(cudaStreamEndCapture, (void *, void **), (stream, &g)) == CAPTURE_INVALIDATED && !g);
    CHECK(RT(cudaStreamEndCapture, (void *, void **), (stream, NULL)) == INVALID_VALUE);
    rt_stream_destroy(stream);
}

SNIPPET(cudaStreamIsCapturing)
{
    void *stream = begin();
    int status = -1;
    CHECK(RT(cudaStreamIsCapturing, (void *, int *), (stream, &status)) == 0 && status == 1);
    CHECK(RT(cudaStreamSynchronize, (void *), (stream)) == CAPTURE_UNSUPPORTED);
    CHECK(RT(cudaStreamIsCapturing, (void *, int *), (stream, &status)) == 0 && status == 2);
    CHECK(RT(cudaStreamEndCapture, (void *, void **), (stream, &(void *){NULL})) == CAPTURE_INVALIDATED);
    CHECK(RT(cudaStreamIsCapturing, (void *, int *), (stream, &status)) == 0 && status == 0);
    CHECK(RT(cudaStreamIsCapturing, (void *, int *), (stream, NULL)) == INVALID_VALUE);
    rt_stream_destroy(stream);
}

/* What each of the three gives: with `edges`, an array of edges stands between nodes and count. */
static void check_info(const char *name, bool edges)
{
    void *stream = begin(), *g = NULL;
    void *const *nodes = &g;
    const void *edge = &g;
    unsigned long long id = 0;
    size_t count = 99;
    int status = -1;
    if (edges)
        CHECK(BY(name, (void *, int *, unsigned long long *, void **, void *const **, const void **, size_t *),
                 (stream, &status, &id, &g, &nodes, &edge, &count)) == 0 &&
              !edge);
    else
        CHECK(BY(name, (void *, int *, unsigned long long *, void **, void *const **, size_t *),
                 (stream, &status, &id, &g, &nodes, &count)) == 0);
    CHECK(status == 1 && id && g && count == 0);
    end(stream);
}

SNIPPET(cudaStreamGetCaptureInfo)
{
    int status = -1;
    unsigned long long id = 99;
    if (snippet_cuda() >= 13) {
        check_info("cudaStreamGetCaptureInfo", true);
        return;
    }
    CHECK(RT(cudaStreamGetCaptureInfo, (void *, int *, unsigned long long *), (NULL, &status, &id)) == 0);
    CHECK(status == 0 && id == 0);
    CHECK(RT(cudaStreamGetCaptureInfo, (void *, int *, unsigned long long *), (NULL, NULL, &id)) == INVALID_VALUE);
}

SNIPPET(cudaStreamGetCaptureInfo_v2)
{
    check_info("cudaStreamGetCaptureInfo_v2", false);
}

SNIPPET(cudaStreamGetCaptureInfo_v3)
{
    check_info("cudaStreamGetCaptureInfo_v3", true);
}

SNIPPET(cudaThreadExchangeStreamCaptureMode)
{
    void *stream = rt_stream(), *memory = NULL;
    int mode = RELAXED;
    CHECK(RT(cudaStreamBeginCapture, (void *, int), (stream, GLOBAL)) == 0);
    CHECK(RT(cudaThreadExchangeStreamCaptureMode, (int *), (&mode)) == 0 && mode == GLOBAL);
    CHECK(RT(cudaMalloc, (void **, size_t), (&memory, 100)) == 0); /* the thread vouches for it */
    CHECK(RT(cudaThreadExchangeStreamCaptureMode, (int *), (&mode)) == 0 && mode == RELAXED);
    end(stream);
    rt_free(memory);
    CHECK(RT(cudaThreadExchangeStreamCaptureMode, (int *), (NULL)) == INVALID_VALUE);
}

/* ---- graphs ---- */

SNIPPET(cudaGraphCreate)
{
    drop(graph());
    CHECK(RT(cudaGraphCreate, (void **, unsigned), (NULL, 0)) == INVALID_VALUE);
}

SNIPPET(cudaGraphDestroy)
{
    drop(graph());
    CHECK(RT(cudaGraphDestroy, (void *), (NULL)) == INVALID_HANDLE);
}

static void *add(const char *name, void *g)
{
    void *node = NULL;
    CHECK(BY(name, (void **, void *, const void *, size_t, const void *), (&node, g, NULL, 0, NULL)) == 0 && node);
    return node;
}

SNIPPET(cudaGraphClone)
{
    void *g = graph(), *copy = NULL;
    add("cudaGraphAddEmptyNode", g);
    CHECK(RT(cudaGraphClone, (void **, void *), (&copy, g)) == 0 && copy && copy != g && count_nodes(copy) == 1);
    drop(copy);
    drop(g);
    CHECK(RT(cudaGraphClone, (void **, void *), (&copy, NULL)) == INVALID_HANDLE);
}

SNIPPET(cudaGraphGetNodes)
{
    void *g = graph(), *node = add("cudaGraphAddEmptyNode", g), *out[3] = {&out, &out, &out};
    size_t count = 2;
    CHECK(RT(cudaGraphGetNodes, (void *, void **, size_t *), (g, out, &count)) == 0);
    CHECK(count == 1 && out[0] == node && !out[1] && out[2] == &out);
    CHECK(RT(cudaGraphGetNodes, (void *, void **, size_t *), (g, out, NULL)) == INVALID_HANDLE);
    drop(g);
}

SNIPPET(cudaGraphGetRootNodes)
{
    void *g = graph();
    size_t count = 99;
    add("cudaGraphAddEmptyNode", g);
    CHECK(RT(cudaGraphGetRootNodes, (void *, void **, size_t *), (g, NULL, &count)) == 0 && count == 1);
    drop(g);
}

/* Edges are not kept; a count of none is told. */
static void check_no_edges(const char *name, int arrays)
{
    void *g = graph(), *node = add("cudaGraphAddEmptyNode", g);
    void *object = strstr(name, "Edges") ? g : node;
    size_t count = 99;
    if (arrays == 1)
        CHECK(BY(name, (void *, void *, size_t *), (object, NULL, &count)) == 0);
    else if (arrays == 2)
        CHECK(BY(name, (void *, void *, void *, size_t *), (object, NULL, NULL, &count)) == 0);
    else
        CHECK(BY(name, (void *, void *, void *, void *, size_t *), (object, NULL, NULL, NULL, &count)) == 0);
    CHECK(count == 0);
    drop(g);
}

SNIPPET(cudaGraphGetEdges)
{
    check_no_edges("cudaGraphGetEdges", snippet_cuda() >= 13 ? 3 : 2);
}

SNIPPET(cudaGraphGetEdges_v2)
{
    check_no_edges("cudaGraphGetEdges_v2", 3);
}

SNIPPET(cudaGraphNodeGetDependencies)
{
    check_no_edges("cudaGraphNodeGetDependencies", snippet_cuda() >= 13 ? 2 : 1);
}

SNIPPET(cudaGraphNodeGetDependencies_v2)
{
    check_no_edges("cudaGraphNodeGetDependencies_v2", 2);
}

SNIPPET(cudaGraphNodeGetDependentNodes)
{
    check_no_edges("cudaGraphNodeGetDependentNodes", snippet_cuda() >= 13 ? 2 : 1);
}

SNIPPET(cudaGraphNodeGetDependentNodes_v2)
{
    check_no_edges("cudaGraphNodeGetDependentNodes_v2", 2);
}

SNIPPET(cudaGraphNodeGetType)
{
    void *g = graph(), *node = add("cudaGraphAddEmptyNode", g);
    int type = -1;
    CHECK(RT(cudaGraphNodeGetType, (void *, int *), (node, &type)) == 0 && type == EMPTY);
    CHECK(RT(cudaGraphNodeGetType, (void *, int *), (node, NULL)) == INVALID_VALUE);
    CHECK(RT(cudaGraphNodeGetType, (void *, int *), (NULL, &type)) == INVALID_HANDLE);
    drop(g);
}

#define ADDS(symbol, type)                                                \
    SNIPPET(symbol)                                                       \
    {                                                                     \
        void *g = graph();                                                \
        CHECK(type_of(add(#symbol, g)) == (type));                        \
        CHECK(count_nodes(g) == 1);                                       \
        CHECK(RT(symbol, (void **, void *), (NULL, g)) == INVALID_VALUE); \
        drop(g);                                                          \
    }

ADDS(cudaGraphAddKernelNode, KERNEL)
ADDS(cudaGraphAddMemcpyNode, MEMCPY)
ADDS(cudaGraphAddMemcpyNode1D, MEMCPY)
ADDS(cudaGraphAddMemcpyNodeToSymbol, MEMCPY)
ADDS(cudaGraphAddMemcpyNodeFromSymbol, MEMCPY)
ADDS(cudaGraphAddMemsetNode, MEMSET)
ADDS(cudaGraphAddHostNode, HOST)
ADDS(cudaGraphAddChildGraphNode, CHILD)
ADDS(cudaGraphAddEmptyNode, EMPTY)
ADDS(cudaGraphAddEventRecordNode, RECORD)
ADDS(cudaGraphAddEventWaitNode, WAIT)

/* The head of the documented parameters; a conditional node returns the graphs of its bodies in them. */
struct parameters {
    int type, unused[3];
    unsigned long long handle;
    int condition;
    unsigned size;
    void **bodies;
    long rest[29];
};

static void check_add_node(const char *name, bool edges)
{
    struct parameters p = {.type = CONDITIONAL, .size = 2};
    void *g = graph(), *node = NULL;
    if (edges)
        CHECK(BY(name, (void **, void *, const void *, const void *, size_t, void *), (&node, g, NULL, NULL, 0, &p)) ==
              0);
    else
        CHECK(BY(name, (void **, void *, const void *, size_t, void *), (&node, g, NULL, 0, &p)) == 0);
    CHECK(node && type_of(node) == CONDITIONAL && p.bodies && p.bodies[0] && p.bodies[1]);
    CHECK(count_nodes(p.bodies[1]) == 0);
    drop(g);
}

SNIPPET(cudaGraphAddNode)
{
    check_add_node("cudaGraphAddNode", snippet_cuda() >= 13);
}

SNIPPET(cudaGraphAddNode_v2)
{
    check_add_node("cudaGraphAddNode_v2", true);
}

/* ---- execution ---- */

static void *instance(void)
{
    void *g = graph(), *exec = NULL;
    add("cudaGraphAddKernelNode", g);
    CHECK(RT(cudaGraphInstantiate, (void **, void *, uint64_t), (&exec, g, 0)) == 0 && exec);
    drop(g);
    return exec;
}

static void drop_instance(void *exec)
{
    CHECK(RT(cudaGraphExecDestroy, (void *), (exec)) == 0);
}

SNIPPET(cudaGraphInstantiate)
{
    void *exec = NULL;
    drop_instance(instance());
    CHECK(RT(cudaGraphInstantiate, (void **, void *, uint64_t), (&exec, NULL, 0)) == INVALID_HANDLE);
}

SNIPPET(cudaGraphInstantiateWithFlags)
{
    void *g = graph(), *exec = NULL;
    CHECK(RT(cudaGraphInstantiateWithFlags, (void **, void *, uint64_t), (&exec, g, 1)) == 0 && exec);
    drop_instance(exec);
    drop(g);
}

SNIPPET(cudaGraphInstantiateWithParams)
{
    struct {
        uint64_t flags;
        void *upload, *failed;
        int result;
    } p = {0, NULL, &p, 99};
    void *g = graph(), *exec = NULL;
    CHECK(RT(cudaGraphInstantiateWithParams, (void **, void *, void *), (&exec, g, &p)) == 0 && exec);
    CHECK(!p.failed && p.result == 0);
    drop_instance(exec);
    CHECK(RT(cudaGraphInstantiateWithParams, (void **, void *, void *), (&exec, g, NULL)) == INVALID_VALUE);
    drop(g);
}

SNIPPET(cudaGraphExecDestroy)
{
    drop_instance(instance());
    CHECK(RT(cudaGraphExecDestroy, (void *), (NULL)) == INVALID_HANDLE);
}

SNIPPET(cudaGraphExecUpdate)
{
    struct {
        int result;
        void *node, *from;
    } out = {99, &out, &out};
    void *g = graph(), *exec = instance();
    CHECK(RT(cudaGraphExecUpdate, (void *, void *, void *), (exec, g, &out)) == 0);
    CHECK(out.result == 0 && !out.node && !out.from);
    CHECK(RT(cudaGraphExecUpdate, (void *, void *, void *), (exec, g, NULL)) == INVALID_VALUE);
    drop_instance(exec);
    drop(g);
}

SNIPPET(cudaGraphLaunch)
{
    void *exec = instance(), *stream = rt_stream();
    CHECK(RT(cudaGraphLaunch, (void *, void *), (exec, stream)) == 0);
    CHECK(RT(cudaGraphLaunch, (void *, void *), (NULL, stream)) == INVALID_HANDLE);
    drop_instance(exec);
    rt_stream_destroy(stream);
}
