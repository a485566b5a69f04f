/*
 * Kinds of ranks: those that need the same stand in one row, whatever their number.
 *
 * `plimsoll run --world` runs one rank of each kind and tells for which it stands (KIND). In a job whose ranks all ran,
 * those are of a kind that have the same peaks, and the same categories at the peak: equal to the byte, or within a
 * thousandth (common/alike.h). Devices of one process are compared among themselves.
 *
 * plm_job_kinds_make() fills a struct that the caller frees with plm_job_kinds_free(), before the job.
 * Read-only on the job; any thread; nothing fails.
 */
#ifndef PLM_ANALYSIS_KINDS_H
#define PLM_ANALYSIS_KINDS_H

#include "analysis/job.h"

struct plm_job_kind {
    const struct plm_lane *lane; /* that stands for all; NULL: its rank used no device */
    uint32_t rank;               /* of it */
    uint64_t count;              /* of ranks, or of devices of one rank */
    char *ranks;                 /* "0-7" */
    char *devices;               /* "1-3" if the process has several; NULL: one */
    char *why;                   /* why they are of a kind, for people; "" for one alone */
};

struct plm_job_kinds {
    struct plm_job_kind *kind; /* largest first, as plm_job_largest() */
    size_t kinds;
    uint64_t count; /* of all of them */
    bool told;      /* by the record; else they were compared */
};

struct plm_job_kinds plm_job_kinds_make(const struct plm_job *job);
void plm_job_kinds_free(struct plm_job_kinds *ranks);

/* How much of a category's tensors the process of a lane holds; NULL: not told. */
const struct plm_shard *plm_lane_shard(const struct plm_job *job, const struct plm_lane *lane,
                                       enum plm_category category);

/* The world that the job was run as rank of, its nodes and the GPUs of each; 0: not told. */
struct plm_job_world {
    uint32_t ranks, nodes, gpus;
};
struct plm_job_world plm_job_world(const struct plm_job *job);

#endif
