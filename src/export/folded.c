/* Folded stacks, "frame;frame;frame bytes" per line: what flamegraph.pl and many viewers read. */
#include "analysis/job.h"
#include "export/export.h"
#include "export/out.h"
#include "export/stacks.h"

int plm_export_folded(const struct plm_export *export, struct plm_error *error)
{
    const struct plm_job *job = export->job;
    (void)error;
    for (size_t i = 0; i < job->lanes; i++) {
        struct plm_stacks stacks;
        char name[64];
        uint32_t moment;
        if (!plm_export_at(export, &job->lane[i], &moment))
            continue;
        plm_stacks_at(job, &job->lane[i], moment, export->calls, &stacks);
        for (size_t k = 0; k < stacks.count; k++) {
            if (job->lanes > 1) {
                plm_out_text(export->out, plm_export_lane_name(&job->lane[i], name, sizeof name));
                plm_out_byte(export->out, ';');
            }
            plm_out_text(export->out, stacks.stack[k].frames);
            plm_out_byte(export->out, ' ');
            plm_out_u64(export->out, stacks.stack[k].bytes);
            plm_out_byte(export->out, '\n');
        }
        plm_stacks_free(&stacks);
    }
    return 0;
}
