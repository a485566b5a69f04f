#include "study/estimate/graph.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "study/estimate/description.h"

/* Others keep their inputs: convolutions, linear and normalization layers, pooling, products, most activations. */
static const struct {
    const char *kind;
    enum plm_saved saved;
} kinds[] = {
    {"relu", PLM_SAVES_OUTPUT},
    {"sigmoid", PLM_SAVES_OUTPUT},
    {"tanh", PLM_SAVES_OUTPUT},
    {"softmax", PLM_SAVES_OUTPUT},
    {"log_softmax", PLM_SAVES_OUTPUT},
    {"logsoftmax", PLM_SAVES_OUTPUT},
    {"exp", PLM_SAVES_OUTPUT},
    {"sqrt", PLM_SAVES_OUTPUT},
    /* Views, copies and sums need sizes alone; what a dropout keeps is its mask, which is no tensor of the graph. */
    {"add", PLM_SAVES_NOTHING},
    {"iadd", PLM_SAVES_NOTHING},
    {"sub", PLM_SAVES_NOTHING},
    {"neg", PLM_SAVES_NOTHING},
    {"mean", PLM_SAVES_NOTHING},
    {"sum", PLM_SAVES_NOTHING},
    {"cat", PLM_SAVES_NOTHING},
    {"concat", PLM_SAVES_NOTHING},
    {"stack", PLM_SAVES_NOTHING},
    {"chunk", PLM_SAVES_NOTHING},
    {"split", PLM_SAVES_NOTHING},
    {"unbind", PLM_SAVES_NOTHING},
    {"getitem", PLM_SAVES_NOTHING},
    {"getattr", PLM_SAVES_NOTHING},
    {"size", PLM_SAVES_NOTHING},
    {"flatten", PLM_SAVES_NOTHING},
    {"unflatten", PLM_SAVES_NOTHING},
    {"view", PLM_SAVES_NOTHING},
    {"reshape", PLM_SAVES_NOTHING},
    {"permute", PLM_SAVES_NOTHING},
    {"transpose", PLM_SAVES_NOTHING},
    {"contiguous", PLM_SAVES_NOTHING},
    {"expand", PLM_SAVES_NOTHING},
    {"squeeze", PLM_SAVES_NOTHING},
    {"unsqueeze", PLM_SAVES_NOTHING},
    {"roll", PLM_SAVES_NOTHING},
    {"pad", PLM_SAVES_NOTHING},
    {"to", PLM_SAVES_NOTHING},
    {"float", PLM_SAVES_NOTHING},
    {"half", PLM_SAVES_NOTHING},
    {"clone", PLM_SAVES_NOTHING},
    {"identity", PLM_SAVES_NOTHING},
    {"dropout", PLM_SAVES_NOTHING},
    {"dropout1d", PLM_SAVES_NOTHING},
    {"dropout2d", PLM_SAVES_NOTHING},
    {"dropout3d", PLM_SAVES_NOTHING},
    {"stochastic_depth", PLM_SAVES_NOTHING},
    {"stochasticdepth", PLM_SAVES_NOTHING},
    {"upsample", PLM_SAVES_NOTHING},
    {"interpolate", PLM_SAVES_NOTHING},
};

bool plm_graph_is(const struct plm_described_node *node, const char *op)
{
    return !strcmp(node->op, op);
}

const char *plm_graph_kind(const struct plm_description *d, const struct plm_described_node *node, char *buffer,
                           unsigned size)
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

enum plm_saved plm_graph_saves(const struct plm_description *d, const struct plm_described_node *node)
{
    char kind[64];
    if (!plm_graph_is(node, "call_module") && !plm_graph_is(node, "call_function") &&
        !plm_graph_is(node, "call_method"))
        return PLM_SAVES_NOTHING;
    plm_graph_kind(d, node, kind, sizeof kind);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strcasecmp(kind, kinds[i].kind))
            return kinds[i].saved;
    return PLM_SAVES_INPUTS;
}
