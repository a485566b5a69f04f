/* The strided data gradient rewritten as one of stride 1: strides are folded into channels. */
#include "shim/cudnn/dnn.h"

#include <string.h>

enum { FOLD = 0, UNFOLD = 1 };

struct folding {
    const struct plm_dnn_filter *filter;
    const struct plm_dnn_tensor *diff, *grad;
    const struct plm_dnn_convolution *conv;
    int format;
};

static int round_up(int value, int step)
{
    return (value + step - 1) / step;
}

/* The gradient covers (output + folded filter - 1) blocks of `stride` elements on each axis. */
static int grad_blocks(const struct folding *f, int axis)
{
    return f->diff->size[axis + 2] + round_up(f->filter->size[axis + 2], f->conv->stride[axis]) - 1;
}

static void base_transform(const struct folding *f, int direction, struct plm_dnn_transform *out)
{
    memset(out, 0, sizeof *out);
    out->dims = f->grad->dims;
    out->format = f->format;
    out->direction = direction;
    for (int i = 0; i < f->conv->dims; i++)
        out->fold[i] = direction == FOLD ? (unsigned)f->conv->stride[i] : 1u;
}

static void fill_transforms(const struct folding *f, struct plm_dnn_transform *filter_fold,
                            struct plm_dnn_transform *diff_pad, struct plm_dnn_transform *grad_fold,
                            struct plm_dnn_transform *grad_unfold)
{
    base_transform(f, FOLD, filter_fold);
    base_transform(f, UNFOLD, diff_pad); /* no folding: the output gradient is used as it is */
    diff_pad->direction = FOLD;
    base_transform(f, FOLD, grad_fold);
    base_transform(f, UNFOLD, grad_unfold);
    for (int i = 0; i < f->conv->dims; i++) {
        const int stride = f->conv->stride[i], taps = f->filter->size[i + 2];
        const int padded = grad_blocks(f, i) * stride;
        filter_fold->pad_after[i + 2] = round_up(taps, stride) * stride - taps;
        grad_fold->pad_before[i + 2] = f->conv->pad[i];
        grad_fold->pad_after[i + 2] = padded - f->grad->size[i + 2] - f->conv->pad[i];
        grad_unfold->fold[i] = (unsigned)stride;
        grad_unfold->pad_before[i + 2] = -grad_fold->pad_before[i + 2];
        grad_unfold->pad_after[i + 2] = -grad_fold->pad_after[i + 2];
    }
}

static void fill_shapes(const struct folding *f, struct plm_dnn_filter *filter, struct plm_dnn_tensor *diff,
                        struct plm_dnn_convolution *conv, struct plm_dnn_tensor *grad)
{
    int size[PLM_DNN_DIMS];
    plm_dnn_tensor_packed(diff, f->diff->type, f->format, f->diff->dims, f->diff->size);
    memcpy(size, f->grad->size, sizeof size);
    *filter = *f->filter;
    filter->format = f->format;
    *conv = *f->conv;
    for (int i = 0; i < f->conv->dims; i++) {
        filter->size[i + 2] = round_up(f->filter->size[i + 2], f->conv->stride[i]);
        filter->size[1] *= f->conv->stride[i];
        size[i + 2] = grad_blocks(f, i);
        size[1] *= f->conv->stride[i];
        conv->pad[i] = 0;
        conv->stride[i] = 1;
    }
    plm_dnn_tensor_packed(grad, f->grad->type, f->format, f->grad->dims, size);
}

PLM_API int cudnnGetFoldedConvBackwardDataDescriptors(
    void *handle, const struct plm_dnn_filter *filter, const struct plm_dnn_tensor *diff,
    const struct plm_dnn_convolution *conv, const struct plm_dnn_tensor *grad, int format,
    struct plm_dnn_filter *folded_filter, struct plm_dnn_tensor *padded_diff, struct plm_dnn_convolution *folded_conv,
    struct plm_dnn_tensor *folded_grad, struct plm_dnn_transform *filter_fold, struct plm_dnn_transform *diff_pad,
    struct plm_dnn_transform *grad_fold, struct plm_dnn_transform *grad_unfold)
{
    const struct folding f = {filter, diff, grad, conv, format};
    (void)handle;
    if (!filter || !diff || !conv || !grad || !folded_filter || !padded_diff || !folded_conv || !folded_grad ||
        !filter_fold || !diff_pad || !grad_fold || !grad_unfold)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a descriptor is NULL");
    if (grad->dims != conv->dims + 2 || diff->dims != grad->dims || filter->dims != grad->dims)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptors differ in dimensions");
    for (int i = 0; i < conv->dims; i++)
        if (conv->stride[i] < 1 || conv->dilation[i] != 1)
            return plm_dnn_fail(PLM_DNN_NOT_SUPPORTED, "dilated convolutions cannot be folded");
    fill_shapes(&f, folded_filter, padded_diff, folded_conv, folded_grad);
    fill_transforms(&f, filter_fold, diff_pad, grad_fold, grad_unfold);
    return PLM_DNN_OK;
}
