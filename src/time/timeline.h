/*
 * The last step of a record as a card would run it, span by span, for those who draw it: the page and the export.
 *
 *   struct plm_timeline timeline;
 *   if (plm_timeline_make("job.plm", NULL, &timeline, &error) == 0) {
 *       ...
 *       plm_timeline_free(&timeline);
 *   }
 *
 * Owned by the caller; read-only afterwards: any thread. It fails with a sentence if the record holds no launches, the
 * card is not known, or the catalogue lacks a figure of it; then there is nothing to free.
 */
#ifndef PLM_TIME_TIMELINE_H
#define PLM_TIME_TIMELINE_H

#include "common/card.h"
#include "time/speeds.h"
#include "time/timing.h"
#include "time/works.h"

struct plm_timeline_lane {
    const struct plm_work_lane *work;
    struct plm_timing timing;
    size_t calls;              /* of the host in the step */
    double begin,
        end; /* ns: from the first call of the step to the end of its last span; steps overlap where the host runs
                                  ahead, so begin is 0 or less */
    uint64_t from_ns, to_ns; /* the same step in the recording, since the record was made */
};

struct plm_timeline {
    struct plm_works works;
    struct plm_card card;
    struct plm_speeds speeds;
    struct plm_timeline_lane *lane; /* of the works, those with steps */
    size_t lanes;
};

/* `gpu` NULL: the card of the record. PLM_EINVAL: no card of the catalogue has that name. */
int plm_timeline_make(const char *record, const char *gpu, struct plm_timeline *timeline, struct plm_error *error);
/* The same of works that were read already: they become the timeline's, or are freed, and *works is empty afterwards. */
int plm_timeline_of(struct plm_works *works, const char *gpu, struct plm_timeline *timeline, struct plm_error *error);
void plm_timeline_free(struct plm_timeline *timeline);

/* The step's calls and spans, as plm_timing_each() tells them. */
void plm_timeline_each(const struct plm_timeline *timeline, const struct plm_timeline_lane *lane, plm_host_visit *host,
                       plm_span_visit *span, void *context);

/* NULL: the device of that process was asked for nothing. */
const struct plm_timeline_lane *plm_timeline_find(const struct plm_timeline *timeline, uint32_t process, int device);

/* "vectorized_elementwise_kernel" of the mangled name of one; names that are not mangled as they are. Returns buffer.
   */
const char *plm_time_kernel_short(const char *name, char *buffer, size_t size);
/* What a reader knows a piece of work by: the innermost operator, else the outermost, else the kernel, else the class.
   */
const char *plm_span_name(const struct plm_timeline *timeline, uint32_t work, uint32_t site, char *buffer, size_t size);

#endif
