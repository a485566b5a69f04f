#include <string.h>

#include "base/error.h"
#include "base/card.h"
#include "fit/tune.h"
#include "base/draw.h"
#include "report/fit.h"
#include "report/report.h"

enum { ROWS = 12 };

static const char *text_of(const struct plm_tune_row *row)
{
    return *row->candidate.text ? row->candidate.text : "default";
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void show_now(const struct plm_page *p, const struct plm_tune *t)
{
    const struct plm_need *own = &t->own.need;
    char reserved[32], least[32];
    fputs("With ", p->out);
    plm_page_name(p, text_of(&t->own), 0, 0);
    fprintf(p->out, " settings PyTorch reserves %s; its tensors need %s of it at the peak.\n",
            plm_page_amount(p, reserved, sizeof reserved, own->reserved),
            plm_page_amount(p, least, sizeof least, t->fit->least));
    if (t->card)
        fprintf(p->out, "On %s: %s.\n", t->card->id, plm_verdict_name(t->own.answer.verdict));
}

static void show_advice(const struct plm_page *p, const struct plm_tune *t)
{
    const struct plm_tune_row *a = t->advice;
    uint64_t least = t->own.need.reserved, own = t->own.need.reserved;
    char saved[32], reserved[32];
    if (!a) {
        for (size_t i = 0; i < t->rows; i++)
            if (!t->row[i].candidate.modelled && t->row[i].need.reserved < least)
                least = t->row[i].need.reserved;
        fprintf(p->out, "%sNo setting helps%s: of %zu that were tried the best saves %.1f %%.\n",
                plm_ink(p, PLM_INK_BOLD), plm_ink(p, PLM_INK_PLAIN), t->rows, percent(own - least, own));
        return;
    }
    fprintf(p->out, "\n  %sexport %s=%s%s\n\n", plm_ink(p, PLM_INK_BOLD), plm_allocator_variable(t->fit->torch),
            a->candidate.text, plm_ink(p, PLM_INK_PLAIN));
    if (a->need.reserved <= own)
        fprintf(p->out, "saves %s (%.1f %%): %s reserved",
                plm_page_amount(p, saved, sizeof saved, own - a->need.reserved), percent(own - a->need.reserved, own),
                plm_page_amount(p, reserved, sizeof reserved, a->need.reserved));
    else
        fprintf(p->out, "reserves %s where memory is plentiful",
                plm_page_amount(p, reserved, sizeof reserved, a->need.reserved));
    if (t->card)
        fprintf(p->out, "; on %s: %s", t->card->id, plm_verdict_name(a->answer.verdict));
    fputs(".\n", p->out);
    for (size_t i = 0; plm_candidate_warning(&a->candidate.settings, i); i++)
        plm_page_sentences(p, "  - ", plm_candidate_warning(&a->candidate.settings, i));
}

static void show_line(const struct plm_page *p, const struct plm_tune *t, const struct plm_tune_row *row, int name)
{
    uint64_t own = t->own.need.reserved, now = row->need.reserved;
    char reserved[32];
    fputs("  ", p->out);
    plm_page_name(p, text_of(row), name, 1);
    fprintf(p->out, " %*s  %+7.1f %%  %7llu", plm_page_amount_columns(p),
            plm_page_amount(p, reserved, sizeof reserved, now), percent(now, own) - 100,
            (unsigned long long)row->need.calls);
    if (t->card)
        fprintf(p->out, "  %s", plm_verdict_name(row->answer.verdict));
    fputs(row->candidate.modelled ? "  modelled\n" : "\n", p->out);
}

int plm_tune_text(FILE *out, const struct plm_tune *t, const struct plm_report_options *options, bool all,
                  struct plm_error *error)
{
    const struct plm_page p = plm_page_for(out, options);
    size_t rows = all || t->rows < ROWS ? t->rows : ROWS;
    int amount = plm_page_amount_columns(&p), name = 7;

    show_now(&p, t);
    show_advice(&p, t);
    for (size_t i = 0; i < rows; i++)
        if (plm_page_columns(&p, text_of(&t->row[i])) > name)
            name = plm_page_columns(&p, text_of(&t->row[i]));
    if (name > options->width - amount - 30)
        name = options->width - amount - 30;
    fprintf(out, "\n  %s%-*s %*s  %9s  %7s%s%s\n", plm_ink(&p, PLM_INK_DIM), name, "setting", amount, "reserved",
            "change", "calls", t->card ? "  verdict" : "", plm_ink(&p, PLM_INK_PLAIN));
    for (size_t i = 0; i < rows; i++)
        show_line(&p, t, &t->row[i], name);
    if (rows < t->rows)
        fprintf(out, "  %s%zu more  (--all shows them)%s\n", plm_ink(&p, PLM_INK_DIM), t->rows - rows,
                plm_ink(&p, PLM_INK_PLAIN));
    if (t->fit->doubt[0]) {
        fputc('\n', out);
        plm_page_sentences(&p, "Note: ", t->fit->doubt);
    }
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}
