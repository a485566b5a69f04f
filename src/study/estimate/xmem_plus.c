/*
 * xmem+: the same trace, with what the published method gives away put right.
 *
 * | published                                      | here                                                             |
 * |------------------------------------------------|------------------------------------------------------------------|
 * | blocks of leaf modules, once for each layer    | every block, once: also what parents allocate by functional code |
 * | temporaries of a layer are dropped             | they are kept, but for those within one operator: those are      |
 * |                                                | what a kernel of the CPU uses for itself, a GPU's uses other     |
 * | parameters follow from gradients, no buffers   | from the description in the trace, where it has one              |
 * | a batch has 4 bytes an element                 | as many as its type has                                          |
 * | optimizer state: what the CPU's loop allocates | as the optimizer is known to have, or as the description says    |
 * | temporaries of the step die one by one         | a GPU works on all parameters at once: they live to its end      |
 * | dropout keeps a mask of floats                 | one of bytes, as on a GPU                                        |
 * | allocator of two levels                        | PyTorch's own rules                                              |
 *
 * It does not know what a GPU's libraries take for themselves (workspaces of cuDNN and cuBLAS), nor which kernels
 * save other tensors there.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "study/estimate/description.h"
#include "study/estimate/xmem_internal.h"

/*
 * ---- owners ----
 *
 * Where blocks are born: one sweep over operators, module calls and blocks, all in order of time.
 *
 * A forward operator belongs to the innermost module that is being called. A node of autograd carries the number that
 * the operator had which made it, so it belongs to that operator's module; of several forward operators with one
 * number the last is the one that made the node.
 */

#define NODE "autograd::engine::evaluate_function" /* what the engine calls the running of a node */

/* Operators that only make memory for the one that calls them. */
static const char *const makers[] = {"aten::empty",    "aten::new_empty", "aten::resize_", "aten::zeros",
                                     "aten::zero_",    "aten::new_zeros", "aten::ones",    "aten::full",
                                     "aten::new_full", "aten::fill_"};
enum { MAKERS_DEEP = 4 }; /* how many of them call each other */

struct owner {
    uint32_t layer; /* the innermost module, by its name in the trace; UINT32_MAX: none */
    bool backward;  /* born in a node of autograd; the layer is that of the node's operator */
    int64_t kernel_end; /* when the operator ends that it was made for */
    bool mask;      /* of dropout: floats on a CPU */
};

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

static void sweep_start(struct sweep *s)
{
    const struct plm_trace *t = s->trace;

    s->modules.item = plm_calloc(t->modules, sizeof *s->modules.item);
    s->ops.item = plm_calloc(t->ops, sizeof *s->ops.item);
    s->is_node = plm_calloc(t->names, sizeof *s->is_node);
    s->makes = plm_calloc(t->names, sizeof *s->makes);
    s->dropout = s->empty_like = UINT32_MAX;
    s->node_end = INT64_MIN;
    for (size_t i = 0; i < t->names; i++) {
        s->is_node[i] = !strncmp(t->name[i], NODE, sizeof NODE - 1);
        for (size_t k = 0; k < sizeof makers / sizeof makers[0]; k++)
            s->makes[i] = s->makes[i] || !strncmp(t->name[i], makers[k], strlen(makers[k]));
        if (!strcmp(t->name[i], "aten::dropout"))
            s->dropout = (uint32_t)i;
        if (!strcmp(t->name[i], "aten::empty_like"))
            s->empty_like = (uint32_t)i;
    }
}

static void sweep_stop(struct sweep *s)
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
static void op_begin(struct sweep *s, uint32_t number)
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
        return;
    }
    /* Operators within a node have numbers of their own only when gradients of gradients are wanted. */
    if (op->sequence != PLM_TRACE_NONE && layer != UINT32_MAX && op->start > s->node_end)
        plm_map_put(&s->node_layer, (uint64_t)op->sequence, layer);
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

static struct owner owner_at(struct sweep *s, int64_t time)
{
    const struct plm_trace_op *op = s->trace->op;
    struct owner owner = {.layer = module_at(s, time)};
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

/* One for each block; the caller frees it. */
static struct owner *find_owners(const struct plm_trace *trace, const struct plm_xmem_blocks *blocks)
{
    struct owner *owner = plm_calloc(blocks->count, sizeof *owner);
    struct sweep s = {.trace = trace};

