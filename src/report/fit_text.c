#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "common/card.h"
#include "base/draw.h"
#include "common/error.h"
#include "base/units.h"
#include "fit/tune.h"
#include "report/answer.h"
#include "report/ranks.h"
#include "report/report.h"
#include "report/time.h"

enum { CARD = 22, TUNE_ROWS = 12 };

static const enum plm_ink inks[] = {
    [PLM_FITS] = PLM_INK_GREEN, [PLM_TIGHT] = PLM_INK_YELLOW, [PLM_NO_FIT] = PLM_INK_RED, [PLM_UNKNOWN] = PLM_INK_DIM};

static void show_doubt(const struct plm_page *p, const struct plm_fit *fit)
{
    if (!fit->doubt[0])
        return;
    fputc('\n', p->out);
    plm_page_sentences(p, "Note: ", fit->doubt);
}

/* ---- fit ---- */

/* Of one card the verdict; of several, how many it fits on. */
static void show_verdict(const struct plm_page *p, const struct plm_fit_table *t, const struct plm_report_options *o)
{
    const struct plm_report_asked answer = {t->job, t, o};
    size_t count[] = {[PLM_FITS] = 0, [PLM_TIGHT] = 0, [PLM_NO_FIT] = 0, [PLM_UNKNOWN] = 0};
    for (size_t i = 0; i < t->rows; i++)
        count[t->row[i].answer.verdict]++;
    if (t->rows == 1) {
        plm_report_answer(p, &answer, false);
        return;
    }
    fprintf(p->out, "%s%s%s on ", plm_ink(p, PLM_INK_BOLD),
            plm_ink(p, count[PLM_FITS]    ? PLM_INK_GREEN
                       : count[PLM_TIGHT] ? PLM_INK_YELLOW
                                          : PLM_INK_RED),
            count[PLM_FITS] || !count[PLM_TIGHT] ? "FITS" : "TIGHT");
    if (!count[PLM_FITS] && !count[PLM_TIGHT])
        fprintf(p->out, "none of %zu cards", t->rows);
    else
        fprintf(p->out, "%zu of %zu cards", count[PLM_FITS] ? count[PLM_FITS] : count[PLM_TIGHT], t->rows);
    fprintf(p->out, "%s%s\n", plm_ink(p, PLM_INK_PLAIN), count[PLM_UNKNOWN] ? "; some are unknown" : "");
}

static void show_need(const struct plm_page *p, const struct plm_fit_table *t)
{
    const char *played = plm_summary_config(&t->job->summary, "gpu");
    const struct plm_need *n = &t->need;
    char need[32], low[32], high[32], minimum[32], reserved[32], rest[32], text[640];
    int used = snprintf(text, sizeof text,
                        "It needs %s%s%.200s (%s to %s): %s reserved by PyTorch, %s %slibraries and context. ",
                        plm_page_amount(p, need, sizeof need, n->need), played ? " on " : "", played ? played : "",
                        plm_page_amount(p, low, sizeof low, n->low), plm_page_amount(p, high, sizeof high, n->high),
                        plm_page_amount(p, reserved, sizeof reserved, n->reserved),
                        plm_page_amount(p, rest, sizeof rest, n->need - n->reserved),
                        plm_ladder_job(t->job, NULL).beside ? "other processes, " : "");
    plm_page_amount(p, minimum, sizeof minimum, t->minimum);
    if (t->minimum < n->need)
        snprintf(text + used, sizeof text - (size_t)used, "It runs in %s%s with cache flushes (slower).",
                 strcmp(minimum, need) ? "" : "a little less than ", minimum);
    else
        snprintf(text + used, sizeof text - (size_t)used, "With less it runs out of memory, even with cache flushes.");
    plm_page_sentences(p, "", text);
}

