/*
 * What lies under the caching allocator: a card with so much memory, which hands out whole pages and addresses.
 *
 * Best fit compares addresses, so their order decides where blocks go. The highest gap that is large enough
 * is taken at its end, as the virtual device does (src/device/space.c): drivers of real cards go downwards. A replay may ask for the address that was recorded, and
 * gets it if it is free. One thread at a time; plm_driver_free() when it is no longer needed.
 */
#ifndef PLM_ALLOCATOR_DRIVER_H
#define PLM_ALLOCATOR_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLM_DRIVER_PAGE  (2u << 20)
#define PLM_DRIVER_LEAST (1ull << 20) /* addresses that may be asked for: some systems have low ones */
#define PLM_DRIVER_BASE  (1ull << 40) /* the lowest otherwise */
#define PLM_DRIVER_TOP   (1ull << 46) /* and the end of the highest: below those of records, which came earlier */
#define PLM_DRIVER_END   (1ull << 62)

struct plm_driver_gap {
    uint64_t base, size;
};

struct plm_driver {
    uint64_t capacity;    /* bytes that can be had; UINT64_MAX: any amount */
    uint64_t total;       /* what the card says it has; sizes of fractions and of address ranges follow it */
    uint64_t used;
    /* The address that the next range of `size` bytes should have; 0: none in particular. May be NULL. */
    uint64_t (*place)(void *context, uint64_t size);
    void *context;
    struct plm_driver_gap *gap; /* free addresses, ascending */
    size_t gaps, gap_room;
};

void plm_driver_init(struct plm_driver *driver, uint64_t capacity, uint64_t total);
void plm_driver_free(struct plm_driver *driver);

/* Memory without addresses; false if the card is full. */
bool plm_driver_charge(struct plm_driver *driver, uint64_t size);
void plm_driver_discharge(struct plm_driver *driver, uint64_t size);
/* Addresses without memory: 0 if there are none. */
uint64_t plm_driver_range(struct plm_driver *driver, uint64_t size);
/* These addresses and no others: 0 if they are not free. */
uint64_t plm_driver_at(struct plm_driver *driver, uint64_t address, uint64_t size);
void plm_driver_give(struct plm_driver *driver, uint64_t base, uint64_t size);
/* Memory with addresses: 0 if there are none. */
uint64_t plm_driver_take(struct plm_driver *driver, uint64_t size);
void plm_driver_return(struct plm_driver *driver, uint64_t base, uint64_t size);

#endif
