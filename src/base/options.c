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

#include "common/error.h"
#include "common/ini.h"
#include "base/names.h"
#include "base/output.h"
#include "base/units.h"
#include "base/words.h"

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

static void rows_add(const struct plm_option *options, size_t at, const char *elsewhere, struct plm_option *out,
                     size_t *count)
{
    for (; options->name || options->include; options++)
        if (options->include)
            rows_add(options->include, at + options->at, elsewhere ? elsewhere : options->elsewhere, out, count);
        else {
            assert(*count < PLM_OPTIONS_MOST); /* tables are constant: the first run of a test finds it */
            out[*count] = *options;
            out[*count].elsewhere = elsewhere;
            out[(*count)++].at += at;
        }
}

size_t plm_options_list(const struct plm_option *options, struct plm_option out[PLM_OPTIONS_MOST])
{
    size_t count = 0;
    bool settings = false;
    if (options)
        rows_add(options, 0, NULL, out, &count);
    for (size_t i = 0; i < count; i++)
        settings |= out[i].configurable;
    if (settings) {
        assert(count < PLM_OPTIONS_MOST);
        out[count++] = option_config;
    }
    return count;
}

static bool word_is_among(const char *word, const char *among)
{
    const size_t n = strlen(word);
    for (size_t k; *among; among += k + (among[k] == ' ')) {
        k = strcspn(among, " ");
        if (k == n && !strncmp(word, among, n))
            return true;
    }
    return false;
}

/* "a, b or c" */
static const char *among_text(const char *among, char *out, size_t size)
{
    size_t at = 0;
    for (size_t k; *among && at < size; among += k + (among[k] == ' ')) {
        k = strcspn(among, " ");
        at += (size_t)snprintf(out + at, size - at, "%s%.*s", !at ? "" : among[k] ? ", " : " or ", (int)k, among);
    }
    return out;
}

static int number_set(int *value, const struct plm_option *o, const char *text, const char *origin,
                      struct plm_error *error)
{
    char *end;
    long number;
    errno = 0;
    number = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end)
        return plm_fail(error, PLM_EINVAL, "%s: '%.100s' is not a whole number", origin, text);
    if (errno || number > INT_MAX)
        return plm_fail(error, PLM_EINVAL, "%s: %.100s is too large", origin, text);
    if (number < o->least || (o->most && number > o->most)) {
        char most[32] = "";
        if (o->most)
            snprintf(most, sizeof most, " to %d", o->most);
        return plm_fail(error, PLM_EINVAL, "%s takes a number from %d%s, not %ld%s%s", origin, o->least, most, number,
                        o->instead ? "; " : "", o->instead ? o->instead : "");
    }
    *value = (int)number;
    return 0;
}

static int size_set(uint64_t *value, const struct plm_option *o, const char *text, const char *origin,
                    struct plm_error *error)
{
    uint64_t bytes;
    if (plm_size_parse(text, &bytes))
        return plm_fail(error, PLM_EINVAL, "%s: '%.100s' is not a size; write 24GB, 24GiB or bytes", origin, text);
    if (plm_size_lacks_unit(text))
        return plm_fail(error, PLM_EINVAL, "%s: %.20s of what? Write %.20sGiB, %.20sGB or %.20sMiB", origin, text, text,
                        text, text);
    if (bytes < (uint64_t)o->least)
        return plm_fail(error, PLM_EINVAL, "%s takes a size above 0, not %.100s", origin, text);
    *value = bytes;
    return 0;
}

/* The words are read twice: what is there already is the same word. */
static int list_add(struct plm_option_list *list, const char *text, const char *origin, struct plm_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->item[i] == text)
            return 0;
    if (list->count == PLM_OPTION_LIST_MOST)
        return plm_fail(error, PLM_EINVAL, "%s is taken at most %d times", origin, PLM_OPTION_LIST_MOST);
    list->item[list->count++] = text;
    return 0;
}

