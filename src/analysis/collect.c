#include "analysis/collect.h"

#include <string.h>

#include "base/memory.h"
#include "base/error.h"

enum { NO_LIFE = UINT32_MAX };

void plm_collect_begin(struct plm_collect *c, struct plm_record *record)
{
    *c = (struct plm_collect){.record = record, .threads = plm_record_threads(record)};
    c->thread = plm_calloc(c->threads, sizeof *c->thread);
    c->context = plm_grow(NULL, 0, &c->context_room, sizeof *c->context);
    c->rule = plm_grow(NULL, 0, &c->rule_room, sizeof *c->rule);
    plm_names_add(&c->names, "");
    for (size_t i = 0; i < c->threads; i++)
        c->thread[i] = (struct plm_thread){.process = UINT32_MAX, .lane = UINT32_MAX};
    c->context[0] = (struct plm_site){"", "", "", PLM_PHASE_OTHER};
    c->rule[0] = PLM_RULE_OTHER;
    c->contexts = 1;
}

/* The thread of an event, with its process known. */
static struct plm_thread *thread_of(struct plm_collect *c, const struct plm_record_event *e)
{
    struct plm_thread *t = &c->thread[e->thread];
    if (t->process != UINT32_MAX)
        return t;
    for (size_t i = 0; i < c->processes; i++)
        if (c->process[i].number == e->process) {
            t->process = (uint32_t)i;
            return t;
        }
    c->process = plm_grow(c->process, c->processes, &c->process_room, sizeof *c->process);
    c->process[c->processes] = (struct plm_process){.number = e->process};
    t->process = (uint32_t)c->processes++;
    return t;
}

static struct plm_lane_work *lane_of(struct plm_collect *c, struct plm_thread *t, const struct plm_record_event *e)
{
    if (t->lane != UINT32_MAX && t->device == e->device)
        return &c->lane[t->lane];
    t->device = e->device;
    for (size_t i = 0; i < c->lanes; i++)
        if (c->lane[i].lane.process == e->process && c->lane[i].device == e->device) {
            t->lane = (uint32_t)i;
            return &c->lane[i];
        }
    c->lane = plm_grow(c->lane, c->lanes, &c->lane_room, sizeof *c->lane);
    c->lane[c->lanes] = (struct plm_lane_work){
        .lane = {.process = e->process}, .device = e->device, .process = t->process, .free_life = NO_LIFE};
    t->lane = (uint32_t)c->lanes++;
    return &c->lane[t->lane];
}

static uint32_t life_take(struct plm_lane_work *w)
{
    uint32_t life = w->free_life;
    if (life != NO_LIFE) {
        w->free_life = w->life[life].block;
        return life;
    }
    w->life = plm_grow(w->life, w->lives, &w->life_room, sizeof *w->life);
    return (uint32_t)w->lives++;
}

static void moment_add(struct plm_lane_work *w, uint32_t entry)
{
    w->lane.order = plm_grow(w->lane.order, w->lane.moments, &w->order_room, sizeof *w->lane.order);
    w->lane.order[w->lane.moments++] = entry;
}

static void decide(struct plm_collect *c, struct plm_lane_work *w, const struct plm_life *life, bool freed)
{
    struct plm_block *b = &w->lane.block[life->block];
    if (b->category != PLM_CATEGORY_OPEN)
        return;
    b->category = plm_category_decide((enum plm_rule)c->rule[b->context], life, &c->process[w->process],
                                      &c->thread[life->thread], freed);
    w->undecided |= b->category == PLM_CATEGORY_UNLESS_BACKWARD;
}

/* What is freed twice or was never allocated is passed over. */
static void block_free(struct plm_collect *c, struct plm_lane_work *w, uint64_t address, uint64_t ns)
{
    uint64_t life = plm_map_remove(&w->live, address);
    struct plm_block *b;
    if (life == PLM_MAP_NONE)
        return;
    b = &w->lane.block[w->life[life].block];
    b->free_ns = ns;
    b->free_at = (uint32_t)w->lane.moments;
    decide(c, w, &w->life[life], true);
    w->allocated -= b->bytes;
    moment_add(w, w->life[life].block << 1 | 1);
    w->life[life].block = w->free_life;
    w->free_life = (uint32_t)life;
}