/* The question most people have, answered for cards and for slices of cards. */
static void show_answer(const struct plm_page *p, const struct plm_fit_table *t)
{
    const struct plm_fit_row *card = plm_fit_smallest(t, false), *slice = plm_fit_smallest(t, true);
    bool fits = false;
    char usable[32], text[320];
    int n = 0;
    if (t->rows == 1)
        return;
    for (size_t i = 0; i < t->rows; i++)
        fits |= t->row[i].answer.verdict == PLM_FITS;
    if (!card && !slice) {
        fputs(fits ? "It fits only on cards with a remark.\n" : "", p->out);
        return;
    }
    if (card)
        n = snprintf(text, sizeof text, "%s (%s usable)", card->card->id,
                     plm_page_amount(p, usable, sizeof usable, card->usable));
    if (slice)
        snprintf(text + n, sizeof text - (size_t)n, "%s%s (%s)", card ? "; as a MIG slice " : "", slice->card->id,
                 plm_page_amount(p, usable, sizeof usable, slice->usable));
    plm_page_say(p, "The smallest that fits: %s.", text);
}

/* How many of a card it takes, and which of its ranks decide. */
static void show_ranks(const struct plm_page *p, const struct plm_fit_table *t)
{
    struct plm_report_kinds r = plm_report_kinds_make(t->job);
    const struct plm_job_kind *largest = r.ranks.kind;
    char nodes[48] = "", which[80] = "all are identical";
    if (r.world.nodes && r.world.gpus)
        snprintf(nodes, sizeof nodes, " (%u node%s x %u)", r.world.nodes, r.world.nodes == 1 ? "" : "s", r.world.gpus);
    if (r.ranks.kinds > 1)
        snprintf(which, sizeof which, "rank%s %.60s need%s most", largest->count == 1 ? "" : "s", largest->ranks,
                 largest->count == 1 ? "s" : "");
    if (plm_report_kinds_cards(&r) > r.ranks.count && r.ranks.kinds == 1)
        snprintf(which, sizeof which, "only rank%s %.50s ran", largest->count == 1 ? "" : "s", largest->ranks);
    if (plm_report_kinds_cards(&r) > 1 && !largest->devices)
        plm_page_say(p, "It takes %llu of them%s, one per rank; %s.", (unsigned long long)plm_report_kinds_cards(&r),
                     nodes, which);
    plm_report_kinds_free(&r);
}

/* Of a job whose peak is not its own. */
static void show_unknown(const struct plm_page *p, const struct plm_fit_table *t)
{
    static const char *const then[] = {
        [PLM_KNOWN_ENOUGH] = "It fits on cards with as much memory as it took; smaller ones are unknown.",
        [PLM_KNOWN_TOO_LITTLE] = "It does not fit on cards of this size; larger ones are unknown.",
        [PLM_KNOWN_NOTHING] = "There is no verdict for any card.",
    };
    char needs[32];
    if (t->rows == 1)
        plm_page_sentences(p, "", then[t->known.what]);
    else
        plm_page_say(p, "UNKNOWN: %s. %s", t->known.why, then[t->known.what]);
    if (t->known.needs)
        fprintf(p->out, "Without the limit it needs %s.\n", plm_page_amount(p, needs, sizeof needs, t->known.needs));
    else if (t->known.what != PLM_KNOWN_NOTHING)
        fputs("Record it without --bounded to see what it needs.\n", p->out);
}

/* What else there is to say of a row: "flushes the cache 3 times; has no bf16". "" if there is nothing. */
static const char *remark_text(const struct plm_page *p, const struct plm_fit_row *row, char *out, size_t size)
{
    const struct plm_fit_answer *a = &row->answer;
    char lacks[32], takes[48];
    int n = 0;
#define SAY(...) (n += n < (int)size ? snprintf(out + n, size - (size_t)n, __VA_ARGS__) : 0)
    out[0] = '\0';
    if (*plm_takes_text(p, row, takes))
        SAY("%s", takes);
    else if (a->verdict == PLM_TIGHT && a->retries)
        SAY("flushes the cache %llu time%s", (unsigned long long)a->retries, a->retries == 1 ? "" : "s");
    else if (a->in_range)
        SAY("within the range");
    if (row->better[0])
        SAY("%s%s with %s", n ? "; " : "", plm_verdict_name(row->then.verdict), row->better);
    if (row->lacks)
        SAY("%shas no %s", n ? "; " : "", plm_fit_lacks_text(row->lacks, lacks));
    if (row->card->shared_memory)
        SAY("%sshares memory with the system", n ? "; " : "");
#undef SAY
    return out;
}

