/*
 * Extremely randomised trees over the numbers of a network: memory, or one metric of utilization, as a number. As the
 * study of 2026 has them: parameters, activations, layers and batch. `extratrees+` has all numbers of an example.
 * Inference is a walk down a hundred trees; the answer is never above the largest row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/csv.h"
#include "study/estimate/forest.h"
#include "study/estimate/model_file.h"
#include "study/learn/example.h"
#include "study/learn/learner.h"
#include "study/learn/lesson_rows.h"

/* ---- what the two look at ---- */

static const enum plm_example_number published[] = {PLM_EXAMPLE_PARAMETERS, PLM_EXAMPLE_ACTIVATIONS, PLM_EXAMPLE_LAYERS,
                                                    PLM_EXAMPLE_BATCH};
enum { PUBLISHED = sizeof published / sizeof published[0] };
_Static_assert((int)PLM_EXAMPLE_NUMBER_COUNT <= (int)PLM_TREE_FEATURES, "trees have room for the numbers");

static const char *name_of(bool all)
{
    return all ? "extratrees+" : "extratrees";
}

static size_t looked_at(bool all, size_t feature)
{
    return all ? feature : (size_t)published[feature];
}

static size_t features_of(bool all)
{
    return all ? (size_t)PLM_EXAMPLE_NUMBER_COUNT : (size_t)PUBLISHED;
}

/* The column without its "x_". */
static const char *feature_name(bool all, size_t feature)
{
    return plm_example_column[looked_at(all, feature)] + 2;
}

/* ---- the model ---- */

struct model {
    struct plm_forest forest;
    const struct plm_target *target;
    bool all;
};

/* What the four look at has to be known; of the others -1 is a value like any other. */
static int numbers_take(const void *context, const struct plm_csv *table, size_t row, const struct plm_example *example,
                        double *x, struct plm_error *error)
{
    const bool all = *(const bool *)context;
    (void)table;
    (void)row;
    for (size_t i = 0; i < features_of(all); i++) {
        x[i] = example->number[looked_at(all, i)];
        if (x[i] < 0 && !all)
            return plm_fail(error, PLM_EFORMAT, "%s needs %s of the network, which is unknown", name_of(all),
                            feature_name(all, i));
    }
    return 0;
}

static int forest_learn(const struct plm_lesson *l, const struct plm_lesson_rows *rows, struct model *m,
                        struct plm_error *error)
{
    struct plm_forest_settings settings = PLM_EXTRATREES_SETTINGS;
    double *answer = l->folds ? plm_calloc(rows->data.rows, sizeof *answer) : NULL;
    int status;
    settings.trees = l->trees ? l->trees : settings.trees;
    settings.seed = l->seed;
    status = plm_forest_train(&rows->data, &settings, &m->forest, error);
    if (status == 0 && l->folds)
        status = plm_forest_cross(&rows->data, &settings, (size_t)l->folds, answer, error);
    if (status == 0 && l->folds)
        plm_forest_judge(&rows->data, answer, &m->forest);
    free(answer);
    return status;
}

static bool looks_at_all(const struct plm_method *method)
{
    return method->learner->own != NULL;
}

static int train(const struct plm_lesson *l, void **model, struct plm_error *error)
{
    const bool all = looks_at_all(l->method);
    struct model *m = plm_calloc(1, sizeof *m);
    struct plm_lesson_rows rows;
    struct plm_error why = {0};
    int status = plm_lesson_rows_read(l, features_of(all), numbers_take, &all, &rows, error);
    *model = m;
    m->all = all;
    if (status)
        return status;
    m->target = rows.target;
    status = forest_learn(l, &rows, m, &why);
    plm_lesson_rows_free(&rows);
    if (status)
        return plm_fail(error, status, "%.200s: %.250s", l->path, why.text);
    snprintf(m->forest.target, sizeof m->forest.target, "%s", m->target->column);
    for (size_t i = 0; i < m->forest.features; i++)
        snprintf(m->forest.feature[i].name, sizeof m->forest.feature[i].name, "%s", feature_name(all, i));
    return 0;
}

/* ---- in a file ---- */

/* A forest of something else, or of other features, would give numbers that mean nothing. */
static int model_check(const char *path, struct model *m, struct plm_error *error)
{
    const struct plm_forest *f = &m->forest;
    bool fits = f->features == features_of(m->all);
    for (size_t i = 0; i < f->features && fits; i++)
        fits = !strcmp(f->feature[i].name, feature_name(m->all, i));
    m->target = plm_target_find(f->target);
    if (!fits || !m->target)
        return plm_fail(error, PLM_EFORMAT, "%.300s: the forest has %s than this release of %s", path,
                        fits ? "another target" : "other features", name_of(m->all));
    return 0;
}

