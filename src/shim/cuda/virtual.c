#include <sys/mman.h>
#include <unistd.h>

#include "shim/cuda/driver.h"

/* The virtual-memory interface: address ranges, physical handles, mappings, sharing by descriptor. */

enum { LOCATION_DEVICE = 1, TYPE_PINNED = 1, HANDLE_POSIX = 1, ACCESS_READ_WRITE = 3 };

struct location {
    int type, id;
};

struct allocation {
    int type;
    int handle_types;
    struct location location;
    void *windows;
    unsigned char compression, rdma;
    uint16_t usage;
    unsigned char reserved[4];
};

struct access {
    struct location location;
    int flags;
};

PLM_API int cuMemAddressReserve(uint64_t *out, size_t size, size_t align, uint64_t hint, uint64_t flags)
{
    if (!out || !size || size % PLM_PAGE || (align & (align - 1)) || flags)
        return PLM_CU_INVALID_VALUE;
    return plm_cu_from_device(plm_vmm_reserve(size, align, hint, out));
}

PLM_API int cuMemAddressFree(uint64_t address, size_t size)
{
    return plm_cu_from_device(plm_vmm_release_range(address, size));
}

PLM_API int cuMemGetAllocationGranularity(size_t *out, const struct allocation *wanted, int option)
{
    if (!out || !wanted || (option & ~1))
        return PLM_CU_INVALID_VALUE;
    *out = PLM_PAGE;
    return 0;
}

PLM_API int cuMemCreate(uint64_t *handle, size_t size, const struct allocation *wanted, uint64_t flags)
{
    static const struct plm_symbol symbol = {"cuda", "cuMemCreate"};
    if (!handle || !wanted || !size || size % PLM_PAGE || flags || wanted->type != TYPE_PINNED)
        return PLM_CU_INVALID_VALUE;
    if (wanted->location.type != LOCATION_DEVICE)
        return plm_cu_refuse(&symbol);
    if (wanted->handle_types & ~HANDLE_POSIX)
        return PLM_CU_NOT_SUPPORTED; /* sharing over a fabric: what a card without one answers */
    if (!plm_cu_device_valid(wanted->location.id))
        return PLM_CU_INVALID_DEVICE;
    return plm_cu_from_device(plm_vmm_create(wanted->location.id, size, handle));
}

PLM_API int cuMemRelease(uint64_t handle)
{
    return plm_cu_from_device(plm_vmm_release(handle));
}

PLM_API int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, uint64_t flags)
{
    if (flags)
        return PLM_CU_INVALID_VALUE;
    return plm_cu_from_device(plm_vmm_map(address, size, offset, handle));
}

PLM_API int cuMemUnmap(uint64_t address, size_t size)
{
    return plm_cu_from_device(plm_vmm_unmap(address, size));
}

PLM_API int cuMemSetAccess(uint64_t address, size_t size, const struct access *access, size_t count)
{
    if (!access || !count)
        return PLM_CU_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (access[i].location.type == LOCATION_DEVICE && !plm_cu_device_valid(access[i].location.id))
            return PLM_CU_INVALID_DEVICE;
    return plm_cu_from_device(plm_vmm_set_access(address, size));
}

PLM_API int cuMemGetAccess(uint64_t *flags, const struct location *location, uint64_t address)
{
    if (!flags || !location || plm_mem_query((const void *)address).kind != PLM_MEM_DEVICE)
        return PLM_CU_INVALID_VALUE;
    *flags = location->type == LOCATION_DEVICE && plm_cu_device_valid(location->id) ? ACCESS_READ_WRITE : 0;
    return 0;
}

PLM_API int cuMemRetainAllocationHandle(uint64_t *handle, const void *address)
{
    if (!handle)
        return PLM_CU_INVALID_VALUE;
    return plm_cu_from_device(plm_vmm_handle_of((uint64_t)address, handle));
}

PLM_API int cuMemGetAllocationPropertiesFromHandle(struct allocation *out, uint64_t handle)
{
    uint64_t size;
    int device, status;
    if (!out)
        return PLM_CU_INVALID_VALUE;
    status = plm_vmm_handle_info(handle, &device, &size);
    if (status == 0)
        *out = (struct allocation){
            .type = TYPE_PINNED, .handle_types = HANDLE_POSIX, .location = {LOCATION_DEVICE, device}};
    return plm_cu_from_device(status);
}

/* ---- sharing ---- */

/* What an exported descriptor holds: enough to find the handle again in the process that made it. */
struct exported {
    char mark[8];
    uint64_t handle;
    int64_t process;
};

static const char mark[8] = "plimsol";

PLM_API int cuMemExportToShareableHandle(void *out, uint64_t handle, int type, uint64_t flags)
{
    static const struct plm_symbol symbol = {"cuda", "cuMemExportToShareableHandle"};
    struct exported content = {.handle = handle, .process = getpid()};
    uint64_t size;
    int device, fd, status;

    if (!out || flags)
        return PLM_CU_INVALID_VALUE;
    if (type != HANDLE_POSIX)
        return plm_cu_refuse(&symbol);
    status = plm_vmm_handle_info(handle, &device, &size);
    if (status)
        return plm_cu_from_device(status);
    __builtin_memcpy(content.mark, mark, sizeof mark);
    fd = memfd_create("plimsoll-memory", MFD_CLOEXEC);
    if (fd < 0)
        return PLM_CU_OPERATING_SYSTEM;
    if (write(fd, &content, sizeof content) != (ssize_t)sizeof content) {
        close(fd);
        return PLM_CU_OPERATING_SYSTEM;
    }
    *(int *)out = fd;
    return 0;
}

/* Another process's memory is on another virtual card, so only this process's own comes back. */
PLM_API int cuMemImportFromShareableHandle(uint64_t *handle, void *shared, int type)
{
    static const struct plm_symbol symbol = {"cuda", "cuMemImportFromShareableHandle"};
    struct exported content;

    if (!handle)
        return PLM_CU_INVALID_VALUE;
    if (type != HANDLE_POSIX)
        return plm_cu_refuse(&symbol);
    if (pread((int)(intptr_t)shared, &content, sizeof content, 0) != (ssize_t)sizeof content ||
        __builtin_memcmp(content.mark, mark, sizeof mark) != 0)
        return PLM_CU_INVALID_VALUE;
    if (content.process != getpid())
        return plm_cu_refuse(&symbol);
    if (plm_vmm_retain(content.handle))
        return PLM_CU_INVALID_VALUE;
    *handle = content.handle;
    return 0;
}
