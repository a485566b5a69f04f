/* cuDNN: versions, descriptors, shapes, recurrent networks, the graph API. */
#include "snippet.h"

#include <stdlib.h>

typedef void *P;

/* A descriptor of that kind; a failed creation fails the snippet. */
static P make(const char *kind)
{
    char name[80] = "cudnnCreate";
    P out = NULL;
    strcat(name, kind);
    CHECK(((int (*)(P *))snippet_symbol(name))(&out) == 0);
    CHECK(out != NULL);
    return out;
}

static void drop(const char *kind, P object)
{
    char name[80] = "cudnnDestroy";
    strcat(name, kind);
    CHECK(((int (*)(P))snippet_symbol(name))(object) == 0);
}

#define PAIR(kind)                                             \
    SNIPPET(cudnnCreate##kind)                                 \
    {                                                          \
        drop(#kind, make(#kind));                              \
        CHECK(CALL(int, cudnnCreate##kind, (P), (NULL)) != 0); \
    }                                                          \
    SNIPPET(cudnnDestroy##kind)                                \
    {                                                          \
        drop(#kind, make(#kind));                              \
        drop(#kind, NULL);                                     \
    }

PAIR(TensorDescriptor)
PAIR(TensorTransformDescriptor)
PAIR(OpTensorDescriptor)
PAIR(ReduceTensorDescriptor)
PAIR(FilterDescriptor)
PAIR(PoolingDescriptor)
PAIR(ActivationDescriptor)
PAIR(LRNDescriptor)
PAIR(DropoutDescriptor)
PAIR(ConvolutionDescriptor)
PAIR(RNNDescriptor)
PAIR(RNNDataDescriptor)
PAIR(SeqDataDescriptor)
PAIR(AttnDescriptor)
PAIR(CTCLossDescriptor)

static P tensor(int type, int n, int c, int h, int w)
{
    P t = make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensor4dDescriptor, (P, int, int, int, int, int, int), (t, 0, type, n, c, h, w)) == 0);
    return t;
}

static P filter(int k, int c, int r, int s)
{
    P f = make("FilterDescriptor");
    CHECK(CALL(int, cudnnSetFilter4dDescriptor, (P, int, int, int, int, int, int), (f, 0, 0, k, c, r, s)) == 0);
    return f;
}

static P convolution(int pad, int stride)
{
    P d = make("ConvolutionDescriptor");
    CHECK(CALL(int, cudnnSetConvolution2dDescriptor, (P, int, int, int, int, int, int, int, int),
               (d, pad, pad, stride, stride, 1, 1, 1, 0)) == 0);
    return d;
}

static int tensor_nd(P t, int size[8], int stride[8])
{
    int type = -1, dims = -1;
    CHECK(CALL(int, cudnnGetTensorNdDescriptor, (P, int, int *, int *, int *, int *),
               (t, 8, &type, &dims, size, stride)) == 0);
    return dims;
}

/* ---- versions, errors, handle ---- */

SNIPPET(cudnnGetVersion)
{
    size_t version = CALL(size_t, cudnnGetVersion, (void), ());
    CHECK(version >= 90000 && version < 100000);
}

SNIPPET(cudnnGetCudartVersion)
{
    CHECK(CALL(size_t, cudnnGetCudartVersion, (void), ()) >= 12000);
}

SNIPPET(cudnnGetMaxDeviceVersion)
{
    CHECK(CALL(size_t, cudnnGetMaxDeviceVersion, (void), ()) >= 900);
}

SNIPPET(cudnnGetErrorString)
{
    CHECK(!strcmp(CALL(const char *, cudnnGetErrorString, (int), (0)), "CUDNN_STATUS_SUCCESS"));
    CHECK(!strcmp(CALL(const char *, cudnnGetErrorString, (int), (3000)), "CUDNN_STATUS_NOT_SUPPORTED"));
    CHECK(CALL(const char *, cudnnGetErrorString, (int), (77)) != NULL);
}

SNIPPET(cudnnGetLastErrorString)
{
    char text[128];
    CALL(void, cudnnGetLastErrorString, (char *, size_t), (text, sizeof text));
    memset(text, 'x', sizeof text);
    CALL(int, cudnnGetProperty, (int, int *), (99, NULL));
    CALL(void, cudnnGetLastErrorString, (char *, size_t), (text, sizeof text));
    CHECK(text[0] && memchr(text, 0, sizeof text));
    CALL(void, cudnnGetLastErrorString, (char *, size_t), (text, sizeof text));
    CHECK(!text[0]);
}

SNIPPET(cudnnGetProperty)
{
    int part[3] = {-1, -1, -1};
    for (int i = 0; i < 3; i++)
        CHECK(CALL(int, cudnnGetProperty, (int, int *), (i, &part[i])) == 0);
    CHECK((size_t)(part[0] * 10000 + part[1] * 100 + part[2]) == CALL(size_t, cudnnGetVersion, (void), ()));
}

static P handle(void)
{
    P h = NULL;
    CHECK(CALL(int, cudnnCreate, (P *), (&h)) == 0 && h);
    return h;
}

SNIPPET(cudnnCreate)
{
    CHECK(CALL(int, cudnnDestroy, (P), (handle())) == 0);
}

SNIPPET(cudnnDestroy)
{
    CHECK(CALL(int, cudnnDestroy, (P), (handle())) == 0);
}

SNIPPET(cudnnSetStream)
{
    P h = handle();
    CHECK(CALL(int, cudnnSetStream, (P, P), (h, (P)1)) == 0);
    CHECK(CALL(int, cudnnSetStream, (P, P), (NULL, (P)1)) != 0);
    CALL(int, cudnnDestroy, (P), (h));
}

SNIPPET(cudnnGetStream)
{
    P h = handle(), stream = (P)5;
    CHECK(CALL(int, cudnnGetStream, (P, P *), (h, &stream)) == 0 && !stream);
    CALL(int, cudnnSetStream, (P, P), (h, (P)2));
    CHECK(CALL(int, cudnnGetStream, (P, P *), (h, &stream)) == 0 && stream == (P)2);
    CALL(int, cudnnDestroy, (P), (h));
}

static void check_callback(void)
{
    unsigned mask = 0;
    P data = NULL, function = NULL;
    CHECK(CALL(int, cudnnSetCallback, (unsigned, P, P), (7, (P)3, (P)4)) == 0);
    CHECK(CALL(int, cudnnGetCallback, (unsigned *, P *, P *), (&mask, &data, &function)) == 0);
    CHECK(mask == 7 && data == (P)3 && function == (P)4);
    CALL(int, cudnnSetCallback, (unsigned, P, P), (0, NULL, NULL));
}

SNIPPET(cudnnSetCallback)
{
    check_callback();
}
SNIPPET(cudnnGetCallback)
{
    check_callback();
}

/* ---- tensors ---- */

SNIPPET(cudnnSetTensor4dDescriptor)
{
    int size[8], stride[8];
    P t = make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensor4dDescriptor, (P, int, int, int, int, int, int), (t, 1, 2, 2, 3, 4, 5)) == 0);
    CHECK(tensor_nd(t, size, stride) == 4);
    CHECK(stride[0] == 60 && stride[1] == 1 && stride[2] == 15 && stride[3] == 3);
    drop("TensorDescriptor", t);
}

SNIPPET(cudnnGetTensor4dDescriptor)
{
    int v[9] = {0};
    P t = tensor(2, 2, 3, 4, 5);
    CHECK(CALL(int, cudnnGetTensor4dDescriptor, (P, int *, int *, int *, int *, int *, int *, int *, int *, int *),
               (t, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, v + 8)) == 0);
    CHECK(v[0] == 2 && v[1] == 2 && v[2] == 3 && v[3] == 4 && v[4] == 5);
    CHECK(v[5] == 60 && v[6] == 20 && v[7] == 5 && v[8] == 1);
    drop("TensorDescriptor", t);
}

SNIPPET(cudnnSetTensor4dDescriptorEx)
{
    size_t bytes = 0;
    P t = make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensor4dDescriptorEx, (P, int, int, int, int, int, int, int, int, int),
               (t, 0, 2, 3, 4, 5, 100, 20, 5, 1)) == 0);
    CHECK(CALL(int, cudnnGetTensorSizeInBytes, (P, size_t *), (t, &bytes)) == 0);
    CHECK(bytes == (100 + 40 + 15 + 4 + 1) * 4);
    drop("TensorDescriptor", t);
}

SNIPPET(cudnnSetTensorNdDescriptor)
{
    const int in[] = {2, 3, 4}, steps[] = {12, 4, 1};
    int size[8], stride[8];
    P t = make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensorNdDescriptor, (P, int, int, const int *, const int *), (t, 9, 3, in, steps)) == 0);
    CHECK(tensor_nd(t, size, stride) == 3 && size[2] == 4 && stride[0] == 12);
    CHECK(CALL(int, cudnnSetTensorNdDescriptor, (P, int, int, const int *, const int *), (t, 9, 9, in, steps)) != 0);
    drop("TensorDescriptor", t);
}

