/* An evaluation for people: a table per family, then the runs that were missed by most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "evaluate/judge.h"
#include "report/draw.h"
#include "report/report.h"

enum { WORST = 10 };
#define GIB (1024.0 * 1024 * 1024)

static void percent(FILE *out, int columns, double share, bool known)
{
    char text[32] = "-";
    if (known)
        snprintf(text, sizeof text, fabs(share) < 0.9995 ? "%.2f" : "%.1f", 100 * share);
    fprintf(out, " %*s", columns, text);
}

static void heading(const struct plm_page *p, const struct plm_evaluation *e, const struct plm_family *f)
{
    const struct plm_metrics *m = &f->metrics[0];
    fprintf(p->out, "\n%s", plm_ink(p, PLM_INK_BOLD));
    plm_page_name(p, f->name ? f->name : "All", 0, 0);
    fprintf(p->out, "%s: %zu runs\n", plm_ink(p, PLM_INK_PLAIN), m->runs);
    fprintf(p->out, "%s%-32s %4s %7s %7s %7s %7s  %7s %7s %7s %6s %6s %6s %6s%s\n", plm_ink(p, PLM_INK_DIM), "error, %",
            "n", "median", "mean", "95th", "worst", "low 5", "middle", "high 5", "under", "OOM ok", "PEF", "MCP",
            plm_ink(p, PLM_INK_PLAIN));
    (void)e;
}

static void line(const struct plm_page *p, const struct plm_estimator *by, const struct plm_metrics *m)
{
    const bool some = m->compared > 0, judged = m->judged > 0;
    fprintf(p->out, "%s", plm_ink(p, by->own ? PLM_INK_PLAIN : PLM_INK_DIM));
    plm_page_name(p, by->name, 32, 1);
    fprintf(p->out, " %4zu", m->compared);
    percent(p->out, 7, m->median, some);
    percent(p->out, 7, m->mean, some);
    percent(p->out, 7, m->p95, some);
    percent(p->out, 7, m->worst, some);
    fputc(' ', p->out);
    percent(p->out, 7, m->quantile[0], some);
    percent(p->out, 7, m->quantile[2], some);
    percent(p->out, 7, m->quantile[4], some);
    percent(p->out, 6, m->under, some);
    percent(p->out, 6, m->agreement, judged);
    percent(p->out, 6, m->pef, judged);
    if (judged)
        fprintf(p->out, " %6.2f", m->mcp / GIB);
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
}

static void table(const struct plm_page *p, const struct plm_evaluation *e, const struct plm_family *f)
{
    heading(p, e, f);
    for (size_t i = 0; i < e->estimators; i++)
        line(p, &e->estimator[i], &f->metrics[i]);
    fprintf(p->out, "plimsoll's range is %.2f %% of the truth wide, on average.\n", 100 * f->metrics[0].width);
}

/* ---- the worst runs ---- */

struct miss {
    size_t row;
    double error;
};

static int larger_first(const void *a, const void *b)
{
    double x = fabs(((const struct miss *)a)->error), y = fabs(((const struct miss *)b)->error);
    return (x < y) - (x > y);
}

/* With the late sample modelled where that was asked for: its error is what is left to explain. */
static const struct plm_estimator *best_own(const struct plm_evaluation *e)
{
    const struct plm_estimator *best = &e->estimator[0];
    for (size_t i = 0; i < e->estimators; i++)
        if (e->estimator[i].own && e->estimator[i].late && !e->estimator[i].upper)
            best = &e->estimator[i];
    return best;
}

static int worst(const struct plm_page *p, const struct plm_evaluation *e)
{
    const struct plm_estimator *by = best_own(e);
    struct miss *list = calloc(e->rows ? e->rows : 1, sizeof *list);
    char a[32], b[32];
    size_t n = 0;
    if (!list)
        return PLM_ENOMEM;
    for (size_t i = 0; i < e->rows; i++)
        if (by->score[i].compared)
            list[n++] = (struct miss){i, by->score[i].error};
    qsort(list, n, sizeof *list, larger_first);
    if (n)
        plm_page_title(p, "Missed by most");
    for (size_t i = 0; i < n && i < WORST; i++) {
        const struct plm_truth_row *row = plm_evaluation_row(e, list[i].row);
        fputs("  ", p->out);
        plm_page_name(p, row->model, 28, 1);
        fputc(' ', p->out);
        plm_page_name(p, row->optimizer, 10, 1);
        fprintf(p->out, " batch %-5llu %9s measured, %9s estimated, %+.2f %%\n", (unsigned long long)row->batch,
                plm_page_amount(p, a, sizeof a, row->ground),
                plm_page_amount(p, b, sizeof b, (uint64_t)by->score[list[i].row].estimate), 100 * list[i].error);
    }
    free(list);
    return 0;
}

static void failures(const struct plm_page *p, const struct plm_evaluation *e)
{
    if (!e->failed)
        return;
    plm_page_title(p, "Workloads that failed; they count as wrong verdicts");
    for (size_t i = 0; i < e->bench->runs; i++) {
        const struct plm_bench_run *run = &e->bench->run[i];
        if (run->outcome.done)
            continue;
        fputs("  ", p->out);
        plm_page_name(p, run->row->model, 28, 1);
        fputc(' ', p->out);
        plm_page_name(p, run->row->optimizer, 10, 1);
        fprintf(p->out, " batch %-5llu ", (unsigned long long)run->row->batch);
        plm_page_name(p, run->outcome.why, 0, 0);
        fputc('\n', p->out);
    }
}

static void explain(const struct plm_page *p, const struct plm_evaluation *e)
{
    char text[400];
    snprintf(text, sizeof text,
             "The truth is read as %s. Errors are over the runs that neither ran out of memory nor were estimated to; "
             "low 5, middle and "
             "high 5 are quantiles of the signed error. PEF: share of runs with a wrong verdict, or that fail when "
             "capped at the "
             "estimate. MCP: mean memory conserved, in GiB.",
             plm_truth_kind_name(e->options.kind));
    fputc('\n', p->out);
    plm_page_sentences(p, "", text);
}

int plm_evaluation_text(FILE *out, const struct plm_evaluation *e, const struct plm_report_options *options,
                        struct plm_error *error)
{
    const struct plm_page p = {.out = out, .options = options};
    for (size_t i = 0; i < e->families; i++)
        table(&p, e, &e->family[i]);
    if (worst(&p, e))
        return plm_fail(error, PLM_ENOMEM, "there is not enough memory for the table");
    failures(&p, e);
    explain(&p, e);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the table could not be written") : 0;
}
