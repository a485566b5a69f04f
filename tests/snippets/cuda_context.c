/* The driver: contexts. */
#include "cuda.h"

/* ---- contexts ---- */

SNIPPET(cuDevicePrimaryCtxRetain)
{
    void *one = NULL, *two = NULL;
    CHECK(CU(cuDevicePrimaryCtxRetain, (void **, int), (&one, 0)) == 0);
    CHECK(CU(cuDevicePrimaryCtxRetain, (void **, int), (&two, 0)) == 0 && one && one == two);
    CHECK(CU(cuDevicePrimaryCtxRetain, (void **, int), (&two, 99)) == INVALID_DEVICE);
}

SNIPPET(cuDevicePrimaryCtxGetState)
{
    unsigned flags = 99;
    int active = -1;
    cu_context();
    CHECK(CU(cuDevicePrimaryCtxGetState, (int, unsigned *, int *), (0, &flags, &active)) == 0);
    CHECK(active == 1 && flags != 99);
}

static void check_primary_release(const char *name)
{
    cu_context();
    CHECK(BY(name, (int), (0)) == 0);
    CHECK(BY(name, (int), (99)) == INVALID_DEVICE);
}
CHECKED(cuDevicePrimaryCtxRelease, check_primary_release)
CHECKED(cuDevicePrimaryCtxRelease_v2, check_primary_release)
CHECKED(cuDevicePrimaryCtxReset, check_primary_release)
CHECKED(cuDevicePrimaryCtxReset_v2, check_primary_release)

static void check_primary_flags(const char *name)
{
    unsigned flags = 0;
    int active;
    CHECK(BY(name, (int, unsigned), (0, 4)) == 0);
    CHECK(CU(cuDevicePrimaryCtxGetState, (int, unsigned *, int *), (0, &flags, &active)) == 0 && flags == 4);
    CHECK(BY(name, (int, unsigned), (0, 0)) == 0);
}
CHECKED(cuDevicePrimaryCtxSetFlags, check_primary_flags)
CHECKED(cuDevicePrimaryCtxSetFlags_v2, check_primary_flags)

static void finish_context(void *made, void *before)
{
    void *now = NULL;
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == made);
    CHECK(CU(cuCtxDestroy_v2, (void *), (made)) == 0);
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == before);
    CHECK(CU(cuCtxSetCurrent, (void *), (made)) == 201);
}

static void check_create(const char *name)
{
    void *before = cu_context(), *made = NULL;
    CHECK(BY(name, (void **, unsigned, int), (&made, 8, 0)) == 0 && made && made != before);
    finish_context(made, before);
}
CHECKED(cuCtxCreate, check_create)
CHECKED(cuCtxCreate_v2, check_create)

SNIPPET(cuCtxCreate_v3)
{
    void *before = cu_context(), *made = NULL;
    CHECK(CU(cuCtxCreate_v3, (void **, void *, int, unsigned, int), (&made, NULL, 0, 0, 0)) == 0);
    finish_context(made, before);
}

SNIPPET(cuCtxCreate_v4)
{
    void *before = cu_context(), *made = NULL;
    CHECK(CU(cuCtxCreate_v4, (void **, void *, unsigned, int), (&made, NULL, 0, 0)) == 0);
    finish_context(made, before);
}

static void check_destroy(const char *name)
{
    void *before = cu_context(), *made = NULL, *now = NULL;
    CHECK(CU(cuCtxCreate_v2, (void **, unsigned, int), (&made, 0, 0)) == 0);
    CHECK(BY(name, (void *), (made)) == 0);
    CHECK(BY(name, (void *), (made)) == 201);
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == before);
}
CHECKED(cuCtxDestroy, check_destroy)
CHECKED(cuCtxDestroy_v2, check_destroy)
CHECKED(cuCtxDetach, check_destroy)

static void check_push(const char *name)
{
    void *primary = cu_context(), *now = NULL;
    CHECK(BY(name, (void *), (primary)) == 0);
    CHECK(CU(cuCtxPopCurrent_v2, (void **), (&now)) == 0 && now == primary);
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == primary);
    CHECK(BY(name, (void *), (&now)) == 201);
}
CHECKED(cuCtxPushCurrent, check_push)
CHECKED(cuCtxPushCurrent_v2, check_push)

static void check_pop(const char *name)
{
    void *primary = cu_context(), *now = NULL, *made = NULL;
    int device;
    CHECK(CU(cuCtxCreate_v2, (void **, unsigned, int), (&made, 0, 0)) == 0);
    CHECK(BY(name, (void **), (&now)) == 0 && now == made);
    CHECK(BY(name, (void **), (&now)) == 0 && now == primary);
    while (BY(name, (void **), (&now)) == 0)
        continue;
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && !now);
    CHECK(CU(cuCtxGetDevice, (int *), (&device)) == 201);
    cu_context();
}
CHECKED(cuCtxPopCurrent, check_pop)
CHECKED(cuCtxPopCurrent_v2, check_pop)

