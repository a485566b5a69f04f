/* xMem on traces made by hand: one test for each rule of the method. */
#include "study/estimate/xmem.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/json.h"
#include "study/methods/methods.h"
#include "study/estimate/xmem_internal.h"
#include "base/draw.h"
#include "unit.h"

/* ---- making traces: everything is added in order of time ---- */

enum { MOST = 64 };
static struct plm_trace_step steps[MOST];
static struct plm_trace_mark marks[MOST];
static struct plm_trace_module modules[MOST];
static struct plm_trace_op ops[MOST];
static struct plm_trace_to tos[MOST];
static struct plm_trace_memory memories[4 * MOST];
static char *names[MOST];
static struct plm_trace trace;

static void empty(void)
{
    trace = (struct plm_trace){
        .step = steps, .mark = marks, .module = modules, .op = ops, .to = tos, .memory = memories, .name = names};
}

static uint32_t name_of(const char *name)
{
    names[trace.names] = (char *)(uintptr_t)name;
    return (uint32_t)trace.names++;
}

static void step(int64_t start, int64_t end)
{
    steps[trace.steps] = (struct plm_trace_step){(int64_t)trace.steps + 2, start, end};
    trace.steps++;
}

static void mark(enum plm_trace_mark_kind kind, int64_t start, int64_t end)
{
    marks[trace.marks++] = (struct plm_trace_mark){kind, start, end, name_of("Adam")};
}

static void module(const char *name, int64_t start, int64_t end, bool leaf)
{
    modules[trace.modules++] = (struct plm_trace_module){start, end, name_of(name), PLM_TRACE_NONE, leaf};
}

static struct plm_trace_op *op(int64_t start, int64_t end, int64_t sequence)
{
    ops[trace.ops] = (struct plm_trace_op){start, end, sequence, 0, PLM_TRACE_NONE, 0, (uint32_t)PLM_TRACE_NONE};
    return &ops[trace.ops++];
}

/* Tensor.to(device) of a tensor of this type. */
static void to(int64_t start, const char *type, uint64_t elements)
{
    struct plm_trace_to *t = &tos[trace.tos];
    memset(t, 0, sizeof *t);
    t->elements = elements;
    snprintf(t->argument[1], sizeof t->argument[1], "%s", type);
    strcpy(t->argument[2], "0");
    strcpy(t->argument[5], "False");
    strcpy(t->argument[6], "False");
    op(start, start + 1, PLM_TRACE_NONE)->detail = (uint32_t)trace.tos++;
}

static void memory(int64_t time, int64_t bytes, uint64_t address)
{
    memories[trace.memories++] = (struct plm_trace_memory){time, bytes, address};
}

/* ---- what becomes of them ---- */

static struct plm_xmem_run run;

static int orchestrate(void)
{
    struct plm_error error;
    run = (struct plm_xmem_run){.trace = &trace, .steps = (int)trace.steps < 2 ? (int)trace.steps : 2};
    for (int i = 0; i < run.steps; i++)
        plm_xmem_step(&trace, (size_t)i, &run.step[i]);
    plm_xmem_blocks(&trace, run.step[run.steps - 1].end, &run.blocks);
    return plm_xmem_orchestrate(&run, &error);
}

static void done(void)
{
    free(run.blocks.block);
    free(run.list.item);
}

/* Lifetimes of so many bytes; the last of them. */
static int count(uint64_t bytes, struct plm_lifetime *last)
{
    int found = 0;
    for (size_t i = 0; i < run.list.count; i++)
        if (run.list.item[i].bytes == bytes) {
            found++;
            if (last)
                *last = run.list.item[i];
        }
    return found;
}

/* The same with a category. */
static int count_as(uint64_t bytes, enum plm_category category, struct plm_lifetime *last)
{
    int found = 0;
    *last = (struct plm_lifetime){0};
    for (size_t i = 0; i < run.list.count; i++)
        if (run.list.item[i].bytes == bytes && plm_xmem_category(run.list.item[i].holder) == category) {
            found++;
            *last = run.list.item[i];
        }
    return found;
}

/* Sizes that tell what is what. */
enum { ACTIVATION = 1001, TEMPORARY = 1002, GRADIENT = 1003, PASSED = 1004, INNER = 1005, STATE = 1006, BIAS = 1007 };

enum where { BEFORE_BACKWARD, AFTER_STEP };

