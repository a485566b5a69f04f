/* cuDNN: descriptors of tensors, their transformation and reduction. */
#include "cudnn.h"

SNIPPET(cudnnSetTensor4dDescriptor)
{
    int size[8], stride[8];
    P t = dnn_make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensor4dDescriptor, (P, int, int, int, int, int, int), (t, 1, 2, 2, 3, 4, 5)) == 0);
    CHECK(dnn_tensor_nd(t, size, stride) == 4);
    CHECK(stride[0] == 60 && stride[1] == 1 && stride[2] == 15 && stride[3] == 3);
    dnn_drop("TensorDescriptor", t);
}

SNIPPET(cudnnGetTensor4dDescriptor)
{
    int v[9] = {0};
    P t = dnn_tensor(2, 2, 3, 4, 5);
    CHECK(CALL(int, cudnnGetTensor4dDescriptor, (P, int *, int *, int *, int *, int *, int *, int *, int *, int *),
               (t, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, v + 8)) == 0);
    CHECK(v[0] == 2 && v[1] == 2 && v[2] == 3 && v[3] == 4 && v[4] == 5);
    CHECK(v[5] == 60 && v[6] == 20 && v[7] == 5 && v[8] == 1);
    dnn_drop("TensorDescriptor", t);
}

SNIPPET(cudnnSetTensor4dDescriptorEx)
{
    size_t bytes = 0;
    P t = dnn_make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensor4dDescriptorEx, (P, int, int, int, int, int, int, int, int, int),
               (t, 0, 2, 3, 4, 5, 100, 20, 5, 1)) == 0);
    CHECK(CALL(int, cudnnGetTensorSizeInBytes, (P, size_t *), (t, &bytes)) == 0);
    CHECK(bytes == (100 + 40 + 15 + 4 + 1) * 4);
    dnn_drop("TensorDescriptor", t);
}

SNIPPET(cudnnSetTensorNdDescriptor)
{
    const int in[] = {2, 3, 4}, steps[] = {12, 4, 1};
    int size[8], stride[8];
    P t = dnn_make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensorNdDescriptor, (P, int, int, const int *, const int *), (t, 9, 3, in, steps)) == 0);
    CHECK(dnn_tensor_nd(t, size, stride) == 3 && size[2] == 4 && stride[0] == 12);
    CHECK(CALL(int, cudnnSetTensorNdDescriptor, (P, int, int, const int *, const int *), (t, 9, 9, in, steps)) != 0);
    dnn_drop("TensorDescriptor", t);
}

SNIPPET(cudnnSetTensorNdDescriptorEx)
{
    const int in[] = {2, 3, 4, 5, 6};
    int size[8], stride[8];
    P t = dnn_make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensorNdDescriptorEx, (P, int, int, int, const int *), (t, 0, 0, 5, in)) == 0);
    CHECK(dnn_tensor_nd(t, size, stride) == 5 && stride[0] == 360 && stride[1] == 120 && stride[4] == 1);
    dnn_drop("TensorDescriptor", t);
}

SNIPPET(cudnnGetTensorNdDescriptor)
{
    int size[8] = {0}, stride[8] = {0}, type = -1, dims = -1;
    P t = dnn_tensor(0, 2, 3, 4, 5);
    CHECK(CALL(int, cudnnGetTensorNdDescriptor, (P, int, int *, int *, int *, int *),
               (t, 2, &type, &dims, size, stride)) == 0);
    CHECK(type == 0 && dims == 4 && size[1] == 3 && size[2] == 0);
    dnn_drop("TensorDescriptor", t);
}

SNIPPET(cudnnGetTensorSizeInBytes)
{
    size_t bytes = 0;
    P t = dnn_tensor(9, 2, 3, 4, 5);
    CHECK(CALL(int, cudnnGetTensorSizeInBytes, (P, size_t *), (t, &bytes)) == 0 && bytes == 240);
    dnn_drop("TensorDescriptor", t);
    t = dnn_tensor(0, 1 << 16, 1 << 16, 1 << 16, 1 << 16); /* 2^64 elements */
    CHECK(CALL(int, cudnnGetTensorSizeInBytes, (P, size_t *), (t, &bytes)) == 0);
    dnn_drop("TensorDescriptor", t);
}

