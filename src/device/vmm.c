#include <stdlib.h>

#include "device/device.h"
#include "device/internal.h"
#include "device/space.h"

/*
 * The virtual-memory API: reserved address ranges, physical handles, and the mappings between them.
 */

static struct {
    pthread_mutex_t lock;
    struct handle *handles;
} physical = {.lock = PTHREAD_MUTEX_INITIALIZER};

int plm_vmm_reserve(uint64_t size, uint64_t align, uint64_t hint, uint64_t *address)
{
    int device = plm_memory_device_of(hint);
    struct space *s;
    struct owner *o = NULL;

    if (device < 0)
        device = plm_device_current();
    if (!size || size % PLM_PAGE || (align && (align & (align - 1))) || align > PLM_PAGE)
        return PLM_DEV_INVALID;
    s = plm_space_of(device);
    pthread_mutex_lock(&s->lock);
    *address = plm_range_take(s, size, hint);
    if (*address && !(o = plm_owner_new(OWNER_RANGE, device, *address, size)))
        plm_range_give(s, *address, size);
    if (o)
        plm_owner_set(*address, size, o);
    pthread_mutex_unlock(&s->lock);
    return o ? 0 : PLM_DEV_NOMEM;
}

int plm_vmm_release_range(uint64_t address, uint64_t size)
{
    struct page *page = plm_page_of(address);
    struct owner *o = page ? atomic_load(&page->owner) : NULL;
    struct space *s;
    int status = 0;

    if (!o || o->kind != OWNER_RANGE || o->base != address || o->size != size)
        return PLM_DEV_INVALID;
    for (uint64_t i = 0; i < size / PLM_PAGE; i++)
        if (atomic_load(&page[i].mapping))
            return PLM_DEV_INVALID;
    s = plm_space_of(o->device);
    pthread_mutex_lock(&s->lock);
    plm_owner_set(address, size, NULL);
    if (!plm_range_give(s, address, size))
        status = PLM_DEV_NOHOST;
    pthread_mutex_unlock(&s->lock);
    free(o);
    return status;
}

static struct handle *find_handle(uint64_t number)
{
    struct handle *h = physical.handles;
    while (h && h->number != number)
        h = h->next;
    return h;
}

int plm_vmm_create(int device, uint64_t size, uint64_t *number)
{
    struct space *s;
    struct handle *h;
    bool paid;

    if (device < 0 || device >= plm_device_count() || !size || size % PLM_PAGE)
        return PLM_DEV_INVALID;
    s = plm_space_of(device);
    plm_device_activate(device);
    h = calloc(1, sizeof *h);
    if (!h)
        return PLM_DEV_NOHOST;
    pthread_mutex_lock(&s->lock);
    paid = plm_space_charge(s, device, size);
    pthread_mutex_unlock(&s->lock);
    if (!paid) {
        free(h);
        return PLM_DEV_NOMEM;
    }
    *h = (struct handle){device, size, 1, plm_space_next_id(), NULL};
    pthread_mutex_lock(&physical.lock);
    h->next = physical.handles;
    physical.handles = h;
    pthread_mutex_unlock(&physical.lock);
    plm_space_record(true, device, h->number, size, PLM_RECORD_VMM, 0);
    *number = h->number;
    return 0;
}

/* Physical memory goes when no handle and no mapping is left. Called with the lock held. */
static void drop_handle(struct handle *h)
{
    struct space *s = plm_space_of(h->device);
    struct handle **link = &physical.handles;

    if (--h->references)
        return;
    while (*link != h)
        link = &(*link)->next;
    *link = h->next;
    pthread_mutex_lock(&s->lock);
    s->used -= h->size;
    pthread_mutex_unlock(&s->lock);
    plm_space_record(false, h->device, h->number, h->size, PLM_RECORD_VMM, 0);
    free(h);
}

int plm_vmm_retain(uint64_t number)
{
    struct handle *h;
    pthread_mutex_lock(&physical.lock);
    h = find_handle(number);
    if (h)
        h->references++;
    pthread_mutex_unlock(&physical.lock);
    return h ? 0 : PLM_DEV_INVALID;
}