/* One iteration of a layer, 1,000 units long: forward 100 to 200, backward 400 to 450, the layer before it to 500, optimizer 600 to 700. */
static void iteration(int64_t at, uint64_t address, enum where zero_grad, int64_t sequence)
{
    step(at, at + 999);
    module("Linear_0", at + 100, at + 200, true);
    op(at + 110, at + 190, sequence);
    memory(at + 120, ACTIVATION, address);
    memory(at + 130, TEMPORARY, address + 1);
    memory(at + 150, -TEMPORARY, address + 1);
    if (zero_grad == BEFORE_BACKWARD) {
        mark(PLM_MARK_ZERO_GRAD, at + 300, at + 320);
        if (at) {
            memory(at + 310, -GRADIENT, address - 1000 + 2);
            memory(at + 311, -BIAS, address - 1000 + 5);
        }
    }
    op(at + 400, at + 450, sequence);
    memory(at + 410, GRADIENT, address + 2);
    memory(at + 415, BIAS, address + 5);
    memory(at + 420, PASSED, address + 3);
    memory(at + 430, INNER, address + 4);
    memory(at + 440, -INNER, address + 4);
    memory(at + 500, -PASSED, address + 3);
    memory(at + 510, -ACTIVATION, address);
    mark(PLM_MARK_OPTIMIZER_STEP, at + 600, at + 700);
    memory(at + 610, GRADIENT, address + 6);
    memory(at + 620, -GRADIENT, address + 6);
    memory(at + 630, STATE, address + 7);
    memory(at + 640, -STATE, address + 7);
    if (zero_grad == AFTER_STEP) {
        mark(PLM_MARK_ZERO_GRAD, at + 800, at + 820);
        memory(at + 810, -GRADIENT, address + 2);
        memory(at + 811, -BIAS, address + 5);
    }
}

static void plain(enum where zero_grad)
{
    empty();
    iteration(0, 10000, zero_grad, 1);
    iteration(1000, 11000, zero_grad, 7);
}

/* ---- blocks ---- */

static void blocks_pair(void **state)
{
    struct plm_xmem_blocks b;
    (void)state;
    empty();
    memory(-5, -7, 50); /* allocated before the trace began */
    memory(1, 100, 40);
    memory(2, -99, 40); /* not what is there */
    memory(3, -100, 40);
    memory(4, -100, 40); /* freed twice */
    memory(5, 200, 40);
    memory(6, 300, 40); /* handed out again, so it was freed */
    memory(7, 0, 40); /* nothing */
    memory(8, INT64_MIN, 41);
    memory(9, 400, 42);
    memory(10, 500, 43); /* after the end */
    plm_xmem_blocks(&trace, 9, &b);
    assert_int_equal(b.count, 4);
    assert_int_equal(b.orphans, 4);
    assert_int_equal(b.block[0].born, 1);
    assert_int_equal(b.block[0].dies, 3);
    assert_int_equal(b.block[1].dies, 6);
    assert_int_equal(b.block[2].bytes, 300);
    assert_int_equal(b.block[3].dies, PLM_NEVER);
    assert_int_equal(plm_xmem_block_from(&b, 5), 1);
    assert_int_equal(plm_xmem_block_after(&b, 5), 2);
    assert_int_equal(plm_xmem_block_after(&b, INT64_MAX), 4);
    free(b.block);
}

/* ---- layers ---- */

/* What a layer keeps: forward blocks that outlive the call, backward blocks that outlive its operators. */
static void temporaries_are_dropped(void **state)
{
    struct plm_lifetime last;
    (void)state;
    plain(BEFORE_BACKWARD);
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(count(TEMPORARY, NULL), 0);
    assert_int_equal(count(INNER, NULL), 0);
    assert_int_equal(count_as(ACTIVATION, PLM_CATEGORY_ACTIVATIONS, &last), 2);
    assert_int_equal(last.born, 1120);
    assert_int_equal(last.dies, 1510);
    assert_false(plm_xmem_backward(last.holder));
    assert_int_equal(count_as(PASSED, PLM_CATEGORY_TEMPORARIES, &last), 2);
    assert_true(plm_xmem_backward(last.holder));
    assert_int_equal(last.dies, 1500);
    assert_int_equal(run.left_out, TEMPORARY + INNER + GRADIENT + STATE);
    done();
}

static void losses_keep_temporaries(void **state)
{
    const char *const name[] = {"CrossEntropyLoss_0", "MSELOSS_1", "MyCrossing_2"};
    (void)state;
    for (size_t i = 0; i < COUNT(name); i++) {
        plain(BEFORE_BACKWARD);
        modules[1].name = name_of(name[i]);
        assert_int_equal(orchestrate(), 0);
        assert_int_equal(count(TEMPORARY, NULL), 1);
        assert_int_equal(count(INNER, NULL), 1);
        done();
    }
}

/* A module that calls others is no layer: what it allocates itself is lost. */
static void parents_are_lost(void **state)
{
    (void)state;
    plain(BEFORE_BACKWARD);
    modules[0].leaf = false;
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(count(ACTIVATION, NULL), 1);
    assert_int_equal(count(PASSED, NULL), 1);
    done();
}

