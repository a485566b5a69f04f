/* An evaluation of memory for people: a table per family, then the runs that were missed by most. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "study/evaluate/judge.h"

enum { NAMES_MOST = 36, NOTES_MOST = 8 };
#define GIB (1024.0 * 1024 * 1024)

static void percent(FILE *out, int columns, double share, bool known)
{
    char text[32] = "-";
    if (known)
        snprintf(text, sizeof text, fabs(share) < 0.9995 ? "%.2f" : "%.1f", 100 * share);
    fprintf(out, " %*s", columns, text);
}

/* The names stand in one column, as wide as the longest of them needs, up to a limit. */
static int name_columns(const struct plm_page *p, const struct plm_evaluation *e)
{
    int columns = 12;
    for (size_t i = 0; i < e->estimators; i++) {
        int wanted = plm_page_columns(p, e->estimator[i].name) + e->estimator[i].other_kind;
        columns = wanted > columns ? wanted : columns;
    }
    return columns < NAMES_MOST ? columns : NAMES_MOST;
}

static void heading(const struct plm_page *p, const struct plm_evaluation_family *f, int names)
{
    fprintf(p->out, "\n%s", plm_ink(p, PLM_INK_BOLD));
    plm_page_name(p, f->name ? f->name : "All", 0, 0);
    fprintf(p->out, "%s: %zu run%s\n", plm_ink(p, PLM_INK_PLAIN), f->rows, f->rows == 1 ? "" : "s");
    fprintf(p->out, "%s%-*s %4s %7s %15s %7s %7s %7s  %7s %7s %6s %6s %6s %6s %6s %6s%s\n", plm_ink(p, PLM_INK_DIM),
            names, "error, %", "n", "median", "[95 %]", "mean", "95th", "worst", "low 5", "high 5", "under", "OOM ok",
            "PEF", "PEF d", "MCP", "time", plm_ink(p, PLM_INK_PLAIN));
}

static void interval(FILE *out, const struct plm_metrics *m)
{
    char text[48] = "-";
    if (m->compared)
        snprintf(text, sizeof text, m->interval.high < 0.9995 ? "[%.2f, %.2f]" : "[%.1f, %.1f]", 100 * m->interval.low,
                 100 * m->interval.high);
    fprintf(out, " %15s", text);
}

static void show_line(const struct plm_page *p, const struct plm_estimator *by, const struct plm_metrics *m, int names)
{
    const bool some = m->compared > 0, judged = m->judged > 0;
    char name[sizeof by->name + 2];
    snprintf(name, sizeof name, "%s%s", by->name, by->other_kind ? "*" : "");
    fprintf(p->out, "%s", plm_ink(p, by->origin == PLM_ORIGIN_VIRTUAL ? PLM_INK_PLAIN : PLM_INK_DIM));
    plm_page_name(p, name, names, 1);
    fprintf(p->out, " %4zu", m->compared);
    percent(p->out, 7, m->median, some);
    interval(p->out, m);
    percent(p->out, 7, m->mean, some);
    percent(p->out, 7, m->p95, some);
    percent(p->out, 7, m->worst, some);
    fputc(' ', p->out);
    percent(p->out, 7, m->quantile[0], some);
    percent(p->out, 7, m->quantile[PLM_QUANTILES - 1], some);
    percent(p->out, 6, m->under, some);
    percent(p->out, 6, m->agreement, judged);
    percent(p->out, 6, m->pef[PLM_CAP_TORCH], judged);
    percent(p->out, 6, m->pef[PLM_CAP_DEVICE], judged);
    if (judged)
        fprintf(p->out, " %6.2f", m->mcp[PLM_CAP_TORCH] / GIB);
    else
        fprintf(p->out, " %6s", "-");
    if (m->timed)
        fprintf(p->out, " %6.2f", m->seconds);
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
}

/* In-domain figures apart, as far as there are any. */
static void outside(const struct plm_page *p, const struct plm_evaluation *e, const struct plm_evaluation_family *f)
{
    const char *before = "All compared runs are outside of what these were made for: ";
    for (size_t i = 0; i < e->estimators; i++) {
        const struct plm_metrics *m = &f->metrics[i];
        if (!m->outside || m->outside == m->compared)
            continue;
        plm_page_name(p, e->estimator[i].name, 0, 0);
        fprintf(p->out, ": %zu of %zu runs are outside of what it was made for; the median of the others is %.2f %%.\n",
                m->outside, m->compared, 100 * m->inside);
    }
    for (size_t i = 0; i < e->estimators; i++)
        if (f->metrics[i].outside && f->metrics[i].outside == f->metrics[i].compared) {
            fputs(before, p->out);
            plm_page_name(p, e->estimator[i].name, 0, 0);
            before = ", ";
        }
    if (*before == ',')
        fputs(".\n", p->out);
}

