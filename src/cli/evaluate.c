#include "cli/evaluate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "base/temporary.h"
#include "base/words.h"

/* ---- the sides ---- */

/* In the order in which a table is asked about; `plimsoll help evaluate` has the same as commands. */
static const struct plm_cli_evaluate_side *const sides[] = {&plm_cli_evaluate_classes, &plm_cli_evaluate_time,
                                                            &plm_cli_evaluate_memory};
enum { SIDES = sizeof sides / sizeof sides[0] };
static const struct plm_command *const commands[] = {&plm_cli_evaluate_memory.command, &plm_cli_evaluate_time.command,
                                                     &plm_cli_evaluate_classes.command, NULL};

#define COMMON(field) offsetof(struct plm_cli_evaluate, field)
const struct plm_option plm_cli_evaluate_options[] = {
    {"workloads", 0, PLM_OPTION_TEXT, COMMON(workloads), "FOLDER",
     .help = "folder with the workload scripts and their workloads.ini", .complete = PLM_COMPLETE_FOLDER,
     .configurable = true, .own = true},
    {"python", 0, PLM_OPTION_TEXT, COMMON(python), "PROGRAM",
     .help = "the interpreter that has PyTorch (default python3)", .complete = PLM_COMPLETE_PROGRAM,
     .configurable = true, .own = true},
    {"seed", 0, PLM_OPTION_NUMBER, COMMON(seed), "N", .help = "random seed for draws and bootstrap (default 1)",
     .configurable = true},
    {.include = plm_cli_option_force, .at = COMMON(force)},
    {.include = plm_cli_option_json_file, .at = COMMON(file[PLM_RESULT_JSON])},
    {"csv", 0, PLM_OPTION_TEXT, COMMON(file[PLM_RESULT_ROWS]), "FILE", .help = "also write a line for each row",
     .complete = PLM_COMPLETE_FILE, .among = "csv"},
    {"figures", 0, PLM_OPTION_TEXT, COMMON(file[PLM_RESULT_FIGURES]), "FILE",
     .help = "also write a line for each family and estimator", .complete = PLM_COMPLETE_FILE, .among = "csv"},
    {"html", 0, PLM_OPTION_TEXT, COMMON(file[PLM_RESULT_PAGE]), "FILE", .help = "also write a page with plots",
     .complete = PLM_COMPLETE_FILE, .among = "html"},
    {.include = plm_cli_option_color, .at = COMMON(look.color)},
    {0},
};

#define RUNS(field) offsetof(struct plm_cli_evaluate_runs, field)
const struct plm_option plm_cli_evaluate_runs_options[] = {
    {"jobs", 'j', PLM_OPTION_NUMBER, RUNS(jobs), "N",
     .help = "processes to run at the same time (default: one per core)", .least = 1, .most = 4096,
     .configurable = true},
    {"gpu", 0, PLM_OPTION_TEXT, RUNS(gpu), "NAME", .help = "simulate this GPU instead of each row's own",
     .complete = PLM_COMPLETE_CARD, .configurable = true},
    {"stack", 0, PLM_OPTION_TEXT, RUNS(stack), "NAME", .help = "stack file for the runs, as in run",
     .complete = PLM_COMPLETE_STACK, .among = "auto none", .configurable = true},
    {"match", 'k', PLM_OPTION_TEXT, RUNS(pattern), "TEXT", .help = "only rows whose name contains TEXT"},
    {"output", 'o', PLM_OPTION_TEXT, RUNS(folder), "FOLDER", .help = "keep the results in FOLDER",
     .complete = PLM_COMPLETE_FOLDER},
    {"resume", 0, PLM_OPTION_FLAG, RUNS(resume), .help = "continue from the results in the folder"},
    {0},
};

