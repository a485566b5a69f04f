#include "report/overview.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/card.h"
#include "base/memory.h"
#include "base/units.h"
#include "fit/fit.h"
#include "fit/known.h"
#include "fit/ladder.h"
#include "report/code.h"
#include "report/communicators.h"
#include "report/folding.h"
#include "report/operators.h"

enum {
    HOLDERS = 10,
    LISTED = 60,
    STEP_ROWS = 8,
    CURVE_LEAST = 12,
    LABEL = 20,
    LARGE = 5,
    LINE_BYTES = 2048,
    CODE_LEAST = 20
};

static const char *when_text(struct plm_at at, char *buffer, size_t size)
{
    if (at.kind == PLM_AT_STEP)
        snprintf(buffer, size, "the peak of step %u", at.step);
    else
        snprintf(buffer, size, "%s", at.kind == PLM_AT_END ? "the end" : "the peak");
    return buffer;
}

/* The operator goes to a line of its own when all of it is too long for one. */
static const char *before_operator(const struct plm_page *p, const struct plm_site *c)
{
    bool both = *c->outer && *c->inner && strcmp(c->outer, c->inner);
    int columns = 20 + plm_page_columns(p, plm_phase_name(c->phase)) + 11; /* "  in step 123, phase ", ", operator " */
    columns += *c->module ? 9 + plm_page_columns(p, c->module) : 0;
    columns += plm_page_columns(p, *c->outer ? c->outer : c->inner) + (both ? 3 + plm_page_columns(p, c->inner) : 0);
    return columns <= p->width ? ", operator " : ",\n  operator ";
}

static void show_operators(const struct plm_page *p, const struct plm_site *c)
{
    int half = p->width / 2 - 8;
    if (!*c->outer && !*c->inner)
        return;
    fputs(before_operator(p, c), p->out);
    plm_page_name(p, plm_report_operator_shown(*c->outer ? c->outer : c->inner), half, 0);
    if (!*c->outer || !*c->inner || !strcmp(c->outer, c->inner))
        return;
    fputs(" > ", p->out);
    plm_page_name(p, c->inner, half, 0);
}

static void show_where(const struct plm_page *p, const struct plm_place *place)
{
    const struct plm_site *c = place->context;
    if (!place->step && !c)
        return;
    fputs(place->after ? "  after " : "  in ", p->out);
    if (place->step)
        fprintf(p->out, "step %u%s", place->step, c ? ", " : "");
    if (c) {
        fprintf(p->out, "phase %s", plm_phase_name(c->phase));
        if (*c->module) {
            fputs(", module ", p->out);
            plm_page_name(p, c->module, p->width - 40, 0);
        }
        show_operators(p, c);
    }
    fputc('\n', p->out);
}

void plm_overview_known(const struct plm_page *p, const struct plm_job *job)
{
    const struct plm_fit_known known = plm_fit_known(job);
    char text[384], needs[32], then[64] = "; run without --bounded to see what it needs";
    if (known.what == PLM_KNOWN_PEAK)
        return;
    if (known.needs)
        snprintf(then, sizeof then, "; without the limit it needs %s",
                 plm_page_amount(p, needs, sizeof needs, known.needs));
    snprintf(text, sizeof text, "The job's peak is unknown: %s. The figures cover what ran%s%s.", known.why,
             known.what == PLM_KNOWN_ENOUGH ? "" : " until then", known.what == PLM_KNOWN_NOTHING ? "" : then);
    fprintf(p->out, "\n%s", plm_ink(p, PLM_INK_YELLOW));
    plm_page_sentences(p, "", text);
    fputs(plm_ink(p, PLM_INK_PLAIN), p->out);
}

