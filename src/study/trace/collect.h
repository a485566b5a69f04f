/*
 * A trace while its events come in, in the order of the file; plm_trace_nest() then makes it what trace.h promises.
 *
 * Owned by plm_trace_read(). One thread. Held per event, without what an array that grows has to spare: a Python
 * function 12 bytes, an operator 40 (an aten::to 176), a memory event 24, a module call 36; 4 more while they are
 * sorted.
 */
#ifndef PLM_TRACE_COLLECT_H
#define PLM_TRACE_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "base/map.h"
#include "study/trace/trace.h"

struct plm_error;
struct plm_trace_event;

#define PLM_PYTHON_NONE UINT32_MAX

struct plm_trace_python { /* a Python function */
    uint32_t id, parent;  /* "Python id", "Python parent id"; PLM_PYTHON_NONE */
    int32_t module;       /* the module call that it is; PLM_TRACE_NONE */
};

struct plm_trace_making {
    const char *file; /* for sentences */
    struct plm_trace trace;
    size_t step_room, mark_room, module_room, op_room, to_room, memory_room;
    struct plm_trace_python *python;
    size_t pythons, python_room;
    uint32_t *module_caller; /* per module call: the Python id of what called it */
    size_t caller_room;
    struct plm_trace_mark *zero_grad; /* Python functions of that name */
    size_t zero_grads, zero_grad_room;
    struct plm_names names;
    struct plm_map threads; /* hash -> number */
    size_t events;
};

/* collect.c: takes what is wanted of an event. 0, or PLM_EFORMAT for one that cannot be or is of a GPU. */
int plm_trace_collect(struct plm_trace_making *making, const struct plm_trace_event *event, struct plm_error *error);
/* nest.c: sorts the lists and finds parents. */
void plm_trace_nest(struct plm_trace_making *making);

#endif
