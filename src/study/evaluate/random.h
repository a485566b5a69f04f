/*
 * Numbers that look random and are the same on every machine for the same seed: xoshiro256**, seeded by splitmix64.
 * Each user has a generator of its own; one thread at a time.
 */
#ifndef PLM_EVALUATE_RANDOM_H
#define PLM_EVALUATE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct plm_random {
    uint64_t state[4];
};

void plm_random_start(struct plm_random *random, uint64_t seed);
uint64_t plm_random_next(struct plm_random *random);
/* One of 0 to below - 1, each as likely as any other; 0 for none. */
size_t plm_random_below(struct plm_random *random, size_t below);

#endif
