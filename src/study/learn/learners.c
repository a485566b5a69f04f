#include "study/learn/learner.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/csv.h"

#define MIB 1048576.0

bool plm_learner_answers(const struct plm_learner *learner)
{
    return learner->ask || learner->ask_beside;
}

int plm_lesson_check(const struct plm_lesson *l, struct plm_error *error)
{
    const struct {
        unsigned option;
        bool given;
        const char *name;
    } options[] = {
        {PLM_LESSON_TREES, l->trees > 0, "trees"},
        {PLM_LESSON_TARGET, l->target != NULL, "target"},
        {PLM_LESSON_BIN, l->bin > 0, "bin"},
        {PLM_LESSON_FOLDS, l->folds > 0, "folds"},
        {PLM_LESSON_REGRESSION, l->regression, "regression"},
        {PLM_LESSON_PYTHON, l->python != NULL, "python"},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].given && !(l->method->learner->takes & options[i].option))
            return plm_fail(error, PLM_EINVAL, "%s does not accept --%s", l->method->name, options[i].name);
    return 0;
}

/* ---- what can be learned ---- */

/* A label that `plimsoll dataset` wrote, and what its --from carried over from a table of measured runs. */
static const struct plm_target targets[] = {
    {"measured_device_mib", PLM_LEARNED_MEMORY, 1, true},
    {"device_used", PLM_LEARNED_MEMORY, 1 / MIB, true},
    {"reserved", PLM_LEARNED_MEMORY, 1 / MIB, false},
    {"allocated", PLM_LEARNED_MEMORY, 1 / MIB, false},
    {"step_ms", PLM_LEARNED_TIME, 1, false},
    {"measured_step_ms", PLM_LEARNED_TIME, 1, false},
    {"gputl", PLM_LEARNED_UTILIZATION, 100, false},
    {"gract", PLM_LEARNED_UTILIZATION, 100, false},
    {"smact", PLM_LEARNED_UTILIZATION, 100, false},
    {"smocc", PLM_LEARNED_UTILIZATION, 100, false},
    {"fp32a", PLM_LEARNED_UTILIZATION, 100, false},
    {"measured_gputl", PLM_LEARNED_UTILIZATION, 1, false}, /* DCGM has this one alone in per cent */
    {"measured_gract", PLM_LEARNED_UTILIZATION, 100, false},
    {"measured_smact", PLM_LEARNED_UTILIZATION, 100, false},
    {"measured_smocc", PLM_LEARNED_UTILIZATION, 100, false},
    {"measured_fp32a", PLM_LEARNED_UTILIZATION, 100, false},
};
enum { TARGETS = sizeof targets / sizeof targets[0] };

const struct plm_target *plm_target_find(const char *column)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (!strcmp(targets[i].column, column))
            return &targets[i];
    return NULL;
}

const struct plm_target *plm_target_choose(const struct plm_csv *table, const char *wanted, struct plm_error *error)
{
    const struct plm_target *target;
    if (!wanted)
        wanted = plm_csv_column(table, "measured_device_mib") >= 0 ? "measured_device_mib" : "device_used";
    target = plm_target_find(wanted);
    if (!target)
        plm_fail(error, PLM_EINVAL,
                 "'%.60s' cannot be learned; a target is memory (device_used, reserved, allocated), step_ms or "
                 "utilization (gputl, gract, smact, smocc, fp32a), or one of these with the prefix measured_",
                 wanted);
    else if (plm_csv_column(table, wanted) < 0) {
        plm_fail(error, PLM_EFORMAT, "%.300s has no column %s; `plimsoll dataset` makes such tables", table->path,
                 wanted);
        target = NULL;
    }
    return target;
}

bool plm_target_known(const struct plm_target *target, const struct plm_csv *table, size_t row)
{
    const int step = target->unit == PLM_LEARNED_MEMORY ? -1 : plm_csv_column(table, "step_ms");
    return *plm_csv_cell(table, row, plm_csv_column(table, target->column)) &&
           (step < 0 || *plm_csv_cell(table, row, step));
}

