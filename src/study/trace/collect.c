#include "study/trace/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/error.h"
#include "study/trace/event.h"

static int refuse(const struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error,
                  const char *what)
{
    return plm_fail(error, PLM_EFORMAT, "%s: event %zu: %s", m->file, e->number, what);
}

/* Parents are numbers of 31 bits. */
static bool room_for(void **array, size_t count, size_t *room, size_t size)
{
    void *more = count < INT32_MAX ? plm_grow(*array, count, room, size) : NULL;
    if (more)
        *array = more;
    return more != NULL;
}

/* `text` without `before` and, at its end, `after`; false if it has not both. */
static bool between(const char *text, const char *before, const char *after, char out[PLM_TRACE_NAME])
{
    const size_t n = strlen(text), b = strlen(before), a = strlen(after);
    if (n < a + b || memcmp(text, before, b) || memcmp(text + n - a, after, a))
        return false;
    memcpy(out, text + b, n - a - b);
    out[n - a - b] = '\0';
    return true;
}

/* From start to end; an event without a duration is a moment. */
static int interval(const struct plm_trace_making *m, const struct plm_trace_event *e, int64_t *end,
                    struct plm_error *error)
{
    if (!(e->has & PLM_HAS_START))
        return refuse(m, e, error, "it has no \"ts\"");
    *end = e->start;
    if (!(e->has & PLM_HAS_DURATION))
        return 0;
    if (e->duration < 0)
        return refuse(m, e, error, "it ends before it begins");
    if (__builtin_add_overflow(e->start, e->duration, end))
        return refuse(m, e, error, "\"ts\" and \"dur\" are out of range");
    return 0;
}

static int add_mark(struct plm_trace_making *m, enum plm_trace_mark_kind kind, const struct plm_trace_event *e,
                    int64_t end, const char *name)
{
    struct plm_trace_mark mark = {.kind = kind, .start = e->start, .end = end};
    if (plm_names_add(&m->names, name, &mark.name) ||
        !room_for((void **)&m->trace.mark, m->trace.marks, &m->mark_room, sizeof mark))
        return PLM_ENOMEM;
    m->trace.mark[m->trace.marks++] = mark;
    return 0;
}

static int add_annotation(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    static const struct {
        enum plm_trace_mark_kind kind;
        const char *before, *after;
    } marks[] = {{PLM_MARK_OPTIMIZER_STEP, "Optimizer.step#", ".step"},
                 {PLM_MARK_ZERO_GRAD, "Optimizer.zero_grad#", ".zero_grad"}};
    struct plm_trace_step step = {.start = e->start};
    char name[PLM_TRACE_NAME], *rest;
    int status = interval(m, e, &step.end, error);
    if (status < 0)
        return status;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (between(e->name, marks[i].before, marks[i].after, name))
            return add_mark(m, marks[i].kind, e, step.end, name);
    if (!between(e->name, "ProfilerStep#", "", name))
        return 0;
    step.number = strtoll(name, &rest, 10);
    if (!*name || *rest || step.number < 0)
        return refuse(m, e, error, "its ProfilerStep has no number");
    if (!room_for((void **)&m->trace.step, m->trace.steps, &m->step_room, sizeof step))
        return PLM_ENOMEM;
    m->trace.step[m->trace.steps++] = step;
    return 0;
}

static int add_module(struct plm_trace_making *m, const struct plm_trace_event *e, int64_t end, const char *name,
                      uint32_t caller)
{
    struct plm_trace_module module = {.start = e->start, .end = end, .parent = PLM_TRACE_NONE, .leaf = true};
    if (plm_names_add(&m->names, name, &module.name) ||
        !room_for((void **)&m->trace.module, m->trace.modules, &m->module_room, sizeof module) ||
        !room_for((void **)&m->module_caller, m->trace.modules, &m->caller_room, sizeof *m->module_caller))
        return PLM_ENOMEM;
    m->module_caller[m->trace.modules] = caller;
    m->trace.module[m->trace.modules++] = module;
    return 0;
}

static int add_zero_grad(struct plm_trace_making *m, const struct plm_trace_event *e, int64_t end)
{
    struct plm_trace_mark mark = {.kind = PLM_MARK_ZERO_GRAD, .start = e->start, .end = end};
    if (plm_names_add(&m->names, "", &mark.name) ||
        !room_for((void **)&m->zero_grad, m->zero_grads, &m->zero_grad_room, sizeof mark))
        return PLM_ENOMEM;
    m->zero_grad[m->zero_grads++] = mark;
    return 0;
}

