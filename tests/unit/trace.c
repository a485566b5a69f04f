#include "study/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "study/trace/event.h"
#include "unit.h"

static struct plm_error error;

#define STEP \
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1000}"
#define MODULE                                                         \
    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"nn.Module: " \
    "Net_0\",\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":100,\"args\":{\"Python id\":2,\"Python parent id\":1}}"
#define MEMORY                                                                                                     \
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":20.5,\"args\":{" \
    "\"Bytes\":512,\"Addr\":4096,\"Device Type\":0}}"
#define LEAST STEP "," MODULE "," MEMORY

static int read_text(const char *text, struct plm_trace *t)
{
    const char *path = unit_path("trace.json");
    unit_write(path, text, strlen(text));
    memset(t, 0x55, sizeof *t);
    error = (struct plm_error){0};
    return plm_trace_read(path, t, &error);
}

/* A document of these events beside the least that is needed. */
static int read_events(const char *events, struct plm_trace *t)
{
    char *text = NULL;
    int status;
    assert_true(asprintf(&text, "{\"schemaVersion\":1,\"traceEvents\":[%s%s%s]}", LEAST, *events ? "," : "", events) >
                0);
    status = read_text(text, t);
    free(text);
    return status;
}

static void refuses(int status, const char *sentence)
{
    assert_int_equal(status, PLM_EFORMAT);
    assert_contains(error.text, "trace.json: ");
    assert_contains(error.text, sentence);
}

static const char *name_of(const struct plm_trace *t, uint32_t number)
{
    assert_true(number < t->names);
    return t->name[number];
}

/* ---- real ones, cut down to one step of a small model ---- */

static void check_real(const struct plm_trace *t)
{
    static const struct {
        const char *name;
        int parent;
        bool leaf;
    } modules[] = {{"Net_0", -1, false},       {"Linear_0", 0, true}, {"ReLU_0", 0, true},
                   {"Sequential_0", 0, false}, {"Linear_1", 3, true}, {"CrossEntropyLoss_0", -1, true}};
    static const struct {
        const char *name;
        int parent, sequence;
    } ops[] = {{"aten::to", -1, 14},
               {"aten::to", -1, 14},
               {"aten::linear", -1, 14},
               {"aten::t", 2, 14},
               {"aten::addmm", 2, 15},
               {"aten::linear", -1, 17},
               {"aten::t", 5, 17},
               {"aten::addmm", 5, 18},
               {"autograd::engine::evaluate_function: AddmmBackward0", -1, 18},
               {"AddmmBackward0", 8, 18},
               {"autograd::engine::evaluate_function: AddmmBackward0", -1, 15},
               {"AddmmBackward0", 10, 15}};
    assert_int_equal(t->steps, 2);
    assert_int_equal(t->step[0].number, 3);
    assert_int_equal(t->step[1].number, 4);
    assert_int_equal(t->marks, 2);
    assert_int_equal(t->mark[0].kind, PLM_MARK_ZERO_GRAD);
    assert_int_equal(t->mark[1].kind, PLM_MARK_OPTIMIZER_STEP);
    assert_string_equal(name_of(t, t->mark[1].name), "Adam");
    assert_int_equal(t->modules, COUNT(modules));
    for (size_t i = 0; i < COUNT(modules); i++) {
        assert_string_equal(name_of(t, t->module[i].name), modules[i].name);
        assert_int_equal(t->module[i].parent, modules[i].parent);
        assert_int_equal(t->module[i].leaf, modules[i].leaf);
    }
    assert_int_equal(t->ops, COUNT(ops));
    for (size_t i = 0; i < COUNT(ops); i++) {
        assert_string_equal(name_of(t, t->op[i].name), ops[i].name);
        assert_int_equal(t->op[i].parent, ops[i].parent);
        assert_int_equal(t->op[i].sequence, ops[i].sequence);
        assert_int_equal(t->op[i].thread, 0);
    }
    assert_int_equal(t->tos, 2);
    assert_int_equal(t->to[t->op[1].detail].elements, 4);
    assert_string_equal(t->to[t->op[1].detail].argument[1], "4");
    assert_string_equal(t->to[t->op[1].detail].argument[5], "False");
    assert_int_equal(t->to[t->op[0].detail].elements, 32);
    assert_int_equal(t->op[2].detail, UINT32_MAX);
    assert_int_equal(t->memories, 2);
    assert_int_equal(t->memory[0].bytes, 256);
    assert_int_equal(t->memory[1].bytes, 64);
    assert_true(t->memory[0].time > t->op[4].start && t->memory[0].time < t->op[4].end);
}

