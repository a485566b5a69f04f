#include "analysis/ladder.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/conv_range.h"
#include "analysis/summary.h"

#define MIB (1024ull * 1024)

static const struct plm_context_memory assumed = {550 * MIB, 450 * MIB, 700 * MIB,
                                                  "docs/accuracy: measured 500-600 MiB on current lazy-loading stacks"};

const struct plm_context_memory *plm_context_memory(void)
{
    return &assumed;
}

/* `plimsoll run` writes "allocated reserved". */
uint64_t plm_ladder_other_end(const struct plm_summary *s, const struct plm_device_summary *d)
{
    const char *value;
    char key[64], *end;
    snprintf(key, sizeof key, "other-end[%d,%d]", d->rank, d->device);
    value = plm_summary_config(s, key);
    if (!value)
        return 0;
    strtoull(value, &end, 10);
    return strtoull(end, NULL, 10);
}

struct plm_ladder plm_ladder(const struct plm_summary *s, const struct plm_device_summary *d)
{
    uint64_t inside = d->reserved_peak + d->libraries_peak, other_end = plm_ladder_other_end(s, d);
    uint64_t low = d->used_peak, high = d->used_peak;
    struct plm_ladder l = {.allocated = d->allocated_peak,
                           .reserved = d->reserved_peak,
                           .libraries = d->libraries_peak,
                           .other = d->used_peak > inside ? d->used_peak - inside : 0,
                           .context = assumed.bytes};
    if (other_end > d->reserved_peak)
        high += other_end - d->reserved_peak;
    else if (other_end)
        low -= d->reserved_peak - other_end < low ? d->reserved_peak - other_end : low;
    plm_conv_range_widen(d, &low, &high);
    l.device_used = d->used_peak + assumed.bytes;
    l.low = low + assumed.low;
    l.high = high + assumed.high;
    return l;
}

enum plm_verdict plm_ladder_fit(const struct plm_ladder *l, uint64_t usable)
{
    return l->high <= usable ? PLM_FITS : l->low <= usable ? PLM_TIGHT : PLM_NO_FIT;
}

const char *plm_verdict_name(enum plm_verdict verdict)
{
    return verdict == PLM_FITS ? "fits" : verdict == PLM_TIGHT ? "tight" : "no";
}
