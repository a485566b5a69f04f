#include "common/error.h"
#include "base/json.h"
#include "common/card.h"
#include "fit/tune.h"
#include "report/ranks.h"
#include "report/report.h"
#include "report/time.h"

/* The fields that `fit` and `tune` share. `fit` is NULL of a job that cannot be replayed. */
static void write_head(struct plm_json *j, FILE *out, const char *schema, const struct plm_job *job,
                       const struct plm_fit *fit, const struct plm_report_options *o)
{
    plm_json_document(j, out, schema);
    plm_json_string(j, "record", o->record);
    plm_report_known(j, job);
    plm_report_confidence(j, "confidence", job, fit ? fit->doubt : NULL);
    plm_json_string(j, "allocator", plm_report_allocator(job));
    if (!fit)
        return;
    plm_json_bool(j, "replay_exact", !fit->doubt[0]);
    plm_json_integer(j, "least", fit->least);
}

static void need_of(struct plm_json *j, const struct plm_need *n)
{
    plm_json_integer(j, "reserved", n->reserved);
    plm_json_integer(j, "need", n->need);
    plm_json_integer(j, "low", n->low);
    plm_json_integer(j, "high", n->high);
}

static void verdict(struct plm_json *j, const struct plm_fit_answer *a)
{
    plm_json_string(j, "verdict", plm_verdict_name(a->verdict));
    if (a->verdict != PLM_TIGHT || (!a->retries && !a->in_range))
        return;
    plm_json_integer(j, "retries", a->retries);
    plm_json_bool(j, "in_range", a->in_range);
}

void plm_report_remarks(struct plm_json *j, const struct plm_fit_row *row)
{
    char lacks[32];
    if (row->card->shared_memory)
        plm_json_bool(j, "shared_memory", true);
    if (row->lacks)
        plm_json_string(j, "lacks", plm_fit_lacks_text(row->lacks, lacks));
}

/* Amounts that are not known are absent. */
static void fit_row(struct plm_json *j, const struct plm_fit_table *t, const struct plm_fit_row *row,
                    const struct plm_report_options *o)
{
    const struct plm_time_row *time = plm_report_time_of(o, row->card);
    plm_json_object(j, NULL);
    plm_json_string(j, "gpu", row->card->id);
    plm_json_integer(j, "usable", row->usable);
    plm_json_bool(j, "usable_assumed", row->assumed);
    plm_report_remarks(j, row);
    if (row->need) {
        plm_json_integer(j, "need", row->need);
        plm_json_integer(j, "need_minimum", row->minimum);
        plm_json_signed(j, "headroom", (int64_t)row->usable - (int64_t)row->need);
    }
    plm_report_takes(j, row);
    verdict(j, &row->answer);
    if (time) {
        plm_json_real(j, "step", time->timing.step / 1e9);
        plm_json_real(j, "step_low", time->timing.low / 1e9);
        plm_json_real(j, "step_high", time->timing.high / 1e9);
    }
    plm_json_string(j, "allocator", plm_report_allocator(t->job));
    if (row->better[0]) {
        plm_json_object(j, "better");
        plm_json_string(j, "allocator", row->better);
        plm_json_integer(j, "need", row->better_need);
        verdict(j, &row->then);
        plm_json_end_object(j);
    }
    plm_json_end_object(j);
}

int plm_report_fit_json(FILE *out, const struct plm_fit_table *t, const struct plm_report_options *options, bool all,
                        struct plm_error *error)
{
    const struct plm_fit_row *smallest = plm_fit_smallest(t, false);
    struct plm_json j;
    (void)all;
    write_head(&j, out, "plimsoll.fit/1", t->job, t->fit, options);
    if (t->fit) {
        need_of(&j, &t->need);
        plm_json_integer(&j, "need_minimum", t->minimum);
        if (smallest)
            plm_json_string(&j, "smallest", smallest->card->id);
    }
    plm_report_ranks(&j, t->job);
    plm_json_array(&j, "fits");
    for (size_t i = 0; i < t->rows; i++)
        fit_row(&j, t, &t->row[i], options);
    plm_json_end_array(&j);
    return plm_json_finish(&j) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}

static void tune_row(struct plm_json *j, const char *key, const struct plm_tune *t, const struct plm_tune_row *row)
{
    plm_json_object(j, key);
    plm_json_string(j, "allocator", *row->candidate.text ? row->candidate.text : "default");
    need_of(j, &row->need);
    plm_json_integer(j, "driver_calls", row->need.calls);
    plm_json_bool(j, "modelled", row->candidate.modelled);
    if (t->card)
        verdict(j, &row->answer);
    plm_json_end_object(j);
}

int plm_report_tune_json(FILE *out, const struct plm_tune *t, const struct plm_report_options *options, bool all,
                         struct plm_error *error)
{
    struct plm_json j;
    (void)all;
    write_head(&j, out, "plimsoll.tune/1", t->fit->job, t->fit, options);
    plm_json_string(&j, "variable", plm_tune_variable(t->fit->torch));
    if (t->card) {
        plm_json_string(&j, "gpu", t->card->id);
        plm_json_integer(&j, "usable", t->usable);
    }
    tune_row(&j, "own", t, &t->own);
    if (t->advice) {
        tune_row(&j, "advice", t, t->advice);
        plm_json_array(&j, "warnings");
        for (size_t i = 0; plm_candidate_warning(&t->advice->candidate.settings, i); i++)
            plm_json_string(&j, NULL, plm_candidate_warning(&t->advice->candidate.settings, i));
        plm_json_end_array(&j);
    }
    plm_json_array(&j, "settings");
    for (size_t i = 0; i < t->rows; i++)
        tune_row(&j, NULL, t, &t->row[i]);
    plm_json_end_array(&j);
    return plm_json_finish(&j) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}