/* In a screen: no operators, and the figures are those of the ladder below. */
static void peak_brief(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane)
{
    struct plm_place peak = plm_place_at(job, lane, (struct plm_at){PLM_AT_PEAK, 0});
    const struct plm_site *c = peak.context;
    char text[320] = "";
    size_t used = 0;
    if (peak.step)
        used += (size_t)snprintf(text, sizeof text, "%s step %u, ", peak.after ? "after" : "in", peak.step);
    if (c)
        snprintf(text + used, sizeof text - used, "phase %s, %s%.200s%s", plm_phase_name(c->phase),
                 *c->module ? "module " : "", c->module, *c->module ? ", " : "");
    fprintf(p->out, "\n%sPeak:%s ", plm_ink(p, PLM_INK_BOLD), plm_ink(p, PLM_INK_PLAIN));
    plm_page_name(p, text, p->width - 24 > 20 ? p->width - 24 : 20, 0);
    fprintf(p->out, "rank %d, device %d\n", lane->summary->rank, lane->summary->device);
}

void plm_overview_peak(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane, bool full)
{
    const char *gpu = plm_summary_config(&job->summary, "gpu");
    const struct plm_summary_device *d = lane->summary;
    struct plm_place peak = plm_place_at(job, lane, (struct plm_at){PLM_AT_PEAK, 0});
    char a[32], r[32];
    if (!full) {
        peak_brief(p, job, lane);
        return;
    }
    fprintf(p->out, "\n%sPeak: %s allocated, %s reserved%s   (rank %d, device %d, ", plm_ink(p, PLM_INK_BOLD),
            plm_page_amount(p, a, sizeof a, d->allocated_peak.bytes), plm_page_amount(p, r, sizeof r, d->reserved_peak),
            plm_ink(p, PLM_INK_PLAIN), d->rank, d->device);
    plm_page_name(p, gpu ? gpu : "?", 0, 0);
    fputs(")\n", p->out);
    show_where(p, &peak);
}

static void show_amount(const struct plm_page *p, const char *label, int columns, uint64_t bytes)
{
    char text[32];
    fputs("  ", p->out);
    plm_page_name(p, label, columns, 1);
    fprintf(p->out, " %*s  ", plm_page_amount_columns(p), plm_page_amount(p, text, sizeof text, bytes));
}

/* 10 columns are left for a remark. */
static void show_bar(const struct plm_page *p, uint64_t from, uint64_t to, uint64_t whole)
{
    plm_page_bar(p, plm_page_room(p, LABEL + plm_page_amount_columns(p) + 15), from, to, whole);
}

static void show_line(const struct plm_page *p, const char *label, uint64_t from, uint64_t bytes, uint64_t whole)
{
    show_amount(p, label, LABEL, bytes);
    show_bar(p, from, from + bytes, whole);
}

static void show_rung(const struct plm_page *p, const char *label, uint64_t from, uint64_t bytes, uint64_t whole,
                      const char *how)
{
    show_line(p, label, from, bytes, whole);
    fprintf(p->out, "  %s%s%s\n", plm_ink(p, PLM_INK_DIM), how, plm_ink(p, PLM_INK_PLAIN));
}

/* How a group of lines was obtained: as its largest. */
static const char *group_kind(const struct plm_ladder *l, const char *group)
{
    const struct plm_line *largest = NULL;
    for (int i = 0; i < l->lines; i++)
        if (!strcmp(l->line[i].group, group) && (!largest || l->line[i].bytes > largest->bytes))
            largest = &l->line[i];
    return largest ? plm_line_kind_name(largest->kind) : "";
}

/* The lines of a group that matter, if there are enough: a hundredth of all each. */
static void show_parts(const struct plm_page *p, const struct plm_ladder *l, const char *group, uint64_t from,
                       int enough)
{
    uint64_t least = l->device_used / 100;
    int count = 0;
    char label[48];
    for (int i = 0; i < l->lines; i++)
        count += !strcmp(l->line[i].group, group) && l->line[i].bytes >= least;
    if (count < enough)
        return;
    for (int i = 0; i < l->lines; i++) {
        const struct plm_line *line = &l->line[i];
        if (strcmp(line->group, group) != 0)
            continue;
        snprintf(label, sizeof label, "    %s", line->name);
        if (line->bytes >= least)
            show_rung(p, label, from, line->bytes, l->device_used, plm_line_kind_name(line->kind));
        from += line->bytes;
    }
}

