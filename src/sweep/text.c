#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/draw.h"
#include "base/units.h"
#include "sweep/sweep.h"

enum { NAME_MOST = 16, CELL = 11, ANSWERED = 8 };

static const char *dot(const struct plm_page *p)
{
    return p->utf8 ? " · " : ", ";
}

static const char *value_name(const struct plm_sweep *s, size_t parameter)
{
    return s->parameters.item[parameter].name;
}

/* "batch 64, opt adam" */
static const char *point_name(const struct plm_sweep *s, const struct plm_sweep_point *point, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < s->parameters.count && n < size; i++)
        if (s->parameters.item[i].values > 1 || s->parameters.count == 1)
            n += (size_t)snprintf(out + n, size - n, "%s%.40s %.40s", n ? ", " : "", value_name(s, i), point->value[i]);
    return out;
}

/* ---- the answer ---- */

static void largest_put(const struct plm_sweep *s, size_t card, int along, char *out, size_t size)
{
    const struct plm_sweep_largest l = plm_sweep_largest_on(s, card);
    const char *more = !l.fits ? "" : !l.fails ? " or more" : l.settled ? "" : " (not settled)";
    snprintf(out, size, "%.40s %.40s%s", s->card[card].id, l.fits ? l.fits->value[along] : "none", more);
}

static void answer_largest(const struct plm_page *p, const struct plm_sweep *s, int along)
{
    char text[900], one[128];
    size_t n = 0, settled = 0;
    for (size_t i = 0; i < s->cards; i++)
        settled += plm_sweep_largest_on(s, i).settled;
    if (s->cards > ANSWERED)
        n = (size_t)snprintf(text, sizeof text, "on %zu of %zu cards found to the %s, see below", settled, s->cards,
                             s->largest >= 0 ? "unit" : "next value");
    for (size_t i = 0; i < s->cards && s->cards <= ANSWERED && n + sizeof one < sizeof text; i++) {
        largest_put(s, i, along, one, sizeof one);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? dot(p) : "", one);
    }
    plm_page_say(p, "Largest %.60s that fits%s: %s", value_name(s, (size_t)along), s->allow_tight ? " or is tight" : "",
                 text);
}

static void answer_counts(const struct plm_page *p, const struct plm_sweep *s)
{
    char text[900] = "";
    size_t n = 0;
    for (size_t i = 0; i < s->cards && n + 128 < sizeof text; i++) {
        size_t fits = 0;
        for (size_t k = 0; k < s->points; k++)
            fits += s->point[k].state == PLM_SWEEP_DONE && plm_sweep_fits(s, &s->point[k].cell[i]);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.40s %zu", i ? dot(p) : "", s->card[i].id, fits);
    }
    plm_page_say(p, "Of %zu combinations fit: %s", s->points, text);
}

/* Of a slope, which a file may give any size. */
static const char *slope_text(char *out, size_t size, double bytes)
{
    return plm_size_text(out, size, (uint64_t)(bytes > 0 ? fmin(bytes, 1e18) : 0));
}

static void growth_show(const struct plm_page *p, const struct plm_sweep *s, int along)
{
    const struct plm_sweep_growth g = plm_sweep_grows(s);
    char each[32], fixed[32], above[32];
    const char *name = value_name(s, (size_t)along);
    if (!g.known)
        return;
    slope_text(fixed, sizeof fixed, g.fixed);
    if (g.linear) {
        slope_text(each, sizeof each, g.each);
        plm_page_say(p, "Memory (allocated): %s + %s for each unit of %.60s, within %.1f %%.", fixed, each, name,
                     100 * g.off);
        return;
    }
    slope_text(each, sizeof each, g.below);
    slope_text(above, sizeof above, g.above);
    if (g.bend)
        plm_page_say(p,
                     "Memory (allocated) is not linear: for each unit of %.60s %s up to %" PRIu64
                     ", %s above (a line is off by up to %.0f %%, at %" PRIu64 ").",
                     name, each, g.bend, above, 100 * g.off, g.off_at);
    else
        plm_page_say(p, "Memory (allocated) is not linear in %.60s: a line is off by up to %.0f %%.", name,
                     100 * g.off);
}

/* ---- values x cards ---- */

static int column_of(const struct plm_page *p, const struct plm_sweep *s, size_t parameter)
{
    int width = plm_page_columns(p, value_name(s, parameter));
    for (size_t i = 0; i < s->points; i++) {
        const int w = plm_page_columns(p, s->point[i].value[parameter]);
        width = w > width ? w : width;
    }
    return width > NAME_MOST ? NAME_MOST : width;
}

