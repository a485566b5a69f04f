#include "base/json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/card.h"
#include "common/error.h"
#include "fit/fit.h"
#include "fit/known.h"
#include "fit/ladder.h"
#include "report/answer.h"
#include "report/check.h"
#include "report/code.h"
#include "report/communicators.h"
#include "report/folding.h"
#include "report/ranks.h"
#include "report/report.h"
#include "report/time.h"

enum { CODE_BYTES = 2048 };

void plm_report_command(struct plm_json *j, const struct plm_summary *s)
{
    const char *word;
    plm_json_array(j, "command");
    for (int i = 0; (word = plm_summary_word(s, i)); i++)
        plm_json_string(j, NULL, word);
    plm_json_end_array(j);
    plm_json_text(j, "torch", plm_summary_config(s, "torch"));
    plm_json_text(j, "cuda", plm_summary_config(s, "cuda"));
    plm_json_text(j, "python", plm_summary_config(s, "python"));
}

void plm_report_started(struct plm_json *j, const struct plm_summary *s)
{
    time_t seconds = (time_t)(s->created_ns / 1000000000u);
    char stamp[32];
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &tm);
    plm_json_string(j, "started", stamp);
}

void plm_report_known(struct plm_json *j, const struct plm_job *job)
{
    const struct plm_fit_known known = plm_fit_known(job);
    plm_json_bool(j, "known", known.what == PLM_KNOWN_PEAK);
    if (known.what != PLM_KNOWN_PEAK)
        plm_json_string(j, "why", known.why);
}

const char *plm_report_allocator(const struct plm_job *job)
{
    const char *allocator = plm_summary_config(&job->summary, "allocator");
    return allocator && *allocator ? allocator : "default";
}

void plm_report_confidence(struct plm_json *j, const char *key, const struct plm_job *job, const char *doubt)
{
    char reasons[PLM_DOUBTS][256];
    int n;
    plm_json_string(j, key, plm_confidence(job, reasons, PLM_DOUBTS, &n));
    plm_json_array(j, "reasons");
    for (int i = 0; i < n; i++)
        plm_json_string(j, NULL, reasons[i]);
    plm_json_text(j, NULL, doubt);
    plm_json_end_array(j);
}

static void write_job(struct plm_json *j, const struct plm_job *job)
{
    const struct plm_summary *s = &job->summary;
    const char *exit_code = plm_summary_config(s, "exit");
    plm_json_object(j, "job");
    plm_report_command(j, s);
    plm_json_text(j, "allocator", plm_summary_config(s, "allocator"));
    plm_json_integer(j, "steps", (uint64_t)s->steps);
    plm_json_integer(j, "launches", s->launches);
    plm_report_started(j, s);
    plm_json_real(j, "seconds", plm_summary_seconds(s));
    if (exit_code)
        plm_json_signed(j, "exit", strtol(exit_code, NULL, 10));
    plm_json_bool(j, "complete", s->ended && !s->missing.why[0]);
    plm_report_known(j, job);
    if (plm_fit_known(job).needs)
        plm_json_integer(j, "needs", plm_fit_known(job).needs);
    plm_json_end_object(j);
}

static void write_range(struct plm_json *j, const struct plm_job *job, const struct plm_ladder *l)
{
    plm_json_object(j, "range");
    plm_json_integer(j, "low", l->low);
    plm_json_integer(j, "high", l->high);
    plm_report_confidence(j, "confidence", job, NULL);
    plm_json_end_object(j);
}

