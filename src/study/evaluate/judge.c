#include "study/evaluate/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "study/estimate/method.h"

static const char *const response_names[PLM_RESPONSES] = {"absolute", "signed", "none"};
static const char *const origin_names[] = {"virtual", "method", "published"};

const struct plm_published plm_published[PLM_PUBLISHED] = {
    {"xMem", 0.0359, 0.0887, 24.2, "xmem", "xmem"},
    {"DNNMem", 0.1382, 0.5367, 36.4, "dnnmem", "dnnmem-x"},
    {"SchedTune", 0.2484, 0.5055, 0.14, "schedtune", "schedtune"},
    {"LLMem", 0.7683, 0.6577, 17.4, "llmem", "llmem"},
};

const char *plm_response_name(enum plm_response response)
{
    return response_names[response];
}

const char *plm_origin_name(enum plm_origin origin)
{
    return origin_names[origin];
}

const struct plm_truth_row *plm_evaluation_row(const struct plm_evaluation *e, size_t row)
{
    return &e->bench->truth->row[e->row[row]];
}

const struct plm_bench_run *plm_evaluation_run(const struct plm_evaluation *e, size_t row)
{
    return &e->bench->run[e->bench->run_of_row[e->row[row]]];
}

bool plm_family_has(const struct plm_family *family, const struct plm_truth_row *row)
{
    return !family->name || !strcmp(row->family, family->name);
}

/* ---- estimators ---- */

static struct plm_estimator *estimator_add(struct plm_evaluation *e, const char *name, enum plm_origin origin)
{
    struct plm_estimator *by = &e->estimator[e->estimators];
    by->score = plm_calloc(e->rows, sizeof *by->score);
    snprintf(by->name, sizeof by->name, "%s", name);
    by->origin = origin;
    e->estimators++;
    return by;
}

static void add_virtual(struct plm_evaluation *e)
{
    static const struct {
        const char *name;
        bool upper;
    } ways[] = {
        {"plimsoll", false},
        {"plimsoll, upper end", true},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct plm_estimator *by = estimator_add(e, ways[i].name, PLM_ORIGIN_VIRTUAL);
        by->upper = ways[i].upper;
        for (size_t row = 0; row < e->rows; row++)
            by->score[row] = plm_score_virtual(e, by, row);
    }
}

static void add_methods(struct plm_evaluation *e)
{
    const struct plm_bench_settings *s = e->bench->settings;
    for (size_t i = 0; s && i < s->methods; i++) {
        struct plm_estimator *by = estimator_add(e, s->method[i]->name, PLM_ORIGIN_METHOD);
        by->other_kind = !plm_same_kind((int)s->method[i]->kind, e->options.kind);
        for (size_t row = 0; row < e->rows; row++)
            by->score[row] = plm_score_method(e, i, row);
    }
}

static void add_tools(struct plm_evaluation *e)
{
    const struct plm_truth *truth = e->bench->truth;
    for (size_t i = 0; i < truth->tools; i++) {
        char name[48];
        struct plm_estimator *by;
        snprintf(name, sizeof name, "%s (published)", truth->tool[i]);
        by = estimator_add(e, name, PLM_ORIGIN_PUBLISHED);
        for (size_t row = 0; row < e->rows; row++)
            by->score[row] = plm_score_tool(e, i, row);
    }
}

/* ---- what the error of an estimator depends on: the columns of the truth file as factors ---- */

enum { FACTORS = 6, LEAST_OBSERVATIONS = 8 };
static const char *const factor_names[FACTORS] = {"family", "model", "optimizer", "batch", "gpu", "zero_grad"};

static void factor_text(const struct plm_evaluation *e, size_t row, int factor, char *out, size_t size)
{
    const struct plm_truth_row *r = plm_evaluation_row(e, row);
    switch (factor) {
    case 0: snprintf(out, size, "%s", r->family); break;
    case 1: snprintf(out, size, "%s", r->model); break;
    case 2: snprintf(out, size, "%s", r->optimizer); break;
    case 3: snprintf(out, size, "%llu", (unsigned long long)r->batch); break;
    case 4: snprintf(out, size, "%s", plm_evaluation_run(e, row)->card); break;
    default: snprintf(out, size, "%d", r->zero_grad);
    }
}

/* Numbers the values that occur, in their order; PLM_EINVAL if there are too many. */
static int number_levels(const struct plm_evaluation *e, const size_t *row, size_t count, int factor, uint32_t *level)
{
    char(*seen)[128] = plm_calloc(PLM_LEVELS, sizeof *seen);
    uint32_t levels = 0;
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        char text[128];
        factor_text(e, row[i], factor, text, sizeof text);
        for (level[i] = 0; level[i] < levels && strcmp(seen[level[i]], text) != 0; level[i]++)
            ;
        if (level[i] == PLM_LEVELS)
            status = PLM_EINVAL;
        else if (level[i] == levels)
            strcpy(seen[levels++], text);
    }
    free(seen);
    return status;
}

