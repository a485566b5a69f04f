#include "study/evaluate/judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "study/estimate/method.h"

static const char *const response_names[PLM_RESPONSES] = {"absolute", "signed", "none"};
static const char *const origin_names[] = {"virtual", "method", "published"};

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

static struct plm_estimator *add_estimator(struct plm_evaluation *e, const char *name, enum plm_origin origin)
{
    struct plm_estimator *by = &e->estimator[e->estimators];
    by->score = calloc(e->rows ? e->rows : 1, sizeof *by->score);
    if (!by->score)
        return NULL;
    snprintf(by->name, sizeof by->name, "%s", name);
    by->origin = origin;
    e->estimators++;
    return by;
}

static int add_virtual(struct plm_evaluation *e)
{
    static const struct {
        const char *name;
        bool upper;
    } ways[] = {
        {"plimsoll", false},
        {"plimsoll, upper end", true},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct plm_estimator *by = add_estimator(e, ways[i].name, PLM_ORIGIN_VIRTUAL);
        if (!by)
            return PLM_ENOMEM;
        by->upper = ways[i].upper;
        for (size_t row = 0; row < e->rows; row++)
            by->score[row] = plm_score_virtual(e, by, row);
    }
    return 0;
}

static int add_methods(struct plm_evaluation *e)
{
    const struct plm_bench_settings *s = e->bench->settings;
    for (size_t i = 0; s && i < s->methods; i++) {
        struct plm_estimator *by = add_estimator(e, s->method[i]->name, PLM_ORIGIN_METHOD);
        if (!by)
            return PLM_ENOMEM;
        by->method = s->method[i];
        by->other_kind = !plm_same_kind((int)s->method[i]->kind, e->options.kind);
        for (size_t row = 0; row < e->rows; row++)
            by->score[row] = plm_score_method(e, i, row);
    }
    return 0;
}

static int add_tools(struct plm_evaluation *e)
{
    const struct plm_truth *truth = e->bench->truth;
    for (size_t i = 0; i < truth->tools; i++) {
        char name[48];
        struct plm_estimator *by;
        snprintf(name, sizeof name, "%s (published)", truth->tool[i]);
        by = add_estimator(e, name, PLM_ORIGIN_PUBLISHED);
        if (!by)
            return PLM_ENOMEM;
        for (size_t row = 0; row < e->rows; row++)
            by->score[row] = plm_score_tool(e, i, row);
    }
    return 0;
}

/* ---- families ---- */

static int measure(struct plm_evaluation *e, struct plm_family *family)
{
    struct plm_score *list = calloc(e->rows ? e->rows : 1, sizeof *list);
    int status = list ? 0 : PLM_ENOMEM;
    family->metrics = calloc(e->estimators, sizeof *family->metrics);
    family->anova = calloc(e->estimators, sizeof *family->anova);
    if (!family->metrics || !family->anova)
        status = PLM_ENOMEM;
    for (size_t i = 0; i < e->estimators && status == 0; i++) {
        family->rows = 0;
        for (size_t row = 0; row < e->rows; row++)
            if (plm_family_has(family, plm_evaluation_row(e, row)))
                list[family->rows++] = e->estimator[i].score[row];
        status = plm_metrics_make(list, family->rows, e->options.seed, &family->metrics[i]);
        if (status == 0)
            status = plm_evaluation_anova(e, family, i, &family->anova[i]);
    }
    free(list);
    return status;
}

static size_t family_of(const struct plm_evaluation *e, size_t row)
{
    size_t i = 0;
    while (i < e->families && !plm_family_has(&e->family[i], plm_evaluation_row(e, row)))
        i++;
    return i;
}

/* In the order in which they come in the file. */
static int add_families(struct plm_evaluation *e)
{
    int status = 0;
    e->family = calloc(e->rows + 1, sizeof *e->family);
    if (!e->family)
        return PLM_ENOMEM;
    for (size_t row = 0; row < e->rows; row++)
        if (family_of(e, row) == e->families)
            e->family[e->families++].name = plm_evaluation_row(e, row)->family;
    if (e->families > 1)
        e->families++;
    for (size_t i = 0; i < e->families && status == 0; i++)
        status = measure(e, &e->family[i]);
    return status;
}

/* ---- all together ---- */

static int add_rows(struct plm_evaluation *e)
{
    const struct plm_bench *bench = e->bench;
    const size_t methods = bench->settings ? bench->settings->methods : 0;
    e->row = calloc(bench->truth->rows + 1, sizeof *e->row);
    e->yardstick = calloc(bench->truth->rows + 1, sizeof *e->yardstick);
    e->estimator = calloc(4 + methods + bench->truth->tools, sizeof *e->estimator);
    if (!e->row || !e->yardstick || !e->estimator)
        return PLM_ENOMEM;
    for (size_t i = 0; i < bench->truth->rows; i++)
        if (bench->run_of_row[i] != SIZE_MAX) {
            const struct plm_bench_run *run = &bench->run[bench->run_of_row[i]];
            e->yardstick[e->rows] = plm_yardstick(run, &bench->truth->row[i], &e->options);
            e->references += e->yardstick[e->rows].reference;
            e->row[e->rows++] = i;
            e->failed += !run->outcome.done;
        }
    return 0;
}

int plm_judge(const struct plm_bench *bench, const struct plm_judge_options *options, struct plm_evaluation *e)
{
    int status;
    *e = (struct plm_evaluation){.bench = bench, .options = *options};
    status = add_rows(e);
    if (status == 0)
        status = add_virtual(e);
    if (status == 0)
        status = add_methods(e);
    if (status == 0)
        status = add_tools(e);
    if (status == 0)
        status = add_families(e);
    if (status)
        plm_evaluation_free(e);
    return status;
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
