#include "analysis/ladder.h"

#include "analysis/summary.h"

#define MIB (1024ull * 1024)

static const struct plm_context_memory assumed = {550 * MIB, 450 * MIB, 700 * MIB,
                                                  "docs/accuracy: measured 500-600 MiB on current lazy-loading stacks"};

const struct plm_context_memory *plm_context_memory(void)
{
    return &assumed;
}

struct plm_ladder plm_ladder(const struct plm_device_summary *d)
{
    uint64_t inside = d->reserved_peak + d->libraries_peak;
    struct plm_ladder l = {.allocated = d->allocated_peak,
                           .reserved = d->reserved_peak,
                           .libraries = d->libraries_peak,
                           .other = d->used_peak > inside ? d->used_peak - inside : 0,
                           .context = assumed.bytes};
    l.device_used = d->used_peak + assumed.bytes;
    l.low = d->used_peak + assumed.low;
    l.high = d->used_peak + assumed.high;
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
