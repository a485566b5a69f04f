/*
 * The Orchestrator, as published: blocks of the CPU get the lifetimes that they would have on a GPU.
 *
 * - Parameters are as large as their gradients: backward blocks of the last step that are not freed, the last born
 *   first, exist before everything and stay. Where gradients are dropped after the optimizer's step, those count that
 *   die in zero_grad: the published code has that rule in one of its two variants only, and finds no parameters in
 *   the other.
 * - The batch comes with the tensors that are moved to the device, and goes with the step. The published code has two
 *   rules. For CNNs it takes the first so many aten::to, which is what is moved before the first module is called.
 *   For other models it takes all with these arguments, and so counts what a model or its loss converts as well:
 *   logits, the inputs of T5's norms. A step that convolves has the first rule.
 * - Gradients of the first step go when zero_grad begins in the next, unless the CPU freed them before.
 * - Optimizer state is what Optimizer.step allocates in the sizes of parameters: in the first step it stays. As the
 *   state itself was made before the trace began, this counts temporaries of the CPU's loop instead, which for Adam,
 *   RMSprop and Adagrad come to the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "common/error.h"
#include "base/map.h"
#include "study/estimate/xmem_internal.h"

void plm_xmem_add(struct plm_xmem_list *list, int64_t born, int64_t dies, uint64_t bytes, uint32_t holder)
{
    list->item = plm_grow(list->item, list->count, &list->room, sizeof *list->item);
    list->item[list->count++] = (struct plm_lifetime){born, dies, bytes, holder};
}

int64_t plm_xmem_before_all(size_t n)
{
    return INT64_MIN + (int64_t)(n < (size_t)1 << 40 ? n : (size_t)1 << 40);
}

static bool is_argument(const struct plm_trace_to *to, int number, const char *text)
{
    return !strcmp(to->argument[number], text);
}

/* Tensor.to(device) of floats or whole numbers: type, layout, and neither copied nor asynchronous by request. */
static bool is_batch(const struct plm_trace_to *to)
{
    return (is_argument(to, 1, "6") || is_argument(to, 1, "4")) && is_argument(to, 2, "0") && is_argument(to, 3, "") &&
           is_argument(to, 4, "") && is_argument(to, 5, "False") && is_argument(to, 6, "False") &&
           is_argument(to, 7, "");
}

static int64_t first_call(const struct plm_trace *trace, const struct plm_xmem_step *step)
{
    for (size_t i = 0; i < trace->modules; i++)
        if (trace->module[i].start >= step->start)
            return trace->module[i].start;
    return INT64_MAX;
}

void plm_xmem_batches(const struct plm_trace *trace, const struct plm_xmem_step *step, bool all,
                      plm_xmem_batch_found *found, void *context)
{
    int64_t until = first_call(trace, step);
    size_t count = 0;

    /* Some programs move their batch within a module: then everything that looks like one. */
    for (int pass = all; pass < 2 && count == 0; pass++)
        for (size_t i = step->first_op; i < step->end_op; i++) {
            const struct plm_trace_op *op = &trace->op[i];
            if (op->detail >= trace->tos || (pass == 0 && op->start >= until) || !is_batch(&trace->to[op->detail]))
                continue;
            count++;
            found(context, op, &trace->to[op->detail]);
        }
}

static bool convolves(const struct plm_trace *trace, const struct plm_xmem_step *step)
{
    static const char convolution[] = "aten::conv";
    for (size_t i = step->first_op; i < step->end_op; i++) {
        const uint32_t name = trace->op[i].name;
        if (name < trace->names && !strncmp(trace->name[name], convolution, sizeof convolution - 1))
            return true;
    }
    return false;
}

struct batch {
    struct plm_xmem_run *run;
    int64_t dies;
};

/* Four bytes an element, as published, whatever the type. */
static void batch_add(void *context, const struct plm_trace_op *op, const struct plm_trace_to *to)
{
    const struct batch *b = context;
    uint64_t bytes = to->elements < UINT64_MAX / 4 ? to->elements * 4 : UINT64_MAX;
    if (bytes)
        plm_xmem_add(&b->run->list, op->start, b->dies, bytes,
                     plm_xmem_holder(PLM_CATEGORY_INPUTS, false, PLM_XMEM_NO_LAYER));
}

static bool stays(const struct plm_xmem_block *block, const struct plm_xmem_step *step)
{
    if (block->dies == PLM_NEVER)
        return true;
    return plm_xmem_drops_after(step) && block->dies >= step->zero_grad->start && block->dies <= step->zero_grad->end;
}

