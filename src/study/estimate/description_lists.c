#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "study/estimate/description_read.h"

/* ---- modules and what they own ---- */

static void read_modules(struct plm_description_reader *r, const struct plm_json_node *root, struct plm_description *d)
{
    const struct plm_json_node *node;
    d->module = plm_description_list(r, root, "modules", sizeof *d->module, &d->modules, &node);
    for (size_t i = 0; i < d->modules && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        struct plm_described_module *m = &d->module[i];
        int64_t parent = -1;
        *m = (struct plm_described_module){.name = "", .class_name = ""};
        plm_description_text(r, node, "name", &m->name);
        plm_description_text(r, node, "class", &m->class_name);
        plm_description_flag(r, node, "leaf", &m->leaf);
        plm_description_size(r, node, "own_parameters", &m->own_parameters);
        plm_description_size(r, node, "own_bytes", &m->own_bytes);
        if (r->status == 0)
            r->status = plm_json_tree_get_signed(r->tree, node, "parent", &parent, r->error);
        if (r->status == 0 && (parent < -1 || parent >= (int64_t)i))
            plm_description_wrong(r, node, "a module's parent stands before it");
        m->parent = (int32_t)parent;
    }
}

static void read_owned(struct plm_description_reader *r, const struct plm_json_node *root, const char *key,
                       size_t modules, struct plm_described_parameter **list, size_t *count)
{
    const struct plm_json_node *node;
    *list = plm_description_list(r, root, key, sizeof **list, count, &node);
    for (size_t i = 0; i < *count && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        plm_description_index(r, node, "module", modules, &(*list)[i].module);
        plm_description_size(r, node, "elements", &(*list)[i].elements);
        plm_description_size(r, node, "bytes", &(*list)[i].bytes);
        plm_description_flag(r, node, "trainable", &(*list)[i].trainable);
    }
}

static void read_calls(struct plm_description_reader *r, const struct plm_json_node *root, struct plm_description *d)
{
    const struct plm_json_node *node;
    d->call = plm_description_list(r, root, "calls", sizeof *d->call, &d->calls, &node);
    for (size_t i = 0; i < d->calls && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        plm_description_index(r, node, "module", d->modules, &d->call[i].module);
        plm_description_tensors(r, node, "outputs", &d->call[i].output, &d->call[i].outputs);
    }
}

/* ---- the graph ---- */

/* An index that may be absent. */
static void optional_index(struct plm_description_reader *r, const struct plm_json_node *node, const char *key,
                           size_t count, int32_t *out)
{
    uint32_t index;
    *out = -1;
    if (r->status || !plm_json_tree_find(r->tree, node, key))
        return;
    plm_description_index(r, node, key, count, &index);
    *out = (int32_t)index;
}

static void read_inputs(struct plm_description_reader *r, const struct plm_json_node *object, size_t nodes,
                        struct plm_described_node *n)
{
    const struct plm_json_node *node;
    uint64_t value = 0;
    n->input = plm_description_list(r, object, "inputs", sizeof *n->input, &n->inputs, &node);
    for (size_t i = 0; i < n->inputs && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        r->status = plm_json_tree_unsigned(r->tree, node, &value, r->error);
        if (r->status == 0 && value >= nodes)
            plm_description_wrong(r, node, "a node's inputs stand before it");
        n->input[i] = (uint32_t)value;
    }
}

static void read_graph(struct plm_description_reader *r, const struct plm_json_node *root, struct plm_description *d)
{
    const struct plm_json_node *node;
    plm_description_text(r, root, "graph_missing", &d->graph_missing);
    d->node = plm_description_list(r, root, "graph", sizeof *d->node, &d->nodes, &node);
    for (size_t i = 0; i < d->nodes && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        struct plm_described_node *n = &d->node[i];
        n->op = n->name = "";
        plm_description_text(r, node, "op", &n->op);
        plm_description_text(r, node, "name", &n->name);
        plm_description_size(r, node, "bytes", &n->bytes);
        optional_index(r, node, "module", d->modules, &n->module);
        optional_index(r, node, "shares", i, &n->shares);
        read_inputs(r, node, i, n);
    }
}

/* ---- how long tensors live ---- */

static void read_sighting(struct plm_description_reader *r, const struct plm_json_node *node,
                          struct plm_described_sighting *s)
{
    int64_t *const out[] = {NULL, &s->first, &s->last};
    const struct plm_json_node *item = plm_json_tree_first(node);
    if (plm_json_tree_kind(node) != PLM_JSON_ARRAY || plm_json_tree_count(node) != 3) {
        plm_description_wrong(r, node, "expected [bytes, first, last]");
        return;
    }
    r->status = plm_json_tree_unsigned(r->tree, item, &s->bytes, r->error);
    if (r->status == 0 && s->bytes > PLM_DESCRIPTION_BYTES)
        plm_description_wrong(r, item, "no tensor is that large");
    for (int i = 1; i < 3 && r->status == 0; i++) {
        item = plm_json_tree_next(r->tree, item);
        r->status = plm_json_tree_signed(r->tree, item, out[i], r->error);
    }
    if (r->status == 0 && (s->first < 0 || s->last < s->first || s->last > INT32_MAX))
        plm_description_wrong(r, node, "a tensor is first seen at moment 0 or later, and last after that");
}

static void read_sightings(struct plm_description_reader *r, const struct plm_json_node *root,
                           struct plm_description *d)
{
    const struct plm_json_node *part = NULL, *node;
    if (r->status == 0)
        r->status = plm_json_tree_get(r->tree, root, "sightings", PLM_JSON_OBJECT, &part, r->error);
    d->sighting = plm_description_list(r, part, "tensors", sizeof *d->sighting, &d->sightings, &node);
    for (size_t i = 0; i < d->sightings && r->status == 0; i++, node = plm_json_tree_next(r->tree, node))
        read_sighting(r, node, &d->sighting[i]);
}

static void read_storages(struct plm_description_reader *r, const struct plm_json_node *part, const char *key,
                          struct plm_described_storages *s)
{
    const struct plm_json_node *node;
    bool *dead;
    s->event = plm_description_list(r, part, key, sizeof *s->event, &s->events, &node);
    dead = plm_calloc(s->events, sizeof *dead);
    for (size_t i = 0; i < s->events && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        r->status = plm_json_tree_signed(r->tree, node, &s->event[i], r->error);
        if (r->status)
            break;
        if (s->event[i] >= 0) {
            s->births++;
            if (s->event[i] > (int64_t)PLM_DESCRIPTION_BYTES)
                plm_description_wrong(r, node, "no storage is that large");
        } else if (s->event[i] < -(int64_t)s->births || dead[-s->event[i] - 1])
            plm_description_wrong(r, node, "a storage that is not there cannot die");
        else
            dead[-s->event[i] - 1] = true;
    }
    free(dead);
}

void plm_description_lists(struct plm_description_reader *r, const struct plm_json_node *root,
                           struct plm_description *d)
{
    const struct plm_json_node *part = NULL;
    read_modules(r, root, d);
    read_owned(r, root, "parameters", d->modules, &d->parameter, &d->parameters);
    read_owned(r, root, "buffers", d->modules, &d->buffer, &d->buffers);
    read_calls(r, root, d);
    read_graph(r, root, d);
    read_sightings(r, root, d);
    if (r->status == 0)
        r->status = plm_json_tree_get(r->tree, root, "storages", PLM_JSON_OBJECT, &part, r->error);
    read_storages(r, part, "forward_backward", &d->forward_backward);
    read_storages(r, part, "step", &d->step);
}
