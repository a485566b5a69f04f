/* Tensor descriptors: sizes, strides, bytes. */
#include "shim/cudnn/dnn.h"

#include <stdlib.h>
#include <string.h>

/* Bits of one element by data type. The vectorized 8-bit types count single channels. */
static const unsigned char type_bits[] = {
    [PLM_DNN_FLOAT] = 32,
    [PLM_DNN_DOUBLE] = 64,
    [PLM_DNN_HALF] = 16,
    [3] = 8,
    [4] = 32,
    [5] = 8,
    [6] = 8,
    [7] = 8,
    [8] = 8,
    [PLM_DNN_BFLOAT16] = 16,
    [10] = 64,
    [11] = 8,
    [12] = 8,
    [13] = 8,
    [14] = 32,
    [15] = 8,
    [16] = 4,
};

uint64_t plm_dnn_bytes(int type, uint64_t elements)
{
    if (type < 0 || (size_t)type >= sizeof type_bits)
        return 0;
    return (elements * type_bits[type] + 7) / 8;
}

uint64_t plm_dnn_product(const int *size, int dims)
{
    const uint64_t most = 1ull << 53;
    uint64_t elements = dims > 0;
    for (int i = 0; i < dims; i++) {
        if (size[i] <= 0)
            return 0;
        elements = elements > most / (uint64_t)size[i] ? most : elements * (uint64_t)size[i];
    }
    return elements;
}

uint64_t plm_dnn_tensor_elements(const struct plm_dnn_tensor *tensor)
{
    return tensor ? plm_dnn_product(tensor->size, tensor->dims) : 0;
}

bool plm_dnn_tensor_packed(struct plm_dnn_tensor *tensor, int type, int format, int dims, const int *size)
{
    unsigned stride = 1; /* of a tensor with more than 2^31 elements nobody asks for the last one */
    if (dims < 1 || dims > PLM_DNN_DIMS)
        return false;
    tensor->type = type;
    tensor->dims = dims;
    memcpy(tensor->size, size, (size_t)dims * sizeof *size);
    if (format == PLM_DNN_NHWC && dims > 1) {
        tensor->stride[1] = 1;
        stride = (unsigned)size[1];
    }
    for (int i = dims - 1; i >= 0; i--) {
        if (format == PLM_DNN_NHWC && i == 1)
            continue;
        tensor->stride[i] = (int)stride;
        stride *= (unsigned)size[i];
    }
    return true;
}

PLM_API int cudnnCreateTensorDescriptor(struct plm_dnn_tensor **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroyTensorDescriptor(struct plm_dnn_tensor *tensor)
{
    free(tensor);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetTensor4dDescriptor(struct plm_dnn_tensor *tensor, int format, int type, int n, int c, int h, int w)
{
    const int size[] = {n, c, h, w};
    if (!tensor)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the tensor descriptor is NULL");
    plm_dnn_tensor_packed(tensor, type, format, 4, size);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetTensorNdDescriptor(struct plm_dnn_tensor *tensor, int type, int dims, const int *size,
                                       const int *stride)
{
    if (!tensor || !size || !stride || dims < 1 || dims > PLM_DNN_DIMS)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a tensor has 1 to 8 dimensions with sizes and strides");
    tensor->type = type;
    tensor->dims = dims;
    memcpy(tensor->size, size, (size_t)dims * sizeof *size);
    memcpy(tensor->stride, stride, (size_t)dims * sizeof *stride);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetTensor4dDescriptorEx(struct plm_dnn_tensor *tensor, int type, int n, int c, int h, int w,
                                         int n_stride, int c_stride, int h_stride, int w_stride)
{
    const int size[] = {n, c, h, w}, stride[] = {n_stride, c_stride, h_stride, w_stride};
    return cudnnSetTensorNdDescriptor(tensor, type, 4, size, stride);
}

PLM_API int cudnnSetTensorNdDescriptorEx(struct plm_dnn_tensor *tensor, int format, int type, int dims, const int *size)
{
    if (!tensor || !size || !plm_dnn_tensor_packed(tensor, type, format, dims, size))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a tensor has 1 to 8 dimensions");
    return PLM_DNN_OK;
}

PLM_API int cudnnGetTensor4dDescriptor(const struct plm_dnn_tensor *tensor, int *type, int *n, int *c, int *h, int *w,
                                       int *n_stride, int *c_stride, int *h_stride, int *w_stride)
{
    int *const size[] = {n, c, h, w}, *const stride[] = {n_stride, c_stride, h_stride, w_stride};
    if (!tensor || tensor->dims != 4)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the tensor does not have four dimensions");
    plm_dnn_put(type, tensor->type);
    for (int i = 0; i < 4; i++) {
        plm_dnn_put(size[i], tensor->size[i]);
        plm_dnn_put(stride[i], tensor->stride[i]);
    }
    return PLM_DNN_OK;
}

PLM_API int cudnnGetTensorNdDescriptor(const struct plm_dnn_tensor *tensor, int requested, int *type, int *dims,
                                       int *size, int *stride)
{
    if (!tensor || requested < 0)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the tensor descriptor is NULL");
    if (requested > tensor->dims)
        requested = tensor->dims;
    plm_dnn_put(type, tensor->type);
    plm_dnn_put(dims, tensor->dims);
    plm_dnn_put_array(size, tensor->size, requested);
    plm_dnn_put_array(stride, tensor->stride, requested);
    return PLM_DNN_OK;
}

/* From the first to the last element, gaps of the strides included. */
PLM_API int cudnnGetTensorSizeInBytes(const struct plm_dnn_tensor *tensor, size_t *bytes)
{
    uint64_t last = 0;
    if (!tensor || !bytes)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the tensor descriptor or the size's address is NULL");
    for (int i = 0; i < tensor->dims; i++)
        if (tensor->size[i] > 1)
            last += (uint64_t)(tensor->size[i] - 1) * (uint64_t)llabs(tensor->stride[i]);
    *bytes = plm_dnn_tensor_elements(tensor) ? plm_dnn_bytes(tensor->type, last + 1) : 0;
    return PLM_DNN_OK;
}
