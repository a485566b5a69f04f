/*
 * The ranks of a job as reports show them: kinds with what each takes of its card, how far the largest is from the mean,
 * and which part of its tensors a rank holds. plm_report_kinds_make() fills a struct that the caller frees with
 * plm_report_kinds_free(), before the job. Read-only on the job; any thread.
 */
#ifndef PLM_REPORT_RANKS_H
#define PLM_REPORT_RANKS_H

#include "analysis/kinds.h"
#include "base/draw.h"
#include "fit/ladder.h"

struct plm_json;

/* A figure of all ranks. */
struct plm_imbalance {
    uint64_t largest, mean; /* each kind as often as it has ranks; 0: none used a device */
    double ratio;           /* largest against mean; 1: all are alike */
};

struct plm_report_kinds {
    const struct plm_job *job;
    struct plm_job_world world;
    struct plm_job_kinds ranks;
    struct plm_ladder *ladder; /* of each kind; zeros if its rank used no device */
    struct plm_imbalance allocated, reserved, used;
    bool worth; /* there is more than one rank, or something is known of the others */
};
struct plm_report_kinds plm_report_kinds_make(const struct plm_job *job);
void plm_report_kinds_free(struct plm_report_kinds *table);
/* How many cards the job takes, one for each rank: of a world all of them, also if only some were run. */
uint64_t plm_report_kinds_cards(const struct plm_report_kinds *table);

/* "1/64", "whole", "31 %": which part of its category's tensors a rank holds. */
const char *plm_report_shard_text(char out[24], const struct plm_shard *shard);

/* "64 ranks: 8 nodes x 8 GPUs" of a world; "" if the record is of none. */
const char *plm_report_world_text(char out[64], const struct plm_job_world *world);

/* The object `ranks` of a document; nothing if there is nothing to say. */
void plm_report_kinds_write(struct plm_json *json, const struct plm_report_kinds *table);
void plm_report_ranks(struct plm_json *json, const struct plm_job *job);

#endif