static enum plm_ink ink_of(enum plm_verdict verdict)
{
    return verdict == PLM_FITS ? PLM_INK_GREEN : verdict == PLM_TIGHT ? PLM_INK_YELLOW : PLM_INK_RED;
}

static void cell_show(const struct plm_page *p, const struct plm_sweep_cell *cell, uint64_t usable)
{
    const double gib = ((double)usable - (double)cell->need) / (1ull << 30);
    char text[32];
    snprintf(text, sizeof text, "%s %.*f", plm_verdict_name(cell->verdict), fabs(gib) < 99.95, gib);
    fprintf(p->out, "%s%*s%s", plm_ink(p, ink_of(cell->verdict)), CELL, text, plm_ink(p, PLM_INK_PLAIN));
}

static void matrix_head(const struct plm_page *p, const struct plm_sweep *s)
{
    fprintf(p->out, "\n%s ", plm_ink(p, PLM_INK_DIM));
    for (size_t i = 0; i < s->parameters.count; i++) {
        fputc(' ', p->out);
        plm_page_name(p, value_name(s, i), column_of(p, s, i), true);
    }
    fprintf(p->out, " %*s", plm_page_amount_columns(p), "allocated");
    for (size_t i = 0; i < s->cards; i++) {
        const int width = plm_page_columns(p, s->card[i].id);
        fprintf(p->out, "%*s", width < CELL ? CELL - width : 1, "");
        plm_page_name(p, s->card[i].id, CELL - 1 < width ? CELL - 1 : width, false);
    }
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
}

static void matrix_row(const struct plm_page *p, const struct plm_sweep *s, const struct plm_sweep_point *point)
{
    char amount[32];
    fputc(' ', p->out);
    for (size_t i = 0; i < s->parameters.count; i++) {
        fputc(' ', p->out);
        plm_page_name(p, point->value[i], column_of(p, s, i), true);
    }
    if (point->state != PLM_SWEEP_DONE) {
        fprintf(p->out, " %s\n", point->state == PLM_SWEEP_FAILED ? "failed" : "not run");
        return;
    }
    fprintf(p->out, " %*s", plm_page_amount_columns(p), plm_page_amount(p, amount, sizeof amount, point->allocated));
    for (size_t i = 0; i < s->cards; i++)
        cell_show(p, &point->cell[i], s->card[i].usable);
    fputc('\n', p->out);
}

static void matrix_show(const struct plm_page *p, const struct plm_sweep *s)
{
    int taken = 2 + plm_page_amount_columns(p) + CELL * (int)s->cards;
    for (size_t i = 0; i < s->parameters.count; i++)
        taken += 1 + column_of(p, s, i);
    if (taken > (p->width > 80 ? p->width : 80)) {
        plm_page_say(p, "--csv=FILE has each of the %zu runs on each of the %zu cards.", s->points, s->cards);
        return;
    }
    matrix_head(p, s);
    for (size_t i = 0; i < s->points; i++)
        matrix_row(p, s, &s->point[i]);
    fputs("  (GiB left of what is usable, or missing)\n", p->out);
}

/* ---- cards ---- */

/* The point that a card is told with: the largest value that fits, or the fastest combination. */
static const struct plm_sweep_point *best_of(const struct plm_sweep *s, size_t card)
{
    const struct plm_sweep_point *best = NULL;
    if (plm_sweep_along(s) >= 0)
        return plm_sweep_largest_on(s, card).fits;
    for (size_t i = 0; i < s->points; i++)
        if (s->point[i].state == PLM_SWEEP_DONE && plm_sweep_fits(s, &s->point[i].cell[card]) &&
            (!best || s->point[i].cell[card].samples > best->cell[card].samples))
            best = &s->point[i];
    return best;
}

static bool is_priced(const struct plm_sweep *s)
{
    for (size_t i = 0; i < s->cards; i++)
        if (s->card[i].price > 0)
            return true;
    return false;
}

static void next_put(const struct plm_sweep *s, size_t card, int along, char *out, size_t size)
{
    const struct plm_sweep_largest l = plm_sweep_largest_on(s, card);
    snprintf(out, size, "%s", l.fails ? l.fails->value[along] : "-");
}

static void rate_show(const struct plm_page *p, double rate)
{
    if (rate >= 1e8)
        fprintf(p->out, " %9.3g", rate);
    else if (rate > 0)
        fprintf(p->out, " %9.*f", rate < 100 ? 1 : 0, rate);
    else
        fprintf(p->out, " %9s", "-");
}

