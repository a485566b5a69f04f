/* Networks in C: that they answer as PyTorch does (tests/unit/networks, made by torch.nn's own layers), what they see of
   an example (by hand, with the defects of the published code), and files that are refused. */
#include "study/learn/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/learn/example.h"
#include "models.h"
#include "study/methods/methods.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* ---- as PyTorch ---- */

/* tests/groups/train makes such files anew, with other weights. */
static const char *fixture(const char *name, const char *extension)
{
    static char path[2][4096];
    static int turn;
    const char *folder = getenv("PLM_NETWORKS");
    char *out = path[turn++ % 2];
    if (folder)
        snprintf(out, sizeof path[0], "%s/%s.%s", folder, name, extension);
    else
        snprintf(out, sizeof path[0], "%s/tests/unit/networks/%s.%s", getenv("PLM_SOURCE"), name, extension);
    return out;
}

static struct plm_network loaded(const char *path)
{
    struct plm_model_file file;
    struct plm_error error = {0};
    struct plm_network n;
    if (plm_model_file_open(path, &file, &error) || plm_network_read(plm_methods_find_learner(file.kind), &file, &n))
        fail_msg("%s", error.text);
    plm_model_file_close(&file);
    return n;
}

static size_t numbers(char *line, double **out)
{
    size_t count = 0, room = 0;
    char *rest = strchr(line, ' '), *end;
    for (*out = NULL; rest; rest = end) {
        *out = plm_grow(*out, count, &room, sizeof **out);
        (*out)[count] = strtod(rest, &end);
        if (end == rest)
            break;
        count++;
    }
    return count;
}

static void take_edges(struct plm_view *v, const double *number, size_t count)
{
    v->edges = 0;
    for (size_t i = 0; i + 2 < count; i += 3) {
        v->edge = plm_grow(v->edge, v->edges, &v->edge_room, sizeof *v->edge);
        v->edge[v->edges++] = (struct plm_view_edge){(uint32_t)number[i], (uint32_t)number[i + 1], number[i + 2]};
    }
}

static double *copy(const double *number, size_t count)
{
    double *out = plm_calloc(count, sizeof *out);
    memcpy(out, number, count * sizeof *out);
    return out;
}

static void agree(const struct plm_network *n, const struct plm_view *v, const double *expected, size_t count)
{
    double output[PLM_LEARNED_CLASSES];
    assert_int_equal(count, n->outputs);
    plm_architecture_of(n->method)->run(n, v, output);
    for (size_t i = 0; i < count; i++)
        if (fabs(output[i] - expected[i]) > 1e-4 * fabs(expected[i]) + 1e-4)
            fail_msg("%s: output %zu is %.9g, and PyTorch has %.9g", n->method->name, i, output[i], expected[i]);
}

static int agree_all(const char *name)
{
    struct plm_network n = loaded(fixture(name, "net"));
    char *text = unit_read(fixture(name, "cases"), NULL), *rest = text, *line;
    struct plm_view v = {0};
    int cases = 0;
    while ((line = strsep(&rest, "\n")) && *line) {
        double *number;
        size_t count = numbers(line, &number);
        if (line[0] == 'x')
            memcpy(v.x, number, count * sizeof *number);
        else if (line[0] == 't') {
            free(v.token);
            v.token = copy(number, count);
            v.token_width = plm_gpumemnet_token_width(n.family);
            v.tokens = count / v.token_width;
        } else if (line[0] == 'n') {
            free(v.node);
            v.node = copy(number, count);
            v.nodes = count / PLM_DNNPERF_NODE;
        } else if (line[0] == 'e')
            take_edges(&v, number, count);
        else {
            agree(&n, &v, number, count);
            cases++;
        }
        free(number);
    }
    plm_view_free(&v);
    plm_network_free(&n);
    free(text);
    return cases;
}

static const char *const fixtures[] = {"gpumemnet-mlp", "gpumemnet-mlp-cnn", "gpumemnet-transformer", "dnnperf"};

static void test_as_torch(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(fixtures); i++)
        assert_int_equal(agree_all(fixtures[i]), 4);
}

/* ---- what they see ---- */

static void see(const char *method, enum plm_family family, struct plm_layer *layer, size_t layers,
                const double *number, struct plm_view *v)
{
    struct plm_example e = {.layer = layer, .layers = layers};
    struct plm_error error = {0};
    memcpy(e.number, number, sizeof e.number);
    if (plm_architecture_of(plm_methods_find(method))->view(family, &e, v, &error))
        fail_msg("%s", error.text);
}

