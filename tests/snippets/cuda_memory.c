/* The driver: memory and pools. */
#include "cuda.h"

/* ---- memory ---- */

SNIPPET(cuMemAlloc_v2)
{
    address at = 0;
    cu_context();
    CHECK(CU(cuMemAlloc_v2, (address *, size_t), (&at, 1 << 20)) == 0 && at && at % 256 == 0);
    cu_release(at);
    CHECK(CU(cuMemAlloc_v2, (address *, size_t), (&at, 0)) == INVALID_VALUE);
}

SNIPPET(cuMemAllocPitch_v2)
{
    address at = 0;
    size_t pitch = 0;
    cu_context();
    CHECK(CU(cuMemAllocPitch_v2, (address *, size_t *, size_t, size_t, unsigned), (&at, &pitch, 100, 10, 4)) == 0);
    CHECK(at && pitch >= 100 && pitch % 256 == 0);
    cu_release(at);
}

SNIPPET(cuMemFree_v2)
{
    CHECK(CU(cuMemFree_v2, (address), (cu_alloc(4096))) == 0);
    CHECK(CU(cuMemFree_v2, (address), (12345)) == INVALID_VALUE);
}

SNIPPET(cuMemAllocManaged)
{
    address at = 0;
    unsigned managed = 0;
    cu_context();
    CHECK(CU(cuMemAllocManaged, (address *, size_t, unsigned), (&at, 4096, 1)) == 0 && at);
    memset((void *)at, 1, 4096);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&managed, 8, at)) == 0 && managed == 1);
    cu_release(at);
}

SNIPPET(cuMemGetInfo_v2)
{
    size_t before = 0, after = 0, total = 0;
    address at = cu_alloc(64 << 20);
    CHECK(CU(cuMemGetInfo_v2, (size_t *, size_t *), (&before, &total)) == 0 && before <= total && total);
    cu_release(at);
    CHECK(CU(cuMemGetInfo_v2, (size_t *, size_t *), (&after, &total)) == 0 && after == before + (64 << 20));
}

SNIPPET(cuMemGetInfo)
{
    unsigned now = 0, total = 0;
    cu_context();
    CHECK(CU(cuMemGetInfo, (unsigned *, unsigned *), (&now, &total)) == 0 && now && now <= total);
}

SNIPPET(cuMemGetAddressRange_v2)
{
    address at = cu_alloc(8 << 20), base = 0;
    size_t size = 0;
    CHECK(CU(cuMemGetAddressRange_v2, (address *, size_t *, address), (&base, &size, at + 100)) == 0);
    CHECK(base == at && size == 8 << 20);
    cu_release(at);
    CHECK(CU(cuMemGetAddressRange_v2, (address *, size_t *, address), (&base, &size, 64)) == 500);
}

static void check_host_alloc(const char *name)
{
    void *at = NULL;
    cu_context();
    CHECK(BY(name, (void **, size_t, unsigned), (&at, 4096, 0)) == 0 && at);
    memset(at, 1, 4096);
    CHECK(CU(cuMemFreeHost, (void *), (at)) == 0);
}
CHECKED(cuMemAllocHost, check_host_alloc)
CHECKED(cuMemAllocHost_v2, check_host_alloc)
CHECKED(cuMemHostAlloc, check_host_alloc)

SNIPPET(cuMemFreeHost)
{
    void *at = NULL;
    int local;
    cu_context();
    CHECK(CU(cuMemAllocHost_v2, (void **, size_t), (&at, 100)) == 0);
    CHECK(CU(cuMemFreeHost, (void *), (at)) == 0);
    CHECK(CU(cuMemFreeHost, (void *), (&local)) == INVALID_VALUE);
}

SNIPPET(cuMemHostGetFlags)
{
    void *at = NULL;
    unsigned flags = 99;
    cu_context();
    CHECK(CU(cuMemHostAlloc, (void **, size_t, unsigned), (&at, 4096, 3)) == 0);
    CHECK(CU(cuMemHostGetFlags, (unsigned *, void *), (&flags, at)) == 0 && (flags & 3) == 3);
    CHECK(CU(cuMemFreeHost, (void *), (at)) == 0);
}

SNIPPET(cuMemHostGetDevicePointer_v2)
{
    void *at = NULL;
    address device = 0;
    cu_context();
    CHECK(CU(cuMemHostAlloc, (void **, size_t, unsigned), (&at, 4096, 2)) == 0);
    CHECK(CU(cuMemHostGetDevicePointer_v2, (address *, void *, unsigned), (&device, at, 0)) == 0 && device);
    CHECK(CU(cuMemHostGetDevicePointer_v2, (address *, void *, unsigned), (&device, &at, 0)) == INVALID_VALUE);
    CHECK(CU(cuMemFreeHost, (void *), (at)) == 0);
}