static P transform(int direction)
{
    const int before[4] = {0, 0, 1, 0}, after[4] = {0, 0, 1, 0};
    const unsigned fold[2] = {2, 2};
    P t = dnn_make("TensorTransformDescriptor");
    CHECK(CALL(int, cudnnSetTensorTransformDescriptor,
               (P, uint32_t, int, const int *, const int *, const unsigned *, int),
               (t, 4, 0, before, after, fold, direction)) == 0);
    return t;
}

SNIPPET(cudnnSetTensorTransformDescriptor)
{
    dnn_drop("TensorTransformDescriptor", transform(0));
}

SNIPPET(cudnnGetTensorTransformDescriptor)
{
    int before[4] = {0}, after[4] = {0}, format = -1, direction = -1;
    unsigned fold[2] = {0};
    P t = transform(1);
    CHECK(CALL(int, cudnnGetTensorTransformDescriptor, (P, uint32_t, int *, int *, int *, unsigned *, int *),
               (t, 4, &format, before, after, fold, &direction)) == 0);
    CHECK(before[2] == 1 && after[2] == 1 && fold[1] == 2 && direction == 1 && format == 0);
    dnn_drop("TensorTransformDescriptor", t);
}

SNIPPET(cudnnInitTransformDest)
{
    int size[8], stride[8];
    size_t bytes = 0;
    P t = transform(0), in = dnn_tensor(0, 1, 3, 6, 8), out = dnn_make("TensorDescriptor");
    CHECK(CALL(int, cudnnInitTransformDest, (P, P, P, size_t *), (t, in, out, &bytes)) == 0);
    CHECK(dnn_tensor_nd(out, size, stride) == 4 && size[1] == 12 && size[2] == 4 && size[3] == 4);
    CHECK(bytes == 12 * 16 * 4);
    dnn_drop("TensorDescriptor", in);
    dnn_drop("TensorDescriptor", out);
    dnn_drop("TensorTransformDescriptor", t);
}

static void check_op_tensor(void)
{
    int op = -1, compute = -1, nan = -1;
    P d = dnn_make("OpTensorDescriptor");
    CHECK(CALL(int, cudnnSetOpTensorDescriptor, (P, int, int, int), (d, 1, 0, 1)) == 0);
    CHECK(CALL(int, cudnnGetOpTensorDescriptor, (P, int *, int *, int *), (d, &op, &compute, &nan)) == 0);
    CHECK(op == 1 && compute == 0 && nan == 1);
    dnn_drop("OpTensorDescriptor", d);
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
    P d = dnn_make("ReduceTensorDescriptor");
    CHECK(CALL(int, cudnnSetReduceTensorDescriptor, (P, int, int, int, int, int), (d, 3, 0, 1, indices, 1)) == 0);
    return d;
}

SNIPPET(cudnnSetReduceTensorDescriptor)
{
    dnn_drop("ReduceTensorDescriptor", reduction(0));
}

SNIPPET(cudnnGetReduceTensorDescriptor)
{
    int v[5] = {0};
    P d = reduction(1);
    CHECK(CALL(int, cudnnGetReduceTensorDescriptor, (P, int *, int *, int *, int *, int *),
               (d, v, v + 1, v + 2, v + 3, v + 4)) == 0);
    CHECK(v[0] == 3 && v[1] == 0 && v[2] == 1 && v[3] == 1 && v[4] == 1);
    dnn_drop("ReduceTensorDescriptor", d);
}

static size_t reduction_size(const char *symbol, int indices)
{
    size_t bytes = (size_t)-1;
    P d = reduction(indices), a = dnn_tensor(0, 64, 32, 16, 16), c = dnn_tensor(0, 1, 32, 1, 1);
    CHECK(((int (*)(P, P, P, P, size_t *))snippet_symbol(symbol))(NULL, d, a, c, &bytes) == 0);
    dnn_drop("ReduceTensorDescriptor", d);
    dnn_drop("TensorDescriptor", a);
    dnn_drop("TensorDescriptor", c);
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
