/* Networks as estimators that learn see them: from descriptions, from tables, and the cell between the two. */
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "base/csv.h"
#include "study/estimate/description.h"
#include "study/learn/example.h"
#include "study/learn/example_parts.h"
#include "unit.h"

#define HEAD  "{\"schema\": \"plimsoll.description/1\", \"model\": {\"class\": \"Net\", \"parameters\": 1234}, "
#define BATCH "\"batch\": {\"size\": 4, \"inputs\": [{\"shape\": [4, 10], \"bytes\": 160}]}, "
#define ADAM  "\"optimizer\": {\"class\": \"Adam\", \"state_bytes\": 9872}, "
#define LEAF(name, class, parameters) \
    "{\"name\": \"" name              \
    "\", \"class\": \"" class "\", \"leaf\": true, \"parent\": 0, \"own_parameters\": " parameters "}"
#define OUTER(name, class, parent) \
    "{\"name\": \"" name "\", \"class\": \"" class "\", \"leaf\": false, \"parent\": " parent "}"
#define CALL(module, shape, flops) \
    "{\"module\": " module ", \"outputs\": [{\"shape\": [" shape "], \"bytes\": 8}], \"flops\": " flops "}"

static struct plm_example describe(const char *text)
{
    struct plm_error error = {0};
    struct plm_description *d = NULL;
    struct plm_example example;
    if (plm_description_parse("job.json", text, strlen(text), &d, &error))
        fail_msg("%s", error.text);
    if (plm_example_describe(d, &example, &error))
        fail_msg("%s", error.text);
    plm_description_free(d);
    return example;
}

static const char *layers_text(const struct plm_layer *layer, size_t layers)
{
    static char text[4096];
    FILE *out = fmemopen(text, sizeof text, "w");
    plm_layers_put(out, layer, layers);
    fclose(out);
    return text;
}

/* Linear, PReLU, dropout, linear, Softmax: by hand. */
static void test_mlp(void **state)
{
    struct plm_example e =
        describe(
            HEAD BATCH ADAM
            "\"modules\": [" OUTER("", "Sequential", "-1") ", " LEAF("0", "Linear", "55") ", " LEAF("1", "PReLU", "1") ", " LEAF("2", "Dropout", "0") ", " LEAF(
                "3", "Linear",
                "18") ", " LEAF("4", "Softmax",
                                "0") "], \"calls\": [" CALL("1", "4, 5",
                                                            "400") ", " CALL("2", "4, 5",
                                                                             "0") ", " CALL("3", "4, 5",
                                                                                            "0") ", " CALL("4", "4, 3",
                                                                                                           "120") ","
                                                                                                                  " " CALL("5", "4, 3", "0") ", " CALL(
                                                                                                                      "0",
                                                                                                                      "4, 3",
                                                                                                                      "0") "]}");
    static const double expected[PLM_EXAMPLE_NUMBER_COUNT] = {
        [PLM_EXAMPLE_BATCH] = 4,        [PLM_EXAMPLE_LAYERS] = 5,     [PLM_EXAMPLE_PARAMETERS] = 1234,
        [PLM_EXAMPLE_ACTIVATIONS] = 84, [PLM_EXAMPLE_FLOPS] = 520,    [PLM_EXAMPLE_LARGEST] = 20,
        [PLM_EXAMPLE_INPUT] = 40,       [PLM_EXAMPLE_LINEARS] = 2,    [PLM_EXAMPLE_DROPOUTS] = 1,
        [PLM_EXAMPLE_STATE] = 9872,     [PLM_EXAMPLE_ACTIVATION] = 5, /* PReLU */
    };
    (void)state;
    for (int i = 0; i < PLM_EXAMPLE_NUMBER_COUNT; i++)
        if (e.number[i] != expected[i])
            fail_msg("%s is %g, not %g", plm_example_column[i], e.number[i], expected[i]);
    assert_string_equal(layers_text(e.layer, e.layers),
                        "linear:20:5:55:400: activation:20:5:1:0:0 dropout:20:5:0:0:1 linear:12:3:18:120:2 "
                        "activation:12:3:0:0:3");
    plm_example_free(&e);
}

