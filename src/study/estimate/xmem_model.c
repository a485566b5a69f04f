#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json_tree.h"
#include "study/estimate/xmem_internal.h"

#define MOST (1ull << 46) /* bytes of a tensor, or of the optimizer's state */

struct reading {
    const struct plm_json_tree *tree;
    struct plm_xmem_model *model;
    struct plm_error *error;
};

/* One of them, and the module that it belongs to. */
static int read_tensor(const struct reading *r, const struct plm_json_node *node, bool buffer, uint64_t *module)
{
    struct plm_xmem_tensor *tensor = &r->model->tensor[r->model->tensors];
    int status;

    *tensor = (struct plm_xmem_tensor){.buffer = buffer, .trained = !buffer};
    *module = 0;
    status = plm_json_tree_is(r->tree, node, PLM_JSON_OBJECT, r->error);
    if (status == 0)
        status = plm_json_tree_get_unsigned(r->tree, node, "bytes", &tensor->bytes, r->error);
    if (status == 0)
        status = plm_json_tree_get_unsigned(r->tree, node, "module", module, r->error);
    if (status == 0)
        status = plm_json_tree_get_bool(r->tree, node, "trainable", &tensor->trained, r->error);
    if (status == 0 && tensor->bytes > MOST)
        status = plm_json_tree_fail(r->tree, node, r->error, "no tensor is as large");
    r->model->tensors += status == 0;
    return status;
}

/* Module.to() goes from module to module, and takes a module's parameters, then its buffers. */
static int read_tensors(const struct reading *r, const struct plm_json_node *parameters,
                        const struct plm_json_node *buffers)
{
    const struct plm_json_node *p = plm_json_tree_first(parameters), *b = plm_json_tree_first(buffers);
    size_t count = plm_json_tree_count(parameters) + plm_json_tree_count(buffers);
    uint64_t at = 0, module;
    int status = 0;

    r->model->tensor = calloc(count ? count : 1, sizeof *r->model->tensor);
    if (!r->model->tensor)
        return PLM_ENOMEM;
    if (p)
        status = plm_json_tree_get_unsigned(r->tree, p, "module", &at, r->error);
    while (status == 0 && (p || b)) {
        while (status == 0 && b) {
            uint64_t owner = 0;
            status = plm_json_tree_get_unsigned(r->tree, b, "module", &owner, r->error);
            if (status || (p && owner >= at))
                break;
            status = read_tensor(r, b, true, &module);
            b = plm_json_tree_next(r->tree, b);
        }
        if (status || !p)
            continue;
        status = read_tensor(r, p, false, &module);
        p = plm_json_tree_next(r->tree, p);
        if (status == 0 && p)
            status = plm_json_tree_get_unsigned(r->tree, p, "module", &at, r->error);
    }
    return status;
}

static int read_optimizer(const struct reading *r, const struct plm_json_node *optimizer)
{
    bool foreach = true;
    int status;

    if (!optimizer)
        return 0;
    r->model->state_known = plm_json_tree_find(r->tree, optimizer, "state_bytes") != NULL;
    status = plm_json_tree_get_unsigned(r->tree, optimizer, "state_bytes", &r->model->state_bytes, r->error);
    if (status == 0 && r->model->state_bytes > MOST)
        status = plm_json_tree_fail(r->tree, optimizer, r->error, "no state is as large");
    if (status == 0)
        status = plm_json_tree_get_bool(r->tree, optimizer, "foreach", &foreach, r->error);
    r->model->loops = !foreach;
    return status;
}

int plm_xmem_model_read(const struct plm_trace *trace, struct plm_xmem_model *model, struct plm_error *error)
{
    const struct plm_json_node *root, *parameters, *buffers, *optimizer;
    struct plm_json_tree *tree;
    struct reading r = {.model = model, .error = error};
    int status;

    *model = (struct plm_xmem_model){0};
    if (!trace->description || !trace->description_size)
        return 0;
    status = plm_json_tree_read_memory("description", trace->description, trace->description_size, &tree, error);
    if (status)
        return status;
    r.tree = tree;
    root = plm_json_tree_root(tree);
    status = plm_json_tree_is(tree, root, PLM_JSON_OBJECT, error);
    if (status == 0)
        status = plm_json_tree_get(tree, root, "parameters", PLM_JSON_ARRAY, &parameters, error);
    if (status == 0)
        status = plm_json_tree_get(tree, root, "buffers", PLM_JSON_ARRAY, &buffers, error);
    if (status == 0)
        status = plm_json_tree_get(tree, root, "optimizer", PLM_JSON_OBJECT, &optimizer, error);
    if (status == 0)
        status = read_tensors(&r, parameters, buffers);
    if (status == 0)
        status = read_optimizer(&r, optimizer);
    plm_json_tree_free(tree);
    return status;
}

void plm_xmem_model_free(struct plm_xmem_model *model)
{
    free(model->tensor);
    *model = (struct plm_xmem_model){0};
}
