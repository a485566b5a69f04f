/* An evaluation for spreadsheets: row by row, and its figures, a line for each family and estimator. */
#include <inttypes.h>

#include "base/error.h"
#include "study/evaluate/judge.h"

/* ---- rows ---- */

static void write_head(FILE *out, const struct plm_evaluation *e)
{
    static const char *const parts[] = {"bytes",           "error",   "verdict_right", "accurate",
                                        "accurate_device", "seconds", "state"};
    fputs("line,run,family,model,optimizer,batch_size,gpu,zero_grad_mode,truth,truth_is,real_oom,allocated,reserved,"
          "outside,least,early,low,high,why",
          out);
    for (size_t i = 0; i < e->estimators; i++)
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            char name[80];
            snprintf(name, sizeof name, "%s: %s", e->estimator[i].name, parts[k]);
            fputc(',', out);
            plm_table_put(out, name);
        }
    fputc('\n', out);
}

static void write_own(FILE *out, const struct plm_evaluation *e, const struct plm_outcome *o)
{
    const struct plm_estimate estimate = plm_outcome_estimate(o, e->options.kind);
    if (o->done)
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
                o->allocated, o->reserved, o->outside, o->least, o->early, estimate.low, estimate.high);
    else {
        fputs(",,,,,,,,", out);
        plm_table_put(out, o->why);
    }
}

/* A cell, empty if there is no figure. */
static void write_figure(FILE *out, int places, double value, bool known)
{
    fputc(',', out);
    if (known)
        fprintf(out, "%.*f", places, value);
}

static void write_score(FILE *out, const struct plm_score *s)
{
    write_figure(out, 0, s->estimate, s->answered);
    write_figure(out, 8, s->error, s->compared);
    if (s->judged)
        fprintf(out, ",%s,%s,%s", s->agrees ? "true" : "false", plm_score_fails(s, PLM_CAP_TORCH) ? "false" : "true",
                plm_score_fails(s, PLM_CAP_DEVICE) ? "false" : "true");
    else
        fputs(",,,", out);
    write_figure(out, 3, s->seconds, s->seconds > 0);
    fprintf(out, ",%s", !s->answered ? "" : s->outside ? "outside" : "answered");
}

static void write_row(FILE *out, const struct plm_evaluation *e, size_t row)
{
    const struct plm_truth_row *t = plm_evaluation_row(e, row);
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const struct plm_yardstick *y = &e->yardstick[row];
    if (t->line)
        fprintf(out, "%u", t->line);
    fputc(',', out);
    plm_table_put(out, t->run);
    plm_truth_row_put(out, t);
    fprintf(out, ",%s", run->card);
    plm_truth_row_put_mode(out, t);
    fprintf(out, ",%" PRIu64 ",%s,%s", y->bytes, y->reference ? "virtual" : "measured", y->oom ? "true" : "false");
    write_own(out, e, &run->outcome);
    for (size_t i = 0; i < e->estimators; i++)
        write_score(out, &e->estimator[i].score[row]);
    fputc('\n', out);
}

int plm_evaluation_csv(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_evaluation *e = what;
    write_head(out, e);
    for (size_t i = 0; i < e->rows; i++)
        write_row(out, e, i);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the table could not be written") : 0;
}

/* ---- figures ---- */

static void write_metrics(FILE *out, const struct plm_metrics *m)
{
    const double errors[] = {m->median, m->interval.low, m->interval.high, m->mean, m->p95, m->worst};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        write_figure(out, 8, errors[i], m->compared);
    for (int i = 0; i < PLM_QUANTILES; i++)
        write_figure(out, 8, m->quantile[i], m->compared);
    write_figure(out, 8, m->under, m->compared);
    write_figure(out, 8, m->agreement, m->judged);
    for (int cap = 0; cap < PLM_CAPS; cap++)
        write_figure(out, 8, m->pef[cap], m->judged);
    for (int cap = 0; cap < PLM_CAPS; cap++)
        write_figure(out, 0, m->mcp[cap], m->judged);
    write_figure(out, 3, m->seconds, m->timed);
}

static void write_anova(FILE *out, const struct plm_anova *a, size_t factors)
{
    for (size_t i = 0; i < factors; i++) {
        const struct plm_effect *e = &a->effect[i];
        if (i < a->effects && e->state == PLM_EFFECT_TESTED && e->known)
            fprintf(out, ",%zu,%.6g,%.6g,%.6g", e->freedom, e->f, e->p, e->eta);
        else
            fputs(",,,,", out);
    }
}

/* The analysis with the most factors; they are the same for all, where there is one. */
static const struct plm_anova *any_anova(const struct plm_evaluation *e)
{
    const struct plm_anova *most = &e->family[0].anova[0];
    for (size_t i = 0; i < e->families; i++)
        for (size_t k = 0; k < e->estimators; k++)
            if (e->family[i].anova[k].effects > most->effects)
                most = &e->family[i].anova[k];
    return most;
}

int plm_evaluation_figures(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_evaluation *e = what;
    const struct plm_anova *all = any_anova(e);
    fputs("family,estimator,origin,truth,runs,answered,compared,outside,judged,median,median_low,median_high,mean,p95,"
          "worst,signed_5,signed_25,signed_50,signed_75,signed_95,under,oom_agreement,pef,pef_device,mcp,mcp_device,"
          "seconds",
          out);
    for (size_t i = 0; i < all->effects; i++) {
        const char *name = all->effect[i].name;
        fprintf(out, ",%s_freedom,%s_f,%s_p,%s_eta_squared", name, name, name, name);
    }
    fputc('\n', out);
    for (size_t i = 0; i < e->families; i++)
        for (size_t k = 0; k < e->estimators; k++) {
            const struct plm_metrics *m = &e->family[i].metrics[k];
            plm_table_put(out, e->family[i].name ? e->family[i].name : "all");
            fputc(',', out);
            plm_table_put(out, e->estimator[k].name);
            fprintf(out, ",%s,%s,%zu,%zu,%zu,%zu,%zu", plm_origin_name(e->estimator[k].origin),
                    plm_truth_kind_name(e->options.kind), m->runs, m->answered, m->compared, m->outside, m->judged);
            write_metrics(out, m);
            write_anova(out, &e->family[i].anova[k], all->effects);
            fputc('\n', out);
        }
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the figures could not be written") : 0;
}
