#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/device.h"
#include "device/internal.h"
#include "record/writer.h"

/*
 * Address space and physical memory of the virtual cards.
 *
 * All cards share one PROT_NONE reservation, an equal span each, so the device of an address is a
 * division. Every 2 MiB page of it has an entry that says which allocation it belongs to; looking an
 * address up takes no lock. Changing the space takes the lock of its card; that happens once per
 * segment, not per tensor.
 */

struct range {
    uint64_t base, size;
};

enum owner_kind { OWNER_WHOLE, OWNER_SLAB, OWNER_RANGE };

/* What a page belongs to: an allocation of whole pages, a page of small allocations, or a reserved
   range whose pages are mapped one by one. */
struct owner {
    enum owner_kind kind;
    int device;
    uint64_t base, size, id;
    uint32_t text;         /* library that took it, 0 = the application */
    bool pool;             /* a chunk of a stream-ordered pool: backed where small copies go */
    struct small *smalls;  /* OWNER_SLAB, by address */
};

struct small {
    uint64_t base, size, id;
    struct small *next;
};

struct mapping {
    struct handle *handle;
    uint64_t base, size;
};

struct handle {
    int device;
    uint64_t size;
    int references;        /* handles held + mappings */
    uint64_t number;
    struct handle *next;
};

struct page {
    _Atomic(struct owner *) owner;
    _Atomic(struct mapping *) mapping;
    /* Which bytes the host wrote, and when (in launches): see copy.c. */
    uint32_t dirty_low, dirty_high;
    uint64_t written_at;
};

struct space {
    pthread_mutex_t lock;
    struct range *gaps;    /* free address ranges, ascending, never adjacent */
    size_t gap_count, gap_room;
    uint64_t used, limit;  /* physical bytes */
    struct owner *slab;    /* the last page of small allocations that had room */
};

static struct {
    uint64_t base, span;
    int devices;
    struct page *pages;
    struct space space[PLM_DEVICES_MAX];
    _Atomic uint64_t next_id;
    pthread_mutex_t handle_lock;
    struct handle *handles;
} mem = {.handle_lock = PTHREAD_MUTEX_INITIALIZER};

enum { SMALL_ALIGN = 512 };
static const uint64_t span_wanted = 8ull << 40, span_least = 64ull << 30, span_all = 64ull << 40;

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

bool plm_memory_init(int devices, uint64_t limit)
{
    uint64_t span = devices * span_wanted > span_all ? span_all / (uint64_t)devices : span_wanted;
    void *at = MAP_FAILED;
    size_t entries;

    span = span / PLM_PAGE * PLM_PAGE;
    for (; span >= span_least; span /= 2) {
        at = mmap(NULL, span * (uint64_t)devices + PLM_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at != MAP_FAILED)
            break;
    }
    if (at == MAP_FAILED)
        return false;
    entries = (size_t)(span / PLM_PAGE) * (size_t)devices;
    mem.pages = mmap(NULL, entries * sizeof *mem.pages, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mem.pages == MAP_FAILED)
        return false;
    madvise(at, span * (uint64_t)devices, MADV_DONTDUMP);
    mem.base = round_up((uint64_t)at, PLM_PAGE);
    mem.span = span;
    mem.devices = devices;
    for (int i = 0; i < devices; i++) {
        struct space *s = &mem.space[i];
        pthread_mutex_init(&s->lock, NULL);
        s->limit = limit;
        s->gap_room = 64;
        s->gaps = calloc(s->gap_room, sizeof *s->gaps);
        if (!s->gaps)
            return false;
        s->gaps[0] = (struct range){mem.base + span * (uint64_t)i, span};
        s->gap_count = 1;
    }
    return true;
}

static struct page *page_of(uint64_t address)
{
    uint64_t offset = address - mem.base;
    if (address < mem.base || offset >= mem.span * (uint64_t)mem.devices)
        return NULL;
    return &mem.pages[offset / PLM_PAGE];
}

int plm_memory_device_of(uint64_t address)
{
    return page_of(address) ? (int)((address - mem.base) / mem.span) : -1;
}

/* ---- address ranges ---- */

