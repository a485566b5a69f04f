#include "fit/ladder.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/memory.h"
#include "common/card.h"

#define MOST (1ull << 44) /* no card has more: sums cannot overflow */

static uint64_t bytes_bounded(uint64_t bytes)
{
    return bytes < MOST ? bytes : MOST;
}

static void line_measured(struct plm_line *line, const struct plm_summary_context *said)
{
    uint64_t bytes = bytes_bounded(said->bytes), low = bytes_bounded(said->low), high = bytes_bounded(said->high);
    *line = (struct plm_line){.name = "context",
                              .group = "context",
                              .bytes = bytes,
                              .low = low && low < bytes ? low : bytes,
                              .high = high > bytes ? high : bytes,
                              .kind = PLM_LINE_MEASURED};
    snprintf(line->reason, sizeof line->reason, "%s", said->source[0] ? said->source : "measured for this software");
}

struct plm_ladder_context plm_ladder_context(const struct plm_summary *s, const struct plm_summary_device *d,
                                             const struct plm_card *card)
{
    struct plm_overhead overhead = d->overhead;
    struct plm_ladder_context c = {0};
    int kept = 0;
    if (card && overhead.sms) {
        overhead.sms = (unsigned)card->sms;
        overhead.threads = (unsigned)card->max_threads_per_sm;
    }
    c.lines = plm_overhead_lines(&overhead, c.line);
    if (s->context.known) {
        line_measured(&c.line[kept++], &s->context);
        for (int i = 1; i < c.lines; i++) /* the first is a usual one */
            if (!c.line[i].usual)
                c.line[kept++] = c.line[i];
        c.lines = kept;
    }
    for (int i = 0; i < c.lines; i++) {
        c.bytes += c.line[i].bytes;
        c.low += c.line[i].low;
        c.high += c.line[i].high;
    }
    return c;
}

static struct plm_line *line_add(struct plm_ladder *l, const char *group, const char *name, uint64_t bytes,
                                 enum plm_line_kind kind, const char *reason)
{
    struct plm_line *line = &l->line[l->lines++];
    *line = (struct plm_line){.group = group, .bytes = bytes, .low = bytes, .high = bytes, .kind = kind};
    snprintf(line->name, sizeof line->name, "%s", name);
    snprintf(line->reason, sizeof line->reason, "%s", reason);
    return line;
}

static void add_reserved(struct plm_ladder *l, const struct plm_job *job, const struct plm_lane *lane, uint64_t bytes)
{
    const struct plm_summary_device *d = lane->summary;
    const struct plm_fit_conv_range workspaces = plm_fit_conv_range(job, lane);
    uint64_t other_end = d->other_end;
    struct plm_line *line =
        line_add(l, "reserved", "reserved", bytes, PLM_LINE_MEASURED,
                 d->caching ? "segments of PyTorch's allocator, as it ran" : "allocations of the program");
    line->low -= workspaces.low < line->low ? workspaces.low : line->low;
    line->high += workspaces.high;
    if (workspaces.guessed)
        snprintf(line->reason, sizeof line->reason, "convolution workspaces are estimated by a formula");
    if (!other_end)
        return;
    if (other_end > d->reserved_peak)
        line->high += other_end - d->reserved_peak;
    else
        line->low -= d->reserved_peak - other_end < line->low ? d->reserved_peak - other_end : line->low;
    snprintf(line->reason, sizeof line->reason,
             "the other end is what the job reserves with other data-dependent sizes");
}

