/*
 * What the sides of `plimsoll evaluate` share: memory, time and classes, each in evaluate_SIDE.c. A side is a row of one
 * table in evaluate.c: its command (name, what it judges, options, what runs) and how its tables are known.
 *
 * Strings of a request belong to the command line, the environment and the configuration. Functions fail with a sentence
 * unless they return an exit status. One thread.
 */
#ifndef PLM_CLI_EVALUATE_H
#define PLM_CLI_EVALUATE_H

#include <limits.h>
#include <stdbool.h>

#include "base/catalogue.h"
#include "base/install.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "report/result.h"
#include "study/evaluate/bench.h"
#include "study/evaluate/workload.h"

struct plm_cli_evaluate_side {
    struct plm_command command; /* "evaluate time" */
    bool (*knows)(const struct plm_csv *table); /* is such a table for it? NULL: if it is for no other */
};
extern const struct plm_cli_evaluate_side plm_cli_evaluate_memory, plm_cli_evaluate_time, plm_cli_evaluate_classes;

/* What every side is asked; a request of a side begins with it. */
struct plm_cli_evaluate {
    const char *table; /* NULL: none was given */
    const char *workloads, *python;
    int seed;
    bool force;
    const char *file[PLM_RESULT_FILES];
    struct plm_look look;
};
extern const struct plm_option plm_cli_evaluate_options[]; /* of a struct plm_cli_evaluate */
#define PLM_EVALUATE {.python = "python3", .seed = 1, .look = PLM_LOOK}

/* What those are asked that run the jobs of rows, and the folder of what came of them. */
struct plm_cli_evaluate_runs {
    const char *gpu, *stack, *pattern;
    const char *folder; /* the temporary one, if none was given */
    int jobs;
    bool resume, made; /* made: the folder was not there */
    char scratch[PLM_SCRATCH]; /* a temporary folder */
    char lines[2][PATH_MAX];   /* of a folder that was given: what runs add to; "": none */
};
extern const struct plm_option plm_cli_evaluate_runs_options[]; /* of a struct plm_cli_evaluate_runs */
struct plm_cli_evaluate_runs plm_cli_evaluate_runs_default(void);

/* The words of a side, into its request. Options of other sides are refused with their name. */
int plm_cli_evaluate_parse(const struct plm_cli_evaluate_side *side, void *request, int argc, char **argv,
                           struct plm_error *error);
int plm_cli_evaluate_runs_check(const struct plm_cli_evaluate_runs *runs, struct plm_error *error);
int plm_cli_evaluate_no_table(struct plm_error *error); /* fails: a table is needed */
/* The next word of a list with commas, cut to fit; false: there is none. Begin with the list. */
bool plm_cli_evaluate_next(const char **list, char *word, size_t size);

/* What was read before anything runs. */
struct plm_cli_evaluate_parts {
    struct plm_install install;
    struct plm_workloads workloads;
    struct plm_catalogue catalogue;
};
int plm_cli_evaluate_parts_read(const char *workloads, struct plm_cli_evaluate_parts *parts, struct plm_error *error);
void plm_cli_evaluate_parts_free(struct plm_cli_evaluate_parts *parts);
/* How the jobs of rows are run, as it was asked. Points into all three. */
struct plm_bench_common plm_cli_evaluate_common(const struct plm_cli_evaluate *evaluate,
                                                const struct plm_cli_evaluate_runs *runs,
                                                struct plm_cli_evaluate_parts *parts);

/* The files of a folder that runs add lines to, and how they begin: a file that does not is somebody else's. */
struct plm_cli_evaluate_lines {
    const char *name, *head; /* NULL: none */
};
/* Makes the folder and names these files in it. */
int plm_cli_evaluate_folder_make(struct plm_cli_evaluate_runs *runs, const struct plm_cli_evaluate_lines lines[2],
                                 struct plm_error *error);
/* Begins them anew or goes on with them, as the options say, and makes the temporary folder. */
int plm_cli_evaluate_folder_open(const struct plm_cli_evaluate *evaluate, struct plm_cli_evaluate_runs *runs,
                                 const struct plm_cli_evaluate_lines lines[2], struct plm_error *error);
void plm_cli_evaluate_folder_close(struct plm_cli_evaluate_runs *runs);

/* The files that are asked for. None of them is what the command reads or writes besides: these, and `others`. */
enum { PLM_EVALUATE_OTHERS = 3 };
struct plm_result_files plm_cli_evaluate_files(const struct plm_cli_evaluate *evaluate,
                                               const struct plm_cli_evaluate_runs *runs,
                                               const char *const others[PLM_EVALUATE_OTHERS]);
/* Would one of them, or a file of the folder, be refused when all is done? */
int plm_cli_evaluate_files_check(const struct plm_result_files *files, const struct plm_cli_evaluate_runs *runs,
                                 struct plm_error *error);
int plm_cli_evaluate_show(const struct plm_cli_evaluate *evaluate, const struct plm_result_files *files,
                          const struct plm_result *result, const void *what, struct plm_error *error);

/* On standard error. */
void plm_cli_evaluate_progress(size_t done, size_t failed, size_t all, double seconds, size_t made, void *what);

#endif