/* Why the range is as wide as it is: what contributes a fifth of it or more, and the context in any case. */
static void explain_range(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane,
                          const struct plm_ladder *l, char *out, size_t size)
{
    const struct plm_ladder_context c = plm_ladder_context(&job->summary, lane->summary, NULL);
    const struct plm_fit_conv_range workspaces = plm_fit_conv_range(job, lane);
    char low[32], high[32];
    size_t used = (size_t)snprintf(out, size, "(CUDA context: %s to %s", plm_page_amount(p, low, sizeof low, c.low),
                                   plm_page_amount(p, high, sizeof high, c.high));
    for (int i = 0; i < l->lines; i++) {
        const struct plm_line *line = &l->line[i];
        if (strcmp(line->group, "libraries") != 0 || 5 * (line->high - line->low) < l->high - l->low || used >= size)
            continue;
        used += (size_t)snprintf(out + used, size - used, "; %s: %s to %s", line->name,
                                 plm_page_amount(p, low, sizeof low, line->low),
                                 plm_page_amount(p, high, sizeof high, line->high));
    }
    if (lane->together && used < size)
        used += (size_t)snprintf(out + used, size - used, "; other processes may use more at that time");
    if (lane->summary->other_end && used < size)
        snprintf(out + used, size - used, "; data-dependent sizes");
    else if ((workspaces.low || workspaces.high) && used < size)
        snprintf(out + used, size - used, "; convolution workspaces are estimated");
}

/* What is not PyTorch's in one rung; the answer has the range. */
static void ladder_brief(const struct plm_page *p, const struct plm_ladder *l)
{
    const uint64_t outside = l->libraries + l->other + l->context;
    show_rung(p, "tensors (allocated)", 0, l->allocated, l->device_used, "measured");
    show_rung(p, "reserved by PyTorch", 0, l->reserved, l->device_used, "measured");
    show_rung(p, outside == l->context ? "+ context" : "+ context, libraries", l->reserved, outside, l->device_used,
              group_kind(l, l->libraries > l->context ? "libraries" : "context"));
    show_rung(p, "= device used", 0, l->device_used, l->device_used, "total");
}

void plm_overview_ladder(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane, bool full)
{
    struct plm_ladder l = plm_ladder(job, lane);
    uint64_t at = l.device_used - l.context;
    char low[32], high[32], why[320], text[400];
    if (!full) {
        ladder_brief(p, &l);
        return;
    }
    fputc('\n', p->out);
    show_rung(p, "tensors (allocated)", 0, l.allocated, l.device_used, "measured");
    show_rung(p, "reserved by PyTorch", 0, l.reserved, l.device_used, "measured");
    if (l.libraries)
        show_rung(p, "+ libraries", l.reserved, l.libraries, l.device_used, "modelled");
    show_parts(p, &l, "libraries", l.reserved, 1);
    plm_report_communicators_show(p, &lane->summary->communicators);
    if (l.other > l.beside)
        show_rung(p, "+ other allocations", l.reserved + l.libraries, l.other - l.beside, l.device_used, "measured");
    if (l.beside)
        show_rung(p, "+ other processes", at - l.beside, l.beside, l.device_used, "measured");
    show_rung(p, "+ context", at, l.context, l.device_used, group_kind(&l, "context"));
    show_parts(p, &l, "context", at, 2);
    show_rung(p, "= device used", 0, l.device_used, l.device_used, "total");
    explain_range(p, job, lane, &l, why, sizeof why);
    snprintf(text, sizeof text, "between %s and %s %s)", plm_page_amount(p, low, sizeof low, l.low),
             plm_page_amount(p, high, sizeof high, l.high), why);
    plm_page_sentences(p, "    ", text);
}

/* The largest category that has bytes and was not shown yet; -1 after the last. */
static int category_next(const uint64_t bytes[PLM_CATEGORIES], bool shown[PLM_CATEGORIES])
{
    int largest = -1;
    for (int i = 0; i < PLM_CATEGORIES; i++)
        if (!shown[i] && bytes[i] && (largest < 0 || bytes[i] > bytes[largest]))
            largest = i;
    if (largest >= 0)
        shown[largest] = true;
    return largest;
}

