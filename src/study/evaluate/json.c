/* An evaluation of memory for programs: "plimsoll.evaluation/1", docs/schema/evaluation-1.json. */
#include "study/evaluate/judge.h"

static void write_errors(struct plm_json *j, const struct plm_estimator *by, const struct plm_metrics *m)
{
    plm_json_real(j, "median", m->median);
    plm_json_object(j, "median_interval");
    plm_json_real(j, "low", m->interval.low);
    plm_json_real(j, "high", m->interval.high);
    plm_json_end_object(j);
    plm_json_real(j, "mean", m->mean);
    plm_json_real(j, "p95", m->p95);
    plm_json_real(j, "worst", m->worst);
    plm_json_array(j, "signed_quantiles");
    for (int i = 0; i < PLM_QUANTILES; i++) {
        plm_json_object(j, NULL);
        plm_json_real(j, "share", plm_quantile_of[i]);
        plm_json_real(j, "error", m->quantile[i]);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
    plm_json_real(j, "under", m->under);
    if (by->origin == PLM_ORIGIN_VIRTUAL) {
        plm_json_real(j, "range_width", m->width);
        plm_json_integer(j, "range_covers", m->covered);
    }
    plm_json_integer(j, "outside", m->outside);
    if (m->outside && m->outside < m->compared)
        plm_json_real(j, "median_inside", m->inside);
}

static void write_effect(struct plm_json *j, const struct plm_anova *a, const struct plm_effect *e)
{
    static const char *const states[] = {"tested", "constant", "aliased"};
    plm_json_object(j, NULL);
    plm_json_string(j, "name", e->name);
    plm_json_string(j, "state", states[e->state]);
    plm_json_integer(j, "levels", e->levels);
    if (e->alias >= 0)
        plm_json_string(j, "same_as", a->effect[e->alias].name);
    plm_json_array(j, "within");
    for (size_t i = 0; i < a->effects; i++)
        if (e->within >> i & 1)
            plm_json_string(j, NULL, a->effect[i].name);
    plm_json_end_array(j);
    if (e->state == PLM_EFFECT_TESTED) {
        plm_json_integer(j, "freedom", e->freedom);
        plm_json_real(j, "squares", e->squares);
        plm_json_real(j, "eta_squared", e->eta);
        if (e->known) {
            plm_json_real(j, "f", e->f);
            plm_json_real(j, "p", e->p);
        }
    }
    plm_json_end_object(j);
}

static void write_anova(struct plm_json *j, const struct plm_anova *a)
{
    if (!a->observations)
        return;
    plm_json_object(j, "anova");
    plm_json_integer(j, "observations", a->observations);
    plm_json_array(j, "factors");
    for (size_t i = 0; i < a->effects; i++)
        write_effect(j, a, &a->effect[i]);
    plm_json_end_array(j);
    plm_json_integer(j, "residual_freedom", a->residual_freedom);
    plm_json_real(j, "residual_squares", a->residual_squares);
    plm_json_real(j, "total_squares", a->total_squares);
    plm_json_end_object(j);
}

static void write_figures(struct plm_json *j, const struct plm_estimator *by, const struct plm_metrics *m,
                          const struct plm_anova *anova)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "name", by->name);
    plm_json_string(j, "origin", plm_origin_name(by->origin));
    plm_json_bool(j, "other_kind", by->other_kind);
    plm_json_integer(j, "runs", m->runs);
    plm_json_integer(j, "answered", m->answered);
    plm_json_integer(j, "compared", m->compared);
    plm_json_integer(j, "judged", m->judged);
    if (m->compared)
        write_errors(j, by, m);
    if (m->judged) {
        plm_json_real(j, "oom_agreement", m->agreement);
        plm_json_real(j, "pef", m->pef[PLM_CAP_TORCH]);
        plm_json_real(j, "pef_device", m->pef[PLM_CAP_DEVICE]);
        plm_json_signed(j, "mcp", (int64_t)m->mcp[PLM_CAP_TORCH]);
        plm_json_signed(j, "mcp_device", (int64_t)m->mcp[PLM_CAP_DEVICE]);
    }
    if (m->timed)
        plm_json_real(j, "seconds", m->seconds);
    write_anova(j, anova);
    plm_json_end_object(j);
}

