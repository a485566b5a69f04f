/* A comparison for people: the answer first, then a table of all methods, then what there is to say about some of
   them. */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/card.h"
#include "study/estimate/comparison.h"
#include "study/estimate/description.h"
#include "base/draw.h"
#include "base/memory.h"

enum { METHOD = 23, PARADIGM = 10, TIME = 8, VERDICT = 4, LEAVES_OUT = 46 };

struct layout {
    bool wide; /* room for what a method leaves out in the same line */
    bool numbered; /* cards have numbers in the header, and a line with their names */
    int verdict; /* columns of one */
};

static int widest_card(const struct plm_comparison *c)
{
    int widest = VERDICT;
    for (size_t i = 0; i < c->cards; i++) {
        int columns = (int)strlen(c->question[i].card->id);
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

static struct layout layout_plan(const struct plm_page *p, const struct plm_comparison *c)
{
    const int fixed = METHOD + 1 + PARADIGM + 1 + plm_page_amount_columns(p) + 1 + TIME;
    const int room = p->width - fixed, card = widest_card(c), cards = (int)c->cards;
    struct layout l = {.numbered = cards * (1 + card) > room, .verdict = card};
    if (l.numbered)
        l.verdict = VERDICT;
    l.wide = room - cards * (1 + l.verdict) >= 2 + LEAVES_OUT;
    return l;
}

static const char *name_of(const struct plm_method *m)
{
    return m->shown ? m->shown : m->name;
}

static const char *seconds_text(char *buffer, size_t size, double seconds)
{
    if (seconds < 0.9995e-3)
        snprintf(buffer, size, "%.0f us", seconds * 1e6);
    else if (seconds < 0.9995)
        snprintf(buffer, size, "%.0f ms", seconds * 1e3);
    else
        snprintf(buffer, size, "%.1f s", seconds);
    return buffer;
}

/* ---- the answer ---- */

/* Whose word counts most: within its domain before outside, a run before a calculation, what PyTorch reserves before
   what tensors take. */
static int weight(const struct plm_comparison *c, const struct plm_comparison_row *row)
{
    static const int of_paradigm[] = {[PLM_ANALYTICAL] = 0, [PLM_LEARNED] = 1, [PLM_CPU_SIDE] = 2, [PLM_VIRTUAL] = 3};
    static const int of_state[] = {[PLM_ANSWERED] = 16, [PLM_OUTSIDE] = 0, [PLM_UNANSWERED] = -32};
    if (!plm_method_is_memory(row->method))
        return -64;
    return of_state[plm_comparison_estimate(c, row)->state] + 2 * of_paradigm[row->method->paradigm] +
           (row->method->kind != PLM_ANSWER_ALLOCATED);
}

static const struct plm_comparison_row *leading(const struct plm_comparison *c)
{
    const struct plm_comparison_row *best = &c->row[0];
    for (size_t i = 1; i < c->rows; i++)
        if (weight(c, &c->row[i]) > weight(c, best))
            best = &c->row[i];
    return best;
}

/* "rtx4090 and larger": where it fits, of cards in the order of their memory. */
static void where(const struct plm_comparison *c, const struct plm_comparison_row *row, char *out, size_t size)
{
    size_t first = 0;
    while (first < c->cards && row->answer[first].oom)
        first++;
    if (c->cards == 1)
        snprintf(out, size, "it %s on %s", first ? "does not fit" : "fits", c->question[0].card->id);
    else if (first == c->cards)
        snprintf(out, size, "it fits on none of these cards");
    else
        snprintf(out, size, "it fits on %s%s", c->question[first].card->id, first + 1 < c->cards ? " and larger" : "");
}

static void sum_up(const struct plm_page *p, const struct plm_comparison *c)
{
    const struct plm_comparison_row *row = leading(c);
    char text[300], place[120], bytes[32], context[32], low[32], between[40] = "";
    where(c, row, place, sizeof place);
    plm_page_amount(p, low, sizeof low, c->question[0].context);
    plm_page_amount(p, context, sizeof context, c->question[c->cards - 1].context);
    if (strcmp(low, context) != 0)
        snprintf(between, sizeof between, "%s to ", low);
    snprintf(text, sizeof text, "%s estimates %s plus %s%s of context: %s.", name_of(row->method),
             plm_page_amount(p, bytes, sizeof bytes, plm_comparison_estimate(c, row)->bytes), between, context, place);
    fputs(plm_ink(p, PLM_INK_BOLD), p->out);
    plm_page_sentences(p, "", text);
    fputs(plm_ink(p, PLM_INK_PLAIN), p->out);
}

/* ---- the table ---- */

static void show_heading(const struct plm_page *p, const struct plm_comparison *c, const struct layout *l)
{
    fprintf(p->out, "\n%s%-*s %-*s %*s %*s", plm_ink(p, PLM_INK_DIM), METHOD, "method", PARADIGM, "paradigm",
            plm_page_amount_columns(p), "estimate", TIME, "time");
    for (size_t i = 0; i < c->cards; i++)
        if (l->numbered)
            fprintf(p->out, " %*zu", l->verdict, i + 1);
        else
            fprintf(p->out, " %*s", l->verdict, c->question[i].card->id);
    if (l->wide)
        fputs("  leaves out", p->out);
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
}

static void show_line(const struct plm_page *p, const struct plm_comparison *c, const struct layout *l,
                      const struct plm_comparison_row *row)
{
    const struct plm_answer *a = plm_comparison_estimate(c, row);
    char bytes[32], time[32];
    plm_page_name(p, name_of(row->method), METHOD, 1);
    fprintf(p->out, " %-*s %*s%s%*s", PARADIGM, plm_paradigm_name(row->method->paradigm), plm_page_amount_columns(p),
            plm_page_amount(p, bytes, sizeof bytes, a->bytes), a->state == PLM_OUTSIDE ? "*" : " ", TIME,
            seconds_text(time, sizeof time, a->seconds));
    for (size_t i = 0; i < c->cards; i++)
        fprintf(p->out, " %s%*s%s", plm_ink(p, row->answer[i].oom ? PLM_INK_RED : PLM_INK_GREEN), l->verdict,
                row->answer[i].oom ? "no" : "fits", plm_ink(p, PLM_INK_PLAIN));
    if (l->wide)
        fprintf(p->out, "  %s", row->method->leaves_out);
    fputc('\n', p->out);
}

static bool is_shown(const struct plm_comparison *c, const struct plm_comparison_row *row, bool memory)
{
    return plm_method_is_memory(row->method) == memory && plm_comparison_estimate(c, row)->state != PLM_UNANSWERED;
}

static void show_memory(const struct plm_page *p, const struct plm_comparison *c, const struct layout *l)
{
    sum_up(p, c);
    show_heading(p, c, l);
    for (size_t i = 0; i < c->rows; i++)
        if (is_shown(c, &c->row[i], true))
            show_line(p, c, l, &c->row[i]);
    fputc('\n', p->out);
}

/* ---- the table of utilization, which has no bytes and no verdicts ---- */

static void utilization_line(const struct plm_page *p, const struct plm_comparison *c, const struct layout *l,
                             const struct plm_comparison_row *row)
{
    const struct plm_answer *a = plm_comparison_estimate(c, row);
    char percent[32], time[32];
    plm_page_name(p, name_of(row->method), METHOD, 1);
    snprintf(percent, sizeof percent, "%.1f %%", a->percent);
    fprintf(p->out, " %-*s %*s%s%*s", PARADIGM, plm_paradigm_name(row->method->paradigm), plm_page_amount_columns(p),
            percent, a->state == PLM_OUTSIDE ? "*" : " ", TIME, seconds_text(time, sizeof time, a->seconds));
    if (l->wide)
        fprintf(p->out, "  %s", row->method->leaves_out);
    fputc('\n', p->out);
}

static void show_utilization(const struct plm_page *p, const struct plm_comparison *c, const struct layout *l)
{
    plm_page_sentences(p, "", "GPU utilization: share of the time in which a kernel runs");
    fprintf(p->out, "%s%-*s %-*s %*s %*s%s%s\n", plm_ink(p, PLM_INK_DIM), METHOD, "method", PARADIGM, "paradigm",
            plm_page_amount_columns(p), "estimate", TIME, "time", l->wide ? "  leaves out" : "",
            plm_ink(p, PLM_INK_PLAIN));
    for (size_t i = 0; i < c->rows; i++)
        if (is_shown(c, &c->row[i], false))
            utilization_line(p, c, l, &c->row[i]);
    fputc('\n', p->out);
}

/* ---- what there is to say ---- */

/* "a, b: text", for all rows of one state that share a text; `done` marks them. */
typedef const char *text_of(const struct plm_comparison *c, const struct plm_comparison_row *row);

static const char *note_of(const struct plm_comparison *c, const struct plm_comparison_row *row)
{
    return plm_comparison_estimate(c, row)->note;
}

static const char *leaves_out_of(const struct plm_comparison *c, const struct plm_comparison_row *row)
{
    (void)c;
    return row->method->leaves_out;
}

static void list_by_text(const struct plm_page *p, const struct plm_comparison *c, const char *title,
                         enum plm_answer_state from, enum plm_answer_state to, text_of *text)
{
    bool *done = plm_calloc(c->rows, sizeof *done);
    for (size_t i = 0; i < c->rows; i++) {
        const enum plm_answer_state state = plm_comparison_estimate(c, &c->row[i])->state;
        char names[600];
        size_t used;
        if (done[i] || state < from || state > to || !*text(c, &c->row[i]))
            continue;
        if (title)
            fprintf(p->out, "\n%s\n", title);
        title = NULL;
        used = (size_t)snprintf(names, sizeof names, "%s", name_of(c->row[i].method));
        for (size_t k = i + 1; k < c->rows; k++)
            if (plm_comparison_estimate(c, &c->row[k])->state == state &&
                !strcmp(text(c, &c->row[i]), text(c, &c->row[k]))) {
                done[k] = true;
                if (used < sizeof names)
                    used += (size_t)snprintf(names + used, sizeof names - used, ", %s", name_of(c->row[k].method));
            }
        if (used < sizeof names)
            snprintf(names + used, sizeof names - used, ": %s", text(c, &c->row[i]));
        plm_page_sentences(p, "  ", names);
    }
    free(done);
}

static void show_legend(const struct plm_page *p, const struct plm_comparison *c)
{
    char text[1200], amount[32];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < c->cards && used < sizeof text; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%zu %s (%s)", i ? ", " : "", i + 1,
                             c->question[i].card->id, plm_page_amount(p, amount, sizeof amount, c->question[i].usable));
    plm_page_sentences(p, "Cards: ", text);
}

static void context_line(const struct plm_page *p, const struct plm_comparison *c)
{
    static const char *const why[] = {
        [PLM_CONTEXT_GIVEN] = "Every verdict adds the context to the estimate: here that of --context.",
        [PLM_CONTEXT_RECORD] = "Every verdict adds the context to the estimate: here that of the record.",
        [PLM_CONTEXT_MODEL] =
            "Every verdict adds the context to the estimate: here a model of each card, as there is no record.",
    };
    plm_page_sentences(p, "", why[c->source]);
}

/* What the methods that read a description were told. */
static void show_precision(const struct plm_page *p, const struct plm_description *d)
{
    char precision[PLM_DESCRIPTION_PRECISION_BYTES], text[sizeof precision + 40];
    if (!d || !*d->model.dtype)
        return;
    snprintf(text, sizeof text, "The job trains in %s.", plm_description_precision(d, precision));
    plm_page_sentences(p, "", text);
}

static void show_captures(const struct plm_page *p, const struct plm_evidence *evidence)
{
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"the record", evidence->job_seconds},
                 {"the trace", evidence->trace_seconds},
                 {"the description", evidence->description_seconds}};
    char text[200] = "", time[32], all[300];
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].seconds > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", used ? ", " : "", parts[i].name,
                                     seconds_text(time, sizeof time, parts[i].seconds));
    if (!used)
        return;
    snprintf(all, sizeof all, "The times above exclude the capture: %s.", text);
    plm_page_sentences(p, "", all);
}

int plm_comparison_text(const struct plm_page *p, const struct plm_comparison *c, struct plm_error *error)
{
    const struct layout l = layout_plan(p, c);
    const struct plm_comparison_row *row = plm_comparison_explained(c);
    if (c->memory)
        show_memory(p, c, &l);
    if (c->answered > c->memory)
        show_utilization(p, c, &l);
    if (c->answered) {
        if (l.numbered && c->memory)
            show_legend(p, c);
        if (c->memory)
            context_line(p, c);
        show_precision(p, c->evidence.description);
        show_captures(p, &c->evidence);
        list_by_text(p, c, "* outside the method's scope:", PLM_OUTSIDE, PLM_OUTSIDE, note_of);
        list_by_text(p, c, "Notes:", PLM_ANSWERED, PLM_ANSWERED, note_of);
        if (!l.wide)
            list_by_text(p, c, "What they leave out:", PLM_ANSWERED, PLM_OUTSIDE, leaves_out_of);
    }
    list_by_text(p, c, "No answer:", PLM_UNANSWERED, PLM_UNANSWERED, note_of);
    if (row) {
        fputc('\n', p->out);
        row->method->explain(row->inquiry.prepared, p, NULL);
    }
    return fflush(p->out) || ferror(p->out) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}
