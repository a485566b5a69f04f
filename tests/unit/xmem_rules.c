/* xMem on traces made by hand: one test for each rule of the method. */
#include "xmem_common.h"

/* ---- what becomes of them ---- */

static int orchestrate(void)
{
    struct plm_error error;
    run = (struct plm_xmem_run){.trace = &trace, .steps = (int)trace.steps < 2 ? (int)trace.steps : 2};
    for (int i = 0; i < run.steps; i++)
        plm_xmem_step(&trace, (size_t)i, &run.step[i]);
    plm_xmem_blocks(&trace, run.step[run.steps - 1].end, &run.blocks);
    return plm_xmem_orchestrate(&run, &error);
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
    };
    return RUN(tests);
}
