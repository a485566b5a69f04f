/* The recurrent network's descriptor, shared by rnn.c, rnn_weights.c and rnn_space.c. */
#ifndef PLM_SHIM_DNN_RNN_H
#define PLM_SHIM_DNN_RNN_H

#include "shim/cudnn/dnn.h"

enum plm_dnn_cell { PLM_RNN_RELU = 0, PLM_RNN_TANH = 1, PLM_RNN_LSTM = 2, PLM_RNN_GRU = 3 };

struct plm_dnn_rnn {
    int algorithm, cell, bias, direction, input_mode;
    int type, math_precision, math;
    int input, hidden, projection, layers;
    struct plm_dnn_dropout *dropout; /* the caller's; may be NULL */
    unsigned flags;
    int clip_mode, clip_nan;
    double clip_low, clip_high;
};

struct plm_dnn_rnn_data {
    int type, layout, steps, batch, vector;
    int *lengths; /* one for each sequence; owned */
    unsigned char fill[8];
};

static inline int plm_rnn_directions(const struct plm_dnn_rnn *rnn)
{
    return rnn->direction ? 2 : 1;
}

static inline int plm_rnn_gates(const struct plm_dnn_rnn *rnn)
{
    static const int gates[] = {1, 1, 4, 3};
    return gates[rnn->cell];
}

/* Only an LSTM can project its hidden state to something smaller. */
static inline bool plm_rnn_projects(const struct plm_dnn_rnn *rnn)
{
    return rnn->cell == PLM_RNN_LSTM && rnn->projection != rnn->hidden;
}

static inline int plm_rnn_output(const struct plm_dnn_rnn *rnn)
{
    return plm_rnn_projects(rnn) ? rnn->projection : rnn->hidden;
}

/* Elements of all weight matrices, without biases. */
uint64_t plm_rnn_matrix_elements(const struct plm_dnn_rnn *rnn);

#endif
