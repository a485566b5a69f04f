/* The entry points of the graph API. */
#include "shim/cudnn/backend.h"

#include <string.h>

#include "device/device.h"
#include "device/stream.h"

PLM_API int cudnnBackendCreateDescriptor(int kind, struct plm_backend **out)
{
    if (!out)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the address for a new descriptor is NULL");
    if (kind < 0 || kind >= PLM_BACKEND_KINDS)
        return plm_dnn_fail(PLM_DNN_NOT_SUPPORTED, "no such kind of descriptor");
    *out = plm_backend_new(kind);
    return *out ? PLM_DNN_OK : plm_dnn_fail(PLM_DNN_NOMEM, "out of host memory");
}

PLM_API int cudnnBackendDestroyDescriptor(struct plm_backend *d)
{
    plm_backend_release(d);
    return PLM_DNN_OK;
}

PLM_API int cudnnBackendFinalize(struct plm_backend *d)
{
    if (!d)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor is NULL");
    return plm_backend_derive(d);
}

PLM_API int cudnnBackendSetAttribute(struct plm_backend *d, int name, int type, int64_t count, const void *elements)
{
    if (!d)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor is NULL");
    return plm_backend_set(d, name, type, count, elements);
}

/* Descriptors are not handed out: those that the caller made are filled. */
static int fill_descriptors(const struct plm_backend_attribute *a, int64_t count, void *elements)
{
    for (int64_t i = 0; i < count; i++) {
        struct plm_backend *source, *target;
        int status;
        memcpy(&source, (const char *)plm_backend_data(a) + (size_t)i * sizeof source, sizeof source);
        memcpy(&target, (const char *)elements + (size_t)i * sizeof target, sizeof target);
        if (!source || !target)
            return plm_dnn_fail(PLM_DNN_BAD_PARAM, "a descriptor to be filled is NULL");
        status = plm_backend_copy(target, source);
        if (status != PLM_DNN_OK)
            return status;
    }
    return PLM_DNN_OK;
}

/* The count is always written, so that a caller may ask for it alone. An attribute that is neither
   set nor derived is an error: a success without a value would be taken for one. */
PLM_API int cudnnBackendGetAttribute(struct plm_backend *d, int name, int type, int64_t requested, int64_t *count,
                                     void *elements)
{
    const struct plm_backend_attribute *a = plm_backend_find(d, name);
    if (count)
        *count = a ? a->count : 0;
    if (!d)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor is NULL");
    if (!a)
        return plm_dnn_fail(PLM_DNN_NOT_SUPPORTED, "the attribute has no value");
    if (type != a->type && plm_backend_element(type) != plm_backend_element(a->type))
        return plm_dnn_fail(PLM_DNN_WRONG_TYPE, "the attribute has another type");
    if (!elements || requested < 1)
        return PLM_DNN_OK;
    if (requested > a->count)
        requested = a->count;
    if (a->type == PLM_TYPE_DESCRIPTOR) {
        /* cuDNN's own front end takes the count for the number of descriptors that were filled. */
        if (count)
            *count = requested;
        return fill_descriptors(a, requested, elements);
    }
    memcpy(elements, plm_backend_data(a), (size_t)requested * plm_backend_element(a->type));
    return PLM_DNN_OK;
}

PLM_API int cudnnGetExecutionPlanWorkspaceSize(struct plm_dnn_handle *handle, struct plm_backend *plan,
                                               struct plm_backend *pack, size_t *bytes)
{
    const struct plm_backend_attribute *a = plm_backend_find(plan, PLM_ATTR_PLAN_WORKSPACE);
    int64_t value;
    (void)handle, (void)pack;
    if (!a || !bytes)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the plan is not finished or the size's address is NULL");
    memcpy(&value, plm_backend_data(a), sizeof value);
    *bytes = (size_t)value;
    return PLM_DNN_OK;
}

static bool ready(const struct plm_dnn_handle *handle, const struct plm_backend *plan, const struct plm_backend *pack)
{
    return handle && plan && pack && plan->finalized;
}

PLM_API int cudnnBackendExecute(struct plm_dnn_handle *handle, struct plm_backend *plan, struct plm_backend *pack)
{
    bool run;
    if (!ready(handle, plan, pack))
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the plan is not finished or an argument is NULL");
    if (plm_stream_enqueue(handle->stream, PLM_NODE_KERNEL, &run) != 0)
        return plm_dnn_fail(PLM_DNN_EXECUTION, "the stream does not take work");
    if (run)
        plm_launch("cudnnBackendExecute");
    if (run && plm_backend_plan_slower(plan))
        plm_launch(NULL); /* the virtual clock goes by launches, and a benchmark compares */
    plm_backend_call(plan, pack, handle->stream, run);
    return PLM_DNN_OK;
}

/* The graph gets what the real library would put there: at least one kernel. */
PLM_API int cudnnBackendPopulateCudaGraph(struct plm_dnn_handle *handle, struct plm_backend *plan,
                                          struct plm_backend *pack, struct plm_graph *graph)
{
    struct plm_graph_node *node;
    if (!ready(handle, plan, pack) || !graph || plm_graph_add(graph, PLM_NODE_KERNEL, &node) != 0)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the plan is not finished or the graph cannot be used");
    return PLM_DNN_OK;
}