static void write_counts(struct plm_json *j, const char *key, const char *name_key, const struct plm_counts *c)
{
    plm_json_array(j, key);
    for (int i = 0; i < c->count; i++) {
        plm_json_object(j, NULL);
        plm_json_string(j, name_key, c->item[i].name);
        plm_json_text(j, "library", c->item[i].detail);
        plm_json_integer(j, "calls", c->item[i].calls);
        if (c->item[i].bytes)
            plm_json_integer(j, "bytes", c->item[i].bytes);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

/* Categories without bytes are left out where they are many. */
static void write_categories(struct plm_json *j, const uint64_t bytes[PLM_CATEGORIES], bool all)
{
    for (int i = 0; i < PLM_CATEGORIES; i++)
        if (all || bytes[i])
            plm_json_integer(j, plm_category_name((enum plm_category)i), bytes[i]);
}

static void write_place(struct plm_json *j, const struct plm_job *job, const struct plm_place *p)
{
    if (p->step)
        plm_json_integer(j, "step", p->step);
    if (p->after)
        plm_json_bool(j, "after", true);
    if (p->context) {
        plm_json_string(j, "phase", plm_phase_name(p->context->phase));
        plm_json_text(j, "module", p->context->module);
        plm_json_text(j, "op", *p->context->inner ? p->context->inner : p->context->outer);
        if (strcmp(p->context->outer, p->context->inner))
            plm_json_text(j, "outer_op", p->context->outer);
    }
    if (!p->known)
        return;
    plm_json_integer(j, "allocated", p->allocated);
    plm_json_integer(j, "reserved", p->reserved);
    if (!job->attributed)
        return;
    plm_json_object(j, "categories");
    write_categories(j, p->category, true);
    plm_json_integer(j, "free_in_segments", plm_place_free(p));
    plm_json_end_object(j);
    plm_json_integer(j, "cast_copies", p->casts);
    plm_json_integer(j, "graph_pools", p->captured);
}

static void write_line(struct plm_json *j, const struct plm_job_line *line)
{
    static const char *const whose[] = {
        [PLM_JOB_OWN] = "own", [PLM_JOB_PACKAGE] = "package", [PLM_JOB_FRAMEWORK] = "framework"};
    char code[CODE_BYTES];
    plm_json_string(j, "file", line->file);
    plm_json_integer(j, "line", line->line);
    plm_json_string(j, "function", line->function);
    plm_json_string(j, "whose", whose[line->whose]);
    if (plm_report_code(line, code, sizeof code))
        plm_json_string(j, "code", code);
}

static void write_holder(struct plm_json *j, const struct plm_holder *h)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "name", h->name);
    if (h->line)
        write_line(j, h->line);
    plm_json_integer(j, "bytes", h->bytes);
    plm_json_integer(j, "blocks", h->blocks);
    write_categories(j, h->category, false);
    plm_json_end_object(j);
}

/* Layers that repeat as one, with the names of its modules. */
static void write_folded(struct plm_json *j, const char *key, const struct plm_holders *h)
{
    struct plm_repeats folds = plm_repeats_of_holders(h, false);
    plm_json_array(j, key);
    for (size_t i = 0; i < folds.count; i++) {
        const size_t *member = &folds.member[folds.item[i].first];
        struct plm_holder sum = {0};
        for (size_t k = 0; k < folds.item[i].count; k++)
            plm_holder_add(&sum, &h->item[member[k]]);
        plm_repeat_json_begin(j, &folds.item[i]);
        plm_json_integer(j, "bytes", sum.bytes);
        plm_json_integer(j, "blocks", sum.blocks);
        write_categories(j, sum.category, false);
        plm_repeat_json_end(j, &folds, &folds.item[i], h->item, sizeof *h->item);
    }
    plm_json_end_array(j);
    plm_repeats_free(&folds);
}

static void write_holders(struct plm_json *j, const char *key, const struct plm_job *job, const struct plm_lane *lane,
                          uint32_t moment, enum plm_key by, const char *folded)
{
    struct plm_holders h = plm_holders_at(job, lane, moment, by);
    plm_json_array(j, key);
    for (size_t i = 0; i < h.count; i++)
        write_holder(j, &h.item[i]);
    plm_json_end_array(j);
    if (folded)
        write_folded(j, folded, &h);
    plm_holders_free(&h);
}

/* What --by and --at ask for. */
static void write_chosen(struct plm_json *j, const struct plm_job *job, const struct plm_lane *lane,
                         const struct plm_report_options *o)
{
    static const char *const kinds[] = {[PLM_AT_PEAK] = "peak", [PLM_AT_STEP] = "step", [PLM_AT_END] = "end"};
    struct plm_place p = plm_place_at(job, lane, o->at);
    if (!p.known || (!o->listed && o->at.kind == PLM_AT_PEAK))
        return;
    plm_json_object(j, "chosen");
    plm_json_string(j, "by", plm_key_name(o->by));
    plm_json_string(j, "at", kinds[o->at.kind]);
    plm_json_object(j, "place");
    write_place(j, job, &p);
    plm_json_end_object(j);
    write_holders(j, "holders", job, lane, p.moment, o->by, o->by == PLM_BY_MODULE ? "holders_folded" : NULL);
    plm_json_end_object(j);
}

static void write_peak(struct plm_json *j, const struct plm_ladder *l)
{
    plm_json_object(j, "peak");
    plm_json_integer(j, "allocated", l->allocated);
    plm_json_integer(j, "reserved", l->reserved);
    plm_json_integer(j, "libraries", l->libraries);
    plm_json_integer(j, "other", l->other);
    plm_json_integer(j, "context", l->context);
    plm_json_integer(j, "device_used", l->device_used);
    plm_json_end_object(j);
}

