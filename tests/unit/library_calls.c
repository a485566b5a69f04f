/* What the record holds of calls to libraries, made through the shims of both CUDA generations. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device.h"
#include "device/stream.h"
#include "record/format.h"
#include "unit.h"

static int take(struct unit_event **first)
{
    return unit_take(unit_path("library.plm"), first);
}

static struct unit_event *take_one(enum plm_record_event_type type)
{
    struct unit_event *e;
    assert_int_equal(take(&e), 1);
    assert_int_equal(e->type, type);
    return e;
}

/* The event that follows tags of these addresses. */
static struct unit_event *take_tagged(enum plm_record_event_type type, enum plm_category category, const uint64_t *tags,
                                      int n)
{
    struct unit_event *e, *found = NULL;
    int all = take(&e), seen = 0;
    assert_int_equal(all, n + 1);
    for (int i = 0; i < all; i++)
        if (e[i].type == PLM_EV_TAG) {
            assert_int_equal(e[i].word[0], tags[seen++]);
            assert_int_equal(e[i].word[1], category);
        } else {
            assert_int_equal(e[i].type, type);
            found = &e[i];
        }
    assert_non_null(found);
    return found;
}

static void *library;

static void use(const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("PLM_SHIMS"), file);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
}

static void *symbol(const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        fail_msg("there is no %s", name);
    return found;
}

typedef uintptr_t w;
#define CALL(name, types, arguments) (((int(*) types)symbol(name))arguments)

static uint64_t pair(uint64_t low, uint64_t high)
{
    return low | high << 32;
}

static uint64_t memory(void)
{
    uint64_t at = 0;
    assert_int_equal(plm_mem_alloc(0, 4096, &at), 0);
    return at;
}

static int start(void **state)
{
    (void)state;
    unit_record(unit_path("library.plm"));
    assert_int_equal(plm_device_count(), 1);
    return 0;
}

/* ---- cuBLAS ---- */

enum form { PLAIN, BATCHED, STRIDED, TYPED, EX, BATCHED_EX, STRIDED_EX };

/* Which argument, counted from 1, is what; 0: none. */
static const struct {
    int type_a, type_b, type_c, compute, batch;
    enum plm_gemm_batch how;
} forms[] = {
    [PLAIN] = {0, 0, 0, 0, 0, PLM_GEMM_ONE},
    [BATCHED] = {0, 0, 0, 0, 15, PLM_GEMM_POINTERS},
    [STRIDED] = {0, 0, 0, 0, 18, PLM_GEMM_STRIDED},
    [TYPED] = {9, 12, 16, 0, 0, PLM_GEMM_ONE},
    [EX] = {9, 12, 16, 18, 0, PLM_GEMM_ONE},
    [BATCHED_EX] = {9, 12, 16, 19, 18, PLM_GEMM_POINTERS},
    [STRIDED_EX] = {9, 13, 18, 22, 21, PLM_GEMM_STRIDED},
};

static const struct {
    const char *name;
    enum form form;
    int type, compute; /* where they are no arguments */
} gemms[] = {
    {"cublasSgemm_v2", PLAIN, 0, 68},
    {"cublasDgemm_v2", PLAIN, 1, 70},
    {"cublasCgemm_v2", PLAIN, 4, 68},
    {"cublasZgemm_v2", PLAIN, 5, 70},
    {"cublasHgemm", PLAIN, 2, 64},
    {"cublasCgemm3m", PLAIN, 4, 68},
    {"cublasZgemm3m", PLAIN, 5, 70},
    {"cublasSgemmEx", TYPED, 0, 68},
    {"cublasCgemmEx", TYPED, 0, 68},
    {"cublasCgemm3mEx", TYPED, 0, 68},
    {"cublasSgemmBatched", BATCHED, 0, 68},
    {"cublasDgemmBatched", BATCHED, 1, 70},
    {"cublasCgemmBatched", BATCHED, 4, 68},
    {"cublasZgemmBatched", BATCHED, 5, 70},
    {"cublasHgemmBatched", BATCHED, 2, 64},
    {"cublasCgemm3mBatched", BATCHED, 4, 68},
    {"cublasSgemmStridedBatched", STRIDED, 0, 68},
    {"cublasDgemmStridedBatched", STRIDED, 1, 70},
    {"cublasCgemmStridedBatched", STRIDED, 4, 68},
    {"cublasZgemmStridedBatched", STRIDED, 5, 70},
    {"cublasHgemmStridedBatched", STRIDED, 2, 64},
    {"cublasCgemm3mStridedBatched", STRIDED, 4, 68},
    {"cublasGemmEx", EX, 0, 0},
    {"cublasGemmBatchedEx", BATCHED_EX, 0, 0},
    {"cublasGemmStridedBatchedEx", STRIDED_EX, 0, 0},
};