static void show_table(const struct plm_page *p, const struct plm_evaluation *e, const struct plm_evaluation_family *f)
{
    const int names = name_columns(p, e);
    heading(p, f, names);
    for (size_t i = 0; i < e->estimators; i++)
        show_line(p, &e->estimator[i], &f->metrics[i], names);
    if (f->metrics[0].compared)
        fprintf(p->out, "plimsoll's range is %.2f %% of the truth wide, on average, and holds it in %zu of %zu runs.\n",
                100 * f->metrics[0].width, f->metrics[0].covered, f->metrics[0].compared);
    outside(p, e, f);
}

/* ---- the worst runs ---- */

/* The beginning of a line about a run. */
static void run_begin(const struct plm_page *p, const struct plm_truth_row *row)
{
    fputs("  ", p->out);
    plm_page_name(p, row->model, 28, 1);
    fputc(' ', p->out);
    plm_page_name(p, row->optimizer, 10, 1);
    fprintf(p->out, " batch %-5llu ", (unsigned long long)row->batch);
}

static void worst_line(const struct plm_page *p, const void *what, const struct plm_miss *m)
{
    const struct plm_evaluation *e = what;
    char a[32], b[32];
    run_begin(p, plm_evaluation_row(e, m->at));
    fprintf(p->out, "%9s measured, %9s estimated, %+.2f %%\n",
            plm_page_amount(p, a, sizeof a, e->yardstick[m->at].bytes),
            plm_page_amount(p, b, sizeof b, (uint64_t)e->estimator[0].score[m->at].estimate), 100 * m->error);
}

static void show_worst(const struct plm_page *p, const struct plm_evaluation *e)
{
    const struct plm_estimator *by = &e->estimator[0];
    struct plm_miss *list = plm_calloc(e->rows, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < e->rows; i++)
        if (by->score[i].compared)
            list[n++] = (struct plm_miss){i, by->score[i].error};
    plm_misses_show(p, list, n, worst_line, e);
    free(list);
}

static void show_failures(const struct plm_page *p, const struct plm_evaluation *e)
{
    if (!e->failed)
        return;
    plm_page_title(p, "Workloads that failed; they count as wrong verdicts");
    for (size_t i = 0; i < e->bench->runs; i++) {
        const struct plm_bench_run *run = &e->bench->run[i];
        if (run->outcome.done)
            continue;
        run_begin(p, run->row);
        plm_page_name(p, run->outcome.why, 0, 0);
        fputc('\n', p->out);
    }
}

/* Why methods did not answer, each reason once with the first method that gave it. */
static void show_silences(const struct plm_page *p, const struct plm_evaluation *e)
{
    const char *told[NOTES_MOST];
    size_t notes = 0;
    for (size_t i = 0; i < e->estimators; i++)
        for (size_t row = 0; row < e->rows && notes < NOTES_MOST; row++) {
            const struct plm_score *s = &e->estimator[i].score[row];
            size_t k = 0;
            if (e->estimator[i].origin != PLM_ORIGIN_METHOD || s->answered || !s->note)
                continue;
            while (k < notes && strcmp(told[k], s->note) != 0)
                k++;
            if (k < notes)
                continue;
            told[notes++] = s->note;
            if (notes == 1)
                plm_page_title(p, "Not answered");
            fputs("  ", p->out);
            plm_page_name(p, e->estimator[i].name, 0, 0);
            fputs(": ", p->out);
            plm_page_name(p, s->note, 0, 0);
            fputc('\n', p->out);
        }
}

static void explain_design(const struct plm_page *p, const struct plm_evaluation *e)
{
    const struct plm_design_made *d = e->options.design;
    if (e->references)
        plm_page_say(
            p,
            "Reference: the virtual GPU, not a measurement, for %zu of %zu runs. plimsoll itself is not judged on "
            "them.",
            e->references, e->rows);
    if (!d)
        return;
    if (d->design == PLM_DESIGN_MONTECARLO)
        plm_page_say(p, "Design: %zu draws with the seed %" PRIu64 ".", d->draws, d->seed);
    else if (d->design == PLM_DESIGN_GRID)
        plm_page_say(p, "Design: the full grid of models, optimizers and batch sizes.");
    if (d->without && !d->reference)
        plm_page_say(
            p,
            "%zu of %zu runs have no row in the truth file and were not made; --truth virtual compares the methods "
            "with the virtual GPU instead; --plan lists the runs to measure.",
            d->without, d->runs);
    if (d->disturbed)
        plm_page_say(p,
                     "%zu rows marked as disturbed were left out; --truth disturbed "
                     "includes them.",
                     d->disturbed);
}

