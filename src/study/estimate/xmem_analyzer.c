/*
 * The Analyzer: memory events become blocks, annotations become steps, and then which blocks a layer holds on to.
 *
 * A layer is a call of a leaf module. Its forward blocks are born during the call. Its operators are those that start
 * in the call and all that carry one of their autograd numbers; of these, those that are in no other count. Its
 * backward blocks are born in them and not in the call. What dies before the call, or the last of the operators, is
 * over counts as temporary and is left out, except in losses.
 *
 * An operator that makes no node of autograd carries the number of the node that comes next. So a block may belong to
 * two layers, and is then counted twice, as published. What a parent allocates by functional code belongs to none.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/search.h"
#include "study/estimate/xmem_internal.h"

/* ---- blocks and steps ---- */

void plm_xmem_blocks(const struct plm_trace *trace, int64_t until, struct plm_xmem_blocks *out)
{
    struct plm_map live = {0};

    *out = (struct plm_xmem_blocks){0};
    out->block = plm_calloc(trace->memories, sizeof *out->block);
    for (size_t i = 0; i < trace->memories && trace->memory[i].time <= until; i++) {
        const struct plm_trace_memory *m = &trace->memory[i];
        uint64_t number = plm_map_get(&live, m->address);
        const bool known = number != PLM_MAP_NONE;

        if (m->bytes < 0 && (!known || out->block[number].bytes != (uint64_t)0 - (uint64_t)m->bytes)) {
            out->orphans++;
            continue;
        }
        /* An address that is handed out again was freed, whether or not the trace says so. */
        if (known) {
            out->block[number].dies = m->time;
            plm_map_remove(&live, m->address);
        }
        if (m->bytes <= 0)
            continue;
        out->block[out->count] = (struct plm_xmem_block){m->time, PLM_NEVER, (uint64_t)m->bytes};
        plm_map_put(&live, m->address, out->count++);
    }
    plm_map_free(&live);
}

size_t plm_xmem_block_from(const struct plm_xmem_blocks *blocks, int64_t time)
{
    return PLM_SEARCH(i, blocks->count, blocks->block[i].born < time);
}

size_t plm_xmem_block_after(const struct plm_xmem_blocks *blocks, int64_t time)
{
    return time == INT64_MAX ? blocks->count : plm_xmem_block_from(blocks, time + 1);
}

/* The first operator that starts at this time or later. */
static size_t op_from(const struct plm_trace *trace, int64_t time)
{
    return PLM_SEARCH(i, trace->ops, trace->op[i].start < time);
}

void plm_xmem_step(const struct plm_trace *trace, size_t number, struct plm_xmem_step *step)
{
    *step = (struct plm_xmem_step){.start = trace->step[number].start, .end = trace->step[number].end};
    for (size_t i = 0; i < trace->marks; i++) {
        const struct plm_trace_mark *mark = &trace->mark[i];
        if (mark->start < step->start || mark->start > step->end)
            continue;
        if (mark->kind == PLM_MARK_OPTIMIZER_STEP)
            step->optimizer = mark;
        else
            step->zero_grad = mark;
    }
    step->first_op = op_from(trace, step->start);
    step->end_op = step->end == INT64_MAX ? trace->ops : op_from(trace, step->end + 1);
    if (step->end_op < step->first_op)
        step->end_op = step->first_op;
}

bool plm_xmem_drops_after(const struct plm_xmem_step *step)
{
    return step->zero_grad && step->optimizer && step->zero_grad->start > step->optimizer->end;
}

/* ---- layers ---- */

enum { LOOKS = 16, LOOKS_LEAST = 1 << 20 }; /* per event of the trace, and in any case */

struct numbered {
    int64_t sequence;
    uint32_t op; /* from the step's first */
};

struct work {
    const struct plm_trace *trace;
    const struct plm_xmem_step *step;
    const struct plm_xmem_blocks *blocks;
    struct plm_xmem_parts *parts;
    const struct plm_trace_op *all; /* operators of the step */
    struct numbered *numbered; /* operators with an autograd number, by number */
    size_t numbers;
    uint32_t *group;           /* per operator: the first of `numbered` with its number; UINT32_MAX: none */
    uint32_t *op_seen, *group_seen, *block_seen; /* the last layer that met it, counted from 1 */
    uint32_t *op;              /* those of the layer at hand */
    size_t ops;
    uint64_t looks;            /* left */
};

