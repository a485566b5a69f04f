#include "base/json_parts.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/json_read.h"
#include "common/utf8.h"

enum { SPACE = 1, PLAIN = 2 }; /* PLAIN: what a value other than a string, an object or an array is made of */
static const unsigned char class_of[256] = {
    [' '] = SPACE, ['\n'] = SPACE, ['\t'] = SPACE,        ['\r'] = SPACE,        ['+'] = PLAIN,
    ['-'] = PLAIN, ['.'] = PLAIN,  ['0' ... '9'] = PLAIN, ['A' ... 'Z'] = PLAIN, ['a' ... 'z'] = PLAIN,
};

/* ---- where things end ---- */

unsigned char *plm_json_scan_space(unsigned char *p)
{
    /* Mostly none or one; else a new line and its indentation. */
    if (class_of[*p] != SPACE || class_of[*++p] != SPACE)
        return p;
#ifdef __SSE2__
    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)p);
        __m128i space = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\n')));
        unsigned others = ~(unsigned)_mm_movemask_epi8(space) & 0xffff;
        if (others) {
            p += __builtin_ctz(others);
            break;
        }
    }
#endif
    while (class_of[*p] == SPACE)
        p++;
    return p;
}

unsigned char *plm_json_scan_plain(unsigned char *p)
{
    while (class_of[*p] == PLAIN)
        p++;
    return p;
}

static const unsigned char *digits_skip(const unsigned char *p)
{
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

const unsigned char *plm_json_scan_number(const unsigned char *p)
{
    const unsigned char *q;
    p += *p == '-';
    q = digits_skip(p);
    if (q == p || (*p == '0' && q > p + 1))
        return NULL;
    if (*q == '.') {
        p = q + 1;
        if ((q = digits_skip(p)) == p)
            return NULL;
    }
    if ((*q | 0x20) == 'e') {
        p = q + 1;
        p += *p == '+' || *p == '-';
        if ((q = digits_skip(p)) == p)
            return NULL;
    }
    return q;
}

unsigned char *plm_json_scan_string(unsigned char *p, struct plm_json_seen *seen)
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

/* ---- what strings stand for ---- */

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

unsigned char *plm_json_unescape(unsigned char *p, unsigned char *end, bool write, unsigned char **bad)
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
            *bad = next;
            return NULL;
        }
        if (write)
            memcpy(out, plain, bytes);
        out += bytes;
        p = next + length;
    }
    return out;
}

unsigned char *plm_json_not_utf8(unsigned char *p, const unsigned char *end)
{
    while (p < end) {
        unsigned n = *p < 0x80 ? 1 : plm_utf8_length((const char *)p);
        if (!n)
            return p;
        p += n;
    }
    return NULL;
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