static uint64_t take_range(struct space *s, uint64_t size, uint64_t hint)
{
    for (size_t i = 0; i < s->gap_count; i++) {
        struct range *gap = &s->gaps[i];
        uint64_t base = gap->base;
        if (hint && (hint < gap->base || hint - gap->base > gap->size || gap->size - (hint - gap->base) < size))
            continue;
        if (gap->size < size)
            continue;
        if (hint && hint != gap->base)
            continue; /* a hint inside a gap is not honoured: the interface allows that */
        gap->base += size;
        gap->size -= size;
        if (!gap->size) {
            memmove(gap, gap + 1, (s->gap_count - i - 1) * sizeof *gap);
            s->gap_count--;
        }
        return base;
    }
    return hint ? take_range(s, size, 0) : 0;
}

static bool give_range(struct space *s, uint64_t base, uint64_t size)
{
    size_t i = 0;
    while (i < s->gap_count && s->gaps[i].base < base)
        i++;
    if (i && s->gaps[i - 1].base + s->gaps[i - 1].size == base) {
        s->gaps[i - 1].size += size;
        if (i < s->gap_count && s->gaps[i - 1].base + s->gaps[i - 1].size == s->gaps[i].base) {
            s->gaps[i - 1].size += s->gaps[i].size;
            memmove(&s->gaps[i], &s->gaps[i + 1], (s->gap_count - i - 1) * sizeof *s->gaps);
            s->gap_count--;
        }
        return true;
    }
    if (i < s->gap_count && base + size == s->gaps[i].base) {
        s->gaps[i].base = base;
        s->gaps[i].size += size;
        return true;
    }
    if (s->gap_count == s->gap_room) {
        struct range *more = realloc(s->gaps, 2 * s->gap_room * sizeof *more);
        if (!more)
            return false;
        s->gaps = more;
        s->gap_room *= 2;
    }
    memmove(&s->gaps[i + 1], &s->gaps[i], (s->gap_count - i) * sizeof *s->gaps);
    s->gaps[i] = (struct range){base, size};
    s->gap_count++;
    return true;
}

static void set_owner(uint64_t base, uint64_t size, struct owner *owner)
{
    struct page *page = page_of(base);
    for (uint64_t i = 0; i < size / PLM_PAGE; i++)
        atomic_store_explicit(&page[i].owner, owner, memory_order_release);
}

/* ---- real bytes behind small memory ---- */

static void back(uint64_t base, uint64_t size)
{
    mprotect((void *)base, size, PROT_READ | PROT_WRITE);
}

static void unback(uint64_t base, uint64_t size)
{
    struct page *page = page_of(base);
    madvise((void *)base, size, MADV_DONTNEED);
    mprotect((void *)base, size, PROT_NONE);
    for (uint64_t i = 0; i < size / PLM_PAGE; i++)
        page[i].dirty_low = page[i].dirty_high = 0;
}

/* ---- the account ---- */

static void record_memory(bool alloc, int device, uint64_t base, uint64_t size, enum plm_record_memory kind, uint32_t owner)
{
    uint64_t words[3] = {base, size, plm_record_pair((uint32_t)kind, owner)};
    plm_record(alloc ? PLM_EV_MEMORY_ALLOC : PLM_EV_MEMORY_FREE, device, words, 3);
}

static bool charge(struct space *s, int device, uint64_t size)
{
    if (size > s->limit || s->used > s->limit - size) {
        uint64_t words[2] = {size, s->used};
        plm_record(PLM_EV_OOM, device, words, 2);
        return false;
    }
    s->used += size;
    return true;
}

uint64_t plm_memory_used(int device)
{
    struct space *s = &mem.space[device];
    uint64_t used;
    pthread_mutex_lock(&s->lock);
    used = s->used;
    pthread_mutex_unlock(&s->lock);
    return used;
}

/* ---- whole-page allocations ---- */

static struct owner *new_owner(enum owner_kind kind, int device, uint64_t base, uint64_t size)
{
    struct owner *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->kind = kind;
    o->device = device;
    o->base = base;
    o->size = size;
    o->id = atomic_fetch_add(&mem.next_id, 1) + 1;
    return o;
}

static enum plm_record_memory record_kind(const struct owner *o)
{
    return o->pool ? PLM_RECORD_POOL : o->text ? PLM_RECORD_LIBRARY : PLM_RECORD_MALLOC;
}

static int alloc_pages(struct space *s, int device, enum owner_kind kind, uint64_t size, uint32_t text, bool pool,
                       struct owner **out)
{
    uint64_t whole = round_up(size, PLM_PAGE), base;
    struct owner *o;

