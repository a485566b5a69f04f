#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "device/internal.h"

/*
 * `--assume all=true`: what aten::all would have computed reads as true. Its result is a small tensor that the
 * operator allocates; small blocks have bytes behind them, and no kernel overwrites what is put there.
 * `keep`, for operators that select, is the Python hook's: it knows the shapes.
 */

static bool all_is_true(void)
{
    static _Atomic int known; /* 0 not yet, 1 no, 2 yes */
    if (!known) {
        const char *value = getenv("PLIMSOLL_ASSUME_ALL");
        known = value && !strcmp(value, "true") ? 2 : 1;
    }
    return known == 2;
}

/* The latest results of aten::all, to name what is read back. A race loses an entry at worst. */
enum { RESULTS = 64 };
static _Atomic uint64_t result[RESULTS];
static _Atomic unsigned next_result;

bool plm_assume_is_all(uint64_t address)
{
    for (int i = 0; i < RESULTS; i++)
        if (result[i] == address)
            return true;
    return false;
}

static void forget(uint64_t address)
{
    for (int i = 0; i < RESULTS; i++)
        if (result[i] == address)
            result[i] = 0;
}

void plm_assume_block(uint64_t address, uint64_t bytes)
{
    if (!plm_context_in_all()) {
        if (next_result)
            forget(address);
        return;
    }
    result[next_result++ % RESULTS] = address;
    if (all_is_true() && plm_memory_backed(address, bytes))
        plm_fill((void *)address, 1, 1, bytes);
}
