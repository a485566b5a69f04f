#include "analysis/collect.h"

#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "common/error.h"
#include "base/memory.h"

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

/* ---- names and contexts: each process numbers its own, the job has one numbering for all ---- */

static uint64_t number_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static uint32_t name_number(struct plm_collect *c, uint32_t process, uint32_t text)
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

static void context_visit(struct plm_collect *c, const struct plm_record_event *e)
{
    const struct plm_ev_context said = plm_get_context(e);
    struct names names;
    const enum plm_phase phase = said.phase < PLM_PHASES ? (enum plm_phase)said.phase : PLM_PHASE_OTHER;
    c->attributed = true;
    names.module = name_number(c, e->process, said.module);
    names.outer = name_number(c, e->process, said.op);
    names.inner = name_number(c, e->process, said.inner_op);
    plm_map_put(&c->context_of, number_pair(e->process, said.context), site_add(c, names, phase));
}

/* The context that a block names, or one that has the current phase only. */
static uint32_t site_of(struct plm_collect *c, struct plm_process *p, uint32_t id)
{
    uint64_t known = id ? plm_map_get(&c->context_of, number_pair(p->number, id)) : PLM_MAP_NONE;
    enum plm_phase phase = (enum plm_phase)p->phase;
    if (known != PLM_MAP_NONE)
        return (uint32_t)known;
    if (phase != PLM_PHASE_OTHER && !p->phase_context[phase])
        p->phase_context[phase] = site_add(c, (struct names){0}, phase);
    return p->phase_context[phase];
}

/* ---- blocks and segments ---- */

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
    plm_around_remove(w, (uint32_t)life);
    w->life[life].block = w->free_life;
    w->free_life = (uint32_t)life;
}

/* Of the block that was added last. The first one that has a stack finds blocks before it that have none. */
static void stack_add(struct plm_lane_work *w, uint32_t call)
{
    while (w->stack_room < w->lane.blocks) {
        const size_t before = w->stack_room;
        w->lane.stack = plm_grow(w->lane.stack, before, &w->stack_room, sizeof *w->lane.stack);
        memset(w->lane.stack + before, 0, (w->stack_room - before) * sizeof *w->lane.stack);
    }
    w->lane.stack[w->lane.blocks - 1] = call;
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
    /* A damaged record hands out what is still in use. That the sum does not run away, the reader saw to. */
    block_free(c, w, said.address, e->time_ns);
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
                                                         .context = site_of(c, p, said.context),
                                                         .stream = said.stream,
                                                         .category = PLM_CATEGORY_OPEN,
                                                         .captured = said.captured};
    if (said.stack || w->lane.stack)
        stack_add(w, plm_collect_lines_call(&c->lines, e->process, said.stack));
    plm_around_add(w, life);
    w->allocated += said.bytes;
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
    w->lane.segment[w->lane.segments] = (struct plm_lane_segment){.address = said.address,
                                                                  .bytes = said.bytes,
                                                                  .alloc_ns = e->time_ns,
                                                                  .free_ns = UINT64_MAX,
                                                                  .alloc_at = (uint32_t)w->lane.moments,
                                                                  .free_at = PLM_MOMENT_NEVER,
                                                                  .kind = said.kind,
                                                                  .owner = name_number(c, e->process, said.owner)};
    plm_map_put(&w->segments, segment_key(said.address, said.kind), w->lane.segments++);
}

static void level_add(struct plm_lane_work *w, const struct plm_record_event *e)
{
    w->lane.reserved = plm_grow(w->lane.reserved, w->lane.reserveds, &w->reserved_room, sizeof *w->lane.reserved);
    w->lane.reserved[w->lane.reserveds++] =
        (struct plm_lane_level){e->time_ns, plm_get_reserved(e).bytes, (uint32_t)w->lane.moments};
}

/* The workspace is what was taken just before; with a benchmark, one for all plans that are tried. */
static uint32_t workspace_block(const struct plm_lane *lane, uint64_t bytes)
{
    uint32_t entry = lane->moments ? lane->order[lane->moments - 1] : 1;
    if (!bytes || entry & 1 || lane->block[entry >> 1].bytes < bytes)
        return PLM_CONV_NO_BLOCK;
    return entry >> 1;
}