    if (whole < size || whole > mem.span)
        return PLM_DEV_NOMEM;
    if (!charge(s, device, whole))
        return PLM_DEV_NOMEM;
    base = take_range(s, whole, 0);
    o = base ? new_owner(kind, device, base, size) : NULL;
    if (!o) {
        s->used -= whole;
        if (base)
            give_range(s, base, whole);
        return base ? PLM_DEV_NOHOST : PLM_DEV_NOMEM;
    }
    o->text = text;
    o->pool = pool;
    if (pool || whole <= PLM_BACKED_MAX)
        back(base, whole);
    set_owner(base, whole, o);
    record_memory(true, device, base, whole, record_kind(o), text);
    *out = o;
    return 0;
}

static void free_pages(struct space *s, struct owner *o)
{
    uint64_t whole = round_up(o->size, PLM_PAGE);
    set_owner(o->base, whole, NULL);
    if (o->pool || whole <= PLM_BACKED_MAX)
        unback(o->base, whole);
    s->used -= whole;
    give_range(s, o->base, whole);
    record_memory(false, o->device, o->base, whole, record_kind(o), o->text);
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
    uint64_t rounded = round_up(size, SMALL_ALIGN), at = 0;
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
    *m = (struct small){at, rounded, atomic_fetch_add(&mem.next_id, 1) + 1, *link};
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
    s = &mem.space[device];
    plm_device_activate(device);
    if (!size) {
        *address = 0;
        return 0;
    }
    pthread_mutex_lock(&s->lock);
    if (size <= PLM_PAGE / 2)
        status = alloc_small(s, device, size, address);
    else if ((status = alloc_pages(s, device, OWNER_WHOLE, size, 0, false, &o)) == 0)
        *address = o->base;
    pthread_mutex_unlock(&s->lock);
    return status;
}

static int alloc_owned(int device, uint64_t size, uint32_t text, bool pool, uint64_t *address)
{
    struct space *s;
    struct owner *o;
    int status;

    if (device < 0 || device >= plm_device_count() || !size)
        return PLM_DEV_INVALID;
    s = &mem.space[device];
    plm_device_activate(device);
    pthread_mutex_lock(&s->lock);
    status = alloc_pages(s, device, OWNER_WHOLE, size, text, pool, &o);
    if (status == 0)
        *address = o->base;
    pthread_mutex_unlock(&s->lock);
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
    struct page *page = page_of(address);
    struct owner *o = page ? atomic_load(&page->owner) : NULL;
    struct space *s;
    int status = 0;

    if (!address)
        return 0;
    if (!o)
        return plm_managed_free(address);
    s = &mem.space[o->device];
    pthread_mutex_lock(&s->lock);
    if (o->kind == OWNER_SLAB)
        status = free_small(s, o, address);
    else if (o->kind == OWNER_WHOLE && o->base == address)
        free_pages(s, o);
    else
        status = PLM_DEV_INVALID;
    pthread_mutex_unlock(&s->lock);
    return status;
}

struct plm_mem_info plm_mem_query(const void *pointer)
{
    uint64_t address = (uint64_t)pointer;
    struct page *page = page_of(address);
    struct plm_mem_info info = {.device = -1};
    struct owner *o = page ? atomic_load_explicit(&page->owner, memory_order_acquire) : NULL;
    struct mapping *map;

    if (!page)
        return plm_host_query(pointer);
    if (!o)
        return info;
    info = (struct plm_mem_info){PLM_MEM_DEVICE, o->device, o->base, o->size, 0, o->id};
    map = atomic_load(&page->mapping);
    if (map) {
        info.base = map->base;
        info.size = map->size;
        info.device = map->handle->device;
    } else if (o->kind == OWNER_RANGE) {
        info.kind = PLM_MEM_NONE;
    } else if (o->kind == OWNER_SLAB) {
        struct space *s = &mem.space[o->device];
        pthread_mutex_lock(&s->lock);
        for (struct small *m = o->smalls; m; m = m->next)
            if (address >= m->base && address < m->base + m->size) {
                info.base = m->base;
                info.size = m->size;
                info.id = m->id;
            }
        pthread_mutex_unlock(&s->lock);
    }
    return info;
}

/* ---- the virtual-memory API ---- */

int plm_vmm_reserve(uint64_t size, uint64_t align, uint64_t hint, uint64_t *address)
{
    int device = plm_memory_device_of(hint);
    struct space *s;
    struct owner *o = NULL;

    if (device < 0)
        device = plm_device_current();
    if (!size || size % PLM_PAGE || (align && (align & (align - 1))) || align > PLM_PAGE)
        return PLM_DEV_INVALID;
    s = &mem.space[device];
    pthread_mutex_lock(&s->lock);
    *address = take_range(s, size, hint);
    if (*address && !(o = new_owner(OWNER_RANGE, device, *address, size)))
        give_range(s, *address, size);
    if (o)
        set_owner(*address, size, o);
    pthread_mutex_unlock(&s->lock);
    return o ? 0 : PLM_DEV_NOMEM;
}

