/* Did it grow, and what did? Changes are added up by category and by the container that layers are in. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/names.h"
#include "base/units.h"
#include "report/diff.h"

const char *plm_change_amount(const struct plm_change *c, bool bytes, char *buffer, size_t size)
{
    const char *sign = c->after > c->before ? "+" : c->after < c->before ? "-" : "";
    char text[32];
    if (bytes)
        snprintf(buffer, size, "%s%llu", sign, (unsigned long long)plm_change_size(c));
    else
        snprintf(buffer, size, "%s%s", sign, plm_size_text(text, sizeof text, plm_change_size(c)));
    return buffer;
}

const char *plm_change_percent(const struct plm_change *c, char *buffer, size_t size)
{
    const double percent = c->before ? 100 * ((double)c->after - (double)c->before) / (double)c->before : 0;
    if (c->before == c->after)
        snprintf(buffer, size, "same");
    else if (!c->before || !c->after)
        snprintf(buffer, size, c->after ? "new" : "gone");
    else if (percent > 999.4)
        snprintf(buffer, size, "%.4g x", (double)c->after / (double)c->before);
    else
        snprintf(buffer, size, fabs(percent) < 9.95 ? "%+.1f %%" : "%+.0f %%", percent);
    return buffer;
}

/* ---- what grew ---- */

/* Changes of one category in a container, "blocks.*", or in a module that is in none. */
struct part {
    uint64_t before, after;
    const char *module; /* the one that changed */
    bool several;
};

struct parts {
    struct plm_names stems; /* number 0 is nobody's; part [i][category] has stem i */
    struct part (*part)[PLM_CATEGORIES];
    size_t room;
};

/* "blocks.*" of "blocks.3.mlp.0": up to the first number. One more character in front, as number 0 of names is "". */
static void stem_of(const char *module, char *out, size_t size)
{
    const char *at = module;
    while (*at) {
        const size_t n = strcspn(at, ".");
        if (n && strspn(at, "0123456789") == n) {
            snprintf(out, size, " %.*s*", (int)(at - module), module);
            return;
        }
        at += n + (at[n] == '.');
    }
    snprintf(out, size, " %s", module);
}

static void parts_add(struct parts *parts, const struct plm_change *change, const char *module, size_t category)
{
    char stem[2048];
    size_t number;
    struct part *part;
    stem_of(module, stem, sizeof stem);
    number = plm_names_add(&parts->stems, stem);
    while (parts->room <= number) {
        const size_t had = parts->room;
        parts->part = plm_grow(parts->part, had, &parts->room, sizeof *parts->part);
        memset(parts->part + had, 0, (parts->room - had) * sizeof *parts->part);
    }
    part = &parts->part[number][category];
    part->before += change->before;
    part->after += change->after;
    part->several |= part->module != NULL;
    part->module = module;
}

/* Both lists are in the order of their names. */
static void parts_fill(struct parts *parts, const struct plm_diff_lane *d)
{
    const struct plm_holders *a = &d->holders[0], *b = &d->holders[1];
    size_t i = 0, k = 0;
    while (i < a->count || k < b->count) {
        const int order = i == a->count ? 1 : k == b->count ? -1 : strcmp(a->item[i].name, b->item[k].name);
        for (size_t c = 0; c < PLM_CATEGORIES; c++) {
            const struct plm_change change = {"", order <= 0 ? a->item[i].category[c] : 0,
                                              order >= 0 ? b->item[k].category[c] : 0};
            if (change.before != change.after)
                parts_add(parts, &change, order <= 0 ? a->item[i].name : b->item[k].name, c);
        }
        i += order <= 0;
        k += order >= 0;
    }
}

/* Is it the largest so far, in the direction of the whole? */
static bool cause_better(const struct plm_diff_growth *g, uint64_t before, uint64_t after)
{
    const bool grew = g->used.after > g->used.before;
    return before != after && (after > before) == grew &&
           plm_change_size(&(struct plm_change){"", before, after}) > plm_change_size(&g->by);
}

static void cause_set(struct plm_diff_growth *g, const struct part *part, const char *stem, size_t category)
{
    const char *module = part->several ? stem : part->module;
    if (!cause_better(g, part->before, part->after))
        return;
    g->by = (struct plm_change){"", part->before, part->after};
    snprintf(g->cause, sizeof g->cause, "%s%s%.120s", plm_category_name((enum plm_category)category),
             *module ? " of " : " outside any module", module);
}

static void growth_explain(struct plm_diff_growth *g)
{
    struct parts parts = {0};
    if (!g->lane->categories || g->used.before == g->used.after)
        return;
    parts_fill(&parts, g->lane);
    for (size_t i = 1; i < parts.stems.count; i++)
        for (size_t c = 0; c < PLM_CATEGORIES; c++)
            cause_set(g, &parts.part[i][c], parts.stems.text[i] + 1, c);
    for (size_t i = 0; i < g->lane->categories; i++) {
        const struct plm_change *free_in = &g->lane->category[i];
        if (strcmp(free_in->name, "free_in_segments") || !cause_better(g, free_in->before, free_in->after))
            continue;
        g->by = *free_in;
        snprintf(g->cause, sizeof g->cause, "cached but unused memory");
    }
    free(parts.part);
    plm_names_free(&parts.stems);
}

struct plm_diff_growth plm_diff_growth(const struct plm_diff *diff)
{
    struct plm_diff_growth g = {.lane = &diff->lane[0]};
    for (size_t i = 0; i < diff->lanes; i++) {
        const struct plm_change *used = &diff->lane[i].rung[PLM_RUNG_USED];
        g.used.before = used->before > g.used.before ? used->before : g.used.before;
        if (used->after <= g.used.after)
            continue;
        g.used.after = used->after;
        g.lane = &diff->lane[i];
    }
    g.used.name = "device_used";
    growth_explain(&g);
    return g;
}

const char *plm_diff_growth_text(const struct plm_diff_growth *g, bool bytes, char *buffer, size_t size)
{
    char amount[40], percent[24], by[40];
    int used;
    if (g->used.before == g->used.after) {
        const struct plm_change whole = {"", 0, g->used.after};
        snprintf(buffer, size, "Same peak: %s device used",
                 plm_change_amount(&whole, bytes, amount, sizeof amount) + 1);
        return buffer;
    }
    used = snprintf(buffer, size, "%s (%s) at the peak", plm_change_amount(&g->used, bytes, amount, sizeof amount),
                    plm_change_percent(&g->used, percent, sizeof percent));
    if (*g->cause && used > 0 && (size_t)used < size)
        snprintf(buffer + used, size - (size_t)used, ": %s %s", g->cause,
                 plm_change_amount(&g->by, bytes, by, sizeof by));
    return buffer;
}