/* All arguments are words; what a 32-bit one has in its upper half must not matter. */
static void call_gemm(const char *name, enum form form, w handle, bool wide)
{
    const w rubbish = wide ? 0 : 0xdeadbeefull << 32;
    w a[24];
    for (int i = 1; i < 24; i++)
        a[i] = 0x7777777700000000ull + (w)i; /* pointers and what does not matter */
    a[1] = handle;
    a[2] = rubbish | 1; /* A is transposed, B is not */
    a[3] = rubbish | 0;
    a[4] = rubbish | 30;
    a[5] = rubbish | 20;
    a[6] = rubbish | 10;
    if (forms[form].type_a)
        a[forms[form].type_a] = rubbish | 14, a[forms[form].type_b] = rubbish | 2, a[forms[form].type_c] = rubbish;
    if (forms[form].compute)
        a[forms[form].compute] = rubbish | 74;
    if (forms[form].batch)
        a[forms[form].batch] = rubbish | 5;
    assert_int_equal(CALL(name, (w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w),
                          (a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14],
                           a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23])),
                     0);
}

static void check_gemm(size_t i, const struct unit_event *e)
{
    enum form form = gemms[i].form;
    uint64_t a = forms[form].type_a ? 14 : (uint64_t)gemms[i].type, b = forms[form].type_a ? 2 : a;
    uint64_t c = forms[form].type_a ? 0 : a, compute = forms[form].compute ? 74 : (uint64_t)gemms[i].compute;
    assert_int_equal(e->count, 5);
    assert_int_equal(e->word[2], pair(30, 20));
    assert_int_equal(e->word[3], pair(10, forms[form].batch ? 5 : 1));
    assert_int_equal(e->word[4], a | b << 8 | c << 16 | c << 24 | compute << 32 | 1ull << 40 |
                                     (uint64_t)forms[form].how << 44 | 1ull << 48);
}

static void gemm_of(const char *file)
{
    w handle = 0;
    use(file);
    assert_int_equal(CALL("cublasCreate_v2", (w *), (&handle)), 0);
    for (size_t i = 0; i < COUNT(gemms); i++) {
        char wide[64];
        uint64_t before = plm_launch_count();
        call_gemm(gemms[i].name, gemms[i].form, handle, false);
        check_gemm(i, take_one(PLM_EV_GEMM));
        snprintf(wide, sizeof wide, "%s_64", gemms[i].name);
        call_gemm(wide, gemms[i].form, handle, true);
        check_gemm(i, take_one(PLM_EV_GEMM));
        assert_int_equal(plm_launch_count(), before + 2);
    }
    /* The handle's math mode decides what single precision runs on. */
    assert_int_equal(CALL("cublasSetMathMode", (w, int), (handle, 3)), 0);
    call_gemm("cublasSgemm_v2", PLAIN, handle, false);
    assert_int_equal(take_one(PLM_EV_GEMM)->word[4] >> 32 & 0xff, 77);
    call_gemm("cublasDgemm_v2", PLAIN, handle, false);
    assert_int_equal(take_one(PLM_EV_GEMM)->word[4] >> 32 & 0xff, 70);
    call_gemm("cublasSgemmEx", TYPED, handle, false); /* of half precision, which has tensor cores anyway */
    assert_int_equal(take_one(PLM_EV_GEMM)->word[4] >> 32 & 0xff, 68);
    assert_int_equal(CALL("cublasSgemm_v2", (w, int, int, int, int, int), (0, 0, 0, 1, 1, 1)), 1);
    assert_int_equal(CALL("cublasDestroy_v2", (w), (handle)), 0);
}

static void gemms_12(void **state)
{
    (void)state;
    gemm_of("libcublas.so.12");
}

static void gemms_13(void **state)
{
    (void)state;
    gemm_of("libcublas.so.13");
}

static void captured_gemm(void **state)
{
    struct plm_stream *stream;
    struct plm_graph *graph;
    struct unit_event *e;
    size_t nodes = 0;
    uint64_t before;
    w handle = 0;
    (void)state;
    use("libcublas.so.13");
    assert_int_equal(CALL("cublasCreate_v2", (w *), (&handle)), 0);
    assert_int_equal(plm_stream_create(0, 0, &stream), 0);
    assert_int_equal(CALL("cublasSetStream_v2", (w, void *), (handle, stream)), 0);
    before = plm_launch_count();
    assert_int_equal(plm_capture_begin(stream, PLM_CAPTURE_GLOBAL), 0);
    call_gemm("cublasSgemm_v2", PLAIN, handle, false);
    assert_int_equal(plm_capture_end(stream, &graph), 0);
    e = take_one(PLM_EV_GEMM);
    assert_int_equal(e->word[1], pair(plm_stream_number(stream), plm_graph_number(graph)));
    assert_int_equal(plm_graph_nodes(graph, NULL, &nodes), 0);
    assert_int_equal(nodes, 1);
    assert_int_equal(plm_launch_count(), before);
    plm_graph_destroy(graph);
    plm_stream_destroy(stream);
}

static void workspace_of_a_handle(void **state)
{
    uint64_t at = memory();
    w handle = 0;
    struct unit_event *e;
    (void)state;
    use("libcublas.so.12");
    assert_int_equal(CALL("cublasCreate_v2", (w *), (&handle)), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(CALL("cublasSetStream_v2", (w, w), (handle, 0)), 0);
        assert_int_equal(CALL("cublasSetWorkspace_v2", (w, w, size_t), (handle, at, 4096)), 0);
    }
    e = take_one(PLM_EV_TAG);
    assert_int_equal(e->word[0], at);
    assert_int_equal(e->word[1], PLM_CATEGORY_WORKSPACE);
}

/* ---- cuBLASLt ---- */

