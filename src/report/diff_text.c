/* The difference of two jobs for people. */
#include <string.h>

#include "common/error.h"
#include "report/diff.h"
#include "base/draw.h"
#include "fit/known.h"
#include "report/report.h"

enum { MODULES = 10, LABEL = 20 };

#define UNTOLD "One of the records has no memory categories"

static const struct plm_summary_device *summary(const struct plm_diff_lane *d)
{
    return d->before ? d->before->summary : d->after->summary;
}

/* "Rank 0, device 0"; of different worlds "Ranks 0-7, then 0-63". */
static const char *device_title(const struct plm_diff_lane *d, char *out, size_t size)
{
    const struct plm_job_kind *a = d->kind[0], *b = d->kind[1];
    if (a && b && strcmp(a->ranks, b->ranks) != 0)
        snprintf(out, size, "Ranks %.40s, then %.40s", a->ranks, b->ranks);
    else if (a || b)
        snprintf(out, size, "Ranks %.80s", a ? a->ranks : b->ranks);
    else
        snprintf(out, size, "Rank %d, device %d", summary(d)->rank, summary(d)->device);
    return out;
}

/* The longest label that leaves room for three amounts, the percentage and what stands between them. */
static int label_most(const struct plm_page *p)
{
    int most = p->width - 3 * plm_page_amount_columns(p) - 18;
    return most < LABEL ? LABEL : most;
}

static void show_row(const struct plm_page *p, const char *label, int columns, const struct plm_change *c)
{
    const enum plm_ink ink = c->after > c->before ? PLM_INK_YELLOW : c->after < c->before ? PLM_INK_GREEN : PLM_INK_DIM;
    int amount = plm_page_amount_columns(p);
    char before[32], after[32], by[40], percent[24];
    fputs("  ", p->out);
    plm_page_name(p, label, columns, 1);
    fprintf(p->out, " %*s  %*s  %s%*s  %8s%s\n", amount, plm_page_amount(p, before, sizeof before, c->before), amount,
            plm_page_amount(p, after, sizeof after, c->after), plm_ink(p, ink), amount + 1,
            plm_change_amount(c, p->bytes, by, sizeof by), plm_change_percent(c, percent, sizeof percent),
            plm_ink(p, PLM_INK_PLAIN));
}

static void heading(const struct plm_page *p, const char *title, int columns)
{
    int amount = plm_page_amount_columns(p);
    fprintf(p->out, "\n%s%-*s%s %s%*s  %*s  %*s%s\n", plm_ink(p, PLM_INK_BOLD), columns + 2, title,
            plm_ink(p, PLM_INK_PLAIN), plm_ink(p, PLM_INK_DIM), amount, "before", amount, "after", amount + 1, "change",
            plm_ink(p, PLM_INK_PLAIN));
}

static void rungs(const struct plm_page *p, const struct plm_diff_lane *d)
{
    static const char *const labels[PLM_RUNGS] = {"tensors (allocated)", "reserved by PyTorch", "+ libraries",
                                                  "+ other allocations", "= device used"};
    char title[128];
    heading(p, device_title(d, title, sizeof title), LABEL);
    for (int i = 0; i < PLM_RUNGS; i++)
        if (plm_change_size(&d->rung[i]) || (i != PLM_RUNG_LIBRARIES && i != PLM_RUNG_OTHER))
            show_row(p, labels[i], LABEL, &d->rung[i]);
}

static void categories(const struct plm_page *p, const struct plm_diff_lane *d)
{
    if (!d->categories) {
        fputs("\n" UNTOLD ".\n", p->out);
        return;
    }
    if (!plm_change_size(&d->category[0])) {
        fputs("\nMemory by category did not change.\n", p->out);
        return;
    }
    heading(p, "Memory by category", LABEL);
    for (size_t i = 0; i < d->categories && plm_change_size(&d->category[i]); i++) {
        const char *name = d->category[i].name;
        show_row(p, strcmp(name, "free_in_segments") ? name : "cached but unused", LABEL, &d->category[i]);
    }
}

static const char *module_name(const struct plm_change *c, enum plm_key by)
{
    return *c->name ? c->name : by == PLM_BY_LINE ? "(not from Python)" : "(outside any module)";
}

static int name_columns(const struct plm_page *p, const struct plm_diff_rows *rows, size_t shown, enum plm_key by)
{
    int columns = LABEL, most = label_most(p);
    for (size_t i = 0; i < shown; i++) {
        int wanted = plm_page_columns(p, module_name(&rows->item[i].change, by));
        columns = wanted > columns ? wanted : columns;
    }
    return columns < most ? columns : most;
}

