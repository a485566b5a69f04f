/* An evaluation of step times or utilization for people: a table per family and card, then what was missed by most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "study/evaluate/time_judge.h"

enum { FAILURES = 12, NAMES_MOST = 37, FIGURE_COLUMNS = 8, COUNT_COLUMNS = 6 };

/* ---- figures ---- */

static bool is_share(enum plm_agreement_figure figure)
{
    return figure == PLM_AGREE_MEDIAN || figure == PLM_AGREE_P90;
}

/* Correlations with four digits, relative errors in per cent, mean errors in the unit of the figure (metrics: per cent
   too). */
static void number(char *out, size_t size, double value, enum plm_agreement_figure figure, bool metric)
{
    const bool per_cent = is_share(figure) || (figure == PLM_AGREE_MAE && metric);
    if (isnan(value))
        snprintf(out, size, "-");
    else if (per_cent || figure == PLM_AGREE_MAE)
        snprintf(out, size, fabs(value) * (per_cent ? 100 : 1) < 999.95 ? "%.2f" : "%.0f",
                 value * (per_cent ? 100 : 1));
    else
        snprintf(out, size, "%.4f", value);
}

enum { CELL = 17 };

static void interval(char *out, size_t size, const struct plm_agreement *a, enum plm_agreement_figure figure,
                     bool metric)
{
    char low[24], high[24];
    number(low, sizeof low, a->interval[figure].low, figure, metric);
    number(high, sizeof high, a->interval[figure].high, figure, metric);
    snprintf(out, size, isnan(a->interval[figure].low) ? "" : "[%s, %s]", low, high);
}

static void agreement_show(const struct plm_page *p, const struct plm_agreement *a, bool metric)
{
    struct plm_report_figure_text text[PLM_AGREE_FIGURES];
    for (enum plm_agreement_figure i = 0; i < PLM_AGREE_FIGURES; i++) {
        number(text[i].value, sizeof text[i].value, a->value[i], i, metric);
        interval(text[i].interval, sizeof text[i].interval, a, i, metric);
    }
    plm_report_figures_show(p, text, PLM_AGREE_FIGURES, CELL, NAMES_MOST + 1 + COUNT_COLUMNS);
}

static void heading(const struct plm_page *p, const struct plm_timed_group *g)
{
    static const char *const heads[PLM_AGREE_FIGURES] = {"R2", "Spearman", "mean |e|", "median %", "90th %"};
    fprintf(p->out, "\n%s", plm_ink(p, PLM_INK_BOLD));
    if (g->family) {
        plm_page_name(p, g->family, 0, 0);
        fprintf(p->out, "%s%s on %s", *g->mode ? ", " : "", g->mode, g->card);
    } else
        fputs("All", p->out);
    fprintf(p->out, "%s: %zu row%s\n", plm_ink(p, PLM_INK_PLAIN), g->rows, g->rows == 1 ? "" : "s");
    fprintf(p->out, "%s%*s", plm_ink(p, PLM_INK_DIM), NAMES_MOST + 1 + COUNT_COLUMNS, "n");
    for (int i = 0; i < PLM_AGREE_FIGURES; i++)
        fprintf(p->out, " %*s", CELL, heads[i]);
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
}

static void group_show(const struct plm_page *p, const struct plm_timed_evaluation *e, const struct plm_timed_group *g)
{
    heading(p, g);
    for (int figure = 0; figure < PLM_TIMED_FIGURES; figure++) {
        if (!(e->figures >> figure & 1))
            continue;
        for (size_t i = 0; i < e->estimators; i++) {
            const struct plm_agreement *a = plm_timed_agreement(e, g, i, figure);
            if (!a->count)
                continue;
            fprintf(p->out, "%-*s ", FIGURE_COLUMNS, plm_timed_figure_name(figure));
            plm_page_name(p, e->estimator[i].name, NAMES_MOST - FIGURE_COLUMNS - 1, 1);
            fprintf(p->out, " %*zu", COUNT_COLUMNS, a->count);
            agreement_show(p, a, figure != PLM_FIGURE_STEP);
        }
    }
}

/* ---- rows ---- */

static void run_name(const struct plm_page *p, const struct plm_timed_run *run)
{
    fputs("  ", p->out);
    plm_page_name(p, *run->row->model ? run->row->model : run->row->family, 44, 1);
    fprintf(p->out, " batch %-5llu ", (unsigned long long)run->row->batch);
}

/* Step times: by the relative error. Utilization: by the mean error over the metrics. */
static double run_error(const struct plm_timed_evaluation *e, size_t run)
{
    const double *value = &e->estimator[e->options.fit_rows ? 1 : 0].value[run * PLM_TIMED_FIGURES];
    const struct plm_timed_row *row = e->bench->run[run].row;
    double sum = 0, count = 0;
    if (e->figures >> PLM_FIGURE_STEP & 1)
        return value[0] / row->figure[0] - 1;
    for (int i = PLM_FIGURE_METRIC; i < PLM_TIMED_FIGURES; i++)
        if (e->figures & row->known & (1u << i)) {
            sum += fabs(value[i] - row->figure[i]);
            count++;
        }
    return count > 0 ? sum / count : 0;
}

