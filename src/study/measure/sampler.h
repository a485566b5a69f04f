/*
 * Samples the used memory of a card from a thread of its own, inside the process that is measured.
 *
 * hook/plimsoll_measure loads this library (libplimsoll-sampler.so) through ctypes. The thread is plain C, so
 * Python's lock never delays it, takes no lock and allocates nothing for a sample. One sampler in a process; a child
 * that the process forks has none. Never prints and never exits.
 */
#ifndef PLM_MEASURE_SAMPLER_H
#define PLM_MEASURE_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#define PLM_SAMPLER_API __attribute__((visibility("default")))

struct plm_samples {
    uint64_t now, most; /* bytes in use: the last sample, the largest since the start */
    uint64_t count, failed;
};

/* 0; else a sentence is in `why`. */
PLM_SAMPLER_API int plm_sampler_start(const char *uuid, unsigned interval_us, char *why, size_t size);
/* Waits until `settle` samples in a row, all taken from now on, were equal; for `milliseconds` at most. 1 if it came
   to that, else 0; *bytes is the last sample either way. */
PLM_SAMPLER_API int plm_sampler_settle(unsigned settle, unsigned milliseconds, uint64_t *bytes);
/* Takes one more sample at once and tells what there is. */
PLM_SAMPLER_API void plm_sampler_read(struct plm_samples *out);
void plm_sampler_stop(void); /* for tests: the hook has it run until the process ends */

#endif
