/*
 * Recurrent networks as cuDNN 8 still had them beside the functions of rnn.c, and as PyTorch 2.1 to 2.3 call them.
 *
 * The descriptor has neither the size of the input nor the data type: both come with each call, in descriptors of the
 * input's tensors, one for each step (batch, vector, 1). Batches may shrink from step to step, so the first is the largest.
 * Only the library of the eighth generation exports these; the version script hides them in the other.
 */
#include "shim/cudnn/rnn.h"

#define U __attribute__((unused)) plm_word

enum { BIAS_BOTH = 2 };

PLM_API int cudnnSetRNNDescriptor_v6(void *handle, struct plm_dnn_rnn *rnn, int hidden, int layers,
                                     struct plm_dnn_dropout *dropout, int input_mode, int direction, int cell,
                                     int algorithm, int math_precision)
{
    if (!handle || !rnn || cell < PLM_RNN_RELU || cell > PLM_RNN_GRU || hidden < 1 || layers < 1)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the cell or the sizes of the recurrent network are not valid");
    *rnn = (struct plm_dnn_rnn){.algorithm = algorithm,
                                .cell = cell,
                                .bias = BIAS_BOTH,
                                .direction = direction,
                                .input_mode = input_mode,
                                .math_precision = math_precision,
                                .hidden = hidden,
                                .projection = hidden,
                                .layers = layers,
                                .dropout = dropout};
    return PLM_DNN_OK;
}

PLM_API int cudnnGetRNNDescriptor_v6(void *handle, const struct plm_dnn_rnn *rnn, int *hidden, int *layers,
                                     struct plm_dnn_dropout **dropout, int *input_mode, int *direction, int *cell,
                                     int *algorithm, int *math_precision)
{
    if (!handle || !rnn)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the handle or the recurrent network is NULL");
    plm_dnn_put(hidden, rnn->hidden);
    plm_dnn_put(layers, rnn->layers);
    if (dropout)
        *dropout = rnn->dropout;
    plm_dnn_put(input_mode, rnn->input_mode);
    plm_dnn_put(direction, rnn->direction);
    plm_dnn_put(cell, rnn->cell);
    plm_dnn_put(algorithm, rnn->algorithm);
    plm_dnn_put(math_precision, rnn->math_precision);
    return PLM_DNN_OK;
}

/* A setting that is one number of the descriptor. */
#define SETTING(name, member)                                                                          \
    PLM_API int cudnnSetRNN##name(struct plm_dnn_rnn *rnn, int value)                                  \
    {                                                                                                  \
        if (!rnn)                                                                                      \
            return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor of the recurrent network is NULL"); \
        rnn->member = value;                                                                           \
        return PLM_DNN_OK;                                                                             \
    }                                                                                                  \
    PLM_API int cudnnGetRNN##name(const struct plm_dnn_rnn *rnn, int *value)                           \
    {                                                                                                  \
        if (!rnn || !value)                                                                            \
            return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor of the recurrent network is NULL"); \
        *value = rnn->member;                                                                          \
        return PLM_DNN_OK;                                                                             \
    }

SETTING(MatrixMathType, math)
SETTING(PaddingMode, padding)

PLM_API int cudnnSetRNNBiasMode(struct plm_dnn_rnn *rnn, int bias)
{
    if (!rnn || bias < 0 || bias > 3)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "no such bias mode");
    rnn->bias = bias;
    return PLM_DNN_OK;
}

PLM_API int cudnnGetRNNBiasMode(const struct plm_dnn_rnn *rnn, int *bias)
{
    if (!rnn || !bias)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor of the recurrent network is NULL");
    *bias = rnn->bias;
    return PLM_DNN_OK;
}

/* The output cannot be projected, only the recurrent state; 0 says that neither is. */
PLM_API int cudnnSetRNNProjectionLayers(void *handle, struct plm_dnn_rnn *rnn, int recurrent, int output)
{
    if (!handle || !rnn || recurrent < 0 || recurrent > rnn->hidden || output)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the recurrent network cannot project like this");
    rnn->projection = recurrent ? recurrent : rnn->hidden;
    return PLM_DNN_OK;
}

