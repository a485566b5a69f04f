/*
 * What tools on PyTorch's fake tensors count: the bytes of tensor storage that live at a time, without rounding.
 *   a  the model alone: forward, output.sum().backward(), the input with a gradient; no loss, no optimizer
 *   b  a whole step with its optimizer
 *   c  the same through the caching allocator
 */
#include "base/memory.h"
#include "study/estimate/amount.h"
#include "study/estimate/description.h"
#include "study/estimate/method.h"
#include "study/estimate/simulator.h"

/* How long each storage lives, in events; NULL: there are none, and the answer says so. */
static struct plm_lifetime *lifetimes(const struct plm_described_storages *s, struct plm_answer *answer)
{
    struct plm_lifetime *item;
    size_t born = 0;
    if (!s->births) {
        plm_answer_none(answer, "the description has no storages: they could not be tracked");
        return NULL;
    }
    item = plm_calloc(s->births, sizeof *item);
    for (size_t i = 0; i < s->events; i++)
        if (s->event[i] >= 0)
            item[born++] = (struct plm_lifetime){.born = (int64_t)i, .dies = PLM_NEVER, .bytes = (uint64_t)s->event[i]};
        else
            item[-s->event[i] - 1].dies = (int64_t)i;
    return item;
}

static void live_peak(const struct plm_described_storages *s, struct plm_answer *answer)
{
    struct plm_lifetime *item = lifetimes(s, answer);
    uint64_t live = 0;
    for (size_t i = 0; item && i < s->events; i++) {
        if (s->event[i] >= 0)
            live = plm_plus(live, (uint64_t)s->event[i]);
        else
            live -= item[-s->event[i] - 1].bytes;
        answer->bytes = live > answer->bytes ? live : answer->bytes;
    }
    free(item);
}

static void faketensor_a(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    live_peak(&evidence->description->forward_backward, answer);
}

static void faketensor_b(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    live_peak(&evidence->description->step, answer);
}

static void faketensor_c(const struct plm_evidence *evidence, struct plm_answer *answer)
{
    const struct plm_described_storages *s = &evidence->description->step;
    struct plm_simulation simulation;
    struct plm_lifetime *item = lifetimes(s, answer);
    size_t kept = 0;
    if (!item)
        return;
    for (size_t i = 0; i < s->births; i++) /* an allocator is not asked for nothing */
        if (item[i].bytes)
            item[kept++] = item[i];
    plm_simulate_torch(item, kept, UINT64_MAX, &simulation);
    answer->bytes = simulation.peak;
    free(item);
}

const struct plm_method plm_method_faketensor_a = {
    .name = "faketensor-a",
    .paradigm = PLM_CPU_SIDE,
    .kind = PLM_ANSWER_ALLOCATED,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "a forward and backward pass of the model alone",
    .leaves_out = "loss, optimizer, workspaces, the allocator",
    .estimate = faketensor_a,
};

const struct plm_method plm_method_faketensor_b = {
    .name = "faketensor-b",
    .paradigm = PLM_CPU_SIDE,
    .kind = PLM_ANSWER_ALLOCATED,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "a step of any loop",
    .leaves_out = "workspaces, the allocator",
    .estimate = faketensor_b,
};

const struct plm_method plm_method_faketensor_c = {
    .name = "faketensor-c",
    .paradigm = PLM_CPU_SIDE,
    .kind = PLM_ANSWER_RESERVED,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "a step of any loop",
    .leaves_out = "workspaces, what only GPU kernels keep",
    .estimate = faketensor_c,
};
