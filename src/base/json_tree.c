#include "base/json_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "common/error.h"

#define NONE UINT32_MAX

/* Nodes lie in the order of the document, so a node's first child is the one behind it. */
struct plm_json_node {
    uint32_t parent, next; /* numbers of nodes; NONE */
    uint32_t key, text;    /* places in the texts; NONE */
    uint32_t length;       /* of the text; for objects and arrays the number of children */
    uint32_t token;
};

struct plm_json_tree {
    char *name;
    struct plm_json_node *node;
    size_t nodes, node_room;
    char *text;
    size_t text_size, text_room;
};

/* ---- reading ---- */

struct making {
    struct plm_json_tree *tree;
    uint32_t open[PLM_JSON_DEPTH + 1]; /* numbers of the objects and arrays that are not complete */
    uint32_t last[PLM_JSON_DEPTH + 1]; /* and of the latest child of each */
    unsigned depth;
    uint32_t key; /* of the next value; NONE */
};

static int text_keep(struct plm_json_tree *t, const struct plm_json_value *v, uint32_t *place, struct plm_error *error)
{
    size_t wanted = t->text_size + v->length + 1;
    if (wanted > PLM_JSON_TREE_TEXT)
        return plm_fail(error, PLM_EFORMAT, "%s: it has more than 64 MiB of text", t->name);
    if (!t->text || wanted > t->text_room) {
        t->text_room = wanted < 4096 ? 4096 : 2 * wanted;
        t->text = plm_realloc(t->text, t->text_room, 1);
    }
    memcpy(t->text + t->text_size, v->text, v->length + 1);
    *place = (uint32_t)t->text_size;
    t->text_size = wanted;
    return 0;
}

static int node_add(struct making *m, const struct plm_json_value *v, struct plm_error *error)
{
    struct plm_json_tree *t = m->tree;
    struct plm_json_node new = {.parent = m->open[m->depth], .next = NONE, .key = m->key, .text = NONE};
    uint32_t number = (uint32_t)t->nodes;
    if (t->nodes == PLM_JSON_TREE_NODES)
        return plm_fail(error, PLM_EFORMAT, "%s: it has more than %d values", t->name, PLM_JSON_TREE_NODES);
    t->node = plm_grow(t->node, t->nodes, &t->node_room, sizeof *t->node);
    new.token = v->token;
    if (v->text) {
        int status = text_keep(t, v, &new.text, error);
        if (status < 0)
            return status;
        new.length = (uint32_t)v->length;
    }
    t->node[t->nodes++] = new;
    if (new.parent != NONE) {
        t->node[new.parent].length++;
        if (m->last[m->depth] != NONE)
            t->node[m->last[m->depth]].next = number;
    }
    m->last[m->depth] = number;
    m->key = NONE;
    if (v->token == PLM_JSON_OBJECT || v->token == PLM_JSON_ARRAY) {
        m->open[++m->depth] = number;
        m->last[m->depth] = NONE;
    }
    return 0;
}

static int tree_make(struct plm_json_tree *t, struct plm_json_reader *reader, struct plm_error *error)
{
    struct making m = {.tree = t, .open = {NONE}, .last = {NONE}, .key = NONE};
    for (;;) {
        struct plm_json_value v;
        int status = plm_json_next(reader, &v, error);
        if (status < 0 || v.token == PLM_JSON_END)
            return status;
        if (v.token == PLM_JSON_KEY)
            status = text_keep(t, &v, &m.key, error);
        else if (v.token == PLM_JSON_END_OBJECT || v.token == PLM_JSON_END_ARRAY)
            m.depth--;
        else
            status = node_add(&m, &v, error);
        if (status < 0)
            return status;
    }
}

static int tree_read(const char *name, struct plm_json_reader *reader, struct plm_json_tree **tree,
                     struct plm_error *error)
{
    struct plm_json_tree *t = plm_calloc(1, sizeof *t);
    int status;
    t->name = plm_strdup(name);
    status = tree_make(t, reader, error);
    plm_json_close(reader);
    if (status < 0)
        plm_json_tree_free(t);
    else
        *tree = t;
    return status;
}

