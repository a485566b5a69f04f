/* What networks are taught from: the file of numbers that a training gets, worked out by hand from a table, with a shell
   script in place of the Python that trains; the sizes that weights may have; and how plimsoll-learned corrects the time of a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/csv.h"
#include "base/draw.h"
#include "base/install.h"
#include "base/json.h"
#include "common/error.h"
#include "models.h"
#include "study/learn/example.h"
#include "study/learn/learner.h"
#include "study/learn/network.h"
#include "study/learn/white_box.h"
#include "study/methods/methods.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* In place of plm_install_find(). */
int __wrap_plm_install_find(struct plm_install *install, struct plm_error *error);
int __wrap_plm_install_find(struct plm_install *install, struct plm_error *error)
{
    (void)error;
    memset(install, 0, sizeof *install);
    snprintf(install->learn, sizeof install->learn, "%s", unit_path("school"));
    snprintf(install->shims, sizeof install->shims, "the shims");
    return 0;
}

/* ---- tables and schools ---- */

static char table_text[1 << 16];

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    const size_t used = strlen(table_text);
    va_list list;
    va_start(list, format);
    vsnprintf(table_text + used, sizeof table_text - used, format, list);
    va_end(list);
}

static void table_begin(const char *head)
{
    snprintf(table_text, sizeof table_text, "%s\n", head);
}

/* A script that is called as the Python is: MATRIX WEIGHTS STATUS. It keeps the matrix as "seen". */
static void school(const char *then)
{
    char text[2048];
    snprintf(text, sizeof text, "cp \"$1\" '%s'\n%s\n", unit_path("seen"), then);
    unit_write(unit_path("school"), text, strlen(text));
}

/* One that answers with weights of tests/unit/networks. */
static void school_of(const char *fixture)
{
    char then[1024];
    snprintf(then, sizeof then, "cp '%s/tests/unit/networks/%s.net' \"$2\"", getenv("PLM_SOURCE"), fixture);
    school(then);
}

static int learn(struct plm_lesson lesson, const char *method, struct plm_model *learned, struct plm_error *error)
{
    struct plm_csv table;
    int status;
    unit_write(unit_path("rows.csv"), table_text, strlen(table_text));
    *learned = (struct plm_model){.method = plm_methods_find(method)};
    lesson.method = learned->method;
    lesson.path = unit_path("rows.csv");
    lesson.table = &table;
    lesson.python = lesson.python ? lesson.python : "/bin/sh";
    lesson.scratch = unit_folder();
    assert_int_equal(plm_csv_read(lesson.path, &table, error), 0);
    status = learned->method->learner->train(&lesson, &learned->model, error);
    plm_csv_free(&table);
    return status;
}

/* The file of numbers that the school saw; to be freed. */
static char *taught(struct plm_lesson lesson, const char *method)
{
    struct plm_error error = {0};
    struct plm_model learned;
    if (learn(lesson, method, &learned, &error))
        fail_msg("%s", error.text);
    plm_methods_model_close(&learned);
    return unit_read(unit_path("seen"), NULL);
}

static void refused(struct plm_lesson lesson, const char *method, int code, const char *part)
{
    struct plm_error error = {0};
    struct plm_model learned;
    assert_int_equal(learn(lesson, method, &learned, &error), code);
    assert_contains(error.text, part);
    plm_methods_model_close(&learned);
}

#define HEAD                                                                                                   \
    "family,oom,x_batch,x_parameters,x_activations,x_linears,x_activation,measured_device_mib,measured_gputl," \
    "measured_step_ms,layers"

/* 100, 200, ... MiB, 5 %, 10 %, ... and 1, 2, ... ms; batches of 4. Activation 0 is the first of the published list. */
static void rows_put(const char *family, int rows, const char *layers)
{
    for (int i = 1; i <= rows; i++)
        put("%s,0,4,83,%d,2,0,%d,%d,%d,%s\n", family, 400 * i, 100 * i, 5 * i > 100 ? 100 : 5 * i, i, layers);
}

/* ---- the file of numbers ---- */

