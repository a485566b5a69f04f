#include "analysis/conv_range.h"

#include "analysis/job.h"
#include "base/memory.h"

#define MIB (1ull << 20)

/* The workspace is what was taken just before; with a benchmark, one for all plans that are tried. */
static uint32_t workspace_block(const struct plm_lane *lane, uint64_t bytes)
{
    uint32_t entry = lane->moments ? lane->order[lane->moments - 1] : 1;
    if (!bytes || entry & 1 || lane->block[entry >> 1].bytes < bytes)
        return PLM_CONV_NO_BLOCK;
    return entry >> 1;
}

void plm_conv_range_visit(struct plm_conv_marks *m, const struct plm_lane *lane, const struct plm_record_event *e)
{
    struct plm_conv_mark mark, *last = m->count ? &m->mark[m->count - 1] : NULL;
    const struct plm_ev_convolution said = plm_get_convolution(e);
    if (said.workspace_source != PLM_CONV_SOURCE_FORMULA)
        return;
    mark = (struct plm_conv_mark){(uint32_t)lane->moments, workspace_block(lane, said.workspace),
                                  said.workspace_most_mib * MIB};
    if (last && last->at == mark.at) { /* tried one after another */
        last->block = last->block == PLM_CONV_NO_BLOCK ? mark.block : last->block;
        last->most = last->most > mark.most ? last->most : mark.most;
        return;
    }
    m->mark = plm_grow(m->mark, m->count, &m->room, sizeof *m->mark);
    m->mark[m->count++] = mark;
}
