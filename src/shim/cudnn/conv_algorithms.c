/*
 * Algorithms and workspaces of the older convolution API. Two algorithms are offered for each direction: the one that
 * frameworks take as their default, with the workspace of the best plan, and the one with the least workspace.
 */
#include "shim/cudnn/dnn.h"

#include <string.h>

#include "shim/cudnn/conv_call.h"

enum { DETERMINISTIC = 1 };

/* Forward: implicit precomputed GEMM, and implicit GEMM; the gradients: algorithms 1 and 0. */
enum { ALGORITHM = 1, ALGORITHM_SMALL = 0 };

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

static int answer_of(const struct plm_dnn_conv_call *call, struct plm_dnn_conv_answer *answer)
{
    struct plm_conv_shape shape;
    if (!plm_dnn_conv_shape(call, &shape))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptors of the convolution do not fit together");
    plm_dnn_conv_answer(&shape, answer);
    return PLM_DNN_OK;
}

static uint64_t least(const struct plm_dnn_conv_answer *answer)
{
    uint64_t bytes = answer->plan[0];
    for (int i = 1; i < answer->plans; i++)
        bytes = answer->plan[i] < bytes ? answer->plan[i] : bytes;
    return bytes;
}

static int workspace(const struct plm_dnn_conv_call *call, int algorithm, size_t *bytes)
{
    struct plm_dnn_conv_answer answer = {0};
    int status = answer_of(call, &answer);
    if (status != PLM_DNN_OK)
        return status;
    if (!bytes)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the address of the size is NULL");
    *bytes = algorithm == ALGORITHM_SMALL ? least(&answer) : answer.plan[0];
    return PLM_DNN_OK;
}

/* Those whose workspace is at most `room`. */
static int results(const struct plm_dnn_conv_call *call, float milliseconds, uint64_t room, int requested,
                   int *returned, struct perf *out)
{
    struct plm_dnn_conv_answer answer = {0};
    int status = answer_of(call, &answer);
    if (status != PLM_DNN_OK)
        return status;
    if (!returned || !out || requested < 1)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "no room for a result");
    *returned = 0;
    for (int small = 0; small < 2 && *returned < requested; small++) {
        const uint64_t bytes = small ? least(&answer) : answer.plan[0];
        if (bytes > room || (small && *returned && bytes == answer.plan[0]))
            continue;
        out[(*returned)++] = (struct perf){.algorithm = small ? ALGORITHM_SMALL : ALGORITHM,
                                           .milliseconds = milliseconds,
                                           .memory = bytes,
                                           .determinism = DETERMINISTIC,
                                           .math = call->conv->math};
    }
    return *returned ? PLM_DNN_OK : plm_dnn_fail(PLM_DNN_NOT_SUPPORTED, "no algorithm works with so little workspace");
}

/* Trying an algorithm runs it once; the time is the one that the virtual clock gives a launch. */
static int tried(const struct plm_dnn_conv_call *call, uint64_t room, int requested, int *returned, struct perf *out)
{
    static const struct plm_symbol searches[] = {
        [PLM_CONV_FORWARD] = {"cudnn", "cudnnFindConvolutionForwardAlgorithm"},
        [PLM_CONV_BACKWARD_DATA] = {"cudnn", "cudnnFindConvolutionBackwardDataAlgorithm"},
        [PLM_CONV_BACKWARD_FILTER] = {"cudnn", "cudnnFindConvolutionBackwardFilterAlgorithm"},
    };
    int status = results(call, 0.005f, room, requested, returned, out);
    if (status == PLM_DNN_OK)
        plm_call_launch(&searches[call->op]);
    return status;
}

PLM_API int cudnnGetConvolutionForwardWorkspaceSize(void *handle, const struct plm_dnn_tensor *x,
                                                    const struct plm_dnn_filter *w,
                                                    const struct plm_dnn_convolution *conv,
                                                    const struct plm_dnn_tensor *y, int algorithm, size_t *bytes)
{
    (void)handle;
    return workspace(&(struct plm_dnn_conv_call){PLM_CONV_FORWARD, x, y, w, conv}, algorithm, bytes);
}

PLM_API int cudnnGetConvolutionBackwardDataWorkspaceSize(void *handle, const struct plm_dnn_filter *w,
                                                         const struct plm_dnn_tensor *dy,
                                                         const struct plm_dnn_convolution *conv,
                                                         const struct plm_dnn_tensor *dx, int algorithm, size_t *bytes)
{
    (void)handle;
    return workspace(&(struct plm_dnn_conv_call){PLM_CONV_BACKWARD_DATA, dx, dy, w, conv}, algorithm, bytes);
}

PLM_API int cudnnGetConvolutionBackwardFilterWorkspaceSize(void *handle, const struct plm_dnn_tensor *x,
                                                           const struct plm_dnn_tensor *dy,
                                                           const struct plm_dnn_convolution *conv,
                                                           const struct plm_dnn_filter *dw, int algorithm,
                                                           size_t *bytes)
{
    (void)handle;
    return workspace(&(struct plm_dnn_conv_call){PLM_CONV_BACKWARD_FILTER, x, dy, dw, conv}, algorithm, bytes);
}

