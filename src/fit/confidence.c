#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "common/period.h"
#include "common/policy.h"
#include "base/units.h"
#include "fit/known.h"
#include "fit/ladder.h"

/* Operators whose result decides how large the next tensors are. */
static const char *const deciding[] = {"aten::nonzero",    "aten::masked_select",     "aten::unique",
                                       "aten::_unique2",   "aten::unique_dim",        "aten::unique_consecutive",
                                       "torchvision::nms", "aten::repeat_interleave", "aten::bincount",
                                       "aten::all"};

uint64_t plm_deciding_readbacks(const struct plm_summary *s)
{
    uint64_t calls = 0;
    for (int d = 0; d < s->devices; d++)
        for (int i = 0; i < s->device[d].readbacks.count; i++)
            for (size_t k = 0; k < sizeof deciding / sizeof deciding[0]; k++)
                if (!strcmp(s->device[d].readbacks.item[i].name, deciding[k]))
                    calls += s->device[d].readbacks.item[i].calls;
    return calls;
}

/* Which free block is taken moves the allocated bytes a little from step to step; up to this much does not count. */
#define SLACK 0.005

/* ---- steps ---- */

static uint64_t step_peak(const struct plm_step *step, bool reserved)
{
    return reserved ? step->reserved_peak : step->allocated_peak;
}

/* How many of the last steps raised their peak, each by more than `slack` of it. The second step always does: the
   optimizer's state is there then; it counts only if it is the last. */
static int rising(const struct plm_summary_device *d, bool reserved, double slack)
{
    int n = 0;
    for (int i = d->steps - 1; i > (d->steps > 2); i--, n++) {
        const uint64_t now = step_peak(&d->step[i], reserved);
        uint64_t before = 0; /* in any step: they may take turns */
        for (int k = 0; k < i; k++)
            before = step_peak(&d->step[k], reserved) > before ? step_peak(&d->step[k], reserved) : before;
        if (now <= before || (double)(now - before) <= slack * (double)before)
            break;
    }
    return n;
}

/* How many of the last steps raised the peak, and by how much on average, where it is most. */
static int growth(const struct plm_summary *s, uint64_t *each)
{
    int steps = 0;
    *each = 0;
    for (int i = 0; i < s->devices; i++)
        for (int reserved = 0; reserved < 2; reserved++) {
            const struct plm_summary_device *d = &s->device[i];
            int n = rising(d, reserved, reserved ? 0 : SLACK);
            const struct plm_step *last = n ? &d->step[d->steps - 1] : NULL, *first = n ? last - n : NULL;
            uint64_t rise;
            if (!n)
                continue;
            rise = step_peak(last, reserved) - step_peak(first, reserved);
            rise /= (uint64_t)n;
            if (!steps || rise > *each) {
                steps = n;
                *each = rise;
            }
        }
    return steps;
}

static bool step_same(const void *steps, int one, int other)
{
    const struct plm_step *a = (const struct plm_step *)steps + one, *b = (const struct plm_step *)steps + other;
    const double less = (double)a->allocated_peak - (double)b->allocated_peak;
    const double slack = SLACK * (double)a->allocated_peak;
    return a->reserved_peak == b->reserved_peak && less <= slack && -less <= slack;
}

/* How many of the last steps of a device have the same peaks, or take the same turns. */
static int steps_alike(const struct plm_summary_device *d)
{
    const int period = plm_period(d->step, d->steps, 1, step_same);
    return period ? period + plm_period_repeats(d->step, d->steps, period, step_same) : d->steps > 0;
}

/* Of the device on which they are fewest. A device of a process without steps tells nothing. */
static int job_steps_alike(const struct plm_summary *s)
{
    int least = s->steps;
    for (int i = 0; i < s->devices; i++) {
        const struct plm_summary_device *d = &s->device[i];
        const int n = steps_alike(d) + s->steps - d->steps; /* it came when others had made steps */
        if (d->steps && n < least)
            least = n;
    }
    return least;
}

/* ---- doubts: each writes its reason and returns how far it lowers the confidence ---- */

enum weight { NO_DOUBT = -1, WORTH_SAYING, MEDIUM, LOW };