static w layout(int type, uint64_t rows, uint64_t columns, int batch)
{
    w d = 0;
    assert_int_equal(CALL("cublasLtMatrixLayoutCreate", (w *, int, uint64_t, uint64_t, int64_t),
                          (&d, type, rows, columns, (int64_t)rows)),
                     0);
    assert_int_equal(CALL("cublasLtMatrixLayoutSetAttribute", (w, int, const void *, size_t), (d, 5, &batch, 4)), 0);
    return d;
}

static void matmul_of(const char *file)
{
    static const int32_t yes = 1, bias = 4;
    uint64_t at = memory();
    struct unit_event *e;
    w light = 0, op = 0;
    use(file);
    assert_int_equal(CALL("cublasLtCreate", (w *), (&light)), 0);
    assert_int_equal(CALL("cublasLtMatmulDescCreate", (w *, int, int), (&op, 77, 0)), 0);
    assert_int_equal(CALL("cublasLtMatmulDescSetAttribute", (w, int, const void *, size_t), (op, 3, &yes, 4)), 0);
    assert_int_equal(CALL("cublasLtMatmulDescSetAttribute", (w, int, const void *, size_t), (op, 7, &bias, 4)), 0);
    w a = layout(14, 10, 30, 3), b = layout(2, 10, 20, 3), c = layout(0, 30, 20, 3), d = layout(1, 30, 20, 3);
    assert_int_equal(CALL("cublasLtMatmul", (w, w, w, w, w, w, w, w, w, w, w, w, w, w, size_t, w),
                          (light, op, 1, 2, a, 3, b, 4, 5, c, 6, d, 0, at, 4096, 0)),
                     0);
    e = take_tagged(PLM_EV_GEMM, PLM_CATEGORY_WORKSPACE, &at, 1);
    assert_int_equal(e->word[2], pair(30, 20));
    assert_int_equal(e->word[3], pair(10, 3));
    assert_int_equal(e->word[4], 14ull | 2ull << 8 | 0ull << 16 | 1ull << 24 | 77ull << 32 | 1ull << 40 |
                                     (uint64_t)PLM_GEMM_STRIDED << 44 | 4ull << 48);
}

static void matmul(void **state)
{
    (void)state;
    matmul_of("libcublasLt.so.12");
    matmul_of("libcublasLt.so.13");
}

/* ---- cuDNN ---- */

static w made(const char *create)
{
    w d = 0;
    assert_int_equal(CALL(create, (w *), (&d)), 0);
    return d;
}

static w tensor(int n, int c, int h, int width, bool last)
{
    w d = made("cudnnCreateTensorDescriptor");
    assert_int_equal(
        CALL("cudnnSetTensor4dDescriptor", (w, int, int, int, int, int, int), (d, last, 2, n, c, h, width)), 0);
    return d;
}

/* x 8 x 6 x 20 x 30, 2 groups, filter 4 x 3 x 3 x 5, stride 2 and 1, padding 1 and 2: y 8 x 4 x 10 x 30 */
static void check_convolution(const struct unit_event *e, int op, bool last, uint64_t bytes)
{
    /* By the formula; no convolution here may need more than a megabyte. The gradient of a filter may be summed up in
       parts, which take memory whatever the layout; nothing else does if no copies are needed. */
    const uint64_t most = last && op != 2 ? 0 : 1;
    assert_int_equal(e->count, 10);
    assert_int_equal(e->word[2], (uint64_t)op | 2ull << 8 | (uint64_t)last << 16 | 2ull << 24 | 2ull << 32);
    assert_int_equal(e->word[3], pair(8, 6));
    assert_int_equal(e->word[4], 4ull | 2ull << 32 | most << 48);
    assert_int_equal(e->word[5], bytes);
    assert_int_equal(e->word[6], pair(20, 10));
    assert_int_equal(e->word[7], 3ull | 2ull << 16 | 1ull << 32 | 1ull << 48);
    assert_int_equal(e->word[8], pair(30, 30));
    assert_int_equal(e->word[9], 5ull | 1ull << 16 | 1ull << 32 | 2ull << 48);
}

static void convolutions(void **state)
{
    uint64_t at = memory();
    (void)state;
    use("libcudnn.so.9");
    for (int last = 0; last < 2; last++) {
        w h = made("cudnnCreate"), x = tensor(8, 6, 20, 30, last), y = tensor(8, 4, 10, 30, last);
        w f = made("cudnnCreateFilterDescriptor"), conv = made("cudnnCreateConvolutionDescriptor");
        assert_int_equal(
            CALL("cudnnSetFilter4dDescriptor", (w, int, int, int, int, int, int), (f, 2, last, 4, 3, 3, 5)), 0);
        assert_int_equal(CALL("cudnnSetConvolution2dDescriptor", (w, int, int, int, int, int, int, int, int),
                              (conv, 1, 2, 2, 1, 1, 1, 1, 0)),
                         0);
        assert_int_equal(CALL("cudnnSetConvolutionGroupCount", (w, int), (conv, 2)), 0);
        assert_int_equal(CALL("cudnnConvolutionForward", (w, w, w, w, w, w, w, int, w, size_t, w, w, w),
                              (h, 0, x, 1, f, 2, conv, 1, 0, 0, 0, y, 3)),
                         0);
        check_convolution(take_one(PLM_EV_CONVOLUTION), 0, last, 0);
        assert_int_equal(CALL("cudnnConvolutionBiasActivationForward",
                              (w, w, w, w, w, w, w, int, w, size_t, w, w, w, w, w, w, w, w),
                              (h, 0, x, 1, f, 2, conv, 1, 0, 0, 0, y, 3, 4, 5, 6, y, 7)),
                         0);
        check_convolution(take_one(PLM_EV_CONVOLUTION), 0, last, 0);
        assert_int_equal(CALL("cudnnConvolutionBackwardData", (w, w, w, w, w, w, w, int, w, size_t, w, w, w),
                              (h, 0, f, 1, y, 2, conv, 1, 0, 0, 0, x, 3)),
                         0);
        check_convolution(take_one(PLM_EV_CONVOLUTION), 1, last, 0);
        assert_int_equal(CALL("cudnnConvolutionBackwardFilter", (w, w, w, w, w, w, w, int, w, size_t, w, w, w),
                              (h, 0, x, 1, y, 2, conv, 1, at, 4096, 0, f, 3)),
                         0);
        if (last) /* the same workspace as before */
            check_convolution(take_one(PLM_EV_CONVOLUTION), 2, last, 4096);
        else
            check_convolution(take_tagged(PLM_EV_CONVOLUTION, PLM_CATEGORY_WORKSPACE, &at, 1), 2, last, 4096);
    }
}

