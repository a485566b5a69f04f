/*
 * xmem+: the same trace, with what the published method gives away put right.
 *
 * | published                                              | here                                                              |
 * |--------------------------------------------------------|-------------------------------------------------------------------|
 * | blocks of leaf modules, each time a layer meets them   | every block, once: also what parents allocate by functional code  |
 * | temporaries of a layer are dropped                     | they are kept, but for those within one operator: those are what  |
 * |                                                        | a kernel of the CPU uses for itself, a GPU's uses other           |
 * | parameters are what gradients show; buffers are missed | from the description in the trace, where it has one               |
 * | a batch has 4 bytes an element                         | as many as its type has                                           |
 * | optimizer state: the temporaries of the CPU's loop     | as the optimizer is known to have, or as the description says     |
 * | temporaries of the step die with their parameter       | a GPU works on all parameters at once: they live to its end       |
 * | dropout keeps a mask of floats                         | one of bytes, as on a GPU                                         |
 * | allocator of two levels                                | PyTorch's own rules                                               |
 *
 * It does not know what a GPU's libraries take for themselves (workspaces of cuDNN and cuBLAS), nor which kernels save other tensors there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/error.h"
#include "base/map.h"
#include "study/estimate/xmem_internal.h"

enum { MASK_PART = 4 }; /* a float to a byte */

/* How PyTorch's optimizers work on all parameters at once: copies of the parameters that they keep, and that live for a step. */
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
    struct plm_xmem_owner *owner; /* per block */
    struct plm_xmem_model model; /* empty without a description */
    uint64_t *parameter; /* bytes of those that are trained */
    size_t parameters, room;
    uint64_t parameter_bytes;
};

static int add(struct work *w, int64_t born, int64_t dies, uint64_t bytes, enum plm_category category, bool backward,
               uint32_t layer)
{
    return bytes ? plm_xmem_add(&w->run->list, born, dies, bytes, plm_xmem_holder(category, backward, layer)) : 0;
}

static int add_parameter(struct work *w, uint64_t bytes, bool trained, bool buffer, uint32_t layer)
{
    uint64_t *more = plm_grow(w->parameter, w->parameters, &w->room, sizeof *more);
    if (!more)
        return PLM_ENOMEM;
    w->parameter = more;
    if (trained) {
        more[w->parameters++] = bytes;
        w->parameter_bytes += bytes;
    }
    w->run->list.parameters++;
    return add(w, plm_xmem_before_all(w->run->list.count), PLM_NEVER, bytes,
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

/* As the description has them; else as the gradients of the last step show, the last one first. */
static int add_model(struct work *w)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < w->model.tensors; i++) {
        const struct plm_xmem_tensor *t = &w->model.tensor[i];
        status = add_parameter(w, t->bytes, t->trained, t->buffer, UINT32_MAX);
    }
    if (w->model.tensors)
        return status;
    for (size_t i = w->run->blocks.count; status == 0 && i-- > 0;)
        if (is_gradient(w, i))
            status = add_parameter(w, w->run->blocks.block[i].bytes, true, false, w->owner[i].layer);
    return status;
}

struct batch {
    struct work *work;
    int64_t dies;
};

static int add_batch(void *context, const struct plm_trace_op *op, const struct plm_trace_to *to)
{
    const struct batch *b = context;
    unsigned long type = strtoul(to->argument[1], NULL, 10);
    uint64_t size = type < sizeof type_bytes ? type_bytes[type] : 4, bytes;
    if (__builtin_mul_overflow(to->elements, size, &bytes))
        bytes = UINT64_MAX;
    return add(b->work, op->start, b->dies, bytes, PLM_CATEGORY_INPUTS, false, UINT32_MAX);
}

static const struct optimizer *optimizer_of(const struct work *w, const struct plm_xmem_step *step)
{
    const struct plm_trace *t = w->run->trace;
    const char *name = step->optimizer && step->optimizer->name < t->names ? t->name[step->optimizer->name] : "";

    if (w->model.loops) /* the program asked for a loop over parameters: as the trace has it */
        return NULL;
    for (size_t i = 0; i < sizeof optimizers / sizeof optimizers[0]; i++)
        if (!strcmp(optimizers[i].name, name))
            return &optimizers[i];
    return NULL;
}

