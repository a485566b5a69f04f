/* An evaluation for programs: "plimsoll.evaluation/1", docs/schema/evaluation-1.json. */
#include "base/json.h"

#include "base/error.h"
#include "evaluate/judge.h"

static void write_metrics(struct plm_json *j, const struct plm_estimator *by, const struct plm_metrics *m)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "name", by->name);
    plm_json_bool(j, "own", by->own);
    plm_json_integer(j, "runs", m->runs);
    plm_json_integer(j, "answered", m->answered);
    plm_json_integer(j, "compared", m->compared);
    plm_json_integer(j, "judged", m->judged);
    if (m->compared) {
        plm_json_real(j, "median", m->median);
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
        if (by->own)
            plm_json_real(j, "range_width", m->width);
    }
    if (m->judged) {
        plm_json_real(j, "oom_agreement", m->agreement);
        plm_json_real(j, "pef", m->pef);
        plm_json_signed(j, "mcp", (int64_t)m->mcp);
    }
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
            plm_json_bool(j, "verdict_right", s->agrees);
            plm_json_bool(j, "accurate", !plm_score_fails(s));
        }
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void write_row(struct plm_json *j, const struct plm_evaluation *e, size_t row)
{
    const struct plm_truth_row *t = plm_evaluation_row(e, row);
    const struct plm_bench_run *run = plm_evaluation_run(e, row);
    const struct plm_outcome *o = &run->outcome;
    plm_json_object(j, NULL);
    plm_json_integer(j, "line", t->line);
    if (*t->run)
        plm_json_string(j, "run", t->run);
    plm_json_string(j, "family", t->family);
    plm_json_string(j, "model", t->model);
    if (*t->optimizer)
        plm_json_string(j, "optimizer", t->optimizer);
    plm_json_integer(j, "batch_size", t->batch);
    plm_json_string(j, "gpu", run->card);
    plm_json_integer(j, "ground", t->ground);
    plm_json_bool(j, "real_oom", t->oom);
    if (o->done) {
        struct plm_estimate estimate = plm_outcome_estimate(o, e->options.kind);
        plm_json_object(j, "run_on_the_virtual_gpu");
        plm_json_integer(j, "allocated", o->allocated);
        plm_json_integer(j, "reserved", o->reserved);
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
    } else
        plm_json_string(j, "failed", o->why);
    write_estimates(j, e, row);
    plm_json_end_object(j);
}

void plm_evaluation_document(struct plm_json *j, const struct plm_evaluation *e)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "schema", "plimsoll.evaluation/1");
    plm_json_string(j, "version", PLM_VERSION);
    plm_json_string(j, "truth_file", e->bench->truth->table.path);
    plm_json_string(j, "truth", plm_truth_kind_name(e->options.kind));
    plm_json_bool(j, "late_sample", e->options.late_sample);
    plm_json_integer(j, "failed", e->failed);
    plm_json_array(j, "families");
    for (size_t i = 0; i < e->families; i++) {
        plm_json_object(j, NULL);
        plm_json_string(j, "name", e->family[i].name ? e->family[i].name : "all");
        plm_json_array(j, "estimators");
        for (size_t k = 0; k < e->estimators; k++)
            write_metrics(j, &e->estimator[k], &e->family[i].metrics[k]);
        plm_json_end_array(j);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
    plm_json_array(j, "rows");
    for (size_t i = 0; i < e->rows; i++)
        write_row(j, e, i);
    plm_json_end_array(j);
    plm_json_end_object(j);
}

int plm_evaluation_json(FILE *out, const struct plm_evaluation *e, struct plm_error *error)
{
    struct plm_json j;
    plm_json_start(&j, out);
    plm_evaluation_document(&j, e);
    return plm_json_finish(&j) ? plm_fail(error, PLM_EIO, "the JSON document could not be written") : 0;
}