SNIPPET(cudnnSetTensorNdDescriptorEx)
{
    const int in[] = {2, 3, 4, 5, 6};
    int size[8], stride[8];
    P t = make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensorNdDescriptorEx, (P, int, int, int, const int *), (t, 0, 0, 5, in)) == 0);
    CHECK(tensor_nd(t, size, stride) == 5 && stride[0] == 360 && stride[1] == 120 && stride[4] == 1);
    drop("TensorDescriptor", t);
}

SNIPPET(cudnnGetTensorNdDescriptor)
{
    int size[8] = {0}, stride[8] = {0}, type = -1, dims = -1;
    P t = tensor(0, 2, 3, 4, 5);
    CHECK(CALL(int, cudnnGetTensorNdDescriptor, (P, int, int *, int *, int *, int *),
               (t, 2, &type, &dims, size, stride)) == 0);
    CHECK(type == 0 && dims == 4 && size[1] == 3 && size[2] == 0);
    drop("TensorDescriptor", t);
}

SNIPPET(cudnnGetTensorSizeInBytes)
{
    size_t bytes = 0;
    P t = tensor(9, 2, 3, 4, 5);
    CHECK(CALL(int, cudnnGetTensorSizeInBytes, (P, size_t *), (t, &bytes)) == 0 && bytes == 240);
    drop("TensorDescriptor", t);
}

static P transform(int direction)
{
    const int before[4] = {0, 0, 1, 0}, after[4] = {0, 0, 1, 0};
    const unsigned fold[2] = {2, 2};
    P t = make("TensorTransformDescriptor");
    CHECK(CALL(int, cudnnSetTensorTransformDescriptor,
               (P, uint32_t, int, const int *, const int *, const unsigned *, int),
               (t, 4, 0, before, after, fold, direction)) == 0);
    return t;
}

SNIPPET(cudnnSetTensorTransformDescriptor)
{
    drop("TensorTransformDescriptor", transform(0));
}

SNIPPET(cudnnGetTensorTransformDescriptor)
{
    int before[4] = {0}, after[4] = {0}, format = -1, direction = -1;
    unsigned fold[2] = {0};
    P t = transform(1);
    CHECK(CALL(int, cudnnGetTensorTransformDescriptor, (P, uint32_t, int *, int *, int *, unsigned *, int *),
               (t, 4, &format, before, after, fold, &direction)) == 0);
    CHECK(before[2] == 1 && after[2] == 1 && fold[1] == 2 && direction == 1 && format == 0);
    drop("TensorTransformDescriptor", t);
}

SNIPPET(cudnnInitTransformDest)
{
    int size[8], stride[8];
    size_t bytes = 0;
    P t = transform(0), in = tensor(0, 1, 3, 6, 8), out = make("TensorDescriptor");
    CHECK(CALL(int, cudnnInitTransformDest, (P, P, P, size_t *), (t, in, out, &bytes)) == 0);
    CHECK(tensor_nd(out, size, stride) == 4 && size[1] == 12 && size[2] == 4 && size[3] == 4);
    CHECK(bytes == 12 * 16 * 4);
    drop("TensorDescriptor", in);
    drop("TensorDescriptor", out);
    drop("TensorTransformDescriptor", t);
}

static void check_op_tensor(void)
{
    int op = -1, compute = -1, nan = -1;
    P d = make("OpTensorDescriptor");
    CHECK(CALL(int, cudnnSetOpTensorDescriptor, (P, int, int, int), (d, 1, 0, 1)) == 0);
    CHECK(CALL(int, cudnnGetOpTensorDescriptor, (P, int *, int *, int *), (d, &op, &compute, &nan)) == 0);
    CHECK(op == 1 && compute == 0 && nan == 1);
    drop("OpTensorDescriptor", d);
}