/* Classes of 1000 MiB for multilayer perceptrons: 1000 is the end of the first, 1100 is in the second. A run out of memory
   stands for 42,000 MiB, as in the published table (docs/network.md). */
static void test_classes(void **state)
{
    struct plm_error error = {0};
    struct plm_model learned;
    const struct plm_network *n;
    char *t;
    (void)state;
    school_of("gpumemnet-mlp");
    table_begin(HEAD);
    rows_put("mlp", 20, "");
    put("mlp,1,4,83,400,2,0,7,7,7,\n");
    put("mlp,0,4,83,400,2,0,,7,7,\n"); /* tells nothing */
    t = taught((struct plm_lesson){.seed = 9, .folds = 3}, "gpumemnet-mlp");
    assert_contains(t, "plimsoll-matrix 3\nmethod gpumemnet-mlp\nfolds 3\nall 0\n");
    assert_contains(t, "\nhead 15\nfamily mlp\ntarget measured_device_mib\nrows 21\nseed 9\nanswer classes 42 0 1000\n"
                       "length 0\n");
    assert_contains(t, "activations 100 2000"); /* of a sample, from the first row to the last */
    assert_contains(t, "\nrow 0 100 2 4 83 100 -1 -1 0 1\n");
    assert_contains(t, "\nrow 0 1000 2 4 83 1000 -1 -1 0 1\nrow 1 1100 ");
    assert_contains(t, "\nrow 1 2000 2 4 83 2000 -1 -1 0 1\nrow 41 42000 2 4 83 100 -1 -1 0 1\n");
    free(t);
    t = taught((struct plm_lesson){.bin = 4, .judged_elsewhere = true}, "gpumemnet-mlp");
    assert_contains(t, "\nfolds 0\nall 1\n");
    assert_contains(t, "\nanswer classes 11 0 4000\n");
    free(t);
    t = taught((struct plm_lesson){.regression = true},
               "gpumemnet-mlp"); /* of a number, runs out of memory are left out */
    assert_contains(t, "\nrows 20\n");
    free(t);
    /* What the school wrote is what was learned. */
    assert_int_equal(learn((struct plm_lesson){0}, "gpumemnet-mlp", &learned, &error), 0);
    n = learned.model;
    assert_string_equal(n->target, "device_used");
    assert_int_equal(n->outputs, 4);
    plm_methods_model_close(&learned);
}

/* Rows that lie from 5.5 to 7.5 GB need no classes below; those of other families are 8 GB wide. */
static void test_first_class(void **state)
{
    char *t;
    (void)state;
    school_of("gpumemnet-mlp");
    table_begin(HEAD);
    for (int i = 0; i <= 20; i++)
        put("mlp,0,4,83,400,2,0,%d,7,7,\n", 5500 + 100 * i);
    t = taught((struct plm_lesson){0}, "gpumemnet-mlp");
    assert_contains(t, "\nanswer classes 3 5000 1000\n");
    assert_contains(t, "\nrow 0 6000 ");
    assert_contains(t, "\nrow 1 6100 ");
    assert_contains(t, "\nrow 2 7500 ");
    free(t);
    table_begin(HEAD);
    rows_put("transformer", 20, "linear:8:2:6:1:");
    put("transformer,0,4,83,400,2,0,256000,7,7,linear:8:2:6:1:\n");
    t = taught((struct plm_lesson){0}, "gpumemnet-mlp");
    assert_contains(t, "\nanswer classes 32 0 8000\n");
    free(t);
    t = taught((struct plm_lesson){.bin = 1}, "gpumemnet-mlp"); /* 256 are the most */
    assert_contains(t, "\nanswer classes 256 0 1000\n");
    free(t);
    put("transformer,0,4,83,400,2,0,256001,7,7,linear:8:2:6:1:\n");
    refused((struct plm_lesson){.bin = 1}, "gpumemnet-mlp", PLM_EINVAL, "257 classes of 1000 MiB are too many");
}

