/* Names and contexts: each process numbers its own, the job has one numbering for all. */
#include "analysis/collect.h"
#include "base/memory.h"
#include "base/error.h"

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

int plm_collect_name(struct plm_collect *c, uint32_t process, uint32_t text, uint32_t *name)
{
    uint64_t key = pair(process, text), known = plm_map_get(&c->name_of, key);
    if (known == PLM_MAP_NONE) {
        known = plm_names_add(&c->names, plm_record_string(c->record, process, text));
        plm_map_put(&c->name_of, key, known);
    }
    *name = (uint32_t)known;
    return 0;
}

struct names {
    uint32_t module, outer, inner;
};

/* Equal contexts of several processes become one. A job with a million names does without. */
static int add(struct plm_collect *c, struct names names, enum plm_phase phase, uint32_t *out)
{
    const uint32_t most = 1u << 20;
    bool small = names.module < most && names.outer < most && names.inner < most;
    uint64_t key = (uint64_t)names.module << 43 | (uint64_t)names.outer << 23 | names.inner << 3 | phase;
    uint64_t known = small ? plm_map_get(&c->context_key, key) : PLM_MAP_NONE;
    struct plm_site *context;
    uint8_t *rule;
    if (known != PLM_MAP_NONE) {
        *out = (uint32_t)known;
        return 0;
    }
    context = plm_grow(c->context, c->contexts, &c->context_room, sizeof *context);
    if (!context || c->contexts >= UINT32_MAX)
        return PLM_ENOMEM;
    c->context = context;
    rule = plm_grow(c->rule, c->contexts, &c->rule_room, sizeof *rule);
    if (!rule)
        return PLM_ENOMEM;
    c->rule = rule;
    context += c->contexts;
    *context = (struct plm_site){c->names.text[names.module], c->names.text[names.outer], c->names.text[names.inner],
                                    phase};
    rule[c->contexts] = (uint8_t)plm_category_rule(context);
    *out = (uint32_t)c->contexts++;
    if (small)
        plm_map_put(&c->context_key, key, *out);
    return 0;
}

int plm_collect_context(struct plm_collect *c, const struct plm_record_event *e)
{
    const struct plm_ev_context said = plm_get_context(e);
    uint32_t context;
    struct names names;
    c->attributed = true;
    if (plm_collect_name(c, e->process, said.module, &names.module) ||
        plm_collect_name(c, e->process, said.op, &names.outer) ||
        plm_collect_name(c, e->process, said.inner_op, &names.inner) ||
        add(c, names, said.phase < PLM_PHASES ? (enum plm_phase)said.phase : PLM_PHASE_OTHER, &context))
        return PLM_ENOMEM;
    plm_map_put(&c->context_of, pair(e->process, said.context), context);
    return 0;
}

int plm_collect_context_of(struct plm_collect *c, struct plm_process *p, uint32_t id, uint32_t *context)
{
    uint64_t known = id ? plm_map_get(&c->context_of, pair(p->number, id)) : PLM_MAP_NONE;
    enum plm_phase phase = (enum plm_phase)p->phase;
    if (known != PLM_MAP_NONE) {
        *context = (uint32_t)known;
        return 0;
    }
    if (phase != PLM_PHASE_OTHER && !p->phase_context[phase] &&
        add(c, (struct names){0}, phase, &p->phase_context[phase]))
        return PLM_ENOMEM;
    *context = p->phase_context[phase];
    return 0;
}
