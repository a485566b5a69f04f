/* A study for people: a table of scores for each target, how far each method carries, and the table of the study. */
#include <math.h>
#include <string.h>

#include "study/evaluate/study.h"

enum { NAME = 22, CELL = 16, COUNT = 6 };

/* ---- cells ---- */

static bool is_share(enum plm_study_figure figure)
{
    return figure <= PLM_STUDY_EXACT;
}

static void value_text(char *out, size_t size, double value, enum plm_study_figure figure)
{
    if (isnan(value))
        snprintf(out, size, "-");
    else if (figure == PLM_STUDY_R2)
        snprintf(out, size, value > -9.9995 ? "%.3f" : "%.0f", value);
    else if (is_share(figure))
        snprintf(out, size, "%.1f", 100 * value);
    else
        snprintf(out, size, fabs(value) < 99.995 ? "%.2f" : "%.0f", value);
}

static void interval_text(char *out, size_t size, const struct plm_interval *interval, enum plm_study_figure figure)
{
    char low[24], high[24];
    value_text(low, sizeof low, interval->low, figure);
    value_text(high, sizeof high, interval->high, figure);
    snprintf(out, size, isnan(interval->low) ? "" : "[%s, %s]", low, high);
}

/* Classes have no distance: the mean error of an upper edge, and its R2, say nothing. */
static bool is_shown(const struct plm_study_result *r, enum plm_study_figure figure)
{
    return !r->classes || (figure != PLM_STUDY_MAE && figure != PLM_STUDY_R2 && figure != PLM_STUDY_EXACT);
}

/* ---- scores of one target ---- */

static void heads_show(const struct plm_page *p, const struct plm_study_target *t)
{
    static const char *const heads[PLM_STUDY_FIGURES] = {
        "accuracy %", "macro F1 %", "class under %", "below %", "exact %", "mean |e|", "R2"};
    fprintf(p->out, "%s%-*s%*s", plm_ink(p, PLM_INK_DIM), NAME, "", COUNT, "n");
    for (int i = 0; i < PLM_STUDY_FIGURES; i++)
        if (i != PLM_STUDY_EXACT || t->target->unit == PLM_LEARNED_MEMORY)
            fprintf(p->out, " %*s", CELL, heads[i]);
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
}

static void score_show(const struct plm_page *p, const struct plm_study_target *t, const char *name,
                       const struct plm_study_result *r, const struct plm_study_score *score)
{
    struct plm_report_figure_text figure[PLM_STUDY_FIGURES];
    size_t n = 0;
    plm_page_name(p, name, NAME, 1);
    fprintf(p->out, "%*zu", COUNT, score->answered);
    for (enum plm_study_figure i = 0; i < PLM_STUDY_FIGURES; i++) {
        struct plm_report_figure_text *text = &figure[n];
        if (i == PLM_STUDY_EXACT && t->target->unit != PLM_LEARNED_MEMORY)
            continue;
        n++;
        *text = (struct plm_report_figure_text){.value = "-"};
        if (!is_shown(r, i))
            continue;
        value_text(text->value, sizeof text->value, score->value[i], i);
        interval_text(text->interval, sizeof text->interval, &score->interval[i], i);
    }
    plm_report_figures_show(p, figure, n, CELL, NAME + COUNT);
}

static void family_show(const struct plm_page *p, const struct plm_study *s, size_t target, size_t family)
{
    const struct plm_study_target *t = &s->target[target];
    char name[64];
    fprintf(p->out, "\n%s%s%s, %s, ", plm_ink(p, PLM_INK_BOLD), t->target->column, plm_ink(p, PLM_INK_PLAIN),
            plm_split_name(&s->split[0], name, sizeof name));
    if (s->family[family].name)
        plm_page_name(p, s->family[family].name, 0, 0);
    else
        fputs("all rows", p->out);
    if (t->target->unit != PLM_LEARNED_TIME)
        fprintf(p->out, "; classes of %g %s", t->width, plm_learned_unit_name(t->target->unit));
    fprintf(p->out, "; mean |e| in %s\n", plm_learned_unit_name(t->target->unit));
    heads_show(p, t);
    for (size_t c = 0; c < s->contestants; c++) {
        const struct plm_study_result *r = plm_study_result(s, c, target, 0);
        if (r->asked && r->score[family].answered)
            score_show(p, t, s->contestant[c].name, r, &r->score[family]);
    }
}

