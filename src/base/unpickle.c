#include "base/unpickle.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "common/error.h"

enum { NO_RUN = UINT32_MAX };

/* Integers are kept as sign and magnitude; those that do not fit are known to be large, no more. */
struct node {
    uint8_t type;
    bool negative, large;      /* of an int */
    uint32_t last;             /* run that is filled now; of a text, its length */
    union {
        uint64_t number;
        double real;
        const char *text;
        uint32_t first; /* run of items */
    } u;
};

/* Containers grow in batches while others grow in between: their items are chains of runs. */
struct run {
    uint32_t start, count, next;
};

struct plm_unpickled {
    struct node *node;
    uint32_t *item;
    struct run *run;
    size_t nodes, items, runs, node_room, item_room, run_room;
    uint32_t root;
};

struct reader {
    struct plm_unpickled *p;
    const unsigned char *data;
    size_t size, at, opcodes;
    uint32_t *stack, *memo;
    size_t *mark;
    size_t depth, marks, memos, stack_room, mark_room, memo_room;
    struct plm_error *error;
    bool calls; /* keep what would be called as data */
};

/* ---- what the rest is made of ---- */

static int pickle_bad(struct reader *r, const char *what)
{
    return plm_fail(r->error, PLM_EFORMAT, "this is not a pickle of plain data: %s at byte %zu", what, r->at);
}

/* The next `count` bytes; NULL if the input ends before. */
static const unsigned char *bytes_take(struct reader *r, uint64_t count)
{
    const unsigned char *from = r->data + r->at;
    if (count > r->size - r->at)
        return NULL;
    r->at += (size_t)count;
    return from;
}

