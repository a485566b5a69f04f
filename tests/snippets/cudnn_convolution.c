/* cuDNN: convolutions of the older interface. */
#include "cudnn.h"

SNIPPET(cudnnSetConvolution2dDescriptor)
{
    dnn_drop("ConvolutionDescriptor", dnn_convolution(1, 2));
}

SNIPPET(cudnnGetConvolution2dDescriptor)
{
    int v[8] = {0};
    P d = dnn_convolution(3, 2);
    CHECK(CALL(int, cudnnGetConvolution2dDescriptor, (P, int *, int *, int *, int *, int *, int *, int *, int *),
               (d, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7)) == 0);
    CHECK(v[0] == 3 && v[1] == 3 && v[2] == 2 && v[4] == 1 && v[6] == 1 && v[7] == 0);
    dnn_drop("ConvolutionDescriptor", d);
}

static void check_convolution_nd(void)
{
    const int pad[] = {0, 1, 2}, stride[] = {1, 2, 3}, dilation[] = {1, 1, 2};
    int dims = 0, p[3] = {0}, s[3] = {0}, l[3] = {0}, mode = -1, compute = -1;
    P d = dnn_make("ConvolutionDescriptor");
    CHECK(CALL(int, cudnnSetConvolutionNdDescriptor, (P, int, const int *, const int *, const int *, int, int),
               (d, 3, pad, stride, dilation, 1, 0)) == 0);
    CHECK(CALL(int, cudnnGetConvolutionNdDescriptor, (P, int, int *, int *, int *, int *, int *, int *),
               (d, 3, &dims, p, s, l, &mode, &compute)) == 0);
    CHECK(dims == 3 && p[2] == 2 && s[1] == 2 && l[2] == 2 && mode == 1 && compute == 0);
    dnn_drop("ConvolutionDescriptor", d);
}

SNIPPET(cudnnSetConvolutionNdDescriptor)
{
    check_convolution_nd();
}
SNIPPET(cudnnGetConvolutionNdDescriptor)
{
    check_convolution_nd();
}

static void check_field(const char *setter, const char *getter, int value)
{
    int out = -1;
    P d = dnn_convolution(1, 1);
    CHECK(((int (*)(P, int))snippet_symbol(setter))(d, value) == 0);
    CHECK(((int (*)(P, int *))snippet_symbol(getter))(d, &out) == 0 && out == value);
    dnn_drop("ConvolutionDescriptor", d);
}

