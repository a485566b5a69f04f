#include "world/kinds.h"

#include <stdio.h>
#include <string.h>

#include "common/alike.h"
#include "base/memory.h"
#include "base/ranges.h"

/* An axis of up to so many places is run at each of them, a longer one at so many. */
enum { PLACES_ALL = 8, PLACES_SOME = 5, PLACES = PLACES_ALL };
/* Combinations of axes that are run; beyond it the axes are taken to add up to the largest that was run. */
enum { COMBINATIONS = 48 };

struct plm_kind_search {
    struct plm_mesh mesh;
    struct plm_world_need *outcome;
    size_t outcomes, room;
};

struct plm_kind_search *plm_kind_search_new(const struct plm_mesh *mesh)
{
    struct plm_kind_search *k = plm_calloc(1, sizeof *k);
    k->mesh = *mesh;
    return k;
}

void plm_kind_search_free(struct plm_kind_search *k)
{
    if (!k)
        return;
    free(k->outcome);
    free(k);
}

void plm_kind_search_tell(struct plm_kind_search *k, const struct plm_world_need *outcome)
{
    k->outcome = plm_grow(k->outcome, k->outcomes, &k->room, sizeof *k->outcome);
    k->outcome[k->outcomes++] = *outcome;
}

static const struct plm_world_need *outcome_of(const struct plm_kind_search *k, uint32_t rank)
{
    for (size_t i = 0; i < k->outcomes; i++)
        if (k->outcome[i].rank == rank)
            return &k->outcome[i];
    return NULL;
}

static bool bytes_alike(uint64_t a, uint64_t b)
{
    return plm_alike(a, b, a > b ? a : b);
}

static bool outcomes_alike(const struct plm_world_need *a, const struct plm_world_need *b)
{
    return bytes_alike(a->allocated, b->allocated) && bytes_alike(a->reserved, b->reserved) &&
           bytes_alike(a->used, b->used);
}

/* ---- one axis ---- */

static uint32_t rank_at(const struct plm_kind_search *k, int axis, uint32_t place)
{
    return place * k->mesh.axis[axis].stride;
}

static const struct plm_world_need *outcome_at(const struct plm_kind_search *k, int axis, uint32_t place)
{
    return outcome_of(k, rank_at(k, axis, place));
}

/* Once its ends were run. */
static bool axis_matters(const struct plm_kind_search *k, int axis)
{
    return !outcomes_alike(outcome_at(k, axis, 0), outcome_at(k, axis, k->mesh.axis[axis].size - 1));
}

/* Its places that are run, ascending. */
static size_t places_run(const struct plm_kind_search *k, int axis, uint32_t place[PLACES])
{
    const uint32_t size = k->mesh.axis[axis].size;
    if (!axis_matters(k, axis)) {
        place[0] = 0;
        place[1] = size - 1;
        return 2;
    }
    if (size <= PLACES_ALL) {
        for (uint32_t i = 0; i < size; i++)
            place[i] = i;
        return size;
    }
    memcpy(place, (const uint32_t[PLACES_SOME]){0, 1, size / 2, size - 2, size - 1}, PLACES_SOME * sizeof *place);
    return PLACES_SOME;
}

/* The place that was run and stands for this one. */
static uint32_t place_for(const struct plm_kind_search *k, int axis, uint32_t place)
{
    uint32_t run[PLACES] = {0};
    const size_t count = places_run(k, axis, run);
    size_t above = 1; /* the first and the last place of each axis are run */
    while (above + 1 < count && run[above] < place)
        above++;
    if (run[above - 1] != place && run[above] != place) {
        const struct plm_world_need *low = outcome_at(k, axis, run[above - 1]), *high = outcome_at(k, axis, run[above]);
        place = low->used >= high->used ? run[above - 1] : run[above];
    }
    for (size_t i = 0; i < count; i++) /* the first that is like it */
        if (outcomes_alike(outcome_at(k, axis, run[i]), outcome_at(k, axis, place)))
            return run[i];
    return place;
}

/* ---- all axes ---- */

static int axes_that_matter(const struct plm_kind_search *k, int axis[PLM_AXES])
{
    int count = 0;
    for (int a = 0; a < k->mesh.axes; a++)
        if (axis_matters(k, a))
            axis[count++] = a;
    return count;
}

/* The rank that was run and stands for this one: at its places of the axes that matter, and first along the others. */
static uint32_t rank_for(const struct plm_kind_search *k, const int *axis, int axes, uint32_t rank)
{
    uint32_t stands = 0;
    for (int i = 0; i < axes; i++)
        stands += rank_at(k, axis[i], place_for(k, axis[i], plm_mesh_place(&k->mesh, axis[i], rank)));
    return stands;
}

static bool next_on_axes(const struct plm_kind_search *k, uint32_t *rank)
{
    for (int a = 0; a < k->mesh.axes; a++) {
        *rank = rank_at(k, a, k->mesh.axis[a].size - 1);
        if (!outcome_of(k, *rank))
            return true;
    }
    for (int a = 0; a < k->mesh.axes; a++) {
        uint32_t place[PLACES];
        const size_t count = places_run(k, a, place);
        for (size_t i = 0; i < count; i++) {
            *rank = rank_at(k, a, place[i]);
            if (!outcome_of(k, *rank))
                return true;
        }
    }
    return false;
}

