#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

struct command {
    const char *name;
    int (*run)(int, char **);
    const char *summary;
};

static int help(int argc, char **argv);
static int version(int argc, char **argv);

static const struct command commands[] = {
    {"run", plm_cmd_run, "run a command on the virtual GPU and report what it needs"},
    {"report", plm_cmd_report, "show the report of a job record again"},
    {"fit", plm_cmd_fit, "which cards a recorded job fits on, found by replaying its memory"},
    {"tune", plm_cmd_tune, "which setting of PyTorch's allocator would reserve least"},
    {"export", plm_cmd_export, "turn a job record into CSV, JSON, a memory snapshot, a trace"},
    {"import", plm_cmd_import, "turn a memory snapshot of PyTorch into a job record"},
    {"diff", plm_cmd_diff, "show what grew between two job records"},
    {"check", plm_cmd_check, "hold a record or a command against a limit, for pipelines"},
    {"calibrate", plm_cmd_calibrate, "on a machine with a GPU: measure what its libraries take"},
    {"estimate", plm_cmd_estimate, "what the published methods say about a job, beside plimsoll"},
    {"trace", plm_cmd_trace, "run a command on the CPU under PyTorch's profiler, for these methods"},
    {"describe", plm_cmd_describe, "write down a command's model, batch and optimizer, for these methods"},
    {"train", plm_cmd_train, "train a method that learns, from a table of runs"},
    {"evaluate", plm_cmd_evaluate, "measure how good the estimates are, against runs on real cards"},
    {"measure", plm_cmd_measure, "on a machine with a GPU: run a command there and note what it took"},
    {"gpus", plm_cmd_gpus, "list the GPUs and MIG profiles that are known"},
    {"stacks", plm_cmd_stacks, "list the software stacks whose memory is known"},
    {"symbols", plm_cmd_symbols, "show which CUDA entry points are modelled, accepted, refused"},
    {"doctor", plm_cmd_doctor, "check this machine and the PyTorch of an interpreter"},
    {"help", help, "this page"},
    {"version", version, "the version"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int help(int argc, char **argv)
{
    (void)argc, (void)argv;
    puts("plimsoll tells how much GPU memory a training job needs, before it gets a GPU.\n"
         "\n"
         "  plimsoll [options] -- python train.py     run a few steps on a virtual GPU and report\n"
         "\n"
         "Commands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    puts("\n"
         "`plimsoll COMMAND --help` and `man plimsoll-COMMAND` tell their options. The main ones of run:\n"
         "  --gpu NAME       the card to play (default a100-80gb); `plimsoll gpus` lists them\n"
         "  --steps N        stop after N optimizer steps (default: when two are alike, 3 to 10); --until-exit\n"
         "  --bounded        only the card's usable memory: PyTorch raises its own OutOfMemoryError\n"
         "  -o, --output F   the job record (default plimsoll-<script>.<pid>.plm)\n"
         "\n"
         "Examples:\n"
         "  plimsoll -- python train.py --batch 64\n"
         "  plimsoll run --gpu rtx3060 --bounded -- python train.py\n"
         "  plimsoll report plimsoll-train.4711.plm --by module --at 3\n"
         "  plimsoll fit --gpu rtx4090 plimsoll-train.4711.plm && plimsoll tune plimsoll-train.4711.plm\n"
         "\n"
         "Exit: 0 done, 1 does not fit, 2 usage, 3 the command failed, 4 not trustworthy, 125-127 could not start it.");
    return PLM_EXIT_OK;
}

static int version(int argc, char **argv)
{
    (void)argc, (void)argv;
    puts("plimsoll " PLM_VERSION);
    return PLM_EXIT_OK;
}

int plm_complain(int status, const char *sentence)
{
    fprintf(stderr, "plimsoll: %s\n", sentence);
    return status;
}

bool plm_want_color(const char *choice, int fd)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (choice && !strcmp(choice, "always"))
        return true;
    if ((choice && !strcmp(choice, "never")) || (no_color && *no_color) || (term && !strcmp(term, "dumb")))
        return false;
    return isatty(fd);
}

int plm_terminal_width(int fd)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (columns && atoi(columns) > 20)
        return atoi(columns);
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
        return size.ws_col;
    return 80;
}

bool plm_want_utf8(void)
{
    return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

int main(int argc, char **argv)
{
    char sentence[300];
    setlocale(LC_CTYPE, "");
    if (argc < 2) {
        help(0, NULL);
        return PLM_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help(0, NULL);
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        return version(0, NULL);
    if (argv[1][0] == '-')
        return plm_cmd_run(argc - 1, argv + 1);
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name)) {
            if (argc > 2 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")))
                return plm_help(commands[i].name, commands[i].summary) ? PLM_EXIT_OK : help(0, NULL);
            return commands[i].run(argc - 2, argv + 2);
        }
    snprintf(sentence, sizeof sentence, "unknown command '%.100s'; to run it, write `plimsoll -- %.100s`", argv[1],
             argv[1]);
    return plm_complain(PLM_EXIT_USAGE, sentence);
}