static void assert_numbers(const double *is, const double *should, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(is[i] - should[i]) > 1e-9)
            fail_msg("number %zu is %.17g, not %.17g", i, is[i], should[i]);
}
#define NUMBERS(is, ...) assert_numbers(is, (double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double))

/* The first network of the published table, as far as it fits here: 10 -> 5 (BatchNorm, PReLU, dropout) -> 3, batch 4. */
static void test_mlp_features(void **state)
{
    struct plm_layer layer[] = {
        {PLM_LAYER_LINEAR, 20, 5, 55, 400, {0}, 0},  {PLM_LAYER_BATCHNORM, 20, 5, 10, 0, {0}, 1},
        {PLM_LAYER_ACTIVATION, 20, 5, 1, 0, {1}, 1}, {PLM_LAYER_DROPOUT, 20, 5, 0, 0, {2}, 1},
        {PLM_LAYER_LINEAR, 12, 3, 18, 120, {3}, 1},  {PLM_LAYER_ACTIVATION, 12, 3, 0, 0, {4}, 1}};
    const double number[PLM_EXAMPLE_NUMBER_COUNT] = {[PLM_EXAMPLE_BATCH] = 4, [PLM_EXAMPLE_ACTIVATION] = 5};
    struct plm_view v = {0};
    (void)state;
    see("gpumemnet-mlp", PLM_FAMILY_MLP, layer, COUNT(layer), number, &v);
    /* Two Linear; parameters without that of PReLU; 5 + 5 + 5 + 5 + 3 + 3 of one sample; PReLU is the sixth of eleven. */
    NUMBERS(v.x, 2, 4, 83, 26, 1, 1, sin(5 * M_PI / 11), cos(5 * M_PI / 11));
    see("gpumemnet-transformer", PLM_FAMILY_MLP, layer, COUNT(layer), number, &v);
    NUMBERS(v.x, 4, 83, 26, 104);
    assert_int_equal(v.tokens, 6);
    NUMBERS(v.token, 0, 1, 5, 55, 1, 0, 5, 10, 1, 0, 5, 0, 1, 0, 5, 0, 0, 1, 3, 18, 1, 0, 3, 0);
    plm_view_free(&v);
}

/* An image of 2 x 4 x 4 through a convolution of 3, batch 2: conv, BatchNorm, ReLU, max-pool, adaptive pool, linear, a ReLU of
   vectors, dropout of vectors, linear, softmax. */
static void test_cnn_features(void **state)
{
    struct plm_layer layer[] = {
        {PLM_LAYER_CONVOLUTION, 96, 4, 57, 1, {0}, 0}, {PLM_LAYER_BATCHNORM, 96, 4, 6, 1, {0}, 1},
        {PLM_LAYER_ACTIVATION, 96, 4, 0, 1, {1}, 1},   {PLM_LAYER_POOL, 24, 2, 0, 1, {2}, 1},
        {PLM_LAYER_POOL, 6, 1, 0, 1, {3}, 1},          {PLM_LAYER_LINEAR, 10, 5, 20, 1, {4}, 1},
        {PLM_LAYER_ACTIVATION, 10, 5, 0, 1, {5}, 1},   {PLM_LAYER_DROPOUT, 10, 5, 0, 1, {6}, 1},
        {PLM_LAYER_LINEAR, 14, 7, 42, 1, {7}, 1},      {PLM_LAYER_ACTIVATION, 14, 7, 0, 1, {8}, 1}};
    const double number[PLM_EXAMPLE_NUMBER_COUNT] = {[PLM_EXAMPLE_BATCH] = 2, [PLM_EXAMPLE_ACTIVATION] = 6};
    struct plm_view v = {0};
    (void)state;
    see("gpumemnet-mlp", PLM_FAMILY_CNN, layer, COUNT(layer), number, &v);
    /* The max-pool is nothing; ReLU and dropout of vectors are in the depth alone. Activations: 48 * 3 + 3 + 5 + 7 + 7. ReLU is
       the sixth of ten, which have no Identity. */
    NUMBERS(v.x, 9, 166, 332, 125, 2, 1, 1, 1, sin(5 * M_PI / 10), cos(5 * M_PI / 10));
    see("gpumemnet-transformer", PLM_FAMILY_CNN, layer, COUNT(layer), number, &v);
    NUMBERS(v.x, 2, 125, 166, 332, 1, 1, 1, 1, 0); /* sine and cosine without what is behind the point */
    assert_int_equal(v.tokens, 7);
    /* Tokens have the activations of the batch. */
    NUMBERS(v.token, 0, 1, 96, 57, 0, 0, 96, 6, 1, 0, 96, 0, 1, 0, 6, 0, 1, 1, 10, 20, 1, 1, 14, 42, 1, 0, 14, 0);
    plm_view_free(&v);
}

