/* The activity interface: attributes that are remembered, correlation stacks, buffers without records. */
#include "shim/cupti/cupti.h"

#include <stdint.h>
#include <string.h>

#include "device/lock.h"
#include "device/shim.h"

enum { ATTRIBUTES = 32, KINDS = 8, DEPTH = 32 };

/* A value no longer than eight bytes each, as set; before that, what the documentation gives. */
static struct {
    size_t size;
    unsigned char bytes[8];
} attributes[ATTRIBUTES];
static struct plm_lock attributes_lock = PLM_LOCK_INIT(PLM_LOCK_SHIM);
PLM_LOCK_JOINS(attributes_lock)

/* Documented defaults: buffers of 8 MiB per context, pools of 250 and 65,536 entries. */
static uint64_t default_of(int attribute)
{
    static const uint64_t defaults[ATTRIBUTES] = {
        [0] = 8ull << 20, [1] = 8ull << 20, [2] = 250, [3] = 65536, [4] = 65536};
    return defaults[attribute];
}

PLM_API int cuptiActivitySetAttribute(int attribute, const size_t *size, const void *value)
{
    if (attribute < 0 || attribute >= ATTRIBUTES || !size || !value)
        return PLM_CUPTI_INVALID_PARAMETER;
    if (*size > sizeof attributes[0].bytes)
        return PLM_CUPTI_PARAMETER_SIZE;
    plm_lock_take(&attributes_lock);
    attributes[attribute].size = *size;
    memcpy(attributes[attribute].bytes, value, *size);
    plm_lock_give(&attributes_lock);
    return PLM_CUPTI_OK;
}

PLM_API int cuptiActivityGetAttribute(int attribute, size_t *size, void *value)
{
    uint64_t known;
    size_t length;
    if (attribute < 0 || attribute >= ATTRIBUTES || !size || !value)
        return PLM_CUPTI_INVALID_PARAMETER;
    plm_lock_take(&attributes_lock);
    known = default_of(attribute);
    length = attributes[attribute].size;
    if (length)
        memcpy(&known, attributes[attribute].bytes, length);
    plm_lock_give(&attributes_lock);
    if (!length)
        length = *size < sizeof known ? *size : sizeof known;
    if (*size < length)
        return PLM_CUPTI_PARAMETER_SIZE;
    memcpy(value, &known, length);
    *size = length;
    return PLM_CUPTI_OK;
}

PLM_API int cuptiActivityGetNextRecord(const void *buffer, size_t valid, void **record)
{
    (void)buffer;
    (void)valid;
    if (!record)
        return PLM_CUPTI_INVALID_PARAMETER;
    *record = NULL;
    return PLM_CUPTI_MAX_LIMIT;
}

/* Numbers that a profiler pushes around its own calls. Deeper ones than DEPTH are counted but not
   kept: they come back as 0, which no record will ever be matched with. */
static _Thread_local struct {
    uint32_t depth;
    uint64_t id[DEPTH];
} stacks[KINDS];

PLM_API int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
    if (kind < 0 || kind >= KINDS)
        return PLM_CUPTI_INVALID_PARAMETER;
    if (stacks[kind].depth < DEPTH)
        stacks[kind].id[stacks[kind].depth] = id;
    stacks[kind].depth++;
    return PLM_CUPTI_OK;
}

PLM_API int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *last)
{
    if (kind < 0 || kind >= KINDS)
        return PLM_CUPTI_INVALID_PARAMETER;
    if (last)
        *last = 0;
    if (!stacks[kind].depth)
        return PLM_CUPTI_QUEUE_EMPTY;
    stacks[kind].depth--;
    if (last && stacks[kind].depth < DEPTH)
        *last = stacks[kind].id[stacks[kind].depth];
    return PLM_CUPTI_OK;
}
