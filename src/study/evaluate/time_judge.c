#include "study/evaluate/time_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/evaluate/random.h"

/* ---- who chooses and who judges ---- */

/* The runs with a forecast, in an order that is drawn. */
static size_t runs_draw(const struct plm_timed_evaluation *e, size_t *run)
{
    struct plm_random random;
    size_t count = 0;
    for (size_t i = 0; i < e->bench->runs; i++)
        if (e->forecast[i].known)
            run[count++] = i;
    plm_random_start(&random, e->options.seed);
    for (size_t i = count; i > 1; i--) {
        const size_t k = plm_random_below(&random, i), kept = run[i - 1];
        run[i - 1] = run[k];
        run[k] = kept;
    }
    return count;
}

static void forecasts_make(struct plm_timed_evaluation *e, const struct plm_timed_model *model,
                           struct plm_timed_forecast *out)
{
    for (size_t i = 0; i < e->bench->runs; i++)
        plm_timed_model_ask(model, &e->bench->run[i], &out[i]);
}

/* The rows that are learned from are those that choose constants, and more of the same order, so that both together are
   no more than the larger number. */
static int rows_train(struct plm_timed_evaluation *e, struct plm_timed_model *model, struct plm_error *error)
{
    const struct plm_timed_judge_options *o = &e->options;
    const size_t most = o->fit_rows > o->learn_rows ? o->fit_rows : o->learn_rows;
    size_t *run = plm_calloc(e->bench->runs, sizeof *run);
    const size_t count = runs_draw(e, run);
    int status = 0;
    if (most && most >= count)
        status = plm_fail(error, PLM_EINVAL,
                          "%zu rows cannot be trained on: of %zu that could be run, some must be left to judge", most,
                          count);
    if (status == 0 && o->fit_rows) {
        e->fit = *o->fit;
        plm_timed_fit_make(e->bench, run, o->fit_rows, model, &e->fit);
        plm_timed_floor_fit(e->bench, run, o->fit_rows, &e->floor);
    }
    if (status == 0) {
        forecasts_make(e, model, e->fitted);
        for (size_t i = 0; i < most; i++)
            e->trained[run[i]] = true;
        e->trained_rows = most;
    }
    if (status == 0 && o->learn_rows)
        status = plm_timed_correct_learn(e->bench, e->fitted, run, o->learn_rows, &e->correct, error);
    free(run);
    return status;
}

/* ---- what each of them says ---- */

static struct plm_timed_estimator *estimator_add(struct plm_timed_evaluation *e, const char *name)
{
    struct plm_timed_estimator *by = &e->estimator[e->estimators++];
    snprintf(by->name, sizeof by->name, "%s", name);
    by->value = plm_calloc(e->bench->runs, PLM_TIMED_FIGURES * sizeof *by->value);
    for (size_t i = 0; i < e->bench->runs * PLM_TIMED_FIGURES; i++)
        by->value[i] = NAN;
    return by;
}

static void forecast_estimator(struct plm_timed_evaluation *e, const char *name,
                               const struct plm_timed_forecast *forecast, const struct plm_timed_correct *correct)
{
    struct plm_timed_estimator *by = estimator_add(e, name);
    for (size_t i = 0; i < e->bench->runs; i++)
        for (int k = 0; k < PLM_TIMED_FIGURES && forecast[i].known; k++)
            by->value[i * PLM_TIMED_FIGURES + (size_t)k] =
                correct ? plm_timed_correct_figure(correct, e->bench->run[i].row, &forecast[i], k)
                        : forecast[i].figure[k];
}

static void estimators_make(struct plm_timed_evaluation *e)
{
    const struct plm_timed_correct *correct = e->options.learn_rows ? &e->correct : e->options.correct;
    char name[64];
    forecast_estimator(e, "plimsoll", e->forecast, NULL);
    if (e->options.fit_rows) {
        snprintf(name, sizeof name, "plimsoll, %zu constant%s fitted", e->fit.constants,
                 e->fit.constants == 1 ? "" : "s");
        forecast_estimator(e, name, e->fitted, NULL);
    }
    if (correct)
        forecast_estimator(e, "plimsoll, corrected", e->fitted, correct);
    if (e->floor.known && e->bench->truth->kind == PLM_TIMED_STEP) {
        struct plm_timed_estimator *by = estimator_add(e, "MACs and activations, fitted");
        for (size_t i = 0; i < e->bench->runs; i++)
            by->value[i * PLM_TIMED_FIGURES] = plm_timed_floor_ask(&e->floor, e->bench->run[i].row);
    }
}

/* ---- figures ---- */

bool plm_timed_evaluation_judged(const struct plm_timed_evaluation *e, size_t run)
{
    return e->forecast[run].known && !e->trained[run];
}

