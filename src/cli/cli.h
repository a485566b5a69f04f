/* What the sub-commands share; commands.h is their table. Functions that return an exit status have complained. */
#ifndef PLM_CLI_H
#define PLM_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/status.h"
#include "fit/ladder.h"

struct plm_card;
struct plm_cli_awaited;
struct plm_catalogue;
struct plm_catalogue_entry;
struct plm_error;
struct plm_install;
struct plm_job;
struct plm_margin;
struct plm_method;
struct plm_page;
struct plm_record_header;
struct plm_report_options;
struct plm_pen;
struct plm_stack_entry;
struct plm_topology_entry;
struct plm_stack_list;

/* verdict.c: says what an error says; the exit status for its code. */
int plm_fault(const struct plm_error *error);
/* The status for a verdict, of the best card where there are several; and for what a record cannot decide: 0 if it can. */
int plm_cli_verdict_status(enum plm_verdict verdict, bool allow_tight);
int plm_cli_known_status(const struct plm_job *job);

/* command.c: a temporary folder of files, in $TMPDIR or /tmp; removed with what is in it. 0, or PLM_EIO with a sentence and folder "". */
enum { PLM_SCRATCH = 3900 };
int plm_scratch_make(const char *purpose, char folder[PLM_SCRATCH], struct plm_error *error);
void plm_scratch_remove(char folder[PLM_SCRATCH]); /* nothing for "" */

