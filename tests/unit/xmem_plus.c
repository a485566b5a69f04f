/* xmem+ on traces made by hand: one test for each rule that it corrects. */
#include "xmem_common.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_counts),
        cmocka_unit_test(workspaces_of_the_cpu),
        cmocka_unit_test(optimizer_of_a_gpu),
        cmocka_unit_test(unknown_optimizer),
        cmocka_unit_test(described_model),
        cmocka_unit_test(described_badly),
        cmocka_unit_test(masks),
        cmocka_unit_test(typed_batches),
        cmocka_unit_test(corrected_estimate),
    };
    return RUN(tests);
}
