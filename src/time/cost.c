#include "time/cost.h"

#include <math.h>
#include <string.h>

#include "common/card.h"
#include "common/error.h"
#include "time/speeds.h"

/* ---- the card ---- */

/* Since Volta four schedulers of a multiprocessor issue an instruction for 32 threads each in a cycle, also where it has
   only 64 units for fp32 (V100, T4, A100): its rate in fp32, two flops for each instruction, is then half of that. */
static double issue_rate(const struct plm_card *card)
{
    const double each = card->fp32_tflops * 1e3 / 2, issued = card->major >= 7 ? 4.0 * 32 * card->sms : 0;
    return card->cuda_cores > 0 ? each * fmax(1, issued / card->cuda_cores) : each;
}

int plm_machine_make(const struct plm_card *card, const struct plm_speeds *speeds, struct plm_machine *m,
                     struct plm_error *error)
{
    const double peaks[PLM_WORK_TYPES] = {
        [PLM_WORK_FP64] = card->fp64_tflops, [PLM_WORK_FP32] = card->fp32_tflops, [PLM_WORK_TF32] = card->tf32_tflops,
        [PLM_WORK_FP16] = card->fp16_tflops, [PLM_WORK_BF16] = card->bf16_tflops, [PLM_WORK_FP8] = card->fp8_tflops,
    };
    const char *lacks = card->bandwidth_gbs <= 0 ? "bandwidth_gbs" : card->fp32_tflops <= 0 ? "fp32_tflops" : NULL;
    if (card->sms <= 0)
        lacks = "sms";
    if (lacks)
        return plm_fail(error, PLM_ENOTFOUND, "the file of %s does not give its %s, so times on it are unknown",
                        card->id, lacks);
    *m = (struct plm_machine){.speeds = speeds, .sms = card->sms};
    m->threads = card->max_threads_per_sm > 0 ? card->max_threads_per_sm : 1024;
    m->warps = m->threads / 32;
    m->blocks = card->max_blocks_per_sm > 0 ? card->max_blocks_per_sm : 16;
    m->shared = card->shared_per_sm > 0 ? card->shared_per_sm : 65536;
    m->bandwidth = card->bandwidth_gbs * speeds->memory_efficiency;
    m->cache_bandwidth = card->bandwidth_gbs * speeds->l2_ratio;
    m->cache = (double)card->l2_bytes * speeds->l2_share;
    m->issue = issue_rate(card);
    m->link = card->nvlink_gbs / 2;
    m->host_link = plm_card_host_gbs(card);
    for (int i = 0; i < PLM_WORK_TYPES; i++) {
        m->tensor[i] = i > PLM_WORK_FP32 && peaks[i] > 0 && card->tensor_cores > 0;
        m->peak[i] = (m->tensor[i] || (i == PLM_WORK_FP64 && peaks[i] > 0) ? peaks[i] : peaks[PLM_WORK_FP32]) * 1e3;
    }
    return 0;
}

/* ---- kernels that stream ---- */

double plm_cost_bytes(const struct plm_machine *m, double bytes, double threads, double efficiency)
{
    const double hit = bytes > 0 && m->cache > 0 ? fmin(1, m->cache / bytes) : 0;
    const double most = m->sms * m->threads, flying = threads > 0 ? fmin(threads, most) : most;
    const double rate = flying * m->speeds->thread_bytes / m->speeds->memory_latency_ns;
    const double streamed = bytes * hit / m->cache_bandwidth + bytes * (1 - hit) / m->bandwidth;
    return fmax(streamed / efficiency, bytes / rate);
}

void plm_cost_resident(const struct plm_machine *m, double grid, double block, double shared, struct plm_cost *cost)
{
    const double each = grid / m->sms; /* blocks of a multiprocessor, on average over all of them */
    double fits = fmin(m->blocks, floor(m->threads / fmax(block, 1)));
    if (shared > 0)
        fits = fmin(fits, floor(m->shared / shared));
    cost->activity[PLM_METRIC_SMACT] = (float)fmin(1, each);
    cost->activity[PLM_METRIC_SMOCC] =
        (float)(fmin(1, fmin(each, fmax(fits, 1)) * ceil(block / 32) / m->warps) * m->speeds->occupancy_share);
}

