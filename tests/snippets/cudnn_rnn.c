/* cuDNN: recurrent networks. */
#include "cudnn.h"

#include <stdlib.h>

enum { RELU, TANH, LSTM, GRU };

static P rnn(int cell, int bias, int directions, int input, int hidden, int projection, int layers)
{
    P d = dnn_make("RNNDescriptor");
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
    P d = dnn_make("RNNDataDescriptor");
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
    dnn_drop("RNNDescriptor", d);
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
    dnn_drop("RNNDescriptor", d);
}

static void check_clip_v8(void)
{
    int mode = -1, nan = -1;
    double low = 0, high = 0;
    P d = dnn_make("RNNDescriptor");
    CHECK(CALL(int, cudnnRNNSetClip_v8, (P, int, int, double, double), (d, 1, 1, -2.0, 3.0)) == 0);
    CHECK(CALL(int, cudnnRNNGetClip_v8, (P, int *, int *, double *, double *), (d, &mode, &nan, &low, &high)) == 0);
    CHECK(mode == 1 && nan == 1 && low == -2.0 && high == 3.0);
    dnn_drop("RNNDescriptor", d);
}

static void check_clip_v9(void)
{
    int mode = -1;
    double low = 0, high = 0;
    P d = dnn_make("RNNDescriptor");
    CHECK(CALL(int, cudnnRNNSetClip_v9, (P, int, double, double), (d, 0, -4.0, 5.0)) == 0);
    CHECK(CALL(int, cudnnRNNGetClip_v9, (P, int *, double *, double *), (d, &mode, &low, &high)) == 0);
    CHECK(mode == 0 && low == -4.0 && high == 5.0);
    dnn_drop("RNNDescriptor", d);
}

SNIPPET(cudnnRNNSetClip_v8)
{
    check_clip_v8();
}
SNIPPET(cudnnRNNSetClip_v9)
{
    check_clip_v9();
}
SNIPPET(cudnnRNNGetClip_v8)
{
    check_clip_v8();
}
SNIPPET(cudnnRNNGetClip_v9)
{
    check_clip_v9();
}

SNIPPET(cudnnSetRNNDataDescriptor)
{
    dnn_drop("RNNDataDescriptor", rnn_data(7, 4, 3));
}

SNIPPET(cudnnGetRNNDataDescriptor)
{
    int v[5] = {0}, lengths[4] = {0};
    float fill = 0;
    P d = rnn_data(7, 4, 3);
    CHECK(CALL(int, cudnnGetRNNDataDescriptor, (P, int *, int *, int *, int *, int *, int, int *, P),
               (d, v, v + 1, v + 2, v + 3, v + 4, 4, lengths, &fill)) == 0);
    CHECK(v[2] == 7 && v[3] == 4 && v[4] == 3 && lengths[0] == 7 && lengths[3] == 6 && fill == 2);
    dnn_drop("RNNDataDescriptor", d);
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
        dnn_drop("RNNDescriptor", d);
    }
}

/* Walks all blocks: each must begin where the one before it ends, and the last end the buffer. */
static void check_layout(int cell, int bias, int directions, int projection)
{
    static const int gates[] = {1, 1, 4, 3};
    P d = rnn(cell, bias, directions, 10, 20, projection, 3), m = dnn_make("TensorDescriptor"),
      b = dnn_make("TensorDescriptor");
    uintptr_t base = 0x10000000, next = base;
    for (int biases = 0; biases < 2; biases++)
        for (int layer = 0; layer < 3 * directions; layer++)
            for (int id = 0; id < 2 * gates[cell] + (cell == LSTM); id++) {
                int size[8], stride[8], dims;
                P m_at = (P)1, b_at = (P)1;
                CHECK(CALL(int, cudnnGetRNNWeightParams, (P, P, int, size_t, P, int, P, P *, P, P *),
                           (NULL, d, layer, weight_bytes(d), (P)base, id, m, &m_at, b, &b_at)) == 0);
                dims = dnn_tensor_nd(biases ? b : m, size, stride);
                CHECK((dims == 0) == ((biases ? b_at : m_at) == NULL));
                if (!dims)
                    continue;
                CHECK(dims == 3 && size[0] == 1 && (!biases || size[2] == 1));
                CHECK((uintptr_t)(biases ? b_at : m_at) == next);
                next += 4 * (uintptr_t)size[1] * (uintptr_t)size[2];
            }
    CHECK(next == base + weight_bytes(d));
    dnn_drop("TensorDescriptor", m);
    dnn_drop("TensorDescriptor", b);
    dnn_drop("RNNDescriptor", d);
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
        dnn_drop("RNNDescriptor", d);
        dnn_drop("RNNDataDescriptor", x);
    }
}
