#include "study/trace/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "common/error.h"
#include "study/trace/event.h"

static int event_refuse(const struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error,
                        const char *what)
{
    return plm_fail(error, PLM_EFORMAT, "%s: event %zu: %s", m->file, e->number, what);
}

/* Room for one more. Parents are numbers of 31 bits. */
static void *trace_grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count >= INT32_MAX)
        plm_out_of_memory();
    return plm_grow(array, count, room, size);
}

/* `text` without `before` and, at its end, `after`; false if it has not both. */
static bool text_between(const char *text, const char *before, const char *after, char out[PLM_TRACE_NAME])
{
    const size_t n = strlen(text), b = strlen(before), a = strlen(after);
    if (n < a + b || memcmp(text, before, b) || memcmp(text + n - a, after, a))
        return false;
    memcpy(out, text + b, n - a - b);
    out[n - a - b] = '\0';
    return true;
}

/* From start to end; an event without a duration is a moment. */
static int event_interval(const struct plm_trace_making *m, const struct plm_trace_event *e, int64_t *end,
                          struct plm_error *error)
{
    if (!(e->has & PLM_HAS_START))
        return event_refuse(m, e, error, "it has no \"ts\"");
    *end = e->start;
    if (!(e->has & PLM_HAS_DURATION))
        return 0;
    if (e->duration < 0)
        return event_refuse(m, e, error, "it ends before it starts");
    if (__builtin_add_overflow(e->start, e->duration, end))
        return event_refuse(m, e, error, "\"ts\" and \"dur\" are out of range");
    return 0;
}

static void mark_add(struct plm_trace_making *m, enum plm_trace_mark_kind kind, const struct plm_trace_event *e,
                     int64_t end, const char *name)
{
    m->trace.mark = trace_grow(m->trace.mark, m->trace.marks, &m->mark_room, sizeof *m->trace.mark);
    m->trace.mark[m->trace.marks++] =
        (struct plm_trace_mark){.kind = kind, .start = e->start, .end = end, .name = plm_names_add(&m->names, name)};
}

static int annotation_add(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    static const struct {
        enum plm_trace_mark_kind kind;
        const char *before, *after;
    } marks[] = {{PLM_MARK_OPTIMIZER_STEP, "Optimizer.step#", ".step"},
                 {PLM_MARK_ZERO_GRAD, "Optimizer.zero_grad#", ".zero_grad"}};
    struct plm_trace_step step = {.start = e->start};
    char name[PLM_TRACE_NAME], *rest;
    int status = event_interval(m, e, &step.end, error);
    if (status < 0)
        return status;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (text_between(e->name, marks[i].before, marks[i].after, name)) {
            mark_add(m, marks[i].kind, e, step.end, name);
            return 0;
        }
    if (!text_between(e->name, "ProfilerStep#", "", name))
        return 0;
    step.number = strtoll(name, &rest, 10);
    if (!*name || *rest || step.number < 0)
        return event_refuse(m, e, error, "its ProfilerStep has no number");
    m->trace.step = trace_grow(m->trace.step, m->trace.steps, &m->step_room, sizeof step);
    m->trace.step[m->trace.steps++] = step;
    return 0;
}

static void module_add(struct plm_trace_making *m, const struct plm_trace_event *e, int64_t end, const char *name,
                       uint32_t caller)
{
    const size_t at = m->trace.modules;
    m->trace.module = trace_grow(m->trace.module, at, &m->module_room, sizeof *m->trace.module);
    m->module_caller = trace_grow(m->module_caller, at, &m->caller_room, sizeof *m->module_caller);
    m->module_caller[at] = caller;
    m->trace.module[m->trace.modules++] = (struct plm_trace_module){
        .start = e->start, .end = end, .parent = PLM_TRACE_NONE, .leaf = true, .name = plm_names_add(&m->names, name)};
}

static void zero_grad_add(struct plm_trace_making *m, const struct plm_trace_event *e, int64_t end)
{
    m->zero_grad = trace_grow(m->zero_grad, m->zero_grads, &m->zero_grad_room, sizeof *m->zero_grad);
    m->zero_grad[m->zero_grads++] = (struct plm_trace_mark){
        .kind = PLM_MARK_ZERO_GRAD, .start = e->start, .end = end, .name = plm_names_add(&m->names, "")};
}