/* "66 %"; what is there has a share, however small. */
static const char *share_text(char out[16], uint64_t bytes, uint64_t whole)
{
    const double percent = whole ? 100 * (double)bytes / (double)whole : 0;
    snprintf(out, 16, bytes && percent < 0.5 ? "<1 %%" : "%.0f %%", percent);
    return out;
}

static void share(const struct plm_page *p, const char *label, uint64_t bytes, uint64_t whole)
{
    char text[16];
    if (!bytes)
        return;
    show_line(p, label, 0, bytes, whole);
    fprintf(p->out, "  %5s\n", share_text(text, bytes, whole));
}

void plm_overview_categories(const struct plm_page *p, const struct plm_place *place, struct plm_at at, int most)
{
    const uint64_t whole = place->allocated;
    bool shown[PLM_CATEGORIES] = {false};
    char title[96], when[48], amount[32];
    snprintf(title, sizeof title, "Memory by category at %s: %s allocated", when_text(at, when, sizeof when),
             plm_page_amount(p, amount, sizeof amount, whole));
    plm_page_title(p, title);
    for (int i, n = 0; (!most || n < most) && (i = category_next(place->category, shown)) >= 0; n++)
        share(p, plm_category_name((enum plm_category)i), place->category[i], whole);
    if (most)
        return;
    if (200 * place->casts >= whole) /* every program converts a few values */
        share(p, "  incl. cast copies", place->casts, whole);
    share(p, "  incl. CUDA graphs", place->captured, whole);
    if (plm_place_free(place)) { /* beside what is allocated, so it has no share of that */
        show_amount(p, "cached but unused", LABEL, plm_place_free(place));
        fputs("(fragmentation)\n", p->out);
    }
}

static void show_shares(const struct plm_page *p, const struct plm_holder *h, int columns)
{
    bool shown[PLM_CATEGORIES] = {false};
    int used = 0;
    for (int i; (i = category_next(h->category, shown)) >= 0;) {
        int length;
        char text[48];
        if (200 * h->category[i] < h->bytes)
            return;
        length = snprintf(text, sizeof text, "%s%s %.0f %%", used ? ", " : "", plm_category_name((enum plm_category)i),
                          100 * (double)h->category[i] / (double)h->bytes);
        if (used + length > columns)
            return;
        used += length;
        fputs(text, p->out);
    }
}

/* Modules that repeat are one, unless each is asked for. */
static struct plm_holders holders_shown(const struct plm_page *p, const struct plm_job *job,
                                        const struct plm_lane *lane, uint32_t moment, enum plm_key by,
                                        const struct plm_report_options *o)
{
    struct plm_holders h = plm_holders_at(job, lane, moment, by);
    if (by == PLM_BY_MODULE && !o->unfold)
        plm_repeats_merge_holders(&h, !p->utf8);
    return h;
}

static const char *holder_name(const struct plm_holder *h, enum plm_key by)
{
    static const char *const nobody[PLM_KEYS] = {
        [PLM_BY_OP] = "(outside any operator)", [PLM_BY_LINE] = "(not from Python)"};
    if (by == PLM_BY_OP && *h->name)
        return plm_report_operator_shown(h->name);
    return *h->name ? h->name : nobody[by] ? nobody[by] : "(outside any module)";
}

static int name_columns(const struct plm_page *p, const struct plm_holders *h, size_t rows, enum plm_key by, int most)
{
    int columns = LABEL;
    for (size_t i = 0; i < rows; i++) {
        int wanted = plm_page_columns(p, holder_name(&h->item[i], by));
        columns = wanted > columns ? wanted : columns;
    }
    return columns < most ? columns : most;
}

