#include "base/json_read.h"

#include <string.h>

#include "common/error.h"
#include "base/json_parts.h"
#include "base/memory.h"

enum { WINDOW = 256 << 10 }; /* fits the second-level cache */

enum expect { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, COMMA_OR_END, NOTHING };

/* Text lies in one window of the document that slides on; it grows only for a token that is larger. */
struct plm_json_reader {
    unsigned char *window;
    size_t room;                     /* without PLM_JSON_PAD bytes of 0 behind the text */
    unsigned char *at, *end;         /* not yet read */
    unsigned char *keep;             /* NULL, or where the text begins that must stay in the window */
    unsigned char *cut, under;       /* where a number was ended with a 0 byte, and what was there; NULL: nowhere */
    uint64_t before;                 /* bytes of the document that have left the window */
    uint64_t objects;                /* bit d: the d-th open level is an object */
    unsigned depth;
    enum expect expect;
    bool tolerant, ended;
    int status;                      /* of the first failure */
    struct plm_json_source source;
};

/* ---- the window ---- */

static int reader_refuse(struct plm_json_reader *r, struct plm_error *error, const char *what)
{
    return plm_fail(error, PLM_EFORMAT, "%s: not JSON at byte %llu: %s", r->source.name,
                    (unsigned long long)plm_json_place(r), what);
}

static int window_enlarge(struct plm_json_reader *r, struct plm_error *error)
{
    size_t room = 2 * r->room < PLM_JSON_TEXT + WINDOW ? 2 * r->room : PLM_JSON_TEXT + WINDOW;
    unsigned char *more;
    if (r->room >= PLM_JSON_TEXT + WINDOW)
        return reader_refuse(r, error, "a value is longer than 16 MiB");
    more = plm_realloc(r->window, room + PLM_JSON_PAD, 1);
    r->at = more + (r->at - r->window);
    r->end = more + (r->end - r->window);
    if (r->keep)
        r->keep = more + (r->keep - r->window);
    r->window = more;
    r->room = room;
    return 0;
}

/* Brings more of the document in. 1, 0 at its end, or negative. */
static int window_more(struct plm_json_reader *r, struct plm_error *error)
{
    unsigned char *from = r->keep ? r->keep : r->at;
    size_t gone = (size_t)(from - r->window), left = (size_t)(r->end - from);
    int64_t got;
    int status;
    if (r->ended)
        return 0;
    if (gone) {
        memmove(r->window, from, left);
        r->at -= gone;
        r->end -= gone;
        r->keep = r->keep ? r->window : NULL;
        r->before += gone;
    }
    if (left == r->room && (status = window_enlarge(r, error)) < 0)
        return status;
    got = plm_json_source_read(&r->source, r->end, r->room - left, error);
    if (got < 0)
        return (int)got;
    r->ended = !got;
    r->end += got;
    memset(r->end, 0, PLM_JSON_PAD);
    return got > 0;
}

static int reader_begin(struct plm_json_reader **reader, struct plm_json_reader *r, size_t room, int status)
{
    if (status < 0) {
        free(r);
        return status;
    }
    r->room = room;
    r->window = plm_realloc(NULL, r->room + PLM_JSON_PAD, 1);
    memset(r->window, 0, PLM_JSON_PAD);
    r->at = r->end = r->window;
    *reader = r;
    return 0;
}

int plm_json_open(const char *path, struct plm_json_reader **reader, struct plm_error *error)
{
    struct plm_json_reader *r = plm_calloc(1, sizeof *r);
    return reader_begin(reader, r, WINDOW, plm_json_source_open(&r->source, path, error));
}

int plm_json_open_memory(const char *name, const void *data, size_t size, struct plm_json_reader **reader,
                         struct plm_error *error)
{
    struct plm_json_reader *r = plm_calloc(1, sizeof *r);
    return reader_begin(reader, r, size < WINDOW ? size + 1 : WINDOW,
                        plm_json_source_memory(&r->source, name, data, size, error));
}

void plm_json_close(struct plm_json_reader *r)
{
    if (!r)
        return;
    plm_json_source_close(&r->source);
    free(r->window);
    free(r);
}

void plm_json_tolerate(struct plm_json_reader *r)
{
    r->tolerant = true;
}

uint64_t plm_json_place(const struct plm_json_reader *r)
{
    return r->before + (uint64_t)(r->at - r->window);
}

/* ---- strings ---- */

static int check_utf8(struct plm_json_reader *r, unsigned char *p, const unsigned char *end, struct plm_error *error)
{
    while ((p = plm_json_not_utf8(p, end))) {
        if (!r->tolerant) {
            r->at = p;
            return reader_refuse(r, error, "a string is not UTF-8");
        }
        *p++ = '?';
    }
    return 0;
}

