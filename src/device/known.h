/*
 * Which bytes of backed device memory are what a real card would hold: the host wrote them, or what computes them was
 * repeated on the host (values.h). A bit for every byte, beside the page that it is in; views, aliases and parts of
 * tensors follow from that. All other memory is not known, and reads as whatever is there.
 *
 * Any thread, without a lock: threads that write the same bytes at once have no right order on a card either. Never
 * fails: where there is no memory for the bits, nothing is known. Addresses that are not backed are never known.
 */
#ifndef PLM_DEVICE_KNOWN_H
#define PLM_DEVICE_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

bool plm_known(uint64_t address, uint64_t bytes); /* all of them */
uint64_t plm_known_first(uint64_t address, uint64_t bytes); /* how many of them, from the first on */
bool plm_known_any(uint64_t address, uint64_t bytes); /* one of them */
/* How many bytes from here on are alike, at least, and at most `most`, of memory that is backed; whether they are known. */
uint64_t plm_known_run(uint64_t address, uint64_t most, bool *known);
void plm_known_set(uint64_t address, uint64_t bytes);
void plm_known_clear(uint64_t address, uint64_t bytes);
/* Of what is known a part may follow from what was assumed of a choice or a number (values.h), and not from the host's data
   alone. */
void plm_known_assume(uint64_t address, uint64_t bytes); /* after plm_known_set, which says the contrary */
bool plm_known_assumed(uint64_t address, uint64_t bytes); /* one of them */
/* The bytes were copied: as much is known of them as of where they came from. */
void plm_known_copy(uint64_t to, uint64_t from, uint64_t bytes);
/* Something ran that may have written anywhere. */
void plm_known_forget(void);

#endif