/* Tenths of 100 points, whatever the rows have. */
static void test_shares(void **state)
{
    char *t;
    (void)state;
    school_of("gpumemnet-mlp");
    table_begin(HEAD);
    rows_put("mlp", 20, "");
    put("mlp,0,4,83,400,2,0,7,0,7,\n");
    t = taught((struct plm_lesson){.target = "measured_gputl"}, "gpumemnet-mlp");
    assert_contains(t, "\nanswer classes 10 0 10\n");
    assert_contains(t, "\nrow 0 5 ");
    assert_contains(t, "\nrow 0 10 ");
    assert_contains(t, "\nrow 1 15 ");
    assert_contains(t, "\nrow 9 100 ");
    assert_contains(t, "\nrow 0 0 ");
    free(t);
    refused((struct plm_lesson){.target = "measured_gputl", .bin = 2}, "gpumemnet-mlp", PLM_EINVAL, "--bin");
    refused((struct plm_lesson){.regression = true, .bin = 2}, "gpumemnet-mlp", PLM_EINVAL, "--bin");
    refused((struct plm_lesson){.target = "measured_step_ms"}, "gpumemnet-mlp", PLM_EINVAL, "--regression");
}

/* Numbers by their mean and deviation: of 1 to 20 that is 10.5, and the root of (20^2 - 1) / 12. */
static void test_numbers(void **state)
{
    char *t, *at;
    double first, width;
    (void)state;
    school_of("gpumemnet-mlp");
    table_begin(HEAD);
    rows_put("mlp", 20, "");
    t = taught((struct plm_lesson){.regression = true, .target = "measured_step_ms"}, "gpumemnet-mlp");
    at = strstr(t, "\nanswer number 1 ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\nanswer number 1 %lf %lf", &first, &width), 2);
    NEAR(first, 10.5);
    NEAR(width, sqrt(399.0 / 12));
    assert_contains(t, "\nrow 0 20 ");
    free(t);
    table_begin(HEAD);
    for (int i = 0; i < 20; i++)
        put("mlp,0,4,83,400,2,0,5,5,5,\n");
    t = taught((struct plm_lesson){.regression = true, .target = "measured_step_ms"}, "gpumemnet-mlp");
    assert_contains(t, "\nanswer number 1 5 9.9999999999999995e-07\n"); /* never nothing: it is divided by */
    free(t);
}

/* Tokens and graphs: one layer of 8 elements, width 2, 6 parameters; then one that works on it. */
static void test_layers(void **state)
{
    double first, width;
    char *t, *at;
    (void)state;
    school_of("gpumemnet-transformer");
    table_begin(HEAD);
    rows_put("mlp", 19, "linear:8:2:6:1:");
    put("mlp,0,4,83,400,2,0,5,5,5,linear:8:2:6:1: activation:8:2:0:0:0\n");
    t = taught((struct plm_lesson){0}, "gpumemnet-transformer");
    assert_contains(t, "\nlength 2\n"); /* of the longest */
    assert_contains(t, "\ntokens 0 1 2 6\n");
    assert_contains(t, "\ntokens 0 1 2 6 1 0 2 0\n");
    assert_null(strstr(t, "\nnodes"));
    free(t);
    put("mlp,1,4,83,400,2,0,5,5,5,linear:8:2:6:1:\n"); /* out of memory: 45,000 MiB here */
    t = taught((struct plm_lesson){0}, "gpumemnet-transformer");
    assert_contains(t, "\nanswer classes 45 0 1000\n");
    assert_contains(t, "\nrow 44 45000 ");
    free(t);
    school_of("dnnperf");
    t = taught((struct plm_lesson){.target = "measured_step_ms"}, "dnnperf");
    at = strstr(t, "\nanswer log 1 ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\nanswer log 1 %lf %lf", &first, &width), 2);
    NEAR(first, (lgamma(20) + 2 * log(5)) / 21); /* the mean of the logarithms of 1 to 19 and of 5 twice */
    assert_contains(t, "\nlength 0\n");
    assert_contains(t, "\nedges\n");
    assert_contains(t, "\nedges 0 1 0.10986"); /* log(1 + 8) / 20 */
    free(t);
    t = taught((struct plm_lesson){0}, "dnnperf"); /* which leaves runs out of memory out */
    assert_contains(t, "\nrows 20\n");
    free(t);
    put("cnn,0,4,83,400,2,0,5,5,5,linear:8:2:6:1:\n"); /* a graph is of any family */
    free(taught((struct plm_lesson){0}, "dnnperf"));
    refused((struct plm_lesson){.target = "measured_gputl"}, "dnnperf", PLM_EINVAL, "learns memory and time");
}

