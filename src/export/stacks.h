/*
 * What lives at a moment of a lane, as stacks: "phase;module;submodule;operator;inner operator", or by Python's calls
 * "train.py:12 main;model.py:30 Net.forward;operator;inner operator", and the bytes of each. Their sum is what PyTorch calls allocated. Owned by the caller, freed by plm_stacks_free().
 */
#ifndef PLM_EXPORT_STACKS_H
#define PLM_EXPORT_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_job;
struct plm_lane;

struct plm_frames {
    char *frames; /* valid UTF-8, joined by ';', which stands in none of them; no control characters */
    uint64_t bytes;
};

struct plm_stacks {
    struct plm_frames *stack; /* by name, each one once */
    size_t count;
};

void plm_stacks_at(const struct plm_job *job, const struct plm_lane *lane, uint32_t moment, bool calls,
                   struct plm_stacks *stacks);
void plm_stacks_free(struct plm_stacks *stacks);

#endif
