/* What is in a table of runs, for people: rows, classes, thin places. */
#include <string.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/csv.h"
#include "base/units.h"
#include "study/learn/explore.h"

enum { CLASSES_SHOWN = 16, NAME_COLUMNS = 18, COUNT_COLUMNS = 8, BAR = 40 };

static const char *counted(size_t count, char *buffer, size_t size)
{
    return plm_count_text(buffer, size, count);
}

/* ---- sentences ---- */

const char *plm_explore_stairs_text(const struct plm_explore *e, size_t stairs, char *buffer, size_t size)
{
    const struct plm_explore_stairs *s = &e->stairs[stairs];
    char rows[32], levels[32], times[32];
    int length = snprintf(buffer, size, "%.60s: %s rows have %s distinct values", e->column[s->column].name,
                          counted(s->rows, rows, sizeof rows), counted(s->levels, levels, sizeof levels));
    if (s->steps > 1 && length > 0 && (size_t)length < size)
        length +=
            snprintf(buffer + length, size - (size_t)length, "; the most common gap between them is %g MiB (%s times)",
                     s->step, counted(s->steps, times, sizeof times));
    if (length > 0 && (size_t)length < size)
        snprintf(buffer + length, size - (size_t)length, "%s.",
                 s->even == s->rows ? "; all are multiples of 2 MiB" : "");
    return buffer;
}

const char *plm_explore_parting_text(const struct plm_explore *e, char *buffer, size_t size)
{
    *buffer = '\0';
    if (e->asked > 1 && e->classes + (e->oom > 0) > 1)
        snprintf(buffer, size,
                 "The nearest other row by features is in the same memory class for %.1f %% of rows; the largest class "
                 "has %.1f %%.",
                 100 * (double)e->alike / (double)e->asked, 100 * (double)e->guessed / (double)e->asked);
    return buffer;
}

/* ---- parts ---- */

static void rows_show(const struct plm_page *p, const struct plm_explore *e)
{
    const struct plm_explore_column *family = e->family < 0 ? NULL : &e->column[e->family];
    char rows[32];
    fprintf(p->out, "%s rows, %zu columns", counted(e->table->rows, rows, sizeof rows), e->columns);
    for (size_t i = 0; family && family->kind == PLM_EXPLORE_CATEGORY && i < family->distinct; i++) {
        fputs(i ? ", " : ": ", p->out);
        plm_page_name(p, family->word[i], 0, 0);
        fprintf(p->out, " %s", counted(family->words[i], rows, sizeof rows));
    }
    fputc('\n', p->out);
}

static void class_line(const struct plm_page *p, const char *name, size_t rows, size_t most)
{
    char count[32];
    const int room = plm_page_room(p, NAME_COLUMNS + COUNT_COLUMNS + 4);
    fprintf(p->out, "  %-*s %*s  ", NAME_COLUMNS, name, COUNT_COLUMNS, counted(rows, count, sizeof count));
    plm_page_bar(p, room > BAR ? BAR : room, 0, rows, most);
    fputc('\n', p->out);
}

static void classes_show(const struct plm_page *p, const struct plm_explore *e)
{
    size_t most = e->oom, rest = 0;
    char text[64];
    if (e->memory < 0)
        return;
    fputc('\n', p->out);
    plm_page_say(p, "Classes of %d GB (of 1000 MiB) by %.60s:", e->settings.bin, e->column[e->memory].name);
    for (size_t i = 0; i < e->classes; i++)
        most = e->class[i].rows > most ? e->class[i].rows : most;
    for (size_t i = 0; i < e->classes; i++)
        if (i < CLASSES_SHOWN)
            class_line(p, plm_explore_class_text(e, i, text, sizeof text), e->class[i].rows, most);
        else
            rest += e->class[i].rows;
    if (rest) {
        snprintf(text, sizeof text, "%zu more", e->classes - CLASSES_SHOWN);
        class_line(p, text, rest, most);
    }
    if (e->oom)
        class_line(p, "out of memory", e->oom, most);
}

static void shapes_show(const struct plm_page *p, const struct plm_explore *e)
{
    char text[400];
    fputc('\n', p->out);
    if (e->useds > 1)
        plm_page_say(p, "The first two of %zu components explain %.1f %% of the variance of %zu columns.", e->useds,
                     100 * (e->pca.share[0] + e->pca.share[1]), e->useds);
    if (*plm_explore_parting_text(e, text, sizeof text))
        plm_page_say(p, "%s", text);
    for (size_t i = 0; i < e->stairs_count; i++)
        plm_page_say(p, "%s", plm_explore_stairs_text(e, i, text, sizeof text));
}

static void thin_show(const struct plm_page *p, const struct plm_explore *e)
{
    plm_page_title(p, "Under-sampled regions");
    if (!e->thins)
        plm_page_say(p, "None: every class and value has at least 10 rows and 1 %% of all, and no feature has a gap.");
    for (size_t i = 0; i < e->thins; i++)
        plm_page_sentences(p, "  ", e->thin[i]);
}

int plm_explore_text(const struct plm_page *p, const struct plm_explore *e, struct plm_error *error)
{
    rows_show(p, e);
    classes_show(p, e);
    shapes_show(p, e);
    thin_show(p, e);
    return fflush(p->out) || ferror(p->out) ? plm_fail(error, PLM_EIO, "the summary could not be written") : 0;
}
