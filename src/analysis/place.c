#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "common/error.h"
#include "base/memory.h"
#include "base/names.h"

static const char *const keys[] = {
    [PLM_BY_MODULE] = "module",     [PLM_BY_OP] = "op",       [PLM_BY_PHASE] = "phase",
    [PLM_BY_CATEGORY] = "category", [PLM_BY_STACK] = "stack", [PLM_BY_LINE] = "line",
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

int plm_key_check(const struct plm_job *job, enum plm_key by, const char *name, struct plm_error *error)
{
    if (by != PLM_BY_LINE || job->calls)
        return 0;
    return plm_fail(error, PLM_EFORMAT,
                    "%.200s was recorded without source lines; record the job again, without --no-stacks", name);
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

int plm_at_check(const struct plm_job *job, struct plm_at at, struct plm_error *error)
{
    size_t most = 0;
    if (at.kind != PLM_AT_STEP)
        return 0;
    for (size_t i = 0; i < job->lanes; i++)
        if (job->lane[i].steps > most)
            most = job->lane[i].steps;
    if (at.step <= most)
        return 0;
    if (!most)
        return plm_fail(error, PLM_EINVAL, "no step of this job was completed: use --at peak or end");
    return plm_fail(error, PLM_EINVAL, "there is no step %u: %zu were completed, and --at end shows what came after",
                    at.step, most);
}

uint32_t plm_lane_moment(const struct plm_lane *lane, struct plm_at at)
{
    uint32_t from, to;
    if (at.kind == PLM_AT_PEAK)
        return lane->summary->allocated_peak.moment;
    if (at.kind == PLM_AT_END)
        return (uint32_t)lane->moments - 1;
    plm_lane_step(lane, at.step, &from, &to);
    return plm_lane_peak(lane, from ? from - 1 : 0, to);
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

/* The step that runs when so many have ended: none after the last one of a job that came to its end. */
static void place_in_step(const struct plm_job *job, size_t ended, size_t steps, struct plm_place *p)
{
    const char *exit = plm_summary_config(&job->summary, "exit");
    const bool complete = job->summary.ended && (!exit || !strcmp(exit, "0"));
    p->after = steps && ended == steps && complete;
    p->step = steps ? (uint32_t)(ended + !p->after) : 0;
}

struct plm_place plm_place_at(const struct plm_job *job, const struct plm_lane *lane, struct plm_at at)
{
    struct plm_place p = {.known = lane->moments > 0};
    uint32_t entry, from, to;
    size_t ended = 0;
    if (!p.known) {
        place_in_step(job, lane->summary->allocated_peak.step, (size_t)lane->summary->steps, &p);
        return p;
    }
    p.moment = plm_lane_moment(lane, at);
    while (ended < lane->steps && lane->step[ended].at <= p.moment)
        ended++;
    place_in_step(job, ended, lane->steps, &p);
    if (at.kind == PLM_AT_STEP) {
        p.step = at.step;
        p.after = false;
        plm_lane_step(lane, at.step, &from, &to);
        p.known = to > 0; /* a device may be used for the first time in a later step */
        if (!p.known)
            return p;
    }
    entry = lane->order[p.moment];
    if (job->attributed && !(entry & 1))
        p.context = &job->context[lane->block[entry >> 1].context];
    p.reserved = plm_lane_reserved(lane, p.moment);
    add_up(job, lane, &p);
    return p;
}

uint64_t plm_place_free(const struct plm_place *p)
{
    return p->reserved > p->allocated ? p->reserved - p->allocated : 0;
}

/* ---- who holds the memory: live blocks added up by module, operator, phase, category or stack ---- */

/* Long enough for the four longest strings that a record can hold. */
enum { NAME_MAX_BYTES = 4 * 1600 + 64, CALLS = 256 };

struct sums {
    struct plm_names names; /* number 0 is nobody's; holder i has name i */
    struct plm_holder *holder;
    size_t room;
    struct plm_map groups; /* what decides about a name, to its holder */
};

struct question {
    const struct plm_job *job;
    const struct plm_lane *lane;
    enum plm_key key;
    const char *module; /* of its blocks only; NULL: of all */
};

const char *plm_block_module(const struct plm_job *job, const struct plm_block *b, char *buffer, size_t size)
{
    const char *owner = job->owner[b->owner], *dot = strrchr(owner, '.');
    if (!plm_block_named(b))
        snprintf(buffer, size, "%s", job->context[b->context].module);
    else if (dot)
        snprintf(buffer, size, "%.*s", (int)(dot - owner), owner);
    else
        snprintf(buffer, size, "%s", strcmp(owner, "*") ? "(model)" : "(several modules)");
    return buffer;
}

static void stack_name(const struct plm_site *c, char *buffer, size_t size)
{
    const char *const part[] = {plm_phase_name(c->phase), c->module, c->outer,
                                strcmp(c->inner, c->outer) ? c->inner : ""};
    size_t used = 0;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        if (*part[i] && used < size)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ";" : "", part[i]);
}

/* The calls in the user's own files; one in a package if there is none. */
static void calls_name(const struct plm_job *job, uint32_t stack, char *buffer, size_t size)
{
    uint32_t call[CALLS];
    size_t used = 0;
    for (size_t i = plm_job_stack(job, stack, call, CALLS); i-- > 0;) {
        const struct plm_job_line *line = &job->line[job->call[call[i]].line];
        if ((line->whose == PLM_JOB_OWN || call[i] == job->call[stack].own) && used < size)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s:%u %s", used ? ";" : "", line->file, line->line,
                                     line->function);
    }
}

static const struct plm_job_line *line_of(const struct plm_job *job, uint32_t stack)
{
    return stack ? &job->line[job->call[job->call[stack].own].line] : NULL;
}

static void line_name(const struct plm_job *job, uint32_t stack, char *buffer, size_t size)
{
    const struct plm_job_line *line = line_of(job, stack);
    buffer[0] = '\0';
    if (line)
        snprintf(buffer, size, "%s:%u", line->file, line->line);
}

static void name_of(const struct plm_job *job, const struct plm_block *b, uint32_t stack, enum plm_key key,
                    char *buffer, size_t size)
{
    const struct plm_site *c = &job->context[b->context];
    switch (key) {
    case PLM_BY_MODULE: plm_block_module(job, b, buffer, size); break;
    case PLM_BY_OP: snprintf(buffer, size, "%s", *c->outer ? c->outer : c->inner); break;
    case PLM_BY_PHASE: snprintf(buffer, size, "%s", plm_phase_name(c->phase)); break;
    case PLM_BY_CATEGORY: snprintf(buffer, size, "%s", plm_category_name((enum plm_category)b->category)); break;
    case PLM_BY_LINE: line_name(job, stack, buffer, size); break;
    default: stack ? calls_name(job, stack, buffer, size) : stack_name(c, buffer, size);
    }
}

/* What decides about the name, as a number: blocks that agree in it are looked up once. */
static uint64_t group_of(const struct plm_block *b, uint32_t stack, enum plm_key key)
{
    if (key == PLM_BY_CATEGORY)
        return b->category;
    if (key == PLM_BY_LINE || (key == PLM_BY_STACK && stack))
        return 1ull << 63 | stack;
    return (uint64_t)(key == PLM_BY_MODULE && plm_block_named(b) ? b->owner : 0) << 32 | b->context;
}

static uint32_t holder_of(struct sums *s, const struct question *q, const struct plm_block *b, uint32_t stack)
{
    char name[NAME_MAX_BYTES + 1] = " "; /* one more in front: number 0 of names is the empty string */
    size_t before = s->names.count;
    uint32_t number;
    name_of(q->job, b, stack, q->key, name + 1, NAME_MAX_BYTES);
    number = plm_names_add(&s->names, name);
    if (s->names.count == before)
        return number;
    while (s->room < s->names.count)
        s->holder = plm_grow(s->holder, s->room, &s->room, sizeof *s->holder);
    s->holder[number] = (struct plm_holder){.line = q->key == PLM_BY_LINE ? line_of(q->job, stack) : NULL};
    return number;
}

static void block_add(struct plm_holder *h, const struct plm_block *b)
{
    h->bytes += b->bytes;
    h->category[b->category] += b->bytes;
    h->blocks++;
}

static int by_bytes(const void *a, const void *b)
{
    const struct plm_holder *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strverscmp(x->name, y->name); /* layer 2 before layer 10 */
}

static bool block_of(const struct plm_job *job, const struct plm_block *b, const char *module)
{
    char name[NAME_MAX_BYTES];
    return !strcmp(plm_block_module(job, b, name, sizeof name), module);
}

static void holder_take(struct sums *s, const struct question *q, const struct plm_block *b, uint32_t stack)
{
    const uint64_t group = group_of(b, stack, q->key), known = plm_map_get(&s->groups, group);
    uint32_t at = (uint32_t)known;
    if (known == PLM_MAP_NONE) {
        at = holder_of(s, q, b, stack);
        plm_map_put(&s->groups, group, at);
    }
    block_add(&s->holder[at], b);
}

/* Of what several tensors share, modules are told each their part. */
static void parts_take(struct sums *s, const struct question *q, const struct plm_block *b)
{
    struct plm_block part;
    for (size_t i = 0; plm_block_part(q->lane, b, i, &part); i++)
        if (!q->module || block_of(q->job, &part, q->module))
            holder_take(s, q, &part, plm_block_stack(q->lane, b));
}

static void holders_add_up(struct sums *s, const struct question *q, uint32_t moment)
{
    const struct plm_lane *lane = q->lane;
    for (size_t i = 0; i < lane->blocks && lane->block[i].alloc_at <= moment; i++) {
        const struct plm_block *b = &lane->block[i];
        if (moment >= b->free_at)
            continue;
        if (q->module || q->key == PLM_BY_MODULE)
            parts_take(s, q, b);
        else
            holder_take(s, q, b, plm_block_stack(lane, b));
    }
}

static struct plm_holders holders_make(const struct question *q, uint32_t moment)
{
    struct plm_holders holders = {0};
    struct sums s = {0};

    s.holder = plm_grow(NULL, 0, &s.room, sizeof *s.holder);
    holders_add_up(&s, q, moment);
    holders.count = s.names.count ? s.names.count - 1 : 0;
    holders.item = plm_calloc(holders.count, sizeof *holders.item);
    for (size_t i = 0; i < holders.count; i++) {
        holders.item[i] = s.holder[i + 1];
        holders.item[i].name = plm_strdup(s.names.text[i + 1] + 1);
    }
    qsort(holders.item, holders.count, sizeof *holders.item, by_bytes);
    free(s.holder);
    plm_map_free(&s.groups);
    plm_names_free(&s.names);
    return holders;
}

struct plm_holders plm_holders_at(const struct plm_job *job, const struct plm_lane *lane, uint32_t moment,
                                  enum plm_key key)
{
    return holders_make(&(struct question){job, lane, key, NULL}, moment);
}

struct plm_holders plm_holders_of(const struct plm_job *job, const struct plm_lane *lane, uint32_t moment,
                                  const char *module)
{
    return holders_make(&(struct question){job, lane, PLM_BY_OP, module}, moment);
}

void plm_holder_add(struct plm_holder *to, const struct plm_holder *from)
{
    to->bytes += from->bytes;
    to->blocks += from->blocks;
    for (size_t c = 0; c < PLM_CATEGORIES; c++)
        to->category[c] += from->category[c];
}

void plm_holders_free(struct plm_holders *h)
{
    for (size_t i = 0; i < h->count; i++)
        free(h->item[i].name);
    free(h->item);
    *h = (struct plm_holders){0};
}
