/* cuDNN: filters, pooling, activations, normalization, dropout. */
#include "cudnn.h"

SNIPPET(cudnnSetFilter4dDescriptor)
{
    dnn_drop("FilterDescriptor", dnn_filter(8, 3, 3, 3));
}

SNIPPET(cudnnGetFilter4dDescriptor)
{
    int v[6] = {0};
    P f = dnn_filter(8, 4, 3, 2);
    CHECK(CALL(int, cudnnGetFilter4dDescriptor, (P, int *, int *, int *, int *, int *, int *),
               (f, v, v + 1, v + 2, v + 3, v + 4, v + 5)) == 0);
    CHECK(v[0] == 0 && v[1] == 0 && v[2] == 8 && v[3] == 4 && v[4] == 3 && v[5] == 2);
    dnn_drop("FilterDescriptor", f);
}

static void check_filter_nd(void)
{
    const int in[] = {8, 4, 3, 3, 3};
    int size[8] = {0}, type = -1, format = -1, dims = -1;
    P f = dnn_make("FilterDescriptor");
    CHECK(CALL(int, cudnnSetFilterNdDescriptor, (P, int, int, int, const int *), (f, 2, 1, 5, in)) == 0);
    CHECK(CALL(int, cudnnGetFilterNdDescriptor, (P, int, int *, int *, int *, int *),
               (f, 8, &type, &format, &dims, size)) == 0);
    CHECK(type == 2 && format == 1 && dims == 5 && size[0] == 8 && size[4] == 3);
    dnn_drop("FilterDescriptor", f);
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
    P f = dnn_filter(8, 4, 3, 2);
    CHECK(CALL(int, cudnnGetFilterSizeInBytes, (P, size_t *), (f, &bytes)) == 0 && bytes == 8 * 4 * 3 * 2 * 4);
    dnn_drop("FilterDescriptor", f);
    f = dnn_filter(1 << 16, 1 << 16, 1 << 16, 1 << 16); /* 2^64 elements */
    CHECK(CALL(int, cudnnGetFilterSizeInBytes, (P, size_t *), (f, &bytes)) == 0 && bytes > 1ull << 50);
    dnn_drop("FilterDescriptor", f);
}

static P pooling(void)
{
    P d = dnn_make("PoolingDescriptor");
    CHECK(CALL(int, cudnnSetPooling2dDescriptor, (P, int, int, int, int, int, int, int, int),
               (d, 0, 1, 3, 2, 1, 0, 2, 1)) == 0);
    return d;
}

SNIPPET(cudnnSetPooling2dDescriptor)
{
    dnn_drop("PoolingDescriptor", pooling());
}

SNIPPET(cudnnGetPooling2dDescriptor)
{
    int v[8] = {0};
    P d = pooling();
    CHECK(CALL(int, cudnnGetPooling2dDescriptor, (P, int *, int *, int *, int *, int *, int *, int *, int *),
               (d, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7)) == 0);
    CHECK(v[0] == 0 && v[1] == 1 && v[2] == 3 && v[3] == 2 && v[4] == 1 && v[5] == 0 && v[6] == 2 && v[7] == 1);
    dnn_drop("PoolingDescriptor", d);
}

static void check_pooling_nd(void)
{
    const int window[] = {2, 3, 4}, pad[] = {0, 1, 1}, stride[] = {2, 3, 4};
    int v[3] = {0}, w[3] = {0}, p[3] = {0}, s[3] = {0};
    P d = dnn_make("PoolingDescriptor");
    CHECK(CALL(int, cudnnSetPoolingNdDescriptor, (P, int, int, int, const int *, const int *, const int *),
               (d, 1, 0, 3, window, pad, stride)) == 0);
    CHECK(CALL(int, cudnnGetPoolingNdDescriptor, (P, int, int *, int *, int *, int *, int *, int *),
               (d, 3, v, v + 1, v + 2, w, p, s)) == 0);
    CHECK(v[0] == 1 && v[2] == 3 && w[2] == 4 && p[1] == 1 && s[0] == 2);
    dnn_drop("PoolingDescriptor", d);
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
    P d = pooling(), t = dnn_tensor(0, 2, 5, 112, 112);
    CHECK(CALL(int, cudnnGetPooling2dForwardOutputDim, (P, P, int *, int *, int *, int *),
               (d, t, v, v + 1, v + 2, v + 3)) == 0);
    CHECK(v[0] == 2 && v[1] == 5 && v[2] == 56 && v[3] == 111);
    dnn_drop("PoolingDescriptor", d);
    dnn_drop("TensorDescriptor", t);
}

SNIPPET(cudnnGetPoolingNdForwardOutputDim)
{
    int v[4] = {0};
    P d = pooling(), t = dnn_tensor(0, 2, 5, 112, 112);
    CHECK(CALL(int, cudnnGetPoolingNdForwardOutputDim, (P, P, int, int *), (d, t, 4, v)) == 0);
    CHECK(v[0] == 2 && v[2] == 56 && v[3] == 111);
    dnn_drop("PoolingDescriptor", d);
    dnn_drop("TensorDescriptor", t);
}

