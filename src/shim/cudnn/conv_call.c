/* Convolutions of the older API: nothing is computed, but what was asked for is recorded. */
#include "shim/cudnn/conv_call.h"

#include <stdatomic.h>

#include "device/calls.h"
#include "device/device.h"
#include "device/stream.h"
#include "record/writer.h"

#define U __attribute__((unused)) plm_word

enum { PLM_DNN_FMA = 3 }; /* a math type that rules tensor cores out */

bool plm_dnn_conv_shape(const struct plm_dnn_conv_call *call, struct plm_conv_shape *s)
{
    int first;
    if (!call->x || !call->y || !call->w || !call->conv || call->conv->dims > PLM_CONV_AXES ||
        call->x->dims != call->conv->dims + 2 || call->y->dims != call->x->dims || call->w->dims != call->x->dims)
        return false;
    first = PLM_CONV_AXES - call->conv->dims;
    *s = (struct plm_conv_shape){
        .op = call->op,
        .n = call->x->size[0],
        .c = call->x->size[1],
        .k = call->y->size[1],
        .in = {1, 1, 1},
        .filter = {1, 1, 1},
        .out = {1, 1, 1},
        .stride = {1, 1, 1},
        .dilation = {1, 1, 1},
        .groups = call->conv->groups,
        .axes = call->conv->dims,
        .type = call->x->type,
        .element_bytes = (int)plm_dnn_bytes(call->x->type, 1),
        .channels_last = call->x->size[1] > 1 && call->x->stride[1] == 1,
        .tf32 = call->conv->math != PLM_DNN_FMA && plm_dnn_tf32(),
    };
    for (int i = 0; i < call->conv->dims; i++) {
        s->in[first + i] = call->x->size[i + 2];
        s->out[first + i] = call->y->size[i + 2];
        s->filter[first + i] = call->w->size[i + 2];
        s->stride[first + i] = call->conv->stride[i];
        s->dilation[first + i] = call->conv->dilation[i];
        s->pad[first + i] = call->conv->pad[i];
    }
    return true;
}

_Static_assert((int)PLM_CONV_AXES == (int)PLM_CALL_AXES, "the axes of an event");

void plm_dnn_conv_record(const struct plm_conv_shape *s, uint64_t workspace, struct plm_stream *stream, bool run)
{
    static const char *const notes[PLM_CONV_SOURCES] = {
        [PLM_CONV_SOURCE_TABLE] = "conv-table", [PLM_CONV_SOURCE_FORMULA] = "conv-formula"};
    static atomic_bool noted[PLM_CONV_SOURCES]; /* once for a process, at every level of detail */
    struct plm_dnn_conv_answer answer;
    plm_dnn_conv_answer(s, &answer);
    if (notes[answer.source] && !atomic_exchange_explicit(&noted[answer.source], true, memory_order_relaxed))
        plm_record_note(notes[answer.source], "");
    plm_call_convolution(&(struct plm_call_convolution){(int)s->op, s->type, s->channels_last,
                                                        s->tf32 && s->type == PLM_DNN_FLOAT, s->axes, s->n, s->c, s->k,
                                                        s->groups, s->in, s->out, s->filter, s->stride, s->dilation,
                                                        s->pad, workspace, answer.source, answer.most},
                         stream, run);
}

struct space {
    void *at;
    size_t bytes;
};

static int execute(const struct plm_dnn_handle *handle, const struct plm_dnn_conv_call *call, struct space space)
{
    struct plm_conv_shape shape;
    bool run;
    if (!handle || !plm_dnn_conv_shape(call, &shape))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptors of the convolution do not fit together");
    if (plm_stream_enqueue(handle->stream, PLM_NODE_KERNEL, &run))
        return plm_dnn_fail(PLM_DNN_EXECUTION, "the stream does not take work");
    if (run)
        plm_launch(NULL);
    plm_dnn_conv_record(&shape, space.bytes, handle->stream, run);
    if (space.bytes)
        plm_call_workspace(space.at);
    return PLM_DNN_OK;
}

PLM_API int cudnnConvolutionForward(const struct plm_dnn_handle *handle, U alpha, const struct plm_dnn_tensor *x,
                                    U x_data, const struct plm_dnn_filter *w, U w_data,
                                    const struct plm_dnn_convolution *conv, U algorithm, void *space, size_t bytes,
                                    U beta, const struct plm_dnn_tensor *y)
{
    return execute(handle, &(struct plm_dnn_conv_call){PLM_CONV_FORWARD, x, y, w, conv}, (struct space){space, bytes});
}

PLM_API int cudnnConvolutionBiasActivationForward(const struct plm_dnn_handle *handle, U alpha,
                                                  const struct plm_dnn_tensor *x, U x_data,
                                                  const struct plm_dnn_filter *w, U w_data,
                                                  const struct plm_dnn_convolution *conv, U algorithm, void *space,
                                                  size_t bytes, U alpha2, U z, U z_data, U bias, U bias_data,
                                                  U activation, const struct plm_dnn_tensor *y)
{
    return execute(handle, &(struct plm_dnn_conv_call){PLM_CONV_FORWARD, x, y, w, conv}, (struct space){space, bytes});
}

PLM_API int cudnnConvolutionBackwardData(const struct plm_dnn_handle *handle, U alpha, const struct plm_dnn_filter *w,
                                         U w_data, const struct plm_dnn_tensor *dy, U dy_data,
                                         const struct plm_dnn_convolution *conv, U algorithm, void *space, size_t bytes,
                                         U beta, const struct plm_dnn_tensor *dx)
{
    return execute(handle, &(struct plm_dnn_conv_call){PLM_CONV_BACKWARD_DATA, dx, dy, w, conv},
                   (struct space){space, bytes});
}

PLM_API int cudnnConvolutionBackwardFilter(const struct plm_dnn_handle *handle, U alpha, const struct plm_dnn_tensor *x,
                                           U x_data, const struct plm_dnn_tensor *dy, U dy_data,
                                           const struct plm_dnn_convolution *conv, U algorithm, void *space,
                                           size_t bytes, U beta, const struct plm_dnn_filter *dw)
{
    return execute(handle, &(struct plm_dnn_conv_call){PLM_CONV_BACKWARD_FILTER, x, dy, dw, conv},
                   (struct space){space, bytes});
}
