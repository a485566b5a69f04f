#include "device/values_marks.h"

#include <stdatomic.h>

enum { SLOTS = 4096 };
static _Atomic uint64_t marked[PLM_VALUES_MARKS][SLOTS];
_Static_assert((SLOTS & (SLOTS - 1)) == 0, "they are masked");

static _Atomic uint64_t *slot(enum plm_values_mark mark, uint64_t address)
{
    return &marked[mark][(address * 0x9e3779b97f4a7c15ull >> 40) & (SLOTS - 1)];
}

bool plm_values_mark_has(enum plm_values_mark mark, uint64_t address)
{
    return address && atomic_load_explicit(slot(mark, address), memory_order_relaxed) == address;
}

void plm_values_mark_set(enum plm_values_mark mark, uint64_t address)
{
    atomic_store_explicit(slot(mark, address), address, memory_order_relaxed);
}

void plm_values_mark_forget(enum plm_values_mark mark, uint64_t address)
{
    if (plm_values_mark_has(mark, address))
        atomic_store_explicit(slot(mark, address), 0, memory_order_relaxed);
}
