/*
 * What each process of the job holds of each card, as all of them can see it: rows in the header of the record.
 *
 * A process keeps its own rows; who asks adds those of the processes that live. Any thread, no lock, never fails:
 * without a record, or once its rows are taken, what others hold is not known and counts as nothing.
 */
#ifndef PLM_HOLDINGS_H
#define PLM_HOLDINGS_H

#include <stdint.h>

struct plm_holdings_row {
    uint32_t pid;
    uint64_t bytes;
};

/* This process uses the device from now on. */
void plm_holdings_open(int device);
/* It holds so much of it. */
void plm_holdings_set(int device, uint64_t bytes);

/* Other processes that live and use a card (as plm_device_number() counts), the first `room` of them into `out`.
   Returns how many there are. */
unsigned plm_holdings_others(uint32_t card, struct plm_holdings_row *out, unsigned room);

#endif
