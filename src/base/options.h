/*
 * Command-line options as a table. A value comes from the flag, else from the environment variable
 * PLIMSOLL_<NAME>, else from [section] of ./plimsoll.ini, else from the user's config file, else it
 * stays what the caller put in. Parsing stops at "--" or at the first word that is not an option.
 */
#ifndef PLM_OPTIONS_H
#define PLM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct plm_error;

enum plm_option_type {
    PLM_OPTION_FLAG,   /* bool */
    PLM_OPTION_TEXT,   /* const char * */
    PLM_OPTION_NUMBER, /* int, from 0 */
    PLM_OPTION_SIZE,   /* uint64_t */
};

struct plm_option {
    const char *name;    /* "gpu" for --gpu */
    char letter;         /* 'o' for -o, 0 for none */
    enum plm_option_type type;
    void *value;
    bool configurable;   /* may stand in the environment and in config files */
};

/* On success *rest is the index of the first word that was not consumed ("--" is). */
int plm_options_parse(const struct plm_option *options, size_t count, const char *section, int argc, char **argv,
                      int *rest, struct plm_error *error);

/* The same for a sub-command whose options may stand before, between and after its words. The first `most` of
   them go to `word`; *words is how many there are. After "--" there are only words. */
int plm_options_among(const struct plm_option *options, size_t count, const char *section, int argc, char **argv,
                      const char **word, int most, int *words, struct plm_error *error);

#endif
