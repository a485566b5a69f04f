#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "common/error.h"
#include "base/install.h"
#include "base/output.h"
#include "base/csv.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/dataset_explore.h"
#include "cli/evaluate.h"
#include "study/evaluate/workload.h"
#include "study/learn/dataset.h"
#include "time/speeds.h"

/* Strings belong to the command line and the environment. */
struct request {
    struct plm_cli_dataset_explore explore;
    struct plm_look look;
    const char *families, *from, *gpu, *stack, *python, *output;
    int rows, seed, jobs;
    bool append, force;
};

static const struct plm_option options[] = {
    {"family", 0, PLM_OPTION_TEXT, AT(families), "NAME,...", .help = "network families: mlp, cnn, transformer",
     .among = "mlp cnn transformer", .configurable = true},
    {"rows", 0, PLM_OPTION_NUMBER, AT(rows), "N", .help = "networks per family (default 100)", .least = 1,
     .most = PLM_DATASET_ROWS, .configurable = true},
    {"seed", 0, PLM_OPTION_NUMBER, AT(seed), "N", .help = "random seed (default 0)", .configurable = true},
    {"from", 0, PLM_OPTION_TEXT, AT(from), "PATH",
     .help = "use the networks of this table, or the scripts in this folder", .complete = PLM_COMPLETE_FILE},
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE", .help = "the table to write; - is stdout",
     .complete = PLM_COMPLETE_FILE, .among = "csv", .required = true},
    {"append", 0, PLM_OPTION_FLAG, AT(append), .help = "append to the file"},
    {.include = plm_cli_option_force, .at = AT(force)},
    {"gpu", 0, PLM_OPTION_TEXT, AT(gpu), "NAME", .help = "GPU to simulate (default a100-40gb)",
     .complete = PLM_COMPLETE_CARD, .configurable = true},
    {"stack", 0, PLM_OPTION_TEXT, AT(stack), "NAME", .help = "the stack file, as in run",
     .complete = PLM_COMPLETE_STACK, .among = "auto none", .configurable = true},
    {"python", 0, PLM_OPTION_TEXT, AT(python), "PROGRAM", .help = "the interpreter with PyTorch (default python3)",
     .complete = PLM_COMPLETE_PROGRAM, .configurable = true, .own = true},
    {"jobs", 'j', PLM_OPTION_NUMBER, AT(jobs), "N", .help = "parallel processes (default: the number of CPUs)",
     .least = 1, .most = 4096, .configurable = true},
    {.include = plm_cli_dataset_explore_options, .at = AT(explore)},
    {.include = plm_cli_option_color, .at = AT(look.color)},
    {0},
};

/* ---- what is asked for ---- */

/* "mlp,cnn": each once. */
static int families_parse(const char *text, struct plm_dataset_settings *s, struct plm_error *error)
{
    char name[32];
    for (size_t length; text && *text; text += length + (text[length] == ',')) {
        enum plm_family family;
        int status;
        length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", length < 31 ? (int)length : 31, text);
        status = plm_family_find(name, &family, error);
        if (status)
            return status;
        for (size_t i = 0; i < s->families; i++)
            if (s->family[i] == family)
                return plm_fail(error, PLM_EINVAL, "--family names %s twice", name);
        s->family[s->families++] = family;
    }
    return 0;
}

static int request_check(const struct request *r, const struct plm_dataset_settings *s, struct plm_error *error)
{
    if (!s->families && !r->from)
        return plm_fail(
            error, PLM_EINVAL,
            "no networks given; write `plimsoll dataset --family mlp -o rows.csv`, or --from TABLE or FOLDER");
    if (r->from && s->families > 1)
        return plm_fail(error, PLM_EINVAL,
                        "with --from, --family takes one name: the family of a table without that column");
    if (r->from && r->rows)
        return plm_fail(error, PLM_EINVAL,
                        "--rows does not go with --from: the table or folder decides how many there are");
    if (!r->output)
        return plm_fail(error, PLM_EINVAL, "no output file given; add -o FILE");
    if (r->append && !strcmp(r->output, "-"))
        return plm_fail(error, PLM_EINVAL, "--append needs a file, and -o - is standard output");
    if (strchr(r->python, '/') && access(r->python, X_OK))
        return plm_fail(error, PLM_EINVAL, "--python %.200s: %s", r->python, strerror(errno));
    return 0;
}

/* ---- the table ---- */

/* What is read before anything runs. */
struct parts {
    struct plm_catalogue catalogue;
    struct plm_workloads workloads;
    struct plm_speeds speeds;
    struct plm_csv older;
    bool appends; /* there is an older table */
    char kept[PATH_MAX], scratch[PLM_SCRATCH];
};

struct writing {
    const struct plm_dataset *dataset;
    const struct plm_csv *older;
};

static int table_write(FILE *out, const void *what, struct plm_error *error)
{
    const struct writing *w = what;
    return plm_dataset_write(out, w->dataset, w->older, error);
}

static struct plm_output_rule rule_of(const struct request *r, const struct parts *parts)
{
    return (struct plm_output_rule){.force = r->force || parts->appends, .input = {r->from}};
}