/* Two calls of one module are two layers. */
static void repeated_names(void **state)
{
    struct plm_lifetime last;
    (void)state;
    empty();
    step(0, 999);
    module("ReLU_0", 100, 200, true);
    module("ReLU_0", 300, 400, true);
    op(110, 120, 1);
    op(310, 320, 2);
    memory(115, 11, 1);
    memory(315, 12, 2);
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(count(11, &last), 1);
    assert_int_equal(count(12, &last), 1);
    done();
}

/* Without operators a layer holds nothing, unless it is a loss. */
static void layers_without_operators(void **state)
{
    (void)state;
    empty();
    step(0, 999);
    module("Quiet_0", 100, 200, true);
    module("QuietLoss_0", 300, 400, true);
    op(500, 520, 1);
    memory(115, 11, 1);
    memory(315, 12, 2);
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(count(11, NULL), 0);
    assert_int_equal(count(12, NULL), 1);
    done();
}

/* Modules called by the optimizer are none of the model's; nor are those of other steps. */
static void layers_before_the_optimizer(void **state)
{
    (void)state;
    empty();
    step(0, 999);
    mark(PLM_MARK_OPTIMIZER_STEP, 300, 500);
    module("Early_0", -50, -10, true);
    module("Late_0", 300, 400, true);
    op(-40, -20, 2);
    op(310, 320, 1);
    memory(-30, 10, 4);
    memory(315, 11, 1);
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(run.list.count, 0);
    done();
}

/* An operator inside another adds nothing, and the last end of all decides what is temporary. */
static void operators_nest(void **state)
{
    (void)state;
    empty();
    step(0, 999);
    module("Conv2d_0", 100, 200, true);
    op(110, 190, 1);
    op(120, 180, 1);
    op(400, 500, 1);
    op(410, 450, 1);
    memory(420, 11, 1);
    memory(460, -11, 1); /* outlives the inner operator only */
    memory(470, 12, 2);
    memory(505, -12, 2);
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(count(11, NULL), 0);
    assert_int_equal(count(12, NULL), 1);
    done();
}

/* The number of aten::detach is that of the next operator's node, here one of another layer. */
static void detached_results(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        empty();
        step(0, 999);
        module("ReLU_0", 100, 200, true);
        op(110, 150, 1)->name = name_of("aten::relu");
        op(140, 145, 2)->name = name_of(i ? "aten::view" : "aten::detach");
        op(400, 450, 2)->name = name_of("autograd::engine::evaluate_function: AddmmBackward0");
        memory(420, 11, 1);
        assert_int_equal(orchestrate(), 0);
        assert_int_equal(count(11, NULL), i ? 2 : 0); /* as a gradient and its parameter */
        done();
    }
}

/* ---- lifetimes ---- */

static void parameters_from_gradients(void **state)
{
    struct plm_lifetime bias, weight;
    (void)state;
    plain(BEFORE_BACKWARD);
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(run.list.parameters, 2);
    assert_int_equal(count_as(BIAS, PLM_CATEGORY_PARAMETERS, &bias), 1);
    assert_int_equal(count_as(GRADIENT, PLM_CATEGORY_PARAMETERS, &weight), 1);
    assert_int_equal(bias.born, INT64_MIN); /* its gradient comes last */
    assert_int_equal(weight.born, INT64_MIN + 1);
    assert_int_equal(weight.dies, PLM_NEVER);
    assert_string_equal(names[plm_xmem_layer(weight.holder)], "Linear_0");
    done();
}

static void gradients_are_dropped_after_the_step(void **state)
{
    struct plm_lifetime last;
    (void)state;
    plain(AFTER_STEP);
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(run.list.parameters, 2);
    assert_int_equal(count_as(GRADIENT, PLM_CATEGORY_GRADIENTS, &last), 2);
    assert_int_equal(last.dies, 1810);
    done();
}

/* Where the CPU never frees them, gradients of the first step go when the next zero_grad begins; those of the last stay. */
static void gradients_go_with_zero_grad(void **state)
{
    struct plm_lifetime last;
    (void)state;
    plain(BEFORE_BACKWARD);
    for (size_t i = 0; i < trace.memories; i++)
        if (memories[i].bytes == -GRADIENT && memories[i].time == 1310)
            memories[i].address = 1; /* an orphan */
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(count_as(GRADIENT, PLM_CATEGORY_GRADIENTS, &last), 2);
    assert_int_equal(last.dies, PLM_NEVER);
    for (size_t i = 0; i < run.list.count; i++)
        if (run.list.item[i].bytes == GRADIENT && run.list.item[i].born == 410)
            assert_int_equal(run.list.item[i].dies, 1300);
    done();
}

/* Only what has the size of a parameter; for good in the first step, as on the CPU later. */
static void optimizer_state(void **state)
{
    struct plm_lifetime last;
    (void)state;
    plain(BEFORE_BACKWARD);
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(count(STATE, NULL), 0);
    assert_int_equal(count_as(GRADIENT, PLM_CATEGORY_OPTIMIZER, &last), 2);
    assert_int_equal(last.born, 1610);
    assert_int_equal(last.dies, 1620);
    for (size_t i = 0; i < run.list.count; i++)
        if (run.list.item[i].bytes == GRADIENT && run.list.item[i].born == 610)
            assert_int_equal(run.list.item[i].dies, PLM_NEVER);
    done();
}

