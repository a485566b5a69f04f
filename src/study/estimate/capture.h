/*
 * What one capture of a job left in files: a record of `plimsoll run`, a trace of `plimsoll trace` or torch.profiler,
 * a description of `plimsoll describe`.
 *
 * plm_captured_read() tells them apart by their content and reads each, at most one of a kind; plm_captured_free()
 * ends it. A trace that holds a description gives it, unless there is a file of its own. `evidence` points into the
 * structure, so it must not be moved. Fails with one sentence: two of a kind (PLM_EINVAL), neither of them
 * (PLM_EFORMAT), and what the readers refuse.
 */
#ifndef PLM_ESTIMATE_CAPTURE_H
#define PLM_ESTIMATE_CAPTURE_H

#include "study/estimate/method.h"
#include "study/trace/trace.h"

struct plm_captured {
    struct plm_evidence evidence; /* its forest is the caller's business */
    struct plm_job *job;
    struct plm_trace trace;
    struct plm_description *description;
    const char *job_path, *trace_path, *description_path; /* of the caller's; NULL: none */
};

int plm_captured_read(const char *const *paths, int count, struct plm_captured *out, struct plm_error *error);
void plm_captured_free(struct plm_captured *captured); /* also after a failure */

#endif
