/*
 * The world of a job as a mesh: the axes along which its process groups run.
 *
 * Frameworks number ranks like the digits of a number: tensor parallel neighbours first, then data, then stages of a
 * pipeline. Each regular group (first, first + stride, ...) tells where one digit begins and the next one does, and all
 * together give the digits, whoever made the groups. What no group tells apart is one axis without a name. Groups that do not
 * tile the world so (the ends of a pipeline, say) are left aside.
 *
 * Pure; any thread; nothing fails.
 */
#ifndef PLM_WORLD_MESH_H
#define PLM_WORLD_MESH_H

#include <stddef.h>
#include <stdint.h>

enum { PLM_AXES = 12, PLM_AXIS_NAME = 48 };

struct plm_axis {
    uint32_t stride, size;    /* neighbours along it are `stride` ranks apart */
    char name[PLM_AXIS_NAME]; /* "tp"; "" if no group is named after it */
};

struct plm_mesh {
    uint32_t world;
    int axes;
    struct plm_axis axis[PLM_AXES]; /* by stride; their sizes multiply to the world */
};

/* As a GROUP of the record has them. */
struct plm_mesh_group {
    const char *name, *ranks;
};

struct plm_mesh plm_mesh_make(uint32_t world, const struct plm_mesh_group *group, size_t count);

/* Where a rank stands along an axis, from 0. */
uint32_t plm_mesh_place(const struct plm_mesh *mesh, int axis, uint32_t rank);
/* "tp", or "ranks 8 apart". */
const char *plm_axis_name(const struct plm_axis *axis, char *buffer, size_t size);
/* The axis of the pipeline, by the name of its groups; else the only one there is, or the only one of that size, in a
   group of which ranks send to each other (0: none do). -1: there is none. */
int plm_mesh_stages(const struct plm_mesh *mesh, uint32_t sending);

#endif
