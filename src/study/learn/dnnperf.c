/*
 * A graph network in the style of DNNPerf, which is known from its text alone: a layer of the network is a node, a tensor
 * between two layers an edge. Each round makes every edge anew from itself and its two ends, and every node from itself
 * and the edges that lead to it, weighted by attention; the sum over all nodes and the numbers of the whole network go
 * through two layers more. All numbers enter as logarithms, since they span ten orders of magnitude.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/learn/example.h"
#include "study/learn/network.h"

enum { ROUNDS = 8, WIDTH = 64 };
#define LEAK  0.2       /* of the activation of attention */
#define SHARE (1 / 32.) /* of the sum over nodes, which grows with their number */

static double scaled(double x)
{
    return (double)(float)(log1p(fmax(x, 0)) / 20);
}

/* ---- what it sees ---- */

static const enum plm_example_number numbers[] = {PLM_EXAMPLE_BATCH, PLM_EXAMPLE_PARAMETERS, PLM_EXAMPLE_ACTIVATIONS,
                                                  PLM_EXAMPLE_FLOPS, PLM_EXAMPLE_LARGEST,    PLM_EXAMPLE_INPUT};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static const char *const *dnnperf_features(enum plm_family family)
{
    static const char *const names[NUMBERS + 1] = {"batch", "parameters", "activations", "flops", "largest", "input"};
    (void)family;
    return names;
}

static void node_add(struct plm_view *v, const struct plm_layer *l, double input)
{
    const double number[] = {l->elements, l->width, l->parameters, l->flops, input};
    double *node;
    static_assert(PLM_LAYER_KINDS + sizeof number / sizeof number[0] == PLM_DNNPERF_NODE, "a node's features");
    for (size_t i = 0; i < PLM_DNNPERF_NODE; i++)
        v->node = plm_grow(v->node, v->nodes * PLM_DNNPERF_NODE + i, &v->node_room, sizeof *v->node);
    node = v->node + v->nodes++ * PLM_DNNPERF_NODE;
    memset(node, 0, PLM_DNNPERF_NODE * sizeof *node);
    node[l->kind] = 1;
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        node[PLM_LAYER_KINDS + i] = scaled(number[i]);
}

static void edge_add(struct plm_view *v, uint32_t from, uint32_t to, double elements)
{
    v->edge = plm_grow(v->edge, v->edges, &v->edge_room, sizeof *v->edge);
    v->edge[v->edges++] = (struct plm_view_edge){from, to, scaled(elements)};
}

static int dnnperf_view(enum plm_family family, const struct plm_example *e, struct plm_view *v,
                        struct plm_error *error)
{
    (void)family;
    if (!e->layers)
        return plm_fail(error, PLM_EFORMAT, "the network's layers are unknown");
    v->nodes = v->edges = 0;
    for (size_t i = 0; i < e->layers; i++) {
        const struct plm_layer *l = &e->layer[i];
        double input = l->inputs ? 0 : fmax(e->number[PLM_EXAMPLE_INPUT], 0);
        for (size_t k = 0; k < l->inputs; k++)
            if (l->input[k] < i) {
                edge_add(v, l->input[k], (uint32_t)i, e->layer[l->input[k]].elements);
                input += e->layer[l->input[k]].elements;
            }
        node_add(v, l, input);
    }
    for (size_t i = 0; i < NUMBERS; i++)
        v->x[i] = e->number[numbers[i]];
    return 0;
}

/* ---- its tensors ---- */

struct dense {
    const float *weight, *bias;
    size_t in, out;
};

struct parts {
    size_t width, edge_width, rounds;
    struct dense node, edge, read[2], out;
    struct {
        struct dense edge, attention, node;
    } round[ROUNDS];
};

