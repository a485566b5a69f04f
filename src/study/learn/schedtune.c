/*
 * SchedTune (Albahar et al., CCGrid 2022), its memory model: a random forest over what a network puts out, its
 * parameters, its input, and three figures of the card.
 *
 * The rows that it learns from are device-used memory with the context: a ResNet-18 with 8 images, whose outputs and
 * parameters are 272 MiB, has 1,591 to 1,719 MiB there on four of the five cards. So the context is taken off the
 * forest's answer here, as method.h wants it, and the two together are what the forest says. A forest knows nothing
 * beyond its rows: outside of their ranges the answer is that of the nearest of them, and is marked.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/card.h"
#include "base/draw.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/csv.h"
#include "base/units.h"
#include "study/estimate/amount.h"
#include "study/estimate/description.h"
#include "study/estimate/forest.h"
#include "study/estimate/model_file.h"
#include "study/learn/learner.h"
#include "study/learn/numbers.h"

#define MIB 1048576.0

/* Features of the forest, in its order. Amounts are MiB, as in the published table. */
enum feature {
    ACTIVATIONS, /* bytes of all layers' outputs in one forward pass */
    PARAMETERS,
    INPUT,
    BANDWIDTH,   /* GB/s */
    CORES,       /* CUDA cores */
    SMS,
    FEATURES
};

/* What the forest calls a feature, the published table its column, and an answer its amount. */
static const struct {
    const char *name, *column, *what;
} feature[FEATURES] = {
    [ACTIVATIONS] = {"activations", "activations", "MiB of layer outputs"},
    [PARAMETERS] = {"parameters", "parameters", "MiB of parameters"},
    [INPUT] = {"input", "input", "MiB of input"},
    [BANDWIDTH] = {"bandwidth", "Memory bandwidth (GB/s)", "GB/s"},
    [CORES] = {"cores", "Pipelines/CUDA cores", "CUDA cores"},
    [SMS] = {"sms", "SM count", "SMs"},
};

/* ---- learning ---- */

static const char target[] = "peak mem usage"; /* in the published table */

/* The numbers of the table: x has room for all features of all rows, y for all targets. */
static int read_numbers(const struct plm_csv *table, double *x, double *y, struct plm_error *error)
{
    const struct plm_learn_target answer = {.column = target, .positive = true};
    const char *column[FEATURES];
    for (size_t i = 0; i < FEATURES; i++)
        column[i] = feature[i].column;
    return plm_learn_numbers(table, column, FEATURES, &answer, x, y, error);
}

static int train(const struct plm_lesson *l, void **model, struct plm_error *error)
{
    const struct plm_forest_settings settings = {.trees = l->trees ? l->trees : 100, .seed = l->seed};
    struct plm_forest *forest = plm_calloc(1, sizeof *forest);
    double *x = plm_calloc(l->table->rows, FEATURES * sizeof *x);
    double *y = plm_calloc(l->table->rows, sizeof *y);
    const struct plm_tree_data data = {x, y, l->table->rows, FEATURES};
    struct plm_error why = {0};
    int status = read_numbers(l->table, x, y, error);
    *model = forest;
    if (status == 0) {
        status = plm_forest_train(&data, &settings, forest, &why);
        if (status)
            plm_fail(error, status, "%.200s: %.250s", l->table->path, why.text);
    }
    for (size_t i = 0; i < FEATURES && status == 0; i++)
        snprintf(forest->feature[i].name, sizeof forest->feature[i].name, "%s", feature[i].name);
    snprintf(forest->target, sizeof forest->target, "peak-mib");
    free(x);
    free(y);
    return status;
}

/* ---- in a file ---- */

static int load(const struct plm_method *method, struct plm_model_file *file, void **model)
{
    struct plm_forest *forest = plm_calloc(1, sizeof *forest);
    int status = plm_forest_read(file, forest);
    *model = forest;
    for (size_t i = 0; i < FEATURES && status == 0; i++)
        if (forest->features != FEATURES || strcmp(forest->feature[i].name, feature[i].name) != 0)
            status = plm_fail(file->error, PLM_EFORMAT, "%.300s: the forest has other features than %s", file->path,
                              method->name);
    return status;
}

static void forget(void *model)
{
    if (model)
        plm_forest_free(model);
    free(model);
}

/* ---- what was learned ---- */

static const struct plm_tree_feature *features(const void *model, size_t *count)
{
    const struct plm_forest *f = model;
    *count = f->features;
    return f->feature;
}

static void show(const void *model, const struct plm_page *p)
{
    const struct plm_forest *f = model;
    char low[32], high[32];
    plm_learned_trees_show(p, "schedtune", &f->trees, f->rows, f->seed);
    fprintf(p->out, "The rows range from %s to %s MiB: it cannot predict above %s MiB.\n",
            plm_count_text(low, sizeof low, (uint64_t)rint(f->low)),
            plm_count_text(high, sizeof high, (uint64_t)rint(f->high)), high);
    if (f->oob_rows)
        fprintf(p->out, "On out-of-bag rows (%" PRIu64 "): R%s %.3f, median error %.1f %%.\n", f->oob_rows,
                plm_squared(p), f->oob_r2, 100 * f->oob_error);
    plm_features_show(f->feature, f->features, p);
}