static int block_alloc(struct plm_collect *c, struct plm_thread *t, struct plm_lane_work *w,
                       const struct plm_record_event *e)
{
    struct plm_process *p = &c->process[t->process];
    const struct plm_ev_block_alloc said = plm_get_block_alloc(e);
    uint32_t life, index = (uint32_t)w->lane.blocks;

    if (w->lane.blocks >= UINT32_MAX / 4)
        return PLM_EFORMAT;
    w->lane.block = plm_grow(w->lane.block, w->lane.blocks, &w->block_room, sizeof *w->lane.block);
    /* A damaged record hands out what is still in use; the sum of all blocks must not run away. */
    block_free(c, w, said.address, e->time_ns);
    if (said.bytes > UINT64_MAX - w->allocated)
        return 0;
    life = life_take(w);
    plm_map_put(&w->live, said.address, life);
    w->life[life] = (struct plm_life){index, e->thread, t->scope, p->forwards, p->backwards, p->steps};
    w->lane.block[w->lane.blocks++] = (struct plm_block){.address = said.address,
                                                         .bytes = said.bytes,
                                                         .asked = said.asked <= said.bytes ? said.asked : 0,
                                                         .alloc_ns = e->time_ns,
                                                         .free_ns = UINT64_MAX,
                                                         .alloc_at = (uint32_t)w->lane.moments,
                                                         .free_at = PLM_MOMENT_NEVER,
                                                         .context = plm_collect_context_of(c, p, said.context),
                                                         .stream = said.stream,
                                                         .category = PLM_CATEGORY_OPEN,
                                                         .captured = said.captured};
    w->allocated += said.bytes;
    if (w->allocated > w->lane.peak) {
        w->lane.peak = w->allocated;
        w->lane.peak_at = (uint32_t)w->lane.moments;
    }
    moment_add(w, index << 1);
    return 0;
}

/* Addresses of several kinds may be equal. */
static uint64_t segment_key(uint64_t address, uint32_t kind)
{
    return address << 2 | (kind & 3);
}

static void segment_free(struct plm_lane_work *w, const struct plm_record_event *e)
{
    const struct plm_ev_memory_free said = plm_get_memory_free(e);
    const uint64_t at = plm_map_remove(&w->segments, segment_key(said.address, said.kind));
    if (at != PLM_MAP_NONE) {
        w->lane.segment[at].free_ns = e->time_ns;
        w->lane.segment[at].free_at = (uint32_t)w->lane.moments;
    }
}

static void segment_alloc(struct plm_collect *c, struct plm_lane_work *w, const struct plm_record_event *e)
{
    const struct plm_ev_memory_alloc said = plm_get_memory_alloc(e);
    w->lane.segment = plm_grow(w->lane.segment, w->lane.segments, &w->segment_room, sizeof *w->lane.segment);
    w->lane.segment[w->lane.segments] = (struct plm_segment){.address = said.address,
                                                             .bytes = said.bytes,
                                                             .alloc_ns = e->time_ns,
                                                             .free_ns = UINT64_MAX,
                                                             .alloc_at = (uint32_t)w->lane.moments,
                                                             .free_at = PLM_MOMENT_NEVER,
                                                             .kind = said.kind,
                                                             .owner = plm_collect_name(c, e->process, said.owner)};
    plm_map_put(&w->segments, segment_key(said.address, said.kind), w->lane.segments++);
}

static void level_add(struct plm_lane_work *w, const struct plm_record_event *e)
{
    w->lane.reserved = plm_grow(w->lane.reserved, w->lane.reserveds, &w->reserved_room, sizeof *w->lane.reserved);
    w->lane.reserved[w->lane.reserveds++] =
        (struct plm_level){e->time_ns, plm_get_reserved(e).bytes, (uint32_t)w->lane.moments};
}

static int on_device(struct plm_collect *c, const struct plm_record_event *e)
{
    struct plm_thread *t = thread_of(c, e);
    struct plm_lane_work *w = lane_of(c, t, e);
    switch (e->type) {
    case PLM_EV_BLOCK_ALLOC: return block_alloc(c, t, w, e);
    case PLM_EV_BLOCK_FREE: block_free(c, w, plm_get_block_free(e).address, e->time_ns); break;
    case PLM_EV_RESERVED: level_add(w, e); break;
    case PLM_EV_CONVOLUTION: plm_conv_range_visit(&w->convolutions, &w->lane, e); break;
    case PLM_EV_MEMORY_FREE: segment_free(w, e); break;
    default: segment_alloc(c, w, e);
    }
    return 0;
}

