/* The Python stacks of a record: one numbering for all processes, and whose each line is. */
#include <stdlib.h>
#include <string.h>

#include "analysis/collect.h"
#include "base/memory.h"

static uint64_t number_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* What a path says about whose a file is. The first that it contains decides; a name in angle brackets is no file. */
static const struct {
    const char *part;
    enum plm_job_whose whose;
} known[] = {
    {"/site-packages/torch/", PLM_JOB_FRAMEWORK},  {"/dist-packages/torch/", PLM_JOB_FRAMEWORK},
    {"/pytorch/torch/", PLM_JOB_FRAMEWORK},        {"/torchinductor_", PLM_JOB_FRAMEWORK},
    {"/site-packages/triton/", PLM_JOB_FRAMEWORK}, {"/site-packages/", PLM_JOB_PACKAGE},
    {"/dist-packages/", PLM_JOB_PACKAGE},          {"/lib/python3.", PLM_JOB_FRAMEWORK},
    {"/lib64/python3.", PLM_JOB_FRAMEWORK},
};

/* A user sees no frame of plimsoll. */
static bool is_ours(const struct plm_job_line *line)
{
    return strstr(line->file, "/plimsoll_hook/") != NULL;
}

static enum plm_job_whose whose_file(const char *file)
{
    if (!strcmp(file, "<string>") || !strcmp(file, "<stdin>")) /* python -c, a prompt */
        return PLM_JOB_OWN;
    if (*file == '<' || !*file)
        return PLM_JOB_FRAMEWORK;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(file, known[i].part))
            return known[i].whose;
    return PLM_JOB_OWN;
}

/* [0] of each list is "not known". */
static void lines_begin(struct plm_collect_lines *l)
{
    const struct plm_job_line none = {.file = "", .function = "", .whose = PLM_JOB_FRAMEWORK};
    if (l->calls)
        return;
    l->source = plm_grow(l->source, 0, &l->source_room, sizeof *l->source);
    l->line = plm_grow(l->line, 0, &l->line_room, sizeof *l->line);
    l->call = plm_grow(l->call, 0, &l->call_room, sizeof *l->call);
    l->source[0] = (struct plm_collect_source){0, none};
    l->line[0] = none;
    l->call[0] = (struct plm_job_call){0};
    l->sources = l->lines = l->calls = 1;
}

void plm_collect_lines_add(struct plm_collect_lines *l, const struct plm_record_event *e,
                           struct plm_collect_source source)
{
    const struct plm_ev_source said = plm_get_source(e);
    lines_begin(l);
    source.line.whose = whose_file(source.line.file);
    source.line.first = said.line;
    source.line.bytes = said.bytes;
    source.line.modified = said.modified;
    l->source = plm_grow(l->source, l->sources, &l->source_room, sizeof *l->source);
    l->source[l->sources] = source;
    plm_map_put(&l->source_of, number_pair(e->process, said.source), l->sources++);
}

/* Lines of a file that several functions share, as a lambda and the one around it, are one. */
static uint32_t line_add(struct plm_collect_lines *l, const struct plm_collect_source *source, uint32_t line)
{
    const uint64_t key = number_pair(source->file, line), have = plm_map_get(&l->line_of, key);
    if (have != PLM_MAP_NONE)
        return (uint32_t)have;
    l->line = plm_grow(l->line, l->lines, &l->line_room, sizeof *l->line);
    l->line[l->lines] = source->line;
    l->line[l->lines].line = line;
    plm_map_put(&l->line_of, key, l->lines);
    return (uint32_t)l->lines++;
}

/* A caller has a smaller number, whatever a damaged record says: stacks end. */
static uint32_t call_add(struct plm_collect_lines *l, uint32_t caller, uint32_t line)
{
    const uint64_t key = number_pair(caller, line), have = plm_map_get(&l->call_key, key);
    const uint32_t call = (uint32_t)l->calls, around = l->call[caller].own;
    const bool nearer = !caller || l->line[line].whose <= l->line[l->call[around].line].whose;
    if (have != PLM_MAP_NONE)
        return (uint32_t)have;
    l->call = plm_grow(l->call, l->calls, &l->call_room, sizeof *l->call);
    l->call[call] = (struct plm_job_call){caller, line, nearer ? call : around};
    plm_map_put(&l->call_key, key, call);
    l->calls++;
    return call;
}

void plm_collect_lines_frame(struct plm_collect_lines *l, const struct plm_record_event *e)
{
    const struct plm_ev_frame said = plm_get_frame(e);
    const uint64_t source = plm_map_get(&l->source_of, number_pair(e->process, said.source));
    uint32_t call = plm_collect_lines_call(l, e->process, said.caller);
    if (source == PLM_MAP_NONE)
        return;
    if (!is_ours(&l->source[source].line))
        call = call_add(l, call, line_add(l, &l->source[source], said.line));
    plm_map_put(&l->call_of, number_pair(e->process, said.frame), call);
}

uint32_t plm_collect_lines_call(const struct plm_collect_lines *l, uint32_t process, uint32_t number)
{
    const uint64_t call = number ? plm_map_get(&l->call_of, number_pair(process, number)) : PLM_MAP_NONE;
    return call == PLM_MAP_NONE ? 0 : (uint32_t)call;
}

void plm_collect_lines_free(struct plm_collect_lines *l)
{
    plm_map_free(&l->source_of);
    plm_map_free(&l->line_of);
    plm_map_free(&l->call_of);
    plm_map_free(&l->call_key);
    free(l->source);
    free(l->line);
    free(l->call);
    *l = (struct plm_collect_lines){0};
}

size_t plm_job_stack(const struct plm_job *job, uint32_t stack, uint32_t *call, size_t most)
{
    size_t count = 0;
    for (; stack && stack < job->calls && count < most; stack = job->call[stack].caller)
        call[count++] = stack;
    return count;
}