SNIPPET(cudnnSetOpTensorDescriptor)
{
    check_op_tensor();
}
SNIPPET(cudnnGetOpTensorDescriptor)
{
    check_op_tensor();
}

static P reduction(int indices)
{
    P d = make("ReduceTensorDescriptor");
    CHECK(CALL(int, cudnnSetReduceTensorDescriptor, (P, int, int, int, int, int), (d, 3, 0, 1, indices, 1)) == 0);
    return d;
}

SNIPPET(cudnnSetReduceTensorDescriptor)
{
    drop("ReduceTensorDescriptor", reduction(0));
}

SNIPPET(cudnnGetReduceTensorDescriptor)
{
    int v[5] = {0};
    P d = reduction(1);
    CHECK(CALL(int, cudnnGetReduceTensorDescriptor, (P, int *, int *, int *, int *, int *),
               (d, v, v + 1, v + 2, v + 3, v + 4)) == 0);
    CHECK(v[0] == 3 && v[1] == 0 && v[2] == 1 && v[3] == 1 && v[4] == 1);
    drop("ReduceTensorDescriptor", d);
}

static size_t reduction_size(const char *symbol, int indices)
{
    size_t bytes = (size_t)-1;
    P d = reduction(indices), a = tensor(0, 64, 32, 16, 16), c = tensor(0, 1, 32, 1, 1);
    CHECK(((int (*)(P, P, P, P, size_t *))snippet_symbol(symbol))(NULL, d, a, c, &bytes) == 0);
    drop("ReduceTensorDescriptor", d);
    drop("TensorDescriptor", a);
    drop("TensorDescriptor", c);
    return bytes;
}

SNIPPET(cudnnGetReductionIndicesSize)
{
    CHECK(reduction_size("cudnnGetReductionIndicesSize", 1) == 32 * 8);
    CHECK(reduction_size("cudnnGetReductionIndicesSize", 0) == 0);
}

SNIPPET(cudnnGetReductionWorkspaceSize)
{
    size_t bytes = reduction_size("cudnnGetReductionWorkspaceSize", 0);
    CHECK(bytes >= 128 && bytes <= 64 * 32 * 256 * 4 && bytes % 128 == 0);
}

/* ---- filters, pooling, activations ---- */

SNIPPET(cudnnSetFilter4dDescriptor)
{
    drop("FilterDescriptor", filter(8, 3, 3, 3));
}

SNIPPET(cudnnGetFilter4dDescriptor)
{
    int v[6] = {0};
    P f = filter(8, 4, 3, 2);
    CHECK(CALL(int, cudnnGetFilter4dDescriptor, (P, int *, int *, int *, int *, int *, int *),
               (f, v, v + 1, v + 2, v + 3, v + 4, v + 5)) == 0);
    CHECK(v[0] == 0 && v[1] == 0 && v[2] == 8 && v[3] == 4 && v[4] == 3 && v[5] == 2);
    drop("FilterDescriptor", f);
}

static void check_filter_nd(void)
{
    const int in[] = {8, 4, 3, 3, 3};
    int size[8] = {0}, type = -1, format = -1, dims = -1;
    P f = make("FilterDescriptor");
    CHECK(CALL(int, cudnnSetFilterNdDescriptor, (P, int, int, int, const int *), (f, 2, 1, 5, in)) == 0);
    CHECK(CALL(int, cudnnGetFilterNdDescriptor, (P, int, int *, int *, int *, int *),
               (f, 8, &type, &format, &dims, size)) == 0);
    CHECK(type == 2 && format == 1 && dims == 5 && size[0] == 8 && size[4] == 3);
    drop("FilterDescriptor", f);
}

SNIPPET(cudnnSetFilterNdDescriptor)
{
    check_filter_nd();
}
SNIPPET(cudnnGetFilterNdDescriptor)
{
    check_filter_nd();
}

SNIPPET(cudnnGetFilterSizeInBytes)
{
    size_t bytes = 0;
    P f = filter(8, 4, 3, 2);
    CHECK(CALL(int, cudnnGetFilterSizeInBytes, (P, size_t *), (f, &bytes)) == 0 && bytes == 8 * 4 * 3 * 2 * 4);
    drop("FilterDescriptor", f);
}

static P pooling(void)
{
    P d = make("PoolingDescriptor");
    CHECK(CALL(int, cudnnSetPooling2dDescriptor, (P, int, int, int, int, int, int, int, int),
               (d, 0, 1, 3, 2, 1, 0, 2, 1)) == 0);
    return d;
}

SNIPPET(cudnnSetPooling2dDescriptor)
{
    drop("PoolingDescriptor", pooling());
}

SNIPPET(cudnnGetPooling2dDescriptor)
{
    int v[8] = {0};
    P d = pooling();
    CHECK(CALL(int, cudnnGetPooling2dDescriptor, (P, int *, int *, int *, int *, int *, int *, int *, int *),
               (d, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7)) == 0);
    CHECK(v[0] == 0 && v[1] == 1 && v[2] == 3 && v[3] == 2 && v[4] == 1 && v[5] == 0 && v[6] == 2 && v[7] == 1);
    drop("PoolingDescriptor", d);
}

static void check_pooling_nd(void)
{
    const int window[] = {2, 3, 4}, pad[] = {0, 1, 1}, stride[] = {2, 3, 4};
    int v[3] = {0}, w[3] = {0}, p[3] = {0}, s[3] = {0};
    P d = make("PoolingDescriptor");
    CHECK(CALL(int, cudnnSetPoolingNdDescriptor, (P, int, int, int, const int *, const int *, const int *),
               (d, 1, 0, 3, window, pad, stride)) == 0);
    CHECK(CALL(int, cudnnGetPoolingNdDescriptor, (P, int, int *, int *, int *, int *, int *, int *),
               (d, 3, v, v + 1, v + 2, w, p, s)) == 0);
    CHECK(v[0] == 1 && v[2] == 3 && w[2] == 4 && p[1] == 1 && s[0] == 2);
    drop("PoolingDescriptor", d);
}

SNIPPET(cudnnSetPoolingNdDescriptor)
{
    check_pooling_nd();
}
SNIPPET(cudnnGetPoolingNdDescriptor)
{
    check_pooling_nd();
}