static void check_register(const char *name)
{
    static char memory[8192];
    int type = 0;
    cu_context();
    CHECK(BY(name, (void *, size_t, unsigned), (memory, sizeof memory, 0)) == 0);
    CHECK(BY(name, (void *, size_t, unsigned), (memory, sizeof memory, 0)) == 712);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&type, 2, (address)memory)) == 0 && type == 1);
    CHECK(CU(cuMemHostUnregister, (void *), (memory)) == 0);
}
CHECKED(cuMemHostRegister, check_register)
CHECKED(cuMemHostRegister_v2, check_register)

SNIPPET(cuMemHostUnregister)
{
    int local;
    cu_context();
    CHECK(CU(cuMemHostUnregister, (void *), (&local)) == 713);
}

SNIPPET(cuPointerGetAttribute)
{
    address at = cu_alloc(4096), start = 0;
    int type = 0, ordinal = -1, local;
    unsigned managed = 9;
    uint64_t id = 0;
    size_t size = 0;
    void *context = NULL, *current = NULL, *host = &local;
    CHECK(CU(cuCtxGetCurrent, (void **), (&current)) == 0 && current);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&context, 1, at)) == 0 && context == current);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&type, 2, at)) == 0 && type == 2);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&start, 3, at + 8)) == 0 && start == at + 8);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&host, 4, at)) == INVALID_VALUE);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&size, 12, at + 8)) == 0 && size == 4096);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&ordinal, 9, at)) == 0 && ordinal == 0);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&managed, 8, at)) == 0 && managed == 0);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&id, 7, at)) == 0 && id);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&start, 11, at + 8)) == 0 && start == at);
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&type, 2, (address)&local)) == INVALID_VALUE);
    cu_release(at);
}

SNIPPET(cuPointerGetAttributes)
{
    int type = 9, ordinal = 9, attributes[] = {2, 9}, local;
    void *values[] = {&type, &ordinal};
    address at = cu_alloc(4096);
    CHECK(CU(cuPointerGetAttributes, (unsigned, int *, void **, address), (2, attributes, values, at)) == 0);
    CHECK(type == 2 && ordinal == 0);
    CHECK(CU(cuPointerGetAttributes, (unsigned, int *, void **, address), (2, attributes, values, (address)&local)) ==
          0);
    CHECK(type == 0 && ordinal == -2);
    cu_release(at);
}

SNIPPET(cuPointerSetAttribute)
{
    address at = cu_alloc(4096);
    unsigned on = 1;
    CHECK(CU(cuPointerSetAttribute, (const void *, int, address), (&on, 6, at)) == 0);
    CHECK(CU(cuPointerSetAttribute, (const void *, int, address), (&on, 2, at)) == INVALID_VALUE);
    cu_release(at);
}

SNIPPET(cuMemRangeGetAttribute)
{
    address at = 0;
    int value = 9;
    cu_context();
    CHECK(CU(cuMemAllocManaged, (address *, size_t, unsigned), (&at, 4096, 1)) == 0);
    CHECK(CU(cuMemRangeGetAttribute, (void *, size_t, int, address, size_t), (&value, 4, 2, at, 4096)) == 0);
    CHECK(value == -2);
    cu_release(at);
}

SNIPPET(cuMemRangeGetAttributes)
{
    address at = 0;
    int mostly = 9, by[2] = {9, 9}, attributes[] = {1, 3};
    void *values[] = {&mostly, by};
    size_t sizes[] = {4, 8};
    cu_context();
    CHECK(CU(cuMemAllocManaged, (address *, size_t, unsigned), (&at, 4096, 1)) == 0);
    CHECK(CU(cuMemRangeGetAttributes, (void **, size_t *, int *, size_t, address, size_t),
             (values, sizes, attributes, 2, at, 4096)) == 0);
    CHECK(mostly == 0 && by[0] == -2 && by[1] == -2);
    cu_release(at);
}

/* ---- pools ---- */

struct pool_properties {
    int type, handle_types;
    struct location where;
    char rest[72];
};

static void *pool(void)
{
    const struct pool_properties p = {.type = 1, .where = {1, 0}};
    void *out = NULL;
    cu_context();
    CHECK(CU(cuMemPoolCreate, (void **, const void *), (&out, &p)) == 0 && out);
    return out;
}

static void check_alloc_async(const char *name)
{
    address at = 0;
    void *s = cu_stream();
    CHECK(BY(name, (address *, size_t, void *), (&at, 1 << 20, s)) == 0 && at);
    CHECK(CU(cuMemFreeAsync, (address, void *), (at, s)) == 0);
    CHECK(BY(name, (address *, size_t, void *), (&at, 0, s)) == INVALID_VALUE);
}
CHECKED(cuMemAllocAsync, check_alloc_async)
CHECKED(cuMemAllocAsync_ptsz, check_alloc_async)

