/*
 * What cuDNN derives when a descriptor is finished: heuristics find engine configurations, an engine
 * has properties, a plan has a workspace. Most graphs have one engine without knobs and notes, so nothing
 * that a framework filters by ever rejects it. A convolution has an engine for each plan that cuDNN's heuristics would
 * offer (conv_workspace.h); those that compute single precision in TF32 say so, as a program may refuse that.
 */
#include "shim/cudnn/backend.h"

#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "shim/cudnn/conv_workspace.h"

enum { NOTE_TENSOR_CORE = 0, MODE_FALLBACK = 2 };

/* Values of attributes that the caller left unset. No count: an empty list. */
static const struct {
    int kind, name, type, count;
    int64_t value;
} defaults[] = {
    {PLM_BACKEND_ENGINE, PLM_ATTR_ENGINE_INDEX, PLM_TYPE_INT64, 1, 0},
    {PLM_BACKEND_ENGINE, PLM_ATTR_ENGINE_KNOBS, PLM_TYPE_DESCRIPTOR, 0, 0},
    {PLM_BACKEND_ENGINE, PLM_ATTR_ENGINE_NUMERICAL_NOTES, PLM_TYPE_NUMERICAL_NOTE, 0, 0},
    {PLM_BACKEND_ENGINE, PLM_ATTR_ENGINE_LAYOUTS, PLM_TYPE_DESCRIPTOR, 0, 0},
    {PLM_BACKEND_ENGINE, PLM_ATTR_ENGINE_BEHAVIOR_NOTES, PLM_TYPE_BEHAVIOR_NOTE, 0, 0},
    {PLM_BACKEND_ENGINE_CONFIG, PLM_ATTR_CONFIG_INTERMEDIATES, PLM_TYPE_DESCRIPTOR, 0, 0},
    {PLM_BACKEND_ENGINE_CONFIG, PLM_ATTR_CONFIG_KNOBS, PLM_TYPE_DESCRIPTOR, 0, 0},
    {PLM_BACKEND_ENGINE_CONFIG, PLM_ATTR_CONFIG_SHARED_MEMORY, PLM_TYPE_INT32, 1, 0},
    {PLM_BACKEND_PLAN, PLM_ATTR_PLAN_COMPUTED_UIDS, PLM_TYPE_INT64, 0, 0},
    {PLM_BACKEND_PLAN, PLM_ATTR_PLAN_RUN_ONLY_UIDS, PLM_TYPE_INT64, 0, 0},
    {PLM_BACKEND_GRAPH, PLM_ATTR_GRAPH_ENGINES, PLM_TYPE_INT64, 1, 1},
    {PLM_BACKEND_GRAPH, PLM_ATTR_GRAPH_DYNAMIC, PLM_TYPE_BOOLEAN, 1, 0},
    {PLM_BACKEND_GRAPH, PLM_ATTR_GRAPH_SAME_TOPOLOGY, PLM_TYPE_BOOLEAN, 1, 0},
    {PLM_BACKEND_TENSOR, PLM_ATTR_TENSOR_VECTOR_COUNT, PLM_TYPE_INT64, 1, 1},
    {PLM_BACKEND_TENSOR, PLM_ATTR_TENSOR_VIRTUAL, PLM_TYPE_BOOLEAN, 1, 0},
    {PLM_BACKEND_TENSOR, PLM_ATTR_TENSOR_BY_VALUE, PLM_TYPE_BOOLEAN, 1, 0},
    {PLM_BACKEND_TENSOR, PLM_ATTR_TENSOR_REORDERING, PLM_TYPE_REORDERING, 1, 0},
    {PLM_BACKEND_KERNEL_CACHE, PLM_ATTR_CACHE_HOLDS_KERNEL, PLM_TYPE_BOOLEAN, 1, 0},
};

/* Small integers are stored with their lowest bytes first, whatever the width of the type. */
static int set_defaults(struct plm_backend *d)
{
    int status = PLM_DNN_OK;
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0] && status == PLM_DNN_OK; i++)
        if (defaults[i].kind == d->kind && !plm_backend_find(d, defaults[i].name))
            status = plm_backend_set(d, defaults[i].name, defaults[i].type, defaults[i].count, &defaults[i].value);
    return status;
}

static int set_int64(struct plm_backend *d, int name, int64_t value)
{
    return plm_backend_set(d, name, PLM_TYPE_INT64, 1, &value);
}

/* A text that the caller may store and bring back; an own one is never overwritten. */
static int set_text(struct plm_backend *d, int name, const char *text)
{
    if (plm_backend_find(d, name))
        return PLM_DNN_OK;
    return plm_backend_set(d, name, PLM_TYPE_CHAR, (int64_t)strlen(text), text);
}

