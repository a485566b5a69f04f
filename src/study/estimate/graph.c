#include "study/estimate/graph.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "study/estimate/description.h"

/* Others keep their inputs: convolutions, linear and normalization layers, pooling, products, most activations. */
static const char *const saves_output[] = {"relu",       "sigmoid", "tanh", "softmax", "log_softmax",
                                           "logsoftmax", "exp",     "sqrt", NULL};
/* Sums, copies and views need sizes alone; what a dropout keeps is its mask, which is no tensor of the graph. */
static const char *const saves_nothing[] = {
    /* sums */
    "add", "iadd", "sub", "neg", "mean", "sum",
    /* copies */
    "cat", "concat", "stack", "roll", "pad", "to", "float", "half", "clone", "contiguous", "upsample", "interpolate",
    /* views */
    "chunk", "split", "unbind", "getitem", "getattr", "size", "flatten", "unflatten", "view", "reshape", "permute",
    "transpose", "expand", "squeeze", "unsqueeze", "identity",
    /* dropouts */
    "dropout", "dropout1d", "dropout2d", "dropout3d", "stochastic_depth", "stochasticdepth", NULL};

static bool kind_is_in(const char *const *list, const char *kind)
{
    while (*list && strcasecmp(*list, kind) != 0)
        list++;
    return *list != NULL;
}

size_t plm_described_node_holder(const struct plm_description *d, size_t node)
{
    while (d->node[node].shares >= 0)
        node = (size_t)d->node[node].shares;
    return node;
}

bool plm_described_node_is(const struct plm_described_node *node, const char *op)
{
    return !strcmp(node->op, op);
}

const char *plm_described_node_kind(const struct plm_description *d, const struct plm_described_node *node,
                                    char *buffer, unsigned size)
{
    size_t length;
    snprintf(buffer, size, "%s", node->module >= 0 ? d->module[node->module].class_name : node->name);
    if (node->module >= 0)
        return buffer;
    length = strlen(buffer);
    while (length && isdigit((unsigned char)buffer[length - 1]))
        length--;
    if (length > 1 && buffer[length] && buffer[length - 1] == '_')
        buffer[length - 1] = '\0';
    return buffer;
}

enum plm_saved plm_described_node_saves(const struct plm_description *d, const struct plm_described_node *node)
{
    char kind[64];
    if (!plm_described_node_is(node, "call_module") && !plm_described_node_is(node, "call_function") &&
        !plm_described_node_is(node, "call_method"))
        return PLM_SAVES_NOTHING;
    plm_described_node_kind(d, node, kind, sizeof kind);
    return kind_is_in(saves_output, kind)    ? PLM_SAVES_OUTPUT
           : kind_is_in(saves_nothing, kind) ? PLM_SAVES_NOTHING
                                             : PLM_SAVES_INPUTS;
}
