#include "common/card.h"
#include "common/error.h"
#include "base/json.h"
#include "report/folding.h"
#include "report/report.h"
#include "report/time.h"

/* Of a report, which is about memory first, and of an answer about times alone. */
enum { SECTION_SHARES = 20, SHARES_MOST = 1000 };

static void write_bounds(struct plm_json *j, const char *key, const double ns[PLM_BOUNDS])
{
    plm_json_object(j, key);
    for (int i = 0; i < PLM_BOUNDS; i++)
        if (ns[i] > 0)
            plm_json_real(j, plm_bound_name((enum plm_bound)i), ns[i] / 1e9);
    plm_json_end_object(j);
}

/* The fields of a share; the object is open. */
static void write_share(struct plm_json *j, const struct plm_time_share *s, double steps)
{
    plm_json_real(j, "calls", (double)s->calls / steps);
    plm_json_real(j, "seconds", s->ns / 1e9);
    write_bounds(j, "bound", s->bound);
    plm_json_real(j, "flops", s->flops);
}

/* Layers that repeat as one, with the names of its modules. */
static void write_folded(struct plm_json *j, const struct plm_time_shares *shares, double steps, size_t most)
{
    struct plm_repeats folds;
    if (!shares->count)
        return;
    folds = plm_repeats_of_shares(shares, false, false);
    plm_json_array(j, "modules_folded");
    for (size_t i = 0; i < folds.count && i < most; i++) {
        const size_t *member = &folds.member[folds.item[i].first];
        struct plm_time_share sum = {0};
        for (size_t k = 0; k < folds.item[i].count; k++)
            plm_time_share_add(&sum, &shares->item[member[k]]);
        plm_repeat_json_begin(j, &folds.item[i]);
        write_share(j, &sum, steps);
        plm_repeat_json_end(j, &folds, &folds.item[i], shares->item, sizeof *shares->item);
    }
    plm_json_end_array(j);
    plm_repeats_free(&folds);
}