static void modules(const struct plm_page *p, const struct plm_diff_lane *d, enum plm_key by, bool unfold)
{
    struct plm_diff_rows rows;
    struct plm_change rest = {0};
    size_t shown, more = 0;
    char label[48];
    int columns;
    if (!d->modules) {
        fprintf(p->out, "\nMemory by %s did not change.\n", plm_key_name(by));
        return;
    }
    rows = plm_diff_rows(d, unfold, !p->utf8);
    shown = rows.count < MODULES ? rows.count : MODULES;
    columns = name_columns(p, &rows, shown, by);
    heading(p, by == PLM_BY_LINE ? "Memory by line" : "Memory by module", columns);
    for (size_t i = 0; i < shown; i++)
        show_row(p, module_name(&rows.item[i].change, by), columns, &rows.item[i].change);
    for (size_t i = shown; i < rows.count; i++) {
        rest.before += rows.item[i].change.before;
        rest.after += rows.item[i].change.after;
        more += rows.item[i].fold->count;
    }
    snprintf(label, sizeof label, "%zu more", more);
    if (more)
        show_row(p, label, columns, &rest);
    plm_diff_rows_free(&rows);
}

static void show_device(const struct plm_page *p, const struct plm_diff *diff, const struct plm_diff_lane *d,
                        const char *const names[2], bool unfold)
{
    char text[32], title[128];
    device_title(d, title, sizeof title);
    if (!d->before || !d->after) {
        fprintf(p->out, "\n%s %s only in ", title, d->kind[0] || d->kind[1] ? "are" : "is");
        plm_page_name(p, names[d->before ? 0 : 1], 0, 0);
        fprintf(p->out, ": %s device used.\n",
                plm_page_amount(p, text, sizeof text,
                                d->before ? d->rung[PLM_RUNG_USED].before : d->rung[PLM_RUNG_USED].after));
        return;
    }
    if (!d->changed) {
        fprintf(p->out, "\n%s: nothing changed.\n", title);
        return;
    }
    rungs(p, d);
    if (!d->attributed) {
        fputs("\n" UNTOLD ".\n", p->out);
        return;
    }
    categories(p, d);
    modules(p, d, diff->by, unfold);
}

static void unchanged(const struct plm_page *p, const struct plm_diff *diff)
{
    const struct plm_change *rung = diff->lane[0].rung;
    char allocated[32], reserved[32], used[32];
    if (diff->lanes > 1)
        fprintf(p->out, "Nothing changed on %zu devices.", diff->lanes);
    else
        fprintf(p->out, "Nothing changed: %s allocated, %s reserved, %s device used.",
                plm_page_amount(p, allocated, sizeof allocated, rung[PLM_RUNG_ALLOCATED].after),
                plm_page_amount(p, reserved, sizeof reserved, rung[PLM_RUNG_RESERVED].after),
                plm_page_amount(p, used, sizeof used, rung[PLM_RUNG_USED].after));
    fputs(diff->lane[0].categories ? "\n" : " " UNTOLD ".\n", p->out);
}

/* Ranks of different worlds have little to do with each other, whatever their numbers. */
static void show_worlds(const struct plm_page *p, const struct plm_diff *diff)
{
    if (!diff->by_kind || diff->ranks[0].count == diff->ranks[1].count)
        return;
    fputc('\n', p->out);
    plm_page_say(
        p,
        "%llu ranks, then %llu: kinds of ranks are compared: largest with largest, first with first, last with last.",
        (unsigned long long)diff->ranks[0].count, (unsigned long long)diff->ranks[1].count);
}

/* A job that did not end well may have more to come. */
static void show_known(const struct plm_page *p, const struct plm_job *job, const char *name)
{
    const struct plm_fit_known known = plm_fit_known(job);
    if (known.what == PLM_KNOWN_PEAK)
        return;
    fputs("\nNote: the peak of ", p->out);
    plm_page_name(p, name, 0, 0);
    fprintf(p->out, " is unknown: %s.\n", known.why);
}

/* The answer first; of names that a record holds no line is broken. */
static void show_growth(const struct plm_page *p, const struct plm_diff *diff)
{
    const struct plm_diff_growth growth = plm_diff_growth(diff);
    char text[320];
    fputs(plm_ink(p, PLM_INK_BOLD), p->out);
    plm_page_name(p, plm_diff_growth_text(&growth, p->bytes, text, sizeof text), 0, 0);
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
}

int plm_diff_text(FILE *out, const struct plm_diff *diff, const char *const names[2],
                  const struct plm_report_options *options, struct plm_error *error)
{
    const struct plm_page p = plm_report_page_for(out, options);
    if (diff->lanes && !diff->changed)
        unchanged(&p, diff);
    else {
        show_growth(&p, diff);
        fputs("From ", out);
        plm_page_name(&p, names[0], 0, 0);
        fputs(" to ", out);
        plm_page_name(&p, names[1], 0, 0);
        fputs(", at the peak of each:\n", out);
        show_worlds(&p, diff);
        for (size_t i = 0; i < diff->lanes; i++)
            show_device(&p, diff, &diff->lane[i], names, options->unfold);
    }
    show_known(&p, diff->before, names[0]);
    show_known(&p, diff->after, names[1]);
    if (fflush(out) || ferror(out))
        return plm_fail(error, PLM_EIO, "the difference could not be written");
    return 0;
}
