/* Reductions: the descriptor and the buffers they need. */
#include "shim/cudnn/dnn.h"

#include <stdlib.h>

enum { INDICES_FLATTENED = 1 };

struct reduction {
    int op, compute, nan, indices, index_type;
};

static const unsigned char index_bytes[] = {4, 8, 2, 1}; /* 32, 64, 16 and 8 bits, in the API's order */

PLM_API int cudnnCreateReduceTensorDescriptor(struct reduction **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroyReduceTensorDescriptor(struct reduction *reduction)
{
    free(reduction);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetReduceTensorDescriptor(struct reduction *reduction, int op, int compute, int nan, int indices,
                                           int index_type)
{
    if (!reduction || index_type < 0 || index_type > 3)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the reduction descriptor is NULL or its index type unknown");
    *reduction = (struct reduction){op, compute, nan, indices, index_type};
    return PLM_DNN_OK;
}

PLM_API int cudnnGetReduceTensorDescriptor(const struct reduction *reduction, int *op, int *compute, int *nan,
                                           int *indices, int *index_type)
{
    if (!reduction)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the reduction descriptor is NULL");
    plm_dnn_put(op, reduction->op);
    plm_dnn_put(compute, reduction->compute);
    plm_dnn_put(nan, reduction->nan);
    plm_dnn_put(indices, reduction->indices);
    plm_dnn_put(index_type, reduction->index_type);
    return PLM_DNN_OK;
}

/* One index for each element of the result, if indices are wanted. */
PLM_API int cudnnGetReductionIndicesSize(void *handle, const struct reduction *reduction,
                                         const struct plm_dnn_tensor *input, const struct plm_dnn_tensor *result,
                                         size_t *bytes)
{
    (void)handle, (void)input;
    if (!reduction || !result || !bytes)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a descriptor or the size's address is NULL");
    *bytes = reduction->indices == INDICES_FLATTENED
                 ? plm_dnn_tensor_elements(result) * index_bytes[reduction->index_type]
                 : 0;
    return PLM_DNN_OK;
}

/* Modelled: one partial result for each SM, in the type of the computation, but never more than the
   input itself. A reduction that keeps every element needs none. */
PLM_API int cudnnGetReductionWorkspaceSize(void *handle, const struct reduction *reduction,
                                           const struct plm_dnn_tensor *input, const struct plm_dnn_tensor *result,
                                           size_t *bytes)
{
    uint64_t in, partial;
    (void)handle;
    if (!reduction || !input || !result || !bytes)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a descriptor or the size's address is NULL");
    in = plm_dnn_tensor_elements(input);
    partial = plm_dnn_tensor_elements(result) * (uint64_t)plm_dnn_sms();
    if (in == plm_dnn_tensor_elements(result))
        partial = 0;
    *bytes = plm_dnn_bytes(reduction->compute, partial < in ? partial : in);
    return PLM_DNN_OK;
}