    sweep_start(&s);
    for (size_t i = 0; i < blocks->count; i++) {
        while (s.ops.next < trace->ops && trace->op[s.ops.next].start <= blocks->block[i].born)
            op_begin(&s, (uint32_t)s.ops.next++);
        owner[i] = owner_at(&s, blocks->block[i].born);
    }
    sweep_stop(&s);
    return owner;
}

/* ---- corrections ---- */

enum { MASK_PART = 4 }; /* a float to a byte */

/* How PyTorch's optimizers work on all parameters at once: copies of the parameters that they keep, and that live for
   a step. */
static const struct optimizer {
    const char *name;
    int kept, temporary;
} optimizers[] = {
    {"Adadelta", 2, 2}, {"Adagrad", 1, 2}, {"Adam", 2, 1}, {"AdamW", 2, 1},
    {"NAdam", 2, 1},    {"RMSprop", 1, 1}, {"SGD", 0, 0},
};

/* Bytes of an element, by PyTorch's number of its type. */
static const unsigned char type_bytes[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2};

struct work {
    struct plm_xmem_run *run;
    struct owner *owner; /* per block */
    struct plm_description *described; /* that is in the trace; NULL: none */
    uint64_t *parameter; /* bytes of those that are trained */
    size_t parameters, room;
    uint64_t parameter_bytes;
};

static void item_add(struct work *w, int64_t born, int64_t dies, uint64_t bytes, enum plm_category category,
                     bool backward, uint32_t layer)
{
    if (bytes)
        plm_xmem_add(&w->run->list, born, dies, bytes, plm_xmem_holder(category, backward, layer));
}

static void parameter_add(struct work *w, uint64_t bytes, bool trained, bool buffer, uint32_t layer)
{
    w->parameter = plm_grow(w->parameter, w->parameters, &w->room, sizeof *w->parameter);
    if (trained) {
        w->parameter[w->parameters++] = bytes;
        w->parameter_bytes += bytes;
    }
    w->run->list.parameters++;
    item_add(w, plm_xmem_before_all(w->run->list.count), PLM_NEVER, bytes,
             buffer ? PLM_CATEGORY_BUFFERS : PLM_CATEGORY_PARAMETERS, false, layer);
}

static bool is_gradient(const struct work *w, size_t block)
{
    const struct plm_xmem_block *b = &w->run->blocks.block[block];
    const struct plm_xmem_step *last = &w->run->step[w->run->steps - 1];

    if (!w->owner[block].backward || b->born < last->start)
        return false;
    return b->dies == PLM_NEVER || (plm_xmem_drops_after(last) && b->dies >= last->zero_grad->start);
}

/* Module.to() goes from module to module, and takes a module's parameters, then its buffers. */
static void add_described(struct work *w)
{
    const struct plm_description *d = w->described;
    for (size_t p = 0, b = 0; p < d->parameters || b < d->buffers;)
        if (b < d->buffers && (p == d->parameters || d->buffer[b].module < d->parameter[p].module))
            parameter_add(w, d->buffer[b++].bytes, false, true, UINT32_MAX);
        else {
            parameter_add(w, d->parameter[p].bytes, d->parameter[p].trainable, false, UINT32_MAX);
            p++;
        }
}

/* As the description has them; else as the gradients of the last step show, the last one first. */
static void add_model(struct work *w)
{
    if (w->described && w->described->parameters + w->described->buffers) {
        add_described(w);
        return;
    }
    for (size_t i = w->run->blocks.count; i-- > 0;)
        if (is_gradient(w, i))
            parameter_add(w, w->run->blocks.block[i].bytes, true, false, w->owner[i].layer);
}

struct batch {
    struct work *work;
    int64_t dies;
};

static void batch_add(void *context, const struct plm_trace_op *op, const struct plm_trace_to *to)
{
    const struct batch *b = context;
    unsigned long type = strtoul(to->argument[1], NULL, 10);
    uint64_t size = type < sizeof type_bytes ? type_bytes[type] : 4, bytes;
    if (__builtin_mul_overflow(to->elements, size, &bytes))
        bytes = UINT64_MAX;
    item_add(b->work, op->start, b->dies, bytes, PLM_CATEGORY_INPUTS, false, UINT32_MAX);
}

static bool optimizer_described(const struct work *w)
{
    return w->described && w->described->optimizer.known;
}

static const struct optimizer *optimizer_of(const struct work *w, const struct plm_xmem_step *step)
{
    const struct plm_trace *t = w->run->trace;
    const char *name = step->optimizer && step->optimizer->name < t->names ? t->name[step->optimizer->name] : "";

    if (optimizer_described(w) &&
        !w->described->optimizer.foreach) /* the program asked for a loop over parameters: as the trace has it */
        return NULL;
    for (size_t i = 0; i < sizeof optimizers / sizeof optimizers[0]; i++)
        if (!strcmp(optimizers[i].name, name))
            return &optimizers[i];
    return NULL;
}

/* So many tenths of every parameter, or copies, that live for so long. */
static void add_copies(struct work *w, int64_t born, int64_t dies, double copies)
{
    for (size_t i = 0; i < w->parameters; i++) {
        double left = copies;
        while (left >= 1) {
            item_add(w, born, dies, w->parameter[i], PLM_CATEGORY_OPTIMIZER, false, UINT32_MAX);
            left -= 1;
        }
        if (left >= 0.01) /* less is counters, which stay on the CPU */
            item_add(w, born, dies, (uint64_t)((double)w->parameter[i] * left), PLM_CATEGORY_OPTIMIZER, false,
                     UINT32_MAX);
    }
}

/* What an optimizer that is not known allocates in the sizes of parameters stays, as in the published method. */
static void add_unknown(struct work *w, int number)
{
    const struct plm_xmem_step *step = &w->run->step[number];
    const struct plm_xmem_blocks *blocks = &w->run->blocks;
    size_t end = plm_xmem_block_after(blocks, step->optimizer->end);
    struct plm_map sizes = {0};

    for (size_t i = 0; i < w->parameters; i++)
        plm_map_put(&sizes, w->parameter[i], 0);
    for (size_t i = plm_xmem_block_from(blocks, step->optimizer->start); i < end; i++) {
        const struct plm_xmem_block *b = &blocks->block[i];
        bool stays = number == 0 && !optimizer_described(w) && plm_map_get(&sizes, b->bytes) != PLM_MAP_NONE;
        item_add(w, b->born, stays ? PLM_NEVER : b->dies, b->bytes, PLM_CATEGORY_OPTIMIZER, false, UINT32_MAX);
    }
    plm_map_free(&sizes);
}

static void add_optimizer(struct work *w, int number)
{
    const struct plm_xmem_step *step = &w->run->step[number];
    const struct optimizer *known = optimizer_of(w, step);
    double kept = known ? known->kept : 0;

    if (!step->optimizer)
        return;
    if (optimizer_described(w) && w->parameter_bytes)
        kept = (double)w->described->optimizer.state_bytes / (double)w->parameter_bytes;
    if (number == 0)
        add_copies(w, step->optimizer->start, PLM_NEVER, kept < 16 ? kept : 16);
    if (known)
        add_copies(w, step->optimizer->start, step->optimizer->end, known->temporary);
    else
        add_unknown(w, number);
}

static bool in_optimizer(const struct plm_xmem_step *step, int64_t time)
{
    return step->optimizer && time >= step->optimizer->start && time <= step->optimizer->end;
}

/* Forward blocks that live until the backward pass, or as long as anything does, are activations. */
static enum plm_category category_of(const struct plm_xmem_step *step, const struct plm_xmem_block *b, bool backward,
                                     int64_t backward_start)
{
    int64_t optimizer = step->optimizer ? step->optimizer->start : step->end;
    if (backward)
        return b->dies > optimizer ? PLM_CATEGORY_GRADIENTS : PLM_CATEGORY_TEMPORARIES;
    return b->dies > backward_start ? PLM_CATEGORY_ACTIVATIONS : PLM_CATEGORY_TEMPORARIES;
}

static void add_blocks(struct work *w, int number)
{
    const struct plm_xmem_step *step = &w->run->step[number];
    const struct plm_xmem_blocks *blocks = &w->run->blocks;
    size_t from = plm_xmem_block_from(blocks, step->start), end = plm_xmem_block_after(blocks, step->end);
    int64_t backward = INT64_MAX;

    for (size_t i = from; i < end && backward == INT64_MAX; i++)
        if (w->owner[i].backward)
            backward = blocks->block[i].born;
    for (size_t i = from; i < end; i++) {
        const struct plm_xmem_block *b = &blocks->block[i];
        const struct owner *o = &w->owner[i];
        if (b->dies <= o->kernel_end)
            w->run->left_out += number + 1 == w->run->steps ? b->bytes : 0;
        else if (!in_optimizer(step, b->born))
            item_add(w, b->born, b->dies, o->mask ? (b->bytes + MASK_PART - 1) / MASK_PART : b->bytes,
                     category_of(step, b, o->backward, backward), o->backward, o->layer);
    }
}

int plm_xmem_correct(struct plm_xmem_run *run, struct plm_error *error)
{
    struct work w = {.run = run};
    int status = 0;

    if (run->trace->description && run->trace->description_size)
        status = plm_description_parse("description", run->trace->description, run->trace->description_size,
                                       &w.described, error);
    if (status == 0) {
        w.owner = find_owners(run->trace, &run->blocks);
        add_model(&w);
    }
    for (int i = 0; status == 0 && i < run->steps; i++) {
        struct batch batch = {&w, i + 1 < run->steps ? run->step[i].end : PLM_NEVER};
        plm_xmem_batches(run->trace, &run->step[i], false, batch_add, &batch);
        add_blocks(&w, i);
        add_optimizer(&w, i);
    }
    plm_description_free(w.described);
    free(w.owner);
    free(w.parameter);
    return status;
}
