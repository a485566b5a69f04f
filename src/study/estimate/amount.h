/* Arithmetic of sizes that stops at the largest number instead of starting again at 0. Pure functions; any thread. */
#ifndef PLM_ESTIMATE_AMOUNT_H
#define PLM_ESTIMATE_AMOUNT_H

#include <stdint.h>

static inline uint64_t plm_plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t plm_times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
