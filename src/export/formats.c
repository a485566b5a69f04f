#include "export/export.h"

#include <stdio.h>

#include "analysis/job.h"

const struct plm_export_format plm_export_formats[] = {
    {"csv", plm_export_csv, "csv", "all events as a table", false, false, false, 0},
    {"jsonl", plm_export_jsonl, "jsonl", "all events as JSON, one object per line", false, false, false, 0},
    {"snapshot", plm_export_snapshot, "pickle", "a memory snapshot for PyTorch's viewer (docs.pytorch.org/memory_viz)",
     true, true, true, PLM_AT_END},
    {"perfetto", plm_export_perfetto, "json", "a trace for ui.perfetto.dev and chrome://tracing", false, true, false,
     0},
    {"speedscope", plm_export_speedscope, "speedscope.json", "what lives at the peak, for www.speedscope.app", false,
     true, true, PLM_AT_PEAK},
    {"folded", plm_export_folded, "folded", "the same as folded stacks, for flamegraph.pl", false, true, true,
     PLM_AT_PEAK},
};
const size_t plm_export_format_count = sizeof plm_export_formats / sizeof plm_export_formats[0];

bool plm_export_at(const struct plm_export *export, const struct plm_lane *lane, uint32_t *moment)
{
    uint32_t from, to;
    if (!lane->moments)
        return false;
    switch (export->at) {
    case PLM_AT_END: *moment = (uint32_t)(lane->moments - 1); return true;
    case PLM_AT_PEAK: *moment = lane->peak_at; return true;
    case PLM_AT_STEP:
        if (export->step > lane->steps)
            return false;
        plm_lane_step(lane, export->step, &from, &to);
        /* A step without an event of the allocator shows what was there before. */
        *moment = from < to ? plm_lane_peak(lane, from, to) : from ? from - 1 : 0;
        return true;
    }
    return false;
}

const char *plm_export_lane_name(const struct plm_lane *lane, char *buffer, size_t size)
{
    snprintf(buffer, size, "rank %d device %d", lane->summary->rank, lane->summary->device);
    return buffer;
}