/* In its column if there is room, else below the row. */
static void show_remark(const struct plm_page *p, const struct plm_fit_row *row, int column, int width)
{
    char text[320];
    if (!*remark_text(p, row, text, sizeof text)) {
        fputc('\n', p->out);
        return;
    }
    if (column + width + 2 + plm_page_columns(p, text) <= p->width) {
        fprintf(p->out, "%*s", width + 2, "");
        plm_page_name(p, text, 0, 0);
        fputc('\n', p->out);
        return;
    }
    fputc('\n', p->out);
    plm_page_sentences(p, "      ", text);
}

/* Amounts of a line are rounded before they are subtracted, so that it adds up as it stands there. */
static int64_t line_units(const struct plm_page *p, uint64_t bytes)
{
    return p->bytes ? (int64_t)bytes : (int64_t)((double)bytes / (1 << 30) * 10 + 0.5);
}

/* Without a unit: a line below the table says that they are GiB. */
static const char *line_amount(const struct plm_page *p, char out[32], int64_t units, bool sign)
{
    if (p->bytes)
        snprintf(out, 32, sign ? "%+lld" : "%lld", (long long)units);
    else
        snprintf(out, 32, sign ? "%+.1f" : "%.1f", (double)units / 10);
    return out;
}

static int line_columns(const struct plm_page *p)
{
    return p->bytes ? plm_page_amount_columns(p) : 6;
}

/* How long a step takes there, if that is known of any card. */
static void show_step(const struct plm_page *p, const struct plm_report_options *o, const struct plm_card *card)
{
    const struct plm_time_row *time = plm_report_time_of(o, card);
    char step[32] = "-";
    if (!o->time)
        return;
    if (time)
        plm_duration_text(step, sizeof step, time->timing.step);
    fprintf(p->out, " %7s", step);
}

/* Why the first of the cards that are shown without a step has none; NULL: all have one. */
static const char *step_lacks(const struct plm_report_options *o, const struct plm_fit_table *t, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        for (size_t k = 0; k < o->time->rows; k++)
            if (o->time->row[k].card == t->row[i].card && !o->time->row[k].known)
                return t->row[i].card->mig ? "MIG profiles have no memory bandwidth of their own in the catalogue"
                                           : o->time->row[k].why;
    return NULL;
}

/* In a sentence: what the column is, or why there is none, and why a card has no figure. */
static void show_step_note(const struct plm_page *p, const struct plm_report_options *o, const struct plm_fit_table *t,
                           size_t from, size_t to)
{
    const char *why = o->time ? step_lacks(o, t, from, to) : o->no_time;
    char text[640];
    if (from == to || (!o->time && !why))
        return;
    snprintf(text, sizeof text, "%s%s%s.",
             o->time ? "Steps are modelled, not measured (plimsoll time)" : "No step times: ",
             o->time && why ? "; -: " : "", why ? why : "");
    fprintf(p->out, "\n%s", plm_ink(p, PLM_INK_DIM));
    plm_page_sentences(p, "", text);
    fputs(plm_ink(p, PLM_INK_PLAIN), p->out);
}

static void show_line(const struct plm_page *p, const struct plm_fit_row *row, const struct plm_report_options *o)
{
    const int64_t has = line_units(p, row->usable), takes = line_units(p, row->need);
    const char *verdict = plm_verdict_name(row->answer.verdict);
    const int amount = line_columns(p);
    char usable[32], need[32] = "-", room[32] = "-";
    fputs("  ", p->out);
    plm_page_name(p, row->card->id, CARD, 1);
    if (row->need) {
        line_amount(p, need, takes, false);
        line_amount(p, room, has - takes, true);
    }
    fprintf(p->out, " %*s%s %*s %*s", amount, line_amount(p, usable, has, false), row->assumed ? "~" : " ", amount,
            need, amount + 2, room);
    show_step(p, o, row->card);
    fprintf(p->out, "  %s%s%s", plm_ink(p, inks[row->answer.verdict]), verdict, plm_ink(p, PLM_INK_PLAIN));
    show_remark(p, row, CARD + 3 * amount + (o->time ? 8 : 0) + 10 + (int)strlen(verdict), 7 - (int)strlen(verdict));
}