int plm_json_tree_read(const char *path, struct plm_json_tree **tree, struct plm_error *error)
{
    struct plm_json_reader *reader;
    int status = plm_json_open(path, &reader, error);
    return status < 0 ? status : tree_read(path, reader, tree, error);
}

int plm_json_tree_read_memory(const char *name, const void *data, size_t size, struct plm_json_tree **tree,
                              struct plm_error *error)
{
    struct plm_json_reader *reader;
    int status = plm_json_open_memory(name, data, size, &reader, error);
    return status < 0 ? status : tree_read(name, reader, tree, error);
}

void plm_json_tree_free(struct plm_json_tree *t)
{
    if (!t)
        return;
    free(t->name);
    free(t->node);
    free(t->text);
    free(t);
}

/* ---- walking ---- */

const struct plm_json_node *plm_json_tree_root(const struct plm_json_tree *t)
{
    return t->node;
}

enum plm_json_token plm_json_tree_kind(const struct plm_json_node *n)
{
    return n ? (enum plm_json_token)n->token : PLM_JSON_NULL;
}

size_t plm_json_tree_count(const struct plm_json_node *n)
{
    return n && (n->token == PLM_JSON_OBJECT || n->token == PLM_JSON_ARRAY) ? n->length : 0;
}

const struct plm_json_node *plm_json_tree_first(const struct plm_json_node *n)
{
    return plm_json_tree_count(n) ? n + 1 : NULL;
}

const struct plm_json_node *plm_json_tree_next(const struct plm_json_tree *t, const struct plm_json_node *n)
{
    return n && n->next != NONE ? t->node + n->next : NULL;
}

const struct plm_json_node *plm_json_tree_find(const struct plm_json_tree *t, const struct plm_json_node *object,
                                               const char *key)
{
    const struct plm_json_node *found = NULL;
    if (plm_json_tree_kind(object) == PLM_JSON_OBJECT)
        for (const struct plm_json_node *n = plm_json_tree_first(object); n; n = plm_json_tree_next(t, n))
            if (!strcmp(t->text + n->key, key))
                found = n;
    return found;
}

/* ---- sentences ---- */

static size_t index_in(const struct plm_json_tree *t, const struct plm_json_node *n)
{
    size_t index = 0;
    for (const struct plm_json_node *i = t->node + n->parent + 1; i != n; i = t->node + i->next)
        index++;
    return index;
}

/* "modules[3].parent"; of a path too long for it, the end. */
static void write_path(const struct plm_json_tree *t, const struct plm_json_node *n, char *out, size_t size)
{
    char part[80];
    size_t at = size - 1;
    out[at] = '\0';
    for (; n && n->parent != NONE; n = t->node + n->parent) {
        size_t length;
        if (n->key != NONE)
            snprintf(part, sizeof part, "%s%s", t->node[n->parent].parent == NONE ? "" : ".", t->text + n->key);
        else
            snprintf(part, sizeof part, "[%zu]", index_in(t, n));
        length = strlen(part);
        if (length > at)
            break;
        at -= length;
        memcpy(out + at, part, length);
    }
    memmove(out, out + at, size - at);
}

int plm_json_tree_fail(const struct plm_json_tree *t, const struct plm_json_node *n, struct plm_error *error,
                       const char *sentence)
{
    char path[200];
    write_path(t, n, path, sizeof path);
    return plm_fail(error, PLM_EFORMAT, "%s: %s%s%s", t->name, path, path[0] ? ": " : "", sentence);
}

/* ---- getters ---- */

static struct plm_json_value value_of(const struct plm_json_tree *t, const struct plm_json_node *n)
{
    return (struct plm_json_value){plm_json_tree_kind(n), n && n->text != NONE ? t->text + n->text : NULL,
                                   n && n->text != NONE ? n->length : 0};
}

