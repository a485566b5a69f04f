#include "report/overview.h"

#include <stdlib.h>
#include <string.h>

#include "fit/ladder.h"
#include "base/units.h"
#include "base/card.h"
#include "fit/conv_range.h"
#include "fit/fit.h"

enum { HOLDERS = 10, DEVICES = 16, LABEL = 20 };

const char *plm_overview_when(struct plm_at at, char *buffer, size_t size)
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
    plm_page_name(p, *c->outer ? c->outer : c->inner, half, 0);
    if (!*c->outer || !*c->inner || !strcmp(c->outer, c->inner))
        return;
    fputs(" > ", p->out);
    plm_page_name(p, c->inner, half, 0);
}

void plm_overview_where(const struct plm_page *p, const struct plm_place *place)
{
    const struct plm_site *c = place->context;
    if (!place->step && !c)
        return;
    fputs("  in ", p->out);
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

void plm_overview_peak(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane)
{
    const char *gpu = plm_summary_config(&job->summary, "gpu");
    const struct plm_device_summary *d = lane->summary;
    struct plm_place peak = plm_place_at(job, lane, (struct plm_at){PLM_AT_PEAK, 0});
    char a[32], r[32];
    fprintf(p->out, "\n%sPeak: %s allocated, %s reserved%s   (rank %d, device %d, ", plm_ink(p, PLM_INK_BOLD),
            plm_page_amount(p, a, sizeof a, d->allocated_peak), plm_page_amount(p, r, sizeof r, d->reserved_peak),
            plm_ink(p, PLM_INK_PLAIN), d->rank, d->device);
    plm_page_name(p, gpu ? gpu : "?", 0, 0);
    fputs(")\n", p->out);
    plm_overview_where(p, &peak);
}

/* A label, an amount and a bar; 10 columns are left for a remark. */
static void show_line(const struct plm_page *p, const char *label, uint64_t from, uint64_t bytes, uint64_t whole)
{
    int amount = plm_page_amount_columns(p);
    char text[32];
    fputs("  ", p->out);
    plm_page_name(p, label, LABEL, 1);
    fprintf(p->out, " %*s  ", amount, plm_page_amount(p, text, sizeof text, bytes));
    plm_page_bar(p, plm_page_room(p, LABEL + amount + 15), from, from + bytes, whole);
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
    const struct plm_context_memory c = plm_context_memory(&job->summary, lane->summary, NULL);
    const struct plm_conv_range workspaces = plm_conv_range(job, lane);
    char low[32], high[32];
    size_t used =
        (size_t)snprintf(out, size, "as the context takes %s to %s", plm_page_amount(p, low, sizeof low, c.low),
                         plm_page_amount(p, high, sizeof high, c.high));
    for (int i = 0; i < l->lines; i++) {
        const struct plm_line *line = &l->line[i];
        if (strcmp(line->group, "libraries") != 0 || 5 * (line->high - line->low) < l->high - l->low || used >= size)
            continue;
        used += (size_t)snprintf(out + used, size - used, ", %s %s to %s", line->name,
                                 plm_page_amount(p, low, sizeof low, line->low),
                                 plm_page_amount(p, high, sizeof high, line->high));
    }
    if (lane->summary->other_end && used < size)
        snprintf(out + used, size - used, " and values that were read decide sizes");
    else if ((workspaces.low || workspaces.high) && used < size)
        snprintf(out + used, size - used, " and workspaces of convolutions are estimated");
}

void plm_overview_ladder(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane)
{
    struct plm_ladder l = plm_ladder(job, lane);
    uint64_t at = l.device_used - l.context;
    char low[32], high[32], why[320], text[400];
    fputc('\n', p->out);
    show_rung(p, "tensors (allocated)", 0, l.allocated, l.device_used, "measured");
    show_rung(p, "reserved by PyTorch", 0, l.reserved, l.device_used, "measured");
    if (l.libraries)
        show_rung(p, "+ libraries", l.reserved, l.libraries, l.device_used, "modelled");
    show_parts(p, &l, "libraries", l.reserved, 1);
    if (l.other)
        show_rung(p, "+ other allocations", l.reserved + l.libraries, l.other, l.device_used, "measured");
    show_rung(p, "+ context", at, l.context, l.device_used, group_kind(&l, "context"));
    show_parts(p, &l, "context", at, 2);
    show_rung(p, "= device used", 0, l.device_used, l.device_used, "in all");
    explain_range(p, job, lane, &l, why, sizeof why);
    snprintf(text, sizeof text, "between %s and %s, %s", plm_page_amount(p, low, sizeof low, l.low),
             plm_page_amount(p, high, sizeof high, l.high), why);
    plm_page_sentences(p, "    ", text);
}

static void share(const struct plm_page *p, const char *label, uint64_t bytes, uint64_t whole)
{
    double percent = whole ? 100 * (double)bytes / (double)whole : 0;
    if (!bytes)
        return;
    show_line(p, label, 0, bytes, whole);
    if (percent < 0.5)
        fputs("   <1 %\n", p->out);
    else
        fprintf(p->out, "  %3.0f %%\n", percent);
}

void plm_overview_categories(const struct plm_page *p, const struct plm_place *place, struct plm_at at)
{
    uint64_t whole = place->allocated + plm_place_free(place);
    bool shown[PLM_CATEGORIES] = {false};
    char title[96], when[48];
    snprintf(title, sizeof title, "What it is for, at %s", plm_overview_when(at, when, sizeof when));
    plm_page_title(p, title);
    for (int n = 0; n < PLM_CATEGORIES; n++) {
        int largest = -1;
        for (int i = 0; i < PLM_CATEGORIES; i++)
            if (!shown[i] && (largest < 0 || place->category[i] > place->category[largest]))
                largest = i;
        shown[largest] = true;
        share(p, plm_category_name((enum plm_category)largest), place->category[largest], whole);
    }
    if (200 * place->casts >= whole) /* every program converts a few values */
        share(p, "  of it cast copies", place->casts, whole);
    share(p, "  of it CUDA graphs", place->captured, whole);
    share(p, "free in segments", plm_place_free(place), whole);
}

void plm_overview_shares(const struct plm_page *p, const struct plm_holder *h, int columns)
{
    bool shown[PLM_CATEGORIES] = {false};
    int used = 0;
    for (int n = 0; n < PLM_CATEGORIES; n++) {
        int largest = -1, length;
        char text[48];
        for (int i = 0; i < PLM_CATEGORIES; i++)
            if (!shown[i] && h->category[i] && (largest < 0 || h->category[i] > h->category[largest]))
                largest = i;
        if (largest < 0 || 200 * h->category[largest] < h->bytes)
            return;
        shown[largest] = true;
        length =
            snprintf(text, sizeof text, "%s%s %.0f %%", n ? ", " : "", plm_category_name((enum plm_category)largest),
                     100 * (double)h->category[largest] / (double)h->bytes);
        if (used + length > columns)
            return;
        used += length;
        fputs(text, p->out);
    }
}

const char *plm_overview_holder_name(const struct plm_holder *h, enum plm_key by)
{
    return *h->name ? h->name : by == PLM_BY_OP ? "(outside any operator)" : "(outside any module)";
}

int plm_overview_name_columns(const struct plm_page *p, const struct plm_holders *h, size_t rows, enum plm_key by,
                              int most)
{
    int columns = LABEL;
    for (size_t i = 0; i < rows; i++) {
        int wanted = plm_page_columns(p, plm_overview_holder_name(&h->item[i], by));
        columns = wanted > columns ? wanted : columns;
    }
    return columns < most ? columns : most;
}

static void show_remaining(const struct plm_page *p, const struct plm_holders *h, int name)
{
    char text[32], label[32];
    uint64_t rest = 0;
    for (size_t i = HOLDERS; i < h->count; i++)
        rest += h->item[i].bytes;
    snprintf(label, sizeof label, "%zu more", h->count - HOLDERS);
    fprintf(p->out, "  %s%-*s %*s%s\n", plm_ink(p, PLM_INK_DIM), name, label, plm_page_amount_columns(p),
            plm_page_amount(p, text, sizeof text, rest), plm_ink(p, PLM_INK_PLAIN));
}

void plm_overview_holders(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane,
                          const struct plm_place *place, struct plm_at at)
{
    struct plm_holders h = plm_holders_at(job, lane, place->moment, PLM_BY_MODULE);
    int width = p->width, amount = plm_page_amount_columns(p), name;
    size_t rows = h.count < HOLDERS ? h.count : HOLDERS;
    char text[32], title[96], when[48];
    snprintf(title, sizeof title, "Who holds it, at %s", plm_overview_when(at, when, sizeof when));
    plm_page_title(p, title);
    name = plm_overview_name_columns(p, &h, rows, PLM_BY_MODULE, width / 2);
    for (size_t i = 0; i < rows; i++) {
        fputs("  ", p->out);
        plm_page_name(p, plm_overview_holder_name(&h.item[i], PLM_BY_MODULE), name, 1);
        fprintf(p->out, " %*s  ", amount, plm_page_amount(p, text, sizeof text, h.item[i].bytes));
        plm_overview_shares(p, &h.item[i], width - name - amount - 5);
        fputc('\n', p->out);
    }
    if (h.count > rows)
        show_remaining(p, &h, name);
    plm_holders_free(&h);
}

void plm_overview_devices(const struct plm_page *p, const struct plm_job *job)
{
    char a[32], r[32], u[32];
    if (job->lanes < 2)
        return;
    plm_page_title(p, "All devices");
    fprintf(p->out, "  %s%5s %7s %13s %13s %13s%s\n", plm_ink(p, PLM_INK_DIM), "rank", "device", "allocated",
            "reserved", "device used", plm_ink(p, PLM_INK_PLAIN));
    for (size_t i = 0; i < job->lanes && i < DEVICES; i++) {
        const struct plm_device_summary *d = job->lane[i].summary;
        struct plm_ladder l = plm_ladder(job, &job->lane[i]);
        fprintf(p->out, "  %5d %7d %13s %13s %13s\n", d->rank, d->device, plm_page_amount(p, a, sizeof a, l.allocated),
                plm_page_amount(p, r, sizeof r, l.reserved), plm_page_amount(p, u, sizeof u, l.device_used));
    }
    if (job->lanes > DEVICES)
        fprintf(p->out, "  ... %zu more\n", job->lanes - DEVICES);
}

/* What else there is to say of a verdict. */
static void fit_remark(const struct plm_page *p, const struct plm_fit_row *row)
{
    if (row->better[0])
        fprintf(p->out, "; %s with %s", plm_verdict_name(row->then.verdict), row->better);
    else if (row->answer.verdict == PLM_TIGHT && row->answer.retries)
        fputs("; flushes its cache", p->out);
}

static void fit_title(const struct plm_page *p, const struct plm_fit_table *fits)
{
    char need[32], minimum[32], title[128];
    int n = snprintf(title, sizeof title, "Does it fit? It needs %s of what is usable",
                     plm_page_amount(p, need, sizeof need, fits->need.need));
    if (fits->minimum && fits->minimum < fits->need.need - fits->need.need / 50) /* less is not worth a word */
        snprintf(title + n, sizeof title - (size_t)n, ", and can do with %s",
                 plm_page_amount(p, minimum, sizeof minimum, fits->minimum));
    plm_page_title(p, title);
}

void plm_overview_fits(const struct plm_page *p, const struct plm_job *job, const struct plm_report_options *options)
{
    static const enum plm_ink inks[] = {PLM_INK_GREEN, PLM_INK_YELLOW, PLM_INK_RED};
    int amount = plm_page_amount_columns(p);
    struct plm_fit_table fits;
    char usable[32];
    if (!options->cards)
        return;
    fits = plm_fit_report(job, options->card, (size_t)options->cards);
    fit_title(p, &fits);
    for (size_t i = 0; i < fits.rows; i++) {
        const struct plm_fit_row *row = &fits.row[i];
        fputs("  ", p->out);
        plm_page_name(p, row->card->id, LABEL, 1);
        fprintf(p->out, " %*s  ", amount, plm_page_amount(p, usable, sizeof usable, row->usable));
        plm_page_bar(p, plm_page_room(p, LABEL + amount + 15), 0, row->need, row->usable);
        fprintf(p->out, "  %s%s%s", plm_ink(p, inks[row->answer.verdict]), plm_verdict_name(row->answer.verdict),
                plm_ink(p, PLM_INK_PLAIN));
        fit_remark(p, row);
        fputc('\n', p->out);
    }
    plm_fit_table_free(&fits);
}