int plm_vmm_release_range(uint64_t address, uint64_t size)
{
    struct page *page = page_of(address);
    struct owner *o = page ? atomic_load(&page->owner) : NULL;
    struct space *s;
    int status = 0;

    if (!o || o->kind != OWNER_RANGE || o->base != address || o->size != size)
        return PLM_DEV_INVALID;
    for (uint64_t i = 0; i < size / PLM_PAGE; i++)
        if (atomic_load(&page[i].mapping))
            return PLM_DEV_INVALID;
    s = &mem.space[o->device];
    pthread_mutex_lock(&s->lock);
    set_owner(address, size, NULL);
    if (!give_range(s, address, size))
        status = PLM_DEV_NOHOST;
    pthread_mutex_unlock(&s->lock);
    free(o);
    return status;
}

static struct handle *find_handle(uint64_t number)
{
    struct handle *h = mem.handles;
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
    s = &mem.space[device];
    plm_device_activate(device);
    h = calloc(1, sizeof *h);
    if (!h)
        return PLM_DEV_NOHOST;
    pthread_mutex_lock(&s->lock);
    paid = charge(s, device, size);
    pthread_mutex_unlock(&s->lock);
    if (!paid) {
        free(h);
        return PLM_DEV_NOMEM;
    }
    *h = (struct handle){device, size, 1, atomic_fetch_add(&mem.next_id, 1) + 1, NULL};
    pthread_mutex_lock(&mem.handle_lock);
    h->next = mem.handles;
    mem.handles = h;
    pthread_mutex_unlock(&mem.handle_lock);
    record_memory(true, device, h->number, size, PLM_RECORD_VMM, 0);
    *number = h->number;
    return 0;
}

/* Physical memory goes when no handle and no mapping is left. Called with handle_lock held. */
static void drop_handle(struct handle *h)
{
    struct space *s = &mem.space[h->device];
    struct handle **link = &mem.handles;

    if (--h->references)
        return;
    while (*link != h)
        link = &(*link)->next;
    *link = h->next;
    pthread_mutex_lock(&s->lock);
    s->used -= h->size;
    pthread_mutex_unlock(&s->lock);
    record_memory(false, h->device, h->number, h->size, PLM_RECORD_VMM, 0);
    free(h);
}

int plm_vmm_retain(uint64_t number)
{
    struct handle *h;
    pthread_mutex_lock(&mem.handle_lock);
    h = find_handle(number);
    if (h)
        h->references++;
    pthread_mutex_unlock(&mem.handle_lock);
    return h ? 0 : PLM_DEV_INVALID;
}

int plm_vmm_release(uint64_t number)
{
    struct handle *h;
    pthread_mutex_lock(&mem.handle_lock);
    h = find_handle(number);
    if (h)
        drop_handle(h);
    pthread_mutex_unlock(&mem.handle_lock);
    return h ? 0 : PLM_DEV_INVALID;
}

int plm_vmm_map(uint64_t address, uint64_t size, uint64_t offset, uint64_t number)
{
    struct page *page = page_of(address);
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
    pthread_mutex_lock(&mem.handle_lock);
    h = find_handle(number);
    if (h && h->size == size) {
        h->references++;
        *m = (struct mapping){h, address, size};
        if (size <= PLM_BACKED_MAX)
            back(address, size);
        for (uint64_t i = 0; i < size / PLM_PAGE; i++)
            atomic_store(&page[i].mapping, m);
        status = 0;
    }
    pthread_mutex_unlock(&mem.handle_lock);
    if (status)
        free(m);
    return status;
}

int plm_vmm_unmap(uint64_t address, uint64_t size)
{
    struct page *page = page_of(address);
    uint64_t done = 0;

    if (!page || address % PLM_PAGE || size % PLM_PAGE)
        return PLM_DEV_INVALID;
    pthread_mutex_lock(&mem.handle_lock);
    while (done < size) {
        struct mapping *m = atomic_load(&page[done / PLM_PAGE].mapping);
        if (!m || m->base != address + done || m->size > size - done)
            break;
        for (uint64_t i = 0; i < m->size / PLM_PAGE; i++)
            atomic_store(&page[done / PLM_PAGE + i].mapping, NULL);
        if (m->size <= PLM_BACKED_MAX)
            unback(m->base, m->size);
        done += m->size;
        drop_handle(m->handle);
        free(m);
    }
    pthread_mutex_unlock(&mem.handle_lock);
    return done == size ? 0 : PLM_DEV_INVALID;
}

