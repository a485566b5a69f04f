#include "device/known.h"

#include <stdlib.h>

#include "device/device.h"
#include "device/internal.h"
#include "device/space.h"

enum { WORD = 64, CHUNK = 256 * WORD }; /* bytes of memory that a word of bits, and a count of words, stand for */
_Static_assert(PLM_PAGE % CHUNK == 0, "a chunk lies in one page");

enum plane { KNOWN, ASSUMED, PLANES };

struct known {
    _Atomic uint64_t bits[PLANES][PLM_PAGE / WORD];
    _Atomic uint32_t used[PLANES][PLM_PAGE / CHUNK]; /* words of a chunk that are not 0: most large tensors have none */
    struct known *next; /* of all that there are; they stay */
};

static _Atomic(struct known *) all;
static _Atomic bool assuming; /* something ever was: without it that plane is not looked at */

/* Of the part of a range that lies in one page: the word, and the bits of it. */
static uint64_t word_mask(uint32_t low, uint32_t high, size_t word)
{
    const uint32_t first = (uint32_t)word * WORD, from = low > first ? low - first : 0;
    const uint32_t to = high < first + WORD ? high - first : WORD;
    return (to == WORD ? ~0ull : (1ull << to) - 1) & ~((1ull << from) - 1);
}

/* The bits of a page, made if they are wanted. */
static struct known *bits_of(struct page *p, bool wanted)
{
    struct known *have = atomic_load_explicit(&p->known, memory_order_acquire), *made;
    if (have || !wanted)
        return have;
    made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    if (!atomic_compare_exchange_strong(&p->known, &have, made)) {
        free(made);
        return have;
    }
    made->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &made->next, made))
        ;
    return made;
}

enum action { ALL, NONE, SET, CLEAR };

/* A word that gets its first bit, or loses its last one, is counted by the thread that did it. */
static void word_do(struct known *k, enum plane plane, size_t word, uint64_t mask, enum action action)
{
    _Atomic uint64_t *bits = &k->bits[plane][word];
    _Atomic uint32_t *used = &k->used[plane][word / (CHUNK / WORD)];
    uint64_t had;
    if (action == SET) {
        if (!atomic_fetch_or_explicit(bits, mask, memory_order_relaxed))
            atomic_fetch_add_explicit(used, 1, memory_order_relaxed);
    } else {
        had = atomic_fetch_and_explicit(bits, ~mask, memory_order_relaxed);
        if (had && !(had & ~mask))
            atomic_fetch_sub_explicit(used, 1, memory_order_relaxed);
    }
}

/* Of the bytes from `low` to before `high`, which lie in one chunk. ALL, NONE: whether it is so of them. */
static bool chunk_do(struct known *k, enum plane plane, uint32_t low, uint32_t high, enum action action)
{
    if (action != SET && !atomic_load_explicit(&k->used[plane][low / CHUNK], memory_order_relaxed))
        return action != ALL;
    for (size_t word = low / WORD; word * WORD < high; word++) {
        const uint64_t mask = word_mask(low, high, word);
        const uint64_t have = atomic_load_explicit(&k->bits[plane][word], memory_order_relaxed) & mask;
        if ((action == ALL && have != mask) || (action == NONE && have))
            return false;
        if ((action == SET && have != mask) || (action == CLEAR && have))
            word_do(k, plane, word, mask, action);
    }
    return true;
}

/* The same of any part of a page. */
static bool bits_do(struct known *k, enum plane plane, uint32_t low, uint32_t high, enum action action)
{
    while (low < high) {
        const uint32_t end = low - low % CHUNK + CHUNK, to = end < high ? end : high;
        if (!chunk_do(k, plane, low, to, action))
            return false;
        low = to;
    }
    return true;
}

static bool exported(struct page *p)
{
    struct owner *o = atomic_load_explicit(&p->owner, memory_order_acquire);
    return o && atomic_load_explicit(&o->exported, memory_order_relaxed);
}

static bool range_do(enum plane plane, uint64_t address, uint64_t bytes, enum action action)
{
    while (bytes) {
        struct page *p = plm_space_page_of(address);
        const uint32_t low = plm_space_page_offset(address);
        const uint64_t part = PLM_PAGE - low < bytes ? PLM_PAGE - low : bytes;
        struct known *k = p && !(action == SET && exported(p)) ? bits_of(p, action == SET) : NULL;
        if (k ? !bits_do(k, plane, low, (uint32_t)(low + part), action) : action == ALL)
            return false;
        address += part;
        bytes -= part;
    }
    return true;
}

