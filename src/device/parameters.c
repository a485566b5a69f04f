#include "device/parameters.h"

#include <stdatomic.h>

enum { PLACES = 1 << 14, NEAR = 16 };
_Static_assert((PLACES & (PLACES - 1)) == 0, "its places are masked");

static _Atomic uint64_t place[PLACES]; /* 0: free */
static _Atomic bool updated;

static uint64_t first_place(uint64_t address)
{
    return (address >> 9) * 0x9e3779b97f4a7c15ull >> 40; /* blocks are 512 bytes apart */
}

void plm_parameter_is(uint64_t address)
{
    const uint64_t first = first_place(address);
    for (uint64_t i = 0; i < NEAR; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&place[(first + i) & (PLACES - 1)], &none, address) || none == address)
            return;
    }
}

void plm_parameter_written(uint64_t address)
{
    const uint64_t first = first_place(address);
    for (uint64_t i = 0; i < NEAR; i++) {
        const uint64_t have = atomic_load_explicit(&place[(first + i) & (PLACES - 1)], memory_order_relaxed);
        if (have == address)
            atomic_store_explicit(&updated, true, memory_order_relaxed);
        if (have == address || !have)
            return;
    }
}

bool plm_parameters_updated(void)
{
    return atomic_exchange(&updated, false);
}
