/* The library handle with its stream and pointer mode; version, property and error texts. */
#include <stdlib.h>

#include "device/device.h"
#include "device/footprint.h"
#include "shim/cusparse/cusparse.h"
#include "shim/cusparse/release.h"
#include "shim/cusparse/status.h"

PLM_API int cusparseCreate(struct plm_sparse_handle **out)
{
    if (!out)
        return SPARSE_INVALID_VALUE;
    *out = calloc(1, sizeof **out);
    plm_footprint_library(plm_device_current(), PLM_LIBRARY_CUSPARSE);
    return *out ? SPARSE_OK : SPARSE_ALLOC_FAILED;
}

PLM_API int cusparseDestroy(struct plm_sparse_handle *handle)
{
    if (!handle)
        return SPARSE_NOT_INITIALIZED;
    free(handle);
    return SPARSE_OK;
}

PLM_API int cusparseSetStream(struct plm_sparse_handle *handle, void *stream)
{
    if (!handle)
        return SPARSE_NOT_INITIALIZED;
    handle->stream = stream;
    return SPARSE_OK;
}

PLM_API int cusparseGetStream(const struct plm_sparse_handle *handle, void **stream)
{
    if (!handle)
        return SPARSE_NOT_INITIALIZED;
    SPARSE_PUT(stream, handle->stream);
    return SPARSE_OK;
}

PLM_API int cusparseSetPointerMode(struct plm_sparse_handle *handle, int mode)
{
    if (!handle)
        return SPARSE_NOT_INITIALIZED;
    handle->pointer_mode = mode;
    return SPARSE_OK;
}

PLM_API int cusparseGetPointerMode(const struct plm_sparse_handle *handle, int *mode)
{
    if (!handle)
        return SPARSE_NOT_INITIALIZED;
    SPARSE_PUT(mode, handle->pointer_mode);
    return SPARSE_OK;
}

/* 12.4 and 12.8 as PyTorch's packages require them, 13.2 as public code reports it; the other rows are from
   memory and matter only to a PyTorch built against those toolkits. */
static const struct plm_release releases[] = {
    {12000, {12, 0, 0}},  {12010, {12, 1, 0}}, {12020, {12, 1, 2}}, {12030, {12, 2, 0}},
    {12040, {12, 3, 1}},  {12050, {12, 5, 1}}, {12060, {12, 5, 4}}, {12080, {12, 5, 8}},
    {12090, {12, 5, 10}}, {13000, {12, 6, 3}}, {13010, {12, 7, 3}}, {13020, {12, 7, 10}},
};

static const struct plm_release *release_played(void)
{
    return plm_release_find(releases, sizeof releases / sizeof releases[0], 0);
}

PLM_API int cusparseGetVersion(const struct plm_sparse_handle *handle, int *version)
{
    if (!handle)
        return SPARSE_NOT_INITIALIZED;
    if (!version)
        return SPARSE_INVALID_VALUE;
    *version = plm_release_number(release_played());
    return SPARSE_OK;
}

PLM_API int cusparseGetProperty(int type, int *value)
{
    if (!value || type < 0 || type > 2)
        return SPARSE_INVALID_VALUE;
    *value = release_played()->part[type];
    return SPARSE_OK;
}

PLM_API const char *cusparseGetErrorName(int status)
{
    return plm_sparse_status_name(status);
}

PLM_API const char *cusparseGetErrorString(int status)
{
    return plm_sparse_status_text(status);
}