static void real_traces(void **state)
{
    static const struct {
        const char *release;
        int64_t start, end; /* of step 3 */
    } rows[] = {{"2.6.0", 3962102284296303, 3962102294375478},
                {"2.10.0", 3962116107098540, 3962116133595238},
                {"2.15.0", 3962552656625148, 3962552681326016}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_trace t;
        char path[512];
        size_t size;
        snprintf(path, sizeof path, "%s/tests/unit/traces/torch-%s.json", getenv("PLM_SOURCE"), rows[i].release);
        if (plm_trace_read(path, &t, &error))
            fail_msg("%s", error.text);
        check_real(&t);
        assert_int_equal(t.step[0].start, rows[i].start);
        assert_int_equal(t.step[0].end, rows[i].end);
        free(unit_read(path, &size));
        assert_int_equal(t.file_bytes, size);
        assert_null(t.description);
        plm_trace_free(&t);
    }
}

/* ---- parts ---- */

static void times(void **state)
{
    static const struct {
        const char *text;
        bool good;
        int64_t ns;
    } rows[] = {
        {"0", true, 0},
        {"1", true, 1000},
        {"3962058753661.710", true, 3962058753661710},
        {"0.001", true, 1},
        {"0.0019", true, 1},
        {"-2.5", true, -2500},
        {"1e3", true, 1000000},
        {"1.5E-2", true, 15},
        {"1.23456e2", true, 123456},
        {"0.12345678901234567890123", true, 123},
        {"125e-1", true, 12500},
        {"9223372036854775.807", true, INT64_MAX},
        {"9223372036854775.808", false, 0},
        {"1e999", false, 0},
        {"1e-999", true, 0},
        {"0e999", true, 0},
        {"123456789012345678901234567890", false, 0},
        {"NaN", false, 0},
        {"Infinity", false, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t ns = 0;
        if (plm_trace_nanoseconds(rows[i].text, &ns) != rows[i].good)
            fail_msg("%s", rows[i].text);
        if (rows[i].good)
            assert_int_equal(ns, rows[i].ns);
    }
}

/* Keys in another order, a name after its arguments, keys that nobody knows, text that is not JSON but that profilers write. */
static void any_order(void **state)
{
    struct plm_trace t;
    (void)state;
    assert_int_equal(
        read_events(
            "{\"args\":{\"Input Dims\":[[2,3],[[1],[2]]],\"x\":{\"y\":[{}]},\"Sequence number\":7,\"Concrete "
            "Inputs\":[\"\",\"6\",[1],null,"
            "\"a text that is longer than "
            "fifteen\"],\"nan\":NaN},\"dur\":2,\"ts\":30,\"tid\":1,\"pid\":1,\"name\":\"aten::to\",\"cat\":\"cpu_op\","
            "\"ph\":\"X\"},{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"a\tb\xff\",\"ts\":1,\"dur\":1}",
            &t),
        0);
    assert_int_equal(t.ops, 1);
    assert_int_equal(t.op[0].start, 30000);
    assert_int_equal(t.op[0].end, 32000);
    assert_int_equal(t.op[0].sequence, 7);
    assert_int_equal(t.op[0].detail, 0);
    assert_int_equal(t.to[0].elements, 6);
    assert_string_equal(t.to[0].argument[0], "");
    assert_string_equal(t.to[0].argument[1], "6");
    assert_string_equal(t.to[0].argument[2], "");
    assert_string_equal(t.to[0].argument[4], "a text that is ");
    assert_string_equal(t.to[0].argument[5], "");
    plm_trace_free(&t);
}

#define OP(name, tid, ts, dur) \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur "}"

static void operators_nest(void **state)
{
    static const struct {
        const char *name;
        int parent;
    } expected[] = {{"a", -1}, {"b", 0},        {"other", -1},  {"c", 1},      {"moment", 3},
                    {"d", 0},  {"overlap", -1}, {"in both", 6}, {"after", -1}, {"same", 8}};
    struct plm_trace t;
    (void)state;
    assert_int_equal(
        read_events(
            OP("c", "1", "30", "10") "," OP("b", "1", "10", "40") "," OP("a", "1", "10", "90") "," OP(
                "other", "2", "20",
                "100") "," OP("moment", "1", "40",
                              "0") "," OP("d", "1", "60", "10") "," OP("overlap", "1", "80",
                                                                       "40") "," OP("in both", "1", "90",
                                                                                    "5") "," OP("after", "1", "120",
                                                                                                "7") "," OP("same", "1",
                                                                                                            "120", "7"),
            &t),
        0);
    assert_int_equal(t.ops, COUNT(expected));
    for (size_t i = 0; i < t.ops; i++) {
        assert_string_equal(name_of(&t, t.op[i].name), expected[i].name);
        assert_int_equal(t.op[i].parent, expected[i].parent);
        assert_int_equal(t.op[i].thread, i == 2);
        assert_true(i == 0 || t.op[i].start >= t.op[i - 1].start);
    }
    plm_trace_free(&t);
}

#define CALL(name, id, parent, ts, dur)                                                                              \
    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":" dur \
    ",\"args\":{\"Python id\":" id ",\"Python parent id\":" parent "}}"

/* Callers may stand behind what they call, be absent, or be said to call each other. */
static void modules_nest(void **state)
{
    static const struct {
        const char *name;
        int parent;
        bool leaf;
    } expected[] = {{"Net_0", -1, false},  {"Block_0", 0, false},   {"Linear_0", 1, true}, {"Orphan_0", -1, true},
                    {"Round_0", -1, true}, {"Mutual_0", -1, false}, {"Mutual_1", 5, true}, {"Self_0", -1, true}};
    struct plm_trace t;
    (void)state;
    assert_int_equal(
        read_events(
            CALL("nn.Module: Linear_0", "9", "8", "30", "5") "," CALL("f.py(1): g", "8", "7", "29", "8") "," CALL(
                "f.py(1): h", "7", "6", "28",
                "10") "," CALL("nn.Module: Block_0", "6", "2", "27",
                               "12") "," CALL("nn.Module: Orphan_0", "20", "99", "40",
                                              "1") "," CALL("nn.Module: Round_0", "30", "31", "50",
                                                            "1") "," CALL("r", "31", "32", "50",
                                                                          "1") "," CALL("r", "32", "31", "50",
                                                                                        "1") "," CALL("nn.Module: "
                                                                                                      "Mutual_0",
                                                                                                      "40", "41", "60",
                                                                                                      "5") "," CALL("nn"
                                                                                                                    ".M"
                                                                                                                    "od"
                                                                                                                    "ul"
                                                                                                                    "e:"
                                                                                                                    " M"
                                                                                                                    "ut"
                                                                                                                    "ua"
                                                                                                                    "l_"
                                                                                                                    "1",
                                                                                                                    "4"
                                                                                                                    "1",
                                                                                                                    "4"
                                                                                                                    "0",
                                                                                                                    "6"
                                                                                                                    "1",
                                                                                                                    "1") "," CALL("nn.Module: Self_0",
                                                                                                                                  "50",
                                                                                                                                  "50",
                                                                                                                                  "70",
                                                                                                                                  "1"),
            &t),
        0);
    assert_int_equal(t.modules, COUNT(expected));
    for (size_t i = 0; i < t.modules; i++) {
        assert_string_equal(name_of(&t, t.module[i].name), expected[i].name);
        assert_int_equal(t.module[i].parent, expected[i].parent);
        assert_int_equal(t.module[i].leaf, expected[i].leaf);
    }
    plm_trace_free(&t);
}

static void memory_in_order(void **state)
{
#define EVENT(ts, bytes)                                                                                         \
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"ts\":" ts ",\"args\":{\"Bytes\":" bytes \
    ",\"Addr\":-8}}"
    static const int64_t expected[] = {3, 1, -1, 512, 2};
    struct plm_trace t;
    (void)state;
    assert_int_equal(read_events(EVENT("30", "2") "," EVENT("10", "1") "," EVENT("10", "-1") "," EVENT("5", "3"), &t),
                     0);
    assert_int_equal(t.memories, COUNT(expected));
    for (size_t i = 0; i < t.memories; i++)
        assert_int_equal(t.memory[i].bytes, expected[i]);
    assert_int_equal(t.memory[0].address, UINT64_MAX - 7);
    plm_trace_free(&t);
}

/* A loss that is a function is a layer too, and a module around it is none then. */
static void losses_are_layers(void **state)
{
    static const char events[] = CALL("nn.Module: CrossEntropyLoss_7", "70", "1", "70",
                                      "9") "," CALL("torch/nn/functional.py(3): cross_entropy", "71", "70", "71", "5");
    struct plm_trace t;
    size_t last;
    (void)state;
    assert_int_equal(read_events(events, &t), 0);
    last = t.modules - 1;
    assert_string_equal(name_of(&t, t.module[last].name), "cross_entropy");
    assert_string_equal(name_of(&t, t.module[last - 1].name), "CrossEntropyLoss_7");
    assert_true(t.module[last].leaf && !t.module[last - 1].leaf);
    assert_int_equal(t.module[last].parent, last - 1);
    plm_trace_free(&t);
}

/* A function named zero_grad counts only where no optimizer says that it dropped gradients. */
static void zero_grad(void **state)
{
    static const char function[] = CALL("torch/nn/modules/module.py(99): zero_grad", "60", "1", "5",
                                        "2") "," CALL("x.py(1): not_zero_grad", "61", "1", "8", "1");
    static const char both[] = CALL("torch/optim/optimizer.py(99): zero_grad", "60", "1", "5",
                                    "2") ",{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":"
                                         "\"Optimizer.zero_grad#SGD.zero_grad\",\"ts\":6,\"dur\":1}";
    struct plm_trace t;
    (void)state;
    assert_int_equal(read_events(function, &t), 0);
    assert_int_equal(t.marks, 1);
    assert_int_equal(t.mark[0].kind, PLM_MARK_ZERO_GRAD);
    assert_int_equal(t.mark[0].start, 5000);
    assert_string_equal(name_of(&t, t.mark[0].name), "");
    plm_trace_free(&t);
    assert_int_equal(read_events(both, &t), 0);
    assert_int_equal(t.marks, 1);
    assert_int_equal(t.mark[0].start, 6000);
    assert_string_equal(name_of(&t, t.mark[0].name), "SGD");
    plm_trace_free(&t);
}

static void description(void **state)
{
    struct plm_trace t;
    (void)state;
    assert_int_equal(
        read_text("{\"plimsoll_description\": {\"a\": [1, \"\\u00e4\"]} , \"traceEvents\":[" LEAST "]}", &t), 0);
    assert_string_equal(t.description, "{\"a\": [1, \"\\u00e4\"]}");
    assert_int_equal(t.description_size, strlen(t.description));
    plm_trace_free(&t);
}

/* ---- refusals ---- */

static void unusable(void **state)
{
    struct plm_trace t;
    (void)state;
    refuses(read_text("{\"traceEvents\":[" STEP "," MODULE "]}", &t), "without profile_memory=True");
    refuses(read_text("{\"traceEvents\":[" MODULE "," MEMORY "]}", &t), "prof.step() was never called");
    refuses(read_text("{\"traceEvents\":[" STEP "," MEMORY "]}", &t), "without with_stack=True");
    refuses(read_text("{\"traceEvents\":[]}", &t), "not a trace of torch.profiler");
    refuses(read_text("{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"blink\",\"name\":\"x\",\"ts\":1,\"dur\":1}]}", &t),
            "not a trace of torch.profiler");
    refuses(read_text("[" LEAST "]", &t), "not a trace of torch.profiler");
    refuses(read_text("{\"traceEvents\":{}}", &t), "not a trace of torch.profiler");
    refuses(read_text("{\"traceEvents\":[1]}", &t), "not a trace of torch.profiler");
    refuses(read_text("{\"a\":1}", &t), "not a trace of torch.profiler");
    refuses(read_events("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":1}", &t),
            "a trace of a GPU run");
    refuses(read_events("{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"ts\":1,\"args\":{"
                        "\"Bytes\":1,\"Addr\":1,\"Device Type\":1}}",
                        &t),
            "a trace of a GPU run");
    assert_int_equal(plm_trace_read(unit_path("absent"), &t, &error), PLM_ENOTFOUND);
}

static void wrong_types(void **state)
{
    static const struct {
        const char *event, *sentence;
    } rows[] = {
        {"{\"ts\":\"1\"}", "event 3: \"ts\" is not a time"},
        {"{\"ts\":1e999}", "\"ts\" is not a time"},
        {"{\"ts\":NaN}", "\"ts\" is not a time"},
        {"{\"dur\":[]}", "\"dur\" is not a time"},
        {"{\"name\":1}", "\"name\" is not a string"},
        {"{\"cat\":{}}", "\"cat\" is not a string"},
        {"{\"ph\":null}", "\"ph\" is not a string"},
        {"{\"tid\":[1]}", "\"tid\" is not a number or a string"},
        {"{\"args\":[]}", "\"args\" is not an object"},
        {"{\"args\":{\"Python id\":\"1\"}}", "\"Python id\" is not a whole number"},
        {"{\"args\":{\"Bytes\":1.5}}", "\"Bytes\" is not a whole number"},
        {"{\"args\":{\"Addr\":99999999999999999999}}", "\"Addr\" is not a whole number"},
        {"{\"args\":{\"Concrete Inputs\":\"x\"}}", "\"Concrete Inputs\" is not an array"},
        {"{\"args\":{\"Input Dims\":[1]}}", "\"Input Dims\" is not a list of shapes"},
        {"{\"args\":{\"Input Dims\":[[4294967296,4294967296]]}}", "\"Input Dims\" is not a list of shapes"},
        {"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\"}", "it has no \"ts\""},
        {"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":-1}", "it ends before it starts"},
        {"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":9e15,\"dur\":9e15}", "out of range"},
        {"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"a\",\"ts\":1,\"args\":{\"Python id\":-1}}",
         "is out of range"},
        {"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#x\",\"ts\":1}", "has no number"},
        {"{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"ts\":1,\"args\":{\"Bytes\":1}}",
         "without \"ts\", \"Bytes\" or \"Addr\""},
    };
    struct plm_trace t;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        refuses(read_events(rows[i].event, &t), rows[i].sentence);
}

static void hostile(void **state)
{
    static const char document[] = "{\"plimsoll_description\":{},\"traceEvents\":[" LEAST "]}";
    char deep[400];
    struct plm_trace t;
    (void)state;
    for (size_t n = 0; n + 1 < sizeof document; n++) {
        char *text = strndup(document, n);
        refuses(read_text(text, &t), "not JSON");
        free(text);
    }
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    memcpy(deep, "{\"a\":", 5);
    refuses(read_text(deep, &t), "64 levels");
    /* Keys twice: the last one counts, and what the first one had is given back. */
    assert_int_equal(read_text("{\"plimsoll_description\":1,\"plimsoll_description\":2,\"traceEvents\":[" LEAST
                               "],\"traceEvents\":[" MEMORY "]}",
                               &t),
                     0);
    assert_string_equal(t.description, "2");
    assert_int_equal(t.memories, 2);
    plm_trace_free(&t);
    assert_int_equal(
        read_events("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"name\":\"b\",\"ts\":1,\"ts\":2,\"dur\":1}", &t),
        0);
    assert_string_equal(name_of(&t, t.op[0].name), "b");
    assert_int_equal(t.op[0].start, 2000);
    plm_trace_free(&t);
}

/* Long names keep their beginning, whole characters of it; and very many of them are still told apart. */
static void names(void **state)
{
    enum { MANY = 50000 };
    char *events = NULL, name[601];
    size_t size = 0;
    FILE *out = open_memstream(&events, &size);
    struct plm_trace t;
    (void)state;
    for (size_t i = 0; i < 600; i += 2)
        memcpy(name + i, "\xc3\xa4", 3);
    fprintf(out, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"x%s\",\"ts\":0,\"dur\":1}", name);
    for (int i = 0; i < MANY; i++)
        fprintf(out, ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\",\"ts\":%d,\"dur\":1}", i, MANY + 1 - i);
    fclose(out);
    assert_int_equal(read_events(events, &t), 0);
    free(events);
    assert_int_equal(t.ops, MANY + 1);
    assert_int_equal(t.names, MANY + 3); /* "", the module's, and the long one */
    assert_int_equal(strlen(name_of(&t, t.op[0].name)), PLM_TRACE_NAME - 1);
    assert_string_equal(name_of(&t, t.op[1].name), "op49999");
    plm_trace_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_traces),     cmocka_unit_test(times),        cmocka_unit_test(any_order),
        cmocka_unit_test(operators_nest),  cmocka_unit_test(modules_nest), cmocka_unit_test(losses_are_layers),
        cmocka_unit_test(memory_in_order), cmocka_unit_test(zero_grad),    cmocka_unit_test(description),
        cmocka_unit_test(unusable),        cmocka_unit_test(wrong_types),  cmocka_unit_test(hostile),
        cmocka_unit_test(names),
    };
    return RUN(tests);
}
