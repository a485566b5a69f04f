/* Tags: the hook tells what the block at an address is for, and whose it is. */
#include <stdio.h>
#include <string.h>

#include "analysis/collect.h"

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
   found is looked at first; only then all live blocks are searched. */
static struct plm_block *block_around(struct plm_lane_work *w, uint64_t address)
{
    struct plm_block *block = block_at(w, address);
    uint64_t last;
    if (block)
        return block;
    last = plm_map_get(&w->tagged, address);
    if (last != PLM_MAP_NONE)
        block = block_at(w, w->lane.block[last >> 32].address);
    if (holds(block, address))
        return block;
    for (size_t i = 0; i < w->live.slots; i++) {
        if (w->live.slot[i].value == PLM_MAP_NONE)
            continue;
        block = &w->lane.block[w->life[w->live.slot[i].value].block];
        if (holds(block, address))
            return block;
    }
    return NULL;
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
static uint32_t first_name(struct plm_lane_work *w, const struct plm_block *block, bool known, uint64_t address,
                           uint32_t owner)
{
    uint64_t index = (uint64_t)(block - w->lane.block), last = plm_map_get(&w->tagged, address);
    if (known && last != PLM_MAP_NONE && last >> 32 == index && (uint32_t)last)
        return (uint32_t)last;
    plm_map_put(&w->tagged, address, index << 32 | owner);
    return owner;
}

void plm_collect_tag(struct plm_collect *c, const struct plm_record_event *e)
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
    owner =
        first_name(w, block, tag.category == block->category, tag.address, plm_collect_name(c, e->process, tag.owner));
    if (tag.category < block->category || !block->owner) {
        block->category = (uint8_t)tag.category;
        block->owner = owner;
    } else if (owner && owner != block->owner) /* several tensors in one block */
        block->owner = owners_join(c, block->owner, owner);
}
