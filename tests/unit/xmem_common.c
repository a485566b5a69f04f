#include "xmem_common.h"

/* ---- making traces: everything is added in order of time ---- */

struct plm_trace_step steps[MOST];
struct plm_trace_mark marks[MOST];
struct plm_trace_module modules[MOST];
struct plm_trace_op ops[MOST];
struct plm_trace_to tos[MOST];
struct plm_trace_memory memories[4 * MOST];
char *names[MOST];
struct plm_trace trace;

void empty(void)
{
    trace = (struct plm_trace){
        .step = steps, .mark = marks, .module = modules, .op = ops, .to = tos, .memory = memories, .name = names};
}

uint32_t name_of(const char *name)
{
    names[trace.names] = (char *)(uintptr_t)name;
    return (uint32_t)trace.names++;
}

void step(int64_t start, int64_t end)
{
    steps[trace.steps] = (struct plm_trace_step){(int64_t)trace.steps + 2, start, end};
    trace.steps++;
}

void mark(enum plm_trace_mark_kind kind, int64_t start, int64_t end)
{
    marks[trace.marks++] = (struct plm_trace_mark){kind, start, end, name_of("Adam")};
}

void module(const char *name, int64_t start, int64_t end, bool leaf)
{
    modules[trace.modules++] = (struct plm_trace_module){start, end, name_of(name), PLM_TRACE_NONE, leaf};
}

struct plm_trace_op *op(int64_t start, int64_t end, int64_t sequence)
{
    ops[trace.ops] = (struct plm_trace_op){start, end, sequence, 0, PLM_TRACE_NONE, 0, (uint32_t)PLM_TRACE_NONE};
    return &ops[trace.ops++];
}

void to(int64_t start, const char *type, uint64_t elements)
{
    struct plm_trace_to *t = &tos[trace.tos];
    memset(t, 0, sizeof *t);
    t->elements = elements;
    snprintf(t->argument[1], sizeof t->argument[1], "%s", type);
    strcpy(t->argument[2], "0");
    strcpy(t->argument[5], "False");
    strcpy(t->argument[6], "False");
    op(start, start + 1, PLM_TRACE_NONE)->detail = (uint32_t)trace.tos++;
}

void memory(int64_t time, int64_t bytes, uint64_t address)
{
    memories[trace.memories++] = (struct plm_trace_memory){time, bytes, address};
}

/* ---- what becomes of them ---- */

struct plm_xmem_run run;

void done(void)
{
    free(run.blocks.block);
    free(run.list.item);
}

int count(uint64_t bytes, struct plm_lifetime *last)
{
    int found = 0;
    for (size_t i = 0; i < run.list.count; i++)
        if (run.list.item[i].bytes == bytes) {
            found++;
            if (last)
                *last = run.list.item[i];
        }
    return found;
}

int count_as(uint64_t bytes, enum plm_category category, struct plm_lifetime *last)
{
    int found = 0;
    *last = (struct plm_lifetime){0};
    for (size_t i = 0; i < run.list.count; i++)
        if (run.list.item[i].bytes == bytes && plm_xmem_category(run.list.item[i].holder) == category) {
            found++;
            *last = run.list.item[i];
        }
    return found;
}

/* One iteration of a layer, 1,000 units long: forward 100 to 200, backward 400 to 450, the layer before it to 500, optimizer 600 to 700. */
static void iteration(int64_t at, uint64_t address, enum where zero_grad, int64_t sequence)
{
    step(at, at + 999);
    module("Linear_0", at + 100, at + 200, true);
    op(at + 110, at + 190, sequence);
    memory(at + 120, ACTIVATION, address);
    memory(at + 130, TEMPORARY, address + 1);
    memory(at + 150, -TEMPORARY, address + 1);
    if (zero_grad == BEFORE_BACKWARD) {
        mark(PLM_MARK_ZERO_GRAD, at + 300, at + 320);
        if (at) {
            memory(at + 310, -GRADIENT, address - 1000 + 2);
            memory(at + 311, -BIAS, address - 1000 + 5);
        }
    }
    op(at + 400, at + 450, sequence);
    memory(at + 410, GRADIENT, address + 2);
    memory(at + 415, BIAS, address + 5);
    memory(at + 420, PASSED, address + 3);
    memory(at + 430, INNER, address + 4);
    memory(at + 440, -INNER, address + 4);
    memory(at + 500, -PASSED, address + 3);
    memory(at + 510, -ACTIVATION, address);
    mark(PLM_MARK_OPTIMIZER_STEP, at + 600, at + 700);
    memory(at + 610, GRADIENT, address + 6);
    memory(at + 620, -GRADIENT, address + 6);
    memory(at + 630, STATE, address + 7);
    memory(at + 640, -STATE, address + 7);
    if (zero_grad == AFTER_STEP) {
        mark(PLM_MARK_ZERO_GRAD, at + 800, at + 820);
        memory(at + 810, -GRADIENT, address + 2);
        memory(at + 811, -BIAS, address + 5);
    }
}

void plain(enum where zero_grad)
{
    empty();
    iteration(0, 10000, zero_grad, 1);
    iteration(1000, 11000, zero_grad, 7);
}

/* ---- the whole ---- */

void grow_blocks(void)
{
    for (size_t i = 0; i < trace.memories; i++)
        memories[i].bytes *= (int64_t)MIB;
}
