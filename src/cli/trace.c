#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/child.h"
#include "common/error.h"
#include "common/input.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/secret.h"
#include "base/temporary.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/commands.h"

/*
 * `trace` and `describe`: the command runs on the CPU, and hook/plimsoll_capture in it writes the file. What it does
 * meanwhile it tells in a second file, line by line, because its processes may be children of children.
 */

enum { ITERATIONS_TRACED = 4, ITERATIONS_DESCRIBED = 2, ITERATIONS_LEAST = 3, ITERATIONS_MOST = 100 };

struct request {
    const char *what; /* "trace", "describe" */
    const char *output;
    char default_output[256];
    int iterations;
    bool force, compute, no_compute, no_argv;
};

/* What the status file tells. */
struct status {
    const char *path;
    bool hook, importing, torch, exporting;
    int iteration, steps, written; /* written: iterations in the file; 0 if there is none */
    char problem[1024];
};

/* "steps 3" */
static bool read_number(const char *line, const char *word, int *out)
{
    const size_t length = strlen(word);
    char *end;
    long number;
    if (strncmp(line, word, length) != 0 || line[length] != ' ')
        return false;
    number = strtol(line + length, &end, 10);
    if (*end || number < 0 || number > INT_MAX)
        return false;
    *out = (int)number;
    return true;
}

static void read_line(struct status *s, const char *line)
{
    if (!strcmp(line, "hook"))
        s->hook = true;
    else if (!strcmp(line, "importing"))
        s->importing = true;
    else if (!strncmp(line, "torch ", 6))
        s->torch = true;
    else if (!strcmp(line, "exporting"))
        s->exporting = true;
    else if (!read_number(line, "iteration", &s->iteration) && !read_number(line, "steps", &s->steps) &&
             !read_number(line, "written", &s->written) && !strncmp(line, "problem ", 8) && !s->problem[0])
        snprintf(s->problem, sizeof s->problem, "%s", line + 8);
}

static void read_status(struct status *s)
{
    FILE *file = fopen(s->path, "re");
    char line[1200];
    if (!file)
        return;
    s->problem[0] = '\0';
    while (plm_input_line(file, line, sizeof line))
        read_line(s, line);
    fclose(file);
}

static void show_status(struct plm_progress_line *line, void *context)
{
    struct status *s = context;
    read_status(s);
    if (s->exporting)
        snprintf(line->what, sizeof line->what, "writing the file");
    else if (s->iteration)
        snprintf(line->what, sizeof line->what, "iteration %d", s->iteration);
    else
        snprintf(line->what, sizeof line->what, "%s",
                 s->torch       ? "waiting for the first iteration"
                 : s->importing ? "importing torch"
                                : "starting the command");
}

static void say_written(const struct request *r, const struct status *s)
{
    char size[32];
    struct stat file;
    if (stat(r->output, &file))
        return;
    plm_size_text(size, sizeof size, (uint64_t)file.st_size);
    if (!strcmp(r->what, "trace"))
        plm_complain_of(PLM_EXIT_OK, "wrote %.300s: %d iterations, %s", r->output, s->written, size);
    else
        plm_complain_of(PLM_EXIT_OK, "wrote %.300s: %s", r->output, size);
}

/* The sentence and the exit status for how it went. */
static int trace_judge(const struct request *r, const struct status *s, int status, char **command)
{
    const char *but = s->written ? "; the file covers what ran until then" : s->torch ? "" : PLM_BEFORE_TORCH;
    const char *advice = s->written || s->torch || status == 0 ? "" : plm_doctor_advice(command);
    if (s->written)
        say_written(r, s);
    if (s->problem[0])
        return plm_complain(PLM_EXIT_CANNOT, s->problem);
    if (WIFSIGNALED(status))
        return plm_complain_of(PLM_EXIT_COMMAND, "the command was killed by signal %d (%s)%s%s", WTERMSIG(status),
                               strsignal(WTERMSIG(status)), but, advice);
    if (WEXITSTATUS(status))
        return plm_complain_of(PLM_EXIT_COMMAND, "the command failed with status %d%s%s", WEXITSTATUS(status), but,
                               advice);
    if (s->written)
        return PLM_EXIT_OK;
    if (!s->hook)
        return plm_complain(PLM_EXIT_NOTHING, "the interpreter did not load plimsoll's hook: it was started with -I, "
                                              "-E or -S, or the command is not Python");
    if (!s->torch)
        return plm_complain(PLM_EXIT_NOTHING, "the command never imported torch");
    return plm_complain_of(PLM_EXIT_NOTHING, "the command made %d training iterations; %d are needed", s->steps,
                           strcmp(r->what, "trace") ? ITERATIONS_DESCRIBED : ITERATIONS_LEAST);
}