static int add_python(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    struct plm_trace_python p = {PLM_PYTHON_NONE, PLM_PYTHON_NONE, PLM_TRACE_NONE};
    static const char module[] = "nn.Module: ";
    int64_t end = 0;
    int status = interval(m, e, &end, error);
    if (status < 0)
        return status;
    if (((e->has & PLM_HAS_PYTHON_ID) && (e->python_id < 0 || e->python_id >= PLM_PYTHON_NONE)) ||
        ((e->has & PLM_HAS_PARENT_ID) && (e->parent_id < 0 || e->parent_id >= PLM_PYTHON_NONE)))
        return refuse(m, e, error, "its \"Python id\" or \"Python parent id\" is out of range");
    if (e->has & PLM_HAS_PARENT_ID)
        p.parent = (uint32_t)e->parent_id;
    if (!strncmp(e->name, module, sizeof module - 1)) {
        p.module = (int32_t)m->trace.modules;
        status = add_module(m, e, end, e->name + sizeof module - 1, p.parent);
    } else if (e->cross_entropy) {
        p.module = (int32_t)m->trace.modules;
        status = add_module(m, e, end, "cross_entropy", p.parent);
    } else if (e->zero_grad) {
        status = add_zero_grad(m, e, end);
    }
    if (status < 0 || !(e->has & PLM_HAS_PYTHON_ID))
        return status;
    p.id = (uint32_t)e->python_id;
    if (!room_for((void **)&m->python, m->pythons, &m->python_room, sizeof p))
        return PLM_ENOMEM;
    m->python[m->pythons++] = p;
    return 0;
}

static int thread_number(struct plm_trace_making *m, const struct plm_trace_event *e, uint32_t *number)
{
    uint64_t key = e->process * 31 + e->thread, found = plm_map_get(&m->threads, key);
    if (found == PLM_MAP_NONE) {
        found = m->threads.count;
        if (plm_map_put(&m->threads, key, found))
            return PLM_ENOMEM;
    }
    *number = (uint32_t)found;
    return 0;
}

static int add_op(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    struct plm_trace_op op = {.start = e->start,
                              .sequence = e->has & PLM_HAS_SEQUENCE ? e->sequence : PLM_TRACE_NONE,
                              .parent = PLM_TRACE_NONE,
                              .detail = (uint32_t)PLM_TRACE_NONE};
    int status = interval(m, e, &op.end, error);
    if (status < 0)
        return status;
    if (plm_names_add(&m->names, e->name, &op.name) || thread_number(m, e, &op.thread) ||
        !room_for((void **)&m->trace.op, m->trace.ops, &m->op_room, sizeof op))
        return PLM_ENOMEM;
    if (!strcmp(e->name, "aten::to")) {
        if (!room_for((void **)&m->trace.to, m->trace.tos, &m->to_room, sizeof *m->trace.to))
            return PLM_ENOMEM;
        op.detail = (uint32_t)m->trace.tos;
        m->trace.to[m->trace.tos++] = e->has & PLM_HAS_INPUTS ? e->to : (struct plm_trace_to){0};
    }
    m->trace.op[m->trace.ops++] = op;
    return 0;
}

static int of_gpu(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    (void)e;
    return plm_fail(error, PLM_EFORMAT,
                    "%s: a trace of a job on a GPU; the CPU-side methods read one of the same job on the CPU "
                    "(`plimsoll trace` makes it)",
                    m->file);
}

static int add_memory(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    struct plm_trace_memory memory = {e->start, e->bytes, (uint64_t)e->address};
    if (strcmp(e->name, "[memory]"))
        return 0;
    if (!(e->has & PLM_HAS_START) || !(e->has & PLM_HAS_BYTES) || !(e->has & PLM_HAS_ADDRESS))
        return refuse(m, e, error, "a memory event without \"ts\", \"Bytes\" or \"Addr\"");
    if ((e->has & PLM_HAS_DEVICE_TYPE) && e->device_type)
        return of_gpu(m, e, error);
    if (!room_for((void **)&m->trace.memory, m->trace.memories, &m->memory_room, sizeof memory))
        return PLM_ENOMEM;
    m->trace.memory[m->trace.memories++] = memory;
    return 0;
}

/* What is done with events of a category, and in which phase; others are passed over. */
static const struct {
    int (*add)(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error);
    char phase;
} kinds[] = {
    [PLM_TRACE_OP] = {add_op, 'X'},          [PLM_TRACE_PYTHON] = {add_python, 'X'},
    [PLM_TRACE_INSTANT] = {add_memory, 'i'}, [PLM_TRACE_ANNOTATION] = {add_annotation, 'X'},
    [PLM_TRACE_GPU] = {of_gpu, '\0'},
};

int plm_trace_collect(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    int status;
    if (!kinds[e->category].add || (kinds[e->category].phase && kinds[e->category].phase != e->phase))
        return 0;
    m->events++;
    status = kinds[e->category].add(m, e, error);
    return status == PLM_ENOMEM ? plm_fail(error, status, "out of memory") : status;
}