static void two_batches(const char *operator)
{
    empty();
    step(0, 999);
    to(10, "6", 5000);
    to(20, "4", 300);
    to(30, "5", 77); /* another type */
    to(40, "6", 78);
    strcpy(tos[3].argument[5], "True");
    module("Layer_0", 100, 200, true);
    op(110, 120, PLM_TRACE_NONE)->name = name_of(operator);
    to(150, "6", 79); /* in a module */
    step(1000, 1999);
    to(1010, "6", 5000);
    module("Layer_0", 1100, 1200, true);
    op(1110, 1120, PLM_TRACE_NONE)->name = name_of(operator);
    memory(1, 5, 5);
}

/* Of networks that convolve: moved to the device before the first module, 4 bytes an element. Of others everything that looks like it. */
static void batches(void **state)
{
    struct plm_lifetime last;
    (void)state;
    two_batches("aten::linear");
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(run.list.count, 4);
    assert_int_equal(count_as(4 * 79, PLM_CATEGORY_INPUTS, &last), 1);
    assert_int_equal(last.born, 150);
    assert_int_equal(last.dies, 999);
    done();
    two_batches("aten::conv2d");
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(run.list.count, 3);
    assert_int_equal(count_as(1200, PLM_CATEGORY_INPUTS, &last), 1);
    assert_int_equal(last.born, 20);
    assert_int_equal(last.dies, 999);
    assert_int_equal(count_as(20000, PLM_CATEGORY_INPUTS, &last), 2);
    assert_int_equal(last.dies, PLM_NEVER); /* that of the last step stays */
    done();
}

static void batches_within_modules(void **state)
{
    (void)state;
    empty();
    step(0, 999);
    module("Trainer_0", 5, 900, false);
    to(10, "6", 5000);
    memory(1, 5, 5);
    assert_int_equal(orchestrate(), 0);
    assert_int_equal(count(20000, NULL), 1);
    done();
}

/* ---- the whole ---- */

/* Sizes in MiB, so that segments can be counted. */
static void grow_blocks(void)
{
    for (size_t i = 0; i < trace.memories; i++)
        memories[i].bytes *= (int64_t)MIB;
}

static void estimate(void **state)
{
    struct plm_xmem_result r;
    struct plm_error error;
    (void)state;
    plain(BEFORE_BACKWARD);
    grow_blocks();
    assert_int_equal(plm_xmem_estimate(&trace, PLM_XMEM_PUBLISHED, &r, &error), 0);
    /* Parameters 1007 + 1003, state and gradients as much, what passes through 1004; the activation's segment of 1001 is too small for all. */
    assert_int_equal(r.step, 2);
    assert_int_equal(r.peak_time, 1420);
    assert_int_equal(r.category[PLM_CATEGORY_PARAMETERS], (GRADIENT + BIAS) * MIB);
    assert_int_equal(r.category[PLM_CATEGORY_OPTIMIZER], GRADIENT * MIB);
    assert_int_equal(r.category[PLM_CATEGORY_ACTIVATIONS], ACTIVATION * MIB);
    assert_true(r.reserved >= r.allocated);
    assert_true(r.reserved % (2 * MIB) == 0);
    assert_false(r.oom);
    assert_int_equal(r.steps, 2);
    assert_int_equal(r.duration, 1999);
    assert_string_equal(r.note, "");
    assert_string_equal(r.layer[0].name, "Linear_0");
    assert_int_equal(r.layer[0].forward, ACTIVATION * MIB);
    assert_int_equal(r.points, 240);
    assert_int_equal(r.point[0].reserved, 2 * MIB * ((GRADIENT + 1) / 2 + (BIAS + 1) / 2));
    assert_int_equal(r.point[r.points - 1].reserved, r.reserved);
    plm_xmem_result_free(&r);
}

static void estimate_on_a_small_card(void **state)
{
    struct plm_xmem_result r;
    struct plm_error error;
    (void)state;
    plain(BEFORE_BACKWARD);
    grow_blocks();
    assert_int_equal(plm_xmem_estimate(&trace, PLM_XMEM_PUBLISHED, &r, &error), 0);
    plm_xmem_limit(&r, 3000 * MIB);
    assert_true(r.oom);
    assert_true(r.oom_reserved <= 3000 * MIB);
    plm_xmem_limit(&r, r.reserved);
    assert_false(r.oom);
    plm_xmem_result_free(&r);
}

