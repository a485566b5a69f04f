#include "base/draw.h"

#include <stdarg.h>
#include <string.h>

#include "common/printable.h"
#include "base/units.h"

enum { BAR_MOST = 48, BAR_LEAST = 8, NAME_BYTES = 2048 };

const char *plm_ink(const struct plm_page *p, enum plm_ink ink)
{
    static const char *const codes[PLM_INKS] = {"\033[0m", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[31m"};
    return p->color ? codes[ink] : "";
}

const char *plm_page_amount(const struct plm_page *p, char *buffer, size_t size, uint64_t bytes)
{
    if (!p->bytes)
        return plm_size_text(buffer, size, bytes);
    snprintf(buffer, size, "%llu", (unsigned long long)bytes);
    return buffer;
}

int plm_page_amount_columns(const struct plm_page *p)
{
    return p->bytes ? 14 : 10;
}

int plm_page_room(const struct plm_page *p, int taken)
{
    int room = p->width - taken;
    return room > BAR_MOST ? BAR_MOST : room < BAR_LEAST ? BAR_LEAST : room;
}

static int eighths(uint64_t value, uint64_t whole, int columns)
{
    if (!whole)
        return 0;
    return value >= whole ? 8 * columns : (int)((double)value / (double)whole * 8 * columns + 0.5);
}

/* A bar that starts within a column takes the whole of it; one that is not empty shows at least a little. */
void plm_page_bar(const struct plm_page *p, int columns, uint64_t from, uint64_t to, uint64_t whole)
{
    static const char *const parts[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    int first = eighths(from, whole, columns) / 8, last = eighths(to, whole, columns);
    if (first >= columns)
        first = columns - 1;
    if (to > from && last <= 8 * first)
        last = 8 * first + 1;
    for (int i = 0; i < columns; i++) {
        int part = to <= from || i < first ? 0 : last - 8 * i;
        part = part < 0 ? 0 : part > 8 ? 8 : part;
        if (p->utf8)
            fputs(parts[part], p->out);
        else
            fputc(part >= 4 || (part && i == first) ? '#' : ' ', p->out);
    }
}

void plm_page_title(const struct plm_page *p, const char *title)
{
    fprintf(p->out, "\n%s%s%s\n", plm_ink(p, PLM_INK_BOLD), title, plm_ink(p, PLM_INK_PLAIN));
}

/* The string as it may be printed; returns how many columns it takes. */
static int make_safe(const struct plm_page *p, const char *text, char *out, size_t size)
{
    char shown[PLM_PRINTABLE_MOST];
    size_t used = 0;
    int columns = 0;
    while (*text && used + PLM_PRINTABLE_MOST < size) {
        unsigned n = plm_printable_next(text, shown);
        if (!p->utf8 && *text & 0x80) {
            snprintf(shown, sizeof shown, "\\x%02x", (unsigned char)*text);
            n = 1;
        }
        columns += shown[0] & 0x80 ? 1 : (int)strlen(shown);
        used += (size_t)snprintf(out + used, size - used, "%s", shown);
        text += n;
    }
    out[used] = '\0';
    return columns;
}

int plm_page_columns(const struct plm_page *p, const char *text)
{
    char safe[NAME_BYTES];
    return make_safe(p, text, safe, sizeof safe);
}

static const char *skip(const char *text, int columns)
{
    for (; *text && columns > 0; columns--)
        do
            text++;
        while ((*text & 0xc0) == 0x80);
    return text;
}

void plm_page_name(const struct plm_page *p, const char *text, int columns, int pad)
{
    const char *gap = p->utf8 ? "…" : "...";
    int gap_columns = p->utf8 ? 1 : 3;
    char safe[NAME_BYTES];
    int width = make_safe(p, text, safe, sizeof safe);
    if (columns && width > columns && columns > gap_columns) {
        int head = (columns - gap_columns) / 3, tail = columns - gap_columns - head;
        fprintf(p->out, "%.*s%s%s", (int)(skip(safe, head) - safe), safe, gap, skip(safe, width - tail));
        return;
    }
    fprintf(p->out, "%s%*s", safe, pad && width < columns ? columns - width : 0, "");
}

void plm_page_sentences(const struct plm_page *p, const char *first, const char *text)
{
    char safe[NAME_BYTES], word[NAME_BYTES];
    int indent = plm_page_columns(p, first), at = indent;
    const char *c = safe;
    make_safe(p, text, safe, sizeof safe);
    fputs(first, p->out);
    while (*c) {
        size_t n = strcspn(c, " ");
        int columns;
        snprintf(word, sizeof word, "%.*s", (int)n, c);
        columns = plm_page_columns(p, word);
        if (at > indent && at + 1 + columns > p->width) {
            fprintf(p->out, "\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            fputc(' ', p->out);
            at++;
        }
        fputs(word, p->out);
        at += columns;
        c += n;
        c += strspn(c, " ");
    }
    fputc('\n', p->out);
}

void plm_page_say(const struct plm_page *p, const char *format, ...)
{
    char text[900];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    plm_page_sentences(p, "", text);
}