static void test_rows_refused(void **state)
{
    const bool left_out[20] = {true};
    (void)state;
    school_of("gpumemnet-mlp");
    table_begin(HEAD);
    rows_put("mlp", 20, "");
    refused((struct plm_lesson){.left_out = left_out}, "gpumemnet-mlp", PLM_EFORMAT,
            "has 19 rows with measured_device_mib, but at least 20 are needed");
    put("cnn,0,4,83,400,2,0,5,5,5,\n");
    refused((struct plm_lesson){0}, "gpumemnet-mlp", PLM_EFORMAT, "has rows of mlp and of cnn");
    table_begin(HEAD);
    rows_put("mlp", 20, "");
    put("rnn,0,4,83,400,2,0,5,5,5,\n");
    refused((struct plm_lesson){0}, "gpumemnet-mlp", PLM_EFORMAT, "mlp, cnn or transformer");
    table_begin(HEAD);
    rows_put("mlp", 20, "");
    put("mlp,0,4,83,400,2,0,0,5,5,\n");
    refused((struct plm_lesson){0}, "gpumemnet-mlp", PLM_EFORMAT, "above 0");
    table_begin("x_batch,measured_device_mib");
    put("4,5\n");
    refused((struct plm_lesson){0}, "gpumemnet-mlp", PLM_EFORMAT, "no column family");
}

/* ---- the school ---- */

static void test_school(void **state)
{
    char then[2048];
    (void)state;
    table_begin(HEAD);
    rows_put("mlp", 20, "");
    school("echo first; echo boom >&2; exit 3");
    refused((struct plm_lesson){0}, "gpumemnet-mlp", PLM_EIO, "/bin/sh could not train: boom; ");
    school("exit 3");
    refused((struct plm_lesson){0}, "gpumemnet-mlp", PLM_EIO, "no message");
    school("kill -9 $$");
    refused((struct plm_lesson){0}, "gpumemnet-mlp", PLM_EIO, "killed by signal 9");
    refused((struct plm_lesson){.python = "/no/such/python"}, "gpumemnet-mlp", PLM_EIO, "/no/such/python");
    school("exit 0");
    refused((struct plm_lesson){0}, "gpumemnet-mlp", PLM_EIO, "output is unusable");
    school_of("dnnperf");
    refused((struct plm_lesson){0}, "gpumemnet-mlp", PLM_EIO, "is of dnnperf");
    /* Without a library of NVIDIA's it ends with 71, and once more in the same way it has failed. */
    school("exit 71");
    refused((struct plm_lesson){0}, "gpumemnet-mlp", PLM_EIO, "could not train");
    snprintf(then, sizeof then,
             "test \"$PLIMSOLL_SHIMS\" = 'the shims' || exit 71\n"
             "test \"${CUDA_VISIBLE_DEVICES-unset}\" = '' || exit 5\ntest \"$PYTHONDONTWRITEBYTECODE\" = 1 || exit 6\n"
             "test \"$(basename \"$3\")\" = status || exit 7\ncp '%s/tests/unit/networks/gpumemnet-mlp.net' \"$2\"",
             getenv("PLM_SOURCE"));
    school(then);
    free(taught((struct plm_lesson){0}, "gpumemnet-mlp"));
}

/* ---- sizes ---- */

