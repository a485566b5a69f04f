#include <stdlib.h>

#include "device/device.h"
#include "device/footprint.h"
#include "device/internal.h"
#include "device/space.h"
#include "record/writer.h"

/*
 * Allocations: whole pages, or small ones that share a page as the driver's do.
 */

enum { SMALL_ALIGN = 512 };

/* ---- whole-page allocations ---- */

static enum plm_record_memory record_kind(const struct owner *o)
{
    return o->pool ? PLM_RECORD_POOL : o->text ? PLM_RECORD_LIBRARY : PLM_RECORD_MALLOC;
}

static int alloc_pages(struct space *s, int device, enum owner_kind kind, uint64_t size, uint32_t text, bool pool,
                       struct owner **out)
{
    uint64_t whole = plm_round_up(size, PLM_PAGE), base;
    struct owner *o;

    if (whole < size || whole > plm_space_span())
        return PLM_DEV_NOMEM;
    if (!plm_space_charge(s, device, whole))
        return PLM_DEV_NOMEM;
    base = plm_space_range_take(s, whole, 0);
    o = base ? plm_owner_new(kind, device, base, size) : NULL;
    if (!o) {
        plm_space_discharge(s, device, whole);
        if (base)
            plm_space_range_give(s, base, whole);
        return base ? PLM_DEV_NOHOST : PLM_DEV_NOMEM;
    }
    o->text = text;
    o->pool = pool;
    if (pool || whole <= PLM_BACKED_MAX)
        plm_space_page_back(base, whole);
    plm_owner_set(base, whole, o);
    plm_space_record(true, device, base, whole, record_kind(o), text);
    *out = o;
    return 0;
}

static void free_pages(struct space *s, struct owner *o)
{
    uint64_t whole = plm_round_up(o->size, PLM_PAGE);
    plm_owner_set(o->base, whole, NULL);
    if (o->pool || whole <= PLM_BACKED_MAX)
        plm_space_page_unback(o->base, whole);
    plm_space_discharge(s, o->device, whole);
    plm_space_range_give(s, o->base, whole);
    plm_space_record(false, o->device, o->base, whole, record_kind(o), o->text);
    free(o);
}

/* ---- small allocations share pages, as the driver's do ---- */

static uint64_t slab_place(struct owner *slab, uint64_t size, struct small ***link)
{
    uint64_t at = slab->base;
    *link = &slab->smalls;
    for (struct small *m = slab->smalls; m; m = m->next) {
        if (m->base - at >= size)
            return at;
        at = m->base + m->size;
        *link = &m->next;
    }
    return slab->base + PLM_PAGE - at >= size ? at : 0;
}

static int alloc_small(struct space *s, int device, uint64_t size, uint64_t *address)
{
    uint64_t rounded = plm_round_up(size, SMALL_ALIGN), at = 0;
    struct small *m = calloc(1, sizeof *m), **link = NULL;

    if (!m)
        return PLM_DEV_NOHOST;
    if (s->slab)
        at = slab_place(s->slab, rounded, &link);
    if (!at) {
        struct owner *slab;
        int status = alloc_pages(s, device, OWNER_SLAB, PLM_PAGE, 0, false, &slab);
        if (status) {
            free(m);
            return status;
        }
        s->slab = slab;
        at = slab_place(slab, rounded, &link);
    }
    *m = (struct small){at, rounded, plm_space_next_id(), *link};
    *link = m;
    *address = at;
    return 0;
}

static int free_small(struct space *s, struct owner *slab, uint64_t address)
{
    for (struct small **link = &slab->smalls; *link; link = &(*link)->next) {
        struct small *m = *link;
        if (m->base != address)
            continue;
        *link = m->next;
        plm_memory_recycle(m->base, m->size);
        free(m);
        if (!slab->smalls) {
            if (s->slab == slab)
                s->slab = NULL;
            free_pages(s, slab);
        }
        return 0;
    }
    return PLM_DEV_INVALID;
}

/* ---- what the shims call ---- */

int plm_mem_alloc(int device, uint64_t size, uint64_t *address)
{
    struct space *s;
    struct owner *o;
    int status;

    if (device < 0 || device >= plm_device_count())
        return PLM_DEV_INVALID;
    s = plm_space_of(device);
    plm_device_activate(device);
    if (!size) {
        *address = 0;
        return 0;
    }
    plm_footprint_start(device);
    plm_lock_take(&plm_space_lock);
    if (size <= PLM_PAGE / 2)
        status = alloc_small(s, device, size, address);
    else if ((status = alloc_pages(s, device, OWNER_WHOLE, size, 0, false, &o)) == 0)
        *address = o->base;
    plm_lock_give(&plm_space_lock);
    return status;
}

static int alloc_owned(int device, uint64_t size, uint32_t text, bool pool, uint64_t *address)
{
    struct space *s;
    struct owner *o;
    int status;

    if (device < 0 || device >= plm_device_count() || !size)
        return PLM_DEV_INVALID;
    s = plm_space_of(device);
    plm_device_activate(device);
    plm_footprint_start(device);
    plm_lock_take(&plm_space_lock);
    status = alloc_pages(s, device, OWNER_WHOLE, size, text, pool, &o);
    if (status == 0)
        *address = o->base;
    plm_lock_give(&plm_space_lock);
    return status;
}

int plm_mem_library(int device, const char *library, uint64_t size, uint64_t *address)
{
    uint32_t text = plm_record_text(library);
    return alloc_owned(device, size, text ? text : 1, false, address);
}

int plm_memory_pool_chunk(int device, uint64_t size, uint64_t *address)
{
    return alloc_owned(device, size, 0, true, address);
}

int plm_mem_free(uint64_t address)
{
    struct page *page = plm_space_page_of(address);
    struct owner *o;
    int status = 0;

    if (!address)
        return 0;
    if (!page)
        return plm_managed_free(address);
    plm_lock_take(&plm_space_lock);
    o = atomic_load(&page->owner);
    if (o && o->kind == OWNER_SLAB)
        status = free_small(plm_space_of(o->device), o, address);
    else if (o && o->kind == OWNER_WHOLE && o->base == address)
        free_pages(plm_space_of(o->device), o);
    else
        status = PLM_DEV_INVALID;
    plm_lock_give(&plm_space_lock);
    return status;
}

/* With the lock held. */
static struct plm_mem_info describe(const struct page *page, uint64_t address)
{
    const struct owner *o = atomic_load(&page->owner);
    const struct mapping *map = atomic_load(&page->mapping);
    struct plm_mem_info info = {.device = -1};

    if (!o)
        return info;
    info = (struct plm_mem_info){PLM_MEM_DEVICE, o->device, o->base, o->size, 0, o->id};
    if (o->kind == OWNER_RANGE && !map)
        info.kind = PLM_MEM_NONE;
    if (map) {
        info.base = map->base;
        info.size = map->size;
        info.device = map->handle->device;
    }
    for (const struct small *m = o->kind == OWNER_SLAB ? o->smalls : NULL; m; m = m->next)
        if (address >= m->base && address < m->base + m->size) {
            info.base = m->base;
            info.size = m->size;
            info.id = m->id;
        }
    return info;
}

struct plm_mem_info plm_mem_query(const void *pointer)
{
    struct page *page = plm_space_page_of((uint64_t)pointer);
    struct plm_mem_info info;

    if (!page)
        return plm_mem_host_query(pointer);
    plm_lock_take(&plm_space_lock);
    info = describe(page, (uint64_t)pointer);
    plm_lock_give(&plm_space_lock);
    return info;
}