#define FIELD(what, value)                                                            \
    SNIPPET(cudnnSetConvolution##what)                                                \
    {                                                                                 \
        check_field("cudnnSetConvolution" #what, "cudnnGetConvolution" #what, value); \
    }                                                                                 \
    SNIPPET(cudnnGetConvolution##what)                                                \
    {                                                                                 \
        check_field("cudnnSetConvolution" #what, "cudnnGetConvolution" #what, value); \
    }

FIELD(MathType, 3)
FIELD(GroupCount, 4)
FIELD(ReorderType, 1)

/* The stem of a ResNet: 3 -> 64 channels, 7x7, stride 2. */
struct stem {
    P x, w, conv, y;
};

static struct stem stem(void)
{
    return (struct stem){dnn_tensor(0, 8, 3, 224, 224), dnn_filter(64, 3, 7, 7), dnn_convolution(3, 2),
                         dnn_tensor(0, 8, 64, 112, 112)};
}

static void stem_drop(struct stem s)
{
    dnn_drop("TensorDescriptor", s.x);
    dnn_drop("FilterDescriptor", s.w);
    dnn_drop("ConvolutionDescriptor", s.conv);
    dnn_drop("TensorDescriptor", s.y);
}

SNIPPET(cudnnGetConvolution2dForwardOutputDim)
{
    int v[4] = {0};
    struct stem s = stem();
    CHECK(CALL(int, cudnnGetConvolution2dForwardOutputDim, (P, P, P, int *, int *, int *, int *),
               (s.conv, s.x, s.w, v, v + 1, v + 2, v + 3)) == 0);
    CHECK(v[0] == 8 && v[1] == 64 && v[2] == 112 && v[3] == 112);
    stem_drop(s);
}

SNIPPET(cudnnGetConvolutionNdForwardOutputDim)
{
    int v[4] = {0};
    struct stem s = stem();
    CHECK(CALL(int, cudnnGetConvolutionNdForwardOutputDim, (P, P, P, int, int *), (s.conv, s.x, s.w, 4, v)) == 0);
    CHECK(v[0] == 8 && v[1] == 64 && v[2] == 112 && v[3] == 112);
    stem_drop(s);
}

SNIPPET(cudnnGetFoldedConvBackwardDataDescriptors)
{
    struct stem s = stem();
    P fw = dnn_make("FilterDescriptor"), pd = dnn_make("TensorDescriptor"), fc = dnn_make("ConvolutionDescriptor"),
      fg = dnn_make("TensorDescriptor"), t[4];
    int size[8], stride[8], v[4] = {0};
    for (int i = 0; i < 4; i++)
        t[i] = dnn_make("TensorTransformDescriptor");
    CHECK(CALL(int, cudnnGetFoldedConvBackwardDataDescriptors, (P, P, P, P, P, int, P, P, P, P, P, P, P, P),
               (NULL, s.w, s.y, s.conv, s.x, 0, fw, pd, fc, fg, t[0], t[1], t[2], t[3])) == 0);
    CHECK(dnn_tensor_nd(fg, size, stride) == 4 && size[1] == 12 && size[2] == 115);
    /* A convolution of the folded gradient with the folded filter has the shape of the output. */
    CHECK(CALL(int, cudnnGetConvolutionNdForwardOutputDim, (P, P, P, int, int *), (fc, fg, fw, 4, v)) == 0);
    CHECK(v[1] == 64 && v[2] == 112 && v[3] == 112);
    for (int i = 0; i < 4; i++)
        dnn_drop("TensorTransformDescriptor", t[i]);
    dnn_drop("FilterDescriptor", fw);
    dnn_drop("TensorDescriptor", pd);
    dnn_drop("ConvolutionDescriptor", fc);
    dnn_drop("TensorDescriptor", fg);
    stem_drop(s);
}

/* The public layout of one search result. */
struct perf {
    int algorithm, status;
    float time;
    size_t memory;
    int determinism, math, reserved[3];
};

/* Of the stem's convolution by the formula: the gradient of a 7x7 filter works on copies with 4 channels. */
static size_t stem_workspace(const char *symbol)
{
    return strstr(symbol, "Filter") ? 4ull * (8 * 4 * 224 * 224 + 64 * 4 * 7 * 7 + 8 * 64 * 112 * 112) : 0;
}

static void check_search(const char *symbol, P first, P second, P conv, P third, float least)
{
    struct perf perf[4];
    int returned = -1;
    memset(perf, 0xff, sizeof perf);
    CHECK(((int (*)(P, P, P, P, P, int, int *, struct perf *))snippet_symbol(symbol))(NULL, first, second, conv, third,
                                                                                      4, &returned, perf) == 0);
    CHECK(perf[0].status == 0 && perf[0].algorithm == 1 && perf[0].time >= least);
    CHECK(perf[0].memory == stem_workspace(symbol) && perf[0].determinism == 1 && perf[0].math == 0);
    CHECK(returned == 1 + (perf[0].memory > 0));
    if (returned == 2)
        CHECK(perf[1].status == 0 && perf[1].algorithm == 0 && perf[1].memory == 0);
}

static void check_search_ex(const char *symbol, P first, P second, P conv, P third)
{
    struct perf perf[2];
    int returned = -1;
    memset(perf, 0xff, sizeof perf);
    CHECK(((int (*)(P, P, P, P, P, P, P, P, int, int *, struct perf *, P, size_t))snippet_symbol(symbol))(
              NULL, first, NULL, second, NULL, conv, third, NULL, 2, &returned, perf, NULL, 0) == 0);
    CHECK(returned == 1 && perf[0].status == 0 && perf[0].time > 0 && perf[0].memory == 0); /* without a workspace */
}

static void check_space(const char *symbol, P first, P second, P conv, P third)
{
    size_t bytes = (size_t)-1;
    CHECK(((int (*)(P, P, P, P, P, int, size_t *))snippet_symbol(symbol))(NULL, first, second, conv, third, 1,
                                                                          &bytes) == 0);
    CHECK(bytes == stem_workspace(symbol));
    CHECK(((int (*)(P, P, P, P, P, int, size_t *))snippet_symbol(symbol))(NULL, first, second, conv, third, 0,
                                                                          &bytes) == 0);
    CHECK(bytes == 0);
    CHECK(((int (*)(P, P, P, P, P, int, size_t *))snippet_symbol(symbol))(NULL, NULL, second, conv, third, 1, &bytes) !=
          0);
}

#define DIRECTION(which, first, second, third)                                                             \
    SNIPPET(cudnnGetConvolution##which##Algorithm_v7)                                                      \
    {                                                                                                      \
        struct stem s = stem();                                                                            \
        check_search("cudnnGetConvolution" #which "Algorithm_v7", s.first, s.second, s.conv, s.third, -1); \
        stem_drop(s);                                                                                      \
    }                                                                                                      \
    SNIPPET(cudnnFindConvolution##which##Algorithm)                                                        \
    {                                                                                                      \
        struct stem s = stem();                                                                            \
        check_search("cudnnFindConvolution" #which "Algorithm", s.first, s.second, s.conv, s.third, 0);    \
        stem_drop(s);                                                                                      \
    }                                                                                                      \
    SNIPPET(cudnnFindConvolution##which##AlgorithmEx)                                                      \
    {                                                                                                      \
        struct stem s = stem();                                                                            \
        check_search_ex("cudnnFindConvolution" #which "AlgorithmEx", s.first, s.second, s.conv, s.third);  \
        stem_drop(s);                                                                                      \
    }                                                                                                      \
    SNIPPET(cudnnGetConvolution##which##WorkspaceSize)                                                     \
    {                                                                                                      \
        struct stem s = stem();                                                                            \
        check_space("cudnnGetConvolution" #which "WorkspaceSize", s.first, s.second, s.conv, s.third);     \
        stem_drop(s);                                                                                      \
    }

DIRECTION(Forward, x, w, y)
DIRECTION(BackwardData, w, y, x)
DIRECTION(BackwardFilter, x, y, w)
