/* Reads the convolution out of an operation graph. */
#include "shim/cudnn/backend.h"

#include <string.h>

#include "shim/cudnn/conv_workspace.h"
#include "stack/stack_file.h"

/* Attributes of the three convolution operations: their descriptor and tensors have numbers of their own. */
static const struct {
    int kind;
    enum plm_conv_op op;
    int conv, w, x, y;
} operations[] = {
    {PLM_BACKEND_CONV_FORWARD, PLM_CONV_FORWARD, 702, 703, 704, 705},
    {PLM_BACKEND_CONV_BACKWARD_DATA, PLM_CONV_BACKWARD_DATA, 708, 709, 710, 711},
    {PLM_BACKEND_CONV_BACKWARD_FILTER, PLM_CONV_BACKWARD_FILTER, 714, 715, 716, 717},
};

enum { TENSOR_DIMS = PLM_CONV_AXES + 2 };

int plm_backend_integers(const struct plm_backend *d, int name, int64_t *out, int most)
{
    const struct plm_backend_attribute *a = plm_backend_find(d, name);
    if (!a || a->type != PLM_TYPE_INT64 || a->count < 1 || a->count > most)
        return 0;
    memcpy(out, plm_backend_data(a), (size_t)a->count * sizeof *out);
    return (int)a->count;
}

struct operands {
    const struct plm_backend *conv, *x, *y, *w;
};

static bool read_shape(const struct operands *from, struct plm_conv_shape *s)
{
    const struct plm_backend_attribute *type = plm_backend_find(from->x, PLM_ATTR_TENSOR_TYPE);
    int64_t x[TENSOR_DIMS], y[TENSOR_DIMS], w[TENSOR_DIMS], strides[TENSOR_DIMS];
    const int dims = plm_backend_integers(from->x, PLM_ATTR_TENSOR_SIZES, x, TENSOR_DIMS), axes = dims - 2;
    const int first = PLM_CONV_AXES - axes;
    int element = 0;

    if (axes < 1 || !type || plm_backend_integers(from->y, PLM_ATTR_TENSOR_SIZES, y, TENSOR_DIMS) != dims ||
        plm_backend_integers(from->w, PLM_ATTR_TENSOR_SIZES, w, TENSOR_DIMS) != dims ||
        plm_backend_integers(from->x, PLM_ATTR_TENSOR_STRIDES, strides, TENSOR_DIMS) != dims || w[1] < 1)
        return false;
    memcpy(&element, plm_backend_data(type), sizeof element);
    *s = (struct plm_conv_shape){
        .n = x[0],
        .c = x[1],
        .k = y[1],
        .in = {1, 1, 1},
        .filter = {1, 1, 1},
        .out = {1, 1, 1},
        .stride = {1, 1, 1},
        .dilation = {1, 1, 1},
        .groups = x[1] / w[1],
        .axes = axes,
        .type = element,
        .element_bytes = (int)plm_dnn_bytes(element, 1),
        .channels_last = x[1] > 1 && strides[1] == 1,
        .tf32 = plm_dnn_tf32(),
    };
    memcpy(&s->in[first], &x[2], (size_t)axes * sizeof *x);
    memcpy(&s->out[first], &y[2], (size_t)axes * sizeof *y);
    memcpy(&s->filter[first], &w[2], (size_t)axes * sizeof *w);
    return plm_backend_integers(from->conv, PLM_ATTR_CONV_STRIDES, &s->stride[first], axes) == axes &&
           plm_backend_integers(from->conv, PLM_ATTR_CONV_DILATIONS, &s->dilation[first], axes) == axes &&
           plm_backend_integers(from->conv, PLM_ATTR_CONV_PADDINGS, &s->pad[first], axes) == axes;
}

static bool read_operation(const struct plm_backend *operation, struct plm_conv_shape *shape)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        const struct operands from = {
            plm_backend_child(operation, operations[i].conv), plm_backend_child(operation, operations[i].x),
            plm_backend_child(operation, operations[i].y), plm_backend_child(operation, operations[i].w)};
        if (operation->kind != operations[i].kind || !read_shape(&from, shape))
            continue;
        shape->op = operations[i].op;
        return true;
    }
    return false;
}

const struct plm_backend *plm_backend_operation(const struct plm_backend *graph, int64_t index)
{
    const struct plm_backend_attribute *list = plm_backend_find(graph, PLM_ATTR_GRAPH_OPERATIONS);
    const struct plm_backend *operation;
    if (!list || list->type != PLM_TYPE_DESCRIPTOR || index >= list->count)
        return NULL;
    memcpy(&operation, (const char *)plm_backend_data(list) + (size_t)index * sizeof operation, sizeof operation);
    return operation;
}

bool plm_backend_graph_convolution(const struct plm_backend *graph, struct plm_conv_shape *shape)
{
    const struct plm_backend *operation;
    for (int64_t i = 0; (operation = plm_backend_operation(graph, i)); i++)
        if (read_operation(operation, shape))
            return true;
    return false;
}

uint64_t plm_backend_graph_workspace(const struct plm_backend *graph)
{
    struct plm_conv_shape shape;
    struct plm_dnn_conv_answer answer;
    if (!plm_backend_graph_convolution(graph, &shape))
        return 0;
    plm_dnn_conv_answer(&shape, &answer);
    return answer.plan[0];
}

static const struct plm_backend *engine_of(const struct plm_backend *plan)
{
    return plm_backend_child(plm_backend_child(plan, PLM_ATTR_PLAN_CONFIG), PLM_ATTR_CONFIG_ENGINE);
}

static int64_t index_of(const struct plm_backend *engine)
{
    int64_t index = 0;
    plm_backend_integers(engine, PLM_ATTR_ENGINE_INDEX, &index, 1);
    return index;
}

bool plm_backend_plan_convolution(const struct plm_backend *plan, struct plm_conv_shape *shape)
{
    const struct plm_backend *engine = engine_of(plan);
    if (!plm_backend_graph_convolution(plm_backend_child(engine, PLM_ATTR_ENGINE_GRAPH), shape))
        return false;
    shape->tf32 = shape->tf32 && index_of(engine) < PLM_ENGINE_WITHOUT_TF32;
    return true;
}

bool plm_backend_plan_slower(const struct plm_backend *plan)
{
    struct plm_dnn_conv_answer answer;
    struct plm_conv_shape shape;
    if (!plm_stack_in_use() || !plm_backend_plan_convolution(plan, &shape)) /* only a stack file knows */
        return false;
    plm_dnn_conv_answer(&shape, &answer);
    return answer.fastest >= 0 && index_of(engine_of(plan)) % PLM_ENGINE_WITHOUT_TF32 != answer.fastest;
}
