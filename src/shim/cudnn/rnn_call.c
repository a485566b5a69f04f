/* The recurrent network at work: nothing is computed, but what was asked for is recorded. */
#include "device/device.h"
#include "device/stream.h"
#include "shim/cudnn/rnn.h"

#define U __attribute__((unused)) plm_word

static int64_t rows_of(const struct plm_dnn_rnn_data *x)
{
    int64_t rows = 0;
    for (int i = 0; x->lengths && i < x->batch; i++)
        rows += x->lengths[i];
    return rows;
}

int plm_dnn_rnn_execute(const struct plm_dnn_handle *handle, enum plm_rnn_call op, const struct plm_dnn_rnn *rnn,
                        const struct plm_dnn_rnn_data *x, int64_t rows, struct plm_dnn_rnn_spaces s)
{
    bool run;
    if (!handle || !rnn || !x || rnn->layers < 1 || x->batch < 1)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the recurrent network or its data was not set");
    if (plm_stream_enqueue(handle->stream, PLM_NODE_KERNEL, &run))
        return plm_dnn_fail(PLM_DNN_EXECUTION, "the stream does not take work");
    if (run)
        plm_launch(NULL);
    plm_call_rnn(&(struct plm_call_rnn){op, rnn->cell, rnn->type, rnn->bias, rnn->layers, plm_dnn_rnn_directions(rnn),
                                        rnn->input, rnn->hidden, plm_dnn_rnn_output(rnn), x->steps, x->batch, rows,
                                        s.work_bytes, s.reserve_bytes, plm_dnn_rnn_drops(rnn)},
                 handle->stream, run);
    if (s.work_bytes)
        plm_call_workspace(s.work);
    if (s.reserve_bytes)
        plm_call_workspace(s.reserve);
    return PLM_DNN_OK;
}

static int execute(const struct plm_dnn_handle *handle, enum plm_rnn_call op, const struct plm_dnn_rnn *rnn,
                   const struct plm_dnn_rnn_data *x, struct plm_dnn_rnn_spaces s)
{
    return plm_dnn_rnn_execute(handle, op, rnn, x, x ? rows_of(x) : 0, s);
}

PLM_API int cudnnRNNForward(const struct plm_dnn_handle *handle, const struct plm_dnn_rnn *rnn, int mode, U lengths,
                            const struct plm_dnn_rnn_data *x, U x_data, U y, U y_data, U h, U hx, U hy, U c, U cx, U cy,
                            U weight_bytes, U weights, size_t work_bytes, void *work, size_t reserve_bytes,
                            void *reserve)
{
    return execute(handle, mode ? PLM_RNN_TRAINING : PLM_RNN_INFERENCE, rnn, x,
                   (struct plm_dnn_rnn_spaces){work_bytes, work, reserve_bytes, reserve});
}

PLM_API int cudnnRNNBackwardData_v8(const struct plm_dnn_handle *handle, const struct plm_dnn_rnn *rnn, U lengths, U y,
                                    U y_data, U dy, const struct plm_dnn_rnn_data *x, U dx, U h, U hx, U dhy, U dhx,
                                    U c, U cx, U dcy, U dcx, U weight_bytes, U weights, size_t work_bytes, void *work,
                                    size_t reserve_bytes, void *reserve)
{
    return execute(handle, PLM_RNN_BACKWARD_DATA, rnn, x,
                   (struct plm_dnn_rnn_spaces){work_bytes, work, reserve_bytes, reserve});
}

PLM_API int cudnnRNNBackwardWeights_v8(const struct plm_dnn_handle *handle, const struct plm_dnn_rnn *rnn, U add,
                                       U lengths, const struct plm_dnn_rnn_data *x, U x_data, U h, U hx, U y, U y_data,
                                       U weight_bytes, U weights, size_t work_bytes, void *work, size_t reserve_bytes,
                                       void *reserve)
{
    return execute(handle, PLM_RNN_BACKWARD_WEIGHTS, rnn, x,
                   (struct plm_dnn_rnn_spaces){work_bytes, work, reserve_bytes, reserve});
}