static int derive_config(struct plm_backend *config)
{
    const struct plm_backend *engine = plm_backend_child(config, PLM_ATTR_CONFIG_ENGINE);
    if (plm_backend_find(config, PLM_ATTR_CONFIG_WORKSPACE))
        return PLM_DNN_OK;
    return set_int64(config, PLM_ATTR_CONFIG_WORKSPACE,
                     (int64_t)plm_backend_graph_workspace(plm_backend_child(engine, PLM_ATTR_ENGINE_GRAPH)));
}

/* Finishes `child`, makes it an attribute of `parent` and gives up the reference to it. */
static int adopt(struct plm_backend *parent, int name, struct plm_backend *child)
{
    int status = child ? plm_backend_derive(child) : plm_dnn_fail(PLM_DNN_NOMEM, "out of host memory");
    if (status == PLM_DNN_OK)
        status = plm_backend_set(parent, name, PLM_TYPE_DESCRIPTOR, 1, &child);
    plm_backend_release(child);
    return status;
}

struct offer {
    int64_t index, workspace; /* workspace -1: the graph's */
    bool tensor_cores;
};

/* A finished configuration of an engine for this graph, which may be NULL. */
static int make_config(struct plm_backend **out, struct plm_backend *graph, const struct offer *offer)
{
    struct plm_backend *engine = plm_backend_new(PLM_BACKEND_ENGINE);
    struct plm_backend *config = plm_backend_new(PLM_BACKEND_ENGINE_CONFIG);
    const int note = NOTE_TENSOR_CORE;
    int status = PLM_DNN_OK;

    if (!engine || !config) {
        plm_backend_release(engine);
        plm_backend_release(config);
        return plm_dnn_fail(PLM_DNN_NOMEM, "out of host memory");
    }
    if (graph)
        status = plm_backend_set(engine, PLM_ATTR_ENGINE_GRAPH, PLM_TYPE_DESCRIPTOR, 1, &graph);
    if (status == PLM_DNN_OK)
        status = set_int64(engine, PLM_ATTR_ENGINE_INDEX, offer->index);
    if (status == PLM_DNN_OK && offer->tensor_cores)
        status = plm_backend_set(engine, PLM_ATTR_ENGINE_NUMERICAL_NOTES, PLM_TYPE_NUMERICAL_NOTE, 1, &note);
    if (status == PLM_DNN_OK && offer->workspace >= 0)
        status = set_int64(config, PLM_ATTR_CONFIG_WORKSPACE, offer->workspace);
    if (status == PLM_DNN_OK)
        status = adopt(config, PLM_ATTR_CONFIG_ENGINE, engine);
    else
        plm_backend_release(engine);
    if (status == PLM_DNN_OK)
        status = plm_backend_derive(config);
    if (status == PLM_DNN_OK)
        *out = config;
    else
        plm_backend_release(config);
    return status;
}

enum { OFFERS = 2 * PLM_STACK_PLANS };

static int offer_plans(const struct plm_dnn_conv_answer *answer, bool fallback, struct offer offer, struct offer *out)
{
    int n = 0;
    for (int i = fallback ? answer->plans - 1 : 0; i < answer->plans; i++, n++) {
        out[n] = offer;
        out[n].index += i;
        out[n].workspace = (int64_t)answer->plan[i];
    }
    return n;
}

/* Single precision has two lists: with TF32, and behind them those for programs that do not want it and refuse what uses
   tensor cores. A measured list is complete: nothing is put behind it that was not measured too. */
static int offers_of(const struct plm_backend *graph, bool fallback, struct offer *out)
{
    struct plm_dnn_conv_answer answer, plain;
    struct plm_conv_shape shape;
    bool both;
    int n;
    if (!plm_backend_graph_convolution(graph, &shape)) {
        out[0] = (struct offer){0, -1, false};
        return 1;
    }
    plm_dnn_conv_answer(&shape, &answer);
    both = shape.tf32 && shape.type == PLM_DNN_FLOAT;
    shape.tf32 = false;
    plm_dnn_conv_answer(&shape, &plain);
    both = both && (plain.source == PLM_CONV_SOURCE_TABLE || answer.source != PLM_CONV_SOURCE_TABLE);
    n = offer_plans(&answer, fallback, (struct offer){.tensor_cores = both}, out);
    return both ? n + offer_plans(&plain, fallback, (struct offer){.index = PLM_ENGINE_WITHOUT_TF32}, out + n) : n;
}