/* Embedding of 3 positions and width 4, LayerNorm, projection, dropout, linear of 8; batch 2. */
static void test_transformer_features(void **state)
{
    struct plm_layer layer[] = {
        {PLM_LAYER_EMBEDDING, 24, 4, 400, 0, {0}, 0}, {PLM_LAYER_LAYERNORM, 24, 4, 8, 0, {0}, 1},
        {PLM_LAYER_PROJECTION, 24, 4, 20, 0, {1}, 1}, {PLM_LAYER_DROPOUT, 24, 4, 0, 0, {2}, 1},
        {PLM_LAYER_ACTIVATION, 24, 4, 0, 0, {3}, 1},  {PLM_LAYER_LINEAR, 48, 8, 40, 0, {4}, 1}};
    const double number[PLM_EXAMPLE_NUMBER_COUNT] = {
        [PLM_EXAMPLE_BATCH] = 2, [PLM_EXAMPLE_PARAMETERS] = 500, [PLM_EXAMPLE_ACTIVATION] = -1};
    struct plm_view v = {0};
    (void)state;
    see("gpumemnet-mlp", PLM_FAMILY_TRANSFORMER, layer, COUNT(layer), number, &v);
    /* 12 of the embedding and again for LayerNorm, 4 of a position twice, 8; the sum times the batch; a projection is linear. */
    NUMBERS(v.x, 5, 40, 80, 500, 2, 1, 2, 1, 1);
    see("gpumemnet-transformer", PLM_FAMILY_TRANSFORMER, layer, COUNT(layer), number, &v);
    NUMBERS(v.x, 5, 40, 500, 2, 1, 2, 80, 1, 1);
    assert_int_equal(v.tokens, 5);
    NUMBERS(v.token, 0, 1, 0, 0, 24, 400, 1, 0, 0, 0, 12, 0, 0, 0, 1, 0, 8, 20, 0, 0, 0, 1, 4, 0, 0, 0, 1, 0, 16, 40);
    plm_view_free(&v);
}

static void test_graph(void **state)
{
    struct plm_layer layer[] = {{PLM_LAYER_LINEAR, 20, 5, 55, 400, {0}, 0},
                                {PLM_LAYER_ACTIVATION, 20, 5, 0, -1, {0}, 1},
                                {PLM_LAYER_OTHER, 20, 5, 0, 0, {0, 1}, 2}};
    const double number[PLM_EXAMPLE_NUMBER_COUNT] = {[PLM_EXAMPLE_BATCH] = 4, [PLM_EXAMPLE_INPUT] = 40};
    struct plm_view v = {0};
    (void)state;
    see("dnnperf", PLM_FAMILY_MLP, layer, COUNT(layer), number, &v);
    assert_int_equal(v.nodes, 3);
    assert_int_equal(v.edges, 3);
    assert_int_equal(v.edge[2].from, 1);
    assert_int_equal(v.edge[2].to, 2);
    assert_true(fabs(v.edge[0].size - log1p(20) / 20) < 1e-6);
    NEAR(v.node[PLM_LAYER_LINEAR], 1);
    assert_true(fabs(v.node[PLM_DNNPERF_NODE - 1] - log1p(40) / 20) < 1e-6); /* the batch */
    NEAR(v.node[PLM_DNNPERF_NODE + PLM_LAYER_KINDS + 3], 0); /* FLOPs that are not known */
    assert_true(fabs(v.node[3 * PLM_DNNPERF_NODE - 1] - log1p(40) / 20) < 1e-6); /* both inputs */
    plm_view_free(&v);
}

static void test_lacks(void **state)
{
    struct plm_example e = {.number = {[PLM_EXAMPLE_BATCH] = 4,
                                       [PLM_EXAMPLE_PARAMETERS] = 83,
                                       [PLM_EXAMPLE_ACTIVATIONS] = 104,
                                       [PLM_EXAMPLE_LINEARS] = 2,
                                       [PLM_EXAMPLE_ACTIVATION] = 0}};
    struct plm_error error = {0};
    struct plm_view v = {0};
    (void)state;
    assert_int_equal(plm_gpumemnet_mlp_view(PLM_FAMILY_MLP, &e, &v, &error), 0); /* numbers are enough */
    NUMBERS(v.x, 2, 4, 83, 26, 0, 0, 0, 1);
    assert_int_equal(plm_gpumemnet_mlp_view(PLM_FAMILY_CNN, &e, &v, &error), PLM_EFORMAT);
    assert_contains(error.text, "network's layers are unknown");
    assert_int_equal(plm_gpumemnet_transformer_view(PLM_FAMILY_MLP, &e, &v, &error), PLM_EFORMAT);
    assert_int_equal(plm_architecture_of(plm_methods_find("dnnperf"))->view(PLM_FAMILY_MLP, &e, &v, &error),
                     PLM_EFORMAT);
    e.number[PLM_EXAMPLE_BATCH] = -1;
    assert_int_equal(plm_gpumemnet_mlp_view(PLM_FAMILY_MLP, &e, &v, &error), PLM_EFORMAT);
    assert_contains(error.text, "batch size");
}

