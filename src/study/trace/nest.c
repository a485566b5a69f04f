#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "study/trace/collect.h"

/* ---- order ---- */

/* Every list has its times first, so one comparison serves all of them: by start, then the longer first. */
struct interval {
    int64_t start, end;
};

struct sorting {
    const char *items;
    size_t size;
    bool (*before)(const void *a, const void *b);
};

static bool encloses(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return x->start != y->start ? x->start < y->start : x->end > y->end;
}

static bool earlier(const void *a, const void *b)
{
    return ((const struct plm_trace_memory *)a)->time < ((const struct plm_trace_memory *)b)->time;
}

static bool lower_id(const void *a, const void *b)
{
    return ((const struct plm_trace_python *)a)->id < ((const struct plm_trace_python *)b)->id;
}

static int item_compare(const void *a, const void *b, void *context)
{
    const struct sorting *s = context;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const void *x = s->items + i * s->size, *y = s->items + k * s->size;
    return s->before(x, y) ? -1 : s->before(y, x) ? 1 : i < k ? -1 : i > k;
}

/* Sorts the list by `before`, what is equal in the order of the file. *order is what stood where (the caller frees
   it), or NULL if all stood right. */
static void list_sort(void **list, size_t count, size_t size, bool (*before)(const void *, const void *),
                      uint32_t **order)
{
    struct sorting s = {*list, size, before};
    uint32_t *number;
    char *sorted;
    bool right = true;
    *order = NULL;
    for (size_t i = 1; i < count && right; i++)
        right = !before(s.items + i * size, s.items + (i - 1) * size);
    if (right)
        return;
    number = plm_realloc(NULL, count, sizeof *number);
    sorted = plm_realloc(NULL, count, size);
    for (size_t i = 0; i < count; i++)
        number[i] = (uint32_t)i;
    qsort_r(number, count, sizeof *number, item_compare, &s);
    for (size_t i = 0; i < count; i++)
        memcpy(sorted + i * size, s.items + number[i] * size, size);
    free(*list);
    *list = sorted;
    *order = number;
}

static void list_sort_only(void **list, size_t count, size_t size, bool (*before)(const void *, const void *))
{
    uint32_t *order;
    list_sort(list, count, size, before, &order);
    free(order);
}

/* ---- operators ---- */

/* The innermost operator of its thread that contains it. What has come to its end is passed over for good: in order
   of their starts, nothing that is contained in it can follow that is not contained in the later one too. */
static void ops_nest(struct plm_trace_making *m)
{
    struct plm_trace *t = &m->trace;
    int32_t *open = plm_realloc(NULL, m->threads.count + 1, sizeof *open); /* per thread */
    memset(open, 0xff, (m->threads.count + 1) * sizeof *open);
    for (size_t i = 0; i < t->ops; i++) {
        struct plm_trace_op *op = &t->op[i];
        int32_t in = open[op->thread];
        while (in != PLM_TRACE_NONE && t->op[in].end < op->end)
            in = t->op[in].parent;
        op->parent = in;
        open[op->thread] = (int32_t)i;
    }
    free(open);
}

/* ---- modules ---- */

enum { OUTSIDE = -2 }; /* in no module call; PLM_TRACE_NONE: not known yet */

static struct plm_trace_python *python_find(const struct plm_trace_making *m, uint32_t id)
{
    size_t at = PLM_SEARCH(i, m->pythons, m->python[i].id < id);
    return at < m->pythons && m->python[at].id == id ? &m->python[at] : NULL;
}

/* The module call that a Python function is in or is. All functions on the way learn it, so that none is passed
   twice. */
static int32_t python_module(struct plm_trace_making *m, uint32_t id)
{
    struct plm_trace_python *p;
    int32_t module = OUTSIDE;
    size_t steps = 0; /* a file may claim that callers go round in a circle */
    for (uint32_t at = id; steps <= m->pythons && (p = python_find(m, at)); at = p->parent, steps++)
        if (p->module != PLM_TRACE_NONE) {
            module = p->module;
            break;
        }
    for (uint32_t at = id; (p = python_find(m, at)) && p->module == PLM_TRACE_NONE; at = p->parent)
        p->module = module;
    return module;
}

/* An item's new place, by its old one. */
static uint32_t *order_invert(const uint32_t *order, size_t count)
{
    uint32_t *place = plm_realloc(NULL, count + 1, sizeof *place);
    for (size_t i = 0; i < count; i++)
        place[order ? order[i] : i] = (uint32_t)i;
    return place;
}

static void modules_nest(struct plm_trace_making *m)
{
    struct plm_trace *t = &m->trace;
    uint32_t *order, *place;
    list_sort((void **)&t->module, t->modules, sizeof *t->module, encloses, &order);
    place = order_invert(order, t->modules);
    for (size_t i = 0; i < t->modules; i++) {
        int32_t parent = python_module(m, m->module_caller[order ? order[i] : i]);
        /* Before its child in the list, also where a file says otherwise: whoever climbs from parent to parent
           arrives. */
        if (parent < 0 || place[parent] >= i)
            continue;
        t->module[i].parent = (int32_t)place[parent];
        t->module[place[parent]].leaf = false;
    }
    free(order);
    free(place);
}

/* ---- all ---- */

_Static_assert(offsetof(struct plm_trace_op, start) == 0 && offsetof(struct plm_trace_module, start) == 0 &&
                   offsetof(struct plm_trace_op, end) == 8 && offsetof(struct plm_trace_module, end) == 8,
               "lists that list_sort() compares as intervals begin with their times");

static bool step_before(const void *a, const void *b)
{
    const struct plm_trace_step *x = a, *y = b;
    return encloses(&x->start, &y->start);
}

static bool mark_before(const void *a, const void *b)
{
    const struct plm_trace_mark *x = a, *y = b;
    return encloses(&x->start, &y->start);
}

/* Optimizers say when they drop gradients; a model's own zero_grad() shows only as a function. */
static void marks_fall_back(struct plm_trace_making *m)
{
    struct plm_trace *t = &m->trace;
    for (size_t i = 0; i < t->marks; i++)
        if (t->mark[i].kind == PLM_MARK_ZERO_GRAD)
            return;
    if (!m->zero_grads)
        return;
    t->mark = plm_realloc(t->mark, t->marks + m->zero_grads, sizeof *t->mark);
    memcpy(t->mark + t->marks, m->zero_grad, m->zero_grads * sizeof *t->mark);
    t->marks += m->zero_grads;
}

void plm_trace_nest(struct plm_trace_making *m)
{
    struct plm_trace *t = &m->trace;
    list_sort_only((void **)&t->memory, t->memories, sizeof *t->memory, earlier);
    list_sort_only((void **)&m->python, m->pythons, sizeof *m->python, lower_id);
    list_sort_only((void **)&t->op, t->ops, sizeof *t->op, encloses);
    list_sort_only((void **)&t->step, t->steps, sizeof *t->step, step_before);
    marks_fall_back(m);
    list_sort_only((void **)&t->mark, t->marks, sizeof *t->mark, mark_before);
    ops_nest(m);
    modules_nest(m);
}
