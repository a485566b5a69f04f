#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/html.h"

enum { NAME_BYTES = 2048 }; /* longer than a string of a record can be */

/* Same rule as plm_block_module: a parameter's name says whose the block is, if it has one. */
static bool by_owner(const struct plm_block *b)
{
    return b->owner && b->category <= PLM_CATEGORY_BUFFERS;
}

uint32_t plm_html_module(const struct plm_html_names *n, const struct plm_block *b)
{
    return by_owner(b) ? n->module_of_owner[b->owner] : n->module_of_context[b->context];
}

static int name_block(const struct plm_job *job, struct plm_html_names *n, const struct plm_block *b, uint32_t *number)
{
    char name[NAME_BYTES];
    if (*number != UINT32_MAX)
        return 0;
    return plm_names_add(&n->modules, plm_block_module(job, b, name, sizeof name), number);
}

/* Only what blocks point to: a record names many more strings. */
static int name_modules(const struct plm_job *job, struct plm_html_names *n)
{
    for (size_t l = 0; l < job->lanes; l++)
        for (size_t i = 0; i < job->lane[l].blocks; i++) {
            const struct plm_block *b = &job->lane[l].block[i];
            uint32_t *number = by_owner(b) ? &n->module_of_owner[b->owner] : &n->module_of_context[b->context];
            if (name_block(job, n, b, number))
                return PLM_ENOMEM;
        }
    return 0;
}

static int name_ops(const struct plm_job *job, struct plm_html_names *n)
{
    for (size_t i = 0; i < job->contexts; i++) {
        const struct plm_context *c = &job->context[i];
        n->op_of_context[i] = 0;
        if (n->ops.count < PLM_HTML_OPS &&
            plm_names_add(&n->ops, *c->outer ? c->outer : c->inner, &n->op_of_context[i]))
            return PLM_ENOMEM;
    }
    return 0;
}

/* The most that each module ever held. */
static int sizes(const struct plm_job *job, const struct plm_html_names *n, uint64_t *most)
{
    uint64_t *now = calloc(n->modules.count, sizeof *now);
    if (!now)
        return PLM_ENOMEM;
    for (size_t l = 0; l < job->lanes; l++) {
        const struct plm_lane *lane = &job->lane[l];
        memset(now, 0, n->modules.count * sizeof *now);
        for (size_t m = 0; m < lane->moments; m++) {
            const struct plm_block *b = &lane->block[lane->order[m] >> 1];
            uint32_t module = plm_html_module(n, b);
            now[module] += lane->order[m] & 1 ? -b->bytes : b->bytes;
            if (most[module] < now[module])
                most[module] = now[module];
        }
    }
    free(now);
    return 0;
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
static int keep(const struct plm_job *job, struct plm_html_names *n, const uint64_t *most, uint64_t least)
{
    struct plm_names kept = {0};
    uint32_t *to = calloc(n->modules.count, sizeof *to), rest = 0;
    size_t small = 0;
    char name[64];
    int status = to ? plm_names_add(&kept, "", &rest) : PLM_ENOMEM;
    for (size_t i = 0; i < n->modules.count; i++)
        small += most[i] < least;
    snprintf(name, sizeof name, "(%zu small modules)", small);
    if (status == 0)
        status = plm_names_add(&kept, name, &rest);
    for (size_t i = 0; status == 0 && i < n->modules.count; i++)
        if (most[i] < least)
            to[i] = rest;
        else
            status = plm_names_add(&kept, n->modules.text[i], &to[i]);
    if (status == 0) {
        struct plm_names old = n->modules;
        n->modules = kept;
        kept = old;
        renumber(n->module_of_context, job->contexts, to);
        renumber(n->module_of_owner, job->owners, to);
    }
    plm_names_free(&kept);
    free(to);
    return status;
}

static int keep_largest(const struct plm_job *job, struct plm_html_names *n)
{
    size_t count = n->modules.count;
    uint64_t *most, *sorted;
    int status = PLM_ENOMEM;
    if (count <= PLM_HTML_MODULES)
        return 0;
    most = calloc(count, sizeof *most);
    sorted = calloc(count, sizeof *sorted);
    if (most && sorted && sizes(job, n, most) == 0) {
        memcpy(sorted, most, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, descending);
        /* More than the size of the last one that fits, so that equals do not exceed the bound. */
        status = keep(job, n, most, sorted[PLM_HTML_MODULES - 2] + 1);
    }
    free(most);
    free(sorted);
    return status;
}

int plm_html_names_make(const struct plm_job *job, struct plm_html_names *n)
{
    uint32_t empty;
    int status;
    memset(n, 0, sizeof *n);
    n->module_of_context = malloc((job->contexts + 1) * sizeof(uint32_t));
    n->module_of_owner = malloc((job->owners + 1) * sizeof(uint32_t));
    n->op_of_context = malloc((job->contexts + 1) * sizeof(uint32_t));
    if (!n->module_of_context || !n->module_of_owner || !n->op_of_context)
        return PLM_ENOMEM;
    memset(n->module_of_context, 0xff, (job->contexts + 1) * sizeof(uint32_t));
    memset(n->module_of_owner, 0xff, (job->owners + 1) * sizeof(uint32_t));
    status = plm_names_add(&n->modules, "", &empty);
    if (status == 0)
        status = plm_names_add(&n->ops, "", &empty);
    if (status == 0)
        status = name_modules(job, n);
    if (status == 0)
        status = name_ops(job, n);
    return status ? status : keep_largest(job, n);
}

void plm_html_names_free(struct plm_html_names *n)
{
    free(n->module_of_context);
    free(n->module_of_owner);
    free(n->op_of_context);
    plm_names_free(&n->modules);
    plm_names_free(&n->ops);
}
