/*
 * Where blocks are born: one sweep over operators, module calls and blocks, all in order of time.
 *
 * A forward operator belongs to the innermost module that is being called. A node of autograd carries the number that the operator had
 * which made it, so it belongs to that operator's module; of several forward operators with one number the last is the one that made the node.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "study/estimate/xmem_internal.h"

#define NODE "autograd::engine::evaluate_function" /* what the engine calls the running of a node */

/* Operators that only make memory for the one that calls them. */
static const char *const makers[] = {"aten::empty",    "aten::new_empty", "aten::resize_", "aten::zeros",
                                     "aten::zero_",    "aten::new_zeros", "aten::ones",    "aten::full",
                                     "aten::new_full", "aten::fill_"};
enum { MAKERS_DEEP = 4 }; /* how many of them call each other */

/* What is open at a time: items in order of start, of which those that ended are taken off. */
struct open {
    uint32_t *item;
    size_t count, next;
};

struct sweep {
    const struct plm_trace *trace;
    struct open modules, ops;
    struct plm_map node_layer; /* autograd number -> layer */
    bool *is_node, *makes;     /* per name of the trace: a node; an operator that only makes memory */
    uint32_t dropout, empty_like;
    int64_t node_end;          /* of the latest node that began; INT64_MIN: none */
    uint32_t node;             /* it */
};

static int start(struct sweep *s)
{
    const struct plm_trace *t = s->trace;

    s->modules.item = calloc(t->modules ? t->modules : 1, sizeof *s->modules.item);
    s->ops.item = calloc(t->ops ? t->ops : 1, sizeof *s->ops.item);
    s->is_node = calloc(t->names ? t->names : 1, sizeof *s->is_node);
    s->makes = calloc(t->names ? t->names : 1, sizeof *s->makes);
    s->dropout = s->empty_like = UINT32_MAX;
    s->node_end = INT64_MIN;
    if (!s->modules.item || !s->ops.item || !s->is_node || !s->makes || t->modules >= UINT32_MAX ||
        t->ops >= UINT32_MAX)
        return PLM_ENOMEM;
    for (size_t i = 0; i < t->names; i++) {
        s->is_node[i] = !strncmp(t->name[i], NODE, sizeof NODE - 1);
        for (size_t k = 0; k < sizeof makers / sizeof makers[0]; k++)
            s->makes[i] = s->makes[i] || !strncmp(t->name[i], makers[k], strlen(makers[k]));
        if (!strcmp(t->name[i], "aten::dropout"))
            s->dropout = (uint32_t)i;
        if (!strcmp(t->name[i], "aten::empty_like"))
            s->empty_like = (uint32_t)i;
    }
    return 0;
}

static void stop(struct sweep *s)
{
    free(s->modules.item);
    free(s->ops.item);
    free(s->is_node);
    free(s->makes);
    plm_map_free(&s->node_layer);
}

/* The innermost module at a time; UINT32_MAX: none. Times never go back. */
static uint32_t module_at(struct sweep *s, int64_t time)
{
    const struct plm_trace_module *module = s->trace->module;
    struct open *o = &s->modules;

    while (o->next < s->trace->modules && module[o->next].start <= time) {
        while (o->count && module[o->item[o->count - 1]].end < module[o->next].start)
            o->count--;
        o->item[o->count++] = (uint32_t)o->next++;
    }
    while (o->count && module[o->item[o->count - 1]].end < time)
        o->count--;
    return o->count ? module[o->item[o->count - 1]].name : UINT32_MAX;
}

/* An operator begins. */
static int begin(struct sweep *s, uint32_t number)
{
    const struct plm_trace_op *op = &s->trace->op[number];
    struct open *o = &s->ops;
    uint32_t layer = module_at(s, op->start);

    while (o->count && s->trace->op[o->item[o->count - 1]].end < op->start)
        o->count--;
    o->item[o->count++] = number;
    if (op->name < s->trace->names && s->is_node[op->name]) {
        s->node = number;
        s->node_end = op->end;
        return 0;
    }
    /* Operators within a node have numbers of their own only when gradients of gradients are wanted. */
    if (op->sequence == PLM_TRACE_NONE || layer == UINT32_MAX || op->start <= s->node_end)
        return 0;
    plm_map_put(&s->node_layer, (uint64_t)op->sequence, layer);
    return 0;
}

/* When the operator ends that the memory is for; INT64_MIN: it is for none, but for the program. */
static int64_t kernel_end(const struct sweep *s)
{
    size_t n = s->ops.count;
    for (int i = 0; n && i < MAKERS_DEEP; i++, n--) {
        const struct plm_trace_op *op = &s->trace->op[s->ops.item[n - 1]];
        if (op->name >= s->trace->names || !s->makes[op->name])
            return op->end;
    }
    return INT64_MIN;
}

static bool is_mask(const struct sweep *s)
{
    const struct plm_trace_op *op = s->trace->op;
    const uint32_t *item = s->ops.item;
    size_t n = s->ops.count;

    /* Its memory comes from an operator within aten::empty_like, or from that itself. */
    for (int i = 0; n && i < MAKERS_DEEP && op[item[n - 1]].name != s->empty_like; i++)
        n--;
    if (!n || op[item[n - 1]].name != s->empty_like)
        return false;
    return s->dropout != UINT32_MAX && n >= 2 && op[item[n - 2]].name == s->dropout;
}

static struct plm_xmem_owner owner_at(struct sweep *s, int64_t time)
{
    const struct plm_trace_op *op = s->trace->op;
    struct plm_xmem_owner owner = {.layer = module_at(s, time)};
    uint64_t layer;

    while (s->ops.count && op[s->ops.item[s->ops.count - 1]].end < time)
        s->ops.count--;
    owner.backward = time <= s->node_end;
    if (owner.backward && owner.layer == UINT32_MAX && op[s->node].sequence != PLM_TRACE_NONE) {
        layer = plm_map_get(&s->node_layer, (uint64_t)op[s->node].sequence);
        owner.layer = layer == PLM_MAP_NONE ? UINT32_MAX : (uint32_t)layer;
    }
    owner.kernel_end = kernel_end(s);
    owner.mask = !owner.backward && is_mask(s);
    return owner;
}

int plm_xmem_owners(const struct plm_trace *trace, const struct plm_xmem_blocks *blocks, struct plm_xmem_owner **owner)
{
    struct sweep s = {.trace = trace};
    int status;

    *owner = calloc(blocks->count ? blocks->count : 1, sizeof **owner);
    status = *owner ? start(&s) : PLM_ENOMEM;
    for (size_t i = 0; status == 0 && i < blocks->count; i++) {
        while (status == 0 && s.ops.next < trace->ops && trace->op[s.ops.next].start <= blocks->block[i].born)
            status = begin(&s, (uint32_t)s.ops.next++);
        (*owner)[i] = owner_at(&s, blocks->block[i].born);
    }
    stop(&s);
    return status;
}
