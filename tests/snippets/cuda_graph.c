/* The driver: graphs. */
#include "cuda.h"

/* ---- graphs ---- */

SNIPPET(cuGraphCreate)
{
    CHECK(CU(cuGraphDestroy, (void *), (cu_graph())) == 0);
}

SNIPPET(cuGraphDestroy)
{
    CHECK(CU(cuGraphDestroy, (void *), (NULL)) == INVALID_HANDLE);
}

static int type_of(void *node)
{
    int type = -1;
    CHECK(CU(cuGraphNodeGetType, (void *, int *), (node, &type)) == 0);
    return type;
}

static void check_add(const char *name, int type)
{
    void *g = cu_graph(), *node = NULL;
    size_t count = 0;
    CHECK(BY(name, (void **, void *, void **, size_t, void *, void *), (&node, g, NULL, 0, NULL, NULL)) == 0 && node);
    CHECK(type_of(node) == type);
    CHECK(CU(cuGraphGetNodes, (void *, void **, size_t *), (g, NULL, &count)) == 0 && count == 1);
}

#define ADDS(symbol, type)        \
    SNIPPET(symbol)               \
    {                             \
        check_add(#symbol, type); \
    }
ADDS(cuGraphAddKernelNode, 0)
ADDS(cuGraphAddKernelNode_v2, 0)
ADDS(cuGraphAddMemcpyNode, 1)
ADDS(cuGraphAddMemsetNode, 2)
ADDS(cuGraphAddHostNode, 3)
ADDS(cuGraphAddChildGraphNode, 4)
ADDS(cuGraphAddEmptyNode, 5)
ADDS(cuGraphAddEventWaitNode, 6)
ADDS(cuGraphAddEventRecordNode, 7)
ADDS(cuGraphAddBatchMemOpNode, 12)

static int add_any(const char *name, void **node, const int *params)
{
    if (strstr(name, "_v2"))
        return BY(name, (void **, void *, void *, void *, size_t, const void *),
                  (node, cu_graph(), NULL, NULL, 0, params));
    return BY(name, (void **, void *, void **, size_t, const void *), (node, cu_graph(), NULL, 0, params));
}

static void check_add_any(const char *name)
{
    int params[64] = {0};
    void *node = NULL;
    CHECK(add_any(name, &node, params) == 0 && type_of(node) == 0);
    params[0] = 10; /* allocation */
    CHECK(add_any(name, &node, params) == NOT_SUPPORTED);
    params[0] = 99;
    CHECK(add_any(name, &node, params) == INVALID_VALUE);
}
CHECKED(cuGraphAddNode, check_add_any)
CHECKED(cuGraphAddNode_v2, check_add_any)

static void *graph_of(int kernels)
{
    void *g = cu_graph(), *node;
    for (int i = 0; i < kernels; i++)
        CHECK(CU(cuGraphAddKernelNode_v2, (void **, void *, void **, size_t, void *), (&node, g, NULL, 0, NULL)) == 0);
    return g;
}

SNIPPET(cuGraphGetNodes)
{
    void *g = graph_of(3), *nodes[4] = {NULL};
    size_t count = 4;
    CHECK(CU(cuGraphGetNodes, (void *, void **, size_t *), (g, nodes, &count)) == 0 && count == 3);
    CHECK(nodes[0] && nodes[1] && nodes[2]);
}

SNIPPET(cuGraphNodeGetType)
{
    int type = -1;
    CHECK(CU(cuGraphNodeGetType, (void *, int *), (NULL, &type)) == INVALID_HANDLE);
}

SNIPPET(cuGraphClone)
{
    void *g = graph_of(2), *copy = NULL;
    size_t count = 0;
    CHECK(CU(cuGraphClone, (void **, void *), (&copy, g)) == 0 && copy && copy != g);
    CHECK(CU(cuGraphGetNodes, (void *, void **, size_t *), (copy, NULL, &count)) == 0 && count == 2);
}

static void *executable(void)
{
    void *exec = NULL;
    CHECK(CU(cuGraphInstantiateWithFlags, (void **, void *, uint64_t), (&exec, graph_of(2), 0)) == 0 && exec);
    return exec;
}

SNIPPET(cuGraphInstantiateWithFlags)
{
    CHECK(CU(cuGraphExecDestroy, (void *), (executable())) == 0);
}

static void check_instantiate(const char *name)
{
    void *exec = NULL, *culprit = &exec;
    char log[8] = "old";
    CHECK(BY(name, (void **, void *, void **, char *, size_t), (&exec, graph_of(1), &culprit, log, sizeof log)) == 0);
    CHECK(exec && !culprit && !log[0]);
}
CHECKED(cuGraphInstantiate, check_instantiate)
CHECKED(cuGraphInstantiate_v2, check_instantiate)

struct instantiate_params {
    uint64_t flags;
    void *stream, *culprit;
    int result;
};

static void check_instantiate_params(const char *name)
{
    struct instantiate_params params = {0, NULL, &params, 9};
    void *exec = NULL;
    CHECK(BY(name, (void **, void *, void *), (&exec, graph_of(1), &params)) == 0);
    CHECK(exec && !params.culprit && params.result == 0);
}
CHECKED(cuGraphInstantiateWithParams, check_instantiate_params)
CHECKED(cuGraphInstantiateWithParams_ptsz, check_instantiate_params)

SNIPPET(cuGraphExecDestroy)
{
    CHECK(CU(cuGraphExecDestroy, (void *), (NULL)) == INVALID_HANDLE);
}

static void check_graph_launch(const char *name)
{
    CHECK(BY(name, (void *, void *), (executable(), NULL)) == 0);
    CHECK(BY(name, (void *, void *), (NULL, NULL)) == INVALID_HANDLE);
}
CHECKED(cuGraphLaunch, check_graph_launch)
CHECKED(cuGraphLaunch_ptsz, check_graph_launch)

SNIPPET(cuGraphExecUpdate)
{
    void *culprit = &culprit;
    int result = 9;
    CHECK(CU(cuGraphExecUpdate, (void *, void *, void **, int *), (executable(), graph_of(2), &culprit, &result)) == 0);
    CHECK(!culprit && result == 0);
}

SNIPPET(cuGraphExecUpdate_v2)
{
    struct {
        int result;
        void *culprit, *from;
    } info = {9, &info, &info};
    CHECK(CU(cuGraphExecUpdate_v2, (void *, void *, void *), (executable(), graph_of(2), &info)) == 0);
    CHECK(info.result == 0 && !info.culprit && !info.from);
}

static void count_call(void *data)
{
    ++*(int *)data;
}

static void *user_object(int *calls, unsigned references)
{
    void *o = NULL;
    CHECK(CU(cuUserObjectCreate, (void **, void *, void (*)(void *), unsigned, unsigned),
             (&o, calls, count_call, references, 1)) == 0);
    CHECK(o != NULL);
    return o;
}

SNIPPET(cuUserObjectCreate)
{
    int calls = 0;
    CHECK(CU(cuUserObjectRelease, (void *, unsigned), (user_object(&calls, 2), 2)) == 0 && calls == 1);
}

SNIPPET(cuUserObjectRetain)
{
    int calls = 0;
    void *o = user_object(&calls, 1);
    CHECK(CU(cuUserObjectRetain, (void *, unsigned), (o, 1)) == 0);
    CHECK(CU(cuUserObjectRelease, (void *, unsigned), (o, 1)) == 0 && calls == 0);
    CHECK(CU(cuUserObjectRelease, (void *, unsigned), (o, 1)) == 0 && calls == 1);
}

SNIPPET(cuUserObjectRelease)
{
    CHECK(CU(cuUserObjectRelease, (void *, unsigned), (NULL, 1)) == INVALID_VALUE);
}

SNIPPET(cuGraphRetainUserObject)
{
    int calls = 0;
    void *o = user_object(&calls, 1), *g = cu_graph();
    CHECK(CU(cuGraphRetainUserObject, (void *, void *, unsigned, unsigned), (g, o, 1, 1)) == 0 && calls == 0);
}

SNIPPET(cuGraphReleaseUserObject)
{
    int calls = 0;
    void *o = user_object(&calls, 1), *g = cu_graph();
    CHECK(CU(cuGraphRetainUserObject, (void *, void *, unsigned, unsigned), (g, o, 1, 1)) == 0);
    CHECK(CU(cuGraphReleaseUserObject, (void *, void *, unsigned), (g, o, 1)) == 0 && calls == 1);
}
