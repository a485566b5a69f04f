#include <string.h>

#include "device/device.h"
#include "device/internal.h"
#include "device/known.h"
#include "device/promised.h"
#include "device/space.h"

/*
 * What the host wrote into backed memory, page by page: the range of bytes, and how many kernels had
 * been launched then. Threads that write into one page at the same time widen its range one after the other, without
 * a lock. Range and launches only grow while the page is in use, so that what a thread wrote stays known.
 *
 * Beside it, which parts of the page may hold anything but zeros: memory is zeroed with every block that is handed out
 * and by most fills, and a part that is zero already need not be written, nor become a page of the host.
 */

_Static_assert(PLM_PAGE < UINT32_MAX, "two offsets in a page, the end included, fit one word");

/* Bytes of a page that the host wrote: from `low` to before `high`; none if they are equal. */
struct dirty {
    uint32_t low, high;
};

static struct dirty dirty_of(uint64_t word)
{
    return (struct dirty){(uint32_t)word, (uint32_t)(word >> 32)};
}

static void widen(struct page *p, uint32_t low, uint32_t high)
{
    uint64_t have = atomic_load_explicit(&p->dirty, memory_order_relaxed), want;
    do {
        struct dirty d = dirty_of(have);
        if (d.low == d.high)
            d = (struct dirty){low, high};
        d.low = low < d.low ? low : d.low;
        d.high = high > d.high ? high : d.high;
        want = d.low | (uint64_t)d.high << 32;
    } while (want != have && !atomic_compare_exchange_weak_explicit(&p->dirty, &have, want, memory_order_relaxed,
                                                                    memory_order_relaxed));
}

static void advance(struct page *p, uint64_t when)
{
    uint64_t have = atomic_load_explicit(&p->written_at, memory_order_relaxed);
    while (have < when && !atomic_compare_exchange_weak_explicit(&p->written_at, &have, when, memory_order_relaxed,
                                                                 memory_order_relaxed))
        ;
}

/* ---- parts that may not be zero ---- */

enum { PARTS = 64, PART = PLM_PAGE / PARTS };

/* The parts that hold bytes from `low` to before `high`, of which there are some. */
static uint64_t parts_of(uint32_t low, uint32_t high)
{
    const uint32_t first = low / PART, count = (high - 1) / PART - first + 1;
    return (count == PARTS ? ~0ull : (1ull << count) - 1) << first;
}

/* Writes zeros where there may be others. A part that lies in the range whole belongs to the caller alone, and is zero
   from now on. */
static void page_zero(struct page *p, uint64_t base, uint32_t low, uint32_t high)
{
    uint64_t left = atomic_load_explicit(&p->touched, memory_order_relaxed) & parts_of(low, high);
    while (left) {
        const uint32_t part = (uint32_t)__builtin_ctzll(left), start = part * PART, end = start + PART;
        const uint32_t from = low > start ? low : start, to = high < end ? high : end;
        memset((char *)(base + from), 0, to - from);
        if (to - from == PART)
            atomic_fetch_and_explicit(&p->touched, ~(1ull << part), memory_order_relaxed);
        left &= left - 1;
    }
}

bool plm_memory_backed(uint64_t address, uint64_t bytes)
{
    struct page *first = plm_space_page_of(address), *last = plm_space_page_of(address + (bytes ? bytes - 1 : 0));
    if (!first || !last || last < first)
        return false;
    for (struct page *p = first; p <= last; p++) {
        struct owner *o = atomic_load_explicit(&p->owner, memory_order_acquire);
        struct mapping *m = atomic_load_explicit(&p->mapping, memory_order_acquire);
        if (!o || o->kind == OWNER_IMPORT)
            return false;
        if (o->pool && bytes <= PLM_BACKED_MAX)
            continue;
        if (o->kind == OWNER_RANGE ? !m || m->size > PLM_BACKED_MAX : plm_round_up(o->size, PLM_PAGE) > PLM_BACKED_MAX)
            return false;
    }
    return true;
}

/* `zeros`: what was written. */
static void range_written(uint64_t address, uint64_t bytes, uint64_t when, bool zeros)
{
    while (bytes) {
        struct page *p = plm_space_page_of(address);
        uint32_t low = plm_space_page_offset(address);
        uint64_t part = PLM_PAGE - low < bytes ? PLM_PAGE - low : bytes;
        if (zeros)
            page_zero(p, address - low, low, (uint32_t)(low + part));
        else
            atomic_fetch_or_explicit(&p->touched, parts_of(low, (uint32_t)(low + part)), memory_order_relaxed);
        widen(p, low, (uint32_t)(low + part));
        advance(p, when);
        address += part;
        bytes -= part;
    }
}

void plm_memory_written(uint64_t address, uint64_t bytes, uint64_t when)
{
    range_written(address, bytes, when, false);
}

void plm_memory_zero(uint64_t address, uint64_t bytes, uint64_t when)
{
    range_written(address, bytes, when, true);
}

bool plm_memory_fresh(uint64_t address, uint64_t bytes, uint64_t since)
{
    while (bytes) {
        const struct page *p = plm_space_page_of(address);
        struct dirty d = dirty_of(atomic_load_explicit(&p->dirty, memory_order_relaxed));
        uint32_t low = plm_space_page_offset(address);
        uint64_t part = PLM_PAGE - low < bytes ? PLM_PAGE - low : bytes;
        if (low < d.low || low + part > d.high || atomic_load_explicit(&p->written_at, memory_order_relaxed) < since)
            return false;
        address += part;
        bytes -= part;
    }
    return true;
}

void plm_memory_recycle(uint64_t address, uint64_t bytes)
{
    if (bytes > PLM_BACKED_MAX)
        return; /* no such block has bytes behind it */
    plm_known_clear(address, bytes);
    plm_promises_forget(address, bytes);
    while (bytes) {
        struct page *p = plm_space_page_of(address);
        uint32_t low = plm_space_page_offset(address);
        uint64_t part = PLM_PAGE - low < bytes ? PLM_PAGE - low : bytes;
        if (!p)
            return;
        page_zero(p, address - low, low, (uint32_t)(low + part));
        address += part;
        bytes -= part;
    }
}
