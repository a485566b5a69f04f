/* JSON of foreign origin, plain or gzip: as tokens, passed over, as it is written, and as a tree. */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/json_read.h"
#include "base/json_tree.h"
#include "common/utf8.h"
#include "fuzz.h"

enum way { STRICT, TOLERANT, SKIPPED, RAW };

static void check_text(const struct plm_json_value *v)
{
    if (v->text[v->length])
        abort();
    for (size_t i = 0; i < v->length;) {
        unsigned n = v->text[i] ? plm_utf8_length(v->text + i) : 1;
        if (!n || i + n > v->length)
            abort(); /* accepted, and not UTF-8 */
        i += n;
    }
}

static int tokens(struct plm_json_reader *reader, struct plm_error *error)
{
    struct plm_json_value v;
    int status, depth = 0;
    do {
        status = plm_json_next(reader, &v, error);
        if (status < 0)
            return status;
        depth += (v.token == PLM_JSON_OBJECT || v.token == PLM_JSON_ARRAY) -
                 (v.token == PLM_JSON_END_OBJECT || v.token == PLM_JSON_END_ARRAY);
        if (depth < 0 || depth > PLM_JSON_DEPTH || (v.token == PLM_JSON_END && depth))
            abort();
        if (v.text)
            check_text(&v);
    } while (v.token != PLM_JSON_END);
    return 0;
}

static int read_it(const void *data, size_t size, enum way way)
{
    struct plm_error error = {0};
    struct plm_json_reader *reader;
    const char *text;
    size_t length;
    int status = plm_json_open_memory("input", data, size, &reader, &error);
    if (status < 0)
        return status;
    if (way == TOLERANT)
        plm_json_tolerate(reader);
    if (way == SKIPPED) {
        status = plm_json_skip(reader, &error);
    } else if (way == RAW) {
        status = plm_json_raw(reader, &text, &length, &error);
        if (!status && read_it(text, length, STRICT))
            abort(); /* as it is written, it is a document of its own */
    }
    if (!status)
        status = tokens(reader, &error);
    if (status < 0 && !error.text[0])
        abort();
    plm_json_close(reader);
    return status;
}

static void walk(const struct plm_json_tree *tree, const struct plm_json_node *node, unsigned depth)
{
    struct plm_error error = {0};
    int64_t number;
    double real;
    size_t count = 0;
    if (depth > PLM_JSON_DEPTH)
        abort();
    if (plm_json_tree_signed(tree, node, &number, &error) && !error.text[0])
        abort();
    if (!plm_json_tree_signed(tree, node, &number, NULL) && plm_json_tree_real(tree, node, &real, NULL))
        abort();
    for (const struct plm_json_node *n = plm_json_tree_first(node); n; n = plm_json_tree_next(tree, n)) {
        walk(tree, n, depth + 1);
        count++;
    }
    if (count != plm_json_tree_count(node))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_json_tree *tree;
    int strict = read_it(data, size, STRICT);
    if (strict != read_it(data, size, SKIPPED) || strict != read_it(data, size, RAW))
        abort();
    if (!strict && read_it(data, size, TOLERANT))
        abort();
    if (size > 1 << 16) /* a path is as long to find as an array is */
        return 0;
    if (plm_json_tree_read_memory("input", data, size, &tree, NULL)) {
        if (!strict)
            abort();
        return 0;
    }
    if (strict)
        abort();
    walk(tree, plm_json_tree_root(tree), 0);
    plm_json_tree_free(tree);
    return 0;
}
