/*
 * The address space of the virtual cards and the account of their memory, as memory.c, vmm.c and
 * written.c share them. Not for the shims.
 *
 * All cards share one PROT_NONE reservation, an equal span each, so the device of an address is a
 * division. Every 2 MiB page of it has an entry that says which allocation it belongs to; looking an
 * address up takes no lock. Changing the space takes plm_space_lock; that happens once per segment, not
 * per tensor. An owner or a mapping is freed with the lock held, after its pages have let go of it: who looks
 * at one without the lock must know that the program still has the memory.
 */
#ifndef PLM_SPACE_H
#define PLM_SPACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/lock.h"
#include "record/format.h"

struct range {
    uint64_t base, size;
};

enum owner_kind { OWNER_WHOLE, OWNER_SLAB, OWNER_RANGE, OWNER_IMPORT };

/* What a page belongs to: an allocation of whole pages, a page of small allocations, a reserved range whose
   pages are mapped one by one, or an allocation of another process, which takes no memory here (ipc.h). */
struct owner {
    enum owner_kind kind;
    int device;
    uint64_t base, size, id;
    uint32_t text;         /* library that took it, 0 = the application */
    bool pool;             /* a chunk of a stream-ordered pool: backed where small copies go */
    _Atomic bool exported; /* another process may write it, so nothing in it is known */
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
    /* Which bytes the host wrote, low | high << 32, and when (in launches): see written.c. */
    _Atomic uint64_t dirty;
    _Atomic uint64_t written_at;
    _Atomic uint64_t touched; /* a bit for each 64th of the page: bytes of it may be other than zero */
    _Atomic(struct known *) known; /* which of them are right: known.c */
};

struct space {
    struct range *gaps;    /* free address ranges, ascending, never adjacent */
    size_t gap_count, gap_room;
    uint64_t used, limit;  /* physical bytes */
    struct owner *slab;    /* the last page of small allocations that had room */
};

extern struct plm_lock plm_space_lock;
struct space *plm_space_of(int device);
uint64_t plm_space_span(void);
uint64_t plm_space_next_id(void);
/* The entry of the page that holds an address; NULL if it is not a device address. */
struct page *plm_space_page_of(uint64_t address);
/* Where in its page an address lies. */
uint32_t plm_space_page_offset(uint64_t address);

/* Address ranges; the caller holds the lock. A take returns 0 if there is no room. It takes the highest: segments that real drivers
   give one after the other lie each below the one before, and of free blocks of one size PyTorch takes the lowest. */
uint64_t plm_space_range_take(struct space *s, uint64_t size, uint64_t hint);
bool plm_space_range_give(struct space *s, uint64_t base, uint64_t size);
struct owner *plm_owner_new(enum owner_kind kind, int device, uint64_t base, uint64_t size);
void plm_owner_set(uint64_t base, uint64_t size, struct owner *owner);

/* Real bytes behind whole pages, and none again. */
void plm_space_page_back(uint64_t base, uint64_t size);
void plm_space_page_unback(uint64_t base, uint64_t size);

/* The account; the caller holds the lock, and has called plm_footprint_start(). */
bool plm_space_charge(struct space *s, int device, uint64_t size);
void plm_space_discharge(struct space *s, int device, uint64_t size);
void plm_space_record(bool alloc, int device, uint64_t base, uint64_t size, enum plm_record_memory kind,
                      uint32_t owner);

static inline uint64_t plm_round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

#endif