SNIPPET(cudnnGetPooling2dForwardOutputDim)
{
    int v[4] = {0};
    P d = pooling(), t = tensor(0, 2, 5, 112, 112);
    CHECK(CALL(int, cudnnGetPooling2dForwardOutputDim, (P, P, int *, int *, int *, int *),
               (d, t, v, v + 1, v + 2, v + 3)) == 0);
    CHECK(v[0] == 2 && v[1] == 5 && v[2] == 56 && v[3] == 111);
    drop("PoolingDescriptor", d);
    drop("TensorDescriptor", t);
}

SNIPPET(cudnnGetPoolingNdForwardOutputDim)
{
    int v[4] = {0};
    P d = pooling(), t = tensor(0, 2, 5, 112, 112);
    CHECK(CALL(int, cudnnGetPoolingNdForwardOutputDim, (P, P, int, int *), (d, t, 4, v)) == 0);
    CHECK(v[0] == 2 && v[2] == 56 && v[3] == 111);
    drop("PoolingDescriptor", d);
    drop("TensorDescriptor", t);
}

static void check_activation(void)
{
    int mode = -1, nan = -1;
    double coefficient = 0, beta = 0;
    P d = make("ActivationDescriptor");
    CHECK(CALL(int, cudnnSetActivationDescriptor, (P, int, int, double), (d, 3, 1, 6.0)) == 0);
    CHECK(CALL(int, cudnnSetActivationDescriptorSwishBeta, (P, double), (d, 1.5)) == 0);
    CHECK(CALL(int, cudnnGetActivationDescriptor, (P, int *, int *, double *), (d, &mode, &nan, &coefficient)) == 0);
    CHECK(CALL(int, cudnnGetActivationDescriptorSwishBeta, (P, double *), (d, &beta)) == 0);
    CHECK(mode == 3 && nan == 1 && coefficient == 6.0 && beta == 1.5);
    drop("ActivationDescriptor", d);
}

SNIPPET(cudnnSetActivationDescriptor)
{
    check_activation();
}
SNIPPET(cudnnGetActivationDescriptor)
{
    check_activation();
}
SNIPPET(cudnnSetActivationDescriptorSwishBeta)
{
    check_activation();
}
SNIPPET(cudnnGetActivationDescriptorSwishBeta)
{
    check_activation();
}

static void check_lrn(void)
{
    unsigned n = 0;
    double v[3] = {0};
    P d = make("LRNDescriptor");
    CHECK(CALL(int, cudnnSetLRNDescriptor, (P, unsigned, double, double, double), (d, 7, 0.1, 0.2, 0.3)) == 0);
    CHECK(CALL(int, cudnnGetLRNDescriptor, (P, unsigned *, double *, double *, double *), (d, &n, v, v + 1, v + 2)) ==
          0);
    CHECK(n == 7 && v[0] == 0.1 && v[1] == 0.2 && v[2] == 0.3);
    drop("LRNDescriptor", d);
}

SNIPPET(cudnnSetLRNDescriptor)
{
    check_lrn();
}
SNIPPET(cudnnGetLRNDescriptor)
{
    check_lrn();
}

/* ---- normalization, dropout ---- */

SNIPPET(cudnnDeriveBNTensorDescriptor)
{
    int size[8], stride[8];
    P x = tensor(2, 8, 16, 7, 7), out = make("TensorDescriptor");
    CHECK(CALL(int, cudnnDeriveBNTensorDescriptor, (P, P, int), (out, x, 1)) == 0);
    CHECK(tensor_nd(out, size, stride) == 4 && size[0] == 1 && size[1] == 16 && size[2] == 1 && size[3] == 1);
    CHECK(CALL(int, cudnnDeriveBNTensorDescriptor, (P, P, int), (out, x, 0)) == 0);
    CHECK(tensor_nd(out, size, stride) == 4 && size[1] == 16 && size[2] == 7);
    drop("TensorDescriptor", x);
    drop("TensorDescriptor", out);
}

SNIPPET(cudnnDeriveNormTensorDescriptor)
{
    int size[8], stride[8];
    P x = tensor(0, 8, 16, 7, 7), scale = make("TensorDescriptor"), mean = make("TensorDescriptor");
    CHECK(CALL(int, cudnnDeriveNormTensorDescriptor, (P, P, P, int, int), (scale, mean, x, 1, 1)) == 0);
    CHECK(tensor_nd(scale, size, stride) == 4 && size[1] == 16 && size[3] == 1);
    CHECK(tensor_nd(mean, size, stride) == 4 && size[1] == 16 && size[3] == 1);
    drop("TensorDescriptor", x);
    drop("TensorDescriptor", scale);
    drop("TensorDescriptor", mean);
}

SNIPPET(cudnnGetBatchNormalizationTrainingExReserveSpaceSize)
{
    size_t bytes = 1;
    P x = tensor(0, 1, 3, 3, 3);
    CHECK(CALL(int, cudnnGetBatchNormalizationTrainingExReserveSpaceSize, (P, int, int, P, P, size_t *),
               (NULL, 1, 0, NULL, x, &bytes)) == 0 &&
          bytes == 0);
    CHECK(CALL(int, cudnnGetBatchNormalizationTrainingExReserveSpaceSize, (P, int, int, P, P, size_t *),
               (NULL, 1, 1, NULL, x, &bytes)) == 0 &&
          bytes == 4);
    drop("TensorDescriptor", x);
}

SNIPPET(cudnnGetNormalizationTrainingReserveSpaceSize)
{
    size_t bytes = 1;
    P x = tensor(0, 1, 3, 3, 3);
    CHECK(CALL(int, cudnnGetNormalizationTrainingReserveSpaceSize, (P, int, int, int, P, P, size_t *, int),
               (NULL, 1, 2, 0, NULL, x, &bytes, 1)) == 0 &&
          bytes == 4);
    drop("TensorDescriptor", x);
}

SNIPPET(cudnnDropoutGetStatesSize)
{
    size_t bytes = 0;
    CHECK(CALL(int, cudnnDropoutGetStatesSize, (P, size_t *), (NULL, &bytes)) == 0);
    CHECK(bytes >= 24 * 1024 && bytes < (64u << 20));
}

