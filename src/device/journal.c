#include <stdatomic.h>
#include <stdlib.h>

#include "device/context.h"

/*
 * Autograd gives every node a sequence number when the forward pass makes it, and tells it again when the
 * backward pass runs it. The numbers of a thread only grow, so "from number s on, module m was running" is
 * enough to find the module of a node. The latest entries are kept; a backward pass never looks far back.
 */

enum { ENTRIES = 1 << 16 };

struct entry {
    int64_t from;
    uint32_t module;
};

struct plm_journal {
    _Atomic uint64_t count; /* entries ever written; the last ENTRIES of them are there */
    struct entry entry[ENTRIES];
};

static __thread struct plm_journal *mine __attribute__((tls_model("initial-exec")));

/* Lives as long as the process: the backward pass may look after the thread has ended. */
struct plm_journal *plm_journal_of_thread(void)
{
    if (!mine)
        mine = calloc(1, sizeof *mine);
    return mine;
}

void plm_journal_note(struct plm_journal *j, int64_t sequence, uint32_t module)
{
    uint64_t n = atomic_load_explicit(&j->count, memory_order_relaxed);
    if (n && j->entry[(n - 1) % ENTRIES].from == sequence) {
        j->entry[(n - 1) % ENTRIES].module = module;
        return;
    }
    j->entry[n % ENTRIES] = (struct entry){sequence, module};
    atomic_store_explicit(&j->count, n + 1, memory_order_release);
}

bool plm_journal_find(const struct plm_journal *j, int64_t sequence, uint32_t *module)
{
    uint64_t high = atomic_load_explicit(&j->count, memory_order_acquire);
    uint64_t low = high > ENTRIES ? high - ENTRIES : 0;

    if (low == high || j->entry[low % ENTRIES].from > sequence)
        return false;
    while (high - low > 1) { /* entry[low].from <= sequence < entry[high].from */
        uint64_t middle = low + (high - low) / 2;
        if (j->entry[middle % ENTRIES].from <= sequence)
            low = middle;
        else
            high = middle;
    }
    *module = j->entry[low % ENTRIES].module;
    return true;
}
