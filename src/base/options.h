/*
 * Command-line options as tables. A row says all about an option: what it is called, where its value goes, what it means
 * and what completes it. Parsing, --help, the manual and the completion of shells read the same rows.
 *
 * A table is constant and ends with an empty row. Values are fields of a struct of the caller's, by their offset. A
 * value comes from the flag, else from the environment variable PLIMSOLL_<NAME>, else from [section] of
 * ./plimsoll.ini, else from the user's config file, else it stays what the caller put in. --config FILE, which every
 * table with settings has, or PLIMSOLL_CONFIG, which it sets, names a file in the place of ./plimsoll.ini. That one
 * comes with a folder, which may be anybody's: settings that name a program or a file to write are refused there.
 * `section` is the name of the command, as texts have it; of two words, "evaluate time", the first is the section.
 *
 * Strings belong to the command line, the environment, or (from files) to nobody: they live as long as the program.
 * Parsing stops at "--" or at the first word that is not an option. It fails with PLM_EINVAL and a sentence. Any
 * thread.
 *
 * A value stands behind "=" or is the next word, which then does not begin with "--" and is no letter of an option, "-f":
 * that is an option whose value was forgotten. Of an option that can do without one the next word is never the value; one
 * that may have been meant as that is refused, and so are words before the "--" of a command: nothing is guessed.
 */
#ifndef PLM_OPTIONS_H
#define PLM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct plm_error;

enum plm_option_type {
    PLM_OPTION_FLAG,   /* bool */
    PLM_OPTION_TEXT,   /* const char * */
    PLM_OPTION_CHOICE, /* const char *, one of the words of `among` */
    PLM_OPTION_OUTPUT, /* const char *, a file or "-" for standard output, which it is without a value. The value stands
                          behind "=" only */
    PLM_OPTION_LIST, /* struct plm_option_list: each time that it is given; not configurable */
    PLM_OPTION_NUMBER, /* int, from `least` to `most` */
    PLM_OPTION_SIZE, /* uint64_t, with a unit unless it is so large that bytes must be meant */
};

enum { PLM_OPTION_LIST_MOST = 16 };
struct plm_option_list {
    const char *item[PLM_OPTION_LIST_MOST];
    size_t count;
};

/* What a shell offers for a value, or for a word. */
enum plm_complete {
    PLM_COMPLETE_WORDS, /* those of `among`, if there are any */
    PLM_COMPLETE_CARD,
    PLM_COMPLETE_CARDS, /* with commas */
    PLM_COMPLETE_METHODS, /* with commas; these, and the words of `among`, as for a stack */
    PLM_COMPLETE_STACK,
    PLM_COMPLETE_LIBRARY,
    PLM_COMPLETE_FILE, /* with the ending `among`, if that is given */
    PLM_COMPLETE_FOLDER,
    PLM_COMPLETE_PROGRAM,
    PLM_COMPLETE_COMMAND, /* of plimsoll's */
};

struct plm_option {
    const char *name; /* "gpu" for --gpu */
    char letter; /* 'o' for -o, 0 for none */
    enum plm_option_type type;
    size_t at; /* offset of the value */
    const char *argument; /* what texts call the value: "NAME"; NULL for a flag */
    const char *help; /* one line, a sentence without its full stop; NULL: the option is not shown */
    enum plm_complete complete;
    const char *among;
    int least, most; /* of a number; `most` 0: any. Of a size `least` alone, 0 or 1: may it be nothing? */
    const char *instead; /* what to write for a number that is refused; of an option without help: for it, always */
    bool configurable; /* may stand in the environment and in config files */
    bool own; /* names a program or a file to write: not in ./plimsoll.ini */
    bool guard; /* a flag that protects: ./plimsoll.ini may switch it on, and not off */
    bool required; /* in texts; who needs it checks for it */
    bool rare; /* --help only names it, the manual explains it */
    const struct plm_option *include; /* instead of a name: the rows of this table, for a struct at offset `at` */
    /* Of such a row: they are those of another command, "evaluate time". A flag of theirs is refused with its name; their
       settings, which stand in the same section, are passed over. */
    const char *elsewhere;
};

/* The rows of a table in their order, included ones in their places, and --config if there are settings. Returns their
   number. */
enum { PLM_OPTIONS_MOST = 128 };
size_t plm_options_list(const struct plm_option *options, struct plm_option out[PLM_OPTIONS_MOST]);

/* The sections that files of settings may have, NULL at the end; another one is refused. To be called once, before
   anything is parsed; without it any section may stand there. The list is kept. */
void plm_options_sections(const char *const *names);

/* On success *rest is the index of the first word that was not consumed ("--" is). */
int plm_options_parse(const struct plm_option *options, void *values, const char *section, int argc, char **argv,
                      int *rest, struct plm_error *error);

/* The same for a sub-command whose options may stand before, between and after its words. The first `most` of
   them go to `word`; *words is how many there are. After "--" there are only words. */
int plm_options_among(const struct plm_option *options, void *values, const char *section, int argc, char **argv,
                      const char **word, int most, int *words, struct plm_error *error);

#endif
