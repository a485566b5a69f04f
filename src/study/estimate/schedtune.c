/*
 * SchedTune (Albahar et al., CCGrid 2022), its memory model: a random forest over what a network puts out, its
 * parameters, its input, and three figures of the card.
 *
 * The rows that it learns from are device-used memory with the context: a ResNet-18 with 8 images, whose outputs and
 * parameters are 272 MiB, has 1,591 to 1,719 MiB there on four of the five cards. So the context is taken off the
 * forest's answer here, as method.h wants it, and the two together are what the forest says. A forest knows nothing
 * beyond its rows: outside of their ranges the answer is that of the nearest of them, and is marked.
 */
#include "study/estimate/schedtune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/card.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "study/estimate/amount.h"
#include "study/estimate/description.h"
#include "study/estimate/estimators.h"
#include "study/estimate/forest.h"
#include "study/estimate/learn.h"

#define MIB 1048576.0

/* What the forest calls a feature, the published table its column, and an answer its amount. */
static const struct {
    const char *name, *column, *what;
} feature[PLM_SCHEDTUNE_FEATURES] = {
    [PLM_SCHEDTUNE_ACTIVATIONS] = {"activations", "activations", "MiB of layer outputs"},
    [PLM_SCHEDTUNE_PARAMETERS] = {"parameters", "parameters", "MiB of parameters"},
    [PLM_SCHEDTUNE_INPUT] = {"input", "input", "MiB of input"},
    [PLM_SCHEDTUNE_BANDWIDTH] = {"bandwidth", "Memory bandwidth (GB/s)", "GB/s"},
    [PLM_SCHEDTUNE_CORES] = {"cores", "Pipelines/CUDA cores", "CUDA cores"},
    [PLM_SCHEDTUNE_SMS] = {"sms", "SM count", "SMs"},
};

/* ---- learning ---- */

static const char target[] = "peak mem usage"; /* in the published table */

/* The numbers of the table: x has room for all features of all rows, y for all targets. */
static int read_numbers(const struct plm_table *table, double *x, double *y, struct plm_error *error)
{
    const struct plm_learn_target answer = {.column = target, .positive = true};
    const char *column[PLM_SCHEDTUNE_FEATURES];
    for (size_t i = 0; i < PLM_SCHEDTUNE_FEATURES; i++)
        column[i] = feature[i].column;
    return plm_learn_numbers(table, column, PLM_SCHEDTUNE_FEATURES, &answer, x, y, error);
}

static int forest_learn(const struct plm_table *table, const struct plm_forest_settings *settings,
                        struct plm_forest *forest, struct plm_error *error)
{
    double *x = plm_calloc(table->rows, PLM_SCHEDTUNE_FEATURES * sizeof *x);
    double *y = plm_calloc(table->rows, sizeof *y);
    const struct plm_tree_data data = {x, y, table->rows, PLM_SCHEDTUNE_FEATURES};
    struct plm_error why = {0};
    int status = read_numbers(table, x, y, error);
    if (status == 0) {
        status = plm_forest_train(&data, settings, forest, &why);
        if (status)
            plm_fail(error, status, "%.200s: %.250s", table->path, why.text);
    }
    for (size_t i = 0; i < PLM_SCHEDTUNE_FEATURES && status == 0; i++)
        snprintf(forest->feature[i].name, sizeof forest->feature[i].name, "%s", feature[i].name);
    free(x);
    free(y);
    return status;
}

int plm_schedtune_train(const char *path, const struct plm_forest_settings *settings, struct plm_forest *forest,
                        struct plm_error *error)
{
    struct plm_table table;
    int status = plm_table_read(path, &table, error);
    if (status)
        return status;
    status = forest_learn(&table, settings, forest, error);
    if (status == 0) {
        snprintf(forest->method, sizeof forest->method, PLM_SCHEDTUNE_METHOD);
        snprintf(forest->target, sizeof forest->target, "peak-mib");
    }
    plm_table_free(&table);
    return status;
}