static void speed_show(const struct plm_page *p, const struct plm_sweep *s, const struct plm_sweep_point *best,
                       size_t i)
{
    const struct plm_sweep_cell *cell = &best->cell[i];
    char step[32];
    const double dollar = plm_sweep_per_dollar(&s->card[i], best, i);
    fprintf(p->out, " %9s", cell->step > 0 ? plm_duration_text(step, sizeof step, cell->step * 1e9) : "-");
    rate_show(p, cell->samples);
    if (is_priced(s))
        rate_show(p, dollar);
}

static void card_row(const struct plm_page *p, const struct plm_sweep *s, size_t i, int along, int name)
{
    const struct plm_sweep_point *best = best_of(s, i);
    char next[PLM_SWEEP_TEXT] = "", need[32], left[32];
    fputs("  ", p->out);
    plm_page_name(p, s->card[i].id, name, true);
    if (along >= 0) {
        next_put(s, i, along, next, sizeof next);
        fprintf(p->out, " %7.7s %7.7s", best ? best->value[along] : "none", next);
    }
    if (best) {
        const uint64_t used = best->cell[i].need, usable = s->card[i].usable;
        fprintf(p->out, " %*s %*s", plm_page_amount_columns(p), plm_page_amount(p, need, sizeof need, used),
                plm_page_amount_columns(p), plm_page_amount(p, left, sizeof left, usable > used ? usable - used : 0));
        speed_show(p, s, best, i);
        if (along < 0) {
            char text[200];
            fputs("  ", p->out);
            plm_page_name(p, point_name(s, best, text, sizeof text), 0, false);
        }
    }
    fputc('\n', p->out);
}

static void cards_show(const struct plm_page *p, const struct plm_sweep *s, int along)
{
    const bool priced = is_priced(s);
    const int name = priced ? 10 : 16;
    fprintf(p->out, "\n%s  %-*s", plm_ink(p, PLM_INK_DIM), name, "card");
    if (along >= 0)
        fprintf(p->out, " %7s %7s", "largest", "not");
    fprintf(p->out, " %*s %*s %9s %9s%s%s%s\n", plm_page_amount_columns(p), "need", plm_page_amount_columns(p), "left",
            "step", "samples/s", priced ? " samples/$" : "", along < 0 ? "  fastest that fits" : "",
            plm_ink(p, PLM_INK_PLAIN));
    for (size_t i = 0; i < s->cards; i++)
        card_row(p, s, i, along, name);
}

/* What the runs leave open, by the line. */
static void estimates_show(const struct plm_page *p, const struct plm_sweep *s, int along)
{
    char text[600];
    size_t n = 0;
    for (size_t i = 0; i < s->cards && s->cards <= ANSWERED && n + 80 < sizeof text; i++) {
        const struct plm_sweep_largest l = plm_sweep_largest_on(s, i);
        if (l.estimate && l.fits && l.fails)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%.40s about %" PRIu64, n ? dot(p) : "", s->card[i].id,
                                  l.estimate);
    }
    if (n)
        plm_page_say(p, "Between these values nothing was run; by the line: %s (--largest %.60s finds them).", text,
                     value_name(s, (size_t)along));
}

static void failures_show(const struct plm_page *p, const struct plm_sweep *s)
{
    char name[200];
    for (size_t i = 0; i < s->points; i++)
        if (s->point[i].state == PLM_SWEEP_FAILED)
            plm_page_say(p, "%s failed: %s", point_name(s, &s->point[i], name, sizeof name), s->point[i].why);
}

static void runs_show(const struct plm_page *p, const struct plm_sweep *s)
{
    size_t forked = 0;
    const size_t done = s->points - plm_sweep_count(s, PLM_SWEEP_WAITS);
    for (size_t i = 0; i < s->points; i++)
        forked += s->point[i].forked;
    if (forked == done)
        plm_page_say(p, "%zu runs on %.60s, forked from Pythons that had imported PyTorch.", done, s->simulated);
    else if (s->cold[0])
        plm_page_say(p, "%zu runs on %.60s, %zu started anew: %.120s.", done, s->simulated, done - forked, s->cold);
    else
        plm_page_say(p, "%zu runs on %.60s.", done, s->simulated);
}

static void answer_show(const struct plm_page *p, const struct plm_sweep *s)
{
    const int along = plm_sweep_along(s);
    if (along >= 0) {
        answer_largest(p, s, along);
        growth_show(p, s, along);
    } else
        answer_counts(p, s);
    cards_show(p, s, along);
    matrix_show(p, s);
    if (along >= 0)
        estimates_show(p, s, along);
}

void plm_sweep_text(const struct plm_page *p, const struct plm_sweep *s)
{
    if (plm_sweep_count(s, PLM_SWEEP_DONE))
        answer_show(p, s);
    else
        plm_page_say(p, "UNKNOWN: no run has ended well, so nothing can be said of any card.");
    failures_show(p, s);
    runs_show(p, s);
}