static int parts_read(const struct request *r, struct plm_dataset_settings *s, struct parts *p, struct plm_error *error)
{
    const struct plm_catalogue_entry *entry;
    int status = plm_workloads_read(NULL, &p->catalogue.install, &p->workloads, error);
    if (status == 0)
        status = plm_catalogue_find(&p->catalogue, r->gpu, &entry, error);
    if (status == 0)
        status = plm_speeds_read(NULL, &p->catalogue.install, &entry->card, &p->speeds, error);
    if (status == 0 && r->append && access(r->output, F_OK) == 0) {
        status = plm_csv_read(r->output, &p->older, error);
        p->appends = status == 0;
        if (status == 0 && plm_csv_column(&p->older, "family") < 0)
            status = plm_fail(error, PLM_EFORMAT,
                              "%.200s has no column \"family\": it is not a table of `plimsoll dataset`", r->output);
    }
    if (status)
        return status;
    s->install = &p->catalogue.install;
    s->card = &entry->card;
    s->speeds = &p->speeds;
    s->script = p->catalogue.install.dataset;
    s->workloads = p->workloads.folder;
    return 0;
}

/* What is gone on with is beside the file, so that the same command finds it. */
static int places_choose(const struct request *r, struct parts *p, struct plm_dataset_settings *s,
                         struct plm_error *error)
{
    if (snprintf(p->kept, sizeof p->kept, "%s.partial", r->output) >= (int)sizeof p->kept)
        return plm_fail(error, PLM_EINVAL, "the name of the table is too long");
    s->kept = strcmp(r->output, "-") ? p->kept : NULL;
    s->folder = p->scratch;
    return plm_scratch_make("dataset", p->scratch, error);
}

static int dataset_end(const struct request *r, const struct parts *parts, const struct plm_dataset *dataset)
{
    const struct plm_output_rule rule = rule_of(r, parts);
    const struct writing w = {dataset, parts->appends ? &parts->older : NULL};
    struct plm_error error;
    size_t failed = 0;
    if (plm_output_write(r->output, &rule, table_write, &w, &error) < 0)
        return plm_fault(&error);
    plm_dataset_clean(dataset);
    for (size_t i = 0; i < dataset->rows; i++)
        failed += dataset->row[i].failed;
    if (failed == dataset->rows)
        return plm_complain(PLM_EXIT_COMMAND, "every row failed; see the table's status column");
    if (failed)
        fprintf(stderr, "plimsoll: %zu of %zu rows failed; see the table's status column\n", failed, dataset->rows);
    return PLM_EXIT_OK;
}

static int dataset_make(const struct request *r, struct parts *parts, const struct plm_dataset_settings *settings)
{
    struct plm_dataset dataset;
    struct plm_error error;
    int status;
    if (plm_dataset_make(settings, &dataset, &error) < 0)
        return plm_fault(&error);
    if (plm_dataset_resume(&dataset, r->force, &error) < 0 ||
        plm_dataset_run(&dataset, isatty(STDERR_FILENO) ? plm_cli_evaluate_progress : NULL, "rows", &error) < 0)
        status = plm_fault(&error);
    else
        status = dataset_end(r, parts, &dataset);
    plm_dataset_free(&dataset);
    return status;
}

static int request_run(const struct request *r, struct plm_dataset_settings *s)
{
    static struct parts parts;
    struct plm_output_rule rule;
    struct plm_error error;
    int status;
    if (plm_catalogue_open(&parts.catalogue, &error) < 0)
        return plm_fault(&error);
    if (parts_read(r, s, &parts, &error) < 0 || places_choose(r, &parts, s, &error) < 0 ||
        (rule = rule_of(r, &parts), plm_output_check(r->output, &rule, &error) < 0))
        status = plm_fault(&error);
    else
        status = dataset_make(r, &parts, s);
    plm_scratch_remove(parts.scratch);
    plm_csv_free(&parts.older);
    plm_catalogue_free(&parts.catalogue);
    return status;
}

static int dataset_run(int argc, char **argv)
{
    struct request r = {
        .look = PLM_LOOK, .gpu = "a100-40gb", .python = "python3", .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    struct plm_dataset_settings settings = {0};
    struct plm_error error;
    int words;
    if (plm_options_among(options, &r, "dataset", argc, argv, NULL, 0, &words, &error) < 0)
        return plm_fault(&error);
    if (words)
        return plm_complain(PLM_EXIT_USAGE, "`plimsoll dataset` takes options only; --from names a table or a folder");
    if (plm_cli_dataset_explore_check(&r.explore, &error) < 0)
        return plm_fault(&error);
    if (r.explore.table && (r.from || r.output))
        return plm_complain(PLM_EXIT_USAGE, "--explore shows an existing table; make one first, without it");
    if (r.explore.table)
        return plm_cli_dataset_explore(&r.explore, (uint64_t)r.seed, r.force, &r.look);
    if (families_parse(r.families, &settings, &error) < 0 || request_check(&r, &settings, &error) < 0)
        return plm_fault(&error);
    settings.rows = r.rows ? (size_t)r.rows : 100;
    settings.seed = (uint64_t)r.seed;
    settings.from = r.from;
    settings.stack = r.stack;
    settings.python = r.python;
    settings.jobs = r.jobs;
    return request_run(&r, &settings);
}

const struct plm_command plm_command_dataset = {
    .name = "dataset",
    .line = "build a table of networks with memory and time, or explore one",
    .options = options,
    .example = {"plimsoll dataset --family mlp --rows 3000 --seed 1 -o rows.csv",
                "plimsoll dataset --family cnn,transformer --rows 300 --append -o rows.csv",
                "plimsoll dataset --from measured.csv --family mlp -o labelled.csv",
                "plimsoll dataset --from my_scripts --gpu rtx3060 -o mine.csv",
                "plimsoll dataset --explore rows.csv --html rows.html"},
    .run = dataset_run,
};
