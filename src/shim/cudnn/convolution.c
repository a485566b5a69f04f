/* Convolution descriptors and the shapes that follow from them. */
#include "shim/cudnn/dnn.h"

#include <stdlib.h>
#include <string.h>

PLM_API int cudnnCreateConvolutionDescriptor(struct plm_dnn_convolution **out)
{
    int status = plm_dnn_create(out, sizeof **out);
    if (status == PLM_DNN_OK)
        (*out)->groups = 1;
    return status;
}

PLM_API int cudnnDestroyConvolutionDescriptor(struct plm_dnn_convolution *conv)
{
    free(conv);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetConvolutionNdDescriptor(struct plm_dnn_convolution *conv, int dims, const int *pad,
                                            const int *stride, const int *dilation, int mode, int compute)
{
    if (!conv || !pad || !stride || !dilation || dims < 1 || dims > PLM_DNN_SPATIAL)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a convolution has 1 to 6 spatial dimensions");
    conv->dims = dims;
    conv->mode = mode;
    conv->compute = compute;
    memcpy(conv->pad, pad, (size_t)dims * sizeof *pad);
    memcpy(conv->stride, stride, (size_t)dims * sizeof *stride);
    memcpy(conv->dilation, dilation, (size_t)dims * sizeof *dilation);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetConvolution2dDescriptor(struct plm_dnn_convolution *conv, int pad_h, int pad_w, int stride_h,
                                            int stride_w, int dilation_h, int dilation_w, int mode, int compute)
{
    const int pad[] = {pad_h, pad_w}, stride[] = {stride_h, stride_w}, dilation[] = {dilation_h, dilation_w};
    return cudnnSetConvolutionNdDescriptor(conv, 2, pad, stride, dilation, mode, compute);
}

PLM_API int cudnnGetConvolutionNdDescriptor(const struct plm_dnn_convolution *conv, int requested, int *dims, int *pad,
                                            int *stride, int *dilation, int *mode, int *compute)
{
    if (!conv || requested < 0)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the convolution descriptor is NULL");
    if (requested > conv->dims)
        requested = conv->dims;
    plm_dnn_put(dims, conv->dims);
    plm_dnn_put_array(pad, conv->pad, requested);
    plm_dnn_put_array(stride, conv->stride, requested);
    plm_dnn_put_array(dilation, conv->dilation, requested);
    plm_dnn_put(mode, conv->mode);
    plm_dnn_put(compute, conv->compute);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetConvolution2dDescriptor(const struct plm_dnn_convolution *conv, int *pad_h, int *pad_w,
                                            int *stride_h, int *stride_w, int *dilation_h, int *dilation_w, int *mode,
                                            int *compute)
{
    if (!conv || conv->dims != 2)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the convolution does not have two spatial dimensions");
    plm_dnn_put(pad_h, conv->pad[0]);
    plm_dnn_put(pad_w, conv->pad[1]);
    plm_dnn_put(stride_h, conv->stride[0]);
    plm_dnn_put(stride_w, conv->stride[1]);
    plm_dnn_put(dilation_h, conv->dilation[0]);
    plm_dnn_put(dilation_w, conv->dilation[1]);
    plm_dnn_put(mode, conv->mode);
    plm_dnn_put(compute, conv->compute);
    return PLM_DNN_OK;
}

/* One int of the descriptor, set or read. */
static int set_field(struct plm_dnn_convolution *conv, size_t offset, int value)
{
    if (!conv)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the convolution descriptor is NULL");
    memcpy((char *)conv + offset, &value, sizeof value);
    return PLM_DNN_OK;
}

static int get_field(const struct plm_dnn_convolution *conv, size_t offset, int *out)
{
    if (!conv || !out)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the convolution descriptor or the value's address is NULL");
    memcpy(out, (const char *)conv + offset, sizeof *out);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetConvolutionMathType(struct plm_dnn_convolution *conv, int math)
{
    return set_field(conv, offsetof(struct plm_dnn_convolution, math), math);
}

PLM_API int cudnnGetConvolutionMathType(const struct plm_dnn_convolution *conv, int *math)
{
    return get_field(conv, offsetof(struct plm_dnn_convolution, math), math);
}

PLM_API int cudnnSetConvolutionGroupCount(struct plm_dnn_convolution *conv, int groups)
{
    if (groups < 1)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a convolution has at least one group");
    return set_field(conv, offsetof(struct plm_dnn_convolution, groups), groups);
}

PLM_API int cudnnGetConvolutionGroupCount(const struct plm_dnn_convolution *conv, int *groups)
{
    return get_field(conv, offsetof(struct plm_dnn_convolution, groups), groups);
}

PLM_API int cudnnSetConvolutionReorderType(struct plm_dnn_convolution *conv, int reorder)
{
    return set_field(conv, offsetof(struct plm_dnn_convolution, reorder), reorder);
}

PLM_API int cudnnGetConvolutionReorderType(const struct plm_dnn_convolution *conv, int *reorder)
{
    return get_field(conv, offsetof(struct plm_dnn_convolution, reorder), reorder);
}

/* `size` has PLM_DNN_DIMS entries; false if the three do not fit together. */
static bool output_size(const struct plm_dnn_convolution *conv, const struct plm_dnn_tensor *input,
                        const struct plm_dnn_filter *filter, int *size)
{
    if (!conv || !input || !filter || input->dims != conv->dims + 2 || filter->dims != input->dims)
        return false;
    size[0] = input->size[0];
    size[1] = filter->size[0];
    for (int i = 0; i < conv->dims; i++) {
        int reach = (filter->size[i + 2] - 1) * conv->dilation[i] + 1;
        if (conv->stride[i] < 1)
            return false;
        size[i + 2] = 1 + (input->size[i + 2] + 2 * conv->pad[i] - reach) / conv->stride[i];
    }
    return true;
}

PLM_API int cudnnGetConvolutionNdForwardOutputDim(const struct plm_dnn_convolution *conv,
                                                  const struct plm_dnn_tensor *input,
                                                  const struct plm_dnn_filter *filter, int dims, int *out)
{
    int size[PLM_DNN_DIMS] = {0};
    if (!out || !output_size(conv, input, filter, size))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "convolution, input and filter do not fit together");
    plm_dnn_put_array(out, size, dims < input->dims ? dims : input->dims);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetConvolution2dForwardOutputDim(const struct plm_dnn_convolution *conv,
                                                  const struct plm_dnn_tensor *input,
                                                  const struct plm_dnn_filter *filter, int *n, int *c, int *h, int *w)
{
    int *const out[] = {n, c, h, w};
    int size[PLM_DNN_DIMS];
    if (!conv || conv->dims != 2 || !output_size(conv, input, filter, size))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "convolution, input and filter do not fit together");
    for (int i = 0; i < 4; i++)
        plm_dnn_put(out[i], size[i]);
    return PLM_DNN_OK;
}
