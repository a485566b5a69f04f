/* The attribute bag behind a graph descriptor. */
#include "shim/cudnn/backend.h"

#include <stdlib.h>
#include <string.h>

/* Types that are not listed are enumerations of the API: 4 bytes. */
static const unsigned char element_bytes[PLM_TYPES] = {
    [PLM_TYPE_HANDLE] = 8,  [PLM_TYPE_BOOLEAN] = 1,    [PLM_TYPE_INT64] = 8, [PLM_TYPE_DOUBLE] = 8,
    [PLM_TYPE_POINTER] = 8, [PLM_TYPE_DESCRIPTOR] = 8, [PLM_TYPE_CHAR] = 1,  [PLM_TYPE_FRACTION] = 16,
};

size_t plm_backend_element(int type)
{
    return type >= 0 && type < PLM_TYPES && element_bytes[type] ? element_bytes[type] : 4;
}

const void *plm_backend_data(const struct plm_backend_attribute *attribute)
{
    return attribute->heap ? attribute->heap : attribute->small;
}

static struct plm_backend *element_descriptor(const void *elements, int64_t index)
{
    struct plm_backend *d;
    memcpy(&d, (const char *)elements + (size_t)index * sizeof d, sizeof d);
    return d;
}

static void clear_attribute(struct plm_backend_attribute *a)
{
    for (int64_t i = 0; a->type == PLM_TYPE_DESCRIPTOR && i < a->count; i++)
        plm_backend_release(element_descriptor(plm_backend_data(a), i));
    free(a->heap);
    memset(a, 0, sizeof *a);
}

static void clear(struct plm_backend *d)
{
    for (int i = 0; i < d->count; i++)
        clear_attribute(&d->attributes[i]);
    if (d->attributes != d->first)
        free(d->attributes);
    d->attributes = d->first;
    d->count = 0;
    d->capacity = PLM_BACKEND_FIRST;
    d->finalized = false;
}

struct plm_backend *plm_backend_new(int kind)
{
    struct plm_backend *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->kind = kind;
    d->attributes = d->first;
    d->capacity = PLM_BACKEND_FIRST;
    atomic_init(&d->references, 1);
    return d;
}

void plm_backend_release(struct plm_backend *d)
{
    if (!d || atomic_fetch_sub(&d->references, 1) > 1)
        return;
    clear(d);
    free(d);
}

static struct plm_backend_attribute *attribute_find(const struct plm_backend *d, int name)
{
    for (int i = 0; i < d->count; i++)
        if (d->attributes[i].name == name)
            return &d->attributes[i];
    return NULL;
}

const struct plm_backend_attribute *plm_backend_find(const struct plm_backend *d, int name)
{
    return d ? attribute_find(d, name) : NULL;
}

struct plm_backend *plm_backend_child(const struct plm_backend *d, int name)
{
    const struct plm_backend_attribute *a = plm_backend_find(d, name);
    return a && a->type == PLM_TYPE_DESCRIPTOR && a->count > 0 ? element_descriptor(plm_backend_data(a), 0) : NULL;
}

static struct plm_backend_attribute *attribute_add(struct plm_backend *d)
{
    struct plm_backend_attribute *grown;
    if (d->count == d->capacity) {
        grown = malloc(2 * (size_t)d->capacity * sizeof *grown);
        if (!grown)
            return NULL;
        memcpy(grown, d->attributes, (size_t)d->count * sizeof *grown);
        if (d->attributes != d->first)
            free(d->attributes);
        d->attributes = grown;
        d->capacity *= 2;
    }
    grown = &d->attributes[d->count++];
    memset(grown, 0, sizeof *grown);
    return grown;
}

int plm_backend_set(struct plm_backend *d, int name, int type, int64_t count, const void *elements)
{
    struct plm_backend_attribute *a, fresh = {.name = name, .type = type, .count = count};
    size_t bytes;
    if (count < 0 || (count > 0 && !elements) || count > INT32_MAX)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "an attribute needs its elements");
    bytes = (size_t)count * plm_backend_element(type);
    if (bytes > sizeof fresh.small) {
        fresh.heap = malloc(bytes);
        if (!fresh.heap)
            return plm_dnn_fail(PLM_DNN_NOMEM, "out of host memory");
    }
    if (bytes)
        memcpy(fresh.heap ? fresh.heap : fresh.small, elements, bytes);
    a = attribute_find(d, name);
    if (!a && !(a = attribute_add(d))) {
        free(fresh.heap);
        return plm_dnn_fail(PLM_DNN_NOMEM, "out of host memory");
    }
    /* Retain before the old value goes: it may hold the last reference to the same descriptor. */
    for (int64_t i = 0; type == PLM_TYPE_DESCRIPTOR && i < count; i++)
        if (element_descriptor(elements, i))
            atomic_fetch_add(&element_descriptor(elements, i)->references, 1);
    clear_attribute(a);
    *a = fresh;
    return PLM_DNN_OK;
}

int plm_backend_copy(struct plm_backend *target, const struct plm_backend *source)
{
    if (!target || target->kind != source->kind)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor to be filled is of another kind");
    if (target == source)
        return PLM_DNN_OK;
    clear(target);
    for (int i = 0; i < source->count; i++) {
        const struct plm_backend_attribute *a = &source->attributes[i];
        int status = plm_backend_set(target, a->name, a->type, a->count, plm_backend_data(a));
        if (status != PLM_DNN_OK)
            return status;
    }
    target->finalized = source->finalized;
    return PLM_DNN_OK;
}

PLM_API int cudnnBackendInitialize(struct plm_backend *d)
{
    if (!d)
        return plm_dnn_fail(PLM_DNN_BAD_PARAM, "the descriptor is NULL");
    clear(d);
    return PLM_DNN_OK;
}
