/* The difference of two jobs for programs: "plimsoll.diff/1", docs/schema/diff-1.json. */
#include "common/error.h"
#include "base/json.h"
#include "report/diff.h"
#include "report/report.h"

static void amounts(struct plm_json *j, const struct plm_change *c)
{
    plm_json_integer(j, "before", c->before);
    plm_json_integer(j, "after", c->after);
    plm_json_signed(j, "change", (int64_t)(c->after - c->before));
}

static void named(struct plm_json *j, const char *key, const struct plm_change *change, size_t count)
{
    plm_json_object(j, key);
    for (size_t i = 0; i < count; i++) {
        plm_json_object(j, change[i].name);
        amounts(j, &change[i]);
        plm_json_end_object(j);
    }
    plm_json_end_object(j);
}

static void write_folded(struct plm_json *j, const struct plm_diff_lane *d)
{
    struct plm_diff_rows rows = plm_diff_rows(d, false, false);
    plm_json_array(j, "modules_folded");
    for (size_t i = 0; i < rows.count; i++) {
        plm_repeat_json_begin(j, rows.item[i].fold);
        amounts(j, &rows.item[i].change);
        plm_repeat_json_end(j, &rows.folds, rows.item[i].fold, d->module, sizeof *d->module);
    }
    plm_json_end_array(j);
    plm_diff_rows_free(&rows);
}

static void write_device(struct plm_json *j, const struct plm_diff_lane *d, enum plm_key by)
{
    const struct plm_summary_device *s = d->before ? d->before->summary : d->after->summary;
    plm_json_object(j, NULL);
    plm_json_integer(j, "rank", (uint64_t)s->rank);
    plm_json_integer(j, "device", (uint64_t)s->device);
    if (d->kind[0])
        plm_json_string(j, "ranks_before", d->kind[0]->ranks);
    if (d->kind[1])
        plm_json_string(j, "ranks_after", d->kind[1]->ranks);
    plm_json_string(j, "in", !d->after ? "before" : !d->before ? "after" : "both");
    plm_json_bool(j, "changed", d->changed);
    named(j, "peak", d->rung, PLM_RUNGS);
    if (d->categories)
        named(j, "categories", d->category, d->categories);
    if (d->attributed) {
        plm_json_array(j, by == PLM_BY_LINE ? "lines" : "modules");
        for (size_t i = 0; i < d->modules; i++) {
            plm_json_object(j, NULL);
            plm_json_string(j, "name", d->module[i].name);
            amounts(j, &d->module[i]);
            plm_json_end_object(j);
        }
        plm_json_end_array(j);
        if (by == PLM_BY_MODULE)
            write_folded(j, d);
    }
    plm_json_end_object(j);
}

/* The answer: of the device that needs most. */
static void write_growth(struct plm_json *j, const struct plm_diff *diff)
{
    const struct plm_diff_growth growth = plm_diff_growth(diff);
    char text[320];
    plm_json_object(j, "growth");
    amounts(j, &growth.used);
    if (growth.used.before)
        plm_json_real(j, "ratio", (double)growth.used.after / (double)growth.used.before);
    plm_json_string(j, "text", plm_diff_growth_text(&growth, false, text, sizeof text));
    if (*growth.cause) {
        plm_json_object(j, "cause");
        plm_json_string(j, "what", growth.cause);
        amounts(j, &growth.by);
        plm_json_end_object(j);
    }
    plm_json_end_object(j);
}

void plm_diff_fields(struct plm_json *j, const struct plm_diff *diff)
{
    plm_json_bool(j, "changed", diff->changed);
    write_growth(j, diff);
    if (diff->by_kind)
        plm_json_bool(j, "by_kind", true);
    for (int i = 0; i < 2; i++) {
        static const char *const keys[] = {"before_known", "after_known"};
        plm_json_object(j, keys[i]);
        plm_report_known(j, i ? diff->after : diff->before);
        plm_json_end_object(j);
    }
    plm_json_array(j, "devices");
    for (size_t i = 0; i < diff->lanes; i++)
        write_device(j, &diff->lane[i], diff->by);
    plm_json_end_array(j);
}

int plm_diff_json(FILE *out, const struct plm_diff *diff, const char *const names[2],
                  const struct plm_report_options *options, struct plm_error *error)
{
    struct plm_json j;
    (void)options;
    plm_json_document(&j, out, "plimsoll.diff/1");
    plm_json_string(&j, "before", names[0]);
    plm_json_string(&j, "after", names[1]);
    plm_diff_fields(&j, diff);
    return plm_json_finish(&j) ? plm_fail(error, PLM_EIO, "the difference could not be written") : 0;
}
