#include <math.h>
#include <string.h>

#include "time/build.h"

/* ---- types, as NVIDIA's documentation numbers them ---- */

/* cudaDataType: bytes of an element, and what it is computed in. */
static const struct data_type {
    uint8_t cuda, bytes, type;
} data_types[] = {
    {0, 4, PLM_WORK_FP32},  {1, 8, PLM_WORK_FP64}, {2, 2, PLM_WORK_FP16}, {3, 1, PLM_WORK_FP8},
    {14, 2, PLM_WORK_BF16}, {28, 1, PLM_WORK_FP8}, {29, 1, PLM_WORK_FP8}, {10, 4, PLM_WORK_FP32},
};

static struct data_type data_type(uint8_t cuda)
{
    for (size_t i = 0; i < sizeof data_types / sizeof data_types[0]; i++)
        if (data_types[i].cuda == cuda)
            return data_types[i];
    return data_types[0];
}

/* cublasComputeType_t: 70 and 71 are double precision, 68 and 69 single, 77 to 79 single by way of TF32, bf16 or fp16.
   */
static uint8_t gemm_type(const struct plm_ev_gemm *g)
{
    const uint8_t type = data_type(g->type_a).type;
    if (type != PLM_WORK_FP32)
        return type;
    switch (g->compute) {
    case 74: return PLM_WORK_FP16;
    case 75: return PLM_WORK_BF16;
    case 77: return PLM_WORK_TF32;
    default: return PLM_WORK_FP32;
    }
}

/* cudnnDataType_t */
static struct data_type cudnn_type(uint8_t type, bool tf32)
{
    switch (type) {
    case 1: return (struct data_type){0, 8, PLM_WORK_FP64};
    case 2: return (struct data_type){0, 2, PLM_WORK_FP16};
    case 9: return (struct data_type){0, 2, PLM_WORK_BF16};
    default: return (struct data_type){0, 4, tf32 ? PLM_WORK_TF32 : PLM_WORK_FP32};
    }
}

/* ncclDataType_t: bytes. */
static double nccl_bytes(uint8_t type)
{
    static const uint8_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type < sizeof bytes ? bytes[type] : 4;
}

/* ---- calls ---- */

static void gemm_visit(struct plm_build *b, const struct plm_record_event *e, struct plm_work *w)
{
    const struct plm_ev_gemm g = plm_get_gemm(e);
    const double batch = g.batch ? g.batch : 1, m = g.m, n = g.n, k = g.k;
    w->class = PLM_WORK_GEMM;
    w->type = gemm_type(&g);
    w->bytes_per = data_type(g.type_a).bytes;
    w->sized = true;
    w->m = g.m;
    w->n = g.n;
    w->k = g.k;
    w->batch = (uint32_t)batch;
    w->operation = (uint8_t)(g.transpose_a | g.transpose_b << 2);
    w->flops = 2 * m * n * k * batch;
    w->read = (m * k + n * k) * batch * w->bytes_per;
    w->written = m * n * batch * data_type(g.type_d).bytes;
    plm_build_call(b, e, &g.call, w, 0);
}

/* A convolution is a product: each output position is a row. Data gradients turn it round, filter gradients sum over
   all positions. */
static void convolution_visit(struct plm_build *b, const struct plm_record_event *e, struct plm_work *w)
{
    const struct plm_ev_convolution c = plm_get_convolution(e);
    const struct data_type type = cudnn_type(c.data_type, c.tf32);
    const double groups = c.groups ? c.groups : 1, in = c.in_channels / groups, out = c.out_channels / groups;
    double positions = c.batch, pixels = c.batch, taps = 1, stride = 1, m, n, k;
    for (int i = 0; i < c.axes && i < PLM_EV_AXES; i++) {
        positions *= c.axis[i].out;
        pixels *= c.axis[i].in;
        taps *= c.axis[i].filter;
        stride *= c.axis[i].stride ? c.axis[i].stride : 1;
    }
    m = positions, n = out, k = in * taps;
    if (c.operation == PLM_CONVOLUTION_BACKWARD_DATA)
        m = pixels, n = in, k = out * taps / stride;
    else if (c.operation == PLM_CONVOLUTION_BACKWARD_FILTER)
        m = out, n = in * taps, k = positions;
    w->class = in <= 1 && groups > 1 ? PLM_WORK_DEPTHWISE : PLM_WORK_CONVOLUTION;
    w->type = type.type;
    w->bytes_per = type.bytes;
    w->sized = true;
    w->operation = c.operation;
    w->channels_last = c.channels_last;
    w->filter = (uint32_t)taps;
    w->stride = (uint32_t)stride;
    w->m = (uint32_t)fmin(m, UINT32_MAX);
    w->n = (uint32_t)fmin(n, UINT32_MAX);
    w->k = (uint32_t)fmin(ceil(k), UINT32_MAX);
    w->batch = (uint32_t)groups;
    w->flops = 2 * positions * out * in * taps * groups;
    w->input = pixels * c.in_channels * type.bytes;
    w->output = positions * c.out_channels * type.bytes;
    w->read = w->input + out * in * taps * groups * type.bytes;
    w->written = w->output;
    plm_build_call(b, e, &c.call, w, 0);
}