/* Opens the output, and says where it is until it is whole. */
static int trace_prepare(struct request *r, char **command, struct plm_output *output, char *path, size_t size)
{
    struct plm_error error;
    const char *why;
    char name[128];
    if (!r->output) {
        plm_cli_job_name(name, sizeof name, command);
        snprintf(r->default_output, sizeof r->default_output, "plimsoll-%s.%d.%s", name, (int)getpid(),
                 strcmp(r->what, "trace") ? "description.json" : "trace.json.gz");
        r->output = r->default_output;
    }
    if (plm_output_open(output, r->output, &(struct plm_output_rule){.force = r->force, .words = command}, &error) < 0)
        return plm_fault(&error);
    if (output->temporary && plm_absolute(path, size, output->temporary) == 0)
        return PLM_EXIT_OK;
    why = output->temporary ? "the path is too long" : "it is a device or a pipe; -o needs a file";
    plm_output_drop(output);
    return plm_complain_of(PLM_EXIT_CANNOT, "cannot write %.300s: %s", r->output, why);
}

/* The words of the command as they may be stored, each after a separator of units. */
static void command_set_environment(char **command)
{
    bool next = false;
    char *text = plm_strdup("");
    for (; *command; command++) {
        char *word = plm_secret_mask(*command, &next), *longer = plm_asprintf("%s\x1f%s", text, word);
        free(word);
        free(text);
        text = longer;
    }
    setenv("PLIMSOLL_CAPTURE_COMMAND", text, 1);
    free(text);
}

static bool is_packed(const char *path)
{
    const size_t n = strlen(path);
    return n > 3 && !strcmp(path + n - 3, ".gz");
}

/* What hook/plimsoll_capture reads. */
static void trace_set_environment(const struct request *r, const char *output, const char *status)
{
    char number[16];
    snprintf(number, sizeof number, "%d", r->iterations);
    setenv("PLIMSOLL_CAPTURE", r->what, 1);
    setenv("PLIMSOLL_CAPTURE_OUTPUT", output, 1);
    setenv("PLIMSOLL_CAPTURE_PACKED", is_packed(r->output) ? "yes" : "no", 1);
    setenv("PLIMSOLL_CAPTURE_STATUS", status, 1);
    setenv("PLIMSOLL_CAPTURE_ITERATIONS", number, 1);
    setenv("PLIMSOLL_CAPTURE_COMPUTE", r->compute ? "yes" : "no", 1);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    /* A compiled model has no operators that a profiler sees, and compiling needs a compiler. */
    setenv("TORCHDYNAMO_DISABLE", "1", 1);
    /* The profiler would say that there is no GPU, and of every block that is older than the trace. */
    setenv("KINETO_LOG_LEVEL", "9", 0);
    setenv("TORCH_CPP_LOG_LEVEL", "ERROR", 0);
}

/* Each process writes to a file of its own first, MADE.PID.json, and one that was killed leaves it. */
static void pieces_delete(const char *made)
{
    const char *name = strrchr(made, '/') + 1;
    const size_t length = strlen(name);
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *folder;
    snprintf(path, sizeof path, "%.*s", (int)(name - made), made);
    folder = opendir(path);
    while (folder && (entry = readdir(folder)))
        if (!strncmp(entry->d_name, name, length) && entry->d_name[length] == '.' &&
            snprintf(path, sizeof path, "%.*s%s", (int)(name - made), made, entry->d_name) < (int)sizeof path)
            unlink(path);
    if (folder)
        closedir(folder);
}

static int trace_job(const struct request *r, const struct plm_cli_launch *launch, struct plm_output *output,
                     const char *made)
{
    struct status s = {0};
    struct plm_error error;
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];
    int fd, failure, status = 0;
    pid_t child;
    snprintf(path, sizeof path, "%.3000s/plimsoll-capture.XXXXXX", folder && *folder ? folder : "/tmp");
    fd = plm_temporary_file(path, 0);
    if (fd < 0)
        return plm_complain(PLM_EXIT_CANNOT, "cannot create a temporary file; set TMPDIR to another folder");
    close(fd);
    s.path = path;
    trace_set_environment(r, made, path);
    if (r->no_argv)
        setenv("PLIMSOLL_CAPTURE_COMMAND", "", 1);
    else
        command_set_environment(launch->command);
    plm_child_forward_signals();
    child = plm_cli_launch_start(launch, &failure);
    if (child > 0) {
        status = plm_await(child, show_status, &s);
        read_status(&s);
        pieces_delete(made);
    }
    plm_temporary_remove(path);
    if (child < 0)
        return plm_could_not_start(launch->command, failure);
    if (s.written && plm_output_keep(output, &error) < 0)
        return plm_fault(&error);
    return trace_judge(r, &s, status, launch->command);
}