static int bind_dense(struct plm_network *n, const char *prefix, size_t in, size_t out, struct dense *dense,
                      struct plm_error *error)
{
    char name[PLM_NETWORK_NAME];
    dense->in = in;
    dense->out = out;
    snprintf(name, sizeof name, "%.40s.weight", prefix);
    dense->weight = plm_network_need(n, name, out, in, error);
    if (!dense->weight)
        return PLM_EFORMAT;
    snprintf(name, sizeof name, "%.40s.bias", prefix);
    dense->bias = plm_network_need(n, name, out, 1, error);
    return dense->bias ? 0 : PLM_EFORMAT;
}

static size_t rows_of(struct plm_network *n, const char *name)
{
    const struct plm_network_tensor *tensor = plm_network_find(n, name);
    return tensor ? tensor->rows : 0;
}

static int bind_round(struct plm_network *n, struct parts *p, size_t number, struct plm_error *error)
{
    const size_t ends = p->edge_width + 2 * p->width;
    char name[PLM_NETWORK_NAME];
    int status;
    snprintf(name, sizeof name, "%zu.edge", number);
    if ((status = bind_dense(n, name, ends, p->edge_width, &p->round[number].edge, error)))
        return status;
    snprintf(name, sizeof name, "%zu.attention", number);
    if ((status = bind_dense(n, name, ends, 1, &p->round[number].attention, error)))
        return status;
    snprintf(name, sizeof name, "%zu.node", number);
    return bind_dense(n, name, p->width + p->edge_width, p->width, &p->round[number].node, error);
}

static int dnnperf_bind(struct plm_network *n, struct plm_error *error)
{
    struct parts *p = n->parts = plm_calloc(1, sizeof *p);
    const size_t read[2] = {rows_of(n, "read.0.weight"), rows_of(n, "read.1.weight")};
    char name[PLM_NETWORK_NAME];
    int status;
    p->width = rows_of(n, "node.weight");
    p->edge_width = rows_of(n, "edge.weight");
    if (p->width > WIDTH || p->edge_width > WIDTH || read[0] > WIDTH || read[1] > WIDTH)
        return plm_fail(error, PLM_EFORMAT, "the weights of %s are wider than this plimsoll supports", n->method->name);
    if ((status = bind_dense(n, "node", PLM_DNNPERF_NODE, p->width, &p->node, error)) ||
        (status = bind_dense(n, "edge", PLM_DNNPERF_EDGE, p->edge_width, &p->edge, error)))
        return status;
    for (; snprintf(name, sizeof name, "%zu.edge.weight", p->rounds), rows_of(n, name); p->rounds++) {
        status = p->rounds < ROUNDS ? bind_round(n, p, p->rounds, error)
                                    : plm_fail(error, PLM_EFORMAT, "the weights of %s have more than %d rounds",
                                               n->method->name, ROUNDS);
        if (status)
            return status;
    }
    if ((status = bind_dense(n, "read.0", p->width + n->features, read[0], &p->read[0], error)) ||
        (status = bind_dense(n, "read.1", read[0], read[1], &p->read[1], error)))
        return status;
    return bind_dense(n, "out", read[1], n->outputs, &p->out, error);
}

/* ---- running it ---- */

static void dense_run(const struct dense *d, const double *x, double *y, bool relu)
{
    for (size_t o = 0; o < d->out; o++) {
        double sum = (double)d->bias[o];
        for (size_t i = 0; i < d->in; i++)
            sum += (double)d->weight[o * d->in + i] * x[i];
        y[o] = relu ? fmax(sum, 0) : sum;
    }
}

struct run {
    const struct parts *parts;
    const struct plm_view *view;
    double *node, *edge, *score; /* of nodes and edges, as they are now */
};

static void edges_run(struct run *r, size_t round)
{
    const size_t w = r->parts->width, ew = r->parts->edge_width;
    double x[3 * WIDTH] = {0};
    for (size_t i = 0; i < r->view->edges; i++) {
        const struct plm_view_edge *edge = &r->view->edge[i];
        double *state = r->edge + i * ew;
        memcpy(x, state, ew * sizeof *x);
        memcpy(x + ew, r->node + edge->from * w, w * sizeof *x);
        memcpy(x + ew + w, r->node + edge->to * w, w * sizeof *x);
        dense_run(&r->parts->round[round].edge, x, state, true);
        memcpy(x, state, ew * sizeof *x);
        dense_run(&r->parts->round[round].attention, x, &r->score[i], false);
        r->score[i] = r->score[i] > 0 ? r->score[i] : LEAK * r->score[i];
    }
}

