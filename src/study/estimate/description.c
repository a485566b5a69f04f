#include "study/estimate/description.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/json_tree.h"
#include "base/memory.h"
#include "study/estimate/amount.h"

#define SCHEMA "plimsoll.description/1"

/* ---- members: a document is read until the first thing that is wrong with it ---- */

struct reader {
    const struct plm_json_tree *tree;
    struct plm_error *error;
    int status; /* of the first failure; nothing is read after it */
};

/* Says what is wrong with a node, unless something was wrong before. */
static void node_wrong(struct reader *r, const struct plm_json_node *node, const char *sentence)
{
    if (r->status == 0)
        r->status = plm_json_tree_fail(r->tree, node, r->error, sentence);
}

/* Absent members leave *out as it was. */
static void member_size(struct reader *r, const struct plm_json_node *object, const char *key, uint64_t *out)
{
    if (r->status)
        return;
    r->status = plm_json_tree_get_unsigned(r->tree, object, key, out, r->error);
    if (r->status == 0 && *out > PLM_DESCRIPTION_BYTES)
        node_wrong(r, plm_json_tree_find(r->tree, object, key), "a size or count is too large");
}

static void member_flag(struct reader *r, const struct plm_json_node *object, const char *key, bool *out)
{
    if (r->status == 0)
        r->status = plm_json_tree_get_bool(r->tree, object, key, out, r->error);
}

static void member_text(struct reader *r, const struct plm_json_node *object, const char *key, const char **out)
{
    if (r->status == 0)
        r->status = plm_json_tree_get_text(r->tree, object, key, out, r->error);
}

static void member_dtype(struct reader *r, const struct plm_json_node *object, const char *key, char out[16])
{
    const char *text = "";
    member_text(r, object, key, &text);
    snprintf(out, 16, "%.15s", text);
}

/* A number from 0 to below `count`; fails if it is absent. */
static void member_index(struct reader *r, const struct plm_json_node *object, const char *key, size_t count,
                         uint32_t *out)
{
    const struct plm_json_node *node = NULL;
    uint64_t value = 0;
    if (r->status)
        return;
    r->status = plm_json_tree_need(r->tree, object, key, &node, r->error);
    if (r->status == 0)
        r->status = plm_json_tree_unsigned(r->tree, node, &value, r->error);
    if (r->status == 0 && value >= count)
        node_wrong(r, node, "it refers to an item that does not exist");
    *out = (uint32_t)value;
}

/* A list and room for its items, one of `size` bytes each, zeroed; NULL with 0 items if it is absent or empty. */
static void *member_list(struct reader *r, const struct plm_json_node *object, const char *key, size_t size,
                         size_t *count, const struct plm_json_node **first)
{
    const struct plm_json_node *list = NULL;
    void *items;
    *count = 0;
    *first = NULL;
    if (r->status)
        return NULL;
    r->status = plm_json_tree_get(r->tree, object, key, PLM_JSON_ARRAY, &list, r->error);
    if (r->status || plm_json_tree_count(list) == 0)
        return NULL;
    items = plm_calloc(plm_json_tree_count(list), size);
    *count = plm_json_tree_count(list);
    *first = plm_json_tree_first(list);
    return items;
}

/* ---- tensors ---- */

static void shape(struct reader *r, const struct plm_json_node *object, struct plm_described_tensor *t)
{
    const struct plm_json_node *list = NULL;
    if (r->status)
        return;
    r->status = plm_json_tree_get(r->tree, object, "shape", PLM_JSON_ARRAY, &list, r->error);
    if (r->status == 0 && plm_json_tree_count(list) > PLM_DESCRIPTION_DIMENSIONS)
        node_wrong(r, list, "a tensor has more than eight dimensions");
    t->elements = 1;
    for (const struct plm_json_node *n = plm_json_tree_first(list); n && r->status == 0;
         n = plm_json_tree_next(r->tree, n)) {
        r->status = plm_json_tree_unsigned(r->tree, n, &t->shape[t->dimensions], r->error);
        if (r->status)
            return;
        t->elements = plm_times(t->elements, t->shape[t->dimensions++]);
        if (t->elements > PLM_DESCRIPTION_BYTES)
            node_wrong(r, n, "a tensor has too many elements");
    }
}

