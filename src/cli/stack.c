#include <stdio.h>
#include <string.h>

#include "common/card.h"
#include "cli/cli.h"
#include "record/pen.h"
#include "stack/folder.h"

int plm_cli_stack_choose(struct plm_stack_list *stacks, const struct plm_install *install, const char *wanted,
                         const struct plm_card *card, const struct plm_stack_entry **out, struct plm_error *error)
{
    bool chosen = wanted && strcmp(wanted, "auto") != 0;
    int status;
    *out = NULL;
    memset(stacks, 0, sizeof *stacks);
    if (chosen && !strcmp(wanted, "none"))
        return 0;
    status = plm_stack_list_load(stacks, install, error);
    if (status < 0)
        return status;
    if (!chosen)
        *out = plm_stack_list_for(stacks, card);
    else
        status = plm_stack_list_find(stacks, wanted, out, error);
    if (status < 0)
        plm_stack_list_free(stacks);
    return status;
}

static void stack_put(struct plm_pen *pen, const char *key, const char *value)
{
    if (value[0])
        plm_pen_setting(pen, key, value);
}

/* Most trainings use cuBLAS and cuDNN; which libraries this one will use is not known yet. */
uint64_t plm_cli_stack_context(const struct plm_stack_entry *entry)
{
    const struct plm_stack_range *m = entry->stack->memory, *context = &m[PLM_STACK_CONTEXT];
    if (!context->known)
        return 0;
    return context->low + (context->high - context->low) / 2 + m[PLM_STACK_AFTER_CUBLAS].low +
           m[PLM_STACK_AFTER_CUDNN].low;
}

uint64_t plm_cli_stack_limit(const struct plm_stack_entry *entry, const struct plm_card *card)
{
    const struct plm_stack_range *usable = &entry->stack->memory[PLM_STACK_USABLE];
    return usable->known && plm_stack_on_card(entry->stack, card) ? usable->low : 0;
}

/* What the ladder takes for the context, code of libraries included: bytes, least, most, source. NCCL has a line of its own. */
static void put_context(struct plm_pen *pen, const struct plm_stack_entry *entry)
{
    const struct plm_stack_file *s = entry->stack;
    const struct plm_stack_range *m = s->memory, *context = &m[PLM_STACK_CONTEXT];
    uint64_t most = context->high;
    char source[200];
    if (!context->known)
        return;
    for (int i = PLM_STACK_AFTER_CUBLAS; i < PLM_STACK_AFTER_NCCL; i++)
        most += m[i].high;
    snprintf(source, sizeof source, "stack file %.60s, %s", s->id, plm_stack_made_name(s->made));
    plm_pen_context_memory(pen, 0,
                           &(struct plm_ev_context_memory){.bytes = plm_cli_stack_context(entry),
                                                           .low = context->low,
                                                           .high = most,
                                                           .source = plm_pen_intern(pen, source)});
}

void plm_cli_stack_describe(struct plm_pen *pen, const struct plm_stack_entry *entry, const struct plm_card *card)
{
    const struct plm_stack_file *s = entry->stack;
    stack_put(pen, "stack", s->id);
    stack_put(pen, "stack-made", plm_stack_made_name(s->made));
    stack_put(pen, "stack-date", s->date);
    stack_put(pen, "stack-torch", s->torch);
    stack_put(pen, "stack-cuda", s->cuda);
    stack_put(pen, "stack-cudnn", s->cudnn);
    stack_put(pen, "stack-nccl", s->nccl);
    stack_put(pen, "stack-driver", s->driver);
    stack_put(pen, "stack-gpu", s->gpu);
    if (s->gpu[0] || s->major || s->sms)
        stack_put(pen, "stack-card", plm_stack_on_card(s, card) ? "same" : "other");
    put_context(pen, entry);
    for (uint32_t i = 0; i < PLM_STACK_MEMORIES; i++)
        if (s->memory[i].known)
            plm_pen_stack_memory(
                pen, 0, &(struct plm_ev_stack_memory){.figure = i, .low = s->memory[i].low, .high = s->memory[i].high});
}
