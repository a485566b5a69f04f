#include "sweep/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "base/memory.h"

const char *plm_sweep_path_after(const char *path, const char *name, size_t size)
{
    if (!size || strnlen(path, size) < size || memcmp(path, name, size) != 0 || (path[size] && path[size] != '.'))
        return NULL;
    return path + size + (path[size] == '.');
}

size_t plm_sweep_quoted_end(const char *text, size_t size, size_t at, bool escapes)
{
    const char quote = text[at];
    for (size_t i = at + 1; i < size; i++)
        if ((escapes && text[i] == '\\') ||
            (!escapes && text[i] == quote && i + 1 < size && text[i + 1] == quote)) /* YAML's '' */
            i++;
        else if (text[i] == quote)
            return i + 1;
        else if (text[i] == '\n')
            break;
    return size;
}

/* ---- how a value is written ---- */

/* What JSON and TOML take without quotation marks. */
static bool is_literal(const char *value)
{
    char *end;
    if (!strcmp(value, "true") || !strcmp(value, "false"))
        return true;
    if (!strchr("-0123456789", value[0]) || strspn(value, "0123456789+-.eE") != strlen(value))
        return false;
    strtod(value, &end);
    return end > value && !*end && end[-1] != '.' && value[value[0] == '-'] != '.';
}

static void put_quoted(FILE *out, const char *value)
{
    fputc('"', out);
    for (const char *c = value; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            fputc(*c, out);
    fputc('"', out);
}

/* JSON and TOML: a text stays a text, and a number is one unless the value is none. */
static void put_typed(FILE *out, const char *old, const char *value)
{
    if (old[0] != '"' && old[0] != '\'' && is_literal(value))
        fputs(value, out);
    else
        put_quoted(out, value);
}

/* YAML: as it was typed, where that is one plain value. */
static void put_plain(FILE *out, const char *old, const char *value)
{
    const bool plain = !strpbrk(value, "#:,[]{}&*!|>'\"%@`\\\n\t") && value[0] != ' ' && value[0] != '?' &&
                       value[strlen(value) - 1] != ' ' && strncmp(value, "- ", 2) != 0;
    if (old[0] == '"' || old[0] == '\'' || !plain)
        put_quoted(out, value);
    else
        fputs(value, out);
}

static const struct format {
    const char *ending;
    plm_sweep_find *find;
    void (*put)(FILE *out, const char *old, const char *value);
} formats[] = {{".json", plm_sweep_find_json, put_typed},
               {".toml", plm_sweep_find_toml, put_typed},
               {".yaml", plm_sweep_find_yaml, put_plain},
               {".yml", plm_sweep_find_yaml, put_plain}};

static const struct format *format_of(const char *file)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const size_t n = strlen(formats[i].ending), all = strlen(file);
        if (all > n && !strcasecmp(file + all - n, formats[i].ending))
            return &formats[i];
    }
    return NULL;
}

int plm_sweep_config_edit(const char *file, const char *text, size_t size, const char *key, const char *value,
                          char **copy, size_t *copied, struct plm_error *error)
{
    const struct format *format = format_of(file);
    struct plm_sweep_place place;
    FILE *out;
    if (!format)
        return plm_fail(error, PLM_EINVAL, "%.200s: only .yaml, .json and .toml files can be changed", file);
    place = format->find(text, size, key);
    if (!place.found)
        return plm_fail(error, PLM_EINVAL, "%.200s has no key %.100s", file, key);
    if (place.found > 1)
        return plm_fail(error, PLM_EINVAL, "%.200s has the key %.100s more than once", file, key);
    if (place.why)
        return plm_fail(error, PLM_EINVAL, "%.200s: %.100s cannot be changed: its value is %s", file, key, place.why);
    out = open_memstream(copy, copied);
    if (!out)
        plm_out_of_memory();
    fwrite(text, 1, place.from, out);
    format->put(out, text + place.from, value);
    fwrite(text + place.to, 1, size - place.to, out);
    fclose(out);
    return 0;
}
