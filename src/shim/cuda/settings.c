#include "device/calls.h"
#include "device/footprint.h"
#include "shim/cuda/driver.h"

/* What can be asked of a context, or set in it. */

PLM_API int cuCtxSynchronize(void)
{
    int device, status = plm_cu_blocking(&device);
    if (status == 0)
        plm_call_sync(PLM_SYNC_DEVICE, NULL, PLM_STREAM_UNKNOWN);
    return status;
}

PLM_API int cuCtxSynchronize_v2(struct plm_cu_context *context)
{
    int status;
    if (context && !plm_cu_context_valid(context))
        return PLM_CU_INVALID_CONTEXT;
    if (!context)
        return cuCtxSynchronize();
    status = plm_cu_from_stream(plm_capture_unsafe_call());
    if (status == 0)
        plm_call_sync(PLM_SYNC_DEVICE, NULL, PLM_STREAM_UNKNOWN);
    return status;
}

PLM_API int cuCtxGetFlags(unsigned *flags)
{
    const struct plm_cu_context *context = plm_cu_current();
    if (!flags)
        return PLM_CU_INVALID_VALUE;
    if (!context)
        return PLM_CU_INVALID_CONTEXT;
    *flags = context->flags;
    return 0;
}

PLM_API int cuCtxSetFlags(unsigned flags)
{
    struct plm_cu_context *context = plm_cu_current();
    if (!context)
        return PLM_CU_INVALID_CONTEXT;
    context->flags = flags;
    return 0;
}

PLM_API int cuCtxGetId(const struct plm_cu_context *context, uint64_t *id)
{
    if (!context)
        context = plm_cu_current();
    if (!id)
        return PLM_CU_INVALID_VALUE;
    if (!context || !plm_cu_context_valid(context))
        return PLM_CU_INVALID_CONTEXT;
    *id = context->id;
    return 0;
}

PLM_API int cuCtxGetApiVersion(const struct plm_cu_context *context, unsigned *version)
{
    if (!version)
        return PLM_CU_INVALID_VALUE;
    if (context ? !plm_cu_context_valid(context) : !plm_cu_current())
        return PLM_CU_INVALID_CONTEXT;
    *version = 3020; /* of the interface that contexts have had since CUDA 3.2 */
    return 0;
}

PLM_API int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    int device, status = plm_cu_device(&device);
    if (status)
        return status;
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return 0;
}

PLM_API int cuCtxGetCacheConfig(int *config)
{
    const struct plm_cu_context *context = plm_cu_current();
    if (!config)
        return PLM_CU_INVALID_VALUE;
    if (!context)
        return PLM_CU_INVALID_CONTEXT;
    *config = context->cache_config;
    return 0;
}

PLM_API int cuCtxSetCacheConfig(int config)
{
    struct plm_cu_context *context = plm_cu_current();
    if (config < 0 || config > 3)
        return PLM_CU_INVALID_VALUE;
    if (!context)
        return PLM_CU_INVALID_CONTEXT;
    context->cache_config = config;
    return 0;
}

/* Stack, printf buffer, heap, nested launches (2), L2 fetch, L2 set aside; the rest is of graphics. */
static const uint64_t limit_defaults[PLM_CU_LIMITS] = {1024, 7 << 20, 8 << 20, 2, 2048, 64, 0, 0, 0, 0};

PLM_API int cuCtxGetLimit(size_t *value, int limit)
{
    const struct plm_cu_context *context = plm_cu_current();
    if (!value)
        return PLM_CU_INVALID_VALUE;
    if (!context)
        return PLM_CU_INVALID_CONTEXT;
    if (limit < 0 || limit >= PLM_CU_LIMITS)
        return PLM_CU_UNSUPPORTED_LIMIT;
    *value = context->limit_set[limit] ? context->limits[limit] : limit_defaults[limit];
    return 0;
}

PLM_API int cuCtxSetLimit(int limit, size_t value)
{
    struct plm_cu_context *context = plm_cu_current();
    if (!context)
        return PLM_CU_INVALID_CONTEXT;
    if (limit < 0 || limit >= PLM_CU_LIMITS)
        return PLM_CU_UNSUPPORTED_LIMIT;
    context->limits[limit] = value;
    context->limit_set[limit] = true;
    plm_footprint_limit(plm_device_current(), (unsigned)limit, value);
    return 0;
}
