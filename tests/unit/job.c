/* Blocks of hand-written records: their categories, owners, lives, and who holds what at a moment. */
#include "analysis/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "record/create.h"
#include "record/reader.h"
#include "record/writer.h"
#include "unit.h"

/* ---- writing ---- */

enum { A = 0x10000, B = 0x20000, C = 0x30000, D = 0x40000, E = 0x50000, F = 0x60000, G = 0x70000, H = 0x80000 };

static uint32_t context(uint32_t id, const char *module, const char *outer, const char *inner, enum plm_phase phase)
{
    plm_put_context(0, &(struct plm_ev_context){id, plm_record_text(module), plm_record_text(outer),
                                                plm_record_text(inner), phase, 0});
    return id;
}

static void alloc_on(int device, uint64_t at, uint64_t bytes, uint32_t where)
{
    plm_put_block_alloc(device, &(struct plm_ev_block_alloc){at, bytes, where, PLM_STREAM_UNKNOWN, false, 0, 0, 0});
}

static void alloc(uint64_t at, uint64_t bytes, uint32_t where)
{
    alloc_on(0, at, bytes, where);
}

static void release(uint64_t at, uint64_t bytes)
{
    plm_put_block_free(0, &(struct plm_ev_block_free){at, bytes});
}

static void tag(uint64_t at, uint32_t category, const char *owner)
{
    plm_put_tag(0, &(struct plm_ev_tag){at, category, plm_record_text(owner), 0});
}

static void phase(uint32_t which)
{
    plm_put_phase(0, &(struct plm_ev_phase){.phase = which});
}

static void module(const char *name, enum plm_phase which)
{
    plm_put_module(0, &(struct plm_ev_module){name ? plm_record_text(name) : 0, which});
}

static void reserved(uint64_t bytes)
{
    plm_put_reserved(0, &(struct plm_ev_reserved){bytes});
}

static void step(uint32_t number)
{
    plm_put_step(0, &(struct plm_ev_step){number, 1});
}

/* ---- what is multiplied and convolved ---- */

static struct plm_ev_gemm product;
static struct plm_ev_convolution convolution;

static void compute(void)
{
    plm_put_gemm(0, &product);
    plm_put_convolution(0, &convolution);
}

/* cudaDataType: 0 and 2 are single and half precision, 14 CUDA_R_16BF, 28 CUDA_R_8F_E4M3, 29 CUDA_R_8F_E5M2. cudnnDataType_t: 0, 2
   alike, 9 CUDNN_DATA_BFLOAT16, 12 CUDNN_DATA_FP8_E4M3, 13 CUDNN_DATA_FP8_E5M2. */
static void types_of_numbers(void **state)
{
    enum { BF16 = 1u << PLM_TYPE_BF16, FP8 = 1u << PLM_TYPE_FP8 };
    static const struct {
        uint8_t a, b, convolved;
        unsigned types;
    } rows[] = {{0, 0, 0, 0},     {2, 2, 2, 0},     {14, 14, 0, BF16}, {2, 14, 0, BF16},
                {28, 28, 2, FP8}, {29, 29, 0, FP8}, {0, 29, 0, FP8},   {0, 0, 9, BF16},
                {14, 0, 9, BF16}, {0, 0, 12, FP8},  {0, 0, 13, FP8},   {14, 14, 13, BF16 | FP8}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_job *job;
        product = (struct plm_ev_gemm){.type_a = rows[i].a, .type_b = rows[i].b};
        convolution = (struct plm_ev_convolution){.data_type = rows[i].convolved};
        job = unit_job(compute);
        assert_int_equal(job->summary.types, rows[i].types);
        plm_job_free(job);
    }
}

/* ---- several devices ---- */

/* The first has more tensors, the second takes more of its card. */
static void two_cards(void)
{
    for (int i = 0; i < 2; i++) {
        plm_put_memory_alloc(i, &(struct plm_ev_memory_alloc){A, i ? 300 : 120, PLM_RECORD_MALLOC, 0});
        alloc_on(i, A, i ? 50 : 100, 0);
    }
}

static void largest_takes_most_of_its_card(void **state)
{
    struct plm_job *job = unit_job(two_cards);
    (void)state;
    assert_int_equal(job->lanes, 2);
    assert_int_equal(plm_job_largest(job)->summary->device, 1);
    plm_job_free(job);
}

/* ---- reading ---- */

/* What the record says, added up by other means. */
struct recount {
    const struct plm_lane *lane;
    uint64_t allocated[4096];
    uint32_t moments;
};

static int recount_one(const struct plm_record_event *e, void *context)
{
    struct recount *r = context;
    uint64_t before = r->moments ? r->allocated[r->moments - 1] : 0;
    if (e->process == r->lane->process && e->device == r->lane->summary->device && r->moments < 4096) {
        if (e->type == PLM_EV_BLOCK_ALLOC)
            r->allocated[r->moments++] = before + plm_get_block_alloc(e).bytes;
        if (e->type == PLM_EV_BLOCK_FREE)
            r->allocated[r->moments++] = before - plm_get_block_free(e).bytes;
    }
    return 0;
}