struct plm_cost plm_cost_stream(const struct plm_machine *m, const struct plm_work *w, double bytes, double efficiency)
{
    const double block = w->block ? w->block : 128, grid = w->grid ? w->grid : ceil(bytes / (block * 32));
    const double loads = grid * block * (w->columns ? w->columns : 1); /* results side by side: loads at once */
    const double memory = plm_cost_bytes(m, bytes, loads, efficiency), floor_ns = m->speeds->floor_us * 1e3;
    struct plm_cost cost = {.ns = floor_ns + memory, .known = w->sized};
    cost.bound = memory > floor_ns ? PLM_BOUND_BANDWIDTH : PLM_BOUND_LAUNCHES;
    plm_cost_resident(m, grid, block, w->shared, &cost);
    cost.activity[PLM_METRIC_DRAMA] =
        (float)fmin(1, bytes > m->cache ? bytes * m->speeds->memory_efficiency / m->bandwidth / cost.ns : 0);
    return cost;
}

/* ---- products ---- */

/* Tiles of a result that one block computes, with how much of an SM's rate they reach beside the largest. */
static const struct tile {
    double m, n;
    int size; /* 0: large, 1: middle, 2: small, 3: the smallest */
} tiles[] = {
    {256, 128, 0}, {128, 256, 0}, {128, 128, 1}, {256, 64, 1}, {64, 256, 1},
    {128, 64, 2},  {64, 128, 2},  {64, 64, 3},   {256, 32, 3}, {32, 32, 4},
};

struct attempt {
    double ns, blocks, padded;
};

double plm_cost_parts(const struct plm_machine *m, const struct plm_product *p, double parts)
{
    return m->speeds->floor_us * 1e3 + plm_cost_bytes(m, (parts + 1) * p->m * p->n * p->batch * 4, 0, 1);
}

/* One choice of a tile and of parts along k. Tiles of one SM share its rate; alone on it, one still takes its steps
   after each other. */
static struct attempt try_tile(const struct plm_machine *m, const struct plm_product *p, const struct tile *tile,
                               double parts)
{
    const struct plm_speeds *s = m->speeds;
    const double share[] = {1, s->tile_128, s->tile_64, s->tile_32, s->tile_16};
    const double best = m->tensor[p->type] ? s->tensor_efficiency : s->simt_efficiency;
    const double rate = m->peak[p->type] / m->sms * best * share[tile->size] * p->efficiency;
    const double depth = ceil(p->k / parts / 32) * 32;
    const double blocks = ceil(p->m / tile->m) * ceil(p->n / tile->n) * p->batch * parts;
    const double rounds = ceil(blocks / m->sms), flops = 2 * tile->m * tile->n * depth;
    struct attempt a = {.blocks = blocks, .padded = flops * blocks};
    a.ns = fmax(rounds * flops / rate, depth / 32 * s->tile_step_ns);
    if (parts > 1)
        a.ns += plm_cost_parts(m, p, parts);
    return a;
}

static struct attempt best_tile(const struct plm_machine *m, const struct plm_product *p)
{
    static const double parts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    struct attempt best = {.ns = INFINITY};
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        for (size_t k = 0; k < sizeof parts / sizeof parts[0] && (k == 0 || p->k / parts[k] >= 64); k++) {
            const struct attempt a = try_tile(m, p, &tiles[i], parts[k]);
            if (a.ns < best.ns)
                best = a;
            if (a.blocks >= 8 * m->sms)
                break;
        }
    return best;
}

/* Of the warps that fit. On tensor cores: up to two blocks of eight. */
static double product_occupancy(const struct plm_machine *m, const struct plm_product *p, const struct attempt *best)
{
    const double covered = fmin(1, best->blocks / m->sms);
    if (m->tensor[p->type])
        return covered * fmin(2, ceil(best->blocks / m->sms)) * 8 / m->warps;
    return fmin(covered, plm_cost_warps(m, p) / m->warps);
}

