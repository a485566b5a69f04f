#include <string.h>

#include "fit/ladder.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "base/memory.h"
#include "fit/fit.h"
#include "report/diff.h"
#include "report/html.h"
#include "report/page.h"
#include "report/ranks.h"
#include "report/report.h"

struct page {
    struct plm_json *json;
    bool brief; /* one of two jobs on a page: the device that needs most, without maps */
    const struct plm_job *job;
    struct plm_html_names names;
    struct plm_html_sites sites;
    struct plm_html_time time;
    struct plm_report_kinds ranks;
};

static void write_job(struct page *p)
{
    const struct plm_summary *s = &p->job->summary;
    plm_json_object(p->json, "job");
    plm_report_command(p->json, s);
    plm_json_integer(p->json, "steps", (uint64_t)s->steps);
    plm_json_integer(p->json, "launches", s->launches);
    plm_json_real(p->json, "seconds", plm_summary_seconds(s));
    plm_report_started(p->json, s);
    plm_report_known(p->json, p->job);
    plm_json_end_object(p->json);
}

static void write_confidence(struct page *p)
{
    char grounds[64];
    plm_json_object(p->json, "confidence");
    plm_report_confidence(p->json, "level", p->job, NULL);
    plm_json_string(p->json, "grounds", plm_confidence_grounds(p->job, grounds));
    plm_json_end_object(p->json);
}

/* ---- cards ---- */

static void write_card(struct page *p, const struct plm_fit_row *row)
{
    char lacks[32];
    plm_json_object(p->json, NULL);
    plm_json_string(p->json, "id", row->card->id);
    plm_json_string(p->json, "name", row->card->name);
    plm_json_integer(p->json, "usable", row->usable);
    plm_json_bool(p->json, "assumed", row->assumed);
    plm_json_bool(p->json, "mig", row->card->mig);
    if (row->card->shared_memory)
        plm_json_bool(p->json, "shared", true);
    if (row->lacks)
        plm_json_string(p->json, "lacks", plm_fit_lacks_text(row->lacks, lacks));
    if (row->need)
        plm_json_integer(p->json, "need", row->need);
    if (plm_takes_less(row))
        plm_json_integer(p->json, "takes", row->answer.takes);
    plm_json_string(p->json, "verdict", plm_verdict_name(row->answer.verdict));
    if (row->better[0]) {
        plm_json_string(p->json, "better", row->better);
        plm_json_string(p->json, "then", plm_verdict_name(row->then.verdict));
    }
    plm_json_end_object(p->json);
}

static void write_cards(struct page *p, const struct plm_catalogue *catalogue)
{
    size_t count = 0, all = catalogue ? (size_t)catalogue->count : 0;
    struct plm_card *card = plm_calloc(all, sizeof *card);
    struct plm_fit_table fits;
    for (size_t i = 0; i < all; i++)
        if (catalogue->entry[i].card.memory_usable)
            card[count++] = catalogue->entry[i].card;
    fits = plm_fit_report(p->job, card, count);
    plm_json_array(p->json, "gpus");
    for (size_t i = 0; i < fits.rows; i++)
        write_card(p, &fits.row[i]);
    plm_json_end_array(p->json);
    plm_fit_table_free(&fits);
    free(card);
}

/* ---- lanes ---- */

/* A rung stands on what is below it, from `from` to `bytes`; without `from` it begins at 0. */
static void rung(struct page *p, const char *name, uint64_t from, uint64_t bytes, const char *how, const char *reason,
                 bool sum)
{
    plm_json_object(p->json, NULL);
    plm_json_string(p->json, "name", name);
    if (from)
        plm_json_integer(p->json, "from", from);
    plm_json_integer(p->json, "bytes", bytes);
    plm_json_string(p->json, "how", how);
    plm_json_text(p->json, "reason", reason);
    if (sum)
        plm_json_bool(p->json, "sum", true);
    plm_json_end_object(p->json);
}

static void write_ladder(struct page *p, const struct plm_ladder *l)
{
    uint64_t at = l->reserved;
    plm_json_array(p->json, "ladder");
    rung(p, "tensors (allocated)", 0, l->allocated, "measured", NULL, false);
    rung(p, "reserved by PyTorch", 0, l->reserved, "measured", NULL, false);
    /* A process that reserved most at another moment: its lines still end at device_used. */
    for (int i = 0; i < l->lines; i++)
        if (!strcmp(l->line[i].group, "reserved"))
            at = l->line[i].bytes;
    for (int i = 0; i < l->lines; i++) {
        const struct plm_line *line = &l->line[i];
        if (!strcmp(line->group, "reserved"))
            continue;
        rung(p, line->name, at, at + line->bytes, plm_line_kind_name(line->kind), line->reason, false);
        at += line->bytes;
    }
    rung(p, "device used", 0, l->device_used, "total", NULL, true);
    plm_json_end_array(p->json);
    plm_json_integer(p->json, "low", l->low);
    plm_json_integer(p->json, "high", l->high);
}

static size_t point_of(const struct plm_html_moments *m, uint32_t moment)
{
    for (size_t i = 0; i < m->points; i++)
        if (m->point[i] == moment)
            return i;
    return 0;
}