static void factors_analyse(const struct plm_evaluation *e, const size_t *row, const double *value, size_t count,
                            struct plm_anova *anova)
{
    uint32_t *level = plm_calloc(FACTORS * count, sizeof *level);
    struct plm_anova_factor factor[FACTORS];
    int status = 0;
    for (int i = 0; i < FACTORS && status == 0; i++) {
        factor[i] = (struct plm_anova_factor){factor_names[i], level + (size_t)i * count};
        status = number_levels(e, row, count, i, level + (size_t)i * count);
    }
    if (status == 0)
        status = plm_anova_make(value, count, factor, FACTORS, anova);
    free(level);
    if (status)
        *anova = (struct plm_anova){0};
}

static void family_anova(const struct plm_evaluation *e, const struct plm_family *family, size_t estimator,
                         struct plm_anova *anova)
{
    const struct plm_score *score = e->estimator[estimator].score;
    size_t *row = plm_calloc(e->rows, sizeof *row), count = 0;
    double *value = plm_calloc(e->rows, sizeof *value);
    *anova = (struct plm_anova){0};
    for (size_t i = 0; i < e->rows; i++)
        if (score[i].compared && plm_family_has(family, plm_evaluation_row(e, i))) {
            row[count] = i;
            value[count++] = e->options.response == PLM_RESPONSE_SIGNED ? score[i].error : fabs(score[i].error);
        }
    if (count >= LEAST_OBSERVATIONS && e->options.response != PLM_RESPONSE_NONE)
        factors_analyse(e, row, value, count, anova);
    free(row);
    free(value);
}

/* ---- families ---- */

static void family_measure(struct plm_evaluation *e, struct plm_family *family)
{
    struct plm_score *list = plm_calloc(e->rows, sizeof *list);
    family->metrics = plm_calloc(e->estimators, sizeof *family->metrics);
    family->anova = plm_calloc(e->estimators, sizeof *family->anova);
    for (size_t i = 0; i < e->estimators; i++) {
        family->rows = 0;
        for (size_t row = 0; row < e->rows; row++)
            if (plm_family_has(family, plm_evaluation_row(e, row)))
                list[family->rows++] = e->estimator[i].score[row];
        plm_metrics_make(list, family->rows, e->options.seed, &family->metrics[i]);
        family_anova(e, family, i, &family->anova[i]);
    }
    free(list);
}

static size_t family_of(const struct plm_evaluation *e, size_t row)
{
    size_t i = 0;
    while (i < e->families && !plm_family_has(&e->family[i], plm_evaluation_row(e, row)))
        i++;
    return i;
}

/* In the order in which they come in the file. */
static void add_families(struct plm_evaluation *e)
{
    e->family = plm_calloc(e->rows + 1, sizeof *e->family);
    for (size_t row = 0; row < e->rows; row++)
        if (family_of(e, row) == e->families)
            e->family[e->families++].name = plm_evaluation_row(e, row)->family;
    if (e->families > 1)
        e->families++;
    for (size_t i = 0; i < e->families; i++)
        family_measure(e, &e->family[i]);
}

/* ---- all together ---- */

static void add_rows(struct plm_evaluation *e)
{
    const struct plm_bench *bench = e->bench;
    const size_t methods = bench->settings ? bench->settings->methods : 0;
    e->row = plm_calloc(bench->truth->rows + 1, sizeof *e->row);
    e->yardstick = plm_calloc(bench->truth->rows + 1, sizeof *e->yardstick);
    e->estimator = plm_calloc(4 + methods + bench->truth->tools, sizeof *e->estimator);
    for (size_t i = 0; i < bench->truth->rows; i++)
        if (bench->run_of_row[i] != SIZE_MAX) {
            const struct plm_bench_run *run = &bench->run[bench->run_of_row[i]];
            e->yardstick[e->rows] = plm_yardstick(run, &bench->truth->row[i], &e->options);
            e->references += e->yardstick[e->rows].reference;
            e->row[e->rows++] = i;
            e->failed += !run->outcome.done;
        }
}

void plm_judge(const struct plm_bench *bench, const struct plm_judge_options *options, struct plm_evaluation *e)
{
    *e = (struct plm_evaluation){.bench = bench, .options = *options};
    add_rows(e);
    add_virtual(e);
    add_methods(e);
    add_tools(e);
    add_families(e);
}

void plm_evaluation_free(struct plm_evaluation *e)
{
    for (size_t i = 0; i < e->estimators; i++)
        free(e->estimator[i].score);
    for (size_t i = 0; i < e->families; i++) {
        free(e->family[i].metrics);
        free(e->family[i].anova);
    }
    free(e->estimator);
    free(e->row);
    free(e->yardstick);
    free(e->family);
    *e = (struct plm_evaluation){0};
}