struct plm_cli_evaluate_runs plm_cli_evaluate_runs_default(void)
{
    return (struct plm_cli_evaluate_runs){.jobs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
}

/* ---- which side a table is for ---- */

static const struct plm_option *option_find(const char *word, struct plm_option row[PLM_OPTIONS_MOST])
{
    const size_t n = strcspn(word, "=");
    for (int side = 0; side < SIDES; side++) {
        const size_t rows = plm_command_options(&sides[side]->command, row);
        for (size_t i = 0; i < rows; i++)
            if ((word[1] == row[i].letter && !word[2]) ||
                (word[1] == '-' && n == strlen(row[i].name) + 2 && !strncmp(word + 2, row[i].name, n - 2)))
                return &row[i];
    }
    return NULL;
}

/* The first word that is neither an option of any side nor the value of one; NULL: none. */
static const char *table_find(int argc, char **argv)
{
    struct plm_option row[PLM_OPTIONS_MOST];
    for (int i = 0; i < argc; i++) {
        const struct plm_option *o;
        if (argv[i][0] != '-' || !argv[i][1])
            return argv[i];
        if (!strcmp(argv[i], "--"))
            return i + 1 < argc ? argv[i + 1] : NULL;
        o = option_find(argv[i], row);
        if (o && o->argument && o->type != PLM_OPTION_OUTPUT && !strchr(argv[i], '='))
            i++;
    }
    return NULL;
}

/* One that cannot be read is for the last side, which complains of it. */
static const struct plm_cli_evaluate_side *side_find(int argc, char **argv)
{
    const char *path = table_find(argc, argv);
    const int last = SIDES - 1;
    struct plm_csv table;
    int at = 0;
    if (!path || plm_csv_read(path, &table, NULL) < 0)
        return sides[last];
    while (at < last && !sides[at]->knows(&table))
        at++;
    plm_csv_free(&table);
    return sides[at];
}

static const struct plm_command *evaluate_side(int argc, char **argv)
{
    return table_find(argc, argv) ? &side_find(argc, argv)->command : NULL;
}

static int evaluate_run(int argc, char **argv)
{
    return side_find(argc, argv)->command.run(argc, argv);
}

/* ---- what is asked ---- */

/* The first word may have been meant as what is judged. */
static int words_refuse(const char *first, struct plm_error *error)
{
    struct plm_nearest nearest = {.typed = first};
    for (int i = 0; i < SIDES; i++)
        plm_nearest_see(&nearest, plm_side_name(&sides[i]->command));
    if (nearest.best)
        return plm_fail(error, PLM_EINVAL, "there is no `plimsoll evaluate %.40s`; did you mean %s?", first,
                        nearest.best);
    return plm_fail(error, PLM_EINVAL, "one table at a time; write `plimsoll evaluate TABLE.csv`");
}

int plm_cli_evaluate_parse(const struct plm_cli_evaluate_side *side, void *request, int argc, char **argv,
                           struct plm_error *error)
{
    struct plm_option options[SIDES + 1] = {{.include = side->command.options}};
    struct plm_cli_evaluate *e = request;
    int rows = 1, words, status;
    for (int i = 0; i < SIDES; i++)
        if (sides[i] != side)
            options[rows++] =
                (struct plm_option){.include = sides[i]->command.options, .elsewhere = sides[i]->command.name};
    status = plm_options_among(options, request, side->command.name, argc, argv, &e->table, 1, &words, error);
    if (status < 0)
        return status;
    if (words > 1)
        return words_refuse(e->table, error);
    if (strchr(e->python, '/') && access(e->python, X_OK)) /* the program in each child sees its own PATH */
        return plm_fail(error, PLM_EINVAL, "--python %.200s: %s", e->python, strerror(errno));
    return 0;
}

int plm_cli_evaluate_runs_check(const struct plm_cli_evaluate_runs *runs, struct plm_error *error)
{
    if (runs->folder && !strcmp(runs->folder, "-"))
        return plm_fail(error, PLM_EINVAL, "-o names a folder; --csv - writes a line for each row to standard output");
    if (runs->resume && !runs->folder)
        return plm_fail(error, PLM_EINVAL, "--resume needs -o FOLDER with the earlier results");
    return 0;
}

int plm_cli_evaluate_no_table(struct plm_error *error)
{
    return plm_fail(error, PLM_EINVAL, "no table given; write `plimsoll evaluate TABLE.csv`");
}

bool plm_cli_evaluate_next(const char **list, char *word, size_t size)
{
    const size_t n = *list ? strcspn(*list, ",") : 0;
    if (!*list)
        return false;
    snprintf(word, size, "%.*s", (int)n, *list);
    *list = (*list)[n] ? *list + n + 1 : NULL;
    return true;
}

/* ---- what is read ---- */

int plm_cli_evaluate_parts_read(const char *workloads, struct plm_cli_evaluate_parts *p, struct plm_error *error)
{
    const int status = plm_workloads_read(workloads, &p->install, &p->workloads, error);
    return status ? status : plm_catalogue_load(&p->catalogue, &p->install, error);
}

void plm_cli_evaluate_parts_free(struct plm_cli_evaluate_parts *p)
{
    plm_catalogue_free(&p->catalogue);
}

struct plm_bench_common plm_cli_evaluate_common(const struct plm_cli_evaluate *evaluate,
                                                const struct plm_cli_evaluate_runs *runs,
                                                struct plm_cli_evaluate_parts *parts)
{
    return (struct plm_bench_common){.catalogue = &parts->catalogue,
                                     .workloads = &parts->workloads,
                                     .python = evaluate->python,
                                     .gpu = runs->gpu,
                                     .stack = runs->stack,
                                     .pattern = runs->pattern,
                                     .folder = runs->folder,
                                     .scratch = runs->scratch,
                                     .jobs = runs->jobs};
}

/* ---- the folder of records and results ---- */

int plm_cli_evaluate_folder_make(struct plm_cli_evaluate_runs *runs, const struct plm_cli_evaluate_lines lines[2],
                                 struct plm_error *error)
{
    if (!runs->folder)
        return 0;
    runs->made = mkdir(runs->folder, 0777) == 0;
    if (!runs->made && errno != EEXIST)
        return plm_fail(error, PLM_EINVAL, "cannot make the folder %.200s: %s", runs->folder, strerror(errno));
    for (int i = 0; i < 2; i++)
        if (lines[i].name)
            snprintf(runs->lines[i], sizeof runs->lines[i], "%.3900s/%s", runs->folder, lines[i].name);
    return 0;
}

/* Another table of that name is neither added to nor replaced: the user has named the folder, and not the file. */
static int lines_check(const char *path, const char *head, bool resume, bool force, struct plm_error *error)
{
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char start[256] = "";
    ssize_t n;
    int status = 0;
    if (file < 0)
        return plm_fail(error, PLM_EIO, "cannot use %.200s: %s", path,
                        errno == ELOOP ? "it is a link" : strerror(errno));
    n = pread(file, start, strlen(head), 0);
    if (n && strncmp(start, head, strlen(head)) != 0)
        status =
            plm_fail(error, PLM_EINVAL,
                     "%.200s is not a table of `plimsoll evaluate`; rename it, or name another folder with -o", path);
    else if (!resume && !force)
        status = plm_fail(error, PLM_EINVAL, "%.200s exists; use --resume to continue or -f to replace it", path);
    else if (!resume && plm_ours_remove(path, file))
        status = plm_fail(error, PLM_EIO, "cannot remove %.200s: %s", path, strerror(errno));
    close(file);
    return status;
}

int plm_cli_evaluate_folder_open(const struct plm_cli_evaluate *e, struct plm_cli_evaluate_runs *runs,
                                 const struct plm_cli_evaluate_lines lines[2], struct plm_error *error)
{
    int status = 0;
    for (int i = 0; i < 2 && status == 0; i++)
        if (*runs->lines[i] && access(runs->lines[i], F_OK) == 0)
            status = lines_check(runs->lines[i], lines[i].head, runs->resume, e->force, error);
    if (status == 0)
        status = plm_scratch_make("evaluate", runs->scratch, error);
    if (!runs->folder)
        runs->folder = runs->scratch;
    return status;
}

/* Without -o, logs of failed workloads go too: their last line was told. */
void plm_cli_evaluate_folder_close(struct plm_cli_evaluate_runs *runs)
{
    if (runs->made)
        rmdir(runs->folder); /* where nothing came of it */
    plm_scratch_remove(runs->scratch);
}

/* ---- what comes out ---- */

struct plm_result_files plm_cli_evaluate_files(const struct plm_cli_evaluate *e,
                                               const struct plm_cli_evaluate_runs *runs,
                                               const char *const others[PLM_EVALUATE_OTHERS])
{
    struct plm_result_files files = {.rule = {.force = e->force, .input = {e->table}}};
    const char **input = files.rule.input + 1;
    for (int i = 0; i < PLM_RESULT_FILES; i++)
        *input++ = files.path[i] = e->file[i];
    for (int i = 0; runs && i < 2; i++)
        *input++ = *runs->lines[i] ? runs->lines[i] : NULL;
    for (int i = 0; i < PLM_EVALUATE_OTHERS; i++)
        *input++ = others[i];
    return files;
}
_Static_assert(1 + PLM_RESULT_FILES + 2 + PLM_EVALUATE_OTHERS <= PLM_OUTPUT_INPUTS, "a rule has room for them");

int plm_cli_evaluate_files_check(const struct plm_result_files *files, const struct plm_cli_evaluate_runs *runs,
                                 struct plm_error *error)
{
    struct plm_output_rule rule = files->rule;
    int status = 0;
    rule.force = true; /* of these, plm_cli_evaluate_folder_open() decides */
    for (int i = 0; runs && i < 2 && status == 0; i++)
        if (*runs->lines[i])
            status = plm_output_check(runs->lines[i], &rule, error);
    return status ? status : plm_result_check(files, error);
}

int plm_cli_evaluate_show(const struct plm_cli_evaluate *e, const struct plm_result_files *files,
                          const struct plm_result *result, const void *what, struct plm_error *error)
{
    const struct plm_page page = plm_look_page(&e->look, stdout);
    return plm_result_show(result, what, files, &page, error);
}

void plm_cli_evaluate_progress(size_t done, size_t failed, size_t all, double seconds, size_t made, void *what)
{
    char left[48] = "", wrong[48] = "";
    if (made && done < all) {
        double rest = seconds / (double)made * (double)(all - done);
        if (rest < 90)
            snprintf(left, sizeof left, ", about %.0f s left", rest);
        else
            snprintf(left, sizeof left, ", about %.0f min left", rest / 60);
    }
    if (failed)
        snprintf(wrong, sizeof wrong, ", %zu failed", failed);
    fprintf(stderr, "\r\033[Kplimsoll: %zu of %zu %s%s%s", done, all, (const char *)what, wrong, left);
    if (done == all)
        fputs("\r\033[K", stderr);
    fflush(stderr);
}

/* ---- the command ---- */

const struct plm_command plm_command_evaluate = {
    .name = "evaluate",
    .line = "compare estimates with runs on real GPUs",
    .words = "TABLE.csv",
    .options = plm_cli_evaluate_options,
    .sides = commands,
    .side = evaluate_side,
    .complete = PLM_COMPLETE_FILE,
    .among = "csv",
    .example = {"plimsoll evaluate truth.csv --python venv/bin/python -o results",
                "plimsoll evaluate time times.csv --gpu rtx3090 --html times.html"},
    .exit = {{PLM_EXIT_COMMAND, "a workload failed"}, {PLM_EXIT_NOTHING, "a table cannot be read or understood"}},
    .run = evaluate_run,
};
