/* A study as one document, "plimsoll.study/1", docs/schema/study-1.json; and as two tables. */
#include <math.h>

#include "study/evaluate/study.h"

/* ---- the document ---- */

static void score_put(struct plm_json *j, const struct plm_study *s, size_t family, const struct plm_study_score *score)
{
    plm_json_object(j, NULL);
    if (s->family[family].name)
        plm_json_string(j, "family", s->family[family].name);
    plm_json_integer(j, "asked", score->asked);
    plm_json_integer(j, "answered", score->answered);
    for (int i = 0; i < PLM_STUDY_FIGURES; i++)
        plm_report_json_figure(j, plm_study_figure_name((enum plm_study_figure)i), score->value[i],
                               score->interval[i].low, score->interval[i].high);
    plm_json_end_object(j);
}

static void result_put(struct plm_json *j, const struct plm_study *s, size_t c, size_t t, size_t i)
{
    const struct plm_study_result *r = plm_study_result(s, c, t, i);
    char name[64];
    plm_json_object(j, NULL);
    plm_json_string(j, "method", s->contestant[c].name);
    plm_json_string(j, "target", s->target[t].target->column);
    plm_json_string(j, "test", plm_split_name(&s->split[i], name, sizeof name));
    plm_json_bool(j, "asked", r->asked);
    if (r->why[0])
        plm_json_text(j, "why", r->why);
    if (r->asked) {
        plm_json_bool(j, "classes", r->classes);
        plm_json_integer(j, "trainings", r->trainings);
        plm_json_real(j, "train_seconds", r->train_seconds);
        plm_json_real(j, "seconds", r->seconds);
        plm_json_real(j, "cpu_seconds", r->cpu);
        plm_report_json_known(j, "constant", r->constant);
        plm_json_array(j, "scores");
        for (size_t k = 0; k <= s->families; k++)
            score_put(j, s, k, &r->score[k]);
        plm_json_end_array(j);
    }
    plm_json_end_object(j);
}

static void method_put(struct plm_json *j, const struct plm_contestant *who)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "name", who->name);
    plm_json_string(j, "paradigm", plm_paradigm_name(who->paradigm));
    plm_json_array(j, "demands");
    for (const struct plm_demand *d = NULL; (d = plm_demand_next(who->name, who->paradigm, d));) {
        plm_json_object(j, NULL);
        plm_json_string(j, "when", plm_demand_when_name(d->when));
        plm_json_string(j, "what", d->text);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
    plm_json_end_object(j);
}

static void target_put(struct plm_json *j, const struct plm_study_target *t)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "column", t->target->column);
    plm_json_string(j, "unit", plm_learned_unit_name(t->target->unit));
    plm_json_real(j, "class", t->width);
    plm_json_integer(j, "rows", t->rows);
    plm_json_end_object(j);
}

static void lists_put(struct plm_json *j, const struct plm_study *s)
{
    char name[64];
    plm_json_array(j, "methods");
    for (size_t i = 0; i < s->contestants; i++)
        method_put(j, &s->contestant[i]);
    plm_json_end_array(j);
    plm_json_array(j, "targets");
    for (size_t i = 0; i < s->targets; i++)
        target_put(j, &s->target[i]);
    plm_json_end_array(j);
    plm_json_array(j, "tests");
    for (size_t i = 0; i < s->splits; i++)
        plm_json_string(j, NULL, plm_split_name(&s->split[i], name, sizeof name));
    plm_json_end_array(j);
}

