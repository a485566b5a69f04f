#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/code.h"
#include "report/folding.h"
#include "report/html.h"

enum { LINE_BYTES = 4200 }; /* a path and a number */

_Static_assert(PLM_HTML_MODULES < 1 << 12 && PLM_HTML_OPS < 1 << 12 && PLM_CATEGORIES <= 1 << 4,
               "a site is one number");

static uint64_t site_key(const struct plm_html_site *s)
{
    return (uint64_t)s->line << 28 | (uint64_t)s->op << 16 | (uint64_t)s->module << 4 | s->category;
}

static uint32_t site_add(struct plm_html_sites *sites, const struct plm_html_site *site)
{
    const uint64_t key = site_key(site), have = plm_map_get(&sites->by_key, key);
    if (have != PLM_MAP_NONE)
        return (uint32_t)have;
    sites->item = plm_grow(sites->item, sites->count, &sites->room, sizeof *sites->item);
    sites->item[sites->count] = *site;
    plm_map_put(&sites->by_key, key, sites->count);
    return (uint32_t)sites->count++;
}

/* The line of the user's own program, as `report --by line` has it. */
static uint32_t line_number(struct plm_html_sites *sites, const struct plm_job *job, uint32_t stack)
{
    const uint32_t line = stack && stack < job->calls ? job->call[job->call[stack].own].line : 0;
    const uint64_t have = line ? plm_map_get(&sites->by_line, line) : 0;
    char name[LINE_BYTES];
    uint32_t number;
    if (have != PLM_MAP_NONE)
        return (uint32_t)have;
    number = plm_names_add(&sites->lines, plm_report_line_name(&job->line[line], name, sizeof name));
    plm_map_put(&sites->by_line, line, number);
    return number;
}

uint32_t plm_html_site(struct plm_html_sites *sites, const struct plm_job *job, const struct plm_html_names *names,
                       const struct plm_block *block, uint32_t stack)
{
    struct plm_html_site site = {.module = plm_html_module(names, block), .category = block->category};
    /* Once there are many, those that come are told by module and category alone. */
    if (sites->count < PLM_HTML_SITES) {
        site.op = names->op_of_context[block->context];
        site.line = line_number(sites, job, stack);
    }
    return site_add(sites, &site);
}

size_t plm_html_sites_most(const struct plm_html_names *names)
{
    return PLM_HTML_SITES + names->modules.count * PLM_CATEGORIES;
}

void plm_html_sites_start(struct plm_html_sites *sites)
{
    *sites = (struct plm_html_sites){0};
    plm_names_add(&sites->lines, "");
}

void plm_html_sites_write(struct plm_json *j, const struct plm_html_sites *s)
{
    plm_json_object(j, "sites");
    PLM_HTML_EACH(j, "module", i, s->count, s->item[i].module);
    PLM_HTML_EACH(j, "category", i, s->count, s->item[i].category);
    PLM_HTML_EACH(j, "op", i, s->count, s->item[i].op);
    PLM_HTML_EACH(j, "line", i, s->count, s->item[i].line);
    plm_json_end_object(j);
    plm_json_array(j, "lines");
    for (size_t i = 0; i < s->lines.count; i++)
        plm_json_string(j, NULL, s->lines.text[i]);
    plm_json_end_array(j);
}

void plm_html_sites_free(struct plm_html_sites *s)
{
    plm_map_free(&s->by_key);
    plm_map_free(&s->by_line);
    plm_names_free(&s->lines);
    free(s->item);
}

/* ---- layers that repeat ---- */

static void write_fold(struct plm_json *j, const struct plm_holders *holders, const struct plm_repeats *folds,
                       size_t at, struct plm_names *modules, size_t known)
{
    const struct plm_repeat *fold = &folds->item[at];
    plm_json_object(j, NULL);
    plm_json_string(j, "name", fold->name);
    plm_json_array(j, "modules");
    for (size_t i = 0; i < fold->count; i++) {
        const uint32_t number = plm_names_add(modules, holders->item[folds->member[fold->first + i]].name);
        if (number < known) /* others are among the "(N small modules)" */
            plm_json_integer(j, NULL, number);
    }
    plm_json_end_array(j);
    plm_json_end_object(j);
}

void plm_html_folds_write(struct plm_json *j, const struct plm_job *job, struct plm_html_names *names)
{
    const struct plm_lane *lane = plm_job_largest(job);
    const size_t known = names->modules.count;
    plm_json_array(j, "folds");
    if (lane->moments) {
        struct plm_holders holders = plm_holders_at(job, lane, lane->summary->allocated_peak.moment, PLM_BY_MODULE);
        struct plm_repeats folds = plm_repeats_of_holders(&holders, false);
        for (size_t i = 0; i < folds.count; i++)
            if (folds.item[i].count > 1)
                write_fold(j, &holders, &folds, i, &names->modules, known);
        plm_repeats_free(&folds);
        plm_holders_free(&holders);
    }
    plm_json_end_array(j);
}
