/*
 * What a process takes of a card beside its allocations: the context, loaded code, stacks, graphs. A model, shared by
 * the virtual device, which takes it off a bounded card, and by the analysis, which shows it line by line.
 * docs/accuracy.md says where each figure comes from. Pure functions; any thread.
 */
#ifndef PLM_OVERHEAD_H
#define PLM_OVERHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a figure was obtained. */
enum plm_line_kind { PLM_LINE_MEASURED, PLM_LINE_COUNTED, PLM_LINE_MODELLED, PLM_LINE_ASSUMED };
const char *plm_line_kind_name(enum plm_line_kind kind); /* "measured", ... */

struct plm_line {
    char name[24];
    const char *group; /* "context"; the ladder has others */
    uint64_t bytes, low, high;
    enum plm_line_kind kind;
    bool usual; /* every job has it, so a context that was measured holds it */
    char reason[176];
};

/* Libraries of which the code is not at hand. The record has them as bits (FOOTPRINT): only append. */
enum plm_overhead_library {
    PLM_LIBRARY_CUBLAS,
    PLM_LIBRARY_CUDNN,
    PLM_LIBRARY_CUFFT,
    PLM_LIBRARY_CUSOLVER,
    PLM_LIBRARY_CUSPARSE,
    PLM_LIBRARY_NCCL,
    PLM_OVERHEAD_LIBRARIES
};
const char *plm_overhead_library_name(enum plm_overhead_library library);

/* What is known of one process on one card. 0 is "not known" or "none". */
struct plm_overhead {
    unsigned sms, threads;  /* of the card: multiprocessors, threads that are resident on each */
    bool eager;             /* code is loaded all at once, not with the first launch of each kernel */
    uint64_t code, kernels; /* bytes of code that was loaded, and how many kernels that is */
    uint64_t guessed;       /* of these bytes, those of intermediate code: what is made of it is not known */
    uint64_t stack;         /* bytes per thread */
    uint64_t printf_bytes, heap; /* as the program set them */
    uint64_t graph_nodes;   /* of executable graphs, at the most */
    unsigned libraries;     /* bits: 1 << enum plm_overhead_library */
};

#define PLM_STACK_DEFAULT  1024ull
#define PLM_PRINTF_DEFAULT (7ull << 20)
#define PLM_HEAP_DEFAULT   (8ull << 20)

enum { PLM_OVERHEAD_LINES = 12 };
/* Fills line[] with those that are not empty, the context first; returns their number. */
int plm_overhead_lines(const struct plm_overhead *o, struct plm_line line[PLM_OVERHEAD_LINES]);
/* Their sum, which is what a bounded card has less. `measured` stands for the usual lines; 0: they are modelled. */
uint64_t plm_overhead_bytes(const struct plm_overhead *o, uint64_t measured);

#endif
