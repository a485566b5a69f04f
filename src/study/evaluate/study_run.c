/* Learning and answering: for each part of each split the method learns from the rows of all other parts, anew, and
   answers for those of the part. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/evaluate/study.h"

/* What one part is about. */
struct round {
    const struct plm_study *study;
    const struct plm_contestant *contestant;
    const struct plm_study_target *target;
    const struct plm_split *split;
    size_t part;
    bool *left_out; /* per row: not learned from */
    struct plm_study_result *result;
};

static double clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool is_asked(const struct round *r, size_t row)
{
    return r->split->part[row] == r->part && !isnan(r->target->truth[row]) &&
           (!r->contestant->captured || r->study->sampled[row]);
}

/* ---- one answer ---- */

/* NAN with the reason in the result, the first one. */
static double fail_row(struct round *r, const char *why)
{
    if (!r->result->why[0])
        snprintf(r->result->why, sizeof r->result->why, "%.300s", why);
    return NAN;
}

static double learner_ask(struct round *r, const void *model, size_t row)
{
    const struct plm_learner *learner = r->contestant->learner;
    const struct plm_study *s = r->study;
    struct plm_learned_answer *answer = plm_calloc(1, sizeof *answer);
    struct plm_error error = {0};
    double figure;
    int status = learner->ask_beside ? learner->ask_beside(model, &s->example[row], &s->box[row], answer, &error)
                                     : learner->ask(model, &s->example[row], answer, &error);
    r->result->classes |= answer->classes > 0;
    figure = status ? fail_row(r, error.text) : answer->figure;
    free(answer);
    return figure;
}

static double virtual_ask(struct round *r, size_t row)
{
    const struct plm_white_box *box = &r->study->box[row];
    const char *column = r->target->target->column;
    double figure = -1;
    if (r->target->target->unit == PLM_LEARNED_MEMORY)
        figure = box->reserved;
    else if (r->target->target->unit == PLM_LEARNED_TIME)
        figure = box->step;
    for (size_t i = 0; i < PLM_WHITE_METRICS; i++)
        if (r->target->target->unit == PLM_LEARNED_UTILIZATION && strstr(column, plm_white_metric[i]))
            figure = box->metric[i];
    return figure < 0 ? fail_row(r, "rows lack what the virtual GPU says; `plimsoll dataset --from` adds it") : figure;
}

static double row_ask(struct round *r, const void *model, size_t row)
{
    const struct plm_contestant *c = r->contestant;
    double figure;
    if (c->learner)
        return learner_ask(r, model, row);
    if (c->captured)
        figure = isnan(c->captured[row]) ? fail_row(r, c->why) : c->captured[row];
    else if (c->paradigm == PLM_VIRTUAL)
        figure = virtual_ask(r, row);
    else
        figure = plm_contestant_formula(c->method, &r->study->example[row], r->result->why, sizeof r->result->why);
    return isnan(r->result->constant) ? figure : figure + r->result->constant;
}

/* ---- one part ---- */

static void rows_ask(struct round *r, const void *model)
{
    const double wall = clock_of(CLOCK_MONOTONIC), cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t row = 0; row < r->study->table.rows; row++)
        if (is_asked(r, row))
            r->result->answer[row] = row_ask(r, model, row);
    r->result->seconds += clock_of(CLOCK_MONOTONIC) - wall;
    r->result->cpu += clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
}

static struct plm_lesson lesson_of(const struct round *r)
{
    const struct plm_study_options *o = &r->study->options;
    const unsigned takes = r->contestant->learner->takes;
    return (struct plm_lesson){.method = r->contestant->method,
                               .path = o->lessons ? o->lessons : o->path,
                               .table = o->lessons ? &r->study->lessons : &r->study->table,
                               .left_out = o->lessons ? NULL : r->left_out,
                               .target = r->target->lesson->column,
                               .seed = o->seed,
                               .bin = takes & PLM_LESSON_BIN ? o->bin : 0,
                               .judged_elsewhere = true,
                               .python = takes & PLM_LESSON_PYTHON ? o->python : NULL,
                               .scratch = o->scratch};
}

/* A model of its own for each part. */
static void part_learn(struct round *r)
{
    const struct plm_learner *learner = r->contestant->learner;
    const struct plm_lesson lesson = lesson_of(r);
    const double wall = clock_of(CLOCK_MONOTONIC);
    struct plm_error error = {0};
    void *model = NULL;
    int status = learner->train(&lesson, &model, &error);
    r->result->train_seconds += clock_of(CLOCK_MONOTONIC) - wall;
    r->result->trainings++;
    if (status == 0)
        rows_ask(r, model);
    else
        fail_row(r, error.text);
    learner->free(model);
}

