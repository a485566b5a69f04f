/* A study as one document, docs/schema/study-1.json; as a page; and as two tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "report/page.h"
#include "study/evaluate/study.h"

/* What is not known is absent. */
static void real(struct plm_json *j, const char *key, double value)
{
    if (isfinite(value))
        plm_json_real(j, key, value);
}

/* ---- the document ---- */

static void score_put(struct plm_json *j, const struct plm_study *s, size_t family, const struct plm_study_score *score)
{
    plm_json_object(j, NULL);
    if (s->family[family].name)
        plm_json_string(j, "family", s->family[family].name);
    plm_json_integer(j, "asked", score->asked);
    plm_json_integer(j, "answered", score->answered);
    for (int i = 0; i < PLM_STUDY_FIGURES; i++) {
        if (!isfinite(score->value[i]))
            continue;
        plm_json_object(j, plm_study_figure_name((enum plm_study_figure)i));
        plm_json_real(j, "value", score->value[i]);
        real(j, "low", score->interval[i].low);
        real(j, "high", score->interval[i].high);
        plm_json_end_object(j);
    }
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
        real(j, "constant", r->constant);
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

static void document_write(struct plm_json *j, const struct plm_study *s)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "schema", "plimsoll.study/1");
    plm_json_string(j, "version", PLM_VERSION);
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
    plm_json_end_object(j);
}

int plm_study_json(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_study *s = what;
    struct plm_json j;
    plm_json_start(&j, out);
    document_write(&j, s);
    return plm_json_finish(&j) ? plm_fail(error, PLM_EIO, "the JSON document could not be written") : 0;
}

int plm_study_html(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_study *s = what;
    struct plm_json j;
    if (!plm_html_study_before_size)
        return plm_fail(error, PLM_EIO, "this build has no page: %s", plm_html_missing);
    plm_json_start(&j, out);
    j.page = true;
    fwrite(plm_html_study_before, 1, plm_html_study_before_size, out);
    document_write(&j, s);
    fwrite(plm_html_study_after, 1, plm_html_study_after_size, out);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the page could not be written") : 0;
}

/* ---- row by row, and score by score ---- */

static void answers_put(FILE *out, const struct plm_study *s, size_t row, size_t t, size_t i)
{
    char name[64];
    fprintf(out, "%zu,", row);
    plm_table_put(out, plm_table_cell(&s->table, row, plm_table_column(&s->table, "family")));
    fprintf(out, ",%s,%s,%.10g", s->target[t].target->column, plm_split_name(&s->split[i], name, sizeof name),
            s->target[t].truth[row]);
    for (size_t c = 0; c < s->contestants; c++) {
        const struct plm_study_result *r = plm_study_result(s, c, t, i);
        if (r->asked && !isnan(r->answer[row]))
            fprintf(out, ",%.10g", r->answer[row]);
        else
            fputc(',', out);
    }
    fputc('\n', out);
}

int plm_study_csv(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_study *s = what;
    fputs("row,family,target,test,truth", out);
    for (size_t c = 0; c < s->contestants; c++)
        fprintf(out, ",%s", s->contestant[c].name);
    fputc('\n', out);
    for (size_t t = 0; t < s->targets; t++)
        for (size_t i = 0; i < s->splits; i++)
            for (size_t row = 0; row < s->table.rows; row++)
                if (s->split[i].part[row] != PLM_SPLIT_KEPT && !isnan(s->target[t].truth[row]))
                    answers_put(out, s, row, t, i);
    return ferror(out) ? plm_fail(error, PLM_EIO, "the answers could not be written") : 0;
}

static void scores_put(FILE *out, const struct plm_study *s, size_t c, size_t t, size_t i)
{
    const struct plm_study_result *r = plm_study_result(s, c, t, i);
    char name[64];
    plm_split_name(&s->split[i], name, sizeof name);
    for (size_t k = 0; r->asked && k <= s->families; k++) {
        fprintf(out, "%s,%s,%s,%s,", plm_paradigm_name(s->contestant[c].paradigm), s->contestant[c].name,
                s->target[t].target->column, name);
        plm_table_put(out, s->family[k].name ? s->family[k].name : "all");
        fprintf(out, ",%zu,%zu", r->score[k].asked, r->score[k].answered);
        for (int f = 0; f < PLM_STUDY_FIGURES; f++)
            if (isfinite(r->score[k].value[f]))
                fprintf(out, ",%.6g,%.6g,%.6g", r->score[k].value[f], r->score[k].interval[f].low,
                        r->score[k].interval[f].high);
            else
                fputs(",,,", out);
        fputc('\n', out);
    }
}

int plm_study_figures(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_study *s = what;
    fputs("paradigm,method,target,test,family,asked,answered", out);
    for (int f = 0; f < PLM_STUDY_FIGURES; f++) {
        const char *name = plm_study_figure_name((enum plm_study_figure)f);
        fprintf(out, ",%s,%s_low,%s_high", name, name, name);
    }
    fputc('\n', out);
    for (size_t c = 0; c < s->contestants; c++)
        for (size_t t = 0; t < s->targets; t++)
            for (size_t i = 0; i < s->splits; i++)
                scores_put(out, s, c, t, i);
    return ferror(out) ? plm_fail(error, PLM_EIO, "the figures could not be written") : 0;
}
