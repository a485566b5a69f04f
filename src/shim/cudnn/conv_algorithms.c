/*
 * Algorithms and workspaces of the older convolution API. One algorithm is offered for each
 * direction, the one that frameworks take as their default; its workspace is the modelled one.
 */
#include "shim/cudnn/dnn.h"

#include <string.h>

#include "shim/cudnn/conv_call.h"

enum { DETERMINISTIC = 1 };

/* Forward: implicit precomputed GEMM; the gradients: algorithm 1. */
enum { ALGORITHM = 1 };

/* One entry of the results array: the public layout, the same for all three directions. */
struct perf {
    int algorithm;
    int status;
    float milliseconds; /* -1: not measured */
    size_t memory;
    int determinism;
    int math;
    int reserved[3];
};
_Static_assert(sizeof(struct perf) == 48, "layout of the results array");

static int workspace(const struct plm_conv_call *call, size_t *bytes)
{
    struct plm_conv_shape shape;
    if (!bytes || !plm_conv_shape(call, &shape))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptors of the convolution do not fit together");
    *bytes = plm_conv_workspace(&shape);
    return PLM_DNN_OK;
}

static int results(const struct plm_conv_call *call, float milliseconds, int requested, int *returned, struct perf *out)
{
    size_t bytes = 0;
    int status = workspace(call, &bytes);
    if (status != PLM_DNN_OK)
        return status;
    if (!returned || !out || requested < 1)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "no room for a result");
    *returned = 1;
    memset(out, 0, sizeof *out);
    out->algorithm = ALGORITHM;
    out->milliseconds = milliseconds;
    out->memory = bytes;
    out->determinism = DETERMINISTIC;
    out->math = call->conv->math;
    return PLM_DNN_OK;
}

/* Trying an algorithm runs it once; the time is the one that the virtual clock gives a launch. */
static int tried(const struct plm_conv_call *call, int requested, int *returned, struct perf *out)
{
    static const struct plm_symbol searches[] = {
        [PLM_CONV_FORWARD] = {"cudnn", "cudnnFindConvolutionForwardAlgorithm"},
        [PLM_CONV_BACKWARD_DATA] = {"cudnn", "cudnnFindConvolutionBackwardDataAlgorithm"},
        [PLM_CONV_BACKWARD_FILTER] = {"cudnn", "cudnnFindConvolutionBackwardFilterAlgorithm"},
    };
    int status = results(call, 0.005f, requested, returned, out);
    if (status == PLM_DNN_OK)
        plm_call_launch(&searches[call->op]);
    return status;
}

PLM_API int cudnnGetConvolutionForwardWorkspaceSize(void *handle, const struct plm_dnn_tensor *x,
                                                    const struct plm_dnn_filter *w,
                                                    const struct plm_dnn_convolution *conv,
                                                    const struct plm_dnn_tensor *y, int algorithm, size_t *bytes)
{
    (void)handle, (void)algorithm;
    return workspace(&(struct plm_conv_call){PLM_CONV_FORWARD, x, y, w, conv}, bytes);
}

PLM_API int cudnnGetConvolutionBackwardDataWorkspaceSize(void *handle, const struct plm_dnn_filter *w,
                                                         const struct plm_dnn_tensor *dy,
                                                         const struct plm_dnn_convolution *conv,
                                                         const struct plm_dnn_tensor *dx, int algorithm, size_t *bytes)
{
    (void)handle, (void)algorithm;
    return workspace(&(struct plm_conv_call){PLM_CONV_BACKWARD_DATA, dx, dy, w, conv}, bytes);
}

PLM_API int cudnnGetConvolutionBackwardFilterWorkspaceSize(void *handle, const struct plm_dnn_tensor *x,
                                                           const struct plm_dnn_tensor *dy,
                                                           const struct plm_dnn_convolution *conv,
                                                           const struct plm_dnn_filter *dw, int algorithm,
                                                           size_t *bytes)
{
    (void)handle, (void)algorithm;
    return workspace(&(struct plm_conv_call){PLM_CONV_BACKWARD_FILTER, x, dy, dw, conv}, bytes);
}

PLM_API int cudnnGetConvolutionForwardAlgorithm_v7(void *handle, const struct plm_dnn_tensor *x,
                                                   const struct plm_dnn_filter *w,
                                                   const struct plm_dnn_convolution *conv,
                                                   const struct plm_dnn_tensor *y, int requested, int *returned,
                                                   struct perf *out)
{
    (void)handle;
    return results(&(struct plm_conv_call){PLM_CONV_FORWARD, x, y, w, conv}, -1, requested, returned, out);
}

