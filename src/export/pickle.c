#include "export/pickle.h"

#include <string.h>

#include "base/memory.h"
#include "common/printable.h"
#include "export/out.h"

/* Opcodes, named as in Python's pickletools. */
enum opcode {
    PROTO = 0x80,
    STOP = '.',
    MARK = '(',
    EMPTY_DICT = '}',
    SETITEMS = 'u',
    EMPTY_LIST = ']',
    APPENDS = 'e',
    TUPLE2 = 0x86,
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    BININT = 'J',
    BININT1 = 'K',
    BININT2 = 'M',
    LONG1 = 0x8a,
    SHORT_BINUNICODE = 0x8c,
    BINUNICODE = 'X',
    MEMOIZE = 0x94,
    BINGET = 'h',
    LONG_BINGET = 'j',
};

/* Readers hold a batch on their stack; the viewer page spreads it into the arguments of a call. Python's own. */
enum { BATCH = 1000 };

#define NOT_KEPT UINT32_MAX /* a text that has not been written yet */

static void put_opcode(struct plm_pickle *p, enum opcode code)
{
    plm_out_byte(p->out, (char)code);
}

static void put_number(struct plm_pickle *p, enum opcode code, uint64_t value, unsigned bytes)
{
    char text[9];
    text[0] = (char)code;
    memcpy(text + 1, &value, bytes); /* little-endian, as pickles are */
    plm_out_bytes(p->out, text, 1 + bytes);
}

void plm_pickle_start(struct plm_pickle *p, struct plm_out *out)
{
    *p = (struct plm_pickle){.out = out};
    p->number = plm_grow(NULL, 0, &p->number_room, sizeof *p->number);
    p->number[plm_names_add(&p->texts, "")] = NOT_KEPT;
    put_opcode(p, PROTO);
    plm_out_byte(out, 4);
}

void plm_pickle_finish(struct plm_pickle *p)
{
    put_opcode(p, STOP);
    free(p->number);
    plm_names_free(&p->texts);
}

void plm_pickle_dict(struct plm_pickle *p)
{
    put_opcode(p, EMPTY_DICT);
    put_opcode(p, MARK);
}

void plm_pickle_end_dict(struct plm_pickle *p)
{
    put_opcode(p, SETITEMS);
}

void plm_pickle_list(struct plm_pickle *p)
{
    if (p->depth < PLM_PICKLE_DEPTH)
        p->items[p->depth] = 0;
    p->depth++;
    put_opcode(p, EMPTY_LIST);
    put_opcode(p, MARK);
}

void plm_pickle_item(struct plm_pickle *p)
{
    if (p->depth < 1 || p->depth > PLM_PICKLE_DEPTH || p->items[p->depth - 1]++ < BATCH)
        return;
    p->items[p->depth - 1] = 1;
    put_opcode(p, APPENDS);
    put_opcode(p, MARK);
}

void plm_pickle_end_list(struct plm_pickle *p)
{
    p->depth--;
    put_opcode(p, APPENDS);
}

void plm_pickle_pair(struct plm_pickle *p)
{
    put_opcode(p, TUPLE2);
}

void plm_pickle_bool(struct plm_pickle *p, bool value)
{
    put_opcode(p, value ? NEWTRUE : NEWFALSE);
}

/* Two's complement in as few bytes as keep the sign: the highest bit is 0. */
static void put_long(struct plm_pickle *p, uint64_t value)
{
    char text[11] = {(char)LONG1};
    unsigned bytes = value >> 63 ? 9 : 8;
    while (bytes > 1 && bytes < 9 && !(value >> (8 * bytes - 9)))
        bytes--;
    memcpy(text + 2, &value, sizeof value);
    text[1] = (char)bytes;
    plm_out_bytes(p->out, text, 2 + bytes);
}

void plm_pickle_unsigned(struct plm_pickle *p, uint64_t value)
{
    if (value <= UINT8_MAX)
        put_number(p, BININT1, value, 1);
    else if (value <= UINT16_MAX)
        put_number(p, BININT2, value, 2);
    else if (value <= INT32_MAX)
        put_number(p, BININT, value, 4);
    else
        put_long(p, value);
}

uint32_t plm_pickle_keep(struct plm_pickle *p)
{
    put_opcode(p, MEMOIZE);
    return p->kept++;
}

void plm_pickle_again(struct plm_pickle *p, uint32_t number)
{
    if (number <= UINT8_MAX)
        put_number(p, BINGET, number, 1);
    else
        put_number(p, LONG_BINGET, number, 4);
}

static void put_string(struct plm_pickle *p, const char *text)
{
    char shown[PLM_PRINTABLE_MOST];
    size_t length = 0;
    unsigned n;
    for (const char *c = text; (n = plm_printable_next(c, shown)); c += n)
        length += strlen(shown);
    if (length <= UINT8_MAX)
        put_number(p, SHORT_BINUNICODE, length, 1);
    else
        put_number(p, BINUNICODE, length, 4);
    for (; (n = plm_printable_next(text, shown)); text += n)
        plm_out_text(p->out, shown);
}

void plm_pickle_text(struct plm_pickle *p, const char *text)
{
    const size_t known = p->texts.count;
    const uint32_t at = plm_names_add(&p->texts, text);
    if (at < known && p->number[at] != NOT_KEPT) {
        plm_pickle_again(p, p->number[at]);
        return;
    }
    put_string(p, text);
    p->number = plm_grow(p->number, at, &p->number_room, sizeof *p->number);
    p->number[at] = plm_pickle_keep(p);
}
