/* Filter descriptors. */
#include "shim/cudnn/dnn.h"

#include <stdlib.h>
#include <string.h>

PLM_API int cudnnCreateFilterDescriptor(struct plm_dnn_filter **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroyFilterDescriptor(struct plm_dnn_filter *filter)
{
    free(filter);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetFilterNdDescriptor(struct plm_dnn_filter *filter, int type, int format, int dims, const int *size)
{
    if (!filter || !size || dims < 1 || dims > PLM_DNN_DIMS)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a filter has 1 to 8 dimensions");
    filter->type = type;
    filter->format = format;
    filter->dims = dims;
    memcpy(filter->size, size, (size_t)dims * sizeof *size);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetFilter4dDescriptor(struct plm_dnn_filter *filter, int type, int format, int k, int c, int h, int w)
{
    const int size[] = {k, c, h, w};
    return cudnnSetFilterNdDescriptor(filter, type, format, 4, size);
}

PLM_API int cudnnGetFilterNdDescriptor(const struct plm_dnn_filter *filter, int requested, int *type, int *format,
                                       int *dims, int *size)
{
    if (!filter || requested < 0)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the filter descriptor is NULL");
    plm_dnn_put(type, filter->type);
    plm_dnn_put(format, filter->format);
    plm_dnn_put(dims, filter->dims);
    plm_dnn_put_array(size, filter->size, requested < filter->dims ? requested : filter->dims);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetFilter4dDescriptor(const struct plm_dnn_filter *filter, int *type, int *format, int *k, int *c,
                                       int *h, int *w)
{
    int *const size[] = {k, c, h, w};
    if (!filter || filter->dims != 4)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the filter does not have four dimensions");
    plm_dnn_put(type, filter->type);
    plm_dnn_put(format, filter->format);
    for (int i = 0; i < 4; i++)
        plm_dnn_put(size[i], filter->size[i]);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetFilterSizeInBytes(const struct plm_dnn_filter *filter, size_t *bytes)
{
    if (!filter || !bytes)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the filter descriptor or the size's address is NULL");
    *bytes = plm_dnn_bytes(filter->type, plm_dnn_product(filter->size, filter->dims));
    return PLM_DNN_OK;
}