PLM_API int cudnnGetConvolutionBackwardDataAlgorithm_v7(void *handle, const struct plm_dnn_filter *w,
                                                        const struct plm_dnn_tensor *dy,
                                                        const struct plm_dnn_convolution *conv,
                                                        const struct plm_dnn_tensor *dx, int requested, int *returned,
                                                        struct perf *out)
{
    (void)handle;
    return results(&(struct plm_conv_call){PLM_CONV_BACKWARD_DATA, dx, dy, w, conv}, -1, requested, returned, out);
}

PLM_API int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void *handle, const struct plm_dnn_tensor *x,
                                                          const struct plm_dnn_tensor *dy,
                                                          const struct plm_dnn_convolution *conv,
                                                          const struct plm_dnn_filter *dw, int requested, int *returned,
                                                          struct perf *out)
{
    (void)handle;
    return results(&(struct plm_conv_call){PLM_CONV_BACKWARD_FILTER, x, dy, dw, conv}, -1, requested, returned, out);
}

PLM_API int cudnnFindConvolutionForwardAlgorithm(void *handle, const struct plm_dnn_tensor *x,
                                                 const struct plm_dnn_filter *w, const struct plm_dnn_convolution *conv,
                                                 const struct plm_dnn_tensor *y, int requested, int *returned,
                                                 struct perf *out)
{
    (void)handle;
    return tried(&(struct plm_conv_call){PLM_CONV_FORWARD, x, y, w, conv}, requested, returned, out);
}

PLM_API int cudnnFindConvolutionBackwardDataAlgorithm(void *handle, const struct plm_dnn_filter *w,
                                                      const struct plm_dnn_tensor *dy,
                                                      const struct plm_dnn_convolution *conv,
                                                      const struct plm_dnn_tensor *dx, int requested, int *returned,
                                                      struct perf *out)
{
    (void)handle;
    return tried(&(struct plm_conv_call){PLM_CONV_BACKWARD_DATA, dx, dy, w, conv}, requested, returned, out);
}

PLM_API int cudnnFindConvolutionBackwardFilterAlgorithm(void *handle, const struct plm_dnn_tensor *x,
                                                        const struct plm_dnn_tensor *dy,
                                                        const struct plm_dnn_convolution *conv,
                                                        const struct plm_dnn_filter *dw, int requested, int *returned,
                                                        struct perf *out)
{
    (void)handle;
    return tried(&(struct plm_conv_call){PLM_CONV_BACKWARD_FILTER, x, dy, dw, conv}, requested, returned, out);
}

/* The Ex variants bring operands and a workspace, whose size only matters to a real search. */
PLM_API int cudnnFindConvolutionForwardAlgorithmEx(void *handle, const struct plm_dnn_tensor *x, const void *x_data,
                                                   const struct plm_dnn_filter *w, const void *w_data,
                                                   const struct plm_dnn_convolution *conv,
                                                   const struct plm_dnn_tensor *y, void *y_data, int requested,
                                                   int *returned, struct perf *out, void *space, size_t space_bytes)
{
    (void)handle, (void)x_data, (void)w_data, (void)y_data, (void)space, (void)space_bytes;
    return tried(&(struct plm_conv_call){PLM_CONV_FORWARD, x, y, w, conv}, requested, returned, out);
}

PLM_API int cudnnFindConvolutionBackwardDataAlgorithmEx(void *handle, const struct plm_dnn_filter *w,
                                                        const void *w_data, const struct plm_dnn_tensor *dy,
                                                        const void *dy_data, const struct plm_dnn_convolution *conv,
                                                        const struct plm_dnn_tensor *dx, void *dx_data, int requested,
                                                        int *returned, struct perf *out, void *space,
                                                        size_t space_bytes)
{
    (void)handle, (void)w_data, (void)dy_data, (void)dx_data, (void)space, (void)space_bytes;
    return tried(&(struct plm_conv_call){PLM_CONV_BACKWARD_DATA, dx, dy, w, conv}, requested, returned, out);
}

PLM_API int cudnnFindConvolutionBackwardFilterAlgorithmEx(void *handle, const struct plm_dnn_tensor *x,
                                                          const void *x_data, const struct plm_dnn_tensor *dy,
                                                          const void *dy_data, const struct plm_dnn_convolution *conv,
                                                          const struct plm_dnn_filter *dw, void *dw_data, int requested,
                                                          int *returned, struct perf *out, void *space,
                                                          size_t space_bytes)
{
    (void)handle, (void)x_data, (void)dy_data, (void)dw_data, (void)space, (void)space_bytes;
    return tried(&(struct plm_conv_call){PLM_CONV_BACKWARD_FILTER, x, dy, dw, conv}, requested, returned, out);
}