/* A network of zeros: `members` of `levels` levels of so many outputs. Its answer is 0 where it is taken. */
static void bound(size_t members, size_t levels, size_t width, const char *says)
{
    const struct plm_method *method = plm_methods_find("gpumemnet-mlp");
    const struct plm_architecture *own = plm_architecture_of(method);
    struct plm_network n = {.method = method, .outputs = 1, .features = 3};
    struct plm_error error = {0};
    char name[64];
    for (size_t m = 0; m < members; m++) {
        size_t in = n.features;
        for (size_t l = 0; l < levels; l++, in = width) {
            static const char *const parts[] = {"bias", "scale", "shift", "mean", "variance"};
            snprintf(name, sizeof name, "mlp.%zu.%zu.weight", m, l);
            assert_non_null(plm_network_add(&n, name, width, in));
            for (size_t i = 0; i < COUNT(parts); i++) {
                snprintf(name, sizeof name, "mlp.%zu.%zu.%s", m, l, parts[i]);
                assert_non_null(plm_network_add(&n, name, width, 1));
            }
        }
        snprintf(name, sizeof name, "mlp.%zu.out.weight", m);
        assert_non_null(plm_network_add(&n, name, 1, in));
        snprintf(name, sizeof name, "mlp.%zu.out.bias", m);
        assert_non_null(plm_network_add(&n, name, 1, 1));
    }
    assert_int_equal(own->bind(&n, &error), says ? PLM_EFORMAT : 0);
    if (says)
        assert_contains(error.text, says);
    else {
        struct plm_view view = {.x = {1, 2, 3}};
        double output = 1;
        own->run(&n, &view, &output);
        NEAR(output, 0);
    }
    plm_network_free(&n);
}

__attribute__((format(printf, 4, 5))) static void tensor(struct plm_network *n, size_t rows, size_t columns,
                                                         const char *format, ...)
{
    char name[PLM_NETWORK_NAME];
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    assert_non_null(plm_network_add(n, name, rows, columns));
}

static void norm(struct plm_network *n, size_t rows, const char *prefix, bool batch)
{
    static const char *const parts[] = {"scale", "shift", "mean", "variance"};
    for (size_t i = 0; i < (batch ? 4 : 2); i++)
        tensor(n, rows, 1, "%s.%s", prefix, parts[i]);
}

static void layer(struct plm_network *n, size_t width, size_t hidden, const char *prefix)
{
    char name[48];
    tensor(n, 3 * width, width, "%s.in.weight", prefix);
    tensor(n, 3 * width, 1, "%s.in.bias", prefix);
    tensor(n, width, width, "%s.out.weight", prefix);
    tensor(n, width, 1, "%s.out.bias", prefix);
    tensor(n, hidden, width, "%s.first.weight", prefix);
    tensor(n, hidden, 1, "%s.first.bias", prefix);
    tensor(n, width, hidden, "%s.second.weight", prefix);
    tensor(n, width, 1, "%s.second.bias", prefix);
    for (int i = 1; i <= 2; i++) {
        snprintf(name, sizeof name, "%s.norm%d", prefix, i);
        norm(n, width, name, false);
    }
}

/* The same of encoders of so many layers, for sequences of two positions. */
static void encoders(size_t count, size_t layers, size_t width, size_t hidden, size_t features, const char *says)
{
    const struct plm_method *method = plm_methods_find("gpumemnet-transformer");
    const struct plm_architecture *own = plm_architecture_of(method);
    struct plm_network n = {.method = method, .outputs = 1, .features = features, .length = 2};
    const size_t token = plm_gpumemnet_token_width(n.family);
    struct plm_error error = {0};
    char name[48];
    for (size_t e = 0; e < count; e++) {
        for (size_t i = 0; i < 2; i++) {
            tensor(&n, width, i ? width : token, "%zu.embed.%zu.weight", e, i);
            tensor(&n, width, 1, "%zu.embed.%zu.bias", e, i);
            snprintf(name, sizeof name, "%zu.embed.%zu", e, i);
            norm(&n, n.length, name, true);
        }
        tensor(&n, n.length, width, "%zu.position", e);
        for (size_t i = 0; i < layers; i++) {
            snprintf(name, sizeof name, "%zu.layer.%zu", e, i);
            layer(&n, width, hidden, name);
        }
        tensor(&n, 1, width + features, "%zu.mlp.0.out.weight", e);
        tensor(&n, 1, 1, "%zu.mlp.0.out.bias", e);
        n.tensor[n.tensors - 1].value[0] = 3;
    }
    assert_int_equal(own->bind(&n, &error), says ? PLM_EFORMAT : 0);
    if (says)
        assert_contains(error.text, says);
    else {
        struct plm_view view = {.x = {1, 2, 3}};
        double output = 1;
        own->run(&n, &view, &output);
        NEAR(output, 3); /* the mean of theirs */
    }
    plm_network_free(&n);
}

