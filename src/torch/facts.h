/*
 * What plimsoll knows about PyTorch's insides, a row each: the releases it holds for, where it was seen, and what a job
 * lacks without it. docs/HOWTO_ADD_TORCH.md tells how rows are checked against a new release.
 *
 * A function is found by its mangled name, which says what it takes; that it is there is proof enough. A layout (how a
 * structure is filled, which entry of a table of functions is which) has no such proof. It is used only if the code
 * that relies on it has proved it on the running PyTorch, or if its row names the running release. A rule is how the
 * caching allocator behaves; a release that is not known yet follows those of the newest. Constants; any thread.
 */
#ifndef PLM_TORCH_FACTS_H
#define PLM_TORCH_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "torch/release.h"

/* Its name, for the one function that is defined under it (src/device/block.c). */
#define PLM_TORCH_REPORT_NAME     "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"
#define PLM_TORCH_OPERATOR_PREFIX "_ZN2at4_ops" /* at::_ops::NAME::call(...) */

enum plm_torch_fact {
    /* functions and variables, by their mangled names */
    PLM_TORCH_REPORT,
    PLM_TORCH_STREAM_NOW,
    PLM_TORCH_STREAM_EXTERNAL,
    PLM_TORCH_ALLOCATOR,
    PLM_TORCH_ALLOCATOR_TABLE,
    PLM_TORCH_ALLOCATOR_SIMPLE,
    PLM_TORCH_OBSERVE,
    PLM_TORCH_OBSERVE_ENABLE,
    PLM_TORCH_OBSERVE_DISABLE,
    PLM_TORCH_FUNCTION_NAME,
    PLM_TORCH_OPERATOR_NAME,
    PLM_TORCH_FUNCTION_MAKE,
    PLM_TORCH_FUNCTION_DROP,
    PLM_TORCH_FUNCTION_BEGIN,
    PLM_TORCH_FUNCTION_BEGIN_TEXT,
    PLM_TORCH_SEQUENCE_NEXT,
    PLM_TORCH_THREADS,
    PLM_TORCH_OPERATOR,
    /* layouts */
    PLM_TORCH_CALLBACK,
    PLM_TORCH_SEQUENCE,
    PLM_TORCH_INPUTS,
    PLM_TORCH_IVALUE,
    PLM_TORCH_LIST,
    PLM_TORCH_TENSOR,
    PLM_TORCH_STORAGE,
    PLM_TORCH_OUTPUTS,
    PLM_TORCH_STREAM,
    PLM_TORCH_ALLOCATE,
    /* rules of the caching allocator, and what tells in a snapshot that a release wrote it */
    PLM_TORCH_BY_AGE,
    PLM_TORCH_TRIMS,
    PLM_TORCH_WHOLE_IS_LIMIT,
    PLM_TORCH_SPLIT_ABOVE,
    PLM_TORCH_ROUNDUP_OVERWRITES,
    PLM_TORCH_VARIABLE,
    PLM_TORCH_TRACE_COMPILE,
    PLM_TORCH_TRACE_POOL,
    PLM_TORCH_FACTS
};

enum plm_torch_kind { PLM_TORCH_IS_FUNCTION, PLM_TORCH_IS_PREFIX, PLM_TORCH_IS_LAYOUT, PLM_TORCH_IS_RULE };

struct plm_torch_row {
    uint8_t kind;          /* enum plm_torch_kind */
    bool proved;           /* a layout that is proved where it is used: the releases are for the reader */
    uint16_t since, until; /* the first and the last release; until 0: the newest and later */
    const char *library;   /* of functions: the file; of layouts and rules: NULL */
    const char *name;      /* mangled, or the class, key or rule */
    const char *seen;      /* the header, and the class in it after a colon; or the change */
    const char *without;   /* what a job lacks; the note of the record in parentheses */
};

const struct plm_torch_row *plm_torch_row(enum plm_torch_fact fact);

/* Whether the row names this release: false for one that is newer than all that were looked at, and for 0. */
bool plm_torch_holds(enum plm_torch_fact fact, unsigned release);

/* The same for the allocator's rules, of a release that stands for others. */
bool plm_torch_rule(enum plm_torch torch, enum plm_torch_fact rule);

#endif
