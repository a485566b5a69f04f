/* cuDNN 8: recurrent networks by tensors of each step, as PyTorch 2.1 to 2.3 call them. */
#include "cudnn.h"

#include <stdlib.h>

enum { RELU, TANH, LSTM, GRU, STEPS_MOST = 250 };

static P network(int cell, int directions, int hidden, int layers)
{
    P d = dnn_make("RNNDescriptor"), handle = dnn_handle();
    CHECK(CALL(int, cudnnSetRNNDescriptor_v6, (P, P, int, int, P, int, int, int, int, int),
               (handle, d, hidden, layers, NULL, 0, directions - 1, cell, 0, 0)) == 0);
    CHECK(CALL(int, cudnnDestroy, (P), (handle)) == 0);
    return d;
}

/* The input of one step: (batch, vector, 1). */
static P step(int batch, int vector)
{
    const int size[] = {batch, vector, 1}, stride[] = {vector, 1, 1};
    P t = dnn_make("TensorDescriptor");
    CHECK(CALL(int, cudnnSetTensorNdDescriptor, (P, int, int, const int *, const int *), (t, 0, 3, size, stride)) == 0);
    return t;
}

static void steps(P x[STEPS_MOST], P one)
{
    for (int i = 0; i < STEPS_MOST; i++)
        x[i] = one;
}

static size_t weight_bytes(P d, P x)
{
    size_t bytes = 0;
    CHECK(CALL(int, cudnnGetRNNParamsSize, (P, P, P, size_t *, int), (NULL, d, x, &bytes, 0)) == 0);
    return bytes;
}

static void check_descriptor(void)
{
    P d = network(GRU, 2, 20, 3), handle = dnn_handle(), dropout = (P)1;
    int v[7] = {0};
    CHECK(CALL(int, cudnnGetRNNDescriptor_v6, (P, P, int *, int *, P *, int *, int *, int *, int *, int *),
               (handle, d, v, v + 1, &dropout, v + 2, v + 3, v + 4, v + 5, v + 6)) == 0);
    CHECK(v[0] == 20 && v[1] == 3 && !dropout && v[3] == 1 && v[4] == GRU);
    CHECK(CALL(int, cudnnSetRNNDescriptor_v6, (P, P, int, int, P, int, int, int, int, int),
               (handle, d, 20, 3, NULL, 0, 0, 9, 0, 0)) == 3); /* CUDNN_STATUS_BAD_PARAM */
    CHECK(CALL(int, cudnnDestroy, (P), (handle)) == 0);
    dnn_drop("RNNDescriptor", d);
}

SNIPPET(cudnnSetRNNDescriptor_v6)
{
    check_descriptor();
}
SNIPPET(cudnnGetRNNDescriptor_v6)
{
    check_descriptor();
}