static int python_add(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    struct plm_trace_python p = {PLM_PYTHON_NONE, PLM_PYTHON_NONE, PLM_TRACE_NONE};
    static const char module[] = "nn.Module: ";
    int64_t end = 0;
    int status = event_interval(m, e, &end, error);
    if (status < 0)
        return status;
    if (((e->has & PLM_HAS_PYTHON_ID) && (e->python_id < 0 || e->python_id >= PLM_PYTHON_NONE)) ||
        ((e->has & PLM_HAS_PARENT_ID) && (e->parent_id < 0 || e->parent_id >= PLM_PYTHON_NONE)))
        return event_refuse(m, e, error, "its \"Python id\" or \"Python parent id\" is out of range");
    if (e->has & PLM_HAS_PARENT_ID)
        p.parent = (uint32_t)e->parent_id;
    if (!strncmp(e->name, module, sizeof module - 1)) {
        p.module = (int32_t)m->trace.modules;
        module_add(m, e, end, e->name + sizeof module - 1, p.parent);
    } else if (e->cross_entropy) {
        p.module = (int32_t)m->trace.modules;
        module_add(m, e, end, "cross_entropy", p.parent);
    } else if (e->zero_grad) {
        zero_grad_add(m, e, end);
    }
    if (!(e->has & PLM_HAS_PYTHON_ID))
        return 0;
    p.id = (uint32_t)e->python_id;
    m->python = trace_grow(m->python, m->pythons, &m->python_room, sizeof p);
    m->python[m->pythons++] = p;
    return 0;
}

static uint32_t thread_number(struct plm_trace_making *m, const struct plm_trace_event *e)
{
    uint64_t key = e->process * 31 + e->thread, found = plm_map_get(&m->threads, key);
    if (found == PLM_MAP_NONE) {
        found = m->threads.count;
        plm_map_put(&m->threads, key, found);
    }
    return (uint32_t)found;
}

static int op_add(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    struct plm_trace_op op = {.start = e->start,
                              .sequence = e->has & PLM_HAS_SEQUENCE ? e->sequence : PLM_TRACE_NONE,
                              .parent = PLM_TRACE_NONE,
                              .detail = (uint32_t)PLM_TRACE_NONE};
    int status = event_interval(m, e, &op.end, error);
    if (status < 0)
        return status;
    op.name = plm_names_add(&m->names, e->name);
    op.thread = thread_number(m, e);
    m->trace.op = trace_grow(m->trace.op, m->trace.ops, &m->op_room, sizeof op);
    if (!strcmp(e->name, "aten::to")) {
        m->trace.to = trace_grow(m->trace.to, m->trace.tos, &m->to_room, sizeof *m->trace.to);
        op.detail = (uint32_t)m->trace.tos;
        m->trace.to[m->trace.tos++] = e->has & PLM_HAS_INPUTS ? e->to : (struct plm_trace_to){0};
    }
    m->trace.op[m->trace.ops++] = op;
    return 0;
}

static int event_of_gpu(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    (void)e;
    return plm_fail(error, PLM_EFORMAT,
                    "%s: a trace of a GPU run; the CPU-side methods need one from the CPU (`plimsoll trace` makes it)",
                    m->file);
}

static int memory_add(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    struct plm_trace_memory memory = {e->start, e->bytes, (uint64_t)e->address};
    if (strcmp(e->name, "[memory]"))
        return 0;
    if (!(e->has & PLM_HAS_START) || !(e->has & PLM_HAS_BYTES) || !(e->has & PLM_HAS_ADDRESS))
        return event_refuse(m, e, error, "a memory event without \"ts\", \"Bytes\" or \"Addr\"");
    if ((e->has & PLM_HAS_DEVICE_TYPE) && e->device_type)
        return event_of_gpu(m, e, error);
    m->trace.memory = trace_grow(m->trace.memory, m->trace.memories, &m->memory_room, sizeof memory);
    m->trace.memory[m->trace.memories++] = memory;
    return 0;
}

/* What is done with events of a category, and in which phase; others are passed over. */
static const struct {
    int (*add)(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error);
    char phase;
} kinds[] = {
    [PLM_TRACE_OP] = {op_add, 'X'},          [PLM_TRACE_PYTHON] = {python_add, 'X'},
    [PLM_TRACE_INSTANT] = {memory_add, 'i'}, [PLM_TRACE_ANNOTATION] = {annotation_add, 'X'},
    [PLM_TRACE_GPU] = {event_of_gpu, '\0'},
};

int plm_trace_collect(struct plm_trace_making *m, const struct plm_trace_event *e, struct plm_error *error)
{
    if (!kinds[e->category].add || (kinds[e->category].phase && kinds[e->category].phase != e->phase))
        return 0;
    m->events++;
    return kinds[e->category].add(m, e, error);
}
