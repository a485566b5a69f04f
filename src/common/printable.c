#include "common/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/utf8.h"

static uint32_t code_point(const unsigned char *p, unsigned length)
{
    uint32_t code = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    for (unsigned i = 1; i < length; i++)
        code = code << 6 | (p[i] & 0x3fu);
    return code;
}

static bool code_shown(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } unseen[] = {
        {0x0, 0x1f},      {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},   {0x180e, 0x180e},
        {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f}, {0xfeff, 0xfeff},
        {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe0fff},
    };
    for (size_t i = 0; i < sizeof unseen / sizeof unseen[0]; i++)
        if (code >= unseen[i].first && code <= unseen[i].last)
            return false;
    return true;
}

/* The character itself, if it is one that may be sent. */
static unsigned character_send(const char *text, char out[PLM_PRINTABLE_MOST], uint32_t *code)
{
    const unsigned n = plm_utf8_length(text);
    *code = n ? code_point((const unsigned char *)text, n) : (unsigned char)*text;
    if (!n || !code_shown(*code))
        return 0;
    memcpy(out, text, n);
    out[n] = '\0';
    return n;
}

unsigned plm_printable_next(const char *text, char out[PLM_PRINTABLE_MOST])
{
    uint32_t code;
    unsigned n = *text ? character_send(text, out, &code) : 0;
    if (n || !*text)
        return n;
    snprintf(out, PLM_PRINTABLE_MOST, code <= 0xff ? "\\x%02x" : code <= 0xffff ? "\\u%04x" : "\\U%08x", code);
    n = plm_utf8_length(text);
    return n ? n : 1;
}

unsigned plm_printable_json(const char *text, char out[PLM_PRINTABLE_MOST])
{
    static const char letters[] = "\"\"\\\\\nn\tt\rr"; /* each with the one that stands for it */
    uint32_t code;
    unsigned n = *text ? character_send(text, out, &code) : 0;
    for (const char *l = letters; *text && *l; l += 2)
        if (*text == *l) {
            snprintf(out, PLM_PRINTABLE_MOST, "\\%c", l[1]);
            return 1;
        }
    if (n || !*text)
        return n;
    n = plm_utf8_length(text);
    if (!n)
        snprintf(out, PLM_PRINTABLE_MOST, PLM_UTF8_REPLACEMENT);
    else if (code <= 0xffff)
        snprintf(out, PLM_PRINTABLE_MOST, "\\u%04x", code);
    else
        snprintf(out, PLM_PRINTABLE_MOST, "\\u%04x\\u%04x", (0xd7c0 + (code >> 10)) & 0xffff, 0xdc00 + (code & 0x3ff));
    return n ? n : 1;
}

const char *plm_printable_not(const char *text)
{
    char shown[PLM_PRINTABLE_MOST];
    for (unsigned n; (n = plm_printable_next(text, shown)); text += n)
        if (strncmp(text, shown, n) != 0)
            return text;
    return NULL;
}

char *plm_printable(char *out, size_t size, const char *text)
{
    char shown[PLM_PRINTABLE_MOST];
    size_t used = 0, bytes;
    for (unsigned n; (n = plm_printable_next(text, shown)) && (bytes = strlen(shown)) < size - used; text += n) {
        memcpy(out + used, shown, bytes);
        used += bytes;
    }
    out[used] = '\0';
    return out;
}

void plm_printable_put(FILE *out, const char *text)
{
    char shown[PLM_PRINTABLE_MOST];
    for (unsigned n; (n = plm_printable_next(text, shown)); text += n)
        fputs(shown, out);
}