static void write_place(struct page *p, const struct plm_lane *lane, const struct plm_html_moments *m)
{
    struct plm_place place = plm_place_at(p->job, lane, (struct plm_at){PLM_AT_PEAK, 0});
    plm_json_object(p->json, "at_peak");
    if (place.step)
        plm_json_integer(p->json, "step", place.step);
    if (place.after)
        plm_json_bool(p->json, "after", true);
    if (place.known)
        plm_json_integer(p->json, "point", point_of(m, place.moment));
    if (place.context) {
        plm_json_text(p->json, "phase", plm_phase_name(place.context->phase));
        plm_json_text(p->json, "module", place.context->module);
        plm_json_text(p->json, "op", *place.context->inner ? place.context->inner : place.context->outer);
    }
    plm_json_end_object(p->json);
}

/* Of the first so many steps; -1 if the device was not used in them. */
static int64_t last_event(const struct plm_lane *lane, size_t steps)
{
    return (int64_t)lane->step[(steps < lane->steps ? steps : lane->steps) - 1].at - 1;
}

static void write_steps(struct page *p, const struct plm_lane *lane, const struct plm_html_moments *m)
{
    struct plm_json *j = p->json;
    plm_json_object(j, "steps");
    plm_json_integer(j, "each", m->steps_each);
    plm_json_integer(j, "count", (uint64_t)lane->summary->steps);
    PLM_HTML_EACH(j, "allocated", i, m->steps, m->step_allocated[i]);
    PLM_HTML_EACH(j, "reserved", i, m->steps, m->step_reserved[i]);
    plm_json_array(j, "end");
    for (size_t i = 0; i < m->steps; i++)
        plm_json_signed(j, NULL, last_event(lane, (i + 1) * m->steps_each));
    plm_json_end_array(j);
    PLM_HTML_EACH(j, "peak", i, m->steps, m->step_peak[i]);
    plm_json_end_object(j);
}

/* The kind that a lane stands for, if it does. */
static void write_kind(struct page *p, const struct plm_lane *lane)
{
    const struct plm_job_kinds *r = &p->ranks.ranks;
    for (size_t k = 0; p->ranks.worth && k < r->kinds; k++)
        if (r->kind[k].lane == lane)
            plm_json_integer(p->json, "kind", k);
}

static void write_lane(struct page *p, const struct plm_lane *lane, size_t lanes)
{
    const struct plm_summary_device *d = lane->summary;
    struct plm_ladder ladder = plm_ladder(p->job, lane);
    struct plm_html_moments m;
    plm_html_choose(lane, lanes, &m);
    if (p->brief)
        memset(m.mapped, 0, m.snapshots * sizeof *m.mapped);
    plm_json_object(p->json, NULL);
    plm_json_integer(p->json, "rank", (uint64_t)d->rank);
    plm_json_integer(p->json, "device", (uint64_t)d->device);
    write_kind(p, lane);
    plm_json_integer(p->json, "events", lane->moments);
    plm_json_object(p->json, "peak");
    plm_json_integer(p->json, "allocated", d->allocated_peak.bytes);
    plm_json_integer(p->json, "reserved", d->reserved_peak);
    plm_json_integer(p->json, "device_used", ladder.device_used);
    plm_json_end_object(p->json);
    write_place(p, lane, &m);
    write_ladder(p, &ladder);
    write_steps(p, lane, &m);
    plm_html_lane(p->json, &(struct plm_html_view){p->job, lane, &m, &p->names, &p->sites}, ladder.context);
    plm_html_time_lane(p->json, &p->time, lane->process, d->device, lanes);
    plm_json_end_object(p->json);
    plm_html_moments_free(&m);
}

static size_t lanes_most(const struct page *p)
{
    return p->brief ? 1 : PLM_HTML_LANES;
}

/* Of those that are not chosen yet the one that reserved most; as many as there are: none is left. */
static size_t lane_largest(const struct plm_job *job, const bool *chosen)
{
    size_t best = job->lanes;
    for (size_t i = 0; i < job->lanes; i++)
        if (!chosen[i] &&
            (best == job->lanes || job->lane[i].summary->reserved_peak > job->lane[best].summary->reserved_peak))
            best = i;
    return best;
}

/* Which lanes the page has: those that stand for a kind, then the others, the largest first; in the order of the job. */
static void lanes_choose(const struct page *p, bool *chosen)
{
    const struct plm_job_kinds *r = &p->ranks.ranks;
    size_t left = lanes_most(p);
    if (p->brief) {
        chosen[plm_job_largest(p->job) - p->job->lane] = true;
        return;
    }
    for (size_t k = 0; k < r->kinds && left; k++)
        if (r->kind[k].lane) {
            chosen[r->kind[k].lane - p->job->lane] = true;
            left--;
        }
    for (; left && lane_largest(p->job, chosen) < p->job->lanes; left--)
        chosen[lane_largest(p->job, chosen)] = true;
}

