/* Which ranks of a job have samples of their own: by the names of their groups, which are all that a record tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "time/build.h"
#include "world/mesh.h"

/* Axes of a mesh whose ranks work on one batch together; as PyTorch's examples, torchtitan, Megatron and DeepSpeed name
   them. Ranks of all other axes (dp, fsdp, ep) have a batch each. */
static const char *const sharing[] = {"tp",      "tensor", "pp",  "pipe",  "pipeline", "stage",    "stages", "cp",
                                      "context", "sp",     "seq", "model", "mp",       "sequence", "domain", "ulysses"};

void plm_build_group(struct plm_build *b, const struct plm_record_event *e)
{
    const struct plm_ev_group group = plm_get_group(e);
    if (b->groups && b->group[0].process != e->process) /* all ranks tell of all groups */
        return;
    b->group = plm_grow(b->group, b->groups, &b->group_room, sizeof *b->group);
    b->group[b->groups++] = (struct plm_build_group){e->process, group.size, plm_build_name(b, e->process, group.name),
                                                     plm_build_name(b, e->process, group.ranks)};
}

/* As it was told, or the largest group: PyTorch's default group has all ranks. */
static uint32_t ranks_count(const struct plm_build *b)
{
    uint32_t ranks = b->works->world.ranks;
    for (size_t i = 0; !b->works->world.ranks && i < b->groups; i++)
        ranks = b->group[i].size > ranks ? b->group[i].size : ranks;
    return ranks ? ranks : 1;
}

static struct plm_mesh mesh_of(const struct plm_build *b, uint32_t ranks)
{
    struct plm_mesh_group *group = plm_calloc(b->groups + 1, sizeof *group);
    struct plm_mesh mesh;
    for (size_t i = 0; i < b->groups; i++)
        group[i] =
            (struct plm_mesh_group){b->works->names.text[b->group[i].name], b->works->names.text[b->group[i].ranks]};
    mesh = plm_mesh_make(ranks, group, b->groups);
    free(group);
    return mesh;
}

static bool axis_shares(const struct plm_axis *axis)
{
    for (size_t i = 0; i < sizeof sharing / sizeof sharing[0]; i++)
        if (!strcasecmp(axis->name, sharing[i]))
            return true;
    return false;
}

void plm_build_world(struct plm_build *b)
{
    struct plm_work_world *w = &b->works->world;
    struct plm_mesh mesh;
    size_t used = 0;
    w->ranks = w->replicas = ranks_count(b);
    w->told = true;
    mesh = mesh_of(b, w->ranks);
    for (int i = 0; w->ranks > 1 && i < mesh.axes; i++) {
        const struct plm_axis *axis = &mesh.axis[i];
        w->told &= axis->name[0] != '\0';
        if (!axis_shares(axis))
            continue;
        w->replicas /= axis->size;
        if (used < sizeof w->shared)
            used += (size_t)snprintf(w->shared + used, sizeof w->shared - used, "%s%s", used ? ", " : "", axis->name);
    }
}
