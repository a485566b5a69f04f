#include "study/estimate/description.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "study/estimate/amount.h"
#include "study/estimate/description_read.h"

#define SCHEMA "plimsoll.description/1"

/* ---- members ---- */

void plm_description_wrong(struct plm_description_reader *r, const struct plm_json_node *node, const char *sentence)
{
    if (r->status == 0)
        r->status = plm_json_tree_fail(r->tree, node, r->error, sentence);
}

void plm_description_size(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                          uint64_t *out)
{
    if (r->status)
        return;
    r->status = plm_json_tree_get_unsigned(r->tree, object, key, out, r->error);
    if (r->status == 0 && *out > PLM_DESCRIPTION_BYTES)
        plm_description_wrong(r, plm_json_tree_find(r->tree, object, key), "no size or count is that large");
}

void plm_description_flag(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                          bool *out)
{
    if (r->status == 0)
        r->status = plm_json_tree_get_bool(r->tree, object, key, out, r->error);
}

void plm_description_text(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                          const char **out)
{
    if (r->status == 0)
        r->status = plm_json_tree_get_text(r->tree, object, key, out, r->error);
}

void plm_description_dtype(struct plm_description_reader *r, const struct plm_json_node *object, char out[16])
{
    const char *text = "";
    plm_description_text(r, object, "dtype", &text);
    snprintf(out, 16, "%.15s", text);
}

void plm_description_index(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                           size_t count, uint32_t *out)
{
    const struct plm_json_node *node = NULL;
    uint64_t value = 0;
    if (r->status)
        return;
    r->status = plm_json_tree_need(r->tree, object, key, &node, r->error);
    if (r->status == 0)
        r->status = plm_json_tree_unsigned(r->tree, node, &value, r->error);
    if (r->status == 0 && value >= count)
        plm_description_wrong(r, node, "there is no such item in the list that it points into");
    *out = (uint32_t)value;
}

void *plm_description_list(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                           size_t size, size_t *count, const struct plm_json_node **first)
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

static void shape(struct plm_description_reader *r, const struct plm_json_node *object, struct plm_described_tensor *t)
{
    const struct plm_json_node *list = NULL;
    if (r->status)
        return;
    r->status = plm_json_tree_get(r->tree, object, "shape", PLM_JSON_ARRAY, &list, r->error);
    if (r->status == 0 && plm_json_tree_count(list) > PLM_DESCRIPTION_DIMENSIONS)
        plm_description_wrong(r, list, "a tensor has at most eight dimensions here");
    t->elements = 1;
    for (const struct plm_json_node *n = plm_json_tree_first(list); n && r->status == 0;
         n = plm_json_tree_next(r->tree, n)) {
        r->status = plm_json_tree_unsigned(r->tree, n, &t->shape[t->dimensions], r->error);
        if (r->status)
            return;
        t->elements = plm_times(t->elements, t->shape[t->dimensions++]);
        if (t->elements > PLM_DESCRIPTION_BYTES)
            plm_description_wrong(r, n, "no tensor has that many elements");
    }
}

void plm_description_tensors(struct plm_description_reader *r, const struct plm_json_node *object, const char *key,
                             struct plm_described_tensor **list, size_t *count)
{
    const struct plm_json_node *node;
    *list = plm_description_list(r, object, key, sizeof **list, count, &node);
    for (size_t i = 0; i < *count && r->status == 0; i++, node = plm_json_tree_next(r->tree, node)) {
        shape(r, node, &(*list)[i]);
        plm_description_dtype(r, node, (*list)[i].dtype);
        plm_description_size(r, node, "bytes", &(*list)[i].bytes);
    }
}

/* ---- parts ---- */

static const struct plm_json_node *part(struct plm_description_reader *r, const struct plm_json_node *root,
                                        const char *key)
{
    const struct plm_json_node *node = NULL;
    if (r->status == 0)
        r->status = plm_json_tree_get(r->tree, root, key, PLM_JSON_OBJECT, &node, r->error);
    return r->status ? NULL : node;
}