static void show_explanation(const struct plm_page *p, const struct plm_evaluation *e)
{
    bool other = false, published = false;
    for (size_t i = 0; i < e->estimators; i++) {
        other |= e->estimator[i].other_kind;
        published |= e->estimator[i].origin == PLM_ORIGIN_PUBLISHED;
    }
    fputc('\n', p->out);
    explain_design(p, e);
    plm_page_say(
        p,
        "The truth is read as %s. Errors are over the runs that neither ran out of memory nor were estimated to; "
        "[95 %%] is the bootstrap interval of the median, low 5 and high 5 are quantiles of the signed error. "
        "PEF: share of "
        "runs with a wrong verdict, or that fail when PyTorch may reserve no more than the estimate; PEF d: when "
        "the process may "
        "take no more than the estimate beside its context, libraries' memory included. MCP: mean memory "
        "conserved, in GiB, by "
        "PEF. time: mean seconds for an answer, with what it needs.",
        plm_truth_kind_name(e->options.kind));
    if (published)
        plm_page_say(p,
                     "Of the published columns PEF is that of their own second run, which capped PyTorch; PEF d is a "
                     "replay of our record.");
    if (other)
        plm_page_say(p, "* estimates another kind of figure than was measured.");
}

/* ---- published figures ---- */

static size_t estimator_find(const struct plm_evaluation *e, enum plm_origin origin, const char *name)
{
    char wanted[48];
    size_t i = 0;
    snprintf(wanted, sizeof wanted, origin == PLM_ORIGIN_PUBLISHED ? "%s (published)" : "%s", name);
    while (i < e->estimators && (e->estimator[i].origin != origin || strcmp(e->estimator[i].name, wanted) != 0))
        i++;
    return i;
}

static void three(FILE *out, const struct plm_evaluation *e, size_t estimator)
{
    const struct plm_metrics *m =
        estimator < e->estimators ? &e->family[e->families - 1].metrics[estimator] : &(struct plm_metrics){0};
    m->compared ? fprintf(out, "   %7.2f", 100 * m->median) : fprintf(out, "   %7s", "-");
    m->judged ? fprintf(out, " %7.2f", 100 * m->pef[PLM_CAP_TORCH]) : fprintf(out, " %7s", "-");
    m->timed ? fprintf(out, " %7.2f", m->seconds) : fprintf(out, " %7s", "-");
}

static void show_published(const struct plm_page *p, const struct plm_evaluation *e)
{
    size_t shown = 0;
    for (size_t i = 0; i < PLM_PUBLISHED; i++)
        shown += estimator_find(e, PLM_ORIGIN_PUBLISHED, plm_published[i].tool) < e->estimators ||
                 estimator_find(e, PLM_ORIGIN_METHOD, plm_published[i].method) < e->estimators;
    if (!shown || !e->families)
        return;
    plm_page_title(p, "As published by the xMem paper, and here");
    fprintf(p->out, "%s%-12s   %-23s   %-23s   %s\n", plm_ink(p, PLM_INK_DIM), "", "published, 5,209 runs",
            "its columns in this file", "our implementation here");
    fprintf(p->out, "%-12s", "");
    for (int i = 0; i < 3; i++)
        fprintf(p->out, "   %7s %7s %7s", "median", "PEF", "seconds");
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
    for (size_t i = 0; i < PLM_PUBLISHED; i++) {
        const struct plm_published *row = &plm_published[i];
        fprintf(p->out, "%-12s   %7.2f %7.2f %7.2f", row->name, 100 * row->median, 100 * row->pef, row->seconds);
        three(p->out, e, estimator_find(e, PLM_ORIGIN_PUBLISHED, row->tool));
        three(p->out, e, estimator_find(e, PLM_ORIGIN_METHOD, row->method));
        fputc('\n', p->out);
    }
    fprintf(p->out, "%-12s   %7s %7s %7s   %7s %7s %7s", "plimsoll", "", "", "", "", "", "");
    three(p->out, e, estimator_find(e, PLM_ORIGIN_VIRTUAL, "plimsoll"));
    fputc('\n', p->out);
}

/* ---- what errors depend on ---- */

static const struct plm_anova *any(const struct plm_evaluation *e, const struct plm_evaluation_family *f)
{
    for (size_t i = 0; i < e->estimators; i++)
        if (f->anova[i].observations)
            return &f->anova[i];
    return NULL;
}

static bool is_tested(const struct plm_evaluation *e, const struct plm_evaluation_family *f, size_t factor)
{
    for (size_t i = 0; i < e->estimators; i++)
        if (f->anova[i].observations && f->anova[i].effect[factor].state == PLM_EFFECT_TESTED)
            return true;
    return false;
}