/* The card is never seen: the command has no GPU. But the libraries that stand in for NVIDIA's want to know one. */
static int trace_capture(struct request *r, char **command)
{
    struct plm_cli_launch launch = {.gpus = 1, .detail = "off", .assume = PLM_ASSUME_NOTHING};
    struct plm_catalogue catalogue;
    struct plm_output output;
    struct plm_error error;
    char path[PATH_MAX];
    int status = trace_prepare(r, command, &output, path, sizeof path);
    if (status)
        return status;
    if (plm_catalogue_open(&catalogue, &error) < 0 ||
        plm_catalogue_find(&catalogue, "a100-80gb", &launch.gpu, &error) < 0) {
        plm_output_drop(&output);
        return plm_fault(&error);
    }
    launch.install = &catalogue.install;
    launch.entry = catalogue.install.capture;
    launch.command = command;
    status = trace_job(r, &launch, &output, path);
    plm_output_drop(&output); /* where it was not kept */
    plm_catalogue_free(&catalogue);
    return status;
}

static const struct plm_option trace_options[] = {
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE",
     .help = "the trace (default plimsoll-<script>.<pid>.trace.json.gz)", .complete = PLM_COMPLETE_FILE},
    {.include = plm_cli_option_force, .at = AT(force)},
    {"no-compute", 0, PLM_OPTION_FLAG, AT(no_compute), .help = "allocate outputs without computing them (much faster)"},
    {"iterations", 0, PLM_OPTION_NUMBER, AT(iterations), "N",
     .help = "iterations to run; the first is not recorded (default 4)", .least = ITERATIONS_LEAST,
     .most = ITERATIONS_MOST},
    {"no-argv", 0, PLM_OPTION_FLAG, AT(no_argv), .help = "leave the command's arguments out of the file"},
    {0},
};
static const struct plm_option describe_options[] = {
    {"output", 'o', PLM_OPTION_TEXT, AT(output), "FILE",
     .help = "the file (default plimsoll-<script>.<pid>.description.json)", .complete = PLM_COMPLETE_FILE},
    {.include = plm_cli_option_force, .at = AT(force)},
    {"compute", 0, PLM_OPTION_FLAG, AT(compute), .help = "compute operators, instead of only allocating their outputs"},
    {"no-argv", 0, PLM_OPTION_FLAG, AT(no_argv), .help = "leave the command's arguments out of the file"},
    {0},
};

/* Options and the command after them; what is left to do after an exit status of 0. */
static int capture_parse(struct request *r, const struct plm_command *c, int argc, char **argv, int *rest)
{
    struct plm_error error;
    r->what = c->name;
    if (plm_options_parse(c->options, r, c->name, argc, argv, rest, &error) < 0)
        return plm_fault(&error);
    if (*rest == argc)
        return plm_complain_of(PLM_EXIT_USAGE, "no command given; write `plimsoll %s -- python train.py`", c->name);
    return PLM_EXIT_OK;
}

static int trace_run(int argc, char **argv)
{
    struct request r = {.iterations = ITERATIONS_TRACED};
    int rest, status = capture_parse(&r, &plm_command_trace, argc, argv, &rest);
    r.compute = !r.no_compute;
    return status ? status : trace_capture(&r, argv + rest);
}

static int describe_run(int argc, char **argv)
{
    struct request r = {.iterations = ITERATIONS_DESCRIBED};
    int rest, status = capture_parse(&r, &plm_command_describe, argc, argv, &rest);
    return status ? status : trace_capture(&r, argv + rest);
}

const struct plm_command plm_command_trace = {
    .name = "trace",
    .line = "run a command on the CPU under PyTorch's profiler (for estimate)",
    .words = "-- COMMAND...",
    .options = trace_options,
    .example = {"plimsoll trace --no-compute -o job.trace.json.gz -- python train.py --batch 64"},
    .exit = {{PLM_EXIT_NOTHING, "the command made fewer than three iterations, or never imported torch"}},
    .run = trace_run,
};

const struct plm_command plm_command_describe = {
    .name = "describe",
    .line = "save a command's model, batch and optimizer (for estimate)",
    .words = "-- COMMAND...",
    .options = describe_options,
    .example = {"plimsoll describe -o job.json -- python train.py --batch 64"},
    .exit = {{PLM_EXIT_NOTHING, "the command made fewer than two iterations, or never imported torch"},
             {PLM_EXIT_CANNOT, "no module has the optimizer's parameters, or a file cannot be written"}},
    .run = describe_run,
};
