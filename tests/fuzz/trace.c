/* Traces of torch.profiler, plain or gzip: what is accepted keeps the promises of trace.h. */
#include <string.h>

#include "common/error.h"
#include "fuzz.h"
#include "study/trace/trace.h"

static void check_ops(const struct plm_trace *t)
{
    for (size_t i = 0; i < t->ops; i++) {
        const struct plm_trace_op *op = &t->op[i], *parent = op->parent < 0 ? NULL : &t->op[op->parent];
        MUST(op->start <= op->end && op->name < t->names && (!i || t->op[i - 1].start <= op->start));
        MUST(op->parent < (int64_t)i);
        MUST(!parent || (parent->start <= op->start && parent->end >= op->end && parent->thread == op->thread));
        MUST(op->detail == (uint32_t)PLM_TRACE_NONE || op->detail < t->tos);
        MUST((op->detail == (uint32_t)PLM_TRACE_NONE) == !!strcmp(t->name[op->name], "aten::to"));
    }
}

static void check_modules(const struct plm_trace *t)
{
    for (size_t i = 0; i < t->modules; i++) {
        const struct plm_trace_module *m = &t->module[i];
        MUST(m->start <= m->end && m->name < t->names && (!i || t->module[i - 1].start <= m->start));
        MUST(m->parent < (int64_t)i);
        MUST(m->parent < 0 || !t->module[m->parent].leaf);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_error error = {0};
    struct plm_trace t;
    if (plm_trace_read_memory("input", data, size, &t, &error)) {
        fuzz_sentence(&error);
        return 0;
    }
    MUST(t.steps && t.modules && t.memories && t.names);
    check_ops(&t);
    check_modules(&t);
    for (size_t i = 1; i < t.memories; i++)
        MUST(t.memory[i - 1].time <= t.memory[i].time);
    for (size_t i = 0; i < t.marks; i++)
        MUST(t.mark[i].start <= t.mark[i].end && t.mark[i].name < t.names &&
             (!i || t.mark[i - 1].start <= t.mark[i].start));
    for (size_t i = 0; i < t.tos; i++)
        for (size_t k = 0; k < 8; k++)
            MUST(memchr(t.to[i].argument[k], 0, sizeof t.to[i].argument[k]) != NULL);
    MUST(!t.description || !t.description[t.description_size]);
    plm_trace_free(&t);
    return 0;
}