static int load(const struct plm_method *method, struct plm_model_file *file, void **model)
{
    struct model *m = plm_calloc(1, sizeof *m);
    int status = plm_forest_read(file, &m->forest);
    *model = m;
    m->all = looks_at_all(method);
    return status ? status : model_check(file->path, m, file->error);
}

static void put(FILE *out, const void *model)
{
    plm_forest_put(out, &((const struct model *)model)->forest);
}

static void forget(void *model)
{
    if (model)
        plm_forest_free(&((struct model *)model)->forest);
    free(model);
}

/* ---- what was learned ---- */

static const struct plm_tree_feature *features(const void *model, size_t *count)
{
    const struct model *m = model;
    *count = m->forest.features;
    return m->forest.feature;
}

static void show(const void *model, const struct plm_page *p)
{
    const struct model *m = model;
    const struct plm_forest *f = &m->forest;
    const char *unit = plm_learned_unit_name(m->target->unit);
    fprintf(p->out, "%s%s%s: %zu trees with %zu nodes learned %s from %" PRIu64 " rows (seed %" PRIu64 ").\n",
            plm_ink(p, PLM_INK_BOLD), name_of(m->all), plm_ink(p, PLM_INK_PLAIN), f->trees.count, f->trees.nodes,
            f->target, f->rows, f->seed);
    fprintf(p->out, "The rows range from %.6g to %.6g %s: it cannot predict beyond that.\n", f->low, f->high, unit);
    if (f->held_rows)
        fprintf(p->out, "On held-out rows (%" PRIu64 "): R%s %.4f, mean error %.4g %s.\n", f->held_rows, plm_squared(p),
                f->held_r2, f->held_error, unit);
    plm_features_show(f->feature, f->features, p);
}

static void describe(const void *model, struct plm_json *json)
{
    const struct model *m = model;
    const struct plm_forest *f = &m->forest;
    plm_json_string(json, "target", f->target);
    plm_json_integer(json, "rows", f->rows);
    plm_json_integer(json, "seed", f->seed);
    plm_json_integer(json, "trees", f->trees.count);
    plm_json_integer(json, "nodes", f->trees.nodes);
    if (f->held_rows) {
        plm_json_object(json, "held_out");
        plm_json_integer(json, "rows", f->held_rows);
        plm_json_real(json, "r2", f->held_r2);
        plm_json_real(json, "mean_error", f->held_error);
        plm_json_end_object(json);
    }
    plm_features_describe(f->feature, f->features, json);
}

/* ---- asking ---- */

static int ask_features(const void *model, const double *x, struct plm_learned_answer *answer, struct plm_error *error)
{
    const struct model *m = model;
    (void)error;
    *answer = (struct plm_learned_answer){.unit = m->target->unit, .with_context = m->target->with_context};
    answer->figure = plm_forest_predict(&m->forest, x);
    plm_learned_range(m->forest.feature, m->forest.features, x, answer);
    return 0;
}

static int ask(const void *model, const struct plm_example *example, struct plm_learned_answer *answer,
               struct plm_error *error)
{
    const struct model *m = model;
    double x[PLM_TREE_FEATURES];
    int status = numbers_take(&m->all, NULL, 0, example, x, error);
    return status ? status : ask_features(model, x, answer, error);
}

/* ---- their rows ---- */

#define LEARNER(looks)                                                 \
    {.noun = "the trees",                                              \
     .takes = PLM_LESSON_TREES | PLM_LESSON_TARGET | PLM_LESSON_FOLDS, \
     .own = looks,                                                     \
     .train = train,                                                   \
     .load = load,                                                     \
     .put = put,                                                       \
     .show = show,                                                     \
     .describe = describe,                                             \
     .features = features,                                             \
     .free = forget,                                                   \
     .ask = ask,                                                       \
     .ask_features = ask_features}

static const struct plm_learner four = LEARNER(NULL);
const struct plm_method plm_method_extratrees = {
    .name = "extratrees",
    .paradigm = PLM_LEARNED,
    .kind = PLM_ANSWER_DEVICE,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "networks like its training rows, on their GPU",
    .leaves_out = "the optimizer, layer kinds and shapes",
    .prepare = plm_learned_prepare,
    .judge = plm_learned_judge,
    .explain = plm_learned_explain,
    .learner = &four,
};

static const struct plm_learner every = LEARNER("every number");
const struct plm_method plm_method_extratrees_all = {
    .name = "extratrees+",
    .paradigm = PLM_LEARNED,
    .kind = PLM_ANSWER_DEVICE,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "networks like its training rows, on their GPU",
    .leaves_out = "shapes of layers",
    .prepare = plm_learned_prepare,
    .judge = plm_learned_judge,
    .explain = plm_learned_explain,
    .learner = &every,
};