static uint64_t little_endian(const unsigned char *bytes, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* Returns 0, as opcodes do that end with it. */
static int stack_push(struct reader *r, uint32_t value)
{
    r->stack = plm_grow(r->stack, r->depth, &r->stack_room, sizeof *r->stack);
    r->stack[r->depth++] = value;
    return 0;
}

static uint32_t node_add(struct plm_unpickled *p, struct node node)
{
    if (p->nodes >= UINT32_MAX - 1)
        plm_out_of_memory();
    p->node = plm_grow(p->node, p->nodes, &p->node_room, sizeof *p->node);
    p->node[p->nodes] = node;
    return (uint32_t)p->nodes++;
}

static int push_node(struct reader *r, struct node node)
{
    return stack_push(r, node_add(r->p, node));
}

/* How many values lie above the innermost mark, or above all. */
static size_t above_mark(const struct reader *r)
{
    return r->depth - (r->marks ? r->mark[r->marks - 1] : 0);
}

/* Adds the uppermost `count` values to a container and takes them off. */
static void container_extend(struct reader *r, uint32_t container, size_t count)
{
    struct plm_unpickled *p = r->p;
    struct node *n = &p->node[container];
    struct run *run = n->last == NO_RUN ? NULL : &p->run[n->last];
    if (count && (!run || (size_t)run->start + run->count != p->items)) {
        p->run = plm_grow(p->run, p->runs, &p->run_room, sizeof *p->run); /* not more than items */
        p->run[p->runs] = (struct run){(uint32_t)p->items, 0, NO_RUN};
        if (n->last == NO_RUN)
            n->u.first = (uint32_t)p->runs;
        else
            p->run[n->last].next = (uint32_t)p->runs;
        n->last = (uint32_t)p->runs++;
        run = &p->run[n->last];
    }
    for (size_t i = r->depth - count; i < r->depth; i++) {
        if (p->items >= UINT32_MAX - 1)
            plm_out_of_memory();
        p->item = plm_grow(p->item, p->items, &p->item_room, sizeof *p->item);
        p->item[p->items++] = r->stack[i];
        run->count++;
    }
    r->depth -= count;
}

/* ---- opcodes ---- */

static struct node container(enum plm_pickled type)
{
    return (struct node){.type = (uint8_t)type, .last = NO_RUN, .u.first = NO_RUN};
}

/* A new container of the uppermost `count` values. */
static int items_gather(struct reader *r, enum plm_pickled type, size_t count)
{
    uint32_t made;
    if (count > above_mark(r))
        return pickle_bad(r, "too few values");
    made = node_add(r->p, container(type));
    container_extend(r, made, count);
    return stack_push(r, made);
}

/* Appends `count` values to the container below them. */
static int items_append(struct reader *r, enum plm_pickled type, size_t count)
{
    uint32_t into;
    if (count >= r->depth)
        return pickle_bad(r, "too few values");
    into = r->stack[r->depth - count - 1];
    if (r->p->node[into].type != type)
        return pickle_bad(r, "items for something that is not a container");
    container_extend(r, into, count);
    return 0;
}

/* Takes the innermost mark away; *count values were above it. */
static int mark_take(struct reader *r, enum plm_pickled type, size_t *count)
{
    *count = above_mark(r);
    if (!r->marks)
        return pickle_bad(r, "no mark");
    if (type == PLM_PICKLED_DICT && *count % 2)
        return pickle_bad(r, "a key without a value");
    r->marks--;
    return 0;
}

static int items_gather_marked(struct reader *r, enum plm_pickled type)
{
    size_t count;
    int status = mark_take(r, type, &count);
    return status ? status : items_gather(r, type, count);
}

static int items_append_marked(struct reader *r, enum plm_pickled type)
{
    size_t count;
    int status = mark_take(r, type, &count);
    return status ? status : items_append(r, type, count);
}

static int push_mark(struct reader *r)
{
    r->mark = plm_grow(r->mark, r->marks, &r->mark_room, sizeof *r->mark);
    r->mark[r->marks++] = r->depth;
    return 0;
}

static int push_small(struct reader *r, unsigned bytes)
{
    const unsigned char *from = bytes_take(r, bytes);
    uint64_t value;
    if (!from)
        return pickle_bad(r, "it ends within a number");
    value = little_endian(from, bytes);
    if (bytes == 4 && value >> 31) /* BININT is signed, the shorter ones are not */
        return push_node(r, (struct node){.type = PLM_PICKLED_INT, .negative = true, .u.number = (1ull << 32) - value});
    return push_node(r, (struct node){.type = PLM_PICKLED_INT, .u.number = value});
}

/* Two's complement of any length, lowest byte first. */
static int push_long(struct reader *r, unsigned length_bytes)
{
    const unsigned char *from = bytes_take(r, length_bytes);
    struct node node = {.type = PLM_PICKLED_INT};
    uint64_t count = from ? little_endian(from, length_bytes) : 0;
    unsigned char fill;
    from = from && count < 1u << 31 ? bytes_take(r, count) : NULL;
    if (!from)
        return pickle_bad(r, "it ends within a number");
    node.negative = count && from[count - 1] & 0x80;
    fill = node.negative ? 0xff : 0;
    for (uint64_t i = 8; i < count; i++)
        node.large |= from[i] != fill;
    node.u.number = little_endian(from, count < 8 ? (unsigned)count : 8);
    if (node.negative) {
        if (count < 8)
            node.u.number |= UINT64_MAX << 8 * count;
        node.u.number = -node.u.number;
        node.large |= !node.u.number; /* -2^64 */
    }
    return push_node(r, node);
}

static int push_real(struct reader *r)
{
    const unsigned char *from = bytes_take(r, 8);
    struct node node = {.type = PLM_PICKLED_REAL};
    uint64_t bits = 0;
    if (!from)
        return pickle_bad(r, "it ends within a number");
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | from[i];
    memcpy(&node.u.real, &bits, 8);
    return push_node(r, node);
}

static int push_text(struct reader *r, enum plm_pickled type, unsigned length_bytes)
{
    const unsigned char *from = bytes_take(r, length_bytes);
    uint64_t count = from ? little_endian(from, length_bytes) : 0;
    from = from ? bytes_take(r, count) : NULL;
    if (!from)
        return pickle_bad(r, "it ends within a text");
    if (count > PLM_PICKLED_LONGEST)
        return pickle_bad(r, "a text of more than 16 MiB");
    return push_node(r, (struct node){.type = (uint8_t)type, .last = (uint32_t)count, .u.text = (const char *)from});
}

/* Numbers of the memo count what was remembered; one beyond the opcodes so far is a mistake. */
static int memo_put(struct reader *r, uint64_t number)
{
    if (!above_mark(r))
        return pickle_bad(r, "too few values");
    if (number >= r->opcodes)
        return pickle_bad(r, "an impossible memo index");
    while (r->memos <= number) {
        r->memo = plm_grow(r->memo, r->memos, &r->memo_room, sizeof *r->memo);
        r->memo[r->memos++] = PLM_PICKLED_ABSENT;
    }
    r->memo[number] = r->stack[r->depth - 1];
    return 0;
}

static int memo_use(struct reader *r, unsigned bytes, bool get)
{
    const unsigned char *from = bytes_take(r, bytes);
    uint64_t number;
    if (!from)
        return pickle_bad(r, "it ends within a number");
    number = little_endian(from, bytes);
    if (!get)
        return memo_put(r, number);
    if (number >= r->memos || r->memo[number] == PLM_PICKLED_ABSENT)
        return pickle_bad(r, "a memo entry that does not exist");
    return stack_push(r, r->memo[number]);
}

static int frame_check(struct reader *r)
{
    const unsigned char *from = bytes_take(r, 8);
    if (!from || little_endian(from, 8) > r->size - r->at)
        return pickle_bad(r, "it ends within a frame");
    return 0;
}

static int opcode_refuse(struct reader *r, unsigned char opcode)
{
    static const char *const names[256] = {
        ['c'] = "GLOBAL",
        [0x93] = "STACK_GLOBAL",
        ['R'] = "REDUCE",
        ['b'] = "BUILD",
        ['i'] = "INST",
        ['o'] = "OBJ",
        [0x81] = "NEWOBJ",
        [0x92] = "NEWOBJ_EX",
        [0x82] = "EXT1",
        [0x83] = "EXT2",
        [0x84] = "EXT4",
        ['P'] = "PERSID",
        ['Q'] = "BINPERSID",
        [0x97] = "NEXT_BUFFER",
        [0x98] = "READONLY_BUFFER",
        [0x96] = "BYTEARRAY8",
        [0x8f] = "EMPTY_SET",
        [0x90] = "ADDITEMS",
        [0x91] = "FROZENSET",
        ['I'] = "INT",
        ['L'] = "LONG",
        ['F'] = "FLOAT",
        ['S'] = "STRING",
        ['T'] = "BINSTRING",
        ['U'] = "SHORT_BINSTRING",
        ['V'] = "UNICODE",
        ['g'] = "GET",
        ['p'] = "PUT",
        ['2'] = "DUP",
        ['0'] = "POP",
        ['1'] = "POP_MARK",
    };
    if (names[opcode])
        return plm_fail(r->error, PLM_EFORMAT,
                        "this pickle holds more than plain data and is not read: opcode %s at byte %zu", names[opcode],
                        r->at - 1);
    return plm_fail(r->error, PLM_EFORMAT, "this is not a pickle: unknown opcode 0x%02x at byte %zu", opcode,
                    r->at - 1);
}

/* ---- calls, kept as data ---- */

/* "MODULE\nNAME\n": a text with the line end between the two. */
static int push_global(struct reader *r)
{
    const unsigned char *from = r->data + r->at, *end = from;
    for (int lines = 0; lines < 2; lines++, end++) {
        end = memchr(end, '\n', (size_t)(r->data + r->size - end));
        if (!end)
            return pickle_bad(r, "it ends within a name");
    }
    r->at += (size_t)(end - from);
    return push_node(
        r, (struct node){.type = PLM_PICKLED_TEXT, .last = (uint32_t)(end - from - 1), .u.text = (const char *)from});
}

/* A call is a tuple of what would be called and its arguments; that of an ordered dict without any is an empty dict. */
static int call_keep(struct reader *r)
{
    if (!r->stack || above_mark(r) < 2)
        return pickle_bad(r, "too few values");
    if (!plm_unpickle_is(r->p, r->stack[r->depth - 2], "collections\nOrderedDict"))
        return items_gather(r, PLM_PICKLED_TUPLE, 2);
    r->depth -= 2;
    return push_node(r, container(PLM_PICKLED_DICT));
}

/* What would be done with an object that was made: left out. */
static int state_drop(struct reader *r)
{
    if (above_mark(r) < 2)
        return pickle_bad(r, "too few values");
    r->depth--;
    return 0;
}

static int call_run(struct reader *r, unsigned char opcode)
{
    switch (opcode) {
    case 'c': return push_global(r);
    case 'R': return call_keep(r);
    case 'b': return state_drop(r);
    case 'Q':
        return above_mark(r) ? 0 : pickle_bad(r, "too few values"); /* what is stored elsewhere: its description */
    default: return opcode_refuse(r, opcode);
    }
}

static int push_constant(struct reader *r, enum plm_pickled type, bool value)
{
    return push_node(r, (struct node){.type = (uint8_t)type, .u.number = value});
}

static int opcode_run(struct reader *r, unsigned char opcode)
{
    switch (opcode) {
    case '(': return push_mark(r);
    case 'N': return push_constant(r, PLM_PICKLED_NONE, false);
    case 0x88: return push_constant(r, PLM_PICKLED_BOOL, true);
    case 0x89: return push_constant(r, PLM_PICKLED_BOOL, false);
    case 'J': return push_small(r, 4);
    case 'K': return push_small(r, 1);
    case 'M': return push_small(r, 2);
    case 0x8a: return push_long(r, 1);
    case 0x8b: return push_long(r, 4);
    case 'G': return push_real(r);
    case 0x8c: return push_text(r, PLM_PICKLED_TEXT, 1);
    case 'X': return push_text(r, PLM_PICKLED_TEXT, 4);
    case 0x8d: return push_text(r, PLM_PICKLED_TEXT, 8);
    case 'C': return push_text(r, PLM_PICKLED_BYTES, 1);
    case 'B': return push_text(r, PLM_PICKLED_BYTES, 4);
    case 0x8e: return push_text(r, PLM_PICKLED_BYTES, 8);
    case ')': return push_node(r, container(PLM_PICKLED_TUPLE));
    case 0x85: return items_gather(r, PLM_PICKLED_TUPLE, 1);
    case 0x86: return items_gather(r, PLM_PICKLED_TUPLE, 2);
    case 0x87: return items_gather(r, PLM_PICKLED_TUPLE, 3);
    case 't': return items_gather_marked(r, PLM_PICKLED_TUPLE);
    case ']': return push_node(r, container(PLM_PICKLED_LIST));
    case 'l': return items_gather_marked(r, PLM_PICKLED_LIST);
    case 'a': return above_mark(r) < 2 ? pickle_bad(r, "too few values") : items_append(r, PLM_PICKLED_LIST, 1);
    case 'e': return items_append_marked(r, PLM_PICKLED_LIST);
    case '}': return push_node(r, container(PLM_PICKLED_DICT));
    case 'd': return items_gather_marked(r, PLM_PICKLED_DICT);
    case 's': return above_mark(r) < 3 ? pickle_bad(r, "too few values") : items_append(r, PLM_PICKLED_DICT, 2);
    case 'u': return items_append_marked(r, PLM_PICKLED_DICT);
    case 'q': return memo_use(r, 1, false);
    case 'r': return memo_use(r, 4, false);
    case 'h': return memo_use(r, 1, true);
    case 'j': return memo_use(r, 4, true);
    case 0x94: return memo_put(r, r->memos);
    case 0x95: return frame_check(r);
    default: return r->calls ? call_run(r, opcode) : opcode_refuse(r, opcode);
    }
}

static int pickle_read(struct reader *r)
{
    const unsigned char *opcode = bytes_take(r, 2);
    int status = 0;
    if (!opcode || opcode[0] != 0x80)
        return plm_fail(r->error, PLM_EFORMAT, "this is not a pickle of protocol 2 or newer");
    if (opcode[1] < 2 || opcode[1] > 5)
        return plm_fail(r->error, PLM_EFORMAT, "this pickle is of protocol %u; 2 to 5 are known", opcode[1]);
    while (status == 0) {
        opcode = bytes_take(r, 1);
        if (!opcode)
            return pickle_bad(r, "it has no end");
        if (*opcode == '.')
            break;
        r->opcodes++;
        status = opcode_run(r, *opcode);
    }
    if (status == 0 && (r->depth != 1 || r->marks))
        return pickle_bad(r, "it does not end with one value");
    if (status == 0)
        r->p->root = r->stack[0];
    return status;
}

static int unpickle(const void *data, size_t size, bool calls, struct plm_unpickled **out, struct plm_error *error)
{
    struct reader r = {.p = plm_calloc(1, sizeof *r.p), .data = data, .size = size, .error = error, .calls = calls};
    int status = pickle_read(&r);
    free(r.stack);
    free(r.memo);
    free(r.mark);
    if (status < 0) {
        plm_unpickle_free(r.p);
        r.p = NULL;
    }
    *out = r.p;
    return status;
}

int plm_unpickle(const void *data, size_t size, struct plm_unpickled **out, struct plm_error *error)
{
    return unpickle(data, size, false, out, error);
}

int plm_unpickle_calls(const void *data, size_t size, struct plm_unpickled **out, struct plm_error *error)
{
    return unpickle(data, size, true, out, error);
}

void plm_unpickle_free(struct plm_unpickled *p)
{
    if (!p)
        return;
    free(p->node);
    free(p->item);
    free(p->run);
    free(p);
}

/* ---- looking at it ---- */

static const struct node *node_of(const struct plm_unpickled *p, uint32_t value)
{
    static const struct node none = {.type = PLM_PICKLED_NONE};
    return value < p->nodes ? &p->node[value] : &none;
}

size_t plm_unpickle_values(const struct plm_unpickled *p)
{
    return p->nodes;
}

size_t plm_unpickle_keys(const struct plm_unpickled *p)
{
    size_t most = 0;
    for (size_t i = 0; i < p->nodes; i++) {
        size_t items = 0;
        if (p->node[i].type == PLM_PICKLED_DICT)
            for (uint32_t run = p->node[i].u.first; run != NO_RUN; run = p->run[run].next)
                items += p->run[run].count;
        most = items / 2 > most ? items / 2 : most;
    }
    return most;
}

uint32_t plm_unpickle_root(const struct plm_unpickled *p)
{
    return p->root;
}

enum plm_pickled plm_unpickle_type(const struct plm_unpickled *p, uint32_t value)
{
    return (enum plm_pickled)node_of(p, value)->type;
}

bool plm_unpickle_unsigned(const struct plm_unpickled *p, uint32_t value, uint64_t *out)
{
    const struct node *n = node_of(p, value);
    if ((n->type != PLM_PICKLED_INT && n->type != PLM_PICKLED_BOOL) || n->large || (n->negative && n->u.number))
        return false;
    *out = n->u.number;
    return true;
}

bool plm_unpickle_signed(const struct plm_unpickled *p, uint32_t value, int64_t *out)
{
    const struct node *n = node_of(p, value);
    const uint64_t most = (uint64_t)INT64_MAX + n->negative;
    if ((n->type != PLM_PICKLED_INT && n->type != PLM_PICKLED_BOOL) || n->large || n->u.number > most)
        return false;
    *out = n->negative ? (int64_t)-n->u.number : (int64_t)n->u.number;
    return true;
}

bool plm_unpickle_real(const struct plm_unpickled *p, uint32_t value, double *out)
{
    const struct node *n = node_of(p, value);
    int64_t whole;
    if (n->type == PLM_PICKLED_REAL)
        *out = n->u.real;
    else if (plm_unpickle_signed(p, value, &whole))
        *out = (double)whole;
    else
        return false;
    return true;
}

const char *plm_unpickle_text(const struct plm_unpickled *p, uint32_t value, size_t *length)
{
    const struct node *n = node_of(p, value);
    if (n->type != PLM_PICKLED_TEXT)
        return NULL;
    *length = n->last;
    return n->u.text;
}

bool plm_unpickle_is(const struct plm_unpickled *p, uint32_t value, const char *text)
{
    size_t length;
    const char *have = plm_unpickle_text(p, value, &length);
    return have && length == strlen(text) && !memcmp(have, text, length);
}

static bool node_holds(const struct node *n)
{
    return n->type >= PLM_PICKLED_TUPLE;
}

struct plm_unpickle_walk plm_unpickle_begin(const struct plm_unpickled *p, uint32_t value)
{
    const struct node *n = node_of(p, value);
    return (struct plm_unpickle_walk){node_holds(n) ? n->u.first : NO_RUN, 0};
}

uint32_t plm_unpickle_next(const struct plm_unpickled *p, struct plm_unpickle_walk *walk)
{
    while (walk->run != NO_RUN && walk->at >= p->run[walk->run].count)
        *walk = (struct plm_unpickle_walk){p->run[walk->run].next, 0};
    return walk->run == NO_RUN ? PLM_PICKLED_ABSENT : p->item[p->run[walk->run].start + walk->at++];
}

uint32_t plm_unpickle_find(const struct plm_unpickled *p, uint32_t dict, const char *key)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, dict);
    uint32_t found = PLM_PICKLED_ABSENT;
    if (plm_unpickle_type(p, dict) != PLM_PICKLED_DICT)
        return found;
    for (;;) {
        uint32_t name = plm_unpickle_next(p, &walk), value = plm_unpickle_next(p, &walk);
        if (name == PLM_PICKLED_ABSENT)
            return found;
        if (plm_unpickle_is(p, name, key))
            found = value;
    }
}
