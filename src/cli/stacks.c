#include <stdio.h>
#include <stdlib.h>

#include "analysis/summary.h"
#include "base/catalogue.h"
#include "common/error.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "record/fields.h"
#include "stack/folder.h"

/* What the stacks are held against: a card, or a record with its card and versions. */
struct against {
    bool given;
    const struct plm_card *card; /* NULL: any */
    const struct plm_summary *job; /* NULL: any versions */
};

static bool stacks_matches(const struct plm_stack_file *s, const struct against *a)
{
    char why[PLM_STACK_WHY];
    return (!a->card || plm_stack_on_card(s, a->card)) && (!a->job || !plm_summary_stack_differs(s, a->job, why));
}

static void print_memory(const struct plm_stack_file *s)
{
    char low[32], high[32];
    for (int i = 0; i < PLM_STACK_MEMORIES; i++) {
        const struct plm_stack_range *r = &s->memory[i];
        if (!r->known)
            continue;
        printf("    %-15s %s", plm_value_stack_memory((unsigned)i), plm_size_text(low, sizeof low, r->low));
        if (r->high > r->low)
            printf(" to %s", plm_size_text(high, sizeof high, r->high));
        putchar('\n');
    }
}

static void print_card(const struct plm_stack_file *s)
{
    const char *before = "    card: ";
    if (s->gpu[0]) {
        printf("%s%s", before, s->gpu);
        before = ", ";
    }
    if (s->major) {
        printf("%scompute capability %d.%d", before, s->major, s->minor);
        before = ", ";
    }
    if (s->sms)
        printf("%s%d SMs", before, s->sms);
    if (s->gpu[0] || s->major || s->sms)
        putchar('\n');
}

static void print_versions(const struct plm_stack_file *s)
{
    const struct {
        const char *name, *value;
    } parts[] = {{"PyTorch ", s->torch}, {"CUDA ", s->cuda},     {"driver ", s->driver},
                 {"cuDNN ", s->cudnn},   {"cuBLAS ", s->cublas}, {"NCCL ", s->nccl}};
    const char *before = "    ";
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].value[0]) {
            printf("%s%s%s", before, parts[i].name, parts[i].value);
            before = ", ";
        }
    if (before[0] == ',')
        putchar('\n');
}

static void print_stack(const struct plm_stack_entry *e, const struct against *a)
{
    const struct plm_stack_file *s = e->stack;
    printf("%s%-20s %s%s%s%s%s\n",
           !a->given              ? ""
           : stacks_matches(s, a) ? "* "
                                  : "  ",
           s->id, plm_stack_made_name(s->made), s->date[0] ? " " : "", s->date, e->own ? ", your own" : "",
           s->gpu[0] || s->major || s->sms ? "" : ", any card");
    printf("    %s\n", s->name);
    if (s->source[0])
        printf("    from: %s\n", s->source);
    print_card(s);
    print_versions(s);
    print_memory(s);
    if (s->convolutions || s->rnns || s->ffts)
        printf("    %d convolutions, %d recurrent networks, %d FFTs\n", s->convolutions, s->rnns, s->ffts);
}

static int stacks_text(const struct plm_stack_list *stacks, const struct against *a)
{
    for (int i = 0; i < stacks->count; i++)
        print_stack(&stacks->entry[i], a);
    if (a->given)
        puts("* matches");
    return fflush(stdout) || ferror(stdout) ? PLM_EXIT_CANNOT : PLM_EXIT_OK;
}

static void json_memory(struct plm_json *j, const struct plm_stack_file *s)
{
    plm_json_object(j, "memory");
    for (int i = 0; i < PLM_STACK_MEMORIES; i++) {
        if (!s->memory[i].known)
            continue;
        plm_json_object(j, plm_value_stack_memory((unsigned)i));
        plm_json_integer(j, "low", s->memory[i].low);
        plm_json_integer(j, "high", s->memory[i].high);
        plm_json_end_object(j);
    }
    plm_json_end_object(j);
}

