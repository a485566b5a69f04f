/*
 * Running a command on the virtual GPU, for the sub-commands that do: their options, the run, and what it came to.
 * One at a time in a process: the record and the signals belong to it.
 */
#ifndef PLM_RUN_H
#define PLM_RUN_H

#include <stdbool.h>

#include "base/options.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/rank.h"

struct plm_run {
    char default_output[256]; /* where `output` leads if it was not given */
    const char *gpu, *output, *json, *detail, *assume, *stack, *topology;
    int gpus, steps;
    bool bounded, force, strict, allow_tight, until_exit, no_argv, both_ends, no_stacks, no_retry;
    bool full; /* the whole report, not a screen of it */
    bool keep; /* the record of a run that failed too: rows of a table may have ended well in it */
    bool retry; /* one that ran out of memory: see what it needs. Without a world */
    struct plm_look look;
    struct plm_cli_world_options world;
    char **command; /* what is run */
    struct plm_forks *forks; /* the command is a fork, if it can be; NULL: it is started by itself */
    struct plm_warm *warm; /* to fork ranks from; NULL: the run makes its own */
};

#define PLM_RUN_UNTRUSTED "the confidence is not high (--strict)"

/* The values without options, and the options, for a struct plm_run. Without --gpu PLM_RUN_CARD is played, and nobody
   asked whether the job fits on it. */
#define PLM_RUN_CARD "a100-80gb"
#define PLM_RUN      {.look = PLM_LOOK, .detail = "full", .steps = PLM_STEPS_STEADY}
extern const struct plm_option plm_run_options[];

/* How a command ended. Valid while the function that is given it runs. */
struct plm_run_end {
    const struct plm_run *run;
    const struct plm_job *job;
    const struct plm_works *works;            /* what it launched; NULL: nothing, or not recorded */
    const struct plm_card *card;              /* that was played */
    const struct plm_report_options *options; /* to show the job with */
    int result;                               /* enum plm_exit: 0 if it ended well and used the GPU */
    const char *why;                          /* if not: a sentence */
};
typedef int plm_run_show(const struct plm_run_end *end, void *context);

/* Runs the command, then `show`, whose answer it returns. What prevents that is told on stderr, and is an exit
   status as well. */
int plm_run_command(struct plm_run *run, char **command, plm_run_show *show, void *context);

/* The report that --json asks for, if it does. */
struct plm_output_part plm_run_document(const struct plm_run_end *end);
/* Can the run say what the job needs, and does that fit on one of the cards that the user named, if any? An exit status; a
   sentence if there is no verdict, and with `tell` also if it is tight or no. */
int plm_run_judge_cards(const struct plm_run_end *end, bool tell);
/* Does the document take stdout? */
bool plm_run_quiet(const struct plm_run *run);

#endif