static void member_tensors(struct reader *r, const struct plm_json_node *object, const char *key,
                           struct plm_described_tensor **list, size_t *count)
{
    const struct plm_json_node *node;
    *list = member_list(r, object, key, sizeof **list, count, &node);
    for (size_t i = 0; i < *count && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        shape(r, node, &(*list)[i]);
        member_dtype(r, node, "dtype", (*list)[i].dtype);
        member_size(r, node, "bytes", &(*list)[i].bytes);
    }
}

/* ---- parts ---- */

static const struct plm_json_node *part(struct reader *r, const struct plm_json_node *root, const char *key)
{
    const struct plm_json_node *node = NULL;
    if (r->status == 0)
        r->status = plm_json_tree_get(r->tree, root, key, PLM_JSON_OBJECT, &node, r->error);
    return r->status ? NULL : node;
}

static void read_model(struct reader *r, const struct plm_json_node *root, struct plm_described_model *m)
{
    const struct plm_json_node *node = part(r, root, "model");
    m->class_name = "";
    if (!node) {
        node_wrong(r, root, "it describes no model");
        return;
    }
    member_text(r, node, "class", &m->class_name);
    member_dtype(r, node, "dtype", m->dtype);
    member_dtype(r, node, "autocast", m->autocast);
    member_size(r, node, "parameters", &m->parameters);
    member_size(r, node, "trainable", &m->trainable);
    member_size(r, node, "parameter_bytes", &m->parameter_bytes);
    member_size(r, node, "buffer_bytes", &m->buffer_bytes);
    member_size(r, node, "largest_module", &m->largest_module);
    member_flag(r, node, "checkpointing", &m->checkpointing);
}

static void read_transformer(struct reader *r, const struct plm_json_node *root, struct plm_described_transformer *t)
{
    const struct plm_json_node *node = part(r, root, "transformer");
    if (!node)
        return;
    t->known = true;
    member_size(r, node, "layers", &t->layers);
    member_size(r, node, "hidden", &t->hidden);
    member_size(r, node, "heads", &t->heads);
    member_size(r, node, "vocabulary", &t->vocabulary);
    member_size(r, node, "sequence", &t->sequence);
    member_flag(r, node, "decoder", &t->decoder);
    member_flag(r, node, "upcast_logits", &t->upcast_logits);
}

static void read_batch(struct reader *r, const struct plm_json_node *root, struct plm_described_batch *b)
{
    const struct plm_json_node *node = part(r, root, "batch");
    member_size(r, node, "size", &b->size);
    member_tensors(r, node, "inputs", &b->input, &b->inputs);
    member_tensors(r, node, "targets", &b->target, &b->targets);
}

static void read_optimizer(struct reader *r, const struct plm_json_node *root, struct plm_described_optimizer *o)
{
    static const char *const places[] = {[PLM_ZERO_GRAD_BEFORE_FORWARD] = "before-forward",
                                         [PLM_ZERO_GRAD_BEFORE_BACKWARD] = "before-backward",
                                         [PLM_ZERO_GRAD_AFTER_STEP] = "after-step"};
    const struct plm_json_node *node = part(r, root, "optimizer");
    const char *place = NULL;
    o->class_name = "";
    if (!node)
        return;
    o->known = true;
    member_text(r, node, "class", &o->class_name);
    member_size(r, node, "state_bytes", &o->state_bytes);
    member_flag(r, node, "foreach", &o->foreach);
    member_text(r, node, "zero_grad", &place);
    for (int i = PLM_ZERO_GRAD_BEFORE_FORWARD; place && i <= PLM_ZERO_GRAD_AFTER_STEP; i++)
        if (!strcmp(place, places[i]))
            o->zero_grad = (enum plm_zero_grad)i;
    if (place && o->zero_grad == PLM_ZERO_GRAD_UNKNOWN)
        node_wrong(r, plm_json_tree_find(r->tree, node, "zero_grad"),
                   "expected before-forward, before-backward or after-step");
}