static void read_model(struct plm_description_reader *r, const struct plm_json_node *root,
                       struct plm_described_model *m)
{
    const struct plm_json_node *node = part(r, root, "model");
    m->class_name = "";
    if (!node) {
        plm_description_wrong(r, root, "it describes no model");
        return;
    }
    plm_description_text(r, node, "class", &m->class_name);
    plm_description_dtype(r, node, m->dtype);
    plm_description_size(r, node, "parameters", &m->parameters);
    plm_description_size(r, node, "trainable", &m->trainable);
    plm_description_size(r, node, "parameter_bytes", &m->parameter_bytes);
    plm_description_size(r, node, "buffer_bytes", &m->buffer_bytes);
    plm_description_size(r, node, "largest_module", &m->largest_module);
    plm_description_flag(r, node, "checkpointing", &m->checkpointing);
}

static void read_transformer(struct plm_description_reader *r, const struct plm_json_node *root,
                             struct plm_described_transformer *t)
{
    const struct plm_json_node *node = part(r, root, "transformer");
    if (!node)
        return;
    t->known = true;
    plm_description_size(r, node, "layers", &t->layers);
    plm_description_size(r, node, "hidden", &t->hidden);
    plm_description_size(r, node, "heads", &t->heads);
    plm_description_size(r, node, "vocabulary", &t->vocabulary);
    plm_description_size(r, node, "sequence", &t->sequence);
    plm_description_flag(r, node, "decoder", &t->decoder);
    plm_description_flag(r, node, "upcast_logits", &t->upcast_logits);
}

static void read_batch(struct plm_description_reader *r, const struct plm_json_node *root,
                       struct plm_described_batch *b)
{
    const struct plm_json_node *node = part(r, root, "batch");
    plm_description_size(r, node, "size", &b->size);
    plm_description_tensors(r, node, "inputs", &b->input, &b->inputs);
    plm_description_tensors(r, node, "targets", &b->target, &b->targets);
}

static void read_optimizer(struct plm_description_reader *r, const struct plm_json_node *root,
                           struct plm_described_optimizer *o)
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
    plm_description_text(r, node, "class", &o->class_name);
    plm_description_size(r, node, "state_bytes", &o->state_bytes);
    plm_description_flag(r, node, "foreach", &o->foreach);
    plm_description_text(r, node, "zero_grad", &place);
    for (int i = PLM_ZERO_GRAD_BEFORE_FORWARD; place && i <= PLM_ZERO_GRAD_AFTER_STEP; i++)
        if (!strcmp(place, places[i]))
            o->zero_grad = (enum plm_zero_grad)i;
    if (place && o->zero_grad == PLM_ZERO_GRAD_UNKNOWN)
        plm_description_wrong(r, plm_json_tree_find(r->tree, node, "zero_grad"),
                              "expected before-forward, before-backward or after-step");
}

static void read_head(struct plm_description_reader *r, const struct plm_json_node *root, struct plm_description *d)
{
    const char *schema = "", *torch = "";
    r->status = plm_json_tree_is(r->tree, root, PLM_JSON_OBJECT, r->error);
    plm_description_text(r, root, "schema", &schema);
    if (r->status == 0 && strcmp(schema, SCHEMA) != 0)
        plm_description_wrong(r, root, "its schema is not " SCHEMA);
    plm_description_text(r, root, "torch", &torch);
    snprintf(d->torch, sizeof d->torch, "%.31s", torch);
    plm_description_flag(r, root, "computed", &d->computed);
    if (r->status == 0)
        r->status = plm_json_tree_get_real(r->tree, root, "seconds", &d->seconds, r->error);
}

/* ---- all together ---- */

static int description_build(struct plm_json_tree *tree, struct plm_description **out, struct plm_error *error)
{
    struct plm_description *d = plm_calloc(1, sizeof *d);
    struct plm_description_reader r = {.tree = tree, .error = error};
    const struct plm_json_node *root = plm_json_tree_root(tree);
    d->tree = tree;
    read_head(&r, root, d);
    read_model(&r, root, &d->model);
    read_transformer(&r, root, &d->transformer);
    read_batch(&r, root, &d->batch);
    read_optimizer(&r, root, &d->optimizer);
    plm_description_lists(&r, root, d);
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

uint64_t plm_description_activation_bytes(const struct plm_description *d)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < d->calls; i++)
        for (size_t k = 0; d->module[d->call[i].module].leaf && k < d->call[i].outputs; k++)
            sum = plm_plus(sum, d->call[i].output[k].bytes);
    return sum;
}

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