static int same_sum(uint32_t moment, uint64_t ns, const uint64_t allocated[PLM_CATEGORIES], void *context)
{
    struct recount *r = context;
    uint64_t sum = 0, apart[PLM_CATEGORIES] = {0};
    (void)ns;
    assert_true(moment < r->moments);
    for (size_t i = 0; i < r->lane->blocks; i++)
        if (r->lane->block[i].alloc_at <= moment && moment < r->lane->block[i].free_at)
            apart[r->lane->block[i].category] += r->lane->block[i].bytes;
    for (int i = 0; i < PLM_CATEGORIES; i++) {
        sum += allocated[i];
        assert_int_equal(allocated[i], apart[i]);
    }
    assert_int_equal(sum, r->allocated[moment]);
    return 0;
}

/* At every event the categories add up to what the record says is allocated. */
static void assert_sums(const struct plm_job *job)
{
    struct plm_record *record;
    assert_int_equal(plm_record_open(unit_path("job.plm"), &record, NULL), 0);
    for (size_t i = 0; i < job->lanes; i++) {
        struct recount r = {.lane = &job->lane[i]};
        assert_int_equal(plm_record_each(record, recount_one, &r, NULL), 0);
        assert_int_equal(r.moments, job->lane[i].moments);
        assert_int_equal(plm_lane_sweep(&job->lane[i], same_sum, &r), 0);
        if (job->lane[i].moments)
            assert_int_equal(r.allocated[job->lane[i].summary->allocated_peak.moment],
                             job->lane[i].summary->allocated_peak.bytes);
    }
    plm_record_free(record);
}

static void assert_category(const struct plm_job *job, size_t block, enum plm_category expected)
{
    assert_true(block < job->lane[0].blocks);
    if (job->lane[0].block[block].category != expected)
        fail_msg("block %zu is of %s instead of %s", block,
                 plm_category_name((enum plm_category)job->lane[0].block[block].category), plm_category_name(expected));
}

static void assert_module(const struct plm_job *job, size_t block, const char *expected)
{
    char buffer[256];
    assert_string_equal(plm_block_module(job, &job->lane[0].block[block], buffer, sizeof buffer), expected);
}

/* ---- a training step ---- */

enum { LOAD = 1, BATCH, LINEAR, CAST, LOSS, GRAD, ADAM, REDUCE, ZERO };

static void train(void)
{
    context(LOAD, "", "aten::to", "aten::_to_copy", PLM_PHASE_OTHER);
    context(BATCH, "", "aten::to", "aten::_to_copy", PLM_PHASE_DATA);
    context(LINEAR, "net.fc", "aten::linear", "aten::addmm", PLM_PHASE_FORWARD);
    context(CAST, "net.fc", "aten::linear", "aten::_to_copy", PLM_PHASE_FORWARD);
    context(LOSS, "(MSELoss)", "aten::mse_loss", "aten::mse_loss", PLM_PHASE_LOSS);
    context(GRAD, "net.fc", "AddmmBackward0", "aten::mm", PLM_PHASE_BACKWARD);
    context(ADAM, "", "aten::zeros_like", "aten::empty_like", PLM_PHASE_OPTIMIZER);
    context(REDUCE, "", "c10d::allreduce_", "aten::empty", PLM_PHASE_BACKWARD);
    context(ZERO, "", "aten::zeros", "aten::empty", PLM_PHASE_ZERO_GRAD);
    reserved(2 * MIB);
    alloc(A, 4096, LOAD); /* block 0: the weight */
    tag(A, PLM_CATEGORY_GRADIENTS, "wrong");
    tag(A, PLM_CATEGORY_PARAMETERS, "net.fc.weight");
    tag(A, PLM_CATEGORY_INPUTS, "wrong too");
    alloc(B, 512, BATCH); /* 1: the batch */
    alloc(0x28000, 512, BATCH); /* 2: gone before the forward */
    release(0x28000, 512);
    alloc(0x29000, 512, LOAD); /* 3: brought by the script itself */
    phase(PLM_PHASE_FORWARD);
    module("net", PLM_PHASE_FORWARD);
    alloc(C, 1024, LINEAR); /* 4: kept */
    alloc(D, 2048, CAST); /* 5: freed in the forward */
    release(D, 2048);
    module(NULL, PLM_PHASE_FORWARD);
    phase(PLM_PHASE_OTHER);
    alloc(D, 512, LOSS); /* 6: kept */
    phase(PLM_PHASE_BACKWARD);
    alloc(E, 4096, GRAD); /* 7: the gradient */
    tag(E, PLM_CATEGORY_GRADIENTS, "net.fc.weight");
    reserved(4 * MIB);
    alloc(F, 16384, GRAD); /* 8: freed; here is the peak */
    release(F, 16384);
    alloc(F, 512, REDUCE); /* 9 */
    release(C, 1024);
    phase(PLM_PHASE_OTHER);
    release(D, 512);
    phase(PLM_PHASE_OPTIMIZER);
    alloc(G, 8192, ADAM); /* 10: state */
    tag(G, PLM_CATEGORY_OPTIMIZER, "net.fc.weight");
    alloc(H, 512, ADAM); /* 11: stays without a tag */
    phase(PLM_PHASE_OTHER);
    step(1);
    alloc(C, 512, ZERO); /* 12: the record ends before its step does */
    alloc(D, 1024, LINEAR); /* 13: the next forward, no backward any more */
    release(B, 512);
    alloc(B, 512, 0); /* 14: nothing known */
}

