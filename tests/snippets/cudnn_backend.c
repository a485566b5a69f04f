/* cuDNN: the graph interface. */
#include "cudnn.h"

enum { BOOLEAN = 2, INT64 = 3, POINTER = 6, DESCRIPTOR = 15, INT32 = 23, CHAR = 24 };

static P backend(int kind)
{
    P d = NULL;
    CHECK(CALL(int, cudnnBackendCreateDescriptor, (int, P *), (kind, &d)) == 0 && d);
    return d;
}

static void release(P d)
{
    CHECK(CALL(int, cudnnBackendDestroyDescriptor, (P), (d)) == 0);
}

static int put(P d, int name, int type, int64_t count, const void *elements)
{
    return CALL(int, cudnnBackendSetAttribute, (P, int, int, int64_t, const void *), (d, name, type, count, elements));
}

static int get(P d, int name, int type, int64_t requested, int64_t *count, void *elements)
{
    return CALL(int, cudnnBackendGetAttribute, (P, int, int, int64_t, int64_t *, void *),
                (d, name, type, requested, count, elements));
}

static int finish(P d)
{
    return CALL(int, cudnnBackendFinalize, (P), (d));
}

static P graph_tensor(const int64_t *size, const int64_t *stride)
{
    P d = backend(17);
    int type = 0;
    CHECK(put(d, 901, 1, 1, &type) == 0 && put(d, 902, INT64, 4, size) == 0 && put(d, 903, INT64, 4, stride) == 0);
    CHECK(finish(d) == 0);
    return d;
}

/* A graph of one forward convolution, 64 -> 64 channels, 3x3. Everything below it is given away. */
static P graph(void)
{
    const int64_t x[] = {8, 64, 56, 56}, xs[] = {64 * 56 * 56, 56 * 56, 56, 1}, w[] = {64, 64, 3, 3},
                  ws[] = {576, 9, 3, 1}, ones[] = {1, 1}, two = 2;
    P conv = backend(1), tx = graph_tensor(x, xs), tw = graph_tensor(w, ws), ty = graph_tensor(x, xs), op = backend(10),
      g = backend(15);
    for (int name = 102; name <= 105; name++)
        CHECK(put(conv, name, INT64, 2, ones) == 0);
    CHECK(put(conv, 106, INT64, 1, &two) == 0 && finish(conv) == 0);
    CHECK(put(op, 702, DESCRIPTOR, 1, &conv) == 0 && put(op, 703, DESCRIPTOR, 1, &tw) == 0);
    CHECK(put(op, 704, DESCRIPTOR, 1, &tx) == 0 && put(op, 705, DESCRIPTOR, 1, &ty) == 0 && finish(op) == 0);
    CHECK(put(g, 801, DESCRIPTOR, 1, &op) == 0 && finish(g) == 0);
    release(conv);
    release(tx);
    release(tw);
    release(ty);
    release(op);
    return g;
}

enum { copies = 4 * (8 * 64 * 56 * 56 + 64 * 64 * 9) }; /* its two inputs, by the formula */

/* The first engine configuration that heuristics give for the graph. */
static P engine_config(void)
{
    P g = graph(), heuristic = backend(4), config = backend(3);
    int64_t count = -1;
    int mode = 0;
    CHECK(put(heuristic, 201, DESCRIPTOR, 1, &g) == 0 && put(heuristic, 200, 8, 1, &mode) == 0);
    CHECK(finish(heuristic) == 0);
    /* Two in TF32, which say so: with a workspace and without; and one for programs that do not want that. */
    CHECK(get(heuristic, 202, DESCRIPTOR, 0, &count, NULL) == 0 && count == 3);
    count = -1;
    CHECK(get(heuristic, 202, DESCRIPTOR, 1, &count, &config) == 0 && count == 1);
    release(heuristic);
    release(g);
    return config;
}

static P plan(void)
{
    P config = engine_config(), p = backend(5);
    CHECK(put(p, 401, DESCRIPTOR, 1, &config) == 0 && finish(p) == 0);
    release(config);
    return p;
}

static P variant_pack(void)
{
    const int64_t uids[] = {'x', 'y', 'w'};
    P pointers[] = {(P)16, (P)32, (P)48}, workspace = NULL, v = backend(16);
    CHECK(put(v, 1001, POINTER, 3, pointers) == 0 && put(v, 1000, INT64, 3, uids) == 0);
    CHECK(put(v, 1003, POINTER, 1, &workspace) == 0 && finish(v) == 0);
    return v;
}

SNIPPET(cudnnBackendCreateDescriptor)
{
    P d = NULL;
    release(backend(17));
    CHECK(CALL(int, cudnnBackendCreateDescriptor, (int, P *), (-1, &d)) != 0);
}

SNIPPET(cudnnBackendDestroyDescriptor)
{
    release(graph());
    release(NULL);
}

