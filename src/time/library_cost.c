#include <math.h>

#include "time/cost.h"
#include "time/speeds.h"

/* ---- convolutions ---- */

/* One channel per group: no product. Every output is a sum over the taps, which the cores compute from the first-level
   cache. */
static struct plm_cost cost_depthwise(const struct plm_machine *m, const struct plm_work *w)
{
    struct plm_cost cost = plm_cost_stream(m, w, w->read + w->written, 1);
    const double share = w->operation ? m->speeds->depthwise_gradient_efficiency : m->speeds->depthwise_efficiency;
    const double compute = w->flops / (m->peak[PLM_WORK_FP32] * share);
    if (compute > cost.ns) {
        cost.ns = compute;
        cost.bound = PLM_BOUND_COMPUTE;
    }
    return cost;
}

/* Tensor cores want the channels last. Where the program has them first, the data is turned round before and after. */
static double turning_ns(const struct plm_machine *m, const struct plm_work *w)
{
    double moved;
    if (w->channels_last || !m->tensor[w->type])
        return 0;
    moved = w->input + w->output;
    return fmax(plm_cost_bytes(m, 2 * moved, 0, 1), moved / w->bytes_per * m->speeds->turning_ops / m->issue) *
           m->speeds->conv_turning;
}

struct plm_cost plm_cost_convolution(const struct plm_machine *m, const struct plm_work *w)
{
    const struct plm_speeds *s = m->speeds;
    struct plm_product p = {w->m, w->n, w->k, w->batch, (enum plm_work_type)w->type, 1, w->read + w->written};
    struct plm_cost cost;
    if (w->class == PLM_WORK_DEPTHWISE)
        return cost_depthwise(m, w);
    p.efficiency = w->operation == PLM_CONVOLUTION_FORWARD ? s->conv_efficiency : s->conv_gradient_efficiency;
    if (w->batch > 1)
        p.efficiency *= s->group_efficiency;
    if (!m->tensor[w->type] && w->filter == 9 && w->stride == 1 && w->batch == 1)
        p.efficiency *= s->winograd_gain;
    cost = plm_cost_product(m, &p);
    cost.ns += turning_ns(m, w);
    return cost;
}

/* ---- attention: both products and the softmax between them in one kernel, in tiles of 128 queries ---- */

struct plm_cost plm_cost_attention(const struct plm_machine *m, const struct plm_work *w)
{
    const struct plm_speeds *s = m->speeds;
    const double share = w->operation ? s->attention_gradient_efficiency : s->attention_efficiency;
    const double rows = ceil(w->m / 64.0) * 64, columns = ceil(w->n / 64.0) * 64, head = ceil(w->k / 32.0) * 32;
    const double exact = (double)w->m * w->n * fmax(w->k, 1),
                 padded = w->flops * (exact > 0 ? rows * columns * head / exact : 1);
    const double blocks = ceil(w->m / 128.0) * w->batch, rounds = ceil(blocks / m->sms) * m->sms / fmax(blocks, 1);
    const double rate = m->peak[w->type] * s->tensor_efficiency * share;
    const double compute = padded / rate * fmin(rounds, 8);
    const double memory = plm_cost_bytes(m, w->read + w->written, 0, 1), start = s->floor_us * 1e3;
    struct plm_cost cost = {.ns = start + fmax(compute, memory), .known = w->sized};
    cost.bound = compute > memory ? PLM_BOUND_COMPUTE : memory > start ? PLM_BOUND_BANDWIDTH : PLM_BOUND_LAUNCHES;
    cost.activity[PLM_METRIC_SMACT] = (float)fmin(1, blocks / m->sms);
    cost.activity[PLM_METRIC_SMOCC] = (float)(fmin(1, blocks / m->sms) * 8 / m->warps);
    cost.activity[PLM_METRIC_TENSO] = (float)fmin(1, padded / m->peak[w->type] / cost.ns);
    cost.activity[PLM_METRIC_DRAMA] = (float)fmin(1, memory * s->memory_efficiency / cost.ns);
    return cost;
}

/* ---- recurrent networks: the inputs of all steps in one product, then a small product per step ---- */

