#include "analysis/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const char *const keys[] = {
    [PLM_BY_MODULE] = "module",     [PLM_BY_OP] = "op",       [PLM_BY_PHASE] = "phase",
    [PLM_BY_CATEGORY] = "category", [PLM_BY_STACK] = "stack",
};

int plm_key_parse(const char *text, enum plm_key *by)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!strcmp(text, keys[i])) {
            *by = (enum plm_key)i;
            return 0;
        }
    return PLM_EINVAL;
}

const char *plm_key_name(enum plm_key by)
{
    return keys[by];
}

int plm_at_parse(const char *text, struct plm_at *at)
{
    unsigned long number;
    *at = (struct plm_at){PLM_AT_PEAK, 0};
    if (!strcmp(text, "peak"))
        return 0;
    if (!strcmp(text, "end")) {
        at->kind = PLM_AT_END;
        return 0;
    }
    if (!strncmp(text, "step", 4) && (text[4] == ':' || text[4] == ' '))
        text += 5;
    if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 9)
        return PLM_EINVAL;
    number = strtoul(text, NULL, 10);
    if (!number)
        return PLM_EINVAL;
    *at = (struct plm_at){PLM_AT_STEP, (uint32_t)number};
    return 0;
}

/* What came after the last step that ended counts as one more, if there is anything. */
int plm_at_check(const struct plm_job *job, struct plm_at at, struct plm_error *error)
{
    size_t most = 0;
    if (at.kind != PLM_AT_STEP)
        return 0;
    for (size_t i = 0; i < job->lanes; i++) {
        uint32_t from, to;
        plm_lane_step(&job->lane[i], job->lane[i].steps + 1, &from, &to);
        if (job->lane[i].steps + (from < to) > most)
            most = job->lane[i].steps + (from < to);
    }
    if (at.step <= most)
        return 0;
    return plm_fail(error, PLM_EINVAL, "there is no step %u: this record has %zu", at.step, most);
}

static uint32_t moment_of(const struct plm_lane *lane, struct plm_at at)
{
    uint32_t from, to;
    if (at.kind == PLM_AT_PEAK)
        return lane->peak_at;
    if (at.kind == PLM_AT_END)
        return (uint32_t)lane->moments - 1;
    plm_lane_step(lane, at.step, &from, &to);
    return from < to ? plm_lane_peak(lane, from, to) : from < lane->moments ? from : (uint32_t)lane->moments - 1;
}

static bool is_cast(const struct plm_site *c)
{
    return c->phase == PLM_PHASE_FORWARD && !strcmp(c->inner, "aten::_to_copy");
}

static void add_up(const struct plm_job *job, const struct plm_lane *lane, struct plm_place *p)
{
    for (size_t i = 0; i < lane->blocks && lane->block[i].alloc_at <= p->moment; i++) {
        const struct plm_block *b = &lane->block[i];
        if (p->moment >= b->free_at)
            continue;
        p->allocated += b->bytes;
        p->category[b->category] += b->bytes;
        if (b->captured)
            p->captured += b->bytes;
        if (b->category >= PLM_CATEGORY_ACTIVATIONS && is_cast(&job->context[b->context]))
            p->casts += b->bytes;
    }
}

struct plm_place plm_place_at(const struct plm_job *job, const struct plm_lane *lane, struct plm_at at)
{
    struct plm_place p = {.known = lane->moments > 0};
    uint32_t entry;
    if (!p.known) {
        p.step = lane->summary->steps ? lane->summary->peak_step + 1 : 0;
        return p;
    }
    p.moment = moment_of(lane, at);
    entry = lane->order[p.moment];
    if (job->attributed && !(entry & 1))
        p.context = &job->context[lane->block[entry >> 1].context];
    for (size_t i = 0; i < lane->steps && lane->step[i].at <= p.moment; i++)
        p.step = (uint32_t)i + 1;
    p.step += lane->steps > 0;
    p.reserved = plm_lane_reserved(lane, p.moment);
    add_up(job, lane, &p);
    return p;
}

uint64_t plm_place_free(const struct plm_place *p)
{
    return p->reserved > p->allocated ? p->reserved - p->allocated : 0;
}