static w descriptor(int kind)
{
    w d = 0;
    assert_int_equal(CALL("cudnnBackendCreateDescriptor", (int, w *), (kind, &d)), 0);
    return d;
}

static void set(w d, int name, int type, int64_t count, const void *elements)
{
    assert_int_equal(
        CALL("cudnnBackendSetAttribute", (w, int, int, int64_t, const void *), (d, name, type, count, elements)), 0);
}

static void finish(w d)
{
    assert_int_equal(CALL("cudnnBackendFinalize", (w), (d)), 0);
}

enum { DATA_TYPE = 1, INT64 = 3, POINTER = 6, DESCRIPTOR = 15, BFLOAT16 = 9 };

static w backend_tensor(int type, int64_t a, int64_t b, int64_t c, int64_t d)
{
    const int64_t size[] = {a, b, c, d}, stride[] = {b * c * d, c * d, d, 1};
    w t = descriptor(17);
    set(t, 901, DATA_TYPE, 1, &type);
    set(t, 902, INT64, 4, size);
    set(t, 903, INT64, 4, stride);
    finish(t);
    return t;
}

/* Runs a graph of these operations. */
static void run_graph(const w *operations, int64_t count, uint64_t workspace)
{
    w handle = made("cudnnCreate"), graph = descriptor(15), engine = descriptor(2), config = descriptor(3);
    w plan = descriptor(5), pack = descriptor(16);
    int64_t bytes = workspace ? 4096 : 0;
    set(graph, 801, DESCRIPTOR, count, operations);
    finish(graph);
    set(engine, 1300, DESCRIPTOR, 1, &graph);
    finish(engine);
    set(config, 300, DESCRIPTOR, 1, &engine);
    set(config, 303, INT64, 1, &bytes);
    finish(config);
    set(plan, 401, DESCRIPTOR, 1, &config);
    finish(plan);
    set(pack, 1003, POINTER, 1, &workspace);
    finish(pack);
    assert_int_equal(CALL("cudnnBackendExecute", (w, w, w), (handle, plan, pack)), 0);
}

static void backend_convolution(void **state)
{
    static const struct {
        int kind, op, conv, w, x, y;
    } cases[] = {{10, 0, 702, 703, 704, 705}, {12, 1, 708, 709, 710, 711}, {11, 2, 714, 715, 716, 717}};
    static const int64_t stride[] = {2, 1}, pad[] = {1, 2}, dilation[] = {1, 1};
    uint64_t at = memory();
    w conv, x, y, f;
    (void)state;
    use("libcudnn.so.9");
    conv = descriptor(1);
    set(conv, 102, INT64, 2, dilation);
    set(conv, 103, INT64, 2, stride);
    set(conv, 105, INT64, 2, pad);
    finish(conv);
    x = backend_tensor(2, 8, 6, 20, 30), y = backend_tensor(2, 8, 4, 10, 30), f = backend_tensor(2, 4, 3, 3, 5);
    for (size_t i = 0; i < COUNT(cases); i++) {
        w op = descriptor(cases[i].kind);
        set(op, cases[i].conv, DESCRIPTOR, 1, &conv);
        set(op, cases[i].w, DESCRIPTOR, 1, &f);
        set(op, cases[i].x, DESCRIPTOR, 1, &x);
        set(op, cases[i].y, DESCRIPTOR, 1, &y);
        finish(op);
        run_graph(&op, 1, i ? 0 : at);
        if (i)
            check_convolution(take_one(PLM_EV_CONVOLUTION), cases[i].op, false, 0);
        else
            check_convolution(take_tagged(PLM_EV_CONVOLUTION, PLM_CATEGORY_WORKSPACE, &at, 1), 0, false, 4096);
    }
}

static w product(w a, w b, w c)
{
    w op = descriptor(19);
    set(op, 1520, DESCRIPTOR, 1, &a);
    set(op, 1521, DESCRIPTOR, 1, &b);
    set(op, 1522, DESCRIPTOR, 1, &c);
    finish(op);
    return op;
}

