#include "report/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/draw.h"
#include "base/words.h"
#include "common/card.h"
#include "fit/fit.h"
#include "report/report.h"
#include "report/time.h"

enum { PIECES = 8, PIECE = 400 };

/* What a line consists of: it is broken between pieces only. */
struct line {
    enum plm_ink ink;
    int count;
    char piece[PIECES][PIECE];
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    va_list arguments;
    if (line->count == PIECES)
        return;
    va_start(arguments, format);
    vsnprintf(line->piece[line->count++], PIECE, format, arguments);
    va_end(arguments);
}

bool plm_report_asks(const struct plm_report_options *options, const struct plm_fit_row *row)
{
    return options->asked >> (row->card - options->card) & 1;
}

const struct plm_fit_table *plm_report_fits(const struct plm_job *job, const struct plm_report_options *options,
                                            struct plm_fit_table *own)
{
    *own = (struct plm_fit_table){0};
    if (options->fits)
        return options->fits;
    *own = plm_fit_report(job, options->card, job->lanes ? (size_t)options->cards : 0);
    return own;
}

/* " (10.0-10.3)", in the unit of the amount before it; "" where both ends read alike. */
static const char *range_text(const struct plm_page *p, char out[80], uint64_t low, uint64_t high)
{
    char from[32], to[32];
    plm_page_amount(p, from, sizeof from, low);
    plm_page_amount(p, to, sizeof to, high);
    if (!high || !strcmp(from, to))
        out[0] = '\0';
    else if (!p->bytes && low >= 1ull << 30)
        snprintf(out, 80, " (%.1f-%.1f)", (double)low / (1 << 30), (double)high / (1 << 30));
    else
        snprintf(out, 80, " (%s to %s)", from, to);
    return out;
}

/* Both are rounded before they are subtracted, so that the line adds up as it stands there. */
static const char *excess_text(const struct plm_page *p, char out[32], const struct plm_fit_row *row)
{
    const double tenth = (double)(1 << 30) / 10;
    const int64_t units = (int64_t)((double)row->need / tenth + 0.5) - (int64_t)((double)row->usable / tenth + 0.5);
    if (p->bytes || units < 1)
        return plm_page_amount(p, out, 32, row->need - row->usable);
    snprintf(out, 32, "%.1f GiB", (double)units / 10);
    return out;
}

/* "10.0 GiB of 23.3 GiB usable (10.0-10.3)", or how the job ended there if that is all that is known. */
static void add_verdict(const struct plm_page *p, const struct plm_report_asked *a, const struct plm_fit_row *row,
                        bool brief, struct line *line)
{
    static const struct {
        const char *word;
        enum plm_ink ink;
    } verdicts[] = {[PLM_FITS] = {"FITS", PLM_INK_GREEN},
                    [PLM_TIGHT] = {"TIGHT", PLM_INK_YELLOW},
                    [PLM_NO_FIT] = {"DOES NOT FIT", PLM_INK_RED},
                    [PLM_UNKNOWN] = {"UNKNOWN", PLM_INK_DIM}};
    const enum plm_verdict verdict = row->answer.verdict;
    const int64_t other = (int64_t)row->need - (int64_t)a->fits->need.need; /* another card has another context */
    char need[32], usable[32], excess[32], range[80] = "";
    line->ink = verdicts[verdict].ink;
    if (!row->need) {
        add(line, "%s on %s: %s", verdicts[verdict].word, row->card->id, a->fits->known.why);
        if (!brief && a->fits->known.needs)
            add(line, "without the limit it needs %s", plm_page_amount(p, need, sizeof need, a->fits->known.needs));
        return;
    }
    if (!brief && a->fits->need.need)
        range_text(p, range, (uint64_t)((int64_t)a->fits->need.low + other),
                   (uint64_t)((int64_t)a->fits->need.high + other));
    add(line, "%s on %s: %s of %s usable%s", verdicts[verdict].word, row->card->id,
        plm_page_amount(p, need, sizeof need, row->need), plm_page_amount(p, usable, sizeof usable, row->usable),
        range);
    if (!brief && verdict == PLM_NO_FIT && row->need > row->usable)
        add(line, "%s too much", excess_text(p, excess, row));
}

static void add_remarks(const struct plm_fit_row *row, struct line *line)
{
    char lacks[32];
    if (row->answer.verdict == PLM_TIGHT && row->answer.retries)
        add(line, "runs only with cache flushes (slower)");
    else if (row->answer.verdict == PLM_TIGHT && row->answer.in_range)
        add(line, "may run out of memory: the range reaches the limit");
    if (row->lacks)
        add(line, "the card has no %s", plm_fit_lacks_text(row->lacks, lacks));
    if (row->card->shared_memory)
        add(line, "the card shares memory with the system");
}

static void add_step(const struct plm_report_asked *a, const struct plm_card *card, bool brief, bool named,
                     struct line *line)
{
    const struct plm_time_row *time = plm_report_time_of(a->options, card);
    char text[160];
    if (time)
        add(line, "%s", plm_report_time_brief(text, sizeof text, a->options->time->lane, time, !brief, named));
}

static void add_confidence(const struct plm_report_asked *a, struct line *line)
{
    char reasons[PLM_DOUBTS][256];
    int n;
    add(line, "confidence %s", plm_confidence(a->job, reasons, PLM_DOUBTS, &n));
}

static struct line line_of_card(const struct plm_page *p, const struct plm_report_asked *a,
                                const struct plm_fit_row *row, bool brief)
{
    struct line line = {0};
    add_verdict(p, a, row, brief, &line);
    if (!brief)
        add_remarks(row, &line);
    if (row->need && row->answer.verdict != PLM_NO_FIT)
        add_step(a, row->card, brief, false, &line);
    if (row->need)
        add_confidence(a, &line);
    return line;
}

