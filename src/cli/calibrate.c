#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/printable.h"
#include "base/install.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "stack/rows.h"

struct request {
    const char *record, *output, *python, *figures, *gpu;
    bool list, force, rows_only, time;
};

/* The rows of the record into `out`, and nothing of one that cannot be read; an exit status. */
static int write_list(const struct request *r, FILE *out)
{
    struct plm_stack_used used;
    struct plm_error error = {0};
    char *rows = NULL;
    size_t size;
    FILE *memory = open_memstream(&rows, &size);
    int status;
    if (!memory)
        plm_out_of_memory();
    status = plm_stack_used(r->record, memory, &used, &error);
    if (fclose(memory))
        plm_out_of_memory();
    if (status < 0) {
        free(rows);
        return plm_fault(&error);
    }
    fputs("# what ", out);
    plm_printable_put(out, r->record);
    fputs(" uses, for plimsoll_calibrate.py --list\n", out);
    fputs(rows, out);
    free(rows);
    if (fflush(out) || ferror(out))
        return plm_complain(PLM_EXIT_CANNOT, "the list could not be written");
    fprintf(stderr, "plimsoll: %d convolutions, %d recurrent networks, %d FFTs\n", used.convolutions, used.rnns,
            used.ffts);
    return PLM_EXIT_OK;
}

/* The list goes to the script's standard input, so that nothing is left behind. */
static int give_list(const struct request *r)
{
    FILE *list = tmpfile();
    int status;
    if (!list)
        return plm_complain(PLM_EXIT_CANNOT, "cannot create a temporary file for the list");
    status = write_list(r, list);
    if (status == PLM_EXIT_OK && (fseek(list, 0, SEEK_SET) || dup2(fileno(list), STDIN_FILENO) < 0))
        status = plm_complain(PLM_EXIT_CANNOT, "the list cannot be passed to the script");
    fclose(list);
    return status;
}

static int calibrate_start(const struct request *r, const struct plm_install *install)
{
    const char *words[10];
    int n = 0;
    words[n++] = r->python;
    words[n++] = install->calibrate;
    if (r->record) {
        words[n++] = "--list";
        words[n++] = "-";
    }
    if (r->output) {
        words[n++] = "-o";
        words[n++] = r->output;
    }
    if (r->force)
        words[n++] = "-f";
    if (r->rows_only)
        words[n++] = "--rows-only";
    words[n] = NULL;
    execvp(r->python, (char *const *)words);
    return plm_complain_of(errno == ENOENT ? PLM_EXIT_NOT_FOUND : PLM_EXIT_NOT_RUNNABLE,
                           "cannot start %.200s: %s; choose an interpreter with --python", r->python, strerror(errno));
}

static const struct plm_option options[] = {
    {"record", 0, PLM_OPTION_TEXT, AT(record), "FILE", .help = "measure this job's convolutions, RNNs and FFTs",
     .complete = PLM_COMPLETE_FILE, .among = "plm"},
    {"list", 0, PLM_OPTION_FLAG, AT(list), .help = "list what would be measured, then exit"},
    {"time", 0, PLM_OPTION_FLAG, AT(time), .help = "measure speed instead, and write the time model's constants"},
    {"figures", 0, PLM_OPTION_TEXT, AT(figures), "FILE",
     .help = "with --time: use the output of plimsoll_calibrate_time.py", .complete = PLM_COMPLETE_FILE,
     .among = "jsonl"},
    {"gpu", 0, PLM_OPTION_TEXT, AT(gpu), "NAME", .help = "with --time: the card, if its device name is ambiguous",
     .complete = PLM_COMPLETE_CARD},
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE", .help = "the stack file to write (with --time: the constants)",
     .complete = PLM_COMPLETE_FILE, .among = "ini"},
    {.include = plm_cli_option_force, .at = AT(force)},
    {"python", 0, PLM_OPTION_TEXT, AT(python), "PROGRAM", .help = "the interpreter with PyTorch (default python3)",
     .complete = PLM_COMPLETE_PROGRAM, .configurable = true, .own = true},
    {"rows-only", 0, PLM_OPTION_FLAG, AT(rows_only), .help = "skip context and library memory"},
    {0},
};

/* What does not go together; NULL: nothing. */
static const char *calibrate_contradiction(const struct request *r)
{
    if (r->time && (r->record || r->list || r->rows_only))
        return "--time measures speed, not memory: leave out --record, --list and --rows-only";
    if (r->time && !r->output)
        return "--time needs a file for the constants: write `plimsoll calibrate --time -o SPEEDS.ini`";
    if (!r->time && (r->figures || r->gpu))
        return "--figures and --gpu need --time";
    if (r->list && !r->record)
        return "--list needs --record JOB.plm";
    if (r->list && r->output)
        return "--list prints to standard output: write `>ROWS.tsv` instead of -o";
    return NULL;
}

static int calibrate_run(int argc, char **argv)
{
    struct request r = {.python = "python3"};
    struct plm_install install;
    struct plm_error error;
    int rest, status = PLM_EXIT_OK;
    if (plm_options_parse(options, &r, "calibrate", argc, argv, &rest, &error) < 0)
        return plm_fault(&error);
    if (rest < argc)
        return plm_complain(PLM_EXIT_USAGE, "write `plimsoll calibrate [--record JOB.plm] [-o STACK.ini]`");
    if (calibrate_contradiction(&r))
        return plm_complain(PLM_EXIT_USAGE, calibrate_contradiction(&r));
    if (r.list)
        return write_list(&r, stdout);
    if (r.output &&
        plm_output_check(r.output, &(struct plm_output_rule){.force = r.force, .input = {r.record, r.figures}},
                         &error) < 0)
        return plm_fault(&error);
    if (plm_install_find(&install, &error) < 0)
        return plm_fault(&error);
    if (r.time)
        return plm_cli_calibrate_time(&(struct plm_cli_calibrate_time){r.output, r.figures, r.gpu, r.python, r.force},
                                      &install);
    if (r.record)
        status = give_list(&r);
    return status ? status : calibrate_start(&r, &install);
}

const struct plm_command plm_command_calibrate = {
    .name = "calibrate",
    .line = "on a real GPU: measure library memory, or the GPU's speed",
    .options = options,
    .example = {"plimsoll calibrate --record job.plm", "plimsoll calibrate --record job.plm --list >rows.tsv",
                "python plimsoll_calibrate.py --list rows.tsv -o rtx3060.ini",
                "plimsoll calibrate --time -o rtx3060-times.ini",
                "plimsoll calibrate --time --figures figures.jsonl -o rtx3060-times.ini"},
    .exit = {{PLM_EXIT_NOTHING, "the record or the figures cannot be read, or their GPU is not in the catalogue"},
             {PLM_EXIT_CANNOT, "there is no GPU, or only the virtual one (--time), or a file cannot be written"},
             {PLM_EXIT_NOT_RUNNABLE, "the interpreter cannot be executed"},
             {PLM_EXIT_NOT_FOUND, "the interpreter was not found"}},
    .run = calibrate_run,
};