static int derive_heuristic(struct plm_backend *heuristic)
{
    struct plm_backend *graph = plm_backend_child(heuristic, PLM_ATTR_HEURISTIC_GRAPH), *config[OFFERS] = {NULL};
    const struct plm_backend_attribute *mode = plm_backend_find(heuristic, PLM_ATTR_HEURISTIC_MODE);
    struct offer offer[OFFERS];
    int count, made = 0, kind = 0, status = PLM_DNN_OK;

    if (!graph)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "heuristics need an operation graph");
    if (mode && mode->count == 1)
        memcpy(&kind, plm_backend_data(mode), sizeof kind);
    count = offers_of(graph, kind == MODE_FALLBACK, offer);
    for (; made < count && status == PLM_DNN_OK; made += status == PLM_DNN_OK)
        status = make_config(&config[made], graph, &offer[made]);
    if (status == PLM_DNN_OK)
        status = plm_backend_set(heuristic, PLM_ATTR_HEURISTIC_RESULTS, PLM_TYPE_DESCRIPTOR, count, config);
    for (int i = 0; i < made; i++)
        plm_backend_release(config[i]);
    return status;
}

/* The workspace in a text of ours; 0 if it is not one. */
static int64_t stored_workspace(const struct plm_backend *plan)
{
    const struct plm_backend_attribute *json = plm_backend_find(plan, PLM_ATTR_PLAN_JSON);
    char text[64] = "";
    long long bytes = 0;
    if (json && json->type == PLM_TYPE_CHAR && json->count < (int64_t)sizeof text)
        memcpy(text, plm_backend_data(json), (size_t)json->count);
    return sscanf(text, "{\"plimsoll_workspace\":%lld}", &bytes) == 1 && bytes > 0 ? bytes : 0;
}

/* A plan comes from an engine configuration, or from the text of an earlier plan. */
static int derive_plan(struct plm_backend *plan)
{
    const struct plm_backend_attribute *workspace;
    struct plm_backend *config = NULL;
    char json[64];
    int64_t bytes = 0;
    int status = PLM_DNN_OK;

    if (!plm_backend_child(plan, PLM_ATTR_PLAN_CONFIG)) {
        if (!plm_backend_find(plan, PLM_ATTR_PLAN_JSON))
            return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a plan needs an engine configuration");
        status = make_config(&config, NULL, &(struct offer){0, stored_workspace(plan), false});
        if (status == PLM_DNN_OK)
            status = plm_backend_set(plan, PLM_ATTR_PLAN_CONFIG, PLM_TYPE_DESCRIPTOR, 1, &config);
        plm_backend_release(config);
    }
    if (status != PLM_DNN_OK)
        return status;
    workspace = plm_backend_find(plm_backend_child(plan, PLM_ATTR_PLAN_CONFIG), PLM_ATTR_CONFIG_WORKSPACE);
    if (workspace && workspace->type == PLM_TYPE_INT64 && workspace->count == 1)
        memcpy(&bytes, plm_backend_data(workspace), sizeof bytes);
    snprintf(json, sizeof json, "{\"plimsoll_workspace\":%lld}", (long long)bytes);
    status = set_int64(plan, PLM_ATTR_PLAN_WORKSPACE, bytes);
    return status == PLM_DNN_OK ? set_text(plan, PLM_ATTR_PLAN_JSON, json) : status;
}

static int derive_device(struct plm_backend *device)
{
    const int32_t current = plm_device_current();
    if (plm_backend_find(device, PLM_ATTR_DEVICE_ID))
        return set_text(device, PLM_ATTR_DEVICE_JSON, "{}");
    if (plm_backend_set(device, PLM_ATTR_DEVICE_ID, PLM_TYPE_INT32, 1, &current) != PLM_DNN_OK)
        return PLM_DNN_NOMEM;
    return set_text(device, PLM_ATTR_DEVICE_JSON, "{}");
}

int plm_backend_derive(struct plm_backend *d)
{
    int status = PLM_DNN_OK;
    if (d->kind == PLM_BACKEND_ENGINE_CONFIG)
        status = derive_config(d);
    else if (d->kind == PLM_BACKEND_HEURISTIC)
        status = derive_heuristic(d);
    else if (d->kind == PLM_BACKEND_PLAN)
        status = derive_plan(d);
    else if (d->kind == PLM_BACKEND_KERNEL_CACHE)
        status = set_text(d, PLM_ATTR_CACHE_JSON, "{}");
    else if (d->kind == PLM_BACKEND_DEVICE)
        status = derive_device(d);
    if (status == PLM_DNN_OK)
        status = set_defaults(d);
    d->finalized = status == PLM_DNN_OK;
    return status;
}
