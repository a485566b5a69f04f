/* What a plan of the graph API does, for the record: a convolution or an attention. */
#include "shim/cudnn/backend.h"

#include <string.h>

#include "device/calls.h"
#include "shim/cudnn/conv_call.h"

/*
 * Attention is one operation, or a graph of matrix products with a softmax between them: two in the forward pass
 * (queries by keys, weights by values), five in the backward pass, of which the first two have the same sizes as
 * those but for a transposition. Tensors are [batch, heads, rows, columns].
 */
enum { FORWARD_PRODUCTS = 2, BACKWARD_PRODUCTS = 5, DIMS = 4 };

static bool sizes(const struct plm_backend *operation, int name, int64_t out[DIMS])
{
    return plm_backend_integers(plm_backend_child(operation, name), PLM_ATTR_TENSOR_SIZES, out, DIMS) == DIMS;
}

static int type_of(const struct plm_backend *tensor)
{
    const struct plm_backend_attribute *type = plm_backend_find(tensor, PLM_ATTR_TENSOR_TYPE);
    int value = PLM_DNN_FLOAT;
    if (type)
        memcpy(&value, plm_backend_data(type), sizeof value);
    return value;
}

static bool read_whole(const struct plm_backend *operation, struct plm_call_attention *out)
{
    int64_t q[DIMS], k[DIMS], v[DIMS];
    if (!sizes(operation, PLM_ATTR_ATTENTION_Q, q) || !sizes(operation, PLM_ATTR_ATTENTION_K, k) ||
        !sizes(operation, PLM_ATTR_ATTENTION_V, v))
        return false;
    *out = (struct plm_call_attention){PLM_ATTENTION_FORWARD,
                                       type_of(plm_backend_child(operation, PLM_ATTR_ATTENTION_Q)),
                                       q[0],
                                       q[1],
                                       k[1],
                                       q[2],
                                       k[2],
                                       q[3],
                                       v[3],
                                       0};
    return true;
}

static bool read_attention(const struct plm_backend *graph, struct plm_call_attention *out)
{
    const struct plm_backend *operation;
    int64_t q[DIMS] = {0}, k[DIMS] = {0}, second[DIMS] = {0};
    int products = 0, type = PLM_DNN_FLOAT;
    for (int64_t i = 0; (operation = plm_backend_operation(graph, i)); i++) {
        if (operation->kind == PLM_BACKEND_ATTENTION_FORWARD)
            return read_whole(operation, out);
        if (operation->kind != PLM_BACKEND_OPERATION_MATMUL)
            continue;
        if (products == 0) {
            if (!sizes(operation, PLM_ATTR_MATMUL_A, q) || !sizes(operation, PLM_ATTR_MATMUL_B, k))
                return false;
            type = type_of(plm_backend_child(operation, PLM_ATTR_MATMUL_A));
        } else if (products == 1 && !sizes(operation, PLM_ATTR_MATMUL_B, second))
            return false;
        products++;
    }
    *out = (struct plm_call_attention){products == FORWARD_PRODUCTS ? PLM_ATTENTION_FORWARD : PLM_ATTENTION_BACKWARD,
                                       type,
                                       q[0],
                                       q[1],
                                       k[1],
                                       q[2],
                                       k[3],
                                       q[3],
                                       second[3],
                                       0};
    return products == FORWARD_PRODUCTS || products == BACKWARD_PRODUCTS;
}

static void *workspace_of(const struct plm_backend *pack)
{
    const struct plm_backend_attribute *a = plm_backend_find(pack, PLM_ATTR_PACK_WORKSPACE);
    void *at = NULL;
    if (a && a->type == PLM_TYPE_POINTER && a->count == 1)
        memcpy(&at, plm_backend_data(a), sizeof at);
    return at;
}

void plm_backend_call(const struct plm_backend *plan, const struct plm_backend *pack, struct plm_stream *stream,
                      bool run)
{
    const struct plm_backend *config = plm_backend_child(plan, PLM_ATTR_PLAN_CONFIG);
    const struct plm_backend *engine = plm_backend_child(config, PLM_ATTR_CONFIG_ENGINE);
    const struct plm_backend *graph = plm_backend_child(engine, PLM_ATTR_ENGINE_GRAPH);
    struct plm_call_attention attention;
    struct plm_conv_shape shape;
    int64_t bytes = 0;

    plm_backend_integers(plan, PLM_ATTR_PLAN_WORKSPACE, &bytes, 1);
    if (bytes > 0)
        plm_call_workspace(workspace_of(pack));
    if (plm_backend_plan_convolution(plan, &shape))
        plm_dnn_conv_record(&shape, (uint64_t)bytes, stream, run);
    else if (!plm_call_wanted())
        return;
    else if (read_attention(graph, &attention)) {
        attention.workspace = (uint64_t)bytes;
        plm_call_attention(&attention, stream, run);
    } else
        plm_call_routine("cudnnBackendExecute", stream, run);
}
