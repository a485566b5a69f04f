#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/card.h"
#include "fit/candidates.h"
#include "fit/fit.h"
#include "base/draw.h"
#include "report/fit.h"
#include "report/report.h"

enum { CARD = 22 };

static const enum plm_ink inks[] = {
    [PLM_FITS] = PLM_INK_GREEN, [PLM_TIGHT] = PLM_INK_YELLOW, [PLM_NO_FIT] = PLM_INK_RED};

static const struct plm_fit_row *smallest(const struct plm_fit_table *t, bool mig)
{
    for (size_t i = 0; i < t->rows; i++)
        if (t->row[i].answer.verdict == PLM_FITS && t->row[i].card->mig == mig)
            return &t->row[i];
    return NULL;
}

static void needs(const struct plm_page *p, const struct plm_fit_table *t)
{
    const struct plm_need *n = &t->need;
    char need[32], low[32], high[32], minimum[32], reserved[32], rest[32];
    fprintf(p->out, "%sIt needs %s%s (%s to %s): %s reserved by PyTorch, %s libraries and context.\n",
            plm_ink(p, PLM_INK_BOLD), plm_page_amount(p, need, sizeof need, n->need), plm_ink(p, PLM_INK_PLAIN),
            plm_page_amount(p, low, sizeof low, n->low), plm_page_amount(p, high, sizeof high, n->high),
            plm_page_amount(p, reserved, sizeof reserved, n->reserved),
            plm_page_amount(p, rest, sizeof rest, n->need - n->reserved));
    if (t->minimum < n->need)
        fprintf(p->out, "It can do with %s, at the cost of flushing PyTorch's cache.\n",
                plm_page_amount(p, minimum, sizeof minimum, t->minimum));
    else
        fputs("With less it runs out of memory, however often it flushes its cache.\n", p->out);
}

/* The question most people have, answered for cards and for slices of cards. */
static void show_answer(const struct plm_page *p, const struct plm_fit_table *t)
{
    const struct plm_fit_row *card = smallest(t, false), *slice = smallest(t, true);
    char usable[32];
    if (t->rows == 1)
        return;
    if (!card && !slice) {
        fputs("None of these cards fits.\n", p->out);
        return;
    }
    fputs("The smallest that fits: ", p->out);
    if (card)
        fprintf(p->out, "%s (%s usable)", card->card->id, plm_page_amount(p, usable, sizeof usable, card->usable));
    if (slice)
        fprintf(p->out, "%s%s (%s)", card ? "; as a MIG slice " : "", slice->card->id,
                plm_page_amount(p, usable, sizeof usable, slice->usable));
    fputs(".\n", p->out);
}

static void remark(const struct plm_page *p, const struct plm_fit_row *row)
{
    const struct plm_fit_answer *a = &row->answer;
    if (a->verdict == PLM_TIGHT && a->retries)
        fprintf(p->out, "  flushes the cache %llu time%s", (unsigned long long)a->retries, a->retries == 1 ? "" : "s");
    else if (a->verdict == PLM_TIGHT)
        fputs("  inside the range", p->out);
    if (!row->better[0])
        return;
    fprintf(p->out, "%s%s with ", a->verdict == PLM_TIGHT ? "; " : "  ", plm_verdict_name(row->then.verdict));
    plm_page_name(p, row->better, 0, 0);
}

static void show_line(const struct plm_page *p, const struct plm_fit_row *row)
{
    int amount = plm_page_amount_columns(p);
    bool over = row->need > row->usable;
    char usable[32], room[32], sign[40];
    fputs("  ", p->out);
    plm_page_name(p, row->card->id, CARD, 1);
    plm_page_amount(p, room, sizeof room, over ? row->need - row->usable : row->usable - row->need);
    snprintf(sign, sizeof sign, "%s%s", over ? "-" : "+", room);
    fprintf(p->out, " %*s%s %*s  %s%-5s%s", amount, plm_page_amount(p, usable, sizeof usable, row->usable),
            row->assumed ? "~" : " ", amount + 1, sign, plm_ink(p, inks[row->answer.verdict]),
            plm_verdict_name(row->answer.verdict), plm_ink(p, PLM_INK_PLAIN));
    remark(p, row);
    fputc('\n', p->out);
}

/* Cards far from what is needed say nothing new. */
static bool is_near(const struct plm_fit_table *t, const struct plm_fit_row *row)
{
    return row->usable >= t->minimum - t->minimum / 4 && row->usable <= t->need.high + t->need.high / 4;
}

static void show_rows(const struct plm_page *p, const struct plm_fit_table *t, bool all)
{
    int amount = plm_page_amount_columns(p);
    size_t small = 0, large = 0;
    bool assumed = false;
    if (!all) {
        while (small < t->rows && t->row[small].answer.verdict == PLM_NO_FIT && !is_near(t, &t->row[small]))
            small++;
        while (large < t->rows - small && t->row[t->rows - 1 - large].answer.verdict == PLM_FITS &&
               !is_near(t, &t->row[t->rows - 1 - large]))
            large++;
    }
    fprintf(p->out, "\n  %s%-*s %*s  %*s  verdict%s\n", plm_ink(p, PLM_INK_DIM), CARD, "card", amount, "usable",
            amount + 1, "headroom", plm_ink(p, PLM_INK_PLAIN));
    if (small)
        fprintf(p->out, "  %s%zu smaller one%s: no%s\n", plm_ink(p, PLM_INK_DIM), small, small == 1 ? "" : "s",
                plm_ink(p, PLM_INK_PLAIN));
    for (size_t i = small; i < t->rows - large; i++) {
        show_line(p, &t->row[i]);
        assumed |= t->row[i].assumed;
    }
    if (large)
        fprintf(p->out, "  %s%zu larger one%s: fit%s  (--all shows them)%s\n", plm_ink(p, PLM_INK_DIM), large,
                large == 1 ? "" : "s", large == 1 ? "s" : "", plm_ink(p, PLM_INK_PLAIN));
    if (assumed)
        fprintf(p->out, "  %s~ assumed: nobody has measured how much of this card is usable%s\n",
                plm_ink(p, PLM_INK_DIM), plm_ink(p, PLM_INK_PLAIN));
}

int plm_fit_text(FILE *out, const struct plm_fit_table *t, const struct plm_report_options *options, bool all,
                 struct plm_error *error)
{
    const struct plm_page p = plm_page_for(out, options);
    bool doubtful = false;
    needs(&p, t);
    show_answer(&p, t);
    show_rows(&p, t, all || t->rows <= PLM_REPORT_CARDS);
    if (t->fit->doubt[0]) {
        fputc('\n', out);
        plm_page_sentences(&p, "Note: ", t->fit->doubt);
    }
    for (size_t i = 0; i < t->rows; i++)
        doubtful |= t->row[i].answer.verdict != PLM_FITS;
    if (doubtful && options->record) {
        fputs("\nNext: plimsoll tune ", out);
        plm_page_name(&p, options->record, 0, 0);
        fputc('\n', out);
    }
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}
