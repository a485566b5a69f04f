#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/device.h"
#include "device/internal.h"
#include "device/lock.h"

/*
 * Host memory that the device knows: pinned, registered, managed. Kept in one array sorted by
 * address. Programs hold at most a few hundred such ranges, and look-ups of ordinary pointers are
 * common, so one lock and a binary search serve.
 */

struct host_range {
    uint64_t base, size, id;
    unsigned flags;
    enum plm_mem_kind kind;
    int device;
    bool ours; /* mapped by us, not merely registered */
};

static struct {
    struct host_range *range;
    size_t count, room;
    uint64_t next_id;
} host;
static struct plm_lock host_lock = PLM_LOCK_INIT(PLM_LOCK_HOST);
PLM_LOCK_JOINS(host_lock)

/* Index of the first range that ends above `address`. Called with the lock held. */
static size_t range_find(uint64_t address)
{
    size_t low = 0, high = host.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (host.range[middle].base + host.range[middle].size > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int insert(struct host_range range)
{
    int status = PLM_DEV_INVALID;
    size_t at;

    plm_lock_take(&host_lock);
    at = range_find(range.base);
    if (at < host.count && host.range[at].base < range.base + range.size)
        goto out; /* overlaps: registered already */
    if (host.count == host.room) {
        size_t room = host.room ? 2 * host.room : 64;
        struct host_range *more = realloc(host.range, room * sizeof *more);
        status = PLM_DEV_NOHOST;
        if (!more)
            goto out;
        host.range = more;
        host.room = room;
    }
    memmove(&host.range[at + 1], &host.range[at], (host.count - at) * sizeof *host.range);
    /* Ids of host memory are odd-high so that they never meet those of device memory. */
    range.id = ++host.next_id | 1ull << 63;
    host.range[at] = range;
    host.count++;
    status = 0;
out:
    plm_lock_give(&host_lock);
    return status;
}

/* Takes the range that starts at `address` out; false if there is none of that kind. */
static bool take(uint64_t address, enum plm_mem_kind kind, bool ours, struct host_range *out)
{
    bool found;
    size_t at;
    plm_lock_take(&host_lock);
    at = range_find(address);
    found =
        at < host.count && host.range[at].base == address && host.range[at].kind == kind && host.range[at].ours == ours;
    if (found) {
        *out = host.range[at];
        memmove(&host.range[at], &host.range[at + 1], (host.count - at - 1) * sizeof *host.range);
        host.count--;
    }
    plm_lock_give(&host_lock);
    return found;
}

struct plm_mem_info plm_mem_host_query(const void *pointer)
{
    uint64_t address = (uint64_t)pointer;
    struct plm_mem_info info = {.device = -1};
    size_t at;

    plm_lock_take(&host_lock);
    at = range_find(address);
    if (at < host.count && host.range[at].base <= address) {
        const struct host_range *r = &host.range[at];
        info = (struct plm_mem_info){r->kind, r->device, r->base, r->size, r->flags, r->id};
    }
    plm_lock_give(&host_lock);
    return info;
}

static int map_range(uint64_t size, unsigned flags, enum plm_mem_kind kind, uint64_t *address)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), whole = (size + page - 1) / page * page;
    struct host_range range = {
        .size = whole, .flags = flags, .kind = kind, .device = plm_device_current(), .ours = true};
    void *at;
    int status;

    if (!size || whole < size)
        return PLM_DEV_INVALID;
    at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return PLM_DEV_NOHOST;
    range.base = (uint64_t)at;
    status = insert(range);
    if (status)
        munmap(at, whole);
    else
        *address = range.base;
    return status;
}

static int unmap_range(uint64_t address, enum plm_mem_kind kind)
{
    struct host_range range;
    if (!take(address, kind, true, &range))
        return PLM_DEV_INVALID;
    munmap((void *)range.base, range.size);
    return 0;
}

int plm_mem_host_alloc(uint64_t size, unsigned flags, void **address)
{
    uint64_t at = 0;
    int status = map_range(size, flags, PLM_MEM_HOST, &at);
    *address = (void *)at;
    return status;
}

int plm_mem_host_free(void *address)
{
    return address ? unmap_range((uint64_t)address, PLM_MEM_HOST) : 0;
}

/* Managed memory lives where it is touched; on the host that is here. It takes none of the card's
   memory before a kernel touches it, and no kernel runs. */
int plm_mem_managed(int device, uint64_t size, uint64_t *address)
{
    (void)device;
    return map_range(size, 0, PLM_MEM_MANAGED, address);
}

int plm_managed_free(uint64_t address)
{
    return unmap_range(address, PLM_MEM_MANAGED);
}

int plm_mem_host_register(void *address, uint64_t size, unsigned flags)
{
    struct host_range range = {
        .base = (uint64_t)address, .size = size, .flags = flags, .kind = PLM_MEM_HOST, .device = plm_device_current()};
    if (!address || !size || range.base + size < range.base)
        return PLM_DEV_INVALID;
    return insert(range);
}

int plm_mem_host_unregister(void *address)
{
    struct host_range range;
    return take((uint64_t)address, PLM_MEM_HOST, false, &range) ? 0 : PLM_DEV_INVALID;
}
