/* Multi-head attention of the older API: descriptors, weights and buffers. */
#include "shim/cudnn/dnn.h"

#include <stdlib.h>
#include <string.h>

enum { PROJECTION_BIASES = 2 }; /* a bit of the mode */
enum { KINDS = 8 };             /* query, key, value, output matrices, then their biases */

struct attention {
    unsigned mode;
    int heads;
    double scale;
    int type, compute, math;
    struct plm_dnn_dropout *dropout, *post_dropout; /* the caller's */
    int size[3];                                    /* query, key, value */
    int projection[4];                              /* query, key, value, output; 0: not projected */
    int query_steps, key_steps, batch, beam;
};

PLM_API int cudnnCreateAttnDescriptor(struct attention **out)
{
    return plm_dnn_create(out, sizeof **out);
}

PLM_API int cudnnDestroyAttnDescriptor(struct attention *attention)
{
    free(attention);
    return PLM_DNN_OK;
}

PLM_API int cudnnSetAttnDescriptor(struct attention *a, unsigned mode, int heads, double scale, int type, int compute,
                                   int math, struct plm_dnn_dropout *dropout, struct plm_dnn_dropout *post_dropout,
                                   int q, int k, int v, int q_projection, int k_projection, int v_projection,
                                   int o_projection, int query_steps, int key_steps, int batch, int beam)
{
    if (!a || heads < 1 || q < 1 || k < 1 || v < 1 || query_steps < 1 || key_steps < 1 || batch < 1 || beam < 1)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the sizes of the attention are not valid");
    *a = (struct attention){
        mode,        heads,     scale,        type,      compute,
        math,        dropout,   post_dropout, {q, k, v}, {q_projection, k_projection, v_projection, o_projection},
        query_steps, key_steps, batch,        beam};
    return PLM_DNN_OK;
}

PLM_API int cudnnGetAttnDescriptor(const struct attention *a, unsigned *mode, int *heads, double *scale, int *type,
                                   int *compute, int *math, struct plm_dnn_dropout **dropout,
                                   struct plm_dnn_dropout **post_dropout, int *q, int *k, int *v, int *q_projection,
                                   int *k_projection, int *v_projection, int *o_projection, int *query_steps,
                                   int *key_steps, int *batch, int *beam)
{
    if (!a)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the attention descriptor is NULL");
    const struct {
        int *out, value;
    } ints[] = {
        {heads, a->heads},
        {type, a->type},
        {compute, a->compute},
        {math, a->math},
        {q, a->size[0]},
        {k, a->size[1]},
        {v, a->size[2]},
        {q_projection, a->projection[0]},
        {k_projection, a->projection[1]},
        {v_projection, a->projection[2]},
        {o_projection, a->projection[3]},
        {query_steps, a->query_steps},
        {key_steps, a->key_steps},
        {batch, a->batch},
        {beam, a->beam},
    };
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++)
        plm_dnn_put(ints[i].out, ints[i].value);
    if (mode)
        *mode = a->mode;
    if (scale)
        *scale = a->scale;
    if (dropout)
        *dropout = a->dropout;
    if (post_dropout)
        *post_dropout = a->post_dropout;
    return PLM_DNN_OK;
}

/* Elements of one vector after its projection. */
static int projected(const struct attention *a, int which)
{
    return a->projection[which] > 0 ? a->projection[which] : a->size[which];
}

/* Shape of one kind of weight over all heads; false if there is none. */
static bool weight_shape(const struct attention *a, int kind, int size[3])
{
    const int which = kind % 4;
    if (a->projection[which] <= 0 || (kind >= 4 && !(a->mode & PROJECTION_BIASES)))
        return false;
    size[0] = a->heads;
    size[1] = a->projection[which];
    size[2] = kind >= 4 ? 1 : which == 3 ? projected(a, 2) : a->size[which];
    return true;
}

static uint64_t weight_elements(const struct attention *a, int kind)
{
    int s[3];
    return weight_shape(a, kind, s) ? (uint64_t)s[0] * (uint64_t)s[1] * (uint64_t)s[2] : 0;
}

/* Modelled: training keeps the projected operands, the weights of the attention and its result;
   the workspace holds one set of the same without the operands. */
PLM_API int cudnnGetMultiHeadAttnBuffers(void *handle, const struct attention *a, size_t *weights, size_t *work,
                                         size_t *reserve)
{
    uint64_t elements = 0, rows, operands, result;
    (void)handle;
    if (!a || a->heads < 1)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the attention descriptor was not set");
    for (int kind = 0; kind < KINDS; kind++)
        elements += weight_elements(a, kind);
    rows = (uint64_t)a->batch * (uint64_t)a->beam * (uint64_t)a->heads;
    operands = rows * ((uint64_t)a->query_steps * (uint64_t)projected(a, 0) +
                       (uint64_t)a->key_steps * ((uint64_t)projected(a, 1) + (uint64_t)projected(a, 2)));
    result = rows * (uint64_t)a->query_steps * ((uint64_t)a->key_steps + (uint64_t)projected(a, 2));
    plm_dnn_put_size(weights, plm_dnn_bytes(a->type, elements));
    plm_dnn_put_size(work, plm_dnn_bytes(a->type, reserve ? result : result + operands));
    plm_dnn_put_size(reserve, plm_dnn_bytes(a->type, operands + result));
    return PLM_DNN_OK;
}

PLM_API int cudnnGetMultiHeadAttnWeights(void *handle, const struct attention *a, int kind, size_t weight_bytes,
                                         const void *weights, struct plm_dnn_tensor *tensor, void **address)
{
    uint64_t offset = 0;
    int size[3];
    bool exists;
    (void)handle, (void)weight_bytes;
    if (!a || kind < 0 || kind >= KINDS)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "no such weights in the attention");
    exists = weight_shape(a, kind, size);
    for (int i = 0; i < kind; i++)
        offset += weight_elements(a, i);
    if (tensor) {
        tensor->type = a->type;
        tensor->dims = 0;
        if (exists)
            plm_dnn_tensor_packed(tensor, a->type, PLM_DNN_NCHW, 3, size);
    }
    if (address)
        *address = exists ? (void *)((uintptr_t)weights + plm_dnn_bytes(a->type, offset)) : NULL;
    return PLM_DNN_OK;
}