/* Which of the convolutions that were seen this is: of all that is said, what decides about the plan. */
static uint32_t shape_of(struct plm_lane_work *w, const struct plm_ev_convolution *said, uint32_t thread)
{
    struct plm_ev_convolution shape = *said;
    uint64_t words[sizeof shape / 8], hash = 0xcbf29ce484222325ull ^ thread, known;
    shape.call = (struct plm_ev_call){0};
    shape.workspace = shape.workspace_most_mib = shape.workspace_source = 0;
    memcpy(words, &shape, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    known = plm_map_get(&w->shapes, hash);
    if (known != PLM_MAP_NONE)
        return (uint32_t)known;
    plm_map_put(&w->shapes, hash, w->convolutions.shapes);
    return w->convolutions.shapes++;
}

/* Takes a convolution down that has a workspace, or whose workspace came from the formula. */
static void convolution_visit(struct plm_lane_work *w, const struct plm_record_event *e)
{
    struct plm_job_conv_marks *m = &w->convolutions;
    const struct plm_ev_convolution said = plm_get_convolution(e);
    const bool guessed = said.workspace_source == PLM_CONV_SOURCE_FORMULA;
    const uint32_t block = workspace_block(&w->lane, said.workspace);
    struct plm_job_conv_mark mark, *last = m->count ? &m->mark[m->count - 1] : NULL;
    if (!guessed && block == PLM_CONV_NO_BLOCK)
        return;
    mark = (struct plm_job_conv_mark){.at = (uint32_t)w->lane.moments,
                                      .block = block,
                                      .most = guessed ? (uint64_t)said.workspace_most_mib << 20 : 0,
                                      .guessed = guessed,
                                      .forward = said.operation == PLM_CONVOLUTION_FORWARD};
    if (last && last->at == mark.at) { /* tried one after another */
        last->block = last->block == PLM_CONV_NO_BLOCK ? mark.block : last->block;
        last->most = last->most > mark.most ? last->most : mark.most;
        return;
    }
    mark.shape = shape_of(w, &said, e->thread);
    m->guessed += guessed;
    m->mark = plm_grow(m->mark, m->count, &m->room, sizeof *m->mark);
    m->mark[m->count++] = mark;
}

static int on_device(struct plm_collect *c, const struct plm_record_event *e)
{
    struct plm_thread *t = thread_of(c, e);
    struct plm_lane_work *w = lane_of(c, t, e);
    int status = 0;
    switch (e->type) {
    case PLM_EV_BLOCK_ALLOC: status = block_alloc(c, t, w, e); break;
    case PLM_EV_BLOCK_FREE: block_free(c, w, plm_get_block_free(e).address, e->time_ns); break;
    case PLM_EV_RESERVED: level_add(w, e); break;
    case PLM_EV_CONVOLUTION: convolution_visit(w, e); break;
    case PLM_EV_MEMORY_FREE: segment_free(w, e); break;
    default: segment_alloc(c, w, e);
    }
    c->level = (struct plm_summary_level){w->allocated, (uint32_t)w->lane.moments - 1};
    return status;
}

/* ---- phases, modules, steps ---- */

/* A phase or step concerns all devices of its process. */
static void mark_add(struct plm_lane_work *w, bool step, struct plm_mark mark)
{
    struct plm_mark **list = step ? &w->lane.step : &w->lane.phase;
    size_t *count = step ? &w->lane.steps : &w->lane.phases;
    *list = plm_grow(*list, *count, step ? &w->step_room : &w->phase_room, sizeof **list);
    (*list)[(*count)++] = mark;
}

static void marks_add(struct plm_collect *c, const struct plm_record_event *e, uint32_t value)
{
    const bool step = e->type == PLM_EV_STEP;
    c->steps += step;
    for (size_t i = 0; i < c->lanes; i++) {
        struct plm_lane_work *w = &c->lane[i];
        if (w->lane.process != e->process || (step && value <= w->lane.steps))
            continue;
        /* Steps before the device was used, as in the summary. */
        while (step && w->lane.steps + 1 < value && w->lane.steps + 1 < c->steps)
            mark_add(w, true,
                     (struct plm_mark){0, w->lane.steps ? w->lane.step[w->lane.steps - 1].at : 0,
                                       (uint32_t)w->lane.steps + 1});
        mark_add(w, step, (struct plm_mark){e->time_ns, (uint32_t)w->lane.moments, value});
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
    marks_add(c, e, now);
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
    marks_add(c, e, plm_get_step(e).step);
}

/* ---- tags: the hook tells what the block at an address is for, and whose it is ---- */

/* The block that starts at an address; NULL if none lives there. */
static struct plm_block *block_at(struct plm_lane_work *w, uint64_t address)
{
    uint64_t life = plm_map_get(&w->live, address);
    return life == PLM_MAP_NONE ? NULL : &w->lane.block[w->life[life].block];
}

static bool holds(const struct plm_block *block, uint64_t address)
{
    return block && address - block->address < block->bytes;
}

/* Gradients may be views into a bucket. Buckets come back to the same place step by step, so where one was
   found is looked at first. */
static struct plm_block *block_around(struct plm_lane_work *w, uint64_t address)
{
    struct plm_block *block = block_at(w, address);
    uint64_t last;
    if (block)
        return block;
    last = plm_map_get(&w->tagged, address);
    if (last != PLM_MAP_NONE)
        block = block_at(w, w->lane.block[last >> 32].address);
    return holds(block, address) ? block : plm_around_find(w, address);
}

/* Cards have address ranges of their own, so a tag finds its block whatever device it names. */
static struct plm_block *block_find(struct plm_collect *c, const struct plm_record_event *e, uint64_t address,
                                    struct plm_lane_work **where)
{
    struct plm_block *block;
    for (int own = 1; own >= 0; own--)
        for (size_t i = 0; i < c->lanes; i++) {
            struct plm_lane_work *w = &c->lane[i];
            if (!w->lane.block || w->lane.process != e->process || (w->device == e->device) != own)
                continue;
            block = block_around(w, address);
            if (block) {
                *where = w;
                return block;
            }
        }
    return NULL;
}

/* What two owners have in common, as "layer1.0.*". */
static uint32_t owners_join(struct plm_collect *c, uint32_t a, uint32_t b)
{
    uint64_t key = (uint64_t)a << 32 | b, known = plm_map_get(&c->joined, key);
    const char *x = c->names.text[a], *y = c->names.text[b];
    char text[2048];
    int common = 0;
    if (known != PLM_MAP_NONE)
        return (uint32_t)known;
    for (int i = 0; x[i] && x[i] == y[i]; i++)
        if (x[i] == '.')
            common = i + 1;
    snprintf(text, sizeof text, "%.*s*", common < 2000 ? common : 0, x);
    known = plm_names_add(&c->names, text);
    plm_map_put(&c->joined, key, known);
    return (uint32_t)known;
}

/* Two names of one tensor (tied weights): the first one stays. */
static uint32_t first_name(struct plm_lane_work *w, const struct plm_block *block, const struct plm_ev_tag *tag,
                           uint32_t owner)
{
    uint64_t index = (uint64_t)(block - w->lane.block), last = plm_map_get(&w->tagged, tag->address);
    if (tag->category == block->category && last != PLM_MAP_NONE && last >> 32 == index && (uint32_t)last)
        return (uint32_t)last;
    plm_map_put(&w->tagged, tag->address, index << 32 | owner);
    if (owner)
        plm_parts_add(w, (struct plm_job_part){tag->address - block->address, (uint32_t)index, owner, tag->category});
    return owner;
}

static void tag_visit(struct plm_collect *c, const struct plm_record_event *e)
{
    const struct plm_ev_tag tag = plm_get_tag(e);
    uint32_t owner;
    struct plm_lane_work *w;
    struct plm_block *block;
    c->attributed = true;
    if (tag.category >= PLM_CATEGORY_ACTIVATIONS)
        return; /* lifetimes decide about the others */
    block = block_find(c, e, tag.address, &w);
    if (!block || tag.category > block->category)
        return;
    owner = first_name(w, block, &tag, name_number(c, e->process, tag.owner));
    if (tag.category < block->category || !block->owner) {
        block->category = (uint8_t)tag.category;
        block->owner = owner;
    } else if (owner && owner != block->owner) /* several tensors in one block */
        block->owner = owners_join(c, block->owner, owner);
}

static void source_visit(struct plm_collect *c, const struct plm_record_event *e)
{
    const struct plm_ev_source said = plm_get_source(e);
    const uint32_t file = name_number(c, e->process, said.file);
    const uint32_t function = name_number(c, e->process, said.function);
    plm_collect_lines_add(
        &c->lines, e,
        (struct plm_collect_source){file, {.file = c->names.text[file], .function = c->names.text[function]}});
}

/* ---- all of it ---- */

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
    case PLM_EV_CONTEXT: context_visit(c, e); break;
    case PLM_EV_PHASE: phase_visit(c, e); break;
    case PLM_EV_MODULE: module_visit(c, e); break;
    case PLM_EV_TAG: tag_visit(c, e); break;
    case PLM_EV_SOURCE: source_visit(c, e); break;
    case PLM_EV_FRAME: plm_collect_lines_frame(&c->lines, e); break;
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
        plm_parts_sort(&w->lane);
    }
}

void plm_lane_free(struct plm_lane *lane)
{
    free(lane->block);
    free(lane->stack);
    free(lane->part);
    free(lane->order);
    free(lane->segment);
    free(lane->phase);
    free(lane->step);
    free(lane->reserved);
}

static void lane_free(struct plm_lane_work *w)
{
    plm_lane_free(&w->lane);
    plm_map_free(&w->live);
    plm_map_free(&w->segments);
    plm_map_free(&w->cells);
    plm_map_free(&w->tagged);
    plm_map_free(&w->shapes);
    free(w->convolutions.mark);
    free(w->life);
}

void plm_collect_free(struct plm_collect *c)
{
    for (size_t i = 0; i < c->lanes; i++)
        lane_free(&c->lane[i]);
    plm_collect_lines_free(&c->lines);
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
