/* Names and contexts: each process numbers its own, the job has one numbering for all. */
#include "analysis/collect.h"
#include "base/memory.h"

static uint64_t number_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

uint32_t plm_collect_name(struct plm_collect *c, uint32_t process, uint32_t text)
{
    uint64_t key = number_pair(process, text), known = plm_map_get(&c->name_of, key);
    if (known == PLM_MAP_NONE) {
        known = plm_names_add(&c->names, plm_record_string(c->record, process, text));
        plm_map_put(&c->name_of, key, known);
    }
    return (uint32_t)known;
}

struct names {
    uint32_t module, outer, inner;
};

/* Equal contexts of several processes become one. A job with a million names does without. */
static uint32_t site_add(struct plm_collect *c, struct names names, enum plm_phase phase)
{
    const uint32_t most = 1u << 20;
    bool small = names.module < most && names.outer < most && names.inner < most;
    uint64_t key = (uint64_t)names.module << 43 | (uint64_t)names.outer << 23 | names.inner << 3 | phase;
    uint64_t known = small ? plm_map_get(&c->context_key, key) : PLM_MAP_NONE;
    const uint32_t site = (uint32_t)c->contexts;
    if (known != PLM_MAP_NONE)
        return (uint32_t)known;
    if (c->contexts >= UINT32_MAX)
        plm_out_of_memory();
    c->context = plm_grow(c->context, c->contexts, &c->context_room, sizeof *c->context);
    c->rule = plm_grow(c->rule, c->contexts, &c->rule_room, sizeof *c->rule);
    c->context[site] =
        (struct plm_site){c->names.text[names.module], c->names.text[names.outer], c->names.text[names.inner], phase};
    c->rule[site] = (uint8_t)plm_category_rule(&c->context[site]);
    c->contexts++;
    if (small)
        plm_map_put(&c->context_key, key, site);
    return site;
}

void plm_collect_context(struct plm_collect *c, const struct plm_record_event *e)
{
    const struct plm_ev_context said = plm_get_context(e);
    struct names names;
    const enum plm_phase phase = said.phase < PLM_PHASES ? (enum plm_phase)said.phase : PLM_PHASE_OTHER;
    c->attributed = true;
    names.module = plm_collect_name(c, e->process, said.module);
    names.outer = plm_collect_name(c, e->process, said.op);
    names.inner = plm_collect_name(c, e->process, said.inner_op);
    plm_map_put(&c->context_of, number_pair(e->process, said.context), site_add(c, names, phase));
}

uint32_t plm_collect_context_of(struct plm_collect *c, struct plm_process *p, uint32_t id)
{
    uint64_t known = id ? plm_map_get(&c->context_of, number_pair(p->number, id)) : PLM_MAP_NONE;
    enum plm_phase phase = (enum plm_phase)p->phase;
    if (known != PLM_MAP_NONE)
        return (uint32_t)known;
    if (phase != PLM_PHASE_OTHER && !p->phase_context[phase])
        p->phase_context[phase] = site_add(c, (struct names){0}, phase);
    return p->phase_context[phase];
}
