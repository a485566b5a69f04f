#include "export/export.h"

#include <stdio.h>

#include "analysis/job.h"

const struct plm_export_format plm_export_formats[] = {
    {"csv", plm_export_csv, "csv", 0, PLM_AT_PEAK, "all events as a table"},
    {"jsonl", plm_export_jsonl, "jsonl", 0, PLM_AT_PEAK, "all events as JSON, one object per line"},
    {"snapshot", plm_export_snapshot, "pickle", PLM_EXPORT_JOB | PLM_EXPORT_MOMENT | PLM_EXPORT_BINARY, PLM_AT_END,
     "a memory snapshot for PyTorch's viewer (docs.pytorch.org/memory_viz)"},
    {"perfetto", plm_export_perfetto, "json", PLM_EXPORT_JOB | PLM_EXPORT_TIME, PLM_AT_PEAK,
     "a trace for ui.perfetto.dev and chrome://tracing"},
    {"speedscope", plm_export_speedscope, "speedscope.json", PLM_EXPORT_JOB | PLM_EXPORT_MOMENT | PLM_EXPORT_STACKS,
     PLM_AT_PEAK, "memory at the peak, for www.speedscope.app"},
    {"folded", plm_export_folded, "folded", PLM_EXPORT_JOB | PLM_EXPORT_MOMENT | PLM_EXPORT_STACKS, PLM_AT_PEAK,
     "the same as folded stacks, for flamegraph.pl"},
};
const size_t plm_export_format_count = sizeof plm_export_formats / sizeof plm_export_formats[0];

bool plm_export_at(const struct plm_export *export, const struct plm_lane *lane, uint32_t *moment)
{
    uint32_t from, to;
    if (!lane->moments)
        return false;
    switch (export->at.kind) {
    case PLM_AT_END: *moment = (uint32_t)(lane->moments - 1); return true;
    case PLM_AT_PEAK: *moment = lane->summary->allocated_peak.moment; return true;
    case PLM_AT_STEP:
        plm_lane_step(lane, export->at.step, &from, &to);
        if (export->at.step > lane->steps && from >= to)
            return false;
        *moment = plm_lane_moment(lane, export->at);
        return to > 0;
    }
    return false;
}

const char *plm_export_lane_name(const struct plm_lane *lane, char *buffer, size_t size)
{
    snprintf(buffer, size, "rank %d device %d", lane->summary->rank, lane->summary->device);
    return buffer;
}