SNIPPET(cudnnDropoutGetReserveSpaceSize)
{
    size_t bytes = 0;
    P x = tensor(0, 1, 3, 3, 3);
    CHECK(CALL(int, cudnnDropoutGetReserveSpaceSize, (P, size_t *), (x, &bytes)) == 0 && bytes == 4);
    drop("TensorDescriptor", x);
}

static void check_dropout(const char *setter)
{
    float rate = 0;
    P states = NULL, d = make("DropoutDescriptor");
    unsigned long long seed = 0;
    CHECK(((int (*)(P, P, float, P, size_t, unsigned long long))snippet_symbol(setter))(d, NULL, 0.5f, (P)64, 4096,
                                                                                        42) == 0);
    CHECK(CALL(int, cudnnGetDropoutDescriptor, (P, P, float *, P *, unsigned long long *),
               (d, NULL, &rate, &states, &seed)) == 0);
    CHECK(rate == 0.5f && states == (P)64 && seed == 42);
    drop("DropoutDescriptor", d);
}

SNIPPET(cudnnSetDropoutDescriptor)
{
    check_dropout("cudnnSetDropoutDescriptor");
}
SNIPPET(cudnnRestoreDropoutDescriptor)
{
    check_dropout("cudnnRestoreDropoutDescriptor");
}
SNIPPET(cudnnGetDropoutDescriptor)
{
    check_dropout("cudnnSetDropoutDescriptor");
}

/* ---- convolution, older API ---- */

SNIPPET(cudnnSetConvolution2dDescriptor)
{
    drop("ConvolutionDescriptor", convolution(1, 2));
}

SNIPPET(cudnnGetConvolution2dDescriptor)
{
    int v[8] = {0};
    P d = convolution(3, 2);
    CHECK(CALL(int, cudnnGetConvolution2dDescriptor, (P, int *, int *, int *, int *, int *, int *, int *, int *),
               (d, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7)) == 0);
    CHECK(v[0] == 3 && v[1] == 3 && v[2] == 2 && v[4] == 1 && v[6] == 1 && v[7] == 0);
    drop("ConvolutionDescriptor", d);
}

static void check_convolution_nd(void)
{
    const int pad[] = {0, 1, 2}, stride[] = {1, 2, 3}, dilation[] = {1, 1, 2};
    int dims = 0, p[3] = {0}, s[3] = {0}, l[3] = {0}, mode = -1, compute = -1;
    P d = make("ConvolutionDescriptor");
    CHECK(CALL(int, cudnnSetConvolutionNdDescriptor, (P, int, const int *, const int *, const int *, int, int),
               (d, 3, pad, stride, dilation, 1, 0)) == 0);
    CHECK(CALL(int, cudnnGetConvolutionNdDescriptor, (P, int, int *, int *, int *, int *, int *, int *),
               (d, 3, &dims, p, s, l, &mode, &compute)) == 0);
    CHECK(dims == 3 && p[2] == 2 && s[1] == 2 && l[2] == 2 && mode == 1 && compute == 0);
    drop("ConvolutionDescriptor", d);
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
    P d = convolution(1, 1);
    CHECK(((int (*)(P, int))snippet_symbol(setter))(d, value) == 0);
    CHECK(((int (*)(P, int *))snippet_symbol(getter))(d, &out) == 0 && out == value);
    drop("ConvolutionDescriptor", d);
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
    return (struct stem){tensor(0, 8, 3, 224, 224), filter(64, 3, 7, 7), convolution(3, 2), tensor(0, 8, 64, 112, 112)};
}