static void show_remaining(const struct plm_page *p, const struct plm_holders *h, size_t shown, int name)
{
    char text[32], label[32];
    uint64_t rest = 0;
    for (size_t i = shown; i < h->count; i++)
        rest += h->item[i].bytes;
    snprintf(label, sizeof label, "%zu more", h->count - shown);
    fprintf(p->out, "  %s%-*s %*s%s\n", plm_ink(p, PLM_INK_DIM), name, label, plm_page_amount_columns(p),
            plm_page_amount(p, text, sizeof text, rest), plm_ink(p, PLM_INK_PLAIN));
}

/* The largest amount of a category that is not shown yet. */
static struct plm_holder *operator_next(const struct plm_holders *ops, int category)
{
    struct plm_holder *most = NULL;
    for (size_t i = 0; i < ops->count; i++)
        if (ops->item[i].category[category] && (!most || ops->item[i].category[category] > most->category[category]))
            most = &ops->item[i];
    return most;
}

/* Under a module that is large by itself the operators that made most of it, in a line: "activations 2.4 GiB: linear
   1.5 GiB, ...". Not of parameters and the like, which no operator tells about; and not under a fold: no module of that
   name holds anything. */
static void module_operators(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane,
                             uint32_t moment, const struct plm_holder *module)
{
    struct plm_holders ops = plm_holders_of(job, lane, moment, module->name);
    bool shown[PLM_CATEGORIES] = {false};
    const int category = category_next(module->category, shown);
    struct plm_holder *op = category > PLM_CATEGORY_BUFFERS ? operator_next(&ops, category) : NULL;
    int used = 0;
    char amount[32];
    for (int rows = 0; op && *op->name && rows < 3; rows++, op = operator_next(&ops, category)) {
        const char *name = plm_report_operator_brief(op->name);
        if (!rows)
            used = fprintf(p->out, "    %s %s:", plm_category_name((enum plm_category)category),
                           plm_page_amount(p, amount, sizeof amount, module->category[category]));
        plm_page_amount(p, amount, sizeof amount, op->category[category]);
        if (rows && used + plm_page_columns(p, name) + (int)strlen(amount) + 3 > p->width)
            break;
        used += plm_page_columns(p, name) + (int)strlen(amount) + 2 + (rows > 0);
        fputs(rows ? ", " : " ", p->out);
        plm_page_name(p, name, p->width / 2, 0);
        fprintf(p->out, " %s", amount);
        op->category[category] = 0;
    }
    if (used)
        fputc('\n', p->out);
    plm_holders_free(&ops);
}

void plm_overview_holders(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane,
                          const struct plm_place *place, const struct plm_report_options *o, int few)
{
    struct plm_holders h = holders_shown(p, job, lane, place->moment, PLM_BY_MODULE, o);
    int width = p->width, amount = plm_page_amount_columns(p), name;
    const size_t most = few ? (size_t)few : HOLDERS, rows = h.count < most ? h.count : most;
    char title[96], when[48];
    int n = snprintf(title, sizeof title, "Memory by module at %s", when_text(o->at, when, sizeof when));
    if (few && h.count > rows)
        snprintf(title + n, sizeof title - (size_t)n, ": the largest of %zu", h.count);
    plm_page_title(p, title);
    name = name_columns(p, &h, rows, PLM_BY_MODULE, width / 2);
    for (size_t i = 0; i < rows; i++) {
        show_amount(p, holder_name(&h.item[i], PLM_BY_MODULE), name, h.item[i].bytes);
        show_shares(p, &h.item[i], width - name - amount - 5);
        fputc('\n', p->out);
        if (!few && h.item[i].bytes >= place->allocated / LARGE)
            module_operators(p, job, lane, place->moment, &h.item[i]);
    }
    if (!few && h.count > rows)
        show_remaining(p, &h, rows, name);
    plm_holders_free(&h);
}

/* ---- the peaks of each step, in as few rows as say it: steps that read alike share one ---- */

struct step_row {
    int first, last; /* steps, from 0 */
    char allocated[32], reserved[32];
};

