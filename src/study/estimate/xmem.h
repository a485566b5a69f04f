/*
 * xMem (VeritasEst): what a job takes of a GPU, from the memory events of a run on the CPU.
 * docs/internals/study.md describes the method.
 *
 * Two variants. `xmem` is the method as published, with its limits; docs/internals/study.md says how near it comes
 * to published figures. `xmem+` corrects what can be corrected from the same trace; the table in xmem_plus.c says what.
 * plm_xmem_estimate() gives one result, plm_xmem_limit() holds it against a card, plm_xmem_result_free() ends it;
 * names in it belong to the trace, which has to live as long. Pure functions; any thread. A trace that a method
 * cannot use is refused with the reason (PLM_EFORMAT).
 */
#ifndef PLM_ESTIMATE_XMEM_H
#define PLM_ESTIMATE_XMEM_H

#include "study/estimate/simulator.h"
#include "record/format.h"

struct plm_error;
struct plm_json;
struct plm_page;
struct plm_trace;

enum plm_xmem_variant { PLM_XMEM_PUBLISHED, PLM_XMEM_PLUS };

/* Of the layer's blocks that live at the peak. Blocks in no layer belong to one whose name is "". */
struct plm_xmem_layer {
    const char *name;    /* "Conv2d_3" */
    uint64_t parameters; /* and the optimizer's state of them, where it is known whose it is */
    uint64_t forward;    /* allocated in calls of the layer */
    uint64_t backward;   /* allocated in the backward pass of its operators: gradients of all kinds */
};

/* The most in a part of the time. */
struct plm_xmem_point {
    int64_t time; /* when the part begins, in nanoseconds after the first step began */
    uint64_t allocated, reserved;
};

struct plm_xmem_result {
    enum plm_xmem_variant variant;
    uint64_t reserved;        /* the estimate: peak of segment bytes on a card that has room for all */
    uint64_t allocated;       /* peak of block bytes */
    bool oom;                 /* on a card of so many bytes as plm_xmem_limit() was told last */
    uint64_t
        oom_reserved; /* segment bytes that this card had given out before that; what the published tool then says */
    int64_t reserved_time; /* when `reserved` was reached, in nanoseconds after the first step began; before it: 0 */
    int64_t peak_time; /* when `allocated` was: the moment that is looked at below, as in `report` */
    uint64_t peak_reserved; /* segment bytes then */
    int step; /* the step of the trace then, counted from 1; 0: before the first */
    uint64_t category[PLM_CATEGORIES]; /* bytes of blocks then, not rounded as the allocator does */
    struct plm_xmem_layer *layer; /* largest first */
    size_t layers;
    struct plm_xmem_point *point; /* the course of time, in equal parts */
    size_t points;
    int64_t duration; /* of the steps that were looked at, in nanoseconds */
    int steps;
    struct plm_lifetime *item; /* the blocks with their lifetimes on the GPU */
    size_t blocks;
    uint64_t left_out; /* bytes of the last step's blocks that the variant takes no account of */
    char note[200]; /* what makes the answer doubtful; "" if nothing does */
};

int plm_xmem_estimate(const struct plm_trace *trace, enum plm_xmem_variant variant, struct plm_xmem_result *result,
                      struct plm_error *error);
/* Sets `oom` and `oom_reserved` for a card with room for so many bytes of segments. */
void plm_xmem_limit(struct plm_xmem_result *result, uint64_t limit);
void plm_xmem_result_free(struct plm_xmem_result *result);

/* As `report` shows a job. */
void plm_xmem_text(const struct plm_page *page, const struct plm_xmem_result *result);
/* Members of an object that the caller has opened. */
void plm_xmem_json(struct plm_json *json, const struct plm_xmem_result *result);

#endif