static void check_attention(const struct unit_event *e, int op, uint64_t bytes)
{
    assert_int_equal(e->count, 7);
    assert_int_equal(e->word[2], (uint64_t)op | (uint64_t)BFLOAT16 << 8 | 2ull << 32);
    assert_int_equal(e->word[3], pair(8, 4));
    assert_int_equal(e->word[4], pair(96, 160));
    assert_int_equal(e->word[5], pair(64, 32));
    assert_int_equal(e->word[6], bytes);
}

/* 2 x 8 heads (4 for keys and values), 96 queries of 64, 160 keys, values of 32 */
static void attention(void **state)
{
    uint64_t at = memory();
    (void)state;
    use("libcudnn.so.9");
    w q = backend_tensor(BFLOAT16, 2, 8, 96, 64), k = backend_tensor(BFLOAT16, 2, 4, 160, 64);
    w k_t = backend_tensor(BFLOAT16, 2, 4, 64, 160), v = backend_tensor(BFLOAT16, 2, 4, 160, 32);
    w s = backend_tensor(0, 2, 8, 96, 160), o = backend_tensor(BFLOAT16, 2, 8, 96, 32);
    w s_t = backend_tensor(0, 2, 8, 160, 96), v_t = backend_tensor(BFLOAT16, 2, 4, 32, 160);
    w whole = descriptor(41);
    set(whole, 2800, DESCRIPTOR, 1, &q);
    set(whole, 2801, DESCRIPTOR, 1, &k);
    set(whole, 2802, DESCRIPTOR, 1, &v);
    set(whole, 2803, DESCRIPTOR, 1, &o);
    finish(whole);
    run_graph(&whole, 1, at);
    check_attention(take_tagged(PLM_EV_ATTENTION, PLM_CATEGORY_WORKSPACE, &at, 1), 0, 4096);
    const w forward[] = {product(q, k_t, s), product(s, v, o)};
    run_graph(forward, 2, 0);
    check_attention(take_one(PLM_EV_ATTENTION), 0, 0);
    const w backward[] = {product(q, k_t, s), product(s_t, o, v), product(o, v_t, s), product(s_t, q, k),
                          product(s, k, q)};
    run_graph(backward, 5, 0);
    check_attention(take_one(PLM_EV_ATTENTION), 1, 0);
    run_graph(forward, 1, 0); /* a single product is no attention */
    assert_string_equal(take_one(PLM_EV_LAUNCH)->name, "cudnnBackendExecute");
}

static void recurrent(void **state)
{
    static const int lengths[3] = {7, 5, 2};
    uint64_t space[2] = {memory(), memory()};
    (void)state;
    use("libcudnn.so.9");
    w h = made("cudnnCreate"), rnn = made("cudnnCreateRNNDescriptor"), x = made("cudnnCreateRNNDataDescriptor");
    /* an LSTM with bias, both directions, input 11, hidden 13, projected to 9, 2 layers */
    assert_int_equal(CALL("cudnnSetRNNDescriptor_v8",
                          (w, int, int, int, int, int, int, int, int, int, int, int, int, w, unsigned),
                          (rnn, 0, 2, 2, 1, 0, 2, 0, 0, 11, 13, 9, 2, 0, 0)),
                     0);
    assert_int_equal(CALL("cudnnSetRNNDataDescriptor", (w, int, int, int, int, int, const int *, w),
                          (x, 2, 0, 7, 3, 11, lengths, 0)),
                     0);
    for (int op = 0; op < 4; op++) {
        struct unit_event *e;
        int status;
        if (op < 2)
            status =
                CALL("cudnnRNNForward", (w, w, int, w, w, w, w, w, w, w, w, w, w, w, size_t, w, size_t, w, size_t, w),
                     (h, rnn, op, 1, x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 4096, space[0], op ? 2048 : 0,
                      op ? space[1] : 0));
        else if (op == 2)
            status =
                CALL("cudnnRNNBackwardData_v8",
                     (w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, size_t, w, size_t, w, size_t, w),
                     (h, rnn, 1, 2, 3, 4, x, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 4096, space[0], 2048, space[1]));
        else
            status =
                CALL("cudnnRNNBackwardWeights_v8", (w, w, int, w, w, w, w, w, w, w, size_t, w, size_t, w, size_t, w),
                     (h, rnn, 0, 1, x, 2, 3, 4, 5, 6, 7, 8, 4096, space[0], 2048, space[1]));
        assert_int_equal(status, 0);
        e = op < 2 ? take_tagged(PLM_EV_RNN, PLM_CATEGORY_WORKSPACE, &space[op], 1) : take_one(PLM_EV_RNN);
        assert_int_equal(e->count, 9);
        assert_int_equal(e->word[2], (uint64_t)op | 2ull << 8 | 2ull << 16 | 2ull << 24 | 2ull << 32 | 2ull << 48);
        assert_int_equal(e->word[3], pair(11, 13));
        assert_int_equal(e->word[4], pair(9, 7));
        assert_int_equal(e->word[5], pair(3, 14));
        assert_int_equal(e->word[6], 4096);
        assert_int_equal(e->word[7], op ? 2048 : 0);
        assert_int_equal(e->word[8], 0);
    }
}

/* As cuDNN 8 has it: a descriptor without input, whose weights follow from the tensor of a step, 3 x 11 x 1. Of an LSTM with
   13 units these are 4 matrices of 13 x 11 and 4 of 13 x 13, and with both biases 8 vectors; a second layer has 13 in. */
