/*
 * Inside the analysis: who took memory of a card outside of the caching allocator, and what a process told of its
 * context. One thread; nothing here fails.
 */
#ifndef PLM_TAKERS_H
#define PLM_TAKERS_H

#include <stdint.h>

struct plm_device_summary;
struct plm_ev_footprint;
struct plm_taker;

/* The entry of that name; the last one stands for all that there is no room for. */
struct plm_taker *plm_taker_of(struct plm_device_summary *device, const char *name);
/* More of the card is taken now than ever before. */
void plm_takers_at_peak(struct plm_device_summary *device);

/* What the process told: how certain a library's memory is, and what decides about the size of its context. */
void plm_taker_range(struct plm_device_summary *device, const char *name, uint64_t low, uint64_t high);
void plm_taker_footprint(struct plm_device_summary *device, const struct plm_ev_footprint *footprint);

#endif
