/*
 * How far the figures of a job can be trusted, and why not further. Read-only on the job; any thread.
 */
#ifndef PLM_FIT_CONFIDENCE_H
#define PLM_FIT_CONFIDENCE_H

#include <stdint.h>

struct plm_job;
struct plm_summary;

/* Fills up to `most` reasons; returns "high", "medium" or "low". */
const char *plm_confidence(const struct plm_job *job, char reasons[][256], int most, int *count);

/* How many results were read back that decide the size of tensors. */
uint64_t plm_deciding_readbacks(const struct plm_summary *summary);

#endif