const struct plm_agreement *plm_timed_agreement(const struct plm_timed_evaluation *e,
                                                const struct plm_timed_group *group, size_t estimator, int figure)
{
    (void)e;
    return &group->agreement[estimator * PLM_TIMED_FIGURES + (size_t)figure];
}

static bool group_has(const struct plm_timed_group *g, const struct plm_timed_run *run)
{
    return !g->family || (!strcasecmp(g->family, run->row->family) && !strcmp(g->mode, run->row->mode) &&
                          !strcmp(g->card, run->card.id));
}

static void group_add(struct plm_timed_evaluation *e, struct plm_timed_group group)
{
    e->group = plm_grow(e->group, e->groups, &e->group_room, sizeof *e->group);
    e->group[e->groups++] = group;
}

static void groups_find(struct plm_timed_evaluation *e)
{
    for (size_t i = 0; i < e->bench->runs; i++) {
        const struct plm_timed_run *run = &e->bench->run[i];
        size_t k = 0;
        while (k < e->groups && !group_has(&e->group[k], run))
            k++;
        if (k == e->groups)
            group_add(e, (struct plm_timed_group){run->row->family, run->row->mode, run->card.id, 0, NULL});
    }
    if (e->groups > 1)
        group_add(e, (struct plm_timed_group){0});
}

static void group_figure(const struct plm_timed_evaluation *e, const struct plm_timed_group *g, size_t estimator,
                         int figure, struct plm_agreement *out)
{
    double *predicted = plm_calloc(e->bench->runs, sizeof *predicted),
           *measured = plm_calloc(e->bench->runs, sizeof *measured);
    size_t count = 0;
    for (size_t i = 0; i < e->bench->runs; i++) {
        const struct plm_timed_run *run = &e->bench->run[i];
        const double value = e->estimator[estimator].value[i * PLM_TIMED_FIGURES + (size_t)figure];
        if (!plm_timed_evaluation_judged(e, i) || !group_has(g, run) || !(run->row->known >> figure & 1) ||
            isnan(value))
            continue;
        predicted[count] = value;
        measured[count++] = run->row->figure[figure];
    }
    plm_agreement_make(predicted, measured, count, e->options.seed, out);
    free(predicted);
    free(measured);
}

static void groups_judge(struct plm_timed_evaluation *e)
{
    for (size_t i = 0; i < e->groups; i++) {
        struct plm_timed_group *g = &e->group[i];
        g->agreement = plm_calloc(e->estimators, PLM_TIMED_FIGURES * sizeof *g->agreement);
        for (size_t k = 0; k < e->bench->runs; k++)
            g->rows += plm_timed_evaluation_judged(e, k) && group_has(g, &e->bench->run[k]);
        for (size_t k = 0; k < e->estimators; k++)
            for (int n = 0; n < PLM_TIMED_FIGURES; n++)
                if (e->figures >> n & 1)
                    group_figure(e, g, k, n, &g->agreement[k * PLM_TIMED_FIGURES + (size_t)n]);
    }
}

static void figures_find(struct plm_timed_evaluation *e)
{
    int first;
    const int count = plm_timed_kind_figures(e->bench->truth->kind, &first);
    for (size_t i = 0; i < e->bench->runs; i++)
        e->figures |= e->bench->run[i].row->known;
    e->figures &= ((1u << count) - 1) << first;
}

int plm_timed_judge(struct plm_timed_bench *bench, const struct plm_timed_judge_options *options,
                    struct plm_timed_model *model, struct plm_timed_evaluation *e, struct plm_error *error)
{
    int status;
    *e = (struct plm_timed_evaluation){.bench = bench, .options = *options};
    e->forecast = plm_calloc(bench->runs, sizeof *e->forecast);
    e->fitted = plm_calloc(bench->runs, sizeof *e->fitted);
    e->trained = plm_calloc(bench->runs, sizeof *e->trained);
    figures_find(e);
    forecasts_make(e, model, e->forecast);
    status = rows_train(e, model, error);
    if (status) {
        plm_timed_evaluation_free(e);
        return status;
    }
    for (size_t i = 0; i < bench->runs; i++) {
        e->failed += !e->forecast[i].known;
        e->rows += plm_timed_evaluation_judged(e, i);
    }
    estimators_make(e);
    groups_find(e);
    groups_judge(e);
    return 0;
}

void plm_timed_evaluation_free(struct plm_timed_evaluation *e)
{
    for (size_t i = 0; i < e->groups; i++)
        free(e->group[i].agreement);
    for (size_t i = 0; i < e->estimators; i++)
        free(e->estimator[i].value);
    free(e->group);
    free(e->forecast);
    free(e->fitted);
    free(e->trained);
    plm_timed_correct_free(&e->correct);
    *e = (struct plm_timed_evaluation){0};
}
