#include "base/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/error.h"
#include "base/json_source.h"
#include "base/utf8.h"

enum {
    WINDOW = 256 << 10, /* fits the second-level cache */
    PAD = 16,           /* bytes of 0 behind the text: scans stop there and may read as far */
};

enum expect { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, COMMA_OR_END, NOTHING };

/* Text lies in one window of the document that slides on; it grows only for a token that is larger. */
struct plm_json_reader {
    unsigned char *window;
    size_t room;                     /* without PAD */
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

enum { SPACE = 1, PLAIN = 2 }; /* PLAIN: what a value other than a string, an object or an array is made of */
static const unsigned char class_of[256] = {
    [' '] = SPACE, ['\n'] = SPACE, ['\t'] = SPACE,        ['\r'] = SPACE,        ['+'] = PLAIN,
    ['-'] = PLAIN, ['.'] = PLAIN,  ['0' ... '9'] = PLAIN, ['A' ... 'Z'] = PLAIN, ['a' ... 'z'] = PLAIN,
};

/* ---- the window ---- */

static int refuse(struct plm_json_reader *r, struct plm_error *error, const char *what)
{
    return plm_fail(error, PLM_EFORMAT, "%s: not JSON at byte %llu: %s", r->source.name,
                    (unsigned long long)plm_json_place(r), what);
}

static int enlarge(struct plm_json_reader *r, struct plm_error *error)
{
    size_t room = 2 * r->room < PLM_JSON_TEXT + WINDOW ? 2 * r->room : PLM_JSON_TEXT + WINDOW;
    unsigned char *more;
    if (r->room >= PLM_JSON_TEXT + WINDOW)
        return refuse(r, error, "a value is longer than 16 MiB");
    more = realloc(r->window, room + PAD);
    if (!more)
        return plm_fail(error, PLM_ENOMEM, "out of memory");
    r->at = more + (r->at - r->window);
    r->end = more + (r->end - r->window);
    if (r->keep)
        r->keep = more + (r->keep - r->window);
    r->window = more;
    r->room = room;
    return 0;
}

/* Brings more of the document in. 1, 0 at its end, or negative. */
static int more(struct plm_json_reader *r, struct plm_error *error)
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
    if (left == r->room && (status = enlarge(r, error)) < 0)
        return status;
    got = plm_json_source_read(&r->source, r->end, r->room - left, error);
    if (got < 0)
        return (int)got;
    r->ended = !got;
    r->end += got;
    memset(r->end, 0, PAD);
    return got > 0;
}

static int begin(struct plm_json_reader **reader, struct plm_json_reader *r, int status, struct plm_error *error)
{
    if (status < 0) {
        free(r);
        return status;
    }
    r->room = WINDOW;
    r->window = malloc(r->room + PAD);
    if (!r->window) {
        plm_json_close(r);
        return plm_fail(error, PLM_ENOMEM, "out of memory");
    }
    memset(r->window, 0, PAD);
    r->at = r->end = r->window;
    *reader = r;
    return 0;
}

int plm_json_open(const char *path, struct plm_json_reader **reader, struct plm_error *error)
{
    struct plm_json_reader *r = calloc(1, sizeof *r);
    if (!r)
        return plm_fail(error, PLM_ENOMEM, "out of memory");
    return begin(reader, r, plm_json_source_open(&r->source, path, error), error);
}

int plm_json_open_memory(const char *name, const void *data, size_t size, struct plm_json_reader **reader,
                         struct plm_error *error)
{
    struct plm_json_reader *r = calloc(1, sizeof *r);
    if (!r)
        return plm_fail(error, PLM_ENOMEM, "out of memory");
    return begin(reader, r, plm_json_source_memory(&r->source, name, data, size, error), error);
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

struct seen {
    bool escape, high; /* a backslash; a byte of 0x80 or more */
};

/* The first byte at or behind `p` that is a quotation mark, a backslash or a control character. The 0 bytes behind the text are some. */
static unsigned char *scan(unsigned char *p, struct seen *seen)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);
    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)p);
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash));
        unsigned stops = (unsigned)_mm_movemask_epi8(_mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(v, control), v)));
        unsigned high = (unsigned)_mm_movemask_epi8(v);
        if (stops) {
            seen->high |= (high & (stops - 1) & ~stops) != 0;
            return p + __builtin_ctz(stops);
        }
        seen->high |= high != 0;
    }
