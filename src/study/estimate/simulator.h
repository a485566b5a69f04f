/*
 * The two-level allocator of the CPU-side methods: blocks with lifetimes in, peaks out.
 *
 * Level 1 is PyTorch's caching allocator as xMem wrote it (20 MiB segments up to and including 10 MiB, one stream, no
 * garbage collection), level 2 the card: one range, best fit by size and address, exact split, no alignment. Or, for
 * the corrected variants, the allocator of src/allocator. At equal times allocations come before frees. Pure
 * functions that do not fail; any thread.
 */
#ifndef PLM_ESTIMATE_SIMULATOR_H
#define PLM_ESTIMATE_SIMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLM_NEVER INT64_MAX

struct plm_lifetime {
    int64_t born, dies; /* PLM_NEVER: lives to the end */
    uint64_t bytes;
    uint32_t holder;    /* of the caller's own: a layer, a category */
};

struct plm_simulation {
    uint64_t peak;            /* of segment bytes */
    uint64_t peak_allocated;  /* of block bytes, rounded */
    int64_t peak_time;        /* when segment bytes reached `peak` */
    bool oom;                 /* the card was too small; peak is what it had reached */
    int64_t oom_time;
};

/* What happened, event by event: who takes part in a simulation without changing it. */
struct plm_simulation_event {
    uint64_t number;
    int64_t time;
    size_t item;              /* of the sorted list */
    bool freed;               /* else it was allocated */
    uint64_t reserved, allocated;
};
typedef void plm_simulation_watch(const struct plm_simulation_event *event, void *context);
enum plm_simulation_rules { PLM_RULES_XMEM, PLM_RULES_TORCH };

/* `limit`: bytes of the card, UINT64_MAX: any amount. `item` is sorted in place by birth. */
void plm_simulate(struct plm_lifetime *item, size_t count, uint64_t limit, struct plm_simulation *out);
/* The same with PyTorch's own rules, as src/allocator has them for the newest release. */
void plm_simulate_torch(struct plm_lifetime *item, size_t count, uint64_t limit, struct plm_simulation *out);
/* Either, watched; `watch` may be NULL. */
void plm_simulate_watched(struct plm_lifetime *item, size_t count, enum plm_simulation_rules rules, uint64_t limit,
                          plm_simulation_watch *watch, void *context, struct plm_simulation *out);

#endif
