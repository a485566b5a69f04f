/*
 * Turns a memory snapshot that PyTorch wrote (torch.cuda.memory._dump_snapshot) into a job record, so that what works with the
 * record of a run works with the history of a real GPU.
 *
 * A snapshot knows no modules: a block's is the function that asked for it, the innermost one outside of PyTorch. One
 * thread. The snapshot is read completely before the record is made; one that fails half-way is removed.
 */
#ifndef PLM_IMPORT_H
#define PLM_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/history.h"

struct plm_error;

/*
 * verify.c: replays the history of a snapshot through the allocator simulator and says whether every block and every segment comes to lie
 * where the GPU run had it. What the driver decided is taken from the history (where a segment lies, when the cache
 * was given back); what PyTorch decided is replayed (which block is taken, when a segment is needed and of what size).
 *
 * The trace is only read. One thread. A replay does not fail: what it could not decide is a verdict.
 */
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

struct plm_import_options {
    const char *name;            /* the snapshot's, for the record */
    const char *path;            /* of the record, which is made, or replaced if `replace`; NULL: none is made */
    bool replace;
    bool verify;                 /* see struct plm_verify */
    const enum plm_torch *torch; /* the rules that it is verified by; NULL: whichever reproduce it */
};

struct plm_import_info {
    size_t devices, events, allocations; /* if a record was made */
    size_t earlier;              /* blocks that were there before the history begins */
    bool agrees;                 /* it ends with what the snapshot says is allocated and reserved */
    struct plm_verify verify;    /* if that was asked for */
};

int plm_import_snapshot(const void *data, size_t size, const struct plm_import_options *options,
                        struct plm_import_info *info, struct plm_error *error);

#endif
