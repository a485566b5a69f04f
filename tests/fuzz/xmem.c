/* What xMem says of a trace that was accepted: its parts fit together, and it says something in little time. */
#include <string.h>

#include "common/error.h"
#include "study/estimate/xmem.h"
#include "fuzz.h"
#include "study/trace/trace.h"

static void check(const struct plm_trace *t, enum plm_xmem_variant variant, uint64_t limit)
{
    struct plm_error error = {0};
    struct plm_xmem_result r;

    if (plm_xmem_estimate(t, variant, &r, &error)) {
        fuzz_sentence(&error);
        return;
    }
    plm_xmem_limit(&r, limit);
    MUST(r.reserved >= r.peak_reserved && r.peak_reserved >= r.allocated);
    MUST(!r.oom || r.oom_reserved <= limit);
    MUST(r.oom || r.reserved <= limit || r.oom_reserved <= limit);
    for (size_t i = 1; i < r.layers; i++)
        MUST(r.layer[i - 1].parameters + r.layer[i - 1].forward + r.layer[i - 1].backward >=
             r.layer[i].parameters + r.layer[i].forward + r.layer[i].backward);
    for (size_t i = 0; i < r.points; i++)
        MUST(r.point[i].allocated <= r.point[i].reserved && r.point[i].reserved <= r.reserved);
    plm_xmem_result_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_trace t;
    if (plm_trace_read_memory("input", data, size, &t, NULL))
        return 0;
    check(&t, PLM_XMEM_PUBLISHED, UINT64_MAX);
    check(&t, PLM_XMEM_PLUS, UINT64_MAX);
    check(&t, PLM_XMEM_PUBLISHED, 64 << 20);
    check(&t, PLM_XMEM_PLUS, 64 << 20);
    plm_trace_free(&t);
    return 0;
}
