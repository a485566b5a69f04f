/*
 * From the tensors to what nvidia-smi would show: each step of memory that a job takes on a card, and
 * whether that fits. Pure functions; any thread.
 */
#ifndef PLM_LADDER_H
#define PLM_LADDER_H

#include <stdint.h>

struct plm_device_summary;
struct plm_summary;

/* What driver, runtime and loaded code take. A property of the software, not of the card. */
struct plm_context_memory {
    uint64_t bytes, low, high;
    const char *source;
};
const struct plm_context_memory *plm_context_memory(void);

struct plm_ladder {
    uint64_t allocated;   /* measured: blocks that PyTorch's allocator handed out */
    uint64_t reserved;    /* measured: segments that it holds */
    uint64_t libraries;   /* modelled: taken by libraries outside of it */
    uint64_t other;       /* measured: what else the program took from the card */
    uint64_t context;     /* assumed */
    uint64_t device_used; /* all but allocated, which is within reserved */
    uint64_t low, high;   /* of device_used */
};
struct plm_ladder plm_ladder(const struct plm_summary *summary, const struct plm_device_summary *device);

/* What a second run reserved, with every result full that decides the size of tensors; 0: there was none. */
uint64_t plm_ladder_other_end(const struct plm_summary *summary, const struct plm_device_summary *device);

enum plm_verdict { PLM_FITS, PLM_TIGHT, PLM_NO_FIT };
/* Tight: the card's usable memory lies within the range. */
enum plm_verdict plm_ladder_fit(const struct plm_ladder *ladder, uint64_t usable);
const char *plm_verdict_name(enum plm_verdict verdict); /* "fits", "tight", "no" */

#endif