/* What there is room for: 64 members of 16 levels of 64 outputs; 8 encoders of 8 layers, 64 wide, 96 with the features. */
static void test_sizes(void **state)
{
    (void)state;
    bound(1, 16, 64, NULL);
    bound(1, 17, 8, "deeper or wider members");
    bound(1, 1, 65, "deeper or wider members");
    bound(64, 0, 1, NULL);
    bound(65, 0, 1, "more members");
    bound(0, 0, 1, "lack the tensor mlp.0.out.weight");
    encoders(8, 1, 4, 4, 3, NULL);
    encoders(9, 1, 4, 4, 3, "more encoders");
    encoders(1, 8, 4, 4, 3, NULL);
    encoders(1, 9, 4, 4, 3, "more layers");
    encoders(1, 1, 64, 64, 32, NULL);
    encoders(1, 1, 64, 65, 3, "wider encoders");
    encoders(1, 1, 65, 4, 3, "wider encoders");
    encoders(1, 1, 64, 4, 33, "wider encoders");
    encoders(0, 1, 4, 4, 3, "lack the tensor 0.embed.0.weight");
}

/* ---- plimsoll-learned: the time of a step ---- */

enum { STEPS = 40 };

/* A step takes 1.5 times what the white box says, with convolutions three times. */
static void steps_put(bool convolutions)
{
    table_begin("family,measured_step_ms,step_ms,reserved,allocated,gputl,x_batch,x_convolutions");
    for (int i = 1; i <= STEPS; i++) {
        const bool has = convolutions && i % 3 == 0;
        put("cnn,%g,%d,%d,%d,0.5,4,%d\n", i * (has ? 3 : 1.5), i, i << 20, i << 19, has);
    }
}

static double step_of(const struct plm_model *m, double step, double convolutions, struct plm_learned_answer *answer)
{
    const struct plm_white_box box = {.reserved = 10, .allocated = 5, .step = step, .metric = {50, -1, -1, -1, -1}};
    struct plm_example example;
    struct plm_error error = {0};
    for (int i = 0; i < PLM_EXAMPLE_NUMBER_COUNT; i++)
        example.number[i] = -1;
    example.number[PLM_EXAMPLE_BATCH] = 4;
    example.number[PLM_EXAMPLE_CONVOLUTIONS] = convolutions;
    if (m->method->learner->ask_beside(m->model, &example, &box, answer, &error))
        fail_msg("%s", error.text);
    assert_int_equal(answer->unit, PLM_LEARNED_TIME);
    assert_string_equal(answer->target, "measured_step_ms");
    return answer->figure;
}

static char *shown(const struct plm_model *m, bool json)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct plm_page page = {.out = out, .width = 100};
    struct plm_json document;
    if (json) {
        plm_json_start(&document, out);
        m->method->learner->describe(m->model, &document);
    } else
        m->method->learner->show(m->model, &page);
    fclose(out);
    return text;
}

