/*
 * A moment of a job that a question names ("peak", "end", a step), and what a device held then. Pure functions; any
 * thread.
 */
#ifndef PLM_ANALYSIS_PLACE_H
#define PLM_ANALYSIS_PLACE_H

#include "analysis/job.h"

/* Which moment of each device is looked at. */
struct plm_at {
    enum { PLM_AT_PEAK, PLM_AT_STEP, PLM_AT_END } kind;
    uint32_t step;              /* from 1; its own peak is meant */
};

/* "peak", "end", "3", "step 3", "step:3"; "module", "op", ... PLM_EINVAL for anything else. */
int plm_at_parse(const char *text, struct plm_at *at);
int plm_key_parse(const char *text, enum plm_key *key);
const char *plm_key_name(enum plm_key key);
/* PLM_EINVAL with a sentence if no device of the job has that step. */
int plm_at_check(const struct plm_job *job, struct plm_at at, struct plm_error *error);

/* A moment of a lane, and what is known of it. */
struct plm_place {
    bool known;                           /* blocks were seen at all */
    uint32_t moment;
    uint32_t step;                        /* from 1; 0: no step ended */
    const struct plm_site *context;    /* of the allocation that made this moment; NULL: none, or not known */
    uint64_t allocated, reserved;
    uint64_t category[PLM_CATEGORIES];
    uint64_t casts;                       /* activations and temporaries that are copies in another precision */
    uint64_t captured;                    /* in private pools of CUDA graphs */
};
struct plm_place plm_place_at(const struct plm_job *job, const struct plm_lane *lane, struct plm_at at);
/* What the allocator holds beyond the blocks. */
uint64_t plm_place_free(const struct plm_place *place);

#endif
