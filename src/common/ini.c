#include "common/ini.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/input.h"
#include "common/printable.h"

enum { LINE_MAX_BYTES = 4096, FILE_MAX_BYTES = 1 << 20 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts blanks off both ends, in place. */
static char *trim(char *text)
{
    size_t n;
    while (is_blank(*text))
        text++;
    n = strlen(text);
    while (n && is_blank(text[n - 1]))
        text[--n] = '\0';
    return text;
}

static int text_refuse(const char *path, int line, const char *bad, struct plm_error *error)
{
    char shown[PLM_PRINTABLE_MOST];
    plm_printable_next(bad, shown);
    if (!line)
        return plm_fail(error, PLM_EFORMAT, "%.300s: its name has an unprintable character: %s", path, shown);
    return plm_fail(error, PLM_EFORMAT, "%.300s:%d: the line has an unprintable character: %s", path, line, shown);
}

static int parse_line(char *line, struct plm_ini_pair *pair, char *section, size_t section_size, plm_ini_visit *visit,
                      void *context, struct plm_error *error)
{
    char *text = trim(line), *equals;
    const char *bad = text;
    size_t n = strlen(text);

    if (!n || *text == '#' || *text == ';')
        return 0;
    while ((bad = plm_printable_not(bad)) && *bad == '\t')
        bad++;
    if (bad) /* names and settings are shown as they are */
        return text_refuse(pair->path, pair->line, bad, error);
    if (*text == '[') {
        if (text[n - 1] != ']' || n < 3 || n >= section_size)
            return plm_fail(error, PLM_EFORMAT, "%s:%d: write a section as [name]", pair->path, pair->line);
        memcpy(section, text + 1, n - 2);
        section[n - 2] = '\0';
        return 0;
    }
    equals = strchr(text, '=');
    if (!equals || equals == text)
        return plm_fail(error, PLM_EFORMAT, "%s:%d: expected 'key = value'", pair->path, pair->line);
    *equals = '\0';
    pair->section = section;
    pair->key = trim(text);
    pair->value = trim(equals + 1);
    if (!*pair->value)
        return plm_fail(error, PLM_EFORMAT, "%s:%d: '%s' has no value; leave the line out if it is unknown", pair->path,
                        pair->line, pair->key);
    return visit(pair, context, error);
}

int plm_ini_parse(const char *path, const char *text, size_t size, plm_ini_visit *visit, void *context,
                  struct plm_error *error)
{
    char line[LINE_MAX_BYTES], section[128] = "";
    struct plm_ini_pair pair = {.path = path};

    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t n = end ? (size_t)(end - (text + at)) : size - at;
        int status;
        pair.line++;
        if (n >= sizeof line)
            return plm_fail(error, PLM_EFORMAT, "%s:%d: the line is too long", path, pair.line);
        memcpy(line, text + at, n);
        line[n] = '\0';
        if (strlen(line) != n)
            return plm_fail(error, PLM_EFORMAT, "%s:%d: this is not a text file", path, pair.line);
        status = parse_line(line, &pair, section, sizeof section, visit, context, error);
        if (status < 0)
            return status;
        at += n + 1;
    }
    return 0;
}

int plm_ini_read(const char *path, plm_ini_visit *visit, void *context, struct plm_error *error)
{
    const char *slash = strrchr(path, '/'), *bad = plm_printable_not(slash ? slash + 1 : path);
    char *text = malloc(FILE_MAX_BYTES);
    int fd, status;
    size_t n = 0;
    if (!text)
        return plm_fail(error, PLM_ENOMEM, "%s: out of memory", path);
    fd = plm_input_open(path, NULL, error);
    status = fd < 0 ? fd : bad ? text_refuse(path, 0, bad, error) : 0; /* the name is that of a card or stack */
    for (ssize_t got = 1; status == 0 && got > 0; n += (size_t)(got > 0 ? got : 0)) {
        got = read(fd, text + n, FILE_MAX_BYTES - n);
        if (got < 0)
            status = plm_fail(error, PLM_EREAD, "cannot read %.300s: %s", path, strerror(errno));
    }
    if (status == 0 && n == FILE_MAX_BYTES)
        status = plm_fail(error, PLM_EFORMAT, "%.300s: too large for this kind of file", path);
    if (status == 0)
        status = plm_ini_parse(path, text, n, visit, context, error);
    if (fd >= 0)
        close(fd);
    free(text);
    return status;
}