static bool next_combination(const struct plm_kind_search *k, uint32_t *rank)
{
    int axis[PLM_AXES];
    const int axes = axes_that_matter(k, axis);
    if (axes < 2 || k->outcomes >= COMBINATIONS)
        return false;
    for (uint32_t r = 0; r < k->mesh.world; r++) {
        *rank = rank_for(k, axis, axes, r);
        if (!outcome_of(k, *rank))
            return true;
    }
    return false;
}

bool plm_kind_search_next(const struct plm_kind_search *k, uint32_t *rank)
{
    *rank = 0;
    return !outcome_of(k, 0) || next_on_axes(k, rank) || next_combination(k, rank);
}

/* ---- what it came to ---- */

/* ", " between clauses. */
static void clause_add(char **text, const char *clause)
{
    char *longer = plm_asprintf("%s%s%s", *text ? *text : "", *text ? ", " : "", clause);
    free(*text);
    *text = longer;
}

/* "pp 2-5 of 8": the places of an axis that a rank stands for. */
static void clause_place(const struct plm_kind_search *k, int axis, uint32_t stands, char **text)
{
    const struct plm_axis *a = &k->mesh.axis[axis];
    uint32_t *place = plm_calloc(a->size, sizeof *place);
    size_t count = 0;
    char name[PLM_AXIS_NAME], *places, *clause;
    for (uint32_t p = 0; p < a->size; p++)
        if (place_for(k, axis, p) == stands)
            place[count++] = p;
    places = plm_ranges_text(place, count, PLM_RANGES_SHOWN);
    clause = plm_asprintf("%s %s of %u", plm_axis_name(a, name, sizeof name), places, a->size);
    clause_add(text, clause);
    free(clause);
    free(places);
    free(place);
}

/* Which axes make no difference. */
static void clause_alike(const struct plm_kind_search *k, char **text)
{
    char *axes = NULL, *clause, name[PLM_AXIS_NAME];
    for (int a = 0; a < k->mesh.axes; a++)
        if (!axis_matters(k, a))
            clause_add(&axes, plm_axis_name(&k->mesh.axis[a], name, sizeof name));
    if (!axes)
        return;
    clause = plm_asprintf("identical along %s (first and last compared)", axes);
    clause_add(text, clause);
    free(clause);
    free(axes);
}

static char *kind_why(const struct plm_kind_search *k, const int *axis, int axes, uint32_t rank)
{
    char *text = NULL;
    for (int i = 0; i < axes; i++)
        clause_place(k, axis[i], plm_mesh_place(&k->mesh, axis[i], rank), &text);
    clause_alike(k, &text);
    return text ? text : plm_strdup("the only rank");
}

static const struct plm_world_need *largest(const struct plm_kind_search *k)
{
    const struct plm_world_need *most = &k->outcome[0];
    for (size_t i = 1; i < k->outcomes; i++)
        if (k->outcome[i].used > most->used)
            most = &k->outcome[i];
    return most;
}

/* The kind of a rank; made if it is the first of it. */
static struct plm_world_kind *kind_find(struct plm_world_kinds *list, size_t *room,
                                        const struct plm_world_need *outcome)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->item[i].outcome.rank == outcome->rank)
            return &list->item[i];
    list->item = plm_grow(list->item, list->count, room, sizeof *list->item);
    list->item[list->count] = (struct plm_world_kind){.outcome = *outcome};
    return &list->item[list->count++];
}

static int kind_order(const void *a, const void *b)
{
    const struct plm_world_need *x = &((const struct plm_world_kind *)a)->outcome,
                                *y = &((const struct plm_world_kind *)b)->outcome;
    if (x->used != y->used)
        return x->used < y->used ? 1 : -1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

struct plm_world_kinds plm_kind_search_list(const struct plm_kind_search *k)
{
    struct plm_world_kinds list = {0};
    int axis[PLM_AXES];
    const int axes = axes_that_matter(k, axis);
    uint32_t *stands = plm_calloc(k->mesh.world, sizeof *stands), *rank = plm_calloc(k->mesh.world, sizeof *rank);
    size_t room = 0;
    for (uint32_t r = 0; r < k->mesh.world; r++) {
        const struct plm_world_need *o = outcome_of(k, rank_for(k, axis, axes, r));
        o = o ? o : largest(k);
        stands[r] = o->rank;
        kind_find(&list, &room, o)->count++;
    }
    for (size_t i = 0; i < list.count; i++) {
        struct plm_world_kind *kind = &list.item[i];
        size_t count = 0;
        for (uint32_t r = 0; r < k->mesh.world; r++)
            if (stands[r] == kind->outcome.rank)
                rank[count++] = r;
        kind->ranks = plm_ranges_text(rank, count, PLM_RANGES_SHOWN);
        kind->why = kind_why(k, axis, axes, kind->outcome.rank);
    }
    if (list.count)
        qsort(list.item, list.count, sizeof *list.item, kind_order);
    free(stands);
    free(rank);
    return list;
}

void plm_world_kinds_free(struct plm_world_kinds *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->item[i].ranks);
        free(list->item[i].why);
    }
    free(list->item);
    *list = (struct plm_world_kinds){0};
}