static void step_row_make(const struct plm_page *p, const struct plm_summary_device *d, int step, struct step_row *row)
{
    row->first = row->last = step;
    plm_page_amount(p, row->allocated, sizeof row->allocated, d->step[step].allocated_peak);
    plm_page_amount(p, row->reserved, sizeof row->reserved, d->step[step].reserved_peak);
}

/* The row that starts with a step. */
static struct step_row step_row_from(const struct plm_page *p, const struct plm_summary_device *d, int step)
{
    struct step_row row, next;
    step_row_make(p, d, step, &row);
    while (row.last + 1 < d->steps) {
        step_row_make(p, d, row.last + 1, &next);
        if (strcmp(row.allocated, next.allocated) || strcmp(row.reserved, next.reserved))
            break;
        row.last++;
    }
    return row;
}

static void step_row_show(const struct plm_page *p, const struct step_row *row)
{
    char steps[32];
    if (row->first == row->last)
        snprintf(steps, sizeof steps, "%d", row->first + 1);
    else
        snprintf(steps, sizeof steps, "%d-%d", row->first + 1, row->last + 1);
    fprintf(p->out, "  %-11s %14s %14s\n", steps, row->allocated, row->reserved);
}

static int largest_step(const struct plm_summary_device *d, int from, int to)
{
    int largest = from;
    for (int i = from; i < to; i++)
        if (d->step[i].allocated_peak > d->step[largest].allocated_peak)
            largest = i;
    return largest;
}

/* The course of many steps in one line. */
static void curve(const struct plm_page *p, const struct plm_summary_device *d)
{
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint64_t top = d->step[largest_step(d, 0, d->steps)].allocated_peak;
    int columns = p->width - 4;
    if (!p->utf8 || d->steps < CURVE_LEAST || !top || columns < CURVE_LEAST)
        return;
    columns = d->steps < columns ? d->steps : columns;
    fputs("  ", p->out);
    for (int i = 0; i < columns; i++) {
        int from = (int)((int64_t)i * d->steps / columns), to = (int)((int64_t)(i + 1) * d->steps / columns);
        double part = (double)d->step[largest_step(d, from, to)].allocated_peak / (double)top;
        fputs(heights[(int)(part * 7.999)], p->out);
    }
    fputc('\n', p->out);
}

static int step_rows(const struct plm_page *p, const struct plm_summary_device *d)
{
    int rows = 0;
    for (int i = 0; i < d->steps && rows <= STEP_ROWS; rows++)
        i = step_row_from(p, d, i).last + 1;
    return rows;
}

void plm_overview_steps(const struct plm_page *p, const struct plm_lane *lane)
{
    const struct plm_summary_device *d = lane->summary;
    struct step_row row;
    if (!d->steps)
        return;
    plm_page_title(p, "Peak of each step");
    if (step_rows(p, d) > STEP_ROWS)
        curve(p, d);
    fprintf(p->out, "  %s%-11s %14s %14s%s\n", plm_ink(p, PLM_INK_DIM), "step", "allocated", "reserved",
            plm_ink(p, PLM_INK_PLAIN));
    if (step_rows(p, d) <= STEP_ROWS) {
        for (int i = 0; i < d->steps; i = row.last + 1) {
            row = step_row_from(p, d, i);
            step_row_show(p, &row);
        }
        return;
    }
    /* The first, the largest and the last ones. */
    const int largest = largest_step(d, 0, d->steps);
    const int wanted[] = {0, 1, 2, largest, d->steps - 3, d->steps - 2, d->steps - 1};
    for (int k = 0, shown = -1; k < (int)(sizeof wanted / sizeof wanted[0]); k++) {
        if (wanted[k] <= shown)
            continue;
        if (wanted[k] > shown + 1)
            fprintf(p->out, "  ...\n");
        step_row_make(p, d, wanted[k], &row);
        step_row_show(p, &row);
        shown = wanted[k];
    }
}

/* ---- whether it fits ---- */