static void check_alloc_from_pool(const char *name)
{
    void *p = pool(), *s = cu_stream();
    address at = 0;
    CHECK(BY(name, (address *, size_t, void *, void *), (&at, 4096, p, s)) == 0 && at);
    CHECK(CU(cuMemFree_v2, (address), (at)) == 0);
    CHECK(CU(cuMemPoolDestroy, (void *), (p)) == 0);
}
CHECKED(cuMemAllocFromPoolAsync, check_alloc_from_pool)
CHECKED(cuMemAllocFromPoolAsync_ptsz, check_alloc_from_pool)

static void check_free_async(const char *name)
{
    void *s = cu_stream();
    CHECK(BY(name, (address, void *), (cu_alloc(4096), s)) == 0);
    CHECK(BY(name, (address, void *), (12345, s)) == INVALID_VALUE);
}
CHECKED(cuMemFreeAsync, check_free_async)
CHECKED(cuMemFreeAsync_ptsz, check_free_async)

SNIPPET(cuMemPoolCreate)
{
    struct pool_properties shared = {.type = 1, .handle_types = 1, .where = {1, 0}};
    void *p = pool();
    CHECK(CU(cuMemPoolDestroy, (void *), (p)) == 0);
    CHECK(CU(cuMemPoolCreate, (void **, const void *), (&p, &shared)) == NOT_SUPPORTED);
}

SNIPPET(cuMemPoolDestroy)
{
    CHECK(CU(cuMemPoolDestroy, (void *), (pool())) == 0);
}

SNIPPET(cuMemPoolTrimTo)
{
    void *p = pool();
    CHECK(CU(cuMemPoolTrimTo, (void *, size_t), (p, 0)) == 0);
}

SNIPPET(cuMemPoolGetAttribute)
{
    void *p = pool();
    uint64_t used = 99, kept = 99;
    int reuse = 9;
    CHECK(CU(cuMemPoolGetAttribute, (void *, int, void *), (p, 7, &used)) == 0 && used == 0);
    CHECK(CU(cuMemPoolGetAttribute, (void *, int, void *), (p, 4, &kept)) == 0 && kept == 0);
    CHECK(CU(cuMemPoolGetAttribute, (void *, int, void *), (p, 1, &reuse)) == 0 && reuse == 1);
}

SNIPPET(cuMemPoolSetAttribute)
{
    void *p = pool();
    uint64_t keep = ~0ull, kept = 0;
    CHECK(CU(cuMemPoolSetAttribute, (void *, int, void *), (p, 4, &keep)) == 0);
    CHECK(CU(cuMemPoolGetAttribute, (void *, int, void *), (p, 4, &kept)) == 0 && kept == keep);
}

static void check_device_pool(const char *name)
{
    void *p = NULL;
    CHECK(BY(name, (void **, int), (&p, 0)) == 0 && p);
    CHECK(BY(name, (void **, int), (&p, 99)) == INVALID_DEVICE);
}
CHECKED(cuDeviceGetDefaultMemPool, check_device_pool)
CHECKED(cuDeviceGetMemPool, check_device_pool)

SNIPPET(cuDeviceSetMemPool)
{
    void *mine = pool(), *now = NULL, *standard = NULL;
    CHECK(CU(cuDeviceGetDefaultMemPool, (void **, int), (&standard, 0)) == 0);
    CHECK(CU(cuDeviceSetMemPool, (int, void *), (0, mine)) == 0);
    CHECK(CU(cuDeviceGetMemPool, (void **, int), (&now, 0)) == 0 && now == mine);
    CHECK(CU(cuDeviceSetMemPool, (int, void *), (0, standard)) == 0);
    /* "The memory pool must be local to the specified device." */
    if (snippet_gpus() > 1)
        CHECK(CU(cuDeviceSetMemPool, (int, void *), (1, mine)) == INVALID_VALUE);
}

static void check_location_pool(const char *name)
{
    const struct location device = {1, 0}, host = {2, 0};
    void *p = NULL;
    CHECK(BY(name, (void **, const void *, int), (&p, &device, 1)) == 0 && p);
    CHECK(BY(name, (void **, const void *, int), (&p, &host, 1)) == NOT_SUPPORTED);
}
CHECKED(cuMemGetDefaultMemPool, check_location_pool)
CHECKED(cuMemGetMemPool, check_location_pool)

SNIPPET(cuMemSetMemPool)
{
    const struct location device = {1, 0};
    void *standard = NULL;
    CHECK(CU(cuDeviceGetDefaultMemPool, (void **, int), (&standard, 0)) == 0);
    CHECK(CU(cuMemSetMemPool, (const void *, int, void *), (&device, 1, standard)) == 0);
}