static void test_identity(void **state)
{
    struct plm_example e = describe(HEAD "\"modules\": [" OUTER("", "Sequential", "-1") ", " LEAF(
        "0", "Identity", "0") ", " LEAF("1", "Tanh", "0") "], \"calls\": [" CALL("1", "2, 5", "0") "]}");
    (void)state;
    assert_true(e.number[PLM_EXAMPLE_ACTIVATION] == 2);
    assert_true(e.number[PLM_EXAMPLE_BATCH] == -1 && e.number[PLM_EXAMPLE_STATE] == -1);
    assert_true(e.number[PLM_EXAMPLE_INPUT] == -1);
    plm_example_free(&e);
    e = describe(HEAD "\"modules\": [" OUTER("", "Sequential", "-1") ", " LEAF("0", "Identity", "0") ", " LEAF(
        "1", "Tanh", "0") "], \"calls\": [" CALL("1", "2, 5", "0") ", " CALL("1", "2, 5", "0") ", " CALL("2", "2, 5",
                                                                                                         "0") "]}");
    assert_true(e.number[PLM_EXAMPLE_ACTIVATION] == 10);
    plm_example_free(&e);
}

/* x -> a -> b; add(a, b) -> c: c works on both. The graph has functions between. */
static void test_graph(void **state)
{
    struct plm_example e =
        describe(HEAD "\"modules\": [" OUTER("", "Net", "-1") ", " LEAF("a", "Conv2d", "9") ", " LEAF(
            "b", "BatchNorm2d",
            "2") ", " LEAF("c", "MaxPool2d",
                           "0") "], \"calls\": [" CALL("1", "1, 8",
                                                       "16") ", " CALL("2", "1, 8",
                                                                       "0") ", " CALL("3", "1, 2",
                                                                                      "0") ", " CALL("0", "1, 2",
                                                                                                     "0") "], "
                                                                                                          "\"graph\": "
                                                                                                          "[{\"op\": "
                                                                                                          "\"placeholde"
                                                                                                          "r\"}, "
                                                                                                          "{\"op\": "
                                                                                                          "\"call_"
                                                                                                          "module\", "
                                                                                                          "\"module\": "
                                                                                                          "1, "
                                                                                                          "\"inputs\": "
                                                                                                          "[0]}, "
                                                                                                          "{\"op\": "
                                                                                                          "\"call_"
                                                                                                          "module\", "
                                                                                                          "\"module\": "
                                                                                                          "2, "
                                                                                                          "\"inputs\": "
                                                                                                          "[1]}, "
                                                                                                          "{\"op\": "
                                                                                                          "\"call_"
                                                                                                          "function\", "
                                                                                                          "\"inputs\": "
                                                                                                          "[1, 2]}, "
                                                                                                          "{\"op\": "
                                                                                                          "\"call_"
                                                                                                          "module\", "
                                                                                                          "\"module\": "
                                                                                                          "3, "
                                                                                                          "\"inputs\": "
                                                                                                          "[3]}]}");
    (void)state;
    assert_string_equal(layers_text(e.layer, e.layers), "convolution:8:8:9:16: batchnorm:8:8:2:0:0 pool:2:2:0:0:0+1");
    plm_example_free(&e);
}