/* What else there is to say of a verdict. */
static void fit_remark(const struct plm_page *p, const struct plm_fit_row *row)
{
    char lacks[32], takes[48];
    if (row->better[0])
        fprintf(p->out, "; %s with %s", plm_verdict_name(row->then.verdict), row->better);
    else if (*plm_takes_text(p, row, takes))
        fprintf(p->out, "; %s", takes);
    else if (row->answer.verdict == PLM_TIGHT && row->answer.retries)
        fputs("; flushes its cache", p->out);
    if (row->lacks)
        fprintf(p->out, "; has no %s", plm_fit_lacks_text(row->lacks, lacks));
    if (row->card->shared_memory)
        fputs("; shares memory with the system", p->out);
}

static void fit_title(const struct plm_page *p, const struct plm_fit_table *fits)
{
    char need[32], minimum[32], title[128];
    int n;
    if (!fits->need.need) {
        plm_page_title(p, fits->known.what == PLM_KNOWN_NOTHING ? "Does it fit? Unknown"
                                                                : "Does it fit? Known only for some cards");
        return;
    }
    n = snprintf(title, sizeof title, "Does it fit? Needs %s", plm_page_amount(p, need, sizeof need, fits->need.need));
    plm_page_amount(p, minimum, sizeof minimum, fits->minimum);
    if (fits->minimum && fits->minimum < fits->need.need - fits->need.need / 50 && /* less is not worth a word */
        strcmp(minimum, need) != 0)
        snprintf(title + n, sizeof title - (size_t)n, "; runs in %s with cache flushes (slower)", minimum);
    plm_page_title(p, title);
}

void plm_overview_fits(const struct plm_page *p, const struct plm_fit_table *fits)
{
    static const enum plm_ink inks[] = {PLM_INK_GREEN, PLM_INK_YELLOW, PLM_INK_RED, PLM_INK_DIM};
    if (!fits->rows)
        return;
    fit_title(p, fits);
    for (size_t i = 0; i < fits->rows; i++) {
        const struct plm_fit_row *row = &fits->row[i];
        show_amount(p, row->card->id, LABEL, row->usable);
        show_bar(p, 0, row->need, row->usable);
        fprintf(p->out, "  %s%s%s", plm_ink(p, inks[row->answer.verdict]), plm_verdict_name(row->answer.verdict),
                plm_ink(p, PLM_INK_PLAIN));
        fit_remark(p, row);
        fputc('\n', p->out);
    }
}

void plm_overview_fits_brief(const struct plm_page *p, const struct plm_fit_table *fits)
{
    static const char *const first[] = {[PLM_FITS] = "fits on ",
                                        [PLM_TIGHT] = "tight on ",
                                        [PLM_NO_FIT] = "does not fit on ",
                                        [PLM_UNKNOWN] = "unknown on "};
    char text[1024], lacks[32];
    size_t used = 0;
    for (size_t verdict = 0; verdict < sizeof first / sizeof first[0]; verdict++) {
        const char *before = first[verdict];
        for (size_t i = 0; i < fits->rows && used < sizeof text; i++) {
            const struct plm_fit_row *row = &fits->row[i];
            if (row->answer.verdict != (enum plm_verdict)verdict)
                continue;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%s%s%s",
                                     used && before == first[verdict] ? "; " : "", before, row->card->id,
                                     row->lacks ? " (no " : "", row->lacks ? plm_fit_lacks_text(row->lacks, lacks) : "",
                                     row->lacks ? ")" : "");
            before = ", ";
        }
    }
    if (!used)
        return;
    text[0] = (char)toupper((unsigned char)text[0]);
    plm_page_sentences(p, "", text);
}

/* ---- --by: everyone who holds memory at a moment, largest first ---- */

/* Lines are told by their file in the working folder. */
static void lines_shorten(struct plm_holders *h)
{
    char name[LINE_BYTES];
    for (size_t i = 0; i < h->count; i++) {
        if (!h->item[i].line)
            continue;
        plm_report_line_name(h->item[i].line, name, sizeof name);
        free(h->item[i].name);
        h->item[i].name = plm_strdup(name);
    }
}

