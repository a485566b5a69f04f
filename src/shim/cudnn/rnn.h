/* The recurrent network's descriptor, shared by the files rnn*.c. */
#ifndef PLM_SHIM_DNN_RNN_H
#define PLM_SHIM_DNN_RNN_H

#include "device/calls.h"
#include "shim/cudnn/dnn.h"
#include "stack/rows.h"

enum plm_dnn_cell { PLM_RNN_RELU = 0, PLM_RNN_TANH = 1, PLM_RNN_LSTM = 2, PLM_RNN_GRU = 3 };

struct plm_dnn_rnn {
    int algorithm, cell, bias, direction, input_mode;
    int type, math_precision, math;
    int input, hidden, projection, layers;
    struct plm_dnn_dropout *dropout; /* the caller's; may be NULL */
    unsigned flags;
    int padding; /* of the older API */
    int clip_mode, clip_nan;
    double clip_low, clip_high;
};

struct plm_dnn_rnn_data {
    int type, layout, steps, batch, vector;
    int *lengths; /* one for each sequence; owned */
    unsigned char fill[8];
};

static inline int plm_dnn_rnn_directions(const struct plm_dnn_rnn *rnn)
{
    return rnn->direction ? 2 : 1;
}

static inline int plm_dnn_rnn_gates(const struct plm_dnn_rnn *rnn)
{
    static const int gates[] = {1, 1, 4, 3};
    return gates[rnn->cell];
}

/* Only an LSTM can project its hidden state to something smaller. */
static inline bool plm_dnn_rnn_projects(const struct plm_dnn_rnn *rnn)
{
    return rnn->cell == PLM_RNN_LSTM && rnn->projection != rnn->hidden;
}

static inline int plm_dnn_rnn_output(const struct plm_dnn_rnn *rnn)
{
    return plm_dnn_rnn_projects(rnn) ? rnn->projection : rnn->hidden;
}

static inline bool plm_dnn_rnn_drops(const struct plm_dnn_rnn *rnn)
{
    return rnn->dropout && rnn->dropout->rate > 0;
}

/* What a stack file knows it by. */
static inline struct plm_rnn_shape plm_dnn_rnn_shape(const struct plm_dnn_rnn *rnn, const struct plm_dnn_rnn_data *x,
                                                     bool training)
{
    return (struct plm_rnn_shape){.cell = rnn->cell,
                                  .type = rnn->type,
                                  .training = training,
                                  .bias = rnn->bias != 0,
                                  .dropout = plm_dnn_rnn_drops(rnn),
                                  .layers = rnn->layers,
                                  .directions = plm_dnn_rnn_directions(rnn),
                                  .input = rnn->input,
                                  .hidden = rnn->hidden,
                                  .output = plm_dnn_rnn_output(rnn),
                                  .steps = x->steps,
                                  .batch = x->batch};
}

/* Elements of all weight matrices, without biases. */
uint64_t plm_dnn_rnn_matrix_elements(const struct plm_dnn_rnn *rnn);

/* Bytes of all weights, biases among them. */
uint64_t plm_dnn_rnn_weight_bytes(const struct plm_dnn_rnn *rnn);

/* A matrix or a bias within the weights. 0 rows: it does not exist. */
struct plm_dnn_rnn_block {
    int rows, columns;
    uint64_t offset; /* elements */
};

/* Those of one gate; a status if there is no such layer or gate. */
int plm_dnn_rnn_blocks(const struct plm_dnn_rnn *rnn, int pseudo_layer, int id, struct plm_dnn_rnn_block *matrix,
                       struct plm_dnn_rnn_block *bias);

/* Both sizes as measured, or as modelled. NULL: not wanted. */
void plm_dnn_rnn_space(const struct plm_dnn_rnn *rnn, const struct plm_dnn_rnn_data *x, bool training, size_t *work,
                       size_t *reserve);

struct plm_dnn_rnn_spaces {
    size_t work_bytes;
    void *work;
    size_t reserve_bytes;
    void *reserve;
};

/* Puts the work on the handle's stream and records it; `rows` are the vectors of all sequences. */
int plm_dnn_rnn_execute(const struct plm_dnn_handle *handle, enum plm_rnn_call op, const struct plm_dnn_rnn *rnn,
                        const struct plm_dnn_rnn_data *x, int64_t rows, struct plm_dnn_rnn_spaces s);

#endif