static void recurrent_of_8(void **state)
{
    static const int size[3] = {3, 11, 1}, stride[3] = {11, 1, 1};
    w h, rnn, dropout, x;
    (void)state;
    use("libcudnn.so.8");
    h = made("cudnnCreate");
    rnn = made("cudnnCreateRNNDescriptor");
    dropout = made("cudnnCreateDropoutDescriptor");
    x = made("cudnnCreateTensorDescriptor");
    assert_int_equal(
        CALL("cudnnSetTensorNdDescriptor", (w, int, int, const int *, const int *), (x, 0, 3, size, stride)), 0);
    for (int layers = 1; layers <= 2; layers++) {
        const size_t first = 4 * (13 * 11 + 13 * 13 + 2 * 13), second = 4 * (13 * 13 + 13 * 13 + 2 * 13);
        size_t bytes = 0;
        assert_int_equal(CALL("cudnnSetRNNDescriptor_v6", (w, w, int, int, w, int, int, int, int, int),
                              (h, rnn, 13, layers, dropout, 0, 0, 2, 0, 0)),
                         0);
        assert_int_equal(CALL("cudnnGetRNNParamsSize", (w, w, w, size_t *, int), (h, rnn, x, &bytes, 0)), 0);
        assert_int_equal(bytes, 4 * (layers == 1 ? first : first + second));
    }
}

/* ---- NCCL ---- */

struct id {
    char bytes[128];
};

static void check_collective(enum plm_collective kind, int op, int root, const uint64_t *tags, int count)
{
    struct unit_event *e = take_tagged(PLM_EV_COLLECTIVE, PLM_CATEGORY_COMMUNICATION, tags, count);
    assert_int_equal(e->count, 5);
    assert_int_equal(e->word[2], (uint64_t)kind | 7ull << 8 | (uint64_t)(uint8_t)op << 16 | 4ull << 32);
    assert_int_equal(e->word[3], pair(1, (uint32_t)root));
    assert_int_equal(e->word[4], 100);
}

static void collectives(void **state)
{
    const uint64_t at[2] = {memory(), memory()};
    struct unit_event *e;
    struct id id;
    w comm = 0;
    (void)state;
    use("libnccl.so.2");
    assert_int_equal(CALL("ncclGetUniqueId", (struct id *), (&id)), 0);
    assert_int_equal(CALL("ncclCommInitRank", (w *, int, struct id, int), (&comm, 4, id, 1)), 0);
    take(&e);
#define REDUCE           (w, w, size_t, int, int, w, w), (at[0], at[1], 100, 7, 2, comm, 0)
#define MOVE             (w, w, size_t, int, w, w), (at[0], at[1], 100, 7, comm, 0)
#define ROOT             (w, w, size_t, int, int, w, w), (at[0], at[1], 100, 7, 3, comm, 0)
#define EACH(name, how)  assert_int_equal(CALL_(name, how), 0)
#define CALL_(name, ...) CALL(name, __VA_ARGS__)
    EACH("ncclAllReduce", REDUCE);
    check_collective(PLM_COLLECTIVE_ALL_REDUCE, 2, -1, at, 2);
    EACH("ncclReduceScatter", REDUCE);
    check_collective(PLM_COLLECTIVE_REDUCE_SCATTER, 2, -1, at, 2);
    EACH("ncclAllGather", MOVE);
    check_collective(PLM_COLLECTIVE_ALL_GATHER, -1, -1, at, 2);
    EACH("ncclAlltoAll", MOVE);
    check_collective(PLM_COLLECTIVE_ALL_TO_ALL, -1, -1, at, 2);
    EACH("ncclBroadcast", ROOT);
    check_collective(PLM_COLLECTIVE_BROADCAST, -1, 3, at, 2);
    EACH("ncclGather", ROOT);
    check_collective(PLM_COLLECTIVE_GATHER, -1, 3, at, 2);
    EACH("ncclScatter", ROOT);
    check_collective(PLM_COLLECTIVE_SCATTER, -1, 3, at, 2);
    assert_int_equal(CALL("ncclReduce", (w, w, size_t, int, int, int, w, w), (at[0], at[1], 100, 7, 2, 3, comm, 0)), 0);
    check_collective(PLM_COLLECTIVE_REDUCE, 2, 3, at, 2);
    assert_int_equal(CALL("ncclSend", (w, size_t, int, int, w, w), (at[0], 100, 7, 2, comm, 0)), 0);
    check_collective(PLM_COLLECTIVE_SEND, -1, 2, at, 1);
    assert_int_equal(CALL("ncclRecv", (w, size_t, int, int, w, w), (at[1], 100, 7, 2, comm, 0)), 0);
    check_collective(PLM_COLLECTIVE_RECEIVE, -1, 2, at + 1, 1);
    assert_int_equal(CALL("ncclAllReduce", (w, w, size_t, int, int, w, w), (at[0], at[0], 100, 7, 0, comm, 0)), 0);
    check_collective(PLM_COLLECTIVE_ALL_REDUCE, 0, -1, at, 1); /* in place: one tag */
}

/* ---- the runtime and the driver ---- */