PLM_API int cudnnGetRNNProjectionLayers(void *handle, const struct plm_dnn_rnn *rnn, int *recurrent, int *output)
{
    if (!handle || !rnn)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the handle or the recurrent network is NULL");
    plm_dnn_put(recurrent, plm_dnn_rnn_output(rnn));
    plm_dnn_put(output, 0);
    return PLM_DNN_OK;
}

PLM_API int cudnnRNNSetClip(void *handle, struct plm_dnn_rnn *rnn, int mode, int nan, double low, double high)
{
    if (!handle || !rnn)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the handle or the recurrent network is NULL");
    rnn->clip_mode = mode;
    rnn->clip_nan = nan;
    rnn->clip_low = low;
    rnn->clip_high = high;
    return PLM_DNN_OK;
}

PLM_API int cudnnRNNGetClip(void *handle, const struct plm_dnn_rnn *rnn, int *mode, int *nan, double *low, double *high)
{
    if (!handle || !rnn)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the handle or the recurrent network is NULL");
    plm_dnn_put(mode, rnn->clip_mode);
    plm_dnn_put(nan, rnn->clip_nan);
    if (low)
        *low = rnn->clip_low;
    if (high)
        *high = rnn->clip_high;
    return PLM_DNN_OK;
}

/* ---- with the tensors of a call ---- */

struct call {
    struct plm_dnn_rnn rnn; /* the descriptor with what the tensors say */
    struct plm_dnn_rnn_data x;
    int64_t rows;
};

static bool read_tensor(struct call *c, const struct plm_dnn_rnn *rnn, const struct plm_dnn_tensor *x)
{
    if (!rnn || rnn->layers < 1 || !x || x->dims < 2)
        return false;
    *c = (struct call){.rnn = *rnn, .x = {.type = x->type, .steps = 1, .batch = x->size[0], .vector = x->size[1]}};
    c->rnn.type = x->type;
    c->rnn.input = x->size[1];
    return c->x.batch > 0 && c->x.vector > 0;
}

static bool read_steps(struct call *c, const struct plm_dnn_rnn *rnn, int steps, struct plm_dnn_tensor *const *x)
{
    if (steps < 1 || !x || !read_tensor(c, rnn, x[0]))
        return false;
    c->x.steps = steps;
    for (int i = 0; i < steps; i++)
        c->rows += x[i] ? x[i]->size[0] : 0;
    return true;
}

static int not_set(void)
{
    return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the recurrent network or its data was not set");
}

