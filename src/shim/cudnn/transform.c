/* Tensor transforms: padding and folding of spatial dimensions into channels. */
#include "shim/cudnn/dnn.h"

#include <stdlib.h>

enum { FOLD = 0 };

PLM_API int cudnnCreateTensorTransformDescriptor(struct plm_dnn_transform **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroyTensorTransformDescriptor(struct plm_dnn_transform *transform)
{
    free(transform);
    return PLM_DNN_OK;
}

/* NULL arrays mean no padding and no folding. */
PLM_API int cudnnSetTensorTransformDescriptor(struct plm_dnn_transform *transform, uint32_t dims, int format,
                                              const int32_t *before, const int32_t *after, const uint32_t *fold,
                                              int direction)
{
    if (!transform || dims < 2 || dims > PLM_DNN_DIMS)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a transform has 2 to 8 dimensions");
    transform->dims = (int)dims;
    transform->format = format;
    transform->direction = direction;
    for (uint32_t i = 0; i < dims; i++) {
        transform->pad_before[i] = before ? before[i] : 0;
        transform->pad_after[i] = after ? after[i] : 0;
    }
    for (uint32_t i = 0; i < dims - 2; i++)
        transform->fold[i] = fold && fold[i] ? fold[i] : 1;
    return PLM_DNN_OK;
}

PLM_API int cudnnGetTensorTransformDescriptor(const struct plm_dnn_transform *transform, uint32_t requested,
                                              int *format, int32_t *before, int32_t *after, uint32_t *fold,
                                              int *direction)
{
    int count;
    if (!transform || !transform->dims)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the transform descriptor was not set");
    count = requested < (uint32_t)transform->dims ? (int)requested : transform->dims;
    plm_dnn_put(format, transform->format);
    plm_dnn_put(direction, transform->direction);
    plm_dnn_put_array(before, transform->pad_before, count);
    plm_dnn_put_array(after, transform->pad_after, count);
    for (int i = 0; fold && i < count - 2; i++)
        fold[i] = transform->fold[i];
    return PLM_DNN_OK;
}

/* Folding pads first and then moves blocks of the spatial dimensions into channels; unfolding undoes it. */
PLM_API int cudnnInitTransformDest(const struct plm_dnn_transform *transform, const struct plm_dnn_tensor *source,
                                   struct plm_dnn_tensor *target, size_t *bytes)
{
    int size[PLM_DNN_DIMS];
    if (!transform || !source || !target || source->dims != transform->dims)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the transform and the tensor differ in dimensions");
    for (int i = 0; i < source->dims; i++)
        size[i] = source->size[i] + transform->pad_before[i] + transform->pad_after[i];
    for (int i = 2; i < source->dims; i++) {
        int fold = (int)transform->fold[i - 2];
        if (transform->direction == FOLD) {
            size[i] /= fold;
            size[1] *= fold;
        } else {
            size[i] = source->size[i] * fold + transform->pad_before[i] + transform->pad_after[i];
            size[1] /= fold;
        }
    }
    if (!plm_dnn_tensor_packed(target, source->type, transform->format, source->dims, size))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a tensor has 1 to 8 dimensions");
    plm_dnn_put_size(bytes, plm_dnn_bytes(target->type, plm_dnn_tensor_elements(target)));
    return PLM_DNN_OK;
}
