
#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "base/units.h"
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

/* How many of the last steps raised their peak, each by more than `slack` of it. The second step always does: the
   optimizer's state is there then; it counts only if it is the last. */
static int rising(const struct plm_device_summary *d, bool reserved, double slack)
{
    int n = 0;
    for (int i = d->steps - 1; i > (d->steps > 2); i--, n++) {
        uint64_t now = reserved ? d->step[i].reserved_peak : d->step[i].allocated_peak;
        uint64_t before = reserved ? d->step[i - 1].reserved_peak : d->step[i - 1].allocated_peak;
        if (now <= before || (double)(now - before) <= slack * (double)before)
            break;
    }
    return n;
}

/* How many of the last steps raised the peak, and by how much on average, where it is most. Which free block
   is taken moves the allocated bytes a little from step to step; that does not count. */
static int growth(const struct plm_summary *s, uint64_t *each)
{
    int steps = 0;
    *each = 0;
    for (int i = 0; i < s->devices; i++)
        for (int reserved = 0; reserved < 2; reserved++) {
            const struct plm_device_summary *d = &s->device[i];
            int n = rising(d, reserved, reserved ? 0 : 0.005);
            const struct plm_step *last = n ? &d->step[d->steps - 1] : NULL, *first = n ? last - n : NULL;
            uint64_t rise;
            if (!n)
                continue;
            rise = reserved ? last->reserved_peak - first->reserved_peak : last->allocated_peak - first->allocated_peak;
            rise /= (uint64_t)n;
            if (!steps || rise > *each) {
                steps = n;
                *each = rise;
            }
        }
    return steps;
}

static void describe_growth(char out[256], int steps, uint64_t each)
{
    char size[32];
    plm_size_text(size, sizeof size, each);
    if (steps == 1)
        snprintf(out, 256, "the peak still grew in the last step, by %s: run more steps with --steps", size);
    else
        snprintf(out, 256, "the peak still grew in the last %d steps, by %s a step: run more steps with --steps", steps,
                 size);
}

/* Returns by how much it lowers the confidence: less if both ends were run, since the range has them. */
static int describe_assumed(char out[256], const struct plm_summary *s, uint64_t calls)
{
    const char *chosen = plm_summary_config(s, "assume");
    uint64_t most = 0, other;
    char size[32];
    for (int i = 0; i < s->devices; i++) {
        other = s->device[i].other_end;
        most = other > most ? other : most;
    }
    if (chosen)
        snprintf(out, 256, "%llu results that decide the size of tensors were assumed (--assume %.100s)",
                 (unsigned long long)calls, chosen);
    else if (most)
        snprintf(out, 256,
                 "%llu results that decide the size of tensors were read as empty; full, %s would be reserved",
                 (unsigned long long)calls, plm_size_text(size, sizeof size, most));
    else
        snprintf(out, 256, "%llu results that decide the size of tensors were read as empty",
                 (unsigned long long)calls);
    return most && !chosen ? 1 : 2;
}

static void describe_workspaces(char out[256], const struct plm_conv_range *r)
{
    char less[32], more[32];
    snprintf(
        out, 256,
        "the workspaces of %llu convolutions are estimated by a formula: they make the range %s lower and %s higher; "
        "`plimsoll calibrate` measures them",
        (unsigned long long)r->guessed, plm_size_text(less, sizeof less, r->low),
        plm_size_text(more, sizeof more, r->high));
}

/* How much a doubt of so many bytes lowers the confidence: not at all up to 5 % of the peak. */
static int weighs(const struct plm_summary *s, uint64_t bytes)
{
    uint64_t peak = 0;
    for (int i = 0; i < s->devices; i++)
        peak = s->device[i].used_peak > peak ? s->device[i].used_peak : peak;
    return bytes > peak / 20;
}

const char *plm_confidence(const struct plm_job *job, char reasons[][256], int most, int *count)
{
    const struct plm_summary *s = &job->summary;
    const struct plm_conv_range workspaces = plm_conv_range_most(job);
    uint64_t calls = plm_deciding_readbacks(s), refused = 0, each;
    int n = 0, level = 0, grown = growth(s, &each); /* level: 0 high, 1 medium, 2 low */
    char text[256], why[PLM_STACK_WHY];
    static const char *const names[] = {"high", "medium", "low"};

    for (int i = 0; i < s->unmodelled.count; i++)
        refused += s->unmodelled.item[i].calls;
#define REASON(lowers, ...) \
    (level = level > (lowers) ? level : (lowers), n < most ? (void)snprintf(reasons[n++], 256, __VA_ARGS__) : (void)0)
    if (!s->ended)
        REASON(2, "the record was cut: the job was killed or is still running");
    if (s->full)
        REASON(2, "the disk was full: events are missing");
    if (calls) {
        int lowers = describe_assumed(text, s, calls);
        REASON(lowers, "%s", text);
    } else if (plm_summary_has_note(s, "selection-assumed") && plm_summary_config(s, "assume"))
        REASON(1, "how much nonzero, masks, unique or nms keep was assumed (--assume %.100s)",
               plm_summary_config(s, "assume"));
    if (plm_summary_has_note(s, "history-late"))
        REASON(1, "the history of the snapshot begins late: an earlier peak is not in it");
    if (plm_summary_has_note(s, "history-differs"))
        REASON(1, "the history does not end with what the snapshot says is there: sizes may be a little wrong");
    if (workspaces.guessed) {
        describe_workspaces(text, &workspaces);
        REASON(weighs(s, workspaces.low + workspaces.high), "%s", text);
    } else if (plm_summary_has_note(s, "conv-formula"))
        REASON(0, "the workspaces of convolutions are estimated by a formula; how much they matter is not recorded at "
                  "this level of detail");
    if (plm_stack_job_differs(s, why))
        REASON(1, "the stack file '%.40s' is of other versions or another card: %s", plm_summary_config(s, "stack"),
               why);
    if (refused)
        REASON(1, "%llu calls were refused", (unsigned long long)refused);
    if (!s->steps)
        REASON(1, "no optimizer step was seen: the figures cover the whole command");
    else if (s->steps < 2)
        REASON(1, "only one step was seen: optimizer state and caches settle in the second");
    else if (grown) {
        describe_growth(text, grown, each);
        REASON(1, "%s", text);
    }
#undef REASON
    *count = n;
    return names[level];
}