static void write_shares(struct plm_json *j, const char *key, const struct plm_time_shares *shares, double steps,
                         size_t most)
{
    if (!shares->count)
        return;
    plm_json_array(j, key);
    for (size_t i = 0; i < shares->count && i < most; i++) {
        const struct plm_time_share *s = &shares->item[i];
        plm_json_object(j, NULL);
        plm_json_string(j, "name", s->name);
        write_share(j, s, steps);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void write_metrics(struct plm_json *j, const struct plm_timing *t)
{
    plm_json_object(j, "metrics");
    for (int i = 0; i < PLM_METRICS; i++)
        plm_json_real(j, plm_metric_name((enum plm_metric)i), t->metric[i]);
    plm_json_end_object(j);
}

static void write_lacks(struct plm_json *j, unsigned lacks)
{
    if (!lacks)
        return;
    plm_json_array(j, "lacks");
    for (int i = 0; i < PLM_WORK_TYPES; i++)
        if (lacks >> i & 1)
            plm_json_string(j, NULL, plm_work_type_name((enum plm_work_type)i));
    plm_json_end_array(j);
}

static void write_timing(struct plm_json *j, const struct plm_timing *t)
{
    plm_json_real(j, "step", t->step / 1e9);
    plm_json_real(j, "low", t->low / 1e9);
    plm_json_real(j, "high", t->high / 1e9);
    plm_json_real(j, "gpu_busy", t->busy / 1e9);
    plm_json_real(j, "host", t->host / 1e9);
    plm_json_bool(j, "host_bound", plm_time_host_bound(t));
    plm_json_string(j, "bound_by", plm_bound_name(plm_time_bound(t)));
    write_bounds(j, "bound", t->bound);
    write_metrics(j, t);
    plm_json_real(j, "flops", t->flops);
    if (t->mfu > 0) {
        plm_json_real(j, "mfu", t->mfu);
        plm_json_string(j, "mfu_type", plm_work_type_name(t->mfu_type));
    }
    plm_json_real(j, "kernels", t->kernels);
    plm_json_real(j, "kernels_unsized", t->unsized);
    plm_json_real(j, "generated", t->generated / 1e9);
}

static void write_together(struct plm_json *j, const struct plm_time_row *row)
{
    if (!(row->together > 0))
        return;
    plm_json_real(j, "samples_per_second", row->together);
    plm_json_real(j, "samples_per_second_per_gpu", row->together / row->gpus);
}

/* The fields of a card; the object is open. */
static void write_row(struct plm_json *j, const struct plm_time_row *row, size_t most)
{
    const double steps = row->timing.steps ? (double)row->timing.steps : 1;
    plm_json_string(j, "gpu", row->card->id);
    plm_json_bool(j, "known", row->known);
    if (!row->known) {
        plm_json_string(j, "why", row->why);
        return;
    }
    write_timing(j, &row->timing);
    write_together(j, row);
    write_lacks(j, row->lacks);
    plm_json_string(j, "constants", row->speeds);
    plm_json_string(j, "host_time", plm_host_time_name(&row->host));
    plm_json_object(j, "host_factor");
    plm_json_real(j, "value", row->host.factor);
    plm_json_real(j, "low", row->host_low);
    plm_json_real(j, "high", row->host_high);
    plm_json_end_object(j);
    if (row->price > 0) {
        plm_json_real(j, "price_per_hour", row->price);
        plm_json_real(j, "steps_per_dollar", plm_time_per_dollar(row));
    }
    if (plm_time_hours(row) > 0) {
        plm_json_real(j, "hours", plm_time_hours(row));
        if (row->price > 0)
            plm_json_real(j, "cost", plm_time_cost(row));
    }
    write_shares(j, "operators", &row->timing.operators, steps, most);
    write_shares(j, "modules", &row->timing.modules, steps, most);
    write_folded(j, &row->timing.modules, steps, most);
    write_shares(j, "classes", &row->timing.classes, steps, most);
}

static void write_steps(struct plm_json *j, const struct plm_time_table *table)
{
    const struct plm_work_lane *lane = table->lane;
    static const char *const units[] = {[PLM_STEP_OPTIMIZER] = "optimizer-step",
                                        [PLM_STEP_BACKWARD] = "backward-pass",
                                        [PLM_STEP_PASS] = "model-call",
                                        [PLM_STEP_WHOLE] = "command"};
    plm_json_integer(j, "rank", (uint64_t)(lane->rank < 0 ? 0 : lane->rank));
    plm_json_integer(j, "device", (uint64_t)(lane->device < 0 ? 0 : lane->device));
    plm_json_string(j, "unit", units[lane->unit]);
    plm_json_integer(j, "steps", lane->steps);
    plm_json_integer(j, "gpus", table->row[0].gpus);
    plm_json_integer(j, "replicas", table->works->world.replicas);
    plm_json_bool(j, "replicas_told", table->works->world.told);
}

int plm_report_time_json(FILE *out, const struct plm_time_table *table, const struct plm_report_time_look *look,
                         struct plm_error *error)
{
    struct plm_json j;
    plm_json_document(&j, out, "plimsoll.time/1");
    plm_json_text(&j, "record", look->options->record);
    write_steps(&j, table);
    plm_json_array(&j, "cards");
    for (size_t i = 0; i < table->rows; i++) {
        plm_json_object(&j, NULL);
        write_row(&j, &table->row[i], SHARES_MOST);
        plm_json_end_object(&j);
    }
    plm_json_end_array(&j);
    return plm_json_finish(&j) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}

void plm_report_time_object(struct plm_json *j, const struct plm_report_options *o)
{
    if (!o->time && !o->no_time)
        return;
    plm_json_object(j, "time");
    if (o->time && o->time->rows) {
        write_row(j, &o->time->row[0], SECTION_SHARES);
        write_steps(j, o->time);
    } else {
        plm_json_bool(j, "known", false);
        plm_json_text(j, "why", o->no_time);
    }
    plm_json_end_object(j);
}
