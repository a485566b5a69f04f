/* What the sub-commands share; commands.h is their table. Functions that return an exit status have complained. */
#ifndef PLM_CLI_H
#define PLM_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli/assume.h"

struct plm_card;
struct plm_catalogue;
struct plm_catalogue_entry;
struct plm_error;
struct plm_install;
struct plm_job;
struct plm_page;
struct plm_report_options;
struct plm_pen;

enum plm_exit {
    PLM_EXIT_OK = 0,
    PLM_EXIT_NO_FIT = 1,
    PLM_EXIT_USAGE = 2,
    PLM_EXIT_COMMAND = 3,     /* the user's command failed */
    PLM_EXIT_UNTRUSTED = 4,   /* --strict */
    PLM_EXIT_CANNOT = 125,    /* plimsoll itself could not do it */
    PLM_EXIT_NOT_RUNNABLE = 126,
    PLM_EXIT_NOT_FOUND = 127,
};

/* scratch.c: a temporary folder of files, in $TMPDIR or /tmp; removed with what is in it. 0, or PLM_EIO with a sentence and folder "". */
enum { PLM_SCRATCH = 3900 };
int plm_scratch_make(const char *purpose, char folder[PLM_SCRATCH], struct plm_error *error);
void plm_scratch_remove(char folder[PLM_SCRATCH]); /* nothing for "" */

/* main.c: "plimsoll: sentence" on stderr; returns `status`. */
int plm_complain(int status, const char *sentence);

/* look.c: what --bytes and --color ask for; plm_option_look has the rows. */
struct plm_look {
    bool bytes;
    const char *color; /* auto, always or never */
};
#define PLM_LOOK {.color = "auto"}
/* With the terminal of standard output and the locale. */
struct plm_page plm_look_page(const struct plm_look *look, FILE *out);
struct plm_report_options plm_look_at(const struct plm_look *look);

/* cards.c: fills `cards` (PLM_REPORT_CARDS) with those of a list "rtx3060,l4"; without a list, with the
   job's own and some common ones, by memory. Returns their number, or a negative PLM_E code. */
int plm_cards_choose(struct plm_catalogue *catalogue, const struct plm_install *install, const char *list,
                     const char *own, struct plm_card *cards, struct plm_error *error);

#define PLM_STEPS_STEADY (-1)

/* report_html.c: `report --html OUT`; "-" is stdout. */
int plm_report_page(const struct plm_job *job, const char *record, const char *out);

/* launch.c: starts a command on the virtual device. */
struct plm_launch {
    const struct plm_install *install;
    const struct plm_catalogue_entry *gpu;
    int gpus;
    int steps; /* 0: until the command exits; PLM_STEPS_STEADY: until its memory no longer changes */
    bool bounded;
    uint64_t usable; /* of the card, measured; 0: as the catalogue has it. With `bounded` */
    uint64_t context; /* what it takes, measured for this software; 0: the model decides. With `bounded` */
    const char *detail; /* "full", "low", "off" */
    struct plm_assume assume;
    const char *stack; /* absolute path of a stack file; NULL: none */
    const char *record; /* absolute path */
    const char *entry; /* folder of a sitecustomize.py to enter Python by, in place of the hook; NULL: the hook */
    char **command;
    bool silent; /* the command reads and writes nothing */
};
/* Returns the child's pid; or -1 with the errno of exec or fork in *failure. */
pid_t plm_launch_start(const struct plm_launch *launch, int *failure);
/* Runs it to its end, as plm_child_ask() does. */
int plm_launch_ask(const struct plm_launch *launch, int seconds, char *answer, size_t size);

/* progress.c: writes what the line on stderr says of a command that runs. */
typedef void plm_progress_text(char *out, size_t size, void *context);
/* The same for one that writes a record; the context is its struct plm_record_header. */
void plm_progress_of_record(char *out, size_t size, void *header);

/* command.c: what the sub-commands that start a command share. */
/* What the job is called: the first word that names a Python file, else the program. */
void plm_job_name(char *out, size_t size, char **command);
/* 0, or -1 if the path does not fit. */
int plm_absolute(char *out, size_t size, const char *path);
/* Puts ours before the user's own value of an environment variable with colons. */
void plm_prepend(const char *name, const char *value);
/* Waits for the command, showing progress; its wait status. */
int plm_await(pid_t child, plm_progress_text *text, void *context);
/* Says that exec failed with this errno; the exit status for it. */
int plm_could_not_start(const char *command, int failure);

/* other_end.c: runs the command again with the other extreme of what can be assumed; notes with the pen what it
   needed. False: it ended differently from the first run. */
bool plm_other_end(struct plm_pen *pen, const struct plm_launch *first, int command_status);

/* progress.c: one line on stderr while the command runs; does nothing without a terminal. */
struct plm_progress {
    bool active;
    unsigned tick;
    int rows;
};
void plm_progress_start(struct plm_progress *progress);
void plm_progress_show(struct plm_progress *progress, plm_progress_text *text, void *context);
void plm_progress_stop(struct plm_progress *progress);

#endif