/* ---- what outputs mean ---- */

static void test_answers(void **state)
{
    struct plm_network n = {
        .target = "device_used", .kind = PLM_NETWORK_CLASSES, .outputs = 3, .first = 1000, .width = 2000};
    struct plm_learned_answer a = {0};
    (void)state;
    plm_network_answer(&n, (double[]){0, log(2), 0}, &a);
    assert_int_equal(a.classes, 3);
    NEAR(a.figure, 5000); /* the upper edge of the second class */
    NEAR(a.probability[0], 0.25);
    NEAR(a.probability[1], 0.5);
    NEAR(a.edge[3], 7000);
    assert_true(a.with_context);
    plm_network_answer(&n, (double[]){NAN, INFINITY, -INFINITY}, &a);
    NEAR(a.figure, 5000);
    NEAR(a.probability[1], 1);
    n = (struct plm_network){.target = "gputl", .kind = PLM_NETWORK_NUMBER, .outputs = 1, .first = 40, .width = 10};
    plm_network_answer(&n, (double[]){-1.5}, &a);
    NEAR(a.figure, 25);
    assert_int_equal(a.unit, PLM_LEARNED_UTILIZATION);
    plm_network_answer(&n, (double[]){-9}, &a);
    NEAR(a.figure, 0);
    n.kind = PLM_NETWORK_LOG;
    n.first = log(100);
    n.width = log(2);
    plm_network_answer(&n, (double[]){3}, &a);
    assert_true(fabs(a.figure - 800) < 1e-6);
}

static void test_outside(void **state)
{
    const struct plm_tree_feature feature[] = {{"layers", 2, 12, 0}, {"batch", 8, 8, 0}};
    struct plm_learned_answer a = {0};
    (void)state;
    plm_learned_range(feature, 2, (double[]){2, 8}, &a);
    NEAR(a.outside, 0);
    plm_learned_range(feature, 2, (double[]){17, 8}, &a);
    NEAR(a.outside, 0.5);
    assert_string_equal(a.feature, "layers");
    plm_learned_range(feature, 2, (double[]){1, 8}, &a);
    NEAR(a.outside, 0.1);
    plm_learned_range(feature, 2, (double[]){1, 16}, &a); /* of a range that is a point, in multiples of it */
    NEAR(a.outside, 1);
    assert_string_equal(a.feature, "batch");
}

static void test_features_as_numbers(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"layers=4", "lacks batch, parameters"},
        {"layers=many", "layers is 'many', which is not a number"},
        {"layers", "NAME=NUMBER"},
        {"depth=4", "no 'depth'"},
        {"activation=step", "not 'step'"},
        {"layers=nan", "not a number"},
    };
    struct plm_network n = loaded(fixture("gpumemnet-mlp", "net"));
    const struct plm_model learned = {n.method, &n};
    struct plm_error error = {0};
    double x[PLM_TREE_FEATURES];
    (void)state;
    assert_int_equal(plm_features_parse(&learned,
                                        "batch=64,layers=4,parameters=7e6,activations=9e3,batchnorms=0,dropouts=3,"
                                        "activation=PReLU",
                                        x, &error),
                     0);
    NUMBERS(x, 4, 64, 7e6, 9e3, 0, 3, sin(5 * M_PI / 11), cos(5 * M_PI / 11));
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(plm_features_parse(&learned, bad[i].text, x, &error), PLM_EINVAL);
        assert_contains(error.text, bad[i].part);
    }
    plm_network_free(&n);
}

/* ---- files ---- */

static char *saved(const struct plm_network *n, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    assert_int_equal(plm_model_file_save(out, n->method->name, plm_network_put, n), 0);
    fclose(out);
    return text;
}