static void doubts(void **state)
{
    struct plm_xmem_result r;
    struct plm_error error;
    (void)state;
    plain(BEFORE_BACKWARD);
    trace.steps = 1;
    assert_int_equal(plm_xmem_estimate(&trace, PLM_XMEM_PUBLISHED, &r, &error), 0);
    assert_contains(r.note, "one step");
    assert_int_equal(r.steps, 1);
    plm_xmem_result_free(&r);
    empty();
    step(0, 999);
    memory(1, 5, 5);
    assert_int_equal(plm_xmem_estimate(&trace, PLM_XMEM_PUBLISHED, &r, &error), 0);
    assert_contains(r.note, "gradients");
    plm_xmem_result_free(&r);
    trace.memories = 0;
    assert_int_equal(plm_xmem_estimate(&trace, PLM_XMEM_PUBLISHED, &r, &error), PLM_EFORMAT);
    trace.steps = 0;
    assert_int_equal(plm_xmem_estimate(&trace, PLM_XMEM_PUBLISHED, &r, &error), PLM_EFORMAT);
}

static struct plm_answer asked(uint64_t usable)
{
    const struct plm_evidence capture = {.trace = &trace};
    const struct plm_question question = {.usable = usable, .context = GIB};
    struct plm_inquiry inquiry = plm_inquiry_open(plm_methods_find("xmem"), &capture);
    struct plm_answer answer = plm_inquiry_ask(&inquiry, &question);
    plm_inquiry_close(&inquiry);
    return answer;
}

static void method(void **state)
{
    struct plm_answer answer;
    (void)state;
    plain(BEFORE_BACKWARD);
    grow_blocks();
    answer = asked(100 * GIB);
    assert_int_equal(answer.state, PLM_ANSWERED);
    assert_true(answer.bytes > 5000 * MIB && !answer.oom);
    assert_true(asked(answer.bytes).oom);
    trace.steps = 0;
    answer = asked(100 * GIB);
    assert_int_equal(answer.state, PLM_UNANSWERED);
    assert_contains(answer.note, "no steps");
}

/* ---- xmem+ ---- */

static int correct(void)
{
    struct plm_error error;
    run = (struct plm_xmem_run){.trace = &trace, .steps = (int)trace.steps < 2 ? (int)trace.steps : 2};
    for (int i = 0; i < run.steps; i++)
        plm_xmem_step(&trace, (size_t)i, &run.step[i]);
    plm_xmem_blocks(&trace, run.step[run.steps - 1].end, &run.blocks);
    return plm_xmem_correct(&run, &error);
}

/* The backward operators of plain() become nodes of autograd, as the engine names them. */
static void corrected(enum where zero_grad)
{
    plain(zero_grad);
    ops[1].name = ops[3].name = name_of("autograd::engine::evaluate_function: AddmmBackward0");
    ops[0].name = ops[2].name = name_of("aten::addmm");
}

static void every_block_counts(void **state)
{
    struct plm_lifetime last;
    (void)state;
    corrected(BEFORE_BACKWARD);
    modules[0].leaf = modules[1].leaf = false;
    for (size_t i = 0; i < trace.memories; i++) /* these outlive their operators, but not their layers */
        if (memories[i].bytes == -TEMPORARY)
            memories[i].time += 45;
        else if (memories[i].bytes == -INNER)
            memories[i].time += 15;
    assert_int_equal(correct(), 0);
    assert_int_equal(count_as(TEMPORARY, PLM_CATEGORY_TEMPORARIES, &last), 2);
    assert_int_equal(last.dies, 1195);
    assert_int_equal(count_as(ACTIVATION, PLM_CATEGORY_ACTIVATIONS, &last), 2);
    assert_string_equal(names[plm_xmem_layer(last.holder)], "Linear_0");
    assert_int_equal(count_as(INNER, PLM_CATEGORY_TEMPORARIES, &last), 2);
    assert_true(plm_xmem_backward(last.holder)); /* and the layer is that of the forward operator */
    assert_string_equal(names[plm_xmem_layer(last.holder)], "Linear_0");
    assert_int_equal(run.left_out, 0);
    done();
}

/* What an operator makes and gives back before it ends is the CPU's own. */
static void workspaces_of_the_cpu(void **state)
{
    (void)state;
    corrected(BEFORE_BACKWARD);
    assert_int_equal(correct(), 0);
    assert_int_equal(count(TEMPORARY, NULL), 0);
    assert_int_equal(count(INNER, NULL), 0);
    assert_int_equal(run.left_out, TEMPORARY + INNER);
    done();
    empty();
    step(0, 999);
    op(100, 200, 1)->name = name_of("aten::convolution");
    op(110, 120, 1)->name = name_of("aten::empty");
    op(130, 140, 1)->name = name_of("aten::empty_strided");
    op(300, 320, 1)->name = name_of("aten::zeros"); /* for the program itself */
    memory(115, 10, 1);
    memory(135, 20, 2);
    memory(190, -10, 1);
    memory(310, 30, 3);
    memory(318, -30, 3);
    assert_int_equal(correct(), 0);
    assert_int_equal(count(10, NULL), 0);
    assert_int_equal(count(20, NULL), 1);
    assert_int_equal(count(30, NULL), 1);
    done();
}

