/*
 * speedscope's own file format (https://www.speedscope.app/file-format-schema.json): one sampled profile per
 * device of a process, weighted in bytes.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "base/names.h"
#include "export/export.h"
#include "export/out.h"
#include "export/stacks.h"

/* Goes through the frames of a stack; returns false after the last. The ';' are overwritten. */
static bool next_frame(char **rest, const char **frame)
{
    *frame = *rest ? strsep(rest, ";") : NULL;
    return *frame != NULL;
}

static void put_samples(struct plm_out *out, struct plm_names *names, struct plm_stacks *stacks)
{
    for (size_t i = 0; i < stacks->count; i++) {
        char *rest = stacks->stack[i].frames;
        const char *frame;
        plm_out_text(out, i ? ",[" : "[");
        for (bool first = true; next_frame(&rest, &frame); first = false) {
            if (!first)
                plm_out_byte(out, ',');
            plm_out_u64(out, plm_names_add(names, frame));
        }
        plm_out_byte(out, ']');
    }
}

static const char *moment_name(const struct plm_export *export, char *buffer, size_t size)
{
    static const char *const names[] = {[PLM_AT_PEAK] = "at the peak", [PLM_AT_END] = "at the end"};
    if (export->at.kind != PLM_AT_STEP)
        return names[export->at.kind];
    snprintf(buffer, size, "at the peak of step %u", export->at.step);
    return buffer;
}

static void put_profile(const struct plm_export *export, const struct plm_lane *lane, struct plm_names *names)
{
    struct plm_out *out = export->out;
    struct plm_stacks stacks = {0};
    char name[160] = "no GPU activity", where[64], when[64];
    uint32_t moment;
    uint64_t total = 0;

    if (lane) {
        snprintf(name, sizeof name, "%s, %s", plm_export_lane_name(lane, where, sizeof where),
                 moment_name(export, when, sizeof when));
        if (plm_export_at(export, lane, &moment))
            plm_stacks_at(export->job, lane, moment, export->calls, &stacks);
    }
    for (size_t i = 0; i < stacks.count; i++)
        total += stacks.stack[i].bytes;
    plm_out_text(out, "{\"type\":\"sampled\",\"name\":");
    plm_out_json(out, name);
    plm_out_text(out, ",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":");
    plm_out_u64(out, total);
    plm_out_text(out, ",\"weights\":[");
    for (size_t i = 0; i < stacks.count; i++) {
        if (i)
            plm_out_byte(out, ',');
        plm_out_u64(out, stacks.stack[i].bytes);
    }
    plm_out_text(out, "],\"samples\":[");
    put_samples(out, names, &stacks);
    plm_out_text(out, "]}");
    plm_stacks_free(&stacks);
}

int plm_export_speedscope(const struct plm_export *export, struct plm_error *error)
{
    const struct plm_job *job = export->job;
    struct plm_names names = {0};
    struct plm_out *out = export->out;
    const char *slash = strrchr(export->path, '/');

    (void)error;
    plm_names_add(&names, ""); /* number 0, so that frames count from there */
    plm_out_text(
        out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"plimsoll " PLM_VERSION
             "\",\"name\":");
    plm_out_json(out, slash ? slash + 1 : export->path);
    plm_out_text(out, ",\"activeProfileIndex\":0,\n\"profiles\":[");
    for (size_t i = 0; i < job->lanes; i++) {
        if (i)
            plm_out_text(out, ",\n");
        put_profile(export, &job->lane[i], &names);
    }
    if (!job->lanes)
        put_profile(export, NULL, &names); /* a file without any is refused */
    plm_out_text(out, "],\n\"shared\":{\"frames\":[");
    for (size_t i = 0; i < names.count; i++) {
        plm_out_text(out, i ? ",{\"name\":" : "{\"name\":");
        plm_out_json(out, names.text[i]);
        plm_out_byte(out, '}');
    }
    plm_out_text(out, "]}}\n");
    plm_names_free(&names);
    return 0;
}