SNIPPET(cuCtxSetCurrent)
{
    void *primary = cu_context(), *now = primary;
    while (now && CU(cuCtxSetCurrent, (void *), (NULL)) == 0)
        CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0);
    CHECK(CU(cuCtxSetCurrent, (void *), (primary)) == 0);
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == primary);
}

SNIPPET(cuCtxGetCurrent)
{
    void *primary = cu_context(), *now = NULL;
    CHECK(CU(cuCtxGetCurrent, (void **), (&now)) == 0 && now == primary);
}

SNIPPET(cuCtxAttach)
{
    void *primary = cu_context(), *now = NULL;
    CHECK(CU(cuCtxAttach, (void **, unsigned), (&now, 0)) == 0 && now == primary);
}

SNIPPET(cuCtxGetDevice)
{
    int device = -1;
    cu_context();
    CHECK(CU(cuCtxGetDevice, (int *), (&device)) == 0 && device == 0);
}

SNIPPET(cuCtxGetDevice_v2)
{
    int device = -1;
    CHECK(CU(cuCtxGetDevice_v2, (int *, void *), (&device, cu_context())) == 0 && device == 0);
}

SNIPPET(cuCtxSynchronize)
{
    cu_context();
    CHECK(CU(cuCtxSynchronize, (void), ()) == 0);
}

SNIPPET(cuCtxSynchronize_v2)
{
    CHECK(CU(cuCtxSynchronize_v2, (void *), (cu_context())) == 0);
}

SNIPPET(cuCtxGetFlags)
{
    unsigned flags = 99;
    cu_context();
    CHECK(CU(cuCtxGetFlags, (unsigned *), (&flags)) == 0 && flags != 99);
}

SNIPPET(cuCtxSetFlags)
{
    unsigned flags = 99;
    cu_context();
    CHECK(CU(cuCtxSetFlags, (unsigned), (4)) == 0);
    CHECK(CU(cuCtxGetFlags, (unsigned *), (&flags)) == 0 && flags == 4);
    CHECK(CU(cuCtxSetFlags, (unsigned), (0)) == 0);
}

SNIPPET(cuCtxGetId)
{
    uint64_t id = 0;
    CHECK(CU(cuCtxGetId, (void *, uint64_t *), (cu_context(), &id)) == 0 && id);
}

SNIPPET(cuCtxGetLimit)
{
    size_t value = 0;
    cu_context();
    CHECK(CU(cuCtxGetLimit, (size_t *, int), (&value, 2)) == 0 && value == 8 << 20);
    CHECK(CU(cuCtxGetLimit, (size_t *, int), (&value, 99)) == 215);
}

SNIPPET(cuCtxSetLimit)
{
    size_t value = 0;
    cu_context();
    CHECK(CU(cuCtxSetLimit, (int, size_t), (0, 4096)) == 0);
    CHECK(CU(cuCtxGetLimit, (size_t *, int), (&value, 0)) == 0 && value == 4096);
}

SNIPPET(cuCtxGetCacheConfig)
{
    int config = -1;
    cu_context();
    CHECK(CU(cuCtxGetCacheConfig, (int *), (&config)) == 0 && config >= 0);
}

SNIPPET(cuCtxSetCacheConfig)
{
    int config = -1;
    cu_context();
    CHECK(CU(cuCtxSetCacheConfig, (int), (2)) == 0);
    CHECK(CU(cuCtxGetCacheConfig, (int *), (&config)) == 0 && config == 2);
    CHECK(CU(cuCtxSetCacheConfig, (int), (0)) == 0);
}

SNIPPET(cuCtxGetApiVersion)
{
    unsigned version = 0;
    CHECK(CU(cuCtxGetApiVersion, (void *, unsigned *), (cu_context(), &version)) == 0 && version >= 3020);
}

SNIPPET(cuCtxGetStreamPriorityRange)
{
    int least = -9, greatest = 9;
    cu_context();
    CHECK(CU(cuCtxGetStreamPriorityRange, (int *, int *), (&least, &greatest)) == 0 && least == 0 && greatest < 0);
}

SNIPPET(cuCtxRecordEvent)
{
    CHECK(CU(cuCtxRecordEvent, (void *, void *), (cu_context(), cu_event())) == 0);
}

SNIPPET(cuCtxWaitEvent)
{
    CHECK(CU(cuCtxWaitEvent, (void *, void *), (cu_context(), cu_event())) == 0);
}