static void stem_drop(struct stem s)
{
    drop("TensorDescriptor", s.x);
    drop("FilterDescriptor", s.w);
    drop("ConvolutionDescriptor", s.conv);
    drop("TensorDescriptor", s.y);
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
    P fw = make("FilterDescriptor"), pd = make("TensorDescriptor"), fc = make("ConvolutionDescriptor"),
      fg = make("TensorDescriptor"), t[4];
    int size[8], stride[8], v[4] = {0};
    for (int i = 0; i < 4; i++)
        t[i] = make("TensorTransformDescriptor");
    CHECK(CALL(int, cudnnGetFoldedConvBackwardDataDescriptors, (P, P, P, P, P, int, P, P, P, P, P, P, P, P),
               (NULL, s.w, s.y, s.conv, s.x, 0, fw, pd, fc, fg, t[0], t[1], t[2], t[3])) == 0);
    CHECK(tensor_nd(fg, size, stride) == 4 && size[1] == 12 && size[2] == 115);
    /* A convolution of the folded gradient with the folded filter has the shape of the output. */
    CHECK(CALL(int, cudnnGetConvolutionNdForwardOutputDim, (P, P, P, int, int *), (fc, fg, fw, 4, v)) == 0);
    CHECK(v[1] == 64 && v[2] == 112 && v[3] == 112);
    for (int i = 0; i < 4; i++)
        drop("TensorTransformDescriptor", t[i]);
    drop("FilterDescriptor", fw);
    drop("TensorDescriptor", pd);
    drop("ConvolutionDescriptor", fc);
    drop("TensorDescriptor", fg);
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

/* ---- recurrent networks ---- */

enum { RELU, TANH, LSTM, GRU };

static P rnn(int cell, int bias, int directions, int input, int hidden, int projection, int layers)
{
    P d = make("RNNDescriptor");
    CHECK(CALL(int, cudnnSetRNNDescriptor_v8,
               (P, int, int, int, int, int, int, int, int, int, int, int, int, P, unsigned),
               (d, 0, cell, bias, directions - 1, 0, 0, 0, 0, input, hidden, projection, layers, NULL, 1)) == 0);
    return d;
}

static size_t weight_bytes(P d)
{
    size_t bytes = 0;
    CHECK(CALL(int, cudnnGetRNNWeightSpaceSize, (P, P, size_t *), (NULL, d, &bytes)) == 0);
    return bytes;
}

static P rnn_data(int steps, int batch, int vector)
{
    int *lengths = malloc((size_t)batch * sizeof *lengths);
    P d = make("RNNDataDescriptor");
    float fill = 2;
    for (int i = 0; lengths && i < batch; i++)
        lengths[i] = steps - i % 2;
    CHECK(CALL(int, cudnnSetRNNDataDescriptor, (P, int, int, int, int, int, const int *, P),
               (d, 0, 0, steps, batch, vector, lengths, &fill)) == 0);
    free(lengths);
    return d;
}

SNIPPET(cudnnSetRNNDescriptor_v8)
{
    P d = rnn(LSTM, 2, 2, 10, 20, 20, 2);
    CHECK(CALL(int, cudnnSetRNNDescriptor_v8,
               (P, int, int, int, int, int, int, int, int, int, int, int, int, P, unsigned),
               (d, 0, 9, 2, 0, 0, 0, 0, 0, 1, 1, 1, 1, NULL, 0)) != 0);
    drop("RNNDescriptor", d);
}

SNIPPET(cudnnGetRNNDescriptor_v8)
{
    int v[12] = {0};
    unsigned flags = 0;
    P dropout = (P)1, d = rnn(LSTM, 2, 2, 10, 20, 16, 3);
    CHECK(CALL(int, cudnnGetRNNDescriptor_v8,
               (P, int *, int *, int *, int *, int *, int *, int *, int *, int *, int *, int *, int *, P *, unsigned *),
               (d, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, v + 8, v + 9, v + 10, v + 11, &dropout,
                &flags)) == 0);
    CHECK(v[1] == LSTM && v[2] == 2 && v[3] == 1 && v[8] == 10 && v[9] == 20 && v[10] == 16 && v[11] == 3);
    CHECK(!dropout && flags == 1);
    drop("RNNDescriptor", d);
}

static void check_clip(void)
{
    int mode = -1, nan = -1;
    double low = 0, high = 0;
    P d = make("RNNDescriptor");
    CHECK(CALL(int, cudnnRNNSetClip_v8, (P, int, int, double, double), (d, 1, 1, -2.0, 3.0)) == 0);
    CHECK(CALL(int, cudnnRNNGetClip_v8, (P, int *, int *, double *, double *), (d, &mode, &nan, &low, &high)) == 0);
    CHECK(mode == 1 && nan == 1 && low == -2.0 && high == 3.0);
    CHECK(CALL(int, cudnnRNNSetClip_v9, (P, int, double, double), (d, 0, -4.0, 5.0)) == 0);
    CHECK(CALL(int, cudnnRNNGetClip_v9, (P, int *, double *, double *), (d, &mode, &low, &high)) == 0);
    CHECK(mode == 0 && low == -4.0 && high == 5.0);
    drop("RNNDescriptor", d);
}

SNIPPET(cudnnRNNSetClip_v8)
{
    check_clip();
}
SNIPPET(cudnnRNNSetClip_v9)
{
    check_clip();
}
SNIPPET(cudnnRNNGetClip_v8)
{
    check_clip();
}
SNIPPET(cudnnRNNGetClip_v9)
{
    check_clip();
}

SNIPPET(cudnnSetRNNDataDescriptor)
{
    drop("RNNDataDescriptor", rnn_data(7, 4, 3));
}

SNIPPET(cudnnGetRNNDataDescriptor)
{
    int v[5] = {0}, lengths[4] = {0};
    float fill = 0;
    P d = rnn_data(7, 4, 3);
    CHECK(CALL(int, cudnnGetRNNDataDescriptor, (P, int *, int *, int *, int *, int *, int, int *, P),
               (d, v, v + 1, v + 2, v + 3, v + 4, 4, lengths, &fill)) == 0);
    CHECK(v[2] == 7 && v[3] == 4 && v[4] == 3 && lengths[0] == 7 && lengths[3] == 6 && fill == 2);
    drop("RNNDataDescriptor", d);
}

SNIPPET(cudnnGetRNNWeightSpaceSize)
{
    static const struct {
        int cell, bias, directions, projection;
        size_t elements;
    } cases[] = {
        {RELU, 2, 1, 20, 20 * 10 + 20 * 20 + 2 * 20 + 2 * 20 * 20 + 2 * 20},
        {LSTM, 2, 1, 20, 4 * (20 * 10 + 20 * 20 + 40) + 4 * (20 * 20 + 20 * 20 + 40)},
        {GRU, 2, 2, 20, 2 * 3 * (20 * 10 + 20 * 20 + 40) + 2 * 3 * (20 * 40 + 20 * 20 + 40)},
        {GRU, 0, 1, 20, 3 * (20 * 10 + 20 * 20) + 3 * (20 * 20 + 20 * 20)},
        {TANH, 1, 1, 20, 20 * 10 + 20 * 20 + 20 + 2 * 20 * 20 + 20},
        {LSTM, 2, 1, 8, 4 * (20 * 10 + 20 * 8 + 40) + 8 * 20 + 4 * (20 * 8 + 20 * 8 + 40) + 8 * 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        P d = rnn(cases[i].cell, cases[i].bias, cases[i].directions, 10, 20, cases[i].projection, 2);
        CHECK(weight_bytes(d) == 4 * cases[i].elements);
        drop("RNNDescriptor", d);
    }
}

/* Walks all blocks: each must begin where the one before it ends, and the last end the buffer. */
static void check_layout(int cell, int bias, int directions, int projection)
{
    static const int gates[] = {1, 1, 4, 3};
    P d = rnn(cell, bias, directions, 10, 20, projection, 3), m = make("TensorDescriptor"),
      b = make("TensorDescriptor");
    uintptr_t base = 0x10000000, next = base;
    for (int biases = 0; biases < 2; biases++)
        for (int layer = 0; layer < 3 * directions; layer++)
            for (int id = 0; id < 2 * gates[cell] + (cell == LSTM); id++) {
                int size[8], stride[8], dims;
                P m_at = (P)1, b_at = (P)1;
                CHECK(CALL(int, cudnnGetRNNWeightParams, (P, P, int, size_t, P, int, P, P *, P, P *),
                           (NULL, d, layer, weight_bytes(d), (P)base, id, m, &m_at, b, &b_at)) == 0);
                dims = tensor_nd(biases ? b : m, size, stride);
                CHECK((dims == 0) == ((biases ? b_at : m_at) == NULL));
                if (!dims)
                    continue;
                CHECK(dims == 3 && size[0] == 1 && (!biases || size[2] == 1));
                CHECK((uintptr_t)(biases ? b_at : m_at) == next);
                next += 4 * (uintptr_t)size[1] * (uintptr_t)size[2];
            }
    CHECK(next == base + weight_bytes(d));
    drop("TensorDescriptor", m);
    drop("TensorDescriptor", b);
    drop("RNNDescriptor", d);
}

SNIPPET(cudnnGetRNNWeightParams)
{
    for (int cell = RELU; cell <= GRU; cell++)
        for (int bias = 0; bias < 4; bias++)
            for (int directions = 1; directions <= 2; directions++)
                check_layout(cell, bias, directions, 20);
    check_layout(LSTM, 2, 2, 8);
}

/* The published sizes for four layers of 320 units, batch 100, 250 steps. */
SNIPPET(cudnnGetRNNTempSpaceSizes)
{
    static const struct {
        int cell;
        size_t work, reserve;
    } known[] = {{LSTM, 17730560, 736000000}, {GRU, 13169920, 864000000}};
    for (int i = 0; i < 2; i++) {
        P d = rnn(known[i].cell, 2, 1, 123, 320, 320, 4), x = rnn_data(250, 100, 123);
        size_t work = 0, reserve = 0;
        CHECK(CALL(int, cudnnGetRNNTempSpaceSizes, (P, P, int, P, size_t *, size_t *),
                   (NULL, d, 1, x, &work, &reserve)) == 0);
        CHECK(work == known[i].work && reserve == known[i].reserve);
        CHECK(CALL(int, cudnnGetRNNTempSpaceSizes, (P, P, int, P, size_t *, size_t *),
                   (NULL, d, 0, x, &work, &reserve)) == 0 &&
              reserve == 0);
        CHECK(CALL(int, cudnnGetRNNTempSpaceSizes, (P, P, int, P, size_t *, size_t *), (NULL, d, 0, x, &work, NULL)) ==
              0);
        drop("RNNDescriptor", d);
        drop("RNNDataDescriptor", x);
    }
}

/* ---- attention of the older API, CTC ---- */

static void check_seq_data(void)
{
    const int size[] = {5, 2, 1, 16}, axes[] = {1, 0, 2, 3}, lengths[] = {5, 4};
    int type = -1, dims = -1, s[4] = {0}, a[4] = {0}, l[2] = {0};
    size_t count = 0;
    P d = make("SeqDataDescriptor");
    CHECK(CALL(int, cudnnSetSeqDataDescriptor, (P, int, int, const int *, const int *, size_t, const int *, P),
               (d, 0, 4, size, axes, 2, lengths, NULL)) == 0);
    CHECK(CALL(int, cudnnGetSeqDataDescriptor, (P, int *, int *, int, int *, int *, size_t *, size_t, int *, P),
               (d, &type, &dims, 4, s, a, &count, 2, l, NULL)) == 0);
    CHECK(type == 0 && dims == 4 && s[3] == 16 && a[0] == 1 && count == 2 && l[1] == 4);
    drop("SeqDataDescriptor", d);
}

SNIPPET(cudnnSetSeqDataDescriptor)
{
    check_seq_data();
}
SNIPPET(cudnnGetSeqDataDescriptor)
{
    check_seq_data();
}

static P attention(void)
{
    P d = make("AttnDescriptor");
    CHECK(CALL(int, cudnnSetAttnDescriptor,
               (P, unsigned, int, double, int, int, int, P, P, int, int, int, int, int, int, int, int, int, int, int),
               (d, 2, 4, 0.125, 0, 0, 0, NULL, NULL, 64, 64, 64, 16, 16, 16, 64, 10, 12, 2, 1)) == 0);
    return d;
}

SNIPPET(cudnnSetAttnDescriptor)
{
    drop("AttnDescriptor", attention());
}

SNIPPET(cudnnGetAttnDescriptor)
{
    int v[16] = {0};
    unsigned mode = 0;
    double scale = 0;
    P d = attention(), a = (P)1, b = (P)1;
    CHECK(CALL(int, cudnnGetAttnDescriptor,
               (P, unsigned *, int *, double *, int *, int *, int *, P *, P *, int *, int *, int *, int *, int *, int *,
                int *, int *, int *, int *, int *),
               (d, &mode, v, &scale, v + 1, v + 2, v + 3, &a, &b, v + 4, v + 5, v + 6, v + 7, v + 8, v + 9, v + 10,
                v + 11, v + 12, v + 13, v + 14)) == 0);
    CHECK(mode == 2 && v[0] == 4 && scale == 0.125 && !a && !b && v[4] == 64 && v[7] == 16 && v[10] == 64);
    CHECK(v[11] == 10 && v[12] == 12 && v[13] == 2 && v[14] == 1);
    drop("AttnDescriptor", d);
}

SNIPPET(cudnnGetMultiHeadAttnBuffers)
{
    size_t weights = 0, work = 0, reserve = 0;
    P d = attention();
    CHECK(CALL(int, cudnnGetMultiHeadAttnBuffers, (P, P, size_t *, size_t *, size_t *),
               (NULL, d, &weights, &work, &reserve)) == 0);
    CHECK(weights == 4 * 4 * (3 * (16 * 64 + 16) + 64 * 16 + 64));
    CHECK(work == 4 * 2 * 4 * 10 * (12 + 16) && reserve == work + 4 * 2 * 4 * (10 * 16 + 12 * 32));
    drop("AttnDescriptor", d);
}

SNIPPET(cudnnGetMultiHeadAttnWeights)
{
    int size[8], stride[8];
    P d = attention(), t = make("TensorDescriptor"), at = NULL;
    CHECK(CALL(int, cudnnGetMultiHeadAttnWeights, (P, P, int, size_t, P, P, P *), (NULL, d, 3, 0, (P)4096, t, &at)) ==
          0);
    CHECK(tensor_nd(t, size, stride) == 3 && size[0] == 4 && size[1] == 64 && size[2] == 16);
    CHECK(at == (P)(uintptr_t)(4096 + 4 * 4 * 3 * 16 * 64));
    drop("TensorDescriptor", t);
    drop("AttnDescriptor", d);
}

static void check_ctc(void)
{
    int v[4] = {0};
    P d = make("CTCLossDescriptor");
    CHECK(CALL(int, cudnnSetCTCLossDescriptor, (P, int), (d, 2)) == 0);
    CHECK(CALL(int, cudnnGetCTCLossDescriptor, (P, int *), (d, v)) == 0 && v[0] == 2);
    CHECK(CALL(int, cudnnSetCTCLossDescriptorEx, (P, int, int, int), (d, 0, 1, 1)) == 0);
    CHECK(CALL(int, cudnnGetCTCLossDescriptorEx, (P, int *, int *, int *), (d, v, v + 1, v + 2)) == 0);
    CHECK(v[0] == 0 && v[1] == 1 && v[2] == 1);
    CHECK(CALL(int, cudnnSetCTCLossDescriptor_v8, (P, int, int, int, int), (d, 0, 0, 1, 30)) == 0);
    CHECK(CALL(int, cudnnGetCTCLossDescriptor_v8, (P, int *, int *, int *, int *), (d, v, v + 1, v + 2, v + 3)) == 0);
    CHECK(v[1] == 0 && v[2] == 1 && v[3] == 30);
    CHECK(CALL(int, cudnnSetCTCLossDescriptor_v9, (P, int, int, int, int), (d, 0, 1, 0, 40)) == 0);
    CHECK(CALL(int, cudnnGetCTCLossDescriptor_v9, (P, int *, int *, int *, int *), (d, v, v + 1, v + 2, v + 3)) == 0);
    CHECK(v[1] == 1 && v[2] == 0 && v[3] == 40);
    drop("CTCLossDescriptor", d);
}

SNIPPET(cudnnSetCTCLossDescriptor)
{
    check_ctc();
}
SNIPPET(cudnnSetCTCLossDescriptorEx)
{
    check_ctc();
}
SNIPPET(cudnnSetCTCLossDescriptor_v8)
{
    check_ctc();
}
SNIPPET(cudnnSetCTCLossDescriptor_v9)
{
    check_ctc();
}
SNIPPET(cudnnGetCTCLossDescriptor)
{
    check_ctc();
}
SNIPPET(cudnnGetCTCLossDescriptorEx)
{
    check_ctc();
}
SNIPPET(cudnnGetCTCLossDescriptor_v8)
{
    check_ctc();
}
SNIPPET(cudnnGetCTCLossDescriptor_v9)
{
    check_ctc();
}

static P probabilities(void)
{
    const int size[] = {50, 2, 20}, stride[] = {40, 20, 1};
    P t = make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensorNdDescriptor, (P, int, int, const int *, const int *), (t, 0, 3, size, stride)) == 0);
    return t;
}