int plm_json_tree_signed(const struct plm_json_tree *t, const struct plm_json_node *n, int64_t *out,
                         struct plm_error *error)
{
    struct plm_json_value v = value_of(t, n);
    int64_t number;
    if (!plm_json_to_signed(&v, &number))
        return plm_json_tree_fail(t, n, error, "expected a whole number");
    *out = number;
    return 0;
}

int plm_json_tree_unsigned(const struct plm_json_tree *t, const struct plm_json_node *n, uint64_t *out,
                           struct plm_error *error)
{
    struct plm_json_value v = value_of(t, n);
    int64_t number;
    if (!plm_json_to_signed(&v, &number) || number < 0)
        return plm_json_tree_fail(t, n, error, "expected a whole number of 0 or more");
    *out = (uint64_t)number;
    return 0;
}

int plm_json_tree_real(const struct plm_json_tree *t, const struct plm_json_node *n, double *out,
                       struct plm_error *error)
{
    struct plm_json_value v = value_of(t, n);
    double number;
    if (!plm_json_to_real(&v, &number))
        return plm_json_tree_fail(t, n, error, "expected a number");
    *out = number;
    return 0;
}

int plm_json_tree_bool(const struct plm_json_tree *t, const struct plm_json_node *n, bool *out, struct plm_error *error)
{
    enum plm_json_token kind = plm_json_tree_kind(n);
    if (kind != PLM_JSON_TRUE && kind != PLM_JSON_FALSE)
        return plm_json_tree_fail(t, n, error, "expected true or false");
    *out = kind == PLM_JSON_TRUE;
    return 0;
}

int plm_json_tree_text(const struct plm_json_tree *t, const struct plm_json_node *n, const char **out,
                       struct plm_error *error)
{
    struct plm_json_value v = value_of(t, n);
    if (v.token != PLM_JSON_STRING || !v.text)
        return plm_json_tree_fail(t, n, error, "expected a string");
    if (memchr(v.text, 0, v.length))
        return plm_json_tree_fail(t, n, error, "expected a string without a 0 byte");
    *out = v.text;
    return 0;
}

int plm_json_tree_is(const struct plm_json_tree *t, const struct plm_json_node *n, enum plm_json_token kind,
                     struct plm_error *error)
{
    if (n && plm_json_tree_kind(n) == kind)
        return 0;
    return plm_json_tree_fail(t, n, error, kind == PLM_JSON_OBJECT ? "expected an object" : "expected an array");
}

#define GET(kind, type)                                                                                              \
    int plm_json_tree_get_##kind(const struct plm_json_tree *t, const struct plm_json_node *object, const char *key, \
                                 type *out, struct plm_error *error)                                                 \
    {                                                                                                                \
        const struct plm_json_node *n = plm_json_tree_find(t, object, key);                                          \
        return n ? plm_json_tree_##kind(t, n, out, error) : 0;                                                       \
    }

GET(signed, int64_t)
GET(unsigned, uint64_t)
GET(real, double)
GET(bool, bool)
GET(text, const char *)

int plm_json_tree_get(const struct plm_json_tree *t, const struct plm_json_node *object, const char *key,
                      enum plm_json_token kind, const struct plm_json_node **out, struct plm_error *error)
{
    const struct plm_json_node *n = plm_json_tree_find(t, object, key);
    int status = n ? plm_json_tree_is(t, n, kind, error) : 0;
    *out = status ? NULL : n;
    return status;
}

int plm_json_tree_need(const struct plm_json_tree *t, const struct plm_json_node *object, const char *key,
                       const struct plm_json_node **out, struct plm_error *error)
{
    char path[200];
    *out = plm_json_tree_find(t, object, key);
    if (*out)
        return 0;
    write_path(t, object, path, sizeof path);
    return plm_fail(error, PLM_EFORMAT, "%s: %s%s%s is missing", t->name, path, path[0] ? "." : "", key);
}
