/*
 * What a rank holds of each category, and how that changes from one world to the next: what shrinks with the world is
 * sharded over it, what stays is not. Of activations one run alone cannot tell that.
 *
 * Plain values; read-only on the job; any thread; nothing fails.
 */
#ifndef PLM_CLI_RANK_MEMORY_H
#define PLM_CLI_RANK_MEMORY_H

#include "analysis/job.h"
#include "world/mesh.h"

struct plm_cli_rank_memory {
    uint64_t bytes[PLM_CATEGORIES]; /* 0: not told */
};

/* Parameters, gradients and optimizer as frameworks told their shards; activations: the most of the last step. */
struct plm_cli_rank_memory plm_cli_rank_memory_of(const struct plm_job *job, const struct plm_lane *lane);

/* "parameters 1/2, optimizer 1/2, activations the same"; "" if nothing can be compared. */
const char *plm_cli_rank_memory_change(char *out, size_t size, const struct plm_cli_rank_memory *before,
                                       const struct plm_cli_rank_memory *after);

/* "dp from 8 to 16"; "" if no axis is another, or some have no names. */
const char *plm_axes_change(char *out, size_t size, const struct plm_mesh *before, const struct plm_mesh *after);

#endif
