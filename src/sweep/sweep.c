#include "sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void plm_sweep_free(struct plm_sweep *s)
{
    for (size_t i = 0; i < s->points; i++)
        free(s->point[i].cell);
    for (char **word = s->command; word && *word; word++)
        free(*word);
    free(s->command);
    free(s->point);
    free(s->card);
    plm_sweep_parameters_free(&s->parameters);
    *s = (struct plm_sweep){0};
}

struct plm_sweep_point *plm_sweep_add(struct plm_sweep *s)
{
    struct plm_sweep_point *point;
    s->point = plm_grow(s->point, s->points, &s->room, sizeof *s->point);
    point = &s->point[s->points++];
    *point = (struct plm_sweep_point){0};
    point->cell = plm_calloc(s->cards, sizeof *point->cell);
    return point;
}

struct plm_sweep_point *plm_sweep_find(const struct plm_sweep *s, char (*value)[PLM_SWEEP_TEXT])
{
    for (size_t i = 0; i < s->points; i++) {
        size_t same = 0;
        while (same < s->parameters.count && !strcmp(s->point[i].value[same], value[same]))
            same++;
        if (same == s->parameters.count)
            return &s->point[i];
    }
    return NULL;
}

/* Where a value stands among those that were given; numbers of a search by their size. */
static uint64_t place_of(const struct plm_sweep_parameter *p, const char *value)
{
    uint64_t number;
    if (p->range && plm_sweep_whole(value, &number))
        return number;
    for (size_t i = 0; i < p->values; i++)
        if (!strcmp(p->value[i], value))
            return i;
    return p->values;
}

static int point_compare(const void *a, const void *b, void *context)
{
    const struct plm_sweep *s = context;
    const struct plm_sweep_point *x = a, *y = b;
    for (size_t i = 0; i < s->parameters.count; i++) {
        const uint64_t m = place_of(&s->parameters.item[i], x->value[i]),
                       n = place_of(&s->parameters.item[i], y->value[i]);
        if (m != n)
            return m < n ? -1 : 1;
    }
    return 0;
}

void plm_sweep_sort(struct plm_sweep *s)
{
    qsort_r(s->point, s->points, sizeof *s->point, point_compare, s);
}

size_t plm_sweep_count(const struct plm_sweep *s, enum plm_sweep_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < s->points; i++)
        count += s->point[i].state == state;
    return count;
}
