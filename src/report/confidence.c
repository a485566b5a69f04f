#include <stdio.h>
#include <string.h>

#include "analysis/summary.h"
#include "report/report.h"

/* Operators whose result decides how large the next tensors are. */
static const char *const deciding[] = {"aten::nonzero",   "aten::masked_select",     "aten::unique",
                                       "aten::_unique2",  "aten::unique_dim",        "aten::unique_consecutive",
                                       "torchvision::nms", "aten::repeat_interleave", "aten::bincount",
                                       "aten::all"};

uint64_t plm_report_deciding(const struct plm_summary *s)
{
    uint64_t calls = 0;
    for (int d = 0; d < s->devices; d++)
        for (int i = 0; i < s->device[d].readbacks.count; i++)
            for (size_t k = 0; k < sizeof deciding / sizeof deciding[0]; k++)
                if (!strcmp(s->device[d].readbacks.item[i].name, deciding[k]))
                    calls += s->device[d].readbacks.item[i].calls;
    return calls;
}

static bool still_grows(const struct plm_summary *s)
{
    for (int i = 0; i < s->devices; i++) {
        const struct plm_device_summary *d = &s->device[i];
        const struct plm_step *last;
        if (d->steps < 2)
            continue;
        last = &d->step[d->steps - 1];
        /* Which free block is taken moves the allocated bytes a little from step to step. */
        if (last->reserved_peak > last[-1].reserved_peak ||
            last->allocated_peak > last[-1].allocated_peak + last[-1].allocated_peak / 200)
            return true;
    }
    return false;
}

const char *plm_report_confidence(const struct plm_summary *s, char reasons[][256], int most, int *count)
{
    uint64_t calls = plm_report_deciding(s), refused = 0;
    int n = 0, level = 0; /* 0 high, 1 medium, 2 low */
    static const char *const names[] = {"high", "medium", "low"};

    for (int i = 0; i < s->unmodelled.count; i++)
        refused += s->unmodelled.item[i].calls;
#define REASON(lowers, ...) \
    (level = level > (lowers) ? level : (lowers), n < most ? (void)snprintf(reasons[n++], 256, __VA_ARGS__) : (void)0)
    if (!s->ended)
        REASON(2, "the record was cut: the job was killed or is still running");
    if (s->full)
        REASON(2, "the disk was full: events are missing");
    if (calls)
        REASON(2, "%llu results that decide the size of tensors were read as empty", (unsigned long long)calls);
    if (refused)
        REASON(1, "%llu calls were refused", (unsigned long long)refused);
    if (!s->steps)
        REASON(1, "no optimizer step was seen: the figures cover the whole command");
    else if (s->steps < 2)
        REASON(1, "only one step was seen: optimizer state and caches settle in the second");
    else if (still_grows(s))
        REASON(1, "the peak still grew in the last step: run more steps with --steps");
#undef REASON
    *count = n;
    return names[level];
}