/* "fits on rtx3060 (11.6 GiB usable) and larger", if that is so of all that were looked at. */
static void add_smallest(const struct plm_page *p, const struct plm_report_asked *a, struct line *line)
{
    const struct plm_fit_table *t = a->fits;
    const struct plm_fit_row *first = plm_fit_smallest(t, false);
    bool larger = true;
    char usable[32];
    if (!t->rows)
        return;
    if (!first) {
        add(line, "fits on none of the usual cards");
        return;
    }
    for (size_t i = (size_t)(first - t->row); i < t->rows; i++)
        larger &= t->row[i].answer.verdict == PLM_FITS;
    add(line, "fits on %s (%s usable)%s", first->card->id, plm_page_amount(p, usable, sizeof usable, first->usable),
        larger ? " and larger" : "");
}

/* Nobody asked about a card. */
static struct line line_of_need(const struct plm_page *p, const struct plm_report_asked *a, bool brief)
{
    const struct plm_need *n = &a->fits->need;
    const struct plm_fit_known known = plm_fit_known(a->job);
    struct line line = {.ink = PLM_INK_BOLD};
    char need[32], range[80] = "";
    if (known.what != PLM_KNOWN_PEAK) {
        add(&line, "UNKNOWN: %s", known.why);
        return line;
    }
    if (!brief)
        range_text(p, range, n->low, n->high);
    add(&line, "NEEDS %s%s", plm_page_amount(p, need, sizeof need, n->need), range);
    add_smallest(p, a, &line);
    if (!brief && a->options->time && a->options->time->rows)
        add_step(a, a->options->time->row[0].card, brief, true, &line);
    add_confidence(a, &line);
    return line;
}

/* Pieces side by side while they fit; one that is wider than the page is broken between words. */
static void line_show(const struct plm_page *p, const struct line *line)
{
    const int between = p->utf8 ? 3 : 2;
    int column = 0; /* 0: at the start of a line */
    fprintf(p->out, "%s%s", plm_ink(p, PLM_INK_BOLD),
            plm_ink(p, line->ink == PLM_INK_BOLD ? PLM_INK_PLAIN : line->ink));
    for (int i = 0; i < line->count; i++) {
        const int columns = plm_page_columns(p, line->piece[i]);
        const bool beside = column && column + between + columns <= p->width;
        if (column && !beside)
            fputc('\n', p->out);
        if (beside)
            fputs(p->utf8 ? " · " : "; ", p->out);
        else if (i)
            fputs("  ", p->out);
        column = beside ? column + between + columns : (i ? 2 : 0) + columns;
        if (column > p->width) {
            plm_page_sentences(p, "", line->piece[i]);
            column = 0;
        } else
            plm_page_name(p, line->piece[i], 0, 0);
        if (i == 0)
            fputs(plm_ink(p, PLM_INK_PLAIN), p->out);
    }
    if (column)
        fputc('\n', p->out);
}

/* What to type next where the job does not simply fit: a setting of the allocator can at most give back what it holds unused. */
static void show_next(const struct plm_page *p, const struct plm_report_asked *a, const struct plm_fit_row *row)
{
    const struct plm_lane *lane = plm_job_largest(a->job);
    const char *record = a->options->record;
    char *word;
    bool tune;
    if (!record || !row->need || row->answer.verdict == PLM_FITS || !lane)
        return;
    tune = row->need <= row->usable + (a->fits->need.reserved - lane->summary->allocated_peak.bytes);
    word = plm_words_quote(&record, 1);
    fprintf(p->out, tune ? "  Next: plimsoll tune --gpu %s %s\n" : "  Next: plimsoll fit %s%s\n",
            tune ? row->card->id : "", word);
    free(word);
}

void plm_report_answer(const struct plm_page *p, const struct plm_report_asked *a, bool brief)
{
    struct line line;
    if (!a->options->asked || !a->fits->rows) {
        line = line_of_need(p, a, brief);
        line_show(p, &line);
        return;
    }
    for (size_t i = 0; i < a->fits->rows; i++) {
        if (!plm_report_asks(a->options, &a->fits->row[i]))
            continue;
        line = line_of_card(p, a, &a->fits->row[i], brief);
        line_show(p, &line);
        if (!brief)
            show_next(p, a, &a->fits->row[i]);
    }
}

/* The first that was asked about: the one that was simulated. */
static const struct plm_fit_row *first_asked(const struct plm_report_asked *a)
{
    const struct plm_fit_row *first = NULL;
    for (size_t i = 0; a->options->asked && i < a->fits->rows; i++)
        if (plm_report_asks(a->options, &a->fits->row[i]) && (!first || a->fits->row[i].card < first->card))
            first = &a->fits->row[i];
    return first;
}

const char *plm_report_answer_verdict(const struct plm_report_asked *a, const char **card)
{
    const struct plm_fit_row *row = first_asked(a);
    *card = row ? row->card->id : NULL;
    return row ? plm_verdict_name(row->answer.verdict) : NULL;
}

const char *plm_report_answer_line(const struct plm_report_asked *a, char *out, size_t size)
{
    const struct plm_page page = plm_report_page_for(NULL, a->options);
    const struct plm_fit_row *row = first_asked(a);
    const struct line line = row ? line_of_card(&page, a, row, false) : line_of_need(&page, a, false);
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < line.count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " · " : "", line.piece[i]);
    return out;
}
