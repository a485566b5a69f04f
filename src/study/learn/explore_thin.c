/* Where a table of runs has few rows, in sentences: classes, words, and stretches of an axis. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/csv.h"
#include "base/units.h"
#include "study/learn/explore.h"

enum { FEW = 10, PER_CENT = 100, LISTED = 6, SENTENCES = 30, LONGEST = 480 };
static const double STRETCH = 0.25; /* of an axis: what is worth a sentence if no more than 1 % of the rows lie there */

/* A list that is being written: "a (3), b (7) and 4 more". */
struct list {
    char text[LONGEST];
    size_t length, items;
};

__attribute__((format(printf, 2, 3))) static void sentence_add(struct plm_explore *e, const char *format, ...)
{
    char text[2 * LONGEST];
    va_list arguments;
    if (e->thins == SENTENCES)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    e->thin = plm_realloc(e->thin, e->thins + 1, sizeof *e->thin);
    e->thin[e->thins++] = plm_strdup(text);
}

__attribute__((format(printf, 2, 3))) static void list_add(struct list *list, const char *format, ...)
{
    va_list arguments;
    if (list->items++ >= LISTED)
        return;
    va_start(arguments, format);
    list->length += (size_t)snprintf(list->text + list->length, sizeof list->text - list->length, "%s",
                                     list->items > 1 ? ", " : "");
    list->length += (size_t)vsnprintf(list->text + list->length, sizeof list->text - list->length, format, arguments);
    if (list->length >= sizeof list->text)
        list->length = sizeof list->text - 1;
    va_end(arguments);
}

static const char *list_end(struct list *list)
{
    if (list->items > LISTED)
        snprintf(list->text + list->length, sizeof list->text - list->length, " and %zu more", list->items - LISTED);
    return list->text;
}

static bool is_few(size_t rows, size_t all)
{
    return rows < FEW || rows * PER_CENT < all;
}

static const char *rows_text(size_t rows, char *buffer, size_t size)
{
    char count[32];
    snprintf(buffer, size, "%s row%s", plm_count_text(count, sizeof count, rows), rows == 1 ? "" : "s");
    return buffer;
}

/* "1.23 M": three digits, as axes of the page have them. */
static const char *number_text(double value, char *buffer, size_t size)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    size_t unit = 0;
    double shown = value;
    for (; fabs(shown) >= 999.5 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        shown /= 1000;
    snprintf(buffer, size, "%.3g%s", shown, units[unit]);
    return buffer;
}

/* ---- classes ---- */

static void classes_thin(struct plm_explore *e)
{
    const size_t all = e->table->rows - e->unclassed;
    struct list few = {0}, none = {0};
    char text[64];
    for (size_t i = 0; i < e->classes; i++) {
        const uint32_t bin = (uint32_t)e->settings.bin, number = e->class[i].number;
        if (i && e->class[i - 1].number + 1 < number)
            list_add(&none, "from %u to %u GB", (e->class[i - 1].number + 1) * bin, number * bin);
        if (is_few(e->class[i].rows, all))
            list_add(&few, "%s (%zu)", plm_explore_class_text(e, i, text, sizeof text), e->class[i].rows);
    }
    if (few.items)
        sentence_add(e, "Few rows in %s: %s.", few.items == 1 ? "one memory class" : "these memory classes",
                     list_end(&few));
    if (none.items)
        sentence_add(e, "No row uses %s.", list_end(&none));
    if (e->classes == 1)
        sentence_add(e, "All rows are in one memory class, %s: classes of %d GB do not separate them.",
                     plm_explore_class_text(e, 0, text, sizeof text), e->settings.bin);
    if (e->unclassed && e->memory >= 0)
        sentence_add(e, "%s %s no %.60s and %s in no class.", rows_text(e->unclassed, text, sizeof text),
                     e->unclassed == 1 ? "has" : "have", e->column[e->memory].name, e->unclassed == 1 ? "is" : "are");
}

/* ---- columns ---- */

static void words_thin(struct plm_explore *e, const struct plm_explore_column *c)
{
    struct list few = {0};
    for (size_t i = 0; i < c->distinct; i++)
        if (is_few(c->words[i], c->known))
            list_add(&few, "%.40s (%zu)", c->word[i], c->words[i]);
    if (few.items)
        sentence_add(e, "%.60s: few rows with %s.", c->name, list_end(&few));
}

static void numbers_thin(struct plm_explore *e, const struct plm_explore_column *c)
{
    struct list few = {0};
    char text[32];
    for (size_t i = 0; i < c->histogram.bins; i++)
        if (is_few(c->histogram.count[i], c->known))
            list_add(&few, "%s (%zu)", number_text(c->histogram.value[i], text, sizeof text), c->histogram.count[i]);
    if (few.items)
        sentence_add(e, "%.60s: few rows with %s.", c->name, list_end(&few));
}

struct stretch {
    size_t from, to, rows; /* bins */
};

/* The longest with at most 1 % of the rows. */
static struct stretch stretch_find(const struct plm_explore_histogram *h, size_t most)
{
    struct stretch best = {0}, now = {0};
    for (; now.to < h->bins; now.to++) {
        now.rows += h->count[now.to];
        while (now.rows > most)
            now.rows -= h->count[now.from++];
        if (now.to + 1 - now.from > best.to - best.from)
            best = (struct stretch){now.from, now.to + 1, now.rows};
    }
    return best;
}

static void axis_thin(struct plm_explore *e, const struct plm_explore_column *c)
{
    const struct plm_explore_histogram *h = &c->histogram;
    const struct stretch s = stretch_find(h, c->known / PER_CENT);
    const double share = (double)(s.to - s.from) / (double)h->bins;
    char rows[64], from[32], to[32];
    if (share < STRETCH)
        return;
    sentence_add(e, "%.60s: %s from %s to %s, %.0f %% of its range%s.", c->name,
                 s.rows ? rows_text(s.rows, rows, sizeof rows) : "no row",
                 number_text(plm_explore_edge(h, s.from), from, sizeof from),
                 number_text(plm_explore_edge(h, s.to), to, sizeof to), 100 * share,
                 h->logarithmic ? " in decades" : "");
}

void plm_explore_thin(struct plm_explore *e)
{
    classes_thin(e);
    for (size_t i = 0; i < e->columns; i++) {
        const struct plm_explore_column *c = &e->column[i];
        const bool family = (int)i == e->family;
        if (c->role != PLM_EXPLORE_ARGUMENT && c->role != PLM_EXPLORE_FEATURE && !family)
            continue;
        if (c->kind == PLM_EXPLORE_CATEGORY && c->varies)
            words_thin(e, c);
        else if (c->kind == PLM_EXPLORE_NUMBER && c->varies && c->histogram.one_by_one)
            numbers_thin(e, c);
        else if (c->kind == PLM_EXPLORE_NUMBER && c->varies)
            axis_thin(e, c);
    }
}
