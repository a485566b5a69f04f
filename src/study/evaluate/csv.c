/* An evaluation of memory for spreadsheets: row by row, and its figures, a line for each family and estimator. */
#include <inttypes.h>

#include "study/evaluate/judge.h"

/* ---- rows ---- */

static void write_head(struct plm_lines *l, const struct plm_evaluation *e)
{
    static const char *const parts[] = {"bytes",           "error",   "verdict_right", "accurate",
                                        "accurate_device", "seconds", "state"};
    plm_lines_cell(l, true,
                   "line,run,family,model,optimizer,batch_size,gpu,zero_grad_mode,truth,truth_is,real_oom,allocated,"
                   "reserved,outside,least,early,low,high,why");
    for (size_t i = 0; i < e->estimators; i++)
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            char name[80];
            snprintf(name, sizeof name, "%s: %s", e->estimator[i].name, parts[k]);
            plm_lines_text(l, name);
        }
    plm_lines_end(l);
}

static void write_own(struct plm_lines *l, const struct plm_evaluation *e, const struct plm_outcome *o)
{
    const struct plm_evaluation_range estimate = plm_evaluation_range_of(o, e->options.kind);
    const uint64_t amounts[] = {o->allocated, o->reserved, o->outside, o->least, o->early, estimate.low, estimate.high};
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++)
        plm_lines_cell(l, o->done, "%" PRIu64, amounts[i]);
    plm_lines_text(l, o->done ? "" : o->why);
}

static void write_score(struct plm_lines *l, const struct plm_score *s)
{
    const bool right[] = {s->agrees, !plm_score_fails(s, PLM_CAP_TORCH), !plm_score_fails(s, PLM_CAP_DEVICE)};
    plm_lines_cell(l, s->answered, "%.0f", s->estimate);
    plm_lines_cell(l, s->compared, "%.8f", s->error);
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        plm_lines_cell(l, s->judged, "%s", right[i] ? "true" : "false");
    plm_lines_cell(l, s->seconds > 0, "%.3f", s->seconds);
    plm_lines_cell(l, s->answered, "%s", s->outside ? "outside" : "answered");
}

static void write_row(struct plm_lines *l, const struct plm_evaluation *e, size_t row)
{
    const struct plm_truth_row *t = plm_evaluation_row(e, row);
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const struct plm_yardstick *y = &e->yardstick[row];
    plm_lines_cell(l, t->line, "%u", t->line);
    plm_lines_text(l, t->run);
    plm_truth_row_put(l, t);
    plm_lines_cell(l, true, "%s", run->card);
    plm_truth_row_put_mode(l, t);
    plm_lines_cell(l, true, "%" PRIu64 ",%s,%s", y->bytes, y->reference ? "virtual" : "measured",
                   y->oom ? "true" : "false");
    write_own(l, e, &run->outcome);
    for (size_t i = 0; i < e->estimators; i++)
        write_score(l, &e->estimator[i].score[row]);
    plm_lines_end(l);
}

void plm_evaluation_rows(struct plm_lines *l, const void *what)
{
    const struct plm_evaluation *e = what;
    write_head(l, e);
    for (size_t i = 0; i < e->rows; i++)
        write_row(l, e, i);
}

/* ---- figures ---- */

static void write_metrics(struct plm_lines *l, const struct plm_metrics *m)
{
    const double errors[] = {m->median, m->interval.low, m->interval.high, m->mean, m->p95, m->worst};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        plm_lines_cell(l, m->compared, "%.8f", errors[i]);
    for (int i = 0; i < PLM_QUANTILES; i++)
        plm_lines_cell(l, m->compared, "%.8f", m->quantile[i]);
    plm_lines_cell(l, m->compared, "%.8f", m->under);
    plm_lines_cell(l, m->judged, "%.8f", m->agreement);
    for (int cap = 0; cap < PLM_CAPS; cap++)
        plm_lines_cell(l, m->judged, "%.8f", m->pef[cap]);
    for (int cap = 0; cap < PLM_CAPS; cap++)
        plm_lines_cell(l, m->judged, "%.0f", m->mcp[cap]);
    plm_lines_cell(l, m->timed, "%.3f", m->seconds);
}

static void write_anova(struct plm_lines *l, const struct plm_anova *a, size_t factors)
{
    for (size_t i = 0; i < factors; i++) {
        const struct plm_effect *e = &a->effect[i];
        const bool known = i < a->effects && e->state == PLM_EFFECT_TESTED && e->known;
        plm_lines_cell(l, known, "%zu", e->freedom);
        plm_lines_cell(l, known, "%.6g", e->f);
        plm_lines_cell(l, known, "%.6g", e->p);
        plm_lines_cell(l, known, "%.6g", e->eta);
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

void plm_evaluation_figures(struct plm_lines *l, const void *what)
{
    const struct plm_evaluation *e = what;
    const struct plm_anova *all = any_anova(e);
    plm_lines_cell(l, true,
                   "family,estimator,origin,truth,runs,answered,compared,outside,judged,median,median_low,median_high,"
                   "mean,p95,worst,signed_5,signed_25,signed_50,signed_75,signed_95,under,oom_agreement,pef,pef_device,"
                   "mcp,mcp_device,seconds");
    for (size_t i = 0; i < all->effects; i++) {
        const char *name = all->effect[i].name;
        plm_lines_cell(l, true, "%s_freedom,%s_f,%s_p,%s_eta_squared", name, name, name, name);
    }
    plm_lines_end(l);
    for (size_t i = 0; i < e->families; i++)
        for (size_t k = 0; k < e->estimators; k++) {
            const struct plm_metrics *m = &e->family[i].metrics[k];
            plm_lines_text(l, e->family[i].name ? e->family[i].name : "all");
            plm_lines_text(l, e->estimator[k].name);
            plm_lines_cell(l, true, "%s,%s,%zu,%zu,%zu,%zu,%zu", plm_origin_name(e->estimator[k].origin),
                           plm_truth_kind_name(e->options.kind), m->runs, m->answered, m->compared, m->outside,
                           m->judged);
            write_metrics(l, m);
            write_anova(l, &e->family[i].anova[k], all->effects);
            plm_lines_end(l);
        }
}