bool plm_known(uint64_t address, uint64_t bytes)
{
    return bytes <= PLM_BACKED_MAX && plm_memory_backed(address, bytes) && range_do(KNOWN, address, bytes, ALL);
}

void plm_known_set(uint64_t address, uint64_t bytes)
{
    if (bytes > PLM_BACKED_MAX || !plm_memory_backed(address, bytes))
        return;
    range_do(KNOWN, address, bytes, SET);
    if (atomic_load_explicit(&assuming, memory_order_relaxed))
        range_do(ASSUMED, address, bytes, CLEAR);
}

void plm_known_assume(uint64_t address, uint64_t bytes)
{
    if (bytes > PLM_BACKED_MAX || !plm_memory_backed(address, bytes))
        return;
    atomic_store_explicit(&assuming, true, memory_order_relaxed);
    range_do(ASSUMED, address, bytes, SET);
}

void plm_known_clear(uint64_t address, uint64_t bytes)
{
    if (bytes > PLM_BACKED_MAX || !plm_space_page_of(address)) /* nothing that is larger was ever known */
        return;
    range_do(KNOWN, address, bytes, CLEAR);
    if (atomic_load_explicit(&assuming, memory_order_relaxed))
        range_do(ASSUMED, address, bytes, CLEAR);
}

/* How many bytes from here on are alike, at least, and at most `most`; whether they are known, or assumed. */
static uint64_t run_of(enum plane plane, uint64_t address, uint64_t most, bool *known)
{
    struct page *p = plm_space_page_of(address);
    struct known *k = p ? bits_of(p, false) : NULL;
    const uint32_t at = plm_space_page_offset(address);
    uint64_t bits, run;
    if (!k) {
        *known = false;
        return PLM_PAGE - at < most ? PLM_PAGE - at : most;
    }
    if (!atomic_load_explicit(&k->used[plane][at / CHUNK], memory_order_relaxed)) {
        *known = false;
        return CHUNK - at % CHUNK < most ? CHUNK - at % CHUNK : most;
    }
    bits = atomic_load_explicit(&k->bits[plane][at / WORD], memory_order_relaxed) >> at % WORD;
    *known = bits & 1;
    bits = *known ? ~bits : bits;
    run = bits ? (uint64_t)__builtin_ctzll(bits) : WORD;
    run = run < WORD - at % WORD ? run : WORD - at % WORD;
    return run < most ? run : most;
}

uint64_t plm_known_run(uint64_t address, uint64_t most, bool *known)
{
    return run_of(KNOWN, address, most, known);
}

uint64_t plm_known_first(uint64_t address, uint64_t bytes)
{
    uint64_t first = 0;
    bool known = bytes <= PLM_BACKED_MAX && plm_memory_backed(address, bytes);
    while (known && first < bytes) {
        const uint64_t run = run_of(KNOWN, address + first, bytes - first, &known);
        first += known ? run : 0;
    }
    return first;
}

static bool plane_any(enum plane plane, uint64_t address, uint64_t bytes)
{
    return bytes <= PLM_BACKED_MAX && plm_memory_backed(address, bytes) && !range_do(plane, address, bytes, NONE);
}

bool plm_known_any(uint64_t address, uint64_t bytes)
{
    return plane_any(KNOWN, address, bytes);
}

bool plm_known_assumed(uint64_t address, uint64_t bytes)
{
    return atomic_load_explicit(&assuming, memory_order_relaxed) && plane_any(ASSUMED, address, bytes);
}

void plm_known_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    plm_known_clear(to, bytes);
    if (bytes > PLM_BACKED_MAX || !plm_memory_backed(from, bytes) || !plm_memory_backed(to, bytes))
        return;
    while (bytes) {
        bool known;
        const uint64_t run = run_of(KNOWN, from, bytes, &known);
        if (known)
            plm_known_set(to, run);
        if (known && plm_known_assumed(from, run))
            plm_known_assume(to, run);
        to += run;
        from += run;
        bytes -= run;
    }
}

void plm_known_forget(void)
{
    const enum plane last = atomic_load_explicit(&assuming, memory_order_relaxed) ? ASSUMED : KNOWN;
    for (struct known *k = atomic_load_explicit(&all, memory_order_acquire); k; k = k->next)
        for (enum plane plane = KNOWN; plane <= last; plane++)
            bits_do(k, plane, 0, (uint32_t)PLM_PAGE, CLEAR);
}