/* Cards far from what is needed say nothing new, except those that the answer names; where that is not known, neither
   do those of which nothing is. */
static bool is_near(const struct plm_fit_table *t, const struct plm_fit_row *row)
{
    if (!t->need.need)
        return false;
    return row == plm_fit_smallest(t, false) || row == plm_fit_smallest(t, true) ||
           (row->usable >= t->minimum - t->minimum / 4 && row->usable <= t->need.high + t->need.high / 4);
}

/* How many rows at one end of the table have the same verdict and are far. */
static size_t rows_alike(const struct plm_fit_table *t, bool last)
{
    const size_t at = last ? t->rows - 1 : 0;
    const enum plm_verdict verdict = t->row[at].answer.verdict;
    size_t n = 0;
    while (n < t->rows) {
        const struct plm_fit_row *row = &t->row[last ? at - n : n];
        if (row->answer.verdict != verdict || is_near(t, row))
            break;
        n++;
    }
    return n;
}

/* "7 smaller cards do not fit" */
static void show_left_out(const struct plm_page *p, const struct plm_fit_table *t, size_t count, bool last)
{
    static const struct {
        const char *one, *many;
    } verbs[] = {[PLM_FITS] = {"fits", "fit"},
                 [PLM_TIGHT] = {"is tight", "are tight"},
                 [PLM_NO_FIT] = {"does not fit", "do not fit"},
                 [PLM_UNKNOWN] = {"is unknown", "are unknown"}};
    const bool all = count == t->rows;
    const enum plm_verdict verdict = t->row[last ? t->rows - 1 : 0].answer.verdict;
    if (count)
        fprintf(p->out, "  %s%s%zu %scard%s %s%s%s\n", plm_ink(p, PLM_INK_DIM), all ? "all " : "", count,
                all    ? ""
                : last ? "larger "
                       : "smaller ",
                count == 1 ? "" : "s", count == 1 ? verbs[verdict].one : verbs[verdict].many,
                last || all ? "  (--all shows them)" : "", plm_ink(p, PLM_INK_PLAIN));
}

static void show_rows(const struct plm_page *p, const struct plm_fit_table *t, const struct plm_report_options *o,
                      bool all)
{
    const int amount = line_columns(p);
    size_t small = all ? 0 : rows_alike(t, false), large = all || small == t->rows ? 0 : rows_alike(t, true);
    bool assumed = false;
    fprintf(p->out, "\n  %s%-*s %*s  %*s %*s%s  verdict%s\n", plm_ink(p, PLM_INK_DIM), CARD, "card", amount, "usable",
            amount, "need", amount + 2, "headroom", o->time ? "    step" : "", plm_ink(p, PLM_INK_PLAIN));
    show_left_out(p, t, small, false);
    for (size_t i = small; i < t->rows - large; i++) {
        show_line(p, &t->row[i], o);
        assumed |= t->row[i].assumed;
    }
    show_left_out(p, t, large, true);
    fprintf(p->out, "  %s%s%s%s\n", plm_ink(p, PLM_INK_DIM), p->bytes ? "in bytes" : "in GiB",
            assumed ? "; ~ usable memory is estimated" : "", plm_ink(p, PLM_INK_PLAIN));
    show_step_note(p, o, t, small, t->rows - large);
}

int plm_report_fit_text(FILE *out, const struct plm_fit_table *t, const struct plm_report_options *options, bool all,
                        struct plm_error *error)
{
    const struct plm_page p = plm_report_page_for(out, options);
    bool doubtful = false;
    if (t->fit) {
        show_verdict(&p, t, options);
        show_answer(&p, t);
        show_need(&p, t);
        show_ranks(&p, t);
    } else {
        if (t->rows == 1)
            show_verdict(&p, t, options);
        show_unknown(&p, t);
    }
    show_rows(&p, t, options, all || t->rows <= PLM_REPORT_CARDS);
    if (t->fit)
        show_doubt(&p, t->fit);
    for (size_t i = 0; t->fit && t->rows > 1 && i < t->rows; i++) /* of one the answer has said what to do */
        doubtful |= t->row[i].answer.verdict != PLM_FITS;
    if (doubtful && options->record) {
        fputs("\nNext: plimsoll tune ", out);
        plm_page_name(&p, options->record, 0, 0);
        fputc('\n', out);
    }
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}

