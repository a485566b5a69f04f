#include "cli/rank_memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/kinds.h"
#include "report/ranks.h"

struct span {
    uint32_t from, to;
    uint64_t most;
};

static int span_visit(uint32_t moment, uint64_t ns, const uint64_t allocated[PLM_CATEGORIES], void *context)
{
    struct span *s = context;
    (void)ns;
    if (moment >= s->from && moment < s->to && allocated[PLM_CATEGORY_ACTIVATIONS] > s->most)
        s->most = allocated[PLM_CATEGORY_ACTIVATIONS];
    return moment >= s->to;
}

struct plm_cli_rank_memory plm_cli_rank_memory_of(const struct plm_job *job, const struct plm_lane *lane)
{
    struct plm_cli_rank_memory memory = {0};
    struct span last = {0};
    for (int i = 0; i < PLM_CATEGORIES; i++) {
        const struct plm_shard *shard = plm_lane_shard(job, lane, (enum plm_category)i);
        memory.bytes[i] = shard ? shard->local : 0;
    }
    if (!lane->steps || !lane->moments)
        return memory;
    plm_lane_step(lane, lane->steps, &last.from, &last.to);
    plm_lane_sweep(lane, span_visit, &last);
    memory.bytes[PLM_CATEGORY_ACTIVATIONS] = last.most;
    return memory;
}

/* As plm_report_shard_text() of a part; what a larger world makes larger is told as that. */
static const char *change_text(char out[24], uint64_t before, uint64_t after)
{
    const uint64_t apart = before > after ? before - after : after - before;
    if (50 * apart <= before)
        snprintf(out, 24, "the same");
    else if (after > before)
        snprintf(out, 24, "%.1f times", (double)after / (double)before);
    else
        return plm_report_shard_text(out, &(struct plm_shard){.local = after, .whole = before});
    return out;
}

const char *plm_cli_rank_memory_change(char *out, size_t size, const struct plm_cli_rank_memory *before,
                                       const struct plm_cli_rank_memory *after)
{
    size_t used = 0;
    char text[24];
    out[0] = '\0';
    for (int i = 0; i < PLM_CATEGORIES && used < size; i++)
        if (before->bytes[i] && after->bytes[i])
            used += (size_t)snprintf(out + used, size - used, "%s%s %s", used ? ", " : "",
                                     plm_category_name((enum plm_category)i),
                                     change_text(text, before->bytes[i], after->bytes[i]));
    return out;
}

static bool all_named(const struct plm_mesh *mesh)
{
    for (int i = 0; i < mesh->axes; i++)
        if (!mesh->axis[i].name[0])
            return false;
    return mesh->axes > 0;
}

/* How many places the mesh has along an axis of another one; 1: it has no such axis. */
static uint32_t size_along(const struct plm_mesh *mesh, const char *name)
{
    for (int i = 0; i < mesh->axes; i++)
        if (!strcmp(mesh->axis[i].name, name))
            return mesh->axis[i].size;
    return 1;
}

const char *plm_axes_change(char *out, size_t size, const struct plm_mesh *before, const struct plm_mesh *after)
{
    size_t used = 0;
    out[0] = '\0';
    if (!all_named(before) || !all_named(after))
        return out; /* which axis of the one is which of the other is not known */
    for (int i = 0; i < after->axes && used < size; i++) {
        const struct plm_axis *axis = &after->axis[i];
        const uint32_t was = size_along(before, axis->name);
        if (was != axis->size)
            used += (size_t)snprintf(out + used, size - used, "%s%s from %u to %u", used ? ", " : "", axis->name, was,
                                     axis->size);
    }
    return out;
}