/* main.c: "plimsoll: sentence" on stderr, safe to show whatever names are in it; returns `status`. */
int plm_complain(int status, const char *sentence);
int plm_complain_of(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* look.c: what --bytes and --color ask for; plm_cli_option_look has the rows. */
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
int plm_cards_choose(struct plm_catalogue *catalogue, const char *list, const char *own, struct plm_card *cards,
                     struct plm_error *error);
/* The first of a list, if all of them are there; 0 or a negative PLM_E code. */
int plm_cards_first(struct plm_catalogue *catalogue, const char *list, const struct plm_catalogue_entry **entry,
                    struct plm_error *error);
/* The hourly prices of a list "rtx4090=0.5,l4=0.8" (NULL: none), for those of these cards that it names. 0, or a negative PLM_E code. */
int plm_cards_prices(struct plm_catalogue *catalogue, const char *list, const struct plm_card *card, size_t cards,
                     double *price, struct plm_error *error);
/* What --margin asks for; NULL: nothing. 0, or PLM_EINVAL with a sentence. */
int plm_cli_margin_parse(const char *text, struct plm_margin *margin, struct plm_error *error);
/* options->asked for one of options->card, or for all of them if `only` is NULL. */
uint32_t plm_cards_asked(const struct plm_report_options *options, const char *only);
/* The same for the card that the run was given by name. Records of before that was noted do not say whether it was. */
uint32_t plm_cards_recorded(const struct plm_report_options *options, const struct plm_job *job);

/* estimate.c: the methods of a list "xmem,horus", or "all"; each once. Returns their number, or PLM_EINVAL with a sentence. */
/* What to write for the options that named models by their kind. */
#define PLM_MODEL_INSTEAD "--model FILE accepts a model of `plimsoll train` for any method"
enum { PLM_ESTIMATE_METHODS = 64 };
int plm_cli_methods_choose(const char *list, const struct plm_method *chosen[PLM_ESTIMATE_METHODS],
                           struct plm_error *error);

#define PLM_STEPS_STEADY (-1)

/* report_html.c: `report --html OUT`; "-" is stdout. `time`: as it was read with the job. `gpu`: the card that a step is
   modelled on; NULL: that of the record. */
struct plm_cli_report_time;
int plm_cli_report_page(const struct plm_job *job, struct plm_cli_report_time *time, const char *record,
                        const char *gpu, const char *out, bool force);

/* The same of two jobs: `diff --html OUT`. */
struct plm_diff;
int plm_cli_diff_page(const struct plm_diff *diff, const char *const record[2], const char *out, bool force);

/* calibrate_time.c: constants of the time model, from this machine's card or from figures that were measured elsewhere.
   `output` is needed, and was checked. */
struct plm_cli_calibrate_time {
    const char *output, *figures, *gpu, *python; /* figures NULL: measure; gpu NULL: as the driver calls it */
    bool force;
};
int plm_cli_calibrate_time(const struct plm_cli_calibrate_time *request, const struct plm_install *install);

/* launch.c: what the user wants to be assumed of values that no kernel computed: --assume all=true,keep=0.5 */
struct plm_cli_assume {
    bool all; /* aten::all reads as true; otherwise as false, like every value that is not known */
    double keep; /* share that nonzero, masks, unique and nms keep; < 0: what their kernels leave, nothing */
    enum {
        PLM_ROUTE_BALANCED,
        PLM_ROUTE_ONE,
        PLM_ROUTE_NONE
    } route; /* what topk chooses; hook/plimsoll_hook/values/choices.py */
};
#define PLM_ASSUME_NOTHING {false, -1, PLM_ROUTE_BALANCED}
/* Returns 0 or PLM_EINVAL with a sentence. */
int plm_cli_assume_parse(const char *text, struct plm_cli_assume *assume, struct plm_error *error);

/* launch.c: starts a command on the virtual device. */
struct plm_cli_launch {
    const struct plm_install *install;
    const struct plm_catalogue_entry *gpu;
    int gpus;
    int steps; /* 0: until the command exits; PLM_STEPS_STEADY: until its memory no longer changes */
    bool bounded;
    uint64_t usable; /* of the card, measured; 0: as the catalogue has it. With `bounded` */
    uint64_t context; /* what it takes, measured for this software; 0: the model decides. With `bounded` */
    const char *detail; /* "full", "low", "off" */
    bool stacks; /* record the Python stack of each block */
    struct plm_cli_assume assume;
    const char *stack; /* absolute path of a stack file; NULL: none */
    const struct plm_topology_entry *topology; /* NULL: not known */
    const char *record; /* absolute path */
    const char *entry; /* folder of a sitecustomize.py to enter Python by, in place of the hook; NULL: the hook */
    char **command;
    char **environment; /* "NAME=VALUE" besides, ended by NULL; NULL: none */
    bool silent; /* the command reads and writes nothing */
    bool aside; /* what it writes to standard output goes to standard error: ours is a document */
};
/* Returns the child's pid; or -1 with the errno of exec or fork in *failure. */
pid_t plm_cli_launch_start(const struct plm_cli_launch *launch, int *failure);
/* Runs it to its end, as plm_child_ask() does. */
int plm_cli_launch_ask(const struct plm_cli_launch *launch, int seconds, char *answer, size_t size);

/* stack.c: the stack file of a run. Loads the list and chooses: `wanted` is a name, a file, "none", or "auto" (NULL too): the newest that was measured on
   such a card. *out is NULL if there is none; it belongs to the list, which the caller frees if this returns 0. */
int plm_cli_stack_choose(struct plm_stack_list *stacks, const struct plm_install *install, const char *wanted,
                         const struct plm_card *card, const struct plm_stack_entry **out, struct plm_error *error);

/* What the context takes with the code of cuBLAS and cuDNN; 0: not known. And what is usable of the card; 0 if that is not
   known, or of another card. */
uint64_t plm_cli_stack_context(const struct plm_stack_entry *entry);
uint64_t plm_cli_stack_limit(const struct plm_stack_entry *entry, const struct plm_card *card);

/* Writes what the analysis needs to know of it into the record; docs/record.md has the keys. */
void plm_cli_stack_describe(struct plm_pen *pen, const struct plm_stack_entry *entry, const struct plm_card *card);

/* command.c: what the line on stderr says of a command that runs; how long it has been at `what` stands between the two. */
struct plm_progress_line {
    char what[64], detail[96]; /* "step 2 of 3"; "1.2 GiB now", or nothing */
};
typedef void plm_progress_text(struct plm_progress_line *line, void *context);
/* The same for one that writes a record: the context is a struct plm_progress_record. */
struct plm_progress_record {
    struct plm_record_header *header;
    int steps; /* as those of a launch */
};
void plm_progress_of_record(struct plm_progress_line *line, void *record);

/* command.c: what the sub-commands that start a command share. */
/* What the job is called: the first word that names a Python file, else the program. */
void plm_cli_job_name(char *out, size_t size, char **command);
/* 0, or -1 if the path does not fit. */
int plm_absolute(char *out, size_t size, const char *path);
/* Puts ours before the user's own value of an environment variable with colons. */
void plm_prepend(const char *name, const char *value);
/* doctor.c: "; `plimsoll doctor PYTHON` checks its PyTorch" if the command is a Python that has no PyTorch for CUDA, else
   "". Asks that Python; the text is valid until the next call. */
const char *plm_doctor_advice(char **command);
/* How far a command came that failed without PyTorch. */
#define PLM_BEFORE_TORCH " before it imported torch"
/* Waits for the command, showing progress; its wait status. */
int plm_await(pid_t child, plm_progress_text *text, void *context);
/* The same for one that writes a record. One that waits in vain for a process that was ended after its steps is ended, and its
   status is 0. */
int plm_await_job(pid_t child, struct plm_record_header *header, int steps);
/* The same for one of several ranks; `awaited` is theirs together. */
int plm_await_rank(pid_t child, struct plm_record_header *header, int steps, struct plm_cli_awaited *awaited);
/* Whether a shell would find such a program. */
bool plm_is_program(const char *word);
/* What Python is called on this machine: "python", or "python3" where there is only that. */
const char *plm_cli_python(void);
/* Says that exec failed with this errno; the exit status for it. */
int plm_could_not_start(char **command, int failure);

#endif
