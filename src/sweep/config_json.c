/* Where a key of a JSON document stands. */
#include <string.h>

#include "sweep/config.h"

enum { DEPTH = 64 };

struct scan {
    const char *text;
    size_t size, at;
    struct plm_sweep_place place;
    bool wrong; /* nothing further is understood */
};

static char peek(struct scan *s)
{
    while (s->at < s->size && strchr(" \t\r\n", s->text[s->at]) && s->text[s->at])
        s->at++;
    return s->at < s->size ? s->text[s->at] : '\0';
}

static bool take(struct scan *s, char c)
{
    const bool there = peek(s) == c;
    s->at += there;
    return there;
}

static void value_scan(struct scan *s, const char *path, int depth);

/* `path` NULL: what is looked for is not in here. */
static void object_scan(struct scan *s, const char *path, int depth)
{
    while (!s->wrong && peek(s) == '"') {
        const size_t from = s->at + 1, end = plm_sweep_quoted_end(s->text, s->size, s->at, true);
        s->at = end;
        if (end == s->size || !take(s, ':')) {
            s->wrong = true;
            return;
        }
        value_scan(s, path && *path ? plm_sweep_path_after(path, s->text + from, end - 1 - from) : NULL, depth);
        if (!take(s, ','))
            break;
    }
    s->wrong |= !take(s, '}');
}

static void array_scan(struct scan *s, int depth)
{
    while (!s->wrong && peek(s) && peek(s) != ']') {
        value_scan(s, NULL, depth);
        if (!take(s, ','))
            break;
    }
    s->wrong |= !take(s, ']');
}

static void scalar_scan(struct scan *s)
{
    if (s->text[s->at] == '"')
        s->at = plm_sweep_quoted_end(s->text, s->size, s->at, true);
    else {
        const size_t from = s->at;
        while (s->at < s->size && s->text[s->at] && !strchr(" \t\r\n,]}:[{\"", s->text[s->at]))
            s->at++;
        s->wrong |= s->at == from;
    }
}

static void value_scan(struct scan *s, const char *path, int depth)
{
    const bool is_it = path && !*path;
    const char c = peek(s);
    const size_t from = s->at;
    if (!c || depth == DEPTH) {
        s->wrong = true;
        return;
    }
    if (take(s, '{'))
        object_scan(s, path, depth + 1);
    else if (take(s, '['))
        array_scan(s, depth + 1);
    else
        scalar_scan(s);
    if (is_it && !s->wrong)
        s->place = (struct plm_sweep_place){.from = from,
                                            .to = s->at,
                                            .found = s->place.found + 1,
                                            .why = c == '{'   ? "an object"
                                                   : c == '[' ? "an array"
                                                              : NULL};
}

struct plm_sweep_place plm_sweep_find_json(const char *text, size_t size, const char *key)
{
    struct scan s = {.text = text, .size = size};
    if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        s.at = 3;
    value_scan(&s, key, 0);
    if (s.wrong || peek(&s) || s.at < size)
        s.place.found = 0;
    return s.place;
}