#else
    for (; *p >= 0x20 && *p != '"' && *p != '\\'; p++)
        seen->high |= *p >= 0x80;
    return p;
#endif
}

static unsigned hex4(const unsigned char *p)
{
    unsigned n = 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = p[i], digit = c - '0';
        if (digit > 9) {
            digit = (c | 0x20) - 'a' + 10;
            if (digit < 10 || digit > 15)
                return UINT32_MAX;
        }
        n = n << 4 | digit;
    }
    return n;
}

static unsigned put_utf8(unsigned code, unsigned char *out)
{
    unsigned n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (unsigned i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (unsigned char)(0x80 | (code & 0x3f));
    out[0] = (unsigned char)(lead[n] | code);
    return n;
}

/* The escape at `p`, which begins with a backslash: its bytes to `out`. Returns its length as written, 0 if there is no such escape. The
   closing quotation mark ends what can be read. */
static unsigned unescape_one(const unsigned char *p, unsigned char out[4], unsigned *bytes)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *name = p[1] ? strchr(names, p[1]) : NULL;
    unsigned code, low;
    if (name) {
        out[0] = (unsigned char)values[name - names];
        *bytes = 1;
        return 2;
    }
    if (p[1] != 'u' || (code = hex4(p + 2)) == UINT32_MAX)
        return 0;
    if (code >> 11 != 0xd800 >> 11) {
        *bytes = put_utf8(code, out);
        return 6;
    }
    if (code < 0xdc00 && p[6] == '\\' && p[7] == 'u' && (low = hex4(p + 8)) >> 10 == 0xdc00 >> 10) {
        *bytes = put_utf8(0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff), out);
        return 12;
    }
    *bytes = put_utf8(0xfffd, out);
    return 6;
}

/* Text from `p` to `end` made plain, in place if `write`; its new end, or NULL after a refusal. */
static unsigned char *unescape(struct plm_json_reader *r, unsigned char *p, unsigned char *end, bool write,
                               struct plm_error *error)
{
    unsigned char *out = p;
    while (p < end) {
        unsigned char *next = memchr(p, '\\', (size_t)(end - p)), plain[4];
        unsigned length, bytes;
        if (!next)
            next = end;
        if (write && out != p)
            memmove(out, p, (size_t)(next - p));
        out += next - p;
        if (next == end)
            break;
        length = unescape_one(next, plain, &bytes);
        if (!length) {
            r->at = next;
            refuse(r, error, "there is no such escape in a string");
            return NULL;
        }
        if (write)
            memcpy(out, plain, bytes);
        out += bytes;
        p = next + length;
    }
    return out;
}

static int check_utf8(struct plm_json_reader *r, unsigned char *p, const unsigned char *end, struct plm_error *error)
{
    while (p < end) {
        unsigned n = *p < 0x80 ? 1 : plm_utf8_length((const char *)p);
        if (!n && !r->tolerant) {
            r->at = p;
            return refuse(r, error, "a string is not UTF-8");
        }
        if (!n)
            *p = '?';
        p += n ? n : 1;
    }
    return 0;
}

/* A string whose quotation mark is at `at`. `pass`: checked only. */
static int string(struct plm_json_reader *r, struct plm_json_value *v, bool pass, struct plm_error *error)
{
    struct seen seen = {0};
    unsigned char *p = r->at + 1, *text, *end;
    unsigned char *outer = r->keep;
    if (!outer)
        r->keep = r->at;
    for (;;) {
        size_t done;
        int status;
        p = scan(p, &seen);
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
                return refuse(r, error, "a string has a control character in it");
            }
            p++;
            continue;
        }
        done = (size_t)(p - r->at);
        status = more(r, error);
        if (status <= 0)
            return status < 0 ? status : refuse(r, error, "the document ends within a string");
        p = r->at + done;
    }
    text = r->at + 1;
    end = p;
    if (!outer)
        r->keep = NULL;
    if ((size_t)(end - text) > PLM_JSON_TEXT)
        return refuse(r, error, "a string is longer than 16 MiB");
    if (seen.high && check_utf8(r, text, end, error))
        return PLM_EFORMAT;
    if (seen.escape && !(end = unescape(r, text, end, !pass, error)))
        return PLM_EFORMAT;
    r->at = p + 1;
    if (!pass) {
        *end = 0;
        v->text = (const char *)text;
        v->length = (size_t)(end - text);
    }
    return 0;
}