const char *const plm_described_features[PLM_FEATURES] = {
    [PLM_FEATURE_FLOPS] = "flops",
    [PLM_FEATURE_PARAMETERS] = "parameters",
    [PLM_FEATURE_ACTIVATIONS] = "activations",
    [PLM_FEATURE_BATCH] = "batch",
    [PLM_FEATURE_CONVOLUTIONS] = "convolutions",
    [PLM_FEATURE_LINEARS] = "linears",
    [PLM_FEATURE_BATCHNORMS] = "batchnorms",
    [PLM_FEATURE_DEPTH] = "depth",
};

/* A number from 0; an absent member leaves *out as it was. */
static void member_amount(struct reader *r, const struct plm_json_node *object, const char *key, double *out)
{
    const struct plm_json_node *node = r->status || !object ? NULL : plm_json_tree_find(r->tree, object, key);
    if (!node)
        return;
    r->status = plm_json_tree_get_real(r->tree, object, key, out, r->error);
    if (!(*out >= 0 && *out < FLT_MAX))
        node_wrong(r, node, "a feature is a number from 0");
}

static void read_features(struct reader *r, const struct plm_json_node *root, double feature[PLM_FEATURES])
{
    const struct plm_json_node *node = part(r, root, "features");
    for (int i = 0; i < PLM_FEATURES; i++) {
        feature[i] = -1;
        member_amount(r, node, plm_described_features[i], &feature[i]);
    }
}

static void read_head(struct reader *r, const struct plm_json_node *root, struct plm_description *d)
{
    const char *schema = "", *torch = "";
    r->status = plm_json_tree_is(r->tree, root, PLM_JSON_OBJECT, r->error);
    member_text(r, root, "schema", &schema);
    if (r->status == 0 && strcmp(schema, SCHEMA) != 0)
        node_wrong(r, root, "its schema is not " SCHEMA);
    member_text(r, root, "torch", &torch);
    snprintf(d->torch, sizeof d->torch, "%.31s", torch);
    member_flag(r, root, "computed", &d->computed);
    if (r->status == 0)
        r->status = plm_json_tree_get_real(r->tree, root, "seconds", &d->seconds, r->error);
}

/* ---- modules and what they own ---- */

static void read_modules(struct reader *r, const struct plm_json_node *root, struct plm_description *d)
{
    const struct plm_json_node *node;
    d->module = member_list(r, root, "modules", sizeof *d->module, &d->modules, &node);
    for (size_t i = 0; i < d->modules && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        struct plm_described_module *m = &d->module[i];
        int64_t parent = -1;
        *m = (struct plm_described_module){.name = "", .class_name = ""};
        member_text(r, node, "name", &m->name);
        member_text(r, node, "class", &m->class_name);
        member_flag(r, node, "leaf", &m->leaf);
        member_size(r, node, "own_parameters", &m->own_parameters);
        member_size(r, node, "own_bytes", &m->own_bytes);
        if (r->status == 0)
            r->status = plm_json_tree_get_signed(r->tree, node, "parent", &parent, r->error);
        if (r->status == 0 && (parent < -1 || parent >= (int64_t)i))
            node_wrong(r, node, "a module's parent must come before it");
        m->parent = (int32_t)parent;
    }
}

static void read_owned(struct reader *r, const struct plm_json_node *root, const char *key, size_t modules,
                       struct plm_described_parameter **list, size_t *count)
{
    const struct plm_json_node *node;
    *list = member_list(r, root, key, sizeof **list, count, &node);
    for (size_t i = 0; i < *count && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        member_index(r, node, "module", modules, &(*list)[i].module);
        member_size(r, node, "elements", &(*list)[i].elements);
        member_size(r, node, "bytes", &(*list)[i].bytes);
        member_flag(r, node, "trainable", &(*list)[i].trainable);
    }
}

