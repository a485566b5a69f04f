/*
 * The workloads that stand for the runs of a truth file: one script per family, described in workloads.ini of their
 * folder. Plain values. plm_workloads_read() fails with a sentence.
 */
#ifndef PLM_EVALUATE_WORKLOAD_H
#define PLM_EVALUATE_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_card;
struct plm_error;
struct plm_install;
struct plm_outcome;

enum { PLM_WORKLOADS = 32 };

/* When the one who measured looked at the card for the first time, to take that off what was measured later. */
enum plm_first_sample {
    PLM_SAMPLE_BEFORE, /* before the program put anything there */
    PLM_SAMPLE_LATE,   /* at the same time as the model went there */
};

struct plm_workload {
    char family[48];          /* as in the truth file, whatever the case */
    char script[128];
    bool rows;                /* the script takes many rows of a table at once: --rows FILE */
    enum plm_first_sample first_sample;
    /* How long a late first sample takes from when the model sets out, and how fast that goes to the card. */
    double sampler_ms, copy_gbs, copy_call_us;
};

struct plm_workloads {
    char folder[3800];
    struct plm_workload item[PLM_WORKLOADS];
    size_t count;
};

/* `folder` NULL: those that come with plimsoll. */
int plm_workloads_read(const char *folder, const struct plm_install *install, struct plm_workloads *workloads,
                       struct plm_error *error);
/* NULL: no script for that family. */
const struct plm_workload *plm_workloads_find(const struct plm_workloads *workloads, const char *family);

/* What a run took, from its record; with what it takes of this card if that has less, and what was reserved when a late
   first sample was taken. */
int plm_workload_outcome(const struct plm_workload *workload, const char *record, const struct plm_card *card,
                         struct plm_outcome *outcome, struct plm_error *error);

#endif