/* ---- numbers and words ---- */

static const unsigned char *digits(const unsigned char *p)
{
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

/* The end of the number at `p`, NULL if it is none. A 0 byte ends what can be read. */
static const unsigned char *number_end(const unsigned char *p)
{
    const unsigned char *q;
    p += *p == '-';
    q = digits(p);
    if (q == p || (*p == '0' && q > p + 1))
        return NULL;
    if (*q == '.') {
        p = q + 1;
        if ((q = digits(p)) == p)
            return NULL;
    }
    if ((*q | 0x20) == 'e') {
        p = q + 1;
        p += *p == '+' || *p == '-';
        if ((q = digits(p)) == p)
            return NULL;
    }
    return q;
}

static int number(struct plm_json_reader *r, unsigned char *end, struct plm_json_value *v, bool pass,
                  struct plm_error *error)
{
    unsigned char after = *end;
    const unsigned char *proper;
    *end = 0;
    proper = number_end(r->at);
    *end = after;
    if (proper != end)
        return refuse(r, error, "this is no number");
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

static int word(struct plm_json_reader *r, const unsigned char *end, struct plm_json_value *v, struct plm_error *error)
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
    return refuse(r, error, "a value was expected here");
}

static int plain(struct plm_json_reader *r, struct plm_json_value *v, bool pass, struct plm_error *error)
{
    unsigned char *p = r->at, *outer = r->keep;
    if (!outer)
        r->keep = r->at;
    for (;;) {
        size_t done;
        int status;
        while (class_of[*p] == PLAIN)
            p++;
        if (p < r->end)
            break;
        done = (size_t)(p - r->at);
        status = more(r, error);
        if (status < 0)
            return status;
        p = r->at + done;
        if (!status)
            break;
    }
    if (!outer)
        r->keep = NULL;
    if ((*r->at >= '0' && *r->at <= '9') || (*r->at == '-' && r->at[1] != 'I'))
        return number(r, p, v, pass, error);
    return word(r, p, v, error);
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

static int enter(struct plm_json_reader *r, bool object, struct plm_json_value *v, struct plm_error *error)
{
    if (r->depth == PLM_JSON_DEPTH)
        return refuse(r, error, "it nests deeper than 64 levels");
    r->objects = (r->objects & ~(1ull << r->depth)) | (uint64_t)object << r->depth;
    r->depth++;
    r->at++;
    r->expect = object ? KEY_OR_END : VALUE_OR_END;
    v->token = object ? PLM_JSON_OBJECT : PLM_JSON_ARRAY;
    return 0;
}

static int end_level(struct plm_json_reader *r, bool object, struct plm_json_value *v, struct plm_error *error)
{
    if (object != in_object(r))
        return refuse(r, error, object ? "an array ends with }" : "an object ends with ]");
    r->depth--;
    r->at++;
    after_value(r);
    v->token = object ? PLM_JSON_END_OBJECT : PLM_JSON_END_ARRAY;
    return 0;
}

/* The next byte that is not white space, which stays unread; 0 at the end, with *status 1; *status negative after a failure. */
static unsigned char significant(struct plm_json_reader *r, int *status, struct plm_error *error)
{
    for (;;) {
        unsigned char *p = r->at;
        while (class_of[*p] == SPACE)
            p++;
        r->at = p;
        if (p < r->end)
            return *p;
        *status = more(r, error);
        if (*status <= 0) {
            *status = *status ? *status : 1;
            return 0;
        }
        *status = 0;
    }
}

static int value(struct plm_json_reader *r, unsigned char c, struct plm_json_value *v, bool pass,
                 struct plm_error *error)
{
    int status;
    if (c == '{' || c == '[')
        return enter(r, c == '{', v, error);
    v->token = PLM_JSON_STRING;
    status = c == '"' ? string(r, v, pass, error) : plain(r, v, pass, error);
    if (!status)
        after_value(r);
    return status;
}

static int key(struct plm_json_reader *r, unsigned char c, struct plm_json_value *v, bool pass, struct plm_error *error)
{
    int status;
    if (c != '"')
        return refuse(r, error, "a key was expected here");
    status = string(r, v, pass, error);
    v->token = PLM_JSON_KEY;
    r->expect = COLON;
    return status;
}

static int finish(struct plm_json_reader *r, int status, struct plm_json_value *v, struct plm_error *error)
{
    if (status < 0)
        return status;
    if (r->expect == NOTHING) {
        v->token = PLM_JSON_END;
        return 0;
    }
    return refuse(r, error, plm_json_place(r) ? "the document ends too early" : "there is nothing in it");
}

static int token(struct plm_json_reader *r, struct plm_json_value *v, bool pass, struct plm_error *error)
{
    int status = 0;
    unsigned char c = significant(r, &status, error);
    v->text = NULL;
    v->length = 0;
    if (status)
        return finish(r, status, v, error);
    if ((r->expect == COMMA_OR_END && c == ',') || (r->expect == COLON && c == ':')) {
        r->at++;
        r->expect = r->expect == COMMA_OR_END && in_object(r) ? KEY : VALUE;
        c = significant(r, &status, error);
        if (status)
            return finish(r, status, v, error);
    }
    switch (r->expect) {
    case VALUE_OR_END:
    case COMMA_OR_END:
        if (c == '}' || c == ']')
            return end_level(r, c == '}', v, error);
        if (r->expect == COMMA_OR_END)
            return refuse(r, error, "a comma or the end of an object or array was expected here");
        return value(r, c, v, pass, error);
    case VALUE: return value(r, c, v, pass, error);
    case KEY_OR_END:
        if (c == '}')
            return end_level(r, true, v, error);
        return key(r, c, v, pass, error);
    case KEY: return key(r, c, v, pass, error);
    case COLON: return refuse(r, error, "a colon was expected here");
    case NOTHING: break;
    }
    return refuse(r, error, "something follows the end of the document");
}

static int checked(struct plm_json_reader *r, struct plm_json_value *v, bool pass, struct plm_error *error)
{
    if (r->cut) {
        *r->cut = r->under;
        r->cut = NULL;
    }
    if (r->status)
        return plm_fail(error, r->status, "%s: it could not be read before", r->source.name);
    r->status = token(r, v, pass, error);
    return r->status;
}

int plm_json_next(struct plm_json_reader *r, struct plm_json_value *v, struct plm_error *error)
{
    return checked(r, v, false, error);
}

/* Until the reader is at `depth` levels, after a value. */
static int pass_to(struct plm_json_reader *r, unsigned depth, struct plm_error *error)
{
    struct plm_json_value v;
    int status;
    do {
        status = checked(r, &v, true, error);
    } while (!status && (r->depth > depth || r->expect == COLON));
    return status;
}

int plm_json_skip(struct plm_json_reader *r, struct plm_error *error)
{
    return pass_to(r, r->depth, error);
}

int plm_json_leave(struct plm_json_reader *r, struct plm_error *error)
{
    return pass_to(r, r->depth ? r->depth - 1 : 0, error);
}

int plm_json_raw(struct plm_json_reader *r, const char **text, size_t *length, struct plm_error *error)
{
    int status = 0;
    if (r->cut) {
        *r->cut = r->under;
        r->cut = NULL;
    }
    if (r->expect == COLON && significant(r, &status, error) == ':') {
        r->at++;
        r->expect = VALUE;
    }
    if (status >= 0)
        significant(r, &status, error);
    r->keep = r->at;
    status = status < 0 ? status : plm_json_skip(r, error);
    *text = (const char *)r->keep;
    *length = (size_t)(r->at - r->keep);
    r->keep = NULL;
    return status;
}

/* ---- numbers ---- */

bool plm_json_to_signed(const struct plm_json_value *v, int64_t *out)
{
    const char *p = v->text;
    bool negative;
    if (v->token != PLM_JSON_NUMBER || !p)
        return false;
    negative = *p == '-';
    *out = 0;
    for (p += negative; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_sub_overflow(*out, *p - '0', out))
            return false;
    if (*p) /* counted below 0, where there is one number more */
        return false;
    return negative || !__builtin_sub_overflow(0, *out, out);
}

bool plm_json_to_real(const struct plm_json_value *v, double *out)
{
    if (v->token != PLM_JSON_NUMBER || !v->text)
        return false;
    *out = strtod(v->text, NULL);
    return isfinite(*out);
}