static void read_calls(struct reader *r, const struct plm_json_node *root, struct plm_description *d)
{
    const struct plm_json_node *node;
    d->call = member_list(r, root, "calls", sizeof *d->call, &d->calls, &node);
    for (size_t i = 0; i < d->calls && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        d->call[i].flops = -1;
        member_index(r, node, "module", d->modules, &d->call[i].module);
        member_flag(r, node, "again", &d->call[i].again);
        member_amount(r, node, "flops", &d->call[i].flops);
        member_tensors(r, node, "outputs", &d->call[i].output, &d->call[i].outputs);
    }
}

/* ---- the graph ---- */

/* An index that may be absent. */
static void optional_index(struct reader *r, const struct plm_json_node *node, const char *key, size_t count,
                           int32_t *out)
{
    uint32_t index;
    *out = -1;
    if (r->status || !plm_json_tree_find(r->tree, node, key))
        return;
    member_index(r, node, key, count, &index);
    *out = (int32_t)index;
}

static void read_inputs(struct reader *r, const struct plm_json_node *object, size_t nodes,
                        struct plm_described_node *n)
{
    const struct plm_json_node *node;
    uint64_t value = 0;
    n->input = member_list(r, object, "inputs", sizeof *n->input, &n->inputs, &node);
    for (size_t i = 0; i < n->inputs && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        r->status = plm_json_tree_unsigned(r->tree, node, &value, r->error);
        if (r->status == 0 && value >= nodes)
            node_wrong(r, node, "a node's inputs must come before it");
        n->input[i] = (uint32_t)value;
    }
}

static void read_graph(struct reader *r, const struct plm_json_node *root, struct plm_description *d)
{
    const struct plm_json_node *node;
    member_text(r, root, "graph_missing", &d->graph_missing);
    d->node = member_list(r, root, "graph", sizeof *d->node, &d->nodes, &node);
    for (size_t i = 0; i < d->nodes && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        struct plm_described_node *n = &d->node[i];
        n->op = n->name = "";
        member_text(r, node, "op", &n->op);
        member_text(r, node, "name", &n->name);
        member_size(r, node, "bytes", &n->bytes);
        optional_index(r, node, "module", d->modules, &n->module);
        optional_index(r, node, "shares", i, &n->shares);
        read_inputs(r, node, i, n);
    }
}

/* ---- how long tensors live ---- */

static void read_sighting(struct reader *r, const struct plm_json_node *node, struct plm_described_sighting *s)
{
    int64_t *const out[] = {NULL, &s->first, &s->last};
    const struct plm_json_node *item = plm_json_tree_first(node);
    if (plm_json_tree_kind(node) != PLM_JSON_ARRAY || plm_json_tree_count(node) != 3) {
        node_wrong(r, node, "expected [bytes, first, last]");
        return;
    }
    r->status = plm_json_tree_unsigned(r->tree, item, &s->bytes, r->error);
    if (r->status == 0 && s->bytes > PLM_DESCRIPTION_BYTES)
        node_wrong(r, item, "a tensor is too large");
    for (int i = 1; i < 3 && r->status == 0; i++) {
        item = plm_json_tree_next(r->tree, item);
        r->status = plm_json_tree_signed(r->tree, item, out[i], r->error);
    }
    if (r->status == 0 && (s->first < 0 || s->last < s->first || s->last > INT32_MAX))
        node_wrong(r, node, "a tensor must be seen first at moment 0 or later, and last after that");
}

static void read_sightings(struct reader *r, const struct plm_json_node *root, struct plm_description *d)
{
    const struct plm_json_node *node;
    d->sighting = member_list(r, part(r, root, "sightings"), "tensors", sizeof *d->sighting, &d->sightings, &node);
    for (size_t i = 0; i < d->sightings && r->status == 0; i++, node = plm_json_tree_next(r->tree, node))
        read_sighting(r, node, &d->sighting[i]);
}

