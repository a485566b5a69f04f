#include <stdlib.h>

#include "device/device.h"
#include "device/footprint.h"
#include "device/internal.h"
#include "device/space.h"

/*
 * The virtual-memory API: reserved address ranges, physical handles, and the mappings between them.
 */

static struct handle *handles; /* with plm_space_lock held, as all that is static here */

int plm_vmm_reserve(uint64_t size, uint64_t align, uint64_t hint, uint64_t *address)
{
    int device = plm_memory_device_of(hint);
    struct space *s;
    struct owner *o = NULL;

    if (device < 0)
        device = plm_device_current();
    if (device >= plm_device_count() || !size || size % PLM_PAGE || (align && (align & (align - 1))) ||
        align > PLM_PAGE)
        return PLM_DEV_INVALID;
    s = plm_space_of(device);
    plm_lock_take(&plm_space_lock);
    *address = plm_space_range_take(s, size, hint);
    if (*address && !(o = plm_owner_new(OWNER_RANGE, device, *address, size)))
        plm_space_range_give(s, *address, size);
    if (o)
        plm_owner_set(*address, size, o);
    plm_lock_give(&plm_space_lock);
    return o ? 0 : PLM_DEV_NOMEM;
}

/* The range consists of pages of the device, to its end. */
static bool whole_pages(uint64_t address, uint64_t size)
{
    uint64_t last;
    return address % PLM_PAGE == 0 && size % PLM_PAGE == 0 && !__builtin_add_overflow(address, size, &last) &&
           plm_space_page_of(address) && (!size || plm_space_page_of(last - 1));
}

/* None of the pages is mapped. */
static bool unmapped(const struct page *page, uint64_t size)
{
    for (uint64_t i = 0; i < size / PLM_PAGE; i++)
        if (atomic_load(&page[i].mapping))
            return false;
    return true;
}

static int release_range(struct page *page, uint64_t address, uint64_t size)
{
    struct owner *o = page ? atomic_load(&page->owner) : NULL;
    int status;
    if (!o || o->kind != OWNER_RANGE || o->base != address || o->size != size || !unmapped(page, size))
        return PLM_DEV_INVALID;
    plm_owner_set(address, size, NULL);
    status = plm_space_range_give(plm_space_of(o->device), address, size) ? 0 : PLM_DEV_NOHOST;
    free(o);
    return status;
}

int plm_vmm_release_range(uint64_t address, uint64_t size)
{
    int status;
    plm_lock_take(&plm_space_lock);
    status = release_range(plm_space_page_of(address), address, size);
    plm_lock_give(&plm_space_lock);
    return status;
}

static struct handle *find_handle(uint64_t number)
{
    struct handle *h = handles;
    while (h && h->number != number)
        h = h->next;
    return h;
}

int plm_vmm_create(int device, uint64_t size, uint64_t *number)
{
    struct handle *h;
    bool paid;

    if (device < 0 || device >= plm_device_count() || !size || size % PLM_PAGE)
        return PLM_DEV_INVALID;
    plm_device_activate(device);
    h = calloc(1, sizeof *h);
    if (!h)
        return PLM_DEV_NOHOST;
    plm_footprint_start(device);
    plm_lock_take(&plm_space_lock);
    paid = plm_space_charge(plm_space_of(device), device, size);
    if (paid) {
        *h = (struct handle){device, size, 1, plm_space_next_id(), handles};
        handles = h;
        *number = h->number;
        plm_space_record(true, device, h->number, size, PLM_RECORD_VMM, 0);
    }
    plm_lock_give(&plm_space_lock);
    if (!paid)
        free(h);
    return paid ? 0 : PLM_DEV_NOMEM; /* NOLINT(clang-analyzer-unix.Malloc): the list holds it */
}

/* Physical memory goes when no handle and no mapping is left. */
static void drop_handle(struct handle *h)
{
    struct handle **link = &handles;

    if (--h->references)
        return;
    while (*link != h)
        link = &(*link)->next;
    *link = h->next;
    plm_space_discharge(plm_space_of(h->device), h->device, h->size);
    plm_space_record(false, h->device, h->number, h->size, PLM_RECORD_VMM, 0);
    free(h);
}