/* fx does not look into modules of torch.nn: the layers inside follow one another, the first has the inputs of all. */
static void test_graph_outer(void **state)
{
    struct plm_example e =
        describe(HEAD "\"modules\": [" OUTER("", "Net", "-1") ", " LEAF("e", "Embedding", "50") ", " OUTER(
            "l", "TransformerEncoderLayer",
            "0") ", " OUTER("l.self_attn", "MultiheadAttention",
                            "2") ", "
                                 "{\"name\": \"l.self_attn.out_proj\", \"class\": \"NonDynamicallyQuantizableLinear\", "
                                 "\"leaf\": true, \"parent\": 3,"
                                 " \"own_parameters\": 30}, {\"name\": \"l.norm\", \"class\": \"LayerNorm\", \"leaf\": "
                                 "true, \"parent\": 2}], "
                                 "\"calls\": [" CALL("1", "2, 3, 5", "0") ", " CALL("3", "2, 3, 5", "600") ", " CALL(
                                     "5", "2, 3, 5",
                                     "0") ", " CALL("2", "2, 3, 5",
                                                    "0") "], \"graph\": [{\"op\": \"placeholder\"}, "
                                                         "{\"op\": \"call_module\", \"module\": 1, \"inputs\": [0]}, "
                                                         "{\"op\": \"call_module\", \"module\": 2, \"inputs\": [1]}]}");
    (void)state;
    assert_string_equal(layers_text(e.layer, e.layers),
                        "embedding:30:5:50:0: projection:30:5:30:600:0 layernorm:30:5:0:0:1");
    assert_true(e.number[PLM_EXAMPLE_PROJECTIONS] == 1 && e.number[PLM_EXAMPLE_EMBEDDINGS] == 1);
    assert_true(e.number[PLM_EXAMPLE_LAYERNORMS] == 1 && e.number[PLM_EXAMPLE_LINEARS] == 0);
    plm_example_free(&e);
}

/* What the backward pass computes again is no layer; a graph of another network is not followed. */
static void test_again(void **state)
{
    struct plm_example e =
        describe(HEAD "\"modules\": [" OUTER("", "Net", "-1") ", " LEAF("a", "Linear", "9") "], \"calls\": [" CALL(
            "1", "1, 8", "16") ", " CALL("1", "1, 8", "16") ", {\"module\": 1, \"outputs\": [], \"again\": true}], "
                                                            "\"graph\": [{\"op\": \"call_module\", \"module\": 1}]}");
    (void)state;
    assert_string_equal(layers_text(e.layer, e.layers), "linear:8:8:9:16: linear:8:8:9:16:0");
    plm_example_free(&e);
}

static void test_kinds(void **state)
{
    static const struct {
        const char *class_name, *name;
        enum plm_layer_kind kind;
    } row[] = {
        {"Linear", "fc", PLM_LAYER_LINEAR},
        {"Linear", "model.layers.0.self_attn.o_proj", PLM_LAYER_PROJECTION},
        {"Conv1D", "transformer.h.0.attn.c_proj", PLM_LAYER_PROJECTION},
        {"Conv1D", "transformer.h.0.mlp.c_proj", PLM_LAYER_LINEAR},
        {"Linear", "bert.encoder.layer.0.attention.output.dense", PLM_LAYER_PROJECTION},
        {"Linear", "bert.encoder.layer.0.output.dense", PLM_LAYER_LINEAR},
        {"NonDynamicallyQuantizableLinear", "x", PLM_LAYER_PROJECTION},
        {"Conv1d", "x", PLM_LAYER_CONVOLUTION},
        {"ConvTranspose2d", "x", PLM_LAYER_CONVOLUTION},
        {"SyncBatchNorm", "x", PLM_LAYER_BATCHNORM},
        {"LlamaRMSNorm", "x", PLM_LAYER_LAYERNORM},
        {"AdaptiveAvgPool2d", "x", PLM_LAYER_POOL},
        {"Dropout2d", "x", PLM_LAYER_DROPOUT},
        {"NewGELUActivation", "x", PLM_LAYER_ACTIVATION},
        {"Hardswish", "x", PLM_LAYER_ACTIVATION},
        {"LSTM", "x", PLM_LAYER_RECURRENT},
        {"Flatten", "x", PLM_LAYER_OTHER},
        {"Identity", "x", PLM_LAYER_OTHER},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        const struct plm_described_module m = {.name = row[i].name, .class_name = row[i].class_name};
        if (plm_layer_kind(&m) != row[i].kind)
            fail_msg("%s %s is %s", m.class_name, m.name, plm_layer_name[plm_layer_kind(&m)]);
    }
    assert_int_equal(plm_activation_index("ELU"), 0);
    assert_int_equal(plm_activation_index("NewGELUActivation"), 1);
    assert_int_equal(plm_activation_index("SiLU"), 8);
    assert_int_equal(plm_activation_index("Softmax"), -1);
}