/* A string whose quotation mark is at `at`. `pass`: checked only. */
static int token_string(struct plm_json_reader *r, struct plm_json_value *v, bool pass, struct plm_error *error)
{
    struct plm_json_seen seen = {0};
    unsigned char *p = r->at + 1, *text, *end;
    unsigned char *outer = r->keep;
    if (!outer)
        r->keep = r->at;
    for (;;) {
        size_t done;
        int status;
        p = plm_json_scan_string(p, &seen);
        if (*p == '"')
            break;
        if (*p == '\\' && p + 1 < r->end) {
            seen.escape = true;
            p += 2;
            continue;
        }
        if (*p != '\\' && p < r->end) {
            if (!r->tolerant) {
                r->at = p;
                return reader_refuse(r, error, "a string has a control character in it");
            }
            p++;
            continue;
        }
        done = (size_t)(p - r->at);
        status = window_more(r, error);
        if (status <= 0)
            return status < 0 ? status : reader_refuse(r, error, "the document ends within a string");
        p = r->at + done;
    }
    text = r->at + 1;
    end = p;
    if (!outer)
        r->keep = NULL;
    if ((size_t)(end - text) > PLM_JSON_TEXT)
        return reader_refuse(r, error, "a string is longer than 16 MiB");
    if (seen.high && check_utf8(r, text, end, error))
        return PLM_EFORMAT;
    if (seen.escape && !(end = plm_json_unescape(text, end, !pass, &r->at)))
        return reader_refuse(r, error, "a string has an unknown escape");
    r->at = p + 1;
    if (!pass) {
        *end = 0;
        v->text = (const char *)text;
        v->length = (size_t)(end - text);
    }
    return 0;
}

/* ---- numbers and words ---- */

static int token_number(struct plm_json_reader *r, unsigned char *end, struct plm_json_value *v, bool pass,
                        struct plm_error *error)
{
    unsigned char after = *end;
    const unsigned char *proper;
    *end = 0;
    proper = plm_json_scan_number(r->at);
    *end = after;
    if (proper != end)
        return reader_refuse(r, error, "this is not a number");
    if (!pass) {
        v->text = (const char *)r->at;
        v->length = (size_t)(end - r->at);
        r->cut = end;
        r->under = after;
        *end = 0;
    }
    r->at = end;
    v->token = PLM_JSON_NUMBER;
    return 0;
}

static int token_word(struct plm_json_reader *r, const unsigned char *end, struct plm_json_value *v,
                      struct plm_error *error)
{
    static const struct {
        const char *text;
        enum plm_json_token token;
        bool proper;
    } words[] = {
        {"true", PLM_JSON_TRUE, true},        {"false", PLM_JSON_FALSE, true}, {"null", PLM_JSON_NULL, true},
        {"Infinity", PLM_JSON_NUMBER, false}, {"NaN", PLM_JSON_NUMBER, false}, {"-Infinity", PLM_JSON_NUMBER, false},
    };
    size_t length = (size_t)(end - r->at);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if ((words[i].proper || r->tolerant) && length == strlen(words[i].text) &&
            !memcmp(r->at, words[i].text, length)) {
            v->token = words[i].token;
            v->text = words[i].proper ? NULL : words[i].text;
            v->length = words[i].proper ? 0 : length;
            r->at += length;
            return 0;
        }
    return reader_refuse(r, error, "a value was expected here");
}

static int token_plain(struct plm_json_reader *r, struct plm_json_value *v, bool pass, struct plm_error *error)
{
    unsigned char *p = r->at, *outer = r->keep;
    if (!outer)
        r->keep = r->at;
    for (;;) {
        size_t done;
        int status;
        p = plm_json_scan_plain(p);
        if (p < r->end)
            break;
        done = (size_t)(p - r->at);
        status = window_more(r, error);
        if (status < 0)
            return status;
        p = r->at + done;
        if (!status)
            break;
    }
    if (!outer)
        r->keep = NULL;
    if ((*r->at >= '0' && *r->at <= '9') || (*r->at == '-' && r->at[1] != 'I'))
        return token_number(r, p, v, pass, error);
    return token_word(r, p, v, error);
}

/* ---- structure ---- */

static bool in_object(const struct plm_json_reader *r)
{
    return r->objects >> (r->depth - 1) & 1;
}

static void after_value(struct plm_json_reader *r)
{
    r->expect = r->depth ? COMMA_OR_END : NOTHING;
}

static int level_enter(struct plm_json_reader *r, bool object, struct plm_json_value *v, struct plm_error *error)
{
    if (r->depth == PLM_JSON_DEPTH)
        return reader_refuse(r, error, "it nests deeper than 64 levels");
    r->objects = (r->objects & ~(1ull << r->depth)) | (uint64_t)object << r->depth;
    r->depth++;
    r->at++;
    r->expect = object ? KEY_OR_END : VALUE_OR_END;
    v->token = object ? PLM_JSON_OBJECT : PLM_JSON_ARRAY;
    return 0;
}