/* ---- how far methods carry ---- */

/* Of memory the accuracy of classes, of the rest R2. */
static enum plm_study_figure main_figure(const struct plm_study_target *t)
{
    return t->target->unit == PLM_LEARNED_MEMORY ? PLM_STUDY_ACCURACY : PLM_STUDY_R2;
}

static void carried_show(const struct plm_page *p, const struct plm_study *s, size_t target)
{
    const enum plm_study_figure figure = main_figure(&s->target[target]);
    char text[64];
    fprintf(p->out, "\n%s%s%s: %s where rows are unlike those that were learned from\n%s%-*s", plm_ink(p, PLM_INK_BOLD),
            s->target[target].target->column, plm_ink(p, PLM_INK_PLAIN),
            figure == PLM_STUDY_R2 ? "R2" : "accuracy of classes, %,", plm_ink(p, PLM_INK_DIM), NAME, "");
    for (size_t i = 0; i < s->splits; i++)
        fprintf(p->out, " %*.*s", CELL, CELL, plm_split_name(&s->split[i], text, sizeof text));
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
    for (size_t c = 0; c < s->contestants; c++) {
        if (!plm_study_result(s, c, target, 0)->asked)
            continue;
        plm_page_name(p, s->contestant[c].name, NAME, 1);
        for (size_t i = 0; i < s->splits; i++) {
            const struct plm_study_result *r = plm_study_result(s, c, target, i);
            value_text(text, sizeof text, r->score[s->families].value[figure], figure);
            fprintf(p->out, " %*s", CELL, is_shown(r, figure) ? text : "-");
        }
        fputc('\n', p->out);
    }
}

/* ---- the table of the study ---- */

/* The first target of that unit; `targets` if there is none. */
static size_t target_of(const struct plm_study *s, enum plm_learned_unit unit)
{
    size_t i = 0;
    while (i < s->targets && s->target[i].target->unit != unit)
        i++;
    return i;
}

static void main_cell(const struct plm_page *p, const struct plm_study *s, size_t contestant, size_t target)
{
    const struct plm_study_result *r;
    enum plm_study_figure figure;
    char text[24];
    snprintf(text, sizeof text, "-");
    if (target < s->targets) {
        r = plm_study_result(s, contestant, target, 0);
        figure = main_figure(&s->target[target]);
        if (r->classes)
            figure = PLM_STUDY_ACCURACY;
        if (r->asked)
            value_text(text, sizeof text, r->score[s->families].value[figure], figure);
        if (r->asked && r->classes && s->target[target].target->unit != PLM_LEARNED_MEMORY)
            strncat(text, " %", sizeof text - strlen(text) - 1);
    }
    fprintf(p->out, " %10s", text);
}

/* The least over the tests in which rows are unlike, and the number of these. */
static void worst_cell(const struct plm_page *p, const struct plm_study *s, size_t contestant, size_t target)
{
    double worst = NAN;
    char text[24];
    for (size_t i = 1; target < s->targets && i < s->splits; i++) {
        const struct plm_study_result *r = plm_study_result(s, contestant, target, i);
        const double value = r->asked ? r->score[s->families].value[main_figure(&s->target[target])] : NAN;
        worst = isnan(worst) || value < worst ? value : worst;
    }
    value_text(text, sizeof text, worst, target < s->targets ? main_figure(&s->target[target]) : PLM_STUDY_ACCURACY);
    fprintf(p->out, " %10s", text);
}

static void latency_cell(const struct plm_page *p, const struct plm_study *s, size_t contestant, size_t target)
{
    const struct plm_study_result *r = target < s->targets ? plm_study_result(s, contestant, target, 0) : NULL;
    const bool runs = s->contestant[contestant].paradigm == PLM_VIRTUAL ||
                      (s->contestant[contestant].learner && s->contestant[contestant].learner->ask_beside);
    if (runs && s->run_seconds > 0)
        fprintf(p->out, " %10.0f %10.0f", 1e3 * s->run_seconds, 1e3 * s->run_cpu);
    else if (runs || !r || !r->asked || !r->score[s->families].answered)
        fprintf(p->out, " %10s %10s", runs ? "a run" : "-", runs ? "a run" : "-");
    else
        fprintf(p->out, r->seconds < 0.1 ? " %10.4f %10.4f" : " %10.0f %10.0f", 1e3 * r->seconds, 1e3 * r->cpu);
}

