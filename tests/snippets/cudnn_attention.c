/* cuDNN: attention of the older interface, CTC. */
#include "cudnn.h"

static void check_seq_data(void)
{
    const int size[] = {5, 2, 1, 16}, axes[] = {1, 0, 2, 3}, lengths[] = {5, 4};
    int type = -1, dims = -1, s[4] = {0}, a[4] = {0}, l[2] = {0};
    size_t count = 0;
    P d = dnn_make("SeqDataDescriptor");
    CHECK(CALL(int, cudnnSetSeqDataDescriptor, (P, int, int, const int *, const int *, size_t, const int *, P),
               (d, 0, 4, size, axes, 2, lengths, NULL)) == 0);
    CHECK(CALL(int, cudnnGetSeqDataDescriptor, (P, int *, int *, int, int *, int *, size_t *, size_t, int *, P),
               (d, &type, &dims, 4, s, a, &count, 2, l, NULL)) == 0);
    CHECK(type == 0 && dims == 4 && s[3] == 16 && a[0] == 1 && count == 2 && l[1] == 4);
    dnn_drop("SeqDataDescriptor", d);
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
    P d = dnn_make("AttnDescriptor");
    CHECK(CALL(int, cudnnSetAttnDescriptor,
               (P, unsigned, int, double, int, int, int, P, P, int, int, int, int, int, int, int, int, int, int, int),
               (d, 2, 4, 0.125, 0, 0, 0, NULL, NULL, 64, 64, 64, 16, 16, 16, 64, 10, 12, 2, 1)) == 0);
    return d;
}

SNIPPET(cudnnSetAttnDescriptor)
{
    dnn_drop("AttnDescriptor", attention());
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
    dnn_drop("AttnDescriptor", d);
}

SNIPPET(cudnnGetMultiHeadAttnBuffers)
{
    size_t weights = 0, work = 0, reserve = 0;
    P d = attention();
    CHECK(CALL(int, cudnnGetMultiHeadAttnBuffers, (P, P, size_t *, size_t *, size_t *),
               (NULL, d, &weights, &work, &reserve)) == 0);
    CHECK(weights == 4 * 4 * (3 * (16 * 64 + 16) + 64 * 16 + 64));
    CHECK(work == 4 * 2 * 4 * 10 * (12 + 16) && reserve == work + 4 * 2 * 4 * (10 * 16 + 12 * 32));
    dnn_drop("AttnDescriptor", d);
}

SNIPPET(cudnnGetMultiHeadAttnWeights)
{
    int size[8], stride[8];
    P d = attention(), t = dnn_make("TensorDescriptor"), at = NULL;
    CHECK(CALL(int, cudnnGetMultiHeadAttnWeights, (P, P, int, size_t, P, P, P *), (NULL, d, 3, 0, (P)4096, t, &at)) ==
          0);
    CHECK(dnn_tensor_nd(t, size, stride) == 3 && size[0] == 4 && size[1] == 64 && size[2] == 16);
    CHECK(at == (P)(uintptr_t)(4096 + 4 * 4 * 3 * 16 * 64));
    dnn_drop("TensorDescriptor", t);
    dnn_drop("AttnDescriptor", d);
}

static void check_ctc(void)
{
    int v[4] = {0};
    P d = dnn_make("CTCLossDescriptor");
    CHECK(CALL(int, cudnnSetCTCLossDescriptor, (P, int), (d, 2)) == 0);
    CHECK(CALL(int, cudnnGetCTCLossDescriptor, (P, int *), (d, v)) == 0 && v[0] == 2);
    CHECK(CALL(int, cudnnSetCTCLossDescriptorEx, (P, int, int, int), (d, 0, 1, 1)) == 0);
    CHECK(CALL(int, cudnnGetCTCLossDescriptorEx, (P, int *, int *, int *), (d, v, v + 1, v + 2)) == 0);
    CHECK(v[0] == 0 && v[1] == 1 && v[2] == 1);
    CHECK(CALL(int, cudnnSetCTCLossDescriptor_v8, (P, int, int, int, int), (d, 0, 0, 1, 30)) == 0);
    CHECK(CALL(int, cudnnGetCTCLossDescriptor_v8, (P, int *, int *, int *, int *), (d, v, v + 1, v + 2, v + 3)) == 0);
    CHECK(v[1] == 0 && v[2] == 1 && v[3] == 30);
    dnn_drop("CTCLossDescriptor", d);
}

static void check_ctc_v9(void)
{
    int v[4] = {0};
    P d = dnn_make("CTCLossDescriptor");
    CHECK(CALL(int, cudnnSetCTCLossDescriptor_v9, (P, int, int, int, int), (d, 0, 1, 0, 40)) == 0);
    CHECK(CALL(int, cudnnGetCTCLossDescriptor_v9, (P, int *, int *, int *, int *), (d, v, v + 1, v + 2, v + 3)) == 0);
    CHECK(v[1] == 1 && v[2] == 0 && v[3] == 40);
    dnn_drop("CTCLossDescriptor", d);
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
    check_ctc_v9();
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
    check_ctc_v9();
}

static P probabilities(void)
{
    const int size[] = {50, 2, 20}, stride[] = {40, 20, 1};
    P t = dnn_make("TensorDescriptor");
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
    dnn_drop("TensorDescriptor", p);
}

SNIPPET(cudnnGetCTCLossWorkspaceSize_v8)
{
    size_t bytes = 0;
    P p = probabilities(), d = dnn_make("CTCLossDescriptor");
    CALL(int, cudnnSetCTCLossDescriptor_v8, (P, int, int, int, int), (d, 0, 1, 0, 7));
    CHECK(CALL(int, cudnnGetCTCLossWorkspaceSize_v8, (P, int, P, P, P, size_t *), (NULL, 0, d, p, p, &bytes)) == 0);
    CHECK(bytes == 4 * 100 * (2 * 15 + 20));
    dnn_drop("TensorDescriptor", p);
    dnn_drop("CTCLossDescriptor", d);
}

SNIPPET(cudnnCTCLoss)
{
    float costs[2] = {5, 5};
    P p = probabilities();
    CHECK(CALL(int, cudnnCTCLoss, (P, P, P, P, P, P, P, P, P, int, P, P, size_t),
               (NULL, p, NULL, NULL, NULL, NULL, costs, p, NULL, 0, NULL, NULL, 0)) == 0);
    CHECK(costs[0] == 0 && costs[1] == 0);
    dnn_drop("TensorDescriptor", p);
}

SNIPPET(cudnnCTCLoss_v8)
{
    float costs[2] = {5, 5};
    P p = probabilities();
    CHECK(CALL(int, cudnnCTCLoss_v8, (P, int, P, P, P, P, P, P, P, P, P, size_t, P),
               (NULL, 0, NULL, p, NULL, NULL, NULL, NULL, costs, p, NULL, 0, NULL)) == 0);
    CHECK(costs[0] == 0 && costs[1] == 0);
    dnn_drop("TensorDescriptor", p);
}