static void describe(const void *model, struct plm_json *json)
{
    const struct plm_forest *f = model;
    plm_learned_trees_describe(json, &f->trees, f->rows, f->seed);
    plm_json_integer(json, "lowest", (uint64_t)(f->low * MIB));
    plm_json_integer(json, "highest", (uint64_t)(f->high * MIB));
    if (f->oob_rows) {
        plm_json_object(json, "out_of_bag");
        plm_json_integer(json, "rows", f->oob_rows);
        plm_json_real(json, "r2", f->oob_r2);
        plm_json_real(json, "median_relative_error", f->oob_error);
        plm_json_end_object(json);
    }
    plm_features_describe(f->feature, f->features, json);
}

/* ---- asking it ---- */

/* Layers that hand on their input or a view of it when a network is evaluated: a summary of a network sees no tensor
   of theirs. That they do not count follows from the published answers: those for ConvNeXt-Tiny are met to 1.9 %
   (median) without them and missed by 10.6 % with them. Layers that work in place do count there. */
static const char *const passing[] = {"AlphaDropout", "DropPath",        "Dropout",  "Dropout1d",
                                      "Dropout2d",    "Dropout3d",       "Flatten",  "Identity",
                                      "Permute",      "StochasticDepth", "Unflatten"};

static bool passes_on(const char *class_name)
{
    for (size_t i = 0; class_name && i < sizeof passing / sizeof passing[0]; i++)
        if (!strcmp(class_name, passing[i]))
            return true;
    return false;
}

static uint64_t layer_outputs(const struct plm_description *d)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < d->calls; i++) {
        const struct plm_described_module *module = &d->module[d->call[i].module];
        for (size_t k = 0; module->leaf && !passes_on(module->class_name) && k < d->call[i].outputs; k++)
            sum = plm_plus(sum, d->call[i].output[k].bytes);
    }
    return sum;
}

static void model_features(const struct plm_description *d, double x[FEATURES])
{
    x[ACTIVATIONS] = (double)layer_outputs(d) / MIB;
    x[PARAMETERS] = (double)d->model.parameter_bytes / MIB;
    x[INPUT] = (double)plm_description_input_bytes(d) / MIB;
}

static void card_features(const struct plm_card *card, double x[FEATURES])
{
    x[BANDWIDTH] = card->bandwidth_gbs;
    x[CORES] = card->cuda_cores;
    x[SMS] = card->sms;
}

static bool has_convolution(const struct plm_description *d)
{
    for (size_t i = 0; i < d->modules; i++)
        if (d->module[i].class_name && !strncmp(d->module[i].class_name, "Conv", 4))
            return true;
    return false;
}

/* The first reason that applies is told: what kind of job first, then the most important feature. */
static void check_domain(const struct plm_evidence *evidence, const double x[FEATURES], struct plm_answer *answer)
{
    const struct plm_description *d = evidence->description;
    const struct plm_forest *forest = evidence->model->model;
    if (d->transformer.known || !has_convolution(d))
        plm_answer_outside(answer, "it learned from CNNs, and this is not one");
    if (strcmp(d->model.dtype, "float32") != 0)
        plm_answer_outside(answer, "it learned from float32, but the model's data type is %s", d->model.dtype);
    for (size_t i = 0; i < FEATURES; i++) {
        const struct plm_tree_feature *known = &forest->feature[i];
        if (x[i] < known->low || x[i] > known->high)
            plm_answer_outside(answer, "%.6g %s: its rows have %.6g to %.6g", x[i], feature[i].what, known->low,
                               known->high);
    }
}

struct prepared {
    const struct plm_evidence *evidence;
    double x[FEATURES]; /* those of the model; the card's come with the question */
};

static void *prepare(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    struct prepared *p = plm_calloc(1, sizeof *p);
    p->evidence = evidence;
    model_features(evidence->description, p->x);
    if (p->x[ACTIVATIONS] <= 0)
        plm_answer_none(answer, "the description has no module calls");
    return p;
}

static void judge(void *prepared, const struct plm_question *question, struct plm_answer *answer)
{
    struct prepared *p = prepared;
    uint64_t used;
    card_features(question->card, p->x);
    if (p->x[BANDWIDTH] <= 0 || p->x[CORES] <= 0 || p->x[SMS] <= 0) {
        plm_answer_none(answer, "the GPU file of %s lacks its bandwidth, cores or SMs", question->card->id);
        return;
    }
    used = (uint64_t)(plm_forest_predict(p->evidence->model->model, p->x) * MIB);
    answer->bytes = used > question->context ? used - question->context : 0;
    check_domain(p->evidence, p->x, answer);
}

/* ---- its row ---- */

static const struct plm_learner learner = {
    .noun = "the trees",
    .takes = PLM_LESSON_TREES,
    .train = train,
    .load = load,
    .put = plm_forest_put,
    .show = show,
    .describe = describe,
    .features = features,
    .free = forget,
};
const struct plm_method plm_method_schedtune = {
    .name = "schedtune",
    .paradigm = PLM_LEARNED,
    .kind = PLM_ANSWER_DEVICE,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "CNNs in float32 and GPUs like its training rows",
    .leaves_out = "the optimizer, anything its training rows do not vary",
    .prepare = prepare,
    .judge = judge,
    .learner = &learner,
};