struct plm_cost plm_cost_rnn(const struct plm_machine *m, const struct plm_work *w)
{
    const double backward = w->operation == PLM_RNN_BACKWARD_DATA || w->operation == PLM_RNN_BACKWARD_WEIGHTS ? 1.2 : 1;
    const struct plm_product step = {
        w->m, w->n, w->k, 1, (enum plm_work_type)w->type, 1, (double)w->n * w->k * w->bytes_per};
    const double steps_flops = 2.0 * w->m * w->n * w->k * w->batch, rest = fmax(0, w->flops - steps_flops);
    const double rate =
        m->peak[w->type] * (m->tensor[w->type] ? m->speeds->tensor_efficiency : m->speeds->simt_efficiency);
    struct plm_cost cost = plm_cost_product(m, &step);
    /* The sum over all steps is one product for the gradient of the weights. */
    const double one_by_one =
        w->operation == PLM_RNN_BACKWARD_WEIGHTS ? cost.ns + steps_flops / rate : cost.ns * w->batch;
    cost.ns = one_by_one * backward + rest / rate;
    return cost;
}

/* ---- between memories and cards ---- */

struct plm_cost plm_cost_copy(const struct plm_machine *m, const struct plm_work *w)
{
    const struct plm_speeds *s = m->speeds;
    const double start = s->floor_us * 1e3;
    struct plm_cost cost = {.ns = start, .bound = PLM_BOUND_COPIES, .known = true};
    cost.activity[PLM_METRIC_GPUTL] = 1;
    switch (w->operation) {
    case PLM_COPY_HOST_TO_DEVICE:
    case PLM_COPY_DEVICE_TO_HOST: {
        const double pinned = m->host_link * s->pcie_efficiency;
        const double pageable = m->host_link > 0 ? fmin(s->pageable_gbs, pinned) : s->pageable_gbs;
        cost.known = !w->pinned || pinned > 0;
        cost.ns += w->written / (w->pinned && pinned > 0 ? pinned : pageable);
        break;
    }
    case PLM_COPY_PEER:
        cost.known = m->link > 0 || m->host_link > 0;
        if (cost.known)
            cost.ns +=
                w->written / ((m->link > 0 ? m->link * s->collective_efficiency : m->host_link * s->pcie_efficiency));
        break;
    case PLM_COPY_DEVICE_TO_DEVICE:
    case PLM_COPY_FILL: cost.ns += plm_cost_bytes(m, w->read + w->written, 0, 1); break;
    default: cost.ns = 0; break; /* of the host alone */
    }
    return cost;
}

/* NCCL's rings: what each rank sends, as a multiple of what it contributes, and in how many steps. */
struct plm_cost plm_cost_collective(const struct plm_machine *m, const struct plm_work *w)
{
    const double ranks = w->m > 1 ? w->m : 1, others = ranks - 1;
    const double link = m->link > 0 ? m->link : m->host_link;
    double sent = 1, steps = 1;
    struct plm_cost cost = {.ns = m->speeds->floor_us * 1e3, .bound = PLM_BOUND_COMMUNICATION, .known = link > 0};
    switch (w->operation) {
    case PLM_COLLECTIVE_ALL_REDUCE: sent = 2 * others / ranks, steps = 2 * others; break;
    case PLM_COLLECTIVE_REDUCE_SCATTER:
    case PLM_COLLECTIVE_ALL_GATHER:
    case PLM_COLLECTIVE_ALL_TO_ALL: sent = others, steps = others; break; /* counted in one rank's part */
    case PLM_COLLECTIVE_GATHER:
    case PLM_COLLECTIVE_SCATTER: sent = others, steps = 1; break;
    case PLM_COLLECTIVE_REDUCE:
    case PLM_COLLECTIVE_BROADCAST: sent = 1, steps = others; break;
    default: break; /* send and receive */
    }
    cost.activity[PLM_METRIC_GPUTL] = cost.activity[PLM_METRIC_GRACT] = 1;
    cost.activity[PLM_METRIC_SMACT] = (float)fmin(1, 16 / m->sms); /* a block for each of its channels */
    if (cost.known && ranks > 1)
        cost.ns +=
            steps * m->speeds->collective_latency_us * 1e3 + sent * w->read / (link * m->speeds->collective_efficiency);
    return cost;
}
