#include "base/options.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/ini.h"
#include "base/names.h"
#include "base/units.h"

/* The options of one parse, and where their values go. */
struct table {
    struct plm_option row[PLM_OPTIONS_MOST];
    size_t rows;
    char *values;
    const char *section;
    bool foreign; /* what is read comes from ./plimsoll.ini */
};

/* Its value goes to the environment: all that parse, here and in children, use the same file. */
#define CONFIG_VARIABLE "PLIMSOLL_CONFIG"
#define CONFIG_AT       SIZE_MAX
static const struct plm_option option_config = {"config",
                                                0,
                                                PLM_OPTION_TEXT,
                                                CONFIG_AT,
                                                "FILE",
                                                .help = "read settings from FILE, not from ./plimsoll.ini",
                                                .complete = PLM_COMPLETE_FILE,
                                                .among = "ini"};

static void rows_add(const struct plm_option *options, size_t at, struct plm_option *out, size_t *count)
{
    for (; options->name || options->include; options++)
        if (options->include)
            rows_add(options->include, at + options->at, out, count);
        else {
            assert(*count < PLM_OPTIONS_MOST); /* tables are constant: the first run of a test finds it */
            out[*count] = *options;
            out[(*count)++].at += at;
        }
}

size_t plm_options_list(const struct plm_option *options, struct plm_option out[PLM_OPTIONS_MOST])
{
    size_t count = 0;
    bool settings = false;
    if (options)
        rows_add(options, 0, out, &count);
    for (size_t i = 0; i < count; i++)
        settings |= out[i].configurable;
    if (settings) {
        assert(count < PLM_OPTIONS_MOST);
        out[count++] = option_config;
    }
    return count;
}

static int option_set(const struct table *t, const struct plm_option *o, const char *text, const char *origin,
                      struct plm_error *error)
{
    void *value = t->values + o->at;
    char *end;
    long number;
    if (o->at == CONFIG_AT)
        return setenv(CONFIG_VARIABLE, text, 1) ? plm_fail(error, PLM_ENOMEM, "%s: out of memory", origin) : 0;
    switch (o->type) {
    case PLM_OPTION_FLAG:
        if (!strcmp(text, "1") || !strcasecmp(text, "true") || !strcasecmp(text, "yes"))
            *(bool *)value = true;
        else if (!*text || !strcmp(text, "0") || !strcasecmp(text, "false") || !strcasecmp(text, "no"))
            *(bool *)value = false;
        else
            return plm_fail(error, PLM_EINVAL, "%s: '%s' is not yes or no", origin, text);
        return 0;
    case PLM_OPTION_TEXT: *(const char **)value = text; return 0;
    case PLM_OPTION_NUMBER:
        errno = 0;
        number = strtol(text, &end, 10);
        if (!*text || *end || errno || number < 0 || number > INT_MAX)
            return plm_fail(error, PLM_EINVAL, "%s: '%s' is not a whole number", origin, text);
        *(int *)value = (int)number;
        return 0;
    case PLM_OPTION_SIZE:
        if (plm_size_parse(text, value))
            return plm_fail(error, PLM_EINVAL, "%s: '%s' is not a size; write 24GB, 24GiB or bytes", origin, text);
        return 0;
    }
    return PLM_EINVAL;
}

/* A text of a config file lives as long as the options: the whole run. */
static const char *keep_text(const char *text)
{
    static struct plm_names kept;
    const uint32_t at = plm_names_add(&kept, text);
    return kept.text[at];
}

static int visit_config(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    const struct table *t = context;
    char origin[4200];
    if (strcmp(pair->section, t->section))
        return 0; /* other sub-commands have sections of their own */
    snprintf(origin, sizeof origin, "%s:%d: %s", pair->path, pair->line, pair->key);
    for (size_t i = 0; i < t->rows; i++)
        if (t->row[i].configurable && !strcmp(t->row[i].name, pair->key)) {
            const bool kept = t->row[i].type == PLM_OPTION_TEXT;
            if (t->foreign && t->row[i].own)
                return plm_fail(error, PLM_EINVAL,
                                "%s names a program or a file to write: that is for your own configuration, or for a "
                                "file that --config names",
                                origin);
            return option_set(t, &t->row[i], kept ? keep_text(pair->value) : pair->value, origin, error);
        }
    return plm_fail(error, PLM_EINVAL, "%s is not a setting of [%s]", origin, t->section);
}

