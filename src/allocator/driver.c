#include "allocator/driver.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/error.h"

static uint64_t pages(uint64_t size)
{
    return (size + PLM_DRIVER_PAGE - 1) / PLM_DRIVER_PAGE * PLM_DRIVER_PAGE;
}

int plm_driver_init(struct plm_driver *d, uint64_t capacity, uint64_t total)
{
    *d = (struct plm_driver){.capacity = capacity, .total = total};
    d->gap = plm_grow(NULL, 0, &d->gap_room, sizeof *d->gap);
    if (!d->gap)
        return PLM_ENOMEM;
    d->gap[d->gaps++] = (struct plm_driver_gap){PLM_DRIVER_LEAST, PLM_DRIVER_END - PLM_DRIVER_LEAST};
    return 0;
}

void plm_driver_free(struct plm_driver *d)
{
    free(d->gap);
    *d = (struct plm_driver){0};
}

int plm_driver_charge(struct plm_driver *d, uint64_t size)
{
    size = pages(size);
    if (size > d->capacity || d->used > d->capacity - size)
        return PLM_ENOMEM;
    d->used += size;
    return 0;
}

void plm_driver_discharge(struct plm_driver *d, uint64_t size)
{
    d->used -= pages(size);
}

static void remove_gap(struct plm_driver *d, size_t i)
{
    memmove(&d->gap[i], &d->gap[i + 1], (d->gaps - i - 1) * sizeof *d->gap);
    d->gaps--;
}

/* Takes [base, base + size) out of gap i. The caller has made room for one gap more. */
static uint64_t cut(struct plm_driver *d, size_t i, uint64_t base, uint64_t size)
{
    struct plm_driver_gap *gap = &d->gap[i];
    uint64_t end = gap->base + gap->size, rest = end - (base + size);

    gap->size = base - gap->base;
    if (rest) {
        memmove(gap + 1, gap, (d->gaps - i) * sizeof *gap);
        d->gaps++;
        gap[1] = (struct plm_driver_gap){base + size, rest};
    }
    if (!gap->size)
        remove_gap(d, i);
    return base;
}

/* Every range that is taken may leave a gap more than before, now or when it is given back. */
static int make_room(struct plm_driver *d)
{
    struct plm_driver_gap *more;
    d->ranges++;
    while (d->gap_room < d->ranges + 2) {
        more = plm_grow(d->gap, d->gap_room, &d->gap_room, sizeof *d->gap);
        if (!more) {
            d->ranges--;
            return PLM_ENOMEM;
        }
        d->gap = more;
    }
    return 0;
}

/* The first gap that begins at `address` or above it. */
static size_t gap_from(const struct plm_driver *d, uint64_t address)
{
    size_t low = 0, high = d->gaps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->gap[middle].base < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t plm_driver_at(struct plm_driver *d, uint64_t wanted, uint64_t size)
{
    size_t i = gap_from(d, wanted + 1);
    const struct plm_driver_gap *gap = i ? &d->gap[i - 1] : NULL;

    size = pages(size);
    if (!gap || wanted - gap->base > gap->size || gap->size - (wanted - gap->base) < size || make_room(d))
        return 0;
    return cut(d, i - 1, wanted, size);
}

uint64_t plm_driver_range(struct plm_driver *d, uint64_t size)
{
    uint64_t wanted = d->place ? d->place(d->context, size) : 0;

    if (wanted && (wanted = plm_driver_at(d, wanted, size)) != 0)
        return wanted;
    size = pages(size);
    if (make_room(d))
        return 0;
    for (size_t i = 0; i < d->gaps; i++) {
        uint64_t base = d->gap[i].base, end = base + d->gap[i].size;
        base = base < PLM_DRIVER_BASE ? PLM_DRIVER_BASE : base;
        if (base < end && end - base >= size)
            return cut(d, i, base, size);
    }
    d->ranges--;
    return 0;
}

void plm_driver_give(struct plm_driver *d, uint64_t base, uint64_t size)
{
    size_t low = gap_from(d, base);

    size = pages(size);
    d->ranges--;
    if (low && d->gap[low - 1].base + d->gap[low - 1].size == base) {
        d->gap[low - 1].size += size;
        if (low < d->gaps && base + size == d->gap[low].base) {
            d->gap[low - 1].size += d->gap[low].size;
            remove_gap(d, low);
        }
    } else if (low < d->gaps && base + size == d->gap[low].base) {
        d->gap[low].base = base;
        d->gap[low].size += size;
    } else {
        memmove(&d->gap[low + 1], &d->gap[low], (d->gaps - low) * sizeof *d->gap);
        d->gap[low] = (struct plm_driver_gap){base, size};
        d->gaps++;
    }
}
