/*
 * The segments of the caching allocator up to a moment of a lane: which there are then, and the operations
 * that led there, in the order of their moments.
 *
 * Memory that the allocator never placed a block in (of libraries, of the user's own calls) is left out.
 * Where memory was mapped through the virtual-memory API (expandable segments) the record does not say
 * at which address: blocks tell, each mapping extends the range that needed it. Every block that lives at the
 * moment lies within a segment, whatever the record is like, except where blocks overlap.
 *
 * Owned by the caller, freed by plm_layout_free(). Pure otherwise.
 */
#ifndef PLM_ANALYSIS_LAYOUT_H
#define PLM_ANALYSIS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_lane;

enum plm_layout_action { PLM_LAYOUT_ALLOC, PLM_LAYOUT_FREE, PLM_LAYOUT_MAP, PLM_LAYOUT_UNMAP };

struct plm_layout_event {
    enum plm_layout_action action;
    uint32_t at;       /* it stands before the lane's event of this moment */
    uint32_t segment;  /* of the lane; its number there, or PLM_LAYOUT_MAPPED */
    uint32_t stream;
    uint64_t address, bytes, ns;
};

#define PLM_LAYOUT_MAPPED UINT32_MAX

struct plm_layout_segment {
    uint64_t address, bytes;
    uint32_t segment;  /* as above */
    uint32_t stream;   /* of its first block */
    uint64_t origin, page; /* of mapped memory: where its pages count from, their size */
    bool small;        /* of the pool for blocks of up to 1 MiB */
    bool captured;     /* private to a CUDA graph */
    bool used;         /* a block was placed here */
};

struct plm_layout {
    struct plm_layout_event *event;
    size_t events, event_room;
    struct plm_layout_segment *segment; /* at the moment, by address */
    size_t segments, segment_room;
};

/* `moment` UINT32_MAX: after all that happened. */
void plm_layout_make(const struct plm_lane *lane, uint32_t moment, struct plm_layout *layout);
void plm_layout_free(struct plm_layout *layout);

#endif