/* ---- tune ---- */

static const char *setting_of(const struct plm_tune_row *row)
{
    return *row->candidate.text ? row->candidate.text : "default";
}

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void show_now(const struct plm_page *p, const struct plm_tune *t)
{
    const struct plm_need *own = &t->own.need;
    char reserved[32], least[32];
    fputs("With ", p->out);
    plm_page_name(p, setting_of(&t->own), 0, 0);
    fprintf(p->out, " settings PyTorch reserves %s; its tensors need %s at the peak.\n",
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
        fprintf(p->out, "%sNo setting helps%s: the best of %zu tried saves %.1f %%.\n", plm_ink(p, PLM_INK_BOLD),
                plm_ink(p, PLM_INK_PLAIN), t->rows, percent_of(own - least, own));
        return;
    }
    fprintf(p->out, "\n  %sexport %s=%s%s\n\n", plm_ink(p, PLM_INK_BOLD), plm_tune_variable(t->fit->torch),
            a->candidate.text, plm_ink(p, PLM_INK_PLAIN));
    if (a->need.reserved <= own)
        fprintf(
            p->out, "saves %s (%.1f %%): %s reserved", plm_page_amount(p, saved, sizeof saved, own - a->need.reserved),
            percent_of(own - a->need.reserved, own), plm_page_amount(p, reserved, sizeof reserved, a->need.reserved));
    else
        fprintf(p->out, "reserves %s on a GPU with enough memory",
                plm_page_amount(p, reserved, sizeof reserved, a->need.reserved));
    if (t->card)
        fprintf(p->out, "; on %s: %s", t->card->id, plm_verdict_name(a->answer.verdict));
    fputs(".\n", p->out);
    for (size_t i = 0; plm_candidate_warning(&a->candidate.settings, i); i++)
        plm_page_sentences(p, "  - ", plm_candidate_warning(&a->candidate.settings, i));
}

static void tune_show_line(const struct plm_page *p, const struct plm_tune *t, const struct plm_tune_row *row, int name)
{
    uint64_t own = t->own.need.reserved, now = row->need.reserved;
    char reserved[32];
    fputs("  ", p->out);
    plm_page_name(p, setting_of(row), name, 1);
    fprintf(p->out, " %*s  %+7.1f %%  %7llu", plm_page_amount_columns(p),
            plm_page_amount(p, reserved, sizeof reserved, now), percent_of(now, own) - 100,
            (unsigned long long)row->need.calls);
    if (t->card)
        fprintf(p->out, "  %s", plm_verdict_name(row->answer.verdict));
    fputs(row->candidate.modelled ? "  modelled\n" : "\n", p->out);
}

int plm_report_tune_text(FILE *out, const struct plm_tune *t, const struct plm_report_options *options, bool all,
                         struct plm_error *error)
{
    const struct plm_page p = plm_report_page_for(out, options);
    size_t rows = all || t->rows < TUNE_ROWS ? t->rows : TUNE_ROWS;
    int amount = plm_page_amount_columns(&p), name = 7;

    show_now(&p, t);
    show_advice(&p, t);
    for (size_t i = 0; i < rows; i++)
        if (plm_page_columns(&p, setting_of(&t->row[i])) > name)
            name = plm_page_columns(&p, setting_of(&t->row[i]));
    if (name > options->width - amount - 30)
        name = options->width - amount - 30;
    fprintf(out, "\n  %s%-*s %*s  %9s  %7s%s%s\n", plm_ink(&p, PLM_INK_DIM), name, "setting", amount, "reserved",
            "change", "calls", t->card ? "  verdict" : "", plm_ink(&p, PLM_INK_PLAIN));
    for (size_t i = 0; i < rows; i++)
        tune_show_line(&p, t, &t->row[i], name);
    if (rows < t->rows)
        fprintf(out, "  %s%zu more  (--all shows them)%s\n", plm_ink(&p, PLM_INK_DIM), t->rows - rows,
                plm_ink(&p, PLM_INK_PLAIN));
    show_doubt(&p, t->fit);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the answer could not be written") : 0;
}