/* What values that were not known do, by what the record tells of them: the rows of common/policy.def. */
static const struct {
    const char *tells;
    enum plm_policy doubt, both_ends;
} policy[] = {
#define READS(name, tells, situation, answer, doubt, both_ends, when) \
    {tells, PLM_POLICY_##doubt, PLM_POLICY_##both_ends},
#include "common/policy.def"
};

/* The most that a row does which tells this: the record does not say which of them it was. */
static enum weight policy_weight(const char *tells, bool both_ends)
{
    static const enum weight weights[] = {
        [PLM_POLICY_UNCHANGED] = WORTH_SAYING, [PLM_POLICY_MEDIUM] = MEDIUM, [PLM_POLICY_LOW] = LOW};
    enum weight most = WORTH_SAYING;
    for (size_t i = 0; i < sizeof policy / sizeof policy[0]; i++) {
        const enum weight one = weights[both_ends ? policy[i].both_ends : policy[i].doubt];
        if (!strcmp(policy[i].tells, tells) && one > most)
            most = one;
    }
    return most;
}

static enum weight doubt_known(const struct plm_job *job, char out[256])
{
    const struct plm_fit_known known = plm_fit_known(job);
    if (known.what == PLM_KNOWN_PEAK)
        return NO_DOUBT;
    snprintf(out, 256, "%s%s", known.what == PLM_KNOWN_ENOUGH ? "" : "unknown: ", known.why);
    return known.what == PLM_KNOWN_ENOUGH ? MEDIUM : LOW;
}

/* Shares of device_used: docs/accuracy.md. */
static const struct {
    double share;
    enum weight weight;
} widths[] = {{1.0, LOW}, {0.25, MEDIUM}};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

/* How far apart the ends of the context's lines are. */
static uint64_t context_width(const struct plm_ladder *l)
{
    uint64_t width = 0;
    for (int i = 0; i < l->lines; i++)
        if (!strcmp(l->line[i].group, "context"))
            width += l->line[i].high - l->line[i].low;
    return width;
}

/* What a context takes belongs to the stack, and is as unsure for one job as for another: it is said, but the confidence is
   about the job. */
static enum weight doubt_width(const struct plm_job *job, char out[256])
{
    const struct plm_ladder l = plm_ladder_job(job, NULL);
    const uint64_t width = l.high - l.low, context = context_width(&l);
    const double own = (double)(width > context ? width - context : 0);
    enum weight weight = WORTH_SAYING;
    char low[32], high[32];
    if ((double)width <= widths[WIDTHS - 1].share * (double)l.device_used)
        return NO_DOUBT;
    for (size_t i = WIDTHS; i-- > 0;)
        if (own > widths[i].share * (double)l.device_used)
            weight = widths[i].weight;
    snprintf(out, 256, "the range is wide: %s to %s, %.0f %% of the figure%s", plm_size_text(low, sizeof low, l.low),
             plm_size_text(high, sizeof high, l.high), 100 * (double)width / (double)l.device_used,
             weight == WORTH_SAYING ? ", including the CUDA context" : "");
    return weight;
}

/* What the second run reserved; 0: there was none. */
static uint64_t other_end_most(const struct plm_summary *s)
{
    uint64_t most = 0;
    for (int i = 0; i < s->devices; i++)
        most = s->device[i].other_end > most ? s->device[i].other_end : most;
    return most;
}

/* Kinds of notes that tell of a size. */
#define KEPT    "selection-assumed"
#define DECIDES "choice-decides"

/* Less if both ends were run, since the range has them. */
static enum weight doubt_read(const struct plm_job *job, char out[256])
{
    const struct plm_summary *s = &job->summary;
    const uint64_t calls = plm_deciding_readbacks(s);
    const char *chosen = plm_summary_config(s, "assume");
    const uint64_t most = other_end_most(s);
    const char *results = calls == 1 ? "data-dependent size was" : "data-dependent sizes were";
    char size[32];
    if (!calls && !(chosen && plm_summary_has_note(s, KEPT)))
        return NO_DOUBT;
    if (!calls)
        snprintf(out, 256, "how much nonzero, masks, unique and nms keep was assumed (--assume %.100s)", chosen);
    else if (chosen)
        snprintf(out, 256, "%llu %s assumed (--assume %.100s)", (unsigned long long)calls, results, chosen);
    else if (most)
        snprintf(out, 256, "%llu %s assumed empty; if full, %s would be reserved", (unsigned long long)calls, results,
                 plm_size_text(size, sizeof size, most));
    else
        snprintf(out, 256, "%llu %s assumed empty; `run --both-ends` runs again with the largest",
                 (unsigned long long)calls, results);
    return policy_weight(calls ? PLM_TELLS_READBACK : KEPT, most && !chosen);
}

#define ORDER  "sizes depend on results of sort, randperm or multinomial, which were assumed (docs/values.md)"
#define NUMBER "sizes depend on a loss, mean or norm that was assumed to be about 0.001 (docs/values.md)"
#define CHOICE "sizes depend on topk's choices (a router's experts), which were assumed: %.20s"

/* Routers choose by weights, and so do sorted scores. What they choose was assumed, and tensors are as large as that makes them. */
static enum weight doubt_choice(const struct plm_job *job, char out[256])
{
    const struct plm_summary *s = &job->summary;
    const char *rule = NULL;
    const uint64_t most = other_end_most(s);
    char size[32];
    if (!plm_summary_has_note(s, DECIDES))
        return NO_DOUBT;
    if (!plm_summary_notes(s, "choices-assumed", &rule))
        snprintf(out, 256, "%s", plm_summary_has_note(s, "orders-assumed") ? ORDER : NUMBER);
    else if (most)
        snprintf(out, 256, CHOICE "; in the other case %s would be reserved", rule,
                 plm_size_text(size, sizeof size, most));
    else if (plm_summary_config(s, "assume"))
        snprintf(out, 256, CHOICE, rule);
    else
        snprintf(out, 256, CHOICE "; `run --both-ends` also runs it with all making the same choice", rule);
    return policy_weight(DECIDES, most > 0);
}

/* A loop ran as often as an assumed value let it: a solver's steps, an iteration that converges. */
static enum weight doubt_loop(const struct plm_job *job, char out[256])
{
    const char *where = NULL;
    const int loops = plm_summary_notes(&job->summary, "loop-assumed", &where);
    if (!where)
        return NO_DOUBT;
    snprintf(out, 256, "how often %s depends on an assumed value: %.180s",
             loops == 1 ? "a loop runs" : "some loops run", where);
    return policy_weight("loop-assumed", false);
}

/* One would have waited for ever. */
static enum weight doubt_loop_ended(const struct plm_job *job, char out[256])
{
    const char *where = NULL;
    const int loops = plm_summary_notes(&job->summary, "loop-ended", &where);
    if (!where)
        return NO_DOUBT;
    snprintf(out, 256, "%s waited for a value that plimsoll did not compute and got another: %.160s",
             loops == 1 ? "a loop" : "some loops", where);
    return policy_weight("loop-ended", false);
}

/* A rank whose peers were not run took something from one of them, which may have decided what it did. */
static enum weight doubt_absent(const struct plm_job *job, char out[256])
{
    const char *first = NULL;
    const int count = plm_summary_notes(&job->summary, "absent-peer", &first);
    if (!first)
        return NO_DOUBT;
    snprintf(out, 256, "%d value%s came from ranks that were not run and %s unknown: %.150s", count,
             count == 1 ? "" : "s", count == 1 ? "is" : "are", first);
    return MEDIUM;
}

static enum weight doubt_history(const struct plm_job *job, char out[256])
{
    if (!plm_summary_has_note(&job->summary, "history-late"))
        return NO_DOUBT;
    snprintf(out, 256, "the snapshot's history starts late: an earlier peak is missing");
    return MEDIUM;
}

static enum weight doubt_history_end(const struct plm_job *job, char out[256])
{
    if (!plm_summary_has_note(&job->summary, "history-differs"))
        return NO_DOUBT;
    snprintf(out, 256, "the history does not end in the snapshot's state: sizes may be slightly wrong");
    return MEDIUM;
}

/* What cuDNN chooses belongs to the stack, as the context does; the range that it makes counts with its width. */
static enum weight doubt_workspaces(const struct plm_job *job, char out[256])
{
    const struct plm_fit_conv_range r = plm_fit_conv_range_most(job);
    char less[32], more[32];
    if (r.guessed)
        snprintf(out, 256,
                 "the workspaces of %llu convolutions are estimated by a formula, which widens the range by %s down "
                 "and %s up; `plimsoll calibrate` measures them",
                 (unsigned long long)r.guessed, plm_size_text(less, sizeof less, r.low),
                 plm_size_text(more, sizeof more, r.high));
    else if (plm_summary_has_note(&job->summary, "conv-formula"))
        snprintf(
            out, 256,
            "convolution workspaces are estimated by a formula; this --detail does not record how much they matter");
    else
        return NO_DOUBT;
    return WORTH_SAYING;
}

static bool config_is(const struct plm_job *job, const char *key, const char *value)
{
    const char *text = plm_summary_config(&job->summary, key);
    return text && !strcmp(text, value);
}

/* One that was written down and not named has rows for some convolutions, and may be of another cuDNN than the job's. */
static bool stack_used(const struct plm_job *job)
{
    return !config_is(job, "stack-chosen", "card") || !config_is(job, "stack-made", "written") ||
           plm_summary_has_note(&job->summary, "conv-table");
}

static enum weight doubt_stack_taken(const struct plm_job *job, char out[256])
{
    const char *made = plm_summary_config(&job->summary, "stack-made");
    if (!config_is(job, "stack-chosen", "card") || !stack_used(job))
        return NO_DOUBT;
    snprintf(out, 256, "the stack file '%.40s' (%.20s) was used for this GPU; `--stack none` turns it off",
             plm_summary_config(&job->summary, "stack"), made ? made : "unknown");
    return WORTH_SAYING;
}

static enum weight doubt_stack(const struct plm_job *job, char out[256])
{
    char why[PLM_STACK_WHY];
    if (!plm_summary_own_stack_differs(&job->summary, why) || !stack_used(job))
        return NO_DOUBT;
    snprintf(out, 256, "the stack file '%.40s' is for other versions or another GPU: %s",
             plm_summary_config(&job->summary, "stack"), why);
    return MEDIUM;
}

static enum weight doubt_shared(const struct plm_job *job, char out[256])
{
    const struct plm_lane *most = NULL;
    int processes = 1;
    char size[32];
    for (size_t i = 0; i < job->lanes; i++)
        if (job->lane[i].together && (!most || job->lane[i].together > most->together))
            most = &job->lane[i];
    if (!most)
        return NO_DOUBT;
    for (size_t i = 0; i < job->lanes; i++)
        processes += plm_lanes_share(most, &job->lane[i]);
    snprintf(out, 256, "%d processes share one GPU, rank %d and others: together they use %s of it", processes,
             most->summary->rank, plm_size_text(size, sizeof size, plm_ladder(job, most).device_used));
    return WORTH_SAYING;
}

/* One that found nothing to do, or was told so by a value that it did not have. */
static enum weight doubt_idle(const struct plm_job *job, char out[256])
{
    const struct plm_summary *s = &job->summary;
    const struct plm_summary_device *first = NULL;
    int idle = 0;
    for (int i = 0; i < s->devices && s->steps; i++) {
        const struct plm_summary_device *d = &s->device[i];
        if (d->steps || d->status || d->out_of_memory || !d->communicators.count) /* no rank, but some helper */
            continue;
        first = first ? first : d;
        idle++;
    }
    if (!idle)
        return NO_DOUBT;
    snprintf(out, 256, "rank %d%s made no step: its training memory is unknown", first->rank,
             idle > 1 ? " and others" : "");
    return MEDIUM;
}

static enum weight doubt_late(const struct plm_job *job, char out[256])
{
    if (!plm_summary_has_note(&job->summary, "message-late"))
        return NO_DOUBT;
    snprintf(out, 256, "a rank timed out waiting for a message and went on");
    return MEDIUM;
}

static enum weight doubt_object(const struct plm_job *job, char out[256])
{
    const char *first = NULL;
    if (!plm_summary_notes(&job->summary, "object-large", &first) || !first)
        return NO_DOUBT;
    snprintf(out, 256, "an object of more than 1 MiB did not reach the other ranks: %.120s", first);
    return MEDIUM;
}

static enum weight doubt_refused(const struct plm_job *job, char out[256])
{
    uint64_t calls = 0;
    for (int i = 0; i < job->summary.unmodelled.count; i++)
        calls += job->summary.unmodelled.item[i].calls;
    snprintf(out, 256, "%llu calls were refused", (unsigned long long)calls);
    return calls ? MEDIUM : NO_DOUBT;
}

static enum weight doubt_steps(const struct plm_job *job, char out[256])
{
    const struct plm_fit_known known = plm_fit_known(job);
    const struct plm_summary *s = &job->summary;
    uint64_t each;
    const int grown = growth(s, &each);
    char size[32];
    if (known.failed || known.what == PLM_KNOWN_NOTHING) /* it was told why there are no more */
        return NO_DOUBT;
    plm_size_text(size, sizeof size, each);
    if (!s->steps)
        snprintf(out, 256, "no optimizer step was seen: the figures cover the whole command");
    else if (s->steps < 2)
        snprintf(out, 256, "only one step was seen: optimizer state and caches settle in the second step");
    else if (grown == 1)
        snprintf(out, 256, "the peak still grew in the last step, by %s: run more steps with --steps", size);
    else if (grown)
        snprintf(out, 256, "the peak still grew in the last %d steps, by %s per step: run more steps with --steps",
                 grown, size);
    else if (job_steps_alike(s) < 2)
        snprintf(out, 256, "the last two steps differ: a longer run may reach a higher peak");
    else
        return NO_DOUBT;
    return MEDIUM;
}

/* The device whose peak came after the last step of its process, the highest of them; NULL: none has. */
static const struct plm_summary_device *peak_outside(const struct plm_summary *s)
{
    const struct plm_summary_device *found = NULL;
    for (int i = 0; i < s->devices; i++) {
        const struct plm_summary_device *d = &s->device[i];
        if (d->steps && d->allocated_peak.step >= (uint32_t)d->steps &&
            (!found || d->allocated_peak.bytes > found->allocated_peak.bytes))
            found = d;
    }
    return found;
}

/* What steps repeat tells nothing of it. With --until-exit all of the command is what was asked about. */
static enum weight doubt_outside(const struct plm_job *job, char out[256])
{
    const struct plm_fit_known known = plm_fit_known(job);
    const struct plm_summary_device *d = peak_outside(&job->summary);
    uint64_t within = 0;
    char peak[32], step[32];
    if (!d || known.failed || known.what == PLM_KNOWN_NOTHING)
        return NO_DOUBT;
    for (int i = 0; i < d->steps; i++)
        within = d->step[i].allocated_peak > within ? d->step[i].allocated_peak : within;
    snprintf(out, 256,
             "the peak of rank %d, %s, came after its last counted step (%d): within the steps it allocated %s",
             d->rank, plm_size_text(peak, sizeof peak, d->allocated_peak.bytes), d->steps,
             plm_size_text(step, sizeof step, within));
    return plm_summary_config(&job->summary, "until-exit") ? WORTH_SAYING : MEDIUM;
}

typedef enum weight doubt(const struct plm_job *job, char out[256]);

/* In the order in which they are told; docs/accuracy.md has the same table in words. */
static doubt *const doubts[] = {doubt_known,       doubt_width,   doubt_read,    doubt_choice,      doubt_loop,
                                doubt_loop_ended,  doubt_absent,  doubt_history, doubt_history_end, doubt_workspaces,
                                doubt_stack_taken, doubt_stack,   doubt_shared,  doubt_idle,        doubt_late,
                                doubt_object,      doubt_refused, doubt_steps,   doubt_outside};

_Static_assert(sizeof doubts / sizeof doubts[0] == PLM_DOUBTS, "callers have room for all");

const char *plm_confidence(const struct plm_job *job, char reasons[][256], int most, int *count)
{
    static const char *const names[] = {[WORTH_SAYING] = "high", [MEDIUM] = "medium", [LOW] = "low"};
    enum weight level = WORTH_SAYING;
    char text[256];
    *count = 0;
    for (size_t i = 0; i < sizeof doubts / sizeof doubts[0]; i++) {
        const enum weight weight = doubts[i](job, text);
        if (weight == NO_DOUBT)
            continue;
        level = weight > level ? weight : level;
        if (*count < most)
            memcpy(reasons[(*count)++], text, sizeof text);
    }
    return names[level];
}

const char *plm_confidence_grounds(const struct plm_job *job, char out[64])
{
    const int steps = job->summary.steps, alike = job_steps_alike(&job->summary);
    if (alike == steps)
        snprintf(out, 64, "all steps identical, nothing refused");
    else
        snprintf(out, 64, "last %d of %d steps identical, nothing refused", alike, steps);
    return out;
}