const char *plm_learned_unit_name(enum plm_learned_unit unit)
{
    static const char *const names[] = {
        [PLM_LEARNED_MEMORY] = "MiB", [PLM_LEARNED_UTILIZATION] = "%", [PLM_LEARNED_TIME] = "ms"};
    return names[unit];
}

/* ---- the range of the rows ---- */

void plm_learned_range(const struct plm_tree_feature *feature, size_t features, const double *x,
                       struct plm_learned_answer *answer)
{
    answer->outside = 0;
    answer->feature[0] = '\0';
    for (size_t i = 0; i < features; i++) {
        const struct plm_tree_feature *f = &feature[i];
        double beyond = x[i] < f->low ? f->low - x[i] : x[i] > f->high ? x[i] - f->high : 0;
        double width = f->high > f->low ? f->high - f->low : fmax(fabs(f->high), 1);
        /* Rows and questions come from texts of different precision. */
        if (beyond > 1e-6 * width && beyond / width > answer->outside) {
            answer->outside = beyond / width;
            memcpy(answer->feature, f->name, sizeof answer->feature);
        }
    }
}

/* ---- features as numbers ---- */

/* Of the published lists: that of MLPs has Identity, that of CNNs does not. */
static const char *const activations[] = {"elu",  "gelu", "identity", "leakyrelu", "mish", "prelu",
                                          "relu", "selu", "silu",     "softplus",  "tanh"};
enum { ACTIVATIONS = sizeof activations / sizeof activations[0] };

static int feature_index(const struct plm_tree_feature *feature, size_t features, const char *name)
{
    for (size_t i = 0; i < features; i++)
        if (!strcmp(feature[i].name, name))
            return (int)i;
    return -1;
}

static int feature_number(const char *name, const char *text, double *value, struct plm_error *error)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !isfinite(*value) || !strchr("0123456789.+-", text[0]))
        return plm_fail(error, PLM_EINVAL, "--features: %.40s is '%.40s', which is not a number", name, text);
    return 0;
}

struct features_given {
    const struct plm_tree_feature *feature;
    size_t features;
    double *x;
    bool given[PLM_TREE_FEATURES];
};

static int feature_activation(struct features_given *g, const char *text, struct plm_error *error)
{
    int sin_at = feature_index(g->feature, g->features, "activation_sin"),
        cos_at = feature_index(g->feature, g->features, "activation_cos"), identity = 2, index = 0;
    /* A CNN has convolutions, and its list has no Identity. */
    const bool cnn = feature_index(g->feature, g->features, "convolutions") >= 0;
    double angle;
    while (index < ACTIVATIONS && strcasecmp(activations[index], text) != 0)
        index++;
    if (index == ACTIVATIONS || (cnn && index == identity))
        return plm_fail(error, PLM_EINVAL,
                        "--features: activation is elu, gelu, identity (of MLPs), leakyrelu, mish, prelu, relu, selu, "
                        "silu, softplus or tanh, not '%.40s'",
                        text);
    angle = cnn ? (index - (index > identity)) * M_PI / (ACTIVATIONS - 1) : index * M_PI / ACTIVATIONS;
    g->x[sin_at] = sin(angle);
    g->x[cos_at] = cos(angle);
    g->given[sin_at] = g->given[cos_at] = true;
    return 0;
}

static void features_list(const struct features_given *g, bool missing, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < g->features && used < size; i++)
        if (!missing || !g->given[i])
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", g->feature[i].name);
}

static int feature_parse(struct features_given *g, char *word, struct plm_error *error)
{
    char *value = strchr(word, '='), known[300];
    int at;
    if (value)
        *value++ = '\0';
    at = feature_index(g->feature, g->features, word);
    if (value && at >= 0) {
        g->given[at] = true;
        return feature_number(word, value, &g->x[at], error);
    }
    if (value && !strcmp(word, "activation") && feature_index(g->feature, g->features, "activation_sin") >= 0)
        return feature_activation(g, value, error);
    features_list(g, false, known, sizeof known);
    return plm_fail(error, PLM_EINVAL, "--features takes NAME=NUMBER,...; the model has %s, and no '%.40s'", known,
                    word);
}

