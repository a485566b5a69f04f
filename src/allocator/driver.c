#include "allocator/driver.h"

#include <string.h>

#include "base/memory.h"
#include "base/search.h"

static uint64_t whole_pages(uint64_t size)
{
    return (size + PLM_DRIVER_PAGE - 1) / PLM_DRIVER_PAGE * PLM_DRIVER_PAGE;
}

static void gap_insert(struct plm_driver *d, size_t i, uint64_t base, uint64_t size)
{
    d->gap = plm_grow(d->gap, d->gaps, &d->gap_room, sizeof *d->gap);
    memmove(&d->gap[i + 1], &d->gap[i], (d->gaps - i) * sizeof *d->gap);
    d->gap[i] = (struct plm_driver_gap){base, size};
    d->gaps++;
}

void plm_driver_init(struct plm_driver *d, uint64_t capacity, uint64_t total)
{
    *d = (struct plm_driver){.capacity = capacity, .total = total};
    gap_insert(d, 0, PLM_DRIVER_LEAST, PLM_DRIVER_END - PLM_DRIVER_LEAST);
}

void plm_driver_free(struct plm_driver *d)
{
    free(d->gap);
    *d = (struct plm_driver){0};
}

bool plm_driver_charge(struct plm_driver *d, uint64_t size)
{
    size = whole_pages(size);
    if (size > d->capacity || d->used > d->capacity - size)
        return false;
    d->used += size;
    return true;
}

void plm_driver_discharge(struct plm_driver *d, uint64_t size)
{
    d->used -= whole_pages(size);
}

static void gap_remove(struct plm_driver *d, size_t i)
{
    memmove(&d->gap[i], &d->gap[i + 1], (d->gaps - i - 1) * sizeof *d->gap);
    d->gaps--;
}

/* Takes [base, base + size) out of gap i. */
static uint64_t gap_cut(struct plm_driver *d, size_t i, uint64_t base, uint64_t size)
{
    uint64_t rest = d->gap[i].base + d->gap[i].size - (base + size);

    d->gap[i].size = base - d->gap[i].base;
    if (rest)
        gap_insert(d, i + 1, base + size, rest);
    if (!d->gap[i].size)
        gap_remove(d, i);
    return base;
}

/* The first gap that begins at `address` or above it. */
static size_t gap_from(const struct plm_driver *d, uint64_t address)
{
    return PLM_SEARCH(i, d->gaps, d->gap[i].base < address);
}

uint64_t plm_driver_at(struct plm_driver *d, uint64_t wanted, uint64_t size)
{
    size_t i = gap_from(d, wanted + 1);
    const struct plm_driver_gap *gap = i ? &d->gap[i - 1] : NULL;

    size = whole_pages(size);
    if (!gap || wanted - gap->base > gap->size || gap->size - (wanted - gap->base) < size)
        return 0;
    return gap_cut(d, i - 1, wanted, size);
}

uint64_t plm_driver_range(struct plm_driver *d, uint64_t size)
{
    uint64_t wanted = d->place ? d->place(d->context, size) : 0;

    if (wanted && (wanted = plm_driver_at(d, wanted, size)) != 0)
        return wanted;
    size = whole_pages(size);
    for (size_t i = d->gaps; i-- > 0;) {
        uint64_t base = d->gap[i].base, end = base + d->gap[i].size;
        base = base < PLM_DRIVER_BASE ? PLM_DRIVER_BASE : base;
        end = end > PLM_DRIVER_TOP ? PLM_DRIVER_TOP : end;
        if (base < end && end - base >= size)
            return gap_cut(d, i, end - size, size);
    }
    return 0;
}

void plm_driver_give(struct plm_driver *d, uint64_t base, uint64_t size)
{
    size_t low = gap_from(d, base);

    size = whole_pages(size);
    if (low && d->gap[low - 1].base + d->gap[low - 1].size == base) {
        d->gap[low - 1].size += size;
        if (low < d->gaps && base + size == d->gap[low].base) {
            d->gap[low - 1].size += d->gap[low].size;
            gap_remove(d, low);
        }
    } else if (low < d->gaps && base + size == d->gap[low].base) {
        d->gap[low].base = base;
        d->gap[low].size += size;
    } else {
        gap_insert(d, low, base, size);
    }
}

uint64_t plm_driver_take(struct plm_driver *d, uint64_t size)
{
    uint64_t base;
    if (!plm_driver_charge(d, size))
        return 0;
    base = plm_driver_range(d, size);
    if (!base)
        plm_driver_discharge(d, size);
    return base;
}

void plm_driver_return(struct plm_driver *d, uint64_t base, uint64_t size)
{
    plm_driver_discharge(d, size);
    plm_driver_give(d, base, size);
}
