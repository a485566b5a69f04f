/*
 * Inside the analysis: who took memory of a card outside of the caching allocator, and what a process told of its
 * context. One thread; nothing here fails.
 */
#ifndef PLM_TAKERS_H
#define PLM_TAKERS_H

#include <stdbool.h>

struct plm_device_summary;
struct plm_taker;

/* The entry of that name; the last one stands for all that there is no room for. */
struct plm_taker *plm_taker_of(struct plm_device_summary *device, const char *name);
/* More of the card is taken now than ever before. */
void plm_takers_at_peak(struct plm_device_summary *device);

/* Whether this key of the configuration is said of a device, "context[0]" or "range[0]", and what it says. */
bool plm_taker_key(const char *key, int *device);
void plm_taker_told(struct plm_device_summary *device, const char *key, const char *value);

#endif