SNIPPET(cudnnGetCTCLossWorkspaceSize)
{
    const int lengths[] = {3, 7};
    size_t bytes = 0;
    P p = probabilities();
    CHECK(CALL(int, cudnnGetCTCLossWorkspaceSize, (P, P, P, const int *, const int *, const int *, int, P, size_t *),
               (NULL, p, p, NULL, lengths, NULL, 0, NULL, &bytes)) == 0);
    CHECK(bytes == 4 * 100 * (2 * 15 + 20));
    drop("TensorDescriptor", p);
}

SNIPPET(cudnnGetCTCLossWorkspaceSize_v8)
{
    size_t bytes = 0;
    P p = probabilities(), d = make("CTCLossDescriptor");
    CALL(int, cudnnSetCTCLossDescriptor_v9, (P, int, int, int, int), (d, 0, 1, 0, 7));
    CHECK(CALL(int, cudnnGetCTCLossWorkspaceSize_v8, (P, int, P, P, P, size_t *), (NULL, 0, d, p, p, &bytes)) == 0);
    CHECK(bytes == 4 * 100 * (2 * 15 + 20));
    drop("TensorDescriptor", p);
    drop("CTCLossDescriptor", d);
}

SNIPPET(cudnnCTCLoss)
{
    float costs[2] = {5, 5};
    P p = probabilities();
    CHECK(CALL(int, cudnnCTCLoss, (P, P, P, P, P, P, P, P, P, int, P, P, size_t),
               (NULL, p, NULL, NULL, NULL, NULL, costs, p, NULL, 0, NULL, NULL, 0)) == 0);
    CHECK(costs[0] == 0 && costs[1] == 0);
    drop("TensorDescriptor", p);
}

