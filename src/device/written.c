#include <string.h>

#include "device/device.h"
#include "device/internal.h"
#include "device/space.h"

/*
 * What the host wrote into backed memory, page by page: the range of bytes, and how many kernels had
 * been launched then.
 */

bool plm_memory_backed(uint64_t address, uint64_t bytes)
{
    struct page *first = plm_page_of(address), *last = plm_page_of(address + (bytes ? bytes - 1 : 0));
    if (!first || !last)
        return false;
    for (struct page *p = first; p <= last; p++) {
        struct owner *o = atomic_load_explicit(&p->owner, memory_order_acquire);
        struct mapping *m = atomic_load_explicit(&p->mapping, memory_order_acquire);
        if (!o)
            return false;
        if (o->pool && bytes <= PLM_BACKED_MAX)
            continue;
        if (o->kind == OWNER_RANGE ? !m || m->size > PLM_BACKED_MAX : plm_round_up(o->size, PLM_PAGE) > PLM_BACKED_MAX)
            return false;
    }
    return true;
}

void plm_memory_written(uint64_t address, uint64_t bytes, uint64_t when)
{
    while (bytes) {
        struct page *p = plm_page_of(address);
        uint32_t low = plm_page_offset(address);
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
        const struct page *p = plm_page_of(address);
        uint32_t low = plm_page_offset(address);
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
    if (bytes > PLM_BACKED_MAX)
        return; /* no such block has bytes behind it */
    while (bytes) {
        struct page *p = plm_page_of(address);
        uint32_t low = plm_page_offset(address);
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
