#include "world/mesh.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/ranges.h"

/* ---- names ---- */

/* What frameworks write around the name of an axis. */
static const char *const before[] = {"mesh_", "_"};
static const char *const after[] = {"_MODEL_PARALLEL_GROUP", "_PARALLEL_GROUP", "_GROUP", "_group"};
/* Names that say nothing about the axis. */
static const char *const meaningless[] = {"default_pg", "undefined", "default", "dim"};

static bool name_says_nothing(const char *name)
{
    if (!*name || name[strspn(name, "0123456789")] == '\0')
        return true;
    for (size_t i = 0; i < sizeof meaningless / sizeof meaningless[0]; i++)
        if (!strncasecmp(name, meaningless[i], strlen(meaningless[i])))
            return true;
    return false;
}

/* "mesh_tp" is "tp", "TENSOR_MODEL_PARALLEL_GROUP" is "tensor". */
static void name_set(char out[PLM_AXIS_NAME], const char *name)
{
    size_t length;
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        if (!strncmp(name, before[i], strlen(before[i])))
            name += strlen(before[i]);
    length = strlen(name);
    for (size_t i = 0; i < sizeof after / sizeof after[0]; i++) {
        const size_t n = strlen(after[i]);
        if (length > n && !strcmp(name + length - n, after[i])) {
            length -= n;
            break;
        }
    }
    snprintf(out, PLM_AXIS_NAME, "%.*s", (int)length, name);
    if (length < strlen(name))
        for (char *c = out; *c; c++)
            *c = *c == '_' ? ' ' : (char)tolower((unsigned char)*c);
}

const char *plm_axis_name(const struct plm_axis *axis, char *buffer, size_t size)
{
    if (axis->name[0])
        return axis->name;
    snprintf(buffer, size, axis->stride > 1 ? "ranks %u apart" : "ranks", axis->stride);
    return buffer;
}

/* ---- axes ---- */

enum { EDGES = PLM_AXES + 1 };

/* Where digits begin: 1 first, the world last, each a divisor of the next. */
struct edges {
    uint32_t at[EDGES];
    int count;
};

static bool divides(uint32_t part, uint32_t whole)
{
    return part && whole % part == 0;
}

static void edge_add(struct edges *e, uint32_t edge)
{
    int place = 0;
    for (int i = 0; i < e->count; i++)
        if (e->at[i] == edge || !(divides(e->at[i], edge) || divides(edge, e->at[i])))
            return;
    if (e->count == EDGES)
        return;
    while (place < e->count && e->at[place] < edge)
        place++;
    memmove(&e->at[place + 1], &e->at[place], (size_t)(e->count - place) * sizeof e->at[0]);
    e->at[place] = edge;
    e->count++;
}

/* Whether such groups, side by side, are the world. */
static bool group_tiles(const struct plm_range *r, uint32_t world)
{
    const uint64_t span = (uint64_t)r->stride * r->count;
    return r->count > 1 && world % span == 0 && r->first % span < r->stride;
}

static bool group_regular(const struct plm_mesh_group *group, uint32_t world, struct plm_range *range)
{
    struct plm_ranges ranges;
    bool regular;
    if (plm_ranges_parse(&ranges, group->ranks, world) < 0)
        return false;
    /* two ranks apart are written one by one */
    if (ranges.count == 2 && ranges.item[0].count == 1 && ranges.item[1].count == 1 &&
        ranges.item[1].first > ranges.item[0].first) {
        ranges.item[0].stride = ranges.item[1].first - ranges.item[0].first;
        ranges.item[0].count = 2;
        ranges.count = 1;
    }
    regular = ranges.count == 1 && group_tiles(&ranges.item[0], world);
    if (regular)
        *range = ranges.item[0];
    plm_ranges_free(&ranges);
    return regular;
}

static void axis_name(struct plm_mesh *mesh, const struct plm_range *r, const char *name)
{
    for (int i = 0; i < mesh->axes; i++) {
        struct plm_axis *axis = &mesh->axis[i];
        if (axis->stride == r->stride && axis->size == r->count && !axis->name[0] && !name_says_nothing(name))
            name_set(axis->name, name);
    }
}

struct plm_mesh plm_mesh_make(uint32_t world, const struct plm_mesh_group *group, size_t count)
{
    struct plm_mesh mesh = {.world = world};
    struct edges edges = {{1}, 1};
    struct plm_range range;
    edge_add(&edges, world);
    for (size_t i = 0; i < count; i++)
        if (group_regular(&group[i], world, &range)) {
            edge_add(&edges, range.stride);
            edge_add(&edges, range.stride * range.count);
        }
    for (int i = 0; i + 1 < edges.count && edges.at[i]; i++)
        mesh.axis[mesh.axes++] = (struct plm_axis){edges.at[i], edges.at[i + 1] / edges.at[i], ""};
    for (size_t i = 0; i < count; i++)
        if (group_regular(&group[i], world, &range))
            axis_name(&mesh, &range, group[i].name);
    return mesh;
}

uint32_t plm_mesh_place(const struct plm_mesh *mesh, int axis, uint32_t rank)
{
    return rank / mesh->axis[axis].stride % mesh->axis[axis].size;
}

static int axis_of_size(const struct plm_mesh *mesh, uint32_t size)
{
    int found = -1;
    if (mesh->axes == 1) /* also where each pair has a communicator of its own */
        return 0;
    for (int i = 0; i < mesh->axes; i++)
        if (mesh->axis[i].size == size) {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found;
}

int plm_mesh_stages(const struct plm_mesh *mesh, uint32_t sending)
{
    static const char *const names[] = {"pp", "pipe", "pipeline", "stage", "stages"};
    for (int i = 0; i < mesh->axes; i++)
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            if (!strcasecmp(mesh->axis[i].name, names[k]))
                return i;
    return sending ? axis_of_size(mesh, sending) : -1;
}
