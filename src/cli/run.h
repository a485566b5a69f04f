/*
 * Running a command on the virtual GPU, for the sub-commands that do: their options, the run, and what it came to.
 * One at a time in a process: the record and the signals belong to it.
 */
#ifndef PLM_RUN_H
#define PLM_RUN_H

#include <stdbool.h>

struct plm_job;
struct plm_option;
struct plm_report_options;

struct plm_run {
    char default_output[256]; /* where `output` leads if it was not given */
    const char *gpu, *output, *json, *color, *detail, *assume, *stack;
    int gpus, steps;
    bool bounded, force, bytes, strict, until_exit;
};

#define PLM_RUN_UNTRUSTED "the confidence is not high, and --strict asks for that"

/* Sets the defaults and fills the table of options that set the rest. */
enum { PLM_RUN_OPTIONS = 14 };
void plm_run_options(struct plm_run *run, struct plm_option table[PLM_RUN_OPTIONS]);

/* How a command ended. Valid while the function that is given it runs. */
struct plm_run_end {
    const struct plm_run *run;                /* output: the record */
    const struct plm_job *job;
    const struct plm_report_options *options; /* to show the job with */
    int result;                               /* enum plm_exit: 0 if it ended well and used the GPU */
    const char *why;                          /* if not: a sentence */
};
typedef int plm_run_show(const struct plm_run_end *end, void *context);

/* Runs the command, then `show`, whose answer it returns. What prevents that is told on stderr, and is an exit
   status as well. */
int plm_run_command(struct plm_run *run, char **command, plm_run_show *show, void *context);

/* Writes the report that --json asks for, if it does; an exit status. */
int plm_run_document(const struct plm_run_end *end);
/* Does that take stdout? */
bool plm_run_quiet(const struct plm_run *run);

#endif
