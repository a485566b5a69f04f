#include <string.h>

#include "analysis/summary.h"
#include "base/units.h"
#include "report/report.h"

struct page {
    FILE *out;
    const struct plm_report_options *options;
};

static const char *bold(const struct page *p, bool on)
{
    return !p->options->color ? "" : on ? "\033[1m" : "\033[0m";
}

/* "3.6 GiB" or, with --bytes, "3887071232". */
static const char *amount(const struct page *p, char *buffer, size_t size, uint64_t bytes)
{
    if (!p->options->bytes)
        return plm_size_text(buffer, size, bytes);
    snprintf(buffer, size, "%llu", (unsigned long long)bytes);
    return buffer;
}

static void bar(const struct page *p, const char *label, uint64_t value, uint64_t whole, const char *how)
{
    char text[32];
    int width = p->options->width - 52, filled;
    if (width > 40)
        width = 40;
    if (width < 8)
        width = 8;
    filled = !value ? 0 : value >= whole ? width : (int)((double)value / (double)whole * width + 0.5);
    fprintf(p->out, "  %-22s %12s  ", label, amount(p, text, sizeof text, value));
    for (int i = 0; i < width; i++)
        fputs(i < filled ? "█" : "·", p->out);
    fprintf(p->out, "  %s\n", how);
}

static void steps(const struct page *p, const struct plm_device_summary *d)
{
    char a[32], r[32];
    int shown = d->steps > 10 ? 10 : d->steps;
    if (!d->steps)
        return;
    fprintf(p->out, "\n  step     allocated     reserved\n");
    for (int i = 0; i < shown; i++)
        fprintf(p->out, "  %4d  %12s %12s\n", i + 1, amount(p, a, sizeof a, d->step[i].allocated_peak),
                amount(p, r, sizeof r, d->step[i].reserved_peak));
    if (shown < d->steps)
        fprintf(p->out, "  ... %d more steps, last: %s allocated\n", d->steps - shown,
                amount(p, a, sizeof a, d->step[d->steps - 1].allocated_peak));
}

static void device(const struct page *p, const struct plm_summary *s, const struct plm_device_summary *d)
{
    const char *gpu = plm_summary_config(s, "gpu");
    char text[32], other[32];
    uint64_t outside =
        d->used_peak > d->reserved_peak + d->libraries_peak ? d->used_peak - d->reserved_peak - d->libraries_peak : 0;

    fprintf(p->out, "\n%sPeak: %s allocated, %s reserved%s", bold(p, true),
            amount(p, text, sizeof text, d->allocated_peak), amount(p, other, sizeof other, d->reserved_peak),
            bold(p, false));
    fprintf(p->out, "   (rank %d, device %d, %s)\n\n", d->rank, d->device, gpu ? gpu : "?");
    bar(p, "tensors (allocated)", d->allocated_peak, d->used_peak, "measured");
    bar(p, "reserved by PyTorch", d->reserved_peak, d->used_peak, "measured");
    if (d->libraries_peak)
        bar(p, "+ libraries", d->libraries_peak, d->used_peak, "modelled");
    if (outside)
        bar(p, "+ other allocations", outside, d->used_peak, "measured");
    fprintf(p->out, "  %-22s %12s  not included (driver and stack; about 0.5 GiB)\n", "+ context", "");
    steps(p, d);
    if (d->out_of_memory)
        fprintf(p->out, "\n  The card was full when %s more were asked for.\n",
                amount(p, text, sizeof text, d->oom_asked));
}

static void counts(const struct page *p, const char *title, const struct plm_counts *c, int most)
{
    if (!c->count)
        return;
    fprintf(p->out, "\n%s\n", title);
    for (int i = 0; i < c->count && i < most; i++)
        fprintf(p->out, "  %s%s%s  %llu times\n", c->item[i].detail, *c->item[i].detail ? ": " : "",
                *c->item[i].name ? c->item[i].name : "(outside any operator)", (unsigned long long)c->item[i].calls);
    if (c->count > most)
        fprintf(p->out, "  ... and %d more\n", c->count - most);
}

static void notes(const struct page *p, const struct plm_summary *s)
{
    for (int i = 0; i < s->notes.count; i++) {
        const struct plm_count *n = &s->notes.item[i];
        if (!strcmp(n->name, "static-runtime"))
            fprintf(p->out,
                    "\nNote: %s carries its own static CUDA runtime, which\n"
                    "talks past the virtual device; what it allocates is not seen here.\n",
                    n->detail);
        else if (!strcmp(n->name, "fills-skipped"))
            fputs("\nNote: random initializations of large CPU tensors were skipped: the virtual GPU\n"
                  "does not read them.\n",
                  p->out);
        else if (!strcmp(n->name, "hook-failed"))
            fprintf(p->out, "\nNote: the hook does not fit this PyTorch (%s); steps may not be counted.\n", n->detail);
        else if (!strcmp(n->name, "stack-assumed"))
            fputs("\nNote: PyTorch's metadata does not name its cuDNN and NCCL; the newest of its CUDA\n"
                  "generation are assumed.\n",
                  p->out);
    }
}

static void confidence(const struct page *p, const struct plm_summary *s)
{
    char reasons[8][256];
    int n;
    const char *level = plm_report_confidence(s, reasons, 8, &n);
    fprintf(p->out, "\nConfidence: %s%s\n", level, n ? "" : " (every step alike, nothing refused)");
    for (int i = 0; i < n; i++)
        fprintf(p->out, "  - %s\n", reasons[i]);
}

/* To be pasted into a shell, so an unusual name is quoted. */
static void next_command(FILE *out, const char *record)
{
    bool plain =
        strspn(record, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@") == strlen(record);
    fprintf(out, "\nRecord: %s\nNext:   plimsoll report --json ", record);
    if (plain) {
        fprintf(out, "%s\n", record);
        return;
    }
    fputc('\'', out);
    for (const char *p = record; *p; p++)
        fputs(*p == '\'' ? "'\\''" : (char[]){*p, '\0'}, out);
    fputs("'\n", out);
}

void plm_report_text(FILE *out, const struct plm_summary *s, const struct plm_report_options *options)
{
    struct page p = {out, options};
    const char *torch = plm_summary_config(s, "torch"), *cuda = plm_summary_config(s, "cuda");

    fprintf(out, "plimsoll: %d step%s, %llu launches, %.1f s", s->steps, s->steps == 1 ? "" : "s",
            (unsigned long long)s->launches, s->seconds);
    if (torch)
        fprintf(out, ", PyTorch %s (CUDA %s)", torch, cuda ? cuda : "?");
    fputc('\n', out);
    for (int i = 0; i < s->devices; i++)
        device(&p, s, &s->device[i]);
    for (int i = 0; i < s->devices; i++)
        counts(&p, "Values read back after kernels (they read as zeros):", &s->device[i].readbacks, 5);
    counts(&p, "Not modelled (answered \"not supported\"):", &s->unmodelled, 10);
    notes(&p, s);
    confidence(&p, s);
    if (options->record)
        next_command(out, options->record);
}