static void runtime_of(const char *file)
{
    uint64_t at = memory();
    char host[16] = "";
    struct unit_event *e;
    use(file);
    assert_int_equal(CALL("cudaDeviceSynchronize", (void), ()), 0);
    assert_int_equal(take_one(PLM_EV_SYNC)->word[2], pair(PLM_SYNC_DEVICE, PLM_STREAM_UNKNOWN));
    assert_int_equal(CALL("cudaStreamSynchronize", (w), (2)), 0);
    e = take_one(PLM_EV_SYNC);
    assert_int_equal(e->word[1], 1);
    assert_int_equal(CALL("cudaMemcpy", (void *, w, size_t, int), (host, at, 16, 2)), 0);
    e = take_one(PLM_EV_COPY);
    assert_int_equal(e->word[4], PLM_COPY_DEVICE_TO_HOST | PLM_COPY_PAGEABLE << 8);
    assert_int_equal(CALL("cudaMemcpyAsync", (w, const void *, size_t, int, w), (at, host, 16, 1, 2)), 0);
    e = take_tagged(PLM_EV_COPY, PLM_CATEGORY_INPUTS, &at, 1);
    assert_int_equal(e->word[1], 1);
    assert_int_equal(e->word[3], at);
    assert_int_equal(e->word[4], PLM_COPY_HOST_TO_DEVICE | PLM_COPY_PAGEABLE << 8 | 1 << 16);
    assert_int_equal(CALL("cudaMemsetAsync", (w, int, size_t, w), (at, 0, 4096, 0)), 0);
    e = take_one(PLM_EV_COPY);
    assert_int_equal(e->word[2], 4096);
    assert_int_equal(e->word[4], PLM_COPY_FILL | 1 << 16);
}

static void runtime(void **state)
{
    (void)state;
    runtime_of("libcudart.so.12");
    runtime_of("libcudart.so.13");
}

static void driver(void **state)
{
    static const char ptx[] = ".version 8.0\n.target sm_50\n.visible .entry first() { ret; }\n";
    uint64_t at = memory();
    struct unit_event *e;
    char host[16];
    w context = 0, module = 0, function = 0;
    (void)state;
    use("libcuda.so.1");
    assert_int_equal(CALL("cuInit", (unsigned), (0)), 0);
    assert_int_equal(CALL("cuDevicePrimaryCtxRetain", (w *, int), (&context, 0)), 0);
    assert_int_equal(CALL("cuCtxSetCurrent", (w), (context)), 0);
    assert_int_equal(CALL("cuModuleLoadData", (w *, const void *), (&module, ptx)), 0);
    assert_int_equal(CALL("cuModuleGetFunction", (w *, w, const char *), (&function, module, "first")), 0);
    assert_int_equal(CALL("cuLaunchKernel",
                          (w, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, w, w, w),
                          (function, 7, 2, 1, 64, 1, 1, 1024, 2, 0, 0)),
                     0);
    e = take_one(PLM_EV_LAUNCH);
    assert_string_equal(e->name, "first");
    assert_int_equal(e->word[1], 1);
    assert_int_equal(e->word[2] >> 32, 7);
    assert_int_equal(e->word[3], 2ull | 1ull << 16 | 64ull << 32 | 1ull << 48);
    assert_int_equal(e->word[4], 1ull | 1024ull << 32);
    assert_int_equal(CALL("cuCtxSynchronize", (void), ()), 0);
    assert_int_equal(take_one(PLM_EV_SYNC)->word[2], pair(PLM_SYNC_DEVICE, PLM_STREAM_UNKNOWN));
    assert_int_equal(CALL("cuMemcpyDtoH_v2", (void *, w, size_t), (host, at, 16)), 0);
    assert_int_equal(take_one(PLM_EV_COPY)->word[4], PLM_COPY_DEVICE_TO_HOST | PLM_COPY_PAGEABLE << 8);
    assert_int_equal(CALL("cuMemsetD32Async", (w, unsigned, size_t, w), (at, 1, 64, 0)), 0);
    e = take_one(PLM_EV_COPY);
    assert_int_equal(e->word[2], 256);
    assert_int_equal(e->word[4], PLM_COPY_FILL | 1 << 16);
    assert_int_equal(CALL("cuDevicePrimaryCtxRelease_v2", (int), (0)), 0); /* it is nobody's then */
    assert_int_equal(CALL("cuDevicePrimaryCtxRelease_v2", (int), (0)), 201);
}

