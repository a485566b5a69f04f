#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/html.h"

enum { NAME_BYTES = 2048 }; /* longer than a string of a record can be */

uint32_t plm_html_module(const struct plm_html_names *n, const struct plm_block *b)
{
    return plm_block_named(b) ? n->module_of_owner[b->owner] : n->module_of_context[b->context];
}

static void name_block(const struct plm_job *job, struct plm_html_names *n, const struct plm_block *b)
{
    uint32_t *number = plm_block_named(b) ? &n->module_of_owner[b->owner] : &n->module_of_context[b->context];
    char name[NAME_BYTES];
    if (*number == UINT32_MAX)
        *number = plm_names_add(&n->modules, plm_block_module(job, b, name, sizeof name));
}

/* Only what blocks point to: a record names many more strings. */
static void name_modules(const struct plm_job *job, struct plm_html_names *n)
{
    struct plm_block part;
    for (size_t l = 0; l < job->lanes; l++)
        for (size_t i = 0; i < job->lane[l].blocks; i++) {
            const struct plm_block *b = &job->lane[l].block[i];
            name_block(job, n, b); /* as a whole, for the map of the allocator */
            for (size_t k = 0; b->shared && plm_block_part(&job->lane[l], b, k, &part); k++)
                name_block(job, n, &part);
        }
}

static void name_ops(const struct plm_job *job, struct plm_html_names *n)
{
    for (size_t i = 0; i < job->contexts; i++) {
        const struct plm_site *c = &job->context[i];
        n->op_of_context[i] = 0;
        if (n->ops.count < PLM_HTML_OPS)
            n->op_of_context[i] = plm_names_add(&n->ops, *c->outer ? c->outer : c->inner);
    }
}

/* `now` after a block came or went; `most` follows. */
static void count_block(const struct plm_html_names *n, const struct plm_lane *lane, uint32_t entry, uint64_t *now,
                        uint64_t *most)
{
    struct plm_block part;
    for (size_t k = 0; plm_block_part(lane, &lane->block[entry >> 1], k, &part); k++) {
        const uint32_t module = plm_html_module(n, &part);
        now[module] += entry & 1 ? -part.bytes : part.bytes;
        if (most[module] < now[module])
            most[module] = now[module];
    }
}

/* The most that each module ever held. */
static void sizes(const struct plm_job *job, const struct plm_html_names *n, uint64_t *most)
{
    uint64_t *now = plm_calloc(n->modules.count, sizeof *now);
    for (size_t l = 0; l < job->lanes; l++) {
        const struct plm_lane *lane = &job->lane[l];
        memset(now, 0, n->modules.count * sizeof *now);
        for (size_t m = 0; m < lane->moments; m++)
            count_block(n, lane, lane->order[m], now, most);
    }
    free(now);
}

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void renumber(uint32_t *number, size_t count, const uint32_t *to)
{
    for (size_t i = 0; i < count; i++)
        if (number[i] != UINT32_MAX)
            number[i] = to[number[i]];
}

/* Gives the kept modules new numbers and all others that of "(N small modules)". */
static void keep(const struct plm_job *job, struct plm_html_names *n, const uint64_t *most, uint64_t least)
{
    struct plm_names kept = {0}, old = n->modules;
    uint32_t *to = plm_calloc(n->modules.count, sizeof *to), rest;
    size_t small = 0;
    char name[64];
    for (size_t i = 0; i < n->modules.count; i++)
        small += most[i] < least;
    snprintf(name, sizeof name, "(%zu small modules)", small);
    rest = plm_names_add(&kept, name);
    for (size_t i = 0; i < n->modules.count; i++)
        to[i] = most[i] < least ? rest : plm_names_add(&kept, n->modules.text[i]);
    n->modules = kept;
    renumber(n->module_of_context, job->contexts, to);
    renumber(n->module_of_owner, job->owners, to);
    plm_names_free(&old);
    free(to);
}

static void keep_largest(const struct plm_job *job, struct plm_html_names *n)
{
    size_t count = n->modules.count;
    uint64_t *most, *sorted;
    if (count <= PLM_HTML_MODULES)
        return;
    most = plm_calloc(count, sizeof *most);
    sorted = plm_calloc(count, sizeof *sorted);
    sizes(job, n, most);
    memcpy(sorted, most, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, descending);
    /* More than the size of the last one that fits, so that equals do not exceed the bound. */
    keep(job, n, most, sorted[PLM_HTML_MODULES - 2] + 1);
    free(most);
    free(sorted);
}

void plm_html_names_make(const struct plm_job *job, struct plm_html_names *n)
{
    memset(n, 0, sizeof *n);
    n->module_of_context = plm_calloc(job->contexts + 1, sizeof(uint32_t));
    n->module_of_owner = plm_calloc(job->owners + 1, sizeof(uint32_t));
    n->op_of_context = plm_calloc(job->contexts + 1, sizeof(uint32_t));
    memset(n->module_of_context, 0xff, (job->contexts + 1) * sizeof(uint32_t));
    memset(n->module_of_owner, 0xff, (job->owners + 1) * sizeof(uint32_t));
    plm_names_add(&n->modules, "");
    plm_names_add(&n->ops, "");
    name_modules(job, n);
    name_ops(job, n);
    keep_largest(job, n);
}

void plm_html_names_free(struct plm_html_names *n)
{
    free(n->module_of_context);
    free(n->module_of_owner);
    free(n->op_of_context);
    plm_names_free(&n->modules);
    plm_names_free(&n->ops);
}