static void effect(const struct plm_page *p, const struct plm_effect *e)
{
    char f[16] = "-", chance[16] = "", eta[16] = "-";
    if (e->state != PLM_EFFECT_TESTED) {
        fprintf(p->out, "   %20s", e->state == PLM_EFFECT_ALIASED ? "not separable" : "does not vary");
        return;
    }
    if (e->known) {
        snprintf(f, sizeof f, e->f < 1000 ? "%.2f" : "%.0f", e->f);
        snprintf(chance, sizeof chance, e->p < 0.0001 ? "<.0001" : "%.4f", e->p);
    }
    snprintf(eta, sizeof eta, "%.3f", e->eta);
    fprintf(p->out, "   %s%7s %6s %5s%s", plm_ink(p, e->known && e->p < 0.05 ? PLM_INK_BOLD : PLM_INK_PLAIN), f, chance,
            eta, plm_ink(p, PLM_INK_PLAIN));
}

static void family_head(const struct plm_page *p, const struct plm_evaluation *e, const struct plm_evaluation_family *f,
                        const struct plm_anova *a)
{
    fprintf(p->out, "%s%-*.*s", plm_ink(p, PLM_INK_DIM), NAMES_MOST, NAMES_MOST, "");
    for (size_t i = 0; i < a->effects; i++)
        if (is_tested(e, f, i))
            fprintf(p->out, "   %7s %6s %5s", "F", "p", "eta2");
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
}

/* Nested factors say within which others they were looked at. */
static void family_names(const struct plm_page *p, const struct plm_evaluation *e,
                         const struct plm_evaluation_family *f, const struct plm_anova *a)
{
    plm_page_name(p, f->name ? f->name : "All", NAMES_MOST, 1);
    for (size_t i = 0; i < a->effects; i++) {
        char text[64];
        if (!is_tested(e, f, i))
            continue;
        snprintf(text, sizeof text, "%s, df %zu", a->effect[i].name, a->effect[i].freedom);
        for (size_t k = 0; k < a->effects; k++)
            if (a->effect[i].within >> k & 1)
                snprintf(text, sizeof text, "%s in %s", a->effect[i].name, a->effect[k].name);
        fprintf(p->out, "   %20.20s", text);
    }
    fputc('\n', p->out);
}

static void left_out(const struct plm_page *p, const struct plm_evaluation *e, const struct plm_evaluation_family *f,
                     const struct plm_anova *a)
{
    for (size_t i = 0; i < a->effects; i++) {
        const struct plm_effect *x = &a->effect[i];
        if (is_tested(e, f, i))
            continue;
        if (x->state == PLM_EFFECT_ALIASED && x->alias >= 0)
            fprintf(p->out, "%s splits the runs as %s does; ", x->name, a->effect[x->alias].name);
        else if (x->state == PLM_EFFECT_ALIASED)
            fprintf(p->out, "%s cannot be told apart from the others together; ", x->name);
        else
            fprintf(p->out, "%s does not vary; ", x->name);
    }
    fprintf(p->out, "residual df %zu.\n", a->residual_freedom);
}

static void show_factors(const struct plm_page *p, const struct plm_evaluation *e)
{
    bool titled = false;
    for (size_t i = 0; i < e->families; i++) {
        const struct plm_evaluation_family *f = &e->family[i];
        const struct plm_anova *a = any(e, f);
        if (!a)
            continue;
        if (!titled)
            plm_page_title(p, e->options.response == PLM_RESPONSE_SIGNED
                                  ? "What the signed error depends on (analysis of variance, type II)"
                                  : "What the absolute error depends on (analysis of variance, type II)");
        titled = true;
        family_names(p, e, f, a);
        family_head(p, e, f, a);
        for (size_t k = 0; k < e->estimators; k++) {
            if (!f->anova[k].observations || e->estimator[k].upper)
                continue;
            plm_page_name(p, e->estimator[k].name, NAMES_MOST, 1);
            for (size_t n = 0; n < f->anova[k].effects; n++)
                if (is_tested(e, f, n))
                    effect(p, &f->anova[k].effect[n]);
            fputc('\n', p->out);
        }
        left_out(p, e, f, a);
    }
}
/* ---- all together ---- */

static void evaluation_text(const struct plm_page *p, const void *what)
{
    const struct plm_evaluation *e = what;
    for (size_t i = 0; i < e->families; i++)
        show_table(p, e, &e->family[i]);
    show_published(p, e);
    show_factors(p, e);
    show_worst(p, e);
    show_failures(p, e);
    show_silences(p, e);
    show_explanation(p, e);
}

const struct plm_result plm_evaluation_result = {
    .schema = "plimsoll.evaluation/1",
    .document = plm_evaluation_document,
    .rows = plm_evaluation_rows,
    .figures = plm_evaluation_figures,
    .text = evaluation_text,
    PLM_RESULT_PAGE_OF(evaluation),
};
