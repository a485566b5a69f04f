/* Descriptors of sequence data for attention. */
#include "shim/cudnn/dnn.h"

#include <stdlib.h>
#include <string.h>

enum { AXES = 4 }; /* time, batch, beam, vector */

struct seq_data {
    int type, dims;
    int size[AXES], axis[AXES];
    size_t count;
    int *lengths; /* owned */
    unsigned char fill[8];
};

PLM_API int cudnnCreateSeqDataDescriptor(struct seq_data **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroySeqDataDescriptor(struct seq_data *data)
{
    if (data)
        free(data->lengths);
    free(data);
    return PLM_DNN_OK;
}

/* Sizes are indexed by axis and always four; `dims` of the axes are named in the order of memory. */
PLM_API int cudnnSetSeqDataDescriptor(struct seq_data *data, int type, int dims, const int *size, const int *axes,
                                      size_t count, const int *lengths, const void *fill)
{
    int *copy = NULL;
    if (!data || !size || !axes || dims < 1 || dims > AXES || (count && !lengths) || count > (size_t)INT32_MAX)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the shape of the sequence data is not valid");
    if (count) {
        copy = malloc(count * sizeof *copy);
        if (!copy)
            return plm_dnn_fail(PLM_DNN_NOMEM, "out of host memory");
        memcpy(copy, lengths, count * sizeof *copy);
    }
    free(data->lengths);
    *data = (struct seq_data){.type = type, .dims = dims, .count = count, .lengths = copy};
    memcpy(data->size, size, (size_t)dims * sizeof *size);
    memcpy(data->axis, axes, (size_t)dims * sizeof *axes);
    if (fill)
        memcpy(data->fill, fill, plm_dnn_bytes(type, 1));
    return PLM_DNN_OK;
}

PLM_API int cudnnGetSeqDataDescriptor(const struct seq_data *data, int *type, int *dims, int requested, int *size,
                                      int *axes, size_t *count, size_t lengths_requested, int *lengths, void *fill)
{
    if (!data || requested < 0)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor of the sequence data is NULL");
    if (requested > data->dims)
        requested = data->dims;
    plm_dnn_put(type, data->type);
    plm_dnn_put(dims, data->dims);
    plm_dnn_put_array(size, data->size, requested);
    plm_dnn_put_array(axes, data->axis, requested);
    plm_dnn_put_size(count, data->count);
    plm_dnn_put_array(lengths, data->lengths, (int)(lengths_requested < data->count ? lengths_requested : data->count));
    if (fill)
        memcpy(fill, data->fill, plm_dnn_bytes(data->type, 1));
    return PLM_DNN_OK;
}
