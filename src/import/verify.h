/*
 * Replays the history of a snapshot through the allocator simulator and says whether every block and every segment comes to lie
 * where the GPU run had it. What the driver decided is taken from the history (where a segment lies, when the cache
 * was given back); what PyTorch decided is replayed (which block is taken, when a segment is needed and of what size).
 *
 * The trace is only read. One thread. A replay does not fail: what it could not decide is a verdict.
 */
#ifndef PLM_IMPORT_VERIFY_H
#define PLM_IMPORT_VERIFY_H

#include "import/history.h"

enum plm_verify_verdict {
    PLM_VERDICT_SAME,
    PLM_VERDICT_DIFFERS,
    PLM_VERDICT_UNKNOWN /* the history does not tell enough to call a difference one */
};

struct plm_verify {
    enum plm_verify_verdict verdict;
    enum plm_torch torch;         /* the rules that were followed, see settings.h */
    size_t allocations, segments; /* that were replayed as they were */
    /* Of the first difference: */
    unsigned device;
    uint32_t event;               /* its place in the snapshot's list */
    char sentence[512];
};

/* `torch` NULL: the rules of the release that the snapshot looks like, then of the others, until one reproduces it. */
void plm_verify_trace(const struct plm_history *trace, const enum plm_torch *torch, struct plm_verify *verify);

#endif