static int by_number(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int by_birth(const void *a, const void *b)
{
    const struct plm_xmem_part *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->layer < y->layer ? -1 : x->layer > y->layer;
}

/* aten::detach makes no node: its number is always another operator's. Autograd calls it to save a result if a
   program only pretends to compute (`plimsoll trace --no-compute`), at the end of a layer, which would so get the
   blocks of the next. */
static uint32_t find_detach(const struct plm_trace *trace)
{
    size_t i = 0;
    while (i < trace->names && strcmp(trace->name[i], "aten::detach") != 0)
        i++;
    return i < trace->names ? (uint32_t)i : UINT32_MAX;
}

static void work_begin(struct work *w)
{
    size_t ops = w->step->end_op - w->step->first_op;
    uint32_t detach = find_detach(w->trace);

    w->all = ops ? w->trace->op + w->step->first_op : NULL;
    w->numbered = plm_calloc(ops, sizeof *w->numbered);
    w->group = plm_calloc(ops, sizeof *w->group);
    w->group_seen = plm_calloc(ops, sizeof *w->group_seen);
    w->op_seen = plm_calloc(ops, sizeof *w->op_seen);
    w->op = plm_calloc(ops, sizeof *w->op);
    w->block_seen = plm_calloc(w->blocks->count, sizeof *w->block_seen);
    for (size_t i = 0; i < ops; i++) {
        const struct plm_trace_op *op = &w->all[i];
        w->group[i] = UINT32_MAX;
        if (op->sequence != PLM_TRACE_NONE && op->name != detach)
            w->numbered[w->numbers++] = (struct numbered){op->sequence, (uint32_t)i};
    }
    qsort(w->numbered, w->numbers, sizeof *w->numbered, by_number);
    for (size_t i = 0, first = 0; i < w->numbers; i++) {
        if (w->numbered[i].sequence != w->numbered[first].sequence)
            first = i;
        w->group[w->numbered[i].op] = (uint32_t)first;
    }
    w->looks = LOOKS_LEAST + LOOKS * ((uint64_t)ops + w->blocks->count + w->trace->modules);
}

static void work_end(struct work *w)
{
    free(w->numbered);
    free(w->group);
    free(w->group_seen);
    free(w->op_seen);
    free(w->op);
    free(w->block_seen);
}

static bool look_spend(struct work *w)
{
    return w->looks && w->looks--;
}

static bool op_add(struct work *w, uint32_t op, uint32_t layer)
{
    if (!look_spend(w))
        return false;
    if (w->op_seen[op] != layer) {
        w->op_seen[op] = layer;
        w->op[w->ops++] = op;
    }
    return true;
}

/* Operators that start in the call, and those that share an autograd number with one of them. */
static bool find_ops(struct work *w, const struct plm_trace_module *call, uint32_t layer)
{
    const struct plm_trace_op *op = w->all;
    const size_t count = w->step->end_op - w->step->first_op;

    w->ops = 0;
    for (size_t k = PLM_SEARCH(i, count, op[i].start < call->start); k < count && op[k].start <= call->end; k++) {
        uint32_t first = w->group[k];
        if (!op_add(w, (uint32_t)k, layer))
            return false;
        if (first == UINT32_MAX || w->group_seen[first] == layer)
            continue;
        w->group_seen[first] = layer;
        for (size_t i = first; i < w->numbers && w->numbered[i].sequence == w->numbered[first].sequence; i++)
            if (!op_add(w, w->numbered[i].op, layer))
                return false;
    }
    qsort(w->op, w->ops, sizeof *w->op, ascending);
    return true;
}

static void block_keep(struct work *w, size_t block, uint32_t layer, bool backward)
{
    struct plm_xmem_parts *p = w->parts;
    p->part = plm_grow(p->part, p->count, &p->room, sizeof *p->part);
    p->part[p->count++] = (struct plm_xmem_part){(uint32_t)block, layer, backward};
}

/* Blocks born in an interval that outlive `until`. What is born during the call is not backward. */
static int keep_blocks(struct work *w, int64_t start, int64_t end, int64_t until, const struct plm_trace_module *call,
                       bool backward, uint32_t layer)
{
    size_t last = plm_xmem_block_after(w->blocks, end);

    for (size_t i = plm_xmem_block_from(w->blocks, start); i < last; i++) {
        const struct plm_xmem_block *b = &w->blocks->block[i];
        if (!look_spend(w))
            return PLM_EFORMAT;
        if (w->block_seen[i] == layer || (backward && b->born >= call->start && b->born <= call->end))
            continue;
        w->block_seen[i] = layer;
        if (b->dies > until)
            block_keep(w, i, call->name, backward);
    }
    return 0;
}

/* Operators in order of start, an outer one first: one that ends before the latest end so far is inside another. */
static int keep_backward(struct work *w, const struct plm_trace_module *call, bool all, uint32_t layer)
{
    const struct plm_trace_op *op = w->all;
    int64_t until = INT64_MIN, inside = INT64_MIN;
    int status = 0;

    for (size_t i = 0; i < w->ops; i++)
        until = op[w->op[i]].end > until ? op[w->op[i]].end : until;
    for (size_t i = 0; status == 0 && i < w->ops; i++) {
        if (i && op[w->op[i]].end <= inside)
            continue;
        inside = op[w->op[i]].end;
        status = keep_blocks(w, op[w->op[i]].start, inside, all ? INT64_MIN : until, call, true, layer);
    }
    return status;
}

static int layer_add(struct work *w, const struct plm_trace_module *call, uint32_t layer)
{
    const char *name = call->name < w->trace->names ? w->trace->name[call->name] : "";
    bool all = strcasestr(name, "loss") || strcasestr(name, "cross");
    int status;

    if (!find_ops(w, call, layer))
        return PLM_EFORMAT;
    if (!w->ops && !all)
        return 0;
    status = keep_blocks(w, call->start, call->end, all ? INT64_MIN : call->end, call, false, layer);
    return status ? status : keep_backward(w, call, all, layer);
}

int plm_xmem_layers(const struct plm_trace *trace, const struct plm_xmem_step *step,
                    const struct plm_xmem_blocks *blocks, struct plm_xmem_parts *parts, struct plm_error *error)
{
    struct work w = {.trace = trace, .step = step, .blocks = blocks, .parts = parts};
    uint32_t layer = 0;
    int status = 0;

    work_begin(&w);
    for (size_t i = 0; status == 0 && i < trace->modules && layer < UINT32_MAX; i++) {
        const struct plm_trace_module *call = &trace->module[i];
        if (!call->leaf || call->start < step->start || call->start > step->end ||
            (step->optimizer && call->start >= step->optimizer->start))
            continue;
        status = layer_add(&w, call, ++layer);
    }
    work_end(&w);
    if (status == PLM_EFORMAT)
        return plm_fail(error, PLM_EFORMAT, "too many operators share autograd numbers to attribute the memory");
    if (status == 0 && parts->count)
        qsort(parts->part, parts->count, sizeof *parts->part, by_birth);
    return status;
}