/* A phase or step concerns all devices of its process. */
static void mark_add(struct plm_collect *c, const struct plm_record_event *e, uint32_t value)
{
    for (size_t i = 0; i < c->lanes; i++) {
        struct plm_lane_work *w = &c->lane[i];
        bool step = e->type == PLM_EV_STEP;
        struct plm_mark **list = step ? &w->lane.step : &w->lane.phase;
        size_t *count = step ? &w->lane.steps : &w->lane.phases;
        if (w->lane.process != e->process || (step && value <= *count))
            continue;
        *list = plm_grow(*list, *count, step ? &w->step_room : &w->phase_room, sizeof **list);
        (*list)[(*count)++] = (struct plm_mark){e->time_ns, (uint32_t)w->lane.moments, value};
    }
}

static void phase_visit(struct plm_collect *c, const struct plm_record_event *e)
{
    const struct plm_thread *t = thread_of(c, e);
    struct plm_process *p = &c->process[t->process];
    uint32_t now = plm_get_phase(e).phase;
    if (now >= PLM_PHASES)
        return;
    p->phase = (uint8_t)now;
    p->forwards += now == PLM_PHASE_FORWARD;
    p->backwards += now == PLM_PHASE_BACKWARD;
    c->attributed = true;
    mark_add(c, e, now);
}

static void module_visit(struct plm_collect *c, const struct plm_record_event *e)
{
    struct plm_thread *t = thread_of(c, e);
    if (plm_get_module(e).module)
        t->modules++;
    else if (t->modules && --t->modules == 0)
        t->scope++;
}

/* No module lasts longer than a step: one that an exception left open does not count any more. */
static void step_visit(struct plm_collect *c, const struct plm_record_event *e)
{
    struct plm_thread *t = thread_of(c, e);
    c->process[t->process].steps++;
    for (size_t i = 0; i < c->threads; i++)
        if (c->thread[i].process == t->process)
            c->thread[i].modules = 0;
    mark_add(c, e, plm_get_step(e).step);
}

int plm_collect_visit(struct plm_collect *c, const struct plm_record_event *e)
{
    switch (e->type) {
    case PLM_EV_BLOCK_ALLOC:
    case PLM_EV_BLOCK_FREE:
    case PLM_EV_RESERVED:
    case PLM_EV_MEMORY_ALLOC:
    case PLM_EV_MEMORY_FREE:
    case PLM_EV_CONVOLUTION: return on_device(c, e);
    case PLM_EV_STEP: step_visit(c, e); break;
    case PLM_EV_CONTEXT: plm_collect_context(c, e); break;
    case PLM_EV_PHASE: phase_visit(c, e); break;
    case PLM_EV_MODULE: module_visit(c, e); break;
    case PLM_EV_TAG: plm_collect_tag(c, e); break;
    default: break;
    }
    return 0;
}

void plm_collect_end(struct plm_collect *c)
{
    for (size_t i = 0; i < c->lanes; i++) {
        struct plm_lane_work *w = &c->lane[i];
        bool backward = c->process[w->process].backwards > 0;
        for (size_t k = 0; k < w->live.slots; k++)
            if (w->live.slot[k].value != PLM_MAP_NONE)
                decide(c, w, &w->life[w->live.slot[k].value], false);
        for (size_t k = 0; w->undecided && k < w->lane.blocks; k++)
            if (w->lane.block[k].category == PLM_CATEGORY_UNLESS_BACKWARD)
                w->lane.block[k].category = backward ? PLM_CATEGORY_TEMPORARIES : PLM_CATEGORY_ACTIVATIONS;
    }
}

static void lane_free(struct plm_lane_work *w)
{
    plm_map_free(&w->live);
    plm_map_free(&w->segments);
    plm_map_free(&w->tagged);
    free(w->convolutions.mark);
    free(w->life);
    free(w->lane.block);
    free(w->lane.order);
    free(w->lane.segment);
    free(w->lane.phase);
    free(w->lane.step);
    free(w->lane.reserved);
}

void plm_collect_free(struct plm_collect *c)
{
    for (size_t i = 0; i < c->lanes; i++)
        lane_free(&c->lane[i]);
    plm_names_free(&c->names);
    plm_map_free(&c->name_of);
    plm_map_free(&c->context_of);
    plm_map_free(&c->context_key);
    plm_map_free(&c->joined);
    free(c->context);
    free(c->rule);
    free(c->process);
    free(c->thread);
    free(c->lane);
    *c = (struct plm_collect){0};
}
