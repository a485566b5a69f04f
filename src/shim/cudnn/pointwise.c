/* Descriptors of activations, local response normalization and operations on two tensors. */
#include "shim/cudnn/dnn.h"

#include <stdlib.h>

struct activation {
    int mode, nan;
    double coefficient, swish_beta;
};

struct lrn {
    unsigned n;
    double alpha, beta, k;
};

struct op_tensor {
    int op, compute, nan;
};

static void put_double(double *out, double value)
{
    if (out)
        *out = value;
}

PLM_API int cudnnCreateActivationDescriptor(struct activation **out)
{
    int status = plm_dnn_create(out, sizeof **out);
    if (status == PLM_DNN_OK)
        (*out)->swish_beta = 1;
    return status;
}

PLM_API int cudnnDestroyActivationDescriptor(struct activation *activation)
{
    free(activation);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetActivationDescriptor(struct activation *activation, int mode, int nan, double coefficient)
{
    if (!activation)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the activation descriptor is NULL");
    activation->mode = mode;
    activation->nan = nan;
    activation->coefficient = coefficient;
    return PLM_DNN_OK;
}

PLM_API int cudnnGetActivationDescriptor(const struct activation *activation, int *mode, int *nan, double *coefficient)
{
    if (!activation)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the activation descriptor is NULL");
    plm_dnn_put(mode, activation->mode);
    plm_dnn_put(nan, activation->nan);
    put_double(coefficient, activation->coefficient);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetActivationDescriptorSwishBeta(struct activation *activation, double beta)
{
    if (!activation)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the activation descriptor is NULL");
    activation->swish_beta = beta;
    return PLM_DNN_OK;
}

PLM_API int cudnnGetActivationDescriptorSwishBeta(const struct activation *activation, double *beta)
{
    if (!activation)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the activation descriptor is NULL");
    put_double(beta, activation->swish_beta);
    return PLM_DNN_OK;
}

PLM_API int cudnnCreateLRNDescriptor(struct lrn **out)
{
    int status = plm_dnn_create(out, sizeof **out);
    if (status == PLM_DNN_OK)
        **out = (struct lrn){5, 1e-4, 0.75, 2.0}; /* the documented defaults */
    return status;
}

PLM_API int cudnnDestroyLRNDescriptor(struct lrn *lrn)
{
    free(lrn);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetLRNDescriptor(struct lrn *lrn, unsigned n, double alpha, double beta, double k)
{
    if (!lrn)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the normalization descriptor is NULL");
    *lrn = (struct lrn){n, alpha, beta, k};
    return PLM_DNN_OK;
}

PLM_API int cudnnGetLRNDescriptor(const struct lrn *lrn, unsigned *n, double *alpha, double *beta, double *k)
{
    if (!lrn)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the normalization descriptor is NULL");
    if (n)
        *n = lrn->n;
    put_double(alpha, lrn->alpha);
    put_double(beta, lrn->beta);
    put_double(k, lrn->k);
    return PLM_DNN_OK;
}

PLM_API int cudnnCreateOpTensorDescriptor(struct op_tensor **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroyOpTensorDescriptor(struct op_tensor *op)
{
    free(op);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetOpTensorDescriptor(struct op_tensor *op, int kind, int compute, int nan)
{
    if (!op)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the operation's descriptor is NULL");
    *op = (struct op_tensor){kind, compute, nan};
    return PLM_DNN_OK;
}

PLM_API int cudnnGetOpTensorDescriptor(const struct op_tensor *op, int *kind, int *compute, int *nan)
{
    if (!op)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the operation's descriptor is NULL");
    plm_dnn_put(kind, op->op);
    plm_dnn_put(compute, op->compute);
    plm_dnn_put(nan, op->nan);
    return PLM_DNN_OK;
}