/* What Python wrote, C writes again byte by byte. */
static void test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(fixtures); i++) {
        size_t size, again;
        char *text = unit_read(fixture(fixtures[i], "net"), &size), *second;
        struct plm_network n = loaded(fixture(fixtures[i], "net"));
        second = saved(&n, &again);
        assert_int_equal(size, again);
        assert_memory_equal(text, second, size);
        free(text);
        free(second);
        plm_network_free(&n);
    }
}

static void refused(const char *text, size_t size, int code, const char *part)
{
    const char *path = unit_path("bad.net");
    struct plm_error error = {0};
    struct plm_model learned;
    unit_write(path, text, size);
    assert_int_equal(plm_methods_model_open(path, &learned, &error), code);
    assert_contains(error.text, part);
    plm_methods_model_close(&learned);
}

/* A payload with one part replaced, and the header that belongs to it. */
static void refused_with(const char *good, const char *from, const char *to, const char *part)
{
    const char *payload = strchr(good, '\n') + 1, *at = strstr(payload, from), *path;
    char *text, *file;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(at);
    fprintf(out, "%.*s%s%s", (int)(at - payload), payload, to, at + strlen(from));
    fclose(out);
    path = model_write("bad.net", "gpumemnet-mlp", model_put_text, text);
    free(text);
    file = unit_read(path, &size);
    refused(file, size, PLM_EFORMAT, part);
    free(file);
}

#define SEVEN                        \
    "feature layers 0 1000 0\n"      \
    "feature batch 0 1000 0\n"       \
    "feature parameters 0 1000 0\n"  \
    "feature activations 0 1000 0\n" \
    "feature batchnorms 0 1000 0\n"  \
    "feature dropouts 0 1000 0\n"    \
    "feature activation_sin 0 1000 0\n"

static void test_bad_files(void **state)
{
    size_t size;
    char *good = unit_read(fixture("gpumemnet-mlp", "net"), &size), *digit;
    (void)state;
    refused(good, size - 1, PLM_EFORMAT, "is damaged");
    refused(good, size / 2, PLM_EFORMAT, "is damaged");
    refused("plimsoll-model 1 gpumemnet-x 00000000 0\n", 40, PLM_EFORMAT,
            "is for gpumemnet-x, which is not a learned method");
    refused("plimsoll-model 1 horus 00000000 0\n", 34, PLM_EFORMAT, "is for horus, which is not a learned method");
    refused_with(good, "family mlp", "family cnn", "other features than gpumemnet-mlp for the family cnn");
    refused_with(good, "features 8\n" SEVEN "feature activation_cos 0 1000 0\n", "features 7\n" SEVEN,
                 "other features than gpumemnet-mlp for the family mlp");
    refused_with(good, "family mlp", "family rnn", "a family is mlp, cnn or transformer");
    refused_with(good, "target device_used", "target beauty", "'beauty'");
    refused_with(good, "length 0", "length 9", "a sequence of 9 positions");
    refused_with(good, "classes 4", "classes 5", "has 4 x 8 values");
    refused_with(good, "answer classes 4", "answer number 2", "a number is one output");
    refused_with(good, "tensor mlp.3.0.scale 8 1", "tensor mlp.3.0.scalf 8 1", "lack the tensor mlp.3.0.scale");
    refused_with(good, "tensor mlp.0.0.weight 8 8", "tensor mlp.0.0.weight 4000000 8", "too short for that tensor");
    refused_with(good, "tensor mlp.0.0.weight 8 8", "tensor mlp.0.0.weight 7 8", "expected \"tensor\"");
    digit = strstr(good, "tensor mlp.6.0.weight 8 8\n") + strlen("tensor mlp.6.0.weight 8 8\n-0.");
    *digit = *digit == '7' ? '8' : '7';
    refused(good, size, PLM_EFORMAT, "is damaged");
    free(good);
}

/* An answer takes at most 5 ms of the processor; of the longest published sequence, too. */
static void test_quick(void **state)
{
    struct plm_network n = loaded(fixture("gpumemnet-transformer", "net"));
    double output[PLM_LEARNED_CLASSES];
    struct plm_view v = {0};
    clock_t start = clock();
    (void)state;
    for (int i = 0; i < 314 / 9 + 1; i++) /* nine positions here */
        plm_architecture_of(n.method)->run(&n, &v, output);
    assert_true(clock() - start < 5 * CLOCKS_PER_SEC / 1000 * 10); /* ten times as slow under sanitizers */
    plm_network_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_torch),
        cmocka_unit_test(test_mlp_features),
        cmocka_unit_test(test_cnn_features),
        cmocka_unit_test(test_transformer_features),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_lacks),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_features_as_numbers),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_quick),
    };
    return RUN(tests);
}
