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

#include "import/verify.h"

struct plm_error;

struct plm_import_options {
    const char *name;            /* the snapshot's, for the record */
    const char *path;            /* of the record, which is made, or replaced if `replace`; NULL: none is made */
    bool replace;
    bool verify;                 /* see verify.h */
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