struct plm_cost plm_cost_product(const struct plm_machine *m, const struct plm_product *p)
{
    const struct plm_speeds *s = m->speeds;
    const struct attempt best = best_tile(m, p);
    const double memory = plm_cost_bytes(m, p->bytes, 0, 1), start = (s->floor_us + s->prologue_us) * 1e3;
    const double work = fmax(best.ns, memory);
    struct plm_cost cost = {.ns = start + work, .known = true};
    const double active = fmin(1, best.padded / m->peak[p->type] / cost.ns);
    cost.bound = work < start ? PLM_BOUND_LAUNCHES : best.ns > memory ? PLM_BOUND_COMPUTE : PLM_BOUND_BANDWIDTH;
    cost.activity[PLM_METRIC_SMACT] = (float)fmin(1, best.blocks / m->sms);
    cost.activity[PLM_METRIC_SMOCC] = (float)product_occupancy(m, p, &best);
    if (m->tensor[p->type])
        cost.activity[PLM_METRIC_TENSO] = (float)active;
    else
        cost.activity[PLM_METRIC_FP32A] = (float)fmin(1, active * s->fma_ratio);
    cost.activity[PLM_METRIC_DRAMA] = (float)fmin(1, p->bytes > m->cache ? memory * s->memory_efficiency / cost.ns : 0);
    return cost;
}

/* Tensor cores take rows of 16 bytes: others go a slower way. */
static struct plm_cost cost_gemm(const struct plm_machine *m, const struct plm_work *w)
{
    const double unit = w->bytes_per ? 16.0 / w->bytes_per : 8;
    const bool even = fmod(w->m, unit) == 0 && fmod(w->k, unit) == 0;
    const struct plm_product p = {w->m,
                                  w->n,
                                  w->k,
                                  w->batch,
                                  (enum plm_work_type)w->type,
                                  m->tensor[w->type] && !even ? m->speeds->uneven_efficiency : 1,
                                  w->read + w->written};
    return plm_cost_product(m, &p);
}

/* ---- by class ---- */

/* Instructions for each element: what makes a kernel slower than the memory. */
static double stream_ops(const struct plm_speeds *s, const struct plm_work *w)
{
    switch (w->class) {
    case PLM_WORK_ELEMENTWISE: return w->strided ? s->strided_ops : 0;
    case PLM_WORK_NORMALIZATION: return w->operation ? s->statistics_ops : s->norm_ops;
    case PLM_WORK_SOFTMAX: return s->softmax_ops;
    case PLM_WORK_POOLING: return s->pooling_ops;
    default: return 0;
    }
}

static struct plm_cost cost_stream(const struct plm_machine *m, const struct plm_work *w)
{
    const bool jumps = w->class == PLM_WORK_GATHER || w->class == PLM_WORK_SORT;
    struct plm_cost cost = plm_cost_stream(m, w, w->read + w->written, jumps ? m->speeds->gather_efficiency : 1);
    const double elements = (w->read + w->written) / 2 / (w->bytes_per ? w->bytes_per : 4);
    const double compute = elements * stream_ops(m->speeds, w) / m->issue;
    if (compute + m->speeds->floor_us * 1e3 > cost.ns) {
        cost.ns = compute + m->speeds->floor_us * 1e3;
        cost.bound = compute > m->speeds->floor_us * 1e3 ? PLM_BOUND_COMPUTE : PLM_BOUND_LAUNCHES;
    }
    return cost;
}

struct plm_cost plm_cost(const struct plm_machine *m, const struct plm_work *w)
{
    struct plm_cost cost;
    switch (w->class) {
    case PLM_WORK_GEMM: cost = cost_gemm(m, w); break;
    case PLM_WORK_CONVOLUTION:
    case PLM_WORK_DEPTHWISE: cost = plm_cost_convolution(m, w); break;
    case PLM_WORK_ATTENTION: cost = plm_cost_attention(m, w); break;
    case PLM_WORK_RNN: cost = plm_cost_rnn(m, w); break;
    case PLM_WORK_COPY: return plm_cost_copy(m, w);
    case PLM_WORK_COLLECTIVE: return plm_cost_collective(m, w);
    default: cost = cost_stream(m, w); break;
    }
    cost.activity[PLM_METRIC_GPUTL] = cost.activity[PLM_METRIC_GRACT] = 1;
    return cost;
}