static void test_step_factor(void **state)
{
    const struct plm_lesson lesson = {.target = "measured_step_ms"};
    const struct plm_tree_feature *feature;
    struct plm_learned_answer answer;
    struct plm_error error = {0};
    struct plm_model learned;
    size_t features;
    char *t;
    (void)state;
    steps_put(false);
    if (learn(lesson, "plimsoll-learned", &learned, &error))
        fail_msg("%s", error.text);
    NEAR(step_of(&learned, 20, 0, &answer), 30);
    NEAR(step_of(&learned, 2, 0, &answer), 3);
    NEAR(answer.outside, 0);
    assert_true(step_of(&learned, 400, 0, &answer) > 0 && answer.outside > 0);
    assert_string_equal(answer.feature, "log_step");
    feature = learned.method->learner->features(learned.model, &features);
    assert_int_equal(features, 3 + 5 + PLM_EXAMPLE_NUMBER_COUNT);
    assert_string_equal(feature[0].name, "log_reserved");
    assert_string_equal(feature[1].name, "log_allocated");
    assert_string_equal(feature[2].name, "log_step");
    assert_string_equal(feature[3].name, "gputl");
    assert_string_equal(feature[8].name, "batch");
    NEAR(feature[0].low, log(2)); /* 1 to 40 MiB, and one */
    NEAR(feature[0].high, log(41));
    NEAR(feature[1].high, log(21));
    NEAR(feature[2].low, log(2));
    NEAR(feature[2].high, log(41));
    NEAR(feature[3].low, 50);
    NEAR(feature[4].low, -1); /* the table has none */
    NEAR(feature[8].high, 4);
    t = shown(&learned, false);
    assert_contains(t, "measured_step_ms, learned from 40 rows (seed 0)");
    assert_contains(t, "The constant: 1.5 times the forecast.");
    assert_contains(t, "so there are none");
    assert_contains(t, "held-out rows (40): R^2 1.0000, median error "); /* each of 40 was held out once */
    free(t);
    plm_methods_model_close(&learned);
}

/* The middle one of all factors is 1.5; trees tell those with convolutions, on rows that were held out too. */
static void test_step_trees(void **state)
{
    const struct plm_lesson lesson = {.target = "measured_step_ms"};
    struct plm_learned_answer answer;
    struct plm_error error = {0};
    struct plm_model learned;
    char *t;
    (void)state;
    steps_put(true);
    if (learn(lesson, "plimsoll-learned", &learned, &error))
        fail_msg("%s", error.text);
    assert_true(fabs(step_of(&learned, 20, 1, &answer) - 60) < 1);
    assert_true(fabs(step_of(&learned, 20, 0, &answer) - 30) < 1);
    t = shown(&learned, false);
    assert_contains(t, "The constant: 1.5 times the forecast.");
    assert_contains(t, "trees help");
    free(t);
    plm_methods_model_close(&learned);
}

static void test_step_refused(void **state)
{
    const struct plm_lesson lesson = {.target = "measured_step_ms"};
    struct plm_learned_answer answer;
    struct plm_error error = {0};
    struct plm_model learned;
    char *t;
    (void)state;
    steps_put(false);
    put("cnn,5,0,1,1,0.5,4,0\n"); /* a factor of nothing is not a number */
    refused(lesson, "plimsoll-learned", PLM_EFORMAT, "rows.csv:42: the row has measured_step_ms but not");
    steps_put(false);
    refused((struct plm_lesson){.target = "step_ms"}, "plimsoll-learned", PLM_EINVAL, "not step_ms");
    steps_put(false);
    put("cnn,5,,1,1,0.5,4,0\n"); /* PyTorch ended it with an error: there is no step */
    assert_int_equal(learn(lesson, "plimsoll-learned", &learned, &error), 0);
    t = shown(&learned, false);
    assert_contains(t, "learned from 40 rows");
    free(t);
    assert_int_equal(learned.method->learner->ask_beside(learned.model, &(struct plm_example){0},
                                                         &(struct plm_white_box){.reserved = 1, .step = -1}, &answer,
                                                         &error),
                     PLM_EFORMAT);
    assert_contains(error.text, "no step_ms for this job");
    plm_methods_model_close(&learned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),    cmocka_unit_test(test_first_class),  cmocka_unit_test(test_shares),
        cmocka_unit_test(test_numbers),    cmocka_unit_test(test_layers),       cmocka_unit_test(test_rows_refused),
        cmocka_unit_test(test_school),     cmocka_unit_test(test_sizes),        cmocka_unit_test(test_step_factor),
        cmocka_unit_test(test_step_trees), cmocka_unit_test(test_step_refused),
    };
    return RUN(tests);
}