int plm_schedtune_check(const char *path, const struct plm_forest *forest, struct plm_error *error)
{
    if (strcmp(forest->method, PLM_SCHEDTUNE_METHOD) != 0)
        return plm_fail(error, PLM_EFORMAT, "%.300s is a forest for %s, not for " PLM_SCHEDTUNE_METHOD, path,
                        forest->method);
    for (size_t i = 0; i < PLM_SCHEDTUNE_FEATURES; i++)
        if (forest->features != PLM_SCHEDTUNE_FEATURES || strcmp(forest->feature[i].name, feature[i].name) != 0)
            return plm_fail(error, PLM_EFORMAT, "%.300s: the forest has other features than " PLM_SCHEDTUNE_METHOD,
                            path);
    return 0;
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

static void model_features(const struct plm_description *d, double x[PLM_SCHEDTUNE_FEATURES])
{
    x[PLM_SCHEDTUNE_ACTIVATIONS] = (double)layer_outputs(d) / MIB;
    x[PLM_SCHEDTUNE_PARAMETERS] = (double)d->model.parameter_bytes / MIB;
    x[PLM_SCHEDTUNE_INPUT] = (double)plm_description_input_bytes(d) / MIB;
}

static void card_features(const struct plm_card *card, double x[PLM_SCHEDTUNE_FEATURES])
{
    x[PLM_SCHEDTUNE_BANDWIDTH] = card->bandwidth_gbs;
    x[PLM_SCHEDTUNE_CORES] = card->cuda_cores;
    x[PLM_SCHEDTUNE_SMS] = card->sms;
}

static bool has_convolution(const struct plm_description *d)
{
    for (size_t i = 0; i < d->modules; i++)
        if (d->module[i].class_name && !strncmp(d->module[i].class_name, "Conv", 4))
            return true;
    return false;
}

/* The first reason that applies is told: what kind of job first, then the most important feature. */
static void check_domain(const struct plm_evidence *evidence, const double x[PLM_SCHEDTUNE_FEATURES],
                         struct plm_answer *answer)
{
    const struct plm_description *d = evidence->description;
    if (d->transformer.known || !has_convolution(d))
        plm_answer_outside(answer, "it learned from CNNs, and this is none");
    if (strcmp(d->model.dtype, "float32") != 0)
        plm_answer_outside(answer, "it learned from float32, and the model's data type is %s", d->model.dtype);
    for (size_t i = 0; i < PLM_SCHEDTUNE_FEATURES; i++) {
        const struct plm_tree_feature *known = &evidence->forest->feature[i];
        if (x[i] < known->low || x[i] > known->high)
            plm_answer_outside(answer, "%.6g %s: its rows have %.6g to %.6g", x[i], feature[i].what, known->low,
                               known->high);
    }
}

struct prepared {
    const struct plm_evidence *evidence;
    double x[PLM_SCHEDTUNE_FEATURES]; /* those of the model; the card's come with the question */
};

void *plm_prepare_schedtune(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    struct prepared *p = plm_calloc(1, sizeof *p);
    struct plm_error error;
    p->evidence = evidence;
    if (plm_schedtune_check("the forest", evidence->forest, &error)) {
        plm_answer_none(answer, "%.190s", error.text);
        return p;
    }
    model_features(evidence->description, p->x);
    if (p->x[PLM_SCHEDTUNE_ACTIVATIONS] <= 0)
        plm_answer_none(answer, "the description has no calls of modules");
    return p;
}

void plm_judge_schedtune(void *prepared, const struct plm_question *question, struct plm_answer *answer)
{
    struct prepared *p = prepared;
    uint64_t used;
    card_features(question->card, p->x);
    if (p->x[PLM_SCHEDTUNE_BANDWIDTH] <= 0 || p->x[PLM_SCHEDTUNE_CORES] <= 0 || p->x[PLM_SCHEDTUNE_SMS] <= 0) {
        plm_answer_none(answer, "the GPU file of %s lacks its bandwidth, cores or SMs", question->card->id);
        return;
    }
    used = (uint64_t)(plm_forest_predict(p->evidence->forest, p->x) * MIB);
    answer->bytes = used > question->context ? used - question->context : 0;
    check_domain(p->evidence, p->x, answer);
}