static void check_activation(void)
{
    int mode = -1, nan = -1;
    double coefficient = 0, beta = 0;
    P d = dnn_make("ActivationDescriptor");
    CHECK(CALL(int, cudnnSetActivationDescriptor, (P, int, int, double), (d, 3, 1, 6.0)) == 0);
    CHECK(CALL(int, cudnnSetActivationDescriptorSwishBeta, (P, double), (d, 1.5)) == 0);
    CHECK(CALL(int, cudnnGetActivationDescriptor, (P, int *, int *, double *), (d, &mode, &nan, &coefficient)) == 0);
    CHECK(CALL(int, cudnnGetActivationDescriptorSwishBeta, (P, double *), (d, &beta)) == 0);
    CHECK(mode == 3 && nan == 1 && coefficient == 6.0 && beta == 1.5);
    dnn_drop("ActivationDescriptor", d);
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
    P d = dnn_make("LRNDescriptor");
    CHECK(CALL(int, cudnnSetLRNDescriptor, (P, unsigned, double, double, double), (d, 7, 0.1, 0.2, 0.3)) == 0);
    CHECK(CALL(int, cudnnGetLRNDescriptor, (P, unsigned *, double *, double *, double *), (d, &n, v, v + 1, v + 2)) ==
          0);
    CHECK(n == 7 && v[0] == 0.1 && v[1] == 0.2 && v[2] == 0.3);
    dnn_drop("LRNDescriptor", d);
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
    P x = dnn_tensor(2, 8, 16, 7, 7), out = dnn_make("TensorDescriptor");
    CHECK(CALL(int, cudnnDeriveBNTensorDescriptor, (P, P, int), (out, x, 1)) == 0);
    CHECK(dnn_tensor_nd(out, size, stride) == 4 && size[0] == 1 && size[1] == 16 && size[2] == 1 && size[3] == 1);
    CHECK(CALL(int, cudnnDeriveBNTensorDescriptor, (P, P, int), (out, x, 0)) == 0);
    CHECK(dnn_tensor_nd(out, size, stride) == 4 && size[1] == 16 && size[2] == 7);
    dnn_drop("TensorDescriptor", x);
    dnn_drop("TensorDescriptor", out);
}

SNIPPET(cudnnDeriveNormTensorDescriptor)
{
    int size[8], stride[8];
    P x = dnn_tensor(0, 8, 16, 7, 7), scale = dnn_make("TensorDescriptor"), mean = dnn_make("TensorDescriptor");
    CHECK(CALL(int, cudnnDeriveNormTensorDescriptor, (P, P, P, int, int), (scale, mean, x, 1, 1)) == 0);
    CHECK(dnn_tensor_nd(scale, size, stride) == 4 && size[1] == 16 && size[3] == 1);
    CHECK(dnn_tensor_nd(mean, size, stride) == 4 && size[1] == 16 && size[3] == 1);
    dnn_drop("TensorDescriptor", x);
    dnn_drop("TensorDescriptor", scale);
    dnn_drop("TensorDescriptor", mean);
}

SNIPPET(cudnnGetBatchNormalizationTrainingExReserveSpaceSize)
{
    size_t bytes = 1;
    P x = dnn_tensor(0, 1, 3, 3, 3);
    CHECK(CALL(int, cudnnGetBatchNormalizationTrainingExReserveSpaceSize, (P, int, int, P, P, size_t *),
               (NULL, 1, 0, NULL, x, &bytes)) == 0 &&
          bytes == 0);
    CHECK(CALL(int, cudnnGetBatchNormalizationTrainingExReserveSpaceSize, (P, int, int, P, P, size_t *),
               (NULL, 1, 1, NULL, x, &bytes)) == 0 &&
          bytes == 4);
    dnn_drop("TensorDescriptor", x);
}

SNIPPET(cudnnGetNormalizationTrainingReserveSpaceSize)
{
    size_t bytes = 1;
    P x = dnn_tensor(0, 1, 3, 3, 3);
    CHECK(CALL(int, cudnnGetNormalizationTrainingReserveSpaceSize, (P, int, int, int, P, P, size_t *, int),
               (NULL, 1, 2, 0, NULL, x, &bytes, 1)) == 0 &&
          bytes == 4);
    dnn_drop("TensorDescriptor", x);
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
    P x = dnn_tensor(0, 1, 3, 3, 3);
    CHECK(CALL(int, cudnnDropoutGetReserveSpaceSize, (P, size_t *), (x, &bytes)) == 0 && bytes == 4);
    dnn_drop("TensorDescriptor", x);
}

static void check_dropout(const char *setter)
{
    float rate = 0;
    P states = NULL, d = dnn_make("DropoutDescriptor");
    unsigned long long seed = 0;
    CHECK(((int (*)(P, P, float, P, size_t, unsigned long long))snippet_symbol(setter))(d, NULL, 0.5f, (P)64, 4096,
                                                                                        42) == 0);
    CHECK(CALL(int, cudnnGetDropoutDescriptor, (P, P, float *, P *, unsigned long long *),
               (d, NULL, &rate, &states, &seed)) == 0);
    CHECK(rate == 0.5f && states == (P)64 && seed == 42);
    dnn_drop("DropoutDescriptor", d);
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