static void json_stack(struct plm_json *j, const struct plm_stack_entry *e, const struct against *a)
{
    const struct plm_stack_file *s = e->stack;
    plm_json_object(j, NULL);
    plm_json_string(j, "id", s->id);
    plm_json_string(j, "name", s->name);
    plm_json_string(j, "file", e->path);
    plm_json_string(j, "made", plm_stack_made_name(s->made));
    plm_json_text(j, "date", s->date);
    plm_json_text(j, "source", s->source);
    plm_json_text(j, "torch", s->torch);
    plm_json_text(j, "cuda", s->cuda);
    plm_json_text(j, "driver", s->driver);
    plm_json_text(j, "cudnn", s->cudnn);
    plm_json_text(j, "cublas", s->cublas);
    plm_json_text(j, "nccl", s->nccl);
    plm_json_text(j, "gpu", s->gpu);
    if (s->major) {
        plm_json_integer(j, "compute_major", (uint64_t)s->major);
        plm_json_integer(j, "compute_minor", (uint64_t)s->minor);
    }
    if (s->sms)
        plm_json_integer(j, "sms", (uint64_t)s->sms);
    plm_json_bool(j, "own", e->own);
    json_memory(j, s);
    plm_json_integer(j, "convolutions", (uint64_t)s->convolutions);
    plm_json_integer(j, "rnns", (uint64_t)s->rnns);
    plm_json_integer(j, "ffts", (uint64_t)s->ffts);
    if (a->given)
        plm_json_bool(j, "matches", stacks_matches(s, a));
    plm_json_end_object(j);
}

static int stacks_json(const struct plm_stack_list *stacks, const struct against *a)
{
    struct plm_json j;
    plm_json_document(&j, stdout, "plimsoll.stacks/1");
    plm_json_array(&j, "stacks");
    for (int i = 0; i < stacks->count; i++)
        json_stack(&j, &stacks->entry[i], a);
    plm_json_end_array(&j);
    return plm_json_finish(&j) ? PLM_EXIT_CANNOT : PLM_EXIT_OK;
}

/* The card of --gpu, else that of the record; one that is not known any more is no card. */
static int find_card(const char *gpu, const struct plm_summary *job, struct plm_catalogue *catalogue, struct against *a,
                     struct plm_error *error)
{
    const struct plm_catalogue_entry *entry = NULL;
    const char *name = gpu ? gpu : job ? plm_summary_config(job, "gpu") : NULL;
    int status;
    if (!name)
        return 0;
    status = plm_catalogue_find(catalogue, name, &entry, error);
    if (status == 0)
        a->card = &entry->card;
    return gpu ? status : 0;
}

struct request {
    const char *gpu, *record, *name;
    bool json;
};

static int stacks_show(const struct request *r)
{
    struct plm_catalogue catalogue = {0};
    struct plm_stack_list stacks = {0}, one;
    struct plm_summary job = {0};
    struct plm_error error = {0};
    struct against a = {.given = r->gpu || r->record};
    const struct plm_stack_entry *entry = NULL;
    int status, result;

    status = plm_catalogue_open(&catalogue, &error);
    if (status == 0)
        status = plm_stack_list_load(&stacks, &catalogue.install, &error);
    if (status == 0 && r->record && (status = plm_summary_read(r->record, &job, &error)) == 0)
        a.job = &job;
    if (status == 0)
        status = find_card(r->gpu, a.job, &catalogue, &a, &error);
    if (status == 0 && r->name)
        status = plm_stack_list_find(&stacks, r->name, &entry, &error);
    one = entry ? (struct plm_stack_list){.entry = (struct plm_stack_entry *)entry, .count = 1} : stacks;
    if (status == 0)
        result = r->json ? stacks_json(&one, &a) : stacks_text(&one, &a);
    else
        result = plm_fault(&error);
    plm_summary_free(&job);
    plm_stack_list_free(&stacks);
    plm_catalogue_free(&catalogue);
    return result;
}

static const struct plm_option options[] = {
    {"gpu", 0, PLM_OPTION_TEXT, AT(gpu), "NAME", .help = "mark those measured on this card",
     .complete = PLM_COMPLETE_CARD},
    {"record", 0, PLM_OPTION_TEXT, AT(record), "FILE", .help = "mark those that match a recorded job",
     .complete = PLM_COMPLETE_FILE, .among = "plm"},
    {.include = plm_cli_option_json, .at = AT(json)},
    {0},
};

static int stacks_run(int argc, char **argv)
{
    struct request r = {0};
    struct plm_error error;
    int words;
    if (plm_options_among(options, &r, "stacks", argc, argv, &r.name, 1, &words, &error) < 0)
        return plm_fault(&error);
    if (words > 1)
        return plm_complain(PLM_EXIT_USAGE, "write `plimsoll stacks [--gpu NAME] [--record JOB.plm] [NAME]`");
    return stacks_show(&r);
}

const struct plm_command plm_command_stacks = {
    .name = "stacks",
    .line = "list the software stacks with known memory",
    .words = "[NAME | FILE]",
    .options = options,
    .complete = PLM_COMPLETE_STACK,
    .example = {"plimsoll stacks", "plimsoll stacks --record job.plm"},
    .exit = {{PLM_EXIT_USAGE, "usage, or an unknown name"},
             {PLM_EXIT_NOTHING, "a stack file or the record cannot be read, or is invalid"}},
    .run = stacks_run,
};
