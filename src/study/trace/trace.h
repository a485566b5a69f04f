/*
 * What the CPU-side methods need of a torch.profiler Chrome trace: steps, module calls, operators, memory events.
 *
 * plm_trace_read() reads a trace, plain or gzip, in one pass; plm_trace_free() ends it. Read-only in between; any
 * thread. Times are nanoseconds of the trace's own clock. Lists are sorted by start, an enclosing item before what it
 * encloses; memory events by time, then by their order in the file. A trace that a method cannot use is refused with
 * the reason (PLM_EFORMAT): no memory events, no steps, one of a GPU, another tool's. Memory is bounded by the number
 * of events that are kept, never by the size of the file.
 */
#ifndef PLM_TRACE_H
#define PLM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_error;

enum { PLM_TRACE_NONE = -1 };

struct plm_trace_step { /* ProfilerStep#n */
    int64_t number, start, end;
};

enum plm_trace_mark_kind { PLM_MARK_OPTIMIZER_STEP, PLM_MARK_ZERO_GRAD };
struct
    plm_trace_mark { /* Optimizer.step#NAME.step and Optimizer.zero_grad#NAME.zero_grad; else a Python function zero_grad */
    enum plm_trace_mark_kind kind;
    int64_t start, end;
    uint32_t name; /* NAME: "Adam" */
};

struct
    plm_trace_module { /* a call of "nn.Module: X_k", or of the function cross_entropy, which is a loss without a module */
    int64_t start, end;
    uint32_t name; /* "X_k" */
    int32_t parent; /* the call that this one is nested in, through whatever Python functions; PLM_TRACE_NONE */
    bool leaf; /* no module is called in it */
};

struct plm_trace_op { /* cpu_op */
    int64_t start, end;
    int64_t sequence; /* autograd's "Sequence number"; PLM_TRACE_NONE */
    uint32_t name;
    int32_t parent; /* by containment in the same thread; PLM_TRACE_NONE */
    uint32_t thread; /* counted from 0 */
    uint32_t detail; /* PLM_TRACE_NONE as unsigned, except for aten::to: index of a plm_trace_to */
};

struct
    plm_trace_to { /* an aten::to: its arguments, as text of "Concrete Inputs", and the elements of its first input */
    uint64_t elements;
    char argument[8][16]; /* "" where there is none; "6" is float32, "4" int64 */
};

struct plm_trace_memory { /* [memory], of the CPU */
    int64_t time;
    int64_t bytes; /* below 0: freed */
    uint64_t address;
};

struct plm_trace {
    struct plm_trace_step *step;
    struct plm_trace_mark *mark;
    struct plm_trace_module *module;
    struct plm_trace_op *op;
    struct plm_trace_to *to;
    struct plm_trace_memory *memory;
    size_t steps, marks, modules, ops, tos, memories;
    char **name; /* by number */
    size_t names;
    /* What `plimsoll trace` adds at the top level of the document; NULL or 0 where a trace has none. */
    char *description; /* JSON, docs/description.md */
    size_t description_size;
    uint64_t file_bytes; /* of the document, unpacked */
};

int plm_trace_read(const char *path, struct plm_trace *trace, struct plm_error *error);
/* The same of bytes in memory, which stay the caller's; `name` is for sentences. */
int plm_trace_read_memory(const char *name, const void *data, size_t size, struct plm_trace *trace,
                          struct plm_error *error);
void plm_trace_free(struct plm_trace *trace);

#endif