/* A primary context is given back as often as it was retained; then there is none (CUDA_ERROR_INVALID_CONTEXT is 201). */
static void primary_context(void **state)
{
    w context = 0;
    (void)state;
    use("libcuda.so.1");
    for (int i = 0; i < 2; i++)
        assert_int_equal(CALL("cuDevicePrimaryCtxRetain", (w *, int), (&context, 0)), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(CALL("cuDevicePrimaryCtxRelease_v2", (int), (0)), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(CALL("cuDevicePrimaryCtxRelease_v2", (int), (0)), 201);
    assert_int_equal(CALL("cuDevicePrimaryCtxRetain", (w *, int), (NULL, 0)), 1);
    assert_int_equal(CALL("cuDevicePrimaryCtxRetain", (w *, int), (&context, 7)), 101); /* CUDA_ERROR_INVALID_DEVICE */
}

/* Which streams capture; the identifier is for those who ask for it. */
static void capture_asked(void **state)
{
    w stream = 0, graph = 0;
    uint64_t id = 77;
    int status = -1;
    (void)state;
    use("libcuda.so.1");
    assert_int_equal(CALL("cuStreamCreate", (w *, unsigned), (&stream, 1)), 0);
    assert_int_equal(CALL("cuStreamGetCaptureInfo", (w, int *, uint64_t *), (stream, NULL, &id)), 1);
    assert_int_equal(CALL("cuStreamGetCaptureInfo", (w, int *, uint64_t *), (stream, &status, NULL)), 0);
    assert_int_equal(status, 0);
    assert_int_equal(CALL("cuStreamBeginCapture_v2", (w, int), (stream, 0)), 0);
    assert_int_equal(CALL("cuStreamGetCaptureInfo", (w, int *, uint64_t *), (stream, &status, &id)), 0);
    assert_int_equal(status, 1); /* CU_STREAM_CAPTURE_STATUS_ACTIVE */
    assert_int_not_equal(id, 77);
    assert_int_equal(CALL("cuStreamEndCapture", (w, w *), (stream, &graph)), 0);
    assert_int_equal(CALL("cuStreamDestroy_v2", (w), (stream)), 0);
}

/* ---- tensor maps ---- */

/* The limits that CUDA's documentation of cuTensorMapEncodeTiled() states: a map at a multiple of 64 bytes, memory at one of
   16, up to 5 dimensions of 1 to 2^32, strides that are multiples of 16 below 2^40, boxes of 1 to 256. */
static const struct {
    uint64_t map, address, dims[2], stride;
    uint32_t rank, box[2];
    int status;
} maps[] = {
    {0, 4096, {8, 8}, 16, 2, {8, 8}, 0},
    {0, 4096, {1, 1ull << 32}, (1ull << 40) - 16, 2, {1, 256}, 0},
    {0, 4096, {8, 0}, 16, 1, {8, 0}, 0}, /* of one dimension, the others are not read */
    {32, 4096, {8, 8}, 16, 2, {8, 8}, 1},
    {0, 4104, {8, 8}, 16, 2, {8, 8}, 1},
    {0, 4096, {0, 8}, 16, 2, {8, 8}, 1},
    {0, 4096, {8, 0}, 16, 2, {8, 8}, 1},
    {0, 4096, {8, (1ull << 32) + 1}, 16, 2, {8, 8}, 1},
    {0, 4096, {8, 8}, 8, 2, {8, 8}, 1},
    {0, 4096, {8, 8}, 1ull << 40, 2, {8, 8}, 1},
    {0, 4096, {8, 8}, 16, 2, {0, 8}, 1},
    {0, 4096, {8, 8}, 16, 2, {8, 257}, 1},
    {0, 4096, {8, 8}, 16, 0, {8, 8}, 1},
    {0, 4096, {8, 8}, 16, 6, {8, 8}, 1},
};

/* In a child, whose card has them; the number of the first that is answered wrongly, from 1. */
static int encode_maps(void)
{
    _Alignas(64) char map[256];
    w context = 0;
    use("libcuda.so.1");
    if (CALL("cuInit", (unsigned), (0)) || CALL("cuDevicePrimaryCtxRetain", (w *, int), (&context, 0)) ||
        CALL("cuCtxSetCurrent", (w), (context)))
        return 100;
    for (size_t i = 0; i < COUNT(maps); i++) {
        const uint64_t dims[6] = {maps[i].dims[0], maps[i].dims[1], 8, 8, 8, 8},
                       strides[5] = {maps[i].stride, 16, 16, 16, 16};
        const uint32_t box[6] = {maps[i].box[0], maps[i].box[1], 8, 8, 8, 8}, ones[6] = {1, 1, 1, 1, 1, 1};
        const int status =
            CALL("cuTensorMapEncodeTiled",
                 (void *, int, unsigned, w, const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *, int,
                  int, int, int),
                 (map + maps[i].map, 0, maps[i].rank, maps[i].address, dims, strides, box, ones, 0, 0, 0, 0));
        if (status != maps[i].status)
            return (int)i + 1;
    }
    return 0;
}

static void tensor_maps(void **state)
{
    const char *card = getenv("PLIMSOLL_CARD");
    char own[4096], hopper[4096];
    int status;
    (void)state;
    snprintf(own, sizeof own, "%s", card);
    snprintf(hopper, sizeof hopper, "%s/data/gpus/h100-80gb.ini#h100-80gb", getenv("PLM_SOURCE"));
    setenv("PLIMSOLL_CARD", hopper, 1);
    if (!fork())
        _exit(encode_maps());
    wait(&status);
    setenv("PLIMSOLL_CARD", own, 1);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest of_another_card[] = {cmocka_unit_test(tensor_maps)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemms_12),
        cmocka_unit_test(gemms_13),
        cmocka_unit_test(captured_gemm),
        cmocka_unit_test(workspace_of_a_handle),
        cmocka_unit_test(matmul),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(backend_convolution),
        cmocka_unit_test(attention),
        cmocka_unit_test(recurrent),
        cmocka_unit_test(recurrent_of_8),
        cmocka_unit_test(collectives),
        cmocka_unit_test(runtime),
        cmocka_unit_test(driver),
        cmocka_unit_test(capture_asked),
        cmocka_unit_test(primary_context),
    };
    return RUN(of_another_card) + cmocka_run_group_tests(tests, start, NULL);
}