static void training(void **state)
{
    static const enum plm_category expected[] = {
        PLM_CATEGORY_PARAMETERS,  PLM_CATEGORY_INPUTS,        PLM_CATEGORY_OTHER,       PLM_CATEGORY_INPUTS,
        PLM_CATEGORY_ACTIVATIONS, PLM_CATEGORY_TEMPORARIES,   PLM_CATEGORY_ACTIVATIONS, PLM_CATEGORY_GRADIENTS,
        PLM_CATEGORY_TEMPORARIES, PLM_CATEGORY_COMMUNICATION, PLM_CATEGORY_OPTIMIZER,   PLM_CATEGORY_OTHER,
        PLM_CATEGORY_TEMPORARIES, PLM_CATEGORY_ACTIVATIONS,   PLM_CATEGORY_OTHER,
    };
    struct plm_job *job = unit_job(train);
    const struct plm_lane *lane = &job->lane[0];
    uint32_t from, to;
    (void)state;
    assert_true(job->attributed);
    assert_int_equal(job->lanes, 1);
    assert_int_equal(lane->blocks, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_category(job, i, expected[i]);
    assert_sums(job);
    assert_module(job, 0, "net.fc");
    assert_module(job, 4, "net.fc");
    assert_module(job, 6, "(MSELoss)");
    assert_module(job, 7, "net.fc");
    assert_module(job, 10, "net.fc");
    assert_module(job, 14, "");
    /* 4096 + 512 + 512 + 1024 + 512 + 4096 + 16384 */
    assert_int_equal(lane->summary->allocated_peak.bytes, 27136);
    assert_int_equal(lane->order[lane->summary->allocated_peak.moment], 8 << 1);
    assert_int_equal(plm_lane_peak(lane, 0, (uint32_t)lane->moments), lane->summary->allocated_peak.moment);
    assert_int_equal(plm_lane_reserved(lane, 0), 2 * MIB);
    assert_int_equal(plm_lane_reserved(lane, lane->summary->allocated_peak.moment - 1), 2 * MIB);
    assert_int_equal(plm_lane_reserved(lane, lane->summary->allocated_peak.moment), 4 * MIB);
    assert_int_equal(lane->steps, 1);
    plm_lane_step(lane, 1, &from, &to);
    assert_true(from == 0 && to == lane->moments - 4);
    plm_lane_step(lane, 2, &from, &to);
    assert_true(from == lane->moments - 4 && to == lane->moments);
    assert_int_equal(plm_lane_peak(lane, from, to), lane->moments - 3); /* then the batch goes */
    assert_int_equal(lane->phases, 6);
    assert_int_equal(lane->phase[0].value, PLM_PHASE_FORWARD);
    assert_int_equal(lane->phase[1].value, PLM_PHASE_OTHER);
    assert_int_equal(lane->block[lane->order[lane->phase[2].at] >> 1].address, E); /* first of the backward */
    plm_job_free(job);
}

static void convolve(void)
{
    plm_record_config("rank", "0");
    for (uint64_t at = A; at <= A + 4096; at += 4096) {
        alloc(at, 1024, 0);
        plm_put_convolution(0, &(struct plm_ev_convolution){.workspace_source = PLM_CONV_SOURCE_FORMULA,
                                                            .workspace = 512,
                                                            .workspace_most_mib = at == A ? 3 : 5000,
                                                            .operation = at == A ? PLM_CONVOLUTION_FORWARD
                                                                                 : PLM_CONVOLUTION_BACKWARD_DATA});
    }
    plm_put_convolution(0, &(struct plm_ev_convolution){.workspace_source = PLM_CONV_SOURCE_TABLE, .workspace = 512});
    alloc(A + 8192, 1024, 0);
    plm_put_convolution(
        0, &(struct plm_ev_convolution){
               .batch = 2, .workspace_source = PLM_CONV_SOURCE_FORMULA, .workspace = 1024, .workspace_most_mib = 5000});
    alloc(A + 12288, 1024, 0);
    plm_put_convolution(0, &(struct plm_ev_convolution){.workspace_source = PLM_CONV_SOURCE_TABLE, .workspace = 512});
    alloc(A + 16384, 1024, 0); /* not a workspace */
    plm_put_convolution(0, &(struct plm_ev_convolution){.workspace_source = PLM_CONV_SOURCE_TABLE});
}

/* Reading notes which blocks are workspaces, which share a plan and which were guessed, and replays nothing: analysis
   knows no allocator (tools/rooms). */
static void convolutions(void **state)
{
    struct plm_job *job = unit_job(convolve);
    const struct plm_job_conv_marks *marks = job->lane[0].convolutions;
    (void)state;
    assert_non_null(marks);
    assert_int_equal(marks->count, 4);
    assert_int_equal(marks->guessed, 3);
    assert_int_equal(marks->mark[1].at, 2);
    assert_int_equal(marks->mark[1].block, 1);
    assert_int_equal(marks->mark[0].most, 3 * MIB);
    assert_int_equal(marks->mark[1].most, 5000 * MIB); /* more than 31 bits */
    assert_true(marks->mark[0].forward && !marks->mark[1].forward);
    assert_int_equal(marks->mark[2].most, 5000 * MIB);
    assert_int_not_equal(marks->mark[2].shape, marks->mark[0].shape);
    assert_int_equal(marks->mark[3].shape, marks->mark[0].shape); /* wherever its size comes from */
    assert_true(marks->mark[2].shape < marks->shapes && marks->shapes < marks->count);
    assert_int_equal(marks->mark[3].block, 3);
    assert_false(marks->mark[3].guessed);
    assert_false(job->lane[0].kept->weighed);
    plm_job_free(job);
}

static void assert_holder(const struct plm_holders *h, size_t i, const char *name, uint64_t bytes, uint32_t blocks)
{
    assert_true(i < h->count);
    assert_string_equal(h->item[i].name, name);
    assert_int_equal(h->item[i].bytes, bytes);
    assert_int_equal(h->item[i].blocks, blocks);
}

static void holders(void **state)
{
    struct plm_job *job = unit_job(train);
    const struct plm_lane *lane = &job->lane[0];
    struct plm_holders h;
    (void)state;
    h = plm_holders_at(job, lane, lane->summary->allocated_peak.moment, PLM_BY_MODULE);
    assert_int_equal(h.count, 3);
    assert_holder(&h, 0, "net.fc", 4096 + 1024 + 4096 + 16384, 4);
    assert_int_equal(h.item[0].category[PLM_CATEGORY_GRADIENTS], 4096);
    assert_int_equal(h.item[0].category[PLM_CATEGORY_TEMPORARIES], 16384);
    assert_holder(&h, 1, "", 1024, 2);
    assert_holder(&h, 2, "(MSELoss)", 512, 1);
    plm_holders_free(&h);
    h = plm_holders_at(job, lane, lane->summary->allocated_peak.moment, PLM_BY_PHASE);
    assert_int_equal(h.count, 5);
    assert_holder(&h, 0, "backward", 4096 + 16384, 2);
    assert_holder(&h, 1, "other", 4096 + 512, 2);
    plm_holders_free(&h);
    h = plm_holders_at(job, lane, lane->summary->allocated_peak.moment, PLM_BY_OP);
    assert_holder(&h, 0, "AddmmBackward0", 4096 + 16384, 2);
    assert_holder(&h, 1, "aten::to", 4096 + 512 + 512, 3);
    plm_holders_free(&h);
    h = plm_holders_at(job, lane, lane->summary->allocated_peak.moment, PLM_BY_CATEGORY);
    assert_int_equal(h.count, 5);
    assert_holder(&h, 0, "temporaries", 16384, 1);
    assert_holder(&h, 3, "activations", 1024 + 512, 2);
    plm_holders_free(&h);
    h = plm_holders_at(job, lane, lane->summary->allocated_peak.moment, PLM_BY_STACK);
    assert_holder(&h, 0, "backward;net.fc;AddmmBackward0;aten::mm", 4096 + 16384, 2);
    assert_holder(&h, 4, "loss;(MSELoss);aten::mse_loss", 512, 1);
    plm_holders_free(&h);
    plm_job_free(job);
}

/* ---- source lines ---- */

static void source(uint32_t number, const char *file, const char *function)
{
    plm_put_source(0, &(struct plm_ev_source){
                          .source = number, .file = plm_record_text(file), .function = plm_record_text(function)});
}

static void frame(uint32_t number, uint32_t caller, uint32_t source, uint32_t line)
{
    plm_put_frame(0, &(struct plm_ev_frame){number, caller, source, line});
}

static void stacked(uint64_t at, uint64_t bytes, uint32_t stack)
{
    plm_put_block_alloc(0, &(struct plm_ev_block_alloc){.address = at, .bytes = bytes, .stack = stack});
}

static void lines_of_a_program(void)
{
    source(1, "/home/me/train.py", "<module>");
    source(2, "/v/lib/python3.11/site-packages/torch/nn/modules/module.py", "_call_impl");
    source(3, "/home/me/model.py", "Net.forward");
    source(4, "/v/lib/python3.11/site-packages/timm/layers.py", "forward");
    frame(1, 0, 1, 10); /* train.py:10 */
    source(5, "/opt/plimsoll/plimsoll_hook/memory/attribution.py", "call");
    frame(9, 1, 5, 30); /* plimsoll, which nobody sees */
    frame(2, 9, 2, 99);
    frame(3, 2, 3, 20); /* train.py:10, PyTorch, model.py:20 */
    frame(4, 3, 4, 5); /* and a package */
    frame(5, 0, 2, 99); /* PyTorch alone */
    frame(6, 5, 4, 7); /* and a package */
    frame(7, 8, 1, 11); /* whose caller nobody described, as in a damaged record */
    frame(8, 7, 77, 1); /* nor this function */
    alloc(A, 512, 0); /* before the first that has a stack */
    stacked(B, 1024, 3);
    stacked(B + 4096, 2048, 4);
    stacked(B + 8192, 128, 2);
    stacked(B + 12288, 64, 5);
    stacked(B + 16384, 32, 6);
    stacked(B + 20480, 16, 7);
    stacked(B + 24576, 8, 8);
}

static void lines(void **state)
{
    struct plm_job *job = unit_job(lines_of_a_program);
    const struct plm_lane *lane = &job->lane[0];
    struct plm_holders h = plm_holders_at(job, lane, lane->summary->allocated_peak.moment, PLM_BY_LINE);
    uint32_t call[4];
    (void)state;
    assert_int_equal(h.count, 6);
    assert_holder(&h, 0, "/home/me/model.py:20", 1024 + 2048, 2); /* what a package does belongs to who called it */
    assert_string_equal(h.item[0].line->function, "Net.forward");
    assert_int_equal(h.item[0].line->whose, PLM_JOB_OWN);
    assert_holder(&h, 1, "", 512 + 8, 2);
    assert_null(h.item[1].line);
    assert_holder(&h, 2, "/home/me/train.py:10", 128, 1);
    assert_int_equal(h.item[3].line->whose, PLM_JOB_FRAMEWORK);
    assert_holder(&h, 4, "/v/lib/python3.11/site-packages/timm/layers.py:7", 32, 1);
    assert_holder(&h, 5, "/home/me/train.py:11", 16, 1);
    plm_holders_free(&h);
    h = plm_holders_at(job, lane, lane->summary->allocated_peak.moment, PLM_BY_STACK);
    assert_holder(&h, 0, "/home/me/train.py:10 <module>;/home/me/model.py:20 Net.forward", 1024 + 2048, 2);
    plm_holders_free(&h);
    assert_int_equal(plm_job_stack(job, lane->stack[1], call, 4), 3);
    assert_int_equal(plm_job_stack(job, lane->stack[1], call, 2), 2); /* as many as there is room for */
    assert_string_equal(job->line[job->call[call[1]].line].function, "_call_impl");
    plm_job_free(job);
}

/* ---- recomputation; nothing is said of the operator ---- */

static void checkpointed(void)
{
    context(1, "h.0", "", "", PLM_PHASE_RECOMPUTE);
    phase(PLM_PHASE_BACKWARD);
    module("h.0", PLM_PHASE_RECOMPUTE);
    module("h.0.fc", PLM_PHASE_RECOMPUTE);
    alloc(A, 512, 1); /* 0: leaves the inner module, not the outer */
    module(NULL, PLM_PHASE_RECOMPUTE);
    release(A, 512);
    alloc(A, 512, 1); /* 1: outlives it */
    module(NULL, PLM_PHASE_RECOMPUTE);
    release(A, 512);
    alloc(A, 512, 0); /* 2: the backward itself; it has the phase alone */
    release(A, 512);
    phase(PLM_PHASE_OTHER);
}

static void recomputation(void **state)
{
    struct plm_job *job = unit_job(checkpointed);
    (void)state;
    assert_category(job, 0, PLM_CATEGORY_TEMPORARIES);
    assert_category(job, 1, PLM_CATEGORY_ACTIVATIONS);
    assert_category(job, 2, PLM_CATEGORY_TEMPORARIES);
    assert_int_equal(job->context[job->lane[0].block[2].context].phase, PLM_PHASE_BACKWARD);
    assert_sums(job);
    plm_job_free(job);
}

/* ---- a job without a backward ---- */

static void infer(void)
{
    context(1, "fc", "aten::linear", "aten::addmm", PLM_PHASE_FORWARD);
    phase(PLM_PHASE_FORWARD);
    module("", PLM_PHASE_FORWARD);
    module("fc", PLM_PHASE_FORWARD);
    alloc(A, 512, 1); /* 0: freed within */
    module(NULL, PLM_PHASE_FORWARD);
    alloc(B, 512, 1); /* 1: the answer */
    release(A, 512);
    module(NULL, PLM_PHASE_FORWARD);
    phase(PLM_PHASE_OTHER);
    release(B, 512);
    alloc(A, 512, 1); /* 2: left */
}

static void infer_then_train(void)
{
    infer();
    phase(PLM_PHASE_BACKWARD);
}

static void inference(void **state)
{
    struct plm_job *job = unit_job(infer);
    (void)state;
    assert_category(job, 0, PLM_CATEGORY_TEMPORARIES);
    assert_category(job, 1, PLM_CATEGORY_ACTIVATIONS);
    assert_category(job, 2, PLM_CATEGORY_ACTIVATIONS);
    assert_sums(job);
    plm_job_free(job);
    job = unit_job(infer_then_train);
    assert_category(job, 0, PLM_CATEGORY_TEMPORARIES);
    assert_category(job, 1, PLM_CATEGORY_TEMPORARIES);
    assert_category(job, 2, PLM_CATEGORY_ACTIVATIONS);
    plm_job_free(job);
}

/* ---- tags of addresses within a block ---- */

static void bucket(void)
{
    alloc(A, 4096, 0); /* 0: a bucket, filled from behind */
    tag(A + 1024, PLM_CATEGORY_GRADIENTS, "net.layer.1.fc.weight");
    tag(A + 512, PLM_CATEGORY_GRADIENTS, "net.layer.1.fc.bias");
    tag(A, PLM_CATEGORY_GRADIENTS, "net.layer.0.fc.weight");
    tag(A + 4096, PLM_CATEGORY_PARAMETERS, "beyond");
    alloc(B, 512, 0); /* 1: tied weights */
    tag(B, PLM_CATEGORY_PARAMETERS, "wte.weight");
    tag(B, PLM_CATEGORY_PARAMETERS, "lm_head.weight");
    release(A, 4096);
    alloc(A, 2048, 0); /* 2: comes back smaller */
    tag(A + 1024, PLM_CATEGORY_GRADIENTS, "net.layer.1.fc.weight");
    tag(A + 3000, PLM_CATEGORY_PARAMETERS, "beyond");
    alloc(C, 512, 0); /* 3: nothing in common */
    tag(C, PLM_CATEGORY_OPTIMIZER, "a.weight");
    tag(C + 256, PLM_CATEGORY_OPTIMIZER, "b.weight");
    alloc_on(1, D, 512, 0); /* on another device than the tag says */
    tag(D, PLM_CATEGORY_BUFFERS, "mask");
    tag(E, PLM_CATEGORY_PARAMETERS, "nowhere");
    tag(B, 99, "no category");
    tag(B, PLM_CATEGORY_OTHER, "not for tags");
}

/* Who has how much of a block. */
static const char *parts_of(const struct plm_job *job, size_t number)
{
    static char text[512];
    struct plm_block part;
    size_t used = 0;
    for (size_t i = 0; plm_block_part(&job->lane[0], &job->lane[0].block[number], i, &part); i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %zu", i ? ", " : "", job->owner[part.owner],
                                 (size_t)part.bytes);
    return text;
}

/* Modules and what they hold at the end. */
static const char *held_at_end(const struct plm_job *job)
{
    static char text[512];
    struct plm_holders held = plm_holders_at(job, &job->lane[0], (uint32_t)job->lane[0].moments - 1, PLM_BY_MODULE);
    size_t used = 0;
    for (size_t i = 0; i < held.count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %zu", i ? ", " : "", held.item[i].name,
                                 (size_t)held.item[i].bytes);
    plm_holders_free(&held);
    return text;
}

static void tags(void **state)
{
    struct plm_job *job = unit_job(bucket);
    char buffer[64];
    (void)state;
    assert_category(job, 0, PLM_CATEGORY_GRADIENTS);
    assert_module(job, 0, "net.layer");
    assert_string_equal(job->owner[job->lane[0].block[0].owner], "net.layer.*");
    assert_category(job, 1, PLM_CATEGORY_PARAMETERS);
    assert_string_equal(job->owner[job->lane[0].block[1].owner], "wte.weight");
    assert_category(job, 2, PLM_CATEGORY_GRADIENTS);
    assert_module(job, 2, "net.layer.1.fc");
    assert_module(job, 3, "(several modules)");
    assert_string_equal(parts_of(job, 0),
                        "net.layer.0.fc.weight 512, net.layer.1.fc.bias 512, net.layer.1.fc.weight 3072");
    assert_string_equal(parts_of(job, 1), "wte.weight 512");
    assert_string_equal(parts_of(job, 3), "a.weight 256, b.weight 256");
    assert_string_equal(held_at_end(job), "net.layer.1.fc 2048, wte 512, a 256, b 256");
    assert_int_equal(job->lanes, 2);
    assert_int_equal(job->lane[1].block[0].category, PLM_CATEGORY_BUFFERS);
    assert_string_equal(plm_block_module(job, &job->lane[1].block[0], buffer, sizeof buffer), "(model)");
    assert_sums(job);
    plm_job_free(job);
}

/* Blocks of all sizes side by side, asked for at their last byte. Every other one is freed and every fourth comes back after
   the first question, from which on the blocks are kept in order. */
enum { NEIGHBOURS = 120 };

static uint64_t neighbour_bytes(int i)
{
    return 512ull * (1 + (unsigned)(i * i * 37) % 61) << i % 5;
}

static void neighbours(void)
{
    uint64_t at[NEIGHBOURS + 1] = {A + 1536};
    for (int i = 0; i < NEIGHBOURS; i++) {
        at[i + 1] = at[i] + neighbour_bytes(i);
        alloc(at[i], neighbour_bytes(i), 0);
    }
    tag(A + 512, PLM_CATEGORY_PARAMETERS, "before all of them");
    for (int i = 0; i < NEIGHBOURS; i += 2)
        release(at[i], neighbour_bytes(i));
    for (int i = 0; i < NEIGHBOURS; i += 4)
        alloc(at[i], neighbour_bytes(i), 0);
    for (int i = 0; i < NEIGHBOURS; i++)
        tag(at[i + 1] - 1, PLM_CATEGORY_GRADIENTS, "net.weight");
    tag(at[NEIGHBOURS], PLM_CATEGORY_PARAMETERS, "behind all of them");
}

static void tags_of_neighbours(void **state)
{
    struct plm_job *job = unit_job(neighbours);
    size_t tagged = 0;
    (void)state;
    for (size_t i = 0; i < job->lane[0].blocks; i++) {
        const struct plm_block *b = &job->lane[0].block[i];
        assert_int_not_equal(b->category, PLM_CATEGORY_PARAMETERS);
        assert_int_equal(b->category == PLM_CATEGORY_GRADIENTS, b->free_at == PLM_MOMENT_NEVER);
        tagged += b->category == PLM_CATEGORY_GRADIENTS;
    }
    assert_int_equal(tagged, NEIGHBOURS * 3 / 4);
    plm_job_free(job);
}

/* ---- what only a damaged record says ---- */

#define MOST (1ull << 48) /* that the reader takes for an amount of memory */

static void nonsense(void)
{
    release(A, 512);
    /* 0: in a graph's pool, of an unknown context; 1: on top of it */
    plm_put_block_alloc(0, &(struct plm_ev_block_alloc){A, 512, 4711, 7, true, 0, 0, 0});
    alloc(A, 1024, 0);
    release(A, 1024);
    release(A, 1024);
    alloc(B, MOST, 0); /* 2 */
    release(C, 5);
    release(B, 1); /* the size of the allocation counts */
    phase(99);
    phase(PLM_PHASE_OTHER);
    module(NULL, PLM_PHASE_FORWARD);
    context(1, "x", "y", "z", (enum plm_phase)77);
    alloc(D, 512, 1); /* 3 */
    for (int i = 0; i < 100; i++)
        phase(PLM_PHASE_FORWARD);
    for (int i = 0; i < 200; i++)
        phase(PLM_PHASE_OTHER);
}

static int last_sum(uint32_t moment, uint64_t ns, const uint64_t allocated[PLM_CATEGORIES], void *context)
{
    uint64_t *sum = context;
    (void)moment, (void)ns;
    *sum = 0;
    for (int i = 0; i < PLM_CATEGORIES; i++)
        *sum += allocated[i];
    return *sum == MOST ? 77 : 0;
}

static void damaged(void **state)
{
    struct plm_job *job = unit_job(nonsense);
    const struct plm_lane *lane = &job->lane[0];
    uint64_t sum;
    (void)state;
    assert_int_equal(lane->blocks, 4);
    assert_true(lane->block[0].captured && lane->block[0].stream == 7 && lane->block[0].context == 0);
    assert_false(lane->block[1].captured);
    assert_int_equal(lane->block[0].free_at, 1); /* before the second is handed out */
    assert_int_equal(lane->block[1].alloc_at, 2);
    assert_int_equal(lane->moments, 7);
    assert_int_equal(plm_lane_sweep(lane, last_sum, &sum), 77); /* the visitor may stop it */
    assert_int_equal(lane->summary->allocated_peak.bytes, MOST);
    assert_int_equal(lane->summary->allocated_peak.moment, 4); /* what was passed over makes no moment */
    assert_int_equal(job->context[lane->block[3].context].phase, PLM_PHASE_OTHER);
    plm_job_free(job);
}

struct guest {
    struct plm_record *record;
    int blocks, stop_after; /* 0: it never does */
};

static void guest_open(struct plm_record *record, void *context)
{
    ((struct guest *)context)->record = record;
}

static int guest_visit(const struct plm_record_event *e, void *context)
{
    struct guest *g = context;
    assert_non_null(g->record);
    g->blocks += e->type == PLM_EV_BLOCK_ALLOC;
    return g->stop_after && g->blocks == g->stop_after ? -77 : 0;
}

/* Somebody else sees every event of the same reading, and may end it. */
static void guests(void **state)
{
    struct plm_job *job = unit_job(nonsense);
    struct guest g = {0};
    struct plm_error error;
    (void)state;
    plm_job_free(job);
    assert_int_equal(
        plm_job_read_along(unit_path("job.plm"), &(struct plm_job_guest){guest_open, guest_visit, &g}, &job, &error),
        0);
    assert_int_equal(g.blocks, 4);
    assert_int_equal(job->lane[0].blocks, 4);
    plm_job_free(job);
    g = (struct guest){.stop_after = 2};
    assert_int_equal(
        plm_job_read_along(unit_path("job.plm"), &(struct plm_job_guest){guest_open, guest_visit, &g}, &job, &error),
        -77);
    assert_int_equal(g.blocks, 2);
}

static void unreadable(void **state)
{
    struct plm_error error;
    struct plm_job *job;
    (void)state;
    assert_int_equal(plm_job_read(unit_path("absent.plm"), &job, &error), PLM_ENOTFOUND);
    unit_write(unit_path("junk.plm"), "junk", 4);
    assert_int_equal(plm_job_read(unit_path("junk.plm"), &job, NULL), PLM_EFORMAT);
}

/* ---- segments ---- */

static void take_memory(void)
{
    const struct plm_ev_memory_free freed = {A, 2 * MIB, PLM_RECORD_MALLOC, 0};
    plm_put_memory_alloc(0, &(struct plm_ev_memory_alloc){A, 2 * MIB, PLM_RECORD_MALLOC, 0});
    alloc(A, 512, 0);
    /* the same number, another kind */
    plm_put_memory_alloc(0, &(struct plm_ev_memory_alloc){A, 2 * MIB, PLM_RECORD_LIBRARY, plm_record_text("libnccl")});
    release(A, 512);
    plm_put_memory_free(0, &freed);
    plm_put_memory_free(0, &freed);
}

static void segments(void **state)
{
    struct plm_job *job = unit_job(take_memory);
    const struct plm_lane *lane = &job->lane[0];
    (void)state;
    assert_int_equal(lane->segments, 2);
    assert_true(lane->segment[0].alloc_at == 0 && lane->segment[0].free_at == 2);
    assert_true(lane->segment[1].alloc_at == 1 && lane->segment[1].free_at == PLM_MOMENT_NEVER);
    assert_string_equal(job->owner[lane->segment[1].owner], "libnccl");
    assert_false(job->attributed);
    plm_job_free(job);
}

/* ---- several processes ---- */

static void two_processes(void)
{
    int status;
    plm_record_config("rank", "1");
    context(1, "one", "", "", PLM_PHASE_FORWARD);
    context(2, "both", "", "", PLM_PHASE_FORWARD);
    alloc(A, 512, 2);
    if (!fork()) {
        plm_record_config("rank", "0");
        context(1, "both", "", "", PLM_PHASE_FORWARD);
        alloc(A, 1024, 1);
        tag(A, PLM_CATEGORY_PARAMETERS, "of.zero");
        phase(PLM_PHASE_BACKWARD);
        _exit(0);
    }
    wait(&status);
    alloc(B, 512, 1);
    release(B, 512); /* the other process has a backward, this one has none */
}

static void processes(void **state)
{
    struct plm_job *job = unit_job(two_processes);
    const struct plm_lane *zero = &job->lane[0], *one = &job->lane[1];
    (void)state;
    assert_int_equal(job->lanes, 2);
    assert_true(zero->summary->rank == 0 && one->summary->rank == 1);
    assert_true(zero->blocks == 1 && one->blocks == 2);
    assert_int_equal(zero->block[0].context, one->block[0].context); /* said by both, kept once */
    assert_string_equal(job->context[one->block[1].context].module, "one");
    assert_int_equal(zero->block[0].category, PLM_CATEGORY_PARAMETERS);
    assert_int_equal(one->block[0].category, PLM_CATEGORY_ACTIVATIONS);
    assert_int_equal(one->block[1].category, PLM_CATEGORY_TEMPORARIES);
    assert_sums(job);
    plm_job_free(job);
}

static void names(void **state)
{
    (void)state;
    for (int i = 0; i < PLM_PHASES; i++)
        assert_true(*plm_phase_name((enum plm_phase)i));
    for (int i = 0; i < PLM_CATEGORIES; i++)
        assert_true(*plm_category_name((enum plm_category)i));
    assert_string_equal(plm_phase_name(PLM_PHASE_ZERO_GRAD), "zero_grad");
    assert_string_equal(plm_phase_name((enum plm_phase)99), "other");
    assert_string_equal(plm_category_name((enum plm_category)99), "other");
}

/* PyTorch's side only tells into which phase the process passes. */
static void only_begins(void)
{
    for (int i = 0; i < 40; i++) {
        phase(i % 2 ? PLM_PHASE_BACKWARD : PLM_PHASE_FORWARD);
        alloc(A + (uint64_t)i * 512, 512, 0);
    }
}

static void phases_that_never_end(void **state)
{
    struct plm_job *job = unit_job(only_begins);
    const struct plm_lane *lane = &job->lane[0];
    (void)state;
    assert_true(lane->phases >= 39); /* the first may stand before the lane's first event */
    for (size_t i = 1; i < lane->phases; i++)
        assert_int_not_equal(lane->phase[i].value, lane->phase[i - 1].value);
    assert_int_equal(lane->phase[lane->phases - 1].value, PLM_PHASE_BACKWARD);
    plm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_of_numbers),
        cmocka_unit_test(largest_takes_most_of_its_card),
        cmocka_unit_test(training),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(holders),
        cmocka_unit_test(lines),
        cmocka_unit_test(recomputation),
        cmocka_unit_test(inference),
        cmocka_unit_test(tags),
        cmocka_unit_test(tags_of_neighbours),
        cmocka_unit_test(damaged),
        cmocka_unit_test(guests),
        cmocka_unit_test(unreadable),
        cmocka_unit_test(segments),
        cmocka_unit_test(processes),
        cmocka_unit_test(names),
        cmocka_unit_test(phases_that_never_end),
    };
    return RUN(tests);
}