static void read_storages(struct reader *r, const struct plm_json_node *object, const char *key,
                          struct plm_described_storages *s)
{
    const struct plm_json_node *node;
    bool *dead;
    s->event = member_list(r, object, key, sizeof *s->event, &s->events, &node);
    dead = plm_calloc(s->events, sizeof *dead);
    for (size_t i = 0; i < s->events && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        r->status = plm_json_tree_signed(r->tree, node, &s->event[i], r->error);
        if (r->status)
            break;
        if (s->event[i] >= 0) {
            s->births++;
            if (s->event[i] > (int64_t)PLM_DESCRIPTION_BYTES)
                node_wrong(r, node, "a storage is too large");
        } else if (s->event[i] < -(int64_t)s->births || dead[-s->event[i] - 1])
            node_wrong(r, node, "a storage is freed that was not allocated");
        else
            dead[-s->event[i] - 1] = true;
    }
    free(dead);
}

static void read_lists(struct reader *r, const struct plm_json_node *root, struct plm_description *d)
{
    const struct plm_json_node *storages;
    read_modules(r, root, d);
    read_owned(r, root, "parameters", d->modules, &d->parameter, &d->parameters);
    read_owned(r, root, "buffers", d->modules, &d->buffer, &d->buffers);
    read_calls(r, root, d);
    read_graph(r, root, d);
    read_sightings(r, root, d);
    storages = part(r, root, "storages");
    read_storages(r, storages, "forward_backward", &d->forward_backward);
    read_storages(r, storages, "step", &d->step);
}

/* ---- all together ---- */

static int description_build(struct plm_json_tree *tree, struct plm_description **out, struct plm_error *error)
{
    struct plm_description *d = plm_calloc(1, sizeof *d);
    struct reader r = {.tree = tree, .error = error};
    const struct plm_json_node *root = plm_json_tree_root(tree);
    d->tree = tree;
    read_head(&r, root, d);
    read_model(&r, root, &d->model);
    read_transformer(&r, root, &d->transformer);
    read_batch(&r, root, &d->batch);
    read_optimizer(&r, root, &d->optimizer);
    read_features(&r, root, d->feature);
    read_lists(&r, root, d);
    if (r.status)
        plm_description_free(d);
    else
        *out = d;
    return r.status;
}

int plm_description_read(const char *path, struct plm_description **description, struct plm_error *error)
{
    struct plm_json_tree *tree;
    int status = plm_json_tree_read(path, &tree, error);
    return status ? status : description_build(tree, description, error);
}

int plm_description_parse(const char *name, const char *text, size_t size, struct plm_description **description,
                          struct plm_error *error)
{
    struct plm_json_tree *tree;
    int status = plm_json_tree_read_memory(name, text, size, &tree, error);
    return status ? status : description_build(tree, description, error);
}

void plm_description_free(struct plm_description *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->calls; i++)
        free(d->call[i].output);
    for (size_t i = 0; i < d->nodes; i++)
        free(d->node[i].input);
    free(d->batch.input);
    free(d->batch.target);
    free(d->module);
    free(d->parameter);
    free(d->buffer);
    free(d->call);
    free(d->node);
    free(d->sighting);
    free(d->forward_backward.event);
    free(d->step.event);
    plm_json_tree_free(d->tree);
    free(d);
}

/* ---- sums ---- */

uint64_t plm_description_input_bytes(const struct plm_description *d)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < d->batch.inputs; i++)
        sum = plm_plus(sum, d->batch.input[i].bytes);
    return sum;
}

unsigned plm_dtype_bytes(const char *dtype)
{
    static const struct {
        const char *dtype;
        unsigned bytes;
    } rows[] = {
        {"float32", 4}, {"float16", 2}, {"bfloat16", 2}, {"float64", 8}, {"int64", 8},
        {"int32", 4},   {"int16", 2},   {"int8", 1},     {"uint8", 1},   {"bool", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(dtype, rows[i].dtype))
            return rows[i].bytes;
    return 0;
}

const char *plm_description_activations(const struct plm_description *d)
{
    return *d->model.autocast ? d->model.autocast : d->model.dtype;
}

const char *plm_description_precision(const struct plm_description *d, char buffer[PLM_DESCRIPTION_PRECISION_BYTES])
{
    snprintf(buffer, PLM_DESCRIPTION_PRECISION_BYTES, "%s%s%s", d->model.dtype,
             *d->model.autocast ? " with autocast to " : "", d->model.autocast);
    return buffer;
}
