/* CTC loss: the descriptor, its workspace, the costs. */
#include "shim/cudnn/dnn.h"

#include <stdlib.h>

#include "device/device.h"

struct ctc {
    int compute, normalization, gradient, max_label;
};

PLM_API int cudnnCreateCTCLossDescriptor(struct ctc **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroyCTCLossDescriptor(struct ctc *ctc)
{
    free(ctc);
    return PLM_DNN_OK;
}

static int ctc_set(struct ctc *ctc, int compute, int normalization, int gradient, int max_label)
{
    if (!ctc)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the CTC descriptor is NULL");
    *ctc = (struct ctc){compute, normalization, gradient, max_label};
    return PLM_DNN_OK;
}

static int ctc_get(const struct ctc *ctc, int *compute, int *normalization, int *gradient, int *max_label)
{
    if (!ctc)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the CTC descriptor is NULL");
    plm_dnn_put(compute, ctc->compute);
    plm_dnn_put(normalization, ctc->normalization);
    plm_dnn_put(gradient, ctc->gradient);
    plm_dnn_put(max_label, ctc->max_label);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetCTCLossDescriptor(struct ctc *ctc, int compute)
{
    return ctc_set(ctc, compute, 0, 0, 0);
}

PLM_API int cudnnSetCTCLossDescriptorEx(struct ctc *ctc, int compute, int normalization, int gradient)
{
    return ctc_set(ctc, compute, normalization, gradient, 0);
}

PLM_API int cudnnSetCTCLossDescriptor_v8(struct ctc *ctc, int compute, int normalization, int gradient, int max_label)
{
    return ctc_set(ctc, compute, normalization, gradient, max_label);
}

PLM_API int cudnnSetCTCLossDescriptor_v9(struct ctc *ctc, int compute, int normalization, int gradient, int max_label)
{
    return ctc_set(ctc, compute, normalization, gradient, max_label);
}

PLM_API int cudnnGetCTCLossDescriptor(const struct ctc *ctc, int *compute)
{
    return ctc_get(ctc, compute, NULL, NULL, NULL);
}

PLM_API int cudnnGetCTCLossDescriptorEx(const struct ctc *ctc, int *compute, int *normalization, int *gradient)
{
    return ctc_get(ctc, compute, normalization, gradient, NULL);
}

PLM_API int cudnnGetCTCLossDescriptor_v8(const struct ctc *ctc, int *compute, int *normalization, int *gradient,
                                         int *max_label)
{
    return ctc_get(ctc, compute, normalization, gradient, max_label);
}

PLM_API int cudnnGetCTCLossDescriptor_v9(const struct ctc *ctc, int *compute, int *normalization, int *gradient,
                                         int *max_label)
{
    return ctc_get(ctc, compute, normalization, gradient, max_label);
}

/* Modelled: the forward and backward variables over the labels with blanks between them, and the
   normalized probabilities, in single precision. Probabilities have the shape time, batch, alphabet. */
static int workspace(const struct plm_dnn_tensor *probabilities, int max_label, size_t *bytes)
{
    uint64_t steps;
    if (!probabilities || !bytes || probabilities->dims < 3)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "probabilities have three dimensions");
    steps = (uint64_t)probabilities->size[0] * (uint64_t)probabilities->size[1];
    *bytes = steps * (2 * (2 * (uint64_t)max_label + 1) + (uint64_t)probabilities->size[2]) * sizeof(float);
    return PLM_DNN_OK;
}

PLM_API int cudnnGetCTCLossWorkspaceSize(void *handle, const struct plm_dnn_tensor *probabilities,
                                         const struct plm_dnn_tensor *gradients, const int *labels,
                                         const int *label_lengths, const int *input_lengths, int algorithm,
                                         const struct ctc *ctc, size_t *bytes)
{
    int longest = 0;
    (void)handle, (void)gradients, (void)labels, (void)input_lengths, (void)algorithm, (void)ctc;
    for (int i = 0; probabilities && label_lengths && probabilities->dims > 1 && i < probabilities->size[1]; i++)
        if (label_lengths[i] > longest)
            longest = label_lengths[i];
    return workspace(probabilities, longest, bytes);
}

PLM_API int cudnnGetCTCLossWorkspaceSize_v8(void *handle, int algorithm, const struct ctc *ctc,
                                            const struct plm_dnn_tensor *probabilities,
                                            const struct plm_dnn_tensor *gradients, size_t *bytes)
{
    (void)handle, (void)algorithm, (void)gradients;
    return workspace(probabilities, ctc && ctc->max_label > 0 ? ctc->max_label : 0, bytes);
}

/* The costs may be wanted in host memory, so they are written: zeros, one for each sequence. */
static int loss(const struct plm_symbol *symbol, const struct plm_dnn_tensor *probabilities, void *costs)
{
    if (!probabilities || probabilities->dims < 3)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "probabilities have three dimensions");
    if (costs)
        plm_fill(costs, 0, sizeof(float), (size_t)probabilities->size[1]);
    plm_call_launch(symbol);
    return PLM_DNN_OK;
}

PLM_API int cudnnCTCLoss(void *handle, const struct plm_dnn_tensor *probabilities, const void *data, const int *labels,
                         const int *label_lengths, const int *input_lengths, void *costs,
                         const struct plm_dnn_tensor *gradients, void *gradient_data, int algorithm,
                         const struct ctc *ctc, void *space, size_t space_bytes)
{
    static const struct plm_symbol symbol = {"cudnn", "cudnnCTCLoss"};
    (void)handle, (void)data, (void)labels, (void)label_lengths, (void)input_lengths, (void)gradients;
    (void)gradient_data, (void)algorithm, (void)ctc, (void)space, (void)space_bytes;
    return loss(&symbol, probabilities, costs);
}

PLM_API int cudnnCTCLoss_v8(void *handle, int algorithm, const struct ctc *ctc,
                            const struct plm_dnn_tensor *probabilities, const void *data, const int *labels,
                            const int *label_lengths, const int *input_lengths, void *costs,
                            const struct plm_dnn_tensor *gradients, void *gradient_data, size_t space_bytes,
                            void *space)
{
    static const struct plm_symbol symbol = {"cudnn", "cudnnCTCLoss_v8"};
    (void)handle, (void)algorithm, (void)ctc, (void)data, (void)labels, (void)label_lengths, (void)input_lengths;
    (void)gradients, (void)gradient_data, (void)space_bytes, (void)space;
    return loss(&symbol, probabilities, costs);
}
