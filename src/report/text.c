#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/words.h"
#include "fit/fit.h"
#include "fit/ladder.h"
#include "report/answer.h"
#include "report/operators.h"
#include "report/overview.h"
#include "report/time.h"

enum { READBACKS = 5, REFUSED = 10 };

static void count_line(const struct plm_page *p, const char *library, const char *name, uint64_t calls)
{
    fputs("  ", p->out);
    plm_page_name(p, library, 0, 0);
    fputs(*library ? ": " : "", p->out);
    plm_page_name(p, *name ? name : "(outside any operator)", 0, 0);
    fprintf(p->out, "  %llu time%s\n", (unsigned long long)calls, calls == 1 ? "" : "s");
}

static void show_refused(const struct plm_page *p, const struct plm_counts *c)
{
    if (!c->count)
        return;
    plm_page_title(p, "Not modelled (returned \"not supported\"):");
    for (int i = 0; i < c->count && i < REFUSED; i++)
        count_line(p, c->item[i].detail, c->item[i].name, c->item[i].calls);
    if (c->count > REFUSED)
        fprintf(p->out, "  ... and %d more\n", c->count - REFUSED);
}

/* Calls of one operator on some of the devices. */
static uint64_t calls_of(const struct plm_job *job, const char *name, size_t from, size_t to)
{
    uint64_t calls = 0;
    for (size_t i = from; i < to; i++) {
        const struct plm_counts *c = &job->lane[i].summary->readbacks;
        for (int k = 0; k < c->count; k++)
            calls += strcmp(c->item[k].name, name) ? 0 : c->item[k].calls;
    }
    return calls;
}

/* The processes of a job mostly do the same, so what they read back is told once for all. */
static void show_readbacks(const struct plm_page *p, const struct plm_job *job)
{
    int shown = 0;
    for (size_t i = 0; i < job->lanes; i++) {
        const struct plm_counts *c = &job->lane[i].summary->readbacks;
        for (int k = 0; k < c->count; k++) {
            const char *name = c->item[k].name;
            if (calls_of(job, name, 0, i))
                continue;
            if (!shown)
                plm_page_title(p, "Your script read GPU values that plimsoll did not compute:");
            if (shown++ < READBACKS)
                count_line(p, "", plm_report_operator_shown(name), calls_of(job, name, i, job->lanes));
        }
    }
    if (shown > READBACKS)
        fprintf(p->out, "  ... and %d more\n", shown - READBACKS);
}

/* What a note of the record means. */
static const struct {
    const char *kind, *before, *after; /* the note's value stands between, if there is a `before` */
} note_texts[] = {
    {"static-runtime", "",
     " has its own static CUDA runtime, which bypasses the virtual GPU; its allocations are not counted."},
    {"fills-skipped", NULL,
     "random initialization of large CPU tensors was skipped: the virtual GPU does not read them."},
    {"choices-assumed", "topk ran over scores that were not computed; its choices were assumed: ",
     " (--assume route=balanced, one or none)."},
    {"autotune-first", "autotuning by ",
     " took the first candidate that works: the virtual GPU has no clock. On a real GPU another kernel may win, with "
     "another workspace, and inductor's trials allocate inputs while it compiles (PLIMSOLL_AUTOTUNE=all tries them "
     "all)."},
    {"message-replayed", "small messages of a rank that ran before were replayed (", "), since ranks ran one by one."},
    {"backward-steps", NULL,
     "no torch.optim optimizer was created, so each backward pass counted as a step; the weight update after it counts "
     "in the next step."},
    {"values-unknown", NULL,
     "plimsoll could not find where this PyTorch keeps tensor memory; values that follow from host data read as "
     "zeros."},
    {"hook-failed", "the hook does not support this PyTorch (", "); steps may not be counted."},
    {"attribution-failed", "the hook could not follow this program (",
     "); memory after that has no module and no category."},
    {"operators-unknown", NULL,
     "this PyTorch does not report which operators run; modules are known, operators are not."},
    {"sizes-unknown", NULL,
     "plimsoll could not find where this PyTorch keeps tensor sizes; they are unknown for kernels whose launch shows "
     "none."},
    {"stack-assumed", NULL,
     "PyTorch's metadata does not name its cuDNN and NCCL; the newest for its CUDA version are assumed."},
};

static void show_notes(const struct plm_page *p, const struct plm_summary *s)
{
    char text[2048];
    for (int i = 0; i < s->notes.count; i++)
        for (size_t k = 0; k < sizeof note_texts / sizeof note_texts[0]; k++) {
            const char *before = note_texts[k].before;
            if (strcmp(s->notes.item[i].name, note_texts[k].kind))
                continue;
            snprintf(text, sizeof text, "%s%.1700s%s", before ? before : "", before ? s->notes.item[i].detail : "",
                     note_texts[k].after);
            fputc('\n', p->out);
            plm_page_sentences(p, "Note: ", text);
        }
}

static void show_confidence(const struct plm_page *p, const struct plm_job *job)
{
    char reasons[PLM_DOUBTS][256], grounds[64];
    int n;
    const char *level = plm_confidence(job, reasons, PLM_DOUBTS, &n);
    fprintf(p->out, "\n%sMemory confidence: %s%s", plm_ink(p, PLM_INK_BOLD), level, plm_ink(p, PLM_INK_PLAIN));
    if (!n)
        fprintf(p->out, " (%s)", plm_confidence_grounds(job, grounds));
    fputc('\n', p->out);
    for (int i = 0; i < n; i++)
        plm_page_sentences(p, "  - ", reasons[i]);
}

