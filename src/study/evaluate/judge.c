#include "study/evaluate/judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
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
        by->method = s->method[i];
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
        plm_evaluation_anova(e, family, i, &family->anova[i]);
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