static int read_configs(struct table *t, struct plm_error *error)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME"), *named = getenv(CONFIG_VARIABLE);
    char path[4096];
    int status;

    if (base && *base)
        snprintf(path, sizeof path, "%s/plimsoll/config.ini", base);
    else
        snprintf(path, sizeof path, "%s/.config/plimsoll/config.ini", home ? home : "");
    status = plm_ini_read(path, visit_config, t, error);
    if (status < 0 && status != PLM_ENOTFOUND)
        return status;
    if (named && *named)
        return plm_ini_read(named, visit_config, t, error);
    t->foreign = true;
    status = plm_ini_read("plimsoll.ini", visit_config, t, error);
    t->foreign = false;
    return status == PLM_ENOTFOUND ? 0 : status;
}

static int read_environment(const struct table *t, struct plm_error *error)
{
    for (size_t i = 0; i < t->rows; i++) {
        char name[64] = "PLIMSOLL_";
        const char *value;
        size_t n = strlen(name);
        int status;
        if (!t->row[i].configurable)
            continue;
        for (const char *p = t->row[i].name; *p && n + 1 < sizeof name; p++)
            name[n++] = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
        name[n] = '\0';
        value = getenv(name);
        status = value ? option_set(t, &t->row[i], value, name, error) : 0;
        if (status < 0)
            return status;
    }
    return 0;
}

static const struct plm_option *option_find(const struct table *t, const char *word, size_t n)
{
    for (size_t i = 0; i < t->rows; i++)
        if ((word[0] == '-' && word[1] == '-' && strlen(t->row[i].name) == n - 2 &&
             !strncmp(t->row[i].name, word + 2, n - 2)) ||
            (n == 2 && t->row[i].letter && word[1] == t->row[i].letter))
            return &t->row[i];
    return NULL;
}

static void table_open(struct table *t, const struct plm_option *options, void *values, const char *section)
{
    t->rows = plm_options_list(options, t->row);
    t->values = values;
    t->section = section;
    t->foreign = false;
}

/* The values that do not come from the command line. */
static int read_settings(struct table *t, struct plm_error *error)
{
    const int status = read_configs(t, error);
    return status < 0 ? status : read_environment(t, error);
}

static int read_flags(const struct table *t, int argc, char **argv, int *rest, bool *ended, struct plm_error *error)
{
    int i = 0, status = 0;
    *ended = false;
    while (i < argc && argv[i][0] == '-' && argv[i][1]) {
        const char *word = argv[i], *equals = word[1] == '-' ? strchr(word, '=') : NULL;
        size_t n = equals ? (size_t)(equals - word) : strlen(word);
        const struct plm_option *o;
        const char *value;
        char origin[64];
        i++;
        if (!strcmp(word, "--")) {
            *ended = true;
            break;
        }
        o = option_find(t, word, n);
        if (!o)
            return plm_fail(error, PLM_EINVAL, "unknown option '%s'; see `plimsoll help`", word);
        snprintf(origin, sizeof origin, "--%s", o->name);
        value = equals ? equals + 1 : o->type == PLM_OPTION_FLAG ? "1" : i < argc ? argv[i++] : NULL;
        if (!value)
            return plm_fail(error, PLM_EINVAL, "%s needs a value", origin);
        status = option_set(t, o, value, origin, error);
        if (status < 0)
            return status;
    }
    *rest = i;
    return 0;
}

int plm_options_parse(const struct plm_option *options, void *values, const char *section, int argc, char **argv,
                      int *rest, struct plm_error *error)
{
    struct table t;
    bool ended;
    int status;
    table_open(&t, options, values, section);
    status =
        read_flags(&t, argc, argv, rest, &ended, error); /* the first time for --config: flags have the last word */
    if (status == 0)
        status = read_settings(&t, error);
    return status < 0 ? status : read_flags(&t, argc, argv, rest, &ended, error);
}

static int read_words(const struct table *t, int argc, char **argv, const char **word, int most, int *words,
                      struct plm_error *error)
{
    bool only_words = false;
    int status = 0;
    *words = 0;
    while (status == 0 && argc > 0) {
        int rest = 0;
        if (!only_words)
            status = read_flags(t, argc, argv, &rest, &only_words, error);
        if (status < 0 || rest == argc)
            break;
        if (*words < most)
            word[*words] = argv[rest];
        ++*words;
        argc -= rest + 1;
        argv += rest + 1;
    }
    return status;
}

int plm_options_among(const struct plm_option *options, void *values, const char *section, int argc, char **argv,
                      const char **word, int most, int *words, struct plm_error *error)
{
    struct table t;
    int status;
    table_open(&t, options, values, section);
    status = read_words(&t, argc, argv, word, most, words, error); /* as above */
    if (status == 0)
        status = read_settings(&t, error);
    return status < 0 ? status : read_words(&t, argc, argv, word, most, words, error);
}
