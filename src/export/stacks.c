#include "export/stacks.h"

#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "base/memory.h"
#include "base/map.h"
#include "common/printable.h"

enum { STACK_BYTES = 16384, MODULE_BYTES = 2048, CALLS = 256 };

/* Blocks of the same context and owner, or of the same context and Python stack. */
struct group {
    struct plm_block block; /* one of them, or its part */
    uint32_t stack;
    uint64_t bytes;
};

struct groups {
    struct group *item;
    size_t count, room;
    struct plm_map seen; /* context, and owner or stack -> index of `item` */
    bool calls;          /* by stack */
};

struct line {
    char text[STACK_BYTES];
    size_t length;
};

/* Adds a frame; `length` bytes of it. What separates frames becomes something else. */
static void line_add(struct line *l, const char *text, size_t length)
{
    const char *end = text + length;
    char shown[PLM_PRINTABLE_MOST];
    if (!length || l->length + 2 * PLM_PRINTABLE_MOST > sizeof l->text)
        return;
    if (l->length)
        l->text[l->length++] = ';';
    while (text < end && l->length + PLM_PRINTABLE_MOST < sizeof l->text) {
        text += plm_printable_next(text, shown);
        l->length += (size_t)snprintf(l->text + l->length, PLM_PRINTABLE_MOST, "%s", *shown == ';' ? ":" : shown);
    }
    l->text[l->length] = '\0';
}

static void line_add_modules(struct line *l, const char *module)
{
    if (*module == '(') { /* one that stands for itself */
        line_add(l, module, strlen(module));
        return;
    }
    while (*module) {
        size_t n = strcspn(module, ".");
        line_add(l, module, n);
        module += n + (module[n] == '.');
    }
}

static void line_add_calls(struct line *l, const struct plm_job *job, uint32_t stack)
{
    uint32_t call[CALLS];
    char text[STACK_BYTES / 2];
    for (size_t i = plm_job_stack(job, stack, call, CALLS); i-- > 0;) {
        const struct plm_job_line *line = &job->line[job->call[call[i]].line];
        snprintf(text, sizeof text, "%s:%u %s", line->file, line->line, line->function);
        line_add(l, text, strlen(text));
    }
}

static void line_render(struct line *l, const struct plm_job *job, const struct group *g)
{
    const struct plm_block *b = &g->block;
    const struct plm_site *c = &job->context[b->context];
    char module[MODULE_BYTES];
    l->length = 0;
    l->text[0] = '\0';
    if (g->stack)
        line_add_calls(l, job, g->stack);
    else if (b->context)
        line_add(l, plm_phase_name(c->phase), strlen(plm_phase_name(c->phase)));
    if (!g->stack)
        line_add_modules(l, plm_block_module(job, b, module, sizeof module));
    line_add(l, c->outer, strlen(c->outer));
    if (strcmp(c->inner, c->outer))
        line_add(l, c->inner, strlen(c->inner));
    if (!l->length)
        line_add(l, "(not attributed)", strlen("(not attributed)"));
}

/* The group of a block, a new one if there is none yet. */
static struct group *group_of(struct groups *g, const struct plm_block *b, uint32_t stack)
{
    const uint64_t key = (uint64_t)b->context << 32 | (g->calls ? stack : b->owner), at = plm_map_get(&g->seen, key);
    if (at != PLM_MAP_NONE)
        return &g->item[at];
    g->item = plm_grow(g->item, g->count, &g->room, sizeof *g->item);
    plm_map_put(&g->seen, key, g->count);
    g->item[g->count] = (struct group){*b, g->calls ? stack : 0, 0};
    return &g->item[g->count++];
}

static void groups_gather(const struct plm_lane *lane, uint32_t moment, struct groups *g)
{
    struct plm_block part;
    for (size_t i = 0; i < lane->blocks; i++) {
        const struct plm_block *b = &lane->block[i];
        if (b->alloc_at > moment || moment >= b->free_at)
            continue;
        for (size_t k = 0; plm_block_part(lane, b, k, &part); k++)
            group_of(g, &part, plm_block_stack(lane, b))->bytes += part.bytes;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct plm_frames *)a)->frames, ((const struct plm_frames *)b)->frames);
}

static void stacks_join_equal(struct plm_stacks *s)
{
    size_t kept = 0;
    if (s->count)
        qsort(s->stack, s->count, sizeof *s->stack, by_name);
    for (size_t i = 0; i < s->count; i++)
        if (kept && !strcmp(s->stack[kept - 1].frames, s->stack[i].frames)) {
            s->stack[kept - 1].bytes += s->stack[i].bytes;
            free(s->stack[i].frames);
        } else
            s->stack[kept++] = s->stack[i];
    s->count = kept;
}

void plm_stacks_at(const struct plm_job *job, const struct plm_lane *lane, uint32_t moment, bool calls,
                   struct plm_stacks *stacks)
{
    struct groups groups = {.calls = calls};
    struct line line;

    groups_gather(lane, moment, &groups);
    *stacks = (struct plm_stacks){plm_calloc(groups.count, sizeof *stacks->stack), groups.count};
    for (size_t i = 0; i < groups.count; i++) {
        line_render(&line, job, &groups.item[i]);
        stacks->stack[i] = (struct plm_frames){plm_strdup(line.text), groups.item[i].bytes};
    }
    free(groups.item);
    plm_map_free(&groups.seen);
    stacks_join_equal(stacks);
}

void plm_stacks_free(struct plm_stacks *stacks)
{
    for (size_t i = 0; i < stacks->count; i++)
        free(stacks->stack[i].frames);
    free(stacks->stack);
    *stacks = (struct plm_stacks){0};
}