SNIPPET(cudnnCTCLoss_v8)
{
    float costs[2] = {5, 5};
    P p = probabilities();
    CHECK(CALL(int, cudnnCTCLoss_v8, (P, int, P, P, P, P, P, P, P, P, P, size_t, P),
               (NULL, 0, NULL, p, NULL, NULL, NULL, NULL, costs, p, NULL, 0, NULL)) == 0);
    CHECK(costs[0] == 0 && costs[1] == 0);
    drop("TensorDescriptor", p);
}

/* ---- the graph API ---- */

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

/* The first engine configuration that heuristics give for the graph. */
static P engine_config(void)
{
    P g = graph(), heuristic = backend(4), config = backend(3);
    int64_t count = -1;
    int mode = 0;
    CHECK(put(heuristic, 201, DESCRIPTOR, 1, &g) == 0 && put(heuristic, 200, 8, 1, &mode) == 0);
    CHECK(finish(heuristic) == 0);
    /* One in TF32, which says so, and one for programs that do not want that. */
    CHECK(get(heuristic, 202, DESCRIPTOR, 0, &count, NULL) == 0 && count == 2);
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
    CHECK(get(config, 303, INT64, 1, NULL, &bytes) == 0 && bytes == 0);
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
    CHECK(get(p, 402, INT64, 1, NULL, &bytes) == 0 && bytes == 0);
    CHECK(get(p, 405, CHAR, 0, &length, NULL) == 0 && length > 0 && length < 128);
    CHECK(get(p, 405, CHAR, length, &length, json) == 0 && json[0] == '{');
    /* A plan can be stored as text and read back. */
    CHECK(put(again, 405, CHAR, length, json) == 0 && finish(again) == 0);
    CHECK(get(again, 402, INT64, 1, NULL, &bytes) == 0 && bytes == 0);
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
    CHECK(bytes == 0);
    release(p);
}

SNIPPET(cudnnBackendExecute)
{
    P h = handle(), p = plan(), v = variant_pack();
    CHECK(CALL(int, cudnnBackendExecute, (P, P, P), (h, p, v)) == 0);
    CHECK(CALL(int, cudnnBackendExecute, (P, P, P), (h, NULL, v)) != 0);
    release(p);
    release(v);
    CALL(int, cudnnDestroy, (P), (h));
}

SNIPPET(cudnnBackendPopulateCudaGraph)
{
    P h = handle(), p = plan(), v = variant_pack();
    CHECK(CALL(int, cudnnBackendPopulateCudaGraph, (P, P, P, P), (h, p, v, NULL)) != 0);
    release(p);
    release(v);
    CALL(int, cudnnDestroy, (P), (h));
}
