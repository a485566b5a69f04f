/*
 * Where the weights of a recurrent network lie in its one weight buffer.
 *
 * All matrices come first, then all biases; both in the order of pseudo-layers (layer by layer, the
 * forward direction before the backward one). Within a pseudo-layer: the input matrices of all gates,
 * the recurrent matrices of all gates, the projection. Frameworks cut their parameters out of the
 * buffer with these addresses, so the gates of one kind must lie next to each other.
 */
#include "shim/cudnn/rnn.h"

enum { SKIP_INPUT = 1 };
enum { BIAS_NONE = 0, BIAS_INPUT = 1, BIAS_BOTH = 2, BIAS_RECURRENT = 3 };

/* Columns of the input matrices: 0 if the first layer takes its input as it is. */
static int input_columns(const struct plm_dnn_rnn *rnn, int layer)
{
    if (layer > 0)
        return plm_dnn_rnn_output(rnn) * plm_dnn_rnn_directions(rnn);
    return rnn->input_mode == SKIP_INPUT ? 0 : rnn->input;
}

static uint64_t layer_matrix_elements(const struct plm_dnn_rnn *rnn, int layer)
{
    const uint64_t hidden = (uint64_t)rnn->hidden, output = (uint64_t)plm_dnn_rnn_output(rnn);
    uint64_t elements = (uint64_t)plm_dnn_rnn_gates(rnn) * hidden * ((uint64_t)input_columns(rnn, layer) + output);
    return plm_dnn_rnn_projects(rnn) ? elements + output * hidden : elements;
}

uint64_t plm_dnn_rnn_matrix_elements(const struct plm_dnn_rnn *rnn)
{
    uint64_t elements = 0;
    for (int layer = 0; layer < rnn->layers; layer++)
        elements += (uint64_t)plm_dnn_rnn_directions(rnn) * layer_matrix_elements(rnn, layer);
    return elements;
}

static int bias_vectors(const struct plm_dnn_rnn *rnn)
{
    static const int kinds[] = {[BIAS_NONE] = 0, [BIAS_INPUT] = 1, [BIAS_BOTH] = 2, [BIAS_RECURRENT] = 1};
    return kinds[rnn->bias] * plm_dnn_rnn_gates(rnn);
}

static struct plm_dnn_rnn_block matrix_block(const struct plm_dnn_rnn *rnn, int pseudo_layer, int id)
{
    const int gates = plm_dnn_rnn_gates(rnn), directions = plm_dnn_rnn_directions(rnn),
              layer = pseudo_layer / directions;
    const int columns = input_columns(rnn, layer), output = plm_dnn_rnn_output(rnn);
    const uint64_t hidden = (uint64_t)rnn->hidden;
    struct plm_dnn_rnn_block b = {rnn->hidden, columns, 0};

    for (int i = 0; i < pseudo_layer; i++)
        b.offset += layer_matrix_elements(rnn, i / directions);
    if (id < gates) {
        b.offset += (uint64_t)id * hidden * (uint64_t)columns;
        if (!columns)
            b.rows = 0;
        return b;
    }
    b.offset += (uint64_t)gates * hidden * (uint64_t)columns;
    if (id < 2 * gates) {
        b.columns = output;
        b.offset += (uint64_t)(id - gates) * hidden * (uint64_t)output;
        return b;
    }
    b.offset += (uint64_t)gates * hidden * (uint64_t)output;
    b.rows = plm_dnn_rnn_projects(rnn) ? output : 0;
    b.columns = rnn->hidden;
    return b;
}

static struct plm_dnn_rnn_block bias_block(const struct plm_dnn_rnn *rnn, int pseudo_layer, int id)
{
    const int gates = plm_dnn_rnn_gates(rnn);
    const bool input = id < gates;
    struct plm_dnn_rnn_block b = {0, 1, plm_dnn_rnn_matrix_elements(rnn)};
    int index = id;

    if (id >= 2 * gates || rnn->bias == BIAS_NONE || (rnn->bias == BIAS_INPUT && !input) ||
        (rnn->bias == BIAS_RECURRENT && input))
        return b;
    if (rnn->bias == BIAS_RECURRENT)
        index -= gates;
    b.rows = rnn->hidden;
    b.offset += ((uint64_t)pseudo_layer * (uint64_t)bias_vectors(rnn) + (uint64_t)index) * (uint64_t)rnn->hidden;
    return b;
}

/* A block that does not exist has no dimensions and no address. */
static void describe(const struct plm_dnn_rnn *rnn, const struct plm_dnn_rnn_block *b, const void *weights,
                     struct plm_dnn_tensor *tensor, void **address)
{
    const int size[] = {1, b->rows, b->columns};
    if (tensor) {
        tensor->type = rnn->type;
        tensor->dims = 0;
        if (b->rows)
            plm_dnn_tensor_packed(tensor, rnn->type, PLM_DNN_NCHW, 3, size);
    }
    if (address) /* the address is computed, never followed: the buffer may not exist yet */
        *address = b->rows ? (void *)((uintptr_t)weights + plm_dnn_bytes(rnn->type, b->offset)) : NULL;
}

uint64_t plm_dnn_rnn_weight_bytes(const struct plm_dnn_rnn *rnn)
{
    const uint64_t layers = (uint64_t)rnn->layers * (uint64_t)plm_dnn_rnn_directions(rnn);
    const uint64_t biases = layers * (uint64_t)bias_vectors(rnn) * (uint64_t)rnn->hidden;
    return plm_dnn_bytes(rnn->type, plm_dnn_rnn_matrix_elements(rnn) + biases);
}

int plm_dnn_rnn_blocks(const struct plm_dnn_rnn *rnn, int pseudo_layer, int id, struct plm_dnn_rnn_block *matrix,
                       struct plm_dnn_rnn_block *bias)
{
    if (!rnn || rnn->layers < 1 || pseudo_layer < 0 || pseudo_layer >= rnn->layers * plm_dnn_rnn_directions(rnn))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "no such layer in the recurrent network");
    if (id < 0 || id >= 2 * plm_dnn_rnn_gates(rnn) + (rnn->cell == PLM_RNN_LSTM))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "no such matrix in a layer of the recurrent network");
    *matrix = matrix_block(rnn, pseudo_layer, id);
    *bias = bias_block(rnn, pseudo_layer, id);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetRNNWeightSpaceSize(void *handle, const struct plm_dnn_rnn *rnn, size_t *bytes)
{
    (void)handle;
    if (!rnn || !bytes || rnn->layers < 1)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor of the recurrent network was not set");
    *bytes = plm_dnn_rnn_weight_bytes(rnn);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetRNNWeightParams(void *handle, const struct plm_dnn_rnn *rnn, int32_t pseudo_layer,
                                    size_t weight_bytes, const void *weights, int32_t id, struct plm_dnn_tensor *matrix,
                                    void **matrix_address, struct plm_dnn_tensor *bias, void **bias_address)
{
    struct plm_dnn_rnn_block m = {0}, b = {0};
    int status = plm_dnn_rnn_blocks(rnn, pseudo_layer, id, &m, &b);
    (void)handle, (void)weight_bytes;
    if (status != PLM_DNN_OK)
        return status;
    describe(rnn, &m, weights, matrix, matrix_address);
    describe(rnn, &b, weights, bias, bias_address);
    return PLM_DNN_OK;
}
