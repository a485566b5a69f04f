/*
 * Device memory whose bytes will come: a collective was called, and what its peers contribute may not be there yet. It
 * is asked for when somebody reads the memory, and not before. A promise belongs to this table; what it needs to be kept
 * is `context`, which is freed with it.
 *
 * Any thread. keep() is called without a lock of ours, by one thread at a time for each promise. Without any promise, asking
 * costs one load. Never fails: a promise that there is no memory for is forgotten at once. A forked child has none.
 */
#ifndef PLM_PROMISED_H
#define PLM_PROMISED_H

#include <stdbool.h>
#include <stdint.h>

struct plm_promise {
    uint64_t address, bytes;
    uint64_t launches; /* kernels that had been launched when the bytes were due */
    /* Tells the bytes with plm_promise_write(), if it can, and if it may wait for them. False: not yet. */
    bool (*keep)(const struct plm_promise *promise, bool patient);
    void *context; /* from malloc */
};

void plm_promise_add(const struct plm_promise *promise);
/* In keep(): these bytes of the promised memory, from `offset` on, are known. */
void plm_promise_write(const struct plm_promise *promise, uint64_t offset, const void *bytes, uint64_t size);

/* Somebody reads there, or writes a part: waits for what was promised. */
void plm_promises_settle(uint64_t address, uint64_t bytes);
/* Something else is there now: what was promised is not awaited any more. Waits for nobody; locks of the memory may be
   held. */
void plm_promises_forget(uint64_t address, uint64_t bytes);
/* Something else is written there: the one or the other. */
void plm_promises_overwrite(uint64_t address, uint64_t bytes);

#endif