/* Adam keeps two copies from the first step on, and makes one more in every step, of all parameters at once. */
static void optimizer_of_a_gpu(void **state)
{
    struct plm_lifetime last;
    (void)state;
    corrected(AFTER_STEP);
    assert_int_equal(correct(), 0);
    assert_int_equal(run.list.parameters, 2);
    assert_int_equal(count(STATE, NULL), 0);
    assert_int_equal(count_as(GRADIENT, PLM_CATEGORY_OPTIMIZER, &last), 4);
    assert_int_equal(last.born, 1600);
    assert_int_equal(last.dies, 1700);
    assert_int_equal(count_as(BIAS, PLM_CATEGORY_OPTIMIZER, &last), 4);
    done();
}

/* One that nobody knows: as published, and all it allocates besides. */
static void unknown_optimizer(void **state)
{
    struct plm_lifetime last;
    (void)state;
    corrected(AFTER_STEP);
    for (size_t i = 0; i < trace.marks; i++)
        marks[i].name = name_of("Mine");
    assert_int_equal(correct(), 0);
    assert_int_equal(count_as(STATE, PLM_CATEGORY_OPTIMIZER, &last), 2);
    assert_int_equal(count_as(GRADIENT, PLM_CATEGORY_OPTIMIZER, &last), 2);
    assert_int_equal(last.dies, 1620);
    assert_int_equal(count_as(BIAS, PLM_CATEGORY_OPTIMIZER, &last), 0);
    done();
}

static void describe(const char *json)
{
    trace.description = (char *)(uintptr_t)json;
    trace.description_size = strlen(json);
}

#define DESCRIBED \
    "{\"schema\": \"plimsoll.description/1\", \"model\": {}, \"modules\": [{}, {}, {}, {}, {}, {}, {}, {}],"

static void described_model(void **state)
{
    struct plm_lifetime last;
    (void)state;
    corrected(AFTER_STEP);
    describe(DESCRIBED "\"parameters\": [{\"module\": 1, \"bytes\": 4000, \"trainable\": true},"
                       "{\"module\": 3, \"bytes\": 5000, \"trainable\": false}],"
                       "\"buffers\": [{\"module\": 2, \"bytes\": 6000}, {\"module\": 7, \"bytes\": 7000}],"
                       "\"optimizer\": {\"class\": \"Adam\", \"state_bytes\": 14000, \"foreach\": true}}");
    assert_int_equal(correct(), 0);
    assert_int_equal(run.list.parameters, 4);
    for (int i = 0; i < 4; i++) /* module by module */
        assert_int_equal(run.list.item[i].bytes, ((const uint64_t[]){4000, 6000, 5000, 7000})[i]);
    assert_int_equal(count_as(6000, PLM_CATEGORY_BUFFERS, &last), 1);
    assert_int_equal(last.dies, PLM_NEVER);
    assert_int_equal(count_as(4000, PLM_CATEGORY_OPTIMIZER, &last), 5); /* three and a half, and one in each step */
    assert_int_equal(count_as(2000, PLM_CATEGORY_OPTIMIZER, &last), 1);
    assert_int_equal(last.dies, PLM_NEVER);
    done();
}

static void described_badly(void **state)
{
    const char *const bad[] = {"[]",
                               "{",
                               DESCRIBED "\"parameters\": 1}",
                               DESCRIBED "\"parameters\": [1]}",
                               DESCRIBED "\"buffers\": [{\"module\": 0, \"bytes\": -1}]}",
                               DESCRIBED "\"parameters\": [{\"module\": 0, \"bytes\": 9000000000000000000}]}",
                               DESCRIBED "\"optimizer\": {\"state_bytes\": 9000000000000000000}}",
                               DESCRIBED "\"optimizer\": {\"foreach\": 3}}"};
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        corrected(AFTER_STEP);
        describe(bad[i]);
        assert_int_equal(correct(), PLM_EFORMAT);
        done();
    }
}

/* A mask of dropout has one byte an element on a GPU. */
static void masks(void **state)
{
    (void)state;
    empty();
    step(0, 999);
    op(100, 200, 1)->name = name_of("aten::dropout");
    op(110, 120, 1)->name = name_of("aten::empty_like");
    op(112, 118, 1)->name = name_of("aten::empty");
    op(130, 140, 1)->name = name_of("aten::mul");
    memory(115, 4000, 1);
    memory(135, 4004, 2);
    assert_int_equal(correct(), 0);
    assert_int_equal(count(1000, NULL), 1);
    assert_int_equal(count(4004, NULL), 1);
    done();
}

