/* Dropout: the descriptor, the generators' states and the mask. */
#include "shim/cudnn/dnn.h"

#include <stdlib.h>

/* Five words of the xorshift generator and its counter. */
enum { GENERATOR_BYTES = 6 * 4 };

PLM_API int cudnnCreateDropoutDescriptor(struct plm_dnn_dropout **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroyDropoutDescriptor(struct plm_dnn_dropout *dropout)
{
    free(dropout);
    return PLM_DNN_OK;
}

/* Modelled: one XORWOW generator for each thread that can be resident on the device. */
PLM_API int cudnnDropoutGetStatesSize(void *handle, size_t *bytes)
{
    (void)handle;
    if (!bytes)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the size's address is NULL");
    *bytes = (size_t)plm_dnn_threads() * GENERATOR_BYTES;
    return PLM_DNN_OK;
}

/* The mask has one bit for each element. */
PLM_API int cudnnDropoutGetReserveSpaceSize(const struct plm_dnn_tensor *x, size_t *bytes)
{
    if (!x || !bytes)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the tensor descriptor or the size's address is NULL");
    *bytes = (plm_dnn_tensor_elements(x) + 7) / 8;
    return PLM_DNN_OK;
}

static int dropout_set(struct plm_dnn_dropout *dropout, float rate, void *states, size_t bytes, unsigned long long seed)
{
    if (!dropout)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the dropout descriptor is NULL");
    *dropout = (struct plm_dnn_dropout){rate, states, bytes, seed};
    return PLM_DNN_OK;
}

/* Seeds the generators on the device when there are any: NULL states keep what they hold. */
PLM_API int cudnnSetDropoutDescriptor(struct plm_dnn_dropout *dropout, void *handle, float rate, void *states,
                                      size_t bytes, unsigned long long seed)
{
    static const struct plm_symbol symbol = {"cudnn", "cudnnSetDropoutDescriptor"};
    (void)handle;
    if (dropout && states)
        plm_call_launch(&symbol);
    return dropout_set(dropout, rate, states, bytes, seed);
}

PLM_API int cudnnRestoreDropoutDescriptor(struct plm_dnn_dropout *dropout, void *handle, float rate, void *states,
                                          size_t bytes, unsigned long long seed)
{
    (void)handle;
    return dropout_set(dropout, rate, states, bytes, seed);
}

PLM_API int cudnnGetDropoutDescriptor(const struct plm_dnn_dropout *dropout, void *handle, float *rate, void **states,
                                      unsigned long long *seed)
{
    (void)handle;
    if (!dropout)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the dropout descriptor is NULL");
    if (rate)
        *rate = dropout->rate;
    if (states)
        *states = dropout->states;
    if (seed)
        *seed = dropout->seed;
    return PLM_DNN_OK;
}