PLM_API int cudnnGetRNNWorkspaceSize(U handle, const struct plm_dnn_rnn *rnn, int steps,
                                     struct plm_dnn_tensor *const *x, size_t *bytes)
{
    struct call c;
    if (!bytes || !read_steps(&c, rnn, steps, x))
        return not_set();
    plm_dnn_rnn_space(&c.rnn, &c.x, true, bytes, NULL);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetRNNTrainingReserveSize(U handle, const struct plm_dnn_rnn *rnn, int steps,
                                           struct plm_dnn_tensor *const *x, size_t *bytes)
{
    struct call c;
    if (!bytes || !read_steps(&c, rnn, steps, x))
        return not_set();
    plm_dnn_rnn_space(&c.rnn, &c.x, true, NULL, bytes);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetRNNParamsSize(U handle, const struct plm_dnn_rnn *rnn, const struct plm_dnn_tensor *x,
                                  size_t *bytes, int type)
{
    struct call c;
    if (!bytes || !read_tensor(&c, rnn, x))
        return not_set();
    c.rnn.type = type;
    *bytes = plm_dnn_rnn_weight_bytes(&c.rnn);
    return PLM_DNN_OK;
}

/* A block that does not exist has no dimensions and no address. */
static int describe(const struct plm_dnn_rnn *rnn, const struct plm_dnn_rnn_block *b, const void *weights,
                    struct plm_dnn_filter *filter, void **address)
{
    if (!filter || !address)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the filter or the address of the weights is NULL");
    *filter = (struct plm_dnn_filter){rnn->type, PLM_DNN_NCHW, b->rows ? 3 : 0, {1, b->rows, b->columns}};
    *address = b->rows ? (void *)((uintptr_t)weights + plm_dnn_bytes(rnn->type, b->offset)) : NULL;
    return PLM_DNN_OK;
}

PLM_API int cudnnGetRNNLinLayerMatrixParams(U handle, const struct plm_dnn_rnn *rnn, int layer,
                                            const struct plm_dnn_tensor *x, U weights_filter, const void *weights,
                                            int id, struct plm_dnn_filter *filter, void **address)
{
    struct plm_dnn_rnn_block matrix, bias;
    struct call c;
    if (!read_tensor(&c, rnn, x))
        return not_set();
    if (plm_dnn_rnn_blocks(&c.rnn, layer, id, &matrix, &bias))
        return PLM_DNN_BAD_PARAM;
    return describe(&c.rnn, &matrix, weights, filter, address);
}

PLM_API int cudnnGetRNNLinLayerBiasParams(U handle, const struct plm_dnn_rnn *rnn, int layer,
                                          const struct plm_dnn_tensor *x, U weights_filter, const void *weights, int id,
                                          struct plm_dnn_filter *filter, void **address)
{
    struct plm_dnn_rnn_block matrix, bias;
    struct call c;
    if (!read_tensor(&c, rnn, x))
        return not_set();
    if (plm_dnn_rnn_blocks(&c.rnn, layer, id, &matrix, &bias))
        return PLM_DNN_BAD_PARAM;
    return describe(&c.rnn, &bias, weights, filter, address);
}

static int execute(const struct plm_dnn_handle *handle, enum plm_rnn_call op, const struct plm_dnn_rnn *rnn, int steps,
                   struct plm_dnn_tensor *const *x, struct plm_dnn_rnn_spaces s)
{
    struct call c;
    return read_steps(&c, rnn, steps, x) ? plm_dnn_rnn_execute(handle, op, &c.rnn, &c.x, c.rows, s) : not_set();
}

PLM_API int cudnnRNNForwardInference(const struct plm_dnn_handle *handle, const struct plm_dnn_rnn *rnn, int steps,
                                     struct plm_dnn_tensor *const *x, U x_data, U h, U hx, U c, U cx, U w, U weights,
                                     U y, U y_data, U hy_desc, U hy, U cy_desc, U cy, void *work, size_t work_bytes)
{
    return execute(handle, PLM_RNN_INFERENCE, rnn, steps, x, (struct plm_dnn_rnn_spaces){work_bytes, work, 0, NULL});
}

PLM_API int cudnnRNNForwardTraining(const struct plm_dnn_handle *handle, const struct plm_dnn_rnn *rnn, int steps,
                                    struct plm_dnn_tensor *const *x, U x_data, U h, U hx, U c, U cx, U w, U weights,
                                    U y, U y_data, U hy_desc, U hy, U cy_desc, U cy, void *work, size_t work_bytes,
                                    void *reserve, size_t reserve_bytes)
{
    return execute(handle, PLM_RNN_TRAINING, rnn, steps, x,
                   (struct plm_dnn_rnn_spaces){work_bytes, work, reserve_bytes, reserve});
}

PLM_API int cudnnRNNBackwardData(const struct plm_dnn_handle *handle, const struct plm_dnn_rnn *rnn, int steps, U y,
                                 U y_data, U dy, U dy_data, U dhy_desc, U dhy, U dcy_desc, U dcy, U w, U weights, U h,
                                 U hx, U c, U cx, struct plm_dnn_tensor *const *dx, U dx_data, U dhx_desc, U dhx,
                                 U dcx_desc, U dcx, void *work, size_t work_bytes, void *reserve, size_t reserve_bytes)
{
    return execute(handle, PLM_RNN_BACKWARD_DATA, rnn, steps, dx,
                   (struct plm_dnn_rnn_spaces){work_bytes, work, reserve_bytes, reserve});
}

PLM_API int cudnnRNNBackwardWeights(const struct plm_dnn_handle *handle, const struct plm_dnn_rnn *rnn, int steps,
                                    struct plm_dnn_tensor *const *x, U x_data, U h, U hx, U y, U y_data, void *work,
                                    size_t work_bytes, U dw, U dw_data, void *reserve, size_t reserve_bytes)
{
    return execute(handle, PLM_RNN_BACKWARD_WEIGHTS, rnn, steps, x,
                   (struct plm_dnn_rnn_spaces){work_bytes, work, reserve_bytes, reserve});
}
