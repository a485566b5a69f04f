/*
 * Where the blocks of PyTorch's caching allocator lie, followed from its trace: a trace says which address was handed
 * out for how many bytes, and this says how many the allocator gave. Splitting and joining are the allocator's own rules; which
 * block it chose is in the trace.
 *
 * A heap of zeros is empty; plm_heap_free gives its memory back. Nothing fails. One thread.
 */
#ifndef PLM_HEAP_H
#define PLM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/settings.h"
#include "base/map.h"

#define PLM_HEAP_PAGE (2ull << 20) /* what an expandable segment grows by */

struct plm_heap_piece {
    uint64_t address, size;
    uint32_t before, after;      /* neighbours in the segment */
    bool taken;
};

struct plm_heap {
    struct plm_allocator_settings settings;
    struct plm_heap_piece *piece;
    size_t pieces, room;
    uint32_t unused;             /* chain of pieces that are gone, one more than the number; 0: none */
    struct plm_map by_start, by_end;
    uint64_t searched;           /* pieces that were looked at one after the other */
};

/* Memory that the allocator got from the card, or a part of an expandable segment: joined with free neighbours. */
void plm_heap_add(struct plm_heap *heap, uint64_t address, uint64_t bytes, bool expandable);
/* It was given back. What does not lie in free memory is passed over. */
void plm_heap_remove(struct plm_heap *heap, uint64_t address, uint64_t bytes);
/* A block is handed out: its size. Where the address does not fit what is known, the rounded size. */
uint64_t plm_heap_take(struct plm_heap *heap, uint64_t address, uint64_t bytes);
/* One of a known size was there from the start, in the free piece that begins at `from`. */
void plm_heap_place(struct plm_heap *heap, uint64_t from, uint64_t address, uint64_t bytes);
void plm_heap_give(struct plm_heap *heap, uint64_t address);
void plm_heap_free(struct plm_heap *heap);

#endif
