/* Descriptors of recurrent networks and of their data. */
#include "shim/cudnn/rnn.h"

#include <stdlib.h>
#include <string.h>

PLM_API int cudnnCreateRNNDescriptor(struct plm_dnn_rnn **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroyRNNDescriptor(struct plm_dnn_rnn *rnn)
{
    free(rnn);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetRNNDescriptor_v8(struct plm_dnn_rnn *rnn, int algorithm, int cell, int bias, int direction,
                                     int input_mode, int type, int math_precision, int math, int32_t input,
                                     int32_t hidden, int32_t projection, int32_t layers,
                                     struct plm_dnn_dropout *dropout, uint32_t flags)
{
    if (!rnn || cell < PLM_RNN_RELU || cell > PLM_RNN_GRU || bias < 0 || bias > 3)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "no such cell or bias mode");
    if (input < 0 || hidden < 1 || projection < 1 || projection > hidden || layers < 1)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the sizes of the recurrent network are not valid");
    rnn->algorithm = algorithm;
    rnn->cell = cell;
    rnn->bias = bias;
    rnn->direction = direction;
    rnn->input_mode = input_mode;
    rnn->type = type;
    rnn->math_precision = math_precision;
    rnn->math = math;
    rnn->input = input;
    rnn->hidden = hidden;
    rnn->projection = projection;
    rnn->layers = layers;
    rnn->dropout = dropout;
    rnn->flags = flags;
    return PLM_DNN_OK;
}

PLM_API int cudnnGetRNNDescriptor_v8(const struct plm_dnn_rnn *rnn, int *algorithm, int *cell, int *bias,
                                     int *direction, int *input_mode, int *type, int *math_precision, int *math,
                                     int32_t *input, int32_t *hidden, int32_t *projection, int32_t *layers,
                                     struct plm_dnn_dropout **dropout, uint32_t *flags)
{
    if (!rnn)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor of the recurrent network is NULL");
    plm_dnn_put(algorithm, rnn->algorithm);
    plm_dnn_put(cell, rnn->cell);
    plm_dnn_put(bias, rnn->bias);
    plm_dnn_put(direction, rnn->direction);
    plm_dnn_put(input_mode, rnn->input_mode);
    plm_dnn_put(type, rnn->type);
    plm_dnn_put(math_precision, rnn->math_precision);
    plm_dnn_put(math, rnn->math);
    plm_dnn_put(input, rnn->input);
    plm_dnn_put(hidden, rnn->hidden);
    plm_dnn_put(projection, rnn->projection);
    plm_dnn_put(layers, rnn->layers);
    if (dropout)
        *dropout = rnn->dropout;
    if (flags)
        *flags = rnn->flags;
    return PLM_DNN_OK;
}

static int set_clip(struct plm_dnn_rnn *rnn, int mode, int nan, double low, double high)
{
    if (!rnn)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor of the recurrent network is NULL");
    rnn->clip_mode = mode;
    rnn->clip_nan = nan;
    rnn->clip_low = low;
    rnn->clip_high = high;
    return PLM_DNN_OK;
}

static int get_clip(const struct plm_dnn_rnn *rnn, int *mode, int *nan, double *low, double *high)
{
    if (!rnn)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor of the recurrent network is NULL");
    plm_dnn_put(mode, rnn->clip_mode);
    plm_dnn_put(nan, rnn->clip_nan);
    if (low)
        *low = rnn->clip_low;
    if (high)
        *high = rnn->clip_high;
    return PLM_DNN_OK;
}

PLM_API int cudnnRNNSetClip_v8(struct plm_dnn_rnn *rnn, int mode, int nan, double low, double high)
{
    return set_clip(rnn, mode, nan, low, high);
}

PLM_API int cudnnRNNSetClip_v9(struct plm_dnn_rnn *rnn, int mode, double low, double high)
{
    return set_clip(rnn, mode, 0, low, high);
}

PLM_API int cudnnRNNGetClip_v8(const struct plm_dnn_rnn *rnn, int *mode, int *nan, double *low, double *high)
{
    return get_clip(rnn, mode, nan, low, high);
}

PLM_API int cudnnRNNGetClip_v9(const struct plm_dnn_rnn *rnn, int *mode, double *low, double *high)
{
    return get_clip(rnn, mode, NULL, low, high);
}

PLM_API int cudnnCreateRNNDataDescriptor(struct plm_dnn_rnn_data **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroyRNNDataDescriptor(struct plm_dnn_rnn_data *data)
{
    if (data)
        free(data->lengths);
    free(data);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetRNNDataDescriptor(struct plm_dnn_rnn_data *data, int type, int layout, int steps, int batch,
                                      int vector, const int *lengths, const void *fill)
{
    int *copy;
    if (!data || !lengths || steps < 1 || batch < 1 || vector < 1)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the sizes of the sequence data are not valid");
    copy = realloc(data->lengths, (size_t)batch * sizeof *copy);
    if (!copy)
        return plm_dnn_fail(PLM_DNN_NOMEM, "out of host memory");
    memcpy(copy, lengths, (size_t)batch * sizeof *copy);
    *data = (struct plm_dnn_rnn_data){
        .type = type, .layout = layout, .steps = steps, .batch = batch, .vector = vector, .lengths = copy};
    if (fill)
        memcpy(data->fill, fill, plm_dnn_bytes(type, 1));
    return PLM_DNN_OK;
}

PLM_API int cudnnGetRNNDataDescriptor(const struct plm_dnn_rnn_data *data, int *type, int *layout, int *steps,
                                      int *batch, int *vector, int requested, int *lengths, void *fill)
{
    if (!data || requested < 0)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor of the sequence data is NULL");
    plm_dnn_put(type, data->type);
    plm_dnn_put(layout, data->layout);
    plm_dnn_put(steps, data->steps);
    plm_dnn_put(batch, data->batch);
    plm_dnn_put(vector, data->vector);
    plm_dnn_put_array(lengths, data->lengths, requested < data->batch ? requested : data->batch);
    if (fill)
        memcpy(fill, data->fill, plm_dnn_bytes(data->type, 1));
    return PLM_DNN_OK;
}