static void typed_batches(void **state)
{
    (void)state;
    empty();
    step(0, 999);
    to(10, "6", 5000);
    to(20, "4", 300);
    memory(900, 5, 5);
    assert_int_equal(correct(), 0);
    assert_int_equal(count(20000, NULL), 1);
    assert_int_equal(count(2400, NULL), 1);
    done();
}

static void corrected_estimate(void **state)
{
    struct plm_xmem_result published, plus;
    struct plm_error error;
    (void)state;
    corrected(BEFORE_BACKWARD);
    grow_blocks();
    assert_int_equal(plm_xmem_estimate(&trace, PLM_XMEM_PUBLISHED, &published, &error), 0);
    assert_int_equal(plm_xmem_estimate(&trace, PLM_XMEM_PLUS, &plus, &error), 0);
    /* In Adam's first step: parameters, gradients, two copies that stay and one that does not, 20 bytes for each parameter's 4. */
    assert_int_equal(plus.peak_time, 600);
    assert_int_equal(plus.category[PLM_CATEGORY_PARAMETERS], (GRADIENT + BIAS) * MIB);
    assert_int_equal(plus.category[PLM_CATEGORY_GRADIENTS], (GRADIENT + BIAS) * MIB);
    assert_int_equal(plus.category[PLM_CATEGORY_OPTIMIZER], 3 * (GRADIENT + BIAS) * MIB);
    assert_int_equal(plus.category[PLM_CATEGORY_ACTIVATIONS], 0);
    assert_true(plus.reserved > published.reserved);
    assert_true(plus.reserved >= plus.allocated);
    plm_xmem_result_free(&published);
    plm_xmem_result_free(&plus);
}

/* ---- showing it ---- */

static char *shown(void (*show)(FILE *out, const struct plm_xmem_result *r), uint64_t limit)
{
    struct plm_xmem_result r;
    struct plm_error error;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    plain(BEFORE_BACKWARD);
    grow_blocks();
    assert_int_equal(plm_xmem_estimate(&trace, PLM_XMEM_PUBLISHED, &r, &error), 0);
    plm_xmem_limit(&r, limit);
    show(out, &r);
    fclose(out);
    plm_xmem_result_free(&r);
    return text;
}

static void as_text(FILE *out, const struct plm_xmem_result *r)
{
    plm_xmem_text(&(struct plm_page){.out = out, .width = 80}, r);
}

static void as_json(FILE *out, const struct plm_xmem_result *r)
{
    struct plm_json j;
    plm_json_start(&j, out);
    plm_json_object(&j, NULL);
    plm_xmem_json(&j, r);
    plm_json_end_object(&j);
    assert_int_equal(plm_json_finish(&j), 0);
}

static void text(void **state)
{
    char *t = shown(as_text, 3000 * MIB);
    (void)state;
    assert_contains(t, "xmem: 2 steps of a run on the CPU");
    assert_contains(t, "in step 2 of 2, after 0.000 s; reserved peaks from 0.000 s on");
    assert_contains(t, "the GPU runs out of memory");
    assert_contains(t, "parameters");
    assert_contains(t, "Linear_0");
    assert_contains(t, "(in no layer)");
    assert_contains(t, "Memory over time");
    assert_contains(t, "Left out: ");
    free(t);
}

static void json(void **state)
{
    char *t = shown(as_json, UINT64_MAX);
    (void)state;
    assert_contains(t, "\"method\": \"xmem\"");
    assert_contains(t, "\"out_of_memory\": false");
    assert_contains(t, "\"free_in_segments\"");
    assert_contains(t, "\"forward\": 1049624576");
    assert_contains(t, "\"timeline\": [");
    free(t);
}

/* A million calls that each share all operators would take a year: refused, and soon. Extreme times overflow nothing. */
static void hostile(void **state)
{
    enum { MANY = 200000 };
    struct plm_trace t = trace;
    struct plm_xmem_result r;
    struct plm_error error;
    (void)state;
    empty();
    t = trace;
    t.module = calloc(MANY, sizeof *t.module);
    t.op = calloc(MANY, sizeof *t.op);
    t.memory = calloc(MANY, sizeof *t.memory);
    assert_true(t.module && t.op && t.memory);
    steps[0] = (struct plm_trace_step){0, INT64_MIN, INT64_MAX};
    steps[1] = (struct plm_trace_step){1, INT64_MAX, INT64_MIN};
    t.steps = 2;
    t.modules = t.ops = t.memories = MANY;
    for (int i = 0; i < MANY; i++) {
        t.module[i] = (struct plm_trace_module){INT64_MIN, INT64_MAX, UINT32_MAX, PLM_TRACE_NONE, true};
        t.op[i] = (struct plm_trace_op){0, INT64_MAX, 5, UINT32_MAX, PLM_TRACE_NONE, 0, (uint32_t)PLM_TRACE_NONE};
        t.memory[i] = (struct plm_trace_memory){INT64_MIN, INT64_MAX, (uint64_t)i};
    }
    for (int variant = PLM_XMEM_PUBLISHED; variant <= PLM_XMEM_PLUS; variant++) {
        int status = plm_xmem_estimate(&t, (enum plm_xmem_variant)variant, &r, &error);
        assert_true(status == 0 || status == PLM_EFORMAT);
        if (status == 0)
            plm_xmem_result_free(&r);
        else
            assert_contains(error.text, "autograd");
    }
    free(t.module);
    free(t.op);
    free(t.memory);
}

