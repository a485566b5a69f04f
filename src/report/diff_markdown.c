/*
 * The difference of two jobs as GitHub-flavoured Markdown, for a comment on a pull request: the answer, one table of the
 * ladder and categories, and the modules folded away. Names of unknown origin stand in code, where nothing is markup and
 * nobody is mentioned.
 */
#include <string.h>

#include "common/error.h"
#include "common/printable.h"
#include "base/units.h"
#include "fit/known.h"
#include "report/diff.h"
#include "report/report.h"

enum { MODULES = 20 };

/* In code; a grave accent would end it, and a bar would end the cell. */
static void code(FILE *out, const char *text)
{
    char shown[PLM_PRINTABLE_MOST];
    fputc('`', out);
    for (unsigned n; (n = plm_printable_next(text, shown)); text += n)
        fputs(*text == '`' ? "'" : *text == '|' ? "\\|" : shown, out);
    fputc('`', out);
}

static const char *amount(char *buffer, size_t size, uint64_t value, bool bytes)
{
    if (!bytes)
        return plm_size_text(buffer, size, value);
    snprintf(buffer, size, "%llu", (unsigned long long)value);
    return buffer;
}

/* The name of a row is written before. */
static void amounts(FILE *out, const struct plm_change *c, bool bytes)
{
    char before[32], after[32], by[40], percent[24];
    fprintf(out, " | %s | %s | %s | %s |\n", amount(before, sizeof before, c->before, bytes),
            amount(after, sizeof after, c->after, bytes), plm_change_amount(c, bytes, by, sizeof by),
            plm_change_percent(c, percent, sizeof percent));
}

static void table_begin(FILE *out, const char *what)
{
    fprintf(out, "\n| %s | before | after | change | |\n|---|---:|---:|---:|---:|\n", what);
}

static void peaks(FILE *out, const struct plm_diff_lane *d, bool bytes)
{
    static const char *const labels[PLM_RUNGS] = {"tensors (allocated)", "reserved by PyTorch", "libraries",
                                                  "other allocations", "**device used**"};
    table_begin(out, "at the peak");
    for (int i = 0; i < PLM_RUNGS; i++)
        if (plm_change_size(&d->rung[i]) || i == PLM_RUNG_USED) {
            fprintf(out, "| %s", labels[i]);
            amounts(out, &d->rung[i], bytes);
        }
    for (size_t i = 0; i < d->categories && plm_change_size(&d->category[i]); i++) {
        const char *name = d->category[i].name;
        fprintf(out, "| %s", strcmp(name, "free_in_segments") ? name : "cached but unused");
        amounts(out, &d->category[i], bytes);
    }
}

static void modules(FILE *out, const struct plm_diff_lane *d, const struct plm_report_options *o)
{
    struct plm_diff_rows rows = plm_diff_rows(d, o->unfold, false);
    const size_t shown = rows.count < MODULES ? rows.count : MODULES;
    size_t more = 0;
    if (shown) {
        fputs("\n<details><summary>Memory by module</summary>\n", out);
        table_begin(out, "module");
    }
    for (size_t i = 0; i < shown; i++) {
        fputs("| ", out);
        code(out, *rows.item[i].change.name ? rows.item[i].change.name : "(outside any module)");
        amounts(out, &rows.item[i].change, o->bytes);
    }
    for (size_t i = shown; i < rows.count; i++)
        more += rows.item[i].fold->count;
    if (more)
        fprintf(out, "\n%zu more modules changed by less.\n", more);
    if (shown)
        fputs("\n</details>\n", out);
    plm_diff_rows_free(&rows);
}

static void device(FILE *out, const struct plm_diff *diff, const struct plm_diff_lane *d,
                   const struct plm_report_options *o)
{
    const struct plm_summary_device *s = (d->before ? d->before : d->after)->summary;
    char text[32];
    if (diff->lanes > 1)
        fprintf(out, "\n**Rank %d, device %d**\n", s->rank, s->device);
    if (d->before && d->after && d->changed) {
        peaks(out, d, o->bytes);
        modules(out, d, o);
        return;
    }
    if (d->before && d->after)
        fputs("\nNothing changed.\n", out);
    else
        fprintf(out, "\nOnly %s: %s device used.\n", d->before ? "before" : "after",
                amount(text, sizeof text, d->rung[PLM_RUNG_USED].before + d->rung[PLM_RUNG_USED].after, o->bytes));
}

static void known(FILE *out, const struct plm_job *job, const char *name)
{
    const struct plm_fit_known k = plm_fit_known(job);
    if (k.what == PLM_KNOWN_PEAK)
        return;
    fputs("\n> [!WARNING]\n> The peak of ", out);
    code(out, name);
    fputs(" is unknown: ", out);
    code(out, k.why);
    fputs("\n", out);
}

/* The cause may name a module. */
static void headline(FILE *out, const struct plm_diff *diff, bool bytes)
{
    struct plm_diff_growth growth = plm_diff_growth(diff);
    char text[320], cause[sizeof growth.cause], by[40];
    memcpy(cause, growth.cause, sizeof cause);
    growth.cause[0] = '\0';
    fprintf(out, "### GPU memory: %s\n", plm_diff_growth_text(&growth, bytes, text, sizeof text));
    if (!*cause)
        return;
    fputs("\nLargest change: ", out);
    code(out, cause);
    fprintf(out, " %s\n", plm_change_amount(&growth.by, bytes, by, sizeof by));
}

int plm_diff_markdown(FILE *out, const struct plm_diff *diff, const char *const names[2],
                      const struct plm_report_options *options, struct plm_error *error)
{
    headline(out, diff, options->bytes);
    known(out, diff->before, names[0]);
    known(out, diff->after, names[1]);
    for (size_t i = 0; i < diff->lanes; i++)
        device(out, diff, &diff->lane[i], options);
    fputs("\nFrom ", out);
    code(out, names[0]);
    fputs(" to ", out);
    code(out, names[1]);
    fputs(", by `plimsoll diff`.\n", out);
    if (fflush(out) || ferror(out))
        return plm_fail(error, PLM_EIO, "the difference could not be written");
    return 0;
}