static void write_estimates(struct plm_json *j, const struct plm_evaluation *e, size_t row)
{
    plm_json_array(j, "estimates");
    for (size_t i = 0; i < e->estimators; i++) {
        const struct plm_score *s = &e->estimator[i].score[row];
        plm_json_object(j, NULL);
        plm_json_string(j, "name", e->estimator[i].name);
        if (s->answered)
            plm_json_integer(j, "bytes", (uint64_t)s->estimate);
        if (s->compared)
            plm_json_real(j, "error", s->error);
        if (s->judged) {
            plm_json_bool(j, "oom", s->oom);
            plm_json_bool(j, "verdict_right", s->agrees);
            plm_json_bool(j, "accurate", !plm_score_fails(s, PLM_CAP_TORCH));
            plm_json_bool(j, "accurate_device", !plm_score_fails(s, PLM_CAP_DEVICE));
        }
        if (s->seconds > 0)
            plm_json_real(j, "seconds", s->seconds);
        if (s->outside)
            plm_json_bool(j, "outside", true);
        plm_json_text(j, "note", s->note);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void write_outcome(struct plm_json *j, const struct plm_evaluation *e, const struct plm_outcome *o)
{
    const struct plm_evaluation_range estimate = plm_evaluation_range_of(o, e->options.kind);
    plm_json_object(j, "run_on_the_virtual_gpu");
    plm_json_integer(j, "allocated", o->allocated);
    plm_json_integer(j, "reserved", o->reserved);
    if (o->bounded_reserved) {
        plm_json_integer(j, "bounded_allocated", o->bounded_allocated);
        plm_json_integer(j, "bounded_reserved", o->bounded_reserved);
    }
    plm_json_integer(j, "outside", o->outside);
    plm_json_integer(j, "context", o->context);
    plm_json_integer(j, "least", o->least);
    plm_json_integer(j, "early", o->early);
    plm_json_integer(j, "low", estimate.low);
    plm_json_integer(j, "high", estimate.high);
    plm_json_string(j, "torch", o->torch);
    plm_json_string(j, "confidence", o->confidence);
    plm_json_real(j, "seconds", o->seconds);
    plm_json_real(j, "cpu_seconds", o->cpu_seconds);
    plm_json_end_object(j);
}

static void write_row(struct plm_json *j, const struct plm_evaluation *e, size_t row)
{
    const struct plm_truth_row *t = plm_evaluation_row(e, row);
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const struct plm_yardstick *y = &e->yardstick[row];
    plm_json_object(j, NULL);
    if (t->line)
        plm_json_integer(j, "line", t->line);
    plm_json_text(j, "run", t->run);
    plm_json_string(j, "family", t->family);
    plm_json_string(j, "model", t->model);
    plm_json_text(j, "optimizer", t->optimizer);
    plm_json_integer(j, "batch_size", t->batch);
    plm_json_string(j, "gpu", run->card);
    if (t->zero_grad != PLM_TRUTH_ZERO_GRAD_UNKNOWN)
        plm_json_integer(j, "zero_grad_mode", (uint64_t)t->zero_grad);
    plm_json_integer(j, "ground", y->bytes);
    plm_json_bool(j, "reference", y->reference);
    plm_json_bool(j, "real_oom", y->oom);
    if (run->outcome.done)
        write_outcome(j, e, &run->outcome);
    else
        plm_json_string(j, "failed", run->outcome.why);
    write_estimates(j, e, row);
    plm_json_end_object(j);
}

static void write_design(struct plm_json *j, const struct plm_design_made *d)
{
    if (!d)
        return;
    plm_json_object(j, "design");
    plm_json_string(j, "name", plm_design_name(d->design));
    if (d->design == PLM_DESIGN_MONTECARLO) {
        plm_json_integer(j, "draws", d->draws);
        plm_json_integer(j, "seed", d->seed);
    }
    plm_json_integer(j, "runs", d->runs);
    plm_json_integer(j, "measured", d->measured);
    plm_json_integer(j, "without_truth", d->without);
    plm_json_integer(j, "disturbed", d->disturbed);
    plm_json_end_object(j);
}

static void write_published(struct plm_json *j)
{
    plm_json_array(j, "published");
    for (size_t i = 0; i < PLM_PUBLISHED; i++) {
        const struct plm_published *p = &plm_published[i];
        plm_json_object(j, NULL);
        plm_json_string(j, "name", p->name);
        plm_json_integer(j, "runs", PLM_PUBLISHED_RUNS);
        plm_json_real(j, "median", p->median);
        plm_json_real(j, "pef", p->pef);
        plm_json_real(j, "seconds", p->seconds);
        plm_json_string(j, "tool", p->tool);
        plm_json_string(j, "method", p->method);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void write_families(struct plm_json *j, const struct plm_evaluation *e)
{
    plm_json_array(j, "families");
    for (size_t i = 0; i < e->families; i++) {
        const struct plm_evaluation_family *f = &e->family[i];
        plm_json_object(j, NULL);
        plm_json_string(j, "name", f->name ? f->name : "all");
        plm_json_array(j, "estimators");
        for (size_t k = 0; k < e->estimators; k++)
            write_figures(j, &e->estimator[k], &f->metrics[k], &f->anova[k]);
        plm_json_end_array(j);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

void plm_evaluation_document(struct plm_json *j, const void *what)
{
    const struct plm_evaluation *e = what;
    plm_json_text(j, "truth_file", e->bench->truth->table.path);
    plm_json_string(j, "truth", plm_truth_kind_name(e->options.kind));
    plm_json_bool(j, "late_sample", e->options.late_sample);
    plm_json_integer(j, "references", e->references);
    plm_json_integer(j, "failed", e->failed);
    plm_json_string(j, "response", plm_response_name(e->options.response));
    plm_json_integer(j, "bootstrap_seed", e->options.seed);
    write_design(j, e->options.design);
    write_published(j);
    write_families(j, e);
    plm_json_array(j, "rows");
    for (size_t i = 0; i < e->rows; i++)
        write_row(j, e, i);
    plm_json_end_array(j);
}
