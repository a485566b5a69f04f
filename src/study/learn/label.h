/*
 * What a run on the virtual GPU says of a network: memory, whether it fits a card, time and utilization.
 *
 * A labeller reads a record once for all processes in it: plm_labeller_open(), plm_label_process() or plm_label_job(),
 * plm_labeller_close(). Labels are plain values. One thread. Fails with a sentence.
 */
#ifndef PLM_LEARN_LABEL_H
#define PLM_LEARN_LABEL_H

#include <stdbool.h>
#include <stdint.h>

#include "study/learn/generate.h"
#include "time/timing.h"

struct plm_card;
struct plm_job;
struct plm_speeds;

enum { PLM_LABEL_METRICS = PLM_METRIC_FP32A + 1 }; /* the five that were published */

struct plm_labels {
    bool known;
    uint64_t allocated, reserved, device_used; /* bytes, with memory in plenty */
    uint64_t reserved_low, reserved_high;      /* the range of all but the context */
    bool oom;                                  /* it does not complete on the card */
    double step_ms;                            /* averaged over an epoch; 0: not known */
    double metric[PLM_LABEL_METRICS];
};

struct plm_labeller {
    const struct plm_card *card;
    const struct plm_speeds *speeds;
    struct plm_job *job;
    struct plm_works works;
    bool timed;                /* the works are there */
    char torch[32], stack[64]; /* as the record has them; "" and "none" */
};

int plm_labeller_open(struct plm_labeller *labeller, const char *record, const struct plm_card *card,
                      const struct plm_speeds *speeds, struct plm_error *error);
void plm_labeller_close(struct plm_labeller *labeller);

/* Of one process, whose steps are those of the plan. PLM_ENOTFOUND: it did nothing on a GPU. */
int plm_label_process(const struct plm_labeller *labeller, uint64_t pid, const struct plm_plan *plan,
                      struct plm_labels *labels, struct plm_error *error);
/* Of a job that is all of the record. */
int plm_label_job(const struct plm_labeller *labeller, struct plm_labels *labels, struct plm_error *error);

#endif
