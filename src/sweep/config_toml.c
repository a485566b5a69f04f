/* Where a key of a TOML document stands. */
#include <string.h>

#include "sweep/config.h"

struct scan {
    const char *text;
    size_t size, at;
    const char *inside; /* what of the path is left within the table; NULL: it is another table */
    struct plm_sweep_place place;
};

static size_t line_end(const struct scan *s, size_t at)
{
    const char *end = at < s->size ? memchr(s->text + at, '\n', s->size - at) : NULL;
    return end ? (size_t)(end - s->text) : s->size;
}

static size_t blanks(const struct scan *s, size_t at, size_t end)
{
    while (at < end && (s->text[at] == ' ' || s->text[at] == '\t' || s->text[at] == '\r'))
        at++;
    return at;
}

/* A text in quotation marks, of several lines too: the place behind it. */
static size_t text_end(const struct scan *s, size_t at)
{
    const char quote = s->text[at];
    size_t i = at + 3;
    if (at + 2 >= s->size || s->text[at + 1] != quote || s->text[at + 2] != quote) {
        for (i = at + 1; i < s->size && s->text[i] != quote && s->text[i] != '\n'; i++)
            i += quote == '"' && s->text[i] == '\\';
        return i < s->size ? i + 1 : s->size;
    }
    for (; i + 2 < s->size; i++)
        if (quote == '"' && s->text[i] == '\\')
            i++;
        else if (s->text[i] == quote && s->text[i + 1] == quote && s->text[i + 2] == quote)
            return i + 3;
    return s->size;
}

/* An array or inline table: the place behind its bracket. */
static size_t brackets_end(const struct scan *s, size_t at)
{
    size_t depth = 0;
    while (at < s->size) {
        const char c = s->text[at];
        if (c == '"' || c == '\'') {
            at = text_end(s, at);
            continue;
        }
        if (c == '#') {
            at = line_end(s, at);
            continue;
        }
        at++;
        if (c == '[' || c == '{')
            depth++;
        else if ((c == ']' || c == '}') && --depth == 0)
            return at;
    }
    return s->size;
}

static size_t value_end(const struct scan *s, size_t at, size_t line)
{
    const char c = at < s->size ? s->text[at] : '\0';
    if (c == '[' || c == '{')
        return brackets_end(s, at);
    if (c == '"' || c == '\'')
        return text_end(s, at);
    for (size_t i = at; i < line; i++)
        if (s->text[i] == '#')
            line = i;
    while (line > at && strchr(" \t\r", s->text[line - 1]))
        line--;
    return line;
}

/* A dotted key, from `at` to `end` or to one of `stop`: what is left of the path behind it, NULL if it is another one.
   *behind is where it ends. */
static const char *key_read(const struct scan *s, const char *path, size_t at, size_t end, char stop, size_t *behind)
{
    while (at < end && s->text[at] != stop) {
        size_t from = at = blanks(s, at, end), to;
        if (at < end && (s->text[at] == '"' || s->text[at] == '\'')) {
            to = text_end(s, at);
            to = to > end ? end : to;
            at = to;
            from++;
            to -= to > from;
        } else {
            while (at < end && !strchr(" \t\r.=]", s->text[at]))
                at++;
            to = at;
        }
        path = path ? plm_sweep_path_after(path, s->text + from, to > from ? to - from : 0) : NULL;
        at = blanks(s, at, end);
        if (at < end && s->text[at] == '.')
            at++;
        else
            break;
    }
    *behind = at;
    return at < end && s->text[at] == stop ? path : NULL;
}

static const char *kind_of(const struct scan *s, size_t from)
{
    const char c = s->text[from];
    if (c == '[' || c == '{')
        return c == '[' ? "an array" : "a table";
    if (from + 2 < s->size && (c == '"' || c == '\'') && s->text[from + 1] == c && s->text[from + 2] == c)
        return "a text of several lines";
    return NULL;
}

/* "[trainer.loop]"; the items of "[[runs]]" have no path. */
static void table_open(struct scan *s, size_t at, size_t end, const char *key)
{
    size_t behind;
    const char *left = s->text[at + 1] == '[' ? NULL : key_read(s, key, at + 1, end, ']', &behind);
    s->inside = left && *left ? left : NULL;
}

static void pair_scan(struct scan *s, size_t at, size_t end)
{
    size_t behind, from, to;
    const char *left = key_read(s, s->inside ? s->inside : "", at, end, '=', &behind);
    if (behind >= end || s->text[behind] != '=') {
        s->at = end;
        return;
    }
    from = blanks(s, behind + 1, end);
    to = value_end(s, from, end);
    if (s->inside && left && !*left && from < to)
        s->place = (struct plm_sweep_place){from, to, s->place.found + 1, kind_of(s, from)};
    s->at = to > end ? to : end;
}

struct plm_sweep_place plm_sweep_find_toml(const char *text, size_t size, const char *key)
{
    struct scan s = {.text = text, .size = size, .inside = key};
    while (s.at < size) {
        const size_t end = line_end(&s, s.at), at = blanks(&s, s.at, end);
        s.at = end;
        if (at < end && text[at] == '[' && at + 1 < end)
            table_open(&s, at, end, key);
        else if (at < end && text[at] != '#')
            pair_scan(&s, at, end);
        s.at = line_end(&s, s.at) + 1;
    }
    return s.place;
}
