/* Batch normalization: the shape of its statistics and the buffers it needs. */
#include "shim/cudnn/dnn.h"

enum { PER_ACTIVATION = 0 };  /* the other modes have one value for each channel */
enum { OPS_NORM_ONLY = 0 };   /* the others end in an activation, whose mask backward needs */

/* Statistics are kept at least in single precision. */
static bool derive(struct plm_dnn_tensor *out, const struct plm_dnn_tensor *x, int mode)
{
    int size[PLM_DNN_DIMS];
    if (!out || !x || x->dims < 2)
        return false;
    for (int i = 0; i < x->dims; i++)
        size[i] = i == 0 || (i > 1 && mode != PER_ACTIVATION) ? 1 : x->size[i];
    return plm_dnn_tensor_packed(out, x->type == PLM_DNN_DOUBLE ? PLM_DNN_DOUBLE : PLM_DNN_FLOAT, PLM_DNN_NCHW, x->dims,
                                 size);
}

PLM_API int cudnnDeriveBNTensorDescriptor(struct plm_dnn_tensor *out, const struct plm_dnn_tensor *x, int mode)
{
    if (!derive(out, x, mode))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "statistics cannot be derived from this tensor");
    return PLM_DNN_OK;
}

PLM_API int cudnnDeriveNormTensorDescriptor(struct plm_dnn_tensor *scale_bias, struct plm_dnn_tensor *mean_var,
                                            const struct plm_dnn_tensor *x, int mode, int groups)
{
    (void)groups;
    if (!derive(scale_bias, x, mode) || !derive(mean_var, x, mode))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "statistics cannot be derived from this tensor");
    return PLM_DNN_OK;
}

/* One bit for each element if an activation follows; nothing is known to be kept otherwise. */
static int reserve(const struct plm_dnn_tensor *x, int ops, size_t *bytes)
{
    if (!x || !bytes)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the tensor descriptor or the size's address is NULL");
    *bytes = ops == OPS_NORM_ONLY ? 0 : (plm_dnn_tensor_elements(x) + 7) / 8;
    return PLM_DNN_OK;
}

PLM_API int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void *handle, int mode, int ops,
                                                                 const void *activation, const struct plm_dnn_tensor *x,
                                                                 size_t *bytes)
{
    (void)handle, (void)mode, (void)activation;
    return reserve(x, ops, bytes);
}

PLM_API int cudnnGetNormalizationTrainingReserveSpaceSize(void *handle, int mode, int ops, int algorithm,
                                                          const void *activation, const struct plm_dnn_tensor *x,
                                                          size_t *bytes, int groups)
{
    (void)handle, (void)mode, (void)algorithm, (void)activation, (void)groups;
    return reserve(x, ops, bytes);
}