/* What the memory of a library is for. */
static const char *library_purpose(const char *library)
{
    static const struct {
        const char *library, *purpose;
    } rows[] = {
        {"cublas", "default workspaces of handles; the upper end if each is allocated with its handle"},
        {"cufft", "work areas that plans allocate themselves"},
        {"nccl", "buffers of channels and connections, depending on the interconnect"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(rows[i].library, library))
            return rows[i].purpose;
    return "buffers and workspaces outside PyTorch's allocator";
}

/* `room`: what they took in all, so that a damaged record cannot make more of it. */
static void add_libraries(struct plm_ladder *l, const struct plm_summary_device *d, uint64_t room)
{
    for (int i = 0; i < d->takers; i++) {
        const struct plm_taker *t = &d->taker[i];
        uint64_t bytes = t->at_peak < room ? t->at_peak : room;
        struct plm_line *line;
        if (!bytes && !t->high)
            continue;
        room -= bytes;
        line = line_add(l, "libraries", t->name, bytes, PLM_LINE_MODELLED, library_purpose(t->name));
        if (t->high) {
            line->low = t->low < bytes ? t->low : bytes;
            line->high = t->high > bytes ? t->high : bytes;
        }
    }
}

static uint64_t taken_at_peak(const struct plm_summary_device *d)
{
    uint64_t sum = 0;
    for (int i = 0; i < d->takers; i++)
        sum += d->taker[i].at_peak;
    return sum < d->used_peak ? sum : d->used_peak;
}

/* What the code below adds at most. */
static_assert(PLM_LADDER_LINES >= 1 + PLM_TAKERS + 2 + PLM_OVERHEAD_LINES, "a ladder has a line for each part");

/* All that no card changes: of the process alone, without its context. */
static struct plm_ladder ladder_bare(const struct plm_job *job, const struct plm_lane *lane)
{
    const struct plm_summary_device *d = lane->summary;
    uint64_t inside = d->reserved_peak + d->libraries_peak, taken = taken_at_peak(d), left = d->used_peak - taken;
    uint64_t held = d->reserved_peak < left ? d->reserved_peak : left;
    struct plm_ladder l = {.allocated = d->allocated_peak.bytes,
                           .reserved = d->reserved_peak,
                           .libraries = d->libraries_peak,
                           .other = d->used_peak > inside ? d->used_peak - inside : 0,
                           .device_used = d->used_peak};
    add_reserved(&l, job, lane, held);
    add_libraries(&l, d, taken);
    if (left > held)
        line_add(&l, "other", "other allocations", left - held, PLM_LINE_MEASURED, "allocated by the program itself");
    for (int i = 0; i < l.lines; i++) {
        l.low += l.line[i].low;
        l.high += l.line[i].high;
    }
    return l;
}

struct plm_ladders plm_ladders_make(const struct plm_job *job)
{
    struct plm_ladders ladders = {job, plm_calloc(job->lanes, sizeof *ladders.bare)};
    for (size_t i = 0; i < job->lanes; i++)
        ladders.bare[i] = ladder_bare(job, &job->lane[i]);
    return ladders;
}

void plm_ladders_free(struct plm_ladders *ladders)
{
    free(ladders->bare);
    ladders->bare = NULL;
}

/* `kept` NULL: it is made. */
static struct plm_ladder bare_of(const struct plm_job *job, const struct plm_lane *lane, const struct plm_ladders *kept)
{
    return kept ? kept->bare[lane - job->lane] : ladder_bare(job, lane);
}

/* What all held at a time was measured; at the high end their peaks meet. */
static void add_beside(struct plm_ladder *l, const struct plm_job *job, const struct plm_lane *lane,
                       const struct plm_card *card, const struct plm_ladders *kept)
{
    const uint64_t own = lane->summary->used_peak, held = lane->together > own ? lane->together - own : 0;
    uint64_t bytes = held, low = held, high = 0;
    struct plm_line *line;
    for (size_t i = 0; i < job->lanes; i++)
        if (plm_lanes_share(lane, &job->lane[i])) {
            const struct plm_ladder_context c = plm_ladder_context(&job->summary, job->lane[i].summary, card);
            bytes += c.bytes;
            low += c.low;
            high += bare_of(job, &job->lane[i], kept).high + c.high;
        }
    line = line_add(l, "other", "other processes", bytes, PLM_LINE_MEASURED,
                    "other processes of the job on this GPU, with their contexts");
    line->low = low;
    line->high = high > bytes ? high : bytes;
    l->beside = bytes;
    l->other += bytes;
    l->device_used += bytes;
    l->low += line->low;
    l->high += line->high;
}

/* The rest, of a card: other processes that use it, and the context. */
static struct plm_ladder ladder_make(const struct plm_job *job, const struct plm_lane *lane,
                                     const struct plm_card *card, const struct plm_ladders *kept)
{
    const struct plm_ladder_context context = plm_ladder_context(&job->summary, lane->summary, card);
    struct plm_ladder l = bare_of(job, lane, kept);
    if (lane->together)
        add_beside(&l, job, lane, card, kept);
    for (int i = 0; i < context.lines; i++)
        l.line[l.lines++] = context.line[i];
    l.context = context.bytes;
    l.device_used += context.bytes;
    l.low += context.low;
    l.high += context.high;
    return l;
}

struct plm_ladder plm_ladder_on(const struct plm_job *job, const struct plm_lane *lane, const struct plm_card *card)
{
    return ladder_make(job, lane, card, NULL);
}

struct plm_ladder plm_ladders_on(const struct plm_ladders *ladders, const struct plm_lane *lane,
                                 const struct plm_card *card)
{
    return ladder_make(ladders->job, lane, card, ladders);
}

struct plm_ladder plm_ladder(const struct plm_job *job, const struct plm_lane *lane)
{
    return plm_ladder_on(job, lane, NULL);
}

struct plm_ladder plm_ladders_job(const struct plm_ladders *ladders, const struct plm_card *card)
{
    const struct plm_job *job = ladders->job;
    struct plm_ladder most = {0};
    uint64_t low = 0, high = 0;
    for (size_t i = 0; i < job->lanes; i++) {
        const struct plm_ladder l = plm_ladders_on(ladders, &job->lane[i], card);
        low = l.low > low ? l.low : low;
        high = l.high > high ? l.high : high;
        if (!i || l.device_used > most.device_used)
            most = l;
    }
    most.low = low;
    most.high = high;
    return most;
}

struct plm_ladder plm_ladder_job(const struct plm_job *job, const struct plm_card *card)
{
    struct plm_ladders ladders = plm_ladders_make(job);
    const struct plm_ladder most = plm_ladders_job(&ladders, card);
    plm_ladders_free(&ladders);
    return most;
}

enum plm_verdict plm_ladder_fit(const struct plm_ladder *l, uint64_t usable)
{
    return l->high <= usable ? PLM_FITS : l->low <= usable ? PLM_TIGHT : PLM_NO_FIT;
}

const char *plm_verdict_name(enum plm_verdict verdict)
{
    static const char *const names[] = {
        [PLM_FITS] = "fits", [PLM_TIGHT] = "tight", [PLM_NO_FIT] = "no", [PLM_UNKNOWN] = "unknown"};
    return names[verdict];
}
