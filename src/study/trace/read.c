#include "study/trace/trace.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "study/trace/collect.h"
#include "study/trace/event.h"

static int not_a_trace(const struct plm_trace_making *m, struct plm_error *error)
{
    return plm_fail(error, PLM_EFORMAT,
                    "%s: not a trace of torch.profiler, which is an object with \"traceEvents\" of its own kinds",
                    m->file);
}

static int read_events(struct plm_trace_making *m, struct plm_json_reader *json, struct plm_error *error)
{
    struct plm_trace_event event = {0};
    struct plm_json_value v;
    int status = plm_json_next(json, &v, error);
    if (!status && v.token != PLM_JSON_ARRAY)
        return not_a_trace(m, error);
    while (!status) {
        status = plm_json_next(json, &v, error);
        if (status < 0 || v.token == PLM_JSON_END_ARRAY)
            break;
        if (v.token != PLM_JSON_OBJECT)
            return not_a_trace(m, error);
        status = plm_trace_event_read(json, m->file, &event, error);
        if (!status)
            status = plm_trace_collect(m, &event, error);
        event.number++;
    }
    return status;
}

static int read_description(struct plm_trace_making *m, struct plm_json_reader *json, struct plm_error *error)
{
    const char *text;
    size_t size;
    int status = plm_json_raw(json, &text, &size, error);
    if (status < 0)
        return status;
    free(m->trace.description);
    m->trace.description = plm_calloc(size + 1, 1);
    memcpy(m->trace.description, text, size);
    m->trace.description_size = size;
    return 0;
}

static int read_document(struct plm_trace_making *m, struct plm_json_reader *json, struct plm_error *error)
{
    struct plm_json_value v;
    int status = plm_json_next(json, &v, error);
    if (!status && v.token != PLM_JSON_OBJECT)
        return not_a_trace(m, error);
    while (!status) {
        status = plm_json_next(json, &v, error);
        if (status < 0 || v.token == PLM_JSON_END_OBJECT)
            break;
        if (!strcmp(v.text, "traceEvents"))
            status = read_events(m, json, error);
        else if (!strcmp(v.text, "plimsoll_description"))
            status = read_description(m, json, error);
        else
            status = plm_json_skip(json, error);
    }
    return status < 0 ? status : plm_json_next(json, &v, error);
}

/* What a CPU-side method cannot do without. */
static int check_complete(const struct plm_trace_making *m, struct plm_error *error)
{
    const struct plm_trace *t = &m->trace;
    const struct {
        size_t count;
        const char *reason;
    } needs[] = {
        {t->memories, "it has no memory events: it was recorded without profile_memory=True"},
        {t->steps, "it has no ProfilerStep: prof.step() was never called in the training loop while it was recorded"},
        {t->modules, "it has no module calls: it was recorded without with_stack=True, or no nn.Module was called"},
    };
    if (!m->events)
        return not_a_trace(m, error);
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (!needs[i].count)
            return plm_fail(error, PLM_EFORMAT, "%s: %s (`plimsoll trace` records what is needed)", m->file,
                            needs[i].reason);
    return 0;
}

/* Closes `json`. */
static int trace_make(const char *name, struct plm_json_reader *json, struct plm_trace *trace, struct plm_error *error)
{
    struct plm_trace_making m = {.file = name};
    int status;
    plm_json_tolerate(json);
    status = read_document(&m, json, error);
    m.trace.file_bytes = plm_json_place(json);
    plm_json_close(json);
    if (!status)
        status = check_complete(&m, error);
    if (!status)
        plm_trace_nest(&m);
    m.trace.name = (char **)m.names.text; /* from here on the trace's */
    m.trace.names = m.names.count;
    plm_map_free(&m.names.by_hash);
    plm_map_free(&m.threads);
    free(m.python);
    free(m.module_caller);
    free(m.zero_grad);
    if (status < 0)
        plm_trace_free(&m.trace);
    *trace = m.trace;
    return status;
}

int plm_trace_read(const char *path, struct plm_trace *trace, struct plm_error *error)
{
    struct plm_json_reader *json;
    int status = plm_json_open(path, &json, error);
    return status < 0 ? status : trace_make(path, json, trace, error);
}

int plm_trace_read_memory(const char *name, const void *data, size_t size, struct plm_trace *trace,
                          struct plm_error *error)
{
    struct plm_json_reader *json;
    int status = plm_json_open_memory(name, data, size, &json, error);
    return status < 0 ? status : trace_make(name, json, trace, error);
}

void plm_trace_free(struct plm_trace *t)
{
    for (size_t i = 0; i < t->names; i++)
        free(t->name[i]);
    free(t->name);
    free(t->step);
    free(t->mark);
    free(t->module);
    free(t->op);
    free(t->to);
    free(t->memory);
    free(t->description);
    *t = (struct plm_trace){0};
}