SNIPPET(cudnnBackendInitialize)
{
    int64_t count = -1, id = 4;
    P d = backend(17);
    CHECK(put(d, 906, INT64, 1, &id) == 0);
    CHECK(CALL(int, cudnnBackendInitialize, (P), (d)) == 0);
    CHECK(get(d, 906, INT64, 1, &count, &id) != 0 && count == 0);
    release(d);
}

SNIPPET(cudnnBackendSetAttribute)
{
    int64_t many[40], out[40], count = 0;
    P d = backend(16);
    for (int i = 0; i < 40; i++)
        many[i] = i;
    for (int round = 0; round < 2; round++)
        for (int name = 1000; name < 1012; name++)
            CHECK(put(d, name, INT64, 40 - name % 3, many) == 0);
    CHECK(get(d, 1011, INT64, 40, &count, out) == 0 && count == 40 && out[39] == 39);
    CHECK(put(d, 1000, INT64, 2, NULL) != 0);
    CHECK(put(d, 1000, INT64, 0, NULL) == 0);
    release(d);
}

SNIPPET(cudnnBackendGetAttribute)
{
    int64_t size[4] = {0}, count = -1, bytes = -1, index = -1, engines = 0;
    int32_t shared = -1;
    int notes[10];
    unsigned char is_virtual = 7;
    P config = engine_config(), engine = backend(2), g = graph(), t;
    const int64_t x[] = {1, 2, 3, 4}, xs[] = {24, 12, 4, 1};
    CHECK(get(config, 300, DESCRIPTOR, 1, &count, &engine) == 0 && count == 1);
    CHECK(get(engine, 1301, INT64, 1, &count, &index) == 0 && index == 0);
    CHECK(get(engine, 1302, DESCRIPTOR, 5, &count, NULL) == 0 && count == 0);
    CHECK(get(engine, 1303, 11, 10, &count, notes) == 0 && count == 1 && notes[0] == 0);
    count = -1;
    CHECK(get(engine, 1305, 19, 5, &count, notes) == 0 && count == 0);
    count = -1;
    CHECK(get(config, 302, DESCRIPTOR, 5, &count, NULL) == 0 && count == 0);
    CHECK(get(config, 303, INT64, 1, NULL, &bytes) == 0 && bytes == copies);
    CHECK(get(config, 304, INT32, 1, NULL, &shared) == 0 && shared == 0);
    CHECK(get(g, 802, INT64, 1, NULL, &engines) == 0 && engines == 1);
    t = graph_tensor(x, xs);
    CHECK(get(t, 902, INT64, 4, &count, size) == 0 && count == 4 && size[3] == 4);
    CHECK(get(t, 907, BOOLEAN, 1, &count, &is_virtual) == 0 && is_virtual == 0);
    CHECK(get(t, 902, INT32, 4, &count, size) != 0);
    CHECK(get(t, 9999, INT64, 1, &count, size) != 0 && count == 0);
    release(t);
    release(g);
    release(engine);
    release(config);
}

SNIPPET(cudnnBackendFinalize)
{
    int64_t bytes = -1, length = 0, count = 0;
    char json[128] = "";
    P p = plan(), again = backend(5), config = backend(3), heuristic = backend(4);
    CHECK(finish(heuristic) != 0); /* without a graph */
    release(heuristic);
    CHECK(get(p, 402, INT64, 1, NULL, &bytes) == 0 && bytes == copies);
    CHECK(get(p, 405, CHAR, 0, &length, NULL) == 0 && length > 0 && length < 128);
    CHECK(get(p, 405, CHAR, length, &length, json) == 0 && json[0] == '{');
    /* A plan can be stored as text and read back. */
    CHECK(put(again, 405, CHAR, length, json) == 0 && finish(again) == 0);
    CHECK(get(again, 402, INT64, 1, NULL, &bytes) == 0 && bytes == copies);
    CHECK(get(again, 401, DESCRIPTOR, 1, &count, &config) == 0 && count == 1);
    release(config);
    release(again);
    release(p);
}

SNIPPET(cudnnGetExecutionPlanWorkspaceSize)
{
    size_t bytes = (size_t)-1;
    P p = plan();
    CHECK(CALL(int, cudnnGetExecutionPlanWorkspaceSize, (P, P, P, size_t *), (NULL, p, NULL, &bytes)) == 0);
    CHECK(bytes == copies);
    release(p);
}

SNIPPET(cudnnBackendExecute)
{
    P h = dnn_handle(), p = plan(), v = variant_pack();
    CHECK(CALL(int, cudnnBackendExecute, (P, P, P), (h, p, v)) == 0);
    CHECK(CALL(int, cudnnBackendExecute, (P, P, P), (h, NULL, v)) != 0);
    release(p);
    release(v);
    CALL(int, cudnnDestroy, (P), (h));
}

SNIPPET(cudnnBackendPopulateCudaGraph)
{
    P h = dnn_handle(), p = plan(), v = variant_pack();
    CHECK(CALL(int, cudnnBackendPopulateCudaGraph, (P, P, P, P), (h, p, v, NULL)) != 0);
    release(p);
    release(v);
    CALL(int, cudnnDestroy, (P), (h));
}
