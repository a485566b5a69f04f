/* The Analyzer's first half: memory events become blocks, annotations become steps. */
#include <stdlib.h>

#include "base/error.h"
#include "base/map.h"
#include "study/estimate/xmem_internal.h"

int plm_xmem_blocks(const struct plm_trace *trace, int64_t until, struct plm_xmem_blocks *out)
{
    struct plm_map live = {0};
    int status = 0;

    *out = (struct plm_xmem_blocks){0};
    out->block = calloc(trace->memories ? trace->memories : 1, sizeof *out->block);
    if (!out->block || trace->memories >= UINT32_MAX)
        status = PLM_ENOMEM;
    for (size_t i = 0; status == 0 && i < trace->memories && trace->memory[i].time <= until; i++) {
        const struct plm_trace_memory *m = &trace->memory[i];
        uint64_t number = plm_map_get(&live, m->address);
        struct plm_xmem_block *block = number == PLM_MAP_NONE ? NULL : &out->block[number];

        if (m->bytes < 0 && (!block || block->bytes != (uint64_t)0 - (uint64_t)m->bytes)) {
            out->orphans++;
            continue;
        }
        /* An address that is handed out again was freed, whether or not the trace says so. */
        if (block) {
            block->dies = m->time;
            plm_map_remove(&live, m->address);
        }
        if (m->bytes <= 0)
            continue;
        out->block[out->count] = (struct plm_xmem_block){m->time, PLM_NEVER, (uint64_t)m->bytes};
        plm_map_put(&live, m->address, out->count++);
    }
    plm_map_free(&live);
    return status;
}

size_t plm_xmem_block_from(const struct plm_xmem_blocks *blocks, int64_t time)
{
    size_t low = 0, high = blocks->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (blocks->block[middle].born < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t plm_xmem_block_after(const struct plm_xmem_blocks *blocks, int64_t time)
{
    return time == INT64_MAX ? blocks->count : plm_xmem_block_from(blocks, time + 1);
}

/* The first operator that starts at this time or later. */
static size_t op_from(const struct plm_trace *trace, int64_t time)
{
    size_t low = 0, high = trace->ops;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trace->op[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void plm_xmem_step(const struct plm_trace *trace, size_t number, struct plm_xmem_step *step)
{
    *step = (struct plm_xmem_step){.start = trace->step[number].start, .end = trace->step[number].end};
    for (size_t i = 0; i < trace->marks; i++) {
        const struct plm_trace_mark *mark = &trace->mark[i];
        if (mark->start < step->start || mark->start > step->end)
            continue;
        if (mark->kind == PLM_MARK_OPTIMIZER_STEP)
            step->optimizer = mark;
        else
            step->zero_grad = mark;
    }
    step->first_op = op_from(trace, step->start);
    step->end_op = step->end == INT64_MAX ? trace->ops : op_from(trace, step->end + 1);
    if (step->end_op < step->first_op)
        step->end_op = step->first_op;
}

bool plm_xmem_drops_after(const struct plm_xmem_step *step)
{
    return step->zero_grad && step->optimizer && step->zero_grad->start > step->optimizer->end;
}