int plm_vmm_set_access(uint64_t address, uint64_t size)
{
    struct page *page = page_of(address);
    if (!page || address % PLM_PAGE || size % PLM_PAGE || !size)
        return PLM_DEV_INVALID;
    for (uint64_t i = 0; i < size / PLM_PAGE; i++)
        if (!atomic_load(&page[i].mapping))
            return PLM_DEV_NOT_MAPPED;
    return 0;
}

int plm_vmm_handle_of(uint64_t address, uint64_t *number)
{
    struct page *page = page_of(address);
    struct mapping *m;

    pthread_mutex_lock(&mem.handle_lock);
    m = page ? atomic_load(&page->mapping) : NULL;
    if (m) {
        m->handle->references++;
        *number = m->handle->number;
    }
    pthread_mutex_unlock(&mem.handle_lock);
    return m ? 0 : PLM_DEV_INVALID;
}

int plm_vmm_handle_info(uint64_t number, int *device, uint64_t *size)
{
    struct handle *h;
    pthread_mutex_lock(&mem.handle_lock);
    h = find_handle(number);
    if (h) {
        *device = h->device;
        *size = h->size;
    }
    pthread_mutex_unlock(&mem.handle_lock);
    return h ? 0 : PLM_DEV_INVALID;
}

/* ---- what the host wrote (used by copy.c) ---- */

bool plm_memory_backed(uint64_t address, uint64_t bytes)
{
    struct page *first = page_of(address), *last = page_of(address + (bytes ? bytes - 1 : 0));
    if (!first || !last)
        return false;
    for (struct page *p = first; p <= last; p++) {
        struct owner *o = atomic_load_explicit(&p->owner, memory_order_acquire);
        struct mapping *m = atomic_load_explicit(&p->mapping, memory_order_acquire);
        if (!o)
            return false;
        if (o->pool && bytes <= PLM_BACKED_MAX)
            continue;
        if (o->kind == OWNER_RANGE ? !m || m->size > PLM_BACKED_MAX : round_up(o->size, PLM_PAGE) > PLM_BACKED_MAX)
            return false;
    }
    return true;
}

void plm_memory_written(uint64_t address, uint64_t bytes, uint64_t when)
{
    while (bytes) {
        struct page *p = page_of(address);
        uint32_t low = (uint32_t)((address - mem.base) % PLM_PAGE);
        uint64_t part = PLM_PAGE - low < bytes ? PLM_PAGE - low : bytes;
        uint32_t high = (uint32_t)(low + part);
        if (p->dirty_low == p->dirty_high) {
            p->dirty_low = low;
            p->dirty_high = high;
        } else {
            p->dirty_low = low < p->dirty_low ? low : p->dirty_low;
            p->dirty_high = high > p->dirty_high ? high : p->dirty_high;
        }
        p->written_at = when;
        address += part;
        bytes -= part;
    }
}

bool plm_memory_fresh(uint64_t address, uint64_t bytes, uint64_t now)
{
    while (bytes) {
        const struct page *p = page_of(address);
        uint32_t low = (uint32_t)((address - mem.base) % PLM_PAGE);
        uint64_t part = PLM_PAGE - low < bytes ? PLM_PAGE - low : bytes;
        if (low < p->dirty_low || low + part > p->dirty_high || p->written_at != now)
            return false;
        address += part;
        bytes -= part;
    }
    return true;
}

void plm_memory_recycle(uint64_t address, uint64_t bytes)
{
    while (bytes) {
        struct page *p = page_of(address);
        uint32_t low = (uint32_t)((address - mem.base) % PLM_PAGE);
        uint64_t part = PLM_PAGE - low < bytes ? PLM_PAGE - low : bytes;
        uint32_t high = (uint32_t)(low + part);
        if (!p)
            return;
        if (p->dirty_low < high && low < p->dirty_high) {
            uint32_t from = low > p->dirty_low ? low : p->dirty_low, to = high < p->dirty_high ? high : p->dirty_high;
            memset((char *)(address - low + from), 0, to - from);
        }
        address += part;
        bytes -= part;
    }
}
