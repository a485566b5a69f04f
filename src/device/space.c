#include "device/space.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/device.h"
#include "device/footprint.h"
#include "device/holdings.h"
#include "device/internal.h"
#include "device/known.h"
#include "device/promised.h"
#include "record/writer.h"

static struct {
    uint64_t base, span;
    _Atomic uint64_t bytes; /* of all cards; written last: 0 until there are any */
    struct page *pages;
    struct space space[PLM_DEVICES_MAX];
    _Atomic uint64_t next_id;
} mem;

struct plm_lock plm_space_lock = PLM_LOCK_INIT(PLM_LOCK_SPACE);
PLM_LOCK_JOINS(plm_space_lock)

#define SPAN_LEAST (64ull << 30)
#define SPAN_ALL   (64ull << 40)
_Static_assert(SPAN_ALL / PLM_DEVICES_MAX >= SPAN_LEAST, "all cards have room");
static const uint64_t span_wanted = 8ull << 40;

bool plm_memory_init(int devices, uint64_t limit)
{
    uint64_t span = devices * span_wanted > SPAN_ALL ? SPAN_ALL / (uint64_t)devices : span_wanted;
    void *at = MAP_FAILED;
    size_t entries;

    span = span / PLM_PAGE * PLM_PAGE;
    for (; span >= SPAN_LEAST; span /= 2) {
        at = mmap(NULL, span * (uint64_t)devices + PLM_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                  0);
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
    mem.base = plm_round_up((uint64_t)at, PLM_PAGE);
    mem.span = span;
    for (int i = 0; i < devices; i++) {
        struct space *s = plm_space_of(i);
        s->limit = limit;
        s->gap_room = 64;
        s->gaps = calloc(s->gap_room, sizeof *s->gaps);
        if (!s->gaps)
            return false;
        s->gaps[0] = (struct range){mem.base + span * (uint64_t)i, span};
        s->gap_count = 1;
    }
    atomic_store_explicit(&mem.bytes, span * (uint64_t)devices, memory_order_release);
    return true;
}

struct space *plm_space_of(int device)
{
    return &mem.space[device];
}

uint64_t plm_space_span(void)
{
    return mem.span;
}

uint64_t plm_space_next_id(void)
{
    return atomic_fetch_add(&mem.next_id, 1) + 1;
}

uint32_t plm_space_page_offset(uint64_t address)
{
    return (uint32_t)((address - mem.base) % PLM_PAGE);
}

struct page *plm_space_page_of(uint64_t address)
{
    uint64_t bytes = atomic_load_explicit(&mem.bytes, memory_order_acquire);
    if (!bytes || address - mem.base >= bytes) /* an address below the base is far above it */
        return NULL;
    return &mem.pages[(address - mem.base) / PLM_PAGE];
}

int plm_memory_device_of(uint64_t address)
{
    return plm_space_page_of(address) ? (int)((address - mem.base) / mem.span) : -1;
}

/* ---- address ranges ---- */

static uint64_t range_cut(struct space *s, size_t i, uint64_t base, uint64_t size)
{
    struct range *gap = &s->gaps[i];
    if (base == gap->base)
        gap->base += size;
    gap->size -= size;
    if (!gap->size) {
        memmove(gap, gap + 1, (s->gap_count - i - 1) * sizeof *gap);
        s->gap_count--;
    }
    return base;
}

/* A hint inside a gap is not honoured: the interface allows that. */
static uint64_t range_at(struct space *s, uint64_t size, uint64_t hint)
{
    for (size_t i = 0; i < s->gap_count; i++)
        if (s->gaps[i].base == hint && s->gaps[i].size >= size)
            return range_cut(s, i, hint, size);
    return 0;
}

uint64_t plm_space_range_take(struct space *s, uint64_t size, uint64_t hint)
{
    uint64_t base = hint ? range_at(s, size, hint) : 0;
    for (size_t i = s->gap_count; i-- > 0 && !base;)
        if (s->gaps[i].size >= size)
            base = range_cut(s, i, s->gaps[i].base + s->gaps[i].size - size, size);
    return base;
}

bool plm_space_range_give(struct space *s, uint64_t base, uint64_t size)
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
        size_t room = s->gap_room ? 2 * s->gap_room : 64;
        struct range *more = realloc(s->gaps, room * sizeof *more);
        if (!more)
            return false;
        s->gaps = more;
        s->gap_room = room;
    }
    memmove(&s->gaps[i + 1], &s->gaps[i], (s->gap_count - i) * sizeof *s->gaps);
    s->gaps[i] = (struct range){base, size};
    s->gap_count++;
    return true;
}

void plm_owner_set(uint64_t base, uint64_t size, struct owner *owner)
{
    struct page *page = plm_space_page_of(base);
    for (uint64_t i = 0; i < size / PLM_PAGE; i++)
        atomic_store_explicit(&page[i].owner, owner, memory_order_release);
}

struct owner *plm_owner_new(enum owner_kind kind, int device, uint64_t base, uint64_t size)
{
    struct owner *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->kind = kind;
    o->device = device;
    o->base = base;
    o->size = size;
    o->id = plm_space_next_id();
    return o;
}

/* ---- real bytes behind small memory ---- */

void plm_space_page_back(uint64_t base, uint64_t size)
{
    mprotect((void *)base, size, PROT_READ | PROT_WRITE);
}

void plm_space_page_unback(uint64_t base, uint64_t size)
{
    struct page *page = plm_space_page_of(base);
    plm_promises_forget(base, size);
    madvise((void *)base, size, MADV_DONTNEED);
    mprotect((void *)base, size, PROT_NONE);
    for (uint64_t i = 0; i < size / PLM_PAGE; i++) {
        atomic_store_explicit(&page[i].dirty, 0, memory_order_relaxed);
        atomic_store_explicit(&page[i].touched, 0, memory_order_relaxed);
        plm_known_clear(base + i * PLM_PAGE, PLM_PAGE);
    }
}

/* ---- the account ---- */

void plm_space_record(bool alloc, int device, uint64_t base, uint64_t size, enum plm_record_memory kind, uint32_t owner)
{
    if (alloc)
        plm_put_memory_alloc(device, &(struct plm_ev_memory_alloc){base, size, (uint32_t)kind, owner});
    else
        plm_put_memory_free(device, &(struct plm_ev_memory_free){base, size, (uint32_t)kind, owner});
}

bool plm_space_charge(struct space *s, int device, uint64_t size)
{
    uint64_t taken = s->used + plm_footprint_taken(device);
    if (size > s->limit || taken > s->limit - size) {
        plm_put_oom(device, &(struct plm_ev_oom){size, taken});
        return false;
    }
    s->used += size;
    plm_holdings_set(device, taken + size);
    return true;
}

void plm_space_discharge(struct space *s, int device, uint64_t size)
{
    s->used -= size;
    plm_holdings_set(device, s->used + plm_footprint_taken(device));
}

uint64_t plm_memory_used(int device)
{
    uint64_t used;
    plm_lock_take(&plm_space_lock);
    used = plm_space_of(device)->used;
    plm_lock_give(&plm_space_lock);
    return used;
}