static void part_run(struct round *r)
{
    const struct plm_target *target = r->target->target;
    size_t asked = 0;
    for (size_t row = 0; row < r->study->table.rows; row++) {
        r->left_out[row] =
            (r->split->part[row] == r->part && r->split->kind != PLM_SPLIT_ELSEWHERE) || isnan(r->target->truth[row]);
        asked += is_asked(r, row);
    }
    if (!asked)
        return;
    r->result->constant = NAN;
    if (!r->contestant->learner && target->unit == PLM_LEARNED_MEMORY && target->with_context)
        r->result->constant = plm_study_constant(r->study, r->target, r->left_out);
    if (r->contestant->learner)
        part_learn(r);
    else
        rows_ask(r, NULL);
}

/* ---- whether it can be asked at all ---- */

static const char *why_not(const struct plm_contestant *c, const struct plm_target *target)
{
    const bool measured = !strncmp(target->column, "measured_", strlen("measured_"));
    if (c->why_not)
        return c->why_not;
    if (c->paradigm == PLM_VIRTUAL && !measured)
        return "the rows were labelled by it: it is the truth here";
    if (c->learner && c->learner->ask_beside && !measured)
        return "it corrects what the rows were labelled with by what was measured, and nothing was";
    if (!c->learner && c->paradigm != PLM_VIRTUAL && target->unit != PLM_LEARNED_MEMORY)
        return "it answers with memory alone";
    return NULL;
}

/* ---- scores ---- */

static void family_score(const struct plm_study *s, const struct round *r, size_t family)
{
    const size_t rows = s->table.rows;
    double *answer = plm_calloc(rows + 1, sizeof *answer), *truth = plm_calloc(rows + 1, sizeof *truth);
    size_t count = 0;
    for (size_t row = 0; row < rows; row++)
        if (r->split->part[row] != PLM_SPLIT_KEPT && !isnan(r->target->truth[row]) &&
            (family == s->families || s->family_of[row] == family) && (!r->contestant->captured || s->sampled[row])) {
            answer[count] = r->result->answer[row];
            truth[count++] = r->target->truth[row];
        }
    plm_study_score_make(answer, truth, count, r->target->width, r->target->target->unit == PLM_LEARNED_MEMORY, true,
                         s->options.seed, &r->result->score[family]);
    free(answer);
    free(truth);
}

static void result_make(const struct plm_study *s, struct round *r, size_t *done, size_t all)
{
    const char *why = why_not(r->contestant, r->target->target);
    struct plm_study_result *result = r->result;
    size_t answered;
    result->constant = NAN;
    result->asked = !why;
    if (why) {
        snprintf(result->why, sizeof result->why, "%s", why);
        return;
    }
    result->answer = plm_calloc(s->table.rows + 1, sizeof *result->answer);
    result->score = plm_calloc(s->families + 1, sizeof *result->score);
    for (size_t row = 0; row < s->table.rows; row++)
        result->answer[row] = NAN;
    for (r->part = 0; r->part < r->split->parts; r->part++) {
        if (s->options.progress)
            s->options.progress(*done, all, r->contestant->name);
        part_run(r);
        ++*done;
    }
    for (size_t i = 0; i <= s->families; i++)
        family_score(s, r, i);
    answered = result->score[s->families].answered;
    result->seconds = answered ? result->seconds / (double)answered : 0;
    result->cpu = answered ? result->cpu / (double)answered : 0;
    if (r->contestant->captured) {
        result->seconds = r->contestant->seconds;
        result->cpu = r->contestant->cpu;
    }
}

static size_t rounds_count(const struct plm_study *s)
{
    size_t parts = 0, pairs = 0;
    for (size_t i = 0; i < s->splits; i++)
        parts += s->split[i].parts;
    for (size_t c = 0; c < s->contestants; c++)
        for (size_t t = 0; t < s->targets; t++)
            pairs += !why_not(&s->contestant[c], s->target[t].target);
    return parts * pairs;
}

void plm_study_run(struct plm_study *s)
{
    struct round r = {.study = s, .left_out = plm_calloc(s->table.rows + 1, sizeof *r.left_out)};
    const size_t all = rounds_count(s);
    size_t done = 0;
    plm_study_jobs(s);
    for (size_t c = 0; c < s->contestants; c++)
        for (size_t t = 0; t < s->targets; t++)
            for (size_t i = 0; i < s->splits; i++) {
                r.contestant = &s->contestant[c];
                r.target = &s->target[t];
                r.split = &s->split[i];
                r.result = plm_study_result(s, c, t, i);
                result_make(s, &r, &done, all);
            }
    if (s->options.progress)
        s->options.progress(all, all, "");
    free(r.left_out);
}