static int option_set(const struct table *t, const struct plm_option *o, const char *text, const char *origin,
                      struct plm_error *error)
{
    void *value = t->values + o->at;
    char choices[200];
    if (!o->help && o->instead)
        return plm_fail(error, PLM_EINVAL, "%s was removed; %s", origin, o->instead);
    if (o->elsewhere)
        return plm_fail(error, PLM_EINVAL, "%s is for `plimsoll %s`; this is `plimsoll %s`", origin, o->elsewhere,
                        t->section);
    if (o->at == CONFIG_AT)
        return setenv(CONFIG_VARIABLE, text, 1) ? plm_fail(error, PLM_ENOMEM, "%s: out of memory", origin) : 0;
    switch (o->type) {
    case PLM_OPTION_FLAG:
        if (!strcmp(text, "1") || !strcasecmp(text, "true") || !strcasecmp(text, "yes"))
            *(bool *)value = true;
        else if (!*text || !strcmp(text, "0") || !strcasecmp(text, "false") || !strcasecmp(text, "no"))
            *(bool *)value = false;
        else
            return origin[0] == '-'
                       ? plm_fail(error, PLM_EINVAL, "%s takes no value here, but was given '%.100s'", origin, text)
                       : plm_fail(error, PLM_EINVAL, "%s: '%.100s' is not yes or no", origin, text);
        return 0;
    case PLM_OPTION_CHOICE:
        if (!word_is_among(text, o->among))
            return plm_fail(error, PLM_EINVAL, "%s takes %s, not '%.100s'", origin,
                            among_text(o->among, choices, sizeof choices), text);
        *(const char **)value = text;
        return 0;
    case PLM_OPTION_TEXT:
    case PLM_OPTION_OUTPUT: *(const char **)value = text; return 0;
    case PLM_OPTION_LIST: return list_add(value, text, origin, error);
    case PLM_OPTION_NUMBER: return number_set(value, o, text, origin, error);
    case PLM_OPTION_SIZE: return size_set(value, o, text, origin, error);
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

static const char *const *sections;

void plm_options_sections(const char *const *names)
{
    sections = names;
}

static int section_check(const struct plm_ini_pair *pair, struct plm_error *error)
{
    struct plm_nearest nearest = {.typed = pair->section};
    for (const char *const *name = sections; name && *name; name++) {
        if (!strcmp(pair->section, *name))
            return 0;
        plm_nearest_see(&nearest, *name);
    }
    if (!sections)
        return 0;
    if (!pair->section[0])
        return plm_fail(error, PLM_EINVAL, "%s:%d: %s is above the first section, such as [run]", pair->path,
                        pair->line, pair->key);
    return plm_fail(error, PLM_EINVAL, "%s:%d: %s is in [%.60s], which is not a plimsoll command%s%s%s", pair->path,
                    pair->line, pair->key, pair->section, nearest.best ? "; did you mean [" : "",
                    nearest.best ? nearest.best : "", nearest.best ? "]?" : "");
}

/* The section of a command of two words is its first. */
static bool is_own_section(const struct table *t, const char *section)
{
    const size_t n = strcspn(t->section, " ");
    return !strncmp(section, t->section, n) && !section[n];
}

static const struct plm_option *setting_find(const struct table *t, const char *key)
{
    for (size_t i = 0; i < t->rows; i++)
        if (t->row[i].configurable && !strcmp(t->row[i].name, key))
            return &t->row[i];
    return NULL;
}

static int setting_unknown(const struct table *t, const struct plm_ini_pair *pair, const char *origin,
                           struct plm_error *error)
{
    struct plm_nearest nearest = {.typed = pair->key};
    for (size_t i = 0; i < t->rows; i++)
        if (t->row[i].configurable)
            plm_nearest_see(&nearest, t->row[i].name);
    return plm_fail(error, PLM_EINVAL, "%s is not a setting of [%s]%s%s%s", origin, pair->section,
                    nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "", nearest.best ? "?" : "");
}

static int visit_config(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    const struct table *t = context;
    const struct plm_option *o;
    char origin[4200];
    bool kept;
    if (!is_own_section(t, pair->section))
        return section_check(pair, error); /* other sub-commands have sections of their own */
    snprintf(origin, sizeof origin, "%s:%d: %s", pair->path, pair->line, pair->key);
    o = setting_find(t, pair->key);
    if (!o)
        return setting_unknown(t, pair, origin, error);
    if (o->elsewhere)
        return 0;
    if (t->foreign && o->own)
        return plm_fail(error, PLM_EINVAL,
                        "%s names a program or a file to write: it is allowed only in your own configuration, "
                        "or in the file of --config",
                        origin);
    if (t->foreign && o->guard && *(const bool *)(t->values + o->at))
        return 0;
    kept = o->type <= PLM_OPTION_OUTPUT && o->type != PLM_OPTION_FLAG;
    return option_set(t, o, kept ? keep_text(pair->value) : pair->value, origin, error);
}

static int config_read(const char *path, struct table *t, struct plm_error *error)
{
    const int status = plm_ini_read(path, visit_config, t, error);
    if (status == 0)
        plm_output_spare(path);
    return status;
}

static int read_configs(struct table *t, struct plm_error *error)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME"), *named = getenv(CONFIG_VARIABLE);
    char path[4096];
    int status;

    if (base && *base == '/')
        snprintf(path, sizeof path, "%s/plimsoll/config.ini", base);
    else
        snprintf(path, sizeof path, "%s/.config/plimsoll/config.ini", home ? home : "");
    status = config_read(path, t, error);
    if (status < 0 && status != PLM_ENOTFOUND)
        return status;
    if (named && *named)
        return config_read(named, t, error);
    t->foreign = true;
    status = config_read("plimsoll.ini", t, error);
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
        if (!t->row[i].configurable || t->row[i].elsewhere)
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

/* The values that do not come from the command line. Whatever is wrong with them is wrong with how plimsoll is used. */
static int read_settings(struct table *t, struct plm_error *error)
{
    int status = read_configs(t, error);
    if (status == 0)
        status = read_environment(t, error);
    if (status < 0 && error)
        error->code = PLM_EINVAL;
    return status < 0 ? PLM_EINVAL : 0;
}

static int option_unknown(const struct table *t, const char *word, size_t n, struct plm_error *error)
{
    char typed[64] = "";
    struct plm_nearest nearest = {.typed = typed};
    if (n > 2 && n - 2 < sizeof typed)
        memcpy(typed, word + 2, n - 2);
    for (size_t i = 0; i < t->rows; i++)
        if (t->row[i].help && !t->row[i].elsewhere)
            plm_nearest_see(&nearest, t->row[i].name);
    plm_nearest_see(&nearest, "help");
    return plm_fail(error, PLM_EINVAL, "unknown option '%.100s'; %s%s%s`plimsoll %s --help` lists them", word,
                    nearest.best ? "did you mean --" : "", nearest.best ? nearest.best : "", nearest.best ? "? " : "",
                    t->section);
}

/* The value of an option, which may take the next word unless it can do without; NULL: there is none. */
static const char *option_value(const struct table *t, const struct plm_option *o, const char *equals, int argc,
                                char **argv, int *next)
{
    const char *word = *next < argc ? argv[*next] : NULL;
    if (equals)
        return equals + 1;
    if (o->type == PLM_OPTION_FLAG)
        return "1";
    if (o->type == PLM_OPTION_OUTPUT)
        return "-";
    if (!word || !strncmp(word, "--", 2) || (word[0] == '-' && option_find(t, word, strlen(word))))
        return NULL;
    ++*next;
    return word;
}

/* Where the options end: at "--", or at a word right behind an option that was left without its value. */
struct stop {
    bool ended;
    const struct plm_option *bare; /* NULL: none */
};

static int read_flags(const struct table *t, int argc, char **argv, int *rest, struct stop *stop,
                      struct plm_error *error)
{
    int i = 0, status = 0;
    *stop = (struct stop){0};
    while (i < argc && argv[i][0] == '-' && argv[i][1]) {
        const char *word = argv[i], *equals = word[1] == '-' ? strchr(word, '=') : NULL;
        size_t n = equals ? (size_t)(equals - word) : strlen(word);
        const struct plm_option *o;
        const char *value;
        char origin[64];
        i++;
        stop->bare = NULL;
        if (!strcmp(word, "--")) {
            stop->ended = true;
            break;
        }
        o = option_find(t, word, n);
        if (!o)
            return option_unknown(t, word, n, error);
        snprintf(origin, sizeof origin, "--%s", o->name);
        value = option_value(t, o, equals, argc, argv, &i);
        if (!o->elsewhere && (!value || (!*value && o->type != PLM_OPTION_FLAG)))
            return plm_fail(error, PLM_EINVAL, "%s needs a value", origin);
        status = option_set(t, o, value, origin, error);
        if (status < 0)
            return status;
        stop->bare = o->type == PLM_OPTION_OUTPUT && !equals ? o : NULL;
    }
    *rest = i;
    return 0;
}

static int value_apart(const struct plm_option *o, const char *word, struct plm_error *error)
{
    return plm_fail(error, PLM_EINVAL, "--%s takes its file as --%s=FILE, not as the next word '%.100s'", o->name,
                    o->name, word);
}

/* The words of a command begin behind "--" where there is one: nothing before it is run. Nor is a word that may have
   been meant as the value of an option. */
static int command_check(int argc, char **argv, int rest, const struct stop *stop, struct plm_error *error)
{
    if (stop->ended || rest == argc)
        return 0;
    if (stop->bare)
        return plm_fail(error, PLM_EINVAL,
                        "--%s takes its file as --%s=FILE, and a command follows `--`: '%.100s' is neither",
                        stop->bare->name, stop->bare->name, argv[rest]);
    for (int i = rest + 1; i < argc; i++)
        if (!strcmp(argv[i], "--"))
            return plm_fail(error, PLM_EINVAL, "'%.100s' is not an option: only options may come before `--`",
                            argv[rest]);
    return 0;
}

int plm_options_parse(const struct plm_option *options, void *values, const char *section, int argc, char **argv,
                      int *rest, struct plm_error *error)
{
    struct table t;
    struct stop stop;
    int status;
    table_open(&t, options, values, section);
    status = read_flags(&t, argc, argv, rest, &stop, error); /* the first time for --config: flags have the last word */
    if (status == 0)
        status = command_check(argc, argv, *rest, &stop, error);
    if (status == 0)
        status = read_settings(&t, error);
    return status < 0 ? status : read_flags(&t, argc, argv, rest, &stop, error);
}

static bool has_ending(const char *word, const char *ending)
{
    const char *dot = strrchr(word, '.');
    return dot && !strcmp(dot + 1, ending);
}

static int read_words(const struct table *t, int argc, char **argv, const char **word, int most, int *words,
                      struct plm_error *error)
{
    const struct plm_option *bare = NULL;
    const char *behind = NULL; /* the last word right behind an option that was left without its value */
    struct stop stop = {0};
    int status = 0;
    *words = 0;
    while (status == 0 && argc > 0) {
        int rest = 0;
        if (!stop.ended)
            status = read_flags(t, argc, argv, &rest, &stop, error);
        if (status < 0 || rest == argc)
            break;
        if (stop.bare && !stop.ended) {
            bare = stop.bare;
            behind = argv[rest];
            if (!strcmp(behind, "-") || has_ending(behind, bare->among))
                return value_apart(bare, behind, error);
        }
        if (*words < most)
            word[*words] = argv[rest];
        ++*words;
        argc -= rest + 1;
        argv += rest + 1;
    }
    return status == 0 && behind && *words > most ? value_apart(bare, behind, error) : status;
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