static void worst_line(const struct plm_page *p, const void *what, const struct plm_miss *m)
{
    const struct plm_timed_evaluation *e = what;
    const double *value = &e->estimator[e->options.fit_rows ? 1 : 0].value[m->at * PLM_TIMED_FIGURES];
    const struct plm_timed_forecast *f = &(e->options.fit_rows ? e->fitted : e->forecast)[m->at];
    const struct plm_timed_row *row = e->bench->run[m->at].row;
    run_name(p, &e->bench->run[m->at]);
    if (e->figures >> PLM_FIGURE_STEP & 1)
        fprintf(p->out, "%9.2f ms measured, %9.2f ms here (GPU %.2f, host %.2f), %+.1f %%\n", row->figure[0], value[0],
                f->busy * 1e-6, f->host * 1e-6, 100 * m->error);
    else {
        for (int i = PLM_FIGURE_METRIC; i < PLM_TIMED_FIGURES; i++)
            if (e->figures & row->known & (1u << i))
                fprintf(p->out, " %s %.3f, here %.3f;", plm_timed_figure_name(i), row->figure[i], value[i]);
        fputc('\n', p->out);
    }
}

static void worst_show(const struct plm_page *p, const struct plm_timed_evaluation *e)
{
    struct plm_miss *list = plm_calloc(e->bench->runs, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < e->bench->runs; i++)
        if (plm_timed_evaluation_judged(e, i))
            list[count++] = (struct plm_miss){i, run_error(e, i)};
    plm_misses_show(p, list, count, worst_line, e);
    free(list);
}

static void failures_show(const struct plm_page *p, const struct plm_timed_evaluation *e)
{
    size_t shown = 0;
    if (!e->failed)
        return;
    plm_page_title(p, "Not judged");
    for (size_t i = 0; i < e->bench->runs && shown < FAILURES; i++)
        if (!e->forecast[i].known) {
            run_name(p, &e->bench->run[i]);
            plm_page_name(p, e->bench->run[i].why, 0, 0);
            fputc('\n', p->out);
            shown++;
        }
    if (e->failed > shown)
        fprintf(p->out, "  and %zu more; --csv has them all\n", e->failed - shown);
}

/* ---- what was chosen ---- */

static void fit_explain(const struct plm_page *p, const struct plm_timed_evaluation *e)
{
    char text[400] = "";
    if (!e->options.fit_rows)
        return;
    for (size_t i = 0; i < e->fit.constants; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s = %.4g (was %.4g)", i ? ", " : "",
                 e->fit.constant[i]->name, e->fit.value[i], e->fit.before[i]);
    plm_page_say(p,
                 "%zu rows, drawn with seed %llu, were used to fit %s (%zu tries); they are not in the figures above.",
                 e->fit.rows, (unsigned long long)e->options.seed, text, e->fit.tries);
    if (e->floor.known && e->bench->truth->kind == PLM_TIMED_STEP)
        plm_page_say(
            p,
            "MACs and activations: %.4g ms per GMAC, %.4g ms per million activations, %.4g ms, from %zu of the "
            "same rows.",
            e->floor.a, e->floor.b, e->floor.c, e->floor.rows);
}

static void explain(const struct plm_page *p, const struct plm_timed_evaluation *e)
{
    fputc('\n', p->out);
    fit_explain(p, e);
    if (e->options.learn_rows)
        plm_page_say(p, "The correction was learned from %zu rows, %s; no figure above is of these.",
                     e->options.learn_rows,
                     e->options.fit_rows ? "those that chose constants among them" : "drawn with the seed");
    else if (e->options.correct)
        plm_page_say(p, "The correction was learned before, from %zu rows.", e->options.correct->rows);
    if (!e->options.fit_rows && !e->options.learn_rows)
        plm_page_say(p, "No constant was fitted on this table.");
    if (e->bench->truth->without)
        plm_page_say(p, "%zu rows have no figure of this kind and were left out.", e->bench->truth->without);
    plm_page_say(
        p,
        "R2 is 1 - the squared errors over the squared deviations from the mean; Spearman is the correlation of "
        "ranks; mean |e| is in "
        "%s; median and 90th are of the relative error. In brackets: 95 %% intervals by bootstrap.",
        e->bench->truth->kind == PLM_TIMED_STEP ? "ms" : "percentage points");
}

static void evaluation_text(const struct plm_page *p, const void *what)
{
    const struct plm_timed_evaluation *e = what;
    for (size_t i = 0; i < e->groups; i++)
        group_show(p, e, &e->group[i]);
    worst_show(p, e);
    failures_show(p, e);
    explain(p, e);
}

const struct plm_result plm_timed_evaluation_result = {
    .schema = "plimsoll.time-evaluation/1",
    .document = plm_timed_evaluation_document,
    .rows = plm_timed_evaluation_rows,
    .figures = plm_timed_evaluation_figures,
    .text = evaluation_text,
    PLM_RESULT_PAGE_OF(times),
};
