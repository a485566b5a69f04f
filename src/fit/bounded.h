/*
 * What a recorded job takes of a card that does not have all it would take: a replay with the card's memory, in which
 * PyTorch gives back what it has cached and convolutions do with less workspace (replay.h), as they would there.
 *
 * With the middle figures of the ladder for context and libraries. Read-only on the job, apart from what the ladder
 * keeps there; any thread. A card that has room for the upper end of the range costs no replay.
 */
#ifndef PLM_FIT_BOUNDED_H
#define PLM_FIT_BOUNDED_H

#include <stdbool.h>
#include <stdint.h>

struct plm_card;
struct plm_job;

struct plm_bounded {
    bool completes;
    uint64_t takes;               /* of the card; if it does not complete, what it had when it ran out */
    uint64_t would;               /* take, if it could */
    uint64_t allocated, reserved; /* peaks of the device that takes most */
    uint64_t fallbacks;           /* convolutions, each shape once, that have to do without their workspace */
};

/* PLM_EINVAL: it is not known, because the job did nothing on a GPU, ran out of memory itself, has settings that cannot
   be replayed, or its replay with memory in plenty does not reserve what was recorded. */
int plm_bounded(const struct plm_job *job, const struct plm_card *card, uint64_t usable, struct plm_bounded *bounded);

#endif