/* What device_used consists of, line by line. */
static void write_ladder(struct plm_json *j, const struct plm_ladder *l)
{
    plm_json_array(j, "ladder");
    for (int i = 0; i < l->lines; i++) {
        const struct plm_line *line = &l->line[i];
        plm_json_object(j, NULL);
        plm_json_string(j, "name", line->name);
        plm_json_string(j, "group", line->group);
        plm_json_integer(j, "bytes", line->bytes);
        plm_json_integer(j, "low", line->low);
        plm_json_integer(j, "high", line->high);
        plm_json_string(j, "kind", plm_line_kind_name(line->kind));
        plm_json_string(j, "reason", line->reason);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void write_steps(struct plm_json *j, const struct plm_summary_device *d)
{
    plm_json_array(j, "steps");
    for (int i = 0; i < d->steps; i++) {
        plm_json_object(j, NULL);
        plm_json_integer(j, "allocated_peak", d->step[i].allocated_peak);
        plm_json_integer(j, "reserved_peak", d->step[i].reserved_peak);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void write_device(struct plm_json *j, const struct plm_job *job, const struct plm_lane *lane,
                         const struct plm_report_options *o)
{
    const struct plm_summary_device *d = lane->summary;
    struct plm_place at_peak = plm_place_at(job, lane, (struct plm_at){PLM_AT_PEAK, 0});
    struct plm_ladder l = plm_ladder(job, lane);

    plm_json_object(j, NULL);
    plm_json_integer(j, "rank", (uint64_t)d->rank);
    plm_json_integer(j, "device", (uint64_t)d->device);
    plm_json_text(j, "gpu", plm_summary_config(&job->summary, "gpu"));
    write_peak(j, &l);
    write_range(j, job, &l);
    write_ladder(j, &l);
    plm_report_communicators_json(j, &d->communicators);
    if (at_peak.known || at_peak.step) {
        plm_json_object(j, "at_peak");
        write_place(j, job, &at_peak);
        plm_json_end_object(j);
    }
    write_steps(j, d);
    if (at_peak.known && job->attributed)
        write_holders(j, "modules", job, lane, at_peak.moment, PLM_BY_MODULE, "modules_folded");
    write_chosen(j, job, lane, o);
    plm_json_bool(j, "out_of_memory", d->out_of_memory);
    write_counts(j, "unmodelled", "symbol", &job->summary.unmodelled);
    write_counts(j, "readbacks", "op", &d->readbacks);
    plm_json_end_object(j);
}

static void write_notes(struct plm_json *j, const struct plm_summary *s)
{
    plm_json_array(j, "notes");
    for (int i = 0; i < s->notes.count; i++) {
        plm_json_object(j, NULL);
        plm_json_string(j, "kind", s->notes.item[i].name);
        plm_json_text(j, "value", s->notes.item[i].detail);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

/* What the first line of the text says. */
static void write_answer(struct plm_json *j, const struct plm_report_asked *answer)
{
    const char *gpu, *verdict = plm_report_answer_verdict(answer, &gpu);
    char line[2048];
    plm_json_object(j, "answer");
    plm_json_text(j, "gpu", gpu);
    plm_json_text(j, "verdict", verdict);
    plm_json_string(j, "text", plm_report_answer_line(answer, line, sizeof line));
    plm_json_end_object(j);
}

/* The device that needs most decides. */
static void write_fits(struct plm_json *j, const struct plm_job *job, const struct plm_fit_table *f)
{
    plm_json_array(j, "fits");
    for (size_t i = 0; i < f->rows; i++) {
        const struct plm_fit_row *row = &f->row[i];
        plm_json_object(j, NULL);
        plm_json_string(j, "gpu", row->card->id);
        plm_json_integer(j, "usable", row->usable);
        plm_report_remarks(j, row);
        if (row->need)
            plm_json_integer(j, "need", row->need);
        if (row->minimum)
            plm_json_integer(j, "need_minimum", row->minimum);
        plm_report_takes(j, row);
        plm_json_string(j, "verdict", plm_verdict_name(row->answer.verdict));
        plm_json_string(j, "allocator", plm_report_allocator(job));
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

int plm_report_json(FILE *out, const struct plm_job *job, const struct plm_report_options *options,
                    struct plm_error *error)
{
    struct plm_fit_table own;
    const struct plm_fit_table *fits = plm_report_fits(job, options, &own);
    const struct plm_report_asked answer = {job, fits, options};
    struct plm_json j;
    plm_json_document(&j, out, "plimsoll.report/1");
    write_job(&j, job);
    if (job->lanes)
        write_answer(&j, &answer);
    if (options->check)
        plm_check_json(&j, options->check);
    plm_json_array(&j, "devices");
    for (size_t i = 0; i < job->lanes; i++)
        write_device(&j, job, &job->lane[i], options);
    plm_json_end_array(&j);
    plm_report_ranks(&j, job);
    write_fits(&j, job, fits);
    plm_fit_table_free(&own);
    plm_report_time_object(&j, options);
    write_notes(&j, &job->summary);
    return plm_json_finish(&j) ? plm_fail(error, PLM_EIO, "the report could not be written") : 0;
}