/* So many tenths of every parameter, or copies, that live for so long. */
static int add_copies(struct work *w, int64_t born, int64_t dies, double copies)
{
    int status = 0;
    for (size_t i = 0; i < w->parameters; i++) {
        double left = copies;
        for (; status == 0 && left >= 1; left--)
            status = add(w, born, dies, w->parameter[i], PLM_CATEGORY_OPTIMIZER, false, UINT32_MAX);
        if (status == 0 && left >= 0.01) /* less is counters, which stay on the CPU */
            status = add(w, born, dies, (uint64_t)((double)w->parameter[i] * left), PLM_CATEGORY_OPTIMIZER, false,
                         UINT32_MAX);
    }
    return status;
}

/* What an optimizer that is not known allocates in the sizes of parameters stays, as in the published method. */
static int add_unknown(struct work *w, int number)
{
    const struct plm_xmem_step *step = &w->run->step[number];
    const struct plm_xmem_blocks *blocks = &w->run->blocks;
    size_t end = plm_xmem_block_after(blocks, step->optimizer->end);
    struct plm_map sizes = {0};
    int status = 0;

    for (size_t i = 0; i < w->parameters; i++)
        plm_map_put(&sizes, w->parameter[i], 0);
    for (size_t i = plm_xmem_block_from(blocks, step->optimizer->start); status == 0 && i < end; i++) {
        const struct plm_xmem_block *b = &blocks->block[i];
        bool stays = number == 0 && !w->model.state_known && plm_map_get(&sizes, b->bytes) != PLM_MAP_NONE;
        status = add(w, b->born, stays ? PLM_NEVER : b->dies, b->bytes, PLM_CATEGORY_OPTIMIZER, false, UINT32_MAX);
    }
    plm_map_free(&sizes);
    return status;
}

static int add_optimizer(struct work *w, int number)
{
    const struct plm_xmem_step *step = &w->run->step[number];
    const struct optimizer *known = optimizer_of(w, step);
    double kept = known ? known->kept : 0;
    int status = 0;

    if (!step->optimizer)
        return 0;
    if (w->model.state_known && w->parameter_bytes)
        kept = (double)w->model.state_bytes / (double)w->parameter_bytes;
    if (number == 0)
        status = add_copies(w, step->optimizer->start, PLM_NEVER, kept < 16 ? kept : 16);
    if (status)
        return status;
    return known ? add_copies(w, step->optimizer->start, step->optimizer->end, known->temporary)
                 : add_unknown(w, number);
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

static int add_blocks(struct work *w, int number)
{
    const struct plm_xmem_step *step = &w->run->step[number];
    const struct plm_xmem_blocks *blocks = &w->run->blocks;
    size_t from = plm_xmem_block_from(blocks, step->start), end = plm_xmem_block_after(blocks, step->end);
    int64_t backward = INT64_MAX;
    int status = 0;

    for (size_t i = from; i < end && backward == INT64_MAX; i++)
        if (w->owner[i].backward)
            backward = blocks->block[i].born;
    for (size_t i = from; status == 0 && i < end; i++) {
        const struct plm_xmem_block *b = &blocks->block[i];
        const struct plm_xmem_owner *o = &w->owner[i];
        if (b->dies <= o->kernel_end)
            w->run->left_out += number + 1 == w->run->steps ? b->bytes : 0;
        else if (!in_optimizer(step, b->born))
            status = add(w, b->born, b->dies, o->mask ? (b->bytes + MASK_PART - 1) / MASK_PART : b->bytes,
                         category_of(step, b, o->backward, backward), o->backward, o->layer);
    }
    return status;
}

int plm_xmem_correct(struct plm_xmem_run *run, struct plm_error *error)
{
    struct work w = {.run = run};
    int status = plm_xmem_model_read(run->trace, &w.model, error);

    if (status == 0)
        status = plm_xmem_owners(run->trace, &run->blocks, &w.owner);
    if (status == 0)
        status = add_model(&w);
    for (int i = 0; status == 0 && i < run->steps; i++) {
        struct batch batch = {&w, i + 1 < run->steps ? run->step[i].end : PLM_NEVER};
        status = plm_xmem_batches(run->trace, &run->step[i], false, add_batch, &batch);
        if (status == 0)
            status = add_blocks(&w, i);
        if (status == 0)
            status = add_optimizer(&w, i);
    }
    plm_xmem_model_free(&w.model);
    free(w.owner);
    free(w.parameter);
    return status;
}
