/* Pooling descriptors. */
#include "shim/cudnn/dnn.h"

#include <stdlib.h>
#include <string.h>

struct pooling {
    int mode, nan, dims; /* spatial dimensions */
    int window[PLM_DNN_SPATIAL], pad[PLM_DNN_SPATIAL], stride[PLM_DNN_SPATIAL];
};

PLM_API int cudnnCreatePoolingDescriptor(struct pooling **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroyPoolingDescriptor(struct pooling *pooling)
{
    free(pooling);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetPoolingNdDescriptor(struct pooling *pooling, int mode, int nan, int dims, const int *window,
                                        const int *pad, const int *stride)
{
    if (!pooling || !window || !pad || !stride || dims < 1 || dims > PLM_DNN_SPATIAL)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "pooling has 1 to 6 spatial dimensions");
    pooling->mode = mode;
    pooling->nan = nan;
    pooling->dims = dims;
    memcpy(pooling->window, window, (size_t)dims * sizeof *window);
    memcpy(pooling->pad, pad, (size_t)dims * sizeof *pad);
    memcpy(pooling->stride, stride, (size_t)dims * sizeof *stride);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetPooling2dDescriptor(struct pooling *pooling, int mode, int nan, int window_h, int window_w,
                                        int pad_h, int pad_w, int stride_h, int stride_w)
{
    const int window[] = {window_h, window_w}, pad[] = {pad_h, pad_w}, stride[] = {stride_h, stride_w};
    return cudnnSetPoolingNdDescriptor(pooling, mode, nan, 2, window, pad, stride);
}

PLM_API int cudnnGetPoolingNdDescriptor(const struct pooling *pooling, int requested, int *mode, int *nan, int *dims,
                                        int *window, int *pad, int *stride)
{
    if (!pooling || requested < 0)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the pooling descriptor is NULL");
    if (requested > pooling->dims)
        requested = pooling->dims;
    plm_dnn_put(mode, pooling->mode);
    plm_dnn_put(nan, pooling->nan);
    plm_dnn_put(dims, pooling->dims);
    plm_dnn_put_array(window, pooling->window, requested);
    plm_dnn_put_array(pad, pooling->pad, requested);
    plm_dnn_put_array(stride, pooling->stride, requested);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetPooling2dDescriptor(const struct pooling *pooling, int *mode, int *nan, int *window_h,
                                        int *window_w, int *pad_h, int *pad_w, int *stride_h, int *stride_w)
{
    if (!pooling || pooling->dims != 2)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the pooling does not have two spatial dimensions");
    plm_dnn_put(mode, pooling->mode);
    plm_dnn_put(nan, pooling->nan);
    plm_dnn_put(window_h, pooling->window[0]);
    plm_dnn_put(window_w, pooling->window[1]);
    plm_dnn_put(pad_h, pooling->pad[0]);
    plm_dnn_put(pad_w, pooling->pad[1]);
    plm_dnn_put(stride_h, pooling->stride[0]);
    plm_dnn_put(stride_w, pooling->stride[1]);
    return PLM_DNN_OK;
}

static bool output_size(const struct pooling *pooling, const struct plm_dnn_tensor *input, int *size)
{
    if (!pooling || !input || input->dims != pooling->dims + 2)
        return false;
    size[0] = input->size[0];
    size[1] = input->size[1];
    for (int i = 0; i < pooling->dims; i++) {
        if (pooling->stride[i] < 1)
            return false;
        size[i + 2] = 1 + (input->size[i + 2] + 2 * pooling->pad[i] - pooling->window[i]) / pooling->stride[i];
    }
    return true;
}

PLM_API int cudnnGetPoolingNdForwardOutputDim(const struct pooling *pooling, const struct plm_dnn_tensor *input,
                                              int dims, int *out)
{
    int size[PLM_DNN_DIMS] = {0};
    if (!out || !output_size(pooling, input, size))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "pooling and input do not fit together");
    plm_dnn_put_array(out, size, dims < input->dims ? dims : input->dims);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetPooling2dForwardOutputDim(const struct pooling *pooling, const struct plm_dnn_tensor *input, int *n,
                                              int *c, int *h, int *w)
{
    int *const out[] = {n, c, h, w};
    int size[PLM_DNN_DIMS];
    if (!pooling || pooling->dims != 2 || !output_size(pooling, input, size))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "pooling and input do not fit together");
    for (int i = 0; i < 4; i++)
        plm_dnn_put(out[i], size[i]);
    return PLM_DNN_OK;
}
