#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "device/context.h"

/*
 * Autograd gives every node a sequence number when the forward pass makes it, and tells it again when the
 * backward pass runs it. The numbers of a thread only grow, so "from number s on, module m was running" is
 * enough to find the module of a node, and its Python stack likewise. The latest entries are kept; a backward pass
 * never looks far back.
 */

enum { ENTRIES = 1 << 16 };

struct entry {
    _Atomic int64_t from; /* written by the journal's thread, read by those of the backward pass */
    _Atomic uint32_t value;
};

struct plm_journal {
    struct book {
        _Atomic uint64_t count; /* entries ever written; the last ENTRIES of them are there */
        struct entry entry[ENTRIES];
    } book[PLM_JOURNAL_BOOKS];
};

static __thread struct plm_journal *mine __attribute__((tls_model("initial-exec")));

/* Lives as long as the process: the backward pass may look after the thread has ended. Not from calloc(), which may give
   memory that was used before and then writes all of it. */
struct plm_journal *plm_journal_of_thread(void)
{
    void *made;
    if (mine)
        return mine;
    made = mmap(NULL, sizeof *mine, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mine = made == MAP_FAILED ? NULL : made;
    return mine;
}

static int64_t from_of(const struct entry *e)
{
    return atomic_load_explicit(&e->from, memory_order_relaxed);
}

void plm_journal_note(struct plm_journal *journal, enum plm_journal_book which, int64_t sequence, uint32_t value)
{
    struct book *j = &journal->book[which];
    uint64_t n = atomic_load_explicit(&j->count, memory_order_relaxed);
    struct entry *last = &j->entry[(n - 1) % ENTRIES], *next = &j->entry[n % ENTRIES];
    if (n && from_of(last) == sequence) {
        atomic_store_explicit(&last->value, value, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&next->from, sequence, memory_order_relaxed);
    atomic_store_explicit(&next->value, value, memory_order_relaxed);
    atomic_store_explicit(&j->count, n + 1, memory_order_release);
}

bool plm_journal_find(const struct plm_journal *journal, enum plm_journal_book which, int64_t sequence, uint32_t *value)
{
    const struct book *j = &journal->book[which];
    uint64_t high = atomic_load_explicit(&j->count, memory_order_acquire);
    uint64_t low = high > ENTRIES ? high - ENTRIES : 0;

    if (low == high || from_of(&j->entry[low % ENTRIES]) > sequence)
        return false;
    while (high - low > 1) { /* entry[low].from <= sequence < entry[high].from */
        uint64_t middle = low + (high - low) / 2;
        if (from_of(&j->entry[middle % ENTRIES]) <= sequence)
            low = middle;
        else
            high = middle;
    }
    *value = atomic_load_explicit(&j->entry[low % ENTRIES].value, memory_order_relaxed);
    return true;
}
