/* Handles of cusolverDn and cusolverSp and the settings they keep; the library's version. */
#include <stdlib.h>

#include "device/device.h"
#include "device/footprint.h"
#include "shim/cusolver/cusolver.h"
#include "shim/cusparse/release.h"

#ifndef PLM_CUDA
#define PLM_CUDA 0
#endif

/* What a program can set on a handle and read back. Values are those of the documented enumerations. */
enum setting {
    DETERMINISTIC_MODE,
    MATH_MODE,
    EMULATION_STRATEGY,
    SPECIAL_VALUES,
    MANTISSA_CONTROL,
    MANTISSA_BITS,
    MANTISSA_OFFSET,
    SETTINGS
};

static const int defaults[SETTINGS] = {
    [DETERMINISTIC_MODE] = 1, /* deterministic results */
    [MATH_MODE] = 1,          /* no emulation */
    [SPECIAL_VALUES] = 0xffff /* all special values are propagated; the number is not checked */
};

struct solver_handle {
    void *stream;
    int settings[SETTINGS];
};

static int handle_create(void **out)
{
    struct solver_handle *handle;
    if (!out)
        return SOLVER_INVALID_VALUE;
    handle = calloc(1, sizeof *handle);
    if (!handle)
        return SOLVER_ALLOC_FAILED;
    for (int i = 0; i < SETTINGS; i++)
        handle->settings[i] = defaults[i];
    plm_footprint_library(plm_device_current(), PLM_LIBRARY_CUSOLVER);
    *out = handle;
    return SOLVER_OK;
}

static int handle_destroy(void *handle)
{
    if (!handle)
        return SOLVER_NOT_INITIALIZED;
    free(handle);
    return SOLVER_OK;
}

static int stream_set(struct solver_handle *handle, void *stream)
{
    if (!handle)
        return SOLVER_NOT_INITIALIZED;
    handle->stream = stream;
    return SOLVER_OK;
}

static int stream_get(const struct solver_handle *handle, void **stream)
{
    if (!handle)
        return SOLVER_NOT_INITIALIZED;
    if (!stream)
        return SOLVER_INVALID_VALUE;
    *stream = handle->stream;
    return SOLVER_OK;
}

#define HANDLE(Part)                                                   \
    PLM_API int cusolver##Part##Create(void **handle)                  \
    {                                                                  \
        return handle_create(handle);                                  \
    }                                                                  \
    PLM_API int cusolver##Part##Destroy(void *handle)                  \
    {                                                                  \
        return handle_destroy(handle);                                 \
    }                                                                  \
    PLM_API int cusolver##Part##SetStream(void *handle, void *stream)  \
    {                                                                  \
        return stream_set(handle, stream);                             \
    }                                                                  \
    PLM_API int cusolver##Part##GetStream(void *handle, void **stream) \
    {                                                                  \
        return stream_get(handle, stream);                             \
    }

HANDLE(Dn)
HANDLE(Sp)

static int setting_set(struct solver_handle *handle, enum setting which, int value)
{
    if (!handle)
        return SOLVER_NOT_INITIALIZED;
    handle->settings[which] = value;
    return SOLVER_OK;
}

static int setting_get(const struct solver_handle *handle, enum setting which, int *value)
{
    if (!handle)
        return SOLVER_NOT_INITIALIZED;
    if (!value)
        return SOLVER_INVALID_VALUE;
    *value = handle->settings[which];
    return SOLVER_OK;
}

#define SETTING(Name, which)                                  \
    PLM_API int cusolverDnSet##Name(void *handle, int value)  \
    {                                                         \
        return setting_set(handle, which, value);             \
    }                                                         \
    PLM_API int cusolverDnGet##Name(void *handle, int *value) \
    {                                                         \
        return setting_get(handle, which, value);             \
    }

SETTING(DeterministicMode, DETERMINISTIC_MODE)
SETTING(MathMode, MATH_MODE)
SETTING(EmulationStrategy, EMULATION_STRATEGY)
SETTING(EmulationSpecialValuesSupport, SPECIAL_VALUES)
SETTING(FixedPointEmulationMantissaControl, MANTISSA_CONTROL)
SETTING(FixedPointEmulationMaxMantissaBitCount, MANTISSA_BITS)
SETTING(FixedPointEmulationMantissaBitOffset, MANTISSA_OFFSET)

/* 12.4 and 12.8 as PyTorch's packages require them, 13.2 as public code reports it; the other rows are from
   memory and matter only to a PyTorch built against those toolkits. */
static const struct plm_release releases[] = {
    {12000, {11, 4, 2}}, {12010, {11, 4, 5}}, {12020, {11, 5, 2}}, {12030, {11, 5, 4}},
    {12040, {11, 6, 1}}, {12050, {11, 6, 3}}, {12060, {11, 7, 1}}, {12080, {11, 7, 3}},
    {12090, {11, 7, 5}}, {13000, {12, 0, 4}}, {13010, {12, 0, 7}}, {13020, {12, 2, 0}},
};

static const struct plm_release *release_played(void)
{
    return plm_release_find(releases, sizeof releases / sizeof releases[0], PLM_CUDA);
}

PLM_API int cusolverGetVersion(int *version)
{
    if (!version)
        return SOLVER_INVALID_VALUE;
    *version = plm_release_number(release_played());
    return SOLVER_OK;
}

PLM_API int cusolverGetProperty(int type, int *value)
{
    if (!value || type < 0 || type > 2)
        return SOLVER_INVALID_VALUE;
    *value = release_played()->part[type];
    return SOLVER_OK;
}