static void study_show(const struct plm_page *p, const struct plm_study *s)
{
    const size_t memory = target_of(s, PLM_LEARNED_MEMORY), busy = target_of(s, PLM_LEARNED_UTILIZATION);
    plm_page_title(p, "The study");
    fprintf(p->out, "%s%-11s%-*s %10s %10s %10s %10s %6s%6s%6s %10s %10s%s\n", plm_ink(p, PLM_INK_DIM), "paradigm",
            NAME, "method", "memory %", "unlike %", "busy R2", "unlike R2", "once", "card", "job", "ms", "CPU ms",
            plm_ink(p, PLM_INK_PLAIN));
    for (size_t c = 0; c < s->contestants; c++) {
        const struct plm_contestant *who = &s->contestant[c];
        fprintf(p->out, "%-11s", plm_paradigm_name(who->paradigm));
        plm_page_name(p, who->name, NAME, 1);
        main_cell(p, s, c, memory);
        worst_cell(p, s, c, memory);
        main_cell(p, s, c, busy);
        worst_cell(p, s, c, busy);
        for (int i = 0; i < PLM_DEMAND_TIMES; i++)
            fprintf(p->out, "%6zu", plm_demand_times(who->name, who->paradigm, (enum plm_demand_when)i));
        latency_cell(p, s, c, memory < s->targets ? memory : busy);
        fputc('\n', p->out);
    }
}

/* Is the line one of a method that is there? */
static bool is_demanded(const struct plm_study *s, const struct plm_demand *demand)
{
    for (size_t c = 0; c < s->contestants; c++) {
        const struct plm_contestant *who = &s->contestant[c];
        if (!strcmp(plm_demand_next(who->name, who->paradigm, NULL)->of, demand->of))
            return true;
    }
    return false;
}

static void demands_show(const struct plm_page *p, const struct plm_study *s)
{
    const char *before = "";
    plm_page_title(p, "What each method needs");
    for (size_t i = 0; i < plm_demand_count; i++) {
        const struct plm_demand *d = &plm_demands[i];
        if (!is_demanded(s, d))
            continue;
        fprintf(p->out, "  %-*s%-20s%s\n", NAME, strcmp(before, d->of) ? d->of : "", plm_demand_when_name(d->when),
                d->text);
        before = d->of;
    }
}

/* Each reason once for a method. */
static void reasons_show(const struct plm_page *p, const struct plm_study *s)
{
    bool titled = false;
    for (size_t c = 0; c < s->contestants; c++)
        for (size_t t = 0; t < s->targets; t++) {
            const struct plm_study_result *r = plm_study_result(s, c, t, 0);
            if (!r->why[0] || (t && !strcmp(r->why, plm_study_result(s, c, t - 1, 0)->why)))
                continue;
            if (!titled)
                plm_page_title(p, "Methods that could not answer");
            titled = true;
            fprintf(p->out, "  %s, %s: ", s->contestant[c].name, s->target[t].target->column);
            plm_page_name(p, r->why, 0, 0);
            fputc('\n', p->out);
        }
}

static void constants_show(const struct plm_page *p, const struct plm_study *s)
{
    for (size_t c = 0; c < s->contestants; c++)
        for (size_t t = 0; t < s->targets; t++) {
            const struct plm_study_result *r = plm_study_result(s, c, t, 0);
            if (s->contestant[c].paradigm == PLM_VIRTUAL && !isnan(r->constant))
                fprintf(p->out,
                        "\nOne constant was fitted for the stack, from the rows that are learned from: %.0f MiB "
                        "in the last fold. Formulas got it too.\n",
                        r->constant);
        }
}

static void study_text(const struct plm_page *p, const void *what)
{
    const struct plm_study *s = what;
    for (size_t t = 0; t < s->targets; t++) {
        for (size_t family = 0; family < s->families; family++)
            family_show(p, s, t, family);
        family_show(p, s, t, s->families);
        carried_show(p, s, t);
    }
    constants_show(p, s);
    study_show(p, s);
    demands_show(p, s);
    reasons_show(p, s);
}

const struct plm_result plm_study_shown = {
    .schema = "plimsoll.study/1",
    .document = plm_study_document,
    .rows = plm_study_rows,
    .figures = plm_study_figures,
    .text = study_text,
    PLM_RESULT_PAGE_OF(study),
};