int plm_vmm_release(uint64_t number)
{
    struct handle *h;
    pthread_mutex_lock(&physical.lock);
    h = find_handle(number);
    if (h)
        drop_handle(h);
    pthread_mutex_unlock(&physical.lock);
    return h ? 0 : PLM_DEV_INVALID;
}

int plm_vmm_map(uint64_t address, uint64_t size, uint64_t offset, uint64_t number)
{
    struct page *page = plm_page_of(address);
    struct owner *o = page ? atomic_load(&page->owner) : NULL;
    struct mapping *m;
    struct handle *h;
    int status = PLM_DEV_INVALID;

    if (!o || o->kind != OWNER_RANGE || size % PLM_PAGE || !size || offset || address % PLM_PAGE ||
        size > o->base + o->size - address)
        return PLM_DEV_INVALID;
    for (uint64_t i = 0; i < size / PLM_PAGE; i++)
        if (atomic_load(&page[i].mapping))
            return PLM_DEV_INVALID;
    m = calloc(1, sizeof *m);
    if (!m)
        return PLM_DEV_NOHOST;
    pthread_mutex_lock(&physical.lock);
    h = find_handle(number);
    if (h && h->size == size) {
        h->references++;
        *m = (struct mapping){h, address, size};
        if (size <= PLM_BACKED_MAX)
            plm_page_back(address, size);
        for (uint64_t i = 0; i < size / PLM_PAGE; i++)
            atomic_store(&page[i].mapping, m);
        status = 0;
    }
    pthread_mutex_unlock(&physical.lock);
    if (status)
        free(m);
    return status; /* NOLINT(clang-analyzer-unix.Malloc): the pages hold it */
}

int plm_vmm_unmap(uint64_t address, uint64_t size)
{
    struct page *page = plm_page_of(address);
    uint64_t done = 0;

    if (!page || address % PLM_PAGE || size % PLM_PAGE)
        return PLM_DEV_INVALID;
    pthread_mutex_lock(&physical.lock);
    while (done < size) {
        struct mapping *m = atomic_load(&page[done / PLM_PAGE].mapping);
        if (!m || m->base != address + done || m->size > size - done)
            break;
        for (uint64_t i = 0; i < m->size / PLM_PAGE; i++)
            atomic_store(&page[done / PLM_PAGE + i].mapping, NULL);
        if (m->size <= PLM_BACKED_MAX)
            plm_page_unback(m->base, m->size);
        done += m->size;
        drop_handle(m->handle);
        free(m);
    }
    pthread_mutex_unlock(&physical.lock);
    return done == size ? 0 : PLM_DEV_INVALID;
}

int plm_vmm_set_access(uint64_t address, uint64_t size)
{
    struct page *page = plm_page_of(address);
    if (!page || address % PLM_PAGE || size % PLM_PAGE || !size)
        return PLM_DEV_INVALID;
    for (uint64_t i = 0; i < size / PLM_PAGE; i++)
        if (!atomic_load(&page[i].mapping))
            return PLM_DEV_NOT_MAPPED;
    return 0;
}

int plm_vmm_handle_of(uint64_t address, uint64_t *number)
{
    struct page *page = plm_page_of(address);
    struct mapping *m;

    pthread_mutex_lock(&physical.lock);
    m = page ? atomic_load(&page->mapping) : NULL;
    if (m) {
        m->handle->references++;
        *number = m->handle->number;
    }
    pthread_mutex_unlock(&physical.lock);
    return m ? 0 : PLM_DEV_INVALID;
}

int plm_vmm_handle_info(uint64_t number, int *device, uint64_t *size)
{
    struct handle *h;
    pthread_mutex_lock(&physical.lock);
    h = find_handle(number);
    if (h) {
        *device = h->device;
        *size = h->size;
    }
    pthread_mutex_unlock(&physical.lock);
    return h ? 0 : PLM_DEV_INVALID;
}
