/* The driver: address ranges, physical memory, mappings. */
#include "cuda.h"

#include <unistd.h>

/* ---- virtual memory ---- */

struct allocation {
    int type, handle_types;
    struct location where;
    void *windows;
    char flags[8];
};

struct access {
    struct location where;
    int flags;
};

static const struct allocation on_device = {.type = 1, .handle_types = 1, .where = {1, 0}};

static address reserve(size_t size)
{
    address at = 0;
    cu_context();
    CHECK(CU(cuMemAddressReserve, (address *, size_t, size_t, address, uint64_t), (&at, size, 0, 0, 0)) == 0 && at);
    return at;
}

static uint64_t physical(size_t size)
{
    uint64_t handle = 0;
    cu_context();
    CHECK(CU(cuMemCreate, (uint64_t *, size_t, const void *, uint64_t), (&handle, size, &on_device, 0)) == 0 && handle);
    return handle;
}

/* Maps a page, lets `name` be called on it, and takes it away again. */
static void with_mapping(void (*check)(const char *, address, uint64_t), const char *name)
{
    address at = reserve(4 * PAGE);
    uint64_t handle = physical(2 * PAGE);
    const struct access rw = {{1, 0}, 3};
    CHECK(CU(cuMemMap, (address, size_t, size_t, uint64_t, uint64_t), (at, 2 * PAGE, 0, handle, 0)) == 0);
    CHECK(CU(cuMemSetAccess, (address, size_t, const void *, size_t), (at, 2 * PAGE, &rw, 1)) == 0);
    check(name, at, handle);
    CHECK(CU(cuMemUnmap, (address, size_t), (at, 2 * PAGE)) == 0);
    CHECK(CU(cuMemRelease, (uint64_t), (handle)) == 0);
    CHECK(CU(cuMemAddressFree, (address, size_t), (at, 4 * PAGE)) == 0);
}

#define MAPPED(symbol, check)         \
    SNIPPET(symbol)                   \
    {                                 \
        with_mapping(check, #symbol); \
    }

static void look_mapped(const char *name, address at, uint64_t handle)
{
    int type = 0;
    (void)name, (void)handle;
    CHECK(CU(cuPointerGetAttribute, (void *, int, address), (&type, 2, at)) == 0 && type == 2);
}
MAPPED(cuMemAddressReserve, look_mapped)
MAPPED(cuMemMap, look_mapped)
MAPPED(cuMemUnmap, look_mapped)
MAPPED(cuMemSetAccess, look_mapped)

SNIPPET(cuMemAddressFree)
{
    CHECK(CU(cuMemAddressFree, (address, size_t), (reserve(PAGE), PAGE)) == 0);
    CHECK(CU(cuMemAddressFree, (address, size_t), (64, PAGE)) == INVALID_VALUE);
}

SNIPPET(cuMemCreate)
{
    struct allocation fabric = on_device;
    uint64_t handle = physical(PAGE);
    size_t before = 0, after = 0, total;
    CHECK(CU(cuMemGetInfo_v2, (size_t *, size_t *), (&before, &total)) == 0);
    CHECK(CU(cuMemRelease, (uint64_t), (handle)) == 0);
    CHECK(CU(cuMemGetInfo_v2, (size_t *, size_t *), (&after, &total)) == 0 && after == before + PAGE);
    CHECK(CU(cuMemCreate, (uint64_t *, size_t, const void *, uint64_t), (&handle, 4096, &on_device, 0)) ==
          INVALID_VALUE);
    fabric.handle_types = 8;
    CHECK(CU(cuMemCreate, (uint64_t *, size_t, const void *, uint64_t), (&handle, PAGE, &fabric, 0)) == NOT_SUPPORTED);
}

SNIPPET(cuMemRelease)
{
    CHECK(CU(cuMemRelease, (uint64_t), (physical(PAGE))) == 0);
    CHECK(CU(cuMemRelease, (uint64_t), (~0ull)) == INVALID_VALUE);
}

static void ask_access(const char *name, address at, uint64_t handle)
{
    const struct location where = {1, 0};
    uint64_t flags = 99;
    (void)handle;
    CHECK(BY(name, (uint64_t *, const void *, address), (&flags, &where, at)) == 0 && flags == 3);
}
MAPPED(cuMemGetAccess, ask_access)

static void retain_handle(const char *name, address at, uint64_t handle)
{
    uint64_t found = 0;
    CHECK(BY(name, (uint64_t *, void *), (&found, (void *)at)) == 0 && found == handle);
    CHECK(CU(cuMemRelease, (uint64_t), (found)) == 0);
}
MAPPED(cuMemRetainAllocationHandle, retain_handle)

SNIPPET(cuMemGetAllocationGranularity)
{
    size_t size = 0;
    CHECK(CU(cuMemGetAllocationGranularity, (size_t *, const void *, int), (&size, &on_device, 1)) == 0);
    CHECK(size == PAGE);
}

SNIPPET(cuMemGetAllocationPropertiesFromHandle)
{
    struct allocation found = {0};
    uint64_t handle = physical(PAGE);
    CHECK(CU(cuMemGetAllocationPropertiesFromHandle, (void *, uint64_t), (&found, handle)) == 0);
    CHECK(found.type == 1 && found.where.type == 1 && found.where.id == 0);
    CHECK(CU(cuMemRelease, (uint64_t), (handle)) == 0);
}

SNIPPET(cuMemExportToShareableHandle)
{
    uint64_t handle = physical(PAGE);
    int fd = -1;
    CHECK(CU(cuMemExportToShareableHandle, (void *, uint64_t, int, uint64_t), (&fd, handle, 1, 0)) == 0 && fd > 2);
    close(fd);
    CHECK(CU(cuMemRelease, (uint64_t), (handle)) == 0);
}

SNIPPET(cuMemImportFromShareableHandle)
{
    uint64_t handle = physical(PAGE), found = 0;
    int fd = -1;
    CHECK(CU(cuMemExportToShareableHandle, (void *, uint64_t, int, uint64_t), (&fd, handle, 1, 0)) == 0);
    CHECK(CU(cuMemImportFromShareableHandle, (uint64_t *, void *, int), (&found, (void *)(intptr_t)fd, 1)) == 0);
    CHECK(found == handle);
    CHECK(CU(cuMemRelease, (uint64_t), (handle)) == 0 && CU(cuMemRelease, (uint64_t), (found)) == 0);
    close(fd);
}