/* Their sizes, as keys of `sizes`. */
static void add_parameters(struct plm_xmem_run *run, const struct plm_xmem_parts *parts, struct plm_map *sizes)
{
    for (size_t i = parts->count; i-- > 0;) {
        const struct plm_xmem_part *part = &parts->part[i];
        const struct plm_xmem_block *block = &run->blocks.block[part->block];
        if (!part->backward || !stays(block, &run->step[run->steps - 1]))
            continue;
        plm_map_put(sizes, block->bytes, 0);
        plm_xmem_add(&run->list, plm_xmem_before_all(run->list.count), PLM_NEVER, block->bytes,
                     plm_xmem_holder(PLM_CATEGORY_PARAMETERS, false, part->layer));
    }
    run->list.parameters = run->list.count;
}

/* Forward blocks are activations. Of backward blocks, those that live when the optimizer steps are gradients. */
static enum plm_category category_of(const struct plm_xmem_step *step, const struct plm_xmem_block *block,
                                     bool backward)
{
    int64_t last = step->optimizer ? step->optimizer->start : step->end;
    return !backward            ? PLM_CATEGORY_ACTIVATIONS
           : block->dies > last ? PLM_CATEGORY_GRADIENTS
                                : PLM_CATEGORY_TEMPORARIES;
}

static void add_parts(struct plm_xmem_run *run, int number, const struct plm_xmem_parts *parts)
{
    const struct plm_xmem_step *step = &run->step[number], *next = number + 1 < run->steps ? step + 1 : NULL;
    bool drop = next && next->zero_grad && !plm_xmem_drops_after(step);

    for (size_t i = 0; i < parts->count; i++) {
        const struct plm_xmem_part *part = &parts->part[i];
        const struct plm_xmem_block *block = &run->blocks.block[part->block];
        int64_t dies = block->dies;
        if (drop && part->backward && dies == PLM_NEVER)
            dies = next->zero_grad->start;
        plm_xmem_add(&run->list, block->born, dies, block->bytes,
                     plm_xmem_holder(category_of(step, block, part->backward), part->backward, part->layer));
    }
}

static void add_optimizer(struct plm_xmem_run *run, int number, const struct plm_map *sizes)
{
    const struct plm_trace_mark *optimizer = run->step[number].optimizer;
    size_t last;

    if (!optimizer)
        return;
    last = plm_xmem_block_after(&run->blocks, optimizer->end);
    for (size_t i = plm_xmem_block_from(&run->blocks, optimizer->start); i < last; i++) {
        const struct plm_xmem_block *block = &run->blocks.block[i];
        if (plm_map_get(sizes, block->bytes) != PLM_MAP_NONE)
            plm_xmem_add(&run->list, block->born, number == 0 ? PLM_NEVER : block->dies, block->bytes,
                         plm_xmem_holder(PLM_CATEGORY_OPTIMIZER, false, PLM_XMEM_NO_LAYER));
    }
}

/* What the last step allocated and no layer holds on to. */
static uint64_t left_out(const struct plm_xmem_run *run, const struct plm_xmem_parts *parts)
{
    const struct plm_xmem_step *step = &run->step[run->steps - 1];
    size_t end = plm_xmem_block_after(&run->blocks, step->end), part = 0;
    uint64_t bytes = 0;

    for (size_t i = plm_xmem_block_from(&run->blocks, step->start); i < end; i++) {
        while (part < parts->count && parts->part[part].block < i)
            part++;
        if (part == parts->count || parts->part[part].block != i)
            bytes += run->blocks.block[i].bytes;
    }
    return bytes;
}

int plm_xmem_orchestrate(struct plm_xmem_run *run, struct plm_error *error)
{
    struct plm_xmem_parts parts[PLM_XMEM_STEPS] = {{0}};
    struct plm_map sizes = {0};
    int status = 0;

    for (int i = 0; status == 0 && i < run->steps; i++)
        status = plm_xmem_layers(run->trace, &run->step[i], &run->blocks, &parts[i], error);
    if (status == 0)
        add_parameters(run, &parts[run->steps - 1], &sizes);
    for (int i = 0; status == 0 && i < run->steps; i++) {
        struct batch batch = {run, i + 1 < run->steps ? run->step[i].end : PLM_NEVER};
        plm_xmem_batches(run->trace, &run->step[i], !convolves(run->trace, &run->step[i]), batch_add, &batch);
        add_parts(run, i, &parts[i]);
        add_optimizer(run, i, &sizes);
    }
    if (status == 0)
        run->left_out = left_out(run, &parts[run->steps - 1]);
    for (int i = 0; i < run->steps; i++)
        free(parts[i].part);
    plm_map_free(&sizes);
    return status;
}