/* In the `columns` that are left of the row; what is longer has a line of its own. */
static void show_code(const struct plm_page *p, const struct plm_job_line *line, int columns)
{
    char code[LINE_BYTES], text[2 * LINE_BYTES];
    bool plain; /* the file itself is no function */
    if (!line || p->width < CODE_LEAST)
        return;
    plm_report_code(line, code, sizeof code);
    plain = *code && !strcmp(line->function, "<module>");
    snprintf(text, sizeof text, "%s%s%s", plain ? "" : line->function, plain || !*code ? "" : ": ", code);
    if (plm_page_columns(p, text) > columns) {
        fputs("\n      ", p->out);
        columns = p->width - 6;
    }
    plm_page_name(p, text, columns, 0);
}

static void holder_show(const struct plm_page *p, enum plm_key by, const struct plm_holder *h, uint64_t whole, int name)
{
    int amount = plm_page_amount_columns(p), left = p->width - name - amount - 21;
    char text[32], percent[16];
    fputs("  ", p->out);
    plm_page_name(p, holder_name(h, by), name, 1);
    fprintf(p->out, " %*s %6s %8u  ", amount, plm_page_amount(p, text, sizeof text, h->bytes),
            share_text(percent, h->bytes, whole), h->blocks);
    if (by == PLM_BY_CATEGORY)
        plm_page_bar(p, plm_page_room(p, p->width - left), 0, h->bytes, whole);
    else if (by == PLM_BY_LINE)
        show_code(p, h->line, left);
    else
        show_shares(p, h, left);
    fputc('\n', p->out);
}

static void listing_heading(const struct plm_page *p, const struct plm_report_options *o, const struct plm_lane *lane,
                            const struct plm_place *place)
{
    char when[48], text[32];
    fprintf(p->out, "\n%s%s allocated at %s, by %s%s   (rank %d, device %d)\n", plm_ink(p, PLM_INK_BOLD),
            plm_page_amount(p, text, sizeof text, place->allocated), when_text(o->at, when, sizeof when),
            plm_key_name(o->by), plm_ink(p, PLM_INK_PLAIN), lane->summary->rank, lane->summary->device);
}

/* The answer in a line, before all that belongs to it. */
static void listing_answer(const struct plm_page *p, enum plm_key by, const struct plm_holders *h, uint64_t whole)
{
    char text[32], percent[16];
    int used;
    if (!h->count)
        return;
    used = fprintf(p->out, "  most: %s, %s of it, ", plm_page_amount(p, text, sizeof text, h->item[0].bytes),
                   share_text(percent, h->item[0].bytes, whole));
    plm_page_name(p, holder_name(&h->item[0], by), p->width - used, 0);
    fputc('\n', p->out);
}

void plm_listing(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane,
                 const struct plm_report_options *o)
{
    struct plm_place place = plm_place_at(job, lane, o->at);
    const enum plm_key by = o->by;
    /* Stacks are long; their line may do without the categories. */
    int most = by == PLM_BY_STACK ? p->width - plm_page_amount_columns(p) - 21 : p->width * 2 / 5, name;
    struct plm_holders h = {0};
    size_t rows;
    listing_heading(p, o, lane, &place);
    if (place.known && job->attributed)
        h = holders_shown(p, job, lane, place.moment, by, o);
    lines_shorten(&h);
    listing_answer(p, by, &h, place.allocated);
    show_where(p, &place);
    if (!job->attributed) {
        fputs("\nThis record has no memory categories.\n", p->out);
        return;
    }
    rows = h.count > LISTED ? LISTED : h.count;
    name = name_columns(p, &h, rows, by, most < 12 ? 12 : most);
    fprintf(p->out, "\n  %s%-*s %*s  share   blocks%s\n", plm_ink(p, PLM_INK_DIM), name, plm_key_name(by),
            plm_page_amount_columns(p), "size", plm_ink(p, PLM_INK_PLAIN));
    for (size_t i = 0; i < rows; i++)
        holder_show(p, by, &h.item[i], place.allocated, name);
    if (rows < h.count)
        fprintf(p->out, "  ... %zu more; --json has them all\n", h.count - rows);
    plm_holders_free(&h);
}
