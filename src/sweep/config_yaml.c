/* Where a key of a YAML document stands, in block mappings: line by line, by what they are indented. */
#include <string.h>

#include "sweep/config.h"

enum { DEPTH = 64 };

struct level {
    size_t indent;
    const char *path; /* that is left below this key; NULL: another one */
};

struct scan {
    const char *text;
    size_t size;
    struct level level[DEPTH]; /* the keys that the line is below */
    size_t levels;
    size_t skipped; /* lines indented by more than this, plus 1, belong to a text or a list; 0: none do */
    bool own;       /* to the value that is looked for */
    struct plm_sweep_place place;
};

static size_t indent_of(const char *line, size_t size)
{
    size_t n = 0;
    while (n < size && line[n] == ' ')
        n++;
    return n;
}

/* The colon behind a key; `size`: there is none. Quotation marks hide one. */
static size_t colon_find(const char *line, size_t size, size_t at)
{
    if (at < size && (line[at] == '"' || line[at] == '\''))
        at = plm_sweep_quoted_end(line, size, at, line[at] == '"');
    for (; at < size; at++)
        if (line[at] == '#' && at && line[at - 1] == ' ')
            return size;
        else if (line[at] == ':' && (at + 1 == size || strchr(" \t\r", line[at + 1])))
            return at;
    return size;
}

static size_t value_end(const char *line, size_t size, size_t at)
{
    size_t end = size;
    if (at < size && (line[at] == '"' || line[at] == '\'')) {
        end = plm_sweep_quoted_end(line, size, at, line[at] == '"');
        return end;
    }
    for (size_t i = at; i < size; i++)
        if (line[i] == '#' && (i == at || strchr(" \t", line[i - 1]))) {
            end = i;
            break;
        }
    while (end > at && strchr(" \t\r", line[end - 1]))
        end--;
    return end;
}

/* Why a value is none that can be replaced. */
static const char *kind_of(const char *line, size_t size, size_t from, size_t to)
{
    const char c = from < to ? line[from] : '\0';
    if (!c)
        return "a mapping or list, or nothing";
    if ((c == '"' || c == '\'') && (to == from + 1 || line[to - 1] != c || value_end(line, size, to) < to))
        return "a text of several lines";
    switch (c) {
    case '{': return "a mapping";
    case '[': return "a list";
    case '|':
    case '>': return "a text of several lines";
    case '&':
    case '*': return "an anchor or alias";
    case '!': return "a value with a tag";
    default: return NULL;
    }
}

/* A list, or a text of several lines, hides what is indented below its key. */
static bool hides(const char *line, size_t from, size_t to)
{
    return from < to && line[from] != '&' && line[from] != '!';
}

static void pair_scan(struct scan *s, size_t start, size_t size, size_t indent, const char *key)
{
    const char *line = s->text + start;
    const size_t colon = colon_find(line, size, indent), quoted = line[indent] == '"' || line[indent] == '\'';
    const char *path;
    size_t from, to, end = colon;
    if (colon == size)
        return;
    while (s->levels && s->level[s->levels - 1].indent >= indent)
        s->levels--;
    while (end > indent && strchr(" \t", line[end - 1]))
        end--;
    path = s->levels ? s->level[s->levels - 1].path : key;
    if (end < indent + 2 * quoted)
        return;
    path = path && *path ? plm_sweep_path_after(path, line + indent + quoted, end - indent - 2 * quoted) : NULL;
    for (from = colon + 1; from < size && strchr(" \t", line[from]);)
        from++;
    to = value_end(line, size, from);
    s->own = path && !*path;
    if (s->own)
        s->place =
            (struct plm_sweep_place){start + from, start + to, s->place.found + 1, kind_of(line, size, from, to)};
    s->skipped = hides(line, from, to) || s->levels == DEPTH ? indent + 1 : 0;
    if (!s->skipped)
        s->level[s->levels++] = (struct level){indent, path};
}

static void line_scan(struct scan *s, size_t start, size_t size, const char *key)
{
    const char *line = s->text + start;
    const size_t indent = indent_of(line, size);
    if (value_end(line, size, indent) == indent) /* blank, or a comment */
        return;
    if (s->skipped && indent + 1 > s->skipped) {
        if (s->own)
            s->place.why = "a text of several lines";
        return;
    }
    s->skipped = 0;
    s->own = false;
    if (line[indent] == '-' && (indent + 1 == size || strchr(" \t\r", line[indent + 1])))
        s->skipped = indent + 1; /* what is in a list has no path; its lines are indented by more */
    else
        pair_scan(s, start, size, indent, key);
}

struct plm_sweep_place plm_sweep_find_yaml(const char *text, size_t size, const char *key)
{
    struct scan s = {.text = text, .size = size};
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t n = end ? (size_t)(end - (text + at)) : size - at;
        if (n >= 3 && !memcmp(text + at, "---", 3) && at && s.place.found)
            break; /* the first document counts */
        line_scan(&s, at, n, key);
        at += n + 1;
    }
    return s.place;
}
