/*
 * Calls of the older convolution API, and how a convolution is recorded. Pure but for the record; any thread.
 */
#ifndef PLM_CONV_CALL_H
#define PLM_CONV_CALL_H

#include "shim/cudnn/conv_workspace.h"
#include "shim/cudnn/dnn.h"

struct plm_stream;

/* What a convolution call names, whatever the order of its arguments. */
struct plm_dnn_conv_call {
    enum plm_conv_op op;
    const struct plm_dnn_tensor *x, *y;
    const struct plm_dnn_filter *w;
    const struct plm_dnn_convolution *conv;
};

/* False if the descriptors do not fit together. */
bool plm_dnn_conv_shape(const struct plm_dnn_conv_call *call, struct plm_conv_shape *shape);

void plm_dnn_conv_record(const struct plm_conv_shape *shape, uint64_t workspace, struct plm_stream *stream, bool run);

#endif
