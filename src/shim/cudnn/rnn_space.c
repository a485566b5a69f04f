/*
 * Temporary and reserve space of a recurrent network: modelled.
 *
 * The coefficients reproduce to the byte the only published sizes of both buffers (cuDNN 7, four
 * layers of 320 units, 123 inputs, batch 100, 250 steps; pytorch issue 2895): LSTM 736,000,000
 * reserve and 17,730,560 work, GRU 864,000,000 and 13,169,920. The plain cells follow the same
 * pattern. Newer versions and the persistent algorithms may differ.
 */
#include "shim/cudnn/rnn.h"
#include "stack/stack_file.h"

enum { TRAINING = 1 };

/* Vectors of the hidden size that one step of one layer keeps for backward, and the states it carries. */
static const struct {
    unsigned saved, states;
    bool layer_outputs;
} cells[] = {
    [PLM_RNN_RELU] = {1, 1, false}, /* the activation is the output */
    [PLM_RNN_TANH] = {1, 1, false},
    [PLM_RNN_LSTM] = {5, 2, true},  /* four gates and the cell */
    [PLM_RNN_GRU] = {6, 1, true},
};

/* What each step keeps for each layer, plus the outputs between layers and their dropout masks. */
static uint64_t reserve_bytes(const struct plm_dnn_rnn *rnn, const struct plm_dnn_rnn_data *x)
{
    const uint64_t layers = (uint64_t)rnn->layers, output = (uint64_t)plm_dnn_rnn_output(rnn);
    const uint64_t rows = (uint64_t)x->steps * (uint64_t)x->batch * (uint64_t)plm_dnn_rnn_directions(rnn);
    uint64_t elements = rows * layers * cells[rnn->cell].saved * (uint64_t)rnn->hidden;
    uint64_t mask = 0;

    if (cells[rnn->cell].layer_outputs)
        elements += rows * (layers - 1) * output;
    if (plm_dnn_rnn_projects(rnn))
        elements += rows * layers * output;
    if (rnn->dropout && rnn->dropout->rate > 0)
        mask = (rows * (layers - 1) * output + 7) / 8;
    return plm_dnn_bytes(rnn->type, elements) + mask;
}

/* A copy of the matrices in the layout of the kernels, and for each layer the gates of one step
   before and after adding both products, with the states. */
static uint64_t work_bytes(const struct plm_dnn_rnn *rnn, const struct plm_dnn_rnn_data *x)
{
    const uint64_t vectors = 2 * (uint64_t)plm_dnn_rnn_gates(rnn) + cells[rnn->cell].states + 1;
    const uint64_t sheets = (uint64_t)rnn->layers * (uint64_t)plm_dnn_rnn_directions(rnn) * (uint64_t)x->batch;
    return plm_dnn_bytes(rnn->type, plm_dnn_rnn_matrix_elements(rnn) + sheets * vectors * (uint64_t)rnn->hidden);
}

/* What was measured, if the stack file in use has it. */
static bool measured(const struct plm_dnn_rnn *rnn, const struct plm_dnn_rnn_data *x, bool training, size_t *work,
                     size_t *reserve)
{
    const struct plm_rnn_shape shape = plm_dnn_rnn_shape(rnn, x, training);
    const struct plm_stack_row_key key = plm_rnn_key(&shape);
    const struct plm_stack_sizes sizes = plm_stack_file_find(plm_stack_in_use(), &key);
    if (sizes.count < 2)
        return false;
    plm_dnn_put_size(work, sizes.bytes[0]);
    plm_dnn_put_size(reserve, sizes.bytes[1]);
    return true;
}

void plm_dnn_rnn_space(const struct plm_dnn_rnn *rnn, const struct plm_dnn_rnn_data *x, bool training, size_t *work,
                       size_t *reserve)
{
    if (measured(rnn, x, training, work, reserve))
        return;
    plm_dnn_put_size(work, work_bytes(rnn, x));
    plm_dnn_put_size(reserve, training ? reserve_bytes(rnn, x) : 0);
}

PLM_API int cudnnGetRNNTempSpaceSizes(void *handle, const struct plm_dnn_rnn *rnn, int mode,
                                      const struct plm_dnn_rnn_data *x, size_t *work, size_t *reserve)
{
    (void)handle;
    if (!rnn || !x || rnn->layers < 1 || x->batch < 1)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the recurrent network or its data was not set");
    plm_dnn_rnn_space(rnn, x, mode == TRAINING, work, reserve);
    return PLM_DNN_OK;
}