/* Four products of a step's gates for LSTM, three for GRU, one otherwise; the inputs of all steps are one product, the
   states follow each other. */
static void rnn_visit(struct plm_build *b, const struct plm_record_event *e, struct plm_work *w)
{
    const struct plm_ev_rnn r = plm_get_rnn(e);
    const struct data_type type = cudnn_type(r.data_type, false);
    const double gates = r.mode == 2   ? 4
                         : r.mode == 3 ? 3
                                       : 1,
                 hidden = r.hidden_size, directions = r.directions ? r.directions : 1;
    const double inputs = r.input_size + (r.layers > 1 ? (r.layers - 1) * hidden * directions : 0);

    w->class = PLM_WORK_RNN;
    w->type = type.type;
    w->bytes_per = type.bytes;
    w->sized = true;
    w->operation = r.operation;
    w->m = r.batch;
    w->n = (uint32_t)fmin(gates * hidden, UINT32_MAX);
    w->k = r.hidden_size;
    w->batch = (uint32_t)fmin((double)r.steps * r.layers * directions, UINT32_MAX);
    w->flops = 2.0 * r.rows * gates * hidden * directions * (inputs + r.layers * hidden);
    w->read = (gates * hidden * directions * (inputs + r.layers * hidden) + (double)r.rows * r.input_size) * type.bytes;
    w->written = (double)r.rows * hidden * directions * r.layers * type.bytes;
    plm_build_call(b, e, &r.call, w, 0);
}

static void attention_visit(struct plm_build *b, const struct plm_record_event *e, struct plm_work *w)
{
    const struct plm_ev_attention a = plm_get_attention(e);
    const struct data_type type = cudnn_type(a.data_type, true);
    const bool backward = a.operation == PLM_ATTENTION_BACKWARD;
    const double heads = (double)a.batch * a.heads, queries = a.queries, keys = a.keys;
    const double rows = heads * queries * a.head_size, columns = (double)a.batch * a.key_heads * keys * a.head_size;
    w->class = PLM_WORK_ATTENTION;
    w->type = type.type;
    w->bytes_per = type.bytes;
    w->sized = true;
    w->operation = backward;
    w->m = a.queries;
    w->n = a.keys;
    w->k = a.head_size;
    w->batch = (uint32_t)fmin(heads, UINT32_MAX);
    w->flops = (backward ? 5.0 : 2.0) * heads * queries * keys * ((double)a.head_size + a.value_size);
    w->read = ((backward ? 3 : 1) * rows + 2 * columns) * type.bytes;
    w->written = (rows + (backward ? 2 * columns : 0)) * type.bytes;
    plm_build_call(b, e, &a.call, w, 0);
}

static void collective_visit(struct plm_build *b, const struct plm_record_event *e, struct plm_work *w)
{
    const struct plm_ev_collective c = plm_get_collective(e);
    w->class = PLM_WORK_COLLECTIVE;
    w->operation = c.operation;
    w->sized = true;
    w->m = c.ranks;
    w->read = (double)c.count * nccl_bytes(c.data_type);
    w->written = w->read;
    plm_build_call(b, e, &c.call, w, 0);
}

static void copy_visit(struct plm_build *b, const struct plm_record_event *e, struct plm_work *w)
{
    const struct plm_ev_copy c = plm_get_copy(e);
    w->class = PLM_WORK_COPY;
    w->operation = c.operation;
    w->sized = true;
    w->pinned = c.host == PLM_COPY_PINNED;
    w->async = c.async;
    w->read = c.operation == PLM_COPY_FILL ? 0 : (double)c.bytes;
    w->written = (double)c.bytes;
    plm_build_call(b, e, &c.call, w, 0);
}

static void sync_visit(struct plm_build *b, const struct plm_record_event *e, struct plm_work *w)
{
    const struct plm_ev_sync s = plm_get_sync(e);
    w->class = PLM_WORK_WAIT;
    w->operation = (uint8_t)s.operation;
    plm_build_call(b, e, &s.call, w, s.event_stream);
}

void plm_build_library(struct plm_build *b, const struct plm_record_event *e)
{
    struct plm_work work;
    memset(&work, 0, sizeof work);
    switch (e->type) {
    case PLM_EV_GEMM: gemm_visit(b, e, &work); break;
    case PLM_EV_CONVOLUTION: convolution_visit(b, e, &work); break;
    case PLM_EV_RNN: rnn_visit(b, e, &work); break;
    case PLM_EV_ATTENTION: attention_visit(b, e, &work); break;
    case PLM_EV_COLLECTIVE: collective_visit(b, e, &work); break;
    case PLM_EV_COPY: copy_visit(b, e, &work); break;
    case PLM_EV_SYNC: sync_visit(b, e, &work); break;
    default: break;
    }
}