int plm_features_parse(const struct plm_model *learned, const char *text, double *x, struct plm_error *error)
{
    struct features_given g = {.x = x};
    char *copy, *rest, missing[300];
    int status = 0;
    if (!learned->method->learner->ask_features)
        return plm_fail(error, PLM_EINVAL, "%s needs the layers of the network, which only a description has",
                        learned->method->name);
    copy = rest = plm_strdup(text);
    g.feature = learned->method->learner->features(learned->model, &g.features);
    for (char *word; status == 0 && (word = strsep(&rest, ","));)
        status = feature_parse(&g, word, error);
    features_list(&g, true, missing, sizeof missing);
    if (status == 0 && missing[0])
        status = plm_fail(error, PLM_EINVAL, "--features lacks %s, which the model was trained with", missing);
    free(copy);
    return status;
}

/* ---- what was learned ---- */

const char *plm_squared(const struct plm_page *page)
{
    return page->utf8 ? "\xc2\xb2" : "^2";
}

void plm_learned_trees_show(const struct plm_page *p, const char *method, const struct plm_trees *trees, uint64_t rows,
                            uint64_t seed)
{
    fprintf(p->out, "%s%s%s: %zu trees with %zu nodes learned from %" PRIu64 " rows (seed %" PRIu64 ").\n",
            plm_ink(p, PLM_INK_BOLD), method, plm_ink(p, PLM_INK_PLAIN), trees->count, trees->nodes, rows, seed);
}

void plm_learned_trees_describe(struct plm_json *json, const struct plm_trees *trees, uint64_t rows, uint64_t seed)
{
    plm_json_integer(json, "rows", rows);
    plm_json_integer(json, "seed", seed);
    plm_json_integer(json, "trees", trees->count);
    plm_json_integer(json, "nodes", trees->nodes);
}

enum { FEATURES_SHOWN = 10, NAME_COLUMNS = 14 };

static int by_importance(const void *a, const void *b)
{
    const struct plm_tree_feature *const *p = a, *const *q = b;
    double d = (*q)->importance - (*p)->importance;
    if (d != 0)
        return d > 0 ? 1 : -1;
    return *p < *q ? -1 : *p > *q;
}

static void features_rank(const struct plm_tree_feature *feature, size_t features,
                          const struct plm_tree_feature *order[PLM_TREE_FEATURES])
{
    for (size_t i = 0; i < features; i++)
        order[i] = &feature[i];
    qsort(order, features, sizeof order[0], by_importance);
}

void plm_features_show(const struct plm_tree_feature *feature, size_t features, const struct plm_page *p)
{
    const struct plm_tree_feature *order[PLM_TREE_FEATURES];
    features_rank(feature, features, order);
    const bool ranked = features && order[0]->importance > 0;
    plm_page_title(p, ranked ? "Feature importance" : "Features");
    for (size_t i = 0; i < features && i < FEATURES_SHOWN; i++) {
        const struct plm_tree_feature *one = order[i];
        fputs("  ", p->out);
        plm_page_name(p, one->name, NAME_COLUMNS, 1);
        if (ranked) {
            fprintf(p->out, " %5.1f %%  ", 100 * one->importance);
            plm_page_bar(p, plm_page_room(p, NAME_COLUMNS + 34), 0, (uint64_t)(1000 * one->importance), 1000);
        }
        fprintf(p->out, "  %g to %g\n", one->low, one->high);
    }
}

void plm_features_describe(const struct plm_tree_feature *feature, size_t features, struct plm_json *json)
{
    const struct plm_tree_feature *order[PLM_TREE_FEATURES];
    features_rank(feature, features, order);
    plm_json_array(json, "features");
    for (size_t i = 0; i < features; i++) {
        plm_json_object(json, NULL);
        plm_json_string(json, "name", order[i]->name);
        if (order[0]->importance > 0)
            plm_json_real(json, "importance", order[i]->importance);
        plm_json_real(json, "lowest", order[i]->low);
        plm_json_real(json, "highest", order[i]->high);
        plm_json_end_object(json);
    }
    plm_json_end_array(json);
}