void plm_study_document(struct plm_json *j, const void *what)
{
    const struct plm_study *s = what;
    plm_json_text(j, "table", s->options.path);
    plm_json_integer(j, "rows", s->table.rows);
    plm_json_integer(j, "folds", (uint64_t)s->options.folds);
    plm_json_integer(j, "seed", s->options.seed);
    if (s->samples)
        plm_json_integer(j, "sample", s->samples);
    if (s->run_seconds > 0) {
        plm_json_real(j, "run_seconds", s->run_seconds);
        plm_json_real(j, "run_cpu_seconds", s->run_cpu);
    }
    lists_put(j, s);
    plm_json_array(j, "results");
    for (size_t c = 0; c < s->contestants; c++)
        for (size_t t = 0; t < s->targets; t++)
            for (size_t i = 0; i < s->splits; i++)
                result_put(j, s, c, t, i);
    plm_json_end_array(j);
}

/* ---- row by row, and score by score ---- */

static void answers_put(struct plm_lines *l, const struct plm_study *s, size_t row, size_t t, size_t i)
{
    char name[64];
    plm_lines_cell(l, true, "%zu", row);
    plm_lines_text(l, plm_csv_cell(&s->table, row, plm_csv_column(&s->table, "family")));
    plm_lines_cell(l, true, "%s", s->target[t].target->column);
    plm_lines_text(l, plm_split_name(&s->split[i], name, sizeof name));
    plm_lines_cell(l, true, "%.10g", s->target[t].truth[row]);
    for (size_t c = 0; c < s->contestants; c++) {
        const struct plm_study_result *r = plm_study_result(s, c, t, i);
        const double answer = r->asked ? r->answer[row] : NAN;
        plm_lines_cell(l, !isnan(answer), "%.10g", answer);
    }
    plm_lines_end(l);
}

void plm_study_rows(struct plm_lines *l, const void *what)
{
    const struct plm_study *s = what;
    plm_lines_cell(l, true, "row,family,target,test,truth");
    for (size_t c = 0; c < s->contestants; c++)
        plm_lines_cell(l, true, "%s", s->contestant[c].name);
    plm_lines_end(l);
    for (size_t t = 0; t < s->targets; t++)
        for (size_t i = 0; i < s->splits; i++)
            for (size_t row = 0; row < s->table.rows; row++)
                if (s->split[i].part[row] != PLM_SPLIT_KEPT && !isnan(s->target[t].truth[row]))
                    answers_put(l, s, row, t, i);
}

static void scores_put(struct plm_lines *l, const struct plm_study *s, size_t c, size_t t, size_t i)
{
    const struct plm_study_result *r = plm_study_result(s, c, t, i);
    char name[64];
    plm_split_name(&s->split[i], name, sizeof name);
    for (size_t k = 0; r->asked && k <= s->families; k++) {
        const struct plm_study_score *score = &r->score[k];
        plm_lines_cell(l, true, "%s,%s,%s", plm_paradigm_name(s->contestant[c].paradigm), s->contestant[c].name,
                       s->target[t].target->column);
        plm_lines_text(l, name);
        plm_lines_text(l, s->family[k].name ? s->family[k].name : "all");
        plm_lines_cell(l, true, "%zu,%zu", score->asked, score->answered);
        for (int f = 0; f < PLM_STUDY_FIGURES; f++) {
            const double figures[] = {score->value[f], score->interval[f].low, score->interval[f].high};
            for (size_t n = 0; n < sizeof figures / sizeof figures[0]; n++)
                plm_lines_cell(l, isfinite(score->value[f]), "%.6g", figures[n]);
        }
        plm_lines_end(l);
    }
}

void plm_study_figures(struct plm_lines *l, const void *what)
{
    const struct plm_study *s = what;
    plm_lines_cell(l, true, "paradigm,method,target,test,family,asked,answered");
    for (int f = 0; f < PLM_STUDY_FIGURES; f++) {
        const char *name = plm_study_figure_name((enum plm_study_figure)f);
        plm_lines_cell(l, true, "%s,%s_low,%s_high", name, name, name);
    }
    plm_lines_end(l);
    for (size_t c = 0; c < s->contestants; c++)
        for (size_t t = 0; t < s->targets; t++)
            for (size_t i = 0; i < s->splits; i++)
                scores_put(l, s, c, t, i);
}
