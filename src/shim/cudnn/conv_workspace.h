/*
 * The workspace of a convolution, modelled from its shape. Pure: no state but one setting of the
 * process, any thread, never fails. A table of measured sizes may be put in front of the model later;
 * what the model gives is approximate.
 */
#ifndef PLM_CONV_WORKSPACE_H
#define PLM_CONV_WORKSPACE_H

#include <stdbool.h>
#include <stdint.h>

enum plm_conv_op { PLM_CONV_FORWARD, PLM_CONV_BACKWARD_DATA, PLM_CONV_BACKWARD_FILTER };

enum { PLM_CONV_AXES = 3 }; /* depth, height, width; an axis that is not there has size 1 */

struct plm_conv_shape {
    enum plm_conv_op op;
    int64_t n, c, k; /* batch, input and output channels of all groups */
    int64_t in[PLM_CONV_AXES], filter[PLM_CONV_AXES], out[PLM_CONV_AXES];
    int64_t stride[PLM_CONV_AXES], dilation[PLM_CONV_AXES], pad[PLM_CONV_AXES]; /* pad: before the first element */
    int64_t groups;
    int axes; /* those that are there, the last ones */
    int type; /* enum plm_dnn_type of x */
    int element_bytes;
    bool channels_last;
    bool tf32; /* fp32 may run on tensor cores */
};

/* The model itself, whatever the setting says. */
uint64_t plm_conv_workspace_model(const struct plm_conv_shape *shape);

/* What the shim answers: 0 unless PLIMSOLL_CONV_WORKSPACE=model, which is read once. */
uint64_t plm_conv_workspace(const struct plm_conv_shape *shape);

#endif
