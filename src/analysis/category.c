/* What an untagged block is for, from where it was allocated and how long it lived. */
#include <string.h>

#include "analysis/collect.h"
#include "record/fields.h"

static const enum plm_rule rule_of_phase[PLM_PHASES] = {
    [PLM_PHASE_OTHER] = PLM_RULE_OTHER,     [PLM_PHASE_DATA] = PLM_RULE_INPUT,
    [PLM_PHASE_FORWARD] = PLM_RULE_FORWARD, [PLM_PHASE_RECOMPUTE] = PLM_RULE_RECOMPUTE,
    [PLM_PHASE_LOSS] = PLM_RULE_FORWARD,    [PLM_PHASE_BACKWARD] = PLM_RULE_STEP,
    [PLM_PHASE_OPTIMIZER] = PLM_RULE_STEP,  [PLM_PHASE_ZERO_GRAD] = PLM_RULE_STEP,
};

const char *plm_phase_name(enum plm_phase phase)
{
    return (unsigned)phase < PLM_PHASES ? plm_value_phase(phase) : "other";
}

const char *plm_category_name(enum plm_category category)
{
    return (unsigned)category < PLM_CATEGORIES ? plm_value_category(category) : "other";
}

static bool communicates(const char *operator)
{
    return !strncmp(operator, "c10d::", 6) || !strncmp(operator, "nccl:", 5);
}

/* Scripts bring their batches to the card by themselves, without a phase that says so. */
static bool copies(const char *operator)
{
    return !strcmp(operator, "aten::_to_copy") || !strcmp(operator, "aten::copy_");
}

enum plm_rule plm_category_rule(const struct plm_site *c)
{
    if (communicates(c->outer) || communicates(c->inner))
        return PLM_RULE_COMMUNICATION;
    if (c->phase == PLM_PHASE_OTHER && copies(c->inner))
        return PLM_RULE_INPUT;
    return rule_of_phase[c->phase];
}

static uint8_t forward(const struct plm_life *life, const struct plm_process *p, const struct plm_thread *t, bool freed)
{
    if (!freed || p->backwards != life->backwards)
        return PLM_CATEGORY_ACTIVATIONS;
    if (!p->backwards && t->scope != life->scope)
        return PLM_CATEGORY_UNLESS_BACKWARD;
    return PLM_CATEGORY_TEMPORARIES;
}

uint8_t plm_category_decide(enum plm_rule rule, const struct plm_life *life, const struct plm_process *p,
                            const struct plm_thread *t, bool freed)
{
    switch (rule) {
    case PLM_RULE_COMMUNICATION: return PLM_CATEGORY_COMMUNICATION;
    case PLM_RULE_FORWARD: return forward(life, p, t, freed);
    case PLM_RULE_RECOMPUTE:
        return !freed || t->scope != life->scope ? PLM_CATEGORY_ACTIVATIONS : PLM_CATEGORY_TEMPORARIES;
    case PLM_RULE_STEP: return freed || p->steps == life->steps ? PLM_CATEGORY_TEMPORARIES : PLM_CATEGORY_OTHER;
    case PLM_RULE_INPUT: return p->forwards != life->forwards ? PLM_CATEGORY_INPUTS : PLM_CATEGORY_OTHER;
    default: return PLM_CATEGORY_OTHER;
    }
}