static void write_lanes(struct page *p)
{
    const size_t lanes = p->job->lanes, shown = lanes > lanes_most(p) ? lanes_most(p) : lanes;
    const size_t largest = (size_t)(plm_job_largest(p->job) - p->job->lane);
    bool *chosen = plm_calloc(lanes, sizeof *chosen);
    size_t before = 0;
    lanes_choose(p, chosen);
    for (size_t i = 0; i < largest; i++)
        before += chosen[i];
    plm_json_integer(p->json, "left_out", lanes - shown);
    plm_json_integer(p->json, "largest", before);
    plm_json_array(p->json, "lanes");
    for (size_t i = 0; i < lanes; i++)
        if (chosen[i])
            write_lane(p, &p->job->lane[i], shown);
    plm_json_end_array(p->json);
    free(chosen);
}

/* ---- the document ---- */

static void write_names(struct plm_json *j, const char *key, const struct plm_names *names)
{
    plm_json_array(j, key);
    for (size_t i = 0; i < names->count; i++)
        plm_json_string(j, NULL, names->text[i]);
    plm_json_end_array(j);
}

static void write_lists(struct page *p)
{
    plm_json_array(p->json, "categories");
    for (int i = 0; i < PLM_CATEGORIES; i++)
        plm_json_string(p->json, NULL, plm_category_name((enum plm_category)i));
    plm_json_end_array(p->json);
    plm_json_array(p->json, "phases");
    for (int i = 0; i < PLM_PHASES; i++)
        plm_json_string(p->json, NULL, plm_phase_name((enum plm_phase)i));
    plm_json_end_array(p->json);
    write_names(p->json, "modules", &p->names.modules);
    write_names(p->json, "ops", &p->names.ops);
}

static void write_document(struct page *p, const struct plm_catalogue *catalogue, const char *record)
{
    const char *slash = strrchr(record, '/');
    plm_json_object(p->json, NULL);
    plm_json_string(p->json, "schema", "plimsoll.page/1");
    plm_json_string(p->json, "version", PLM_VERSION);
    plm_json_string(p->json, "record", slash ? slash + 1 : record);
    write_job(p);
    write_confidence(p);
    plm_json_text(p->json, "gpu", plm_summary_config(&p->job->summary, "gpu"));
    plm_json_bool(p->json, "attributed", p->job->attributed);
    write_lists(p);
    write_cards(p, catalogue);
    plm_report_kinds_write(p->json, &p->ranks);
    write_lanes(p);
    plm_html_sites_write(p->json, &p->sites);
    plm_html_folds_write(p->json, p->job, &p->names);
    plm_html_time_write(p->json, &p->time);
    plm_json_end_object(p->json);
}

/* As a document, or as an element of an array in one. */
static void job_write(struct plm_json *json, const struct plm_report_page *what, bool brief)
{
    struct page p = {.json = json, .brief = brief, .job = what->job};
    plm_html_names_make(p.job, &p.names);
    plm_html_sites_start(&p.sites);
    plm_html_time_start(&p.time, what->time);
    p.ranks = plm_report_kinds_make(p.job);
    write_document(&p, what->catalogue, what->record);
    plm_html_names_free(&p.names);
    plm_html_sites_free(&p.sites);
    plm_html_time_free(&p.time);
    plm_report_kinds_free(&p.ranks);
}

static int page_end(FILE *out, struct plm_error *error)
{
    if (fflush(out) || ferror(out))
        return plm_fail(error, PLM_EIO, "the page could not be written");
    return 0;
}

int plm_report_html(FILE *out, const struct plm_report_page *what, struct plm_error *error)
{
    struct plm_json json;
    if (!plm_html_before_size)
        return plm_fail(error, PLM_EIO, "this build has no page: %s", plm_html_missing);
    if (!what->job->lanes)
        return plm_fail(error, PLM_ENOTFOUND,
                        "this record has no GPU activity: the job never used CUDA, or the record ends before it did");
    plm_json_start(&json, out);
    json.page = true;
    fwrite(plm_html_before, 1, plm_html_before_size, out);
    job_write(&json, what, false);
    fwrite(plm_html_after, 1, plm_html_after_size, out);
    return page_end(out, error);
}

int plm_report_html_diff(FILE *out, const struct plm_diff *diff, const struct plm_report_page what[2],
                         struct plm_error *error)
{
    struct plm_json json;
    if (!plm_html_diff_before_size)
        return plm_fail(error, PLM_EIO, "this build has no page: %s", plm_html_missing);
    plm_json_start(&json, out);
    json.page = true;
    fwrite(plm_html_diff_before, 1, plm_html_diff_before_size, out);
    plm_json_object(&json, NULL);
    plm_json_string(&json, "schema", "plimsoll.diff-page/1");
    plm_json_string(&json, "version", PLM_VERSION);
    plm_diff_fields(&json, diff);
    plm_json_array(&json, "jobs");
    for (int i = 0; i < 2; i++)
        job_write(&json, &what[i], true);
    plm_json_end_array(&json);
    plm_json_end_object(&json);
    fwrite(plm_html_diff_after, 1, plm_html_diff_after_size, out);
    return page_end(out, error);
}