static uint64_t seed = 7;

static int64_t any(int64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)below);
}

/* Now and then a time that is far off. */
static int64_t any_time(int64_t after)
{
    int64_t far = any(40);
    return far == 0 ? INT64_MAX : far == 1 ? INT64_MIN : after + any(60) - 10;
}

/* Traces of nothing but nonsense: whatever is said of them, its parts fit together. */
static void nonsense(void **state)
{
    static const char *const name[] = {"aten::to",     "aten::empty_like", "aten::dropout",
                                       "aten::detach", "Linear_0",         "CrossEntropyLoss_0",
                                       "Adam",         "aten::empty",      "autograd::engine::evaluate_function: X"};
    (void)state;
    for (int round = 0; round < 2000; round++) {
        int64_t at = any(50) - 100;
        empty();
        for (size_t i = 0; i < COUNT(name); i++)
            name_of(name[i]);
        for (int i = 0; i < 2; i++)
            step(at + 300 * i, i ? any_time(at + 600) : at + 300);
        for (int i = 0; i < 40; i++, at += any(20)) {
            uint32_t what = (uint32_t)any(COUNT(name) + 1);
            int64_t end = any_time(at + 30);
            if (any(3))
                memory(at, any(2) ? any(9) << any(40) : -(any(9) << any(40)), (uint64_t)any(6));
            if (any(4) == 0)
                modules[trace.modules++] = (struct plm_trace_module){at, end, what, PLM_TRACE_NONE, any(3) > 0};
            if (any(8) == 0)
                marks[trace.marks++] =
                    (struct plm_trace_mark){any(2) ? PLM_MARK_ZERO_GRAD : PLM_MARK_OPTIMIZER_STEP, at, end, what};
            if (any(9) == 0)
                to(at, any(2) ? "6" : "99999999999", (uint64_t)any(5) << any(62));
            else
                *op(at, end, any(5) - 1) = (struct plm_trace_op){at, end, any(5) - 1, what, PLM_TRACE_NONE, 0, what};
        }
        for (int variant = PLM_XMEM_PUBLISHED; variant <= PLM_XMEM_PLUS; variant++) {
            struct plm_xmem_result r;
            struct plm_error error;
            int status = plm_xmem_estimate(&trace, (enum plm_xmem_variant)variant, &r, &error);
            if (trace.memories == 0) {
                assert_int_equal(status, PLM_EFORMAT);
                continue;
            }
            assert_int_equal(status, 0);
            assert_true(r.reserved >= r.peak_reserved && r.peak_reserved >= r.allocated);
            for (size_t i = 0; i < r.points; i++)
                assert_true(r.point[i].reserved <= r.reserved && r.point[i].allocated <= r.point[i].reserved);
            plm_xmem_result_free(&r);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_pair),
        cmocka_unit_test(temporaries_are_dropped),
        cmocka_unit_test(losses_keep_temporaries),
        cmocka_unit_test(parents_are_lost),
        cmocka_unit_test(repeated_names),
        cmocka_unit_test(layers_without_operators),
        cmocka_unit_test(layers_before_the_optimizer),
        cmocka_unit_test(operators_nest),
        cmocka_unit_test(detached_results),
        cmocka_unit_test(parameters_from_gradients),
        cmocka_unit_test(gradients_are_dropped_after_the_step),
        cmocka_unit_test(gradients_go_with_zero_grad),
        cmocka_unit_test(optimizer_state),
        cmocka_unit_test(batches),
        cmocka_unit_test(batches_within_modules),
        cmocka_unit_test(estimate),
        cmocka_unit_test(estimate_on_a_small_card),
        cmocka_unit_test(doubts),
        cmocka_unit_test(method),
        cmocka_unit_test(every_block_counts),
        cmocka_unit_test(workspaces_of_the_cpu),
        cmocka_unit_test(optimizer_of_a_gpu),
        cmocka_unit_test(unknown_optimizer),
        cmocka_unit_test(described_model),
        cmocka_unit_test(described_badly),
        cmocka_unit_test(masks),
        cmocka_unit_test(typed_batches),
        cmocka_unit_test(corrected_estimate),
        cmocka_unit_test(text),
        cmocka_unit_test(json),
        cmocka_unit_test(hostile),
        cmocka_unit_test(nonsense),
    };
    return RUN(tests);
}