PLM_API int cudnnGetConvolutionForwardAlgorithm_v7(void *handle, const struct plm_dnn_tensor *x,
                                                   const struct plm_dnn_filter *w,
                                                   const struct plm_dnn_convolution *conv,
                                                   const struct plm_dnn_tensor *y, int requested, int *returned,
                                                   struct perf *out)
{
    (void)handle;
    return results(&(struct plm_dnn_conv_call){PLM_CONV_FORWARD, x, y, w, conv}, -1, UINT64_MAX, requested, returned,
                   out);
}

PLM_API int cudnnGetConvolutionBackwardDataAlgorithm_v7(void *handle, const struct plm_dnn_filter *w,
                                                        const struct plm_dnn_tensor *dy,
                                                        const struct plm_dnn_convolution *conv,
                                                        const struct plm_dnn_tensor *dx, int requested, int *returned,
                                                        struct perf *out)
{
    (void)handle;
    return results(&(struct plm_dnn_conv_call){PLM_CONV_BACKWARD_DATA, dx, dy, w, conv}, -1, UINT64_MAX, requested,
                   returned, out);
}

PLM_API int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void *handle, const struct plm_dnn_tensor *x,
                                                          const struct plm_dnn_tensor *dy,
                                                          const struct plm_dnn_convolution *conv,
                                                          const struct plm_dnn_filter *dw, int requested, int *returned,
                                                          struct perf *out)
{
    (void)handle;
    return results(&(struct plm_dnn_conv_call){PLM_CONV_BACKWARD_FILTER, x, dy, dw, conv}, -1, UINT64_MAX, requested,
                   returned, out);
}

PLM_API int cudnnFindConvolutionForwardAlgorithm(void *handle, const struct plm_dnn_tensor *x,
                                                 const struct plm_dnn_filter *w, const struct plm_dnn_convolution *conv,
                                                 const struct plm_dnn_tensor *y, int requested, int *returned,
                                                 struct perf *out)
{
    (void)handle;
    return tried(&(struct plm_dnn_conv_call){PLM_CONV_FORWARD, x, y, w, conv}, UINT64_MAX, requested, returned, out);
}

PLM_API int cudnnFindConvolutionBackwardDataAlgorithm(void *handle, const struct plm_dnn_filter *w,
                                                      const struct plm_dnn_tensor *dy,
                                                      const struct plm_dnn_convolution *conv,
                                                      const struct plm_dnn_tensor *dx, int requested, int *returned,
                                                      struct perf *out)
{
    (void)handle;
    return tried(&(struct plm_dnn_conv_call){PLM_CONV_BACKWARD_DATA, dx, dy, w, conv}, UINT64_MAX, requested, returned,
                 out);
}

PLM_API int cudnnFindConvolutionBackwardFilterAlgorithm(void *handle, const struct plm_dnn_tensor *x,
                                                        const struct plm_dnn_tensor *dy,
                                                        const struct plm_dnn_convolution *conv,
                                                        const struct plm_dnn_filter *dw, int requested, int *returned,
                                                        struct perf *out)
{
    (void)handle;
    return tried(&(struct plm_dnn_conv_call){PLM_CONV_BACKWARD_FILTER, x, dy, dw, conv}, UINT64_MAX, requested,
                 returned, out);
}

/* The Ex variants bring operands and the workspace that the search may use. */
PLM_API int cudnnFindConvolutionForwardAlgorithmEx(void *handle, const struct plm_dnn_tensor *x, const void *x_data,
                                                   const struct plm_dnn_filter *w, const void *w_data,
                                                   const struct plm_dnn_convolution *conv,
                                                   const struct plm_dnn_tensor *y, void *y_data, int requested,
                                                   int *returned, struct perf *out, void *space, size_t space_bytes)
{
    (void)handle, (void)x_data, (void)w_data, (void)y_data, (void)space;
    return tried(&(struct plm_dnn_conv_call){PLM_CONV_FORWARD, x, y, w, conv}, space_bytes, requested, returned, out);
}

PLM_API int cudnnFindConvolutionBackwardDataAlgorithmEx(void *handle, const struct plm_dnn_filter *w,
                                                        const void *w_data, const struct plm_dnn_tensor *dy,
                                                        const void *dy_data, const struct plm_dnn_convolution *conv,
                                                        const struct plm_dnn_tensor *dx, void *dx_data, int requested,
                                                        int *returned, struct perf *out, void *space,
                                                        size_t space_bytes)
{
    (void)handle, (void)w_data, (void)dy_data, (void)dx_data, (void)space;
    return tried(&(struct plm_dnn_conv_call){PLM_CONV_BACKWARD_DATA, dx, dy, w, conv}, space_bytes, requested, returned,
                 out);
}

PLM_API int cudnnFindConvolutionBackwardFilterAlgorithmEx(void *handle, const struct plm_dnn_tensor *x,
                                                          const void *x_data, const struct plm_dnn_tensor *dy,
                                                          const void *dy_data, const struct plm_dnn_convolution *conv,
                                                          const struct plm_dnn_filter *dw, void *dw_data, int requested,
                                                          int *returned, struct perf *out, void *space,
                                                          size_t space_bytes)
{
    (void)handle, (void)x_data, (void)dy_data, (void)dw_data, (void)space;
    return tried(&(struct plm_dnn_conv_call){PLM_CONV_BACKWARD_FILTER, x, dy, dw, conv}, space_bytes, requested,
                 returned, out);
}