/* Adds the edges from `first` to `end`, which lead to one node, by their share of attention. */
static void attend(const struct run *r, size_t first, size_t end, double *message)
{
    const size_t ew = r->parts->edge_width;
    double largest = -INFINITY, sum = 0;
    for (size_t i = first; i < end; i++)
        largest = fmax(largest, r->score[i]);
    for (size_t i = first; i < end; i++)
        sum += exp(r->score[i] - largest);
    for (size_t i = first; i < end; i++)
        for (size_t k = 0; k < ew; k++)
            message[k] += exp(r->score[i] - largest) / sum * r->edge[i * ew + k];
}

/* Edges stand in the order of the nodes that they lead to. */
static void nodes_run(struct run *r, size_t round)
{
    const size_t w = r->parts->width, ew = r->parts->edge_width;
    double x[2 * WIDTH] = {0};
    for (size_t i = 0, first = 0, end; i < r->view->nodes; i++, first = end) {
        double *state = r->node + i * w;
        for (end = first; end < r->view->edges && r->view->edge[end].to == i; end++)
            ;
        memcpy(x, state, w * sizeof *x);
        memset(x + w, 0, ew * sizeof *x);
        attend(r, first, end, x + w);
        dense_run(&r->parts->round[round].node, x, state, true);
    }
}

static void dnnperf_run(const struct plm_network *n, const struct plm_view *v, double *output)
{
    const struct parts *p = n->parts;
    struct run r = {.parts = p,
                    .view = v,
                    .node = plm_calloc(v->nodes * p->width, sizeof *r.node),
                    .edge = plm_calloc(v->edges * p->edge_width, sizeof *r.edge),
                    .score = plm_calloc(v->edges, sizeof *r.score)};
    double x[WIDTH + PLM_TREE_FEATURES] = {0}, hidden[2][WIDTH] = {{0}};
    for (size_t i = 0; i < v->nodes; i++)
        dense_run(&p->node, v->node + i * PLM_DNNPERF_NODE, r.node + i * p->width, true);
    for (size_t i = 0; i < v->edges; i++)
        dense_run(&p->edge, &v->edge[i].size, r.edge + i * p->edge_width, true);
    for (size_t i = 0; i < p->rounds; i++) {
        edges_run(&r, i);
        nodes_run(&r, i);
    }
    for (size_t i = 0; i < v->nodes; i++)
        for (size_t k = 0; k < p->width; k++)
            x[k] += SHARE * r.node[i * p->width + k];
    for (size_t i = 0; i < n->features; i++)
        x[p->width + i] = scaled(v->x[i]);
    dense_run(&p->read[0], x, hidden[0], true);
    dense_run(&p->read[1], hidden[0], hidden[1], true);
    dense_run(&p->out, hidden[1], output, false);
    free(r.node);
    free(r.edge);
    free(r.score);
}

/* ---- its row ---- */

static const struct plm_architecture architecture = {
    .features = dnnperf_features,
    .view = dnnperf_view,
    .bind = dnnperf_bind,
    .run = dnnperf_run,
    .graph = true,
};
static const struct plm_learner learner = PLM_NETWORK_LEARNER(architecture, 0, NULL);
const struct plm_method plm_method_dnnperf = {
    .name = "dnnperf",
    .shown = "dnnperf-style",
    .paradigm = PLM_LEARNED,
    .kind = PLM_ANSWER_DEVICE,
    .needs = PLM_NEEDS_DESCRIPTION,
    .domain = "networks like its training rows",
    .leaves_out = "the optimizer, the GPU",
    .prepare = plm_learned_prepare,
    .judge = plm_learned_judge,
    .explain = plm_learned_explain,
    .learner = &learner,
};