/* To be pasted into a shell, so an unusual name is quoted. */
static void next_command(const struct plm_page *page, const char *before, const char *record)
{
    char *word = plm_words_quote(&record, 1);
    fprintf(page->out, "%s %s\n", before, word);
    free(word);
}

static void show_headline(const struct plm_page *p, const struct plm_summary *s)
{
    const char *torch = plm_summary_config(s, "torch"), *cuda = plm_summary_config(s, "cuda");
    fprintf(p->out, "plimsoll: %d step%s, %llu launches, %.1f s", s->steps, s->steps == 1 ? "" : "s",
            (unsigned long long)s->launches, s->seconds);
    if (torch) {
        fputs(", PyTorch ", p->out);
        plm_page_name(p, torch, 0, 0);
        fputs(" (CUDA ", p->out);
        plm_page_name(p, cuda ? cuda : "?", 0, 0);
        fputc(')', p->out);
    }
    fputc('\n', p->out);
}

static bool is_certain(const struct plm_job *job)
{
    char reasons[PLM_DOUBTS][256];
    int n;
    return !strcmp(plm_confidence(job, reasons, PLM_DOUBTS, &n), "high");
}

/* Peak, ladder, categories and modules. */
static void show_memory(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane,
                        const struct plm_report_options *o)
{
    const int less = is_certain(job) ? 0 : 1; /* to make room for the reason */
    struct plm_place place = plm_place_at(job, lane, o->at);
    plm_overview_peak(p, job, lane, o->full);
    plm_takes_played(p, job, o);
    plm_overview_ladder(p, job, lane, o->full);
    if (place.known && job->attributed) {
        plm_overview_categories(p, &place, o->at, o->full ? 0 : 4 - less);
        plm_overview_holders(p, job, lane, &place, o, o->full ? 0 : 3 - less);
    } else if (place.known)
        fputs("\nThis record has no memory categories.\n", p->out);
}

static void show_out_of_memory(const struct plm_page *p, const struct plm_job *job)
{
    char used[32], asked[32];
    for (size_t i = 0; i < job->lanes; i++)
        if (job->lane[i].summary->out_of_memory) {
            fprintf(p->out, "\nRank %d ran out of memory: %s used + %s requested.\n", job->lane[i].summary->rank,
                    plm_page_amount(p, used, sizeof used, plm_ladder(job, &job->lane[i]).device_used),
                    plm_page_amount(p, asked, sizeof asked, job->lane[i].summary->oom_asked));
            break;
        }
}

/* All there is to say. */
static void show_full(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane,
                      const struct plm_fit_table *fits, const struct plm_report_options *o)
{
    plm_overview_known(p, job);
    show_memory(p, job, lane, o);
    plm_overview_steps(p, lane);
    plm_overview_ranks(p, job, o->full);
    plm_overview_fits(p, fits);
    plm_report_time_section(p, o);
    show_out_of_memory(p, job);
    show_readbacks(p, job);
    show_refused(p, &job->summary.unmodelled);
    show_notes(p, &job->summary);
    show_confidence(p, job);
}

/* In a screen: what the answer rests on. */
static void show_screen(const struct plm_page *p, const struct plm_job *job, const struct plm_lane *lane,
                        const struct plm_fit_table *fits, const struct plm_report_options *o)
{
    char reasons[PLM_DOUBTS][256], first[64];
    const char *level;
    int n;
    show_memory(p, job, lane, o);
    plm_overview_ranks(p, job, o->full);
    show_out_of_memory(p, job);
    plm_overview_fits_brief(p, fits);
    level = plm_confidence(job, reasons, PLM_DOUBTS, &n);
    if (n && strcmp(level, "high") != 0) {
        snprintf(first, sizeof first, "Confidence %s: ", level);
        plm_page_sentences(p, first, reasons[0]);
    }
}

struct plm_page plm_report_page_for(FILE *out, const struct plm_report_options *o)
{
    return (struct plm_page){.out = out, .bytes = o->bytes, .color = o->color, .utf8 = o->utf8, .width = o->width};
}

/* The answer, what it rests on, and the answer again. */
static void show_report(const struct plm_page *p, const struct plm_job *job, const struct plm_report_options *options)
{
    struct plm_fit_table own;
    const struct plm_fit_table *fits = plm_report_fits(job, options, &own);
    const struct plm_report_asked answer = {job, fits, options};
    plm_report_answer(p, &answer, false);
    if (options->full)
        show_headline(p, &job->summary);
    (options->full ? show_full : show_screen)(p, job, plm_job_largest(job), fits, options);
    if (options->record)
        next_command(p,
                     !options->full    ? "More: plimsoll report --full"
                     : job->attributed ? "\nMore: plimsoll report --by module"
                                       : "\nMore: plimsoll report --json",
                     options->record);
    plm_report_answer(p, &answer, true);
    plm_fit_table_free(&own);
}

int plm_report_text(FILE *out, const struct plm_job *job, const struct plm_report_options *options,
                    struct plm_error *error)
{
    const struct plm_page p = plm_report_page_for(out, options);
    if (!job->lanes) /* nothing was done on a GPU */
        show_headline(&p, &job->summary);
    else if (options->listed)
        plm_listing(&p, job, plm_job_largest(job), options);
    else
        show_report(&p, job, options);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the report could not be written") : 0;
}