static void test_no_calls(void **state)
{
    static const char text[] = HEAD "\"modules\": [" OUTER("", "Net", "-1") "]}";
    struct plm_error error = {0};
    struct plm_description *d = NULL;
    struct plm_example example;
    (void)state;
    assert_int_equal(plm_description_parse("job.json", text, strlen(text), &d, &error), 0);
    assert_int_equal(plm_example_describe(d, &example, &error), PLM_EFORMAT);
    assert_contains(error.text, "no module calls");
    plm_example_free(&example);
    plm_description_free(d);
}

static void test_table(void **state)
{
    static const char text[] = "family,x_batch,layers,x_flops\n"
                               "mlp,64,linear:20:5:55:400: other:20:5:0:-1:0,\n"
                               "mlp,1,,123456789012\n";
    const char *path = unit_path("rows.csv");
    struct plm_error error = {0};
    struct plm_example e;
    struct plm_csv table;
    (void)state;
    unit_write(path, text, strlen(text));
    assert_int_equal(plm_csv_read(path, &table, &error), 0);
    assert_int_equal(plm_example_read(&table, 0, &e, &error), 0);
    assert_true(e.number[PLM_EXAMPLE_BATCH] == 64 && e.number[PLM_EXAMPLE_FLOPS] == -1);
    assert_true(e.number[PLM_EXAMPLE_LAYERS] == -1);
    assert_string_equal(layers_text(e.layer, e.layers), "linear:20:5:55:400: other:20:5:0:-1:0");
    plm_example_free(&e);
    assert_int_equal(plm_example_read(&table, 1, &e, &error), 0);
    assert_true(e.layers == 0 && e.number[PLM_EXAMPLE_FLOPS] == 123456789012.0);
    plm_example_free(&e);
    plm_csv_free(&table);
}

static void test_refused(void **state)
{
    static const char *const bad[] = {
        "lin:1:1:1:1:",
        "linear",
        "linear:1:1:1:1",
        "linear:1:1:1:1:0",
        "linear:-1:1:1:1:",
        "linear:1:1:1:-2:",
        "linear:1:1:-1:1:",
        "linear:x:1:1:1:",
        "linear:1:1:1:nan:",
        "linear:1e19:1:1:1:",
        "linear:1:1:1:1:\t",
        "linear:::::",
        "linear:1:1:1:1: pool:1:1:1:1:1",
        "linear:1:1:1:1:,",
        "linear:1:1:1:1: pool:1:1:1:1:0+",
        "linear:1:1:1:1: pool:1:1:1:1:0+0+0+0+0+0+0+0+0",
        "linear:1:1:1:1: pool:1:1:1:1:99999999999999999999",
    };
    struct plm_error error = {0};
    struct plm_layer *layer;
    size_t layers;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (plm_layers_parse(bad[i], &layer, &layers, &error) != PLM_EFORMAT)
            fail_msg("taken: %s", bad[i]);
        assert_contains(error.text, "layer ");
        assert_null(layer);
    }
    assert_int_equal(plm_layers_parse("linear:1:1:1:1: pool:1:1:1:1:0+0+0+0+0+0+0+0", &layer, &layers, &error), 0);
    assert_int_equal(layer[1].inputs, 8);
    free(layer);
}

static void test_table_refused(void **state)
{
    static const char text[] = "x_batch,layers\n-3,\n2,linear\n";
    const char *path = unit_path("bad.csv");
    struct plm_error error = {0};
    struct plm_example e;
    struct plm_csv table;
    (void)state;
    unit_write(path, text, strlen(text));
    assert_int_equal(plm_csv_read(path, &table, &error), 0);
    assert_int_equal(plm_example_read(&table, 0, &e, &error), PLM_EFORMAT);
    assert_contains(error.text, "bad.csv:2: x_batch is \"-3\"");
    assert_int_equal(plm_example_read(&table, 1, &e, &error), PLM_EFORMAT);
    assert_contains(error.text, "bad.csv:3: layers: layer 0 is not");
    plm_example_free(&e);
    plm_csv_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mlp),           cmocka_unit_test(test_identity), cmocka_unit_test(test_graph),
        cmocka_unit_test(test_graph_outer),   cmocka_unit_test(test_again),    cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_no_calls),      cmocka_unit_test(test_table),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_table_refused),
    };
    return RUN(tests);
}