int plm_vmm_retain(uint64_t number)
{
    struct handle *h;
    plm_lock_take(&plm_space_lock);
    h = find_handle(number);
    if (h)
        h->references++;
    plm_lock_give(&plm_space_lock);
    return h ? 0 : PLM_DEV_INVALID;
}

int plm_vmm_release(uint64_t number)
{
    struct handle *h;
    plm_lock_take(&plm_space_lock);
    h = find_handle(number);
    if (h)
        drop_handle(h);
    plm_lock_give(&plm_space_lock);
    return h ? 0 : PLM_DEV_INVALID;
}

static int map_handle(struct page *page, uint64_t address, uint64_t size, uint64_t number, struct mapping *m)
{
    struct owner *o = page ? atomic_load(&page->owner) : NULL;
    struct handle *h = find_handle(number);

    if (!o || o->kind != OWNER_RANGE || size > o->base + o->size - address || !unmapped(page, size) || !h ||
        h->size != size)
        return PLM_DEV_INVALID;
    h->references++;
    *m = (struct mapping){h, address, size};
    if (size <= PLM_BACKED_MAX)
        plm_space_page_back(address, size);
    for (uint64_t i = 0; i < size / PLM_PAGE; i++)
        atomic_store(&page[i].mapping, m);
    return 0;
}

int plm_vmm_map(uint64_t address, uint64_t size, uint64_t offset, uint64_t number)
{
    struct mapping *m;
    int status;

    if (size % PLM_PAGE || !size || offset || address % PLM_PAGE)
        return PLM_DEV_INVALID;
    m = calloc(1, sizeof *m);
    if (!m)
        return PLM_DEV_NOHOST;
    plm_lock_take(&plm_space_lock);
    status = map_handle(plm_space_page_of(address), address, size, number, m);
    plm_lock_give(&plm_space_lock);
    if (status)
        free(m);
    return status; /* NOLINT(clang-analyzer-unix.Malloc): the pages hold it */
}

int plm_vmm_unmap(uint64_t address, uint64_t size)
{
    struct page *page = plm_space_page_of(address);
    uint64_t done = 0;

    if (!whole_pages(address, size))
        return PLM_DEV_INVALID;
    plm_lock_take(&plm_space_lock);
    while (done < size) {
        struct mapping *m = atomic_load(&page[done / PLM_PAGE].mapping);
        if (!m || m->base != address + done || m->size > size - done)
            break;
        for (uint64_t i = 0; i < m->size / PLM_PAGE; i++)
            atomic_store(&page[done / PLM_PAGE + i].mapping, NULL);
        if (m->size <= PLM_BACKED_MAX)
            plm_space_page_unback(m->base, m->size);
        done += m->size;
        drop_handle(m->handle);
        free(m);
    }
    plm_lock_give(&plm_space_lock);
    return done == size ? 0 : PLM_DEV_INVALID;
}

int plm_vmm_set_access(uint64_t address, uint64_t size)
{
    struct page *page = plm_space_page_of(address);
    if (!whole_pages(address, size) || !size)
        return PLM_DEV_INVALID;
    for (uint64_t i = 0; i < size / PLM_PAGE; i++)
        if (!atomic_load(&page[i].mapping))
            return PLM_DEV_NOT_MAPPED;
    return 0;
}

int plm_vmm_handle_of(uint64_t address, uint64_t *number)
{
    struct page *page = plm_space_page_of(address);
    struct mapping *m;

    plm_lock_take(&plm_space_lock);
    m = page ? atomic_load(&page->mapping) : NULL;
    if (m) {
        m->handle->references++;
        *number = m->handle->number;
    }
    plm_lock_give(&plm_space_lock);
    return m ? 0 : PLM_DEV_INVALID;
}

int plm_vmm_handle_info(uint64_t number, int *device, uint64_t *size)
{
    struct handle *h;
    plm_lock_take(&plm_space_lock);
    h = find_handle(number);
    if (h) {
        *device = h->device;
        *size = h->size;
    }
    plm_lock_give(&plm_space_lock);
    return h ? 0 : PLM_DEV_INVALID;
}
