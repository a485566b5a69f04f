/*
 * The table of sub-commands: one row per command, in the command's own file, and one line in commands.def. What runs, what
 * `COMMAND --help` and the manual say, and what shells complete all come from the row; docs/HOWTO_ADD_COMMAND.md walks
 * through one. Rows are constant; any thread.
 */
#ifndef PLM_CLI_COMMANDS_H
#define PLM_CLI_COMMANDS_H

#include <stdio.h>

#include "base/options.h"

struct plm_error;

struct plm_command {
    const char *name;
    const char *line;  /* what it does, without a full stop */
    const char *words; /* what follows the options: "RECORD", "[NAME...]"; with "--": a command of the user's */
    const struct plm_option *options;
    const struct plm_option *(*make_options)(void); /* instead, where another table decides */
    const struct plm_command *also; /* with a command of the user's it takes the options of this one too */
    /* Programs in one: the first word names one of these rows, "evaluate time" by "time"; ended by NULL. `options` are
       those that all of them have. */
    const struct plm_command *const *sides;
    const struct plm_command *(*side)(int argc, char **argv); /* which one words without such a name mean; NULL: any */
    enum plm_complete complete; /* what completes its words */
    const char *among;
    const char *example[8]; /* at least one */
    struct {
        int code;
        const char *meaning;
    } exit[8]; /* where a status means more than for every command */
    int (*run)(int argc, char **argv); /* the words after its name; returns the program's exit status */
};

/* Where a value is in the struct of what a command is asked for: `struct request` in its file. */
#define AT(field) offsetof(struct request, field)

#define COMMAND(name) extern const struct plm_command plm_command_##name;
#include "cli/commands.def"
#undef COMMAND

#define COMMAND(name) +1
enum {
    PLM_COMMANDS = 0
#include "cli/commands.def"
};
#undef COMMAND

extern const struct plm_command *const plm_commands[PLM_COMMANDS + 1]; /* ended by NULL */

/* NULL: there is none of that name. */
const struct plm_command *plm_command_find(const char *name);
/* The side of a command that a word names, and that word: "time" of "evaluate time". */
const struct plm_command *plm_command_side(const struct plm_command *command, const char *word);
const char *plm_side_name(const struct plm_command *side);
/* The rows of its options, without those that are not shown. Returns their number. */
size_t plm_command_options(const struct plm_command *command, struct plm_option out[PLM_OPTIONS_MOST]);
/* Do words of a command of the user's follow, and is that all that can? */
bool plm_command_takes_command(const struct plm_command *command);
bool plm_command_takes_only_command(const struct plm_command *command);
/* "-o, --output FILE", "--json[=FILE]" */
void plm_cli_option_text(const struct plm_option *option, char *out, size_t size);
/* What a status means for this command; NULL if it has none of that code. `special`: only if it says so itself. */
const char *plm_command_exit(const struct plm_command *command, int code, bool special);

/* help.c: what `COMMAND --help` shows; an exit status. */
int plm_help(const struct plm_command *command);

/* manual.c: docs/man/PAGE.1.in with the parts that come from the table put in. PLM_EINVAL with a sentence if the page lacks
   one of them, or tells about an option that there is not. */
int plm_manual_page(const char *path, FILE *out, struct plm_error *error);

/* look.c: options that several commands have, to be included: --json and --force for a bool, --bytes, --color, and both for a
   struct plm_look; --strict and --allow-tight of jobs; --host for a `const char *`. --json prints one document in place of the text; json_file is for commands whose text
   one wants as well: a `const char *`, which is "-" or a file that gets the document. */
extern const struct plm_option plm_cli_option_json[], plm_cli_option_json_file[], plm_cli_option_force[],
    plm_cli_option_bytes[], plm_cli_option_color[], plm_cli_option_look[], plm_cli_option_strict[],
    plm_cli_option_allow_tight[], plm_cli_option_host[];

#endif