static int level_end(struct plm_json_reader *r, bool object, struct plm_json_value *v, struct plm_error *error)
{
    if (object != in_object(r))
        return reader_refuse(r, error, object ? "an array ends with }" : "an object ends with ]");
    r->depth--;
    r->at++;
    after_value(r);
    v->token = object ? PLM_JSON_END_OBJECT : PLM_JSON_END_ARRAY;
    return 0;
}

enum { AT_END = 256 };

/* The next byte that is not white space, which stays unread; AT_END, or negative after a failure. */
static int next_significant(struct plm_json_reader *r, struct plm_error *error)
{
    for (;;) {
        int status;
        r->at = plm_json_scan_space(r->at);
        if (r->at < r->end)
            return *r->at;
        status = window_more(r, error);
        if (status <= 0)
            return status ? status : AT_END;
    }
}

static int token_value(struct plm_json_reader *r, int c, struct plm_json_value *v, bool pass, struct plm_error *error)
{
    int status;
    if (c == '{' || c == '[')
        return level_enter(r, c == '{', v, error);
    v->token = PLM_JSON_STRING;
    status = c == '"' ? token_string(r, v, pass, error) : token_plain(r, v, pass, error);
    if (!status)
        after_value(r);
    return status;
}

static int token_key(struct plm_json_reader *r, int c, struct plm_json_value *v, bool pass, struct plm_error *error)
{
    int status;
    if (c != '"')
        return reader_refuse(r, error, "a key was expected here");
    status = token_string(r, v, pass, error);
    v->token = PLM_JSON_KEY;
    r->expect = COLON;
    return status;
}

/* There is no byte any more: right after the document, else too early. */
static int token_end(struct plm_json_reader *r, struct plm_json_value *v, struct plm_error *error)
{
    if (r->expect == NOTHING) {
        v->token = PLM_JSON_END;
        return 0;
    }
    return reader_refuse(r, error, plm_json_place(r) ? "the document ends too early" : "it is empty");
}

static int token_read(struct plm_json_reader *r, struct plm_json_value *v, bool pass, struct plm_error *error)
{
    int c = next_significant(r, error);
    v->text = NULL;
    v->length = 0;
    if ((r->expect == COMMA_OR_END && c == ',') || (r->expect == COLON && c == ':')) {
        r->at++;
        r->expect = r->expect == COMMA_OR_END && in_object(r) ? KEY : VALUE;
        c = next_significant(r, error);
    }
    if (c < 0)
        return c;
    if (c == AT_END)
        return token_end(r, v, error);
    switch (r->expect) {
    case VALUE_OR_END:
    case COMMA_OR_END:
        if (c == '}' || c == ']')
            return level_end(r, c == '}', v, error);
        if (r->expect == COMMA_OR_END)
            return reader_refuse(r, error, "a comma or the end of an object or array was expected here");
        return token_value(r, c, v, pass, error);
    case VALUE: return token_value(r, c, v, pass, error);
    case KEY_OR_END:
        if (c == '}')
            return level_end(r, true, v, error);
        return token_key(r, c, v, pass, error);
    case KEY: return token_key(r, c, v, pass, error);
    case COLON: return reader_refuse(r, error, "a colon was expected here");
    case NOTHING: break;
    }
    return reader_refuse(r, error, "something follows the end of the document");
}

static int token_checked(struct plm_json_reader *r, struct plm_json_value *v, bool pass, struct plm_error *error)
{
    if (r->cut) {
        *r->cut = r->under;
        r->cut = NULL;
    }
    if (r->status)
        return plm_fail(error, r->status, "%s: an earlier read failed", r->source.name);
    r->status = token_read(r, v, pass, error);
    return r->status;
}

int plm_json_next(struct plm_json_reader *r, struct plm_json_value *v, struct plm_error *error)
{
    return token_checked(r, v, false, error);
}

/* Until the reader is at `depth` levels, after a value. */
static int tokens_pass(struct plm_json_reader *r, unsigned depth, struct plm_error *error)
{
    struct plm_json_value v;
    int status;
    do {
        status = token_checked(r, &v, true, error);
    } while (!status && (r->depth > depth || r->expect == COLON));
    return status;
}

int plm_json_skip(struct plm_json_reader *r, struct plm_error *error)
{
    return tokens_pass(r, r->depth, error);
}

int plm_json_leave(struct plm_json_reader *r, struct plm_error *error)
{
    return tokens_pass(r, r->depth ? r->depth - 1 : 0, error);
}

int plm_json_raw(struct plm_json_reader *r, const char **text, size_t *length, struct plm_error *error)
{
    int status, c;
    if (r->cut) {
        *r->cut = r->under;
        r->cut = NULL;
    }
    c = next_significant(r, error);
    if (r->expect == COLON && c == ':') {
        r->at++;
        r->expect = VALUE;
        c = next_significant(r, error);
    }
    r->keep = r->at;
    status = c < 0 ? (r->status = c) : plm_json_skip(r, error);
    *text = (const char *)r->keep;
    *length = (size_t)(r->at - r->keep);
    r->keep = NULL;
    return status;
}
