#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/ini.h"
#include "base/units.h"

static int set(const struct plm_option *o, const char *text, const char *origin, struct plm_error *error)
{
    char *end;
    long number;
    switch (o->type) {
    case PLM_OPTION_FLAG:
        if (!strcmp(text, "1") || !strcasecmp(text, "true") || !strcasecmp(text, "yes"))
            *(bool *)o->value = true;
        else if (!*text || !strcmp(text, "0") || !strcasecmp(text, "false") || !strcasecmp(text, "no"))
            *(bool *)o->value = false;
        else
            return plm_fail(error, PLM_EINVAL, "%s: '%s' is not yes or no", origin, text);
        return 0;
    case PLM_OPTION_TEXT: *(const char **)o->value = text; return 0;
    case PLM_OPTION_NUMBER:
        errno = 0;
        number = strtol(text, &end, 10);
        if (!*text || *end || errno || number < 0 || number > INT_MAX)
            return plm_fail(error, PLM_EINVAL, "%s: '%s' is not a whole number", origin, text);
        *(int *)o->value = (int)number;
        return 0;
    case PLM_OPTION_SIZE:
        if (plm_size_parse(text, o->value))
            return plm_fail(error, PLM_EINVAL, "%s: '%s' is not a size; write 24GB, 24GiB or bytes", origin, text);
        return 0;
    }
    return PLM_EINVAL;
}

struct config {
    const struct plm_option *options;
    size_t count;
    const char *section;
};

static int visit_config(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    const struct config *c = context;
    char origin[4200];
    if (strcmp(pair->section, c->section))
        return 0; /* other sub-commands have sections of their own */
    snprintf(origin, sizeof origin, "%s:%d: %s", pair->path, pair->line, pair->key);
    for (size_t i = 0; i < c->count; i++)
        if (c->options[i].configurable && !strcmp(c->options[i].name, pair->key)) {
            const char *value = pair->value;
            if (c->options[i].type == PLM_OPTION_TEXT)
                value = strdup(value); /* lives as long as the options: the whole run */
            return value ? set(&c->options[i], value, origin, error) /* NOLINT(clang-analyzer-unix.Malloc): kept */
                         : plm_fail(error, PLM_ENOMEM, "out of memory");
        }
    return plm_fail(error, PLM_EINVAL, "%s is not a setting of [%s]", origin, c->section);
}

static int read_configs(struct config *c, struct plm_error *error)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char path[4096];
    int status;

    if (base && *base)
        snprintf(path, sizeof path, "%s/plimsoll/config.ini", base);
    else
        snprintf(path, sizeof path, "%s/.config/plimsoll/config.ini", home ? home : "");
    status = plm_ini_read(path, visit_config, c, error);
    if (status == 0 || status == PLM_ENOTFOUND)
        status = plm_ini_read("plimsoll.ini", visit_config, c, error);
    return status == PLM_ENOTFOUND ? 0 : status;
}

static int read_environment(const struct plm_option *options, size_t count, struct plm_error *error)
{
    for (size_t i = 0; i < count; i++) {
        char name[64] = "PLIMSOLL_";
        const char *value;
        size_t n = strlen(name);
        int status;
        if (!options[i].configurable)
            continue;
        for (const char *p = options[i].name; *p && n + 1 < sizeof name; p++)
            name[n++] = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
        name[n] = '\0';
        value = getenv(name);
        status = value ? set(&options[i], value, name, error) : 0;
        if (status < 0)
            return status;
    }
    return 0;
}

static const struct plm_option *find(const struct plm_option *options, size_t count, const char *word, size_t n)
{
    for (size_t i = 0; i < count; i++)
        if ((word[0] == '-' && word[1] == '-' && strlen(options[i].name) == n - 2 &&
             !strncmp(options[i].name, word + 2, n - 2)) ||
            (n == 2 && options[i].letter && word[1] == options[i].letter))
            return &options[i];
    return NULL;
}

static int read_settings(const struct plm_option *options, size_t count, const char *section, struct plm_error *error)
{
    struct config config = {options, count, section};
    int status = read_configs(&config, error);
    return status < 0 ? status : read_environment(options, count, error);
}

static int read_flags(const struct plm_option *options, size_t count, int argc, char **argv, int *rest, bool *ended,
                      struct plm_error *error)
{
    int i = 0, status = 0;
    *ended = false;
    while (i < argc && argv[i][0] == '-' && argv[i][1]) {
        const char *word = argv[i], *equals = word[1] == '-' ? strchr(word, '=') : NULL;
        size_t n = equals ? (size_t)(equals - word) : strlen(word);
        const struct plm_option *o;
        char origin[64];
        if (!strcmp(word, "--")) {
            *ended = true;
            i++;
            break;
        }
        o = find(options, count, word, n);
        if (!o)
            return plm_fail(error, PLM_EINVAL, "unknown option '%s'; see `plimsoll help`", word);
        snprintf(origin, sizeof origin, "--%s", o->name);
        i++;
        if (o->type == PLM_OPTION_FLAG)
            status = set(o, equals ? equals + 1 : "1", origin, error);
        else if (equals)
            status = set(o, equals + 1, origin, error);
        else if (i < argc)
            status = set(o, argv[i++], origin, error);
        else
            return plm_fail(error, PLM_EINVAL, "%s needs a value", origin);
        if (status < 0)
            return status;
    }
    *rest = i;
    return 0;
}

int plm_options_parse(const struct plm_option *options, size_t count, const char *section, int argc, char **argv,
                      int *rest, struct plm_error *error)
{
    int status = read_settings(options, count, section, error);
    bool ended;
    return status < 0 ? status : read_flags(options, count, argc, argv, rest, &ended, error);
}

int plm_options_among(const struct plm_option *options, size_t count, const char *section, int argc, char **argv,
                      const char **word, int most, int *words, struct plm_error *error)
{
    int status = read_settings(options, count, section, error);
    bool only_words = false;
    *words = 0;
    while (status == 0 && argc > 0) {
        int rest = 0;
        if (!only_words) {
            status = read_flags(options, count, argc, argv, &rest, &only_words, error);
            if (status < 0)
                break;
            argc -= rest;
            argv += rest;
        }
        if (argc == 0)
            break;
        if (*words < most)
            word[*words] = argv[0];
        ++*words;
        argc--;
        argv++;
    }
    return status;
}
