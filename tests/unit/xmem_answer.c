/* What xMem answers as a whole, and how it is shown; traces of nonsense. */
#include "xmem_common.h"

/* ---- the whole ---- */

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
    assert_contains(t, "\n\nMemory by category at the peak\n");
    assert_contains(t, "\n\nMemory by layer at the peak\n");
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
        cmocka_unit_test(estimate), cmocka_unit_test(estimate_on_a_small_card),
        cmocka_unit_test(doubts),   cmocka_unit_test(method),
        cmocka_unit_test(text),     cmocka_unit_test(json),
        cmocka_unit_test(hostile),  cmocka_unit_test(nonsense),
    };
    return RUN(tests);
}