/* What is set is what is got. */
#define SETTING(name, first)                                                         \
    static void check_##name(void)                                                   \
    {                                                                                \
        P d = network(LSTM, 1, 20, 1);                                               \
        int value = -1;                                                              \
        CHECK(CALL(int, cudnnGetRNN##name, (P, int *), (d, &value)) == 0);           \
        CHECK(value == (first));                                                     \
        CHECK(CALL(int, cudnnSetRNN##name, (P, int), (d, 1)) == 0);                  \
        CHECK(CALL(int, cudnnGetRNN##name, (P, int *), (d, &value)) == 0);           \
        CHECK(value == 1 && CALL(int, cudnnSetRNN##name, (P, int), (NULL, 1)) == 3); \
        dnn_drop("RNNDescriptor", d);                                                \
    }                                                                                \
    SNIPPET(cudnnSetRNN##name)                                                       \
    {                                                                                \
        check_##name();                                                              \
    }                                                                                \
    SNIPPET(cudnnGetRNN##name)                                                       \
    {                                                                                \
        check_##name();                                                              \
    }

SETTING(MatrixMathType, 0)
SETTING(PaddingMode, 0)
SETTING(BiasMode, 2) /* CUDNN_RNN_DOUBLE_BIAS, the documented default */

static void check_projection(void)
{
    P d = network(LSTM, 1, 20, 2), handle = dnn_handle(), x = step(3, 10);
    int recurrent = -1, output = -1;
    CHECK(CALL(int, cudnnSetRNNProjectionLayers, (P, P, int, int), (handle, d, 8, 0)) == 0);
    CHECK(CALL(int, cudnnGetRNNProjectionLayers, (P, P, int *, int *), (handle, d, &recurrent, &output)) == 0);
    CHECK(recurrent == 8 && output == 0);
    CHECK(weight_bytes(d, x) == 4 * (4 * (20 * 10 + 20 * 8 + 40) + 8 * 20 + 4 * (20 * 8 + 20 * 8 + 40) + 8 * 20));
    CHECK(CALL(int, cudnnSetRNNProjectionLayers, (P, P, int, int), (handle, d, 21, 0)) == 3);
    CHECK(CALL(int, cudnnDestroy, (P), (handle)) == 0);
    dnn_drop("TensorDescriptor", x);
    dnn_drop("RNNDescriptor", d);
}

SNIPPET(cudnnSetRNNProjectionLayers)
{
    check_projection();
}
SNIPPET(cudnnGetRNNProjectionLayers)
{
    check_projection();
}

static void check_clip(void)
{
    P d = network(LSTM, 1, 20, 1), handle = dnn_handle();
    int mode = -1, nan = -1;
    double low = 0, high = 0;
    CHECK(CALL(int, cudnnRNNSetClip, (P, P, int, int, double, double), (handle, d, 1, 1, -2.0, 3.0)) == 0);
    CHECK(CALL(int, cudnnRNNGetClip, (P, P, int *, int *, double *, double *), (handle, d, &mode, &nan, &low, &high)) ==
          0);
    CHECK(mode == 1 && nan == 1 && low == -2.0 && high == 3.0);
    CHECK(CALL(int, cudnnDestroy, (P), (handle)) == 0);
    dnn_drop("RNNDescriptor", d);
}

SNIPPET(cudnnRNNSetClip)
{
    check_clip();
}
SNIPPET(cudnnRNNGetClip)
{
    check_clip();
}

/* The published sizes (pytorch issue 2895) for four layers of 320 units, 123 inputs, batch 100, 250 steps. */
static void check_space(void)
{
    static const struct {
        int cell;
        size_t work, reserve;
    } known[] = {{LSTM, 17730560, 736000000}, {GRU, 13169920, 864000000}};
    P x[STEPS_MOST], one = step(100, 123);
    steps(x, one);
    for (int i = 0; i < 2; i++) {
        P d = network(known[i].cell, 1, 320, 4);
        size_t work = 0, reserve = 0;
        CHECK(CALL(int, cudnnGetRNNWorkspaceSize, (P, P, int, P *, size_t *), (NULL, d, 250, x, &work)) == 0);
        CHECK(CALL(int, cudnnGetRNNTrainingReserveSize, (P, P, int, P *, size_t *), (NULL, d, 250, x, &reserve)) == 0);
        CHECK(work == known[i].work && reserve == known[i].reserve);
        CHECK(CALL(int, cudnnGetRNNWorkspaceSize, (P, P, int, P *, size_t *), (NULL, d, 0, x, &work)) == 3);
        dnn_drop("RNNDescriptor", d);
    }
    dnn_drop("TensorDescriptor", one);
}

SNIPPET(cudnnGetRNNWorkspaceSize)
{
    check_space();
}
SNIPPET(cudnnGetRNNTrainingReserveSize)
{
    check_space();
}

SNIPPET(cudnnGetRNNParamsSize)
{
    P d = network(GRU, 2, 20, 2), x = step(5, 10);
    CHECK(weight_bytes(d, x) == 4 * (2 * 3 * (20 * 10 + 20 * 20 + 40) + 2 * 3 * (20 * 40 + 20 * 20 + 40)));
    dnn_drop("TensorDescriptor", x);
    dnn_drop("RNNDescriptor", d);
}

static size_t filter_elements(P filter)
{
    int type = -1, format = -1, dims = -1, size[8] = {0};
    size_t elements = 1;
    CHECK(CALL(int, cudnnGetFilterNdDescriptor, (P, int, int *, int *, int *, int *),
               (filter, 3, &type, &format, &dims, size)) == 0);
    CHECK(type == 0 && dims == 3);
    for (int i = 0; i < 3; i++)
        elements *= (size_t)size[i];
    return elements;
}

/* All matrices and then all biases lie one behind the other and fill the weights, which is how frameworks cut them out. */
static void check_layout(int cell)
{
    static const int gates[] = {1, 1, 4, 3};
    P d = network(cell, 2, 20, 2), x = step(5, 10), filter = dnn_make("FilterDescriptor"), at;
    const uintptr_t base = 0x10000000;
    uintptr_t next = base;
    for (int biases = 0; biases < 2; biases++)
        for (int layer = 0; layer < 4; layer++)
            for (int id = 0; id < 2 * gates[cell]; id++) {
                at = NULL;
                if (biases)
                    CHECK(CALL(int, cudnnGetRNNLinLayerBiasParams, (P, P, int, P, P, P, int, P, P *),
                               (NULL, d, layer, x, NULL, (P)base, id, filter, &at)) == 0);
                else
                    CHECK(CALL(int, cudnnGetRNNLinLayerMatrixParams, (P, P, int, P, P, P, int, P, P *),
                               (NULL, d, layer, x, NULL, (P)base, id, filter, &at)) == 0);
                CHECK((uintptr_t)at == next);
                next += 4 * filter_elements(filter);
            }
    CHECK(next == base + weight_bytes(d, x));
    CHECK(CALL(int, cudnnGetRNNLinLayerMatrixParams, (P, P, int, P, P, P, int, P, P *),
               (NULL, d, 4, x, NULL, (P)base, 0, filter, &at)) == 3);
    dnn_drop("FilterDescriptor", filter);
    dnn_drop("TensorDescriptor", x);
    dnn_drop("RNNDescriptor", d);
}

SNIPPET(cudnnGetRNNLinLayerMatrixParams)
{
    for (int cell = RELU; cell <= GRU; cell++)
        check_layout(cell);
}
SNIPPET(cudnnGetRNNLinLayerBiasParams)
{
    check_layout(LSTM);
}
